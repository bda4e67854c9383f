/* chakra_graph.c - Chakra traces of all ranks to one job.
 *
 * The k-th collective of a process group on one rank is the k-th of that group on every
 * other one; the group's ranks are those that name it (all ranks where no group is
 * named). Sizes: comm_size of an all-gather is what one rank brings, as in
 * astra-sim's ring and as the PyTorch converter writes it (size of the inputs),
 * so S = n x comm_size; chakra_all_gather = total takes it as S. For the others S = comm_size.
 */
#include "scenarios/chakra_trace.h"

#include <math.h>
#include <string.h>

/* One rank's part of a collective. */
struct part {
    uint32_t group, number; /* number: counts the group's collectives on this rank */
    uint32_t rank, node;
};

struct node_id {
    uint64_t id;
    uint32_t node;
};

/* Where the ops of one rank's nodes are. */
struct rank_ops {
    uint32_t *first; /* per node: what waits for the node's dependencies */
    uint32_t *last;  /* per node: what its dependents wait for           */
};

struct graph {
    const struct chakra_trace *trace;
    const struct chakra_options *options;
    struct job *job;
    struct rank_ops *ops;
    GArray *parts;
    GPtrArray *warnings;
};

static const struct chakra_node *node_at(const struct graph *g, uint32_t rank, uint32_t node)
{
    return &g_array_index(g->trace->ranks[rank].nodes, struct chakra_node, node);
}

static uint32_t n_nodes(const struct graph *g, uint32_t rank) { return g->trace->ranks[rank].nodes->len; }

/* ---- nodes to ops ------------------------------------------------------------------ */

static bool scaled_duration(const struct graph *g, uint32_t rank, const struct chakra_node *node, int64_t *out_ps, GError **err)
{
    double scaled = (double)node->duration_ps * g->options->compute_scale;
    if (!(scaled <= (double)READ_MAX_PS))
        return chakra_fail(g->trace, rank, node, err, "duration_micros: above 1000000 s after workload.compute_scale");
    /* A scale of 1 must not round; a duration that a double can't hold is beyond 2 hours. */
    *out_ps = g->options->compute_scale == 1 ? node->duration_ps : (int64_t)llround(scaled);
    return true;
}

static bool add_op(struct graph *g, uint32_t rank, const struct chakra_node *node, uint32_t *op_p, GError **err)
{
    int64_t duration_ps = node->duration_ps;
    switch (node->kind) {
    case CHAKRA_SEND:
        *op_p = job_add_send(g->job, rank, node->peer, node->bytes, node->tag, JOB_NONE);
        break;
    case CHAKRA_RECV:
        *op_p = job_add_recv(g->job, rank, node->peer, node->bytes, node->tag, JOB_NONE);
        break;
    case CHAKRA_COMPUTE:
        if (!scaled_duration(g, rank, node, &duration_ps, err))
            return false;
        *op_p = job_add_compute(g->job, rank, duration_ps);
        break;
    case CHAKRA_LOAD:
    case CHAKRA_STORE:
        *op_p = job_add_compute(g->job, rank, duration_ps);
        break;
    default: /* metadata: no time, but dependencies lead through it */
        *op_p = job_add_nop(g->job, rank, JOB_NONE);
    }
    job_op_at(g->job, *op_p)->origin = (uint32_t)node->id;
    return true;
}

/* Ops of all nodes but collectives, which are noted in g->parts. */
static bool add_rank(struct graph *g, uint32_t rank, GError **err)
{
    uint32_t n = n_nodes(g, rank);
    g_autofree uint32_t *number = g_new0(uint32_t, g->trace->groups->len);
    g->ops[rank].first = g_new(uint32_t, n + 1);
    g->ops[rank].last = g_new(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct chakra_node *node = node_at(g, rank, i);
        uint32_t op = JOB_NONE;
        if (node->kind == CHAKRA_COLLECTIVE) {
            struct part part = {node->group, number[node->group]++, rank, i};
            g_array_append_val(g->parts, part);
        } else if (!add_op(g, rank, node, &op, err)) {
            return false;
        }
        g->ops[rank].first[i] = g->ops[rank].last[i] = op;
    }
    return true;
}

/* ---- collectives --------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static char *group_name(const struct graph *g, uint32_t group)
{
    return group == 0 ? g_strdup("all ranks") : read_quote(g_ptr_array_index(g->trace->groups, group));
}

static bool check_agreement(const struct graph *g, const struct part *a, const struct part *b, GError **err)
{
    const struct chakra_node *x = node_at(g, a->rank, a->node), *y = node_at(g, b->rank, b->node);
    if (x->collective == y->collective && x->bytes == y->bytes && x->peer == y->peer)
        return true;
    g_autofree char *group = group_name(g, a->group);
    return chakra_fail(g->trace, b->rank, y, err,
                       "ranks %u and %u disagree on collective %u of group %s: %s of %" G_GINT64_FORMAT
                       " bytes (node %" G_GUINT64_FORMAT ") against %s of %" G_GINT64_FORMAT " bytes, or another root",
                       a->rank, b->rank, a->number, group, collective_kind_name((enum job_collective_kind)x->collective),
                       x->bytes, x->id, collective_kind_name((enum job_collective_kind)y->collective), y->bytes);
}

/* A rank that takes part in the group but not in this collective. FIRST: any part of it. */
static bool fail_missing(const struct graph *g, const struct part *first, uint32_t missing, GError **err)
{
    g_autofree char *group = group_name(g, first->group);
    return chakra_fail(g->trace, first->rank, node_at(g, first->rank, first->node), err,
                       "collective %u of group %s is on rank %u, but rank %u has no such collective", first->number, group,
                       first->rank, missing);
}

/* MEMBERS: ranks of the group, ascending. PARTS: those of one collective, by rank. */
static bool check_members(const struct graph *g, const struct part *parts, uint32_t n, const GArray *members, GError **err)
{
    for (uint32_t i = 0; i < members->len; i++) {
        uint32_t rank = g_array_index(members, uint32_t, i);
        if (i >= n || parts[i].rank != rank)
            return fail_missing(g, &parts[0], rank, err);
        if (!check_agreement(g, &parts[0], &parts[i], err))
            return false;
    }
    return true;
}

static bool total_bytes(const struct graph *g, const struct part *part, uint32_t n, int64_t *out, GError **err)
{
    const struct chakra_node *node = node_at(g, part->rank, part->node);
    bool multiplies = node->collective == JOB_ALL_GATHER && !g->options->all_gather_total;
    *out = node->bytes;
    if (!multiplies)
        return true;
    if (node->bytes > READ_MAX_BYTES / n)
        return chakra_fail(g->trace, part->rank, node, err, "comm_size: more than %" G_GINT64_FORMAT " bytes from %u ranks",
                           READ_MAX_BYTES, n);
    *out = node->bytes * n;
    return true;
}

static bool find_root(const struct graph *g, const struct part *part, const GArray *members, uint32_t *root, GError **err)
{
    const struct chakra_node *node = node_at(g, part->rank, part->node);
    *root = 0;
    if (node->peer == JOB_NONE)
        return true;
    for (uint32_t i = 0; i < members->len; i++)
        if (g_array_index(members, uint32_t, i) == node->peer)
            return *root = i, true;
    return chakra_fail(g->trace, part->rank, node, err, "comm_src: rank %u is not in the group", node->peer);
}

static void note_marks(struct graph *g, const struct part *parts, const struct job_collective *entry)
{
    for (uint32_t i = 0; i < entry->n_ranks; i++) {
        struct rank_ops *ops = &g->ops[parts[i].rank];
        uint32_t id = (uint32_t)node_at(g, parts[i].rank, parts[i].node)->id;
        ops->first[parts[i].node] = entry->start_op[i];
        ops->last[parts[i].node] = entry->end_op[i];
        job_op_at(g->job, entry->start_op[i])->origin = id;
        job_op_at(g->job, entry->end_op[i])->origin = id;
    }
}

static bool add_collective(struct graph *g, const struct part *parts, const GArray *members, GError **err)
{
    const struct chakra_node *node = node_at(g, parts[0].rank, parts[0].node);
    struct collective_spec spec = g->options->collective;
    spec.kind = (enum job_collective_kind)node->collective;
    spec.elem_bytes = 1;
    spec.ranks = (const uint32_t *)(void *)members->data;
    spec.n_ranks = members->len;
    spec.name = node->name[0] != '\0' ? node->name : NULL;
    if (!collective_algorithm_name(spec.kind, spec.algorithm))
        spec.algorithm = COLLECTIVE_AUTO;
    if (spec.channels == 0)
        spec.channels = collective_auto_channels(&spec);
    if (!total_bytes(g, &parts[0], members->len, &spec.bytes, err) || !find_root(g, &parts[0], members, &spec.root, err))
        return false;
    g_autoptr(GError) cause = NULL;
    uint32_t index = collective_add(g->job, &spec, &cause);
    if (index == JOB_NONE)
        return chakra_fail(g->trace, parts[0].rank, node, err, "%s", cause->message);
    note_marks(g, parts, &g_array_index(g->job->collectives, struct job_collective, index));
    return true;
}

/* Ranks that name GROUP: they have a collective number 0. The default group is everybody. */
static GArray *members_of(const struct graph *g, const struct part *parts, uint32_t n)
{
    GArray *members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (parts[0].group == 0)
        for (uint32_t rank = 0; rank < g->trace->n_ranks; rank++)
            g_array_append_val(members, rank);
    else
        for (uint32_t i = 0; i < n; i++)
            g_array_append_val(members, parts[i].rank);
    return members;
}

static bool add_collectives(struct graph *g, GError **err)
{
    g_autoptr(GArray) members = NULL;
    g_array_sort(g->parts, compare_parts);
    for (uint32_t from = 0, until = 0; from < g->parts->len; from = until) {
        const struct part *first = &g_array_index(g->parts, struct part, from);
        for (until = from; until < g->parts->len; until++) {
            const struct part *p = &g_array_index(g->parts, struct part, until);
            if (p->group != first->group || p->number != first->number)
                break;
        }
        if (first->number == 0) {
            g_clear_pointer(&members, g_array_unref);
            members = members_of(g, first, until - from);
        }
        if (!check_members(g, first, until - from, members, err) || !add_collective(g, first, members, err))
            return false;
    }
    return true;
}

/* ---- dependencies ----------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
    const struct node_id *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Nodes of RANK by id, each id once. (transfer full) */
static GArray *index_ids(const struct graph *g, uint32_t rank, GError **err)
{
    g_autoptr(GArray) index = g_array_new(FALSE, FALSE, sizeof(struct node_id));
    for (uint32_t i = 0; i < n_nodes(g, rank); i++) {
        struct node_id entry = {node_at(g, rank, i)->id, i};
        g_array_append_val(index, entry);
    }
    g_array_sort(index, compare_ids);
    for (uint32_t i = 1; i < index->len; i++) {
        const struct node_id *entry = &g_array_index(index, struct node_id, i);
        if (entry[-1].id != entry->id)
            continue;
        chakra_fail(g->trace, rank, node_at(g, rank, entry->node), err, "the id is there twice");
        return NULL;
    }
    return g_steal_pointer(&index);
}

static bool find_id(const GArray *index, uint64_t id, uint32_t *node)
{
    uint32_t low = 0, high = index->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct node_id *entry = &g_array_index(index, struct node_id, middle);
        if (entry->id == id)
            return *node = entry->node, true;
        if (entry->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool link_node(struct graph *g, uint32_t rank, uint32_t i, const GArray *index, GError **err)
{
    const struct chakra_node *node = node_at(g, rank, i);
    for (uint32_t k = 0; k < node->n_deps; k++) {
        uint64_t id = g_array_index(g->trace->ranks[rank].deps, uint64_t, node->first_dep + k);
        uint32_t before = 0;
        if (!find_id(index, id, &before))
            return chakra_fail(g->trace, rank, node, err, "depends on node %" G_GUINT64_FORMAT ", which the file does not have",
                               id);
        if (before == i)
            return chakra_fail(g->trace, rank, node, err, "depends on itself");
        job_depend(g->job, g->ops[rank].first[i], g->ops[rank].last[before]);
    }
    return true;
}

static bool link_rank(struct graph *g, uint32_t rank, GError **err)
{
    g_autoptr(GArray) index = index_ids(g, rank, err);
    if (!index)
        return false;
    for (uint32_t i = 0; i < n_nodes(g, rank); i++)
        if (!link_node(g, rank, i, index, err))
            return false;
    return true;
}

/* ---- warnings ----------------------------------------------------------------------------- */

/* How many nodes have a property, and the first of them. */
struct tally {
    uint32_t n, rank;
    uint64_t id;
};

static void count(struct tally *t, bool has, uint32_t rank, const struct chakra_node *node)
{
    if (has && t->n++ == 0) {
        t->rank = rank;
        t->id = node->id;
    }
}

static void warn_tally(GPtrArray *warnings, const struct tally *t, const char *what)
{
    if (t->n > 0)
        read_warn(warnings, "%u %s (first: rank %u node %" G_GUINT64_FORMAT ")", t->n, what, t->rank, t->id);
}

static void warn_oddities(const struct graph *g)
{
    struct tally no_time = {0}, no_bytes = {0}, rootless = {0};
    for (uint32_t rank = 0; rank < g->trace->n_ranks; rank++) {
        for (uint32_t i = 0; i < n_nodes(g, rank); i++) {
            const struct chakra_node *node = node_at(g, rank, i);
            bool is_collective = node->kind == CHAKRA_COLLECTIVE;
            count(&no_time, node->has_ops_only, rank, node);
            count(&no_bytes, is_collective && node->bytes == 0 && node->collective != JOB_BARRIER, rank, node);
            count(&rootless, is_collective && node->n_deps == 0 && i > 0, rank, node);
        }
    }
    warn_tally(g->warnings, &no_time, "compute nodes have num_ops or runtime but no duration_micros: they take no time");
    warn_tally(g->warnings, &no_bytes, "collectives of 0 bytes: they move nothing");
    warn_tally(g->warnings, &rootless, "collectives have no predecessor: they start at time 0");
}

/* ---- all ------------------------------------------------------------------------------------ */

static bool build(struct graph *g, GError **err)
{
    for (uint32_t rank = 0; rank < g->trace->n_ranks; rank++)
        if (!add_rank(g, rank, err))
            return false;
    if (!add_collectives(g, err))
        return false;
    for (uint32_t rank = 0; rank < g->trace->n_ranks; rank++)
        if (!link_rank(g, rank, err))
            return false;
    warn_oddities(g);
    return true;
}

struct job *chakra_to_job(const struct chakra_trace *trace, const struct chakra_options *options, GPtrArray *warnings,
                          GError **err)
{
    struct graph g = {.trace = trace, .options = options, .warnings = warnings};
    g.job = job_new(trace->n_ranks);
    g.ops = g_new0(struct rank_ops, trace->n_ranks + 1);
    g.parts = g_array_new(FALSE, FALSE, sizeof(struct part));
    if (!build(&g, err))
        g_clear_pointer(&g.job, job_free);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        g_free(g.ops[rank].first);
        g_free(g.ops[rank].last);
    }
    g_free(g.ops);
    g_array_unref(g.parts);
    return g.job;
}
