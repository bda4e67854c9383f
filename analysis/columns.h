/* columns.h - named columns of a book's tables, by the type that the caller expects.
 *
 * A book read from a file may lack tables or columns, or hold them in another
 * type; then these return NULL (or the stated default), and the caller leaves
 * its section out. All pointers are borrowed from the book.
 */
#ifndef FABRICAST_ANALYSIS_COLUMNS_H
#define FABRICAST_ANALYSIS_COLUMNS_H

#include "sim/record.h"

/* NULL when TABLE is NULL or has no rows, no such column, or one of another type. */
const int64_t *columns_i64(const struct record_table *table, const char *name);
const double *columns_f64(const struct record_table *table, const char *name);
const char *const *columns_text(const struct record_table *table, const char *name);

/* Cell ROW of a column that is int64 or double. FALLBACK when the column is absent or text. */
double columns_number(const struct record_table *table, const char *name, int64_t row, double fallback);

/* The table at PATH when it has at least one row, else NULL. */
const struct record_table *columns_table(const struct record_book *book, const char *path);

/* Summary value, or FALLBACK when absent. */
double columns_summary(const struct record_book *book, const char *name, double fallback);

/* The row of the largest cell of an int64 column, -1 if there is none above 0. First of equals. */
int64_t columns_row_of_max(const struct record_table *table, const char *name);

/* All rows by a numeric column, largest first, equal ones in their order; a cell that is no number counts as
 * MISSING. (transfer full) */
int64_t *columns_rank(const struct record_table *table, const char *name, double missing);

/* "leaf0:3 -> spine1" for row ROW of the table "ports", shorter when columns are missing. (transfer full) */
char *columns_port_label(const struct record_table *ports, int64_t row);

/* Row of the table "ports" by value of its column "port"; -1 if there is none. O(1) after the first use. */
struct columns_port_index;
struct columns_port_index *columns_port_index_new(const struct record_book *book);
void columns_port_index_free(struct columns_port_index *index); /* accepts NULL */
int64_t columns_port_row(const struct columns_port_index *index, int64_t port);
/* As columns_port_label; "port 12" for a port that the table does not hold. (transfer full) */
char *columns_port_name(const struct columns_port_index *index, int64_t port);

#endif
