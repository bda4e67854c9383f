/* test_cc.c - the control that does nothing: port speed for ever, whatever happens. */
#include "models/cc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void assert_port_speed(const struct cc_rate *rate)
{
    assert_true(rate->ps_per_byte == 0);
    assert_int_equal(rate->due_ps, SIM_PS_MAX);
    assert_int_equal(rate->window_pkts, UINT32_MAX);
}

static void test_cc__none_stays_at_port_speed(void **state)
{
    (void)state;
    struct cc_rate rate = {.due_ps = 1, .ps_per_byte = 7};
    const struct cc_path path = {.port_bps = 100 * UNIT_GBPS};
    cc_none_ops.start(NULL, 0, &rate, &path);
    assert_port_speed(&rate);
    cc_none_ops.on_cnp(NULL, 0, &rate, UNIT_US);
    cc_none_ops.on_sent(NULL, 0, &rate, 4096, 2 * UNIT_US);
    cc_none_ops.advance(NULL, 0, &rate, UNIT_S);
    assert_port_speed(&rate);
    cc_none_ops.on_ack(NULL, 0, &rate, &(struct cc_ack){.marked = true}, UNIT_S);
    cc_none_ops.on_loss(NULL, 0, &rate, CC_LOSS_TIMEOUT, UNIT_S);
    assert_port_speed(&rate);
    assert_int_equal(cc_none_ops.wants(NULL), 0);
}

static void test_cc__none_reports_nothing(void **state)
{
    (void)state;
    struct cc_view view = {1, 2, 3, 4, 5, 6};
    cc_none_ops.view(NULL, 0, UNIT_US, &view);
    assert_true(view.alpha == 0 && view.rate_bps == 0 && view.target_bps == 0);
    assert_int_equal(view.n_cuts + view.n_cnps, 0);
    assert_string_equal(cc_none_ops.name, "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cc__none_stays_at_port_speed),
        cmocka_unit_test(test_cc__none_reports_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
