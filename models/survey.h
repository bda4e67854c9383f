/* survey.h - what the settings make of each port and switch, without a job and without a run.
 *
 * The profiles are those that net_new() would build, by the same code. Settings that net_new() would refuse do not end a
 * survey: they are problems of their ports. Ports and nodes are graph indices. For linting (scenarios/check.h).
 */
#ifndef FABRICAST_MODELS_SURVEY_H
#define FABRICAST_MODELS_SURVEY_H

#include "models/headroom.h"
#include "models/net.h"
#include "models/profile.h"

struct survey; /* opaque */

/* GRAPH and the tables of CONFIG are borrowed; its routing, faults and captures are not looked at. NULL with ERR set
 * (NET_ERROR) when the NICs use too many codes. Free with survey_free(). */
struct survey *survey_new(const struct net_graph *graph, const struct net_config *config, GError **err);
void survey_free(struct survey *survey); /* accepts NULL */

/* Borrowed. Ports of equal settings share one. */
const struct port_profile *survey_profile(const struct survey *survey, uint32_t port);
/* Why a run refuses the settings of PORT (its profile is then incomplete), NULL if it does not. Borrowed. */
const char *survey_problem(const struct survey *survey, uint32_t port);
struct switch_buffer survey_buffer(const struct survey *survey, uint32_t node);
/* What a run says when the buffer of switch NODE is too small; NULL when it is not. (transfer full) */
char *survey_buffer_refusal(const struct survey *survey, uint32_t node);
/* The physical rule at a switch's PORT; frame size and FEC as in a run. */
void survey_headroom(const struct survey *survey, uint32_t port, struct buffer_headroom_parts *parts);
/* Code that packets of CLASS from NIC port PORT bear: index of port_profile.tc_of_code and pg_of_code. */
uint32_t survey_code(const struct survey *survey, uint32_t port, uint32_t class);
uint8_t survey_dscp(const struct survey *survey, uint32_t code);
uint8_t survey_pcp(const struct survey *survey, uint32_t code);
/* Largest frame of the run, without preamble and gap. */
int64_t survey_frame_bytes(const struct survey *survey);
/* Probability that a link with LINK's errors loses such a frame. */
double survey_frame_loss(const struct survey *survey, const struct link_params *link);

#endif
