/* telemetry.h - in-band telemetry beside the packets: one cc_hop for each link that a packet has left.
 *
 *   hop[((queue pair x ring) + (PSN mod ring)) x stride + links passed]
 *
 * On the wire these bytes ride on the packet and come back on its ACK; here the sender reads them where the ports
 * wrote them (ADR 0012). That holds because a slot is written again only when its packet has been acknowledged: the ring
 * has room for the largest window, packets that are sent again are not stamped, and a queue pair keeps to one path.
 * Each slot has one writer at a time, and its reader runs at least one window of the engine later.
 */
#ifndef FABRICAST_MODELS_TELEMETRY_H
#define FABRICAST_MODELS_TELEMETRY_H

#include "models/net_priv.h"

struct telemetry {
    struct cc_hop *hop;
    uint32_t *sent_bytes;  /* [port]: on the wire so far; wraps */
    uint32_t ring, stride; /* ring: a power of two */
};

/* For windows of at most WINDOW_PKTS and paths of at most N_HOPS links; false: no memory. */
bool telemetry_build(struct net *net, uint32_t window_pkts, uint32_t n_hops);
void telemetry_free(struct net *net);
/* A frame starts on the wire of PORT; QUEUE is the one it has left, NULL for pause frames. */
void telemetry_stamp(struct net *net, uint32_t port, const struct queue *queue, sim_ps now_ps, uint32_t a, uint32_t b, uint32_t c);

/* What the ports wrote of packet PSN. */
static inline const struct cc_hop *telemetry_of(const struct net *net, uint32_t qp, uint32_t psn)
{
    const struct telemetry *t = net->telemetry;
    return &t->hop[((size_t)qp * t->ring + (psn & (t->ring - 1))) * t->stride];
}

#endif
