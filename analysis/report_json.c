/* report_json.c - results for programs. */
#include "analysis/report.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* JSON is UTF-8; a file name or a scenario text may be anything. */
static void add_text(JsonBuilder *json, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_builder_add_string_value(json, valid);
}

static void set_name(JsonBuilder *json, const char *name)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    json_builder_set_member_name(json, valid);
}

static void set_text(JsonBuilder *json, const char *name, const char *text)
{
    set_name(json, name);
    add_text(json, text);
}

/* Whole numbers are written as such: 64-bit counts stay exact, and 420 does not become 420.0. */
static void add_number(JsonBuilder *json, double value)
{
    if (!isfinite(value))
        json_builder_add_null_value(json);
    else if (floor(value) == value && fabs(value) < 9007199254740992.0)
        json_builder_add_int_value(json, (gint64)value);
    else
        json_builder_add_double_value(json, value);
}

static void add_meta(JsonBuilder *json, const struct record_book *book)
{
    set_name(json, "meta");
    json_builder_begin_object(json);
    for (int i = 0; i < record_meta_n(book); i++) {
        const char *key, *value;
        record_meta_at(book, i, &key, &value);
        set_text(json, key, value);
    }
    json_builder_end_object(json);
}

static void add_summary(JsonBuilder *json, const struct record_book *book)
{
    set_name(json, "summary");
    json_builder_begin_object(json);
    for (int i = 0; i < record_summary_n(book); i++) {
        const char *name, *unit, *doc;
        double value;
        record_summary_at(book, i, &name, &value, &unit, &doc);
        set_name(json, name);
        json_builder_begin_object(json);
        set_name(json, "value");
        add_number(json, value);
        set_text(json, "unit", unit);
        json_builder_end_object(json);
    }
    json_builder_end_object(json);
}

static void add_param(JsonBuilder *json, const struct record_param *row)
{
    set_name(json, row->key);
    json_builder_begin_object(json);
    set_text(json, "value", row->value);
    set_name(json, "base_value");
    add_number(json, row->base_value);
    set_text(json, "unit", row->unit);
    set_text(json, "default", row->def);
    set_text(json, "source", row->source);
    set_text(json, "set_by", row->set_by);
    set_text(json, "origin", row->origin);
    json_builder_end_object(json);
}

/* Rows of a group need not lie side by side in the book; a JSON object must have them together. */
static void add_param_group(JsonBuilder *json, const struct record_book *book, const char *group)
{
    set_name(json, group);
    json_builder_begin_object(json);
    for (int i = 0; i < record_param_n(book); i++)
        if (strcmp(record_param_at(book, i)->group, group) == 0)
            add_param(json, record_param_at(book, i));
    json_builder_end_object(json);
}

static void add_params(JsonBuilder *json, const struct record_book *book)
{
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    set_name(json, "params");
    json_builder_begin_object(json);
    for (int i = 0; i < record_param_n(book); i++) {
        char *group = record_param_at(book, i)->group;
        if (g_hash_table_add(done, group))
            add_param_group(json, book, group);
    }
    json_builder_end_object(json);
}

static void add_cell(JsonBuilder *json, const struct record_table *table, int column, int64_t row)
{
    switch (record_table_spec(table, column)->type) {
    case RECORD_I64:
        json_builder_add_int_value(json, record_column_i64(table, column)[row]);
        break;
    case RECORD_F64:
        add_number(json, record_column_f64(table, column)[row]);
        break;
    case RECORD_TEXT:
        add_text(json, record_column_text(table, column)[row]);
        break;
    }
}

static void add_column(JsonBuilder *json, const struct record_table *table, int column)
{
    const struct record_column_spec *spec = record_table_spec(table, column);
    set_name(json, spec->name);
    json_builder_begin_object(json);
    set_text(json, "unit", spec->unit);
    set_name(json, "values");
    json_builder_begin_array(json);
    for (int64_t r = 0; r < record_table_n_rows(table); r++)
        add_cell(json, table, column, r);
    json_builder_end_array(json);
    json_builder_end_object(json);
}

static void add_table(JsonBuilder *json, const struct record_table *table)
{
    set_name(json, record_table_path(table));
    json_builder_begin_object(json);
    set_text(json, "doc", record_table_doc(table));
    set_name(json, "n_rows");
    json_builder_add_int_value(json, record_table_n_rows(table));
    set_name(json, "columns");
    json_builder_begin_object(json);
    for (int c = 0; c < record_table_n_columns(table); c++)
        add_column(json, table, c);
    json_builder_end_object(json);
    json_builder_end_object(json);
}

static void add_tables(JsonBuilder *json, const struct record_book *book)
{
    set_name(json, "tables");
    json_builder_begin_object(json);
    for (int i = 0; i < record_table_n(book); i++) {
        const struct record_table *table = record_table_at(book, i);
        const char *path = record_table_path(table);
        if (!g_str_has_prefix(path, "series/") && !g_str_has_prefix(path, "events/"))
            add_table(json, table);
    }
    json_builder_end_object(json);
}

void report_json(const struct record_book *book, FILE *out, bool with_tables)
{
    g_autoptr(JsonBuilder) json = json_builder_new();
    json_builder_begin_object(json);
    add_meta(json, book);
    add_summary(json, book);
    add_params(json, book);
    if (with_tables)
        add_tables(json, book);
    json_builder_end_object(json);
    g_autoptr(JsonNode) root = json_builder_get_root(json);
    g_autofree char *text = json_to_string(root, TRUE);
    fprintf(out, "%s\n", text);
}
