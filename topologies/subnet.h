/* subnet.h - names of a fabric in InfiniBand's terms: GUIDs, LIDs, port numbers on the device.
 *
 * A switch is one device; of a host each NIC (fabric.ports_per_nic ports) is one. A switch has one LID (its port 0), a NIC
 * port one each.
 */
#ifndef FABRICAST_TOPOLOGIES_SUBNET_H
#define FABRICAST_TOPOLOGIES_SUBNET_H

#include "topologies/fabric.h"

#define SUBNET_LAST_UNICAST_LID 0xbfff

struct subnet {
    uint16_t *node_lid;       /* n_nodes: of switches, else 0 */
    uint64_t *device_guid;    /* by graph port: of its device */
    uint16_t *port_lid;       /* by graph port: of NICs, else 0 */
    uint32_t *port_number;    /* by graph port: on its device, from 1 */
    uint64_t *node_guid;      /* n_nodes: of the switch, or of the host's first NIC */
    uint32_t *n_node_ports;   /* n_nodes: ports of the switch, plugged in or not */
    uint16_t max_lid;
    uint32_t *port_of_lid;    /* max_lid + 1: graph port of a NIC; NET_NONE */
    uint32_t *node_of_lid;    /* max_lid + 1: node of a switch or host; NET_NONE: nobody */
};

/* Labels a FABRIC that has no subnet yet, switches first: the same fabric gets the same labels. False with ERR set when it
 * has more ports than LIDs. */
bool subnet_label(struct fabric *fabric, GError **err);
/* Fills port_of_lid, node_of_lid and max_lid from the LIDs. False with ERR set when one is given twice. */
bool subnet_index(const struct fabric *fabric, struct subnet *subnet, GError **err);
struct subnet *subnet_new(const struct fabric *fabric);
void subnet_free(struct subnet *subnet); /* accepts NULL */

/* NIC of a host's graph port, from 0. */
uint32_t subnet_nic(const struct fabric *fabric, uint32_t port);
/* Name of the device of a graph port: the node's, with " mlx5_N" where a host has several. (transfer full) */
char *subnet_device_name(const struct fabric *fabric, uint32_t port);

/* export_ibsim.c: a labelled fabric as a net file of ibsim, NICs first. */
void subnet_write_ibsim(const struct fabric *fabric, FILE *out);

#endif
