/* cc_swift.c - see cc_swift.h. */
#include "models/cc_swift.h"

#include <glib.h>
#include <math.h>

struct swift_qp {
    double cwnd; /* packets */
    sim_ps last_cut_ps, rtt_ps;
    uint32_t acked; /* packets since the last round trip that was known */
    uint32_t timeouts, n_cuts;
    struct cc_path path;
};

struct swift {
    const struct swift_params *p;
    struct swift_qp *qp;
};

static void *swift_new(const void *params, uint32_t n)
{
    struct swift *s = g_new0(struct swift, 1);
    s->p = params;
    s->qp = g_new0(struct swift_qp, MAX(n, 1));
    return s;
}

static void swift_free(void *state)
{
    struct swift *s = state;
    if (s)
        g_free(s->qp);
    g_free(s);
}

static uint32_t swift_wants(const void *state)
{
    (void)state;
    return CC_WANTS_ACK | CC_WANTS_RTT | CC_WANTS_LOSS | CC_WANTS_WINDOW;
}

sim_ps cc_swift_target_ps(const struct swift_params *p, double cwnd, uint32_t n_switches)
{
    double low = 1 / sqrt(p->fs_max_cwnd), high = 1 / sqrt(p->fs_min_cwnd);
    double part = (1 / sqrt(cwnd) - low) / (high - low);
    return p->base_target_ps + p->per_hop_ps * n_switches + (sim_ps)((double)p->fs_range_ps * CLAMP(part, 0, 1));
}

static void publish(const struct swift_qp *q, struct cc_rate *rate)
{
    *rate = (struct cc_rate){.due_ps = SIM_PS_MAX, .window_pkts = cc_whole_window(q->cwnd)};
    if (q->cwnd < 1)
        rate->ps_per_byte = (double)q->rtt_ps / q->cwnd / q->path.wire_bytes;
}

static void swift_start(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_path *path)
{
    const struct swift *s = state;
    struct swift_qp *q = &s->qp[qp];
    double first = s->p->initial_cwnd > 0 ? s->p->initial_cwnd : cc_path_pkts(path);
    *q = (struct swift_qp){.cwnd = CLAMP(first, s->p->min_cwnd, s->p->max_cwnd), .rtt_ps = path->base_rtt_ps, .last_cut_ps = -1, .path = *path};
    publish(q, rate);
}

static bool may_cut(const struct swift_qp *q, sim_ps now_ps) { return q->last_cut_ps < 0 || now_ps - q->last_cut_ps >= q->rtt_ps; }

static void cut(const struct swift *s, struct swift_qp *q, double factor, sim_ps now_ps)
{
    q->cwnd = MAX(q->cwnd * MAX(factor, 1 - s->p->max_mdf), s->p->min_cwnd);
    q->last_cut_ps = now_ps;
    q->n_cuts++;
}

static void swift_on_ack(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_ack *ack, sim_ps now_ps)
{
    const struct swift *s = state;
    struct swift_qp *q = &s->qp[qp];
    if (ack->acked_pkts > 0)
        q->timeouts = 0;
    q->acked += ack->acked_pkts;
    if (ack->rtt_ps < 0)
        return;
    bool can_cut = may_cut(q, now_ps);
    q->rtt_ps = ack->rtt_ps;
    sim_ps target_ps = cc_swift_target_ps(s->p, q->cwnd, q->path.n_hops - 1);
    if (ack->rtt_ps < target_ps) {
        uint32_t under_way = ack->next_psn - (ack->psn - ack->acked_pkts);
        if (under_way >= cc_whole_window(q->cwnd)) /* else the window holds nobody up */
            q->cwnd = MIN(q->cwnd + s->p->ai * q->acked / MAX(q->cwnd, 1), s->p->max_cwnd);
    } else if (can_cut) {
        cut(s, q, 1 - s->p->beta * (double)(ack->rtt_ps - target_ps) / (double)ack->rtt_ps, now_ps);
    }
    q->acked = 0;
    publish(q, rate);
}

static void swift_on_loss(void *state, uint32_t qp, struct cc_rate *rate, enum cc_loss loss, sim_ps now_ps)
{
    const struct swift *s = state;
    struct swift_qp *q = &s->qp[qp];
    q->timeouts = loss == CC_LOSS_TIMEOUT ? q->timeouts + 1 : 0;
    if (q->timeouts >= (uint32_t)s->p->retx_reset)
        q->cwnd = s->p->min_cwnd;
    else if (may_cut(q, now_ps))
        cut(s, q, 1 - s->p->max_mdf, now_ps);
    publish(q, rate);
}

static void swift_view(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view)
{
    const struct swift *s = state;
    const struct swift_qp *q = &s->qp[qp];
    (void)now_ps;
    double rate_bps = cc_window_rate_bps(&q->path, q->cwnd, q->rtt_ps);
    *view = (struct cc_view){.rate_bps = rate_bps, .target_bps = rate_bps, .window_pkts = q->cwnd, .n_cuts = q->n_cuts};
}

const struct cc_ops cc_swift_ops = {"swift",        swift_new,      swift_free,   swift_wants,   swift_start, cc_ignore_time,
                                    cc_ignore_time, cc_ignore_sent, swift_on_ack, swift_on_loss, swift_view,
                                    cc_ignore_psn, cc_ignore_psn};
