/* Tests of sim/units.c: exact text forms, refusals, 128-bit conversions. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/units.h"
#include <math.h>
#include <string.h>

typedef bool (*parser)(const char *, int64_t *, GError **);
typedef char *(*formatter)(int64_t);

static void assert_parses(parser parse, const char *text, int64_t expected)
{
    g_autoptr(GError) err = NULL;
    int64_t value = -77;
    if (!parse(text, &value, &err))
        fail_msg("'%s': %s", text, err->message);
    if (value != expected)
        fail_msg("'%s' gives %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, text, value, expected);
}

static void assert_refused(parser parse, const char *text, units_error code)
{
    g_autoptr(GError) err = NULL;
    int64_t value = -77;
    if (parse(text, &value, &err))
        fail_msg("'%s' was accepted as %" G_GINT64_FORMAT, text, value);
    assert_int_equal(value, -77);
    if (!g_error_matches(err, UNITS_ERROR, (int)code))
        fail_msg("'%s': code %d: %s", text, err->code, err->message);
    assert_true(g_utf8_validate(err->message, -1, NULL));
}

static void test_units__time_is_exact(void **state)
{
    (void)state;
    assert_parses(units_parse_time, "1.6us", 1600000);
    assert_parses(units_parse_time, " 0.1 us ", 100000);
    assert_parses(units_parse_time, "1ps", 1);
    assert_parses(units_parse_time, "1.234567890123s", INT64_C(1234567890123));
    assert_parses(units_parse_time, "-3ns", -3000);
    assert_parses(units_parse_time, "1e3us", UNIT_MS);
    assert_parses(units_parse_time, "1E-3us", UNIT_NS);
    assert_parses(units_parse_time, "0.5min", 30 * UNIT_S);
    assert_parses(units_parse_time, "2h", 7200 * UNIT_S);
    assert_parses(units_parse_time, "0.0000000000000000000000000000000000000000000001e46ps", 1);
    assert_parses(units_parse_time, "00000000000000000000000000000000000000000000000000007ms", 7 * UNIT_MS);
    assert_parses(units_parse_time, "5.00000000000000000000000000000000000000000000000000ns", 5000);
    assert_parses(units_parse_time, "9223372036854775807ps", INT64_MAX);
    assert_parses(units_parse_time, "-9223372036854775808ps", INT64_MIN);
}

static void test_units__zero_needs_no_unit(void **state)
{
    (void)state;
    assert_parses(units_parse_time, "0", 0);
    assert_parses(units_parse_bytes, "0", 0);
    assert_parses(units_parse_rate, "0.0", 0);
    assert_parses(units_parse_length, "0", 0);
    assert_parses(units_parse_time, "0e99ms", 0);
}

static void test_units__bytes_tell_k_from_ki(void **state)
{
    (void)state;
    assert_parses(units_parse_bytes, "32KiB", 32768);
    assert_parses(units_parse_bytes, "32kB", 32000);
    assert_parses(units_parse_bytes, "32KB", 32000);
    assert_parses(units_parse_bytes, "1.5KiB", 1536);
    assert_parses(units_parse_bytes, "64MB", 64 * UNIT_MB);
    assert_parses(units_parse_bytes, "2TiB", 2048 * UNIT_GIB);
    assert_parses(units_parse_bytes, "1TB", 1000 * UNIT_GB);
    /* 2^-40 TiB, all digits of it, is one byte. */
    assert_parses(units_parse_bytes, "0.0000000000009094947017729282379150390625TiB", 1);
}

static void test_units__rates_and_lengths(void **state)
{
    (void)state;
    assert_parses(units_parse_rate, "400Gbps", 400 * UNIT_GBPS);
    assert_parses(units_parse_rate, "400 Gb/s", 400 * UNIT_GBPS);
    assert_parses(units_parse_rate, "1.6Tbps", 1600 * UNIT_GBPS);
    assert_parses(units_parse_rate, "54.5Gbps", INT64_C(54500000000));
    assert_parses(units_parse_rate, "8bps", 8);
    assert_parses(units_parse_length, "100m", 100 * UNIT_M);
    assert_parses(units_parse_length, "1.5cm", 15);
    assert_parses(units_parse_length, "2km", 2 * UNIT_KM);
    assert_parses(units_parse_length, "3mm", 3);
}

static void test_units__missing_or_foreign_unit_is_refused(void **state)
{
    (void)state;
    static const char *const times[] = {"5",  "5B", "5us5",    "5 u s",  "5uS",
                                        "5m", "5e", "1.5.2us", "5us us", "1,5us"};
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        assert_refused(units_parse_time, times[i], UNITS_ERROR_UNIT);
    static const char *const sizes[] = {"5", "5kb", "5Kb", "5Mbit", "5b", "5K", "5KIB", "5us"};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        assert_refused(units_parse_bytes, sizes[i], UNITS_ERROR_UNIT);
    static const char *const rates[] = {"400", "400G", "400GB/s", "400GBps", "400gbps", "400Gb"};
    for (size_t i = 0; i < G_N_ELEMENTS(rates); i++)
        assert_refused(units_parse_rate, rates[i], UNITS_ERROR_UNIT);
    assert_refused(units_parse_length, "5ft", UNITS_ERROR_UNIT);
}

static void test_units__what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",      " ",      "us",  ".us",      "-",   "--5us",
                                        "+-5us", "inf us", "nan", "\xff\xfe", "e5us"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        assert_refused(units_parse_time, texts[i], UNITS_ERROR_SYNTAX);
    assert_refused(units_parse_time, "0x10us", UNITS_ERROR_UNIT); /* 0, then the unit "x10us" */
}

static void test_units__what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0.5ps",
        "1.2345678us",
        "9223372036854775808ps",
        "-9223372036854775809ps",
        "1e30s",
        "1e9999h",
        "1e-9999h",
        "1e99999999999999999999us",
        "1e-99999999999999999999us",
        "340282366920938463463374607431768211456ps",
        "1234567890123456789012345678901234567890123456789us",
        "0.0000000000000000000000000000000000000000000001us",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        assert_refused(units_parse_time, texts[i], UNITS_ERROR_RANGE);
    assert_refused(units_parse_bytes, "0.1B", UNITS_ERROR_RANGE);
    assert_refused(units_parse_bytes, "0.1KiB", UNITS_ERROR_RANGE);
    assert_refused(units_parse_bytes, "8388608TiB", UNITS_ERROR_RANGE);
}

static void test_units__messages_say_what_is_allowed(void **state)
{
    (void)state;
    g_autoptr(GError) unit = NULL, range = NULL;
    int64_t v;
    assert_false(units_parse_time("5", &v, &unit));
    assert_string_equal(unit->message, "'5' has no unit; allowed: ps ns us ms s min h");
    assert_false(units_parse_bytes("0.5B", &v, &range));
    assert_string_equal(range->message, "'0.5B' is not a whole number of bytes");
}

static void test_units__int_takes_digits_only(void **state)
{
    (void)state;
    assert_parses(units_parse_int, " 7 ", 7);
    assert_parses(units_parse_int, "-1", -1);
    assert_parses(units_parse_int, "+16384", 16384);
    assert_parses(units_parse_int, "9223372036854775807", INT64_MAX);
    assert_refused(units_parse_int, "9223372036854775808", UNITS_ERROR_RANGE);
    assert_refused(units_parse_int, "99999999999999999999999999999999999999999999999", UNITS_ERROR_RANGE);
    static const char *const texts[] = {"", "1.0", "1e3", "1us", "0x10", "1 2", "-", "1-", "+-1"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        assert_refused(units_parse_int, texts[i], UNITS_ERROR_SYNTAX);
}

static void test_units__real_takes_decimals_and_fractions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0.0039", 0.0039}, {"1/256", 1.0 / 256}, {" 1 / 4 ", 0.25}, {"-2.5", -2.5}, {"1e-3", 0.001},
                {"3", 3},           {".5", 0.5},          {"0/3", 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        double v = NAN;
        assert_true(units_parse_real(good[i].text, &v, NULL));
        assert_true(v == good[i].value);
    }
}

static void test_units__real_refuses_the_rest(void **state)
{
    (void)state;
    static const char *const syntax[] = {"",    "abc", "1/",  "/2",  "1/2/3", "0x10",
                                         "nan", "inf", "1us", "1 2", "1e"};
    static const char *const range[] = {"1/0", "0/0", "1e999", "1e-999", "1e300/1e-300", "1e-300/1e300"};
    for (size_t i = 0; i < G_N_ELEMENTS(syntax) + G_N_ELEMENTS(range); i++) {
        bool is_syntax = i < G_N_ELEMENTS(syntax);
        g_autoptr(GError) err = NULL;
        double v = -77;
        assert_false(units_parse_real(is_syntax ? syntax[i] : range[i - G_N_ELEMENTS(syntax)], &v, &err));
        assert_int_equal(err->code, is_syntax ? UNITS_ERROR_SYNTAX : UNITS_ERROR_RANGE);
        assert_true(v == -77);
    }
}

static void test_units__formats_are_short(void **state)
{
    (void)state;
    static const struct {
        formatter format;
        int64_t value;
        const char *text;
    } rows[] = {
        {units_format_time, 1600000, "1.6us"},
        {units_format_time, 500000, "500ns"},
        {units_format_time, 0, "0"},
        {units_format_time, 1, "1ps"},
        {units_format_time, -1600000, "-1.6us"},
        {units_format_time, 60 * UNIT_S, "60s"},
        {units_format_time, 3600 * UNIT_S, "1h"},
        {units_format_bytes, 32768, "32KiB"},
        {units_format_bytes, 32000, "32kB"},
        {units_format_bytes, 4097, "4097B"},
        {units_format_bytes, 64 * UNIT_MB, "64MB"},
        {units_format_bytes, UNIT_GIB, "1GiB"},
        {units_format_rate, 400 * UNIT_GBPS, "400Gbps"},
        {units_format_rate, 1600 * UNIT_GBPS, "1.6Tbps"},
        {units_format_length, 100 * UNIT_M, "100m"},
        {units_format_length, 1500, "1.5m"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = rows[i].format(rows[i].value);
        assert_string_equal(text, rows[i].text);
    }
}

static int64_t random_i64(GRand *rand)
{
    uint64_t bits = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
    int64_t value = (int64_t)(bits >> g_rand_int_range(rand, 1, 64)); /* every magnitude */
    switch (g_rand_int_range(rand, 0, 4)) {
    case 0: /* numbers as people write them */
        for (int i = g_rand_int_range(rand, 0, 13); i > 0 && value < INT64_MAX / 10; i--)
            value *= 10;
        return value;
    case 1:
        return -value;
    default:
        return value;
    }
}

static void test_units__parse_of_format_is_identity(void **state)
{
    (void)state;
    static const struct {
        formatter format;
        parser parse;
    } kinds[] = {{units_format_time, units_parse_time},
                 {units_format_bytes, units_parse_bytes},
                 {units_format_rate, units_parse_rate},
                 {units_format_length, units_parse_length}};
    static const int64_t edges[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT64_MIN + 1, 999, 1000, 1023, 1024};
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        for (size_t i = 0; i < 20000; i++) {
            int64_t value = i < G_N_ELEMENTS(edges) ? edges[i] : random_i64(rand);
            g_autofree char *text = kinds[k].format(value);
            assert_parses(kinds[k].parse, text, value);
        }
    }
}

static void test_units__real_parse_of_format_is_identity(void **state)
{
    (void)state;
    g_autoptr(GRand) rand = g_rand_new_with_seed(8);
    static const double edges[] = {0, 1.0 / 3, 1.0 / 256, 0.1, 1e-300, 1.7976931348623157e308, -2.5, 5e-324};
    for (size_t i = 0; i < 20000; i++) {
        double value = i < G_N_ELEMENTS(edges)
                           ? edges[i]
                           : ldexp(g_rand_double(rand) - 0.5, g_rand_int_range(rand, -900, 900));
        g_autofree char *text = units_format_real(value);
        double back = NAN;
        assert_true(units_parse_real(text, &back, NULL));
        assert_true(back == value);
    }
    g_autofree char *tenth = units_format_real(0.1);
    g_autofree char *small = units_format_real(1e-6), *large = units_format_real(1e20);
    assert_string_equal(tenth, "0.1");
    assert_string_equal(small, "1e-6");
    assert_string_equal(large, "1e20");
}

static void test_units__random_bytes_never_crash_the_parsers(void **state)
{
    (void)state;
    static const char alphabet[] = "0123456789.+-eE umnpsKkMGTiBb/:\xc3\xff\t";
    static const parser parsers[] = {units_parse_time, units_parse_bytes, units_parse_rate,
                                     units_parse_length, units_parse_int};
    g_autoptr(GRand) rand = g_rand_new_with_seed(9);
    for (int i = 0; i < 100000; i++) {
        char text[24];
        int n = g_rand_int_range(rand, 0, (int)sizeof text);
        for (int c = 0; c < n; c++)
            text[c] = alphabet[g_rand_int_range(rand, 0, (int)sizeof alphabet - 1)];
        text[n] = '\0';
        g_autoptr(GError) err = NULL, real_err = NULL;
        int64_t value;
        double real;
        assert_true(parsers[i % 5](text, &value, &err) == (err == NULL));
        assert_true(units_parse_real(text, &real, &real_err) == (real_err == NULL));
    }
}

static void test_units__human_forms(void **state)
{
    (void)state;
    g_autofree char *a = units_human_time(36700000),
                    *b = units_human_bytes_rate(401.3e9 * UNIT_BITS_PER_BYTE);
    g_autofree char *c = units_human_time(INT64_C(999960000)), *d = units_human_bytes(12);
    g_autofree char *e = units_human_rate(54.5e9), *f = units_human_time(1234), *g = units_human_time(0);
    g_autofree char *h = units_human_bytes(NAN), *i = units_human_bytes(1e300),
                    *j = units_human_time(9996 * UNIT_NS / 1000);
    assert_string_equal(a, "36.7 us");
    assert_string_equal(b, "401.3 GB/s");
    assert_string_equal(c, "1.00 ms");
    assert_string_equal(d, "12 B");
    assert_string_equal(e, "54.5 Gb/s");
    assert_string_equal(f, "1.23 ns");
    assert_string_equal(g, "0 ps");
    assert_string_equal(h, "n/a");
    assert_true(g_str_has_suffix(i, " TB"));
    assert_string_equal(j, "10.0 ns");
}

/* 5 GB at 100 Gb/s is 0.4 s; 8e12 x bytes would leave int64 at 1.15 MB. */
static void test_units__wire_time_is_128_bit_and_rounds_up(void **state)
{
    (void)state;
    assert_int_equal(units_wire_ps(5 * UNIT_GB, 100 * UNIT_GBPS), 400 * UNIT_MS);
    assert_int_equal(units_wire_ps(1, 400 * UNIT_GBPS), 20);
    assert_int_equal(units_wire_ps(1, 3200 * UNIT_GBPS), 3);
    assert_int_equal(units_wire_ps(2, 3200 * UNIT_GBPS), 5);
    assert_int_equal(units_wire_ps(0, 1), 0);
    assert_int_equal(units_wire_ps(INT64_MAX, 1), SIM_PS_MAX);
}

static void test_units__bytes_in_is_the_inverse(void **state)
{
    (void)state;
    g_autoptr(GRand) rand = g_rand_new_with_seed(10);
    for (int i = 0; i < 20000; i++) {
        int64_t bytes = g_rand_int_range(rand, 0, G_MAXINT32), bps = g_rand_int_range(rand, 1, G_MAXINT32);
        bps *= 1000;
        sim_ps ps = units_wire_ps(bytes, bps);
        assert_true(units_bytes_in(ps, bps) >= bytes);
        assert_true(ps == 0 || units_bytes_in(ps - 1, bps) < bytes);
    }
    assert_int_equal(units_bytes_in(UNIT_S, 8), 1);
    assert_int_equal(units_bytes_in(INT64_MAX, INT64_MAX), INT64_MAX);
}

static void test_units__q16_is_exact_for_ethernet_rates(void **state)
{
    (void)state;
    static const int64_t gbps[] = {1, 10, 25, 40, 50, 100, 200, 400, 800, 1600, 3200};
    for (size_t r = 0; r < G_N_ELEMENTS(gbps); r++) {
        int64_t q16 = units_ps_per_byte_q16(gbps[r] * UNIT_GBPS);
        for (uint32_t bytes = 0; bytes <= 70000; bytes++)
            assert_true(units_wire_ps_q16(bytes, q16) == units_wire_ps(bytes, gbps[r] * UNIT_GBPS));
    }
}

static void test_units__q16_is_never_faster_than_the_link(void **state)
{
    (void)state;
    int64_t fdr_bps = INT64_C(54500000000), q16 = units_ps_per_byte_q16(fdr_bps);
    for (uint32_t bytes = 0; bytes <= 70000; bytes++) {
        int64_t over_ps = units_wire_ps_q16(bytes, q16) - units_wire_ps(bytes, fdr_bps);
        assert_true(over_ps >= 0 && over_ps <= 2);
    }
}

static void test_units__rate_and_seconds(void **state)
{
    (void)state;
    assert_true(units_rate_bps(125, UNIT_NS * 1000) == 1e9);
    assert_true(units_rate_bps(125, 0) == 0);
    assert_true(units_ps_to_s(UNIT_MS) == 0.001);
    assert_int_equal(units_cable_ps(100 * UNIT_M), 500 * UNIT_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units__time_is_exact),
        cmocka_unit_test(test_units__zero_needs_no_unit),
        cmocka_unit_test(test_units__bytes_tell_k_from_ki),
        cmocka_unit_test(test_units__rates_and_lengths),
        cmocka_unit_test(test_units__missing_or_foreign_unit_is_refused),
        cmocka_unit_test(test_units__what_is_no_number_is_refused),
        cmocka_unit_test(test_units__what_does_not_fit_is_refused),
        cmocka_unit_test(test_units__messages_say_what_is_allowed),
        cmocka_unit_test(test_units__int_takes_digits_only),
        cmocka_unit_test(test_units__real_takes_decimals_and_fractions),
        cmocka_unit_test(test_units__real_refuses_the_rest),
        cmocka_unit_test(test_units__formats_are_short),
        cmocka_unit_test(test_units__parse_of_format_is_identity),
        cmocka_unit_test(test_units__real_parse_of_format_is_identity),
        cmocka_unit_test(test_units__random_bytes_never_crash_the_parsers),
        cmocka_unit_test(test_units__human_forms),
        cmocka_unit_test(test_units__wire_time_is_128_bit_and_rounds_up),
        cmocka_unit_test(test_units__bytes_in_is_the_inverse),
        cmocka_unit_test(test_units__q16_is_exact_for_ethernet_rates),
        cmocka_unit_test(test_units__q16_is_never_faster_than_the_link),
        cmocka_unit_test(test_units__rate_and_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
