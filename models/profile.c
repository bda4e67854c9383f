/* profile.c - settings by place to profiles, and what they make of a switch's buffer.
 *
 * A profile depends on the settings that hold at the port for each class, its rate and cable, and
 * on what its link leads to. Ports are compared by that key: thousands of them need a handful of
 * profiles. The codes of a run are the pairs of DSCP and PCP that its NICs can send.
 */
#include "models/buffer.h"
#include "models/ecn.h"
#include "models/ib.h"

#include <string.h>

struct key {
    const void *params[NET_N_PARAMS];
    const void *buffer[NET_CLASSES], *ecn[NET_CLASSES];
    int64_t rate_bps, delay_ps;
    uint32_t slice;
    uint16_t is_switch, is_plugged;
};

struct profile_set {
    GPtrArray *profiles; /* struct port_profile * */
    GArray *keys;        /* struct key, of the shared ones */
    GPtrArray *problems; /* char *, of the shared ones: why a run would be refused, NULL: it would not; surveys alone */
};

struct maps { uint8_t dscp_to_tc[64], pcp_to_tc[8], tc_to_queue[8], tc_to_pg[8], pfc_to_queue[8], pfc_to_pg[8]; };

static bool fail_at(const struct net *net, uint32_t graph_node, GError **err, const char *format, ...) G_GNUC_PRINTF(4, 5);
static bool fail_at(const struct net *net, uint32_t graph_node, GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "%s (at %s)", text,
                net->config.node_names ? net->config.node_names[graph_node] : "node");
    return false;
}

/* ---- values by place ----------------------------------------------------------- */
static const void *base(const struct net *net, enum net_params kind)
{
    const struct net_config *c = &net->config;
    const void *const groups[NET_N_PARAMS] = {
        [NET_PARAMS_LINK] = c->link, [NET_PARAMS_SWITCH] = c->switching, [NET_PARAMS_QOS] = c->qos,
        [NET_PARAMS_BUFFER] = c->buffer, [NET_PARAMS_PFC] = c->pfc, [NET_PARAMS_PFCWD] = c->pfcwd,
        [NET_PARAMS_ECN] = c->ecn, [NET_PARAMS_NIC] = c->nic};
    return groups[kind];
}

const void *net_site_port(const struct net *net, enum net_params kind, uint32_t graph_port, uint32_t class)
{
    const struct net_site *site = net->config.site;
    return site ? site->at_port(site->user, kind, graph_port, class) : base(net, kind);
}

const void *net_site_node(const struct net *net, enum net_params kind, uint32_t graph_node)
{
    const struct net_site *site = net->config.site;
    return site ? site->at_node(site->user, kind, graph_node) : base(net, kind);
}

bool net_blame(const struct net *net, enum net_params kind, const char *key, uint32_t graph_node, uint32_t graph_port, uint32_t class,
               GError **err)
{
    const struct net_site *site = net->config.site;
    g_autofree char *origin = site && site->origin ? site->origin(site->user, kind, key, graph_node, graph_port, class) : NULL;
    if (origin)
        g_prefix_error(err, "%s: ", origin);
    return false;
}

/* ---- maps ------------------------------------------------------------------------ */
static bool parse_maps(const struct qos_params *qos, struct maps *m, GError **err)
{
    return model_parse_map(qos->dscp_to_tc, m->dscp_to_tc, 64, err) && model_parse_map(qos->pcp_to_tc, m->pcp_to_tc, 8, err) &&
           model_parse_map(qos->tc_to_queue, m->tc_to_queue, 8, err) && model_parse_map(qos->tc_to_pg, m->tc_to_pg, 8, err) &&
           model_parse_map(qos->pfc_to_queue, m->pfc_to_queue, 8, err) && model_parse_map(qos->pfc_to_pg, m->pfc_to_pg, 8, err);
}

/* The code of a pair of DSCP and PCP, preferably WANTED; -1: all eight are taken by others. */
static int code_of(struct net *net, bool *taken, uint8_t dscp, uint8_t pcp, uint32_t wanted)
{
    for (uint32_t i = 0; i < NET_CLASSES; i++) {
        uint32_t code = (wanted + i) % NET_CLASSES;
        if (taken[code] && net->code_dscp[code] == dscp && net->code_pcp[code] == pcp)
            return (int)code;
    }
    for (uint32_t i = 0; i < NET_CLASSES; i++) {
        uint32_t code = (wanted + i) % NET_CLASSES;
        if (taken[code])
            continue;
        taken[code] = true;
        net->code_dscp[code] = dscp;
        net->code_pcp[code] = pcp;
        return (int)code;
    }
    return -1;
}

static bool build_codes(struct net *net, GError **err)
{
    if (net->ib) {
        net->any_lossless = true;
        for (uint32_t sl = 0; sl < NET_CLASSES; sl++)
            net->code_dscp[sl] = net->code_pcp[sl] = (uint8_t)sl;
        return ib_parse(net, err);
    }
    bool taken[NET_CLASSES] = {false};
    const struct nic_params *last = NULL;
    for (uint32_t i = 0; i < net->graph->n_nodes; i++) {
        const struct nic_params *nic = net->graph->nodes[i].kind == NET_HOST ? net_site_node(net, NET_PARAMS_NIC, i) : NULL;
        uint8_t dscp[8], pcp[8];
        if (!nic || nic == last)
            continue;
        last = nic;
        if (!model_parse_eight(nic->class_dscp, dscp, 63, err) || !model_parse_eight(nic->class_pcp, pcp, 7, err))
            return false;
        for (uint32_t c = 0; c < NET_CLASSES; c++)
            if (code_of(net, taken, dscp[c], pcp[c], c) < 0) {
                fail_at(net, i, err, "nic.class_dscp: the NICs of a run may use at most 8 different pairs of DSCP and PCP");
                return net_blame(net, NET_PARAMS_NIC, "class_dscp", i, NET_NONE, NET_SITE_ANY_CLASS, err);
            }
    }
    return true;
}

static bool build_maps(struct net *net, uint32_t graph_node, const struct qos_params *qos, struct port_profile *out, struct maps *m,
                       GError **err)
{
    if (!parse_maps(qos, m, err))
        return false;
    for (uint32_t code = 0; code < NET_CLASSES; code++) {
        out->tc_of_code[code] = qos->trust == QOS_TRUST_DSCP ? m->dscp_to_tc[net->code_dscp[code]] : m->pcp_to_tc[net->code_pcp[code]];
        out->pg_of_code[code] = m->tc_to_pg[out->tc_of_code[code]];
    }
    memcpy(out->queue_of_tc, m->tc_to_queue, sizeof out->queue_of_tc);
    memcpy(out->queue_of_priority, m->pfc_to_queue, sizeof out->queue_of_priority);
    if (net->graph->nodes[graph_node].kind != NET_HOST)
        return true;
    const struct nic_params *nic = net_site_node(net, NET_PARAMS_NIC, graph_node);
    uint8_t dscp[8], pcp[8];
    bool all[NET_CLASSES] = {true, true, true, true, true, true, true, true};
    if (!model_parse_eight(nic->class_dscp, dscp, 63, err) || !model_parse_eight(nic->class_pcp, pcp, 7, err))
        return false;
    for (uint32_t c = 0; c < NET_CLASSES; c++)
        out->code_of_class[c] = (uint8_t)code_of(net, all, dscp[c], pcp[c], c);
    return true;
}

/* ---- thresholds -------------------------------------------------------------------- */
struct rule_place { enum net_params kind; uint32_t graph_port, class; };

/* KEY of MAP, without its group, is for messages. */
static bool rule_for(const struct net *net, const struct rule_place *at, const struct param_map *map, const char *key, double *out,
                     GError **err)
{
    uint32_t graph_port = at->graph_port;
    const char *group = at->kind == NET_PARAMS_ECN ? "ecn" : "buffer";
    const struct net_port *port = &net->graph->ports[graph_port];
    if (param_map_get(map, port->rate_bps, out))
        return true;
    g_autofree char *rate = units_format_rate(port->rate_bps);
    char **names = (char **)net->config.node_names;
    const char *from = names ? names[port->node] : "node";
    const char *to = port->peer == NET_NONE ? "nothing" : names ? names[net->graph->ports[port->peer].node] : "node";
    g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "%s.%s: no value for %s links, which the link %s - %s is; add %s:<value> to the map", group,
                key, rate, from, to, rate);
    return net_blame(net, at->kind, key, port->node, graph_port, at->class, err);
}

struct buffer_headroom_terms profile_headroom_terms(const struct net *net, uint32_t graph_port, int n_lossless)
{
    uint32_t node = net->graph->ports[graph_port].node;
    return (struct buffer_headroom_terms){net_site_node(net, NET_PARAMS_BUFFER, node),
                                          net_site_port(net, NET_PARAMS_PFC, graph_port, NET_SITE_ANY_CLASS),
                                          net_site_port(net, NET_PARAMS_LINK, graph_port, NET_SITE_ANY_CLASS),
                                          net_site_node(net, NET_PARAMS_SWITCH, node),
                                          net->mtu + net->frame_overhead + net->reth,
                                          n_lossless};
}

static bool build_pg(struct net *net, uint32_t graph_port, uint32_t pg, bool lossless, struct port_profile *out, GError **err)
{
    const struct buffer_params *b = net_site_port(net, NET_PARAMS_BUFFER, graph_port, pg);
    struct pg_rule *rule = &out->pg[pg];
    const struct rule_place at = {NET_PARAMS_BUFFER, graph_port, pg};
    double alpha = 0;
    if (lossless ? !rule_for(net, &at, &b->alpha, "alpha", &alpha, err) : !rule_for(net, &at, &b->lossy_pg_alpha, "lossy_pg_alpha", &alpha, err))
        return false;
    bool is_static = lossless ? b->threshold_mode == BUFFER_STATIC : b->lossy_pg_static_th_bytes > 0;
    rule->alpha_q16 = is_static ? 0 : (uint32_t)(alpha * 65536);
    rule->static_th = !is_static ? 0 : lossless ? b->static_th_bytes : b->lossy_pg_static_th_bytes;
    if (!lossless)
        return true;
    rule->reserved = (uint32_t)b->reserved_bytes;
    rule->xon = (uint32_t)MIN(b->xon_bytes, (int64_t)UINT32_MAX);
    rule->xon_offset = (uint32_t)b->xon_offset_bytes;
    const struct net_port *port = &net->graph->ports[graph_port];
    struct buffer_headroom_terms terms = profile_headroom_terms(net, graph_port, __builtin_popcount(out->lossless_pgs));
    terms.buffer = b;
    double headroom = (double)buffer_headroom_bytes(&terms, port->rate_bps, port->delay_ps) * b->headroom_scale;
    out->headroom_needed =
        (uint32_t)MIN(buffer_headroom_needed_bytes(&terms, port->rate_bps, port->delay_ps), (int64_t)UINT32_MAX);
    if (headroom > (double)UINT32_MAX) {
        fail_at(net, port->node, err, "buffer.headroom: more than 4.29 GB of headroom for one class");
        return net_blame(net, NET_PARAMS_BUFFER, "headroom", port->node, graph_port, pg, err);
    }
    rule->headroom = (uint32_t)headroom;
    return true;
}

static bool build_queue(struct net *net, uint32_t graph_port, uint32_t queue, bool lossless, struct port_profile *out, GError **err)
{
    const struct buffer_params *b = net_site_port(net, NET_PARAMS_BUFFER, graph_port, queue);
    const struct ecn_params *e = net_site_port(net, NET_PARAMS_ECN, graph_port, queue);
    struct queue_rule *rule = &out->queue[queue];
    const struct rule_place in_buffer = {NET_PARAMS_BUFFER, graph_port, queue}, at = {NET_PARAMS_ECN, graph_port, queue};
    double alpha = 0, kmin = 0, kmax = 0, pmax = 0;
    if (!rule_for(net, &in_buffer, &b->lossy_alpha, "lossy_alpha", &alpha, err))
        return false;
    rule->reserved = (uint32_t)(lossless ? b->egress_reserved_bytes : b->lossy_reserved_bytes);
    if (lossless) {
        rule->pool = b->egress_lossless_pool_bytes ? POOL_EGRESS_LOSSLESS : out->slice;
        rule->limit = b->egress_static_th_bytes ? b->egress_static_th_bytes : INT64_MAX / 2;
    } else {
        bool shares = b->lossy_in_lossless_pool && b->egress_lossless_pool_bytes;
        rule->pool = shares ? POOL_EGRESS_LOSSLESS : b->egress_lossy_pool_bytes ? POOL_EGRESS_LOSSY : out->slice;
        rule->limit = b->lossy_limit_bytes;
        rule->alpha_q16 = b->lossy_limit_bytes ? 0 : (uint32_t)(alpha * 65536);
    }
    rule->kmin = UINT32_MAX;
    uint8_t marking;
    if (!e->enabled || !model_parse_classes(e->classes, &marking, err))
        return !e->enabled;
    if (!(marking >> queue & 1))
        return true;
    if (!rule_for(net, &at, &e->kmin, "kmin", &kmin, err) || !rule_for(net, &at, &e->kmax, "kmax", &kmax, err) ||
        !rule_for(net, &at, &e->pmax, "pmax", &pmax, err))
        return false;
    if (kmin > kmax) {
        uint32_t node = net->graph->ports[graph_port].node;
        fail_at(net, node, err, "ecn.kmin: above ecn.kmax on a link; allowed: at most kmax");
        return net_blame(net, NET_PARAMS_ECN, "kmin", node, graph_port, queue, err);
    }
    rule->kmin = (uint32_t)kmin;
    rule->kmax = (uint32_t)kmax;
    rule->pmax_fraction = ecn_fraction(pmax);
    if (e->mark_at == ECN_AT_ENQUEUE)
        out->enqueue_marks = (uint8_t)(out->enqueue_marks | 1u << queue);
    return true;
}

static bool build_switch_port(struct net *net, uint32_t graph_port, struct port_profile *out, GError **err)
{
    const struct buffer_params *b = net_site_node(net, NET_PARAMS_BUFFER, net->graph->ports[graph_port].node);
    const struct switch_params *s = net_site_port(net, NET_PARAMS_SWITCH, graph_port, NET_SITE_ANY_CLASS);
    out->cell_bytes = (uint32_t)b->cell_bytes;
    out->cell_overhead = (uint32_t)b->cell_overhead_bytes;
    out->own_headroom = b->headroom_pool_bytes == 0;
    out->dwrr_quantum = (uint32_t)s->dwrr_quantum_bytes;
    if (!model_parse_classes(s->strict_classes, &out->strict_queues, err) || !model_parse_weights(s->dwrr_weights, out->weights, err))
        return false;
    bool egress_binds = b->egress_lossless_pool_bytes && (b->egress_lossless_pool_bytes < b->size_bytes || b->lossy_in_lossless_pool);
    for (uint32_t c = 0; c < NET_CLASSES; c++)
        if (!build_pg(net, graph_port, c, out->lossless_pgs >> c & 1, out, err) ||
            !build_queue(net, graph_port, c, out->lossless_queues >> c & 1, out, err))
            return false;
    out->plain_pgs = out->own_headroom ? out->lossless_pgs : 0;
    out->plain_queues = egress_binds ? 0 : (uint8_t)(out->lossless_queues & ~out->enqueue_marks);
    return true;
}

/* InfiniBand: the class is the SL, which is the packet's code; its VL stands where Ethernet has queues and groups. */
static void build_ib(const struct net *net, struct port_profile *out)
{
    for (uint32_t i = 0; i < NET_CLASSES; i++) {
        out->tc_of_code[i] = out->pg_of_code[i] = net->ib->vl_of_sl[i];
        out->queue_of_tc[i] = out->queue_of_priority[i] = out->code_of_class[i] = (uint8_t)i;
        out->queue[i].kmin = UINT32_MAX;
    }
    out->cell_bytes = 1;
    out->own_headroom = true;
}

static bool build_one(struct net *net, uint32_t graph_port, uint32_t slice, struct port_profile *out, GError **err)
{
    if (net->ib) {
        build_ib(net, out);
        return true;
    }
    uint32_t node = net->graph->ports[graph_port].node;
    const struct pfc_params *pfc = net_site_port(net, NET_PARAMS_PFC, graph_port, NET_SITE_ANY_CLASS);
    struct maps maps;
    uint8_t priorities = 0;
    out->slice = (uint8_t)slice;
    out->cell_bytes = 1;
    if (!model_parse_classes(pfc->lossless_classes, &priorities, err) ||
        !build_maps(net, node, net_site_port(net, NET_PARAMS_QOS, graph_port, NET_SITE_ANY_CLASS), out, &maps, err))
        return false;
    out->honours = pfc->enabled ? priorities : 0;
    out->pause_quanta = pfc->timed ? (uint32_t)pfc->quanta : PACKET_PAUSE_FOREVER;
    out->pause_refresh = pfc->refresh;
    for (uint32_t p = 0; p < NET_CLASSES; p++) {
        if (!(out->honours >> p & 1))
            continue;
        out->lossless_pgs = (uint8_t)(out->lossless_pgs | 1u << maps.pfc_to_pg[p]);
        out->lossless_queues = (uint8_t)(out->lossless_queues | 1u << maps.pfc_to_queue[p]);
        out->priorities_of_pg[maps.pfc_to_pg[p]] = (uint8_t)(out->priorities_of_pg[maps.pfc_to_pg[p]] | 1u << p);
    }
    net->any_lossless |= out->honours != 0;
    bool in_use = net->graph->nodes[node].kind == NET_SWITCH && net->graph->ports[graph_port].peer != NET_NONE;
    if (in_use && !build_switch_port(net, graph_port, out, err))
        return false;
    out->cell_inverse = ((UINT64_C(1) << 32) + out->cell_bytes - 1) / out->cell_bytes;
    return true;
}

/* ---- sharing --------------------------------------------------------------------------- */
static struct key key_of(const struct net *net, uint32_t graph_port, uint32_t slice)
{
    const struct net_port *port = &net->graph->ports[graph_port];
    struct key key;
    memset(&key, 0, sizeof key); /* compared as bytes */
    key.rate_bps = port->rate_bps;
    key.delay_ps = port->delay_ps;
    key.slice = slice;
    key.is_switch = net->graph->nodes[port->node].kind == NET_SWITCH;
    key.is_plugged = port->peer != NET_NONE;
    for (int k = 0; k < NET_N_PARAMS; k++)
        key.params[k] = k == NET_PARAMS_NIC || k == NET_PARAMS_BUFFER ? net_site_node(net, (enum net_params)k, port->node)
                                           : net_site_port(net, (enum net_params)k, graph_port, NET_SITE_ANY_CLASS);
    for (uint32_t c = 0; key.is_switch && c < NET_CLASSES; c++) {
        key.buffer[c] = net_site_port(net, NET_PARAMS_BUFFER, graph_port, c);
        key.ecn[c] = net_site_port(net, NET_PARAMS_ECN, graph_port, c);
    }
    return key;
}

static bool give_profile(struct net *net, uint32_t graph_port, uint32_t slice, GError **err)
{
    struct profile_set *set = net->profiles;
    uint32_t p = net->port_of_graph[graph_port];
    struct key key = key_of(net, graph_port, slice);
    for (guint i = set->keys->len; i-- > 0;) /* neighbours are alike: the newest first */
        if (memcmp(&g_array_index(set->keys, struct key, i), &key, sizeof key) == 0) {
            net->port[p].profile = set->profiles->pdata[i];
            return true;
        }
    struct port_profile *made = g_new0(struct port_profile, 1);
    GError *problem = NULL;
    g_ptr_array_add(set->profiles, made);
    g_array_append_val(set->keys, key);
    net->port[p].profile = made;
    if (!set->problems)
        return build_one(net, graph_port, slice, made, err);
    g_ptr_array_add(set->problems, build_one(net, graph_port, slice, made, &problem) ? NULL : g_strdup(problem->message));
    g_clear_error(&problem);
    return true;
}

struct port_profile *profile_own(struct net *net, uint32_t port)
{
    struct profile_set *set = net->profiles;
    for (guint i = set->keys->len; i < set->profiles->len; i++)
        if (set->profiles->pdata[i] == net->port[port].profile)
            return set->profiles->pdata[i];
    struct port_profile *own = g_memdup2(net->port[port].profile, sizeof *own);
    g_ptr_array_add(set->profiles, own);
    net->port[port].profile = own;
    return own;
}

void profile_all_special(struct net *net)
{
    for (guint i = 0; i < net->profiles->profiles->len; i++)
        ((struct port_profile *)net->profiles->profiles->pdata[i])->special = true;
}

/* ---- pools of a switch -------------------------------------------------------------------- */
static bool buffer_too_small(const struct net *net, uint32_t graph_node, const struct buffer_params *b, const struct switch_buffer *need,
                             GError **err)
{
    g_autoptr(GString) text = g_string_new(NULL);
    double headroom = need->headroom_bytes + need->headroom_pool_bytes;
    g_string_printf(text, "buffer.size: %s needs %.2f MB (headroom %.2f MB + reserved %.2f MB%s), has %.2f MB",
                    net->config.node_names ? net->config.node_names[graph_node] : "node",
                    (headroom + need->reserved_bytes + need->ingress_pool_bytes) / (double)UNIT_MB, headroom / (double)UNIT_MB,
                    need->reserved_bytes / (double)UNIT_MB, b->ingress_pool_bytes ? " + ingress pool" : "", need->size_bytes / (double)UNIT_MB);
    /* The part of the headroom that grows with the cable is linear in its delay. */
    double room = need->size_bytes - need->reserved_bytes;
    if (b->headroom_rule == BUFFER_HEADROOM_RATE_DELAY && room > 0 && need->bytes_per_ps > 0) {
        double delay_ps = room / need->bytes_per_ps;
        g_autofree char *delay = units_human_time((int64_t)delay_ps);
        g_string_append_printf(text, "; this rule fits up to %s of cable delay (about %.0f m)", delay,
                               delay_ps / UNIT_PS_PER_MM / UNIT_M);
    }
    g_string_append(text, "; allowed: a larger buffer, less headroom (shorter cables, fewer lossless classes) or smaller reserves");
    g_set_error_literal(err, NET_ERROR, NET_ERROR_INPUT, text->str);
    return net_blame(net, NET_PARAMS_BUFFER, "size", graph_node, NET_NONE, NET_SITE_ANY_CLASS, err);
}

static void add_need(const struct net *net, uint32_t graph_port, const struct buffer_params *b, struct switch_buffer *need)
{
    const struct port_profile *profile = net->port[net->port_of_graph[graph_port]].profile;
    const struct net_port *port = &net->graph->ports[graph_port];
    for (uint32_t c = 0; c < NET_CLASSES; c++) {
        if (!(profile->lossless_pgs >> c & 1))
            continue;
        need->n_groups++;
        need->reserved_bytes += profile->pg[c].reserved;
        need->headroom_bytes += profile->own_headroom ? profile->pg[c].headroom : 0;
        need->bytes_per_ps += b->headroom_factor * b->headroom_scale * (double)port->rate_bps / (double)UNIT_BITS_PER_BYTE / (double)UNIT_S;
    }
}

struct switch_buffer profile_switch_buffer(const struct net *net, uint32_t graph_node)
{
    const struct buffer_params *b = net_site_node(net, NET_PARAMS_BUFFER, graph_node);
    const struct net_node *node = &net->graph->nodes[graph_node];
    struct switch_buffer need = {.size_bytes = (double)b->size_bytes,
                                 .headroom_pool_bytes = (double)b->headroom_pool_bytes,
                                 .ingress_pool_bytes = (double)b->ingress_pool_bytes,
                                 .slices = b->slices};
    for (uint32_t k = 0; k < node->n_ports; k++)
        if (net->graph->ports[node->first_port + k].peer != NET_NONE)
            add_need(net, node->first_port + k, b, &need);
    double taken = need.headroom_bytes + need.headroom_pool_bytes + need.reserved_bytes;
    need.shared_bytes = b->ingress_pool_bytes ? need.ingress_pool_bytes : need.size_bytes - taken;
    need.fits = taken < need.size_bytes && taken + need.ingress_pool_bytes <= need.size_bytes;
    return need;
}

bool profile_buffer_fits(const struct net *net, uint32_t graph_node, GError **err)
{
    struct switch_buffer need = profile_switch_buffer(net, graph_node);
    return need.fits || buffer_too_small(net, graph_node, net_site_node(net, NET_PARAMS_BUFFER, graph_node), &need, err);
}

static bool build_pools(struct net *net, uint32_t graph_node, GError **err)
{
    const struct buffer_params *b = net_site_node(net, NET_PARAMS_BUFFER, graph_node);
    const struct switch_params *s = net_site_node(net, NET_PARAMS_SWITCH, graph_node);
    struct net_vertex *v = &net->vertex[net->vertex_of_graph[graph_node]];
    struct switch_buffer need = profile_switch_buffer(net, graph_node);
    v->graph_node = graph_node;
    v->cut_bytes = s->forwarding == SWITCH_CUT_THROUGH ? (uint32_t)s->cut_through_header_bytes : 0;
    if (net->ib)
        return true;
    if (!profile_buffer_fits(net, graph_node, err))
        return false;
    for (int64_t i = 0; i < b->slices; i++)
        v->pool[POOL_INGRESS + i].total = (int64_t)need.shared_bytes / b->slices;
    v->pool[POOL_EGRESS_LOSSLESS].total = b->egress_lossless_pool_bytes ? b->egress_lossless_pool_bytes : 0;
    v->pool[POOL_EGRESS_LOSSY].total = b->egress_lossy_pool_bytes ? b->egress_lossy_pool_bytes : 0;
    v->pool[POOL_HEADROOM].total = b->headroom_pool_bytes;
    return true;
}

static void new_set(struct net *net)
{
    net->profiles = g_new0(struct profile_set, 1);
    net->profiles->profiles = g_ptr_array_new_with_free_func(g_free);
    net->profiles->keys = g_array_new(FALSE, FALSE, sizeof(struct key));
}

static bool give_profiles(struct net *net, bool with_pools, GError **err)
{
    const struct net_graph *g = net->graph;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        bool is_switch = g->nodes[i].kind == NET_SWITCH;
        const struct buffer_params *b = is_switch ? net_site_node(net, NET_PARAMS_BUFFER, i) : NULL;
        for (uint32_t k = 0; k < g->nodes[i].n_ports; k++)
            if (!give_profile(net, g->nodes[i].first_port + k, b ? (uint32_t)(k % (uint64_t)b->slices) : 0, err))
                return false;
        if (is_switch && with_pools && !build_pools(net, i, err))
            return false;
    }
    return true;
}

bool profile_build(struct net *net, GError **err)
{
    new_set(net);
    return build_codes(net, err) && give_profiles(net, true, err);
}

bool profile_survey(struct net *net, GError **err)
{
    new_set(net);
    net->profiles->problems = g_ptr_array_new_with_free_func(g_free);
    return build_codes(net, err) && give_profiles(net, false, err);
}

const char *profile_problem(const struct net *net, uint32_t graph_port)
{
    const struct profile_set *set = net->profiles;
    for (guint i = 0; i < set->problems->len; i++)
        if (set->profiles->pdata[i] == net->port[net->port_of_graph[graph_port]].profile)
            return set->problems->pdata[i];
    return NULL;
}

void profile_release(struct net *net)
{
    if (!net->profiles)
        return;
    g_ptr_array_unref(net->profiles->profiles);
    g_array_unref(net->profiles->keys);
    if (net->profiles->problems)
        g_ptr_array_unref(net->profiles->problems);
    g_free(net->profiles);
}
