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
    struct lft *lft; /* NULL: routing.engine ecmp */
    struct routes *routes;
    const struct routing_params *routing;
    struct ecmp_hash ecmp;
    struct job *job;
    struct net_config config;
    struct net *net;
    GPtrArray *warnings;
    struct record_book *book;
    GHashTable *path_of_flow; /* flow id + 1 -> const struct job_path * */
    GPtrArray *notes;
    GArray *capture; /* uint32_t graph ports */
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

/* counters.c: tables "counters" and "incidents". */
void counters_fill(struct run *run);
void incidents_fill(struct run *run);

/* culprits.c: warnings that name who broke what. */
void culprits_name(struct run *run, const struct net_totals *totals);

/* End of the last operation that is done, in NET. */
sim_ps run_end_of(const struct run *run, const struct net *net);

/* twin.c: runs it again without its faults and adds what these cost. */
void twin_compare(struct run *run);

/* capture.c: table "events/capture" of the ports that options name. */
void capture_fill(struct run *run);

/* Fills RUN->book. False with a note added when a result broke a law. */
bool results_collect(struct run *run, enum net_verdict verdict);

#endif
