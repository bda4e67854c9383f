/* cc_credit.c - see cc_credit.h. */
#include "models/cc_credit.h"

#include <glib.h>
#include <math.h>

struct credit_qp {
    uint32_t limit_psn, una_psn;
    uint32_t most_pkts; /* under way, whatever was granted */
    struct cc_path path;
};

struct credit {
    const struct credit_params *p;
    struct credit_qp *qp;
};

uint32_t cc_credit_most_granted(const struct credit_params *p, const struct cc_path *path)
{
    return cc_whole_window(ceil(p->outstanding * cc_path_pkts(path)));
}

static void *credit_new(const void *params, uint32_t n)
{
    struct credit *c = g_new0(struct credit, 1);
    c->p = params;
    c->qp = g_new0(struct credit_qp, MAX(n, 1));
    return c;
}

static void credit_free(void *state)
{
    struct credit *c = state;
    if (c)
        g_free(c->qp);
    g_free(c);
}

static uint32_t credit_wants(const void *state)
{
    (void)state;
    return CC_WANTS_ACK | CC_WANTS_CREDIT;
}

static void publish(const struct credit_qp *q, struct cc_rate *rate)
{
    *rate = (struct cc_rate){.due_ps = SIM_PS_MAX, .window_pkts = MIN(q->limit_psn - q->una_psn, q->most_pkts)};
}

static void credit_start(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_path *path)
{
    const struct credit *c = state;
    struct credit_qp *q = &c->qp[qp];
    uint32_t unscheduled = (uint32_t)c->p->unscheduled;
    *q = (struct credit_qp){.limit_psn = unscheduled, .most_pkts = unscheduled + cc_credit_most_granted(c->p, path), .path = *path};
    publish(q, rate);
}

static void raise_limit(struct credit_qp *q, struct cc_rate *rate, uint32_t limit_psn)
{
    if ((int32_t)(limit_psn - q->limit_psn) > 0)
        q->limit_psn = limit_psn;
    publish(q, rate);
}

static void credit_on_begin(void *state, uint32_t qp, struct cc_rate *rate, uint32_t psn, sim_ps now_ps)
{
    const struct credit *c = state;
    (void)now_ps;
    raise_limit(&c->qp[qp], rate, psn + (uint32_t)c->p->unscheduled);
}

static void credit_on_credit(void *state, uint32_t qp, struct cc_rate *rate, uint32_t psn, sim_ps now_ps)
{
    (void)now_ps;
    raise_limit(&((const struct credit *)state)->qp[qp], rate, psn);
}

static void credit_on_ack(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_ack *ack, sim_ps now_ps)
{
    struct credit_qp *q = &((const struct credit *)state)->qp[qp];
    (void)now_ps;
    q->una_psn = ack->psn;
    raise_limit(q, rate, ack->psn); /* what is acknowledged was sent */
}

static void credit_view(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view)
{
    const struct credit_qp *q = &((const struct credit *)state)->qp[qp];
    double window = MIN(q->limit_psn - q->una_psn, q->most_pkts);
    (void)now_ps;
    *view = (struct cc_view){.rate_bps = cc_window_rate_bps(&q->path, window, q->path.base_rtt_ps), .window_pkts = window};
}

const struct cc_ops cc_credit_ops = {"credit",       credit_new,     credit_free,   credit_wants,   credit_start, cc_ignore_time,
                                     cc_ignore_time, cc_ignore_sent, credit_on_ack, cc_ignore_loss, credit_view,  credit_on_begin,
                                     credit_on_credit};
