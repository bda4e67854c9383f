/* test_cc_credit.c - limits of a sender that waits for credits. */
#include "models/cc_credit.h"
#include "models/law_fixture.h"

static void start(struct law *law, const char *const *settings)
{
    law_start(law, &cc_credit_ops, &credit_param_group, &law_path, settings);
}
static void credit(struct law *law, uint32_t psn) { law->ops->on_credit(law->state, 0, &law->rate, psn, 0); }
static void begin(struct law *law, uint32_t psn) { law->ops->on_begin(law->state, 0, &law->rate, psn, 0); }
static void acknowledge(struct law *law, uint32_t psn)
{
    const struct cc_ack ack = {.psn = psn, .next_psn = psn, .acked_pkts = 1, .rtt_ps = -1};
    law->ops->on_ack(law->state, 0, &law->rate, &ack, 0);
}

static void test_cc_credit__starts_with_unscheduled_packets(void **state)
{
    (void)state;
    struct law law;
    start(&law, (const char *const[]){"credit.unscheduled=5", NULL});
    assert_int_equal(law.rate.window_pkts, 5);
    assert_true(law.rate.ps_per_byte == 0 && law.rate.due_ps == SIM_PS_MAX);
    assert_int_equal(law.ops->wants(law.state), CC_WANTS_ACK | CC_WANTS_CREDIT);
    acknowledge(&law, 5); /* all acknowledged, and no credit: nothing more */
    assert_int_equal(law.rate.window_pkts, 0);
    law_stop(&law);
}

static void test_cc_credit__credits_name_the_first_that_must_wait(void **state)
{
    (void)state;
    struct law law;
    start(&law, (const char *const[]){"credit.unscheduled=1", NULL});
    credit(&law, 4);
    assert_int_equal(law.rate.window_pkts, 4);
    credit(&law, 3); /* an old one */
    assert_int_equal(law.rate.window_pkts, 4);
    credit(&law, 10); /* makes up for lost ones */
    assert_int_equal(law.rate.window_pkts, 10);
    acknowledge(&law, 7);
    assert_int_equal(law.rate.window_pkts, 3);
    law_stop(&law);
}

static void test_cc_credit__a_queue_pair_at_rest_begins_anew(void **state)
{
    (void)state;
    struct law law;
    start(&law, (const char *const[]){"credit.unscheduled=2", NULL});
    acknowledge(&law, 2);
    begin(&law, 2);
    assert_int_equal(law.rate.window_pkts, 2);
    begin(&law, 2); /* no more by asking twice */
    assert_int_equal(law.rate.window_pkts, 2);
    law_stop(&law);
}

/* 1.5 x 125 packets may be granted, 8 come unscheduled: no more than 196 under way, whatever a receiver says. */
static void test_cc_credit__never_more_than_the_ring_holds(void **state)
{
    (void)state;
    struct law law;
    start(&law, NO_SETTINGS);
    assert_int_equal(cc_credit_most_granted(param_bag_get(law.bag, "credit"), &law_path), 188);
    credit(&law, 1000000);
    assert_int_equal(law.rate.window_pkts, 196);
    assert_close(law_view(&law).window_pkts, 196, 1e-12);
    law_stop(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cc_credit__starts_with_unscheduled_packets),
        cmocka_unit_test(test_cc_credit__credits_name_the_first_that_must_wait),
        cmocka_unit_test(test_cc_credit__a_queue_pair_at_rest_begins_anew),
        cmocka_unit_test(test_cc_credit__never_more_than_the_ring_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
