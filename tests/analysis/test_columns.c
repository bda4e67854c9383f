/* test_columns.c - lookups that must survive books with parts missing. */
#include "analysis/columns.h"
#include "analysis/fake_book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void test_columns__absent_or_other_type_is_null(void **state)
{
    (void)state;
    struct record_book *book = fake_book_new();
    const struct record_table *flows = columns_table(book, "flows");
    assert_non_null(columns_i64(flows, "fct_rx_ps"));
    assert_null(columns_f64(flows, "fct_rx_ps"));
    assert_null(columns_i64(flows, "no_such"));
    assert_null(columns_i64(NULL, "flow"));
    assert_null(columns_table(book, "series"));
    assert_non_null(columns_text(columns_table(book, "ports"), "node"));
    record_book_free(book);
}

static void test_columns__an_empty_table_counts_as_absent(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    const struct record_column_spec spec = {"flow", RECORD_I64, "1", "Flow."};
    record_table_add(book, "flows", "Flows.", &spec, 1);
    assert_null(columns_table(book, "flows"));
    assert_null(columns_i64(record_table_get(book, "flows"), "flow"));
    record_book_free(book);
}

static void test_columns__numbers_of_either_type(void **state)
{
    (void)state;
    struct record_book *book = fake_book_new();
    const struct record_table *ports = columns_table(book, "ports");
    assert_true(columns_number(ports, "rate_bps", 0, -1) == 400e9);
    assert_true(columns_number(ports, "utilisation", 1, -1) == 5 / 11.5);
    assert_true(columns_number(ports, "node", 0, -1) == -1);
    assert_true(columns_summary(book, "rate_cuts", -1) == 420);
    assert_true(columns_summary(book, "nacks", -1) == -1);
    record_book_free(book);
}

static void test_columns__row_of_max_ignores_all_zero(void **state)
{
    (void)state;
    struct record_book *book = fake_book_new();
    const struct record_table *ports = columns_table(book, "ports");
    assert_int_equal(columns_row_of_max(ports, "queue_max_bytes"), 7); /* 7 * 5 % 12 = 11 */
    assert_int_equal(columns_row_of_max(ports, "no_such"), -1);
    assert_int_equal(columns_row_of_max(columns_table(book, "ledger"), "dropped_pkts"), 0);
    record_book_free(book);
}

static void test_columns__rank_is_descending_stable_and_places_the_missing(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    const struct record_column_spec spec = {"x", RECORD_F64, "1", "X."};
    struct record_table *table = record_table_add(book, "t", "T.", &spec, 1);
    const double values[] = {1, NAN, 3, 1, INFINITY};
    for (int i = 0; i < 5; i++)
        record_append(table, values[i]);
    g_autofree int64_t *low = columns_rank(table, "x", -1), *high = columns_rank(table, "x", INFINITY);
    const int64_t expected_low[] = {4, 2, 0, 3, 1}, expected_high[] = {1, 4, 2, 0, 3};
    assert_memory_equal(low, expected_low, sizeof expected_low);
    assert_memory_equal(high, expected_high, sizeof expected_high);
    record_book_free(book);
}

static void test_columns__ports_are_named_by_node_port_and_peer(void **state)
{
    (void)state;
    struct record_book *book = fake_book_new();
    struct columns_port_index *index = columns_port_index_new(book);
    g_autofree char *known = columns_port_name(index, 7), *unknown = columns_port_name(index, 99);
    assert_string_equal(known, "leaf1:3 -> spine0");
    assert_string_equal(unknown, "port 99");
    assert_int_equal(columns_port_row(index, 0), 0);
    assert_int_equal(columns_port_row(index, -1), -1);
    columns_port_index_free(index);
    record_book_free(book);

    struct record_book *empty = record_book_new();
    index = columns_port_index_new(empty);
    g_autofree char *name = columns_port_name(index, 0);
    assert_string_equal(name, "port 0");
    columns_port_index_free(index);
    record_book_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns__absent_or_other_type_is_null),
        cmocka_unit_test(test_columns__an_empty_table_counts_as_absent),
        cmocka_unit_test(test_columns__numbers_of_either_type),
        cmocka_unit_test(test_columns__row_of_max_ignores_all_zero),
        cmocka_unit_test(test_columns__rank_is_descending_stable_and_places_the_missing),
        cmocka_unit_test(test_columns__ports_are_named_by_node_port_and_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
