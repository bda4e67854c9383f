/* Tests of scenarios/sonic_emit.c: as few sections as will do, and what the sections mean on a fabric. */
#include "tests/scenarios/sonic_fixture.h"

#include "scenarios/site.h"
#include "topologies/topology_params.h"

static guint n_sections(const struct sonic_overlay *overlay)
{
    guint n = 0;
    for (const char *at = overlay->text; (at = strstr(at, "\n[")); at++)
        n++;
    return n;
}

#define TWO_SPEEDS "'PORT':{'E0':{'speed':'100000'},'E1':{'speed':'100000'},'E2':{'speed':'400000'}}"
#define ECN(min) "{'ecn':'ecn_all','wred_green_enable':'true','green_min_threshold':'" min "','green_max_threshold':'2000000'}"

static void test_sonic_emit__equal_ports_and_classes_share_a_section(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'PORT':{'E0':{},'E1':{}},'QUEUE':{'E0,E1|0-1':{'wred_profile':'W'},'E0|4':{'wred_profile':'W'},'E1|4':{'wred_profile':'W'}},"
                                      "'WRED_PROFILE':{'W':" ECN("1000") "}}");
    sonic_has(&o, "ecn:*#0-1,*#4", "kmin", "1000B");
    sonic_has(&o, "ecn:*#0-1,*#4", "kmax", "2000000B");
    assert_int_equal(n_sections(&o), 2); /* and [ecn] */
    sonic_overlay_release(&o);
    o = sonic_of("{'QUEUE':{'E0|0-7':{'wred_profile':'W'}},'WRED_PROFILE':{'W':" ECN("1000") "}}");
    sonic_has(&o, "ecn", "kmin", "1000B"); /* all classes: none is named */
    assert_int_equal(n_sections(&o), 1);
    sonic_overlay_release(&o);
}

static void test_sonic_emit__speed_decides(void **state)
{
    (void)state;
    static const struct sonic_options leaf = {.node = "leaf*"};
    struct sonic_overlay o = sonic_of_all("{" TWO_SPEEDS "," SONIC_POOLS "," SONIC_PROFILES ",'BUFFER_PG':{'E0,E1|3':{'profile':'pg_a'},'E2|3':{'profile':'pg_b'}},"
                                          "'QUEUE':{'E0,E1|3':{'wred_profile':'A'},'E2|3':{'wred_profile':'B'}},'WRED_PROFILE':{'A':" ECN("1000") ",'B':" ECN("4000") "}}",
                                          NULL, NULL, &leaf);
    sonic_has(&o, "ecn:leaf*#3", "kmin", "100Gbps:1000B 400Gbps:4000B");
    sonic_has(&o, "ecn:leaf*#3", "kmax", "2000000B");
    sonic_has(&o, "buffer:leaf*@100Gbps#3", "headroom", "30720B");
    sonic_has(&o, "buffer:leaf*@400Gbps#3", "headroom", "160000B");
    assert_int_equal(sonic_warns(&o, "is not known"), 0);
    sonic_overlay_release(&o);
}

static void test_sonic_emit__the_overlay_holds_on_a_fabric(void **state)
{
    (void)state;
    static const struct sonic_options leaf = {.node = "leaf0"};
    static const char fabric_text[] = "[topology]\nkind = leaf_spine\nhosts = 4\nleaves = 2\nspines = 2\nhost_rate = 100Gbps\nleaf_rate = 400Gbps\n";
    struct sonic_overlay o = sonic_of_all("{'PORT':{'E0':{'speed':'100000'},'E1':{'speed':'400000'},'E2':{'speed':'400000'}}," SONIC_POOLS "," SONIC_PROFILES
                                          ",'BUFFER_PG':{'E0|3':{'profile':'pg_a'},'E1,E2|3':{'profile':'pg_b'}},"
                                          "'DEVICE_NEIGHBOR':{'E1':{'name':'spine0'},'E2':{'name':'spine1'}},"
                                          "'PORT_QOS_MAP':{'E0,E1':{'pfc_enable':'3'},'E2':{'pfc_enable':'3,4'}}}", NULL, NULL, &leaf);
    g_autoptr(GError) err = NULL;
    g_autofree char *text = g_strconcat(fabric_text, o.text, NULL);
    struct scenario *scenario = scenario_parse("all.ini", text, strlen(text), &err);
    struct fabric *fabric = scenario ? fabric_build(param_bag_get(scenario->bag, "topology"), NULL, &err) : NULL;
    struct site *site = fabric ? site_new(scenario->bag, fabric, &err) : NULL;
    if (!site)
        fail_msg("%s\n%s", err->message, text);
    const struct net_graph *graph = &fabric->graph;
    guint n_up = 0;
    for (uint32_t p = 0; p < graph->n_ports; p++) {
        const char *node = fabric->names[graph->ports[p].node], *peer = fabric->names[graph->ports[graph->ports[p].peer].node];
        const struct pfc_params *pfc = site_at_port(site, NET_PARAMS_PFC, p, NET_SITE_ANY_CLASS);
        const struct buffer_params *pg = site_at_port(site, NET_PARAMS_BUFFER, p, 3);
        bool up = strcmp(node, "leaf0") == 0 && graph->ports[p].rate_bps == 400 * UNIT_GBPS;
        n_up += up;
        assert_string_equal(pfc->lossless_classes, strcmp(node, "leaf0") == 0 && strcmp(peer, "spine1") == 0 ? "3,4" : "3");
        assert_int_equal(pg->headroom_bytes, strcmp(node, "leaf0") != 0 ? 0 : up ? 160000 : 30720);
    }
    assert_int_equal(n_up, 2);
    site_free(site);
    fabric_free(fabric);
    scenario_free(scenario);
    sonic_overlay_release(&o);
}

static void test_sonic_emit__more_sections_than_layers_are_refused(void **state)
{
    (void)state;
    g_autoptr(GString) json = g_string_new("{'PORT':{'Z':{},'Y':{}");
    for (int i = 0; i < 80; i++)
        g_string_append_printf(json, ",'E%d':{}", i);
    g_string_append(json, "},'DEVICE_NEIGHBOR':{'Z':{'name':'z'}");
    for (int i = 0; i < 80; i++)
        g_string_append_printf(json, ",'E%d':{'name':'n%d'}", i, i);
    g_string_append(json, "},'PFC_WD':{'Z,Y':{'detection_time':'150'}");
    for (int i = 0; i < 80; i++)
        g_string_append_printf(json, ",'E%d':{'detection_time':'%d'}", i, 200 + i);
    g_string_append(json, "}}");
    sonic_refuses(json->str, "db.json: the ports differ in so many ways that group pfcwd needs 81 sections; allowed: 64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sonic_emit__equal_ports_and_classes_share_a_section),
        cmocka_unit_test(test_sonic_emit__speed_decides),
        cmocka_unit_test(test_sonic_emit__the_overlay_holds_on_a_fabric),
        cmocka_unit_test(test_sonic_emit__more_sections_than_layers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
