/* clos_plan.c - arithmetic of leaf-spine(-core) fabrics; see clos_plan.h for the rules. */
#include "topologies/clos_plan.h"
#include "topologies/fabric_priv.h"
#include <inttypes.h>
#include <math.h>

/* One tier's way up: which parameters rule it, and what it has to carry. */
struct uplink_rule {
    const char *what; /* "leaf", "spine" */
    const char *oversub_key, *count_key, *parallel_key, *upper_radix_key;
    const char *hint;                           /* what else helps when the upper switches are too small */
    double down_rate_bps, up_rate_bps, oversub; /* oversub 0: not given */
    int64_t count, parallel;                    /* upper switches and links to each; 0: derived */
    int64_t upper_radix;
};

struct uplinks {
    int64_t up, count, parallel;
};

/* Links that carry DOWN lower ports at the ratio of RULE, or those that the counts fix. The small term keeps
 * quotients that are whole but for rounding from gaining a link. */
static double uplinks_wanted(const struct uplink_rule *rule, int64_t down)
{
    bool fixed = rule->count && (rule->parallel || rule->oversub <= 0);
    if (fixed)
        return (double)rule->count * (double)(rule->parallel ? rule->parallel : 1);
    double ratio = rule->oversub > 0 ? rule->oversub : 1.0;
    return fmax(1.0, ceil((double)down * rule->down_rate_bps / (ratio * rule->up_rate_bps) - 1e-9));
}

/* Most multiples of UNIT lower ports that fit RADIX together with their uplinks; 0 if not even one does. */
static int64_t most_that_fit(const struct uplink_rule *rule, int64_t unit, int64_t radix)
{
    int64_t low = 0, high = radix / unit;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if ((double)(middle * unit) + uplinks_wanted(rule, middle * unit) <= (double)radix)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static bool is_exact(const struct uplink_rule *rule, int64_t down)
{
    double ratio = rule->oversub > 0 ? rule->oversub : 1.0;
    double up = uplinks_wanted(rule, down) * ratio * rule->up_rate_bps;
    return fabs((double)down * rule->down_rate_bps / up - 1.0) <= 1e-9;
}

/* How many of TOTAL units share a switch: the most that fit, or a little fewer if that takes no more switches
 * and makes the ratio exact (2:1 with 128 ports: 84 and 42 rather than 85 and 43). */
static int64_t most_units(const struct uplink_rule *rule, int64_t unit, int64_t radix, int64_t total)
{
    int64_t most = most_that_fit(rule, unit, radix);
    if (most == 0 || most >= total)
        return most;
    int64_t switches = (total + most - 1) / most;
    for (int64_t n = most; n > 0 && (total + n - 1) / n == switches; n--)
        if (is_exact(rule, n * unit))
            return n;
    return most;
}

static int64_t smallest_count(int64_t up, int64_t lower, int64_t upper_radix)
{
    for (int64_t count = 1; count < up; count++)
        if (up % count == 0 && lower * (up / count) <= upper_radix)
            return count;
    return up;
}

static bool ratio_holds(const struct uplink_rule *rule, int64_t down, int64_t up, GError **err)
{
    double ratio = (double)down * rule->down_rate_bps / ((double)up * rule->up_rate_bps);
    bool fixed = rule->count && rule->parallel;
    if (!fixed || rule->oversub <= 0 || fabs(ratio - rule->oversub) <= 1e-6 * rule->oversub)
        return true;
    return fabric_fail(err,
                       "topology.%s: %g is asked for, but %" PRId64 " uplinks a %s for %" PRId64
                       " links down make %g; change one, or set %s = 0",
                       rule->oversub_key, rule->oversub, up, rule->what, down, ratio, rule->oversub_key);
}

static bool divide(const struct uplink_rule *rule, int64_t lower, struct uplinks *out, GError **err)
{
    int64_t count = rule->count, parallel = rule->parallel;
    if (count && out->up % count != 0)
        return fabric_fail(err, "topology.%s: %" PRId64 " does not divide the %" PRId64 " uplinks of a %s",
                           rule->count_key, count, out->up, rule->what);
    if (!count && parallel && out->up % parallel != 0)
        return fabric_fail(err, "topology.%s: %" PRId64 " does not divide the %" PRId64 " uplinks of a %s",
                           rule->parallel_key, parallel, out->up, rule->what);
    if (!count)
        count = parallel ? out->up / parallel : smallest_count(out->up, lower, rule->upper_radix);
    out->count = count;
    out->parallel = out->up / count;
    return true;
}

/* Uplinks of a switch with DOWN links down, shared by LOWER such switches. */
static bool solve_uplinks(const struct uplink_rule *rule, int64_t down, int64_t lower, int64_t radix,
                          const char *radix_key, struct uplinks *out, GError **err)
{
    double wanted = uplinks_wanted(rule, down);
    if ((double)down + wanted > (double)radix)
        return fabric_fail(
            err, "topology.%s: a %s needs %" PRId64 " links down and %.0f up, but has %" PRId64 " ports",
            radix_key, rule->what, down, wanted, radix);
    out->up = (int64_t)wanted;
    if (!divide(rule, lower, out, err) || !ratio_holds(rule, down, out->up, err))
        return false;
    if (lower * out->parallel > rule->upper_radix)
        return fabric_fail(err,
                           "topology.%s: %" PRId64 " switches with %" PRId64 " links each need %" PRId64
                           " ports, but there are %" PRId64 "; raise the radix%s",
                           rule->upper_radix_key, lower, out->parallel, lower * out->parallel,
                           rule->upper_radix, rule->hint);
    return true;
}

static struct uplink_rule leaf_rule(const struct topology_params *p, const struct tier_links *links)
{
    return (struct uplink_rule){
        .what = "leaf",
        .oversub_key = "leaf_oversubscription",
        .count_key = "spines",
        .parallel_key = "parallel_links",
        .upper_radix_key = "spine_radix",
        .down_rate_bps = (double)links->host_rate_bps,
        .up_rate_bps = (double)links->leaf_rate_bps,
        .oversub = p->leaf_oversubscription,
        .count = p->spines,
        .parallel = p->parallel_links,
        .upper_radix = p->spine_radix,
        .hint = p->kind == TOPOLOGY_RAIL_CLOS && p->tiers == 2 ? " or set tiers = 3" : "",
    };
}

static struct uplink_rule spine_rule(const struct topology_params *p, const struct tier_links *links,
                                     int64_t column)
{
    return (struct uplink_rule){
        .what = "spine",
        .oversub_key = "spine_oversubscription",
        .count_key = "cores",
        .parallel_key = "parallel_links",
        .upper_radix_key = "core_radix",
        .down_rate_bps = (double)links->leaf_rate_bps,
        .up_rate_bps = (double)links->spine_rate_bps,
        .oversub = p->spine_oversubscription,
        .count = column,
        .upper_radix = p->core_radix,
        .hint = "",
    };
}

static void set_servers(const struct topology_params *p, struct clos_plan *plan)
{
    bool single = p->kind == TOPOLOGY_LEAF_SPINE;
    int64_t gpus = single ? 1 : p->gpus_per_node;
    int64_t nics = single ? 1 : p->nics_per_node ? p->nics_per_node : gpus;
    *plan = (struct clos_plan){
        .nodes = (uint32_t)(single ? p->hosts : p->nodes),
        .gpus_per_node = (uint32_t)gpus,
        .nics_per_node = (uint32_t)nics,
        .rails = (uint32_t)(single     ? 1
                            : p->rails ? p->rails
                                       : nics),
        .planes = (uint32_t)(single ? 1 : p->planes),
        .pods = 1,
    };
    plan->nic_ports = plan->nics_per_node / plan->rails;
}

static bool nodes_per_leaf(const struct topology_params *p, const struct uplink_rule *rule,
                           struct clos_plan *plan, GError **err)
{
    int64_t nodes = plan->nodes, unit = plan->nic_ports;
    /* Without a second leaf anywhere there is nothing to go up to. */
    bool one_leaf = plan->rails == 1 && p->leaves <= 1 && !p->spines && nodes * unit <= p->leaf_radix;
    int64_t per_leaf = p->leaves  ? (nodes + p->leaves - 1) / p->leaves
                       : one_leaf ? nodes
                                  : MIN(nodes, most_units(rule, unit, p->leaf_radix, nodes));
    if (per_leaf == 0)
        return fabric_fail(err,
                           "topology.leaf_radix: %" PRId64 " ports can't take the %" PRId64
                           " links of one node and %.0f uplinks",
                           p->leaf_radix, unit, uplinks_wanted(rule, unit));
    int64_t groups = (nodes + per_leaf - 1) / per_leaf;
    if (p->leaves && groups != p->leaves)
        return fabric_fail(err,
                           "topology.leaves: %" PRId64 " nodes at %" PRId64 " a leaf fill %" PRId64
                           " leaves, not %" PRId64,
                           nodes, per_leaf, groups, p->leaves);
    plan->nodes_per_leaf = (uint32_t)per_leaf;
    plan->groups = plan->groups_per_pod = (uint32_t)groups;
    return true;
}

/* tiers = 3: how many leaf groups share a pod. RULE gets the links per leaf-spine pair that this fixes. */
static bool set_pods(const struct topology_params *p, const struct tier_links *links,
                     struct uplink_rule *rule, struct clos_plan *plan, GError **err)
{
    int64_t parallel = p->parallel_links ? p->parallel_links : 1;
    if (p->spines && !p->parallel_links && p->leaf_oversubscription > 0)
        parallel = MAX(1, (int64_t)uplinks_wanted(rule, (int64_t)plan->nodes_per_leaf * plan->nic_ports) /
                              p->spines);
    int64_t unit = plan->rails * parallel;
    struct uplink_rule up = spine_rule(p, links, p->spines ? p->cores / p->spines : 0);
    int64_t groups = most_units(&up, unit, p->spine_radix, plan->groups);
    if (groups == 0)
        return fabric_fail(err,
                           "topology.spine_radix: %" PRId64 " ports can't take %" PRId64
                           " links to the leaves of %u rails and %.0f uplinks",
                           p->spine_radix, unit, plan->rails, uplinks_wanted(&up, unit));
    if (groups >= plan->groups)
        return true;
    plan->groups_per_pod = (uint32_t)groups;
    plan->pods = (plan->groups + plan->groups_per_pod - 1) / plan->groups_per_pod;
    if (!rule->count)
        rule->parallel = parallel;
    return true;
}

static bool set_spines(const struct topology_params *p, const struct uplink_rule *rule,
                       struct clos_plan *plan, GError **err)
{
    int64_t leaves = (int64_t)plan->groups_per_pod * plan->rails;
    int64_t down = (int64_t)plan->nodes_per_leaf * plan->nic_ports;
    struct uplinks up = {0};
    if (plan->groups * plan->rails == 1 && !p->spines) {
        if (down > p->leaf_radix)
            return fabric_fail(err,
                               "topology.leaf_radix: %" PRId64 " host links at one leaf of %" PRId64 " ports",
                               down, p->leaf_radix);
        return true;
    }
    if (!solve_uplinks(rule, down, leaves, p->leaf_radix, "leaf_radix", &up, err))
        return false;
    plan->leaf_uplinks = (uint32_t)up.up;
    plan->spines = (uint32_t)up.count;
    plan->parallel = (uint32_t)up.parallel;
    return true;
}

static bool set_cores(const struct topology_params *p, const struct tier_links *links, struct clos_plan *plan,
                      GError **err)
{
    if (p->cores % plan->spines != 0)
        return fabric_fail(err, "topology.cores: %" PRId64 " is not a multiple of the %u spines of a pod",
                           p->cores, plan->spines);
    struct uplink_rule rule = spine_rule(p, links, p->cores / plan->spines);
    int64_t down = (int64_t)plan->groups_per_pod * plan->rails * plan->parallel;
    struct uplinks up = {0};
    if (!solve_uplinks(&rule, down, plan->pods, p->spine_radix, "spine_radix", &up, err))
        return false;
    plan->spine_uplinks = (uint32_t)up.up;
    plan->core_column = (uint32_t)up.count;
    plan->core_parallel = (uint32_t)up.parallel;
    plan->cores = plan->core_column * plan->spines;
    return true;
}

static bool plan_size_ok(const struct clos_plan *plan, GError **err)
{
    int64_t leaves = (int64_t)plan->groups * plan->rails;
    int64_t spines = (int64_t)plan->spines * plan->pods;
    int64_t switches = leaves + spines + plan->cores;
    int64_t links = (int64_t)plan->nodes * plan->nics_per_node + leaves * plan->leaf_uplinks +
                    spines * plan->spine_uplinks;
    int64_t ports = (int64_t)plan->nics_per_node * plan->planes;
    if (ports > FABRIC_MAX_PORTS_PER_NODE)
        return fabric_fail(err,
                           "topology.planes: %u NICs in %u planes need %" PRId64 " ports a node; at most %d",
                           plan->nics_per_node, plan->planes, ports, FABRIC_MAX_PORTS_PER_NODE);
    return fabric_size_ok(plan->nodes + plan->planes * switches, (int64_t)plan->nodes * plan->gpus_per_node,
                          plan->planes * links, err);
}

bool clos_plan_make(const struct topology_params *params, struct clos_plan *plan, GError **err)
{
    struct tier_links links = fabric_tier_links(params);
    struct uplink_rule rule = leaf_rule(params, &links);
    set_servers(params, plan);
    if (!nodes_per_leaf(params, &rule, plan, err))
        return false;
    if (params->kind == TOPOLOGY_RAIL_CLOS && params->tiers == 3 &&
        !set_pods(params, &links, &rule, plan, err))
        return false;
    if (!set_spines(params, &rule, plan, err))
        return false;
    if (plan->pods > 1 && !set_cores(params, &links, plan, err))
        return false;
    return plan_size_ok(plan, err);
}
