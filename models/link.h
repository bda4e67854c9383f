/* link.h - state of a port whose frames may be lost or are captured; see link.c. */
#ifndef FABRICAST_MODELS_LINK_H
#define FABRICAST_MODELS_LINK_H

#include "models/net_priv.h"

/* Loses the packets FIRST .. FIRST + N - 1 of a kind. */
struct link_pick {
    bool active;
    enum fault_packet kind;
    uint64_t first, n, seen;
};

struct net_special {
    enum link_fec fec;
    double base_ber, base_loss; /* of the link */
    double ber, loss;           /* now */
    uint32_t known_bytes;       /* frame size for which known_loss holds */
    double known_loss;
    uint64_t n_draws;
    uint32_t n_down;            /* faults that keep the link down */
    struct link_pick pick;
    uint64_t lost_pkts, lost_bytes;
    uint32_t full_ps_per_byte_q16; /* before degraded_rate; 0: not degraded */
    bool capture;
    struct net_frame *frames;
    uint32_t n_frames, cap_frames;
    uint64_t n_left_out;
};

/* Probability that a frame of FRAME_BYTES is lost: bit errors that FEC cannot mend, and LOSS on top. */
double link_frame_loss(enum link_fec fec, double ber, double loss, uint32_t frame_bytes);

/* The special state of PORT, made if there is none: its frames then go the long way. Only while building. */
struct net_special *link_special(struct net *net, uint32_t port);
void link_set_errors(struct net_special *special, double ber, double loss);

#endif
