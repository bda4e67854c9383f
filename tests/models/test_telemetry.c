/* test_telemetry.c - what ports stamp on packets, read where the sender reads it. */
#include "models/telemetry.h"
#include "models/net_fixture.h"

#define WIRE 4178 /* a full packet: 334.24 ns at 100G */

static struct net *start_star(struct net_fixture *f, uint32_t n_hosts, const char *law)
{
    g_autofree char *setting = g_strdup_printf("nic.congestion_control=%s", law);
    net_fixture_init(f);
    net_fixture_star(f, n_hosts, 100 * UNIT_GBPS, UNIT_US);
    net_fixture_set_bare(f);
    net_fixture_set_all(f, (const char *const[]){setting, "link.reth=0", NULL});
    for (uint32_t i = 0; i + 1 < n_hosts; i++)
        net_fixture_flow(f, i, n_hosts - 1, 10 * 4096, 0);
    return net_fixture_start(f);
}

/* One flow alone: packet n starts n x 334.24 ns after the first at the NIC, and 1,334.24 ns later at the switch. */
static void test_telemetry__hops_of_a_lonely_flow(void **state)
{
    (void)state;
    struct net_fixture f;
    struct net *net = start_star(&f, 2, "hpcc");
    assert_int_equal(net_run(net, SIM_PS_MAX, FIXTURE_DEADLOCK_PS, 1, NULL, NULL), NET_FINISHED);
    for (uint32_t psn = 0; psn < 10; psn++) {
        const struct cc_hop *hop = telemetry_of(net, 0, psn);
        for (uint32_t h = 0; h < 2; h++) {
            assert_int_equal(hop[h].rate_mbps, 100000);
            assert_int_equal(hop[h].queue_bytes, 0);
            assert_int_equal(hop[h].tx_bytes, psn * WIRE);
        }
        assert_int_equal(hop[1].ts_ns - hop[0].ts_ns, (psn * 334240u + 1334240u) / 1000u - psn * 334240u / 1000u);
    }
    net_fixture_release(&f);
}

/* Two flows into one port: what the switch stamps is the port's count, and the queue behind the packet. */
static void test_telemetry__a_shared_port_counts_both(void **state)
{
    (void)state;
    struct net_fixture f;
    struct net *net = start_star(&f, 3, "hpcc");
    bool seen[20] = {false};
    assert_int_equal(net_run(net, SIM_PS_MAX, FIXTURE_DEADLOCK_PS, 1, NULL, NULL), NET_FINISHED);
    uint32_t queued = 0;
    for (uint32_t qp = 0; qp < 2; qp++)
        for (uint32_t psn = 0; psn < 10; psn++) {
            const struct cc_hop *hop = telemetry_of(net, qp, psn);
            assert_int_equal(hop[0].tx_bytes, psn * WIRE);
            assert_int_equal(hop[1].tx_bytes % WIRE, 0);
            seen[hop[1].tx_bytes / WIRE] = true;
            queued += hop[1].queue_bytes > 0;
        }
    for (int i = 0; i < 20; i++)
        assert_true(seen[i]); /* each of the port's 20 places once */
    assert_true(queued >= 15);
    net_fixture_release(&f);
}

static void test_telemetry__nobody_stamps_unasked(void **state)
{
    (void)state;
    struct net_fixture f;
    struct net *net = start_star(&f, 2, "dcqcn");
    assert_null(net->telemetry);
    for (uint32_t p = 0; p < net->n_ports; p++)
        assert_false(net->port[p].profile->special);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_telemetry__hops_of_a_lonely_flow),
        cmocka_unit_test(test_telemetry__a_shared_port_counts_both),
        cmocka_unit_test(test_telemetry__nobody_stamps_unasked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
