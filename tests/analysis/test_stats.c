/* test_stats.c - nearest-rank percentiles, means, Jain, CDFs against hand counts. */
#include "analysis/stats.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_stats__percentile_is_nearest_rank(void **state)
{
    (void)state;
    const int64_t five[] = {50, 15, 40, 20, 35};             /* sorted 15 20 35 40 50 */
    assert_int_equal(stats_percentile_i64(five, 5, 5), 15);  /* rank ceil(0.25) = 1 */
    assert_int_equal(stats_percentile_i64(five, 5, 30), 20); /* ceil(1.5) = 2 */
    assert_int_equal(stats_percentile_i64(five, 5, 40), 20); /* ceil(2.0) = 2 */
    assert_int_equal(stats_percentile_i64(five, 5, 50), 35); /* ceil(2.5) = 3 */
    assert_int_equal(stats_percentile_i64(five, 5, 100), 50);
    assert_int_equal(stats_percentile_i64(five, 5, 0), 15);
    assert_int_equal(five[0], 50); /* the input is left as it is */
}

static void test_stats__percentile_of_whole_percents_is_exact(void **state)
{
    (void)state;
    int64_t values[1000];
    for (int64_t i = 0; i < 1000; i++)
        values[i] = i + 1;
    for (int p = 1; p <= 100; p++) { /* the k-th of 100 and 1000 for every whole percent */
        assert_int_equal(stats_percentile_sorted_i64(values, 100, p), p);
        assert_int_equal(stats_percentile_sorted_i64(values, 1000, p), p * 10);
    }
    assert_int_equal(stats_percentile_sorted_i64(values, 1000, 99.9), 999);
}

static void test_stats__nothing_has_stated_results(void **state)
{
    (void)state;
    struct stats_cdf_point points[2];
    assert_int_equal(stats_percentile_i64(NULL, 0, 50), 0);
    assert_true(stats_mean_i64(NULL, 0) == 0.0);
    assert_true(stats_jain(NULL, 0) == 1.0);
    assert_int_equal(stats_cdf_sorted_i64(NULL, 0, points, 2), 0);
}

static void test_stats__mean_does_not_overflow(void **state)
{
    (void)state;
    const int64_t large[] = {INT64_MAX, INT64_MAX, INT64_MAX};
    assert_true(stats_mean_i64(large, 3) == (double)INT64_MAX);
    const int64_t small[] = {-3, 4};
    assert_true(stats_mean_i64(small, 2) == 0.5);
}

static void test_stats__jain_is_one_when_equal_and_one_over_n_when_alone(void **state)
{
    (void)state;
    const double equal[] = {3, 3, 3, 3}, alone[] = {0, 0, 8, 0}, zero[] = {0, 0}, two[] = {1, 3};
    assert_true(stats_jain(equal, 4) == 1.0);
    assert_true(stats_jain(alone, 4) == 0.25);
    assert_true(stats_jain(zero, 2) == 1.0);
    assert_true(stats_jain(two, 2) == 0.8); /* 16 / (2 x 10) */
}

static void test_stats__cdf_steps_at_distinct_values(void **state)
{
    (void)state;
    const int64_t sorted[] = {1, 1, 1, 2, 5, 5, 9, 9};
    struct stats_cdf_point points[8];
    assert_int_equal(stats_cdf_sorted_i64(sorted, 8, points, 8), 4);
    const struct stats_cdf_point expected[] = {{1, 0.375}, {2, 0.5}, {5, 0.75}, {9, 1.0}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(points[i].value, expected[i].value);
        assert_true(points[i].share == expected[i].share);
    }
    const int64_t one[] = {7};
    assert_int_equal(stats_cdf_sorted_i64(one, 1, points, 8), 1);
    assert_true(points[0].share == 1.0);
}

static void test_stats__cdf_thins_but_keeps_both_ends(void **state)
{
    (void)state;
    int64_t values[10000];
    for (int64_t i = 0; i < 10000; i++)
        values[i] = i * 3;
    struct stats_cdf_point points[50];
    int64_t n = stats_cdf_sorted_i64(values, 10000, points, 50);
    assert_int_equal(n, 50);
    assert_int_equal(points[0].value, 0);
    assert_int_equal(points[49].value, 29997);
    assert_true(points[49].share == 1.0);
    for (int64_t i = 0; i < n; i++) /* every point lies on the true distribution */
        assert_true(points[i].share == (double)(points[i].value / 3 + 1) / 10000.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stats__percentile_is_nearest_rank),
        cmocka_unit_test(test_stats__percentile_of_whole_percents_is_exact),
        cmocka_unit_test(test_stats__nothing_has_stated_results),
        cmocka_unit_test(test_stats__mean_does_not_overflow),
        cmocka_unit_test(test_stats__jain_is_one_when_equal_and_one_over_n_when_alone),
        cmocka_unit_test(test_stats__cdf_steps_at_distinct_values),
        cmocka_unit_test(test_stats__cdf_thins_but_keeps_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
