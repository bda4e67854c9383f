/* fabric.h - a fabric: its graph with names, how it was made, and its checks.
 *
 * Builders and importers return a fabric; it is immutable afterwards. Node order:
 * hosts first, then switches by tier (importers keep the file's ids). Endpoint i
 * is rank i's GPU and NIC port: hosts in order of node id, GPU by GPU. The ports
 * of a node are in the order in which its links were added (see the builders).
 *
 * A NIC may have several ports (planes), and a host that is one endpoint owns all
 * its ports; routes then leave and enter by whichever port gives a shorter path,
 * then by the faster one, then by hash: the first port of a path is not always
 * endpoint.port. Hosts never relay.
 */
#ifndef FABRICAST_TOPOLOGIES_FABRIC_H
#define FABRICAST_TOPOLOGIES_FABRIC_H

#include "models/net_graph.h"
#include "topologies/ecmp_hash.h"
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct fabric {
    struct net_graph graph;
    char **names;             /* n_nodes: "gpu-node3", "leaf0", "spine12" */
    char *kind;               /* "rail_clos", "fat_tree", ... */
    uint32_t gpus_per_node;   /* endpoints per host; 1 where hosts are single NICs */
    uint32_t ports_per_nic;   /* planes: ports [endpoint.port, + ports_per_nic) belong to the endpoint's NIC */
    uint32_t n_links;         /* cables with both ends plugged in */
    struct subnet *subnet;    /* InfiniBand labels (topologies/subnet.h); NULL: none yet */
    char *notes;              /* lines "file:line: key ignored: why" of an importer, or NULL */
};

#define FABRIC_ERROR (fabric_error_quark())
typedef enum {
    FABRIC_ERROR_INPUT,        /* file or parameter is wrong: exit 2 */
    FABRIC_ERROR_DISCONNECTED, /* "2 components {0-3},{4-7}": exit 2 */
} fabric_error;
GQuark fabric_error_quark(void);

void fabric_free(struct fabric *fabric); /* accepts NULL */

struct topology_params; /* topologies/topology_params.h */
/* Builds or imports as PARAMS says (kind, file, ...). BASE_DIR resolves a relative file; NULL: the current
 * folder. (transfer full) */
struct fabric *fabric_build(const struct topology_params *params, const char *base_dir, GError **err);

/* One switch NAME and what its CABLES lead to, in port order: a host for each name of a peer. Where a rate or length is not known,
 * the host links of PARAMS count. (transfer full) */
struct fabric_cable {
    const char *peer;
    int64_t rate_bps;  /* 0: not known */
    int64_t length_mm; /* -1: not known */
};
struct fabric *fabric_of_switch(const char *name, const struct fabric_cable *cables, uint32_t n_cables, const struct topology_params *params,
                                GError **err);

/* Rank whose GPU sits at host NODE (its first GPU), NET_NONE if NODE is not a host. O(log ranks). For
 * importers, whose workload files speak of node ids. */
uint32_t fabric_rank_of_node(const struct fabric *fabric, uint32_t node);

/* Ports by which an endpoint is reached: those of its NIC, or all of a host's that is one endpoint. */
void fabric_nic_ports(const struct fabric *fabric, uint32_t endpoint, uint32_t *first, uint32_t *n);

/* Connected, every pair of GPUs reachable without relay through a host, names unique, peers symmetric, rates
 * and delays positive. Builders and importers do not call it: a fabric in two pieces can still be shown. */
bool fabric_check(const struct fabric *fabric, GError **err);
/* Aligned table of counts: hosts, GPUs, NICs, switches by tier, links by tier and rate, oversubscription by tier, bisection. */
void fabric_show(const struct fabric *fabric, FILE *out);
void fabric_dot(const struct fabric *fabric, FILE *out); /* Graphviz */

/* ---- routes: all shortest paths, ECMP choice by hash ---------------------- */
struct routes; /* opaque; caches distances per destination switch; not for two threads at once */

/* FABRIC is borrowed and must outlive the routes. */
struct routes *routes_new(const struct fabric *fabric);
void routes_free(struct routes *routes);
/* Number of hops (links) of a shortest path between endpoints, 0 if none or same host. */
int routes_hops(struct routes *routes, uint32_t src, uint32_t dst);
/* Egress ports (global port index) of every node on the path for KEY, source NIC port first, into PORTS
 * (room for MAX). At each switch the candidates are its ports one hop nearer to KEY.dst, in port order
 * (parallel links count apart); the choice is ecmp_hash_at(HASH, KEY, that switch) mod candidates. Returns the
 * number of ports, -1 with ERR set when unreachable. Pure function of its arguments. */
int routes_path(struct routes *routes, const struct route_key *key, const struct ecmp_hash *hash, uint32_t *ports, int max,
                GError **err);
/* Ports of switch NODE on shortest paths to a live port of RANK's NIC, ascending, with the ports of the bit set DOWN (both
 * ends of a dead link; NULL: none) left out; their number. What routes_path() takes is among them when nothing is down. */
uint32_t routes_next_hops(struct routes *routes, uint32_t node, uint32_t rank, const uint64_t *down, uint32_t *ports, uint32_t max);
/* Same for a path given as node ids (source host ... destination host). Of parallel links the lowest-numbered
 * port is taken that the path does not use yet. */
int routes_from_nodes(const struct fabric *fabric, const uint32_t *nodes, uint32_t n_nodes, uint32_t *ports, int max, GError **err);

#endif
