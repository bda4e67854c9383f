/* Tests of scenarios/site_faults.c: places and times of faults, and what contradicts itself. */
#include "tests/scenarios/site_fixture.h"

static GArray *faults_of(const struct site *site)
{
    g_autoptr(GError) err = NULL;
    GArray *faults = site_faults(site, &err);
    if (!faults)
        fail_msg("%s", err->message);
    return faults;
}

static void assert_fault(const GArray *faults, guint i, const char *name, uint32_t port, sim_ps start_ps, sim_ps end_ps)
{
    const struct net_fault *fault = &g_array_index(faults, struct net_fault, i);
    assert_string_equal(fault->name, name);
    assert_int_equal(fault->port, port);
    assert_int_equal(fault->start_ps, start_ps);
    assert_int_equal(fault->end_ps, end_ps);
}

static void test_site_faults__a_run_without_faults_has_none(void **state)
{
    (void)state;
    struct fixture f = fixture_new("");
    struct site *site = fixture_site(&f);
    g_autoptr(GArray) faults = faults_of(site);
    assert_int_equal(faults->len, 0);
    site_free(site);
    fixture_free(&f);
}

static void test_site_faults__each_place_and_time_in_order_of_start(void **state)
{
    (void)state;
    struct fixture f = fixture_new("[fault:flap]\nkind = link_down\nwhere = leaf0/spine1\nstart = 2ms\nduration = 100us\nperiod = 1ms\ncount = 2\n"
                                   "[fault:slow]\nkind = degraded_rate\nwhere = leaf1/spine0:1, leaf1/spine0:1\nstart = 2ms\nrate = 400Gbps\n"
                                   "[fault:early]\nkind = switch_reboot\nwhere = spine0\nduration = 1ms\n");
    struct site *site = fixture_site(&f);
    g_autoptr(GArray) faults = faults_of(site);
    uint32_t a = fixture_port(f.fabric, "leaf0", "spine1", 0), b = fixture_port(f.fabric, "leaf0", "spine1", 1);
    assert_int_equal(faults->len, 6);
    assert_fault(faults, 0, "early", NET_NONE, 0, UNIT_MS);
    assert_int_equal(g_array_index(faults, struct net_fault, 0).node, fixture_node(f.fabric, "spine0"));
    assert_fault(faults, 1, "flap", a, 2 * UNIT_MS, 2 * UNIT_MS + 100 * UNIT_US);
    assert_fault(faults, 2, "flap", b, 2 * UNIT_MS, 2 * UNIT_MS + 100 * UNIT_US);
    assert_fault(faults, 3, "slow", fixture_port(f.fabric, "leaf1", "spine0", 1), 2 * UNIT_MS, SIM_PS_MAX);
    assert_fault(faults, 4, "flap", a, 3 * UNIT_MS, 3 * UNIT_MS + 100 * UNIT_US);
    assert_fault(faults, 5, "flap", b, 3 * UNIT_MS, 3 * UNIT_MS + 100 * UNIT_US);
    assert_int_equal(g_array_index(faults, struct net_fault, 5).node, fixture_node(f.fabric, "leaf0"));
    assert_ptr_equal(g_array_index(faults, struct net_fault, 5).params, param_bag_item(f.scenario->bag, "fault", 0));
    site_free(site);
    fixture_free(&f);
}

static void test_site_faults__kinds_happen_where_they_can(void **state)
{
    (void)state;
    static const struct { const char *text; guint n; bool at_port; } rows[] = {
        {"kind = straggler\nwhere = *\nfactor = 2\n", 8, false},
        {"kind = slow_receiver\nwhere = node1\nrate = 100Gbps\n", 1, false},
        {"kind = nic_port_down\nwhere = node0, node1\n", 2, false},
        {"kind = nic_port_down\nwhere = node*/leaf0\n", 4, true},
        {"kind = pause_storm\nwhere = node0\n", 1, false},
        {"kind = pause_storm\nwhere = leaf0/spine0\nquanta = 0\ninterval = 1us\n", 2, true},
        {"kind = switch_reboot\nwhere = *\n", 4, false},
        {"kind = drop_packet\nwhere = leaf0/node0\npacket = ack\nnth = 3\ncount = 5\n", 1, true},
        {"kind = raised_ber\nwhere = leaf0/node0\nloss = 0.01\n", 1, true},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strconcat("[fault:x]\n", rows[i].text, NULL);
        struct fixture f = fixture_new(text);
        struct site *site = fixture_site(&f);
        g_autoptr(GArray) faults = faults_of(site);
        assert_int_equal(faults->len, rows[i].n);
        for (guint k = 0; k < faults->len; k++)
            assert_int_equal(g_array_index(faults, struct net_fault, k).port != NET_NONE, rows[i].at_port);
        site_free(site);
        fixture_free(&f);
    }
}

static void test_site_faults__contradictions_are_named(void **state)
{
    (void)state;
    static const struct { const char *text, *message; } rows[] = {
        {"", "8: [fault:x]: kind: must be set; allowed: link_down, degraded_rate, raised_ber, switch_reboot, nic_port_down, straggler, "
             "pause_storm, drop_packet, slow_receiver"},
        {"start = 1ms\nkind = none\n", "10: [fault:x]: kind: must be set; allowed: link_down"},
        {"kind = link_down\n", "8: [fault:x]: where: must be set; allowed: NODE/PEER"},
        {"kind = link_down\nwhere = leaf0\n", "10: [fault:x]: where: 'leaf0' is no place for link_down; allowed: NODE/PEER"},
        {"kind = link_down\nwhere = leaf0/spine0#3\n", "10: [fault:x]: where: 'leaf0/spine0#3' is no place for link_down"},
        {"kind = link_down\nwhere = leaf0/node7\n", "10: [fault:x]: where: 'leaf0/node7' matches no port; leaf0 faces node0..node3"},
        {"kind = switch_reboot\nwhere = node0\n", "10: [fault:x]: where: 'node0' matches no switch; switches are leaf0..leaf1"},
        {"kind = switch_reboot\nwhere = leaf0/spine0\n", "10: [fault:x]: where: 'leaf0/spine0' is no place for switch_reboot; allowed: a switch"},
        {"kind = straggler\nfactor = 2\nwhere = leaf0\n", "11: [fault:x]: where: 'leaf0' matches no host; hosts are node0..node7"},
        {"kind = nic_port_down\nwhere = leaf0/node0\n", "10: [fault:x]: where: 'leaf0/node0' matches no host"},
        {"kind = link_down\nwhere = leaf0/spine0\nfactor = 2\n", "11: [fault:x]: factor: link_down does not use it; used by: straggler"},
        {"kind = drop_packet\nwhere = leaf0/spine0\nperiod = 2s\n", "11: [fault:x]: period: drop_packet does not use it; used by: link_down"},
        {"kind = link_down\nwhere = leaf0/spine0\nperiod = 1ms\n", "11: [fault:x]: period: count is 1, so nothing repeats"},
        {"kind = link_down\nwhere = leaf0/spine0\ncount = 3\n", "11: [fault:x]: count: is 3 without a period"},
        {"kind = link_down\nwhere = leaf0/spine0\ncount = 3\nperiod = 1ms\n", "8: [fault:x]: duration: must be set where count is above 1"},
        {"kind = link_down\nwhere = leaf0/spine0\ncount = 3\nduration = 1ms\nperiod = 1ms\n",
         "13: [fault:x]: period: is not longer than duration; allowed: more than 1ms"},
        {"kind = link_down\nwhere = leaf0/spine0\ncount = 10000\nduration = 1ms\nperiod = 1000h\n", "13: [fault:x]: period: count times period is longer than any run"},
        {"kind = degraded_rate\nwhere = leaf0/spine0\n", "8: [fault:x]: rate: must be set"},
        {"kind = degraded_rate\nwhere = leaf0/spine0\nrate = 401Gbps\n", "11: [fault:x]: rate: 401Gbps is above the rate of a link of leaf0; allowed: up to 400Gbps"},
        {"kind = slow_receiver\nwhere = node0\nrate = 1Tbps\n", "11: [fault:x]: rate: 1Tbps is above the rate of a link of node0; allowed: up to 400Gbps"},
        {"kind = raised_ber\nwhere = leaf0/spine0\nloss = 0\n", "11: [fault:x]: loss: ber and loss are 0"},
        {"kind = straggler\nwhere = node0\n", "8: [fault:x]: factor: must be set; allowed: above 1"},
        {"kind = pause_storm\nwhere = node0\nquanta = 0\n", "8: [fault:x]: interval: must be set where quanta is 0"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) err = NULL;
        g_autofree char *text = g_strconcat("[fault:x]\n", rows[i].text, NULL);
        g_autofree char *message = g_strconcat("f.ini:", rows[i].message, NULL);
        struct fixture f = fixture_new(text);
        struct site *site = fixture_site(&f);
        assert_null(site_faults(site, &err));
        if (!g_str_has_prefix(err->message, message))
            fail_msg("message is '%s', not '%s...'", err->message, message);
        site_free(site);
        fixture_free(&f);
    }
}

static void test_site_faults__their_number_has_a_limit(void **state)
{
    (void)state;
    GString *text = g_string_new(NULL);
    for (int i = 0; i < 4; i++) /* 32 places, 10,000 times each: the fourth item goes beyond a million */
        g_string_append_printf(text, "[fault:f%d]\nkind = link_down\nwhere = */*\nduration = 1ns\nperiod = 1us\ncount = 10000\n", i);
    struct fixture f = fixture_new(text->str);
    struct site *site = fixture_site(&f);
    g_autoptr(GError) err = NULL;
    assert_null(site_faults(site, &err));
    assert_string_equal(err->message, "f.ini:28: [fault:f3]: where: more than 1000000 faults in all, places times count; allowed: up to 1000000");
    site_free(site);
    fixture_free(&f);
    g_string_free(text, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_site_faults__a_run_without_faults_has_none),
        cmocka_unit_test(test_site_faults__each_place_and_time_in_order_of_start),
        cmocka_unit_test(test_site_faults__kinds_happen_where_they_can),
        cmocka_unit_test(test_site_faults__contradictions_are_named),
        cmocka_unit_test(test_site_faults__their_number_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
