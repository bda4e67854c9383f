/* test_results.c - what a run records, held by arithmetic; and the verdicts of run.c. */
#include "scenarios/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* A star of 100 Gb/s (80 ps a byte) and 1 us links without any other latency. */
static const char *const plain[] = {"topology.host_rate=100Gbps", "topology.host_delay=1us", "link.fec_latency=0",
                                    "switch.latency=0", "switch.forwarding=store_and_forward", "nic.tx_latency=0",
                                    "nic.rx_latency=0", NULL};

static struct run_result *run(struct scenario *scenario, const char *const *settings)
{
    g_autoptr(GError) err = NULL;
    for (const char *const *s = settings; s && *s; s++)
        if (!scenario_set(scenario, *s, &err))
            fail_msg("%s", err->message);
    const struct run_options options = {0};
    struct run_result *result = scenario_check(scenario, &err) ? run_scenario(scenario, &options, &err) : NULL;
    if (!result)
        fail_msg("%s", err->message);
    scenario_free(scenario);
    return result;
}

/* Flow list FILE on two hosts of the plain star. */
static struct scenario *flows(const char *file)
{
    struct scenario *scenario = scenario_new_default();
    g_autofree char *set_file = g_strdup_printf("workload.file=%s/run/%s", TEST_DATA_DIR, file);
    assert_true(scenario_set(scenario, "workload.kind=flows", NULL) && scenario_set(scenario, set_file, NULL));
    for (const char *const *s = plain; *s; s++)
        assert_true(scenario_set(scenario, *s, NULL));
    return scenario;
}

static int64_t cell(const struct run_result *result, const char *table, const char *column, int64_t row)
{
    const struct record_table *t = record_table_get(result->book, table);
    assert_non_null(t);
    int c = record_table_column(t, column);
    assert_true(c >= 0 && row < record_table_n_rows(t));
    return record_column_i64(t, c)[row];
}

static double summary(const struct run_result *result, const char *name)
{
    double value = -1;
    assert_true(record_summary_get(result->book, name, &value));
    return value;
}

static bool any_contains(const GPtrArray *texts, const char *part)
{
    for (guint i = 0; i < texts->len; i++)
        if (strstr(g_ptr_array_index(texts, i), part))
            return true;
    return false;
}

static bool warns(const struct run_result *result, const char *part)
{
    const char *key, *value;
    for (int i = 0; i < record_meta_n(result->book); i++) {
        record_meta_at(result->book, i, &key, &value);
        if (g_str_has_prefix(key, "warning.") && strstr(value, part))
            return true;
    }
    return false;
}

/* One packet: 4096 + 62 + 16 RETH + 20 = 4194 B = 335.52 ns on each of two links, 1 us each. Its ACK: 86 B. */
static void test_results__one_packet_by_hand(void **state)
{
    (void)state;
    struct run_result *r = run(flows("one.csv"), NULL);
    const int64_t there_ps = 2 * (4194 * 80 + 1000000), back_ps = 2 * (86 * 80 + 1000000);
    assert_int_equal(r->status, RUN_FINISHED);
    assert_int_equal(cell(r, "flows", "fct_rx_ps", 0), there_ps);
    assert_int_equal(cell(r, "flows", "ideal_ps", 0), there_ps);
    assert_int_equal(cell(r, "flows", "fct_ack_ps", 0), there_ps + back_ps);
    assert_int_equal(cell(r, "flows", "done", 0), 1);
    assert_int_equal(cell(r, "ports", "tx_bytes", 0), 4194); /* rank 0's NIC */
    assert_int_equal(cell(r, "ports", "tx_bytes", 1), 86);   /* rank 1's: the ACK */
    assert_int_equal(cell(r, "ledger", "class", 0), 3);
    assert_int_equal(cell(r, "ledger", "sent_pkts", 0), 2);
    assert_int_equal(cell(r, "ledger", "received_bytes", 0), 4174 + 66);
    assert_int_equal((int64_t)summary(r, "data_hops"), 2);
    assert_int_equal((int64_t)summary(r, "makespan_ps"), there_ps + back_ps);
    assert_true(warns(r, "DCQCN never acted"));
    run_result_free(r);
}

/* Cut at 20 us: 1 MB needs 83.5 us. The ledger still adds up. */
static void test_results__a_cut_run_says_so(void **state)
{
    (void)state;
    struct run_result *r = run(flows("long.csv"), (const char *const[]){"run.until=20us", NULL});
    assert_int_equal(r->status, RUN_UNFINISHED);
    assert_true(any_contains(r->notes, "flows 0/1 complete"));
    assert_string_equal(record_meta_get(r->book, "status"), "incomplete");
    assert_int_equal(cell(r, "flows", "fct_rx_ps", 0), -1);
    assert_int_equal(cell(r, "flows", "done", 0), 0);
    int64_t out = cell(r, "ledger", "received_pkts", 0) + cell(r, "ledger", "dropped_pkts", 0) + cell(r, "ledger", "in_flight_pkts", 0);
    assert_int_equal(cell(r, "ledger", "sent_pkts", 0), out);
    assert_true(cell(r, "ledger", "in_flight_pkts", 0) > 0);
    run_result_free(r);
}

/* Ring all-reduce of 4 MiB on 4 hosts: 6 messages of 1 MiB a NIC, each 1048576 + 256 x 82 + 16 = 1069584 B on the wire. */
static void test_results__bound_of_a_ring_is_the_wire_bytes_of_a_nic(void **state)
{
    (void)state;
    struct scenario *s = scenario_new_default();
    for (const char *const *p = plain; *p; p++)
        assert_true(scenario_set(s, *p, NULL));
    struct run_result *r = run(s, (const char *const[]){"topology.hosts=4", "workload.kind=collective",
                                                        "collective.op=all_reduce", "collective.bytes=4MiB", NULL});
    assert_int_equal(cell(r, "collectives", "bound_ps", 0), INT64_C(6) * 1069584 * 80);
    assert_true(cell(r, "collectives", "time_ps", 0) >= cell(r, "collectives", "bound_ps", 0));
    assert_int_equal(cell(r, "collectives", "skew_ps", 0), 0);
    const struct record_table *messages = record_table_get(r->book, "messages");
    assert_int_equal(record_table_n_rows(messages), 4 * 6);
    for (int64_t i = 0; i < 4 * 6; i++) {
        assert_int_equal(cell(r, "messages", "bytes", i), 1048576);
        assert_true(cell(r, "messages", "rx_ps", i) < cell(r, "messages", "ack_ps", i));
    }
    run_result_free(r);
}

/* The example: two layers of 200 us compute, each followed by an all-reduce that nothing hides. */
static void test_results__step_is_compute_and_exposed_communication(void **state)
{
    (void)state;
    struct run_result *r = run(scenario_load(FABRICAST_SOURCE_DIR "/scenarios/examples/rail64/rail64.ini", NULL), NULL);
    assert_int_equal((int64_t)summary(r, "step_compute_ps"), 400 * UNIT_US);
    assert_true(summary(r, "step_ps") == summary(r, "makespan_ps"));
    assert_true(summary(r, "step_exposed_ps") == summary(r, "step_ps") - summary(r, "step_compute_ps"));
    int64_t grads = cell(r, "collectives", "time_ps", 0) + cell(r, "collectives", "time_ps", 1);
    assert_true(summary(r, "step_exposed_ps") >= (double)grads);
    assert_int_equal(cell(r, "ranks", "compute_ps", 63), 400 * UNIT_US);
    /* Series: times never fall, links never above their rate. */
    const struct record_table *links = record_table_get(r->book, "series/link");
    const double *utilisation = record_column_f64(links, record_table_column(links, "utilisation"));
    for (int64_t i = 0; i < record_table_n_rows(links); i++) {
        assert_true(i == 0 || cell(r, "series/link", "t_ps", i) >= cell(r, "series/link", "t_ps", i - 1));
        assert_true(utilisation[i] <= 1.3); /* a frame may start in one interval and count there whole */
    }
    run_result_free(r);
}

static void test_results__recording_does_not_change_the_run(void **state)
{
    (void)state;
    struct run_result *on = run(flows("long.csv"), (const char *const[]){"run.series_grain=5us", NULL});
    struct run_result *off = run(flows("long.csv"), (const char *const[]){"run.record_flows=false", "run.record_events=false", NULL});
    assert_string_equal(record_meta_get(on->book, "digest"), record_meta_get(off->book, "digest"));
    assert_non_null(record_table_get(on->book, "series/queue"));
    assert_non_null(record_table_get(on->book, "events/pfc"));
    assert_null(record_table_get(off->book, "series/queue"));
    assert_null(record_table_get(off->book, "events/pfc"));
    assert_null(record_table_get(off->book, "flows"));
    run_result_free(on);
    run_result_free(off);
}

/* Pauses: events/pfc, ports and the summary tell the same time. */
static void test_results__pauses_add_up(void **state)
{
    (void)state;
    struct run_result *r = run(scenario_load(FABRICAST_SOURCE_DIR "/scenarios/examples/incast16.ini", NULL),
                               (const char *const[]){"buffer.size=8MiB", "nic.congestion_control=none", NULL});
    const struct record_table *events = record_table_get(r->book, "events/pfc"), *ports = record_table_get(r->book, "ports");
    double paused = 0, from_ports = 0, frames = 0;
    g_autofree int64_t *since = g_new0(int64_t, (gsize)record_table_n_rows(ports));
    for (int64_t i = 0; i < record_table_n_rows(events); i++) {
        int64_t port = cell(r, "events/pfc", "port", i), t = cell(r, "events/pfc", "t_ps", i);
        bool pauses = cell(r, "events/pfc", "quanta", i) > 0;
        if (pauses && since[port] == 0)
            since[port] = t;
        if (!pauses && since[port] > 0) {
            paused += (double)(t - since[port]);
            since[port] = 0;
        }
        frames += pauses;
    }
    for (int64_t p = 0; p < record_table_n_rows(ports); p++)
        from_ports += (double)cell(r, "ports", "paused_ps", p);
    assert_true(frames > 0 && frames == summary(r, "pfc_pause_frames"));
    assert_true(paused == from_ports && paused == summary(r, "pfc_paused_ps"));
    assert_int_equal((int64_t)summary(r, "drop_pkts"), 0);
    run_result_free(r);
}

static void test_results__lossless_drops_are_located(void **state)
{
    (void)state;
    struct run_result *r = run(scenario_load(FABRICAST_SOURCE_DIR "/scenarios/examples/incast16.ini", NULL),
                               (const char *const[]){"buffer.size=8MiB", "nic.congestion_control=none",
                                                     "buffer.headroom_scale=0.5", NULL});
    assert_true(summary(r, "lossless_drop_pkts") > 0);
    assert_true(warns(r, "lossless packets dropped at leaf0 port "));
    assert_true(warns(r, " B, needed >= "));
    run_result_free(r);
}

/* 100 km: the round trip of 1 ms is longer than seven timeouts of 4.096 us x 2^4. */
static void test_results__a_queue_pair_without_retries_is_named(void **state)
{
    (void)state;
    struct run_result *r = run(flows("long.csv"), (const char *const[]){"topology.host_delay=0", "topology.host_cable=100km",
                                                                        "pfc.enabled=false", "nic.local_ack_timeout=4", NULL});
    assert_int_equal(r->status, RUN_STUCK);
    assert_true(any_contains(r->notes, "queue pair 0, rank 0 to rank 1: 7 retries without an answer, gave up at"));
    assert_true(any_contains(r->notes, "flows 0/1 complete"));
    run_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results__one_packet_by_hand),
        cmocka_unit_test(test_results__a_cut_run_says_so),
        cmocka_unit_test(test_results__bound_of_a_ring_is_the_wire_bytes_of_a_nic),
        cmocka_unit_test(test_results__step_is_compute_and_exposed_communication),
        cmocka_unit_test(test_results__recording_does_not_change_the_run),
        cmocka_unit_test(test_results__pauses_add_up),
        cmocka_unit_test(test_results__lossless_drops_are_located),
        cmocka_unit_test(test_results__a_queue_pair_without_retries_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
