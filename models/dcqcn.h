/* dcqcn.h - DCQCN reaction point: the rate machine of one queue pair.
 *
 * Two behaviours under the vendor's knob names (models/dcqcn_params.def):
 * `nvidia` cuts on a clock, `paper` cuts at every CNP (DCQCN, SIGCOMM 2015). The
 * machine has no timers of its own: its clocks are advanced when a packet is
 * sent, a CNP arrives or someone looks. Between these moments nothing depends on
 * the rate, so the result is that of timer events (ADR 0007).
 *
 * Rates are double bit/s inside the control law; pacing leaves it as picoseconds
 * a wire byte.
 */
#ifndef FABRICAST_MODELS_DCQCN_H
#define FABRICAST_MODELS_DCQCN_H

#include "models/cc.h"
#include "models/model_params.h"

extern const struct cc_ops dcqcn_ops; /* params: struct dcqcn_params */

#endif
