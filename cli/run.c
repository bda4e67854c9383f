/* run.c - fabricast run: simulates a scenario, prints its table, writes its file. */
#include "analysis/pcap.h"
#include "analysis/report.h"
#include "analysis/store.h"
#include "cli/cli.h"
#include "models/job.h"
#include "scenarios/run.h"
#include "scenarios/run_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run_arguments {
    char **set, **pcap, **capture;
    char *pcap_file;
    char *out, *until, *seed, *threads;
    gboolean json, quiet, digest, no_progress;
    char **rest;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* The first one ends the run between two windows and keeps what there is; a second one ends the program. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* "-j4" as make and gcc take it; GLib wants a blank. Returns a copy of ARGV (transfer full). */
static char **split_threads(int argc, char **argv)
{
    GPtrArray *out = g_ptr_array_new();
    for (int i = 0; i < argc; i++)
        if (g_str_has_prefix(argv[i], "-j") && g_ascii_isdigit(argv[i][2]))
            g_ptr_array_add(out, g_strdup_printf("--threads=%s", argv[i] + 2));
        else
            g_ptr_array_add(out, g_strdup(argv[i]));
    g_ptr_array_add(out, NULL);
    return (char **)g_ptr_array_free(out, FALSE);
}

static bool parse_arguments(int argc, char **argv, struct run_arguments *a, GError **err)
{
    const GOptionEntry entries[] = {
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &a->set, "Set a parameter, above the scenario file", "GROUP.KEY=VALUE"},
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &a->out, "Write all results to this HDF5 file", "FILE.h5"},
        {"pcap", 0, 0, G_OPTION_ARG_STRING_ARRAY, &a->pcap,
         "Capture what leaves a port, as FILE.pcap or beside --out (repeatable)", "link=NODE/PEER[,file=FILE]"},
        {"until", 0, 0, G_OPTION_ARG_STRING, &a->until, "Stop at this simulated time (run.until)", "TIME"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &a->seed, "Seed of the random draws (run.seed)", "N"},
        {"threads", 'j', 0, G_OPTION_ARG_STRING, &a->threads, "Threads (run.threads); results do not depend on it", "N"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &a->json, "Print results as JSON", NULL},
        {"digest", 0, 0, G_OPTION_ARG_NONE, &a->digest, "Print the digest of the run and nothing else", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &a->quiet, "Print nothing but errors", NULL},
        {"no-progress", 0, 0, G_OPTION_ARG_NONE, &a->no_progress, "Show no progress on the terminal", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &a->rest, NULL, "SCENARIO.ini"},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("- simulate a scenario");
    g_option_context_set_description(context,
                                     "Exit codes: 0 everything finished; 2 bad input; 3 unfinished at --until or interrupted;\n"
                                     "4 deadlock or work that can't finish; 5 internal error: a result broke a law of the model.\n"
                                     "Parameters: fabricast list params");
    g_option_context_add_main_entries(context, entries, NULL);
    g_auto(GStrv) split = split_threads(argc, argv);
    if (!g_option_context_parse_strv(context, &split, err))
        return false;
    if (a->rest && a->rest[0] && !a->rest[1])
        return true;
    g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "run: give one scenario file (see fabricast run --help)");
    return false;
}

static bool set_short(struct scenario *scenario, const char *key, const char *value, GError **err)
{
    if (!value)
        return true;
    g_autofree char *assignment = g_strdup_printf("%s=%s", key, value);
    return scenario_set(scenario, assignment, err);
}

static struct scenario *load(const struct run_arguments *a, GError **err)
{
    struct scenario *scenario = scenario_load(a->rest[0], err);
    bool ok = scenario != NULL;
    for (char **s = a->set; ok && s && *s; s++)
        ok = scenario_set(scenario, *s, err);
    ok = ok && set_short(scenario, "run.until", a->until, err) && set_short(scenario, "run.seed", a->seed, err) &&
         set_short(scenario, "run.threads", a->threads, err) && scenario_check(scenario, err);
    if (ok)
        return scenario;
    scenario_free(scenario);
    return NULL;
}

/* Found out before the run, not after it. A device or pipe is no place for a results file: it would be replaced. */
static bool can_write(const char *path, GError **err)
{
    if (!path)
        return true;
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *probe = g_build_filename(folder, ".fabricast-XXXXXX", NULL);
    bool taken = g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_REGULAR);
    int fd = path[0] == '\0' || taken ? -1 : g_mkstemp(probe);
    if (fd >= 0) {
        close(fd);
        unlink(probe);
        return true;
    }
    g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                "run: --out %s: cannot write there; allowed: a regular file in a folder that exists", path);
    return false;
}

/* --pcap link=leaf0/spine1,file=out.pcap: ports into a->capture, the file into a->pcap_file. */
static bool read_pcap(struct run_arguments *a, GError **err)
{
    GPtrArray *ports = g_ptr_array_new();
    bool ok = true;
    for (char **option = a->pcap; ok && option && *option; option++) {
        g_auto(GStrv) parts = g_strsplit(*option, ",", -1);
        for (char **part = parts; ok && *part; part++) {
            ok = g_str_has_prefix(*part, "link=") || g_str_has_prefix(*part, "file=");
            if (!ok)
                g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "run: --pcap: '%s' is neither link=NODE/PEER nor file=FILE", *part);
            else if ((*part)[0] == 'l')
                g_ptr_array_add(ports, g_strdup(*part + strlen("link=")));
            else {
                g_free(a->pcap_file);
                a->pcap_file = g_strdup(*part + strlen("file="));
            }
        }
    }
    if (ok && a->pcap && ports->len == 0) {
        g_set_error(err, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "run: --pcap names no link; allowed: link=NODE/PEER[,file=FILE]");
        ok = false;
    }
    g_ptr_array_add(ports, NULL);
    a->capture = (char **)g_ptr_array_free(ports, FALSE);
    if (a->pcap && !a->pcap_file)
        a->pcap_file = a->out ? g_strdup_printf("%s.pcap", a->out) : g_strdup("capture.pcap");
    return ok;
}

static void print_book(const struct run_arguments *a, const struct record_book *book)
{
    if (a->quiet)
        return;
    if (a->digest)
        printf("%s\n", record_meta_get(book, "digest"));
    else if (a->json)
        report_json(book, stdout, true);
    else
        report_text(book, stdout);
}

static int output(const struct run_arguments *a, const struct run_result *result)
{
    static const int codes[] = {[RUN_FINISHED] = CLI_OK, [RUN_UNFINISHED] = CLI_UNFINISHED, [RUN_STUCK] = CLI_DEADLOCK,
                                [RUN_BROKEN] = CLI_INTERNAL};
    static const char *const titles[] = {[RUN_FINISHED] = "", [RUN_UNFINISHED] = "unfinished", [RUN_STUCK] = "stuck",
                                         [RUN_BROKEN] = "internal error"};
    g_autoptr(GError) err = NULL;
    if (result->book)
        print_book(a, result->book);
    fflush(stdout);
    for (guint i = 0; i < result->notes->len; i++)
        fprintf(stderr, "fabricast: %s: %s\n", titles[result->status], (char *)g_ptr_array_index(result->notes, i));
    if (result->book && a->out) {
        if (!store_write(a->out, result->book, &err)) {
            fprintf(stderr, "fabricast: %s\n", err->message);
            return CLI_BAD_INPUT;
        }
        if (!a->quiet && !a->json && !a->digest)
            printf("results: %s\n", a->out);
    }
    if (result->book && a->pcap_file) {
        if (!pcap_write(a->pcap_file, result->book, 0, &err)) {
            fprintf(stderr, "fabricast: %s\n", err->message);
            return CLI_BAD_INPUT;
        }
        if (!a->quiet && !a->json && !a->digest)
            printf("capture: %s\n", a->pcap_file);
    }
    return codes[result->status];
}

static void free_arguments(struct run_arguments *a)
{
    g_strfreev(a->set);
    g_strfreev(a->pcap);
    g_strfreev(a->capture);
    g_free(a->pcap_file);
    g_strfreev(a->rest);
    g_free(a->out);
    g_free(a->until);
    g_free(a->seed);
    g_free(a->threads);
}

int cli_run(int argc, char **argv)
{
    struct run_arguments a = {0};
    g_autoptr(GError) err = NULL;
    struct scenario *scenario = NULL;
    struct run_result *result = NULL;
    int code = CLI_BAD_INPUT;
    if (parse_arguments(argc, argv, &a, &err) && can_write(a.out, &err) && read_pcap(&a, &err) && can_write(a.pcap_file, &err) && (scenario = load(&a, &err)) != NULL) {
        const struct run_params *params = param_bag_get(scenario->bag, "run");
        struct run_options options = {.show_progress = params->progress && isatty(STDERR_FILENO) && !a.quiet && !a.no_progress,
                                      .interrupt = &interrupted,
                                      .capture = a.pcap ? (const char *const *)a.capture : NULL};
        catch_signals();
        result = run_scenario(scenario, &options, &err);
    }
    if (result)
        code = output(&a, result);
    else
        fprintf(stderr, "fabricast: %s\n", err->message);
    if (err && err->domain == JOB_ERROR && err->code == JOB_ERROR_UNMATCHED)
        code = CLI_DEADLOCK;
    run_result_free(result);
    scenario_free(scenario);
    free_arguments(&a);
    return code;
}
