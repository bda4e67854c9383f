/* sonic_pg_lookup.c - pg_profile_lookup.ini: what a SONiC switch takes for a lossless priority group by speed and cable.
 *
 * Lines "speed cable size xon xoff threshold [xon_offset]": Mb/s, a length such as 40m, bytes, log2 of alpha; '#' begins a comment.
 */
#include "scenarios/sonic_priv.h"

#include "scenarios/workload_read.h"

#define MAX_MBPS INT64_C(100000000)

static bool read_column(struct read_place *at, const char *key, const char *text, int64_t min, int64_t max, int64_t *out, GError **err)
{
    at->key = key;
    return read_int(at, text, min, max, out, err);
}

static bool read_cable(struct read_place *at, const char *text, int64_t *out_mm, GError **err)
{
    g_autofree char *quoted = read_quote(text);
    at->key = "cable";
    return (units_parse_length(text, out_mm, NULL) && *out_mm >= 0 && *out_mm <= 800 * UNIT_KM) ||
           read_fail(at, err, "%s; allowed: a length such as 40m, up to 800 km", quoted);
}

static bool read_row(struct read_place at, char *line, struct sonic_pg_row *row, GError **err)
{
    g_auto(GStrv) words = g_strsplit_set(g_strdelimit(line, "\t", ' '), " ", -1);
    const char *word[8] = {NULL};
    guint n = 0;
    int64_t mbps = 0;
    for (char **w = words; *w; w++)
        if (**w && n < G_N_ELEMENTS(word))
            word[n++] = *w;
    if (n != 6 && n != 7)
        return read_fail(&at, err, "%u columns; allowed: speed cable size xon xoff threshold, and perhaps xon_offset", n);
    if (!read_column(&at, "speed", word[0], 1, MAX_MBPS, &mbps, err) || !read_cable(&at, word[1], &row->cable_mm, err) ||
        !read_column(&at, "size", word[2], 0, READ_MAX_BYTES, &row->size, err) ||
        !read_column(&at, "xon", word[3], 0, READ_MAX_BYTES, &row->xon, err) ||
        !read_column(&at, "xoff", word[4], 0, READ_MAX_BYTES, &row->xoff, err) ||
        !read_column(&at, "threshold", word[5], -8, 8, &row->threshold, err) ||
        (n == 7 && !read_column(&at, "xon_offset", word[6], 0, READ_MAX_BYTES, &row->xon_offset, err)))
        return false;
    row->rate_bps = mbps * UNIT_MBPS;
    return true;
}

GPtrArray *sonic_pg_lookup_parse(const char *name, const uint8_t *data, size_t n_bytes, GError **err)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
    struct read_lines lines;
    if (!read_lines_begin(&lines, name, data, n_bytes, err))
        return NULL;
    for (char *next; (next = read_lines_next(&lines));) {
        g_autofree char *line = next;
        struct sonic_pg_row *row = g_new0(struct sonic_pg_row, 1);
        g_ptr_array_add(rows, row);
        if (!read_row(lines.at, line, row, err))
            return NULL;
        for (guint i = 0; i + 1 < rows->len; i++) {
            const struct sonic_pg_row *other = g_ptr_array_index(rows, i);
            if (other->rate_bps == row->rate_bps && other->cable_mm == row->cable_mm) {
                read_fail(&lines.at, err, "speed and cable twice; allowed: one row for each pair");
                return NULL;
            }
        }
    }
    if (rows->len > 0)
        return g_steal_pointer(&rows);
    read_fail(&(struct read_place){name, 1, NULL}, err, "no rows; allowed: speed cable size xon xoff threshold [xon_offset]");
    return NULL;
}

const struct sonic_pg_row *sonic_pg_lookup_find(const GPtrArray *rows, int64_t rate_bps, int64_t cable_mm)
{
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct sonic_pg_row *row = g_ptr_array_index(rows, i);
        if (row->rate_bps == rate_bps && row->cable_mm == cable_mm)
            return row;
    }
    return NULL;
}

/* ---- what the table says about itself ---------------------------------------------- */

/* The row of the same speed with the next longer cable; NULL: none. */
static const struct sonic_pg_row *next_longer(const GPtrArray *rows, const struct sonic_pg_row *row)
{
    const struct sonic_pg_row *best = NULL;
    for (guint i = 0; i < rows->len; i++) {
        const struct sonic_pg_row *other = g_ptr_array_index(rows, i);
        if (other->rate_bps == row->rate_bps && other->cable_mm > row->cable_mm && (!best || other->cable_mm < best->cable_mm))
            best = other;
    }
    return best;
}

static void describe_step(struct sonic *s, const struct sonic_pg_row *from, const struct sonic_pg_row *to)
{
    sim_ps extra_ps = units_cable_ps(to->cable_mm) - units_cable_ps(from->cable_mm);
    int64_t physical = units_bytes_in(2 * extra_ps, from->rate_bps), step = to->xoff - from->xoff;
    if (physical <= 0)
        return;
    g_autofree char *rate = units_format_rate(from->rate_bps), *a = units_format_length(from->cable_mm), *b = units_format_length(to->cable_mm);
    sonic_fact(s, "pg lookup: %s, %s to %s: xoff grows by %" G_GINT64_FORMAT " B, 2 x cable delay x rate by %" G_GINT64_FORMAT
               " B: x%.2f, the table's worst-case factor for partly filled cells", rate, a, b, step, physical, (double)step / (double)physical);
}

void sonic_pg_lookup_describe(struct sonic *s)
{
    guint n_sum = 0, n = s->lookup ? s->lookup->len : 0;
    for (guint i = 0; i < n; i++) {
        const struct sonic_pg_row *row = g_ptr_array_index(s->lookup, i), *longer = next_longer(s->lookup, row);
        n_sum += row->size == row->xon + row->xoff;
        if (longer)
            describe_step(s, row, longer);
    }
    if (n > 0)
        sonic_fact(s, "pg lookup: %u rows; size = xon + xoff in %s", n, n_sum == n ? "all of them" : n_sum ? "some of them" : "none of them");
}
