/* counters.c - fabricast counters: what NICs and switches counted, under the names that operators know. */
#include "analysis/store.h"
#include "cli/cli.h"
#include "sim/message.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

struct counters_arguments {
    char *node, *match;
    gboolean json;
    char **rest;
};

static bool parse_arguments(int argc, char **argv, struct counters_arguments *a, GError **err)
{
    const GOptionEntry entries[] = {
        {"node", 'n', 0, G_OPTION_ARG_STRING, &a->node, "Only nodes of this name; * and ? are wildcards", "NODE"},
        {"match", 'm', 0, G_OPTION_ARG_STRING, &a->match, "Only counters of this name; * and ? are wildcards", "COUNTER"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &a->json, "Print JSON", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &a->rest, NULL, "RUN.h5"},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("- counters of NICs and switches in a results file");
    g_option_context_set_description(context, "Counters with the value 0 are left out.\nExit codes: 0 done; 2 bad input.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, err))
        return false;
    if (a->rest && a->rest[0] && !a->rest[1])
        return true;
    g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "counters: give one results file (see fabricast counters --help)");
    return false;
}

static bool matches(const char *pattern, const char *text)
{
    return !pattern || g_pattern_match_simple(pattern, text);
}

struct counter_columns { const char *const *node, *const *peer, *const *counter, *const *unit; const int64_t *port, *value; int64_t n; };

static bool columns_of(const struct record_book *book, struct counter_columns *c, const char *path, GError **err)
{
    const struct record_table *table = record_table_get(book, "counters");
    if (!table) {
        g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "%s: holds no counters: it was written by an older version", path);
        return false;
    }
    c->n = record_table_n_rows(table);
    c->node = record_column_text(table, record_table_column(table, "node"));
    c->peer = record_column_text(table, record_table_column(table, "peer"));
    c->counter = record_column_text(table, record_table_column(table, "counter"));
    c->unit = record_column_text(table, record_table_column(table, "value_unit"));
    c->port = record_column_i64(table, record_table_column(table, "port_on_node"));
    c->value = record_column_i64(table, record_table_column(table, "value"));
    return true;
}

static void print_text(const struct counters_arguments *a, const struct counter_columns *c)
{
    const char *node = "";
    int64_t port = -1, printed = 0;
    for (int64_t i = 0; i < c->n; i++) {
        if (!matches(a->node, c->node[i]) || !matches(a->match, c->counter[i]))
            continue;
        printed++;
        if (strcmp(node, c->node[i]) != 0 || port != c->port[i])
            printf("%s port %" G_GINT64_FORMAT " (to %s)\n", c->node[i], c->port[i], c->peer[i]);
        node = c->node[i];
        port = c->port[i];
        printf("  %-62s %16" G_GINT64_FORMAT " %s\n", c->counter[i], c->value[i], strcmp(c->unit[i], "1") == 0 ? "" : c->unit[i]);
    }
    if (printed == 0)
        fputs("fabricast: no counter above zero matches\n", stderr);
}

static void print_json(const struct counters_arguments *a, const struct counter_columns *c)
{
    g_autoptr(JsonBuilder) b = json_builder_new();
    json_builder_begin_array(b);
    for (int64_t i = 0; i < c->n; i++) {
        if (!matches(a->node, c->node[i]) || !matches(a->match, c->counter[i]))
            continue;
        json_builder_begin_object(b);
        json_builder_set_member_name(b, "node");
        json_builder_add_string_value(b, c->node[i]);
        json_builder_set_member_name(b, "port");
        json_builder_add_int_value(b, c->port[i]);
        json_builder_set_member_name(b, "peer");
        json_builder_add_string_value(b, c->peer[i]);
        json_builder_set_member_name(b, "counter");
        json_builder_add_string_value(b, c->counter[i]);
        json_builder_set_member_name(b, "value");
        json_builder_add_int_value(b, c->value[i]);
        json_builder_set_member_name(b, "unit");
        json_builder_add_string_value(b, c->unit[i]);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    g_autoptr(JsonGenerator) generator = json_generator_new();
    g_autoptr(JsonNode) root = json_builder_get_root(b);
    json_generator_set_root(generator, root);
    json_generator_set_pretty(generator, TRUE);
    g_autofree char *text = json_generator_to_data(generator, NULL);
    puts(text);
}

static bool show(const struct counters_arguments *a, GError **err)
{
    struct record_book *book = store_read(a->rest[0], err);
    struct counter_columns c;
    bool ok = book && columns_of(book, &c, a->rest[0], err);
    if (ok && a->json)
        print_json(a, &c);
    else if (ok)
        print_text(a, &c);
    record_book_free(book);
    return ok;
}

int cli_counters(int argc, char **argv)
{
    struct counters_arguments a = {0};
    g_autoptr(GError) err = NULL;
    bool ok = parse_arguments(argc, argv, &a, &err) && show(&a, &err);
    if (!ok)
        fprintf(stderr, "fabricast: %s\n", err->message);
    g_strfreev(a.rest);
    g_free(a.node);
    g_free(a.match);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}
