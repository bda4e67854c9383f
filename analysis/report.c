/* report.c - results for people: aligned text for a terminal. */
#include "analysis/report.h"

#include "analysis/columns.h"
#include "analysis/stats.h"
#include "analysis/text_table.h"
#include "sim/units.h"
#include <inttypes.h>
#include <math.h>

#define COLLECTIVES_MAX 20
#define UNFINISHED_MAX  5
#define LINKS_MAX       5

static void heading(FILE *out, const char *text)
{
    fprintf(out, "\n%s\n", text);
}

/* "key  value" lines under a heading. */
static void line(FILE *out, const char *label, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void line(FILE *out, const char *label, const char *format, ...)
{
    va_list args;
    fprintf(out, "  %-16s", label);
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    fputc('\n', out);
}

/* ---- cells ---------------------------------------------------------------- */

static void add_time(struct text_table *table, double ps)
{
    if (isfinite(ps) && ps >= 0)
        text_table_take(table, units_human_time((int64_t)ps));
    else
        text_table_add(table, "-");
}

static void add_real(struct text_table *table, double value, int decimals)
{
    if (isfinite(value))
        text_table_addf(table, "%.*f", decimals, value);
    else
        text_table_add(table, "-");
}

static void add_gigabytes_rate(struct text_table *table, double bps)
{
    add_real(table, bps / UNIT_BITS_PER_BYTE / (double)UNIT_GB, 2);
}

static void add_count(struct text_table *table, double count)
{
    if (isfinite(count))
        text_table_addf(table, "%.0f", count);
    else
        text_table_add(table, "-");
}

static void add_cell_text(struct text_table *table, const char *const *texts, int64_t row)
{
    text_table_add(table, texts ? texts[row] : "-");
}

/* ---- sections ------------------------------------------------------------- */

static void print_run(const struct record_book *book, FILE *out)
{
    static const char *const keys[] = {"scenario", "topology", "version", "seed",
                                       "threads",  "fidelity", "digest",  "status"};
    fputs("Run\n", out);
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
        const char *value = record_meta_get(book, keys[i]);
        g_autofree char *clean = value ? text_table_clean(value) : NULL;
        if (clean)
            line(out, keys[i], "%s", clean);
    }
    double makespan_ps = columns_summary(book, "makespan_ps", NAN);
    g_autofree char *makespan = isfinite(makespan_ps) ? units_human_time((int64_t)makespan_ps) : NULL;
    if (makespan)
        line(out, "makespan", "%s", makespan);
}

static void print_warnings(const struct record_book *book, FILE *out)
{
    for (int i = 0;; i++) {
        g_autofree char *key = g_strdup_printf("warning.%d", i);
        const char *value = record_meta_get(book, key);
        if (!value)
            return;
        g_autofree char *clean = text_table_clean(value);
        if (i == 0)
            heading(out, "Warnings");
        fprintf(out, "  ! %s\n", clean);
    }
}

static void add_collective(struct text_table *table, const struct record_table *from, int64_t row)
{
    add_cell_text(table, columns_text(from, "name"), row);
    add_cell_text(table, columns_text(from, "op"), row);
    add_cell_text(table, columns_text(from, "algorithm"), row);
    add_count(table, columns_number(from, "ranks", row, NAN));
    text_table_take(table, units_human_bytes(columns_number(from, "bytes", row, NAN)));
    double time_ps = columns_number(from, "time_ps", row, NAN);
    bool done = time_ps >= 0;
    if (done)
        add_time(table, time_ps);
    else
        text_table_add(table, "unfinished");
    add_gigabytes_rate(table, done ? columns_number(from, "algbw_bps", row, NAN) : NAN);
    add_gigabytes_rate(table, done ? columns_number(from, "busbw_bps", row, NAN) : NAN);
    add_time(table, columns_number(from, "bound_ps", row, NAN));
    add_real(table, done ? columns_number(from, "ratio", row, NAN) : NAN, 3);
}

/* Of a job that computes: the step and what of it communication costs. */
static void print_step(const struct record_book *book, FILE *out)
{
    double step = 0, rank = 0, compute = 0, exposed = 0;
    if (!record_summary_get(book, "step_ps", &step) || !record_summary_get(book, "step_rank", &rank) ||
        !record_summary_get(book, "step_compute_ps", &compute) || !record_summary_get(book, "step_exposed_ps", &exposed))
        return;
    static const char *const headings[] = {"", "time", "share"};
    const struct { const char *name; double ps; } rows[] = {
        {"compute", compute}, {"exposed communication", exposed}, {"step", step}};
    struct text_table *table = text_table_new(headings, "lrr");
    g_autofree char *title = g_strdup_printf("Step time (rank %.0f, the slowest)", rank);
    heading(out, title);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        text_table_add(table, rows[i].name);
        add_time(table, rows[i].ps);
        g_autofree char *share = g_strdup_printf("%.1f %%", step > 0 ? 100 * rows[i].ps / step : 0);
        text_table_add(table, share);
    }
    text_table_print(table, 2, out);
    text_table_free(table);
}

static void print_collectives(const struct record_book *book, FILE *out)
{
    static const char *const headings[] = {"name", "op",         "algorithm",  "ranks", "size",
                                           "time", "algbw GB/s", "busbw GB/s", "bound", "time/bound"};
    const struct record_table *from = columns_table(book, "collectives");
    if (!from)
        return;
    int64_t n = record_table_n_rows(from), shown = MIN(n, COLLECTIVES_MAX);
    g_autofree int64_t *ranked = n > shown ? columns_rank(from, "ratio", INFINITY) : NULL;
    struct text_table *table = text_table_new(headings, "lllrrrrrrr");
    heading(out, "Collectives");
    if (ranked)
        fprintf(out, "  %d of %" PRId64 ": the unfinished, then those furthest from their bound\n",
                COLLECTIVES_MAX, n);
    for (int64_t i = 0; i < shown; i++)
        add_collective(table, from, ranked ? ranked[i] : i);
    text_table_print(table, 2, out);
    text_table_free(table);
}

/* ---- flow completion times ------------------------------------------------ */

/* The finished ones of column NAME in ascending order. (transfer full) */
static int64_t *finished_times(const struct record_table *flows, const char *name, int64_t *n_out)
{
    const int64_t *times = columns_i64(flows, name);
    int64_t n = 0, *finished = times ? g_new(int64_t, (gsize)record_table_n_rows(flows)) : NULL;
    for (int64_t r = 0; times && r < record_table_n_rows(flows); r++)
        if (times[r] >= 0)
            finished[n++] = times[r];
    stats_sort_i64(finished, n);
    *n_out = n;
    return finished;
}

/* mean, p50, p99, max; from the flows, or from the summary of a book without them. False if neither has them.
 */
static bool completion_figures(const struct record_book *book, const char *kind, double figures[4])
{
    static const char *const names[] = {"mean", "p50", "p99", "max"};
    static const double percents[] = {0, 50, 99, 100};
    g_autofree char *column = g_strdup_printf("fct_%s_ps", kind);
    int64_t n;
    g_autofree int64_t *times = finished_times(columns_table(book, "flows"), column, &n);
    for (int i = 0; i < 4; i++) {
        g_autofree char *name = g_strdup_printf("fct_%s_%s_ps", kind, names[i]);
        figures[i] = n == 0   ? columns_summary(book, name, NAN)
                     : i == 0 ? stats_mean_i64(times, n)
                              : (double)stats_percentile_sorted_i64(times, n, percents[i]);
    }
    return isfinite(figures[0]) || isfinite(figures[3]);
}

static void print_completion(const struct record_book *book, FILE *out)
{
    static const char *const headings[] = {"", "mean", "p50", "p99", "max"};
    static const char *const kinds[] = {"rx", "ack"}, *const labels[] = {"last byte received",
                                                                         "last byte acknowledged"};
    struct text_table *table = text_table_new(headings, "lrrrr");
    bool any = false;
    for (int k = 0; k < 2; k++) {
        double figures[4];
        if (!completion_figures(book, kinds[k], figures))
            continue;
        any = true;
        text_table_add(table, labels[k]);
        for (int i = 0; i < 4; i++)
            add_time(table, figures[i]);
    }
    if (any)
        text_table_print(table, 2, out);
    text_table_free(table);
}

static void print_unfinished(const struct record_table *flows, FILE *out)
{
    const int64_t *done = columns_i64(flows, "done"), *flow = columns_i64(flows, "flow");
    const int64_t *src = columns_i64(flows, "src"), *dst = columns_i64(flows, "dst");
    int64_t n = 0;
    if (!done || !flow || !src || !dst)
        return;
    for (int64_t r = 0; r < record_table_n_rows(flows); r++)
        if (!done[r] && n++ < UNFINISHED_MAX)
            fprintf(out, "  unfinished: flow %" PRId64 " from host %" PRId64 " to %" PRId64 "\n", flow[r],
                    src[r], dst[r]);
    if (n > UNFINISHED_MAX)
        fprintf(out, "  ... and %" PRId64 " more\n", n - UNFINISHED_MAX);
}

static void count_flows(const struct record_table *flows, double *done, double *total)
{
    const int64_t *flags = columns_i64(flows, "done");
    if (!flags)
        return;
    *done = 0;
    *total = (double)record_table_n_rows(flows);
    for (int64_t r = 0; r < record_table_n_rows(flows); r++)
        *done += flags[r] != 0;
}

static void print_flows(const struct record_book *book, FILE *out)
{
    const struct record_table *flows = columns_table(book, "flows");
    double done = columns_summary(book, "flows_done", NAN), total = columns_summary(book, "flows_total", NAN);
    count_flows(flows, &done, &total);
    if (!isfinite(done) || !isfinite(total) || total <= 0)
        return;
    heading(out, "Flow completion times");
    fprintf(out, "  %.0f of %.0f flows done\n", done, total);
    print_completion(book, out);
    print_unfinished(flows, out);
}

/* ---- congestion ----------------------------------------------------------- */

/* One line for a count of the summary; none when it is absent. */
static bool print_count(const struct record_book *book, const char *name, const char *label, FILE *out)
{
    double value = columns_summary(book, name, NAN);
    if (isfinite(value))
        line(out, label, "%.0f", value);
    return isfinite(value);
}

static void print_pauses(const struct record_book *book, FILE *out)
{
    double frames = columns_summary(book, "pfc_pause_frames", NAN),
           paused_ps = columns_summary(book, "pfc_paused_ps", NAN);
    g_autofree char *paused = isfinite(paused_ps) ? units_human_time((int64_t)paused_ps) : NULL;
    double wait_ps = columns_summary(book, "credit_wait_ps", 0), fc_pkts = columns_summary(book, "fc_pkts", 0);
    if (fc_pkts > 0) {
        g_autofree char *wait = units_human_time((int64_t)wait_ps);
        line(out, "credit stalls", "ports without credits for %s in sum, %.0f flow-control packets", wait, fc_pkts);
        return;
    }
    if (isfinite(frames))
        line(out, "PFC pauses", "%.0f frames%s%s%s", frames, paused ? ", ports paused for " : "",
             paused ? paused : "", paused ? " in sum" : "");
}

static void print_drops(const struct record_book *book, FILE *out)
{
    const struct record_table *ledger = columns_table(book, "ledger");
    const int64_t *class = columns_i64(ledger, "class"), *dropped = columns_i64(ledger, "dropped_pkts");
    double total = columns_summary(book, "drop_pkts", NAN);
    GString *text = g_string_new(NULL);
    if (isfinite(total))
        g_string_append_printf(text, "%.0f packets", total);
    for (int64_t r = 0; class && dropped && r < record_table_n_rows(ledger); r++)
        if (dropped[r] > 0)
            g_string_append_printf(text, "%s%" PRId64 " in class %" PRId64, text->len ? ", " : "", dropped[r],
                                   class[r]);
    if (text->len)
        line(out, "drops", "%s", text->str);
    g_string_free(text, TRUE);
}

/* "leaf0:3 -> spine1" as what comes in there. (transfer full) */
static char *as_ingress(const char *port)
{
    g_auto(GStrv) ends = g_strsplit(port, " -> ", 2);
    return ends[0] && ends[1] ? g_strdup_printf("%s <- %s", ends[0], ends[1]) : g_strdup(port);
}

/* A peak and the port that had it, at its egress or ingress. */
static void print_peak(const struct record_book *book, const char *name, const char *label, bool ingress, FILE *out)
{
    const struct record_table *ports = columns_table(book, "ports");
    int64_t row = columns_row_of_max(ports, name);
    double bytes = row >= 0 ? columns_number(ports, name, row, NAN) : columns_summary(book, name, NAN);
    if (!isfinite(bytes))
        return;
    g_autofree char *size = units_human_bytes(bytes);
    g_autofree char *port = row >= 0 ? columns_port_label(ports, row) : NULL;
    g_autofree char *side = port && ingress ? as_ingress(port) : g_strdup(port);
    g_autofree char *where = side ? text_table_clean(side) : NULL;
    line(out, label, "%s%s%s", size, where ? " at " : "", where ? where : "");
}

static void print_congestion(const struct record_book *book, FILE *out)
{
    static const char *const names[][2] = {
        {"ecn_marked_pkts", "ECN marks"},
        {"cnp_sent_pkts", "CNPs sent"},
        {"cnp_handled_pkts", "CNPs handled"},
        {"rate_cuts", "rate cuts"},
        {"nacks", "NACKs"},
        {"retransmitted_pkts", "retransmitted"},
        {"timeouts", "timeouts"},
        {"lost_pkts", "lost on links"},
    };
    if (!columns_table(book, "ports") && isnan(columns_summary(book, "ecn_marked_pkts", NAN)))
        return;
    heading(out, "Congestion");
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        print_count(book, names[i][0], names[i][1], out);
    print_pauses(book, out);
    print_drops(book, out);
    print_peak(book, "queue_max_bytes", "largest queue", false, out);
    print_peak(book, "ingress_max_bytes", "largest ingress", true, out);
    print_peak(book, "headroom_max_bytes", "headroom peak", true, out);
}

/* ---- faults ---------------------------------------------------------------- */

#define INCIDENTS_MAX 20

static void print_incidents(const struct record_book *book, FILE *out)
{
    static const char *const headings[] = {"time", "what", "where", "detail"};
    const struct record_table *from = columns_table(book, "incidents");
    int64_t n = from ? record_table_n_rows(from) : 0;
    double healthy = columns_summary(book, "healthy_makespan_ps", NAN), cost = columns_summary(book, "fault_cost_ps", NAN);
    if (n == 0)
        return;
    const char *const *what = record_column_text(from, record_table_column(from, "what"));
    const char *const *node = record_column_text(from, record_table_column(from, "node"));
    const char *const *peer = record_column_text(from, record_table_column(from, "peer"));
    struct text_table *table = text_table_new(headings, "rllr");
    fprintf(out, "\nIncidents (%" PRId64 " of %" PRId64 ")\n", MIN(n, INCIDENTS_MAX), n);
    for (int64_t r = 0; r < MIN(n, INCIDENTS_MAX); r++) {
        add_time(table, columns_number(from, "t_ps", r, NAN));
        text_table_add(table, what[r]);
        text_table_addf(table, "%s/%s", node[r], peer[r]);
        add_count(table, columns_number(from, "detail", r, NAN));
    }
    text_table_print(table, 2, out);
    text_table_free(table);
    if (!isfinite(healthy))
        return;
    g_autofree char *without = units_human_time((int64_t)healthy);
    g_autofree char *lost = units_human_time((int64_t)fabs(cost));
    line(out, "without faults", "%s: the faults cost %s%s (%.1f %%)", without, cost < 0 ? "-" : "", lost, 100 * cost / healthy);
}

/* ---- ledger, links, speed ------------------------------------------------- */

static void print_ledger(const struct record_book *book, FILE *out)
{
    static const char *const headings[] = {"class",     "sent",       "received", "dropped",
                                           "lost",  "in flight", "bytes sent", "received", "dropped"};
    static const char *const counts[] = {"class", "sent_pkts", "received_pkts", "dropped_pkts",
                                         "lost_pkts", "in_flight_pkts"};
    static const char *const sizes[] = {"sent_bytes", "received_bytes", "dropped_bytes"};
    const struct record_table *from = columns_table(book, "ledger");
    if (!from)
        return;
    struct text_table *table = text_table_new(headings, "rrrrrrrrr");
    heading(out, "Ledger (packets, bytes)");
    for (int64_t r = 0; r < record_table_n_rows(from); r++) {
        for (gsize c = 0; c < G_N_ELEMENTS(counts); c++)
            add_count(table, columns_number(from, counts[c], r, NAN));
        for (gsize c = 0; c < G_N_ELEMENTS(sizes); c++)
            text_table_take(table, units_human_bytes(columns_number(from, sizes[c], r, NAN)));
    }
    text_table_print(table, 2, out);
    text_table_free(table);
}

static void print_links(const struct record_book *book, FILE *out)
{
    static const char *const headings[] = {"link", "rate", "utilisation", "paused", "largest queue"};
    const struct record_table *ports = columns_table(book, "ports");
    if (!columns_f64(ports, "utilisation"))
        return;
    int64_t n = record_table_n_rows(ports);
    g_autofree int64_t *ranked = columns_rank(ports, "utilisation", -1);
    struct text_table *table = text_table_new(headings, "lrrrr");
    fprintf(out, "\nBusiest links (%" PRId64 " of %" PRId64 ")\n", MIN(n, LINKS_MAX), n);
    for (int64_t i = 0; i < MIN(n, LINKS_MAX); i++) {
        int64_t r = ranked[i];
        text_table_take(table, columns_port_label(ports, r));
        text_table_take(table, units_human_rate(columns_number(ports, "rate_bps", r, NAN)));
        text_table_addf(table, "%.1f %%", 100.0 * columns_number(ports, "utilisation", r, NAN));
        add_time(table, columns_number(ports, "paused_ps", r, NAN));
        text_table_take(table, units_human_bytes(columns_number(ports, "queue_max_bytes", r, NAN)));
    }
    text_table_print(table, 2, out);
    text_table_free(table);
}

static void print_speed(const struct record_book *book, FILE *out)
{
    double wall_s = columns_summary(book, "wall_s", NAN), ns = columns_summary(book, "ns_per_hop", NAN);
    double hops = columns_summary(book, "data_hops", 0) + columns_summary(book, "ack_hops", 0) +
                  columns_summary(book, "ctrl_hops", 0);
    if (!isfinite(wall_s))
        return;
    heading(out, "Simulator");
    line(out, "wall clock", "%.3g s", wall_s);
    if (hops > 0)
        line(out, "packet-hops", "%.0f (data %.0f, ACK %.0f, control %.0f)", hops,
             columns_summary(book, "data_hops", 0), columns_summary(book, "ack_hops", 0),
             columns_summary(book, "ctrl_hops", 0));
    if (isfinite(ns))
        line(out, "speed", "%.1f ns a packet-hop", ns);
    print_count(book, "events", "events", out);
}

void report_text(const struct record_book *book, FILE *out)
{
    print_run(book, out);
    print_warnings(book, out);
    print_step(book, out);
    print_collectives(book, out);
    print_flows(book, out);
    print_congestion(book, out);
    print_incidents(book, out);
    print_ledger(book, out);
    print_links(book, out);
    print_speed(book, out);
}
