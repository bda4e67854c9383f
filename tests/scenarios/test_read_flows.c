/* test_read_flows.c - the flow list and its paths file. */
#include "scenarios/workload_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct job *read(const char *text, uint32_t n_ranks, GError **err)
{
    return read_flows_from_bytes("f.csv", (const uint8_t *)text, strlen(text), n_ranks, NULL, err);
}

static void assert_refused(const char *text, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_null(read(text, 4, &err));
    assert_true(g_error_matches(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT));
    assert_string_equal(err->message, message);
}

static const struct job_flow *flow_at(const struct job *job, guint i) { return &g_array_index(job->flows, struct job_flow, i); }

static void test_read_flows__columns_go_by_name(void **state)
{
    (void)state;
    struct job *job = read("bytes, dst ,src,start,class\r\n4KiB,1,0,10us,5\r\n7,2,1,0,\r\n", 4, NULL);
    assert_non_null(job);
    assert_int_equal(job->flows->len, 2);
    const struct job_op *send = job_op_at(job, flow_at(job, 0)->send_op), *recv = job_op_at(job, flow_at(job, 0)->recv_op);
    assert_int_equal(send->kind, JOB_SEND);
    assert_int_equal(send->rank, 0);
    assert_int_equal(send->peer, 1);
    assert_int_equal(send->amount, 4096);
    assert_int_equal(send->earliest_ps, 10 * UNIT_US);
    assert_int_equal(send->traffic_class, 5);
    assert_int_equal(recv->kind, JOB_RECV);
    assert_int_equal(recv->rank, 1);
    assert_int_equal(recv->amount, 4096);
    assert_int_equal(recv->earliest_ps, 0);
    assert_int_equal(job_op_at(job, flow_at(job, 1)->send_op)->traffic_class, JOB_CLASS_DEFAULT);
    assert_int_equal(flow_at(job, 1)->id, 1); /* no flow column: the row's number */
    assert_true(job_seal(job, NULL));
    assert_int_equal(send->match, flow_at(job, 0)->recv_op);
    job_free(job);
}

static void test_read_flows__start_units(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t start_ps;
    } cases[] = {
        {"src,dst,bytes,start_us\n0,1,1,0.5", 500000},
        {"src,dst,bytes,start_ns\n0,1,1,3", 3000},
        {"src,dst,bytes,start_ps\n0,1,1,17", 17},
        {"src,dst,bytes,start\n0,1,1,1ms", UNIT_MS},
        {"src,dst,bytes\n0,1,1", 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct job *job = read(cases[i].text, 2, NULL);
        assert_non_null(job);
        assert_int_equal(job_op_at(job, 0)->earliest_ps, cases[i].start_ps);
        job_free(job);
    }
}

static void test_read_flows__after_flow_is_a_dependency(void **state)
{
    (void)state;
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(TEST_DATA_DIR "/workloads/flows.csv", &text, NULL, NULL));
    struct job *job = read(text, 3, NULL);
    assert_non_null(job);
    assert_int_equal(flow_at(job, 2)->id, 7);
    uint32_t first = flow_at(job, 1)->send_op, next = flow_at(job, 2)->send_op;
    assert_int_equal(job_op_at(job, next)->earliest_ps, 0); /* its own start is not used */
    assert_int_equal(job_op_at(job, next)->amount, 0);
    assert_true(job_seal(job, NULL));
    assert_int_equal(job->n_deps[next], 1);
    assert_int_equal(job->succ_first[first + 1] - job->succ_first[first], 1);
    assert_int_equal(job->succ[job->succ_first[first]], next);
    job_free(job);
}

/* after_flow may name a later row; a ring of them can't run and is told as a cycle. */
static void test_read_flows__cycles_are_found_at_sealing(void **state)
{
    (void)state;
    struct job *job = read("flow,src,dst,bytes,after_flow\n5,0,1,1,6\n6,1,2,1,5\n", 3, NULL);
    g_autoptr(GError) err = NULL;
    assert_non_null(job);
    assert_false(job_seal(job, &err));
    assert_string_equal(err->message, "cycle of 2 operations: rank 0 op 5 -> rank 1 op 6 -> rank 0 op 5");
    job_free(job);
}

static void test_read_flows__sizes_are_64_bit(void **state)
{
    (void)state;
    struct job *job = read("src,dst,bytes\n0,1,5000000000\n0,1,5GB\n", 2, NULL);
    assert_non_null(job);
    assert_true(job_op_at(job, 0)->amount == INT64_C(5000000000));
    assert_true(job_op_at(job, 2)->amount == INT64_C(5000000000));
    job_free(job);
}

static void test_read_flows__applications_are_told_apart(void **state)
{
    (void)state;
    struct job *job = read("src,dst,bytes,application\n0,1,1,train\n0,1,1,storage\n1,0,1,\n1,0,1,train\n", 2, NULL);
    assert_non_null(job);
    static const uint32_t wanted[] = {1, 2, 0, 1};
    assert_int_equal(job->applications->len, 2);
    assert_string_equal(job->applications->pdata[1], "storage");
    for (guint i = 0; i < job->flows->len; i++)
        assert_int_equal(flow_at(job, i)->application, wanted[i]);
    job_free(job);
    g_autoptr(GString) many = g_string_new("src,dst,bytes,application\n");
    for (int i = 0; i < 65; i++)
        g_string_append_printf(many, "0,1,1,a%d\n", i);
    assert_refused(many->str, "f.csv:66: application: 'a64' is one name too many; allowed: 64 applications");
    assert_refused("src,dst,bytes,application\n0,1,1,\377\n", "f.csv:2: application: '?'; allowed: a name of up to 64 bytes of UTF-8 text");
}

static void test_read_flows__70000_flows_of_one_pair(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new("src,dst,bytes\n");
    for (int i = 0; i < 70000; i++)
        g_string_append(text, "0,1,1000\n");
    struct job *job = read(text->str, 2, NULL);
    assert_non_null(job);
    assert_int_equal(job->flows->len, 70000);
    assert_true(job_seal(job, NULL));
    for (guint i = 0; i < job->flows->len; i++)
        assert_int_equal(job_op_at(job, flow_at(job, i)->send_op)->match, flow_at(job, i)->recv_op);
    job_free(job);
}

static void test_read_flows__bad_rows_are_named(void **state)
{
    (void)state;
    assert_refused("", "f.csv:1: the file has no header line");
    assert_refused("src,dst\n", "f.csv:1: no column 'bytes'");
    assert_refused("src,dst,bytes,size\n",
                   "f.csv:1: unknown column 'size'; allowed: src, dst, bytes, flow, start, start_us, start_ns, start_ps, class, after_flow, application");
    assert_refused("src,dst,bytes,src\n", "f.csv:1: column 'src' is there twice");
    assert_refused("src,dst,bytes,start,start_us\n",
                   "f.csv:1: more than one start column; keep one of start, start_us, start_ns, start_ps");
    assert_refused("src,dst,bytes\n0,1\n", "f.csv:2: 2 fields, the header has 3");
    assert_refused("src,dst,bytes\n# note\n\n0,4,1\n", "f.csv:4: dst: rank 4 does not exist, there are 4 ranks");
    assert_refused("src,dst,bytes\n-1,3,1\n", "f.csv:2: src: rank -1 does not exist, there are 4 ranks");
    assert_refused("src,dst,bytes\nx,3,1\n", "f.csv:2: src: 'x' is not a rank");
    assert_refused("src,dst,bytes\n3,3,1\n", "f.csv:2: dst: 3 is the source, too; a flow needs two ranks");
    assert_refused("src,dst,bytes\n0,1,-5\n", "f.csv:2: bytes: -5 is negative; allowed: 0 or more");
    assert_refused("src,dst,bytes\n0,1,9223372036854775807\n", "f.csv:2: bytes: 9223372036854775807 is above 1000000000000000");
    assert_refused("src,dst,bytes\n0,1,9223372036854775808\n",
                   "f.csv:2: bytes: '9223372036854775808' is not a size; allowed: whole bytes (5000000000) or a number with a unit (4KiB)");
    assert_refused("src,dst,bytes,start\n0,1,1,10\n", "f.csv:2: start: '10' is not a time with a unit (10us), or 0");
    assert_refused("src,dst,bytes,start_us\n0,1,1,-1\n", "f.csv:2: start_us: '-1' is not 0 or later");
    assert_refused("src,dst,bytes,class\n0,1,1,8\n", "f.csv:2: class: 8 is outside 0..7");
    assert_refused("flow,src,dst,bytes\n3,0,1,1\n3,0,1,1\n", "f.csv:3: flow: flow 3 is there twice");
    assert_refused("src,dst,bytes,after_flow\n0,1,1,9\n", "f.csv:2: after_flow: there is no flow 9");
    assert_refused("src,dst,bytes,after_flow\n0,1,1,0\n", "f.csv:2: after_flow: flow 0 waits for itself");
}

static void test_read_flows__binary_is_refused(void **state)
{
    (void)state;
    g_autoptr(GError) err = NULL;
    const uint8_t data[] = {'s', '\n', 0xff, 0, 1};
    assert_null(read_flows_from_bytes("f.csv", data, sizeof data, 4, NULL, &err));
    assert_string_equal(err->message, "f.csv:2: zero byte; this is not a text file");
}

static bool read_paths(struct job *job, const char *text, GPtrArray *warnings, GError **err)
{
    return read_paths_from_bytes("p.csv", (const uint8_t *)text, strlen(text), job, warnings, err);
}

static void test_read_flows__paths_belong_to_flows(void **state)
{
    (void)state;
    g_autofree char *flows = NULL, *paths = NULL;
    assert_true(g_file_get_contents(TEST_DATA_DIR "/workloads/flows.csv", &flows, NULL, NULL));
    assert_true(g_file_get_contents(TEST_DATA_DIR "/workloads/paths.csv", &paths, NULL, NULL));
    struct job *job = read(flows, 3, NULL);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    assert_true(read_paths(job, paths, warnings, NULL));
    assert_int_equal(job->paths->len, 2);
    const struct job_path *path = &g_array_index(job->paths, struct job_path, 1);
    assert_int_equal(path->flow_id, 1);
    assert_int_equal(path->src_rank, 1);
    assert_int_equal(path->dst_rank, 2);
    assert_int_equal(path->n_data, 3);
    assert_int_equal(path->data_nodes[1], 3);
    assert_int_equal(path->ack_nodes[2], 1);
    assert_int_equal(warnings->len, 1); /* flow 7 has no path */
    assert_string_equal(g_ptr_array_index(warnings, 0), "p.csv: 1 of 3 flows have no path here; routing chooses theirs");
    job_free(job);
}

static void assert_path_refused(const char *text, const char *message)
{
    struct job *job = read("src,dst,bytes\n0,1,1\n", 4, NULL);
    g_autoptr(GError) err = NULL;
    assert_false(read_paths(job, text, NULL, &err));
    assert_string_equal(err->message, message);
    job_free(job);
}

static void test_read_flows__bad_paths_are_named(void **state)
{
    (void)state;
    assert_path_refused("flow,data_path,ack_path\n1,0-1,1-0\n", "p.csv:2: flow: flow 1 is not in the workload, or has a path already");
    assert_path_refused("flow,data_path,ack_path\n0,0-1,1-0\n0,0-1,1-0\n",
                        "p.csv:3: flow: flow 0 is not in the workload, or has a path already");
    assert_path_refused("flow,data_path,ack_path\n0,0,1-0\n",
                        "p.csv:2: data_path: '0' is not a path; allowed: node ids joined by '-', two at least");
    assert_path_refused("flow,data_path,ack_path\n0,0-x-1,1-0\n", "p.csv:2: data_path: 'x' is not a whole number");
    assert_path_refused("flow,data_path,ack_path\n0,0-1,1-2\n",
                        "p.csv:2: ack_path: must lead from the end of data_path back to its start (1 to 0)");
}

/* The reference runs of another simulator: 32,512 chained flows with their paths. */
static void test_read_flows__reference_files_are_read(void **state)
{
    (void)state;
    g_autofree char *flows = NULL, *paths = NULL;
    gsize n_flows = 0, n_paths = 0;
    if (!g_file_get_contents(TEST_SHARED_DIR "/reference/e_ring128_8MB.flows.csv", &flows, &n_flows, NULL) ||
        !g_file_get_contents(TEST_SHARED_DIR "/reference/leafspine128--e_ring128_8MB.paths.csv", &paths, &n_paths, NULL)) {
        print_message("skipped: no reference files beside the tree\n");
        skip();
    }
    struct job *job = read_flows_from_bytes("e", (const uint8_t *)flows, n_flows, 128, NULL, NULL);
    assert_non_null(job);
    assert_int_equal(job->flows->len, 32512);
    assert_true(read_paths_from_bytes("p", (const uint8_t *)paths, n_paths, job, NULL, NULL));
    assert_int_equal(job->paths->len, 32512);
    assert_true(job_seal(job, NULL));
    job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_flows__columns_go_by_name),
        cmocka_unit_test(test_read_flows__start_units),
        cmocka_unit_test(test_read_flows__after_flow_is_a_dependency),
        cmocka_unit_test(test_read_flows__cycles_are_found_at_sealing),
        cmocka_unit_test(test_read_flows__sizes_are_64_bit),
        cmocka_unit_test(test_read_flows__applications_are_told_apart),
        cmocka_unit_test(test_read_flows__70000_flows_of_one_pair),
        cmocka_unit_test(test_read_flows__bad_rows_are_named),
        cmocka_unit_test(test_read_flows__binary_is_refused),
        cmocka_unit_test(test_read_flows__paths_belong_to_flows),
        cmocka_unit_test(test_read_flows__bad_paths_are_named),
        cmocka_unit_test(test_read_flows__reference_files_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
