/* buffer.h - shared packet buffer of a switch: who may enter, when to pause, when to go on.
 *
 * An ingress group (port x lossless class) uses, in this order, its reserved
 * bytes, the shared pool up to a dynamic threshold, and its headroom:
 *
 *   | reserved | shared: at most T = alpha x (pool - shared used) | headroom |
 *
 * XOFF is due when the shared part has reached T or headroom is in use, XON when
 * headroom is empty and the shared part has fallen xon_offset below T. A lossy
 * class is admitted by its egress queue instead. Sources: SONiC dynamic
 * threshold design, HPCC simulator (both in docs/VALIDATION.md).
 */
#ifndef FABRICAST_MODELS_BUFFER_H
#define FABRICAST_MODELS_BUFFER_H

#include "models/net_priv.h"

static inline int64_t buffer_threshold(const struct net_vertex *v, uint32_t alpha_q16)
{
    return ((v->shared_total - v->shared_used) * alpha_q16) >> 16;
}

static inline int64_t buffer_shared_part(uint32_t used, uint32_t reserved)
{
    return used > reserved ? used - reserved : 0;
}

/* Charges BYTES to GROUP; false: no room is left (nothing is charged). */
static inline bool buffer_admit(struct net_vertex *v, struct group *group, uint32_t alpha_q16, uint32_t reserved,
                                uint32_t headroom_limit, uint32_t bytes)
{
    uint32_t used = group->used + bytes;
    if (used > reserved) {
        int64_t over = used - reserved, takes = over < bytes ? over : bytes;
        /* With alpha above 1 the threshold may exceed what is free. */
        if (over > buffer_threshold(v, alpha_q16) || takes > v->shared_total - v->shared_used) {
            if (group->headroom + bytes > headroom_limit)
                return false;
            group->headroom += bytes;
            used = group->used;
            if (group->headroom > group->max_headroom)
                group->max_headroom = group->headroom;
        } else {
            v->shared_used += takes;
        }
    }
    group->used = used;
    v->used_bytes += bytes;
    if (used + group->headroom > group->max_used)
        group->max_used = used + group->headroom;
    return true;
}

static inline bool buffer_wants_xoff(const struct net_vertex *v, const struct group *group, uint32_t alpha_q16,
                                     uint32_t reserved)
{
    return group->headroom > 0 || buffer_shared_part(group->used, reserved) >= buffer_threshold(v, alpha_q16);
}

static inline bool buffer_wants_xon(const struct net_vertex *v, const struct group *group, uint32_t alpha_q16,
                                    uint32_t reserved, uint32_t xon_offset)
{
    int64_t shared = buffer_shared_part(group->used, reserved);
    return group->headroom == 0 && (shared == 0 || shared + xon_offset <= buffer_threshold(v, alpha_q16));
}

/* Headroom is given back first, then shared, then reserved. */
static inline void buffer_release(struct net_vertex *v, struct group *group, uint32_t reserved, uint32_t bytes)
{
    uint32_t from_headroom = group->headroom < bytes ? group->headroom : bytes;
    uint32_t rest = bytes - from_headroom;
    int64_t shared = buffer_shared_part(group->used, reserved);
    group->headroom -= from_headroom;
    group->used -= rest;
    v->shared_used -= shared < rest ? shared : rest;
    v->used_bytes -= bytes;
}

/* Lossy classes have no reserve and no headroom: all of it is shared. */
static inline bool buffer_admit_lossy(struct net_vertex *v, struct group *group, const struct queue *queue,
                                      int64_t limit, uint32_t bytes)
{
    if (queue->bytes + (int64_t)bytes > limit || v->shared_used + bytes > v->shared_total)
        return false;
    group->used += bytes;
    if (group->used > group->max_used)
        group->max_used = group->used;
    v->shared_used += bytes;
    v->used_bytes += bytes;
    return true;
}

/* Headroom of a lossless class behind a link of RATE and one-way CABLE_PS by the rule of PARAMS, before scaling.
 * physical = (2 x (cable + FEC) + peer response + our pipeline) x rate + a frame at each end, the one that crossed the
 * threshold, and the pause frame: what is in the pipeline when XOFF is decided has not been charged yet. */
struct buffer_headroom_terms {
    const struct buffer_params *buffer;
    const struct pfc_params *pfc;
    const struct link_params *link;
    const struct switch_params *switching;
    int64_t mtu_frame_bytes;
    int n_lossless;
};
int64_t buffer_headroom_bytes(const struct buffer_headroom_terms *terms, int64_t rate_bps, sim_ps cable_ps);
/* The same by the physical rule, whatever the parameters say. */
int64_t buffer_headroom_needed_bytes(const struct buffer_headroom_terms *terms, int64_t rate_bps, sim_ps cable_ps);

#endif
