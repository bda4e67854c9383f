/* test_fault.c - links that go down and come back, slow links, stragglers, a NIC that loses a port. */
#include "models/fault.h"
#include "tests/models/fault_fixture.h"

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)

/* One flow of 20 MB over two spines (nodes 4 and 5), leaves 2 and 3. */
static struct fixture_message one_flow(struct fault_fixture *x)
{
    fault_fixture_init(x);
    net_fixture_leaf_spine(&x->f, 2, 1, 2, G100, CABLE);
    net_fixture_set_all(&x->f, (const char *const[]){"nic.congestion_control=none", "nic.local_ack_timeout=5", NULL}); /* 131 us */
    return net_fixture_message(&x->f, 0, 1, 20000000);
}

static uint32_t spine_in_use(struct fault_fixture *x)
{
    net_fixture_run_until(&x->f, 20 * UNIT_US);
    return net_fixture_port_view(&x->f, 2, 4).tx_data_pkts > 0 ? 4 : 5;
}

static sim_ps healthy_ps(uint32_t *spine)
{
    struct fault_fixture x;
    struct fixture_message m = one_flow(&x);
    *spine = spine_in_use(&x);
    net_fixture_run(&x.f);
    sim_ps t = net_fixture_done_ps(&x.f, m.recv);
    net_fixture_release(&x.f);
    return t;
}

/* The spine link in use fails for a while: lost packets are sent again over the other spine, the run ends later. */
static void test_fault__link_down_is_survived(void **state)
{
    (void)state;
    uint32_t spine;
    sim_ps healthy = healthy_ps(&spine);
    struct fault_fixture x;
    struct fixture_message m = one_flow(&x);
    fault_fixture_add(&x, FAULT_LINK_DOWN, 2, spine, 500 * UNIT_US, 900 * UNIT_US);
    net_fixture_run(&x.f);
    struct net_totals t = net_fixture_totals(&x.f);
    assert_true(t.lost_pkts + t.drop_pkts > 0);
    assert_true(t.retransmitted_pkts > 0);
    assert_true(net_fixture_port_view(&x.f, 2, 9 - spine).tx_data_pkts > 1000);
    sim_ps late = net_fixture_done_ps(&x.f, m.recv) - healthy;
    assert_true(late > 10 * UNIT_US && late < UNIT_MS);
    net_fixture_release(&x.f);
}

/* Far end's link: the near leaf learns of it only by reconvergence; until then everything is lost. */
static void test_fault__remote_link_waits_for_reconvergence(void **state)
{
    (void)state;
    uint32_t spine;
    sim_ps healthy = healthy_ps(&spine);
    struct fault_fixture x;
    struct fixture_message m = one_flow(&x);
    x.f.config.reconvergence_ps = 2 * UNIT_MS;
    net_fixture_set(&x.f, "nic.local_ack_timeout=8");
    fault_fixture_add(&x, FAULT_LINK_DOWN, spine, 3, 500 * UNIT_US, SIM_PS_MAX);
    net_fixture_run(&x.f);
    assert_true(net_fixture_done_ps(&x.f, m.recv) - healthy > 2 * UNIT_MS);
    g_autoptr(GArray) incidents = net_incidents(x.f.net);
    uint32_t rerouted = 0;
    for (guint i = 0; i < incidents->len; i++)
        rerouted += g_array_index(incidents, struct net_incident, i).kind == NET_INCIDENT_REROUTED;
    assert_int_equal(rerouted, 4); /* every switch */
    net_fixture_release(&x.f);
}

static void test_fault__switch_reboot(void **state)
{
    (void)state;
    uint32_t spine;
    sim_ps healthy = healthy_ps(&spine);
    struct fault_fixture x;
    struct fixture_message m = one_flow(&x);
    fault_fixture_add(&x, FAULT_SWITCH_REBOOT, spine, NET_NONE, 500 * UNIT_US, 1200 * UNIT_US);
    net_fixture_run(&x.f);
    assert_true(net_fixture_done_ps(&x.f, m.recv) > healthy);
    net_fixture_release(&x.f);
}

/* Half the rate for a known time costs half of that time. */
static void test_fault__degraded_rate(void **state)
{
    (void)state;
    uint32_t spine;
    sim_ps healthy = healthy_ps(&spine);
    struct fault_fixture x;
    struct fixture_message m = one_flow(&x);
    fault_fixture_add(&x, FAULT_DEGRADED_RATE, 2, spine, 200 * UNIT_US, 1000 * UNIT_US)->rate_bps = G100 / 2;
    net_fixture_run(&x.f);
    sim_ps late = net_fixture_done_ps(&x.f, m.recv) - healthy;
    assert_true(late > 0 && late <= 401 * UNIT_US);
    assert_int_equal(net_fixture_totals(&x.f).drop_pkts, 0);
    net_fixture_release(&x.f);
}

static void test_fault__straggler_computes_longer(void **state)
{
    (void)state;
    struct fault_fixture x;
    fault_fixture_init(&x);
    net_fixture_star(&x.f, 2, G100, CABLE);
    uint32_t first = job_add_compute(net_fixture_job(&x.f), 0, 100 * UNIT_US), second = job_add_compute(x.f.job, 0, 100 * UNIT_US);
    job_depend(x.f.job, second, first);
    fault_fixture_add(&x, FAULT_STRAGGLER, 0, NET_NONE, 50 * UNIT_US, SIM_PS_MAX)->factor = 3;
    net_fixture_run(&x.f);
    assert_int_equal(net_fixture_done_ps(&x.f, second), 400 * UNIT_US); /* the first had begun before */
    net_fixture_release(&x.f);
}

static bool all_flows(void *user, const struct net_route_request *r)
{
    (void)user, (void)r;
    return true;
}

static void check_takeover(net_pinned_fn pinned)
{
    struct fault_fixture x;
    fault_fixture_init(&x);
    struct net_fixture *f = &x.f;
    net_fixture_host(f);
    net_fixture_host(f);
    uint32_t a = net_fixture_node(f, NET_SWITCH, "a"), b = net_fixture_node(f, NET_SWITCH, "b");
    net_fixture_link(f, 0, a, G100, CABLE);
    net_fixture_link(f, 0, b, G100, CABLE);
    net_fixture_link(f, 1, a, G100, CABLE);
    net_fixture_link(f, 1, b, G100, CABLE);
    f->config.pinned = pinned;
    net_fixture_set_all(f, (const char *const[]){"nic.congestion_control=none", "nic.local_ack_timeout=6", NULL});
    struct fixture_message m = net_fixture_message(f, 0, 1, 20000000);
    for (uint32_t s = a; s <= b; s++) /* whichever it uses: one of both at a time */
        fault_fixture_add(&x, FAULT_NIC_PORT_DOWN, 0, s, (s == a ? 300 : 1500) * UNIT_US, (s == a ? 1200 : 3000) * UNIT_US);
    net_fixture_run(f);
    assert_true(net_fixture_done_ps(f, m.recv) < 5 * UNIT_MS);
    assert_true(net_fixture_port_view(f, 0, a).tx_data_pkts > 500 && net_fixture_port_view(f, 0, b).tx_data_pkts > 500);
    g_autoptr(GArray) incidents = net_incidents(f->net);
    bool moved = false;
    for (guint i = 0; i < incidents->len; i++)
        moved |= g_array_index(incidents, struct net_incident, i).kind == NET_INCIDENT_FAILOVER;
    assert_true(moved);
    net_fixture_release(f);
}

/* A host on two leaves loses the port that its queue pair uses: it goes on over the other one, where a path that the workload
 * lists does not lead. */
static void test_fault__second_port_takes_over(void **state)
{
    (void)state;
    check_takeover(NULL);
    check_takeover(all_flows);
}

/* The same run with one and two threads. */
static void test_fault__threads_do_not_matter(void **state)
{
    (void)state;
    uint64_t digest[2];
    for (int n = 1; n <= 2; n++) {
        struct fault_fixture x;
        one_flow(&x);
        fault_fixture_add(&x, FAULT_LINK_DOWN, 2, 4, 500 * UNIT_US, 900 * UNIT_US);
        fault_fixture_add(&x, FAULT_RAISED_BER, 2, 5, 500 * UNIT_US, 900 * UNIT_US)->loss = 0.01;
        net_fixture_run_hook(&x.f, SIM_PS_MAX, n, NULL, NULL);
        digest[n - 1] = net_fixture_totals(&x.f).digest;
        net_fixture_release(&x.f);
    }
    assert_true(digest[0] == digest[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault__link_down_is_survived),
        cmocka_unit_test(test_fault__remote_link_waits_for_reconvergence),
        cmocka_unit_test(test_fault__switch_reboot),
        cmocka_unit_test(test_fault__degraded_rate),
        cmocka_unit_test(test_fault__straggler_computes_longer),
        cmocka_unit_test(test_fault__second_port_takes_over),
        cmocka_unit_test(test_fault__threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
