/* fuzz_topo_edges.c - topology files read by topologies/import_edges.c. */
#include "fuzz_fabric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_import(fabric_import_edges, data, n_bytes);
    return 0;
}
