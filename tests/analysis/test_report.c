/* test_report.c - the text report says what the book holds, and nothing else. */
#include "analysis/report.h"
#include "analysis/fake_book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *text_of(const struct record_book *book)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    report_text(book, out);
    fclose(out);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

/* Blanks are squeezed, so that the tests state words and not widths. */
static char *squeezed(const struct record_book *book)
{
    char *text = text_of(book), *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || (to > text && to[-1] != ' ' && to[-1] != '\n'))
            *to++ = *from;
    *to = 0;
    return text;
}

static void test_report__every_section_of_a_full_book(void **state)
{
    (void)state;
    struct record_book *book = fake_book_new();
    char *text = squeezed(book);
    assert_has(text, "scenario incast40.ini\n");
    assert_has(text, "digest 0x1f2e3d4c5b6a7988\n");
    assert_has(text, "! flow 39 is unfinished\n");
    /* 1.4629e12 bit/s is 182.86 GB/s, 2.743e12 is 342.88 */
    assert_has(text, "grad_allreduce_0 all_reduce ring 16 256.0 MB 1.40 ms 182.86 342.88 1.23 ms 1.138\n");
    assert_has(text, "tail_allgather all_gather ring 16 64.0 MB unfinished - - 300.0 us -\n");
    assert_has(text, "39 of 40 flows done\n");
    assert_has(text, "unfinished: flow 39 from host 40 to 0\n");
    assert_has(text, "ECN marks 8123\n");
    assert_has(text, "PFC pauses 96 frames, ports paused for 1.90 ms in sum\n");
    assert_has(text, "drops 3 packets, 3 in class 3\n");
    assert_has(text, "largest queue 407.0 kB at leaf1:3 -> spine0\n"); /* port 7: 11 x 37 kB */
    assert_has(text, "headroom peak 61.0 kB at leaf1:3 <- spine0\n");
    assert_has(text, "3 40000 39985 3 4 8 168.0 MB 167.9 MB 12.6 kB\n");
    assert_has(text, "Busiest links (5 of 12)\n");
    assert_has(text, "leaf1:3 -> spine0 400.0 Gb/s 95.7 % 550.0 us 407.0 kB\n");
    assert_has(text, "speed 102.0 ns a packet-hop\n");
    free(text);
    record_book_free(book);
}

static void test_report__completion_times_come_from_finished_flows(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    const struct record_column_spec specs[] = {{"flow", RECORD_I64, "1", "F."},
                                               {"done", RECORD_I64, "1", "D."},
                                               {"fct_rx_ps", RECORD_I64, "ps", "R."}};
    struct record_table *flows = record_table_add(book, "flows", "Flows.", specs, 3);
    for (int64_t i = 1; i <= 4; i++)
        record_append(flows, i, INT64_C(1), i * UNIT_US);
    record_append(flows, INT64_C(5), INT64_C(0), INT64_C(-1));
    char *text = squeezed(book);
    assert_has(text, "4 of 5 flows done\n");
    assert_has(text, "last byte received 2.50 us 2.00 us 4.00 us 4.00 us\n");
    assert_null(strstr(text, "acknowledged"));
    free(text);
    record_book_free(book);
}

static void test_report__completion_times_fall_back_to_the_summary(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    record_summary_set(book, "flows_total", 9, "1", "");
    record_summary_set(book, "flows_done", 9, "1", "");
    record_summary_set(book, "fct_ack_mean_ps", 5e6, "ps", "");
    char *text = squeezed(book);
    assert_has(text, "last byte acknowledged 5.00 us - - -\n");
    free(text);
    record_book_free(book);
}

static void test_report__an_empty_book_has_no_sections(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    char *text = text_of(book);
    assert_string_equal(text, "Run\n");
    free(text);
    record_book_free(book);
}

static void test_report__many_collectives_are_ranked_by_ratio(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    const struct record_column_spec specs[] = {{"name", RECORD_TEXT, "name", "N."},
                                               {"time_ps", RECORD_I64, "ps", "T."},
                                               {"ratio", RECORD_F64, "1", "R."}};
    struct record_table *table = record_table_add(book, "collectives", "C.", specs, 3);
    for (int i = 0; i < 50; i++) {
        g_autofree char *name = g_strdup_printf("c%02d.", i);
        record_append(table, name, (int64_t)(i == 7 ? -1 : 1000), i == 7 ? NAN : 1.0 + 0.01 * i);
    }
    char *text = text_of(book);
    assert_has(text, "20 of 50");
    assert_true(strstr(text, "c07.") < strstr(text, "c49."));
    assert_true(strstr(text, "c49.") < strstr(text, "c48."));
    assert_null(strstr(text, "c30."));
    free(text);
    record_book_free(book);
}

/* Every table that the report knows, with every column it looks for in TYPE, and one row. */
static struct record_book *uniform_book(enum record_type type)
{
    static const char *const paths[] = {"flows", "collectives", "ports", "ledger"};
    static const char *const names[] = {
        "flow",  "src",          "dst",      "done",      "fct_rx_ps", "name",       "op",       "ranks",
        "bytes", "time_ps",      "ratio",    "node",      "peer",      "port",       "rate_bps", "paused_ps",
        "class", "dropped_pkts", "bound_ps", "busbw_bps", "sent_pkts", "utilisation"};
    static const int64_t whole[] = {INT64_MIN};
    static const double real[] = {NAN};
    static const char *const text[] = {"\x1b[2J"};
    const void *const cells[] = {whole, real, text};
    struct record_column_spec specs[G_N_ELEMENTS(names)];
    const void *columns[G_N_ELEMENTS(names)];
    for (gsize c = 0; c < G_N_ELEMENTS(names); c++) {
        specs[c] = (struct record_column_spec){names[c], type, "1", "X."};
        columns[c] = cells[type];
    }
    struct record_book *book = record_book_new();
    for (gsize p = 0; p < G_N_ELEMENTS(paths); p++)
        record_append_columns(record_table_add(book, paths[p], "X.", specs, G_N_ELEMENTS(names)), 1, columns);
    return book;
}

static void test_report__columns_of_other_types_do_not_crash(void **state)
{
    (void)state;
    for (int type = RECORD_I64; type <= RECORD_TEXT; type++) {
        struct record_book *book = uniform_book((enum record_type)type);
        char *text = text_of(book);
        assert_has(text, "Collectives\n");
        assert_null(strchr(text, '\x1b')); /* names cannot steer the terminal */
        free(text);
        record_book_free(book);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report__every_section_of_a_full_book),
        cmocka_unit_test(test_report__completion_times_come_from_finished_flows),
        cmocka_unit_test(test_report__completion_times_fall_back_to_the_summary),
        cmocka_unit_test(test_report__an_empty_book_has_no_sections),
        cmocka_unit_test(test_report__many_collectives_are_ranked_by_ratio),
        cmocka_unit_test(test_report__columns_of_other_types_do_not_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
