/* params_priv.h - one value of a group's struct, for sim/params.c and sim/param_bag.c alone. */
#ifndef FABRICAST_SIM_PARAMS_PRIV_H
#define FABRICAST_SIM_PARAMS_PRIV_H

#include "sim/params.h"

/* Parses TEXT and stores it in ROW's member of VALUES; on error (SYNTAX, RANGE) VALUES keeps what it had. */
bool param_store(const struct param_desc *row, void *values, const char *text, GError **err);
/* Stores the default. VALUES holds zeros before. A default that does not parse is a bug and aborts. */
void param_store_default(const struct param_desc *row, void *values);
/* Copies the member; TO holds zeros before. */
void param_copy(const struct param_desc *row, void *to, const void *from);
/* Frees what the member owns. */
void param_clear(const struct param_desc *row, void *values);

#endif
