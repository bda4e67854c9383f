/* workload.c - reads or makes the workload that the parameters name, and seals it. */
#include "scenarios/workload.h"

#include "models/collective/collective.h"
#include "scenarios/workload_read.h"

static bool fail(GError **err, const char *key, const char *text)
{
    g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT, "%s: %s", key, text);
    return false;
}

/* ---- files ------------------------------------------------------------------------ */

static char *resolve(const char *file, const char *base_dir)
{
    return g_path_is_absolute(file) || !base_dir ? g_strdup(file) : g_build_filename(base_dir, file, NULL);
}

/* The whole file. (transfer full) */
static GBytes *load(const char *path, GError **err)
{
    char *data = NULL;
    gsize n_bytes = 0;
    g_autoptr(GError) cause = NULL;
    if (g_file_get_contents(path, &data, &n_bytes, &cause))
        return g_bytes_new_take(data, n_bytes);
    g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_FILE, "%s: %s", path, cause->message);
    return NULL;
}

typedef struct job *(*reader)(const char *name, const uint8_t *data, size_t n_bytes, uint32_t n_ranks, GPtrArray *warnings,
                              GError **err);

static struct job *load_text(reader read, const char *path, uint32_t n_ranks, GPtrArray *warnings, GError **err)
{
    g_autoptr(GBytes) bytes = load(path, err);
    if (!bytes)
        return NULL;
    gsize n_bytes = 0;
    const uint8_t *data = g_bytes_get_data(bytes, &n_bytes);
    return read(path, data, n_bytes, n_ranks, warnings, err);
}

static bool load_paths(const struct workload_params *p, const char *base_dir, struct job *job, GPtrArray *warnings,
                       GError **err)
{
    if (p->paths[0] == '\0')
        return true;
    g_autofree char *path = resolve(p->paths, base_dir);
    g_autoptr(GBytes) bytes = load(path, err);
    if (!bytes)
        return false;
    gsize n_bytes = 0;
    const uint8_t *data = g_bytes_get_data(bytes, &n_bytes);
    return read_paths_from_bytes(path, data, n_bytes, job, warnings, err);
}

/* ---- collectives ------------------------------------------------------------------ */

static struct collective_spec spec_from(const struct collective_params *p, const struct fabric *fabric)
{
    struct collective_spec spec = COLLECTIVE_SPEC_DEFAULT;
    spec.kind = (enum job_collective_kind)p->op;
    spec.algorithm = (enum collective_algorithm)p->algorithm;
    spec.bytes = spec.kind == JOB_BARRIER ? 0 : p->bytes_bytes;
    spec.elem_bytes = p->elem_bytes;
    spec.gpus_per_node = p->ring_order == RING_ORDER_RANKS ? 0 : fabric->gpus_per_node;
    spec.root = (uint32_t)p->root;
    spec.channels = (uint32_t)p->channels;
    spec.max_message_bytes = p->max_message_bytes;
    spec.max_outstanding = (uint32_t)p->max_outstanding;
    spec.traffic_class = p->traffic_class < 0 ? JOB_CLASS_DEFAULT : (uint8_t)p->traffic_class;
    return spec;
}

/* The ranks that take part; all of N_RANKS if none are named. (transfer full) */
static GArray *taking_part(const struct collective_params *p, uint32_t n_ranks, GError **err)
{
    GArray *ranks = workload_parse_ranks(p->ranks, err);
    if (ranks && ranks->len == 0)
        for (uint32_t rank = 0; rank < n_ranks; rank++)
            g_array_append_val(ranks, rank);
    return ranks;
}

/* A rank enters NEXT when what it sent in ops [FROM, UNTIL) is acknowledged, too: no repeat finds traffic of the one
 * before on its NICs, so all of them are equal. */
static void wait_for_sends(struct job *job, uint32_t from, uint32_t until, uint32_t next)
{
    const struct job_collective *c = &g_array_index(job->collectives, struct job_collective, next);
    g_autofree uint32_t *start_of = g_new(uint32_t, job->n_ranks);
    for (uint32_t p = 0; p < c->n_ranks; p++)
        start_of[c->ranks[p]] = c->start_op[p];
    for (uint32_t op = from; op < until; op++)
        if (job_op_at(job, op)->kind == JOB_SEND)
            job_depend(job, start_of[job_op_at(job, op)->rank], op);
}

/* Repeat after repeat: every rank starts the next when it has ended the last. */
static bool add_repeats(struct job *job, struct collective_spec *spec, int64_t repeat, GError **err)
{
    uint32_t from = 0;
    for (int64_t i = 0; i < repeat; i++) {
        uint32_t until = job_n_ops(job);
        g_autofree char *name = repeat == 1 ? NULL : g_strdup_printf("%s#%d", collective_kind_name(spec->kind), (int)i);
        spec->name = name;
        uint32_t index = collective_add(job, spec, err);
        if (index == JOB_NONE)
            return false;
        wait_for_sends(job, from, until, index);
        from = until;
        spec->start_after = g_array_index(job->collectives, struct job_collective, index).end_op;
    }
    return true;
}

/* rail was asked for, not just allowed: it must be possible. */
static bool check_ring_order(const struct collective_params *p, const struct collective_spec *spec, GError **err)
{
    if (p->ring_order != RING_ORDER_RAIL || collective_is_rail_aligned(spec))
        return true;
    return fail(err, "collective.ring_order", "rail: the ranks are not two or more whole servers of several GPUs; allowed: auto, ranks");
}

static struct job *make_collective(const struct collective_params *p, const struct fabric *fabric, uint32_t n_ranks,
                                   GError **err)
{
    g_autoptr(GArray) ranks = taking_part(p, n_ranks, err);
    if (!ranks) {
        g_prefix_error(err, "collective.ranks: ");
        return NULL;
    }
    struct collective_spec spec = spec_from(p, fabric);
    spec.ranks = (const uint32_t *)(void *)ranks->data;
    spec.n_ranks = ranks->len;
    if (!check_ring_order(p, &spec, err))
        return NULL;
    if (spec.channels == 0)
        spec.channels = collective_auto_channels(&spec);
    struct job *job = job_new(n_ranks);
    g_autoptr(GError) cause = NULL;
    if (add_repeats(job, &spec, p->repeat, &cause))
        return job;
    fail(err, "collective", cause->message);
    job_free(job);
    return NULL;
}

static struct job *load_chakra(const struct workload_params *p, const struct collective_params *collective,
                               const struct fabric *fabric, const char *path, GPtrArray *warnings, GError **err)
{
    struct chakra_options options = {
        .compute_scale = p->compute_scale,
        .all_gather_total = p->chakra_all_gather == 1,
        .collective = spec_from(collective, fabric),
    };
    options.collective.root = 0; /* a trace says so itself */
    return read_chakra(path, &options, warnings, err);
}

/* ---- all -------------------------------------------------------------------------- */

/* HPCC flow files speak of node ids, and switches may come first: makes them ranks. */
static bool nodes_to_ranks(const struct fabric *fabric, const char *path, struct job *job, GError **err)
{
    job->n_ranks = fabric->graph.n_endpoints;
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        struct job_op *op = job_op_at(job, i);
        uint32_t rank = fabric_rank_of_node(fabric, op->rank), peer = fabric_rank_of_node(fabric, op->peer);
        if (rank == NET_NONE || peer == NET_NONE) {
            g_set_error(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT, "%s: flow %u: node %u is a switch; allowed: hosts", path,
                        op->origin, rank == NET_NONE ? op->rank : op->peer);
            return false;
        }
        op->rank = rank;
        op->peer = peer;
    }
    return true;
}

static struct job *load_hpcc(const struct fabric *fabric, const char *path, GPtrArray *warnings, GError **err)
{
    struct job *job = load_text(read_hpcc_flows_from_bytes, path, fabric->graph.n_nodes, warnings, err);
    if (job && !nodes_to_ranks(fabric, path, job, err))
        g_clear_pointer(&job, job_free);
    return job;
}

static struct job *load_kind(const struct workload_params *p, const struct collective_params *collective,
                             const struct fabric *fabric, const char *path, GPtrArray *warnings, GError **err)
{
    uint32_t n_ranks = p->ranks > 0 ? (uint32_t)p->ranks : fabric->graph.n_endpoints;
    switch ((enum workload_kind)p->kind) {
    case WORKLOAD_FLOWS:
        return load_text(read_flows_from_bytes, path, n_ranks, warnings, err);
    case WORKLOAD_HPCC:
        return load_hpcc(fabric, path, warnings, err);
    case WORKLOAD_HTSIM:
        return load_text(read_htsim_cm_from_bytes, path, n_ranks, warnings, err);
    case WORKLOAD_CHAKRA:
        return load_chakra(p, collective, fabric, path, warnings, err);
    case WORKLOAD_COLLECTIVE:
        return make_collective(collective, fabric, n_ranks, err);
    case WORKLOAD_NONE:
        break;
    }
    fail(err, "workload.kind", "none: there is nothing to run; allowed: flows, hpcc, htsim, chakra, collective");
    return NULL;
}

static bool check_ranks(const struct workload_params *p, const struct job *job, uint32_t n_endpoints, GPtrArray *warnings,
                        GError **err)
{
    g_autofree char *text = NULL;
    if (job->n_ranks > n_endpoints)
        text = g_strdup_printf("the workload has %u ranks, but the fabric has %u endpoints", job->n_ranks, n_endpoints);
    else if (p->ranks > 0 && job->n_ranks != p->ranks)
        text = g_strdup_printf("%d ranks are asked for, but the file has %u", (int)p->ranks, job->n_ranks);
    if (text)
        return fail(err, "workload.ranks", text);
    if (job->n_ranks > 0 && job->n_ranks < n_endpoints)
        read_warn(warnings, "%u ranks on a fabric of %u endpoints: endpoints 0 to %u are used", job->n_ranks, n_endpoints,
                  job->n_ranks - 1);
    return true;
}

static bool finish(const struct workload_params *p, const char *path, const char *base_dir, uint32_t n_endpoints,
                   struct job *job, GPtrArray *warnings, GError **err)
{
    if (!check_ranks(p, job, n_endpoints, warnings, err) || !load_paths(p, base_dir, job, warnings, err))
        return false;
    if (job_seal(job, err))
        return true;
    g_prefix_error(err, "%s: ", p->file[0] != '\0' ? path : "workload");
    return false;
}

struct job *workload_load(const struct workload_params *workload, const struct collective_params *collective,
                          const struct fabric *fabric, const char *base_dir, GPtrArray *warnings, GError **err)
{
    uint32_t n_endpoints = fabric->graph.n_endpoints;
    g_autofree char *path = resolve(workload->file, base_dir);
    if (workload->ranks > n_endpoints) {
        g_autofree char *text = g_strdup_printf("the workload has %u ranks, but the fabric has %u endpoints",
                                                (uint32_t)workload->ranks, n_endpoints);
        fail(err, "workload.ranks", text);
        return NULL;
    }
    struct job *job = load_kind(workload, collective, fabric, path, warnings, err);
    if (job && !finish(workload, path, base_dir, n_endpoints, job, warnings, err))
        g_clear_pointer(&job, job_free);
    return job;
}
