/* fuzz_chakra.c - Chakra execution traces: the input as the trace of every rank, its length choosing ranks and options;
 * and, cut at SEPARATOR, as the traces of different ranks in a folder.
 */
#define _GNU_SOURCE /* memmem */
#include "fuzz_job.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS 5

static const uint8_t separator[] = {0xff, 0xff};

static struct chakra_options options_for(size_t n_bytes)
{
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    options.all_gather_total = n_bytes / MAX_RANKS % 2 == 1;
    options.compute_scale = n_bytes % 3 == 0 ? 0.5 : 1000000;
    return options;
}

static void check_bytes(const uint8_t *data, size_t n_bytes)
{
    GError *err = NULL;
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    struct chakra_options options = options_for(n_bytes);
    uint32_t n_ranks = 1 + (uint32_t)(n_bytes % MAX_RANKS);
    fuzz_take_job(read_chakra_from_bytes(FUZZ_NAME, data, n_bytes, n_ranks, &options, warnings, &err), &err);
    fuzz_take_warnings(warnings);
}

static char *trace_path(const char *folder, int rank)
{
    return g_strdup_printf("%s/" FUZZ_NAME ".%d.et", folder, rank);
}

/* Writes the parts of the input as traces of ranks 0, 1, ...; returns their number. */
static int write_traces(const char *folder, const uint8_t *data, size_t n_bytes)
{
    const uint8_t *end = data + n_bytes;
    for (int rank = 0;; rank++) {
        const uint8_t *cut = rank < MAX_RANKS - 1 ? memmem(data, (size_t)(end - data), separator, sizeof separator) : NULL;
        g_autofree char *path = trace_path(folder, rank);
        FUZZ_REQUIRE(g_file_set_contents_full(path, (const char *)data, (cut ? cut : end) - data,
                                              G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        if (!cut)
            return rank + 1;
        data = cut + sizeof separator;
    }
}

static void remove_folder(const char *folder, int n_ranks)
{
    for (int rank = 0; rank < n_ranks; rank++) {
        g_autofree char *path = trace_path(folder, rank);
        FUZZ_REQUIRE(g_unlink(path) == 0);
    }
    FUZZ_REQUIRE(g_rmdir(folder) == 0);
}

static void check_folder(const uint8_t *data, size_t n_bytes)
{
    GError *err = NULL;
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    struct chakra_options options = options_for(n_bytes);
    const char *where = g_access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
    g_autofree char *folder = g_strdup_printf("%s/fabricast-fuzz-XXXXXX", where);
    FUZZ_REQUIRE(g_mkdtemp(folder));
    int n_ranks = write_traces(folder, data, n_bytes);
    struct job *job = read_chakra(folder, &options, warnings, &err);
    if (!job)
        fuzz_take_error(&err, folder);
    else
        fuzz_take_job(job, &err);
    fuzz_take_warnings(warnings);
    remove_folder(folder, n_ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    check_bytes(data, n_bytes);
    if (memmem(data, n_bytes, separator, sizeof separator))
        check_folder(data, n_bytes);
    return 0;
}
