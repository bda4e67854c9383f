/* test_cc_timely.c - TIMELY's branches against hand arithmetic. */
#include "models/cc_timely.h"
#include "models/law_fixture.h"

#define G (double)UNIT_GBPS
/* One sample an ACK; steps of 1 Gb/s from half the port's rate; the unit of the gradient is the 10 us of the path. */
static void start(struct law *law)
{
    law_start(law, &cc_timely_ops, &timely_param_group, &law_path,
              (const char *const[]){"timely.segment=1000B", "timely.addstep=1Gbps", "timely.initial_rate=0.5", "timely.min_rtt=0", NULL});
}
static double rate(const struct law *law) { return law_view(law).rate_bps; }
static void sample(struct law *law, sim_ps rtt_ps) { law_ack(law, false, rtt_ps, 0); }

static void test_cc_timely__first_sample_is_only_remembered(void **state)
{
    (void)state;
    struct law law;
    start(&law);
    assert_close(rate(&law), 50 * G, 1e-12);
    assert_close(law.rate.ps_per_byte, 160, 1e-12);
    assert_int_equal(law.rate.window_pkts, UINT32_MAX);
    sample(&law, 100 * UNIT_US);
    assert_close(rate(&law), 50 * G, 1e-12);
    law_stop(&law);
}

static void test_cc_timely__rises_below_t_low_whatever_the_gradient(void **state)
{
    (void)state;
    struct law law;
    start(&law);
    for (int i = 0; i < 10; i++)
        sample(&law, (10 + i) * UNIT_US);
    assert_close(rate(&law), 59 * G, 1e-12);
    law_stop(&law);
}

static void test_cc_timely__falls_above_t_high(void **state)
{
    (void)state;
    struct law law;
    start(&law);
    sample(&law, 1000 * UNIT_US);
    sample(&law, 1000 * UNIT_US); /* no gradient: 1 - 0.8 (1 - 500/1000) = 0.6 */
    assert_close(rate(&law), 30 * G, 1e-12);
    law_stop(&law);
}

static void test_cc_timely__follows_the_gradient_between_the_thresholds(void **state)
{
    (void)state;
    struct law law;
    start(&law);
    sample(&law, 100 * UNIT_US);
    sample(&law, 104 * UNIT_US); /* 0.875 x 4 us = 3.5 us, 0.35 of 10 us: 1 - 0.8 x 0.35 = 0.72 */
    assert_close(rate(&law), 36 * G, 1e-12);
    sample(&law, 100 * UNIT_US); /* 0.125 x 3.5 - 0.875 x 4 < 0 */
    assert_close(rate(&law), 37 * G, 1e-12);
    sample(&law, 300 * UNIT_US); /* 17 units of gradient count as one: never below 0.2 */
    assert_close(rate(&law), 7.4 * G, 1e-12);
    assert_int_equal(law_view(&law).n_cuts, 2);
    law_stop(&law);
}

/* The fifth calm sample in a row adds five steps. */
static void test_cc_timely__hyperactive_increase_after_five(void **state)
{
    (void)state;
    struct law law;
    start(&law);
    sample(&law, 100 * UNIT_US);
    for (int i = 0; i < 4; i++)
        sample(&law, 100 * UNIT_US);
    assert_close(rate(&law), 54 * G, 1e-12);
    sample(&law, 100 * UNIT_US);
    assert_close(rate(&law), 59 * G, 1e-12);
    for (int i = 0; i < 20; i++)
        sample(&law, 100 * UNIT_US);
    assert_close(rate(&law), 100 * G, 1e-12); /* port speed: no pacing */
    assert_true(law.rate.ps_per_byte == 0);
    law_stop(&law);
}

/* 4 packets to a segment: three ACKs of four say nothing. */
static void test_cc_timely__samples_once_a_segment(void **state)
{
    (void)state;
    struct law law;
    law_start(&law, &cc_timely_ops, &timely_param_group, &law_path,
              (const char *const[]){"timely.segment=4000B", "timely.addstep=1Gbps", "timely.initial_rate=0.5", "timely.min_rtt=0", NULL});
    for (int i = 0; i < 40; i++)
        sample(&law, 10 * UNIT_US);
    assert_close(rate(&law), 59 * G, 1e-12); /* ten samples, the first one remembered */
    law_stop(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cc_timely__first_sample_is_only_remembered),
        cmocka_unit_test(test_cc_timely__rises_below_t_low_whatever_the_gradient),
        cmocka_unit_test(test_cc_timely__falls_above_t_high),
        cmocka_unit_test(test_cc_timely__follows_the_gradient_between_the_thresholds),
        cmocka_unit_test(test_cc_timely__hyperactive_increase_after_five),
        cmocka_unit_test(test_cc_timely__samples_once_a_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
