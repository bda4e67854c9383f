/* test_link.c - loss by bit errors and FEC against closed forms, single packets picked, captures. */
#include "models/link.h"
#include "tests/models/fault_fixture.h"

#include <math.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)

static void assert_near(double have, double want, double part)
{
    if (!(fabs(have - want) <= part * want))
        fail_msg("%g, not %g", have, want);
}

static void test_link__without_fec_every_bit_counts(void **state)
{
    (void)state;
    assert_near(link_frame_loss(LINK_FEC_NONE, 1e-9, 0, 4096), 4096 * 8e-9, 1e-4);
    assert_near(link_frame_loss(LINK_FEC_NONE, 1e-4, 0, 4096), 1 - pow(1 - 1e-4, 4096 * 8), 1e-9);
    assert_true(link_frame_loss(LINK_FEC_NONE, 0, 0, 4096) == 0);
    assert_near(link_frame_loss(LINK_FEC_NONE, 0, 0.01, 100), 0.01, 1e-9);
    assert_near(link_frame_loss(LINK_FEC_NONE, 0, 1, 100), 1, 1e-12);
}

/* RS(544,514) at the BER that IEEE 802.3 allows before it (2.4e-4): a codeword in 2e-11 or fewer is lost, so that a
 * frame of 64 B is lost in less than 6.2e-10 (802.3bs); at twice the BER it is orders of magnitude worse. */
static void test_link__rs544_meets_its_purpose(void **state)
{
    (void)state;
    double at_limit = link_frame_loss(LINK_FEC_RS544, 2.4e-4, 0, 64), twice = link_frame_loss(LINK_FEC_RS544, 4.8e-4, 0, 64);
    assert_true(at_limit > 0 && at_limit < 6.2e-10);
    assert_true(twice > 1000 * at_limit);
    assert_true(link_frame_loss(LINK_FEC_RS528, 2.4e-4, 0, 64) > 1000 * at_limit); /* half the strength */
    /* Sum of the binomial tail in exact arithmetic: more than 15 of 544 symbols of 10 bits. */
    assert_near(at_limit, 8.151573399e-13, 1e-8);
    assert_near(link_frame_loss(LINK_FEC_RS544, 1e-3, 0, 600), 1.530258593e-4, 1e-8);
    /* Seven codewords of 642.5 B hold 4096 B + headers. */
    assert_near(link_frame_loss(LINK_FEC_RS544, 1e-3, 0, 4158), 1 - pow(1 - link_frame_loss(LINK_FEC_RS544, 1e-3, 0, 600), 7), 1e-6);
    assert_near(link_frame_loss(LINK_FEC_RS544, 0.4, 0, 64), 1, 1e-9);
}

/* The share of lost frames of a run is the probability, within 4 sigma, and lost frames are accounted for. */
static void test_link__losses_of_a_run(void **state)
{
    (void)state;
    struct fault_fixture x;
    fault_fixture_init(&x);
    net_fixture_star(&x.f, 2, G100, CABLE);
    net_fixture_set_all(&x.f, (const char *const[]){"link.loss=0.01", "nic.local_ack_timeout=5", NULL});
    net_fixture_message(&x.f, 0, 1, 4000 * 4096);
    net_fixture_run(&x.f);
    struct net_totals t = net_fixture_totals(&x.f);
    double n = (double)(t.data_hops + t.ack_hops + t.control_hops), sigma = sqrt(n * 0.01 * 0.99);
    assert_true(fabs((double)t.lost_pkts - n * 0.01) < 4 * sigma);
    assert_int_equal(t.drop_pkts, 0);
    net_fixture_release(&x.f);
}

static void test_link__third_data_packet_is_picked(void **state)
{
    (void)state;
    struct fault_fixture x;
    fault_fixture_init(&x);
    uint32_t s = net_fixture_star(&x.f, 2, G100, CABLE);
    struct fault_params *p = fault_fixture_add(&x, FAULT_DROP_PACKET, 0, s, 0, SIM_PS_MAX);
    p->packet = FAULT_DATA;
    p->nth = 3;
    uint32_t port = net_fixture_port(&x.f, 0, s);
    x.f.config.capture_ports = &port;
    x.f.config.n_capture_ports = 1;
    net_fixture_message(&x.f, 0, 1, 10 * 4096);
    net_fixture_run(&x.f);
    struct net_totals t = net_fixture_totals(&x.f);
    assert_int_equal(t.lost_pkts, 1);
    assert_true(t.retransmitted_pkts >= 1);
    uint64_t left_out;
    GArray *frames = net_captured(x.f.net, &left_out);
    assert_int_equal(left_out, 0);
    assert_int_equal(frames->len, 10 + t.retransmitted_pkts); /* the lost one is in it: it was on the wire */
    for (guint i = 1; i < frames->len; i++)
        assert_true(g_array_index(frames, struct net_frame, i).t_ps > g_array_index(frames, struct net_frame, i - 1).t_ps);
    g_array_unref(frames);
    net_fixture_release(&x.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link__without_fec_every_bit_counts),
        cmocka_unit_test(test_link__rs544_meets_its_purpose),
        cmocka_unit_test(test_link__losses_of_a_run),
        cmocka_unit_test(test_link__third_data_packet_is_picked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
