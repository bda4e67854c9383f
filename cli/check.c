/* check.c - fabricast check SCENARIO.ini|CONFIG_DB.json: mistakes, found before a run. */
#include "cli/cli.h"
#include "scenarios/check.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

struct check_arguments {
    gboolean json, hops, quiet;
    char **sets, **rest;
};

static bool parse_arguments(int argc, char **argv, struct check_arguments *a, GError **err)
{
    const GOptionEntry entries[] = {
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &a->sets, "Set a parameter", "group.key=value"},
        {"hops", 0, 0, G_OPTION_ARG_NONE, &a->hops, "List every hop of every class with its state", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &a->quiet, "No notes", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &a->json, "Print JSON", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &a->rest, NULL, "SCENARIO.ini|CONFIG_DB.json"},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("- mistakes in a scenario, found before it runs");
    g_option_context_set_description(context, "Exit codes: 0 nothing but notes; 1 warnings or errors; 2 bad input.\n"
                                              "The rules are described in docs/CHECK.md.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, err))
        return false;
    if (a->rest && a->rest[0] && !a->rest[1])
        return true;
    g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "check: give one scenario or SONiC config_db.json (see fabricast check --help)");
    return false;
}

/* ---- input ------------------------------------------------------------------------- */

static struct check_report *look(const struct check_arguments *a, GError **err)
{
    if (g_str_has_suffix(a->rest[0], ".json"))
        return check_sonic(a->rest[0], a->sets, err);
    struct scenario *scenario = scenario_load(a->rest[0], err);
    bool ok = scenario != NULL;
    for (char **set = a->sets; ok && set && *set; set++)
        ok = scenario_set(scenario, *set, err);
    struct check_report *report = ok ? check_scenario(scenario, err) : NULL;
    scenario_free(scenario);
    return report;
}

/* ---- text ------------------------------------------------------------------------------ */

#define INDENT "      "
#define MAX_NAME 34 /* a longer name of a term pushes its value to the right */

static int name_width(const struct check_finding *finding)
{
    int width = 0;
    for (guint i = 0; i < finding->terms->len; i++) {
        const struct check_term *term = finding->terms->pdata[i];
        width = MAX(width, (int)g_utf8_strlen(term->name, -1));
    }
    return MIN(width, MAX_NAME);
}

static void print_finding(const struct check_finding *finding)
{
    int width = name_width(finding);
    printf("%s [%s] %s\n", check_severity_name(finding->severity), finding->id, finding->what);
    if (*finding->where)
        printf(INDENT "where:  %s\n", finding->where);
    for (guint i = 0; i < finding->terms->len; i++) {
        const struct check_term *term = finding->terms->pdata[i];
        int pad = width - (int)g_utf8_strlen(term->name, -1);
        printf(INDENT "%s%s%*s  %s\n", i == 0 ? "why:    " : "        ", term->name, MAX(pad, 0), "", term->value);
    }
    for (guint i = 0; i < finding->changes->len; i++)
        printf(INDENT "%s%s\n", i == 0 ? "change: " : "        ", (const char *)finding->changes->pdata[i]);
    putchar('\n');
}

static void print_bits(uint8_t bits)
{
    for (int i = 0, n = 0; i < 8; i++)
        if (bits >> i & 1)
            printf("%s%d", n++ ? "," : "", i);
}

static void print_hops(const struct check_report *report)
{
    printf("%5s %5s %5s %7s  %-40s %s\n", "class", "DSCP", "queue", "into PG", "state", "hop");
    for (guint i = 0; i < report->hops->len; i++) {
        const struct check_hop *hop = &g_array_index(report->hops, struct check_hop, i);
        uint32_t node = g_array_index(report->port_nodes, uint32_t, hop->port), peer = g_array_index(report->port_peers, uint32_t, hop->port);
        printf("%5u %5u     ", hop->class, hop->dscp);
        print_bits(hop->queues);
        printf(" %7u  %-40s %s -> %s\n", hop->pg, hop->state, (const char *)report->node_names->pdata[node],
               (const char *)report->node_names->pdata[peer]);
    }
    putchar('\n');
}

/* "class 3: lossless on 128 of 128 hops" */
static void print_hop_sums(const struct check_report *report)
{
    uint32_t all[8] = {0}, lossless[8] = {0};
    for (guint i = 0; i < report->hops->len; i++) {
        const struct check_hop *hop = &g_array_index(report->hops, struct check_hop, i);
        all[hop->class & 7]++;
        lossless[hop->class & 7] += hop->lossless;
    }
    for (int c = 0; c < 8; c++)
        if (all[c] > 0)
            printf("class %d: lossless on %u of %u hops (--hops lists them)\n", c, lossless[c], all[c]);
}

static void print_text(const struct check_arguments *a, const struct check_report *report)
{
    const uint32_t *n = report->n_by_severity;
    for (guint i = 0; i < report->findings->len; i++) {
        const struct check_finding *finding = report->findings->pdata[i];
        if (!a->quiet || finding->severity > CHECK_NOTE)
            print_finding(finding);
    }
    if (a->hops)
        print_hops(report);
    else if (!a->quiet)
        print_hop_sums(report);
    printf("%s: %u %s, %u %s, %u %s\n", a->rest[0], n[CHECK_ERROR], n[CHECK_ERROR] == 1 ? "error" : "errors", n[CHECK_WARNING],
           n[CHECK_WARNING] == 1 ? "warning" : "warnings", n[CHECK_NOTE], n[CHECK_NOTE] == 1 ? "note" : "notes");
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void add_text(JsonBuilder *b, const char *name, const char *value)
{
    json_builder_set_member_name(b, name);
    json_builder_add_string_value(b, value);
}

static void add_int(JsonBuilder *b, const char *name, gint64 value)
{
    json_builder_set_member_name(b, name);
    json_builder_add_int_value(b, value);
}

static void add_node(JsonBuilder *b, const struct check_report *report, const char *name, uint32_t node)
{
    if (node < report->node_names->len)
        add_text(b, name, report->node_names->pdata[node]);
}

static void add_places(JsonBuilder *b, const struct check_report *report, const struct check_finding *finding)
{
    json_builder_set_member_name(b, "places");
    json_builder_begin_array(b);
    for (guint i = 0; i < finding->places->len; i++) {
        const struct check_place *place = &g_array_index(finding->places, struct check_place, i);
        json_builder_begin_object(b);
        add_node(b, report, "node", place->node);
        if (place->port < report->port_peers->len)
            add_node(b, report, "peer", g_array_index(report->port_peers, uint32_t, place->port));
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void add_finding(JsonBuilder *b, const struct check_report *report, const struct check_finding *finding)
{
    json_builder_begin_object(b);
    add_text(b, "id", finding->id);
    add_text(b, "severity", check_severity_name(finding->severity));
    add_text(b, "what", finding->what);
    add_text(b, "where", finding->where);
    add_places(b, report, finding);
    json_builder_set_member_name(b, "why");
    json_builder_begin_array(b);
    for (guint i = 0; i < finding->terms->len; i++) {
        const struct check_term *term = finding->terms->pdata[i];
        json_builder_begin_object(b);
        add_text(b, "term", term->name);
        add_text(b, "value", term->value);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    json_builder_set_member_name(b, "change");
    json_builder_begin_array(b);
    for (guint i = 0; i < finding->changes->len; i++)
        json_builder_add_string_value(b, finding->changes->pdata[i]);
    json_builder_end_array(b);
    json_builder_end_object(b);
}

static void add_hop(JsonBuilder *b, const struct check_report *report, const struct check_hop *hop)
{
    json_builder_begin_object(b);
    add_node(b, report, "node", g_array_index(report->port_nodes, uint32_t, hop->port));
    add_node(b, report, "peer", g_array_index(report->port_peers, uint32_t, hop->port));
    add_int(b, "class", hop->class);
    add_int(b, "dscp", hop->dscp);
    add_int(b, "queues", hop->queues);
    add_int(b, "priority_group", hop->pg);
    add_text(b, "state", hop->state);
    json_builder_set_member_name(b, "lossless");
    json_builder_add_boolean_value(b, hop->lossless);
    json_builder_end_object(b);
}

static void print_json(const struct check_arguments *a, const struct check_report *report)
{
    g_autoptr(JsonBuilder) b = json_builder_new();
    json_builder_begin_object(b);
    add_text(b, "scenario", a->rest[0]);
    add_int(b, "errors", report->n_by_severity[CHECK_ERROR]);
    add_int(b, "warnings", report->n_by_severity[CHECK_WARNING]);
    add_int(b, "notes", report->n_by_severity[CHECK_NOTE]);
    json_builder_set_member_name(b, "findings");
    json_builder_begin_array(b);
    for (guint i = 0; i < report->findings->len; i++)
        add_finding(b, report, report->findings->pdata[i]);
    json_builder_end_array(b);
    if (a->hops) {
        json_builder_set_member_name(b, "hops");
        json_builder_begin_array(b);
        for (guint i = 0; i < report->hops->len; i++)
            add_hop(b, report, &g_array_index(report->hops, struct check_hop, i));
        json_builder_end_array(b);
    }
    json_builder_end_object(b);
    g_autoptr(JsonGenerator) generator = json_generator_new();
    g_autoptr(JsonNode) root = json_builder_get_root(b);
    json_generator_set_root(generator, root);
    json_generator_set_pretty(generator, TRUE);
    g_autofree char *text = json_generator_to_data(generator, NULL);
    puts(text);
}

int cli_check(int argc, char **argv)
{
    struct check_arguments a = {0};
    g_autoptr(GError) err = NULL;
    struct check_report *report = parse_arguments(argc, argv, &a, &err) ? look(&a, &err) : NULL;
    int code = CLI_BAD_INPUT;
    if (report) {
        code = report->n_by_severity[CHECK_ERROR] + report->n_by_severity[CHECK_WARNING] > 0 ? CLI_FINDINGS : CLI_OK;
        if (a.json)
            print_json(&a, report);
        else
            print_text(&a, report);
    } else {
        fprintf(stderr, "fabricast: %s\n", err->message);
    }
    check_report_free(report);
    g_strfreev(a.sets);
    g_strfreev(a.rest);
    return code;
}
