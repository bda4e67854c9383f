/* test_workload.c - from [workload] and [collective] to a sealed job. */
#include "scenarios/workload.h"
#include "scenarios/workload_read.h"
#include "topologies/topology_params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const struct param_group *const groups[] = {&workload_param_group, &collective_param_group};

static struct param_bag *new_bag(void) { return param_bag_new(groups, 2); }

static void set(struct param_bag *bag, const char *assignment)
{
    g_autoptr(GError) err = NULL;
    if (!param_bag_set_assignment(bag, assignment, PARAM_BY_FILE, "x.ini:1", &err))
        fail_msg("%s", err->message);
}

/* A star of N hosts, or with a file the fabric of that HPCC topology. */
static struct fabric *make_fabric(uint32_t n, const char *hpcc_file)
{
    static const struct param_group *const topology[] = {&topology_param_group};
    struct param_bag *bag = param_bag_new(topology, 1);
    g_autofree char *hosts = g_strdup_printf("topology.hosts=%u", n);
    g_autofree char *file = g_strdup_printf("topology.file=%s", hpcc_file ? hpcc_file : "");
    set(bag, hosts);
    set(bag, hpcc_file ? "topology.kind=hpcc" : "topology.kind=star");
    set(bag, file);
    g_autoptr(GError) err = NULL;
    struct fabric *fabric = fabric_build(param_bag_get(bag, "topology"), TEST_DATA_DIR "/workloads", &err);
    if (!fabric)
        fail_msg("%s", err->message);
    param_bag_free(bag);
    return fabric;
}

static struct job *load_on(struct fabric *fabric, struct param_bag *bag, GPtrArray *warnings, GError **err)
{
    struct job *job = workload_load(param_bag_get(bag, "workload"), param_bag_get(bag, "collective"), fabric,
                                    TEST_DATA_DIR "/workloads", warnings, err);
    fabric_free(fabric);
    return job;
}

static struct job *load(struct param_bag *bag, uint32_t n_endpoints, GPtrArray *warnings, GError **err)
{
    return load_on(make_fabric(n_endpoints, NULL), bag, warnings, err);
}

/* Frees BAG. */
static void assert_refused(struct param_bag *bag, uint32_t n_endpoints, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_null(load(bag, n_endpoints, NULL, &err));
    assert_true(err->domain == WORKLOAD_ERROR);
    assert_string_equal(err->message, message);
    param_bag_free(bag);
}

static void test_workload__flows_with_paths(void **state)
{
    (void)state;
    struct param_bag *bag = new_bag();
    set(bag, "workload.kind=flows");
    set(bag, "workload.file=flows.csv");
    set(bag, "workload.paths=paths.csv");
    assert_true(param_bag_check(bag, NULL));
    struct job *job = load(bag, 3, NULL, NULL);
    assert_non_null(job);
    assert_true(job->sealed);
    assert_int_equal(job->n_ranks, 3);
    assert_int_equal(job->flows->len, 3);
    assert_int_equal(job->paths->len, 2);
    job_free(job);
    param_bag_free(bag);
}

static void test_workload__repeats_follow_each_other_on_every_rank(void **state)
{
    (void)state;
    struct param_bag *bag = new_bag();
    set(bag, "workload.kind=collective");
    set(bag, "collective.op=all_reduce");
    set(bag, "collective.bytes=48MiB");
    set(bag, "collective.repeat=3");
    set(bag, "collective.ranks=4-6,0");
    assert_true(param_bag_check(bag, NULL));
    struct job *job = load(bag, 8, NULL, NULL);
    assert_non_null(job);
    assert_int_equal(job->collectives->len, 3);
    for (guint i = 0; i < 3; i++) {
        const struct job_collective *c = &g_array_index(job->collectives, struct job_collective, i);
        assert_int_equal(c->n_ranks, 4);
        assert_int_equal(c->ranks[0], 4);
        assert_int_equal(c->ranks[3], 0);
        for (int p = 0; p < 4; p++) {
            /* The end of the repeat before, and its 2 x 3 sends of this rank. */
            assert_int_equal(job->n_deps[c->start_op[p]], i == 0 ? 0 : 1 + 6);
            if (i > 0)
                assert_int_equal(job->succ[job->succ_first[c[-1].end_op[p]]], c->start_op[p]);
        }
    }
    job_free(job);
    param_bag_free(bag);
}

static void test_workload__too_many_ranks_name_both_numbers(void **state)
{
    (void)state;
    struct param_bag *bag = new_bag();
    set(bag, "workload.kind=chakra");
    set(bag, "workload.file=" FABRICAST_SOURCE_DIR "/scenarios/examples/rail64/trace");
    assert_refused(bag, 32, "workload.ranks: the workload has 64 ranks, but the fabric has 32 endpoints");
    bag = new_bag();
    set(bag, "workload.kind=collective");
    set(bag, "workload.ranks=9");
    assert_refused(bag, 8, "workload.ranks: the workload has 9 ranks, but the fabric has 8 endpoints");
    bag = new_bag();
    set(bag, "workload.kind=collective");
    set(bag, "collective.ranks=0-8");
    assert_refused(bag, 8, "collective: rank 8 does not exist, the job has 8 ranks");
    bag = new_bag();
    set(bag, "workload.kind=chakra");
    set(bag, "workload.ranks=8");
    set(bag, "workload.file=" FABRICAST_SOURCE_DIR "/scenarios/examples/rail64/trace");
    assert_refused(bag, 128, "workload.ranks: 8 ranks are asked for, but the file has 64");
}

static void test_workload__fewer_ranks_warn(void **state)
{
    (void)state;
    struct param_bag *bag = new_bag();
    set(bag, "workload.kind=chakra");
    set(bag, "workload.file=" FABRICAST_SOURCE_DIR "/scenarios/examples/rail64/trace");
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    struct job *job = load(bag, 128, warnings, NULL);
    assert_non_null(job);
    assert_int_equal(job->n_ranks, 64);
    assert_int_equal(warnings->len, 1);
    assert_string_equal(g_ptr_array_index(warnings, 0), "64 ranks on a fabric of 128 endpoints: endpoints 0 to 63 are used");
    job_free(job);
    param_bag_free(bag);
}

static void test_workload__collective_settings_reach_traces(void **state)
{
    (void)state;
    struct param_bag *bag = new_bag();
    set(bag, "workload.kind=chakra");
    set(bag, "workload.file=" FABRICAST_SOURCE_DIR "/scenarios/examples/rail64/trace");
    set(bag, "collective.max_message=128KiB");
    set(bag, "collective.channels=2");
    set(bag, "collective.traffic_class=4");
    struct job *job = load(bag, 64, NULL, NULL);
    assert_non_null(job);
    bool second = false;
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        if (op->kind != JOB_SEND)
            continue;
        assert_true(op->amount <= 128 * UNIT_KIB);
        assert_int_equal(op->traffic_class, 4);
        second |= op->channel == 1;
    }
    assert_true(second);
    job_free(job);
    param_bag_free(bag);
}

static void test_workload__htsim_brings_its_ranks(void **state)
{
    (void)state;
    struct param_bag *bag = new_bag();
    set(bag, "workload.kind=htsim");
    set(bag, "workload.file=chain.cm");
    struct job *job = load(bag, 16, NULL, NULL);
    assert_non_null(job);
    assert_int_equal(job->n_ranks, 4);
    job_free(job);
    param_bag_free(bag);
}

/* Node 0 is the switch: flow "1 3" goes from the first host to the third. */
static void test_workload__hpcc_flows_speak_of_nodes(void **state)
{
    (void)state;
    struct param_bag *bag = new_bag();
    set(bag, "workload.kind=hpcc");
    set(bag, "workload.file=flow_switch0.txt");
    struct job *job = load_on(make_fabric(1, "switch0.txt"), bag, NULL, NULL);
    assert_non_null(job);
    const struct job_op *send = job_op_at(job, g_array_index(job->flows, struct job_flow, 0).send_op);
    assert_int_equal(send->rank, 0);
    assert_int_equal(send->peer, 2);
    job_free(job);
    set(bag, "workload.file=flow_to_switch.txt");
    g_autoptr(GError) err = NULL;
    assert_null(load_on(make_fabric(1, "switch0.txt"), bag, NULL, &err));
    assert_non_null(strstr(err->message, "node 0 is a switch; allowed: hosts"));
    param_bag_free(bag);
}

static void test_workload__missing_files_are_named(void **state)
{
    (void)state;
    struct param_bag *bag = new_bag();
    set(bag, "workload.kind=hpcc");
    set(bag, "workload.file=nowhere.txt");
    g_autoptr(GError) err = NULL;
    assert_null(load(bag, 4, NULL, &err));
    assert_true(g_error_matches(err, WORKLOAD_ERROR, WORKLOAD_ERROR_FILE));
    assert_true(g_str_has_prefix(err->message, TEST_DATA_DIR "/workloads/nowhere.txt: "));
    param_bag_free(bag);
    assert_refused(new_bag(), 4, "workload.kind: none: there is nothing to run; allowed: flows, hpcc, htsim, chakra, collective");
}

static void assert_check_fails(const char *first, const char *second, const char *message)
{
    struct param_bag *bag = new_bag();
    set(bag, first);
    set(bag, second);
    g_autoptr(GError) err = NULL;
    assert_false(param_bag_check(bag, &err));
    assert_non_null(strstr(err->message, message));
    param_bag_free(bag);
}

static void test_workload__contradictions_are_refused(void **state)
{
    (void)state;
    assert_check_fails("workload.kind=flows", "workload.ranks=2", "missing; this kind of workload is read from a file");
    assert_check_fails("workload.kind=collective", "workload.file=a.csv", "'a.csv' would not be read");
    assert_check_fails("workload.kind=collective", "workload.paths=p.csv", "only flows have fixed paths");
    assert_check_fails("collective.op=all_to_all", "collective.algorithm=ring", "all_to_all does not have this algorithm");
    assert_check_fails("collective.bytes=6B", "collective.elem=4B", "not a whole number of elements of 4 bytes");
    assert_check_fails("collective.op=barrier", "collective.ranks=3-1", "'3-1' is not a rank or a range of ranks");
}

static void test_workload__rank_lists(void **state)
{
    (void)state;
    g_autoptr(GArray) ranks = workload_parse_ranks(" 0-2, 7,5 - 6 ", NULL);
    const uint32_t right[] = {0, 1, 2, 7, 5, 6};
    assert_non_null(ranks);
    assert_int_equal(ranks->len, 6);
    for (guint i = 0; i < 6; i++)
        assert_int_equal(g_array_index(ranks, uint32_t, i), right[i]);
    g_autoptr(GArray) none = workload_parse_ranks("  ", NULL);
    assert_int_equal(none->len, 0);
    const char *const bad[] = {"a", "1-", "-1", "2-1", "1,,2", "0-16777216", "1-2-3"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) err = NULL;
        assert_null(workload_parse_ranks(bad[i], &err));
        assert_true(g_error_matches(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workload__flows_with_paths),
        cmocka_unit_test(test_workload__repeats_follow_each_other_on_every_rank),
        cmocka_unit_test(test_workload__too_many_ranks_name_both_numbers),
        cmocka_unit_test(test_workload__fewer_ranks_warn),
        cmocka_unit_test(test_workload__collective_settings_reach_traces),
        cmocka_unit_test(test_workload__htsim_brings_its_ranks),
        cmocka_unit_test(test_workload__hpcc_flows_speak_of_nodes),
        cmocka_unit_test(test_workload__missing_files_are_named),
        cmocka_unit_test(test_workload__contradictions_are_refused),
        cmocka_unit_test(test_workload__rank_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
