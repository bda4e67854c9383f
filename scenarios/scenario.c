/* scenario.c - includes, known names and duplicates of scenario files. */
#include "scenarios/scenario.h"

#include "scenarios/catalogue.h"
#include "scenarios/groups.h"
#include "sim/message.h"
#include <stdlib.h>
#include <string.h>

#define OWN_SECTION "scenario"

struct reader {
    struct scenario *scenario;
    GPtrArray *open_files; /* resolved paths, outermost first: finds cycles */
    int n_files;
};

struct source {
    const char *path; /* as shown in messages */
    const char *base_dir;
    bool is_main;
};

/* Always false, for return. */
G_GNUC_PRINTF(5, 6)
static bool fail(GError **err, scenario_error code, const struct source *source, int line, const char *format,
                 ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(err, SCENARIO_ERROR, (int)code, "%s:%d: %s", source->path, line, message);
    return false;
}

/* ---- includes ------------------------------------------------------------- */

static bool read_file(struct reader *r, const char *path, GError **err);

static char *resolve(const char *path)
{
    char *real = realpath(path, NULL); /* a link to an open file is a cycle, too */
    char *resolved = g_strdup(real ? real : path);
    free(real);
    return resolved;
}

static bool is_open(const struct reader *r, const char *path)
{
    g_autofree char *resolved = resolve(path);
    return g_ptr_array_find_with_equal_func(r->open_files, resolved, g_str_equal, NULL);
}

/* Keeps the message's own file:line in front. */
static void append_origin(GError *err, const struct source *source, int line)
{
    char *message = g_strdup_printf("%s (included at %s:%d)", err->message, source->path, line);
    g_free(err->message);
    err->message = message;
}

static bool include_one(struct reader *r, const struct source *from, int line, const char *name, GError **err)
{
    g_autofree char *quoted = message_quote(name);
    g_autofree char *path = catalogue_find(name, from->base_dir);
    if (!path) {
        g_autofree char *hint = catalogue_hint(name, from->base_dir);
        return fail(err, SCENARIO_ERROR_INCLUDE, from, line,
                    "include: %s is no file and no catalogue entry%s", quoted, hint);
    }
    if (is_open(r, path))
        return fail(err, SCENARIO_ERROR_INCLUDE, from, line, "include: %s includes itself", quoted);
    if (r->open_files->len > SCENARIO_MAX_INCLUDE_DEPTH)
        return fail(err, SCENARIO_ERROR_INCLUDE, from, line,
                    "include: nested deeper than %d; allowed: up to %d", SCENARIO_MAX_INCLUDE_DEPTH,
                    SCENARIO_MAX_INCLUDE_DEPTH);
    if (++r->n_files > SCENARIO_MAX_INCLUDES)
        return fail(err, SCENARIO_ERROR_INCLUDE, from, line, "include: more than %d files; allowed: up to %d",
                    SCENARIO_MAX_INCLUDES, SCENARIO_MAX_INCLUDES);
    GError *cause = NULL;
    if (read_file(r, path, &cause))
        return true;
    append_origin(cause, from, line);
    g_propagate_error(err, cause);
    return false;
}

static bool include_list(struct reader *r, const struct source *from, const struct ini_entry *entry,
                         GError **err)
{
    g_auto(GStrv) names = g_strsplit(entry->value, ",", -1);
    if (!names[0])
        return fail(err, SCENARIO_ERROR_INCLUDE, from, entry->line,
                    "include: names no file; allowed: a, b, ...");
    for (char **name = names; *name; name++) {
        if (*g_strstrip(*name) == '\0')
            return fail(err, SCENARIO_ERROR_INCLUDE, from, entry->line,
                        "include: empty name in the list; allowed: a, b, ...");
        if (!include_one(r, from, entry->line, *name, err))
            return false;
    }
    return true;
}

/* ---- entries -------------------------------------------------------------- */

static bool is_own_section(const struct ini_entry *entry)
{
    return strcmp(entry->group, OWN_SECTION) == 0;
}

static bool is_include(const struct ini_entry *entry)
{
    return entry->key && strcmp(entry->key, "include") == 0 &&
           (*entry->group == '\0' || is_own_section(entry));
}

/* Always false, for return. */
static bool fail_group(const struct param_bag *bag, const struct source *source, int line, const char *group, GError **err)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_ptr_array_add(names, (char *)OWN_SECTION);
    for (int i = 0; i < param_bag_n_groups(bag); i++)
        g_ptr_array_add(names, (char *)param_bag_group(bag, i)->name);
    g_autofree char *quoted = message_quote(group);
    g_autofree char *allowed = message_allowed(group, (const char *const *)names->pdata, (int)names->len);
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "%s:%d: unknown group %s%s", source->path, line, quoted, allowed);
    return false;
}

/* A section without keys counts, too: its selector must match something, its fault must have a kind. */
static bool check_header(const struct reader *r, const struct source *source, const struct ini_entry *entry,
                         GError **err)
{
    if (is_own_section(entry))
        return true;
    g_autofree char *group = NULL, *name = NULL;
    param_split_section(entry->group, &group, &name);
    if (!param_bag_find(r->scenario->bag, group))
        return fail_group(r->scenario->bag, source, entry->line, group, err);
    g_autofree char *origin = g_strdup_printf("%s:%d", source->path, entry->line);
    return param_bag_add_layer(r->scenario->bag, group, name, origin, err);
}

/* name and description count in the main file alone: an included part has its own. */
static bool set_own(struct reader *r, const struct source *source, const struct ini_entry *entry,
                    GError **err)
{
    static const char *const keys[] = {"name", "description", "include"};
    char **fields[] = {&r->scenario->name, &r->scenario->description};
    for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
        if (strcmp(entry->key, keys[i]) != 0)
            continue;
        if (source->is_main) {
            g_free(*fields[i]);
            *fields[i] = g_strdup(entry->value);
        }
        return true;
    }
    g_autofree char *quoted = message_quote(entry->key);
    g_autofree char *allowed = message_allowed(entry->key, keys, G_N_ELEMENTS(keys));
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "%s:%d: unknown key %s in [" OWN_SECTION "]%s",
                source->path, entry->line, quoted, allowed);
    return false;
}

static bool check_duplicate(GHashTable *seen, const struct source *source, const struct ini_entry *entry,
                            GError **err)
{
    g_autofree char *group = NULL, *name = NULL;
    param_split_section(entry->group, &group, &name);
    char *full = g_strdup_printf("%s%s%s.%s", group, name ? ":" : "", name ? name : "", entry->key); /* owned by SEEN */
    int first = GPOINTER_TO_INT(g_hash_table_lookup(seen, full));
    if (first == 0) {
        g_hash_table_insert(seen, full, GINT_TO_POINTER(entry->line));
        return true;
    }
    g_autofree char *quoted = message_quote(full);
    g_free(full);
    return fail(err, SCENARIO_ERROR_SYNTAX, source, entry->line,
                "%s is set before at line %d; allowed: once in a file", quoted, first);
}

static bool apply(struct reader *r, const struct source *source, const struct ini_entry *entry,
                  GHashTable *seen, GError **err)
{
    if (is_include(entry))
        return true; /* done before */
    if (!entry->key)
        return check_header(r, source, entry, err);
    g_autofree char *quoted = message_quote(entry->key);
    if (*entry->group == '\0')
        return fail(err, SCENARIO_ERROR_SYNTAX, source, entry->line,
                    "%s stands before the first [group]; allowed there: include = ...", quoted);
    if (!check_duplicate(seen, source, entry, err))
        return false;
    if (is_own_section(entry))
        return set_own(r, source, entry, err);
    g_autofree char *origin = g_strdup_printf("%s:%d", source->path, entry->line);
    return param_bag_set(r->scenario->bag, entry->group, entry->key, entry->value, PARAM_BY_FILE, origin,
                         err);
}

static bool read_data(struct reader *r, const struct source *source, const char *data, gsize n_bytes,
                      GError **err)
{
    g_autoptr(GPtrArray) entries = ini_scan(source->path, data, n_bytes, err);
    if (!entries)
        return false;
    for (guint i = 0; i < entries->len; i++)
        if (is_include(entries->pdata[i]) && !include_list(r, source, entries->pdata[i], err))
            return false;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < entries->len; i++)
        if (!apply(r, source, entries->pdata[i], seen, err))
            return false;
    return true;
}

static bool read_bytes(struct reader *r, const char *path, bool is_main, const char *data, gsize n_bytes,
                       GError **err)
{
    g_autofree char *shown = g_filename_display_name(path), *base_dir = g_path_get_dirname(path);
    struct source source = {shown, base_dir, is_main};
    g_ptr_array_add(r->open_files, resolve(path));
    bool ok = read_data(r, &source, data, n_bytes, err);
    g_ptr_array_remove_index(r->open_files, r->open_files->len - 1);
    return ok;
}

static bool load_bytes(const char *path, char **data, gsize *n_bytes, GError **err)
{
    g_autoptr(GError) cause = NULL;
    if (g_file_get_contents(path, data, n_bytes, &cause))
        return true;
    g_autofree char *shown = g_filename_display_name(path);
    g_set_error(err, SCENARIO_ERROR, SCENARIO_ERROR_FILE, "%s: cannot be read: %s", shown, cause->message);
    return false;
}

static bool read_file(struct reader *r, const char *path, GError **err)
{
    g_autofree char *data = NULL;
    gsize n_bytes = 0;
    return load_bytes(path, &data, &n_bytes, err) && read_bytes(r, path, false, data, n_bytes, err);
}

/* ---- public --------------------------------------------------------------- */

static struct scenario *new_empty(const char *path)
{
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    struct scenario *scenario = g_new0(struct scenario, 1);
    scenario->path = g_strdup(path);
    scenario->base_dir = g_path_get_dirname(path);
    scenario->text = g_strdup("");
    scenario->name = g_path_get_basename(path);
    if (g_str_has_suffix(scenario->name, ".ini"))
        scenario->name[strlen(scenario->name) - strlen(".ini")] = '\0';
    scenario->description = g_strdup("");
    scenario->bag = param_bag_new(groups, n);
    return scenario;
}

struct scenario *scenario_parse(const char *path, const char *data, gsize n_bytes, GError **err)
{
    struct scenario *scenario = new_empty(path);
    g_autoptr(GPtrArray) open_files = g_ptr_array_new_with_free_func(g_free);
    struct reader reader = {.scenario = scenario, .open_files = open_files};
    if (!read_bytes(&reader, path, true, data, n_bytes, err)) {
        scenario_free(scenario);
        return NULL;
    }
    g_free(scenario->text);
    scenario->text = g_strndup(data, n_bytes);
    return scenario;
}

struct scenario *scenario_load(const char *path, GError **err)
{
    g_autofree char *data = NULL;
    gsize n_bytes = 0;
    return load_bytes(path, &data, &n_bytes, err) ? scenario_parse(path, data, n_bytes, err) : NULL;
}

struct scenario *scenario_new_default(void)
{
    return new_empty("(defaults)");
}

bool scenario_set(struct scenario *scenario, const char *assignment, GError **err)
{
    return param_bag_set_assignment(scenario->bag, assignment, PARAM_BY_COMMAND_LINE, "--set", err);
}

bool scenario_check(const struct scenario *scenario, GError **err)
{
    return param_bag_check(scenario->bag, err);
}

void scenario_free(struct scenario *scenario)
{
    if (!scenario)
        return;
    g_free(scenario->path);
    g_free(scenario->base_dir);
    g_free(scenario->text);
    g_free(scenario->name);
    g_free(scenario->description);
    param_bag_free(scenario->bag);
    g_free(scenario);
}

void scenario_prefix_origin(const struct scenario *scenario, GError **err)
{
    if (!err || !*err)
        return;
    const char *text = (*err)->message, *colon = strchr(text, ':'), *dot = strchr(text, '.');
    if (!colon || !dot || dot > colon || strcspn(text, " ") < (size_t)(colon - text))
        return;
    g_autofree char *group = g_strndup(text, (gsize)(dot - text));
    g_autofree char *key = g_strndup(dot + 1, (gsize)(colon - dot - 1));
    const struct param_group *table = param_bag_find(scenario->bag, group);
    bool known = false;
    for (int r = 0; table && r < table->n_rows; r++)
        known |= strcmp(table->rows[r].key, key) == 0;
    if (!known) /* a layer's key has its place in front already */
        return;
    const char *origin = param_bag_origin(scenario->bag, group, key);
    bool is_default = !origin || strcmp(origin, "default") == 0;
    g_prefix_error(err, "%s: ", is_default ? scenario->path : origin);
}
