/* site_match.c - selectors matched against the names of a fabric.
 *
 * A pattern is tried once on each node, not on each port: fabrics have tens of thousands of ports. Names are those of the
 * builder or the importer; a name that holds a '/', ',' or '#' can be reached by wildcards alone.
 */
#include "scenarios/site_match.h"

#include "sim/message.h"
#include "sim/params.h"
#include "sim/units.h"
#include <string.h>

#define MAX_LISTED 12 /* ranges of names in a message */

/* ---- parsing ---------------------------------------------------------------- */

static void term_free(void *data)
{
    struct site_term *term = data;
    g_free(term->text);
    g_clear_pointer(&term->node, g_pattern_spec_free);
    g_clear_pointer(&term->peer, g_pattern_spec_free);
    g_free(term);
}

static bool parse_class(const char *text, int *class)
{
    *class = *text - '0';
    return *text >= '0' && *text <= '7' && text[1] == '\0';
}

/* "3" or "3-4"; 0 if it is neither. */
static uint8_t parse_classes(const char *text)
{
    g_auto(GStrv) ends = g_strsplit(text, "-", 2);
    int first, last;
    if (!ends[0] || !parse_class(g_strstrip(ends[0]), &first))
        return 0;
    last = first;
    if (ends[1] && (!parse_class(g_strstrip(ends[1]), &last) || last < first))
        return 0;
    return (uint8_t)((0xffu << first) & (0xffu >> (7 - last)));
}

/* Cuts ":2" off PEER; -1 if there is no such end. */
static int64_t cut_index(char *peer)
{
    char *colon = strrchr(peer, ':');
    int64_t index = -1;
    if (!colon || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        !units_parse_int(colon + 1, &index, NULL))
        return -1;
    *colon = '\0';
    return index;
}

static bool parse_term(struct site_term *term, GError **err)
{
    g_autofree char *node = g_strdup(term->text);
    char *hash = strrchr(node, '#');
    if (hash) {
        *hash = '\0';
        term->classes = parse_classes(hash + 1);
    }
    char *at = strrchr(node, '@');
    bool rate_ok = !at || (units_parse_rate(at + 1, &term->rate_bps, NULL) && term->rate_bps > 0);
    if (at)
        *at = '\0';
    char *slash = strchr(node, '/');
    if (slash)
        *slash = '\0';
    char *peer = slash ? g_strstrip(slash + 1) : NULL;
    term->index = peer ? cut_index(peer) : -1;
    g_strstrip(node);
    if (*node && (!peer || *peer) && (!hash || term->classes) && rate_ok) {
        term->node = g_pattern_spec_new(node);
        term->peer = peer ? g_pattern_spec_new(peer) : NULL;
        return true;
    }
    g_autofree char *quoted = message_quote(term->text);
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX,
                "%s is no place; allowed: NODE, NODE/PEER, NODE/PEER:INDEX, each with @RATE and with #CLASS or #CLASS-CLASS of 0 to 7, and lists with commas", quoted);
    return false;
}

GPtrArray *site_parse(const char *text, GError **err)
{
    if (!g_utf8_validate(text, -1, NULL)) {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "the place is not valid UTF-8; allowed: UTF-8 text");
        return NULL;
    }
    g_autoptr(GPtrArray) terms = g_ptr_array_new_with_free_func(term_free);
    g_auto(GStrv) parts = g_strsplit(*text ? text : " ", ",", -1);
    for (char **part = parts; *part; part++) {
        struct site_term *term = g_new0(struct site_term, 1);
        term->text = g_strdup(g_strstrip(*part));
        g_ptr_array_add(terms, term);
        if (!parse_term(term, err))
            return NULL;
    }
    return g_steal_pointer(&terms);
}

/* ---- names in messages -------------------------------------------------------- */

/* A run of names that differ in a last number that grows by one. */
struct range {
    const char *first, *last;
    size_t n_prefix;
    uint64_t number;
};

static bool continues(const struct range *range, const char *name)
{
    if (!range->first || strncmp(range->first, name, range->n_prefix) != 0)
        return false;
    g_autofree char *next = g_strdup_printf("%" G_GUINT64_FORMAT, range->number + 1);
    return strcmp(name + range->n_prefix, next) == 0;
}

static struct range range_new(const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && g_ascii_isdigit(name[n - 1]))
        n--;
    return (struct range){name, name, n, g_ascii_strtoull(name + n, NULL, 10)};
}

static void append_range(GString *text, const struct range *range, int *n_listed)
{
    if (!range->first || (*n_listed)++ >= MAX_LISTED)
        return;
    g_string_append_printf(text, "%s%s", *n_listed > 1 ? ", " : "", range->first);
    if (range->last != range->first)
        g_string_append_printf(text, "..%s", range->last);
}

char *site_list_names(const struct fabric *fabric, const uint8_t *chosen)
{
    GString *text = g_string_new(NULL);
    struct range range = {0};
    int n_listed = 0;
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++) {
        const char *name = fabric->names[i];
        if (!chosen[i])
            continue;
        if (continues(&range, name)) {
            range.last = name;
            range.number++;
            continue;
        }
        append_range(text, &range, &n_listed);
        range = range_new(name);
    }
    append_range(text, &range, &n_listed);
    if (n_listed > MAX_LISTED)
        g_string_append_printf(text, " and %d more", n_listed - MAX_LISTED);
    g_autofree char *raw = g_string_free(text, FALSE);
    return g_utf8_make_valid(raw, -1);
}

/* ---- matching ----------------------------------------------------------------- */

/* Marks in FOUND the nodes of KINDS that PATTERN names; how many. */
static uint32_t match_names(const struct fabric *fabric, GPatternSpec *pattern, unsigned kinds, uint8_t *found)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++) {
        const char *name = fabric->names[i]; /* of an imported file perhaps, so any bytes */
        found[i] = (kinds >> fabric->graph.nodes[i].kind & 1) && g_utf8_validate(name, -1, NULL) &&
                   g_pattern_spec_match(pattern, strlen(name), name, NULL);
        n += found[i];
    }
    return n;
}

static uint32_t peer_node(const struct net_graph *graph, uint32_t port)
{
    uint32_t peer = graph->ports[port].peer;
    return peer == NET_NONE ? NET_NONE : graph->ports[peer].node;
}

/* How many ports of NODE the term names. SEEN: zeros, one a node; counts parallel links. */
static uint32_t match_ports(const struct net_graph *graph, const struct site_term *term, uint32_t node, const uint8_t *peers,
                            uint32_t *seen, uint8_t *ports)
{
    uint32_t n = 0, first = graph->nodes[node].first_port, end = first + graph->nodes[node].n_ports;
    for (uint32_t p = first; p < end; p++) {
        uint32_t peer = peer_node(graph, p);
        if (term->peer && (peer == NET_NONE || !peers[peer]))
            continue;
        if (term->index >= 0 && seen[peer]++ != term->index)
            continue;
        if (term->rate_bps && graph->ports[p].rate_bps != term->rate_bps)
            continue;
        ports[p] = 1;
        n++;
    }
    for (uint32_t p = first; term->index >= 0 && p < end; p++)
        if (peer_node(graph, p) != NET_NONE)
            seen[peer_node(graph, p)] = 0;
    return n;
}

/* Always false, for return. */
static bool fail_node(const struct fabric *fabric, const struct site_term *term, unsigned kinds, GError **err)
{
    static const char *const what[] = {[SITE_HOSTS] = "host", [SITE_SWITCHES] = "switch", [SITE_ALL] = "node"};
    static const char *const many[] = {[SITE_HOSTS] = "hosts", [SITE_SWITCHES] = "switches", [SITE_ALL] = "nodes"};
    g_autofree uint8_t *all = g_malloc0(MAX(fabric->graph.n_nodes, 1));
    g_autoptr(GPatternSpec) any = g_pattern_spec_new("*");
    match_names(fabric, any, kinds, all);
    g_autofree char *names = site_list_names(fabric, all);
    g_autofree char *quoted = message_quote(term->text);
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "%s matches no %s; %s are %s", quoted, what[kinds], many[kinds],
                *names ? names : "absent");
    return false;
}

/* Always false, for return. NODES: the ones whose peers were looked at; the message lists those of the first. */
static bool fail_peer(const struct fabric *fabric, const struct site_term *term, const uint8_t *nodes, GError **err)
{
    const struct net_graph *graph = &fabric->graph;
    g_autofree uint8_t *facing = g_malloc0(graph->n_nodes);
    const uint8_t *first = memchr(nodes, 1, graph->n_nodes);
    const struct net_node *node = &graph->nodes[first - nodes];
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
        if (peer_node(graph, p) != NET_NONE)
            facing[peer_node(graph, p)] = 1;
    g_autofree char *names = site_list_names(fabric, facing);
    g_autofree char *quoted = message_quote(term->text);
    g_autofree char *name = g_utf8_make_valid(fabric->names[first - nodes], -1);
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "%s matches no port; %s faces %s%s%s", quoted, name, *names ? names : "no node",
                term->rate_bps ? ", at other rates" : "", term->index >= 0 ? ", and :INDEX counts parallel links from 0" : "");
    return false;
}

bool site_match(const struct fabric *fabric, const struct site_term *term, unsigned kinds, uint8_t *nodes, uint8_t *ports,
                GError **err)
{
    const struct net_graph *graph = &fabric->graph;
    g_autofree uint8_t *found = g_malloc0(MAX(graph->n_nodes, 1)), *peers = g_malloc0(MAX(graph->n_nodes, 1));
    g_autofree uint32_t *seen = g_new0(uint32_t, MAX(graph->n_nodes, 1));
    uint32_t n_ports = 0;
    if (match_names(fabric, term->node, kinds, found) == 0)
        return fail_node(fabric, term, kinds, err);
    if (term->peer)
        match_names(fabric, term->peer, SITE_ALL, peers);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (!found[i])
            continue;
        n_ports += match_ports(graph, term, i, peers, seen, ports);
        if (!term->peer && !term->rate_bps)
            nodes[i] = 1;
    }
    return (!term->peer && !term->rate_bps) || n_ports > 0 || fail_peer(fabric, term, found, err);
}
