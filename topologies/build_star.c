/* build_star.c - one switch. Hosts "node0"... on ports 0... of "leaf0". */
#include "topologies/fabric_priv.h"
#include <inttypes.h>

struct fabric *fabric_build_star(const struct topology_params *params, GError **err)
{
    if (params->hosts > FABRIC_MAX_PORTS_PER_NODE) {
        fabric_fail(err, "topology.hosts: %" PRId64 " hosts on one switch; a switch has at most %d ports",
                    params->hosts, FABRIC_MAX_PORTS_PER_NODE);
        return NULL;
    }
    uint32_t hosts = (uint32_t)params->hosts;
    struct tier_links links = fabric_tier_links(params);
    struct fabric_builder *builder = fabric_builder_new("star");
    for (uint32_t i = 0; i < hosts; i++)
        fabric_add_node(builder, NET_HOST, 0, "node%u", i);
    uint32_t leaf = fabric_add_node(builder, NET_SWITCH, 1, "leaf0");
    for (uint32_t i = 0; i < hosts; i++)
        fabric_add_link(builder, i, leaf, links.host_rate_bps, links.host_delay_ps);
    return fabric_builder_finish(builder, 1, 1, err);
}
