/* export_ibsim.c - a fabric as a net file of ibsim. */
#include "topologies/subnet.h"

#include <inttypes.h>

static void write_links(const struct fabric *fabric, uint32_t first, uint32_t n, FILE *out)
{
    const struct net_graph *g = &fabric->graph;
    const struct subnet *s = fabric->subnet;
    for (uint32_t p = first; p < first + n; p++) {
        uint32_t peer = g->ports[p].peer;
        if (peer == NET_NONE)
            continue;
        bool to_switch = g->nodes[g->ports[peer].node].kind == NET_SWITCH;
        fprintf(out, "[%u]\t\"%c-%016" PRIx64 "\"[%u]\n", s->port_number[p], to_switch ? 'S' : 'H', s->device_guid[peer], s->port_number[peer]);
    }
}

static void write_device(const struct fabric *fabric, uint32_t first, uint32_t n, bool is_switch, FILE *out)
{
    const struct subnet *s = fabric->subnet;
    g_autofree char *name = subnet_device_name(fabric, first);
    if (is_switch)
        fprintf(out, "switchguid=0x%016" PRIx64 "\nSwitch\t%u \"S-%016" PRIx64 "\"\t\t# \"%s\"\n", s->device_guid[first], n, s->device_guid[first], name);
    else
        fprintf(out, "caguid=0x%016" PRIx64 "\nCa\t%u \"H-%016" PRIx64 "\"\t\t# \"%s\"\n", s->device_guid[first], n, s->device_guid[first], name);
    write_links(fabric, first, n, out);
    fputc('\n', out);
}

void subnet_write_ibsim(const struct fabric *fabric, FILE *out)
{
    const struct net_graph *g = &fabric->graph;
    for (int kind = 0; kind < 2; kind++) /* the first port of the file is the subnet manager's: a NIC's */
        for (uint32_t i = 0; i < g->n_nodes; i++) {
            const struct net_node *node = &g->nodes[i];
            bool is_switch = node->kind == NET_SWITCH;
            uint32_t step = is_switch ? node->n_ports : MAX(fabric->ports_per_nic, 1);
            if (is_switch != (kind == 1) || node->n_ports == 0)
                continue;
            for (uint32_t k = 0; k < node->n_ports; k += step)
                write_device(fabric, node->first_port + k, MIN(step, node->n_ports - k), is_switch, out);
        }
}
