/* fuzz_chakra.c - Chakra execution traces; the input's length chooses ranks and options. */
#include "fuzz_job.h"

#define MAX_RANKS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    GError *err = NULL;
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    options.all_gather_total = n_bytes / MAX_RANKS % 2 == 1;
    options.compute_scale = n_bytes % 3 == 0 ? 0.5 : 1000000;
    uint32_t n_ranks = 1 + (uint32_t)(n_bytes % MAX_RANKS);
    fuzz_take_job(read_chakra_from_bytes(FUZZ_NAME, data, n_bytes, n_ranks, &options, warnings, &err), &err);
    fuzz_take_warnings(warnings);
    return 0;
}
