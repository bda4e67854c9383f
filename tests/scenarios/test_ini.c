/* Tests of scenarios/ini.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "scenarios/ini.h"
#include <string.h>

static GPtrArray *scan(const char *text)
{
    g_autoptr(GError) err = NULL;
    GPtrArray *entries = ini_scan("f.ini", text, strlen(text), &err);
    if (!entries)
        fail_msg("%s", err->message);
    return entries;
}

static void assert_entry(const GPtrArray *entries, guint i, int line, const char *group, const char *key,
                         const char *value)
{
    assert_true(i < entries->len);
    const struct ini_entry *entry = entries->pdata[i];
    assert_int_equal(entry->line, line);
    assert_string_equal(entry->group, group);
    if (!key) {
        assert_null(entry->key);
        assert_null(entry->value);
        return;
    }
    assert_string_equal(entry->key, key);
    assert_string_equal(entry->value, value);
}

static void test_ini__entries_keep_their_lines(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) e =
        scan("# head\ninclude = a\n\n [ pfc ] # note\r\n  quanta=\t5 # why\nempty =\nlast = a = b#c");
    assert_int_equal(e->len, 5);
    assert_entry(e, 0, 2, "", "include", "a");
    assert_entry(e, 1, 4, "pfc", NULL, NULL);
    assert_entry(e, 2, 5, "pfc", "quanta", "5");
    assert_entry(e, 3, 6, "pfc", "empty", "");
    assert_entry(e, 4, 7, "pfc", "last", "a = b#c");
}

static void test_ini__byte_order_mark_and_empty_files(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) mark = scan("\xef\xbb\xbf[pfc]\n");
    assert_entry(mark, 0, 1, "pfc", NULL, NULL);
    g_autoptr(GPtrArray) empty = scan("");
    assert_int_equal(empty->len, 0);
    g_autoptr(GPtrArray) blank = scan("\n\r\n  \t\n# only");
    assert_int_equal(blank->len, 0);
}

static void assert_refused(const char *data, gsize n, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_null(ini_scan("f.ini", data, n, &err));
    assert_true(g_error_matches(err, SCENARIO_ERROR, SCENARIO_ERROR_SYNTAX));
    assert_string_equal(err->message, message);
}

static void test_ini__wrong_lines_are_named(void **state)
{
    (void)state;
#define FORMS "; allowed: [group], key = value, # comment"
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"\nquanta 5\n", "f.ini:2: 'quanta 5' has no '='" FORMS},
        {"= 5\n", "f.ini:1: '= 5' has no key before '='" FORMS},
        {"[pfc\n", "f.ini:1: '[pfc' does not end with ']'" FORMS},
        {"[pfc] x\n", "f.ini:1: '[pfc] x' does not end with ']'" FORMS},
        {"[]\n", "f.ini:1: [] names no group" FORMS},
        {"[a][b]\n", "f.ini:1: '[a][b]' holds more than one group" FORMS},
        {"[\n", "f.ini:1: '[' does not end with ']'" FORMS},
        {"a = 1\n\xff = 2\n", "f.ini:2: line is not valid UTF-8; allowed: UTF-8 text"},
    };
#undef FORMS
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_refused(rows[i].text, strlen(rows[i].text), rows[i].message);
    assert_refused("a = 1\nb = \0", 11, "f.ini:2: line holds a NUL byte; allowed: UTF-8 text");
}

static void test_ini__line_length_has_a_limit(void **state)
{
    (void)state;
    g_autofree char *fill = g_strnfill(INI_MAX_LINE, 'x');
    memcpy(fill, "key=", 4);
    g_autoptr(GPtrArray) longest = scan(fill);
    assert_int_equal(longest->len, 1);
    g_autofree char *over = g_strconcat(fill, "x", NULL);
    assert_refused(over, strlen(over), "f.ini:1: line of 65537 bytes; allowed: up to 65536");
}

static void test_ini__random_bytes_give_entries_or_an_error(void **state)
{
    (void)state;
    static const char alphabet[] = "[]=#ab \n\n\r\t.\xc3\xa9\xff";
    g_autoptr(GRand) rand = g_rand_new_with_seed(12);
    for (int i = 0; i < 50000; i++) {
        char data[40];
        gsize n = (gsize)g_rand_int_range(rand, 0, (int)sizeof data);
        for (gsize c = 0; c < n; c++)
            data[c] = alphabet[g_rand_int_range(rand, 0, (int)sizeof alphabet)]; /* with the NUL */
        g_autofree char *exact = g_memdup2(data, n); /* so that a sanitizer sees reads past the end */
        g_autoptr(GError) err = NULL;
        g_autoptr(GPtrArray) entries = ini_scan("f.ini", exact ? exact : "", n, &err);
        assert_true((entries == NULL) == (err != NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ini__entries_keep_their_lines),
        cmocka_unit_test(test_ini__byte_order_mark_and_empty_files),
        cmocka_unit_test(test_ini__wrong_lines_are_named),
        cmocka_unit_test(test_ini__line_length_has_a_limit),
        cmocka_unit_test(test_ini__random_bytes_give_entries_or_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
