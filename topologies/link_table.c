/* link_table.c - from a list of node pairs to a fabric. */
#include "topologies/link_table.h"
#include <inttypes.h>
#include <stdlib.h>

static const char *const role_names[] = {"node", "switch", "nvswitch"};

static const struct link_row *row_at(const GArray *links, guint i)
{
    return &g_array_index(links, struct link_row, i);
}

static bool check_self(const char *path, const GArray *links, GError **err)
{
    for (guint i = 0; i < links->len; i++) {
        const struct link_row *row = row_at(links, i);
        if (row->a == row->b)
            return fabric_fail(err, "%s:%d: link from node %u to itself", path, row->line, row->a);
    }
    return true;
}

static bool check_linked(const char *path, uint32_t n_nodes, const GArray *links, GError **err)
{
    if (n_nodes > 2 * (uint64_t)links->len)
        return fabric_fail(err, "%s: %u nodes but only %u links: some nodes have none", path, n_nodes,
                           links->len);
    g_autofree uint8_t *linked = g_new0(uint8_t, n_nodes);
    for (guint i = 0; i < links->len; i++)
        linked[row_at(links, i)->a] = linked[row_at(links, i)->b] = 1;
    for (uint32_t node = 0; node < n_nodes; node++)
        if (!linked[node])
            return fabric_fail(err, "%s: node %u has no link; ids run from 0 to %u", path, node, n_nodes - 1);
    return true;
}

static uint64_t pair_of(const struct link_row *row)
{
    return (uint64_t)MIN(row->a, row->b) << 32 | MAX(row->a, row->b);
}

static int by_pair_and_line(const void *left, const void *right)
{
    const struct link_row *a = left, *b = right;
    uint64_t pair_a = pair_of(a), pair_b = pair_of(b);
    if (pair_a != pair_b)
        return pair_a < pair_b ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static bool check_duplicates(const char *path, const uint8_t *roles, const GArray *links, GError **err)
{
    g_autofree struct link_row *sorted = g_memdup2(links->data, sizeof(struct link_row) * links->len);
    qsort(sorted, links->len, sizeof *sorted, by_pair_and_line);
    for (guint i = 1; i < links->len; i++) {
        const struct link_row *row = &sorted[i];
        bool at_host = roles[row->a] == LINK_HOST || roles[row->b] == LINK_HOST;
        if (at_host && pair_of(row) == pair_of(row - 1))
            return fabric_fail(err,
                               "%s:%d: link %u-%u repeats line %d; only switches may have parallel links",
                               path, row->line, row->a, row->b, (row - 1)->line);
    }
    return true;
}

/* A GPU's NIC is the port that leaves the NVLink domain. */
static void prefer_network_ports(struct fabric *fabric, const uint8_t *roles)
{
    struct net_graph *graph = &fabric->graph;
    for (uint32_t e = 0; e < graph->n_endpoints; e++) {
        const struct net_node *host = &graph->nodes[graph->endpoints[e].node];
        for (uint32_t p = host->first_port; p < host->first_port + host->n_ports; p++)
            if (roles[graph->ports[graph->ports[p].peer].node] != LINK_NVSWITCH) {
                graph->endpoints[e].port = p;
                break;
            }
    }
}

struct fabric *link_table_build(const char *path, const char *kind, const uint8_t *roles, uint32_t n_nodes,
                                const GArray *links, GError **err)
{
    if (!check_self(path, links, err) || !check_linked(path, n_nodes, links, err) ||
        !check_duplicates(path, roles, links, err))
        return NULL;
    struct fabric_builder *builder = fabric_builder_new(kind);
    for (uint32_t i = 0; i < n_nodes; i++)
        fabric_add_node(builder, roles[i] == LINK_HOST ? NET_HOST : NET_SWITCH, 0, "%s%u",
                        role_names[roles[i]], i);
    for (guint i = 0; i < links->len; i++)
        fabric_add_link(builder, row_at(links, i)->a, row_at(links, i)->b, row_at(links, i)->rate_bps,
                        row_at(links, i)->delay_ps);
    struct fabric *fabric = fabric_builder_finish(builder, 1, 1, err);
    if (!fabric) {
        g_prefix_error(err, "%s: ", path);
        return NULL;
    }
    prefer_network_ports(fabric, roles);
    fabric_set_tiers(fabric);
    return fabric;
}
