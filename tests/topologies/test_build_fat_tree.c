/* test_build_fat_tree.c - k-ary fat trees against their closed forms. */
#include "topology_fixture.h"

static void assert_closed_forms(uint32_t k)
{
    g_autofree char *list = g_strdup_printf("kind=fat_tree k=%u", k);
    struct fabric *f = fixture_build(list);
    assert_int_equal(fixture_count(f, NET_HOST, 0), k * k * k / 4);
    assert_int_equal(fixture_count(f, NET_SWITCH, 1), k * k / 2);
    assert_int_equal(fixture_count(f, NET_SWITCH, 2), k * k / 2);
    assert_int_equal(fixture_count(f, NET_SWITCH, 3), k * k / 4);
    assert_int_equal(f->n_links, 3 * (k * k * k / 4));
    for (uint32_t i = 0; i < f->graph.n_nodes; i++)
        assert_int_equal(f->graph.nodes[i].n_ports, f->graph.nodes[i].kind == NET_HOST ? 1 : k);
    fabric_free(f);
}

static void test_build_fat_tree__counts_follow_k(void **state)
{
    (void)state;
    static const uint32_t ks[] = {2, 4, 16, 32};
    for (size_t i = 0; i < G_N_ELEMENTS(ks); i++)
        assert_closed_forms(ks[i]);
}

static void test_build_fat_tree__port_p_of_a_core_leads_to_pod_p(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=fat_tree k=4");
    uint32_t agg0 = fixture_node(f, "agg0");
    for (uint32_t core = 0; core < 4; core++)
        for (uint32_t pod = 0; pod < 4; pod++) {
            uint32_t agg = fixture_far(f, fixture_node(f, "core0") + core, pod) - agg0;
            assert_int_equal(agg / 2, pod);      /* its pod */
            assert_int_equal(agg % 2, core / 2); /* its place there */
        }
    fabric_free(f);
}

static void test_build_fat_tree__each_tier_has_its_rate_and_delay(void **state)
{
    (void)state;
    struct fabric *f =
        fixture_build("kind=fat_tree k=4 host_rate=100Gbps leaf_rate=200Gbps spine_rate=400Gbps "
                      "host_delay=1us leaf_delay=2us spine_delay=3us");
    for (uint32_t p = 0; p < f->graph.n_ports; p++) {
        const struct net_port *port = &f->graph.ports[p];
        uint32_t a = f->graph.nodes[port->node].tier,
                 b = f->graph.nodes[f->graph.ports[port->peer].node].tier;
        uint32_t low = MIN(a, b);
        assert_int_equal(port->rate_bps, (100 << low) * UNIT_GBPS);
        assert_int_equal(port->delay_ps, (low + 1) * UNIT_US);
    }
    fabric_free(f);
}

/* The reference's fat tree has the same counts. */
static void test_build_fat_tree__k16_matches_the_reference_file(void **state)
{
    (void)state;
    g_autofree char *path = fixture_shared("reference/fattree_k16.topo.csv");
    if (!path)
        skip();
    g_autoptr(GError) error = NULL;
    struct fabric *ours = fixture_build("kind=fat_tree k=16");
    struct fabric *theirs = fabric_import_edges(path, &error);
    assert_non_null(theirs);
    assert_int_equal(ours->n_links, theirs->n_links);
    for (int tier = 0; tier <= 3; tier++)
        assert_int_equal(fixture_count(ours, tier ? NET_SWITCH : NET_HOST, tier),
                         fixture_count(theirs, tier ? NET_SWITCH : NET_HOST, tier));
    fabric_free(ours);
    fabric_free(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_fat_tree__counts_follow_k),
        cmocka_unit_test(test_build_fat_tree__port_p_of_a_core_leads_to_pod_p),
        cmocka_unit_test(test_build_fat_tree__each_tier_has_its_rate_and_delay),
        cmocka_unit_test(test_build_fat_tree__k16_matches_the_reference_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
