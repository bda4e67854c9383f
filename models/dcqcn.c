/* dcqcn.c - see dcqcn.h. Sources: DCQCN, SIGCOMM 2015 (paper); NVIDIA "DCQCN CC parameters" and mlxconfig
 * defaults (nvidia). Left out: per-priority rate groups, the slow-restart of ConnectX. */
#include "models/dcqcn.h"

#include <glib.h>

/* Below this alpha a cut changes less than a bit a second at any rate: the decay is at its end. */
#define ALPHA_ZERO 1e-12

struct rate_machine {
    double rate_bps, target_bps, alpha, port_bps;
    sim_ps next_alpha_ps, next_cut_ps, next_increase_ps;
    int64_t bytes_left;    /* until the next increase by the byte counter */
    uint32_t timer_stage, byte_stage;
    uint32_t n_cuts, n_cnps;
    bool limited;          /* a limiter is allocated */
    bool cnp_for_alpha;    /* a CNP came since the last alpha update */
    bool cnp_for_cut;      /* a CNP came since the last cut check */
};

struct dcqcn {
    const struct dcqcn_params *p;
    struct rate_machine *qp;
    uint32_t n;
    double g, cut_divisor, min_ratio, initial_alpha;
};

static void *dcqcn_new(const void *params, uint32_t n)
{
    const struct dcqcn_params *p = params;
    struct dcqcn *d = g_new0(struct dcqcn, 1);
    d->p = p;
    d->n = n;
    d->qp = g_new0(struct rate_machine, MAX(n, 1));
    d->g = (double)(1024 - p->dce_tcp_g) / 1024;
    d->cut_divisor = p->rpg_gd == 11 ? 2 : 1;
    d->min_ratio = (double)p->rpg_min_dec_fac / 100;
    d->initial_alpha = (double)p->initial_alpha_value / 1024;
    return d;
}

static void dcqcn_free(void *state)
{
    struct dcqcn *d = state;
    if (d)
        g_free(d->qp);
    g_free(d);
}

static double max_rate(const struct dcqcn *d, const struct rate_machine *m)
{
    return d->p->rpg_max_rate_bps ? MIN((double)d->p->rpg_max_rate_bps, m->port_bps) : m->port_bps;
}

/* Puts the machine's state into what the NIC reads. */
static void publish(const struct dcqcn *d, const struct rate_machine *m, struct cc_rate *rate)
{
    if (!m->limited) {
        *rate = (struct cc_rate){.due_ps = SIM_PS_MAX, .window_pkts = UINT32_MAX};
        return;
    }
    rate->ps_per_byte = m->rate_bps >= m->port_bps ? 0 : (double)(UNIT_S * UNIT_BITS_PER_BYTE) / m->rate_bps;
    rate->window_pkts = UINT32_MAX;
    rate->due_ps = m->next_increase_ps;
    if (d->p->behaviour == DCQCN_NVIDIA && m->cnp_for_cut)
        rate->due_ps = MIN(rate->due_ps, m->next_cut_ps);
}

static void dcqcn_start(void *state, uint32_t qp, struct cc_rate *rate, const struct cc_path *path)
{
    struct dcqcn *d = state;
    struct rate_machine *m = &d->qp[qp];
    *m = (struct rate_machine){.port_bps = (double)path->port_bps};
    m->rate_bps = m->target_bps = max_rate(d, m);
    m->limited = m->rate_bps < m->port_bps;
    m->next_increase_ps = m->next_alpha_ps = m->next_cut_ps = SIM_PS_MAX;
    publish(d, m, rate);
}

/* Alpha updates due up to T_PS. In the paper a CNP restarts the clock, so every tick is one without a CNP. */
static void alpha_until(const struct dcqcn *d, struct rate_machine *m, sim_ps t_ps)
{
    sim_ps period = d->p->dce_tcp_rtt_ps;
    while (m->next_alpha_ps <= t_ps) {
        m->alpha *= 1 - d->g;
        if (m->cnp_for_alpha)
            m->alpha += d->g;
        m->cnp_for_alpha = false;
        m->next_alpha_ps += period;
        if (m->alpha < ALPHA_ZERO) {
            m->alpha = 0;
            if (m->next_alpha_ps <= t_ps)
                m->next_alpha_ps += (t_ps - m->next_alpha_ps) / period * period + period;
        }
    }
}

static void cut(const struct dcqcn *d, struct rate_machine *m, sim_ps t_ps)
{
    bool increased = m->byte_stage > 0 || (m->timer_stage > 0 && d->p->clamp_tgt_rate_after_time_inc);
    if (d->p->clamp_tgt_rate || increased || d->p->behaviour == DCQCN_PAPER)
        m->target_bps = m->rate_bps;
    double ratio = MAX(1 - m->alpha / d->cut_divisor, d->min_ratio);
    m->rate_bps = MAX(m->rate_bps * ratio, (double)d->p->rpg_min_rate_bps);
    m->timer_stage = m->byte_stage = 0;
    m->bytes_left = d->p->rpg_byte_reset_bytes;
    m->next_increase_ps = t_ps + d->p->rpg_time_reset_ps;
    m->n_cuts++;
}

/* nvidia: the timer's own stage decides; paper: the further and the nearer of both counters. */
static void raise_target(const struct dcqcn *d, struct rate_machine *m)
{
    uint32_t f = (uint32_t)d->p->rpg_threshold;
    uint32_t far = MAX(m->timer_stage, m->byte_stage), near = MIN(m->timer_stage, m->byte_stage);
    double ai = (double)d->p->rpg_ai_rate_bps, hai = (double)d->p->rpg_hai_rate_bps;
    if (d->p->behaviour == DCQCN_NVIDIA)
        m->target_bps += far < f ? 0 : far == f ? ai : hai;
    else if (near > f)
        m->target_bps += hai * (double)(near - f);
    else if (far > f)
        m->target_bps += ai;
}

static void increase(const struct dcqcn *d, struct rate_machine *m, uint32_t *stage)
{
    /* The paper counts the event first and compares after (stages 1..F recover); the NIC compares first. */
    if (d->p->behaviour == DCQCN_PAPER)
        ++*stage;
    raise_target(d, m);
    if (d->p->behaviour == DCQCN_NVIDIA)
        ++*stage;
    double max = max_rate(d, m);
    m->target_bps = MIN(m->target_bps, max);
    m->rate_bps = (m->rate_bps + m->target_bps) / 2;
    /* Halving the gap for ever never closes it; a bit a second is closed. */
    if (max - m->rate_bps < 1) {
        m->rate_bps = max;
        m->limited = max < m->port_bps || !d->p->release_at_max_rate;
    }
}

static void dcqcn_advance(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps)
{
    struct dcqcn *d = state;
    struct rate_machine *m = &d->qp[qp];
    while (m->limited) {
        bool cut_next = d->p->behaviour == DCQCN_NVIDIA && m->cnp_for_cut && m->next_cut_ps <= m->next_increase_ps;
        sim_ps t = cut_next ? m->next_cut_ps : m->next_increase_ps;
        if (t > now_ps)
            break;
        if (cut_next) {
            alpha_until(d, m, t);
            m->cnp_for_cut = false;
            cut(d, m, t);
        } else {
            m->next_increase_ps += d->p->rpg_time_reset_ps;
            increase(d, m, &m->timer_stage);
        }
    }
    publish(d, m, rate);
}

static void first_cnp(const struct dcqcn *d, struct rate_machine *m, sim_ps now_ps)
{
    m->limited = true;
    m->alpha = d->initial_alpha;
    if (d->p->rate_to_set_on_first_cnp_bps)
        m->rate_bps = MIN((double)d->p->rate_to_set_on_first_cnp_bps, max_rate(d, m));
    m->target_bps = m->rate_bps;
    m->timer_stage = m->byte_stage = 0;
    m->next_alpha_ps = now_ps + d->p->dce_tcp_rtt_ps;
    m->next_cut_ps = now_ps + d->p->rate_reduce_monitor_period_ps;
    m->next_increase_ps = SIM_PS_MAX; /* starts with the first cut */
    m->cnp_for_alpha = false;
    m->cnp_for_cut = true;
}

/* The cut clock ticks on at its period whether or not a CNP came: find its next tick. */
static void align_cut_clock(const struct dcqcn *d, struct rate_machine *m, sim_ps now_ps)
{
    sim_ps period = d->p->rate_reduce_monitor_period_ps;
    if (m->next_cut_ps < now_ps)
        m->next_cut_ps += (now_ps - m->next_cut_ps + period - 1) / period * period;
}

static void paper_cnp(const struct dcqcn *d, struct rate_machine *m, sim_ps now_ps)
{
    cut(d, m, now_ps);
    m->alpha = (1 - d->g) * m->alpha + d->g;
    m->next_alpha_ps = now_ps + d->p->dce_tcp_rtt_ps;
}

static void dcqcn_on_cnp(void *state, uint32_t qp, struct cc_rate *rate, sim_ps now_ps)
{
    struct dcqcn *d = state;
    struct rate_machine *m = &d->qp[qp];
    dcqcn_advance(state, qp, rate, now_ps);
    m->n_cnps++;
    if (m->next_alpha_ps == SIM_PS_MAX || !m->limited) {
        first_cnp(d, m, now_ps);
    } else {
        alpha_until(d, m, now_ps);
        align_cut_clock(d, m, now_ps);
        m->cnp_for_alpha = m->cnp_for_cut = d->p->behaviour == DCQCN_NVIDIA;
    }
    if (d->p->behaviour == DCQCN_PAPER) {
        m->cnp_for_cut = false;
        paper_cnp(d, m, now_ps);
    }
    publish(d, m, rate);
}

static void dcqcn_on_sent(void *state, uint32_t qp, struct cc_rate *rate, uint32_t bytes, sim_ps now_ps)
{
    struct dcqcn *d = state;
    struct rate_machine *m = &d->qp[qp];
    (void)now_ps;
    if (!m->limited || m->next_increase_ps == SIM_PS_MAX)
        return;
    m->bytes_left -= bytes;
    if (m->bytes_left > 0)
        return;
    m->bytes_left += d->p->rpg_byte_reset_bytes;
    increase(d, m, &m->byte_stage);
    publish(d, m, rate);
}

static uint32_t dcqcn_wants(const void *state)
{
    bool counts = ((const struct dcqcn *)state)->p->rpg_byte_reset_bytes > 0;
    return CC_WANTS_CNP | (counts ? CC_WANTS_BYTES : 0);
}

static void dcqcn_view(void *state, uint32_t qp, sim_ps now_ps, struct cc_view *view)
{
    const struct dcqcn *d = state;
    struct rate_machine m = d->qp[qp]; /* a copy: looking at alpha must not move it */
    alpha_until(d, &m, now_ps);
    *view = (struct cc_view){m.rate_bps, m.target_bps, m.alpha, 0, m.n_cuts, m.n_cnps};
}

const struct cc_ops dcqcn_ops = {"dcqcn",       dcqcn_new,    dcqcn_free,    dcqcn_wants,   dcqcn_start, dcqcn_advance,
                                 dcqcn_on_cnp, dcqcn_on_sent, cc_ignore_ack, cc_ignore_loss, dcqcn_view,
                                 cc_ignore_psn, cc_ignore_psn};
