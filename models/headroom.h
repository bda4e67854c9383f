/* headroom.h - how much a lossless ingress group can still get after its XOFF was decided.
 *
 *   (2 x (cable + FEC) + peer response + our pipeline) x rate + a frame at each end, the one that crossed the
 *   threshold, and the pause frames
 *
 * What is in the pipeline when XOFF is decided has not been charged yet. In cells all of it is taken times the worst
 * ratio of charge to wire bytes. Source: IEEE 802.1Qbb; SONiC's headroom computation has the same terms.
 */
#ifndef FABRICAST_MODELS_HEADROOM_H
#define FABRICAST_MODELS_HEADROOM_H

#include "models/model_params.h"

struct buffer_headroom_terms {
    const struct buffer_params *buffer;
    const struct pfc_params *pfc;
    const struct link_params *link;
    const struct switch_params *switching;
    int64_t mtu_frame_bytes;
    int n_lossless;
};

/* The terms of the physical rule, for people; total_bytes is what buffer_headroom_needed_bytes() says. */
struct buffer_headroom_parts {
    sim_ps cable_ps, fec_ps;          /* one way */
    sim_ps response_ps, pipeline_ps;
    int64_t flight_bytes;             /* of all the times above, cable and FEC twice */
    int64_t frame_bytes, pause_bytes; /* one of each, on the wire */
    int n_frames, n_pauses;
    int64_t wire_bytes;               /* flight, frames, pauses */
    double cell_ratio;                /* worst ratio of charge to wire bytes; 1: bytes are counted exactly */
    int64_t total_bytes;
};

/* Headroom of a lossless class behind a link of RATE and one-way CABLE_PS by the rule of the parameters, before scaling. */
int64_t buffer_headroom_bytes(const struct buffer_headroom_terms *terms, int64_t rate_bps, sim_ps cable_ps);
/* The same by the physical rule, whatever the parameters say. */
int64_t buffer_headroom_needed_bytes(const struct buffer_headroom_terms *terms, int64_t rate_bps, sim_ps cable_ps);
void buffer_headroom_parts(const struct buffer_headroom_terms *terms, int64_t rate_bps, sim_ps cable_ps,
                           struct buffer_headroom_parts *parts);
/* Cells that 64-byte frames need, over their bytes: the factor with which vendors' tables are computed (SONiC's headroom
 * script for Spectrum, small_packet_percentage 100). 1 where bytes are counted exactly. */
double buffer_small_frame_ratio(int64_t cell_bytes);

#endif
