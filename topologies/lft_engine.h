/* lft_engine.h - what routing engines see of a fabric: switches, groups of parallel links, targets. Inside topologies/. */
#ifndef FABRICAST_TOPOLOGIES_LFT_ENGINE_H
#define FABRICAST_TOPOLOGIES_LFT_ENGINE_H

#include "topologies/lft.h"

/* Links from a switch to the same other switch. */
struct lft_group {
    uint32_t to;                /* switch */
    uint32_t first, n;          /* ports: lft_net.port[first ..), ascending */
    uint32_t back;              /* the group the other way */
    bool up;                    /* leads to a higher tier */
    uint32_t down_routes, up_routes; /* routes down to a target, up to it, over the group (ftree) */
};

/* A NIC port: LID, the switch it is plugged into and the port there. Or a switch's own LID: port 0. */
struct lft_target { uint32_t lid, sw, port; };

struct lft_net {
    const struct fabric *fabric;
    uint32_t n_switches;
    uint32_t *node_of;          /* switch -> node */
    uint32_t *group_first;      /* n_switches + 1 */
    struct lft_group *group;
    uint32_t *port;             /* graph ports */
    uint32_t *port_down, *port_up; /* by the same index: routes */
    struct lft_target *nic;     /* by switch and port there */
    uint32_t n_nics;
    uint32_t *nic_first;        /* by switch: n_switches + 1 */
};

/* False with ERR set: not labelled, a port number above 254. Free with lft_net_clear(). */
bool lft_net_init(struct lft_net *net, const struct fabric *fabric, GError **err);
void lft_net_clear(struct lft_net *net);

static inline uint32_t lft_number(const struct lft_net *net, uint32_t graph_port) { return net->fabric->subnet->port_number[graph_port]; }
static inline uint32_t lft_switch_lid(const struct lft_net *net, uint32_t sw) { return net->fabric->subnet->node_lid[net->node_of[sw]]; }

/* Engines: fill an empty table. */
bool lft_minhop(const struct lft_net *net, struct lft *lft, GError **err);
bool lft_updn(const struct lft_net *net, struct lft *lft, GError **err);
bool lft_ftree(struct lft_net *net, struct lft *lft, GError **err);

#endif
