/* Tests of sim/param_bag.c: names, origins, copies, cross-checks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/params.h"
#include "tests/sim/params_fixture.h"
#include <string.h>

static const struct param_group plain_group = {.name = "plain",
                                               .doc = "No check.",
                                               .rows = fixture_rows,
                                               .n_rows = 2,
                                               .struct_size = sizeof(struct fixture_params)};
static const struct param_group *const groups[] = {&fixture_group, &plain_group};

static int new_bag(void **state)
{
    *state = param_bag_new(groups, 2);
    return 0;
}

static int free_bag(void **state)
{
    param_bag_free(*state);
    return 0;
}

static void test_param_bag__origin_follows_the_last_setting(void **state)
{
    assert_string_equal(param_bag_origin(*state, "plain", "room"), "default");
    assert_int_equal(param_bag_set_by(*state, "plain", "room"), PARAM_BY_DEFAULT);
    assert_true(param_bag_set(*state, "plain", "room", "1kB", PARAM_BY_FILE, "a.ini:3", NULL));
    assert_true(param_bag_set_assignment(*state, " plain.room = 2kB", PARAM_BY_COMMAND_LINE, "--set", NULL));
    assert_string_equal(param_bag_origin(*state, "plain", "room"), "--set");
    assert_int_equal(param_bag_set_by(*state, "plain", "room"), PARAM_BY_COMMAND_LINE);
    assert_int_equal(((const struct fixture_params *)param_bag_get(*state, "plain"))->room_bytes, 2000);
    assert_string_equal(param_bag_origin(*state, "fixture", "room"), "default");
}

static void assert_unknown(void **state, const char *assignment, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_false(param_bag_set_assignment(*state, assignment, PARAM_BY_COMMAND_LINE, "--set", &err));
    assert_true(g_error_matches(err, PARAM_ERROR, PARAM_ERROR_UNKNOWN));
    assert_string_equal(err->message, message);
}

static void test_param_bag__unknown_names_give_the_nearest(void **state)
{
    assert_unknown(state, "plian.room=1kB",
                   "--set: unknown group 'plian'; did you mean 'plain'? Allowed: fixture, plain");
    assert_unknown(state, "plain.roon=1kB",
                   "--set: unknown key 'roon' in [plain]; did you mean 'room'? Allowed: period, room");
    assert_unknown(state, "plain.=1kB", "--set: unknown key '' in [plain]; allowed: period, room");
}

static void test_param_bag__assignment_needs_its_shape(void **state)
{
    static const char *const bad[] = {"", "=", "plain", "plain.room", "plain=1kB", "room=1.5kB"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) err = NULL;
        assert_false(param_bag_set_assignment(*state, bad[i], PARAM_BY_COMMAND_LINE, "--set", &err));
        assert_true(g_error_matches(err, PARAM_ERROR, PARAM_ERROR_SYNTAX));
        assert_true(g_str_has_prefix(err->message, "--set: "));
    }
}

static void test_param_bag__value_may_hold_equals_and_dots(void **state)
{
    assert_true(param_bag_set_assignment(*state, "fixture.label=a.b=c", PARAM_BY_SWEEP, "sweep", NULL));
    assert_string_equal(((const struct fixture_params *)param_bag_get(*state, "fixture"))->label, "a.b=c");
}

static void test_param_bag__copy_is_independent(void **state)
{
    assert_true(param_bag_set(*state, "fixture", "label", "one", PARAM_BY_FILE, "a.ini:1", NULL));
    struct param_bag *copy = param_bag_copy(*state);
    assert_true(param_bag_set(copy, "fixture", "label", "two", PARAM_BY_SWEEP, "sweep", NULL));
    assert_string_equal(((const struct fixture_params *)param_bag_get(*state, "fixture"))->label, "one");
    assert_string_equal(param_bag_origin(*state, "fixture", "label"), "a.ini:1");
    assert_string_equal(((const struct fixture_params *)param_bag_get(copy, "fixture"))->label, "two");
    assert_int_equal(((const struct fixture_params *)param_bag_get(copy, "fixture"))->kmin.n, 2);
    param_bag_free(copy);
}

static void test_param_bag__cross_check_blames_the_origin(void **state)
{
    assert_true(param_bag_check(*state, NULL));
    assert_true(param_bag_set(*state, "fixture", "period", "1ns", PARAM_BY_FILE, "a.ini:7", NULL));
    g_autoptr(GError) err = NULL;
    assert_false(param_bag_check(*state, &err));
    assert_true(g_error_matches(err, PARAM_ERROR, PARAM_ERROR_CROSS));
    assert_string_equal(err->message, "a.ini:7: fixture.period: with on = true allowed: 2ns or more");
    assert_true(param_bag_set(*state, "fixture", "on", "no", PARAM_BY_COMMAND_LINE, "--set", NULL));
    assert_true(param_bag_check(*state, NULL));
}

static void test_param_bag__groups_are_listed_and_found(void **state)
{
    assert_int_equal(param_bag_n_groups(*state), 2);
    assert_ptr_equal(param_bag_group(*state, 1), &plain_group);
    assert_ptr_equal(param_bag_find(*state, "fixture"), &fixture_group);
    assert_null(param_bag_find(*state, "none"));
    assert_null(param_bag_get(*state, "none"));
    param_bag_free(NULL);
}

#define WITH_BAG(f) cmocka_unit_test_setup_teardown(f, new_bag, free_bag)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BAG(test_param_bag__origin_follows_the_last_setting),
        WITH_BAG(test_param_bag__unknown_names_give_the_nearest),
        WITH_BAG(test_param_bag__assignment_needs_its_shape),
        WITH_BAG(test_param_bag__value_may_hold_equals_and_dots),
        WITH_BAG(test_param_bag__copy_is_independent),
        WITH_BAG(test_param_bag__cross_check_blames_the_origin),
        WITH_BAG(test_param_bag__groups_are_listed_and_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
