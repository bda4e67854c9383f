/* test_rng.c - sim/rng.h: pure, streams apart from each other, uniform within 5 sigma. */
#include "sim/rng.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define N_DRAWS 100000

static void test_rng__draw_is_a_pure_function(void **state)
{
    (void)state;
    uint64_t forwards[64];
    for (uint32_t i = 0; i < 64; i++)
        forwards[i] = sim_rng(5, i % 4, SIM_RNG_ECN, i);
    for (uint32_t i = 64; i-- > 0;)
        assert_int_equal(sim_rng(5, i % 4, SIM_RNG_ECN, i), forwards[i]);
}

/* No value of one stream appears in another: 64-bit draws of different keys never met in so few. */
static void test_rng__streams_differ(void **state)
{
    (void)state;
    static const struct { uint64_t seed; uint32_t entity; enum sim_rng_purpose purpose; } streams[] = {
        {1, 0, SIM_RNG_ECN}, {2, 0, SIM_RNG_ECN},   {1, 1, SIM_RNG_ECN},   {1, 0, SIM_RNG_ECMP},
        {1, 0, SIM_RNG_SPORT}, {1, 0, SIM_RNG_START}, {1, 256, SIM_RNG_ECN}, {1, UINT32_MAX, SIM_RNG_ECN},
    };
    g_autoptr(GHashTable) seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (gsize s = 0; s < G_N_ELEMENTS(streams); s++)
        for (uint64_t n = 0; n < 2000; n++)
            assert_true(g_hash_table_add(
                seen, GSIZE_TO_POINTER(sim_rng(streams[s].seed, streams[s].entity, streams[s].purpose, n))));
}

static void test_rng__mix_is_a_bijection_on_a_sample(void **state)
{
    (void)state;
    g_autoptr(GHashTable) seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (uint64_t x = 0; x < N_DRAWS; x++)
        assert_true(g_hash_table_add(seen, GSIZE_TO_POINTER(sim_mix64(x << 20 | x))));
}

/* Mean 1/2 with sigma 1/sqrt(12 n); each tenth holds n/10 with sigma sqrt(n 0.09). */
static void assert_uniform(uint64_t seed, uint32_t first_entity, uint32_t n_entities)
{
    double sum = 0;
    int tenth[10] = {0};
    for (uint32_t i = 0; i < N_DRAWS; i++) {
        double u = sim_rng_unit(seed, first_entity + i % n_entities, SIM_RNG_ECN, i / n_entities);
        assert_true(u >= 0 && u < 1);
        sum += u;
        tenth[(int)(u * 10)]++;
    }
    assert_true(fabs(sum / N_DRAWS - 0.5) < 5 / sqrt(12.0 * N_DRAWS));
    for (int k = 0; k < 10; k++)
        assert_true(fabs(tenth[k] - N_DRAWS / 10.0) < 5 * sqrt(N_DRAWS * 0.09));
}

static void test_rng__draws_are_uniform(void **state)
{
    (void)state;
    assert_uniform(1, 0, 1);
    assert_uniform(0, 0, 1);
    assert_uniform(UINT64_MAX, 7, 1);
}

/* The first draws of neighbouring entities: what ECN at many ports sees. */
static void test_rng__entities_are_uniform_together(void **state)
{
    (void)state;
    assert_uniform(1, 0, N_DRAWS);
    assert_uniform(42, 1000, 1000);
}

/* Correlation of neighbouring draws and of neighbouring seeds: 0 with sigma 1/(12 sqrt(n)). */
static void test_rng__neighbours_do_not_correlate(void **state)
{
    (void)state;
    double draws = 0, seeds = 0;
    for (uint32_t i = 0; i < N_DRAWS; i++) {
        double u = sim_rng_unit(9, 3, SIM_RNG_ECN, i) - 0.5;
        draws += u * (sim_rng_unit(9, 3, SIM_RNG_ECN, i + 1) - 0.5);
        seeds += u * (sim_rng_unit(10, 3, SIM_RNG_ECN, i) - 0.5);
    }
    assert_true(fabs(draws / N_DRAWS) < 5 / (12 * sqrt(N_DRAWS)));
    assert_true(fabs(seeds / N_DRAWS) < 5 / (12 * sqrt(N_DRAWS)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rng__draw_is_a_pure_function),   cmocka_unit_test(test_rng__streams_differ),
        cmocka_unit_test(test_rng__mix_is_a_bijection_on_a_sample), cmocka_unit_test(test_rng__draws_are_uniform),
        cmocka_unit_test(test_rng__entities_are_uniform_together), cmocka_unit_test(test_rng__neighbours_do_not_correlate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
