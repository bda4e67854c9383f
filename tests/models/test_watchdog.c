/* test_watchdog.c - a NIC that storms: how long one frame blocks, when the watchdog sees it, and when it lets go. */
#include "models/net_loss.h"
#include "tests/models/fault_fixture.h"

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)
#define STORM_FROM (50 * UNIT_MS)
#define STORM_TO (600 * UNIT_MS)

/* Host 1 storms on priority 3 while host 0 sends to it, and on class 4 to host 2. */
static void storming(struct fault_fixture *x, const char *action, bool xons_after)
{
    fault_fixture_init(x);
    uint32_t s = net_fixture_star(&x->f, 3, G100, CABLE);
    g_autofree char *set = g_strdup_printf("pfcwd.action=%s", action);
    net_fixture_set_all(&x->f, (const char *const[]){"pfcwd.enabled=true", "pfcwd.poll_interval=100ms", "pfcwd.detection_time=200ms",
                                                     "pfcwd.restoration_time=200ms", "pfc.lossless_classes=3,4", set, "nic.local_ack_timeout=17",
                                                     "nic.congestion_control=none", NULL});
    fault_fixture_add(x, FAULT_PAUSE_STORM, 1, s, STORM_FROM, STORM_TO);
    if (xons_after)
        fault_fixture_add(x, FAULT_PAUSE_STORM, 1, s, STORM_TO, 1500 * UNIT_MS)->quanta = 0;
}

static const struct net_incident *find(const GArray *incidents, enum net_incident_kind kind)
{
    for (guint i = 0; i < incidents->len; i++)
        if (g_array_index(incidents, struct net_incident, i).kind == kind)
            return &g_array_index(incidents, struct net_incident, i);
    return NULL;
}

/* Case 26: detection 200 to 300 ms after the first XOFF, restoration 200 to 300 ms after the last one, XONs or not. */
static void check_times(bool xons_after)
{
    struct fault_fixture x;
    storming(&x, "drop", xons_after);
    net_fixture_message(&x.f, 0, 1, 64 * 4096);
    net_fixture_flow(&x.f, 0, 1, 64 * 4096, 60 * UNIT_MS); /* waits in the storm */
    net_fixture_run_until(&x.f, 2 * UNIT_S);
    g_autoptr(GArray) incidents = net_incidents(x.f.net);
    const struct net_incident *storm = find(incidents, NET_INCIDENT_STORM), *over = find(incidents, NET_INCIDENT_STORM_OVER);
    assert_non_null(storm);
    assert_non_null(over);
    assert_int_equal(storm->detail, 3);
    assert_true(storm->t_ps - STORM_FROM >= 200 * UNIT_MS && storm->t_ps - STORM_FROM <= 300 * UNIT_MS);
    assert_true(over->t_ps - STORM_TO >= 200 * UNIT_MS && over->t_ps - STORM_TO <= 301 * UNIT_MS);
    struct net_totals t = net_fixture_totals(&x.f);
    assert_int_equal(t.storms, 1);
    assert_true(t.drop_pkts >= 64); /* what waited */
    net_fixture_release(&x.f);
}

static void test_watchdog__times_of_detection_and_restoration(void **state)
{
    (void)state;
    check_times(false);
    check_times(true);
}

/* One frame of 65,535 quanta blocks for 65,535 x 512 bits; other classes pass. */
static void test_watchdog__one_frame_blocks_one_priority(void **state)
{
    (void)state;
    struct fault_fixture x;
    fault_fixture_init(&x);
    uint32_t s = net_fixture_star(&x.f, 3, G100, CABLE);
    net_fixture_set_all(&x.f, (const char *const[]){"pfc.lossless_classes=3,4", "nic.congestion_control=none", NULL});
    fault_fixture_add(&x, FAULT_PAUSE_STORM, 1, s, UNIT_US, 2 * UNIT_US)->interval_ps = UNIT_S;
    struct fixture_message held = net_fixture_message(&x.f, 0, 1, 100 * 4096);
    struct fixture_message free = net_fixture_message_in_class(&x.f, 2, 1, 100 * 4096, 4);
    net_fixture_run(&x.f);
    struct net_port_view port = net_fixture_port_view(&x.f, s, 1);
    assert_true(llabs(port.paused_ps - INT64_C(335539200)) < 10 * UNIT_NS); /* 65,535 x 512 b at 100 Gb/s */
    assert_true(net_fixture_done_ps(&x.f, held.recv) > 335 * UNIT_US);
    assert_true(net_fixture_done_ps(&x.f, free.recv) < 100 * UNIT_US);
    net_fixture_release(&x.f);
}

/* forward: from the detection on the data flow in spite of the pauses; alert: nothing moves. */
static void test_watchdog__actions(void **state)
{
    (void)state;
    static const char *const actions[] = {"forward", "alert"};
    for (int i = 0; i < 2; i++) {
        struct fault_fixture x;
        storming(&x, actions[i], false);
        struct fixture_message m = net_fixture_flow(&x.f, 0, 1, 64 * 4096, 60 * UNIT_MS);
        net_fixture_run_until(&x.f, 550 * UNIT_MS);
        sim_ps done = net_fixture_done_ps(&x.f, m.recv);
        assert_int_equal(net_fixture_totals(&x.f).storms, 1);
        assert_int_equal(net_fixture_totals(&x.f).drop_pkts, 0);
        if (i == 0)
            assert_true(done > 250 * UNIT_MS && done < 351 * UNIT_MS);
        else
            assert_int_equal(done, -1);
        net_fixture_release(&x.f);
    }
}

/* Pauses that congestion makes end again and again: no storm. */
static void test_watchdog__honest_pauses_are_no_storm(void **state)
{
    (void)state;
    struct fault_fixture x;
    fault_fixture_init(&x);
    net_fixture_star(&x.f, 5, G100, CABLE);
    net_fixture_set_all(&x.f, (const char *const[]){"pfcwd.enabled=true", "pfcwd.poll_interval=100us", "pfcwd.detection_time=200us",
                                                    "pfcwd.restoration_time=200us", "nic.congestion_control=none",
                                                    "buffer.size=2MB", NULL});
    for (uint32_t i = 0; i < 4; i++)
        net_fixture_message(&x.f, i, 4, 8000000);
    net_fixture_run(&x.f);
    struct net_totals t = net_fixture_totals(&x.f);
    assert_true(t.pause_frames > 10);
    assert_int_equal(t.storms, 0);
    net_fixture_release(&x.f);
}

/* ---- NIC -------------------------------------------------------------------------- */
#define CRITICAL (5 * UNIT_MS)
#define QUANTA_PS INT64_C(335539200) /* 65,535 x 512 b at 100 Gb/s */

/* Host 1's pauses last for 5 ms and one frame's quanta, not for the 550 ms of its storm; the switch's own watchdog is off. */
static void test_watchdog__nic_gives_up_a_storm(void **state)
{
    (void)state;
    for (int on = 0; on < 2; on++) {
        struct fault_fixture x;
        fault_fixture_init(&x);
        uint32_t s = net_fixture_star(&x.f, 3, G100, CABLE);
        net_fixture_set_all(&x.f, (const char *const[]){on ? "pfcwd.nic_enabled=true" : "pfcwd.nic_enabled=false", "pfcwd.nic_stall_critical=5ms",
                                                        "nic.local_ack_timeout=0", "nic.congestion_control=none", NULL});
        fault_fixture_add(&x, FAULT_PAUSE_STORM, 1, s, STORM_FROM, STORM_TO);
        struct fixture_message m = net_fixture_flow(&x.f, 0, 1, 64 * 4096, STORM_FROM + UNIT_MS);
        struct fixture_message later = net_fixture_flow(&x.f, 0, 1, 64 * 4096, STORM_FROM + 100 * UNIT_MS);
        net_fixture_flow(&x.f, 0, 1, 4096, STORM_TO + UNIT_MS);
        net_fixture_run(&x.f);
        sim_ps ends = on ? STORM_FROM + CRITICAL + QUANTA_PS : STORM_TO + QUANTA_PS;
        sim_ps done = net_fixture_done_ps(&x.f, m.recv);
        assert_in_range(done, ends - QUANTA_PS / 2, ends + 100 * UNIT_US);
        if (on)
            assert_in_range(net_fixture_done_ps(&x.f, later.recv), STORM_FROM + 100 * UNIT_MS, STORM_FROM + 101 * UNIT_MS);
        /* A frame each half of what one blocks. */
        assert_in_range(net_fixture_port_view(&x.f, 1, s).pause_tx_frames, on ? 29 : 3270, on ? 31 : 3290);
        g_autoptr(GArray) incidents = net_incidents(x.f.net);
        const struct net_incident *gave_up = find(incidents, NET_INCIDENT_NIC_WATCHDOG), *over = find(incidents, NET_INCIDENT_NIC_WATCHDOG_OVER);
        assert_int_equal(net_fixture_nic(&x.f, 1).tx_pause_storm_error_events, on);
        assert_true((gave_up != NULL) == on && (over != NULL) == on);
        if (on) {
            assert_int_equal(gave_up->t_ps, STORM_FROM + CRITICAL);
            assert_int_equal(gave_up->detail, 3);
            assert_int_equal(over->t_ps, STORM_TO);
        }
        net_fixture_release(&x.f);
    }
}

/* Frames further apart than their quanta, and the pauses of a receiver that is merely slow, have breaks. */
static void test_watchdog__nic_pauses_with_breaks_go_on(void **state)
{
    (void)state;
    struct fault_fixture x;
    fault_fixture_init(&x);
    uint32_t s = net_fixture_star(&x.f, 3, G100, CABLE);
    net_fixture_set_all(&x.f, (const char *const[]){"pfcwd.nic_enabled=true", "pfcwd.nic_stall_critical=2ms", "nic.rx_rate=10Gbps",
                                                    "nic.rx_buffer=400KB", "nic.rx_xoff=200KB", "nic.rx_xon=100KB",
                                                    "nic.congestion_control=none", NULL});
    fault_fixture_add(&x, FAULT_PAUSE_STORM, 2, s, UNIT_MS, 40 * UNIT_MS)->interval_ps = 340 * UNIT_US;
    net_fixture_message(&x.f, 0, 1, 20000000); /* 16 ms at 10G */
    net_fixture_run(&x.f);
    assert_true(net_fixture_port_view(&x.f, 1, s).pause_tx_frames > 20);
    assert_in_range(net_fixture_port_view(&x.f, 2, s).pause_tx_frames, 45, 116);
    assert_int_equal(net_fixture_nic(&x.f, 1).tx_pause_storm_error_events, 0);
    assert_int_equal(net_fixture_nic(&x.f, 2).tx_pause_storm_error_events, 0);
    net_fixture_release(&x.f);
}

/* A receive pipeline that is stuck from 0.1 to 30 ms: 5 ms after its XOFF the port gives up and drops; the switch is free again.
 * Once it has drained it pauses as before, and the flow ends. */
static void check_stuck(const char *timed)
{
    struct fault_fixture x;
    fault_fixture_init(&x);
    uint32_t s = net_fixture_star(&x.f, 3, G100, CABLE);
    net_fixture_set_all(&x.f, (const char *const[]){"pfcwd.nic_enabled=true", "pfcwd.nic_stall_critical=5ms", "nic.rx_buffer=400KB",
                                                    "nic.rx_xoff=200KB", "nic.rx_xon=100KB", "nic.local_ack_timeout=12",
                                                    "nic.congestion_control=none", timed, NULL});
    fault_fixture_add(&x, FAULT_SLOW_RECEIVER, 1, s, 100 * UNIT_US, 30 * UNIT_MS)->rate_bps = UNIT_MBPS;
    struct fixture_message m = net_fixture_message(&x.f, 0, 1, 4000000);
    net_fixture_run(&x.f);
    struct net_nic_counters n = net_fixture_nic(&x.f, 1);
    assert_int_equal(n.tx_pause_storm_error_events, 1);
    assert_true(n.rx_out_of_buffer > 0);
    assert_true(net_fixture_done_ps(&x.f, m.recv) > 30 * UNIT_MS);
    g_autoptr(GArray) incidents = net_incidents(x.f.net);
    const struct net_incident *gave_up = find(incidents, NET_INCIDENT_NIC_WATCHDOG), *over = find(incidents, NET_INCIDENT_NIC_WATCHDOG_OVER);
    assert_in_range(gave_up->t_ps, CRITICAL + 100 * UNIT_US, CRITICAL + 200 * UNIT_US);
    assert_true(over->t_ps > 30 * UNIT_MS);
    /* Its port at the switch stood still from the XOFF to the end of the last pause, no longer. */
    sim_ps paused = net_fixture_port_view(&x.f, s, 1).paused_ps;
    assert_in_range(paused, CRITICAL - 10 * UNIT_US, CRITICAL + QUANTA_PS + 100 * UNIT_US);
    net_fixture_release(&x.f);
}

static void test_watchdog__stuck_nic_drops(void **state)
{
    (void)state;
    check_stuck("pfc.timed=true");
    check_stuck("pfc.timed=false");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watchdog__times_of_detection_and_restoration),
        cmocka_unit_test(test_watchdog__one_frame_blocks_one_priority),
        cmocka_unit_test(test_watchdog__actions),
        cmocka_unit_test(test_watchdog__honest_pauses_are_no_storm),
        cmocka_unit_test(test_watchdog__nic_gives_up_a_storm),
        cmocka_unit_test(test_watchdog__nic_pauses_with_breaks_go_on),
        cmocka_unit_test(test_watchdog__stuck_nic_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
