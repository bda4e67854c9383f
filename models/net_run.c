/* net_run.c - runs a net to its end, and recognises the ends that are none: deadlock, failed queue pairs, stuck work. */
#include "models/ib.h"

struct watch {
    struct net *net;
    net_hook_fn hook;
    void *hook_user;
    sim_ps deadlock_after_ps, checked_ps, window_ps; /* of the last check, and of the last window */
    uint64_t progress;
    bool ended; /* by the hook */
};

static uint64_t packets_waiting(const struct net *net)
{
    uint64_t sent = 0, gone = 0;
    for (uint32_t v = 0; v < net->n_vertices; v++)
        for (int c = 0; c < NET_CLASSES; c++) {
            const struct ledger *l = &net->vertex[v].ledger[c];
            sent += l->sent_pkts;
            gone += l->received_pkts + l->dropped_pkts + l->lost_pkts;
        }
    return sent - gone;
}

static uint64_t progress(const struct net *net)
{
    uint64_t n = __atomic_load_n(&net->ops_done, __ATOMIC_RELAXED);
    for (uint32_t v = 0; v < net->n_vertices; v++)
        n += net->vertex[v].rx_data_pkts;
    return n;
}

/* ---- deadlock: a ring of paused queues, each waiting for the next ------------------ */
struct wait_graph {
    const struct net *net;
    GHashTable *next; /* (port << 3 | class) + 1 -> GArray of uint32_t */
    GHashTable *seen; /* -> 1 on the stack, 2 done */
    GArray *stack;
};

static void add_wait(struct wait_graph *w, uint32_t from, uint32_t to)
{
    GArray *list = g_hash_table_lookup(w->next, GUINT_TO_POINTER(from + 1));
    if (!list) {
        list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_hash_table_insert(w->next, GUINT_TO_POINTER(from + 1), list);
    }
    for (guint i = 0; i < list->len; i++)
        if (g_array_index(list, uint32_t, i) == to)
            return;
    g_array_append_val(list, to);
}

/* The queues at the other end of IN's link that stop for its priority group PG wait for queue C of port P. */
static void add_waits(struct wait_graph *w, uint32_t in, uint32_t pg, uint32_t to)
{
    const struct port_hot *port = &w->net->port[in];
    const uint8_t *queue_of_priority = w->net->port[port->channel].profile->queue_of_priority;
    for (uint32_t left = port->profile->priorities_of_pg[pg]; left; left &= left - 1)
        add_wait(w, port->channel << 3 | (uint32_t)queue_of_priority[__builtin_ctz(left)], to);
}

/* InfiniBand: a VL that waits for credits holds the buffer in which its packets came, and the VL before it may wait for that. */
static void collect_credit_waits(struct wait_graph *w)
{
    const struct net *net = w->net;
    for (uint32_t p = 0; p < net->n_ports; p++) {
        const struct net_vertex *v = &net->vertex[net->cold[p].node];
        for (uint32_t left = v->is_switch ? net->port[p].stalled & IB_VLS : 0; left; left &= left - 1) {
            uint32_t vl = (uint32_t)__builtin_ctz(left);
            for (uint32_t at = net->queue[p][vl].head; at != NET_NONE && (net->port[p].nonempty >> vl & 1); at = v->slab.slot[at].next) {
                uint32_t before = net->port[v->slab.slot[at].in_port].channel;
                if (net->port[before].stalled >> vl & 1)
                    add_wait(w, before << 3 | vl, p << 3 | vl);
            }
        }
    }
}

/* Frames queued at a paused egress hold the buffer of their ingress, whose peer is paused for it. */
static void collect_waits(struct wait_graph *w)
{
    const struct net *net = w->net;
    if (net->ib) {
        collect_credit_waits(w);
        return;
    }
    for (uint32_t p = 0; p < net->n_ports; p++) {
        const struct net_vertex *v = &net->vertex[net->cold[p].node];
        if (!v->is_switch)
            continue;
        for (uint32_t c = 0; c < NET_CLASSES; c++) {
            if (!(net->port[p].paused & net->port[p].nonempty & 1u << c))
                continue;
            for (uint32_t at = net->queue[p][c].head; at != NET_NONE; at = v->slab.slot[at].next) {
                const struct slot *slot = &v->slab.slot[at];
                const struct port_hot *in = &net->port[slot->in_port];
                uint32_t pg = in->profile->pg_of_code[packet_code(slot->c)];
                if (in->xoff >> pg & 1)
                    add_waits(w, slot->in_port, pg, p << 3 | c);
            }
        }
    }
}

static bool visit(struct wait_graph *w, uint32_t at, uint32_t *entry)
{
    g_hash_table_insert(w->seen, GUINT_TO_POINTER(at + 1), GINT_TO_POINTER(1));
    g_array_append_val(w->stack, at);
    GArray *list = g_hash_table_lookup(w->next, GUINT_TO_POINTER(at + 1));
    for (guint i = 0; list && i < list->len; i++) {
        uint32_t to = g_array_index(list, uint32_t, i);
        int state = GPOINTER_TO_INT(g_hash_table_lookup(w->seen, GUINT_TO_POINTER(to + 1)));
        if (state == 1) {
            *entry = to;
            return true;
        }
        if (state == 0 && visit(w, to, entry))
            return true;
    }
    g_hash_table_insert(w->seen, GUINT_TO_POINTER(at + 1), GINT_TO_POINTER(2));
    g_array_set_size(w->stack, w->stack->len - 1);
    return false;
}

static void describe_ring(struct net *net, const GArray *stack, uint32_t entry)
{
    guint i = 0;
    while (g_array_index(stack, uint32_t, i) != entry)
        i++;
    net->deadlock = g_string_new(NULL);
    for (; i < stack->len; i++) {
        uint32_t p = g_array_index(stack, uint32_t, i) >> 3, c = g_array_index(stack, uint32_t, i) & 7;
        const struct port_cold *cold = &net->cold[p], *peer = &net->cold[net->port[p].channel];
        g_autofree char *since = units_human_time(net->ib ? net->ib->port[p].stall_since_ps[c] : cold->pause_start_ps[c]);
        g_string_append_printf(net->deadlock, net->ib ? "%s -> %s VL %u without credits since %s, %u B waiting\n"
                                                      : "%s -> %s class %u paused since %s, %u B waiting\n",
                               net->config.node_names[net->graph->ports[cold->graph_port].node],
                               net->config.node_names[net->graph->ports[peer->graph_port].node], c, since,
                               net->queue[p][c].bytes);
    }
}

static bool find_deadlock(struct net *net)
{
    struct wait_graph w = {net, g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref),
                           g_hash_table_new(NULL, NULL), g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    collect_waits(&w);
    bool found = false;
    uint32_t entry = 0;
    for (uint32_t p = 0; p < net->n_ports && !found; p++)
        for (uint32_t c = 0; c < NET_CLASSES && !found; c++) {
            uint32_t at = p << 3 | c;
            if (g_hash_table_contains(w.next, GUINT_TO_POINTER(at + 1)) &&
                !g_hash_table_contains(w.seen, GUINT_TO_POINTER(at + 1)))
                found = visit(&w, at, &entry);
        }
    if (found)
        describe_ring(net, w.stack, entry);
    g_hash_table_unref(w.next);
    g_hash_table_unref(w.seen);
    g_array_free(w.stack, TRUE);
    return found;
}

/* No event for deadlock_after, or events (refreshed pauses) but no progress; and a ring to blame. */
static bool is_deadlocked(struct watch *watch, sim_ps now_ps)
{
    struct net *net = watch->net;
    sim_ps idle_from_ps = watch->window_ps;
    watch->window_ps = now_ps;
    if (now_ps - idle_from_ps >= watch->deadlock_after_ps) {
        if (!find_deadlock(net))
            return false;
        net->ended_ps = idle_from_ps + watch->deadlock_after_ps;
        return true;
    }
    if (now_ps - watch->checked_ps < watch->deadlock_after_ps)
        return false;
    uint64_t p = progress(net);
    bool still = p == watch->progress;
    watch->progress = p;
    watch->checked_ps = now_ps;
    if (!still || !find_deadlock(net))
        return false;
    net->ended_ps = now_ps;
    return true;
}

static bool on_window(void *user, sim_ps now_ps)
{
    struct watch *watch = user;
    struct net *net = watch->net;
    if (watch->hook && !watch->hook(watch->hook_user, net, now_ps)) {
        watch->ended = true;
        return false;
    }
    if (__atomic_load_n(&net->ops_done, __ATOMIC_RELAXED) == job_n_ops(net->job) && packets_waiting(net) == 0)
        return false;
    if (__atomic_load_n(&net->failed_qps, __ATOMIC_RELAXED) > 0) { /* its messages will never be done */
        net->verdict = NET_STUCK;
        net->ended_ps = MIN(now_ps, watch->window_ps + net->core->window_ps);
        return false;
    }
    if (is_deadlocked(watch, now_ps)) {
        net->verdict = NET_DEADLOCK;
        return false;
    }
    return true;
}

enum net_verdict net_run(struct net *net, sim_ps until_ps, sim_ps deadlock_after_ps, int n_threads, net_hook_fn hook,
                         void *hook_user)
{
    struct watch watch = {.net = net, .hook = hook, .hook_user = hook_user, .deadlock_after_ps = deadlock_after_ps};
    net->verdict = NET_UNFINISHED;
    net->core->on_window = on_window;
    net->core->on_window_user = &watch;
    sim_core_run(net->core, until_ps, n_threads);
    net->core->on_window = NULL;
    if (net->verdict == NET_DEADLOCK || net->verdict == NET_STUCK)
        return net->verdict;
    bool idle = sim_core_next_ps(net->core) == SIM_PS_MAX;
    if (net->ops_done == job_n_ops(net->job))
        net->verdict = NET_FINISHED;
    else if (idle && !watch.ended)
        net->verdict = find_deadlock(net) ? NET_DEADLOCK : NET_STUCK;
    return net->verdict;
}

char *net_deadlock_text(const struct net *net)
{
    return g_strdup(net->deadlock ? net->deadlock->str : "");
}
