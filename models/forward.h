/* forward.h - next-hop tables of switches: load balancing packet by packet, and links that fail.
 *
 * A run with fixed paths and links that stay up does not need them: its paths are written down
 * queue pair by queue pair (net_qps.c). Else each switch has, for every NIC, a group of candidate
 * ports; one table for each state of the links that a run goes through (fault.c). A
 * state holds at a switch from the time when it learns of it; in between it leaves out its own dead ports
 * (after local_repair) where the group has others. A path that the workload lists is kept, dead links or not.
 */
#ifndef FABRICAST_MODELS_FORWARD_H
#define FABRICAST_MODELS_FORWARD_H

#include "models/net_priv.h"

struct flowlet { sim_ps last_ps; uint32_t a, out; };

/* Ports of a group: member[first .. first + n), local to their switch. */
struct forward_group { uint32_t first; uint32_t n; };

struct forward_state { uint64_t *down; uint32_t n_down; uint16_t **group; /* [vertex][attachment] -> group; NULL for hosts */ };

struct forward {
    uint32_t n_attachments;
    uint32_t *attachment;  /* [queue pair << 1 | direction]: NIC that the packet goes to */
    uint32_t *rank_of;     /* [attachment]: a rank there */
    uint32_t *pinned_from; /* [queue pair << 1 | direction]: port where its listed path begins; NET_NONE: none. NULL: nobody has one */
    GArray *groups;        /* struct forward_group; 0 is empty */
    GArray *members;       /* uint16_t */
    GPtrArray *states;     /* struct forward_state *; 0: all up */
};

/* Adds the state in which the graph ports of the bit set DOWN (and their peers) are dead; its index. Equal sets
 * share one. Only while building. */
uint32_t forward_add_state(struct net *net, const uint64_t *down);

#endif
