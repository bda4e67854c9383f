/* Tests of sim/params.c: text forms and ranges of one value. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/params.h"
#include "tests/sim/params_fixture.h"
#include <string.h>

static const struct param_group *const groups[] = {&fixture_group};

static int new_bag(void **state)
{
    *state = param_bag_new(groups, 1);
    return 0;
}

static int free_bag(void **state)
{
    param_bag_free(*state);
    return 0;
}

static const struct fixture_params *values_of(void **state)
{
    return param_bag_get(*state, "fixture");
}

static void set(void **state, const char *key, const char *text)
{
    g_autoptr(GError) err = NULL;
    if (!param_bag_set(*state, "fixture", key, text, PARAM_BY_FILE, "f.ini:1", &err))
        fail_msg("%s", err->message);
}

static void assert_refused(void **state, const char *key, const char *text, param_error code,
                           const char *message)
{
    g_autoptr(GError) err = NULL;
    struct fixture_params before = *values_of(state);
    assert_false(param_bag_set(*state, "fixture", key, text, PARAM_BY_FILE, "f.ini:1", &err));
    assert_int_equal(err->domain, PARAM_ERROR);
    assert_int_equal(err->code, code);
    if (message)
        assert_string_equal(err->message, message);
    assert_memory_equal(&before, values_of(state), sizeof before);
    assert_string_equal(param_bag_origin(*state, "fixture", key), "default");
}

static void test_params__defaults_are_the_table(void **state)
{
    const struct fixture_params *p = values_of(state);
    assert_int_equal(p->period_ps, 4 * UNIT_US);
    assert_int_equal(p->room_bytes, 32768);
    assert_int_equal(p->speed_bps, 400 * UNIT_GBPS);
    assert_int_equal(p->cable_mm, 5000);
    assert_int_equal(p->count, 7);
    assert_true(p->gain == 1.0 / 256);
    assert_true(p->on);
    assert_int_equal(p->mode, 1);
    assert_string_equal(p->label, "some text");
    assert_int_equal(p->kmin.n, 2);
    assert_true(p->alpha.n == 1 && p->alpha.value[0] == 0.125);
}

static void test_params__every_type_is_set_from_text(void **state)
{
    const struct fixture_params *p = values_of(state);
    set(state, "period", "1.6us");
    set(state, "room", "1.5MB");
    set(state, "speed", "54.5Gbps");
    set(state, "cable", "0");
    set(state, "count", "-3");
    set(state, "gain", "1/16");
    set(state, "on", "OFF");
    set(state, "mode", " exact ");
    set(state, "label", "  a # b  ");
    set(state, "kmin", "64kB");
    set(state, "alpha", "400Gbps:1/4, 100Gbps:2");
    assert_int_equal(p->period_ps, 1600000);
    assert_int_equal(p->room_bytes, 1500000);
    assert_int_equal(p->speed_bps, INT64_C(54500000000));
    assert_int_equal(p->cable_mm, 0);
    assert_int_equal(p->count, -3);
    assert_true(p->gain == 1.0 / 16);
    assert_false(p->on);
    assert_int_equal(p->mode, 2);
    assert_string_equal(p->label, "a # b");
    assert_true(p->kmin.n == 1 && p->kmin.rate_bps[0] == 0 && p->kmin.value[0] == 64000);
    assert_true(p->alpha.n == 2 && p->alpha.rate_bps[0] == 100 * UNIT_GBPS && p->alpha.value[0] == 2);
    assert_true(p->alpha.rate_bps[1] == 400 * UNIT_GBPS && p->alpha.value[1] == 0.25);
}

static void test_params__bool_words(void **state)
{
    static const char *const yes[] = {"true", "yes", "on", "1", "True"}, *const no[] = {"false", "no", "off",
                                                                                        "0", "No"};
    for (size_t i = 0; i < G_N_ELEMENTS(yes); i++) {
        set(state, "on", no[i]);
        assert_false(values_of(state)->on);
        set(state, "on", yes[i]);
        assert_true(values_of(state)->on);
    }
}

static void test_params__outside_the_range_is_refused(void **state)
{
    assert_refused(state, "period", "999ps", PARAM_ERROR_RANGE,
                   "f.ini:1: fixture.period: '999ps' is below 1ns; allowed: 1ns to 1s");
    assert_refused(state, "period", "1.000000000001s", PARAM_ERROR_RANGE, NULL);
    assert_refused(state, "room", "0", PARAM_ERROR_RANGE,
                   "f.ini:1: fixture.room: '0' is below 1B; allowed: 1B to 1GiB");
    assert_refused(state, "speed", "1.61Tbps", PARAM_ERROR_RANGE,
                   "f.ini:1: fixture.speed: '1.61Tbps' is above 1.6Tbps; allowed: 1bps to 1.6Tbps");
    assert_refused(state, "cable", "-1mm", PARAM_ERROR_RANGE, NULL);
    assert_refused(state, "count", "-4", PARAM_ERROR_RANGE, NULL);
    assert_refused(state, "count", "10", PARAM_ERROR_RANGE, NULL);
    assert_refused(state, "count", "1000000000000000000000", PARAM_ERROR_RANGE, NULL);
    assert_refused(state, "gain", "0", PARAM_ERROR_RANGE,
                   "f.ini:1: fixture.gain: '0' is below 1e-6; allowed: 1e-6 to 1");
    assert_refused(state, "gain", "1.0000001", PARAM_ERROR_RANGE, NULL);
    assert_refused(state, "kmin", "100Gbps:1KB 200Gbps:0", PARAM_ERROR_RANGE, NULL);
    assert_refused(state, "alpha", "16.5", PARAM_ERROR_RANGE, NULL);
}

static void test_params__what_does_not_parse_is_refused(void **state)
{
    assert_refused(state, "period", "5", PARAM_ERROR_SYNTAX,
                   "f.ini:1: fixture.period: '5' has no unit; allowed: ps ns us ms s min h");
    assert_refused(state, "room", "", PARAM_ERROR_SYNTAX, NULL);
    assert_refused(state, "on", "maybe", PARAM_ERROR_SYNTAX,
                   "f.ini:1: fixture.on: 'maybe' is no truth value; allowed: true false yes no on off 1 0");
    assert_refused(
        state, "mode", "quik", PARAM_ERROR_SYNTAX,
        "f.ini:1: fixture.mode: 'quik' is not a choice; did you mean 'quick'? Allowed: slow, quick, exact");
    assert_refused(state, "mode", "1", PARAM_ERROR_SYNTAX, NULL);
    assert_refused(state, "label", "\xff", PARAM_ERROR_SYNTAX, NULL);
    assert_refused(state, "gain", "1us", PARAM_ERROR_SYNTAX, NULL);
}

static void test_params__broken_maps_are_refused(void **state)
{
    assert_refused(state, "kmin", "", PARAM_ERROR_SYNTAX, NULL);
    assert_refused(state, "kmin", "100Gbps:", PARAM_ERROR_SYNTAX, NULL);
    assert_refused(state, "kmin", ":400KB", PARAM_ERROR_SYNTAX, NULL);
    assert_refused(state, "kmin", "100Gbps:400KB 800KB", PARAM_ERROR_SYNTAX, NULL);
    assert_refused(state, "kmin", "400KB 800KB", PARAM_ERROR_SYNTAX, NULL);
    assert_refused(state, "kmin", "0:400KB", PARAM_ERROR_RANGE, NULL);
    assert_refused(state, "kmin", "100Gbps:1KB 25Gbps:1KB 0.1Tbps:2KB", PARAM_ERROR_SYNTAX,
                   "f.ini:1: fixture.kmin: rate 100Gbps has two values; allowed: one");
    GString *many = g_string_new(NULL);
    for (int i = 1; i <= PARAM_MAP_MAX + 1; i++)
        g_string_append_printf(many, "%dGbps:1KB ", i);
    assert_refused(state, "kmin", many->str, PARAM_ERROR_RANGE, NULL);
    g_string_free(many, TRUE);
}

static void test_params__map_get_finds_exact_rates_only(void **state)
{
    double v = 0;
    const struct fixture_params *p = values_of(state);
    assert_true(param_map_get(&p->kmin, 200 * UNIT_GBPS, &v) && v == 800000);
    assert_false(param_map_get(&p->kmin, 400 * UNIT_GBPS, &v));
    assert_false(param_map_get(&p->kmin, 0, &v));
    assert_true(param_map_get(&p->alpha, 400 * UNIT_GBPS, &v) && v == 0.125);
    set(state, "kmin", "25Gbps:1KB");
    assert_false(param_map_get(&p->kmin, 100 * UNIT_GBPS, &v));
}

/* A random value of ROW's type, as text. */
static char *random_text(const struct param_desc *row, GRand *rand)
{
    switch (row->type) {
    case PARAM_BOOL:
        return g_strdup(g_rand_boolean(rand) ? "true" : "false");
    case PARAM_ENUM:
        return g_strdup(((const char *[]){"slow", "quick", "exact"})[g_rand_int_range(rand, 0, 3)]);
    case PARAM_TEXT:
        return g_strdup_printf("%x", g_rand_int(rand));
    case PARAM_REAL:
        return units_format_real(g_rand_double_range(rand, row->min_r, row->max_r));
    case PARAM_INT:
        return g_strdup_printf("%d", g_rand_int_range(rand, (int)row->min_i, (int)row->max_i + 1));
    case PARAM_BYTES_MAP:
        return g_strdup_printf("100Gbps:%dB 25Gbps:%dB", g_rand_int_range(rand, 1, 1000000),
                               g_rand_int_range(rand, 1, 1000000));
    case PARAM_REAL_MAP:
        return g_strdup_printf("%d/%d", g_rand_int_range(rand, 0, 100), g_rand_int_range(rand, 10, 1000));
    default:
        return g_strdup_printf("%.0f%s", g_rand_double_range(rand, (double)row->min_i, (double)row->max_i),
                               row->type == PARAM_TIME    ? "ps"
                               : row->type == PARAM_BYTES ? "B"
                               : row->type == PARAM_RATE  ? "bps"
                                                          : "mm");
    }
}

/* Sets ROW from TEXT, formats it, sets that, and compares the two texts and the two members. */
static void assert_round_trip(void **state, const struct param_desc *row, const char *text)
{
    set(state, row->key, text);
    struct fixture_params before = *values_of(state);
    g_autofree char *first = param_format(row, values_of(state));
    set(state, row->key, first);
    g_autofree char *second = param_format(row, values_of(state));
    assert_string_equal(first, second);
    struct fixture_params after = *values_of(state);
    before.label = after.label = NULL; /* another allocation; its text was compared */
    assert_memory_equal(&before, &after, sizeof before);
}

static void test_params__parse_of_format_is_identity(void **state)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    for (int r = 0; r < fixture_group.n_rows; r++) {
        const struct param_desc *row = &fixture_rows[r];
        g_autofree char *def = param_format_default(row), *lo = param_format_min(row),
                        *hi = param_format_max(row);
        assert_round_trip(state, row, def);
        if (*lo)
            assert_round_trip(state, row, lo);
        if (*hi)
            assert_round_trip(state, row, hi);
        for (int i = 0; i < 500; i++) {
            g_autofree char *text = random_text(row, rand);
            assert_round_trip(state, row, text);
        }
    }
}

static void test_params__formats(void **state)
{
    const struct fixture_params *p = values_of(state);
    g_autofree char *kmin = param_format(&fixture_rows[9], p), *alpha = param_format(&fixture_rows[10], p);
    g_autofree char *mode = param_format(&fixture_rows[7], p), *none = param_format_min(&fixture_rows[8]);
    assert_string_equal(kmin, "100Gbps:400kB 200Gbps:800kB");
    assert_string_equal(alpha, "0.125");
    assert_string_equal(mode, "quick");
    assert_string_equal(none, "");
}

static void test_params__units_and_type_names(void **state)
{
    (void)state;
    static const char *const units[] = {"ps", "bytes", "bit/s", "mm", "", "", "", "", "", "bytes", ""};
    for (int r = 0; r < fixture_group.n_rows; r++) {
        assert_string_equal(param_unit(&fixture_rows[r]), units[r]);
        assert_true(*param_type_name(fixture_rows[r].type) != '\0');
    }
    assert_string_equal(param_type_name(PARAM_ENUM), "choice");
}

#define WITH_BAG(f) cmocka_unit_test_setup_teardown(f, new_bag, free_bag)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BAG(test_params__defaults_are_the_table),
        WITH_BAG(test_params__every_type_is_set_from_text),
        WITH_BAG(test_params__bool_words),
        WITH_BAG(test_params__outside_the_range_is_refused),
        WITH_BAG(test_params__what_does_not_parse_is_refused),
        WITH_BAG(test_params__broken_maps_are_refused),
        WITH_BAG(test_params__map_get_finds_exact_rates_only),
        WITH_BAG(test_params__parse_of_format_is_identity),
        WITH_BAG(test_params__formats),
        WITH_BAG(test_params__units_and_type_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
