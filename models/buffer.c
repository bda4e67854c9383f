/* buffer.c - headroom rules; the per-packet part is inline in buffer.h. */
#include "models/buffer.h"

static int64_t physical_headroom(const struct pfc_params *pfc, const struct link_params *link, int64_t frame_bytes,
                                 int64_t rate_bps, sim_ps cable_ps)
{
    sim_ps flight_ps = 2 * (cable_ps + link->fec_latency_ps) + pfc->response_ps;
    /* The pause waits for our frame on the wire, the peer finishes one that it has just begun. */
    int64_t frames = 2 * (frame_bytes + link->preamble_ifg_bytes) + link->pfc_frame_bytes + link->preamble_ifg_bytes;
    return units_bytes_in(flight_ps, rate_bps) + 1 + frames;
}

int64_t buffer_headroom_bytes(const struct buffer_params *buffer, const struct pfc_params *pfc,
                              const struct link_params *link, int64_t mtu_frame_bytes, int64_t rate_bps, sim_ps cable_ps)
{
    switch (buffer->headroom_rule) {
    case BUFFER_HEADROOM_FIXED:
        return buffer->headroom_bytes;
    case BUFFER_HEADROOM_RATE_DELAY:
        return (int64_t)(buffer->headroom_factor * (double)units_bytes_in(cable_ps, rate_bps));
    default:
        return physical_headroom(pfc, link, mtu_frame_bytes, rate_bps, cable_ps);
    }
}
