/* test_report_flows.c - a row a flow, unfinished ones told, other types and missing columns survived. */
#include "analysis/report.h"
#include "analysis/fake_book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Blanks are squeezed, so that the tests state words and not widths. */
static char *squeezed(const struct record_book *book)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    report_flows(book, out);
    fclose(out);
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || (to > text && to[-1] != ' ' && to[-1] != '\n'))
            *to++ = *from;
    *to = 0;
    return text;
}

static void test_report_flows__a_row_a_flow(void **state)
{
    (void)state;
    struct record_book *book = fake_book_new();
    char *text = squeezed(book);
    assert_non_null(strstr(text, "Flows (40)\n"));
    /* 4 MB in 1.2 ms are 26.7 Gb/s; 1200 / 85 = 14.12 */
    assert_non_null(strstr(text, "\n0 1 -> 0 3 4.00 MB 1.20 ms 26.7 Gb/s 14.12 1.20 ms 0\n"));
    assert_non_null(strstr(text, "\n39 40 -> 0 3 4.00 MB unfinished - - unfinished 0\n"));
    free(text);
    record_book_free(book);
}

static void test_report_flows__what_is_missing_is_left_out(void **state)
{
    (void)state;
    struct record_book *book = record_book_new();
    char *text = squeezed(book);
    assert_string_equal(text, "\nFlows (0)\n");
    free(text);
    const struct record_column_spec specs[] = {{"flow", RECORD_I64, "1", "F."}, {"fct_rx_ps", RECORD_TEXT, "name", "R."}};
    struct record_table *flows = record_table_add(book, "flows", "Flows.", specs, 2);
    record_append(flows, INT64_C(7), "soon");
    text = squeezed(book);
    assert_non_null(strstr(text, "\n7 "));
    free(text);
    record_book_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_flows__a_row_a_flow),
        cmocka_unit_test(test_report_flows__what_is_missing_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
