/* run_params.h - parameters of the run itself: seed, end, threads, what is recorded.
 *
 * scenarios/run_params.def is the only place where they are written (see sim/params.h).
 */
#ifndef FABRICAST_SCENARIOS_RUN_PARAMS_H
#define FABRICAST_SCENARIOS_RUN_PARAMS_H

#include "sim/params.h"

#define P PARAMS_MEMBER
struct run_params {
#include "scenarios/run_params.def"
};
#undef P

extern const struct param_group run_param_group;

#endif
