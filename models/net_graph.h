/* net_graph.h - the fabric as arrays: nodes, ports, full-duplex links.
 *
 * Topology builders fill it, models read it. Ports of a node are contiguous:
 * node i owns ports [first_port, first_port + n_ports). A port's peer is the
 * port at the other end of its cable; both carry the same rate and delay.
 */
#ifndef FABRICAST_MODELS_NET_GRAPH_H
#define FABRICAST_MODELS_NET_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define NET_NONE UINT32_MAX

enum net_node_kind { NET_HOST, NET_SWITCH };

struct net_node {
    uint8_t kind;  /* enum net_node_kind */
    uint8_t tier;  /* host 0, leaf/ToR 1, spine/aggregation 2, core 3 */
    uint16_t n_ports;
    uint32_t first_port;
};

struct net_port {
    uint32_t node;
    uint32_t peer; /* port index at the other end; NET_NONE: nothing plugged in */
    int64_t rate_bps;
    int64_t delay_ps; /* one-way propagation of the cable alone */
};

/* An endpoint is one GPU with its NIC port: what a rank runs on and what flows address. */
struct net_endpoint {
    uint32_t node; /* a host */
    uint32_t port; /* its NIC port (index into ports); NET_NONE: local only */
};

struct net_graph {
    struct net_node *nodes;
    struct net_port *ports;
    struct net_endpoint *endpoints;
    uint32_t n_nodes, n_ports, n_endpoints;
};

#endif
