/* test_cc_swift.c - Swift's target, additive increase, cuts and windows below one packet against hand arithmetic. */
#include "models/cc_swift.h"
#include "models/law_fixture.h"

/* Two switches: 25 + 2 us, and flow scaling of at most 100 us for windows from 100 packets down to 0.1. */
#define TARGET (27 * UNIT_US)

static void start(struct law *law, const char *const *settings)
{
    law_start(law, &cc_swift_ops, &swift_param_group, &law_path, settings);
}
static const struct swift_params *params(const struct law *law) { return param_bag_get(law->bag, "swift"); }
static double window(const struct law *law) { return law_view(law).window_pkts; }

static void test_cc_swift__target_scales_with_hops_and_window(void **state)
{
    (void)state;
    struct law law;
    start(&law, NO_SETTINGS);
    assert_int_equal(cc_swift_target_ps(params(&law), 100, 2), TARGET);
    assert_int_equal(cc_swift_target_ps(params(&law), 500, 0), 25 * UNIT_US);
    assert_int_equal(cc_swift_target_ps(params(&law), 0.1, 2), TARGET + 100 * UNIT_US);
    assert_int_equal(cc_swift_target_ps(params(&law), 0.01, 2), TARGET + 100 * UNIT_US);
    /* One packet: (1 - 1/10) / (sqrt(10) - 1/10) = 0.29390 of the range. */
    assert_close((double)(cc_swift_target_ps(params(&law), 1, 2) - TARGET), 29.3896e6, 1e-4);
    law_stop(&law);
}

static void test_cc_swift__adds_ai_a_round_trip_below_the_target(void **state)
{
    (void)state;
    struct law law;
    double w = LAW_PATH_PKTS;
    start(&law, NO_SETTINGS);
    assert_int_equal(law.rate.window_pkts, LAW_PATH_PKTS);
    for (int i = 0; i < 300; i++) {
        law_ack(&law, false, TARGET - 1, i * UNIT_US);
        w += 1 / w;
        assert_close(window(&law), w, 1e-12);
    }
    law_stop(&law);
}

static void test_cc_swift__cuts_by_the_excess_once_a_round_trip(void **state)
{
    (void)state;
    struct law law;
    start(&law, NO_SETTINGS);
    law_ack(&law, false, 36 * UNIT_US, UNIT_MS); /* a quarter of it is excess: 1 - 0.8 / 4 */
    assert_close(window(&law), 100, 1e-12);
    law_ack(&law, false, 36 * UNIT_US, UNIT_MS + 35 * UNIT_US);
    assert_close(window(&law), 100, 1e-12);
    law_ack(&law, false, 36 * UNIT_US, UNIT_MS + 36 * UNIT_US);
    assert_close(window(&law), 80, 1e-12);
    law_ack(&law, false, 2700 * UNIT_US, UNIT_MS + 72 * UNIT_US); /* at most half of it */
    assert_close(window(&law), 40, 1e-12);
    assert_int_equal(law_view(&law).n_cuts, 3);
    law_stop(&law);
}

/* Below one packet: one under way, and rtt / cwnd from one to the next. */
static void test_cc_swift__paces_windows_below_one_packet(void **state)
{
    (void)state;
    struct law law;
    start(&law, (const char *const[]){"swift.initial_cwnd=0.5", NULL});
    assert_int_equal(law.rate.window_pkts, 1);
    assert_close(law.rate.ps_per_byte * law_path.wire_bytes, 20e6, 1e-12); /* 10 us / 0.5 */
    law_ack(&law, false, 20 * UNIT_US, UNIT_MS); /* below one packet ACKs add ai each */
    assert_close(window(&law), 1.5, 1e-12);
    assert_true(law.rate.ps_per_byte == 0);
    for (int i = 1; i < 100; i++)
        law_ack(&law, false, UNIT_MS, UNIT_MS + i * UNIT_MS);
    assert_close(window(&law), 0.01, 1e-12); /* min_cwnd */
    assert_close(law.rate.ps_per_byte * law_path.wire_bytes, 100 * 1e9, 1e-12);
    law_stop(&law);
}

static void test_cc_swift__without_a_round_trip_nothing_moves(void **state)
{
    (void)state;
    struct law law;
    start(&law, NO_SETTINGS);
    law_ack(&law, true, -1, UNIT_MS);
    assert_close(window(&law), LAW_PATH_PKTS, 1e-12);
    law_ack(&law, false, UNIT_US, UNIT_MS); /* both are counted */
    assert_close(window(&law), LAW_PATH_PKTS + 2.0 / LAW_PATH_PKTS, 1e-12);
    law_stop(&law);
}

static void test_cc_swift__losses_cut_and_timeouts_reset(void **state)
{
    (void)state;
    struct law law;
    start(&law, (const char *const[]){"swift.initial_cwnd=64", NULL});
    law_lose(&law, CC_LOSS_NAK, UNIT_MS);
    law_lose(&law, CC_LOSS_NAK, UNIT_MS + 9 * UNIT_US); /* within the round trip of 10 us */
    assert_close(window(&law), 32, 1e-12);
    for (int i = 1; i <= 4; i++)
        law_lose(&law, CC_LOSS_TIMEOUT, UNIT_MS + i * UNIT_MS);
    assert_close(window(&law), 2, 1e-12);
    law_lose(&law, CC_LOSS_TIMEOUT, 7 * UNIT_MS); /* the fifth */
    assert_close(window(&law), 0.01, 1e-12);
    law_stop(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cc_swift__target_scales_with_hops_and_window),
        cmocka_unit_test(test_cc_swift__adds_ai_a_round_trip_below_the_target),
        cmocka_unit_test(test_cc_swift__cuts_by_the_excess_once_a_round_trip),
        cmocka_unit_test(test_cc_swift__paces_windows_below_one_packet),
        cmocka_unit_test(test_cc_swift__without_a_round_trip_nothing_moves),
        cmocka_unit_test(test_cc_swift__losses_cut_and_timeouts_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
