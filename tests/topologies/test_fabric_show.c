/* test_fabric_show.c - the table and the drawing. */
#include "topology_fixture.h"

static char *text_of(void (*show)(const struct fabric *, FILE *), const struct fabric *f)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    show(f, out);
    fclose(out);
    return text; /* g_free() is free() */
}

static void assert_holds(const char *text, const char *pattern)
{
    if (!g_regex_match_simple(pattern, text, G_REGEX_MULTILINE, 0))
        fail_msg("no line like '%s' in:\n%s", pattern, text);
}

static void test_fabric_show__counts_rates_and_ratios(void **state)
{
    (void)state;
    struct fabric *f =
        fixture_build("kind=rail_clos nodes=32 gpus_per_node=4 leaf_radix=24 leaf_oversubscription=2");
    g_autofree char *text = text_of(fabric_show, f);
    assert_holds(text, "^kind +rail_clos$");
    assert_holds(text, "^hosts +32$");
    assert_holds(text, "^GPUs +128$");
    assert_holds(text, "^switches, tier 1 \\(leaf\\) +8 ");
    assert_holds(text, "^links +192$");
    assert_holds(text, "^links, tier 0-1 +128  400Gbps, 25ns one way$");
    assert_holds(text, "^links, tier 1-2 +64  400Gbps, 200ns one way$");
    assert_holds(text, "^oversubscription, tier 1 +2:1 ");
    assert_holds(text, "^bisection \\(each direction\\) +12\\.8 Tb/s$");
    fabric_free(f);
}

static void test_fabric_show__notes_of_importers_are_shown(void **state)
{
    (void)state;
    struct fabric *f = fabric_import_hpcc(TEST_DATA_DIR "/topologies/simai_8gpu.txt", NULL);
    g_autofree char *text = text_of(fabric_show, f);
    assert_holds(text, "simai_8gpu.txt:1: gpus_per_server and gpu_type ignored");
    fabric_free(f);
}

static void test_fabric_show__dot_has_every_node_and_link_once(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=8 leaves=2 spines=2 parallel_links=2");
    g_autofree char *text = text_of(fabric_dot, f);
    g_auto(GStrv) links = g_strsplit(text, " -- ", -1), nodes = g_strsplit(text, "[shape=", -1);
    assert_int_equal(g_strv_length(links) - 1, 8 + 8);
    assert_int_equal(g_strv_length(nodes) - 1, 8 + 4);
    assert_holds(text, "\"leaf1\" -- \"spine0\" \\[label=\"400Gbps\"\\];");
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fabric_show__counts_rates_and_ratios),
        cmocka_unit_test(test_fabric_show__notes_of_importers_are_shown),
        cmocka_unit_test(test_fabric_show__dot_has_every_node_and_link_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
