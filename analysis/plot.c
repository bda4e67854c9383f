/* plot.c - the pictures of a run: what goes on which axis. */
#include "analysis/plot.h"

#include "analysis/columns.h"
#include "analysis/plot_bars.h"
#include "analysis/plot_series.h"
#include "analysis/stats.h"
#include "sim/units.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>

#define WIDTH              1400
#define HEIGHT             840
#define LINES_MAX          6
#define PANELS_MAX         5
#define PANEL_HEIGHT       165
#define PANEL_TOP          70
#define PANEL_BOTTOM       90
#define POINTS_MAX         2400 /* a line; about two a pixel */
#define TIMELINE_PORTS_MAX 14
#define CDF_POINTS_MAX     2000
/* From this ratio of the largest to the smallest value on, a CDF has a logarithmic axis. */
#define LOG_AXIS_RATIO 100

/* ---- lines ---------------------------------------------------------------- */

static bool write_line(struct gnuplot *plot, guint i, const GArray *points, double x_divisor,
                       double y_divisor, GError **err)
{
    g_autofree char *name = g_strdup_printf("line%u", i);
    GString *text = g_string_new(NULL);
    for (guint p = 0; p < points->len; p++) {
        const struct plot_point *point = &g_array_index(points, struct plot_point, p);
        if (isfinite(point->y)) { /* an empty line breaks the curve */
            gnuplot_number(text, point->x_ps / x_divisor);
            g_string_append_c(text, ' ');
            gnuplot_number(text, point->y / y_divisor);
        }
        g_string_append_c(text, '\n');
    }
    bool ok = gnuplot_data(plot, name, text, err);
    g_string_free(text, TRUE);
    return ok;
}

static double last_x(const GPtrArray *all)
{
    double x = 0;
    for (guint s = 0; s < all->len; s++) {
        const GArray *points = ((const struct plot_series *)g_ptr_array_index(all, s))->points;
        if (points->len > 0)
            x = fmax(x, g_array_index(points, struct plot_point, points->len - 1).x_ps);
    }
    return x;
}

static void add_range_from_zero(struct gnuplot *plot, const char *axis, double max)
{
    GString *text = g_string_new(NULL);
    gnuplot_number(text, max > 0 ? max : 1);
    gnuplot_add(plot, "set %srange [0:%s]\n", axis, text->str);
    g_string_free(text, TRUE);
}

/* A queue below this held a frame or two: a picture of it says nothing. */
#define QUEUE_WORTH_DRAWING_BYTES 8192

/* ---- queue depth: one panel a queue --------------------------------------- */

static double best_score(const GPtrArray *all)
{
    return all->len > 0 ? ((const struct plot_series *)g_ptr_array_index(all, 0))->score : 0;
}

static char **name_queues(const struct record_book *book, const GPtrArray *all)
{
    struct columns_port_index *index = columns_port_index_new(book);
    char **names = g_new0(char *, all->len + 1);
    for (guint s = 0; s < all->len; s++) {
        const struct plot_series *series = g_ptr_array_index(all, s);
        g_autofree char *port = columns_port_name(index, series->key);
        names[s] = g_strdup_printf("%s, class %" G_GINT64_FORMAT, port, series->class);
    }
    columns_port_index_free(index);
    return names;
}

static void begin_panels(struct gnuplot *plot, guint n)
{
    int height = PANEL_TOP + PANEL_BOTTOM + PANEL_HEIGHT * (int)n;
    GString *margins = g_string_new("0.09,0.97,");
    gnuplot_number(margins, (double)PANEL_BOTTOM / height);
    g_string_append_c(margins, ',');
    gnuplot_number(margins, 1 - (double)PANEL_TOP / height);
    gnuplot_begin(plot, WIDTH, height);
    gnuplot_add(plot, "set multiplot layout %u,1 margins screen %s spacing screen 0.012\nunset key\n", n,
                margins->str);
    g_string_free(margins, TRUE);
}

/* Queues swing too fast for curves in one panel to be told apart; equal axes keep panels comparable. */
static bool draw_queue_panels(const struct record_book *book, struct gnuplot *plot, const GPtrArray *all,
                              const char *title, GError **err)
{
    struct plot_scale time = plot_scale_time(last_x(all)), bytes = plot_scale_bytes(best_score(all));
    g_auto(GStrv) names = name_queues(book, all);
    begin_panels(plot, all->len);
    add_range_from_zero(plot, "x", last_x(all) / time.divisor);
    add_range_from_zero(plot, "y", 1.3 * best_score(all) / bytes.divisor);
    plot_add_title(plot, book, title);
    gnuplot_add(plot, "set ylabel 'depth (%s)'\nset format x ''\nset ytics nomirror autofreq font ',12'\n",
                bytes.unit);
    for (guint s = 0; s < all->len; s++) {
        struct plot_series *series = g_ptr_array_index(all, s);
        plot_series_thin(series, POINTS_MAX);
        if (!write_line(plot, s, series->points, time.divisor, bytes.divisor, err))
            return false;
        g_autofree char *name = gnuplot_quote(names[s]);
        if (s + 1 == all->len)
            gnuplot_add(plot, "set format x '%%g'\nset xlabel 'simulated time (%s)'\n", time.unit);
        gnuplot_add(plot, "set label 1 %s at graph 0.99,0.88 right font ',14' front\n", name);
        gnuplot_add(plot,
                    "plot 'line%u' using 1:2 with lines linetype 1 linewidth 1.1 linecolor rgb "
                    "'#0057a0'\nunset title\n",
                    s);
    }
    gnuplot_add(plot, "unset multiplot\n");
    return true;
}

static enum plot_outcome draw_queues(const struct record_book *book, struct gnuplot *plot, const char **why,
                                     GError **err)
{
    *why = "the run recorded no queue depths (table series/queue is absent or empty)";
    g_autoptr(GPtrArray) all =
        plot_series_collect(columns_table(book, "series/queue"), "port", "class", "bytes");
    if (!all)
        return PLOT_SKIPPED;
    guint n = all->len;
    g_autoptr(GArray) instants = plot_series_instants(book);
    plot_series_fill_gaps(all, instants, PLOT_GAP_ZERO);
    plot_series_score_peak(all);
    plot_series_keep_best(all, PANELS_MAX);
    const struct plot_series *deepest = all->len > 0 ? g_ptr_array_index(all, 0) : NULL;
    if (deepest && deepest->score < QUEUE_WORTH_DRAWING_BYTES) {
        *why = "no queue ever held more than a frame or two";
        return PLOT_SKIPPED;
    }
    g_autofree char *title =
        g_strdup_printf("Queue depth over time: the %u deepest of %u queues", all->len, n);
    return draw_queue_panels(book, plot, all, title, err) ? PLOT_DRAWN : PLOT_FAILED;
}

/* ---- rates ---------------------------------------------------------------- */

static bool draw_rate_lines(const struct record_book *book, struct gnuplot *plot, const GPtrArray *all,
                            const char *title, GError **err)
{
    struct plot_scale time = plot_scale_time(last_x(all));
    gnuplot_begin(plot, WIDTH, HEIGHT);
    plot_add_title(plot, book, title);
    gnuplot_add(plot, "set xlabel 'simulated time (%s)'\nset ylabel 'rate (Gb/s)'\nset yrange [0:*]\n",
                time.unit);
    plot_add_key(plot, 2);
    add_range_from_zero(plot, "x", last_x(all) / time.divisor);
    for (guint s = 0; s < all->len; s++) {
        struct plot_series *series = g_ptr_array_index(all, s);
        plot_series_thin(series, POINTS_MAX);
        if (!write_line(plot, s, series->points, time.divisor, (double)UNIT_GBPS, err))
            return false;
        gnuplot_add(plot, "%s'line%u' using 1:2 with steps linetype %u title 'flow %" G_GINT64_FORMAT "'",
                    s == 0 ? "plot " : ", ", s, s + 1, series->key);
    }
    gnuplot_add(plot, "\n");
    return true;
}

static enum plot_outcome draw_rates(const struct record_book *book, struct gnuplot *plot, const char **why,
                                    GError **err)
{
    *why = "the run recorded no sending rates (table series/rate is absent or empty)";
    g_autoptr(GPtrArray) all =
        plot_series_collect(columns_table(book, "series/rate"), "flow", NULL, "rate_bps");
    if (!all)
        return PLOT_SKIPPED;
    guint n = all->len;
    g_autoptr(GArray) instants = plot_series_instants(book);
    plot_series_fill_gaps(all, instants, PLOT_GAP_BREAK);
    plot_series_score_swing(all);
    plot_series_keep_best(all, LINES_MAX);
    g_autofree char *title =
        g_strdup_printf("Sending rate over time: the %u of %u flows that vary most", all->len, n);
    return draw_rate_lines(book, plot, all, title, err) ? PLOT_DRAWN : PLOT_FAILED;
}

/* ---- flow completion times ------------------------------------------------ */

struct cdf {
    int64_t *sorted, n;
};

static struct cdf cdf_of(const struct record_book *book, const char *column)
{
    const struct record_table *flows = columns_table(book, "flows");
    const int64_t *times_ps = columns_i64(flows, column);
    struct cdf cdf = {NULL, 0};
    if (!times_ps)
        return cdf;
    cdf.sorted = g_new(int64_t, (gsize)record_table_n_rows(flows));
    for (int64_t r = 0; r < record_table_n_rows(flows); r++)
        if (times_ps[r] >= 0)
            cdf.sorted[cdf.n++] = times_ps[r];
    stats_sort_i64(cdf.sorted, cdf.n);
    return cdf;
}

static bool write_cdf(struct gnuplot *plot, guint i, const struct cdf *cdf, double divisor, GError **err)
{
    g_autofree struct stats_cdf_point *steps = g_new(struct stats_cdf_point, CDF_POINTS_MAX);
    int64_t n = stats_cdf_sorted_i64(cdf->sorted, cdf->n, steps, CDF_POINTS_MAX);
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct plot_point));
    struct plot_point point = {(double)steps[0].value, 0}; /* rises from 0 at the smallest value */
    g_array_append_val(points, point);
    for (int64_t p = 0; p < n; p++) {
        point = (struct plot_point){(double)steps[p].value, steps[p].share};
        g_array_append_val(points, point);
    }
    return write_line(plot, i, points, divisor, 1, err);
}

static void add_cdf_curve(struct gnuplot *plot, guint i, const char *what, const struct cdf *cdf)
{
    g_autofree char *p50 = units_human_time(stats_percentile_sorted_i64(cdf->sorted, cdf->n, 50));
    g_autofree char *p99 = units_human_time(stats_percentile_sorted_i64(cdf->sorted, cdf->n, 99));
    g_autofree char *text = g_strdup_printf("%s: p50 %s, p99 %s", what, p50, p99);
    g_autofree char *title = gnuplot_quote(text);
    gnuplot_add(plot, "%s'line%u' using 1:2 with steps linetype %u title %s", i == 0 ? "plot " : ", ", i,
                i + 1, title);
}

static bool draw_cdfs(const struct record_book *book, struct gnuplot *plot, const struct cdf *cdfs,
                      GError **err)
{
    static const char *const names[] = {"last byte received", "last byte acknowledged"};
    int64_t largest = 0, smallest = INT64_MAX;
    for (int c = 0; c < 2; c++) {
        largest = cdfs[c].n ? MAX(largest, cdfs[c].sorted[cdfs[c].n - 1]) : largest;
        smallest = cdfs[c].n ? MIN(smallest, cdfs[c].sorted[0]) : smallest;
    }
    struct plot_scale time = plot_scale_time((double)largest);
    gnuplot_begin(plot, WIDTH, HEIGHT);
    plot_add_title(plot, book, "Flow completion times");
    gnuplot_add(plot, "set xlabel 'completion time (%s)'\nset ylabel 'share of finished flows'\n", time.unit);
    gnuplot_add(plot, "set yrange [0:1.02]\nset ytics 0.1\n");
    plot_add_key(plot, 2);
    if (smallest > 0 && largest / smallest >= LOG_AXIS_RATIO)
        gnuplot_add(plot, "set logscale x\n");
    guint curves = 0;
    for (int c = 0; c < 2; c++)
        if (cdfs[c].n > 0 && !write_cdf(plot, curves++, &cdfs[c], time.divisor, err))
            return false;
    curves = 0;
    for (int c = 0; c < 2; c++)
        if (cdfs[c].n > 0)
            add_cdf_curve(plot, curves++, names[c], &cdfs[c]);
    gnuplot_add(plot, "\n");
    return true;
}

static enum plot_outcome draw_completion(const struct record_book *book, struct gnuplot *plot,
                                         const char **why, GError **err)
{
    *why = "no flow has finished (table flows is absent, empty, or all its flows are unfinished)";
    struct cdf cdfs[] = {cdf_of(book, "fct_rx_ps"), cdf_of(book, "fct_ack_ps")};
    enum plot_outcome outcome = PLOT_SKIPPED;
    if (cdfs[0].n + cdfs[1].n > 0)
        outcome = draw_cdfs(book, plot, cdfs, err) ? PLOT_DRAWN : PLOT_FAILED;
    g_free(cdfs[0].sorted);
    g_free(cdfs[1].sorted);
    return outcome;
}

/* ---- pauses --------------------------------------------------------------- */

struct port_pause {
    int64_t port, paused_ps;
};

static int compare_port_pauses(const void *a, const void *b)
{
    const struct port_pause *x = a, *y = b;
    if (x->paused_ps != y->paused_ps)
        return x->paused_ps < y->paused_ps ? 1 : -1;
    return (x->port > y->port) - (x->port < y->port);
}

/* Ports by time paused, longest first. (transfer full: struct port_pause) */
static GArray *rank_ports(const GArray *pauses)
{
    GArray *ports = g_array_new(FALSE, FALSE, sizeof(struct port_pause));
    g_autoptr(GHashTable) at = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < pauses->len; i++) {
        const struct plot_pause *pause = &g_array_index(pauses, struct plot_pause, i);
        guint slot = GPOINTER_TO_UINT(g_hash_table_lookup(at, &pause->port));
        if (slot == 0) {
            struct port_pause port = {pause->port, 0};
            g_array_append_val(ports, port);
            slot = ports->len;
            g_hash_table_insert(at, g_memdup2(&pause->port, sizeof pause->port), GUINT_TO_POINTER(slot));
        }
        g_array_index(ports, struct port_pause, slot - 1).paused_ps += pause->end_ps - pause->start_ps;
    }
    qsort(ports->data, ports->len, sizeof(struct port_pause), compare_port_pauses);
    return ports;
}

/* Bars of PORT on row ROW; pauses that no pixel separates are one bar. */
static void append_timeline(GString *text, const GArray *pauses, int64_t port, guint row, double divisor,
                            int64_t pixel_ps)
{
    int64_t start_ps = -1, end_ps = -1;
    for (guint i = 0; i <= pauses->len; i++) {
        const struct plot_pause *pause =
            i < pauses->len ? &g_array_index(pauses, struct plot_pause, i) : NULL;
        if (pause && pause->port != port)
            continue;
        if (pause && start_ps >= 0 && pause->start_ps <= end_ps + pixel_ps) {
            end_ps = MAX(end_ps, pause->end_ps);
            continue;
        }
        if (start_ps >= 0) {
            gnuplot_number(text, (double)start_ps / divisor);
            g_string_append_printf(text, " %u ", row);
            gnuplot_number(text, (double)(end_ps - start_ps) / divisor);
            g_string_append_c(text, '\n');
        }
        if (pause) {
            start_ps = pause->start_ps;
            end_ps = pause->end_ps;
        }
    }
}

static bool write_timeline(const struct record_book *book, struct gnuplot *plot, const GArray *pauses,
                           const GArray *ports, guint shown, double divisor, int64_t end_ps, GError **err)
{
    struct columns_port_index *index = columns_port_index_new(book);
    GString *text = g_string_new(NULL), *tics = g_string_new(NULL);
    for (guint row = 0; row < shown; row++) {
        int64_t port = g_array_index(ports, struct port_pause, row).port;
        append_timeline(text, pauses, port, row, divisor, end_ps / (2 * WIDTH));
        g_autofree char *name = columns_port_name(index, port);
        plot_append_tic(tics, name, row);
    }
    gnuplot_add(plot, "set ytics (%s) font ',12'\n", tics->str);
    bool ok = gnuplot_data(plot, "timeline", text, err);
    g_string_free(text, TRUE);
    g_string_free(tics, TRUE);
    columns_port_index_free(index);
    return ok;
}

/* Two panels over one time axis: the sum, and which ports when. */
static bool draw_pause_panels(const struct record_book *book, struct gnuplot *plot, const GArray *pauses,
                              GError **err)
{
    g_autoptr(GArray) sum = plot_pauses_cumulated(pauses);
    g_autoptr(GArray) ports = rank_ports(pauses);
    const struct plot_point *last = &g_array_index(sum, struct plot_point, sum->len - 1);
    struct plot_scale time = plot_scale_time(last->x_ps), paused = plot_scale_time(last->y);
    struct plot_series line = {.points = sum};
    guint shown = MIN(ports->len, TIMELINE_PORTS_MAX);
    g_autofree char *title = g_strdup_printf(
        "PFC pauses: sum over all ports, and the %u longest-paused of %u ports", shown, ports->len);
    plot_series_thin(&line, POINTS_MAX);
    gnuplot_begin(plot, WIDTH, HEIGHT + 60);
    gnuplot_add(plot, "set multiplot\nset lmargin at screen 0.2\nset rmargin at screen 0.97\nunset key\n");
    add_range_from_zero(plot, "x", last->x_ps / time.divisor);
    plot_add_title(plot, book, title);
    gnuplot_add(plot,
                "set tmargin at screen 0.93\nset bmargin at screen 0.62\nset yrange [0:*]\n"
                "set ylabel 'paused, cumulated (%s)'\nplot 'line0' using 1:2 with lines linetype 1\n",
                paused.unit);
    gnuplot_add(plot,
                "unset title\nset tmargin at screen 0.56\nset bmargin at screen 0.1\nunset ylabel\n"
                "set xlabel 'simulated time (%s)'\nset yrange [%u.6:-0.6]\n",
                time.unit, shown - 1);
    if (!write_line(plot, 0, sum, time.divisor, paused.divisor, err) ||
        !write_timeline(book, plot, pauses, ports, shown, time.divisor, (int64_t)last->x_ps, err))
        return false;
    gnuplot_add(
        plot,
        "plot 'timeline' using 1:2:3:(0) with vectors nohead linecolor rgb '#b83b00' linewidth 7 dashtype 1\n"
        "unset multiplot\n");
    return true;
}

static enum plot_outcome draw_pauses(const struct record_book *book, struct gnuplot *plot, const char **why,
                                     GError **err)
{
    *why = "no port was paused, or the run recorded no pause frames (table events/pfc is absent or empty)";
    g_autoptr(GArray) pauses = plot_pauses(book);
    if (!pauses || pauses->len == 0)
        return PLOT_SKIPPED;
    return draw_pause_panels(book, plot, pauses, err) ? PLOT_DRAWN : PLOT_FAILED;
}

/* ---- all of them ---------------------------------------------------------- */

static const struct picture {
    const char *name;
    enum plot_outcome (*draw)(const struct record_book *book, struct gnuplot *plot, const char **why,
                              GError **err);
} pictures[] = {
    {"fct_cdf", draw_completion},
    {"queue_depth", draw_queues},
    {"rates", draw_rates},
    {"pauses", draw_pauses},
    {"link_utilisation", plot_draw_links},
    {"collectives", plot_draw_collectives},
};

static bool make_picture(const struct record_book *book, const struct picture *picture, const char *out_dir,
                         const char *format, GPtrArray *made_paths, GPtrArray *skipped, GError **err)
{
    g_autoptr(gnuplot) plot = gnuplot_new(format, err);
    const char *why = NULL;
    enum plot_outcome outcome = plot ? picture->draw(book, plot, &why, err) : PLOT_FAILED;
    if (outcome == PLOT_SKIPPED && skipped)
        g_ptr_array_add(skipped, g_strdup_printf("%s: %s", picture->name, why));
    if (outcome != PLOT_DRAWN)
        return outcome == PLOT_SKIPPED;
    g_autofree char *file = g_strdup_printf("%s.%s", picture->name, format);
    g_autofree char *path = g_build_filename(out_dir, file, NULL);
    if (!gnuplot_render(plot, path, err)) {
        g_prefix_error(err, "%s: ", path);
        return false;
    }
    g_ptr_array_add(made_paths, g_steal_pointer(&path));
    return true;
}

bool plot_run(const struct record_book *book, const char *out_dir, const char *format, GPtrArray *made_paths,
              GPtrArray *skipped, GError **err)
{
    if (g_mkdir_with_parents(out_dir, 0777) != 0) {
        g_set_error(err, GNUPLOT_ERROR, GNUPLOT_ERROR_IO, "%s: cannot make this folder: %s", out_dir,
                    g_strerror(errno));
        return false;
    }
    for (gsize p = 0; p < G_N_ELEMENTS(pictures); p++)
        if (!make_picture(book, &pictures[p], out_dir, format, made_paths, skipped, err))
            return false;
    return true;
}
