/* test_text_table.c - alignment, and names that would steer a terminal. */
#include "analysis/text_table.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static char *printed(const struct text_table *table, int indent)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    text_table_print(table, indent, out);
    fclose(out);
    return text;
}

static void test_text_table__columns_align(void **state)
{
    (void)state;
    struct text_table *table = text_table_new((const char *const[]){"name", "size"}, "lr");
    text_table_add(table, "a");
    text_table_addf(table, "%d", 12345);
    text_table_take(table, g_strdup("gr\xc3\xbc\xc3\x9f"
                                    "e"));
    text_table_add(table, "7");
    char *text = printed(table, 1);
    assert_string_equal(text, " name    size\n"
                              " a      12345\n"
                              " gr\xc3\xbc\xc3\x9f"
                              "e      7\n");
    free(text);
    text_table_free(table);
    text_table_free(NULL);
}

static void test_text_table__a_last_text_column_has_no_trailing_blanks(void **state)
{
    (void)state;
    struct text_table *table = text_table_new((const char *const[]){"n", "where"}, "rl");
    text_table_add(table, "1");
    text_table_add(table, "x");
    char *text = printed(table, 0);
    assert_string_equal(text, "n  where\n1  x\n");
    free(text);
    text_table_free(table);
}

static void test_text_table__control_characters_are_replaced(void **state)
{
    (void)state;
    g_autofree char *clean = text_table_clean("\x1b[31mred\n\xff");
    assert_string_equal(clean, "?[31mred?\xef\xbf\xbd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_table__columns_align),
        cmocka_unit_test(test_text_table__a_last_text_column_has_no_trailing_blanks),
        cmocka_unit_test(test_text_table__control_characters_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
