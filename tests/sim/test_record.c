/* test_record.c - what goes into a book comes out, in order. */
#include "sim/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const struct record_column_spec SPECS[] = {
    {"t_ps", RECORD_I64, "ps", "Instant."},
    {"share", RECORD_F64, "1", "Share."},
    {"node", RECORD_TEXT, "name", "Node."},
};

static void test_record__meta_keeps_order_and_replaces(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    record_meta_set(book, "version", "1");
    record_meta_set(book, "seed", "7");
    record_meta_set(book, "version", "2");
    assert_int_equal(record_meta_n(book), 2);
    const char *key, *value;
    record_meta_at(book, 0, &key, &value);
    assert_string_equal(key, "version");
    assert_string_equal(value, "2");
    record_meta_set(book, "version", record_meta_get(book, "version")); /* the old value itself */
    assert_string_equal(record_meta_get(book, "version"), "2");
    assert_null(record_meta_get(book, "digest"));
    record_book_free(book);
}

static void test_record__summary_keeps_order_and_replaces(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    record_summary_set(book, "makespan_ps", 5.0, "ps", "End.");
    record_summary_set(book, "drop_pkts", NAN, "packets", NULL);
    record_summary_set(book, "makespan_ps", 6.0, "ps", "End of all.");
    assert_int_equal(record_summary_n(book), 2);
    const char *name, *unit, *doc;
    double value = 0;
    record_summary_at(book, 0, &name, &value, &unit, &doc);
    assert_string_equal(name, "makespan_ps");
    assert_string_equal(doc, "End of all.");
    assert_true(value == 6.0);
    assert_true(record_summary_get(book, "drop_pkts", &value) && isnan(value));
    assert_false(record_summary_get(book, "events", &value));
    record_book_free(book);
}

static void test_record__params_are_copied(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    char key[] = "kmin";
    struct record_param row = {
        .group = (char *)"ecn", .key = key, .value = (char *)"100KB", .base_value = 1e5};
    record_param_add(book, &row);
    key[0] = 'x';
    const struct record_param *got = record_param_at(book, 0);
    assert_int_equal(record_param_n(book), 1);
    assert_string_equal(got->key, "kmin");
    assert_string_equal(got->origin, ""); /* an absent text is an empty one */
    assert_true(got->base_value == 1e5);
    record_book_free(book);
}

static void test_record__a_table_grows_past_its_first_block(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    struct record_table *table = record_table_add(book, "series/queue", "Depths.", SPECS, 3);
    char name[16];
    for (int64_t i = 0; i < 1000; i++) {
        g_snprintf(name, sizeof name, "sw%d", (int)(i % 3));
        record_append(table, i * 10, (double)i / 4, name);
    }
    assert_int_equal(record_table_n_rows(table), 1000);
    assert_int_equal(record_column_i64(table, 0)[999], 9990);
    assert_true(record_column_f64(table, 1)[999] == 249.75);
    assert_string_equal(record_column_text(table, 2)[998], "sw2");
    /* equal texts are held once */
    assert_ptr_equal(record_column_text(table, 2)[0], record_column_text(table, 2)[3]);
    record_book_free(book);
}

static void test_record__whole_columns_append_after_rows(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    struct record_table *table = record_table_add(book, "t", NULL, SPECS, 3);
    record_append(table, INT64_C(1), 0.5, "a");
    const int64_t instants[] = {2, 3};
    const double shares[] = {0.25, INFINITY};
    const char *names[] = {"b", NULL};
    record_append_columns(table, 2, (const void *const[]){instants, shares, names});
    record_append_columns(table, 0, NULL);
    assert_int_equal(record_table_n_rows(table), 3);
    assert_int_equal(record_column_i64(table, 0)[2], 3);
    assert_true(isinf(record_column_f64(table, 1)[2]));
    assert_string_equal(record_column_text(table, 2)[1], "b");
    assert_string_equal(record_column_text(table, 2)[2], "");
    record_book_free(book);
}

static void test_record__tables_are_found_by_path_and_columns_by_name(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    struct record_table *first = record_table_add(book, "flows", "Flows.", SPECS, 3);
    struct record_table *second = record_table_add(book, "events/pfc", "Pauses.", SPECS, 1);
    assert_int_equal(record_table_n(book), 2);
    assert_ptr_equal(record_table_at(book, 0), first);
    assert_ptr_equal(record_table_get(book, "events/pfc"), second);
    assert_null(record_table_get(book, "events"));
    assert_string_equal(record_table_path(first), "flows");
    assert_string_equal(record_table_doc(first), "Flows.");
    assert_int_equal(record_table_n_columns(first), 3);
    assert_int_equal(record_table_column(first, "node"), 2);
    assert_int_equal(record_table_column(first, "nodes"), -1);
    assert_string_equal(record_table_spec(first, 1)->unit, "1");
    assert_int_equal(record_table_n_rows(second), 0);
    record_book_free(book);
    record_book_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record__meta_keeps_order_and_replaces),
        cmocka_unit_test(test_record__summary_keeps_order_and_replaces),
        cmocka_unit_test(test_record__params_are_copied),
        cmocka_unit_test(test_record__a_table_grows_past_its_first_block),
        cmocka_unit_test(test_record__whole_columns_append_after_rows),
        cmocka_unit_test(test_record__tables_are_found_by_path_and_columns_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
