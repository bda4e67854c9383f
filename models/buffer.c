/* buffer.c - headroom rules; the per-packet part is inline in buffer.h. */
#include "models/buffer.h"

int64_t buffer_headroom_needed_bytes(const struct buffer_headroom_terms *t, int64_t rate_bps, sim_ps cable_ps)
{
    int64_t gap_bytes = t->link->preamble_ifg_bytes;
    sim_ps flight_ps = 2 * (cable_ps + t->link->fec_latency_ps) + t->pfc->response_ps + t->switching->latency_ps;
    /* The frame that crosses the threshold is in headroom already; the pause waits for our frame on the wire and for
     * pauses of other classes; the peer finishes a frame that it has just begun. */
    int64_t frames = 3 * (t->mtu_frame_bytes + gap_bytes) + t->n_lossless * (t->link->pfc_frame_bytes + gap_bytes);
    return units_bytes_in(flight_ps, rate_bps) + 1 + frames;
}

int64_t buffer_headroom_bytes(const struct buffer_headroom_terms *t, int64_t rate_bps, sim_ps cable_ps)
{
    switch (t->buffer->headroom_rule) {
    case BUFFER_HEADROOM_FIXED:
        return t->buffer->headroom_bytes;
    case BUFFER_HEADROOM_RATE_DELAY:
        return (int64_t)(t->buffer->headroom_factor * (double)units_bytes_in(cable_ps, rate_bps));
    default:
        return buffer_headroom_needed_bytes(t, rate_bps, cable_ps);
    }
}
