/* test_nic_recovery.c - no single loss hangs a queue pair; what is sent again, when, and when a sender gives up. */
#include "models/net_loss.h"
#include "models/nic.h"

#include <math.h>
#include <stdlib.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)
#define FULL ((4096 + 62 + 20) * INT64_C(80))
#define FIRST (FULL + 16 * INT64_C(80))
#define ACK ((66 + 20) * INT64_C(80))
#define TIMEOUT (4096 * UNIT_NS * 32)

static const char *const go_back_n[] = {"nic.recovery=go_back_n", NULL};
static const char *const tolerant[] = {"nic.recovery=go_back_n", "nic.reorder_tolerance=3", NULL};
static const char *const selective[] = {"nic.recovery=selective_repeat", NULL};
static const char *const patient[] = {"nic.recovery=selective_repeat", "nic.reorder_tolerance=2", NULL};
static const char *const *const modes[] = {go_back_n, tolerant, selective, patient};

/* Two NICs on one cable; nothing costs time but wires. */
static void pair(struct net_fixture *f, const char *const *settings)
{
    net_fixture_init(f);
    net_fixture_host(f);
    net_fixture_host(f);
    net_fixture_link(f, 0, 1, G100, CABLE);
    net_fixture_set_bare(f);
    net_fixture_set(f, "nic.local_ack_timeout=5");
    net_fixture_set_all(f, settings);
}

static void run(struct net_fixture *f, struct net_loss *loss)
{
    assert_int_equal(net_fixture_run_hook(f, SIM_PS_MAX, 1, net_loss_hook, loss), NET_FINISHED);
}

/* ---- one loss of any kind ---------------------------------------------------------------- */
#define PKTS 40

static void test_nic_recovery__any_one_data_packet_may_be_lost(void **state)
{
    (void)state;
    for (size_t mode = 0; mode < G_N_ELEMENTS(modes); mode++)
        for (uint64_t nth = 1; nth <= PKTS + 1; nth++) {
            struct net_fixture f;
            pair(&f, modes[mode]);
            struct fixture_message a = net_fixture_message(&f, 0, 1, (PKTS - 1) * 4096), b = net_fixture_message(&f, 0, 1, 100);
            struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .nth = nth, .n = nth <= PKTS ? 1 : 0};
            run(&f, &loss);
            struct net_totals t = net_fixture_totals(&f);
            struct net_nic_counters tx = net_fixture_nic(&f, 0), rx = net_fixture_nic(&f, 1);
            uint64_t after = nth <= PKTS ? PKTS - nth : PKTS; /* packets that show the gap */
            uint64_t needed[] = {1, 4, 1, 3};
            assert_int_equal(t.timeouts, after < needed[mode]);
            assert_int_equal(tx.local_ack_timeout_err, t.timeouts);
            assert_int_equal(tx.packet_seq_err, mode < 2 && nth <= PKTS && !t.timeouts);
            assert_int_equal(t.drop_pkts, nth <= PKTS);
            if (modes[mode] == selective || modes[mode] == patient)
                assert_true(t.retransmitted_pkts == (nth <= PKTS) && t.spurious_pkts == 0);
            else
                assert_true(t.retransmitted_pkts >= (nth <= PKTS));
            assert_true(t.spurious_pkts <= t.retransmitted_pkts);
            assert_true(nth > PKTS || t.timeouts || rx.out_of_sequence > 0);
            assert_true(net_fixture_done_ps(&f, a.recv) <= net_fixture_done_ps(&f, b.recv));
            assert_true(t.now_ps <= 3 * TIMEOUT);
            net_fixture_release(&f);
        }
}

static void test_nic_recovery__any_one_answer_may_be_lost(void **state)
{
    (void)state;
    static const char *const intervals[] = {"nic.ack_interval=1", "nic.ack_interval=4"};
    for (size_t mode = 0; mode < G_N_ELEMENTS(modes); mode++)
        for (uint64_t nth = 1; nth <= PKTS; nth++) {
            struct net_fixture f;
            pair(&f, modes[mode]);
            net_fixture_set(&f, intervals[nth % 2]);
            net_fixture_message(&f, 0, 1, PKTS * 4096);
            struct net_loss loss = {.at = 0, .kind = PACKET_ACK, .nth = nth, .n = 1};
            run(&f, &loss);
            struct net_totals t = net_fixture_totals(&f);
            bool was_last = loss.lost && nth == (nth % 2 ? PKTS / 4 : PKTS); /* others are made good by the next */
            assert_int_equal(t.timeouts, was_last);
            assert_int_equal(t.retransmitted_pkts > 0, was_last);
            assert_int_equal(t.spurious_pkts, t.retransmitted_pkts);
            net_fixture_release(&f);
        }
}

/* Data packet 10 is lost, and the answer that tells of it. */
struct two_losses { struct net_loss data, answer; };
static bool lose_twice(void *user, struct net *net, sim_ps now_ps)
{
    struct two_losses *two = user;
    return net_loss_hook(&two->data, net, now_ps) && net_loss_hook(&two->answer, net, now_ps);
}

static struct net_totals after_two_losses(const char *const *settings, struct two_losses *two)
{
    struct net_fixture f;
    pair(&f, settings);
    net_fixture_message(&f, 0, 1, PKTS * 4096);
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, lose_twice, two), NET_FINISHED);
    struct net_totals t = net_fixture_totals(&f);
    net_fixture_release(&f);
    return t;
}

static void test_nic_recovery__lost_nak_costs_a_timeout(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        struct two_losses two = {{.at = 1, .kind = PACKET_DATA, .nth = 10, .n = 1}, {.at = 0, .kind = PACKET_NAK, .nth = 1, .n = 1}};
        struct net_totals t = after_two_losses(modes[mode], &two);
        assert_int_equal(two.answer.lost, 1);
        assert_int_equal(t.nak_pkts, 1); /* one a gap */
        assert_int_equal(t.timeouts, 1);
        assert_true(mode == 0 ? t.retransmitted_pkts == PKTS - 9 : t.retransmitted_pkts < 10); /* it held the others */
    }
}

static void test_nic_recovery__next_sack_makes_good_a_lost_one(void **state)
{
    (void)state;
    struct two_losses two = {{.at = 1, .kind = PACKET_DATA, .nth = 10, .n = 1}, {.at = 0, .kind = PACKET_SACK, .nth = 1, .n = 1}};
    struct net_totals t = after_two_losses(selective, &two);
    assert_int_equal(two.answer.lost, 1);
    assert_int_equal(t.timeouts, 0);
    assert_int_equal(t.retransmitted_pkts, 2); /* the packet whose SACK was lost, too */
    assert_int_equal(t.spurious_pkts, 1);
}

/* ---- the packet that was sent again is lost again --------------------------------------------- */
static struct net_totals after_second_loss(const char *const *settings, uint64_t pkts)
{
    struct two_losses two = {{.at = 1, .kind = PACKET_DATA, .nth = 10, .n = 1}, {.at = 1, .kind = PACKET_DATA}};
    struct net_fixture f;
    pair(&f, settings);
    net_fixture_message(&f, 0, 1, (int64_t)pkts * 4096);
    /* The second one looks for PSN 9 after the first loss has been made: it is the repeated packet. */
    two.answer.psn_plus_1 = 10;
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, lose_twice, &two), NET_FINISHED);
    assert_int_equal(two.answer.lost, 1);
    struct net_totals t = net_fixture_totals(&f);
    net_fixture_release(&f);
    return t;
}

static void test_nic_recovery__selective_repeat_sees_the_second_loss_of_a_packet(void **state)
{
    (void)state;
    struct net_totals t = after_second_loss(selective, PKTS);
    assert_int_equal(t.timeouts, 0);
    assert_int_equal(t.retransmitted_pkts, 2);
    assert_int_equal(t.spurious_pkts, 0);
    t = after_second_loss(selective, 12); /* nothing comes after it that could show the loss */
    assert_int_equal(t.timeouts, 1);
    assert_int_equal(t.retransmitted_pkts, 2);
}

static void test_nic_recovery__go_back_n_needs_a_timeout_for_the_second_loss(void **state)
{
    (void)state;
    struct net_totals t = after_second_loss(go_back_n, PKTS);
    assert_int_equal(t.nak_pkts, 1);
    assert_int_equal(t.timeouts, 1);
}

/* ---- many losses ---------------------------------------------------------------------------------- */
/* Goodput of go-back-N with W packets a round trip and loss p is (1-p)/(1-p+pW), of selective repeat 1-p. */
static double efficiency(const char *const *settings, double loss_probability, uint32_t pkts)
{
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_host(&f);
    net_fixture_host(&f);
    net_fixture_link(&f, 0, 1, G100, 20 * CABLE);
    net_fixture_set_bare(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.adaptive_retransmission=true", "nic.adaptive_timeout=100us", NULL});
    net_fixture_set_all(&f, settings);
    struct fixture_message m = net_fixture_message(&f, 0, 1, (int64_t)pkts * 4096);
    struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .probability = loss_probability};
    run(&f, &loss);
    assert_int_equal(net_fixture_totals(&f).failed_qps, 0);
    double used_ps = (double)(net_fixture_done_ps(&f, m.recv) - 20 * CABLE);
    net_fixture_release(&f);
    return (double)pkts * (double)FULL / used_ps;
}

static void test_nic_recovery__goodput_under_loss_is_that_of_the_closed_forms(void **state)
{
    (void)state;
    double p = 1e-3, w = (2 * 20.0 * (double)CABLE + (double)(FULL + ACK)) / (double)FULL;
    double sr = efficiency(selective, p, 40000), gbn = efficiency(go_back_n, p, 40000);
    assert_true(sr > 1 - p - 0.005 && sr < 1);
    assert_true(fabs(gbn / ((1 - p) / (1 - p + p * w)) - 1) < 0.02);
    /* A tolerance that is never needed costs nothing but its wait. */
    assert_true(fabs(efficiency(tolerant, p, 40000) / gbn - 1) < 0.03);
    assert_true(efficiency(selective, 2e-2, 20000) > 1 - 2e-2 - 0.02);
}

static void test_nic_recovery__psn_may_pass_32_bits(void **state)
{
    (void)state;
    for (size_t mode = 0; mode < G_N_ELEMENTS(modes); mode++) {
        struct net_fixture f;
        pair(&f, modes[mode]);
        for (int i = 0; i < 20; i++)
            net_fixture_message(&f, 0, 1, i % 3 * 30000 + 1);
        net_fixture_start(&f);
        uint32_t start = (uint32_t)-30;
        struct qp_tx *t = &f.net->tx[0];
        t->next_psn = t->una_psn = t->max_psn = t->posted_psn = f.net->rx[0].expected_psn = start;
        f.net->repair[0].cursor_psn = f.net->repair[0].lost_psn = start;
        struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .probability = 0.1};
        run(&f, &loss);
        assert_true(loss.lost > 2);
        assert_true((int32_t)t->una_psn > 0);
        assert_int_equal(t->una_psn, t->posted_psn);
        net_fixture_release(&f);
    }
}

/* Marks of SACKs are reused when the window has passed by. */
static void test_nic_recovery__window_is_bounded_by_the_reorder_window(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_host(&f);
    net_fixture_host(&f);
    net_fixture_link(&f, 0, 1, G100, 40 * CABLE); /* 120 packets a round trip */
    net_fixture_set_bare(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.recovery=selective_repeat", "nic.reorder_window=70", "nic.local_ack_timeout=5", NULL});
    net_fixture_message(&f, 0, 1, 3000 * 4096);
    struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .probability = 0.03};
    run(&f, &loss);
    assert_int_equal(f.net->tx[0].window_pkts, 70);
    assert_int_equal(net_fixture_totals(&f).out_of_window_pkts, 0);
    assert_int_equal(f.net->rx[0].n_held, 0);
    for (uint32_t i = 0; i < 128; i++)
        assert_false(nic_bit(f.net, f.net->rx_held, 0, i) || nic_bit(f.net, f.net->rx_held_last, 0, i) || nic_bit(f.net, f.net->tx_sacked, 0, i));
    net_fixture_release(&f);
}

/* ---- timeouts ---------------------------------------------------------------------------------------- */
static void test_nic_recovery__adaptive_timeouts_double(void **state)
{
    (void)state;
    for (uint64_t lost = 1; lost <= 8; lost++) {
        struct net_fixture f;
        pair(&f, lost % 2 ? selective : go_back_n);
        net_fixture_set_all(&f, (const char *const[]){"nic.local_ack_timeout=8", "nic.adaptive_retransmission=true", "nic.adaptive_timeout=50us", NULL});
        struct fixture_message m = net_fixture_message(&f, 0, 1, 4096);
        struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .nth = 1, .n = lost};
        run(&f, &loss);
        sim_ps wait = 0, full = 4096 * UNIT_NS * 256; /* 1.05 ms */
        uint64_t n_full = 0;
        for (uint64_t i = 0; i < lost; i++) {
            wait += MIN(50 * UNIT_US << i, full);
            n_full += 50 * UNIT_US << i >= full;
        }
        assert_int_equal(net_fixture_done_ps(&f, m.recv), wait + FIRST + CABLE);
        struct net_nic_counters n = net_fixture_nic(&f, 0);
        assert_int_equal(n.local_ack_timeout_err, n_full);
        assert_int_equal(n.roce_adp_retrans_to, lost - n_full);
        assert_int_equal(n.roce_adp_retrans, lost - n_full);
        net_fixture_release(&f);
    }
}

/* After a long stall the first timeout is the short one again, though the timer that runs is a long one. */
static void test_nic_recovery__progress_makes_timeouts_short_again(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, go_back_n);
    net_fixture_set_all(&f, (const char *const[]){"nic.local_ack_timeout=12", "nic.adaptive_retransmission=true", "nic.adaptive_timeout=50us", NULL});
    net_fixture_message(&f, 0, 1, 4096);
    struct fixture_message late = net_fixture_message(&f, 0, 1, 4096);
    job_op_at(f.job, late.send)->earliest_ps = 1600 * UNIT_US;
    /* Five losses: it comes through at 1.55 ms, with a timer of 1.6 ms running; the sixth loss is of the second message. */
    struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .nth = 1, .n = 5, .psn_plus_1 = 2};
    run(&f, &loss);
    assert_int_equal(loss.lost, 6);
    assert_int_equal(net_fixture_done_ps(&f, late.recv), 1650 * UNIT_US + FIRST + CABLE);
    net_fixture_release(&f);
}

/* ---- the end of a queue pair ----------------------------------------------------------------------------- */
static void test_nic_recovery__failed_queue_pair_ends_the_run(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, go_back_n);
    net_fixture_set(&f, "nic.retry_cnt=3");
    struct fixture_message m = net_fixture_message(&f, 0, 1, 4096);
    uint32_t compute = job_add_compute(f.job, 1, 3600 * UNIT_S);
    struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .nth = 1, .n = 1000};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, net_loss_hook, &loss), NET_STUCK);
    struct net_qp_view view;
    net_qp_view(f.net, 0, net_fixture_totals(&f).now_ps, &view);
    assert_true(view.failed);
    assert_int_equal(view.fail_reason, NET_QP_RETRIES_EXCEEDED);
    assert_int_equal(view.retries, 3);
    assert_int_equal(view.failed_ps, 4 * TIMEOUT);
    assert_int_equal(net_fixture_nic(&f, 0).req_transport_retries_exceeded, 1);
    assert_true(net_fixture_totals(&f).now_ps <= 4 * TIMEOUT + CABLE); /* not after the compute */
    assert_int_equal(net_fixture_done_ps(&f, m.send), -1);
    assert_int_equal(net_fixture_done_ps(&f, compute), -1);
    net_fixture_release(&f);
}

/* Adaptive timeouts are shorter, the time until a sender gives up is not. */
static void test_nic_recovery__adaptive_sender_gives_up_as_late(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, selective);
    net_fixture_set_all(&f, (const char *const[]){"nic.retry_cnt=3", "nic.adaptive_retransmission=true", "nic.adaptive_timeout=10us", NULL});
    net_fixture_message(&f, 0, 1, 4096);
    struct net_loss loss = {.at = 1, .kind = PACKET_DATA, .nth = 1, .n = 1000};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, net_loss_hook, &loss), NET_STUCK);
    struct net_qp_view view;
    net_qp_view(f.net, 0, net_fixture_totals(&f).now_ps, &view);
    assert_true(view.failed_ps >= 3 * TIMEOUT && view.failed_ps < 4 * TIMEOUT);
    net_fixture_release(&f);
}

/* ---- receiver not ready -------------------------------------------------------------------------------------- */
static void test_nic_recovery__rnr_timer_is_that_of_the_standard(void **state)
{
    (void)state;
    assert_int_equal(nic_rnr_timer_ps(0), 655360 * UNIT_US);
    assert_int_equal(nic_rnr_timer_ps(1), 10 * UNIT_US);
    assert_int_equal(nic_rnr_timer_ps(4), 40 * UNIT_US);
    assert_int_equal(nic_rnr_timer_ps(12), 640 * UNIT_US);
    assert_int_equal(nic_rnr_timer_ps(13), 960 * UNIT_US);
    assert_int_equal(nic_rnr_timer_ps(22), 20480 * UNIT_US);
    assert_int_equal(nic_rnr_timer_ps(31), 491520 * UNIT_US);
    for (uint32_t i = 5; i < 32; i++) /* from 60 us on, each second one is twice as long */
        assert_true(i < 6 || nic_rnr_timer_ps(i) > nic_rnr_timer_ps(i - 1));
    for (uint32_t i = 7; i < 32; i++)
        assert_int_equal(nic_rnr_timer_ps(i), 2 * nic_rnr_timer_ps(i - 2));
}

/* A message of ten packets whose receive is posted at POST_PS, and a short one before it. */
static struct fixture_message late_receive(struct net_fixture *f, const char *const *settings, sim_ps post_ps)
{
    pair(f, settings);
    net_fixture_set_all(f, (const char *const[]){"nic.rnr=true", "nic.min_rnr_timer=7", NULL}); /* 120 us */
    net_fixture_message(f, 0, 1, 1);
    struct fixture_message m = net_fixture_message(f, 0, 1, 10 * 4096);
    job_op_at(f->job, m.recv)->earliest_ps = post_ps;
    return m;
}

static void test_nic_recovery__sender_waits_for_the_receive(void **state)
{
    (void)state;
    for (size_t mode = 0; mode < G_N_ELEMENTS(modes); mode++) {
        struct net_fixture f;
        struct fixture_message m = late_receive(&f, modes[mode], 300 * UNIT_US);
        struct net_loss loss = {.at = 1, .kind = PACKET_DATA};
        run(&f, &loss);
        struct net_totals t = net_fixture_totals(&f);
        assert_int_equal(t.rnr_nak_pkts, 3); /* at about 1.5, 123 and 245 us */
        assert_int_equal(net_fixture_nic(&f, 0).rnr_nak_retry_err, 3);
        assert_int_equal(t.timeouts, 0);
        assert_int_equal(t.nak_pkts + t.sack_pkts + t.spurious_pkts, 0);
        sim_ps small = (1 + 62 + 16 + 20) * INT64_C(80), round = FIRST + 2 * CABLE + ACK + 120 * UNIT_US;
        /* The first of its packets goes out behind the short message, and then three times more. */
        assert_int_equal(net_fixture_done_ps(&f, m.recv), small + 3 * round + FIRST + 9 * FULL + CABLE);
        assert_int_equal(t.retransmitted_pkts % 3, 0);
        net_fixture_release(&f);
    }
}

static void test_nic_recovery__posted_receives_need_no_rnr(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = late_receive(&f, go_back_n, 0);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_totals(&f).rnr_nak_pkts, 0);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), (1 + 62 + 16 + 20) * INT64_C(80) + FIRST + 9 * FULL + CABLE);
    net_fixture_release(&f);
}

static void test_nic_recovery__any_one_rnr_may_be_lost(void **state)
{
    (void)state;
    for (size_t mode = 0; mode < G_N_ELEMENTS(modes); mode++)
        for (uint64_t nth = 1; nth <= 3; nth++) {
            struct net_fixture f;
            late_receive(&f, modes[mode], 300 * UNIT_US);
            struct net_loss loss = {.at = 0, .kind = PACKET_RNR, .nth = nth, .n = 1};
            run(&f, &loss);
            assert_int_equal(loss.lost, 1);
            assert_int_equal(net_fixture_totals(&f).timeouts, 1);
            net_fixture_release(&f);
        }
}

/* Short messages whose receives are posted late and one after the other, with losses: every order of answers. */
static void test_nic_recovery__rnr_and_losses_together_end(void **state)
{
    (void)state;
    for (size_t mode = 0; mode < G_N_ELEMENTS(modes); mode++)
        for (uint32_t kind = 0; kind < 2; kind++) {
            struct net_fixture f;
            pair(&f, modes[mode]);
            net_fixture_set_all(&f, (const char *const[]){"nic.rnr=true", "nic.min_rnr_timer=1", NULL});
            for (int i = 0; i < 60; i++) {
                struct fixture_message m = net_fixture_message(&f, 0, 1, 1 + i % 4 * 4000);
                job_op_at(f.job, m.recv)->earliest_ps = i * 30 * UNIT_US;
            }
            struct net_loss loss = {.at = kind, .kind = kind ? PACKET_DATA : PACKET_RNR, .probability = kind ? 0.2 : 0.4};
            run(&f, &loss);
            assert_true(loss.lost > 2);
            assert_int_equal(f.net->rx[0].n_held, 0);
            net_fixture_release(&f);
        }
}

static void test_nic_recovery__rnr_retries_run_out(void **state)
{
    (void)state;
    for (size_t mode = 0; mode < G_N_ELEMENTS(modes); mode++) {
        struct net_fixture f;
        struct fixture_message m = late_receive(&f, modes[mode], UNIT_S);
        net_fixture_set(&f, "nic.rnr_retry=2");
        assert_int_equal(net_fixture_run_until(&f, SIM_PS_MAX), NET_STUCK);
        struct net_qp_view view;
        net_qp_view(f.net, 0, net_fixture_totals(&f).now_ps, &view);
        assert_int_equal(view.fail_reason, NET_QP_RNR_RETRIES_EXCEEDED);
        assert_int_equal(view.retries, 2);
        assert_true(view.failed_ps > 240 * UNIT_US && view.failed_ps < 250 * UNIT_US);
        assert_int_equal(net_fixture_nic(&f, 0).req_rnr_retries_exceeded, 1);
        assert_int_equal(net_fixture_done_ps(&f, m.send), -1);
        net_fixture_release(&f);
    }
}

static void test_nic_recovery__rnr_retries_count_for_one_message(void **state)
{
    (void)state;
    struct net_fixture f;
    pair(&f, go_back_n);
    net_fixture_set_all(&f, (const char *const[]){"nic.rnr=true", "nic.min_rnr_timer=7", "nic.rnr_retry=2", NULL});
    for (int i = 0; i < 4; i++) {
        struct fixture_message m = net_fixture_message(&f, 0, 1, 1);
        job_op_at(f.job, m.recv)->earliest_ps = (i + 1) * 200 * UNIT_US; /* at most two RNR NAKs each, more in all */
    }
    net_fixture_run(&f);
    assert_true(net_fixture_totals(&f).rnr_nak_pkts > 3);
    net_fixture_release(&f);
}

/* ---- CNPs ---------------------------------------------------------------------------------------------------------- */
static void test_nic_recovery__lost_cnp_hangs_nothing(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 3, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"ecn.kmin=10KB", "ecn.kmax=20KB", "ecn.pmax=1", NULL});
    for (uint32_t i = 0; i < 2; i++)
        net_fixture_flow(&f, i, 2, 1000000, 0);
    struct net_loss loss = {.at = 0, .kind = PACKET_CNP, .nth = 1, .n = 1};
    run(&f, &loss);
    assert_int_equal(loss.lost, 1);
    struct net_nic_counters rx = net_fixture_nic(&f, 2), a = net_fixture_nic(&f, 0), b = net_fixture_nic(&f, 1);
    assert_int_equal(rx.np_cnp_sent, a.rp_cnp_handled + b.rp_cnp_handled + 1);
    assert_int_equal(rx.np_cnp_sent, net_fixture_totals(&f).cnp_sent_pkts);
    assert_int_equal(rx.np_ecn_marked_roce_packets, net_fixture_totals(&f).ecn_marked_pkts);
    assert_int_equal(a.rp_cnp_ignored, 0);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nic_recovery__any_one_data_packet_may_be_lost),
        cmocka_unit_test(test_nic_recovery__any_one_answer_may_be_lost),
        cmocka_unit_test(test_nic_recovery__lost_nak_costs_a_timeout),
        cmocka_unit_test(test_nic_recovery__next_sack_makes_good_a_lost_one),
        cmocka_unit_test(test_nic_recovery__selective_repeat_sees_the_second_loss_of_a_packet),
        cmocka_unit_test(test_nic_recovery__go_back_n_needs_a_timeout_for_the_second_loss),
        cmocka_unit_test(test_nic_recovery__goodput_under_loss_is_that_of_the_closed_forms),
        cmocka_unit_test(test_nic_recovery__psn_may_pass_32_bits),
        cmocka_unit_test(test_nic_recovery__window_is_bounded_by_the_reorder_window),
        cmocka_unit_test(test_nic_recovery__adaptive_timeouts_double),
        cmocka_unit_test(test_nic_recovery__progress_makes_timeouts_short_again),
        cmocka_unit_test(test_nic_recovery__failed_queue_pair_ends_the_run),
        cmocka_unit_test(test_nic_recovery__adaptive_sender_gives_up_as_late),
        cmocka_unit_test(test_nic_recovery__rnr_timer_is_that_of_the_standard),
        cmocka_unit_test(test_nic_recovery__sender_waits_for_the_receive),
        cmocka_unit_test(test_nic_recovery__posted_receives_need_no_rnr),
        cmocka_unit_test(test_nic_recovery__any_one_rnr_may_be_lost),
        cmocka_unit_test(test_nic_recovery__rnr_and_losses_together_end),
        cmocka_unit_test(test_nic_recovery__rnr_retries_run_out),
        cmocka_unit_test(test_nic_recovery__rnr_retries_count_for_one_message),
        cmocka_unit_test(test_nic_recovery__lost_cnp_hangs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
