/* lft_ftree.c - fat-tree routing: one way down for each target, counted, so that every cyclic shift is free of contention.
 *
 * Target by target, leaf by leaf in order: from the target's leaf the route climbs over the group that has carried the fewest
 * routes down, and at each switch it reaches, all other switches below are told to come up to it, over the link of their group
 * that has carried the fewest routes up. Leaves with fewer NICs than others are filled with dummies, so that the counters of all
 * leaves go in step. (OpenSM's ftree engine works to the same rules.)
 */
#include "topologies/lft_engine.h"

#include "topologies/fabric_priv.h"

#define DUMMY NET_NONE
#define MAX_TIERS 8

struct way {
    struct lft_net *net;
    struct lft *lft;
    uint32_t lid;  /* DUMMY: counters alone */
    bool counts;   /* of a NIC; routes to switches are not counted */
    uint32_t *reached; /* by switch: number of the last target for which it has an entry */
    uint32_t target;
};

static bool has_entry(const struct way *w, uint32_t sw) { return w->reached[sw] == w->target; }

static void enter(struct way *w, uint32_t sw, uint32_t port)
{
    w->reached[sw] = w->target;
    if (w->lid != DUMMY)
        lft_set(w->lft, w->net->node_of[sw], w->lid, lft_number(w->net, w->net->port[port]));
}

/* Port of group G with the fewest routes; an index into net.port. */
static uint32_t least(const struct lft_group *g, const uint32_t *routes)
{
    uint32_t best = g->first;
    for (uint32_t p = g->first; p < g->first + g->n; p++)
        if (routes[p] < routes[best])
            best = p;
    return best;
}

/* The other end of a link: the same place in the group the other way (links of a group are listed in one order at both ends). */
static uint32_t other_end(const struct lft_net *net, uint32_t group, uint32_t port)
{
    const struct lft_group *back = &net->group[net->group[group].back];
    const struct net_port *ports = net->fabric->graph.ports;
    for (uint32_t p = back->first; p < back->first + back->n; p++)
        if (ports[net->port[p]].peer == net->port[port])
            return p;
    return back->first;
}

/* All switches below SW, but for the branch FROM, come up to it. */
static void come_up(struct way *w, uint32_t sw, uint32_t from)
{
    struct lft_net *net = w->net;
    for (uint32_t k = net->group_first[sw]; k < net->group_first[sw + 1]; k++) {
        struct lft_group *g = &net->group[k];
        if (g->up || g->to == from || has_entry(w, g->to))
            continue;
        uint32_t port = least(g, net->port_up);
        enter(w, g->to, other_end(net, k, port));
        if (w->counts) {
            net->port_up[port]++;
            g->up_routes++;
        }
        come_up(w, g->to, sw);
    }
}

/* Of the groups of SW that lead up the one with the fewest routes down. */
static uint32_t pick_group(const struct lft_net *net, uint32_t sw)
{
    uint32_t best = NET_NONE;
    for (uint32_t k = net->group_first[sw]; k < net->group_first[sw + 1]; k++) {
        const struct lft_group *g = &net->group[k];
        if (!g->up)
            continue;
        /* Of parallel links each has its share. */
        if (best == NET_NONE || (uint64_t)g->down_routes * net->group[best].n < (uint64_t)net->group[best].down_routes * g->n)
            best = k;
    }
    return best;
}

static void go_up(struct way *w, uint32_t sw, uint32_t from, bool main_way)
{
    struct lft_net *net = w->net;
    come_up(w, sw, from);
    uint32_t best = pick_group(net, sw);
    if (best == NET_NONE)
        return;
    struct lft_group *g = &net->group[best];
    if (!has_entry(w, g->to)) {
        uint32_t port = least(g, net->port_down);
        enter(w, g->to, other_end(net, best, port));
        if (main_way && w->counts) {
            net->port_down[port]++;
            g->down_routes++;
        }
        go_up(w, g->to, sw, main_way);
    }
    for (uint32_t k = net->group_first[sw]; k < net->group_first[sw + 1]; k++) {
        if (k == best || !net->group[k].up || has_entry(w, net->group[k].to))
            continue;
        enter(w, net->group[k].to, other_end(net, k, least(&net->group[k], net->port_down)));
        go_up(w, net->group[k].to, sw, false);
    }
}

static bool is_tree(const struct lft_net *net, GError **err)
{
    const struct net_graph *g = &net->fabric->graph;
    for (uint32_t s = 0; s < net->n_switches; s++) {
        const struct net_node *node = &g->nodes[net->node_of[s]];
        if (node->tier > MAX_TIERS)
            return fabric_fail(err, "%s is %d tiers up; allowed with ftree: %d", net->fabric->names[net->node_of[s]], node->tier, MAX_TIERS);
        for (uint32_t k = net->group_first[s]; k < net->group_first[s + 1]; k++) {
            int other = g->nodes[net->node_of[net->group[k].to]].tier;
            if (ABS(other - node->tier) != 1)
                return fabric_fail(err, "%s and %s are no neighbours in a tree (tiers %d and %d); allowed with ftree: links between tiers one apart, "
                                        "use updn", net->fabric->names[net->node_of[s]], net->fabric->names[net->node_of[net->group[k].to]], node->tier,
                                   other);
        }
        if (node->tier != 1 && net->nic_first[s] != net->nic_first[s + 1])
            return fabric_fail(err, "%s has NICs and is not a leaf; allowed with ftree: NICs at leaves alone, use updn",
                               net->fabric->names[net->node_of[s]]);
    }
    return true;
}

bool lft_ftree(struct lft_net *net, struct lft *lft, GError **err)
{
    if (!is_tree(net, err))
        return false;
    struct way w = {.net = net, .lft = lft, .counts = true, .reached = g_new0(uint32_t, MAX(net->n_switches, 1))};
    uint32_t most = 0;
    for (uint32_t s = 0; s < net->n_switches; s++)
        most = MAX(most, net->nic_first[s + 1] - net->nic_first[s]);
    for (uint32_t s = 0; s < net->n_switches; s++) {
        uint32_t n = net->nic_first[s + 1] - net->nic_first[s];
        for (uint32_t i = 0; n > 0 && i < most; i++) {
            w.target++;
            w.lid = i < n ? net->nic[net->nic_first[s] + i].lid : DUMMY;
            w.reached[s] = w.target;
            if (w.lid != DUMMY)
                lft_set(lft, net->node_of[s], w.lid, net->nic[net->nic_first[s] + i].port);
            go_up(&w, s, NET_NONE, true);
        }
    }
    w.counts = false;
    for (uint32_t s = 0; s < net->n_switches; s++) {
        w.target++;
        w.lid = lft_switch_lid(net, s);
        w.reached[s] = w.target;
        lft_set(lft, net->node_of[s], w.lid, 0);
        go_up(&w, s, NET_NONE, false);
    }
    g_free(w.reached);
    return true;
}
