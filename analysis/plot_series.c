/* plot_series.c - see plot_series.h. */
#include "analysis/plot_series.h"

#include "analysis/columns.h"
#include "analysis/stats.h"
#include "sim/units.h"
#include <math.h>
#include <stdlib.h>

/* Key and class as one hash key. */
struct pair {
    int64_t key, class;
};

static guint pair_hash(gconstpointer data)
{
    const struct pair *pair = data;
    return g_int64_hash(&pair->key) * 31u + g_int64_hash(&pair->class);
}

static gboolean pair_equal(gconstpointer a, gconstpointer b)
{
    const struct pair *x = a, *y = b;
    return x->key == y->key && x->class == y->class;
}

/* ---- collecting ----------------------------------------------------------- */

static void series_free(gpointer data)
{
    struct plot_series *series = data;
    g_array_free(series->points, TRUE);
    g_free(series);
}

static struct plot_series *need_series(GPtrArray *all, GHashTable *by_pair, struct pair pair)
{
    struct plot_series *series = g_hash_table_lookup(by_pair, &pair);
    if (series)
        return series;
    series = g_new0(struct plot_series, 1);
    series->key = pair.key;
    series->class = pair.class;
    series->points = g_array_new(FALSE, FALSE, sizeof(struct plot_point));
    g_ptr_array_add(all, series);
    g_hash_table_insert(by_pair, g_memdup2(&pair, sizeof pair), series);
    return series;
}

GPtrArray *plot_series_collect(const struct record_table *table, const char *key_column,
                               const char *class_column, const char *y_column)
{
    const int64_t *t_ps = columns_i64(table, "t_ps"), *key = columns_i64(table, key_column);
    const int64_t *class = class_column ? columns_i64(table, class_column) : NULL;
    bool has_y = columns_i64(table, y_column) || columns_f64(table, y_column);
    if (!t_ps || !key || !has_y || (class_column && !class))
        return NULL;
    GPtrArray *all = g_ptr_array_new_with_free_func(series_free);
    g_autoptr(GHashTable) by_pair = g_hash_table_new_full(pair_hash, pair_equal, g_free, NULL);
    for (int64_t r = 0; r < record_table_n_rows(table); r++) {
        struct plot_point point = {(double)t_ps[r], columns_number(table, y_column, r, NAN)};
        struct plot_series *series = need_series(all, by_pair, (struct pair){key[r], class ? class[r] : -1});
        if (isfinite(point.y))
            g_array_append_val(series->points, point);
    }
    return all;
}

/* ---- gaps ----------------------------------------------------------------- */

static const struct plot_point *point_at(const struct plot_series *series, guint i)
{
    return &g_array_index(series->points, struct plot_point, i);
}

static void add_point(GArray *points, double x_ps, double y)
{
    struct plot_point point = {x_ps, y};
    g_array_append_val(points, point);
}

GArray *plot_series_instants(const struct record_book *book)
{
    GArray *instants = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int i = 0; i < record_table_n(book); i++) {
        const struct record_table *table = record_table_at(book, i);
        const int64_t *t_ps = columns_i64(table, "t_ps");
        for (int64_t r = 0;
             t_ps && g_str_has_prefix(record_table_path(table), "series/") && r < record_table_n_rows(table);
             r++)
            if (r == 0 ||
                t_ps[r] != t_ps[r - 1]) /* rows of one instant lie together: keeps the array small */
                g_array_append_val(instants, t_ps[r]);
    }
    int64_t *values = (int64_t *)(void *)instants->data;
    guint n = 0;
    stats_sort_i64(values, instants->len);
    for (guint i = 0; i < instants->len; i++)
        if (i == 0 || values[i] != values[i - 1])
            values[n++] = values[i];
    g_array_set_size(instants, n);
    return instants;
}

static double instant_at(const GArray *instants, int64_t i)
{
    return (double)g_array_index(instants, int64_t, i);
}

/* Index of the first instant at or after X_PS; their number if there is none. */
static int64_t instant_index(const GArray *instants, double x_ps)
{
    int64_t low = 0, high = instants->len;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (instant_at(instants, middle) < x_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One value at the first and one at the last of the instants FROM to UNTIL. */
static void fill_between(GArray *to, const GArray *instants, int64_t from, int64_t until, double y)
{
    if (from <= until)
        add_point(to, instant_at(instants, from), y);
    if (from < until)
        add_point(to, instant_at(instants, until), y);
}

static void fill_series(struct plot_series *series, const GArray *instants, double y, bool at_ends)
{
    GArray *to = g_array_new(FALSE, FALSE, sizeof(struct plot_point));
    int64_t before = -1;
    for (guint i = 0; i < series->points->len; i++) {
        struct plot_point point = *point_at(series, i);
        int64_t at = instant_index(instants, point.x_ps);
        if (i > 0)
            fill_between(to, instants, before + 1, at - 1, y);
        else if (at_ends && at > 0)
            add_point(to, instant_at(instants, at - 1), y);
        g_array_append_val(to, point);
        before = at;
    }
    if (at_ends && before >= 0 && before + 1 < (int64_t)instants->len)
        add_point(to, instant_at(instants, before + 1), y);
    g_array_free(series->points, TRUE);
    series->points = to;
}

void plot_series_fill_gaps(GPtrArray *all, const GArray *instants, enum plot_gap gap)
{
    for (guint s = 0; s < all->len; s++)
        fill_series(g_ptr_array_index(all, s), instants, gap == PLOT_GAP_ZERO ? 0.0 : NAN,
                    gap == PLOT_GAP_ZERO);
}

/* ---- ranking -------------------------------------------------------------- */

static double extreme(const struct plot_series *series, double sign)
{
    double best = -INFINITY;
    for (guint i = 0; i < series->points->len; i++)
        if (isfinite(point_at(series, i)->y))
            best = fmax(best, sign * point_at(series, i)->y);
    return best;
}

void plot_series_score_peak(GPtrArray *all)
{
    for (guint s = 0; s < all->len; s++) {
        struct plot_series *series = g_ptr_array_index(all, s);
        series->score = extreme(series, 1);
    }
}

void plot_series_score_swing(GPtrArray *all)
{
    for (guint s = 0; s < all->len; s++) {
        struct plot_series *series = g_ptr_array_index(all, s);
        series->score = extreme(series, 1) + extreme(series, -1);
    }
}

void plot_series_keep_best(GPtrArray *all, guint n)
{
    /* Selection by hand: n is a handful, and equal scores keep their order. */
    for (guint place = 0; place < MIN(n, all->len); place++) {
        guint best = place;
        for (guint s = place + 1; s < all->len; s++) {
            const struct plot_series *x = g_ptr_array_index(all, s), *y = g_ptr_array_index(all, best);
            if (x->score > y->score)
                best = s;
        }
        g_ptr_array_insert(all, (gint)place, g_ptr_array_steal_index(all, best));
    }
    if (all->len > n)
        g_ptr_array_set_size(all, (gint)n);
}

/* ---- thinning ------------------------------------------------------------- */

/* Marks the points that stay of [FROM, TO). */
static void mark_stretch(const struct plot_series *series, guint from, guint to, gboolean *keep)
{
    guint low = from, high = from;
    for (guint i = from; i < to; i++) {
        double y = point_at(series, i)->y;
        keep[i] = !isfinite(y);                              /* a break stays a break */
        if (isfinite(y) && !(point_at(series, low)->y <= y)) /* also true where LOW is a break */
            low = i;
        if (isfinite(y) && !(point_at(series, high)->y >= y))
            high = i;
    }
    keep[from] = TRUE;
    keep[low] = TRUE;
    keep[high] = TRUE;
    keep[to - 1] = TRUE;
}

void plot_series_thin(struct plot_series *series, guint max_points)
{
    guint n = series->points->len, stretches = MAX(1, max_points / 4), kept = 0;
    if (n <= max_points)
        return;
    g_autofree gboolean *keep = g_new0(gboolean, n);
    for (guint s = 0; s < stretches; s++) {
        guint from = (guint)((guint64)n * s / stretches), to = (guint)((guint64)n * (s + 1) / stretches);
        if (from < to)
            mark_stretch(series, from, to, keep);
    }
    for (guint i = 0; i < n; i++)
        if (keep[i])
            g_array_index(series->points, struct plot_point, kept++) = *point_at(series, i);
    g_array_set_size(series->points, kept);
}

/* ---- pauses --------------------------------------------------------------- */

/* 802.1Qbb: a quantum is 512 bit times of the port. */
#define QUANTUM_BYTES (512 / UNIT_BITS_PER_BYTE)

struct open_pause {
    int64_t start_ps, end_ps; /* end_ps is SIM_PS_MAX: until resume */
};

static int64_t pause_end(const struct record_table *ports, const struct columns_port_index *index,
                         int64_t port, int64_t quanta, int64_t t_ps)
{
    int64_t row = columns_port_row(index, port);
    const int64_t *rate_bps = row < 0 ? NULL : columns_i64(ports, "rate_bps");
    if (!rate_bps || rate_bps[row] <= 0 || quanta >= UINT32_MAX)
        return SIM_PS_MAX; /* UINT32_MAX quanta: until resume, see table events/pfc */
    int64_t pause_ps = units_wire_ps(quanta * QUANTUM_BYTES, rate_bps[row]);
    return t_ps > SIM_PS_MAX - pause_ps ? SIM_PS_MAX : t_ps + pause_ps;
}

static void close_pause(GArray *pauses, const struct pair *pair, const struct open_pause *open,
                        int64_t end_ps)
{
    struct plot_pause pause = {pair->key, pair->class, open->start_ps, MIN(open->end_ps, end_ps)};
    if (pause.end_ps > pause.start_ps)
        g_array_append_val(pauses, pause);
}

/* One frame: ends or extends the pause that is on, or begins one. */
static void on_frame(GArray *pauses, GHashTable *on, struct pair pair, int64_t t_ps, int64_t end_ps)
{
    struct open_pause *open = g_hash_table_lookup(on, &pair);
    if (open && (open->end_ps <= t_ps || end_ps <= t_ps)) {
        close_pause(pauses, &pair, open, t_ps);
        g_hash_table_remove(on, &pair);
        open = NULL;
    }
    if (end_ps <= t_ps)
        return;
    if (open)
        open->end_ps = end_ps;
    else
        g_hash_table_insert(on, g_memdup2(&pair, sizeof pair),
                            g_memdup2(&(struct open_pause){t_ps, end_ps}, sizeof *open));
}

static int compare_pauses(const void *a, const void *b)
{
    const struct plot_pause *x = a, *y = b;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (x->class > y->class) - (x->class < y->class);
}

static int64_t end_of_run(const struct record_book *book, int64_t last_event_ps)
{
    double end = fmax(columns_summary(book, "simulated_ps", 0), columns_summary(book, "makespan_ps", 0));
    return end > (double)last_event_ps && end < (double)SIM_PS_MAX ? (int64_t)end : last_event_ps;
}

GArray *plot_pauses(const struct record_book *book)
{
    const struct record_table *events = columns_table(book, "events/pfc"),
                              *ports = columns_table(book, "ports");
    const int64_t *t_ps = columns_i64(events, "t_ps"), *port = columns_i64(events, "port");
    const int64_t *class = columns_i64(events, "class"), *quanta = columns_i64(events, "quanta");
    if (!t_ps || !port || !class || !quanta)
        return NULL;
    struct columns_port_index *index = columns_port_index_new(book);
    g_autoptr(GHashTable) on = g_hash_table_new_full(pair_hash, pair_equal, g_free, g_free);
    GArray *pauses = g_array_new(FALSE, FALSE, sizeof(struct plot_pause));
    int64_t last_ps = 0;
    for (int64_t r = 0; r < record_table_n_rows(events); r++) {
        int64_t end_ps = quanta[r] > 0 ? pause_end(ports, index, port[r], quanta[r], t_ps[r]) : t_ps[r];
        on_frame(pauses, on, (struct pair){port[r], class[r]}, t_ps[r], end_ps);
        last_ps = MAX(last_ps, t_ps[r]);
    }
    GHashTableIter iter;
    gpointer pair, open;
    g_hash_table_iter_init(&iter, on);
    while (g_hash_table_iter_next(&iter, &pair, &open))
        close_pause(pauses, pair, open, end_of_run(book, last_ps));
    if (pauses->len > 1) /* hash order must not show */
        qsort(pauses->data, pauses->len, sizeof(struct plot_pause), compare_pauses);
    columns_port_index_free(index);
    return pauses;
}

struct edge {
    int64_t t_ps;
    int step;
};

static int compare_edges(const void *a, const void *b)
{
    int64_t x = ((const struct edge *)a)->t_ps, y = ((const struct edge *)b)->t_ps;
    return (x > y) - (x < y);
}

GArray *plot_pauses_cumulated(const GArray *pauses)
{
    GArray *points = g_array_new(FALSE, FALSE, sizeof(struct plot_point));
    guint n = 2 * pauses->len;
    g_autofree struct edge *edges = g_new(struct edge, MAX(n, 1));
    for (guint i = 0; i < pauses->len; i++) {
        const struct plot_pause *pause = &g_array_index(pauses, struct plot_pause, i);
        edges[2 * i] = (struct edge){pause->start_ps, 1};
        edges[2 * i + 1] = (struct edge){pause->end_ps, -1};
    }
    qsort(edges, n, sizeof *edges, compare_edges);
    double sum_ps = 0;
    int paused = 0;
    for (guint i = 0; i < n; i++) {
        if (i > 0)
            sum_ps += paused * (double)(edges[i].t_ps - edges[i - 1].t_ps);
        paused += edges[i].step;
        add_point(points, (double)edges[i].t_ps, sum_ps);
    }
    return points;
}
