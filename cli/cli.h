/* cli.h - the subcommands. Each is main() of its own command line: argv[0] is the
 * subcommand's name; returns the exit code (see EXIT_* below). Only cli/ prints. */
#ifndef FABRICAST_CLI_CLI_H
#define FABRICAST_CLI_CLI_H

enum cli_exit {
    CLI_OK = 0,
    CLI_FINDINGS = 1,    /* check alone: there are warnings or errors */
    CLI_BAD_INPUT = 2,   /* file:line: key: what is wrong, what is allowed */
    CLI_UNFINISHED = 3,  /* --until, a limit or an interrupt came first; what is unfinished is listed */
    CLI_DEADLOCK = 4,    /* nothing can make progress; named */
    CLI_INTERNAL = 5,    /* a result broke a law (below bound, bytes unbalanced): never shown as a number */
};

int cli_run(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_topo(int argc, char **argv);
int cli_collective(int argc, char **argv);
int cli_plot(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_counters(int argc, char **argv);
int cli_import(int argc, char **argv);

#endif
