/* topo.c - fabricast topo show|check|dot|ibsim|lft SCENARIO [--set group.key=value]...
 *
 * show: table of counts. check: connected, every pair of GPUs has a path, ports sane; prints one line.
 * dot: Graphviz on standard output. Wrong input of any kind is exit code 2.
 */
#include "cli/cli.h"
#include "scenarios/scenario.h"
#include "topologies/lft.h"
#include "topologies/topology_params.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: fabricast topo show|check|dot|ibsim|lft SCENARIO [--set group.key=value]...\n"
                            "  show   table of hosts, switches, links, oversubscription and bisection\n"
                            "  check  connected, and every pair of GPUs has a path\n"
                            "  dot    Graphviz, for 'dot -Tsvg'\n"
                            "  ibsim  net file of ibsim\n"
                            "  lft    forwarding tables of routing.engine, as opensm-lfts.dump\n";

static int fail(GError *error)
{
    fprintf(stderr, "fabricast topo: %s\n", error->message);
    g_error_free(error);
    return CLI_BAD_INPUT;
}

static int misuse(const char *what, const char *word)
{
    fprintf(stderr, "fabricast topo: %s%s%s\n%s", what, word ? " " : "", word ? word : "", usage);
    return CLI_BAD_INPUT;
}

static bool apply_sets(struct scenario *scenario, char **sets, GError **err)
{
    for (char **set = sets; set && *set; set++)
        if (!scenario_set(scenario, *set, err))
            return false;
    return scenario_check(scenario, err);
}

/* LFT: tables of routing.engine; NULL: ecmp. */
static struct fabric *build(const char *path, char **sets, struct lft **lft, GError **err)
{
    struct scenario *scenario = scenario_load(path, err);
    if (!scenario)
        return NULL;
    struct fabric *fabric = NULL;
    if (apply_sets(scenario, sets, err))
        fabric = fabric_build(param_bag_get(scenario->bag, "topology"), scenario->base_dir, err);
    const struct routing_params *routing = param_bag_get(scenario->bag, "routing");
    *lft = fabric ? lft_of_routing(fabric, routing, scenario->base_dir, err) : NULL;
    if (fabric && routing->engine != ROUTING_ENGINE_ECMP && !*lft) {
        fabric_free(fabric);
        fabric = NULL;
    }
    scenario_free(scenario);
    return fabric;
}

/* What the tables do; all pairs are walked. */
static int judge(const struct lft *lft, const struct fabric *fabric)
{
    GError *error = NULL;
    struct lft_quality q;
    if (!lft_judge(lft, fabric, &q, &error))
        return fail(error);
    printf("tables: %" PRIu64 " paths, at most %" PRIu64 " links; NIC ports an uplink of a leaf: %u to %u\n", q.n_paths, q.max_hops, q.up_min, q.up_max);
    printf("cyclic shifts: at most %u flow%s over a link between switches\n", q.shift_worst, q.shift_worst == 1 ? "" : "s");
    printf("deadlock: %s%s\n", q.deadlock_free ? "none possible" : "these links can wait for each other: ", q.deadlock_free ? "" : q.ring);
    g_free(q.ring);
    return q.deadlock_free ? CLI_OK : CLI_BAD_INPUT;
}

static int check(const struct fabric *fabric, const struct lft *lft)
{
    GError *error = NULL;
    if (!fabric_check(fabric, &error))
        return fail(error);
    printf("ok: %u GPUs, %u nodes, %u links, connected\n", fabric->graph.n_endpoints, fabric->graph.n_nodes,
           fabric->n_links);
    if (fabric->notes)
        fputs(fabric->notes, stdout);
    return lft ? judge(lft, fabric) : CLI_OK;
}

static int run(const char *action, const char *path, char **sets)
{
    GError *error = NULL;
    struct lft *lft;
    struct fabric *fabric = build(path, sets, &lft, &error);
    if (!fabric)
        return fail(error);
    int code = CLI_OK;
    if (strcmp(action, "show") == 0)
        fabric_show(fabric, stdout);
    else if (strcmp(action, "dot") == 0)
        fabric_dot(fabric, stdout);
    else if (strcmp(action, "check") == 0)
        code = check(fabric, lft);
    else if (!subnet_label(fabric, &error))
        code = fail(error);
    else if (strcmp(action, "ibsim") == 0)
        subnet_write_ibsim(fabric, stdout);
    else if (lft)
        lft_write(lft, fabric, stdout);
    else
        code = misuse("routing.engine is ecmp, which has no tables: lft needs minhop, updn, ftree or file", NULL);
    lft_free(lft);
    fabric_free(fabric);
    return code;
}

int cli_topo(int argc, char **argv)
{
    g_auto(GStrv) sets = NULL;
    const GOptionEntry entries[] = {
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &sets, "Set a parameter", "group.key=value"},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("show|check|dot|ibsim|lft SCENARIO");
    GError *error = NULL;
    g_option_context_set_summary(context, "Shows, checks or draws the fabric of a scenario.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return fail(error);
    if (argc != 3)
        return misuse(argc < 3 ? "an action and a scenario file are needed" : "too many arguments, from",
                      argc < 3 ? NULL : argv[3]);
    if (strcmp(argv[1], "show") && strcmp(argv[1], "check") && strcmp(argv[1], "dot") && strcmp(argv[1], "ibsim") && strcmp(argv[1], "lft"))
        return misuse("unknown action", argv[1]);
    return run(argv[1], argv[2], sets);
}
