/* check_ecn.c - is every queue of the data marked, and do marks come before pauses?
 *
 * N ingress ports fill M egress queues evenly: a group holds M q / N of its queues' q. It pauses when its shared part
 * reaches T = alpha (pool - shared use of all N), that is at alpha pool / (1 + alpha N); the queues then hold
 *
 *     q = N / M x (reserved + alpha pool / (1 + alpha N))
 *
 * M = 1 is an incast, M = N a switch that is busy all over (the state of DCQCN, SIGCOMM 2015, section 4).
 */
#include "scenarios/check_priv.h"

struct ingress { double reserved, alpha, static_th; }; /* static_th 0: alpha counts */

static double pause_at(const struct ingress *in, double pool, uint32_t n, uint32_t m)
{
    double shared = in->static_th > 0 ? MIN(in->static_th, pool / n) : in->alpha * pool / (1 + in->alpha * n);
    return (double)n / m * (in->reserved + shared);
}

/* ---- rules for marking ------------------------------------------------------------- */

static void check_falling(struct check *c, const struct param_map *map, const char *key)
{
    for (int i = param_map_falls(map, 1); i > 0; i = param_map_falls(map, i + 1)) {
        g_autofree char *rate = units_format_rate(map->rate_bps[i]);
        g_autofree char *slower = units_format_rate(map->rate_bps[i - 1]);
        g_autofree char *value = units_format_bytes((int64_t)map->value[i]);
        g_autofree char *larger = units_format_bytes((int64_t)map->value[i - 1]);
        struct check_finding *finding = check_find(c, "ecn-falling", CHECK_WARNING, "ecn.%s: %s links have %s, below the %s of %s links", key, rate, value,
                                                   larger, slower);
        check_term(finding, "rule of thumb", "a queue of the same delay grows with the rate");
        check_change_run_key(finding, c, "ecn", key, "values that do not fall with the rate");
    }
}

void check_marking_order(struct check *c)
{
    for (uint32_t p = 0; p < c->graph->n_ports; p++)
        for (uint32_t q = 0; check_is_switch(c, c->graph->ports[p].node) && check_is_plugged(c, p) && q < NET_CLASSES; q++) {
            const struct ecn_params *ecn = site_at_port(c->site, NET_PARAMS_ECN, p, q);
            uint8_t marking = 0;
            double kmin, kmax;
            if (!ecn->enabled || !model_parse_classes(ecn->classes, &marking, NULL) || !(marking >> q & 1) ||
                !param_map_get(&ecn->kmin, c->graph->ports[p].rate_bps, &kmin) || !param_map_get(&ecn->kmax, c->graph->ports[p].rate_bps, &kmax) || kmin <= kmax)
                continue;
            g_autofree char *kmin_text = check_bytes(kmin);
            g_autofree char *kmax_text = check_bytes(kmax);
            g_autofree char *rate = units_format_rate(c->graph->ports[p].rate_bps);
            struct check_finding *finding = check_find(c, "kmin-above-kmax", CHECK_ERROR, "queue %u of %s links: kmin %s is above kmax %s; a run refuses it", q, rate,
                                                       kmin_text, kmax_text);
            if (check_is_new(finding)) {
                g_autofree char *value = units_format_bytes((int64_t)kmin * 4);
                check_term(finding, "marking", "begins at kmin and is complete at kmax: kmax - kmin must not be negative");
                check_change_key(finding, c, NET_PARAMS_ECN, p, q, "kmin", "at most kmax");
                check_change_key(finding, c, NET_PARAMS_ECN, p, q, "kmax", value);
            }
            check_at_port(finding, c, p);
            c->explained[p] = 1;
        }
}

static void check_marked(struct check *c, uint32_t port, uint32_t class)
{
    const struct port_profile *profile = survey_profile(c->survey, port);
    bool matters = class == c->data_class || (c->lossless_classes >> class & 1);
    uint8_t queues = 0;
    for (uint32_t code = 0; code < NET_CLASSES; code++)
        if (c->codes[class] >> code & 1)
            queues = (uint8_t)(queues | check_queues(c, port, class, code));
    for (uint32_t q = 0; q < NET_CLASSES; q++) {
        if (!(queues >> q & 1) || profile->queue[q].kmin != UINT32_MAX)
            continue;
        struct check_finding *finding = check_find(c, "ecn-missing", matters ? CHECK_WARNING : CHECK_NOTE,
                                                   "queue %u, where class %u waits, never marks: congestion control hears nothing of it", q, class);
        if (check_is_new(finding)) {
            const struct ecn_params *ecn = site_at_port(c->site, NET_PARAMS_ECN, port, q);
            uint8_t marking = 0;
            model_parse_classes(ecn->classes, &marking, NULL);
            g_autofree char *value = check_bits((uint8_t)(marking | 1u << q));
            if (!ecn->enabled)
                check_change_key(finding, c, NET_PARAMS_ECN, port, q, "enabled", "true");
            else
                check_change_key(finding, c, NET_PARAMS_ECN, port, q, "classes", value);
        }
        check_at_port(finding, c, port);
    }
}

/* ---- ECN against PFC ------------------------------------------------------------------ */

/* The group that pauses first of those that CODE enters at NODE; their number. */
static uint32_t first_to_pause(const struct check *c, uint32_t node, uint32_t code, double pool, struct ingress *first)
{
    const struct net_node *n = &c->graph->nodes[node];
    uint32_t groups = 0;
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++) {
        const struct port_profile *profile = survey_profile(c->survey, p);
        uint32_t pg = profile->pg_of_code[code];
        if (!check_is_switch_port(c, p) || !(profile->lossless_pgs >> pg & 1))
            continue;
        const struct pg_rule *rule = &profile->pg[pg];
        struct ingress in = {rule->reserved, rule->alpha_q16 / 65536.0, (double)rule->static_th};
        if (groups++ == 0 || pause_at(&in, pool, 2, 1) < pause_at(first, pool, 2, 1))
            *first = in;
    }
    return groups;
}

/* Smallest fan-in with which pauses come before marks: N into one queue when ALL is false, else N into N; 0: none. */
static uint32_t overtaken_at(const struct ingress *in, double pool, double kmin, uint32_t n, bool all)
{
    for (uint32_t k = 2; k <= n; k++)
        if (pause_at(in, pool, k, all ? k : 1) < kmin)
            return k;
    return 0;
}

static void add_order_terms(const struct check *c, struct check_finding *finding, const struct ingress *in, double pool, double kmin, uint32_t n,
                            uint32_t k)
{
    g_autofree char *pool_text = check_bytes(pool);
    g_autofree char *reserved = check_bytes(in->reserved);
    g_autofree char *kmin_text = check_bytes(kmin);
    g_autofree char *static_th = check_bytes(in->static_th);
    g_autofree char *share = in->static_th > 0 ? g_strdup_printf("static_th %s", static_th)
                                               : g_strdup_printf("alpha %g x pool %s / (1 + %g N)", in->alpha, pool_text, in->alpha);
    check_term(finding, "XOFF with N ingress ports", "each holds reserved %s + %s", reserved, share);
    const struct { const char *name; uint32_t n, m; } states[] = {
        {"incast, 2 ports into 1 queue", 2, 1}, {"incast, all but one port into 1", MAX(n - 1, 1), 1}, {"N ports into N queues, N = fan-in", k, k},
        {"all ports into all queues", n, n}, {"1 port into all queues (bound)", 1, MAX(n - 1, 1)}};
    for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
        g_autofree char *at = check_bytes(pause_at(in, pool, states[i].n, states[i].m));
        check_term(finding, states[i].name, "%u/%u x (...) = %s a queue at XOFF", states[i].n, states[i].m, at);
    }
    check_term(finding, "ECN", "kmin %s (frames of %d B)", kmin_text, (int)survey_frame_bytes(c->survey));
}

/* The finding of PORT, NULL if its order is right. */
static struct check_finding *find_order(struct check *c, uint32_t port, uint32_t class, uint32_t code)
{
    uint32_t node = c->graph->ports[port].node;
    struct switch_buffer b = survey_buffer(c->survey, node);
    uint8_t queues = check_queues(c, port, class, code);
    const struct queue_rule *queue = &survey_profile(c->survey, port)->queue[__builtin_ctz(queues)];
    double pool = b.shared_bytes / (double)b.slices, kmin = queue->kmin;
    struct ingress in = {0};
    uint32_t n = b.fits ? first_to_pause(c, node, code, pool, &in) : 0;
    if (n < 2 || queue->kmin == UINT32_MAX)
        return NULL;
    uint32_t incast = overtaken_at(&in, pool, kmin, n - 1, false), all = overtaken_at(&in, pool, kmin, n, true);
    if (incast == 0 && all == 0)
        return NULL;
    bool likely = incast > 0 || all <= n / 2;
    uint32_t k = incast > 0 ? incast : all;
    g_autofree char *xoff = check_bytes(pause_at(&in, pool, k, incast > 0 ? 1 : k));
    g_autofree char *kmin_text = check_bytes(kmin);
    struct check_finding *finding = check_find(c, "ecn-after-pfc", likely ? CHECK_WARNING : CHECK_NOTE,
                                               "PFC acts before ECN from a fan-in of %u ports%s: XOFF at a queue of %s, marks from %s (class %u, %u ports)", k,
                                               incast > 0 ? "" : " into as many queues", xoff, kmin_text, class, n);
    if (check_is_new(finding)) {
        add_order_terms(c, finding, &in, pool, kmin, n, k);
        double target = MIN(pause_at(&in, pool, 2, 1), pause_at(&in, pool, n, n)) / 2;
        g_autofree char *value = units_format_bytes(MAX((int64_t)target / UNIT_KB * UNIT_KB, UNIT_KB));
        check_change_key(finding, c, NET_PARAMS_ECN, port, (uint32_t)__builtin_ctz(queues), "kmin", value);
        check_change(finding, "or a larger buffer.alpha or buffer.size");
    }
    return finding;
}

/* Ports of a switch with equal settings have the same finding: the last one, by code. */
struct memo { uint32_t node; const struct port_profile *profile; struct check_finding *finding; };

static void check_order(struct check *c, uint32_t port, uint32_t class, uint32_t code, struct memo *memo)
{
    uint32_t node = c->graph->ports[port].node;
    const struct port_profile *profile = survey_profile(c->survey, port);
    if (memo->profile != profile || memo->node != node)
        *memo = (struct memo){node, profile, find_order(c, port, class, code)};
    if (memo->finding)
        check_at_port(memo->finding, c, port);
}

void check_ecn(struct check *c)
{
    const struct ecn_params *ecn = param_bag_get(c->scenario->bag, "ecn");
    if (ecn->enabled) {
        check_falling(c, &ecn->kmin, "kmin");
        check_falling(c, &ecn->kmax, "kmax");
    }
    if (!check_heeds_ecn(c))
        return;
    for (uint32_t class = 0; class < NET_CLASSES; class++) {
        struct memo memo[NET_CLASSES] = {0};
        for (uint32_t p = 0; (c->classes >> class & 1) && p < c->graph->n_ports; p++) {
            if (!check_is_switch_port(c, p))
                continue;
            check_marked(c, p, class);
            for (uint32_t code = 0; (c->lossless_classes >> class & 1) && code < NET_CLASSES; code++)
                if (c->codes[class] >> code & 1)
                    check_order(c, p, class, code, &memo[code]);
        }
    }
}
