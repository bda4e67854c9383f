/* test_collective.c - every element is reduced once from each rank and arrives everywhere.
 *
 * The checker runs the ops of one collective on symbolic data, in a random order that
 * respects the dependencies only: an element is the set of ranks whose contribution it
 * holds. A missing dependency shows up as data sent too early, a doubled one as a
 * contribution that is reduced twice.
 */
#include "models/collective/collective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define RANK_SHIFT 3 /* ranks are positions plus this, so that the two can't be mixed up unnoticed */

struct checker {
    const struct collective_spec *spec;
    struct job *job;
    uint32_t n, n_pieces;
    int64_t elements;
    uint64_t *data;     /* [position][element]: set of contributions */
    uint64_t **message; /* per send: data when it left */
    int64_t *offset;    /* per send: first element */
    uint32_t *waits;
    uint32_t *ready;
    uint32_t n_ready, n_done;
    uint32_t random;
};

static uint32_t position(uint32_t rank) { return rank - RANK_SHIFT; }

static int64_t piece_start(const struct checker *c, uint32_t piece) { return c->elements * piece / c->n_pieces; }

static uint64_t *element(const struct checker *c, uint32_t p, int64_t e) { return &c->data[(int64_t)p * c->elements + e]; }

static bool cut_by_rank(enum job_collective_kind kind) { return kind <= JOB_ALL_TO_ALL; }

static bool owns(const struct checker *c, uint32_t p, int64_t e)
{
    for (uint32_t piece = p; piece < c->n_pieces; piece += c->n)
        if (e >= piece_start(c, piece) && e < piece_start(c, piece + 1))
            return true;
    return false;
}

/* What position P holds of element E before and after. All-to-all data is checked on arrival. */
static uint64_t before(const struct checker *c, uint32_t p, int64_t e)
{
    switch (c->spec->kind) {
    case JOB_ALL_GATHER:
        return owns(c, p, e) ? 1 : 0;
    case JOB_BROADCAST:
        return p == c->spec->root ? 1 : 0;
    default:
        return UINT64_C(1) << p;
    }
}

static bool is_right_after(const struct checker *c, uint32_t p, int64_t e)
{
    uint64_t all = (UINT64_C(1) << c->n) - 1, has = *element(c, p, e);
    switch (c->spec->kind) {
    case JOB_ALL_REDUCE:
        return has == all;
    case JOB_REDUCE_SCATTER:
        return !owns(c, p, e) || has == all;
    case JOB_REDUCE:
        return p != c->spec->root || has == all;
    case JOB_ALL_GATHER:
    case JOB_BROADCAST:
        return has == 1;
    case JOB_SEND_RECV:
        return c->n == 1 || has == UINT64_C(1) << (p + c->n - 1) % c->n;
    default:
        return true;
    }
}

/* Slices of a piece follow each other: the running sum gives their place. */
static void find_offsets(struct checker *c)
{
    g_autofree int64_t *sum = g_new0(int64_t, (gsize)c->n * c->n * c->n_pieces);
    for (uint32_t i = 0; i < job_n_ops(c->job); i++) {
        const struct job_op *op = job_op_at(c->job, i);
        if (op->kind != JOB_SEND)
            continue;
        assert_true(op->origin < c->n_pieces);
        int64_t *at = &sum[((gsize)position(op->rank) * c->n + position(op->peer)) * c->n_pieces + op->origin];
        int64_t size = piece_start(c, op->origin + 1) - piece_start(c, op->origin);
        assert_true(op->amount > 0 && op->amount % c->spec->elem_bytes == 0);
        c->offset[i] = piece_start(c, op->origin) + *at;
        *at += op->amount / c->spec->elem_bytes;
        assert_true(*at <= size);
        if (*at == size)
            *at = 0;
    }
    for (gsize i = 0; i < (gsize)c->n * c->n * c->n_pieces; i++)
        assert_true(sum[i] == 0); /* pieces were sent whole */
}

static void deliver(struct checker *c, const struct job_op *recv)
{
    int64_t count = recv->amount / c->spec->elem_bytes, from = c->offset[recv->match];
    for (int64_t k = 0; k < count; k++) {
        uint64_t *mine = element(c, position(recv->rank), from + k), theirs = c->message[recv->match][k];
        if (c->spec->kind == JOB_ALL_TO_ALL) {
            assert_true(owns(c, position(recv->rank), from + k)); /* it was meant for us ... */
            assert_true(theirs >> position(recv->peer) & 1);
            assert_false(*mine >> position(recv->peer) & 1); /* ... and came once */
            *mine |= UINT64_C(1) << position(recv->peer);
        } else if (recv->flags & COLLECTIVE_FLAG_REDUCE) {
            assert_true((*mine & theirs) == 0);
            *mine |= theirs;
        } else {
            *mine = theirs;
        }
    }
}

static void leave(struct checker *c, uint32_t i)
{
    const struct job_op *op = job_op_at(c->job, i);
    int64_t count = op->amount / c->spec->elem_bytes;
    c->message[i] = g_memdup2(element(c, position(op->rank), c->offset[i]), (gsize)count * sizeof(uint64_t));
    for (int64_t k = 0; c->spec->kind == JOB_SEND_RECV && k < count; k++) /* it receives into another buffer */
        c->message[i][k] = before(c, position(op->rank), c->offset[i] + k);
}

static void less_waits(struct checker *c, uint32_t i)
{
    if (--c->waits[i] == 0)
        c->ready[c->n_ready++] = i;
}

static void run_op(struct checker *c, uint32_t i)
{
    const struct job_op *op = job_op_at(c->job, i);
    if (op->kind == JOB_SEND) {
        leave(c, i);
        less_waits(c, op->match);
    } else if (op->kind == JOB_RECV) {
        deliver(c, op);
    }
    for (uint32_t k = c->job->succ_first[i]; k < c->job->succ_first[i + 1]; k++)
        less_waits(c, c->job->succ[k]);
    c->n_done++;
}

static void run_all(struct checker *c)
{
    for (uint32_t i = 0; i < job_n_ops(c->job); i++) {
        c->waits[i] = c->job->n_deps[i] + (job_op_at(c->job, i)->kind == JOB_RECV ? 1 : 0);
        if (c->waits[i] == 0)
            c->ready[c->n_ready++] = i;
    }
    while (c->n_ready > 0) {
        c->random = c->random * 1664525u + 1013904223u;
        uint32_t pick = (c->random >> 8) % c->n_ready, i = c->ready[pick];
        c->ready[pick] = c->ready[--c->n_ready];
        run_op(c, i);
    }
    assert_int_equal(c->n_done, job_n_ops(c->job));
}

static void check_result(const struct checker *c)
{
    for (uint32_t p = 0; p < c->n; p++)
        for (int64_t e = 0; e < c->elements; e++) {
            if (c->spec->kind == JOB_ALL_TO_ALL) /* own part needs no message; the rest from everybody */
                assert_true(!owns(c, p, e) || *element(c, p, e) == (UINT64_C(1) << c->n) - 1);
            else if (!is_right_after(c, p, e))
                fail_msg("%s n=%u elements=%d: position %u element %d holds %llx", collective_kind_name(c->spec->kind), c->n,
                         (int)c->elements, p, (int)e, (unsigned long long)*element(c, p, e));
        }
}

/* The byte formulas against the ops themselves. */
static void check_bytes(const struct checker *c)
{
    g_autofree int64_t *sent = g_new0(int64_t, c->n), *got = g_new0(int64_t, c->n);
    int64_t most = 0;
    for (uint32_t i = 0; i < job_n_ops(c->job); i++) {
        const struct job_op *op = job_op_at(c->job, i);
        if (op->kind == JOB_SEND)
            sent[position(op->rank)] += op->amount;
        if (op->kind == JOB_RECV)
            got[position(op->rank)] += op->amount;
    }
    for (uint32_t p = 0; p < c->n; p++) {
        assert_true(sent[p] == collective_rank_send_bytes(c->spec, p));
        assert_true(got[p] == collective_rank_recv_bytes(c->spec, p));
        most = MAX(most, MAX(sent[p], got[p]));
    }
    assert_true(most >= collective_bound_bytes(c->spec->kind, c->spec->bytes, c->n));
}

static void run_checker(struct collective_spec spec)
{
    uint32_t ranks[64];
    for (uint32_t i = 0; i < spec.n_ranks; i++)
        ranks[i] = i + RANK_SHIFT;
    spec.ranks = ranks;
    struct job *job = job_new(spec.n_ranks + RANK_SHIFT);
    assert_int_equal(collective_add(job, &spec, NULL), 0);
    assert_true(job_seal(job, NULL));
    uint32_t n_ops = job_n_ops(job);
    struct checker c = {.spec = &spec, .job = job, .n = spec.n_ranks, .elements = spec.bytes / spec.elem_bytes, .random = 7};
    c.n_pieces = spec.channels * (cut_by_rank(spec.kind) ? spec.n_ranks : 1);
    c.data = g_new0(uint64_t, (gsize)(c.n * c.elements + 1));
    c.message = g_new0(uint64_t *, n_ops);
    c.offset = g_new0(int64_t, n_ops);
    c.waits = g_new0(uint32_t, n_ops);
    c.ready = g_new0(uint32_t, n_ops);
    for (uint32_t p = 0; p < c.n; p++)
        for (int64_t e = 0; e < c.elements; e++)
            *element(&c, p, e) = before(&c, p, e);
    find_offsets(&c);
    run_all(&c);
    check_result(&c);
    check_bytes(&c);
    for (uint32_t i = 0; i < n_ops; i++)
        g_free(c.message[i]);
    g_free(c.data);
    g_free(c.message);
    g_free(c.offset);
    g_free(c.waits);
    g_free(c.ready);
    job_free(job);
}

static void run_sizes(enum job_collective_kind kind, enum collective_algorithm algorithm, uint32_t n)
{
    const int64_t elements[] = {0, 1, n - 1, n, n + 1, 3 * n + 2};
    for (size_t i = 0; i < G_N_ELEMENTS(elements); i++) {
        struct collective_spec spec = COLLECTIVE_SPEC_DEFAULT;
        spec.kind = kind;
        spec.algorithm = algorithm;
        spec.n_ranks = n;
        spec.elem_bytes = 4;
        spec.bytes = 4 * elements[i];
        spec.root = n / 2;
        run_checker(spec);
        spec.channels = 3;
        spec.max_message_bytes = 7; /* one element a message */
        spec.max_outstanding = 2;
        spec.bytes *= 5;
        if (n % 4 == 3 || n < 6)
            run_checker(spec);
    }
}

static void run_kind(enum job_collective_kind kind, enum collective_algorithm algorithm)
{
    for (uint32_t n = 1; n <= 33; n++)
        run_sizes(kind, algorithm, n);
}

static void test_collective__ring_all_reduce_is_exact(void **state)
{
    (void)state;
    run_kind(JOB_ALL_REDUCE, COLLECTIVE_RING);
}

static void test_collective__ring_halves_are_exact(void **state)
{
    (void)state;
    run_kind(JOB_REDUCE_SCATTER, COLLECTIVE_AUTO);
    run_kind(JOB_ALL_GATHER, COLLECTIVE_AUTO);
}

static void test_collective__direct_is_exact(void **state)
{
    (void)state;
    run_kind(JOB_ALL_REDUCE, COLLECTIVE_DIRECT);
    run_kind(JOB_REDUCE_SCATTER, COLLECTIVE_DIRECT);
    run_kind(JOB_ALL_GATHER, COLLECTIVE_DIRECT);
    run_kind(JOB_ALL_TO_ALL, COLLECTIVE_AUTO);
}

static void test_collective__send_recv_goes_to_the_next(void **state)
{
    (void)state;
    run_kind(JOB_SEND_RECV, COLLECTIVE_AUTO);
}

static void test_collective__rooted_is_exact(void **state)
{
    (void)state;
    run_kind(JOB_BROADCAST, COLLECTIVE_RING);
    run_kind(JOB_BROADCAST, COLLECTIVE_DIRECT);
    run_kind(JOB_REDUCE, COLLECTIVE_RING);
    run_kind(JOB_REDUCE, COLLECTIVE_DIRECT);
}

static struct collective_spec spec_of(enum job_collective_kind kind, int64_t bytes, const uint32_t *ranks, uint32_t n)
{
    struct collective_spec spec = COLLECTIVE_SPEC_DEFAULT;
    spec.kind = kind;
    spec.bytes = bytes;
    spec.ranks = ranks;
    spec.n_ranks = n;
    return spec;
}

static void test_collective__one_rank_needs_no_message(void **state)
{
    (void)state;
    const uint32_t rank = 2;
    for (int kind = JOB_ALL_REDUCE; kind <= JOB_SEND_RECV; kind++) {
        struct job *job = job_new(3);
        struct collective_spec spec = spec_of((enum job_collective_kind)kind, 48 * 1048576, &rank, 1);
        bool has_fixed_factor = kind == JOB_BROADCAST || kind == JOB_REDUCE || kind == JOB_SEND_RECV;
        assert_int_equal(collective_add(job, &spec, NULL), 0);
        assert_true(collective_busbw_factor(spec.kind, 1) == (has_fixed_factor ? 1.0 : 0.0));
        assert_int_equal(job_n_ops(job), 2); /* start and end */
        assert_true(job_seal(job, NULL));
        assert_int_equal(collective_rank_send_bytes(&spec, 0), 0);
        assert_int_equal(collective_bound_bytes(spec.kind, spec.bytes, 1), 0);
        assert_int_equal(collective_steps(&spec), 0);
        job_free(job);
    }
}

/* Case 20: 24 ranks, 48 MiB: 46 steps, 2*23/24*50331648 = 96468992 B from each. */
static void test_collective__24_ranks_by_hand(void **state)
{
    (void)state;
    uint32_t ranks[24];
    for (uint32_t i = 0; i < 24; i++)
        ranks[i] = i;
    struct collective_spec spec = spec_of(JOB_ALL_REDUCE, 50331648, ranks, 24);
    assert_int_equal(collective_steps(&spec), 46);
    assert_int_equal(collective_rank_send_bytes(&spec, 5), 96468992);
    assert_int_equal(collective_bound_bytes(JOB_ALL_REDUCE, 50331648, 24), 96468992);
    struct job *job = job_new(24);
    collective_add(job, &spec, NULL);
    assert_int_equal(job_n_ops(job), 2 * 24 + 2 * 46 * 24);
    job_free(job);
}

static void test_collective__factors_of_nccl_tests(void **state)
{
    (void)state;
    assert_true(collective_busbw_factor(JOB_ALL_REDUCE, 8) == 1.75);
    assert_true(collective_busbw_factor(JOB_REDUCE_SCATTER, 8) == 0.875);
    assert_true(collective_busbw_factor(JOB_ALL_GATHER, 4) == 0.75);
    assert_true(collective_busbw_factor(JOB_ALL_TO_ALL, 2) == 0.5);
    assert_true(collective_busbw_factor(JOB_BROADCAST, 8) == 1.0);
    assert_true(collective_busbw_factor(JOB_SEND_RECV, 8) == 1.0);
}

static void test_collective__entry_names_its_ops(void **state)
{
    (void)state;
    const uint32_t ranks[] = {3, 1, 0};
    struct job *job = job_new(4);
    uint32_t work = job_add_compute(job, 1, 1000);
    const uint32_t after[] = {JOB_NONE, work, JOB_NONE};
    struct collective_spec spec = spec_of(JOB_ALL_REDUCE, 300, ranks, 3);
    spec.start_after = after;
    spec.name = "grads";
    spec.channels = 2;
    spec.traffic_class = 4;
    assert_int_equal(collective_add(job, &spec, NULL), 0);
    const struct job_collective *c = &g_array_index(job->collectives, struct job_collective, 0);
    assert_string_equal(c->name, "grads");
    assert_string_equal(c->algorithm, "ring");
    assert_int_equal(c->bytes, 300);
    for (int p = 0; p < 3; p++) {
        assert_int_equal(c->ranks[p], ranks[p]);
        assert_int_equal(job_op_at(job, c->start_op[p])->rank, ranks[p]);
        assert_int_equal(job_op_at(job, c->end_op[p])->rank, ranks[p]);
    }
    bool seen[2] = {false, false};
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        if (op->kind != JOB_SEND)
            continue;
        seen[op->channel] = true;
        assert_int_equal(op->traffic_class, 4);
        assert_int_equal(op->collective, 0);
    }
    assert_true(seen[0] && seen[1]);
    assert_true(job_seal(job, NULL));
    assert_int_equal(job->n_deps[c->start_op[0]], 0);
    assert_int_equal(job->n_deps[c->start_op[1]], 1);
    assert_int_equal(job->succ[job->succ_first[work]], c->start_op[1]);
    job_free(job);
}

/* No rank may leave a barrier before all have entered: every end follows every start. */
static void test_collective__barrier_waits_for_everybody(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 33; n++) {
        uint32_t ranks[33];
        for (uint32_t i = 0; i < n; i++)
            ranks[i] = i;
        struct job *job = job_new(n);
        struct collective_spec spec = spec_of(JOB_BARRIER, 0, ranks, n);
        assert_int_equal(collective_add(job, &spec, NULL), 0);
        assert_true(job_seal(job, NULL));
        uint32_t n_ops = job_n_ops(job);
        g_autofree uint64_t *knows = g_new0(uint64_t, n_ops); /* starts that precede the op */
        const struct job_collective *c = &g_array_index(job->collectives, struct job_collective, 0);
        for (uint32_t round = 0; round < 8; round++) /* a fixed point needs at most log2(33)+2 sweeps */
            for (uint32_t i = 0; i < n_ops; i++) {
                for (uint32_t p = 0; p < n; p++)
                    if (c->start_op[p] == i)
                        knows[i] |= UINT64_C(1) << p;
                for (uint32_t k = job->succ_first[i]; k < job->succ_first[i + 1]; k++)
                    knows[job->succ[k]] |= knows[i];
                if (job_op_at(job, i)->kind == JOB_SEND)
                    knows[job_op_at(job, i)->match] |= knows[i];
            }
        for (uint32_t p = 0; p < n; p++)
            assert_true(knows[c->end_op[p]] == (UINT64_C(1) << n) - 1);
        job_free(job);
    }
}

static void assert_refused(const struct collective_spec *spec, const char *message)
{
    struct job *job = job_new(4);
    g_autoptr(GError) err = NULL;
    assert_true(collective_add(job, spec, &err) == JOB_NONE);
    assert_true(g_error_matches(err, JOB_ERROR, JOB_ERROR_INPUT));
    assert_string_equal(err->message, message);
    assert_int_equal(job_n_ops(job), 0);
    job_free(job);
}

static void test_collective__bad_specs_are_refused(void **state)
{
    (void)state;
    const uint32_t ranks[] = {0, 1, 2}, twice[] = {0, 1, 1}, outside[] = {0, 4};
    struct collective_spec spec = spec_of(JOB_ALL_REDUCE, 10, twice, 3);
    assert_refused(&spec, "rank 1 is named twice in one collective");
    spec = spec_of(JOB_ALL_REDUCE, 10, outside, 2);
    assert_refused(&spec, "rank 4 does not exist, the job has 4 ranks");
    spec = spec_of(JOB_ALL_REDUCE, -1, ranks, 3);
    assert_refused(&spec, "bytes: -1 is negative");
    spec = spec_of(JOB_ALL_REDUCE, 10, ranks, 3);
    spec.elem_bytes = 4;
    assert_refused(&spec, "bytes: 10 is not a whole number of elements of 4 bytes");
    spec = spec_of(JOB_ALL_TO_ALL, 10, ranks, 3);
    spec.algorithm = COLLECTIVE_RING;
    assert_refused(&spec, "algorithm: all_to_all has no ring algorithm; allowed: direct, auto");
    spec = spec_of(JOB_BARRIER, 0, ranks, 3);
    spec.algorithm = COLLECTIVE_DIRECT;
    assert_refused(&spec, "algorithm: barrier has no direct algorithm; allowed: auto");
    spec = spec_of(JOB_BROADCAST, 10, ranks, 3);
    spec.root = 3;
    assert_refused(&spec, "root: position 3 is outside 0..2");
    spec = spec_of(JOB_ALL_REDUCE, 10, ranks, 3);
    spec.channels = 65;
    assert_refused(&spec, "channels: 65 is outside 1..64");
    spec = spec_of(JOB_ALL_REDUCE, INT64_C(1) << 40, ranks, 3);
    spec.max_message_bytes = 1;
    assert_refused(&spec, "needs more than 268435456 messages; raise max_message or lower channels");
}

static void test_collective__names_parse_back(void **state)
{
    (void)state;
    for (int kind = JOB_ALL_REDUCE; kind <= JOB_SEND_RECV; kind++) {
        enum job_collective_kind back;
        assert_true(collective_kind_parse(collective_kind_name((enum job_collective_kind)kind), &back));
        assert_int_equal(back, kind);
    }
    enum job_collective_kind unused;
    assert_false(collective_kind_parse("allreduce", &unused));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collective__ring_all_reduce_is_exact),
        cmocka_unit_test(test_collective__ring_halves_are_exact),
        cmocka_unit_test(test_collective__direct_is_exact),
        cmocka_unit_test(test_collective__rooted_is_exact),
        cmocka_unit_test(test_collective__send_recv_goes_to_the_next),
        cmocka_unit_test(test_collective__one_rank_needs_no_message),
        cmocka_unit_test(test_collective__24_ranks_by_hand),
        cmocka_unit_test(test_collective__factors_of_nccl_tests),
        cmocka_unit_test(test_collective__entry_names_its_ops),
        cmocka_unit_test(test_collective__barrier_waits_for_everybody),
        cmocka_unit_test(test_collective__bad_specs_are_refused),
        cmocka_unit_test(test_collective__names_parse_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
