/* check_headroom.c - headroom against what can still arrive after XOFF; the rule itself is in models/buffer.c. */
#include "scenarios/check_priv.h"

#include <math.h>

/* "40m (200ns)" */
static char *cable_text(sim_ps cable_ps)
{
    g_autofree char *time = units_format_time(cable_ps);
    g_autofree char *length = units_format_length(cable_ps / UNIT_PS_PER_MM);
    return g_strdup_printf("%s (%s)", length, time);
}

static void add_flight(struct check_finding *finding, const char *name, sim_ps ps, int times, int64_t rate_bps)
{
    g_autofree char *time = units_format_time(ps);
    g_autofree char *bytes = check_bytes((double)units_bytes_in(ps * times, rate_bps));
    if (times > 1)
        check_term(finding, name, "%d x %s x rate = %s", times, time, bytes);
    else
        check_term(finding, name, "%s x rate = %s", time, bytes);
}

static void add_terms(const struct check *c, struct check_finding *finding, uint32_t port, const struct buffer_headroom_parts *parts)
{
    int64_t rate_bps = c->graph->ports[port].rate_bps;
    g_autofree char *frame = check_bytes((double)parts->frame_bytes);
    g_autofree char *frames = check_bytes((double)(parts->n_frames * parts->frame_bytes));
    g_autofree char *pauses = check_bytes((double)(parts->n_pauses * parts->pause_bytes));
    g_autofree char *wire = check_bytes((double)parts->wire_bytes);
    g_autofree char *total = check_bytes((double)parts->total_bytes);
    add_flight(finding, "cable, there and back", parts->cable_ps, 2, rate_bps);
    add_flight(finding, "FEC, there and back", parts->fec_ps, 2, rate_bps);
    add_flight(finding, "peer's response (pfc.response)", parts->response_ps, 1, rate_bps);
    add_flight(finding, "own pipeline (switch.latency)", parts->pipeline_ps, 1, rate_bps);
    check_term(finding, "frames", "%d x %s = %s: the one that crosses XOFF, one on our wire, one begun by the peer", parts->n_frames, frame, frames);
    check_term(finding, "pause frames", "%d x %d B = %s", parts->n_pauses, (int)parts->pause_bytes, pauses);
    check_term(finding, "sum on the wire", "%s (times are added before rounding)", wire);
    if (parts->cell_ratio > 1)
        check_term(finding, "cells", "x %.3f, the worst frame of this run, + 1 cell", parts->cell_ratio);
    check_term(finding, "needed", "%s", total);
}

static void suggest(const struct check *c, struct check_finding *finding, uint32_t port, uint32_t pg, int64_t needed_bytes)
{
    const struct buffer_params *b = site_at_port(c->site, NET_PARAMS_BUFFER, port, pg);
    g_autofree char *value = units_format_bytes((needed_bytes + UNIT_KB - 1) / UNIT_KB * UNIT_KB);
    if (b->headroom_scale < 1)
        check_change_key(finding, c, NET_PARAMS_BUFFER, port, pg, "headroom_scale", "1");
    if (b->headroom_rule == BUFFER_HEADROOM_FIXED)
        check_change_key(finding, c, NET_PARAMS_BUFFER, port, pg, "headroom", value);
    if (b->headroom_rule != BUFFER_HEADROOM_PHYSICAL)
        check_change_key(finding, c, NET_PARAMS_BUFFER, port, pg, "headroom_rule", "physical");
}

static void check_group(struct check *c, uint32_t port, uint32_t pg, const struct buffer_headroom_parts *parts)
{
    double granted = survey_profile(c->survey, port)->pg[pg].headroom;
    if (granted >= (double)parts->total_bytes)
        return;
    g_autofree char *rate = units_format_rate(c->graph->ports[port].rate_bps);
    g_autofree char *cable = cable_text(parts->cable_ps);
    g_autofree char *has = check_bytes(granted);
    g_autofree char *needs = check_bytes((double)parts->total_bytes);
    struct check_finding *finding = check_find(c, "headroom-short", CHECK_ERROR,
                                               "priority group %u behind %s and %s of cable has %s of headroom and needs %s: frames that arrive "
                                               "after XOFF are dropped",
                                               pg, rate, cable, has, needs);
    if (check_is_new(finding)) {
        add_terms(c, finding, port, parts);
        check_term(finding, "granted", "%s", has);
        suggest(c, finding, port, pg, parts->total_bytes);
    }
    check_at_port(finding, c, port);
}

/* Vendors size for frames of 64 B, each in cells of its own; the run's own frames are larger. */
static void note_small_frames(struct check *c, uint32_t port, uint32_t pg, const struct buffer_headroom_parts *parts)
{
    const struct buffer_params *b = CHECK_NODE(c, NET_PARAMS_BUFFER, c->graph->ports[port].node);
    double ratio = buffer_small_frame_ratio(b->cell_bytes), granted = survey_profile(c->survey, port)->pg[pg].headroom;
    double worst = (double)parts->frame_bytes + (double)(parts->wire_bytes - parts->frame_bytes) * ratio;
    if (ratio <= 1 || granted < (double)parts->total_bytes || granted >= worst)
        return;
    g_autofree char *has = check_bytes(granted);
    g_autofree char *worst_text = check_bytes(worst);
    struct check_finding *finding = check_find(c, "headroom-small-frames", CHECK_NOTE,
                                               "headroom of %s is enough for this run's frames; a vendor's table for nothing but 64-byte frames "
                                               "would ask for %s",
                                               has, worst_text);
    if (check_is_new(finding)) {
        g_autofree char *frame = check_bytes((double)parts->frame_bytes);
        g_autofree char *rest = check_bytes((double)(parts->wire_bytes - parts->frame_bytes));
        check_term(finding, "worst case", "one frame %s + %s x %g (64 B in cells of %d B) = %s", frame, rest, ratio, (int)b->cell_bytes, worst_text);
    }
    check_at_port(finding, c, port);
}

/* ---- shared headroom pool -------------------------------------------------------------------- */

static void check_pool(struct check *c, uint32_t node)
{
    const struct net_node *n = &c->graph->nodes[node];
    struct switch_buffer b = survey_buffer(c->survey, node);
    uint32_t worst_port = NET_NONE;
    struct buffer_headroom_parts worst = {0};
    double sum = 0;
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++) {
        const struct port_profile *profile = survey_profile(c->survey, p);
        struct buffer_headroom_parts parts;
        if (!check_is_switch_port(c, p) || profile->lossless_pgs == 0 || profile->own_headroom)
            continue;
        survey_headroom(c->survey, p, &parts);
        sum += (double)parts.total_bytes * __builtin_popcount(profile->lossless_pgs);
        if (worst_port == NET_NONE || parts.total_bytes > worst.total_bytes) {
            worst = parts;
            worst_port = p;
        }
    }
    if (worst_port == NET_NONE || sum <= b.headroom_pool_bytes)
        return;
    bool short_of_one = b.headroom_pool_bytes < (double)worst.total_bytes;
    g_autofree char *pool = check_bytes(b.headroom_pool_bytes);
    g_autofree char *one = check_bytes((double)worst.total_bytes);
    g_autofree char *all = check_bytes(sum);
    struct check_finding *finding =
        short_of_one ? check_find(c, "headroom-short", CHECK_ERROR, "the shared headroom pool of %s holds less than one group needs, %s", pool, one)
                     : check_find(c, "headroom-shared", CHECK_NOTE, "the shared headroom pool of %s is oversubscribed: all groups paused at once need %s",
                                  pool, all);
    if (check_is_new(finding)) {
        if (short_of_one)
            add_terms(c, finding, worst_port, &worst);
        check_term(finding, "groups", "%u groups need %s; the pool serves %d of the largest at once", b.n_groups, all,
                   (int)floor(b.headroom_pool_bytes / (double)worst.total_bytes));
        g_autofree char *value = units_format_bytes((int64_t)sum);
        check_change_key(finding, c, NET_PARAMS_BUFFER, worst_port, NET_SITE_ANY_CLASS, "headroom_pool", value);
    }
    check_at_node(finding, node);
}

void check_headroom(struct check *c)
{
    for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
        const struct net_node *node = &c->graph->nodes[i];
        if (!check_is_switch(c, i))
            continue;
        check_pool(c, i);
        for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
            const struct port_profile *profile = survey_profile(c->survey, p);
            struct buffer_headroom_parts parts;
            if (!check_is_switch_port(c, p) || profile->lossless_pgs == 0 || !profile->own_headroom)
                continue;
            survey_headroom(c->survey, p, &parts);
            for (uint32_t g = 0; g < NET_CLASSES; g++)
                if (profile->lossless_pgs >> g & 1) {
                    check_group(c, p, g, &parts);
                    note_small_frames(c, p, g, &parts);
                }
        }
    }
}
