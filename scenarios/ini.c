/* ini.c - splits a scenario file into entries. GKeyFile is not used since it keeps no line numbers. */
#include "scenarios/ini.h"

#include "sim/message.h"
#include <stdbool.h>
#include <string.h>

G_DEFINE_QUARK(fabricast - scenario - error, scenario_error)

#define FORMS "allowed: [group], key = value, # comment"

struct scanner {
    const char *name;
    int line;
    const char *group; /* borrowed from the last header's entry */
    GPtrArray *entries;
};

static void entry_free(void *data)
{
    struct ini_entry *entry = data;
    g_free(entry->group);
    g_free(entry->key);
    g_free(entry->value);
    g_free(entry);
}

/* Always false, for return. */
G_GNUC_PRINTF(3, 4)
static bool fail(const struct scanner *s, GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(err, SCENARIO_ERROR, SCENARIO_ERROR_SYNTAX, "%s:%d: %s", s->name, s->line, message);
    return false;
}

/* Takes over KEY and VALUE. */
static void add(struct scanner *s, const char *group, char *key, char *value)
{
    struct ini_entry *entry = g_new(struct ini_entry, 1);
    *entry = (struct ini_entry){s->line, g_strdup(group), key, value};
    g_ptr_array_add(s->entries, entry);
    s->group = entry->group;
}

static void cut_comment(char *text)
{
    for (char *p = text; *p; p++) {
        if (*p == '#' && (p == text || g_ascii_isspace(p[-1]))) {
            *p = '\0';
            return;
        }
    }
}

static bool scan_header(struct scanner *s, char *text, GError **err)
{
    size_t n = strlen(text);
    g_autofree char *quoted = message_quote(text);
    if (text[n - 1] != ']')
        return fail(s, err, "%s does not end with ']'; " FORMS, quoted);
    text[n - 1] = '\0';
    char *group = g_strstrip(text + 1);
    if (*group == '\0')
        return fail(s, err, "[] names no group; " FORMS);
    if (strpbrk(group, "[]"))
        return fail(s, err, "%s holds more than one group; " FORMS, quoted);
    add(s, group, NULL, NULL);
    return true;
}

static bool scan_assignment(struct scanner *s, const char *text, GError **err)
{
    const char *equals = strchr(text, '=');
    g_autofree char *quoted = message_quote(text);
    if (!equals)
        return fail(s, err, "%s has no '='; " FORMS, quoted);
    g_autofree char *key = g_strstrip(g_strndup(text, (gsize)(equals - text)));
    if (*key == '\0')
        return fail(s, err, "%s has no key before '='; " FORMS, quoted);
    add(s, s->group, g_steal_pointer(&key), g_strstrip(g_strdup(equals + 1)));
    return true;
}

/* One line without its end. */
static bool scan_line(struct scanner *s, const char *line, gsize n, GError **err)
{
    if (n > INI_MAX_LINE)
        return fail(s, err, "line of %" G_GSIZE_FORMAT " bytes; allowed: up to %d", n, INI_MAX_LINE);
    if (memchr(line, '\0', n))
        return fail(s, err, "line holds a NUL byte; allowed: UTF-8 text");
    if (!g_utf8_validate(line, (gssize)n, NULL))
        return fail(s, err, "line is not valid UTF-8; allowed: UTF-8 text");
    g_autofree char *text = g_strndup(line, n);
    cut_comment(text);
    g_strstrip(text);
    if (*text == '\0')
        return true;
    return *text == '[' ? scan_header(s, text, err) : scan_assignment(s, text, err);
}

static bool scan_all(struct scanner *s, const char *data, const char *end, GError **err)
{
    while (data < end) {
        const char *stop = memchr(data, '\n', (gsize)(end - data));
        if (!stop)
            stop = end;
        s->line++;
        if (!scan_line(s, data, (gsize)(stop - data), err))
            return false;
        data = stop < end ? stop + 1 : end;
    }
    return true;
}

GPtrArray *ini_scan(const char *name, const char *data, gsize n_bytes, GError **err)
{
    static const char byte_order_mark[] = {'\xef', '\xbb', '\xbf'};
    const char *end = data + n_bytes;
    if (n_bytes >= sizeof byte_order_mark && memcmp(data, byte_order_mark, sizeof byte_order_mark) == 0)
        data += sizeof byte_order_mark;
    struct scanner s = {.name = name, .group = "", .entries = g_ptr_array_new_with_free_func(entry_free)};
    if (scan_all(&s, data, end, err))
        return s.entries;
    g_ptr_array_unref(s.entries);
    return NULL;
}
