/* check_buffer.c - does it fit into a switch's buffer, and is XON below XOFF? */
#include "scenarios/check_priv.h"

/* ---- sums ------------------------------------------------------------------------------- */

/* Ports FIRST.. of NODE with the same profile as FIRST; 0 if an earlier port has it. */
static uint32_t n_alike(const struct check *c, const struct net_node *node, uint32_t first)
{
    const struct port_profile *profile = survey_profile(c->survey, first);
    uint32_t n = 0;
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
        if (!check_is_plugged(c, p) || survey_profile(c->survey, p) != profile)
            continue;
        if (p < first)
            return 0;
        n++;
    }
    return n;
}

static void add_group_terms(const struct check *c, struct check_finding *finding, uint32_t node)
{
    const struct net_node *n = &c->graph->nodes[node];
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++) {
        uint32_t alike = check_is_plugged(c, p) ? n_alike(c, n, p) : 0;
        const struct port_profile *profile = survey_profile(c->survey, p);
        for (uint32_t g = 0; alike > 0 && g < NET_CLASSES; g++) {
            if (!(profile->lossless_pgs >> g & 1))
                continue;
            double headroom = profile->own_headroom ? profile->pg[g].headroom : 0;
            g_autofree char *reserved_text = check_bytes(profile->pg[g].reserved);
            g_autofree char *headroom_text = check_bytes(headroom);
            g_autofree char *sum = check_bytes(alike * (profile->pg[g].reserved + headroom));
            g_autofree char *rate = units_format_rate(c->graph->ports[p].rate_bps);
            g_autofree char *name = g_strdup_printf("priority group %u", g);
            check_term(finding, name, "%u ports of %s x (reserved %s + headroom %s) = %s", alike, rate, reserved_text, headroom_text, sum);
        }
    }
}

static void check_sum(struct check *c, uint32_t node, const struct switch_buffer *b)
{
    if (b->fits)
        return;
    double needs = b->headroom_bytes + b->headroom_pool_bytes + b->reserved_bytes + b->ingress_pool_bytes;
    g_autofree char *needs_text = check_bytes(needs);
    g_autofree char *size = check_bytes(b->size_bytes);
    g_autofree char *missing = check_bytes(needs - b->size_bytes);
    struct check_finding *finding = check_find(c, "buffer-too-small", CHECK_ERROR,
                                               "reserves, headroom and pools need %s of a buffer of %s", needs_text, size);
    uint32_t port = c->graph->nodes[node].first_port;
    if (check_is_new(finding)) {
        add_group_terms(c, finding, node);
        g_autofree char *pool = check_bytes(b->headroom_pool_bytes);
        g_autofree char *ingress = check_bytes(b->ingress_pool_bytes);
        if (b->headroom_pool_bytes > 0)
            check_term(finding, "shared headroom pool", "%s", pool);
        if (b->ingress_pool_bytes > 0)
            check_term(finding, "ingress pool", "%s", ingress);
        check_term(finding, "buffer", "%s, short of %s; what is left would be the shared pool", size, missing);
        g_autofree char *refusal = survey_buffer_refusal(c->survey, node);
        check_term(finding, "a run says", "%s", refusal);
        /* A fifth of it for the shared pool. */
        g_autofree char *value = units_format_bytes(((int64_t)(needs * 1.25) / UNIT_MB + 1) * UNIT_MB);
        check_change_key(finding, c, NET_PARAMS_BUFFER, port, NET_SITE_ANY_CLASS, "size", value);
        check_change(finding, "or shorter cables, fewer lossless classes, a shared headroom pool (buffer.headroom_pool)");
    }
    check_at_node(finding, node);
}

/* With every group congested each may use little more than a frame: PFC stutters. */
static void check_share(struct check *c, uint32_t node, const struct switch_buffer *b)
{
    if (!b->fits || b->n_groups == 0)
        return;
    double each = b->shared_bytes / b->n_groups, frame = (double)survey_frame_bytes(c->survey);
    if (each >= frame)
        return;
    g_autofree char *shared = check_bytes(b->shared_bytes);
    g_autofree char *each_text = check_bytes(each);
    g_autofree char *frame_text = check_bytes(frame);
    struct check_finding *finding = check_find(c, "buffer-tight", CHECK_WARNING, "the shared pool of %s leaves %s for each of %u lossless groups",
                                               shared, each_text, b->n_groups);
    if (check_is_new(finding)) {
        check_term(finding, "shared pool / groups", "%s / %u = %s, below a frame of %s", shared, b->n_groups, each_text, frame_text);
        check_change(finding, "a larger buffer.size, less headroom or smaller reserves");
    }
    check_at_node(finding, node);
}

/* ---- XON and XOFF -------------------------------------------------------------------------- */

/* Threshold of one of K groups that are all at it: x = alpha (pool - k x), or the static one. */
static double threshold(const struct pg_rule *rule, double pool_bytes, uint32_t k)
{
    double alpha = rule->alpha_q16 / 65536.0;
    return rule->static_th > 0 ? (double)rule->static_th : alpha * pool_bytes / (1 + alpha * k);
}

/* Smallest number of groups at their threshold with which XON is not below XOFF; 0: none up to N. */
static uint32_t overtaken_at(const struct pg_rule *rule, double pool_bytes, uint32_t n)
{
    for (uint32_t k = 1; k <= n; k++)
        if (rule->xon >= threshold(rule, pool_bytes, k))
            return k;
    return 0;
}

static void check_xon(struct check *c, uint32_t port, uint32_t pg, const struct switch_buffer *b)
{
    const struct pg_rule *rule = &survey_profile(c->survey, port)->pg[pg];
    double pool = b->shared_bytes / (double)b->slices, free_th = threshold(rule, pool, 0);
    uint32_t k = overtaken_at(rule, pool, b->n_groups);
    bool always = rule->xon >= free_th, chatters = rule->xon_offset == 0 && rule->xon == 0;
    if (!always && k == 0 && !chatters)
        return;
    g_autofree char *xon = check_bytes(rule->xon);
    g_autofree char *xoff = check_bytes(free_th);
    struct check_finding *finding;
    if (always)
        finding = check_find(c, "xon-above-xoff", CHECK_ERROR, "XON at %s is not below XOFF at %s, its highest", xon, xoff);
    else if (k > 0)
        finding = check_find(c, "xon-above-xoff", CHECK_WARNING, "XON at %s is not below XOFF when %u or more groups are congested", xon, k);
    else
        finding = check_find(c, "xon-no-hysteresis", CHECK_WARNING, "XON follows XOFF at the next byte: xon and xon_offset are 0");
    if (check_is_new(finding)) {
        g_autofree char *pool_text = check_bytes(pool);
        if (rule->static_th > 0)
            check_term(finding, "XOFF", "static_th = %s", xoff);
        else
            check_term(finding, "XOFF, pool empty", "alpha %g x %s = %s", rule->alpha_q16 / 65536.0, pool_text, xoff);
        g_autofree char *under = check_bytes(threshold(rule, pool, MAX(k, 1)));
        if (k > 0 && rule->static_th == 0)
            check_term(finding, "XOFF, congested", "alpha %g x %s / (1 + %g x %u groups) = %s", rule->alpha_q16 / 65536.0, pool_text,
                       rule->alpha_q16 / 65536.0, k, under);
        check_term(finding, "XON", "max(XOFF - xon_offset %u B, xon %s)", rule->xon_offset, xon);
        double lowest = threshold(rule, pool, b->n_groups);
        g_autofree char *value = chatters ? units_format_bytes(survey_frame_bytes(c->survey)) : units_format_bytes((int64_t)(lowest / 2));
        check_change_key(finding, c, NET_PARAMS_BUFFER, port, pg, chatters ? "xon_offset" : "xon", value);
    }
    check_at_port(finding, c, port);
}

static void check_nic_xon(struct check *c, uint32_t node)
{
    const struct nic_params *nic = CHECK_NODE(c, NET_PARAMS_NIC, node);
    if (nic->rx_rate_bps == 0 || nic->rx_xon_bytes < nic->rx_xoff_bytes)
        return;
    struct check_finding *finding = check_find(c, "xon-above-xoff", CHECK_ERROR, "a NIC's XON is not below its XOFF: nic.rx_xon >= nic.rx_xoff");
    if (check_is_new(finding)) {
        g_autofree char *value = units_format_bytes(nic->rx_xoff_bytes / 2);
        check_change_key(finding, c, NET_PARAMS_NIC, c->graph->nodes[node].first_port, NET_SITE_ANY_CLASS, "rx_xon", value);
    }
    check_at_node(finding, node);
}

void check_buffer(struct check *c)
{
    for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
        const struct net_node *node = &c->graph->nodes[i];
        if (!check_is_switch(c, i)) {
            check_nic_xon(c, i);
            continue;
        }
        struct switch_buffer b = survey_buffer(c->survey, i);
        check_sum(c, i, &b);
        check_share(c, i, &b);
        for (uint32_t p = node->first_port; b.fits && p < node->first_port + node->n_ports; p++)
            for (uint32_t g = 0; check_is_switch_port(c, p) && g < NET_CLASSES; g++)
                if (survey_profile(c->survey, p)->lossless_pgs >> g & 1)
                    check_xon(c, p, g, &b);
    }
}
