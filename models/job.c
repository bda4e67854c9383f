/* job.c - building a job and sealing it: matching, successor lists, deadlock by construction.
 *
 * Sealing is linear in operations and dependencies (radix sort, counting sort,
 * Kahn's algorithm), so 10^7 operations take seconds. Only a job that has a
 * cycle pays more: finding a short one is a bounded search. The cycle search
 * counts "a receive waits for its send" as a dependency too; the successor lists
 * do not, since a fidelity sees that edge as an arrival.
 */
#include "models/job.h"

#include <string.h>

G_DEFINE_QUARK(fabricast-job-error-quark, job_error)

/* ---- building ------------------------------------------------------------- */

static void clear_collective(void *data)
{
    struct job_collective *c = data;
    g_free(c->name);
    g_free(c->ranks);
    g_free(c->start_op);
    g_free(c->end_op);
}

static void clear_path(void *data)
{
    struct job_path *p = data;
    g_free(p->data_nodes);
    g_free(p->ack_nodes);
}

struct job *job_new(uint32_t n_ranks)
{
    struct job *job = g_new0(struct job, 1);
    job->n_ranks = n_ranks;
    job->ops = g_array_new(FALSE, FALSE, sizeof(struct job_op));
    job->edges = g_array_new(FALSE, FALSE, sizeof(struct job_edge));
    job->collectives = g_array_new(FALSE, FALSE, sizeof(struct job_collective));
    job->flows = g_array_new(FALSE, FALSE, sizeof(struct job_flow));
    job->paths = g_array_new(FALSE, FALSE, sizeof(struct job_path));
    job->applications = g_ptr_array_new_with_free_func(g_free);
    g_array_set_clear_func(job->collectives, clear_collective);
    g_array_set_clear_func(job->paths, clear_path);
    return job;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    g_array_unref(job->ops);
    g_array_unref(job->edges);
    g_array_unref(job->collectives);
    g_array_unref(job->flows);
    g_array_unref(job->paths);
    g_ptr_array_unref(job->applications);
    g_free(job->n_deps);
    g_free(job->succ_first);
    g_free(job->succ);
    g_free(job);
}

uint32_t job_add(struct job *job, const struct job_op *op)
{
    g_array_append_val(job->ops, *op);
    return job->ops->len - 1;
}

static struct job_op blank_op(enum job_op_kind kind, uint32_t rank, int64_t amount)
{
    return (struct job_op){
        .amount = amount,
        .rank = rank,
        .peer = JOB_NONE,
        .match = JOB_NONE,
        .collective = JOB_NONE,
        .origin = JOB_NONE,
        .kind = (uint8_t)kind,
        .traffic_class = JOB_CLASS_DEFAULT,
    };
}

uint32_t job_add_nop(struct job *job, uint32_t rank, uint32_t collective)
{
    struct job_op op = blank_op(JOB_NOP, rank, 0);
    op.collective = collective;
    return job_add(job, &op);
}

uint32_t job_add_compute(struct job *job, uint32_t rank, int64_t duration_ps)
{
    struct job_op op = blank_op(JOB_COMPUTE, rank, duration_ps);
    return job_add(job, &op);
}

static uint32_t add_transfer(struct job *job, enum job_op_kind kind, uint32_t rank, uint32_t peer, int64_t bytes,
                             uint32_t tag, uint32_t collective)
{
    struct job_op op = blank_op(kind, rank, bytes);
    op.peer = peer;
    op.tag = tag;
    op.collective = collective;
    return job_add(job, &op);
}

uint32_t job_add_send(struct job *job, uint32_t rank, uint32_t peer, int64_t bytes, uint32_t tag, uint32_t collective)
{
    return add_transfer(job, JOB_SEND, rank, peer, bytes, tag, collective);
}

uint32_t job_add_recv(struct job *job, uint32_t rank, uint32_t peer, int64_t bytes, uint32_t tag, uint32_t collective)
{
    return add_transfer(job, JOB_RECV, rank, peer, bytes, tag, collective);
}

void job_depend(struct job *job, uint32_t after, uint32_t before)
{
    struct job_edge edge = {.before = before, .after = after};
    g_array_append_val(job->edges, edge);
}

/* ---- checks of single ops and edges ----------------------------------------- */

/* What a person calls the op: the id of its source where it has one. Ops that move a
 * collective's data use origin for a chunk number, which names nothing to the reader. */
static uint32_t shown_id(const struct job *job, uint32_t i)
{
    const struct job_op *op = job_op_at(job, i);
    bool is_chunk = op->collective != JOB_NONE && op->kind != JOB_NOP;
    return op->origin == JOB_NONE || is_chunk ? i : op->origin;
}

static bool is_transfer(const struct job_op *op) { return op->kind == JOB_SEND || op->kind == JOB_RECV; }

static bool fail_op(const struct job *job, uint32_t i, GError **err, const char *what)
{
    const struct job_op *op = job_op_at(job, i);
    g_set_error(err, JOB_ERROR, JOB_ERROR_INPUT, "rank %u op %u: %s", op->rank, shown_id(job, i), what);
    return false;
}

static bool check_transfer(const struct job *job, uint32_t i, GError **err)
{
    const struct job_op *op = job_op_at(job, i);
    if (op->peer >= job->n_ranks) {
        g_set_error(err, JOB_ERROR, JOB_ERROR_INPUT, "rank %u op %u: peer rank %u is outside 0..%u", op->rank,
                    shown_id(job, i), op->peer, job->n_ranks - 1);
        return false;
    }
    if (op->peer == op->rank)
        return fail_op(job, i, err, "sends to or receives from its own rank");
    return true;
}

static bool check_op(const struct job *job, uint32_t i, GError **err)
{
    const struct job_op *op = job_op_at(job, i);
    if (op->kind > JOB_RECV)
        return fail_op(job, i, err, "unknown kind of operation");
    if (op->rank >= job->n_ranks) {
        g_set_error(err, JOB_ERROR, JOB_ERROR_INPUT, "op %u: rank %u does not exist, the job has %u ranks",
                    shown_id(job, i), op->rank, job->n_ranks);
        return false;
    }
    if (op->amount < 0)
        return fail_op(job, i, err, is_transfer(op) ? "negative size" : "negative duration");
    if (op->earliest_ps < 0)
        return fail_op(job, i, err, "negative start time");
    if (op->traffic_class > 7 && op->traffic_class != JOB_CLASS_DEFAULT)
        return fail_op(job, i, err, "traffic class outside 0..7");
    return !is_transfer(op) || check_transfer(job, i, err);
}

static bool check_edge(const struct job *job, const struct job_edge *e, GError **err)
{
    uint32_t n = job_n_ops(job);
    if (e->before >= n || e->after >= n) {
        g_set_error(err, JOB_ERROR, JOB_ERROR_INPUT, "dependency of op %u on op %u, but there are only %u ops", e->after,
                    e->before, n);
        return false;
    }
    return e->before != e->after || fail_op(job, e->after, err, "depends on itself");
}

static bool check_all(const struct job *job, GError **err)
{
    for (uint32_t i = 0; i < job_n_ops(job); i++)
        if (!check_op(job, i, err))
            return false;
    for (uint32_t i = 0; i < job->edges->len; i++)
        if (!check_edge(job, &g_array_index(job->edges, struct job_edge, i), err))
            return false;
    return true;
}

/* ---- matching sends with receives ------------------------------------------- */

enum { KEY_TAG, KEY_DST, KEY_SRC, N_KEYS };

static uint32_t key_of(const struct job_op *op, int key)
{
    if (key == KEY_TAG)
        return op->tag;
    return (key == KEY_SRC) == (op->kind == JOB_SEND) ? op->rank : op->peer;
}

#define RADIX_BITS 11
#define RADIX_SIZE (1u << RADIX_BITS)

/* One stable counting pass over LIST into OUT by RADIX_BITS bits of KEY at SHIFT. */
static void radix_pass(const struct job *job, const uint32_t *list, uint32_t *out, uint32_t n, int key, int shift)
{
    uint32_t first[RADIX_SIZE + 1] = {0};
    for (uint32_t i = 0; i < n; i++)
        first[((key_of(job_op_at(job, list[i]), key) >> shift) & (RADIX_SIZE - 1)) + 1]++;
    for (uint32_t b = 0; b < RADIX_SIZE; b++)
        first[b + 1] += first[b];
    for (uint32_t i = 0; i < n; i++)
        out[first[(key_of(job_op_at(job, list[i]), key) >> shift) & (RADIX_SIZE - 1)]++] = list[i];
}

static uint32_t key_bits_used(const struct job *job, const uint32_t *list, uint32_t n, int key)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < n; i++)
        bits |= key_of(job_op_at(job, list[i]), key);
    return bits;
}

/* All ops of KIND, ordered by (source, destination, tag, op index). (transfer full) */
static uint32_t *sorted_transfers(const struct job *job, enum job_op_kind kind, uint32_t *n_p)
{
    uint32_t n = 0;
    uint32_t *list = g_new(uint32_t, job_n_ops(job) + 1);
    for (uint32_t i = 0; i < job_n_ops(job); i++)
        if (job_op_at(job, i)->kind == kind)
            list[n++] = i;
    uint32_t *spare = g_new(uint32_t, n + 1);
    for (int key = KEY_TAG; key < N_KEYS; key++) {
        uint32_t bits = key_bits_used(job, list, n, key);
        for (int shift = 0; shift < 32 && bits >> shift != 0; shift += RADIX_BITS) {
            radix_pass(job, list, spare, n, key, shift);
            uint32_t *swap = list;
            list = spare;
            spare = swap;
        }
    }
    g_free(spare);
    *n_p = n;
    return list;
}

static int compare_keys(const struct job_op *a, const struct job_op *b)
{
    for (int key = N_KEYS - 1; key >= 0; key--) {
        uint32_t ka = key_of(a, key), kb = key_of(b, key);
        if (ka != kb)
            return ka < kb ? -1 : 1;
    }
    return 0;
}

struct matching {
    uint32_t first_alone; /* lowest op index without a partner, or JOB_NONE */
    uint32_t n_alone;
    uint32_t wrong_size; /* lowest send whose receive expects another size, or JOB_NONE */
};

static void leave_alone(struct job *job, struct matching *m, uint32_t i)
{
    job_op_at(job, i)->match = JOB_NONE;
    m->n_alone++;
    m->first_alone = MIN(m->first_alone, i);
}

static void pair_up(struct job *job, struct matching *m, uint32_t send, uint32_t recv)
{
    job_op_at(job, send)->match = recv;
    job_op_at(job, recv)->match = send;
    if (job_op_at(job, send)->amount != job_op_at(job, recv)->amount)
        m->wrong_size = MIN(m->wrong_size, send);
}

/* Walks both ordered lists side by side; equal keys pair up in op order. */
static void match_lists(struct job *job, const uint32_t *sends, uint32_t n_sends, const uint32_t *recvs, uint32_t n_recvs,
                        struct matching *m)
{
    uint32_t s = 0, r = 0;
    while (s < n_sends || r < n_recvs) {
        int order = s == n_sends   ? 1
                    : r == n_recvs ? -1
                                   : compare_keys(job_op_at(job, sends[s]), job_op_at(job, recvs[r]));
        if (order == 0)
            pair_up(job, m, sends[s++], recvs[r++]);
        else
            leave_alone(job, m, order < 0 ? sends[s++] : recvs[r++]);
    }
}

static bool report_matching(const struct job *job, const struct matching *m, GError **err)
{
    if (m->n_alone > 0) {
        const struct job_op *op = job_op_at(job, m->first_alone);
        const char *form = op->kind == JOB_RECV ? "rank %u op %u waits for a receive from rank %u with tag %u that nobody sends"
                                                : "rank %u op %u sends to rank %u with tag %u, which nobody receives";
        g_autoptr(GString) text = g_string_new(NULL);
        g_string_printf(text, form, op->rank, shown_id(job, m->first_alone), op->peer, op->tag);
        if (m->n_alone > 1)
            g_string_append_printf(text, " (%u operations have no partner)", m->n_alone);
        g_set_error_literal(err, JOB_ERROR, JOB_ERROR_UNMATCHED, text->str);
        return false;
    }
    if (m->wrong_size == JOB_NONE)
        return true;
    const struct job_op *send = job_op_at(job, m->wrong_size);
    g_set_error(err, JOB_ERROR, JOB_ERROR_INPUT,
                "rank %u op %u sends %" G_GINT64_FORMAT " bytes to rank %u with tag %u, whose op %u receives %" G_GINT64_FORMAT
                " bytes",
                send->rank, shown_id(job, m->wrong_size), send->amount, send->peer, send->tag, shown_id(job, send->match),
                job_op_at(job, send->match)->amount);
    return false;
}

static bool match_transfers(struct job *job, GError **err)
{
    uint32_t n_sends, n_recvs;
    g_autofree uint32_t *sends = sorted_transfers(job, JOB_SEND, &n_sends);
    g_autofree uint32_t *recvs = sorted_transfers(job, JOB_RECV, &n_recvs);
    struct matching m = {.first_alone = JOB_NONE, .wrong_size = JOB_NONE};
    match_lists(job, sends, n_sends, recvs, n_recvs, &m);
    return report_matching(job, &m, err);
}

/* ---- successor lists -------------------------------------------------------- */

static void build_successors(struct job *job)
{
    uint32_t n = job_n_ops(job);
    g_free(job->n_deps);
    g_free(job->succ_first);
    g_free(job->succ);
    job->n_deps = g_new0(uint32_t, n + 1);
    job->succ_first = g_new0(uint32_t, n + 1);
    job->succ = g_new(uint32_t, job->edges->len + 1);
    const struct job_edge *edges = (const struct job_edge *)(void *)job->edges->data;
    for (uint32_t i = 0; i < job->edges->len; i++) {
        job->n_deps[edges[i].after]++;
        job->succ_first[edges[i].before]++;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t count = i < n ? job->succ_first[i] : 0;
        job->succ_first[i] = at;
        at += count;
    }
    /* Fill by moving each start forward, then move all of them back by one place. */
    for (uint32_t i = 0; i < job->edges->len; i++)
        job->succ[job->succ_first[edges[i].before]++] = edges[i].after;
    for (uint32_t i = n; i > 0; i--)
        job->succ_first[i] = job->succ_first[i - 1];
    job->succ_first[0] = 0;
}

/* ---- cycles ----------------------------------------------------------------- */

/* Number of things that wait for op I: its successors and, of a send, its receive. */
static uint32_t n_out(const struct job *job, uint32_t i)
{
    uint32_t n = job->succ_first[i + 1] - job->succ_first[i];
    return n + (job_op_at(job, i)->kind == JOB_SEND ? 1 : 0);
}

static uint32_t out_at(const struct job *job, uint32_t i, uint32_t k)
{
    uint32_t at = job->succ_first[i] + k;
    return at < job->succ_first[i + 1] ? job->succ[at] : job_op_at(job, i)->match;
}

/* Kahn: returns per op how many of its predecessors can never be done; all zero when
 * there is no cycle. *STUCK_P is the lowest op left over, or JOB_NONE. (transfer full) */
static uint32_t *unfinished(const struct job *job, uint32_t *stuck_p)
{
    uint32_t n = job_n_ops(job);
    uint32_t *waits = g_new(uint32_t, n + 1);
    g_autofree uint32_t *ready = g_new(uint32_t, n + 1);
    uint32_t n_ready = 0;
    for (uint32_t i = 0; i < n; i++) {
        waits[i] = job->n_deps[i] + (job_op_at(job, i)->kind == JOB_RECV ? 1 : 0);
        if (waits[i] == 0)
            ready[n_ready++] = i;
    }
    while (n_ready > 0) {
        uint32_t i = ready[--n_ready];
        for (uint32_t k = 0; k < n_out(job, i); k++)
            if (--waits[out_at(job, i, k)] == 0)
                ready[n_ready++] = out_at(job, i, k);
    }
    *stuck_p = JOB_NONE;
    for (uint32_t i = 0; i < n && *stuck_p == JOB_NONE; i++)
        if (waits[i] > 0)
            *stuck_p = i;
    return waits;
}

/* Paths are gathered from their end. */
static void reverse(GArray *list)
{
    uint32_t *at = (uint32_t *)(void *)list->data;
    for (uint32_t i = 0, k = list->len; i + 1 < k; i++) {
        uint32_t swap = at[i];
        at[i] = at[--k];
        at[k] = swap;
    }
}

/* A cycle for certain: every stuck op has a stuck predecessor, so walking back must repeat. */
static GArray *any_cycle(const struct job *job, const uint32_t *waits, uint32_t stuck)
{
    uint32_t n = job_n_ops(job);
    g_autofree uint32_t *before = g_new(uint32_t, n);
    g_autofree uint8_t *seen = g_new0(uint8_t, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; waits[i] > 0 && k < n_out(job, i); k++)
            before[out_at(job, i, k)] = i;
    uint32_t at = stuck;
    for (; !seen[at]; at = before[at])
        seen[at] = 1;
    GArray *cycle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t start = at;
    do {
        g_array_append_val(cycle, at);
        at = before[at];
    } while (at != start);
    reverse(cycle);
    return cycle;
}

struct cycle_search {
    const struct job *job;
    const uint32_t *waits;
    uint32_t *from;    /* per op: how the current search reached it */
    uint32_t *visit;   /* per op: number of the search that reached it last */
    uint32_t *queue;
    uint64_t budget;   /* edge visits left */
};

/* Breadth first from START: length of the shortest cycle through it if below LIMIT, else LIMIT.
 * The path is in s->from, its last op in *LAST_P. */
static uint32_t shortest_through(struct cycle_search *s, uint32_t start, uint32_t limit, uint32_t *last_p)
{
    uint32_t head = 0, tail = 0, depth = 1, level_end = 1;
    s->queue[tail++] = start;
    s->visit[start] = start + 1;
    for (; head < tail && depth < limit && s->budget > 0; head++) {
        if (head == level_end) {
            depth++;
            level_end = tail;
            if (depth >= limit)
                break;
        }
        uint32_t i = s->queue[head];
        for (uint32_t k = 0; k < n_out(s->job, i) && s->budget > 0; k++, s->budget--) {
            uint32_t next = out_at(s->job, i, k);
            if (next == start) {
                *last_p = i;
                return depth;
            }
            if (s->waits[next] == 0 || s->visit[next] == start + 1)
                continue;
            s->visit[next] = start + 1;
            s->from[next] = i;
            s->queue[tail++] = next;
        }
    }
    return limit;
}

static void take_path(const struct cycle_search *s, GArray *cycle, uint32_t start, uint32_t last)
{
    g_array_set_size(cycle, 0);
    for (uint32_t at = last; at != start; at = s->from[at])
        g_array_append_val(cycle, at);
    g_array_append_val(cycle, start);
    reverse(cycle);
}

#define CYCLE_SEARCH_BUDGET UINT64_C(20000000)

/* Improves CYCLE by a search from every stuck op, within the budget. */
static void shorten_cycle(const struct job *job, const uint32_t *waits, GArray *cycle)
{
    uint32_t n = job_n_ops(job);
    g_autofree uint32_t *from = g_new(uint32_t, n);
    g_autofree uint32_t *visit = g_new0(uint32_t, n);
    g_autofree uint32_t *queue = g_new(uint32_t, n + 1);
    struct cycle_search s = {job, waits, from, visit, queue, CYCLE_SEARCH_BUDGET};
    for (uint32_t start = 0; start < n && s.budget > 0 && cycle->len > 2; start++) {
        uint32_t last = start;
        if (waits[start] > 0 && shortest_through(&s, start, cycle->len, &last) < cycle->len)
            take_path(&s, cycle, start, last);
    }
}

#define CYCLE_SHOWN 16

/* Where to start telling it: at the lowest op, so that one cycle always reads the same. */
static uint32_t cycle_start(const GArray *cycle)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < cycle->len; i++)
        if (g_array_index(cycle, uint32_t, i) < g_array_index(cycle, uint32_t, best))
            best = i;
    return best;
}

static void report_cycle(const struct job *job, const GArray *cycle, GError **err)
{
    uint32_t start = cycle_start(cycle);
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "cycle of %u operations: ", cycle->len);
    for (uint32_t i = 0; i < cycle->len && i < CYCLE_SHOWN; i++) {
        uint32_t op = g_array_index(cycle, uint32_t, (start + i) % cycle->len);
        g_string_append_printf(text, "rank %u op %u -> ", job_op_at(job, op)->rank, shown_id(job, op));
    }
    if (cycle->len > CYCLE_SHOWN)
        g_string_append_printf(text, "... (%u more) -> ", cycle->len - CYCLE_SHOWN);
    uint32_t first = g_array_index(cycle, uint32_t, start);
    g_string_append_printf(text, "rank %u op %u", job_op_at(job, first)->rank, shown_id(job, first));
    g_set_error_literal(err, JOB_ERROR, JOB_ERROR_INPUT, text->str);
}

static bool check_no_cycle(const struct job *job, GError **err)
{
    uint32_t stuck;
    g_autofree uint32_t *waits = unfinished(job, &stuck);
    if (stuck == JOB_NONE)
        return true;
    g_autoptr(GArray) cycle = any_cycle(job, waits, stuck);
    shorten_cycle(job, waits, cycle);
    report_cycle(job, cycle, err);
    return false;
}

bool job_seal(struct job *job, GError **err)
{
    if (job->sealed)
        return true;
    if (!check_all(job, err) || !match_transfers(job, err))
        return false;
    build_successors(job);
    if (!check_no_cycle(job, err))
        return false;
    g_array_unref(job->edges); /* the successor lists say the same; a large job needs the memory */
    job->edges = g_array_new(FALSE, FALSE, sizeof(struct job_edge));
    job->sealed = true;
    return true;
}
