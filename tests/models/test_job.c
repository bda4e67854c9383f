/* test_job.c - sealing: matching, successor lists, and what it refuses. */
#include "models/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void assert_seal_fails(struct job *job, job_error code, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_false(job_seal(job, &err));
    assert_non_null(err);
    assert_true(g_error_matches(err, JOB_ERROR, (int)code));
    assert_string_equal(err->message, message);
    assert_false(job->sealed);
    job_free(job);
}

static void test_job__successors_follow_edges(void **state)
{
    (void)state;
    struct job *job = job_new(2);
    uint32_t a = job_add_nop(job, 0, JOB_NONE), b = job_add_compute(job, 0, 7), c = job_add_nop(job, 1, JOB_NONE);
    job_depend(job, c, a);
    job_depend(job, b, a);
    job_depend(job, c, b);
    assert_true(job_seal(job, NULL));
    assert_int_equal(job->n_deps[a], 0);
    assert_int_equal(job->n_deps[b], 1);
    assert_int_equal(job->n_deps[c], 2);
    assert_int_equal(job->succ_first[a], 0);
    assert_int_equal(job->succ_first[b], 2);
    assert_int_equal(job->succ_first[c], 3);
    assert_int_equal(job->succ_first[c + 1], 3);
    assert_int_equal(job->succ[0], c); /* in the order in which they were declared */
    assert_int_equal(job->succ[1], b);
    assert_int_equal(job->succ[2], c);
    assert_true(job_seal(job, NULL)); /* sealing twice changes nothing */
    job_free(job);
}

static void test_job__empty_job_seals(void **state)
{
    (void)state;
    struct job *job = job_new(0);
    assert_true(job_seal(job, NULL));
    job_free(job);
}

static void test_job__matches_in_op_order(void **state)
{
    (void)state;
    struct job *job = job_new(3);
    uint32_t r1 = job_add_recv(job, 1, 0, 10, 5, JOB_NONE), other = job_add_recv(job, 2, 0, 30, 5, JOB_NONE);
    uint32_t s1 = job_add_send(job, 0, 1, 10, 5, JOB_NONE), s2 = job_add_send(job, 0, 1, 20, 5, JOB_NONE);
    uint32_t s3 = job_add_send(job, 0, 1, 40, 6, JOB_NONE), s4 = job_add_send(job, 0, 2, 30, 5, JOB_NONE);
    uint32_t r3 = job_add_recv(job, 1, 0, 40, 6, JOB_NONE), r2 = job_add_recv(job, 1, 0, 20, 5, JOB_NONE);
    assert_true(job_seal(job, NULL));
    assert_int_equal(job_op_at(job, s1)->match, r1);
    assert_int_equal(job_op_at(job, r1)->match, s1);
    assert_int_equal(job_op_at(job, s2)->match, r2);
    assert_int_equal(job_op_at(job, s3)->match, r3);
    assert_int_equal(job_op_at(job, s4)->match, other);
    job_free(job);
}

/* Keys that differ only in high bits must not be mixed up by the radix sort. */
static void test_job__matches_wide_tags(void **state)
{
    (void)state;
    struct job *job = job_new(2);
    const uint32_t tags[] = {0x80000001u, 1, 0x00000801u, 0xffffffffu, 0x00400001u};
    uint32_t sends[5];
    for (int i = 0; i < 5; i++)
        sends[i] = job_add_send(job, 0, 1, 100 + i, tags[i], JOB_NONE);
    for (int i = 4; i >= 0; i--)
        job_add_recv(job, 1, 0, 100 + i, tags[i], JOB_NONE);
    assert_true(job_seal(job, NULL));
    for (int i = 0; i < 5; i++)
        assert_int_equal(job_op_at(job, job_op_at(job, sends[i])->match)->tag, tags[i]);
    job_free(job);
}

static void test_job__unmatched_receive_is_named(void **state)
{
    (void)state;
    struct job *job = job_new(3);
    for (int i = 0; i < 17; i++)
        job_add_nop(job, 2, JOB_NONE);
    job_add_recv(job, 2, 0, 100, 5, JOB_NONE);
    assert_seal_fails(job, JOB_ERROR_UNMATCHED, "rank 2 op 17 waits for a receive from rank 0 with tag 5 that nobody sends");
}

static void test_job__unmatched_send_is_named(void **state)
{
    (void)state;
    struct job *job = job_new(3);
    job_add_send(job, 0, 1, 100, 5, JOB_NONE);
    job_add_send(job, 0, 1, 100, 5, JOB_NONE);
    job_add_recv(job, 1, 0, 100, 5, JOB_NONE);
    job_add_recv(job, 1, 0, 100, 6, JOB_NONE);
    assert_seal_fails(job, JOB_ERROR_UNMATCHED,
                      "rank 0 op 1 sends to rank 1 with tag 5, which nobody receives (2 operations have no partner)");
}

static void test_job__sizes_must_agree(void **state)
{
    (void)state;
    struct job *job = job_new(2);
    job_add_send(job, 0, 1, 100, 0, JOB_NONE);
    job_add_recv(job, 1, 0, 101, 0, JOB_NONE);
    assert_seal_fails(job, JOB_ERROR_INPUT,
                      "rank 0 op 0 sends 100 bytes to rank 1 with tag 0, whose op 1 receives 101 bytes");
}

static void test_job__bad_ops_are_refused(void **state)
{
    (void)state;
    struct job *job = job_new(2);
    job_add_nop(job, 2, JOB_NONE);
    assert_seal_fails(job, JOB_ERROR_INPUT, "op 0: rank 2 does not exist, the job has 2 ranks");
    job = job_new(2);
    job_add_send(job, 0, 2, 1, 0, JOB_NONE);
    assert_seal_fails(job, JOB_ERROR_INPUT, "rank 0 op 0: peer rank 2 is outside 0..1");
    job = job_new(2);
    job_add_send(job, 1, 1, 1, 0, JOB_NONE);
    assert_seal_fails(job, JOB_ERROR_INPUT, "rank 1 op 0: sends to or receives from its own rank");
    job = job_new(2);
    job_add_send(job, 0, 1, -5, 0, JOB_NONE);
    assert_seal_fails(job, JOB_ERROR_INPUT, "rank 0 op 0: negative size");
    job = job_new(2);
    job_add_compute(job, 0, -1);
    assert_seal_fails(job, JOB_ERROR_INPUT, "rank 0 op 0: negative duration");
    job = job_new(2);
    job_depend(job, job_add_nop(job, 0, JOB_NONE), 0);
    assert_seal_fails(job, JOB_ERROR_INPUT, "rank 0 op 0: depends on itself");
    job = job_new(2);
    job_depend(job, job_add_nop(job, 0, JOB_NONE), 9);
    assert_seal_fails(job, JOB_ERROR_INPUT, "dependency of op 0 on op 9, but there are only 1 ops");
}

static void add_cycle(struct job *job, uint32_t length)
{
    uint32_t first = job_n_ops(job);
    for (uint32_t i = 0; i < length; i++)
        job_add_nop(job, 0, JOB_NONE);
    for (uint32_t i = 0; i < length; i++)
        job_depend(job, first + (i + 1) % length, first + i);
}

static void test_job__shortest_cycle_is_named_by_origin(void **state)
{
    (void)state;
    struct job *job = job_new(1);
    add_cycle(job, 6); /* found first by a walk; must not be what is shown */
    add_cycle(job, 3);
    job_add_nop(job, 0, JOB_NONE);
    job_depend(job, 9, 6); /* waits for the cycle without being part of it */
    for (uint32_t i = 6; i < 9; i++)
        job_op_at(job, i)->origin = 1000 + i;
    assert_seal_fails(job, JOB_ERROR_INPUT,
                      "cycle of 3 operations: rank 0 op 1006 -> rank 0 op 1007 -> rank 0 op 1008 -> rank 0 op 1006");
}

/* A chord makes the way through the same ops shorter. */
static void test_job__cycle_takes_the_chord(void **state)
{
    (void)state;
    struct job *job = job_new(1);
    add_cycle(job, 40);
    job_depend(job, 10, 30); /* 10 -> ... -> 30 -> 10: 21 ops, no better way */
    g_autoptr(GError) err = NULL;
    assert_false(job_seal(job, &err));
    assert_true(g_str_has_prefix(err->message, "cycle of 21 operations: rank 0 op 10 -> rank 0 op 11 ->"));
    assert_non_null(strstr(err->message, "... (5 more) -> rank 0 op 10"));
    job_free(job);
}

/* Each rank receives before it sends what the other waits for: no message can ever leave. */
static void test_job__messages_count_in_cycles(void **state)
{
    (void)state;
    struct job *job = job_new(2);
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t recv = job_add_recv(job, r, 1 - r, 8, 0, JOB_NONE), send = job_add_send(job, r, 1 - r, 8, 0, JOB_NONE);
        job_depend(job, send, recv);
    }
    assert_seal_fails(job, JOB_ERROR_INPUT,
                      "cycle of 4 operations: rank 0 op 0 -> rank 0 op 1 -> rank 1 op 2 -> rank 1 op 3 -> rank 0 op 0");
}

/* A million ops in one chain over two ranks: no recursion, no quadratic step. */
static void test_job__large_jobs_seal_quickly(void **state)
{
    (void)state;
    const uint32_t n = 500000;
    struct job *job = job_new(2);
    uint32_t last = JOB_NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = i % 2, send = job_add_send(job, from, 1 - from, 64, i, JOB_NONE);
        uint32_t recv = job_add_recv(job, 1 - from, from, 64, i, JOB_NONE);
        if (last != JOB_NONE)
            job_depend(job, send, last);
        last = recv;
    }
    int64_t from_us = g_get_monotonic_time();
    assert_true(job_seal(job, NULL));
    assert_true(g_get_monotonic_time() - from_us < 20 * G_USEC_PER_SEC); /* 1 s with sanitizers here */
    assert_int_equal(job_op_at(job, 2 * n - 2)->match, 2 * n - 1);
    job_free(job);
}

/* One huge cycle: the search for a shorter one must stay within its budget. */
static void test_job__large_cycle_ends(void **state)
{
    (void)state;
    struct job *job = job_new(1);
    add_cycle(job, 100000);
    g_autoptr(GError) err = NULL;
    assert_false(job_seal(job, &err));
    assert_true(g_str_has_prefix(err->message, "cycle of 100000 operations: "));
    job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job__successors_follow_edges),
        cmocka_unit_test(test_job__empty_job_seals),
        cmocka_unit_test(test_job__matches_in_op_order),
        cmocka_unit_test(test_job__matches_wide_tags),
        cmocka_unit_test(test_job__unmatched_receive_is_named),
        cmocka_unit_test(test_job__unmatched_send_is_named),
        cmocka_unit_test(test_job__sizes_must_agree),
        cmocka_unit_test(test_job__bad_ops_are_refused),
        cmocka_unit_test(test_job__shortest_cycle_is_named_by_origin),
        cmocka_unit_test(test_job__cycle_takes_the_chord),
        cmocka_unit_test(test_job__messages_count_in_cycles),
        cmocka_unit_test(test_job__large_jobs_seal_quickly),
        cmocka_unit_test(test_job__large_cycle_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
