/* read_htsim_cm.c - htsim connection matrices. Source: Broadcom/csg-htsim, connection_matrix.cpp.
 *
 * Triggers become dependencies. oneshot: its one activation starts all targets.
 * barrier: its last of "count" activations does. multishot: the k-th activation starts
 * the k-th target; which activation comes k-th is known only while running, so the
 * order of the file stands for it (a warning says so). What could never start, or
 * would need an "or", is an error.
 */
#include "scenarios/workload_read.h"

#include <string.h>

enum trigger_kind { ONESHOT, MULTISHOT, BARRIER };

struct trigger {
    int line;
    enum trigger_kind kind;
    uint32_t count;
    GArray *activators; /* uint32_t ops */
    GArray *targets;    /* uint32_t ops */
};

/* A flow's mention of a trigger, kept until all triggers are known. */
struct mention {
    int line;
    uint32_t trigger, op;
    bool activates;
};

struct declared {
    bool is_set;
    int line;
    uint32_t count;
};

struct cm_reader {
    struct read_lines lines;
    struct job *job; /* NULL until Nodes is known */
    uint32_t max_ranks;
    struct declared connections, triggers;
    GHashTable *trigger_by_id; /* id -> struct trigger *, owned */
    GPtrArray *trigger_order;  /* the same, in file order */
    GHashTable *flow_ids;
    GArray *mentions;
    bool has_prio;
};

static void trigger_free(void *data)
{
    struct trigger *t = data;
    g_array_unref(t->activators);
    g_array_unref(t->targets);
    g_free(t);
}

/* ---- words of a line --------------------------------------------------------------- */

struct words {
    struct read_place at;
    char **list;
    guint next, n;
};

/* The value after a keyword; NULL with ERR if the line ends. Blames the keyword from here on. */
static const char *word_value(struct words *w, const char *key, GError **err)
{
    w->at.key = key;
    if (w->next < w->n)
        return w->list[w->next++];
    read_fail(&w->at, err, "the value is missing");
    return NULL;
}

static bool word_u32(struct words *w, const char *key, uint32_t max, uint32_t *out, GError **err)
{
    const char *text = word_value(w, key, err);
    return text && read_u32(&w->at, text, max, out, err);
}

static bool no_more_words(struct words *w, GError **err)
{
    if (w->next == w->n)
        return true;
    g_autofree char *quoted = read_quote(w->list[w->next]);
    w->at.key = NULL;
    return read_fail(&w->at, err, "unexpected %s", quoted);
}

/* ---- header lines ------------------------------------------------------------------ */

static bool take_declared(struct words *w, const char *key, struct declared *out, GError **err)
{
    out->line = w->at.line;
    out->is_set = true;
    return word_u32(w, key, UINT32_MAX - 1, &out->count, err) && no_more_words(w, err);
}

static bool take_nodes(struct cm_reader *r, struct words *w, GError **err)
{
    uint32_t nodes = 0;
    if (!word_u32(w, "Nodes", UINT32_MAX - 1, &nodes, err) || !no_more_words(w, err))
        return false;
    w->at.key = "Nodes";
    if (r->job)
        return read_fail(&w->at, err, "is there twice");
    if (nodes > r->max_ranks)
        return read_fail(&w->at, err, "%u ranks, but the fabric has %u endpoints", nodes, r->max_ranks);
    r->job = job_new(nodes);
    return true;
}

static bool take_failures(struct words *w, GError **err)
{
    struct declared failures;
    if (!take_declared(w, "Failures", &failures, err))
        return false;
    w->at.key = NULL;
    return failures.count == 0 || read_fail(&w->at, err, "failures are not supported by this reader");
}

/* ---- trigger lines ----------------------------------------------------------------- */

static bool trigger_kind_parse(struct words *w, enum trigger_kind *kind, GError **err)
{
    static const char *const names[] = {"oneshot", "multishot", "barrier"};
    const char *text = word_value(w, "trigger", err);
    if (!text)
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (g_ascii_strcasecmp(text, names[i]) == 0) {
            *kind = (enum trigger_kind)i;
            return true;
        }
    }
    g_autofree char *quoted = read_quote(text);
    return read_fail(&w->at, err, "%s is no kind of trigger; allowed: oneshot, multishot, barrier", quoted);
}

static bool skip_word(struct words *w, const char *key, GError **err)
{
    const char *text = word_value(w, key, err);
    if (!text || g_ascii_strcasecmp(text, key) == 0)
        return text != NULL;
    g_autofree char *quoted = read_quote(text);
    return read_fail(&w->at, err, "%s where '%s' is expected", quoted, key);
}

/* "trigger id T KIND [count C]" */
static bool take_trigger(struct cm_reader *r, struct words *w, GError **err)
{
    uint32_t id = 0, count = 0;
    enum trigger_kind kind = ONESHOT;
    if (!skip_word(w, "id", err) || !word_u32(w, "id", UINT32_MAX - 1, &id, err) || !trigger_kind_parse(w, &kind, err))
        return false;
    if (w->next < w->n && (!skip_word(w, "count", err) || !word_u32(w, "count", UINT32_MAX - 1, &count, err)))
        return false;
    if (!no_more_words(w, err))
        return false;
    w->at.key = "trigger";
    if (kind == BARRIER && count == 0)
        return read_fail(&w->at, err, "barrier %u needs 'count C' with C of 1 or more", id);
    if (g_hash_table_contains(r->trigger_by_id, GUINT_TO_POINTER(id)))
        return read_fail(&w->at, err, "trigger %u is there twice", id);
    struct trigger *t = g_new0(struct trigger, 1);
    *t = (struct trigger){w->at.line, kind, count, g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                          g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    g_hash_table_insert(r->trigger_by_id, GUINT_TO_POINTER(id), t);
    g_ptr_array_add(r->trigger_order, t);
    return true;
}

/* ---- connection lines ---------------------------------------------------------------- */

struct connection {
    struct read_flow flow;
    bool has_id, has_start, has_size, has_trigger, has_send_done, has_recv_done;
    uint32_t trigger, send_done, recv_done;
};

static bool take_start(struct words *w, struct connection *c, GError **err)
{
    const char *text = word_value(w, "start", err);
    c->has_start = true;
    return text && read_time(&w->at, text, "ps", &c->flow.start_ps, err);
}

static bool take_size(struct words *w, struct connection *c, GError **err)
{
    const char *text = word_value(w, "size", err);
    c->has_size = true;
    return text && read_bytes(&w->at, text, &c->flow.bytes, err);
}

static bool take_trigger_id(struct words *w, const char *key, bool *has, uint32_t *id, GError **err)
{
    *has = true;
    return word_u32(w, key, UINT32_MAX - 1, id, err);
}

static bool take_attribute(struct cm_reader *r, struct words *w, struct connection *c, GError **err)
{
    const char *key = w->list[w->next++];
    uint32_t traffic_class = 0;
    if (g_ascii_strcasecmp(key, "id") == 0) {
        c->has_id = true;
        return word_u32(w, "id", UINT32_MAX - 1, &c->flow.id, err);
    }
    if (g_ascii_strcasecmp(key, "start") == 0)
        return take_start(w, c, err);
    if (g_ascii_strcasecmp(key, "size") == 0)
        return take_size(w, c, err);
    if (g_ascii_strcasecmp(key, "trigger") == 0)
        return take_trigger_id(w, "trigger", &c->has_trigger, &c->trigger, err);
    if (g_ascii_strcasecmp(key, "send_done_trigger") == 0)
        return take_trigger_id(w, "send_done_trigger", &c->has_send_done, &c->send_done, err);
    if (g_ascii_strcasecmp(key, "recv_done_trigger") == 0)
        return take_trigger_id(w, "recv_done_trigger", &c->has_recv_done, &c->recv_done, err);
    if (g_ascii_strcasecmp(key, "prio") == 0) {
        r->has_prio = true;
        if (!word_u32(w, "prio", 7, &traffic_class, err))
            return false;
        c->flow.traffic_class = (uint8_t)traffic_class;
        return true;
    }
    w->next--;
    return no_more_words(w, err);
}

/* "0->13" */
static bool take_ends(struct cm_reader *r, struct words *w, struct connection *c, GError **err)
{
    w->at.key = "connection";
    g_auto(GStrv) ends = g_strsplit(w->list[0], "->", -1);
    if (g_strv_length(ends) != 2)
        return read_fail(&w->at, err, "a connection names two nodes, src->dst");
    if (!read_rank(&w->at, ends[0], r->job->n_ranks, &c->flow.src, err) ||
        !read_rank(&w->at, ends[1], r->job->n_ranks, &c->flow.dst, err))
        return false;
    return c->flow.src != c->flow.dst || read_fail(&w->at, err, "%u sends to itself; a flow needs two nodes", c->flow.src);
}

static bool check_connection(struct cm_reader *r, struct words *w, struct connection *c, GError **err)
{
    w->at.key = "connection";
    if (!c->has_size)
        return read_fail(&w->at, err, "no size");
    if (c->has_start == c->has_trigger)
        return read_fail(&w->at, err, "needs start or trigger, and not both");
    if (!c->has_id)
        c->flow.id = r->job->flows->len + 1;
    if (!g_hash_table_add(r->flow_ids, GUINT_TO_POINTER(c->flow.id)))
        return read_fail(&w->at, err, "flow id %u is there twice", c->flow.id);
    return true;
}

static void mention(struct cm_reader *r, int line, uint32_t trigger, uint32_t op, bool activates)
{
    struct mention m = {line, trigger, op, activates};
    g_array_append_val(r->mentions, m);
}

static bool take_connection(struct cm_reader *r, struct words *w, GError **err)
{
    struct connection c = {.flow.traffic_class = JOB_CLASS_DEFAULT};
    if (!r->job)
        return read_fail(&w->at, err, "a connection before the line 'Nodes N'");
    if (!take_ends(r, w, &c, err))
        return false;
    while (w->next < w->n)
        if (!take_attribute(r, w, &c, err))
            return false;
    if (!check_connection(r, w, &c, err))
        return false;
    read_add_flow(r->job, &c.flow);
    const struct job_flow *flow = &g_array_index(r->job->flows, struct job_flow, r->job->flows->len - 1);
    if (c.has_trigger)
        mention(r, w->at.line, c.trigger, flow->send_op, false);
    if (c.has_send_done)
        mention(r, w->at.line, c.send_done, flow->send_op, true);
    if (c.has_recv_done)
        mention(r, w->at.line, c.recv_done, flow->recv_op, true);
    return true;
}

static bool take_line(struct cm_reader *r, struct words *w, GError **err)
{
    const char *first = w->list[0];
    if (strstr(first, "->"))
        return take_connection(r, w, err);
    if (g_ascii_strcasecmp(first, "nodes") == 0)
        return take_nodes(r, w, err);
    if (g_ascii_strcasecmp(first, "connections") == 0)
        return take_declared(w, "Connections", &r->connections, err);
    if (g_ascii_strcasecmp(first, "triggers") == 0)
        return take_declared(w, "Triggers", &r->triggers, err);
    if (g_ascii_strcasecmp(first, "trigger") == 0)
        return take_trigger(r, w, err);
    if (g_ascii_strcasecmp(first, "failures") == 0)
        return take_failures(w, err);
    if (g_ascii_strcasecmp(first, "failure") == 0)
        return read_fail(&w->at, err, "failures are not supported by this reader");
    g_autofree char *quoted = read_quote(first);
    return read_fail(&w->at, err, "unknown line %s; allowed: Nodes, Connections, Triggers, Failures, trigger, src->dst", quoted);
}

/* ---- triggers to dependencies --------------------------------------------------------- */

static bool gather_mentions(struct cm_reader *r, GError **err)
{
    for (guint i = 0; i < r->mentions->len; i++) {
        const struct mention *m = &g_array_index(r->mentions, struct mention, i);
        struct trigger *t = g_hash_table_lookup(r->trigger_by_id, GUINT_TO_POINTER(m->trigger));
        struct read_place at = {r->lines.at.name, m->line, "trigger"};
        if (!t)
            return read_fail(&at, err, "there is no trigger %u", m->trigger);
        g_array_append_val(m->activates ? t->activators : t->targets, m->op);
    }
    return true;
}

static bool check_trigger(const struct cm_reader *r, const struct trigger *t, GError **err)
{
    struct read_place at = {r->lines.at.name, t->line, "trigger"};
    guint n_in = t->activators->len, n_out = t->targets->len;
    if (n_out == 0)
        return true;
    if (t->kind == BARRIER && n_in != t->count)
        return read_fail(&at, err, "barrier of %u, but %u flows activate it", t->count, n_in);
    if (t->kind == ONESHOT && n_in != 1)
        return read_fail(&at, err, "oneshot, but %u flows activate it; allowed: exactly 1", n_in);
    if (t->kind == MULTISHOT && n_in < n_out)
        return read_fail(&at, err, "%u targets, but only %u flows activate it: the others would never start", n_out, n_in);
    return true;
}

/* All targets wait for all activators, through one join: the product of both could be large. */
static void link_all(struct job *job, const struct trigger *t)
{
    uint32_t first_target = g_array_index(t->targets, uint32_t, 0);
    uint32_t join = job_add_nop(job, job_op_at(job, first_target)->rank, JOB_NONE);
    for (guint i = 0; i < t->activators->len; i++)
        job_depend(job, join, g_array_index(t->activators, uint32_t, i));
    for (guint i = 0; i < t->targets->len; i++)
        job_depend(job, g_array_index(t->targets, uint32_t, i), join);
}

static void link_in_turn(struct job *job, const struct trigger *t)
{
    for (guint i = 0; i < t->targets->len; i++)
        job_depend(job, g_array_index(t->targets, uint32_t, i), g_array_index(t->activators, uint32_t, i));
}

static bool link_triggers(struct cm_reader *r, GPtrArray *warnings, GError **err)
{
    if (!gather_mentions(r, err))
        return false;
    for (guint i = 0; i < r->trigger_order->len; i++) {
        const struct trigger *t = g_ptr_array_index(r->trigger_order, i);
        if (!check_trigger(r, t, err))
            return false;
        if (t->targets->len == 0)
            continue;
        if (t->kind != MULTISHOT) {
            link_all(r->job, t);
            continue;
        }
        link_in_turn(r->job, t);
        if (t->activators->len > 1)
            read_warn(warnings, "%s:%d: multishot trigger: its targets follow its activators in the order of the file",
                      r->lines.at.name, t->line);
    }
    return true;
}

/* ---- the file --------------------------------------------------------------------------- */

static bool check_declared(const struct cm_reader *r, const struct declared *d, const char *key, uint32_t found, GError **err)
{
    struct read_place at = {r->lines.at.name, d->line, key};
    return !d->is_set || d->count == found || read_fail(&at, err, "%u declared, %u found", d->count, found);
}

static bool read_one_line(struct cm_reader *r, const char *line, GError **err)
{
    g_auto(GStrv) parts = g_strsplit_set(line, " \t\r\f", -1);
    g_autofree char **list = g_new(char *, g_strv_length(parts) + 1);
    struct words w = {.at = r->lines.at, .list = list, .next = 1};
    for (char **p = parts; *p; p++)
        if ((*p)[0] != '\0')
            list[w.n++] = *p;
    return take_line(r, &w, err);
}

static bool read_all(struct cm_reader *r, GPtrArray *warnings, GError **err)
{
    for (char *line = read_lines_next(&r->lines); line; line = read_lines_next(&r->lines)) {
        bool ok = read_one_line(r, line, err);
        g_free(line);
        if (!ok)
            return false;
    }
    struct read_place at = {r->lines.at.name, MAX(r->lines.at.line, 1), "Nodes"};
    if (!r->job)
        return read_fail(&at, err, "the line 'Nodes N' is missing");
    if (!check_declared(r, &r->connections, "Connections", r->job->flows->len, err) ||
        !check_declared(r, &r->triggers, "Triggers", r->trigger_order->len, err))
        return false;
    if (r->has_prio)
        read_warn(warnings, "%s: prio is taken as traffic class", r->lines.at.name);
    return link_triggers(r, warnings, err);
}

struct job *read_htsim_cm_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, uint32_t max_ranks,
                                     GPtrArray *warnings, GError **err)
{
    struct cm_reader r = {.max_ranks = max_ranks};
    if (!read_lines_begin(&r.lines, name, data, n_bytes, err))
        return NULL;
    r.trigger_by_id = g_hash_table_new_full(NULL, NULL, NULL, trigger_free);
    r.trigger_order = g_ptr_array_new();
    r.flow_ids = g_hash_table_new(NULL, NULL);
    r.mentions = g_array_new(FALSE, FALSE, sizeof(struct mention));
    if (!read_all(&r, warnings, err))
        g_clear_pointer(&r.job, job_free);
    g_ptr_array_unref(r.trigger_order);
    g_hash_table_unref(r.trigger_by_id);
    g_hash_table_unref(r.flow_ids);
    g_array_unref(r.mentions);
    return r.job;
}
