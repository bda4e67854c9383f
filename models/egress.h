/* egress.h - what an egress port of any switch does with its frames, Ethernet's or InfiniBand's. Part of switch.c and
 * ib_switch.c.
 */
#ifndef FABRICAST_MODELS_EGRESS_H
#define FABRICAST_MODELS_EGRESS_H

#include "models/net_priv.h"

/* Puts a frame on the wire of a port that is free. */
static inline void egress_transmit(struct net *net, struct sim_core *core, struct sim_node *node, struct port_hot *port,
                                   uint32_t p, struct queue *queue, sim_ps now_ps, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t bytes = packet_bytes(c);
    sim_ps wire_ps = net_wire(net, port, bytes);
    sim_ps seen_ps = net_seen_after(port, bytes, wire_ps);
    port->busy_until_ps = now_ps + wire_ps;
    queue->tx_bytes += bytes + net->gap_bytes;
    if (__builtin_expect(packet_kind(c) == PACKET_CNP, 0))
        net->cold[p].tx_cnp_pkts++;
    queue->tx_pkts[packet_kind(c) != PACKET_DATA]++;
    if (__builtin_expect(port->profile->special, 0) && !special_transmit(net, core, node, p, queue, now_ps, a, b, c))
        return;
    sim_send(core, port->channel, port->peer_node, now_ps + seen_ps + port->data_latency_ps, a, b, c);
}

/* Of READY the classes whose first frame is all in (behind a slower cut-through ingress it may not be). If there is none,
 * the port looks again when the first one is; pause frames may go meanwhile. */
static inline uint32_t egress_complete_heads(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v,
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

/* Time at which the last bit is in, for an egress that is faster than the cut-through ingress. */
static inline sim_ps egress_ready_at(const struct net *net, const struct net_vertex *v, const struct port_hot *in,
                                     const struct port_hot *out, uint32_t bytes, sim_ps now_ps)
{
    if (!net->mixed_cut_through || out->ps_per_byte_q16 >= in->ps_per_byte_q16 || v->cut_bytes == 0 || bytes <= v->cut_bytes)
        return 0;
    return now_ps + net_wire(net, in, bytes) - net_wire(net, in, v->cut_bytes);
}

/* CLASS: queue of egress PORT, or priority group of ingress PORT. */
static inline void egress_count_drop(struct net *net, struct net_vertex *v, uint32_t port, uint32_t class, uint32_t c,
                                     bool lossless)
{
    struct port_cold *cold = &net->cold[port];
    struct ledger *ledger = &v->ledger[packet_code(c)];
    ledger->dropped_pkts++;
    ledger->dropped_bytes += packet_bytes(c);
    v->lossless_drops += lossless;
    cold->drop_pkts[class]++;
    cold->drop_bytes[class] += packet_bytes(c);
    cold->lossless_drop_pkts += lossless;
}

#endif
