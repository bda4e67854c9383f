/* test_cc_hpcc.c - Algorithm 1 of the paper, step by step against hand arithmetic. */
#include "models/cc_hpcc.h"
#include "models/law_fixture.h"

#define BDP 125000.0 /* 100 Gb/s x 10 us */

struct feed {
    struct law law;
    struct cc_hop hops[3];
};

static void start(struct feed *f, const char *const *settings)
{
    law_start(&f->law, &cc_hpcc_ops, &hpcc_param_group, &law_path, settings);
    for (int i = 0; i < 3; i++)
        f->hops[i] = (struct cc_hop){.ts_ns = UINT32_MAX - 500, .tx_bytes = UINT32_MAX - 100, .rate_mbps = 100000}; /* soon wraps */
}
static void stop(struct feed *f) { law_stop(&f->law); }

/* DT_NS later the middle link has sent BYTES more and has QUEUE; the others idle. One packet more is acknowledged. */
static void feed(struct feed *f, uint32_t dt_ns, uint32_t bytes, uint32_t queue)
{
    struct law *law = &f->law;
    for (int i = 0; i < 3; i++)
        f->hops[i].ts_ns += dt_ns;
    f->hops[1].tx_bytes += bytes;
    f->hops[1].queue_bytes = queue;
    law->psn++;
    const struct cc_ack ack = {.psn = law->psn, .next_psn = law->psn + 9, .acked_pkts = 1, .acked_bytes = 1000, .rtt_ps = -1,
                               .hops = f->hops, .n_hops = 3};
    law->ops->on_ack(law->state, 0, &law->rate, &ack, 0);
}
static double window_bytes(const struct feed *f) { return law_view(&f->law).window_pkts * law_path.wire_bytes; }

static void test_cc_hpcc__starts_with_a_full_path_at_port_speed(void **state)
{
    (void)state;
    struct feed f;
    start(&f, NO_SETTINGS);
    assert_int_equal(f.law.rate.window_pkts, LAW_PATH_PKTS);
    assert_true(f.law.rate.ps_per_byte == 0);
    assert_int_equal(f.law.ops->wants(f.law.state), CC_WANTS_ACK | CC_WANTS_INT | CC_WANTS_WINDOW);
    feed(&f, 1000, 12500, 50000); /* the first ACK is only remembered */
    assert_close(window_bytes(&f), BDP, 1e-12);
    stop(&f);
}

/* A link that has sent at its rate with 62,500 B queued before and 37,500 B now: u = 37,500 / 125,000 + 1 = 1.3. A whole
 * round trip lies between, so U = 1.3 and W = 125,000 x 0.95 / 1.3 + 80; paced at W / T. */
static void test_cc_hpcc__one_step_by_hand(void **state)
{
    (void)state;
    struct feed f;
    start(&f, NO_SETTINGS);
    feed(&f, 1000, 0, 62500);
    feed(&f, 10000, 125000, 37500);
    const double w = BDP * 0.95 / 1.3 + 80;
    assert_close(law_view(&f.law).alpha, 1.3, 1e-12);
    assert_close(window_bytes(&f), w, 1e-12);
    assert_int_equal(f.law.rate.window_pkts, 92); /* 91.4 packets */
    assert_close(f.law.rate.ps_per_byte, 10e6 / w, 1e-12);
    stop(&f);
}

/* A tenth of a round trip counts for a tenth: U = 0.9 x 1 + 0.1 x 1.3. */
static void test_cc_hpcc__short_intervals_enter_an_average(void **state)
{
    (void)state;
    struct feed f;
    start(&f, NO_SETTINGS);
    feed(&f, 1000, 0, 62500);
    feed(&f, 1000, 12500, 37500);
    assert_close(law_view(&f.law).alpha, 1.03, 1e-12);
    stop(&f);
}

/* Ten ACKs of one round trip with the same news: W follows U down, but from one reference, not ten cuts in a row. */
static void test_cc_hpcc__each_ack_reacts_and_none_overreacts(void **state)
{
    (void)state;
    struct feed f;
    start(&f, NO_SETTINGS);
    feed(&f, 1000, 0, 125000); /* next_psn 10: the reference may move behind it */
    for (int i = 1; i <= 9; i++) {
        feed(&f, 1000, 12500, 125000); /* u = 2 */
        double u = 2 - pow(0.9, i);
        assert_close(law_view(&f.law).alpha, u, 1e-12);
        assert_close(window_bytes(&f), BDP * 0.95 / u + 80, 1e-12);
        assert_close(law_view(&f.law).target_bps, 100e9, 1e-12); /* the reference stands */
    }
    feed(&f, 1000, 12500, 125000); /* PSN 11 */
    assert_close(law_view(&f.law).target_bps / 100e9, (0.95 / (2 - pow(0.9, 10)) + 80 / BDP), 1e-9);
    assert_int_equal(law_view(&f.law).n_cuts, 1);
    stop(&f);
}

/* On an idle path W rises by W_AI for five round trips, then by U / eta at once. */
static void test_cc_hpcc__adds_five_times_then_multiplies(void **state)
{
    (void)state;
    struct feed f;
    start(&f, (const char *const[]){"hpcc.wai=1000B", NULL});
    feed(&f, 1000, 0, 0);
    while (f.law.psn < 10)
        feed(&f, 10000, 125000 * 2, 0); /* twice the rate: down to half */
    feed(&f, 10000, 125000 * 2, 0);
    double w = BDP * 0.95 / 2 + 1000;
    assert_close(window_bytes(&f), w, 1e-12);
    for (int round = 1; round <= 6; round++) {
        for (int i = 0; i < 10; i++)
            feed(&f, 10000, 62500, 0); /* half used */
        w = round <= 5 ? w + 1000 : w * 0.95 / 0.5 + 1000;
        assert_close(window_bytes(&f), MIN(w, BDP), 1e-12);
    }
    stop(&f);
}

static void test_cc_hpcc__without_fast_reaction_once_a_round_trip(void **state)
{
    (void)state;
    struct feed f;
    start(&f, (const char *const[]){"hpcc.fast_reaction=false", NULL});
    feed(&f, 1000, 0, 125000);
    for (int i = 1; i <= 9; i++)
        feed(&f, 1000, 12500, 125000);
    assert_close(window_bytes(&f), BDP, 1e-12);
    feed(&f, 1000, 12500, 125000);
    assert_close(window_bytes(&f), BDP * 0.95 / (2 - pow(0.9, 10)) + 80, 1e-9);
    stop(&f);
}

static void test_cc_hpcc__acks_without_telemetry_change_nothing(void **state)
{
    (void)state;
    struct feed f;
    start(&f, NO_SETTINGS);
    feed(&f, 1000, 0, 125000);
    law_ack(&f.law, false, -1, 0);
    feed(&f, 0, 12500, 125000); /* no time between two packets: no rate */
    assert_close(law_view(&f.law).alpha, 1, 1e-12);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cc_hpcc__starts_with_a_full_path_at_port_speed),
        cmocka_unit_test(test_cc_hpcc__one_step_by_hand),
        cmocka_unit_test(test_cc_hpcc__short_intervals_enter_an_average),
        cmocka_unit_test(test_cc_hpcc__each_ack_reacts_and_none_overreacts),
        cmocka_unit_test(test_cc_hpcc__adds_five_times_then_multiplies),
        cmocka_unit_test(test_cc_hpcc__without_fast_reaction_once_a_round_trip),
        cmocka_unit_test(test_cc_hpcc__acks_without_telemetry_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
