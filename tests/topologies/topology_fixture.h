/* topology_fixture.h - what the topology tests share: fabrics from "key=value" lists and from file text. */
#ifndef FABRICAST_TESTS_TOPOLOGY_FIXTURE_H
#define FABRICAST_TESTS_TOPOLOGY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "topologies/fabric_priv.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* The default [topology] with the assignments of the list "key=value key=value". */
static inline struct param_bag *fixture_bag(const char *list)
{
    static const struct param_group *const groups[] = {&topology_param_group, &routing_param_group};
    struct param_bag *bag = param_bag_new(groups, 2);
    g_auto(GStrv) assignments = g_strsplit(list, " ", -1);
    for (char **a = assignments; *a; a++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *full = g_strconcat("topology.", *a, NULL);
        if (**a && !param_bag_set_assignment(bag, full, PARAM_BY_COMMAND_LINE, "--set", &error))
            fail_msg("%s", error->message);
    }
    return bag;
}

static inline struct fabric *fixture_try(const char *list, GError **err)
{
    struct param_bag *bag = fixture_bag(list);
    struct fabric *fabric = fabric_build(param_bag_get(bag, "topology"), NULL, err);
    param_bag_free(bag);
    return fabric;
}

/* Builds and checks; fails the test with the message otherwise. */
static inline struct fabric *fixture_build(const char *list)
{
    g_autoptr(GError) error = NULL;
    struct fabric *fabric = fixture_try(list, &error);
    if (!fabric || !fabric_check(fabric, &error))
        fail_msg("%s: %s", list, error->message);
    return fabric;
}

/* The build must fail with a message that holds PART. */
static inline void fixture_refused(const char *list, const char *part)
{
    g_autoptr(GError) error = NULL;
    struct fabric *fabric = fixture_try(list, &error);
    if (fabric || !error)
        fail_msg("%s: built, but '%s' was expected", list, part);
    if (!strstr(error->message, part))
        fail_msg("%s: '%s' does not hold '%s'", list, error->message, part);
}

typedef struct fabric *(*fixture_importer)(const char *path, GError **err);

/* Imports N_BYTES of DATA through a temporary file, whose name becomes "FILE" in the message of *ERR. */
static inline struct fabric *fixture_import_bytes(fixture_importer import, const char *data, gssize n_bytes,
                                                  GError **err)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("fabricast-XXXXXX", &path, NULL);
    assert_true(fd >= 0);
    close(fd);
    assert_true(g_file_set_contents(path, data, n_bytes, NULL));
    struct fabric *fabric = import(path, err);
    g_unlink(path);
    if (err && *err) {
        g_auto(GStrv) parts = g_strsplit((*err)->message, path, -1);
        g_free((*err)->message);
        (*err)->message = g_strjoinv("FILE", parts);
    }
    return fabric;
}

static inline struct fabric *fixture_import(fixture_importer import, const char *text)
{
    g_autoptr(GError) error = NULL;
    struct fabric *fabric = fixture_import_bytes(import, text, -1, &error);
    if (!fabric || !fabric_check(fabric, &error))
        fail_msg("%s", error->message);
    return fabric;
}

struct fixture_bad {
    const char *text, *part; /* the message must hold PART */
};

static inline void fixture_import_refused(fixture_importer import, const struct fixture_bad *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        g_autoptr(GError) error = NULL;
        struct fabric *fabric = fixture_import_bytes(import, rows[i].text, -1, &error);
        if (fabric || !error)
            fail_msg("row %zu was read, but '%s' was expected", i, rows[i].part);
        if (!strstr(error->message, rows[i].part))
            fail_msg("row %zu: '%s' does not hold '%s'", i, error->message, rows[i].part);
        assert_true(g_error_matches(error, FABRIC_ERROR, FABRIC_ERROR_INPUT));
    }
}

/* Every prefix of TEXT, and TEXT with each byte replaced by others, is read or refused, never worse. Returns
 * how many were refused. */
static inline uint32_t fixture_mangle(fixture_importer import, const char *text)
{
    static const char others[] = {'\0', '9', '-', '#', '\xff', ',', ' ', '\n'};
    uint32_t refused = 0;
    size_t n = strlen(text);
    for (size_t cut = 0; cut < n; cut++) {
        g_autoptr(GError) error = NULL;
        struct fabric *fabric = fixture_import_bytes(import, text, (gssize)cut, &error);
        assert_true((fabric == NULL) == (error != NULL));
        refused += fabric == NULL;
        fabric_free(fabric);
    }
    g_autofree char *copy = g_strdup(text);
    for (size_t i = 0; i < n * sizeof others; i++) {
        g_autoptr(GError) error = NULL;
        copy[i / sizeof others] = others[i % sizeof others];
        struct fabric *fabric = fixture_import_bytes(import, copy, (gssize)n, &error);
        assert_true((fabric == NULL) == (error != NULL));
        refused += fabric == NULL;
        fabric_free(fabric);
        copy[i / sizeof others] = text[i / sizeof others];
    }
    return refused;
}

/* Path below the shared folder, or NULL with a printed message if it is not there. (transfer full) */
static inline char *fixture_shared(const char *file)
{
    char *path = g_build_filename(TEST_SHARED_DIR, file, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return path;
    print_message("%s is absent: skipped\n", path);
    g_free(path);
    return NULL;
}

static inline uint32_t fixture_count(const struct fabric *fabric, int kind, int tier)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++)
        n += fabric->graph.nodes[i].kind == kind && (tier < 0 || fabric->graph.nodes[i].tier == tier);
    return n;
}

/* Id of the node called NAME; the test fails if there is none. */
static inline uint32_t fixture_node(const struct fabric *fabric, const char *name)
{
    for (uint32_t i = 0; i < fabric->graph.n_nodes; i++)
        if (strcmp(fabric->names[i], name) == 0)
            return i;
    fail_msg("no node %s", name);
    return NET_NONE;
}

/* Node at the other end of port NUMBER of NODE. */
static inline uint32_t fixture_far(const struct fabric *fabric, uint32_t node, uint32_t number)
{
    const struct net_graph *graph = &fabric->graph;
    assert_true(number < graph->nodes[node].n_ports);
    return graph->ports[graph->ports[graph->nodes[node].first_port + number].peer].node;
}

#endif
