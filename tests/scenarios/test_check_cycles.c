/* test_check_cycles.c - rings in the buffer-dependency graph: found where routes turn, absent where they go up and down. */
#include "tests/scenarios/site_fixture.h"

#include "scenarios/check.h"

static char *write_file(const char *name, const char *text)
{
    char *path = g_build_filename(g_get_tmp_dir(), name, NULL);
    if (!g_file_set_contents(path, text, -1, NULL))
        fail_msg("cannot write %s", path);
    return path;
}

static struct check_report *look(const char *text)
{
    g_autoptr(GError) err = NULL;
    struct scenario *scenario = scenario_parse("f.ini", text, strlen(text), &err);
    struct check_report *report = scenario ? check_scenario(scenario, &err) : NULL;
    scenario_free(scenario);
    if (!report)
        fail_msg("%s", err->message);
    return report;
}

/* How many findings ID there are, and that one of them says SAYS. */
static uint32_t count(const struct check_report *report, const char *id, const char *says)
{
    uint32_t n = 0;
    bool said = says == NULL;
    for (guint i = 0; i < report->findings->len; i++) {
        const struct check_finding *finding = report->findings->pdata[i];
        if (strcmp(finding->id, id) != 0)
            continue;
        n++;
        said |= says && strstr(finding->what, says);
        if (says && !said)
            print_message("%s\n", finding->what);
    }
    if (n > 0 && !said)
        fail_msg("no %s says '%s'", id, says);
    return n;
}

static uint32_t count_in(const char *text, const char *id, const char *says)
{
    struct check_report *report = look(text);
    uint32_t n = count(report, id, says);
    check_report_free(report);
    return n;
}

/* ---- ring of three, routes clockwise (cases.md 25) ------------------------------------ */

#define RING3 "node_a,node_b,rate_gbps,delay_ns\n0,3,100,1000\n1,4,100,1000\n2,5,100,1000\n3,4,100,1000\n4,5,100,1000\n5,3,100,1000\n"
#define CLOCKWISE "flow,data_path,ack_path\n0,0-3-4-5-2,2-5-3-0\n1,1-4-5-3-0,0-3-4-1\n2,2-5-3-4-1,1-4-5-2\n"
#define DIRECT "flow,data_path,ack_path\n0,0-3-5-2,2-5-3-0\n1,1-4-3-0,0-3-4-1\n2,2-5-4-1,1-4-5-2\n"
#define RING3_FLOWS "flow,src,dst,bytes,start,class\n0,0,2,1000,0us,3\n1,1,0,1000,0us,3\n2,2,1,1000,0us,3\n"

static char *ring3(const char *paths, const char *flows, const char *rest)
{
    g_autofree char *topology = write_file("test_check_ring.topo.csv", RING3);
    g_autofree char *path_file = write_file("test_check_ring.paths.csv", paths);
    g_autofree char *flow_file = write_file("test_check_ring.flows.csv", flows);
    return g_strdup_printf("[topology]\nkind = edges\nfile = %s\n[routing]\nmode = static\n[workload]\nkind = flows\nfile = %s\npaths = %s\n%s", topology,
                           flow_file, path_file, rest);
}

static void test_check_cycles__a_ring_of_static_routes_is_told_link_by_link(void **state)
{
    (void)state;
    g_autofree char *text = ring3(CLOCKWISE, RING3_FLOWS, "");
    struct check_report *report = look(text);
    assert_int_equal(count(report, "buffer-cycle", "priority group 3: switch3 -> switch4 -> switch5 -> switch3"), 1);
    assert_int_equal(count(report, "deadlock-unwatched", NULL), 1);
    const struct check_finding *ring = report->findings->pdata[0];
    assert_int_equal(ring->severity, CHECK_ERROR);
    assert_int_equal(ring->places->len, 3);
    assert_int_equal(ring->terms->len, 3);
    check_report_free(report);
    g_autofree char *watched = ring3(CLOCKWISE, RING3_FLOWS, "[pfcwd]\nenabled = true\n");
    assert_int_equal(count_in(watched, "deadlock-unwatched", NULL), 0);
    assert_int_equal(count_in(watched, "buffer-cycle", NULL), 1);
}

static void test_check_cycles__without_turn_pause_or_common_class_there_is_none(void **state)
{
    (void)state;
    g_autofree char *direct = ring3(DIRECT, RING3_FLOWS, "");
    g_autofree char *lossy = ring3(CLOCKWISE, RING3_FLOWS, "[pfc]\nenabled = false\n");
    g_autofree char *one_hop_lossy = ring3(CLOCKWISE, RING3_FLOWS, "[pfc:switch3/switch4]\nenabled = false\n");
    /* The third flow in another lossless class: a dateline. */
    g_autofree char *dateline = ring3(CLOCKWISE, "flow,src,dst,bytes,start,class\n0,0,2,1000,0us,3\n1,1,0,1000,0us,3\n2,2,1,1000,0us,4\n",
                                      "[pfc]\nlossless_classes = 3,4\n");
    assert_int_equal(count_in(direct, "buffer-cycle", NULL), 0);
    assert_int_equal(count_in(lossy, "buffer-cycle", NULL), 0);
    assert_int_equal(count_in(one_hop_lossy, "buffer-cycle", NULL), 0);
    assert_int_equal(count_in(dateline, "buffer-cycle", NULL), 0);
}

/* Two classes whose packets fall into one priority group depend on each other as one. */
static void test_check_cycles__classes_of_one_priority_group_close_a_ring(void **state)
{
    (void)state;
    const char *flows = "flow,src,dst,bytes,start,class\n0,0,2,1000,0us,3\n1,1,0,1000,0us,3\n2,2,1,1000,0us,4\n";
    g_autofree char *apart = ring3(CLOCKWISE, flows, "[pfc]\nlossless_classes = 3,4\n");
    g_autofree char *together = ring3(CLOCKWISE, flows, "[qos]\ntc_to_pg = 0-7:0 3:3 4:3 6:6\ntc_to_queue = 0-7:0 3:3 4:3 6:6\n");
    assert_int_equal(count_in(apart, "buffer-cycle", NULL), 0);
    assert_int_equal(count_in(together, "buffer-cycle", "switch3 -> switch4 -> switch5 -> switch3"), 1);
}

/* ---- routing tables ---------------------------------------------------------------------- */

/* N switches in a ring, a host each. */
static char *ring_of(uint32_t n)
{
    g_autoptr(GString) links = g_string_new("node_a,node_b,rate_gbps,delay_ns\n");
    for (uint32_t i = 0; i < n; i++)
        g_string_append_printf(links, "%u,%u,100,1000\n", i, n + i);
    for (uint32_t i = 0; i < n; i++)
        g_string_append_printf(links, "%u,%u,100,1000\n", n + i, n + (i + 1) % n);
    g_autofree char *name = g_strdup_printf("test_check_ring_%u.topo.csv", n);
    g_autofree char *file = write_file(name, links->str);
    return g_strdup_printf("[topology]\nkind = edges\nfile = %s\n", file);
}

static void test_check_cycles__shortest_paths_in_a_ring_of_five_turn(void **state)
{
    (void)state;
    g_autofree char *three = ring_of(3), *five = ring_of(5);
    assert_int_equal(count_in(three, "buffer-cycle", NULL), 0);
    /* Both ways round. */
    assert_int_equal(count_in(five, "buffer-cycle", "switch5 -> switch6 -> switch7 -> switch8 -> switch9 -> switch5"), 2);
}

static void test_check_cycles__up_and_down_is_free_of_rings(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[topology]\nkind = fat_tree\nk = 8\n",
        "[topology]\nkind = leaf_spine\nhosts = 32\nleaves = 4\nspines = 4\nparallel_links = 2\n",
        "[topology]\nkind = rail_clos\nnodes = 32\ntiers = 3\nleaf_radix = 16\nspine_radix = 16\ncore_radix = 16\n",
        "[topology]\nkind = rail_clos\nnodes = 16\nplanes = 2\nleaf_radix = 16\nspine_radix = 16\n",
        "[topology]\nkind = star\nhosts = 9\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        assert_int_equal(count_in(texts[i], "buffer-cycle", NULL), 0);
}

/* leaf0 loses spine0, leaf1 loses spine1: between them a packet must go down to another leaf and up again. */
static void test_check_cycles__a_valley_after_faults(void **state)
{
    (void)state;
    const char *text = "[topology]\nkind = leaf_spine\nhosts = 8\nleaves = 4\nspines = 2\n"
                       "[fault:both]\nkind = link_down\nwhere = leaf0/spine0,leaf1/spine1\n";
    const char *three = "[topology]\nkind = leaf_spine\nhosts = 6\nleaves = 3\nspines = 3\n"
                        "[fault:all]\nkind = link_down\nwhere = leaf0/spine0,leaf1/spine1,leaf2/spine2,leaf0/spine1,leaf1/spine2,leaf2/spine0\n";
    const char *one = "[topology]\nkind = leaf_spine\nhosts = 8\nleaves = 4\nspines = 2\n[fault:one]\nkind = link_down\nwhere = leaf0/spine0\n";
    assert_int_equal(count_in(one, "buffer-cycle-after-fault", NULL), 0);
    assert_int_equal(count_in(three, "buffer-cycle-after-fault", NULL), 0); /* nobody reaches anybody */
    assert_true(count_in(text, "buffer-cycle-after-fault", "[fault:both]") > 0);
    assert_int_equal(count_in(text, "buffer-cycle", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_cycles__a_ring_of_static_routes_is_told_link_by_link),
        cmocka_unit_test(test_check_cycles__without_turn_pause_or_common_class_there_is_none),
        cmocka_unit_test(test_check_cycles__classes_of_one_priority_group_close_a_ring),
        cmocka_unit_test(test_check_cycles__shortest_paths_in_a_ring_of_five_turn),
        cmocka_unit_test(test_check_cycles__up_and_down_is_free_of_rings),
        cmocka_unit_test(test_check_cycles__a_valley_after_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
