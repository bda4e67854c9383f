/* rng.h - counter-based random numbers.
 *
 * Draw n of (seed, entity, purpose) is a pure function of these four numbers:
 * adding a draw somewhere else never shifts a result, and the order in which
 * nodes run does not matter. Mixing: two rounds of a 64-bit multiply-xorshift
 * finaliser (constants of the splitmix64 family).
 */
#ifndef FABRICAST_SIM_RNG_H
#define FABRICAST_SIM_RNG_H

#include <stdint.h>

/* What a draw is for: one stream each. */
enum sim_rng_purpose { SIM_RNG_ECN = 1, SIM_RNG_ECMP, SIM_RNG_SPORT, SIM_RNG_START, SIM_RNG_LOSS, SIM_RNG_SPRAY };

static inline uint64_t sim_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t sim_rng(uint64_t seed, uint32_t entity, enum sim_rng_purpose purpose, uint64_t n)
{
    uint64_t key = sim_mix64(seed + UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)entity << 8 | (uint64_t)purpose));
    return sim_mix64(key + UINT64_C(0x9e3779b97f4a7c15) * (n + 1));
}

/* The same as a number in [0, 1). */
static inline double sim_rng_unit(uint64_t seed, uint32_t entity, enum sim_rng_purpose purpose, uint64_t n)
{
    return (double)(sim_rng(seed, entity, purpose, n) >> 11) * 0x1p-53;
}

#endif
