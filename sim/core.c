/* core.c - window loop, gathering of arrivals, growth. See core.h. */
#include "sim/core.h"
#include "sim/rng.h"

#include <glib.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* A smaller run than this gains nothing from a second thread: a barrier costs more than its windows. */
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

void sim_bucket_grow(struct sim_core *core, struct sim_bucket *bucket)
{
    sim_grow(core, &bucket->rec, &bucket->cap, bucket->n + 1, sizeof *bucket->rec);
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
    uint32_t need = (uint32_t)(longest_ps / core->window_ps) + 3;
    core->n_slots = 4;
    while (core->n_slots < need)
        core->n_slots *= 2;
    core->flag_stride = (n_nodes + 63) & ~63u;
    core->nodes = g_new0(struct sim_node, n_nodes);
    core->buckets = g_new0(struct sim_bucket, (size_t)core->n_slots * MAX(core->n_channels, 1));
    core->has_arrivals = g_new0(uint16_t, (size_t)core->n_slots * core->flag_stride);
    core->wake_ps = g_new(sim_ps, n_nodes);
    core->due = g_new(uint32_t, n_nodes);
    for (uint32_t i = 0; i < n_nodes; i++) {
        core->nodes[i].first_channel = channel_of_node[i];
        core->nodes[i].n_channels = channel_of_node[i + 1] - channel_of_node[i];
        core->wake_ps[i] = core->nodes[i].next_timer_ps = SIM_PS_MAX;
    }
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
        g_free(core->buckets[i].rec);
    scratch_free(core);
    g_free(core->nodes);
    g_free(core->buckets);
    g_free(core->has_arrivals);
    g_free(core->wake_ps);
    g_free(core->due);
    g_free(core);
}

/* Sorts s->key[0..n) on a spread of its upper 32 bits: one counting pass, then insertion, which finds almost
 * nothing to move. Keys are unique, so the order is total. */
static void sort_keys(struct sim_scratch *s, uint32_t window_bits)
{
    uint32_t count[513];
    uint32_t bits = 4;
    while (bits < 9 && (1u << bits) < s->n)
        bits++;
    memset(count, 0, ((1u << bits) + 1) * sizeof *count);
    uint32_t shift = 32 + (window_bits > bits ? window_bits - bits : 0);
    for (uint32_t i = 0; i < s->n; i++)
        count[(s->key[i] >> shift) + 1]++;
    for (uint32_t b = 1; b <= (1u << bits); b++)
        count[b] += count[b - 1];
    for (uint32_t i = 0; i < s->n; i++)
        s->key2[count[s->key[i] >> shift]++] = s->key[i];
    for (uint32_t i = 1; i < s->n; i++) {
        uint64_t k = s->key2[i];
        uint32_t j = i;
        for (; j > 0 && s->key2[j - 1] > k; j--)
            s->key2[j] = s->key2[j - 1];
        s->key2[j] = k;
    }
    uint64_t *swap = s->key;
    s->key = s->key2;
    s->key2 = swap;
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

/* At equal times the record with the larger weight goes first. */
static void order_ties(struct sim_scratch *s)
{
    for (uint32_t i = 1; i < s->n; i++) {
        if (s->key[i] >> 32 != s->key[i - 1] >> 32)
            continue;
        uint64_t k = s->key[i];
        uint32_t weight = SIM_RECORD_WEIGHT(s->rec[(uint32_t)k].c), j = i;
        for (; j > 0 && s->key[j - 1] >> 32 == k >> 32 && SIM_RECORD_WEIGHT(s->rec[(uint32_t)s->key[j - 1]].c) < weight; j--)
            s->key[j] = s->key[j - 1];
        s->key[j] = k;
    }
}

/* Appends the records of one channel; returns the largest key so far, clears *SORTED when one is out of order. */
static uint64_t take_bucket(struct sim_core *core, struct sim_scratch *s, struct sim_bucket *bucket, uint32_t channel,
                            uint64_t last, bool *sorted)
{
    uint32_t n = bucket->n;
    if (s->n + n > s->cap)
        scratch_grow(core, s, s->n + n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = s->n + i;
        uint64_t key = (uint64_t)bucket->rec[i].off_ps << 32 | at;
        *sorted &= key > last;
        last = key;
        s->key[at] = key;
        s->rec[at] = bucket->rec[i];
        s->channel[at] = channel;
    }
    s->n += n;
    bucket->n = 0;
    return last;
}

/* Moves this window's records of all channels of NODE into SCRATCH, in (time, channel, order) order. Which channel
 * comes first at equal times changes from window to window: with a fixed order two senders in step would meet
 * a full queue in the same order for ever, and one of them would lose every time. */
void sim_gather(struct sim_core *core, const struct sim_node *node, struct sim_scratch *s)
{
    struct sim_bucket *buckets = &core->buckets[(size_t)core->slot * core->n_channels + node->first_channel];
    uint32_t n = node->n_channels;
    uint64_t last = 0;
    bool sorted = true;
    uint32_t first = n > 1 ? (uint32_t)(((sim_mix64((uint64_t)core->start_ps) >> 32) * n) >> 32) : 0;
    s->n = 0;
    for (uint32_t c = first; c < n; c++)
        if (buckets[c].n > 0)
            last = take_bucket(core, s, &buckets[c], c, last, &sorted);
    for (uint32_t c = 0; c < first; c++)
        if (buckets[c].n > 0)
            last = take_bucket(core, s, &buckets[c], c, last, &sorted);
    if (s->n + 1 > s->cap)
        scratch_grow(core, s, s->n + 1);
    if (!sorted)
        sort_keys(s, 64 - (uint32_t)__builtin_clzll((uint64_t)core->window_ps));
    order_ties(s);
    s->key[s->n] = UINT64_MAX; /* ends the run loop without a count */
}

static sim_ps wake_time(const struct sim_node *node)
{
    sim_ps soon = node->n_soon ? node->soon_base_ps + (sim_ps)(node->soon[0] >> 32) : SIM_PS_MAX;
    return MIN(soon, node->next_timer_ps);
}

static void run_node(struct sim_core *core, uint32_t i, struct sim_scratch *scratch)
{
    struct sim_node *node = &core->nodes[i];
    core->run[node->class](core, node, scratch);
    core->has_arrivals[(size_t)core->slot * core->flag_stride + i] = 0;
    core->wake_ps[i] = wake_time(node);
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
    for (uint32_t i = 0; i < core->flag_stride; i++)
        any |= flags[i];
    return any != 0;
}

/* Start of the next window, at FROM_PS or later, in which any node has work; SIM_PS_MAX if there is none. */
static sim_ps next_work(const struct sim_core *core, sim_ps from_ps, uint32_t from_slot)
{
    sim_ps earliest = SIM_PS_MAX;
    for (uint32_t i = 0; i < core->n_nodes; i++)
        earliest = MIN(earliest, core->wake_ps[i]);
    sim_ps t = from_ps;
    for (uint32_t k = 0; k < core->n_slots; k++, t += core->window_ps)
        if (earliest < t + core->window_ps || slot_has_arrivals(core, (from_slot + k) & (core->n_slots - 1)))
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
    uint32_t slot = first ? core->slot : (core->slot + 1) & (core->n_slots - 1);
    sim_ps t = next_work(core, from, slot);
    bool over = t == SIM_PS_MAX;
    if (over)
        t = from;
    core->slot = (slot + (uint32_t)((t - from) / core->window_ps)) & (core->n_slots - 1);
    core->start_ps = t;
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

static void run_parallel(struct sim_core *core, sim_ps until_ps, int n_threads)
{
    bool go = true, first = true;
#pragma omp parallel num_threads(n_threads)
    {
        struct sim_scratch *scratch = &core->scratch[omp_get_thread_num()];
        for (;;) {
#pragma omp single
            {
                go = advance(core, until_ps, first);
                first = false;
                if (go) {
                    find_due(core);
                    core->n_windows++;
                    /* A handful of nodes is not worth a hand-over. */
                    if (core->n_due < MIN_DUE_FOR_THREADS) {
                        for (uint32_t k = 0; k < core->n_due; k++)
                            run_node(core, core->due[k], scratch);
                        core->n_due = 0;
                    }
                }
            }
            if (!go)
                break;
#pragma omp for schedule(dynamic, 8)
            for (uint32_t k = 0; k < core->n_due; k++)
                run_node(core, core->due[k], scratch);
        }
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
        core->wake_ps[i] = wake_time(&core->nodes[i]);
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
