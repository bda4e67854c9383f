/* sampler.c - between windows: time series at the chosen grain, and progress on a terminal.
 *
 * A sample carries the time of the window boundary at which it was taken, the
 * first at or after each multiple of run.series_grain. Idle queues, idle links and
 * queue pairs that have nothing under way are left out: no row means zero.
 */
#include "scenarios/run_priv.h"

#include <stdio.h>

/* Rows of series/rate a sample: beyond it the file would be mostly this. A run says so when it is reached. */
#define MAX_RATE_QPS 1024
#define PROGRESS_EVERY_S 0.5
/* Reading the clock costs as much as a short window: look only now and then. */
#define WINDOWS_PER_LOOK 64

struct sampler {
    struct run *run;
    sim_ps next_ps;
    GArray *queue_rows, *rate_rows, *link_rows;
    uint64_t *tx_bytes, *paused_ps; /* per port, at the last sample */
    sim_ps last_ps;
    uint32_t n_windows;
    double started_s, shown_s;
    bool shown;
};

struct queue_row { sim_ps t_ps; uint32_t port; uint32_t class; int64_t bytes; };
struct rate_row { sim_ps t_ps; uint32_t flow; double rate_bps, target_bps, alpha; };
struct link_row { sim_ps t_ps; uint32_t port; double utilisation, paused; };

struct sampler *sampler_new(struct run *run)
{
    struct sampler *s = g_new0(struct sampler, 1);
    s->run = run;
    s->next_ps = run->params->series_grain_ps ? 0 : SIM_PS_MAX;
    s->queue_rows = g_array_new(FALSE, FALSE, sizeof(struct queue_row));
    s->rate_rows = g_array_new(FALSE, FALSE, sizeof(struct rate_row));
    s->link_rows = g_array_new(FALSE, FALSE, sizeof(struct link_row));
    s->tx_bytes = g_new0(uint64_t, MAX(run->fabric->graph.n_ports, 1));
    s->paused_ps = g_new0(uint64_t, MAX(run->fabric->graph.n_ports, 1));
    s->started_s = s->shown_s = run_wall_s();
    struct net_totals totals;
    net_totals(run->net, &totals);
    if (s->next_ps == 0 && totals.n_qps > MAX_RATE_QPS)
        g_ptr_array_add(run->warnings, g_strdup_printf("series/rate holds the first %d of %u queue pairs", MAX_RATE_QPS, totals.n_qps));
    return s;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    g_array_free(s->queue_rows, TRUE);
    g_array_free(s->rate_rows, TRUE);
    g_array_free(s->link_rows, TRUE);
    g_free(s->tx_bytes);
    g_free(s->paused_ps);
    g_free(s);
}

static void sample_port(struct sampler *s, struct net *net, uint32_t port, sim_ps now_ps)
{
    for (uint32_t class = 0; class < 8; class++) {
        int64_t bytes = net_queue_bytes(net, port, class);
        struct queue_row row = {now_ps, port, class, bytes};
        if (bytes > 0)
            g_array_append_val(s->queue_rows, row);
    }
    struct net_port_view view;
    net_port_view(net, port, &view);
    uint64_t sent = view.tx_bytes - s->tx_bytes[port], paused = (uint64_t)view.paused_ps - s->paused_ps[port];
    sim_ps span_ps = now_ps - s->last_ps;
    s->tx_bytes[port] = view.tx_bytes;
    s->paused_ps[port] = (uint64_t)view.paused_ps;
    if (span_ps == 0 || (sent == 0 && paused == 0))
        return;
    double rate = (double)s->run->fabric->graph.ports[port].rate_bps;
    struct link_row row = {now_ps, port, units_rate_bps((int64_t)sent, span_ps) / rate, (double)paused / (double)span_ps};
    g_array_append_val(s->link_rows, row);
}

static void sample_rates(struct sampler *s, struct net *net, sim_ps now_ps)
{
    struct net_totals totals;
    net_totals(net, &totals);
    for (uint32_t q = 0; q < MIN(totals.n_qps, MAX_RATE_QPS); q++) {
        struct net_qp_view view;
        net_qp_view(net, q, now_ps, &view);
        struct rate_row row = {now_ps, view.flow_id == JOB_NONE ? q : view.flow_id, view.rate_bps, view.cc.target_bps,
                               view.cc.alpha};
        if (view.sent_bytes > 0 && view.busy)
            g_array_append_val(s->rate_rows, row);
    }
}

static void sample(struct sampler *s, struct net *net, sim_ps now_ps)
{
    for (uint32_t p = 0; p < s->run->fabric->graph.n_ports; p++)
        sample_port(s, net, p, now_ps);
    sample_rates(s, net, now_ps);
    s->last_ps = now_ps;
}

static void show_progress(struct sampler *s, struct net *net, sim_ps now_ps)
{
    if (++s->n_windows % WINDOWS_PER_LOOK != 0)
        return;
    double wall_s = run_wall_s();
    if (wall_s - s->shown_s < PROGRESS_EVERY_S)
        return;
    s->shown_s = wall_s;
    s->shown = true;
    struct net_progress p;
    net_progress(net, &p);
    double elapsed_s = wall_s - s->started_s, part = p.total_pkts ? (double)p.received_pkts / (double)p.total_pkts : 0;
    g_autofree char *now = units_human_time(now_ps);
    g_autofree char *eta = part > 0.001 ? units_human_time((int64_t)(elapsed_s * (1 - part) / part * (double)UNIT_S)) : g_strdup("?");
    fprintf(stderr, "\r%5.1f %%  simulated %-12s  %6.2f M packet-hops/s  ETA %-10s\033[K", part * 100, now,
            (double)p.hops / elapsed_s / 1e6, eta);
    fflush(stderr);
}

bool sampler_hook(void *user, struct net *net, sim_ps now_ps)
{
    struct sampler *s = user;
    sim_ps grain_ps = s->run->params->series_grain_ps;
    if (now_ps >= s->next_ps) {
        sample(s, net, now_ps);
        s->next_ps = (now_ps / grain_ps + 1) * grain_ps;
    }
    const struct run_options *options = s->run->options;
    if (options->show_progress)
        show_progress(s, net, now_ps);
    return !(options->interrupt && *options->interrupt);
}

/* ---- as tables -------------------------------------------------------------------- */
static const struct record_column_spec queue_columns[] = {
    {"t_ps", RECORD_I64, "ps", "time of the sample"},
    {"port", RECORD_I64, "1", "row of ports"},
    {"class", RECORD_I64, "1", "traffic class"},
    {"bytes", RECORD_I64, "bytes", "frame bytes in the egress queue"},
};
static const struct record_column_spec rate_columns[] = {
    {"t_ps", RECORD_I64, "ps", "time of the sample"},
    {"flow", RECORD_I64, "1", "flow id, or number of the queue pair"},
    {"rate_bps", RECORD_F64, "bit/s", "rate at which the sender paces"},
    {"target_bps", RECORD_F64, "bit/s", "target rate of the congestion control"},
    {"alpha", RECORD_F64, "1", "congestion estimate of DCQCN"},
};
static const struct record_column_spec link_columns[] = {
    {"t_ps", RECORD_I64, "ps", "end of the interval"},
    {"port", RECORD_I64, "1", "row of ports"},
    {"utilisation", RECORD_F64, "1", "bytes sent in the interval over what the link could carry"},
    {"paused", RECORD_F64, "1", "part of the interval for which a class was paused"},
};

void sampler_tables(struct sampler *s, struct record_book *book)
{
    if (s->run->params->series_grain_ps == 0)
        return;
    struct record_table *t = record_table_add(book, "series/queue", "Egress queues over time; no row means empty.", queue_columns,
                                              G_N_ELEMENTS(queue_columns));
    for (guint i = 0; i < s->queue_rows->len; i++) {
        const struct queue_row *r = &g_array_index(s->queue_rows, struct queue_row, i);
        record_append(t, (int64_t)r->t_ps, (int64_t)r->port, (int64_t)r->class, r->bytes);
    }
    t = record_table_add(book, "series/rate", "Sender rates over time, of queue pairs with work.", rate_columns,
                         G_N_ELEMENTS(rate_columns));
    for (guint i = 0; i < s->rate_rows->len; i++) {
        const struct rate_row *r = &g_array_index(s->rate_rows, struct rate_row, i);
        record_append(t, (int64_t)r->t_ps, (int64_t)r->flow, r->rate_bps, r->target_bps, r->alpha);
    }
    t = record_table_add(book, "series/link", "Links over time; no row means idle.", link_columns, G_N_ELEMENTS(link_columns));
    for (guint i = 0; i < s->link_rows->len; i++) {
        const struct link_row *r = &g_array_index(s->link_rows, struct link_row, i);
        record_append(t, (int64_t)r->t_ps, (int64_t)r->port, r->utilisation, r->paused);
    }
}

void sampler_end_progress(struct sampler *s)
{
    if (s->shown)
        fputs("\r\033[K", stderr);
}
