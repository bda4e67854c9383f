/* Tests of scenarios/sonic_queue.c: what marks, and schedulers. */
#include "tests/scenarios/sonic_fixture.h"

#define GREEN "'green_min_threshold':'1048576','green_max_threshold':'2097152','green_drop_probability':'5'"
#define QUEUES(fields) "{'QUEUE':{'E0|3-4':{'wred_profile':'W'}},'WRED_PROFILE':{'W':{" fields "}}}"

static void test_sonic_queue__green_thresholds_mark(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of(QUEUES("'ecn':'ecn_all','wred_green_enable':'true'," GREEN));
    sonic_has(&o, "ecn", "enabled", "true");
    sonic_has(&o, "ecn", "classes", "3,4");
    sonic_has(&o, "ecn:*#3-4", "kmin", "1048576B");
    sonic_has(&o, "ecn:*#3-4", "kmax", "2097152B");
    sonic_has(&o, "ecn:*#3-4", "pmax", "0.05");
    sonic_overlay_release(&o);
}

static void test_sonic_queue__without_the_enable_key_nothing_marks(void **state)
{
    (void)state;
    static const struct { const char *json, *warning; } rows[] = {
        {QUEUES("'ecn':'ecn_all'," GREEN), "WRED_PROFILE|W: ECN inactive on green: wred_green_enable is missing"},
        {QUEUES("'ecn':'ecn_all','wred_green_enable':'false'," GREEN), "ECN inactive on green: wred_green_enable is false"},
        {QUEUES("'ecn':'ecn_green','wred_green_enable':'true','green_min_threshold':'1'"), "ECN inactive on green: green_min_threshold or green_max_threshold is missing"},
        {QUEUES("'ecn':'ecn_yellow_red','wred_green_enable':'true'," GREEN), "drops at random between its thresholds, which is not modelled"},
        {QUEUES("'wred_red_enable':'true'"), "WRED_PROFILE|W: marks nothing: its ecn does not name green"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct sonic_overlay o = sonic_of(rows[i].json);
        assert_int_equal(sonic_warns(&o, rows[i].warning), 1);
        sonic_has(&o, "ecn", "classes", "none");
        sonic_has(&o, "ecn:*#3-4", "kmin", NULL);
        sonic_overlay_release(&o);
    }
}

static void test_sonic_queue__the_colour_is_the_asics(void **state)
{
    (void)state;
    static const char json[] = QUEUES("'ecn':'ecn_all','wred_red_enable':'true','red_min_threshold':'100000','red_max_threshold':'200000'," GREEN);
    static const struct sonic_options red = {.colour = SONIC_RED};
    struct sonic_overlay o = sonic_of(json);
    assert_int_equal(sonic_warns(&o, "green, yellow and red differ, and the ASIC decides"), 1);
    sonic_has(&o, "ecn", "classes", "none");
    sonic_overlay_release(&o);
    o = sonic_of_all(json, NULL, NULL, &red);
    sonic_has(&o, "ecn:*#3-4", "kmin", "100000B");
    sonic_has(&o, "ecn:*#3-4", "pmax", "1"); /* SAI's default of 100 % */
    sonic_overlay_release(&o);
}

static void test_sonic_queue__thresholds_are_checked(void **state)
{
    (void)state;
    sonic_refuses(QUEUES("'green_min_threshold':'1600000','green_max_threshold':'400000'"),
                  "db.json: WRED_PROFILE|W|green_min_threshold: 1600000 is above green_max_threshold, 400000; allowed: at most that");
    sonic_refuses(QUEUES("'green_drop_probability':'101'"), "db.json: WRED_PROFILE|W|green_drop_probability: '101'; allowed: a whole number from 0 to 100");
    sonic_refuses(QUEUES("'ecn':'ecn_blue'"), "db.json: WRED_PROFILE|W|ecn: 'ecn_blue'; allowed: ecn_none, ecn_green, ecn_yellow, ecn_red, "
                                              "ecn_green_yellow, ecn_green_red, ecn_yellow_red, ecn_all");
}

static void test_sonic_queue__schedulers(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'SCHEDULER':{'a':{'type':'DWRR','weight':'15'},'b':{'type':'STRICT','pir':'1000'},'c':{'weight':'3'},'d':{'type':'DWRR'}},"
                                      "'QUEUE':{'E0|0-2':{'scheduler':'a'},'E0|7':{'scheduler':'b'},'E0|4':{'scheduler':'c'}}}");
    sonic_has(&o, "switch", "strict_classes", "7");
    sonic_has(&o, "switch", "dwrr_weights", "15,15,15,1,3,1,1,1");
    assert_int_equal(sonic_warns(&o, "SCHEDULER|c|type: missing, by SAI's default WRR: taken as DWRR"), 1);
    assert_int_equal(sonic_warns(&o, "SCHEDULER: pir: ignored in b: queues have no rate limits in the model"), 1);
    assert_int_equal(sonic_warns(&o, "SCHEDULER|d: ignored: nothing refers to it"), 1);
    sonic_overlay_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sonic_queue__green_thresholds_mark),
        cmocka_unit_test(test_sonic_queue__without_the_enable_key_nothing_marks),
        cmocka_unit_test(test_sonic_queue__the_colour_is_the_asics),
        cmocka_unit_test(test_sonic_queue__thresholds_are_checked),
        cmocka_unit_test(test_sonic_queue__schedulers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
