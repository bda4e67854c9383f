/* ib_switch.c - InfiniBand switch: route, queue by output port and VL, send when the next buffer has room.
 *
 * A packet stays in the buffer of the port and VL where it came in until its last bit has left; that buffer cannot
 * overflow, because nobody sends without credits. Left out: memory limits of the switch as a whole (buffers are by port
 * and VL), multicast.
 */
#include "models/egress.h"
#include "models/ib.h"

static inline void arm(struct sim_core *core, struct sim_node *node, struct port_hot *port, uint32_t p)
{
    if (!port->armed && (port->pause_todo | port->nonempty)) {
        port->armed = true;
        sim_soon_add(core, node, port->busy_until_ps, p - ((struct net_vertex *)node->state)->first_port);
    }
}

/* Of VLS, which have no credits for a packet of the largest size, those whose first packet may go. */
static uint32_t G_GNUC_NO_INLINE open_vls(struct net *net, struct sim_core *core, struct sim_node *node, const struct net_vertex *v, uint32_t p,
                                          uint32_t vls, sim_ps now_ps)
{
    uint32_t open = 0;
    if (ib_is_down(net, p))
        return vls;
    for (uint32_t left = vls; left; left &= left - 1) {
        uint32_t vl = (uint32_t)__builtin_ctz(left);
        if (ib_has_credit(net, p, vl, packet_bytes(v->slab.slot[net->queue[p][vl].head].c)))
            open |= 1u << vl;
        else
            ib_stalled(net, core, node, p, vl, now_ps);
    }
    return open;
}

/* Sends the next packet of a port that is free at NOW_PS, if one may go. */
static inline void send_next(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v, uint32_t p,
                             sim_ps now_ps)
{
    struct port_hot *port = &net->port[p];
    if (__builtin_expect(port->pause_todo, 0)) {
        ib_put_fc(net, core, node, p, now_ps);
        arm(core, node, port, p);
        return;
    }
    uint32_t ready = port->nonempty & (uint32_t)~port->paused, closed = port->nonempty & port->paused;
    if (__builtin_expect(closed, 0)) {
        ready |= open_vls(net, core, node, v, p, closed, now_ps);
        if (!ready)
            ib_port_stalled(net, p, now_ps);
    }
    if (__builtin_expect(net->mixed_cut_through, 0))
        ready = egress_complete_heads(net, core, node, v, p, ready, now_ps);
    if (!ready)
        return;
    uint32_t vl = (ready & (ready - 1)) == 0 ? (uint32_t)__builtin_ctz(ready) : ib_arbitrate(net, p, ready);
    struct queue *queue = &net->queue[p][vl];
    uint32_t at = net_dequeue(&v->slab, port, queue, vl);
    struct slot *slot = &v->slab.slot[at];
    uint32_t in = slot->in_port, bytes = packet_bytes(slot->c);
    ib_send(net, port, p, vl, 1u << vl, bytes, now_ps);
    egress_transmit(net, core, node, port, p, queue, now_ps, slot->a, slot->b, slot->c);
    net_slot_give(&v->slab, at);
    ib_give(net, core, node, in, vl, bytes, port->busy_until_ps, now_ps);
    arm(core, node, port, p);
}

void ib_switch_wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    if (net->port[p].armed)
        return;
    if (net->port[p].busy_until_ps <= now_ps)
        send_next(net, core, node, node->state, p, now_ps);
    else
        arm(core, node, &net->port[p], p);
}

static inline void on_arrival(struct sim_core *core, struct sim_node *node, uint32_t channel, const struct sim_record *rec, sim_ps now_ps)
{
    struct net *net = net_of(core);
    struct net_vertex *v = node->state;
    uint32_t in = v->first_port + channel, c = rec->c;
    const struct port_hot *from = &net->port[in];
    sim_digest(node, now_ps, packet_kind(c));
    if (__builtin_expect(from->profile->special, 0) && !special_receive(net, core, v, in, c))
        return;
    if (__builtin_expect(packet_kind(c) == PACKET_PAUSE, 0)) {
        ib_receive_fc(net, in, rec->a, rec->b);
        ib_switch_wake(net, core, node, in, now_ps);
        return;
    }
    uint32_t out, vl = ib_vl_of(net, c), bytes = packet_bytes(c);
    ib_take(net, core, node, in, vl, bytes, now_ps);
    if (__builtin_expect(net->forward == NULL, 1)) {
        out = v->first_port + net->path[(size_t)rec->a * net->path_stride + packet_hops(c)];
    } else if ((out = forward_choose(net, node, in, rec->a, rec->b, c, now_ps)) == NET_NONE) {
        ib_give(net, core, node, in, vl, bytes, now_ps, now_ps);
        return;
    }
    struct port_hot *port = &net->port[out];
    struct queue *queue = &net->queue[out][vl];
    sim_ps ready_ps = egress_ready_at(net, v, from, port, bytes, now_ps);
    if ((port->egress & PORT_EGRESS_BUSY(vl)) == 0 && port->busy_until_ps <= now_ps && ready_ps == 0) {
        if (bytes > queue->max_bytes)
            queue->max_bytes = bytes;
        ib_send(net, port, out, vl, 1u << vl, bytes, now_ps);
        egress_transmit(net, core, node, port, out, queue, now_ps, rec->a, rec->b, c + PACKET_HOP);
        ib_give(net, core, node, in, vl, bytes, port->busy_until_ps, now_ps);
        return;
    }
    uint32_t at = net_slot_take(core, &v->slab);
    struct slot *slot = &v->slab.slot[at];
    slot->a = rec->a;
    slot->b = rec->b;
    slot->c = c + PACKET_HOP;
    slot->in_port = in;
    slot->ready_ps = ready_ps;
    net_enqueue(&v->slab, port, queue, vl, at, bytes);
    ib_switch_wake(net, core, node, out, now_ps);
}

static inline void on_soon(struct sim_core *core, struct sim_node *node, uint32_t what, sim_ps now_ps)
{
    struct net *net = net_of(core);
    struct net_vertex *v = node->state;
    uint32_t p = v->first_port + what;
    sim_digest(node, now_ps, 8u + TIMER_TX_DONE);
    net->port[p].armed = false;
    if (__builtin_expect(net->port[p].busy_until_ps > now_ps, 0)) /* a flow-control packet came before */
        arm(core, node, &net->port[p], p);
    else
        send_next(net, core, node, v, p, now_ps);
}

static void drop_first(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    uint32_t at = net_dequeue(&v->slab, &net->port[p], &net->queue[p][vl], vl);
    struct slot slot = v->slab.slot[at];
    net_slot_give(&v->slab, at);
    egress_count_drop(net, v, p, vl, slot.c, false);
    ib_give(net, core, node, slot.in_port, vl, packet_bytes(slot.c), now_ps, now_ps);
}

void ib_switch_flush(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    for (uint32_t vl = 0; vl < NET_CLASSES; vl++) {
        while (net->port[p].nonempty >> vl & 1)
            drop_first(net, core, node, p, vl, now_ps);
        ib_sent_after_wait(net, p, vl, 0, now_ps);
    }
}

static void on_timer(struct sim_core *core, struct sim_node *node, uint64_t id, sim_ps now_ps)
{
    struct net *net = net_of(core);
    uint32_t vl = NET_TIMER_ARG(id) & 7, p = (uint32_t)(NET_TIMER_ARG64(id) >> 3);
    sim_digest(node, now_ps, 8u + NET_TIMER_KIND(id));
    switch (NET_TIMER_KIND(id)) {
    case TIMER_FREED:
        ib_freed(net, core, node, NET_TIMER_ARG64(id), now_ps);
        break;
    case TIMER_REFRESH:
        ib_repair(net, p, vl);
        ib_switch_wake(net, core, node, p, now_ps);
        break;
    case TIMER_PAUSE_END:
        if (ib_lifetime_over(net, core, node, p, vl, now_ps)) {
            drop_first(net, core, node, p, vl, now_ps);
            ib_switch_wake(net, core, node, p, now_ps);
        }
        break;
    default:
        fault_timer(net, core, node, NET_TIMER_ARG(id), now_ps);
    }
}

static inline void prefetch(struct sim_core *core, struct sim_node *node, const struct sim_record *rec)
{
    const struct net *net = net_of(core);
    (void)node;
    if (net->prefetch_paths && packet_kind(rec->c) != PACKET_PAUSE)
        __builtin_prefetch(&net->path[(size_t)rec->a * net->path_stride + packet_hops(rec->c)]);
}

void ib_switch_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch)
{
    SIM_NODE_RUN(core, node, scratch, on_arrival, on_soon, on_timer, prefetch);
}
