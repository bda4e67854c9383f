/* units.c - exact text forms and the conversions between times, sizes and rates.
 *
 * A number is read as digits and a decimal exponent and scaled with integers, so
 * "0.1us" is 100000 ps and not the nearest double. Reals are the one exception.
 */
#include "sim/units.h"

#include "sim/message.h"
#include <errno.h>
#include <math.h>
#include <string.h>

G_DEFINE_QUARK(fabricast - units - error, units_error)

typedef unsigned __int128 u128;
#define U128_MAX      (~(u128)0)
#define PS_PER_S_BITS ((u128)UNIT_S * UNIT_BITS_PER_BYTE) /* ps a second x bits a byte */

/* Longer exponents than any quantity can need are refused, so sums of them can't overflow. */
#define MAX_EXPONENT 9999

struct unit {
    const char *name;
    int64_t factor; /* base units in one of it */
};

struct quantity {
    const char *base; /* "bytes" */
    const char *allowed;
    const char *hint; /* what the usual slip is; "" if none */
    const struct unit *units;
    int n_units;
    int n_formatted; /* the first of UNITS that formatting may choose from, rising factors */
};

static const struct unit time_units[] = {
    {"ps", 1},     {"ns", UNIT_NS},      {"us", UNIT_US},      {"ms", UNIT_MS},
    {"s", UNIT_S}, {"min", 60 * UNIT_S}, {"h", 3600 * UNIT_S},
};
static const struct unit byte_units[] = {
    {"B", 1},        {"kB", UNIT_KB},   {"KiB", UNIT_KIB},      {"MB", UNIT_MB},          {"MiB", UNIT_MIB},
    {"GB", UNIT_GB}, {"GiB", UNIT_GIB}, {"TB", 1000 * UNIT_GB}, {"TiB", 1024 * UNIT_GIB}, {"KB", UNIT_KB},
};
static const struct unit rate_units[] = {
    {"bps", 1}, {"kbps", 1000}, {"Mbps", UNIT_MBPS}, {"Gbps", UNIT_GBPS}, {"Tbps", 1000 * UNIT_GBPS},
    {"b/s", 1}, {"kb/s", 1000}, {"Mb/s", UNIT_MBPS}, {"Gb/s", UNIT_GBPS}, {"Tb/s", 1000 * UNIT_GBPS},
};
static const struct unit length_units[] = {
    {"mm", 1},
    {"m", UNIT_M},
    {"km", UNIT_KM},
    {"cm", 10},
};

static const struct quantity time_quantity = {"ps",       "ps ns us ms s min h",    "",
                                              time_units, G_N_ELEMENTS(time_units), G_N_ELEMENTS(time_units)};
static const struct quantity byte_quantity = {"bytes",
                                              "B kB KB MB GB TB KiB MiB GiB TiB",
                                              " (B is bytes, b would be bits)",
                                              byte_units,
                                              G_N_ELEMENTS(byte_units),
                                              G_N_ELEMENTS(byte_units) - 1};
static const struct quantity rate_quantity = {"bit/s",
                                              "bps kbps Mbps Gbps Tbps, b/s kb/s Mb/s Gb/s Tb/s",
                                              " (bits, not bytes, per second)",
                                              rate_units,
                                              G_N_ELEMENTS(rate_units),
                                              5};
static const struct quantity length_quantity = {
    "mm", "mm cm m km", "", length_units, G_N_ELEMENTS(length_units), 3};

/* ---- reading -------------------------------------------------------------- */

/* (-1)^negative x mantissa x 10^exponent; trailing zeros are in the exponent. */
struct decimal {
    u128 mantissa;
    int exponent;
    int zeros; /* seen and not yet in the mantissa */
    bool negative;
    bool too_long; /* more digits or a longer exponent than this can hold */
};

static void decimal_times_ten_plus(struct decimal *d, unsigned digit)
{
    if (d->mantissa > (U128_MAX - digit) / 10)
        d->too_long = true;
    else
        d->mantissa = d->mantissa * 10 + digit;
}

static void decimal_push(struct decimal *d, unsigned digit)
{
    if (digit == 0) {
        d->zeros++;
        return;
    }
    for (; d->zeros > 0 && d->mantissa != 0 && !d->too_long; d->zeros--)
        decimal_times_ten_plus(d, 0);
    d->zeros = 0;
    decimal_times_ten_plus(d, digit);
}

/* Digits from *P on; returns how many. */
static int scan_digits(const char **p, struct decimal *d)
{
    int n = 0;
    for (; g_ascii_isdigit(**p); (*p)++, n++)
        decimal_push(d, (unsigned)(**p - '0'));
    return n;
}

/* "e-6" at *P, if it is there; "e" without digits is left for the unit to choke on. */
static void scan_exponent(const char **p, struct decimal *d)
{
    const char *s = *p;
    if (*s != 'e' && *s != 'E')
        return;
    s++;
    int sign = *s == '-' ? -1 : 1;
    if (*s == '-' || *s == '+')
        s++;
    if (!g_ascii_isdigit(*s))
        return;
    int e = 0;
    for (; g_ascii_isdigit(*s); s++)
        e = MIN(e * 10 + (*s - '0'), MAX_EXPONENT + 1);
    d->too_long |= e > MAX_EXPONENT;
    d->exponent += sign * e;
    *p = s;
}

/* Sign, digits, point, exponent. False if there is no digit; *P is then unchanged. */
static bool scan_decimal(const char **p, struct decimal *d)
{
    const char *s = *p;
    *d = (struct decimal){.negative = *s == '-'};
    if (*s == '-' || *s == '+')
        s++;
    int n = scan_digits(&s, d);
    if (*s == '.') {
        s++;
        int n_fraction = scan_digits(&s, d);
        d->exponent -= n_fraction;
        n += n_fraction;
    }
    if (n == 0)
        return false;
    scan_exponent(&s, d);
    d->exponent += d->zeros;
    *p = s;
    return true;
}

static bool is_end(const char *s)
{
    while (g_ascii_isspace(*s))
        s++;
    return *s == '\0';
}

static const char *skip_blanks(const char *s)
{
    while (g_ascii_isspace(*s))
        s++;
    return s;
}

/* Takes factors PRIME out of A x B, at most N; returns how many are still owed. */
static int cancel(u128 *a, u128 *b, unsigned prime, int n)
{
    for (; n > 0 && *a % prime == 0; n--)
        *a /= prime;
    for (; n > 0 && *b % prime == 0; n--)
        *b /= prime;
    return n;
}

enum scale_result { SCALE_OK, SCALE_TOO_BIG, SCALE_NOT_WHOLE };

/* *OUT = D x FACTOR if that is a whole number that fits. */
static enum scale_result decimal_scale(const struct decimal *d, int64_t factor, int64_t *out)
{
    u128 m = d->mantissa, f = (u128)factor, limit = (u128)INT64_MAX + d->negative;
    if (m == 0) {
        *out = 0;
        return SCALE_OK;
    }
    if (d->exponent < 0 && (cancel(&m, &f, 2, -d->exponent) || cancel(&m, &f, 5, -d->exponent)))
        return SCALE_NOT_WHOLE;
    for (int i = 0; i < d->exponent; i++) {
        if (m > limit / 10)
            return SCALE_TOO_BIG;
        m *= 10;
    }
    if (m > limit / f)
        return SCALE_TOO_BIG;
    m *= f;
    *out = d->negative ? (int64_t)(0 - (uint64_t)m) : (int64_t)m;
    return SCALE_OK;
}

/* Always false, for return. FORMAT gets the quoted TEXT first. */
G_GNUC_PRINTF(4, 5)
static bool fail(GError **err, units_error code, const char *text, const char *format, ...)
{
    g_autofree char *quoted = message_quote(text);
    va_list args;
    va_start(args, format);
    g_autofree char *rest = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(err, UNITS_ERROR, (int)code, "%s %s", quoted, rest);
    return false;
}

static const struct unit *find_unit(const struct quantity *q, const char *s)
{
    for (int i = 0; i < q->n_units; i++) {
        size_t n = strlen(q->units[i].name);
        if (strncmp(s, q->units[i].name, n) == 0 && is_end(s + n))
            return &q->units[i];
    }
    return NULL;
}

static bool parse_scaled(const char *text, const struct decimal *d, int64_t factor, const char *base,
                         int64_t *out, GError **err)
{
    if (d->too_long)
        return fail(err, UNITS_ERROR_RANGE, text,
                    "has too many digits or too long an exponent; allowed: 38 digits");
    switch (decimal_scale(d, factor, out)) {
    case SCALE_OK:
        return true;
    case SCALE_TOO_BIG:
        return fail(err, UNITS_ERROR_RANGE, text, "is too large; allowed: up to %" G_GINT64_FORMAT " %s",
                    INT64_MAX, base);
    case SCALE_NOT_WHOLE:
        break;
    }
    return fail(err, UNITS_ERROR_RANGE, text, "is not a whole number of %s", base);
}

static bool parse_quantity(const char *text, const struct quantity *q, int64_t *out, GError **err)
{
    const char *s = skip_blanks(text);
    struct decimal d;
    if (!scan_decimal(&s, &d))
        return fail(err, UNITS_ERROR_SYNTAX, text, "is not a number and a unit; allowed units: %s",
                    q->allowed);
    s = skip_blanks(s);
    if (*s == '\0') {
        if (d.mantissa != 0 || d.too_long)
            return fail(err, UNITS_ERROR_UNIT, text, "has no unit; allowed: %s%s", q->allowed, q->hint);
        *out = 0;
        return true;
    }
    const struct unit *unit = find_unit(q, s);
    if (!unit)
        return fail(err, UNITS_ERROR_UNIT, text, "has an unknown unit; allowed: %s%s", q->allowed, q->hint);
    return parse_scaled(text, &d, unit->factor, q->base, out, err);
}

bool units_parse_time(const char *text, int64_t *out_ps, GError **err)
{
    return parse_quantity(text, &time_quantity, out_ps, err);
}

bool units_parse_bytes(const char *text, int64_t *out_bytes, GError **err)
{
    return parse_quantity(text, &byte_quantity, out_bytes, err);
}

bool units_parse_rate(const char *text, int64_t *out_bps, GError **err)
{
    return parse_quantity(text, &rate_quantity, out_bps, err);
}

bool units_parse_length(const char *text, int64_t *out_mm, GError **err)
{
    return parse_quantity(text, &length_quantity, out_mm, err);
}

bool units_parse_int(const char *text, int64_t *out, GError **err)
{
    const char *start = skip_blanks(text), *s = start;
    struct decimal d;
    bool is_number = scan_decimal(&s, &d) && is_end(s);
    size_t n = strspn(start, "+-0123456789");
    if (!is_number || start + n != s)
        return fail(err, UNITS_ERROR_SYNTAX, text,
                    "is not a whole number; allowed: digits without point or unit");
    return parse_scaled(text, &d, 1, "1", out, err);
}

/* One decimal number at *P as a double; the only place where text becomes floating point. */
static bool scan_real(const char **p, double *out)
{
    struct decimal d;
    const char *end = *p;
    if (!scan_decimal(&end, &d))
        return false;
    g_autofree char *number = g_strndup(*p, (gsize)(end - *p));
    *out = g_ascii_strtod(number, NULL);
    if (*out == 0 && (d.mantissa != 0 || d.too_long))
        *out = INFINITY; /* underflow must not become 0; the caller refuses what is not finite */
    *p = end;
    return true;
}

bool units_parse_real(const char *text, double *out, GError **err)
{
    const char *s = skip_blanks(text);
    double value = 0, divisor = 1;
    bool ok = scan_real(&s, &value);
    s = skip_blanks(s);
    if (ok && *s == '/') {
        s = skip_blanks(s + 1);
        ok = scan_real(&s, &divisor);
    }
    if (!ok || !is_end(s))
        return fail(err, UNITS_ERROR_SYNTAX, text,
                    "is not a number; allowed: a decimal number or a fraction such as 1/256");
    double ratio = value / divisor;
    if (divisor == 0 || !isfinite(value) || !isfinite(divisor) || !isfinite(ratio) ||
        (ratio == 0 && value != 0))
        return fail(err, UNITS_ERROR_RANGE, text,
                    "does not fit a floating-point number; allowed: 1e-307 to 1e308, no division by 0");
    *out = ratio;
    return true;
}

/* ---- writing -------------------------------------------------------------- */

/* Fewer digits than struct decimal reads back exactly together with 19 before the point. */
#define MAX_FRACTION 18

/* MAGNITUDE in UNIT, or NULL if its decimal fraction is too long or endless. */
static char *format_in(bool negative, uint64_t magnitude, const struct unit *unit)
{
    uint64_t factor = (uint64_t)unit->factor;
    GString *out = g_string_new(negative ? "-" : "");
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, magnitude / factor);
    u128 rest = magnitude % factor;
    for (int i = 0; rest != 0 && i < MAX_FRACTION; i++) {
        rest *= 10;
        g_string_append_printf(out, "%s%u", i == 0 ? "." : "", (unsigned)(rest / factor));
        rest %= factor;
    }
    g_string_append(out, unit->name);
    return g_string_free(out, rest != 0);
}

/* The shortest text in a unit not larger than the value; of equal ones the larger unit. */
static char *format_quantity(int64_t value, const struct quantity *q)
{
    if (value == 0)
        return g_strdup("0");
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char *best = NULL;
    for (int i = 0; i < q->n_formatted && (uint64_t)q->units[i].factor <= magnitude; i++) {
        char *text = format_in(value < 0, magnitude, &q->units[i]);
        if (text && (!best || strlen(text) <= strlen(best)))
            g_free(g_steal_pointer(&best)), best = g_steal_pointer(&text);
        g_free(text);
    }
    return best;
}

char *units_format_time(int64_t ps)
{
    return format_quantity(ps, &time_quantity);
}
char *units_format_bytes(int64_t bytes)
{
    return format_quantity(bytes, &byte_quantity);
}
char *units_format_rate(int64_t bps)
{
    return format_quantity(bps, &rate_quantity);
}
char *units_format_length(int64_t mm)
{
    return format_quantity(mm, &length_quantity);
}

/* Turns the C library's "1e-06" and "1e+20" into "1e-6" and "1e20", in place. */
static void shorten_exponent(char *text)
{
    char *e = strchr(text, 'e');
    if (!e)
        return;
    char *to = e + 1, *from = e + 1;
    if (*from == '-')
        to++;
    from++;
    while (*from == '0')
        from++;
    memmove(to, from, strlen(from) + 1);
}

char *units_format_real(double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    for (int digits = 1; digits <= 17; digits++) {
        char format[8];
        g_snprintf(format, sizeof format, "%%.%dg", digits);
        g_ascii_formatd(text, sizeof text, format, value);
        if (g_ascii_strtod(text, NULL) == value)
            break;
    }
    shorten_exponent(text);
    return g_strdup(text);
}

struct human_unit {
    const char *name;
    double factor;
};

/* One decimal from 10 on, two below, none for whole base units; 999.96 us is 1.00 ms. */
static char *human(double value, const struct human_unit *units, int n)
{
    if (!isfinite(value))
        return g_strdup("n/a");
    double magnitude = fabs(value);
    int i = 0;
    while (i + 1 < n && magnitude >= units[i + 1].factor * 0.99995)
        i++;
    double scaled = value / units[i].factor;
    int decimals = fabs(scaled) >= 9.995 ? 1 : 2;
    if (i == 0 && floor(value) == value)
        decimals = 0;
    char format[8], text[G_ASCII_DTOSTR_BUF_SIZE + 320];
    g_snprintf(format, sizeof format, "%%.%df", decimals);
    g_ascii_formatd(text, sizeof text, format, scaled);
    return g_strdup_printf("%s %s", text, units[i].name);
}

char *units_human_time(int64_t ps)
{
    static const struct human_unit units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    return human((double)ps, units, G_N_ELEMENTS(units));
}

char *units_human_bytes(double bytes)
{
    static const struct human_unit units[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
    return human(bytes, units, G_N_ELEMENTS(units));
}

char *units_human_rate(double bps)
{
    static const struct human_unit units[] = {
        {"b/s", 1}, {"kb/s", 1e3}, {"Mb/s", 1e6}, {"Gb/s", 1e9}, {"Tb/s", 1e12}};
    return human(bps, units, G_N_ELEMENTS(units));
}

char *units_human_bytes_rate(double bps)
{
    static const struct human_unit units[] = {
        {"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
    return human(bps / UNIT_BITS_PER_BYTE, units, G_N_ELEMENTS(units));
}

/* ---- conversions ---------------------------------------------------------- */

sim_ps units_wire_ps(int64_t bytes, int64_t bps)
{
    g_return_val_if_fail(bytes >= 0 && bps > 0, SIM_PS_MAX);
    u128 ps = ((u128)bytes * PS_PER_S_BITS + (u128)bps - 1) / (u128)bps;
    return ps > (u128)SIM_PS_MAX ? SIM_PS_MAX : (sim_ps)ps; /* beyond all simulated time: never */
}

int64_t units_bytes_in(sim_ps ps, int64_t bps)
{
    g_return_val_if_fail(ps >= 0 && bps >= 0, 0);
    u128 bytes = (u128)ps * (u128)bps / PS_PER_S_BITS;
    return bytes > (u128)INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

double units_rate_bps(int64_t bytes, sim_ps ps)
{
    return ps == 0 ? 0 : (double)bytes * UNIT_BITS_PER_BYTE / units_ps_to_s(ps);
}

double units_ps_to_s(sim_ps ps)
{
    return (double)ps / (double)UNIT_S;
}

/* Rounded up: a link may be slower than its rate by a part in 10^6, never faster. */
int64_t units_ps_per_byte_q16(int64_t bps)
{
    g_return_val_if_fail(bps > 0, INT64_MAX);
    return (int64_t)(((PS_PER_S_BITS << 16) + (u128)bps - 1) / (u128)bps);
}
