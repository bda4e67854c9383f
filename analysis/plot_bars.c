/* plot_bars.c - sorted bars: links by utilisation, collectives by bus bandwidth. */
#include "analysis/plot_bars.h"

#include "analysis/columns.h"
#include "sim/units.h"
#include <math.h>

#define WIDTH        1400
#define BARS_MAX     24
#define BAR_PIXELS   34
#define FRAME_PIXELS 210 /* title, axis, key */
#define LABEL_MAX    34

/* ---- shared --------------------------------------------------------------- */

static struct plot_scale pick_scale(double max, const struct plot_scale *scales, gsize n)
{
    gsize i = 0;
    while (i + 1 < n && max >= scales[i + 1].divisor)
        i++;
    return scales[i];
}

struct plot_scale plot_scale_time(double max_ps)
{
    static const struct plot_scale scales[] = {
        {"ns", (double)UNIT_NS}, {"us", (double)UNIT_US}, {"ms", (double)UNIT_MS}, {"s", (double)UNIT_S}};
    return pick_scale(max_ps, scales, G_N_ELEMENTS(scales));
}

struct plot_scale plot_scale_bytes(double max_bytes)
{
    static const struct plot_scale scales[] = {
        {"B", 1}, {"kB", (double)UNIT_KB}, {"MB", (double)UNIT_MB}, {"GB", (double)UNIT_GB}};
    return pick_scale(max_bytes, scales, G_N_ELEMENTS(scales));
}

void plot_add_title(struct gnuplot *plot, const struct record_book *book, const char *title)
{
    const char *scenario = record_meta_get(book, "scenario");
    g_autofree char *text = scenario ? g_strdup_printf("%s (%s)", title, scenario) : g_strdup(title);
    g_autofree char *quoted = gnuplot_quote(text);
    gnuplot_add(plot, "set title %s font ',17'\n", quoted);
}

void plot_add_key(struct gnuplot *plot, guint rows)
{
    /* gnuplot's own place below the plot touches the axis label */
    gnuplot_add(plot,
                "set bmargin %u\nset key at screen 0.5, character 0.6 bottom center horizontal Left reverse "
                "samplen 5 maxrows %u\n",
                5 + rows, rows);
}

void plot_append_tic(GString *tics, const char *text, guint position)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    bool fits = g_utf8_strlen(valid, -1) <= LABEL_MAX;
    g_autofree char *start = fits ? g_strdup(valid) : g_utf8_substring(valid, 0, LABEL_MAX - 3);
    GString *label = g_string_new(start);
    g_string_replace(label, "%", "%%", 0); /* a tic label is a format of the position */
    g_string_append(label, fits ? "" : "...");
    g_autofree char *quoted = gnuplot_quote(label->str);
    g_string_free(label, TRUE);
    g_string_append_printf(tics, "%s%s %u", tics->len > 0 ? ", " : "", quoted, position);
}

/* ---- bars ----------------------------------------------------------------- */

/* Horizontal bars from the top down, each with a second value: a thin bar or a mark. */
struct bars {
    GString *data; /* index, value, second value, text at the bar's end */
    GString *tics;
    guint n;
    double max;
};

static void bars_release(struct bars *bars)
{
    g_string_free(bars->data, TRUE);
    g_string_free(bars->tics, TRUE);
}

static void add_bar(struct bars *bars, const char *label, double value, double second, const char *text)
{
    plot_append_tic(bars->tics, label, bars->n);
    g_string_append_printf(bars->data, "%u ", bars->n++);
    gnuplot_number(bars->data, value);
    g_string_append_c(bars->data, ' ');
    gnuplot_number(bars->data, second);
    g_string_append_printf(bars->data, " \"%s\"\n", text); /* TEXT is a number and a unit of ours */
    bars->max = fmax(bars->max, fmax(isfinite(value) ? value : 0, isfinite(second) ? second : 0));
}

static bool begin_bars(const struct record_book *book, struct gnuplot *plot, const struct bars *bars,
                       const char *title, const char *x_label, GError **err)
{
    gnuplot_begin(plot, WIDTH, FRAME_PIXELS + BAR_PIXELS * (int)MAX(bars->n, 4));
    plot_add_title(plot, book, title);
    GString *top = g_string_new(NULL);
    gnuplot_number(top, bars->max > 0 ? bars->max * 1.12 : 1); /* room for the text at the longest bar */
    gnuplot_add(plot, "set xlabel '%s'\nset xrange [0:%s]\nset yrange [%u.6:-0.6]\n", x_label, top->str,
                bars->n - 1);
    g_string_free(top, TRUE);
    gnuplot_add(plot, "set ytics (%s) font ',13' scale 0\nset grid noytics\n", bars->tics->str);
    plot_add_key(plot, 1);
    gnuplot_add(plot, "set style line 1 linecolor rgb '#0057a0'\nset style line 2 linecolor rgb '#b83b00'\n");
    return gnuplot_data(plot, "bars", bars->data, err);
}

/* ---- links ---------------------------------------------------------------- */

enum plot_outcome plot_draw_links(const struct record_book *book, struct gnuplot *plot, const char **why,
                                  GError **err)
{
    const struct record_table *ports = columns_table(book, "ports");
    *why = "the run recorded no link utilisation (table ports is absent or empty)";
    if (!columns_f64(ports, "utilisation"))
        return PLOT_SKIPPED;
    guint n = (guint)MIN(record_table_n_rows(ports), BARS_MAX);
    double span_ps = columns_summary(book, "makespan_ps", NAN);
    g_autofree int64_t *ranked = columns_rank(ports, "utilisation", -1);
    struct bars bars = {g_string_new(NULL), g_string_new(NULL), 0, 0};
    for (guint i = 0; i < n; i++) {
        double used = 100 * columns_number(ports, "utilisation", ranked[i], NAN);
        double paused = 100 * columns_number(ports, "paused_ps", ranked[i], NAN) / span_ps;
        g_autofree char *label = columns_port_label(ports, ranked[i]);
        g_autofree char *text = g_strdup_printf("%.0f %%", used);
        add_bar(&bars, label, used, paused, text);
    }
    g_autofree char *title = g_strdup_printf("Link utilisation: the %u busiest of %" G_GINT64_FORMAT " links",
                                             n, record_table_n_rows(ports));
    bool ok = begin_bars(book, plot, &bars, title, "share of the makespan (%)", err);
    gnuplot_add(plot, "plot 'bars' using 2:1:(0):2:($1-0.38):($1+0.14) with boxxyerror linestyle 1 fillstyle "
                      "solid 1 title 'sending', "
                      "'bars' using 3:1:(0):3:($1+0.14):($1+0.38) with boxxyerror linestyle 2 fillstyle "
                      "pattern 4 border title 'paused (classes summed)', "
                      "'bars' using 2:($1-0.12):4 with labels left offset 0.6,0 font ',12' notitle\n");
    bars_release(&bars);
    return ok ? PLOT_DRAWN : PLOT_FAILED;
}

/* ---- collectives ---------------------------------------------------------- */

static void add_collective(struct bars *bars, const struct record_table *table, int64_t row)
{
    const char *const *name = columns_text(table, "name"), *const *op = columns_text(table, "op");
    bool done = columns_number(table, "time_ps", row, 0) >= 0;
    double gigabytes = columns_number(table, "busbw_bps", row, NAN) / UNIT_BITS_PER_BYTE / (double)UNIT_GB;
    double ratio = columns_number(table, "ratio", row, NAN);
    g_autofree char *size = units_human_bytes(columns_number(table, "bytes", row, NAN));
    g_autofree char *label = g_strdup_printf("%s, %s", name ? name[row] : op ? op[row] : "collective", size);
    g_autofree char *text =
        done && isfinite(gigabytes) ? g_strdup_printf("%.1f", gigabytes) : g_strdup("unfinished");
    /* time over bound is also bound bandwidth over bandwidth */
    add_bar(bars, label, done && isfinite(gigabytes) ? gigabytes : 0, done ? gigabytes * ratio : NAN, text);
}

enum plot_outcome plot_draw_collectives(const struct record_book *book, struct gnuplot *plot,
                                        const char **why, GError **err)
{
    const struct record_table *table = columns_table(book, "collectives");
    *why = "the workload has no collectives (table collectives is absent or empty)";
    if (!columns_f64(table, "busbw_bps"))
        return PLOT_SKIPPED;
    int64_t rows = record_table_n_rows(table);
    guint n = (guint)MIN(rows, BARS_MAX);
    g_autofree int64_t *ranked = rows > n ? columns_rank(table, "ratio", INFINITY) : NULL;
    struct bars bars = {g_string_new(NULL), g_string_new(NULL), 0, 0};
    for (guint i = 0; i < n; i++)
        add_collective(&bars, table, ranked ? ranked[i] : (int64_t)i);
    g_autofree char *title =
        ranked ? g_strdup_printf("Collectives: the %u of %" G_GINT64_FORMAT " furthest from their bound", n,
                                 rows)
               : g_strdup("Collectives");
    bool ok = begin_bars(book, plot, &bars, title, "bus bandwidth (GB/s)", err);
    gnuplot_add(
        plot,
        "plot 'bars' using 2:1:(0):2:($1-0.34):($1+0.34) with boxxyerror linestyle 1 fillstyle solid 1 title "
        "'simulated', "
        "'bars' using 3:($1-0.44):(0):(0.88) with vectors nohead linestyle 2 linewidth 3 title 'bound', "
        "'bars' using 2:1:4 with labels left offset 0.6,0 font ',12' notitle\n");
    bars_release(&bars);
    return ok ? PLOT_DRAWN : PLOT_FAILED;
}
