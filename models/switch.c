/* switch.c - shared-memory switch: admission, PFC, marking, scheduling, forwarding.
 *
 * A frame is handled when it has passed the pipeline (that latency is part of its
 * channel's): route, admit to the buffer, queue, and send at once if the egress is
 * free. Left out: recirculation, multicast, slices of the buffer (Tomahawk 1).
 */
#include "models/buffer.h"
#include "models/ecn.h"
#include "models/egress.h"

static inline void mark(struct net *net, struct slot *slot, uint32_t port, uint32_t class, uint32_t q_bytes)
{
    struct port_cold *cold = &net->cold[port];
    if (ecn_marks(net->config.seed, cold->graph_port, &cold->n_draws, q_bytes, &net->port[port].profile->queue[class])) {
        slot->c |= PACKET_CE;
        cold->ecn_marked_pkts[class]++;
    }
}

/* Several classes could send: the highest strict one, else deficit round robin. */
static uint32_t pick_class(struct net *net, const struct slab *slab, uint32_t port, uint32_t ready)
{
    struct port_cold *cold = &net->cold[port];
    const struct port_profile *profile = net->port[port].profile;
    uint32_t strict = ready & profile->strict_queues;
    if (strict)
        return 31 - (uint32_t)__builtin_clz(strict);
    for (uint32_t class = cold->dwrr_class;;) {
        if (!(ready >> class & 1))
            cold->deficit[class] = 0;
        else if (cold->deficit[class] >= packet_bytes(slab->slot[net->queue[port][class].head].c))
            break;
        class = (class + 1) % NET_CLASSES; /* its turn is over; the next one's begins */
        if (ready >> class & 1)
            cold->deficit[class] += (int64_t)profile->dwrr_quantum * profile->weights[class];
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

static void send_xon(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t in, uint32_t pg, sim_ps now_ps)
{
    struct port_hot *port = &net->port[in];
    port->xoff = (uint16_t)(port->xoff & ~(1u << pg));
    port->pause_todo = (uint16_t)(port->pause_todo | 1u << pg);
    if (port->busy_until_ps <= now_ps)
        pfc_transmit(net, core, node, in, now_ps);
    arm(core, node, port, in);
}

/* What is not plain: lossy groups, egress pools, the shared headroom pool. */
static void G_GNUC_NO_INLINE leave_any(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
                                       const struct slot *slot, const struct queue_rule *egress, sim_ps now_ps)
{
    const struct port_profile *profile = net->port[slot->in_port].profile;
    uint32_t pg = slot->charge >> SLOT_PG_SHIFT, bytes = slot->charge & SLOT_CHARGE;
    struct group *group = &net->group[slot->in_port][pg];
    struct net_pool *pool = &v->pool[profile->slice];
    if (egress->pool >= POOL_EGRESS_LOSSLESS)
        v->pool[egress->pool].used -= bytes;
    if (!(profile->lossless_pgs >> pg & 1)) {
        group->used -= bytes;
        pool->used -= bytes;
        return;
    }
    buffer_release(pool, profile->own_headroom ? NULL : &v->pool[POOL_HEADROOM], group, profile->pg[pg].reserved, bytes);
    if ((net->port[slot->in_port].xoff >> pg & 1) && buffer_wants_xon(pool, group, &profile->pg[pg]))
        send_xon(net, core, node, slot->in_port, pg, now_ps);
}

/* The packet leaves queue CLASS of OUT: give its buffer back and let its ingress go on if that is due. */
static inline void leave_buffer(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
                                const struct slot *slot, const struct port_hot *out, uint32_t class, sim_ps now_ps)
{
    if (__builtin_expect(!(slot->charge & SLOT_PLAIN), 0)) {
        leave_any(net, core, node, v, slot, &out->profile->queue[class], now_ps);
        return;
    }
    const struct port_hot *in = &net->port[slot->in_port];
    uint32_t pg = slot->charge >> SLOT_PG_SHIFT;
    struct group *group = &net->group[slot->in_port][pg];
    const struct pg_rule *rule = &in->profile->pg[pg];
    struct net_pool *pool = &v->pool[in->profile->slice];
    buffer_release(pool, NULL, group, rule->reserved, slot->charge & SLOT_CHARGE);
    if (__builtin_expect(in->xoff >> pg & 1, 0) && buffer_wants_xon(pool, group, rule))
        send_xon(net, core, node, slot->in_port, pg, now_ps);
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
        ready = egress_complete_heads(net, core, node, v, p, ready, now_ps);
    if (!ready)
        return;
    uint32_t class = (ready & (ready - 1)) == 0 ? (uint32_t)__builtin_ctz(ready) : pick_class(net, &v->slab, p, ready);
    struct queue *queue = &net->queue[p][class];
    uint32_t at = net_dequeue(&v->slab, port, queue, class);
    struct slot *slot = &v->slab.slot[at];
    if (__builtin_expect(queue->bytes > port->profile->queue[class].kmin, 0) && !(port->profile->enqueue_marks >> class & 1))
        mark(net, slot, p, class, queue->bytes);
    egress_transmit(net, core, node, port, p, queue, now_ps, slot->a, slot->b, slot->c);
    leave_buffer(net, core, node, v, slot, port, class, now_ps);
    net_slot_give(&v->slab, at);
    arm(core, node, port, p);
}

/* A frame that came in at IN finds no room. PORT, CLASS: where it is counted, as above. */
static void refuse(struct net *net, struct net_vertex *v, uint32_t in, uint32_t port, uint32_t class, uint32_t c, bool lossless)
{
    net->cold[in].refused_pkts[packet_code(c)]++;
    net->cold[in].group_drop_pkts[class] += port == in; /* else the egress drops: no frame leaves where it came in */
    egress_count_drop(net, v, port, class, c, lossless);
}

/* Queue of egress OUT and priority group of ingress IN of a frame. */
struct classes { uint32_t queue, pg; };

static inline struct classes classify(const struct port_profile *in, const struct port_profile *out, uint32_t c)
{
    uint32_t code = packet_code(c);
    return (struct classes){out->queue_of_tc[in->tc_of_code[code]], in->pg_of_code[code]};
}

static void pause_peer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t in, uint32_t pg, sim_ps now_ps)
{
    struct port_hot *port = &net->port[in];
    port->xoff = (uint16_t)(port->xoff | 1u << pg);
    port->pause_todo = (uint16_t)(port->pause_todo | 1u << pg);
    if (port->busy_until_ps <= now_ps)
        pfc_transmit(net, core, node, in, now_ps);
    arm(core, node, port, in);
}

/* Room for a frame from port IN to port OUT? Charges it; sends XOFF when that is due. */
static bool G_GNUC_NO_INLINE admit_any(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
                                       uint32_t in, uint32_t out, struct classes class, uint32_t c, uint32_t bytes, sim_ps now_ps)
{
    struct group *group = &net->group[in][class.pg];
    struct port_hot *port = &net->port[in];
    const struct port_profile *from = port->profile, *to = net->port[out].profile;
    const struct pg_rule *rule = &from->pg[class.pg];
    const struct queue_rule *egress = &to->queue[class.queue];
    struct net_pool *pool = &v->pool[from->slice];
    bool lossless = from->lossless_pgs >> class.pg & 1, lossless_out = to->lossless_queues >> class.queue & 1;
    if (port->xoff >> (8 + class.pg) & 1) {
        net->cold[in].watch_rx_drop_pkts++;
        net->cold[in].group_drop_pkts[class.pg]++;
        egress_count_drop(net, v, in, class.pg, c, false);
        return false;
    }
    if (net->port[out].paused >> (8 + class.queue) & 1) {
        net->cold[out].watch_drop_pkts++;
        egress_count_drop(net, v, out, class.queue, c, false);
        return false;
    }
    if ((!lossless_out || egress->pool >= POOL_EGRESS_LOSSLESS) &&
        !buffer_egress_has_room(&v->pool[egress->pool], egress, net->queue[out][class.queue].bytes, bytes)) {
        refuse(net, v, in, out, class.queue, c, lossless && lossless_out);
        return false;
    }
    bool in_ok = lossless ? buffer_admit(pool, from->own_headroom ? NULL : &v->pool[POOL_HEADROOM], group, rule, bytes)
                          : buffer_admit_lossy(pool, group, rule, bytes);
    if (!in_ok) {
        refuse(net, v, in, lossless ? in : out, lossless ? class.pg : class.queue, c, lossless);
        return false;
    }
    if (egress->pool >= POOL_EGRESS_LOSSLESS)
        v->pool[egress->pool].used += bytes;
    if (lossless && !(port->xoff >> class.pg & 1) && group->used + group->headroom > rule->reserved &&
        buffer_wants_xoff(pool, group, rule))
        pause_peer(net, core, node, in, class.pg, now_ps);
    return true;
}

/* The same for a plain group and queue. */
static inline bool admit_plain(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v, uint32_t in,
                               const struct port_hot *from, uint32_t pg, uint32_t c, uint32_t bytes, sim_ps now_ps)
{
    struct group *group = &net->group[in][pg];
    const struct pg_rule *rule = &from->profile->pg[pg];
    struct net_pool *pool = &v->pool[from->profile->slice];
    if (!buffer_admit(pool, NULL, group, rule, bytes)) {
        refuse(net, v, in, in, pg, c, true);
        return false;
    }
    if (!(from->xoff >> pg & 1) && group->used + group->headroom > rule->reserved && buffer_wants_xoff(pool, group, rule))
        pause_peer(net, core, node, in, pg, now_ps);
    return true;
}

/* A plain frame that finds its egress free, nothing waiting and no threshold near: what admission, queueing and release
 * would do together is to note the peaks. Returns false where the long way must be gone. */
static inline bool passes_through(const struct net_vertex *v, const struct port_hot *from, struct group *group,
                                  const struct port_hot *port, struct queue *queue, struct classes class, uint32_t bytes,
                                  sim_ps now_ps)
{
    if ((port->egress & PORT_EGRESS_BUSY(class.queue)) != 0 || port->busy_until_ps > now_ps || (from->xoff >> class.pg & 1))
        return false;
    const struct pg_rule *rule = &from->profile->pg[class.pg];
    uint32_t used = group->used + bytes;
    int64_t over = buffer_shared_part(used, rule->reserved);
    if (over > 0) {
        const struct net_pool *pool = &v->pool[from->profile->slice];
        int64_t free_after = pool->total - pool->used - (over < bytes ? over : bytes);
        if (over >= rule->static_th + ((free_after * (int64_t)rule->alpha_q16) >> 16) || free_after < 0)
            return false;
    }
    if (used > group->max_used)
        group->max_used = used;
    if (bytes > queue->max_bytes)
        queue->max_bytes = bytes;
    return true;
}

/* After pauses ended or queues were let go: sends if the port is free. */
static void G_GNUC_NO_INLINE wake_port(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    if (net->port[p].armed)
        return;
    if (net->port[p].busy_until_ps <= now_ps)
        send_next(net, core, node, node->state, p, now_ps);
    else
        arm(core, node, &net->port[p], p);
}

static inline void switch_on_arrival(struct sim_core *core, struct sim_node *node, uint32_t channel,
                                     const struct sim_record *rec, sim_ps now_ps)
{
    struct net *net = net_of(core);
    struct net_vertex *v = node->state;
    uint32_t in = v->first_port + channel, c = rec->c;
    const struct port_hot *from = &net->port[in];
    sim_digest(node, now_ps, packet_kind(c));
    if (__builtin_expect(from->profile->special, 0) && !special_receive(net, core, v, in, c))
        return;
    if (__builtin_expect(packet_kind(c) == PACKET_PAUSE, 0)) {
        if (pfc_receive(net, core, node, v, in, rec->a, rec->b, now_ps))
            wake_port(net, core, node, in, now_ps);
        return;
    }
    uint32_t out;
    if (__builtin_expect(net->forward == NULL, 1))
        out = v->first_port + net->path[(size_t)rec->a * net->path_stride + packet_hops(c)];
    else if ((out = forward_choose(net, node, in, rec->a, rec->b, c, now_ps)) == NET_NONE)
        return;
    struct port_hot *port = &net->port[out];
    struct classes class = classify(from->profile, port->profile, c);
    struct queue *queue = &net->queue[out][class.queue];
    uint32_t charge = profile_charge(from->profile, packet_bytes(c)), flags = class.pg << SLOT_PG_SHIFT;
    sim_ps ready_ps = egress_ready_at(net, v, from, port, packet_bytes(c), now_ps);
    bool plain = from->profile->plain_pgs >> class.pg & port->profile->plain_queues >> class.queue & 1;
    if (plain && v->n_storms == 0) {
        if (ready_ps == 0 &&
            passes_through(v, from, &net->group[in][class.pg], port, queue, class, charge, now_ps)) {
            egress_transmit(net, core, node, port, out, queue, now_ps, rec->a, rec->b, c + PACKET_HOP);
            return;
        }
        if (!admit_plain(net, core, node, v, in, from, class.pg, c, charge, now_ps))
            return;
        flags |= SLOT_PLAIN;
    } else if (!admit_any(net, core, node, v, in, out, class, c, charge, now_ps)) {
        return;
    }
    uint32_t at = net_slot_take(core, &v->slab);
    struct slot *slot = &v->slab.slot[at];
    slot->a = rec->a;
    slot->b = rec->b;
    slot->c = c + PACKET_HOP;
    slot->in_port = in;
    slot->ready_ps = ready_ps;
    net_enqueue(&v->slab, port, queue, class.queue, at, charge | flags);
    if (__builtin_expect(port->profile->enqueue_marks, 0) && (port->profile->enqueue_marks >> class.queue & 1) &&
        queue->bytes > port->profile->queue[class.queue].kmin)
        mark(net, slot, out, class.queue, queue->bytes);
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

/* Throws away what waits in queue CLASS of port P (watchdog, link down). */
void switch_flush(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t class, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    struct port_hot *port = &net->port[p];
    while (port->nonempty >> class & 1) {
        uint32_t at = net_dequeue(&v->slab, port, &net->queue[p][class], class);
        struct slot slot = v->slab.slot[at];
        net_slot_give(&v->slab, at);
        egress_count_drop(net, v, p, class, slot.c, false);
        leave_buffer(net, core, node, v, &slot, port, class, now_ps);
    }
}

void switch_wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    wake_port(net, core, node, p, now_ps);
}

static void switch_on_timer(struct sim_core *core, struct sim_node *node, uint64_t id, sim_ps now_ps)
{
    struct net *net = net_of(core);
    uint32_t class = NET_TIMER_ARG(id) & 7, p = (uint32_t)(NET_TIMER_ARG64(id) >> 3);
    bool send = false;
    sim_digest(node, now_ps, 8u + NET_TIMER_KIND(id));
    switch (NET_TIMER_KIND(id)) {
    case TIMER_REFRESH:
        send = pfc_refresh(net, core, node, p, class, now_ps);
        break;
    case TIMER_PAUSE_END:
        send = pfc_pause_end(net, core, node, p, class, now_ps);
        break;
    case TIMER_WATCH:
        watchdog_poll(net, core, node, NET_TIMER_ARG(id), now_ps);
        break;
    default:
        fault_timer(net, core, node, NET_TIMER_ARG(id), now_ps);
    }
    if (send)
        wake_port(net, core, node, p, now_ps);
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
