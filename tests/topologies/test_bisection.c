/* test_bisection.c - bandwidth between the halves, against closed forms. */
#include "topology_fixture.h"

static void assert_bisection(const char *list, double gbps)
{
    struct fabric *f = fixture_build(list);
    double got = fabric_bisection_bps(f) / 1e9;
    if (got != gbps)
        fail_msg("%s: %g Gb/s, not %g", list, got, gbps);
    fabric_free(f);
}

static void test_bisection__clos_fabrics(void **state)
{
    (void)state;
    assert_bisection("kind=star hosts=16 host_rate=100Gbps", 8 * 100);
    assert_bisection("kind=fat_tree k=8 host_rate=100Gbps", 64 * 100);
    assert_bisection("kind=leaf_spine hosts=64 leaves=4 spines=4 host_rate=100Gbps", 2 * 4 * 100);
    assert_bisection(
        "kind=leaf_spine hosts=64 leaves=4 spines=4 parallel_links=2 host_rate=100Gbps leaf_rate=50Gbps",
        2 * 8 * 50);
    assert_bisection("kind=rail_clos nodes=32 leaf_radix=16", 16 * 8 * 400);
    assert_bisection("kind=rail_clos nodes=32 leaf_radix=16 planes=2", 2 * 16 * 8 * 400);
    assert_bisection("kind=rail_clos nodes=64 gpus_per_node=2 tiers=3 leaf_radix=8 spine_radix=12 "
                     "spine_oversubscription=2",
                     64 * 400 / 2);
}

static void test_bisection__irregular_graphs(void **state)
{
    (void)state;
    struct fabric *f = fixture_import(fabric_import_edges, "node_a,node_b,rate_gbps,delay_ns\n"
                                                           "0,4,100,1\n1,4,100,1\n2,6,100,1\n3,6,100,1\n"
                                                           "4,5,30,1\n5,6,70,1\n4,6,25,1\n");
    assert_true(fabric_bisection_bps(f) == 55e9);
    fabric_free(f);
    f = fixture_import(fabric_import_edges, "node_a,node_b,rate_gbps,delay_ns\n0,1,200,1\n");
    assert_true(fabric_bisection_bps(f) == 200e9);
    fabric_free(f);
}

/* Flow must be able to turn back: 0 and 1 first meet on switch 4, whose first way out is the narrow one. */
static void test_bisection__augmenting_paths_undo_earlier_ones(void **state)
{
    (void)state;
    struct fabric *f =
        fixture_import(fabric_import_edges, "# hosts: 4\nnode_a,node_b,rate_gbps,delay_ns\n"
                                            "0,4,10,1\n1,5,10,1\n4,6,10,1\n4,7,10,1\n5,6,10,1\n"
                                            "2,6,10,1\n3,7,10,1\n");
    assert_true(fabric_bisection_bps(f) == 20e9);
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bisection__clos_fabrics),
        cmocka_unit_test(test_bisection__irregular_graphs),
        cmocka_unit_test(test_bisection__augmenting_paths_undo_earlier_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
