/* site_match.h - selectors: which nodes and ports of a fabric a text names. For scenarios/site*.c; the form is in site.h.
 *
 * Messages quote the term that is wrong and list compactly what there is; the caller puts the place in front.
 */
#ifndef FABRICAST_SCENARIOS_SITE_MATCH_H
#define FABRICAST_SCENARIOS_SITE_MATCH_H

#include "topologies/fabric.h"
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* One NODE[/PEER[:INDEX]][@RATE][#CLASS[-CLASS]] of a list. */
struct site_term {
    char *text;              /* as written, for messages */
    GPatternSpec *node;
    GPatternSpec *peer;      /* NULL: no peer named */
    int64_t index;           /* of parallel links to the same peer, from 0; -1: all */
    int64_t rate_bps;        /* of the ports meant; 0: any */
    uint8_t classes;         /* bit mask; 0: no class named */
};

enum { SITE_HOSTS = 1 << NET_HOST, SITE_SWITCHES = 1 << NET_SWITCH, SITE_ALL = SITE_HOSTS | SITE_SWITCHES };

/* (transfer full: GPtrArray of struct site_term, with its free function); NULL with ERR set (PARAM_ERROR_SYNTAX). */
GPtrArray *site_parse(const char *text, GError **err);

/* Sets to 1 the bytes of NODES (n_nodes) whose whole node TERM names, and of PORTS (n_ports) that it names; both may
 * hold marks of other terms. Nodes not of KINDS do not count; of a peer every kind does. False with ERR set
 * (PARAM_ERROR_UNKNOWN) when nothing matches. */
bool site_match(const struct fabric *fabric, const struct site_term *term, unsigned kinds, uint8_t *nodes, uint8_t *ports,
                GError **err);

/* "leaf0..leaf7, spine0": the names of the nodes of FABRIC with a mark in CHOSEN (n_nodes), a handful of ranges at most. (transfer full) */
char *site_list_names(const struct fabric *fabric, const uint8_t *chosen);

#endif
