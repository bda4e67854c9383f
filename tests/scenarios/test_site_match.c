/* Tests of scenarios/site_match.c: the form of selectors, and what they match. */
#include "tests/scenarios/site_fixture.h"

static void test_site_match__forms_are_read(void **state)
{
    (void)state;
    static const struct { const char *text; bool peer; int64_t index; uint8_t classes; } rows[] = {
        {"leaf0", false, -1, 0},         {" leaf* ", false, -1, 0},        {"leaf0/spine?", true, -1, 0},    {"leaf0/spine1:12", true, 12, 0},
        {"leaf0#0", false, -1, 0x01},    {"leaf0#3-4", false, -1, 0x18},   {"leaf0/gpu-*#0-7", true, -1, 0xff}, {"leaf0/a:1#7", true, 1, 0x80},
        {"leaf:1", false, -1, 0},        {"leaf0/spine:", true, -1, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GPtrArray) terms = site_parse(rows[i].text, NULL);
        assert_non_null(terms);
        const struct site_term *term = g_ptr_array_index(terms, 0);
        assert_int_equal(term->peer != NULL, rows[i].peer);
        assert_int_equal(term->index, rows[i].index);
        assert_int_equal(term->classes, rows[i].classes);
    }
    g_autoptr(GPtrArray) list = site_parse("leaf0, leaf1/spine0 ,spine*", NULL);
    assert_int_equal(list->len, 3);
    assert_string_equal(((const struct site_term *)g_ptr_array_index(list, 1))->text, "leaf1/spine0");
}

static void test_site_match__other_forms_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", " ", ",", "leaf0,", "/spine0", "leaf0/", "leaf0/:1", "leaf0#", "leaf0#8", "leaf0#4-3", "leaf0#3-", "#3", "leaf0#a", "\xff"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) err = NULL;
        if (site_parse(bad[i], &err))
            fail_msg("'%s' was read", bad[i]);
        assert_true(g_error_matches(err, PARAM_ERROR, PARAM_ERROR_SYNTAX));
    }
}

/* Number of ports that TEXT names; *N_NODES: of whole nodes. */
static uint32_t count(const struct fabric *fabric, const char *text, unsigned kinds, uint32_t *n_nodes)
{
    g_autoptr(GPtrArray) terms = site_parse(text, NULL);
    g_autofree uint8_t *nodes = g_malloc0(fabric->graph.n_nodes), *ports = g_malloc0(fabric->graph.n_ports);
    uint32_t n = *n_nodes = 0;
    assert_true(site_match(fabric, g_ptr_array_index(terms, 0), kinds, nodes, ports, NULL));
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++)
        *n_nodes += nodes[i];
    for (uint32_t p = 0; p < fabric->graph.n_ports; p++)
        n += ports[p];
    return n;
}

static void test_site_match__counts_by_hand(void **state)
{
    (void)state;
    /* 8 host ports, 2 leaves of 4 + 4 ports, 2 spines of 4. */
    static const struct { const char *text; unsigned kinds; uint32_t n_nodes, n_ports; } rows[] = {
        {"*", SITE_ALL, 12, 32},          {"*", SITE_HOSTS, 8, 8},           {"*", SITE_SWITCHES, 4, 24},   {"leaf?", SITE_ALL, 2, 16},
        {"leaf0", SITE_ALL, 1, 8},        {"leaf*/spine*", SITE_ALL, 0, 8},  {"leaf0/node*", SITE_ALL, 0, 4}, {"leaf0/spine1", SITE_ALL, 0, 2},
        {"leaf*/spine*:1", SITE_ALL, 0, 4}, {"*/*", SITE_ALL, 0, 32},        {"*/*:1", SITE_ALL, 0, 16 / 2}, {"*/leaf0", SITE_SWITCHES, 0, 4},
    };
    struct fixture f = fixture_new("");
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        uint32_t n_nodes, n_ports = count(f.fabric, rows[i].text, rows[i].kinds, &n_nodes);
        if (n_nodes != rows[i].n_nodes || n_ports != rows[i].n_ports)
            fail_msg("%s: %u nodes and %u ports, not %u and %u", rows[i].text, n_nodes, n_ports, rows[i].n_nodes, rows[i].n_ports);
    }
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_site_match__forms_are_read),
        cmocka_unit_test(test_site_match__other_forms_are_refused),
        cmocka_unit_test(test_site_match__counts_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
