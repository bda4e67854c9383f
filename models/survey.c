/* survey.c - the part of a run's set-up that settings alone decide; see survey.h. */
#include "models/survey.h"

#include "models/link.h"
#include "models/net_priv.h"

struct survey {
    struct net *net; /* without job, channels and queue pairs */
};

struct survey *survey_new(const struct net_graph *graph, const struct net_config *config, GError **err)
{
    struct survey *survey = g_new0(struct survey, 1);
    survey->net = net_new_bare(graph, config);
    if (profile_survey(survey->net, err))
        return survey;
    survey_free(survey);
    return NULL;
}

void survey_free(struct survey *survey)
{
    if (!survey)
        return;
    net_free(survey->net);
    g_free(survey);
}

const struct port_profile *survey_profile(const struct survey *survey, uint32_t port)
{
    return survey->net->port[survey->net->port_of_graph[port]].profile;
}

const char *survey_problem(const struct survey *survey, uint32_t port)
{
    return profile_problem(survey->net, port);
}

struct switch_buffer survey_buffer(const struct survey *survey, uint32_t node)
{
    return profile_switch_buffer(survey->net, node);
}

char *survey_buffer_refusal(const struct survey *survey, uint32_t node)
{
    g_autoptr(GError) err = NULL;
    return profile_buffer_fits(survey->net, node, &err) ? NULL : g_strdup(err->message);
}

void survey_headroom(const struct survey *survey, uint32_t port, struct buffer_headroom_parts *parts)
{
    const struct net_port *p = &survey->net->graph->ports[port];
    struct buffer_headroom_terms terms =
        profile_headroom_terms(survey->net, port, __builtin_popcount(survey_profile(survey, port)->lossless_pgs));
    buffer_headroom_parts(&terms, p->rate_bps, p->delay_ps, parts);
}

uint32_t survey_code(const struct survey *survey, uint32_t port, uint32_t class)
{
    return survey_profile(survey, port)->code_of_class[class];
}

uint8_t survey_dscp(const struct survey *survey, uint32_t code)
{
    return survey->net->code_dscp[code];
}

uint8_t survey_pcp(const struct survey *survey, uint32_t code)
{
    return survey->net->code_pcp[code];
}

int64_t survey_frame_bytes(const struct survey *survey)
{
    return survey->net->mtu + survey->net->frame_overhead + survey->net->reth;
}

double survey_frame_loss(const struct survey *survey, const struct link_params *link)
{
    return link_frame_loss((enum link_fec)link->fec, link->ber, link->loss, (uint32_t)survey_frame_bytes(survey));
}
