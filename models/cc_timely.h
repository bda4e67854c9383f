/* cc_timely.h - TIMELY (SIGCOMM 2015): a rate that follows the gradient of the round trip.
 *
 * One sample a segment. Below t_low the rate rises by addstep; above t_high it is cut by beta (1 - t_high / rtt);
 * between them it rises by addstep (hai_factor times that after hai_after samples without a rise) while the averaged
 * difference of round trips is not above 0, and else is cut by beta times it, in units of min_rtt. No window. Packets
 * are paced one by one; the paper's host paces bursts of a segment. The fixed point is any queue between the
 * thresholds: rates need not become equal (ECN or Delay, CoNEXT 2016). Left out: reaction to loss, which the paper has not.
 */
#ifndef FABRICAST_MODELS_CC_TIMELY_H
#define FABRICAST_MODELS_CC_TIMELY_H

#include "models/cc.h"
#include "models/model_params.h"

extern const struct cc_ops cc_timely_ops; /* params: struct timely_params */

#endif
