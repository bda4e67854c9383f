/* cc.c - the control that does nothing, and the slots that do nothing. */
#include "models/cc.h"

#include <stddef.h>

void cc_ignore_time(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps)
{
    (void)state, (void)qp, (void)rate, (void)now_ps;
}
void cc_ignore_sent(void *state, uint32_t qp, struct cc_rate *rate, uint32_t bytes, sim_ps now_ps)
{
    (void)state, (void)qp, (void)rate, (void)bytes, (void)now_ps;
}
void cc_ignore_ack(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_ack *ack, sim_ps now_ps)
{
    (void)state, (void)qp, (void)rate, (void)ack, (void)now_ps;
}
void cc_ignore_loss(void *state, uint32_t qp, struct cc_rate *rate, enum cc_loss loss, sim_ps now_ps)
{
    (void)state, (void)qp, (void)rate, (void)loss, (void)now_ps;
}
void cc_ignore_psn(void *state, uint32_t qp, struct cc_rate *rate, uint32_t psn, sim_ps now_ps)
{
    (void)state, (void)qp, (void)rate, (void)psn, (void)now_ps;
}

static void *none_new(const void *params, uint32_t n)
{
    (void)params, (void)n;
    return NULL;
}
static void none_free(void *state) { (void)state; }
static uint32_t none_wants(const void *state)
{
    (void)state;
    return 0;
}
static void none_start(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_path *path)
{
    (void)state, (void)qp, (void)path;
    *rate = (struct cc_rate){.due_ps = SIM_PS_MAX, .window_pkts = UINT32_MAX};
}
static void none_view(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view)
{
    (void)state, (void)qp, (void)now_ps;
    *view = (struct cc_view){0};
}

const struct cc_ops cc_none_ops = {"none",         none_new,       none_free,      none_wants,    none_start,
                                   cc_ignore_time, cc_ignore_time, cc_ignore_sent, cc_ignore_ack, cc_ignore_loss, none_view,
                                   cc_ignore_psn,  cc_ignore_psn};
