/* buffer.h - shared packet buffer of a switch: who may enter, when to pause, when to go on.
 *
 * An ingress priority group of a lossless class uses, in this order, its reserved
 * bytes, the shared ingress pool up to its threshold, and headroom (its own, or the
 * switch's shared headroom pool):
 *
 *   | reserved | shared: at most T = alpha x (pool - shared used), or static_th | headroom |
 *
 * XOFF is due when the shared part has reached T or headroom is in use, XON when
 * headroom is empty and use is not above max(T - xon_offset, xon). A lossy class is admitted by
 * its egress queue (reserved, then the static limit or alpha x free bytes of its pool) and its
 * group's threshold. All sizes are charges: whole cells. Sources: SONiC dynamic
 * threshold design, HPCC simulator (both in docs/VALIDATION.md).
 */
#ifndef FABRICAST_MODELS_BUFFER_H
#define FABRICAST_MODELS_BUFFER_H

#include "models/headroom.h"
#include "models/net_priv.h"

/* One of both terms is zero. */
static inline int64_t buffer_threshold(const struct net_pool *pool, int64_t static_th, uint32_t alpha_q16)
{
    return static_th + (((pool->total - pool->used) * (int64_t)alpha_q16) >> 16);
}

static inline int64_t buffer_shared_part(uint32_t used, uint32_t reserved)
{
    return used > reserved ? used - reserved : 0;
}

/* Charges BYTES to GROUP; false: no room is left (nothing is charged). HEADROOM: NULL, or the pool that it shares. */
static inline bool buffer_admit(struct net_pool *pool, struct net_pool *headroom, struct group *group,
                                const struct pg_rule *rule, uint32_t bytes)
{
    uint32_t used = group->used + bytes;
    if (used > rule->reserved) {
        int64_t over = used - rule->reserved, takes = over < bytes ? over : bytes;
        /* With alpha above 1 the threshold may exceed what is free. */
        if (over > buffer_threshold(pool, rule->static_th, rule->alpha_q16) || takes > pool->total - pool->used) {
            if (headroom ? headroom->used + bytes > headroom->total : group->headroom + bytes > rule->headroom)
                return false;
            if (headroom)
                headroom->used += bytes;
            group->headroom += bytes;
            used = group->used;
            if (group->headroom > group->max_headroom)
                group->max_headroom = group->headroom;
        } else {
            pool->used += takes;
        }
    }
    group->used = used;
    if (used + group->headroom > group->max_used)
        group->max_used = used + group->headroom;
    return true;
}

static inline bool buffer_wants_xoff(const struct net_pool *pool, const struct group *group, const struct pg_rule *rule)
{
    return group->headroom > 0 || buffer_shared_part(group->used, rule->reserved) >=
                                      buffer_threshold(pool, rule->static_th, rule->alpha_q16);
}

static inline bool buffer_wants_xon(const struct net_pool *pool, const struct group *group, const struct pg_rule *rule)
{
    int64_t shared = buffer_shared_part(group->used, rule->reserved);
    if (group->headroom > 0)
        return false;
    return shared == 0 || shared <= (int64_t)rule->xon ||
           shared + rule->xon_offset <= buffer_threshold(pool, rule->static_th, rule->alpha_q16);
}

/* Headroom is given back first, then shared, then reserved. */
static inline void buffer_release(struct net_pool *pool, struct net_pool *headroom, struct group *group, uint32_t reserved,
                                  uint32_t bytes)
{
    uint32_t from_headroom = group->headroom < bytes ? group->headroom : bytes;
    uint32_t rest = bytes - from_headroom;
    int64_t shared = buffer_shared_part(group->used, reserved);
    group->headroom -= from_headroom;
    if (headroom)
        headroom->used -= from_headroom;
    group->used -= rest;
    pool->used -= shared < rest ? shared : rest;
}

/* May BYTES join an egress queue that holds QUEUED? */
static inline bool buffer_egress_has_room(const struct net_pool *pool, const struct queue_rule *rule, uint32_t queued,
                                          uint32_t bytes)
{
    int64_t after = (int64_t)queued + bytes;
    if (after <= rule->reserved)
        return true;
    return after - rule->reserved <= buffer_threshold(pool, rule->limit, rule->alpha_q16) && pool->used + bytes <= pool->total;
}

/* A lossy group has no reserve and no headroom: all of it is shared. */
static inline bool buffer_admit_lossy(struct net_pool *pool, struct group *group, const struct pg_rule *rule, uint32_t bytes)
{
    if (group->used + (int64_t)bytes > buffer_threshold(pool, rule->static_th, rule->alpha_q16) ||
        pool->used + bytes > pool->total)
        return false;
    group->used += bytes;
    if (group->used > group->max_used)
        group->max_used = group->used;
    pool->used += bytes;
    return true;
}

#endif
