/* collective_priv.h - shared by the files of models/collective only. */
#ifndef FABRICAST_MODELS_COLLECTIVE_PRIV_H
#define FABRICAST_MODELS_COLLECTIVE_PRIV_H

#include "models/collective/collective.h"

/* One collective while its ops are being added. */
struct expansion {
    struct job *job;
    const struct collective_spec *spec;
    bool rail_aligned;
    uint32_t index;  /* of the entry in job->collectives */
    uint32_t *start; /* per position: NOPs; they end up in the entry */
    uint32_t *end;
};

/* A piece on its way from one position to another. */
struct transfer {
    uint32_t from, to;
    uint32_t channel;
    uint32_t piece; /* number for job_op.origin */
    int64_t bytes;
    bool reduces;
    bool by_slice;  /* slice k waits for op after + k * TRANSFER_STRIDE; else all wait for AFTER */
    uint32_t after;
};

/* Slices are added as send, receive, send, receive, ...: slice k of the transfer that
 * starts at op t is sent by t + k * TRANSFER_STRIDE and received by the op after it. */
#define TRANSFER_STRIDE 2
#define TRANSFER_RECV 1

/* Adds the sends and receives of T with their dependencies; returns its first op, JOB_NONE if T is empty. */
uint32_t expansion_add(struct expansion *x, const struct transfer *t);

bool collective_is_ring(const struct collective_spec *spec);
uint32_t collective_pieces_per_channel(const struct collective_spec *spec);
int64_t collective_piece_bytes(const struct collective_spec *spec, uint32_t channel, uint32_t j);
int64_t collective_slice_bytes(const struct collective_spec *spec);
/* Ring: step s of position p sends piece p + offset - s (mod n). */
uint32_t collective_ring_offset(const struct collective_spec *spec);
/* The rail-aligned ring of CHANNEL: position at seat K, and back. Seats follow each other around the ring. */
uint32_t collective_seat(const struct collective_spec *spec, uint32_t channel, uint32_t k);
uint32_t collective_seat_of(const struct collective_spec *spec, uint32_t channel, uint32_t position);
uint32_t collective_chain_place(const struct collective_spec *spec, uint32_t p);

void expand_ring(struct expansion *x);
void expand_direct(struct expansion *x);
void expand_rooted(struct expansion *x); /* broadcast, reduce, send_recv */
void expand_barrier(struct expansion *x);

#endif
