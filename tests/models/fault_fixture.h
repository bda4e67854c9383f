/* fault_fixture.h - net_fixture.h with next hops and faults. */
#ifndef FABRICAST_TESTS_FAULT_FIXTURE_H
#define FABRICAST_TESTS_FAULT_FIXTURE_H

#include "tests/models/net_fixture.h"

#define FAULT_FIXTURE_MAX 8

struct fault_fixture {
    struct net_fixture f;
    struct fault_params params[FAULT_FIXTURE_MAX];
    struct net_fault faults[FAULT_FIXTURE_MAX];
};

static inline bool fixture_is_down(const uint64_t *down, uint32_t port)
{
    return down && (down[port / 64] >> port % 64 & 1);
}

/* Hosts never relay; distances by repeated relaxation: the fabrics are tiny. */
static inline uint32_t fixture_next_hops(void *user, uint32_t node, uint32_t rank, const uint64_t *down, uint32_t *ports, uint32_t max)
{
    const struct net_graph *g = user;
    uint32_t to = g->endpoints[rank].node, n = 0;
    g_autofree uint32_t *distance = g_new(uint32_t, g->n_nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        distance[i] = i == to ? 0 : NET_NONE;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t p = 0; p < g->n_ports; p++) {
            uint32_t a = g->ports[p].node, b = g->ports[g->ports[p].peer].node;
            if (fixture_is_down(down, p) || distance[b] == NET_NONE || (b != to && g->nodes[b].kind == NET_HOST))
                continue;
            if (distance[a] > distance[b] + 1) {
                distance[a] = distance[b] + 1;
                changed = true;
            }
        }
    }
    for (uint32_t k = 0; k < g->nodes[node].n_ports && n < max; k++) {
        uint32_t p = g->nodes[node].first_port + k, b = g->ports[g->ports[p].peer].node;
        bool relays = b == to || g->nodes[b].kind == NET_SWITCH;
        if (!fixture_is_down(down, p) && relays && distance[b] != NET_NONE && distance[b] + 1 == distance[node])
            ports[n++] = p;
    }
    return n;
}

static inline uint64_t fixture_hash(void *user, const struct net_route_request *r, uint32_t node)
{
    (void)user, (void)node;
    return r->sport;
}

/* To be called before messages are added. */
static inline void fault_fixture_init(struct fault_fixture *x)
{
    *x = (struct fault_fixture){0};
    net_fixture_init(&x->f);
    x->f.config.faults = x->faults;
    x->f.config.next_hops = fixture_next_hops;
    x->f.config.hash = fixture_hash;
    x->f.config.route = fixture_route;
    x->f.config.route_user = &x->f.graph;
    x->f.config.local_repair_ps = 10 * UNIT_US;
    x->f.config.reconvergence_ps = 50 * UNIT_US;
}

/* A fault of KIND at the port of node FROM that faces TO (NET_NONE: at node FROM) in [START, END). */
static inline struct fault_params *fault_fixture_add(struct fault_fixture *x, enum fault_kind kind, uint32_t from, uint32_t to,
                                                     sim_ps start_ps, sim_ps end_ps)
{
    net_fixture_job(&x->f); /* makes the graph */
    uint32_t i = x->f.config.n_faults++;
    assert_true(i < FAULT_FIXTURE_MAX);
    x->params[i] = (struct fault_params){.kind = (int)kind, .count = 1, .nth = 1, .factor = 1, .priority = 3, .quanta = 65535};
    x->faults[i] = (struct net_fault){&x->params[i], "test", from, to == NET_NONE ? NET_NONE : net_fixture_port(&x->f, from, to),
                                      start_ps, end_ps};
    return &x->params[i];
}

#endif
