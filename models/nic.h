/* nic.h - state and inner interfaces of the NIC's files.
 *
 *   nic.c           requester and responder where nothing is lost: the path that every packet takes
 *   nic_recovery.c  requester after a loss: NAK, SACK, RNR, timeouts, failed queue pairs, ports that die
 *   nic_rx.c        responder that holds packets out of order, answers RNR or is slow
 *   nic_cc.c        what congestion control is told of ACKs and losses, and what it needs from the NIC for that
 *   nic_credit.c    responder that grants packets, and what the requester tells it
 *   nic_build.c     settings of each port, state of queue pairs
 *
 * Cold state lies apart from struct qp_tx and struct qp_rx: a queue pair that loses nothing never touches it.
 */
#ifndef FABRICAST_MODELS_NIC_H
#define FABRICAST_MODELS_NIC_H

#include "models/net_priv.h"

/* A port of a host: what holds at its place, and what it counts. Nodes on different threads share no cache line. */
struct nic_port {
    /* settings; never change while running, but for rx_bps */
    _Alignas(64) sim_ps timeout_ps; /* 0: never */
    sim_ps adaptive_ps;   /* first timeout; 0: all have timeout_ps */
    sim_ps rnr_wait_ps;   /* asked for by its RNR NAKs */
    sim_ps tx_latency_ps;
    uint32_t retry_cnt, rnr_retry;
    uint32_t tolerance_pkts, reorder_pkts;
    bool selective, rnr;
    uint8_t strict_mask;
    uint32_t weight[NET_CLASSES];
    int64_t rx_bps;       /* 0: no limit */
    int64_t rx_buffer_bytes, rx_xoff_bytes, rx_xon_bytes;
    /* data classes */
    int64_t deficit[NET_CLASSES];
    /* receive buffer: frames in the node's slab, oldest first */
    uint32_t rx_head, rx_tail; /* NET_NONE: empty */
    int64_t rx_bytes;
    struct net_nic_counters n;
};

#define NIC_RNR_NO_LIMIT 7

/* Requester side of a queue pair that has lost something; written by the sender's node alone. */
struct qp_repair {
    sim_ps timer_ps;  /* the timeout that counts is due; others are stale */
    sim_ps stall_ps;  /* begin of the time without progress, while retries > 0 */
    sim_ps failed_ps;
    uint32_t retransmitted_pkts;
    /* Selective repeat: what has no SACK and lies in [cursor, lost) is sent again. */
    uint32_t cursor_psn, lost_psn;
    uint32_t head_mark; /* new packets from here on were sent after the oldest one was sent again */
    uint32_t sacked_pkts, span_pkts; /* packets with a SACK; most that the receiver can hold */
    uint32_t window_pkts;            /* most under way by nic.window and nic.window_bdp */
    uint32_t rnr_psn;
    uint16_t rnr_retries;
    uint8_t fail_reason; /* enum net_qp_failure */
    bool head_again;     /* the oldest one was lost again */
};

/* A data packet about to be sent. */
struct nic_frame { uint32_t psn, payload_bytes, bytes, flags; };

/* net_vertex.rx_care: data packets do not go the short way. */
#define NIC_RX_CAREFUL 1 /* some queue pair holds packets out of order or answers RNR */
#define NIC_RX_SLOW 2    /* some port has a receive rate */
#define NIC_RX_CREDIT 4  /* senders wait for credits */

/* ---- bitmaps of PSNs ------------------------------------------------------- */
static inline uint64_t *nic_bit_word(const struct net *net, uint64_t *bits, uint32_t qp, uint32_t psn)
{
    return &bits[(size_t)qp * net->reorder_words + ((psn >> 6) & (net->reorder_words - 1))];
}
static inline bool nic_bit(const struct net *net, uint64_t *bits, uint32_t qp, uint32_t psn)
{
    return *nic_bit_word(net, bits, qp, psn) >> (psn & 63) & 1;
}
static inline void nic_bit_set(const struct net *net, uint64_t *bits, uint32_t qp, uint32_t psn)
{
    *nic_bit_word(net, bits, qp, psn) |= UINT64_C(1) << (psn & 63);
}
static inline void nic_bit_clear(const struct net *net, uint64_t *bits, uint32_t qp, uint32_t psn)
{
    *nic_bit_word(net, bits, qp, psn) &= ~(UINT64_C(1) << (psn & 63));
}

/* ---- nic_build.c ----------------------------------------------------------- */
/* After the queue pairs and their paths are known. */
bool nic_build(struct net *net, GError **err);
void nic_free(struct net *net);

/* ---- nic.c ----------------------------------------------------------------- */
/* A queue pair that rested has something to send. */
void nic_wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);
/* Something but data waits at PORT. */
void nic_kick(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps);
/* Finds the message of the next packet, which is not the one being sent. */
void nic_seek_message(const struct net *net, struct qp_tx *t);
/* All before PSN have arrived; PSN lies behind the oldest one under way. */
void nic_acknowledge(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps);
/* Answers on QP: ACK, NAK, SACK or RNR of PSN, with PACKET_ECHO or no flags. */
void nic_answer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn,
                enum packet_kind kind, uint32_t flags, sim_ps now_ps);
/* Grants QP the packets before PSN by a frame of BYTES in CLASS. */
void nic_send_credit(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, uint32_t class, uint32_t bytes,
                     sim_ps now_ps);
/* The window of QP may have opened. */
void nic_unblock(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);
/* Notification point: a marked packet has arrived. */
void nic_notify(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);
/* The last packet of the next message is in. */
void nic_message_in(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);

/* ---- nic_recovery.c: also nic_move_qps() of net_priv.h --------------------------- */
void nic_timeout_arm(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);
/* TIMER_TIMEOUT */
void nic_timeout(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);
/* Progress after retries. */
void nic_recovered(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);
/* A packet is sent again. */
void nic_count_again(struct net *net, struct sim_node *node, uint32_t qp);
void nic_on_nak(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps);
void nic_on_sack(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps);
void nic_on_rnr(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps);
/* TIMER_RNR */
void nic_rnr_over(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);
/* Selective repeat: [FROM, una_psn) is acknowledged. */
void nic_forget_acknowledged(struct net *net, uint32_t qp, uint32_t from);
/* The next packet to send again; qp_tx.repair must be set. */
struct nic_frame nic_lost_frame(struct net *net, struct sim_node *node, uint32_t qp);
/* Time that min_rnr_timer stands for. */
sim_ps nic_rnr_timer_ps(uint32_t code);

/* ---- nic_cc.c -------------------------------------------------------------- */
/* Makes the state of the control law that the parameters name, for all queue pairs; refuses what it cannot work with. */
bool nic_cc_build(struct net *net, GError **err);
void nic_cc_free(struct net *net);
/* A data packet starts on the wire of its port; FLAGS of its frame, BYTES on the wire. */
void nic_cc_sent(struct net *net, uint32_t qp, uint32_t psn, uint32_t flags, uint32_t bytes, sim_ps now_ps);
/* An answer (ACK, NAK, SACK, RNR) has arrived; before it takes effect. */
void nic_cc_answered(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, const struct sim_record *rec,
                     sim_ps now_ps);
/* Packets of a queue pair have been posted. */
void nic_cc_posted(struct net *net, uint32_t qp, sim_ps now_ps);
/* A credit for the packets before PSN has arrived. */
void nic_cc_credited(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps);
void nic_cc_lost(struct net *net, uint32_t qp, enum cc_loss loss, sim_ps now_ps);
/* Pacing timers: QP waits until UNTIL_PS; is the timer of NOW_PS the one that it waits for? */
void nic_cc_waits(struct net *net, uint32_t qp, sim_ps until_ps);
bool nic_cc_waited(const struct net *net, uint32_t qp, sim_ps now_ps);

/* ---- nic_rx.c -------------------------------------------------------------- */
/* A data packet has arrived at PORT of a node with rx_care. */
void nic_receive_data(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port,
                      const struct sim_record *rec, sim_ps now_ps);
/* Would a packet of KIND that arrives at PORT of V wait in the receive buffer? */
static inline bool nic_holds(const struct net *net, const struct net_vertex *v, uint32_t port, enum packet_kind kind)
{
    return kind == PACKET_DATA && (v->rx_care & NIC_RX_SLOW) && (net->nic[port]->rx_bps != 0 || net->nic[port]->rx_head != NET_NONE);
}
/* TIMER_RX: the oldest frame in the receive buffer has been handed to memory. */
void nic_drained(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps);
/* From now on PORT (internal) hands data up at RATE_BPS; 0: no limit. Only from an event of its node. */
void nic_set_rx_rate(struct net *net, struct sim_node *node, uint32_t port, int64_t rate_bps);

#endif
