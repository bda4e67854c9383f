/* check_watchdog.c - PFC watchdog: there at all, and with times that make sense. */
#include "scenarios/check_priv.h"

/* SONiC's PFC_WD accepts these. */
static const struct { const char *key; int64_t min_ps, max_ps; } sonic[] = {
    {"detection_time", 100 * UNIT_MS, 5000 * UNIT_MS},
    {"restoration_time", 100 * UNIT_MS, 60000 * UNIT_MS},
    {"poll_interval", 100 * UNIT_MS, 1000 * UNIT_MS},
};

static void check_ranges(struct check *c, uint32_t port, const struct pfcwd_params *wd)
{
    const int64_t values[] = {wd->detection_time_ps, wd->restoration_time_ps, wd->poll_interval_ps};
    for (size_t i = 0; i < G_N_ELEMENTS(sonic); i++) {
        if (values[i] >= sonic[i].min_ps && values[i] <= sonic[i].max_ps)
            continue;
        g_autofree char *value = units_format_time(values[i]);
        g_autofree char *min = units_format_time(sonic[i].min_ps);
        g_autofree char *max = units_format_time(sonic[i].max_ps);
        struct check_finding *finding = check_find(c, "watchdog-range", CHECK_NOTE, "pfcwd.%s = %s is outside what SONiC's PFC_WD accepts, %s to %s",
                                                   sonic[i].key, value, min, max);
        if (check_is_new(finding))
            check_change_key(finding, c, NET_PARAMS_PFCWD, port, NET_SITE_ANY_CLASS, sonic[i].key, values[i] < sonic[i].min_ps ? min : max);
        check_at_port(finding, c, port);
    }
}

/* How long a pause may last with nothing broken: what the peer's whole pool holds drains over one of its links. */
static sim_ps longest_drain_ps(const struct check *c, uint32_t port, double *pool_bytes)
{
    uint32_t peer = check_peer_node(c, port);
    if (!check_is_switch(c, peer))
        return 0;
    *pool_bytes = MAX(survey_buffer(c->survey, peer).shared_bytes, 0);
    return units_wire_ps((int64_t)*pool_bytes, c->graph->ports[port].rate_bps);
}

static void check_legitimate(struct check *c, uint32_t port, const struct pfcwd_params *wd)
{
    double pool_bytes = 0;
    sim_ps drain_ps = longest_drain_ps(c, port, &pool_bytes);
    if (wd->detection_time_ps >= drain_ps)
        return;
    g_autofree char *detection = units_format_time(wd->detection_time_ps);
    g_autofree char *drain = units_human_time(drain_ps);
    struct check_finding *finding = check_find(c, "watchdog-hasty", CHECK_WARNING,
                                               "detection after %s takes a congestion that may last %s for a storm, and its action hits good traffic",
                                               detection, drain);
    if (check_is_new(finding)) {
        g_autofree char *pool = check_bytes(pool_bytes);
        g_autofree char *rate = units_format_rate(c->graph->ports[port].rate_bps);
        g_autofree char *value = units_format_time((drain_ps / UNIT_MS + 1) * 2 * UNIT_MS);
        check_term(finding, "longest honest pause", "shared pool %s / %s = %s", pool, rate, drain);
        check_change_key(finding, c, NET_PARAMS_PFCWD, port, NET_SITE_ANY_CLASS, "detection_time", value);
    }
    check_at_port(finding, c, port);
}

static void check_times(struct check *c, uint32_t port, const struct pfcwd_params *wd)
{
    g_autofree char *detection = units_format_time(wd->detection_time_ps);
    g_autofree char *restoration = units_format_time(wd->restoration_time_ps);
    check_ranges(c, port, wd);
    check_legitimate(c, port, wd);
    if (wd->restoration_time_ps >= wd->detection_time_ps)
        return;
    struct check_finding *finding = check_find(c, "watchdog-flaps", CHECK_WARNING,
                                               "restoration after %s is shorter than detection, %s: a storm with gaps is let "
                                               "through and found again and again", restoration, detection);
    if (check_is_new(finding))
        check_change_key(finding, c, NET_PARAMS_PFCWD, port, NET_SITE_ANY_CLASS, "restoration_time", detection);
    check_at_port(finding, c, port);
}

static void note_unwatched(struct check *c, uint32_t port, bool others_watched)
{
    struct check_finding *finding =
        others_watched ? check_find(c, "watchdog-missing", CHECK_WARNING, "these ports obey pauses without a watchdog, others have one")
                       : check_find(c, "watchdog-off", CHECK_NOTE, "PFC without a watchdog: one NIC that does not stop pausing can freeze the fabric");
    if (check_is_new(finding))
        check_change_key(finding, c, NET_PARAMS_PFCWD, port, NET_SITE_ANY_CLASS, "enabled", "true");
    check_at_port(finding, c, port);
}

static const struct pfcwd_params *watchdog_at(const struct check *c, uint32_t port)
{
    return CHECK_PORT(c, NET_PARAMS_PFCWD, port);
}

/* The switch that a stuck NIC pauses, where the scenario has such a fault. */
static void check_storm(struct check *c, const struct net_fault *fault)
{
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        uint32_t peer = check_is_switch_port(c, p) ? check_peer_node(c, p) : NET_NONE;
        if (peer != fault->node || (fault->port != NET_NONE && c->graph->ports[p].peer != fault->port) || survey_profile(c->survey, p)->honours == 0 ||
            watchdog_at(c, p)->enabled)
            continue;
        struct check_finding *finding = check_find(c, "storm-unwatched", CHECK_ERROR, "a NIC will not stop pausing (fault:%s), and nobody watches", fault->name);
        if (check_is_new(finding)) {
            check_term(finding, "what it does", "its switch holds what waits for it, then pauses others: hosts that have nothing in common stand still");
            check_change_key(finding, c, NET_PARAMS_PFCWD, p, NET_SITE_ANY_CLASS, "enabled", "true");
        }
        check_at_port(finding, c, p);
    }
}

void check_watchdog(struct check *c)
{
    for (guint i = 0; c->faults && i < c->faults->len; i++)
        if (g_array_index(c->faults, struct net_fault, i).params->kind == FAULT_PAUSE_STORM)
            check_storm(c, &g_array_index(c->faults, struct net_fault, i));
    bool any = false;
    for (uint32_t p = 0; p < c->graph->n_ports; p++)
        any |= check_is_switch_port(c, p) && watchdog_at(c, p)->enabled;
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        if (!check_is_switch_port(c, p) || survey_profile(c->survey, p)->honours == 0)
            continue;
        if (watchdog_at(c, p)->enabled)
            check_times(c, p, watchdog_at(c, p));
        else
            note_unwatched(c, p, any);
    }
}
