/* cc_hpcc.c - see cc_hpcc.h. Names of Algorithm 1: W window, Wc reference, U utilisation, L last telemetry. */
#include "models/cc_hpcc.h"

#include <glib.h>
#include <math.h>

struct hpcc_qp {
    double window, reference, most; /* wire bytes */
    double u;
    sim_ps t_ps;
    double port_bps;
    uint32_t wire_bytes, update_psn; /* the reference moves with the first ACK behind it */
    uint32_t stage, n_cuts;
    bool started;
    struct cc_hop last[CC_MAX_HOPS];
};

struct hpcc {
    const struct hpcc_params *p;
    struct hpcc_qp *qp;
};

static void *hpcc_new(const void *params, uint32_t n)
{
    struct hpcc *h = g_new0(struct hpcc, 1);
    h->p = params;
    h->qp = g_new0(struct hpcc_qp, MAX(n, 1));
    return h;
}

static void hpcc_free(void *state)
{
    struct hpcc *h = state;
    if (h)
        g_free(h->qp);
    g_free(h);
}

static uint32_t hpcc_wants(const void *state)
{
    (void)state;
    return CC_WANTS_ACK | CC_WANTS_INT | CC_WANTS_WINDOW;
}

static void publish(const struct hpcc_qp *q, struct cc_rate *rate)
{
    *rate = (struct cc_rate){.due_ps = SIM_PS_MAX, .window_pkts = cc_whole_window(ceil(q->window / q->wire_bytes))};
    if (q->window < q->most)
        rate->ps_per_byte = (double)q->t_ps / q->window;
}

static void hpcc_start(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_path *path)
{
    const struct hpcc *h = state;
    struct hpcc_qp *q = &h->qp[qp];
    *q = (struct hpcc_qp){.t_ps = h->p->base_rtt_ps ? h->p->base_rtt_ps : path->base_rtt_ps, .port_bps = (double)path->port_bps,
                          .wire_bytes = path->wire_bytes, .u = 1};
    q->most = q->port_bps * (double)q->t_ps / (double)(UNIT_S * UNIT_BITS_PER_BYTE);
    q->window = q->reference = q->most;
    publish(q, rate);
}

/* u of one link since the last telemetry; 0 where no time has passed. */
static double link_use(const struct hpcc_qp *q, const struct cc_hop *now, const struct cc_hop *last)
{
    uint32_t dt_ns = now->ts_ns - last->ts_ns, sent = now->tx_bytes - last->tx_bytes;
    double bytes_per_ns = (double)now->rate_mbps / (1000 * (double)UNIT_BITS_PER_BYTE);
    if (dt_ns == 0)
        return 0;
    return MIN(now->queue_bytes, last->queue_bytes) / (bytes_per_ns * (double)q->t_ps / (double)UNIT_NS) + sent / (bytes_per_ns * dt_ns);
}

static void measure(struct hpcc_qp *q, const struct cc_ack *ack)
{
    double u = 0, tau_ps = 0;
    for (uint32_t i = 0; i < ack->n_hops; i++) {
        double use = link_use(q, &ack->hops[i], &q->last[i]);
        if (use > u) {
            u = use;
            tau_ps = (double)(ack->hops[i].ts_ns - q->last[i].ts_ns) * (double)UNIT_NS;
        }
        q->last[i] = ack->hops[i];
    }
    double part = MIN(tau_ps / (double)q->t_ps, 1);
    q->u = (1 - part) * q->u + part * u;
}

static void react(const struct hpcc *h, struct hpcc_qp *q, bool update)
{
    double wai = (double)h->p->wai_bytes, before = q->reference;
    bool multiply = q->u >= h->p->eta || q->stage >= h->p->max_stage;
    q->window = MIN((multiply ? q->reference / (q->u / h->p->eta) : q->reference) + wai, q->most);
    if (!update)
        return;
    q->stage = multiply ? 0 : q->stage + 1;
    q->reference = q->window;
    q->n_cuts += q->window < before;
}

static void hpcc_on_ack(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_ack *ack, sim_ps now_ps)
{
    const struct hpcc *h = state;
    struct hpcc_qp *q = &h->qp[qp];
    (void)now_ps;
    if (!ack->hops)
        return;
    if (!q->started) {
        for (uint32_t i = 0; i < ack->n_hops; i++)
            q->last[i] = ack->hops[i];
        q->started = true;
        q->update_psn = ack->next_psn;
        return;
    }
    bool update = (int32_t)(ack->psn - q->update_psn) > 0;
    measure(q, ack);
    if (update || h->p->fast_reaction)
        react(h, q, update);
    if (update)
        q->update_psn = ack->next_psn;
    publish(q, rate);
}

static void hpcc_view(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view)
{
    const struct hpcc_qp *q = &((const struct hpcc *)state)->qp[qp];
    (void)now_ps;
    *view = (struct cc_view){.rate_bps = q->port_bps * q->window / q->most,
                             .target_bps = q->port_bps * q->reference / q->most,
                             .alpha = q->u,
                             .window_pkts = q->window / q->wire_bytes,
                             .n_cuts = q->n_cuts};
}

const struct cc_ops cc_hpcc_ops = {"hpcc",         hpcc_new,       hpcc_free,   hpcc_wants,     hpcc_start, cc_ignore_time,
                                   cc_ignore_time, cc_ignore_sent, hpcc_on_ack, cc_ignore_loss, hpcc_view,
                                   cc_ignore_psn, cc_ignore_psn};
