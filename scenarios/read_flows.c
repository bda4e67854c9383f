/* read_flows.c - our flow list and its paths file: CSV with a header line, no quoting. */
#include "scenarios/workload_read.h"

#include <string.h>

/* ---- CSV with named columns ------------------------------------------------------ */

#define CSV_COLUMNS_MAX 16

struct csv {
    struct read_lines lines;
    const char *const *names; /* known columns */
    int n_names;
    int place[CSV_COLUMNS_MAX]; /* per known column: where it stands in a row, or -1 */
    guint n_fields;
};

static int find_name(const struct csv *csv, const char *text)
{
    for (int i = 0; i < csv->n_names; i++)
        if (strcmp(csv->names[i], text) == 0)
            return i;
    return -1;
}

static bool take_column(struct csv *csv, char *text, int place, GError **err)
{
    int column = find_name(csv, g_strstrip(text));
    g_autofree char *quoted = read_quote(text);
    if (column < 0) {
        g_autoptr(GString) known = g_string_new(csv->names[0]);
        for (int i = 1; i < csv->n_names; i++)
            g_string_append_printf(known, ", %s", csv->names[i]);
        return read_fail(&csv->lines.at, err, "unknown column %s; allowed: %s", quoted, known->str);
    }
    if (csv->place[column] >= 0)
        return read_fail(&csv->lines.at, err, "column %s is there twice", quoted);
    csv->place[column] = place;
    return true;
}

static bool require_columns(struct csv *csv, int n_required, GError **err)
{
    for (int i = 0; i < n_required; i++)
        if (csv->place[i] < 0)
            return read_fail(&csv->lines.at, err, "no column '%s'", csv->names[i]);
    return true;
}

/* Reads the header. The first N_REQUIRED of NAMES must be there. */
static bool csv_begin(struct csv *csv, const char *const *names, int n_names, int n_required, GError **err)
{
    csv->names = names;
    csv->n_names = n_names;
    for (int i = 0; i < CSV_COLUMNS_MAX; i++)
        csv->place[i] = -1;
    g_autofree char *line = read_lines_next(&csv->lines);
    if (!line) {
        csv->lines.at.line = MAX(csv->lines.at.line, 1);
        return read_fail(&csv->lines.at, err, "the file has no header line");
    }
    g_auto(GStrv) fields = g_strsplit(line, ",", -1);
    csv->n_fields = g_strv_length(fields);
    for (guint i = 0; i < csv->n_fields; i++)
        if (!take_column(csv, fields[i], (int)i, err))
            return false;
    return require_columns(csv, n_required, err);
}

/* Splits LINE, which must have as many fields as the header. (transfer full) */
static char **csv_fields(const struct csv *csv, const char *line, GError **err)
{
    g_auto(GStrv) fields = g_strsplit(line, ",", -1);
    guint n = g_strv_length(fields);
    if (n != csv->n_fields) {
        read_fail(&csv->lines.at, err, "%u fields, the header has %u", n, csv->n_fields);
        return NULL;
    }
    for (guint i = 0; i < n; i++)
        g_strstrip(fields[i]);
    return g_steal_pointer(&fields);
}

/* The field of COLUMN, NULL if there is no such column; *AT points to it for messages. */
static const char *csv_get(const struct csv *csv, char **fields, int column, struct read_place *at)
{
    *at = csv->lines.at;
    at->key = csv->names[column];
    return csv->place[column] < 0 ? NULL : fields[csv->place[column]];
}

/* ---- flow list ------------------------------------------------------------------- */

enum {
    COL_SRC, COL_DST, COL_BYTES, COL_FLOW, COL_START, COL_START_US, COL_START_NS, COL_START_PS, COL_CLASS, COL_AFTER, COL_APPLICATION,
    N_COLUMNS
};
static const char *const flow_columns[] = {
    "src", "dst", "bytes", "flow", "start", "start_us", "start_ns", "start_ps", "class", "after_flow", "application",
};
#define MAX_APPLICATIONS     64
#define MAX_APPLICATION_NAME 64 /* bytes */
static const char *const start_units[] = {"", "us", "ns", "ps"};

/* A row that starts when another flow is done. */
struct follower {
    int line;
    uint32_t flow;  /* index */
    uint32_t after; /* id */
};

struct flow_reader {
    struct csv csv;
    struct job *job;
    GHashTable *by_id; /* id -> index + 1 */
    GArray *followers;
};

static bool read_ends(struct flow_reader *r, char **fields, struct read_flow *flow, GError **err)
{
    struct read_place at;
    const char *src = csv_get(&r->csv, fields, COL_SRC, &at);
    if (!read_rank(&at, src, r->job->n_ranks, &flow->src, err))
        return false;
    const char *dst = csv_get(&r->csv, fields, COL_DST, &at);
    if (!read_rank(&at, dst, r->job->n_ranks, &flow->dst, err))
        return false;
    if (flow->src == flow->dst)
        return read_fail(&at, err, "%u is the source, too; a flow needs two ranks", flow->dst);
    const char *bytes = csv_get(&r->csv, fields, COL_BYTES, &at);
    return read_bytes(&at, bytes, &flow->bytes, err);
}

/* Not asked of a row that follows another flow: its start has no meaning. */
static bool read_start(struct flow_reader *r, char **fields, struct read_flow *flow, GError **err)
{
    guint n = r->followers->len;
    if (n > 0 && g_array_index(r->followers, struct follower, n - 1).flow == r->job->flows->len)
        return true;
    for (int i = 0; i < (int)G_N_ELEMENTS(start_units); i++) {
        struct read_place at;
        const char *text = csv_get(&r->csv, fields, COL_START + i, &at);
        if (text && !read_time(&at, text, start_units[i], &flow->start_ps, err))
            return false;
    }
    return true;
}

static bool read_class(struct flow_reader *r, char **fields, struct read_flow *flow, GError **err)
{
    struct read_place at;
    uint32_t value = 0;
    const char *text = csv_get(&r->csv, fields, COL_CLASS, &at);
    if (!text || text[0] == '\0')
        return true;
    if (!read_u32(&at, text, 7, &value, err))
        return false;
    flow->traffic_class = (uint8_t)value;
    return true;
}

/* Few names: a list is searched. */
static bool read_application(struct flow_reader *r, char **fields, uint32_t *application, GError **err)
{
    struct read_place at;
    GPtrArray *names = r->job->applications;
    const char *text = csv_get(&r->csv, fields, COL_APPLICATION, &at);
    if (!text || text[0] == '\0')
        return true;
    guint i = 0;
    while (i < names->len && strcmp(names->pdata[i], text) != 0)
        i++;
    *application = i + 1;
    if (i < names->len)
        return true;
    g_autofree char *quoted = read_quote(text);
    if (strlen(text) > MAX_APPLICATION_NAME || !g_utf8_validate(text, -1, NULL))
        return read_fail(&at, err, "%s; allowed: a name of up to %d bytes of UTF-8 text", quoted, MAX_APPLICATION_NAME);
    if (names->len == MAX_APPLICATIONS)
        return read_fail(&at, err, "%s is one name too many; allowed: %d applications", quoted, MAX_APPLICATIONS);
    g_ptr_array_add(names, g_strdup(text));
    return true;
}

static bool read_id(struct flow_reader *r, char **fields, struct read_flow *flow, GError **err)
{
    struct read_place at;
    const char *text = csv_get(&r->csv, fields, COL_FLOW, &at);
    if (text && !read_u32(&at, text, UINT32_MAX - 1, &flow->id, err))
        return false;
    if (g_hash_table_contains(r->by_id, GUINT_TO_POINTER(flow->id)))
        return read_fail(&at, err, "flow %u is there twice", flow->id);
    g_hash_table_insert(r->by_id, GUINT_TO_POINTER(flow->id), GUINT_TO_POINTER(r->job->flows->len + 1));
    return true;
}

static bool read_after(struct flow_reader *r, char **fields, GError **err)
{
    struct read_place at;
    int64_t after = -1;
    const char *text = csv_get(&r->csv, fields, COL_AFTER, &at);
    if (text && text[0] != '\0' && !read_int(&at, text, -1, UINT32_MAX - 1, &after, err))
        return false;
    if (after < 0)
        return true;
    struct follower f = {at.line, r->job->flows->len, (uint32_t)after};
    g_array_append_val(r->followers, f);
    return true;
}

static bool read_row(struct flow_reader *r, const char *line, GError **err)
{
    g_auto(GStrv) fields = csv_fields(&r->csv, line, err);
    struct read_flow flow = {.id = r->job->flows->len, .traffic_class = JOB_CLASS_DEFAULT};
    uint32_t application = 0;
    if (!fields || !read_id(r, fields, &flow, err) || !read_ends(r, fields, &flow, err) ||
        !read_class(r, fields, &flow, err) || !read_application(r, fields, &application, err) || !read_after(r, fields, err) || !read_start(r, fields, &flow, err))
        return false;
    read_add_flow(r->job, &flow);
    g_array_index(r->job->flows, struct job_flow, r->job->flows->len - 1).application = application;
    return true;
}

static bool link_followers(struct flow_reader *r, GError **err)
{
    for (guint i = 0; i < r->followers->len; i++) {
        const struct follower *f = &g_array_index(r->followers, struct follower, i);
        guint before = GPOINTER_TO_UINT(g_hash_table_lookup(r->by_id, GUINT_TO_POINTER(f->after)));
        struct read_place at = {r->csv.lines.at.name, f->line, "after_flow"};
        if (before == 0)
            return read_fail(&at, err, "there is no flow %u", f->after);
        if (before - 1 == f->flow)
            return read_fail(&at, err, "flow %u waits for itself", f->after);
        const struct job_flow *flows = &g_array_index(r->job->flows, struct job_flow, 0);
        job_depend(r->job, flows[f->flow].send_op, flows[before - 1].send_op);
    }
    return true;
}

static bool check_one_start(struct csv *csv, GError **err)
{
    int n = 0;
    for (int i = COL_START; i <= COL_START_PS; i++)
        n += csv->place[i] >= 0 ? 1 : 0;
    return n <= 1 || read_fail(&csv->lines.at, err, "more than one start column; keep one of start, start_us, start_ns, start_ps");
}

static bool read_flow_rows(struct flow_reader *r, GError **err)
{
    if (!csv_begin(&r->csv, flow_columns, N_COLUMNS, COL_FLOW, err) || !check_one_start(&r->csv, err))
        return false;
    for (char *line = read_lines_next(&r->csv.lines); line; line = read_lines_next(&r->csv.lines)) {
        bool ok = read_row(r, line, err);
        g_free(line);
        if (!ok)
            return false;
    }
    return link_followers(r, err);
}

struct job *read_flows_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, uint32_t n_ranks,
                                  GPtrArray *warnings, GError **err)
{
    struct flow_reader r = {0};
    if (!read_lines_begin(&r.csv.lines, name, data, n_bytes, err))
        return NULL;
    r.job = job_new(n_ranks);
    r.by_id = g_hash_table_new(NULL, NULL);
    r.followers = g_array_new(FALSE, FALSE, sizeof(struct follower));
    bool ok = read_flow_rows(&r, err);
    if (ok && r.job->flows->len == 0)
        read_warn(warnings, "%s: the list has no flows", name);
    g_array_unref(r.followers);
    g_hash_table_unref(r.by_id);
    if (!ok)
        g_clear_pointer(&r.job, job_free);
    return r.job;
}

/* ---- paths ----------------------------------------------------------------------- */

enum { COL_PATH_FLOW, COL_DATA_PATH, COL_ACK_PATH, N_PATH_COLUMNS };
static const char *const path_columns[] = {"flow", "data_path", "ack_path"};

/* "0-128-1" to node ids; at least two. */
static uint32_t *parse_path(const struct read_place *at, const char *text, uint32_t *n_p, GError **err)
{
    g_auto(GStrv) parts = g_strsplit(text, "-", -1);
    uint32_t n = g_strv_length(parts);
    if (n < 2) {
        g_autofree char *quoted = read_quote(text);
        read_fail(at, err, "%s is not a path; allowed: node ids joined by '-', two at least", quoted);
        return NULL;
    }
    g_autofree uint32_t *nodes = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        if (!read_u32(at, parts[i], UINT32_MAX - 1, &nodes[i], err))
            return NULL;
    *n_p = n;
    return g_steal_pointer(&nodes);
}

static bool check_ends(const struct read_place *at, const struct job_path *path, GError **err)
{
    if (path->data_nodes[0] == path->ack_nodes[path->n_ack - 1] && path->ack_nodes[0] == path->data_nodes[path->n_data - 1])
        return true;
    return read_fail(at, err, "must lead from the end of data_path back to its start (%u to %u)",
                     path->data_nodes[path->n_data - 1], path->data_nodes[0]);
}

static bool read_path_flow(const struct csv *csv, char **fields, GHashTable *by_id, uint32_t *index, GError **err)
{
    struct read_place at;
    uint32_t id = 0;
    const char *text = csv_get(csv, fields, COL_PATH_FLOW, &at);
    if (!read_u32(&at, text, UINT32_MAX - 1, &id, err))
        return false;
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(by_id, GUINT_TO_POINTER(id)));
    if (found == 0)
        return read_fail(&at, err, "flow %u is not in the workload, or has a path already", id);
    g_hash_table_remove(by_id, GUINT_TO_POINTER(id));
    *index = found - 1;
    return true;
}

static bool read_path_row(struct csv *csv, const char *line, struct job *job, GHashTable *by_id, GError **err)
{
    g_auto(GStrv) fields = csv_fields(csv, line, err);
    uint32_t index = 0;
    if (!fields || !read_path_flow(csv, fields, by_id, &index, err))
        return false;
    const struct job_flow *flow = &g_array_index(job->flows, struct job_flow, index);
    const struct job_op *send = job_op_at(job, flow->send_op);
    struct job_path path = {.src_rank = send->rank, .dst_rank = send->peer, .flow_id = flow->id};
    struct read_place at;
    const char *text = csv_get(csv, fields, COL_DATA_PATH, &at);
    path.data_nodes = parse_path(&at, text, &path.n_data, err);
    if (!path.data_nodes)
        return false;
    text = csv_get(csv, fields, COL_ACK_PATH, &at);
    path.ack_nodes = parse_path(&at, text, &path.n_ack, err);
    if (path.ack_nodes && check_ends(&at, &path, err)) {
        g_array_append_val(job->paths, path);
        return true;
    }
    g_free(path.data_nodes);
    g_free(path.ack_nodes);
    return false;
}

static bool read_path_rows(struct csv *csv, struct job *job, GHashTable *by_id, GError **err)
{
    if (!csv_begin(csv, path_columns, N_PATH_COLUMNS, N_PATH_COLUMNS, err))
        return false;
    for (char *line = read_lines_next(&csv->lines); line; line = read_lines_next(&csv->lines)) {
        bool ok = read_path_row(csv, line, job, by_id, err);
        g_free(line);
        if (!ok)
            return false;
    }
    return true;
}

bool read_paths_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, struct job *job, GPtrArray *warnings,
                           GError **err)
{
    struct csv csv = {0};
    if (!read_lines_begin(&csv.lines, name, data, n_bytes, err))
        return false;
    g_autoptr(GHashTable) by_id = read_flow_index(job);
    if (!read_path_rows(&csv, job, by_id, err))
        return false;
    if (g_hash_table_size(by_id) > 0)
        read_warn(warnings, "%s: %u of %u flows have no path here; routing chooses theirs", name, g_hash_table_size(by_id),
                  job->flows->len);
    return true;
}
