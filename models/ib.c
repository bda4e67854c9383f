/* ib.c - credits and arbitration of InfiniBand ports: set-up, and what is not on every packet's way. */
#include "models/ib.h"

#include <stdlib.h>
#include <string.h>

#define LIFETIME_UNIT_PS (4096 * UNIT_NS)
#define LIFETIME_WITHOUT_LIMIT 20
#define HIGH_LIMIT_BYTES 4096
#define HIGH_WITHOUT_LIMIT 255
#define FC_LOST_BITS 28

/* ---- set-up -------------------------------------------------------------------- */
void ib_set_constants(struct net *net)
{
    const struct ib_params *p = net->config.ib;
    if (!p)
        return;
    net->frame_overhead = (uint32_t)p->frame_overhead_bytes;
    net->gap_bytes = (uint32_t)p->delimiters_bytes;
    net->ack_bytes = (uint32_t)p->ack_frame_bytes;
    net->cnp_bytes = (uint32_t)p->cnp_frame_bytes;
    net->pause_bytes = (uint32_t)p->fc_packet_bytes;
    net->ib = g_new0(struct ib, 1);
    net->ib->params = p;
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

static bool parse_table(const char *text, int64_t n_vls, struct ib_table *out, GError **err)
{
    struct model_vl_share shares[MODEL_VL_SHARES];
    int n = model_parse_vlarb(text, shares, err);
    for (int i = 0; i < n; i++) {
        if (shares[i].vl >= n_vls || shares[i].bytes == 0)
            continue;
        out->entry[out->n++] = shares[i];
        out->vls = (uint8_t)(out->vls | 1u << shares[i].vl);
    }
    return n >= 0;
}

bool ib_parse(struct net *net, GError **err)
{
    struct ib *ib = net->ib;
    const struct ib_params *p = ib->params;
    if (!parse_table(p->vlarb_high, p->vls, &ib->high, err) || !parse_table(p->vlarb_low, p->vls, &ib->low, err) ||
        !model_parse_eight(p->sl2vl, ib->vl_of_sl, 14, err))
        return false;
    for (uint32_t sl = 0; sl < NET_CLASSES; sl++) {
        ib->vl_of_sl[sl] = (uint8_t)(ib->vl_of_sl[sl] % p->vls);
        ib->sls_of_vl[ib->vl_of_sl[sl]] = (uint8_t)(ib->sls_of_vl[ib->vl_of_sl[sl]] | 1u << sl);
    }
    return true;
}

static int64_t high_limit_bytes(const struct ib *ib)
{
    return ib->params->high_limit == HIGH_WITHOUT_LIMIT ? INT64_MAX : MAX(ib->params->high_limit * HIGH_LIMIT_BYTES, 1);
}

static sim_ps lifetime_ps(int64_t exponent)
{
    return exponent >= LIFETIME_WITHOUT_LIMIT ? 0 : LIFETIME_UNIT_PS << exponent;
}

/* Longest time of a packet on a wire that leaves node V. */
static sim_ps slowest_wire_ps(const struct net *net, const struct net_vertex *v, uint32_t bytes)
{
    sim_ps slowest_ps = 0;
    for (uint32_t p = v->first_port; p < v->first_port + v->n_ports; p++)
        if (net->port[p].channel != NET_NONE)
            slowest_ps = MAX(slowest_ps, (sim_ps)net_wire(net, &net->port[p], bytes));
    return slowest_ps;
}

/* What the peer may send before it learns of buffer that is free now: a packet on the wire before the flow-control packet, the
 * way there, a packet on the wire there, the way back. A packet counts as gone when its first bit goes: the time of the rest
 * is added. Packets are counted as the smallest ones, of which each takes a block. */
static uint32_t low_blocks(const struct net *net, uint32_t p, sim_ps slowest_ps)
{
    const struct port_hot *here = &net->port[p], *peer = &net->port[here->channel];
    uint32_t bytes = net->ib->packet_blocks * IB_BLOCK_BYTES;
    sim_ps loop_ps = (sim_ps)net_wire(net, here, bytes) + net_wire(net, here, net->pause_bytes) + here->pause_latency_ps +
                     net_wire(net, peer, bytes) + peer->data_latency_ps + slowest_ps;
    return (uint32_t)(loop_ps / net_wire(net, peer, net->frame_overhead)) + 1 + net->ib->packet_blocks;
}

static void build_port(struct net *net, uint32_t p, sim_ps slowest_ps)
{
    struct ib *ib = net->ib;
    struct ib_port *port = &ib->port[p];
    uint32_t buffer = (uint32_t)(ib->params->vl_buffer_bytes / IB_BLOCK_BYTES), first = MIN(buffer, IB_MAX_CREDIT_BLOCKS);
    bool to_host = !net->vertex[net->port[p].peer_node].is_switch;
    port->lifetime_ps = lifetime_ps(to_host ? ib->params->leaf_head_of_queue_lifetime : ib->params->head_of_queue_lifetime);
    port->high_left_bytes = high_limit_bytes(ib);
    for (uint32_t vl = 0; vl < NET_CLASSES; vl++)
        ib->vl[p][vl] = (struct ib_vl){.limit = first, .advertised = first, .buffer = buffer, .low = low_blocks(net, p, slowest_ps)};
}

bool ib_build(struct net *net, GError **err)
{
    struct ib *ib = net->ib;
    if (!ib)
        return true;
    uint32_t packet = MAX(net->mtu + net->frame_overhead + net->reth, MAX(net->ack_bytes, net->cnp_bytes));
    ib->packet_blocks = ib_blocks(packet);
    if (ib->params->vl_buffer_bytes / IB_BLOCK_BYTES < ib->packet_blocks)
        return fail(err, "ib.vl_buffer: %" G_GINT64_FORMAT " B hold no packet of %u B; allowed: at least %u B", ib->params->vl_buffer_bytes, packet,
                    ib->packet_blocks * IB_BLOCK_BYTES);
    ib->vl = sim_alloc_large(net->n_ports, sizeof *ib->vl);
    ib->port = g_new0(struct ib_port, MAX(net->n_ports, 1));
    for (uint32_t v = 0; v < net->n_vertices; v++) {
        sim_ps slowest_ps = slowest_wire_ps(net, &net->vertex[v], packet);
        for (uint32_t p = net->vertex[v].first_port; p < net->vertex[v].first_port + net->vertex[v].n_ports; p++)
            if (net->port[p].channel != NET_NONE)
                build_port(net, p, slowest_ps);
    }
    return true;
}

void ib_free(struct net *net)
{
    if (!net->ib)
        return;
    free(net->ib->vl);
    g_free(net->ib->port);
    g_free(net->ib);
}

/* ---- sender ------------------------------------------------------------------------ */
void ib_stalled(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, sim_ps now_ps)
{
    struct ib_port *port = &net->ib->port[p];
    if (net->port[p].stalled >> vl & 1)
        return;
    net->port[p].stalled |= 1u << vl;
    port->stall_since_ps[vl] = now_ps;
    if (port->lifetime_ps == 0 || !net->vertex[net->cold[p].node].is_switch || (port->lifetime_armed >> vl & 1))
        return;
    port->lifetime_armed = (uint8_t)(port->lifetime_armed | 1u << vl);
    sim_timer_add(core, node, now_ps + port->lifetime_ps, NET_TIMER(TIMER_PAUSE_END, (uint64_t)p << 3 | vl));
}

void ib_port_stalled(struct net *net, uint32_t p, sim_ps now_ps)
{
    if (net->port[p].stalled & IB_PORT_STALLED)
        return;
    net->port[p].stalled |= IB_PORT_STALLED;
    net->ib->port[p].wait_since_ps = now_ps;
}

static void charge(struct net *net, uint32_t p, uint32_t bytes)
{
    struct ib_port *port = &net->ib->port[p];
    int32_t charged = (int32_t)(ib_blocks(bytes) * IB_BLOCK_BYTES);
    if (net->port[p].stalled & IB_CHARGE_LOW) {
        port->low.left_bytes -= charged;
        port->high_left_bytes = high_limit_bytes(net->ib);
    } else {
        port->high.left_bytes -= charged;
        port->high_left_bytes -= port->low_waits && port->high_left_bytes != INT64_MAX ? charged : 0;
    }
}

void ib_sent_after_wait(struct net *net, uint32_t p, uint32_t vl, uint32_t bytes, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[p];
    struct ib_port *port = &net->ib->port[p];
    if (hot->stalled & (IB_CHARGE_HIGH | IB_CHARGE_LOW))
        charge(net, p, bytes);
    if (hot->stalled >> vl & 1)
        port->stall_ps[vl] += now_ps - port->stall_since_ps[vl];
    if (hot->stalled & IB_PORT_STALLED)
        port->wait_ps += now_ps - port->wait_since_ps;
    hot->stalled &= IB_VLS & ~(1u << vl);
}

sim_ps ib_wait_ps(const struct net *net, uint32_t p, sim_ps now_ps)
{
    const struct ib_port *port = &net->ib->port[p];
    return port->wait_ps + (net->port[p].stalled & IB_PORT_STALLED ? now_ps - port->wait_since_ps : 0);
}

sim_ps ib_stall_ps(const struct net *net, uint32_t p, uint32_t vl, sim_ps now_ps)
{
    const struct ib_port *port = &net->ib->port[p];
    return port->stall_ps[vl] + (net->port[p].stalled >> vl & 1 ? now_ps - port->stall_since_ps[vl] : 0);
}

bool ib_lifetime_over(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, sim_ps now_ps)
{
    struct ib_port *port = &net->ib->port[p];
    port->lifetime_armed = (uint8_t)(port->lifetime_armed & ~(1u << vl));
    if (!(net->port[p].stalled >> vl & 1))
        return false;
    sim_ps due_ps = port->stall_since_ps[vl] + port->lifetime_ps;
    if (due_ps > now_ps) { /* another packet is first by now */
        port->lifetime_armed = (uint8_t)(port->lifetime_armed | 1u << vl);
        sim_timer_add(core, node, due_ps, NET_TIMER(TIMER_PAUSE_END, (uint64_t)p << 3 | vl));
        return false;
    }
    port->stall_ps[vl] += now_ps - port->stall_since_ps[vl];
    net->port[p].stalled &= ~(1u << vl);
    port->discard_pkts[vl]++;
    return true;
}

/* Next entry of TABLE whose VL is ready: weighted round robin, the last packet may overdraw. */
static uint32_t take_turn(const struct ib_table *table, struct ib_turn *turn, uint32_t ready)
{
    while (turn->left_bytes <= 0 || !(ready >> table->entry[turn->at].vl & 1)) {
        turn->at = (turn->at + 1) % table->n;
        turn->left_bytes = table->entry[turn->at].bytes;
    }
    return table->entry[turn->at].vl;
}

uint32_t ib_arbitrate(struct net *net, uint32_t p, uint32_t ready)
{
    struct ib *ib = net->ib;
    struct ib_port *port = &ib->port[p];
    uint32_t high = ready & ib->high.vls, low = ready & ib->low.vls;
    port->low_waits = low != 0;
    if (high && (!low || port->high_left_bytes > 0)) {
        net->port[p].stalled |= IB_CHARGE_HIGH;
        return take_turn(&ib->high, &port->high, high);
    }
    net->port[p].stalled |= IB_CHARGE_LOW;
    return take_turn(&ib->low, &port->low, low);
}

static void arm_repair(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, sim_ps now_ps)
{
    struct ib_port *port = &net->ib->port[p];
    if (port->repair_armed >> vl & 1)
        return;
    port->repair_armed = (uint8_t)(port->repair_armed | 1u << vl);
    sim_timer_add(core, node, now_ps + net->ib->params->fc_interval_ps, NET_TIMER(TIMER_REFRESH, (uint64_t)p << 3 | vl));
}

void ib_lost(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t c, sim_ps now_ps)
{
    uint32_t vl = ib_vl_of(net, c);
    net->ib->port[p].lost[vl] += ib_blocks(packet_bytes(c));
    arm_repair(net, core, node, p, vl, now_ps);
}

void ib_repair(struct net *net, uint32_t p, uint32_t vl)
{
    struct ib_port *port = &net->ib->port[p];
    port->repair_armed = (uint8_t)(port->repair_armed & ~(1u << vl));
    if (!ib_is_down(net, p)) /* else when it is up again */
        net->port[p].pause_todo = (uint16_t)(net->port[p].pause_todo | 1u << vl);
}

void ib_link_up(struct net *net, uint32_t p)
{
    net->port[p].pause_todo = (uint16_t)(net->port[p].pause_todo | ((1u << net->ib->params->vls) - 1));
}

void ib_wake(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    if (((struct net_vertex *)node->state)->is_switch)
        ib_switch_wake(net, core, node, p, now_ps);
    else
        nic_kick(net, core, node, p, now_ps);
}

/* ---- receiver ------------------------------------------------------------------------ */
static uint32_t fccl(const struct ib_vl *s)
{
    return s->received + MIN(IB_MAX_CREDIT_BLOCKS, s->buffer - MIN(s->buffer, s->received - s->freed));
}

void ib_offer(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[p];
    const struct ib_vl *s = &net->ib->vl[p][vl];
    if (!ib_peer_is_low(s) || (int32_t)(fccl(s) - s->advertised) <= 0)
        return;
    hot->pause_todo = (uint16_t)(hot->pause_todo | 1u << vl);
    ib_wake(net, core, node, p, now_ps);
}

void ib_give_later(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, uint32_t vl, uint32_t blocks,
                   sim_ps free_ps, sim_ps now_ps)
{
    if (free_ps > now_ps) {
        sim_timer_add(core, node, free_ps, NET_TIMER(TIMER_FREED, (uint64_t)blocks << 35 | (uint64_t)p << 3 | vl));
        return;
    }
    net->ib->vl[p][vl].freed += blocks;
    ib_offer(net, core, node, p, vl, now_ps);
}

void ib_freed(struct net *net, struct sim_core *core, struct sim_node *node, uint64_t arg, sim_ps now_ps)
{
    uint32_t vl = arg & 7, p = (uint32_t)(arg >> 3 & UINT32_MAX);
    net->ib->vl[p][vl].freed += (uint32_t)(arg >> 35);
    ib_offer(net, core, node, p, vl, now_ps);
}

/* ---- flow-control packets ------------------------------------------------------------- */
void ib_put_fc(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t p, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[p];
    uint32_t vl = (uint32_t)__builtin_ctz(hot->pause_todo);
    struct ib_vl *s = &net->ib->vl[p][vl];
    struct ib_port *port = &net->ib->port[p];
    uint32_t wire_ps = net_wire(net, hot, net->pause_bytes), c = packet_make(PACKET_PAUSE, vl, net->pause_bytes);
    uint32_t limit = fccl(s), b = vl << FC_LOST_BITS | (port->lost[vl] & ((1u << FC_LOST_BITS) - 1));
    hot->pause_todo = (uint16_t)(hot->pause_todo & ~(1u << vl));
    s->advertised = (int32_t)(limit - s->advertised) > 0 ? limit : s->advertised;
    hot->busy_until_ps = now_ps + wire_ps;
    net->cold[p].pause_bytes += net->pause_bytes + net->gap_bytes;
    net->cold[p].tx_pause_pkts++;
    port->fc_tx_pkts++;
    if (hot->profile->special && !special_transmit(net, core, node, p, NULL, now_ps, s->advertised, b, c)) {
        arm_repair(net, core, node, p, vl, now_ps);
        return;
    }
    sim_send(core, hot->channel, hot->peer_node, now_ps + wire_ps + hot->pause_latency_ps, s->advertised, b, c);
}

void ib_receive_fc(struct net *net, uint32_t p, uint32_t a, uint32_t b)
{
    struct port_hot *hot = &net->port[p];
    struct ib_port *port = &net->ib->port[p];
    uint32_t vl = b >> FC_LOST_BITS, lost = (b - port->peer_lost[vl]) & ((1u << FC_LOST_BITS) - 1);
    struct ib_vl *s = &net->ib->vl[p][vl];
    port->fc_rx_pkts++;
    if (lost > 0) { /* never came in, and takes no buffer; flow-control packets keep their order */
        port->peer_lost[vl] += lost;
        s->received += lost;
        s->freed += lost;
        hot->pause_todo = (uint16_t)(hot->pause_todo | 1u << vl);
    }
    if ((int32_t)(a - s->limit) > 0)
        s->limit = a;
    if (s->limit - s->sent >= net->ib->packet_blocks)
        hot->paused = (uint16_t)(hot->paused & ~(net->nic[p] ? net->ib->sls_of_vl[vl] : 1u << vl));
}
