/* cc_swift.h - Swift (SIGCOMM 2020): a window in packets that holds the round trip near a target.
 *
 *   target = base_target + per_hop x switches + clamp(a / sqrt(cwnd) + b, 0, fs_range)
 *
 * with a and b such that flow scaling is fs_range at fs_min_cwnd and 0 at fs_max_cwnd. A round trip below it adds ai
 * packets a round trip, one above it cuts by beta times its excess, at most by max_mdf, once a round trip. A window
 * below one packet is one packet under way, sent rtt / cwnd apart. The round trip runs from the first bit on the wire
 * to the ACK's being handled. Left out: the window of the end host (receiver's delay), PLB, ACK coalescing.
 */
#ifndef FABRICAST_MODELS_CC_SWIFT_H
#define FABRICAST_MODELS_CC_SWIFT_H

#include "models/cc.h"
#include "models/model_params.h"

/* Target of a window of CWND packets over N_SWITCHES. */
sim_ps cc_swift_target_ps(const struct swift_params *p, double cwnd, uint32_t n_switches);

extern const struct cc_ops cc_swift_ops; /* params: struct swift_params */

#endif
