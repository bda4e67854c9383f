/* params.c - one parameter: its text forms, its range, its place in the group's struct. */
#include "sim/params_priv.h"

#include "sim/message.h"
#include <string.h>

G_DEFINE_QUARK(fabricast - param - error, param_error)

#define EXACT_IN_DOUBLE (INT64_C(1) << 53)

static void *member(const struct param_desc *row, void *values)
{
    return (char *)values + row->offset;
}
static const void *member_const(const struct param_desc *row, const void *values)
{
    return (const char *)values + row->offset;
}

/* Always false, for return. */
G_GNUC_PRINTF(3, 4)
static bool fail(GError **err, param_error code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(err, PARAM_ERROR, (int)code, message);
    return false;
}

/* Turns an error of sim/units.h into one of this module. Always false, for return. */
static bool fail_units(GError **err, GError *cause)
{
    fail(err, cause->code == UNITS_ERROR_RANGE ? PARAM_ERROR_RANGE : PARAM_ERROR_SYNTAX, "%s",
         cause->message);
    g_error_free(cause);
    return false;
}

/* ---- numbers -------------------------------------------------------------- */

static bool parse_whole(enum param_type type, const char *text, int64_t *out, GError **err)
{
    GError *cause = NULL;
    bool ok = type == PARAM_TIME                               ? units_parse_time(text, out, &cause)
              : type == PARAM_BYTES || type == PARAM_BYTES_MAP ? units_parse_bytes(text, out, &cause)
              : type == PARAM_RATE                             ? units_parse_rate(text, out, &cause)
              : type == PARAM_LENGTH                           ? units_parse_length(text, out, &cause)
                                                               : units_parse_int(text, out, &cause);
    return ok || fail_units(err, cause);
}

static char *format_whole(enum param_type type, int64_t value)
{
    switch (type) {
    case PARAM_TIME:
        return units_format_time(value);
    case PARAM_BYTES:
    case PARAM_BYTES_MAP:
        return units_format_bytes(value);
    case PARAM_RATE:
        return units_format_rate(value);
    case PARAM_LENGTH:
        return units_format_length(value);
    default:
        return g_strdup_printf("%" G_GINT64_FORMAT, value);
    }
}

static bool fail_range(const struct param_desc *row, const char *text, bool below, GError **err)
{
    g_autofree char *quoted = message_quote(text), *lo = param_format_min(row), *hi = param_format_max(row);
    return fail(err, PARAM_ERROR_RANGE, "%s is %s %s; allowed: %s to %s", quoted, below ? "below" : "above",
                below ? lo : hi, lo, hi);
}

static bool parse_whole_in_range(const struct param_desc *row, const char *text, int64_t *out, GError **err)
{
    int64_t value = 0;
    if (!parse_whole(row->type, text, &value, err))
        return false;
    if (value < row->min_i || value > row->max_i)
        return fail_range(row, text, value < row->min_i, err);
    *out = value;
    return true;
}

static bool parse_real_in_range(const struct param_desc *row, const char *text, double *out, GError **err)
{
    GError *cause = NULL;
    double value = 0;
    if (!units_parse_real(text, &value, &cause))
        return fail_units(err, cause);
    if (value < row->min_r || value > row->max_r)
        return fail_range(row, text, value < row->min_r, err);
    *out = value;
    return true;
}

/* ---- words ---------------------------------------------------------------- */

static bool parse_bool(const char *text, bool *out, GError **err)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"yes", true}, {"no", false},
                 {"on", true},   {"off", false},   {"1", true},   {"0", false}};
    g_autofree char *word = g_strstrip(g_strdup(text));
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_ascii_strcasecmp(word, words[i].word) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    g_autofree char *quoted = message_quote(text);
    return fail(err, PARAM_ERROR_SYNTAX, "%s is no truth value; allowed: true false yes no on off 1 0",
                quoted);
}

static bool parse_enum(const char *choices, const char *text, int *out, GError **err)
{
    g_auto(GStrv) names = g_strsplit(choices, "|", -1);
    g_autofree char *word = g_strstrip(g_strdup(text));
    for (int i = 0; names[i]; i++) {
        if (strcmp(word, names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    g_autofree char *quoted = message_quote(text);
    g_autofree char *allowed = message_allowed(word, (const char *const *)names, (int)g_strv_length(names));
    return fail(err, PARAM_ERROR_SYNTAX, "%s is not a choice%s", quoted, allowed);
}

static bool parse_text(const char *text, char **out, GError **err)
{
    if (!g_utf8_validate(text, -1, NULL))
        return fail(err, PARAM_ERROR_SYNTAX, "the text is not valid UTF-8");
    g_free(*out);
    *out = g_strstrip(g_strdup(text));
    return true;
}

static char *nth_choice(const char *choices, int i)
{
    g_auto(GStrv) names = g_strsplit(choices, "|", -1);
    return g_strdup(i >= 0 && i < (int)g_strv_length(names) ? names[i] : "");
}

/* ---- maps ----------------------------------------------------------------- */

int param_map_falls(const struct param_map *map, int from)
{
    for (int i = from; i < map->n; i++)
        if (map->value[i] < map->value[i - 1])
            return i;
    return -1;
}

bool param_map_get(const struct param_map *map, int64_t rate_bps, double *out)
{
    for (int i = 0; i < map->n; i++) {
        if (map->rate_bps[i] == rate_bps || (map->n == 1 && map->rate_bps[i] == 0)) {
            *out = map->value[i];
            return true;
        }
    }
    return false;
}

static bool parse_map_value(const struct param_desc *row, const char *text, double *out, GError **err)
{
    if (row->type == PARAM_REAL_MAP)
        return parse_real_in_range(row, text, out, err);
    int64_t bytes = 0;
    if (!parse_whole_in_range(row, text, &bytes, err))
        return false;
    if (bytes > EXACT_IN_DOUBLE || bytes < -EXACT_IN_DOUBLE) {
        g_autofree char *quoted = message_quote(text);
        return fail(err, PARAM_ERROR_RANGE, "%s is too large for a value by rate; allowed: up to 2^53 bytes", quoted);
    }
    *out = (double)bytes;
    return true;
}

/* Inserts so that rates ascend; a rate that is there already is an error. */
static bool map_insert(struct param_map *map, int64_t rate_bps, double value, GError **err)
{
    int at = map->n;
    while (at > 0 && map->rate_bps[at - 1] >= rate_bps)
        at--;
    g_autofree char *rate = units_format_rate(rate_bps);
    if (at < map->n && map->rate_bps[at] == rate_bps)
        return fail(err, PARAM_ERROR_SYNTAX, "rate %s has two values; allowed: one", rate);
    if (map->n == PARAM_MAP_MAX)
        return fail(err, PARAM_ERROR_RANGE, "more than %d rates; allowed: 1 to %d", PARAM_MAP_MAX,
                    PARAM_MAP_MAX);
    for (int i = map->n; i > at; i--) {
        map->rate_bps[i] = map->rate_bps[i - 1];
        map->value[i] = map->value[i - 1];
    }
    map->rate_bps[at] = rate_bps;
    map->value[at] = value;
    map->n++;
    return true;
}

static bool parse_map_entry(const struct param_desc *row, const char *entry, struct param_map *map,
                            GError **err)
{
    const char *colon = strchr(entry, ':');
    g_autofree char *quoted = message_quote(entry);
    if (!colon)
        return fail(err, PARAM_ERROR_SYNTAX,
                    "%s has no rate; allowed: one value, or rate:value rate:value ...", quoted);
    g_autofree char *rate_text = g_strndup(entry, (gsize)(colon - entry));
    int64_t rate_bps = 0;
    double value = 0;
    if (!parse_whole(PARAM_RATE, rate_text, &rate_bps, err) || !parse_map_value(row, colon + 1, &value, err))
        return false;
    if (rate_bps <= 0)
        return fail(err, PARAM_ERROR_RANGE, "%s: the rate must be above 0", quoted);
    return map_insert(map, rate_bps, value, err);
}

static bool parse_map(const struct param_desc *row, const char *text, struct param_map *out, GError **err)
{
    struct param_map map = {0};
    if (!strchr(text, ':')) {
        map.n = 1;
        if (!parse_map_value(row, text, &map.value[0], err))
            return false;
        *out = map;
        return true;
    }
    g_auto(GStrv) entries = g_strsplit_set(text, " \t,", -1);
    for (char **entry = entries; *entry; entry++)
        if (**entry != '\0' && !parse_map_entry(row, *entry, &map, err))
            return false;
    *out = map;
    return true;
}

static char *format_map(const struct param_desc *row, const struct param_map *map)
{
    GString *out = g_string_new(NULL);
    for (int i = 0; i < map->n; i++) {
        g_autofree char *rate = units_format_rate(map->rate_bps[i]);
        g_autofree char *value = row->type == PARAM_REAL_MAP ? units_format_real(map->value[i])
                                                             : units_format_bytes((int64_t)map->value[i]);
        if (map->rate_bps[i] != 0)
            g_string_append_printf(out, "%s%s:", i ? " " : "", rate);
        g_string_append(out, value);
    }
    return g_string_free(out, FALSE);
}

/* ---- members -------------------------------------------------------------- */

bool param_store(const struct param_desc *row, void *values, const char *text, GError **err)
{
    void *to = member(row, values);
    switch (row->type) {
    case PARAM_REAL:
        return parse_real_in_range(row, text, to, err);
    case PARAM_BOOL:
        return parse_bool(text, to, err);
    case PARAM_ENUM:
        return parse_enum(row->choices, text, to, err);
    case PARAM_TEXT:
        return parse_text(text, to, err);
    case PARAM_BYTES_MAP:
    case PARAM_REAL_MAP:
        return parse_map(row, text, to, err);
    default:
        return parse_whole_in_range(row, text, to, err);
    }
}

void param_store_default(const struct param_desc *row, void *values)
{
    g_autofree char *text = param_format_default(row);
    g_autoptr(GError) err = NULL;
    if (!param_store(row, values, text, &err))
        g_error("default of parameter %s: %s", row->key, err->message);
}

static size_t member_size(enum param_type type)
{
    switch (type) {
    case PARAM_REAL:
        return sizeof(double);
    case PARAM_BOOL:
        return sizeof(bool);
    case PARAM_ENUM:
        return sizeof(int);
    case PARAM_TEXT:
        return sizeof(char *);
    case PARAM_BYTES_MAP:
    case PARAM_REAL_MAP:
        return sizeof(struct param_map);
    default:
        return sizeof(int64_t);
    }
}

void param_copy(const struct param_desc *row, void *to, const void *from)
{
    if (row->type == PARAM_TEXT)
        *(char **)member(row, to) = g_strdup(*(char *const *)member_const(row, from));
    else
        memcpy(member(row, to), member_const(row, from), member_size(row->type));
}

void param_clear(const struct param_desc *row, void *values)
{
    if (row->type == PARAM_TEXT)
        g_clear_pointer((char **)member(row, values), g_free);
}

/* ---- texts ---------------------------------------------------------------- */

char *param_format(const struct param_desc *row, const void *values)
{
    const void *from = member_const(row, values);
    switch (row->type) {
    case PARAM_REAL:
        return units_format_real(*(const double *)from);
    case PARAM_BOOL:
        return g_strdup(*(const bool *)from ? "true" : "false");
    case PARAM_ENUM:
        return nth_choice(row->choices, *(const int *)from);
    case PARAM_TEXT:
        return g_strdup(*(char *const *)from);
    case PARAM_BYTES_MAP:
    case PARAM_REAL_MAP:
        return format_map(row, from);
    default:
        return format_whole(row->type, *(const int64_t *)from);
    }
}

char *param_format_default(const struct param_desc *row)
{
    switch (row->type) {
    case PARAM_REAL:
        return units_format_real(row->def_r);
    case PARAM_BOOL:
        return g_strdup(row->def_i ? "true" : "false");
    case PARAM_ENUM:
        return nth_choice(row->choices, (int)row->def_i);
    case PARAM_TEXT:
    case PARAM_BYTES_MAP:
    case PARAM_REAL_MAP:
        return g_strdup(row->def_text);
    default:
        return format_whole(row->type, row->def_i);
    }
}

/* A limit of the numeric types; "" for the types that have none. */
static char *format_limit(const struct param_desc *row, int64_t limit_i, double limit_r)
{
    switch (row->type) {
    case PARAM_REAL:
    case PARAM_REAL_MAP:
        return units_format_real(limit_r);
    case PARAM_BOOL:
    case PARAM_ENUM:
    case PARAM_TEXT:
        return g_strdup("");
    default:
        return format_whole(row->type, limit_i);
    }
}

char *param_format_min(const struct param_desc *row)
{
    return format_limit(row, row->min_i, row->min_r);
}
char *param_format_max(const struct param_desc *row)
{
    return format_limit(row, row->max_i, row->max_r);
}

const char *param_unit(const struct param_desc *row)
{
    switch (row->type) {
    case PARAM_TIME:
        return "ps";
    case PARAM_BYTES:
    case PARAM_BYTES_MAP:
        return "bytes";
    case PARAM_RATE:
        return "bit/s";
    case PARAM_LENGTH:
        return "mm";
    default:
        return "";
    }
}

const char *param_type_name(enum param_type type)
{
    static const char *const names[] = {
        [PARAM_TIME] = "time",
        [PARAM_BYTES] = "bytes",
        [PARAM_RATE] = "rate",
        [PARAM_LENGTH] = "length",
        [PARAM_INT] = "int",
        [PARAM_REAL] = "real",
        [PARAM_BOOL] = "bool",
        [PARAM_ENUM] = "choice",
        [PARAM_TEXT] = "text",
        [PARAM_BYTES_MAP] = "bytes by rate",
        [PARAM_REAL_MAP] = "real by rate",
    };
    return names[type];
}
