/* check_classes.c - do all hops read a packet in the same way, and do CNPs and other traffic stay out of the data's class? */
#include "scenarios/check_priv.h"

#include <string.h>

/* ---- the same everywhere? ------------------------------------------------------------- */

/* What a port makes of a code. */
struct reading { uint8_t trust, tc, pg, queue; };
struct vote { struct reading reading; uint32_t n; };

static struct reading read_code(const struct check *c, uint32_t port, uint32_t code)
{
    const struct port_profile *profile = survey_profile(c->survey, port);
    uint8_t tc = profile->tc_of_code[code];
    const struct qos_params *qos = CHECK_PORT(c, NET_PARAMS_QOS, port);
    return (struct reading){(uint8_t)qos->trust, tc, profile->pg_of_code[code], profile->queue_of_tc[tc]};
}

static bool same_maps(const struct reading *a, const struct reading *b)
{
    return a->tc == b->tc && a->pg == b->pg && a->queue == b->queue;
}

/* The reading of most ports of switches, and of how many; the first of equals. */
static struct vote most_read(const struct check *c, uint32_t code, uint32_t *n_all)
{
    g_autoptr(GArray) votes = g_array_new(FALSE, FALSE, sizeof(struct vote));
    struct vote best = {0};
    *n_all = 0;
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        if (!check_is_switch_port(c, p))
            continue;
        struct vote mine = {read_code(c, p, code), 0};
        guint i = 0;
        while (i < votes->len && memcmp(&g_array_index(votes, struct vote, i).reading, &mine.reading, sizeof mine.reading) != 0)
            i++;
        if (i == votes->len)
            g_array_append_val(votes, mine);
        g_array_index(votes, struct vote, i).n++;
        (*n_all)++;
    }
    for (guint i = 0; i < votes->len; i++)
        if (g_array_index(votes, struct vote, i).n > best.n)
            best = g_array_index(votes, struct vote, i);
    return best;
}

static const char *trust_name(uint8_t trust)
{
    return trust == QOS_TRUST_DSCP ? "DSCP" : "PCP";
}

static void check_trust(struct check *c, uint32_t port, const struct reading *mine, const struct vote *most, uint32_t n_all)
{
    if (mine->trust == most->reading.trust)
        return;
    struct check_finding *finding = check_find(c, "trust-differs", CHECK_WARNING, "these ports trust the %s, %u of %u switch ports the %s",
                                               trust_name(mine->trust), most->n, n_all, trust_name(most->reading.trust));
    if (check_is_new(finding)) {
        check_term(finding, "why it matters", "a routed hop strips the VLAN tag with its PCP; a NIC that sets one field leaves the other at 0");
        check_change_key(finding, c, NET_PARAMS_QOS, port, NET_SITE_ANY_CLASS, "trust", most->reading.trust == QOS_TRUST_DSCP ? "dscp" : "pcp");
    }
    check_at_port(finding, c, port);
}

static void check_maps(struct check *c, uint32_t port, uint32_t class, uint32_t code, const struct reading *mine, const struct vote *most,
                       uint32_t n_all)
{
    static const char *const keys[] = {"dscp_to_tc", "pcp_to_tc", "tc_to_pg", "tc_to_queue"};
    if (same_maps(mine, &most->reading))
        return;
    struct check_finding *finding =
        check_find(c, "maps-differ", CHECK_WARNING, "class %u (DSCP %u) becomes TC %u, priority group %u, queue %u; on %u of %u switch ports TC %u, %u, %u",
                   class, survey_dscp(c->survey, code), mine->tc, mine->pg, mine->queue, most->n, n_all, most->reading.tc, most->reading.pg,
                   most->reading.queue);
    if (check_is_new(finding))
        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
            const char *origin = site_origin(c->site, NET_PARAMS_QOS, port, NET_SITE_ANY_CLASS, keys[i]);
            if (g_strcmp0(origin, "default") != 0)
                check_change(finding, "qos.%s, set at %s: the same as on the other hops", keys[i], origin);
        }
    check_at_port(finding, c, port);
}

static void check_readings(struct check *c, uint32_t class)
{
    for (uint32_t code = 0; code < NET_CLASSES; code++) {
        uint32_t n_all;
        if (!(c->codes[class] >> code & 1))
            continue;
        struct vote most = most_read(c, code, &n_all);
        for (uint32_t p = 0; p < c->graph->n_ports; p++) {
            if (!check_is_switch_port(c, p))
                continue;
            struct reading mine = read_code(c, p, code);
            if (class == (uint32_t)__builtin_ctz(c->classes))
                check_trust(c, p, &mine, &most, n_all);
            check_maps(c, p, class, code, &mine, &most, n_all);
        }
    }
}

/* ---- markings of NICs -------------------------------------------------------------------- */

static uint32_t n_nics_with(const struct check *c, uint32_t class, uint32_t code)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < c->graph->n_ports; p++)
        n += !check_is_switch(c, c->graph->ports[p].node) && check_is_plugged(c, p) && survey_code(c->survey, p, class) == code;
    return n;
}

static void check_marking(struct check *c, uint32_t class)
{
    uint32_t usual = 0, most = 0;
    for (uint32_t code = 0; code < NET_CLASSES; code++) {
        uint32_t n = c->codes[class] >> code & 1 ? n_nics_with(c, class, code) : 0;
        usual = n > most ? code : usual;
        most = MAX(most, n);
    }
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        uint32_t node = c->graph->ports[p].node;
        if (check_is_switch(c, node) || !check_is_plugged(c, p) || survey_code(c->survey, p, class) == usual)
            continue;
        struct check_finding *finding = check_find(c, "marking-differs", CHECK_WARNING, "these NICs send class %u with DSCP %u, %u others with DSCP %u",
                                                   class, survey_dscp(c->survey, survey_code(c->survey, p, class)), most, survey_dscp(c->survey, usual));
        if (check_is_new(finding)) {
            const struct nic_params *nic = c->nic;
            check_change_key(finding, c, NET_PARAMS_NIC, p, NET_SITE_ANY_CLASS, "class_dscp", nic->class_dscp);
        }
        check_at_port(finding, c, p);
    }
}

/* ---- shared classes -------------------------------------------------------------------------- */

/* Queues of CLASS at PORT over all codes that NICs give it. */
static uint8_t queues_of(const struct check *c, uint32_t port, uint32_t class)
{
    uint8_t queues = 0;
    for (uint32_t code = 0; code < NET_CLASSES; code++)
        if (c->codes[class] >> code & 1)
            queues = (uint8_t)(queues | check_queues(c, port, class, code));
    return queues;
}

static uint8_t pgs_of(const struct check *c, uint32_t port, uint32_t class)
{
    uint8_t pgs = 0;
    for (uint32_t code = 0; code < NET_CLASSES; code++)
        if (c->codes[class] >> code & 1)
            pgs = (uint8_t)(pgs | 1u << survey_profile(c->survey, port)->pg_of_code[code]);
    return pgs;
}

static const char *role(const struct check *c, uint32_t class)
{
    return class == c->data_class ? " (RDMA data)" : "";
}

static void check_pair(struct check *c, uint32_t a, uint32_t b)
{
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        if (!check_is_switch_port(c, p))
            continue;
        uint8_t queues = queues_of(c, p, a) & queues_of(c, p, b), pgs = pgs_of(c, p, a) & pgs_of(c, p, b) & survey_profile(c->survey, p)->lossless_pgs;
        if (!queues && !pgs)
            continue;
        struct check_finding *finding = check_find(c, "classes-share", CHECK_WARNING, "classes %u%s and %u%s of the workload share %s %d here", a, role(c, a), b,
                                                   role(c, b), queues ? "queue" : "the lossless priority group", __builtin_ctz(queues ? queues : pgs));
        if (check_is_new(finding)) {
            check_term(finding, "class marking", "class %u: DSCP %u; class %u: DSCP %u", a, survey_dscp(c->survey, (uint32_t)__builtin_ctz(c->codes[a])), b,
                       survey_dscp(c->survey, (uint32_t)__builtin_ctz(c->codes[b])));
            check_term(finding, "what it does", "one's congestion pauses, marks and delays the other");
            check_change(finding, "a DSCP, traffic class, queue and priority group of its own for each: nic.class_dscp, qos.dscp_to_tc, qos.tc_to_queue, qos.tc_to_pg");
            const char *origin = site_origin(c->site, NET_PARAMS_QOS, p, NET_SITE_ANY_CLASS, "dscp_to_tc");
            if (g_strcmp0(origin, "default") != 0)
                check_change(finding, "qos.dscp_to_tc holds there from %s", origin);
        }
        check_at_port(finding, c, p);
    }
}

/* ---- applications -------------------------------------------------------------------------------- */

/* What a flow list calls by different names and sends in one class. */
static void check_applications(struct check *c, uint32_t class)
{
    g_autoptr(GString) names = g_string_new(NULL);
    guint n = 0;
    for (guint a = 1; c->job && a <= c->job->applications->len; a++)
        for (guint i = 0; i < c->job->flows->len; i++) {
            const struct job_flow *flow = &g_array_index(c->job->flows, struct job_flow, i);
            const struct job_op *send = job_op_at(c->job, flow->send_op);
            if (flow->application != a || (send->traffic_class == JOB_CLASS_DEFAULT ? c->data_class : send->traffic_class) != class)
                continue;
            g_string_append_printf(names, "%s%s", n++ ? ", " : "", (const char *)c->job->applications->pdata[a - 1]);
            break;
        }
    if (n < 2)
        return;
    struct check_finding *finding = check_find(c, "applications-share", CHECK_WARNING, "class %u%s carries %u applications: %s", class, role(c, class), n, names->str);
    check_term(finding, "what it does", "one's congestion pauses, marks and delays the other");
    check_change(finding, "a class of its own for each: column class of the flow list; on hosts the DSCP that the application sets");
}

/* ---- CNPs ------------------------------------------------------------------------------------- */

static void suggest_cnp(const struct check *c, struct check_finding *finding)
{
    const char *key = "cnp_class";
    check_change_run_key(finding, c, "nic", key, "6");
    check_change(finding, "with a strict queue in every switch (switch.strict_classes) and no PFC on it");
}

static void check_cnp_port(struct check *c, uint32_t port, uint32_t class, uint32_t code)
{
    const struct port_profile *profile = survey_profile(c->survey, port);
    uint8_t queues = check_queues(c, port, class, code), data = 0;
    for (uint32_t d = 0; d < NET_CLASSES; d++)
        if (c->classes >> d & 1)
            data = (uint8_t)(data | queues_of(c, port, d));
    struct check_finding *finding = NULL;
    if (queues & data) {
        finding = check_find(c, "cnp-with-data", CHECK_WARNING, "CNPs (class %u, DSCP %u) wait in queue %d behind the data that they are to slow down", class,
                             survey_dscp(c->survey, code), __builtin_ctz(queues & data));
        if (check_is_new(finding))
            suggest_cnp(c, finding);
    } else if (queues & ~profile->strict_queues) {
        finding = check_find(c, "cnp-not-strict", CHECK_WARNING, "queue %d of the CNPs (class %u) is not strict: it shares the port with data by weights",
                             __builtin_ctz(queues & ~profile->strict_queues), class);
        g_autofree char *value = check_bits(profile->strict_queues | queues);
        if (check_is_new(finding))
            check_change_key(finding, c, NET_PARAMS_SWITCH, port, NET_SITE_ANY_CLASS, "strict_classes", value);
    }
    if (finding)
        check_at_port(finding, c, port);
    uint32_t pg = profile->pg_of_code[code];
    if (!(profile->lossless_pgs >> pg & 1) || (queues & data))
        return;
    finding = check_find(c, "cnp-lossless", CHECK_WARNING, "CNPs (class %u) fall into the lossless priority group %u: pauses hold them back", class, pg);
    if (check_is_new(finding))
        suggest_cnp(c, finding);
    check_at_port(finding, c, port);
}

static void check_cnps(struct check *c)
{
    for (uint32_t class = 0; class < NET_CLASSES; class++)
        for (uint32_t p = 0; (c->cnp_classes >> class & 1) && p < c->graph->n_ports; p++)
            for (uint32_t code = 0; check_is_switch_port(c, p) && code < NET_CLASSES; code++)
                if (c->codes[class] >> code & 1)
                    check_cnp_port(c, p, class, code);
}

void check_classes(struct check *c)
{
    for (uint32_t a = 0; a < NET_CLASSES; a++) {
        if (!((c->classes | c->cnp_classes) >> a & 1))
            continue;
        check_marking(c, a);
        check_readings(c, a);
        check_applications(c, a);
        for (uint32_t b = a + 1; (c->classes >> a & 1) && b < NET_CLASSES; b++)
            if (c->classes >> b & 1)
                check_pair(c, a, b);
    }
    check_cnps(c);
}
