/* results.c - what a run leaves behind, as records: meta, parameters, summary, tables. */
#include "models/collective/collective.h"
#include "scenarios/run_priv.h"
#include "sim/rng.h"

#include <math.h>
#include <string.h>

#define ROWS(specs) (specs), (int)G_N_ELEMENTS(specs)

/* ---- meta and parameters ------------------------------------------------------ */
static void fill_meta(struct run *run, enum net_verdict verdict, const struct net_totals *totals)
{
    static const char *const status[] = {"finished", "incomplete", "deadlock", "stuck"};
    struct record_book *book = run->book;
    g_autofree char *seed = g_strdup_printf("%" G_GINT64_FORMAT, run->params->seed);
    g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", totals->digest);
    g_autofree char *threads = g_strdup_printf("%d", run->n_threads);
    record_meta_set(book, "program", "fabricast");
    record_meta_set(book, "version", FABRICAST_VERSION);
    record_meta_set(book, "compiler", __VERSION__);
    record_meta_set(book, "scenario", run->scenario->name);
    record_meta_set(book, "scenario_path", run->scenario->path);
    record_meta_set(book, "scenario_text", run->scenario->text ? run->scenario->text : "");
    record_meta_set(book, "seed", seed);
    record_meta_set(book, "fidelity", "packet");
    record_meta_set(book, "status", status[verdict]);
    record_meta_set(book, "digest", digest);
    record_meta_set(book, "threads", threads);
    g_autofree char *topology = g_strdup_printf("%s: %u GPUs, %u nodes, %u links", run->fabric->kind,
                                                run->fabric->graph.n_endpoints, run->fabric->graph.n_nodes, run->fabric->n_links);
    record_meta_set(book, "topology", topology);
    for (guint i = 0; i < run->warnings->len; i++) {
        g_autofree char *key = g_strdup_printf("warning.%u", i);
        record_meta_set(book, key, g_ptr_array_index(run->warnings, i));
    }
}

static double base_value(const struct param_desc *row, const void *values)
{
    const void *at = (const char *)values + row->offset;
    switch (row->type) {
    case PARAM_REAL:
        return *(const double *)at;
    case PARAM_BOOL:
        return *(const bool *)at;
    case PARAM_ENUM:
        return *(const int *)at;
    case PARAM_TEXT:
    case PARAM_BYTES_MAP:
    case PARAM_REAL_MAP:
        return NAN;
    default:
        return (double)*(const int64_t *)at;
    }
}

/* SECTION is "group" or "group:layer". */
static void add_param(struct run *run, const char *section, const struct param_desc *row, const void *values)
{
    static const char *const set_by[] = {"default", "file", "command line", "sweep"};
    const struct param_bag *bag = run->scenario->bag;
    g_autofree char *value = param_format(row, values);
    g_autofree char *def = param_format_default(row);
    struct record_param param = {.group = (char *)(uintptr_t)section,
                                 .key = (char *)(uintptr_t)row->key,
                                 .value = value,
                                 .def = def,
                                 .unit = (char *)(uintptr_t)param_unit(row),
                                 .source = (char *)(uintptr_t)row->source,
                                 .set_by = (char *)(uintptr_t)set_by[param_bag_set_by(bag, section, row->key)],
                                 .origin = (char *)(uintptr_t)param_bag_origin(bag, section, row->key),
                                 .base_value = base_value(row, values)};
    record_param_add(run->book, &param);
}

/* Of a layer only what was set there: the rest holds no value of the run. */
static void add_layer_params(struct run *run, const struct param_group *group, int layer)
{
    const struct param_bag *bag = run->scenario->bag;
    const void *values = param_bag_item(bag, group->name, layer);
    g_autofree char *section = g_strdup_printf("%s:%s", group->name, param_bag_layer_name(bag, group->name, layer));
    for (int r = 0; r < group->n_rows; r++)
        if (param_bag_layer_key_origin(bag, group->name, layer, group->rows[r].key))
            add_param(run, section, &group->rows[r], values);
}

static void fill_params(struct run *run)
{
    const struct param_bag *bag = run->scenario->bag;
    for (int g = 0; g < param_bag_n_groups(bag); g++) {
        const struct param_group *group = param_bag_group(bag, g);
        const void *values = param_bag_get(bag, group->name);
        for (int r = 0; group->scope != PARAM_SCOPE_LIST && r < group->n_rows; r++)
            add_param(run, group->name, &group->rows[r], values);
        for (int layer = 0; layer < param_bag_n_layers(bag, group->name); layer++)
            add_layer_params(run, group, layer);
    }
}

/* ---- flows ---------------------------------------------------------------------- */
static const struct record_column_spec flow_columns[] = {
    {"flow", RECORD_I64, "1", "id in the flow list"},
    {"src", RECORD_I64, "1", "rank that sends"},
    {"dst", RECORD_I64, "1", "rank that receives"},
    {"bytes", RECORD_I64, "bytes", "payload"},
    {"class", RECORD_I64, "1", "traffic class"},
    {"start_ps", RECORD_I64, "ps", "time at which it was posted; -1: not yet"},
    {"fct_rx_ps", RECORD_I64, "ps", "start to last byte received; -1: unfinished"},
    {"fct_ack_ps", RECORD_I64, "ps", "start to last acknowledgement at the sender; -1: unfinished"},
    {"ideal_ps", RECORD_I64, "ps", "lower bound of fct_rx_ps: latencies, and its bytes at the slowest link"},
    {"done", RECORD_I64, "1", "1: received and acknowledged"},
    {"retransmitted_pkts", RECORD_I64, "packets", "data packets sent again"},
};

struct fcts { GArray *rx, *ack; };

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Nearest-rank percentile of a sorted array. */
static double percentile(const GArray *sorted, double p)
{
    guint rank = (guint)ceil(p * sorted->len);
    return (double)g_array_index(sorted, int64_t, rank > 0 ? rank - 1 : 0);
}

static void summarise_fct(struct record_book *book, GArray *fct, const char *which, const char *doc)
{
    if (fct->len == 0)
        return;
    qsort(fct->data, fct->len, sizeof(int64_t), compare_i64);
    __int128 sum = 0;
    for (guint i = 0; i < fct->len; i++)
        sum += g_array_index(fct, int64_t, i);
    const struct { const char *name; double value; } rows[] = {
        {"mean", (double)sum / fct->len}, {"p50", percentile(fct, 0.5)}, {"p99", percentile(fct, 0.99)},
        {"min", percentile(fct, 0)},      {"max", percentile(fct, 1)},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strdup_printf("fct_%s_%s_ps", which, rows[i].name);
        record_summary_set(book, name, rows[i].value, "ps", doc);
    }
}

/* One flow as a row; false when it was faster than physics allows. */
static bool add_flow(struct run *run, const struct job_flow *flow, struct record_table *table, struct fcts *fcts)
{
    const struct job_op *op = job_op_at(run->job, flow->send_op);
    sim_ps start = net_op_start_ps(run->net, flow->send_op);
    sim_ps rx = net_op_done_ps(run->net, flow->recv_op), ack = net_op_done_ps(run->net, flow->send_op);
    struct net_qp_view view = {.class = op->traffic_class};
    int64_t ideal = net_op_ideal_ps(run->net, flow->send_op);
    uint64_t again = 0;
    for (uint32_t i = 0; i < net_op_n_parts(run->net, flow->send_op); i++) {
        net_qp_view(run->net, net_op_part(run->net, flow->send_op, i).qp, 0, &view);
        again += view.retransmitted_pkts;
    }
    int64_t fct_rx = rx < 0 ? -1 : rx - start, fct_ack = ack < 0 ? -1 : ack - start;
    bool done = fct_rx >= 0 && fct_ack >= 0;
    if (table)
        record_append(table, (int64_t)flow->id, (int64_t)op->rank, (int64_t)op->peer, op->amount, (int64_t)view.class, (int64_t)start,
                      fct_rx, fct_ack, ideal, (int64_t)done, (int64_t)again);
    if (!done)
        return true;
    g_array_append_val(fcts->rx, fct_rx);
    g_array_append_val(fcts->ack, fct_ack);
    if (fct_rx >= ideal)
        return true;
    g_ptr_array_add(run->notes, g_strdup_printf("flow %u took %" G_GINT64_FORMAT " ps, less than its lower bound of %" G_GINT64_FORMAT " ps",
                                                flow->id, fct_rx, ideal));
    return false;
}

static bool fill_flows(struct run *run)
{
    GArray *flows = run->job->flows;
    struct fcts fcts = {g_array_new(FALSE, FALSE, sizeof(int64_t)), g_array_new(FALSE, FALSE, sizeof(int64_t))};
    struct record_table *table = NULL;
    bool ok = true;
    if (flows->len > 0 && run->params->record_flows)
        table = record_table_add(run->book, "flows", "One row a flow of a flow list.", ROWS(flow_columns));
    for (guint i = 0; i < flows->len; i++)
        ok &= add_flow(run, &g_array_index(flows, struct job_flow, i), table, &fcts);
    if (flows->len > 0) {
        record_summary_set(run->book, "flows_total", flows->len, "1", "flows of the workload");
        record_summary_set(run->book, "flows_done", fcts.rx->len, "1", "flows received and acknowledged to the last byte");
    }
    summarise_fct(run->book, fcts.ack, "ack", "flow completion time to the last acknowledgement");
    summarise_fct(run->book, fcts.rx, "rx", "flow completion time to the last byte received");
    g_array_free(fcts.rx, TRUE);
    g_array_free(fcts.ack, TRUE);
    return ok;
}

/* ---- collectives -------------------------------------------------------------------- */
static const struct record_column_spec collective_columns[] = {
    {"name", RECORD_TEXT, "name", "name in the workload"},
    {"op", RECORD_TEXT, "name", "collective operation"},
    {"algorithm", RECORD_TEXT, "name", "ring, direct, ..."},
    {"ranks", RECORD_I64, "1", "ranks that take part"},
    {"bytes", RECORD_I64, "bytes", "total size S as in nccl-tests"},
    {"start_ps", RECORD_I64, "ps", "when the first rank entered; -1: not yet"},
    {"end_ps", RECORD_I64, "ps", "when the last rank had left; -1: unfinished"},
    {"time_ps", RECORD_I64, "ps", "end - start"},
    {"skew_ps", RECORD_I64, "ps", "part of it from the first entry to the last: waiting for stragglers; -1: not yet"},
    {"algbw_bps", RECORD_F64, "bit/s", "bytes over time"},
    {"busbw_bps", RECORD_F64, "bit/s", "algbw times the factor of nccl-tests"},
    {"bound_ps", RECORD_I64, "ps", "what the busiest port needs for its wire bytes alone"},
    {"ratio", RECORD_F64, "1", "time over bound"},
};


/* Adds PS to what RESOURCE (a port, or a GPU's NVLink side) must do for COLLECTIVE; returns the sum. */
static sim_ps add_load(GHashTable *loads, uint32_t collective, uint64_t resource, sim_ps ps)
{
    int64_t key = (int64_t)sim_mix64((uint64_t)collective << 36 | resource); /* a bijection; the plain bits hash badly */
    int64_t *sum = g_hash_table_lookup(loads, &key);
    if (!sum) {
        int64_t *new_key = g_memdup2(&key, sizeof key);
        sum = g_new0(int64_t, 1);
        g_hash_table_insert(loads, new_key, sum);
    }
    *sum += ps;
    return *sum;
}

static sim_ps wire_time(const struct run *run, uint32_t port, int64_t bytes)
{
    return (sim_ps)((__int128)bytes * UNIT_BITS_PER_BYTE * UNIT_S / run->fabric->graph.ports[port].rate_bps);
}

/* Time that the ends of one send need for its bytes alone; the larger sum of both so far. */
static sim_ps load_of_send(struct run *run, GHashTable *loads, uint32_t index, const struct job_op *op)
{
    uint32_t n_parts = net_op_n_parts(run->net, index);
    if (n_parts == 0) {
        const struct node_params *node = param_bag_get(run->scenario->bag, "node");
        sim_ps ps = (sim_ps)((__int128)op->amount * UNIT_BITS_PER_BYTE * UNIT_S / node->nvlink_rate_bps);
        uint64_t gpus = UINT64_C(1) << 35;
        sim_ps out = add_load(loads, op->collective, gpus | (uint64_t)op->rank << 1, ps);
        sim_ps in = add_load(loads, op->collective, gpus | (uint64_t)op->peer << 1 | 1, ps);
        return MAX(out, in);
    }
    sim_ps most = 0;
    for (uint32_t i = 0; i < n_parts; i++) {
        struct net_part part = net_op_part(run->net, index, i);
        struct net_qp_view view;
        net_qp_view(run->net, part.qp, 0, &view);
        int64_t bytes = net_wire_bytes(run->net, part.bytes);
        sim_ps out = add_load(loads, op->collective, (uint64_t)view.tx_port << 1, wire_time(run, view.tx_port, bytes));
        sim_ps in = add_load(loads, op->collective, (uint64_t)view.rx_port << 1 | 1, wire_time(run, view.rx_port, bytes));
        most = MAX(most, MAX(out, in));
    }
    return most;
}

/* Longest time that any port or GPU of each collective needs for what it sends or receives. (transfer full) */
static sim_ps *collective_bounds(struct run *run)
{
    const struct job *job = run->job;
    sim_ps *bound = g_new0(sim_ps, MAX(job->collectives->len, 1));
    g_autoptr(GHashTable) loads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        if (op->kind != JOB_SEND || op->collective == JOB_NONE)
            continue;
        sim_ps load = load_of_send(run, loads, i, op);
        bound[op->collective] = MAX(bound[op->collective], load);
    }
    return bound;
}

/* First and last entry, last exit; -1 where a rank is not there yet. */
struct collective_times { sim_ps first, last, end; };

static struct collective_times collective_times(const struct run *run, const struct job_collective *c)
{
    struct collective_times t = {SIM_PS_MAX, 0, 0};
    for (uint32_t r = 0; r < c->n_ranks; r++) {
        sim_ps s = net_op_done_ps(run->net, c->start_op[r]), e = net_op_done_ps(run->net, c->end_op[r]);
        t.first = s < 0 ? t.first : MIN(t.first, s);
        t.last = s < 0 || t.last < 0 ? -1 : MAX(t.last, s);
        t.end = e < 0 || t.end < 0 ? -1 : MAX(t.end, e);
    }
    if (t.first == SIM_PS_MAX)
        t.first = -1;
    return t;
}

static bool add_collective(struct run *run, const struct job_collective *c, sim_ps bound, struct record_table *table)
{
    struct collective_times t = collective_times(run, c);
    bool done = t.end >= 0;
    int64_t time = done ? t.end - t.first : -1, skew = t.last >= 0 ? t.last - t.first : -1;
    double algbw = time > 0 ? units_rate_bps(c->bytes, time) : 0;
    double busbw = algbw * collective_busbw_factor(c->kind, c->n_ranks);
    record_append(table, c->name, collective_kind_name(c->kind), c->algorithm, (int64_t)c->n_ranks, c->bytes,
                  (int64_t)t.first, (int64_t)t.end, time, skew, algbw, busbw, (int64_t)bound,
                  bound > 0 && done ? (double)time / (double)bound : NAN);
    if (!done || time >= bound)
        return true;
    g_ptr_array_add(run->notes, g_strdup_printf("collective %s took %" G_GINT64_FORMAT " ps, less than its lower bound of %" G_GINT64_FORMAT " ps",
                                                c->name, time, (int64_t)bound));
    return false;
}

static bool fill_collectives(struct run *run)
{
    GArray *list = run->job->collectives;
    if (list->len == 0)
        return true;
    g_autofree sim_ps *bound = collective_bounds(run);
    struct record_table *table = record_table_add(run->book, "collectives", "One row a collective operation.", ROWS(collective_columns));
    bool ok = true;
    for (guint i = 0; i < list->len; i++)
        ok &= add_collective(run, &g_array_index(list, struct job_collective, i), bound[i], table);
    return ok;
}

/* ---- messages ------------------------------------------------------------------------------ */
static const struct record_column_spec message_columns[] = {
    {"op", RECORD_I64, "1", "number of the send in the job"},
    {"src", RECORD_I64, "1", "rank that sends"},
    {"dst", RECORD_I64, "1", "rank that receives"},
    {"bytes", RECORD_I64, "bytes", "payload"},
    {"collective", RECORD_I64, "1", "row of collectives; -1: none"},
    {"queue_pair", RECORD_I64, "1", "queue pair that carried it, or its first part; -1: inside the server"},
    {"start_ps", RECORD_I64, "ps", "time at which it was posted; -1: not yet"},
    {"rx_ps", RECORD_I64, "ps", "time at which its last byte was received and wanted; -1: not yet"},
    {"ack_ps", RECORD_I64, "ps", "time of its last acknowledgement; -1: not yet"},
};

/* Sends that belong to no flow list: those of collectives and traces. */
static void fill_messages(struct run *run)
{
    const struct job *job = run->job;
    if (job->flows->len > 0 || !run->params->record_flows)
        return;
    struct record_table *table = record_table_add(run->book, "messages", "One row a message of a collective or trace.", ROWS(message_columns));
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        uint32_t qp = op->kind == JOB_SEND ? net_op_qp(run->net, i) : NET_NONE;
        if (op->kind == JOB_SEND)
            record_append(table, (int64_t)i, (int64_t)op->rank, (int64_t)op->peer, op->amount,
                          op->collective == JOB_NONE ? (int64_t)-1 : (int64_t)op->collective, qp == NET_NONE ? (int64_t)-1 : (int64_t)qp,
                          (int64_t)net_op_start_ps(run->net, i), (int64_t)net_op_done_ps(run->net, op->match),
                          (int64_t)net_op_done_ps(run->net, i));
    }
}

/* ---- ranks ------------------------------------------------------------------------------- */
static const struct record_column_spec rank_columns[] = {
    {"rank", RECORD_I64, "1", "rank"},
    {"end_ps", RECORD_I64, "ps", "end of its last operation that is done"},
    {"compute_ps", RECORD_I64, "ps", "time in which it computed (overlapping operations count once)"},
    {"exposed_ps", RECORD_I64, "ps", "end less compute: communication and waiting that nothing hides"},
    {"ops_done", RECORD_I64, "1", "operations done"},
    {"ops_total", RECORD_I64, "1", "operations of the workload"},
};

struct rank_sum { int64_t end_ps, compute_ps, done, total; };
struct span { uint32_t rank; sim_ps from, until; };

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Adds the length of the union of each rank's SPANS to its compute time. */
static void add_compute(GArray *spans, struct rank_sum *sum)
{
    if (spans->len > 1)
        qsort(spans->data, spans->len, sizeof(struct span), compare_spans);
    sim_ps covered = 0;
    for (guint i = 0; i < spans->len; i++) {
        const struct span *s = &g_array_index(spans, struct span, i);
        if (i == 0 || s->rank != s[-1].rank)
            covered = 0;
        sum[s->rank].compute_ps += MAX(0, s->until - MAX(s->from, covered));
        covered = MAX(covered, s->until);
    }
}

static struct rank_sum *sum_ranks(const struct run *run)
{
    const struct job *job = run->job;
    struct rank_sum *sum = g_new0(struct rank_sum, MAX(job->n_ranks, 1));
    g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(struct span));
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        struct span span = {op->rank, net_op_start_ps(run->net, i), net_op_done_ps(run->net, i)};
        sum[op->rank].total++;
        if (span.until < 0)
            continue;
        sum[op->rank].done++;
        sum[op->rank].end_ps = MAX(sum[op->rank].end_ps, span.until);
        if (op->kind == JOB_COMPUTE)
            g_array_append_val(spans, span);
    }
    add_compute(spans, sum);
    return sum;
}

/* The rank that ends last decides the step. */
static void summarise_step(struct record_book *book, const struct rank_sum *last, uint32_t rank)
{
    if (last->compute_ps == 0)
        return;
    record_summary_set(book, "step_ps", (double)last->end_ps, "ps", "end of the slowest rank");
    record_summary_set(book, "step_rank", rank, "1", "the slowest rank");
    record_summary_set(book, "step_compute_ps", (double)last->compute_ps, "ps", "compute of that rank");
    record_summary_set(book, "step_exposed_ps", (double)(last->end_ps - last->compute_ps), "ps",
                       "communication and waiting of that rank that compute does not hide");
}

static void fill_ranks(struct run *run)
{
    uint32_t n = run->job->n_ranks, slowest = 0;
    g_autofree struct rank_sum *sum = sum_ranks(run);
    struct record_table *table = record_table_add(run->book, "ranks", "One row a rank.", ROWS(rank_columns));
    for (uint32_t r = 0; r < n; r++) {
        record_append(table, (int64_t)r, sum[r].end_ps, sum[r].compute_ps, sum[r].end_ps - sum[r].compute_ps, sum[r].done, sum[r].total);
        slowest = sum[r].end_ps > sum[slowest].end_ps ? r : slowest;
    }
    record_summary_set(run->book, "makespan_ps", n ? (double)sum[slowest].end_ps : 0, "ps", "end of the last operation");
    if (n)
        summarise_step(run->book, &sum[slowest], slowest);
}

/* ---- ports --------------------------------------------------------------------------------- */
static const struct record_column_spec port_columns[] = {
    {"port", RECORD_I64, "1", "number of the port"},
    {"node", RECORD_TEXT, "name", "node that it belongs to"},
    {"port_on_node", RECORD_I64, "1", "its number there"},
    {"peer", RECORD_TEXT, "name", "node at the other end"},
    {"rate_bps", RECORD_I64, "bit/s", "link rate"},
    {"tx_bytes", RECORD_I64, "bytes", "sent on the wire, preamble and gap included"},
    {"tx_pkts", RECORD_I64, "packets", "frames sent"},
    {"data_pkts", RECORD_I64, "packets", "data packets sent"},
    {"ack_pkts", RECORD_I64, "packets", "ACKs and NAKs sent"},
    {"ctrl_pkts", RECORD_I64, "packets", "CNPs, pause frames and flow-control packets sent"},
    {"ecn_marked_pkts", RECORD_I64, "packets", "packets marked CE by this egress"},
    {"drop_pkts", RECORD_I64, "packets", "dropped: lossless at this ingress, lossy at this egress"},
    {"drop_bytes", RECORD_I64, "bytes", "frame bytes of these"},
    {"pause_rx", RECORD_I64, "packets", "XOFF frames received"},
    {"paused_ps", RECORD_I64, "ps", "time for which a class of this egress was paused"},
    {"pause_tx", RECORD_I64, "packets", "XOFF frames sent"},
    {"queue_max_bytes", RECORD_I64, "bytes", "longest egress queue of a class"},
    {"ingress_max_bytes", RECORD_I64, "bytes", "most buffer charged to a class of this ingress"},
    {"headroom_max_bytes", RECORD_I64, "bytes", "most headroom used by a class of this ingress"},
    {"headroom_bytes", RECORD_I64, "bytes", "headroom granted to each lossless class of this ingress"},
    {"credit_wait_ps", RECORD_I64, "ps", "InfiniBand: packets waited and there were no credits for any of them"},
    {"fc_tx_pkts", RECORD_I64, "packets", "InfiniBand: flow-control packets sent"},
    {"vl_buffer_max_bytes", RECORD_I64, "bytes", "InfiniBand: most in the receive buffer of a VL"},
    {"utilisation", RECORD_F64, "1", "bytes sent over what the link could carry until the end"},
};

struct peaks { int64_t queue, ingress, headroom; };

static bool add_port(struct run *run, uint32_t p, int64_t makespan_ps, struct record_table *table, struct peaks *peaks)
{
    const struct net_graph *g = &run->fabric->graph;
    const struct net_port *port = &g->ports[p];
    struct net_port_view v;
    net_port_view(run->net, p, &v);
    double utilisation = makespan_ps > 0 ? units_rate_bps((int64_t)v.tx_bytes, MAX(makespan_ps, v.busy_until_ps)) / (double)port->rate_bps : 0;
    const char *peer = port->peer == NET_NONE ? "-" : run->fabric->names[g->ports[port->peer].node];
    record_append(table, (int64_t)p, run->fabric->names[port->node], (int64_t)(p - g->nodes[port->node].first_port), peer, port->rate_bps,
                  (int64_t)v.tx_bytes, (int64_t)(v.tx_data_pkts + v.tx_ack_pkts + v.tx_control_pkts), (int64_t)v.tx_data_pkts,
                  (int64_t)v.tx_ack_pkts, (int64_t)v.tx_control_pkts, (int64_t)v.ecn_marked_pkts, (int64_t)v.drop_pkts,
                  (int64_t)v.drop_bytes, (int64_t)v.pause_rx_frames, (int64_t)v.paused_ps, (int64_t)v.pause_tx_frames,
                  v.queue_max_bytes, v.ingress_max_bytes, v.headroom_max_bytes, v.headroom_bytes, v.credit_wait_ps,
                  (int64_t)v.fc_tx_pkts, v.vl_buffer_max_bytes, utilisation);
    peaks->queue = MAX(peaks->queue, v.queue_max_bytes);
    peaks->ingress = MAX(peaks->ingress, v.ingress_max_bytes);
    peaks->headroom = MAX(peaks->headroom, v.headroom_max_bytes);
    return utilisation <= 1.0 + 1e-9;
}

static bool fill_ports(struct run *run)
{
    double makespan = 0;
    record_summary_get(run->book, "makespan_ps", &makespan);
    struct record_table *table = record_table_add(run->book, "ports", "One row a port: its egress, and the ingress behind it.", ROWS(port_columns));
    struct peaks peaks = {0};
    for (uint32_t p = 0; p < run->fabric->graph.n_ports; p++) {
        if (add_port(run, p, (int64_t)makespan, table, &peaks))
            continue;
        g_ptr_array_add(run->notes, g_strdup_printf("port %u carried more than its rate", p));
        return false;
    }
    record_summary_set(run->book, "queue_max_bytes", (double)peaks.queue, "bytes", "longest egress queue");
    record_summary_set(run->book, "ingress_max_bytes", (double)peaks.ingress, "bytes", "most buffer charged to an ingress class");
    record_summary_set(run->book, "headroom_max_bytes", (double)peaks.headroom, "bytes", "most headroom used by an ingress class");
    return true;
}

/* ---- ledger, events ---------------------------------------------------------------------------- */
static const struct record_column_spec ledger_columns[] = {
    {"class", RECORD_I64, "1", "traffic class"},
    {"sent_pkts", RECORD_I64, "packets", "frames that NICs put into the fabric"},
    {"sent_bytes", RECORD_I64, "bytes", "frame bytes of these"},
    {"received_pkts", RECORD_I64, "packets", "frames that reached their NIC"},
    {"received_bytes", RECORD_I64, "bytes", "frame bytes of these"},
    {"dropped_pkts", RECORD_I64, "packets", "frames dropped in switches"},
    {"dropped_bytes", RECORD_I64, "bytes", "frame bytes of these"},
    {"in_flight_pkts", RECORD_I64, "packets", "frames in queues and on wires at the end"},
    {"lost_pkts", RECORD_I64, "packets", "frames lost on links"},
};
static const struct record_column_spec pause_columns[] = {
    {"t_ps", RECORD_I64, "ps", "when the frame took effect at the paused port"},
    {"port", RECORD_I64, "1", "paused egress: row of ports"},
    {"class", RECORD_I64, "1", "traffic class"},
    {"quanta", RECORD_I64, "1", "pause time in 512 bit times; 0: resume; 4294967295: until resume"},
};

static void fill_ledger(struct run *run)
{
    struct record_table *table = record_table_add(run->book, "ledger", "Frames by class: sent = received + dropped + lost + in flight.", ROWS(ledger_columns));
    for (uint32_t c = 0; c < 8; c++) {
        struct net_class_ledger l;
        net_ledger(run->net, c, &l);
        if (l.sent_pkts > 0)
            record_append(table, (int64_t)c, (int64_t)l.sent_pkts, (int64_t)l.sent_bytes, (int64_t)l.received_pkts,
                          (int64_t)l.received_bytes, (int64_t)l.dropped_pkts, (int64_t)l.dropped_bytes, (int64_t)l.waiting_pkts, (int64_t)l.lost_pkts);
    }
}

static void fill_events(struct run *run)
{
    if (!run->params->record_events)
        return;
    struct record_table *table = record_table_add(run->book, "events/pfc", "Pause frames as they took effect.", ROWS(pause_columns));
    g_autoptr(GArray) events = net_pause_events(run->net);
    for (guint i = 0; i < events->len; i++) {
        const struct net_pause_event *e = &g_array_index(events, struct net_pause_event, i);
        record_append(table, (int64_t)e->t_ps, (int64_t)e->port, (int64_t)e->class, (int64_t)e->quanta);
    }
}

/* ---- totals ------------------------------------------------------------------------------------- */
static void fill_totals(struct run *run, const struct net_totals *t)
{
    double hops = (double)(t->data_hops + t->ack_hops + t->control_hops);
    const struct { const char *name; double value; const char *unit, *doc; } rows[] = {
        {"ecn_marked_pkts", (double)t->ecn_marked_pkts, "packets", "packets marked CE by switches"},
        {"cnp_sent_pkts", (double)t->cnp_sent_pkts, "packets", "CNPs sent by receivers"},
        {"cnp_handled_pkts", (double)(t->cnp_handled_pkts + t->echo_acks), "packets", "CNPs and congestion echoes that reached senders"},
        {"rate_cuts", (double)t->rate_cuts, "1", "rate decreases of DCQCN"},
        {"pfc_pause_frames", (double)t->pause_frames, "packets", "XOFF frames sent"},
        {"pfc_resume_frames", (double)t->resume_frames, "packets", "XON frames sent"},
        {"pfc_paused_ps", (double)t->paused_ps, "ps", "paused time summed over ports and classes"},
        {"credit_wait_ps", (double)t->credit_wait_ps, "ps", "InfiniBand: time in which a port had packets and no credits for any of them, summed over ports"},
        {"fc_pkts", (double)t->fc_pkts, "packets", "InfiniBand: flow-control packets"},
        {"hoq_discard_pkts", (double)t->hoq_discard_pkts, "packets", "InfiniBand: dropped after the head-of-queue lifetime"},
        {"drop_pkts", (double)t->drop_pkts, "packets", "frames dropped in switches"},
        {"lossless_drop_pkts", (double)t->lossless_drop_pkts, "packets", "of these in lossless classes"},
        {"lost_pkts", (double)t->lost_pkts, "packets", "frames lost on links: bit errors, links down, faults"},
        {"no_route_pkts", (double)t->no_route_pkts, "packets", "dropped because no route was left"},
        {"pause_storms", (double)t->storms, "1", "pause storms that watchdogs saw"},
        {"watchdog_drop_pkts", (double)t->watch_drop_pkts, "packets", "dropped by watchdogs"},
        {"nacks", (double)t->nak_pkts, "packets", "NAKs sent by receivers"},
        {"sacks", (double)t->sack_pkts, "packets", "selective acknowledgements sent by receivers"},
        {"rnr_naks", (double)t->rnr_nak_pkts, "packets", "RNR NAKs sent by receivers"},
        {"retransmitted_pkts", (double)t->retransmitted_pkts, "packets", "data packets sent again"},
        {"spurious_pkts", (double)t->spurious_pkts, "packets", "of these received before: not needed"},
        {"timeouts", (double)t->timeouts, "1", "retransmission timeouts"},
        {"failed_qps", (double)t->failed_qps, "1", "queue pairs that ran out of retries"},
        {"data_hops", (double)t->data_hops, "packets", "data packets put on a link"},
        {"ack_hops", (double)t->ack_hops, "packets", "ACKs and NAKs put on a link"},
        {"ctrl_hops", (double)t->control_hops, "packets", "CNPs, pause frames and flow-control packets put on a link"},
        {"events", (double)t->events, "1", "events executed"},
        {"queue_pairs", (double)t->n_qps, "1", "queue pairs"},
        {"simulated_ps", (double)t->now_ps, "ps", "simulated time reached"},
        {"wall_s", run->wall_s, "s", "wall time of the simulation"},
        {"ns_per_hop", hops > 0 ? run->wall_s * 1e9 / hops : 0, "ns", "wall time a packet-hop"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        record_summary_set(run->book, rows[i].name, rows[i].value, rows[i].unit, rows[i].doc);
}

static void warn_of_silence(struct run *run, const struct net_totals *t)
{
    const struct nic_params *nic = param_bag_get(run->scenario->bag, "nic");
    if (!run->config.ib && nic->congestion_control == NIC_CC_DCQCN && t->data_hops > 0 && t->cnp_handled_pkts + t->echo_acks == 0)
        g_ptr_array_add(run->warnings, g_strdup("DCQCN never acted: no CNP reached a sender in this run"));
    if (t->failed_qps > 0)
        g_ptr_array_add(run->warnings, g_strdup_printf("%" G_GUINT64_FORMAT " queue pairs ran out of retries and failed", t->failed_qps));
}

bool results_collect(struct run *run, enum net_verdict verdict)
{
    struct net_totals totals;
    net_totals(run->net, &totals);
    warn_of_silence(run, &totals);
    incidents_fill(run);
    culprits_name(run, &totals);
    fill_meta(run, verdict, &totals);
    fill_params(run);
    fill_ranks(run);
    bool flows_ok = fill_flows(run), collectives_ok = fill_collectives(run), ports_ok = fill_ports(run);
    fill_totals(run, &totals);
    fill_ledger(run);
    fill_messages(run);
    sampler_tables(run->sampler, run->book);
    fill_events(run);
    counters_fill(run);
    capture_fill(run);
    return flows_ok && collectives_ok && ports_ok;
}
