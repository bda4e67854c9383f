/* test_plot_series.c - splitting, gaps, ranking, thinning; pauses by hand. */
#include "analysis/plot_series.h"
#include "sim/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct record_table *add_series(struct record_book *book)
{
    static const struct record_column_spec specs[] = {{"t_ps", RECORD_I64, "ps", "T."},
                                                      {"port", RECORD_I64, "1", "P."},
                                                      {"class", RECORD_I64, "1", "C."},
                                                      {"bytes", RECORD_I64, "bytes", "B."}};
    return record_table_add(book, "series/queue", "Q.", specs, 4);
}

static void add_row(struct record_table *table, int64_t t_ps, int64_t port, int64_t class, int64_t bytes)
{
    record_append(table, t_ps, port, class, bytes);
}

static const struct plot_series *series_at(const GPtrArray *all, guint i)
{
    return g_ptr_array_index(all, i);
}

static void assert_points(const struct plot_series *series, const struct plot_point *expected, guint n)
{
    assert_int_equal(series->points->len, n);
    for (guint i = 0; i < n; i++) {
        const struct plot_point *got = &g_array_index(series->points, struct plot_point, i);
        assert_true(got->x_ps == expected[i].x_ps);
        assert_true(got->y == expected[i].y || (isnan(got->y) && isnan(expected[i].y)));
    }
}

static void test_plot_series__rows_split_by_key_and_class(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    struct record_table *table = add_series(book);
    add_row(table, 10, 5, 3, 100);
    add_row(table, 10, 2, 3, 200);
    add_row(table, 10, 5, 6, 300);
    add_row(table, 20, 5, 3, 110);
    g_autoptr(GPtrArray) split = plot_series_collect(table, "port", "class", "bytes");
    g_autoptr(GPtrArray) whole = plot_series_collect(table, "port", NULL, "bytes");
    assert_int_equal(split->len, 3);
    assert_int_equal(whole->len, 2);
    assert_int_equal(series_at(split, 2)->class, 6);
    assert_points(series_at(split, 0), (const struct plot_point[]){{10, 100}, {20, 110}}, 2);
    assert_null(plot_series_collect(table, "flow", NULL, "bytes"));
    assert_null(plot_series_collect(NULL, "port", NULL, "bytes"));
    record_book_free(book);
}

/* Sampled at 0 10 21 30 40 50 60 (uneven, as windows are); port 1 has rows at 21 30 60. */
static void test_plot_series__a_gap_is_zero_or_a_break(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    struct record_table *table = add_series(book);
    static const int64_t instants_ps[] = {0, 10, 21, 30, 40, 50, 60, 71};
    static const bool has_row[] = {false, false, true, true, false, false, true, false};
    for (int i = 0; i < 8; i++) {
        if (has_row[i])
            add_row(table, instants_ps[i], 1, 0, 7);
        add_row(table, instants_ps[i], 2, 0, 1);
    }
    g_autoptr(GArray) instants = plot_series_instants(book);
    assert_int_equal(instants->len, 8);
    assert_memory_equal(instants->data, instants_ps, sizeof instants_ps);
    g_autoptr(GPtrArray) zero = plot_series_collect(table, "port", NULL, "bytes");
    plot_series_fill_gaps(zero, instants, PLOT_GAP_ZERO);
    const struct plot_point zeros[] = {{10, 0}, {21, 7}, {30, 7}, {40, 0}, {50, 0}, {60, 7}, {71, 0}};
    assert_int_equal(series_at(zero, 0)->key, 2);
    assert_int_equal(series_at(zero, 0)->points->len, 8); /* complete: nothing to fill */
    assert_points(series_at(zero, 1), zeros, 7);
    g_autoptr(GPtrArray) broken = plot_series_collect(table, "port", NULL, "bytes");
    plot_series_fill_gaps(broken, instants, PLOT_GAP_BREAK);
    const struct plot_point breaks[] = {{21, 7}, {30, 7}, {40, NAN}, {50, NAN}, {60, 7}};
    assert_points(series_at(broken, 1), breaks, 5);
    record_book_free(book);
}

static void test_plot_series__the_best_come_first(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    struct record_table *table = add_series(book);
    static const int64_t peaks[] = {5, 9, 9, 2, 7};
    for (int64_t port = 0; port < 5; port++) {
        add_row(table, 1, port, 0, peaks[port]);
        add_row(table, 2, port, 0, peaks[port] - port); /* swings 0 1 2 3 4 */
    }
    g_autoptr(GPtrArray) all = plot_series_collect(table, "port", NULL, "bytes");
    plot_series_score_peak(all);
    plot_series_keep_best(all, 3);
    assert_int_equal(all->len, 3);
    assert_int_equal(series_at(all, 0)->key, 1);
    assert_int_equal(series_at(all, 1)->key, 2);
    assert_int_equal(series_at(all, 2)->key, 4);
    plot_series_score_swing(all);
    plot_series_keep_best(all, 9);
    assert_int_equal(series_at(all, 0)->key, 4);
    assert_true(series_at(all, 0)->score == 4);
    record_book_free(book);
}

static void test_plot_series__thinning_keeps_ends_and_peaks(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    struct record_table *table = add_series(book);
    for (int64_t i = 0; i < 10000; i++)
        add_row(table, i, 0, 0, i == 4321 ? 1000 : i == 8765 ? -1000 : i % 10);
    g_autoptr(GPtrArray) all = plot_series_collect(table, "port", NULL, "bytes");
    struct plot_series *series = g_ptr_array_index(all, 0);
    plot_series_thin(series, 100);
    assert_in_range(series->points->len, 25, 100);
    bool high = false, low = false;
    for (guint i = 0; i < series->points->len; i++) {
        const struct plot_point *point = &g_array_index(series->points, struct plot_point, i);
        high |= point->x_ps == 4321 && point->y == 1000;
        low |= point->x_ps == 8765 && point->y == -1000;
        assert_true(i == 0 || point[-1].x_ps < point->x_ps);
    }
    assert_true(high && low);
    assert_true(g_array_index(series->points, struct plot_point, 0).x_ps == 0);
    assert_true(g_array_index(series->points, struct plot_point, series->points->len - 1).x_ps == 9999);
    record_book_free(book);
}

/* ---- pauses --------------------------------------------------------------- */

static struct record_table *add_pause_tables(struct record_book *book)
{
    static const struct record_column_spec ports[] = {{"port", RECORD_I64, "1", "P."},
                                                      {"rate_bps", RECORD_I64, "bit/s", "R."}};
    static const struct record_column_spec events[] = {{"t_ps", RECORD_I64, "ps", "T."},
                                                       {"port", RECORD_I64, "1", "P."},
                                                       {"class", RECORD_I64, "1", "C."},
                                                       {"quanta", RECORD_I64, "1", "Q."}};
    record_append(record_table_add(book, "ports", "P.", ports, 2), INT64_C(4), 400 * UNIT_GBPS);
    record_summary_set(book, "makespan_ps", 1e6, "ps", "End.");
    return record_table_add(book, "events/pfc", "E.", events, 4);
}

static void assert_pause(const GArray *pauses, guint i, int64_t port, int64_t start_ps, int64_t end_ps)
{
    const struct plot_pause *pause = &g_array_index(pauses, struct plot_pause, i);
    assert_int_equal(pause->port, port);
    assert_int_equal(pause->start_ps, start_ps);
    assert_int_equal(pause->end_ps, end_ps);
}

/* At 400 Gb/s a quantum of 512 bits takes 1280 ps. */
static void test_plot_series__pauses_end_by_resume_expiry_or_end(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    struct record_table *events = add_pause_tables(book);
    add_row(events, 1000, 4, 3, 10);     /* would end at 13800; refreshed */
    add_row(events, 5000, 4, 3, 10);     /* now at 17800 */
    add_row(events, 20000, 4, 3, 65535); /* a new one; resumed at 30000 */
    add_row(events, 25000, 4, 5, 1);     /* another class: ends at 26280 */
    add_row(events, 30000, 4, 3, 0);
    add_row(events, 31000, 4, 3, 0);          /* a resume without a pause */
    add_row(events, 40000, 4, 3, UINT32_MAX); /* until resume, which never comes */
    add_row(events, 50000, 9, 3, 1);          /* a port of unknown rate: until resume */
    add_row(events, 60000, 9, 3, 0);
    g_autoptr(GArray) pauses = plot_pauses(book);
    assert_int_equal(pauses->len, 5);
    assert_pause(pauses, 0, 4, 1000, 17800);
    assert_pause(pauses, 1, 4, 20000, 30000);
    assert_pause(pauses, 2, 4, 25000, 26280);
    assert_pause(pauses, 3, 4, 40000, 1000000);
    assert_pause(pauses, 4, 9, 50000, 60000);
    g_autoptr(GArray) sum = plot_pauses_cumulated(pauses);
    const struct plot_point *last = &g_array_index(sum, struct plot_point, sum->len - 1);
    assert_true(last->x_ps == 1e6);
    assert_true(last->y == 16800 + 10000 + 1280 + 960000 + 10000);
    record_book_free(book);
}

static void test_plot_series__no_events_no_pauses(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    assert_null(plot_pauses(book));
    add_pause_tables(book);
    assert_null(plot_pauses(book));
    add_row(record_table_get(book, "events/pfc"), 1000, 4, 3, 0);
    g_autoptr(GArray) pauses = plot_pauses(book);
    assert_int_equal(pauses->len, 0);
    record_book_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plot_series__rows_split_by_key_and_class),
        cmocka_unit_test(test_plot_series__a_gap_is_zero_or_a_break),
        cmocka_unit_test(test_plot_series__the_best_come_first),
        cmocka_unit_test(test_plot_series__thinning_keeps_ends_and_peaks),
        cmocka_unit_test(test_plot_series__pauses_end_by_resume_expiry_or_end),
        cmocka_unit_test(test_plot_series__no_events_no_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
