/* ecn.h - congestion point: RED-like marking on the instantaneous queue length.
 *
 * p(q) = 0 up to kmin, rising linearly to Pmax at kmax, 1 above (DCQCN, SIGCOMM
 * 2015). kmin = kmax is a step: nothing at it, everything above it.
 */
#ifndef FABRICAST_MODELS_ECN_H
#define FABRICAST_MODELS_ECN_H

#include "models/net_priv.h"
#include "sim/rng.h"

/* Pmax as a fraction of 2^64; 1 saturates (draws are below it but for one in 2^64). */
static inline uint64_t ecn_fraction(double pmax)
{
    return pmax >= 1 ? UINT64_MAX : (uint64_t)(pmax * 0x1p64);
}

/* Marks a packet that sees Q_BYTES > kmin of RULE? N counts the draws of PORT. */
static inline bool ecn_marks(uint64_t seed, uint32_t port, uint64_t *n, uint32_t q_bytes, const struct queue_rule *rule)
{
    if (q_bytes > rule->kmax)
        return true;
    uint64_t draw = sim_rng(seed, port, SIM_RNG_ECN, (*n)++);
    /* draw < Pmax (q - kmin) / (kmax - kmin), in whole numbers */
    unsigned __int128 threshold = (unsigned __int128)rule->pmax_fraction * (q_bytes - rule->kmin) / (rule->kmax - rule->kmin);
    return draw < (uint64_t)threshold;
}

#endif
