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

void buffer_headroom_parts(const struct buffer_headroom_terms *t, int64_t rate_bps, sim_ps cable_ps,
                           struct buffer_headroom_parts *parts)
{
    int64_t gap_bytes = t->link->preamble_ifg_bytes;
    *parts = (struct buffer_headroom_parts){.cable_ps = cable_ps,
                                            .fec_ps = t->link->fec_latency_ps,
                                            .response_ps = t->pfc->response_ps,
                                            .pipeline_ps = t->switching->latency_ps,
                                            .frame_bytes = t->mtu_frame_bytes + gap_bytes,
                                            .pause_bytes = t->link->pfc_frame_bytes + gap_bytes,
                                            .n_frames = 3, /* see below */
                                            .n_pauses = t->n_lossless,
                                            .cell_ratio = t->buffer->cell_bytes > 1 ? cell_factor(t) : 1};
    /* The frame that crosses the threshold is in headroom already; the pause waits for our frame on the wire and for
     * pauses of other classes; the peer finishes a frame that it has just begun. */
    sim_ps flight_ps = 2 * (cable_ps + parts->fec_ps) + parts->response_ps + parts->pipeline_ps;
    parts->flight_bytes = units_bytes_in(flight_ps, rate_bps) + 1;
    parts->wire_bytes = parts->flight_bytes + parts->n_frames * parts->frame_bytes + parts->n_pauses * parts->pause_bytes;
    parts->total_bytes = parts->cell_ratio > 1 ? (int64_t)((double)parts->wire_bytes * parts->cell_ratio) + t->buffer->cell_bytes
                                               : parts->wire_bytes;
}

int64_t buffer_headroom_needed_bytes(const struct buffer_headroom_terms *t, int64_t rate_bps, sim_ps cable_ps)
{
    struct buffer_headroom_parts parts;
    buffer_headroom_parts(t, rate_bps, cable_ps, &parts);
    return parts.total_bytes;
}

double buffer_small_frame_ratio(int64_t cell_bytes)
{
    const int64_t smallest = 64; /* IEEE 802.3: minimum frame */
    if (cell_bytes <= 1)
        return 1;
    if (cell_bytes > 2 * smallest)
        return (double)((cell_bytes + smallest - 1) / smallest);
    return (double)((2 * cell_bytes + cell_bytes) / (1 + cell_bytes)); /* rounded up */
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
