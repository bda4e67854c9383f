/* cc.h - congestion control of a sender as a record of operations.
 *
 * The NIC asks two questions when it sends: may the next packet follow at port
 * speed, or after how many picoseconds a byte; and how many packets may be under
 * way? A control law keeps the answers in struct cc_rate and names the time at which
 * the first one changes by itself. What it wants to be told is in its WANTS.
 *
 * A law is one file with its parameter table: models/cc_<name>.[ch], and
 * models/dcqcn.[ch] for DCQCN. It touches nothing but its own state of one queue pair
 * in a call, so queue pairs of different nodes run on different threads.
 */
#ifndef FABRICAST_MODELS_CC_H
#define FABRICAST_MODELS_CC_H

#include "sim/units.h"
#include <stdbool.h>
#include <stdint.h>

struct cc_rate {
    sim_ps due_ps;        /* call advance() when sending at this time or later; SIM_PS_MAX: never */
    double ps_per_byte;   /* pacing of wire bytes; 0: port speed */
    uint32_t window_pkts; /* most unacknowledged packets, at least 1 (0: none without a credit); UINT32_MAX: no limit */
};

/* What is known of a queue pair's path when it starts. */
struct cc_path {
    int64_t port_bps;       /* of the NIC port */
    int64_t bottleneck_bps; /* slowest link on the way */
    sim_ps base_rtt_ps;     /* full packet out and its ACK back, unloaded */
    uint32_t mtu_bytes;     /* payload of a full packet */
    uint32_t wire_bytes;    /* of a full packet, all overheads counted */
    uint32_t n_hops;        /* links from NIC to NIC that stamp telemetry: the NIC's own port and every switch egress */
};

/* Telemetry of one hop, as the packet left that port (HPCC, SIGCOMM 2019: INT). */
struct cc_hop {
    uint32_t ts_ns;        /* wraps after 4.29 s */
    uint32_t tx_bytes;     /* wire bytes sent by the port so far; wraps */
    uint32_t queue_bytes;  /* of its class, this packet not counted */
    uint32_t rate_mbps;    /* of the port */
};
#define CC_MAX_HOPS 8 /* telemetry of paths with more links is refused when a run is built */

/* An ACK (or NAK, SACK) that has arrived. */
struct cc_ack {
    uint32_t psn;          /* all before it are acknowledged */
    uint32_t next_psn;     /* the sender's next new packet */
    uint32_t acked_pkts;   /* newly, 0 for duplicates */
    uint32_t acked_bytes;  /* their payload, full packets assumed */
    bool marked;           /* the packet that it answers bore a congestion mark (CC_WANTS_ECHO) */
    sim_ps rtt_ps;         /* of that packet (CC_WANTS_RTT); -1: not known (sent again) */
    const struct cc_hop *hops; /* its telemetry (CC_WANTS_INT); NULL: not known */
    uint32_t n_hops;
};

enum cc_loss { CC_LOSS_NAK, CC_LOSS_TIMEOUT };

/* What is known of a queue pair's control, for records. */
struct cc_view {
    double rate_bps, target_bps, alpha;
    double window_pkts; /* 0: none */
    uint64_t n_cuts, n_cnps;
};

#define CC_WANTS_CNP 1u   /* the receiver answers marks with CNPs; on_cnp() */
#define CC_WANTS_ACK 2u   /* on_ack() for each ACK */
#define CC_WANTS_ECHO 4u  /* every marked packet is acknowledged at once, with the mark */
#define CC_WANTS_RTT 8u
#define CC_WANTS_INT 16u   /* telemetry; the window is never larger than it was at start() */
#define CC_WANTS_BYTES 32u /* on_sent() */
#define CC_WANTS_LOSS 64u  /* on_loss() */
#define CC_WANTS_WINDOW 256u /* limits packets under way: needs an ACK for each */
#define CC_WANTS_CREDIT 128u /* the receiver grants packets (PACKET_CREDIT) */

struct cc_ops {
    const char *name;
    /* State for N queue pairs; PARAMS is the law's parameter struct, borrowed. (transfer full), free with free(). */
    void *(*new_state)(const void *params, uint32_t n);
    void (*free_state)(void *state);
    uint32_t (*wants)(const void *state);
    /* Sets up queue pair QP. */
    void (*start)(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_path *path);
    /* Brings the clocks to NOW_PS. */
    void (*advance)(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps);
    /* A congestion notification has arrived (with ack_echo: an ACK with a mark). */
    void (*on_cnp)(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps);
    /* BYTES were sent. */
    void (*on_sent)(void *state, uint32_t qp, struct cc_rate *rate, uint32_t bytes, sim_ps now_ps);
    void (*on_ack)(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_ack *ack, sim_ps now_ps);
    void (*on_loss)(void *state, uint32_t qp, struct cc_rate *rate, enum cc_loss loss, sim_ps now_ps);
    /* State at NOW_PS, which the clocks have reached. */
    void (*view)(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view);
    /* CC_WANTS_CREDIT: packets from PSN on are the first that the receiver has not heard of, and nothing is under way. */
    void (*on_begin)(void *state, uint32_t qp, struct cc_rate *rate, uint32_t psn, sim_ps now_ps);
    /* A credit has arrived: packets before PSN may be sent. */
    void (*on_credit)(void *state, uint32_t qp, struct cc_rate *rate, uint32_t psn, sim_ps now_ps);
};

/* A window of PKTS as the NIC takes it: whole packets, at least one. */
static inline uint32_t cc_whole_window(double pkts)
{
    return pkts < 1 ? 1 : pkts >= (double)UINT32_MAX ? UINT32_MAX : (uint32_t)pkts;
}
/* Packets that fill the path when nothing waits: rate of the slowest link x base round trip, as a real number. */
static inline double cc_path_pkts(const struct cc_path *path)
{
    return (double)path->bottleneck_bps * (double)path->base_rtt_ps / (double)(UNIT_S * UNIT_BITS_PER_BYTE) / path->wire_bytes;
}
/* Rate of a window of PKTS in a round trip of RTT_PS, at most that of the port. */
static inline double cc_window_rate_bps(const struct cc_path *path, double pkts, sim_ps rtt_ps)
{
    double bps = pkts * path->wire_bytes * (double)UNIT_BITS_PER_BYTE * (double)UNIT_S / (double)rtt_ps;
    return bps < (double)path->port_bps ? bps : (double)path->port_bps;
}

/* Slots that do nothing, for laws that do not need them: callers never test for NULL. */
void cc_ignore_time(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps);
void cc_ignore_sent(void *state, uint32_t qp, struct cc_rate *rate, uint32_t bytes, sim_ps now_ps);
void cc_ignore_ack(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_ack *ack, sim_ps now_ps);
void cc_ignore_loss(void *state, uint32_t qp, struct cc_rate *rate, enum cc_loss loss, sim_ps now_ps);
void cc_ignore_psn(void *state, uint32_t qp, struct cc_rate *rate, uint32_t psn, sim_ps now_ps);

extern const struct cc_ops cc_none_ops; /* line rate whatever happens; no state */

#endif
