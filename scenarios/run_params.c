/* run_params.c - descriptor rows of the [run] group. */
#include "scenarios/run_params.h"

#define P PARAMS_ASSERT
#include "scenarios/run_params.def"
#undef P

#define P           PARAMS_ROW
#define PARAMS_TYPE run_params
static const struct param_desc run_rows[] = {
#include "scenarios/run_params.def"
};
#undef PARAMS_TYPE
#undef P

const struct param_group run_param_group = {.name = "run",
                                            .doc = "How a run is carried out and what it records.",
                                            .rows = run_rows,
                                            .n_rows = (int)G_N_ELEMENTS(run_rows),
                                            .struct_size = sizeof(struct run_params)};
