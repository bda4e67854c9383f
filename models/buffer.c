/* buffer.c - headroom rules; the per-packet part is inline in buffer.h. */
#include "models/buffer.h"

/* Bytes that a byte on the wire may take in whole cells: the worst of full frames and of answers, at least 1. */
static double cell_factor(const struct buffer_headroom_terms *t)
{
    double worst = 1;
    const int64_t frames[] = {t->mtu_frame_bytes, t->link->ack_frame_bytes, t->link->cnp_frame_bytes};
    for (size_t i = 0; i < G_N_ELEMENTS(frames); i++) {
        int64_t cells = (frames[i] + t->buffer->cell_overhead_bytes + t->buffer->cell_bytes - 1) / t->buffer->cell_bytes;
        worst = MAX(worst, (double)(cells * t->buffer->cell_bytes) / (double)(frames[i] + t->link->preamble_ifg_bytes));
    }
    return worst;
}

int64_t buffer_headroom_needed_bytes(const struct buffer_headroom_terms *t, int64_t rate_bps, sim_ps cable_ps)
{
    int64_t gap_bytes = t->link->preamble_ifg_bytes;
    sim_ps flight_ps = 2 * (cable_ps + t->link->fec_latency_ps) + t->pfc->response_ps + t->switching->latency_ps;
    /* The frame that crosses the threshold is in headroom already; the pause waits for our frame on the wire and for
     * pauses of other classes; the peer finishes a frame that it has just begun. */
    int64_t frames = 3 * (t->mtu_frame_bytes + gap_bytes) + t->n_lossless * (t->link->pfc_frame_bytes + gap_bytes);
    int64_t bytes = units_bytes_in(flight_ps, rate_bps) + 1 + frames;
    double factor = t->buffer->cell_bytes > 1 ? cell_factor(t) : 1;
    return factor > 1 ? (int64_t)((double)bytes * factor) + t->buffer->cell_bytes : bytes;
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
