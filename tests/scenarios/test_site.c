/* Tests of scenarios/site.c: layers at ports, classes and nodes; which keys can be set where. */
#include "tests/scenarios/site_fixture.h"

static int64_t quanta(const struct site *site, uint32_t port)
{
    return ((const struct pfc_params *)site_at_port(site, NET_PARAMS_PFC, port, NET_SITE_ANY_CLASS))->quanta;
}

static int64_t reserved(const struct site *site, uint32_t port, uint32_t class)
{
    return ((const struct buffer_params *)site_at_port(site, NET_PARAMS_BUFFER, port, class))->reserved_bytes;
}

static void test_site__without_layers_the_group_holds_everywhere(void **state)
{
    (void)state;
    static const char *const names[] = {"link", "switch", "qos", "buffer", "pfc", "pfcwd", "ecn", "nic"};
    struct fixture f = fixture_new("");
    struct site *site = fixture_site(&f);
    for (int kind = 0; kind < NET_N_PARAMS; kind++) {
        const void *base = param_bag_get(f.scenario->bag, names[kind]);
        assert_ptr_equal(site_at_port(site, (enum net_params)kind, 0, NET_SITE_ANY_CLASS), base);
        assert_ptr_equal(site_at_port(site, (enum net_params)kind, f.fabric->graph.n_ports - 1, 7), base);
        assert_ptr_equal(site_at_node(site, (enum net_params)kind, 0), base);
    }
    site_free(site);
    site_free(NULL);
    fixture_free(&f);
}

static void test_site__a_peer_names_the_ports_that_face_it(void **state)
{
    (void)state;
    struct fixture f = fixture_new("[pfc]\nquanta = 10\n[pfc:leaf*]\nquanta = 20\n[pfc:leaf0/spine1]\nquanta = 30\n[pfc:leaf0/spine1:1]\nquanta = 40\n");
    struct site *site = fixture_site(&f);
    assert_int_equal(quanta(site, fixture_port(f.fabric, "leaf0", "spine1", 0)), 30);
    assert_int_equal(quanta(site, fixture_port(f.fabric, "leaf0", "spine1", 1)), 40);
    assert_int_equal(quanta(site, fixture_port(f.fabric, "leaf0", "spine0", 1)), 20);
    assert_int_equal(quanta(site, fixture_port(f.fabric, "leaf1", "spine1", 0)), 20);
    assert_int_equal(quanta(site, fixture_port(f.fabric, "spine1", "leaf0", 0)), 10); /* the other end is another place */
    assert_int_equal(quanta(site, fixture_port(f.fabric, "node0", "leaf0", 0)), 10);
    const struct pfc_params *node = site_at_node(site, NET_PARAMS_PFC, fixture_node(f.fabric, "leaf0"));
    assert_int_equal(node->quanta, 20); /* layers with a peer are not about the node */
    site_free(site);
    fixture_free(&f);
}

static void test_site__classes_differ_at_a_port(void **state)
{
    (void)state;
    struct fixture f = fixture_new("[buffer]\nreserved = 1000B\n[buffer:leaf*#3-4]\nreserved = 3000B\n[buffer:leaf0/spine0#4, leaf1]\nreserved = 4000B\n");
    struct site *site = fixture_site(&f);
    uint32_t up = fixture_port(f.fabric, "leaf0", "spine0", 0), down = fixture_port(f.fabric, "leaf0", "node0", 0);
    assert_int_equal(reserved(site, up, 2), 1000);
    assert_int_equal(reserved(site, up, 3), 3000);
    assert_int_equal(reserved(site, up, 4), 4000);
    assert_int_equal(reserved(site, up, 5), 1000);
    assert_int_equal(reserved(site, up, NET_SITE_ANY_CLASS), 1000);
    assert_int_equal(reserved(site, down, 4), 3000);
    uint32_t other = fixture_port(f.fabric, "leaf1", "spine0", 0);
    assert_int_equal(reserved(site, other, 0), 4000); /* a later layer without a class wins over one with it */
    assert_int_equal(reserved(site, other, 3), 4000);
    assert_int_equal(reserved(site, other, NET_SITE_ANY_CLASS), 4000);
    assert_int_equal(reserved(site, fixture_port(f.fabric, "spine0", "leaf0", 0), 3), 1000);
    site_free(site);
    fixture_free(&f);
}

static void test_site__nodes_have_keys_of_their_own(void **state)
{
    (void)state;
    struct fixture f = fixture_new("[buffer:leaf1]\nsize = 1MB\n[nic:node3, node5]\nretry_cnt = 3\n[switch:spine?]\nlatency = 1us\n");
    struct site *site = fixture_site(&f);
    const struct buffer_params *leaf1 = site_at_node(site, NET_PARAMS_BUFFER, fixture_node(f.fabric, "leaf1"));
    const struct buffer_params *leaf0 = site_at_node(site, NET_PARAMS_BUFFER, fixture_node(f.fabric, "leaf0"));
    assert_int_equal(leaf1->size_bytes, 1000000);
    assert_int_equal(leaf0->size_bytes, 64000000);
    for (int i = 0; i < 8; i++) {
        g_autofree char *name = g_strdup_printf("node%d", i);
        const struct nic_params *nic = site_at_node(site, NET_PARAMS_NIC, fixture_node(f.fabric, name));
        assert_int_equal(nic->retry_cnt, i == 3 || i == 5 ? 3 : 7);
        const void *port = site_at_port(site, NET_PARAMS_NIC, f.fabric->graph.endpoints[i].port, NET_SITE_ANY_CLASS);
        assert_int_equal(((const struct nic_params *)port)->retry_cnt, nic->retry_cnt);
    }
    const struct switch_params *spine = site_at_node(site, NET_PARAMS_SWITCH, fixture_node(f.fabric, "spine1"));
    assert_int_equal(spine->latency_ps, UNIT_US);
    site_free(site);
    fixture_free(&f);
}

static void test_site__what_cannot_be_is_named(void **state)
{
    (void)state;
    static const struct { const char *text, *message; } rows[] = {
        {"[pfc:leaf9]\nquanta = 7\n", "f.ini:8: [pfc:leaf9]: 'leaf9' matches no node; nodes are node0..node7, leaf0..leaf1, spine0..spine1"},
        {"[pfc:leaf0, leaf9]\n", "f.ini:8: [pfc:leaf0, leaf9]: 'leaf9' matches no node; nodes are"},
        {"[pfc:leaf0/node7]\n", "f.ini:8: [pfc:leaf0/node7]: 'leaf0/node7' matches no port; leaf0 faces node0..node3, spine0..spine1"},
        {"[pfc:leaf0/spine0:2]\n", "f.ini:8: [pfc:leaf0/spine0:2]: 'leaf0/spine0:2' matches no port; leaf0 faces node0..node3, "
                                   "spine0..spine1, and :INDEX counts parallel links from 0"},
        {"[buffer:node*]\n", "f.ini:8: [buffer:node*]: 'node*' matches no switch; switches are leaf0..leaf1, spine0..spine1"},
        {"[nic:leaf0]\n", "f.ini:8: [nic:leaf0]: 'leaf0' matches no host; hosts are node0..node7"},
        {"[pfc:leaf0#3]\n", "f.ini:8: [pfc:leaf0#3]: 'leaf0#3' names a class; allowed: in groups buffer and ecn alone"},
        {"[pfc:leaf0/]\n", "f.ini:8: [pfc:leaf0/]: 'leaf0/' is no place; allowed: NODE, NODE/PEER"},
        {"[buffer:leaf0/spine0]\nreserved = 1B\nsize = 1MB\n",
         "f.ini:10: [buffer:leaf0/spine0]: size: holds for a whole node; allowed: in [buffer] or [buffer:NODE]"},
        {"[buffer:leaf0, leaf1#3]\ncell = 208B\n", "f.ini:9: [buffer:leaf0, leaf1#3]: cell: holds for a whole node"},
        {"[switch:leaf0/*]\nforwarding = cut_through\n", "f.ini:9: [switch:leaf0/*]: forwarding: holds for a whole node"},
        {"[nic:node0/leaf0]\nmtu = 1024B\n", "f.ini:9: [nic:node0/leaf0]: mtu: holds for a whole node"},
        {"[nic:node0]\nretry_cnt = 3\nmtu = 1024B\n", "f.ini:10: [nic:node0]: mtu: holds for the whole run; allowed: in [nic]"},
        {"[link:*]\npfc_frame = 64B\n", "f.ini:9: [link:*]: pfc_frame: holds for the whole run; allowed: in [link]"},
        {"[pfc:leaf0]\nlossless_classes = 9\n", "f.ini:9: [pfc:leaf0]: lossless_classes: '9' is not a list of classes"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) err = NULL;
        struct fixture f = fixture_new(rows[i].text);
        assert_null(site_new(f.scenario->bag, f.fabric, &err));
        if (!g_str_has_prefix(err->message, rows[i].message))
            fail_msg("message is '%s', not '%s...'", err->message, rows[i].message);
        fixture_free(&f);
    }
}

static void assert_origin(const struct site *site, enum net_params kind, const char *key, uint32_t node, uint32_t port, uint32_t class,
                          const char *want)
{
    g_autofree char *origin = site_layer_origin(site, kind, key, node, port, class);
    if (g_strcmp0(origin, want) != 0)
        fail_msg("%s comes from '%s', not '%s'", key, origin ? origin : "the group", want ? want : "the group");
}

/* The last layer that holds at a place and sets the key; none where the group's own value is meant. */
static void test_site__values_know_their_layer(void **state)
{
    (void)state;
    struct fixture f = fixture_new("[ecn]\nkmin = 1KB\n[ecn:leaf*]\nkmin = 2KB\n[ecn:leaf0/spine1#3]\nkmin = 3KB\n[ecn:leaf0]\npmax = 0.5\n"
                                   "[buffer:leaf1]\nsize = 2MB\n");
    struct site *site = fixture_site(&f);
    uint32_t leaf0 = fixture_node(f.fabric, "leaf0"), leaf1 = fixture_node(f.fabric, "leaf1"), spine0 = fixture_node(f.fabric, "spine0");
    const struct net_node *nodes = f.fabric->graph.nodes;
    uint32_t to_node = nodes[leaf0].first_port, to_spine1 = nodes[leaf0].first_port + nodes[leaf0].n_ports - 1;
    assert_origin(site, NET_PARAMS_ECN, "kmin", leaf0, to_node, 3, "f.ini:11: [ecn:leaf*]");
    assert_origin(site, NET_PARAMS_ECN, "kmin", leaf0, to_spine1, 4, "f.ini:11: [ecn:leaf*]");
    assert_origin(site, NET_PARAMS_ECN, "kmin", leaf0, to_spine1, 3, "f.ini:13: [ecn:leaf0/spine1#3]");
    assert_origin(site, NET_PARAMS_ECN, "kmin", spine0, nodes[spine0].first_port, 3, NULL);
    assert_origin(site, NET_PARAMS_ECN, "pmax", leaf0, to_node, 3, "f.ini:15: [ecn:leaf0]");
    assert_origin(site, NET_PARAMS_BUFFER, "size", leaf1, NET_NONE, NET_SITE_ANY_CLASS, "f.ini:17: [buffer:leaf1]");
    assert_origin(site, NET_PARAMS_BUFFER, "size", leaf0, NET_NONE, NET_SITE_ANY_CLASS, NULL);
    site_free(site);
    fixture_free(&f);
}

static void test_site__only_combinations_that_occur_are_checked(void **state)
{
    (void)state;
    /* Together the two would break the rule that detection_time is not below poll_interval; they never meet. */
    struct fixture f = fixture_new("[pfcwd:leaf0]\npoll_interval = 1s\ndetection_time = 1s\nrestoration_time = 1s\n[pfcwd:leaf1]\ndetection_time = 300ms\n");
    site_free(fixture_site(&f));
    assert_true(scenario_set(f.scenario, "pfcwd:*.restoration_time=400ms", NULL));
    g_autoptr(GError) err = NULL;
    assert_null(site_new(f.scenario->bag, f.fabric, &err));
    assert_string_equal(err->message, "--set: [pfcwd:*]: restoration_time: restoration_time is below poll_interval; allowed: at least poll_interval");
    fixture_free(&f);
}

static void test_site__equal_places_share_their_values(void **state)
{
    (void)state;
    struct fixture f = fixture_new("[ecn:leaf*]\npmax = 0.5\n");
    struct site *site = fixture_site(&f);
    const void *a = site_at_port(site, NET_PARAMS_ECN, fixture_port(f.fabric, "leaf0", "spine0", 0), 3);
    assert_ptr_equal(a, site_at_port(site, NET_PARAMS_ECN, fixture_port(f.fabric, "leaf1", "node7", 0), 3));
    assert_ptr_not_equal(a, param_bag_get(f.scenario->bag, "ecn"));
    site_free(site);
    fixture_free(&f);
}

static void test_site__ports_are_found_by_name(void **state)
{
    (void)state;
    struct fixture f = fixture_new("");
    g_autoptr(GArray) two = site_ports(f.fabric, "leaf0/spine1", "--pcap", NULL);
    assert_int_equal(two->len, 2);
    assert_int_equal(g_array_index(two, uint32_t, 0), fixture_port(f.fabric, "leaf0", "spine1", 0));
    assert_int_equal(g_array_index(two, uint32_t, 1), fixture_port(f.fabric, "leaf0", "spine1", 1));
    g_autoptr(GArray) all = site_ports(f.fabric, "leaf0, leaf0/spine1", "--pcap", NULL);
    assert_int_equal(all->len, 8); /* each once */
    for (guint i = 1; i < all->len; i++)
        assert_true(g_array_index(all, uint32_t, i - 1) < g_array_index(all, uint32_t, i));
    static const char *const bad[] = {"", "leaf7", "leaf0/node7", "leaf0#3", "leaf0,", "\xff"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) err = NULL;
        assert_null(site_ports(f.fabric, bad[i], "--pcap", &err));
        assert_true(g_str_has_prefix(err->message, "--pcap: "));
    }
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_site__without_layers_the_group_holds_everywhere),
        cmocka_unit_test(test_site__a_peer_names_the_ports_that_face_it),
        cmocka_unit_test(test_site__classes_differ_at_a_port),
        cmocka_unit_test(test_site__nodes_have_keys_of_their_own),
        cmocka_unit_test(test_site__what_cannot_be_is_named),
        cmocka_unit_test(test_site__values_know_their_layer),
        cmocka_unit_test(test_site__only_combinations_that_occur_are_checked),
        cmocka_unit_test(test_site__equal_places_share_their_values),
        cmocka_unit_test(test_site__ports_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
