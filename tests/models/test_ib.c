/* test_ib.c - credits: what a buffer carries by its round trip, lost packets, arbitration tables, links that die. */
#include "models/ib.h"
#include "models/net_fixture.h"

#include <math.h>
#include <stdlib.h>

#define G100 (100 * UNIT_GBPS)
#define BYTES 20000000

/* Share of the link that a stream between two hosts gets whose receiver has a buffer of LOOPS round trips of credits, in *PACKETS
 * whole packets. */
static double share(int64_t rate_bps, sim_ps cable_ps, double loops, double *packets)
{
    struct net_fixture f;
    net_fixture_init(&f);
    for (int i = 0; i < 2; i++)
        net_fixture_host(&f);
    net_fixture_link(&f, 0, 1, rate_bps, cable_ps);
    net_fixture_set_bare_ib(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.mtu=256B", "ib.credit_latency=100ns", "nic.ack_interval=64", NULL});
    /* Packets of 256 + 26 B and 2 B of delimiters: 5 blocks. The round trip, by hand: a packet's wire time, the cable, a
     * flow-control packet behind at most one ACK, the cable, the handling of credits. */
    double ps_per_byte = (double)(UNIT_S * UNIT_BITS_PER_BYTE) / (double)rate_bps;
    double loop_ps = (284 + 8) * ps_per_byte + 2 * (double)cable_ps + 100.0 * UNIT_NS;
    *packets = ceil(loops * loop_ps / (284 * ps_per_byte));
    g_autofree char *buffer = g_strdup_printf("ib.vl_buffer=%dB", (int)*packets * 5 * 64);
    net_fixture_set(&f, buffer);
    net_fixture_flow(&f, 0, 1, BYTES, 0);
    net_fixture_start(&f);
    assert_int_equal(net_fixture_run_until(&f, 20 * UNIT_US), NET_UNFINISHED);
    struct net_port_view a, b;
    net_port_view(f.net, 0, &a);
    assert_int_equal(net_fixture_run_until(&f, 80 * UNIT_US), NET_UNFINISHED);
    net_port_view(f.net, 0, &b);
    assert_int_equal(net_fixture_totals(&f).drop_pkts, 0);
    struct net_port_view at_receiver;
    net_port_view(f.net, 1, &at_receiver);
    assert_true(at_receiver.vl_buffer_max_bytes <= (int64_t)*packets * 5 * 64);
    double sent = 284.0 * (double)(b.tx_data_pkts - a.tx_data_pkts), link = 60.0 * UNIT_US / ps_per_byte;
    /* What is not sent was waited for. */
    if (loops < 1)
        assert_true(b.credit_wait_ps > 0);
    net_fixture_release(&f);
    return sent / link;
}

static void test_ib__buffer_of_a_round_trip_carries_the_rate(void **state)
{
    (void)state;
    static const int64_t rates[] = {100, 200, 400, 800};
    static const int metres[] = {3, 30, 50};
    for (size_t r = 0; r < G_N_ELEMENTS(rates); r++)
        for (size_t m = 0; m < G_N_ELEMENTS(metres); m++) {
            sim_ps cable_ps = metres[m] * 5 * UNIT_NS;
            double n;
            double full = share(rates[r] * UNIT_GBPS, cable_ps, 1.0, &n);
            if (full < 0.99)
                fail_msg("%d Gb/s, %d m: %.4f of the rate with a round trip of %.0f packets", (int)rates[r], metres[m], full, n);
            double half = share(rates[r] * UNIT_GBPS, cable_ps, 0.5, &n);
            if (half < 0.49 || half > 0.51 + 1 / (2 * n)) /* a buffer holds whole packets */
                fail_msg("%d Gb/s, %d m: %.4f of the rate with half a round trip, %.0f packets", (int)rates[r], metres[m], half, n);
        }
}

/* cases.md 16: 400 Gb/s, 100 ns each way, 300 ns of credit handling, 12,500 B a VL: three packets of 4,122 B (4,124 on the wire, 82.5 ns)
 * in a round trip of 82.5 + 0.2 + 500 ns. */
static void test_ib__three_packets_in_a_round_trip(void **state)
{
    (void)state;
    for (int lanes = 1; lanes <= 2; lanes++) {
        struct net_fixture f;
        net_fixture_init(&f);
        for (int i = 0; i < 2; i++)
            net_fixture_host(&f);
        net_fixture_link(&f, 0, 1, 400 * UNIT_GBPS, 100 * UNIT_NS);
        net_fixture_set_bare_ib(&f);
        net_fixture_set_all(&f, (const char *const[]){"nic.mtu=4096B", "ib.credit_latency=300ns", "ib.vl_buffer=12500B", "nic.ack_interval=64",
                                                      "nic.ack_class=2", NULL});
        for (int lane = 0; lane < lanes; lane++)
            net_fixture_message_in_class(&f, 0, 1, BYTES, (uint8_t)lane);
        net_fixture_start(&f);
        struct net_port_view a, b;
        net_fixture_run_until(&f, 20 * UNIT_US);
        net_port_view(f.net, 0, &a);
        net_fixture_run_until(&f, 220 * UNIT_US);
        net_port_view(f.net, 0, &b);
        double share = (double)(b.tx_data_pkts - a.tx_data_pkts) * 82.48 / 200000.0;
        double waited = (double)(b.credit_wait_ps - a.credit_wait_ps) / (200.0 * UNIT_US);
        assert_true(fabs(share - lanes * 3 * 82.48 / 582.64) < 0.005 * lanes);
        assert_true(fabs(share + waited - 1) < 0.01); /* what is not sent is waited for */
        assert_int_equal(net_fixture_totals(&f).drop_pkts, 0);
        net_fixture_release(&f);
    }
}

static void test_ib__buffer_below_a_packet_is_refused(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, G100, 500 * UNIT_NS);
    net_fixture_set_bare_ib(&f);
    net_fixture_set(&f, "ib.vl_buffer=4KiB");
    net_fixture_flow(&f, 0, 1, 1000, 0);
    assert_null(net_fixture_new(&f, &err));
    assert_non_null(strstr(err->message, "ib.vl_buffer: 4096 B hold no packet of"));
    net_fixture_release(&f);
}

/* Lost packets are told to the receiver, whose buffer they never took: the rate comes back. */
static void test_ib__lost_packets_give_their_credits_back(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 3, G100, 500 * UNIT_NS);
    net_fixture_set_bare_ib(&f);
    net_fixture_set_all(&f, (const char *const[]){"link.loss=0.02", "ib.vl_buffer=16KiB", "nic.recovery=selective_repeat",
                                                  "nic.local_ack_timeout=4", NULL});
    net_fixture_flow(&f, 0, 2, 4000000, 0);
    net_fixture_flow(&f, 1, 2, 4000000, 0);
    net_fixture_run(&f);
    assert_true(net_fixture_totals(&f).lost_pkts > 40);
    for (uint32_t p = 0; p < f.net->n_ports; p++) { /* nothing under way: both ends agree but for what no repair has told yet */
        const struct ib_vl *s = &f.net->ib->vl[p][3], *peer = &f.net->ib->vl[f.net->port[p].channel][3];
        const struct ib_port *port = &f.net->ib->port[p];
        assert_int_equal(s->sent - peer->received, port->lost[3] - f.net->ib->port[f.net->port[p].channel].peer_lost[3]);
        assert_true(s->received - s->freed <= ib_blocks(4096 + 42)); /* the last packet's timer */
    }
    net_fixture_release(&f);
}

/* A packet that waits longer than its lifetime is dropped and counted, and the sender sends it again. */
static void test_ib__head_of_queue_lifetime(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, G100, 500 * UNIT_NS);
    net_fixture_set_bare_ib(&f);
    net_fixture_set_all(&f, (const char *const[]){"ib.leaf_head_of_queue_lifetime=0", "nic.rx_rate=100Mbps", "ib.vl_buffer=16KiB",
                                                  "nic.local_ack_timeout=8", NULL});
    net_fixture_flow(&f, 0, 1, 200000, 0);
    net_fixture_run_until(&f, 2 * UNIT_MS);
    struct net_totals t = net_fixture_totals(&f);
    assert_true(t.hoq_discard_pkts > 10);
    assert_int_equal(t.hoq_discard_pkts, t.drop_pkts);
    assert_int_equal(t.lossless_drop_pkts, 0);
    net_fixture_release(&f);

    net_fixture_init(&f); /* 268 ms by default: nobody is dropped */
    net_fixture_star(&f, 2, G100, 500 * UNIT_NS);
    net_fixture_set_bare_ib(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.rx_rate=100Mbps", "ib.vl_buffer=16KiB", NULL});
    net_fixture_flow(&f, 0, 1, 200000, 0);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_totals(&f).drop_pkts, 0);
    net_fixture_release(&f);
}

/* Bytes of packets of VL that have come in. */
static double got(const struct net_fixture *f, uint32_t vl)
{
    struct net_class_ledger ledger;
    net_ledger(f->net, vl, &ledger);
    return (double)ledger.received_bytes;
}

/* Three hosts send to a fourth in SLs 0, 1, 2; the shares that the tables make at the switch. */
static void shares(const char *high, const char *low, const char *limit, double out[3])
{
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 4, G100, 100 * UNIT_NS);
    net_fixture_set_bare_ib(&f);
    net_fixture_set_all(&f, (const char *const[]){high, low, limit, "nic.ack_class=3", "nic.mtu=4096B", NULL});
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_message_in_class(&f, i, 3, BYTES, (uint8_t)i);
    net_fixture_start(&f);
    double before[3], sum = 0;
    net_fixture_run_until(&f, 100 * UNIT_US);
    for (uint32_t i = 0; i < 3; i++)
        before[i] = got(&f, i);
    net_fixture_run_until(&f, 900 * UNIT_US);
    for (uint32_t i = 0; i < 3; i++)
        sum += out[i] = got(&f, i) - before[i];
    for (uint32_t i = 0; i < 3; i++)
        out[i] /= sum;
    net_fixture_release(&f);
}

static void test_ib__weights_share_by_64_bytes(void **state)
{
    (void)state;
    double s[3];
    /* A packet of 4122 B counts 65 units: entries of one, two and three packets. */
    shares("ib.vlarb_high=0:0", "ib.vlarb_low=0:65,1:130,2:195,3:65", "ib.high_limit=0", s);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(s[i] - (i + 1) / 6.0) < 0.01);
    /* A VL with two entries gets both; the last packet of an entry may overdraw it. */
    shares("ib.vlarb_high=0:0", "ib.vlarb_low=0:1,1:1,0:1,2:1,3:1", "ib.high_limit=0", s);
    assert_true(fabs(s[0] - 0.5) < 0.01 && fabs(s[1] - 0.25) < 0.01);
}

static void test_ib__high_priority_and_its_limit(void **state)
{
    (void)state;
    double s[3];
    shares("ib.vlarb_high=0:65", "ib.vlarb_low=0:0,1:65,2:65,3:65", "ib.high_limit=255", s);
    assert_true(s[0] > 0.999); /* without a limit the others starve */
    shares("ib.vlarb_high=0:65", "ib.vlarb_low=0:0,1:65,2:65,3:65", "ib.high_limit=0", s);
    assert_true(fabs(s[0] - 0.5) < 0.01); /* one packet, then one of low priority */
    shares("ib.vlarb_high=0:65", "ib.vlarb_low=0:0,1:65,2:65,3:65", "ib.high_limit=3", s);
    assert_true(fabs(s[0] - 0.75) < 0.01); /* 12 KiB: three packets */
}

/* h0 sends to a slow receiver and to a fast one: in one VL the fast one waits for the slow one, in two it does not. */
static double beside_a_slow_receiver(uint8_t class)
{
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_two_switches(&f, 2, 2, G100, G100, 100 * UNIT_NS);
    net_fixture_set_bare_ib(&f);
    net_fixture_message_in_class(&f, 0, 2, BYTES, 1);
    net_fixture_message_in_class(&f, 1, 3, 2000000, class);
    net_fixture_start(&f);
    f.net->nic[f.net->port_of_graph[2]]->rx_bps = UNIT_GBPS;
    f.net->vertex[f.net->vertex_of_graph[2]].rx_care |= NIC_RX_SLOW;
    net_fixture_run_until(&f, 500 * UNIT_US);
    sim_ps done_ps = net_op_done_ps(f.net, 2);
    net_fixture_release(&f);
    return done_ps < 0 ? INFINITY : (double)done_ps;
}

static void test_ib__lanes_do_not_wait_for_each_other(void **state)
{
    (void)state;
    double alone_ps = 2000000.0 * 8 * 10 * 1.05;
    assert_true(beside_a_slow_receiver(2) < 1.3 * alone_ps);
    assert_true(isinf(beside_a_slow_receiver(1)));
}

/* h0 -> h2 via B ... a ring of routes locks, and is named. */
static int clockwise(void *user, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    const struct net_fixture *f = user;
    uint32_t src = r->src_rank, dst = r->dst_rank;
    (void)max, (void)err;
    const uint32_t there[] = {src, 3 + src, 3 + (src + 1) % 3, 3 + dst, dst}, back[] = {dst, 3 + dst, 3 + src, src};
    int n = r->reverse ? 3 : 4;
    for (int i = 0; i < n; i++)
        ports[i] = r->reverse ? net_fixture_port(f, back[i], back[i + 1]) : net_fixture_port(f, there[i], there[i + 1]);
    return n;
}

static void test_ib__ring_of_switches_deadlocks_and_is_named(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_ring3(&f, G100, 500 * UNIT_NS);
    net_fixture_set_bare_ib(&f);
    net_fixture_set_all(&f, (const char *const[]){"ib.vl_buffer=16KiB", "nic.ack_class=2", NULL});
    f.config.route = clockwise;
    f.config.route_user = &f;
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_flow(&f, i, (i + 2) % 3, 100000000, 0);
    assert_int_equal(net_fixture_run_until(&f, 20 * UNIT_MS), NET_DEADLOCK);
    g_autofree char *text = net_deadlock_text(f.net);
    static const char *const links[] = {"A -> B VL 3 without credits", "B -> C VL 3", "C -> A VL 3"};
    for (int k = 0; k < 3; k++)
        assert_non_null(strstr(text, links[k]));
    assert_null(strstr(text, "h0"));
    assert_int_equal(net_fixture_totals(&f).drop_pkts, 0);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ib__buffer_of_a_round_trip_carries_the_rate),
        cmocka_unit_test(test_ib__three_packets_in_a_round_trip),
        cmocka_unit_test(test_ib__buffer_below_a_packet_is_refused),
        cmocka_unit_test(test_ib__lost_packets_give_their_credits_back),
        cmocka_unit_test(test_ib__head_of_queue_lifetime),
        cmocka_unit_test(test_ib__weights_share_by_64_bytes),
        cmocka_unit_test(test_ib__high_priority_and_its_limit),
        cmocka_unit_test(test_ib__lanes_do_not_wait_for_each_other),
        cmocka_unit_test(test_ib__ring_of_switches_deadlocks_and_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
