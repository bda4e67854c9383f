/* test_fabric_check.c - what a whole fabric is, and how a broken one is described. */
#include "topology_fixture.h"

#define HEADER "node_a,node_b,rate_gbps,delay_ns\n"

/* Reads an edges list that must fail the check; returns the message. */
static char *complaint(const char *text, int code)
{
    g_autoptr(GError) error = NULL;
    struct fabric *f = fixture_import_bytes(fabric_import_edges, text, -1, &error);
    if (!f)
        fail_msg("%s", error->message);
    assert_false(fabric_check(f, &error));
    assert_true(g_error_matches(error, FABRIC_ERROR, code));
    fabric_free(f);
    return g_strdup(error->message);
}

static void test_fabric_check__two_islands_are_listed(void **state)
{
    (void)state;
    g_autofree char *message =
        complaint(HEADER "0,8,400,500\n1,8,400,500\n2,8,400,500\n3,8,400,500\n4,9,400,500\n"
                         "5,9,400,500\n6,9,400,500\n7,9,400,500\n",
                  FABRIC_ERROR_DISCONNECTED);
    assert_non_null(strstr(message, "2 components {0-3},{4-7}"));
}

static void test_fabric_check__stray_switches_are_named(void **state)
{
    (void)state;
    g_autofree char *message = complaint(HEADER "0,2,1,1\n1,2,1,1\n3,4,1,1\n", FABRIC_ERROR_DISCONNECTED);
    assert_non_null(strstr(message, "2 components {0-1},{switch3, no GPU}"));
}

/* The 16 cables of an 8-GPU hybrid cube mesh: 12 of 28 pairs have none. */
static void test_fabric_check__pairs_that_need_a_relay_are_listed(void **state)
{
    (void)state;
    g_autofree char *message = complaint(
        "# hosts: 8\n" HEADER "0,1,200,500\n0,2,200,500\n0,3,400,500\n0,4,400,500\n1,2,400,500\n1,3,200,500\n"
        "1,5,400,500\n2,3,400,500\n2,6,200,500\n3,7,200,500\n4,5,200,500\n4,6,200,500\n4,7,400,500\n"
        "5,6,400,500\n5,7,200,500\n6,7,400,500\n",
        FABRIC_ERROR_DISCONNECTED);
    assert_non_null(strstr(message, "12 of 28 pairs of ranks have no path"));
    assert_non_null(strstr(message, "(0,5)(0,6)(0,7)(1,4)(1,6)(1,7)(2,4)(2,5)(2,7)(3,4)(3,5)(3,6)"));
}

/* Hosts 0 and 1 share switch 3, hosts 1 and 2 share switch 4: nobody relays from 0 to 2. */
static void test_fabric_check__networks_joined_by_a_host_alone(void **state)
{
    (void)state;
    g_autofree char *message =
        complaint("# hosts: 3\n" HEADER "0,3,1,1\n1,3,1,1\n1,4,1,1\n2,4,1,1\n", FABRIC_ERROR_DISCONNECTED);
    assert_non_null(strstr(message, "1 of 3 pairs of ranks have no path, since hosts do not relay: (0,2)"));
}

static void test_fabric_check__long_lists_are_cut(void **state)
{
    (void)state;
    GString *text = g_string_new(HEADER);
    for (uint32_t i = 0; i < 40; i++)
        g_string_append_printf(text, "%u,%u,1,1\n", 2 * i, 2 * i + 1);
    g_autofree char *message = complaint(text->str, FABRIC_ERROR_DISCONNECTED);
    assert_non_null(strstr(message, "40 components {0-1},{2-3}"));
    assert_non_null(strstr(message, "{30-31},... (ranks)"));
    g_string_free(text, TRUE);
}

static void test_fabric_check__ranges_are_compressed(void **state)
{
    (void)state;
    const uint32_t numbers[] = {0, 1, 2, 5, 7, 8};
    g_autofree char *all = fabric_ranges(numbers, 6, 9), *two = fabric_ranges(numbers, 6, 2),
                    *none = fabric_ranges(numbers, 0, 2);
    assert_string_equal(all, "0-2,5,7-8");
    assert_string_equal(two, "0-2,5,... (6 in all)");
    assert_string_equal(none, "");
}

static void spoilt(void (*spoil)(struct fabric *), const char *part)
{
    g_autoptr(GError) error = NULL;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=8 leaves=2 spines=2");
    spoil(f);
    assert_false(fabric_check(f, &error));
    if (!strstr(error->message, part))
        fail_msg("'%s' does not hold '%s'", error->message, part);
    fabric_free(f);
}

static void spoil_peer(struct fabric *f)
{
    f->graph.ports[3].peer = 4;
}
static void spoil_peer_range(struct fabric *f)
{
    f->graph.ports[3].peer = f->graph.n_ports;
}
static void spoil_rate(struct fabric *f)
{
    f->graph.ports[3].rate_bps = 0;
}
static void spoil_delay(struct fabric *f)
{
    f->graph.ports[3].delay_ps++;
}
static void spoil_owner(struct fabric *f)
{
    f->graph.ports[3].node = 0;
}
static void spoil_first(struct fabric *f)
{
    f->graph.nodes[2].first_port++;
}
static void spoil_name(struct fabric *f)
{
    g_free(f->names[1]);
    f->names[1] = g_strdup(f->names[0]);
}
static void spoil_hosts(struct fabric *f)
{
    f->graph.n_endpoints = 0;
}

static void test_fabric_check__spoilt_graphs_are_refused(void **state)
{
    (void)state;
    spoilt(spoil_peer, "port 0 of node3: its peer does not point back");
    spoilt(spoil_peer_range, "port 0 of node3: its peer does not point back");
    spoilt(spoil_rate, "the rate must be positive");
    spoilt(spoil_delay, "differ at the other end");
    spoilt(spoil_owner, "port 3 belongs to two nodes");
    spoilt(spoil_first, "ports of node2 do not follow");
    spoilt(spoil_name, "two nodes are called node0");
    spoilt(spoil_hosts, "no hosts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fabric_check__two_islands_are_listed),
        cmocka_unit_test(test_fabric_check__stray_switches_are_named),
        cmocka_unit_test(test_fabric_check__pairs_that_need_a_relay_are_listed),
        cmocka_unit_test(test_fabric_check__networks_joined_by_a_host_alone),
        cmocka_unit_test(test_fabric_check__long_lists_are_cut),
        cmocka_unit_test(test_fabric_check__ranges_are_compressed),
        cmocka_unit_test(test_fabric_check__spoilt_graphs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
