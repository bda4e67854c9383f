/* nic_build.c - settings of NIC ports and what recovery needs for each queue pair.
 *
 * Both ends of a queue pair agree when it is set up: it repeats selectively if both NICs do, and holds as many
 * packets out of order as the smaller reorder_window of both.
 */
#include "models/nic.h"

#include <math.h>
#include <stdlib.h>

/* IBTA: local ACK timeout n is 4.096 us x 2^n. */
#define LOCAL_ACK_TIMEOUT_UNIT_PS (4096 * UNIT_NS)

static sim_ps ack_timeout_ps(const struct nic_params *p)
{
    return p->local_ack_timeout == 0 ? 0 : LOCAL_ACK_TIMEOUT_UNIT_PS << p->local_ack_timeout;
}

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

/* ---- ports ------------------------------------------------------------------- */
static const struct nic_params *params_at(const struct net *net, uint32_t p)
{
    const struct net_site *site = net->config.site;
    if (!site)
        return net->config.nic;
    return site->at_port(site->user, NET_PARAMS_NIC, net->cold[p].graph_port, NET_SITE_ANY_CLASS);
}

static bool set_port(struct nic_port *nic, const struct nic_params *p, GError **err)
{
    *nic = (struct nic_port){
        .timeout_ps = ack_timeout_ps(p),
        .adaptive_ps = p->adaptive_retransmission ? p->adaptive_timeout_ps : 0,
        .tx_latency_ps = p->tx_latency_ps,
        .rnr_wait_ps = nic_rnr_timer_ps((uint32_t)p->min_rnr_timer),
        .retry_cnt = (uint32_t)p->retry_cnt,
        .rnr_retry = (uint32_t)p->rnr_retry,
        .tolerance_pkts = (uint32_t)p->reorder_tolerance,
        .reorder_pkts = (uint32_t)p->reorder_window,
        .selective = p->recovery == NIC_SELECTIVE_REPEAT,
        .rnr = p->rnr,
        .rx_bps = p->rx_rate_bps,
        .rx_buffer_bytes = p->rx_buffer_bytes,
        .rx_xoff_bytes = p->rx_xoff_bytes,
        .rx_xon_bytes = p->rx_xon_bytes,
        .rx_head = NET_NONE,
        .rx_tail = NET_NONE,
    };
    return model_parse_classes(p->ets_strict_classes, &nic->strict_mask, err) &&
           model_parse_weights(p->ets_weights, nic->weight, err);
}

static bool build_ports(struct net *net, GError **err)
{
    uint32_t n = 0;
    net->nic = g_new0(struct nic_port *, MAX(net->n_ports, 1));
    for (uint32_t v = 0; v < net->n_vertices; v++)
        n += net->vertex[v].is_switch ? 0 : net->vertex[v].n_ports;
    net->nic_ports = sim_alloc_large(n, sizeof *net->nic_ports);
    for (uint32_t v = 0, at = 0; v < net->n_vertices; v++) {
        struct net_vertex *vertex = &net->vertex[v];
        for (uint32_t p = vertex->first_port; !vertex->is_switch && p < vertex->first_port + vertex->n_ports; p++) {
            struct nic_port *nic = net->nic[p] = &net->nic_ports[at++];
            if (!set_port(nic, params_at(net, p), err))
                return false;
            if (nic->rx_bps > 0)
                vertex->rx_care |= NIC_RX_SLOW;
        }
    }
    return true;
}

/* ---- queue pairs ---------------------------------------------------------------- */
static uint32_t fixed_window(const struct net *net, uint32_t qp)
{
    struct cc_path path;
    double multiple = net->config.nic->window_bdp;
    if (multiple <= 0)
        return net->window_pkts;
    net_cc_path(net, qp, &path);
    return MIN(net->window_pkts, cc_whole_window(ceil(multiple * cc_path_pkts(&path))));
}

static bool build_qp(struct net *net, uint32_t qp, GError **err)
{
    struct qp_tx *t = &net->tx[qp];
    struct qp_rx *r = &net->rx[qp];
    const struct nic_port *from = net->nic[t->port], *to = net->nic[r->port];
    uint32_t window = MIN(from->reorder_pkts, to->reorder_pkts);
    t->selective = r->selective = from->selective && to->selective;
    r->reorder = r->selective || to->tolerance_pkts > 0;
    uint32_t fixed = net->repair[qp].window_pkts = fixed_window(net, qp);
    t->window_pkts = t->selective ? MIN(fixed, window) : fixed;
    net->repair[qp].span_pkts = window;
    if (r->reorder || to->rnr)
        net->vertex[net->cold[r->port].node].rx_care |= NIC_RX_CAREFUL;
    if (r->reorder)
        net->reorder_words = MAX(net->reorder_words, (to->reorder_pkts + 63) / 64);
    if (t->window_pkts >= net->ack_interval)
        return true;
    const struct net_port *ports = net->graph->ports;
    if (!t->selective || fixed < window) {
        fail(err, "nic.window_bdp: a window of %u packets would wait for ever for an ACK every %u; allowed: at least ack_interval", fixed, net->ack_interval);
        return net_blame(net, NET_PARAMS_NIC, "window_bdp", ports[net->cold[t->port].graph_port].node, NET_NONE, NET_SITE_ANY_CLASS, err);
    }
    fail(err, "nic.reorder_window: a window of %u packets would wait for ever for an ACK every %u; allowed: at least ack_interval", t->window_pkts,
         net->ack_interval);
    uint32_t smaller = net->cold[from->reorder_pkts <= to->reorder_pkts ? t->port : r->port].graph_port;
    return net_blame(net, NET_PARAMS_NIC, "reorder_window", ports[smaller].node, NET_NONE, NET_SITE_ANY_CLASS, err);
}

/* Pages that no queue pair uses are never touched. */
static bool build_bitmaps(struct net *net, GError **err)
{
    if (net->reorder_words == 0)
        return true;
    uint32_t words = 1;
    while (words < net->reorder_words)
        words *= 2;
    net->reorder_words = words;
    size_t n = (size_t)net->n_qps * words;
    net->rx_held = g_try_new0(uint64_t, 3 * n);
    if (!net->rx_held)
        return fail(err, "nic.reorder_window: no memory for the reordering of %u queue pairs; allowed: a smaller window", net->n_qps);
    net->rx_held_last = net->rx_held + n;
    net->tx_sacked = net->rx_held + 2 * n;
    return true;
}

bool nic_build(struct net *net, GError **err)
{
    net->repair = g_new0(struct qp_repair, MAX(net->n_qps, 1));
    if (!build_ports(net, err))
        return false;
    for (uint32_t q = 0; q < net->n_qps; q++)
        if (!build_qp(net, q, err))
            return false;
    return build_bitmaps(net, err);
}

/* See gives_up() in nic_recovery.c. */
sim_ps net_retry_span_ps(const struct nic_params *p)
{
    return ack_timeout_ps(p) * (p->retry_cnt + (p->adaptive_retransmission ? 0 : 1));
}

sim_ps net_rnr_span_ps(const struct nic_params *p)
{
    return p->rnr_retry == 7 ? 0 : nic_rnr_timer_ps((uint32_t)p->min_rnr_timer) * p->rnr_retry;
}

void nic_free(struct net *net)
{
    g_free(net->nic);
    free(net->nic_ports);
    g_free(net->repair);
    g_free(net->rx_held);
}
