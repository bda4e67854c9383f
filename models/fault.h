/* fault.h - what breaks during a run, seen by the nodes that it concerns; see fault.c. */
#ifndef FABRICAST_MODELS_FAULT_H
#define FABRICAST_MODELS_FAULT_H

#include "models/net_priv.h"

/* What a TIMER_FAULT does. */
enum fault_step { FAULT_BEGINS, FAULT_ENDS, FAULT_KNOWN, FAULT_FORGOTTEN, FAULT_REROUTES, FAULT_REPEATS, FAULT_N_STEPS };
#define FAULT_TIMER(index, step) NET_TIMER(TIMER_FAULT, (index) * FAULT_N_STEPS + (step))

/* A change of the links that switches learn of. */
struct fault_change { sim_ps t_ps; uint32_t state; };

struct fault_run {
    GArray *changes; /* struct fault_change: TIMER_FAULT index of FAULT_REROUTES */
};

/* Compute of RANK's node takes so many times as long now; 1 if nothing is wrong. */
double fault_slowdown(const struct net *net, uint32_t rank);

#endif
