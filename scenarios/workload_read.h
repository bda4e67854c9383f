/* workload_read.h - readers of workload files, one .c each, and what they share.
 *
 * A reader takes any bytes (they are fuzzed) and returns an unsealed job (transfer full), or NULL
 * with ERR (WORKLOAD_ERROR) "NAME:line: key: what is wrong". NAME is only for messages.
 * Sizes are 64 bit, at most READ_MAX_BYTES; nothing is clamped. WARNINGS (char *) may be NULL.
 */
#ifndef FABRICAST_SCENARIOS_WORKLOAD_READ_H
#define FABRICAST_SCENARIOS_WORKLOAD_READ_H

#include "models/collective/collective.h"
#include "models/job.h"
#include "scenarios/workload.h"
#include "sim/units.h"
#include <glib.h>

#define READ_MAX_BYTES INT64_C(1000000000000000) /* 1 PB: 22 hours at 100 Gb/s */
#define READ_MAX_PS (INT64_C(1000000) * UNIT_S)  /* 11 days */

/* ---- readers ----------------------------------------------------------------- */

/* Flow list with a header line: columns src, dst, bytes; start (with unit) or start_us, start_ns,
 * start_ps; flow (an id; else the row's number); class (0..7); after_flow (id of a flow whose last
 * acknowledgement starts this one, its start is then ignored; -1 or empty: none). '#' starts a comment line. */
struct job *read_flows_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, uint32_t n_ranks,
                                  GPtrArray *warnings, GError **err);
/* Adds the paths of a CSV flow,data_path,ack_path to JOB, whose flows are known. */
bool read_paths_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, struct job *job, GPtrArray *warnings,
                           GError **err);

/* HPCC flow.txt: a count, then rows "src dst pg dport bytes start_seconds"; pg is the traffic class. Fewer rows
 * than declared are an error; as in HPCC itself more rows are left out, which is a warning. */
struct job *read_hpcc_flows_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, uint32_t n_ranks,
                                       GPtrArray *warnings, GError **err);

/* htsim connection matrix; job->n_ranks is its Nodes, at most MAX_RANKS. prio is taken as traffic class. */
struct job *read_htsim_cm_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, uint32_t max_ranks,
                                     GPtrArray *warnings, GError **err);

struct chakra_options {
    double compute_scale;
    bool all_gather_total;            /* comm_size of an all-gather is the total, not one rank's part */
    struct collective_spec collective;/* algorithm, channels, max_message_bytes, max_outstanding, traffic_class */
};
#define CHAKRA_OPTIONS_DEFAULT                                                                                 \
    ((struct chakra_options){.compute_scale = 1, .collective = COLLECTIVE_SPEC_DEFAULT})

/* PATH: a folder with prefix.RANK.et for ranks 0..n-1, or folder/prefix. */
struct job *read_chakra(const char *path, const struct chakra_options *options, GPtrArray *warnings, GError **err);
/* All of N_RANKS ranks run the trace DATA. */
struct job *read_chakra_from_bytes(const char *name, const uint8_t *data, size_t n_bytes, uint32_t n_ranks,
                                   const struct chakra_options *options, GPtrArray *warnings, GError **err);

/* ---- shared ------------------------------------------------------------------ */

/* "0-7,16-23": uint32_t in the order given; empty text gives an empty array. NULL with ERR (WORKLOAD_ERROR). */
GArray *workload_parse_ranks(const char *text, GError **err);

/* Where a message points: "NAME:LINE: KEY: ". KEY may be NULL. */
struct read_place {
    const char *name;
    int line;
    const char *key;
};
/* Sets ERR and returns false. */
bool read_fail(const struct read_place *at, GError **err, const char *format, ...) G_GNUC_PRINTF(3, 4);
void read_warn(GPtrArray *warnings, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* TEXT for a message: short, printable. (transfer full) */
char *read_quote(const char *text);

/* Whole numbers in [MIN, MAX]; sizes "4096" or "4KiB"; times "0.5" in UNIT ("us"), or with a unit if UNIT is "". */
bool read_int(const struct read_place *at, const char *text, int64_t min, int64_t max, int64_t *out, GError **err);
bool read_u32(const struct read_place *at, const char *text, uint32_t max, uint32_t *out, GError **err);
bool read_bytes(const struct read_place *at, const char *text, int64_t *out, GError **err);
bool read_time(const struct read_place *at, const char *text, const char *unit, int64_t *out_ps, GError **err);
/* A rank below N_RANKS. */
bool read_rank(const struct read_place *at, const char *text, uint32_t n_ranks, uint32_t *out, GError **err);

/* Lines of a text file. */
struct read_lines {
    struct read_place at; /* of the line returned last */
    const uint8_t *next, *end;
};
/* False with ERR set if DATA is no text (has a zero byte). */
bool read_lines_begin(struct read_lines *lines, const char *name, const uint8_t *data, size_t n_bytes, GError **err);
/* The next line that is not blank and no '#' comment, without blanks around; NULL at the end. (transfer full) */
char *read_lines_next(struct read_lines *lines);

/* One flow of a list. */
struct read_flow {
    uint32_t id, src, dst;
    int64_t bytes, start_ps;
    uint8_t traffic_class;
};
/* Adds its send and receive and an entry of job->flows. */
void read_add_flow(struct job *job, const struct read_flow *flow);
/* job->flows indices by id: GUINT_TO_POINTER(id) -> index + 1. (transfer full) */
GHashTable *read_flow_index(const struct job *job);

#endif
