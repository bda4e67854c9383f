/* test_ecn.c - the marking line of ecn.h: its ends, the step, and its mean by counting. */
#include "models/ecn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define KMIN 100000u
#define KMAX 400000u

static bool marks(uint64_t seed, uint32_t port, uint64_t *n, uint32_t q_bytes, uint32_t kmin, uint32_t kmax, uint64_t pmax_fraction)
{
    const struct queue_rule rule = {.kmin = kmin, .kmax = kmax, .pmax_fraction = pmax_fraction};
    return ecn_marks(seed, port, n, q_bytes, &rule);
}

static uint32_t marks_of(uint32_t n, uint32_t q_bytes, uint32_t kmin, uint32_t kmax, double pmax)
{
    uint64_t draws = 0;
    uint32_t marked = 0;
    for (uint32_t i = 0; i < n; i++)
        marked += marks(1, 5, &draws, q_bytes, kmin, kmax, ecn_fraction(pmax));
    return marked;
}

static void test_ecn__ends_of_the_line(void **state)
{
    (void)state;
    assert_int_equal(marks_of(1000, KMIN, KMIN, KMAX, 1), 0);
    assert_int_equal(marks_of(1000, KMAX + 1, KMIN, KMAX, 0), 1000); /* above kmax Pmax no longer matters */
    assert_int_equal(marks_of(1000, KMAX, KMIN, KMAX, 1), 1000);
    assert_int_equal(marks_of(1000, KMAX, KMIN, KMAX, 0), 0);
}

static void test_ecn__equal_thresholds_are_a_step(void **state)
{
    (void)state;
    for (double pmax = 0; pmax <= 1; pmax += 0.25)
        assert_int_equal(marks_of(100, KMIN + 1, KMIN, KMIN, pmax), 100);
}

/* Share of marked packets within 5 sigma of Pmax (q - kmin) / (kmax - kmin). */
static void test_ecn__mean_follows_the_line(void **state)
{
    (void)state;
    enum { N = 40000 };
    static const double pmaxes[] = {1, 0.2, 0.01};
    for (gsize i = 0; i < G_N_ELEMENTS(pmaxes); i++)
        for (uint32_t q = KMIN; q <= KMAX; q += (KMAX - KMIN) / 10) {
            double p = pmaxes[i] * (q - KMIN) / (KMAX - KMIN), sigma = sqrt(N * p * (1 - p));
            assert_true(fabs(marks_of(N, q, KMIN, KMAX, pmaxes[i]) - N * p) <= 5 * sigma + 1e-6);
        }
}

static void test_ecn__draws_are_counted_and_belong_to_the_port(void **state)
{
    (void)state;
    uint64_t n = 0, m = 0;
    uint32_t differ = 0;
    for (int i = 0; i < 1000; i++)
        differ += marks(1, 5, &n, 250000, KMIN, KMAX, ecn_fraction(1)) !=
                  marks(1, 6, &m, 250000, KMIN, KMAX, ecn_fraction(1));
    assert_int_equal(n, 1000);
    assert_true(differ > 400 && differ < 600); /* p = 1/2 each: half of them, within 6 sigma */
    marks(1, 5, &n, KMAX + 1, KMIN, KMAX, 0);
    assert_int_equal(n, 1000); /* certain marks cost no draw */
}

static void test_ecn__fraction_covers_its_range(void **state)
{
    (void)state;
    assert_true(ecn_fraction(0) == 0);
    assert_true(ecn_fraction(0.5) == UINT64_C(1) << 63);
    assert_true(ecn_fraction(1) == UINT64_MAX);
    /* Largest queues that a port can have: nothing overflows. */
    assert_int_equal(marks_of(100, UINT32_MAX - 1, 0, UINT32_MAX, 1), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ecn__ends_of_the_line),      cmocka_unit_test(test_ecn__equal_thresholds_are_a_step),
        cmocka_unit_test(test_ecn__mean_follows_the_line), cmocka_unit_test(test_ecn__draws_are_counted_and_belong_to_the_port),
        cmocka_unit_test(test_ecn__fraction_covers_its_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
