/* test_routes.c - shortest paths, ECMP balance and polarisation, static paths. */
#include "topology_fixture.h"
#include "sim/rng.h"
#include <math.h>

#define MAX_PATH 64

/* Checks that PORTS is a real path from SRC to DST over switches, by its ends and cables. */
static void assert_path(const struct fabric *f, uint32_t src, uint32_t dst, const uint32_t *ports, int n)
{
    const struct net_graph *g = &f->graph;
    assert_int_equal(g->ports[ports[0]].node, g->endpoints[src].node);
    for (int i = 0; i < n; i++) {
        uint32_t far = g->ports[g->ports[ports[i]].peer].node;
        assert_int_equal(far, i + 1 < n ? g->ports[ports[i + 1]].node : g->endpoints[dst].node);
        if (i + 1 < n)
            assert_int_equal(g->nodes[far].kind, NET_SWITCH);
    }
}

static int path(struct routes *r, uint32_t src, uint32_t dst, uint16_t sport, bool per_switch,
                uint32_t *ports)
{
    g_autoptr(GError) error = NULL;
    struct route_key key = {.src = src, .dst = dst, .sport = sport, .dport = 4791};
    const struct ecmp_hash hash = ecmp_hash_mix(1, per_switch);
    int n = routes_path(r, &key, &hash, ports, MAX_PATH, &error);
    if (n < 0)
        fail_msg("%s", error->message);
    return n;
}

/* Links of a shortest path in a k-ary fat tree of single-NIC hosts: 2, 4 or 6. */
static void test_routes__fat_tree_paths_are_shortest(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=fat_tree k=8");
    struct routes *r = routes_new(f);
    uint32_t ports[MAX_PATH];
    for (uint32_t src = 0; src < 128; src += 5)
        for (uint32_t dst = 0; dst < 128; dst++) {
            int want = src == dst ? 0 : src / 4 == dst / 4 ? 2 : src / 16 == dst / 16 ? 4 : 6;
            assert_int_equal(routes_hops(r, src, dst), want);
            int n = path(r, src, dst, (uint16_t)(src * dst), true, ports);
            assert_int_equal(n, want);
            if (n)
                assert_path(f, src, dst, ports, n);
        }
    routes_free(r);
    fabric_free(f);
}

static void test_routes__rails_start_and_end_at_their_nic(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "kind=rail_clos nodes=32 gpus_per_node=4 leaf_radix=16",
        "kind=rail_clos nodes=32 gpus_per_node=4 leaf_radix=16 nics_per_node=2",
        "kind=rail_clos nodes=64 gpus_per_node=4 leaf_radix=8 spine_radix=16 tiers=3"};
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        struct fabric *f = fixture_build(lists[i]);
        struct routes *r = routes_new(f);
        uint32_t ports[MAX_PATH], n_ranks = f->graph.n_endpoints;
        for (uint32_t t = 0; t < 4000; t++) {
            uint32_t src = (uint32_t)(sim_mix64(t) % n_ranks),
                     dst = (uint32_t)(sim_mix64(t + 9999) % n_ranks);
            int n = path(r, src, dst, (uint16_t)t, true, ports);
            assert_int_equal(n, routes_hops(r, src, dst));
            if (n == 0)
                continue;
            assert_path(f, src, dst, ports, n);
            assert_int_equal(ports[0], f->graph.endpoints[src].port);
            assert_int_equal(f->graph.ports[ports[n - 1]].peer, f->graph.endpoints[dst].port);
        }
        routes_free(r);
        fabric_free(f);
    }
}

static void test_routes__same_host_is_local(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=rail_clos nodes=2");
    struct routes *r = routes_new(f);
    uint32_t ports[MAX_PATH];
    assert_int_equal(routes_hops(r, 0, 7), 0);
    assert_int_equal(path(r, 0, 7, 1, true, ports), 0);
    assert_int_equal(routes_hops(r, 0, 8), 2); /* same rail */
    assert_int_equal(routes_hops(r, 0, 9), 4); /* other rail */
    routes_free(r);
    fabric_free(f);
}

static void test_routes__choice_does_not_depend_on_what_was_asked_before(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=fat_tree k=8");
    struct routes *forth = routes_new(f), *back = routes_new(f);
    uint32_t a[200][MAX_PATH], b[MAX_PATH];
    for (uint32_t i = 0; i < 200; i++)
        path(forth, i % 128, (i * 37 + 1) % 128, (uint16_t)i, true, a[i]);
    for (uint32_t i = 200; i-- > 0;) {
        int n = path(back, i % 128, (i * 37 + 1) % 128, (uint16_t)i, true, b);
        assert_memory_equal(a[i], b, (size_t)n * sizeof *b);
    }
    routes_free(forth);
    routes_free(back);
    fabric_free(f);
}

/* Chi-square of flows over equal candidates: with 15 degrees of freedom 99.9 % lie below 37.7. */
static void test_routes__ecmp_spreads_flows_evenly(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=128 leaves=8 spines=16");
    struct routes *r = routes_new(f);
    const double flows = 16000;
    for (uint32_t kind = 0; kind < 3; kind++) {
        double load[16] = {0}, chi2 = 0;
        uint32_t ports[MAX_PATH];
        for (uint32_t i = 0; i < flows; i++) {
            /* only the source port differs; only the hosts differ; both */
            uint32_t src = kind == 0 ? 3 : i % 16, dst = kind == 0 ? 77 : 16 + i / 16 % 112;
            assert_int_equal(path(r, src, dst, (uint16_t)(kind == 1 ? i / 1792 : i), true, ports), 4);
            load[ports[1] - f->graph.nodes[128].first_port - 16]++;
        }
        for (int s = 0; s < 16; s++)
            chi2 += (load[s] - flows / 16) * (load[s] - flows / 16) / (flows / 16);
        assert_true(chi2 < 37.7);
        assert_true(chi2 > 2.0); /* and not suspiciously even: round robin would give 0 */
    }
    routes_free(r);
    fabric_free(f);
}

/* Balls in bins: 8 flows on 8 links load the fullest one with 2.597 on average. */
static void test_routes__largest_load_is_that_of_balls_in_bins(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=16 leaves=2 spines=8");
    struct routes *r = routes_new(f);
    double sum = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        int load[8] = {0}, most = 0;
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t ports[MAX_PATH];
            struct route_key key = {.src = i, .dst = 8 + i, .sport = 50000, .dport = 4791};
            const struct ecmp_hash hash = ecmp_hash_mix(seed, true);
            assert_int_equal(routes_path(r, &key, &hash, ports, MAX_PATH, NULL), 4);
            int now = ++load[ports[1] - f->graph.nodes[16].first_port - 8];
            most = MAX(most, now);
        }
        sum += most;
    }
    assert_true(fabs(sum / 4000 - 2.597) < 0.03);
    routes_free(r);
    fabric_free(f);
}

static uint32_t core_links_used(struct routes *r, const struct fabric *f, bool per_switch)
{
    g_autofree uint8_t *used = g_new0(uint8_t, f->graph.n_ports);
    uint32_t n = 0, ports[MAX_PATH];
    for (uint32_t i = 0; i < 4096; i++) {
        assert_int_equal(path(r, 0, 64 + i % 64, (uint16_t)i, per_switch, ports), 6);
        n += !used[ports[2]];
        used[ports[2]] = 1;
    }
    return n;
}

/* k = 8: an edge and an aggregation switch have 4 ways up each. With one seed both take the same one, so a
 * host's flows reach 4 of its 16 cores. */
static void test_routes__shared_seed_polarises(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=fat_tree k=8");
    struct routes *r = routes_new(f);
    assert_int_equal(core_links_used(r, f, true), 16);
    assert_int_equal(core_links_used(r, f, false), 4);
    routes_free(r);
    fabric_free(f);
}

static void test_routes__parallel_links_count_one_by_one(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=16 leaves=2 spines=2 parallel_links=4");
    struct routes *r = routes_new(f);
    int load[8] = {0};
    for (uint32_t i = 0; i < 8000; i++) {
        uint32_t ports[MAX_PATH];
        assert_int_equal(path(r, 0, 8, (uint16_t)i, true, ports), 4);
        load[ports[1] - f->graph.nodes[16].first_port - 8]++;
    }
    for (int i = 0; i < 8; i++)
        assert_in_range(load[i], 850, 1150);
    routes_free(r);
    fabric_free(f);
}

static void test_routes__planes_are_chosen_by_hash_and_kept(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=rail_clos nodes=8 gpus_per_node=2 planes=2 leaf_radix=8");
    struct routes *r = routes_new(f);
    int load[2] = {0};
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t ports[MAX_PATH];
        int n = path(r, 1, 14, (uint16_t)i, true, ports);
        assert_path(f, 1, 14, ports, n);
        uint32_t plane = ports[0] - f->graph.endpoints[1].port;
        assert_in_range(plane, 0, 1);
        assert_int_equal(f->graph.ports[ports[n - 1]].peer, f->graph.endpoints[14].port + plane);
        load[plane]++;
    }
    assert_in_range(load[0], 900, 1100);
    routes_free(r);
    fabric_free(f);
}

/* In a server the NVSwitch is as near as a shared ToR, but faster; between servers the NIC port is the way.
 */
static void test_routes__gpus_of_a_simai_server_use_the_nvswitch(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric *f = fabric_import_hpcc(TEST_DATA_DIR "/topologies/simai_8gpu.txt", &error);
    assert_non_null(f);
    struct routes *r = routes_new(f);
    uint32_t ports[MAX_PATH];
    assert_int_equal(path(r, 0, 3, 7, true, ports), 2);
    assert_int_equal(f->graph.ports[ports[1]].node, 8);
    assert_int_equal(path(r, 0, 5, 7, true, ports), 3);
    assert_int_equal(ports[0], f->graph.endpoints[0].port);
    assert_int_equal(f->graph.ports[ports[1]].node, 10);
    routes_free(r);
    fabric_free(f);
}

static void test_routes__cable_between_hosts_is_one_hop(void **state)
{
    (void)state;
    struct fabric *f = fixture_import(fabric_import_edges, "node_a,node_b,rate_gbps,delay_ns\n0,1,400,10\n");
    struct routes *r = routes_new(f);
    uint32_t ports[MAX_PATH];
    assert_int_equal(path(r, 0, 1, 7, true, ports), 1);
    assert_int_equal(ports[0], 0);
    routes_free(r);
    fabric_free(f);
}

static void test_routes__what_can_not_be_reached_is_an_error(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric *f = fixture_import_bytes(
        fabric_import_edges, "node_a,node_b,rate_gbps,delay_ns\n0,4,1,1\n1,4,1,1\n2,5,1,1\n3,5,1,1\n", -1,
        &error);
    assert_non_null(f);
    struct routes *r = routes_new(f);
    uint32_t ports[MAX_PATH];
    struct route_key key = {.src = 0, .dst = 2};
    const struct ecmp_hash hash = ecmp_hash_mix(1, true);
    assert_int_equal(routes_hops(r, 0, 2), 0);
    assert_int_equal(routes_path(r, &key, &hash, ports, MAX_PATH, &error), -1);
    assert_true(g_error_matches(error, FABRIC_ERROR, FABRIC_ERROR_DISCONNECTED));
    g_clear_error(&error);
    key.dst = 4;
    assert_int_equal(routes_path(r, &key, &hash, ports, MAX_PATH, &error), -1);
    assert_non_null(strstr(error->message, "rank 4 is beyond the 4 ranks"));
    g_clear_error(&error);
    key.dst = 1;
    assert_int_equal(routes_path(r, &key, &hash, ports, 1, &error), -1);
    assert_non_null(strstr(error->message, "2 links; at most 1"));
    routes_free(r);
    fabric_free(f);
}

static void test_routes__node_paths_take_parallel_links_in_order(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric *f = fabric_import_edges(TEST_DATA_DIR "/topologies/two_leaves.csv", &error);
    assert_non_null(f);
    uint32_t ports[MAX_PATH], first4 = f->graph.nodes[4].first_port, first5 = f->graph.nodes[5].first_port;
    const uint32_t straight[] = {0, 4, 5, 2}, winding[] = {0, 4, 5, 4, 5, 2};
    assert_int_equal(routes_from_nodes(f, straight, 4, ports, MAX_PATH, &error), 3);
    assert_path(f, 0, 2, ports, 3);
    assert_int_equal(ports[1], first4 + 2);
    assert_int_equal(routes_from_nodes(f, winding, 6, ports, MAX_PATH, &error), 5);
    assert_int_equal(ports[1], first4 + 2);
    assert_int_equal(ports[2], first5 + 2);
    assert_int_equal(ports[3], first4 + 3);
    fabric_free(f);
}

static void test_routes__bad_node_paths_name_the_node(void **state)
{
    (void)state;
    struct fabric *f = fabric_import_edges(TEST_DATA_DIR "/topologies/two_leaves.csv", NULL);
    static const struct {
        uint32_t nodes[5], n;
        const char *part;
    } rows[] = {
        {{0}, 1, "at least two nodes"},
        {{0, 4, 2}, 3, "no free link from node 4"},
        {{0, 4, 9, 2}, 4, "node 9 is beyond the 6 nodes"},
        {{0, 4, 1, 4, 0}, 5, "node 1 (node1) is a host"},
        {{0, 4, 5}, 3, "node 5 (switch5) is a switch"},
        {{4, 5, 2}, 3, "node 4 (switch4) is a switch"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        uint32_t ports[MAX_PATH];
        assert_int_equal(routes_from_nodes(f, rows[i].nodes, rows[i].n, ports, 4, &error), -1);
        if (!strstr(error->message, rows[i].part))
            fail_msg("row %zu: '%s' does not hold '%s'", i, error->message, rows[i].part);
    }
    fabric_free(f);
}

static void assert_reference_path(const struct fabric *f, struct routes *r, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, "-", -1);
    uint32_t nodes[MAX_PATH], ports[MAX_PATH], n = g_strv_length(words);
    g_autoptr(GError) error = NULL;
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = (uint32_t)g_ascii_strtoull(words[i], NULL, 10);
    int hops = routes_from_nodes(f, nodes, n, ports, MAX_PATH, &error);
    if (hops < 0)
        fail_msg("%s: %s", text, error->message);
    assert_int_equal(hops, n - 1);
    assert_int_equal(hops, routes_hops(r, nodes[0], nodes[n - 1]));
}

/* Each path of the reference runs exists here and is as short as ours. */
static void test_routes__reference_paths_are_shortest_paths(void **state)
{
    (void)state;
    g_autofree char *topo = fixture_shared("reference/fattree_k16.topo.csv");
    g_autofree char *paths = fixture_shared("reference/fattree_k16--f_perm1024_1MB.paths.csv");
    g_autofree char *text = NULL;
    if (!topo || !paths)
        skip();
    struct fabric *f = fabric_import_edges(topo, NULL);
    assert_non_null(f);
    assert_true(g_file_get_contents(paths, &text, NULL, NULL));
    struct routes *r = routes_new(f);
    g_auto(GStrv) lines = g_strsplit(g_strstrip(text), "\n", -1);
    assert_int_equal(g_strv_length(lines), 1025);
    for (char **line = lines + 1; *line; line++) {
        g_auto(GStrv) fields = g_strsplit(*line, ",", -1);
        assert_reference_path(f, r, fields[1]);
        assert_reference_path(f, r, fields[2]);
    }
    routes_free(r);
    fabric_free(f);
}

static void test_routes__300000_paths_of_8192_hosts_in_seconds(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=fat_tree k=32");
    struct routes *r = routes_new(f);
    gint64 start_us = g_get_monotonic_time();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 300000; i++) {
        uint32_t ports[MAX_PATH];
        sum += (uint64_t)path(r, i % 8192, (i * 2654435761u) % 8192, (uint16_t)i, true, ports);
    }
    assert_in_range(sum, 5 * 300000, 6 * 300000);
    assert_true(g_get_monotonic_time() - start_us < 10 * G_USEC_PER_SEC);
    routes_free(r);
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes__fat_tree_paths_are_shortest),
        cmocka_unit_test(test_routes__rails_start_and_end_at_their_nic),
        cmocka_unit_test(test_routes__same_host_is_local),
        cmocka_unit_test(test_routes__choice_does_not_depend_on_what_was_asked_before),
        cmocka_unit_test(test_routes__ecmp_spreads_flows_evenly),
        cmocka_unit_test(test_routes__largest_load_is_that_of_balls_in_bins),
        cmocka_unit_test(test_routes__shared_seed_polarises),
        cmocka_unit_test(test_routes__parallel_links_count_one_by_one),
        cmocka_unit_test(test_routes__planes_are_chosen_by_hash_and_kept),
        cmocka_unit_test(test_routes__gpus_of_a_simai_server_use_the_nvswitch),
        cmocka_unit_test(test_routes__cable_between_hosts_is_one_hop),
        cmocka_unit_test(test_routes__what_can_not_be_reached_is_an_error),
        cmocka_unit_test(test_routes__node_paths_take_parallel_links_in_order),
        cmocka_unit_test(test_routes__bad_node_paths_name_the_node),
        cmocka_unit_test(test_routes__reference_paths_are_shortest_paths),
        cmocka_unit_test(test_routes__300000_paths_of_8192_hosts_in_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
