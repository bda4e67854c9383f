/* test_net.c - a packet's time from end to end by hand arithmetic to the picosecond, and what net_new() refuses. */
#include "models/net_fixture.h"

#include <string.h>

/* Hand values. At 100 Gb/s a byte takes 80 ps, at 400 Gb/s 20 ps, at 25 Gb/s 320 ps. */
#define TX (400 * UNIT_NS)     /* nic.tx_latency */
#define TO_SWITCH (1220 * UNIT_NS) /* cable 500 + FEC 120 + pipeline 600 */
#define TO_HOST (1020 * UNIT_NS)   /* cable 500 + FEC 120 + nic.rx_latency 400 */
#define FRAME(payload) ((payload) + 62) /* + 16 in the first packet of a message */
#define WIRE(bytes, ps_per_byte) (((bytes) + 20) * (int64_t)(ps_per_byte))
#define ACK_PS(ps_per_byte) WIRE(66, ps_per_byte)

struct hand { sim_ps received_ps, acked_ps; };

static struct hand one_message(int64_t left_bps, int64_t right_bps, int64_t bytes, const char *forwarding)
{
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_host(&f);
    net_fixture_host(&f);
    uint32_t s = net_fixture_node(&f, NET_SWITCH, "sw");
    net_fixture_link(&f, 0, s, left_bps, 500 * UNIT_NS);
    net_fixture_link(&f, 1, s, right_bps, 500 * UNIT_NS);
    net_fixture_set(&f, forwarding);
    struct fixture_message m = net_fixture_message(&f, 0, 1, bytes);
    net_fixture_run(&f);
    struct hand h = {net_fixture_done_ps(&f, m.recv), net_fixture_done_ps(&f, m.send)};
    assert_int_equal(net_op_start_ps(f.net, m.send), 0);
    net_fixture_release(&f);
    return h;
}
#define STORE "switch.forwarding=store_and_forward"
#define CUT "switch.forwarding=cut_through"
#define G100 (100 * UNIT_GBPS)
#define G400 (400 * UNIT_GBPS)

static void test_net__store_and_forward_packet(void **state)
{
    (void)state;
    struct hand h = one_message(G100, G100, 1000, STORE);
    sim_ps wire = WIRE(FRAME(1000) + 16, 80); /* 1,098 B: 87.84 ns */
    assert_int_equal(wire, 87840);
    assert_int_equal(h.received_ps, TX + wire + TO_SWITCH + wire + TO_HOST);
    assert_int_equal(h.acked_ps, h.received_ps + ACK_PS(80) + TO_SWITCH + ACK_PS(80) + TO_HOST);
}

static void test_net__cut_through_packet(void **state)
{
    (void)state;
    struct hand h = one_message(G100, G100, 1000, CUT);
    assert_int_equal(h.received_ps, TX + WIRE(128, 80) + TO_SWITCH + WIRE(FRAME(1000) + 16, 80) + TO_HOST);
    /* An ACK is shorter than the header: all of it is waited for. */
    assert_int_equal(h.acked_ps, h.received_ps + ACK_PS(80) + TO_SWITCH + ACK_PS(80) + TO_HOST);
}

/* A faster egress would run dry: it starts when the last bit is in, as store-and-forward does. */
static void test_net__cut_through_into_a_faster_link(void **state)
{
    (void)state;
    struct hand h = one_message(G100, G400, 1000, CUT), s = one_message(G100, G400, 1000, STORE);
    sim_ps slow = WIRE(FRAME(1000) + 16, 80), fast = WIRE(FRAME(1000) + 16, 20);
    assert_int_equal(h.received_ps, TX + slow + TO_SWITCH + fast + TO_HOST);
    assert_int_equal(s.received_ps, h.received_ps);
}

static void test_net__cut_through_into_a_slower_link(void **state)
{
    (void)state;
    struct hand h = one_message(G400, G100, 1000, CUT);
    assert_int_equal(h.received_ps, TX + WIRE(128, 20) + TO_SWITCH + WIRE(FRAME(1000) + 16, 80) + TO_HOST);
}

/* An empty message is one packet of headers. */
static void test_net__empty_message(void **state)
{
    (void)state;
    struct hand h = one_message(G100, G100, 0, STORE);
    sim_ps wire = WIRE(FRAME(0) + 16, 80);
    assert_int_equal(h.received_ps, TX + wire + TO_SWITCH + wire + TO_HOST);
    assert_int_equal(h.acked_ps, h.received_ps + 2 * ACK_PS(80) + TO_SWITCH + TO_HOST);
}

/* n packets: back to back on the first link, one after the other on the second. */
static sim_ps pipeline_ps(int64_t bytes, int64_t first, int64_t second)
{
    sim_ps sent = TX, arrived = 0;
    for (int64_t left = bytes, n = 0; n == 0 || left > 0; left -= 4096, n++) {
        int64_t frame = FRAME(MIN(left, 4096)) + (n == 0 ? 16 : 0);
        sent += WIRE(frame, first);
        arrived = MAX(arrived, sent + TO_SWITCH) + WIRE(frame, second);
    }
    return arrived + TO_HOST;
}

static void test_net__message_of_many_packets(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 4096, 4097, 8192, 3 * 4096 + 100, 1000000};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        assert_int_equal(one_message(G100, G100, sizes[i], STORE).received_ps, pipeline_ps(sizes[i], 80, 80));
        assert_int_equal(one_message(G400, G100, sizes[i], STORE).received_ps, pipeline_ps(sizes[i], 20, 80));
        assert_int_equal(one_message(G100, G400, sizes[i], STORE).received_ps, pipeline_ps(sizes[i], 80, 20));
        assert_int_equal(one_message(G100, G400, sizes[i], CUT).received_ps, pipeline_ps(sizes[i], 80, 20));
    }
    /* Cut-through at equal rates: the first link, then a header's time. */
    sim_ps wires = WIRE(FRAME(4096) + 16, 80) + 2 * WIRE(FRAME(4096), 80) + WIRE(FRAME(100), 80);
    assert_int_equal(one_message(G100, G100, 3 * 4096 + 100, CUT).received_ps,
                     TX + wires - WIRE(FRAME(100), 80) + TO_SWITCH + MAX(WIRE(128, 80), 0) + WIRE(FRAME(100), 80) + TO_HOST);
}

/* Each latency term moves the result by itself times its number of occurrences. */
static void test_net__each_latency_term_counts_once_a_link(void **state)
{
    (void)state;
    static const struct { const char *setting; int64_t way, back; } terms[] = {
        {"nic.tx_latency=401ns", 1, 0},   /* posting only */
        {"nic.rx_latency=401ns", 1, 1},   /* each arrival at a NIC */
        {"link.fec_latency=121ns", 3, 3}, /* each link */
        {"switch.latency=601ns", 2, 2},   /* each switch */
    };
    sim_ps base_received = 0, base_acked = 0;
    for (gsize i = 0; i <= G_N_ELEMENTS(terms); i++) {
        struct net_fixture f;
        net_fixture_init(&f);
        net_fixture_two_switches(&f, 1, 1, G100, G100, 500 * UNIT_NS);
        if (i > 0)
            net_fixture_set(&f, terms[i - 1].setting);
        struct fixture_message m = net_fixture_message(&f, 0, 1, 1000);
        net_fixture_run(&f);
        sim_ps received = net_fixture_done_ps(&f, m.recv), acked = net_fixture_done_ps(&f, m.send);
        net_fixture_release(&f);
        if (i == 0) {
            base_received = received;
            base_acked = acked;
            continue;
        }
        assert_int_equal(received - base_received, terms[i - 1].way * UNIT_NS);
        assert_int_equal(acked - base_acked, (terms[i - 1].way + terms[i - 1].back) * UNIT_NS);
    }
}

/* Two NICs on one cable: no switch at all. */
static void test_net__hosts_back_to_back(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_host(&f);
    net_fixture_host(&f);
    net_fixture_link(&f, 0, 1, G400, 10 * UNIT_NS);
    struct fixture_message m = net_fixture_message(&f, 0, 1, 4096);
    net_fixture_run(&f);
    sim_ps way = (10 + 120 + 400) * UNIT_NS;
    assert_int_equal(net_fixture_done_ps(&f, m.recv), TX + WIRE(4174, 20) + way);
    assert_int_equal(net_fixture_done_ps(&f, m.send), TX + WIRE(4174, 20) + way + ACK_PS(20) + way);
    net_fixture_release(&f);
}

/* A slow host in front of a very long cable: the frame waits for its last bit and is then far away. Sends reach as
 * many windows ahead as the engine holds, or more. */
static void test_net__long_cable_behind_a_slow_host(void **state)
{
    (void)state;
    for (int64_t km = 10; km <= 110; km += 4) {
        struct net_fixture f;
        net_fixture_init(&f);
        net_fixture_host(&f);
        net_fixture_host(&f);
        uint32_t s = net_fixture_node(&f, NET_SWITCH, "sw");
        net_fixture_link(&f, 0, s, UNIT_GBPS, 500 * UNIT_NS);
        net_fixture_link(&f, 1, s, G400, km * 5 * UNIT_US);
        net_fixture_set_all(&f, (const char *const[]){CUT, "buffer.size=1GB", NULL});
        struct fixture_message m = net_fixture_message(&f, 0, 1, 4096);
        net_fixture_run(&f);
        sim_ps far_ps = km * 5 * UNIT_US + 520 * UNIT_NS;
        assert_int_equal(net_fixture_done_ps(&f, m.recv), TX + WIRE(4174, 8000) + TO_SWITCH + WIRE(4174, 20) + far_ps);
        net_fixture_release(&f);
    }
}

/* A slow link is as slow as it says, or it is refused. */
static void test_net__slow_links_do_not_wrap(void **state)
{
    (void)state;
    static const int64_t rates_mbps[] = {1000, 125, 100, 50, 10};
    for (gsize i = 0; i < G_N_ELEMENTS(rates_mbps); i++) {
        struct net_fixture f;
        g_autoptr(GError) err = NULL;
        net_fixture_init(&f);
        net_fixture_set_all(&f, (const char *const[]){"nic.mtu=256B", "ecn.enabled=false", STORE, NULL});
        net_fixture_star(&f, 2, rates_mbps[i] * UNIT_MBPS, 500 * UNIT_NS);
        struct fixture_message m = net_fixture_message(&f, 0, 1, 256);
        if (net_fixture_new(&f, &err)) {
            net_fixture_run(&f);
            sim_ps wire = WIRE(FRAME(256) + 16, 8000000 / rates_mbps[i]);
            assert_int_equal(net_fixture_done_ps(&f, m.recv), TX + 2 * wire + TO_SWITCH + TO_HOST);
        } else {
            assert_true(g_error_matches(err, NET_ERROR, NET_ERROR_INPUT));
        }
        net_fixture_release(&f);
    }
}

/* ---- what net_new() refuses ------------------------------------------------------------ */
static void assert_refused(struct net_fixture *f, GQuark domain, int code, const char *const *words)
{
    g_autoptr(GError) err = NULL;
    net_fixture_message(f, 0, 1, 1);
    assert_null(net_fixture_new(f, &err));
    assert_non_null(err);
    assert_true(g_error_matches(err, domain, code));
    for (; *words; words++)
        if (!strstr(err->message, *words))
            fail_msg("'%s' does not say '%s'", err->message, *words);
    net_fixture_release(f);
}

/* cases.md 8: 64 ports of 400G, 10 us, 3 x rate x delay. */
static void case_8(struct net_fixture *f, sim_ps delay_ps)
{
    net_fixture_init(f);
    net_fixture_star(f, 64, G400, delay_ps);
    net_fixture_set_all(f, (const char *const[]){"buffer.size=32MiB", "buffer.headroom_rule=rate_delay", NULL});
}

static void test_net__headroom_larger_than_the_buffer(void **state)
{
    (void)state;
    struct net_fixture f;
    case_8(&f, 10 * UNIT_US);
    assert_refused(&f, NET_ERROR, NET_ERROR_INPUT,
                   (const char *const[]){"buffer.size", "sw", "96.26 MB", "33.55 MB", "3.47 us", "694 m", NULL});
    case_8(&f, 3500 * UNIT_NS);
    assert_refused(&f, NET_ERROR, NET_ERROR_INPUT, (const char *const[]){"buffer.size", NULL});
    case_8(&f, 3400 * UNIT_NS);
    net_fixture_message(&f, 0, 1, 100000);
    net_fixture_run(&f);
    net_fixture_release(&f);
}

static void test_net__maps_without_a_value_for_a_rate(void **state)
{
    (void)state;
    static const char *const settings[] = {"ecn.kmin=100Gbps:400KB", "ecn.kmax=100Gbps:1600KB", "ecn.pmax=100Gbps:0.2",
                                           "buffer.alpha=100Gbps:1", "buffer.lossy_alpha=100Gbps:1"};
    static const char *const keys[] = {"ecn.kmin", "ecn.kmax", "ecn.pmax", "buffer.alpha", "buffer.lossy_alpha"};
    for (gsize i = 0; i < G_N_ELEMENTS(settings); i++) {
        struct net_fixture f;
        net_fixture_init(&f);
        net_fixture_star(&f, 2, 800 * UNIT_GBPS, 500 * UNIT_NS);
        net_fixture_set(&f, settings[i]);
        assert_refused(&f, NET_ERROR, NET_ERROR_INPUT, (const char *const[]){keys[i], "800Gbps", "sw", NULL});
    }
}

static void test_net__thresholds_in_the_wrong_order(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, G100, 500 * UNIT_NS);
    net_fixture_set_all(&f, (const char *const[]){"ecn.kmin=1600KB", "ecn.kmax=400KB", NULL});
    assert_refused(&f, PARAM_ERROR, PARAM_ERROR_CROSS, (const char *const[]){"kmin", "kmax", NULL});
    net_fixture_init(&f); /* one map with rates, the other without: only the link brings them together */
    net_fixture_star(&f, 2, G100, 500 * UNIT_NS);
    net_fixture_set_all(&f, (const char *const[]){"ecn.kmin=1600KB", "ecn.kmax=100Gbps:400KB 200Gbps:3200KB", NULL});
    assert_refused(&f, NET_ERROR, NET_ERROR_INPUT, (const char *const[]){"kmin", NULL});
}

static void test_net__link_without_latency(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, G100, 0);
    net_fixture_set_bare(&f);
    assert_refused(&f, NET_ERROR, NET_ERROR_INPUT, (const char *const[]){"latency", NULL});
}

static void test_net__no_path(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_host(&f);
    net_fixture_host(&f);
    uint32_t a = net_fixture_node(&f, NET_SWITCH, "a"), b = net_fixture_node(&f, NET_SWITCH, "b");
    net_fixture_link(&f, 0, a, G100, 500 * UNIT_NS);
    net_fixture_link(&f, 1, b, G100, 500 * UNIT_NS);
    assert_refused(&f, NET_ERROR, NET_ERROR_ROUTE, (const char *const[]){"rank 0", "rank 1", NULL});
}

static void test_net__frames_that_do_not_fit(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_star(&f, 2, 125 * UNIT_MBPS, 500 * UNIT_NS); /* a 4,174-byte frame takes 268 us */
    net_fixture_set_all(&f, (const char *const[]){"ecn.enabled=false", "nic.mtu=9216B", NULL});
    assert_refused(&f, NET_ERROR, NET_ERROR_INPUT, (const char *const[]){"frame", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_net__store_and_forward_packet),
        cmocka_unit_test(test_net__cut_through_packet),
        cmocka_unit_test(test_net__cut_through_into_a_faster_link),
        cmocka_unit_test(test_net__cut_through_into_a_slower_link),
        cmocka_unit_test(test_net__empty_message),
        cmocka_unit_test(test_net__message_of_many_packets),
        cmocka_unit_test(test_net__each_latency_term_counts_once_a_link),
        cmocka_unit_test(test_net__hosts_back_to_back),
        cmocka_unit_test(test_net__long_cable_behind_a_slow_host),
        cmocka_unit_test(test_net__slow_links_do_not_wrap),
        cmocka_unit_test(test_net__headroom_larger_than_the_buffer),
        cmocka_unit_test(test_net__maps_without_a_value_for_a_rate),
        cmocka_unit_test(test_net__thresholds_in_the_wrong_order),
        cmocka_unit_test(test_net__link_without_latency),
        cmocka_unit_test(test_net__no_path),
        cmocka_unit_test(test_net__frames_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
