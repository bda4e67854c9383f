/* columns.c - see columns.h. */
#include "analysis/columns.h"

#include <math.h>
#include <stdlib.h>

static int find(const struct record_table *table, const char *name, enum record_type type)
{
    if (!table || record_table_n_rows(table) == 0)
        return -1;
    int column = record_table_column(table, name);
    return column >= 0 && record_table_spec(table, column)->type == type ? column : -1;
}

const int64_t *columns_i64(const struct record_table *table, const char *name)
{
    int column = find(table, name, RECORD_I64);
    return column < 0 ? NULL : record_column_i64(table, column);
}

const double *columns_f64(const struct record_table *table, const char *name)
{
    int column = find(table, name, RECORD_F64);
    return column < 0 ? NULL : record_column_f64(table, column);
}

const char *const *columns_text(const struct record_table *table, const char *name)
{
    int column = find(table, name, RECORD_TEXT);
    return column < 0 ? NULL : record_column_text(table, column);
}

double columns_number(const struct record_table *table, const char *name, int64_t row, double fallback)
{
    const int64_t *whole = columns_i64(table, name);
    if (whole)
        return (double)whole[row];
    const double *real = columns_f64(table, name);
    return real ? real[row] : fallback;
}

const struct record_table *columns_table(const struct record_book *book, const char *path)
{
    const struct record_table *table = record_table_get(book, path);
    return table && record_table_n_rows(table) > 0 ? table : NULL;
}

double columns_summary(const struct record_book *book, const char *name, double fallback)
{
    double value = fallback;
    return record_summary_get(book, name, &value) ? value : fallback;
}

int64_t columns_row_of_max(const struct record_table *table, const char *name)
{
    const int64_t *values = columns_i64(table, name);
    int64_t best = -1;
    for (int64_t r = 0; values && r < record_table_n_rows(table); r++)
        if (values[r] > (best < 0 ? 0 : values[best]))
            best = r;
    return best;
}

struct ranked {
    int64_t row;
    double key;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

int64_t *columns_rank(const struct record_table *table, const char *name, double missing)
{
    int64_t n = record_table_n_rows(table);
    g_autofree struct ranked *ranked = g_new(struct ranked, (gsize)MAX(n, 1));
    int64_t *rows = g_new(int64_t, (gsize)MAX(n, 1));
    for (int64_t r = 0; r < n; r++) {
        double key = columns_number(table, name, r, missing);
        ranked[r] = (struct ranked){r, isnan(key) ? missing : key};
    }
    qsort(ranked, (size_t)n, sizeof *ranked, compare_ranked);
    for (int64_t r = 0; r < n; r++)
        rows[r] = ranked[r].row;
    return rows;
}

/* ---- ports ---------------------------------------------------------------- */

char *columns_port_label(const struct record_table *ports, int64_t row)
{
    const char *const *node = columns_text(ports, "node"), *const *peer = columns_text(ports, "peer");
    const int64_t *number = columns_i64(ports, "port_on_node"), *port = columns_i64(ports, "port");
    GString *label = g_string_new(NULL);
    if (node)
        g_string_append(label, node[row]);
    else
        g_string_append_printf(label, "port %" G_GINT64_FORMAT, port ? port[row] : row);
    if (node && number)
        g_string_append_printf(label, ":%" G_GINT64_FORMAT, number[row]);
    if (peer && peer[row][0])
        g_string_append_printf(label, " -> %s", peer[row]);
    return g_string_free(label, FALSE);
}

struct columns_port_index {
    const struct record_table *ports; /* NULL when the book has none */
    GHashTable *row_of;               /* int64 (borrowed from the column) -> row + 1 */
};

struct columns_port_index *columns_port_index_new(const struct record_book *book)
{
    struct columns_port_index *index = g_new0(struct columns_port_index, 1);
    index->ports = columns_table(book, "ports");
    index->row_of = g_hash_table_new(g_int64_hash, g_int64_equal);
    const int64_t *port = columns_i64(index->ports, "port");
    for (int64_t r = 0; port && r < record_table_n_rows(index->ports); r++)
        g_hash_table_insert(index->row_of, (gpointer)&port[r], GSIZE_TO_POINTER((gsize)r + 1));
    return index;
}

void columns_port_index_free(struct columns_port_index *index)
{
    if (!index)
        return;
    g_hash_table_destroy(index->row_of);
    g_free(index);
}

int64_t columns_port_row(const struct columns_port_index *index, int64_t port)
{
    return (int64_t)GPOINTER_TO_SIZE(g_hash_table_lookup(index->row_of, &port)) - 1;
}

char *columns_port_name(const struct columns_port_index *index, int64_t port)
{
    int64_t row = columns_port_row(index, port);
    return row >= 0 ? columns_port_label(index->ports, row) : g_strdup_printf("port %" G_GINT64_FORMAT, port);
}
