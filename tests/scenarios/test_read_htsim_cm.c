/* test_read_htsim_cm.c - htsim connection matrices and their triggers. */
#include "scenarios/workload_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct job *read(const char *text, GPtrArray *warnings, GError **err)
{
    return read_htsim_cm_from_bytes("x.cm", (const uint8_t *)text, strlen(text), 16, warnings, err);
}

static void assert_refused(const char *text, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_null(read(text, NULL, &err));
    assert_true(g_error_matches(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT));
    assert_string_equal(err->message, message);
}

static const struct job_flow *flow_at(const struct job *job, guint i) { return &g_array_index(job->flows, struct job_flow, i); }

static bool follows(const struct job *job, uint32_t before, uint32_t after)
{
    for (uint32_t k = job->succ_first[before]; k < job->succ_first[before + 1]; k++)
        if (job->succ[k] == after)
            return true;
    return false;
}

/* AFTER waits for BEFORE through the join of a trigger. */
static bool follows_join(const struct job *job, uint32_t before, uint32_t after)
{
    for (uint32_t k = job->succ_first[before]; k < job->succ_first[before + 1]; k++)
        if (job_op_at(job, job->succ[k])->kind == JOB_NOP && follows(job, job->succ[k], after))
            return true;
    return false;
}

static void test_read_htsim_cm__triggers_are_dependencies(void **state)
{
    (void)state;
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(TEST_DATA_DIR "/workloads/chain.cm", &text, NULL, NULL));
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    struct job *job = read(text, warnings, NULL);
    assert_non_null(job);
    assert_int_equal(job->n_ranks, 4);
    assert_int_equal(job->flows->len, 6);
    assert_true(job_seal(job, NULL));
    assert_int_equal(flow_at(job, 0)->id, 10);
    assert_true(job_op_at(job, flow_at(job, 0)->send_op)->amount == INT64_C(5000000000));
    assert_int_equal(job_op_at(job, flow_at(job, 0)->send_op)->earliest_ps, 1000);
    assert_int_equal(job_op_at(job, flow_at(job, 2)->send_op)->traffic_class, 3);
    assert_true(follows_join(job, flow_at(job, 0)->send_op, flow_at(job, 1)->send_op));
    assert_true(follows(job, flow_at(job, 1)->recv_op, flow_at(job, 3)->send_op)); /* multishot: first, first */
    assert_true(follows(job, flow_at(job, 2)->send_op, flow_at(job, 4)->send_op));
    assert_true(follows_join(job, flow_at(job, 3)->send_op, flow_at(job, 5)->send_op));
    assert_true(follows_join(job, flow_at(job, 4)->recv_op, flow_at(job, 5)->send_op));
    assert_int_equal(warnings->len, 2);
    assert_string_equal(g_ptr_array_index(warnings, 0), "x.cm: prio is taken as traffic class");
    assert_string_equal(g_ptr_array_index(warnings, 1),
                        "x.cm:6: multishot trigger: its targets follow its activators in the order of the file");
    job_free(job);
}

static void test_read_htsim_cm__zero_size_is_a_flow(void **state)
{
    (void)state;
    struct job *job = read("nodes 16\n0->13 start 0 size 0", NULL, NULL);
    assert_non_null(job);
    assert_int_equal(job->flows->len, 1);
    assert_int_equal(job_op_at(job, 0)->amount, 0);
    job_free(job);
    assert_refused("Nodes 16\nConnections 1\n0->13 start 0 size -5\n", "x.cm:3: size: -5 is negative; allowed: 0 or more");
}

static void test_read_htsim_cm__bad_lines_are_named(void **state)
{
    (void)state;
    assert_refused("", "x.cm:1: Nodes: the line 'Nodes N' is missing");
    assert_refused("Nodes 17\n", "x.cm:1: Nodes: 17 ranks, but the fabric has 16 endpoints");
    assert_refused("Nodes\n", "x.cm:1: Nodes: the value is missing");
    assert_refused("0->1 start 0 size 1\nNodes 2\n", "x.cm:1: a connection before the line 'Nodes N'");
    assert_refused("Nodes 2\nConnections 2\n0->1 start 0 size 1\n", "x.cm:2: Connections: 2 declared, 1 found");
    assert_refused("Nodes 2\nTriggers 1\n", "x.cm:2: Triggers: 1 declared, 0 found");
    assert_refused("Nodes 2\n0->2 start 0 size 1\n", "x.cm:2: connection: rank 2 does not exist, there are 2 ranks");
    assert_refused("Nodes 2\n1->1 start 0 size 1\n", "x.cm:2: connection: 1 sends to itself; a flow needs two nodes");
    assert_refused("Nodes 2\n0->1 size 1\n", "x.cm:2: connection: needs start or trigger, and not both");
    assert_refused("Nodes 2\n0->1 start 0\n", "x.cm:2: connection: no size");
    assert_refused("Nodes 2\n0->1 start 0 size 1 addon\n", "x.cm:2: unexpected 'addon'");
    assert_refused("Nodes 2\n0->1 id 3 start 0 size 1\n1->0 id 3 start 0 size 1\n", "x.cm:3: connection: flow id 3 is there twice");
    assert_refused("Nodes 2\nlinks 3\n",
                   "x.cm:2: unknown line 'links'; allowed: Nodes, Connections, Triggers, Failures, trigger, src->dst");
    assert_refused("Nodes 2\n\v\n", "x.cm:2: unknown line '?'; allowed: Nodes, Connections, Triggers, Failures, trigger, src->dst");
    assert_refused("Nodes 2\nFailures 1\n", "x.cm:2: failures are not supported by this reader");
    assert_refused("Nodes 2\nfailure switch_type TOR switch_id 0 link_id 0\n", "x.cm:2: failures are not supported by this reader");
}

static void test_read_htsim_cm__triggers_that_cannot_work(void **state)
{
    (void)state;
    assert_refused("Nodes 2\n0->1 trigger 1 size 1\n", "x.cm:2: trigger: there is no trigger 1");
    assert_refused("Nodes 2\ntrigger id 1 oneshot\n0->1 trigger 1 size 1\n",
                   "x.cm:2: trigger: oneshot, but 0 flows activate it; allowed: exactly 1");
    assert_refused("Nodes 2\ntrigger id 1 barrier\n", "x.cm:2: trigger: barrier 1 needs 'count C' with C of 1 or more");
    assert_refused("Nodes 2\ntrigger id 1 barrier count 2\n0->1 start 0 size 1 send_done_trigger 1\n1->0 trigger 1 size 1\n",
                   "x.cm:2: trigger: barrier of 2, but 1 flows activate it");
    assert_refused("Nodes 2\ntrigger id 1 multishot\n0->1 start 0 size 1 send_done_trigger 1\n1->0 trigger 1 size 1\n"
                   "1->0 trigger 1 size 1\n",
                   "x.cm:2: trigger: 2 targets, but only 1 flows activate it: the others would never start");
    assert_refused("Nodes 2\ntrigger id 1 sometimes\n",
                   "x.cm:2: trigger: 'sometimes' is no kind of trigger; allowed: oneshot, multishot, barrier");
    assert_refused("Nodes 2\ntrigger 1 oneshot\n", "x.cm:2: id: '1' where 'id' is expected");
}

static void test_read_htsim_cm__shipped_files_are_read(void **state)
{
    (void)state;
    const struct {
        const char *file;
        guint n;
    } cases[] = {{"bidir.cm", 2}, {"incast.cm", 15}, {"perm_16n_16c_2MB.cm", 16}};
    if (!g_file_test(TEST_SHARED_DIR "/real/htsim", G_FILE_TEST_IS_DIR)) {
        print_message("skipped: no real files beside the tree\n");
        skip();
    }
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = NULL, *path = g_build_filename(TEST_SHARED_DIR, "real", "htsim", cases[i].file, NULL);
        assert_true(g_file_get_contents(path, &text, NULL, NULL));
        struct job *job = read(text, NULL, NULL);
        assert_non_null(job);
        assert_int_equal(job->flows->len, cases[i].n);
        assert_int_equal(job_op_at(job, 0)->amount, 2000000);
        assert_true(job_seal(job, NULL));
        job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_htsim_cm__triggers_are_dependencies),
        cmocka_unit_test(test_read_htsim_cm__zero_size_is_a_flow),
        cmocka_unit_test(test_read_htsim_cm__bad_lines_are_named),
        cmocka_unit_test(test_read_htsim_cm__triggers_that_cannot_work),
        cmocka_unit_test(test_read_htsim_cm__shipped_files_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
