/* nic.c - RDMA NIC: RC queue pairs, segmentation, scheduling, pacing, ACKs, CNPs.
 *
 * Requester state (qp_tx) belongs to the sending node, responder state (qp_rx) to
 * the receiving one. A queue pair with something to send is in its port's ready
 * ring (round robin), or waits for a pacing timer, or is blocked by its window.
 * Control packets (ACK, NAK, CNP) are queued by class and go before data. What
 * follows a loss is in nic_recovery.c, receivers that reorder or are slow in
 * nic_rx.c. Left out: reads and atomics, message-rate limits.
 */
#include "models/ib.h"
#include "models/nic_credit.h"
#include "models/nic_ring.h"

/* ---- sending -------------------------------------------------------------- */
static inline uint32_t control_ready(const struct net *net, const struct port_hot *port)
{
    return net->ack_bypass ? port->nonempty : port->nonempty & (uint32_t)~port->paused;
}

static inline bool anything_ready(const struct net *net, uint32_t p)
{
    const struct port_hot *port = &net->port[p];
    if (__builtin_expect(net->ib != NULL, 0)) /* which of them may go is seen when the port is free */
        return port->nonempty | port->pause_todo | net->ring[p].ready | (net->ring[p].held != NET_NONE);
    return control_ready(net, port) | port->pause_todo | (net->ring[p].ready & (uint32_t)~port->paused) ||
           net->ring[p].held != NET_NONE;
}

static inline void arm(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    struct port_hot *port = &net->port[p];
    if (!port->armed && anything_ready(net, p)) {
        port->armed = true;
        sim_soon_add(core, node, MAX(port->busy_until_ps, now_ps), p - ((struct net_vertex *)node->state)->first_port);
    }
}

static inline void put_on_wire(struct net *net, struct sim_core *core, struct sim_node *node, struct port_hot *port,
                               struct queue *queue, sim_ps now_ps, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t bytes = packet_bytes(c);
    sim_ps wire_ps = net_wire(net, port, bytes);
    sim_ps seen_ps = net_seen_after(port, bytes, wire_ps);
    port->busy_until_ps = now_ps + wire_ps;
    queue->tx_bytes += bytes + net->gap_bytes;
    if (__builtin_expect(net->ib != NULL, 0)) {
        uint32_t vl = ib_vl_of(net, c);
        ib_send(net, port, (uint32_t)(port - net->port), vl, net->ib->sls_of_vl[vl], bytes, now_ps);
    }
    if (__builtin_expect(port->profile->special, 0) &&
        !special_transmit(net, core, node, (uint32_t)(port - net->port), queue, now_ps, a, b, c))
        return;
    sim_send(core, port->channel, port->peer_node, now_ps + seen_ps + port->data_latency_ps, a, b, c);
}

static inline void send_control(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v, uint32_t p, uint32_t ready,
                                sim_ps now_ps)
{
    struct port_hot *port = &net->port[p];
    uint32_t class = 31 - (uint32_t)__builtin_clz(ready);
    uint32_t at = net_dequeue(&v->slab, port, &net->queue[p][class], class);
    struct slot slot = v->slab.slot[at];
    net_slot_give(&v->slab, at);
    if (packet_kind(slot.c) == PACKET_CNP)
        net->cold[p].tx_cnp_pkts++;
    net->queue[p][class].tx_pkts[1]++;
    put_on_wire(net, core, node, port, &net->queue[p][class], now_ps, slot.a, slot.b, slot.c);
}

/* Makes the message after MSG the one being sent. */
static void next_message(const struct net *net, struct qp_tx *t, uint32_t msg)
{
    t->msg = msg;
    if (msg == JOB_NONE)
        return;
    int64_t bytes = net->op[msg].bytes;
    t->msg_end = net->op[msg].end_psn;
    uint32_t n_pkts = net_message_pkts(net, bytes);
    t->msg_first = t->msg_end - n_pkts;
    t->msg_tail_bytes = (uint32_t)(bytes - (int64_t)(n_pkts - 1) * net->mtu);
}

void nic_seek_message(const struct net *net, struct qp_tx *t)
{
    uint32_t msg = t->rnr_wait ? JOB_NONE : t->una_msg;
    while (msg != JOB_NONE && (int32_t)(net->op[msg].end_psn - t->next_psn) <= 0)
        msg = net->op[msg].next;
    next_message(net, t, msg);
}

/* Room for one more packet under way? */
static inline bool window_open(const struct qp_tx *t)
{
    return t->next_psn - t->una_psn < MIN(t->window_pkts, t->rate.window_pkts);
}

/* Waits out the pacing gap; when the rate may rise before its end, looks again at that time. */
static void wait_for_gap(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp)
{
    struct qp_tx *t = &net->tx[qp];
    t->state = QP_WAITING;
    sim_ps until_ps = net->repace ? MIN(t->next_ps, t->rate.due_ps) : t->next_ps;
    if (__builtin_expect(net->feedback != NULL, 0))
        nic_cc_waits(net, qp, until_ps);
    sim_timer_add(core, node, until_ps, NET_TIMER(TIMER_QP, qp));
}

/* Where the queue pair goes after a packet has left: ring, pacing timer, window, or rest. */
static inline void after_send(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp,
                              sim_ps busy_until_ps)
{
    struct qp_tx *t = &net->tx[qp];
    if (t->msg == JOB_NONE && !t->repair) {
        t->state = QP_IDLE;
    } else if (!window_open(t) && !t->repair) {
        t->state = QP_BLOCKED;
    } else if (t->next_ps <= busy_until_ps) {
        t->state = QP_READY;
        net->ring[t->port].held = qp;
    } else {
        wait_for_gap(net, core, node, qp);
    }
}

/* The next packet in order, which go-back-N may have sent before. */
static inline struct nic_frame next_frame(struct net *net, struct sim_node *node, uint32_t qp)
{
    struct qp_tx *t = &net->tx[qp];
    uint32_t psn = t->next_psn++, flags = 0;
    if (__builtin_expect(psn == t->max_psn, 1)) {
        t->max_psn = t->next_psn;
    } else {
        flags = PACKET_AGAIN;
        nic_count_again(net, node, qp);
    }
    bool first = psn == t->msg_first, last = t->next_psn == t->msg_end;
    uint32_t payload = last ? t->msg_tail_bytes : net->mtu;
    if (last) {
        flags |= PACKET_LAST;
        next_message(net, t, net->op[t->msg].next);
    }
    return (struct nic_frame){psn, payload, payload + net->frame_overhead + (first ? net->reth : 0), flags};
}

static inline void send_data(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t ready,
                             sim_ps now_ps)
{
    struct port_hot *port = &net->port[p];
    uint32_t class = (ready & (ready - 1)) == 0 ? (uint32_t)__builtin_ctz(ready) : ring_pick_class(net, p, ready);
    uint32_t qp = ring_pop(net, &net->ring[p], class);
    struct qp_tx *t = &net->tx[qp];
    if (__builtin_expect((t->msg == JOB_NONE || !window_open(t)) && !t->repair, 0)) {
        /* Acknowledged, failed or stopped while it stood in the ring. */
        t->state = t->failed ? QP_FAILED : t->msg == JOB_NONE ? QP_IDLE : QP_BLOCKED;
        return;
    }
    struct nic_frame f = __builtin_expect(t->repair, 0) ? nic_lost_frame(net, node, qp) : next_frame(net, node, qp);
    if (f.psn == t->una_psn)
        t->progress_ps = now_ps; /* nothing older is under way: the timeout counts from here */
    if (__builtin_expect(t->rate.due_ps <= now_ps, 0))
        net->cc->advance(net->cc_state, qp, &t->rate, now_ps);
    uint32_t code = port->profile->code_of_class[class];
    struct queue *queue = &net->queue[p][class];
    put_on_wire(net, core, node, port, queue, now_ps, qp << 1, f.psn, packet_make(PACKET_DATA, code, f.bytes) | f.flags);
    queue->tx_pkts[0]++;
    t->sent_bytes += f.payload_bytes;
    t->next_ps = port->busy_until_ps;
    if (t->rate.ps_per_byte > 0) {
        t->sent_ps = now_ps;
        t->sent_wire_bytes = f.bytes + net->gap_bytes;
        t->next_ps = now_ps + (sim_ps)(t->rate.ps_per_byte * (double)t->sent_wire_bytes);
    }
    if (net->cc_wants & (CC_WANTS_BYTES | CC_WANTS_RTT | CC_WANTS_CREDIT))
        nic_cc_sent(net, qp, f.psn, f.flags, f.bytes + net->gap_bytes, now_ps);
    struct ledger *ledger = &((struct net_vertex *)node->state)->ledger[code];
    ledger->sent_pkts++;
    ledger->sent_bytes += f.bytes;
    if (!t->timeout_armed)
        nic_timeout_arm(net, core, node, qp, now_ps);
    after_send(net, core, node, qp, port->busy_until_ps);
}

/* InfiniBand: of CLASSES (which are SLs), whose VLs have no credits for a packet of the largest size, those whose first packet
 * may go. */
static uint32_t open_classes(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t classes, sim_ps now_ps)
{
    const struct slab *slab = &((const struct net_vertex *)node->state)->slab;
    uint32_t open = 0, closed = 0;
    if (ib_is_down(net, p))
        return classes;
    for (uint32_t left = classes; left; left &= left - 1) {
        uint32_t class = (uint32_t)__builtin_ctz(left), vl = net->ib->vl_of_sl[class];
        bool control = net->port[p].nonempty >> class & 1; /* goes before data */
        uint32_t bytes = control ? packet_bytes(slab->slot[net->queue[p][class].head].c)
                                 : ring_next_bytes(net, &net->tx[net->ring[p].head[class]]);
        if (ib_has_credit(net, p, vl, bytes))
            open |= 1u << class;
        else
            closed |= 1u << vl;
    }
    for (uint32_t left = closed; left; left &= left - 1)
        ib_stalled(net, core, node, p, (uint32_t)__builtin_ctz(left), now_ps);
    return open;
}

/* InfiniBand: arbitration between VLs, then answers before data, then as on Ethernet. */
static void send_by_vl(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v, uint32_t p, sim_ps now_ps)
{
    const struct port_hot *port = &net->port[p];
    const struct ib *ib = net->ib;
    uint32_t waiting = port->nonempty | net->ring[p].ready, ready = waiting & (uint32_t)~port->paused, vls = 0;
    if (waiting & port->paused)
        ready |= open_classes(net, core, node, p, waiting & port->paused, now_ps);
    for (uint32_t left = ready; left; left &= left - 1)
        vls |= 1u << ib->vl_of_sl[__builtin_ctz(left)];
    if (!vls) {
        if (waiting)
            ib_port_stalled(net, p, now_ps);
        return;
    }
    uint32_t vl = (vls & (vls - 1)) == 0 ? (uint32_t)__builtin_ctz(vls) : ib_arbitrate(net, p, vls);
    ready &= ib->sls_of_vl[vl];
    if (port->nonempty & ready)
        send_control(net, core, node, v, p, port->nonempty & ready, now_ps);
    else
        send_data(net, core, node, p, ready, now_ps);
    arm(net, core, node, p, now_ps);
}

static inline void send_next(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
                             uint32_t p, sim_ps now_ps)
{
    struct port_hot *port = &net->port[p];
    if (__builtin_expect(port->pause_todo, 0)) {
        if (net->ib)
            ib_put_fc(net, core, node, p, now_ps);
        else
            pfc_transmit(net, core, node, p, now_ps);
        arm(net, core, node, p, now_ps);
        return;
    }
    uint32_t held = net->ring[p].held;
    if (held != NET_NONE) {
        net->ring[p].held = NET_NONE;
        ring_push(net, held);
    }
    if (__builtin_expect(net->ib != NULL, 0)) {
        send_by_vl(net, core, node, v, p, now_ps);
        return;
    }
    uint32_t control = control_ready(net, port);
    uint32_t data = net->ring[p].ready & (uint32_t)~port->paused;
    if (control)
        send_control(net, core, node, v, p, control, now_ps);
    else if (data)
        send_data(net, core, node, p, data, now_ps);
    arm(net, core, node, p, now_ps);
}

/* Sends now if the port is free, else sees to it that it will. */
static inline void kick(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v, uint32_t p,
                        sim_ps now_ps)
{
    struct port_hot *port = &net->port[p];
    if (port->armed)
        return;
    if (port->busy_until_ps <= now_ps)
        send_next(net, core, node, v, p, now_ps);
    else
        arm(net, core, node, p, now_ps);
}

/* A queue pair that rested has something to send. */
static inline void wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    if (t->next_ps > now_ps && t->next_ps > net->port[t->port].busy_until_ps) {
        wait_for_gap(net, core, node, qp);
        return;
    }
    ring_push(net, qp);
    kick(net, core, node, node->state, t->port, now_ps);
}

void nic_wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    wake(net, core, node, qp, now_ps);
}

void nic_unblock(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    if (t->state == QP_BLOCKED && window_open(t))
        wake(net, core, node, qp, now_ps);
}

void nic_kick(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps)
{
    kick(net, core, node, node->state, port, now_ps);
}

static void post_message(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t msg, sim_ps now_ps)
{
    uint32_t qp = net->op[msg].qp;
    struct qp_tx *t = &net->tx[qp];
    if (t->failed)
        return;
    uint32_t n_pkts = net_message_pkts(net, net->op[msg].bytes);
    t->posted_psn += n_pkts;
    net->op[msg].end_psn = t->posted_psn;
    if (t->last_msg == JOB_NONE)
        net->qp[qp].first_msg = msg;
    else
        net->op[t->last_msg].next = msg;
    t->last_msg = msg;
    if (t->una_msg == JOB_NONE) {
        t->una_msg = msg;
        t->una_end = t->posted_psn;
    }
    if (net->credit)
        nic_cc_posted(net, qp, now_ps);
    if (t->rnr_wait)
        return;
    if (t->msg == JOB_NONE)
        next_message(net, t, msg);
    if (t->state == QP_IDLE)
        wake(net, core, node, qp, now_ps);
}

void nic_post(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps)
{
    const struct op_run *run = &net->op[op];
    post_message(net, core, node, op, now_ps);
    for (uint32_t i = 0; i < run->n_more; i++)
        post_message(net, core, node, run->more + i, now_ps);
}

/* ---- responder ------------------------------------------------------------ */
/* Queues an answer of CLASS; its code is added to C. */
static void queue_control(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t a,
                          uint32_t b, uint32_t class, uint32_t c, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    uint32_t bytes = packet_bytes(c), code = net->port[port].profile->code_of_class[class];
    uint32_t at = net_slot_take(core, &v->slab);
    v->slab.slot[at].a = a;
    v->slab.slot[at].b = b;
    v->slab.slot[at].c = c | packet_make(PACKET_DATA, code, 0);
    v->ledger[code].sent_pkts++;
    v->ledger[code].sent_bytes += bytes;
    net_enqueue(&v->slab, &net->port[port], &net->queue[port][class], class, at, bytes);
    kick(net, core, node, v, port, now_ps);
}

static inline void send_ack(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp,
                            enum packet_kind kind, uint32_t flags, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    r->unacked_pkts = 0;
    queue_control(net, core, node, r->port, qp << 1 | 1, r->expected_psn,
                  r->ack_class, packet_make(kind, 0, net->ack_bytes) | flags, now_ps);
}

static const struct nic_params *nic_at(const struct net *net, uint32_t port)
{
    return net_site_node(net, NET_PARAMS_NIC, net->graph->ports[net->cold[port].graph_port].node);
}

void nic_answer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn,
                enum packet_kind kind, uint32_t flags, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    if (kind != PACKET_SACK) /* which says nothing about those before it */
        r->unacked_pkts = 0;
    queue_control(net, core, node, r->port, qp << 1 | 1, psn, r->ack_class, packet_make(kind, 0, net->ack_bytes) | flags, now_ps);
}

void nic_send_credit(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, uint32_t class, uint32_t bytes,
                     sim_ps now_ps)
{
    queue_control(net, core, node, net->rx[qp].port, qp << 1 | 1, psn, class, packet_make(PACKET_CREDIT, 0, bytes), now_ps);
}

/* One CNP a queue pair and interval. */
void nic_notify(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    struct nic_port *nic = net->nic[r->port];
    nic->n.np_ecn_marked_roce_packets++;
    if (!net->sends_cnps)
        return;
    if (r->last_cnp_ps >= 0 && now_ps - r->last_cnp_ps < net->config.dcqcn->min_time_between_cnps_ps)
        return;
    r->last_cnp_ps = now_ps;
    nic->n.np_cnp_sent++;
    ((struct net_vertex *)node->state)->cnp_sent++;
    queue_control(net, core, node, r->port, qp << 1 | 1, 0,
                  (uint32_t)nic_at(net, r->port)->cnp_class, packet_make(PACKET_CNP, 0, net->cnp_bytes), now_ps);
}

/* The receive it belongs to has its data. */
void nic_message_in(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    /* The sender linked this message at least one window ago: reading its chain is safe. */
    uint32_t msg = r->last_done == JOB_NONE ? net->qp[qp].first_msg : net->op[r->last_done].next;
    r->last_done = msg;
    host_message_in(net, core, node, msg, now_ps);
}

static void out_of_order(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn,
                         sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    struct nic_port *nic = net->nic[r->port];
    if ((int32_t)(psn - r->expected_psn) < 0) {
        nic->n.duplicate_request++;
        send_ack(net, core, node, qp, PACKET_ACK, 0, now_ps); /* seen before: say how far we are */
        return;
    }
    nic->n.out_of_sequence++;
    if (r->nak_sent)
        return;
    r->nak_sent = true; /* one NAK a gap */
    ((struct net_vertex *)node->state)->nak_pkts++;
    send_ack(net, core, node, qp, PACKET_NAK, 0, now_ps);
}

static inline void on_data(struct net *net, struct sim_core *core, struct sim_node *node, const struct sim_record *rec,
                           sim_ps now_ps)
{
    uint32_t qp = rec->a >> 1;
    struct qp_rx *r = &net->rx[qp];
    struct net_vertex *v = node->state;
    bool marked = rec->c & PACKET_CE;
    v->rx_data_pkts++;
    if (marked)
        nic_notify(net, core, node, qp, now_ps);
    if (__builtin_expect(rec->b != r->expected_psn, 0)) {
        out_of_order(net, core, node, qp, rec->b, now_ps);
        return;
    }
    r->expected_psn++;
    r->nak_sent = false;
    r->unacked_pkts++;
    bool last = rec->c & PACKET_LAST;
    if (last || r->unacked_pkts >= net->ack_interval || (marked && net->echo_mode))
        send_ack(net, core, node, qp, PACKET_ACK, packet_timed(rec->c) | (marked && net->echo_mode ? PACKET_ECHO : 0), now_ps);
    if (last)
        nic_message_in(net, core, node, qp, now_ps);
}

/* ---- requester's answers --------------------------------------------------- */
/* Messages that are acknowledged to their end are done. */
static void complete_sends(struct net *net, struct sim_core *core, struct sim_node *node, struct qp_tx *t, sim_ps now_ps)
{
    while (t->una_msg != JOB_NONE && (int32_t)(t->una_psn - t->una_end) >= 0) {
        uint32_t done = t->una_msg;
        t->una_msg = net->op[done].next;
        if (t->una_msg != JOB_NONE)
            t->una_end = net->op[t->una_msg].end_psn;
        uint32_t op = net_message_op(net, done);
        if (net->op[op].more_left > 0)
            net->op[op].more_left--; /* other parts are under way */
        else
            host_op_done(net, core, node, op, now_ps);
    }
}

static inline void acknowledge(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn,
                               sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    uint32_t from = t->una_psn;
    t->una_psn = psn;
    t->progress_ps = now_ps;
    if (__builtin_expect(t->retries > 0, 0))
        nic_recovered(net, core, node, qp, now_ps);
    if (__builtin_expect((int32_t)(t->next_psn - psn) < 0, 0)) { /* acknowledged while we were sending it again */
        t->next_psn = psn;
        nic_seek_message(net, t);
    }
    if (__builtin_expect(t->selective, 0))
        nic_forget_acknowledged(net, qp, from);
    if ((int32_t)(psn - t->una_end) >= 0)
        complete_sends(net, core, node, t, now_ps);
    if (t->state == QP_BLOCKED && window_open(t))
        wake(net, core, node, qp, now_ps);
}

void nic_acknowledge(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps)
{
    acknowledge(net, core, node, qp, psn, now_ps);
}

static inline void on_ack(struct net *net, struct sim_core *core, struct sim_node *node, const struct sim_record *rec,
                          sim_ps now_ps)
{
    uint32_t qp = rec->a >> 1;
    struct qp_tx *t = &net->tx[qp];
    enum packet_kind kind = packet_kind(rec->c);
    if (__builtin_expect(net->feedback != NULL, 0))
        nic_cc_answered(net, core, node, qp, rec, now_ps);
    if (kind <= PACKET_NAK && (int32_t)(rec->b - t->una_psn) > 0)
        acknowledge(net, core, node, qp, rec->b, now_ps);
    if (rec->c & PACKET_ECHO) {
        ((struct net_vertex *)node->state)->echo_acks++;
        net->cc->on_cnp(net->cc_state, qp, &t->rate, now_ps);
    }
    if (__builtin_expect(kind == PACKET_ACK, 1))
        return;
    if (kind == PACKET_NAK)
        nic_on_nak(net, core, node, qp, rec->b, now_ps);
    else if (kind == PACKET_SACK)
        nic_on_sack(net, core, node, qp, rec->b, now_ps);
    else if (kind == PACKET_RNR)
        nic_on_rnr(net, core, node, qp, rec->b, now_ps);
    else if (kind == PACKET_CREDIT)
        nic_cc_credited(net, core, node, qp, rec->b, now_ps);
}

static void on_cnp(struct net *net, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct nic_port *nic = net->nic[net->tx[qp].port];
    ((struct net_vertex *)node->state)->cnp_handled++;
    if (net->cc_wants & CC_WANTS_CNP)
        nic->n.rp_cnp_handled++;
    else
        nic->n.rp_cnp_ignored++;
    net->cc->on_cnp(net->cc_state, qp, &net->tx[qp].rate, now_ps);
}

/* ---- the node -------------------------------------------------------------- */
static inline void host_on_arrival(struct sim_core *core, struct sim_node *node, uint32_t channel,
                                   const struct sim_record *rec, sim_ps now_ps)
{
    struct net *net = net_of(core);
    struct net_vertex *v = node->state;
    enum packet_kind kind = packet_kind(rec->c);
    uint32_t code = packet_code(rec->c), port = v->first_port + channel;
    sim_digest(node, now_ps, kind);
    if (__builtin_expect(net->port[port].profile->special, 0) && !special_receive(net, core, v, port, rec->c))
        return;
    if (__builtin_expect(kind == PACKET_PAUSE, 0)) {
        if (net->ib) {
            ib_receive_fc(net, port, rec->a, rec->b);
            kick(net, core, node, v, port, now_ps);
        } else if (pfc_receive(net, core, node, v, port, rec->a, rec->b, now_ps)) {
            kick(net, core, node, v, port, now_ps);
        }
        return;
    }
    if (__builtin_expect(net->ib != NULL, 0)) {
        uint32_t vl = ib_vl_of(net, rec->c), bytes = packet_bytes(rec->c);
        ib_take(net, core, node, port, vl, bytes, now_ps);
        if (!nic_holds(net, v, port, kind)) /* in memory at once */
            ib_give(net, core, node, port, vl, bytes, now_ps, now_ps);
    }
    v->ledger[code].received_pkts++;
    v->ledger[code].received_bytes += packet_bytes(rec->c);
    if (kind == PACKET_DATA) {
        if (__builtin_expect(v->rx_care, 0))
            nic_receive_data(net, core, node, port, rec, now_ps);
        else
            on_data(net, core, node, rec, now_ps);
    } else if (kind == PACKET_CNP) {
        on_cnp(net, node, rec->a >> 1, now_ps);
    } else {
        on_ack(net, core, node, rec, now_ps);
    }
}

static void other_timer(struct net *net, struct sim_core *core, struct sim_node *node, uint64_t id, sim_ps now_ps)
{
    uint32_t arg = NET_TIMER_ARG(id);
    uint32_t port = (uint32_t)(NET_TIMER_ARG64(id) >> 3);
    switch (NET_TIMER_KIND(id)) {
    case TIMER_FREED:
        ib_freed(net, core, node, NET_TIMER_ARG64(id), now_ps);
        break;
    case TIMER_PAUSE_END:
        if (pfc_pause_end(net, core, node, port, arg & 7, now_ps))
            kick(net, core, node, node->state, port, now_ps);
        break;
    case TIMER_REFRESH:
        if (net->ib)
            ib_repair(net, port, arg & 7);
        if (net->ib || pfc_refresh(net, core, node, port, arg & 7, now_ps))
            kick(net, core, node, node->state, port, now_ps);
        break;
    case TIMER_TIMEOUT:
        nic_timeout(net, core, node, arg, now_ps);
        break;
    case TIMER_RNR:
        nic_rnr_over(net, core, node, arg, now_ps);
        break;
    case TIMER_RX:
        nic_drained(net, core, node, arg, now_ps);
        break;
    case TIMER_STALL:
        watchdog_stall(net, core, node, port, arg & 7, now_ps);
        break;
    case TIMER_CREDIT:
        nic_credit_grant(net, core, node, arg, now_ps);
        break;
    case TIMER_CREDIT_RETRY:
        nic_credit_retry(net, core, node, arg, now_ps);
        break;
    case TIMER_POST:
        nic_post(net, core, node, arg, now_ps);
        break;
    case TIMER_FAULT:
        fault_timer(net, core, node, arg, now_ps);
        break;
    default:
        host_timer(net, core, node, NET_TIMER_KIND(id), arg, now_ps);
    }
}

static inline void host_on_soon(struct sim_core *core, struct sim_node *node, uint32_t what, sim_ps now_ps)
{
    struct net *net = net_of(core);
    struct net_vertex *v = node->state;
    uint32_t p = v->first_port + what;
    sim_digest(node, now_ps, 8u + TIMER_TX_DONE);
    net->port[p].armed = false;
    if (__builtin_expect(net->port[p].busy_until_ps > now_ps, 0)) /* a pause frame came before */
        arm(net, core, node, p, now_ps);
    else
        send_next(net, core, node, v, p, now_ps);
}

/* A rate increase came before the gap was over: how long would it be at the new rate? */
static bool shorten_gap(struct net *net, struct qp_tx *t, uint32_t qp, sim_ps now_ps)
{
    net->cc->advance(net->cc_state, qp, &t->rate, now_ps);
    sim_ps gap_ps = (sim_ps)(t->rate.ps_per_byte * (double)t->sent_wire_bytes);
    t->next_ps = MIN(t->next_ps, MAX(t->sent_ps + gap_ps, now_ps));
    return t->next_ps <= now_ps;
}

/* The pacing gap of a queue pair is over, or its rate has changed. */
static void on_pacing(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    if (__builtin_expect(net->feedback != NULL, 0) && !nic_cc_waited(net, qp, now_ps))
        return; /* an ACK has shortened the gap meanwhile */
    if (t->next_ps > now_ps && !shorten_gap(net, t, qp, now_ps)) {
        wait_for_gap(net, core, node, qp);
        return;
    }
    if (t->msg == JOB_NONE && !t->repair) { /* acknowledged or failed meanwhile */
        t->state = t->failed ? QP_FAILED : QP_IDLE;
        return;
    }
    ring_push(net, qp);
    kick(net, core, node, node->state, t->port, now_ps);
}

static inline void host_on_timer(struct sim_core *core, struct sim_node *node, uint64_t id, sim_ps now_ps)
{
    struct net *net = net_of(core);
    sim_digest(node, now_ps, 8u + NET_TIMER_KIND(id));
    if (NET_TIMER_KIND(id) == TIMER_QP)
        on_pacing(net, core, node, NET_TIMER_ARG(id), now_ps);
    else
        other_timer(net, core, node, id, now_ps);
}

static inline void host_prefetch(struct sim_core *core, struct sim_node *node, const struct sim_record *rec)
{
    const struct net *net = net_of(core);
    uint32_t qp = rec->a >> 1;
    (void)node;
    if (!net->prefetch || packet_kind(rec->c) == PACKET_PAUSE)
        return;
    if (rec->a & 1)
        __builtin_prefetch(&net->tx[qp].next_psn);
    else
        __builtin_prefetch(&net->rx[qp]);
}

void host_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch)
{
    SIM_NODE_RUN(core, node, scratch, host_on_arrival, host_on_soon, host_on_timer, host_prefetch);
}
