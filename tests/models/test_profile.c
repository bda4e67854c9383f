/* test_profile.c - what settings make of ports: shared profiles, maps, mistakes on one hop, pools that do not fit. */
#include "models/profile.h"
#include "tests/models/net_fixture.h"

#include <string.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)

/* Values of one group differ at one node. */
struct odd { const struct net_fixture *f; enum net_params kind; uint32_t node; const void *values; };

static const void *base_of(const struct odd *odd, enum net_params kind)
{
    static const char *const names[NET_N_PARAMS] = {"link", "switch", "qos", "buffer", "pfc", "pfcwd", "ecn", "nic"};
    return param_bag_get(odd->f->bag, names[kind]);
}
static const void *at_node(void *user, enum net_params kind, uint32_t node)
{
    const struct odd *odd = user;
    return kind == odd->kind && node == odd->node ? odd->values : base_of(odd, kind);
}
static const void *at_port(void *user, enum net_params kind, uint32_t port, uint32_t class)
{
    const struct odd *odd = user;
    (void)class;
    return at_node(user, kind, odd->f->graph.ports[port].node);
}

/* Four hosts send to host 4 behind a second switch, whose settings are odd. */
static struct net_totals through(struct odd *odd, const struct net_site *site, const char *const *settings, struct net_fixture *f)
{
    net_fixture_init(f);
    net_fixture_two_switches(f, 4, 1, G100, G100, CABLE);
    net_fixture_set_all(f, (const char *const[]){"nic.congestion_control=none", "buffer.size=1MB", "nic.local_ack_timeout=6", NULL});
    net_fixture_set_all(f, settings);
    for (uint32_t i = 0; i < 4; i++)
        net_fixture_message(f, i, 4, 1000000);
    f->config.site = odd ? site : NULL;
    if (odd)
        odd->f = f;
    net_fixture_run(f);
    return net_fixture_totals(f);
}

static void test_profile__equal_ports_share_one(void **state)
{
    (void)state;
    struct net_fixture f;
    through(NULL, NULL, (const char *const[]){NULL}, &f);
    const struct port_profile *seen[16];
    uint32_t n = 0;
    for (uint32_t p = 0; p < f.net->n_ports; p++) {
        bool known = false;
        for (uint32_t i = 0; i < n; i++)
            known |= seen[i] == f.net->port[p].profile;
        if (!known)
            seen[n++] = f.net->port[p].profile;
    }
    assert_int_equal(n, 2); /* hosts, switches */
    net_fixture_release(&f);
}

/* PFC off at the first switch alone: it drops what a lossless fabric would not. */
static void test_profile__pfc_off_on_one_hop_loses(void **state)
{
    (void)state;
    struct net_fixture f;
    struct net_totals healthy = through(NULL, NULL, (const char *const[]){NULL}, &f);
    assert_int_equal(healthy.drop_pkts, 0);
    assert_true(healthy.pause_frames > 0);
    struct pfc_params off = *(const struct pfc_params *)param_bag_get(f.bag, "pfc");
    off.enabled = false;
    off.lossless_classes = (char *)"3"; /* the bag's text goes with the bag */
    net_fixture_release(&f);
    struct odd odd = {.kind = NET_PARAMS_PFC, .node = 5, .values = &off};
    struct net_site site = {.at_port = at_port, .at_node = at_node, .user = &odd};
    struct net_totals t = through(&odd, &site, (const char *const[]){"buffer.lossy_alpha=1/8", NULL}, &f);
    assert_true(t.drop_pkts > 0);
    assert_int_equal(t.pause_frames, 0);
    net_fixture_release(&f);
}

/* Quanta and their repetition are those of the place that pauses. */
static void test_profile__quanta_differ_by_place(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    struct pfc_params base = *(const struct pfc_params *)param_bag_get(f.bag, "pfc");
    net_fixture_release(&f);
    base.lossless_classes = (char *)"3";
    for (int timed = 0; timed < 2; timed++) {
        struct pfc_params other = base;
        other.quanta = 1000;
        other.timed = timed;
        struct odd odd = {.kind = NET_PARAMS_PFC, .node = 5, .values = &other};
        struct net_site site = {.at_port = at_port, .at_node = at_node, .user = &odd};
        struct net_totals t = through(&odd, &site, (const char *const[]){NULL}, &f);
        assert_true(t.pause_frames > 0);
        g_autoptr(GArray) events = net_pause_events(f.net);
        uint32_t from_odd = 0;
        for (guint i = 0; i < events->len; i++) {
            const struct net_pause_event *e = &g_array_index(events, struct net_pause_event, i);
            bool odd_one = f.graph.ports[f.graph.ports[e->port].peer].node == 5;
            from_odd += odd_one && e->quanta != 0;
            if (e->quanta != 0)
                assert_int_equal(e->quanta, !odd_one ? 65535 : timed ? 1000 : PACKET_PAUSE_FOREVER);
        }
        assert_true(from_odd > 0);
        net_fixture_release(&f);
    }
}

/* The first switch puts DSCP 24 into class 1, which is not lossless: dropped, though PFC is on. */
static void test_profile__swapped_priority_loses(void **state)
{
    (void)state;
    struct net_fixture f;
    struct qos_params swapped;
    net_fixture_init(&f);
    swapped = *(const struct qos_params *)param_bag_get(f.bag, "qos");
    net_fixture_release(&f);
    swapped.dscp_to_tc = (char *)"0-63:0 24:1 48:6";
    swapped.pcp_to_tc = swapped.tc_to_queue = swapped.tc_to_pg = swapped.pfc_to_queue = swapped.pfc_to_pg =
        (char *)"0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7";
    struct odd odd = {.kind = NET_PARAMS_QOS, .node = 5, .values = &swapped};
    struct net_site site = {.at_port = at_port, .at_node = at_node, .user = &odd};
    struct net_totals t = through(&odd, &site, (const char *const[]){"buffer.lossy_alpha=1/8", NULL}, &f);
    assert_true(t.drop_pkts > 0);
    assert_int_equal(t.lossless_drop_pkts, 0);
    struct net_class_view q1, q3;
    net_class_view(f.net, net_fixture_port(&f, 5, 6), 1, &q1);
    net_class_view(f.net, net_fixture_port(&f, 5, 6), 3, &q3);
    assert_true(q1.tx_data_pkts > 900 && q3.tx_data_pkts == 0);
    net_fixture_release(&f);
}

static void refuses(const char *const *settings, const char *what)
{
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, G100, CABLE);
    net_fixture_set_all(&f, settings);
    net_fixture_message(&f, 0, 1, 4096);
    assert_null(net_fixture_new(&f, &err));
    if (!strstr(err->message, what))
        fail_msg("'%s' does not say '%s'", err->message, what);
    net_fixture_release(&f);
}

static void test_profile__pools_must_fit(void **state)
{
    (void)state;
    refuses((const char *const[]){"buffer.size=20KB", NULL}, "buffer.size: sw needs");
    refuses((const char *const[]){"buffer.ingress_pool=65MB", NULL}, "+ ingress pool");
    refuses((const char *const[]){"buffer.headroom_pool=65MB", NULL}, "buffer.size: sw needs");
    refuses((const char *const[]){"ecn.kmin=50Gbps:1KB", NULL}, "no value for 100Gbps links");
}

/* Slices: a port can use its own part alone, so that one congested port stops earlier. */
static void test_profile__slices_part_the_pool(void **state)
{
    (void)state;
    int64_t most[2];
    for (int i = 0; i < 2; i++) {
        struct net_fixture f;
        through(NULL, NULL, (const char *const[]){i ? "buffer.slices=4" : "buffer.slices=1", NULL}, &f);
        most[i] = net_fixture_port_view(&f, 5, 0).ingress_max_bytes;
        net_fixture_release(&f);
    }
    assert_true(most[1] < most[0] * 3 / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile__equal_ports_share_one),
        cmocka_unit_test(test_profile__pfc_off_on_one_hop_loses),
        cmocka_unit_test(test_profile__quanta_differ_by_place),
        cmocka_unit_test(test_profile__swapped_priority_loses),
        cmocka_unit_test(test_profile__pools_must_fit),
        cmocka_unit_test(test_profile__slices_part_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
