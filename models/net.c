/* net.c - builds the state of a run from a fabric, a job and the parameter tables. */
#include "models/ib.h"

#include <stdlib.h>
#include <string.h>

G_DEFINE_QUARK(fabricast-net-error, net_error)

static bool fail(GError **err, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool fail(GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(err, NET_ERROR, NET_ERROR_INPUT, text);
    return false;
}

static const char *node_name(const struct net *net, uint32_t graph_node)
{
    return net->config.node_names ? net->config.node_names[graph_node] : "node";
}

/* ---- constants -------------------------------------------------------------- */
static void set_constants(struct net *net)
{
    const struct net_config *c = &net->config;
    net->mtu = (uint32_t)c->nic->mtu_bytes;
    net->frame_overhead = (uint32_t)c->link->frame_overhead_bytes;
    net->reth = (uint32_t)c->link->reth_bytes;
    net->gap_bytes = (uint32_t)c->link->preamble_ifg_bytes;
    net->ack_bytes = (uint32_t)c->link->ack_frame_bytes;
    net->cnp_bytes = (uint32_t)c->link->cnp_frame_bytes;
    net->pause_bytes = (uint32_t)c->link->pfc_frame_bytes;
    net->ack_interval = (uint32_t)c->nic->ack_interval;
    int64_t window = (c->nic->window_bytes + net->mtu - 1) / net->mtu;
    net->window_pkts = window == 0 ? UINT32_MAX : (uint32_t)MIN(window, INT32_MAX);
    net->ack_bypass = c->nic->ack_bypass_pfc;
    net->repace = c->nic->repace;
    ib_set_constants(net);
}

/* ---- simulated nodes ---------------------------------------------------------- */
static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Hosts whose ranks wait for each other without a message between them must be one simulated node: there is no
 * lookahead from one to the other. */
static void join_hosts(const struct net *net, uint32_t *parent)
{
    const struct job *job = net->job;
    for (uint32_t op = 0; job && op < job_n_ops(job); op++)
        for (uint32_t i = job->succ_first[op]; i < job->succ_first[op + 1]; i++) {
            uint32_t a = find_root(parent, net->graph->endpoints[job_op_at(job, op)->rank].node);
            uint32_t b = find_root(parent, net->graph->endpoints[job_op_at(job, job->succ[i])->rank].node);
            parent[MAX(a, b)] = MIN(a, b);
        }
}

/* Numbers the simulated nodes and their ports; ports of one are contiguous. */
static void number_vertices(struct net *net)
{
    const struct net_graph *g = net->graph;
    g_autofree uint32_t *parent = g_new(uint32_t, g->n_nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        parent[i] = i;
    join_hosts(net, parent);
    net->vertex_of_graph = g_new(uint32_t, g->n_nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        net->vertex_of_graph[i] = find_root(parent, i) == i ? net->n_vertices++ : net->vertex_of_graph[find_root(parent, i)];
    net->vertex = g_new0(struct net_vertex, net->n_vertices);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        net->vertex[net->vertex_of_graph[i]].n_ports += g->nodes[i].n_ports;
    for (uint32_t v = 0; v < net->n_vertices; v++) {
        net->vertex[v].first_port = net->n_ports;
        net->n_ports += net->vertex[v].n_ports;
        net->vertex[v].slab.free = NET_NONE;
    }
    net->port_of_graph = g_new(uint32_t, MAX(g->n_ports, 1));
    g_autofree uint32_t *next = g_new0(uint32_t, net->n_vertices);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        struct net_vertex *v = &net->vertex[net->vertex_of_graph[i]];
        v->is_switch = g->nodes[i].kind == NET_SWITCH;
        for (uint32_t k = 0; k < g->nodes[i].n_ports; k++)
            net->port_of_graph[g->nodes[i].first_port + k] = v->first_port + next[net->vertex_of_graph[i]]++;
    }
}

/* ---- ports ---------------------------------------------------------------------- */
static bool latency_fits(const struct net *net, sim_ps ps, uint32_t graph_node, GError **err)
{
    if (ps < UINT32_MAX)
        return true;
    g_autofree char *text = units_format_time(ps);
    return fail(err, "link at %s: latency %s is above 4.29ms, the longest a link may have", node_name(net, graph_node), text);
}

static uint32_t cut_at(const struct net *net, uint32_t graph_node)
{
    if (net->graph->nodes[graph_node].kind != NET_SWITCH)
        return 0;
    const struct switch_params *s = net_site_node(net, NET_PARAMS_SWITCH, graph_node);
    return s->forwarding == SWITCH_CUT_THROUGH ? (uint32_t)s->cut_through_header_bytes : 0;
}

static sim_ps nic_rx_latency_ps(const struct net *net, uint32_t graph_node)
{
    return ((const struct nic_params *)net_site_node(net, NET_PARAMS_NIC, graph_node))->rx_latency_ps;
}

static bool build_port(struct net *net, uint32_t graph_port, GError **err)
{
    const struct net_graph *g = net->graph;
    const struct net_port *from = &g->ports[graph_port];
    uint32_t p = net->port_of_graph[graph_port];
    struct port_hot *hot = &net->port[p];
    struct port_cold *cold = &net->cold[p];
    cold->graph_port = graph_port;
    cold->node = net->vertex_of_graph[from->node];
    cold->rate_bps = (uint64_t)from->rate_bps;
    hot->channel = NET_NONE;
    if (from->peer == NET_NONE)
        return true;
    uint32_t peer_node = g->ports[from->peer].node;
    const struct switch_params *s = net_site_node(net, NET_PARAMS_SWITCH, peer_node);
    const struct link_params *link = net_site_port(net, NET_PARAMS_LINK, graph_port, NET_SITE_ANY_CLASS);
    const struct pfc_params *pfc = net_site_port(net, NET_PARAMS_PFC, from->peer, NET_SITE_ANY_CLASS);
    sim_ps wire_ps = from->delay_ps + link->fec_latency_ps;
    sim_ps data_ps = wire_ps + (g->nodes[peer_node].kind == NET_SWITCH ? s->latency_ps : nic_rx_latency_ps(net, peer_node));
    sim_ps pause_ps = wire_ps + (net->ib ? net->ib->params->credit_latency_ps : pfc->response_ps);
    if (!latency_fits(net, MAX(data_ps, pause_ps), from->node, err))
        return false;
    if (units_ps_per_byte_q16(from->rate_bps) > UINT32_MAX)
        return fail(err, "link at %s: slower than 123Mbps, the slowest a link may be", node_name(net, from->node));
    hot->channel = net->port_of_graph[from->peer];
    hot->peer_node = net->vertex_of_graph[peer_node];
    hot->ps_per_byte_q16 = (uint32_t)units_ps_per_byte_q16(from->rate_bps);
    hot->data_latency_ps = (uint32_t)data_ps;
    hot->pause_latency_ps = (uint32_t)pause_ps;
    hot->cut_bytes = (uint16_t)cut_at(net, peer_node);
    hot->cut_wire_ps = net_wire(net, hot, hot->cut_bytes);
    return true;
}

static bool build_ports(struct net *net, GError **err)
{
    const struct net_graph *g = net->graph;
    net->port = sim_alloc_large(net->n_ports, sizeof *net->port);
    net->queue = sim_alloc_large(net->n_ports, sizeof *net->queue);
    net->group = sim_alloc_large(net->n_ports, sizeof *net->group);
    net->cold = g_new0(struct port_cold, MAX(net->n_ports, 1));
    net->ring = g_new0(struct ready_ring, MAX(net->n_ports, 1));
    for (uint32_t p = 0; p < net->n_ports; p++)
        net->ring[p].held = NET_NONE;
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (!build_port(net, p, err))
            return false;
    return profile_build(net, err);
}

/* From here on the ports exceed a core's own cache (about 700 B a port); below, asking ahead costs more than it saves
 * (bench: 14 instructions a packet-hop; 6 % of the time at 49,152 ports). */
#define PREFETCH_MIN_PORTS 16384
#define PREFETCH_MIN_PATH_BYTES (1u << 20)

/* Longest time of a frame on a wire when faults have slowed links down. */
static bool slowest_with_faults(const struct net *net, uint32_t frame, sim_ps slowest_ps, sim_ps *out, GError **err)
{
    *out = slowest_ps;
    for (uint32_t i = 0; i < net->config.n_faults; i++) {
        const struct net_fault *fault = &net->config.faults[i];
        if (fault->params->kind != FAULT_DEGRADED_RATE)
            continue;
        sim_ps frame_ps = units_wire_ps(frame + net->gap_bytes, fault->params->rate_bps);
        if (frame_ps > SIM_SOON_MAX_PS / 8)
            return fail(err, "[fault:%s]: rate: a frame of %u bytes takes longer than %d us; use a higher rate", fault->name, frame,
                        (int)(SIM_SOON_MAX_PS / 8 / UNIT_US));
        *out = MAX(*out, frame_ps);
    }
    return true;
}

/* ---- engine ------------------------------------------------------------------------- */
static bool build_core(struct net *net, GError **err)
{
    uint32_t frame = net->mtu + net->frame_overhead + net->reth;
    if (frame > PACKET_MAX_BYTES)
        return fail(err, "nic.mtu: a frame of %u bytes is above %u, the largest", frame, PACKET_MAX_BYTES);
    sim_ps lookahead = SIM_PS_MAX, longest = 0, slowest_frame = 0;
    bool cut_through = false;
    for (uint32_t p = 0; p < net->n_ports; p++)
        if (net->port[p].channel != NET_NONE) {
            slowest_frame = MAX(slowest_frame, (sim_ps)net_wire(net, &net->port[p], frame));
            cut_through |= net->port[p].cut_bytes != 0;
        }
    sim_ps degraded_frame;
    if (!slowest_with_faults(net, frame, slowest_frame, &degraded_frame, err))
        return false;
    /* Behind a cut-through ingress a frame may begin late; a pause storm puts its frames behind the one on the wire. */
    sim_ps longest_wait = (cut_through ? 2 : 1) * degraded_frame + (net->config.n_faults ? degraded_frame : 0);
    for (uint32_t p = 0; p < net->n_ports; p++) {
        const struct port_hot *hot = &net->port[p];
        if (hot->channel == NET_NONE)
            continue;
        sim_ps shortest = net->any_lossless || net->config.n_faults ? MIN(hot->data_latency_ps, hot->pause_latency_ps) : hot->data_latency_ps;
        if (shortest == 0)
            return fail(err, "link at %s has no latency at all; give it a cable, or link.fec_latency, switch.latency, "
                             "nic.rx_latency and %s above 0",
                        node_name(net, net->graph->ports[net->cold[p].graph_port].node), net->ib ? "ib.credit_latency" : "pfc.response");
        if ((sim_ps)net_wire(net, hot, frame) > SIM_SOON_MAX_PS / 8)
            return fail(err, "link at %s: a frame of %u bytes takes longer than %d us; use a faster link or a smaller nic.mtu",
                        node_name(net, net->graph->ports[net->cold[p].graph_port].node), frame,
                        (int)(SIM_SOON_MAX_PS / 8 / UNIT_US));
        net->mixed_cut_through |= cut_through && ((sim_ps)net_wire(net, hot, frame) != slowest_frame || degraded_frame != slowest_frame);
        lookahead = MIN(lookahead, shortest);
        longest = MAX(longest, (sim_ps)MAX(hot->data_latency_ps, hot->pause_latency_ps) + longest_wait);
    }
    if (lookahead == SIM_PS_MAX)
        lookahead = UNIT_US; /* no links: local work only */
    g_autofree uint32_t *first = g_new(uint32_t, net->n_vertices + 1);
    for (uint32_t v = 0; v < net->n_vertices; v++)
        first[v] = net->vertex[v].first_port;
    first[net->n_vertices] = net->n_ports;
    net->core = sim_core_new(net->n_vertices, first, lookahead, longest);
    net->core->model = net;
    net->prefetch = net->n_ports >= PREFETCH_MIN_PORTS;
    net->core->run[0] = host_run;
    net->core->run[1] = net->ib ? ib_switch_run : switch_run;
    for (uint32_t v = 0; v < net->n_vertices; v++) {
        net->core->nodes[v].state = &net->vertex[v];
        net->core->nodes[v].class = net->vertex[v].is_switch;
    }
    return true;
}

void net_slab_grow(struct sim_core *core, struct slab *slab)
{
    uint32_t old = slab->cap;
    sim_grow(core, &slab->slot, &slab->cap, MAX(old * 2, 16), sizeof *slab->slot);
    for (uint32_t i = slab->cap; i-- > old;) {
        slab->slot[i].next = slab->free;
        slab->free = i;
    }
}

/* ---- operations ------------------------------------------------------------------------ */
static void start_job(struct net *net)
{
    const struct job *job = net->job;
    net->nvlink_busy = g_new0(uint8_t, MAX(job->n_ranks, 1));
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        struct op_run *run = &net->op[i];
        const struct job_op *op = job_op_at(job, i);
        run->left = job->n_deps[i];
        run->next = JOB_NONE;
        run->start_ps = run->done_ps = -1;
        if (run->left > 0)
            continue;
        uint32_t v = net->vertex_of_graph[net->graph->endpoints[op->rank].node];
        sim_timer_add(net->core, &net->core->nodes[v], op->earliest_ps, NET_TIMER(TIMER_OP, i));
    }
}

struct net *net_new(const struct net_graph *graph, const struct job *job, const struct net_config *config, GError **err)
{
    g_return_val_if_fail(job->sealed, NULL);
    struct net *net = g_new0(struct net, 1);
    net->graph = graph;
    net->job = job;
    net->config = *config;
    net->n_ops = job_n_ops(job);
    net->op = g_new0(struct op_run, MAX(net->n_ops, 1));
    set_constants(net);
    number_vertices(net);
    if (!build_ports(net, err) || !build_core(net, err) || !ib_build(net, err) || !net_build_qps(net, err) || !watchdog_build(net, err) ||
        !link_build(net, err) || !forward_build(net, err) || !fault_build(net, err) || !nic_cc_build(net, err)) {
        net_free(net);
        return NULL;
    }
    net->prefetch_paths = (size_t)net->n_qps * 2 * net->path_stride * sizeof *net->path > PREFETCH_MIN_PATH_BYTES;
    start_job(net);
    return net;
}

struct net *net_new_bare(const struct net_graph *graph, const struct net_config *config)
{
    struct net *net = g_new0(struct net, 1);
    net->graph = graph;
    net->config = *config;
    set_constants(net);
    number_vertices(net);
    net->port = sim_alloc_large(net->n_ports, sizeof *net->port);
    return net;
}

void net_free(struct net *net)
{
    if (!net)
        return;
    if (net->cold)
        link_release(net);
    forward_release(net);
    fault_release(net);
    profile_release(net);
    for (uint32_t v = 0; v < net->n_vertices; v++) {
        g_free(net->vertex[v].incidents);
        g_free(net->vertex[v].flowlets);
        g_free(net->vertex[v].slab.slot);
        g_free(net->vertex[v].stack);
        g_free(net->vertex[v].local);
        g_free(net->vertex[v].pauses);
    }
    nic_free(net);
    sim_core_free(net->core);
    nic_cc_free(net);
    ib_free(net);
    free(net->port);
    free(net->queue);
    free(net->group);
    free(net->tx);
    g_free(net->cold);
    g_free(net->ring);
    g_free(net->vertex);
    g_free(net->port_of_graph);
    g_free(net->vertex_of_graph);
    g_free(net->rx);
    g_free(net->qp);
    g_free(net->path);
    g_free(net->op);
    g_free(net->nvlink_busy);
    if (net->deadlock)
        g_string_free(net->deadlock, TRUE);
    g_free(net);
}
