/* chakra_trace.h - a set of Chakra traces in memory: between read_chakra.c and chakra_graph.c only. */
#ifndef FABRICAST_SCENARIOS_CHAKRA_TRACE_H
#define FABRICAST_SCENARIOS_CHAKRA_TRACE_H

#include "scenarios/workload_read.h"

/* Node kinds of the format. */
enum chakra_kind {
    CHAKRA_METADATA = 1, CHAKRA_LOAD, CHAKRA_STORE, CHAKRA_COMPUTE, CHAKRA_SEND, CHAKRA_RECV, CHAKRA_COLLECTIVE,
};

struct chakra_node {
    uint64_t id;
    int64_t bytes;          /* communication */
    int64_t duration_ps;    /* as traced, not scaled */
    uint64_t offset;        /* of its message in the file */
    uint32_t first_dep, n_deps;
    uint32_t peer, tag;     /* send, receive; collective: peer is the root rank or JOB_NONE */
    uint32_t group;         /* collective: index into groups */
    uint8_t kind;           /* enum chakra_kind */
    uint8_t collective;     /* enum job_collective_kind */
    bool has_ops_only;      /* a compute node that counts operations instead of time */
    const char *name;       /* in strings */
};

struct chakra_rank {
    char *name;     /* of the file */
    GArray *nodes;  /* struct chakra_node, in file order */
    GArray *deps;   /* uint64_t: ids */
};

struct chakra_trace {
    uint32_t n_ranks;
    struct chakra_rank *ranks;
    GPtrArray *groups;         /* char * in strings; group 0 is the default one, of all ranks */
    GHashTable *group_by_name; /* -> index */
    GStringChunk *strings;
};

/* "FILE: byte OFFSET: node ID: what"; returns false. */
bool chakra_fail(const struct chakra_trace *trace, uint32_t rank, const struct chakra_node *node, GError **err,
                 const char *format, ...) G_GNUC_PRINTF(5, 6);

/* The job of TRACE, unsealed. (transfer full); NULL with ERR set. */
struct job *chakra_to_job(const struct chakra_trace *trace, const struct chakra_options *options, GPtrArray *warnings,
                          GError **err);

#endif
