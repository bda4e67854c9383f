/* Tests of scenarios/sonic_ports.c: which ports there are, what keys name, what ports face. */
#include "tests/scenarios/sonic_fixture.h"

static void test_sonic_ports__keys_are_lists_and_ranges(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'PORT':{'E0':{},'E4':{}}," SONIC_POOLS "," SONIC_PROFILES ",'BUFFER_PG':{'E0,E4|3-4':{'profile':'pg_a'},'E0,E4|0':{'profile':'in_lossy'}}}");
    sonic_has(&o, "buffer:*#3-4", "headroom", "30720B");
    sonic_has(&o, "buffer:*#0", "lossy_pg_alpha", "8");
    sonic_overlay_release(&o);
}

static void test_sonic_ports__keys_of_another_form_are_refused(void **state)
{
    (void)state;
    sonic_refuses("{'PORT':{'E0':{}},'QUEUE':{'E0':{}}}", "db.json: QUEUE|E0: the key has 1 parts; allowed: PORTS|3 or PORTS|3-4, before it perhaps HOST|ASIC|");
    sonic_refuses("{'PORT':{'E0':{}},'QUEUE':{'E0|4-3':{}}}", "db.json: QUEUE|E0|4-3: '4-3' is no queue or priority group; allowed: 3 or 3-4, numbers from 0 to 63");
    sonic_refuses("{'PORT':{'E0':{}},'QUEUE':{'E1|3':{}}}", "db.json: QUEUE|E1|3: no port 'E1'; allowed: the ports of table PORT");
    sonic_refuses("{'PFC_WD':{'E0,,E1':{}}}", "db.json: PFC_WD|E0,,E1: a port's name is empty, too long or has blanks; allowed: PORT,PORT");
    sonic_refuses("{'PORT':{'E0':{}},'CABLE_LENGTH':{'AZURE':{'E0':'5'}}}", "db.json: CABLE_LENGTH|AZURE|E0: '5'; allowed: a length such as \"40m\", up to 800 km");
    struct sonic_overlay o = sonic_of("{'PORT':{'E0':{}},'QUEUE':{'E0|6-9':{}}}");
    assert_int_equal(sonic_warns(&o, "QUEUE: ignored above 7 (6-9)"), 1);
    sonic_overlay_release(&o);
}

static void test_sonic_ports__of_a_chassis_own_ports_count(void **state)
{
    (void)state;
    static const char queues[] = "'SCHEDULER':{'a':{'type':'STRICT'},'b':{'type':'DWRR','weight':'9'}},"
                                 "'QUEUE':{'lc2|asic0|E0|3':{'scheduler':'b'},'lc1|asic0|E0|3':{'scheduler':'a'},'lc1|asic1|E9|3':{}}}";
    g_autofree char *named = g_strdup_printf("{'DEVICE_METADATA':{'localhost':{'hostname':'lc1','asic_name':'asic0'}},%s", queues);
    struct sonic_overlay o = sonic_of(named);
    sonic_has(&o, "switch:lc1", "strict_classes", "3");
    assert_int_equal(sonic_warns(&o, "2 rows of other line cards' ports"), 1);
    sonic_overlay_release(&o);
    g_autofree char *nameless = g_strdup_printf("{%s", queues);
    o = sonic_of(nameless); /* the first with a scheduler */
    sonic_has(&o, "switch", "dwrr_weights", "1,1,1,9,1,1,1,1");
    sonic_overlay_release(&o);
}

#define TWO_KINDS \
    "{'PORT':{'E0':{'speed':'100000'},'E4':{'speed':'100000'},'E8':{'speed':'100000'}}," SONIC_POOLS "," SONIC_PROFILES \
    ",'BUFFER_PG':{'E0,E4|3':{'profile':'pg_a'},'E8|3':{'profile':'pg_b'}}"

static void test_sonic_ports__exceptions_need_peers(void **state)
{
    (void)state;
    static const struct sonic_options leaf = {.node = "leaf0"};
    struct sonic_overlay o = sonic_of_all(TWO_KINDS "}", NULL, NULL, &leaf);
    sonic_has(&o, "buffer:leaf0#3", "headroom", "30720B");
    assert_int_equal(sonic_warns(&o, "buffer.headroom = 160000B of E8: ignored: other ports have 30720B"), 1);
    sonic_overlay_release(&o);
    o = sonic_of_all(TWO_KINDS ",'DEVICE_NEIGHBOR':{'E8':{'name':'spine0','port':'E1'},'E4':{'name':'spine0'},'E77':{'name':'x'}}}", NULL, NULL, &leaf);
    sonic_has(&o, "buffer:leaf0/spine0:1#3", "headroom", "160000B"); /* E4 is the first link to spine0 */
    assert_int_equal(sonic_warns(&o, "of E8: ignored"), 0);
    assert_int_equal(sonic_warns(&o, "DEVICE_NEIGHBOR|E77: ignored"), 1);
    sonic_overlay_release(&o);
    o = sonic_of_all(TWO_KINDS ",'DEVICE_NEIGHBOR':{'E8':{'name':'spine0'}}}", NULL, "port,peer\n# the map wins\nE8, spine7\n", &leaf);
    sonic_has(&o, "buffer:leaf0/spine7#3", "xon_offset", "2288B");
    sonic_overlay_release(&o);
}

static void test_sonic_ports__maps_are_checked(void **state)
{
    (void)state;
    static const struct { const char *map, *message; } rows[] = {
        {"", "ports.csv:1: the file is empty; allowed: the header port,peer and rows"},
        {"a,b\n", "ports.csv:1: 'a,b'; allowed: the header port,peer"},
        {"port,peer\nE0\n", "ports.csv:2: 'E0'; allowed: PORT,PEER"},
        {"port,peer\nE9,x\n", "ports.csv:2: 'E9,x'; allowed: ports that the configuration names"},
        {"port,peer\nE0,a/b\n", "ports.csv:2: 'E0,a/b'; allowed: a peer's name, with :INDEX for one of parallel links"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) err = NULL;
        struct sonic_overlay o;
        assert_false(sonic_try_all(TWO_KINDS "}", NULL, rows[i].map, NULL, &o, &err));
        assert_string_equal(err->message, rows[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sonic_ports__keys_are_lists_and_ranges),
        cmocka_unit_test(test_sonic_ports__keys_of_another_form_are_refused),
        cmocka_unit_test(test_sonic_ports__of_a_chassis_own_ports_count),
        cmocka_unit_test(test_sonic_ports__exceptions_need_peers),
        cmocka_unit_test(test_sonic_ports__maps_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
