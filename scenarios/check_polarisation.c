/* check_polarisation.c - one hash seed on two tiers of switches: how many of its ports does the second one still use?
 *
 * A first switch sends flows with hash mod n = i over its i-th port. Behind it all flows have hash = i (mod n); a
 * second switch that takes hash mod m sees the values i mod gcd(n, m) alone: m / gcd(n, m) of its m ports.
 */
#include "scenarios/check_priv.h"

#define MAX_DESTINATIONS 64 /* switches towards which routes are looked at: tiers are alike */

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

struct tier {
    struct check *c;
    uint32_t *first_ports, *second_ports; /* scratch: candidates of the first and the second switch */
    uint8_t **used;                       /* by node: which candidates are ever taken; NULL: not seen */
    uint32_t *n_second, *n_first, *from;  /* by node: its candidates, those of a switch before it, and that switch */
};

/* Candidate I of N at a first switch leads to NODE, which has M candidates. */
static void mark(struct tier *t, uint32_t node, uint32_t from, uint32_t i, uint32_t n, uint32_t m)
{
    if (!t->used[node])
        t->used[node] = g_malloc0(m);
    t->n_second[node] = m;
    t->n_first[node] = n;
    t->from[node] = from;
    for (uint32_t r = i % gcd(n, m); r < m; r += gcd(n, m))
        t->used[node][r] = 1;
}

static void look_from(struct tier *t, uint32_t first, uint32_t rank)
{
    struct check *c = t->c;
    const struct net_node *nodes = c->graph->nodes;
    uint32_t n = routes_next_hops(c->routes, first, rank, NULL, t->first_ports, nodes[first].n_ports);
    for (uint32_t i = 0; n > 1 && i < n; i++) {
        uint32_t second = check_peer_node(c, t->first_ports[i]);
        if (!check_is_switch(c, second))
            continue;
        uint32_t m = routes_next_hops(c->routes, second, rank, NULL, t->second_ports, nodes[second].n_ports);
        if (m > 1)
            mark(t, second, first, i, n, m);
    }
}

static void report(struct tier *t, uint32_t node)
{
    struct check *c = t->c;
    uint32_t n = 0, m = t->n_second[node], before = t->n_first[node];
    for (uint32_t i = 0; i < m; i++)
        n += t->used[node][i];
    if (n == m)
        return;
    struct check_finding *finding = check_find(c, "polarised", CHECK_WARNING, "one hash seed on two tiers: these switches use %u of %u equal ports", n, m);
    if (check_is_new(finding)) {
        check_term(finding, "first tier", "%s takes port hash mod %u", c->fabric->names[t->from[node]], before);
        check_term(finding, "second tier", "of the flows behind one such port, hash mod %u has %u / gcd(%u, %u) = %u values", m, m, before, m,
                   m / gcd(before, m));
        check_change_run_key(finding, c, "routing", "ecmp_seed_per_switch", "true");
    }
    check_at_node(finding, node);
}

/* Towards RANK, from all switches that have endpoints. */
static void look_towards(struct tier *t, uint32_t rank, const uint8_t *is_first)
{
    const struct net_graph *g = t->c->graph;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (is_first[i])
            look_from(t, i, rank);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (t->used[i]) {
            report(t, i);
            g_clear_pointer(&t->used[i], g_free);
        }
}

void check_polarisation(struct check *c)
{
    const struct net_graph *g = c->graph;
    bool hashes = c->routing->mode == ROUTING_ECMP || c->routing->mode == ROUTING_FLOWLET;
    if (!hashes || c->routing->ecmp_seed_per_switch || c->routing->hash_offset_per_tier > 0)
        return;
    g_autofree uint8_t *is_first = g_malloc0(MAX(g->n_nodes, 1)), *reached = g_malloc0(MAX(g->n_nodes, 1));
    g_autofree uint32_t *first = g_new(uint32_t, MAX(g->n_ports, 1)), *second = g_new(uint32_t, MAX(g->n_ports, 1));
    g_autofree uint32_t *n_second = g_new0(uint32_t, MAX(g->n_nodes, 1)), *n_first = g_new0(uint32_t, MAX(g->n_nodes, 1));
    g_autofree uint32_t *from = g_new0(uint32_t, MAX(g->n_nodes, 1));
    g_autofree uint8_t **used = g_new0(uint8_t *, MAX(g->n_nodes, 1));
    struct tier t = {c, first, second, used, n_second, n_first, from};
    uint32_t n_reached = 0;
    for (uint32_t r = 0; r < g->n_endpoints; r++) {
        uint32_t port = g->endpoints[r].port;
        if (port != NET_NONE && check_is_plugged(c, port) && check_is_switch(c, check_peer_node(c, port)))
            is_first[check_peer_node(c, port)] = 1;
    }
    for (uint32_t r = 0; r < g->n_endpoints && n_reached < MAX_DESTINATIONS; r++) {
        uint32_t port = g->endpoints[r].port, at = port == NET_NONE || !check_is_plugged(c, port) ? NET_NONE : check_peer_node(c, port);
        if (at == NET_NONE || reached[at])
            continue;
        reached[at] = 1;
        n_reached++;
        look_towards(&t, r, is_first);
    }
}
