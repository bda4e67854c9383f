/* test_nic_credit.c - receivers that grant: share and queue of an incast, demand that arrives late, losses. */
#include "models/nic_credit.h"
#include "models/net_fixture.h"

#define FULL 334240 /* ps of a packet of 4,096 + 82 B at 100G */
#define FRAME 4158

static void star(struct net_fixture *f, uint32_t n_hosts, const char *const *settings)
{
    net_fixture_init(f);
    net_fixture_star(f, n_hosts, 100 * UNIT_GBPS, UNIT_US);
    net_fixture_set_bare(f);
    net_fixture_set_all(f, (const char *const[]){"nic.congestion_control=credit", "link.reth=0", "credit.unscheduled=4", NULL});
    net_fixture_set_all(f, settings);
}

static void run_to_the_end(struct net_fixture *f)
{
    struct net *net = net_fixture_start(f);
    g_autoptr(GError) err = NULL;
    assert_int_equal(net_run(net, SIM_PS_MAX, 10 * UNIT_MS, 1, NULL, NULL), NET_FINISHED);
    if (!net_check_laws(net, &err))
        fail_msg("%s", err->message);
}

static int64_t queue_max(struct net_fixture *f, uint32_t sw, uint32_t host)
{
    struct net_port_view view;
    net_port_view(f->net, net_fixture_port(f, sw, host), &view);
    return view.queue_max_bytes;
}

/* N senders of 500 packets: the port grants 95 % of its rate in turn. The first grant waits until the unscheduled
 * packets are through; the queue is never more than those. */
static void test_nic_credit__incast_gets_its_share_with_a_bounded_queue(void **state)
{
    (void)state;
    enum { N = 8, PKTS = 500, UNSCHEDULED = 4 };
    struct net_fixture f;
    struct fixture_message m[N];
    star(&f, N + 1, (const char *const[]){NULL});
    for (uint32_t i = 0; i < N; i++)
        m[i] = net_fixture_flow(&f, i, N, PKTS * 4096, 0);
    run_to_the_end(&f);
    const double grant_ps = FULL / 0.95;
    sim_ps first = SIM_PS_MAX, last = 0;
    for (uint32_t i = 0; i < N; i++) {
        first = MIN(first, net_op_done_ps(f.net, m[i].recv));
        last = MAX(last, net_op_done_ps(f.net, m[i].recv));
    }
    /* All grants one after the other, and one way there and back (2 us of cable each) at the beginning. */
    assert_in_range(last, (uint64_t)(N * PKTS * grant_ps), (uint64_t)(N * PKTS * grant_ps) + 10 * UNIT_US);
    assert_in_range(last - first, 0, (uint64_t)(2 * N * grant_ps)); /* in turn: all end in the last rounds */
    assert_true(queue_max(&f, N + 1, N) <= N * UNSCHEDULED * FRAME);
    assert_true(queue_max(&f, N + 1, N) > (N - 1) * (UNSCHEDULED - 1) * FRAME / 2);
    net_fixture_release(&f);
}

/* One sender, three receivers: each would grant it 95 G. What it cannot send stays a matter of few credits. */
static void test_nic_credit__a_busy_sender_hoards_no_credit(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 4, (const char *const[]){NULL});
    struct fixture_message m[3];
    for (uint32_t i = 0; i < 3; i++)
        m[i] = net_fixture_flow(&f, 3, i, 400 * 4096, 0);
    struct net *net = net_fixture_start(&f);
    assert_int_equal(net_run(net, 200 * UNIT_US, 10 * UNIT_MS, 1, NULL, NULL), NET_UNFINISHED);
    for (uint32_t q = 0; q < 3; q++) /* 1.5 x 14.1 packets of the path: 22, and 4 unscheduled */
        assert_in_range(net->tx[q].next_psn - net->tx[q].una_psn, 1, 26);
    assert_int_equal(net_run(net, SIM_PS_MAX, 10 * UNIT_MS, 1, NULL, NULL), NET_FINISHED);
    for (uint32_t i = 0; i < 3; i++) /* the sender's port is the bottleneck: all of it is used */
        assert_in_range(net_op_done_ps(net, m[i].recv), 0, INT64_C(1200) * FULL + 10 * UNIT_US);
    net_fixture_release(&f);
}

/* Messages of one queue pair, posted at all kinds of moments: while credits are out, when all packets are sent but not
 * acknowledged, at rest. */
static void test_nic_credit__late_messages_are_granted(void **state)
{
    (void)state;
    static const int64_t after_ns[] = {0, 100, 1000, 2500, 3000, 4000, 4500, 5000, 6000, 9000, 20000};
    for (size_t i = 0; i < G_N_ELEMENTS(after_ns); i++) {
        struct net_fixture f;
        star(&f, 2, (const char *const[]){"credit.unscheduled=2", NULL});
        struct fixture_message first = net_fixture_message(&f, 0, 1, 3 * 4096), second = net_fixture_message(&f, 0, 1, 40 * 4096);
        job_op_at(f.job, second.send)->earliest_ps = after_ns[i] * UNIT_NS;
        run_to_the_end(&f);
        assert_int_equal(f.net->n_qps, 1);
        assert_true(net_op_done_ps(f.net, first.recv) < net_op_done_ps(f.net, second.recv));
        assert_in_range(net_op_done_ps(f.net, second.recv), 0, after_ns[i] * UNIT_NS + 43 * FULL * 20 / 19 + 15 * UNIT_US);
        net_fixture_release(&f);
    }
}

/* One frame in fifty is lost, credits among them: everything arrives, by either kind of recovery. */
static void test_nic_credit__losses_end_no_queue_pair(void **state)
{
    (void)state;
    static const char *const recoveries[] = {"nic.recovery=go_back_n", "nic.recovery=selective_repeat"};
    for (int r = 0; r < 2; r++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct net_fixture f;
            struct net_totals t;
            star(&f, 5, (const char *const[]){recoveries[r], "link.loss=0.02", "nic.local_ack_timeout=5", "nic.retry_cnt=7",
                                              "credit.retry_after=100us", NULL});
            f.config.seed = seed;
            for (uint32_t i = 0; i < 4; i++)
                net_fixture_flow(&f, i, 4, 100 * 4096, 0);
            run_to_the_end(&f);
            net_totals(f.net, &t);
            assert_true(t.lost_pkts > 20 && t.failed_qps == 0);
            net_fixture_release(&f);
        }
}

/* What a receiver does not owe is not paid: a credit for nobody's packets changes nothing without the law. */
static void test_nic_credit__others_have_no_credits(void **state)
{
    (void)state;
    struct net_fixture f;
    star(&f, 2, (const char *const[]){"nic.congestion_control=none", NULL});
    net_fixture_flow(&f, 0, 1, 100 * 4096, 0);
    struct net *net = net_fixture_start(&f);
    assert_null(net->credit);
    for (uint32_t v = 0; v < net->n_vertices; v++)
        assert_int_equal(net->vertex[v].rx_care, 0);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nic_credit__incast_gets_its_share_with_a_bounded_queue),
        cmocka_unit_test(test_nic_credit__a_busy_sender_hoards_no_credit),
        cmocka_unit_test(test_nic_credit__late_messages_are_granted),
        cmocka_unit_test(test_nic_credit__losses_end_no_queue_pair),
        cmocka_unit_test(test_nic_credit__others_have_no_credits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
