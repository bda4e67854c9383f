/* Tests of scenarios/sonic_qos.c: maps, PFC, watchdog. */
#include "tests/scenarios/sonic_fixture.h"

static void test_sonic_qos__maps_and_sai_defaults(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'PORT_QOS_MAP':{'E0':{'dscp_to_tc_map':'A','tc_to_queue_map':'[TC_TO_QUEUE_MAP|A]','tc_to_pg_map':'A',"
                                      "'pfc_to_queue_map':'A','pfc_to_pg_map':'A','pfc_enable':'3,4'}},"
                                      "'DSCP_TO_TC_MAP':{'A':{'26':'3','27':'3','48':'6'},'B':{'1':'1'}},'TC_TO_QUEUE_MAP':{'A':{'3':'3','6':'7'}},"
                                      "'TC_TO_PRIORITY_GROUP_MAP':{'A':{'3':'3','4':'4','7':'7'}},'MAP_PFC_PRIORITY_TO_QUEUE':{'A':{'3':'5'}},"
                                      "'PFC_PRIORITY_TO_PRIORITY_GROUP_MAP':{'A':{'3':'3','4':'4'}}}");
    sonic_has(&o, "qos", "trust", "dscp");
    sonic_has(&o, "qos", "dscp_to_tc", "0-63:0 26-27:3 48:6");
    sonic_has(&o, "qos", "tc_to_queue", "0-7:0 3:3 6:7");
    sonic_has(&o, "qos", "tc_to_pg", "0-7:0 3:3 4:4 7:7");
    sonic_has(&o, "qos", "pfc_to_queue", "0:0 1:1 2:2 3:5 4:4 5:5 6:6 7:7"); /* a priority without an entry is its own queue */
    sonic_has(&o, "qos", "pfc_to_pg", "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7");
    sonic_has(&o, "pfc", "enabled", "true");
    sonic_has(&o, "pfc", "lossless_classes", "3,4");
    assert_int_equal(sonic_warns(&o, "DSCP_TO_TC_MAP|B: ignored: nothing refers to it"), 1);
    assert_non_null(strstr(o.text, "DSCP_TO_TC_MAP|A: DSCPs of traffic classes with PFC (DSCP:class): 26:3 27:3; NICs must send these"));
    sonic_overlay_release(&o);
}

static void test_sonic_qos__global_holds_where_a_port_has_no_map(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'PORT':{'E0':{'speed':'1000'},'E1':{'speed':'1000'},'E2':{'speed':'1000'}},'DEVICE_NEIGHBOR':{'E1':{'name':'x'}},"
                                      "'PORT_QOS_MAP':{'global':{'dscp_to_tc_map':'A'},'E1':{'dscp_to_tc_map':'B','dot1p_to_tc_map':'A'}},"
                                      "'DOT1P_TO_TC_MAP':{'A':{'0':'1'}},'DSCP_TO_TC_MAP':{'A':{'1':'1'},'B':{'2':'2'}}}");
    sonic_has(&o, "qos", "dscp_to_tc", "0-63:0 1:1");
    sonic_has(&o, "qos:*/x", "dscp_to_tc", "0-63:0 2:2");
    sonic_has(&o, "qos", "pcp_to_tc", "0-7:0 0:1");
    sonic_has(&o, "qos", "trust", "dscp");
    sonic_overlay_release(&o);
    o = sonic_of("{'PORT_QOS_MAP':{'E0':{'dot1p_to_tc_map':'A'}},'DOT1P_TO_TC_MAP':{'A':{'0':'1'}}}");
    sonic_has(&o, "qos", "trust", "pcp");
    sonic_has(&o, "pfc", "lossless_classes", "none"); /* a row without pfc_enable has no lossless priority */
    sonic_overlay_release(&o);
}

static void test_sonic_qos__maps_are_checked(void **state)
{
    (void)state;
    sonic_refuses("{'PORT_QOS_MAP':{'E0':{'dscp_to_tc_map':'A'}},'DSCP_TO_TC_MAP':{'A':{'64':'1'}}}", "db.json: DSCP_TO_TC_MAP|A|64: no key of this map; allowed: 0 to 63");
    sonic_refuses("{'PORT_QOS_MAP':{'E0':{'dscp_to_tc_map':'A'}},'DSCP_TO_TC_MAP':{'A':{'1':'8'}}}", "db.json: DSCP_TO_TC_MAP|A|1: '8'; allowed: a whole number from 0 to 7");
    sonic_refuses("{'PORT_QOS_MAP':{'E0':{'tc_to_pg_map':'A'}}}", "db.json: PORT_QOS_MAP|E0|tc_to_pg_map: 'A': the file has no rows in table TC_TO_PRIORITY_GROUP_MAP");
}

static void test_sonic_qos__watchdog(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'PORT':{'E0':{'speed':'1000'},'E1':{'speed':'1000'},'E2':{'speed':'1000'}},'DEVICE_NEIGHBOR':{'E1':{'name':'x'}},"
                                      "'PFC_WD':{'GLOBAL':{'POLL_INTERVAL':'100','BIG_RED_SWITCH':'enable'},"
                                      "'E0,E2':{'action':'forward','detection_time':'400','restoration_time':'500','pfc_stat_history':'enable'}}}");
    sonic_has(&o, "pfcwd", "enabled", "true");
    sonic_has(&o, "pfcwd", "action", "forward");
    sonic_has(&o, "pfcwd", "detection_time", "400ms");
    sonic_has(&o, "pfcwd", "restoration_time", "500ms");
    sonic_has(&o, "pfcwd", "poll_interval", "100ms");
    sonic_has(&o, "pfcwd:*/x", "enabled", "false"); /* PFC_WD does not name it */
    assert_int_equal(sonic_warns(&o, "PFC_WD: BIG_RED_SWITCH: ignored in GLOBAL"), 1);
    assert_int_equal(sonic_warns(&o, "PFC_WD: pfc_stat_history: ignored in E0,E2"), 1);
    sonic_overlay_release(&o);
    o = sonic_of("{'PFC_WD':{'E0':{}},'PORT_QOS_MAP':{'E0':{'pfc_enable':'3,4','pfcwd_sw_enable':'3'}}}");
    sonic_has(&o, "pfcwd", "action", "drop"); /* SONiC's default */
    assert_int_equal(sonic_warns(&o, "no GLOBAL|POLL_INTERVAL"), 1);
    assert_int_equal(sonic_warns(&o, "PORT_QOS_MAP|E0|pfcwd_sw_enable: ignored where it differs"), 1);
    sonic_overlay_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sonic_qos__maps_and_sai_defaults),
        cmocka_unit_test(test_sonic_qos__global_holds_where_a_port_has_no_map),
        cmocka_unit_test(test_sonic_qos__maps_are_checked),
        cmocka_unit_test(test_sonic_qos__watchdog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
