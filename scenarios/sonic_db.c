/* sonic_db.c - the tables of a SONiC configuration.
 *
 * All values are texts in SONiC's database; numbers and truth values are taken as their text. json-glib keeps the last of two
 * members of one name and follows nesting by recursion: both are caught here.
 */
#include "scenarios/sonic_priv.h"

#include "sim/message.h"
#include "sim/units.h"
#include <string.h>

G_DEFINE_QUARK(fabricast-sonic-error-quark, sonic_error)

#define MAX_DEPTH 64

static const char *const tables_read[] = {
    "PORT", "CABLE_LENGTH", "DEVICE_METADATA", "DEVICE_NEIGHBOR", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "WRED_PROFILE", "QUEUE", "SCHEDULER", "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP",
    "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "PFC_WD",
};

/* ---- messages -------------------------------------------------------------------- */

/* Always false, for return. */
static bool fail_file(const char *name, GError **err, const char *what)
{
    g_set_error(err, SONIC_ERROR, SONIC_ERROR_INPUT, "%s: %s", name, what);
    return false;
}

static char *bare_quote(const char *text)
{
    char *quoted = message_quote(text);
    size_t n = strlen(quoted);
    memmove(quoted, quoted + 1, n);
    quoted[n - 2] = '\0';
    return quoted;
}

bool sonic_fail(const struct sonic_row *row, const char *field, GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *key = bare_quote(row->key), *name = field ? bare_quote(field) : NULL;
    g_set_error(err, SONIC_ERROR, SONIC_ERROR_INPUT, "%s: %s|%s%s%s: %s", row->table->db->name, row->table->name, key, name ? "|" : "",
                name ? name : "", text);
    return false;
}

/* ---- JSON ------------------------------------------------------------------------ */

/* Nesting of brackets outside strings. */
static bool is_too_deep(const uint8_t *data, size_t n_bytes)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < n_bytes; i++) {
        if (in_string && data[i] == '\\')
            i++;
        else if (data[i] == '"')
            in_string = !in_string;
        else if (!in_string && (data[i] == '[' || data[i] == '{') && ++depth > MAX_DEPTH)
            return true;
        else if (!in_string && (data[i] == ']' || data[i] == '}'))
            depth--;
    }
    return false;
}

struct members {
    GHashTable *n_of_object; /* JsonObject -> members met */
    char *twice;
};

static void on_member(JsonParser *parser, JsonObject *object, const char *name, struct members *members)
{
    (void)parser;
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(members->n_of_object, object)) + 1;
    g_hash_table_insert(members->n_of_object, object, GUINT_TO_POINTER(n));
    if (n > json_object_get_size(object) && !members->twice)
        members->twice = g_strdup(name);
}

/* Its messages begin with "<data>:LINE:COLUMN: ". */
static bool fail_json(const char *name, const GError *cause, GError **err)
{
    g_auto(GStrv) parts = g_strsplit(cause->message, ":", 4);
    bool has_place = g_strv_length(parts) == 4;
    g_autofree char *what = message_quote(has_place ? parts[3] : cause->message);
    g_set_error(err, SONIC_ERROR, SONIC_ERROR_INPUT, "%s:%s: not JSON: %s", name, has_place ? parts[1] : "1", what);
    return false;
}

static bool load_json(JsonParser *parser, const char *name, const uint8_t *data, size_t n_bytes, GError **err)
{
    struct members members = {.n_of_object = g_hash_table_new(NULL, NULL)};
    g_autoptr(GError) cause = NULL;
    if (n_bytes == 0 || n_bytes > G_MAXINT32)
        return fail_file(name, err, n_bytes ? "more than 2 GB" : "the file is empty; allowed: a JSON object of tables");
    if (is_too_deep(data, n_bytes))
        return fail_file(name, err, "brackets are nested more than 64 deep; allowed: an object of tables of rows of fields");
    if (!g_utf8_validate((const char *)data, (gssize)n_bytes, NULL))
        return fail_file(name, err, "not UTF-8 text; allowed: a JSON object of tables");
    g_signal_connect(parser, "object-member", G_CALLBACK(on_member), &members);
    bool ok = json_parser_load_from_data(parser, (const char *)data, (gssize)n_bytes, &cause);
    g_autofree char *twice = members.twice, *quoted = twice ? message_quote(twice) : NULL;
    g_hash_table_unref(members.n_of_object);
    if (!ok)
        return fail_json(name, cause, err);
    if (!twice)
        return true;
    g_set_error(err, SONIC_ERROR, SONIC_ERROR_INPUT, "%s: %s is there twice in one object", name, quoted);
    return false;
}

/* ---- fields ---------------------------------------------------------------------- */

/* NULL if NODE is neither a value nor a list of values. (transfer full) */
static char *text_of(JsonNode *node)
{
    if (JSON_NODE_HOLDS_ARRAY(node)) {
        JsonArray *array = json_node_get_array(node);
        g_autoptr(GString) text = g_string_new(NULL);
        for (guint i = 0; i < json_array_get_length(array); i++) {
            JsonNode *item = json_array_get_element(array, i);
            g_autofree char *one = JSON_NODE_HOLDS_VALUE(item) ? text_of(item) : NULL;
            if (!one)
                return NULL;
            g_string_append_printf(text, "%s%s", i ? "," : "", one);
        }
        return g_strdup(text->str);
    }
    if (!JSON_NODE_HOLDS_VALUE(node))
        return NULL;
    switch (json_node_get_value_type(node)) {
    case G_TYPE_STRING:
        return g_strdup(json_node_get_string(node));
    case G_TYPE_INT64:
        return g_strdup_printf("%" G_GINT64_FORMAT, json_node_get_int(node));
    case G_TYPE_BOOLEAN:
        return g_strdup(json_node_get_boolean(node) ? "true" : "false");
    default:
        return NULL;
    }
}

static void row_free(void *data)
{
    struct sonic_row *row = data;
    for (guint i = 0; i < row->fields->len; i++) {
        g_free(g_array_index(row->fields, struct sonic_field, i).name);
        g_free(g_array_index(row->fields, struct sonic_field, i).text);
    }
    g_array_unref(row->fields);
    g_free(row->key);
    g_free(row);
}

static void table_free(void *data)
{
    struct sonic_table *table = data;
    g_ptr_array_unref(table->rows);
    g_free(table->name);
    g_free(table);
}

static bool add_row(struct sonic_table *table, const char *key, JsonNode *node, GError **err)
{
    struct sonic_row *row = g_new0(struct sonic_row, 1);
    row->table = table;
    row->key = g_strdup(key);
    row->fields = g_array_new(FALSE, FALSE, sizeof(struct sonic_field));
    g_ptr_array_add(table->rows, row);
    if (!JSON_NODE_HOLDS_OBJECT(node))
        return sonic_fail(row, NULL, err, "not an object; allowed: an object of fields");
    JsonObject *object = json_node_get_object(node);
    g_autoptr(GList) names = json_object_get_members(object);
    for (const GList *n = names; n; n = n->next) {
        struct sonic_field field = {g_strdup(n->data), text_of(json_object_get_member(object, n->data)), false};
        /* sonic-cfggen writes {"NULL": "NULL"} for a row without fields */
        field.used = strcmp(field.name, "NULL") == 0;
        g_array_append_val(row->fields, field);
        if (!field.text)
            return sonic_fail(row, field.name, err, "neither a text, a whole number nor a list of these; allowed: a text such as \"100000\"");
    }
    return true;
}

static bool add_table(struct sonic_db *db, const char *name, JsonNode *node, GError **err)
{
    struct sonic_table *table = g_new0(struct sonic_table, 1);
    table->db = db;
    table->name = g_strdup(name);
    table->rows = g_ptr_array_new_with_free_func(row_free);
    g_ptr_array_add(db->tables, table);
    for (size_t i = 0; i < G_N_ELEMENTS(tables_read); i++)
        table->is_read |= strcmp(tables_read[i], name) == 0;
    bool is_object = JSON_NODE_HOLDS_OBJECT(node);
    if (is_object)
        table->n_rows = json_object_get_size(json_node_get_object(node));
    if (!table->is_read)
        return true;
    if (!is_object) {
        g_set_error(err, SONIC_ERROR, SONIC_ERROR_INPUT, "%s: %s: not an object; allowed: an object of rows", db->name, name);
        return false;
    }
    JsonObject *object = json_node_get_object(node);
    g_autoptr(GList) keys = json_object_get_members(object);
    for (const GList *k = keys; k; k = k->next)
        if (!add_row(table, k->data, json_object_get_member(object, k->data), err))
            return false;
    return true;
}

static bool add_tables(struct sonic_db *db, JsonNode *root, GError **err)
{
    if (!root || !JSON_NODE_HOLDS_OBJECT(root))
        return fail_file(db->name, err, "the file is no JSON object; allowed: an object of tables such as BUFFER_POOL");
    JsonObject *object = json_node_get_object(root);
    g_autoptr(GList) names = json_object_get_members(object);
    bool any = false;
    for (const GList *n = names; n; n = n->next) {
        if (!add_table(db, n->data, json_object_get_member(object, n->data), err))
            return false;
        any |= ((struct sonic_table *)g_ptr_array_index(db->tables, db->tables->len - 1))->is_read;
    }
    return any || fail_file(db->name, err, "no table that is read; allowed: BUFFER_POOL, PORT_QOS_MAP, WRED_PROFILE and others (fabricast help import)");
}

struct sonic_db *sonic_db_parse(const char *name, const uint8_t *data, size_t n_bytes, GError **err)
{
    struct sonic_db *db = g_new0(struct sonic_db, 1);
    g_autoptr(JsonParser) parser = json_parser_new();
    db->name = g_strdup(name);
    db->tables = g_ptr_array_new_with_free_func(table_free);
    if (load_json(parser, name, data, n_bytes, err) && add_tables(db, json_parser_get_root(parser), err))
        return db;
    sonic_db_free(db);
    return NULL;
}

void sonic_db_free(struct sonic_db *db)
{
    if (!db)
        return;
    g_ptr_array_unref(db->tables);
    g_free(db->name);
    g_free(db);
}

/* ---- reading ---------------------------------------------------------------------- */

struct sonic_table *sonic_table(const struct sonic_db *db, const char *name)
{
    for (guint i = 0; i < db->tables->len; i++) {
        struct sonic_table *table = g_ptr_array_index(db->tables, i);
        if (strcmp(table->name, name) == 0)
            return table;
    }
    return NULL;
}

guint sonic_n_rows(const struct sonic_table *table)
{
    return table ? table->rows->len : 0;
}

struct sonic_row *sonic_row_at(const struct sonic_table *table, guint i)
{
    return g_ptr_array_index(table->rows, i);
}

struct sonic_row *sonic_first_row(const struct sonic_table *table)
{
    return sonic_n_rows(table) > 0 ? sonic_row_at(table, 0) : NULL;
}

struct sonic_row *sonic_row_of(const struct sonic_table *table, const char *key)
{
    for (guint i = 0; i < sonic_n_rows(table); i++)
        if (strcmp(sonic_row_at(table, i)->key, key) == 0)
            return sonic_row_at(table, i);
    return NULL;
}

const char *sonic_text(const struct sonic_row *row, const char *field)
{
    for (guint i = 0; i < row->fields->len; i++) {
        struct sonic_field *f = &g_array_index(row->fields, struct sonic_field, i);
        if (strcmp(f->name, field) != 0)
            continue;
        f->used = true;
        return f->text;
    }
    return NULL;
}

bool sonic_int(const struct sonic_row *row, const char *field, int64_t min, int64_t max, int64_t *out, bool *there, GError **err)
{
    const char *text = sonic_text(row, field);
    int64_t value = 0;
    if (there)
        *there = text != NULL;
    if (!text)
        return true;
    g_autofree char *quoted = message_quote(text);
    if (!units_parse_int(text, &value, NULL) || value < min || value > max)
        return sonic_fail(row, field, err, "%s; allowed: a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, quoted, min, max);
    *out = value;
    return true;
}

bool sonic_choice(const struct sonic_row *row, const char *field, const char *choices, int *out, GError **err)
{
    const char *text = sonic_text(row, field);
    g_auto(GStrv) words = g_strsplit(choices, "|", -1);
    *out = -1;
    for (int i = 0; text && words[i]; i++)
        if (g_ascii_strcasecmp(words[i], text) == 0)
            *out = i;
    if (!text || *out >= 0)
        return true;
    g_autofree char *quoted = message_quote(text), *allowed = g_strjoinv(", ", words);
    return sonic_fail(row, field, err, "%s; allowed: %s", quoted, allowed);
}

/* "name" of "[TABLE|name]", else TEXT. (transfer full) */
static char *name_in(const char *text, const char *table)
{
    g_autofree char *open = g_strdup_printf("[%s|", table);
    size_t n = strlen(text);
    if (g_str_has_prefix(text, open) && text[n - 1] == ']')
        return g_strndup(text + strlen(open), n - strlen(open) - 1);
    return g_strdup(text);
}

bool sonic_reference(const struct sonic_row *row, const char *field, const char *table, struct sonic_row **out, GError **err)
{
    const char *text = sonic_text(row, field);
    *out = NULL;
    if (!text || *text == '\0' || strcmp(text, "NULL") == 0 || strcmp(text, "[]") == 0)
        return true;
    g_autofree char *name = name_in(text, table);
    const struct sonic_table *to = sonic_table(row->table->db, table);
    *out = sonic_row_of(to, name);
    if (*out) {
        (*out)->is_referred = true;
        return true;
    }
    guint n = sonic_n_rows(to);
    g_autofree const char **names = g_new(const char *, n + 1);
    for (guint i = 0; i < n; i++)
        names[i] = sonic_row_at(to, i)->key;
    g_autofree char *quoted = message_quote(name), *allowed = message_allowed(name, names, (int)MIN(n, 16));
    return n ? sonic_fail(row, field, err, "%s has no row %s%s", table, quoted, allowed)
             : sonic_fail(row, field, err, "%s: the file has no rows in table %s", quoted, table);
}

bool sonic_classes(const struct sonic_row *row, const char *field, uint8_t *mask, bool *there, GError **err)
{
    const char *text = sonic_text(row, field);
    *there = text != NULL;
    *mask = 0;
    g_auto(GStrv) parts = g_strsplit(text ? text : "", ",", -1);
    for (char **part = parts; *part; part++) {
        const char *one = g_strstrip(*part);
        if (one[0] < '0' || one[0] > '7' || one[1] != '\0') {
            g_autofree char *quoted = message_quote(text);
            return sonic_fail(row, field, err, "%s; allowed: numbers 0 to 7 with commas", quoted);
        }
        *mask = (uint8_t)(*mask | 1u << (one[0] - '0'));
    }
    return true;
}
