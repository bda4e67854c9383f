/* site.c - the values of each group at each port and node: layers of a parameter bag laid over a fabric.
 *
 * Each layer is matched once; a place then has a mask of layers, and param_bag_resolve() makes the values of
 * each mask once. Left out: layers of a group without places (sim/params.h, PARAM_SCOPE_RUN).
 */
#include "scenarios/site_priv.h"

#include "scenarios/site_match.h"
#include <string.h>

#define CLASSES NET_SITE_ANY_CLASS

static const struct {
    const char *name;
    unsigned kinds;   /* of nodes that the group concerns */
    bool has_classes; /* its values may differ between classes of a port */
} groups[NET_N_PARAMS] = {
    [NET_PARAMS_LINK] = {"link", SITE_ALL, false},       [NET_PARAMS_SWITCH] = {"switch", SITE_SWITCHES, false},
    [NET_PARAMS_QOS] = {"qos", SITE_ALL, false},         [NET_PARAMS_BUFFER] = {"buffer", SITE_SWITCHES, true},
    [NET_PARAMS_PFC] = {"pfc", SITE_ALL, false},         [NET_PARAMS_PFCWD] = {"pfcwd", SITE_ALL, false},
    [NET_PARAMS_ECN] = {"ecn", SITE_SWITCHES, true},     [NET_PARAMS_NIC] = {"nic", SITE_HOSTS, false},
};

/* Keys of which a node has one value; "*": all of the group. */
static const struct { enum net_params kind; const char *key; } node_keys[] = {
    {NET_PARAMS_BUFFER, "size"},
    {NET_PARAMS_BUFFER, "ingress_pool"},
    {NET_PARAMS_BUFFER, "headroom_pool"},
    {NET_PARAMS_BUFFER, "egress_lossless_pool"},
    {NET_PARAMS_BUFFER, "egress_lossy_pool"},
    {NET_PARAMS_BUFFER, "lossy_in_lossless_pool"},
    {NET_PARAMS_BUFFER, "cell"},
    {NET_PARAMS_BUFFER, "cell_overhead"},
    {NET_PARAMS_SWITCH, "latency"},
    {NET_PARAMS_SWITCH, "forwarding"},
    {NET_PARAMS_SWITCH, "cut_through_header"},
    {NET_PARAMS_NIC, "*"},
};

/* Keys of which the run has one value. */
static const struct { enum net_params kind; const char *key; } run_keys[] = {
    {NET_PARAMS_NIC, "mtu"},           {NET_PARAMS_NIC, "congestion_control"}, {NET_PARAMS_NIC, "window"},
    {NET_PARAMS_NIC, "window_bdp"},
    {NET_PARAMS_NIC, "ack_interval"},  {NET_PARAMS_NIC, "ack_bypass_pfc"},     {NET_PARAMS_NIC, "np_mode"},
    {NET_PARAMS_NIC, "repace"},        {NET_PARAMS_LINK, "preamble_ifg"},      {NET_PARAMS_LINK, "frame_overhead"},
    {NET_PARAMS_LINK, "reth"},         {NET_PARAMS_LINK, "ack_frame"},         {NET_PARAMS_LINK, "cnp_frame"},
    {NET_PARAMS_LINK, "pfc_frame"},
};

/* Which layers hold where, while a site is built. */
struct masks {
    uint64_t *node, *port;
    uint64_t *class; /* n_ports x 8: layers that name the class; NULL until one does */
};

/* ---- checks of a layer ------------------------------------------------------- */

static bool is_node_key(enum net_params kind, const char *key)
{
    for (size_t i = 0; i < G_N_ELEMENTS(node_keys); i++)
        if (node_keys[i].kind == kind && (strcmp(node_keys[i].key, "*") == 0 || strcmp(node_keys[i].key, key) == 0))
            return true;
    return false;
}

static bool names_part_of_a_node(const GPtrArray *terms)
{
    for (guint i = 0; i < terms->len; i++) {
        const struct site_term *term = g_ptr_array_index(terms, i);
        if (term->peer || term->classes || term->rate_bps)
            return true;
    }
    return false;
}

static bool check_keys(const struct param_bag *bag, enum net_params kind, int layer, GError **err)
{
    const char *group = groups[kind].name;
    const struct param_group *table = param_bag_find(bag, group);
    for (int r = 0; r < table->n_rows; r++) {
        const char *key = table->rows[r].key, *origin = param_bag_layer_key_origin(bag, group, layer, key);
        if (!origin || !is_node_key(kind, key))
            continue;
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "%s: [%s:%s]: %s: holds for a whole node; allowed: in [%s] or [%s:NODE]", origin,
                    group, param_bag_layer_name(bag, group, layer), key, group, group);
        return false;
    }
    return true;
}

static bool check_run_keys(const struct param_bag *bag, enum net_params kind, int layer, GError **err)
{
    const char *group = groups[kind].name;
    for (size_t i = 0; i < G_N_ELEMENTS(run_keys); i++) {
        const char *key = run_keys[i].key, *origin = run_keys[i].kind == kind ? param_bag_layer_key_origin(bag, group, layer, key) : NULL;
        if (!origin)
            continue;
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "%s: [%s:%s]: %s: holds for the whole run; allowed: in [%s]", origin, group,
                    param_bag_layer_name(bag, group, layer), key, group);
        return false;
    }
    return true;
}

/* Always false, for return. */
static bool prefix_layer(const struct param_bag *bag, const char *group, int layer, GError **err)
{
    g_prefix_error(err, "%s: [%s:%s]: ", param_bag_layer_origin(bag, group, layer), group, param_bag_layer_name(bag, group, layer));
    return false;
}

static bool check_classes(enum net_params kind, const GPtrArray *terms, GError **err)
{
    for (guint i = 0; i < terms->len && !groups[kind].has_classes; i++) {
        const struct site_term *term = g_ptr_array_index(terms, i);
        if (term->classes == 0)
            continue;
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "'%s' names a class; allowed: in groups buffer and ecn alone", term->text);
        return false;
    }
    return true;
}

/* ---- masks ---------------------------------------------------------------------- */

static void mark_classes(struct masks *masks, uint8_t classes, const uint8_t *ports, uint32_t n_ports, uint64_t bit)
{
    if (!masks->class)
        masks->class = g_new0(uint64_t, MAX((gsize)n_ports * CLASSES, 1));
    for (uint32_t p = 0; p < n_ports; p++)
        for (uint32_t c = 0; ports[p] && c < CLASSES; c++)
            if (classes >> c & 1)
                masks->class[(gsize)p * CLASSES + c] |= bit;
}

static bool add_term(const struct fabric *fabric, const struct site_term *term, unsigned kinds, uint64_t bit, struct masks *masks,
                     GError **err)
{
    uint32_t n_nodes = fabric->graph.n_nodes, n_ports = fabric->graph.n_ports;
    g_autofree uint8_t *nodes = g_malloc0(MAX(n_nodes, 1)), *ports = g_malloc0(MAX(n_ports, 1));
    if (!site_match(fabric, term, kinds, nodes, ports, err))
        return false;
    if (term->classes) {
        mark_classes(masks, term->classes, ports, n_ports, bit);
        return true;
    }
    for (uint32_t p = 0; p < n_ports; p++)
        masks->port[p] |= ports[p] ? bit : 0;
    for (uint32_t i = 0; i < n_nodes; i++)
        masks->node[i] |= nodes[i] ? bit : 0;
    return true;
}

static bool add_layer(const struct site *site, enum net_params kind, int layer, struct masks *masks, GError **err)
{
    const char *group = groups[kind].name;
    g_autoptr(GPtrArray) terms = site_parse(param_bag_layer_name(site->bag, group, layer), err);
    if (!terms || !check_classes(kind, terms, err))
        return prefix_layer(site->bag, group, layer, err);
    if ((names_part_of_a_node(terms) && !check_keys(site->bag, kind, layer, err)) || !check_run_keys(site->bag, kind, layer, err))
        return false;
    for (guint i = 0; i < terms->len; i++)
        if (!add_term(site->fabric, g_ptr_array_index(terms, i), groups[kind].kinds, UINT64_C(1) << layer, masks, err))
            return prefix_layer(site->bag, group, layer, err);
    return true;
}

/* ---- values ----------------------------------------------------------------------- */

/* VALUES[i * STRIDE + OFFSET] for N masks; EXTRA (may be NULL) has the layout of VALUES. Neighbours mostly share a mask. */
static bool resolve(struct site *site, enum net_params kind, const uint64_t *masks, const uint64_t *extra, gsize n, gsize stride,
                    const void **values, GError **err)
{
    uint64_t last = 0;
    const void *found = site->groups[kind].base;
    for (gsize i = 0; i < n * stride; i++) {
        uint64_t mask = masks[i / stride] | (extra ? extra[i] : 0);
        if (mask != last)
            found = mask ? param_bag_resolve(site->bag, groups[kind].name, mask, err) : site->groups[kind].base;
        if (!found)
            return false;
        last = mask;
        values[i] = found;
    }
    return true;
}

static const void **new_values(gsize n)
{
    return g_new0(const void *, MAX(n, 1));
}

static bool resolve_all(struct site *site, enum net_params kind, const struct masks *masks, GError **err)
{
    struct site_group *group = &site->groups[kind];
    gsize n_nodes = site->fabric->graph.n_nodes, n_ports = site->fabric->graph.n_ports;
    group->by_node = new_values(n_nodes);
    group->by_port = new_values(n_ports);
    if (!resolve(site, kind, masks->node, NULL, n_nodes, 1, group->by_node, err) ||
        !resolve(site, kind, masks->port, NULL, n_ports, 1, group->by_port, err))
        return false;
    if (!masks->class)
        return true;
    group->by_class = new_values(n_ports * CLASSES);
    return resolve(site, kind, masks->port, masks->class, n_ports, CLASSES, group->by_class, err);
}

static bool build_group(struct site *site, enum net_params kind, GError **err)
{
    const char *name = groups[kind].name;
    int n_layers = param_bag_n_layers(site->bag, name);
    site->groups[kind].base = param_bag_get(site->bag, name);
    if (n_layers == 0)
        return true;
    struct masks masks = {g_new0(uint64_t, MAX(site->fabric->graph.n_nodes, 1)), g_new0(uint64_t, MAX(site->fabric->graph.n_ports, 1)), NULL};
    bool ok = true;
    for (int i = 0; ok && i < n_layers; i++)
        ok = add_layer(site, kind, i, &masks, err);
    ok = ok && resolve_all(site, kind, &masks, err);
    g_free(masks.node);
    g_free(masks.port);
    g_free(masks.class);
    return ok;
}

/* ---- public ------------------------------------------------------------------------ */

struct site *site_new(struct param_bag *bag, const struct fabric *fabric, GError **err)
{
    struct site *site = g_new0(struct site, 1);
    site->bag = bag;
    site->fabric = fabric;
    for (int kind = 0; kind < NET_N_PARAMS; kind++)
        if (!build_group(site, (enum net_params)kind, err)) {
            site_free(site);
            return NULL;
        }
    return site;
}

void site_free(struct site *site)
{
    if (!site)
        return;
    for (int kind = 0; kind < NET_N_PARAMS; kind++) {
        g_free(site->groups[kind].by_node);
        g_free(site->groups[kind].by_port);
        g_free(site->groups[kind].by_class);
    }
    g_free(site);
}

const void *site_at_port(const struct site *site, enum net_params kind, uint32_t port, uint32_t class)
{
    const struct site_group *group = &site->groups[kind];
    if (group->by_class && class < CLASSES)
        return group->by_class[(gsize)port * CLASSES + class];
    return group->by_port ? group->by_port[port] : group->base;
}

const void *site_at_node(const struct site *site, enum net_params kind, uint32_t node)
{
    const struct site_group *group = &site->groups[kind];
    return group->by_node ? group->by_node[node] : group->base;
}

static const void *net_values_at_port(void *user, enum net_params kind, uint32_t port, uint32_t class)
{
    return site_at_port(user, kind, port, class);
}

static const void *net_values_at_node(void *user, enum net_params kind, uint32_t node)
{
    return site_at_node(user, kind, node);
}

static char *net_value_origin(void *user, enum net_params kind, const char *key, uint32_t node, uint32_t port, uint32_t class)
{
    return site_layer_origin(user, kind, key, node, port, class);
}

struct net_site site_for_net(struct site *site)
{
    return (struct net_site){net_values_at_port, net_values_at_node, site, net_value_origin};
}

/* ---- origins ------------------------------------------------------------------------ */
static bool layer_holds(const struct site *site, enum net_params kind, int layer, uint32_t node, uint32_t port, uint32_t class)
{
    const struct net_graph *g = &site->fabric->graph;
    g_autoptr(GPtrArray) terms = site_parse(param_bag_layer_name(site->bag, groups[kind].name, layer), NULL);
    for (guint i = 0; terms && i < terms->len; i++) {
        const struct site_term *term = g_ptr_array_index(terms, i);
        g_autofree uint8_t *nodes = g_malloc0(MAX(g->n_nodes, 1)), *ports = g_malloc0(MAX(g->n_ports, 1));
        bool of_class = term->classes == 0 || (class < CLASSES && term->classes >> class & 1);
        if (of_class && site_match(site->fabric, term, groups[kind].kinds, nodes, ports, NULL) && (port == NET_NONE ? nodes[node] : ports[port]))
            return true;
    }
    return false;
}

const char *site_group_name(enum net_params kind)
{
    return groups[kind].name;
}

/* The last layer that sets KEY there; -1: none. */
static int origin_layer(const struct site *site, enum net_params kind, const char *key, uint32_t node, uint32_t port, uint32_t class)
{
    const char *group = groups[kind].name;
    for (int layer = param_bag_n_layers(site->bag, group); layer-- > 0;) {
        const char *origin = param_bag_layer_key_origin(site->bag, group, layer, key);
        if (origin && layer_holds(site, kind, layer, node, port, class))
            return layer;
    }
    return -1;
}

char *site_layer_origin(const struct site *site, enum net_params kind, const char *key, uint32_t node, uint32_t port, uint32_t class)
{
    const char *group = groups[kind].name;
    int layer = origin_layer(site, kind, key, node, port, class);
    return layer < 0 ? NULL
                     : g_strdup_printf("%s: [%s:%s]", param_bag_layer_key_origin(site->bag, group, layer, key), group,
                                       param_bag_layer_name(site->bag, group, layer));
}

const char *site_origin(const struct site *site, enum net_params kind, uint32_t port, uint32_t class, const char *key)
{
    const char *group = groups[kind].name;
    int layer = origin_layer(site, kind, key, site->fabric->graph.ports[port].node, port, class);
    return layer < 0 ? param_bag_origin(site->bag, group, key) : param_bag_layer_key_origin(site->bag, group, layer, key);
}

GArray *site_ports(const struct fabric *fabric, const char *text, const char *origin, GError **err)
{
    uint32_t n_ports = fabric->graph.n_ports;
    g_autofree uint8_t *nodes = g_malloc0(MAX(fabric->graph.n_nodes, 1)), *ports = g_malloc0(MAX(n_ports, 1));
    g_autoptr(GPtrArray) terms = site_parse(text, err);
    bool ok = terms != NULL;
    for (guint i = 0; ok && i < terms->len; i++) {
        const struct site_term *term = g_ptr_array_index(terms, i);
        ok = term->classes == 0 && site_match(fabric, term, SITE_ALL, nodes, ports, err);
        if (term->classes)
            g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "'%s' names a class; allowed: NODE or NODE/PEER", term->text);
    }
    if (!ok) {
        g_prefix_error(err, "%s: ", origin);
        return NULL;
    }
    GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t p = 0; p < n_ports; p++)
        if (ports[p])
            g_array_append_val(found, p);
    return found;
}
