/* test_link_table.c - rules for lists of node pairs. */
#include "topology_fixture.h"
#include "topologies/link_table.h"

static struct fabric *build(const uint8_t *roles, uint32_t n_nodes, const uint32_t (*pairs)[2], int n,
                            GError **err)
{
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(struct link_row));
    for (int i = 0; i < n; i++) {
        struct link_row row = {pairs[i][0], pairs[i][1], 10 + i, UNIT_GBPS, UNIT_NS};
        g_array_append_val(links, row);
    }
    return link_table_build("f.csv", "test", roles, n_nodes, links, err);
}

static void test_link_table__duplicates_at_hosts_name_both_lines(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    const uint8_t roles[] = {LINK_HOST, LINK_HOST, LINK_SWITCH};
    const uint32_t pairs[][2] = {{0, 2}, {1, 2}, {2, 0}};
    assert_null(build(roles, 3, pairs, 3, &error));
    assert_string_equal(error->message,
                        "f.csv:12: link 2-0 repeats line 10; only switches may have parallel links");
}

static void test_link_table__switches_may_have_parallel_links(void **state)
{
    (void)state;
    const uint8_t roles[] = {LINK_HOST, LINK_SWITCH, LINK_SWITCH};
    const uint32_t pairs[][2] = {{0, 1}, {1, 2}, {1, 2}, {2, 1}};
    struct fabric *f = build(roles, 3, pairs, 4, NULL);
    assert_non_null(f);
    assert_int_equal(f->graph.nodes[2].n_ports, 3);
    fabric_free(f);
}

static void test_link_table__self_links_and_lonely_nodes_are_errors(void **state)
{
    (void)state;
    const uint8_t roles[5] = {LINK_HOST, LINK_HOST, LINK_SWITCH, LINK_SWITCH, LINK_SWITCH};
    const uint32_t self[][2] = {{0, 2}, {1, 1}}, lonely[][2] = {{0, 2}, {1, 2}};
    g_autoptr(GError) error = NULL;
    assert_null(build(roles, 3, self, 2, &error));
    assert_string_equal(error->message, "f.csv:11: link from node 1 to itself");
    g_clear_error(&error);
    assert_null(build(roles, 4, lonely, 2, &error));
    assert_string_equal(error->message, "f.csv: node 3 has no link; ids run from 0 to 3");
    g_clear_error(&error);
    assert_null(build(roles, 5, lonely, 2, &error));
    assert_non_null(strstr(error->message, "5 nodes but only 2 links"));
}

static void test_link_table__endpoints_avoid_the_nvswitch(void **state)
{
    (void)state;
    const uint8_t roles[] = {LINK_HOST, LINK_NVSWITCH, LINK_SWITCH, LINK_HOST};
    const uint32_t pairs[][2] = {{0, 1}, {0, 2}, {3, 1}};
    struct fabric *f = build(roles, 4, pairs, 3, NULL);
    assert_non_null(f);
    assert_int_equal(f->graph.endpoints[0].port, 1); /* its second link */
    assert_int_equal(f->graph.endpoints[1].node, 3);
    assert_int_equal(f->graph.endpoints[1].port, f->graph.nodes[3].first_port); /* has no other */
    assert_string_equal(f->names[1], "nvswitch1");
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_table__duplicates_at_hosts_name_both_lines),
        cmocka_unit_test(test_link_table__switches_may_have_parallel_links),
        cmocka_unit_test(test_link_table__self_links_and_lonely_nodes_are_errors),
        cmocka_unit_test(test_link_table__endpoints_avoid_the_nvswitch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
