/* workload.h - turns parameters into the job that a run executes. */
#ifndef FABRICAST_SCENARIOS_WORKLOAD_H
#define FABRICAST_SCENARIOS_WORKLOAD_H

#include "models/job.h"
#include "scenarios/workload_params.h"
#include "topologies/fabric.h"
#include <glib.h>

#define WORKLOAD_ERROR (workload_error_quark())
typedef enum {
    WORKLOAD_ERROR_FILE,  /* cannot be read                                             */
    WORKLOAD_ERROR_INPUT, /* "file:line: key: what is wrong", or more ranks than endpoints */
} workload_error;
GQuark workload_error_quark(void);

/* Builds and seals the job of WORKLOAD (kind other than none) for FABRIC.
 * Rank r runs on endpoint r; job->n_ranks <= its endpoints. BASE_DIR resolves relative file names.
 * Things that the user should know but that do not stop a run are appended to WARNINGS (char *,
 * owned by it; NULL: not wanted). Returns (transfer full) a sealed job; NULL with ERR set:
 * WORKLOAD_ERROR, or JOB_ERROR of sealing with its code kept (JOB_ERROR_UNMATCHED: exit 4). */
struct job *workload_load(const struct workload_params *workload, const struct collective_params *collective,
                          const struct fabric *fabric, const char *base_dir, GPtrArray *warnings, GError **err);

#endif
