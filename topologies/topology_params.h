/* topology_params.h - parameter groups [topology] and [routing].
 *
 * topology_params.def and routing_params.def are the only places where a key's
 * name, unit, default, range, source and meaning are written (see sim/params.h).
 *
 * Which keys count:
 *   star        hosts, host_*
 *   leaf_spine  hosts, leaf_radix, spine_radix, leaves, spines, parallel_links,
 *               leaf_oversubscription, host_*, leaf_*
 *   rail_clos   all but hosts, k and file
 *   fat_tree    k, host_*, leaf_*, spine_*
 *   importers   file alone
 *   link_layer  always
 */
#ifndef FABRICAST_TOPOLOGIES_TOPOLOGY_PARAMS_H
#define FABRICAST_TOPOLOGIES_TOPOLOGY_PARAMS_H

#include "sim/params.h"

#define P PARAMS_MEMBER
struct topology_params {
#include "topologies/topology_params.def"
};
struct routing_params {
#include "topologies/routing_params.def"
};
#undef P

enum topology_link_layer { TOPOLOGY_ETHERNET, TOPOLOGY_INFINIBAND };
enum topology_kind {
    TOPOLOGY_STAR,
    TOPOLOGY_LEAF_SPINE,
    TOPOLOGY_RAIL_CLOS,
    TOPOLOGY_FAT_TREE,
    TOPOLOGY_HPCC,
    TOPOLOGY_HTSIM,
    TOPOLOGY_EDGES,
};
enum routing_mode { ROUTING_ECMP, ROUTING_STATIC, ROUTING_SPRAY, ROUTING_ADAPTIVE, ROUTING_FLOWLET };
enum routing_engine { ROUTING_ENGINE_ECMP, ROUTING_ENGINE_MINHOP, ROUTING_ENGINE_UPDN, ROUTING_ENGINE_FTREE, ROUTING_ENGINE_FILE };
enum routing_hash { ROUTING_HASH_MIX, ROUTING_HASH_CRC16, ROUTING_HASH_CRC32, ROUTING_HASH_CRC32C, ROUTING_HASH_XOR };
enum routing_spray_choice { ROUTING_SPRAY_ROUND_ROBIN, ROUTING_SPRAY_RANDOM };

extern const struct param_group topology_param_group, routing_param_group;

#endif
