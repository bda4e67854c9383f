/* build_fat_tree.c - the k-ary fat tree (Al-Fares et al., SIGCOMM 2008).
 *
 * k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k^3/4 hosts; all switches
 * have k ports. Nodes: hosts "node<i>", "edge<i>", "agg<i>", "core<i>", each pod after pod.
 * Ports of an edge: its hosts, then its pod's aggregation switches. Ports of aggregation
 * switch a of a pod: the pod's edges, then cores a k/2 ... a k/2 + k/2 - 1. Port p of a core: pod p.
 */
#include "topologies/fabric_priv.h"

struct tree {
    uint32_t k, half, hosts, switches; /* switches: edge switches = aggregation switches */
    uint32_t edge0, agg0, core0;       /* node id of the first one */
};

static struct tree tree_of(int64_t k)
{
    struct tree t = {.k = (uint32_t)k, .half = (uint32_t)k / 2};
    t.switches = t.k * t.half;
    t.hosts = t.switches * t.half;
    t.edge0 = t.hosts;
    t.agg0 = t.edge0 + t.switches;
    t.core0 = t.agg0 + t.switches;
    return t;
}

static void add_nodes(struct fabric_builder *builder, const struct tree *t)
{
    for (uint32_t i = 0; i < t->hosts; i++)
        fabric_add_node(builder, NET_HOST, 0, "node%u", i);
    for (uint32_t i = 0; i < t->switches; i++)
        fabric_add_node(builder, NET_SWITCH, 1, "edge%u", i);
    for (uint32_t i = 0; i < t->switches; i++)
        fabric_add_node(builder, NET_SWITCH, 2, "agg%u", i);
    for (uint32_t i = 0; i < t->half * t->half; i++)
        fabric_add_node(builder, NET_SWITCH, 3, "core%u", i);
}

static void add_links(struct fabric_builder *builder, const struct tree *t, const struct tier_links *links)
{
    for (uint32_t i = 0; i < t->hosts; i++)
        fabric_add_link(builder, i, t->edge0 + i / t->half, links->host_rate_bps, links->host_delay_ps);
    for (uint32_t e = 0; e < t->switches; e++)
        for (uint32_t a = 0; a < t->half; a++)
            fabric_add_link(builder, t->edge0 + e, t->agg0 + e / t->half * t->half + a, links->leaf_rate_bps,
                            links->leaf_delay_ps);
    for (uint32_t a = 0; a < t->switches; a++)
        for (uint32_t c = 0; c < t->half; c++)
            fabric_add_link(builder, t->agg0 + a, t->core0 + a % t->half * t->half + c, links->spine_rate_bps,
                            links->spine_delay_ps);
}

struct fabric *fabric_build_fat_tree(const struct topology_params *params, GError **err)
{
    struct tree t = tree_of(params->k);
    struct tier_links links = fabric_tier_links(params);
    struct fabric_builder *builder = fabric_builder_new("fat_tree");
    add_nodes(builder, &t);
    add_links(builder, &t, &links);
    return fabric_builder_finish(builder, 1, 1, err);
}
