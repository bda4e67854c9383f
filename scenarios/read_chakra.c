/* read_chakra.c - Chakra execution traces: files and messages. Source: mlcommons/chakra, et_def.proto.
 *
 * A file is a sequence of length-delimited protobuf messages, metadata first, then
 * nodes. Attributes may have any whole-number type: encoders differ, and reading
 * only one of them is how sizes silently became 0 elsewhere.
 */
#include "scenarios/chakra.pb-c.h"
#include "scenarios/chakra_trace.h"

#include <string.h>

typedef Fabricast__Chakra__Node pb_node;
typedef Fabricast__Chakra__Attribute pb_attribute;

bool chakra_fail(const struct chakra_trace *trace, uint32_t rank, const struct chakra_node *node, GError **err,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT, "%s: byte %" G_GUINT64_FORMAT ": node %" G_GUINT64_FORMAT ": %s",
                trace->ranks[rank].name, node->offset, node->id, text);
    return false;
}

/* ---- attributes ------------------------------------------------------------------ */

/* One node while it is being read. */
struct node_reader {
    struct chakra_trace *trace;
    uint32_t rank;
    const pb_node *in;
    struct chakra_node out;
};

static const pb_attribute *find_attribute(const pb_node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attributes; i++)
        if (strcmp(node->attributes[i]->name, name) == 0)
            return node->attributes[i];
    return NULL;
}

/* Any of the whole-number types. Values above INT64_MAX come out as false, too. */
static bool whole_value(const pb_attribute *a, int64_t *out)
{
    switch (a->value_case) {
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_WHOLE32:
        return *out = a->whole32, true;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_WHOLE64:
        return *out = a->whole64, true;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_COUNT32:
        return *out = a->count32, true;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_COUNT64:
        return *out = (int64_t)a->count64, a->count64 <= INT64_MAX;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_ZIGZAG32:
        return *out = a->zigzag32, true;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_ZIGZAG64:
        return *out = a->zigzag64, true;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FIXED_COUNT32:
        return *out = a->fixed_count32, true;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FIXED_COUNT64:
        return *out = (int64_t)a->fixed_count64, a->fixed_count64 <= INT64_MAX;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FIXED_WHOLE32:
        return *out = a->fixed_whole32, true;
    case FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FIXED_WHOLE64:
        return *out = a->fixed_whole64, true;
    default:
        return false;
    }
}

static bool fail_here(const struct node_reader *r, const char *key, const char *what, GError **err)
{
    return chakra_fail(r->trace, r->rank, &r->out, err, "%s: %s", key, what);
}

/* *OUT keeps its value if the attribute is absent and not REQUIRED. */
static bool take_whole(const struct node_reader *r, const char *key, bool required, int64_t max, int64_t *out, GError **err)
{
    const pb_attribute *a = find_attribute(r->in, key);
    int64_t value = 0;
    if (!a)
        return !required || fail_here(r, key, "the attribute is missing (an older encoding of the trace?)", err);
    if (!whole_value(a, &value))
        return fail_here(r, key, "is not a whole number", err);
    if (value < 0 || value > max)
        return chakra_fail(r->trace, r->rank, &r->out, err, "%s: %" G_GINT64_FORMAT " is outside 0..%" G_GINT64_FORMAT, key,
                           value, max);
    *out = value;
    return true;
}

static bool take_rank(const struct node_reader *r, const char *key, bool required, int64_t *out, GError **err)
{
    if (!take_whole(r, key, required, UINT32_MAX - 1, out, err))
        return false;
    if (*out < 0 || *out < r->trace->n_ranks)
        return true;
    return chakra_fail(r->trace, r->rank, &r->out, err, "%s: rank %" G_GINT64_FORMAT " has no trace, there are %u ranks", key,
                       *out, r->trace->n_ranks);
}

/* ---- kinds of nodes ---------------------------------------------------------------- */

static bool take_bytes(struct node_reader *r, GError **err)
{
    return take_whole(r, "comm_size", true, READ_MAX_BYTES, &r->out.bytes, err);
}

static bool take_transfer(struct node_reader *r, GError **err)
{
    bool sends = r->out.kind == CHAKRA_SEND;
    int64_t self = -1, peer = -1, tag = 0;
    if (!take_rank(r, sends ? "comm_src" : "comm_dst", false, &self, err) ||
        !take_rank(r, sends ? "comm_dst" : "comm_src", true, &peer, err) ||
        !take_whole(r, "comm_tag", false, COLLECTIVE_TAG_BASE - 1, &tag, err) || !take_bytes(r, err))
        return false;
    if (self >= 0 && self != r->rank)
        return fail_here(r, sends ? "comm_src" : "comm_dst", "is not the rank of this file", err);
    if (peer == r->rank)
        return fail_here(r, sends ? "comm_dst" : "comm_src", "is the rank of this file; a message needs two ranks", err);
    r->out.peer = (uint32_t)peer;
    r->out.tag = (uint32_t)tag;
    return true;
}

static bool take_collective_kind(struct node_reader *r, GError **err)
{
    static const int kinds[] = {JOB_ALL_REDUCE, JOB_REDUCE, JOB_ALL_GATHER, -1, -1, JOB_BROADCAST, JOB_ALL_TO_ALL,
                                JOB_REDUCE_SCATTER, JOB_REDUCE_SCATTER, JOB_BARRIER};
    int64_t type = 0;
    if (!take_whole(r, "comm_type", true, (int64_t)G_N_ELEMENTS(kinds) - 1, &type, err))
        return false;
    if (kinds[type] < 0)
        return fail_here(r, "comm_type", "gather and scatter are not supported", err);
    r->out.collective = (uint8_t)kinds[type];
    return true;
}

static bool all_true(const Fabricast__Chakra__BoolList *list)
{
    for (size_t i = 0; i < list->n_items; i++)
        if (!list->items[i])
            return false;
    return true;
}

static uint32_t group_index(struct chakra_trace *trace, const char *name)
{
    gpointer found = NULL;
    if (g_hash_table_lookup_extended(trace->group_by_name, name, NULL, &found))
        return GPOINTER_TO_UINT(found);
    char *copy = g_string_chunk_insert(trace->strings, name);
    g_hash_table_insert(trace->group_by_name, copy, GUINT_TO_POINTER(trace->groups->len));
    g_ptr_array_add(trace->groups, copy);
    return trace->groups->len - 1;
}

/* The group is named by pg_name; without one all ranks take part. A subset of dimensions would need the
 * logical topology of the tool that wrote the trace. */
static bool take_group(struct node_reader *r, GError **err)
{
    const pb_attribute *name = find_attribute(r->in, "pg_name"), *dims = find_attribute(r->in, "involved_dim");
    if (name) {
        if (name->value_case != FABRICAST__CHAKRA__ATTRIBUTE__VALUE_TEXT)
            return fail_here(r, "pg_name", "is not a text", err);
        r->out.group = name->text[0] == '\0' ? 0 : group_index(r->trace, name->text);
        return true;
    }
    if (dims && (dims->value_case != FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FLAGS || !all_true(dims->flags)))
        return fail_here(r, "involved_dim", "only some dimensions; allowed: all of them, or name the ranks' group with pg_name",
                         err);
    return true;
}

static bool take_collective(struct node_reader *r, GError **err)
{
    int64_t root = -1;
    if (!take_collective_kind(r, err) || !take_group(r, err))
        return false;
    if (r->out.collective != JOB_BARRIER && !take_bytes(r, err))
        return false;
    if ((r->out.collective == JOB_BROADCAST || r->out.collective == JOB_REDUCE) &&
        !take_rank(r, "comm_src", false, &root, err))
        return false;
    r->out.peer = root < 0 ? JOB_NONE : (uint32_t)root;
    return true;
}

static bool take_duration(struct node_reader *r, GError **err)
{
    if (r->in->duration_micros > (uint64_t)(READ_MAX_PS / UNIT_US))
        return fail_here(r, "duration_micros", "is above 1000000 s", err);
    r->out.duration_ps = (int64_t)r->in->duration_micros * UNIT_US;
    r->out.has_ops_only = r->out.kind == CHAKRA_COMPUTE && r->out.duration_ps == 0 &&
                          (find_attribute(r->in, "num_ops") || find_attribute(r->in, "runtime"));
    return true;
}

static bool take_kind(struct node_reader *r, GError **err)
{
    switch (r->in->kind) {
    case CHAKRA_METADATA:
        return true;
    case CHAKRA_LOAD:
    case CHAKRA_STORE:
    case CHAKRA_COMPUTE:
        return take_duration(r, err);
    case CHAKRA_SEND:
    case CHAKRA_RECV:
        return take_transfer(r, err);
    case CHAKRA_COLLECTIVE:
        return take_collective(r, err);
    default:
        return chakra_fail(r->trace, r->rank, &r->out, err, "type: %d is no kind of node; allowed: 1..7", r->in->kind);
    }
}

static void take_deps(struct node_reader *r, GArray *deps)
{
    r->out.first_dep = deps->len;
    g_array_append_vals(deps, r->in->control_deps, (guint)r->in->n_control_deps);
    g_array_append_vals(deps, r->in->data_deps, (guint)r->in->n_data_deps);
    r->out.n_deps = deps->len - r->out.first_dep;
}

static bool take_node(struct chakra_trace *trace, uint32_t rank, const pb_node *in, uint64_t offset, GError **err)
{
    struct chakra_rank *to = &trace->ranks[rank];
    struct node_reader r = {.trace = trace, .rank = rank, .in = in};
    r.out.id = in->id;
    r.out.offset = offset;
    r.out.kind = (uint8_t)in->kind;
    r.out.peer = JOB_NONE;
    r.out.name = g_string_chunk_insert_const(trace->strings, in->name);
    if (!take_kind(&r, err))
        return false;
    take_deps(&r, to->deps);
    g_array_append_val(to->nodes, r.out);
    return true;
}

/* ---- files ------------------------------------------------------------------------- */

struct message {
    uint64_t offset; /* of its length */
    const uint8_t *data;
    size_t n_bytes;
};

static bool fail_byte(const char *name, uint64_t offset, GError **err, const char *what)
{
    g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT, "%s: byte %" G_GUINT64_FORMAT ": %s", name, offset, what);
    return false;
}

/* A varint at *AT_P; false if it does not end within 10 bytes or the data. */
static bool take_varint(const uint8_t *data, size_t n_bytes, size_t *at_p, uint64_t *out)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && *at_p < n_bytes; shift += 7) {
        uint8_t byte = data[(*at_p)++];
        if (shift < 63 || byte <= 1)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return shift < 63 || byte <= 1;
        }
    }
    return false;
}

static bool next_message(const char *name, const uint8_t *data, size_t n_bytes, size_t *at_p, struct message *m, GError **err)
{
    uint64_t length = 0;
    m->offset = *at_p;
    if (!take_varint(data, n_bytes, at_p, &length))
        return fail_byte(name, m->offset, err, "the length of a message is cut off or no varint");
    if (length > n_bytes - *at_p) {
        g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT,
                    "%s: byte %" G_GUINT64_FORMAT ": a message of %" G_GUINT64_FORMAT " bytes, but the file has %zu more", name,
                    m->offset, length, n_bytes - *at_p);
        return false;
    }
    m->data = data + *at_p;
    m->n_bytes = (size_t)length;
    *at_p += m->n_bytes;
    return true;
}

static bool read_metadata(const char *name, const struct message *m, GError **err)
{
    Fabricast__Chakra__Metadata *metadata = fabricast__chakra__metadata__unpack(NULL, m->n_bytes, m->data);
    if (!metadata)
        return fail_byte(name, m->offset, err, "the first message is no Chakra metadata");
    fabricast__chakra__metadata__free_unpacked(metadata, NULL);
    return true;
}

static bool read_node(struct chakra_trace *trace, uint32_t rank, const struct message *m, GError **err)
{
    pb_node *node = fabricast__chakra__node__unpack(NULL, m->n_bytes, m->data);
    if (!node)
        return fail_byte(trace->ranks[rank].name, m->offset, err, "the message is no Chakra node");
    bool ok = take_node(trace, rank, node, m->offset, err);
    fabricast__chakra__node__free_unpacked(node, NULL);
    return ok;
}

static bool read_rank_bytes(struct chakra_trace *trace, uint32_t rank, const char *name, const uint8_t *data, size_t n_bytes,
                            GError **err)
{
    struct message m;
    size_t at = 0;
    trace->ranks[rank].name = g_strdup(name);
    if (!next_message(name, data, n_bytes, &at, &m, err) || !read_metadata(name, &m, err))
        return false;
    while (at < n_bytes)
        if (!next_message(name, data, n_bytes, &at, &m, err) || !read_node(trace, rank, &m, err))
            return false;
    return true;
}

static struct chakra_trace *trace_new(uint32_t n_ranks)
{
    struct chakra_trace *trace = g_new0(struct chakra_trace, 1);
    trace->n_ranks = n_ranks;
    trace->ranks = g_new0(struct chakra_rank, n_ranks + 1);
    for (uint32_t i = 0; i < n_ranks; i++) {
        trace->ranks[i].nodes = g_array_new(FALSE, FALSE, sizeof(struct chakra_node));
        trace->ranks[i].deps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    }
    trace->strings = g_string_chunk_new(4096);
    trace->groups = g_ptr_array_new();
    g_ptr_array_add(trace->groups, NULL);
    trace->group_by_name = g_hash_table_new(g_str_hash, g_str_equal);
    return trace;
}

static void trace_free(struct chakra_trace *trace)
{
    for (uint32_t i = 0; i < trace->n_ranks; i++) {
        g_free(trace->ranks[i].name);
        g_array_unref(trace->ranks[i].nodes);
        g_array_unref(trace->ranks[i].deps);
    }
    g_free(trace->ranks);
    g_hash_table_unref(trace->group_by_name);
    g_ptr_array_unref(trace->groups);
    g_string_chunk_free(trace->strings);
    g_free(trace);
}

struct job *read_chakra_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, uint32_t n_ranks,
                                   const struct chakra_options *options, GPtrArray *warnings, GError **err)
{
    struct chakra_trace *trace = trace_new(n_ranks);
    bool ok = true;
    for (uint32_t rank = 0; ok && rank < n_ranks; rank++)
        ok = read_rank_bytes(trace, rank, name, data, n_bytes, err);
    struct job *job = ok ? chakra_to_job(trace, options, warnings, err) : NULL;
    trace_free(trace);
    return job;
}

/* ---- folders ----------------------------------------------------------------------- */

/* The files of one trace: names by rank. */
struct file_set {
    const char *path; /* as the user gave it */
    char *folder, *prefix; /* prefix NULL: not known yet */
    bool prefix_is_given;
    GPtrArray *files; /* char * by rank, NULL where missing */
};

static bool fail_path(const char *path, GError **err, const char *what, const char *detail)
{
    g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_FILE, "%s: %s%s", path, what, detail);
    return false;
}

#define CHAKRA_RANKS_MAX 1000000

/* "prefix.12.et" to its parts; false if NAME has another form. */
static bool split_name(const char *name, char **prefix, uint32_t *rank)
{
    int64_t value = 0;
    if (!g_str_has_suffix(name, ".et"))
        return false;
    g_autofree char *stem = g_strndup(name, strlen(name) - strlen(".et"));
    char *dot = strrchr(stem, '.');
    if (!dot || !g_ascii_isdigit(dot[1]) || !units_parse_int(dot + 1, &value, NULL) || value >= CHAKRA_RANKS_MAX)
        return false;
    *dot = '\0';
    *prefix = g_strdup(stem);
    *rank = (uint32_t)value;
    return true;
}

static bool take_file(struct file_set *set, const char *name, GError **err)
{
    g_autofree char *prefix = NULL;
    uint32_t rank = 0;
    if (!split_name(name, &prefix, &rank))
        return true;
    if (!set->prefix)
        set->prefix = g_strdup(prefix);
    if (strcmp(set->prefix, prefix) != 0)
        return set->prefix_is_given ||
               fail_path(set->path, err, "more than one trace in the folder; name one as folder/prefix, e.g. ", prefix);
    if (rank >= set->files->len)
        g_ptr_array_set_size(set->files, (gint)rank + 1);
    if (g_ptr_array_index(set->files, rank))
        return fail_path(set->path, err, "two files for one rank: ", name);
    g_ptr_array_index(set->files, rank) = g_build_filename(set->folder, name, NULL);
    return true;
}

static bool check_complete(const struct file_set *set, GError **err)
{
    if (set->files->len == 0)
        return fail_path(set->path, err, "no file of the form prefix.RANK.et", "");
    for (guint rank = 0; rank < set->files->len; rank++) {
        if (g_ptr_array_index(set->files, rank))
            continue;
        g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_FILE, "%s: the file of rank %u is missing; there are ranks up to %u",
                    set->path, rank, set->files->len - 1);
        return false;
    }
    return true;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool list_files(struct file_set *set, GError **err)
{
    g_autoptr(GError) cause = NULL;
    g_autoptr(GDir) dir = g_dir_open(set->folder, 0, &cause);
    if (!dir)
        return fail_path(set->path, err, cause->message, "");
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir))
        g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, compare_names); /* messages must not depend on the order of the folder */
    for (guint i = 0; i < names->len; i++)
        if (!take_file(set, g_ptr_array_index(names, i), err))
            return false;
    return check_complete(set, err);
}

static bool read_files(struct chakra_trace *trace, const struct file_set *set, GError **err)
{
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        g_autofree char *data = NULL;
        gsize n_bytes = 0;
        const char *file = g_ptr_array_index(set->files, rank);
        g_autoptr(GError) cause = NULL;
        if (!g_file_get_contents(file, &data, &n_bytes, &cause))
            return fail_path(file, err, cause->message, "");
        if (!read_rank_bytes(trace, rank, file, (const uint8_t *)data, n_bytes, err))
            return false;
    }
    return true;
}

struct job *read_chakra(const char *path, const struct chakra_options *options, GPtrArray *warnings, GError **err)
{
    bool is_folder = g_file_test(path, G_FILE_TEST_IS_DIR);
    struct file_set set = {.path = path, .prefix_is_given = !is_folder, .files = g_ptr_array_new_with_free_func(g_free)};
    set.folder = is_folder ? g_strdup(path) : g_path_get_dirname(path);
    set.prefix = is_folder ? NULL : g_path_get_basename(path);
    struct job *job = NULL;
    if (list_files(&set, err)) {
        struct chakra_trace *trace = trace_new(set.files->len);
        if (read_files(trace, &set, err))
            job = chakra_to_job(trace, options, warnings, err);
        trace_free(trace);
    }
    g_free(set.folder);
    g_free(set.prefix);
    g_ptr_array_unref(set.files);
    return job;
}
