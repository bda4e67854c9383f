/* plot.c - fabricast plot: pictures from a results file. */
#include "analysis/plot.h"
#include "analysis/store.h"
#include "cli/cli.h"

#include <stdio.h>

struct plot_arguments {
    char *out, *format;
    char **rest;
};

static bool parse_arguments(int argc, char **argv, struct plot_arguments *a, GError **err)
{
    const GOptionEntry entries[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &a->out, "Folder for the pictures (default: .)", "DIR"},
        {"format", 'f', 0, G_OPTION_ARG_STRING, &a->format, "png or svg (default: png)", "FORMAT"},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &a->rest, NULL, "RUN.h5"},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("RUN.h5 - draw plots from a results file");
    g_option_context_set_description(
        context, "Prints the path of every picture; says on standard error which it left out, and why.\n"
                 "Needs the program gnuplot. Exit codes: 0 done; 2 bad input.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, err))
        return false;
    if (a->rest && a->rest[0] && !a->rest[1])
        return true;
    g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                "plot: give one results file (see fabricast plot --help)");
    return false;
}

static bool draw(const struct plot_arguments *a, GError **err)
{
    g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    struct record_book *book = store_read(a->rest[0], err);
    if (!book)
        return false;
    bool ok = plot_run(book, a->out ? a->out : ".", a->format ? a->format : "png", made, skipped, err);
    record_book_free(book);
    for (guint i = 0; i < made->len; i++)
        printf("%s\n", (char *)g_ptr_array_index(made, i));
    for (guint i = 0; i < skipped->len; i++)
        fprintf(stderr, "skipped %s\n", (char *)g_ptr_array_index(skipped, i));
    return ok;
}

int cli_plot(int argc, char **argv)
{
    struct plot_arguments a = {0};
    g_autoptr(GError) err = NULL;
    bool ok = parse_arguments(argc, argv, &a, &err) && draw(&a, &err);
    if (!ok)
        fprintf(stderr, "fabricast: %s\n", err->message);
    g_free(a.out);
    g_free(a.format);
    g_strfreev(a.rest);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}
