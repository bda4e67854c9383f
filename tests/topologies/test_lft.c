/* test_lft.c - engines on trees whose right answer is known, files of tables, and what is refused. */
#include "topology_fixture.h"
#include "topologies/lft.h"

static struct lft_quality judged(const struct lft *lft, const struct fabric *f)
{
    g_autoptr(GError) err = NULL;
    struct lft_quality q;
    if (!lft_judge(lft, f, &q, &err))
        fail_msg("%s", err->message);
    return q;
}

static struct lft *computed(struct fabric *f, enum lft_engine engine)
{
    g_autoptr(GError) err = NULL;
    if (!subnet_label(f, &err))
        fail_msg("%s", err->message);
    struct lft *lft = lft_compute(f, engine, &err);
    if (!lft)
        fail_msg("%s", err->message);
    return lft;
}

static const struct { const char *list; uint32_t uplink, shift; } trees[] = {
    {"kind=leaf_spine hosts=16 leaf_radix=8 spine_radix=4", 3, 1},                                      /* 12 far NICs over 4 spines */
    {"kind=leaf_spine hosts=64 leaf_radix=12 spine_radix=8 spines=4 leaves=8", 14, 2},                  /* 2:1: 56 over 4 */
    {"kind=leaf_spine hosts=256 leaf_radix=32 spine_radix=32 leaves=16 spines=8 parallel_links=2", 15, 1}, /* 240 over 16 links */
    {"kind=fat_tree k=8", 31, 1},                                                                       /* 124 over 4 */
};

/* On full trees every uplink carries the same number of destinations, and each cyclic shift is free of contention. */
static void test_lft__ftree_balances_and_shifts_do_not_contend(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(trees); i++) {
        struct fabric *f = fixture_build(trees[i].list);
        struct lft *lft = computed(f, LFT_FTREE);
        struct lft_quality q = judged(lft, f);
        assert_int_equal(q.up_min, trees[i].uplink);
        assert_int_equal(q.up_max, trees[i].uplink);
        assert_int_equal(q.shift_worst, trees[i].shift);
        assert_true(q.deadlock_free);
        lft_free(lft);
        fabric_free(f);
    }
}

static void test_lft__updn_and_minhop_balance_uplinks(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(trees); i++)
        for (int e = LFT_MINHOP; e <= LFT_UPDN; e++) {
            struct fabric *f = fixture_build(trees[i].list);
            struct lft *lft = computed(f, (enum lft_engine)e);
            struct lft_quality q = judged(lft, f);
            assert_int_equal(q.up_min, trees[i].uplink);
            assert_int_equal(q.up_max, trees[i].uplink);
            assert_true(q.deadlock_free);
            lft_free(lft);
            fabric_free(f);
        }
}

/* Leaves with few NICs are filled with dummies: the nth NIC of every leaf comes down over spine n, as if all were full. */
static void test_lft__missing_nics_keep_the_counters_in_step(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=14 leaf_radix=8 spine_radix=4 leaves=4 spines=4");
    struct lft *lft = computed(f, LFT_FTREE);
    struct lft_quality q = judged(lft, f);
    assert_int_equal(q.up_min, 2);
    assert_int_equal(q.up_max, 3);
    lft_free(lft);
    fabric_free(f);
}

/* What is written is read back; so are the other two forms. */
static void test_lft__files_round_trip(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=fat_tree k=4");
    struct lft *lft = computed(f, LFT_FTREE);
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "fabricast_lft_XXXXXX", NULL);
    int fd = g_mkstemp(path);
    FILE *out = fdopen(fd, "w");
    lft_write(lft, f, out);
    fclose(out);
    g_autoptr(GError) err = NULL;
    struct lft *back = lft_read(f, path, &err);
    if (!back)
        fail_msg("%s", err->message);
    assert_memory_equal(back->port, lft->port, (size_t)lft->n_nodes * (lft->max_lid + 1));
    lft_free(back);

    g_autofree char *fdbs = g_strdup_printf("osm_ucast_mgr_dump_ucast_routes: Switch 0x%016" G_GINT64_MODIFIER "x\nLID    : Port : Hops : Optimal\n"
                                            "0x0001 : 000  : 00   : yes\n0x0002 : 007  : 02   : yes\n0x0003 : UNREACHABLE\n",
                                            f->subnet->node_guid[16]);
    assert_true(g_file_set_contents(path, fdbs, -1, NULL));
    back = lft_read(f, path, &err);
    if (!back)
        fail_msg("%s", err->message);
    assert_int_equal(lft_get(back, 16, 2), 7);
    assert_int_equal(lft_get(back, 16, 3), LFT_NONE);
    lft_free(back);
    g_unlink(path);
    lft_free(lft);
    fabric_free(f);
}

static void test_lft__bad_files_are_named_by_line(void **state)
{
    (void)state;
    static const struct { const char *text, *message; } bad[] = {
        {"hello\n", ":1: 'hello' belongs to no known format"},
        {"", ": no forwarding table in it"},
        {"0x0001 003\n", ":1: a row before the name of a switch"},
        {"Unicast lids [0-4] of switch Lid 1 guid 0x0123 ('x'):\n", ":1: no switch of the topology has the GUID 0x0000000000000123"},
        {"Unicast lids [0-4] of switch Lid 1 guid 0x0200000000010000 ('x'):\n0x0001 999\n", ":2: port 999"},
        {"Unicast lids [0-4] of switch Lid 1 guid 0x0200000000010000 ('x'):\n0x7000 001\n", ":2: LID 28672"},
        {"Unicast lids [0-4] of switch Lid 1 guid 0x0200000000010000 ('x'):\n0x0001 abc\n", ":2: 'abc' is no port number"},
        {"Unicast lids [0-4] of switch Lid 1 guid 0x0200000000010000 ('x'):\n0x0001 001 # Switch portguid 0x99: 'y'\n", ":2: no port of the topology"},
        {"Unicast lids of switch\n", ":1: a heading without the GUID"},
    };
    struct fabric *f = fixture_build("kind=leaf_spine hosts=4 leaves=2 spines=1");
    g_autoptr(GError) label = NULL;
    assert_true(subnet_label(f, &label));
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "fabricast_lft_XXXXXX", NULL);
    close(g_mkstemp(path));
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) err = NULL;
        assert_true(g_file_set_contents(path, bad[i].text, -1, NULL));
        assert_null(lft_read(f, path, &err));
        if (!strstr(err->message, bad[i].message))
            fail_msg("%s\ndoes not say %s", err->message, bad[i].message);
    }
    g_unlink(path);
    fabric_free(f);
}

/* Entries changed by hand: a loop, a hole and a ring are found. */
static void test_lft__loops_holes_and_rings_are_found(void **state)
{
    (void)state;
    struct fabric *f = fixture_build("kind=leaf_spine hosts=6 leaves=3 spines=2");
    struct lft *lft = computed(f, LFT_FTREE);
    const struct net_graph *g = &f->graph;
    uint32_t leaf0 = 6, spine0 = 9, dst = g->endpoints[5].port, lid = f->subnet->port_lid[dst];
    uint32_t ports[16];
    g_autoptr(GError) err = NULL;
    assert_int_equal(lft_path(lft, f, g->endpoints[0].port, dst, ports, 16, &err), 4);
    uint32_t kept = lft_get(lft, leaf0, lid);
    lft_set(lft, leaf0, lid, LFT_NONE);
    assert_int_equal(lft_path(lft, f, g->endpoints[0].port, dst, ports, 16, &err), -1);
    assert_non_null(strstr(err->message, "leaf0 has no port for LID"));
    g_clear_error(&err);
    lft_set(lft, leaf0, lid, 3); /* up to spine 0, which sends it down again */
    lft_set(lft, spine0, lid, 1);
    assert_int_equal(lft_path(lft, f, g->endpoints[0].port, dst, ports, 16, &err), -1);
    assert_non_null(strstr(err->message, "the tables loop"));
    lft_set(lft, leaf0, lid, kept);
    lft_free(lft);
    fabric_free(f);
}

/* minhop in a ring of five switches, each with a host, two hops apart at most: links wait for each other, and updn has no such ways. */
static void test_lft__minhop_in_a_ring_can_deadlock(void **state)
{
    (void)state;
    struct fabric_builder *b = fabric_builder_new("edges");
    for (int i = 0; i < 5; i++)
        fabric_add_node(b, NET_HOST, 0, "h%d", i);
    for (int i = 0; i < 5; i++)
        fabric_add_node(b, NET_SWITCH, 1, "s%d", i);
    for (uint32_t i = 0; i < 5; i++)
        fabric_add_link(b, i, 5 + i, 100 * UNIT_GBPS, UNIT_NS);
    for (uint32_t i = 0; i < 5; i++)
        fabric_add_link(b, 5 + i, 5 + (i + 1) % 5, 100 * UNIT_GBPS, UNIT_NS);
    g_autoptr(GError) err = NULL;
    struct fabric *f = fabric_builder_finish(b, 1, 1, &err);
    assert_non_null(f);
    struct lft *lft = computed(f, LFT_MINHOP);
    struct lft_quality q = judged(lft, f);
    assert_false(q.deadlock_free);
    assert_non_null(strstr(q.ring, "s0 -> s1"));
    g_free(q.ring);
    lft_free(lft);
    assert_null(lft_compute(f, LFT_UPDN, &err)); /* all of one tier: there is no up */
    assert_non_null(strstr(err->message, "no way up and down from s"));
    g_clear_error(&err);
    assert_null(lft_compute(f, LFT_FTREE, &err));
    assert_non_null(strstr(err->message, "are no neighbours in a tree"));
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lft__ftree_balances_and_shifts_do_not_contend),
        cmocka_unit_test(test_lft__updn_and_minhop_balance_uplinks),
        cmocka_unit_test(test_lft__missing_nics_keep_the_counters_in_step),
        cmocka_unit_test(test_lft__files_round_trip),
        cmocka_unit_test(test_lft__bad_files_are_named_by_line),
        cmocka_unit_test(test_lft__loops_holes_and_rings_are_found),
        cmocka_unit_test(test_lft__minhop_in_a_ring_can_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
