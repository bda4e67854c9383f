/* test_build_clos.c - wiring and names of leaf_spine and rail_clos. */
#include "topology_fixture.h"

/* 4 servers of 4 GPUs, 2 servers a leaf: 2 leaves a rail, 8 leaves with 2 uplinks, 2 spines. */
#define SMALL "kind=rail_clos nodes=4 gpus_per_node=4 leaf_radix=4 spine_radix=8"

static void test_build_clos__nic_r_goes_to_rail_r(void **state)
{
    (void)state;
    struct fabric *f = fixture_build(SMALL);
    assert_int_equal(fixture_count(f, NET_HOST, 0), 4);
    assert_int_equal(fixture_count(f, NET_SWITCH, 1), 8);
    assert_int_equal(fixture_count(f, NET_SWITCH, 2), 2);
    assert_int_equal(f->graph.n_endpoints, 16);
    for (uint32_t node = 0; node < 4; node++)
        for (uint32_t rail = 0; rail < 4; rail++) {
            g_autofree char *leaf = g_strdup_printf("leaf-r%u-%u", rail, node / 2);
            assert_string_equal(f->names[fixture_far(f, node, rail)], leaf);
            assert_int_equal(fixture_far(f, fixture_node(f, leaf), node % 2), node);
            const struct net_endpoint *e = &f->graph.endpoints[node * 4 + rail];
            assert_int_equal(e->node, node);
            assert_int_equal(e->port, f->graph.nodes[node].first_port + rail);
        }
    fabric_free(f);
}

static void test_build_clos__spines_join_the_leaves_of_all_rails(void **state)
{
    (void)state;
    struct fabric *f = fixture_build(SMALL);
    uint32_t leaf0 = fixture_node(f, "leaf-r0-0");
    for (uint32_t spine = 0; spine < 2; spine++)
        for (uint32_t leaf = 0; leaf < 8; leaf++) {
            assert_int_equal(fixture_far(f, fixture_node(f, "spine0") + spine, leaf), leaf0 + leaf);
            assert_int_equal(fixture_far(f, leaf0 + leaf, 2 + spine), fixture_node(f, "spine0") + spine);
        }
    fabric_free(f);
}

static void test_build_clos__fewer_nics_than_gpus_are_shared(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=rail_clos nodes=2 gpus_per_node=8 nics_per_node=2");
    assert_int_equal(f->graph.n_endpoints, 16);
    assert_int_equal(f->graph.nodes[1].n_ports, 2);
    for (uint32_t gpu = 0; gpu < 8; gpu++)
        assert_int_equal(f->graph.endpoints[8 + gpu].port, f->graph.nodes[1].first_port + gpu / 4);
    fabric_free(f);
}

static void test_build_clos__planes_are_separate_copies(void **state)
{
    (void)state;
    struct fabric *one = fixture_build(SMALL), *two = fixture_build(SMALL " planes=2");
    assert_int_equal(two->n_links, 2 * one->n_links);
    assert_int_equal(two->ports_per_nic, 2);
    assert_int_equal(two->graph.endpoints[1].port, 2);
    assert_string_equal(two->names[fixture_far(two, 0, 2)], "leaf-p0-r1-0");
    assert_string_equal(two->names[fixture_far(two, 0, 3)], "leaf-p1-r1-0");
    for (uint32_t i = 0; i < two->graph.n_nodes; i++) {
        const char *name = two->names[i];
        if (!g_str_has_prefix(name, "leaf"))
            continue;
        for (uint32_t up = 2; up < 4; up++)
            assert_int_equal(two->names[fixture_far(two, i, up)][strlen("spine-p")], name[strlen("leaf-p")]);
    }
    fabric_free(one);
    fabric_free(two);
}

static void test_build_clos__spine_s_of_each_pod_reaches_column_s(void **state)
{
    (void)state;
    struct fabric *f =
        fixture_build("kind=rail_clos nodes=64 gpus_per_node=2 tiers=3 leaf_radix=8 spine_radix=16 "
                      "core_radix=16 spine_rate=800Gbps");
    uint32_t core0 = fixture_node(f, "core0"), spine0 = fixture_node(f, "spine0");
    uint32_t cores = fixture_count(f, NET_SWITCH, 3), column = cores / 4;
    assert_int_equal(cores % 4, 0);
    for (uint32_t core = 0; core < cores; core++)
        for (uint32_t port = 0; port < f->graph.nodes[core0 + core].n_ports; port++)
            assert_int_equal((fixture_far(f, core0 + core, port) - spine0) % 4, core / column);
    fabric_free(f);
}

static void test_build_clos__leaf_spine_names_and_counts(void **state)
{
    (void)state;
    struct fabric *f =
        fixture_build("kind=leaf_spine hosts=128 leaves=8 spines=16 host_rate=100Gbps host_delay=1us "
                      "leaf_delay=1us");
    assert_string_equal(f->kind, "leaf_spine");
    assert_int_equal(f->n_links, 128 + 8 * 16);
    assert_string_equal(f->names[128], "leaf0");
    assert_string_equal(f->names[136], "spine0");
    fabric_free(f);
}

/* 128 leaves, 64 down, 16 up. */
static void test_build_clos__four_to_one_of_8192(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=8192 leaf_radix=80 leaf_oversubscription=4");
    assert_int_equal(fixture_count(f, NET_SWITCH, 1), 128);
    assert_int_equal(fixture_count(f, NET_SWITCH, 2), 16);
    fabric_free(f);
}

/* 16,384 GPUs in 2 tiers of 512-port switches and in 3 tiers of 128: well below 5 s even with sanitizers. */
static void test_build_clos__16384_gpus_in_seconds(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "kind=rail_clos nodes=2048 leaf_radix=512 spine_radix=512",
        "kind=rail_clos nodes=2048 tiers=3",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        gint64 start_us = g_get_monotonic_time();
        struct fabric *f = fixture_build(lists[i]);
        gint64 spent_us = g_get_monotonic_time() - start_us;
        assert_int_equal(f->graph.n_endpoints, 16384);
        size_t bytes = f->graph.n_nodes * (sizeof(struct net_node) + sizeof(char *) + 32) +
                       f->graph.n_ports * sizeof(struct net_port) +
                       f->graph.n_endpoints * sizeof(struct net_endpoint);
        assert_true(bytes < 8 * 1024 * 1024);
        assert_true(spent_us < 5 * G_USEC_PER_SEC);
        fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_clos__nic_r_goes_to_rail_r),
        cmocka_unit_test(test_build_clos__spines_join_the_leaves_of_all_rails),
        cmocka_unit_test(test_build_clos__fewer_nics_than_gpus_are_shared),
        cmocka_unit_test(test_build_clos__planes_are_separate_copies),
        cmocka_unit_test(test_build_clos__spine_s_of_each_pod_reaches_column_s),
        cmocka_unit_test(test_build_clos__leaf_spine_names_and_counts),
        cmocka_unit_test(test_build_clos__four_to_one_of_8192),
        cmocka_unit_test(test_build_clos__16384_gpus_in_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
