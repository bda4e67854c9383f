/* Tests of sim/param_layers.c: layers of site groups, items of list groups, values by mask. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/params.h"
#include "tests/sim/params_fixture.h"
#include <string.h>

#define N_ROWS (int)G_N_ELEMENTS(fixture_rows)
#define FIXTURE_GROUP(name_, scope_)                                                                                     \
    {.name = name_, .doc = "All types.", .rows = fixture_rows, .n_rows = N_ROWS, .struct_size = sizeof(struct fixture_params), \
     .check = fixture_check, .scope = scope_}
static const struct param_group whole = FIXTURE_GROUP("whole", PARAM_SCOPE_RUN), site = FIXTURE_GROUP("site", PARAM_SCOPE_SITE),
                                list = FIXTURE_GROUP("list", PARAM_SCOPE_LIST);
static const struct param_group *const groups[] = {&whole, &site, &list};

static int new_bag(void **state)
{
    (void)fixture_group;
    *state = param_bag_new(groups, 3);
    return 0;
}

static int free_bag(void **state)
{
    param_bag_free(*state);
    return 0;
}

static void put(void **state, const char *section, const char *key, const char *text, const char *origin)
{
    g_autoptr(GError) err = NULL;
    if (!param_bag_set(*state, section, key, text, PARAM_BY_FILE, origin, &err))
        fail_msg("%s", err->message);
}

static const struct fixture_params *resolve(void **state, uint64_t mask)
{
    g_autoptr(GError) err = NULL;
    const void *values = param_bag_resolve(*state, "site", mask, &err);
    if (!values)
        fail_msg("%s", err->message);
    return values;
}

static void assert_message(const GError *err, int code, const char *message)
{
    assert_non_null(err);
    assert_string_equal(err->message, message);
    assert_true(g_error_matches(err, PARAM_ERROR, code));
}

static void assert_refused(void **state, const char *assignment, int code, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_false(param_bag_set_assignment(*state, assignment, PARAM_BY_COMMAND_LINE, "--set", &err));
    assert_message(err, code, message);
}

static void test_param_layers__later_layers_win_where_they_set_a_key(void **state)
{
    put(state, "site", "count", "1", "a:1");
    put(state, "site:leaf*", "count", "2", "a:2");
    put(state, "site:leaf*", "label", "two", "a:3");
    put(state, "site:leaf1", "count", "7", "a:4"); /* the default counts, too, where it is set */
    assert_int_equal(param_bag_n_layers(*state, "site"), 2);
    assert_int_equal(resolve(state, 0)->count, 1);
    assert_int_equal(resolve(state, 1)->count, 2);
    assert_int_equal(resolve(state, 2)->count, 7);
    assert_string_equal(resolve(state, 2)->label, "some text");
    assert_int_equal(resolve(state, 3)->count, 7);
    assert_string_equal(resolve(state, 3)->label, "two");
    assert_int_equal(((const struct fixture_params *)param_bag_get(*state, "site"))->count, 1);
}

static void test_param_layers__the_same_mask_gives_the_same_pointer(void **state)
{
    put(state, "site:leaf*", "count", "2", "a:2");
    const struct fixture_params *first = resolve(state, 1);
    assert_ptr_equal(resolve(state, 1), first);
    assert_ptr_not_equal(resolve(state, 0), first);
    put(state, "site", "label", "new", "a:5");
    assert_string_equal(resolve(state, 1)->label, "new");
}

static void test_param_layers__names_and_origins_are_kept(void **state)
{
    put(state, " site : leaf0/spine1 ", "count", "2", "a:2");
    put(state, "site:leaf0/spine1", "label", "x", "a:9");
    assert_true(param_bag_add_layer(*state, "site", "spine*", "b:1", NULL));
    assert_int_equal(param_bag_n_layers(*state, "site"), 2);
    assert_string_equal(param_bag_layer_name(*state, "site", 0), "leaf0/spine1");
    assert_string_equal(param_bag_layer_origin(*state, "site", 0), "a:2");
    assert_string_equal(param_bag_layer_origin(*state, "site", 1), "b:1");
    assert_string_equal(param_bag_layer_key_origin(*state, "site", 0, "label"), "a:9");
    assert_null(param_bag_layer_key_origin(*state, "site", 0, "room"));
    assert_string_equal(param_bag_origin(*state, "site:leaf0/spine1", "label"), "a:9");
    assert_int_equal(param_bag_set_by(*state, "site:leaf0/spine1", "label"), PARAM_BY_FILE);
    assert_int_equal(param_bag_set_by(*state, "site:leaf0/spine1", "room"), PARAM_BY_DEFAULT);
    assert_string_equal(param_bag_origin(*state, "site", "label"), "default");
}

static void test_param_layers__assignments_take_the_key_after_the_last_dot(void **state)
{
    assert_true(param_bag_set_assignment(*state, "site:tor.rack1/*.count=3", PARAM_BY_COMMAND_LINE, "--set", NULL));
    assert_string_equal(param_bag_layer_name(*state, "site", 0), "tor.rack1/*");
    assert_true(param_bag_set_assignment(*state, "list:flap.label=a.b=c", PARAM_BY_COMMAND_LINE, "--set", NULL));
    assert_string_equal(((const struct fixture_params *)param_bag_item(*state, "list", 0))->label, "a.b=c");
}

static void test_param_layers__items_start_from_the_defaults(void **state)
{
    put(state, "list:one", "count", "1", "a:1");
    put(state, "list:two", "label", "x", "a:2");
    assert_int_equal(param_bag_n_layers(*state, "list"), 2);
    const struct fixture_params *one = param_bag_item(*state, "list", 0), *two = param_bag_item(*state, "list", 1);
    assert_int_equal(one->count, 1);
    assert_string_equal(one->label, "some text");
    assert_int_equal(two->count, 7);
    assert_string_equal(two->label, "x");
    assert_null(param_bag_item(*state, "list", 2));
}

static void test_param_layers__sections_that_cannot_be_are_named(void **state)
{
    assert_refused(state, "sit:leaf1.count=1", PARAM_ERROR_UNKNOWN,
                   "--set: unknown group 'sit'; did you mean 'site'? Allowed: whole, site, list");
    assert_refused(state, "site: .count=1", PARAM_ERROR_SYNTAX,
                   "--set: [site:]: nothing stands after the colon; allowed: [site:selector]");
    assert_refused(state, "list:.count=1", PARAM_ERROR_SYNTAX, "--set: [list:]: nothing stands after the colon; allowed: [list:NAME]");
    assert_refused(state, "list.count=1", PARAM_ERROR_SYNTAX, "--set: [list] needs a name; allowed: [list:NAME]");
    assert_refused(state, "whole:leaf1.count=1", PARAM_ERROR_UNKNOWN,
                   "--set: [whole:leaf1]: [whole] holds for the whole run; groups that take a colon: site, list");
    assert_refused(state, "site:a>b.count=1", PARAM_ERROR_SYNTAX,
                   "--set: [site:selector]: 'a>b' cannot stand after the colon; allowed: up to 256 bytes of UTF-8 text without [ ] = >");
    assert_refused(state, "site:a\tb.count=1", PARAM_ERROR_SYNTAX,
                   "--set: [site:selector]: 'a\\x09b' cannot stand after the colon; allowed: up to 256 bytes of UTF-8 text without [ ] = >");
    g_autoptr(GError) err = NULL;
    assert_false(param_bag_add_layer(*state, "list", NULL, "a:4", &err));
    assert_message(err, PARAM_ERROR_SYNTAX, "a:4: [list] needs a name; allowed: [list:NAME]");
    assert_int_equal(param_bag_n_layers(*state, "site") + param_bag_n_layers(*state, "list"), 0);
}

static void test_param_layers__value_errors_name_the_layer(void **state)
{
    g_autoptr(GError) err = NULL;
    assert_false(param_bag_set(*state, "site:leaf1", "count", "10", PARAM_BY_FILE, "incast.ini:12", &err));
    assert_true(g_str_has_prefix(err->message, "incast.ini:12: [site:leaf1]: count: "));
    assert_true(g_error_matches(err, PARAM_ERROR, PARAM_ERROR_RANGE));
    assert_refused(state, "site:leaf1.cuont=1", PARAM_ERROR_UNKNOWN,
                   "--set: unknown key 'cuont' in [site]; did you mean 'count'? Allowed: period, room, speed, cable, count, gain, on, "
                   "mode, label, kmin, alpha");
}

static void test_param_layers__a_site_group_has_64_of_them_and_a_list_more(void **state)
{
    for (int i = 0; i < PARAM_MAX_LAYERS; i++) {
        g_autofree char *section = g_strdup_printf("site:leaf%d", i);
        put(state, section, "count", "2", "a:1");
    }
    assert_refused(state, "site:one.count=1", PARAM_ERROR_RANGE, "--set: [site:one]: more than 64 layers of [site]; allowed: up to 64");
    put(state, "site:leaf63", "count", "3", "a:2"); /* one that is there */
    assert_int_equal(resolve(state, UINT64_C(1) << 63)->count, 3);
    assert_int_equal(resolve(state, UINT64_C(1) << 62)->count, 2);
    for (int i = 0; i <= PARAM_MAX_LAYERS; i++) {
        g_autofree char *section = g_strdup_printf("list:item%d", i);
        put(state, section, "count", "2", "a:1");
    }
    assert_int_equal(param_bag_n_layers(*state, "list"), PARAM_MAX_LAYERS + 1);
}

static void assert_unresolved(void **state, uint64_t mask, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_null(param_bag_resolve(*state, "site", mask, &err));
    assert_message(err, PARAM_ERROR_CROSS, message);
}

static void test_param_layers__cross_checks_blame_the_topmost_layer_that_set_the_key(void **state)
{
    put(state, "site", "period", "1ns", "a:1");
    put(state, "site", "on", "no", "a:2");
    put(state, "site:leaf*", "period", "1ns", "a:4");
    put(state, "site:leaf1", "period", "1ns", "a:6");
    put(state, "site:leaf2", "on", "yes", "a:8");
    assert_non_null(resolve(state, 3));
    assert_unresolved(state, 5, "a:4: [site:leaf*]: period: with on = true allowed: 2ns or more");
    assert_unresolved(state, 7, "a:6: [site:leaf1]: period: with on = true allowed: 2ns or more");
    assert_unresolved(state, 4, "a:8: [site:leaf2]: period: with on = true allowed: 2ns or more"); /* no layer set it: this one broke it */
    put(state, "site", "on", "yes", "a:2");
    assert_unresolved(state, 0, "a:1: site.period: with on = true allowed: 2ns or more");
}

static void test_param_layers__check_covers_items(void **state)
{
    put(state, "list:good", "period", "1us", "a:1");
    assert_true(param_bag_check(*state, NULL));
    put(state, "list:bad", "on", "yes", "a:3");
    put(state, "list:bad", "period", "1ns", "a:4");
    g_autoptr(GError) err = NULL;
    assert_false(param_bag_check(*state, &err));
    assert_message(err, PARAM_ERROR_CROSS, "a:4: [list:bad]: period: with on = true allowed: 2ns or more");
}

static void test_param_layers__copies_have_layers_of_their_own(void **state)
{
    put(state, "site:leaf1", "label", "one", "a:1");
    put(state, "list:x", "label", "item", "a:2");
    resolve(state, 1);
    struct param_bag *copy = param_bag_copy(*state);
    assert_true(param_bag_set(copy, "site:leaf1", "label", "two", PARAM_BY_SWEEP, "sweep", NULL));
    assert_true(param_bag_set(copy, "list:y", "label", "more", PARAM_BY_SWEEP, "sweep", NULL));
    assert_string_equal(resolve(state, 1)->label, "one");
    assert_string_equal(param_bag_layer_key_origin(*state, "site", 0, "label"), "a:1");
    assert_int_equal(param_bag_n_layers(*state, "list"), 1);
    assert_string_equal(((const struct fixture_params *)param_bag_resolve(copy, "site", 1, NULL))->label, "two");
    assert_string_equal(((const struct fixture_params *)param_bag_item(copy, "list", 0))->label, "item");
    assert_int_equal(param_bag_n_layers(copy, "list"), 2);
    assert_string_equal(param_bag_layer_origin(copy, "list", 0), "a:2");
    param_bag_free(copy);
}

#define WITH_BAG(f) cmocka_unit_test_setup_teardown(f, new_bag, free_bag)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BAG(test_param_layers__later_layers_win_where_they_set_a_key),
        WITH_BAG(test_param_layers__the_same_mask_gives_the_same_pointer),
        WITH_BAG(test_param_layers__names_and_origins_are_kept),
        WITH_BAG(test_param_layers__assignments_take_the_key_after_the_last_dot),
        WITH_BAG(test_param_layers__items_start_from_the_defaults),
        WITH_BAG(test_param_layers__sections_that_cannot_be_are_named),
        WITH_BAG(test_param_layers__value_errors_name_the_layer),
        WITH_BAG(test_param_layers__a_site_group_has_64_of_them_and_a_list_more),
        WITH_BAG(test_param_layers__cross_checks_blame_the_topmost_layer_that_set_the_key),
        WITH_BAG(test_param_layers__check_covers_items),
        WITH_BAG(test_param_layers__copies_have_layers_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
