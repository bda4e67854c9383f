/* report.c - fabricast report: what a results file says, as text or JSON. */
#include "analysis/report.h"
#include "analysis/store.h"
#include "cli/cli.h"

#include <stdio.h>

struct report_arguments {
    gboolean json, flows;
    char **rest;
};

static bool parse_arguments(int argc, char **argv, struct report_arguments *a, GError **err)
{
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &a->json, "Print JSON with all tables but series and events", NULL},
        {"flows", 0, 0, G_OPTION_ARG_NONE, &a->flows, "Print a row for each flow of a flow list behind the report", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &a->rest, NULL, "RUN.h5"},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("RUN.h5 - report what a results file holds");
    g_option_context_set_description(context, "Exit codes: 0 done; 2 bad input.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, err))
        return false;
    if (a->rest && a->rest[0] && !a->rest[1])
        return true;
    g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                "report: give one results file (see fabricast report --help)");
    return false;
}

static bool report(const struct report_arguments *a, GError **err)
{
    struct record_book *book = store_read(a->rest[0], err);
    if (!book)
        return false;
    if (a->json)
        report_json(book, stdout, true);
    else
        report_text(book, stdout);
    if (a->flows && !a->json)
        report_flows(book, stdout);
    record_book_free(book);
    return true;
}

int cli_report(int argc, char **argv)
{
    struct report_arguments a = {0};
    g_autoptr(GError) err = NULL;
    bool ok = parse_arguments(argc, argv, &a, &err) && report(&a, &err);
    if (!ok)
        fprintf(stderr, "fabricast: %s\n", err->message);
    g_strfreev(a.rest);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}
