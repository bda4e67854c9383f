/* test_clos_plan.c - derived counts of leaf-spine(-core) fabrics, by hand arithmetic. */
#include "topology_fixture.h"
#include "topologies/clos_plan.h"

static struct clos_plan plan_of(const char *list)
{
    g_autoptr(GError) error = NULL;
    struct clos_plan plan;
    struct param_bag *bag = fixture_bag(list);
    if (!clos_plan_make(param_bag_get(bag, "topology"), &plan, &error))
        fail_msg("%s: %s", list, error->message);
    param_bag_free(bag);
    return plan;
}

/* 256 servers, 8 rails, 64-port switches: 32 servers a leaf, 8 leaves a rail, 64 leaves; 32 uplinks, one to
 * each of 32 spines of 64 ports. */
static void test_clos_plan__rail_clos_of_2048_gpus(void **state)
{
    (void)state;
    struct clos_plan p = plan_of("kind=rail_clos nodes=256 leaf_radix=64 spine_radix=64");
    assert_int_equal(p.nodes_per_leaf, 32);
    assert_int_equal(p.groups, 8);
    assert_int_equal(p.leaf_uplinks, 32);
    assert_int_equal(p.spines, 32);
    assert_int_equal(p.parallel, 1);
    assert_int_equal(p.pods, 1);
    assert_int_equal(p.cores, 0);
}

/* Half of that: 32 leaves fill half a spine's ports, so two links to each of 16 spines. */
static void test_clos_plan__fewer_leaves_make_parallel_links(void **state)
{
    (void)state;
    struct clos_plan p = plan_of("kind=rail_clos nodes=128 leaf_radix=64 spine_radix=64");
    assert_int_equal(p.groups, 4);
    assert_int_equal(p.spines, 16);
    assert_int_equal(p.parallel, 2);
}

/* o = 3: d + d/3 <= 64 gives 48 down, 16 up. */
static void test_clos_plan__oversubscription_shifts_ports_down(void **state)
{
    (void)state;
    struct clos_plan p =
        plan_of("kind=leaf_spine hosts=480 leaf_radix=64 leaf_oversubscription=3 spine_radix=10");
    assert_int_equal(p.nodes_per_leaf, 48);
    assert_int_equal(p.groups, 10);
    assert_int_equal(p.leaf_uplinks, 16);
    assert_int_equal(p.spines, 16);
}

/* 85 and 43 of 128 ports would fit; 84 and 42 are 2:1 to the point and need 13 leaves as well. With 170 hosts
 * the larger leaf saves a leaf and is kept. */
static void test_clos_plan__exact_ratios_are_preferred(void **state)
{
    (void)state;
    struct clos_plan p = plan_of("kind=leaf_spine hosts=1024 leaf_oversubscription=2");
    assert_int_equal(p.nodes_per_leaf, 84);
    assert_int_equal(p.leaf_uplinks, 42);
    assert_int_equal(p.groups, 13);
    p = plan_of("kind=leaf_spine hosts=170 leaf_oversubscription=2");
    assert_int_equal(p.nodes_per_leaf, 85);
    assert_int_equal(p.leaf_uplinks, 43);
    assert_int_equal(p.groups, 2);
}

/* 100G hosts, 400G uplinks: d + d/4 <= 60 gives 48 down, 12 up. */
static void test_clos_plan__faster_uplinks_need_fewer_ports(void **state)
{
    (void)state;
    struct clos_plan p =
        plan_of("kind=leaf_spine hosts=96 leaf_radix=60 host_rate=100Gbps leaf_rate=400Gbps");
    assert_int_equal(p.nodes_per_leaf, 48);
    assert_int_equal(p.leaf_uplinks, 12);
}

/* A leaf that serves fewer hosts than it could gets uplinks for those it serves. */
static void test_clos_plan__small_fabrics_keep_their_ratio(void **state)
{
    (void)state;
    struct clos_plan p = plan_of("kind=rail_clos nodes=4 gpus_per_node=8");
    assert_int_equal(p.nodes_per_leaf, 4);
    assert_int_equal(p.leaf_uplinks, 4);
    assert_int_equal(p.spines, 1);
    assert_int_equal(p.parallel, 4);
}

static void test_clos_plan__one_leaf_needs_no_spine(void **state)
{
    (void)state;
    struct clos_plan p = plan_of("kind=leaf_spine hosts=128");
    assert_int_equal(p.groups, 1);
    assert_int_equal(p.spines, 0);
    assert_int_equal(p.leaf_uplinks, 0);
}

/* rails = 1: all eight NICs of a server at one leaf, so 8 servers on 64 ports down of 128. */
static void test_clos_plan__one_rail_puts_a_server_on_one_leaf(void **state)
{
    (void)state;
    struct clos_plan p = plan_of("kind=rail_clos nodes=64 rails=1");
    assert_int_equal(p.nic_ports, 8);
    assert_int_equal(p.nodes_per_leaf, 8);
    assert_int_equal(p.groups, 8);
}

/* 2048 servers, 8 rails, radix 64: 32 servers a leaf, 64 groups. A pod's spine has 32 ports down: 4 groups of
 * 8 rails, 16 pods, 32 spines a pod; 32 uplinks: 32 cores a column take 16 pods each, two links each would
 * need 32 of 64 ports, four 64: 8 cores a column with 4 links. */
static void test_clos_plan__three_tiers(void **state)
{
    (void)state;
    struct clos_plan p =
        plan_of("kind=rail_clos nodes=2048 tiers=3 leaf_radix=64 spine_radix=64 core_radix=64");
    assert_int_equal(p.groups, 64);
    assert_int_equal(p.groups_per_pod, 4);
    assert_int_equal(p.pods, 16);
    assert_int_equal(p.spines, 32);
    assert_int_equal(p.parallel, 1);
    assert_int_equal(p.spine_uplinks, 32);
    assert_int_equal(p.core_column, 8);
    assert_int_equal(p.core_parallel, 4);
    assert_int_equal(p.cores, 256);
}

static void test_clos_plan__three_tiers_in_one_pod_have_no_cores(void **state)
{
    (void)state;
    struct clos_plan two = plan_of("kind=rail_clos nodes=64"),
                     three = plan_of("kind=rail_clos nodes=64 tiers=3");
    assert_int_equal(three.cores, 0);
    assert_int_equal(three.spines, two.spines);
}

static void test_clos_plan__explicit_counts_are_kept(void **state)
{
    (void)state;
    struct clos_plan p = plan_of("kind=leaf_spine hosts=128 leaves=8 spines=4 parallel_links=2");
    assert_int_equal(p.nodes_per_leaf, 16);
    assert_int_equal(p.spines, 4);
    assert_int_equal(p.parallel, 2);
    assert_int_equal(p.leaf_uplinks, 8);
    p = plan_of("kind=leaf_spine hosts=128 leaves=8 spines=4 leaf_oversubscription=1");
    assert_int_equal(p.parallel, 4);
    p = plan_of("kind=rail_clos nodes=64 tiers=3 leaf_radix=16 spine_radix=32 spines=8 cores=32 "
                "spine_oversubscription=0");
    assert_int_equal(p.core_column, 4);
    assert_int_equal(p.spine_uplinks, 4);
}

static void test_clos_plan__there_is_always_one_uplink(void **state)
{
    (void)state;
    struct clos_plan p =
        plan_of("kind=leaf_spine hosts=256 host_rate=125Mbps leaf_rate=100Tbps leaf_oversubscription=1000");
    assert_int_equal(p.leaf_uplinks, 1);
    assert_int_equal(p.spines, 1);
}

static void test_clos_plan__what_does_not_fit_names_key_and_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *list, *part;
    } rows[] = {
        {"kind=rail_clos nodes=2048",
         "topology.spine_radix: 256 switches with 1 links each need 256 ports, but there are 128"},
        {"kind=rail_clos nodes=64 rails=1 leaf_radix=8",
         "topology.leaf_radix: 8 ports can't take the 8 links"},
        {"kind=leaf_spine hosts=300 leaves=2",
         "topology.leaf_radix: a leaf needs 150 links down and 150 up, but has 128"},
        {"kind=leaf_spine hosts=300 leaves=1", "topology.leaf_radix: "},
        {"kind=leaf_spine hosts=9 leaves=4", "topology.leaves: 9 nodes at 3 a leaf fill 3 leaves, not 4"},
        {"kind=leaf_spine hosts=128 leaves=8 spines=4 parallel_links=2 leaf_oversubscription=1",
         "topology.leaf_oversubscription: 1 is asked for"},
        {"kind=leaf_spine hosts=128 leaves=8 spines=3 leaf_oversubscription=1",
         "topology.spines: 3 does not divide the 16"},
        {"kind=leaf_spine hosts=128 leaves=8 parallel_links=3",
         "topology.parallel_links: 3 does not divide the 16"},
        {"kind=rail_clos nodes=2048 tiers=3 spine_radix=8",
         "topology.spine_radix: 8 ports can't take 8 links"},
        {"kind=rail_clos nodes=2048 tiers=3 leaf_radix=64 spine_radix=64 core_radix=8",
         "topology.core_radix: 16 switches with 1 links each need 16 ports, but there are 8"},
        {"kind=rail_clos nodes=2048 tiers=3 leaf_radix=64 spine_radix=64 cores=33",
         "topology.cores: 33 is not a multiple"},
        {"kind=rail_clos nodes=60000 gpus_per_node=1024 leaf_oversubscription=1000 leaf_radix=65535 "
         "spine_radix=65535",
         "are too many"},
        {"kind=rail_clos nodes=2 gpus_per_node=1024 planes=64 leaf_radix=65535 spine_radix=65535",
         "topology.planes"},
        {"kind=leaf_spine hosts=256 leaf_oversubscription=0.0001", "topology.leaf_radix"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        fixture_refused(rows[i].list, rows[i].part);
}

/* Whatever is asked for: what is planned holds its radixes and its ratio. */
static void test_clos_plan__derived_plans_hold_radix_and_ratio(void **state)
{
    (void)state;
    for (uint32_t nodes = 1; nodes <= 400; nodes += 7)
        for (uint32_t ratio = 1; ratio <= 4; ratio++)
            for (uint32_t tiers = 2; tiers <= 3; tiers++) {
                g_autofree char *list =
                    g_strdup_printf("kind=rail_clos nodes=%u gpus_per_node=4 leaf_radix=32 "
                                    "spine_radix=64 core_radix=64 tiers=%u leaf_oversubscription=%u",
                                    nodes, tiers, ratio);
                g_autoptr(GError) error = NULL;
                struct fabric *f = fixture_try(list, &error);
                if (!f) {
                    assert_int_equal(tiers, 2);
                    assert_non_null(strstr(error->message, "topology.spine_radix"));
                    continue;
                }
                assert_true(fabric_check(f, &error));
                struct clos_plan p = plan_of(list);
                assert_true(p.nodes_per_leaf <= p.leaf_uplinks * ratio);
                assert_true(p.nodes_per_leaf > (p.leaf_uplinks - 1) * ratio);
                for (uint32_t i = 0; i < f->graph.n_nodes; i++)
                    assert_true(f->graph.nodes[i].n_ports <= (f->graph.nodes[i].tier == 1 ? 32 : 64));
                fabric_free(f);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clos_plan__rail_clos_of_2048_gpus),
        cmocka_unit_test(test_clos_plan__fewer_leaves_make_parallel_links),
        cmocka_unit_test(test_clos_plan__oversubscription_shifts_ports_down),
        cmocka_unit_test(test_clos_plan__exact_ratios_are_preferred),
        cmocka_unit_test(test_clos_plan__faster_uplinks_need_fewer_ports),
        cmocka_unit_test(test_clos_plan__small_fabrics_keep_their_ratio),
        cmocka_unit_test(test_clos_plan__one_leaf_needs_no_spine),
        cmocka_unit_test(test_clos_plan__one_rail_puts_a_server_on_one_leaf),
        cmocka_unit_test(test_clos_plan__three_tiers),
        cmocka_unit_test(test_clos_plan__three_tiers_in_one_pod_have_no_cores),
        cmocka_unit_test(test_clos_plan__explicit_counts_are_kept),
        cmocka_unit_test(test_clos_plan__there_is_always_one_uplink),
        cmocka_unit_test(test_clos_plan__what_does_not_fit_names_key_and_numbers),
        cmocka_unit_test(test_clos_plan__derived_plans_hold_radix_and_ratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
