/* core.c - window loop, gathering of arrivals, growth. See core.h. */
#include "sim/core.h"
#include "sim/rng.h"

#include <glib.h>
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Fewer nodes than this in a window are done before a helper has noticed. */
#define MIN_DUE_FOR_THREADS 16

void sim_grow(struct sim_core *core, void *array, uint32_t *cap, uint32_t need, size_t size)
{
    uint32_t now = *cap ? *cap : 4;
    while (now < need)
        now *= 2;
    void **p = array;
    *p = g_realloc_n(*p, now, size);
    *cap = now;
    if (core)
        __atomic_fetch_add(&core->n_growths, 1, __ATOMIC_RELAXED);
}

void *sim_alloc_large(size_t n, size_t size)
{
    size_t bytes = MAX(n, 1) * size, align = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 64;
    bytes = (bytes + align - 1) / align * align;
    void *p = aligned_alloc(align, bytes);
    if (!p)
        g_error("no memory for %zu bytes", bytes);
    if (align == HUGE_PAGE_BYTES)
        madvise(p, bytes, MADV_HUGEPAGE); /* a wish: without it the run is slower, not wrong */
    memset(p, 0, bytes);
    return p;
}

struct sim_record *sim_bucket_spill(struct sim_core *core, struct sim_bucket *bucket)
{
    uint32_t i = bucket->n - SIM_BUCKET_INLINE;
    if (i == bucket->cap)
        sim_grow(core, &bucket->more, &bucket->cap, i + 1, sizeof *bucket->more);
    return &bucket->more[i];
}

/* Where sends of the current window go. */
static void look_ahead(struct sim_core *core)
{
    for (uint32_t k = 0; k < core->n_slots; k++) {
        uint32_t to = (core->slot + k) % core->n_slots;
        core->ahead[k].buckets = &core->buckets[(size_t)to * core->n_channels];
        core->ahead[k].flags = &core->has_arrivals[(size_t)to * core->flag_stride];
    }
}

struct sim_core *sim_core_new(uint32_t n_nodes, const uint32_t *channel_of_node, sim_ps lookahead_ps,
                              sim_ps longest_ps)
{
    g_assert(lookahead_ps > 0 && n_nodes > 0);
    struct sim_core *core = g_new0(struct sim_core, 1);
    core->n_nodes = n_nodes;
    core->n_channels = channel_of_node[n_nodes];
    /* Offsets inside a window are 32 bits. */
    core->window_ps = MIN(lookahead_ps, (sim_ps)INT32_MAX);
    /* A send of window w arrives in w + 1 ... w + 1 + longest / W; w itself is being read. */
    core->n_slots = MAX((uint32_t)(longest_ps / core->window_ps) + 2, 3);
    core->flag_stride = (n_nodes + 63) & ~63u;
    core->nodes = g_new0(struct sim_node, n_nodes);
    core->buckets = sim_alloc_large((size_t)core->n_slots * core->n_channels, sizeof *core->buckets);
    core->has_arrivals = g_new0(uint16_t, (size_t)core->n_slots * core->flag_stride);
    core->wake_ps = g_new(sim_ps, n_nodes);
    core->due = g_new(uint32_t, n_nodes);
    for (uint32_t i = 0; i < n_nodes; i++) {
        core->nodes[i].first_channel = channel_of_node[i];
        core->nodes[i].n_channels = channel_of_node[i + 1] - channel_of_node[i];
        core->wake_ps[i] = SIM_PS_MAX;
        core->nodes[i].next_soon_ps = core->nodes[i].next_timer_ps = core->nodes[i].next_own_ps = SIM_PS_MAX;
    }
    core->ahead = g_new0(struct sim_ahead, core->n_slots);
    look_ahead(core);
    return core;
}

static void scratch_free(struct sim_core *core)
{
    for (int t = 0; t < core->n_threads; t++) {
        g_free(core->scratch[t].key);
        g_free(core->scratch[t].key2);
        g_free(core->scratch[t].rec);
        g_free(core->scratch[t].channel);
    }
    g_free(core->scratch);
    core->scratch = NULL;
    core->n_threads = 0;
}

void sim_core_free(struct sim_core *core)
{
    if (!core)
        return;
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        g_free(core->nodes[i].heap);
        g_free(core->nodes[i].soon);
    }
    for (size_t i = 0; i < (size_t)core->n_slots * core->n_channels; i++)
        g_free(core->buckets[i].more);
    scratch_free(core);
    g_free(core->nodes);
    free(core->buckets);
    g_free(core->has_arrivals);
    g_free(core->wake_ps);
    g_free(core->due);
    g_free(core->ahead);
    g_free(core);
}

/* A key is time, then how little the record weighs, then its position. With more records than positions fit beside
 * a weight (a million in one window) the weight is left out. */
#define KEY_AT_BITS 20
#define KEY_LIGHTNESS(c) ((uint64_t)(~(c)&0xfff8u) << (KEY_AT_BITS - 3))

/* Arrivals of a window are sorted by a counting pass over a spread of their times, done while they are gathered. */
#define MAX_SPREAD_BITS 9
#define FEW_ARRIVALS 12 /* sorted by insertion alone */
struct spread {
    uint32_t count[(1u << MAX_SPREAD_BITS) + 1];
    uint32_t bits, shift;
};

static void spread_init(struct spread *spread, uint32_t n, sim_ps window_ps)
{
    uint32_t window_bits = 64 - (uint32_t)__builtin_clzll((uint64_t)window_ps);
    spread->bits = 3;
    while (spread->bits < MAX_SPREAD_BITS && (2u << spread->bits) < n)
        spread->bits++;
    spread->shift = SIM_KEY_TIME + (window_bits > spread->bits ? window_bits - spread->bits : 0);
    memset(spread->count, 0, ((1u << spread->bits) + 1) * sizeof *spread->count);
}

/* Keys are unique: the order is total. */
static void insertion_sort(uint64_t *key, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint64_t k = key[i];
        if (__builtin_expect(key[i - 1] <= k, 1))
            continue;
        uint32_t j = i;
        for (; j > 0 && key[j - 1] > k; j--)
            key[j] = key[j - 1];
        key[j] = k;
    }
}

/* Distributes the keys, then inserts, which finds almost nothing to move. */
static void sort_keys(struct sim_scratch *s, struct spread *spread)
{
    uint32_t *count = spread->count, shift = spread->shift, n = s->n;
    uint64_t *restrict from = s->key, *restrict to = s->key2;
    for (uint32_t b = 1, sum = count[0]; b <= (1u << spread->bits); b++)
        count[b] = sum += count[b];
    for (uint32_t i = 0; i < n; i++)
        to[count[from[i] >> shift]++] = from[i];
    insertion_sort(to, n);
    s->key = to;
    s->key2 = from;
}

static void scratch_grow(struct sim_core *core, struct sim_scratch *s, uint32_t need)
{
    uint32_t cap = s->cap;
    sim_grow(core, &s->key, &cap, need, sizeof *s->key);
    s->key2 = g_renew(uint64_t, s->key2, cap);
    s->rec = g_renew(struct sim_record, s->rec, cap);
    s->channel = g_renew(uint32_t, s->channel, cap);
    s->cap = cap;
}

/* How to take records: constants at each call, so that the loops below are stamped out for them. SPREAD NULL: they are
 * few and will be sorted by insertion alone. */
struct taking { struct spread *spread; bool weighs; };

/* Appends N records of one channel; returns the last key, clears *SORTED when one is out of order. */
static inline __attribute__((always_inline)) uint64_t take_records(struct sim_scratch *s, const struct sim_record *rec,
                                                                   uint32_t n, uint32_t channel, struct taking how,
                                                                   uint64_t last, bool *sorted)
{
    uint32_t at = s->n, end = at + n;
    for (; at < end; at++, rec++) {
        uint64_t key = (uint64_t)rec->off_ps << SIM_KEY_TIME | (how.weighs ? KEY_LIGHTNESS(rec->c) : 0) | at;
        *sorted &= key > last;
        last = key;
        if (how.spread)
            how.spread->count[(key >> how.spread->shift) + 1]++;
        s->key[at] = key;
        s->rec[at] = *rec;
        s->channel[at] = channel;
    }
    s->n = end;
    return last;
}

static inline __attribute__((always_inline)) uint64_t take_bucket(struct sim_scratch *s, struct sim_bucket *bucket,
                                                                  uint32_t channel, struct taking how, uint64_t last,
                                                                  bool *sorted)
{
    uint32_t n = bucket->n;
    if (n == 0)
        return last;
    bucket->n = 0;
    if (__builtin_expect(n <= SIM_BUCKET_INLINE, 1))
        return take_records(s, bucket->rec, n, channel, how, last, sorted);
    last = take_records(s, bucket->rec, SIM_BUCKET_INLINE, channel, how, last, sorted);
    return take_records(s, bucket->more, n - SIM_BUCKET_INLINE, channel, how, last, sorted);
}

/* Channels from FIRST on around, upwards or downwards. */
static inline __attribute__((always_inline)) bool take_all(struct sim_scratch *s, struct sim_bucket *buckets, uint32_t n,
                                                           uint32_t first, bool down, struct taking how)
{
    uint64_t last = 0;
    bool sorted = true;
    if (down) {
        for (uint32_t c = first + 1; c-- > 0;)
            last = take_bucket(s, &buckets[c], c, how, last, &sorted);
        for (uint32_t c = n; c-- > first + 1;)
            last = take_bucket(s, &buckets[c], c, how, last, &sorted);
        return sorted;
    }
    for (uint32_t c = first; c < n; c++)
        last = take_bucket(s, &buckets[c], c, how, last, &sorted);
    for (uint32_t c = 0; c < first; c++)
        last = take_bucket(s, &buckets[c], c, how, last, &sorted);
    return sorted;
}

/* Moves this window's records of all channels of NODE into SCRATCH, in (time, weight, channel, order) order. Which
 * channel comes first among equals, and in which direction the others follow, is drawn for each window: with a fixed
 * order two senders in step would meet a full queue in the same order for ever, and one of them would lose every
 * time. Drawing both gives any two channels an even chance. */
void sim_gather(struct sim_core *core, const struct sim_node *node, struct sim_scratch *s)
{
    struct sim_bucket *buckets = &core->ahead[0].buckets[node->first_channel];
    uint32_t n = node->n_channels, total = 0;
    uint64_t draw = sim_mix64((uint64_t)core->start_ps);
    uint32_t first = (uint32_t)(((draw >> 32) * n) >> 32);
    bool down = draw & 1;
    for (uint32_t c = 0; c < n; c++)
        total += buckets[c].n;
    if (total + 1 > s->cap)
        scratch_grow(core, s, total + 1);
    s->at_mask = total < 1u << KEY_AT_BITS ? (1u << KEY_AT_BITS) - 1 : UINT32_MAX;
    s->n = 0;
    if (total <= FEW_ARRIVALS) {
        if (total > 0 && !take_all(s, buckets, n, first, down, (struct taking){NULL, true}))
            insertion_sort(s->key, total);
    } else {
        struct spread spread;
        spread_init(&spread, total, core->window_ps);
        bool sorted = total < 1u << KEY_AT_BITS ? take_all(s, buckets, n, first, down, (struct taking){&spread, true})
                                                : take_all(s, buckets, n, first, down, (struct taking){&spread, false});
        if (!sorted)
            sort_keys(s, &spread);
    }
    s->key[s->n] = UINT64_MAX; /* ends the run loop without a count */
}

static void run_node(struct sim_core *core, uint32_t i, struct sim_scratch *scratch)
{
    struct sim_node *node = &core->nodes[i];
    core->run[node->class](core, node, scratch);
    core->has_arrivals[(size_t)core->slot * core->flag_stride + i] = 0;
    core->wake_ps[i] = node->next_own_ps;
}

static void find_due(struct sim_core *core)
{
    const uint16_t *flags = &core->has_arrivals[(size_t)core->slot * core->flag_stride];
    sim_ps end = core->start_ps + core->window_ps;
    uint32_t n = 0;
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        core->due[n] = i;
        n += (flags[i] | (core->wake_ps[i] < end)) != 0;
    }
    core->n_due = n;
}

static bool slot_has_arrivals(const struct sim_core *core, uint32_t slot)
{
    const uint16_t *flags = &core->has_arrivals[(size_t)slot * core->flag_stride];
    unsigned any = 0;
    for (uint32_t i = 0; i < core->flag_stride && any == 0; i += 64) /* the stride is a multiple of 64 */
        for (uint32_t k = i; k < i + 64; k++)
            any |= flags[k];
    return any != 0;
}

/* Start of the next window, at FROM_PS or later, in which any node has work; SIM_PS_MAX if there is none. */
static sim_ps next_work(const struct sim_core *core, sim_ps from_ps, uint32_t from_slot)
{
    if (slot_has_arrivals(core, from_slot))
        return from_ps;
    sim_ps earliest = SIM_PS_MAX;
    for (uint32_t i = 0; i < core->n_nodes; i++)
        earliest = MIN(earliest, core->wake_ps[i]);
    sim_ps t = from_ps;
    for (uint32_t k = 0; k < core->n_slots; k++, t += core->window_ps)
        if (earliest < t + core->window_ps || slot_has_arrivals(core, (from_slot + k) % core->n_slots))
            return t;
    if (earliest == SIM_PS_MAX)
        return SIM_PS_MAX;
    return from_ps + (earliest - from_ps) / core->window_ps * core->window_ps;
}

sim_ps sim_core_next_ps(const struct sim_core *core)
{
    return next_work(core, core->start_ps, core->slot);
}

/* Moves to the next window with work; false when the run is over. */
static bool advance(struct sim_core *core, sim_ps until_ps, bool first)
{
    sim_ps from = first ? core->start_ps : core->start_ps + core->window_ps;
    uint32_t slot = first ? core->slot : (core->slot + 1) % core->n_slots;
    sim_ps t = next_work(core, from, slot);
    bool over = t == SIM_PS_MAX;
    if (over)
        t = from;
    core->slot = (uint32_t)((slot + (uint64_t)((t - from) / core->window_ps)) % core->n_slots);
    core->start_ps = t;
    look_ahead(core);
    if (core->on_window && !core->on_window(core->on_window_user, MIN(t, until_ps)))
        return false;
    return !over && t < until_ps;
}

static void run_serial(struct sim_core *core, sim_ps until_ps)
{
    for (bool first = true; advance(core, until_ps, first); first = false) {
        find_due(core);
        for (uint32_t k = 0; k < core->n_due; k++)
            run_node(core, core->due[k], &core->scratch[0]);
        core->n_windows++;
    }
}

/* ---- threads ------------------------------------------------------------------ */
/* A window is over when its chunks are done, not when every thread has been seen: a helper that the system has put
 * aside (a busy machine) holds nobody up unless it is in the middle of a chunk. Helpers take chunks by raising the
 * ticket. It is one word that says all: which window, how many chunks it has, which one is next; so a late helper
 * can't take a chunk of a window that is over, nor mistake one window's number of chunks for another's. */
#define CHUNK_NODES 8
#define SPINS_BEFORE_YIELD 4096
#define TICKET_BITS 24
#define TICKET_NEXT(ticket) ((uint32_t)((ticket) & ((1u << TICKET_BITS) - 1)))
#define TICKET_CHUNKS(ticket) ((uint32_t)((ticket) >> TICKET_BITS & ((1u << TICKET_BITS) - 1)))

struct crew {
    uint64_t ticket; /* window number, chunks, next chunk */
    char pad[56];    /* the two counters are written by all threads: a cache line each */
    uint32_t n_done;
    bool over;
};

static void wait_a_bit(uint32_t *spins)
{
    if (++*spins < SPINS_BEFORE_YIELD)
        __builtin_ia32_pause();
    else
        sched_yield();
}

static void run_chunk(struct sim_core *core, uint32_t chunk, struct sim_scratch *scratch)
{
    uint32_t from = chunk * CHUNK_NODES, until = MIN(from + CHUNK_NODES, core->n_due);
    for (uint32_t k = from; k < until; k++)
        run_node(core, core->due[k], scratch);
}

/* Takes and runs one chunk of the window that TICKET names; false if it has none left. */
static bool help(struct sim_core *core, struct crew *crew, struct sim_scratch *scratch)
{
    uint64_t ticket = __atomic_load_n(&crew->ticket, __ATOMIC_ACQUIRE);
    if (TICKET_NEXT(ticket) >= TICKET_CHUNKS(ticket))
        return false;
    if (!__atomic_compare_exchange_n(&crew->ticket, &ticket, ticket + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return true; /* somebody else took it; look again */
    run_chunk(core, TICKET_NEXT(ticket), scratch);
    __atomic_fetch_add(&crew->n_done, 1, __ATOMIC_ACQ_REL);
    return true;
}

static void run_helper(struct sim_core *core, struct crew *crew, struct sim_scratch *scratch)
{
    for (uint32_t spins = 0; !__atomic_load_n(&crew->over, __ATOMIC_ACQUIRE);)
        if (help(core, crew, scratch))
            spins = 0;
        else
            wait_a_bit(&spins);
}

static void run_window(struct sim_core *core, struct crew *crew, struct sim_scratch *scratch)
{
    if (core->n_due < MIN_DUE_FOR_THREADS) { /* a handful of nodes is not worth a hand-over */
        for (uint32_t k = 0; k < core->n_due; k++)
            run_node(core, core->due[k], scratch);
        return;
    }
    uint32_t n_chunks = (core->n_due + CHUNK_NODES - 1) / CHUNK_NODES;
    __atomic_store_n(&crew->n_done, 0, __ATOMIC_RELAXED);
    uint64_t window = (crew->ticket >> 2 * TICKET_BITS) + 1;
    __atomic_store_n(&crew->ticket, window << 2 * TICKET_BITS | (uint64_t)n_chunks << TICKET_BITS, __ATOMIC_RELEASE);
    while (help(core, crew, scratch))
        ;
    for (uint32_t spins = 0; __atomic_load_n(&crew->n_done, __ATOMIC_ACQUIRE) < n_chunks;)
        wait_a_bit(&spins);
}

static void lead(struct sim_core *core, sim_ps until_ps, struct crew *crew)
{
    for (bool first = true; advance(core, until_ps, first); first = false) {
        find_due(core);
        run_window(core, crew, &core->scratch[0]);
        core->n_windows++;
    }
    __atomic_store_n(&crew->over, true, __ATOMIC_RELEASE);
}

static void run_parallel(struct sim_core *core, sim_ps until_ps, int n_threads)
{
    struct crew crew = {.ticket = 0};
#pragma omp parallel num_threads(n_threads)
    {
        if (omp_get_thread_num() == 0)
            lead(core, until_ps, &crew);
        else
            run_helper(core, &crew, &core->scratch[omp_get_thread_num()]);
    }
}

void sim_core_run(struct sim_core *core, sim_ps until_ps, int n_threads)
{
    if (n_threads != core->n_threads) {
        scratch_free(core);
        core->scratch = g_new0(struct sim_scratch, (gsize)n_threads);
        core->n_threads = n_threads;
    }
    for (uint32_t i = 0; i < core->n_nodes; i++)
        core->wake_ps[i] = core->nodes[i].next_own_ps;
    if (n_threads > 1)
        run_parallel(core, until_ps, n_threads);
    else
        run_serial(core, until_ps);
}

uint64_t sim_core_digest(const struct sim_core *core)
{
    uint64_t h = UINT64_C(0xfab71ca5);
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        h = (h ^ core->nodes[i].digest) * UINT64_C(0xbf58476d1ce4e5b9) + i;
        h ^= h >> 31;
    }
    return h;
}

uint64_t sim_core_events(const struct sim_core *core)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < core->n_nodes; i++)
        n += core->nodes[i].n_events;
    return n;
}

uint64_t sim_core_growths(const struct sim_core *core)
{
    return __atomic_load_n(&core->n_growths, __ATOMIC_RELAXED);
}
