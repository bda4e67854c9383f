/* nic_recovery.c - requester after a loss: go-back-N, selective repeat, RNR, timeouts, the end of a queue pair.
 *
 * Go-back-N sends everything again from the packet that a NAK or a timeout names. Selective repeat keeps a bitmap of
 * SACKs: a packet is lost when one that was sent more than nic.reorder_tolerance packets later has been SACKed, or at
 * a timeout (IRN, SIGCOMM 2018); the oldest one may be found lost again, others wait until they are the oldest.
 * Timeouts and retry counts: IBTA volume 1, 9.7.6; adaptive ones: NVIDIA "Adaptive Retransmission: Parameters
 * Control", simplified to one range that doubles. Left out: random first timeouts, slow restart after a loss.
 */
#include "models/nic_ring.h"

/* ---- the end of a queue pair ------------------------------------------------- */
static void fail_qp(struct net *net, struct sim_node *node, uint32_t qp, enum net_qp_failure reason, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    struct qp_repair *r = &net->repair[qp];
    struct nic_port *nic = net->nic[t->port];
    t->failed = true;
    t->repair = false;
    if (t->state != QP_READY && t->state != QP_WAITING)
        t->state = QP_FAILED;
    t->msg = t->una_msg = JOB_NONE;
    r->failed_ps = now_ps;
    r->fail_reason = (uint8_t)reason;
    if (reason == NET_QP_RETRIES_EXCEEDED)
        nic->n.req_transport_retries_exceeded++;
    else
        nic->n.req_rnr_retries_exceeded++;
    ((struct net_vertex *)node->state)->failed_qps++;
    __atomic_fetch_add(&net->failed_qps, 1, __ATOMIC_RELAXED);
}

/* ---- sending again ------------------------------------------------------------- */
void nic_count_again(struct net *net, struct sim_node *node, uint32_t qp)
{
    net->repair[qp].retransmitted_pkts++;
    ((struct net_vertex *)node->state)->retransmitted_pkts++;
}

static void wake_if_at_rest(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    uint32_t state = net->tx[qp].state;
    if (state == QP_IDLE || state == QP_BLOCKED)
        nic_wake(net, core, node, qp, now_ps);
}

/* Everything from PSN on. */
static void go_back(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    if ((int32_t)(t->next_psn - psn) <= 0 || t->rnr_wait)
        return;
    t->next_psn = psn;
    nic_seek_message(net, t);
    wake_if_at_rest(net, core, node, qp, now_ps);
}

void nic_on_nak(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    net->nic[t->port]->n.packet_seq_err++;
    if (t->failed || psn != t->una_psn)
        return; /* a later answer has overtaken it */
    nic_cc_lost(net, qp, CC_LOSS_NAK, now_ps);
    go_back(net, core, node, qp, psn, now_ps);
}

/* ---- selective repeat ------------------------------------------------------------ */
/* Moves the cursor to the next packet that is to be sent again. */
static void look_for_lost(struct net *net, uint32_t qp)
{
    struct qp_tx *t = &net->tx[qp];
    struct qp_repair *r = &net->repair[qp];
    while ((int32_t)(r->lost_psn - r->cursor_psn) > 0 && nic_bit(net, net->tx_sacked, qp, r->cursor_psn))
        r->cursor_psn++;
    t->repair = !t->failed && !t->rnr_wait && (r->head_again || (int32_t)(r->lost_psn - r->cursor_psn) > 0);
}

/* What a SACK has named is no longer under way: the window opens by it, up to what the receiver can hold. */
static void count_sacked(struct net *net, uint32_t qp, int change)
{
    struct qp_repair *r = &net->repair[qp];
    r->sacked_pkts += (uint32_t)change;
    uint64_t window = (uint64_t)r->window_pkts + r->sacked_pkts;
    net->tx[qp].window_pkts = (uint32_t)MIN(window, (uint64_t)r->span_pkts);
}

static void unsack(struct net *net, uint32_t qp, uint32_t psn)
{
    if (!nic_bit(net, net->tx_sacked, qp, psn))
        return;
    nic_bit_clear(net, net->tx_sacked, qp, psn);
    count_sacked(net, qp, -1);
}

void nic_forget_acknowledged(struct net *net, uint32_t qp, uint32_t from)
{
    const struct qp_tx *t = &net->tx[qp];
    struct qp_repair *r = &net->repair[qp];
    for (uint32_t psn = from; psn != t->una_psn; psn++)
        unsack(net, qp, psn);
    if ((int32_t)(r->cursor_psn - t->una_psn) < 0)
        r->cursor_psn = t->una_psn;
    if ((int32_t)(r->lost_psn - t->una_psn) < 0)
        r->lost_psn = t->una_psn;
    r->head_again = false;
    r->head_mark = t->next_psn; /* if the new oldest one was sent again, then before now */
    look_for_lost(net, qp);
}

struct nic_frame nic_lost_frame(struct net *net, struct sim_node *node, uint32_t qp)
{
    const struct qp_tx *t = &net->tx[qp];
    struct qp_repair *r = &net->repair[qp];
    uint32_t psn = r->head_again ? t->una_psn : r->cursor_psn++;
    r->head_again = false;
    if (psn == t->una_psn)
        r->head_mark = t->next_psn;
    nic_count_again(net, node, qp);
    look_for_lost(net, qp);
    uint32_t msg = t->una_msg;
    while ((int32_t)(net->op[msg].end_psn - psn) <= 0)
        msg = net->op[msg].next;
    int64_t bytes = net->op[msg].bytes;
    uint32_t n_pkts = net_message_pkts(net, bytes), end = net->op[msg].end_psn;
    bool first = psn == end - n_pkts, last = psn + 1 == end;
    uint32_t payload = last ? (uint32_t)(bytes - (int64_t)(n_pkts - 1) * net->mtu) : net->mtu;
    return (struct nic_frame){psn, payload, payload + net->frame_overhead + (first ? net->reth : 0),
                              PACKET_AGAIN | (last ? PACKET_LAST : 0)};
}

void nic_on_sack(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    struct qp_repair *r = &net->repair[qp];
    uint32_t tolerance = net->nic[t->port]->tolerance_pkts;
    bool was_repairing = t->repair;
    if (t->failed || !t->selective || (int32_t)(psn - t->una_psn) < 0 || (int32_t)(psn - t->max_psn) >= 0)
        return; /* acknowledged meanwhile */
    if (!nic_bit(net, net->tx_sacked, qp, psn))
        count_sacked(net, qp, 1);
    nic_bit_set(net, net->tx_sacked, qp, psn);
    if ((int32_t)(psn - tolerance - r->lost_psn) > 0)
        r->lost_psn = psn - tolerance;
    bool head_was_sent_again = (int32_t)(r->cursor_psn - t->una_psn) > 0;
    if (head_was_sent_again && (int32_t)(psn - r->head_mark - tolerance) >= 0)
        r->head_again = true;
    look_for_lost(net, qp);
    if (t->repair && !was_repairing)
        nic_cc_lost(net, qp, CC_LOSS_NAK, now_ps);
    if (t->repair || t->state == QP_BLOCKED) /* a SACK opens the window, too */
        wake_if_at_rest(net, core, node, qp, now_ps);
}

/* All that is under way and has no SACK counts as lost; the oldest one in any case, since it has not been acknowledged. */
static void lose_all(struct net *net, uint32_t qp)
{
    struct qp_tx *t = &net->tx[qp];
    struct qp_repair *r = &net->repair[qp];
    unsack(net, qp, t->una_psn);
    r->cursor_psn = t->una_psn;
    r->lost_psn = t->next_psn;
    r->head_again = false;
    look_for_lost(net, qp);
}

/* ---- timeouts ---------------------------------------------------------------------- */
static sim_ps timeout_ps(const struct nic_port *nic, uint32_t retries)
{
    sim_ps ps = nic->adaptive_ps;
    if (ps == 0)
        return nic->timeout_ps;
    while (retries-- > 0 && ps < nic->timeout_ps)
        ps *= 2;
    return MIN(ps, nic->timeout_ps);
}

static void set_timer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps due_ps)
{
    net->tx[qp].timeout_armed = true;
    net->repair[qp].timer_ps = due_ps;
    sim_timer_add(core, node, due_ps, NET_TIMER(TIMER_TIMEOUT, qp));
}

void nic_timeout_arm(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    const struct nic_port *nic = net->nic[t->port];
    if (nic->timeout_ps == 0)
        return;
    t->progress_ps = now_ps;
    set_timer(net, core, node, qp, now_ps + timeout_ps(nic, t->retries));
}

void nic_recovered(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    t->retries = 0;
    sim_ps due_ps = now_ps + timeout_ps(net->nic[t->port], 0);
    if (t->timeout_armed && due_ps < net->repair[qp].timer_ps) /* the timer that runs is a long one */
        set_timer(net, core, node, qp, due_ps);
}

/* IBTA counts retries; adaptive timeouts may take as long together as the full ones would. */
static bool gives_up(const struct nic_port *nic, const struct qp_tx *t, const struct qp_repair *r, sim_ps now_ps)
{
    if (nic->adaptive_ps == 0)
        return t->retries >= nic->retry_cnt;
    return now_ps - r->stall_ps >= nic->timeout_ps * nic->retry_cnt;
}

static void count_timeout(struct net *net, struct sim_node *node, uint32_t qp, bool full)
{
    const struct qp_tx *t = &net->tx[qp];
    struct nic_port *nic = net->nic[t->port];
    ((struct net_vertex *)node->state)->timeouts++;
    if (full) {
        nic->n.local_ack_timeout_err++;
    } else {
        nic->n.roce_adp_retrans_to++;
        nic->n.roce_adp_retrans += t->next_psn - t->una_psn;
    }
}

void nic_timeout(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    struct qp_repair *r = &net->repair[qp];
    const struct nic_port *nic = net->nic[t->port];
    if (now_ps != r->timer_ps || !t->timeout_armed)
        return; /* stale */
    t->timeout_armed = false;
    bool head_waits = t->repair && (r->head_again || r->cursor_psn == t->una_psn);
    if (t->next_psn == t->una_psn || t->failed || t->rnr_wait || head_waits)
        return; /* nothing is under way: the next packet arms it again */
    sim_ps limit_ps = timeout_ps(nic, t->retries);
    if (now_ps - t->progress_ps < limit_ps) {
        set_timer(net, core, node, qp, t->progress_ps + limit_ps);
        return;
    }
    count_timeout(net, node, qp, limit_ps == nic->timeout_ps);
    if (t->retries == 0)
        r->stall_ps = t->progress_ps;
    if (gives_up(nic, t, r, now_ps)) {
        fail_qp(net, node, qp, NET_QP_RETRIES_EXCEEDED, now_ps);
        return;
    }
    nic_cc_lost(net, qp, CC_LOSS_TIMEOUT, now_ps);
    t->retries++;
    t->progress_ps = now_ps;
    set_timer(net, core, node, qp, now_ps + timeout_ps(nic, t->retries));
    if (!t->selective) {
        go_back(net, core, node, qp, t->una_psn, now_ps);
        return;
    }
    lose_all(net, qp);
    wake_if_at_rest(net, core, node, qp, now_ps);
}

/* ---- receiver not ready --------------------------------------------------------------- */
/* IBTA volume 1, RNR NAK timer field, in units of 10 us; 0 stands for the longest. */
sim_ps nic_rnr_timer_ps(uint32_t code)
{
    static const uint16_t units[32] = {0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,   64,    96,    128,   192,
                                       256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return (code == 0 ? 65536 : units[code]) * (10 * UNIT_US);
}

void nic_on_rnr(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    struct qp_repair *r = &net->repair[qp];
    const struct nic_port *nic = net->nic[t->port], *peer = net->nic[net->rx[qp].port];
    net->nic[t->port]->n.rnr_nak_retry_err++;
    if (t->failed || t->rnr_wait || (int32_t)(psn - t->una_psn) < 0 || (int32_t)(psn - t->max_psn) >= 0)
        return; /* a late one */
    if (psn != r->rnr_psn)
        r->rnr_retries = 0;
    r->rnr_psn = psn;
    if (nic->rnr_retry != NIC_RNR_NO_LIMIT && r->rnr_retries >= nic->rnr_retry) {
        fail_qp(net, node, qp, NET_QP_RNR_RETRIES_EXCEEDED, now_ps);
        return;
    }
    if (nic->rnr_retry != NIC_RNR_NO_LIMIT)
        r->rnr_retries++;
    t->rnr_wait = true;
    t->repair = false;
    t->msg = JOB_NONE;
    if (t->state == QP_BLOCKED)
        t->state = QP_IDLE;
    if (psn != t->una_psn)
        nic_acknowledge(net, core, node, qp, psn, now_ps);
    if (!t->selective)
        t->next_psn = psn;
    sim_timer_add(core, node, now_ps + peer->rnr_wait_ps, NET_TIMER(TIMER_RNR, qp));
}

void nic_rnr_over(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    t->rnr_wait = false;
    nic_seek_message(net, t);
    if (t->selective)
        lose_all(net, qp);
    wake_if_at_rest(net, core, node, qp, now_ps);
}

/* ---- a port that died ------------------------------------------------------------------ */
/* Answers that wait at a dead port. */
static void move_control(struct net *net, struct net_vertex *v, uint32_t from, uint32_t to)
{
    for (uint32_t class = 0; class < NET_CLASSES; class++)
        while (net->port[from].nonempty >> class & 1) {
            uint32_t at = net_dequeue(&v->slab, &net->port[from], &net->queue[from][class], class);
            net_enqueue(&v->slab, &net->port[to], &net->queue[to][class], class, at, packet_bytes(v->slab.slot[at].c));
        }
}

uint32_t nic_move_qps(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t from, uint32_t to, sim_ps now_ps)
{
    struct ready_ring *ring = &net->ring[from];
    uint32_t moved = 0;
    if (ring->held != NET_NONE)
        ring_push(net, ring->held);
    ring->held = NET_NONE;
    for (uint32_t class = 0; class < NET_CLASSES; class++)
        while (ring->ready >> class & 1) {
            uint32_t qp = ring_pop(net, ring, class);
            net->tx[qp].port = to;
            ring_push(net, qp);
            moved++;
        }
    for (uint32_t q = 0; q < net->n_qps; q++) {
        if (net->tx[q].port == from) {
            net->tx[q].port = to;
            moved++;
        }
        if (net->rx[q].port == from)
            net->rx[q].port = to;
    }
    move_control(net, node->state, from, to);
    nic_kick(net, core, node, to, now_ps);
    return moved;
}
