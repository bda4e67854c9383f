/* test_nic_cc.c - what the NIC tells a law and what it refuses: marks that come back, windows that hold, combinations. */
#include "models/nic.h"
#include "models/net_fixture.h"

/* Two hosts on a switch, one flow of N packets of 4,096 B. */
static struct fixture_message one_flow(struct net_fixture *f, const char *law, int64_t n_pkts)
{
    net_fixture_init(f);
    net_fixture_star(f, 2, 100 * UNIT_GBPS, UNIT_US);
    net_fixture_set_bare(f);
    g_autofree char *setting = g_strdup_printf("nic.congestion_control=%s", law);
    net_fixture_set_all(f, (const char *const[]){setting, "ecn.enabled=true", NULL});
    return net_fixture_flow(f, 0, 1, n_pkts * 4096, 0);
}

static sim_ps time_of(const char *law, int64_t n_pkts, struct net_totals *totals)
{
    struct net_fixture f;
    struct fixture_message m = one_flow(&f, law, n_pkts);
    struct net *net = net_fixture_start(&f);
    assert_int_equal(net_run(net, SIM_PS_MAX, FIXTURE_DEADLOCK_PS, 1, NULL, NULL), NET_FINISHED);
    net_totals(net, totals);
    sim_ps done_ps = net_op_done_ps(net, m.recv);
    net_fixture_release(&f);
    return done_ps;
}

/* A window that fills the path costs nothing: the flow is as fast as without control. */
static void test_nic_cc__a_full_window_is_no_brake(void **state)
{
    (void)state;
    struct net_totals none, dctcp;
    sim_ps alone_ps = time_of("none", 1000, &none), held_ps = time_of("dctcp", 1000, &dctcp);
    assert_true(held_ps >= alone_ps && held_ps <= alone_ps + UNIT_US);
    assert_int_equal(dctcp.ecn_marked_pkts, 0);
}

/* Marks come back on ACKs, one each, and no CNP is sent beside them. */
static void test_nic_cc__marks_are_echoed_one_by_one(void **state)
{
    (void)state;
    struct net_fixture f;
    struct net_totals t;
    net_fixture_init(&f);
    net_fixture_star(&f, 3, 100 * UNIT_GBPS, UNIT_US);
    net_fixture_set_bare(&f);
    net_fixture_set_all(&f, (const char *const[]){"nic.congestion_control=dctcp", "ecn.enabled=true", "ecn.kmin=100KB", "ecn.kmax=100KB",
                                                  "ecn.pmax=1", NULL});
    net_fixture_flow(&f, 0, 2, 8 * UNIT_MB, 0);
    net_fixture_flow(&f, 1, 2, 8 * UNIT_MB, 0);
    struct net *net = net_fixture_start(&f);
    assert_int_equal(net_run(net, SIM_PS_MAX, FIXTURE_DEADLOCK_PS, 1, NULL, NULL), NET_FINISHED);
    net_totals(net, &t);
    assert_true(t.ecn_marked_pkts > 50);
    assert_int_equal(t.echo_acks, t.ecn_marked_pkts);
    assert_int_equal(t.cnp_sent_pkts, 0);
    assert_true(t.rate_cuts > 10);
    net_fixture_release(&f);
}

/* One HPCC flow settles where U = W / (B T), W = eta B T + W_AI: at eta + W_AI / BDP of the wire. 10 MB behind the first
 * 10 MB, between hosts 4.34 us apart there and back (BDP 54.4 kB: 0.15 %). */
static void test_nic_cc__hpcc_settles_at_eta(void **state)
{
    (void)state;
    struct net_totals t;
    const int64_t n = 2500;
    sim_ps half_ps = time_of("hpcc", n, &t), all_ps = time_of("hpcc", 2 * n, &t);
    double used = (double)(n * 4178 * 80) / (double)(all_ps - half_ps);
    if (used < 0.945 || used > 0.957)
        fail_msg("%g of the link used, expected 0.9515", used);
}

/* A chain of N switches between two hosts. */
static struct net *chain(struct net_fixture *f, uint32_t n, GError **err)
{
    net_fixture_init(f);
    uint32_t a = net_fixture_host(f), b = net_fixture_host(f), at = a;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = net_fixture_node(f, NET_SWITCH, "s");
        net_fixture_link(f, at, s, 100 * UNIT_GBPS, UNIT_US);
        at = s;
    }
    net_fixture_link(f, at, b, 100 * UNIT_GBPS, UNIT_US);
    net_fixture_set_bare(f);
    net_fixture_set(f, "nic.congestion_control=hpcc");
    net_fixture_flow(f, 0, 1, 100 * 4096, 0);
    return net_fixture_new(f, err);
}

static void test_nic_cc__telemetry_of_long_paths_is_refused(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    struct net *net = chain(&f, CC_MAX_HOPS - 1, &err);
    assert_non_null(net);
    assert_int_equal(net_run(net, SIM_PS_MAX, FIXTURE_DEADLOCK_PS, 1, NULL, NULL), NET_FINISHED);
    net_fixture_release(&f);
    assert_null(chain(&f, CC_MAX_HOPS, &err));
    assert_string_equal(err->message, "nic.congestion_control: a path of 9 links; allowed with hpcc: 8, for which its header has room");
    net_fixture_release(&f);
}

static void assert_refused(const char *law, const char *setting, const char *message)
{
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    one_flow(&f, law, 10);
    if (setting)
        net_fixture_set(&f, setting);
    assert_null(net_fixture_new(&f, &err));
    assert_non_null(err);
    if (!strstr(err->message, message))
        fail_msg("%s", err->message);
    net_fixture_release(&f);
}

static void test_nic_cc__combinations_that_cannot_work_are_refused(void **state)
{
    (void)state;
    assert_refused("dctcp", "nic.ack_interval=2", "nic.ack_interval: with dctcp a window of one packet would wait for ever");
    assert_refused("hpcc", "nic.ack_interval=4", "nic.ack_interval: with hpcc a window of one packet");
    assert_refused("swift", "nic.ack_interval=4", "nic.ack_interval: with swift a window of one packet");
    assert_refused("dctcp", "ecn.enabled=false", "ecn.enabled: dctcp is blind without marks");
}

static const void *other_law(void *user, enum net_params kind, uint32_t node)
{
    struct net_fixture *f = user;
    static struct nic_params other;
    if (kind != NET_PARAMS_NIC)
        return param_bag_get(f->bag, (const char *const[]){"link", "switch", "qos", "buffer", "pfc", "pfcwd", "ecn", "nic"}[kind]);
    other = *(const struct nic_params *)param_bag_get(f->bag, "nic");
    other.congestion_control = node == 1 ? NIC_CC_NONE : other.congestion_control;
    return &other;
}
static const void *other_law_at_port(void *user, enum net_params kind, uint32_t port, uint32_t class)
{
    (void)port, (void)class;
    return other_law(user, kind, 0);
}

static void test_nic_cc__two_laws_in_one_run_are_refused(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    one_flow(&f, "dctcp", 10);
    const struct net_site site = {other_law_at_port, other_law, &f, NULL};
    f.config.site = &site;
    assert_null(net_fixture_new(&f, &err));
    assert_string_equal(err->message, "nic.congestion_control: none at h1, dctcp for the run; allowed: one for all NICs");
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nic_cc__a_full_window_is_no_brake),
        cmocka_unit_test(test_nic_cc__marks_are_echoed_one_by_one),
        cmocka_unit_test(test_nic_cc__hpcc_settles_at_eta),
        cmocka_unit_test(test_nic_cc__telemetry_of_long_paths_is_refused),
        cmocka_unit_test(test_nic_cc__combinations_that_cannot_work_are_refused),
        cmocka_unit_test(test_nic_cc__two_laws_in_one_run_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
