/* cc_credit.h - receiver-driven credits: sender's side; models/nic_credit.h has the receiver.
 *
 * A sender may send the packets before its limit. A queue pair at rest that gets a message may send unscheduled
 * packets; each data packet says how much is posted, and the receiver grants the rest one by one, at a part of its
 * port's rate, its queue pairs in turn (ExpressPass, NDP, EQDS in kind, none of them in detail). Credits name the first
 * packet that may not be sent, so that a lost one is made up for by the next. Left out: credits that switches throttle or
 * drop (ExpressPass), trimmed packets (NDP), several priorities (Homa): congestion inside the fabric is left to PFC.
 */
#ifndef FABRICAST_MODELS_CC_CREDIT_H
#define FABRICAST_MODELS_CC_CREDIT_H

#include "models/cc.h"
#include "models/model_params.h"

/* Most packets granted and not received, beside unscheduled ones. */
uint32_t cc_credit_most_granted(const struct credit_params *p, const struct cc_path *path);

extern const struct cc_ops cc_credit_ops; /* params: struct credit_params */

#endif
