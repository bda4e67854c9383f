/* text_table.c - see text_table.h. */
#include "analysis/text_table.h"

#include <glib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define GAP 2 /* blanks between columns */

struct text_table {
    guint n_columns;
    char *align;
    GPtrArray *cells; /* headings first, then row by row */
};

struct text_table *text_table_new(const char *const *headings, const char *align)
{
    struct text_table *table = g_new0(struct text_table, 1);
    table->n_columns = (guint)strlen(align);
    table->align = g_strdup(align);
    table->cells = g_ptr_array_new_with_free_func(g_free);
    for (guint c = 0; c < table->n_columns; c++)
        text_table_add(table, headings[c]);
    return table;
}

void text_table_free(struct text_table *table)
{
    if (!table)
        return;
    g_ptr_array_free(table->cells, TRUE);
    g_free(table->align);
    g_free(table);
}

char *text_table_clean(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *clean = g_string_new(NULL);
    for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        g_string_append_unichar(clean, g_unichar_iscntrl(c) ? '?' : c);
    }
    return g_string_free(clean, FALSE);
}

void text_table_add(struct text_table *table, const char *cell)
{
    g_ptr_array_add(table->cells, text_table_clean(cell));
}

void text_table_take(struct text_table *table, char *cell)
{
    text_table_add(table, cell);
    g_free(cell);
}

void text_table_addf(struct text_table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_table_take(table, g_strdup_vprintf(format, args));
    va_end(args);
}

static int cell_width(const struct text_table *table, guint row, guint column)
{
    return (int)g_utf8_strlen(g_ptr_array_index(table->cells, row * table->n_columns + column), -1);
}

static int column_width(const struct text_table *table, guint column)
{
    int width = 0;
    for (guint row = 0; row < table->cells->len / table->n_columns; row++)
        width = MAX(width, cell_width(table, row, column));
    return width;
}

static void print_row(const struct text_table *table, guint row, const int *widths, int indent, FILE *out)
{
    fprintf(out, "%*s", indent, "");
    for (guint c = 0; c < table->n_columns; c++) {
        const char *cell = g_ptr_array_index(table->cells, row * table->n_columns + c);
        int pad = widths[c] - cell_width(table, row, c);
        bool last = c + 1 == table->n_columns;
        if (table->align[c] == 'r')
            fprintf(out, "%*s%s", pad, "", cell);
        else
            fprintf(out, "%s%*s", cell, last ? 0 : pad, "");
        fprintf(out, "%*s", last ? 0 : GAP, "");
    }
    fputc('\n', out);
}

void text_table_print(const struct text_table *table, int indent, FILE *out)
{
    g_autofree int *widths = g_new(int, table->n_columns);
    for (guint c = 0; c < table->n_columns; c++)
        widths[c] = column_width(table, c);
    for (guint row = 0; row < table->cells->len / table->n_columns; row++)
        print_row(table, row, widths, indent, out);
}
