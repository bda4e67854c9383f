/* site_faults.c - [fault:NAME] items made into what happens where and when.
 *
 * Checks here what one table can't say: which keys a kind uses, what they must hold together, and the places that a
 * kind makes sense at. What a fault does is in models/fault.c.
 */
#include "scenarios/site_priv.h"

#include "scenarios/site_match.h"
#include <string.h>

#define GROUP "fault"
/* Of all items together: more is a slip of a wildcard, and would fill the memory. */
#define MAX_FAULTS 1000000

#define KIND(k) (1u << FAULT_##k)
#define LINK_KINDS (KIND(LINK_DOWN) | KIND(DEGRADED_RATE) | KIND(RAISED_BER) | KIND(DROP_PACKET))
#define ALL_KINDS (LINK_KINDS | KIND(SWITCH_REBOOT) | KIND(NIC_PORT_DOWN) | KIND(STRAGGLER) | KIND(PAUSE_STORM) | KIND(SLOW_RECEIVER))

/* Keys that not every kind uses. */
static const struct { const char *key; unsigned kinds; } uses[] = {
    {"period", ALL_KINDS & ~KIND(DROP_PACKET)},
    {"rate", KIND(DEGRADED_RATE) | KIND(SLOW_RECEIVER)},
    {"ber", KIND(RAISED_BER)},
    {"loss", KIND(RAISED_BER)},
    {"factor", KIND(STRAGGLER)},
    {"priority", KIND(PAUSE_STORM)},
    {"quanta", KIND(PAUSE_STORM)},
    {"interval", KIND(PAUSE_STORM)},
    {"packet", KIND(DROP_PACKET)},
    {"nth", KIND(DROP_PACKET)},
};

/* Where a kind can happen: at nodes of NODE_KINDS, or at the ports of nodes of PORT_KINDS that face PEER_KINDS. 0: not at all. */
static const struct { unsigned node_kinds, port_kinds, peer_kinds; const char *allowed; } places[] = {
    [FAULT_LINK_DOWN] = {0, SITE_ALL, SITE_ALL, "NODE/PEER"},
    [FAULT_DEGRADED_RATE] = {0, SITE_ALL, SITE_ALL, "NODE/PEER"},
    [FAULT_RAISED_BER] = {0, SITE_ALL, SITE_ALL, "NODE/PEER"},
    [FAULT_DROP_PACKET] = {0, SITE_ALL, SITE_ALL, "NODE/PEER"},
    [FAULT_SWITCH_REBOOT] = {SITE_SWITCHES, 0, 0, "a switch"},
    [FAULT_NIC_PORT_DOWN] = {SITE_HOSTS, SITE_HOSTS, SITE_SWITCHES, "a host or HOST/SWITCH"},
    [FAULT_STRAGGLER] = {SITE_HOSTS, 0, 0, "a host"},
    [FAULT_SLOW_RECEIVER] = {SITE_HOSTS, 0, 0, "a host"},
    [FAULT_PAUSE_STORM] = {SITE_HOSTS, SITE_ALL, SITE_ALL, "a host or NODE/PEER"},
};

struct item {
    const struct site *site;
    int index;
    const char *name;
    const struct fault_params *params;
};

/* ---- messages ------------------------------------------------------------------ */

static bool is_set(const struct item *item, const char *key)
{
    return param_bag_layer_key_origin(item->site->bag, GROUP, item->index, key) != NULL;
}

/* Always false, for return. Opens with the place where KEY was set, of the item if it was not. */
static bool prefix(const struct item *item, const char *key, GError **err)
{
    const char *origin = param_bag_layer_key_origin(item->site->bag, GROUP, item->index, key);
    if (!origin)
        origin = param_bag_layer_origin(item->site->bag, GROUP, item->index);
    g_prefix_error(err, "%s: [" GROUP ":%s]: %s: ", origin, item->name, key);
    return false;
}

/* Always false, for return. */
G_GNUC_PRINTF(4, 5)
static bool fail(const struct item *item, const char *key, GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(err, PARAM_ERROR, PARAM_ERROR_CROSS, message);
    return prefix(item, key, err);
}

/* "straggler, pause_storm". (transfer full) */
static char *kind_names(const struct site *site, unsigned kinds)
{
    const struct param_group *group = param_bag_find(site->bag, GROUP);
    GString *text = g_string_new(NULL);
    for (int r = 0; r < group->n_rows; r++) {
        if (strcmp(group->rows[r].key, "kind") != 0)
            continue;
        g_auto(GStrv) names = g_strsplit(group->rows[r].choices, "|", -1);
        for (unsigned k = 0; names[k]; k++)
            if (kinds >> k & 1)
                g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", names[k]);
    }
    return g_string_free(text, FALSE);
}

/* ---- checks of an item ----------------------------------------------------------- */

static bool check_kind(const struct item *item, GError **err)
{
    unsigned kind = 1u << item->params->kind;
    if (kind == KIND(NONE)) {
        g_autofree char *names = kind_names(item->site, ALL_KINDS);
        return fail(item, "kind", err, "must be set; allowed: %s", names);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(uses); i++) {
        if ((uses[i].kinds & kind) || !is_set(item, uses[i].key))
            continue;
        g_autofree char *own = kind_names(item->site, kind), *users = kind_names(item->site, uses[i].kinds);
        return fail(item, uses[i].key, err, "%s does not use it; used by: %s", own, users);
    }
    return true;
}

static bool check_times(const struct item *item, GError **err)
{
    const struct fault_params *p = item->params;
    if (p->kind == FAULT_DROP_PACKET)
        return true; /* its count is of packets */
    if (p->count == 1)
        return p->period_ps == 0 || fail(item, "period", err, "count is 1, so nothing repeats; allowed: with count of 2 or more");
    if (p->period_ps == 0)
        return fail(item, "count", err, "is %" G_GINT64_FORMAT " without a period; allowed: 1, or a period longer than duration", p->count);
    if (p->duration_ps == 0)
        return fail(item, "duration", err, "must be set where count is above 1: 0 lasts to the end of the run");
    if (p->period_ps <= p->duration_ps) {
        g_autofree char *duration = units_format_time(p->duration_ps);
        return fail(item, "period", err, "is not longer than duration; allowed: more than %s", duration);
    }
    if (p->period_ps > (SIM_PS_MAX - p->start_ps - p->duration_ps) / p->count)
        return fail(item, "period", err, "count times period is longer than any run; allowed: up to %" G_GINT64_FORMAT " s in all",
                    (int64_t)(SIM_PS_MAX / UNIT_S));
    return true;
}

static bool check_values(const struct item *item, GError **err)
{
    const struct fault_params *p = item->params;
    switch ((enum fault_kind)p->kind) {
    case FAULT_DEGRADED_RATE:
    case FAULT_SLOW_RECEIVER:
        return p->rate_bps > 0 || fail(item, "rate", err, "must be set; allowed: above 0, up to the rate of the link");
    case FAULT_RAISED_BER:
        return p->ber > 0 || p->loss > 0 || fail(item, is_set(item, "loss") ? "loss" : "ber", err, "ber and loss are 0; allowed: one of them above 0");
    case FAULT_STRAGGLER:
        return p->factor > 1 || fail(item, "factor", err, "must be set; allowed: above 1");
    case FAULT_PAUSE_STORM:
        return p->quanta > 0 || p->interval_ps > 0 || fail(item, "interval", err, "must be set where quanta is 0: XON frames last for no time");
    default:
        return true;
    }
}

/* ---- places ------------------------------------------------------------------------ */

/* Places by byte: nodes, and ports. */
struct found {
    uint8_t *nodes, *ports;
};

static void keep_peers(const struct net_graph *graph, unsigned peer_kinds, uint8_t *ports)
{
    for (uint32_t p = 0; p < graph->n_ports; p++) {
        uint32_t peer = graph->ports[p].peer;
        if (ports[p] && (peer == NET_NONE || !(peer_kinds >> graph->nodes[graph->ports[peer].node].kind & 1)))
            ports[p] = 0;
    }
}

/* Adds to FOUND what TERM names. Ports of whole nodes don't count: they are the node. */
static bool add_term(const struct item *item, const struct site_term *term, struct found *found, GError **err)
{
    const struct net_graph *graph = &item->site->fabric->graph;
    int kind = item->params->kind;
    unsigned kinds = term->peer ? places[kind].port_kinds : places[kind].node_kinds;
    if (term->classes || (term->rate_bps && !term->peer) || kinds == 0) {
        g_autofree char *name = kind_names(item->site, 1u << kind);
        return fail(item, "where", err, "'%s' is no place for %s; allowed: %s", term->text, name, places[kind].allowed);
    }
    g_autofree uint8_t *ports = g_malloc0(MAX(graph->n_ports, 1));
    if (!site_match(item->site->fabric, term, kinds, found->nodes, ports, err))
        return prefix(item, "where", err);
    if (!term->peer)
        return true;
    keep_peers(graph, places[kind].peer_kinds, ports);
    if (!memchr(ports, 1, graph->n_ports))
        return fail(item, "where", err, "'%s' matches no port that faces a switch; allowed: %s", term->text, places[kind].allowed);
    for (uint32_t p = 0; p < graph->n_ports; p++)
        found->ports[p] |= ports[p];
    return true;
}

static bool find_places(const struct item *item, struct found *found, GError **err)
{
    if (*item->params->where == '\0')
        return fail(item, "where", err, "must be set; allowed: %s", places[item->params->kind].allowed);
    g_autoptr(GPtrArray) terms = site_parse(item->params->where, err);
    if (!terms)
        return prefix(item, "where", err);
    for (guint i = 0; i < terms->len; i++)
        if (!add_term(item, g_ptr_array_index(terms, i), found, err))
            return false;
    return true;
}

/* ---- expansion ---------------------------------------------------------------------- */

static int64_t rate_at(const struct net_graph *graph, uint32_t node, uint32_t port)
{
    if (port != NET_NONE)
        return graph->ports[port].rate_bps;
    int64_t fastest = 0;
    for (uint32_t p = 0; p < graph->nodes[node].n_ports; p++)
        fastest = MAX(fastest, graph->ports[graph->nodes[node].first_port + p].rate_bps);
    return fastest;
}

static bool check_rate(const struct item *item, uint32_t node, uint32_t port, GError **err)
{
    int64_t rate_bps = rate_at(&item->site->fabric->graph, node, port);
    if (item->params->rate_bps <= rate_bps)
        return true;
    g_autofree char *rate = units_format_rate(item->params->rate_bps), *link = units_format_rate(rate_bps);
    return fail(item, "rate", err, "%s is above the rate of a link of %s; allowed: up to %s", rate, item->site->fabric->names[node], link);
}

static bool add_place(const struct item *item, uint32_t node, uint32_t port, GArray *faults, GError **err)
{
    const struct fault_params *p = item->params;
    int64_t count = p->kind == FAULT_DROP_PACKET ? 1 : p->count;
    if (!check_rate(item, node, port, err))
        return false;
    if (count > MAX_FAULTS - (int64_t)faults->len)
        return fail(item, "where", err, "more than %d faults in all, places times count; allowed: up to %d", MAX_FAULTS, MAX_FAULTS);
    for (int64_t i = 0; i < count; i++) {
        sim_ps start_ps = p->start_ps + i * p->period_ps;
        struct net_fault fault = {p, item->name, node, port, start_ps, p->duration_ps ? start_ps + p->duration_ps : SIM_PS_MAX};
        g_array_append_val(faults, fault);
    }
    return true;
}

static bool add_places(const struct item *item, const struct found *found, GArray *faults, GError **err)
{
    const struct net_graph *graph = &item->site->fabric->graph;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (found->nodes[i] && !add_place(item, i, NET_NONE, faults, err))
            return false;
    for (uint32_t p = 0; p < graph->n_ports; p++)
        if (found->ports[p] && !add_place(item, graph->ports[p].node, p, faults, err))
            return false;
    return true;
}

static bool add_item(const struct item *item, GArray *faults, GError **err)
{
    const struct net_graph *graph = &item->site->fabric->graph;
    if (!check_kind(item, err) || !check_times(item, err) || !check_values(item, err))
        return false;
    struct found found = {g_malloc0(MAX(graph->n_nodes, 1)), g_malloc0(MAX(graph->n_ports, 1))};
    bool ok = find_places(item, &found, err) && add_places(item, &found, faults, err);
    g_free(found.nodes);
    g_free(found.ports);
    return ok;
}

static int compare_starts(const void *a, const void *b)
{
    const struct net_fault *x = a, *y = b;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

GArray *site_faults(const struct site *site, GError **err)
{
    g_autoptr(GArray) faults = g_array_new(FALSE, FALSE, sizeof(struct net_fault));
    for (int i = 0; i < param_bag_n_layers(site->bag, GROUP); i++) {
        struct item item = {site, i, param_bag_layer_name(site->bag, GROUP, i), param_bag_item(site->bag, GROUP, i)};
        if (!add_item(&item, faults, err))
            return NULL;
    }
    g_array_sort(faults, compare_starts); /* stable: equal starts stay in the order of items and ports */
    return g_steal_pointer(&faults);
}
