/* Tests of scenarios/run_params.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "scenarios/run_params.h"

static void test_run_params__defaults(void **state)
{
    (void)state;
    static const struct param_group *const groups[] = {&run_param_group};
    struct param_bag *bag = param_bag_new(groups, 1);
    const struct run_params *run = param_bag_get(bag, "run");
    assert_int_equal(run->seed, 1);
    assert_int_equal(run->until_ps, 0);
    assert_int_equal(run->threads, 0);
    assert_int_equal(run->series_grain_ps, 0);
    assert_true(run->record_flows && run->record_events && run->progress);
    assert_int_equal(run->deadlock_after_ps, 10 * UNIT_MS);
    assert_int_equal(run->data_class, 3);
    param_bag_free(bag);
}

static void test_run_params__seed_has_32_bits(void **state)
{
    (void)state;
    static const struct param_group *const groups[] = {&run_param_group};
    struct param_bag *bag = param_bag_new(groups, 1);
    assert_true(param_bag_set(bag, "run", "seed", "2147483648", PARAM_BY_FILE, "t", NULL));
    assert_false(param_bag_set(bag, "run", "seed", "2147483649", PARAM_BY_FILE, "t", NULL));
    assert_false(param_bag_set(bag, "run", "seed", "-1", PARAM_BY_FILE, "t", NULL));
    param_bag_free(bag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_params__defaults),
        cmocka_unit_test(test_run_params__seed_has_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
