/* collective.c - what every collective shares: names, sizes of pieces, bytes, checks, and the entry. */
#include "models/collective/collective_priv.h"

#include <string.h>

static const char *const kind_names[] = {
    [JOB_ALL_REDUCE] = "all_reduce", [JOB_REDUCE_SCATTER] = "reduce_scatter", [JOB_ALL_GATHER] = "all_gather",
    [JOB_ALL_TO_ALL] = "all_to_all", [JOB_BROADCAST] = "broadcast",           [JOB_REDUCE] = "reduce",
    [JOB_BARRIER] = "barrier",       [JOB_SEND_RECV] = "send_recv",
};

const char *collective_kind_name(enum job_collective_kind kind) { return kind_names[kind]; }

bool collective_kind_parse(const char *text, enum job_collective_kind *out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kind_names); i++) {
        if (strcmp(text, kind_names[i]) == 0) {
            *out = (enum job_collective_kind)i;
            return true;
        }
    }
    return false;
}

static bool has_ring(enum job_collective_kind kind)
{
    return kind != JOB_ALL_TO_ALL && kind != JOB_SEND_RECV && kind != JOB_BARRIER;
}

const char *collective_algorithm_name(enum job_collective_kind kind, enum collective_algorithm algorithm)
{
    if (kind == JOB_BARRIER)
        return algorithm == COLLECTIVE_AUTO ? "dissemination" : NULL;
    if (algorithm == COLLECTIVE_RING || (algorithm == COLLECTIVE_AUTO && has_ring(kind)))
        return has_ring(kind) ? "ring" : NULL;
    return "direct";
}

bool collective_is_ring(const struct collective_spec *spec)
{
    return has_ring(spec->kind) && spec->algorithm != COLLECTIVE_DIRECT;
}

double collective_busbw_factor(enum job_collective_kind kind, uint32_t n_ranks)
{
    double n = (double)n_ranks;
    switch (kind) {
    case JOB_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case JOB_REDUCE_SCATTER:
    case JOB_ALL_GATHER:
    case JOB_ALL_TO_ALL:
        return (n - 1) / n;
    case JOB_BROADCAST:
    case JOB_REDUCE:
    case JOB_SEND_RECV:
        return 1;
    case JOB_BARRIER:
        break;
    }
    return 0;
}

int64_t collective_bound_bytes(enum job_collective_kind kind, int64_t bytes, uint32_t n_ranks)
{
    if (n_ranks < 2 || kind == JOB_BARRIER)
        return 0;
    if (kind == JOB_BROADCAST || kind == JOB_REDUCE || kind == JOB_SEND_RECV)
        return bytes;
    int times = kind == JOB_ALL_REDUCE ? 2 : 1;
    return (int64_t)((__int128)bytes * times * (n_ranks - 1) / n_ranks);
}

static uint32_t ceil_log2(uint32_t n)
{
    uint32_t rounds = 0;
    while (((uint64_t)1 << rounds) < n)
        rounds++;
    return rounds;
}

uint32_t collective_steps(const struct collective_spec *spec)
{
    if (spec->n_ranks < 2)
        return 0;
    if (spec->kind == JOB_BARRIER)
        return ceil_log2(spec->n_ranks);
    uint32_t phases = spec->kind == JOB_ALL_REDUCE ? 2 : 1;
    return collective_is_ring(spec) ? phases * (spec->n_ranks - 1) : phases;
}

/* ---- pieces ------------------------------------------------------------------ */

static bool is_cut_by_rank(enum job_collective_kind kind)
{
    return kind == JOB_ALL_REDUCE || kind == JOB_REDUCE_SCATTER || kind == JOB_ALL_GATHER || kind == JOB_ALL_TO_ALL;
}

uint32_t collective_pieces_per_channel(const struct collective_spec *spec)
{
    return is_cut_by_rank(spec->kind) ? spec->n_ranks : 1;
}

int64_t collective_piece_bytes(const struct collective_spec *spec, uint32_t channel, uint32_t j)
{
    uint64_t per_channel = collective_pieces_per_channel(spec);
    uint64_t n_pieces = spec->channels * per_channel, i = channel * per_channel + j;
    unsigned __int128 elements = (unsigned __int128)(spec->bytes / spec->elem_bytes);
    int64_t from = (int64_t)(elements * i / n_pieces), until = (int64_t)(elements * (i + 1) / n_pieces);
    return (until - from) * spec->elem_bytes;
}

int64_t collective_slice_bytes(const struct collective_spec *spec)
{
    bool chain = collective_is_ring(spec) && !is_cut_by_rank(spec->kind) && spec->kind != JOB_BARRIER;
    int64_t bytes = spec->max_message_bytes == 0 && chain ? COLLECTIVE_CHAIN_SLICE_BYTES : spec->max_message_bytes;
    return bytes == 0 ? INT64_MAX : bytes / spec->elem_bytes * spec->elem_bytes;
}

/* ---- bytes per rank ---------------------------------------------------------- */

/* What belongs to position P: the sum over channels of piece (c, P). */
static int64_t own_bytes(const struct collective_spec *spec, uint32_t p)
{
    int64_t sum = 0;
    for (uint32_t c = 0; c < spec->channels; c++)
        sum += collective_piece_bytes(spec, c, p % collective_pieces_per_channel(spec));
    return sum;
}

/* Are the ranks whole servers, one after the other? */
bool collective_is_rail_aligned(const struct collective_spec *spec)
{
    uint32_t g = spec->gpus_per_node;
    if (g < 2 || spec->n_ranks % g != 0 || spec->n_ranks == g)
        return false;
    for (uint32_t p = 0; p < spec->n_ranks; p++)
        if (spec->ranks[p] % g != p % g || spec->ranks[p] / g != spec->ranks[p - p % g] / g)
            return false;
    return true;
}

uint32_t collective_auto_channels(const struct collective_spec *spec)
{
    bool rails = is_cut_by_rank(spec->kind) && collective_is_ring(spec) && collective_is_rail_aligned(spec);
    return rails ? MIN(spec->gpus_per_node, COLLECTIVE_CHANNELS_MAX) : 1;
}

/* One server: its GPUs from channel's own on, in even servers forwards and in odd ones backwards. */
uint32_t collective_seat(const struct collective_spec *spec, uint32_t channel, uint32_t k)
{
    uint32_t g = spec->gpus_per_node, node = k / g, i = k % g, first = channel % g;
    return node * g + (node % 2 == 0 ? first + i : first + g - 1 - i) % g;
}

uint32_t collective_seat_of(const struct collective_spec *spec, uint32_t channel, uint32_t position)
{
    uint32_t g = spec->gpus_per_node, node = position / g, local = position % g, first = channel % g;
    return node * g + (node % 2 == 0 ? local + g - first : first + 2 * g - 1 - local) % g;
}

/* A ring sends every piece but one a phase; FIRST is the offset of the first piece sent or received. */
static int64_t ring_bytes(const struct collective_spec *spec, uint32_t p, uint32_t first)
{
    int64_t sum = 0;
    uint32_t n = spec->n_ranks;
    bool rails = collective_is_rail_aligned(spec);
    for (uint32_t c = 0; c < spec->channels; c++) {
        uint64_t seat = rails ? collective_seat_of(spec, c, p) : p;
        for (uint32_t step = 0; step < collective_steps(spec); step++) {
            uint32_t k = (uint32_t)((seat + first + 2 * (uint64_t)n - step) % n);
            sum += collective_piece_bytes(spec, c, rails ? collective_seat(spec, c, k) : k);
        }
    }
    return sum;
}

/* Position in a chain: 0 starts it, n-1 ends it. */
uint32_t collective_chain_place(const struct collective_spec *spec, uint32_t p)
{
    uint32_t n = spec->n_ranks, first = spec->kind == JOB_REDUCE ? (spec->root + 1) % n : spec->root;
    return (uint32_t)(((uint64_t)p + n - first) % n);
}

static int64_t rooted_bytes(const struct collective_spec *spec, uint32_t p, bool sends)
{
    uint32_t n = spec->n_ranks;
    if (collective_is_ring(spec))
        return collective_chain_place(spec, p) == (sends ? n - 1 : 0) ? 0 : spec->bytes;
    bool fans = (spec->kind == JOB_BROADCAST) == sends; /* the root's side of the fan */
    if (fans)
        return p == spec->root ? spec->bytes * (n - 1) : 0;
    return p == spec->root ? 0 : spec->bytes;
}

static int64_t direct_bytes(const struct collective_spec *spec, uint32_t p, bool sends)
{
    int64_t own = own_bytes(spec, p), others = spec->bytes - own, fan = own * (spec->n_ranks - 1);
    if (spec->kind == JOB_ALL_REDUCE)
        return others + fan;
    return (spec->kind == JOB_ALL_GATHER) == sends ? fan : others;
}

static int64_t rank_bytes(const struct collective_spec *spec, uint32_t p, bool sends)
{
    if (spec->n_ranks < 2 || spec->kind == JOB_BARRIER)
        return 0;
    if (spec->kind == JOB_SEND_RECV)
        return spec->bytes;
    if (!is_cut_by_rank(spec->kind))
        return rooted_bytes(spec, p, sends);
    if (!collective_is_ring(spec))
        return direct_bytes(spec, p, sends);
    uint32_t first = collective_ring_offset(spec);
    return ring_bytes(spec, p, sends ? first : first + spec->n_ranks - 1);
}

int64_t collective_rank_send_bytes(const struct collective_spec *spec, uint32_t position)
{
    return rank_bytes(spec, position, true);
}

int64_t collective_rank_recv_bytes(const struct collective_spec *spec, uint32_t position)
{
    return rank_bytes(spec, position, false);
}

/* ---- checks ------------------------------------------------------------------ */

G_GNUC_PRINTF(2, 3) static bool fail(GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(err, JOB_ERROR, JOB_ERROR_INPUT, text);
    return false;
}

static bool check_ranks(const struct job *job, const struct collective_spec *spec, GError **err)
{
    if (spec->n_ranks == 0)
        return fail(err, "a collective needs at least one rank");
    g_autofree uint8_t *seen = g_new0(uint8_t, job->n_ranks + 1);
    for (uint32_t i = 0; i < spec->n_ranks; i++) {
        if (spec->ranks[i] >= job->n_ranks)
            return fail(err, "rank %u does not exist, the job has %u ranks", spec->ranks[i], job->n_ranks);
        if (seen[spec->ranks[i]]++)
            return fail(err, "rank %u is named twice in one collective", spec->ranks[i]);
    }
    return true;
}

static bool check_sizes(const struct collective_spec *spec, GError **err)
{
    if (spec->bytes < 0)
        return fail(err, "bytes: %" G_GINT64_FORMAT " is negative", spec->bytes);
    if (spec->elem_bytes < 1 || spec->bytes % spec->elem_bytes != 0)
        return fail(err, "bytes: %" G_GINT64_FORMAT " is not a whole number of elements of %" G_GINT64_FORMAT " bytes",
                    spec->bytes, spec->elem_bytes);
    if (spec->max_message_bytes < 0 || (spec->max_message_bytes > 0 && spec->max_message_bytes < spec->elem_bytes))
        return fail(err, "max_message: %" G_GINT64_FORMAT " is less than an element of %" G_GINT64_FORMAT " bytes",
                    spec->max_message_bytes, spec->elem_bytes);
    if (spec->channels < 1 || spec->channels > COLLECTIVE_CHANNELS_MAX)
        return fail(err, "channels: %u is outside 1..%d", spec->channels, COLLECTIVE_CHANNELS_MAX);
    return true;
}

/* More than this would need tens of GB; better said before than met by the allocator. */
#define COLLECTIVE_MESSAGES_MAX (1 << 28)

static bool check_count(const struct collective_spec *spec, GError **err)
{
    unsigned __int128 pieces = (unsigned __int128)spec->n_ranks * collective_steps(spec) * spec->channels;
    if (!collective_is_ring(spec) && spec->kind != JOB_BARRIER && spec->kind != JOB_SEND_RECV)
        pieces *= spec->n_ranks - 1;
    int64_t piece_bytes = collective_piece_bytes(spec, spec->channels - 1, collective_pieces_per_channel(spec) - 1);
    unsigned __int128 slices = (unsigned __int128)(1 + piece_bytes / collective_slice_bytes(spec));
    if (pieces * slices <= COLLECTIVE_MESSAGES_MAX)
        return true;
    return fail(err, "needs more than %d messages; raise max_message or lower channels", COLLECTIVE_MESSAGES_MAX);
}

static bool check_spec(const struct job *job, const struct collective_spec *spec, GError **err)
{
    if (!check_ranks(job, spec, err) || !check_sizes(spec, err))
        return false;
    if (spec->root >= spec->n_ranks)
        return fail(err, "root: position %u is outside 0..%u", spec->root, spec->n_ranks - 1);
    if (!collective_algorithm_name(spec->kind, spec->algorithm))
        return fail(err, "algorithm: %s has no %s algorithm; allowed: %s", collective_kind_name(spec->kind),
                    spec->algorithm == COLLECTIVE_RING ? "ring" : "direct",
                    spec->kind == JOB_BARRIER ? "auto" : "direct, auto");
    return check_count(spec, err);
}

/* ---- expansion --------------------------------------------------------------- */

static void add_marks(struct expansion *x)
{
    for (uint32_t p = 0; p < x->spec->n_ranks; p++) {
        x->start[p] = job_add_nop(x->job, x->spec->ranks[p], x->index);
        if (x->spec->start_after && x->spec->start_after[p] != JOB_NONE)
            job_depend(x->job, x->start[p], x->spec->start_after[p]);
    }
    for (uint32_t p = 0; p < x->spec->n_ranks; p++) {
        x->end[p] = job_add_nop(x->job, x->spec->ranks[p], x->index);
        job_depend(x->job, x->end[p], x->start[p]);
    }
}

static bool receives_nothing(const struct collective_spec *spec, uint32_t p)
{
    if (spec->kind != JOB_BROADCAST && spec->kind != JOB_REDUCE)
        return false;
    if (collective_is_ring(spec))
        return collective_chain_place(spec, p) == 0;
    return (spec->kind == JOB_BROADCAST) == (p == spec->root);
}

static uint32_t add_half(struct expansion *x, const struct transfer *t, enum job_op_kind kind, int64_t bytes)
{
    bool sends = kind == JOB_SEND;
    struct job_op op = {
        .amount = bytes,
        .rank = x->spec->ranks[sends ? t->from : t->to],
        .peer = x->spec->ranks[sends ? t->to : t->from],
        .tag = COLLECTIVE_TAG_BASE + x->index,
        .match = JOB_NONE,
        .collective = x->index,
        .origin = t->piece,
        .kind = (uint8_t)kind,
        .traffic_class = x->spec->traffic_class,
        .channel = (uint8_t)t->channel,
        .flags = !sends && t->reduces ? COLLECTIVE_FLAG_REDUCE : 0,
    };
    return job_add(x->job, &op);
}

uint32_t expansion_add(struct expansion *x, const struct transfer *t)
{
    const struct collective_spec *spec = x->spec;
    if (t->bytes == 0 && spec->kind != JOB_BARRIER)
        return JOB_NONE;
    uint32_t first = job_n_ops(x->job), slice = 0;
    int64_t slice_bytes = collective_slice_bytes(spec), left = t->bytes;
    do {
        int64_t bytes = MIN(left, slice_bytes);
        uint32_t send = add_half(x, t, JOB_SEND, bytes);
        uint32_t recv = add_half(x, t, JOB_RECV, bytes);
        job_depend(x->job, send, t->by_slice ? t->after + TRANSFER_STRIDE * slice : t->after);
        job_depend(x->job, recv, x->start[t->to]);
        job_depend(x->job, x->end[t->to], recv);
        if (receives_nothing(spec, t->from))
            job_depend(x->job, x->end[t->from], send);
        left -= bytes;
        slice++;
    } while (left > 0);
    return first;
}

static void record_entry(struct expansion *x)
{
    const struct collective_spec *spec = x->spec;
    struct job_collective entry = {
        .name = g_strdup(spec->name ? spec->name : collective_kind_name(spec->kind)),
        .kind = (uint8_t)spec->kind,
        .algorithm = collective_algorithm_name(spec->kind, spec->algorithm),
        .bytes = spec->bytes,
        .n_ranks = spec->n_ranks,
        .ranks = g_memdup2(spec->ranks, sizeof(uint32_t) * spec->n_ranks),
        .start_op = x->start,
        .end_op = x->end,
    };
    g_array_append_val(x->job->collectives, entry);
}

uint32_t collective_add(struct job *job, const struct collective_spec *spec, GError **err)
{
    if (!check_spec(job, spec, err))
        return JOB_NONE;
    struct expansion x = {
        .job = job, .spec = spec, .rail_aligned = collective_is_rail_aligned(spec), .index = job->collectives->len};
    x.start = g_new(uint32_t, spec->n_ranks);
    x.end = g_new(uint32_t, spec->n_ranks);
    add_marks(&x);
    if (spec->n_ranks > 1) {
        if (spec->kind == JOB_BARRIER)
            expand_barrier(&x);
        else if (!is_cut_by_rank(spec->kind))
            expand_rooted(&x);
        else if (collective_is_ring(spec))
            expand_ring(&x);
        else
            expand_direct(&x);
    }
    record_entry(&x);
    return x.index;
}
