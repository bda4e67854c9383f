/* store_read.c - the HDF5 part of a results file, reading.
 *
 * The seal has been checked before, so the bytes are those that a writer wrote;
 * the checks here are for a file of another program or version of ours.
 */
#include "analysis/store_priv.h"

#include <math.h>
#include <string.h>

#define GROUP_DEPTH_MAX 8

/* ---- names ---------------------------------------------------------------- */

static int64_t n_links(hid_t group)
{
    H5G_info_t info;
    return H5Gget_info(group, &info) < 0 ? -1 : (int64_t)info.nlinks;
}

/* Name of link I in the order of creation; NULL on failure. (transfer full) */
static char *link_name(hid_t group, int64_t i)
{
    ssize_t length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, (hsize_t)i, NULL, 0, H5P_DEFAULT);
    if (length < 0)
        return NULL;
    char *name = g_malloc((gsize)length + 1);
    if (H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, (hsize_t)i, name, (size_t)length + 1,
                           H5P_DEFAULT) >= 0)
        return name;
    g_free(name);
    return NULL;
}

/* Calls VISIT for every object of GROUP with its name and open handle, until one fails. */
typedef bool (*visit_func)(hid_t object, const char *name, void *data, GError **err);

static bool for_each_link(hid_t group, visit_func visit, void *data, GError **err)
{
    int64_t n = n_links(group);
    for (int64_t i = 0; i < n; i++) {
        g_autofree char *name = link_name(group, i);
        g_auto(store_hid) object = name ? H5Oopen(group, name, H5P_DEFAULT) : H5I_INVALID_HID;
        if (object < 0)
            return store_fail(err, STORE_ERROR_FORMAT, "cannot open object '%s'", name ? name : "?");
        if (!visit(object, name, data, err))
            return false;
    }
    return n >= 0 || store_fail(err, STORE_ERROR_FORMAT, "cannot list a group");
}

/* ---- scalars -------------------------------------------------------------- */

static char *take_hdf5_text(char *text)
{
    char *copy = g_strdup(text ? text : "");
    H5free_memory(text);
    return copy;
}

static bool is_scalar_text(hid_t type, hid_t space)
{
    return type >= 0 && space >= 0 && H5Tis_variable_str(type) > 0 &&
           H5Sget_simple_extent_npoints(space) == 1;
}

/* (transfer full), NULL with ERR set. */
static char *read_attribute_text(hid_t attribute, const char *name, GError **err)
{
    g_auto(store_hid) type = H5Aget_type(attribute);
    g_auto(store_hid) space = H5Aget_space(attribute);
    char *text = NULL;
    if (is_scalar_text(type, space) && H5Aread(attribute, type, &text) >= 0)
        return take_hdf5_text(text);
    store_fail(err, STORE_ERROR_FORMAT, "attribute '%s' is not a text", name);
    return NULL;
}

static char *read_text_attribute(hid_t object, const char *name, GError **err)
{
    g_auto(store_hid) attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute >= 0)
        return read_attribute_text(attribute, name, err);
    store_fail(err, STORE_ERROR_FORMAT, "attribute '%s' is missing", name);
    return NULL;
}

static char *read_scalar_text(hid_t set, const char *name, GError **err)
{
    g_auto(store_hid) type = H5Dget_type(set);
    g_auto(store_hid) space = H5Dget_space(set);
    char *text = NULL;
    if (is_scalar_text(type, space) && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0)
        return take_hdf5_text(text);
    store_fail(err, STORE_ERROR_FORMAT, "'%s' is not a text", name);
    return NULL;
}

static bool read_version(hid_t file, GError **err)
{
    int64_t version = 0;
    g_auto(store_hid) attribute = H5Aopen(file, "schema_version", H5P_DEFAULT);
    if (attribute < 0 || H5Aread(attribute, H5T_NATIVE_INT64, &version) < 0)
        return store_fail(err, STORE_ERROR_FORMAT, "has no attribute 'schema_version'");
    if (version != STORE_SCHEMA_VERSION)
        return store_fail(err, STORE_ERROR_VERSION,
                          "has schema version %" G_GINT64_FORMAT "; this program reads version %d", version,
                          STORE_SCHEMA_VERSION);
    return true;
}

/* ---- meta ----------------------------------------------------------------- */

static char *attribute_name(hid_t attribute)
{
    ssize_t length = H5Aget_name(attribute, 0, NULL);
    if (length < 0)
        return NULL;
    char *name = g_malloc0((gsize)length + 1);
    H5Aget_name(attribute, (size_t)length + 1, name);
    return name;
}

static bool read_meta_attributes(hid_t group, struct record_book *book, GError **err)
{
    H5O_info_t info;
    if (H5Oget_info2(group, &info, H5O_INFO_NUM_ATTRS) < 0)
        return store_fail(err, STORE_ERROR_FORMAT, "cannot list /meta");
    for (hsize_t i = 0; i < info.num_attrs; i++) {
        g_auto(store_hid) attribute =
            H5Aopen_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT);
        g_autofree char *key = attribute < 0 ? NULL : attribute_name(attribute);
        if (!key)
            return store_fail(err, STORE_ERROR_FORMAT, "cannot read /meta");
        g_autofree char *value = read_attribute_text(attribute, key, err);
        if (!value)
            return false;
        record_meta_set(book, key, value);
    }
    return true;
}

static bool read_long_text(hid_t object, const char *name, void *data, GError **err)
{
    g_autofree char *value = read_scalar_text(object, name, err);
    if (value)
        record_meta_set(data, name, value);
    return value != NULL;
}

static bool read_meta(hid_t file, struct record_book *book, GError **err)
{
    g_auto(store_hid) group = H5Gopen2(file, "meta", H5P_DEFAULT);
    if (group < 0)
        return store_fail(err, STORE_ERROR_FORMAT, "has no group /meta");
    return read_meta_attributes(group, book, err) && for_each_link(group, read_long_text, book, err);
}

/* ---- params --------------------------------------------------------------- */

struct params_reader {
    struct record_book *book;
    const char *group;
};

static bool read_param_base(hid_t set, const char *name, double *base, GError **err)
{
    g_auto(store_hid) type = H5Dget_type(set);
    g_auto(store_hid) space = H5Dget_space(set);
    *base = NAN;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING)
        return true;
    if (type < 0 || space < 0 || H5Sget_simple_extent_npoints(space) != 1 ||
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, base) < 0)
        return store_fail(err, STORE_ERROR_FORMAT, "parameter '%s' is neither a number nor a text", name);
    return true;
}

static bool read_param(hid_t set, const char *key, void *data, GError **err)
{
    struct params_reader *reader = data;
    struct record_param row = {.group = (char *)reader->group, .key = (char *)key};
    static const char *const names[] = {"unit", "text", "default", "source", "set_by", "origin"};
    char **const fields[] = {&row.unit, &row.value, &row.def, &row.source, &row.set_by, &row.origin};
    bool ok = read_param_base(set, key, &row.base_value, err);
    for (gsize i = 0; ok && i < G_N_ELEMENTS(names); i++)
        ok = (*fields[i] = read_text_attribute(set, names[i], err)) != NULL;
    if (ok)
        record_param_add(reader->book, &row);
    for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
        g_free(*fields[i]);
    return ok;
}

static bool read_param_group(hid_t group, const char *name, void *data, GError **err)
{
    g_autofree char *section = g_strdelimit(g_strdup(name), ">", '/');
    struct params_reader reader = {data, section};
    if (for_each_link(group, read_param, &reader, err))
        return true;
    g_prefix_error(err, "/params/%s: ", name);
    return false;
}

static bool read_params(hid_t file, struct record_book *book, GError **err)
{
    g_auto(store_hid) group = H5Gopen2(file, "params", H5P_DEFAULT);
    if (group < 0)
        return store_fail(err, STORE_ERROR_FORMAT, "has no group /params");
    return for_each_link(group, read_param_group, book, err);
}

/* ---- columns -------------------------------------------------------------- */

struct column {
    struct record_column_spec spec; /* texts owned */
    int64_t n_rows;
    void *cells; /* what record_append_columns takes */
    char *bytes; /* the texts that CELLS points to */
};

static void column_clear(gpointer data)
{
    struct column *column = data;
    g_free((char *)column->spec.name);
    g_free((char *)column->spec.unit);
    g_free((char *)column->spec.doc);
    g_free(column->cells);
    g_free(column->bytes);
}

static bool read_numbers(hid_t set, struct column *column)
{
    hid_t memory = column->spec.type == RECORD_I64 ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    column->cells = g_try_malloc_n((gsize)column->n_rows, sizeof(int64_t));
    return column->cells && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, column->cells) >= 0;
}

static bool read_texts(hid_t set, hid_t type, struct column *column)
{
    size_t width = H5Tget_size(type) + 1; /* room for the NUL that the file does not hold */
    g_auto(store_hid) memory = H5Tcopy(type);
    if (memory < 0 || H5Tset_size(memory, width) < 0 || H5Tset_strpad(memory, H5T_STR_NULLTERM) < 0)
        return false;
    column->bytes = g_try_malloc_n((gsize)column->n_rows, width);
    const char **texts = column->cells = g_try_malloc_n((gsize)column->n_rows, sizeof *texts);
    if (!column->bytes || !texts || H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, column->bytes) < 0)
        return false;
    for (int64_t r = 0; r < column->n_rows; r++)
        texts[r] = column->bytes + (size_t)r * width;
    return true;
}

static bool column_type_of(hid_t type, enum record_type *out)
{
    H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    *out = kind == H5T_INTEGER ? RECORD_I64 : kind == H5T_FLOAT ? RECORD_F64 : RECORD_TEXT;
    return kind == H5T_INTEGER || kind == H5T_FLOAT || (kind == H5T_STRING && H5Tis_variable_str(type) == 0);
}

/* Fills COLUMN, whose name is set. */
static bool read_column(hid_t set, struct column *column, GError **err)
{
    g_auto(store_hid) type = H5Dget_type(set);
    g_auto(store_hid) space = H5Dget_space(set);
    if (!column_type_of(type, &column->spec.type) || space < 0 || H5Sget_simple_extent_ndims(space) != 1)
        return store_fail(err, STORE_ERROR_FORMAT, "column '%s' is not one of numbers or fixed-size texts",
                          column->spec.name);
    column->n_rows = H5Sget_simple_extent_npoints(space);
    if (!(column->spec.unit = read_text_attribute(set, "unit", err)) ||
        !(column->spec.doc = read_text_attribute(set, "doc", err)))
        return false;
    if (column->n_rows == 0 ||
        (column->spec.type == RECORD_TEXT ? read_texts(set, type, column) : read_numbers(set, column)))
        return true;
    return store_fail(err, STORE_ERROR_FORMAT, "cannot read column '%s'", column->spec.name);
}

/* ---- tables --------------------------------------------------------------- */

struct tables_reader {
    struct record_book *book;
    const char *path; /* of the group that is being read */
    int depth;
    GArray *columns; /* struct column, of the group that is being read */
};

static bool add_table(hid_t group, const struct tables_reader *reader, GError **err)
{
    guint n = reader->columns->len;
    g_autofree char *doc = read_text_attribute(group, "doc", err);
    g_autofree struct record_column_spec *specs = g_new(struct record_column_spec, n);
    g_autofree const void **cells = g_new(const void *, n);
    if (!doc)
        return false;
    for (guint c = 0; c < n; c++) {
        const struct column *column = &g_array_index(reader->columns, struct column, c);
        specs[c] = column->spec;
        cells[c] = column->cells;
        if (column->n_rows != g_array_index(reader->columns, struct column, 0).n_rows)
            return store_fail(err, STORE_ERROR_FORMAT, "column '%s' is not as long as the first one",
                              specs[c].name);
    }
    struct record_table *table = record_table_add(reader->book, reader->path, doc, specs, (int)n);
    record_append_columns(table, g_array_index(reader->columns, struct column, 0).n_rows, cells);
    return true;
}

static bool read_tables(hid_t group, struct record_book *book, const char *path, int depth, GError **err);

static bool read_below(hid_t object, const char *name, void *data, GError **err)
{
    struct tables_reader *reader = data;
    if (H5Iget_type(object) == H5I_DATASET) {
        struct column column = {.spec.name = g_strdup(name)};
        bool ok = read_column(object, &column, err);
        g_array_append_val(reader->columns, column); /* owns its parts from here */
        return ok;
    }
    g_autofree char *path = g_strconcat(reader->path, "/", name, NULL);
    return read_tables(object, reader->book, path, reader->depth + 1, err);
}

/* Every group that holds datasets is a table; groups below it are looked into as well. */
static bool read_tables(hid_t group, struct record_book *book, const char *path, int depth, GError **err)
{
    if (depth > GROUP_DEPTH_MAX)
        return store_fail(err, STORE_ERROR_FORMAT, "/%s: groups lie too deep", path);
    struct tables_reader reader = {book, path, depth, g_array_new(FALSE, FALSE, sizeof(struct column))};
    g_array_set_clear_func(reader.columns, column_clear);
    bool ok = for_each_link(group, read_below, &reader, err);
    if (ok && reader.columns->len > 0)
        ok = add_table(group, &reader, err);
    if (!ok)
        g_prefix_error(err, "/%s: ", path);
    g_array_free(reader.columns, TRUE);
    return ok;
}

/* ---- summary -------------------------------------------------------------- */

/* The summary is a table in the file, but not in a book. */
static bool read_summary(hid_t file, struct record_book *book, GError **err)
{
    g_auto(store_hid) group = H5Gopen2(file, "summary", H5P_DEFAULT);
    struct record_book *scratch = record_book_new();
    bool ok = group >= 0 ? read_tables(group, scratch, "summary", 1, err)
                         : store_fail(err, STORE_ERROR_FORMAT, "has no group /summary");
    const struct record_table *table = ok ? record_table_get(scratch, "summary") : NULL;
    static const enum record_type types[] = {RECORD_TEXT, RECORD_F64, RECORD_TEXT, RECORD_TEXT};
    ok = ok && table && record_table_n_columns(table) >= (int)G_N_ELEMENTS(types);
    for (int c = 0; ok && c < (int)G_N_ELEMENTS(types); c++)
        ok = record_table_spec(table, c)->type == types[c];
    for (int64_t r = 0; ok && r < record_table_n_rows(table); r++)
        record_summary_set(book, record_column_text(table, 0)[r], record_column_f64(table, 1)[r],
                           record_column_text(table, 2)[r], record_column_text(table, 3)[r]);
    record_book_free(scratch);
    if (!ok && err && !*err)
        store_fail(err, STORE_ERROR_FORMAT, "/summary has other columns than name, value, unit, doc");
    return ok;
}

static bool read_top(hid_t object, const char *name, void *data, GError **err)
{
    static const char *const others[] = {"meta", "params", "summary", NULL};
    if (g_strv_contains(others, name))
        return true;
    if (H5Iget_type(object) != H5I_GROUP)
        return store_fail(err, STORE_ERROR_FORMAT, "/%s is not a group", name);
    return read_tables(object, data, name, 1, err);
}

bool store_read_book(hid_t file, struct record_book *book, GError **err)
{
    return read_version(file, err) && read_meta(file, book, err) && read_params(file, book, err) &&
           read_summary(file, book, err) && for_each_link(file, read_top, book, err);
}
