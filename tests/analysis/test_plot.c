/* test_plot.c - which pictures come of which books, and that they are pictures. */
#include "analysis/plot.h"
#include "analysis/fake_book.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

struct drawn {
    char *folder;
    GPtrArray *made, *skipped;
};

static struct drawn draw(const struct record_book *book, const char *format)
{
    struct drawn drawn = {fake_folder(), g_ptr_array_new_with_free_func(g_free),
                          g_ptr_array_new_with_free_func(g_free)};
    GError *err = NULL;
    g_autofree char *below = g_build_filename(drawn.folder, "it's", "here", NULL); /* made on the way */
    if (!plot_run(book, below, format, drawn.made, drawn.skipped, &err))
        fail_msg("%s", err->message);
    return drawn;
}

static void drawn_release(struct drawn *drawn)
{
    g_autofree char *middle = g_build_filename(drawn->folder, "it's", NULL),
                    *below = g_build_filename(middle, "here", NULL);
    for (guint i = 0; i < drawn->made->len; i++)
        g_unlink(g_ptr_array_index(drawn->made, i));
    g_rmdir(below);
    g_rmdir(middle);
    assert_int_equal(g_rmdir(drawn->folder), 0); /* nothing but the pictures was left there */
    g_ptr_array_unref(drawn->made);
    g_ptr_array_unref(drawn->skipped);
    g_free(drawn->folder);
}

static bool contains(const char *bytes, gsize n, const char *part)
{
    for (gsize i = 0; i + strlen(part) <= n; i++)
        if (memcmp(bytes + i, part, strlen(part)) == 0)
            return true;
    return false;
}

static void assert_picture(const char *path, const char *name, const char *opening)
{
    g_autofree char *base = g_path_get_basename(path), *bytes = NULL;
    gsize n = 0;
    assert_true(g_str_has_prefix(base, name));
    assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    assert_true(n > 5000 && memcmp(bytes, opening, strlen(opening)) == 0);
}

static int need_gnuplot(void **state)
{
    (void)state;
    g_autofree char *program = g_find_program_in_path("gnuplot");
    if (!program)
        print_message("skipped: no gnuplot\n");
    return program ? 0 : 1;
}

static void test_plot__a_full_book_gives_every_picture(void **state)
{
    if (need_gnuplot(state))
        skip();
    static const char *const names[] = {"fct_cdf.", "queue_depth.",      "rates.",
                                        "pauses.",  "link_utilisation.", "collectives."};
    struct record_book *book = fake_book_new();
    struct drawn png = draw(book, "png"), svg = draw(book, "svg");
    assert_int_equal(png.made->len, 6);
    assert_int_equal(svg.made->len, 6);
    assert_int_equal(png.skipped->len, 0);
    for (guint i = 0; i < 6; i++) {
        assert_picture(g_ptr_array_index(png.made, i), names[i], "\x89PNG\r\n");
        assert_picture(g_ptr_array_index(svg.made, i), names[i], "<?xml");
    }
    drawn_release(&png);
    drawn_release(&svg);
    record_book_free(book);
}

static void test_plot__axes_have_units_and_names_are_literal(void **state)
{
    if (need_gnuplot(state))
        skip();
    static const char *const parts[][2] = {{"completion time (ms)", "last byte received: p50"},
                                           {"depth (kB)", "leaf0:0 -> h0, class 3"},
                                           {"rate (Gb/s)", "flow 0"},
                                           {"paused, cumulated (ms)", "simulated time (ms)"},
                                           {"share of the makespan (%)", "leaf1:3 -> spine0"},
                                           {"bus bandwidth (GB/s)", "expert's_100%_a2a, 64.0 MB"}};
    struct record_book *book = fake_book_new();
    struct drawn svg = draw(book, "svg");
    for (guint i = 0; i < 6; i++) {
        g_autofree char *text = NULL;
        gsize n = 0;
        assert_true(g_file_get_contents(g_ptr_array_index(svg.made, i), &text, &n, NULL));
        for (int p = 0; p < 2; p++)
            if (!contains(text, n, parts[i][p]))
                fail_msg("'%s' is not in %s", parts[i][p], (char *)g_ptr_array_index(svg.made, i));
    }
    drawn_release(&svg);
    record_book_free(book);
}

static void test_plot__an_empty_book_gives_none_and_says_why(void **state)
{
    if (need_gnuplot(state))
        skip();
    struct record_book *book = record_book_new();
    struct drawn drawn = draw(book, "png");
    assert_int_equal(drawn.made->len, 0);
    assert_int_equal(drawn.skipped->len, 6);
    for (guint i = 0; i < 6; i++)
        assert_non_null(strstr(g_ptr_array_index(drawn.skipped, i), "absent"));
    drawn_release(&drawn);
    record_book_free(book);
}

/* One flow, one sample, one link at rest, one zero-length run: axes of no extent. */
static struct record_book *degenerate_book(void)
{
    static const struct record_column_spec flows[] = {{"fct_rx_ps", RECORD_I64, "ps", "R."}};
    static const struct record_column_spec queue[] = {{"t_ps", RECORD_I64, "ps", "T."},
                                                      {"port", RECORD_I64, "1", "P."},
                                                      {"class", RECORD_I64, "1", "C."},
                                                      {"bytes", RECORD_I64, "bytes", "B."}};
    static const struct record_column_spec ports[] = {{"utilisation", RECORD_F64, "1", "U."}};
    static const struct record_column_spec collectives[] = {{"busbw_bps", RECORD_F64, "bit/s", "B."}};
    struct record_book *book = record_book_new();
    record_append(record_table_add(book, "flows", "F.", flows, 1), INT64_C(0));
    record_append(record_table_add(book, "series/queue", "Q.", queue, 4), INT64_C(0), INT64_C(0), INT64_C(0),
                  INT64_C(0));
    record_append(record_table_add(book, "ports", "P.", ports, 1), 0.0);
    record_append(record_table_add(book, "collectives", "C.", collectives, 1), NAN);
    return book;
}

static void test_plot__axes_of_no_extent_are_drawn(void **state)
{
    if (need_gnuplot(state))
        skip();
    struct record_book *book = degenerate_book();
    struct drawn drawn = draw(book, "png");
    assert_int_equal(drawn.made->len, 3);
    assert_int_equal(drawn.skipped->len, 3); /* rates and pauses, and a queue of nothing */
    drawn_release(&drawn);
    /* A queue that is worth a picture, at one instant. */
    record_append(record_table_get(book, "series/queue"), INT64_C(0), INT64_C(1), INT64_C(3), INT64_C(100000));
    drawn = draw(book, "png");
    assert_int_equal(drawn.made->len, 4);
    assert_int_equal(drawn.skipped->len, 2);
    drawn_release(&drawn);
    record_book_free(book);
}

static void test_plot__a_bad_folder_or_format_is_an_error(void **state)
{
    if (need_gnuplot(state))
        skip();
    struct record_book *book = fake_book_new();
    g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func(g_free);
    GError *err = NULL;
    assert_false(plot_run(book, "/dev/null/x", "png", made, NULL, &err));
    assert_true(g_error_matches(err, GNUPLOT_ERROR, GNUPLOT_ERROR_IO));
    g_clear_error(&err);
    assert_false(plot_run(book, g_get_tmp_dir(), "pdf", made, NULL, &err));
    assert_true(g_error_matches(err, GNUPLOT_ERROR, GNUPLOT_ERROR_FORMAT));
    g_clear_error(&err);
    assert_int_equal(made->len, 0);
    record_book_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plot__a_full_book_gives_every_picture),
        cmocka_unit_test(test_plot__axes_have_units_and_names_are_literal),
        cmocka_unit_test(test_plot__an_empty_book_gives_none_and_says_why),
        cmocka_unit_test(test_plot__axes_of_no_extent_are_drawn),
        cmocka_unit_test(test_plot__a_bad_folder_or_format_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
