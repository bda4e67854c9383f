/* catalogue.c - finding and listing catalogue entries. */
#include "scenarios/catalogue.h"

#include "sim/message.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX    ".ini"
#define MAX_DEPTH 8 /* of folders; a symbolic link to a parent must not loop */
#define MAX_TITLE 400

/* ---- folders -------------------------------------------------------------- */

static GPtrArray *catalogue_dirs(void)
{
    GPtrArray *dirs = g_ptr_array_new_with_free_func(g_free);
    const char *own = g_getenv("FABRICAST_CATALOGUE");
    if (own && *own)
        g_ptr_array_add(dirs, g_strdup(own));
    g_ptr_array_add(dirs, g_build_filename(FABRICAST_SOURCE_DIR, "topologies", "catalogue", NULL));
    g_ptr_array_add(dirs, g_build_filename(FABRICAST_DATA_DIR, "catalogue", NULL));
    return dirs;
}

/* DIR/NAME, without "./" before it, so that messages name files as their user does. */
static char *join(const char *dir, const char *name)
{
    if (g_path_is_absolute(name) || strcmp(dir, ".") == 0)
        return g_strdup(name);
    return g_build_filename(dir, name, NULL);
}

/* NAME or NAME.ini in DIR if it is a regular file. */
static char *find_in(const char *dir, const char *name)
{
    g_autofree char *exact = join(dir, name);
    g_autofree char *with_suffix = g_strconcat(exact, SUFFIX, NULL);
    char **candidates[] = {&exact, &with_suffix};
    for (size_t i = 0; i < G_N_ELEMENTS(candidates); i++)
        if (g_file_test(*candidates[i], G_FILE_TEST_IS_REGULAR))
            return g_steal_pointer(candidates[i]);
    return NULL;
}

char *catalogue_find(const char *name, const char *base_dir)
{
    char *found = find_in(base_dir, name);
    if (found || g_path_is_absolute(name))
        return found;
    g_autoptr(GPtrArray) dirs = catalogue_dirs();
    for (guint i = 0; !found && i < dirs->len; i++)
        found = find_in(dirs->pdata[i], name);
    return found;
}

/* ---- listing -------------------------------------------------------------- */

static void entry_free(void *data)
{
    struct catalogue_entry *entry = data;
    g_free(entry->name);
    g_free(entry->path);
    g_free(entry->title);
    g_free(entry);
}

/* The first line that begins with '#', without it. */
static char *read_title(const char *path)
{
    char line[MAX_TITLE];
    char *title = NULL;
    FILE *in = fopen(path, "r");
    while (in && !title && fgets(line, sizeof line, in)) {
        g_autofree char *text = g_utf8_make_valid(line, -1);
        g_strstrip(text);
        if (*text == '#')
            title = g_strdup(g_strchug(text + 1));
    }
    if (in)
        fclose(in);
    return title ? title : g_strdup("");
}

static void scan(const char *root, const char *below, int depth, GHashTable *seen, GPtrArray *out)
{
    g_autofree char *folder = g_build_filename(root, below, NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *file;
    while (dir && (file = g_dir_read_name(dir))) {
        g_autofree char *inner = *below ? g_build_filename(below, file, NULL) : g_strdup(file);
        g_autofree char *path = g_build_filename(root, inner, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            if (depth < MAX_DEPTH)
                scan(root, inner, depth + 1, seen, out);
            continue;
        }
        g_autofree char *name =
            g_strndup(inner, strlen(inner) - (g_str_has_suffix(inner, SUFFIX) ? strlen(SUFFIX) : 0));
        if (!g_str_has_suffix(inner, SUFFIX) || !g_hash_table_add(seen, g_strdup(name)))
            continue;
        struct catalogue_entry *entry = g_new0(struct catalogue_entry, 1);
        *entry = (struct catalogue_entry){g_steal_pointer(&name), g_strdup(path), read_title(path)};
        g_ptr_array_add(out, entry);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct catalogue_entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

GPtrArray *catalogue_list(void)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func(entry_free);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) dirs = catalogue_dirs();
    for (guint i = 0; i < dirs->len; i++)
        scan(dirs->pdata[i], "", 0, seen, entries);
    g_ptr_array_sort(entries, by_name);
    return entries;
}

char *catalogue_hint(const char *name, const char *base_dir)
{
    g_autoptr(GPtrArray) entries = catalogue_list();
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < entries->len; i++)
        g_ptr_array_add(names, ((struct catalogue_entry *)entries->pdata[i])->name);
    const char *near = message_nearest(name, (const char *const *)names->pdata, (int)names->len);
    g_autoptr(GPtrArray) dirs = catalogue_dirs();
    GString *out = g_string_new(NULL);
    if (near)
        g_string_append_printf(out, "; did you mean '%s'?", near);
    g_string_append_printf(out, "%s looked in: %s", near ? "" : ";", base_dir);
    for (guint i = 0; i < dirs->len; i++)
        g_string_append_printf(out, ", %s", (const char *)dirs->pdata[i]);
    return g_string_free(out, FALSE);
}
