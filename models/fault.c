/* fault.c - faults at their times: links and switches that go down and come back, slow links, bit errors, pause storms,
 * slow nodes and receivers, single packets lost.
 *
 * A fault is a timer in each node that it concerns: both ends of a link, every switch that learns of
 * it. A link that goes down loses what is on it and what waits for it; pauses in force on it are forgotten at
 * both ends. The switch beside it leaves the port out after local_repair, all others use tables without it
 * after reconvergence; the same again when it comes back, so that nothing is sent into a link before it is up.
 * Left out: protocols that find a failure (their time is a parameter), optics that fail in one direction.
 */
#include "models/fault.h"

#include "models/forward.h"
#include "models/ib.h"
#include "models/link.h"
#include "models/nic.h"

#include <string.h>

static const struct net_fault *fault_at(const struct net *net, uint32_t i) { return &net->config.faults[i]; }

static bool takes_links_down(const struct net_fault *fault)
{
    int kind = fault->params->kind;
    return kind == FAULT_LINK_DOWN || kind == FAULT_SWITCH_REBOOT || kind == FAULT_NIC_PORT_DOWN;
}

/* Graph ports that FAULT concerns: FIRST .. FIRST + N of its node, or one. */
static uint32_t ports_of(const struct net *net, const struct net_fault *fault, uint32_t *first)
{
    const struct net_node *node = &net->graph->nodes[fault->node];
    *first = fault->port == NET_NONE ? node->first_port : fault->port;
    return fault->port == NET_NONE ? node->n_ports : 1;
}

/* ---- set-up ------------------------------------------------------------------- */
static void add_timer(struct net *net, uint32_t vertex, sim_ps t_ps, uint32_t index, enum fault_step step)
{
    if (t_ps < SIM_PS_MAX / 2)
        sim_timer_add(net->core, &net->core->nodes[vertex], t_ps, FAULT_TIMER(index, step));
}

static int compare_times(const void *a, const void *b)
{
    sim_ps x = *(const sim_ps *)a, y = *(const sim_ps *)b;
    return (x > y) - (x < y);
}

/* Bit set of the ports that are down at T_PS. */
static void down_at(const struct net *net, sim_ps t_ps, uint64_t *down)
{
    memset(down, 0, MAX(((size_t)net->graph->n_ports + 63) / 64, 1) * sizeof *down);
    for (uint32_t i = 0; i < net->config.n_faults; i++) {
        const struct net_fault *fault = fault_at(net, i);
        if (!takes_links_down(fault) || t_ps < fault->start_ps || t_ps >= fault->end_ps)
            continue;
        uint32_t first, n = ports_of(net, fault, &first);
        for (uint32_t p = first; p < first + n; p++) {
            uint32_t peer = net->graph->ports[p].peer;
            if (peer == NET_NONE)
                continue;
            down[p / 64] |= UINT64_C(1) << p % 64;
            down[peer / 64] |= UINT64_C(1) << peer % 64;
        }
    }
}

/* The states of the links that the run goes through, and when switches learn of them. */
static void plan_reroutes(struct net *net)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(sim_ps));
    for (uint32_t i = 0; i < net->config.n_faults; i++) {
        const struct net_fault *fault = fault_at(net, i);
        if (!takes_links_down(fault))
            continue;
        g_array_append_val(times, fault->start_ps);
        if (fault->end_ps < SIM_PS_MAX / 4)
            g_array_append_val(times, fault->end_ps);
    }
    if (times->len > 1)
        qsort(times->data, times->len, sizeof(sim_ps), compare_times);
    g_autofree uint64_t *down = g_new0(uint64_t, MAX(((size_t)net->graph->n_ports + 63) / 64, 1));
    for (guint k = 0; net->forward && k < times->len; k++) {
        sim_ps t_ps = g_array_index(times, sim_ps, k);
        if (k > 0 && t_ps == g_array_index(times, sim_ps, k - 1))
            continue;
        down_at(net, t_ps, down);
        struct fault_change change = {t_ps, forward_add_state(net, down)};
        g_array_append_val(net->fault->changes, change);
        for (uint32_t v = 0; v < net->n_vertices; v++)
            if (net->vertex[v].is_switch)
                add_timer(net, v, t_ps + net->config.reconvergence_ps, net->fault->changes->len - 1, FAULT_REROUTES);
    }
}

static bool build_link_fault(struct net *net, uint32_t index, GError **err)
{
    const struct net_fault *fault = fault_at(net, index);
    uint32_t first, n = ports_of(net, fault, &first);
    bool down = takes_links_down(fault);
    if (down && !net->forward) {
        g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "[fault:%s]: links can't go down in a run without next-hop tables", fault->name);
        return false;
    }
    for (uint32_t p = first; p < first + n; p++) {
        uint32_t peer = net->graph->ports[p].peer;
        if (peer == NET_NONE)
            continue;
        link_special(net, net->port_of_graph[p]);
        if (down || fault->params->kind == FAULT_DEGRADED_RATE)
            link_special(net, net->port_of_graph[peer]);
    }
    /* One set of timers per node concerned: the node's handler goes over all ports of the fault that are its own. */
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (uint32_t p = first; p < first + n; p++) {
        uint32_t peer = net->graph->ports[p].peer;
        if (peer == NET_NONE)
            continue;
        uint32_t ends[2] = {net->vertex_of_graph[net->graph->ports[p].node], net->vertex_of_graph[net->graph->ports[peer].node]};
        for (int e = 0; e < 2; e++) {
            if (!g_hash_table_add(seen, GUINT_TO_POINTER(ends[e] + 1)))
                continue;
            add_timer(net, ends[e], fault->start_ps, index, FAULT_BEGINS);
            add_timer(net, ends[e], fault->end_ps, index, FAULT_ENDS);
            if (!down)
                continue;
            add_timer(net, ends[e], fault->start_ps + net->config.local_repair_ps, index, FAULT_KNOWN);
            add_timer(net, ends[e], MIN(fault->end_ps, SIM_PS_MAX / 2) + net->config.local_repair_ps, index, FAULT_FORGOTTEN);
        }
    }
    return true;
}

bool fault_build(struct net *net, GError **err)
{
    net->fault = g_new0(struct fault_run, 1);
    net->fault->changes = g_array_new(FALSE, FALSE, sizeof(struct fault_change));
    if (net->config.n_faults == 0)
        return true;
    net->node_slowdown = g_new(double, MAX(net->graph->n_nodes, 1));
    for (uint32_t i = 0; i < net->graph->n_nodes; i++)
        net->node_slowdown[i] = 1;
    for (uint32_t i = 0; i < net->config.n_faults; i++) {
        const struct net_fault *fault = fault_at(net, i);
        uint32_t v = net->vertex_of_graph[fault->node];
        switch ((enum fault_kind)fault->params->kind) {
        case FAULT_PAUSE_STORM:
            if (net->ib) {
                g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "[fault:%s]: InfiniBand has no pause frames; allowed: slow_receiver, which holds credits back",
                            fault_at(net, i)->name);
                return false;
            } /* fall through */
        case FAULT_SLOW_RECEIVER:
        case FAULT_STRAGGLER:
            add_timer(net, v, fault->start_ps, i, FAULT_BEGINS);
            add_timer(net, v, fault->end_ps, i, FAULT_ENDS);
            break;
        case FAULT_NONE:
            break;
        default:
            if (!build_link_fault(net, i, err))
                return false;
        }
    }
    plan_reroutes(net);
    return true;
}

void fault_release(struct net *net)
{
    if (net->fault)
        g_array_unref(net->fault->changes);
    g_free(net->fault);
    g_free(net->node_slowdown);
}

/* ---- links --------------------------------------------------------------------------- */
/* Forgets pauses, and drops what waits for the link. */
static void cut_off(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    struct port_hot *port = &net->port[p];
    struct net_vertex *v = node->state;
    if (net->ib) {
        if (v->is_switch)
            ib_switch_flush(net, core, node, p, now_ps);
        return;
    }
    for (uint32_t c = 0; c < NET_CLASSES; c++) {
        if (port->paused >> c & 1)
            pfc_resume(net, p, c, now_ps);
        if (v->is_switch)
            switch_flush(net, core, node, p, c, now_ps);
    }
    port->xoff = (uint16_t)(port->xoff & 0xff00);
    port->pause_todo = 0;
    watchdog_forget(net, core, node, p, (1u << NET_CLASSES) - 1, now_ps);
}

static void wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    if (net->ib)
        ib_link_up(net, p);
    if (net->ib)
        ib_wake(net, core, node, p, now_ps);
    else if (((struct net_vertex *)node->state)->is_switch)
        switch_wake(net, core, node, p, now_ps);
    else
        nic_kick(net, core, node, p, now_ps);
}

static void set_down(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, bool down, sim_ps now_ps)
{
    struct net_special *special = net->cold[p].special;
    special->n_down += down ? 1u : -1u;
    if (down && special->n_down == 1)
        cut_off(net, core, node, p, now_ps);
    else if (!down && special->n_down == 0)
        wake(net, core, node, p, now_ps);
}

/* Another live port of the same NIC (endpoint); NET_NONE: none. */
static uint32_t other_port(const struct net *net, uint32_t p)
{
    const struct net_vertex *v = &net->vertex[net->cold[p].node];
    uint32_t host = net->graph->ports[net->cold[p].graph_port].node;
    for (uint32_t q = v->first_port; q < v->first_port + v->n_ports; q++) {
        bool same_host = net->graph->ports[net->cold[q].graph_port].node == host;
        bool is_down = net->cold[q].special && net->cold[q].special->n_down > 0;
        if (q != p && same_host && net->port[q].channel != NET_NONE && !is_down)
            return q;
    }
    return NET_NONE;
}

static void set_known(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    bool down = net->cold[p].special->n_down > 0;
    if (down == net->cold[p].known_down)
        return;
    net->cold[p].known_down = down;
    v->n_local_down += down ? 1u : -1u;
    uint32_t other = down && !v->is_switch ? other_port(net, p) : NET_NONE;
    if (other != NET_NONE) {
        uint32_t moved = nic_move_qps(net, core, node, p, other, now_ps);
        net_incident(net, core, v, NET_INCIDENT_FAILOVER, p, moved, now_ps);
    }
}

static void set_rate(struct net *net, uint32_t p, int64_t rate_bps)
{
    struct net_special *special = net->cold[p].special;
    struct port_hot *port = &net->port[p];
    if (special->full_ps_per_byte_q16 == 0)
        special->full_ps_per_byte_q16 = port->ps_per_byte_q16;
    /* What is on the wire goes on at the old rate. */
    port->ps_per_byte_q16 = rate_bps ? (uint32_t)units_ps_per_byte_q16(rate_bps) : special->full_ps_per_byte_q16;
    port->cut_wire_ps = net_wire(net, port, port->cut_bytes);
}

/* FAULT begins or ends at PORT, which belongs to this node; FAR: it is the other end of the link that was named. */
static void change_port(struct net *net, struct sim_core *core, struct sim_node *node, const struct net_fault *fault, uint32_t p,
                        bool far, enum fault_step step, sim_ps now_ps)
{
    const struct fault_params *params = fault->params;
    struct net_special *special = net->cold[p].special;
    bool begins = step == FAULT_BEGINS;
    switch ((enum fault_kind)params->kind) {
    case FAULT_DEGRADED_RATE:
        set_rate(net, p, begins ? params->rate_bps : 0);
        break;
    case FAULT_RAISED_BER:
        if (!far)
            link_set_errors(special, begins ? params->ber : special->base_ber, begins ? params->loss : special->base_loss);
        break;
    case FAULT_DROP_PACKET:
        if (!far)
            special->pick = (struct link_pick){begins, (enum fault_packet)params->packet, (uint64_t)params->nth, (uint64_t)params->count, 0};
        break;
    default:
        if (step == FAULT_KNOWN || step == FAULT_FORGOTTEN)
            set_known(net, core, node, p, now_ps);
        else
            set_down(net, core, node, p, begins, now_ps);
    }
}

static void change_links(struct net *net, struct sim_core *core, struct sim_node *node, const struct net_fault *fault,
                         enum fault_step step, sim_ps now_ps)
{
    const struct net_vertex *v = node->state;
    uint32_t first, n = ports_of(net, fault, &first);
    for (uint32_t g = first; g < first + n; g++) {
        uint32_t peer = net->graph->ports[g].peer;
        if (peer == NET_NONE)
            continue;
        uint32_t near = net->port_of_graph[g], far = net->port_of_graph[peer];
        if (&net->vertex[net->cold[near].node] == v)
            change_port(net, core, node, fault, near, false, step, now_ps);
        if (&net->vertex[net->cold[far].node] == v && net->cold[far].special)
            change_port(net, core, node, fault, far, true, step, now_ps);
    }
}

/* ---- pause storms ------------------------------------------------------------------------ */
static void storm_frame(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t index, sim_ps now_ps)
{
    const struct net_fault *fault = fault_at(net, index);
    const struct fault_params *params = fault->params;
    if (now_ps >= fault->end_ps)
        return;
    uint32_t first, n = ports_of(net, fault, &first);
    sim_ps next_ps = params->interval_ps;
    for (uint32_t g = first; g < first + n; g++) {
        uint32_t p = net->port_of_graph[g];
        if (net->port[p].channel == NET_NONE)
            continue;
        /* Behind the frame on the wire, which the storm does not wait for in its own rhythm. */
        sim_ps at_ps = MAX(now_ps, net->port[p].busy_until_ps);
        pfc_put(net, core, node, p, (uint32_t)params->quanta, 1u << params->priority, at_ps);
        sim_ps lasts_ps = pfc_quanta_ps(&net->port[p], params->quanta ? (uint32_t)params->quanta : 65535);
        if (params->interval_ps == 0)
            next_ps = next_ps == 0 ? lasts_ps / 2 : MIN(next_ps, lasts_ps / 2);
    }
    sim_timer_add(core, node, now_ps + MAX(next_ps, UNIT_NS), FAULT_TIMER(index, FAULT_REPEATS));
}

/* ---- timers ---------------------------------------------------------------------------------- */
double fault_slowdown(const struct net *net, uint32_t rank)
{
    return net->node_slowdown ? net->node_slowdown[net->graph->endpoints[rank].node] : 1;
}

static void change_node(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t index, bool begins, sim_ps now_ps)
{
    const struct net_fault *fault = fault_at(net, index);
    uint32_t first, n = ports_of(net, fault, &first);
    switch ((enum fault_kind)fault->params->kind) {
    case FAULT_STRAGGLER:
        net->node_slowdown[fault->node] = begins ? fault->params->factor : 1;
        break;
    case FAULT_PAUSE_STORM:
        if (begins)
            storm_frame(net, core, node, index, now_ps);
        for (uint32_t g = first; !begins && g < first + n; g++)
            watchdog_forget(net, core, node, net->port_of_graph[g], 1u << fault->params->priority, now_ps);
        break;
    default:
        for (uint32_t g = first; g < first + n; g++)
            nic_set_rx_rate(net, node, net->port_of_graph[g],
                            begins ? fault->params->rate_bps : ((const struct nic_params *)net_site_node(net, NET_PARAMS_NIC, fault->node))->rx_rate_bps);
    }
}

void fault_timer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t what, sim_ps now_ps)
{
    uint32_t index = what / FAULT_N_STEPS;
    enum fault_step step = (enum fault_step)(what % FAULT_N_STEPS);
    struct net_vertex *v = node->state;
    if (step == FAULT_REROUTES) {
        uint32_t state = g_array_index(net->fault->changes, struct fault_change, index).state;
        forward_use(net, v, state);
        net_incident(net, core, v, NET_INCIDENT_REROUTED, v->first_port, forward_n_down(net, state), now_ps);
        return;
    }
    const struct net_fault *fault = fault_at(net, index);
    int kind = fault->params->kind;
    if (step == FAULT_REPEATS) {
        storm_frame(net, core, node, index, now_ps);
        return;
    }
    if (step == FAULT_BEGINS || step == FAULT_ENDS) {
        uint32_t first;
        ports_of(net, fault, &first);
        if (net->vertex_of_graph[fault->node] == (uint32_t)(v - net->vertex))
            net_incident(net, core, v, step == FAULT_BEGINS ? NET_INCIDENT_FAULT : NET_INCIDENT_FAULT_OVER,
                         net->port_of_graph[first], index, now_ps);
    }
    if (kind == FAULT_STRAGGLER || kind == FAULT_PAUSE_STORM || kind == FAULT_SLOW_RECEIVER)
        change_node(net, core, node, index, step == FAULT_BEGINS, now_ps);
    else
        change_links(net, core, node, fault, step, now_ps);
}
