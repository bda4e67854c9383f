/* message.c - quoting and nearest names for error messages. */
#include "sim/message.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* No known name is longer; a longer input is cut before it is compared, so that a
 * hostile file can't make the O(a x b) comparison expensive. */
#define MAX_COMPARED 64
#define MAX_QUOTED   60

char *message_quote(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_strstrip(valid);
    bool is_long = g_utf8_strlen(valid, -1) > MAX_QUOTED;
    if (is_long)
        *g_utf8_offset_to_pointer(valid, MAX_QUOTED) = '\0';
    GString *out = g_string_new("'");
    for (const char *p = valid; *p; p++) {
        if (g_ascii_iscntrl(*p))
            g_string_append_printf(out, "\\x%02x", (unsigned)(unsigned char)*p);
        else
            g_string_append_c(out, *p);
    }
    g_string_append(out, is_long ? "...'" : "'");
    return g_string_free(out, FALSE);
}

static int min3(int a, int b, int c)
{
    return MIN(MIN(a, b), c);
}

int message_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int width = m + 1;
    g_autofree int *d = g_new0(int, (gsize)(n + 1) * (gsize)width);
    for (int j = 0; j <= m; j++)
        d[j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = d + (gsize)i * (gsize)width, *above = row - width;
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN(row[j], (above - width)[j - 2] + 1);
        }
    }
    return d[(gsize)n * (gsize)width + (gsize)m];
}

const char *message_nearest(const char *name, const char *const *names, int n)
{
    g_autofree char *cut = g_strndup(name, MAX_COMPARED);
    int best = (int)(strlen(cut) + 1) / 2;
    const char *found = NULL;
    for (int i = 0; i < n; i++) {
        int distance = message_distance(cut, names[i]);
        if (distance < best || (distance == best && !found)) {
            best = distance;
            found = names[i];
        }
    }
    return found;
}

char *message_allowed(const char *name, const char *const *names, int n)
{
    GString *out = g_string_new(NULL);
    const char *near = message_nearest(name, names, n);
    if (near)
        g_string_append_printf(out, "; did you mean '%s'?", near);
    for (int i = 0; i < n; i++)
        g_string_append_printf(out, "%s%s", i == 0 ? (near ? " Allowed: " : "; allowed: ") : ", ", names[i]);
    return g_string_free(out, FALSE);
}
