/* cc_hpcc.h - HPCC (SIGCOMM 2019): a window from in-band telemetry of every link on the way.
 *
 * Of each ACK the busiest link's u = min(queue now, queue before) / (B T) + tx rate / B enters an average U over a
 * round trip; the window is W = Wc / (U / eta) + W_AI where U >= eta or after max_stage round trips of W = Wc + W_AI.
 * Every ACK moves W; the reference Wc moves once a round trip, so that one congestion is answered once. Pacing at
 * W / T. W starts at, and never exceeds, port rate x T. The NIC's own port stamps, too: queue pairs that share a
 * port share eta of it. Left out: HPCC-PINT, per-hop windows, detection of path changes (fixed paths are required).
 *
 * In views alpha is U.
 */
#ifndef FABRICAST_MODELS_CC_HPCC_H
#define FABRICAST_MODELS_CC_HPCC_H

#include "models/cc.h"
#include "models/model_params.h"

extern const struct cc_ops cc_hpcc_ops; /* params: struct hpcc_params */

#endif
