/* subnet.c - InfiniBand labels of fabrics that have none of their own. */
#include "topologies/subnet.h"

#include "topologies/fabric_priv.h"

/* Of our own making: IEEE leaves locally administered identifiers (second bit of the first byte) free. */
#define SWITCH_GUIDS UINT64_C(0x0200000000010000)
#define HOST_GUIDS UINT64_C(0x0200000100000000)
#define GUIDS_A_NIC 0x100

struct subnet *subnet_new(const struct fabric *fabric)
{
    const struct net_graph *g = &fabric->graph;
    struct subnet *s = g_new0(struct subnet, 1);
    s->node_lid = g_new0(uint16_t, MAX(g->n_nodes, 1));
    s->node_guid = g_new0(uint64_t, MAX(g->n_nodes, 1));
    s->n_node_ports = g_new0(uint32_t, MAX(g->n_nodes, 1));
    s->device_guid = g_new0(uint64_t, MAX(g->n_ports, 1));
    s->port_lid = g_new0(uint16_t, MAX(g->n_ports, 1));
    s->port_number = g_new0(uint32_t, MAX(g->n_ports, 1));
    return s;
}

void subnet_free(struct subnet *s)
{
    if (!s)
        return;
    g_free(s->node_lid);
    g_free(s->node_guid);
    g_free(s->n_node_ports);
    g_free(s->device_guid);
    g_free(s->port_lid);
    g_free(s->port_number);
    g_free(s->port_of_lid);
    g_free(s->node_of_lid);
    g_free(s);
}

static bool take_lid(struct subnet *s, const struct fabric *fabric, uint16_t lid, uint32_t node, uint32_t port, GError **err)
{
    if (lid == 0)
        return true;
    if (s->node_of_lid[lid] != NET_NONE)
        return fabric_fail(err, "LID %u belongs to %s and to %s", lid, fabric->names[s->node_of_lid[lid]], fabric->names[node]);
    s->node_of_lid[lid] = node;
    s->port_of_lid[lid] = port;
    return true;
}

bool subnet_index(const struct fabric *fabric, struct subnet *s, GError **err)
{
    const struct net_graph *g = &fabric->graph;
    s->max_lid = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        s->max_lid = MAX(s->max_lid, s->node_lid[i]);
    for (uint32_t p = 0; p < g->n_ports; p++)
        s->max_lid = MAX(s->max_lid, s->port_lid[p]);
    s->port_of_lid = g_new(uint32_t, (gsize)s->max_lid + 1);
    s->node_of_lid = g_new(uint32_t, (gsize)s->max_lid + 1);
    for (uint32_t lid = 0; lid <= s->max_lid; lid++)
        s->port_of_lid[lid] = s->node_of_lid[lid] = NET_NONE;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (!take_lid(s, fabric, s->node_lid[i], i, NET_NONE, err))
            return false;
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (!take_lid(s, fabric, s->port_lid[p], g->ports[p].node, p, err))
            return false;
    return true;
}

uint32_t subnet_nic(const struct fabric *fabric, uint32_t port)
{
    return (port - fabric->graph.nodes[fabric->graph.ports[port].node].first_port) / MAX(fabric->ports_per_nic, 1);
}

char *subnet_device_name(const struct fabric *fabric, uint32_t port)
{
    uint32_t node = fabric->graph.ports[port].node;
    const struct net_node *n = &fabric->graph.nodes[node];
    if (n->kind == NET_SWITCH || n->n_ports <= MAX(fabric->ports_per_nic, 1))
        return g_strdup(fabric->names[node]);
    return g_strdup_printf("%s mlx5_%u", fabric->names[node], subnet_nic(fabric, port));
}

static bool label_node(const struct fabric *fabric, struct subnet *s, uint32_t node, uint64_t *switches, uint64_t *nics, uint32_t *lid)
{
    const struct net_node *n = &fabric->graph.nodes[node];
    bool is_switch = n->kind == NET_SWITCH;
    uint32_t per_nic = MAX(fabric->ports_per_nic, 1);
    if (is_switch) {
        s->node_guid[node] = SWITCH_GUIDS + (*switches)++ * GUIDS_A_NIC;
        s->node_lid[node] = (uint16_t)++*lid;
    }
    s->n_node_ports[node] = n->n_ports;
    for (uint32_t k = 0; k < n->n_ports; k++) {
        uint32_t port = n->first_port + k;
        s->port_number[port] = is_switch ? k + 1 : k % per_nic + 1;
        s->device_guid[port] = is_switch ? s->node_guid[node] : HOST_GUIDS + (*nics + k / per_nic) * GUIDS_A_NIC;
        if (!is_switch && fabric->graph.ports[port].peer != NET_NONE)
            s->port_lid[port] = (uint16_t)++*lid;
        if (*lid > SUBNET_LAST_UNICAST_LID)
            return false;
    }
    if (!is_switch) {
        s->node_guid[node] = HOST_GUIDS + *nics * GUIDS_A_NIC;
        *nics += (n->n_ports + per_nic - 1) / per_nic;
    }
    return *lid <= SUBNET_LAST_UNICAST_LID;
}

bool subnet_label(struct fabric *fabric, GError **err)
{
    const struct net_graph *g = &fabric->graph;
    if (fabric->subnet)
        return true;
    struct subnet *s = subnet_new(fabric);
    uint64_t switches = 0, nics = 0;
    uint32_t lid = 0;
    bool fits = true;
    for (int kind = 0; kind < 2 && fits; kind++)
        for (uint32_t i = 0; i < g->n_nodes && fits; i++)
            if ((g->nodes[i].kind == NET_SWITCH) == (kind == 0))
                fits = label_node(fabric, s, i, &switches, &nics, &lid);
    if (!fits)
        fabric_fail(err, "more switches and NIC ports than a subnet has LIDs; allowed: %d", SUBNET_LAST_UNICAST_LID);
    if (!fits || !subnet_index(fabric, s, err)) {
        subnet_free(s);
        return false;
    }
    fabric->subnet = s;
    return true;
}
