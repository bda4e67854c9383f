/* lft_minhop.c - the engines that give each switch, LID by LID, the least loaded of the ports that lead there in the fewest
 * hops: minhop over all ways, updn over those that go up and then down (tiers of the fabric), which cannot wait for each other
 * in a ring.
 */
#include "topologies/lft_engine.h"

#include "topologies/fabric_priv.h"
#include <stdlib.h>
#include <string.h>

#define FAR UINT16_MAX

struct search {
    const struct lft_net *net;
    uint16_t *down; /* by switch: hops to the target's switch going down alone */
    uint16_t *any;  /* hops going up first */
    uint32_t *queue;
};

/* Hops from every switch to SW over groups that lead, seen from the far end, down (or over all groups). */
static void spread(struct search *s, uint16_t *hops, bool down_alone, uint32_t sw)
{
    const struct lft_net *net = s->net;
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < net->n_switches; i++)
        hops[i] = FAR;
    hops[sw] = 0;
    s->queue[tail++] = sw;
    while (head < tail) {
        uint32_t at = s->queue[head++];
        for (uint32_t k = net->group_first[at]; k < net->group_first[at + 1]; k++) {
            const struct lft_group *g = &net->group[k];
            if (hops[g->to] != FAR || (down_alone && !g->up))
                continue;
            hops[g->to] = (uint16_t)(hops[at] + 1);
            s->queue[tail++] = g->to;
        }
    }
}

/* Switches without a way down go up to one that has a way; tiers bound how far. */
static void climb(struct search *s)
{
    const struct lft_net *net = s->net;
    memcpy(s->any, s->down, net->n_switches * sizeof *s->any);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < net->n_switches; i++)
            for (uint32_t k = net->group_first[i]; s->down[i] == FAR && k < net->group_first[i + 1]; k++) {
                const struct lft_group *g = &net->group[k];
                if (!g->up || s->any[g->to] == FAR || s->any[g->to] + 1 >= s->any[i])
                    continue;
                s->any[i] = (uint16_t)(s->any[g->to] + 1);
                changed = true;
            }
    }
}

/* The port of switch I towards the target: least loaded of those that lead nearer. LOAD by index into net.port; NULL: the first one. */
static uint32_t nearest(const struct search *s, bool updn, uint32_t i, uint32_t *load)
{
    const struct lft_net *net = s->net;
    uint32_t best = NET_NONE;
    bool down = updn && s->down[i] != FAR;
    const uint16_t *hops = updn && !down ? s->any : s->down;
    for (uint32_t k = net->group_first[i]; k < net->group_first[i + 1]; k++) {
        const struct lft_group *g = &net->group[k];
        if (hops[g->to] == FAR || hops[g->to] + 1 != hops[i] || (updn && down == g->up))
            continue;
        for (uint32_t p = g->first; p < g->first + g->n; p++)
            if (best == NET_NONE || (load && (load[p] < load[best] || (load[p] == load[best] && net->port[p] < net->port[best]))))
                best = p;
    }
    if (best != NET_NONE && load)
        load[best]++;
    return best;
}

static void search(struct search *s, bool updn, uint32_t to)
{
    spread(s, s->down, updn, to);
    if (updn)
        climb(s);
}

/* The switch's own LID, for management: counts nothing. */
static void route_switch(struct search *s, struct lft *lft, bool updn, uint32_t to)
{
    const struct lft_net *net = s->net;
    search(s, updn, to);
    for (uint32_t i = 0; i < net->n_switches; i++) {
        uint32_t best = i == to ? NET_NONE : nearest(s, updn, i, NULL);
        if (best != NET_NONE)
            lft_set(lft, net->node_of[i], lft_switch_lid(net, to), lft_number(net, net->port[best]));
    }
    lft_set(lft, net->node_of[to], lft_switch_lid(net, to), 0);
}

static bool route_nic(struct search *s, struct lft *lft, bool updn, const struct lft_target *nic, GError **err)
{
    const struct lft_net *net = s->net;
    for (uint32_t i = 0; i < net->n_switches; i++) {
        uint32_t best = i == nic->sw ? NET_NONE : nearest(s, updn, i, net->port_down);
        /* A spine may have no way up and down to another tree's NIC; a leaf must. */
        if (best != NET_NONE)
            lft_set(lft, net->node_of[i], nic->lid, lft_number(net, net->port[best]));
        else if (i != nic->sw && net->nic_first[i] != net->nic_first[i + 1])
            return fabric_fail(err, "no way up and down from %s to %s", net->fabric->names[net->node_of[i]],
                               net->fabric->names[net->node_of[nic->sw]]);
    }
    lft_set(lft, net->node_of[nic->sw], nic->lid, nic->port);
    return true;
}

static int compare_lids(const void *a, const void *b)
{
    const struct lft_target *x = a, *y = b;
    return (x->lid > y->lid) - (x->lid < y->lid);
}

static bool route(const struct lft_net *net, struct lft *lft, bool updn, GError **err)
{
    struct search s = {net, g_new(uint16_t, MAX(net->n_switches, 1)), g_new(uint16_t, MAX(net->n_switches, 1)), g_new(uint32_t, MAX(net->n_switches, 1))};
    g_autofree struct lft_target *nics = g_memdup2(net->nic, net->n_nics * sizeof *nics);
    bool ok = true;
    for (uint32_t to = 0; to < net->n_switches; to++)
        route_switch(&s, lft, updn, to);
    if (net->n_nics > 1)
        qsort(nics, net->n_nics, sizeof *nics, compare_lids);
    for (uint32_t t = 0; ok && t < net->n_nics; t++) {
        if (t == 0 || nics[t].sw != nics[t - 1].sw)
            search(&s, updn, nics[t].sw);
        ok = route_nic(&s, lft, updn, &nics[t], err);
    }
    g_free(s.down);
    g_free(s.any);
    g_free(s.queue);
    return ok;
}

bool lft_minhop(const struct lft_net *net, struct lft *lft, GError **err) { return route(net, lft, false, err); }
bool lft_updn(const struct lft_net *net, struct lft *lft, GError **err) { return route(net, lft, true, err); }
