/* check_cycles.c - the buffer-dependency graph: can lossless buffers wait for each other in a ring?
 *
 * A vertex is the priority group at the receiving end of a link between switches. It waits for the group behind the link
 * over which its packets go on, where both are lossless. Links follow each other as the routing tables say for packets
 * that come from an endpoint, or as static paths say. A ring of waiting groups is what a deadlock needs (Dally and Seitz
 * 1987; Hu et al., HotNets 2016); up/down routes have none. Left out: answers on static paths, and rates, which decide
 * whether a ring ever locks.
 */
#include "scenarios/check_priv.h"

#include <string.h>

#define MAX_RINGS 8          /* told; all are counted */
#define MAX_PATH_PORTS 64
#define MAX_FAULT_STATES 16
#define ALL_CODES NET_CLASSES /* layer of the routing tables; below: static paths by code */

struct graph {
    struct check *c;
    uint32_t *local;        /* by graph port: its number among its switch's ports to switches; NET_NONE: not one */
    uint32_t *n_local;      /* by node */
    size_t *row;            /* by graph port (where a link arrives): first bit of its row */
    size_t n_bits;
    uint64_t *bits[ALL_CODES + 1]; /* [row + local number of the egress port]; NULL: empty */
    uint8_t *live;          /* by graph port that sends: codes for which the hop is lossless */
    const uint64_t *down;   /* dead ports; NULL: none */
};

static bool joins_switches(const struct check *c, uint32_t port)
{
    return check_is_plugged(c, port) && check_is_switch(c, c->graph->ports[port].node) && check_is_switch(c, check_peer_node(c, port));
}

static void number_links(struct graph *g)
{
    const struct net_graph *graph = g->c->graph;
    for (uint32_t p = 0; p < graph->n_ports; p++)
        g->local[p] = joins_switches(g->c, p) ? g->n_local[graph->ports[p].node]++ : NET_NONE;
    for (uint32_t p = 0; p < graph->n_ports; p++)
        if (g->local[p] != NET_NONE) {
            g->row[p] = g->n_bits;
            g->n_bits += g->n_local[graph->ports[p].node];
        }
}

static void find_live(struct graph *g)
{
    const struct check *c = g->c;
    uint8_t codes = 0;
    for (uint32_t class = 0; class < NET_CLASSES; class++)
        codes = (uint8_t)(codes | (c->classes >> class & 1 ? c->codes[class] : 0));
    for (uint32_t p = 0; p < c->graph->n_ports; p++)
        for (uint32_t code = 0; g->local[p] != NET_NONE && code < NET_CLASSES; code++)
            if ((codes >> code & 1) && !survey_problem(c->survey, p) && check_hop_state(c, p, 0, code) == HOP_LOSSLESS)
                g->live[p] = (uint8_t)(g->live[p] | 1u << code);
}

/* Packets that arrive at port IN may leave by OUT of the same switch. */
static void add_pair(struct graph *g, uint32_t layer, uint32_t in, uint32_t out)
{
    if (g->local[in] == NET_NONE || g->local[out] == NET_NONE)
        return;
    if (!g->bits[layer])
        g->bits[layer] = g_new0(uint64_t, g->n_bits / 64 + 1);
    size_t bit = g->row[in] + g->local[out];
    g->bits[layer][bit / 64] |= UINT64_C(1) << bit % 64;
}

/* ---- routing tables ------------------------------------------------------------------- */

struct tables {
    uint32_t *first, *n;  /* by node: candidates in LIST */
    GArray *list;         /* uint32_t graph ports */
    GArray *order;        /* uint32_t nodes that carry packets to the destination */
    uint8_t *seen;        /* by node */
    uint8_t *carries;     /* by graph port that sends */
    uint32_t *scratch;
};

static void visit(struct tables *t, uint32_t node)
{
    if (t->seen[node])
        return;
    t->seen[node] = 1;
    g_array_append_val(t->order, node);
}

static void visit_sources(const struct check *c, struct tables *t)
{
    for (uint32_t r = 0; r < c->graph->n_endpoints; r++) {
        uint32_t first, n;
        fabric_nic_ports(c->fabric, r, &first, &n);
        for (uint32_t p = first; p < first + n; p++)
            if (check_is_plugged(c, p) && check_is_switch(c, check_peer_node(c, p)))
                visit(t, check_peer_node(c, p));
    }
}

static void add_destination(struct graph *g, struct tables *t, uint32_t rank)
{
    const struct check *c = g->c;
    const struct net_graph *graph = c->graph;
    memset(t->seen, 0, graph->n_nodes);
    memset(t->carries, 0, graph->n_ports);
    g_array_set_size(t->list, 0);
    g_array_set_size(t->order, 0);
    visit_sources(c, t);
    for (guint i = 0; i < t->order->len; i++) {
        uint32_t node = g_array_index(t->order, uint32_t, i);
        t->first[node] = t->list->len;
        t->n[node] = routes_next_hops(c->routes, node, rank, g->down, t->scratch, graph->nodes[node].n_ports);
        g_array_append_vals(t->list, t->scratch, t->n[node]);
        for (uint32_t k = 0; k < t->n[node]; k++)
            if (joins_switches(c, t->scratch[k])) {
                t->carries[t->scratch[k]] = 1;
                visit(t, check_peer_node(c, t->scratch[k]));
            }
    }
    for (guint i = 0; i < t->order->len; i++) {
        uint32_t node = g_array_index(t->order, uint32_t, i);
        const struct net_node *n = &graph->nodes[node];
        for (uint32_t in = n->first_port; in < n->first_port + n->n_ports; in++)
            for (uint32_t k = 0; g->local[in] != NET_NONE && t->carries[graph->ports[in].peer] && k < t->n[node]; k++)
                add_pair(g, ALL_CODES, in, g_array_index(t->list, uint32_t, t->first[node] + k));
    }
}

/* Ranks behind the same switches have the same routes: the switches as a key. (transfer full) */
static char *attachment(const struct check *c, uint32_t rank)
{
    uint32_t first, n;
    GString *key = g_string_new(NULL);
    fabric_nic_ports(c->fabric, rank, &first, &n);
    for (uint32_t p = first; p < first + n; p++)
        if (check_is_plugged(c, p))
            g_string_append_printf(key, "%u,", check_peer_node(c, p));
    return g_string_free(key, FALSE);
}

static void add_tables(struct graph *g)
{
    const struct net_graph *graph = g->c->graph;
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(uint32_t)), order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autofree uint32_t *first = g_new0(uint32_t, graph->n_nodes), *n = g_new0(uint32_t, graph->n_nodes);
    g_autofree uint8_t *seen = g_malloc0(graph->n_nodes), *carries = g_malloc0(MAX(graph->n_ports, 1));
    g_autofree uint32_t *scratch = g_new(uint32_t, MAX(graph->n_ports, 1));
    struct tables t = {first, n, list, order, seen, carries, scratch};
    for (uint32_t r = 0; r < graph->n_endpoints; r++)
        if (g_hash_table_add(known, attachment(g->c, r)))
            add_destination(g, &t, r);
}

/* ---- static paths ------------------------------------------------------------------------ */

static void add_path(struct graph *g, const struct job_path *path, uint32_t class)
{
    uint32_t ports[MAX_PATH_PORTS];
    int n = routes_from_nodes(g->c->fabric, path->data_nodes, path->n_data, ports, MAX_PATH_PORTS, NULL);
    for (int i = 1; i + 1 < n; i++)
        add_pair(g, survey_code(g->c->survey, ports[0], class), g->c->graph->ports[ports[i]].peer, ports[i + 1]);
}

/* Adds the paths that the job's flows take; true when some queue pair has none and goes by the tables. */
static bool add_static(struct graph *g)
{
    const struct check *c = g->c;
    if (!c->job || c->job->paths->len == 0 || c->routing->mode != ROUTING_STATIC)
        return true;
    g_autoptr(GHashTable) path_of = g_hash_table_new(NULL, NULL), listed = g_hash_table_new(NULL, NULL);
    bool left = false;
    for (guint i = 0; i < c->job->paths->len; i++) {
        struct job_path *path = &g_array_index(c->job->paths, struct job_path, i);
        g_hash_table_insert(path_of, GUINT_TO_POINTER(path->flow_id + 1), path);
    }
    for (guint f = 0; f < c->job->flows->len; f++) {
        const struct job_flow *flow = &g_array_index(c->job->flows, struct job_flow, f);
        const struct job_op *op = job_op_at(c->job, flow->send_op);
        const struct job_path *path = g_hash_table_lookup(path_of, GUINT_TO_POINTER(flow->id + 1));
        g_hash_table_add(listed, GUINT_TO_POINTER(flow->send_op + 1));
        if (path)
            add_path(g, path, op->traffic_class == JOB_CLASS_DEFAULT ? c->data_class : op->traffic_class);
        left |= path == NULL;
    }
    for (uint32_t i = 0; !left && i < job_n_ops(c->job); i++)
        left = job_op_at(c->job, i)->kind == JOB_SEND && !g_hash_table_contains(listed, GUINT_TO_POINTER(i + 1));
    return left;
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* Vertex: egress port x 8 + priority group at the other end. */
typedef uint32_t vertex;

static uint32_t pg_at(const struct graph *g, uint32_t port, uint32_t code)
{
    return survey_profile(g->c->survey, g->c->graph->ports[port].peer)->pg_of_code[code];
}

static bool has_pair(const struct graph *g, uint32_t code, size_t bit)
{
    const uint64_t *all = g->bits[ALL_CODES], *own = g->bits[code];
    return (all && (all[bit / 64] >> bit % 64 & 1)) || (own && (own[bit / 64] >> bit % 64 & 1));
}

/* The successor of V at or after *AT (a position among egress ports x codes); false: none. Moves *AT behind it. */
static bool next_vertex(const struct graph *g, vertex v, uint32_t *at, vertex *out)
{
    const struct net_graph *graph = g->c->graph;
    uint32_t in = graph->ports[v / NET_CLASSES].peer;
    const struct net_node *node = &graph->nodes[graph->ports[in].node];
    for (; *at < node->n_ports * NET_CLASSES; (*at)++) {
        uint32_t port = node->first_port + *at / NET_CLASSES, code = *at % NET_CLASSES;
        if (!(g->live[v / NET_CLASSES] & g->live[port] & 1u << code) || pg_at(g, v / NET_CLASSES, code) != v % NET_CLASSES)
            continue;
        if (!has_pair(g, code, g->row[in] + g->local[port]))
            continue;
        *out = port * NET_CLASSES + pg_at(g, port, code);
        (*at)++;
        return true;
    }
    return false;
}

/* Tarjan's strongly connected components, without recursion. */
struct search {
    uint32_t *index, *low;    /* by vertex; index 0: not visited */
    uint8_t *on_stack;
    uint32_t n_visited;
    GArray *stack, *frames;
};
struct frame { vertex v; uint32_t at; };

static void enter(struct search *s, vertex v)
{
    struct frame frame = {v, 0};
    s->index[v] = s->low[v] = ++s->n_visited;
    s->on_stack[v] = 1;
    g_array_append_val(s->stack, v);
    g_array_append_val(s->frames, frame);
}

/* V roots a component: takes it off the stack into PART. */
static void pop_component(struct search *s, vertex v, GArray *part)
{
    vertex w;
    g_array_set_size(part, 0);
    do {
        w = g_array_index(s->stack, vertex, s->stack->len - 1);
        g_array_set_size(s->stack, s->stack->len - 1);
        s->on_stack[w] = 0;
        g_array_append_val(part, w);
    } while (w != v);
}

typedef void (*ring_fn)(struct graph *g, GArray *ring, void *user);

/* Shortest way from the lowest vertex of PART back to itself inside PART, as vertices, into RING. */
static void shortest_ring(const struct graph *g, const GArray *part, GArray *ring)
{
    g_autoptr(GHashTable) before = g_hash_table_new(NULL, NULL), inside = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(vertex));
    vertex start = UINT32_MAX, w = 0;
    for (guint i = 0; i < part->len; i++) {
        vertex v = g_array_index(part, vertex, i);
        start = MIN(start, v);
        g_hash_table_add(inside, GUINT_TO_POINTER(v + 1));
    }
    g_array_append_val(queue, start);
    for (guint i = 0; i < queue->len; i++) {
        vertex v = g_array_index(queue, vertex, i);
        for (uint32_t at = 0; next_vertex(g, v, &at, &w);) {
            if (w == start) {
                for (; v != start; v = GPOINTER_TO_UINT(g_hash_table_lookup(before, GUINT_TO_POINTER(v + 1))) - 1)
                    g_array_prepend_val(ring, v);
                g_array_prepend_val(ring, start);
                return;
            }
            if (!g_hash_table_contains(inside, GUINT_TO_POINTER(w + 1)) || g_hash_table_contains(before, GUINT_TO_POINTER(w + 1)))
                continue;
            g_hash_table_insert(before, GUINT_TO_POINTER(w + 1), GUINT_TO_POINTER(v + 1));
            g_array_append_val(queue, w);
        }
    }
}

static void close_component(struct graph *g, struct search *s, vertex v, GArray *part, ring_fn fn, void *user)
{
    pop_component(s, v, part);
    if (part->len < 2)
        return;
    g_autoptr(GArray) ring = g_array_new(FALSE, FALSE, sizeof(vertex));
    shortest_ring(g, part, ring);
    fn(g, ring, user);
}

static void search_from(struct graph *g, struct search *s, vertex root, GArray *part, ring_fn fn, void *user)
{
    enter(s, root);
    while (s->frames->len > 0) {
        struct frame *top = &g_array_index(s->frames, struct frame, s->frames->len - 1);
        vertex v = top->v, w;
        if (next_vertex(g, v, &top->at, &w)) {
            if (s->index[w] == 0)
                enter(s, w);
            else if (s->on_stack[w])
                s->low[v] = MIN(s->low[v], s->index[w]);
            continue;
        }
        g_array_set_size(s->frames, s->frames->len - 1);
        if (s->low[v] == s->index[v])
            close_component(g, s, v, part, fn, user);
        if (s->frames->len > 0) {
            vertex parent = g_array_index(s->frames, struct frame, s->frames->len - 1).v;
            s->low[parent] = MIN(s->low[parent], s->low[v]);
        }
    }
}

static void each_ring(struct graph *g, ring_fn fn, void *user)
{
    gsize n = (gsize)g->c->graph->n_ports * NET_CLASSES;
    g_autofree uint32_t *index = g_new0(uint32_t, MAX(n, 1)), *low = g_new0(uint32_t, MAX(n, 1));
    g_autofree uint8_t *on_stack = g_malloc0(MAX(n, 1));
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(vertex)), frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
    g_autoptr(GArray) part = g_array_new(FALSE, FALSE, sizeof(vertex));
    struct search s = {index, low, on_stack, 0, stack, frames};
    for (uint32_t p = 0; p < g->c->graph->n_ports; p++)
        for (uint32_t code = 0; code < NET_CLASSES; code++)
            if ((g->live[p] >> code & 1) && index[p * NET_CLASSES + pg_at(g, p, code)] == 0)
                search_from(g, &s, p * NET_CLASSES + pg_at(g, p, code), part, fn, user);
}

/* ---- words ------------------------------------------------------------------------------------- */

struct telling { uint32_t n; const char *after; /* name of the fault; NULL: none */ };

static const char *sender(const struct graph *g, vertex v)
{
    return g->c->fabric->names[g->c->graph->ports[v / NET_CLASSES].node];
}

static char *ring_text(const struct graph *g, const GArray *ring)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < ring->len; i++)
        g_string_append_printf(text, "%s -> ", sender(g, g_array_index(ring, vertex, i)));
    return g_string_free(g_string_append(text, sender(g, g_array_index(ring, vertex, 0))), FALSE);
}

static const char *buffer_name(const struct graph *g) { return g->c->infiniband ? "VL" : "priority group"; }

static void add_ring_terms(const struct graph *g, struct check_finding *finding, const GArray *ring)
{
    for (guint i = 0; i < ring->len; i++) {
        vertex v = g_array_index(ring, vertex, i), w = g_array_index(ring, vertex, (i + 1) % ring->len);
        g_autofree char *name = g_strdup_printf("%s -> %s", sender(g, v), sender(g, w));
        const char *then = sender(g, g_array_index(ring, vertex, (i + 2) % ring->len));
        check_term(finding, name, "%s %u at %s waits for the link %s -> %s", buffer_name(g), v % NET_CLASSES, sender(g, w), sender(g, w), then);
        check_at_port(finding, g->c, v / NET_CLASSES);
    }
}

static void note_unwatched(const struct graph *g, const GArray *ring)
{
    struct check *c = g->c;
    for (guint i = 0; i < ring->len; i++) {
        uint32_t port = g_array_index(ring, vertex, i) / NET_CLASSES;
        const struct pfcwd_params *wd = CHECK_PORT(c, NET_PARAMS_PFCWD, port);
        if (wd->enabled)
            continue;
        struct check_finding *finding = check_find(c, "deadlock-unwatched", CHECK_WARNING, "a link of a possible deadlock has no PFC watchdog: nothing would end it");
        if (check_is_new(finding))
            check_change_key(finding, c, NET_PARAMS_PFCWD, port, NET_SITE_ANY_CLASS, "enabled", "true");
        check_at_port(finding, c, port);
    }
}

static void tell_ring(struct graph *g, GArray *ring, void *user)
{
    struct telling *telling = user;
    if (telling->n++ >= MAX_RINGS)
        return;
    uint32_t pg = g_array_index(ring, vertex, 0) % NET_CLASSES;
    g_autofree char *text = ring_text(g, ring);
    struct check_finding *finding =
        telling->after ? check_find(g->c, "buffer-cycle-after-fault", CHECK_WARNING, "when [fault:%s] holds, lossless buffers wait in a ring, %s %u: %s",
                                    telling->after, buffer_name(g), pg, text)
                       : check_find(g->c, "buffer-cycle", CHECK_ERROR, "lossless buffers wait for each other in a ring, %s %u: %s", buffer_name(g), pg, text);
    add_ring_terms(g, finding, ring);
    check_change(finding, g->c->infiniband ? "routes that go up and down once (routing.engine updn or ftree)"
                                                : "routes that go up and down once (no valley), or another class after the turn, or this class lossy");
    if (!telling->after && g->c->routing->mode == ROUTING_STATIC)
        check_change_run_key(finding, g->c, "routing", "mode", "ecmp");
    if (!g->c->infiniband)
        note_unwatched(g, ring);
}

static void search_rings(struct graph *g, const char *after)
{
    struct telling telling = {0, after};
    each_ring(g, tell_ring, &telling);
    if (telling.n > MAX_RINGS)
        check_find(g->c, "buffer-cycle", CHECK_ERROR, "there are %u more groups of links with such rings", telling.n - MAX_RINGS);
}

/* ---- routes after faults --------------------------------------------------------------------- */

static void set_down(const struct check *c, uint64_t *down, uint32_t port)
{
    uint32_t peer = c->graph->ports[port].peer;
    down[port / 64] |= UINT64_C(1) << port % 64;
    if (peer != NET_NONE)
        down[peer / 64] |= UINT64_C(1) << peer % 64;
}

static bool takes_links_down(const struct net_fault *fault)
{
    return fault->params->kind == FAULT_LINK_DOWN || fault->params->kind == FAULT_SWITCH_REBOOT || fault->params->kind == FAULT_NIC_PORT_DOWN;
}

static void check_after_faults(struct graph *g)
{
    struct check *c = g->c;
    g_autofree uint64_t *down = g_new0(uint64_t, c->graph->n_ports / 64 + 1);
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < c->faults->len; i++) {
        const struct net_fault *fault = &g_array_index(c->faults, struct net_fault, i);
        if (!takes_links_down(fault) || g_hash_table_size(done) >= MAX_FAULT_STATES || !g_hash_table_add(done, (gpointer)(uintptr_t)fault->name))
            continue;
        memset(down, 0, (c->graph->n_ports / 64 + 1) * sizeof *down);
        for (guint k = 0; k < c->faults->len; k++) { /* all places of the item */
            const struct net_fault *same = &g_array_index(c->faults, struct net_fault, k);
            const struct net_node *node = &c->graph->nodes[same->node];
            if (strcmp(same->name, fault->name) != 0)
                continue;
            for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
                if (same->port == NET_NONE || same->port == p)
                    set_down(c, down, p);
        }
        g_clear_pointer(&g->bits[ALL_CODES], g_free);
        g->down = down;
        add_tables(g);
        search_rings(g, fault->name);
    }
    g->down = NULL;
}

void check_cycles(struct check *c)
{
    const struct net_graph *graph = c->graph;
    g_autofree uint32_t *local = g_new0(uint32_t, MAX(graph->n_ports, 1)), *n_local = g_new0(uint32_t, MAX(graph->n_nodes, 1));
    g_autofree size_t *row = g_new0(size_t, MAX(graph->n_ports, 1));
    g_autofree uint8_t *live = g_malloc0(MAX(graph->n_ports, 1));
    struct graph g = {.c = c, .local = local, .n_local = n_local, .row = row, .live = live};
    if (!c->pausable)
        return;
    number_links(&g);
    find_live(&g);
    bool by_tables = add_static(&g);
    if (by_tables)
        add_tables(&g);
    search_rings(&g, NULL);
    if (by_tables)
        check_after_faults(&g);
    for (uint32_t layer = 0; layer <= ALL_CODES; layer++)
        g_free(g.bits[layer]);
}
