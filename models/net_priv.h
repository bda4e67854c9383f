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
#include "sim/core.h"

#define NET_CLASSES 8

struct port_hot {
    sim_ps busy_until_ps;
    uint64_t tx_bytes;   /* on the wire */
    uint32_t tx_pkts[2]; /* data; ACKs and NAKs. CNPs and pause frames are in port_cold */
    uint32_t ps_per_byte_q16;
    uint32_t data_latency_ps;  /* cable, FEC, and the receiver's pipeline */
    uint32_t pause_latency_ps; /* cable, FEC, and the receiver's response time */
    uint32_t channel;          /* internal index of the peer port; NET_NONE: nothing plugged in */
    uint32_t peer_node;        /* simulated node of the peer */
    uint32_t kmin_bytes;       /* UINT32_MAX: never marks */
    uint32_t alpha_q16;
    uint16_t cut_bytes;        /* the peer handles a frame when this much is in; 0: all of it */
    uint16_t xoff;             /* ingress classes that we have paused, one bit each */
    union { /* together: is there anything to do or to wait for at this egress? */
        struct {
            uint16_t nonempty;   /* classes with frames waiting; not bytes: see has_arrivals in sim/core.h */
            uint16_t paused;     /* classes that the peer has paused */
            uint16_t pause_todo; /* classes for which a pause frame waits to be sent */
            uint16_t armed;      /* transmit-done is pending */
        };
        uint64_t egress;
    };
};
/* port_hot.egress with all but the pauses of other classes: zero means that a frame of CLASS may go at once. */
#define PORT_EGRESS_BUSY(class) (~(UINT64_C(0xffff) << 16) | UINT64_C(1) << (16 + (class)))
_Static_assert(sizeof(struct port_hot) == 64, "one cache line a port");

struct queue { uint32_t head, tail, bytes, max_bytes; };             /* egress, per class */
struct group { uint32_t used, headroom, max_used, max_headroom; };   /* ingress, per class; used = reserved + shared */

struct port_cold {
    uint64_t rate_bps;
    uint32_t graph_port, node; /* simulated node */
    uint32_t kmax_bytes, headroom_bytes;
    uint64_t pmax_threshold;   /* Pmax as a 64-bit fraction */
    uint64_t lossy_alpha_q16;
    uint64_t n_draws, ecn_marked_pkts, drop_pkts, drop_bytes, lossless_drop_pkts;
    uint32_t headroom_needed_bytes; /* by the physical rule, whatever rule is in force */
    uint64_t pause_rx, pause_tx, resume_rx, resume_tx;
    uint32_t tx_control_pkts;
    sim_ps paused_ps, pause_start_ps[NET_CLASSES], pause_end_ps[NET_CLASSES], xoff_sent_ps[NET_CLASSES];
    uint8_t end_armed, refresh_armed; /* classes with such a timer pending */
    int64_t deficit[NET_CLASSES];
    uint8_t dwrr_class;
};

/* A packet in a queue. */
struct slot {
    uint32_t next, a, b, c;
    sim_ps ready_ps; /* a faster egress may not start before the last bit is in; 0: now */
    uint32_t in_port;
    uint32_t pad;
};

struct slab { struct slot *slot; uint32_t free, cap, n_used; };

struct ledger { uint64_t sent_pkts, sent_bytes, received_pkts, received_bytes, dropped_pkts, dropped_bytes; };

/* A simulated node: one switch, one server, or several servers that share their fate in time. */
struct net_vertex {
    struct slab slab;
    uint32_t first_port;
    uint32_t n_ports;
    bool is_switch;
    /* switch */
    int64_t shared_used, shared_total, used_bytes;
    bool was_busy; /* the last window had arrivals for most of its ports */
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

struct op_run {
    uint32_t left; /* dependencies not done */
    uint32_t qp;
    uint32_t next;    /* message after this one on its queue pair */
    uint32_t end_psn;
    sim_ps start_ps, done_ps;
    uint8_t started, arrived;
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
    struct op_run *op;
    uint8_t *nvlink_busy; /* per rank: NVLINK_TX, NVLINK_RX */
    const struct cc_ops *cc;
    void *cc_state;
    /* constants of the run, near each other */
    uint32_t mtu, frame_overhead, reth, gap_bytes, ack_bytes, cnp_bytes, pause_bytes;
    uint32_t ack_interval, window_pkts;
    uint32_t reserved_bytes, xon_offset_bytes, lossy_limit_bytes;
    uint32_t cut_bytes;
    uint8_t lossless_mask, ecn_mask, strict_mask;
    bool echo_mode, ack_bypass, mark_at_enqueue, pause_timed, repace;
    bool prefetch, prefetch_paths; /* the ports, the paths exceed a core's own cache */
    bool mixed_cut_through; /* cut-through, and links of different rates */
    uint32_t cc_wants; /* CC_WANTS_... */
    uint32_t weights[NET_CLASSES];
    /* written atomically by hosts */
    uint64_t ops_done, failed_qps;
    uint64_t total_pkts; /* data packets of all messages */
    enum net_verdict verdict;
    sim_ps ended_ps; /* when it was certain that the job can't end; 0: not so */
    GString *deadlock;
};

/* Timers of a node: kind in the upper bits orders equal times. */
enum net_timer {
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
    TIMER_RNR,         /* queue pair: time to ask again */
    TIMER_RX,          /* internal port: a frame of the receive buffer is in memory */
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

static inline void net_enqueue(struct slab *slab, struct port_hot *port, struct queue *queue, uint32_t class, uint32_t at,
                               uint32_t bytes)
{
    slab->slot[at].next = NET_NONE;
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
    queue->bytes -= packet_bytes(slab->slot[at].c);
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

/* ---- pfc.c --------------------------------------------------------------- */
/* A pause frame has arrived on PORT. Returns true when a class may send again. */
bool pfc_receive(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v, uint32_t port,
                 uint32_t quanta, uint32_t class, sim_ps now_ps);
/* TIMER_PAUSE_END; true when the class may send again. */
bool pfc_pause_end(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                   sim_ps now_ps);
/* TIMER_REFRESH; true when a pause frame waits to be sent. */
bool pfc_refresh(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                 sim_ps now_ps);
/* Sends the pause frame of the lowest waiting class; the port must be free. */
void pfc_transmit(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps);

/* net_qps.c: queue pairs and paths of the job. */
bool net_build_qps(struct net *net, GError **err);

/* ---- switch.c, nic.c ----------------------------------------------------- */
void switch_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch);
void host_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch);
/* A work request (SEND op) reaches its queue pair. */
void nic_post(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps);

/* ---- host.c: the job ----------------------------------------------------- */
void host_start_op(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps);
void host_op_done(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps);
void host_message_in(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t send_op, sim_ps now_ps);
void host_timer(struct net *net, struct sim_core *core, struct sim_node *node, enum net_timer kind, uint32_t op,
                sim_ps now_ps);

#endif
