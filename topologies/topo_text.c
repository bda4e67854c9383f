/* topo_text.c - line reader of the topology importers. */
#include "topologies/topo_text.h"
#include "topologies/fabric_priv.h"
#include <inttypes.h>
#include <string.h>

#define QUOTE_BYTES 40

bool topo_text_load(struct topo_text *text, const char *path, GError **err)
{
    gsize size = 0;
    g_autoptr(GError) cause = NULL;
    *text = (struct topo_text){.path = g_strdup(path), .fields = g_ptr_array_new()};
    if (!g_file_get_contents(path, &text->data, &size, &cause))
        return fabric_fail(err, "%s: %s", path, cause->message);
    text->next = text->data;
    if (size == 0)
        return fabric_fail(err, "%s: the file is empty", path);
    if (memchr(text->data, '\0', size))
        return fabric_fail(err, "%s: not a text file (it holds NUL bytes)", path);
    return true;
}

void topo_text_release(struct topo_text *text)
{
    g_clear_pointer(&text->path, g_free);
    g_clear_pointer(&text->data, g_free);
    g_clear_pointer(&text->fields, g_ptr_array_unref);
}

/* Cuts the next line off and returns it, without comment. */
static char *cut_line(struct topo_text *text)
{
    char *line = text->next;
    char *end = strchr(line, '\n');
    text->next = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    text->line++;
    text->comment = strchr(line, '#');
    if (text->comment)
        *text->comment++ = '\0';
    return line;
}

static void split_words(struct topo_text *text, char *line, const char *separators)
{
    char *rest = NULL;
    for (char *field = strtok_r(line, separators, &rest); field; field = strtok_r(NULL, separators, &rest))
        g_ptr_array_add(text->fields, field);
}

static void split_commas(struct topo_text *text, char *line)
{
    g_strstrip(line);
    while (line && (*line || text->fields->len)) {
        char *field = strsep(&line, ",");
        g_ptr_array_add(text->fields, g_strstrip(field));
    }
}

bool topo_text_next(struct topo_text *text, const char *separators)
{
    while (text->next && *text->next) {
        char *line = cut_line(text);
        g_ptr_array_set_size(text->fields, 0);
        if (separators[0] == ',')
            split_commas(text, line);
        else
            split_words(text, line, separators);
        if (text->fields->len || text->comment)
            return true;
    }
    g_ptr_array_set_size(text->fields, 0);
    text->comment = NULL;
    return false;
}

bool topo_text_fail(const struct topo_text *text, GError **err, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    return fabric_fail(err, "%s:%d: %s%s%s", text->path, text->line, key ? key : "", key ? ": " : "", what);
}

static const char *field_at(const struct topo_text *text, guint index)
{
    g_assert(index < text->fields->len);
    return g_ptr_array_index(text->fields, index);
}

char *topo_text_quote(const struct topo_text *text, guint index)
{
    const char *field = field_at(text, index);
    g_autofree char *start = g_strndup(field, QUOTE_BYTES);
    g_autofree char *escaped = g_strescape(start, NULL);
    return g_strconcat(escaped, strlen(field) > QUOTE_BYTES ? "..." : "", NULL);
}

bool topo_text_int(const struct topo_text *text, guint index, const char *key, int64_t min, int64_t max,
                   int64_t *out, GError **err)
{
    int64_t value = 0;
    if (units_parse_int(field_at(text, index), &value, NULL) && value >= min && value <= max) {
        *out = value;
        return true;
    }
    g_autofree char *quote = topo_text_quote(text, index);
    return topo_text_fail(text, err, key, "'%s' is not a whole number from %" PRId64 " to %" PRId64, quote,
                          min, max);
}

bool topo_text_rate(const struct topo_text *text, guint index, const char *key, const char *unit,
                    int64_t *out_bps, GError **err)
{
    int64_t bps = 0;
    g_autofree char *with_unit = g_strconcat(field_at(text, index), unit, NULL);
    if (units_parse_rate(with_unit, &bps, NULL) && bps > 0 && bps <= FABRIC_MAX_RATE_BPS) {
        *out_bps = bps;
        return true;
    }
    g_autofree char *quote = topo_text_quote(text, index);
    if (unit[0])
        return topo_text_fail(text, err, key, "'%s' is not a rate in %s above 0, up to 100000", quote, unit);
    return topo_text_fail(text, err, key, "'%s' is not a rate such as 100Gbps, above 0, up to 100Tbps",
                          quote);
}

bool topo_text_time(const struct topo_text *text, guint index, const char *key, const char *unit,
                    int64_t *out_ps, GError **err)
{
    int64_t ps = 0;
    g_autofree char *with_unit = g_strconcat(field_at(text, index), unit, NULL);
    if (units_parse_time(with_unit, &ps, NULL) && ps > 0 && ps <= FABRIC_MAX_DELAY_PS) {
        *out_ps = ps;
        return true;
    }
    g_autofree char *quote = topo_text_quote(text, index);
    if (unit[0])
        return topo_text_fail(text, err, key, "'%s' is not a time in %s above 0, up to 100 ms", quote, unit);
    return topo_text_fail(text, err, key, "'%s' is not a time such as 1000ns, above 0, up to 100ms", quote);
}
