/* watchdog.c - PFC watchdog of switch ports and of NIC ports.
 *
 * Switch: by the logic of SONiC's PFC_WD (Broadcom variant).
 *
 * Every poll_interval a port looks at its queues. A queue was stormed since the last look
 * if XOFFs arrived, it was paused at both looks and no pause ended in between; when that
 * has lasted for detection_time there is a storm. drop: what the queue holds and gets and what its
 * priority group gets is dropped; forward: pauses are ignored; alert: it is counted. It is
 * over when no XOFF has arrived for restoration_time; XON frames don't count.
 * Left out: the NVIDIA variant (queue occupancy without progress), big_red_switch.
 *
 * NIC (ConnectX: port stall watchdog): a priority on which the port has paused its peer without break for
 * nic_stall_critical is not paused any more. The peer's last pause runs out; what then comes fills the receive buffer of
 * a port that is still stuck, and is dropped (rx_out_of_buffer). The port may pause again when it has said XON (its
 * receive buffer has drained) or the storm ends. Left out: the warning at half that time.
 */
#include "models/nic.h"

static const struct pfcwd_params *params_at(const struct net *net, uint32_t port)
{
    return net_site_port(net, NET_PARAMS_PFCWD, net->cold[port].graph_port, NET_SITE_ANY_CLASS);
}

static void build_stall(struct port_cold *cold, const struct pfcwd_params *p)
{
    cold->stall = g_new0(struct stall_watch, 1);
    cold->stall->critical_ps = p->nic_stall_critical_ps;
}

bool watchdog_build(struct net *net, GError **err)
{
    (void)err;
    if (net->ib)
        return true;
    for (uint32_t p = 0; p < net->n_ports; p++) {
        struct port_cold *cold = &net->cold[p];
        bool is_switch = net->vertex[cold->node].is_switch;
        if (net->port[p].channel == NET_NONE)
            continue;
        if (!is_switch && params_at(net, p)->nic_enabled)
            build_stall(cold, params_at(net, p));
        if (!is_switch || !params_at(net, p)->enabled)
            continue;
        cold->watch = g_new0(struct queue_watch, NET_CLASSES);
        for (int c = 0; c < NET_CLASSES; c++)
            cold->watch[c].since_ps = -1;
    }
    return true;
}

/* XOFFs of the priorities that stop queue CLASS. */
static uint64_t xoffs(const struct net *net, uint32_t port, uint32_t class)
{
    uint64_t n = 0;
    for (uint32_t p = 0; p < NET_CLASSES; p++)
        if (net->port[port].profile->queue_of_priority[p] == class)
            n += net->cold[port].pause_rx[p];
    return n;
}

static void arm(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps)
{
    sim_ps poll = params_at(net, port)->poll_interval_ps;
    net->cold[port].watch_armed = true;
    sim_timer_add(core, node, (now_ps / poll + 1) * poll, NET_TIMER(TIMER_WATCH, port));
}

bool watchdog_on_xoff(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                      sim_ps now_ps)
{
    struct port_cold *cold = &net->cold[port];
    if (!cold->watch_armed)
        arm(net, core, node, port, now_ps);
    return cold->watch[class].since_ps >= 0 && params_at(net, port)->action == PFCWD_FORWARD;
}

static void flush(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class, sim_ps now_ps)
{
    struct port_cold *cold = &net->cold[port];
    uint64_t before = cold->drop_pkts[class];
    switch_flush(net, core, node, port, class, now_ps);
    cold->watch_drop_pkts += cold->drop_pkts[class] - before;
}

static void begin_storm(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                        sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    struct queue_watch *watch = &net->cold[port].watch[class];
    watch->since_ps = now_ps;
    net->cold[port].storms++;
    ((struct net_vertex *)node->state)->n_storms++;
    net_incident(net, core, node->state, NET_INCIDENT_STORM, port, class, now_ps);
    switch (params_at(net, port)->action) {
    case PFCWD_DROP:
        hot->paused = (uint16_t)(hot->paused | 0x100u << class);
        hot->xoff = (uint16_t)(hot->xoff | 0x100u << class);
        flush(net, core, node, port, class, now_ps);
        break;
    case PFCWD_FORWARD:
        if (hot->paused >> class & 1)
            pfc_resume(net, port, class, now_ps);
        switch_wake(net, core, node, port, now_ps);
        break;
    default:
        break;
    }
}

static void end_storm(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class,
                      sim_ps now_ps)
{
    struct port_hot *hot = &net->port[port];
    net->cold[port].watch[class].since_ps = -1;
    net->cold[port].watch[class].bad_ps = 0;
    net->cold[port].restores++;
    ((struct net_vertex *)node->state)->n_storms--;
    hot->paused = (uint16_t)(hot->paused & ~(0x100u << class));
    hot->xoff = (uint16_t)(hot->xoff & ~(0x100u << class));
    net_incident(net, core, node->state, NET_INCIDENT_STORM_OVER, port, class, now_ps);
}

/* True while the queue needs another look. */
static bool look(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t class, sim_ps now_ps)
{
    const struct pfcwd_params *p = params_at(net, port);
    struct queue_watch *w = &net->cold[port].watch[class];
    struct port_cold *cold = &net->cold[port];
    bool paused = net->port[port].paused >> class & 1;
    uint64_t rx = xoffs(net, port, class), on2off = cold->on2off[class];
    bool bad = rx > w->rx && on2off == w->on2off && paused && w->was_paused;
    w->bad_ps = bad ? w->bad_ps + p->poll_interval_ps : 0;
    w->rx = rx;
    w->on2off = on2off;
    w->was_paused = paused;
    if (w->since_ps < 0 && w->bad_ps >= p->detection_time_ps)
        begin_storm(net, core, node, port, class, now_ps);
    else if (w->since_ps >= 0 && now_ps - cold->xoff_rx_ps[class] >= p->restoration_time_ps)
        end_storm(net, core, node, port, class, now_ps);
    return paused || w->since_ps >= 0;
}

void watchdog_poll(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps)
{
    bool more = false;
    net->cold[port].watch_armed = false;
    for (uint32_t c = 0; c < NET_CLASSES; c++)
        more |= look(net, core, node, port, c, now_ps);
    if (more)
        arm(net, core, node, port, now_ps);
}

/* ---- NIC ---------------------------------------------------------------------- */
static void arm_stall(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t priority)
{
    struct stall_watch *w = net->cold[port].stall;
    w->armed = (uint8_t)(w->armed | 1u << priority);
    sim_timer_add(core, node, w->since_ps[priority] + w->critical_ps, NET_TIMER(TIMER_STALL, (uint64_t)port << 3 | priority));
}

void watchdog_forget(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t priorities, sim_ps now_ps)
{
    struct stall_watch *w = net->cold[port].stall;
    for (uint32_t left = w ? priorities : 0; left; left &= left - 1) {
        uint32_t priority = (uint32_t)__builtin_ctz(left), bit = 1u << priority;
        w->until_ps[priority] = now_ps;
        if (w->given_up & bit)
            net_incident(net, core, node->state, NET_INCIDENT_NIC_WATCHDOG_OVER, port, priority, now_ps);
        w->given_up = (uint8_t)(w->given_up & ~bit);
    }
}

uint32_t watchdog_on_pause(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t quanta,
                           uint32_t priorities, sim_ps now_ps)
{
    struct stall_watch *w = net->cold[port].stall;
    if (quanta == 0) {
        watchdog_forget(net, core, node, port, priorities, now_ps);
        return priorities;
    }
    sim_ps lasts_ps = quanta == PACKET_PAUSE_FOREVER ? SIM_PS_MAX / 2 : pfc_quanta_ps(&net->port[port], quanta);
    for (uint32_t left = priorities & ~(uint32_t)w->given_up; left; left &= left - 1) {
        uint32_t priority = (uint32_t)__builtin_ctz(left);
        if (w->until_ps[priority] <= now_ps)
            w->since_ps[priority] = now_ps;
        w->until_ps[priority] = now_ps + lasts_ps;
        if (!(w->armed >> priority & 1))
            arm_stall(net, core, node, port, priority);
    }
    return priorities & ~(uint32_t)w->given_up;
}

void watchdog_stall(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, uint32_t priority, sim_ps now_ps)
{
    struct stall_watch *w = net->cold[port].stall;
    uint32_t bit = 1u << priority;
    w->armed = (uint8_t)(w->armed & ~bit);
    if (w->until_ps[priority] <= now_ps)
        return;
    if (now_ps - w->since_ps[priority] < w->critical_ps) { /* there was a break */
        arm_stall(net, core, node, port, priority);
        return;
    }
    w->given_up = (uint8_t)(w->given_up | bit);
    net->nic[port]->n.tx_pause_storm_error_events++;
    net_incident(net, core, node->state, NET_INCIDENT_NIC_WATCHDOG, port, priority, now_ps);
    /* A pause without end would outlast the one who sent it. */
    if (net->port[port].profile->pause_quanta == PACKET_PAUSE_FOREVER)
        pfc_put_frame(net, core, node, port, 0, bit, MAX(now_ps, net->port[port].busy_until_ps));
}
