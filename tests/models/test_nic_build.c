/* test_nic_build.c - settings of NIC ports by place, and what both ends of a queue pair agree on. */
#include "models/net_fixture.h"
#include "models/nic.h"

#include <string.h>

#define G100 (100 * UNIT_GBPS)

static void star(struct net_fixture *f, const char *const *settings)
{
    net_fixture_init(f);
    net_fixture_star(f, 3, G100, 500 * UNIT_NS);
    net_fixture_set_all(f, settings);
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_message(f, i, (i + 1) % 3, 100000);
}

static const struct nic_port *nic_of(const struct net_fixture *f, uint32_t host)
{
    return f->net->nic[f->net->port_of_graph[f->graph.nodes[host].first_port]];
}

static void test_nic_build__ports_bear_their_settings(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, (const char *const[]){"nic.local_ack_timeout=20", "nic.retry_cnt=5", "nic.rnr_retry=3", "nic.min_rnr_timer=1",
                                   "nic.ets_strict_classes=5,6", "nic.ets_weights=1,2,3,4,5,6,7,8", NULL});
    net_fixture_start(&f);
    const struct nic_port *nic = nic_of(&f, 1);
    assert_int_equal(nic->timeout_ps, 4096 * UNIT_NS * (1 << 20)); /* 4.29 s */
    assert_int_equal(nic->retry_cnt, 5);
    assert_int_equal(nic->rnr_retry, 3);
    assert_int_equal(nic->rnr_wait_ps, 10 * UNIT_US);
    assert_int_equal(nic->strict_mask, 0x60);
    assert_int_equal(nic->weight[7], 8);
    assert_int_equal((uintptr_t)nic % 64, 0);
    for (uint32_t p = f.graph.nodes[3].first_port; p < f.graph.n_ports; p++) {
        struct net_nic_counters n;
        if (f.graph.ports[p].node != 3)
            continue;
        assert_null(f.net->nic[f.net->port_of_graph[p]]);
        net_nic_counters(f.net, p, &n);
        assert_int_equal(n.out_of_sequence, 0);
    }
    assert_null(f.net->rx_held); /* nobody reorders */
    net_fixture_release(&f);
}

/* Host 2 has other values. */
struct place { const struct net_fixture *f; struct nic_params other; };
static const void *at_port(void *user, enum net_params kind, uint32_t port, uint32_t class)
{
    static const char *const names[NET_N_PARAMS] = {"link", "switch", "qos", "buffer", "pfc", "pfcwd", "ecn", "nic"};
    const struct place *place = user;
    if (kind != NET_PARAMS_NIC)
        return param_bag_get(place->f->bag, names[kind]);
    assert_int_equal(class, NET_SITE_ANY_CLASS);
    return place->f->graph.ports[port].node == 2 ? &place->other : place->f->config.nic;
}
static const void *at_node(void *user, enum net_params kind, uint32_t node)
{
    const struct place *place = user;
    const struct net_node *n = &place->f->graph.nodes[node];
    return at_port(user, kind, n->first_port, NET_SITE_ANY_CLASS);
}

static void test_nic_build__both_ends_agree(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, (const char *const[]){"nic.recovery=selective_repeat", "nic.reorder_window=200", NULL});
    struct place place = {.f = &f, .other = *(const struct nic_params *)param_bag_get(f.bag, "nic")};
    place.other.recovery = NIC_GO_BACK_N;
    place.other.reorder_tolerance = 7;
    place.other.reorder_window = 1024;
    const struct net_site site = {.at_port = at_port, .at_node = at_node, .user = &place};
    f.config.site = &site;
    net_fixture_start(&f);
    assert_true(f.net->tx[0].selective && f.net->rx[0].selective && f.net->rx[0].reorder); /* 0 -> 1 */
    assert_int_equal(f.net->tx[0].window_pkts, 200);
    assert_false(f.net->tx[1].selective || f.net->rx[1].selective); /* 1 -> 2, which goes back */
    assert_true(f.net->rx[1].reorder);
    assert_false(f.net->tx[2].selective || f.net->rx[2].selective || f.net->rx[2].reorder); /* 2 -> 0 */
    assert_int_equal(f.net->tx[2].window_pkts, UINT32_MAX);
    assert_int_equal(f.net->reorder_words, 16); /* host 2 holds 1024 */
    net_fixture_run(&f);
    net_fixture_release(&f);
}

/* Latencies and the class of acknowledgements are those of the NIC at that end. */
static void test_nic_build__latencies_and_answers_differ_by_place(void **state)
{
    (void)state;
    sim_ps to[2], from[2];
    for (int i = 0; i < 2; i++) {
        struct net_fixture f;
        star(&f, (const char *const[]){"pfc.lossless_classes=3,5", NULL});
        struct place place = {.f = &f, .other = *(const struct nic_params *)param_bag_get(f.bag, "nic")};
        place.other.tx_latency_ps += i ? 7 * UNIT_US : 0;
        place.other.rx_latency_ps += i ? 3 * UNIT_US : 0;
        place.other.ack_class = 5;
        const struct net_site site = {.at_port = at_port, .at_node = at_node, .user = &place};
        f.config.site = &site;
        struct fixture_message m = net_fixture_message(&f, 0, 2, 1000), back = net_fixture_message(&f, 2, 1, 1000);
        net_fixture_start(&f);
        uint32_t qp = net_op_qp(f.net, m.send), qp_back = net_op_qp(f.net, back.send);
        assert_int_equal(f.net->rx[qp].ack_class, 5);
        assert_int_equal(f.net->rx[qp_back].ack_class, 3);
        to[i] = net_ideal_ps(f.net, qp, 1000);
        from[i] = net_ideal_ps(f.net, qp_back, 1000);
        net_fixture_run(&f);
        assert_true(net_fixture_done_ps(&f, back.recv) >= from[i]);
        net_fixture_release(&f);
    }
    assert_int_equal(to[1] - to[0], 3 * UNIT_US);
    assert_int_equal(from[1] - from[0], 7 * UNIT_US);
}

static void refused(const char *const *settings, const char *word)
{
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    star(&f, settings);
    assert_null(net_fixture_new(&f, &err));
    assert_non_null(strstr(err->message, word));
    net_fixture_release(&f);
}

static void test_nic_build__contradictions_are_refused(void **state)
{
    (void)state;
    refused((const char *const[]){"nic.recovery=selective_repeat", "nic.reorder_window=64", "nic.ack_interval=65", NULL}, "reorder_window");
    refused((const char *const[]){"nic.window_bdp=0.1", "nic.ack_interval=9", NULL}, "nic.window_bdp: a window of");
    refused((const char *const[]){"nic.rx_xoff=3MB", NULL}, "rx_xoff");
    refused((const char *const[]){"nic.rx_xon=1500KB", NULL}, "rx_xon");
    refused((const char *const[]){"nic.ets_weights=1,2", NULL}, "weights");
    refused((const char *const[]){"nic.ets_strict_classes=9", NULL}, "classes");
}

/* There and back 4 x 500 ns, 2 packets of 334.24 ns, 2 ACKs of 6.88 ns: 2,682.24 ns, or 8.025 packets. */
static void test_nic_build__windows_in_multiples_of_the_path(void **state)
{
    (void)state;
    static const struct { const char *multiple, *window; uint32_t pkts; } cases[] = {
        {"nic.window_bdp=1", "nic.window=0", 9}, {"nic.window_bdp=2", "nic.window=0", 17},       {"nic.window_bdp=0.5", "nic.window=0", 5},
        {"nic.window_bdp=0", "nic.window=0", UINT32_MAX}, {"nic.window_bdp=2", "nic.window=8192B", 2}, {"nic.window_bdp=0.5", "nic.window=1MB", 5},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct net_fixture f;
        star(&f, (const char *const[]){cases[i].multiple, cases[i].window, NULL});
        net_fixture_set_bare(&f);
        net_fixture_start(&f);
        assert_int_equal(f.net->tx[0].window_pkts, cases[i].pkts);
        net_fixture_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nic_build__ports_bear_their_settings),
        cmocka_unit_test(test_nic_build__both_ends_agree),
        cmocka_unit_test(test_nic_build__latencies_and_answers_differ_by_place),
        cmocka_unit_test(test_nic_build__windows_in_multiples_of_the_path),
        cmocka_unit_test(test_nic_build__contradictions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
