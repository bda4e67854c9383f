/* ring.c - all-reduce, reduce-scatter and all-gather around a ring.
 *
 * Every position sends to the next one in each step the piece that it received in
 * the step before. All-reduce is a reduce-scatter (n-1 steps, receives reduce)
 * followed by an all-gather (n-1 steps, receives replace) without a gap. Different
 * starting pieces make reduce-scatter end with piece p on position p.
 */
#include "models/collective/collective_priv.h"

uint32_t collective_ring_offset(const struct collective_spec *spec)
{
    return spec->kind == JOB_REDUCE_SCATTER ? spec->n_ranks - 1 : 0;
}

static uint32_t seat(const struct expansion *x, uint32_t channel, uint32_t k)
{
    return x->rail_aligned ? collective_seat(x->spec, channel, k) : k;
}

/* The position at seat K of CHANNEL's ring sends to the next in STEP. GOT: first op of what it received in the step
 * before. */
static uint32_t send_on(struct expansion *x, uint32_t step, uint32_t k, uint32_t channel, uint32_t got)
{
    const struct collective_spec *spec = x->spec;
    uint32_t n = spec->n_ranks;
    uint32_t p = seat(x, channel, k);
    uint32_t j = seat(x, channel, (uint32_t)(((uint64_t)k + collective_ring_offset(spec) + 2 * (uint64_t)n - step) % n));
    struct transfer t = {
        .from = p,
        .to = seat(x, channel, (k + 1) % n),
        .channel = channel,
        .piece = channel * n + j,
        .bytes = collective_piece_bytes(spec, channel, j),
        .reduces = spec->kind != JOB_ALL_GATHER && step < n - 1,
        .by_slice = step > 0,
        .after = step > 0 ? got + TRANSFER_RECV : x->start[p],
    };
    return expansion_add(x, &t);
}

void expand_ring(struct expansion *x)
{
    uint32_t n = x->spec->n_ranks, channels = x->spec->channels;
    g_autofree uint32_t *got = g_new0(uint32_t, (gsize)n * channels);
    g_autofree uint32_t *next = g_new0(uint32_t, (gsize)n * channels);
    for (uint32_t step = 0; step < collective_steps(x->spec); step++) {
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t c = 0; c < channels; c++)
                next[(gsize)((p + 1) % n) * channels + c] = send_on(x, step, p, c, got[(gsize)p * channels + c]);
        uint32_t *swap = got;
        got = next;
        next = swap;
    }
}
