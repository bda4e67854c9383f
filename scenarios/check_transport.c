/* check_transport.c - NICs: retries against routing's reconvergence, windows against the path, receivers that are too slow. */
#include "scenarios/check_priv.h"

#define MAX_PATH_PORTS 64
#define LINK_FAULTS (1u << FAULT_LINK_DOWN | 1u << FAULT_SWITCH_REBOOT | 1u << FAULT_NIC_PORT_DOWN)

/* The first port of NODE that is plugged, NET_NONE if none is. */
static uint32_t first_port(const struct check *c, uint32_t node)
{
    const struct net_node *n = &c->graph->nodes[node];
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++)
        if (check_is_plugged(c, p))
            return p;
    return NET_NONE;
}

/* ---- retries ------------------------------------------------------------------------ */

static void check_retries(struct check *c, uint32_t node, const struct nic_params *nic)
{
    sim_ps span_ps = net_retry_span_ps(nic), heal_ps = MAX(c->routing->reconvergence_ps, c->routing->local_repair_ps);
    bool will_fail = check_has_fault(c, LINK_FAULTS);
    if (span_ps == 0 || span_ps >= heal_ps)
        return;
    g_autofree char *span = units_human_time(span_ps);
    g_autofree char *heal = units_human_time(heal_ps);
    struct check_finding *finding = check_find(c, "retries-run-out", will_fail ? CHECK_WARNING : CHECK_NOTE,
                                               "queue pairs fail after %s without an answer, routing heals a broken link in up to %s", span, heal);
    if (check_is_new(finding)) {
        int64_t exponent = nic->local_ack_timeout;
        for (sim_ps longer_ps = span_ps; longer_ps < heal_ps && exponent < 31; longer_ps *= 2)
            exponent++;
        g_autofree char *value = g_strdup_printf("%d", (int)exponent);
        check_term(finding, "retries", "4.096 us x 2^%d, %d retries%s: %s", (int)nic->local_ack_timeout, (int)nic->retry_cnt,
                   nic->adaptive_retransmission ? ", adaptive" : " after the first", span);
        check_term(finding, "routing", "reconvergence %s", heal);
        check_change_key(finding, c, NET_PARAMS_NIC, first_port(c, node), NET_SITE_ANY_CLASS, "local_ack_timeout", value);
    }
    check_at_node(finding, node);
}

static void check_no_timeout(struct check *c, uint32_t node, const struct nic_params *nic)
{
    if (nic->local_ack_timeout > 0)
        return;
    struct check_finding *finding = check_find(c, "no-timeout", CHECK_NOTE, "these NICs have no retransmission timeout: a lost last packet is never sent again");
    if (check_is_new(finding))
        check_change_key(finding, c, NET_PARAMS_NIC, first_port(c, node), NET_SITE_ANY_CLASS, "local_ack_timeout", "14");
    check_at_node(finding, node);
}

static void check_rnr(struct check *c, uint32_t node, const struct nic_params *nic)
{
    sim_ps span_ps = net_rnr_span_ps(nic);
    if (!nic->rnr || span_ps == 0)
        return;
    g_autofree char *span = units_human_time(span_ps);
    struct check_finding *finding =
        check_find(c, "rnr-runs-out", CHECK_NOTE, "a receive that is posted more than %s late fails its queue pair", span);
    if (check_is_new(finding)) {
        check_term(finding, "RNR retries", "%d x the time of min_rnr_timer %d = %s", (int)nic->rnr_retry, (int)nic->min_rnr_timer, span);
        check_change_key(finding, c, NET_PARAMS_NIC, first_port(c, node), NET_SITE_ANY_CLASS, "rnr_retry", "7");
    }
    check_at_node(finding, node);
}

/* ---- window ---------------------------------------------------------------------------- */

/* One way of the least packet: pipelines, cables, FEC, and the frame on each wire where switches store and forward. */
static sim_ps path_ps(const struct check *c, const uint32_t *ports, int n, int64_t frame_bytes)
{
    const struct link_params *link = param_bag_get(c->scenario->bag, "link");
    sim_ps ps = c->nic->tx_latency_ps + c->nic->rx_latency_ps;
    for (int i = 0; i < n; i++) {
        const struct net_port *port = &c->graph->ports[ports[i]];
        const struct switch_params *s = CHECK_NODE(c, NET_PARAMS_SWITCH, port->node);
        bool at_switch = check_is_switch(c, port->node);
        ps += port->delay_ps + link->fec_latency_ps + (at_switch ? s->latency_ps : 0);
        if (!at_switch || s->forwarding == SWITCH_STORE_AND_FORWARD)
            ps += units_wire_ps(frame_bytes, port->rate_bps);
    }
    return ps;
}

/* Unloaded round trip from rank 0 to the rank that is most hops away (of a sample); its slowest link; 0: no path. */
static sim_ps longest_round_trip_ps(struct check *c, int64_t *slowest_bps)
{
    uint32_t n_ranks = c->graph->n_endpoints, step = MAX(n_ranks / 256, 1), far = 0, ports[MAX_PATH_PORTS];
    int hops = 0;
    for (uint32_t r = n_ranks; r-- > 0 && r >= step; r -= step - 1) {
        int h = routes_hops(c->routes, 0, r);
        far = h > hops ? r : far;
        hops = MAX(h, hops);
    }
    const struct route_key key = {.src = 0, .dst = far};
    const struct ecmp_hash hash = ecmp_hash_of(c->routing);
    int n = hops > 0 ? routes_path(c->routes, &key, &hash, ports, MAX_PATH_PORTS, NULL) : 0;
    if (n < 1)
        return 0;
    const struct link_params *link = param_bag_get(c->scenario->bag, "link");
    *slowest_bps = c->graph->ports[ports[0]].rate_bps;
    for (int i = 1; i < n; i++)
        *slowest_bps = MIN(*slowest_bps, c->graph->ports[ports[i]].rate_bps);
    return path_ps(c, ports, n, survey_frame_bytes(c->survey)) + path_ps(c, ports, n, link->ack_frame_bytes);
}

static void check_window(struct check *c)
{
    int64_t rate_bps = 0;
    if (c->nic->window_bytes == 0)
        return;
    sim_ps round_ps = longest_round_trip_ps(c, &rate_bps);
    double bdp = (double)units_bytes_in(round_ps, rate_bps);
    if (round_ps == 0 || (double)c->nic->window_bytes >= bdp)
        return;
    g_autofree char *window = check_bytes((double)c->nic->window_bytes);
    g_autofree char *bdp_text = check_bytes(bdp);
    g_autofree char *round = units_human_time(round_ps);
    g_autofree char *rate = units_format_rate(rate_bps);
    g_autofree char *value = units_format_bytes((int64_t)bdp + UNIT_KB - (int64_t)bdp % UNIT_KB);
    struct check_finding *finding = check_find(c, "window-below-bdp", CHECK_NOTE, "a window of %s lets one queue pair fill %.0f %% of its longest path", window,
                                               100 * (double)c->nic->window_bytes / bdp);
    check_term(finding, "bandwidth x delay", "%s x %s unloaded round trip = %s", rate, round, bdp_text);
    check_change_run_key(finding, c, "nic", "window", value);
}

/* ---- slow receivers ------------------------------------------------------------------------ */

static void check_receiver(struct check *c, uint32_t node, const struct nic_params *nic)
{
    uint32_t port = first_port(c, node);
    if (port == NET_NONE || nic->rx_rate_bps == 0 || nic->rx_rate_bps >= c->graph->ports[port].rate_bps)
        return;
    bool pauses = survey_profile(c->survey, port)->lossless_pgs != 0;
    g_autofree char *rx = units_format_rate(nic->rx_rate_bps);
    g_autofree char *rate = units_format_rate(c->graph->ports[port].rate_bps);
    struct check_finding *finding = check_find(c, "slow-receiver", CHECK_WARNING, "NICs take %s from a link of %s and %s", rx, rate,
                                               pauses ? "pause their switch for the rest: the pauses spread" : "drop the rest: they may not pause");
    if (check_is_new(finding)) {
        check_term(finding, "at full rate", "%.0f %% of the time %s", 100 * (1 - (double)nic->rx_rate_bps / (double)c->graph->ports[port].rate_bps),
                   pauses ? "paused" : "too much");
        check_change_key(finding, c, NET_PARAMS_NIC, port, NET_SITE_ANY_CLASS, "rx_rate", rate);
    }
    check_at_node(finding, node);
}

/* What still arrives after a NIC's XOFF must fit above rx_xoff; the switch at the other end has the same link. */
static void check_receive_room(struct check *c, uint32_t node, const struct nic_params *nic)
{
    uint32_t port = first_port(c, node);
    struct buffer_headroom_parts parts;
    if (port == NET_NONE || nic->rx_rate_bps == 0 || !check_is_switch(c, check_peer_node(c, port)) || survey_profile(c->survey, port)->lossless_pgs == 0)
        return;
    survey_headroom(c->survey, port, &parts);
    double room = (double)(nic->rx_buffer_bytes - nic->rx_xoff_bytes), needed = (double)parts.wire_bytes;
    if (room >= needed)
        return;
    g_autofree char *room_text = check_bytes(room);
    g_autofree char *needed_text = check_bytes(needed);
    struct check_finding *finding = check_find(c, "nic-headroom-short", CHECK_ERROR, "a NIC's receive buffer has %s above its XOFF and needs %s", room_text, needed_text);
    if (check_is_new(finding)) {
        g_autofree char *value = units_format_bytes(MAX(nic->rx_buffer_bytes - (int64_t)needed, 0) / UNIT_KB * UNIT_KB);
        g_autofree char *flight = check_bytes((double)parts.flight_bytes);
        check_term(finding, "needed", "round trip and responses %s + %d frames of %d B + pause frames", flight, parts.n_frames, (int)parts.frame_bytes);
        check_change_key(finding, c, NET_PARAMS_NIC, port, NET_SITE_ANY_CLASS, "rx_xoff", value);
    }
    check_at_node(finding, node);
}

void check_transport(struct check *c)
{
    check_window(c);
    for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
        const struct nic_params *nic = CHECK_NODE(c, NET_PARAMS_NIC, i);
        if (check_is_switch(c, i) || first_port(c, i) == NET_NONE)
            continue;
        check_retries(c, i, nic);
        check_no_timeout(c, i, nic);
        check_rnr(c, i, nic);
        check_receiver(c, i, nic);
        check_receive_room(c, i, nic);
    }
}
