/* groups.h - every parameter group there is, in the order in which scenarios, lists and result files show
 * them. */
#ifndef FABRICAST_SCENARIOS_GROUPS_H
#define FABRICAST_SCENARIOS_GROUPS_H

#include "sim/params.h"

/* The groups; *N is their number. Static storage. */
const struct param_group *const *scenario_groups(int *n);

#endif
