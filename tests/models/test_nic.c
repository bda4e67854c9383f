/* test_nic.c - queue pairs at work: acknowledgements, windows, round robin, pacing, go-back-N, timeouts, CNPs. */
#include "models/net_fixture.h"

#include <stdlib.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)
#define FULL ((4096 + 62 + 20) * INT64_C(80))  /* wire time of a full packet at 100 Gb/s: 334.24 ns */
#define FIRST (FULL + 16 * INT64_C(80))        /* the first one of a message carries a RETH */
#define ACK ((66 + 20) * INT64_C(80))

/* Two NICs on one cable; nothing costs time but wires. */
static void pair(struct net_fixture *f)
{
    net_fixture_init(f);
    net_fixture_host(f);
    net_fixture_host(f);
    net_fixture_link(f, 0, 1, G100, CABLE);
    net_fixture_set_bare(f);
}

/* ---- acknowledgements ------------------------------------------------------------------ */
static uint64_t acks_of(const char *interval, int64_t n_pkts, int n_messages)
{
    struct net_fixture f;
    pair(&f);
    net_fixture_set(&f, interval);
    for (int i = 0; i < n_messages; i++)
        net_fixture_message(&f, 0, 1, n_pkts * 4096);
    net_fixture_run(&f);
    uint64_t n = net_fixture_port_view(&f, 1, 0).tx_ack_pkts;
    assert_int_equal(net_fixture_totals(&f).ack_hops, n);
    net_fixture_release(&f);
    return n;
}

static void test_nic__acks_are_coalesced(void **state)
{
    (void)state;
    assert_int_equal(acks_of("nic.ack_interval=1", 10, 1), 10);
    assert_int_equal(acks_of("nic.ack_interval=4", 10, 1), 3); /* after 4, 8 and the last */
    assert_int_equal(acks_of("nic.ack_interval=4", 8, 1), 2);
    assert_int_equal(acks_of("nic.ack_interval=4", 1, 1), 1);
    assert_int_equal(acks_of("nic.ack_interval=1000", 10, 1), 1);
    assert_int_equal(acks_of("nic.ack_interval=4", 6, 3), 6); /* the last of each message, and the count starts anew */
    assert_int_equal(acks_of("nic.ack_interval=1000", 2500, 1), 3);
}

static void test_nic__acks_take_their_own_class(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    net_fixture_set(&f, "nic.ack_class=5");
    net_fixture_message(&f, 0, 1, 10 * 4096);
    net_fixture_run(&f);
    struct net_class_ledger data, ack;
    net_ledger(f.net, 3, &data);
    net_ledger(f.net, 5, &ack);
    assert_int_equal(data.sent_pkts, 10);
    assert_int_equal(data.sent_bytes, 10 * (4096 + 62) + 16);
    assert_int_equal(ack.sent_pkts, 10);
    assert_int_equal(ack.received_bytes, 10 * 66);
    net_fixture_release(&f);
}

/* ---- window ---------------------------------------------------------------------------------- */
static bool watch_window(void *user, struct net *net, sim_ps now_ps)
{
    uint32_t *most = user;
    (void)now_ps;
    *most = MAX(*most, net->tx[0].next_psn - net->tx[0].una_psn);
    assert_true(*most <= net->window_pkts);
    return true;
}

static void test_nic__window_of_one_packet_is_stop_and_wait(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    net_fixture_set(&f, "nic.window=4096B");
    struct fixture_message m = net_fixture_message(&f, 0, 1, 10 * 4096);
    uint32_t most = 0;
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, watch_window, &most), NET_FINISHED);
    assert_int_equal(most, 1);
    assert_int_equal(net_fixture_done_ps(&f, m.send), FIRST + 9 * FULL + 10 * (2 * CABLE + ACK));
    net_fixture_release(&f);
}

/* Round trip FULL + ACK + 2 cables = 1.34 us = 4.01 packets: three keep the link busy three quarters of the time. */
static void test_nic__window_bounds_the_rate(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    net_fixture_set(&f, "nic.window=12000B"); /* counts as three packets */
    enum { N = 300 };
    struct fixture_message m = net_fixture_message(&f, 0, 1, N * 4096);
    uint32_t most = 0;
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, watch_window, &most), NET_FINISHED);
    assert_int_equal(most, 3);
    /* N / 3 round trips, and the two that follow the last first one. */
    assert_int_equal(net_fixture_done_ps(&f, m.send), N / 3 * (FULL + ACK + 2 * CABLE) + 2 * FULL + (FIRST - FULL));
    net_fixture_release(&f);
}

/* A message that is posted while the window is full waits for it, too. */
static void test_nic__new_messages_respect_the_window(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    net_fixture_set(&f, "nic.window=8192B");
    for (int i = 0; i < 30; i++) {
        struct fixture_message m = net_fixture_message(&f, 0, 1, 100);
        job_op_at(f.job, m.send)->earliest_ps = i * 50 * UNIT_NS;
    }
    uint32_t most = 0;
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, watch_window, &most), NET_FINISHED);
    assert_int_equal(most, 2);
    net_fixture_release(&f);
}

/* A receiver that coalesces more than the sender may have in flight must not starve it. */
static void test_nic__window_smaller_than_the_ack_interval(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    pair(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.window=8192B", "nic.ack_interval=4", NULL});
    net_fixture_message(&f, 0, 1, 20 * 4096);
    if (net_fixture_new(&f, &err)) {
        net_fixture_run(&f);
        assert_int_equal(net_fixture_totals(&f).timeouts, 0);
    } else {
        assert_true(err->domain == NET_ERROR || err->domain == PARAM_ERROR);
    }
    net_fixture_release(&f);
}

/* ---- round robin ---------------------------------------------------------------------------------- */
static void test_nic__queue_pairs_take_turns(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    enum { N = 5, PKTS = 20 };
    struct fixture_message m[N];
    for (int i = 0; i < N; i++)
        m[i] = net_fixture_flow(&f, 0, 1, PKTS * 4096, 0);
    net_fixture_run(&f);
    /* All last packets leave in the last round: flow i is i packets behind flow 0. */
    sim_ps sent = N * FIRST + (PKTS - 1) * N * FULL;
    for (int i = 0; i < N; i++)
        assert_int_equal(net_fixture_done_ps(&f, m[i].recv), sent - (N - 1 - i) * FULL + CABLE);
    net_fixture_release(&f);
}

/* The one that has just sent goes to the end when its packet has left: a newcomer is before it. */
static void test_nic__newcomer_goes_before_the_one_that_has_just_sent(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    struct fixture_message old = net_fixture_flow(&f, 0, 1, 100 * 4096, 0), new = net_fixture_flow(&f, 0, 1, 100, UNIT_US);
    net_fixture_run(&f);
    sim_ps third_ends = FIRST + 2 * FULL; /* 1.004 us: on the wire when the newcomer comes */
    sim_ps small = (100 + 62 + 16 + 20) * INT64_C(80);
    assert_int_equal(net_fixture_done_ps(&f, new.recv), third_ends + small + CABLE);
    assert_int_equal(net_fixture_done_ps(&f, old.recv), FIRST + 99 * FULL + small + CABLE);
    net_fixture_release(&f);
}

static void test_nic__classes_take_turns_too(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    struct fixture_message many[3], one;
    for (int i = 0; i < 3; i++)
        many[i] = net_fixture_flow(&f, 0, 1, 40 * 4096, 0);
    one = net_fixture_message_in_class(&f, 0, 1, 40 * 4096, 1);
    net_fixture_run(&f);
    /* Class 1 sends every other packet until it is through. */
    assert_true(llabs(net_fixture_done_ps(&f, one.recv) - CABLE - 80 * FULL) <= 2 * FULL);
    for (int i = 0; i < 3; i++)
        assert_true(llabs(net_fixture_done_ps(&f, many[i].recv) - CABLE - 160 * FULL) <= 4 * FULL);
    net_fixture_release(&f);
}

/* ---- ETS ------------------------------------------------------------------------------------------------- */
/* Three classes with N packets each to send; the times at which the receivers have them. */
static void three_classes(const char *const *settings, int64_t n, sim_ps done_ps[3])
{
    struct net_fixture f;
    pair(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.ack_class=7", NULL});
    net_fixture_set_all(&f, settings);
    struct fixture_message m[3];
    for (uint8_t i = 0; i < 3; i++)
        m[i] = net_fixture_message_in_class(&f, 0, 1, n * 4096, (uint8_t)(i + 1));
    net_fixture_run(&f);
    for (int i = 0; i < 3; i++)
        done_ps[i] = net_fixture_done_ps(&f, m[i].recv) - CABLE;
    net_fixture_release(&f);
}

static void test_nic__strict_classes_go_first(void **state)
{
    (void)state;
    sim_ps done[3];
    three_classes((const char *const[]){"nic.ets_strict_classes=2,3", NULL}, 100, done);
    assert_true(llabs(done[2] - 100 * FULL) <= 2 * FULL);
    assert_true(llabs(done[1] - 200 * FULL) <= 2 * FULL);
    assert_true(llabs(done[0] - 300 * FULL) <= 2 * FULL);
}

/* Weights 1:2:5. Class 3 sends 5 of 8 packets until it is through, then class 2 sends 2 of 3. */
static void test_nic__ets_weights_share_the_port(void **state)
{
    (void)state;
    sim_ps done[3];
    three_classes((const char *const[]){"nic.ets_weights=1,1,2,5,1,1,1,1", NULL}, 1000, done);
    assert_true(llabs(done[2] - 1600 * FULL) <= 16 * FULL);
    assert_true(llabs(done[1] - (1600 + 900) * FULL) <= 16 * FULL); /* 600 of 1000 were left */
    assert_true(llabs(done[0] - 3000 * FULL) <= 2 * FULL);
}

/* Deficits are of bytes: a class of short packets gets as much as one of long ones. */
static void test_nic__ets_counts_bytes(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    net_fixture_set(&f, "nic.ack_class=7");
    struct fixture_message large = net_fixture_message_in_class(&f, 0, 1, 400 * 4096, 1), small[1000];
    for (int i = 0; i < 1000; i++)
        small[i] = net_fixture_message_in_class(&f, 0, 1, 1000, 2); /* 1078 B frames, 400 of which are 105 large ones */
    net_fixture_run(&f);
    sim_ps first_400 = net_fixture_done_ps(&f, small[399].recv) - CABLE;
    sim_ps alone = 400 * (1000 + 62 + 16 + 20) * INT64_C(80);
    assert_true(first_400 > alone * 19 / 10 && first_400 < alone * 21 / 10);
    assert_true(net_fixture_done_ps(&f, large.recv) > 0);
    net_fixture_release(&f);
}

/* ---- pacing -------------------------------------------------------------------------------------------- */
static void test_nic__paced_packets_keep_their_gaps(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.congestion_control=dcqcn", "dcqcn.rpg_max_rate=25Gbps", NULL});
    struct fixture_message m = net_fixture_message(&f, 0, 1, 50 * 4096);
    net_fixture_run(&f);
    /* At 25 Gb/s a wire byte takes 320 ps, four times as long as on the wire. */
    assert_int_equal(net_fixture_done_ps(&f, m.recv), 4 * (FIRST + 48 * FULL) + FULL + CABLE);
    net_fixture_release(&f);
}

/* The gap holds across messages and rests; two paced queue pairs do not slow each other down. */
static void test_nic__pacing_is_of_the_queue_pair(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.congestion_control=dcqcn", "dcqcn.rpg_max_rate=25Gbps", NULL});
    net_fixture_message(&f, 0, 1, 4096);
    struct fixture_message second = net_fixture_message(&f, 0, 1, 4096), third = net_fixture_message(&f, 0, 1, 4096);
    job_op_at(f.job, third.send)->earliest_ps = 100 * UNIT_US;
    struct fixture_message other = net_fixture_flow(&f, 0, 1, 4096 * 3, 0);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, second.recv), 4 * FIRST + FIRST + CABLE);
    assert_int_equal(net_fixture_done_ps(&f, third.recv), 100 * UNIT_US + FIRST + CABLE);
    /* It starts behind the first one's packet, then keeps its own gaps. */
    assert_true(llabs(net_fixture_done_ps(&f, other.recv) - (FIRST + 4 * FIRST + 4 * FULL + FULL + CABLE)) <= FIRST);
    net_fixture_release(&f);
}

/* ---- loss ------------------------------------------------------------------------------------------------ */
/* Two senders into one receiver over a lossy queue of ten packets. */
static void lossy_incast(struct net_fixture *f, struct fixture_message m[2])
{
    net_fixture_init(f);
    net_fixture_star(f, 3, G100, CABLE);
    net_fixture_set_all(f, (const char *const[]){"pfc.enabled=false", "buffer.lossy_limit=42KB", "ecn.enabled=false",
                                                 "nic.congestion_control=none", "nic.local_ack_timeout=5", NULL});
    for (uint32_t i = 0; i < 2; i++)
        m[i] = net_fixture_flow(f, i, 2, 2000000, 0);
}

static void test_nic__go_back_n_completes_after_drops(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m[2];
    lossy_incast(&f, m);
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    assert_true(t.drop_pkts > 0);
    assert_int_equal(t.lossless_drop_pkts, 0);
    assert_true(t.nak_pkts > 0);
    assert_true(t.retransmitted_pkts >= t.drop_pkts);
    assert_int_equal(t.failed_qps, 0);
    int64_t sent = 0;
    uint64_t again = 0;
    for (uint32_t q = 0; q < 2; q++) {
        struct net_qp_view view;
        net_qp_view(f.net, q, t.now_ps, &view);
        sent += view.sent_bytes;
        again += view.retransmitted_pkts;
        assert_false(view.busy);
    }
    assert_int_equal(again, t.retransmitted_pkts);
    assert_true(sent > 4000000 && sent <= 4000000 + (int64_t)again * 4096);
    struct net_port_view out = net_fixture_port_view(&f, 3, 2); /* lossy drops count at the egress */
    assert_int_equal(out.drop_pkts, t.drop_pkts);
    assert_true(out.queue_max_bytes <= 42000);
    /* Not faster than the receiver's link carries the data once. */
    sim_ps last = MAX(net_fixture_done_ps(&f, m[0].recv), net_fixture_done_ps(&f, m[1].recv));
    assert_true(last > 2 * 488 * FULL);
    net_fixture_release(&f);
}

/* The switch drops everything that arrives in [FROM, UNTIL): one gap. */
struct gap { sim_ps from_ps, until_ps; };
static bool make_gap(void *user, struct net *net, sim_ps now_ps)
{
    const struct gap *gap = user;
    net_fixture_lossy_limit(net, now_ps >= gap->from_ps && now_ps < gap->until_ps ? 1 : 1000000);
    return true;
}

/* However many packets come after a gap, it is answered by one NAK, and everything from the gap on is sent again. */
static void test_nic__one_gap_is_one_nak(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, G100, 10 * CABLE); /* a round trip of some 60 packets */
    net_fixture_set_bare(&f);
    net_fixture_set_all(&f, (const char *const[]){"pfc.enabled=false", "nic.ack_class=6", NULL});
    struct fixture_message m = net_fixture_message(&f, 0, 1, 1000 * 4096);
    struct gap gap = {100 * UNIT_US, 106 * UNIT_US};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, make_gap, &gap), NET_FINISHED);
    struct net_totals t = net_fixture_totals(&f);
    struct net_class_ledger ledger;
    net_ledger(f.net, 3, &ledger); /* ACKs were dropped, too */
    uint64_t dropped = ledger.dropped_pkts, round_trip = (uint64_t)(4 * 10 * CABLE / FULL);
    assert_true(dropped >= 12 && dropped <= 35); /* one or two windows of 5 us */
    assert_int_equal(t.nak_pkts, 1);
    assert_int_equal(t.timeouts, 0);
    /* What was dropped, and what was sent until the NAK came: one round trip. */
    assert_true(t.retransmitted_pkts >= dropped + round_trip && t.retransmitted_pkts <= dropped + round_trip + 6);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), FIRST + (1000 + (sim_ps)t.retransmitted_pkts) * FULL + 2 * 10 * CABLE);
    net_fixture_release(&f);
}

/* ACKs travel in a class that the switch drops: until HEAL_PS none arrives. */
struct heal { sim_ps at_ps; };
static bool heal_acks(void *user, struct net *net, sim_ps now_ps)
{
    const struct heal *heal = user;
    net_fixture_lossy_limit(net, now_ps < heal->at_ps ? 1 : 1000000);
    return true;
}
static struct fixture_message one_without_acks(struct net_fixture *f, int64_t bytes)
{
    net_fixture_init(f);
    net_fixture_star(f, 2, G100, CABLE);
    net_fixture_set_bare(f);
    net_fixture_set_all(f, (const char *const[]){"nic.ack_class=0", "buffer.lossy_limit=1B", "nic.local_ack_timeout=5", NULL});
    return net_fixture_message(f, 0, 1, bytes);
}
#define TIMEOUT (4096 * UNIT_NS * 32)

static void test_nic__lost_acks_cost_a_timeout(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = one_without_acks(&f, 5 * 4096);
    struct heal heal = {TIMEOUT / 2};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, heal_acks, &heal), NET_FINISHED);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(t.timeouts, 1);
    assert_int_equal(t.retransmitted_pkts, 5);
    assert_int_equal(t.drop_pkts, 5);
    /* The data came at once and once; only the sender waited. */
    assert_int_equal(net_fixture_done_ps(&f, m.recv), 2 * FIRST + 4 * FULL + 2 * CABLE);
    assert_int_equal(net_fixture_done_ps(&f, m.send), TIMEOUT + 2 * FIRST + 2 * ACK + 4 * CABLE); /* of the first one again */
    net_fixture_release(&f);
}

static void test_nic__retries_exhausted_end_the_queue_pair(void **state)
{
    (void)state;
    static const char *const settings[] = {"nic.retry_cnt=7", "nic.retry_cnt=2", "nic.retry_cnt=0"};
    static const uint64_t retries[] = {7, 2, 0};
    for (int i = 0; i < 3; i++) {
        struct net_fixture f;
        struct fixture_message m = one_without_acks(&f, 4096);
        struct fixture_message after = net_fixture_message(&f, 0, 1, 4096);
        job_depend(f.job, after.send, m.send);
        net_fixture_set(&f, settings[i]);
        assert_int_equal(net_fixture_run_until(&f, SIM_PS_MAX), NET_STUCK);
        struct net_totals t = net_fixture_totals(&f);
        assert_int_equal(t.failed_qps, 1);
        assert_int_equal(t.timeouts, retries[i] + 1);
        assert_int_equal(t.retransmitted_pkts, retries[i]);
        assert_true(t.now_ps >= (sim_ps)(retries[i] + 1) * TIMEOUT);
        assert_true(net_fixture_done_ps(&f, m.recv) > 0);
        assert_int_equal(net_fixture_done_ps(&f, m.send), -1);
        assert_int_equal(net_op_start_ps(f.net, after.send), -1);
        struct net_qp_view view;
        net_qp_view(f.net, 0, t.now_ps, &view);
        assert_true(view.failed);
        net_fixture_release(&f);
    }
}

static void test_nic__timeout_zero_means_never(void **state)
{
    (void)state;
    struct net_fixture f;
    one_without_acks(&f, 4096);
    net_fixture_set(&f, "nic.local_ack_timeout=0");
    assert_int_equal(net_fixture_run_until(&f, SIM_PS_MAX), NET_STUCK);
    assert_int_equal(net_fixture_totals(&f).timeouts, 0);
    net_fixture_release(&f);
}

/* The timer runs from the oldest packet in flight, not from an answer to the message before: a message that starts
 * while the old timer still runs has its full time. */
static void test_nic__rest_before_a_message_costs_no_timeout(void **state)
{
    (void)state;
    for (sim_ps gap = 0; gap <= TIMEOUT + 20 * UNIT_US; gap += 7 * UNIT_US) {
        struct net_fixture f;
        pair(&f);
        net_fixture_set_all(&f, (const char *const[]){"nic.local_ack_timeout=5", "nic.ack_interval=1000", NULL});
        net_fixture_message(&f, 0, 1, 1);
        struct fixture_message m = net_fixture_message(&f, 0, 1, 300 * 4096); /* 100 us until its only ACK */
        job_op_at(f.job, m.send)->earliest_ps = gap;
        net_fixture_run(&f);
        assert_int_equal(net_fixture_totals(&f).timeouts, 0);
        assert_int_equal(net_fixture_totals(&f).retransmitted_pkts, 0);
        net_fixture_release(&f);
    }
}

/* A long pause is no loss: bytes that are held back have not been sent. */
static void test_nic__paced_queue_pair_is_not_timed_out(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f);
    /* 10 Mb/s: a packet each 3.3 ms, timeouts of 131 us. */
    net_fixture_set_all(&f, (const char *const[]){"nic.local_ack_timeout=5", "nic.congestion_control=dcqcn",
                                                  "dcqcn.rpg_max_rate=10Mbps", NULL});
    net_fixture_message(&f, 0, 1, 20 * 4096);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_totals(&f).timeouts, 0);
    net_fixture_release(&f);
}

/* ---- notification point -------------------------------------------------------------------------------------- */
struct cnps { sim_ps last_ps[4]; uint64_t n[4]; };
static bool watch_cnps(void *user, struct net *net, sim_ps now_ps)
{
    struct cnps *c = user;
    (void)now_ps;
    for (uint32_t q = 0; q < 4; q++) {
        sim_ps at = net->rx[q].last_cnp_ps;
        if (at == c->last_ps[q])
            continue;
        assert_true(c->n[q] == 0 || at - c->last_ps[q] >= 20 * UNIT_US);
        c->last_ps[q] = at;
        c->n[q]++;
    }
    return true;
}

static void marked_incast(struct net_fixture *f)
{
    net_fixture_init(f);
    net_fixture_star(f, 5, G100, CABLE);
    net_fixture_set_all(f, (const char *const[]){"ecn.kmin=10KB", "ecn.kmax=20KB", "ecn.pmax=1",
                                                 "dcqcn.min_time_between_cnps=20us", NULL});
    for (uint32_t i = 0; i < 4; i++)
        net_fixture_flow(f, i, 4, 2000000, 0);
}

static void test_nic__cnps_keep_their_distance_and_class(void **state)
{
    (void)state;
    struct net_fixture f;
    marked_incast(&f);
    net_fixture_set(&f, "nic.cnp_class=5");
    struct cnps c = {.last_ps = {-1, -1, -1, -1}};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, watch_cnps, &c), NET_FINISHED);
    struct net_totals t = net_fixture_totals(&f);
    uint64_t seen = 0;
    for (int q = 0; q < 4; q++) {
        assert_true(c.n[q] >= 2);
        assert_true((sim_ps)c.n[q] <= t.now_ps / (20 * UNIT_US) + 1);
        seen += c.n[q];
    }
    assert_int_equal(seen, t.cnp_sent_pkts);
    assert_int_equal(t.cnp_handled_pkts, t.cnp_sent_pkts);
    assert_true(t.ecn_marked_pkts >= t.cnp_sent_pkts);
    struct net_class_ledger ledger;
    net_ledger(f.net, 5, &ledger);
    assert_int_equal(ledger.received_pkts, t.cnp_sent_pkts);
    assert_int_equal(ledger.received_bytes, 78 * t.cnp_sent_pkts);
    assert_true(t.rate_cuts > 0 && t.rate_cuts <= t.cnp_handled_pkts);
    net_fixture_release(&f);
}

static void test_nic__echo_mode_reports_on_acks(void **state)
{
    (void)state;
    struct net_fixture f;
    marked_incast(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.np_mode=ack_echo", "nic.ack_interval=16", NULL});
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(t.cnp_sent_pkts, 0);
    assert_true(t.echo_acks > 0);
    assert_int_equal(t.echo_acks, t.ecn_marked_pkts); /* every mark is echoed, whatever the coalescing; none was lost */
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nic__acks_are_coalesced),
        cmocka_unit_test(test_nic__acks_take_their_own_class),
        cmocka_unit_test(test_nic__window_of_one_packet_is_stop_and_wait),
        cmocka_unit_test(test_nic__window_bounds_the_rate),
        cmocka_unit_test(test_nic__new_messages_respect_the_window),
        cmocka_unit_test(test_nic__window_smaller_than_the_ack_interval),
        cmocka_unit_test(test_nic__queue_pairs_take_turns),
        cmocka_unit_test(test_nic__newcomer_goes_before_the_one_that_has_just_sent),
        cmocka_unit_test(test_nic__classes_take_turns_too),
        cmocka_unit_test(test_nic__strict_classes_go_first),
        cmocka_unit_test(test_nic__ets_weights_share_the_port),
        cmocka_unit_test(test_nic__ets_counts_bytes),
        cmocka_unit_test(test_nic__paced_packets_keep_their_gaps),
        cmocka_unit_test(test_nic__pacing_is_of_the_queue_pair),
        cmocka_unit_test(test_nic__go_back_n_completes_after_drops),
        cmocka_unit_test(test_nic__one_gap_is_one_nak),
        cmocka_unit_test(test_nic__lost_acks_cost_a_timeout),
        cmocka_unit_test(test_nic__retries_exhausted_end_the_queue_pair),
        cmocka_unit_test(test_nic__timeout_zero_means_never),
        cmocka_unit_test(test_nic__rest_before_a_message_costs_no_timeout),
        cmocka_unit_test(test_nic__paced_queue_pair_is_not_timed_out),
        cmocka_unit_test(test_nic__cnps_keep_their_distance_and_class),
        cmocka_unit_test(test_nic__echo_mode_reports_on_acks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
