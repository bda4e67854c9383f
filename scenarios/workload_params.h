/* workload_params.h - parameters of groups [workload] and [collective].
 *
 * The .def files are the only place where they are written (see sim/params.h).
 */
#ifndef FABRICAST_SCENARIOS_WORKLOAD_PARAMS_H
#define FABRICAST_SCENARIOS_WORKLOAD_PARAMS_H

#include "sim/params.h"

/* In the order of the choices of workload.kind. */
enum workload_kind {
    WORKLOAD_NONE, WORKLOAD_FLOWS, WORKLOAD_HPCC, WORKLOAD_HTSIM, WORKLOAD_CHAKRA, WORKLOAD_COLLECTIVE,
};

/* In the order of the choices of collective.ring_order. */
enum collective_ring_order { RING_ORDER_AUTO, RING_ORDER_RANKS, RING_ORDER_RAIL };

#define P PARAMS_MEMBER
struct workload_params {
#include "scenarios/workload_params.def"
};
struct collective_params {
#include "scenarios/collective_params.def"
};
#undef P

extern const struct param_group workload_param_group, collective_param_group;

#endif
