/* net_view.c - what a run left behind, and the laws that it must have kept. */
#include "models/buffer.h"
#include "models/ib.h"
#include "models/link.h"
#include "models/nic.h"

#include <string.h>

static void add_vertex(const struct net_vertex *v, struct net_totals *t)
{
    t->nak_pkts += v->nak_pkts;
    t->retransmitted_pkts += v->retransmitted_pkts;
    t->timeouts += v->timeouts;
    t->failed_qps += v->failed_qps;
    t->cnp_sent_pkts += v->cnp_sent;
    t->cnp_handled_pkts += v->cnp_handled;
    t->echo_acks += v->echo_acks;
    t->lossless_drop_pkts += v->lossless_drops;
    t->no_route_pkts += v->no_route_pkts;
    for (int c = 0; c < NET_CLASSES; c++)
        t->drop_pkts += v->ledger[c].dropped_pkts;
}

static sim_ps queue_paused_ps(const struct net *net, uint32_t p, int c)
{
    if (net->ib)
        return 0;
    bool now = net->port[p].paused >> c & 1;
    return net->cold[p].paused_ps[c] + (now ? net_now(net) - net->cold[p].pause_start_ps[c] : 0);
}

static void add_nic(const struct nic_port *nic, struct net_totals *t)
{
    t->sack_pkts += nic->n.sacks_sent;
    t->rnr_nak_pkts += nic->n.rnr_naks_sent;
    t->spurious_pkts += nic->n.duplicate_request;
    t->out_of_window_pkts += nic->n.out_of_window;
    t->rx_out_of_buffer_pkts += nic->n.rx_out_of_buffer;
}

static sim_ps paused_ps(const struct net *net, uint32_t p)
{
    sim_ps sum = 0;
    for (int c = 0; c < NET_CLASSES; c++)
        sum += queue_paused_ps(net, p, c);
    return sum;
}

static uint64_t sum8(const uint64_t *x)
{
    uint64_t sum = 0;
    for (int c = 0; c < NET_CLASSES; c++)
        sum += x[c];
    return sum;
}

static uint64_t wire_bytes(const struct net *net, uint32_t p)
{
    uint64_t sum = net->cold[p].pause_bytes;
    for (int c = 0; c < NET_CLASSES; c++)
        sum += net->queue[p][c].tx_bytes;
    return sum;
}

static uint64_t sent_pkts(const struct net *net, uint32_t p, int answers)
{
    uint64_t sum = 0;
    for (int c = 0; c < NET_CLASSES; c++)
        sum += net->queue[p][c].tx_pkts[answers];
    return answers ? sum - net->cold[p].tx_cnp_pkts : sum;
}

static uint64_t control_pkts(const struct net *net, uint32_t p)
{
    return (uint64_t)net->cold[p].tx_cnp_pkts + net->cold[p].tx_pause_pkts;
}

void net_totals(const struct net *net, struct net_totals *t)
{
    *t = (struct net_totals){.digest = sim_core_digest(net->core),
                             .events = sim_core_events(net->core),
                             .growths = sim_core_growths(net->core),
                             .windows = net->core->n_windows,
                             .ops_done = net->ops_done,
                             .ops_total = job_n_ops(net->job),
                             .n_qps = net->n_qps,
                             .now_ps = net_now(net),
                             .lookahead_ps = net->core->window_ps};
    for (uint32_t v = 0; v < net->n_vertices; v++)
        add_vertex(&net->vertex[v], t);
    for (uint32_t p = 0; p < net->n_ports; p++) {
        const struct port_cold *cold = &net->cold[p];
        t->data_hops += sent_pkts(net, p, 0);
        t->ack_hops += sent_pkts(net, p, 1);
        t->control_hops += control_pkts(net, p);
        t->ecn_marked_pkts += sum8(cold->ecn_marked_pkts);
        t->pause_frames += sum8(cold->pause_tx);
        t->resume_frames += sum8(cold->resume_tx);
        t->storms += cold->storms;
        t->watch_drop_pkts += cold->watch_drop_pkts + cold->watch_rx_drop_pkts;
        t->lost_pkts += cold->special ? cold->special->lost_pkts : 0;
        t->paused_ps += paused_ps(net, p);
        if (net->ib) {
            t->fc_pkts += net->ib->port[p].fc_tx_pkts;
            t->credit_wait_ps += ib_wait_ps(net, p, net_now(net));
            t->hoq_discard_pkts += sum8(net->ib->port[p].discard_pkts);
        }
        if (net->nic[p])
            add_nic(net->nic[p], t);
    }
    for (uint32_t q = 0; q < net->n_qps; q++) {
        struct cc_view view;
        net->cc->view(net->cc_state, q, 0, &view);
        t->rate_cuts += view.n_cuts;
    }
}

void net_progress(const struct net *net, struct net_progress *progress)
{
    *progress = (struct net_progress){.total_pkts = net->total_pkts};
    for (uint32_t v = 0; v < net->n_vertices; v++)
        progress->received_pkts += net->vertex[v].rx_data_pkts;
    for (uint32_t p = 0; p < net->n_ports; p++)
        progress->hops += sent_pkts(net, p, 0) + sent_pkts(net, p, 1) + control_pkts(net, p);
}

/* Of the lossless groups of a port the largest: they differ only where a scenario says so class by class. */
static uint32_t granted_headroom(const struct port_profile *profile)
{
    uint32_t most = 0;
    for (int c = 0; c < NET_CLASSES; c++)
        if (profile->lossless_pgs >> c & 1)
            most = MAX(most, profile->pg[c].headroom);
    return most;
}

void net_class_view(const struct net *net, uint32_t port, uint32_t class, struct net_class_view *view)
{
    uint32_t p = net->port_of_graph[port];
    const struct port_cold *cold = &net->cold[p];
    const struct queue *queue = &net->queue[p][class];
    const struct group *group = &net->group[p][class];
    *view = (struct net_class_view){.tx_data_pkts = queue->tx_pkts[0],
                                    .tx_answer_pkts = queue->tx_pkts[1],
                                    .tx_bytes = queue->tx_bytes,
                                    .ecn_marked_pkts = cold->ecn_marked_pkts[class],
                                    .drop_pkts = cold->drop_pkts[class],
                                    .drop_bytes = cold->drop_bytes[class],
                                    .group_drop_pkts = cold->group_drop_pkts[class],
                                    .pause_rx_frames = cold->pause_rx[class],
                                    .pause_tx_frames = cold->pause_tx[class],
                                    .resume_rx_frames = cold->resume_rx[class],
                                    .resume_tx_frames = cold->resume_tx[class],
                                    .on2off = cold->on2off[class],
                                    .paused_ps = queue_paused_ps(net, p, (int)class),
                                    .queue_bytes = queue->bytes,
                                    .queue_max_bytes = queue->max_bytes,
                                    .group_max_bytes = group->max_used,
                                    .headroom_max_bytes = group->max_headroom};
    if (net->ib) {
        uint32_t vl = net->nic[p] ? net->ib->vl_of_sl[class] : class;
        view->credit_stall_ps = ib_stall_ps(net, p, vl, net_now(net));
        view->buffer_max_bytes = (int64_t)net->ib->vl[p][vl].max_used * IB_BLOCK_BYTES;
    }
}

void net_port_view(const struct net *net, uint32_t port, struct net_port_view *view)
{
    uint32_t p = net->port_of_graph[port];
    const struct port_hot *hot = &net->port[p];
    const struct port_cold *cold = &net->cold[p];
    *view = (struct net_port_view){.tx_bytes = wire_bytes(net, p),
                                   .tx_data_pkts = sent_pkts(net, p, 0),
                                   .tx_ack_pkts = sent_pkts(net, p, 1),
                                   .tx_control_pkts = control_pkts(net, p),
                                   .ecn_marked_pkts = sum8(cold->ecn_marked_pkts),
                                   .drop_pkts = sum8(cold->drop_pkts),
                                   .drop_bytes = sum8(cold->drop_bytes),
                                   .pause_rx_frames = sum8(cold->pause_rx),
                                   .pause_tx_frames = sum8(cold->pause_tx),
                                   .paused_ps = paused_ps(net, p),
                                   .paused_now = net->ib ? 0 : (uint8_t)hot->paused,
                                   .headroom_bytes = granted_headroom(hot->profile),
                                   .headroom_needed_bytes = hot->profile->headroom_needed,
                                   .lossless_drop_pkts = cold->lossless_drop_pkts,
                                   .busy_until_ps = hot->busy_until_ps};
    if (cold->special) {
        view->lost_pkts = cold->special->lost_pkts;
        view->lost_bytes = cold->special->lost_bytes;
    }
    view->storms = cold->storms;
    view->restores = cold->restores;
    view->watch_drop_pkts = cold->watch_drop_pkts;
    view->watch_rx_drop_pkts = cold->watch_rx_drop_pkts;
    view->ignored_pauses = cold->ignored_pauses;
    if (net->ib) {
        const struct ib_port *port_ib = &net->ib->port[p];
        view->credit_wait_ps = ib_wait_ps(net, p, net_now(net));
        view->fc_tx_pkts = port_ib->fc_tx_pkts;
        view->fc_rx_pkts = port_ib->fc_rx_pkts;
        view->hoq_discard_pkts = sum8(port_ib->discard_pkts);
        for (int vl = 0; vl < NET_CLASSES; vl++)
            view->vl_buffer_max_bytes = MAX(view->vl_buffer_max_bytes, (int64_t)net->ib->vl[p][vl].max_used * IB_BLOCK_BYTES);
    }
    for (int c = 0; c < NET_CLASSES; c++) {
        const struct group *g = &net->group[p][c];
        view->queue_max_bytes = MAX(view->queue_max_bytes, (int64_t)net->queue[p][c].max_bytes);
        view->ingress_max_bytes = MAX(view->ingress_max_bytes, (int64_t)g->max_used);
        view->headroom_max_bytes = MAX(view->headroom_max_bytes, (int64_t)g->max_headroom);
    }
}

void net_nic_counters(const struct net *net, uint32_t port, struct net_nic_counters *out)
{
    const struct nic_port *nic = net->nic[net->port_of_graph[port]];
    *out = nic ? nic->n : (struct net_nic_counters){0};
}

int64_t net_queue_bytes(const struct net *net, uint32_t port, uint32_t class)
{
    return net->queue[net->port_of_graph[port]][class].bytes;
}

static uint64_t queued_pkts(const struct net *net, uint32_t p, uint32_t code)
{
    uint64_t n = 0;
    const struct slab *slab = &net->vertex[net->cold[p].node].slab;
    for (uint32_t left = net->port[p].nonempty & 0xffu; left; left &= left - 1)
        for (uint32_t at = net->queue[p][__builtin_ctz(left)].head; at != NET_NONE; at = slab->slot[at].next)
            n += packet_code(slab->slot[at].c) == code;
    return n;
}

static uint64_t flying_pkts(const struct net *net, uint32_t class)
{
    uint64_t n = 0;
    const struct sim_core *core = net->core;
    for (size_t b = 0; b < (size_t)core->n_slots * core->n_channels; b++)
        for (uint32_t i = 0; i < core->buckets[b].n; i++) {
            uint32_t c = sim_bucket_at(&core->buckets[b], i)->c;
            n += packet_kind(c) != PACKET_PAUSE && packet_code(c) == class;
        }
    return n;
}

void net_ledger(const struct net *net, uint32_t class, struct net_class_ledger *out)
{
    *out = (struct net_class_ledger){0};
    for (uint32_t v = 0; v < net->n_vertices; v++) {
        const struct ledger *l = &net->vertex[v].ledger[class];
        out->sent_pkts += l->sent_pkts;
        out->sent_bytes += l->sent_bytes;
        out->received_pkts += l->received_pkts;
        out->received_bytes += l->received_bytes;
        out->dropped_pkts += l->dropped_pkts;
        out->dropped_bytes += l->dropped_bytes;
        out->lost_pkts += l->lost_pkts;
    }
    for (uint32_t p = 0; p < net->n_ports; p++)
        out->waiting_pkts += queued_pkts(net, p, class);
    out->waiting_pkts += flying_pkts(net, class);
}

sim_ps net_op_start_ps(const struct net *net, uint32_t op) { return net->op[op].start_ps; }
sim_ps net_op_done_ps(const struct net *net, uint32_t op) { return net->op[op].done_ps; }
uint32_t net_op_qp(const struct net *net, uint32_t op) { return net->op[op].qp; }
uint32_t net_op_n_parts(const struct net *net, uint32_t op) { return net->op[op].qp == NET_NONE ? 0 : 1u + net->op[op].n_more; }

struct net_part net_op_part(const struct net *net, uint32_t op, uint32_t part)
{
    const struct op_run *run = &net->op[part == 0 ? op : net->op[op].more + part - 1];
    return (struct net_part){run->qp, run->bytes};
}

/* ---- paths ------------------------------------------------------------------------------ */
struct way { sim_ps latency_ps, seen_ps; int64_t slowest_q16; uint32_t last_port; };

/* Walks a path with one frame of BYTES: latencies, and how long each link needs until the frame is handled behind it. */
static void walk(const struct net *net, uint32_t qp, bool reverse, uint32_t bytes, struct way *way)
{
    uint32_t p = reverse ? net->rx[qp].port : net->tx[qp].port;
    uint32_t n_hops = reverse ? net->qp[qp].n_back_hops : net->qp[qp].n_hops;
    const uint16_t *path = &net->path[((size_t)qp * 2 + reverse) * net->path_stride];
    *way = (struct way){0};
    for (uint32_t h = 0;; h++) {
        const struct port_hot *hot = &net->port[p];
        way->latency_ps += hot->data_latency_ps;
        way->seen_ps += net_wire(net, hot, hot->cut_bytes && hot->cut_bytes < bytes ? hot->cut_bytes : bytes);
        way->slowest_q16 = MAX(way->slowest_q16, (int64_t)hot->ps_per_byte_q16);
        way->last_port = hot->channel;
        if (h == n_hops)
            break;
        p = net->vertex[hot->peer_node].first_port + path[h];
    }
}

static int64_t slowest_bps(const struct way *way)
{
    return (int64_t)(((__int128)UNIT_S * UNIT_BITS_PER_BYTE << 16) / way->slowest_q16);
}

void net_cc_path(const struct net *net, uint32_t qp, struct cc_path *path)
{
    struct way there, back;
    walk(net, qp, false, net->mtu + net->frame_overhead, &there);
    walk(net, qp, true, net->ack_bytes, &back);
    *path = (struct cc_path){.port_bps = (int64_t)net->cold[net->tx[qp].port].rate_bps,
                             .bottleneck_bps = slowest_bps(&there),
                             .base_rtt_ps = there.latency_ps + there.seen_ps + back.latency_ps + back.seen_ps,
                             .mtu_bytes = net->mtu,
                             .wire_bytes = net->mtu + net->frame_overhead + net->gap_bytes,
                             .n_hops = net->qp[qp].n_hops + 1u};
}

int64_t net_wire_bytes(const struct net *net, int64_t bytes)
{
    return bytes + (int64_t)net_message_pkts(net, bytes) * (net->frame_overhead + net->gap_bytes) + net->reth;
}

/* A message of BYTES on QP, of which the last frame leaves behind OTHER_BYTES more on the wire of the NIC's port. */
static sim_ps ideal_behind(const struct net *net, uint32_t qp, int64_t bytes, int64_t other_bytes)
{
    uint32_t n_pkts = net_message_pkts(net, bytes);
    int64_t tail = bytes - (int64_t)(n_pkts - 1) * net->mtu + net->frame_overhead + (n_pkts == 1 ? net->reth : 0);
    int64_t before = net_wire_bytes(net, bytes) - tail - net->gap_bytes;
    struct way way;
    walk(net, qp, false, (uint32_t)tail, &way);
    __int128 slowest_ps = (__int128)before * way.slowest_q16 >> 16;
    __int128 port_ps = (__int128)(before + other_bytes) * net->port[net->tx[qp].port].ps_per_byte_q16 >> 16;
    return net->nic[net->tx[qp].port]->tx_latency_ps + way.latency_ps + way.seen_ps + (sim_ps)MAX(slowest_ps, port_ps);
}

/* All frames but the last one pass the slowest link one after the other; the last one still has its whole way to go. */
sim_ps net_ideal_ps(const struct net *net, uint32_t qp, int64_t bytes)
{
    return ideal_behind(net, qp, bytes, 0);
}

/* No part is faster than alone, and the last frame of all leaves the port behind all others. */
sim_ps net_op_ideal_ps(const struct net *net, uint32_t op)
{
    uint32_t n = net_op_n_parts(net, op);
    sim_ps longest_ps = 0, last_ps = SIM_PS_MAX;
    int64_t wire_bytes = 0;
    bool one_port = true;
    for (uint32_t i = 0; i < n; i++) {
        struct net_part part = net_op_part(net, op, i);
        wire_bytes += net_wire_bytes(net, part.bytes);
        one_port &= net->tx[part.qp].port == net->tx[net->op[op].qp].port;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct net_part part = net_op_part(net, op, i);
        longest_ps = MAX(longest_ps, net_ideal_ps(net, part.qp, part.bytes));
        last_ps = MIN(last_ps, ideal_behind(net, part.qp, part.bytes, wire_bytes - net_wire_bytes(net, part.bytes)));
    }
    return n > 0 && one_port ? MAX(longest_ps, last_ps) : longest_ps;
}

sim_ps net_ideal_ack_ps(const struct net *net, uint32_t qp)
{
    struct way way;
    walk(net, qp, true, net->ack_bytes, &way);
    return way.latency_ps + way.seen_ps;
}

static uint32_t qp_retries(const struct net *net, uint32_t qp)
{
    const struct qp_repair *r = &net->repair[qp];
    return r->fail_reason == NET_QP_RNR_RETRIES_EXCEEDED ? r->rnr_retries : net->tx[qp].retries;
}

void net_qp_view(struct net *net, uint32_t qp, sim_ps now_ps, struct net_qp_view *view)
{
    const struct qp_cold *q = &net->qp[qp];
    struct qp_tx *t = &net->tx[qp];
    struct way way;
    walk(net, qp, false, net->frame_overhead, &way);
    *view = (struct net_qp_view){.src_rank = q->src_rank,
                                 .dst_rank = q->dst_rank,
                                 .flow_id = q->flow_id,
                                 .sport = q->sport,
                                 .class = (uint8_t)t->class,
                                 .n_hops = q->n_hops,
                                 .tx_port = net->cold[t->port].graph_port,
                                 .rx_port = net->cold[way.last_port].graph_port,
                                 .retransmitted_pkts = net->repair[qp].retransmitted_pkts,
                                 .sent_bytes = t->sent_bytes,
                                 .failed = t->failed,
                                 .busy = t->una_msg != JOB_NONE,
                                 .fail_reason = (enum net_qp_failure)net->repair[qp].fail_reason,
                                 .retries = qp_retries(net, qp),
                                 .failed_ps = net->repair[qp].failed_ps,
                                 .ideal_latency_ps = way.latency_ps};
    double port_bps = (double)net->cold[t->port].rate_bps;
    view->bottleneck_bps = slowest_bps(&way);
    /* Clocks up to now: what sending at this moment would see. */
    if (t->rate.due_ps <= now_ps)
        net->cc->advance(net->cc_state, qp, &t->rate, now_ps);
    net->cc->view(net->cc_state, qp, now_ps, &view->cc);
    view->rate_bps = t->rate.ps_per_byte > 0 ? (double)(UNIT_S * UNIT_BITS_PER_BYTE) / t->rate.ps_per_byte : port_bps;
    if (view->cc.window_pkts > 0)
        view->rate_bps = MIN(view->rate_bps, view->cc.rate_bps);
}

static int compare_pauses(const void *a, const void *b)
{
    const struct net_pause_event *x = a, *y = b;
    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (x->class > y->class) - (x->class < y->class);
}

GArray *net_pause_events(const struct net *net)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct net_pause_event));
    for (uint32_t v = 0; v < net->n_vertices; v++)
        g_array_append_vals(all, net->vertex[v].pauses, net->vertex[v].n_pauses);
    if (all->len > 1)
        qsort(all->data, all->len, sizeof(struct net_pause_event), compare_pauses);
    return all;
}

static int compare_incidents(const void *a, const void *b)
{
    const struct net_incident *x = a, *y = b;
    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

GArray *net_incidents(const struct net *net)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct net_incident));
    for (uint32_t v = 0; v < net->n_vertices; v++)
        g_array_append_vals(all, net->vertex[v].incidents, net->vertex[v].n_incidents);
    if (all->len > 1)
        qsort(all->data, all->len, sizeof(struct net_incident), compare_incidents);
    return all;
}

void net_incident(struct net *net, struct sim_core *core, struct net_vertex *v, enum net_incident_kind kind, uint32_t port,
                  uint32_t detail, sim_ps now_ps)
{
    if (v->n_incidents == v->cap_incidents)
        sim_grow(core, &v->incidents, &v->cap_incidents, v->n_incidents + 1, sizeof *v->incidents);
    v->incidents[v->n_incidents++] = (struct net_incident){now_ps, net->cold[port].graph_port, kind, detail};
}

static int compare_frames(const void *a, const void *b)
{
    const struct net_frame *x = a, *y = b;
    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    return (x->port > y->port) - (x->port < y->port);
}

GArray *net_captured(const struct net *net, uint64_t *left_out)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct net_frame));
    *left_out = 0;
    for (uint32_t p = 0; p < net->n_ports; p++) {
        const struct net_special *special = net->cold[p].special;
        if (!special || !special->capture)
            continue;
        g_array_append_vals(all, special->frames, special->n_frames);
        *left_out += special->n_left_out;
    }
    if (all->len > 1)
        qsort(all->data, all->len, sizeof(struct net_frame), compare_frames);
    return all;
}

/* The message that packet B of queue pair Q belongs to; JOB_NONE: not found. */
static uint32_t message_of(const struct net *net, uint32_t q, uint32_t b)
{
    uint32_t msg = net->qp[q].first_msg;
    while (msg != JOB_NONE && (int32_t)(net->op[msg].end_psn - b) <= 0)
        msg = net->op[msg].next;
    return msg;
}

void net_packet_view(const struct net *net, uint32_t a, uint32_t b, uint32_t c, struct net_packet_view *view)
{
    *view = (struct net_packet_view){.last = c & PACKET_LAST};
    if (packet_kind(c) != PACKET_DATA)
        return;
    uint32_t msg = message_of(net, a >> 1, b);
    if (msg != JOB_NONE) {
        view->message_bytes = net->op[msg].bytes;
        view->first = b == net->op[msg].end_psn - net_message_pkts(net, view->message_bytes);
    }
    view->payload_bytes = (int64_t)packet_bytes(c) - net->frame_overhead - (view->first ? net->reth : 0);
}

uint8_t net_code_dscp(const struct net *net, uint32_t code) { return net->code_dscp[code]; }
uint8_t net_code_pcp(const struct net *net, uint32_t code) { return net->code_pcp[code]; }

/* ---- laws ---------------------------------------------------------------------------------- */
static bool broken(GError **err, const char *what, const char *where, int64_t have, int64_t want)
{
    g_set_error(err, NET_ERROR, NET_ERROR_LAW, "law broken: %s at %s: %" G_GINT64_FORMAT " against %" G_GINT64_FORMAT, what,
                where, have, want);
    return false;
}

/* Of port P: bytes in its queues, bytes charged to its groups, and what of these is shared or headroom. */
struct port_sums { int64_t queued, charged, shared, headroom; };

static bool sum_port(const struct net *net, uint32_t p, const char *name, struct port_sums *sums, GError **err)
{
    const struct port_profile *profile = net->port[p].profile;
    for (int c = 0; c < NET_CLASSES; c++) {
        const struct group *g = &net->group[p][c];
        bool lossless = profile->lossless_pgs >> c & 1;
        sums->queued += net->queue[p][c].bytes;
        sums->charged += (int64_t)g->used + g->headroom;
        sums->headroom += g->headroom;
        sums->shared += lossless ? buffer_shared_part(g->used, profile->pg[c].reserved) : g->used;
        if (profile->own_headroom && g->max_headroom > profile->pg[c].headroom)
            return broken(err, "headroom used above what is granted", name, g->max_headroom, profile->pg[c].headroom);
    }
    return true;
}

/* Bytes in a switch's queues = sum over its ingress groups, within the buffer; its pools hold what the groups say. */
static bool check_buffer(const struct net *net, uint32_t vertex, const char *name, GError **err)
{
    const struct net_vertex *v = &net->vertex[vertex];
    struct port_sums sums = {0};
    int64_t ingress = 0;
    for (uint32_t p = v->first_port; p < v->first_port + v->n_ports; p++)
        if (!sum_port(net, p, name, &sums, err))
            return false;
    for (int i = POOL_INGRESS; i < POOL_EGRESS_LOSSLESS; i++)
        ingress += v->pool[i].used;
    const struct buffer_params *b = net_site_node(net, NET_PARAMS_BUFFER, v->graph_node);
    if (sums.queued != sums.charged)
        return broken(err, "bytes in queues and bytes charged differ", name, sums.queued, sums.charged);
    if (sums.shared != ingress)
        return broken(err, "shared pool", name, sums.shared, ingress);
    if (b->headroom_pool_bytes && (sums.headroom != v->pool[POOL_HEADROOM].used || sums.headroom > b->headroom_pool_bytes))
        return broken(err, "shared headroom pool", name, sums.headroom, v->pool[POOL_HEADROOM].used);
    return sums.charged <= b->size_bytes || broken(err, "buffer use above its size", name, sums.charged, b->size_bytes);
}

static bool check_ledger(const struct net *net, uint32_t class, GError **err)
{
    struct net_class_ledger l;
    net_ledger(net, class, &l);
    g_autofree char *name = g_strdup_printf("class %u", class);
    uint64_t accounted = l.received_pkts + l.dropped_pkts + l.lost_pkts + l.waiting_pkts;
    return l.sent_pkts == accounted ||
           broken(err, "packets sent against received + dropped + lost + waiting", name, (int64_t)l.sent_pkts, (int64_t)accounted);
}

/* A link can't have carried more than its rate until the end of its last frame. */
static bool check_link(const struct net *net, uint32_t p, GError **err)
{
    const struct port_hot *hot = &net->port[p];
    uint64_t sent_bytes = wire_bytes(net, p);
    if (hot->channel == NET_NONE || sent_bytes == 0)
        return true;
    /* A link that was slower for a while carried its bytes at most at its full rate. */
    const struct net_special *special = net->cold[p].special;
    uint32_t q16 = special && special->full_ps_per_byte_q16 ? special->full_ps_per_byte_q16 : hot->ps_per_byte_q16;
    sim_ps least = (sim_ps)(((__int128)sent_bytes * q16) >> 16);
    const char *name = net->config.node_names[net->graph->ports[net->cold[p].graph_port].node];
    return least <= hot->busy_until_ps || broken(err, "link above its rate", name, least, hot->busy_until_ps);
}

/* No buffer held more than it can, nobody sent without credits, and nothing came in that was not sent. */
static bool check_credits(const struct net *net, uint32_t p, GError **err)
{
    const char *name = net->config.node_names[net->graph->ports[net->cold[p].graph_port].node];
    for (uint32_t vl = 0; net->port[p].channel != NET_NONE && vl < NET_CLASSES; vl++) {
        const struct ib_vl *s = &net->ib->vl[p][vl], *peer = &net->ib->vl[net->port[p].channel][vl];
        if (s->max_used > s->buffer)
            return broken(err, "receive buffer of a VL, in blocks", name, s->max_used, s->buffer);
        if ((int32_t)(s->limit - s->sent) < 0)
            return broken(err, "blocks sent without credits", name, s->sent, s->limit);
        if ((int32_t)(s->sent - peer->received) < 0)
            return broken(err, "blocks that came in without being sent", name, peer->received, s->sent);
        if ((int32_t)(s->received - s->freed) < 0)
            return broken(err, "blocks freed that never came in", name, s->freed, s->received);
    }
    return true;
}

bool net_check_laws(const struct net *net, GError **err)
{
    for (uint32_t p = 0; net->ib && p < net->n_ports; p++)
        if (!check_credits(net, p, err))
            return false;
    for (uint32_t i = 0; i < net->graph->n_nodes; i++) {
        uint32_t v = net->vertex_of_graph[i];
        if (!net->ib && net->vertex[v].is_switch && !check_buffer(net, v, net->config.node_names[i], err))
            return false;
    }
    for (uint32_t c = 0; c < NET_CLASSES; c++)
        if (!check_ledger(net, c, err))
            return false;
    for (uint32_t p = 0; p < net->n_ports; p++)
        if (!check_link(net, p, err))
            return false;
    return true;
}
