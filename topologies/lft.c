/* lft.c - tables: storage, walking them, judging them. */
#include "topologies/lft.h"

#include "topologies/fabric_priv.h"
#include <string.h>

struct lft *lft_new(const struct fabric *fabric)
{
    struct lft *lft = g_new0(struct lft, 1);
    lft->n_nodes = fabric->graph.n_nodes;
    lft->max_lid = fabric->subnet->max_lid;
    size_t n = (size_t)lft->n_nodes * ((size_t)lft->max_lid + 1);
    lft->port = g_malloc(MAX(n, 1));
    memset(lft->port, LFT_NONE, n);
    return lft;
}

void lft_free(struct lft *lft)
{
    if (!lft)
        return;
    g_free(lft->port);
    g_free(lft);
}

/* Graph port of NODE whose number on the device is NUMBER; NET_NONE. */
static uint32_t port_numbered(const struct fabric *fabric, uint32_t node, uint32_t number)
{
    const struct net_node *n = &fabric->graph.nodes[node];
    const uint32_t *numbers = fabric->subnet->port_number;
    if (number >= 1 && number <= n->n_ports && numbers[n->first_port + number - 1] == number)
        return n->first_port + number - 1;
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++)
        if (numbers[p] == number)
            return p;
    return NET_NONE;
}

int lft_path(const struct lft *lft, const struct fabric *fabric, uint32_t src_port, uint32_t dst_port, uint32_t *ports, int max,
             GError **err)
{
    const struct net_graph *g = &fabric->graph;
    uint32_t lid = fabric->subnet->port_lid[dst_port], at = src_port;
    int n = 0;
    while (n < max) {
        ports[n++] = at;
        uint32_t peer = g->ports[at].peer;
        if (peer == dst_port)
            return n;
        if (peer == NET_NONE || g->nodes[g->ports[peer].node].kind != NET_SWITCH) {
            fabric_fail(err, "the way from %s to LID %u (%s) ends at %s", fabric->names[g->ports[src_port].node], lid,
                        fabric->names[g->ports[dst_port].node], peer == NET_NONE ? "an empty port" : fabric->names[g->ports[peer].node]);
            return -1;
        }
        uint32_t node = g->ports[peer].node, number = lft_get(lft, node, lid), next = port_numbered(fabric, node, number);
        if (number == LFT_NONE || next == NET_NONE) {
            fabric_fail(err, "%s has no port for LID %u (%s)", fabric->names[node], lid, fabric->names[g->ports[dst_port].node]);
            return -1;
        }
        at = next;
    }
    fabric_fail(err, "the way from %s to LID %u (%s) has more than %d links: the tables loop", fabric->names[g->ports[src_port].node], lid,
                fabric->names[g->ports[dst_port].node], max);
    return -1;
}

int lft_rank_path(const struct lft *lft, const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t entropy, uint32_t *ports,
                  int max, GError **err)
{
    uint32_t first[2], n[2];
    fabric_nic_ports(fabric, src, &first[0], &n[0]);
    fabric_nic_ports(fabric, dst, &first[1], &n[1]);
    g_autoptr(GError) last = NULL;
    for (uint32_t i = 0; i < n[0]; i++) {
        uint32_t k = (entropy + i) % n[0], from = first[0] + k, to = first[1] + k % MAX(n[1], 1);
        if (n[1] == 0 || !fabric->subnet->port_lid[from] || !fabric->subnet->port_lid[to])
            continue;
        g_clear_error(&last);
        int hops = lft_path(lft, fabric, from, to, ports, max, &last);
        if (hops >= 0)
            return hops;
    }
    if (last)
        g_propagate_error(err, g_steal_pointer(&last));
    else
        fabric_fail(err, "no plugged port at the NICs of rank %u or rank %u", src, dst);
    return -1;
}

/* ---- judging -------------------------------------------------------------------- */
#define MAX_PATH 64

struct judge {
    const struct lft *lft;
    const struct fabric *fabric;
    GArray *nics;          /* uint32_t: plugged ports of hosts, in order */
    GHashTable *next;      /* graph port << 32 | the one after it -> itself: links that follow each other */
    uint32_t *load;        /* by graph port */
    uint32_t *seen_at;     /* [port]: shift that LOAD is of, plus one */
    struct lft_quality *out;
};

static bool between_switches(const struct net_graph *g, uint32_t port)
{
    uint32_t peer = g->ports[port].peer;
    return peer != NET_NONE && g->nodes[g->ports[port].node].kind == NET_SWITCH && g->nodes[g->ports[peer].node].kind == NET_SWITCH;
}

static bool walk_shift(struct judge *j, uint32_t shift, GError **err)
{
    const struct net_graph *g = &j->fabric->graph;
    uint32_t ports[MAX_PATH];
    for (uint32_t i = 0; i < j->nics->len; i++) {
        uint32_t src = g_array_index(j->nics, uint32_t, i), dst = g_array_index(j->nics, uint32_t, (i + shift) % j->nics->len);
        if (g->ports[src].node == g->ports[dst].node)
            continue;
        int n = lft_path(j->lft, j->fabric, src, dst, ports, MAX_PATH, err);
        if (n < 0)
            return false;
        j->out->n_paths++;
        j->out->max_hops = MAX(j->out->max_hops, (uint64_t)n);
        for (int h = 1; h < n; h++) {
            if (!between_switches(g, ports[h]))
                continue;
            j->load[ports[h]] = j->seen_at[ports[h]] == shift ? j->load[ports[h]] + 1 : 1;
            j->seen_at[ports[h]] = shift;
            j->out->shift_worst = MAX(j->out->shift_worst, j->load[ports[h]]);
            if (h > 1 && between_switches(g, ports[h - 1])) {
                gint64 *pair = g_new(gint64, 1);
                *pair = (gint64)((uint64_t)ports[h - 1] << 32 | ports[h]);
                g_hash_table_add(j->next, pair);
            }
        }
    }
    return true;
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Depth first over links; a link met again on the stack closes a ring. */
static void find_ring(struct judge *j)
{
    const struct net_graph *g = &j->fabric->graph;
    g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(uint64_t)), stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, j->next);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        uint64_t pair = (uint64_t)*(gint64 *)key;
        g_array_append_val(pairs, pair);
    }
    if (pairs->len > 1)
        qsort(pairs->data, pairs->len, sizeof(uint64_t), compare_pairs);
    g_autofree uint32_t *first = g_new0(uint32_t, (gsize)g->n_ports + 1), *at = g_new0(uint32_t, MAX(g->n_ports, 1));
    g_autofree uint8_t *state = g_malloc0(MAX(g->n_ports, 1));
    for (guint i = 0; i < pairs->len; i++)
        first[(g_array_index(pairs, uint64_t, i) >> 32) + 1]++;
    for (uint32_t p = 0; p < g->n_ports; p++)
        first[p + 1] += first[p];
    j->out->deadlock_free = true;
    for (uint32_t root = 0; root < g->n_ports && j->out->deadlock_free; root++) {
        if (state[root])
            continue;
        g_array_append_val(stack, root);
        while (stack->len > 0 && j->out->deadlock_free) {
            uint32_t p = g_array_index(stack, uint32_t, stack->len - 1);
            if (state[p] == 0)
                at[p] = first[p];
            state[p] = 1;
            if (at[p] == first[p + 1]) {
                state[p] = 2;
                g_array_set_size(stack, stack->len - 1);
                continue;
            }
            uint32_t q = (uint32_t)g_array_index(pairs, uint64_t, at[p]++);
            if (state[q] == 0)
                g_array_append_val(stack, q);
            j->out->deadlock_free = state[q] != 1;
            if (state[q] != 1)
                continue;
            g_autoptr(GString) text = g_string_new(NULL);
            guint i = 0;
            while (g_array_index(stack, uint32_t, i) != q)
                i++;
            for (; i < stack->len; i++) {
                uint32_t link = g_array_index(stack, uint32_t, i);
                g_string_append_printf(text, "%s%s -> %s", text->len ? ", " : "", j->fabric->names[g->ports[link].node],
                                       j->fabric->names[g->ports[g->ports[link].peer].node]);
            }
            j->out->ring = g_string_free(g_steal_pointer(&text), FALSE);
        }
    }
}

static bool is_leaf(const struct net_graph *g, uint32_t node)
{
    for (uint32_t p = g->nodes[node].first_port; p < g->nodes[node].first_port + g->nodes[node].n_ports; p++)
        if (g->ports[p].peer != NET_NONE && g->nodes[g->ports[g->ports[p].peer].node].kind == NET_HOST)
            return g->nodes[node].kind == NET_SWITCH;
    return false;
}

/* How many NIC ports each uplink of a leaf serves. */
static void count_uplinks(struct judge *j)
{
    const struct net_graph *g = &j->fabric->graph;
    j->out->up_min = UINT32_MAX;
    for (uint32_t node = 0; node < g->n_nodes; node++) {
        if (!is_leaf(g, node))
            continue;
        g_autofree uint32_t *routes = g_new0(uint32_t, MAX(g->nodes[node].n_ports, 1));
        for (uint32_t i = 0; i < j->nics->len; i++) {
            uint32_t lid = j->fabric->subnet->port_lid[g_array_index(j->nics, uint32_t, i)];
            uint32_t port = port_numbered(j->fabric, node, lft_get(j->lft, node, lid));
            if (port != NET_NONE)
                routes[port - g->nodes[node].first_port]++;
        }
        for (uint32_t k = 0; k < g->nodes[node].n_ports; k++) {
            uint32_t port = g->nodes[node].first_port + k;
            if (!between_switches(g, port))
                continue;
            j->out->up_min = MIN(j->out->up_min, routes[k]);
            j->out->up_max = MAX(j->out->up_max, routes[k]);
        }
    }
    if (j->out->up_min == UINT32_MAX)
        j->out->up_min = 0;
}

bool lft_judge(const struct lft *lft, const struct fabric *fabric, struct lft_quality *out, GError **err)
{
    const struct net_graph *g = &fabric->graph;
    struct judge j = {lft, fabric, g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                      g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL), g_new0(uint32_t, MAX(g->n_ports, 1)),
                      g_new0(uint32_t, MAX(g->n_ports, 1)), out};
    *out = (struct lft_quality){0};
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (fabric->subnet->port_lid[p])
            g_array_append_val(j.nics, p);
    bool ok = true;
    for (uint32_t shift = 1; ok && shift < j.nics->len; shift++)
        ok = walk_shift(&j, shift, err);
    if (ok) {
        count_uplinks(&j);
        find_ring(&j);
    }
    g_array_free(j.nics, TRUE);
    g_hash_table_unref(j.next);
    g_free(j.load);
    g_free(j.seen_at);
    return ok;
}
