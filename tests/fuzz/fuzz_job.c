/* fuzz_job.c - what must hold for a job that a workload reader returned. */
#include "fuzz_job.h"

#include <string.h>

/* A job carried out in no time: every op of a sealed one gets done. */
struct walk {
    const struct job *job;
    uint32_t *waits;   /* per op: what it still waits for; a receive also for its send */
    GArray *ready;
    uint32_t n_done;
};

static void release(struct walk *walk, uint32_t op)
{
    FUZZ_REQUIRE(op < job_n_ops(walk->job) && walk->waits[op] > 0);
    if (--walk->waits[op] == 0)
        g_array_append_val(walk->ready, op);
}

static void check_match(const struct job *job, uint32_t i)
{
    const struct job_op *op = job_op_at(job, i);
    if (op->kind != JOB_SEND && op->kind != JOB_RECV) {
        FUZZ_REQUIRE(op->match == JOB_NONE);
        return;
    }
    FUZZ_REQUIRE(op->match < job_n_ops(job));
    const struct job_op *other = job_op_at(job, op->match);
    FUZZ_REQUIRE(other->match == i && other->kind != op->kind && other->tag == op->tag);
    FUZZ_REQUIRE(other->rank == op->peer && other->peer == op->rank && op->rank < job->n_ranks);
}

static void finish_op(struct walk *walk, uint32_t i)
{
    const struct job *job = walk->job;
    walk->n_done++;
    for (uint32_t s = job->succ_first[i]; s < job->succ_first[i + 1]; s++)
        release(walk, job->succ[s]);
    if (job_op_at(job, i)->kind == JOB_SEND)
        release(walk, job_op_at(job, i)->match);
}

static void walk_job(const struct job *job)
{
    uint32_t n = job_n_ops(job);
    g_autofree uint32_t *waits = g_new0(uint32_t, n + 1);
    struct walk walk = {job, waits, g_array_new(FALSE, FALSE, sizeof(uint32_t)), 0};
    for (uint32_t i = 0; i < n; i++) {
        check_match(job, i);
        waits[i] = job->n_deps[i] + (job_op_at(job, i)->kind == JOB_RECV) + 1;
    }
    for (uint32_t i = 0; i < n; i++)
        release(&walk, i); /* the 1 that all got: those that wait for nothing become ready */
    while (walk.ready->len > 0) {
        uint32_t op = g_array_index(walk.ready, uint32_t, walk.ready->len - 1);
        g_array_set_size(walk.ready, walk.ready->len - 1);
        finish_op(&walk, op);
    }
    FUZZ_REQUIRE(walk.n_done == n);
    g_array_unref(walk.ready);
}

static void check_amounts(const struct job *job)
{
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        FUZZ_REQUIRE(op->amount >= 0 && op->earliest_ps >= 0);
        FUZZ_REQUIRE(op->traffic_class < 8 || op->traffic_class == JOB_CLASS_DEFAULT);
    }
}

void fuzz_take_job(struct job *job, GError **err)
{
    if (!job) {
        fuzz_take_error(err, FUZZ_NAME);
        return;
    }
    check_amounts(job);
    if (job_seal(job, err))
        walk_job(job);
    else
        fuzz_take_error(err, NULL);
    job_free(job);
}

void fuzz_take_warnings(GPtrArray *warnings)
{
    for (guint i = 0; i < warnings->len; i++) {
        const char *text = g_ptr_array_index(warnings, i);
        FUZZ_REQUIRE(text[0] != '\0');
        FUZZ_REQUIRE_TEXT(g_utf8_validate(text, -1, NULL) && !strchr(text, '\n'), text);
    }
    g_ptr_array_unref(warnings);
}
