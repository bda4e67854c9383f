/* cc_dctcp.c - see cc_dctcp.h. */
#include "models/cc_dctcp.h"

#include <glib.h>

struct dctcp_qp {
    double window, ssthresh, alpha; /* window: packets */
    uint32_t window_end, cut_end;   /* PSNs: of the window that is being counted, and of the one that was cut */
    uint32_t acked, marked;         /* in this window */
    uint32_t n_cuts;
    bool started, cutting;
    struct cc_path path;
};

struct dctcp {
    const struct dctcp_params *p;
    struct dctcp_qp *qp;
};

static void *dctcp_new(const void *params, uint32_t n)
{
    struct dctcp *d = g_new0(struct dctcp, 1);
    d->p = params;
    d->qp = g_new0(struct dctcp_qp, MAX(n, 1));
    return d;
}

static void dctcp_free(void *state)
{
    struct dctcp *d = state;
    if (d)
        g_free(d->qp);
    g_free(d);
}

static uint32_t dctcp_wants(const void *state)
{
    (void)state;
    return CC_WANTS_ACK | CC_WANTS_ECHO | CC_WANTS_LOSS | CC_WANTS_WINDOW;
}

static void publish(struct dctcp_qp *q, struct cc_rate *rate)
{
    *rate = (struct cc_rate){.due_ps = SIM_PS_MAX, .window_pkts = cc_whole_window(q->window)};
}

static void dctcp_start(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_path *path)
{
    const struct dctcp *d = state;
    struct dctcp_qp *q = &d->qp[qp];
    double bdp = MAX(cc_path_pkts(path), (double)d->p->min_window);
    bool slow_start = d->p->initial_window_bytes > 0;
    double first = slow_start ? MAX((double)d->p->initial_window_bytes / path->mtu_bytes, 1) : bdp;
    *q = (struct dctcp_qp){.window = first, .ssthresh = slow_start ? (double)UINT32_MAX : first, .alpha = d->p->initial_alpha, .path = *path};
    publish(q, rate);
}

/* Only a window that is used up says anything about the path. */
static void grow(const struct dctcp *d, struct dctcp_qp *q, const struct cc_ack *ack)
{
    uint32_t under_way = ack->next_psn - (ack->psn - ack->acked_pkts);
    if (under_way < cc_whole_window(q->window))
        return;
    q->window += q->window < q->ssthresh ? ack->acked_pkts : ack->acked_pkts / q->window;
    if (d->p->max_window_bytes > 0)
        q->window = MIN(q->window, MAX((double)d->p->max_window_bytes / q->path.mtu_bytes, 1));
}

static void end_window(const struct dctcp *d, struct dctcp_qp *q, uint32_t next_psn)
{
    double f = q->acked > 0 ? MIN((double)q->marked / q->acked, 1) : 0;
    if (q->started)
        q->alpha = (1 - d->p->g) * q->alpha + d->p->g * f;
    q->started = true;
    q->window_end = next_psn;
    q->acked = q->marked = 0;
}

static void cut(const struct dctcp *d, struct dctcp_qp *q, double factor)
{
    q->window = MAX(q->window * factor, MIN(q->window, (double)d->p->min_window));
    q->ssthresh = q->window;
    q->cutting = true;
    q->n_cuts++;
}

static void dctcp_on_ack(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_ack *ack, sim_ps now_ps)
{
    const struct dctcp *d = state;
    struct dctcp_qp *q = &d->qp[qp];
    (void)now_ps;
    q->acked += ack->acked_pkts;
    q->marked += ack->marked;
    if (!q->started || (int32_t)(ack->psn - q->window_end) > 0)
        end_window(d, q, ack->next_psn);
    if (q->cutting && (int32_t)(ack->psn - q->cut_end) > 0)
        q->cutting = false;
    if (ack->marked && !q->cutting) {
        cut(d, q, 1 - q->alpha / 2);
        q->cut_end = ack->next_psn;
    } else if (!ack->marked && !q->cutting) {
        grow(d, q, ack);
    }
    publish(q, rate);
}

static void dctcp_on_loss(void *state, uint32_t qp, struct cc_rate *rate, enum cc_loss loss, sim_ps now_ps)
{
    const struct dctcp *d = state;
    struct dctcp_qp *q = &d->qp[qp];
    (void)now_ps;
    if (loss == CC_LOSS_TIMEOUT) {
        cut(d, q, 0.5);
        q->window = 1;
        q->cutting = false;
    } else if (!q->cutting) {
        cut(d, q, 0.5);
        q->cut_end = q->window_end; /* at most one window after the loss: what was under way then */
    }
    publish(q, rate);
}

static void dctcp_view(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view)
{
    const struct dctcp_qp *q = &((const struct dctcp *)state)->qp[qp];
    (void)now_ps;
    *view = (struct cc_view){.rate_bps = cc_window_rate_bps(&q->path, q->window, q->path.base_rtt_ps),
                             .target_bps = cc_window_rate_bps(&q->path, q->ssthresh, q->path.base_rtt_ps),
                             .alpha = q->alpha,
                             .window_pkts = q->window,
                             .n_cuts = q->n_cuts};
}

const struct cc_ops cc_dctcp_ops = {"dctcp",        dctcp_new,      dctcp_free,   dctcp_wants,   dctcp_start, cc_ignore_time,
                                    cc_ignore_time, cc_ignore_sent, dctcp_on_ack, dctcp_on_loss, dctcp_view,
                                    cc_ignore_psn, cc_ignore_psn};
