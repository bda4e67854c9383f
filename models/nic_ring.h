/* nic_ring.h - queue pairs of a NIC port that may send, by class: round robin within a class, ETS between classes.
 *
 * Part of nic.c (and its tests), for its length alone.
 */
#ifndef FABRICAST_MODELS_NIC_RING_H
#define FABRICAST_MODELS_NIC_RING_H

#include "models/nic.h"

static inline void ring_push(struct net *net, uint32_t qp)
{
    struct qp_tx *t = &net->tx[qp];
    struct ready_ring *ring = &net->ring[t->port];
    uint32_t class = t->class;
    t->state = QP_READY;
    t->next_ready = NET_NONE;
    if (ring->ready >> class & 1)
        net->tx[ring->tail[class]].next_ready = qp;
    else
        ring->head[class] = qp;
    ring->tail[class] = qp;
    ring->ready = (uint16_t)(ring->ready | 1u << class);
}

static inline uint32_t ring_pop(struct net *net, struct ready_ring *ring, uint32_t class)
{
    uint32_t qp = ring->head[class];
    ring->head[class] = net->tx[qp].next_ready;
    if (ring->head[class] == NET_NONE)
        ring->ready = (uint16_t)(ring->ready & ~(1u << class));
    return qp;
}

/* Frame that a queue pair will send next; one that is sent again counts as a full one. */
static inline uint32_t ring_next_bytes(const struct net *net, const struct qp_tx *t)
{
    uint32_t overhead = net->frame_overhead + (t->next_psn == t->msg_first ? net->reth : 0);
    return overhead + (t->next_psn + 1 == t->msg_end && !t->repair ? t->msg_tail_bytes : net->mtu);
}

/* Which of several READY classes sends (ETS): the highest strict one, else by deficit round robin. A quantum is the
 * largest frame. */
static inline uint32_t ring_pick_class(struct net *net, uint32_t p, uint32_t ready)
{
    struct nic_port *nic = net->nic[p];
    struct ready_ring *ring = &net->ring[p];
    uint32_t strict = ready & nic->strict_mask;
    if (strict)
        return 31 - (uint32_t)__builtin_clz(strict);
    int64_t quantum = net->mtu + net->frame_overhead + net->reth;
    for (uint32_t class = ring->turn;;) {
        if (!(ready >> class & 1)) {
            nic->deficit[class] = 0;
        } else {
            int64_t bytes = ring_next_bytes(net, &net->tx[ring->head[class]]);
            if (nic->deficit[class] >= bytes) {
                nic->deficit[class] -= bytes;
                return class;
            }
        }
        class = (class + 1) % NET_CLASSES; /* its turn is over; the next one's begins */
        if (ready >> class & 1)
            nic->deficit[class] += quantum * nic->weight[class];
        ring->turn = (uint16_t)class;
    }
}

#endif
