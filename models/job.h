/* job.h - work as a graph of operations, one list a rank.
 *
 * Every workload (flow list, collective, Chakra trace, ...) becomes a job; every
 * fidelity runs it. An op starts when all ops it depends on are done and its
 * earliest_ps has passed:
 *   JOB_NOP      done at once (joins, start and end marks of a collective)
 *   JOB_COMPUTE  done amount (ps) later
 *   JOB_SEND     amount bytes to the rank PEER; done when the last byte is acknowledged
 *   JOB_RECV     done when the last byte of its message has arrived and the op has started
 * Sends and receives are matched at sealing: the k-th send and the k-th receive
 * with equal (source rank, destination rank, tag), in order of op index.
 *
 * An op may depend on an op of another rank (flow B starts when flow A is done, as
 * flow files ask): such ranks share one simulated node (no lookahead between them).
 */
#ifndef FABRICAST_MODELS_JOB_H
#define FABRICAST_MODELS_JOB_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define JOB_NONE UINT32_MAX

enum job_op_kind { JOB_NOP, JOB_COMPUTE, JOB_SEND, JOB_RECV };

struct job_op {
    int64_t amount;       /* bytes (SEND, RECV) or ps (COMPUTE) */
    int64_t earliest_ps;  /* not before this time; 0 if none */
    uint32_t rank;
    uint32_t peer;        /* rank at the other end (SEND, RECV), else JOB_NONE */
    uint32_t tag;
    uint32_t match;       /* op at the other end, set by job_seal(); JOB_NONE for others */
    uint32_t collective;  /* index of the collective it belongs to, or JOB_NONE */
    uint32_t origin;      /* id in its source: flow number, trace node id (low 32 bits) */
    uint8_t kind;         /* enum job_op_kind */
    uint8_t traffic_class;/* 0..7, JOB_CLASS_DEFAULT: the scenario's data class */
    uint8_t channel;      /* queue pair of the (src, dst) pair that carries it; 0 if one */
    uint8_t flags;
};
#define JOB_CLASS_DEFAULT 255

enum job_collective_kind {
    JOB_ALL_REDUCE, JOB_REDUCE_SCATTER, JOB_ALL_GATHER, JOB_ALL_TO_ALL, JOB_BROADCAST, JOB_REDUCE, JOB_BARRIER, JOB_SEND_RECV,
};

/* One collective: what the reports call time, algbw and busbw. BYTES is the total size S of nccl-tests:
 * the whole vector for all-reduce, n x count for all-gather, reduce-scatter and all-to-all. */
struct job_collective {
    char *name;
    uint8_t kind;          /* enum job_collective_kind */
    const char *algorithm; /* "ring", "direct"; static string */
    int64_t bytes;
    uint32_t n_ranks;
    uint32_t *ranks;       /* n_ranks, in ring order */
    uint32_t *start_op;    /* n_ranks: NOP that starts it on that rank */
    uint32_t *end_op;      /* n_ranks: NOP that ends it there          */
};

/* One flow of a flow list: its two ops. */
struct job_flow {
    uint32_t id;
    uint32_t send_op, recv_op;
    uint32_t application; /* 1 + index in applications; 0: not named */
};

/* Fixed paths (from a paths file): node ids from source host to destination host, for data and for ACKs. */
struct job_path { uint32_t src_rank, dst_rank; uint32_t flow_id; uint32_t n_data, n_ack; uint32_t *data_nodes, *ack_nodes; };

struct job {
    uint32_t n_ranks;
    GArray *ops;         /* struct job_op */
    GArray *edges;       /* struct job_edge, before sealing */
    GArray *collectives; /* struct job_collective */
    GArray *flows;       /* struct job_flow */
    GArray *paths;       /* struct job_path */
    GPtrArray *applications; /* char *: whose flows these are, as the flow list names them */
    /* After job_seal(): */
    uint32_t *n_deps;     /* per op: how many ops it waits for */
    uint32_t *succ_first; /* n_ops + 1: successors of op i are succ[succ_first[i] .. succ_first[i+1]) */
    uint32_t *succ;
    bool sealed;
};
struct job_edge { uint32_t before, after; };

#define JOB_ERROR (job_error_quark())
typedef enum {
    JOB_ERROR_INPUT,     /* rank out of range, negative size, self-dependency, cycle: exit 2 */
    JOB_ERROR_UNMATCHED, /* a receive that nobody sends, or a send that nobody receives: exit 4 */
} job_error;
GQuark job_error_quark(void);

struct job *job_new(uint32_t n_ranks);
void job_free(struct job *job); /* accepts NULL */

/* Appends OP (copied); returns its index. */
uint32_t job_add(struct job *job, const struct job_op *op);
/* Shorthands over job_add(). */
uint32_t job_add_nop(struct job *job, uint32_t rank, uint32_t collective);
uint32_t job_add_compute(struct job *job, uint32_t rank, int64_t duration_ps);
uint32_t job_add_send(struct job *job, uint32_t rank, uint32_t peer, int64_t bytes, uint32_t tag, uint32_t collective);
uint32_t job_add_recv(struct job *job, uint32_t rank, uint32_t peer, int64_t bytes, uint32_t tag, uint32_t collective);
/* AFTER starts only when BEFORE is done. */
void job_depend(struct job *job, uint32_t after, uint32_t before);

static inline struct job_op *job_op_at(const struct job *job, uint32_t i) { return &g_array_index(job->ops, struct job_op, i); }
static inline uint32_t job_n_ops(const struct job *job) { return job->ops->len; }

/* Matches sends with receives, builds the successor lists, finds cycles. On
 * error names rank, op, peer and tag (UNMATCHED) or the shortest cycle it found (INPUT). */
bool job_seal(struct job *job, GError **err);

#endif
