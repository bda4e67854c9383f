/* test_net_run.c - how runs end, and that threads, recording and cutting a run into pieces do not change it. */
#include "models/net_fixture.h"

#include <string.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)

/* ---- ends --------------------------------------------------------------------------- */
static void test_net_run__time_limit_leaves_work_unfinished(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 16, G100, CABLE);
    for (uint32_t i = 0; i < 15; i++) /* cases.md 6: at 100 us no flow of this incast can be done */
        net_fixture_flow(&f, i, 15, 2000000, 0);
    assert_int_equal(net_fixture_run_until(&f, 100 * UNIT_US), NET_UNFINISHED);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(t.ops_done, 0);
    assert_int_equal(t.ops_total, 30);
    assert_true(t.now_ps >= 100 * UNIT_US && t.now_ps < 110 * UNIT_US);
    struct net_progress p;
    net_progress(f.net, &p);
    assert_int_equal(p.total_pkts, 15 * 489);
    assert_true(p.received_pkts > 0 && p.received_pkts <= 300); /* 1.25 MB */
    net_fixture_run(&f); /* and on to the end */
    net_progress(f.net, &p);
    assert_int_equal(p.received_pkts, p.total_pkts);
    net_fixture_release(&f);
}

static bool stop_at_10us(void *user, struct net *net, sim_ps now_ps)
{
    sim_ps *last = user;
    (void)net;
    assert_true(now_ps >= *last);
    *last = now_ps;
    return now_ps < 10 * UNIT_US;
}

static void test_net_run__hook_can_end_the_run(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, G100, CABLE);
    net_fixture_message(&f, 0, 1, 1000000);
    sim_ps last = 0;
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, stop_at_10us, &last), NET_UNFINISHED);
    assert_true(last >= 10 * UNIT_US && last < 12 * UNIT_US);
    net_fixture_run(&f);
    net_fixture_release(&f);
}

/* Nothing is left to happen, but ops wait: the queue pair that they need has failed (its ACKs are dropped). */
static void test_net_run__work_that_can_never_be_done_is_stuck(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 3, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"nic.ack_class=0", "buffer.lossy_limit=1B", "nic.local_ack_timeout=3",
                                                  "nic.retry_cnt=1", NULL});
    struct fixture_message lost = net_fixture_message(&f, 0, 1, 100);
    uint32_t after = job_add_nop(f.job, 0, JOB_NONE), free_op = job_add_compute(f.job, 2, UNIT_US);
    job_depend(f.job, after, lost.send);
    assert_int_equal(net_fixture_run_until(&f, UNIT_S), NET_STUCK);
    assert_int_equal(net_op_done_ps(f.net, after), -1);
    assert_int_equal(net_op_done_ps(f.net, free_op), UNIT_US);
    assert_int_equal(net_fixture_totals(&f).ops_done, 2); /* the receive and the compute */
    g_autofree char *text = net_deadlock_text(f.net);
    assert_string_equal(text, "");
    net_fixture_release(&f);
}

static void test_net_run__empty_job_is_finished(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, G100, CABLE);
    net_fixture_job(&f);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_totals(&f).events, 0);
    net_fixture_release(&f);
}

/* Ops are done before the last ACK or CNP is home; a finished run waits for it. */
static void test_net_run__finished_means_that_nothing_is_under_way(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 5, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"ecn.kmin=0", "ecn.kmax=0", "dcqcn.min_time_between_cnps=0", NULL});
    for (uint32_t i = 0; i < 4; i++)
        net_fixture_flow(&f, i, 4, 300000, 0);
    net_fixture_run(&f);
    for (uint32_t c = 0; c < NET_CLASSES; c++) {
        struct net_class_ledger ledger;
        net_ledger(f.net, c, &ledger);
        assert_int_equal(ledger.waiting_pkts, 0);
        assert_int_equal(ledger.sent_pkts, ledger.received_pkts);
        assert_int_equal(ledger.sent_bytes, ledger.received_bytes);
    }
    struct net_totals t = net_fixture_totals(&f);
    assert_true(t.cnp_sent_pkts > 100);
    assert_int_equal(t.cnp_handled_pkts, t.cnp_sent_pkts);
    net_fixture_release(&f);
}

/* ---- deadlock: cases.md 25 --------------------------------------------------------------- */
/* hA -> hC via B, hB -> hA via C, hC -> hB via A; ACKs go the short way. */
static int clockwise(void *user, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    const struct net_fixture *f = user;
    uint32_t src = r->src_rank, dst = r->dst_rank;
    (void)max, (void)err;
    const uint32_t there[] = {src, 3 + src, 3 + (src + 1) % 3, 3 + dst, dst}, back[] = {dst, 3 + dst, 3 + src, src};
    int n = r->reverse ? 3 : 4;
    for (int i = 0; i < n; i++)
        ports[i] = r->reverse ? net_fixture_port(f, back[i], back[i + 1]) : net_fixture_port(f, there[i], there[i + 1]);
    return n;
}

static enum net_verdict ring(struct net_fixture *f, const char *const *settings, int64_t bytes)
{
    net_fixture_init(f);
    net_fixture_ring3(f, G100, CABLE);
    net_fixture_set_all(f, (const char *const[]){"ecn.enabled=false", "nic.congestion_control=none", "nic.ack_class=6", NULL});
    net_fixture_set_all(f, settings);
    f->config.route = clockwise;
    f->config.route_user = f;
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_flow(f, i, (i + 2) % 3, bytes, 0);
    return net_fixture_run_until(f, 20 * UNIT_MS);
}

static void test_net_run__ring_of_switches_deadlocks_and_is_named(void **state)
{
    (void)state;
    static const char *const timed[] = {"pfc.timed=true", "pfc.timed=false"};
    for (int i = 0; i < 2; i++) {
        struct net_fixture f;
        assert_int_equal(ring(&f, (const char *const[]){"buffer.size=1MB", timed[i], NULL}, 100000000), NET_DEADLOCK);
        g_autofree char *text = net_deadlock_text(f.net);
        static const char *const links[] = {"A -> B", "B -> C", "C -> A"};
        for (int k = 0; k < 3; k++)
            assert_non_null(strstr(text, links[k]));
        assert_null(strstr(text, "h0"));
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        assert_int_equal(g_strv_length(lines), 4); /* three paused ports and the end */
        struct net_totals t = net_fixture_totals(&f);
        assert_int_equal(t.drop_pkts, 0);
        assert_true(t.now_ps < 20 * UNIT_MS);
        sim_ps paused = f.net->cold[f.net->port_of_graph[net_fixture_port(&f, 3, 4)]].pause_start_ps[3];
        assert_true(t.now_ps >= paused + FIXTURE_DEADLOCK_PS);
        net_fixture_release(&f);
    }
}

/* The same ring without PFC has nothing to lock: packets are lost, not held. */
static void test_net_run__lossy_ring_does_not_deadlock(void **state)
{
    (void)state;
    struct net_fixture f;
    assert_int_not_equal(ring(&f, (const char *const[]){"buffer.size=1MB", "pfc.enabled=false", "nic.local_ack_timeout=8", NULL},
                              3000000),
                         NET_DEADLOCK);
    assert_true(net_fixture_totals(&f).drop_pkts > 0);
    net_fixture_release(&f);
}

/* Ports that pause each other for a while are no deadlock; nor is a long compute without traffic. */
static void test_net_run__standing_still_is_no_deadlock(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 5, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"buffer.alpha=1/128", "ecn.enabled=false", "nic.congestion_control=none", NULL});
    for (uint32_t i = 0; i < 4; i++)
        net_fixture_flow(&f, i, 4, 1000000, 0);
    uint32_t nap = job_add_compute(f.job, 0, 50 * UNIT_MS);
    net_fixture_run(&f);
    assert_int_equal(net_op_done_ps(f.net, nap), 50 * UNIT_MS);
    assert_true(net_fixture_totals(&f).pause_frames > 0);
    net_fixture_release(&f);
}

/* ---- determinism ------------------------------------------------------------------------------- */
struct outcome { struct net_totals totals; sim_ps last_ps; };

/* 16 hosts, 4 leaves, 2 spines: an incast of 12 on one host beside a permutation, DCQCN, PFC and a small buffer. */
static void busy_fabric(struct net_fixture *f, int64_t bytes)
{
    net_fixture_init(f);
    net_fixture_leaf_spine(f, 4, 4, 2, G100, CABLE);
    net_fixture_set_all(f, (const char *const[]){"buffer.size=1200KB", "ecn.kmin=40KB", "ecn.kmax=160KB", NULL});
    for (uint32_t i = 0; i < 16; i++)
        net_fixture_flow(f, i, (i * 5 + 4) % 16 == i ? (i + 1) % 16 : (i * 5 + 4) % 16, bytes, i * 100 * UNIT_NS);
    for (uint32_t i = 4; i < 16; i++)
        net_fixture_flow(f, i, 0, bytes, 5 * UNIT_US);
}

static struct outcome run_busy(int n_threads, bool record, const sim_ps *stops, int n_stops)
{
    struct net_fixture f;
    busy_fabric(&f, 1000000);
    f.config.record_pause_events = record;
    for (int i = 0; i < n_stops; i++)
        assert_int_equal(net_fixture_run_hook(&f, stops[i], n_threads, NULL, NULL), NET_UNFINISHED);
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, n_threads, NULL, NULL), NET_FINISHED);
    struct outcome o = {.totals = net_fixture_totals(&f)};
    for (uint32_t i = 0; i < job_n_ops(f.job); i++)
        o.last_ps = MAX(o.last_ps, net_op_done_ps(f.net, i));
    net_fixture_release(&f);
    return o;
}

static void assert_same(const struct outcome *x, const struct outcome *y)
{
    assert_true(x->totals.digest == y->totals.digest);
    assert_int_equal(x->totals.events, y->totals.events);
    assert_int_equal(x->totals.data_hops, y->totals.data_hops);
    assert_int_equal(x->totals.pause_frames, y->totals.pause_frames);
    assert_int_equal(x->totals.ecn_marked_pkts, y->totals.ecn_marked_pkts);
    assert_int_equal(x->totals.paused_ps, y->totals.paused_ps);
    assert_int_equal(x->last_ps, y->last_ps);
}

static void test_net_run__threads_change_nothing(void **state)
{
    (void)state;
    struct outcome one = run_busy(1, true, NULL, 0);
    assert_true(one.totals.pause_frames > 10 && one.totals.rate_cuts > 10 && one.totals.ecn_marked_pkts > 100);
    assert_int_equal(one.totals.drop_pkts, 0);
    for (int n = 1; n <= 4; n *= 2) {
        struct outcome other = run_busy(n, true, NULL, 0);
        assert_same(&one, &other);
    }
}

static void test_net_run__recording_changes_nothing(void **state)
{
    (void)state;
    struct outcome on = run_busy(1, true, NULL, 0), off = run_busy(1, false, NULL, 0);
    assert_same(&on, &off);
}

static void test_net_run__going_on_after_a_stop_changes_nothing(void **state)
{
    (void)state;
    static const sim_ps stops[] = {1, 7 * UNIT_US + 3, 7 * UNIT_US + 4, 50 * UNIT_US, 50 * UNIT_US, 333 * UNIT_US};
    struct outcome whole = run_busy(1, true, NULL, 0), parts = run_busy(1, true, stops, G_N_ELEMENTS(stops));
    struct outcome threads = run_busy(2, true, stops, G_N_ELEMENTS(stops));
    assert_same(&whole, &parts);
    assert_same(&whole, &threads);
}

static void test_net_run__seed_changes_the_run(void **state)
{
    (void)state;
    uint64_t digest[2];
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct net_fixture f;
        busy_fabric(&f, 300000);
        f.config.seed = seed;
        net_fixture_run(&f);
        digest[seed - 1] = net_fixture_totals(&f).digest;
        net_fixture_release(&f);
    }
    assert_true(digest[0] != digest[1]);
}

/* Steady traffic: each host streams to the one two leaves on, over a spine of its own. The second half allocates nothing. */
static void test_net_run__no_growth_after_warm_up(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_leaf_spine(&f, 4, 2, 8, G100, CABLE);
    for (uint32_t i = 0; i < 8; i++)
        net_fixture_flow(&f, i, (i + 4) % 8, 100000000, i * 100 * UNIT_NS);
    assert_int_equal(net_fixture_run_until(&f, 1000 * UNIT_US), NET_UNFINISHED);
    struct net_totals warm = net_fixture_totals(&f);
    assert_int_equal(net_fixture_run_until(&f, 3000 * UNIT_US), NET_UNFINISHED);
    struct net_totals later = net_fixture_totals(&f);
    assert_true(later.data_hops > warm.data_hops + 10000);
    assert_int_equal(later.growths, warm.growths);
    net_fixture_release(&f);
}

/* Under DCQCN load wanders, and a new peak may make a bucket larger: rarer and rarer. */
static void test_net_run__growth_dies_out_under_congestion_control(void **state)
{
    (void)state;
    struct net_fixture f;
    busy_fabric(&f, 100000000);
    f.config.record_pause_events = false;
    assert_int_equal(net_fixture_run_until(&f, 3000 * UNIT_US), NET_UNFINISHED);
    struct net_totals warm = net_fixture_totals(&f);
    assert_int_equal(net_fixture_run_until(&f, 6000 * UNIT_US), NET_UNFINISHED);
    assert_true(net_fixture_totals(&f).growths - warm.growths <= warm.growths / 100);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_net_run__time_limit_leaves_work_unfinished),
        cmocka_unit_test(test_net_run__hook_can_end_the_run),
        cmocka_unit_test(test_net_run__work_that_can_never_be_done_is_stuck),
        cmocka_unit_test(test_net_run__empty_job_is_finished),
        cmocka_unit_test(test_net_run__finished_means_that_nothing_is_under_way),
        cmocka_unit_test(test_net_run__ring_of_switches_deadlocks_and_is_named),
        cmocka_unit_test(test_net_run__lossy_ring_does_not_deadlock),
        cmocka_unit_test(test_net_run__standing_still_is_no_deadlock),
        cmocka_unit_test(test_net_run__threads_change_nothing),
        cmocka_unit_test(test_net_run__recording_changes_nothing),
        cmocka_unit_test(test_net_run__going_on_after_a_stop_changes_nothing),
        cmocka_unit_test(test_net_run__seed_changes_the_run),
        cmocka_unit_test(test_net_run__no_growth_after_warm_up),
        cmocka_unit_test(test_net_run__growth_dies_out_under_congestion_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
