/* core.h - the event engine: windows over nodes.
 *
 * A model is a set of nodes joined by channels. A channel is a one-way lane that
 * delivers records to one node, each not earlier than the lookahead W after it
 * was sent. Time advances in windows [w*W, (w+1)*W): inside one, no node can
 * influence another, so nodes run in any order and on any thread with the same
 * result. A node runs its arrivals and timers of the window in the order
 *
 *     (time, arrivals before soon before timers, channel and order in it | what | timer id)
 *
 * where the channel that comes first is drawn anew for each window (ADR 0002).
 *
 *   channel c:  bucket[slot][c] -> records[]      slot = window mod n_slots
 *               the writer fills slots of later windows, the reader empties the
 *               slot of this one: never the same bucket, so growth needs no lock
 *   node n:     channels [first, first + n) ; timers in a heap of its own, and a second heap
 *               of eight-byte entries for what is due within a frame's time ("soon")
 *
 * The model supplies one function a node class that runs a node through a
 * window; it is a two-line wrapper around SIM_NODE_RUN below, which the compiler
 * inlines together with the model's two handlers.
 */
#ifndef FABRICAST_SIM_CORE_H
#define FABRICAST_SIM_CORE_H

#include "sim/units.h"
#include <stdbool.h>
#include <stdint.h>

/* What travels: a time and three words that only the model understands. */
struct sim_record {
    uint32_t off_ps; /* arrival, from the start of its window */
    uint32_t a, b, c;
};

/* Lower half of c: the larger goes first at equal times (for frames: their size, so the one that began earlier). */
#define SIM_RECORD_WEIGHT(c) ((c)&0xffffu)

/* Records of one channel and window: two cache lines, and a spill array when there are more. */
#define SIM_BUCKET_INLINE 7
struct sim_bucket {
    uint32_t n, cap; /* cap: of more */
    struct sim_record *more;
    struct sim_record rec[SIM_BUCKET_INLINE];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct sim_bucket) == 128, "two cache lines");

static inline const struct sim_record *sim_bucket_at(const struct sim_bucket *bucket, uint32_t i)
{
    return i < SIM_BUCKET_INLINE ? &bucket->rec[i] : &bucket->more[i - SIM_BUCKET_INLINE];
}

/* A timer: id orders equal times and tells the model what is due. */
struct sim_timer {
    sim_ps t_ps;
    uint64_t id;
};

struct sim_node {
    uint64_t *soon;         /* 4-ary min-heap: (t - soon_base_ps) << 32 | what; see sim_soon_add() */
    uint32_t n_soon, cap_soon;
    sim_ps soon_base_ps;    /* start of the window that ran last */
    sim_ps next_soon_ps;    /* time of soon[0], SIM_PS_MAX if there is none */
    sim_ps next_timer_ps;   /* heap[0].t_ps, SIM_PS_MAX if there is none */
    sim_ps next_own_ps;     /* the earlier of both */
    struct sim_timer *heap; /* 4-ary min-heap on (t_ps, id) */
    uint32_t n_timers, cap_timers;
    uint32_t first_channel, n_channels;
    uint64_t digest;
    uint64_t n_events;
    void *state;      /* the model's node */
    uint8_t class;    /* index of the run function */
    bool top_is_free; /* heap[0] is being handled: the next push may replace it */
    bool soon_is_free;/* the same for soon[0] */
};

#define SIM_KEY_TIME 33

/* Per-thread workspace for the arrivals of one node in one window. */
struct sim_scratch {
    uint64_t *key, *key2; /* off_ps << SIM_KEY_TIME | how little it weighs | position */
    uint64_t at_mask;     /* the position in a key */
    struct sim_record *rec;
    uint32_t *channel;
    uint32_t n, cap;
};

struct sim_ahead { struct sim_bucket *buckets; uint16_t *flags; };

struct sim_core;
typedef void (*sim_run_fn)(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch);
/* Called by one thread before each window that has work (and once at the end), when all events before NOW_PS and
 * none after it have run. Returns false to end the run. */
typedef bool (*sim_window_fn)(void *user, sim_ps now_ps);

#define SIM_MAX_CLASSES 8

struct sim_core {
    struct sim_node *nodes;
    uint32_t n_nodes, n_channels;
    sim_ps window_ps;      /* W */
    sim_ps start_ps;       /* of the current window */
    uint32_t slot;         /* of the current window */
    uint32_t n_slots;      /* windows that may hold records at a time */
    struct sim_bucket *buckets; /* [n_slots][n_channels] */
    uint16_t *has_arrivals;     /* [n_slots][stride]; not bytes: a byte store would make the compiler reload everything */
    uint32_t flag_stride;
    sim_ps *wake_ps;            /* per node: earliest timer or soon, SIM_PS_MAX if none */
    struct sim_ahead *ahead;    /* [n_slots]: where sends that arrive so many windows from now go */
    uint32_t *due;              /* nodes to run in this window */
    uint32_t n_due;
    sim_run_fn run[SIM_MAX_CLASSES];
    sim_window_fn on_window;
    void *on_window_user;
    void *model; /* the model's global state */
    int n_threads;
    struct sim_scratch *scratch; /* per thread */
    uint64_t n_windows;
    uint64_t n_growths; /* heap allocations made while running (tests hold it at 0 in the steady state) */
};

/* W and the longest time from sending to arrival on any channel must be known. CHANNEL_OF_NODE gives the first
 * channel of each node (n_nodes + 1 entries: node i is read by channels [c[i], c[i+1])). Free with sim_core_free(). */
struct sim_core *sim_core_new(uint32_t n_nodes, const uint32_t *channel_of_node, sim_ps lookahead_ps,
                              sim_ps longest_ps);
void sim_core_free(struct sim_core *core);

/* Runs until no node has work, ON_WINDOW returns false, or the next window starts at or after UNTIL_PS.
 * N_THREADS >= 1. May be called again to go on. */
void sim_core_run(struct sim_core *core, sim_ps until_ps, int n_threads);
/* Earliest pending time over all nodes and channels (a lower bound: window granularity), SIM_PS_MAX if none. */
sim_ps sim_core_next_ps(const struct sim_core *core);
/* (time, node, kind) of every event executed so far, folded. */
uint64_t sim_core_digest(const struct sim_core *core);
uint64_t sim_core_events(const struct sim_core *core);
/* Heap allocations made by the engine and by sim_grow() while running. */
uint64_t sim_core_growths(const struct sim_core *core);

/* Grows *ARRAY (elements of SIZE bytes) to at least NEED elements, doubling; counts. Aborts when memory is exhausted. */
void sim_grow(struct sim_core *core, void *array, uint32_t *cap, uint32_t need, size_t size);
/* Zeroed memory for N elements of SIZE bytes, aligned to cache lines, or to huge pages where it is large: a big fabric is
 * walked in no order that a small-page TLB could follow. Aborts when memory is exhausted. Free with free(). */
void *sim_alloc_large(size_t n, size_t size);
/* Room for one more record in a bucket whose lines are full. */
struct sim_record *sim_bucket_spill(struct sim_core *core, struct sim_bucket *bucket);
void sim_gather(struct sim_core *core, const struct sim_node *node, struct sim_scratch *scratch);

/* ---- timers -------------------------------------------------------------- */
static inline bool sim_timer_before(const struct sim_timer *x, const struct sim_timer *y)
{
    return x->t_ps < y->t_ps || (x->t_ps == y->t_ps && x->id < y->id);
}

static inline void sim_heap_down(struct sim_timer *heap, uint32_t n, struct sim_timer t)
{
    uint32_t i = 0;
    for (;;) {
        uint32_t first = 4 * i + 1;
        if (first >= n)
            break;
        uint32_t last = first + 4 < n ? first + 4 : n, best = first;
        for (uint32_t c = first + 1; c < last; c++)
            if (sim_timer_before(&heap[c], &heap[best]))
                best = c;
        if (!sim_timer_before(&heap[best], &t))
            break;
        heap[i] = heap[best];
        i = best;
    }
    heap[i] = t;
}

static inline void sim_set_next_timer(struct sim_node *node, sim_ps t_ps)
{
    node->next_timer_ps = t_ps;
    node->next_own_ps = t_ps < node->next_soon_ps ? t_ps : node->next_soon_ps;
}

static inline void sim_set_next_soon(struct sim_node *node, sim_ps t_ps)
{
    node->next_soon_ps = t_ps;
    node->next_own_ps = t_ps < node->next_timer_ps ? t_ps : node->next_timer_ps;
}

static inline void sim_timer_add(struct sim_core *core, struct sim_node *node, sim_ps t_ps, uint64_t id)
{
    struct sim_timer t = {t_ps, id};
    if (node->top_is_free) {
        node->top_is_free = false;
        sim_heap_down(node->heap, node->n_timers, t);
        sim_set_next_timer(node, node->heap[0].t_ps);
        return;
    }
    if (node->n_timers == node->cap_timers)
        sim_grow(core, &node->heap, &node->cap_timers, node->n_timers + 1, sizeof t);
    uint32_t i = node->n_timers++;
    while (i > 0) {
        uint32_t up = (i - 1) / 4;
        if (!sim_timer_before(&t, &node->heap[up]))
            break;
        node->heap[i] = node->heap[up];
        i = up;
    }
    node->heap[i] = t;
    sim_set_next_timer(node, node->heap[0].t_ps);
}

static inline void sim_timer_pop(struct sim_node *node)
{
    node->n_timers--;
    if (node->n_timers > 0)
        sim_heap_down(node->heap, node->n_timers, node->heap[node->n_timers]);
    sim_set_next_timer(node, node->n_timers ? node->heap[0].t_ps : SIM_PS_MAX);
}

/* ---- soon: what is due less than 2^31 ps after the window's start ------------ */
#define SIM_SOON_MAX_PS ((sim_ps)INT32_MAX)

static inline void sim_soon_down(uint64_t *heap, uint32_t n, uint64_t key)
{
    uint32_t i = 0;
    for (;;) {
        uint32_t first = 4 * i + 1;
        if (first >= n)
            break;
        uint32_t last = first + 4 < n ? first + 4 : n, best = first;
        for (uint32_t c = first + 1; c < last; c++)
            best = heap[c] < heap[best] ? c : best;
        if (heap[best] >= key)
            break;
        heap[i] = heap[best];
        i = best;
    }
    heap[i] = key;
}

/* WHAT is handled at T_PS, which must lie in [now, start of this window + SIM_SOON_MAX_PS]. No cancelling. */
static inline void sim_soon_add(struct sim_core *core, struct sim_node *node, sim_ps t_ps, uint32_t what)
{
    uint64_t key = (uint64_t)(t_ps - core->start_ps) << 32 | what;
    if (node->soon_is_free) {
        node->soon_is_free = false;
        sim_soon_down(node->soon, node->n_soon, key);
        sim_set_next_soon(node, core->start_ps + (sim_ps)(node->soon[0] >> 32));
        return;
    }
    if (__builtin_expect(node->n_soon == node->cap_soon, 0))
        sim_grow(core, &node->soon, &node->cap_soon, node->n_soon + 1, sizeof key);
    uint32_t i = node->n_soon++;
    while (i > 0) {
        uint32_t up = (i - 1) / 4;
        if (node->soon[up] <= key)
            break;
        node->soon[i] = node->soon[up];
        i = up;
    }
    node->soon[i] = key;
    if (t_ps < node->next_soon_ps)
        sim_set_next_soon(node, t_ps);
}

static inline void sim_soon_pop(struct sim_core *core, struct sim_node *node)
{
    if (--node->n_soon > 0)
        sim_soon_down(node->soon, node->n_soon, node->soon[node->n_soon]);
    sim_set_next_soon(node, node->n_soon ? core->start_ps + (sim_ps)(node->soon[0] >> 32) : SIM_PS_MAX);
}

/* Entries are relative to the window in which the node ran last. */
static inline void sim_soon_rebase(struct sim_core *core, struct sim_node *node)
{
    uint64_t passed = (uint64_t)(core->start_ps - node->soon_base_ps) << 32;
    for (uint32_t i = 0; i < node->n_soon; i++)
        node->soon[i] -= passed;
    node->soon_base_ps = core->start_ps;
}

/* ---- channels ------------------------------------------------------------ */
/* Sends a record that arrives at T_PS (>= start of this window + W) on CHANNEL, which TO_NODE reads. */
static inline void sim_send(struct sim_core *core, uint32_t channel, uint32_t to_node, sim_ps t_ps, uint32_t a,
                            uint32_t b, uint32_t c)
{
    const sim_ps window_ps = core->window_ps;
    sim_ps off = t_ps - core->start_ps - window_ps;
    uint32_t ahead = 1 + (off >= window_ps);
    off -= off >= window_ps ? window_ps : 0;
    while (__builtin_expect(off >= window_ps, 0)) {
        off -= window_ps;
        ahead++;
    }
    struct sim_bucket *bucket = &core->ahead[ahead].buckets[channel];
    struct sim_record *rec = __builtin_expect(bucket->n < SIM_BUCKET_INLINE, 1) ? &bucket->rec[bucket->n]
                                                                                : sim_bucket_spill(core, bucket);
    bucket->n++;
    *rec = (struct sim_record){(uint32_t)off, a, b, c};
    uint16_t *flag = &core->ahead[ahead].flags[to_node];
    if (!__atomic_load_n(flag, __ATOMIC_RELAXED))
        __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

/* Asks for the lines that the next sends on CHANNEL will write. */
static inline void sim_prefetch_channel(const struct sim_core *core, uint32_t channel)
{
    __builtin_prefetch(&core->ahead[1].buckets[channel], 1);
    __builtin_prefetch(&core->ahead[2].buckets[channel], 1);
}

static inline void sim_digest(struct sim_node *node, sim_ps t_ps, uint32_t kind)
{
    node->digest = (node->digest ^ ((uint64_t)t_ps + ((uint64_t)kind << 56))) * UINT64_C(0x9e3779b97f4a7c15);
    node->digest ^= node->digest >> 29;
}

/* Body of a run function. ON_ARRIVAL(core, node, channel - first_channel, const struct sim_record *, now_ps),
 * ON_SOON(core, node, what, now_ps), ON_TIMER(core, node, id, now_ps) and PREFETCH(core, node, const struct
 * sim_record *), called some arrivals ahead, are names of static inline functions. */
#define SIM_PREFETCH_AHEAD 4
#define SIM_NODE_RUN(core, node, scratch, ON_ARRIVAL, ON_SOON, ON_TIMER, PREFETCH)                              \
    do {                                                                                                        \
        const sim_ps start_ = (core)->start_ps, end_ = start_ + (core)->window_ps;                              \
        sim_soon_rebase((core), (node));                                                                        \
        sim_gather((core), (node), (scratch));                                                                  \
        const uint32_t n_ = (scratch)->n;                                                                       \
        const uint64_t *const key_ = (scratch)->key, mask_ = (scratch)->at_mask;                                \
        const struct sim_record *const rec_ = (scratch)->rec;                                                   \
        const uint32_t *const channel_ = (scratch)->channel;                                                    \
        uint32_t own_events_ = 0, i_ = 0;                                                                       \
        for (;;) {                                                                                              \
            /* The key behind the last one lies beyond any window. */                                           \
            sim_ps arrival_ = start_ + (sim_ps)(key_[i_] >> SIM_KEY_TIME), own_ = (node)->next_own_ps;          \
            if (arrival_ <= own_) {                                                                             \
                if (arrival_ >= end_)                                                                           \
                    break;                                                                                      \
                uint32_t at_ = (uint32_t)(key_[i_] & mask_);                                                    \
                if (i_ + SIM_PREFETCH_AHEAD < n_)                                                               \
                    PREFETCH((core), (node), &rec_[(uint32_t)(key_[i_ + SIM_PREFETCH_AHEAD] & mask_)]);         \
                i_++;                                                                                           \
                ON_ARRIVAL((core), (node), channel_[at_], &rec_[at_], arrival_);                                \
                continue;                                                                                       \
            }                                                                                                   \
            if (own_ >= end_)                                                                                   \
                break;                                                                                          \
            own_events_++;                                                                                      \
            if (__builtin_expect((node)->next_soon_ps <= (node)->next_timer_ps, 1)) {                           \
                (node)->soon_is_free = true;                                                                    \
                ON_SOON((core), (node), (uint32_t)(node)->soon[0], own_);                                       \
                if ((node)->soon_is_free) {                                                                     \
                    (node)->soon_is_free = false;                                                               \
                    sim_soon_pop((core), (node));                                                               \
                }                                                                                               \
            } else {                                                                                            \
                (node)->top_is_free = true;                                                                     \
                ON_TIMER((core), (node), (node)->heap[0].id, own_);                                             \
                if ((node)->top_is_free) {                                                                      \
                    (node)->top_is_free = false;                                                                \
                    sim_timer_pop((node));                                                                      \
                }                                                                                               \
            }                                                                                                   \
        }                                                                                                       \
        (node)->n_events += i_ + own_events_;                                                                   \
    } while (0)

#endif
