/* fuzz_fabric.h - what must hold for a fabric that an importer returned. */
#ifndef FABRICAST_TESTS_FUZZ_FABRIC_H
#define FABRICAST_TESTS_FUZZ_FABRIC_H

#include "fuzz.h"
#include "topologies/fabric_priv.h"

/* Imports N_BYTES of DATA through IMPORT and checks what comes back: an error that names the file, or a fabric that can
 * be checked, shown, drawn and routed over. */
void fuzz_import(struct fabric *(*import)(const char *path, GError **err), const uint8_t *data, size_t n_bytes);

/* Ports [0, N) lead from SRC to DST, each one on the node that the one before reaches. */
void fuzz_check_path(const struct fabric *fabric, const uint32_t *ports, int n, uint32_t src_node, uint32_t dst_node);

#endif
