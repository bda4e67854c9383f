/* bisection.c - bandwidth between the two halves of a fabric, as a maximum flow (Dinic's algorithm).
 *
 * The first half of the hosts, by id, is the source, the rest the sink. Hosts never relay, so the flow
 * network has the switches as its nodes, parallel links merged; a cable between two hosts counts as it is.
 * True of any graph, where a formula over tiers holds for Clos networks alone.
 */
#include "topologies/fabric_priv.h"
#include <string.h>

#define MAX_ARCS 4000000 /* beyond this nobody waits for the number */

/* Arcs of node i: first[i] ... first[i + 1]; the reverse of arc a is reverse[a]. */
struct flow {
    uint32_t n_nodes, source, sink;
    uint32_t *first, *to, *reverse;
    int64_t *free_bps;
    uint32_t *level, *current, *queue, *path;
};

struct arc {
    uint32_t from, to;
    int64_t forth_bps, back_bps;
};

static void add_arc(GHashTable *index, GArray *arcs, uint32_t from, uint32_t to, int64_t forth_bps,
                    int64_t back_bps)
{
    if (from > to) {
        add_arc(index, arcs, to, from, back_bps, forth_bps);
        return;
    }
    gint64 key = (gint64)((uint64_t)from << 32 | to);
    gpointer known = g_hash_table_lookup(index, &key);
    if (known) {
        struct arc *arc = &g_array_index(arcs, struct arc, GPOINTER_TO_UINT(known) - 1);
        arc->forth_bps += forth_bps;
        arc->back_bps += back_bps;
        return;
    }
    struct arc arc = {from, to, forth_bps, back_bps};
    g_array_append_val(arcs, arc);
    g_hash_table_insert(index, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(arcs->len));
}

/* Flow node of a host: source or sink by half. Switches keep their ids. */
static uint32_t flow_node(const struct net_graph *graph, uint32_t node, const uint8_t *half)
{
    return graph->nodes[node].kind == NET_SWITCH ? node : graph->n_nodes + half[node];
}

static void collect_arcs(const struct net_graph *graph, const uint8_t *half, GArray *arcs)
{
    g_autoptr(GHashTable) index = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    uint32_t source = graph->n_nodes, sink = source + 1;
    for (uint32_t p = 0; p < graph->n_ports; p++) {
        const struct net_port *port = &graph->ports[p];
        if (port->peer == NET_NONE || port->peer < p)
            continue;
        uint32_t a = flow_node(graph, port->node, half),
                 b = flow_node(graph, graph->ports[port->peer].node, half);
        if (a == b)
            continue;
        /* Nothing flows into the source or out of the sink. */
        int64_t forth = b == source || a == sink ? 0 : port->rate_bps;
        int64_t back = a == source || b == sink ? 0 : port->rate_bps;
        add_arc(index, arcs, a, b, forth, back);
    }
}

static void flow_init(struct flow *flow, uint32_t n_nodes, const GArray *arcs)
{
    *flow = (struct flow){.n_nodes = n_nodes, .source = n_nodes - 2, .sink = n_nodes - 1};
    flow->first = g_new0(uint32_t, (gsize)n_nodes + 2);
    flow->to = g_new(uint32_t, 2 * (gsize)arcs->len);
    flow->reverse = g_new(uint32_t, 2 * (gsize)arcs->len);
    flow->free_bps = g_new(int64_t, 2 * (gsize)arcs->len);
    flow->level = g_new(uint32_t, n_nodes);
    flow->current = g_new(uint32_t, n_nodes);
    flow->queue = g_new(uint32_t, n_nodes);
    flow->path = g_new(uint32_t, n_nodes);
    for (guint i = 0; i < arcs->len; i++) {
        flow->first[g_array_index(arcs, struct arc, i).from + 2]++;
        flow->first[g_array_index(arcs, struct arc, i).to + 2]++;
    }
    for (uint32_t i = 0; i < n_nodes; i++)
        flow->first[i + 2] += flow->first[i + 1];
    /* first[i + 1] is the next free slot of node i here, and the end of node i afterwards. */
    for (guint i = 0; i < arcs->len; i++) {
        const struct arc *arc = &g_array_index(arcs, struct arc, i);
        uint32_t forth = flow->first[arc->from + 1]++, back = flow->first[arc->to + 1]++;
        flow->to[forth] = arc->to;
        flow->to[back] = arc->from;
        flow->reverse[forth] = back;
        flow->reverse[back] = forth;
        flow->free_bps[forth] = arc->forth_bps;
        flow->free_bps[back] = arc->back_bps;
    }
}

static void flow_release(struct flow *flow)
{
    g_free(flow->first);
    g_free(flow->to);
    g_free(flow->reverse);
    g_free(flow->free_bps);
    g_free(flow->level);
    g_free(flow->current);
    g_free(flow->queue);
    g_free(flow->path);
}

/* Levels from the source over arcs with room; true if the sink has one. */
static bool set_levels(struct flow *flow)
{
    uint32_t head = 0, tail = 0;
    memset(flow->level, 0xff, sizeof(uint32_t) * flow->n_nodes);
    flow->level[flow->source] = 0;
    flow->queue[tail++] = flow->source;
    while (head < tail) {
        uint32_t node = flow->queue[head++];
        for (uint32_t a = flow->first[node]; a < flow->first[node + 1]; a++)
            if (flow->free_bps[a] > 0 && flow->level[flow->to[a]] == UINT32_MAX) {
                flow->level[flow->to[a]] = flow->level[node] + 1;
                flow->queue[tail++] = flow->to[a];
            }
    }
    return flow->level[flow->sink] != UINT32_MAX;
}

static bool leads_on(const struct flow *flow, uint32_t node, uint32_t arc)
{
    return flow->free_bps[arc] > 0 && flow->level[flow->to[arc]] == flow->level[node] + 1;
}

/* Sends what the path of DEPTH arcs carries. */
static int64_t push_path(struct flow *flow, uint32_t depth)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < depth; i++)
        least = MIN(least, flow->free_bps[flow->path[i]]);
    for (uint32_t i = 0; i < depth; i++) {
        flow->free_bps[flow->path[i]] -= least;
        flow->free_bps[flow->reverse[flow->path[i]]] += least;
    }
    return least;
}

/* Depth first without recursion; a dead end is left by moving its predecessor's cursor on. */
static double blocking_flow(struct flow *flow)
{
    double sum = 0;
    uint32_t node = flow->source, depth = 0;
    memcpy(flow->current, flow->first, sizeof(uint32_t) * flow->n_nodes);
    for (;;) {
        uint32_t *arc = &flow->current[node];
        while (node != flow->sink && *arc < flow->first[node + 1] && !leads_on(flow, node, *arc))
            (*arc)++;
        if (node == flow->sink) {
            sum += (double)push_path(flow, depth);
            node = flow->source;
            depth = 0;
        } else if (*arc < flow->first[node + 1]) {
            flow->path[depth++] = *arc;
            node = flow->to[*arc];
        } else if (depth == 0) {
            return sum;
        } else {
            uint32_t back = flow->path[--depth];
            node = flow->to[flow->reverse[back]];
            flow->current[node]++;
        }
    }
}

static uint8_t *second_half(const struct net_graph *graph)
{
    uint8_t *half = g_new0(uint8_t, graph->n_nodes);
    uint32_t hosts = 0, seen = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        hosts += graph->nodes[i].kind == NET_HOST;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].kind == NET_HOST)
            half[i] = seen++ >= (hosts + 1) / 2;
    return half;
}

double fabric_bisection_bps(const struct fabric *fabric)
{
    const struct net_graph *graph = &fabric->graph;
    g_autoptr(GArray) arcs = g_array_new(FALSE, FALSE, sizeof(struct arc));
    g_autofree uint8_t *half = second_half(graph);
    struct flow flow;
    double sum = 0;
    if (graph->n_ports / 2 > MAX_ARCS)
        return -1;
    collect_arcs(graph, half, arcs);
    flow_init(&flow, graph->n_nodes + 2, arcs);
    while (set_levels(&flow))
        sum += blocking_flow(&flow);
    flow_release(&flow);
    return sum;
}
