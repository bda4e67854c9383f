/* test_gnuplot.c - quoting, running, and failing. */
#include "analysis/gnuplot.h"

#include <glib/gstdio.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static bool have_gnuplot(void)
{
    g_autofree char *program = g_find_program_in_path("gnuplot");
    if (!program)
        print_message("skipped: no gnuplot\n");
    return program != NULL;
}

static struct gnuplot *new_plot(const char *format)
{
    GError *err = NULL;
    struct gnuplot *plot = gnuplot_new(format, &err);
    if (!plot)
        fail_msg("%s", err->message);
    gnuplot_begin(plot, 300, 200);
    return plot;
}

static void test_gnuplot__quoting_leaves_nothing_to_interpret(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"leaf0:1 -> h0", "\"leaf0:1 -> h0\""},
                                           {"a'b", "\"a\\047b\""},
                                           {"a'4", "\"a\\047\\064\""}, /* no digit behind an escape */
                                           {"x#0", "\"x#0\""},
                                           {"\"", "\"\\042\""},
                                           {"a\n!b\\n", "\"a \\041b\\134n\""},
                                           {"`x`", "\"\\140x\\140\""},
                                           {"\xc3\xbc", "\"\\303\\274\""},
                                           {"", "\"\""},
                                           {"@x $y", "\"\\100x \\044y\""}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *quoted = gnuplot_quote(cases[i][0]);
        assert_string_equal(quoted, cases[i][1]);
    }
}

static void test_gnuplot__numbers_have_points_and_nan(void **state)
{
    (void)state;
    GString *text = g_string_new(NULL);
    gnuplot_number(text, 0.25);
    g_string_append_c(text, ' ');
    gnuplot_number(text, -INFINITY);
    assert_string_equal(text->str, "0.25 NaN");
    g_string_free(text, TRUE);
}

static void test_gnuplot__an_unknown_format_is_an_error(void **state)
{
    (void)state;
    GError *err = NULL;
    assert_null(gnuplot_new("jpeg", &err));
    assert_true(g_error_matches(err, GNUPLOT_ERROR, GNUPLOT_ERROR_FORMAT));
    assert_string_equal(err->message, "format 'jpeg' is unknown; allowed: png, svg");
    g_error_free(err);
}

static void test_gnuplot__a_missing_program_is_an_error(void **state)
{
    (void)state;
    GError *err = NULL;
    g_autofree char *path = g_strdup(g_getenv("PATH"));
    g_setenv("PATH", "/nonexistent", TRUE);
    struct gnuplot *plot = gnuplot_new("png", &err);
    g_setenv("PATH", path, TRUE);
    assert_null(plot);
    assert_true(g_error_matches(err, GNUPLOT_ERROR, GNUPLOT_ERROR_MISSING));
    assert_non_null(strstr(err->message, "install"));
    g_error_free(err);
}

/* What hostile titles could do if they were not quoted: make the file "made" in gnuplot's folder or ours. */
static void test_gnuplot__titles_cannot_run_commands(void **state)
{
    (void)state;
    if (!have_gnuplot())
        skip();
    static const char *const titles[] = {"`touch made`",       "'; system('touch made'); x='",
                                         "$(touch made)",      "a\nsystem 'touch made'\n",
                                         "@x \\' !touch made", "\"`touch made`\""};
    g_autofree char *folder = g_dir_make_tmp("fabricast-test-XXXXXX", NULL);
    g_autofree char *marker = g_build_filename(folder, "made", NULL),
                    *picture = g_build_filename(folder, "p.svg", NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(titles); i++) {
        struct gnuplot *plot = new_plot("svg");
        GString *hostile = g_string_new(titles[i]); /* an absolute path, so that any folder will do */
        g_string_replace(hostile, "made", marker, 0);
        g_autofree char *title = gnuplot_quote(hostile->str);
        gnuplot_add(plot, "set title %s\nplot [0:1] x title %s\n", title, title);
        GError *err = NULL;
        if (!gnuplot_render(plot, picture, &err))
            fail_msg("%s", err->message);
        assert_false(g_file_test(marker, G_FILE_TEST_EXISTS));
        g_string_free(hostile, TRUE);
        gnuplot_free(plot);
    }
    g_unlink(picture);
    assert_int_equal(g_rmdir(folder), 0);
}

static void test_gnuplot__a_bad_script_is_an_error_and_keeps_the_old_picture(void **state)
{
    (void)state;
    if (!have_gnuplot())
        skip();
    g_autofree char *folder = g_dir_make_tmp("fabricast-test-XXXXXX", NULL);
    g_autofree char *picture = g_build_filename(folder, "p.png", NULL), *content = NULL;
    assert_true(g_file_set_contents(picture, "old", -1, NULL));
    struct gnuplot *plot = new_plot("png");
    gnuplot_add(plot, "plot 'no such file'\n");
    GError *err = NULL;
    assert_false(gnuplot_render(plot, picture, &err));
    assert_true(g_error_matches(err, GNUPLOT_ERROR, GNUPLOT_ERROR_RUN));
    assert_non_null(strstr(err->message, "no such file"));
    g_error_free(err);
    gnuplot_free(plot);
    assert_true(g_file_get_contents(picture, &content, NULL, NULL));
    assert_string_equal(content, "old");
    g_unlink(picture);
    assert_int_equal(g_rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gnuplot__quoting_leaves_nothing_to_interpret),
        cmocka_unit_test(test_gnuplot__numbers_have_points_and_nan),
        cmocka_unit_test(test_gnuplot__an_unknown_format_is_an_error),
        cmocka_unit_test(test_gnuplot__a_missing_program_is_an_error),
        cmocka_unit_test(test_gnuplot__titles_cannot_run_commands),
        cmocka_unit_test(test_gnuplot__a_bad_script_is_an_error_and_keeps_the_old_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
