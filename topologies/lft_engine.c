/* lft_engine.c - the engines' view of a fabric, and the choice of one. */
#include "topologies/lft_engine.h"

#include "topologies/fabric_priv.h"

#define MAX_PORT_NUMBER 254 /* 255 says that there is none */

static uint32_t peer_node(const struct net_graph *g, uint32_t port)
{
    return g->ports[port].peer == NET_NONE ? NET_NONE : g->ports[g->ports[port].peer].node;
}

static void add_groups(struct lft_net *net, const uint32_t *switch_of, uint32_t sw, GArray *groups, GArray *ports)
{
    const struct net_graph *g = &net->fabric->graph;
    uint32_t node = net->node_of[sw], first = groups->len;
    for (uint32_t p = g->nodes[node].first_port; p < g->nodes[node].first_port + g->nodes[node].n_ports; p++) {
        uint32_t peer = peer_node(g, p);
        if (peer == NET_NONE || g->nodes[peer].kind != NET_SWITCH)
            continue;
        bool known = false;
        for (guint i = first; i < groups->len; i++)
            known |= g_array_index(groups, struct lft_group, i).to == switch_of[peer];
        if (known)
            continue;
        struct lft_group group = {.to = switch_of[peer], .first = ports->len, .up = g->nodes[peer].tier > g->nodes[node].tier};
        for (uint32_t q = p; q < g->nodes[node].first_port + g->nodes[node].n_ports; q++)
            if (peer_node(g, q) == peer) {
                g_array_append_val(ports, q);
                group.n++;
            }
        g_array_append_val(groups, group);
    }
}

static void add_nics(struct lft_net *net, uint32_t sw, GArray *nics)
{
    const struct net_graph *g = &net->fabric->graph;
    uint32_t node = net->node_of[sw];
    for (uint32_t p = g->nodes[node].first_port; p < g->nodes[node].first_port + g->nodes[node].n_ports; p++) {
        uint32_t peer = peer_node(g, p);
        if (peer == NET_NONE || g->nodes[peer].kind != NET_HOST)
            continue;
        struct lft_target nic = {net->fabric->subnet->port_lid[g->ports[p].peer], sw, lft_number(net, p)};
        g_array_append_val(nics, nic);
    }
}

static bool numbers_fit(const struct fabric *fabric, GError **err)
{
    const struct net_graph *g = &fabric->graph;
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (g->nodes[g->ports[p].node].kind == NET_SWITCH && fabric->subnet->port_number[p] > MAX_PORT_NUMBER)
            return fabric_fail(err, "%s has a port %u; allowed in forwarding tables: 1 to %d", fabric->names[g->ports[p].node],
                               fabric->subnet->port_number[p], MAX_PORT_NUMBER);
    return true;
}

bool lft_net_init(struct lft_net *net, const struct fabric *fabric, GError **err)
{
    const struct net_graph *g = &fabric->graph;
    *net = (struct lft_net){.fabric = fabric};
    if (!numbers_fit(fabric, err))
        return false;
    g_autofree uint32_t *switch_of = g_new(uint32_t, MAX(g->n_nodes, 1));
    net->node_of = g_new(uint32_t, MAX(g->n_nodes, 1));
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        switch_of[i] = g->nodes[i].kind == NET_SWITCH ? net->n_switches : NET_NONE;
        if (g->nodes[i].kind == NET_SWITCH)
            net->node_of[net->n_switches++] = i;
    }
    GArray *groups = g_array_new(FALSE, FALSE, sizeof(struct lft_group)), *ports = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    GArray *nics = g_array_new(FALSE, FALSE, sizeof(struct lft_target));
    net->group_first = g_new0(uint32_t, (gsize)net->n_switches + 1);
    net->nic_first = g_new0(uint32_t, (gsize)net->n_switches + 1);
    for (uint32_t s = 0; s < net->n_switches; s++) {
        add_groups(net, switch_of, s, groups, ports);
        add_nics(net, s, nics);
        net->group_first[s + 1] = groups->len;
        net->nic_first[s + 1] = nics->len;
    }
    net->n_nics = nics->len;
    net->port_down = g_new0(uint32_t, MAX(ports->len, 1));
    net->port_up = g_new0(uint32_t, MAX(ports->len, 1));
    net->group = (struct lft_group *)(void *)g_array_free(groups, FALSE);
    net->port = (uint32_t *)(void *)g_array_free(ports, FALSE);
    net->nic = (struct lft_target *)(void *)g_array_free(nics, FALSE);
    for (uint32_t s = 0; s < net->n_switches; s++)
        for (uint32_t i = net->group_first[s]; i < net->group_first[s + 1]; i++)
            for (uint32_t k = net->group_first[net->group[i].to]; k < net->group_first[net->group[i].to + 1]; k++)
                if (net->group[k].to == s)
                    net->group[i].back = k;
    return true;
}

void lft_net_clear(struct lft_net *net)
{
    g_free(net->node_of);
    g_free(net->group_first);
    g_free(net->nic_first);
    g_free(net->group);
    g_free(net->port);
    g_free(net->port_down);
    g_free(net->port_up);
    g_free(net->nic);
}

struct lft *lft_compute(const struct fabric *fabric, enum lft_engine engine, GError **err)
{
    struct lft_net net;
    struct lft *lft = NULL;
    if (lft_net_init(&net, fabric, err)) {
        lft = lft_new(fabric);
        bool ok = engine == LFT_FTREE ? lft_ftree(&net, lft, err) : engine == LFT_UPDN ? lft_updn(&net, lft, err) : lft_minhop(&net, lft, err);
        if (!ok) {
            lft_free(lft);
            lft = NULL;
        }
    }
    lft_net_clear(&net);
    return lft;
}

struct lft *lft_of_routing(struct fabric *fabric, const struct routing_params *params, const char *base_dir, GError **err)
{
    if (params->engine == ROUTING_ENGINE_ECMP || !subnet_label(fabric, err))
        return NULL;
    if (params->engine != ROUTING_ENGINE_FILE)
        return lft_compute(fabric, (enum lft_engine)(params->engine - ROUTING_ENGINE_MINHOP), err);
    g_autofree char *path = g_path_is_absolute(params->lft_file) || !base_dir ? g_strdup(params->lft_file)
                                                                              : g_build_filename(base_dir, params->lft_file, NULL);
    return lft_read(fabric, path, err);
}
