/* ib.h - InfiniBand link layer: credits for each VL, arbitration between VLs (IBTA volume 1, 7.6 and 7.9).
 *
 * The receiving end of a link has a buffer for each VL and tells the sending end how many 64-byte blocks it may have sent
 * in all (FCCL); a packet goes when all its blocks are within that. Counters run on in 32 bits; on the wire they are
 * 12 bits, which is why no more than 2048 blocks can be under way.
 *
 * port_hot.paused has a queue's bit while its VL has no credit for a packet of the largest size: the first packet of the
 * queue is then looked at (ib_open). port_hot.pause_todo has a VL's bit while a flow-control packet waits to go. Such a
 * packet is PACKET_PAUSE with FCCL in a, and VL << 28 | blocks lost so far on the way there in b: together with what has come in
 * they are the FCTBS of the specification.
 *
 * When the receiver tells: no sooner than the sender may need it (ib_vl.low). Sooner would change nothing but the
 * number of flow-control packets.
 *
 * Left out: VL15 and management, VLs above 7, SL2VL tables by input and output port, VL stall.
 */
#ifndef FABRICAST_MODELS_IB_H
#define FABRICAST_MODELS_IB_H

#include "models/link.h"
#include "models/nic.h"

#define IB_BLOCK_BYTES 64u
#define IB_MAX_CREDIT_BLOCKS 2048u


/* Of a port and VL, in blocks from the beginning on. */
struct ib_vl {
    uint32_t sent, limit;                 /* as sender: FCTBS; FCCL of the peer */
    uint32_t received, freed, advertised; /* as receiver: ABR; taken out of the buffer; FCCL last sent */
    uint32_t low;                         /* the peer is told of free buffer when it may have no more left than this */
    uint32_t buffer, max_used;
};

/* Arbitration table: entries of VLs that ports have. */
struct ib_table { struct model_vl_share entry[MODEL_VL_SHARES]; uint32_t n; uint8_t vls; };
struct ib_turn { uint32_t at; int32_t left_bytes; };

/* What a port needs now and then. */
struct ib_port {
    struct ib_turn high, low;
    int64_t high_left_bytes;           /* of high priority, while low priority waits */
    bool low_waits;                    /* as the VL was picked that is to be charged */
    sim_ps wait_since_ps, wait_ps;     /* something waits and nothing may go for lack of credits */
    sim_ps stall_since_ps[NET_CLASSES], stall_ps[NET_CLASSES]; /* the same of one VL */
    sim_ps lifetime_ps;                /* head of queue; 0: no limit */
    uint64_t fc_tx_pkts, fc_rx_pkts, discard_pkts[NET_CLASSES];
    uint32_t lost[NET_CLASSES], peer_lost[NET_CLASSES]; /* blocks, on the way to the peer; to this port */
    uint8_t lifetime_armed, repair_armed; /* VLs */
};

/* Bits of port_hot.stalled above those of the VLs: nothing may go; a VL has been picked, which is to be charged. */
#define IB_PORT_STALLED 0x100u
#define IB_CHARGE_HIGH 0x200u
#define IB_CHARGE_LOW 0x400u
#define IB_VLS 0xffu

struct ib {
    const struct ib_params *params;
    struct ib_vl (*vl)[NET_CLASSES]; /* by port */
    struct ib_port *port;
    uint32_t packet_blocks;          /* of the largest packet */
    uint8_t vl_of_sl[NET_CLASSES], sls_of_vl[NET_CLASSES];
    struct ib_table high, low;
};

static inline uint32_t ib_blocks(uint32_t bytes) { return (bytes + IB_BLOCK_BYTES - 1) / IB_BLOCK_BYTES; }
/* Packet C's VL. */
static inline uint32_t ib_vl_of(const struct net *net, uint32_t c) { return net->ib->vl_of_sl[packet_code(c)]; }

/* ---- build -------------------------------------------------------------------- */
/* Before the ports: the constants of the run. Does nothing without net_config.ib. */
void ib_set_constants(struct net *net);
/* Maps and arbitration tables. */
bool ib_parse(struct net *net, GError **err);
/* After the ports and their latencies. */
bool ib_build(struct net *net, GError **err);
void ib_free(struct net *net);

/* ---- sender ------------------------------------------------------------------- */
/* A packet of BYTES goes while port_hot.stalled is not zero. */
void ib_sent_after_wait(struct net *net, uint32_t p, uint32_t vl, uint32_t bytes, sim_ps now_ps);
/* VL of port P has a packet without credits; PORT: and nothing else can go. */
void ib_stalled(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, sim_ps now_ps);
void ib_port_stalled(struct net *net, uint32_t p, sim_ps now_ps);
/* Which of several READY VLs sends; its packet is charged as it goes. */
uint32_t ib_arbitrate(struct net *net, uint32_t p, uint32_t ready);

static inline bool ib_has_credit(const struct net *net, uint32_t p, uint32_t vl, uint32_t bytes)
{
    const struct ib_vl *s = &net->ib->vl[p][vl];
    return s->limit - s->sent >= ib_blocks(bytes);
}

/* The link of P is known to be down: what is sent is lost, and takes no credits. */
static inline bool ib_is_down(const struct net *net, uint32_t p)
{
    return net->port[p].profile->special && net->cold[p].special && net->cold[p].special->n_down > 0;
}

/* A packet goes on the wire of PORT from VL, whose bits in port_hot.paused are QUEUES. */
static inline void ib_send(struct net *net, struct port_hot *port, uint32_t p, uint32_t vl, uint32_t queues, uint32_t bytes,
                           sim_ps now_ps)
{
    struct ib_vl *s = &net->ib->vl[p][vl];
    if (__builtin_expect(ib_is_down(net, p), 0))
        return;
    s->sent += ib_blocks(bytes);
    if (s->limit - s->sent < net->ib->packet_blocks)
        port->paused = (uint16_t)(port->paused | queues);
    if (__builtin_expect(port->stalled, 0))
        ib_sent_after_wait(net, p, vl, bytes, now_ps);
}
/* A packet is lost on its way from P: a later flow-control packet says so. */
void ib_lost(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t c, sim_ps now_ps);

/* So far, at NOW_PS. */
sim_ps ib_wait_ps(const struct net *net, uint32_t p, sim_ps now_ps);
sim_ps ib_stall_ps(const struct net *net, uint32_t p, uint32_t vl, sim_ps now_ps);

/* ---- receiver ----------------------------------------------------------------- */
/* The peer may be short of credits: tells it what is free. */
void ib_offer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, sim_ps now_ps);
void ib_give_later(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, uint32_t blocks,
                   sim_ps free_ps, sim_ps now_ps);
static inline bool ib_peer_is_low(const struct ib_vl *s) { return s->advertised - s->received <= s->low; }

/* A packet has come in at P. */
static inline void ib_take(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, uint32_t bytes,
                           sim_ps now_ps)
{
    struct ib_vl *s = &net->ib->vl[p][vl];
    s->received += ib_blocks(bytes);
    uint32_t used = s->received - s->freed;
    if (used > s->max_used) {
        s->max_used = used;
    }
    if (__builtin_expect(ib_peer_is_low(s), 0))
        ib_offer(net, core, node, p, vl, now_ps);
}

/* A packet has come in at P that never came into a buffer: lost as the link went down. */
static inline void ib_forget(struct net *net, uint32_t p, uint32_t c)
{
    struct ib_vl *s = &net->ib->vl[p][ib_vl_of(net, c)];
    s->received += ib_blocks(packet_bytes(c));
    s->freed += ib_blocks(packet_bytes(c));
}

/* Its last bit leaves the buffer at FREE_PS. */
static inline void ib_give(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, uint32_t bytes,
                           sim_ps free_ps, sim_ps now_ps)
{
    struct ib_vl *s = &net->ib->vl[p][vl];
    if (__builtin_expect(ib_peer_is_low(s), 0))
        ib_give_later(net, core, node, p, vl, ib_blocks(bytes), free_ps, now_ps);
    else
        s->freed += ib_blocks(bytes); /* too early by the packet's time on a wire, which ib_vl.low allows for */
}

/* ---- flow-control packets and timers --------------------------------------------- */
/* Sends that of the lowest waiting VL; the port must be free. */
void ib_put_fc(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps);
/* One has arrived at P: look again at what waits there. */
void ib_receive_fc(struct net *net, uint32_t p, uint32_t a, uint32_t b);
/* TIMER_FREED */
void ib_freed(struct net *net, struct sim_core *core, struct sim_node *node, uint64_t arg, sim_ps now_ps);
/* TIMER_REFRESH: a flow-control packet is due, wake the port. */
void ib_repair(struct net *net, uint32_t p, uint32_t vl);
/* The link of P is up again: what was lost meanwhile is told anew; wake the port. */
void ib_link_up(struct net *net, uint32_t p);
/* Sends if P is free and something may go. */
void ib_wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps);
/* TIMER_PAUSE_END: true when the first packet of the VL has outlived head_of_queue_lifetime. */
bool ib_lifetime_over(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, sim_ps now_ps);

/* ib_switch.c */
void ib_switch_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch);
void ib_switch_wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps);
void ib_switch_flush(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps);

#endif
