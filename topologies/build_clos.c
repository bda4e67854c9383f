/* build_clos.c - leaf_spine and rail_clos fabrics from a clos_plan.
 *
 * Names (planes > 1 add "p<plane>-" after the first dash):
 *   node<n>       server n; its ports: NIC after NIC, and of one NIC plane after plane
 *   leaf<i>       leaf_spine; leaf-r<rail>-<i> in rail_clos, serving nodes i * nodes_per_leaf ...
 *   spine<s>      pod after pod
 *   core<c>       column after column
 * Node ids: servers; then plane by plane leaves (rail after rail); spines; cores.
 * Ports: of a leaf its nodes in order, then spine after spine; of a spine its leaves
 * (rail after rail), then core after core; of a core its pods in order. Parallel links are neighbours.
 */
#include "topologies/clos_plan.h"
#include "topologies/fabric_priv.h"

struct clos {
    const struct clos_plan *plan;
    struct tier_links links;
    struct fabric_builder *builder;
    bool rail_names;
    uint32_t leaf0, spine0, core0; /* id of the first one of plane 0 */
};

static uint32_t leaf_id(const struct clos *c, uint32_t plane, uint32_t rail, uint32_t group)
{
    return c->leaf0 + (plane * c->plan->rails + rail) * c->plan->groups + group;
}

static uint32_t spine_id(const struct clos *c, uint32_t plane, uint32_t pod, uint32_t spine)
{
    return c->spine0 + (plane * c->plan->pods + pod) * c->plan->spines + spine;
}

static void add_leaf(struct clos *c, uint32_t plane, uint32_t rail, uint32_t group)
{
    if (!c->rail_names)
        fabric_add_node(c->builder, NET_SWITCH, 1, "leaf%u", group);
    else if (c->plan->planes > 1)
        fabric_add_node(c->builder, NET_SWITCH, 1, "leaf-p%u-r%u-%u", plane, rail, group);
    else
        fabric_add_node(c->builder, NET_SWITCH, 1, "leaf-r%u-%u", rail, group);
}

/* COUNT switches a plane. */
static uint32_t add_upper(struct clos *c, int tier, const char *name, uint32_t count)
{
    uint32_t first = NET_NONE;
    for (uint32_t plane = 0; plane < c->plan->planes; plane++)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t id = c->plan->planes > 1
                              ? fabric_add_node(c->builder, NET_SWITCH, tier, "%s-p%u-%u", name, plane, i)
                              : fabric_add_node(c->builder, NET_SWITCH, tier, "%s%u", name, i);
            first = MIN(first, id);
        }
    return first;
}

static void add_nodes(struct clos *c)
{
    const struct clos_plan *plan = c->plan;
    for (uint32_t i = 0; i < plan->nodes; i++)
        fabric_add_node(c->builder, NET_HOST, 0, "node%u", i);
    c->leaf0 = plan->nodes;
    for (uint32_t plane = 0; plane < plan->planes; plane++)
        for (uint32_t rail = 0; rail < plan->rails; rail++)
            for (uint32_t group = 0; group < plan->groups; group++)
                add_leaf(c, plane, rail, group);
    c->spine0 = add_upper(c, 2, "spine", plan->spines * plan->pods);
    c->core0 = add_upper(c, 3, "core", plan->cores);
}

static void link_hosts(struct clos *c)
{
    const struct clos_plan *plan = c->plan;
    for (uint32_t node = 0; node < plan->nodes; node++)
        for (uint32_t nic = 0; nic < plan->nics_per_node; nic++)
            for (uint32_t plane = 0; plane < plan->planes; plane++)
                fabric_add_link(c->builder, node,
                                leaf_id(c, plane, nic % plan->rails, node / plan->nodes_per_leaf),
                                c->links.host_rate_bps, c->links.host_delay_ps);
}

static void link_leaf(struct clos *c, uint32_t plane, uint32_t rail, uint32_t group)
{
    uint32_t leaf = leaf_id(c, plane, rail, group);
    for (uint32_t s = 0; s < c->plan->spines; s++)
        for (uint32_t i = 0; i < c->plan->parallel; i++)
            fabric_add_link(c->builder, leaf, spine_id(c, plane, group / c->plan->groups_per_pod, s),
                            c->links.leaf_rate_bps, c->links.leaf_delay_ps);
}

static void link_spine(struct clos *c, uint32_t plane, uint32_t pod, uint32_t spine)
{
    uint32_t column0 = c->core0 + plane * c->plan->cores + spine * c->plan->core_column;
    for (uint32_t core = 0; core < c->plan->core_column; core++)
        for (uint32_t i = 0; i < c->plan->core_parallel; i++)
            fabric_add_link(c->builder, spine_id(c, plane, pod, spine), column0 + core,
                            c->links.spine_rate_bps, c->links.spine_delay_ps);
}

static void link_plane(struct clos *c, uint32_t plane)
{
    const struct clos_plan *plan = c->plan;
    for (uint32_t rail = 0; rail < plan->rails; rail++)
        for (uint32_t group = 0; group < plan->groups; group++)
            link_leaf(c, plane, rail, group);
    for (uint32_t pod = 0; pod < plan->pods; pod++)
        for (uint32_t spine = 0; spine < plan->spines; spine++)
            link_spine(c, plane, pod, spine);
}

struct fabric *fabric_build_clos(const struct topology_params *params, GError **err)
{
    struct clos_plan plan;
    if (!clos_plan_make(params, &plan, err))
        return NULL;
    bool rails = params->kind == TOPOLOGY_RAIL_CLOS;
    struct clos c = {
        .plan = &plan,
        .links = fabric_tier_links(params),
        .builder = fabric_builder_new(rails ? "rail_clos" : "leaf_spine"),
        .rail_names = rails,
    };
    add_nodes(&c);
    link_hosts(&c);
    for (uint32_t plane = 0; plane < plan.planes; plane++)
        link_plane(&c, plane);
    return fabric_builder_finish(c.builder, plan.gpus_per_node, plan.planes, err);
}
