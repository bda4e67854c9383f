/* pfc.c - life of a pause: sending, refreshing, obeying, running out. IEEE 802.1Qbb.
 *
 * Both ends of a link keep their own half: the pausing side a bit per priority group
 * (xoff) and a refresh timer, the paused side a bit per queue and an end time. The frame
 * names priorities: each side has its own map between these and what it pauses (profile.h).
 * A pause frame waits only for the frame on the wire. Left out: one frame for several
 * groups.
 */
#include "models/net_priv.h"

#define PAUSE_QUANTUM_BITS 512

sim_ps pfc_quanta_ps(const struct port_hot *port, uint32_t quanta)
{
    return (sim_ps)(((int64_t)quanta * (PAUSE_QUANTUM_BITS / UNIT_BITS_PER_BYTE) * port->ps_per_byte_q16) >> 16);
}

static void log_event(struct net *net, struct sim_core *core, struct net_vertex *v, uint32_t port, uint32_t priority,
                      uint32_t quanta, sim_ps now_ps)
{
    if (!net->config.record_pause_events)
        return;
    if (v->n_pauses == v->cap_pauses)
        sim_grow(core, &v->pauses, &v->cap_pauses, v->n_pauses + 1, sizeof *v->pauses);
    v->pauses[v->n_pauses++] =
        (struct net_pause_event){now_ps, net->cold[port].graph_port, (uint8_t)priority, quanta};
}

void pfc_resume(struct net *net, uint32_t port, uint32_t class, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    hot->paused = (uint16_t)(hot->paused & ~(1u << class));
    net->cold[port].on2off[class]++;
    net->cold[port].paused_ps[class] += now_ps - net->cold[port].pause_start_ps[class];
}

static void pause_queue(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                        uint32_t quanta, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    struct port_cold *cold = &net->cold[port];
    uint8_t bit = (uint8_t)(1u << class);
    cold->xoff_rx_ps[class] = now_ps;
    if (cold->watch && watchdog_on_xoff(net, core, node, port, class, now_ps))
        return;
    if (!(hot->paused & bit)) {
        hot->paused |= bit;
        cold->pause_start_ps[class] = now_ps;
    }
    if (quanta == PACKET_PAUSE_FOREVER) {
        cold->pause_end_ps[class] = SIM_PS_MAX;
        return;
    }
    cold->pause_end_ps[class] = now_ps + pfc_quanta_ps(hot, quanta);
    if (!(cold->end_armed & bit)) {
        cold->end_armed |= bit;
        sim_timer_add(core, node, cold->pause_end_ps[class], NET_TIMER(TIMER_PAUSE_END, (uint64_t)port << 3 | class));
    }
}

bool pfc_receive(struct net *net, struct sim_core *core, struct sim_node *node, struct net_vertex *v, uint32_t port,
                 uint32_t quanta, uint32_t priorities, sim_ps now_ps)
{
    struct port_cold *cold = &net->cold[port];
    const struct port_profile *profile = net->port[port].profile;
    bool resumed = false;
    for (uint32_t left = priorities; left; left &= left - 1) {
        uint32_t priority = (uint32_t)__builtin_ctz(left), class = profile->queue_of_priority[priority];
        log_event(net, core, v, port, priority, quanta, now_ps);
        if (quanta == 0)
            cold->resume_rx[priority]++;
        else
            cold->pause_rx[priority]++;
        if (!(profile->honours >> priority & 1)) {
            cold->ignored_pauses += quanta != 0;
        } else if (quanta != 0) {
            pause_queue(net, core, node, port, class, quanta, now_ps);
        } else if (net->port[port].paused >> class & 1) {
            pfc_resume(net, port, class, now_ps);
            resumed = true;
        }
    }
    return resumed;
}

bool pfc_pause_end(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                   sim_ps now_ps)
{
    struct port_cold *cold = &net->cold[port];
    uint8_t bit = (uint8_t)(1u << class);
    if ((net->port[port].paused & bit) && cold->pause_end_ps[class] > now_ps) {
        /* Refreshed meanwhile. */
        if (cold->pause_end_ps[class] != SIM_PS_MAX)
            sim_timer_add(core, node, cold->pause_end_ps[class], NET_TIMER(TIMER_PAUSE_END, (uint64_t)port << 3 | class));
        else
            cold->end_armed = (uint8_t)(cold->end_armed & ~bit);
        return false;
    }
    cold->end_armed = (uint8_t)(cold->end_armed & ~bit);
    if (!(net->port[port].paused & bit))
        return false;
    pfc_resume(net, port, class, now_ps);
    return true;
}

static sim_ps refresh_ps(const struct port_hot *hot)
{
    return (sim_ps)((double)pfc_quanta_ps(hot, hot->profile->pause_quanta) * hot->profile->pause_refresh);
}

bool pfc_refresh(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                 sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    struct port_cold *cold = &net->cold[port];
    uint8_t bit = (uint8_t)(1u << class);
    cold->refresh_armed = (uint8_t)(cold->refresh_armed & ~bit);
    if (!(hot->xoff & bit))
        return false;
    sim_ps due = cold->xoff_sent_ps[class] + refresh_ps(hot);
    if (due > now_ps) { /* an XON and a new XOFF came in between */
        cold->refresh_armed |= bit;
        sim_timer_add(core, node, due, NET_TIMER(TIMER_REFRESH, (uint64_t)port << 3 | class));
        return false;
    }
    hot->pause_todo |= bit;
    return true;
}

void pfc_put_frame(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t quanta,
                   uint32_t priorities, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    sim_ps wire_ps = net_wire(net, hot, net->pause_bytes);
    uint32_t c = packet_make(PACKET_PAUSE, (uint32_t)__builtin_ctz(priorities | 1u << 7), net->pause_bytes);
    hot->busy_until_ps = now_ps + wire_ps;
    net->cold[port].pause_bytes += net->pause_bytes + net->gap_bytes;
    net->cold[port].tx_pause_pkts++;
    for (uint32_t left = priorities; left; left &= left - 1) {
        if (quanta == 0)
            net->cold[port].resume_tx[__builtin_ctz(left)]++;
        else
            net->cold[port].pause_tx[__builtin_ctz(left)]++;
    }
    if (hot->profile->special && !special_transmit(net, core, node, port, NULL, now_ps, quanta, priorities, c))
        return;
    sim_send(core, hot->channel, hot->peer_node, now_ps + wire_ps + hot->pause_latency_ps, quanta, priorities, c);
}

void pfc_put(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t quanta,
             uint32_t priorities, sim_ps now_ps)
{
    if (net->cold[port].stall)
        priorities = watchdog_on_pause(net, core, node, port, quanta, priorities, now_ps);
    if (priorities != 0)
        pfc_put_frame(net, core, node, port, quanta, priorities, now_ps);
}

void pfc_transmit(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    struct port_cold *cold = &net->cold[port];
    uint32_t class = (uint32_t)__builtin_ctz(hot->pause_todo), quanta = 0;
    uint8_t bit = (uint8_t)(1u << class);
    hot->pause_todo = (uint16_t)(hot->pause_todo & ~bit);
    if (hot->xoff & bit) {
        quanta = hot->profile->pause_quanta;
        cold->xoff_sent_ps[class] = now_ps;
        if (quanta != PACKET_PAUSE_FOREVER && !(cold->refresh_armed & bit)) {
            cold->refresh_armed |= bit;
            sim_timer_add(core, node, now_ps + refresh_ps(hot),
                          NET_TIMER(TIMER_REFRESH, (uint64_t)port << 3 | class));
        }
    }
    pfc_put(net, core, node, port, quanta, hot->profile->priorities_of_pg[class], now_ps);
}
