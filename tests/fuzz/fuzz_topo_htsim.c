/* fuzz_topo_htsim.c - topology files read by topologies/import_htsim.c.
 *
 * A few words of such a file can ask for millions of links, which is legal and takes its time: inputs that may
 * do so are left out.
 */
#include "fuzz_fabric.h"

#include <string.h>

#define MAX_LINKS 100000

/* The greatest number that stands after KEY, 0 if none does. */
static int64_t greatest(char **words, const char *key)
{
    int64_t most = 0, value = 0;
    for (char **word = words; *word && word[1]; word++)
        if (g_ascii_strcasecmp(*word, key) == 0 && units_parse_int(word[1], &value, NULL))
            most = MAX(most, value);
    return most;
}

static bool may_be_large(const uint8_t *data, size_t n_bytes)
{
    g_autofree char *text = g_strndup((const char *)data, n_bytes);
    g_auto(GStrv) words = g_strsplit_set(text, " \t\r\n", -1);
    char **to = words; /* without empty words */
    for (char **from = words; *from; from++) {
        if (**from)
            *to++ = *from;
        else
            g_free(*from);
    }
    *to = NULL;
    int64_t nodes = greatest(words, "Nodes"), up = greatest(words, "Radix_Up");
    if (nodes > FABRIC_MAX_NODES || up > FABRIC_MAX_PORTS_PER_NODE)
        return false; /* an error, at once */
    return nodes > MAX_LINKS || nodes * up > MAX_LINKS || nodes * up * up > MAX_LINKS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    if (!may_be_large(data, n_bytes))
        fuzz_import(fabric_import_htsim, data, n_bytes);
    return 0;
}
