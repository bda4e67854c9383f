/* read_hpcc_flows.c - flow.txt of the HPCC family of ns-3 simulators.
 *
 * Source: alibaba-edu/High-Precision-Congestion-Control, which its descendants (conweave, SimAI) follow.
 */
#include "scenarios/workload_read.h"

enum { SRC, DST, PG, DPORT, BYTES, START, N_FIELDS };
static const char *const keys[N_FIELDS] = {"src", "dst", "pg", "dport", "bytes", "start_seconds"};

/* The words of LINE, blanks and tabs between them. (transfer full) */
static char **split_words(const char *line)
{
    GPtrArray *words = g_ptr_array_new();
    g_auto(GStrv) parts = g_strsplit_set(line, " \t\r\f", -1);
    for (char **p = parts; *p; p++)
        if ((*p)[0] != '\0')
            g_ptr_array_add(words, g_strdup(*p));
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

static bool read_row(struct read_place at, char **words, uint32_t n_ranks, struct read_flow *flow, GError **err)
{
    uint32_t traffic_class = 0, unused_port = 0;
    at.key = keys[SRC];
    if (!read_rank(&at, words[SRC], n_ranks, &flow->src, err))
        return false;
    at.key = keys[DST];
    if (!read_rank(&at, words[DST], n_ranks, &flow->dst, err))
        return false;
    if (flow->src == flow->dst)
        return read_fail(&at, err, "%u is the source, too; a flow needs two ranks", flow->dst);
    at.key = keys[PG];
    if (!read_u32(&at, words[PG], 7, &traffic_class, err))
        return false;
    flow->traffic_class = (uint8_t)traffic_class;
    at.key = keys[DPORT]; /* checked, not used: every flow is its own queue pair here */
    if (!read_u32(&at, words[DPORT], UINT16_MAX, &unused_port, err))
        return false;
    at.key = keys[BYTES];
    if (!read_bytes(&at, words[BYTES], &flow->bytes, err))
        return false;
    at.key = keys[START];
    return read_time(&at, words[START], "s", &flow->start_ps, err);
}

static bool read_count(struct read_lines *lines, uint32_t *count, GError **err)
{
    g_autofree char *line = read_lines_next(lines);
    struct read_place at = lines->at;
    at.key = "count";
    at.line = MAX(at.line, 1);
    if (!line)
        return read_fail(&at, err, "the file is empty; its first line is the number of flows");
    return read_u32(&at, line, UINT32_MAX - 1, count, err);
}

static bool read_declared_row(struct read_lines *lines, struct job *job, uint32_t declared, GError **err)
{
    g_autofree char *line = read_lines_next(lines);
    uint32_t found = job->flows->len;
    if (!line) {
        struct read_place at = {lines->at.name, 1, "count"};
        return read_fail(&at, err, "%u declared, %u found", declared, found);
    }
    g_auto(GStrv) words = split_words(line);
    if (g_strv_length(words) != N_FIELDS)
        return read_fail(&lines->at, err, "%u words where a flow has 6: src dst pg dport bytes start_seconds (%u declared, %u found)",
                         g_strv_length(words), declared, found);
    struct read_flow flow = {.id = found};
    if (!read_row(lines->at, words, job->n_ranks, &flow, err))
        return false;
    read_add_flow(job, &flow);
    return true;
}

/* HPCC reads as many rows as declared and lets notes follow them; so do we, but not silently. */
static void count_rest(struct read_lines *lines, const char *name, uint32_t declared, GPtrArray *warnings)
{
    uint32_t rest = 0;
    for (char *line = read_lines_next(lines); line; line = read_lines_next(lines)) {
        g_auto(GStrv) words = split_words(line);
        struct read_flow unused;
        rest += g_strv_length(words) == N_FIELDS && read_row(lines->at, words, UINT32_MAX, &unused, NULL) ? 1 : 0;
        g_free(line);
    }
    if (rest > 0)
        read_warn(warnings, "%s: %u declared, %u found: the last %u flows are left out, as HPCC does", name, declared,
                  declared + rest, rest);
}

struct job *read_hpcc_flows_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, uint32_t n_ranks,
                                       GPtrArray *warnings, GError **err)
{
    struct read_lines lines;
    uint32_t declared = 0;
    if (!read_lines_begin(&lines, name, data, n_bytes, err) || !read_count(&lines, &declared, err))
        return NULL;
    struct job *job = job_new(n_ranks);
    while (job->flows->len < declared) {
        if (!read_declared_row(&lines, job, declared, err)) {
            job_free(job);
            return NULL;
        }
    }
    count_rest(&lines, name, declared, warnings);
    return job;
}
