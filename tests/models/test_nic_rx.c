/* test_nic_rx.c - responders that hold packets out of order, and slow ones with a receive buffer. */
#include "models/net_loss.h"
#include "models/nic.h"

#include <stdlib.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE (5 * UNIT_US) /* a window of 15 packets: room to reorder */
#define FULL ((4096 + 62 + 20) * INT64_C(80))
#define FIRST (FULL + 16 * INT64_C(80))

static void pair(struct net_fixture *f, const char *const *settings)
{
    net_fixture_init(f);
    net_fixture_host(f);
    net_fixture_host(f);
    net_fixture_link(f, 0, 1, G100, CABLE);
    net_fixture_set_bare(f);
    net_fixture_set(f, "nic.local_ack_timeout=6");
    net_fixture_set_all(f, settings);
}

/* ---- order --------------------------------------------------------------------------------- */
/* Each tenth packet is overtaken by BY others. */
static struct net_totals reordered(const char *const *settings, uint32_t by, struct net_nic_counters *rx)
{
    struct net_fixture f;
    pair(&f, settings);
    for (int i = 0; i < 40; i++)
        net_fixture_message(&f, 0, 1, i % 5 * 20000);
    struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .swap_every = 10, .swap_by = by};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, net_loss_hook, &loss), NET_FINISHED);
    assert_true(loss.moved > 3);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(t.timeouts, 0);
    assert_int_equal(t.drop_pkts, 0);
    assert_int_equal(f.net->rx[0].n_held, 0);
    *rx = net_fixture_nic(&f, 1);
    assert_true(rx->out_of_sequence >= loss.moved);
    for (uint32_t op = 1; op < job_n_ops(f.job); op++) /* receives end in the order of the sends */
        if (job_op_at(f.job, op)->kind == JOB_RECV && op >= 3)
            assert_true(net_fixture_done_ps(&f, op) >= net_fixture_done_ps(&f, op - 2));
    net_fixture_release(&f);
    return t;
}

static void test_nic_rx__overtaking_within_the_tolerance_costs_nothing(void **state)
{
    (void)state;
    struct net_nic_counters rx;
    static const char *const go_back_n[] = {"nic.reorder_tolerance=4", NULL};
    static const char *const selective[] = {"nic.reorder_tolerance=4", "nic.recovery=selective_repeat", NULL};
    for (uint32_t by = 1; by <= 4; by++) {
        struct net_totals t = reordered(go_back_n, by, &rx);
        assert_int_equal(t.nak_pkts + t.sack_pkts + t.retransmitted_pkts + t.spurious_pkts, 0);
        t = reordered(selective, by, &rx);
        assert_int_equal(t.nak_pkts + t.retransmitted_pkts + t.spurious_pkts, 0);
        assert_int_equal(t.sack_pkts, rx.out_of_sequence);
    }
}

static void test_nic_rx__overtaking_beyond_the_tolerance_is_taken_for_a_loss(void **state)
{
    (void)state;
    struct net_nic_counters rx;
    static const char *const plain[] = {"nic.reorder_tolerance=0", NULL};
    static const char *const tolerant[] = {"nic.reorder_tolerance=2", NULL};
    static const char *const selective[] = {"nic.reorder_tolerance=2", "nic.recovery=selective_repeat", NULL};
    struct net_totals t = reordered(plain, 1, &rx);
    assert_true(t.nak_pkts > 0 && t.retransmitted_pkts > 0 && t.spurious_pkts > 0);
    t = reordered(tolerant, 3, &rx);
    assert_true(t.nak_pkts > 0);
    assert_int_equal(t.spurious_pkts, t.retransmitted_pkts); /* all had been received */
    assert_int_equal(rx.duplicate_request, t.spurious_pkts);
    uint64_t again = t.retransmitted_pkts;
    t = reordered(selective, 3, &rx);
    assert_int_equal(t.nak_pkts, 0);
    assert_true(t.retransmitted_pkts > 0 && t.retransmitted_pkts < again);
    assert_int_equal(t.spurious_pkts, t.retransmitted_pkts);
}

/* The receiver holds 64; with a long cable more come before the sender hears of the gap. */
static void test_nic_rx__what_the_window_does_not_hold_is_dropped_and_counted(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, (const char *const[]){"nic.reorder_tolerance=20", "nic.reorder_window=64", NULL});
    net_fixture_message(&f, 0, 1, 300 * 4096);
    struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .nth = 10, .n = 1};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, net_loss_hook, &loss), NET_FINISHED);
    struct net_totals t = net_fixture_totals(&f);
    /* The NAK goes 21 packets behind the gap; 10 us later, 30 packets, the sender goes back. */
    assert_int_equal(t.out_of_window_pkts, 0);
    net_fixture_release(&f);
    pair(&f, (const char *const[]){"nic.reorder_tolerance=60", "nic.reorder_window=64", NULL});
    net_fixture_message(&f, 0, 1, 300 * 4096);
    loss = (struct net_loss){.at = 1, .kind = PACKET_DATA, .nth = 10, .n = 1};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, net_loss_hook, &loss), NET_FINISHED);
    t = net_fixture_totals(&f);
    assert_true(t.out_of_window_pkts >= 25 && t.out_of_window_pkts <= 35);
    assert_int_equal(net_fixture_nic(&f, 1).out_of_window, t.out_of_window_pkts);
    assert_int_equal(t.timeouts, 0);
    net_fixture_release(&f);
}

/* One gap, one NAK, whatever comes behind it; a new gap a new one. */
static void test_nic_rx__tolerant_receiver_sends_one_nak_a_gap(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 3; n++) {
        struct net_fixture f;
        pair(&f, (const char *const[]){"nic.reorder_tolerance=5", NULL});
        net_fixture_message(&f, 0, 1, 500 * 4096);
        struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .nth = 50, .n = n};
        assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, net_loss_hook, &loss), NET_FINISHED);
        struct net_totals t = net_fixture_totals(&f);
        assert_int_equal(t.nak_pkts, 1);
        assert_int_equal(t.timeouts, 0);
        assert_int_equal(t.spurious_pkts, t.retransmitted_pkts - n);
        net_fixture_release(&f);
    }
}

/* ---- slow receiver ----------------------------------------------------------------------------- */
static void test_nic_rx__slow_receiver_paces_the_sender_by_pauses(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, (const char *const[]){"nic.rx_rate=25Gbps", "nic.rx_buffer=400KB", "nic.rx_xoff=100KB", "nic.rx_xon=50KB", NULL});
    enum { N = 2000 };
    struct fixture_message m = net_fixture_message(&f, 0, 1, N * 4096);
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    /* Never empty: all the payload, and 16 B of RETH, at 25 Gb/s behind the first frame. */
    assert_int_equal(net_fixture_done_ps(&f, m.recv), FIRST + CABLE + units_wire_ps(N * 4096 + 16, 25 * UNIT_GBPS));
    assert_int_equal(t.drop_pkts, 0);
    assert_true(t.pause_frames > 0 && t.resume_frames > 0);
    assert_int_equal(net_fixture_port_view(&f, 0, 1).pause_rx_frames, t.pause_frames);
    assert_int_equal(net_fixture_port_view(&f, 1, 0).pause_tx_frames, t.pause_frames);
    assert_true(net_fixture_port_view(&f, 0, 1).paused_ps > net_fixture_done_ps(&f, m.recv) / 2);
    assert_int_equal(f.net->nic[f.net->port_of_graph[f.graph.nodes[1].first_port]]->rx_bytes, 0);
    net_fixture_release(&f);
}

/* XOFF is refreshed while the buffer is full: its quanta are shorter than the pause that is needed. */
static void test_nic_rx__pause_of_a_slow_receiver_is_refreshed(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, (const char *const[]){"nic.rx_rate=1Gbps", "nic.rx_buffer=1MB", "nic.rx_xoff=500KB", "nic.rx_xon=100KB",
                                   "pfc.quanta=8000", "nic.local_ack_timeout=14", NULL}); /* 41 us */
    net_fixture_message(&f, 0, 1, 400 * 4096);
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(t.drop_pkts, 0);
    assert_true(t.pause_frames > 100); /* some 10 ms paused, one in 20 us */
    assert_true(t.resume_frames >= 2 && t.resume_frames < 10);
    net_fixture_release(&f);
}

static void test_nic_rx__without_pfc_a_slow_receiver_drops(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, (const char *const[]){"nic.rx_rate=50Gbps", "nic.rx_buffer=200KB", "nic.rx_xoff=100KB", "nic.rx_xon=50KB",
                                   "pfc.enabled=false", NULL});
    net_fixture_message(&f, 0, 1, 500 * 4096);
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(t.pause_frames, 0);
    assert_true(t.drop_pkts > 0);
    assert_int_equal(t.lossless_drop_pkts, 0);
    assert_int_equal(t.rx_out_of_buffer_pkts, t.drop_pkts);
    assert_int_equal(net_fixture_nic(&f, 1).rx_out_of_buffer, t.drop_pkts);
    assert_int_equal(net_fixture_port_view(&f, 1, 0).drop_pkts, t.drop_pkts);
    assert_true(t.retransmitted_pkts >= t.drop_pkts);
    net_fixture_release(&f);
}

/* XOFF so late that a cable's worth of frames finds the buffer full: a lossless drop, which is counted as such. */
static void test_nic_rx__too_late_a_pause_is_a_lossless_drop(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, (const char *const[]){"nic.rx_rate=10Gbps", "nic.rx_buffer=200KB", "nic.rx_xoff=190KB", "nic.rx_xon=50KB", NULL});
    net_fixture_message(&f, 0, 1, 500 * 4096);
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    assert_true(t.pause_frames > 0);
    assert_true(t.lossless_drop_pkts > 0);
    assert_int_equal(t.lossless_drop_pkts, t.drop_pkts);
    net_fixture_release(&f);
}

/* ACKs that come back to a slow receiver do not queue behind data. */
static void test_nic_rx__acks_are_not_delayed(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, (const char *const[]){"nic.rx_rate=1Gbps", NULL});
    net_fixture_message(&f, 1, 0, 100 * 4096);
    struct fixture_message m = net_fixture_message(&f, 0, 1, 1000);
    job_op_at(f.job, m.send)->earliest_ps = 20 * UNIT_US;
    net_fixture_run(&f);
    sim_ps answer = net_fixture_done_ps(&f, m.send) - net_fixture_done_ps(&f, m.recv);
    assert_true(answer >= CABLE && answer < CABLE + 2 * FULL); /* host 0 holds 60 packets by then: 2 ms */
    net_fixture_release(&f);
}

/* A fault of 100 us begins at 50 us: the rate of host 1's NIC is set in between. */
static bool slow_down(void *user, struct net *net, sim_ps now_ps)
{
    struct net_fixture *f = user;
    uint32_t v = net->vertex_of_graph[1], p = net->port_of_graph[f->graph.nodes[1].first_port];
    bool slow = now_ps >= 50 * UNIT_US && now_ps < 150 * UNIT_US;
    nic_set_rx_rate(net, &net->core->nodes[v], p, slow ? 10 * UNIT_GBPS : 0);
    return true;
}

static void test_nic_rx__rate_may_change_while_running(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, (const char *const[]){"nic.recovery=go_back_n", NULL});
    struct fixture_message m = net_fixture_message(&f, 0, 1, 1000 * 4096);
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, slow_down, &f), NET_FINISHED);
    /* 90 % of 100 us are lost. What is in the buffer at the end of the fault comes at once, but for windows' ends. */
    sim_ps late = net_fixture_done_ps(&f, m.recv) - (FIRST + 999 * FULL + CABLE);
    assert_int_equal(net_fixture_totals(&f).drop_pkts, 0);
    assert_true(late >= 0 && late < 95 * UNIT_US);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nic_rx__overtaking_within_the_tolerance_costs_nothing),
        cmocka_unit_test(test_nic_rx__overtaking_beyond_the_tolerance_is_taken_for_a_loss),
        cmocka_unit_test(test_nic_rx__what_the_window_does_not_hold_is_dropped_and_counted),
        cmocka_unit_test(test_nic_rx__tolerant_receiver_sends_one_nak_a_gap),
        cmocka_unit_test(test_nic_rx__slow_receiver_paces_the_sender_by_pauses),
        cmocka_unit_test(test_nic_rx__pause_of_a_slow_receiver_is_refreshed),
        cmocka_unit_test(test_nic_rx__without_pfc_a_slow_receiver_drops),
        cmocka_unit_test(test_nic_rx__too_late_a_pause_is_a_lossless_drop),
        cmocka_unit_test(test_nic_rx__acks_are_not_delayed),
        cmocka_unit_test(test_nic_rx__rate_may_change_while_running),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
