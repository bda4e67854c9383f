/* fabric_show.c - a fabric for people: table of counts, and Graphviz. */
#include "topologies/fabric_priv.h"
#include <inttypes.h>
#include <stdlib.h>

#define N_TIERS 256

static const char *tier_name(uint32_t tier)
{
    static const char *const names[] = {"unreached", "leaf", "spine", "core"};
    return tier < G_N_ELEMENTS(names) ? names[tier] : "further";
}

static void show_rate(FILE *out, const char *label, double bps)
{
    g_autofree char *text = units_human_rate(bps);
    fprintf(out, "%-28s %14s\n", label, text);
}

static void show_nodes(const struct fabric *fabric, FILE *out)
{
    const struct net_graph *graph = &fabric->graph;
    uint32_t hosts = 0, nic_ports = 0, switches[N_TIERS] = {0}, radix[N_TIERS] = {0};
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct net_node *node = &graph->nodes[i];
        bool host = node->kind == NET_HOST;
        hosts += host;
        nic_ports += host ? node->n_ports : 0;
        switches[node->tier] += !host;
        radix[node->tier] = host ? radix[node->tier] : MAX(radix[node->tier], node->n_ports);
    }
    fprintf(out, "%-28s %14s\n%-28s %14u\n%-28s %14u\n%-28s %14u\n", "kind", fabric->kind, "hosts", hosts,
            "GPUs", graph->n_endpoints, "NIC ports", nic_ports);
    for (uint32_t t = 0; t < N_TIERS; t++)
        if (switches[t]) {
            g_autofree char *label = g_strdup_printf("switches, tier %u (%s)", t, tier_name(t));
            fprintf(out, "%-28s %14u  up to %u ports used\n", label, switches[t], radix[t]);
        }
}

/* A class of links: the tiers at its ends (lower first) and its rate. */
struct link_class {
    uint32_t low, high;
    int64_t rate_bps, delay_ps;
};

static int by_class(const void *left, const void *right)
{
    const struct link_class *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    if (a->rate_bps != b->rate_bps)
        return a->rate_bps < b->rate_bps ? -1 : 1;
    return (a->delay_ps > b->delay_ps) - (a->delay_ps < b->delay_ps);
}

static struct link_class *classes_of(const struct net_graph *graph, uint32_t *n)
{
    struct link_class *links = g_new(struct link_class, graph->n_ports);
    *n = 0;
    for (uint32_t p = 0; p < graph->n_ports; p++) {
        const struct net_port *port = &graph->ports[p];
        if (port->peer == NET_NONE || port->peer < p)
            continue;
        uint32_t a = graph->nodes[port->node].tier, b = graph->nodes[graph->ports[port->peer].node].tier;
        links[(*n)++] = (struct link_class){MIN(a, b), MAX(a, b), port->rate_bps, port->delay_ps};
    }
    qsort(links, *n, sizeof *links, by_class);
    return links;
}

static void show_links(const struct fabric *fabric, FILE *out)
{
    uint32_t n;
    g_autofree struct link_class *links = classes_of(&fabric->graph, &n);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && by_class(&links[i], &links[end]) == 0;)
            end++;
        g_autofree char *rate = units_format_rate(links[i].rate_bps);
        g_autofree char *delay = units_format_time(links[i].delay_ps);
        g_autofree char *label = g_strdup_printf("links, tier %u-%u", links[i].low, links[i].high);
        fprintf(out, "%-28s %14u  %s, %s one way\n", label, end - i, rate, delay);
    }
}

/* Bandwidth of all ports of each switch tier to lower (hosts too) and to higher tiers. */
static void sum_ways(const struct net_graph *graph, double *down_bps, double *up_bps)
{
    for (uint32_t p = 0; p < graph->n_ports; p++) {
        const struct net_port *port = &graph->ports[p];
        const struct net_node *node = &graph->nodes[port->node];
        if (node->kind != NET_SWITCH || port->peer == NET_NONE)
            continue;
        uint32_t other = graph->nodes[graph->ports[port->peer].node].tier;
        if (other < node->tier)
            down_bps[node->tier] += (double)port->rate_bps;
        if (other > node->tier)
            up_bps[node->tier] += (double)port->rate_bps;
    }
}

static void show_oversubscription(const struct fabric *fabric, FILE *out)
{
    double down[N_TIERS] = {0}, up[N_TIERS] = {0};
    sum_ways(&fabric->graph, down, up);
    for (uint32_t t = 1; t < N_TIERS; t++)
        if (up[t] > 0) {
            g_autofree char *label = g_strdup_printf("oversubscription, tier %u", t);
            g_autofree char *ratio = g_strdup_printf("%.3g:1", down[t] / up[t]);
            g_autofree char *down_text = units_human_rate(down[t]);
            g_autofree char *up_text = units_human_rate(up[t]);
            fprintf(out, "%-28s %14s  %s down, %s up\n", label, ratio, down_text, up_text);
        }
}

void fabric_show(const struct fabric *fabric, FILE *out)
{
    show_nodes(fabric, out);
    fprintf(out, "%-28s %14u\n", "links", fabric->n_links);
    show_links(fabric, out);
    show_oversubscription(fabric, out);
    double bisection = fabric_bisection_bps(fabric);
    if (bisection >= 0)
        show_rate(out, "bisection (each direction)", bisection);
    else
        fprintf(out, "%-28s %14s\n", "bisection", "too large");
    if (fabric->notes)
        fprintf(out, "%s", fabric->notes);
}

void fabric_dot(const struct fabric *fabric, FILE *out)
{
    const struct net_graph *graph = &fabric->graph;
    fprintf(out, "graph fabric {\n  rankdir=BT;\n  node [fontname=\"sans-serif\"];\n");
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        fprintf(out, "  \"%s\" [shape=%s];\n", fabric->names[i],
                graph->nodes[i].kind == NET_HOST ? "box" : "ellipse");
    for (uint32_t p = 0; p < graph->n_ports; p++) {
        const struct net_port *port = &graph->ports[p];
        if (port->peer == NET_NONE || port->peer < p)
            continue;
        g_autofree char *rate = units_format_rate(port->rate_bps);
        fprintf(out, "  \"%s\" -- \"%s\" [label=\"%s\"];\n", fabric->names[port->node],
                fabric->names[graph->ports[port->peer].node], rate);
    }
    fprintf(out, "}\n");
}
