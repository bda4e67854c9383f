/* test_import_htsim.c - htsim .topo files. */
#include "topology_fixture.h"

#define TIERS2                                                                                               \
    "Nodes 32\nTiers 2\nPodsize 32\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\n"             \
    "Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n"

static void test_import_htsim__two_tiers_oversubscribed(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric *f = fabric_import_htsim(TEST_DATA_DIR "/topologies/four_to_one.topo", &error);
    if (!f || !fabric_check(f, &error))
        fail_msg("%s", error->message);
    assert_int_equal(f->graph.n_endpoints, 8192);
    assert_int_equal(fixture_count(f, NET_SWITCH, 1), 128);
    assert_int_equal(fixture_count(f, NET_SWITCH, 2), 16);
    assert_int_equal(f->n_links, 8192 + 128 * 16);
    assert_true(fabric_bisection_bps(f) == 8192.0 / 4 / 2 * 400e9);
    assert_non_null(strstr(f->notes, "four_to_one.topo:12: Queue_Up ignored"));
    fabric_free(f);
}

/* One way over three tiers and back: 2 (25 + 200 + 1500) of cables, 2 (301 + 400) + 500 in switches. */
static void test_import_htsim__bundles_and_switch_latency(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric *f = fabric_import_htsim(TEST_DATA_DIR "/topologies/bundled.topo", &error);
    if (!f || !fabric_check(f, &error))
        fail_msg("%s", error->message);
    assert_int_equal(fixture_count(f, NET_SWITCH, 1), 8);
    assert_int_equal(fixture_count(f, NET_SWITCH, 2), 16);
    assert_int_equal(fixture_count(f, NET_SWITCH, 3), 8);
    uint32_t spine0 = fixture_node(f, "spine0"), core0 = fixture_node(f, "core0");
    for (uint32_t spine = 0; spine < 16; spine++) /* two cores of its column, two links each */
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(fixture_far(f, spine0 + spine, 2 + i), core0 + spine % 4 + i / 2 * 4);
    struct routes *r = routes_new(f);
    uint32_t ports[8];
    struct route_key key = {.src = 0, .dst = 31};
    int64_t sum_ps = 0;
    const struct ecmp_hash hash = ecmp_hash_mix(1, true);
    assert_int_equal(routes_path(r, &key, &hash, ports, 8, NULL), 6);
    for (int i = 0; i < 6; i++)
        sum_ps += f->graph.ports[ports[i]].delay_ps;
    assert_int_equal(sum_ps, (2 * (25 + 200 + 1500) + 2 * (301 + 400) + 500) * UNIT_NS);
    routes_free(r);
    fabric_free(f);
}

static void test_import_htsim__keys_in_any_case(void **state)
{
    (void)state;
    g_autofree char *lower = g_ascii_strdown(TIERS2, -1), *upper = g_ascii_strup(TIERS2, -1);
    struct fabric *a = fixture_import(fabric_import_htsim, lower),
                  *b = fixture_import(fabric_import_htsim, upper);
    assert_int_equal(a->n_links, 32 + 8);
    assert_int_equal(a->n_links, b->n_links);
    fabric_free(a);
    fabric_free(b);
}

static void refused(const char *from, const char *to, const char *part)
{
    g_auto(GStrv) parts = g_strsplit(TIERS2, from, 2);
    g_autofree char *text = g_strjoinv(to, parts);
    const struct fixture_bad row = {text, part};
    if (g_strv_length(parts) != 2)
        fail_msg("'%s' is not in the text", from);
    fixture_import_refused(fabric_import_htsim, &row, 1);
}

static void test_import_htsim__wrong_lines_are_named(void **state)
{
    (void)state;
    refused("Nodes 32\n", "", "FILE: Nodes is missing");
    refused("Nodes 32", "Nodes -32", "FILE:1: Nodes: '-32'");
    refused("Nodes 32", "Nodes 99999999999999999999", "FILE:1: Nodes: '99999999999999999999'");
    refused("Nodes 32", "Nodes 32 33", "FILE:1: Nodes: 3 fields");
    refused("Nodes 32", "Knots 32", "FILE:1: Knots: unknown key; known are Nodes");
    refused("Nodes 32", "Nodes 32\nNodes 32", "FILE:2: Nodes: given twice, first in line 1");
    refused("Nodes 32", "Radix_Up 2", "FILE:1: Radix_Up: stands before the first 'Tier' line");
    refused("Tiers 2", "Tiers 4", "FILE:2: Tiers: '4'");
    refused("Tiers 2", "Tiers 3", "FILE: Tier 2 is missing");
    refused("Podsize 32", "Podsize 31", "FILE:3: Podsize: 31 does not divide Nodes = 32");
    refused("Podsize 32", "Podsize 16", "with 2 tiers it must be Nodes = 32");
    refused("Tier 1", "Tier 0", "FILE:9: Tier: 0 is given twice, first in line 4");
    refused("Tier 1", "Tier 5", "FILE:9: Tier: '5'");
    refused("Radix_Down 8", "Radix_Down 7", "FILE:6: Radix_Down: 7 does not divide Podsize = 32");
    refused("Radix_Down 4", "Radix_Down 5",
            "FILE:11: Radix_Down: 5, but 4 leaves of a pod with 1 links each need 4");
    refused("Radix_Up 2\n", "", "FILE:4: Tier 0: Radix_Up is missing");
    refused("Radix_Up 2", "Radix_Up 0", "FILE:7: Radix_Up: '0'");
    refused("Radix_Up 2", "Radix_Up 2\nOversubscribed 2",
            "FILE:8: Oversubscribed: 2, but 800 Gb/s down and 200 Gb/s up make 4");
    refused("Radix_Up 2", "Radix_Up 2\nBundle 2", "FILE:8: Bundle: a host has one link");
    refused("Radix_Down 4", "Radix_Down 12\nBundle 3",
            "FILE:12: Bundle: 3 does not divide the Radix_Up = 2 of tier 0");
    refused("Radix_Down 4", "Radix_Down 4\nRadix_Up 4", "FILE:12: Radix_Up: tier 1 is the top one");
    refused("Radix_Down 4", "Radix_Down 4\nTier 2", "FILE:12: Tier 2: Tiers is 2");
    refused("Downlink_speed_Gbps 100\n", "", "Downlink_speed_Gbps is missing");
    refused("Downlink_Latency_ns 1000\nTier", "Downlink_Latency_ns 0\nTier",
            "FILE:8: Downlink_Latency_ns: '0'");
}

static void test_import_htsim__mangled_files_never_crash(void **state)
{
    (void)state;
    assert_true(fixture_mangle(fabric_import_htsim, TIERS2) > 500);
}

static void test_import_htsim__real_files(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint32_t hosts, leaves, spines, cores, links;
    } rows[] = {
        {"real/htsim/leaf_spine_tiny.topo", 32, 4, 2, 0, 40},
        {"real/htsim/fat_tree_1024.topo", 1024, 128, 128, 64, 3072},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = fixture_shared(rows[i].file);
        g_autoptr(GError) error = NULL;
        if (!path)
            skip();
        struct fabric *f = fabric_import_htsim(path, &error);
        if (!f || !fabric_check(f, &error))
            fail_msg("%s", error->message);
        assert_int_equal(f->graph.n_endpoints, rows[i].hosts);
        assert_int_equal(fixture_count(f, NET_SWITCH, 1), rows[i].leaves);
        assert_int_equal(fixture_count(f, NET_SWITCH, 2), rows[i].spines);
        assert_int_equal(fixture_count(f, NET_SWITCH, 3), rows[i].cores);
        assert_int_equal(f->n_links, rows[i].links);
        fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_import_htsim__two_tiers_oversubscribed),
        cmocka_unit_test(test_import_htsim__bundles_and_switch_latency),
        cmocka_unit_test(test_import_htsim__keys_in_any_case),
        cmocka_unit_test(test_import_htsim__wrong_lines_are_named),
        cmocka_unit_test(test_import_htsim__mangled_files_never_crash),
        cmocka_unit_test(test_import_htsim__real_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
