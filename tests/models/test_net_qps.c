/* test_net_qps.c - which queue pairs a job needs, their classes, and that packets keep to the path they were given. */
#include "models/net_fixture.h"

#include <string.h>

#define G100 (100 * UNIT_GBPS)

static void star(struct net_fixture *f, uint32_t n)
{
    net_fixture_init(f);
    net_fixture_star(f, n, G100, 500 * UNIT_NS);
}

static void test_net_qps__messages_of_a_pair_share_one(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 3);
    struct fixture_message a = net_fixture_message(&f, 0, 1, 10), b = net_fixture_message(&f, 0, 1, 20);
    struct fixture_message back = net_fixture_message(&f, 1, 0, 10), other = net_fixture_message(&f, 0, 2, 10);
    struct net *net = net_fixture_start(&f);
    assert_int_equal(net_fixture_totals(&f).n_qps, 3);
    assert_int_equal(net_op_qp(net, a.send), net_op_qp(net, b.send));
    assert_int_not_equal(net_op_qp(net, a.send), net_op_qp(net, back.send));
    assert_int_not_equal(net_op_qp(net, a.send), net_op_qp(net, other.send));
    net_fixture_run(&f);
    net_fixture_release(&f);
}

static void test_net_qps__each_flow_has_its_own(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 2);
    for (int i = 0; i < 5; i++)
        net_fixture_flow(&f, 0, 1, 1000, 0);
    net_fixture_start(&f);
    assert_int_equal(net_fixture_totals(&f).n_qps, 5);
    for (uint32_t q = 0; q < 5; q++) {
        struct net_qp_view view;
        net_qp_view(f.net, q, 0, &view);
        assert_int_equal(view.flow_id, q);
        assert_true(view.sport >= 0xC000); /* RoCEv2: the dynamic range */
    }
    net_fixture_release(&f);
}

static void test_net_qps__channels_and_classes_are_apart(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 2);
    struct fixture_message m[4];
    for (uint8_t i = 0; i < 4; i++)
        m[i] = net_fixture_message_in_class(&f, 0, 1, 100, i < 2 ? 1 : 2);
    job_op_at(f.job, m[1].send)->channel = job_op_at(f.job, m[1].recv)->channel = 1;
    struct net *net = net_fixture_start(&f);
    assert_int_equal(net_fixture_totals(&f).n_qps, 3);
    assert_int_not_equal(net_op_qp(net, m[0].send), net_op_qp(net, m[1].send));
    assert_int_equal(net_op_qp(net, m[2].send), net_op_qp(net, m[3].send));
    net_fixture_run(&f);
    net_fixture_release(&f);
}

/* The default class is data_class; no explicit class may be mistaken for it. */
static void test_net_qps__class_of_each_message_is_kept(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 2);
    struct fixture_message m[9];
    for (uint32_t i = 0; i < 9; i++)
        m[i] = net_fixture_message_in_class(&f, 0, 1, 100, i < 8 ? (uint8_t)(7 - i) : JOB_CLASS_DEFAULT);
    struct fixture_message again = net_fixture_message_in_class(&f, 0, 1, 100, JOB_CLASS_DEFAULT);
    struct net *net = net_fixture_start(&f);
    for (uint32_t i = 0; i < 9; i++) {
        struct net_qp_view view;
        net_qp_view(net, net_op_qp(net, m[i].send), 0, &view);
        assert_int_equal(view.class, i < 8 ? 7 - i : 3);
    }
    assert_int_equal(net_op_qp(net, again.send), net_op_qp(net, m[8].send));
    net_fixture_run(&f);
    struct net_class_ledger ledger;
    net_ledger(net, 7, &ledger);
    assert_int_equal(ledger.received_bytes, 100 + 62 + 16 + 66); /* one message and its ACK */
    net_fixture_release(&f);
}

/* ---- paths --------------------------------------------------------------------------- */
/* Leaf-spine of 2 x 2 hosts and 4 spines; data over spine DATA, ACKs over spine ACK. */
struct forced { const struct net_fixture *f; uint32_t data_spine, ack_spine; };

static int forced_route(void *user, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    const struct forced *force = user;
    uint32_t src = r->reverse ? r->dst_rank : r->src_rank, dst = r->reverse ? r->src_rank : r->dst_rank;
    uint32_t nodes[] = {src, 4 + src / 2, 6 + (r->reverse ? force->ack_spine : force->data_spine), 4 + dst / 2, dst};
    (void)max, (void)err;
    for (int i = 0; i < 4; i++)
        ports[i] = net_fixture_port(force->f, nodes[i], nodes[i + 1]);
    return 4;
}

static void test_net_qps__packets_keep_to_their_path(void **state)
{
    (void)state;
    for (uint32_t data = 0; data < 4; data++)
        for (uint32_t ack = 0; ack < 4; ack++) {
            struct net_fixture f;
            net_fixture_init(&f);
            net_fixture_leaf_spine(&f, 2, 2, 4, G100, 500 * UNIT_NS);
            struct forced force = {&f, data, ack};
            f.config.route = forced_route;
            f.config.route_user = &force;
            net_fixture_message(&f, 1, 2, 40960); /* 10 packets */
            net_fixture_run(&f);
            for (uint32_t s = 0; s < 4; s++) {
                struct net_port_view up = net_fixture_port_view(&f, 4, 6 + s), down = net_fixture_port_view(&f, 6 + s, 5);
                assert_int_equal(up.tx_data_pkts, s == data ? 10 : 0);
                assert_int_equal(down.tx_data_pkts, s == data ? 10 : 0);
                assert_int_equal(net_fixture_port_view(&f, 5, 6 + s).tx_ack_pkts, s == ack ? 10 : 0);
                assert_int_equal(net_fixture_port_view(&f, 6 + s, 4).tx_ack_pkts, s == ack ? 10 : 0);
            }
            assert_int_equal(net_fixture_totals(&f).data_hops, 40);
            assert_int_equal(net_fixture_totals(&f).ack_hops, 40);
            net_fixture_release(&f);
        }
}

/* Flows of one pair differ in their source ports alone: enough to use every spine. */
static void test_net_qps__source_ports_spread_flows(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_leaf_spine(&f, 2, 1, 4, G100, 500 * UNIT_NS);
    for (int i = 0; i < 64; i++)
        net_fixture_flow(&f, 0, 1, 1000, 0);
    net_fixture_run(&f);
    uint64_t sum = 0;
    for (uint32_t s = 0; s < 4; s++) {
        uint64_t n = net_fixture_port_view(&f, 2, 4 + s).tx_data_pkts;
        assert_true(n >= 3); /* 16 expected, sigma 3.5 */
        sum += n;
    }
    assert_int_equal(sum, 64);
    net_fixture_release(&f);
}

/* Queue pair q has the numbers 2q + 2 and 2q + 3. Of 600: 1202 x 1203 = 1446006, folded 1446007, label 397431 = 24 x 2^14 +
 * 4215, port 0xC000 + (4215 ^ 24). */
static void test_net_qps__source_ports_from_queue_pair_numbers(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 2);
    net_fixture_set(&f, "nic.source_port=qpn");
    for (int i = 0; i < 601; i++)
        net_fixture_flow(&f, 0, 1, 1000, 0);
    net_fixture_start(&f);
    static const struct { uint32_t qp; uint16_t sport; } rows[] = {{0, 0xC000 + 2 * 3}, {7, 0xC000 + 16 * 17}, {600, 0xC000 + (4215 ^ 24)}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct net_qp_view view;
        net_qp_view(f.net, rows[i].qp, 0, &view);
        assert_int_equal(view.sport, rows[i].sport);
    }
    net_fixture_release(&f);
}

/* Data names the responder's queue pair, answers the requester's; they fit 24 bits. */
static void test_net_qps__queue_pair_numbers(void **state)
{
    (void)state;
    assert_int_equal(net_qpn(0 << 1), 3);
    assert_int_equal(net_qpn(0 << 1 | 1), 2);
    assert_int_equal(net_qpn(5 << 1), 13);
    assert_int_equal(net_qpn(5 << 1 | 1), 12);
    assert_int_equal(net_qpn(0x7fffffu << 1 | 1), 0);
}

struct short_route { int n; };
static int broken_route(void *user, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    const struct short_route *s = user;
    (void)r, (void)err;
    for (int i = 0; i < max; i++)
        ports[i] = 0;
    return s->n;
}

static void test_net_qps__paths_of_impossible_length_are_refused(void **state)
{
    (void)state;
    static const int lengths[] = {0, 34};
    for (gsize i = 0; i < G_N_ELEMENTS(lengths); i++) {
        struct net_fixture f;
        g_autoptr(GError) err = NULL;
        struct short_route route = {lengths[i]};
        star(&f, 2);
        f.config.route = broken_route;
        f.config.route_user = &route;
        net_fixture_message(&f, 0, 1, 10);
        assert_null(net_fixture_new(&f, &err));
        assert_true(g_error_matches(err, NET_ERROR, NET_ERROR_ROUTE));
        assert_non_null(strstr(err->message, "rank 0"));
        net_fixture_release(&f);
    }
}

/* 2^31 packets on one queue pair do not fit into its sequence numbers; net_new() says so instead of wrapping. */
static void test_net_qps__too_many_packets_are_refused(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    star(&f, 2);
    net_fixture_set(&f, "nic.mtu=256B");
    net_fixture_message(&f, 0, 1, INT64_C(256) * INT32_MAX);
    assert_null(net_fixture_new(&f, &err));
    assert_true(g_error_matches(err, NET_ERROR, NET_ERROR_INPUT));
    assert_non_null(strstr(err->message, "rank 0 to rank 1"));
    net_fixture_release(&f);
}

/* ---- several queue pairs a connection ------------------------------------------------ */
static void test_net_qps__messages_take_turns(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 3);
    net_fixture_set(&f, "nic.qps_per_connection=3");
    struct fixture_message m[7];
    for (uint32_t i = 0; i < 7; i++)
        m[i] = net_fixture_message(&f, 0, i == 2 ? 2 : 1, 5000);
    struct net *net = net_fixture_start(&f);
    assert_int_equal(net_fixture_totals(&f).n_qps, 6);
    static const uint32_t want[] = {0, 1, 3, 2, 0, 1, 2}; /* the one to rank 2 has three of its own */
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(net_op_qp(net, m[i].send), want[i]);
        assert_int_equal(net_op_n_parts(net, m[i].send), 1);
    }
    net_fixture_run(&f);
    assert_int_equal(net_fixture_totals(&f).data_hops, 7 * 2 * 2);
    net_fixture_release(&f);
}

/* Equal parts, rounded up to 128 bytes; an empty one is a packet. Two hops a packet. */
static void test_net_qps__messages_are_cut(void **state)
{
    (void)state;
    static const struct { int64_t bytes, part[4]; uint64_t pkts; } rows[] = {
        {1000, {256, 256, 256, 232}, 4}, {100, {100, 0, 0, 0}, 4}, {0, {0, 0, 0, 0}, 4},
        {513, {256, 256, 1, 0}, 4},      {4 * 8192, {8192, 8192, 8192, 8192}, 8}, {4 * 8192 + 1, {8320, 8320, 8320, 7809}, 11}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct net_fixture f;
        star(&f, 2);
        net_fixture_set_all(&f, (const char *const[]){"nic.qps_per_connection=4", "nic.qp_scheme=split", NULL});
        struct fixture_message m = net_fixture_message(&f, 0, 1, rows[i].bytes);
        net_fixture_run(&f);
        assert_int_equal(net_op_n_parts(f.net, m.send), 4);
        for (uint32_t k = 0; k < 4; k++) {
            assert_int_equal(net_op_part(f.net, m.send, k).qp, k);
            assert_int_equal(net_op_part(f.net, m.send, k).bytes, rows[i].part[k]);
        }
        assert_int_equal(net_fixture_totals(&f).data_hops, rows[i].pkts * 2);
        assert_true(net_fixture_done_ps(&f, m.recv) >= net_op_ideal_ps(f.net, m.send));
        assert_true(net_fixture_done_ps(&f, m.send) > net_fixture_done_ps(&f, m.recv));
        net_fixture_release(&f);
    }
}

/* A flow is one message: alone on its queue pair, or cut. */
static void test_net_qps__flows_are_cut_or_have_one(void **state)
{
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        struct net_fixture f;
        star(&f, 2);
        net_fixture_set_all(&f, (const char *const[]){"nic.qps_per_connection=4", cut ? "nic.qp_scheme=split" : "nic.rnr_retry=7", NULL});
        struct fixture_message a = net_fixture_flow(&f, 0, 1, 40000, 0), b = net_fixture_flow(&f, 0, 1, 40000, 0);
        net_fixture_run(&f);
        assert_int_equal(net_fixture_totals(&f).n_qps, cut ? 8 : 2);
        assert_int_equal(net_op_n_parts(f.net, b.send), cut ? 4 : 1);
        assert_int_equal(net_op_qp(f.net, b.send), cut ? 4 : 1);
        assert_true(net_fixture_done_ps(&f, a.send) > 0);
        net_fixture_release(&f);
    }
}

/* Hosts 0 and 1 at 100G behind leaves 2 and 3, spines 4 and 5 with links of RATE_BPS; even queue pairs over spine 4. */
struct two_ways { const struct net_fixture *f; };

static int way_of_parity(void *user, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    const struct two_ways *ways = user;
    uint32_t src = r->reverse ? r->dst_rank : r->src_rank, qp = r->qpn / 2 - 1;
    uint32_t nodes[] = {src, 2 + src, 4 + qp % 2, 3 - src, 1 - src};
    (void)max, (void)err;
    for (int i = 0; i < 4; i++)
        ports[i] = net_fixture_port(ways->f, nodes[i], nodes[i + 1]);
    return 4;
}

static void two_ways(struct net_fixture *f, struct two_ways *ways, int64_t even_bps, int64_t odd_bps)
{
    net_fixture_init(f);
    net_fixture_set_bare(f);
    for (int i = 0; i < 6; i++)
        net_fixture_node(f, i < 2 ? NET_HOST : NET_SWITCH, "n");
    for (uint32_t i = 0; i < 2; i++) {
        net_fixture_link(f, i, 2 + i, G100, 500 * UNIT_NS);
        net_fixture_link(f, 2 + i, 4, even_bps, 500 * UNIT_NS);
        net_fixture_link(f, 2 + i, 5, odd_bps, 500 * UNIT_NS);
    }
    *ways = (struct two_ways){f};
    f->config.route = way_of_parity;
    f->config.route_user = ways;
}

#define BIG (2 * 1024 * INT64_C(4096))

/* Above net_ideal_ps() of a part: a message's first frame has 16 bytes more (RETH) on the way to a slower link and over it,
 * and the other queue pair's first packet may go before. */
static sim_ps slack(bool shares_nic, int64_t slow_bps)
{
    return units_wire_ps(16, G100) + units_wire_ps(16, slow_bps) + (shares_nic ? units_wire_ps(4198 + 16, G100) : 0);
}

/* Two ways of 50G behind a NIC of 100G: a message on one queue pair takes all its bytes at 50G; cut over two, half of them, for
 * the packets of both leave the NIC in turns, one packet time (4,178 + 20 bytes at 100G) apart. */
static void test_net_qps__two_ways_halve_the_time(void **state)
{
    (void)state;
    sim_ps took[2];
    for (int n = 1; n <= 2; n++) {
        struct net_fixture f;
        struct two_ways ways;
        two_ways(&f, &ways, 50 * UNIT_GBPS, 50 * UNIT_GBPS);
        net_fixture_set_all(&f, (const char *const[]){n == 1 ? "nic.qps_per_connection=1" : "nic.qps_per_connection=2", "nic.qp_scheme=split", NULL});
        struct fixture_message m = net_fixture_message(&f, 0, 1, BIG);
        net_fixture_run(&f);
        took[n - 1] = net_fixture_done_ps(&f, m.recv);
        sim_ps ideal = net_ideal_ps(f.net, 0, BIG / n);
        assert_in_range(took[n - 1] - ideal, 0, slack(n == 2, 50 * UNIT_GBPS));
        assert_true(took[n - 1] >= net_op_ideal_ps(f.net, m.send));
        assert_int_equal(net_fixture_port_view(&f, 2, 4).tx_data_pkts, 2048 / n);
        assert_int_equal(net_fixture_port_view(&f, 2, 5).tx_data_pkts, n == 1 ? 0 : 1024);
        assert_int_equal(net_fixture_port_view(&f, 3, 1).tx_data_pkts, 2048); /* all bytes arrive, once */
        net_fixture_release(&f);
    }
    assert_true(took[1] * 200 >= took[0] * 99 && took[1] * 200 <= took[0] * 102);
}

/* The same with two messages in turns: both in the time of one. */
static void test_net_qps__turns_use_both_ways(void **state)
{
    (void)state;
    struct net_fixture f;
    struct two_ways ways;
    two_ways(&f, &ways, 50 * UNIT_GBPS, 50 * UNIT_GBPS);
    net_fixture_set(&f, "nic.qps_per_connection=2");
    struct fixture_message a = net_fixture_message(&f, 0, 1, BIG), b = net_fixture_message(&f, 0, 1, BIG);
    net_fixture_run(&f);
    sim_ps ideal = net_ideal_ps(f.net, 0, BIG);
    assert_in_range(net_fixture_done_ps(&f, a.recv) - ideal, 0, slack(true, 50 * UNIT_GBPS));
    assert_in_range(net_fixture_done_ps(&f, b.recv) - ideal, 0, slack(true, 50 * UNIT_GBPS));
    net_fixture_release(&f);
}

/* A message is received and acknowledged with its slowest part, and what waits for it starts then. */
static void test_net_qps__all_parts_count(void **state)
{
    (void)state;
    struct net_fixture f;
    struct two_ways ways;
    two_ways(&f, &ways, 50 * UNIT_GBPS, 10 * UNIT_GBPS);
    net_fixture_set_all(&f, (const char *const[]){"nic.qps_per_connection=2", "nic.qp_scheme=split", NULL});
    struct fixture_message m = net_fixture_message(&f, 0, 1, BIG), next = net_fixture_message(&f, 1, 0, 1000);
    job_depend(f.job, next.send, m.recv);
    net_fixture_run(&f);
    sim_ps slow = net_ideal_ps(f.net, 1, BIG / 2);
    assert_in_range(net_fixture_done_ps(&f, m.recv) - slow, 0, slack(true, 10 * UNIT_GBPS));
    assert_int_equal(net_op_start_ps(f.net, next.send), net_fixture_done_ps(&f, m.recv));
    assert_true(net_fixture_done_ps(&f, m.send) > net_fixture_done_ps(&f, m.recv));
    assert_true(net_op_ideal_ps(f.net, m.send) >= slow);
    net_fixture_release(&f);
}

/* One port of 100G everywhere: parts share it, and the bound of the whole message is exact up to a packet. */
static void test_net_qps__bound_of_parts_counts_the_port(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 2);
    net_fixture_set_bare(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.qps_per_connection=4", "nic.qp_scheme=split", NULL});
    struct fixture_message m = net_fixture_message(&f, 0, 1, BIG);
    net_fixture_run(&f);
    assert_in_range(net_fixture_done_ps(&f, m.recv) - net_op_ideal_ps(f.net, m.send), 0, units_wire_ps(4198, G100));
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_net_qps__messages_of_a_pair_share_one),
        cmocka_unit_test(test_net_qps__each_flow_has_its_own),
        cmocka_unit_test(test_net_qps__channels_and_classes_are_apart),
        cmocka_unit_test(test_net_qps__class_of_each_message_is_kept),
        cmocka_unit_test(test_net_qps__packets_keep_to_their_path),
        cmocka_unit_test(test_net_qps__source_ports_from_queue_pair_numbers),
        cmocka_unit_test(test_net_qps__queue_pair_numbers),
        cmocka_unit_test(test_net_qps__source_ports_spread_flows),
        cmocka_unit_test(test_net_qps__paths_of_impossible_length_are_refused),
        cmocka_unit_test(test_net_qps__messages_take_turns),
        cmocka_unit_test(test_net_qps__messages_are_cut),
        cmocka_unit_test(test_net_qps__flows_are_cut_or_have_one),
        cmocka_unit_test(test_net_qps__two_ways_halve_the_time),
        cmocka_unit_test(test_net_qps__turns_use_both_ways),
        cmocka_unit_test(test_net_qps__all_parts_count),
        cmocka_unit_test(test_net_qps__bound_of_parts_counts_the_port),
        cmocka_unit_test(test_net_qps__too_many_packets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
