/* store_write.c - the HDF5 part of a results file, writing. */
#include "analysis/store_priv.h"

#include <math.h>
#include <string.h>

/* Longer texts, and those of several lines, are datasets: attributes are listed whole by every tool. */
#define META_ATTRIBUTE_MAX 256
#define CHUNK_ROWS_MAX     16384
#define CHUNK_BYTES_MAX    (1 << 20)
#define DEFLATE_LEVEL      4
/* Whole doubles up to here have one int64 each. */
#define WHOLE_DOUBLE_MAX 9007199254740992.0

/* ---- names and handles ---------------------------------------------------- */

/* A link name: HDF5 splits at '/' and takes "." for the group itself. */
static bool check_name(const char *name, const char *what, GError **err)
{
    if (name[0] && !strchr(name, '/') && strcmp(name, ".") != 0)
        return true;
    g_set_error(err, STORE_ERROR, STORE_ERROR_BOOK, "%s '%s': an empty name, '.' or '/' cannot be stored",
                what, name);
    return false;
}

static hid_t utf8_type(size_t bytes)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, bytes) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

static hid_t create_group(hid_t parent, const char *name)
{
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    g_auto(store_hid) plist = H5Pcreate(H5P_GROUP_CREATE);
    if (plist < 0 || H5Pset_link_creation_order(plist, order) < 0 ||
        H5Pset_attr_creation_order(plist, order) < 0 || H5Pset_obj_track_times(plist, 0) < 0)
        return H5I_INVALID_HID;
    return H5Gcreate2(parent, name, H5P_DEFAULT, plist, H5P_DEFAULT);
}

/* The group NAME of PARENT, made if it is not there. */
static hid_t need_group(hid_t parent, const char *name)
{
    htri_t there = H5Lexists(parent, name, H5P_DEFAULT);
    if (there < 0)
        return H5I_INVALID_HID;
    return there ? H5Gopen2(parent, name, H5P_DEFAULT) : create_group(parent, name);
}

/* ---- scalars -------------------------------------------------------------- */

static bool write_attribute(hid_t object, const char *name, hid_t type, const void *value, GError **err)
{
    g_auto(store_hid) space = H5Screate(H5S_SCALAR);
    g_auto(store_hid) attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, type, value) < 0)
        return store_fail(err, STORE_ERROR_IO, "cannot write attribute '%s'", name);
    return true;
}

static bool write_text_attribute(hid_t object, const char *name, const char *text, GError **err)
{
    g_auto(store_hid) type = utf8_type(H5T_VARIABLE);
    return write_attribute(object, name, type, &text, err);
}

static hid_t write_scalar(hid_t parent, const char *name, hid_t type, const void *value)
{
    g_auto(store_hid) space = H5Screate(H5S_SCALAR);
    g_auto(store_hid) plist = H5Pcreate(H5P_DATASET_CREATE);
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    if (plist < 0 || H5Pset_obj_track_times(plist, 0) < 0 || H5Pset_attr_creation_order(plist, order) < 0)
        return H5I_INVALID_HID;
    hid_t set = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    if (set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0) {
        H5Dclose(set);
        return H5I_INVALID_HID;
    }
    return set;
}

/* ---- meta ----------------------------------------------------------------- */

static bool write_long_text(hid_t group, const char *key, const char *text, GError **err)
{
    if (!check_name(key, "meta", err))
        return false;
    g_auto(store_hid) type = utf8_type(H5T_VARIABLE);
    g_auto(store_hid) set = write_scalar(group, key, type, &text);
    return set >= 0 || store_fail(err, STORE_ERROR_IO, "cannot write meta '%s'", key);
}

static bool write_meta(hid_t file, const struct record_book *book, GError **err)
{
    g_auto(store_hid) group = create_group(file, "meta");
    if (group < 0)
        return store_fail(err, STORE_ERROR_IO, "cannot create /meta");
    for (int i = 0; i < record_meta_n(book); i++) {
        const char *key, *value;
        record_meta_at(book, i, &key, &value);
        bool is_long = strlen(value) > META_ATTRIBUTE_MAX || strchr(value, '\n');
        if (is_long ? !write_long_text(group, key, value, err)
                    : !check_name(key, "meta", err) || !write_text_attribute(group, key, value, err))
            return false;
    }
    return true;
}

/* ---- params --------------------------------------------------------------- */

/* Times, sizes, rates and lengths are whole numbers of their base unit by definition. */
static bool is_whole(const struct record_param *row)
{
    return row->unit[0] && strcmp(row->unit, "1") != 0 && fabs(row->base_value) <= WHOLE_DOUBLE_MAX &&
           floor(row->base_value) == row->base_value;
}

static hid_t write_param_value(hid_t group, const struct record_param *row)
{
    if (isnan(row->base_value)) {
        g_auto(store_hid) type = utf8_type(H5T_VARIABLE);
        const char *text = row->value;
        return write_scalar(group, row->key, type, &text);
    }
    if (!is_whole(row))
        return write_scalar(group, row->key, H5T_NATIVE_DOUBLE, &row->base_value);
    int64_t whole = (int64_t)row->base_value;
    return write_scalar(group, row->key, H5T_NATIVE_INT64, &whole);
}

/* A '/' of "pfc:leaf0/spine1" would make a group within a group: '>' stands for it, so no name may hold one. */
static char *param_group_name(const char *group, GError **err)
{
    g_autofree char *name = g_strdelimit(g_strdup(group), "/", '>');
    if (strchr(group, '>')) {
        g_set_error(err, STORE_ERROR, STORE_ERROR_BOOK, "parameter group '%s': a '>' cannot be stored", group);
        return NULL;
    }
    return check_name(name, "parameter group", err) ? g_steal_pointer(&name) : NULL;
}

static bool write_param(hid_t params, const struct record_param *row, GError **err)
{
    g_autofree char *name = param_group_name(row->group, err);
    if (!name || !check_name(row->key, "parameter", err))
        return false;
    g_auto(store_hid) group = need_group(params, name);
    g_auto(store_hid) set = group < 0 ? H5I_INVALID_HID : write_param_value(group, row);
    if (set < 0)
        return store_fail(err, STORE_ERROR_IO, "cannot write parameter %s.%s", row->group, row->key);
    return write_text_attribute(set, "unit", row->unit, err) &&
           write_text_attribute(set, "text", row->value, err) &&
           write_text_attribute(set, "default", row->def, err) &&
           write_text_attribute(set, "source", row->source, err) &&
           write_text_attribute(set, "set_by", row->set_by, err) &&
           write_text_attribute(set, "origin", row->origin, err);
}

static bool write_params(hid_t file, const struct record_book *book, GError **err)
{
    g_auto(store_hid) params = create_group(file, "params");
    if (params < 0)
        return store_fail(err, STORE_ERROR_IO, "cannot create /params");
    for (int i = 0; i < record_param_n(book); i++)
        if (!write_param(params, record_param_at(book, i), err))
            return false;
    return true;
}

/* ---- tables --------------------------------------------------------------- */

static size_t longest_text(const char *const *texts, int64_t n)
{
    size_t longest = 1; /* HDF5 has no string of size 0 */
    for (int64_t r = 0; r < n; r++)
        longest = MAX(longest, strlen(texts[r]));
    return longest;
}

static hid_t column_type(const struct record_table *table, int column)
{
    switch (record_table_spec(table, column)->type) {
    case RECORD_I64:
        return H5Tcopy(H5T_NATIVE_INT64);
    case RECORD_F64:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case RECORD_TEXT:
        break;
    }
    /* fixed size, NUL-padded: compresses well, where variable-length strings lie in an uncompressed heap */
    hid_t type = utf8_type(longest_text(record_column_text(table, column), record_table_n_rows(table)));
    if (type >= 0)
        H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

static hid_t create_column(hid_t group, const char *name, hid_t type, int64_t n_rows)
{
    const hsize_t rows = (hsize_t)n_rows, unlimited = H5S_UNLIMITED;
    size_t fit = CHUNK_BYTES_MAX / H5Tget_size(type);
    hsize_t chunk = CLAMP(rows, 1, MAX(1, MIN(CHUNK_ROWS_MAX, fit)));
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    g_auto(store_hid) space = H5Screate_simple(1, &rows, &unlimited);
    g_auto(store_hid) plist = H5Pcreate(H5P_DATASET_CREATE);
    if (plist < 0 || H5Pset_chunk(plist, 1, &chunk) < 0 || H5Pset_shuffle(plist) < 0 ||
        H5Pset_deflate(plist, DEFLATE_LEVEL) < 0 || H5Pset_obj_track_times(plist, 0) < 0 ||
        H5Pset_attr_creation_order(plist, order) < 0)
        return H5I_INVALID_HID;
    return H5Dcreate2(group, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
}

static bool write_texts(hid_t set, hid_t type, const char *const *texts, int64_t n)
{
    size_t width = H5Tget_size(type);
    g_autofree char *packed = g_try_malloc0_n((gsize)n, width);
    if (!packed)
        return false;
    for (int64_t r = 0; r < n; r++)
        memcpy(packed + (size_t)r * width, texts[r], strlen(texts[r])); /* width is the longest */
    return H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) >= 0;
}

static bool write_cells(hid_t set, hid_t type, const struct record_table *table, int column)
{
    int64_t n = record_table_n_rows(table);
    if (n == 0)
        return true;
    switch (record_table_spec(table, column)->type) {
    case RECORD_I64:
        return H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, record_column_i64(table, column)) >= 0;
    case RECORD_F64:
        return H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, record_column_f64(table, column)) >= 0;
    case RECORD_TEXT:
        break;
    }
    return write_texts(set, type, record_column_text(table, column), n);
}

static bool write_column(hid_t group, const struct record_table *table, int column, GError **err)
{
    const struct record_column_spec *spec = record_table_spec(table, column);
    if (!check_name(spec->name, "column", err))
        return false;
    g_auto(store_hid) type = column_type(table, column);
    g_auto(store_hid) set =
        type < 0 ? H5I_INVALID_HID : create_column(group, spec->name, type, record_table_n_rows(table));
    if (set < 0 || !write_cells(set, type, table, column))
        return store_fail(err, STORE_ERROR_IO, "cannot write column '%s' of /%s", spec->name,
                          record_table_path(table));
    return write_text_attribute(set, "unit", spec->unit, err) &&
           write_text_attribute(set, "doc", spec->doc, err);
}

/* PATH has a first name, and not one that the layout uses itself. */
static bool check_path(const char *path, char *const *names, GError **err)
{
    static const char *const reserved[] = {"meta", "params", "summary", NULL};
    if (names[0] && !g_strv_contains(reserved, names[0]))
        return true;
    g_set_error(err, STORE_ERROR, STORE_ERROR_BOOK, "table '%s': the name is empty or reserved", path);
    return false;
}

/* The group of PATH, with the groups above it. */
static hid_t table_group(hid_t file, const char *path, char *const *names, GError **err)
{
    hid_t group = H5Gopen2(file, "/", H5P_DEFAULT);
    for (char *const *name = names; *name && group >= 0; name++) {
        bool ok = check_name(*name, "table", err);
        hid_t below = !ok ? H5I_INVALID_HID : name[1] ? need_group(group, *name) : create_group(group, *name);
        if (ok && below < 0)
            store_fail(err, STORE_ERROR_BOOK, "cannot create table /%s", path);
        H5Gclose(group);
        group = below;
    }
    return group;
}

static bool write_table_in(hid_t group, const struct record_table *table, GError **err)
{
    int64_t n_rows = record_table_n_rows(table);
    if (!write_text_attribute(group, "doc", record_table_doc(table), err) ||
        !write_attribute(group, "n_rows", H5T_NATIVE_INT64, &n_rows, err))
        return false;
    for (int c = 0; c < record_table_n_columns(table); c++)
        if (!write_column(group, table, c, err))
            return false;
    return true;
}

static bool write_table(hid_t file, const struct record_table *table, GError **err)
{
    g_auto(GStrv) names = g_strsplit(record_table_path(table), "/", -1);
    if (!check_path(record_table_path(table), names, err))
        return false;
    g_auto(store_hid) group = table_group(file, record_table_path(table), names, err);
    return group >= 0 && write_table_in(group, table, err);
}

/* ---- summary -------------------------------------------------------------- */

static bool write_summary(hid_t file, const struct record_book *book, GError **err)
{
    static const struct record_column_spec specs[] = {
        {"name", RECORD_TEXT, "name", "Name of the figure."},
        {"value", RECORD_F64, "column unit", "Its value, in the unit that the column 'unit' gives."},
        {"unit", RECORD_TEXT, "name", "Unit of the value."},
        {"doc", RECORD_TEXT, "name", "What it is."},
    };
    struct record_book *scratch = record_book_new();
    struct record_table *table = record_table_add(scratch, "summary", "Figures of the whole run, one a row.",
                                                  specs, G_N_ELEMENTS(specs));
    for (int i = 0; i < record_summary_n(book); i++) {
        const char *name, *unit, *doc;
        double value;
        record_summary_at(book, i, &name, &value, &unit, &doc);
        record_append(table, name, value, unit, doc);
    }
    g_auto(store_hid) group = create_group(file, "summary");
    bool ok = group >= 0 ? write_table_in(group, table, err)
                         : store_fail(err, STORE_ERROR_IO, "cannot create /summary");
    record_book_free(scratch);
    return ok;
}

bool store_write_book(hid_t file, const struct record_book *book, GError **err)
{
    const int64_t version = STORE_SCHEMA_VERSION;
    if (!write_attribute(file, "schema_version", H5T_NATIVE_INT64, &version, err) ||
        !write_text_attribute(file, "generator", "fabricast " FABRICAST_VERSION, err) ||
        !write_meta(file, book, err) || !write_params(file, book, err) || !write_summary(file, book, err))
        return false;
    for (int i = 0; i < record_table_n(book); i++)
        if (!write_table(file, record_table_at(book, i), err))
            return false;
    return true;
}
