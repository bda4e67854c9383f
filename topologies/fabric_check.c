/* fabric_check.c - is a fabric whole: ports, names, and who can reach whom.
 *
 * Hosts never relay, so being connected is not enough: in a ring of directly cabled servers, or where each
 * NIC has a network of its own, some pairs of GPUs have no path. Those are listed.
 */
#include "topologies/fabric_priv.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANGES     32
#define MAX_COMPONENTS 16
#define MAX_PAIRS      32

/* ---- disjoint sets --------------------------------------------------------- */

static uint32_t *sets_new(uint32_t n)
{
    uint32_t *parent = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        parent[i] = i;
    return parent;
}

static uint32_t set_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* The lower root wins, so that a set's number is its lowest member. */
static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    uint32_t root_a = set_of(parent, a), root_b = set_of(parent, b);
    parent[MAX(root_a, root_b)] = MIN(root_a, root_b);
}

/* Sets of nodes joined by cables; with SWITCHES_ONLY a cable at a host joins nothing. */
static uint32_t *cable_sets(const struct net_graph *graph, bool switches_only)
{
    uint32_t *parent = sets_new(graph->n_nodes);
    for (uint32_t p = 0; p < graph->n_ports; p++) {
        uint32_t peer = graph->ports[p].peer;
        if (peer == NET_NONE)
            continue;
        uint32_t a = graph->ports[p].node, b = graph->ports[peer].node;
        bool at_host = graph->nodes[a].kind == NET_HOST || graph->nodes[b].kind == NET_HOST;
        if (!switches_only || !at_host)
            join(parent, a, b);
    }
    return parent;
}

/* ---- ports and names --------------------------------------------------------- */

static bool check_port(const struct fabric *fabric, uint32_t p, GError **err)
{
    const struct net_graph *graph = &fabric->graph;
    const struct net_port *port = &graph->ports[p];
    const char *name = fabric->names[port->node];
    uint32_t number = p - graph->nodes[port->node].first_port;
    if (port->peer == NET_NONE)
        return true;
    if (port->peer >= graph->n_ports || port->peer == p || graph->ports[port->peer].peer != p)
        return fabric_fail(err, "fabric: port %u of %s: its peer does not point back", number, name);
    const struct net_port *peer = &graph->ports[port->peer];
    if (port->rate_bps <= 0 || port->delay_ps < 0)
        return fabric_fail(err, "fabric: port %u of %s: the rate must be positive and the delay not negative", number, name);
    if (port->rate_bps != peer->rate_bps || port->delay_ps != peer->delay_ps)
        return fabric_fail(err, "fabric: port %u of %s: rate or delay differ at the other end", number, name);
    return true;
}

static bool check_ports(const struct fabric *fabric, GError **err)
{
    const struct net_graph *graph = &fabric->graph;
    uint32_t next = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct net_node *node = &graph->nodes[i];
        if (node->first_port != next || node->n_ports > graph->n_ports - next)
            return fabric_fail(err, "fabric: ports of %s do not follow those of the node before",
                               fabric->names[i]);
        next += node->n_ports;
        for (uint32_t p = node->first_port; p < next; p++) {
            if (graph->ports[p].node != i)
                return fabric_fail(err, "fabric: port %u belongs to two nodes", p);
            if (!check_port(fabric, p, err))
                return false;
        }
    }
    return next == graph->n_ports ||
           fabric_fail(err, "fabric: %u ports belong to no node", graph->n_ports - next);
}

static bool check_names(const struct fabric *fabric, GError **err)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++)
        if (!g_hash_table_add(seen, fabric->names[i]))
            return fabric_fail(err, "fabric: two nodes are called %s", fabric->names[i]);
    return true;
}

/* ---- components ---------------------------------------------------------------- */

char *fabric_ranges(const uint32_t *numbers, uint32_t n, uint32_t max_ranges)
{
    GString *out = g_string_new(NULL);
    uint32_t ranges = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t last = i;
        while (last + 1 < n && numbers[last + 1] == numbers[last] + 1)
            last++;
        if (ranges++ == max_ranges) {
            g_string_append_printf(out, ",... (%u in all)", n);
            break;
        }
        g_string_append_printf(out, "%s%u", i ? "," : "", numbers[i]);
        if (last > i)
            g_string_append_printf(out, "-%u", numbers[last]);
        i = last + 1;
    }
    return g_string_free(out, FALSE);
}

struct member {
    uint32_t set, rank;
};

static int by_set_and_rank(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Appends "{0-3}" for the ranks of one set; N of them start at MEMBERS. */
static void append_ranks(GString *out, const struct member *members, uint32_t n)
{
    g_autofree uint32_t *ranks = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = members[i].rank;
    g_autofree char *text = fabric_ranges(ranks, n, MAX_RANGES);
    g_string_append_printf(out, "%s{%s}", out->len ? "," : "", text);
}

static struct member *ranks_by_set(const struct fabric *fabric, uint32_t *parent)
{
    const struct net_graph *graph = &fabric->graph;
    struct member *members = g_new(struct member, graph->n_endpoints);
    for (uint32_t e = 0; e < graph->n_endpoints; e++)
        members[e] = (struct member){.set = set_of(parent, graph->endpoints[e].node), .rank = e};
    qsort(members, graph->n_endpoints, sizeof *members, by_set_and_rank);
    return members;
}

/* Components with ranks into OUT; returns how many there are. */
static uint32_t list_rank_sets(const struct fabric *fabric, uint32_t *parent, uint8_t *has_rank, GString *out)
{
    g_autofree struct member *members = ranks_by_set(fabric, parent);
    uint32_t n = fabric->graph.n_endpoints, sets = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t end = i;
        while (end < n && members[end].set == members[i].set)
            end++;
        has_rank[members[i].set] = 1;
        if (sets++ < MAX_COMPONENTS)
            append_ranks(out, members + i, end - i);
        i = end;
    }
    return sets;
}

/* Components without any rank, by the name of one of their switches. */
static uint32_t list_other_sets(const struct fabric *fabric, uint32_t *parent, const uint8_t *has_rank,
                                uint32_t sets, GString *out)
{
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++)
        if (set_of(parent, i) == i && !has_rank[i] && sets++ < MAX_COMPONENTS)
            g_string_append_printf(out, "%s{%s, no GPU}", out->len ? "," : "", fabric->names[i]);
    return sets;
}

static bool check_connected(const struct fabric *fabric, GError **err)
{
    g_autofree uint32_t *parent = cable_sets(&fabric->graph, false);
    g_autofree uint8_t *has_rank = g_new0(uint8_t, fabric->graph.n_nodes);
    g_autoptr(GString) list = g_string_new(NULL);
    uint32_t sets = list_rank_sets(fabric, parent, has_rank, list);
    sets = list_other_sets(fabric, parent, has_rank, sets, list);
    if (sets <= 1)
        return true;
    g_set_error(err, FABRIC_ERROR, FABRIC_ERROR_DISCONNECTED,
                "fabric: not connected: %u components %s%s (ranks)", sets, list->str,
                sets > MAX_COMPONENTS ? ",..." : "");
    return false;
}

/* ---- pairs without a path --------------------------------------------------------- */

/* Node at the other end of PORT's cable; NET_NONE if nothing is plugged in. */
static uint32_t far_node(const struct net_graph *graph, uint32_t port)
{
    uint32_t peer = graph->ports[port].peer;
    return peer == NET_NONE ? NET_NONE : graph->ports[peer].node;
}

static bool cables_meet(const struct net_graph *graph, uint32_t *parent, uint32_t p, uint32_t q)
{
    uint32_t at_p = far_node(graph, p), at_q = far_node(graph, q);
    if (at_p == NET_NONE || at_q == NET_NONE)
        return false;
    bool switches = graph->nodes[at_p].kind == NET_SWITCH && graph->nodes[at_q].kind == NET_SWITCH;
    return graph->ports[p].peer == q || (switches && set_of(parent, at_p) == set_of(parent, at_q));
}

static bool pair_has_path(const struct fabric *fabric, uint32_t *parent, uint32_t a, uint32_t b)
{
    uint32_t a0, n_a, b0, n_b;
    if (fabric->graph.endpoints[a].node == fabric->graph.endpoints[b].node)
        return true;
    fabric_nic_ports(fabric, a, &a0, &n_a);
    fabric_nic_ports(fabric, b, &b0, &n_b);
    for (uint32_t p = a0; p < a0 + n_a; p++)
        for (uint32_t q = b0; q < b0 + n_b; q++)
            if (cables_meet(&fabric->graph, parent, p, q))
                return true;
    return false;
}

static bool reaches(const struct fabric *fabric, uint32_t *parent, uint32_t endpoint, uint32_t network)
{
    uint32_t first, n;
    fabric_nic_ports(fabric, endpoint, &first, &n);
    for (uint32_t p = first; p < first + n; p++) {
        uint32_t node = far_node(&fabric->graph, p);
        if (node != NET_NONE && set_of(parent, node) == network)
            return true;
    }
    return false;
}

static bool reaches_all(const struct fabric *fabric, uint32_t *parent, uint32_t network)
{
    for (uint32_t e = 0; e < fabric->graph.n_endpoints; e++)
        if (!reaches(fabric, parent, e, network))
            return false;
    return true;
}

/* True if one network of switches has a port of every endpoint: then all pairs have a path. */
static bool one_network_reaches_all(const struct fabric *fabric, uint32_t *parent)
{
    const struct net_graph *graph = &fabric->graph;
    uint32_t first, n;
    fabric_nic_ports(fabric, 0, &first, &n);
    for (uint32_t p = first; p < first + n; p++) {
        uint32_t node = far_node(graph, p);
        if (node != NET_NONE && graph->nodes[node].kind == NET_SWITCH &&
            reaches_all(fabric, parent, set_of(parent, node)))
            return true;
    }
    return false;
}

static bool check_pairs(const struct fabric *fabric, GError **err)
{
    g_autofree uint32_t *parent = cable_sets(&fabric->graph, true);
    if (one_network_reaches_all(fabric, parent))
        return true;
    g_autoptr(GString) list = g_string_new(NULL);
    uint64_t n = fabric->graph.n_endpoints, without = 0, seen = 0;
    for (uint32_t a = 0; a < n && without < MAX_PAIRS; a++)
        for (uint32_t b = a + 1; b < n && without < MAX_PAIRS; b++, seen++)
            if (!pair_has_path(fabric, parent, a, b)) {
                g_string_append_printf(list, "(%u,%u)", a, b);
                without++;
            }
    if (without == 0)
        return true;
    bool all = seen == n * (n - 1) / 2;
    g_set_error(err, FABRIC_ERROR, FABRIC_ERROR_DISCONNECTED,
                "fabric: %s%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                " pairs of ranks have no path, since hosts do not relay: %s%s",
                all ? "" : "at least ", without, n * (n - 1) / 2, list->str, all ? "" : "...");
    return false;
}

bool fabric_check(const struct fabric *fabric, GError **err)
{
    if (fabric->graph.n_endpoints == 0)
        return fabric_fail(err, "fabric: no hosts");
    return check_ports(fabric, err) && check_names(fabric, err) && check_connected(fabric, err) &&
           check_pairs(fabric, err);
}
