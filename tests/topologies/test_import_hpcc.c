/* test_import_hpcc.c - HPCC and SimAI topology files. */
#include "topology_fixture.h"

static void test_import_hpcc__ids_are_kept_and_ranks_follow_the_hosts(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric *f = fabric_import_hpcc(TEST_DATA_DIR "/topologies/pair.hpcc.txt", &error);
    assert_non_null(f);
    assert_true(fabric_check(f, &error));
    static const uint8_t kinds[] = {NET_HOST, NET_SWITCH, NET_HOST, NET_SWITCH, NET_HOST};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(f->graph.nodes[i].kind, kinds[i]);
    assert_int_equal(fabric_rank_of_node(f, 4), 2);
    assert_int_equal(fabric_rank_of_node(f, 3), NET_NONE);
    const struct net_port *p = &f->graph.ports[f->graph.nodes[2].first_port];
    assert_int_equal(p->rate_bps, 25 * UNIT_GBPS);
    assert_int_equal(p->delay_ps, UNIT_US);
    p = &f->graph.ports[f->graph.nodes[3].first_port + 1];
    assert_int_equal(p->rate_bps, 1600 * UNIT_GBPS);
    assert_null(f->notes);
    fabric_free(f);
}

static void test_import_hpcc__simai_nvswitches_become_switches(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric *f = fabric_import_hpcc(TEST_DATA_DIR "/topologies/simai_8gpu.txt", &error);
    assert_non_null(f);
    assert_true(fabric_check(f, &error));
    assert_int_equal(f->graph.n_endpoints, 8);
    assert_string_equal(f->names[9], "nvswitch9");
    assert_string_equal(f->names[10], "switch10");
    for (uint32_t e = 0; e < 8; e++) {
        uint32_t peer = f->graph.ports[f->graph.endpoints[e].port].peer;
        assert_int_equal(f->graph.ports[peer].node, 10 + e / 4);
    }
    assert_non_null(strstr(f->notes, "simai_8gpu.txt:1: gpus_per_server and gpu_type ignored"));
    fabric_free(f);
}

static void test_import_hpcc__hosts_alone_need_no_switch_ids(void **state)
{
    (void)state;
    struct fabric *f = fixture_import(fabric_import_hpcc, "2 0 1\n\n0 1 400Gbps 100ns 0\n");
    assert_int_equal(f->graph.n_endpoints, 2);
    fabric_free(f);
}

static void test_import_hpcc__lines_after_the_links_are_noted(void **state)
{
    (void)state;
    struct fabric *f = fixture_import(fabric_import_hpcc, "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n\n"
                                                          "7 9 100Gbps 1us 0\nend\n");
    assert_int_equal(f->n_links, 2);
    assert_non_null(strstr(f->notes, ":6: 2 lines after the 2 links declared ignored"));
    fabric_free(f);
}

static void test_import_hpcc__wrong_lines_are_named(void **state)
{
    (void)state;
    static const struct fixture_bad rows[] = {
        {"", "FILE: the file is empty"},
        {"# nothing\n", "FILE: no first line"},
        {"3 1\n", "FILE:1: 2 fields; the first line has 3"},
        {"x 1 2\n", "FILE:1: nodes: 'x'"},
        {"0 0 1\n", "FILE:1: nodes: '0'"},
        {"3 3 2\n", "FILE:1: switches: '3' is not a whole number from 0 to 2"},
        {"99999999999 1 2\n", "FILE:1: nodes"},
        {"16777216 1 2\n", "16777216 nodes but only 2 links"},
        {"3 1 2\n", "FILE:1: switch id: 1 switches declared, 0 ids found"},
        {"3 1 2\n3\n", "FILE:2: switch id: '3'"},
        {"4 2 3\n3 3\n", "FILE:2: switch id: 3 is listed twice"},
        {"3 1 2\n2 1\n", "FILE:2: switch id: more ids than the 1"},
        {"3 1 2\n2\n0 2 100Gbps 1us 0\n", "FILE:3: links: 2 declared, 1 found"},
        {"3 1 2\n2\n0 2 100Gbps 1us\n", "FILE:3: 4 fields"},
        {"3 1 2\n2\n0 7 100Gbps 1us 0\n", "FILE:3: second node: '7' is not a whole number from 0 to 2"},
        {"3 1 2\n2\n0 2 100 1us 0\n", "FILE:3: rate: '100'"},
        {"3 1 2\n2\n0 2 0Gbps 1us 0\n", "FILE:3: rate: '0Gbps'"},
        {"3 1 2\n2\n0 2 100Gbps 1 0\n", "FILE:3: delay: '1'"},
        {"3 1 2\n2\n0 2 100Gbps 1us 0.01\n", "FILE:3: error rate: '0.01'"},
        {"3 1 2\n2\n0 2 100Gbps 1us nan\n", "FILE:3: error rate"},
        {"3 1 2\n2\n0 2 100Gbps 1us 0\n2 0 100Gbps 1us 0\n", "FILE: node 1 has no link"},
        {"3 1 3\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n2 0 100Gbps 1us 0\n",
         "FILE:5: link 2-0 repeats line 3"},
        {"3 1 2\n2\n0 2 100Gbps 1us 0\n1 1 100Gbps 1us 0\n", "FILE:4: link from node 1 to itself"},
        {"9 4 3 9 8 H100\n", "FILE:1: switches: '9'"},
        {"9 0 1 0 8 H100\n", "FILE:1: gpus_per_server"},
    };
    fixture_import_refused(fabric_import_hpcc, rows, G_N_ELEMENTS(rows));
}

static void test_import_hpcc__mangled_files_never_crash(void **state)
{
    (void)state;
    assert_true(fixture_mangle(fabric_import_hpcc,
                               "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 0.001ms 0\n2 3 1Tbps 1ns 0\n") >
                300);
    assert_true(fixture_mangle(fabric_import_hpcc, "4 2 1 1 4 H100\n2 3\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n"
                                                   "0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n") > 300);
}

static void test_import_hpcc__real_files(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint32_t hosts, nodes, links, leaves;
    } rows[] = {
        {"real/hpcc/8_nodes_1_switch_topology.txt", 8, 9, 8, 1},
        {"real/hpcc/topology.txt", 65, 66, 65, 1},
        {"real/hpcc/fat.txt", 320, 376, 480, 20},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = fixture_shared(rows[i].file);
        g_autoptr(GError) error = NULL;
        if (!path)
            skip();
        struct fabric *f = fabric_import_hpcc(path, &error);
        if (!f || !fabric_check(f, &error))
            fail_msg("%s", error->message);
        assert_int_equal(f->graph.n_endpoints, rows[i].hosts);
        assert_int_equal(f->graph.n_nodes, rows[i].nodes);
        assert_int_equal(f->n_links, rows[i].links);
        assert_int_equal(fixture_count(f, NET_SWITCH, 1), rows[i].leaves);
        fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_import_hpcc__ids_are_kept_and_ranks_follow_the_hosts),
        cmocka_unit_test(test_import_hpcc__simai_nvswitches_become_switches),
        cmocka_unit_test(test_import_hpcc__hosts_alone_need_no_switch_ids),
        cmocka_unit_test(test_import_hpcc__lines_after_the_links_are_noted),
        cmocka_unit_test(test_import_hpcc__wrong_lines_are_named),
        cmocka_unit_test(test_import_hpcc__mangled_files_never_crash),
        cmocka_unit_test(test_import_hpcc__real_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
