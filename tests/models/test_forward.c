/* test_forward.c - load balancing over equal paths, and tables against written-down paths. */
#include "models/forward.h"
#include "tests/models/fault_fixture.h"

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)
#define SPINES 4

/* Two leaves of four hosts, four spines; every host of the left sends to its partner on the right. */
static void balanced(struct fault_fixture *x, enum net_lb lb, int64_t bytes)
{
    fault_fixture_init(x);
    net_fixture_leaf_spine(&x->f, 2, 4, SPINES, G100, CABLE);
    net_fixture_set_all(&x->f, (const char *const[]){"nic.congestion_control=none", "nic.reorder_tolerance=1000", NULL});
    x->f.config.lb = lb;
    for (uint32_t i = 0; i < 4; i++)
        net_fixture_flow(&x->f, i, 4 + i, bytes, 0);
}

static double max_over_mean(const struct fault_fixture *x, uint32_t *used)
{
    double most = 0, sum = 0;
    *used = 0;
    for (uint32_t s = 0; s < SPINES; s++) {
        struct net_port_view v = net_fixture_port_view(&x->f, 8, 10 + s);
        most = MAX(most, (double)v.tx_data_pkts);
        sum += (double)v.tx_data_pkts;
        *used += v.tx_data_pkts > 0;
    }
    return most * SPINES / sum;
}

static void test_forward__spray_and_adaptive_are_even(void **state)
{
    (void)state;
    static const enum net_lb modes[] = {NET_LB_SPRAY_ROUND_ROBIN, NET_LB_SPRAY_RANDOM, NET_LB_ADAPTIVE};
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        struct fault_fixture x;
        uint32_t used;
        balanced(&x, modes[i], 4000 * 4096);
        assert_int_equal(net_fixture_run_until(&x.f, 330 * UNIT_US), NET_UNFINISHED);
        assert_true(max_over_mean(&x, &used) <= 1.05);
        assert_int_equal(used, SPINES);
        net_fixture_release(&x.f);
    }
}

/* A flow without pauses is one flowlet: it stays where it is, in order. */
static void test_forward__flowlets_move_after_a_gap_alone(void **state)
{
    (void)state;
    struct fault_fixture x;
    uint32_t used;
    balanced(&x, NET_LB_FLOWLET, 100 * 4096);
    x.f.config.flowlet_gap_ps = 50 * UNIT_US;
    net_fixture_run(&x.f);
    max_over_mean(&x, &used);
    struct net_totals t = net_fixture_totals(&x.f);
    assert_true(used >= 2 && used <= 4);
    assert_int_equal(t.nak_pkts, 0);
    net_fixture_release(&x.f);
    /* Twelve messages with pauses between them on one queue pair: several paths. */
    fault_fixture_init(&x);
    net_fixture_leaf_spine(&x.f, 2, 4, SPINES, G100, CABLE);
    x.f.config.lb = NET_LB_FLOWLET;
    x.f.config.flowlet_gap_ps = 20 * UNIT_US;
    for (uint32_t i = 0; i < 12; i++) {
        struct fixture_message m = net_fixture_message(&x.f, 0, 4, 4096);
        job_op_at(x.f.job, m.send)->earliest_ps = i * 100 * UNIT_US;
    }
    net_fixture_run(&x.f);
    max_over_mean(&x, &used);
    assert_true(used >= 3);
    net_fixture_release(&x.f);
}

/* With tables but nothing down a run is, event for event, that of written-down paths. */
static void test_forward__tables_give_the_same_paths(void **state)
{
    (void)state;
    uint64_t digest[2];
    for (int tables = 0; tables < 2; tables++) {
        struct fault_fixture x;
        balanced(&x, NET_LB_FIXED, 100 * 4096);
        if (tables) /* a link fault that never comes makes them */
            fault_fixture_add(&x, FAULT_LINK_DOWN, 8, 10, 10 * UNIT_S, 11 * UNIT_S);
        net_fixture_run(&x.f);
        assert_int_equal(x.f.net->forward != NULL, tables);
        digest[tables] = net_fixture_totals(&x.f).digest;
        net_fixture_release(&x.f);
    }
    assert_true(digest[0] == digest[1]);
}

static bool first_flow(void *user, const struct net_route_request *r)
{
    (void)user;
    return r->flow_id == 0;
}

/* A flow of 20 MB from host 0 to host 4, whose first link to a spine is down from 100 us to 1.1 ms. */
static void link_fails(struct fault_fixture *x, uint32_t spine, net_pinned_fn pinned)
{
    fault_fixture_init(x);
    net_fixture_leaf_spine(&x->f, 2, 4, SPINES, G100, CABLE);
    net_fixture_set_all(&x->f, (const char *const[]){"nic.congestion_control=none", "nic.local_ack_timeout=6", NULL});
    x->f.config.pinned = pinned;
    net_fixture_flow(&x->f, 0, 4, 20000000, 0);
    fault_fixture_add(x, FAULT_LINK_DOWN, 8, 10 + spine, 100 * UNIT_US, 1100 * UNIT_US);
}

static uint32_t spine_of_first_flow(void)
{
    struct fault_fixture x;
    link_fails(&x, 0, NULL);
    net_fixture_start(&x.f);
    uint32_t spine = x.f.net->path[0] - 4u; /* behind the leaf's four hosts */
    net_fixture_release(&x.f);
    return spine;
}

/* Routing goes around a dead link; a listed path does not: its packets are lost until the link is back. */
static void test_forward__listed_paths_are_kept(void **state)
{
    (void)state;
    uint32_t spine = spine_of_first_flow();
    for (int listed = 0; listed < 2; listed++) {
        struct fault_fixture x;
        link_fails(&x, spine, listed ? first_flow : NULL);
        net_fixture_run(&x.f);
        uint64_t elsewhere = 0, back = 0;
        for (uint32_t s = 0; s < SPINES; s++) {
            elsewhere += s == spine ? 0 : net_fixture_port_view(&x.f, 8, 10 + s).tx_data_pkts;
            back += s == spine ? 0 : net_fixture_port_view(&x.f, 10 + s, 8).tx_ack_pkts;
        }
        sim_ps done = net_fixture_done_ps(&x.f, job_op_at(x.f.job, 0)->match);
        assert_true(net_fixture_totals(&x.f).lost_pkts > 0);
        assert_true(listed ? elsewhere + back == 0 : elsewhere > 1000);
        assert_true(listed ? done > 2600 * UNIT_US : done < 2400 * UNIT_US);
        net_fixture_release(&x.f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward__spray_and_adaptive_are_even),
        cmocka_unit_test(test_forward__flowlets_move_after_a_gap_alone),
        cmocka_unit_test(test_forward__tables_give_the_same_paths),
        cmocka_unit_test(test_forward__listed_paths_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
