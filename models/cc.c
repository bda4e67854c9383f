/* cc.c - the control that does nothing: every slot filled, so callers never test for NULL. */
#include "models/cc.h"

static void none_start(void *state, uint32_t qp, struct cc_rate *rate, int64_t port_bps)
{
    (void)state, (void)qp, (void)port_bps;
    *rate = (struct cc_rate){.due_ps = SIM_PS_MAX};
}
static void none_advance(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps)
{
    (void)state, (void)qp, (void)rate, (void)now_ps;
}
static void none_sent(void *state, uint32_t qp, struct cc_rate *rate, uint32_t bytes, sim_ps now_ps)
{
    (void)state, (void)qp, (void)rate, (void)bytes, (void)now_ps;
}
static bool none_counts(const void *state)
{
    (void)state;
    return false;
}
static void none_view(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view)
{
    (void)state, (void)qp, (void)now_ps;
    *view = (struct cc_view){0};
}

const struct cc_ops cc_none_ops = {"none", none_start, none_advance, none_advance, none_sent, none_counts, none_view};
