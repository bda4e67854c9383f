/* check_priv.h - what the rules of scenarios/check_*.c share. */
#ifndef FABRICAST_SCENARIOS_CHECK_PRIV_H
#define FABRICAST_SCENARIOS_CHECK_PRIV_H

#include "models/job.h"
#include "models/survey.h"
#include "scenarios/check.h"
#include "scenarios/site.h"
#include "topologies/fabric.h"
#include "topologies/topology_params.h"

struct check {
    struct scenario *scenario;
    const struct fabric *fabric;
    struct fabric *own_fabric;     /* the same, to be freed; NULL: borrowed */
    const struct net_graph *graph; /* of the fabric */
    struct site *site;
    GArray *faults;                /* struct net_fault */
    struct survey *survey;
    struct routes *routes;
    struct job *job;               /* NULL: no workload */
    const struct nic_params *nic;  /* of the run */
    const struct pfc_params *pfc;
    const struct routing_params *routing;
    uint8_t data_class;            /* of RDMA data for which the workload names none */
    uint8_t classes;               /* in which data is sent, one bit each */
    uint8_t codes[NET_CLASSES];    /* by class: codes that some NIC gives to it, one bit each */
    uint8_t (*tcs)[NET_CLASSES];   /* by node and code: traffic classes that its ports read from it, one bit each */
    uint8_t cnp_classes;           /* of the CNPs of some NIC; 0: nobody sends CNPs */
    uint8_t lossless_classes;      /* that are meant to be lossless: most hops are; set by check_hops() */
    bool infiniband;               /* all hops are lossless by credits; a VL is what a priority group is on Ethernet */
    bool pausable;                 /* PFC is on at some port of a switch */
    uint8_t *explained;            /* by graph port: a rule has told why a run refuses it */
    char *ecn_contradiction;       /* of [ecn] as a whole, to be told unless check_marking_order() finds its links; NULL */
    struct check_report *report;
};

/* ---- findings: check_find.c ---------------------------------------------------- */
/* The finding of rule ID with this text; made if there is none yet (n places 0: add its terms and changes). Borrowed. */
struct check_finding *check_find(struct check *c, const char *id, enum check_severity severity, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
/* Adds a place. */
void check_at_port(struct check_finding *finding, const struct check *c, uint32_t port);
void check_at_node(struct check_finding *finding, uint32_t node);
static inline bool check_is_new(const struct check_finding *finding)
{
    return finding->places->len == 0 && finding->terms->len == 0 && finding->changes->len == 0;
}
void check_term(struct check_finding *finding, const char *name, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Free text: what to change. */
void check_change(struct check_finding *finding, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* "group.key = VALUE", and where the one in force was set, at PORT for CLASS. */
void check_change_key(struct check_finding *finding, const struct check *c, enum net_params kind, uint32_t port, uint32_t class,
                      const char *key, const char *value);
/* The same for groups that do not depend on the place. */
void check_change_run_key(struct check_finding *finding, const struct check *c, const char *group, const char *key, const char *value);
struct check_report *check_report_new(void);
/* Fills WHERE of all findings and sorts them. */
void check_close(struct check *c);

/* "97,412 B"; "1.64 MB". (transfer full) */
char *check_bytes(double bytes);

/* "3,4"; "none". (transfer full) */
char *check_bits(uint8_t bits);

/* ---- places ---------------------------------------------------------------------- */
static inline bool check_is_switch(const struct check *c, uint32_t node) { return c->graph->nodes[node].kind == NET_SWITCH; }
static inline bool check_is_plugged(const struct check *c, uint32_t port) { return c->graph->ports[port].peer != NET_NONE; }
/* A plugged port of a switch whose profile is complete. */
static inline bool check_is_switch_port(const struct check *c, uint32_t port)
{
    return check_is_switch(c, c->graph->ports[port].node) && check_is_plugged(c, port) && !survey_problem(c->survey, port);
}
static inline uint32_t check_peer_node(const struct check *c, uint32_t port)
{
    return c->graph->ports[c->graph->ports[port].peer].node;
}
/* Values at a port, at a node. */
#define CHECK_PORT(c, kind, port) site_at_port((c)->site, kind, port, NET_SITE_ANY_CLASS)
#define CHECK_NODE(c, kind, node) site_at_node((c)->site, kind, node)
/* Is the fault kind among the scenario's? */
bool check_has_fault(const struct check *c, uint32_t kinds);

/* ---- rules, one family a file ------------------------------------------------------- */
void check_marking_order(struct check *c); /* kmin above kmax, by link */
void check_buffer(struct check *c);    /* sums of a switch's buffer, XON and XOFF */
void check_headroom(struct check *c);
void check_hops(struct check *c);      /* lossless hop list; sets lossless_classes */
void check_classes(struct check *c);   /* maps, trust, CNPs, shared classes */
void check_ecn(struct check *c);       /* rules for marking, and ECN against PFC */
void check_watchdog(struct check *c);
void check_paths(struct check *c);     /* static paths, reordering, few flows */
void check_polarisation(struct check *c);
void check_cycles(struct check *c);
void check_transport(struct check *c);

/* check_paths.c: mean of the fullest of BINS when BALLS fall into them at random. */
double check_expected_maximum(uint32_t balls, uint32_t bins);

/* check_hops.c: may packets of CODE (of CLASS where PORT is a NIC's) be lost for want of a pause on the link from PORT? */
enum check_hop_state { HOP_LOSSLESS, HOP_LOSSY, HOP_NO_PAUSE, HOP_IGNORED, HOP_OTHER_QUEUE, HOP_NIC_NEVER_PAUSES };
enum check_hop_state check_hop_state(const struct check *c, uint32_t port, uint32_t class, uint32_t code);
/* Queues in which CODE may wait at PORT, one bit each: a switch's maps may differ between its ingress ports. */
uint8_t check_queues(const struct check *c, uint32_t port, uint32_t class, uint32_t code);
/* Does congestion control slow senders down when marks come back? */
bool check_heeds_ecn(const struct check *c);

#endif
