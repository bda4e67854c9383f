/* nic_credit.c - see nic_credit.h. */
#include "models/nic_credit.h"

#include "models/cc_credit.h"

/* Receiver's view of a queue pair; written by its node alone. */
struct credit_rx {
    uint32_t granted_psn; /* first one that was neither granted nor came unscheduled */
    uint32_t demand_psn;  /* first one that is not posted, as far as is known */
    uint32_t most_pkts;   /* granted and not received */
    uint32_t next;        /* in the port's ring */
    uint32_t retries;
    sim_ps heard_ps;      /* last packet, or last credit that was sent again */
    bool in_ring, timer;
};

struct credit_port {
    sim_ps next_ps; /* the next grant is due no earlier */
    uint32_t head, tail;
    bool armed;
};

struct nic_credit {
    const struct credit_params *p;
    struct credit_rx *rx;
    struct credit_port *port;
    uint32_t *told_psn; /* [qp], sender's: demand in the packets it has sent */
    uint32_t *demand;   /* [qp][ring] */
    uint32_t ring;      /* a power of two */
};

bool nic_credit_build(struct net *net, GError **err)
{
    struct nic_credit *c = net->credit = g_new0(struct nic_credit, 1);
    c->p = net->config.cc_params;
    c->ring = 1;
    c->rx = g_new0(struct credit_rx, MAX(net->n_qps, 1));
    c->told_psn = g_new0(uint32_t, MAX(net->n_qps, 1));
    c->port = g_new0(struct credit_port, MAX(net->n_ports, 1));
    for (uint32_t p = 0; p < net->n_ports; p++)
        c->port[p].head = c->port[p].tail = NET_NONE;
    for (uint32_t q = 0; q < net->n_qps; q++) {
        struct cc_path path;
        net_cc_path(net, q, &path);
        c->rx[q].most_pkts = cc_credit_most_granted(c->p, &path);
        while (c->ring < c->rx[q].most_pkts + (uint32_t)c->p->unscheduled)
            c->ring *= 2;
    }
    for (uint32_t v = 0; v < net->n_vertices; v++)
        net->vertex[v].rx_care |= net->vertex[v].is_switch ? 0 : NIC_RX_CREDIT;
    c->demand = g_try_new0(uint32_t, (size_t)MAX(net->n_qps, 1) * c->ring);
    if (!c->demand)
        g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "nic.congestion_control: no memory for the credits of %u queue pairs", net->n_qps);
    return c->demand != NULL;
}

void nic_credit_free(struct net *net)
{
    struct nic_credit *c = net->credit;
    if (!c)
        return;
    g_free(c->rx);
    g_free(c->port);
    g_free(c->told_psn);
    g_free(c->demand);
    g_free(c);
}

/* ---- sender ------------------------------------------------------------------ */
static uint32_t *demand_of(const struct nic_credit *c, uint32_t qp, uint32_t psn)
{
    return &c->demand[(size_t)qp * c->ring + (psn & (c->ring - 1))];
}

void nic_credit_sent(struct net *net, uint32_t qp, uint32_t psn)
{
    struct nic_credit *c = net->credit;
    *demand_of(c, qp, psn) = c->told_psn[qp] = net->tx[qp].posted_psn;
}

bool nic_credit_is_unknown(const struct net *net, uint32_t qp, uint32_t una_psn, uint32_t next_psn)
{
    return una_psn == next_psn && net->credit->told_psn[qp] != net->tx[qp].posted_psn;
}

/* ---- receiver ------------------------------------------------------------------ */
static sim_ps grant_ps(const struct net *net, uint32_t port)
{
    uint32_t wire_ps = net_wire(net, &net->port[port], net->mtu + net->frame_overhead);
    return (sim_ps)((double)wire_ps / net->credit->p->rate);
}

static bool may_be_granted(const struct net *net, uint32_t qp)
{
    const struct credit_rx *rx = &net->credit->rx[qp];
    return (int32_t)(rx->demand_psn - rx->granted_psn) > 0 && (int32_t)(rx->granted_psn - net->rx[qp].expected_psn) < (int32_t)rx->most_pkts;
}

static void push(struct nic_credit *c, struct credit_port *port, uint32_t qp)
{
    struct credit_rx *rx = &c->rx[qp];
    rx->next = NET_NONE;
    rx->in_ring = true;
    if (port->head == NET_NONE)
        port->head = qp;
    else
        c->rx[port->tail].next = qp;
    port->tail = qp;
}

static void arm(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    struct credit_port *port = &net->credit->port[p];
    if (port->armed || port->head == NET_NONE)
        return;
    port->armed = true;
    sim_timer_add(core, node, MAX(port->next_ps, now_ps), NET_TIMER(TIMER_CREDIT, p));
}

void nic_credit_received(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps)
{
    struct nic_credit *c = net->credit;
    struct credit_rx *rx = &c->rx[qp];
    uint32_t p = net->rx[qp].port, demand_psn = *demand_of(c, qp, psn);
    struct credit_port *port = &c->port[p];
    rx->heard_ps = now_ps;
    rx->retries = 0;
    if ((int32_t)(demand_psn - rx->demand_psn) > 0)
        rx->demand_psn = demand_psn;
    if ((int32_t)(psn - rx->granted_psn) >= 0) {
        rx->granted_psn = psn + 1;
        port->next_ps = MAX(port->next_ps, now_ps) + grant_ps(net, p);
    }
    if (!rx->in_ring && may_be_granted(net, qp))
        push(c, port, qp);
    arm(net, core, node, p, now_ps);
}

static void send_credit(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct credit_rx *rx = &net->credit->rx[qp];
    nic_send_credit(net, core, node, qp, rx->granted_psn, (uint32_t)net->credit->p->credit_class, (uint32_t)net->credit->p->frame_bytes, now_ps);
    if (rx->timer)
        return;
    rx->timer = true;
    rx->heard_ps = now_ps;
    sim_timer_add(core, node, now_ps + net->credit->p->retry_after_ps, NET_TIMER(TIMER_CREDIT_RETRY, qp));
}

void nic_credit_grant(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    struct nic_credit *c = net->credit;
    struct credit_port *port = &c->port[p];
    port->armed = false;
    if (port->next_ps > now_ps) { /* unscheduled packets came meanwhile */
        arm(net, core, node, p, now_ps);
        return;
    }
    uint32_t qp = port->head;
    struct credit_rx *rx = &c->rx[qp];
    port->head = rx->next;
    rx->in_ring = false;
    if (may_be_granted(net, qp)) {
        rx->granted_psn++;
        port->next_ps = now_ps + grant_ps(net, p);
        send_credit(net, core, node, qp, now_ps);
    }
    if (may_be_granted(net, qp)) /* else the next packet that comes puts it back */
        push(c, port, qp);
    arm(net, core, node, p, now_ps);
}

/* The credit or the packets that it allowed may be lost. */
void nic_credit_retry(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    const struct credit_params *p = net->credit->p;
    struct credit_rx *rx = &net->credit->rx[qp];
    rx->timer = false;
    if ((int32_t)(rx->granted_psn - net->rx[qp].expected_psn) <= 0)
        return; /* nothing is outstanding: the next credit arms it again */
    if (now_ps - rx->heard_ps >= p->retry_after_ps) {
        if (rx->retries++ < (uint32_t)p->retries)
            send_credit(net, core, node, qp, now_ps);
        return;
    }
    rx->timer = true;
    sim_timer_add(core, node, rx->heard_ps + p->retry_after_ps, NET_TIMER(TIMER_CREDIT_RETRY, qp));
}
