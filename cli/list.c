/* list.c - fabricast list params | catalogue: what can be set, and where every default comes from. */
#include "cli/cli.h"

#include "scenarios/catalogue.h"
#include "scenarios/groups.h"
#include "sim/message.h"
#include "sim/params.h"
#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct options {
    gboolean assumed, json, markdown;
};

/* ---- rows ----------------------------------------------------------------- */

/* One parameter as texts; owned. */
struct row {
    const struct param_group *group;
    const struct param_desc *desc;
    char *name, *def, *range, *type;
};

static void row_free(void *data)
{
    struct row *row = data;
    g_free(row->name);
    g_free(row->def);
    g_free(row->range);
    g_free(row->type);
    g_free(row);
}

static char *describe_range(const struct param_desc *desc)
{
    if (desc->type == PARAM_BOOL)
        return g_strdup("true, false");
    if (desc->type == PARAM_TEXT)
        return g_strdup("any text");
    if (desc->type == PARAM_ENUM) {
        g_auto(GStrv) names = g_strsplit(desc->choices, "|", -1);
        return g_strjoinv(", ", names);
    }
    g_autofree char *lo = param_format_min(desc), *hi = param_format_max(desc);
    return g_strdup_printf("%s to %s", lo, hi);
}

/* Also the words of docs/FORMATS.md. */
static const char *scope_name(enum param_scope scope)
{
    static const char *const names[] = {[PARAM_SCOPE_RUN] = "run", [PARAM_SCOPE_SITE] = "site", [PARAM_SCOPE_LIST] = "list"};
    return names[scope];
}

/* A default that was nobody's measurement: the source is "assumed", with or without a reason after it. */
static bool is_assumed(const struct param_desc *desc)
{
    return g_str_has_prefix(desc->source, "assumed");
}

static void add_group_rows(GPtrArray *rows, const struct param_group *group, const struct options *options)
{
    for (int i = 0; i < group->n_rows; i++) {
        const struct param_desc *desc = &group->rows[i];
        if (options->assumed && !is_assumed(desc))
            continue;
        struct row *row = g_new(struct row, 1);
        *row = (struct row){group,
                            desc,
                            g_strdup_printf("%s.%s", group->name, desc->key),
                            param_format_default(desc),
                            describe_range(desc),
                            g_strdup(param_type_name(desc->type))};
        g_ptr_array_add(rows, row);
    }
}

/* Rows of GROUP_NAME, or of all groups if it is NULL; NULL after a message. */
static GPtrArray *collect_rows(const char *group_name, const struct options *options)
{
    int n = 0, n_found = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
    for (int i = 0; i < n; i++) {
        if (group_name && strcmp(group_name, groups[i]->name) != 0)
            continue;
        n_found++;
        add_group_rows(rows, groups[i], options);
    }
    if (n_found > 0)
        return g_steal_pointer(&rows);
    g_autofree const char **names = g_new(const char *, (gsize)n);
    for (int i = 0; i < n; i++)
        names[i] = groups[i]->name;
    g_autofree char *quoted = message_quote(group_name), *allowed = message_allowed(group_name, names, n);
    fprintf(stderr, "fabricast list: unknown group %s%s\n", quoted, allowed);
    return NULL;
}

/* ---- aligned table -------------------------------------------------------- */

enum { N_COLUMNS = 7, MAX_WIDTH = 34 /* one long cell must not push all others to the right */ };

static void row_cells(const struct row *row, const char *cells[N_COLUMNS])
{
    cells[0] = row->name;
    cells[1] = *row->def ? row->def : "-";
    cells[2] = row->range;
    cells[3] = row->type;
    cells[4] = row->desc->source;
    cells[5] = scope_name(row->group->scope);
    cells[6] = row->desc->doc;
}

static void print_cells(const char *const cells[N_COLUMNS], const int widths[N_COLUMNS])
{
    for (int c = 0; c < N_COLUMNS; c++) {
        int pad = c + 1 < N_COLUMNS ? widths[c] - (int)g_utf8_strlen(cells[c], -1) : 0;
        printf("%s%*s%s", cells[c], MAX(pad, 0), "", c + 1 < N_COLUMNS ? "  " : "\n");
    }
}

static void widen(int widths[N_COLUMNS], const char *const cells[N_COLUMNS])
{
    for (int c = 0; c < N_COLUMNS; c++)
        widths[c] = MAX(widths[c], MIN((int)g_utf8_strlen(cells[c], -1), MAX_WIDTH));
}

static void print_table(const GPtrArray *rows)
{
    static const char *const heads[N_COLUMNS] = {"name", "default", "allowed", "type", "source", "scope", "meaning"};
    int widths[N_COLUMNS] = {0};
    const char *cells[N_COLUMNS];
    widen(widths, heads);
    for (guint i = 0; i < rows->len; i++) {
        row_cells(rows->pdata[i], cells);
        widen(widths, cells);
    }
    print_cells(heads, widths);
    for (guint i = 0; i < rows->len; i++) {
        row_cells(rows->pdata[i], cells);
        print_cells(cells, widths);
    }
}

/* ---- Markdown ------------------------------------------------------------- */

/* A cell may not hold a bare '|', and '<' or '*' would be markup. */
static void print_markdown_cell(const char *text)
{
    for (; *text; text++) {
        if (strchr("|<*_\\", *text))
            putchar('\\');
        putchar(*text);
    }
}

static void print_markdown_row(const struct row *row)
{
    printf("| `%s` | ", row->desc->key);
    print_markdown_cell(row->def);
    fputs(" | ", stdout);
    print_markdown_cell(row->range);
    printf(" | %s | ", row->type);
    print_markdown_cell(row->desc->source);
    fputs(" | ", stdout);
    print_markdown_cell(row->desc->doc);
    fputs(" |\n", stdout);
}

static void print_markdown_head(const struct param_group *group)
{
    const char *colon = group->scope == PARAM_SCOPE_LIST ? ":NAME" : "";
    printf("\n## [%s%s]\n\n%s ", group->name, colon, group->doc);
    if (group->scope == PARAM_SCOPE_RUN)
        fputs("Scope *run*: one set of values for the whole run.\n\n", stdout);
    else if (group->scope == PARAM_SCOPE_SITE)
        printf("Scope *site*: `[%s]` holds everywhere, `[%s:selector]` where the selector matches.\n\n", group->name, group->name);
    else
        printf("Scope *list*: each `[%s:NAME]` is an item of its own that starts from the defaults.\n\n", group->name);
}

static void print_markdown(const GPtrArray *rows)
{
    fputs(
        "# Parameters\n\n"
        "Written by `fabricast list params --markdown` from the tables that the program reads; do not edit.\n"
        "Set a parameter in a scenario file (`[group]`, `key = value`) or with `--set group.key=value`.\n"
        "A quantity with a unit needs one: `4us`, `32KiB`, `400Gbps`, `100m`. A type *by rate* takes one "
        "value for all\n"
        "links or a list such as `100Gbps:400kB 400Gbps:1600kB`. The source *assumed* marks a default that "
        "is nobody's\n"
        "measurement; `fabricast list params --assumed` lists those.\n\n"
        "The scope of a group says where its values may differ: *run*, one set for the whole run; *site*, `[group]` holds\n"
        "everywhere and `[group:selector]` sets other values for a part of the fabric; *list*, each `[group:NAME]` is an item\n"
        "of its own ([FORMATS.md](FORMATS.md), section 1).\n",
        stdout);
    const struct param_group *group = NULL;
    for (guint i = 0; i < rows->len; i++) {
        const struct row *row = rows->pdata[i];
        if (row->group != group) {
            group = row->group;
            print_markdown_head(group);
            fputs("| key | default | allowed | type | source | meaning |\n|---|---|---|---|---|---|\n",
                  stdout);
        }
        print_markdown_row(row);
    }
}

/* ---- JSON ----------------------------------------------------------------- */

static void add_member(JsonBuilder *json, const char *name, const char *value)
{
    json_builder_set_member_name(json, name);
    json_builder_add_string_value(json, value);
}

static void print_json(JsonBuilder *json)
{
    g_autoptr(JsonNode) root = json_builder_get_root(json);
    g_autofree char *text = json_to_string(root, TRUE);
    puts(text);
}

static void print_params_json(const GPtrArray *rows)
{
    g_autoptr(JsonBuilder) json = json_builder_new();
    json_builder_begin_array(json);
    for (guint i = 0; i < rows->len; i++) {
        const struct row *row = rows->pdata[i];
        json_builder_begin_object(json);
        add_member(json, "name", row->name);
        add_member(json, "default", row->def);
        add_member(json, "allowed", row->range);
        add_member(json, "type", row->type);
        add_member(json, "scope", scope_name(row->group->scope));
        add_member(json, "stored_unit", param_unit(row->desc));
        add_member(json, "source", row->desc->source);
        json_builder_set_member_name(json, "assumed");
        json_builder_add_boolean_value(json, is_assumed(row->desc));
        add_member(json, "doc", row->desc->doc);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
    print_json(json);
}

static void print_catalogue_json(const GPtrArray *entries)
{
    g_autoptr(JsonBuilder) json = json_builder_new();
    json_builder_begin_array(json);
    for (guint i = 0; i < entries->len; i++) {
        const struct catalogue_entry *entry = entries->pdata[i];
        json_builder_begin_object(json);
        add_member(json, "name", entry->name);
        add_member(json, "path", entry->path);
        add_member(json, "title", entry->title);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
    print_json(json);
}

/* ---- commands ------------------------------------------------------------- */

static int list_params(const char *group, const struct options *options)
{
    g_autoptr(GPtrArray) rows = collect_rows(group, options);
    if (!rows)
        return CLI_BAD_INPUT;
    if (options->json)
        print_params_json(rows);
    else if (options->markdown)
        print_markdown(rows);
    else
        print_table(rows);
    return CLI_OK;
}

static int list_catalogue(const struct options *options)
{
    g_autoptr(GPtrArray) entries = catalogue_list();
    if (options->json) {
        print_catalogue_json(entries);
        return CLI_OK;
    }
    int width = 0;
    for (guint i = 0; i < entries->len; i++)
        width = MAX(width, (int)strlen(((struct catalogue_entry *)entries->pdata[i])->name));
    for (guint i = 0; i < entries->len; i++) {
        const struct catalogue_entry *entry = entries->pdata[i];
        printf("%-*s  %s\n", width, entry->name, entry->title);
    }
    if (entries->len == 0)
        fputs("fabricast list: the catalogue is empty; FABRICAST_CATALOGUE may name its folder\n", stderr);
    return CLI_OK;
}

static int usage_error(const char *message)
{
    fprintf(stderr, "fabricast list: %s\n", message);
    return CLI_BAD_INPUT;
}

static int list_what(int argc, char **argv, const struct options *options)
{
    static const char *const subjects[] = {"params", "catalogue"};
    if (argc < 2)
        return usage_error("what? allowed: params [GROUP], catalogue");
    if (options->json && options->markdown)
        return usage_error("--json and --markdown exclude each other");
    if (strcmp(argv[1], "params") == 0)
        return argc > 3 ? usage_error("too many words; allowed: params [GROUP]")
                        : list_params(argc == 3 ? argv[2] : NULL, options);
    if (strcmp(argv[1], "catalogue") == 0) {
        bool plain = argc == 2 && !options->assumed && !options->markdown;
        return plain ? list_catalogue(options) : usage_error("catalogue takes --json alone");
    }
    g_autofree char *quoted = message_quote(argv[1]);
    g_autofree char *allowed = message_allowed(argv[1], subjects, G_N_ELEMENTS(subjects));
    g_autofree char *message = g_strdup_printf("unknown subject %s%s", quoted, allowed);
    return usage_error(message);
}

int cli_list(int argc, char **argv)
{
    struct options options = {0};
    const GOptionEntry entries[] = {
        {"assumed", 0, 0, G_OPTION_ARG_NONE, &options.assumed, "Only defaults that are assumed", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "JSON", NULL},
        {"markdown", 0, 0, G_OPTION_ARG_NONE, &options.markdown, "Markdown: docs/PARAMETERS.md", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("params [GROUP] | catalogue");
    g_option_context_set_summary(
        context, "Lists what can be set and where each default comes from, or catalogue entries.");
    g_option_context_add_main_entries(context, entries, NULL);
    g_autoptr(GError) err = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &err)) {
        g_prefix_error(&err, "see fabricast help list: ");
        return usage_error(err->message);
    }
    return list_what(argc, argv, &options);
}
