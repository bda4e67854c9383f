/* record.h - what a run leaves behind, as named columns with units.
 *
 * A record_book is filled after (and, for series, between the windows of) a run
 * and is all that the store, the plots and the reports see; they never see a
 * model's struct. It is also what the store reads back from a file. Not for hot
 * paths: appending may allocate.
 */
#ifndef FABRICAST_SIM_RECORD_H
#define FABRICAST_SIM_RECORD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum record_type { RECORD_I64, RECORD_F64, RECORD_TEXT };

struct record_column_spec {
    const char *name;
    enum record_type type;
    const char *unit; /* "ps", "bytes", "bit/s", "packets", "1" (a count or ratio), "name" for text */
    const char *doc;
};

struct record_table; /* opaque: columns of equal length */
struct record_book;  /* opaque: meta, parameters, summary, tables */

struct record_book *record_book_new(void);
void record_book_free(struct record_book *book); /* accepts NULL */

/* meta: ordered (key, text): version, seed, digest, scenario text, fidelity, status ... Replaces an equal
 * key. */
void record_meta_set(struct record_book *book, const char *key, const char *value);
const char *record_meta_get(const struct record_book *book, const char *key); /* NULL if absent; borrowed */
int record_meta_n(const struct record_book *book);
void record_meta_at(const struct record_book *book, int i, const char **key, const char **value);

/* summary: ordered (name, value, unit, doc). Replaces an equal name. */
void record_summary_set(struct record_book *book, const char *name, double value, const char *unit,
                        const char *doc);
bool record_summary_get(const struct record_book *book, const char *name, double *value);
int record_summary_n(const struct record_book *book);
void record_summary_at(const struct record_book *book, int i, const char **name, double *value,
                       const char **unit, const char **doc);

/* params: ordered rows, all text but base_value (NAN when the value is no number). */
struct record_param {
    char *group, *key, *value, *def, *unit, *source, *set_by, *origin;
    double base_value;
};
void record_param_add(struct record_book *book, const struct record_param *row); /* copies */
int record_param_n(const struct record_book *book);
const struct record_param *record_param_at(const struct record_book *book, int i);

/* tables, by path without leading slash: "flows", "ports", "series/queue", "events/pfc". SPECS is copied. */
struct record_table *record_table_add(struct record_book *book, const char *path, const char *doc,
                                      const struct record_column_spec *specs, int n_specs);
struct record_table *record_table_get(const struct record_book *book, const char *path); /* NULL if absent */
int record_table_n(const struct record_book *book);
struct record_table *record_table_at(const struct record_book *book, int i);

const char *record_table_path(const struct record_table *table);
const char *record_table_doc(const struct record_table *table);
int record_table_n_columns(const struct record_table *table);
const struct record_column_spec *record_table_spec(const struct record_table *table, int column);
int record_table_column(const struct record_table *table, const char *name); /* -1 if absent */
int64_t record_table_n_rows(const struct record_table *table);

/* Appends one row: arguments in column order, int64_t for I64, double for F64, const char * for TEXT
 * (copied). */
void record_append(struct record_table *table, ...);
/* Appends N_ROWS rows from whole columns: COLUMNS[c] is an array of int64_t, double or const char * (copied).
 */
void record_append_columns(struct record_table *table, int64_t n_rows, const void *const *columns);
/* Whole columns, for readers and writers. Arrays are borrowed, valid until the next append. */
const int64_t *record_column_i64(const struct record_table *table, int column);
const double *record_column_f64(const struct record_table *table, int column);
const char *const *record_column_text(const struct record_table *table, int column);

#endif
