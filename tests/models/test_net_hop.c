/* test_net_hop.c - both ends of a link as the explanation of drops sees them, and the way of a queue pair. */
#include "models/net_fixture.h"

#define G100 (100 * UNIT_GBPS)

/* Hosts 0 and 1, switches s and t: 0 - s - t - 1. */
struct line { struct net_fixture f; uint32_t s_to_t, t_to_s, s_to_host; };

static void start(struct line *l, const char *const *settings)
{
    net_fixture_init(&l->f);
    uint32_t a = net_fixture_host(&l->f), b = net_fixture_host(&l->f);
    uint32_t s = net_fixture_node(&l->f, NET_SWITCH, "s"), t = net_fixture_node(&l->f, NET_SWITCH, "t");
    net_fixture_link(&l->f, a, s, G100, UNIT_US);
    net_fixture_link(&l->f, s, t, G100, UNIT_US);
    net_fixture_link(&l->f, t, b, G100, UNIT_US);
    if (settings)
        net_fixture_set_all(&l->f, settings);
    net_fixture_message(&l->f, 0, 1, 100000);
    net_fixture_run(&l->f);
    l->s_to_host = l->f.graph.nodes[s].first_port;
    l->s_to_t = l->s_to_host + 1;
    l->t_to_s = l->f.graph.nodes[t].first_port;
}

static void test_net_hop__a_lossless_hop_stops_the_queue_that_frames_come_from(void **state)
{
    (void)state;
    struct line l;
    struct net_hop_view v;
    start(&l, NULL);
    net_hop_view(l.f.net, l.t_to_s, 3, &v);
    assert_true(v.pfc_on && v.pg_lossless && !v.trusts_pcp);
    assert_int_equal(v.pg, 3);
    assert_int_equal(v.pause_priorities, 1 << 3);
    assert_int_equal(v.obeyed_priorities, 1 << 3);
    assert_int_equal(v.stopped_queues, 1 << 3);
    assert_int_equal(v.from_queues, 1 << 3);
    assert_true(v.lossless_queues & 1 << 3);
    assert_int_equal(v.headroom_bytes, v.headroom_needed_bytes);
    assert_int_equal(v.refused_pkts, 0);
    net_hop_view(l.f.net, l.s_to_host, 3, &v); /* from a NIC */
    assert_int_equal(v.from_queues, 1 << 3);
    net_hop_view(l.f.net, l.t_to_s, 1, &v);
    assert_true(!v.pg_lossless && v.pause_priorities == 0 && v.stopped_queues == 0);
    net_fixture_release(&l.f);
}

/* Class 3 in queue 5 on its way out, and in group 2 on its way in. */
static void test_net_hop__maps_are_followed(void **state)
{
    (void)state;
    struct line l;
    struct net_hop_view v;
    start(&l, (const char *const[]){"qos.tc_to_queue=0:0 1:1 2:2 3:5 4:4 5:3 6:6 7:7", "qos.tc_to_pg=0:0 1:1 2:3 3:2 4:4 5:5 6:6 7:7",
                                    "qos.trust=pcp", NULL});
    net_hop_view(l.f.net, l.t_to_s, 3, &v);
    assert_true(v.trusts_pcp && !v.pg_lossless);
    assert_int_equal(v.tc, 3);
    assert_int_equal(v.pg, 2);
    assert_int_equal(v.from_queues, 1 << 5);
    net_fixture_release(&l.f);
}

static void test_net_hop__pfc_off_is_seen_from_both_ends(void **state)
{
    (void)state;
    struct line l;
    struct net_hop_view v;
    start(&l, (const char *const[]){"pfc.enabled=false", NULL});
    net_hop_view(l.f.net, l.t_to_s, 3, &v);
    assert_true(!v.pfc_on && !v.pg_lossless);
    assert_int_equal(v.lossless_queues, 0);
    net_fixture_release(&l.f);
}

static void test_net_hop__refused_frames_are_counted_where_they_came_in(void **state)
{
    (void)state;
    struct net_fixture f;
    struct net_hop_view v;
    struct net_class_view q;
    uint64_t refused = 0;
    net_fixture_init(&f);
    uint32_t s = net_fixture_star(&f, 3, G100, UNIT_US);
    net_fixture_set_all(&f, (const char *const[]){"pfc.enabled=false", "buffer.lossy_limit=20000B", "nic.congestion_control=none", NULL});
    net_fixture_message(&f, 0, 2, 200000);
    net_fixture_message(&f, 1, 2, 200000);
    net_fixture_run(&f);
    uint32_t first = f.graph.nodes[s].first_port;
    for (uint32_t p = 0; p < 2; p++) {
        net_hop_view(f.net, first + p, 3, &v);
        refused += v.refused_pkts;
    }
    net_class_view(f.net, first + 2, 3, &q);
    assert_true(refused > 0);
    assert_int_equal(refused, q.drop_pkts);
    assert_int_equal(q.group_drop_pkts, 0); /* the queue was full, not the group */
    net_fixture_release(&f);
}

static void test_net_hop__the_way_of_a_queue_pair(void **state)
{
    (void)state;
    struct line l;
    uint32_t ports[4];
    start(&l, NULL);
    assert_int_equal(net_qp_path(l.f.net, 0, ports, 4), 2);
    assert_int_equal(ports[0], l.s_to_t);
    assert_int_equal(ports[1], l.t_to_s + 1);
    assert_int_equal(net_qp_path(l.f.net, 0, ports, 1), 1);
    net_fixture_release(&l.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_net_hop__a_lossless_hop_stops_the_queue_that_frames_come_from),
        cmocka_unit_test(test_net_hop__maps_are_followed),
        cmocka_unit_test(test_net_hop__pfc_off_is_seen_from_both_ends),
        cmocka_unit_test(test_net_hop__refused_frames_are_counted_where_they_came_in),
        cmocka_unit_test(test_net_hop__the_way_of_a_queue_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
