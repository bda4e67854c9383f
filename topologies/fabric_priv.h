/* fabric_priv.h - shared by the builders and importers of topologies/.
 *
 * A fabric_builder collects nodes and links in any order; fabric_builder_finish()
 * lays the ports out: node by node, each node's ports in the order in which its
 * links were added, so that order is the port numbering that a builder documents.
 */
#ifndef FABRICAST_TOPOLOGIES_FABRIC_PRIV_H
#define FABRICAST_TOPOLOGIES_FABRIC_PRIV_H

#include "topologies/fabric.h"
#include "topologies/topology_params.h"

/* Bounds of one fabric: 32-bit port numbers, and memory that a wrong digit can't exhaust. */
#define FABRIC_MAX_NODES (INT64_C(1) << 24)
#define FABRIC_MAX_LINKS (INT64_C(1) << 25)
#define FABRIC_MAX_PORTS_PER_NODE 65535
#define FABRIC_MAX_RATE_BPS (INT64_C(100000) * UNIT_GBPS)
#define FABRIC_MAX_DELAY_PS (100 * UNIT_MS)

struct fabric_builder; /* opaque */

struct fabric_builder *fabric_builder_new(const char *kind);
void fabric_builder_free(struct fabric_builder *builder); /* accepts NULL */

/* Appends a node named by FORMAT; returns its id. */
uint32_t fabric_add_node(struct fabric_builder *builder, enum net_node_kind kind, int tier, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
/* Appends a full-duplex link between nodes A and B, which exist. */
void fabric_add_link(struct fabric_builder *builder, uint32_t a, uint32_t b, int64_t rate_bps, int64_t delay_ps);

/* Lays out ports and endpoints and frees BUILDER. Each host gets GPUS_PER_NODE endpoints; its ports are NICs of
 * PORTS_PER_NIC ports, and consecutive GPUs share a NIC where there are fewer NICs. (transfer full) */
struct fabric *fabric_builder_finish(struct fabric_builder *builder, uint32_t gpus_per_node, uint32_t ports_per_nic,
                                     GError **err);

/* Tier of each switch of an imported graph: 1 + links to the nearest switch that has a host (255 at most). */
void fabric_set_tiers(struct fabric *fabric);

/* Sets ERR to FABRIC_ERROR_INPUT; returns false, for "return fabric_fail(err, ...)". */
bool fabric_fail(GError **err, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* False with ERR when a fabric of this size is beyond the bounds above. */
bool fabric_size_ok(int64_t n_nodes, int64_t n_endpoints, int64_t n_links, GError **err);

/* Builders: PARAMS has passed its cross-check. Importers: PATH is the file to open. (transfer full) */
struct fabric *fabric_build_star(const struct topology_params *params, GError **err);
struct fabric *fabric_build_clos(const struct topology_params *params, GError **err);
struct fabric *fabric_build_fat_tree(const struct topology_params *params, GError **err);
struct fabric *fabric_import_hpcc(const char *path, GError **err);
struct fabric *fabric_import_htsim(const char *path, GError **err);
struct fabric *fabric_import_edges(const char *path, GError **err);

/* Rate and delay of each tier with the "0: same as" rules applied. */
struct tier_links {
    int64_t host_rate_bps, leaf_rate_bps, spine_rate_bps;
    int64_t host_delay_ps, leaf_delay_ps, spine_delay_ps;
};
struct tier_links fabric_tier_links(const struct topology_params *params);

/* Greatest flow, in bit/s, between the first half of the hosts and the rest over switches and direct cables;
 * -1 when the graph is too large to say. */
double fabric_bisection_bps(const struct fabric *fabric);

/* Ranges of the ascending NUMBERS: "0-3,7,9-12"; from MAX_RANGES on, "... (N in all)". (transfer full) */
char *fabric_ranges(const uint32_t *numbers, uint32_t n, uint32_t max_ranges);

#endif
