/* lft.h - linear forwarding tables: the port of each switch for each LID, computed by a routing engine or read from what a
 * subnet manager wrote.
 */
#ifndef FABRICAST_TOPOLOGIES_LFT_H
#define FABRICAST_TOPOLOGIES_LFT_H

#include "topologies/subnet.h"

#define LFT_NONE 255 /* IBTA: no port */

struct lft {
    uint32_t n_nodes, max_lid;
    uint8_t *port; /* [node][LID]: port number on the device; 0: the switch itself */
};

/* Of a labelled fabric, all LFT_NONE. (transfer full) */
struct lft *lft_new(const struct fabric *fabric);
void lft_free(struct lft *lft); /* accepts NULL */
static inline uint32_t lft_get(const struct lft *lft, uint32_t node, uint32_t lid)
{
    return lid > lft->max_lid ? LFT_NONE : lft->port[(size_t)node * (lft->max_lid + 1) + lid];
}
static inline void lft_set(struct lft *lft, uint32_t node, uint32_t lid, uint32_t port)
{
    lft->port[(size_t)node * (lft->max_lid + 1) + lid] = (uint8_t)port;
}

enum lft_engine { LFT_MINHOP, LFT_UPDN, LFT_FTREE };
/* Tables by a routing engine; of a labelled fabric. NULL with ERR set where the engine does not take the fabric.
 * (transfer full) */
struct lft *lft_compute(const struct fabric *fabric, enum lft_engine engine, GError **err);

struct routing_params; /* topologies/topology_params.h */
/* What routing.engine and routing.lft_file say: labels FABRIC, computes or reads the tables. NULL for engine ecmp, and with ERR set.
 * BASE_DIR as in fabric_build(). (transfer full) */
struct lft *lft_of_routing(struct fabric *fabric, const struct routing_params *params, const char *base_dir, GError **err);

/* Reads opensm-lfts.dump, opensm.fdbs or what dump_fts prints; switches by GUID, LIDs by the labels of the fabric or, where a row names
 * a port GUID (lfts.dump), by that. (transfer full) */
struct lft *lft_read(const struct fabric *fabric, const char *path, GError **err);
/* As opensm-lfts.dump. */
void lft_write(const struct lft *lft, const struct fabric *fabric, FILE *out);

/* Egress ports (graph ports) from NIC port SRC_PORT to NIC port DST_PORT, SRC_PORT first, into PORTS (room for MAX). Their number, or -1
 * with ERR set: a switch without an entry, a loop, a way that ends elsewhere. */
int lft_path(const struct lft *lft, const struct fabric *fabric, uint32_t src_port, uint32_t dst_port, uint32_t *ports, int max,
             GError **err);

/* The same between the NICs of two ranks. Where a NIC has several ports, ENTROPY picks the pair; another one is taken when that has
 * no way. */
int lft_rank_path(const struct lft *lft, const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t entropy, uint32_t *ports,
                  int max, GError **err);

/* What tables do to a fabric. */
struct lft_quality {
    uint64_t n_paths, max_hops;
    uint32_t up_min, up_max;     /* destinations routed through a port that leads up, over the ports of all leaves */
    uint32_t shift_worst;        /* flows over the busiest link between switches, over all cyclic shifts of the NIC ports */
    bool deadlock_free;          /* no ring of links that wait for each other */
    char *ring;                  /* else the ring: "leaf0 -> spine1, spine1 -> leaf2, ..." */
};
/* Walks all pairs of NIC ports. False with ERR set at a pair without a way. */
bool lft_judge(const struct lft *lft, const struct fabric *fabric, struct lft_quality *out, GError **err);

#endif
