/* cc_dctcp.h - DCTCP's window law (SIGCOMM 2010, RFC 8257) on a queue pair.
 *
 * alpha is an average of the fraction of packets that were marked, window by window: alpha += g (F - alpha). The
 * first mark of a window cuts it: W (1 - alpha / 2). ACKs without a mark add one packet a round trip (slow start:
 * one an ACK) while the window is what holds the sender up. Each marked packet is acknowledged at once, so that F is
 * exact. A loss halves the window, a timeout leaves one packet. Left out: delayed ACKs, Linux's rate of reduction.
 *
 * Switches mark by [ecn]: DCTCP's threshold K is kmin = kmax = K, marking at enqueue or dequeue.
 */
#ifndef FABRICAST_MODELS_CC_DCTCP_H
#define FABRICAST_MODELS_CC_DCTCP_H

#include "models/cc.h"
#include "models/model_params.h"

extern const struct cc_ops cc_dctcp_ops; /* params: struct dctcp_params */

#endif
