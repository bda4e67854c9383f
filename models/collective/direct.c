/* direct.c - collectives without relays: pairs, chains to or from a root, barrier.
 *
 * Rank r sends to r+1, r+2, ... so that no receiver is everybody's first. The chain
 * of broadcast and reduce is the ring with its last link unused.
 */
#include "models/collective/collective_priv.h"

/* The sends of one position, at most max_outstanding of them under way. */
struct outbox {
    struct expansion *x;
    uint32_t first_after; /* what the first sends wait for */
    GArray *last_sends;   /* uint32_t: last op of each transfer so far */
};

static uint32_t outbox_gate(const struct outbox *box)
{
    uint32_t limit = box->x->spec->max_outstanding, sent = box->last_sends->len;
    return limit == 0 || sent < limit ? box->first_after : g_array_index(box->last_sends, uint32_t, sent - limit);
}

/* Returns the first op of the transfer, or JOB_NONE if it is empty. */
static uint32_t outbox_send(struct outbox *box, uint32_t from, uint32_t to, uint32_t channel, uint32_t j, bool reduces)
{
    const struct collective_spec *spec = box->x->spec;
    struct transfer t = {
        .from = from,
        .to = to,
        .channel = channel,
        .piece = channel * collective_pieces_per_channel(spec) + j,
        .bytes = collective_piece_bytes(spec, channel, j),
        .reduces = reduces,
        .after = outbox_gate(box),
    };
    uint32_t first = expansion_add(box->x, &t);
    if (first != JOB_NONE) {
        uint32_t last = job_n_ops(box->x->job) - TRANSFER_STRIDE;
        g_array_append_val(box->last_sends, last);
    }
    return first;
}

/* Lets JOIN wait for all slices of the transfer that was added last, from op FIRST on. */
static void join_receives(struct expansion *x, uint32_t join, uint32_t first)
{
    for (uint32_t op = first; op < job_n_ops(x->job); op += TRANSFER_STRIDE)
        job_depend(x->job, join, op + TRANSFER_RECV);
}

/* One exchange of every position with every other one. SCATTERS: the piece sent is the receiver's
 * (reduce-scatter, all-to-all), else the sender's own (all-gather). JOINS: per position, a NOP that
 * shall wait for what the position receives; or NULL. */
static void exchange(struct expansion *x, const uint32_t *after, bool scatters, bool reduces, const uint32_t *joins)
{
    uint32_t n = x->spec->n_ranks;
    for (uint32_t p = 0; p < n; p++) {
        struct outbox box = {x, after[p], g_array_new(FALSE, FALSE, sizeof(uint32_t))};
        for (uint32_t k = 1; k < n; k++) {
            uint32_t to = (uint32_t)(((uint64_t)p + k) % n);
            for (uint32_t c = 0; c < x->spec->channels; c++) {
                uint32_t first = outbox_send(&box, p, to, c, scatters ? to : p, reduces);
                if (joins && first != JOB_NONE)
                    join_receives(x, joins[to], first);
            }
        }
        g_array_unref(box.last_sends);
    }
}

static void direct_all_reduce(struct expansion *x)
{
    uint32_t n = x->spec->n_ranks;
    g_autofree uint32_t *reduced = g_new(uint32_t, n);
    for (uint32_t p = 0; p < n; p++) {
        reduced[p] = job_add_nop(x->job, x->spec->ranks[p], x->index);
        job_depend(x->job, reduced[p], x->start[p]);
    }
    exchange(x, x->start, true, true, reduced);
    exchange(x, reduced, false, false, NULL);
}

void expand_direct(struct expansion *x)
{
    enum job_collective_kind kind = x->spec->kind;
    if (kind == JOB_ALL_REDUCE)
        direct_all_reduce(x);
    else
        exchange(x, x->start, kind != JOB_ALL_GATHER, kind == JOB_REDUCE_SCATTER, NULL);
}

/* ---- broadcast, reduce, send-recv --------------------------------------------- */

static uint32_t chain_position(const struct collective_spec *spec, uint32_t place)
{
    uint32_t n = spec->n_ranks, first = spec->kind == JOB_REDUCE ? (spec->root + 1) % n : spec->root;
    return (uint32_t)(((uint64_t)first + place) % n);
}

static void expand_chain(struct expansion *x, uint32_t channel)
{
    const struct collective_spec *spec = x->spec;
    uint32_t got = JOB_NONE;
    for (uint32_t place = 0; place + 1 < spec->n_ranks; place++) {
        struct transfer t = {
            .from = chain_position(spec, place),
            .to = chain_position(spec, place + 1),
            .channel = channel,
            .piece = channel,
            .bytes = collective_piece_bytes(spec, channel, 0),
            .reduces = spec->kind == JOB_REDUCE,
            .by_slice = place > 0,
        };
        t.after = place > 0 ? got + TRANSFER_RECV : x->start[t.from];
        got = expansion_add(x, &t);
    }
}

/* Broadcast: the root to all. Reduce: all to the root. Send-recv: everybody to the next. */
static void expand_fan(struct expansion *x)
{
    const struct collective_spec *spec = x->spec;
    uint32_t n = spec->n_ranks;
    struct outbox root_box = {x, x->start[spec->root], g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    for (uint32_t k = spec->kind == JOB_SEND_RECV ? 0 : 1; k < n; k++) {
        uint32_t p = (uint32_t)(((uint64_t)spec->root + k) % n);
        struct outbox own_box = {x, x->start[p], g_array_new(FALSE, FALSE, sizeof(uint32_t))};
        for (uint32_t c = 0; c < spec->channels; c++) {
            if (spec->kind == JOB_BROADCAST)
                outbox_send(&root_box, spec->root, p, c, 0, false);
            else
                outbox_send(&own_box, p, spec->kind == JOB_REDUCE ? spec->root : (p + 1) % n, c, 0,
                            spec->kind == JOB_REDUCE);
        }
        g_array_unref(own_box.last_sends);
    }
    g_array_unref(root_box.last_sends);
}

void expand_rooted(struct expansion *x)
{
    if (!collective_is_ring(x->spec)) {
        expand_fan(x);
        return;
    }
    for (uint32_t c = 0; c < x->spec->channels; c++)
        expand_chain(x, c);
}

/* ---- barrier ------------------------------------------------------------------- */

/* Round k: everybody tells the position 2^k further that all up to it have arrived. */
void expand_barrier(struct expansion *x)
{
    uint32_t n = x->spec->n_ranks;
    g_autofree uint32_t *after = g_memdup2(x->start, sizeof(uint32_t) * n);
    g_autofree uint32_t *next = g_new(uint32_t, n);
    for (uint32_t round = 0; round < collective_steps(x->spec); round++) {
        for (uint32_t p = 0; p < n; p++) {
            uint32_t to = (uint32_t)((p + ((uint64_t)1 << round)) % n);
            struct transfer t = {.from = p, .to = to, .piece = JOB_NONE, .after = after[p]};
            next[to] = expansion_add(x, &t) + TRANSFER_RECV;
            if (round > 0) /* what came earlier counts too, or a rank would pass on half of what it knows */
                job_depend(x->job, next[to], after[to]);
        }
        uint32_t *swap = after;
        after = next;
        next = swap;
    }
}
