/* net.h - a packet-level run: switches and NICs on the event engine, executing a job.
 *
 * net_new() turns a fabric (net_graph), a job and the parameter tables into the
 * arrays that the engine runs on; net_run() runs them; the rest reads what
 * happened. Ports and nodes are named by their index in the net_graph everywhere
 * in this header.
 */
#ifndef FABRICAST_MODELS_NET_H
#define FABRICAST_MODELS_NET_H

#include "models/cc.h"
#include "models/job.h"
#include "models/model_params.h"
#include "models/net_graph.h"

struct net;

#define NET_ERROR (net_error_quark())
typedef enum {
    NET_ERROR_INPUT, /* the parameters do not fit the fabric: exit 2 */
    NET_ERROR_ROUTE, /* no path between two ranks: exit 2            */
    NET_ERROR_LAW,   /* a result broke a law of the model: exit 5    */
} net_error;
GQuark net_error_quark(void);

/* One queue pair that wants a path. */
struct net_route_request {
    uint32_t src_rank, dst_rank;
    uint32_t flow_id;  /* of a flow list, else JOB_NONE */
    uint32_t qpn;      /* destination queue pair of its packets: net_qpn() */
    uint16_t sport;    /* UDP source port: the entropy of the queue pair */
    bool reverse;      /* the path of its ACKs, from dst to src */
};
/* Number by which packets of a queue pair and direction (qp << 1 | reverse) name the queue pair that they go to: 24 bits;
 * 0 and 1 are management's (IBTA). */
static inline uint32_t net_qpn(uint32_t direction) { return ((direction | 1) + 2 - (direction & 1)) & 0xffffff; }
/* Egress ports from the source's NIC port on, into PORTS; their number, or -1 with ERR set. */
typedef int (*net_route_fn)(void *user, const struct net_route_request *request, uint32_t *ports, int max, GError **err);

/* Candidates for the next hop: graph ports of NODE (a switch, or the host of a rank) on shortest paths to RANK's NIC, in
 * ascending order, with the graph ports in DOWN (a bit set; NULL: none) and their peers left out. Their number; 0: no
 * way. Called while the run is built, by one thread. */
typedef uint32_t (*net_next_hops_fn)(void *user, uint32_t node, uint32_t rank, const uint64_t *down, uint32_t *ports, uint32_t max);
/* Is the path of REQUEST one that the workload lists? Packets keep to it whatever fails. */
typedef bool (*net_pinned_fn)(void *user, const struct net_route_request *request);
/* ECMP hash of a queue pair's packets at NODE. Pure; called from several threads. */
typedef uint64_t (*net_hash_fn)(void *user, const struct net_route_request *request, uint32_t node);

/* Groups whose values depend on the place. */
enum net_params {
    NET_PARAMS_LINK, NET_PARAMS_SWITCH, NET_PARAMS_QOS, NET_PARAMS_BUFFER, NET_PARAMS_PFC, NET_PARAMS_PFCWD, NET_PARAMS_ECN,
    NET_PARAMS_NIC, NET_N_PARAMS,
};
#define NET_SITE_ANY_CLASS 8u
/* Values of a group at a graph port and class (or NET_SITE_ANY_CLASS), and of the keys that belong to a whole node. */
struct net_site {
    const void *(*at_port)(void *user, enum net_params kind, uint32_t port, uint32_t class);
    const void *(*at_node)(void *user, enum net_params kind, uint32_t node);
    void *user;
    /* Where the value of KEY that holds at NODE and PORT (NET_NONE: of the node) for CLASS was set, if not for the whole run;
     * else NULL. Opens messages. (transfer full) May be NULL itself. */
    char *(*origin)(void *user, enum net_params kind, const char *key, uint32_t node, uint32_t port, uint32_t class);
};

/* What breaks, one entry for each place and time (scenarios/site.h makes them from [fault:NAME]). */
struct net_fault {
    const struct fault_params *params; /* borrowed */
    const char *name;                  /* borrowed */
    uint32_t node;                     /* graph node */
    uint32_t port;                     /* graph port; NET_NONE: all of the node, or a node fault */
    sim_ps start_ps, end_ps;           /* end: SIM_PS_MAX for ever */
};

enum net_lb { NET_LB_FIXED, NET_LB_SPRAY_ROUND_ROBIN, NET_LB_SPRAY_RANDOM, NET_LB_ADAPTIVE, NET_LB_FLOWLET };

struct net_config {
    const struct link_params *link;
    const struct switch_params *switching;
    const struct buffer_params *buffer;
    const struct pfc_params *pfc;
    const struct ecn_params *ecn;
    const struct nic_params *nic;
    const struct dcqcn_params *dcqcn;
    const struct node_params *node;
    const struct qos_params *qos;
    const struct pfcwd_params *pfcwd;
    const struct ib_params *ib;    /* NULL: Ethernet. Else the links are InfiniBand's, and link (but for FEC and errors), qos, buffer, pfc,
                                      pfcwd and ecn do not count */
    const char *const *node_names; /* of the graph; borrowed */
    uint64_t seed;
    uint8_t data_class;
    bool record_pause_events;
    net_route_fn route;
    void *route_user;
    net_next_hops_fn next_hops; /* NULL: no load balancing but LB_FIXED, and no faults of links */
    net_hash_fn hash;
    net_pinned_fn pinned;       /* NULL: no path is */
    enum net_lb lb;
    uint32_t adaptive_choices;
    sim_ps flowlet_gap_ps, local_repair_ps, reconvergence_ps;
    const struct net_site *site;     /* NULL: the groups above hold everywhere */
    const struct net_fault *faults;  /* borrowed */
    uint32_t n_faults;
    const void *cc_params;           /* of the congestion control that nic.congestion_control names; NULL: its defaults */
    const uint32_t *capture_ports;   /* graph ports whose frames are recorded as they leave; borrowed */
    uint32_t n_capture_ports;
    uint64_t capture_max_frames;     /* of each port; 0: no limit */
};

/* GRAPH, JOB (sealed) and the parameter tables are borrowed until net_free(). */
struct net *net_new(const struct net_graph *graph, const struct job *job, const struct net_config *config, GError **err);
void net_free(struct net *net); /* accepts NULL */

enum net_verdict {
    NET_FINISHED,   /* every op is done and every packet has arrived */
    NET_UNFINISHED, /* UNTIL_PS came first, or the caller's hook ended the run */
    NET_DEADLOCK,   /* paused ports wait for each other in a ring */
    NET_STUCK,      /* work is left and nothing is going to happen */
};
/* Called between windows; returns false to end the run. */
typedef bool (*net_hook_fn)(void *user, struct net *net, sim_ps now_ps);
enum net_verdict net_run(struct net *net, sim_ps until_ps, sim_ps deadlock_after_ps, int n_threads, net_hook_fn hook,
                         void *hook_user);
/* After NET_DEADLOCK: the ring as text, one paused port a line. (transfer full) */
char *net_deadlock_text(const struct net *net);

/* ---- what happened ------------------------------------------------------- */
struct net_totals {
    uint64_t digest, events, growths, windows;
    uint64_t data_hops, ack_hops, control_hops; /* packets put on a link */
    uint64_t ecn_marked_pkts, cnp_sent_pkts, cnp_handled_pkts, echo_acks, rate_cuts;
    uint64_t pause_frames, resume_frames;
    sim_ps paused_ps;        /* summed over paused ports and classes */
    uint64_t fc_pkts;        /* InfiniBand: flow-control packets */
    sim_ps credit_wait_ps;   /* InfiniBand: ports had something to send, and no credits for any of it; summed */
    uint64_t hoq_discard_pkts; /* InfiniBand: outlived head_of_queue_lifetime; part of drop_pkts */
    uint64_t drop_pkts, lossless_drop_pkts;
    uint64_t lost_pkts, no_route_pkts, storms, watch_drop_pkts;
    uint64_t nak_pkts, sack_pkts, rnr_nak_pkts; /* sent */
    uint64_t retransmitted_pkts, timeouts, failed_qps;
    uint64_t spurious_pkts;      /* data packets that were sent again and had already been received */
    uint64_t out_of_window_pkts; /* dropped by receivers: further ahead than nic.reorder_window */
    uint64_t rx_out_of_buffer_pkts; /* dropped by slow receivers; part of drop_pkts */
    uint64_t ops_done, ops_total;
    uint32_t n_qps;
    sim_ps now_ps;           /* simulated time reached */
    sim_ps lookahead_ps;
};
void net_totals(const struct net *net, struct net_totals *totals);

/* Cheap enough to be asked a few times a second while running. */
struct net_progress { uint64_t received_pkts, total_pkts, hops; };
void net_progress(const struct net *net, struct net_progress *progress);

struct net_port_view {
    uint64_t tx_bytes, tx_data_pkts, tx_ack_pkts, tx_control_pkts;
    uint64_t ecn_marked_pkts, drop_pkts, drop_bytes; /* drops: at this ingress (lossless) or egress (lossy) */
    uint64_t pause_rx_frames, pause_tx_frames;
    sim_ps paused_ps;           /* this egress was told to stop, classes summed */
    uint8_t paused_now;         /* classes */
    int64_t queue_max_bytes;    /* of any class */
    int64_t ingress_max_bytes;  /* reserved + shared + headroom of any class */
    int64_t headroom_max_bytes; /* used */
    int64_t headroom_bytes;     /* granted to each lossless class */
    int64_t headroom_needed_bytes; /* by the physical rule */
    uint64_t lossless_drop_pkts;
    uint64_t lost_pkts, lost_bytes;  /* on the link behind this port */
    uint64_t storms, restores, watch_drop_pkts, watch_rx_drop_pkts; /* PFC watchdog; dropped on the way out, on the way in */
    uint64_t ignored_pauses;         /* of priorities that are not obeyed here */
    sim_ps busy_until_ps;
    /* InfiniBand, else 0 */
    sim_ps credit_wait_ps;           /* as in net_totals */
    uint64_t fc_tx_pkts, fc_rx_pkts, hoq_discard_pkts;
    int64_t vl_buffer_max_bytes;     /* of any VL's receive buffer, in 64-byte blocks */
};
void net_port_view(const struct net *net, uint32_t port, struct net_port_view *view);

/* What a NIC port counts, under the names that operators know (mlx5 hardware counters). */
struct net_nic_counters {
    uint64_t out_of_sequence, duplicate_request, out_of_window; /* data packets, as responder */
    uint64_t packet_seq_err;          /* NAKs received */
    uint64_t local_ack_timeout_err;   /* full timeouts */
    uint64_t rnr_nak_retry_err;       /* RNR NAKs received */
    uint64_t roce_adp_retrans;        /* packets sent again because of ... */
    uint64_t roce_adp_retrans_to;     /* ... timeouts shorter than the full one */
    uint64_t req_transport_retries_exceeded, req_rnr_retries_exceeded; /* queue pairs failed */
    uint64_t rx_out_of_buffer;        /* data packets dropped: the receive buffer was full */
    uint64_t np_ecn_marked_roce_packets, np_cnp_sent, rp_cnp_handled, rp_cnp_ignored;
    uint64_t sacks_sent, rnr_naks_sent;
    uint64_t tx_pause_storm_error_events; /* its watchdog made it give up pausing */
};
/* Of graph port PORT; all 0 at a switch. */
void net_nic_counters(const struct net *net, uint32_t port, struct net_nic_counters *out);
int64_t net_queue_bytes(const struct net *net, uint32_t port, uint32_t class);

/* Of one class of a port (InfiniBand: a VL of a switch, an SL of a host): its egress queue, its ingress group, and the pause frames of that priority. */
struct net_class_view {
    uint64_t tx_data_pkts, tx_answer_pkts, tx_bytes; /* answers: ACKs, NAKs, CNPs; bytes on the wire */
    uint64_t ecn_marked_pkts, drop_pkts, drop_bytes; /* dropped by the queue, or by the group */
    uint64_t group_drop_pkts; /* part of drop_pkts */
    uint64_t pause_rx_frames, pause_tx_frames, resume_rx_frames, resume_tx_frames;
    uint64_t on2off;      /* pauses of the queue that ended */
    sim_ps paused_ps;     /* the queue was told to stop */
    int64_t queue_bytes, queue_max_bytes, group_max_bytes, headroom_max_bytes;
    sim_ps credit_stall_ps; /* InfiniBand: the VL (of this SL, at a host) had a packet first in line and no credits for it */
    int64_t buffer_max_bytes; /* InfiniBand: most in the VL's receive buffer */
};
void net_class_view(const struct net *net, uint32_t port, uint32_t class, struct net_class_view *view);

/* What a switch makes of frames with a code (net_code_dscp) that come in at a port, and what its pauses for them stop
 * at the other end of the link. Priorities and queues are bit sets. */
struct net_hop_view {
    uint64_t refused_pkts;           /* came in here and found no room (watchdogs apart) */
    uint8_t tc, pg;                  /* their traffic class and priority group */
    bool pfc_on, trusts_pcp, pg_lossless;
    uint8_t pause_priorities;        /* of the pause frames that the group sends */
    uint8_t obeyed_priorities;       /* of these, the peer's egress obeys */
    uint8_t from_queues;             /* of the peer's egress, from which such frames can come */
    uint8_t stopped_queues;          /* of it, that the group's pauses stop */
    uint8_t lossless_queues;         /* of it */
    int64_t headroom_bytes, headroom_needed_bytes; /* granted to the group; by the physical rule */
};
/* PORT: a graph port of a switch, with a link. */
void net_hop_view(const struct net *net, uint32_t port, uint32_t code, struct net_hop_view *view);
/* Egress ports of switches (graph ports) on the way of a queue pair's data, into PORTS; their number, at most MAX. Where
 * frames choose their way as they go (net_config.lb) it is what ECMP would take. */
uint32_t net_qp_path(const struct net *net, uint32_t qp, uint32_t *ports, uint32_t max);

struct net_class_ledger {
    uint64_t sent_pkts, sent_bytes, received_pkts, received_bytes, dropped_pkts, dropped_bytes, lost_pkts, waiting_pkts;
};
/* By code (net_code_dscp): where all NICs have the same maps it is the NIC's class. Frames of CLASS put into the fabric, taken out of it, dropped, and still in a queue or on a wire (counted, not derived). */
void net_ledger(const struct net *net, uint32_t class, struct net_class_ledger *ledger);

/* Times of an op, -1 where it has not happened. */
sim_ps net_op_start_ps(const struct net *net, uint32_t op);
sim_ps net_op_done_ps(const struct net *net, uint32_t op);
uint32_t net_op_qp(const struct net *net, uint32_t op); /* of a SEND, its first part; NET_NONE for local transfers */
/* A SEND is one message of a queue pair, or is cut over several (nic.qp_scheme split); local transfers have no part. */
struct net_part { uint32_t qp; int64_t bytes; };
uint32_t net_op_n_parts(const struct net *net, uint32_t op);
struct net_part net_op_part(const struct net *net, uint32_t op, uint32_t part);

enum net_qp_failure { NET_QP_ALIVE, NET_QP_RETRIES_EXCEEDED, NET_QP_RNR_RETRIES_EXCEEDED };

struct net_qp_view {
    uint32_t src_rank, dst_rank, flow_id;
    uint16_t sport;
    uint8_t class;
    uint32_t n_hops;             /* switches on the way */
    uint32_t tx_port, rx_port;   /* NIC ports at both ends */
    uint64_t retransmitted_pkts;
    int64_t sent_bytes;          /* payload, first transmissions and again */
    bool failed, busy;           /* busy: messages under way */
    enum net_qp_failure fail_reason;
    uint32_t retries;            /* without an answer, when it failed */
    sim_ps failed_ps;
    struct cc_view cc;
    double rate_bps;             /* now */
    sim_ps ideal_latency_ps;     /* one way, first bit to last bit of a minimal packet, unloaded */
    int64_t bottleneck_bps;
};
void net_qp_view(struct net *net, uint32_t qp, sim_ps now_ps, struct net_qp_view *view);
/* Stand-alone time of a message of BYTES on QP: from posting to its last byte received. */
sim_ps net_ideal_ps(const struct net *net, uint32_t qp, int64_t bytes);
/* Lower bound of the time of a SEND with all its parts; 0 for local transfers. */
sim_ps net_op_ideal_ps(const struct net *net, uint32_t op);
/* The way back of its acknowledgement. */
sim_ps net_ideal_ack_ps(const struct net *net, uint32_t qp);
/* Wire bytes of a message of BYTES, all overheads counted. */
int64_t net_wire_bytes(const struct net *net, int64_t bytes);

struct net_pause_event { sim_ps t_ps; uint32_t port; uint8_t class; uint32_t quanta; };
/* Pause frames as they arrived, in time order (transfer full: GArray of struct net_pause_event). */
GArray *net_pause_events(const struct net *net);

/* What else happened, in time order (transfer full: GArray of struct net_incident). */
enum net_incident_kind {
    NET_INCIDENT_STORM, NET_INCIDENT_STORM_OVER, /* watchdog; detail: queue */
    NET_INCIDENT_FAULT, NET_INCIDENT_FAULT_OVER, /* detail: index of the fault */
    NET_INCIDENT_FAILOVER,                       /* a NIC's queue pairs moved away from this port; detail: their number */
    NET_INCIDENT_REROUTED,                       /* a switch uses new tables; detail: its links known to be down */
    NET_INCIDENT_NIC_WATCHDOG,                   /* a NIC gave up pausing; detail: priority */
    NET_INCIDENT_NIC_WATCHDOG_OVER,              /* it may pause again; detail: priority */
};
struct net_incident { sim_ps t_ps; uint32_t port; enum net_incident_kind kind; uint32_t detail; };
GArray *net_incidents(const struct net *net);

/* Frames that left the capture ports, lost ones included, in time order (transfer full: GArray of struct net_frame; the
 * words of models/packet.h). LEFT_OUT: how many capture_max_frames kept out. */
struct net_frame { sim_ps t_ps; uint32_t port; uint32_t a, b, c; };
GArray *net_captured(const struct net *net, uint64_t *left_out);
/* What the words of a packet mean (no pause frame). */
struct net_packet_view { int64_t payload_bytes, message_bytes; bool first, last; };
void net_packet_view(const struct net *net, uint32_t a, uint32_t b, uint32_t c, struct net_packet_view *view);
/* DSCP and PCP that stand behind a packet's code. */
uint8_t net_code_dscp(const struct net *net, uint32_t code);
uint8_t net_code_pcp(const struct net *net, uint32_t code);

/* How long a queue pair of such a NIC goes without an answer before it fails (local_ack_timeout, retry_cnt); 0: for ever. */
sim_ps net_retry_span_ps(const struct nic_params *nic);
/* How long it waits for a receive to be posted (min_rnr_timer, rnr_retry); 0: for ever. */
sim_ps net_rnr_span_ps(const struct nic_params *nic);

/* Holds the laws: buffer sums, packets conserved, no link above its rate. False with ERR naming the broken one. */
bool net_check_laws(const struct net *net, GError **err);

#endif
