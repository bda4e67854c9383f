/* test_twin.c - whole runs with faults, captures and counters: what the results say of them. */
#include "scenarios/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* A ring all-reduce over 8 hosts on two leaves and two spines. */
static const char base[] = "[topology]\nkind = leaf_spine\nhosts = 8\nleaves = 2\nspines = 2\nhost_rate = 100Gbps\n"
                           "[workload]\nkind = collective\n[collective]\nop = all_reduce\nalgorithm = ring\nbytes = 4MiB\n"
                           "[nic]\nlocal_ack_timeout = 6\n[routing]\nlocal_repair = 20us\nreconvergence = 100us\n";

static struct run_result *run(const char *more, const char *const *capture)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *text = g_strconcat(base, more, NULL);
    struct scenario *scenario = scenario_parse("test.ini", text, strlen(text), &err);
    if (!scenario)
        fail_msg("%s", err->message);
    const struct run_options options = {.capture = capture};
    struct run_result *result = scenario_check(scenario, &err) ? run_scenario(scenario, &options, &err) : NULL;
    if (!result)
        fail_msg("%s", err->message);
    scenario_free(scenario);
    return result;
}

static double summary(const struct run_result *result, const char *name)
{
    double value = -1;
    if (!record_summary_get(result->book, name, &value))
        return -1;
    return value;
}

static int64_t counter(const struct run_result *result, const char *node, const char *name)
{
    const struct record_table *t = record_table_get(result->book, "counters");
    assert_non_null(t);
    int64_t sum = 0;
    for (int64_t i = 0; i < record_table_n_rows(t); i++)
        if (g_pattern_match_simple(node, record_column_text(t, record_table_column(t, "node"))[i]) &&
            strcmp(record_column_text(t, record_table_column(t, "counter"))[i], name) == 0)
            sum += record_column_i64(t, record_table_column(t, "value"))[i];
    return sum;
}

static bool happened(const struct run_result *result, const char *what)
{
    const struct record_table *t = record_table_get(result->book, "incidents");
    for (int64_t i = 0; i < record_table_n_rows(t); i++)
        if (strcmp(record_column_text(t, record_table_column(t, "what"))[i], what) == 0)
            return true;
    return false;
}

/* Both leaf-spine links in turn: one of them carries data. */
static void test_twin__a_flap_costs_time_and_is_survived(void **state)
{
    (void)state;
    struct run_result *r = run("[fault:a]\nkind = link_down\nwhere = leaf0/spine0\nstart = 100us\nduration = 200us\n"
                               "[fault:b]\nkind = link_down\nwhere = leaf0/spine1\nstart = 500us\nduration = 200us\n", NULL);
    assert_int_equal(r->status, RUN_FINISHED);
    assert_true(summary(r, "lost_pkts") > 0);
    assert_true(summary(r, "retransmitted_pkts") > 0);
    assert_true(summary(r, "healthy_makespan_ps") > 0);
    assert_true(summary(r, "fault_cost_ps") > 0);
    assert_true(summary(r, "fault_cost_ps") == summary(r, "makespan_ps") - summary(r, "healthy_makespan_ps"));
    assert_true(happened(r, "fault a begins") && happened(r, "fault b ends") && happened(r, "new routes"));
    assert_true(counter(r, "*", "local_ack_timeout_err") + counter(r, "*", "packet_seq_err") > 0);
    run_result_free(r);
    r = run("", NULL);
    assert_true(summary(r, "healthy_makespan_ps") < 0); /* no faults, no twin */
    run_result_free(r);
}

static void test_twin__off_when_told(void **state)
{
    (void)state;
    struct run_result *r = run("[run]\nhealthy_twin = false\n[fault:a]\nkind = straggler\nwhere = node0\nstart = 0\nfactor = 2\n", NULL);
    assert_true(summary(r, "healthy_makespan_ps") < 0);
    run_result_free(r);
}

/* What a host's port sends is in the capture, frame by frame, and adds up to its counters. */
static void test_twin__capture_and_counters_agree(void **state)
{
    (void)state;
    const char *const capture[] = {"node0/leaf0", NULL};
    struct run_result *r = run("", capture);
    const struct record_table *t = record_table_get(r->book, "events/capture");
    assert_non_null(t);
    int64_t bytes = 0, n = record_table_n_rows(t);
    const int64_t *frame = record_column_i64(t, record_table_column(t, "frame_bytes"));
    for (int64_t i = 0; i < n; i++)
        bytes += frame[i] + 20;
    assert_true(n > 1000);
    assert_int_equal(n, counter(r, "node0", "port_xmit_packets"));
    assert_int_equal(bytes / 4, counter(r, "node0", "port_xmit_data"));
    assert_int_equal(counter(r, "node0", "tx_prio3_packets"), n);
    run_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin__a_flap_costs_time_and_is_survived),
        cmocka_unit_test(test_twin__off_when_told),
        cmocka_unit_test(test_twin__capture_and_counters_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
