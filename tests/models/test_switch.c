/* test_switch.c - scheduling of classes, marking, admission of lossy classes, as seen at the ports. */
#include "models/net_fixture.h"

#include <stdlib.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)
#define FRAME 4158 /* full data frame without preamble and gap */

/* Hosts 0 .. N-2 send to host N-1, host i in CLASSES[i]; the buffer takes everything. */
static void funnel(struct net_fixture *f, uint32_t n, const uint8_t *classes, int64_t bytes)
{
    net_fixture_init(f);
    net_fixture_star(f, n, G100, CABLE);
    net_fixture_set_all(f, (const char *const[]){"pfc.enabled=false", "buffer.size=400MB", "buffer.lossy_alpha=16",
                                                 "ecn.enabled=false", "nic.congestion_control=none", NULL});
    for (uint32_t i = 0; i + 1 < n; i++)
        net_fixture_message_in_class(f, i, n - 1, bytes, classes[i]);
}

static int64_t received(const struct net_fixture *f, uint32_t class)
{
    struct net_class_ledger ledger;
    net_ledger(f->net, class, &ledger);
    return (int64_t)ledger.received_bytes;
}

/* Over any stretch in which all are backlogged, class i gets w_i parts, but for its round and one frame. */
static void assert_shares(const char *weights, const char *quantum, const int64_t w[3])
{
    static const uint8_t classes[] = {0, 1, 2};
    struct net_fixture f;
    funnel(&f, 4, classes, 20000000);
    net_fixture_set_all(&f, (const char *const[]){weights, quantum, NULL});
    int64_t before[3] = {0}, got[3], quantum_bytes;
    net_fixture_start(&f);
    quantum_bytes = f.config.switching->dwrr_quantum_bytes;
    for (sim_ps until = 20 * UNIT_US; until <= 2000 * UNIT_US; until *= 4) {
        assert_int_equal(net_fixture_run_until(&f, until), NET_UNFINISHED);
        for (int c = 0; c < 3; c++)
            got[c] = received(&f, (uint32_t)c) - before[c];
        for (int c = 1; c < 3; c++) {
            int64_t slack = 2 * (quantum_bytes * MAX(w[c], w[0]) + FRAME);
            int64_t off = got[c] * w[0] - got[0] * w[c];
            if (until > 20 * UNIT_US) /* the first stretch holds the start */
                assert_true(llabs(off) <= slack * (w[0] + w[c]));
        }
        for (int c = 0; c < 3; c++)
            before[c] += got[c];
    }
    assert_int_equal(net_fixture_totals(&f).drop_pkts, 0);
    net_fixture_release(&f);
}

static void test_switch__dwrr_shares_by_weight(void **state)
{
    (void)state;
    assert_shares("switch.dwrr_weights=1,2,5,1,1,1,1,1", "switch.dwrr_quantum=4608B", (const int64_t[]){1, 2, 5});
    assert_shares("switch.dwrr_weights=1,1,1,1,1,1,1,1", "switch.dwrr_quantum=4608B", (const int64_t[]){1, 1, 1});
    /* A quantum below a frame still gives the ratio, in more rounds. */
    assert_shares("switch.dwrr_weights=3,1,2,1,1,1,1,1", "switch.dwrr_quantum=512B", (const int64_t[]){3, 1, 2});
}

/* Bytes, not packets: small frames of one class against large ones of another. */
static void test_switch__dwrr_counts_bytes(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 3, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"pfc.enabled=false", "buffer.size=400MB", "buffer.lossy_alpha=16",
                                                  "ecn.enabled=false", "nic.congestion_control=none", "nic.ack_class=7", NULL});
    for (int i = 0; i < 8000; i++)
        net_fixture_message_in_class(&f, 0, 2, 438, 1); /* frames of 516 B, about 94 % of what the wire carries */
    net_fixture_message_in_class(&f, 1, 2, 20000000, 2);
    assert_int_equal(net_fixture_run_until(&f, 100 * UNIT_US), NET_UNFINISHED);
    int64_t small = received(&f, 1), large = received(&f, 2);
    assert_int_equal(net_fixture_run_until(&f, 300 * UNIT_US), NET_UNFINISHED);
    small = received(&f, 1) - small;
    large = received(&f, 2) - large;
    assert_true(llabs(small - large) <= 2 * (4608 + FRAME));
    assert_true(small > 1000000);
    net_fixture_release(&f);
}

/* Weights up to 10,000 and quanta up to 1 MB are allowed: either refused together, or true to the ratio. */
static void test_switch__large_weights_keep_their_ratio(void **state)
{
    (void)state;
    static const uint8_t classes[] = {0, 1};
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    funnel(&f, 3, classes, 200000000);
    net_fixture_set_all(&f, (const char *const[]){"switch.dwrr_weights=1,4295,1,1,1,1,1,1", "switch.dwrr_quantum=1MB", NULL});
    if (net_fixture_new(&f, &err)) { /* 4,295 MB a round: 2^32 + 32,704 */
        assert_int_equal(net_fixture_run_until(&f, 3 * UNIT_MS), NET_UNFINISHED);
        assert_true(received(&f, 1) > 8 * received(&f, 0));
    } else {
        assert_true(err->domain == PARAM_ERROR || err->domain == NET_ERROR);
    }
    net_fixture_release(&f);
}

/* The strict class waits for the frame on the wire and for nothing else. */
static void test_switch__strict_class_goes_before_dwrr(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 4, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"pfc.enabled=false", "buffer.size=400MB", "buffer.lossy_alpha=16",
                                                  "ecn.enabled=false", "nic.congestion_control=none",
                                                  "switch.strict_classes=5,6", "switch.forwarding=store_and_forward", NULL});
    net_fixture_message_in_class(&f, 0, 3, 4000000, 1);
    net_fixture_message_in_class(&f, 1, 3, 4000000, 2);
    struct fixture_message urgent = net_fixture_message_in_class(&f, 2, 3, 1000, 6);
    job_op_at(f.job, urgent.send)->earliest_ps = 200 * UNIT_US; /* 1.2 MB are waiting by then */
    net_fixture_run(&f);
    sim_ps alone = net_ideal_ps(f.net, net_op_qp(f.net, urgent.send), 1000);
    sim_ps took = net_fixture_done_ps(&f, urgent.recv) - 200 * UNIT_US;
    assert_true(took >= alone && took <= alone + (FRAME + 16 + 20) * 80);
    net_fixture_release(&f);
}

/* Among strict classes the higher number starves the lower one. */
static void test_switch__higher_strict_class_goes_first(void **state)
{
    (void)state;
    static const uint8_t classes[] = {6, 7, 1};
    struct net_fixture f;
    funnel(&f, 4, classes, 5000000);
    net_fixture_run(&f);
    sim_ps done[3];
    for (uint32_t i = 0; i < 3; i++)
        done[i] = net_fixture_done_ps(&f, 2 * i + 1);
    sim_ps one = 1221 * (FRAME + 20) * INT64_C(80); /* time of one message on the last link */
    assert_true(llabs(done[1] - one) < 10 * UNIT_US);
    assert_true(llabs(done[0] - 2 * one) < 10 * UNIT_US);
    assert_true(llabs(done[2] - 3 * one) < 10 * UNIT_US);
    net_fixture_release(&f);
}

/* ---- marking --------------------------------------------------------------------------------- */
static uint64_t marks(const char *kmin, const char *kmax, const char *mark_at, int64_t *max_queue)
{
    struct net_fixture f;
    net_fixture_init(&f);
    uint32_t s = net_fixture_star(&f, 3, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){kmin, kmax, "ecn.pmax=1", mark_at, "nic.congestion_control=none", NULL});
    for (uint32_t i = 0; i < 2; i++)
        net_fixture_flow(&f, i, 2, 400000, 0);
    net_fixture_run(&f);
    struct net_port_view out = net_fixture_port_view(&f, s, 2);
    uint64_t n = net_fixture_totals(&f).ecn_marked_pkts;
    assert_int_equal(out.ecn_marked_pkts, n); /* the full queue is there and nowhere else */
    *max_queue = out.queue_max_bytes;
    net_fixture_release(&f);
    return n;
}

/* Two senders at full rate: the queue grows to about 400 KB and falls again. A step at K marks those that see more. */
static void test_switch__step_marking_by_queue_length(void **state)
{
    (void)state;
    int64_t max = 0;
    uint64_t all = marks("ecn.kmin=0", "ecn.kmax=0", "ecn.mark_at=dequeue", &max);
    assert_true(max > 350000 && max < 420000);
    assert_true(all > 180 && all <= 196); /* all but those that find nothing behind them */
    assert_int_equal(marks("ecn.kmin=500KB", "ecn.kmax=500KB", "ecn.mark_at=dequeue", &max), 0);
    assert_int_equal(marks("ecn.kmin=500KB", "ecn.kmax=500KB", "ecn.mark_at=enqueue", &max), 0);
    /* At enqueue: those that arrive while it is above 200 KB. It rises by one in two arrivals, so half of all 196. */
    uint64_t enqueue = marks("ecn.kmin=200KB", "ecn.kmax=200KB", "ecn.mark_at=enqueue", &max);
    assert_true(enqueue > 90 && enqueue < 106);
    /* At dequeue: those that leave behind them more than 200 KB: 48 while it grows, 48 while it falls. */
    uint64_t dequeue = marks("ecn.kmin=200KB", "ecn.kmax=200KB", "ecn.mark_at=dequeue", &max);
    assert_true(dequeue > 90 && dequeue < 106);
}

static void test_switch__only_ecn_classes_are_marked(void **state)
{
    (void)state;
    static const uint8_t classes[] = {1, 1};
    struct net_fixture f;
    funnel(&f, 3, classes, 400000);
    net_fixture_set_all(&f, (const char *const[]){"ecn.enabled=true", "ecn.kmin=0", "ecn.kmax=0", "ecn.classes=3,4", NULL});
    net_fixture_run(&f);
    assert_int_equal(net_fixture_totals(&f).ecn_marked_pkts, 0);
    net_fixture_release(&f);
}

/* ---- lossy admission -------------------------------------------------------------------------------- */
/* cases.md 7, variant: two equal senders into one tail-drop queue lose evenly. Their receivers differ, so that the
 * survivors can be told apart behind the queue; no RETH, so that they stay in step and only ties decide. */
static void test_switch__equal_senders_lose_evenly(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    uint32_t left = net_fixture_two_switches(&f, 2, 2, G100, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"pfc.enabled=false", "buffer.lossy_limit=520KB", "ecn.enabled=false", "link.reth=0",
                                                  "nic.congestion_control=none", NULL});
    for (uint32_t i = 0; i < 2; i++)
        net_fixture_message(&f, i, 2 + i, 20000000);
    assert_int_equal(net_fixture_run_until(&f, 1500 * UNIT_US), NET_UNFINISHED);
    double lost[2];
    for (uint32_t i = 0; i < 2; i++)
        lost[i] = (double)(net_fixture_port_view(&f, i, left).tx_data_pkts -
                           net_fixture_port_view(&f, left + 1, 2 + i).tx_data_pkts);
    assert_true(lost[0] + lost[1] > 3000);
    assert_true(lost[0] / (lost[0] + lost[1]) > 0.45 && lost[0] / (lost[0] + lost[1]) < 0.55);
    struct net_port_view out = net_fixture_port_view(&f, left, left + 1);
    assert_true(out.queue_max_bytes <= 520000 && out.queue_max_bytes > 520000 - FRAME);
    assert_int_equal(out.drop_pkts, net_fixture_totals(&f).drop_pkts);
    net_fixture_release(&f);
}

/* The dynamic threshold of a lossy queue: alpha / (1 + alpha) of the pool, for one queue. */
static void test_switch__lossy_dynamic_threshold(void **state)
{
    (void)state;
    static const char *const settings[] = {"buffer.lossy_alpha=1", "buffer.lossy_alpha=1/4", "buffer.lossy_alpha=4"};
    static const double alphas[] = {1, 0.25, 4};
    static const uint8_t classes[] = {0, 0};
    for (int i = 0; i < 3; i++) {
        struct net_fixture f;
        funnel(&f, 3, classes, 4000000);
        net_fixture_set_all(&f, (const char *const[]){"buffer.size=1MB", settings[i], "nic.local_ack_timeout=10", NULL});
        net_fixture_run_until(&f, 400 * UNIT_US);
        double max = (double)net_fixture_port_view(&f, 3, 2).queue_max_bytes, want = 1e6 * alphas[i] / (1 + alphas[i]);
        assert_true(max <= want + FRAME && max >= want - 2 * FRAME * (1 + alphas[i]));
        net_fixture_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch__dwrr_shares_by_weight),
        cmocka_unit_test(test_switch__dwrr_counts_bytes),
        cmocka_unit_test(test_switch__large_weights_keep_their_ratio),
        cmocka_unit_test(test_switch__strict_class_goes_before_dwrr),
        cmocka_unit_test(test_switch__higher_strict_class_goes_first),
        cmocka_unit_test(test_switch__step_marking_by_queue_length),
        cmocka_unit_test(test_switch__only_ecn_classes_are_marked),
        cmocka_unit_test(test_switch__equal_senders_lose_evenly),
        cmocka_unit_test(test_switch__lossy_dynamic_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
