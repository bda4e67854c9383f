/* import_edges.c - CSV list of full-duplex links.
 *
 *     # hosts: 4            (optional)
 *     node_a,node_b,rate_gbps,delay_ns
 *     0,4,100,1000
 *
 * Ids run from 0 without gaps, hosts first. "# hosts: N" says that nodes 0 ... N-1 are hosts. Without it the
 * lowest id with more than one link is the first switch: hosts are the nodes below it, each with one link
 * (and all nodes, when none has more than one link: cables from NIC to NIC).
 */
#include "topologies/link_table.h"
#include "topologies/topo_text.h"
#include <inttypes.h>
#include <string.h>

static const char *const columns[] = {"node_a", "node_b", "rate_gbps", "delay_ns"};

struct edges {
    struct topo_text text;
    GArray *links; /* struct link_row */
    int64_t hosts; /* as the comment says, -1 if none does */
    int hosts_line;
    uint32_t n_nodes;
    bool has_header;
};

static void edges_release(struct edges *edges)
{
    topo_text_release(&edges->text);
    g_array_unref(edges->links);
}

static bool read_comment(struct edges *edges, GError **err)
{
    char *comment = edges->text.comment ? g_strstrip(edges->text.comment) : NULL;
    if (!comment || !g_str_has_prefix(comment, "hosts:"))
        return true;
    const char *number = comment + strlen("hosts:");
    if (edges->hosts >= 0)
        return topo_text_fail(&edges->text, err, "hosts", "given twice, first in line %d", edges->hosts_line);
    edges->hosts_line = edges->text.line;
    if (units_parse_int(number, &edges->hosts, NULL) && edges->hosts >= 1 && edges->hosts <= FABRIC_MAX_NODES)
        return true;
    return topo_text_fail(&edges->text, err, "hosts", "the comment needs a whole number from 1 to %" PRId64,
                          FABRIC_MAX_NODES);
}

static bool read_header(struct edges *edges, GError **err)
{
    const GPtrArray *fields = edges->text.fields;
    bool ok = fields->len == G_N_ELEMENTS(columns);
    for (guint i = 0; ok && i < fields->len; i++)
        ok = strcmp(g_ptr_array_index(fields, i), columns[i]) == 0;
    edges->has_header = true;
    return ok ||
           topo_text_fail(&edges->text, err, NULL, "the header must be node_a,node_b,rate_gbps,delay_ns");
}

static bool read_link(struct edges *edges, GError **err)
{
    const struct topo_text *text = &edges->text;
    struct link_row row = {.line = text->line};
    int64_t a, b;
    if (text->fields->len != G_N_ELEMENTS(columns))
        return topo_text_fail(text, err, NULL, "%u fields; a link has 4: node_a,node_b,rate_gbps,delay_ns",
                              text->fields->len);
    if (!topo_text_int(text, 0, columns[0], 0, FABRIC_MAX_NODES - 1, &a, err) ||
        !topo_text_int(text, 1, columns[1], 0, FABRIC_MAX_NODES - 1, &b, err) ||
        !topo_text_rate(text, 2, columns[2], "Gbps", &row.rate_bps, err) ||
        !topo_text_time(text, 3, columns[3], "ns", &row.delay_ps, err))
        return false;
    row.a = (uint32_t)a;
    row.b = (uint32_t)b;
    edges->n_nodes = MAX(edges->n_nodes, MAX(row.a, row.b) + 1);
    g_array_append_val(edges->links, row);
    return edges->links->len <= FABRIC_MAX_LINKS ||
           topo_text_fail(text, err, NULL, "more than %" PRId64 " links", FABRIC_MAX_LINKS);
}

static bool read_lines(struct edges *edges, GError **err)
{
    while (topo_text_next(&edges->text, ",")) {
        if (!read_comment(edges, err))
            return false;
        if (edges->text.fields->len == 0)
            continue;
        if (!(edges->has_header ? read_link(edges, err) : read_header(edges, err)))
            return false;
    }
    if (edges->links->len == 0)
        return fabric_fail(err, "%s: no links", edges->text.path);
    return true;
}

/* Lowest id with more than one link; n_nodes if none. */
static uint32_t first_switch(const struct edges *edges)
{
    g_autofree uint8_t *degree = g_new0(uint8_t, edges->n_nodes); /* 0, 1, 2: more */
    for (guint i = 0; i < edges->links->len; i++) {
        const struct link_row *row = &g_array_index(edges->links, struct link_row, i);
        degree[row->a] = (uint8_t)MIN(degree[row->a] + 1, 2);
        degree[row->b] = (uint8_t)MIN(degree[row->b] + 1, 2);
    }
    uint32_t node = 0;
    while (node < edges->n_nodes && degree[node] < 2)
        node++;
    return node;
}

static struct fabric *build(const struct edges *edges, GError **err)
{
    const char *path = edges->text.path;
    if (edges->hosts > edges->n_nodes) {
        fabric_fail(err, "%s:%d: hosts: %" PRId64 " hosts, but only %u nodes", path, edges->hosts_line,
                    edges->hosts, edges->n_nodes);
        return NULL;
    }
    /* Before an array of n_nodes is made: one wrong digit in an id must not cost memory. */
    if (edges->n_nodes > 2 * (uint64_t)edges->links->len) {
        fabric_fail(
            err, "%s: highest id is %u, but %u links can't reach so many nodes; ids run from 0 without gaps",
            path, edges->n_nodes - 1, edges->links->len);
        return NULL;
    }
    uint32_t hosts = edges->hosts >= 0 ? (uint32_t)edges->hosts : first_switch(edges);
    if (hosts == 0) {
        fabric_fail(err,
                    "%s: node 0 has several links, so there is no host below the first switch; number hosts "
                    "first, or say how many there are with '# hosts: N'",
                    path);
        return NULL;
    }
    g_autofree uint8_t *roles = g_new0(uint8_t, edges->n_nodes);
    memset(roles + hosts, LINK_SWITCH, edges->n_nodes - hosts);
    return link_table_build(path, "edges", roles, edges->n_nodes, edges->links, err);
}

struct fabric *fabric_import_edges(const char *path, GError **err)
{
    struct edges edges = {.hosts = -1, .links = g_array_new(FALSE, FALSE, sizeof(struct link_row))};
    struct fabric *fabric = NULL;
    if (topo_text_load(&edges.text, path, err) && read_lines(&edges, err))
        fabric = build(&edges, err);
    edges_release(&edges);
    return fabric;
}
