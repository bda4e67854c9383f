/* test_import_edges.c - CSV link lists. */
#include "topology_fixture.h"

#define HEADER "node_a,node_b,rate_gbps,delay_ns\n"

static void test_import_edges__own_file(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric *f = fabric_import_edges(TEST_DATA_DIR "/topologies/two_leaves.csv", &error);
    assert_non_null(f);
    assert_true(fabric_check(f, &error));
    assert_int_equal(f->graph.n_endpoints, 4);
    assert_int_equal(fixture_count(f, NET_SWITCH, 1), 2);
    assert_int_equal(f->n_links, 6);
    const struct net_port *up = &f->graph.ports[f->graph.nodes[4].first_port + 2];
    assert_int_equal(up->rate_bps, 400 * UNIT_GBPS);
    assert_int_equal(up->delay_ps, 1000500);
    fabric_free(f);
}

/* A switch with one link, above the first switch, is still a switch. */
static void test_import_edges__first_id_with_two_links_is_the_first_switch(void **state)
{
    (void)state;
    struct fabric *f = fixture_import(fabric_import_edges, HEADER "0,2,100,1\n1,2,100,1\n2,3,100,1\n");
    assert_int_equal(f->graph.n_endpoints, 2);
    assert_int_equal(f->graph.nodes[3].kind, NET_SWITCH);
    fabric_free(f);
}

static void test_import_edges__cable_between_two_hosts(void **state)
{
    (void)state;
    struct fabric *f = fixture_import(fabric_import_edges, HEADER "0,1,2.5,10\n");
    assert_int_equal(f->graph.n_endpoints, 2);
    assert_int_equal(f->graph.ports[0].rate_bps, 2500 * UNIT_MBPS);
    fabric_free(f);
}

static void test_import_edges__hosts_comment_decides(void **state)
{
    (void)state;
    struct fabric *f = fixture_import(fabric_import_edges,
                                      "# hosts: 2\r\n" HEADER "0,2,100,1\r\n0,3,100,1\r\n1,2,100,1\r\n");
    assert_int_equal(f->graph.n_endpoints, 2);
    assert_int_equal(f->graph.nodes[0].n_ports, 2);
    fabric_free(f);
}

static void test_import_edges__wrong_lines_are_named(void **state)
{
    (void)state;
    static const struct fixture_bad rows[] = {
        {"", "FILE: the file is empty"},
        {"\n\n", "FILE: no links"},
        {HEADER, "FILE: no links"},
        {"0,1,100,1\n", "FILE:1: the header must be"},
        {"node_a,node_b,rate,delay\n", "FILE:1: the header must be"},
        {HEADER "0,1,100\n", "FILE:2: 3 fields"},
        {HEADER "0,1,100,1,2\n", "FILE:2: 5 fields"},
        {HEADER "\n0,x,100,1\n", "FILE:3: node_b: 'x' is not a whole number"},
        {HEADER "-1,2,100,1\n", "FILE:2: node_a: '-1'"},
        {HEADER "0,99999999999999999999999,100,1\n", "FILE:2: node_b: '99999999999999999999999'"},
        {HEADER "0,16777215,100,1\n", "FILE: highest id is 16777215"},
        {HEADER "0,1,0,1\n", "FILE:2: rate_gbps: '0'"},
        {HEADER "0,1,1e300,1\n", "FILE:2: rate_gbps: '1e300'"},
        {HEADER "0,1,-100,1\n", "FILE:2: rate_gbps: '-100'"},
        {HEADER "0,1,100,0\n", "FILE:2: delay_ns: '0'"},
        {HEADER "0,1,100,\n", "FILE:2: delay_ns: ''"},
        {HEADER "0,1,100,999999999999\n", "FILE:2: delay_ns"},
        {HEADER "0,2,100,1\n1,2,100,1\n2,2,100,1\n", "FILE:4: link from node 2 to itself"},
        {HEADER "0,2,100,1\n1,2,100,1\n2,0,100,1\n", "number hosts first"},
        {HEADER "0,2,100,1\n1,2,100,1\n2,4,100,1\n", "node 3 has no link"},
        {"# hosts: 2\n" HEADER "0,2,100,1\n1,2,100,1\n2,1,100,1\n", "FILE:5: link 2-1 repeats line 4"},
        {"# hosts: 0\n" HEADER "0,1,100,1\n", "FILE:1: hosts"},
        {"# hosts: many\n" HEADER "0,1,100,1\n", "FILE:1: hosts"},
        {"# hosts: 3\n" HEADER "0,1,100,1\n", "FILE:1: hosts: 3 hosts, but only 2 nodes"},
        {"# hosts: 2\n# hosts: 2\n" HEADER "0,1,100,1\n", "FILE:2: hosts: given twice, first in line 1"},
    };
    fixture_import_refused(fabric_import_edges, rows, G_N_ELEMENTS(rows));
}

static void test_import_edges__mangled_files_never_crash(void **state)
{
    (void)state;
    assert_true(fixture_mangle(fabric_import_edges,
                               "# hosts: 2\n" HEADER "0,2,100,1000\n1,3,100,1000\n2,3,400,1000\n") > 300);
}

static void test_import_edges__reference_files(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint32_t hosts, nodes, links;
    } rows[] = {
        {"reference/star3.topo.csv", 3, 4, 3},
        {"reference/star17.topo.csv", 17, 18, 17},
        {"reference/star65.topo.csv", 65, 66, 65},
        {"reference/two_switch.topo.csv", 19, 21, 20},
        {"reference/two_switch_200.topo.csv", 19, 21, 20},
        {"reference/leafspine128.topo.csv", 128, 152, 256},
        {"reference/leafspine128_400.topo.csv", 128, 152, 256},
        {"reference/fattree_k16.topo.csv", 1024, 1344, 3072},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = fixture_shared(rows[i].file);
        g_autoptr(GError) error = NULL;
        if (!path)
            skip();
        struct fabric *f = fabric_import_edges(path, &error);
        if (!f || !fabric_check(f, &error))
            fail_msg("%s", error->message);
        assert_int_equal(f->graph.n_endpoints, rows[i].hosts);
        assert_int_equal(f->graph.n_nodes, rows[i].nodes);
        assert_int_equal(f->n_links, rows[i].links);
        fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_import_edges__own_file),
        cmocka_unit_test(test_import_edges__first_id_with_two_links_is_the_first_switch),
        cmocka_unit_test(test_import_edges__cable_between_two_hosts),
        cmocka_unit_test(test_import_edges__hosts_comment_decides),
        cmocka_unit_test(test_import_edges__wrong_lines_are_named),
        cmocka_unit_test(test_import_edges__mangled_files_never_crash),
        cmocka_unit_test(test_import_edges__reference_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
