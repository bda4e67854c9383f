/* Tests of sim/message.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/message.h"
#include <glib.h>
#include <string.h>

static void test_message__distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(message_distance("", ""), 0);
    assert_int_equal(message_distance("", "abc"), 3);
    assert_int_equal(message_distance("abc", ""), 3);
    assert_int_equal(message_distance("kitten", "sitting"), 3);
    assert_int_equal(message_distance("kmax", "kamx"), 1);
    assert_int_equal(message_distance("dcqn", "dcqcn"), 1);
}

static void test_message__nearest_is_the_least_distance(void **state)
{
    (void)state;
    static const char *const names[] = {"pfc", "ecn", "dcqcn", "nic"};
    assert_string_equal(message_nearest("dcqn", names, 4), "dcqcn");
    assert_string_equal(message_nearest("ncn", names, 4), "ecn");
    assert_string_equal(message_nearest("pfc", names, 4), "pfc");
}

static void test_message__nearest_of_something_else_is_null(void **state)
{
    (void)state;
    static const char *const names[] = {"pfc", "ecn"};
    assert_null(message_nearest("bandwidth", names, 2));
    assert_null(message_nearest("pfc", names, 0));
}

static void test_message__huge_name_is_compared_by_its_start(void **state)
{
    (void)state;
    static const char *const names[] = {"pfc", "ecn"};
    g_autofree char *huge = g_strnfill(10 * 1000 * 1000, 'x');
    assert_null(message_nearest(huge, names, 2));
    g_autofree char *quoted = message_quote(huge);
    assert_int_equal(strlen(quoted), 60 + 5);
}

static void test_message__quote_escapes(void **state)
{
    (void)state;
    g_autofree char *a = message_quote("  a\tb\x01 ");
    assert_string_equal(a, "'a\\x09b\\x01'");
    g_autofree char *b = message_quote("\xff\xfe");
    assert_true(g_utf8_validate(b, -1, NULL));
    g_autofree char *c = message_quote("");
    assert_string_equal(c, "''");
}

static void test_message__allowed_lists_everything(void **state)
{
    (void)state;
    static const char *const names[] = {"pfc", "ecn"};
    g_autofree char *near = message_allowed("pcf", names, 2);
    assert_string_equal(near, "; did you mean 'pfc'? Allowed: pfc, ecn");
    g_autofree char *far = message_allowed("bandwidth", names, 2);
    assert_string_equal(far, "; allowed: pfc, ecn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message__distance_counts_edits),
        cmocka_unit_test(test_message__nearest_is_the_least_distance),
        cmocka_unit_test(test_message__nearest_of_something_else_is_null),
        cmocka_unit_test(test_message__huge_name_is_compared_by_its_start),
        cmocka_unit_test(test_message__quote_escapes),
        cmocka_unit_test(test_message__allowed_lists_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
