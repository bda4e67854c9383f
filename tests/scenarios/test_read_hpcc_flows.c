/* test_read_hpcc_flows.c - flow.txt of the HPCC family. */
#include "scenarios/workload_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct job *read(const char *text, uint32_t n_ranks, GPtrArray *warnings, GError **err)
{
    return read_hpcc_flows_from_bytes("flow.txt", (const uint8_t *)text, strlen(text), n_ranks, warnings, err);
}

static void assert_refused(const char *text, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_null(read(text, 4, NULL, &err));
    assert_true(g_error_matches(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT));
    assert_string_equal(err->message, message);
}

static void test_read_hpcc_flows__rows(void **state)
{
    (void)state;
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(TEST_DATA_DIR "/workloads/flow.txt", &text, NULL, NULL));
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    struct job *job = read(text, 4, warnings, NULL);
    assert_non_null(job);
    assert_int_equal(job->flows->len, 2);
    assert_int_equal(warnings->len, 0); /* a note after the rows is no flow */
    const struct job_op *send = job_op_at(job, 2);
    assert_int_equal(send->rank, 3);
    assert_int_equal(send->peer, 1);
    assert_true(send->amount == INT64_C(5000000000));
    assert_int_equal(send->traffic_class, 3);
    assert_int_equal(send->earliest_ps, UNIT_US); /* 0.000001 s, exactly */
    assert_int_equal(job_op_at(job, 0)->earliest_ps, 2 * UNIT_S);
    assert_true(job_seal(job, NULL));
    job_free(job);
}

static void test_read_hpcc_flows__fewer_rows_than_declared(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new("839\n");
    for (int i = 0; i < 33; i++)
        g_string_append(text, "0 1 3 100 1000 0\n");
    assert_refused(text->str, "flow.txt:1: count: 839 declared, 33 found");
    assert_refused("2\n0 1 3 100 1000 0\nnote\n",
                   "flow.txt:3: 1 words where a flow has 6: src dst pg dport bytes start_seconds (2 declared, 1 found)");
}

static void test_read_hpcc_flows__more_rows_than_declared_warn(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    struct job *job = read("1\n0 1 3 100 1000 0\n1 0 3 100 1000 0\n0 1 3 1 1 1\n", 2, warnings, NULL);
    assert_non_null(job);
    assert_int_equal(job->flows->len, 1);
    assert_int_equal(warnings->len, 1);
    assert_string_equal(g_ptr_array_index(warnings, 0),
                        "flow.txt: 1 declared, 3 found: the last 2 flows are left out, as HPCC does");
    job_free(job);
}

static void test_read_hpcc_flows__bad_rows_are_named(void **state)
{
    (void)state;
    assert_refused("", "flow.txt:1: count: the file is empty; its first line is the number of flows");
    assert_refused("two\n", "flow.txt:1: count: 'two' is not a whole number");
    assert_refused("-1\n", "flow.txt:1: count: -1 is outside 0..4294967294");
    assert_refused("1\n0 4 3 100 1000 0\n", "flow.txt:2: dst: rank 4 does not exist, there are 4 ranks");
    assert_refused("1\n0 0 3 100 1000 0\n", "flow.txt:2: dst: 0 is the source, too; a flow needs two ranks");
    assert_refused("1\n0 1 8 100 1000 0\n", "flow.txt:2: pg: 8 is outside 0..7");
    assert_refused("1\n0 1 3 65536 1000 0\n", "flow.txt:2: dport: 65536 is outside 0..65535");
    assert_refused("1\n0 1 3 100 -5 0\n", "flow.txt:2: bytes: -5 is negative; allowed: 0 or more");
    assert_refused("1\n0 1 3 100 1000 soon\n", "flow.txt:2: start_seconds: 'soon' is not a number of s (whole picoseconds)");
}

static void test_read_hpcc_flows__shipped_file_is_read(void **state)
{
    (void)state;
    g_autofree char *text = NULL;
    if (!g_file_get_contents(TEST_SHARED_DIR "/real/hpcc/flow.txt", &text, NULL, NULL)) {
        print_message("skipped: no real files beside the tree\n");
        skip();
    }
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    struct job *job = read(text, 320, warnings, NULL);
    assert_non_null(job);
    assert_int_equal(job->flows->len, 2);
    assert_int_equal(warnings->len, 1);
    assert_non_null(strstr(g_ptr_array_index(warnings, 0), "2 declared, 256 found"));
    job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_hpcc_flows__rows),
        cmocka_unit_test(test_read_hpcc_flows__fewer_rows_than_declared),
        cmocka_unit_test(test_read_hpcc_flows__more_rows_than_declared_warn),
        cmocka_unit_test(test_read_hpcc_flows__bad_rows_are_named),
        cmocka_unit_test(test_read_hpcc_flows__shipped_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
