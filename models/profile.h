/* profile.h - what the settings make of a port: maps, thresholds, schedulers.
 *
 * Settings depend on the place (net.h: net_site), but few places differ: ports with
 * equal settings share one profile, so that a run's profiles stay in the first cache.
 *
 *   packet's code --tc_of_code--> traffic class --queue_of_tc of the egress port--> queue
 *                 \-pg_of_code--> priority group of the ingress port
 *   pause frame's priority --queue_of_priority--> queue that stops
 *   priority group --priorities_of_pg--> priorities of the pause frames it sends
 *
 * In a NIC the queue is the class that the workload or the answer has; code_of_class gives
 * the DSCP and PCP that go out with it.
 */
#ifndef FABRICAST_MODELS_PROFILE_H
#define FABRICAST_MODELS_PROFILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define NET_CLASSES 8

/* An ingress priority group. */
struct pg_rule {
    int64_t static_th;  /* threshold of the shared bytes: static_th + alpha x free ones, one of both zero */
    uint32_t alpha_q16;
    uint32_t reserved, headroom; /* of a lossless group; headroom 0 with a shared headroom pool */
    uint32_t xon, xon_offset;
};

/* An egress queue. */
struct queue_rule {
    uint32_t kmin, kmax;     /* kmin UINT32_MAX: never marks */
    uint64_t pmax_fraction;  /* Pmax as a 64-bit fraction */
    int64_t limit;           /* bytes: limit + alpha x free ones of the pool, one of both zero */
    uint32_t alpha_q16, reserved;
    uint8_t pool;            /* index into net_vertex.pool */
};

struct port_profile {
    uint8_t tc_of_code[NET_CLASSES], pg_of_code[NET_CLASSES], queue_of_tc[NET_CLASSES];
    uint8_t plain_pgs, plain_queues; /* lossless with headroom of its own; lossless without limits or marks at enqueue: most traffic */
    uint8_t lossless_pgs, lossless_queues;
    uint8_t honours;               /* priorities whose pause frames are obeyed */
    uint32_t pause_quanta;         /* of its own pause frames; PACKET_PAUSE_FOREVER: until XON */
    double pause_refresh;          /* they are repeated after this part of their time */
    uint8_t enqueue_marks;         /* queues that mark as a packet arrives; the others as it leaves */
    uint8_t strict_queues;
    uint8_t slice;                 /* ingress pool: index into net_vertex.pool */
    uint8_t queue_of_priority[NET_CLASSES], priorities_of_pg[NET_CLASSES], code_of_class[NET_CLASSES];
    bool special;                  /* something is to be looked at before a frame goes on the wire: net_special, telemetry */
    bool own_headroom;             /* false: from the switch's shared headroom pool */
    uint32_t cell_bytes, cell_overhead;
    uint64_t cell_inverse;         /* 2^32 / cell_bytes, rounded up */
    uint32_t headroom_needed;      /* of a lossless group by the physical rule, whatever rule is in force */
    uint32_t weights[NET_CLASSES], dwrr_quantum;
    struct pg_rule pg[NET_CLASSES];
    struct queue_rule queue[NET_CLASSES];
};

/* Bytes that a frame takes in the buffer: whole cells. */
static inline uint32_t profile_charge(const struct port_profile *profile, uint32_t frame_bytes)
{
    if (__builtin_expect(profile->cell_bytes == 1, 1))
        return frame_bytes + profile->cell_overhead;
    uint64_t n = (uint64_t)frame_bytes + profile->cell_overhead + profile->cell_bytes - 1;
    return (uint32_t)(n * profile->cell_inverse >> 32) * profile->cell_bytes;
}

/* What the lossless groups of a switch's plugged ports take of its buffer. Bytes, as doubles: no sum overflows. */
struct switch_buffer {
    double size_bytes, headroom_bytes, headroom_pool_bytes, reserved_bytes, ingress_pool_bytes;
    double shared_bytes;  /* what the shared ingress pool gets; below 0 when it does not fit */
    double bytes_per_ps;  /* growth of the rate_delay rule's headroom with the cables' delay */
    int64_t slices;
    uint32_t n_groups;
    bool fits;            /* a run refuses a switch that does not */
};

struct net;
struct buffer_headroom_terms; /* models/headroom.h */
struct switch_buffer profile_switch_buffer(const struct net *net, uint32_t graph_node);
/* False with ERR set when that is more than there is. */
bool profile_buffer_fits(const struct net *net, uint32_t graph_node, GError **err);
/* What the headroom of a lossless group of a switch port follows from, with the node's buffer settings. */
struct buffer_headroom_terms profile_headroom_terms(const struct net *net, uint32_t graph_port, int n_lossless);

/* Gives every port its profile, and switches their pools. Also fills net->code tables. */
bool profile_build(struct net *net, GError **err);
/* Instead of profile_build(): no pools, and a port that a run would refuse keeps what was found so far. False with ERR
 * when codes run out. */
bool profile_survey(struct net *net, GError **err);
/* After profile_survey(): why a run refuses the settings of this port, NULL if it does not. Borrowed. */
const char *profile_problem(const struct net *net, uint32_t graph_port);
void profile_release(struct net *net);
/* From now on every port looks at its frames before they go on the wire. Only while building. */
void profile_all_special(struct net *net);
/* A profile of PORT's own, to be changed while running. */
struct port_profile *profile_own(struct net *net, uint32_t port);

#endif
