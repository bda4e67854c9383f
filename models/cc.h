/* cc.h - congestion control of a sender as a record of operations.
 *
 * The NIC asks one question when it sends: may the next packet follow at port
 * speed, or after how many picoseconds a byte? A control law keeps the answer in
 * struct cc_rate and names the time at which it changes by itself.
 */
#ifndef FABRICAST_MODELS_CC_H
#define FABRICAST_MODELS_CC_H

#include "sim/units.h"
#include <stdbool.h>
#include <stdint.h>

struct cc_rate {
    sim_ps due_ps;      /* call advance() when sending at this time or later; SIM_PS_MAX: never */
    double ps_per_byte; /* pacing of wire bytes; 0: port speed */
};

/* What is known of a queue pair's control, for records. */
struct cc_view {
    double rate_bps, target_bps, alpha;
    uint64_t n_cuts, n_cnps;
};

struct cc_ops {
    const char *name;
    /* Sets up queue pair QP at port speed PORT_BPS. */
    void (*start)(void *state, uint32_t qp, struct cc_rate *rate, int64_t port_bps);
    /* Brings the clocks to NOW_PS. */
    void (*advance)(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps);
    /* A congestion notification has arrived. */
    void (*on_cnp)(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps);
    /* BYTES were sent; called only when counts_bytes. */
    void (*on_sent)(void *state, uint32_t qp, struct cc_rate *rate, uint32_t bytes, sim_ps now_ps);
    bool (*counts_bytes)(const void *state);
    /* State at NOW_PS, which the clocks have reached. */
    void (*view)(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view);
};

extern const struct cc_ops cc_none_ops; /* line rate whatever happens; state unused */

#endif
