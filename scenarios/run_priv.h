/* run_priv.h - state of a run between its parts (run.c, results.c, sampler.c). */
#ifndef FABRICAST_SCENARIOS_RUN_PRIV_H
#define FABRICAST_SCENARIOS_RUN_PRIV_H

#include "models/net.h"
#include "scenarios/run.h"
#include "scenarios/run_params.h"
#include "scenarios/site.h"
#include "topologies/fabric.h"

struct run {
    const struct scenario *scenario;
    const struct run_params *params;
    const struct run_options *options;
    struct fabric *fabric;
    struct site *site;
    struct net_site net_site;
    GArray *faults; /* struct net_fault */
    struct routes *routes;
    struct job *job;
    struct net *net;
    GPtrArray *warnings;
    struct record_book *book;
    GHashTable *path_of_flow; /* flow id + 1 -> const struct job_path * */
    GPtrArray *notes;
    struct sampler *sampler;
    double wall_s;
    int n_threads;
};

/* Wall clock, for progress and speed; no result depends on it. */
double run_wall_s(void);

/* Series and progress between windows. */
struct sampler *sampler_new(struct run *run);
void sampler_free(struct sampler *sampler);
bool sampler_hook(void *user, struct net *net, sim_ps now_ps);
void sampler_tables(struct sampler *sampler, struct record_book *book);
void sampler_end_progress(struct sampler *sampler);

/* Fills RUN->book. False with a note added when a result broke a law. */
bool results_collect(struct run *run, enum net_verdict verdict);

#endif
