/* Tests of scenarios/sonic_db.c: JSON to tables; references; messages. */
#include "tests/scenarios/sonic_fixture.h"

static void test_sonic_db__what_is_no_configuration_is_refused(void **state)
{
    (void)state;
    sonic_refuses("", "db.json: the file is empty; allowed: a JSON object of tables");
    sonic_refuses("[1]", "db.json: the file is no JSON object; allowed: an object of tables such as BUFFER_POOL");
    sonic_refuses("{'VLAN':{}}", "db.json: no table that is read; allowed: BUFFER_POOL, PORT_QOS_MAP, WRED_PROFILE and others (fabricast help import)");
    sonic_refuses("{'PORT':[]}", "db.json: PORT: not an object; allowed: an object of rows");
    sonic_refuses("{'PORT':{'E0':1}}", "db.json: PORT|E0: not an object; allowed: an object of fields");
    sonic_refuses("{'PORT':{'E0':{'speed':{}}}}",
                  "db.json: PORT|E0|speed: neither a text, a whole number nor a list of these; allowed: a text such as \"100000\"");
    sonic_refuses("{'PORT':{'E0':{'speed':null}}}",
                  "db.json: PORT|E0|speed: neither a text, a whole number nor a list of these; allowed: a text such as \"100000\"");
    sonic_refuses("{'PORT':{'E0':{'speed':'1','speed':'2'}}}", "db.json: 'speed' is there twice in one object");
    sonic_refuses("{'PORT':{'E0':{}},\n'PORT':{}}", "db.json: 'PORT' is there twice in one object");
    sonic_refuses("{'PORT':{'E0':{}},'X\xff':{}}", "db.json: not UTF-8 text; allowed: a JSON object of tables");
}

static void test_sonic_db__a_parse_error_names_its_line(void **state)
{
    (void)state;
    g_autoptr(GError) err = NULL;
    struct sonic_overlay overlay;
    assert_false(sonic_try_all("{'PORT':\n {'E0':\n  {'speed' '1'}}}", NULL, NULL, NULL, &overlay, &err));
    assert_true(g_error_matches(err, SONIC_ERROR, SONIC_ERROR_INPUT));
    if (!g_str_has_prefix(err->message, "db.json:3: not JSON: "))
        fail_msg("%s", err->message);
}

static void test_sonic_db__deep_nesting_is_refused_before_it_is_parsed(void **state)
{
    (void)state;
    g_autofree char *deep = g_strnfill(100000, '[');
    sonic_refuses(deep, "db.json: brackets are nested more than 64 deep; allowed: an object of tables of rows of fields");
    /* brackets in a text are none */
    g_autofree char *text = g_strdup_printf("{'PORT':{'E0':{'alias':'\\\\%.100s'}}}", deep);
    struct sonic_overlay overlay = sonic_of(text);
    sonic_overlay_release(&overlay);
}

static void test_sonic_db__numbers_texts_and_old_references_are_one(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "{'PFC_WD':{'E0':{'action':'drop','detection_time':'200'}},'QUEUE':{'E0|3':{'scheduler':'s'}},'SCHEDULER':{'s':{'type':'DWRR','weight':'7'}}}",
        "{'PFC_WD':{'E0':{'action':'drop','detection_time':200}},'QUEUE':{'E0|3':{'scheduler':'[SCHEDULER|s]'}},'SCHEDULER':{'s':{'type':'dwrr','weight':7}}}",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        struct sonic_overlay overlay = sonic_of(forms[i]);
        sonic_has(&overlay, "pfcwd", "detection_time", "200ms");
        sonic_has(&overlay, "switch", "dwrr_weights", "1,1,1,7,1,1,1,1");
        sonic_overlay_release(&overlay);
    }
}

static void test_sonic_db__values_are_checked(void **state)
{
    (void)state;
    sonic_refuses("{'PORT':{'E0':{'speed':'fast'}}}", "db.json: PORT|E0|speed: 'fast'; allowed: a whole number from 1 to 100000000");
    sonic_refuses("{'PFC_WD':{'E0':{'detection_time':'99'}}}", "db.json: PFC_WD|E0|detection_time: '99'; allowed: a whole number from 100 to 5000");
    sonic_refuses("{'PFC_WD':{'E0':{'action':'dorp'}}}", "db.json: PFC_WD|E0|action: 'dorp'; allowed: drop, forward, alert");
    sonic_refuses("{'PORT_QOS_MAP':{'E0':{'pfc_enable':'3;4'}}}", "db.json: PORT_QOS_MAP|E0|pfc_enable: '3;4'; allowed: numbers 0 to 7 with commas");
    sonic_refuses("{'QUEUE':{'E0|3':{'scheduler':'s'}}}", "db.json: QUEUE|E0|3|scheduler: 's': the file has no rows in table SCHEDULER");
    sonic_refuses("{'QUEUE':{'E0|3':{'scheduler':'scheduler1'}},'SCHEDULER':{'scheduler.1':{}}}",
                  "db.json: QUEUE|E0|3|scheduler: SCHEDULER has no row 'scheduler1'; did you mean 'scheduler.1'? Allowed: scheduler.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sonic_db__what_is_no_configuration_is_refused),
        cmocka_unit_test(test_sonic_db__a_parse_error_names_its_line),
        cmocka_unit_test(test_sonic_db__deep_nesting_is_refused_before_it_is_parsed),
        cmocka_unit_test(test_sonic_db__numbers_texts_and_old_references_are_one),
        cmocka_unit_test(test_sonic_db__values_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
