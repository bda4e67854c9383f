/* cc_timely.c - see cc_timely.h. */
#include "models/cc_timely.h"

#include <glib.h>

struct timely_qp {
    double rate_bps, diff_ps; /* averaged difference of round trips */
    sim_ps last_rtt_ps;       /* -1: none yet */
    uint32_t sample_psn;      /* a sample is due when this is acknowledged */
    uint32_t calm;            /* samples in a row whose gradient was not above 0 */
    uint32_t n_cuts;
    double port_bps, unit_ps;
    uint32_t segment_pkts;
};

struct timely {
    const struct timely_params *p;
    struct timely_qp *qp;
};

static void *timely_new(const void *params, uint32_t n)
{
    struct timely *t = g_new0(struct timely, 1);
    t->p = params;
    t->qp = g_new0(struct timely_qp, MAX(n, 1));
    return t;
}

static void timely_free(void *state)
{
    struct timely *t = state;
    if (t)
        g_free(t->qp);
    g_free(t);
}

static uint32_t timely_wants(const void *state)
{
    (void)state;
    return CC_WANTS_ACK | CC_WANTS_RTT;
}

static void publish(const struct timely_qp *q, struct cc_rate *rate)
{
    *rate = (struct cc_rate){.due_ps = SIM_PS_MAX, .window_pkts = UINT32_MAX};
    if (q->rate_bps < q->port_bps)
        rate->ps_per_byte = (double)(UNIT_S * UNIT_BITS_PER_BYTE) / q->rate_bps;
}

static void timely_start(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_path *path)
{
    const struct timely *t = state;
    struct timely_qp *q = &t->qp[qp];
    *q = (struct timely_qp){.port_bps = (double)path->port_bps, .last_rtt_ps = -1};
    q->rate_bps = MAX(q->port_bps * t->p->initial_rate, MIN((double)t->p->min_rate_bps, q->port_bps));
    q->unit_ps = (double)(t->p->min_rtt_ps ? t->p->min_rtt_ps : path->base_rtt_ps);
    q->segment_pkts = (uint32_t)MAX(t->p->segment_bytes / path->mtu_bytes, 1);
    q->sample_psn = q->segment_pkts;
    publish(q, rate);
}

static void rise(const struct timely *t, struct timely_qp *q, int64_t steps)
{
    q->rate_bps = MIN(q->rate_bps + (double)(steps * t->p->addstep_bps), q->port_bps);
}

static void cut(const struct timely *t, struct timely_qp *q, double part)
{
    q->rate_bps = MAX(q->rate_bps * (1 - t->p->beta * MIN(part, 1)), MIN((double)t->p->min_rate_bps, q->port_bps));
    q->n_cuts++;
}

static void sample(const struct timely *t, struct timely_qp *q, sim_ps rtt_ps)
{
    const struct timely_params *p = t->p;
    q->diff_ps = (1 - p->ewma) * q->diff_ps + p->ewma * (double)(rtt_ps - q->last_rtt_ps);
    double gradient = q->diff_ps / q->unit_ps;
    q->calm = gradient <= 0 ? q->calm + 1 : 0;
    if (rtt_ps < p->t_low_ps)
        rise(t, q, 1);
    else if (rtt_ps > p->t_high_ps)
        cut(t, q, 1 - (double)p->t_high_ps / (double)rtt_ps);
    else if (gradient <= 0)
        rise(t, q, q->calm >= p->hai_after ? p->hai_factor : 1);
    else
        cut(t, q, gradient);
}

static void timely_on_ack(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_ack *ack, sim_ps now_ps)
{
    const struct timely *t = state;
    struct timely_qp *q = &t->qp[qp];
    (void)now_ps;
    if (ack->rtt_ps < 0 || (int32_t)(ack->psn - q->sample_psn) < 0)
        return;
    q->sample_psn = ack->psn + q->segment_pkts;
    if (q->last_rtt_ps >= 0)
        sample(t, q, ack->rtt_ps);
    q->last_rtt_ps = ack->rtt_ps;
    publish(q, rate);
}

static void timely_view(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view)
{
    const struct timely_qp *q = &((const struct timely *)state)->qp[qp];
    (void)now_ps;
    *view = (struct cc_view){.rate_bps = q->rate_bps, .target_bps = q->rate_bps, .n_cuts = q->n_cuts};
}

const struct cc_ops cc_timely_ops = {"timely",       timely_new,     timely_free,   timely_wants,   timely_start, cc_ignore_time,
                                     cc_ignore_time, cc_ignore_sent, timely_on_ack, cc_ignore_loss, timely_view,
                                     cc_ignore_psn, cc_ignore_psn};
