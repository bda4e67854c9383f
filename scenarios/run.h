/* run.h - carries out a scenario: fabric, job, packet-level run, results as records. */
#ifndef FABRICAST_SCENARIOS_RUN_H
#define FABRICAST_SCENARIOS_RUN_H

#include "scenarios/scenario.h"
#include "sim/record.h"
#include <signal.h>

enum run_status {
    RUN_FINISHED,   /* everything finished */
    RUN_UNFINISHED, /* run.until or an interrupt came first; partial results are marked incomplete */
    RUN_STUCK,      /* deadlock, or work that can never finish; named in notes */
    RUN_BROKEN,     /* a result broke a law (below its bound, bytes unbalanced): no numbers */
};

struct run_options {
    bool show_progress;                     /* on stderr */
    const volatile sig_atomic_t *interrupt; /* nonzero ends the run with partial results; may be NULL */
    const char *const *capture; /* ports whose frames go to table events/capture: "leaf0/spine1", NULL at the end; may be NULL */
};
#define RUN_CAPTURE_MAX 2000000 /* frames of each port */

struct run_result {
    enum run_status status;
    struct record_book *book; /* NULL when RUN_BROKEN */
    GPtrArray *notes;         /* char *: what is unfinished, stuck, or broken, a line each */
};

/* Runs SCENARIO (checked). NULL with ERR set for bad input (exit 2), or JOB_ERROR_UNMATCHED. (transfer full) */
struct run_result *run_scenario(const struct scenario *scenario, const struct run_options *options, GError **err);
void run_result_free(struct run_result *result); /* accepts NULL */

#endif
