/* net_hop.c - one hop seen from both ends of its link, and the hops of a queue pair: to explain drops.
 *
 * A hop is lossless when the ingress puts a frame into a lossless group whose pauses stop, at the other end, the queue
 * from which that frame comes.
 */
#include "models/net_priv.h"

/* Queues of egress UP of a switch from which frames of CODE can leave: by the traffic class that each of its ingresses gives them. */
static uint8_t switch_queues(const struct net *net, uint32_t up, uint32_t code)
{
    const struct net_vertex *v = &net->vertex[net->cold[up].node];
    uint8_t queues = 0;
    for (uint32_t p = v->first_port; p < v->first_port + v->n_ports; p++)
        if (p != up && net->port[p].channel != NET_NONE)
            queues = (uint8_t)(queues | 1u << net->port[up].profile->queue_of_tc[net->port[p].profile->tc_of_code[code]]);
    return queues;
}

static uint8_t nic_queues(const struct port_profile *nic, uint32_t code)
{
    uint8_t queues = 0;
    for (uint32_t class = 0; class < NET_CLASSES; class ++)
        if (nic->code_of_class[class] == code)
            queues = (uint8_t)(queues | 1u << class);
    return queues;
}

void net_hop_view(const struct net *net, uint32_t port, uint32_t code, struct net_hop_view *view)
{
    uint32_t in = net->port_of_graph[port], up = net->port_of_graph[net->graph->ports[port].peer];
    const struct port_profile *here = net->port[in].profile, *there = net->port[up].profile;
    const struct qos_params *qos = net_site_port(net, NET_PARAMS_QOS, port, NET_SITE_ANY_CLASS);
    uint8_t pg = here->pg_of_code[code];
    *view = (struct net_hop_view){.refused_pkts = net->cold[in].refused_pkts[code],
                                  .tc = here->tc_of_code[code],
                                  .pg = pg,
                                  .pfc_on = here->honours != 0,
                                  .trusts_pcp = qos->trust == QOS_TRUST_PCP,
                                  .pg_lossless = here->lossless_pgs >> pg & 1,
                                  .pause_priorities = here->priorities_of_pg[pg],
                                  .obeyed_priorities = here->priorities_of_pg[pg] & there->honours,
                                  .lossless_queues = there->lossless_queues,
                                  .headroom_bytes = here->pg[pg].headroom,
                                  .headroom_needed_bytes = here->headroom_needed};
    view->from_queues = net->vertex[net->cold[up].node].is_switch ? switch_queues(net, up, code) : nic_queues(there, code);
    for (uint32_t left = view->obeyed_priorities; left; left &= left - 1)
        view->stopped_queues = (uint8_t)(view->stopped_queues | 1u << there->queue_of_priority[__builtin_ctz(left)]);
}

uint32_t net_qp_path(const struct net *net, uint32_t qp, uint32_t *ports, uint32_t max)
{
    uint32_t n = 0, at = net->tx[qp].port;
    while (n < max && n < net->qp[qp].n_hops) {
        uint32_t vertex = net->port[at].peer_node;
        at = net->vertex[vertex].first_port + net->path[(size_t)qp * 2 * net->path_stride + n];
        ports[n++] = net->cold[at].graph_port;
    }
    return n;
}
