/* groups.c - the list of parameter groups. A new group is one line here. */
#include "scenarios/groups.h"

#include "models/model_params.h"
#include "scenarios/run_params.h"
#include "scenarios/workload_params.h"
#include "topologies/topology_params.h"

static const struct param_group *const groups[] = {
    &run_param_group,        &topology_param_group, &routing_param_group, &link_param_group,
    &switch_param_group,     &buffer_param_group,   &pfc_param_group,     &ecn_param_group,
    &nic_param_group,        &dcqcn_param_group,    &node_param_group,    &workload_param_group,
    &collective_param_group, &qos_param_group,      &pfcwd_param_group,   &fault_param_group,
    &dctcp_param_group, &swift_param_group, &timely_param_group, &hpcc_param_group, &credit_param_group, &ib_param_group,
};

const struct param_group *const *scenario_groups(int *n)
{
    *n = (int)G_N_ELEMENTS(groups);
    return groups;
}
