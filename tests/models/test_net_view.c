/* test_net_view.c - what the reports read: stand-alone times, wire bytes, counters, and laws that notice a fault. */
#include "models/net_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G100 (100 * UNIT_GBPS)
#define G400 (400 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)

/* ---- stand-alone time ------------------------------------------------------------------ */
struct alone { sim_ps took_ps, ideal_ps, ack_took_ps, ack_ideal_ps, frame_ps; };

static struct alone measure(const int64_t rates_bps[3], const char *forwarding, const char *mtu, int64_t bytes)
{
    struct net_fixture f;
    net_fixture_init(&f);
    uint32_t a = net_fixture_host(&f), b = net_fixture_host(&f);
    uint32_t s = net_fixture_node(&f, NET_SWITCH, "s"), t = net_fixture_node(&f, NET_SWITCH, "t");
    net_fixture_link(&f, a, s, rates_bps[0], CABLE);
    net_fixture_link(&f, s, t, rates_bps[1], 2 * CABLE);
    net_fixture_link(&f, t, b, rates_bps[2], CABLE / 5);
    net_fixture_set_all(&f, (const char *const[]){forwarding, mtu, "nic.ack_interval=65536", NULL});
    struct fixture_message m = net_fixture_message(&f, 0, 1, bytes);
    net_fixture_run(&f);
    sim_ps received = net_fixture_done_ps(&f, m.recv), slowest = 0;
    for (int i = 0; i < 3; i++)
        slowest = MAX(slowest, units_wire_ps(f.net->mtu + 100, rates_bps[i]));
    struct alone r = {received, net_ideal_ps(f.net, net_op_qp(f.net, m.send), bytes),
                      net_fixture_done_ps(&f, m.send) - received, net_ideal_ack_ps(f.net, net_op_qp(f.net, m.send)), slowest};
    net_fixture_release(&f);
    return r;
}

/* The stand-alone time is a bound that a lone message reaches, to a frame on each link where rates differ. */
static void test_net_view__ideal_is_a_bound_and_is_reached(void **state)
{
    (void)state;
    static const int64_t rates[][3] = {{G100, G100, G100}, {G400, G400, G400}, {G400, G100, G400}, {G100, G400, G100},
                                       {G100, G400, G400}, {G400, G400, G100}, {G400, 200 * UNIT_GBPS, G100}};
    static const char *const forwarding[] = {"switch.forwarding=store_and_forward", "switch.forwarding=cut_through"};
    static const char *const mtus[] = {"nic.mtu=4096B", "nic.mtu=256B"};
    static const int64_t sizes[] = {0, 1, 100, 4096, 4097, 100000, 1000000};
    for (gsize r = 0; r < G_N_ELEMENTS(rates); r++)
        for (gsize w = 0; w < 2; w++)
            for (gsize m = 0; m < 2; m++)
                for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++) {
                    struct alone a = measure(rates[r], forwarding[w], mtus[m], sizes[s]);
                    if (a.took_ps < a.ideal_ps || a.took_ps > a.ideal_ps + 3 * a.frame_ps)
                        fail_msg("rates %zu %s %s %ld B: took %ld, ideal %ld", r, forwarding[w], mtus[m], (long)sizes[s],
                                 (long)a.took_ps, (long)a.ideal_ps);
                    assert_int_equal(a.ack_took_ps, a.ack_ideal_ps);
                    bool one_packet = sizes[s] <= (m == 0 ? 4096 : 256);
                    bool equal_rates = rates[r][0] == rates[r][1] && rates[r][1] == rates[r][2];
                    if (one_packet && (equal_rates || w == 0))
                        assert_int_equal(a.took_ps, a.ideal_ps);
                }
}

static void test_net_view__wire_bytes_count_all_overheads(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    uint32_t s = net_fixture_star(&f, 2, G100, CABLE);
    static const int64_t sizes[] = {0, 1, 4096, 4097, 2000000};
    static const int64_t pkts[] = {1, 1, 1, 2, 489};
    int64_t sum = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        net_fixture_message(&f, 0, 1, sizes[i]);
        sum += sizes[i] + pkts[i] * 82 + 16;
    }
    net_fixture_run(&f);
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++)
        assert_int_equal(net_wire_bytes(f.net, sizes[i]), sizes[i] + pkts[i] * 82 + 16);
    struct net_port_view out = net_fixture_port_view(&f, 0, s), in = net_fixture_port_view(&f, s, 1);
    assert_int_equal(out.tx_bytes, sum); /* the port has carried just that */
    assert_int_equal(in.tx_bytes, sum);
    assert_int_equal(out.tx_data_pkts, 494);
    assert_int_equal(net_fixture_port_view(&f, 1, s).tx_bytes, 494 * (66 + 20));
    assert_int_equal(net_fixture_port_view(&f, 1, s).tx_ack_pkts, 494);
    net_fixture_release(&f);
}

static void test_net_view__queue_pair(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    net_fixture_two_switches(&f, 1, 1, G400, G100, CABLE);
    net_fixture_set(&f, "dcqcn.rpg_max_rate=10Gbps");
    struct fixture_message m = net_fixture_message(&f, 0, 1, 1000000);
    net_fixture_start(&f);
    uint32_t qp = net_op_qp(f.net, m.send);
    struct net_qp_view view;
    net_qp_view(f.net, qp, 0, &view);
    assert_int_equal(view.src_rank, 0);
    assert_int_equal(view.dst_rank, 1);
    assert_int_equal(view.class, 3);
    assert_int_equal(view.n_hops, 2);
    assert_true(llabs(view.bottleneck_bps - G100) < 100);
    assert_true(fabs(view.rate_bps - 10e9) < 1);
    /* tx is no part of it: three cables, three FECs, two pipelines, one rx. */
    assert_int_equal(view.ideal_latency_ps, 3 * CABLE + 3 * 120 * UNIT_NS + 2 * 600 * UNIT_NS + 400 * UNIT_NS);
    net_fixture_run_until(&f, 100 * UNIT_US);
    net_qp_view(f.net, qp, 100 * UNIT_US, &view);
    assert_true(view.busy);
    assert_true(view.sent_bytes > 100000 && view.sent_bytes < 130000); /* 10 Gb/s */
    net_fixture_run(&f);
    net_qp_view(f.net, qp, UNIT_S, &view);
    assert_false(view.busy);
    assert_int_equal(view.sent_bytes, 1000000);
    net_fixture_release(&f);
}

/* Looking at queue pairs often does not change the run. */
static bool look_often(void *user, struct net *net, sim_ps now_ps)
{
    struct net_qp_view view;
    (void)user;
    for (uint32_t q = 0; q < net->n_qps; q++)
        net_qp_view(net, q, now_ps, &view);
    return true;
}

static void test_net_view__looking_changes_nothing(void **state)
{
    (void)state;
    uint64_t digest[2];
    for (int i = 0; i < 2; i++) {
        struct net_fixture f;
        net_fixture_init(&f);
        net_fixture_star(&f, 5, G100, CABLE);
        net_fixture_set_all(&f, (const char *const[]){"ecn.kmin=20KB", "ecn.kmax=80KB", "dcqcn.rpg_time_reset=30us", NULL});
        for (uint32_t k = 0; k < 4; k++)
            net_fixture_flow(&f, k, 4, 2000000, 0);
        assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, i ? look_often : NULL, NULL), NET_FINISHED);
        assert_true(net_fixture_totals(&f).rate_cuts > 10);
        digest[i] = net_fixture_totals(&f).digest;
        net_fixture_release(&f);
    }
    assert_true(digest[0] == digest[1]);
}

static void test_net_view__ledger_counts_what_waits(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    uint32_t s = net_fixture_star(&f, 4, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"ecn.enabled=false", "nic.congestion_control=none", NULL});
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_flow(&f, i, 3, 1000000, 0);
    assert_int_equal(net_fixture_run_until(&f, 50 * UNIT_US), NET_UNFINISHED);
    struct net_class_ledger ledger;
    net_ledger(f.net, 3, &ledger);
    assert_true(ledger.waiting_pkts > 200); /* two of three packets of 50 us wait at the switch */
    assert_int_equal(ledger.sent_pkts, ledger.received_pkts + ledger.waiting_pkts);
    int64_t queued = net_queue_bytes(f.net, net_fixture_port(&f, s, 3), 3);
    assert_true(queued > 800000 && queued <= net_fixture_port_view(&f, s, 3).queue_max_bytes);
    assert_true(queued / 4158 <= (int64_t)ledger.waiting_pkts);
    net_fixture_run(&f);
    assert_int_equal(net_queue_bytes(f.net, net_fixture_port(&f, s, 3), 3), 0);
    net_fixture_release(&f);
}

/* ---- the laws notice ---------------------------------------------------------------------------- */
static void assert_law_broken(const struct net_fixture *f, const char *what)
{
    g_autoptr(GError) err = NULL;
    assert_false(net_check_laws(f->net, &err));
    assert_true(g_error_matches(err, NET_ERROR, NET_ERROR_LAW));
    if (!strstr(err->message, what))
        fail_msg("'%s' does not say '%s'", err->message, what);
}

static void test_net_view__laws_notice_a_fault(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    uint32_t s = net_fixture_star(&f, 3, G100, CABLE);
    net_fixture_set_all(&f, (const char *const[]){"ecn.enabled=false", "nic.congestion_control=none", NULL});
    for (uint32_t i = 0; i < 2; i++)
        net_fixture_flow(&f, i, 2, 1000000, 0);
    assert_int_equal(net_fixture_run_until(&f, 50 * UNIT_US), NET_UNFINISHED);
    struct net *net = f.net;
    struct net_vertex *sw = &net->vertex[net->vertex_of_graph[s]];
    uint32_t in = net->port_of_graph[net_fixture_port(&f, s, 0)];
    net->queue[in][3].bytes++;
    assert_law_broken(&f, "bytes in queues");
    net->queue[in][3].bytes--;
    sw->pool[0].used--;
    assert_law_broken(&f, "shared pool");
    sw->pool[0].used++;
    sw->ledger[3].sent_pkts++;
    assert_law_broken(&f, "packets sent");
    sw->ledger[3].sent_pkts--;
    uint32_t most = net->group[in][3].max_headroom;
    net->group[in][3].max_headroom = net->port[in].profile->pg[3].headroom + 1;
    assert_law_broken(&f, "headroom");
    net->group[in][3].max_headroom = most;
    uint64_t tx = net->queue[net->port_of_graph[net_fixture_port(&f, 0, s)]][3].tx_bytes;
    net->queue[net->port_of_graph[net_fixture_port(&f, 0, s)]][3].tx_bytes = 2 * tx;
    assert_law_broken(&f, "link above its rate");
    net->queue[net->port_of_graph[net_fixture_port(&f, 0, s)]][3].tx_bytes = tx;
    net_fixture_assert_laws(&f);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_net_view__ideal_is_a_bound_and_is_reached),
        cmocka_unit_test(test_net_view__wire_bytes_count_all_overheads),
        cmocka_unit_test(test_net_view__queue_pair),
        cmocka_unit_test(test_net_view__looking_changes_nothing),
        cmocka_unit_test(test_net_view__ledger_counts_what_waits),
        cmocka_unit_test(test_net_view__laws_notice_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
