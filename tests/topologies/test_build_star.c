/* test_build_star.c - one switch. */
#include "topology_fixture.h"

static void test_build_star__counts_and_port_order(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=star hosts=17 host_rate=100Gbps host_delay=1us");
    assert_int_equal(f->graph.n_nodes, 18);
    assert_int_equal(f->n_links, 17);
    assert_int_equal(f->graph.n_endpoints, 17);
    assert_string_equal(f->names[16], "node16");
    assert_string_equal(f->names[17], "leaf0");
    for (uint32_t i = 0; i < 17; i++)
        assert_int_equal(fixture_far(f, 17, i), i);
    assert_int_equal(f->graph.ports[0].rate_bps, 100 * UNIT_GBPS);
    assert_int_equal(f->graph.ports[0].delay_ps, UNIT_US);
    fabric_free(f);
}

static void test_build_star__delay_follows_the_cable(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=star hosts=2 host_cable=300m");
    assert_int_equal(f->graph.ports[0].delay_ps, 1500 * UNIT_NS);
    fabric_free(f);
}

static void test_build_star__a_switch_has_16_bits_of_ports(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=star hosts=65535");
    assert_int_equal(f->graph.nodes[65535].n_ports, 65535);
    fabric_free(f);
    fixture_refused("kind=star hosts=65536", "topology.hosts: 65536");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_star__counts_and_port_order),
        cmocka_unit_test(test_build_star__delay_follows_the_cable),
        cmocka_unit_test(test_build_star__a_switch_has_16_bits_of_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
