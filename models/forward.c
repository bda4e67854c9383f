/* forward.c - see forward.h. Flowlets: LetFlow, NSDI 2017; a switch's flowlet table is indexed by hash, so flows may share
 * an entry, as in silicon. Load balancing moves data packets; answers keep to their ECMP path, so that they stay in
 * order. Adaptive routing compares queued bytes of the packet's own queue, ties are broken by a draw.
 */
#include "models/forward.h"

#include "sim/rng.h"
#include <string.h>

#define FLOWLET_ENTRIES 4096 /* a switch; a power of two */

/* ---- tables ------------------------------------------------------------------- */
static void number_attachments(struct net *net, struct forward *f)
{
    const struct net_graph *g = net->graph;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    g_autofree uint32_t *of_rank = g_new0(uint32_t, MAX(g->n_endpoints, 1));
    f->rank_of = g_new0(uint32_t, MAX(g->n_endpoints, 1));
    for (uint32_t r = 0; r < g->n_endpoints; r++) {
        gpointer key = GUINT_TO_POINTER(g->endpoints[r].port + 1u);
        guint found = GPOINTER_TO_UINT(g_hash_table_lookup(seen, key));
        if (!found) {
            f->rank_of[f->n_attachments] = r;
            found = ++f->n_attachments;
            g_hash_table_insert(seen, key, GUINT_TO_POINTER(found));
        }
        of_rank[r] = found - 1;
    }
    f->attachment = g_new0(uint32_t, (gsize)MAX(net->n_qps, 1) * 2);
    for (uint32_t q = 0; q < net->n_qps; q++) {
        f->attachment[q << 1] = of_rank[net->qp[q].dst_rank];
        f->attachment[q << 1 | 1] = of_rank[net->qp[q].src_rank];
    }
}

/* Queue pair and direction A as a route request. */
static struct net_route_request request_of(const struct net *net, uint32_t a)
{
    const struct qp_cold *q = &net->qp[a >> 1];
    return (struct net_route_request){q->src_rank, q->dst_rank, q->flow_id, net_qpn(a), q->sport, a & 1};
}

static void note_pinned(struct net *net, struct forward *f)
{
    if (!net->config.pinned)
        return;
    f->pinned_from = g_new(uint32_t, (gsize)MAX(net->n_qps, 1) * 2);
    for (uint32_t a = 0; a < net->n_qps * 2; a++) {
        const struct net_route_request request = request_of(net, a);
        bool pinned = net->config.pinned(net->config.route_user, &request);
        f->pinned_from[a] = !pinned ? NET_NONE : a & 1 ? net->rx[a >> 1].port : net->tx[a >> 1].port;
    }
}

/* Groups repeat: every host behind a leaf has the same one at a spine. Compares with the LAST few of this switch. */
static uint16_t add_group(struct forward *f, uint32_t first_group, const uint16_t *member, uint32_t n)
{
    for (uint32_t i = f->groups->len; i-- > first_group;) {
        const struct forward_group *group = &g_array_index(f->groups, struct forward_group, i);
        if (group->n == n && memcmp(&g_array_index(f->members, uint16_t, group->first), member, n * sizeof *member) == 0)
            return (uint16_t)(i - first_group);
    }
    struct forward_group group = {f->members->len, n};
    g_array_append_vals(f->members, member, n);
    g_array_append_val(f->groups, group);
    return (uint16_t)(f->groups->len - 1 - first_group);
}

static void fill_switch(struct net *net, struct forward *f, struct forward_state *state, uint32_t vertex)
{
    const struct net_vertex *v = &net->vertex[vertex];
    const struct net_node *node = &net->graph->nodes[v->graph_node];
    g_autofree uint32_t *ports = g_new(uint32_t, MAX(node->n_ports, 1));
    g_autofree uint16_t *member = g_new(uint16_t, MAX(node->n_ports, 1));
    uint32_t first_group = f->groups->len;
    /* Entry 0 says where this switch's groups begin. */
    state->group[vertex] = g_new0(uint16_t, (gsize)f->n_attachments + 2);
    for (uint32_t a = 0; a < f->n_attachments; a++) {
        uint32_t n = net->config.next_hops(net->config.route_user, v->graph_node, f->rank_of[a], state->down, ports, node->n_ports);
        for (uint32_t i = 0; i < n; i++)
            member[i] = (uint16_t)(net->port_of_graph[ports[i]] - v->first_port);
        state->group[vertex][a + 2] = add_group(f, first_group, member, n);
    }
    state->group[vertex][0] = (uint16_t)(first_group & 0xffff);
    state->group[vertex][1] = (uint16_t)(first_group >> 16);
}

static size_t set_words(const struct net *net) { return ((size_t)net->graph->n_ports + 63) / 64; }

uint32_t forward_add_state(struct net *net, const uint64_t *down)
{
    struct forward *f = net->forward;
    size_t bytes = MAX(set_words(net), 1) * sizeof *down;
    for (guint i = 0; i < f->states->len; i++)
        if (memcmp(((struct forward_state *)f->states->pdata[i])->down, down, bytes) == 0)
            return i;
    struct forward_state *state = g_new0(struct forward_state, 1);
    state->down = g_memdup2(down, bytes);
    for (size_t w = 0; w < set_words(net); w++)
        state->n_down += (uint32_t)__builtin_popcountll(down[w]);
    state->group = g_new0(uint16_t *, net->n_vertices);
    for (uint32_t v = 0; v < net->n_vertices; v++)
        if (net->vertex[v].is_switch)
            fill_switch(net, f, state, v);
    g_ptr_array_add(f->states, state);
    return f->states->len - 1;
}

static bool is_needed(const struct net *net)
{
    bool link_fault = false;
    for (uint32_t i = 0; i < net->config.n_faults; i++) {
        int kind = net->config.faults[i].params->kind;
        link_fault |= kind == FAULT_LINK_DOWN || kind == FAULT_SWITCH_REBOOT || kind == FAULT_NIC_PORT_DOWN;
    }
    return net->config.next_hops && (link_fault || net->config.lb != NET_LB_FIXED);
}

bool forward_build(struct net *net, GError **err)
{
    (void)err;
    if (!is_needed(net))
        return true;
    struct forward *f = net->forward = g_new0(struct forward, 1);
    f->groups = g_array_new(FALSE, FALSE, sizeof(struct forward_group));
    f->members = g_array_new(FALSE, FALSE, sizeof(uint16_t));
    f->states = g_ptr_array_new();
    number_attachments(net, f);
    note_pinned(net, f);
    g_autofree uint64_t *none = g_new0(uint64_t, MAX(set_words(net), 1));
    forward_add_state(net, none);
    for (uint32_t v = 0; net->config.lb == NET_LB_FLOWLET && v < net->n_vertices; v++)
        if (net->vertex[v].is_switch)
            net->vertex[v].flowlets = g_new0(struct flowlet, FLOWLET_ENTRIES);
    return true;
}

void forward_release(struct net *net)
{
    struct forward *f = net->forward;
    if (!f)
        return;
    for (guint i = 0; i < f->states->len; i++) {
        struct forward_state *state = f->states->pdata[i];
        for (uint32_t v = 0; v < net->n_vertices; v++)
            g_free(state->group[v]);
        g_free(state->group);
        g_free(state->down);
        g_free(state);
    }
    g_ptr_array_unref(f->states);
    g_array_unref(f->groups);
    g_array_unref(f->members);
    g_free(f->attachment);
    g_free(f->rank_of);
    g_free(f->pinned_from);
    g_free(f);
}

/* ---- choosing -------------------------------------------------------------------- */
#define MAX_GROUP 1024

/* Members that this switch does not know to be dead; MEMBER when it knows of none. */
static uint32_t usable(const struct net *net, const struct net_vertex *v, const uint16_t *member, uint32_t n, uint16_t *alive)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n && k < MAX_GROUP; i++)
        if (!net->cold[v->first_port + member[i]].known_down)
            alive[k++] = member[i];
    return k;
}

static uint32_t by_hash(const struct net *net, const struct net_vertex *v, uint32_t a, uint32_t n)
{
    const struct net_route_request request = request_of(net, a);
    return (uint32_t)(net->config.hash(net->config.route_user, &request, v->graph_node) % n);
}

static uint32_t drawn(const struct net *net, struct net_vertex *v, uint32_t n)
{
    return (uint32_t)(sim_rng(net->config.seed, v->graph_node, SIM_RNG_SPRAY, v->n_draws++) % n);
}

/* The shortest queue of the packet's class among all members, or among some that are drawn. */
static uint32_t least_loaded(const struct net *net, struct net_vertex *v, uint32_t in, uint32_t c, const uint16_t *member, uint32_t n,
                             sim_ps now_ps)
{
    uint32_t tc = net->port[in].profile->tc_of_code[packet_code(c)];
    uint32_t choices = net->config.adaptive_choices && net->config.adaptive_choices < n ? net->config.adaptive_choices : n;
    uint32_t at = drawn(net, v, n), best = at;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < choices; i++) {
        uint32_t k = choices == n ? (at + i) % n : (i == 0 ? at : drawn(net, v, n));
        uint32_t p = v->first_port + member[k];
        const struct port_hot *port = &net->port[p];
        /* What is still on the wire counts too, else an idle port and a busy one look alike. */
        int64_t load = net->queue[p][port->profile->queue_of_tc[tc]].bytes;
        if (port->busy_until_ps > now_ps)
            load += (int64_t)(((uint64_t)(port->busy_until_ps - now_ps) << 16) / port->ps_per_byte_q16);
        if (load < least) {
            least = load;
            best = k;
        }
    }
    return best;
}

static uint32_t flowlet_port(struct net *net, struct net_vertex *v, uint32_t a, const uint16_t *member, uint32_t n, sim_ps now_ps)
{
    struct flowlet *flow = &v->flowlets[sim_mix64(a) & (FLOWLET_ENTRIES - 1)];
    bool goes_on = flow->last_ps > 0 && now_ps - flow->last_ps < net->config.flowlet_gap_ps;
    bool still_there = false;
    for (uint32_t i = 0; goes_on && i < n; i++)
        still_there |= member[i] == flow->out;
    if (!goes_on || !still_there || flow->a != a)
        flow->out = member[goes_on && flow->a == a && still_there ? 0 : drawn(net, v, n)];
    flow->a = a;
    flow->last_ps = now_ps;
    return flow->out;
}

/* Egress on the listed path of A; NET_NONE: it has none, or V does not lie on it (its NIC has changed ports). */
static uint32_t pinned_port(const struct net *net, const struct forward *f, const struct net_vertex *v, uint32_t a, uint32_t hops)
{
    const struct qp_cold *q = &net->qp[a >> 1];
    if (!f->pinned_from || f->pinned_from[a] == NET_NONE || hops >= (a & 1 ? q->n_back_hops : q->n_hops))
        return NET_NONE;
    const uint16_t *path = &net->path[(size_t)a * net->path_stride];
    uint32_t port = f->pinned_from[a];
    for (uint32_t h = 0; h < hops; h++)
        port = net->vertex[net->port[port].peer_node].first_port + path[h];
    return &net->vertex[net->port[port].peer_node] == v ? v->first_port + path[hops] : NET_NONE;
}

uint32_t forward_choose(struct net *net, struct sim_node *node, uint32_t in, uint32_t a, uint32_t b, uint32_t c, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    const struct forward *f = net->forward;
    uint32_t pinned = pinned_port(net, f, v, a, packet_hops(c));
    if (pinned != NET_NONE)
        return pinned;
    const struct forward_state *state = f->states->pdata[v->forward_state];
    const uint16_t *table = state->group[v - net->vertex];
    uint32_t first_group = table[0] | (uint32_t)table[1] << 16;
    struct forward_group group = g_array_index(f->groups, struct forward_group, first_group + table[2 + f->attachment[a]]);
    const uint16_t *member = &g_array_index(f->members, uint16_t, group.first);
    uint16_t alive[MAX_GROUP];
    if (v->n_local_down) {
        uint32_t n = usable(net, v, member, group.n, alive);
        member = alive;
        group.n = n;
    }
    if (group.n == 0 || packet_hops(c) == PACKET_MAX_HOPS - 1) { /* no way, or a loop of half-updated tables */
        v->no_route_pkts++;
        v->ledger[packet_code(c)].dropped_pkts++;
        v->ledger[packet_code(c)].dropped_bytes += packet_bytes(c);
        return NET_NONE;
    }
    if (group.n == 1)
        return v->first_port + member[0];
    enum net_lb lb = packet_kind(c) == PACKET_DATA ? net->config.lb : NET_LB_FIXED;
    switch (lb) {
    case NET_LB_SPRAY_ROUND_ROBIN:
        /* A turn of the switch's own would give flows in step the same port again and again. */
        return v->first_port + member[(sim_mix64((uint64_t)v->graph_node << 32 | a) + b) % group.n];
    case NET_LB_SPRAY_RANDOM:
        return v->first_port + member[drawn(net, v, group.n)];
    case NET_LB_ADAPTIVE:
        return v->first_port + member[least_loaded(net, v, in, c, member, group.n, now_ps)];
    case NET_LB_FLOWLET:
        return v->first_port + flowlet_port(net, v, a, member, group.n, now_ps);
    default:
        return v->first_port + member[by_hash(net, v, a, group.n)];
    }
}

uint32_t forward_n_down(const struct net *net, uint32_t state)
{
    return ((const struct forward_state *)net->forward->states->pdata[state])->n_down / 2;
}

void forward_use(struct net *net, struct net_vertex *v, uint32_t state)
{
    (void)net;
    v->forward_state = state;
}
