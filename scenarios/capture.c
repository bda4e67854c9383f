/* capture.c - frames of chosen ports as a table: what a capture at the egress of that port would show. */
#include "scenarios/run_priv.h"

#include "models/packet.h"

static const struct record_column_spec columns[] = {
    {"t_ps", RECORD_I64, "ps", "begin of the frame on the wire"},
    {"node", RECORD_TEXT, "name", "sender of the frame on this link"},
    {"peer", RECORD_TEXT, "name", "node at the other end"},
    {"node_id", RECORD_I64, "1", "number of the sending node"},
    {"kind", RECORD_TEXT, "name", "data, ack, nak, cnp, pause, sack, rnr or credit"},
    {"src_rank", RECORD_I64, "1", "rank that sent the packet; -1: pause frame"},
    {"dst_rank", RECORD_I64, "1", "rank that it goes to; -1: pause frame"},
    {"queue_pair", RECORD_I64, "1", "queue pair; -1: pause frame"},
    {"sport", RECORD_I64, "1", "UDP source port"},
    {"psn", RECORD_I64, "1", "PSN, not wrapped to 24 bits"},
    {"frame_bytes", RECORD_I64, "bytes", "frame with FCS, without preamble and gap"},
    {"payload_bytes", RECORD_I64, "bytes", "payload of a data packet"},
    {"first", RECORD_I64, "1", "first packet of its message"},
    {"last", RECORD_I64, "1", "last packet of its message"},
    {"dscp", RECORD_I64, "1", "DSCP"},
    {"pcp", RECORD_I64, "1", "PCP"},
    {"ce", RECORD_I64, "1", "bears a congestion mark"},
    {"again", RECORD_I64, "1", "sent again"},
    {"message_bytes", RECORD_I64, "bytes", "message length of a first packet"},
    {"priorities", RECORD_I64, "1", "pause frame: class-enable vector"},
    {"quanta", RECORD_I64, "1", "pause frame: quanta of these classes; 0 is XON"},
};

static const char *const kinds[] = {"data", "ack", "nak", "cnp", "pause", "sack", "rnr", "credit"};

static void add_frame(struct run *run, struct record_table *table, const struct net_frame *f)
{
    const struct net_graph *g = &run->fabric->graph;
    const struct net_port *port = &g->ports[f->port];
    enum packet_kind kind = packet_kind(f->c);
    bool pause = kind == PACKET_PAUSE, back = f->a & 1;
    struct net_packet_view p = {0};
    struct net_qp_view qp = {0};
    if (!pause) {
        net_packet_view(run->net, f->a, f->b, f->c, &p);
        net_qp_view(run->net, f->a >> 1, 0, &qp);
    }
    record_append(table, f->t_ps, run->fabric->names[port->node], run->fabric->names[g->ports[port->peer].node], (int64_t)port->node,
                  kinds[kind], pause ? INT64_C(-1) : (int64_t)(back ? qp.dst_rank : qp.src_rank),
                  pause ? INT64_C(-1) : (int64_t)(back ? qp.src_rank : qp.dst_rank), pause ? INT64_C(-1) : (int64_t)(f->a >> 1),
                  (int64_t)qp.sport, pause ? INT64_C(0) : (int64_t)f->b, (int64_t)packet_bytes(f->c), p.payload_bytes, (int64_t)p.first,
                  (int64_t)p.last, pause ? INT64_C(0) : (int64_t)net_code_dscp(run->net, packet_code(f->c)),
                  pause ? INT64_C(0) : (int64_t)net_code_pcp(run->net, packet_code(f->c)), (int64_t)!!(f->c & PACKET_CE),
                  (int64_t)!!(f->c & PACKET_AGAIN), p.message_bytes, pause ? (int64_t)f->b : INT64_C(0),
                  pause ? (int64_t)MIN(f->a, 65535u) : INT64_C(0));
}

void capture_fill(struct run *run)
{
    if (run->options->capture == NULL)
        return;
    uint64_t left_out;
    g_autoptr(GArray) frames = net_captured(run->net, &left_out);
    struct record_table *table = record_table_add(run->book, "events/capture", "Frames that left the captured ports.", columns,
                                                  (int)G_N_ELEMENTS(columns));
    for (guint i = 0; i < frames->len; i++)
        add_frame(run, table, &g_array_index(frames, struct net_frame, i));
    if (left_out > 0)
        g_ptr_array_add(run->warnings, g_strdup_printf("capture: %" G_GUINT64_FORMAT " frames beyond the first %" G_GUINT64_FORMAT
                                                       " of a port were left out", left_out, (uint64_t)RUN_CAPTURE_MAX));
}
