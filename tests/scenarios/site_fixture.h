/* site_fixture.h - what the tests of sites share: a scenario, the fabric that it builds, and its site. */
#ifndef FABRICAST_TESTS_SITE_FIXTURE_H
#define FABRICAST_TESTS_SITE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "scenarios/scenario.h"
#include "scenarios/site_match.h"
#include "scenarios/site_priv.h"
#include "topologies/topology_params.h"
#include <string.h>

/* node0..node7, leaf0, leaf1 (four hosts each), spine0, spine1; two links between each leaf and spine; 400 Gb/s. */
#define FIXTURE_FABRIC \
    "[topology]\nkind = leaf_spine\nhosts = 8\nleaves = 2\nspines = 2\nparallel_links = 2\nhost_rate = 400Gbps\n"

struct fixture {
    struct scenario *scenario;
    struct fabric *fabric;
};

/* Line 1 of TEXT is line 8 of "f.ini". */
static inline struct fixture fixture_new(const char *text)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *all = g_strconcat(FIXTURE_FABRIC, text, NULL);
    struct fixture f = {.scenario = scenario_parse("f.ini", all, strlen(all), &err)};
    if (!f.scenario)
        fail_msg("%s", err->message);
    f.fabric = fabric_build(param_bag_get(f.scenario->bag, "topology"), NULL, &err);
    if (!f.fabric)
        fail_msg("%s", err->message);
    return f;
}

static inline void fixture_free(struct fixture *f)
{
    fabric_free(f->fabric);
    scenario_free(f->scenario);
}

static inline struct site *fixture_site(const struct fixture *f)
{
    g_autoptr(GError) err = NULL;
    struct site *site = site_new(f->scenario->bag, f->fabric, &err);
    if (!site)
        fail_msg("%s", err->message);
    return site;
}

static inline uint32_t fixture_node(const struct fabric *fabric, const char *name)
{
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++)
        if (strcmp(fabric->names[i], name) == 0)
            return i;
    fail_msg("no node %s", name);
    return 0;
}

/* The INDEXth port of NODE that faces PEER. */
static inline uint32_t fixture_port(const struct fabric *fabric, const char *node, const char *peer, int index)
{
    const struct net_graph *graph = &fabric->graph;
    const struct net_node *n = &graph->nodes[fixture_node(fabric, node)];
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++)
        if (graph->ports[p].peer != NET_NONE && graph->ports[graph->ports[p].peer].node == fixture_node(fabric, peer) && index-- == 0)
            return p;
    fail_msg("no port %s/%s", node, peer);
    return 0;
}

#endif
