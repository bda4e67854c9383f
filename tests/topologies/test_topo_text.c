/* test_topo_text.c - the line reader of the importers. */
#include "topology_fixture.h"
#include "topologies/topo_text.h"

static void load(struct topo_text *text, const char *data, gssize n)
{
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    int fd = g_file_open_tmp("fabricast-XXXXXX", &path, NULL);
    close(fd);
    assert_true(g_file_set_contents(path, data, n, NULL));
    if (!topo_text_load(text, path, &error))
        fail_msg("%s", error->message);
    g_unlink(path);
}

static void test_topo_text__words_comments_and_line_numbers(void **state)
{
    (void)state;
    struct topo_text text;
    load(&text, "a  b\tc\r\n\n  # only a comment\r\nd#e\nlast", -1);
    assert_true(topo_text_next(&text, " \t\r"));
    assert_int_equal(text.fields->len, 3);
    assert_int_equal(text.line, 1);
    assert_string_equal(g_ptr_array_index(text.fields, 2), "c");
    assert_true(topo_text_next(&text, " \t\r"));
    assert_int_equal(text.fields->len, 0);
    assert_int_equal(text.line, 3);
    assert_string_equal(g_strstrip(text.comment), "only a comment");
    assert_true(topo_text_next(&text, " \t\r"));
    assert_string_equal(g_ptr_array_index(text.fields, 0), "d");
    assert_true(topo_text_next(&text, " \t\r"));
    assert_string_equal(g_ptr_array_index(text.fields, 0), "last");
    assert_false(topo_text_next(&text, " \t\r"));
    assert_int_equal(text.fields->len, 0);
    topo_text_release(&text);
}

static void test_topo_text__commas_keep_empty_fields(void **state)
{
    (void)state;
    struct topo_text text;
    load(&text, "1, 2 ,,4\r\n,\n", -1);
    assert_true(topo_text_next(&text, ","));
    assert_int_equal(text.fields->len, 4);
    assert_string_equal(g_ptr_array_index(text.fields, 1), "2");
    assert_string_equal(g_ptr_array_index(text.fields, 2), "");
    assert_string_equal(g_ptr_array_index(text.fields, 3), "4");
    assert_true(topo_text_next(&text, ","));
    assert_int_equal(text.fields->len, 2);
    assert_false(topo_text_next(&text, ","));
    topo_text_release(&text);
}

static void test_topo_text__unreadable_files_are_errors(void **state)
{
    (void)state;
    struct topo_text text;
    g_autoptr(GError) error = NULL;
    assert_false(topo_text_load(&text, TEST_DATA_DIR "/topologies/no_such_file", &error));
    assert_non_null(strstr(error->message, "no_such_file"));
    topo_text_release(&text);
    g_clear_error(&error);
    assert_false(topo_text_load(&text, TEST_DATA_DIR, &error));
    topo_text_release(&text);
}

static void test_topo_text__numbers_are_bounded_and_quoted(void **state)
{
    (void)state;
    struct topo_text text;
    int64_t v = -1;
    load(&text, "7 99999999999999999999 0 100 \x01\xff 1.5", -1);
    assert_true(topo_text_next(&text, " "));
    assert_true(topo_text_int(&text, 0, "k", 0, 7, &v, NULL));
    assert_int_equal(v, 7);
    for (guint i = 1; i < 6; i++) {
        g_autoptr(GError) error = NULL;
        if (i != 3)
            assert_false(topo_text_int(&text, i, "k", 1, 50, &v, &error));
        if (i == 4)
            assert_non_null(strstr(error->message, ":1: k: '\\001\\377' is not a whole number from 1 to 50"));
    }
    assert_int_equal(v, 7);
    assert_true(topo_text_rate(&text, 3, "r", "Gbps", &v, NULL));
    assert_int_equal(v, 100 * UNIT_GBPS);
    assert_false(topo_text_rate(&text, 2, "r", "Gbps", &v, NULL));
    assert_false(topo_text_rate(&text, 3, "r", "", &v, NULL));
    assert_true(topo_text_time(&text, 5, "t", "ns", &v, NULL));
    assert_int_equal(v, 1500);
    assert_false(topo_text_time(&text, 1, "t", "ns", &v, NULL));
    topo_text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topo_text__words_comments_and_line_numbers),
        cmocka_unit_test(test_topo_text__commas_keep_empty_fields),
        cmocka_unit_test(test_topo_text__unreadable_files_are_errors),
        cmocka_unit_test(test_topo_text__numbers_are_bounded_and_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
