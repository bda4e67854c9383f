/* Tests of scenarios/catalogue.c, and that every shipped entry is a valid scenario part. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "scenarios/catalogue.h"
#include "scenarios/scenario.h"
#include <string.h>

#define DATA TEST_DATA_DIR "/scenario"

static int use_test_catalogue(void **state)
{
    (void)state;
    g_setenv("FABRICAST_CATALOGUE", DATA "/catalogue", TRUE);
    return 0;
}

static int use_shipped_catalogue(void **state)
{
    (void)state;
    g_unsetenv("FABRICAST_CATALOGUE");
    return 0;
}

static const struct catalogue_entry *entry_named(const GPtrArray *entries, const char *name)
{
    for (guint i = 0; i < entries->len; i++) {
        const struct catalogue_entry *entry = entries->pdata[i];
        if (strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

static void test_catalogue__entries_are_sorted_and_titled(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) entries = catalogue_list();
    const struct catalogue_entry *fast = entry_named(entries, "nic/fast"),
                                 *untitled = entry_named(entries, "nic/untitled");
    assert_non_null(fast);
    assert_string_equal(fast->title, "A NIC of the tests: 2 KiB path MTU");
    assert_string_equal(fast->path, DATA "/catalogue/nic/fast.ini");
    assert_non_null(untitled);
    assert_string_equal(untitled->title, "");
    assert_null(entry_named(entries, "nic/readme.txt"));
    for (guint i = 1; i < entries->len; i++)
        assert_true(strcmp(((struct catalogue_entry *)entries->pdata[i - 1])->name,
                           ((struct catalogue_entry *)entries->pdata[i])->name) < 0);
}

static void test_catalogue__find_looks_beside_the_file_first(void **state)
{
    (void)state;
    g_autofree char *beside = catalogue_find("fast.ini", DATA "/catalogue/nic");
    assert_string_equal(beside, DATA "/catalogue/nic/fast.ini");
    g_autofree char *entry = catalogue_find("nic/fast", DATA);
    assert_string_equal(entry, DATA "/catalogue/nic/fast.ini");
    g_autofree char *absolute = catalogue_find(DATA "/base", "/");
    assert_string_equal(absolute, DATA "/base.ini");
    assert_null(catalogue_find("nic", DATA));
    assert_null(catalogue_find("/no/such/entry", DATA));
}

static void test_catalogue__hint_names_the_nearest(void **state)
{
    (void)state;
    g_autofree char *near = catalogue_hint("nic/fsat", ".");
    assert_true(g_str_has_prefix(near, "; did you mean 'nic/fast'? looked in: ., " DATA "/catalogue, "));
    g_autofree char *far = catalogue_hint("qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq", ".");
    assert_true(g_str_has_prefix(far, "; looked in: ., "));
}

static void test_catalogue__every_shipped_entry_loads(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) entries = catalogue_list();
    for (guint i = 0; i < entries->len; i++) {
        const struct catalogue_entry *entry = entries->pdata[i];
        g_autoptr(GError) err = NULL;
        struct scenario *scenario = scenario_load(entry->path, &err);
        if (!scenario || !scenario_check(scenario, &err))
            fail_msg("%s: %s", entry->name, err->message);
        if (*entry->title == '\0')
            fail_msg("%s: no comment line that says what it is", entry->name);
        scenario_free(scenario);
    }
    print_message("%u catalogue entries\n", entries->len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_catalogue__entries_are_sorted_and_titled, use_test_catalogue),
        cmocka_unit_test_setup(test_catalogue__find_looks_beside_the_file_first, use_test_catalogue),
        cmocka_unit_test_setup(test_catalogue__hint_names_the_nearest, use_test_catalogue),
        cmocka_unit_test_setup(test_catalogue__every_shipped_entry_loads, use_shipped_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
