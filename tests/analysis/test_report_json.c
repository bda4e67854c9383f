/* test_report_json.c - the JSON report parses, and holds what the book holds. */
#include "analysis/report.h"
#include "analysis/fake_book.h"

#include <json-glib/json-glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *json_of(const struct record_book *book, bool with_tables)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    report_json(book, out, with_tables);
    fclose(out);
    return text;
}

/* The value at a JSONPath, as JSON text: "[420]". (transfer full) */
static char *query(const char *json, const char *path)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    GError *err = NULL;
    if (!json_parser_load_from_data(parser, json, -1, &err))
        fail_msg("%s", err->message);
    JsonNode *found = json_path_query(path, json_parser_get_root(parser), &err);
    if (!found)
        fail_msg("%s", err->message);
    char *text = json_to_string(found, FALSE);
    json_node_unref(found);
    return text;
}

static void assert_query(const char *json, const char *path, const char *expected)
{
    g_autofree char *got = query(json, path);
    assert_string_equal(got, expected);
}

static void test_report_json__holds_meta_summary_and_params(void **state)
{
    (void)state;
    struct record_book *book = fake_book_new();
    char *json = json_of(book, false);
    assert_query(json, "$.meta.seed", "[\"1\"]");
    assert_query(json, "$.summary.rate_cuts.value", "[420]");
    assert_query(json, "$.summary.wall_s.value", "[0.0206]");
    assert_query(json, "$.summary.makespan_ps.unit", "[\"ps\"]");
    assert_query(json, "$.summary.timeouts.value", "[null]"); /* NaN */
    assert_query(json, "$.params.ecn.kmin.base_value", "[100000]");
    assert_query(json, "$.params.ecn.pmax.value", "[\"0.2\"]");
    assert_query(json, "$.params.switch.alpha.base_value", "[null]");
    assert_query(json, "$.tables", "[]");
    free(json);
    record_book_free(book);
}

static void test_report_json__tables_are_columns_and_series_are_left_out(void **state)
{
    (void)state;
    struct record_book *book = fake_book_new();
    char *json = json_of(book, true);
    assert_query(json, "$.tables.collectives.columns.time_ps.values", "[[1400000000,800000000,-1]]");
    assert_query(json, "$.tables.collectives.columns.ratio.values",
                 "[[1.1379999999999999,2.6669999999999998,null]]");
    assert_query(json, "$.tables.collectives.columns.name.values[1]", "[\"expert's_100%_a2a\"]");
    assert_query(json, "$.tables.flows.n_rows", "[40]");
    assert_query(json, "$.tables.ports.columns.queue_max_bytes.unit", "[\"bytes\"]");
    assert_query(json, "$.tables.ledger.columns.class.values", "[[3,6]]");
    assert_null(strstr(json, "series/"));
    assert_null(strstr(json, "events/"));
    free(json);
    record_book_free(book);
}

static void test_report_json__odd_texts_and_numbers_stay_valid_json(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    record_meta_set(book, "quote\"\\", "line\nbreak \x01 \xff\xfe");
    record_summary_set(book, "inf", INFINITY, "1", "");
    record_summary_set(book, "huge", 1e300, "1", "");
    const struct record_column_spec spec = {"n", RECORD_I64, "1", "N."};
    record_append(record_table_add(book, "t", "T.", &spec, 1), INT64_MIN);
    char *json = json_of(book, true);
    assert_query(json, "$.summary.inf.value", "[null]");
    assert_query(json, "$.summary.huge.value", "[1.0000000000000001e+300]");
    assert_query(json, "$.tables.t.columns.n.values", "[[-9223372036854775808]]");
    free(json);
    record_book_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_json__holds_meta_summary_and_params),
        cmocka_unit_test(test_report_json__tables_are_columns_and_series_are_left_out),
        cmocka_unit_test(test_report_json__odd_texts_and_numbers_stay_valid_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
