/* workload_params.c - descriptor rows of [workload] and [collective], and their cross-checks. */
#include "scenarios/workload_params.h"

#include "models/collective/collective.h"
#include "scenarios/workload_read.h"

#define P PARAMS_ASSERT
#include "scenarios/workload_params.def"
#include "scenarios/collective_params.def"
#undef P

#define P PARAMS_ROW
#define PARAMS_TYPE workload_params
static const struct param_desc workload_rows[] = {
#include "scenarios/workload_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE collective_params
static const struct param_desc collective_rows[] = {
#include "scenarios/collective_params.def"
};
#undef PARAMS_TYPE
#undef P

static bool check_workload(const void *values, const char **key, GError **err)
{
    const struct workload_params *p = values;
    bool reads_file = p->kind != WORKLOAD_NONE && p->kind != WORKLOAD_COLLECTIVE;
    bool has_flows = p->kind == WORKLOAD_FLOWS || p->kind == WORKLOAD_HPCC || p->kind == WORKLOAD_HTSIM;
    *key = "file";
    if (reads_file && p->file[0] == '\0') {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "missing; this kind of workload is read from a file");
        return false;
    }
    if (!reads_file && p->file[0] != '\0') {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS,
                    "'%s' would not be read; set workload.kind to flows, hpcc, htsim or chakra", p->file);
        return false;
    }
    *key = "paths";
    if (p->paths[0] != '\0' && !has_flows) {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "only flows have fixed paths; allowed with kind flows, hpcc, htsim");
        return false;
    }
    return true;
}

static bool check_collective(const void *values, const char **key, GError **err)
{
    const struct collective_params *p = values;
    *key = "algorithm";
    if (!collective_algorithm_name((enum job_collective_kind)p->op, (enum collective_algorithm)p->algorithm)) {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "%s does not have this algorithm; auto always works",
                    collective_kind_name((enum job_collective_kind)p->op));
        return false;
    }
    *key = "bytes";
    if (p->bytes_bytes % p->elem_bytes != 0) {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "not a whole number of elements of %" G_GINT64_FORMAT " bytes",
                    p->elem_bytes);
        return false;
    }
    *key = "ranks";
    g_autoptr(GArray) ranks = workload_parse_ranks(p->ranks, err);
    return ranks != NULL;
}

const struct param_group workload_param_group = {
    .name = "workload",
    .doc = "What runs on the fabric.",
    .rows = workload_rows,
    .n_rows = (int)G_N_ELEMENTS(workload_rows),
    .struct_size = sizeof(struct workload_params),
    .check = check_workload,
};

const struct param_group collective_param_group = {
    .name = "collective",
    .doc = "One collective, and how the collectives of traces are cut into messages.",
    .rows = collective_rows,
    .n_rows = (int)G_N_ELEMENTS(collective_rows),
    .struct_size = sizeof(struct collective_params),
    .check = check_collective,
};
