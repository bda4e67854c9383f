/* site.h - parameters by place: what [group:selector] means on a fabric.
 *
 * A selector is a comma-separated list of NODE, NODE/PEER or either with @RATE and #CLASS behind:
 *   leaf3            the switch leaf3 and all its ports
 *   leaf* / leaf?    shell wildcards * and ? (GPatternSpec)
 *   leaf3/spine1     the ports of leaf3 that face spine1: what leaf3 sends there and receives from there
 *   leaf3/gpu-*      its host-facing ports
 *   leaf3/spine1:2   of parallel links between the two the third, in port order (from 0); without a number all of them
 *   leaf3@100Gbps    its ports of that rate
 *   leaf*#3-4        priority groups and queues 3 and 4 of all its ports (groups buffer and ecn alone)
 * For [link:...] it is the direction NODE -> PEER. A selector that matches nothing is an error that names what there is.
 * Keys that belong to a whole node (such as buffer.size) can't be set where a peer, a rate or a class is named, those of
 * the whole run (such as nic.mtu) in no layer.
 */
#ifndef FABRICAST_SCENARIOS_SITE_H
#define FABRICAST_SCENARIOS_SITE_H

#include "models/net.h"
#include "sim/params.h"
#include "topologies/fabric.h"

struct site; /* opaque */

/* BAG and FABRIC are borrowed. NULL with ERR set ("file:line: [pfc:leaf9]: ..."). Free with site_free(). */
struct site *site_new(struct param_bag *bag, const struct fabric *fabric, GError **err);
void site_free(struct site *site); /* accepts NULL */

/* Values of a group at graph port PORT for CLASS (NET_SITE_ANY_CLASS: layers with a class do not count); never NULL after site_new(). */
const void *site_at_port(const struct site *site, enum net_params kind, uint32_t port, uint32_t class);
/* Values of node-wide keys. */
const void *site_at_node(const struct site *site, enum net_params kind, uint32_t node);

/* "FILE:LINE: [GROUP:SELECTOR]" of the last layer that sets KEY of a group and holds at PORT of NODE for CLASS (NET_NONE: at
 * the node as such); NULL: the value is that of [GROUP]. (transfer full) */
char *site_layer_origin(const struct site *site, enum net_params kind, const char *key, uint32_t node, uint32_t port, uint32_t class);
/* The same for models; SITE is borrowed. */
struct net_site site_for_net(struct site *site);

/* "buffer", "pfc", ...: the group whose values KIND stands for. */
const char *site_group_name(enum net_params kind);
/* Where the value of KEY that holds at graph port PORT (of a node-wide key: any port of the node) was set: "f.ini:12",
 * "default". Looks through the layers again: for messages. Borrowed. */
const char *site_origin(const struct site *site, enum net_params kind, uint32_t port, uint32_t class, const char *key);

/* The items of [fault:NAME], one for each place that matches and each time it happens, in order of start.
 * (transfer full: GArray of struct net_fault). NULL with ERR set. */
GArray *site_faults(const struct site *site, GError **err);

/* Ports that the selector-like TEXT names ("leaf3/spine1", "leaf3"); ORIGIN opens error messages. (transfer full: GArray
 * of uint32_t graph ports, ascending); NULL with ERR set, also when nothing matches. */
GArray *site_ports(const struct fabric *fabric, const char *text, const char *origin, GError **err);

#endif
