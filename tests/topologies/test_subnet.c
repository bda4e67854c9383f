/* test_subnet.c - labels: unique, in order, and too many of them. */
#include "topology_fixture.h"
#include "topologies/subnet.h"

static void test_subnet__labels_are_unique_and_repeat(void **state)
{
    (void)state;
    struct fabric *f[2];
    for (int i = 0; i < 2; i++) {
        g_autoptr(GError) err = NULL;
        f[i] = fixture_build("kind=rail_clos nodes=4 gpus_per_node=4 leaf_radix=8 spine_radix=8");
        assert_true(subnet_label(f[i], &err));
        assert_true(subnet_label(f[i], &err)); /* has them already */
    }
    const struct net_graph *g = &f[0]->graph;
    const struct subnet *s = f[0]->subnet;
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (uint32_t p = 0; p < g->n_ports; p++) {
        assert_int_equal(s->device_guid[p], f[1]->subnet->device_guid[p]);
        assert_int_equal(s->port_lid[p], f[1]->subnet->port_lid[p]);
        bool nic = g->nodes[g->ports[p].node].kind == NET_HOST;
        assert_int_equal(s->port_lid[p] != 0, nic && g->ports[p].peer != NET_NONE);
        if (!nic)
            continue;
        assert_true(g_hash_table_add(seen, &s->device_guid[p])); /* each NIC is a device of its own */
        assert_int_equal(s->port_number[p], 1);
        assert_int_equal(s->port_of_lid[s->port_lid[p]], p);
    }
    g_autofree char *name = subnet_device_name(f[0], g->nodes[1].first_port + 2);
    assert_string_equal(name, "node1 mlx5_2");
    fabric_free(f[0]);
    fabric_free(f[1]);
}

static void test_subnet__a_lid_given_twice_is_refused(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=star hosts=2");
    struct subnet *s = subnet_new(f);
    g_autoptr(GError) err = NULL;
    s->port_lid[0] = s->port_lid[1] = 7;
    assert_false(subnet_index(f, s, &err));
    assert_non_null(strstr(err->message, "LID 7 belongs to"));
    subnet_free(s);
    fabric_free(f);
}

static void test_subnet__more_ports_than_lids(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=50000 leaf_radix=256 spine_radix=1024 leaf_oversubscription=8");
    g_autoptr(GError) err = NULL;
    assert_false(subnet_label(f, &err));
    assert_non_null(strstr(err->message, "allowed: 49151"));
    assert_null(f->subnet);
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subnet__labels_are_unique_and_repeat),
        cmocka_unit_test(test_subnet__a_lid_given_twice_is_refused),
        cmocka_unit_test(test_subnet__more_ports_than_lids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
