/* net_priv.h - state of a packet-level run, shared by the .c files of this folder.
 *
 * Internal port index = index of the channel on which the port receives; ports of
 * one simulated node are contiguous. Hot state is apart from cold state: a packet
 * that passes a switch touches port_hot, one queue and one ingress group of two
 * ports, and one slot of the node's slab.
 */
#ifndef FABRICAST_MODELS_NET_PRIV_H
#define FABRICAST_MODELS_NET_PRIV_H

#include "models/net.h"
#include "models/packet.h"
#include "models/profile.h"
#include "sim/core.h"

struct port_hot {
    sim_ps busy_until_ps;
    const struct port_profile *profile;
    uint32_t ps_per_byte_q16;
    uint32_t data_latency_ps;  /* cable, FEC, and the receiver's pipeline */
    uint32_t pause_latency_ps; /* cable, FEC, and the receiver's response time */
    uint32_t channel;          /* internal index of the peer port; NET_NONE: nothing plugged in */
    uint32_t peer_node;        /* simulated node of the peer */
    uint16_t cut_bytes;        /* the peer handles a frame when this much is in; 0: all of it */
    uint16_t xoff;             /* priority groups that have paused the peer, one bit each; upper half: that drop all (watchdog) */
    uint32_t cut_wire_ps;      /* time of cut_bytes on the wire */
    uint32_t stalled; /* InfiniBand: VLs that wait for credits, and IB_PORT_STALLED; see models/ib.h */
    uint32_t spare[2];
    union { /* together: is there anything to do or to wait for at this egress? */
        struct {
            uint16_t nonempty;   /* queues with frames waiting; not bytes: see has_arrivals in sim/core.h */
            uint16_t paused;     /* queues that the peer has paused; upper half: that drop all (watchdog) */
            uint16_t pause_todo; /* priority groups for which a pause frame waits to be sent */
            uint16_t armed;      /* transmit-done is pending */
        };
        uint64_t egress;
    };
};
/* port_hot.egress with all but the pauses of other queues: zero means that a frame of QUEUE may go at once. */
#define PORT_EGRESS_BUSY(queue) (~(UINT64_C(0xffff) << 16) | UINT64_C(0x101) << (16 + (queue)))
_Static_assert(sizeof(struct port_hot) == 64, "one cache line a port");

/* Egress, per class. BYTES are charges; TX_PKTS: data; answers, CNPs counted. TX_BYTES: on the wire. */
struct queue { uint32_t head, tail, bytes, max_bytes, tx_pkts[2]; uint64_t tx_bytes; };
struct group { uint32_t used, headroom, max_used, max_headroom; };   /* ingress, per class; used = reserved + shared */

/* Pools of a switch: ingress slices, egress, shared headroom. */
struct net_pool { int64_t used, total; };
enum { POOL_INGRESS, POOL_EGRESS_LOSSLESS = 4, POOL_EGRESS_LOSSY, POOL_HEADROOM, NET_N_POOLS };

/* Watch over a queue for pause storms; see watchdog.c. */
struct queue_watch {
    sim_ps bad_ps;        /* paused without break for so long, by polls */
    sim_ps since_ps;      /* of the storm; -1: none */
    uint64_t rx, on2off;  /* of its priorities, at the last poll */
    bool was_paused;
};

/* Watch of a NIC port over the pauses that it sends itself; see watchdog.c. Per priority. */
struct stall_watch {
    sim_ps critical_ps;
    sim_ps since_ps[NET_CLASSES]; /* it has paused the peer without break from then on ... */
    sim_ps until_ps[NET_CLASSES]; /* ... to then */
    uint8_t armed, given_up;
};

struct port_cold {
    uint64_t rate_bps;
    uint32_t graph_port, node; /* simulated node */
    uint64_t n_draws;
    uint64_t ecn_marked_pkts[NET_CLASSES], drop_pkts[NET_CLASSES], drop_bytes[NET_CLASSES], lossless_drop_pkts;
    uint64_t refused_pkts[NET_CLASSES];    /* by code: came in here and found no room in the switch */
    uint64_t group_drop_pkts[NET_CLASSES]; /* part of drop_pkts: by the ingress, the group was full */
    uint64_t pause_rx[NET_CLASSES], pause_tx[NET_CLASSES], resume_rx[NET_CLASSES], resume_tx[NET_CLASSES];
    uint64_t on2off[NET_CLASSES];     /* pauses of a priority that ended */
    uint64_t ignored_pauses;          /* of priorities that are not obeyed here */
    uint32_t tx_cnp_pkts, tx_pause_pkts;
    uint64_t pause_bytes;             /* on the wire */
    sim_ps paused_ps[NET_CLASSES];    /* queue, told to stop */
    sim_ps pause_start_ps[NET_CLASSES], pause_end_ps[NET_CLASSES]; /* queue */
    sim_ps xoff_sent_ps[NET_CLASSES]; /* group */
    sim_ps xoff_rx_ps[NET_CLASSES];   /* queue: last XOFF that arrived */
    uint8_t end_armed, refresh_armed; /* queues, groups with such a timer pending */
    int64_t deficit[NET_CLASSES];
    uint8_t dwrr_class;
    struct net_special *special;      /* NULL: nothing */
    struct queue_watch *watch;        /* NET_CLASSES of them; NULL: no watchdog */
    struct stall_watch *stall;        /* NULL: no watchdog of a NIC */
    bool watch_armed;
    bool known_down;                  /* its node knows that the link is down */
    uint64_t storms, restores, watch_drop_pkts, watch_rx_drop_pkts; /* dropped: by a queue in a storm, by its group */
};

/* A packet in a queue. */
struct slot {
    uint32_t next, a, b, c;
    sim_ps ready_ps; /* a faster egress may not start before the last bit is in; 0: now */
    uint32_t in_port;
    uint32_t charge; /* bytes that it takes in the buffer; SLOT_PLAIN; its priority group above SLOT_PG_SHIFT */
};
#define SLOT_CHARGE 0x00ffffffu
#define SLOT_PLAIN (1u << 24)
#define SLOT_PG_SHIFT 25

struct slab { struct slot *slot; uint32_t free, cap, n_used; };

struct ledger { uint64_t sent_pkts, sent_bytes, received_pkts, received_bytes, dropped_pkts, dropped_bytes, lost_pkts; };

/* A simulated node: one switch, one server, or several servers that share their fate in time. */
struct net_vertex {
    struct slab slab;
    uint32_t first_port;
    uint32_t n_ports;
    bool is_switch;
    /* switch */
    struct net_pool pool[NET_N_POOLS];
    uint32_t cut_bytes; /* forwards when so much of a frame is in; 0: all of it */
    bool was_busy;      /* the last window had arrivals for most of its ports */
    uint32_t graph_node; /* of a switch */
    uint32_t forward_state; /* index of the tables that it uses */
    uint32_t n_storms;      /* queues in a storm by its watchdog */
    uint32_t n_local_down;  /* own ports that it knows to be down */
    uint64_t n_draws, no_route_pkts;
    struct flowlet *flowlets;
    /* host */
    uint32_t *stack; /* ops to start */
    uint32_t n_stack, cap_stack;
    uint64_t rx_data_pkts;
    uint32_t *local; /* transfers between its GPUs that wait for a free side */
    uint32_t n_local, cap_local;
    bool local_look; /* TIMER_LOCAL_START is pending */
    uint32_t rx_care; /* NIC_RX_... of models/nic.h */
    /* both */
    struct ledger ledger[NET_CLASSES];
    struct net_pause_event *pauses;
    uint32_t n_pauses, cap_pauses;
    struct net_incident *incidents;
    uint32_t n_incidents, cap_incidents;
    uint64_t nak_pkts, retransmitted_pkts, timeouts, cnp_sent, cnp_handled, echo_acks, lossless_drops, failed_qps;
};

#define NVLINK_TX 1
#define NVLINK_RX 2

/* IDLE: nothing to send; READY: in the ring; WAITING: for its pacing timer; BLOCKED: by its window. */
enum qp_state { QP_IDLE, QP_READY, QP_WAITING, QP_BLOCKED, QP_FAILED };

/* Requester side of a queue pair; written by the sender's node alone. */
struct qp_tx {
    struct cc_rate rate;
    sim_ps next_ps; /* pacing: the next packet starts no earlier */
    sim_ps sent_ps; /* start of the last packet, and its wire bytes */
    uint32_t sent_wire_bytes;
    uint32_t next_psn, una_psn, max_psn; /* next to send; oldest under way; first that was never sent */
    uint32_t window_pkts; /* most packets under way, whatever congestion control allows */
    uint32_t msg;       /* op whose packets are being sent, JOB_NONE */
    uint32_t msg_first, msg_end; /* its PSNs [first, end) */
    uint32_t msg_tail_bytes;     /* payload of its last packet */
    uint32_t una_msg, una_end;   /* oldest message without full acknowledgement */
    uint32_t last_msg;           /* newest posted */
    uint32_t posted_psn;         /* first PSN of the next message */
    uint32_t next_ready;         /* in the port's ring */
    uint32_t port;               /* internal */
    uint16_t state, class, retries;
    bool timeout_armed : 1, failed : 1;
    bool selective : 1; /* selective repeat */
    bool repair : 1;    /* something is to be sent again before new data (selective repeat) */
    bool rnr_wait : 1;  /* the receiver was not ready: silent until TIMER_RNR */
    sim_ps progress_ps;
    int64_t sent_bytes;
};
_Static_assert(sizeof(struct qp_tx) == 128, "two cache lines");

/* Responder side; written by the receiver's node alone. */
struct qp_rx {
    uint32_t expected_psn;
    uint32_t last_done; /* op received last */
    uint32_t n_held;    /* packets that came out of order */
    uint32_t unacked_pkts;
    uint32_t port;
    bool nak_sent;
    uint8_t ack_class;
    bool selective : 1;  /* answers them with SACKs */
    bool reorder : 1;    /* holds them */
    bool rnr_wait : 1;   /* RNR was sent: takes nothing but the packet it named */
    bool in_message : 1; /* the first packet of a message is in, its last is not */
    sim_ps last_cnp_ps; /* -1: none yet */
};

struct qp_cold {
    uint32_t src_rank, dst_rank, flow_id;
    uint32_t first_msg; /* first posted op: the receiver's entry into the chain */
    uint16_t sport;
    uint16_t n_hops, n_back_hops; /* switches */
    sim_ps latency_ps, back_latency_ps;
    sim_ps ps_per_byte_q16;       /* slowest link */
};

/* An operation; a send is also a message of its queue pair, by the same number. Where it is cut over several queue pairs,
 * its other parts are messages that follow all operations (nic.qp_scheme split). */
struct op_run {
    union {
        uint32_t left;    /* dependencies not done */
        uint32_t part_of; /* of a message behind the operations: its send */
    };
    uint32_t qp;
    uint32_t next;    /* message after this one on its queue pair */
    uint32_t end_psn;
    sim_ps start_ps, done_ps;
    int64_t bytes;    /* of a message */
    uint8_t started, arrived;
    uint8_t n_more;   /* of a send: messages [more, more + n_more) are its other parts */
    uint8_t more_left; /* parts beyond one that are still to arrive (receive) or to be acknowledged (send) */
    uint32_t more;
};

/* Queue pairs of a NIC port that may send, by class; HELD sent last and joins the end when its packet has left:
 * those that became ready meanwhile go before it (round robin). */
struct ready_ring { uint32_t head[NET_CLASSES], tail[NET_CLASSES], held; uint16_t ready, turn; };

struct net {
    struct sim_core *core;
    const struct net_graph *graph;
    const struct job *job;
    struct net_config config;
    uint32_t n_ports; /* internal */
    uint32_t *port_of_graph;
    uint32_t *vertex_of_graph; /* simulated node of a graph node */
    struct port_hot *port;
    struct queue (*queue)[NET_CLASSES];
    struct group (*group)[NET_CLASSES];
    struct port_cold *cold;
    struct ready_ring *ring;
    struct net_vertex *vertex;
    uint32_t n_vertices;
    uint32_t n_qps;
    struct qp_tx *tx;
    struct qp_rx *rx;
    struct qp_cold *qp;
    struct nic_port **nic;    /* per port; NULL at switches */
    struct nic_port *nic_ports;
    struct qp_repair *repair; /* per queue pair */
    uint64_t *rx_held, *rx_held_last, *tx_sacked; /* [qp][reorder_words]; NULL where nobody reorders */
    uint32_t reorder_words;   /* a power of two */
    uint16_t *path; /* [qp * 2 + direction][path_stride]: egress port at each switch, local to it */
    uint32_t path_stride;
    struct op_run *op;        /* operations, then parts of messages */
    uint32_t n_ops;           /* operations */
    uint8_t *nvlink_busy; /* per rank: NVLINK_TX, NVLINK_RX */
    const struct cc_ops *cc;
    void *cc_state;
    /* constants of the run, near each other */
    uint32_t mtu, frame_overhead, reth, gap_bytes, ack_bytes, cnp_bytes, pause_bytes;
    uint32_t ack_interval, window_pkts;
    bool echo_mode, sends_cnps, ack_bypass, repace;
    bool any_lossless;
    bool prefetch, prefetch_paths; /* the ports, the paths exceed a core's own cache */
    bool mixed_cut_through; /* cut-through, and links of different rates */
    uint32_t cc_wants; /* CC_WANTS_... */
    struct telemetry *telemetry;   /* NULL: ports stamp nothing */
    struct nic_credit *credit;     /* NULL: senders need none */
    struct nic_feedback *feedback; /* NULL: the law wants to know nothing of ACKs */
    struct profile_set *profiles;
    struct ib *ib;           /* NULL: the links are Ethernet's */
    struct forward *forward; /* NULL: fixed paths and no link that fails */
    struct fault_run *fault;
    double *node_slowdown;   /* by graph node: of compute; NULL: no faults */
    uint8_t code_dscp[NET_CLASSES], code_pcp[NET_CLASSES];
    uint32_t n_codes;
    /* written atomically by hosts */
    uint64_t ops_done, failed_qps;
    uint64_t total_pkts; /* data packets of all messages */
    enum net_verdict verdict;
    sim_ps ended_ps; /* when it was certain that the job can't end; 0: not so */
    GString *deadlock;
};

/* Timers of a node: kind in the upper bits orders equal times. */
enum net_timer {
    TIMER_FAULT,       /* FAULT_TIMER() in fault.h; before all others of its time, so that a fault at 0 meets the first packet */
    TIMER_TX_DONE = 1, /* not a timer: the node's soon heap, port local to the node */
    TIMER_PAUSE_END,   /* internal port << 3 | class    */
    TIMER_REFRESH,     /* internal port << 3 | class    */
    TIMER_QP,          /* queue pair: pacing gap is over */
    TIMER_TIMEOUT,     /* queue pair                    */
    TIMER_POST,        /* op: work request reaches the port */
    TIMER_OP,          /* op: earliest time, or end of compute */
    TIMER_LOCAL_SENT,  /* op: a local transfer has left its GPU */
    TIMER_LOCAL,       /* op: a local transfer has arrived */
    TIMER_LOCAL_START, /* local transfers look for free GPU sides */
    TIMER_WATCH,       /* internal port: PFC watchdog polls */
    TIMER_RNR,         /* queue pair: time to ask again */
    TIMER_RX,          /* internal port: a frame of the receive buffer is in memory */
    TIMER_STALL,       /* internal port << 3 | priority: NIC watchdog */
    TIMER_CREDIT,      /* internal port: the next credit may go */
    TIMER_CREDIT_RETRY, /* queue pair: has it used its credits? */
    TIMER_FREED,       /* InfiniBand: blocks << 35 | internal port << 3 | VL: their last bit has left the buffer */
};
#define NET_TIMER(kind, x) ((uint64_t)(kind) << 56 | (uint64_t)(x))
#define NET_TIMER_KIND(id) ((enum net_timer)((id) >> 56))
#define NET_TIMER_ARG(id) ((uint32_t)((id)&UINT32_MAX))
#define NET_TIMER_ARG64(id) ((id) & ((UINT64_C(1) << 56) - 1))

/* Simulated time reached. */
static inline sim_ps net_now(const struct net *net)
{
    return net->ended_ps ? net->ended_ps : net->core->start_ps;
}

static inline struct net *net_of(struct sim_core *core) { return core->model; }

/* ---- slab and queues ----------------------------------------------------- */
void net_slab_grow(struct sim_core *core, struct slab *slab);

static inline uint32_t net_slot_take(struct sim_core *core, struct slab *slab)
{
    if (slab->free == NET_NONE)
        net_slab_grow(core, slab);
    uint32_t at = slab->free;
    slab->free = slab->slot[at].next;
    return at;
}

static inline void net_slot_give(struct slab *slab, uint32_t at)
{
    slab->slot[at].next = slab->free;
    slab->free = at;
}

/* CHARGE is what the frame is charged, with flags. */
static inline void net_enqueue(struct slab *slab, struct port_hot *port, struct queue *queue, uint32_t class, uint32_t at,
                               uint32_t charge)
{
    uint32_t bytes = charge & SLOT_CHARGE;
    slab->slot[at].next = NET_NONE;
    slab->slot[at].charge = charge;
    if (port->nonempty >> class & 1)
        slab->slot[queue->tail].next = at;
    else
        queue->head = at;
    queue->tail = at;
    port->nonempty = (uint16_t)(port->nonempty | 1u << class);
    queue->bytes += bytes;
    if (queue->bytes > queue->max_bytes)
        queue->max_bytes = queue->bytes;
}

static inline uint32_t net_dequeue(struct slab *slab, struct port_hot *port, struct queue *queue, uint32_t class)
{
    uint32_t at = queue->head;
    queue->head = slab->slot[at].next;
    if (queue->head == NET_NONE)
        port->nonempty = (uint16_t)(port->nonempty & ~(1u << class));
    queue->bytes -= slab->slot[at].charge & SLOT_CHARGE;
    return at;
}

static inline uint32_t net_wire(const struct net *net, const struct port_hot *port, uint32_t frame_bytes)
{
    return (uint32_t)(((uint64_t)(frame_bytes + net->gap_bytes) * port->ps_per_byte_q16 + 0xffff) >> 16);
}

/* Packets of a message; an empty one is a packet, too. Fits: net_new() checks the sum of each queue pair. */
static inline uint32_t net_message_pkts(const struct net *net, int64_t bytes)
{
    return bytes <= net->mtu ? 1 : (uint32_t)((bytes + net->mtu - 1) / net->mtu);
}

/* The send that a message carries, or a part of it. */
static inline uint32_t net_message_op(const struct net *net, uint32_t msg)
{
    return msg < net->n_ops ? msg : net->op[msg].part_of;
}

/* When the peer handles a frame of BYTES that takes WIRE_PS, from its beginning on. */
static inline sim_ps net_seen_after(const struct port_hot *port, uint32_t bytes, sim_ps wire_ps)
{
    return port->cut_bytes && port->cut_bytes < bytes ? port->cut_wire_ps : wire_ps;
}

/* ---- pfc.c --------------------------------------------------------------- */
/* A pause frame for PRIORITIES has arrived on PORT. Returns true when a queue may send again. */
bool pfc_receive(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v, uint32_t port,
                 uint32_t quanta, uint32_t priorities, sim_ps now_ps);
/* TIMER_PAUSE_END; true when the queue may send again. */
bool pfc_pause_end(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                   sim_ps now_ps);
/* TIMER_REFRESH; true when a pause frame waits to be sent. */
bool pfc_refresh(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                 sim_ps now_ps);
/* Sends the pause frame of the lowest waiting group; the port must be free. */
void pfc_transmit(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps);

/* One pause frame with any quanta and priorities; the port must be free. */
void pfc_put(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t quanta,
             uint32_t priorities, sim_ps now_ps);
/* The same, past the NIC's watchdog. */
void pfc_put_frame(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t quanta,
                   uint32_t priorities, sim_ps now_ps);
/* The pause of queue CLASS is over. */
void pfc_resume(struct net *net, uint32_t port, uint32_t class, sim_ps now_ps);
sim_ps pfc_quanta_ps(const struct port_hot *port, uint32_t quanta);

/* Notes that something happened to PORT (an internal index). */
void net_incident(struct net *net, struct sim_core *core, struct net_vertex *v, enum net_incident_kind kind, uint32_t port,
                  uint32_t detail, sim_ps now_ps);
/* Values by place: those of the configuration's site, or of the run. */
const void *net_site_port(const struct net *net, enum net_params kind, uint32_t graph_port, uint32_t class);
const void *net_site_node(const struct net *net, enum net_params kind, uint32_t graph_node);
/* Puts in front of ERR where KEY was set for this place: port, or node where GRAPH_PORT is NET_NONE. Always false, for return. */
bool net_blame(const struct net *net, enum net_params kind, const char *key, uint32_t graph_node, uint32_t graph_port, uint32_t class,
               GError **err);

/* ---- watchdog.c ------------------------------------------------------------ */
bool watchdog_build(struct net *net, GError **err);
/* An XOFF for queue CLASS has arrived; true when it is to be ignored. */
bool watchdog_on_xoff(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class, sim_ps now_ps);
void watchdog_poll(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps);

/* A NIC port with a watchdog is about to send a pause frame; the PRIORITIES that it may still name. */
uint32_t watchdog_on_pause(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t quanta,
                           uint32_t priorities, sim_ps now_ps);
/* TIMER_STALL */
void watchdog_stall(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t priority, sim_ps now_ps);
/* The pauses of PRIORITIES that PORT sent hold no more. */
void watchdog_forget(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t priorities, sim_ps now_ps);

/* ---- link.c: what a frame meets on its way ----------------------------------- */
bool link_build(struct net *net, GError **err);
void link_release(struct net *net);
/* A frame goes on the wire of a port whose profile is special; QUEUE: that it has left, NULL for pause frames. False: it
 * is lost. */
bool special_transmit(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, const struct queue *queue,
                      sim_ps now_ps, uint32_t a, uint32_t b, uint32_t c);
/* A frame has come in on such a port; false: the link went down under it. */
bool special_receive(struct net *net, struct sim_core *core, struct net_vertex *v, uint32_t port, uint32_t c);

/* ---- fault.c, forward.c -------------------------------------------------------- */
bool fault_build(struct net *net, GError **err);
void fault_release(struct net *net);
void fault_timer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t what, sim_ps now_ps);
bool forward_build(struct net *net, GError **err);
void forward_release(struct net *net);
/* Egress of packet B of queue pair and direction A, internal port; NET_NONE: there is none (counted). */
uint32_t forward_choose(struct net *net, struct sim_node *node, uint32_t in, uint32_t a, uint32_t b, uint32_t c, sim_ps now_ps);
/* The tables of state STATE hold at this node from now on. */
void forward_use(struct net *net, struct net_vertex *v, uint32_t state);
uint32_t forward_n_down(const struct net *net, uint32_t state); /* links */

/* net_view.c: what a control law is told of a queue pair's path. */
void net_cc_path(const struct net *net, uint32_t qp, struct cc_path *path);
/* Nodes and ports numbered, constants set; nothing that runs. Free with net_free(). */
struct net *net_new_bare(const struct net_graph *graph, const struct net_config *config);

/* net_qps.c: queue pairs and paths of the job. */
bool net_build_qps(struct net *net, GError **err);

/* ---- switch.c, nic.c ----------------------------------------------------- */
void switch_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch);
void switch_flush(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class, sim_ps now_ps);
/* Sends if the port is free and something may go. */
void switch_wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps);
void host_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch);
/* PORT FROM has died: its queue pairs and answers go on over port TO of the same host. Their number. */
uint32_t nic_move_qps(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t from, uint32_t to, sim_ps now_ps);
/* A work request (SEND op) reaches its queue pair. */
void nic_post(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps);

/* ---- host.c: the job ----------------------------------------------------- */
void host_start_op(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps);
void host_op_done(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps);
void host_message_in(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t msg, sim_ps now_ps);
void host_timer(struct net *net, struct sim_core *core, struct sim_node *node, enum net_timer kind, uint32_t op,
                sim_ps now_ps);

#endif
