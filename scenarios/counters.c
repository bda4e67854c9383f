/* counters.c - what NICs and switches count, under the names that operators know, and what went wrong by name.
 *
 * Sources: mlx5 hw_counters and ethtool -S names (Linux mlx5 driver), SAI port, queue and priority group statistics as
 * SONiC shows them. A received count is what the peer sent on this priority less what the link lost. Rows with the
 * value 0 are left out.
 */
#include "scenarios/run_priv.h"

#define ROWS(columns) columns, (int)G_N_ELEMENTS(columns)

static const struct record_column_spec counter_columns[] = {
    {"node", RECORD_TEXT, "name", "NIC or switch"},
    {"port_on_node", RECORD_I64, "1", "its port"},
    {"peer", RECORD_TEXT, "name", "node at the other end"},
    {"counter", RECORD_TEXT, "name", "name of the counter"},
    {"value", RECORD_I64, "1", "its value in its own unit"},
    {"value_unit", RECORD_TEXT, "name", "that unit: packets, bytes, us, words of 4 bytes, or 1"},
};

struct place {
    struct run *run;
    struct record_table *table;
    uint32_t port, peer_port;
    int64_t port_on_node;
    const char *node, *peer;
};

static void add(const struct place *at, uint64_t value, const char *unit, const char *format, ...) G_GNUC_PRINTF(4, 5);
static void add(const struct place *at, uint64_t value, const char *unit, const char *format, ...)
{
    if (value == 0)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *name = g_strdup_vprintf(format, args);
    va_end(args);
    record_append(at->table, at->node, at->port_on_node, at->peer, name, (int64_t)value, unit);
}

static uint64_t in_us(sim_ps ps) { return (uint64_t)(ps / UNIT_US); }

/* ---- NICs ---------------------------------------------------------------------- */
static void add_hw_counters(const struct place *at)
{
    struct net_nic_counters n;
    net_nic_counters(at->run->net, at->port, &n);
    const struct { const char *name; uint64_t value; } rows[] = {
        {"out_of_sequence", n.out_of_sequence},
        {"duplicate_request", n.duplicate_request},
        {"packet_seq_err", n.packet_seq_err},
        {"local_ack_timeout_err", n.local_ack_timeout_err},
        {"rnr_nak_retry_err", n.rnr_nak_retry_err},
        {"roce_adp_retrans", n.roce_adp_retrans},
        {"roce_adp_retrans_to", n.roce_adp_retrans_to},
        {"req_transport_retries_exceeded", n.req_transport_retries_exceeded},
        {"req_rnr_retries_exceeded", n.req_rnr_retries_exceeded},
        {"rx_out_of_buffer", n.rx_out_of_buffer},
        {"np_ecn_marked_roce_packets", n.np_ecn_marked_roce_packets},
        {"np_cnp_sent", n.np_cnp_sent},
        {"rp_cnp_handled", n.rp_cnp_handled},
        {"rp_cnp_ignored", n.rp_cnp_ignored},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        add(at, rows[i].value, "packets", "%s", rows[i].name);
    add(at, n.tx_pause_storm_error_events, "1", "tx_pause_storm_error_events");
}

/* port_xmit_data and port_rcv_data count words of four bytes. */
#define DATA_WORD_BYTES 4

/* IBTA PortCounters as perfquery shows them. */
static void add_ib_port(const struct place *at)
{
    struct net_port_view v, peer;
    net_port_view(at->run->net, at->port, &v);
    net_port_view(at->run->net, at->peer_port, &peer);
    uint64_t sent = v.tx_data_pkts + v.tx_ack_pkts + v.tx_control_pkts - v.fc_tx_pkts;
    uint64_t got = peer.tx_data_pkts + peer.tx_ack_pkts + peer.tx_control_pkts - peer.fc_tx_pkts;
    add(at, v.tx_bytes / DATA_WORD_BYTES, "words of 4 bytes", "port_xmit_data");
    add(at, sent, "packets", "port_xmit_packets");
    add(at, (peer.tx_bytes - peer.lost_bytes) / DATA_WORD_BYTES, "words of 4 bytes", "port_rcv_data");
    add(at, got - peer.lost_pkts, "packets", "port_rcv_packets");
    add(at, in_us(v.credit_wait_ps), "us", "port_xmit_wait");
    add(at, v.hoq_discard_pkts, "packets", "port_xmit_discards");
    add(at, peer.lost_pkts, "packets", "port_rcv_errors");
    for (uint32_t vl = 0; vl < 8; vl++) {
        struct net_class_view q;
        net_class_view(at->run->net, at->port, vl, &q);
        add(at, q.tx_data_pkts + q.tx_answer_pkts, "packets", "port_xmit_packets_vl%u", vl);
        add(at, in_us(q.credit_stall_ps), "us", "port_vl_xmit_wait%u", vl);
        add(at, (uint64_t)q.buffer_max_bytes, "bytes", "port_vl_buffer_max%u", vl);
    }
}

static void add_nic_port(const struct place *at)
{
    struct net_port_view v, peer;
    net_port_view(at->run->net, at->port, &v);
    net_port_view(at->run->net, at->peer_port, &peer);
    uint64_t sent = v.tx_data_pkts + v.tx_ack_pkts + v.tx_control_pkts, got = peer.tx_data_pkts + peer.tx_ack_pkts + peer.tx_control_pkts;
    add(at, v.tx_bytes / DATA_WORD_BYTES, "words of 4 bytes", "port_xmit_data");
    add(at, sent, "packets", "port_xmit_packets");
    add(at, (peer.tx_bytes - peer.lost_bytes) / DATA_WORD_BYTES, "words of 4 bytes", "port_rcv_data");
    add(at, got - peer.lost_pkts, "packets", "port_rcv_packets");
    add(at, peer.lost_pkts, "packets", "rx_crc_errors_phy");
    for (uint32_t c = 0; c < 8; c++) {
        struct net_class_view here, there;
        net_class_view(at->run->net, at->port, c, &here);
        net_class_view(at->run->net, at->peer_port, c, &there);
        add(at, here.tx_data_pkts + here.tx_answer_pkts, "packets", "tx_prio%u_packets", c);
        add(at, here.tx_bytes, "bytes", "tx_prio%u_bytes", c);
        add(at, there.tx_data_pkts + there.tx_answer_pkts, "packets", "rx_prio%u_packets", c);
        add(at, there.tx_bytes, "bytes", "rx_prio%u_bytes", c);
        add(at, here.pause_rx_frames, "packets", "rx_prio%u_pause", c);
        add(at, in_us(here.paused_ps), "us", "rx_prio%u_pause_duration", c);
        add(at, here.on2off, "1", "rx_prio%u_pause_transition", c);
        add(at, here.pause_tx_frames, "packets", "tx_prio%u_pause", c);
        add(at, in_us(there.paused_ps), "us", "tx_prio%u_pause_duration", c);
        add(at, here.drop_pkts, "packets", "rx_prio%u_buf_discard", c);
    }
    add_hw_counters(at);
}

/* ---- switches -------------------------------------------------------------------- */
static void add_switch_port(const struct place *at)
{
    struct net_port_view v, peer;
    net_port_view(at->run->net, at->port, &v);
    net_port_view(at->run->net, at->peer_port, &peer);
    add(at, v.tx_bytes, "bytes", "SAI_PORT_STAT_IF_OUT_OCTETS");
    add(at, peer.tx_bytes - peer.lost_bytes, "bytes", "SAI_PORT_STAT_IF_IN_OCTETS");
    add(at, peer.lost_pkts, "packets", "SAI_PORT_STAT_IF_IN_ERRORS");
    for (uint32_t c = 0; c < 8; c++) {
        struct net_class_view q;
        net_class_view(at->run->net, at->port, c, &q);
        add(at, q.pause_rx_frames, "packets", "SAI_PORT_STAT_PFC_%u_RX_PKTS", c);
        add(at, q.pause_tx_frames, "packets", "SAI_PORT_STAT_PFC_%u_TX_PKTS", c);
        add(at, q.on2off, "1", "SAI_PORT_STAT_PFC_%u_ON2OFF_RX_PKTS", c);
        add(at, in_us(q.paused_ps), "us", "SAI_PORT_STAT_PFC_%u_RX_PAUSE_DURATION_US", c);
        add(at, q.tx_data_pkts + q.tx_answer_pkts, "packets", "SAI_QUEUE_STAT_PACKETS:%u", c);
        add(at, q.tx_bytes, "bytes", "SAI_QUEUE_STAT_BYTES:%u", c);
        add(at, q.drop_pkts - q.group_drop_pkts, "packets", "SAI_QUEUE_STAT_DROPPED_PACKETS:%u", c);
        add(at, q.group_drop_pkts, "packets", "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS:%u", c);
        add(at, q.ecn_marked_pkts, "packets", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS:%u", c);
        add(at, (uint64_t)q.queue_max_bytes, "bytes", "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES:%u", c);
        add(at, (uint64_t)(q.group_max_bytes - q.headroom_max_bytes), "bytes", "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES:%u", c);
        add(at, (uint64_t)q.headroom_max_bytes, "bytes", "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES:%u", c);
    }
    add(at, v.storms, "1", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED");
    add(at, v.restores, "1", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED");
    add(at, v.watch_drop_pkts, "packets", "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS");
    add(at, v.watch_rx_drop_pkts, "packets", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS");
}

void counters_fill(struct run *run)
{
    const struct net_graph *g = &run->fabric->graph;
    struct place at = {.run = run};
    at.table = record_table_add(run->book, "counters", "Counters of NICs and switches under their operators' names; zeros are left out.",
                                ROWS(counter_columns));
    for (uint32_t p = 0; p < g->n_ports; p++) {
        if (g->ports[p].peer == NET_NONE)
            continue;
        uint32_t node = g->ports[p].node;
        at.port = p;
        at.peer_port = g->ports[p].peer;
        at.port_on_node = (int64_t)(p - g->nodes[node].first_port);
        at.node = run->fabric->names[node];
        at.peer = run->fabric->names[g->ports[at.peer_port].node];
        if (run->config.ib)
            add_ib_port(&at);
        if (run->config.ib && g->nodes[node].kind == NET_HOST)
            add_hw_counters(&at);
        else if (run->config.ib)
            continue;
        else if (g->nodes[node].kind == NET_HOST)
            add_nic_port(&at);
        else
            add_switch_port(&at);
    }
}

/* ---- incidents --------------------------------------------------------------------- */
static const struct record_column_spec incident_columns[] = {
    {"t_ps", RECORD_I64, "ps", "time"},
    {"node", RECORD_TEXT, "name", "where"},
    {"port_on_node", RECORD_I64, "1", "its port"},
    {"peer", RECORD_TEXT, "name", "node at the other end"},
    {"what", RECORD_TEXT, "name", "what happened"},
    {"detail", RECORD_I64, "1", "queue of a storm, priority of a NIC's pauses, number of links known to be down, queue pairs moved"},
};

static const char *fault_name(const struct run *run, uint32_t i)
{
    return g_array_index(run->faults, struct net_fault, i).name;
}

static char *incident_text(const struct run *run, const struct net_incident *i)
{
    switch (i->kind) {
    case NET_INCIDENT_STORM:
        return g_strdup("pause storm detected");
    case NET_INCIDENT_STORM_OVER:
        return g_strdup("pause storm over");
    case NET_INCIDENT_FAULT:
        return g_strdup_printf("fault %s begins", fault_name(run, i->detail));
    case NET_INCIDENT_FAULT_OVER:
        return g_strdup_printf("fault %s ends", fault_name(run, i->detail));
    case NET_INCIDENT_FAILOVER:
        return g_strdup("queue pairs moved to another port");
    case NET_INCIDENT_REROUTED:
        return g_strdup("new routes");
    case NET_INCIDENT_NIC_WATCHDOG_OVER:
        return g_strdup("NIC may pause again");
    default:
        return g_strdup("NIC gave up pausing");
    }
}

static const char *port_name(const struct run *run, uint32_t port, int64_t *port_on_node, const char **peer)
{
    const struct net_graph *g = &run->fabric->graph;
    const struct net_port *p = &g->ports[port];
    *port_on_node = (int64_t)(port - g->nodes[p->node].first_port);
    *peer = p->peer == NET_NONE ? "-" : run->fabric->names[g->ports[p->peer].node];
    return run->fabric->names[p->node];
}

static void warn_of_storm(struct run *run, const struct net_incident *i)
{
    int64_t port_on_node;
    const char *peer, *node = port_name(run, i->port, &port_on_node, &peer);
    struct net_port_view v;
    net_port_view(run->net, i->port, &v);
    g_autofree char *when = units_human_time(i->t_ps);
    g_ptr_array_add(run->warnings, g_strdup_printf("pause storm from %s: detected at %s by the watchdog of %s port %" G_GINT64_FORMAT
                                                   " (queue %u, %" G_GUINT64_FORMAT " XOFF frames, %" G_GUINT64_FORMAT " packets dropped)",
                                                   peer, when, node, port_on_node, i->detail, v.pause_rx_frames, v.drop_pkts));
}

static void warn_of_stall(struct run *run, const struct net_incident *i)
{
    int64_t port_on_node;
    const char *peer, *node = port_name(run, i->port, &port_on_node, &peer);
    struct net_nic_counters n;
    net_nic_counters(run->net, i->port, &n);
    g_autofree char *when = units_human_time(i->t_ps);
    g_ptr_array_add(run->warnings, g_strdup_printf("%s port %" G_GINT64_FORMAT " paused %s for pfcwd.nic_stall_critical without break and gave up at %s"
                                                   " (priority %u, %" G_GUINT64_FORMAT " packets dropped by the NIC)",
                                                   node, port_on_node, peer, when, i->detail, n.rx_out_of_buffer));
}

#define STORMS_NAMED 5

void incidents_fill(struct run *run)
{
    g_autoptr(GArray) all = net_incidents(run->net);
    struct record_table *table = record_table_add(run->book, "incidents", "Faults, storms and what the fabric did about them.",
                                                  ROWS(incident_columns));
    int storms = 0, stalls = 0;
    for (guint k = 0; k < all->len; k++) {
        const struct net_incident *i = &g_array_index(all, struct net_incident, k);
        int64_t port_on_node;
        const char *peer, *node = port_name(run, i->port, &port_on_node, &peer);
        const struct net_incident *before = k ? i - 1 : i;
        if (k && i->kind == NET_INCIDENT_REROUTED && before->kind == i->kind && before->t_ps == i->t_ps)
            continue; /* all switches at a time: one row */
        g_autofree char *what = incident_text(run, i);
        record_append(table, i->t_ps, node, port_on_node, peer, what, (int64_t)i->detail);
        if (i->kind == NET_INCIDENT_STORM && storms++ < STORMS_NAMED)
            warn_of_storm(run, i);
        if (i->kind == NET_INCIDENT_NIC_WATCHDOG && stalls++ < STORMS_NAMED)
            warn_of_stall(run, i);
    }
}
