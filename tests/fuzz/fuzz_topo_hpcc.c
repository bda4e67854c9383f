/* fuzz_topo_hpcc.c - topology files read by topologies/import_hpcc.c. */
#include "fuzz_fabric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_import(fabric_import_hpcc, data, n_bytes);
    return 0;
}
