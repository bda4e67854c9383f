/* telemetry.c - see telemetry.h. */
#include "models/telemetry.h"

#include <stdlib.h>

bool telemetry_build(struct net *net, uint32_t window_pkts, uint32_t n_hops)
{
    struct telemetry *t = net->telemetry = g_new0(struct telemetry, 1);
    t->ring = 1;
    while (t->ring < window_pkts)
        t->ring *= 2;
    t->stride = n_hops;
    t->sent_bytes = g_new0(uint32_t, MAX(net->n_ports, 1));
    t->hop = g_try_new0(struct cc_hop, (size_t)MAX(net->n_qps, 1) * t->ring * MAX(n_hops, 1)); /* pages that nobody stamps are never touched */
    return t->hop != NULL;
}

void telemetry_free(struct net *net)
{
    if (!net->telemetry)
        return;
    g_free(net->telemetry->hop);
    g_free(net->telemetry->sent_bytes);
    g_free(net->telemetry);
}

void telemetry_stamp(struct net *net, uint32_t port, const struct queue *queue, sim_ps now_ps, uint32_t a, uint32_t b, uint32_t c)
{
    struct telemetry *t = net->telemetry;
    uint32_t sent_bytes = t->sent_bytes[port];
    t->sent_bytes[port] += packet_bytes(c) + net->gap_bytes;
    if (packet_kind(c) != PACKET_DATA || (c & PACKET_AGAIN))
        return;
    struct cc_hop *hop = &t->hop[((size_t)(a >> 1) * t->ring + (b & (t->ring - 1))) * t->stride + packet_hops(c)];
    *hop = (struct cc_hop){.ts_ns = (uint32_t)(now_ps / UNIT_NS),
                           .tx_bytes = sent_bytes,
                           .queue_bytes = queue->bytes,
                           .rate_mbps = (uint32_t)(net->cold[port].rate_bps / UNIT_MBPS)};
}
