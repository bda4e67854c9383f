/* Tests of scenarios/sonic.c: for which switch, what is said of what was left out, and files. */
#include "tests/scenarios/sonic_fixture.h"

#include <glib/gstdio.h>

#define PFC "'PORT_QOS_MAP':{'E0':{'pfc_enable':'3'}}"

static void test_sonic__the_node_is_named_or_the_hostname(void **state)
{
    (void)state;
    static const struct sonic_options named = {.node = "leaf?"}, wrong = {.node = "a b"};
    struct sonic_overlay o = sonic_of("{" PFC "}");
    assert_string_equal(o.node, "*");
    sonic_has(&o, "pfc", "lossless_classes", "3");
    sonic_overlay_release(&o);
    o = sonic_of("{'DEVICE_METADATA':{'localhost':{'hostname':'tor-7'}}," PFC "}");
    assert_string_equal(o.node, "tor-7");
    sonic_has(&o, "pfc:tor-7", "lossless_classes", "3");
    sonic_overlay_release(&o);
    o = sonic_of_all("{'DEVICE_METADATA':{'localhost':{'hostname':'tor-7'}}," PFC "}", NULL, NULL, &named);
    sonic_has(&o, "pfc:leaf?", "lossless_classes", "3");
    sonic_overlay_release(&o);
    sonic_refuses("{'DEVICE_METADATA':{'localhost':{'hostname':'a/b'}}," PFC "}",
                  "db.json: DEVICE_METADATA|localhost|hostname: 'a/b'; allowed: a name of up to 100 bytes without blanks and without , / # @ = > : [ ], or say --node");
    g_autoptr(GError) err = NULL;
    assert_false(sonic_try_all("{" PFC "}", NULL, NULL, &wrong, &o, &err));
    assert_string_equal(err->message, "--node: 'a b'; allowed: a name or pattern of up to 100 bytes without blanks and without , / # @ = > : [ ]");
}

static void test_sonic__nothing_is_dropped_silently(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'VLAN':{'Vlan1':{},'Vlan2':{}},'PORT':{'E0':{'lanes':'1,2','mtu':'9100','speed':'100000','pfc_asym':'on'}},"
                                      "'PORT_QOS_MAP':{'E0':{'pfc_enable':'3','tc_to_dscp_map':'A','scheduler':'s'}},'SCHEDULER':{'s':{'pir':'1'}},"
                                      "'BUFFER_POOL':{'p':{'type':'ingress','percentage':'50'}},'BUFFER_PROFILE':{'x':{'pool':'p','headroom_type':'dynamic'}}}");
    static const char *const parts[] = {
        "VLAN: ignored (2 rows): nothing in the models is set by this table", "PORT: lanes: ignored in E0: says nothing about buffers", "PORT: mtu: ignored in E0: frames",
        "PORT|E0|pfc_asym: ignored", "PORT_QOS_MAP: tc_to_dscp_map: ignored in E0: no such map", "PORT_QOS_MAP: scheduler: ignored in E0: ports have no rate limits",
        "SCHEDULER|s: ignored: nothing refers to it", "BUFFER_PROFILE|x: ignored: nothing refers to it", "BUFFER_POOL|p: no size", "BUFFER_POOL: percentage: ignored in p",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (sonic_warns(&o, parts[i]) != 1)
            fail_msg("no warning '%s' in\n%s", parts[i], o.text);
    for (guint i = 0; i < o.warnings->len; i++) /* the overlay says all of them, too */
        assert_non_null(strstr(o.text, g_ptr_array_index(o.warnings, i)));
    assert_int_equal(sonic_warns(&o, "speed"), 0);
    sonic_overlay_release(&o);
}

static void test_sonic__rows_of_one_reason_share_a_warning(void **state)
{
    (void)state;
    g_autoptr(GString) json = g_string_new("{'PORT':{'E0':{'alias':'x'}");
    for (int i = 1; i < 9; i++)
        g_string_append_printf(json, ",'E%d':{'alias':'x'}", i);
    g_string_append(json, "}}");
    struct sonic_overlay o = sonic_of(json->str);
    assert_int_equal(sonic_warns(&o, "PORT: alias: ignored in E0, E1, E2, E3 and 5 more"), 1);
    sonic_overlay_release(&o);
}

static void test_sonic__a_name_cannot_break_out_of_its_comment(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'X\\n[pfc]\\nenabled = false':{}," PFC "}");
    sonic_has(&o, "pfc", "enabled", "true");
    assert_null(strstr(o.text, "enabled = false\n[")); 
    sonic_overlay_release(&o);
}

static void test_sonic__files(void **state)
{
    (void)state;
    g_autoptr(GError) err = NULL;
    struct sonic_overlay o;
    g_autofree char *folder = g_dir_make_tmp("sonic-XXXXXX", NULL), *path = g_build_filename(folder, "config_db.json", NULL);
    assert_true(g_file_set_contents(path, "{\"PFC_WD\":{\"E0\":{\"action\":\"alert\"}}}", -1, NULL));
    assert_true(sonic_import(path, NULL, &o, &err));
    sonic_has(&o, "pfcwd", "action", "alert");
    sonic_overlay_release(&o);
    const struct sonic_options absent = {.pg_lookup_path = "/nonexistent/pg.ini"};
    assert_false(sonic_import(path, &absent, &o, &err));
    assert_true(g_str_has_prefix(err->message, "/nonexistent/pg.ini: cannot read the file: "));
    g_clear_error(&err);
    g_unlink(path);
    assert_false(sonic_import(path, NULL, &o, &err));
    assert_non_null(strstr(err->message, "config_db.json: cannot read the file: "));
    assert_null(o.text);
    g_rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sonic__the_node_is_named_or_the_hostname),
        cmocka_unit_test(test_sonic__nothing_is_dropped_silently),
        cmocka_unit_test(test_sonic__rows_of_one_reason_share_a_warning),
        cmocka_unit_test(test_sonic__a_name_cannot_break_out_of_its_comment),
        cmocka_unit_test(test_sonic__files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
