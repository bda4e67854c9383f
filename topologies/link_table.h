/* link_table.h - links of an imported file, checked as a whole.
 *
 * Shared by the importers of node-pair lists (hpcc, edges). Rules: no link from a
 * node to itself; two links between a host and the same node are a duplicate and
 * an error; several links between two switches are parallel links.
 */
#ifndef FABRICAST_TOPOLOGIES_LINK_TABLE_H
#define FABRICAST_TOPOLOGIES_LINK_TABLE_H

#include "topologies/fabric_priv.h"

struct link_row {
    uint32_t a, b;
    int line;
    int64_t rate_bps, delay_ps;
};

/* Role of each node, by id. */
enum link_role { LINK_HOST, LINK_SWITCH, LINK_NVSWITCH };

/* Builds a fabric of N_NODES nodes with ids as they are; ROLES has one enum link_role a node; LINKS holds
 * struct link_row. Endpoints are hosts in ascending id, at the first port that does not lead to an NVSwitch
 * (else the first port). Errors name PATH and the line. Nodes without a link are an error. (transfer full) */
struct fabric *link_table_build(const char *path, const char *kind, const uint8_t *roles, uint32_t n_nodes,
                                const GArray *links, GError **err);

#endif
