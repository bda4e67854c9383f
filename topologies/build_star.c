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

struct fabric *fabric_of_switch(const char *name, const struct fabric_cable *cables, uint32_t n_cables, const struct topology_params *params,
                                GError **err)
{
    if (n_cables > FABRIC_MAX_PORTS_PER_NODE) {
        fabric_fail(err, "%u ports at one switch; allowed: up to %d", n_cables, FABRIC_MAX_PORTS_PER_NODE);
        return NULL;
    }
    struct tier_links links = fabric_tier_links(params);
    struct fabric_builder *builder = fabric_builder_new("switch");
    g_autoptr(GHashTable) id_of = g_hash_table_new(g_str_hash, g_str_equal); /* id + 1 */
    for (uint32_t i = 0; i < n_cables; i++)
        if (!g_hash_table_contains(id_of, cables[i].peer))
            g_hash_table_insert(id_of, (char *)cables[i].peer, GUINT_TO_POINTER(fabric_add_node(builder, NET_HOST, 0, "%s", cables[i].peer) + 1));
    uint32_t hub = fabric_add_node(builder, NET_SWITCH, 1, "%s", name);
    for (uint32_t i = 0; i < n_cables; i++)
        fabric_add_link(builder, GPOINTER_TO_UINT(g_hash_table_lookup(id_of, cables[i].peer)) - 1, hub,
                        cables[i].rate_bps > 0 ? cables[i].rate_bps : links.host_rate_bps,
                        cables[i].length_mm >= 0 ? units_cable_ps(cables[i].length_mm) : links.host_delay_ps);
    return fabric_builder_finish(builder, 1, 1, err);
}
