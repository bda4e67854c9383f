/* test_host.c - execution of the job: order and times of operations, transfers inside a server, and hosts that wait
 * for each other without a message. */
#include "models/net_fixture.h"

#define G100 (100 * UNIT_GBPS)

/* Two servers of two GPUs on one switch: ranks 0 1 | 2 3. NVLink 8 Tb/s (1 ps a byte), 1 us. */
static void two_servers(struct net_fixture *f)
{
    net_fixture_init(f);
    uint32_t a = net_fixture_host(f), b = net_fixture_host(f), s = net_fixture_node(f, NET_SWITCH, "sw");
    net_fixture_link(f, a, s, G100, 500 * UNIT_NS);
    net_fixture_link(f, b, s, G100, 500 * UNIT_NS);
    for (int i = 0; i < 4; i++)
        net_fixture_endpoint(f, i < 2 ? a : b);
    net_fixture_set_all(f, (const char *const[]){"node.nvlink_rate=8000Gbps", "node.nvlink_latency=1us", NULL});
}

static void test_host__operations_wait_for_their_turn(void **state)
{
    (void)state;
    struct net_fixture f;
    two_servers(&f);
    struct job *job = net_fixture_job(&f);
    uint32_t a = job_add_compute(job, 0, 5 * UNIT_US), nop = job_add_nop(job, 0, JOB_NONE), b = job_add_compute(job, 0, UNIT_US);
    uint32_t zero = job_add_compute(job, 0, 0), late = job_add_compute(job, 0, 2 * UNIT_US);
    job_depend(job, nop, a);
    job_depend(job, b, nop);
    job_depend(job, zero, b);
    job_depend(job, late, zero);
    job_op_at(job, late)->earliest_ps = 20 * UNIT_US;
    uint32_t early = job_add_nop(job, 1, JOB_NONE);
    job_op_at(job, early)->earliest_ps = 3 * UNIT_US + 7;
    net_fixture_run(&f);
    static const sim_ps start[] = {0, 5, 5, 6, 20}, done[] = {5, 5, 6, 6, 22};
    const uint32_t ops[] = {a, nop, b, zero, late};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(net_op_start_ps(f.net, ops[i]), start[i] * UNIT_US);
        assert_int_equal(net_op_done_ps(f.net, ops[i]), done[i] * UNIT_US);
    }
    assert_int_equal(net_op_done_ps(f.net, early), 3 * UNIT_US + 7);
    net_fixture_release(&f);
}

/* 1 MB at 1 ps a byte is 1 us, and the latency of 1 us: no packet, no ACK. */
static void test_host__transfer_inside_a_server(void **state)
{
    (void)state;
    struct net_fixture f;
    two_servers(&f);
    struct fixture_message m = net_fixture_message(&f, 0, 1, 1000000), empty = net_fixture_message(&f, 3, 2, 0);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, m.recv), 2 * UNIT_US);
    assert_int_equal(net_fixture_done_ps(&f, m.send), 2 * UNIT_US);
    assert_int_equal(net_fixture_done_ps(&f, empty.recv), UNIT_US);
    assert_int_equal(net_op_qp(f.net, m.send), NET_NONE);
    assert_int_equal(net_fixture_totals(&f).data_hops, 0);
    net_fixture_release(&f);
}

/* One transfer a port and direction at a time; both directions at once; a busy receiver makes the next one wait. */
static void test_host__transfers_share_nvlink_ports(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    uint32_t host = net_fixture_host(&f);
    for (int i = 0; i < 4; i++)
        net_fixture_endpoint(&f, host);
    net_fixture_set_all(&f, (const char *const[]){"node.nvlink_rate=8000Gbps", "node.nvlink_latency=1us", NULL});
    struct fixture_message a = net_fixture_message(&f, 0, 1, 1000000), b = net_fixture_message(&f, 0, 1, 1000000);
    struct fixture_message back = net_fixture_message(&f, 1, 0, 3000000), other = net_fixture_message(&f, 2, 1, 1000000);
    struct fixture_message apart = net_fixture_message(&f, 2, 3, 500000);
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, a.recv), 2 * UNIT_US);
    assert_int_equal(net_fixture_done_ps(&f, b.recv), 3 * UNIT_US);    /* behind a */
    assert_int_equal(net_fixture_done_ps(&f, back.recv), 4 * UNIT_US); /* the other way is free */
    assert_int_equal(net_fixture_done_ps(&f, other.recv), 4 * UNIT_US); /* GPU 1 is taken by a and b until 2 us */
    /* GPU 2 does not hold its sender while GPU 1 is taken: this one goes at once. */
    assert_int_equal(net_fixture_done_ps(&f, apart.recv), UNIT_US + 500 * UNIT_NS);
    net_fixture_release(&f);
}

/* The receive is done when the data is in and it has started, whichever is later. */
static void test_host__receive_posted_late(void **state)
{
    (void)state;
    struct net_fixture f;
    two_servers(&f);
    struct fixture_message local = net_fixture_message(&f, 0, 1, 1000000), far = net_fixture_message(&f, 0, 2, 1000);
    job_op_at(f.job, local.recv)->earliest_ps = job_op_at(f.job, far.recv)->earliest_ps = 50 * UNIT_US;
    net_fixture_run(&f);
    assert_int_equal(net_fixture_done_ps(&f, local.recv), 50 * UNIT_US);
    assert_int_equal(net_fixture_done_ps(&f, far.recv), 50 * UNIT_US);
    assert_true(net_fixture_done_ps(&f, far.send) < 10 * UNIT_US); /* the ACK does not wait for the receive */
    net_fixture_release(&f);
}

/* A chain over four ranks; each hop waits for the receive of the one before. */
static void test_host__relay_adds_up(void **state)
{
    (void)state;
    struct net_fixture f;
    two_servers(&f);
    struct fixture_message one = net_fixture_message(&f, 0, 1, 1000000), two = net_fixture_message(&f, 1, 2, 1000);
    struct fixture_message three = net_fixture_message(&f, 2, 3, 1000000);
    job_depend(f.job, two.send, one.recv);
    job_depend(f.job, three.send, two.recv);
    net_fixture_run(&f);
    assert_int_equal(net_op_start_ps(f.net, two.send), net_fixture_done_ps(&f, one.recv));
    assert_int_equal(net_op_start_ps(f.net, three.send), net_fixture_done_ps(&f, two.recv));
    assert_int_equal(net_fixture_done_ps(&f, three.recv), net_fixture_done_ps(&f, two.recv) + 2 * UNIT_US);
    assert_int_equal(net_fixture_done_ps(&f, two.recv) - net_op_start_ps(f.net, two.send),
                     net_ideal_ps(f.net, net_op_qp(f.net, two.send), 1000));
    net_fixture_release(&f);
}

/* Ops of different hosts that depend on each other share a simulated node: the wait costs no time. */
static void test_host__ranks_that_depend_on_each_other_share_a_node(void **state)
{
    (void)state;
    struct net_fixture f;
    net_fixture_init(&f);
    uint32_t s = net_fixture_star(&f, 4, G100, 500 * UNIT_NS);
    struct fixture_message first = net_fixture_flow(&f, 0, 1, 100000, 0), second = net_fixture_flow(&f, 2, 3, 100000, 0);
    job_depend(f.job, second.send, first.recv); /* flow 2 -> 3 when rank 1 has its data */
    struct net *net = net_fixture_start(&f);
    assert_int_equal(net->vertex_of_graph[1], net->vertex_of_graph[2]);
    assert_int_equal(net->n_vertices, 4); /* three hosts and the switch */
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_int_equal(net->vertex_of_graph[i] == net->vertex_of_graph[k], i == 2 && k == 1);
    net_fixture_run(&f);
    assert_int_equal(net_op_start_ps(net, second.send), net_fixture_done_ps(&f, first.recv));
    sim_ps alone = net_fixture_done_ps(&f, first.recv);
    assert_int_equal(net_fixture_done_ps(&f, second.recv), 2 * alone);
    assert_int_equal(net_fixture_port_view(&f, 2, s).tx_data_pkts, 25); /* each host keeps its own port */
    assert_int_equal(net_fixture_port_view(&f, 1, s).tx_data_pkts, 0);
    net_fixture_release(&f);
}

/* A thousand ops that start each other at one instant must not need a thousand stack frames, and keep their order. */
static void test_host__long_chains_at_one_instant(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct net_fixture f;
    two_servers(&f);
    struct job *job = net_fixture_job(&f);
    uint32_t before = job_add_compute(job, 0, UNIT_US);
    for (int i = 0; i < N; i++) {
        uint32_t op = job_add_nop(job, 0, JOB_NONE);
        job_depend(job, op, before);
        before = op;
    }
    net_fixture_run(&f);
    assert_int_equal(net_op_done_ps(f.net, before), UNIT_US);
    assert_int_equal(net_fixture_totals(&f).ops_done, N + 1);
    net_fixture_release(&f);
}

static void test_host__join_waits_for_all(void **state)
{
    (void)state;
    struct net_fixture f;
    two_servers(&f);
    struct job *job = net_fixture_job(&f);
    uint32_t join = job_add_nop(job, 0, JOB_NONE);
    for (int i = 1; i <= 20; i++)
        job_depend(job, join, job_add_compute(job, 0, i * UNIT_US));
    job_depend(job, join, net_fixture_message(&f, 2, 0, 1000).recv);
    net_fixture_run(&f);
    assert_int_equal(net_op_done_ps(f.net, join), 20 * UNIT_US);
    net_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host__operations_wait_for_their_turn),
        cmocka_unit_test(test_host__transfer_inside_a_server),
        cmocka_unit_test(test_host__transfers_share_nvlink_ports),
        cmocka_unit_test(test_host__receive_posted_late),
        cmocka_unit_test(test_host__relay_adds_up),
        cmocka_unit_test(test_host__ranks_that_depend_on_each_other_share_a_node),
        cmocka_unit_test(test_host__long_chains_at_one_instant),
        cmocka_unit_test(test_host__join_waits_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
