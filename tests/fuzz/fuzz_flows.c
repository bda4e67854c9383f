/* fuzz_flows.c - flow lists (CSV). */
#include "fuzz_job.h"

#define N_RANKS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    GError *err = NULL;
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    fuzz_take_job(read_flows_from_bytes(FUZZ_NAME, data, n_bytes, N_RANKS, warnings, &err), &err);
    fuzz_take_warnings(warnings);
    return 0;
}
