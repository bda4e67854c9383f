/* replay.c - runs a fuzz target over its corpus without libFuzzer.
 *
 *   replay_<name> FOLDER MUTATIONS
 *
 * Each file as it is; then cut at every position and with single bytes changed, in the first 4 KiB, but at
 * most MUTATIONS inputs a file, spread evenly. The same inputs in every run. Inputs lie in heap blocks of
 * exactly their size, so that ASan sees a read past the end.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATED_BYTES 4096
#define VARIANTS      4 /* of a position: cut there, one bit flipped, 0xff, '9' */

static void run_exact(const char *data, gsize n_bytes)
{
    uint8_t *copy = g_malloc(n_bytes ? n_bytes : 1);
    memcpy(copy, data, n_bytes);
    LLVMFuzzerTestOneInput(copy, n_bytes);
    g_free(copy);
}

static void run_mutation(char *data, gsize n_bytes, gsize number)
{
    gsize at = number / VARIANTS;
    char kept = data[at];
    switch (number % VARIANTS) {
    case 0:
        run_exact(data, at);
        return;
    case 1:
        data[at] = (char)(data[at] ^ 1 << at % 7);
        break;
    case 2:
        data[at] = (char)0xff;
        break;
    default:
        data[at] = '9';
    }
    run_exact(data, n_bytes);
    data[at] = kept;
}

static bool run_file(const char *path, gsize max_mutations, gsize *n_inputs)
{
    g_autofree char *data = NULL;
    g_autoptr(GError) err = NULL;
    gsize n_bytes = 0;
    if (!g_file_get_contents(path, &data, &n_bytes, &err)) {
        fprintf(stderr, "%s\n", err->message);
        return false;
    }
    fprintf(stderr, "%s: %zu bytes\n", path, (size_t)n_bytes);
    run_exact(data, n_bytes);
    gsize all = MIN(n_bytes, MUTATED_BYTES) * VARIANTS, n = MIN(all, max_mutations);
    for (gsize i = 0; i < n; i++)
        run_mutation(data, n_bytes, i * all / n);
    *n_inputs += 1 + n;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted: a failure is the same one each time. (transfer full) */
static GPtrArray *list(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(names, by_name);
    return names;
}

int main(int argc, char **argv)
{
    uint64_t max_mutations = 0;
    if (argc != 3 || !g_ascii_string_to_unsigned(argv[2], 10, 0, G_MAXUINT32, &max_mutations, NULL)) {
        fprintf(stderr, "usage: %s FOLDER MUTATIONS\n", argv[0]);
        return 2;
    }
    g_autoptr(GPtrArray) files = list(argv[1]);
    gsize n_inputs = 0;
    for (guint i = 0; i < files->len; i++)
        if (!run_file(g_ptr_array_index(files, i), (gsize)max_mutations, &n_inputs))
            return 1;
    printf("%u files, %zu inputs\n", files->len, (size_t)n_inputs);
    return files->len > 0 ? 0 : 1;
}
