/* lft_file.c - forwarding tables as OpenSM and the diagnostics write them. */
#include "topologies/lft.h"

#include "topologies/fabric_priv.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lft_write(const struct lft *lft, const struct fabric *fabric, FILE *out)
{
    const struct subnet *s = fabric->subnet;
    const struct net_graph *g = &fabric->graph;
    for (uint32_t node = 0; node < g->n_nodes; node++) {
        if (g->nodes[node].kind != NET_SWITCH)
            continue;
        uint32_t n = 0;
        fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n", s->max_lid, s->node_lid[node], s->node_guid[node],
                fabric->names[node]);
        for (uint32_t lid = 1; lid <= s->max_lid; lid++) {
            uint32_t port = lft_get(lft, node, lid);
            if (port == LFT_NONE || s->node_of_lid[lid] == NET_NONE)
                continue;
            uint32_t to = s->port_of_lid[lid];
            g_autofree char *name = to == NET_NONE ? g_strdup(fabric->names[s->node_of_lid[lid]]) : subnet_device_name(fabric, to);
            uint64_t guid = to == NET_NONE ? s->node_guid[s->node_of_lid[lid]] : s->device_guid[to] + s->port_number[to];
            fprintf(out, "0x%04x %03u # %s portguid 0x%016" PRIx64 ": '%s'\n", lid, port, to == NET_NONE ? "Switch" : "Channel Adapter", guid, name);
            n++;
        }
        fprintf(out, "%u lids dumped\n", n);
    }
}

/* ---- reading ---------------------------------------------------------------------- */
struct reader {
    const struct fabric *fabric;
    const char *path;
    unsigned line;
    struct lft *lft;
    GHashTable *node_of_guid; /* switches */
    GHashTable *lid_of_guid;  /* port GUID -> our LID */
    uint32_t node;            /* whose table is being read; NET_NONE */
    uint32_t n_tables;
    bool named;               /* its rows name GUIDs */
};

static bool bad(const struct reader *r, GError **err, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool bad(const struct reader *r, GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *raw = g_strdup_vprintf(format, args), *text = g_utf8_make_valid(raw, -1); /* a cut or foreign name */
    va_end(args);
    return fabric_fail(err, "%s:%u: %s", r->path, r->line, text);
}

static void add_guid(GHashTable *table, uint64_t guid, uint32_t value)
{
    uint64_t *key = g_new(uint64_t, 1);
    *key = guid;
    g_hash_table_insert(table, key, GUINT_TO_POINTER(value + 1));
}

static bool find_guid(GHashTable *table, uint64_t guid, uint32_t *value)
{
    gpointer found = g_hash_table_lookup(table, &guid);
    *value = GPOINTER_TO_UINT(found) - 1;
    return found != NULL;
}

static void index_guids(struct reader *r)
{
    const struct net_graph *g = &r->fabric->graph;
    const struct subnet *s = r->fabric->subnet;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].kind == NET_SWITCH) {
            add_guid(r->node_of_guid, s->node_guid[i], i);
            add_guid(r->lid_of_guid, s->node_guid[i], s->node_lid[i]);
        }
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (s->port_lid[p])
            add_guid(r->lid_of_guid, s->device_guid[p] + s->port_number[p], s->port_lid[p]);
}

/* "... guid 0x0123 ..." (dumps) or "Switch 0x0123" (fdbs). */
static bool heading(struct reader *r, const char *text, GError **err)
{
    const char *at = strstr(text, "guid 0x");
    uint64_t guid = strtoull(at ? at + 7 : strstr(text, "0x") + 2, NULL, 16);
    if (!find_guid(r->node_of_guid, guid, &r->node))
        return bad(r, err, "no switch of the topology has the GUID 0x%016" PRIx64, guid);
    r->n_tables++;
    return true;
}

/* "0x0004 002 # Channel Adapter portguid 0x..: 'name'", "0x0004 002 : (Channel Adapter portguid 0x..: 'name')" or
 * "0x0004 : 002  : 01   : yes". */
static bool row(struct reader *r, const char *text, GError **err)
{
    char *end;
    unsigned long lid = strtoul(text + 2, &end, 16), port = 0;
    while (*end == ' ' || *end == '\t' || *end == ':')
        end++;
    if (r->node == NET_NONE)
        return bad(r, err, "a row before the name of a switch");
    if (g_str_has_prefix(end, "UNREACHABLE"))
        return true;
    if (!g_ascii_isdigit(*end))
        return bad(r, err, "'%.40s' is no port number; allowed: 0 to 254", end);
    port = strtoul(end, &end, 10);
    if (port > LFT_NONE)
        return bad(r, err, "port %lu; allowed: 0 to 254", port);
    const char *guid_at = strstr(end, "portguid 0x");
    uint32_t ours = (uint32_t)lid;
    if (guid_at && !find_guid(r->lid_of_guid, strtoull(guid_at + 11, NULL, 16), &ours))
        return bad(r, err, "no port of the topology has the GUID 0x%016" PRIx64, (uint64_t)strtoull(guid_at + 11, NULL, 16));
    if (ours > r->lft->max_lid)
        return bad(r, err, "LID %lu; the topology has LIDs up to %u", lid, r->lft->max_lid);
    lft_set(r->lft, r->node, ours, (uint32_t)port);
    return true;
}

static bool read_line(struct reader *r, char *text, GError **err)
{
    g_strstrip(text);
    if (g_str_has_prefix(text, "Unicast lids") || g_str_has_prefix(text, "osm_ucast_mgr_dump") || g_str_has_prefix(text, "Switch 0x") ||
        g_str_has_prefix(text, "dump_ucast_routes: Switch")) {
        if (!strstr(text, "0x"))
            return bad(r, err, "a heading without the GUID of a switch");
        return heading(r, text, err);
    }
    if (g_str_has_prefix(text, "0x"))
        return row(r, text, err);
    bool known = text[0] == '\0' || text[0] == '#' || strstr(text, "lids dumped") || g_str_has_prefix(text, "LID") || g_str_has_prefix(text, "Lid") ||
                 g_str_has_prefix(text, "Info") || g_str_has_prefix(text, "Dump");
    return known || bad(r, err, "'%.60s' belongs to no known format; allowed: opensm-lfts.dump, opensm.fdbs, output of dump_fts", text);
}

struct lft *lft_read(const struct fabric *fabric, const char *path, GError **err)
{
    g_autofree char *text = NULL;
    gsize n;
    if (!g_file_get_contents(path, &text, &n, err))
        return NULL;
    if (memchr(text, '\0', n)) {
        fabric_fail(err, "%s: not a text file", path);
        return NULL;
    }
    struct reader r = {.fabric = fabric, .path = path, .lft = lft_new(fabric), .node = NET_NONE,
                       .node_of_guid = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                       .lid_of_guid = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
    index_guids(&r);
    bool ok = true;
    for (char *at = text, *next; ok && at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        r.line++;
        ok = read_line(&r, at, err);
    }
    if (ok && r.n_tables == 0)
        ok = fabric_fail(err, "%s: no forwarding table in it; allowed: opensm-lfts.dump, opensm.fdbs, output of dump_fts", path);
    g_hash_table_unref(r.node_of_guid);
    g_hash_table_unref(r.lid_of_guid);
    if (!ok) {
        lft_free(r.lft);
        return NULL;
    }
    return r.lft;
}
