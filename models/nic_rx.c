/* nic_rx.c - responder that holds packets out of order, has a receive to wait for, or is slow.
 *
 * Packets ahead of the expected one are held in a bitmap of nic.reorder_window; selective repeat answers each by a
 * SACK, go-back-N with a tolerance sends its one NAK when the gap is older than that (ConnectX-5 places writes in any
 * order so). RNR: IBTA volume 1, 9.7.5.2.8. A slow NIC (PCIe or GPU that takes less than the link brings) queues
 * frames in its receive buffer and pauses its peer. Left out: receive queues shared by queue pairs, the end of a queue
 * pair by a responder's error.
 */
#include "models/ib.h"
#include "models/nic_credit.h"

/* ---- order --------------------------------------------------------------------- */
static void nak(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    if (r->nak_sent)
        return;
    r->nak_sent = true; /* one NAK a gap */
    ((struct net_vertex *)node->state)->nak_pkts++;
    nic_answer(net, core, node, qp, r->expected_psn, PACKET_NAK, 0, now_ps);
}

static void sack(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, uint32_t echo,
                 sim_ps now_ps)
{
    net->nic[net->rx[qp].port]->n.sacks_sent++;
    nic_answer(net, core, node, qp, psn, PACKET_SACK, echo, now_ps);
}

static void duplicate(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    net->nic[r->port]->n.duplicate_request++;
    if (r->selective && psn != r->expected_psn && (int32_t)(psn - r->expected_psn) > 0)
        sack(net, core, node, qp, psn, 0, now_ps); /* the first SACK may have been lost */
    else
        nic_answer(net, core, node, qp, r->expected_psn, PACKET_ACK, 0, now_ps);
}

static void hold(struct net *net, uint32_t qp, const struct sim_record *rec)
{
    net->rx[qp].n_held++;
    nic_bit_set(net, net->rx_held, qp, rec->b);
    if (rec->c & PACKET_LAST)
        nic_bit_set(net, net->rx_held_last, qp, rec->b);
}

/* A packet AHEAD of the expected one. */
static void out_of_order(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp,
                         const struct sim_record *rec, uint32_t echo, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    struct nic_port *nic = net->nic[r->port];
    uint32_t ahead = rec->b - r->expected_psn;
    if (r->reorder && ahead < nic->reorder_pkts && nic_bit(net, net->rx_held, qp, rec->b)) {
        duplicate(net, core, node, qp, rec->b, now_ps);
        return;
    }
    nic->n.out_of_sequence++;
    if (r->reorder && ahead >= nic->reorder_pkts)
        nic->n.out_of_window++;
    else if (r->reorder)
        hold(net, qp, rec);
    if (r->selective) {
        if (ahead < nic->reorder_pkts)
            sack(net, core, node, qp, rec->b, echo | packet_timed(rec->c), now_ps);
    } else if (ahead > nic->tolerance_pkts) {
        nak(net, core, node, qp, now_ps);
    }
}

/* May the expected packet come in? The first one of a message needs its receive, which is an op of this node. */
static bool is_ready(const struct net *net, uint32_t qp)
{
    const struct qp_rx *r = &net->rx[qp];
    if (r->in_message || !net->nic[r->port]->rnr)
        return true;
    uint32_t msg = r->last_done == JOB_NONE ? net->qp[qp].first_msg : net->op[r->last_done].next;
    return net->op[job_op_at(net->job, net_message_op(net, msg))->match].started;
}

/* Takes the expected packet. */
static void take(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, bool last, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    if (r->n_held > 0 && nic_bit(net, net->rx_held, qp, r->expected_psn)) {
        nic_bit_clear(net, net->rx_held, qp, r->expected_psn);
        nic_bit_clear(net, net->rx_held_last, qp, r->expected_psn);
        r->n_held--;
    }
    r->expected_psn++;
    r->unacked_pkts++;
    r->nak_sent = r->rnr_wait = false;
    r->in_message = !last;
    if (last)
        nic_message_in(net, core, node, qp, now_ps);
}

/* The expected packet has come, and after it those that are held. */
static void in_order(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp,
                     const struct sim_record *rec, uint32_t echo, sim_ps now_ps)
{
    struct qp_rx *r = &net->rx[qp];
    bool last = rec->c & PACKET_LAST, ack = echo != 0;
    uint32_t first = r->expected_psn;
    for (;;) {
        if (!is_ready(net, qp)) {
            r->rnr_wait = true;
            net->nic[r->port]->n.rnr_naks_sent++;
            nic_answer(net, core, node, qp, r->expected_psn, PACKET_RNR, echo, now_ps);
            return;
        }
        ack |= last || r->expected_psn != first; /* a gap is closed: the sender should know */
        take(net, core, node, qp, last, now_ps);
        if (r->n_held == 0 || !nic_bit(net, net->rx_held, qp, r->expected_psn))
            break;
        last = nic_bit(net, net->rx_held_last, qp, r->expected_psn);
    }
    if (ack || r->unacked_pkts >= net->ack_interval)
        nic_answer(net, core, node, qp, r->expected_psn, PACKET_ACK,
                   echo | (r->expected_psn == first + 1 ? packet_timed(rec->c) : 0), now_ps);
}

static void on_data(struct net *net, struct sim_core *core, struct sim_node *node, const struct sim_record *rec, sim_ps now_ps)
{
    uint32_t qp = rec->a >> 1;
    struct qp_rx *r = &net->rx[qp];
    bool marked = rec->c & PACKET_CE;
    uint32_t echo = marked && net->echo_mode ? PACKET_ECHO : 0;
    ((struct net_vertex *)node->state)->rx_data_pkts++;
    if (marked)
        nic_notify(net, core, node, qp, now_ps);
    bool is_new = (int32_t)(rec->b - r->expected_psn) >= 0;
    if (!is_new)
        duplicate(net, core, node, qp, rec->b, now_ps);
    else if (rec->b == r->expected_psn)
        in_order(net, core, node, qp, rec, echo, now_ps);
    else if (!r->rnr_wait)
        out_of_order(net, core, node, qp, rec, echo, now_ps);
    if (net->credit && is_new)
        nic_credit_received(net, core, node, qp, rec->b, now_ps);
}

/* ---- receive buffer ---------------------------------------------------------------- */
static void drop(struct net *net, struct net_vertex *v, uint32_t port, uint32_t c)
{
    const struct port_profile *profile = net->port[port].profile;
    uint32_t class = profile->pg_of_code[packet_code(c)], bytes = packet_bytes(c);
    struct ledger *ledger = &v->ledger[packet_code(c)];
    uint32_t lossless = profile->lossless_pgs >> class & 1;
    ledger->received_pkts--; /* it had been counted as it came in */
    ledger->received_bytes -= bytes;
    ledger->dropped_pkts++;
    ledger->dropped_bytes += bytes;
    v->lossless_drops += lossless;
    net->cold[port].drop_pkts[class]++;
    net->cold[port].drop_bytes[class] += bytes;
    net->cold[port].lossless_drop_pkts += lossless;
    net->nic[port]->n.rx_out_of_buffer++;
}

/* Headers end in the NIC: memory gets the payload (and the RETH of a message's first packet, which is not worth a look). */
static sim_ps drain_ps(const struct net *net, const struct nic_port *nic, uint32_t c)
{
    return nic->rx_bps == 0 ? 0 : units_wire_ps((int64_t)packet_bytes(c) - net->frame_overhead, nic->rx_bps);
}

static void append(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port,
                   const struct sim_record *rec, sim_ps now_ps)
{
    struct slab *slab = &((struct net_vertex *)node->state)->slab;
    struct nic_port *nic = net->nic[port];
    uint32_t at = net_slot_take(core, slab);
    slab->slot[at] = (struct slot){.next = NET_NONE, .a = rec->a, .b = rec->b, .c = rec->c};
    nic->rx_bytes += packet_bytes(rec->c);
    if (nic->rx_head == NET_NONE) {
        nic->rx_head = at;
        sim_timer_add(core, node, now_ps + drain_ps(net, nic, rec->c), NET_TIMER(TIMER_RX, port));
    } else {
        slab->slot[nic->rx_tail].next = at;
    }
    nic->rx_tail = at;
}

static void pause_peer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    uint32_t bit = 1u << class;
    if (!(hot->profile->lossless_pgs & bit) || (hot->xoff & bit))
        return;
    hot->xoff = (uint16_t)(hot->xoff | bit);
    hot->pause_todo = (uint16_t)(hot->pause_todo | bit);
    nic_kick(net, core, node, port, now_ps);
}

static void resume_peer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    hot->pause_todo = (uint16_t)(hot->pause_todo | hot->xoff);
    hot->xoff = 0;
    nic_kick(net, core, node, port, now_ps);
}

void nic_receive_data(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port,
                      const struct sim_record *rec, sim_ps now_ps)
{
    struct nic_port *nic = net->nic[port];
    if (nic->rx_bps == 0 && nic->rx_head == NET_NONE) {
        on_data(net, core, node, rec, now_ps);
        return;
    }
    if (net->ib) { /* credits see to it that there is room */
        append(net, core, node, port, rec, now_ps);
        return;
    }
    if (nic->rx_bytes + packet_bytes(rec->c) > nic->rx_buffer_bytes) {
        drop(net, node->state, port, rec->c);
        return;
    }
    append(net, core, node, port, rec, now_ps);
    if (nic->rx_bytes >= nic->rx_xoff_bytes)
        pause_peer(net, core, node, port, net->port[port].profile->pg_of_code[packet_code(rec->c)], now_ps);
}

void nic_drained(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps)
{
    struct slab *slab = &((struct net_vertex *)node->state)->slab;
    struct nic_port *nic = net->nic[port];
    uint32_t at = nic->rx_head;
    struct sim_record rec = {.a = slab->slot[at].a, .b = slab->slot[at].b, .c = slab->slot[at].c};
    nic->rx_head = slab->slot[at].next;
    nic->rx_bytes -= packet_bytes(rec.c);
    net_slot_give(slab, at);
    if (nic->rx_head != NET_NONE)
        sim_timer_add(core, node, now_ps + drain_ps(net, nic, slab->slot[nic->rx_head].c), NET_TIMER(TIMER_RX, port));
    if (net->ib)
        ib_give(net, core, node, port, ib_vl_of(net, rec.c), packet_bytes(rec.c), now_ps, now_ps);
    if (net->port[port].xoff && nic->rx_bytes <= nic->rx_xon_bytes)
        resume_peer(net, core, node, port, now_ps);
    on_data(net, core, node, &rec, now_ps);
}

void nic_set_rx_rate(struct net *net, struct sim_node *node, uint32_t port, int64_t rate_bps)
{
    net->nic[port]->rx_bps = rate_bps;
    ((struct net_vertex *)node->state)->rx_care |= NIC_RX_SLOW;
}
