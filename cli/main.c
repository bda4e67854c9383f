/* main.c - fabricast COMMAND ...: finds the subcommand and hands over. */
#include "cli/cli.h"

#include "sim/message.h"
#include <errno.h>
#include <glib.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *doc;
};

static const struct command commands[] = {
    {"run", cli_run, "Simulate a scenario and write its results."},
    {"check", cli_check, "Find mistakes in a scenario before it runs."},
    {"list", cli_list, "List parameters, their sources, and catalogue entries."},
    {"topo", cli_topo, "Show, check and draw a fabric."},
    {"collective", cli_collective, "Show the schedule and the cost of a collective."},
    {"plot", cli_plot, "Draw plots from a result file."},
    {"report", cli_report, "Write a report from a result file."},
    {"import", cli_import, "Turn the settings of real switches into an overlay for scenarios."},
    {"counters", cli_counters, "Show counters of NICs and switches from a result file."},
};

static void print_usage(FILE *out)
{
    fputs("usage: fabricast COMMAND [OPTION...]\n"
          "\n"
          "Forecasts how long training steps and collectives take on a fabric, and says why.\n"
          "\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].doc);
    fputs("\n"
          "fabricast help COMMAND    options of a command\n"
          "fabricast --version       version\n",
          out);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[G_N_ELEMENTS(commands)];
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        names[i] = commands[i].name;
    g_autofree char *quoted = message_quote(name);
    g_autofree char *allowed = message_allowed(name, names, G_N_ELEMENTS(names));
    fprintf(stderr, "fabricast: unknown command %s%s\n", quoted, allowed);
    return CLI_BAD_INPUT;
}

static int run_command(int argc, char **argv)
{
    const struct command *command = find_command(argv[0]);
    if (!command)
        return unknown_command(argv[0]);
    g_autofree char *program = g_strdup_printf("fabricast %s", command->name);
    g_set_prgname(program); /* what usage lines begin with */
    return command->run(argc, argv);
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stdout);
        return CLI_OK;
    }
    char option[] = "--help";
    char *help_argv[] = {argv[1], option, NULL};
    return run_command(2, help_argv);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return CLI_BAD_INPUT;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        puts("fabricast " FABRICAST_VERSION);
        return CLI_OK;
    }
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help(argc - 1, argv + 1);
    return run_command(argc - 1, argv + 1);
}

/* LC_CTYPE alone, for names that are not ASCII: numbers are written and read with a point everywhere. */
int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "fabricast: cannot write the output: %s\n", g_strerror(errno));
        return code == CLI_OK ? CLI_INTERNAL : code;
    }
    return code;
}
