/* workload_read.c - lines, numbers and messages for the readers of workload files. */
#include "scenarios/workload_read.h"

#include <string.h>

G_DEFINE_QUARK(fabricast-workload-error-quark, workload_error)

/* ---- messages ----------------------------------------------------------------- */

bool read_fail(const struct read_place *at, GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT, "%s:%d: %s%s%s", at->name, at->line, at->key ? at->key : "",
                at->key ? ": " : "", text);
    return false;
}

void read_warn(GPtrArray *warnings, const char *format, ...)
{
    if (!warnings)
        return;
    va_list args;
    va_start(args, format);
    g_ptr_array_add(warnings, g_strdup_vprintf(format, args));
    va_end(args);
}

#define QUOTE_MAX 40

char *read_quote(const char *text)
{
    GString *out = g_string_new("'");
    for (int i = 0; text[i] != '\0' && i < QUOTE_MAX; i++)
        g_string_append_c(out, g_ascii_isprint(text[i]) ? text[i] : '?');
    g_string_append(out, strlen(text) > QUOTE_MAX ? "...'" : "'");
    return g_string_free(out, FALSE);
}

static bool fail_text(const struct read_place *at, GError **err, const char *text, const char *allowed)
{
    g_autofree char *quoted = read_quote(text);
    return read_fail(at, err, "%s is not %s", quoted, allowed);
}

/* ---- numbers ------------------------------------------------------------------ */

bool read_int(const struct read_place *at, const char *text, int64_t min, int64_t max, int64_t *out, GError **err)
{
    int64_t value = 0;
    if (!units_parse_int(text, &value, NULL))
        return fail_text(at, err, text, "a whole number");
    if (value < min || value > max)
        return read_fail(at, err, "%" G_GINT64_FORMAT " is outside %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT, value, min, max);
    *out = value;
    return true;
}

bool read_u32(const struct read_place *at, const char *text, uint32_t max, uint32_t *out, GError **err)
{
    int64_t value = 0;
    if (!read_int(at, text, 0, max, &value, err))
        return false;
    *out = (uint32_t)value;
    return true;
}

bool read_bytes(const struct read_place *at, const char *text, int64_t *out, GError **err)
{
    int64_t value = 0;
    if (!units_parse_int(text, &value, NULL) && !units_parse_bytes(text, &value, NULL))
        return fail_text(at, err, text, "a size; allowed: whole bytes (5000000000) or a number with a unit (4KiB)");
    if (value < 0)
        return read_fail(at, err, "%" G_GINT64_FORMAT " is negative; allowed: 0 or more", value);
    if (value > READ_MAX_BYTES)
        return read_fail(at, err, "%" G_GINT64_FORMAT " is above %" G_GINT64_FORMAT, value, READ_MAX_BYTES);
    *out = value;
    return true;
}

bool read_time(const struct read_place *at, const char *text, const char *unit, int64_t *out_ps, GError **err)
{
    int64_t value = 0;
    g_autofree char *with_unit = g_strconcat(text, unit, NULL);
    if (!units_parse_time(with_unit, &value, NULL)) {
        g_autofree char *allowed = unit[0] != '\0'
                                       ? g_strdup_printf("a number of %s (whole picoseconds)", unit)
                                       : g_strdup("a time with a unit (10us), or 0");
        return fail_text(at, err, text, allowed);
    }
    if (value < 0 || value > READ_MAX_PS)
        return fail_text(at, err, text, value < 0 ? "0 or later" : "within 1000000 s");
    *out_ps = value;
    return true;
}

bool read_rank(const struct read_place *at, const char *text, uint32_t n_ranks, uint32_t *out, GError **err)
{
    int64_t value = 0;
    if (!units_parse_int(text, &value, NULL))
        return fail_text(at, err, text, "a rank");
    if (value < 0 || value >= n_ranks)
        return read_fail(at, err, "rank %" G_GINT64_FORMAT " does not exist, there are %u ranks", value, n_ranks);
    *out = (uint32_t)value;
    return true;
}

#define RANK_MAX 16777215

static bool parse_range(const char *text, GArray *ranks)
{
    g_auto(GStrv) ends = g_strsplit(text, "-", 2);
    int64_t from = 0, until = 0;
    if (!ends[0] || !units_parse_int(ends[0], &from, NULL) || from < 0 || from > RANK_MAX)
        return false;
    until = from;
    if (ends[1] && (!units_parse_int(ends[1], &until, NULL) || until < from || until > RANK_MAX))
        return false;
    for (uint32_t rank = (uint32_t)from; rank <= (uint32_t)until; rank++)
        g_array_append_val(ranks, rank);
    return ranks->len <= RANK_MAX + 1;
}

GArray *workload_parse_ranks(const char *text, GError **err)
{
    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    bool is_empty = g_strv_length(parts) == 0 || (!parts[1] && g_strstrip(parts[0])[0] == '\0');
    for (char **part = parts; !is_empty && *part; part++) {
        if (!parse_range(g_strstrip(*part), ranks)) {
            g_autofree char *quoted = read_quote(*part);
            g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT,
                        "%s is not a rank or a range of ranks; allowed: 0-7,16-23", quoted);
            return NULL;
        }
    }
    return g_steal_pointer(&ranks);
}

/* ---- lines -------------------------------------------------------------------- */

bool read_lines_begin(struct read_lines *lines, const char *name, const uint8_t *data, size_t n_bytes, GError **err)
{
    static const uint8_t byte_order_mark[3] = {0xef, 0xbb, 0xbf};
    if (n_bytes == 0)
        data = byte_order_mark; /* any place will do; NULL would not */
    *lines = (struct read_lines){.at = {name, 0, NULL}, .next = data, .end = data + n_bytes};
    const uint8_t *zero = n_bytes > 0 ? memchr(data, 0, n_bytes) : NULL;
    if (zero) {
        lines->at.line = 1;
        for (const uint8_t *p = data; p < zero; p++)
            lines->at.line += *p == '\n' ? 1 : 0;
        return read_fail(&lines->at, err, "zero byte; this is not a text file");
    }
    if (n_bytes >= 3 && memcmp(data, byte_order_mark, 3) == 0)
        lines->next += 3;
    return true;
}

char *read_lines_next(struct read_lines *lines)
{
    while (lines->next < lines->end) {
        const uint8_t *start = lines->next, *stop = memchr(start, '\n', (size_t)(lines->end - start));
        lines->next = stop ? stop + 1 : lines->end;
        lines->at.line++;
        char *line = g_strstrip(g_strndup((const char *)start, (gsize)((stop ? stop : lines->end) - start)));
        if (line[0] != '\0' && line[0] != '#')
            return line;
        g_free(line);
    }
    return NULL;
}

/* ---- flows -------------------------------------------------------------------- */

void read_add_flow(struct job *job, const struct read_flow *flow)
{
    struct job_op op = {
        .amount = flow->bytes,
        .earliest_ps = flow->start_ps,
        .rank = flow->src,
        .peer = flow->dst,
        .tag = job->flows->len, /* its own tag: flows of one pair are not mixed up */
        .match = JOB_NONE,
        .collective = JOB_NONE,
        .origin = flow->id,
        .kind = JOB_SEND,
        .traffic_class = flow->traffic_class,
    };
    struct job_flow entry = {.id = flow->id, .send_op = job_add(job, &op)};
    op.kind = JOB_RECV;
    op.rank = flow->dst;
    op.peer = flow->src;
    op.earliest_ps = 0;
    entry.recv_op = job_add(job, &op);
    g_array_append_val(job->flows, entry);
}

GHashTable *read_flow_index(const struct job *job)
{
    GHashTable *index = g_hash_table_new(NULL, NULL);
    for (uint32_t i = 0; i < job->flows->len; i++)
        g_hash_table_insert(index, GUINT_TO_POINTER(g_array_index(job->flows, struct job_flow, i).id), GUINT_TO_POINTER(i + 1));
    return index;
}
