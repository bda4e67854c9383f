/* routes.c - all shortest paths of a fabric, and the ECMP choice among them.
 *
 * Distances are kept per destination switch and counted breadth-first over switches alone (hosts never
 * relay), the first time that somebody asks for that switch: 2 bytes a switch, so a k = 32 fat tree needs 1.3
 * MB in all. A path walks down these distances; what one hop costs is the number of the switch's ports.
 */
#include "topologies/fabric_priv.h"
#include <string.h>

#define NO_PATH UINT16_MAX

struct routes {
    const struct fabric *fabric;
    uint32_t n_switches;
    uint32_t *switch_of_node; /* dense number of a switch; NET_NONE for hosts */
    uint32_t *node_of_switch;
    uint32_t *adjacent_first;  /* n_switches + 1 */
    uint32_t *adjacent_port;   /* ports of each switch that lead to switches, ascending */
    uint32_t *adjacent_switch; /* what they lead to */
    uint16_t **distance;       /* [destination switch][switch]; NULL until asked for */
    uint32_t *queue;           /* n_switches: scratch of the search */
    uint32_t *candidates;      /* scratch of one hop */
    uint64_t *down;            /* graph ports that the distances leave out; NULL: none */
};

static uint32_t peer_node(const struct net_graph *graph, uint32_t port)
{
    uint32_t peer = graph->ports[port].peer;
    return peer == NET_NONE ? NET_NONE : graph->ports[peer].node;
}

static uint32_t peer_switch(const struct routes *routes, uint32_t port)
{
    uint32_t node = peer_node(&routes->fabric->graph, port);
    return node == NET_NONE ? NET_NONE : routes->switch_of_node[node];
}

static void number_switches(struct routes *routes)
{
    const struct net_graph *graph = &routes->fabric->graph;
    routes->switch_of_node = g_new(uint32_t, graph->n_nodes);
    routes->node_of_switch = g_new(uint32_t, graph->n_nodes);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        bool is_switch = graph->nodes[i].kind == NET_SWITCH;
        routes->switch_of_node[i] = is_switch ? routes->n_switches : NET_NONE;
        if (is_switch)
            routes->node_of_switch[routes->n_switches++] = i;
    }
}

static void list_adjacent(struct routes *routes)
{
    const struct net_graph *graph = &routes->fabric->graph;
    uint32_t n = 0;
    routes->adjacent_first = g_new0(uint32_t, (gsize)routes->n_switches + 1);
    routes->adjacent_port = g_new(uint32_t, graph->n_ports);
    routes->adjacent_switch = g_new(uint32_t, graph->n_ports);
    for (uint32_t s = 0; s < routes->n_switches; s++) {
        const struct net_node *node = &graph->nodes[routes->node_of_switch[s]];
        for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
            uint32_t other = peer_switch(routes, p);
            if (other == NET_NONE)
                continue;
            routes->adjacent_port[n] = p;
            routes->adjacent_switch[n++] = other;
        }
        routes->adjacent_first[s + 1] = n;
    }
}

struct routes *routes_new(const struct fabric *fabric)
{
    struct routes *routes = g_new0(struct routes, 1);
    routes->fabric = fabric;
    number_switches(routes);
    list_adjacent(routes);
    routes->distance = g_new0(uint16_t *, routes->n_switches);
    routes->queue = g_new(uint32_t, routes->n_switches);
    routes->candidates = g_new(uint32_t, FABRIC_MAX_PORTS_PER_NODE);
    return routes;
}

void routes_free(struct routes *routes)
{
    if (!routes)
        return;
    for (uint32_t s = 0; s < routes->n_switches; s++)
        g_free(routes->distance[s]);
    g_free(routes->distance);
    g_free(routes->switch_of_node);
    g_free(routes->node_of_switch);
    g_free(routes->adjacent_first);
    g_free(routes->adjacent_port);
    g_free(routes->adjacent_switch);
    g_free(routes->queue);
    g_free(routes->candidates);
    g_free(routes->down);
    g_free(routes);
}

static bool is_down(const struct routes *routes, uint32_t port)
{
    return routes->down && (routes->down[port / 64] >> port % 64 & 1);
}

/* Distances are known for one set of dead ports at a time. */
static void use_down(struct routes *routes, const uint64_t *down)
{
    size_t bytes = ((size_t)routes->fabric->graph.n_ports + 63) / 64 * sizeof *down;
    if (down == NULL ? routes->down == NULL : routes->down && memcmp(down, routes->down, bytes) == 0)
        return;
    for (uint32_t s = 0; s < routes->n_switches; s++)
        g_clear_pointer(&routes->distance[s], g_free);
    g_free(routes->down);
    routes->down = down ? g_memdup2(down, bytes) : NULL;
}

/* Breadth first from DESTINATION. What lies NO_PATH - 1 hops away or more counts as out of reach. */
static uint16_t *measure(struct routes *routes, uint32_t destination)
{
    uint16_t *distance = g_new(uint16_t, routes->n_switches);
    memset(distance, 0xff, sizeof(uint16_t) * routes->n_switches);
    uint32_t head = 0, tail = 0;
    distance[destination] = 0;
    routes->queue[tail++] = destination;
    while (head < tail) {
        uint32_t s = routes->queue[head++];
        if (distance[s] == NO_PATH - 1)
            break;
        for (uint32_t i = routes->adjacent_first[s]; i < routes->adjacent_first[s + 1]; i++) {
            uint32_t other = routes->adjacent_switch[i];
            if (distance[other] == NO_PATH && !is_down(routes, routes->adjacent_port[i])) {
                distance[other] = (uint16_t)(distance[s] + 1);
                routes->queue[tail++] = other;
            }
        }
    }
    return distance;
}

static const uint16_t *distances_to(struct routes *routes, uint32_t destination)
{
    if (!routes->distance[destination])
        routes->distance[destination] = measure(routes, destination);
    return routes->distance[destination];
}

static uint64_t hash_at(const struct routes *routes, const struct ecmp_hash *hash, const struct route_key *key, uint32_t node)
{
    return ecmp_hash_at(hash, key, node, routes->fabric->graph.nodes[node].tier);
}

/* ---- first and last link --------------------------------------------------- */

struct access {
    uint32_t src_port, dst_port; /* NIC ports; NET_NONE if there is no path */
    uint32_t hops;
};

/* Links from SRC_PORT to DST_PORT, both NIC ports; 0 if there is no path. */
static uint32_t hops_between(struct routes *routes, uint32_t src_port, uint32_t dst_port)
{
    const struct net_port *ports = routes->fabric->graph.ports;
    if (ports[src_port].peer == dst_port)
        return 1;
    uint32_t from = peer_switch(routes, src_port), to = peer_switch(routes, dst_port);
    if (from == NET_NONE || to == NET_NONE)
        return 0;
    uint16_t d = distances_to(routes, to)[from];
    return d == NO_PATH ? 0 : d + 2u;
}

static int64_t slower_bps(const struct routes *routes, uint32_t a, uint32_t b)
{
    const struct net_port *ports = routes->fabric->graph.ports;
    return MIN(ports[a].rate_bps, ports[b].rate_bps);
}

/* Negative if the pair of ports A makes the better path: shorter, else faster at its ends. */
static int compare_access(const struct routes *routes, const struct access *a, const struct access *b)
{
    if (a->hops != b->hops)
        return a->hops < b->hops ? -1 : 1;
    int64_t a_bps = slower_bps(routes, a->src_port, a->dst_port),
            b_bps = slower_bps(routes, b->src_port, b->dst_port);
    return a_bps == b_bps ? 0 : a_bps > b_bps ? -1 : 1;
}

/* The INDEX-th of the equally good best pairs; *N of them. */
static struct access best_access(struct routes *routes, uint32_t src, uint32_t dst, uint64_t index,
                                 uint64_t *n)
{
    struct access best = {.src_port = NET_NONE, .dst_port = NET_NONE};
    uint32_t src0, n_src, dst0, n_dst;
    fabric_nic_ports(routes->fabric, src, &src0, &n_src);
    fabric_nic_ports(routes->fabric, dst, &dst0, &n_dst);
    *n = 0;
    for (uint32_t s = src0; s < src0 + n_src; s++)
        for (uint32_t d = dst0; d < dst0 + n_dst; d++) {
            struct access pair = {s, d, hops_between(routes, s, d)};
            if (pair.hops == 0)
                continue;
            int order = *n ? compare_access(routes, &pair, &best) : -1;
            if (order < 0)
                *n = 0;
            if (order <= 0 && (*n)++ <= index)
                best = pair;
        }
    return best;
}

static struct access choose_access(struct routes *routes, const struct route_key *key, const struct ecmp_hash *hash)
{
    uint64_t n;
    struct access access = best_access(routes, key->src, key->dst, 0, &n);
    if (n <= 1)
        return access;
    uint32_t host = routes->fabric->graph.endpoints[key->src].node;
    return best_access(routes, key->src, key->dst, hash_at(routes, hash, key, host) % n, &n);
}

/* ---- public ----------------------------------------------------------------- */

int routes_hops(struct routes *routes, uint32_t src, uint32_t dst)
{
    const struct net_graph *graph = &routes->fabric->graph;
    uint64_t n;
    g_return_val_if_fail(src < graph->n_endpoints && dst < graph->n_endpoints, 0);
    use_down(routes, NULL);
    if (graph->endpoints[src].node == graph->endpoints[dst].node)
        return 0;
    return (int)best_access(routes, src, dst, 0, &n).hops;
}

/* Position in the adjacency lists of the port that switch S takes, S not being the destination. */
static uint32_t next_hop(struct routes *routes, const uint16_t *distance, uint32_t s, uint64_t hash)
{
    uint32_t n = 0;
    uint32_t wanted = distance[s] - 1u;
    for (uint32_t i = routes->adjacent_first[s]; i < routes->adjacent_first[s + 1]; i++) {
        routes->candidates[n] = i;
        n += distance[routes->adjacent_switch[i]] == wanted;
    }
    return routes->candidates[hash % n];
}

static bool path_ok(const struct routes *routes, const struct route_key *key, const struct access *access,
                    int max, GError **err)
{
    const struct net_graph *graph = &routes->fabric->graph;
    char **names = routes->fabric->names;
    const char *from = names[graph->endpoints[key->src].node], *to = names[graph->endpoints[key->dst].node];
    if (access->src_port == NET_NONE) {
        g_set_error(err, FABRIC_ERROR, FABRIC_ERROR_DISCONNECTED, "no path from rank %u (%s) to rank %u (%s)",
                    key->src, from, key->dst, to);
        return false;
    }
    if (access->hops > (uint32_t)MAX(max, 0))
        return fabric_fail(err, "path from rank %u (%s) to rank %u (%s) has %u links; at most %d", key->src,
                           from, key->dst, to, access->hops, max);
    return true;
}

static bool key_ok(const struct net_graph *graph, const struct route_key *key, GError **err)
{
    if (key->src < graph->n_endpoints && key->dst < graph->n_endpoints)
        return true;
    return fabric_fail(err, "rank %u is beyond the %u ranks of the fabric", MAX(key->src, key->dst),
                       graph->n_endpoints);
}

int routes_path(struct routes *routes, const struct route_key *key, const struct ecmp_hash *hash, uint32_t *ports, int max,
                GError **err)
{
    const struct net_graph *graph = &routes->fabric->graph;
    if (!key_ok(graph, key, err))
        return -1;
    use_down(routes, NULL);
    if (graph->endpoints[key->src].node == graph->endpoints[key->dst].node)
        return 0;
    struct access access = choose_access(routes, key, hash);
    if (!path_ok(routes, key, &access, max, err))
        return -1;
    int n = 0;
    ports[n++] = access.src_port;
    if (access.hops == 1)
        return n;
    uint32_t last = peer_switch(routes, access.dst_port);
    const uint16_t *distance = distances_to(routes, last);
    for (uint32_t s = peer_switch(routes, access.src_port); s != last;) {
        uint32_t i = next_hop(routes, distance, s, hash_at(routes, hash, key, routes->node_of_switch[s]));
        ports[n++] = routes->adjacent_port[i];
        s = routes->adjacent_switch[i];
    }
    ports[n++] = graph->ports[access.dst_port].peer;
    return n;
}

/* Links from switch S to NIC port PORT, the last one counted; NO_PATH: none. */
static uint32_t links_to(struct routes *routes, uint32_t s, uint32_t port)
{
    uint32_t last = peer_switch(routes, port);
    if (last == NET_NONE || is_down(routes, port))
        return NO_PATH;
    uint32_t d = distances_to(routes, last)[s];
    return d == NO_PATH ? NO_PATH : d + 1;
}

/* Does entry I of the adjacency list of switch S lead nearer to one of the NIC's ports that are nearest? */
static bool leads_nearer(struct routes *routes, uint32_t i, uint32_t s, uint32_t first, uint32_t n, uint32_t best)
{
    if (is_down(routes, routes->adjacent_port[i]))
        return false;
    for (uint32_t port = first; port < first + n; port++)
        if (links_to(routes, s, port) == best && links_to(routes, routes->adjacent_switch[i], port) == best - 1)
            return true;
    return false;
}

uint32_t routes_next_hops(struct routes *routes, uint32_t node, uint32_t rank, const uint64_t *down, uint32_t *ports, uint32_t max)
{
    const struct net_graph *graph = &routes->fabric->graph;
    uint32_t s = routes->switch_of_node[node], first, n_nic, best = NO_PATH, n = 0;
    g_return_val_if_fail(s != NET_NONE && rank < graph->n_endpoints, 0);
    if (graph->endpoints[rank].port == NET_NONE)
        return 0;
    use_down(routes, down);
    fabric_nic_ports(routes->fabric, rank, &first, &n_nic);
    for (uint32_t port = first; port < first + n_nic; port++)
        best = MIN(best, links_to(routes, s, port));
    if (best == NO_PATH)
        return 0;
    if (best == 1) { /* its own ports */
        const struct net_node *sw = &graph->nodes[node];
        for (uint32_t p = sw->first_port; p < sw->first_port + sw->n_ports && n < max; p++)
            if (graph->ports[p].peer >= first && graph->ports[p].peer < first + n_nic && !is_down(routes, p))
                ports[n++] = p;
        return n;
    }
    for (uint32_t i = routes->adjacent_first[s]; i < routes->adjacent_first[s + 1] && n < max; i++)
        if (leads_nearer(routes, i, s, first, n_nic, best))
            ports[n++] = routes->adjacent_port[i];
    return n;
}

static bool used(const uint32_t *ports, int n, uint32_t port)
{
    for (int i = 0; i < n; i++)
        if (ports[i] == port)
            return true;
    return false;
}

/* Lowest port of FROM that leads to TO and is not among the N used ones; NET_NONE if none. */
static uint32_t port_to(const struct net_graph *graph, uint32_t from, uint32_t to, const uint32_t *ports,
                        int n)
{
    const struct net_node *node = &graph->nodes[from];
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
        if (peer_node(graph, p) == to && !used(ports, n, p))
            return p;
    return NET_NONE;
}

static bool nodes_ok(const struct fabric *fabric, const uint32_t *nodes, uint32_t n_nodes, int max,
                     GError **err)
{
    const struct net_graph *graph = &fabric->graph;
    if (n_nodes < 2)
        return fabric_fail(err, "a path needs at least two nodes");
    if (n_nodes - 1 > (uint32_t)MAX(max, 0))
        return fabric_fail(err, "path of %u links; at most %d", n_nodes - 1, max);
    for (uint32_t i = 0; i < n_nodes; i++) {
        bool end = i == 0 || i == n_nodes - 1;
        if (nodes[i] >= graph->n_nodes)
            return fabric_fail(err, "path: node %u is beyond the %u nodes of the fabric", nodes[i],
                               graph->n_nodes);
        if ((graph->nodes[nodes[i]].kind == NET_HOST) != end)
            return fabric_fail(err, "path: node %u (%s) is a %s; a path runs from host to host over switches",
                               nodes[i], fabric->names[nodes[i]], end ? "switch" : "host");
    }
    return true;
}

int routes_from_nodes(const struct fabric *fabric, const uint32_t *nodes, uint32_t n_nodes, uint32_t *ports,
                      int max, GError **err)
{
    if (!nodes_ok(fabric, nodes, n_nodes, max, err))
        return -1;
    int n = 0;
    for (uint32_t i = 0; i + 1 < n_nodes; i++) {
        uint32_t port = port_to(&fabric->graph, nodes[i], nodes[i + 1], ports, n);
        if (port == NET_NONE) {
            fabric_fail(err, "path: no free link from node %u (%s) to node %u (%s)", nodes[i],
                        fabric->names[nodes[i]], nodes[i + 1], fabric->names[nodes[i + 1]]);
            return -1;
        }
        ports[n++] = port;
    }
    return n;
}
