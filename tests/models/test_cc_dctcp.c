/* test_cc_dctcp.c - DCTCP's alpha, cuts and growth against hand arithmetic and the paper's closed form. */
#include "models/cc_dctcp.h"
#include "models/law_fixture.h"

#define G 0.0625

static void start(struct law *law, const char *const *settings)
{
    law_start(law, &cc_dctcp_ops, &dctcp_param_group, &law_path, settings);
}

static void test_cc_dctcp__starts_with_a_full_path(void **state)
{
    (void)state;
    struct law law;
    start(&law, NO_SETTINGS);
    assert_int_equal(law.rate.window_pkts, LAW_PATH_PKTS);
    assert_true(law.rate.ps_per_byte == 0 && law.rate.due_ps == SIM_PS_MAX);
    assert_int_equal(law.ops->wants(law.state), CC_WANTS_ACK | CC_WANTS_ECHO | CC_WANTS_LOSS | CC_WANTS_WINDOW);
    assert_close(law_view(&law).rate_bps, 100e9, 1e-9);
    law_stop(&law);
}

/* Windows of ten packets, three of them marked: alpha - F falls by (1 - g) a window. */
static void test_cc_dctcp__alpha_goes_to_the_fraction_of_marks(void **state)
{
    (void)state;
    struct law law;
    uint32_t psn = 0;
    start(&law, NO_SETTINGS);
    struct cc_ack first = {.psn = ++psn, .next_psn = 10, .acked_pkts = 1, .rtt_ps = -1};
    law.ops->on_ack(law.state, 0, &law.rate, &first, 0); /* begins the window that ends behind PSN 10 */
    for (int n = 1; n <= 100; n++) {
        for (int i = 0; i < 10; i++) {
            psn++;
            struct cc_ack ack = {.psn = psn, .next_psn = psn + 9, .acked_pkts = 1, .marked = i < 3, .rtt_ps = -1};
            law.ops->on_ack(law.state, 0, &law.rate, &ack, 0);
        }
        assert_close(law_view(&law).alpha, 0.3 + 0.7 * pow(1 - G, n), 1e-9);
    }
    law_stop(&law);
}

static void test_cc_dctcp__a_window_is_cut_once(void **state)
{
    (void)state;
    struct law law;
    start(&law, (const char *const[]){"dctcp.initial_alpha=0.5", NULL});
    law_ack(&law, true, -1, 0); /* 125 x (1 - 0.5 / 2) */
    assert_close(law_view(&law).window_pkts, 93.75, 1e-12);
    assert_int_equal(law.rate.window_pkts, 93);
    for (int i = 0; i < 100; i++)
        law_ack(&law, i % 2, -1, 0); /* of the window that was cut */
    assert_close(law_view(&law).window_pkts, 93.75, 1e-12);
    assert_int_equal(law_view(&law).n_cuts, 1);
    while (law.psn < 125)
        law_ack(&law, false, -1, 0);
    law_ack(&law, true, -1, 0); /* the first ACK of the next window */
    assert_int_equal(law_view(&law).n_cuts, 2);
    law_stop(&law);
}

static void test_cc_dctcp__grows_by_one_over_w_when_the_window_is_full(void **state)
{
    (void)state;
    struct law law;
    double w = LAW_PATH_PKTS;
    start(&law, NO_SETTINGS);
    for (int i = 0; i < 500; i++) {
        law_ack(&law, false, -1, 0);
        w += 1 / w;
        assert_close(law_view(&law).window_pkts, w, 1e-12);
    }
    struct cc_ack idle = {.psn = law.psn + 1, .next_psn = law.psn + 10, .acked_pkts = 1, .rtt_ps = -1};
    law.ops->on_ack(law.state, 0, &law.rate, &idle, 0); /* ten packets under way: the window held nobody up */
    assert_close(law_view(&law).window_pkts, w, 1e-12);
    law_stop(&law);
}

static void test_cc_dctcp__slow_start_doubles_until_the_first_mark(void **state)
{
    (void)state;
    struct law law;
    start(&law, (const char *const[]){"dctcp.initial_window=10000B", NULL});
    assert_int_equal(law.rate.window_pkts, 10);
    for (int i = 0; i < 10 + 20 + 40; i++)
        law_ack(&law, false, -1, 0);
    assert_int_equal(law.rate.window_pkts, 80);
    law_ack(&law, true, -1, 0);
    double cut = law_view(&law).window_pkts;
    while (law.psn < 71 + 90)
        law_ack(&law, false, -1, 0);
    assert_true(law_view(&law).window_pkts < cut + 3); /* one a round trip from here on */
    law_stop(&law);
}

static void test_cc_dctcp__losses_halve_and_timeouts_leave_one(void **state)
{
    (void)state;
    struct law law;
    start(&law, NO_SETTINGS);
    law_ack(&law, false, -1, 0);
    double w = law_view(&law).window_pkts;
    law_lose(&law, CC_LOSS_NAK, 0);
    assert_close(law_view(&law).window_pkts, w / 2, 1e-12);
    law_lose(&law, CC_LOSS_NAK, 0); /* the same window */
    assert_close(law_view(&law).window_pkts, w / 2, 1e-12);
    law_lose(&law, CC_LOSS_TIMEOUT, 0);
    assert_int_equal(law.rate.window_pkts, 1);
    law_ack(&law, false, -1, 0); /* slow start up to a quarter of w */
    assert_int_equal(law.rate.window_pkts, 2);
    law_stop(&law);
}

static void test_cc_dctcp__limits_hold(void **state)
{
    (void)state;
    struct law law;
    start(&law, (const char *const[]){"dctcp.min_window=4", "dctcp.max_window=130000B", NULL});
    for (int i = 0; i < 5000; i++)
        law_ack(&law, false, -1, 0);
    assert_close(law_view(&law).window_pkts, 130, 1e-12);
    for (int i = 0; i < 5000; i++)
        law_ack(&law, true, -1, 0);
    assert_close(law_view(&law).window_pkts, 4, 1e-12);
    law_stop(&law);
}

/* One flow over a path of 125 packets that marks above K: a window of W leaves W - 125 queued the whole round trip.
 * SIGCOMM 2010, 3.3: alpha ~ sqrt(2 / W*), W* = C RTT + K; the sawtooth is D = (W* + 1) alpha / 2 high. */
static void test_cc_dctcp__sawtooth_is_as_high_as_the_paper_says(void **state)
{
    (void)state;
    struct law law;
    const double k = 75, w_star = LAW_PATH_PKTS + k;
    double low = 1e9, high = 0;
    start(&law, NO_SETTINGS);
    for (int round = 0; round < 2000; round++) {
        uint32_t w = law.rate.window_pkts;
        for (uint32_t i = 1; i <= w; i++)
            law_ack(&law, w > w_star, -1, 0);
        if (round > 1000) {
            low = MIN(low, law_view(&law).window_pkts);
            high = MAX(high, law_view(&law).window_pkts);
        }
    }
    assert_close(high, w_star + 1, 0.02);
    assert_close(high - low, (w_star + 1) * sqrt(2 / w_star) / 2, 0.25);
    law_stop(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cc_dctcp__starts_with_a_full_path),
        cmocka_unit_test(test_cc_dctcp__alpha_goes_to_the_fraction_of_marks),
        cmocka_unit_test(test_cc_dctcp__a_window_is_cut_once),
        cmocka_unit_test(test_cc_dctcp__grows_by_one_over_w_when_the_window_is_full),
        cmocka_unit_test(test_cc_dctcp__slow_start_doubles_until_the_first_mark),
        cmocka_unit_test(test_cc_dctcp__losses_halve_and_timeouts_leave_one),
        cmocka_unit_test(test_cc_dctcp__limits_hold),
        cmocka_unit_test(test_cc_dctcp__sawtooth_is_as_high_as_the_paper_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
