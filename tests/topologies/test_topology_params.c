/* test_topology_params.c - defaults and cross-checks of [topology] and [routing]. */
#include "topology_fixture.h"

static void test_topology_params__defaults_pass_their_check(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct param_bag *bag = fixture_bag("");
    assert_true(param_bag_check(bag, &error));
    const struct routing_params *routing = param_bag_get(bag, "routing");
    assert_true(routing->ecmp_seed_per_switch);
    assert_int_equal(routing->mode, ROUTING_ECMP);
    param_bag_free(bag);
}

static void test_topology_params__every_row_has_a_source_and_a_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < topology_param_group.n_rows; i++) {
        const struct param_desc *row = &topology_param_group.rows[i];
        assert_true(row->source[0] != '\0');
        assert_true(g_str_has_suffix(row->doc, "."));
    }
}

static void test_topology_params__kind_names_match_the_enum(void **state)
{
    (void)state;
    static const char *const names[] = {"star", "leaf_spine", "rail_clos", "fat_tree",
                                        "hpcc", "htsim",      "edges"};
    for (int i = 0; i <= TOPOLOGY_EDGES; i++) {
        g_autofree char *list = g_strconcat("kind=", names[i], NULL);
        struct param_bag *bag = fixture_bag(list);
        const struct topology_params *p = param_bag_get(bag, "topology");
        assert_int_equal(p->kind, i);
        param_bag_free(bag);
    }
}

static void test_topology_params__contradictions_name_their_key(void **state)
{
    (void)state;
    static const struct {
        const char *list, *part;
    } rows[] = {
        {"kind=edges", "topology.file: missing"},
        {"kind=star file=x.csv", "topology.file: 'x.csv'"},
        {"kind=fat_tree k=5", "topology.k: 5 is odd"},
        {"kind=leaf_spine tiers=3", "topology.tiers"},
        {"kind=rail_clos gpus_per_node=8 nics_per_node=3", "topology.nics_per_node: 3 does not divide"},
        {"kind=rail_clos gpus_per_node=8 nics_per_node=4 rails=8", "topology.rails: 8 does not divide"},
        {"kind=rail_clos cores=4", "topology.cores: 4 cores need tiers = 3"},
        {"kind=rail_clos spine_oversubscription=2", "topology.spine_oversubscription"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        fixture_refused(rows[i].list, rows[i].part);
}

static void test_topology_params__unknown_hash_fields_are_refused(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct param_bag *bag = fixture_bag("");
    assert_true(param_bag_set_assignment(bag, "routing.hash_fields=src,vlan", PARAM_BY_COMMAND_LINE, "--set", &error));
    assert_false(param_bag_check(bag, &error));
    assert_string_equal(error->message, "--set: routing.hash_fields: 'vlan' is no field; allowed: src, dst, protocol, sport, dport, qpn, each once");
    param_bag_free(bag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topology_params__defaults_pass_their_check),
        cmocka_unit_test(test_topology_params__every_row_has_a_source_and_a_sentence),
        cmocka_unit_test(test_topology_params__kind_names_match_the_enum),
        cmocka_unit_test(test_topology_params__contradictions_name_their_key),
        cmocka_unit_test(test_topology_params__unknown_hash_fields_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
