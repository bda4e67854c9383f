/* clos_plan.h - how many leaves, spines, cores and links a leaf-spine(-core) fabric has.
 *
 * Written for rail_clos; leaf_spine is the case of one GPU, NIC and rail a node, one plane, two tiers.
 * Everything below is for one plane; planes are identical copies.
 *
 * Leaf. A node takes nic_ports = nics_per_node / rails ports of a leaf of each rail. With oversubscription o,
 *     uplinks(down) = ceil(down * host_rate / (o * leaf_rate)),
 * and a leaf serves the most nodes for which down + uplinks(down) <= leaf_radix (or ceil(nodes / leaves) when
 * leaves is given); a little fewer where that needs no more leaves and makes the ratio exact, e.g. 84 and 42 rather
 * than 85 and 43 of 128 ports for 2:1. Consecutive nodes share a leaf; the last leaf may serve fewer. Uplinks are counted from the
 * nodes that the fullest leaf really serves. One leaf in all has no uplinks.
 *
 * Spine, tiers = 2. Each leaf has `parallel` links to each of the spines, uplinks = spines * parallel.
 * Nothing given: the smallest divisor of uplinks for which leaves * parallel <= spine_radix.
 *
 * Pod, tiers = 3. A leaf group is the `rails` leaves of the same nodes. A pod holds the most leaf groups for which
 * down + uplinks(down) <= spine_radix, down = groups * rails * parallel (parallel = 1 unless given), or a little
 * fewer by the same rule. One pod in
 * all has no cores and follows the rule for two tiers.
 *
 * Core. Spine s of every pod has core_parallel links to each of the cores of column s, uplinks = core_column *
 * core_parallel; derived like spines: the fewest cores for which pods * core_parallel <= core_radix.
 */
#ifndef FABRICAST_TOPOLOGIES_CLOS_PLAN_H
#define FABRICAST_TOPOLOGIES_CLOS_PLAN_H

#include "topologies/topology_params.h"

struct clos_plan {
    uint32_t nodes, gpus_per_node, nics_per_node, rails, planes;
    uint32_t nic_ports;       /* of one node at one leaf */
    uint32_t nodes_per_leaf;  /* at the fullest leaf */
    uint32_t groups;          /* leaf groups = leaves of each rail */
    uint32_t leaf_uplinks;
    uint32_t parallel;        /* links between a leaf and a spine */
    uint32_t pods, groups_per_pod;
    uint32_t spines;          /* of one pod (the whole plane with two tiers) */
    uint32_t spine_uplinks;
    uint32_t core_column;     /* cores that a spine reaches */
    uint32_t core_parallel;   /* links between a spine and a core */
    uint32_t cores;           /* spines * core_column */
};

/* Fills PLAN; false with ERR (FABRIC_ERROR_INPUT) naming the parameter and the numbers that do not fit. */
bool clos_plan_make(const struct topology_params *params, struct clos_plan *plan, GError **err);

#endif
