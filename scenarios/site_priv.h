/* site_priv.h - a site from inside, for scenarios/site.c and scenarios/site_faults.c alone. */
#ifndef FABRICAST_SCENARIOS_SITE_PRIV_H
#define FABRICAST_SCENARIOS_SITE_PRIV_H

#include "scenarios/site.h"

/* Values of one group by place. Pointers into the bag. */
struct site_group {
    const void *base;      /* [group] */
    const void **by_node;  /* n_nodes; NULL: no layers, BASE holds everywhere */
    const void **by_port;  /* n_ports; NULL likewise */
    const void **by_class; /* n_ports x 8; NULL: no layer names a class */
};

struct site {
    struct param_bag *bag;
    const struct fabric *fabric;
    struct site_group groups[NET_N_PARAMS];
};

#endif
