/* switch.c - shared-memory switch: admission, PFC, marking, scheduling, forwarding.
 *
 * A frame is handled when it has passed the pipeline (that latency is part of its
 * channel's): route, admit to the buffer, queue, and send at once if the egress is
 * free. Left out: recirculation, multicast, slices of the buffer (Tomahawk 1).
 */
#include "models/buffer.h"
#include "models/ecn.h"
#include "models/net_priv.h"

static inline void mark(struct net *net, struct slot *slot, uint32_t port, uint32_t q_bytes)
{
    struct port_cold *cold = &net->cold[port];
    if (ecn_marks(net->config.seed, cold->graph_port, &cold->n_draws, q_bytes, net->port[port].kmin_bytes,
                  cold->kmax_bytes, cold->pmax_threshold)) {
        slot->c |= PACKET_CE;
        cold->ecn_marked_pkts++;
    }
}

/* Several classes could send: the highest strict one, else deficit round robin. */
static uint32_t pick_class(struct net *net, const struct slab *slab, uint32_t port, uint32_t ready)
{
    struct port_cold *cold = &net->cold[port];
    uint32_t strict = ready & net->strict_mask;
    if (strict)
        return 31 - (uint32_t)__builtin_clz(strict);
    int64_t quantum = net->config.switching->dwrr_quantum_bytes;
    for (uint32_t class = cold->dwrr_class;;) {
        if (!(ready >> class & 1))
            cold->deficit[class] = 0;
        else if (cold->deficit[class] >= packet_bytes(slab->slot[net->queue[port][class].head].c))
            break;
        class = (class + 1) % NET_CLASSES; /* its turn is over; the next one's begins */
        if (ready >> class & 1)
            cold->deficit[class] += quantum * net->weights[class];
        cold->dwrr_class = (uint8_t)class;
    }
    uint32_t class = cold->dwrr_class;
    cold->deficit[class] -= packet_bytes(slab->slot[net->queue[port][class].head].c);
    return class;
}

static inline void arm(struct sim_core *core, struct sim_node *node, struct port_hot *port, uint32_t p)
{
    if (!port->armed && (port->pause_todo | (port->nonempty & ~port->paused))) {
        port->armed = true;
        sim_soon_add(core, node, port->busy_until_ps, p - ((struct net_vertex *)node->state)->first_port);
    }
}

/* The packet leaves: give its buffer back and let its ingress go on if that is due. */
static inline void leave_buffer(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
                                const struct slot *slot, uint32_t class, sim_ps now_ps)
{
    struct group *group = &net->group[slot->in_port][class];
    uint32_t bytes = packet_bytes(slot->c);
    if (!(net->lossless_mask >> class & 1)) {
        group->used -= bytes;
        v->shared_used -= bytes;
        v->used_bytes -= bytes;
        return;
    }
    buffer_release(v, group, net->reserved_bytes, bytes);
    struct port_hot *in = &net->port[slot->in_port];
    if ((in->xoff >> class & 1) &&
        buffer_wants_xon(v, group, in->alpha_q16, net->reserved_bytes, net->xon_offset_bytes)) {
        in->xoff = (uint16_t)(in->xoff & ~(1u << class));
        in->pause_todo = (uint16_t)(in->pause_todo | 1u << class);
        if (in->busy_until_ps <= now_ps)
            pfc_transmit(net, core, node, slot->in_port, now_ps);
        arm(core, node, in, slot->in_port);
    }
}

/* Puts a frame on the wire of a port that is free. */
static inline void transmit(struct net *net, struct sim_core *core, struct port_hot *port, uint32_t p, sim_ps now_ps,
                            uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t bytes = packet_bytes(c);
    sim_ps wire_ps = net_wire(net, port, bytes);
    sim_ps seen_ps = port->cut_bytes && port->cut_bytes < bytes ? net_wire(net, port, port->cut_bytes) : wire_ps;
    port->busy_until_ps = now_ps + wire_ps;
    port->tx_bytes += bytes + net->gap_bytes;
    if (__builtin_expect(packet_kind(c) == PACKET_CNP, 0))
        net->cold[p].tx_control_pkts++;
    else
        port->tx_pkts[packet_kind(c) != PACKET_DATA]++;
    sim_send(core, port->channel, port->peer_node, now_ps + seen_ps + port->data_latency_ps, a, b, c);
}

/* Of READY the classes whose first frame is all in (behind a slower cut-through ingress it may not be). If there is none,
 * the port looks again when the first one is; pause frames may go meanwhile. */
static uint32_t complete_heads(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
                               uint32_t p, uint32_t ready, sim_ps now_ps)
{
    uint32_t complete = 0;
    sim_ps earliest_ps = SIM_PS_MAX;
    for (uint32_t left = ready; left; left &= left - 1) {
        uint32_t class = (uint32_t)__builtin_ctz(left);
        sim_ps ready_ps = v->slab.slot[net->queue[p][class].head].ready_ps;
        if (ready_ps <= now_ps)
            complete |= 1u << class;
        earliest_ps = MIN(earliest_ps, ready_ps);
    }
    if (ready && !complete) {
        net->port[p].armed = true;
        sim_soon_add(core, node, earliest_ps, p - v->first_port);
    }
    return complete;
}

/* Sends the next frame of a port that is free at NOW_PS, if there is one. */
static inline void send_next(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
                             uint32_t p, sim_ps now_ps)
{
    struct port_hot *port = &net->port[p];
    if (__builtin_expect(port->pause_todo, 0)) {
        pfc_transmit(net, core, node, p, now_ps);
        arm(core, node, port, p);
        return;
    }
    uint32_t ready = port->nonempty & (uint32_t)~port->paused;
    if (__builtin_expect(net->mixed_cut_through, 0))
        ready = complete_heads(net, core, node, v, p, ready, now_ps);
    if (!ready)
        return;
    uint32_t class = (ready & (ready - 1)) == 0 ? (uint32_t)__builtin_ctz(ready) : pick_class(net, &v->slab, p, ready);
    struct queue *queue = &net->queue[p][class];
    uint32_t at = net_dequeue(&v->slab, port, queue, class);
    struct slot *slot = &v->slab.slot[at];
    if (queue->bytes > port->kmin_bytes && !net->mark_at_enqueue && (net->ecn_mask >> class & 1))
        mark(net, slot, p, queue->bytes);
    transmit(net, core, port, p, now_ps, slot->a, slot->b, slot->c);
    leave_buffer(net, core, node, v, slot, class, now_ps);
    net_slot_give(&v->slab, at);
    arm(core, node, port, p);
}

static void drop(struct net *net, struct net_vertex *v, uint32_t port, uint32_t class, uint32_t bytes, bool lossless)
{
    v->ledger[class].dropped_pkts++;
    v->ledger[class].dropped_bytes += bytes;
    v->lossless_drops += lossless;
    net->cold[port].drop_pkts++;
    net->cold[port].lossless_drop_pkts += lossless;
    net->cold[port].drop_bytes += bytes;
}

/* Room for a frame of CLASS from port IN to port OUT? Sends XOFF when that is due. */
static inline bool admit(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
                         uint32_t in, uint32_t out, uint32_t class, uint32_t bytes, sim_ps now_ps)
{
    struct group *group = &net->group[in][class];
    struct port_hot *port = &net->port[in];
    if (!(net->lossless_mask >> class & 1)) {
        int64_t limit = net->lossy_limit_bytes;
        if (limit == 0)
            limit = (int64_t)(((unsigned __int128)(uint64_t)(v->shared_total - v->shared_used) * net->cold[out].lossy_alpha_q16) >> 16);
        if (buffer_admit_lossy(v, group, &net->queue[out][class], limit, bytes))
            return true;
        drop(net, v, out, class, bytes, false);
        return false;
    }
    if (!buffer_admit(v, group, port->alpha_q16, net->reserved_bytes, net->cold[in].headroom_bytes, bytes)) {
        drop(net, v, in, class, bytes, true);
        return false;
    }
    if (!(port->xoff >> class & 1) && group->used + group->headroom > net->reserved_bytes &&
        buffer_wants_xoff(v, group, port->alpha_q16, net->reserved_bytes)) {
        port->xoff = (uint16_t)(port->xoff | 1u << class);
        port->pause_todo = (uint16_t)(port->pause_todo | 1u << class);
        if (port->busy_until_ps <= now_ps)
            pfc_transmit(net, core, node, in, now_ps);
        arm(core, node, port, in);
    }
    return true;
}

/* Time at which the last bit is in, for an egress that is faster than the cut-through ingress. */
static inline sim_ps ready_at(const struct net *net, const struct port_hot *in, const struct port_hot *out, uint32_t bytes,
                              sim_ps now_ps)
{
    if (!net->mixed_cut_through || out->ps_per_byte_q16 >= in->ps_per_byte_q16 || bytes <= net->cut_bytes)
        return 0;
    return now_ps + net_wire(net, in, bytes) - net_wire(net, in, net->cut_bytes);
}

/* A frame of a lossless class that finds its egress free, nothing waiting and no threshold near: what admission,
 * queueing and release would do together is to note the peaks. Returns false where the long way must be gone. */
static inline bool passes_through(struct net *net, const struct net_vertex *v, uint32_t in, const struct port_hot *port,
                                  uint32_t out, uint32_t class, uint32_t bytes, sim_ps now_ps)
{
    const struct port_hot *from = &net->port[in];
    struct group *group = &net->group[in][class];
    uint32_t bit = 1u << class;
    if ((port->egress & PORT_EGRESS_BUSY(class)) != 0 || port->busy_until_ps > now_ps)
        return false;
    if ((from->xoff & bit) || !(net->lossless_mask & bit) || net->mark_at_enqueue)
        return false;
    uint32_t used = group->used + bytes;
    int64_t over = buffer_shared_part(used, net->reserved_bytes);
    if (over > 0) {
        int64_t free_after = v->shared_total - v->shared_used - MIN(over, (int64_t)bytes);
        if (over >= (free_after * from->alpha_q16) >> 16)
            return false;
    }
    if (used > group->max_used)
        group->max_used = used;
    if (bytes > net->queue[out][class].max_bytes)
        net->queue[out][class].max_bytes = bytes;
    return true;
}

static inline void switch_on_arrival(struct sim_core *core, struct sim_node *node, uint32_t channel,
                                     const struct sim_record *rec, sim_ps now_ps)
{
    struct net *net = net_of(core);
    struct net_vertex *v = node->state;
    uint32_t in = v->first_port + channel;
    uint32_t class = packet_code(rec->c);
    sim_digest(node, now_ps, packet_kind(rec->c));
    if (__builtin_expect(packet_kind(rec->c) == PACKET_PAUSE, 0)) {
        if (pfc_receive(net, core, node, v, in, rec->a, class, now_ps) && !net->port[in].armed) {
            if (net->port[in].busy_until_ps <= now_ps)
                send_next(net, core, node, v, in, now_ps);
            else
                arm(core, node, &net->port[in], in);
        }
        return;
    }
    uint32_t bytes = packet_bytes(rec->c);
    uint32_t out = v->first_port + net->path[(size_t)rec->a * net->path_stride + packet_hops(rec->c)];
    struct port_hot *port = &net->port[out];
    sim_ps ready_ps = ready_at(net, &net->port[in], port, bytes, now_ps);
    if (ready_ps == 0 && passes_through(net, v, in, port, out, class, bytes, now_ps)) {
        transmit(net, core, port, out, now_ps, rec->a, rec->b, rec->c + PACKET_HOP);
        return;
    }
    if (!admit(net, core, node, v, in, out, class, bytes, now_ps))
        return;
    uint32_t at = net_slot_take(core, &v->slab);
    struct slot *slot = &v->slab.slot[at];
    slot->a = rec->a;
    slot->b = rec->b;
    slot->c = rec->c + PACKET_HOP;
    slot->in_port = in;
    slot->ready_ps = ready_ps;
    struct queue *queue = &net->queue[out][class];
    net_enqueue(&v->slab, port, queue, class, at, bytes);
    if (net->mark_at_enqueue && queue->bytes > port->kmin_bytes && (net->ecn_mask >> class & 1))
        mark(net, slot, out, queue->bytes);
    if (!port->armed) {
        if (port->busy_until_ps <= now_ps)
            send_next(net, core, node, v, out, now_ps);
        else
            arm(core, node, port, out);
    }
}

static inline void switch_on_soon(struct sim_core *core, struct sim_node *node, uint32_t what, sim_ps now_ps)
{
    struct net *net = net_of(core);
    struct net_vertex *v = node->state;
    uint32_t p = v->first_port + what;
    sim_digest(node, now_ps, 8u + TIMER_TX_DONE);
    net->port[p].armed = false;
    if (__builtin_expect(net->port[p].busy_until_ps > now_ps, 0)) /* a pause frame came before */
        arm(core, node, &net->port[p], p);
    else
        send_next(net, core, node, v, p, now_ps);
}

static void switch_on_timer(struct sim_core *core, struct sim_node *node, uint64_t id, sim_ps now_ps)
{
    struct net *net = net_of(core);
    uint32_t class = NET_TIMER_ARG(id) & 7, p = (uint32_t)(NET_TIMER_ARG64(id) >> 3);
    sim_digest(node, now_ps, 8u + NET_TIMER_KIND(id));
    bool send = NET_TIMER_KIND(id) == TIMER_REFRESH ? pfc_refresh(net, core, node, p, class, now_ps)
                                                    : pfc_pause_end(net, core, node, p, class, now_ps);
    if (send && !net->port[p].armed) {
        if (net->port[p].busy_until_ps <= now_ps)
            send_next(net, core, node, node->state, p, now_ps);
        else
            arm(core, node, &net->port[p], p);
    }
}

static inline void switch_prefetch(struct sim_core *core, struct sim_node *node, const struct sim_record *rec)
{
    const struct net *net = net_of(core);
    (void)node;
    if (net->prefetch_paths)
        __builtin_prefetch(&net->path[(size_t)rec->a * net->path_stride + packet_hops(rec->c)]);
}

/* A window touches nearly every port of a busy switch: where the fabric exceeds the cache, ask for their lines at
 * once instead of one by one. */
static void prefetch_ports(const struct sim_core *core, const struct net *net, const struct net_vertex *v)
{
    uint32_t class = net->config.data_class;
    for (uint32_t p = v->first_port; p < v->first_port + v->n_ports; p++) {
        __builtin_prefetch(&net->port[p], 1);
        __builtin_prefetch(&net->group[p][class], 1);
        __builtin_prefetch(&net->queue[p][class], 1);
        if (net->port[p].channel != NET_NONE)
            sim_prefetch_channel(core, net->port[p].channel);
    }
}

void switch_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch)
{
    struct net_vertex *v = node->state;
    if (v->was_busy && net_of(core)->prefetch)
        prefetch_ports(core, net_of(core), v);
    SIM_NODE_RUN(core, node, scratch, switch_on_arrival, switch_on_soon, switch_on_timer, switch_prefetch);
    v->was_busy = scratch->n >= 2 * v->n_ports;
}
