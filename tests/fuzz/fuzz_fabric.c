/* fuzz_fabric.c - what must hold for a fabric that an importer returned. */
#include "fuzz_fabric.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_HOPS       64
#define MAX_PAIRS      8
#define MAX_DRAWN      2000 /* nodes */
#define ROUTE_SEED     7
#define FIRST_UDP_PORT 49152

static void check_arrays(const struct fabric *fabric)
{
    const struct net_graph *graph = &fabric->graph;
    for (uint32_t p = 0; p < graph->n_ports; p++) {
        FUZZ_REQUIRE(graph->ports[p].node < graph->n_nodes);
        FUZZ_REQUIRE(graph->ports[p].peer == NET_NONE || graph->ports[p].peer < graph->n_ports);
    }
    for (uint32_t e = 0; e < graph->n_endpoints; e++) {
        FUZZ_REQUIRE(graph->endpoints[e].node < graph->n_nodes);
        FUZZ_REQUIRE(graph->endpoints[e].port == NET_NONE || graph->endpoints[e].port < graph->n_ports);
    }
}

void fuzz_check_path(const struct fabric *fabric, const uint32_t *ports, int n, uint32_t src_node, uint32_t dst_node)
{
    uint32_t node = src_node;
    for (int i = 0; i < n; i++) {
        FUZZ_REQUIRE(ports[i] < fabric->graph.n_ports);
        const struct net_port *port = &fabric->graph.ports[ports[i]];
        FUZZ_REQUIRE(port->node == node && port->peer != NET_NONE);
        node = fabric->graph.ports[port->peer].node;
    }
    FUZZ_REQUIRE(node == dst_node);
}

/* FABRIC passed its check, so there is a path. One longer than MAX_HOPS is an error with a message. */
static void check_route(const struct fabric *fabric, struct routes *routes, uint32_t src, uint32_t dst)
{
    uint32_t ports[MAX_HOPS];
    GError *err = NULL;
    struct route_key key = {.src = src, .dst = dst, .sport = FIRST_UDP_PORT, .dport = FIRST_UDP_PORT};
    const struct ecmp_hash hash = ecmp_hash_mix(ROUTE_SEED, true);
    int n = routes_path(routes, &key, &hash, ports, MAX_HOPS, &err);
    if (n < 0) {
        fuzz_take_error(&err, NULL);
        return;
    }
    FUZZ_REQUIRE(n == routes_hops(routes, src, dst));
    if (n > 0)
        fuzz_check_path(fabric, ports, n, fabric->graph.endpoints[src].node, fabric->graph.endpoints[dst].node);
}

static void check_routes(const struct fabric *fabric)
{
    struct routes *routes = routes_new(fabric);
    uint32_t n = fabric->graph.n_endpoints;
    for (uint32_t i = 0; i < MIN(n, MAX_PAIRS); i++)
        check_route(fabric, routes, i, n - 1 - i);
    routes_free(routes);
}

static void draw(const struct fabric *fabric)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    FUZZ_REQUIRE(out);
    fabric_show(fabric, out);
    fabric_dot(fabric, out);
    fclose(out);
    FUZZ_REQUIRE(n_bytes > 0);
    free(text);
}

static void check_fabric(const struct fabric *fabric)
{
    GError *err = NULL;
    FUZZ_REQUIRE(fabric->graph.n_nodes > 0);
    check_arrays(fabric);
    if (fabric->graph.n_nodes <= MAX_DRAWN)
        draw(fabric);
    if (fabric_check(fabric, &err))
        check_routes(fabric);
    else
        fuzz_take_error(&err, NULL);
}

void fuzz_import(struct fabric *(*import)(const char *path, GError **err), const uint8_t *data, size_t n_bytes)
{
    struct fuzz_file file;
    GError *err = NULL;
    fuzz_file_init(&file, data, n_bytes);
    struct fabric *fabric = import(file.path, &err);
    if (fabric)
        check_fabric(fabric);
    else
        fuzz_take_error(&err, file.path);
    fabric_free(fabric);
    fuzz_file_release(&file);
}
