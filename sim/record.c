/* record.c - the columns of a run in memory.
 *
 * Texts of a table are interned: a column of node names holds each name once,
 * however many rows repeat it.
 */
#include "sim/record.h"

#include <stdarg.h>
#include <string.h>

struct meta_entry {
    char *key, *value;
};

struct summary_entry {
    char *name, *unit, *doc;
    double value;
};

union column_data {
    int64_t *i64;
    double *f64;
    const char **text;
    void *any;
};

struct record_table {
    char *path, *doc;
    int n_columns;
    struct record_column_spec *specs;
    union column_data *data; /* one array of CAPACITY cells a column */
    int64_t n_rows, capacity;
    GStringChunk *texts;
};

struct record_book {
    GPtrArray *meta, *summary, *params, *tables;
};

/* Every cell type has this size, so that one growth rule serves all columns. */
#define CELL_BYTES 8
_Static_assert(sizeof(int64_t) == CELL_BYTES && sizeof(double) == CELL_BYTES && sizeof(char *) == CELL_BYTES,
               "a cell is eight bytes");

/* ---- life ----------------------------------------------------------------- */

static void meta_entry_free(gpointer data)
{
    struct meta_entry *entry = data;
    g_free(entry->key);
    g_free(entry->value);
    g_free(entry);
}

static void summary_entry_free(gpointer data)
{
    struct summary_entry *entry = data;
    g_free(entry->name);
    g_free(entry->unit);
    g_free(entry->doc);
    g_free(entry);
}

static void param_free(gpointer data)
{
    struct record_param *row = data;
    char *texts[] = {row->group, row->key,    row->value,  row->def,
                     row->unit,  row->source, row->set_by, row->origin};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(row);
}

static void table_free(gpointer data)
{
    struct record_table *table = data;
    for (int c = 0; c < table->n_columns; c++)
        g_free(table->data[c].any);
    g_free(table->data);
    g_free(table->specs);
    g_free(table->path);
    g_free(table->doc);
    g_string_chunk_free(table->texts);
    g_free(table);
}

struct record_book *record_book_new(void)
{
    struct record_book *book = g_new0(struct record_book, 1);
    book->meta = g_ptr_array_new_with_free_func(meta_entry_free);
    book->summary = g_ptr_array_new_with_free_func(summary_entry_free);
    book->params = g_ptr_array_new_with_free_func(param_free);
    book->tables = g_ptr_array_new_with_free_func(table_free);
    return book;
}

void record_book_free(struct record_book *book)
{
    if (!book)
        return;
    g_ptr_array_free(book->meta, TRUE);
    g_ptr_array_free(book->summary, TRUE);
    g_ptr_array_free(book->params, TRUE);
    g_ptr_array_free(book->tables, TRUE);
    g_free(book);
}

/* ---- meta ----------------------------------------------------------------- */

static struct meta_entry *meta_find(const struct record_book *book, const char *key)
{
    for (guint i = 0; i < book->meta->len; i++) {
        struct meta_entry *entry = g_ptr_array_index(book->meta, i);
        if (strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

void record_meta_set(struct record_book *book, const char *key, const char *value)
{
    struct meta_entry *entry = meta_find(book, key);
    if (!entry) {
        entry = g_new0(struct meta_entry, 1);
        entry->key = g_strdup(key);
        g_ptr_array_add(book->meta, entry);
    }
    char *copy = g_strdup(value ? value : ""); /* before the free: VALUE may be the old value */
    g_free(entry->value);
    entry->value = copy;
}

const char *record_meta_get(const struct record_book *book, const char *key)
{
    const struct meta_entry *entry = meta_find(book, key);
    return entry ? entry->value : NULL;
}

int record_meta_n(const struct record_book *book)
{
    return (int)book->meta->len;
}

void record_meta_at(const struct record_book *book, int i, const char **key, const char **value)
{
    const struct meta_entry *entry = g_ptr_array_index(book->meta, i);
    *key = entry->key;
    *value = entry->value;
}

/* ---- summary -------------------------------------------------------------- */

static struct summary_entry *summary_find(const struct record_book *book, const char *name)
{
    for (guint i = 0; i < book->summary->len; i++) {
        struct summary_entry *entry = g_ptr_array_index(book->summary, i);
        if (strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

void record_summary_set(struct record_book *book, const char *name, double value, const char *unit,
                        const char *doc)
{
    struct summary_entry *entry = summary_find(book, name);
    if (!entry) {
        entry = g_new0(struct summary_entry, 1);
        entry->name = g_strdup(name);
        g_ptr_array_add(book->summary, entry);
    }
    char *new_unit = g_strdup(unit ? unit : ""), *new_doc = g_strdup(doc ? doc : "");
    g_free(entry->unit);
    g_free(entry->doc);
    entry->value = value;
    entry->unit = new_unit;
    entry->doc = new_doc;
}

bool record_summary_get(const struct record_book *book, const char *name, double *value)
{
    const struct summary_entry *entry = summary_find(book, name);
    if (entry)
        *value = entry->value;
    return entry != NULL;
}

int record_summary_n(const struct record_book *book)
{
    return (int)book->summary->len;
}

void record_summary_at(const struct record_book *book, int i, const char **name, double *value,
                       const char **unit, const char **doc)
{
    const struct summary_entry *entry = g_ptr_array_index(book->summary, i);
    *name = entry->name;
    *value = entry->value;
    *unit = entry->unit;
    *doc = entry->doc;
}

/* ---- params --------------------------------------------------------------- */

static char *text_copy(const char *text)
{
    return g_strdup(text ? text : "");
}

void record_param_add(struct record_book *book, const struct record_param *row)
{
    struct record_param *copy = g_new0(struct record_param, 1);
    *copy = (struct record_param){
        .group = text_copy(row->group),
        .key = text_copy(row->key),
        .value = text_copy(row->value),
        .def = text_copy(row->def),
        .unit = text_copy(row->unit),
        .source = text_copy(row->source),
        .set_by = text_copy(row->set_by),
        .origin = text_copy(row->origin),
        .base_value = row->base_value,
    };
    g_ptr_array_add(book->params, copy);
}

int record_param_n(const struct record_book *book)
{
    return (int)book->params->len;
}

const struct record_param *record_param_at(const struct record_book *book, int i)
{
    return g_ptr_array_index(book->params, i);
}

/* ---- tables --------------------------------------------------------------- */

struct record_table *record_table_add(struct record_book *book, const char *path, const char *doc,
                                      const struct record_column_spec *specs, int n_specs)
{
    g_return_val_if_fail(n_specs > 0 && !record_table_get(book, path), NULL);
    struct record_table *table = g_new0(struct record_table, 1);
    table->path = g_strdup(path);
    table->doc = text_copy(doc);
    table->n_columns = n_specs;
    table->specs = g_new0(struct record_column_spec, (gsize)n_specs);
    table->data = g_new0(union column_data, (gsize)n_specs);
    table->texts = g_string_chunk_new(1024);
    for (int c = 0; c < n_specs; c++) {
        table->specs[c].name = g_string_chunk_insert_const(table->texts, specs[c].name);
        table->specs[c].type = specs[c].type;
        table->specs[c].unit = g_string_chunk_insert_const(table->texts, specs[c].unit ? specs[c].unit : "");
        table->specs[c].doc = g_string_chunk_insert_const(table->texts, specs[c].doc ? specs[c].doc : "");
    }
    g_ptr_array_add(book->tables, table);
    return table;
}

struct record_table *record_table_get(const struct record_book *book, const char *path)
{
    for (guint i = 0; i < book->tables->len; i++) {
        struct record_table *table = g_ptr_array_index(book->tables, i);
        if (strcmp(table->path, path) == 0)
            return table;
    }
    return NULL;
}

int record_table_n(const struct record_book *book)
{
    return (int)book->tables->len;
}

struct record_table *record_table_at(const struct record_book *book, int i)
{
    return g_ptr_array_index(book->tables, i);
}

const char *record_table_path(const struct record_table *table)
{
    return table->path;
}

const char *record_table_doc(const struct record_table *table)
{
    return table->doc;
}

int record_table_n_columns(const struct record_table *table)
{
    return table->n_columns;
}

const struct record_column_spec *record_table_spec(const struct record_table *table, int column)
{
    return &table->specs[column];
}

int record_table_column(const struct record_table *table, const char *name)
{
    for (int c = 0; c < table->n_columns; c++)
        if (strcmp(table->specs[c].name, name) == 0)
            return c;
    return -1;
}

int64_t record_table_n_rows(const struct record_table *table)
{
    return table->n_rows;
}

/* ---- rows ----------------------------------------------------------------- */

static void table_reserve(struct record_table *table, int64_t n_rows)
{
    if (n_rows <= table->capacity)
        return;
    table->capacity = MAX(n_rows, table->capacity ? table->capacity * 2 : 64);
    for (int c = 0; c < table->n_columns; c++)
        table->data[c].any = g_realloc_n(table->data[c].any, (gsize)table->capacity, CELL_BYTES);
}

void record_append(struct record_table *table, ...)
{
    table_reserve(table, table->n_rows + 1);
    va_list args;
    va_start(args, table);
    for (int c = 0; c < table->n_columns; c++) {
        switch (table->specs[c].type) {
        case RECORD_I64:
            table->data[c].i64[table->n_rows] = va_arg(args, int64_t);
            break;
        case RECORD_F64:
            table->data[c].f64[table->n_rows] = va_arg(args, double);
            break;
        case RECORD_TEXT: {
            const char *text = va_arg(args, const char *);
            table->data[c].text[table->n_rows] = g_string_chunk_insert_const(table->texts, text ? text : "");
            break;
        }
        }
    }
    va_end(args);
    table->n_rows++;
}

static void append_texts(struct record_table *table, int column, int64_t n_rows, const char *const *texts)
{
    for (int64_t r = 0; r < n_rows; r++)
        table->data[column].text[table->n_rows + r] =
            g_string_chunk_insert_const(table->texts, texts[r] ? texts[r] : "");
}

void record_append_columns(struct record_table *table, int64_t n_rows, const void *const *columns)
{
    if (n_rows <= 0)
        return;
    table_reserve(table, table->n_rows + n_rows);
    for (int c = 0; c < table->n_columns; c++) {
        if (table->specs[c].type == RECORD_TEXT)
            append_texts(table, c, n_rows, columns[c]);
        else
            memcpy(table->data[c].i64 + table->n_rows, columns[c], (gsize)n_rows * CELL_BYTES);
    }
    table->n_rows += n_rows;
}

const int64_t *record_column_i64(const struct record_table *table, int column)
{
    g_return_val_if_fail(table->specs[column].type == RECORD_I64, NULL);
    return table->data[column].i64;
}

const double *record_column_f64(const struct record_table *table, int column)
{
    g_return_val_if_fail(table->specs[column].type == RECORD_F64, NULL);
    return table->data[column].f64;
}

const char *const *record_column_text(const struct record_table *table, int column)
{
    g_return_val_if_fail(table->specs[column].type == RECORD_TEXT, NULL);
    return table->data[column].text;
}
