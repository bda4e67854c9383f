/* check.h - finds mistakes in a scenario before it runs.
 *
 * Rules look at what the settings make of each port and switch (models/survey.h: the profiles that a run itself would
 * use), at the routes, and at the workload's classes. Nothing is simulated. A finding says where, why with its arithmetic,
 * and what to change; the rules are listed in docs/CHECK.md.
 */
#ifndef FABRICAST_SCENARIOS_CHECK_H
#define FABRICAST_SCENARIOS_CHECK_H

#include "scenarios/scenario.h"
#include <glib.h>
#include <stdint.h>

enum check_severity { CHECK_NOTE, CHECK_WARNING, CHECK_ERROR };

/* A line of arithmetic: "peer response", "500 ns x 400 Gb/s = 25,000 B". */
struct check_term { char *name, *value; };

/* A place: a graph port, or a whole node (port NET_NONE). */
struct check_place { uint32_t node, port; };

struct check_finding {
    const char *id;        /* of the rule: "headroom-short"; static */
    enum check_severity severity;
    char *what;            /* one sentence, the same for all places */
    char *where;           /* the places in short: "leaf0..leaf7 to spine0..spine7, 128 ports"; "" where it concerns the whole scenario */
    GArray *places;        /* struct check_place */
    GPtrArray *terms;      /* struct check_term * */
    GPtrArray *changes;    /* char *: "buffer.headroom = 97KB (f.ini:12 has 34KB)" */
};

/* One direction of a link, for one class of the workload. */
struct check_hop {
    uint32_t port;         /* graph port that sends */
    uint8_t class, dscp;
    uint8_t pg;            /* priority group at the receiving end */
    uint8_t queues;        /* where the class may wait at the sending end, one bit each */
    const char *state;     /* "lossless", ...; static */
    bool lossless;
};

struct check_report {
    GPtrArray *findings;   /* struct check_finding *, errors first, in order of rules */
    GArray *hops;          /* struct check_hop */
    GPtrArray *node_names; /* char *, by graph node */
    GArray *port_nodes;    /* uint32_t: the node of each graph port */
    GArray *port_peers;    /* uint32_t: the node behind it, NET_NONE */
    uint32_t n_by_severity[CHECK_ERROR + 1];
};

/* Checks SCENARIO, whose own cross-checks need not have been run: contradictions are findings. NULL with ERR set for bad
 * input ("file:line: group.key: ..."). (transfer full) */
struct check_report *check_scenario(struct scenario *scenario, GError **err);
/* The same for a FABRIC that is not that of [topology], with NOTES (char *) about what is checked; both borrowed, both may be NULL. */
struct fabric;
struct check_report *check_scenario_on(struct scenario *scenario, const struct fabric *fabric, const GPtrArray *notes, GError **err);
/* A SONiC config_db.json: its switch alone, with the neighbours that the file names, or one for each port; NICs have the
 * switch's classes. SETS (NULL-terminated, may be NULL) are assignments as of scenario_set(); topology.host_rate and host_cable
 * count where the file tells no speed or length. What the import ignored is told as notes. (transfer full); NULL with ERR set. */
struct check_report *check_sonic(const char *path, char **sets, GError **err);
void check_report_free(struct check_report *report); /* accepts NULL */

/* "error", "warning", "note". */
const char *check_severity_name(enum check_severity severity);

#endif
