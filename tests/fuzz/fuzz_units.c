/* fuzz_units.c - numbers with units: any text; what parses is written back exactly.
 *
 * Each line of the input is one text. The input's first bytes also serve as raw numbers.
 */
#include "fuzz.h"
#include "sim/units.h"

#include <math.h>
#include <string.h>

static const struct quantity {
    bool (*parse)(const char *text, int64_t *out, GError **err);
    char *(*format)(int64_t value);
} quantities[] = {
    {units_parse_time, units_format_time},
    {units_parse_bytes, units_format_bytes},
    {units_parse_rate, units_format_rate},
    {units_parse_length, units_format_length},
};

static void check_round_trip(const struct quantity *q, int64_t value)
{
    g_autofree char *text = q->format(value);
    g_autoptr(GError) err = NULL;
    int64_t back = 0;
    FUZZ_REQUIRE_TEXT(q->parse(text, &back, &err), text);
    FUZZ_REQUIRE_TEXT(back == value, text);
}

static void check_real(double value)
{
    g_autofree char *text = units_format_real(value);
    double back = 0;
    FUZZ_REQUIRE_TEXT(units_parse_real(text, &back, NULL), text);
    FUZZ_REQUIRE_TEXT(back == value, text);
}

static void check_text(const char *text)
{
    GError *err = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(quantities); i++) {
        int64_t value = 0;
        if (quantities[i].parse(text, &value, &err))
            check_round_trip(&quantities[i], value);
        else
            fuzz_take_error(&err, NULL);
    }
    int64_t whole = 0;
    double real = 0;
    if (!units_parse_int(text, &whole, &err))
        fuzz_take_error(&err, NULL);
    if (!units_parse_real(text, &real, &err)) {
        fuzz_take_error(&err, NULL);
        return;
    }
    FUZZ_REQUIRE_TEXT(isfinite(real), text);
    check_real(real);
}

static void check_human(int64_t value)
{
    g_autofree char *time = units_human_time(value), *bytes = units_human_bytes((double)value);
    g_autofree char *rate = units_human_rate((double)value), *bytes_rate = units_human_bytes_rate((double)value);
    FUZZ_REQUIRE(time[0] && bytes[0] && rate[0] && bytes_rate[0]);
}

/* Rounded up on the way there, down on the way back: never fewer bytes than went in. */
static void check_wire(int64_t bytes, int64_t bps)
{
    sim_ps ps = units_wire_ps(bytes, bps);
    FUZZ_REQUIRE(ps >= 0 && (bytes == 0 || ps > 0));
    if (ps < SIM_PS_MAX)
        FUZZ_REQUIRE(units_bytes_in(ps, bps) >= bytes);
    FUZZ_REQUIRE(isfinite(units_rate_bps(bytes, ps)) && isfinite(units_ps_to_s(ps)));
}

static void check_numbers(struct fuzz_dice *dice)
{
    int64_t value = fuzz_between(dice, INT64_MIN, INT64_MAX);
    for (size_t i = 0; i < G_N_ELEMENTS(quantities); i++)
        check_round_trip(&quantities[i], value);
    check_human(value);
    /* 1 PB and 100 Tb/s: the bounds of the readers. */
    check_wire(fuzz_between(dice, 0, 1000000 * UNIT_GB), fuzz_between(dice, 1, 100000 * UNIT_GBPS));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct fuzz_dice dice = {data, data + n_bytes};
    check_numbers(&dice);
    g_autofree char *text = g_strndup((const char *)data, n_bytes);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        check_text(*line);
    return 0;
}
