/* test_pfc.c - the life of a pause: obeyed after the frame on the wire, running out, refreshed, ended by XON; and the
 * law that makes a class lossless: what comes after XOFF fits into the headroom. */
#include "models/net_fixture.h"

#include <stdlib.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE UNIT_US
#define FULL ((4096 + 62 + 20) * INT64_C(80)) /* wire time of a full packet at 100 Gb/s: 334.24 ns */
#define FIRST (FULL + 16 * INT64_C(80))
#define QUANTA(n) ((n) * INT64_C(64) * 80) /* 512 bit times each, at 100 Gb/s */

/* ---- a NIC under orders -------------------------------------------------------------- */
/* Two NICs on one cable; ten packets start at 0. Pause frames come from the test; a second pair with a long cable makes
 * the engine hold enough windows for them. */
static struct fixture_message ten_packets(struct net_fixture *f, const char *setting)
{
    net_fixture_init(f);
    for (int i = 0; i < 4; i++)
        net_fixture_host(f);
    net_fixture_link(f, 0, 1, G100, CABLE);
    net_fixture_link(f, 2, 3, G100, 20 * CABLE);
    net_fixture_set_bare(f);
    if (setting)
        net_fixture_set(f, setting);
    struct fixture_message m = net_fixture_message(f, 0, 1, 10 * 4096);
    net_fixture_start(f);
    net_run(f->net, 0, FIXTURE_DEADLOCK_PS, 1, NULL, NULL); /* runs nothing; from here on the test may send */
    return m;
}

/* A pause frame for CLASS takes effect at host 0 at T_PS. */
static void order(struct net_fixture *f, sim_ps t_ps, uint32_t quanta, uint32_t class)
{
    uint32_t port = f->net->port_of_graph[net_fixture_port(f, 0, 1)];
    sim_send(f->net->core, port, f->net->cold[port].node, t_ps, quanta, 1u << class,
             packet_make(PACKET_PAUSE, class, 64));
}

/* Three packets (to 1.004 us) are out when the order of 1.2 us lets the fourth one end; six are left. */
#define FOUR_OUT (FIRST + 3 * FULL)

static void test_pfc__pause_lasts_its_quanta_and_spares_the_frame_on_the_wire(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = ten_packets(&f, NULL);
    order(&f, 1200 * UNIT_NS, 1000, 3);
    net_fixture_run(&f);
    sim_ps resumed = 1200 * UNIT_NS + QUANTA(1000); /* 6.32 us */
    assert_true(FOUR_OUT < resumed);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), resumed + 6 * FULL + CABLE);
    struct net_port_view view = net_fixture_port_view(&f, 0, 1);
    assert_int_equal(view.paused_ps, QUANTA(1000));
    assert_int_equal(view.pause_rx_frames, 1);
    assert_int_equal(view.paused_now, 0);
    net_fixture_release(&f);
}

/* Shorter than the frame on the wire: no one notices. */
static void test_pfc__pause_within_a_frame_costs_nothing(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = ten_packets(&f, NULL);
    order(&f, 1100 * UNIT_NS, 40, 3); /* until 1.304 us; the frame ends at 1.339 */
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), FIRST + 9 * FULL + CABLE);
    assert_int_equal(net_fixture_port_view(&f, 0, 1).paused_ps, QUANTA(40));
    net_fixture_release(&f);
}

static void test_pfc__refresh_extends_the_pause(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = ten_packets(&f, NULL);
    order(&f, 1200 * UNIT_NS, 400, 3); /* until 3.248 us */
    order(&f, 2200 * UNIT_NS, 400, 3); /* until 4.248 us */
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), 2200 * UNIT_NS + QUANTA(400) + 6 * FULL + CABLE);
    assert_int_equal(net_fixture_port_view(&f, 0, 1).paused_ps, UNIT_US + QUANTA(400));
    assert_int_equal(net_fixture_port_view(&f, 0, 1).pause_rx_frames, 2);
    net_fixture_release(&f);
}

static void test_pfc__xon_ends_the_pause_at_once(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = ten_packets(&f, NULL);
    order(&f, 1200 * UNIT_NS, 65535, 3);
    order(&f, 3 * UNIT_US + 123, 0, 3);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), 3 * UNIT_US + 123 + 6 * FULL + CABLE);
    net_fixture_release(&f);
}

/* The first timer must not end the second pause. */
static void test_pfc__new_pause_after_xon_has_its_full_time(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = ten_packets(&f, NULL);
    order(&f, 1200 * UNIT_NS, 400, 3);
    order(&f, 1500 * UNIT_NS, 0, 3);   /* one more packet goes out: five are left */
    order(&f, 1600 * UNIT_NS, 600, 3); /* until 4.672 us, beyond the first one's 3.248 */
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), 1600 * UNIT_NS + QUANTA(600) + 5 * FULL + CABLE);
    assert_int_equal(net_fixture_port_view(&f, 0, 1).paused_ps, 300 * UNIT_NS + QUANTA(600));
    net_fixture_release(&f);
}

static void test_pfc__untimed_pause_waits_for_xon(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = ten_packets(&f, "pfc.timed=false");
    order(&f, 1200 * UNIT_NS, PACKET_PAUSE_FOREVER, 3);
    assert_int_equal(net_fixture_run_until(&f, UNIT_S), NET_STUCK); /* nothing else will ever happen */
    assert_int_equal(net_fixture_done_ps(&f, m.recv), -1);
    net_fixture_release(&f);
}

static void test_pfc__other_classes_go_on(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = ten_packets(&f, NULL);
    order(&f, 1200 * UNIT_NS, 65535, 4);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), FIRST + 9 * FULL + CABLE);
    net_fixture_release(&f);
}

/* An XON for a class that is not paused is counted by no one's clock. */
static void test_pfc__xon_without_pause_changes_nothing(void **state)
{
    (void)state;
    struct net_fixture f;
    struct fixture_message m = ten_packets(&f, NULL);
    order(&f, 1200 * UNIT_NS, 0, 3);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), FIRST + 9 * FULL + CABLE);
    assert_int_equal(net_fixture_port_view(&f, 0, 1).paused_ps, 0);
    net_fixture_release(&f);
}

/* ---- a switch that pauses ---------------------------------------------------------------- */
/* N senders and one receiver that sends back, so that pause frames find the wire taken. */
static uint32_t incast(struct net_fixture *f, uint32_t n, int64_t rate_bps, sim_ps delay_ps, int64_t bytes)
{
    net_fixture_init(f);
    uint32_t s = net_fixture_star(f, n + 1, rate_bps, delay_ps);
    net_fixture_set_all(f, (const char *const[]){"buffer.alpha=1/128", "ecn.enabled=false",
                                                 "nic.congestion_control=none", NULL});
    for (uint32_t i = 0; i < n; i++) {
        net_fixture_flow(f, i, n, bytes, 0);
        net_fixture_flow(f, n, i, bytes / n, 0);
    }
    return s;
}

static void assert_physical_headroom_is_enough(int64_t rate_bps, sim_ps delay_ps, const char *forwarding)
{
    struct net_fixture f;
    int64_t bytes = 1000000 + 4 * units_bytes_in(delay_ps, rate_bps);
    uint32_t s = incast(&f, 4, rate_bps, delay_ps, bytes);
    net_fixture_set(&f, forwarding);
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(t.drop_pkts, 0);
    assert_int_equal(t.retransmitted_pkts, 0);
    assert_true(t.pause_frames > 0 && t.resume_frames > 0);
    int64_t most = 0, granted = 0;
    for (uint32_t i = 0; i < 4; i++) {
        struct net_port_view in = net_fixture_port_view(&f, s, i), sender = net_fixture_port_view(&f, i, s);
        assert_true(in.headroom_max_bytes <= in.headroom_bytes);
        assert_int_equal(sender.pause_rx_frames, in.pause_tx_frames);
        assert_true(sender.paused_ps > 0);
        most = MAX(most, in.headroom_max_bytes);
        granted = in.headroom_bytes;
    }
    /* The rule is not far above what is used: whole frames of what the worst alignment gives. */
    assert_true(most > granted * 45 / 100);
    net_fixture_release(&f);
}

static void test_pfc__physical_headroom_is_enough_and_not_idle(void **state)
{
    (void)state;
    static const int64_t rates[] = {25, 100, 400};
    static const sim_ps delays[] = {5 * UNIT_NS, 500 * UNIT_NS, 10 * UNIT_US};
    for (gsize r = 0; r < G_N_ELEMENTS(rates); r++)
        for (gsize d = 0; d < G_N_ELEMENTS(delays); d++) {
            assert_physical_headroom_is_enough(rates[r] * UNIT_GBPS, delays[d], "switch.forwarding=cut_through");
            assert_physical_headroom_is_enough(rates[r] * UNIT_GBPS, delays[d], "switch.forwarding=store_and_forward");
        }
}

/* Half the headroom drops, and the drops are counted where they happen: at the ingress from each sender. */
static void test_pfc__half_the_headroom_drops_at_the_ingress(void **state)
{
    (void)state;
    struct net_fixture f;
    uint32_t s = incast(&f, 4, G100, 5 * UNIT_US, 2000000);
    net_fixture_set_all(&f, (const char *const[]){"buffer.headroom_scale=0.5", "nic.local_ack_timeout=8", NULL});
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    assert_true(t.lossless_drop_pkts > 0);
    assert_int_equal(t.drop_pkts, t.lossless_drop_pkts);
    assert_true(t.retransmitted_pkts >= t.drop_pkts);
    uint64_t at_senders = 0;
    for (uint32_t i = 0; i < 4; i++)
        at_senders += net_fixture_port_view(&f, s, i).drop_pkts;
    assert_int_equal(at_senders, t.drop_pkts);
    assert_int_equal(net_fixture_port_view(&f, s, 4).drop_pkts, 0);
    net_fixture_release(&f);
}

/* Without PFC nothing is paused, the class is lossy and drops are no broken promise. */
static void test_pfc__disabled_never_pauses(void **state)
{
    (void)state;
    struct net_fixture f;
    incast(&f, 4, G100, 500 * UNIT_NS, 1000000);
    net_fixture_set_all(&f, (const char *const[]){"pfc.enabled=false", "buffer.lossy_limit=100KB", "nic.local_ack_timeout=6", NULL});
    net_fixture_run(&f);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(t.pause_frames, 0);
    assert_int_equal(t.lossless_drop_pkts, 0);
    assert_true(t.drop_pkts > 0);
    net_fixture_release(&f);
}

/* A frame from a slow ingress must not keep a pause frame of a fast port waiting beyond what the headroom rule counts:
 * host 1 (25G) streams to host 0 (400G), which streams to host 2 (25G). */
static void test_pfc__mixed_speeds_stay_lossless(void **state)
{
    (void)state;
    static const char *const forwarding[] = {"switch.forwarding=cut_through", "switch.forwarding=store_and_forward"};
    for (int i = 0; i < 2; i++)
        for (uint32_t n_slow = 1; n_slow <= 12; n_slow += 11) {
            struct net_fixture f;
            net_fixture_init(&f);
            for (uint32_t k = 0; k < n_slow + 2; k++)
                net_fixture_host(&f);
            uint32_t s = net_fixture_node(&f, NET_SWITCH, "sw");
            for (uint32_t k = 0; k < n_slow + 2; k++)
                net_fixture_link(&f, k, s, k == 0 ? 400 * UNIT_GBPS : 25 * UNIT_GBPS, 25 * UNIT_NS);
            net_fixture_set_all(&f, (const char *const[]){forwarding[i], "buffer.alpha=1/512", "ecn.enabled=false",
                                                          "nic.congestion_control=none", "buffer.xon_offset=0", NULL});
            net_fixture_flow(&f, 0, n_slow + 1, 3000000, 0);
            for (uint32_t k = 1; k <= n_slow; k++)
                net_fixture_flow(&f, k, 0, 3000000, k * 100 * UNIT_NS);
            net_fixture_run(&f);
            struct net_port_view in = net_fixture_port_view(&f, s, 0);
            assert_true(in.pause_tx_frames > 3);
            assert_int_equal(net_fixture_totals(&f).drop_pkts, 0);
            net_fixture_release(&f);
        }
}

/* ---- times of pause frames -------------------------------------------------------------------- */
/* While a class stays above its threshold XOFF is repeated after part REFRESH of the pause time, late by at most the
 * frame on the wire; hence a pause never runs out under a standing cause. */
static void test_pfc__xoff_is_refreshed_before_it_runs_out(void **state)
{
    (void)state;
    struct net_fixture f;
    uint32_t s = incast(&f, 4, G100, 500 * UNIT_NS, 1000000);
    net_fixture_set_all(&f, (const char *const[]){"pfc.quanta=200", "pfc.refresh=0.5", NULL}); /* 1.024 us, 512 ns */
    net_fixture_run(&f);
    g_autoptr(GArray) events = net_pause_events(f.net);
    int refreshes = 0;
    sim_ps last[5] = {0};
    bool paused[5] = {false};
    for (guint i = 0; i < events->len; i++) {
        const struct net_pause_event *e = &g_array_index(events, struct net_pause_event, i);
        uint32_t host = f.graph.ports[e->port].node;
        assert_true(host < 5);
        assert_int_equal(e->class, 3);
        assert_int_equal(e->port, net_fixture_port(&f, host, s));
        if (e->quanta > 0 && paused[host]) {
            sim_ps gap = e->t_ps - last[host];
            assert_true(gap >= QUANTA(200) / 2 && gap <= QUANTA(200) / 2 + FIRST + 84 * 80);
            refreshes++;
        }
        assert_true(e->quanta == 0 || e->quanta == 200);
        paused[host] = e->quanta > 0;
        last[host] = e->t_ps;
    }
    assert_true(refreshes > 20);
    for (int h = 0; h < 5; h++)
        assert_false(paused[h]); /* every XOFF is followed by an XON in the end */
    assert_int_equal(net_fixture_totals(&f).drop_pkts, 0);
    net_fixture_release(&f);
}

/* Without refreshes in time the pause ends by itself and the headroom overflows: what a timed pause is about. */
static void test_pfc__pause_frames_are_counted_at_both_ends(void **state)
{
    (void)state;
    struct net_fixture f;
    uint32_t s = incast(&f, 4, G100, 500 * UNIT_NS, 1000000);
    net_fixture_run(&f);
    g_autoptr(GArray) events = net_pause_events(f.net);
    struct net_totals t = net_fixture_totals(&f);
    assert_int_equal(events->len, t.pause_frames + t.resume_frames);
    sim_ps paused = 0;
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(net_fixture_port_view(&f, s, i).pause_tx_frames, net_fixture_port_view(&f, i, s).pause_rx_frames);
        paused += net_fixture_port_view(&f, i, s).paused_ps;
        assert_int_equal(net_fixture_port_view(&f, i, s).paused_now, 0);
    }
    assert_int_equal(paused, t.paused_ps);
    for (guint i = 1; i < events->len; i++)
        assert_true(g_array_index(events, struct net_pause_event, i - 1).t_ps <=
                    g_array_index(events, struct net_pause_event, i).t_ps);
    net_fixture_release(&f);
}

/* From the effect of a pause to its end the port starts no frame of the class: every frame that it carries more than
 * at the start of the pause was on the wire by then. */
struct silence { uint32_t port; sim_ps since_ps; uint64_t data_pkts; int checked; };
static bool watch_silence(void *user, struct net *net, sim_ps now_ps)
{
    struct silence *w = user;
    (void)now_ps;
    const struct port_hot *hot = &net->port[w->port];
    uint32_t sent = net->queue[w->port][3].tx_pkts[0];
    sim_ps start = net->cold[w->port].pause_start_ps[3];
    if (!(hot->paused >> 3 & 1)) {
        w->since_ps = -1;
        return true;
    }
    if (w->since_ps == start) {
        assert_int_equal(sent, w->data_pkts);
        w->checked++;
    }
    w->since_ps = start;
    w->data_pkts = sent;
    return true;
}

static void test_pfc__paused_port_is_silent(void **state)
{
    (void)state;
    struct net_fixture f;
    uint32_t s = incast(&f, 4, G100, 5 * UNIT_US, 1000000);
    net_fixture_set(&f, "nic.ack_class=6"); /* so that the port is idle while its data is paused */
    struct net *net = net_fixture_start(&f);
    struct silence w = {.port = net->port_of_graph[net_fixture_port(&f, 0, s)], .since_ps = -1};
    assert_int_equal(net_fixture_run_hook(&f, SIM_PS_MAX, 1, watch_silence, &w), NET_FINISHED);
    assert_true(w.checked > 10);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pfc__pause_lasts_its_quanta_and_spares_the_frame_on_the_wire),
        cmocka_unit_test(test_pfc__pause_within_a_frame_costs_nothing),
        cmocka_unit_test(test_pfc__refresh_extends_the_pause),
        cmocka_unit_test(test_pfc__xon_ends_the_pause_at_once),
        cmocka_unit_test(test_pfc__new_pause_after_xon_has_its_full_time),
        cmocka_unit_test(test_pfc__untimed_pause_waits_for_xon),
        cmocka_unit_test(test_pfc__other_classes_go_on),
        cmocka_unit_test(test_pfc__xon_without_pause_changes_nothing),
        cmocka_unit_test(test_pfc__physical_headroom_is_enough_and_not_idle),
        cmocka_unit_test(test_pfc__half_the_headroom_drops_at_the_ingress),
        cmocka_unit_test(test_pfc__disabled_never_pauses),
        cmocka_unit_test(test_pfc__mixed_speeds_stay_lossless),
        cmocka_unit_test(test_pfc__xoff_is_refreshed_before_it_runs_out),
        cmocka_unit_test(test_pfc__pause_frames_are_counted_at_both_ends),
        cmocka_unit_test(test_pfc__paused_port_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
