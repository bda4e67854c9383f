/* collective.h - expands one collective operation into the ops of a job.
 *
 * Every rank gets a start NOP, the sends and receives of the algorithm, and an
 * end NOP. Sends of a step depend on the receive that brings their data (and all
 * receives on the start NOP); the end NOP waits for all receives of the rank, or
 * for its sends where it receives nothing: as a NCCL kernel ends when its last
 * data is in, while the proxy still waits for the last acknowledgements.
 *
 * Data of S bytes is cut into channels x n pieces whose sizes differ by at most one
 * element; piece (c, j) has number c*n + j. (Broadcast, reduce and send-recv cut
 * into channels pieces only.) A send and a receive carry the number of the piece
 * that they move in job_op.origin, or JOB_NONE in a barrier; the slices of one piece
 * follow each other in op order. Empty pieces are not sent; n = 1 sends nothing.
 *
 * Algorithms (those of NVIDIA's NCCL; Patarasuk and Yuan 2009 for the ring):
 *   ring      all_reduce 2(n-1) steps, reduce_scatter and all_gather n-1 steps;
 *             broadcast and reduce: a chain, pipelined by slices
 *   direct    one message to each peer, in rotated order r+1, r+2, ...; all_reduce is
 *             reduce_scatter then all_gather
 *   dissemination  barrier: ceil(log2 n) rounds of empty messages
 * A ring over whole servers is rail-aligned when gpus_per_node says so: channel c enters an even
 * server at GPU c and leaves it at GPU c-1, an odd one the other way round, so that every hop
 * between servers stays on one rail and the channels share the NICs evenly (one hop wraps across
 * rails when the number of servers is odd).
 * Left out: trees, in-network reduction, the time of the reduction itself.
 */
#ifndef FABRICAST_MODELS_COLLECTIVE_H
#define FABRICAST_MODELS_COLLECTIVE_H

#include "models/job.h"

enum collective_algorithm { COLLECTIVE_RING, COLLECTIVE_DIRECT, COLLECTIVE_AUTO };

/* Tags from here on belong to collectives: tag = base + index of the collective. */
#define COLLECTIVE_TAG_BASE UINT32_C(0x40000000)
#define COLLECTIVE_CHANNELS_MAX 64
/* A chain (broadcast, reduce) that is not cut does not pipeline: without max_message_bytes its slices have NCCL's step
 * of the Simple protocol. */
#define COLLECTIVE_CHAIN_SLICE_BYTES INT64_C(524288)

/* job_op.flags of a receive: what it brings is reduced into the rank's own data; else it replaces it. */
#define COLLECTIVE_FLAG_REDUCE 1

struct collective_spec {
    enum job_collective_kind kind;
    enum collective_algorithm algorithm;
    int64_t bytes;              /* S of nccl-tests (see struct job_collective); 0 or more */
    int64_t elem_bytes;         /* 1 or more; divides bytes */
    const uint32_t *ranks;      /* n_ranks distinct ranks in ring order; borrowed */
    uint32_t n_ranks;
    uint32_t gpus_per_node;     /* rail-aligned ring if ranks are whole servers of so many; 0, 1: in the order of ranks */
    uint32_t root;              /* position in ranks (broadcast, reduce) */
    uint32_t channels;          /* 1..COLLECTIVE_CHANNELS_MAX; channel c uses job_op.channel c */
    int64_t max_message_bytes;  /* cut pieces into slices of this size; 0: never, but for chains (CHAIN_SLICE) */
    uint32_t max_outstanding;   /* direct: peers a rank sends to at once; 0: all */
    uint8_t traffic_class;      /* 0..7 or JOB_CLASS_DEFAULT */
    const char *name;           /* for reports; NULL: name of the kind. Copied */
    const uint32_t *start_after;/* per position: op that its start waits for, or JOB_NONE; NULL: none. Borrowed */
};
/* The defaults; set kind, bytes, ranks and n_ranks. */
#define COLLECTIVE_SPEC_DEFAULT                                                                    \
    ((struct collective_spec){.algorithm = COLLECTIVE_AUTO, .elem_bytes = 1, .channels = 1,        \
                              .traffic_class = JOB_CLASS_DEFAULT})

/* Appends the ops of SPEC to JOB (not yet sealed). Returns the index of the new entry
 * of job->collectives, or JOB_NONE with ERR (JOB_ERROR_INPUT) set and JOB unchanged. */
uint32_t collective_add(struct job *job, const struct collective_spec *spec, GError **err);

/* Payload that the rank at POSITION sends and receives in SPEC. SPEC must be valid for collective_add(). */
int64_t collective_rank_send_bytes(const struct collective_spec *spec, uint32_t position);
int64_t collective_rank_recv_bytes(const struct collective_spec *spec, uint32_t position);
/* Bytes that some rank must send or must receive whatever the algorithm (without in-network
 * reduction): 2S(n-1)/n, S(n-1)/n or S, rounded down; 0 for n = 1. Time >= this / rate of a rank's port. */
int64_t collective_bound_bytes(enum job_collective_kind kind, int64_t bytes, uint32_t n_ranks);

/* busbw = algbw x factor, as nccl-tests prints it (its doc/PERFORMANCE.md). n = 1 gives 0 where
 * the factor is k(n-1)/n. */
double collective_busbw_factor(enum job_collective_kind kind, uint32_t n_ranks);

/* Dependent steps from start to end with one slice a piece (0 for n = 1). */
uint32_t collective_steps(const struct collective_spec *spec);

/* Are the ranks two or more whole servers of gpus_per_node, one after the other, and so a ring rail-aligned? O(ranks). */
bool collective_is_rail_aligned(const struct collective_spec *spec);

/* Channels that SPEC takes when nobody says how many: one a GPU of a server for a rail-aligned ring, so that every NIC
 * works; else 1. O(ranks). */
uint32_t collective_auto_channels(const struct collective_spec *spec);

/* "all_reduce", ...; static. And back: false if TEXT names none. */
const char *collective_kind_name(enum job_collective_kind kind);
bool collective_kind_parse(const char *text, enum job_collective_kind *out);
/* What AUTO means for KIND: "ring", "direct", "dissemination"; NULL if KIND has no such algorithm. Static. */
const char *collective_algorithm_name(enum job_collective_kind kind, enum collective_algorithm algorithm);

#endif
