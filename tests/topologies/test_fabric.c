/* test_fabric.c - assembly of a fabric and the choice of builder or importer. */
#include "topology_fixture.h"

static void test_fabric__ports_are_contiguous_and_peers_symmetric(void **state)
{
    (void)state;
    static const char *const lists[] = {"kind=star hosts=5", "kind=leaf_spine hosts=64 leaf_radix=16",
                                        "kind=rail_clos nodes=16 planes=2 leaf_radix=16",
                                        "kind=fat_tree k=8"};
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        struct fabric *f = fixture_build(lists[i]);
        uint32_t next = 0;
        for (uint32_t n = 0; n < f->graph.n_nodes; n++) {
            assert_int_equal(f->graph.nodes[n].first_port, next);
            next += f->graph.nodes[n].n_ports;
        }
        assert_int_equal(next, f->graph.n_ports);
        assert_int_equal(next, 2 * f->n_links);
        for (uint32_t p = 0; p < next; p++) {
            assert_int_equal(f->graph.ports[f->graph.ports[p].peer].peer, p);
            assert_int_not_equal(f->graph.ports[p].peer, p);
        }
        fabric_free(f);
    }
}

static void test_fabric__relative_files_start_at_the_base(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct param_bag *bag = fixture_bag("kind=edges file=two_leaves.csv");
    struct fabric *f = fabric_build(param_bag_get(bag, "topology"), TEST_DATA_DIR "/topologies", &error);
    assert_non_null(f);
    fabric_free(f);
    assert_null(fabric_build(param_bag_get(bag, "topology"), TEST_DATA_DIR "/nowhere", &error));
    assert_non_null(strstr(error->message, "nowhere/two_leaves.csv"));
    param_bag_free(bag);
}

static void test_fabric__rank_of_node_finds_hosts_only(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=rail_clos nodes=3 gpus_per_node=4");
    assert_int_equal(fabric_rank_of_node(f, 0), 0);
    assert_int_equal(fabric_rank_of_node(f, 2), 8);
    assert_int_equal(fabric_rank_of_node(f, 3), NET_NONE);
    assert_int_equal(fabric_rank_of_node(f, UINT32_MAX), NET_NONE);
    fabric_free(f);
}

static void test_fabric__tiers_count_from_the_hosts(void **state)
{
    (void)state;
    struct fabric *f =
        fixture_import(fabric_import_edges, "node_a,node_b,rate_gbps,delay_ns\n"
                                            "0,2,100,1\n1,2,100,1\n2,3,100,1\n3,4,100,1\n4,5,100,1\n");
    for (uint32_t i = 2; i <= 5; i++)
        assert_int_equal(f->graph.nodes[i].tier, i - 1);
    fabric_free(f);
}

static void test_fabric__too_many_links_at_one_node_is_an_error(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct fabric_builder *builder = fabric_builder_new("test");
    uint32_t a = fabric_add_node(builder, NET_SWITCH, 1, "big"),
             b = fabric_add_node(builder, NET_SWITCH, 1, "b");
    for (int i = 0; i < 65536; i++)
        fabric_add_link(builder, a, b, UNIT_GBPS, UNIT_NS);
    assert_null(fabric_builder_finish(builder, 1, 1, &error));
    assert_non_null(strstr(error->message, "node 0 (big) has 65536 links"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fabric__ports_are_contiguous_and_peers_symmetric),
        cmocka_unit_test(test_fabric__relative_files_start_at_the_base),
        cmocka_unit_test(test_fabric__rank_of_node_finds_hosts_only),
        cmocka_unit_test(test_fabric__tiers_count_from_the_hosts),
        cmocka_unit_test(test_fabric__too_many_links_at_one_node_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
