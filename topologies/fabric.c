/* fabric.c - assembly of a fabric from nodes and links, and the choice of builder. */
#include "topologies/fabric_priv.h"
#include "topologies/subnet.h"
#include <inttypes.h>
#include <string.h>

G_DEFINE_QUARK(fabric - error - quark, fabric_error)

struct build_link {
    uint32_t a, b;
    int64_t rate_bps, delay_ps;
};

struct fabric_builder {
    char *kind;
    GArray *nodes;    /* struct net_node */
    GArray *links;    /* struct build_link */
    GPtrArray *names; /* char * */
};

bool fabric_fail(GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(err, FABRIC_ERROR, FABRIC_ERROR_INPUT, text);
    return false;
}

bool fabric_size_ok(int64_t n_nodes, int64_t n_endpoints, int64_t n_links, GError **err)
{
    if (n_nodes <= FABRIC_MAX_NODES && n_endpoints <= FABRIC_MAX_NODES && n_links <= FABRIC_MAX_LINKS)
        return true;
    return fabric_fail(err,
                       "topology: %" PRId64 " nodes, %" PRId64 " GPUs and %" PRId64
                       " links are too many; at most %" PRId64 " nodes, as many GPUs and %" PRId64 " links",
                       n_nodes, n_endpoints, n_links, FABRIC_MAX_NODES, FABRIC_MAX_LINKS);
}

struct fabric_builder *fabric_builder_new(const char *kind)
{
    struct fabric_builder *builder = g_new0(struct fabric_builder, 1);
    builder->kind = g_strdup(kind);
    builder->nodes = g_array_new(FALSE, TRUE, sizeof(struct net_node));
    builder->links = g_array_new(FALSE, TRUE, sizeof(struct build_link));
    builder->names = g_ptr_array_new();
    return builder;
}

void fabric_builder_free(struct fabric_builder *builder)
{
    if (!builder)
        return;
    g_free(builder->kind);
    g_array_unref(builder->nodes);
    g_array_unref(builder->links);
    if (builder->names) {
        g_ptr_array_set_free_func(builder->names, g_free);
        g_ptr_array_unref(builder->names);
    }
    g_free(builder);
}

uint32_t fabric_add_node(struct fabric_builder *builder, enum net_node_kind kind, int tier,
                         const char *format, ...)
{
    struct net_node node = {.kind = (uint8_t)kind, .tier = (uint8_t)tier};
    va_list args;
    va_start(args, format);
    g_ptr_array_add(builder->names, g_strdup_vprintf(format, args));
    va_end(args);
    g_array_append_val(builder->nodes, node);
    return builder->nodes->len - 1;
}

void fabric_add_link(struct fabric_builder *builder, uint32_t a, uint32_t b, int64_t rate_bps,
                     int64_t delay_ps)
{
    struct build_link link = {.a = a, .b = b, .rate_bps = rate_bps, .delay_ps = delay_ps};
    g_assert(a < builder->nodes->len && b < builder->nodes->len && a != b);
    g_array_append_val(builder->links, link);
}

/* First port of every node (n + 1 entries) from the number of links at it. */
static uint32_t *first_ports(const struct fabric_builder *builder)
{
    uint32_t *first = g_new0(uint32_t, (gsize)builder->nodes->len + 1);
    for (guint i = 0; i < builder->links->len; i++) {
        const struct build_link *link = &g_array_index(builder->links, struct build_link, i);
        first[link->a + 1]++;
        first[link->b + 1]++;
    }
    for (guint i = 0; i < builder->nodes->len; i++)
        first[i + 1] += first[i];
    return first;
}

static bool set_node_ports(struct fabric_builder *builder, const uint32_t *first, GError **err)
{
    for (guint i = 0; i < builder->nodes->len; i++) {
        struct net_node *node = &g_array_index(builder->nodes, struct net_node, i);
        uint32_t n = first[i + 1] - first[i];
        if (n > FABRIC_MAX_PORTS_PER_NODE)
            return fabric_fail(err, "topology: node %u (%s) has %u links; at most %d", i,
                               (const char *)g_ptr_array_index(builder->names, i), n,
                               FABRIC_MAX_PORTS_PER_NODE);
        node->first_port = first[i];
        node->n_ports = (uint16_t)n;
    }
    return true;
}

/* Plugs every cable in; NEXT holds the next free port of each node and is consumed. */
static void set_ports(struct net_graph *graph, const struct fabric_builder *builder, uint32_t *next)
{
    graph->n_ports = 2 * builder->links->len;
    graph->ports = g_new0(struct net_port, graph->n_ports);
    for (guint i = 0; i < builder->links->len; i++) {
        const struct build_link *link = &g_array_index(builder->links, struct build_link, i);
        uint32_t a = next[link->a]++, b = next[link->b]++;
        graph->ports[a] = (struct net_port){link->a, b, link->rate_bps, link->delay_ps};
        graph->ports[b] = (struct net_port){link->b, a, link->rate_bps, link->delay_ps};
    }
}

static void add_endpoints_of(struct net_graph *graph, uint32_t node, uint32_t gpus, uint32_t ports_per_nic)
{
    const struct net_node *host = &graph->nodes[node];
    uint32_t nics = MAX(1, host->n_ports / ports_per_nic);
    uint32_t gpus_per_nic = MAX(1, gpus / nics);
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        uint32_t port = host->n_ports ? host->first_port + gpu / gpus_per_nic * ports_per_nic : NET_NONE;
        graph->endpoints[graph->n_endpoints++] = (struct net_endpoint){.node = node, .port = port};
    }
}

static void set_endpoints(struct net_graph *graph, uint32_t gpus, uint32_t ports_per_nic)
{
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        hosts += graph->nodes[i].kind == NET_HOST;
    graph->endpoints = g_new0(struct net_endpoint, (gsize)hosts * gpus);
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].kind == NET_HOST)
            add_endpoints_of(graph, i, gpus, ports_per_nic);
}

struct fabric *fabric_builder_finish(struct fabric_builder *builder, uint32_t gpus_per_node,
                                     uint32_t ports_per_nic, GError **err)
{
    g_autofree uint32_t *first = first_ports(builder);
    if (!set_node_ports(builder, first, err)) {
        fabric_builder_free(builder);
        return NULL;
    }
    struct fabric *fabric = g_new0(struct fabric, 1);
    struct net_graph *graph = &fabric->graph;
    set_ports(graph, builder, first);
    graph->n_nodes = builder->nodes->len;
    graph->nodes = g_memdup2(builder->nodes->data, sizeof(struct net_node) * graph->n_nodes);
    set_endpoints(graph, gpus_per_node, ports_per_nic);
    fabric->n_links = builder->links->len;
    fabric->gpus_per_node = gpus_per_node;
    fabric->ports_per_nic = ports_per_nic;
    fabric->kind = g_strdup(builder->kind);
    fabric->names = (char **)g_ptr_array_free(g_steal_pointer(&builder->names), FALSE);
    fabric_builder_free(builder);
    return fabric;
}

void fabric_free(struct fabric *fabric)
{
    if (!fabric)
        return;
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++)
        g_free(fabric->names[i]);
    g_free(fabric->names);
    g_free(fabric->kind);
    g_free(fabric->notes);
    subnet_free(fabric->subnet);
    g_free(fabric->graph.nodes);
    g_free(fabric->graph.ports);
    g_free(fabric->graph.endpoints);
    g_free(fabric);
}

uint32_t fabric_rank_of_node(const struct fabric *fabric, uint32_t node)
{
    const struct net_endpoint *endpoints = fabric->graph.endpoints;
    uint32_t low = 0, high = fabric->graph.n_endpoints;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (endpoints[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < fabric->graph.n_endpoints && endpoints[low].node == node ? low : NET_NONE;
}

void fabric_nic_ports(const struct fabric *fabric, uint32_t endpoint, uint32_t *first, uint32_t *n)
{
    const struct net_endpoint *e = &fabric->graph.endpoints[endpoint];
    const struct net_node *host = &fabric->graph.nodes[e->node];
    bool sole = fabric->gpus_per_node == 1;
    *first = sole || e->port == NET_NONE ? host->first_port : e->port;
    *n = sole ? host->n_ports : e->port == NET_NONE ? 0 : fabric->ports_per_nic;
}

/* Appends to QUEUE the switches at NODE's ports that have no tier yet. */
static void spread_tier(struct fabric *fabric, uint32_t node, GArray *queue)
{
    struct net_graph *graph = &fabric->graph;
    const struct net_node *from = &graph->nodes[node];
    for (uint32_t p = from->first_port; p < from->first_port + from->n_ports; p++) {
        uint32_t other = graph->ports[graph->ports[p].peer].node;
        if (graph->nodes[other].kind == NET_SWITCH && graph->nodes[other].tier == 0) {
            graph->nodes[other].tier = (uint8_t)MIN(from->tier + 1, UINT8_MAX);
            g_array_append_val(queue, other);
        }
    }
}

void fabric_set_tiers(struct fabric *fabric)
{
    g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++)
        if (fabric->graph.nodes[i].kind == NET_HOST)
            spread_tier(fabric, i, queue);
    for (guint next = 0; next < queue->len; next++)
        spread_tier(fabric, g_array_index(queue, uint32_t, next), queue);
}

struct tier_links fabric_tier_links(const struct topology_params *p)
{
    struct tier_links links = {.host_rate_bps = p->host_rate_bps};
    links.leaf_rate_bps = p->leaf_rate_bps ? p->leaf_rate_bps : links.host_rate_bps;
    links.spine_rate_bps = p->spine_rate_bps ? p->spine_rate_bps : links.leaf_rate_bps;
    links.host_delay_ps = p->host_delay_ps ? p->host_delay_ps : units_cable_ps(p->host_cable_mm);
    links.leaf_delay_ps = p->leaf_delay_ps ? p->leaf_delay_ps : units_cable_ps(p->leaf_cable_mm);
    links.spine_delay_ps = p->spine_delay_ps ? p->spine_delay_ps : units_cable_ps(p->spine_cable_mm);
    return links;
}

static struct fabric *import(const struct topology_params *params, const char *base_dir, GError **err)
{
    g_autofree char *path = g_path_is_absolute(params->file) || !base_dir
                                ? g_strdup(params->file)
                                : g_build_filename(base_dir, params->file, NULL);
    switch (params->kind) {
    case TOPOLOGY_HPCC:
        return fabric_import_hpcc(path, err);
    case TOPOLOGY_HTSIM:
        return fabric_import_htsim(path, err);
    default:
        return fabric_import_edges(path, err);
    }
}

struct fabric *fabric_build(const struct topology_params *params, const char *base_dir, GError **err)
{
    const char *key = NULL;
    if (!topology_param_group.check(params, &key, err)) {
        g_prefix_error(err, "topology.%s: ", key);
        return NULL;
    }
    switch (params->kind) {
    case TOPOLOGY_STAR:
        return fabric_build_star(params, err);
    case TOPOLOGY_LEAF_SPINE:
    case TOPOLOGY_RAIL_CLOS:
        return fabric_build_clos(params, err);
    case TOPOLOGY_FAT_TREE:
        return fabric_build_fat_tree(params, err);
    default:
        return import(params, base_dir, err);
    }
}
