/* import_hpcc.c - topology files of the HPCC ns-3 model and its descendants (conweave, SimAI).
 *
 *     9 1 8                       nodes, switches, links
 *     8                           ids of the switches
 *     8 0 400Gbps 0.0005ms 0      node, node, rate, delay, error rate: one line a link
 *
 * SimAI's first line has six fields: nodes, GPUs per server, NVSwitches, other switches, links, GPU type; its
 * switch ids begin with the NVSwitches, which become ordinary switches here; GPUs per server and the GPU type
 * are ignored and noted. Ids are kept; all nodes that are no switches are hosts, in any place. The error rate
 * must be 0: bit errors belong to the link model. Lines after the declared links are ignored and noted, as
 * the format's own readers ignore them.
 */
#include "topologies/link_table.h"
#include "topologies/topo_text.h"
#include <inttypes.h>
#include <string.h>

#define BLANKS " \t\r"

struct hpcc {
    struct topo_text text;
    GArray *links; /* struct link_row */
    uint8_t *roles;
    GString *notes;
    int64_t nodes, nv_switches, switches, n_links; /* switches: NVSwitches among them */
};

static bool next_line(struct hpcc *hpcc)
{
    do {
        if (!topo_text_next(&hpcc->text, BLANKS))
            return false;
    } while (hpcc->text.fields->len == 0);
    return true;
}

static bool read_counts(struct hpcc *hpcc, GError **err)
{
    const struct topo_text *text = &hpcc->text;
    if (text->fields->len == 3)
        return topo_text_int(text, 0, "nodes", 1, FABRIC_MAX_NODES, &hpcc->nodes, err) &&
               topo_text_int(text, 1, "switches", 0, hpcc->nodes - 1, &hpcc->switches, err) &&
               topo_text_int(text, 2, "links", 1, FABRIC_MAX_LINKS, &hpcc->n_links, err);
    int64_t gpus_per_server, other;
    if (text->fields->len != 6)
        return topo_text_fail(
            text, err, NULL,
            "%u fields; the first line has 3 (nodes switches links) or 6 (nodes gpus_per_server "
            "nv_switches switches links gpu_type)",
            text->fields->len);
    if (!topo_text_int(text, 0, "nodes", 1, FABRIC_MAX_NODES, &hpcc->nodes, err) ||
        !topo_text_int(text, 1, "gpus_per_server", 1, hpcc->nodes, &gpus_per_server, err) ||
        !topo_text_int(text, 2, "nv_switches", 0, hpcc->nodes - 1, &hpcc->nv_switches, err) ||
        !topo_text_int(text, 3, "switches", 0, hpcc->nodes - 1 - hpcc->nv_switches, &other, err) ||
        !topo_text_int(text, 4, "links", 1, FABRIC_MAX_LINKS, &hpcc->n_links, err))
        return false;
    hpcc->switches = hpcc->nv_switches + other;
    g_string_append_printf(
        hpcc->notes,
        "%s:%d: gpus_per_server and gpu_type ignored: each GPU is a host of its own, and NVSwitches "
        "are switches\n",
        text->path, text->line);
    return true;
}

static bool read_first_line(struct hpcc *hpcc, GError **err)
{
    if (!next_line(hpcc))
        return fabric_fail(err, "%s: no first line (nodes, switches, links)", hpcc->text.path);
    if (!read_counts(hpcc, err))
        return false;
    if (hpcc->nodes <= 2 * hpcc->n_links)
        return true;
    return topo_text_fail(&hpcc->text, err, "nodes",
                          "%" PRId64 " nodes but only %" PRId64 " links: some nodes have none", hpcc->nodes,
                          hpcc->n_links);
}

static bool read_switch_id(struct hpcc *hpcc, guint field, int64_t seen, GError **err)
{
    int64_t id;
    if (!topo_text_int(&hpcc->text, field, "switch id", 0, hpcc->nodes - 1, &id, err))
        return false;
    if (hpcc->roles[id] != LINK_HOST)
        return topo_text_fail(&hpcc->text, err, "switch id", "%" PRId64 " is listed twice", id);
    hpcc->roles[id] = seen < hpcc->nv_switches ? LINK_NVSWITCH : LINK_SWITCH;
    return true;
}

/* The ids may run over several lines. */
static bool read_switches(struct hpcc *hpcc, GError **err)
{
    int64_t seen = 0;
    hpcc->roles = g_new0(uint8_t, (gsize)hpcc->nodes);
    while (seen < hpcc->switches) {
        if (!next_line(hpcc))
            return topo_text_fail(&hpcc->text, err, "switch id",
                                  "%" PRId64 " switches declared, %" PRId64 " ids found", hpcc->switches,
                                  seen);
        for (guint i = 0; i < hpcc->text.fields->len; i++, seen++) {
            if (seen == hpcc->switches)
                return topo_text_fail(&hpcc->text, err, "switch id",
                                      "more ids than the %" PRId64 " switches declared", hpcc->switches);
            if (!read_switch_id(hpcc, i, seen, err))
                return false;
        }
    }
    return true;
}

static bool read_error_rate(const struct hpcc *hpcc, GError **err)
{
    double rate = 0;
    if (units_parse_real(g_ptr_array_index(hpcc->text.fields, 4), &rate, NULL) && rate == 0.0)
        return true;
    g_autofree char *quote = topo_text_quote(&hpcc->text, 4);
    return topo_text_fail(&hpcc->text, err, "error rate", "'%s': only 0 is supported in a topology file",
                          quote);
}

static bool read_link(struct hpcc *hpcc, GError **err)
{
    const struct topo_text *text = &hpcc->text;
    struct link_row row = {.line = text->line};
    int64_t a, b;
    if (text->fields->len != 5)
        return topo_text_fail(text, err, NULL, "%u fields; a link has 5: node node rate delay error_rate",
                              text->fields->len);
    if (!topo_text_int(text, 0, "first node", 0, hpcc->nodes - 1, &a, err) ||
        !topo_text_int(text, 1, "second node", 0, hpcc->nodes - 1, &b, err) ||
        !topo_text_rate(text, 2, "rate", "", &row.rate_bps, err) ||
        !topo_text_time(text, 3, "delay", "", &row.delay_ps, err) || !read_error_rate(hpcc, err))
        return false;
    row.a = (uint32_t)a;
    row.b = (uint32_t)b;
    g_array_append_val(hpcc->links, row);
    return true;
}

/* The format's own readers stop after the declared number of links, and published files have lines after
 * them. */
static void note_rest(struct hpcc *hpcc)
{
    int first = 0, n = 0;
    for (; next_line(hpcc); n++)
        first = first ? first : hpcc->text.line;
    if (n)
        g_string_append_printf(hpcc->notes, "%s:%d: %d lines after the %" PRId64 " links declared ignored\n",
                               hpcc->text.path, first, n, hpcc->n_links);
}

static bool read_links(struct hpcc *hpcc, GError **err)
{
    while (hpcc->links->len < hpcc->n_links) {
        if (!next_line(hpcc))
            return topo_text_fail(&hpcc->text, err, "links", "%" PRId64 " declared, %u found", hpcc->n_links,
                                  hpcc->links->len);
        if (!read_link(hpcc, err))
            return false;
    }
    note_rest(hpcc);
    return true;
}

struct fabric *fabric_import_hpcc(const char *path, GError **err)
{
    struct hpcc hpcc = {.links = g_array_new(FALSE, FALSE, sizeof(struct link_row)),
                        .notes = g_string_new(NULL)};
    struct fabric *fabric = NULL;
    if (topo_text_load(&hpcc.text, path, err) && read_first_line(&hpcc, err) && read_switches(&hpcc, err) &&
        read_links(&hpcc, err))
        fabric = link_table_build(path, "hpcc", hpcc.roles, (uint32_t)hpcc.nodes, hpcc.links, err);
    if (fabric && hpcc.notes->len)
        fabric->notes = g_strdup(hpcc.notes->str);
    g_string_free(hpcc.notes, TRUE);
    topo_text_release(&hpcc.text);
    g_array_unref(hpcc.links);
    g_free(hpcc.roles);
    return fabric;
}
