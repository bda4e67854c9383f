/* fake_book.h - a book such as a run leaves, without a run: for the tests of analysis/.
 *
 * An incast over two leaves and one spine: FAKE_FLOWS flows of 4 MB into host h0, of which the
 * last is unfinished; queue, rate, link and pause series; three collectives. The numbers are made
 * up but hang together (times ascend, the ledger balances).
 */
#ifndef TEST_ANALYSIS_FAKE_BOOK_H
#define TEST_ANALYSIS_FAKE_BOOK_H

#include "sim/record.h"
#include "sim/units.h"
#include <math.h>

#define FAKE_FLOWS       40
#define FAKE_PORTS       12
#define FAKE_SAMPLES     400
#define FAKE_FLOW_BYTES  (4 * UNIT_MB)
#define FAKE_MAKESPAN_PS (4 * UNIT_MS)

#define I64(name, unit, doc)                                                                                 \
    {                                                                                                        \
        name, RECORD_I64, unit, doc                                                                          \
    }
#define F64(name, unit, doc)                                                                                 \
    {                                                                                                        \
        name, RECORD_F64, unit, doc                                                                          \
    }
#define TEXT(name, doc)                                                                                      \
    {                                                                                                        \
        name, RECORD_TEXT, "name", doc                                                                       \
    }

static inline void fake_meta(struct record_book *book)
{
    record_meta_set(book, "version", "0.1.0");
    record_meta_set(book, "scenario", "incast40.ini");
    record_meta_set(book, "scenario_text",
                    "# 40 to 1\n[topology]\nkind = clos\n\n[workload]\nkind = incast\n");
    record_meta_set(book, "seed", "1");
    record_meta_set(book, "threads", "2");
    record_meta_set(book, "fidelity", "packet");
    record_meta_set(book, "digest", "0x1f2e3d4c5b6a7988");
    record_meta_set(book, "status", "complete");
    record_meta_set(book, "warning.0", "flow 39 is unfinished");
    record_meta_set(book, "note", ""); /* an empty value is a value */
}

static inline void fake_params(struct record_book *book)
{
    const struct record_param rows[] = {
        {(char *)"ecn", (char *)"kmin", (char *)"100KB", (char *)"400KB", (char *)"bytes", (char *)"assumed",
         (char *)"file", (char *)"incast40.ini:9", 1e5},
        {(char *)"ecn", (char *)"pmax", (char *)"0.2", (char *)"0.2", (char *)"", (char *)"assumed",
         (char *)"default", (char *)"default", 0.2},
        {(char *)"switch", (char *)"alpha", (char *)"100Gbps:1/8 200Gbps:1/4", (char *)"1/8", (char *)"",
         (char *)"assumed", (char *)"command line", (char *)"--set", NAN},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        record_param_add(book, &rows[i]);
}

static inline void fake_summary(struct record_book *book)
{
    record_summary_set(book, "makespan_ps", (double)FAKE_MAKESPAN_PS, "ps",
                       "From the first start to the last end.");
    record_summary_set(book, "flows_total", FAKE_FLOWS, "1", "Flows of the workload.");
    record_summary_set(book, "flows_done", FAKE_FLOWS - 1, "1", "Flows that ended.");
    record_summary_set(book, "ecn_marked_pkts", 8123, "packets", "Packets marked CE.");
    record_summary_set(book, "cnp_sent_pkts", 512, "packets", "CNPs sent.");
    record_summary_set(book, "cnp_handled_pkts", 511, "packets", "CNPs that lowered a rate or alpha.");
    record_summary_set(book, "rate_cuts", 420, "1", "Rate cuts.");
    record_summary_set(book, "pfc_pause_frames", 96, "packets", "XOFF frames sent.");
    record_summary_set(book, "pfc_paused_ps", 1.9e9, "ps", "Time that ports were paused, summed.");
    record_summary_set(book, "drop_pkts", 3, "packets", "Packets dropped.");
    record_summary_set(book, "queue_max_bytes", 410e3, "bytes", "Largest egress queue.");
    record_summary_set(book, "ingress_max_bytes", 520e3, "bytes", "Largest ingress account.");
    record_summary_set(book, "headroom_max_bytes", 61e3, "bytes", "Largest headroom use.");
    record_summary_set(book, "data_hops", 160e3, "1", "Hops of data packets.");
    record_summary_set(book, "ack_hops", 40e3, "1", "Hops of ACKs.");
    record_summary_set(book, "ctrl_hops", 2e3, "1", "Hops of CNPs and pauses.");
    record_summary_set(book, "events", 512e3, "1", "Events.");
    record_summary_set(book, "wall_s", 0.0206, "s", "Wall clock of the run.");
    record_summary_set(book, "ns_per_hop", 102.0, "ns", "Wall clock a packet-hop.");
    record_summary_set(book, "timeouts", NAN, "1", "Retransmission timeouts (not measured).");
}

static inline void fake_flows(struct record_book *book)
{
    static const struct record_column_spec specs[] = {
        I64("flow", "1", "Flow number."),
        I64("src", "1", "Source host."),
        I64("dst", "1", "Destination host."),
        I64("bytes", "bytes", "Payload."),
        I64("class", "1", "Traffic class."),
        I64("start_ps", "ps", "First byte may leave."),
        I64("fct_rx_ps", "ps", "Until received."),
        I64("fct_ack_ps", "ps", "Until acknowledged."),
        I64("ideal_ps", "ps", "Alone."),
        I64("done", "1", "1 when ended."),
        I64("retransmitted_pkts", "packets", "Sent again."),
    };
    struct record_table *t = record_table_add(book, "flows", "Flows.", specs, G_N_ELEMENTS(specs));
    for (int64_t i = 0; i < FAKE_FLOWS; i++) {
        bool done = i + 1 < FAKE_FLOWS;
        int64_t rx_ps = (1200 + 65 * i + (i * i * 37) % 50) * UNIT_US;
        record_append(t, i, i + 1, INT64_C(0), (int64_t)FAKE_FLOW_BYTES, INT64_C(3), i * UNIT_NS,
                      done ? rx_ps : INT64_C(-1), done ? rx_ps + 4 * UNIT_US : INT64_C(-1), 85 * UNIT_US,
                      (int64_t)done, i % 3);
    }
}

static inline void fake_collectives(struct record_book *book)
{
    static const struct record_column_spec specs[] = {
        TEXT("name", "Name."),
        TEXT("op", "Operation."),
        TEXT("algorithm", "Algorithm."),
        I64("ranks", "1", "Ranks."),
        I64("bytes", "bytes", "Size."),
        I64("start_ps", "ps", "Start."),
        I64("end_ps", "ps", "End."),
        I64("time_ps", "ps", "Duration, -1 when unfinished."),
        F64("algbw_bps", "bit/s", "Bytes over time."),
        F64("busbw_bps", "bit/s", "Bus bandwidth."),
        I64("bound_ps", "ps", "Least time."),
        F64("ratio", "1", "Time over bound."),
    };
    struct record_table *t =
        record_table_add(book, "collectives", "Collectives.", specs, G_N_ELEMENTS(specs));
    record_append(t, "grad_allreduce_0", "all_reduce", "ring", INT64_C(16), 256 * UNIT_MB, INT64_C(0),
                  1400 * UNIT_US, 1400 * UNIT_US, 1.4629e12, 2.743e12, 1230 * UNIT_US, 1.138);
    record_append(t, "expert's_100%_a2a", "all_to_all", "direct", INT64_C(16), 64 * UNIT_MB, 1400 * UNIT_US,
                  2200 * UNIT_US, 800 * UNIT_US, 6.4e11, 6.0e11, 300 * UNIT_US, 2.667);
    record_append(t, "tail_allgather", "all_gather", "ring", INT64_C(16), 64 * UNIT_MB, 2200 * UNIT_US,
                  INT64_C(-1), INT64_C(-1), NAN, NAN, 300 * UNIT_US, NAN);
}

static inline void fake_ports(struct record_book *book)
{
    static const struct record_column_spec specs[] = {
        I64("port", "1", "Port number."),
        TEXT("node", "Node."),
        I64("port_on_node", "1", "Port of the node."),
        TEXT("peer", "Node at the other end."),
        I64("rate_bps", "bit/s", "Rate."),
        I64("tx_bytes", "bytes", "Wire bytes sent."),
        I64("tx_pkts", "packets", "Packets sent."),
        I64("data_pkts", "packets", "Data."),
        I64("ack_pkts", "packets", "ACKs."),
        I64("ctrl_pkts", "packets", "Control."),
        I64("ecn_marked_pkts", "packets", "Marked."),
        I64("drop_pkts", "packets", "Dropped."),
        I64("drop_bytes", "bytes", "Dropped."),
        I64("pause_rx", "packets", "XOFF frames received."),
        I64("paused_ps", "ps", "Time paused."),
        I64("pause_tx", "packets", "XOFF frames sent."),
        I64("queue_max_bytes", "bytes", "Peak."),
        I64("ingress_max_bytes", "bytes", "Peak."),
        I64("headroom_max_bytes", "bytes", "Peak."),
        F64("utilisation", "1", "Share of the time that it sent."),
    };
    struct record_table *t = record_table_add(book, "ports", "Ports.", specs, G_N_ELEMENTS(specs));
    static const char *const nodes[] = {"leaf0", "leaf1", "spine0"};
    for (int64_t i = 0; i < FAKE_PORTS; i++) {
        const char *node = nodes[i / 4];
        const char *peer = i / 4 == 2 ? nodes[i % 2] : i % 4 == 3 ? "spine0" : "h0";
        int64_t load = (i * 5) % 12; /* every load once */
        record_append(t, i, node, i % 4, peer, 400 * UNIT_GBPS, load * 15 * UNIT_MB, load * 4000, load * 3500,
                      load * 400, load * 100, load * 700, i == 3 ? INT64_C(3) : INT64_C(0),
                      i == 3 ? INT64_C(12600) : INT64_C(0), load > 6 ? load * 8 : 0,
                      load > 6 ? load * 50 * UNIT_US : 0, load > 8 ? load : 0, load * 37 * UNIT_KB,
                      load * 47 * UNIT_KB, load > 6 ? load * 5545 : 0, (double)load / 11.5);
    }
}

static inline void fake_ledger(struct record_book *book)
{
    static const struct record_column_spec specs[] = {
        I64("class", "1", "Class."),
        I64("sent_pkts", "packets", "Sent."),
        I64("sent_bytes", "bytes", "Sent."),
        I64("received_pkts", "packets", "Received."),
        I64("received_bytes", "bytes", "Received."),
        I64("dropped_pkts", "packets", "Dropped."),
        I64("dropped_bytes", "bytes", "Dropped."),
        I64("in_flight_pkts", "packets", "In flight at the end."),
        I64("lost_pkts", "packets", "Lost on links."),
    };
    struct record_table *t = record_table_add(book, "ledger", "Ledger.", specs, G_N_ELEMENTS(specs));
    record_append(t, INT64_C(3), INT64_C(40000), 168 * UNIT_MB, INT64_C(39985), INT64_C(167937000),
                  INT64_C(3), INT64_C(12600), INT64_C(8), INT64_C(4));
    record_append(t, INT64_C(6), INT64_C(512), INT64_C(40960), INT64_C(512), INT64_C(40960), INT64_C(0),
                  INT64_C(0), INT64_C(0), INT64_C(0));
}

/* Depth of the queue of PORT at sample I: a sawtooth, higher for lower ports. */
static inline int64_t fake_depth(int64_t port, int64_t i)
{
    return (i * (7 - port) * 9973 + (i * i * 7919) % 30011) % ((9 - port) * 45000);
}

static inline void fake_series(struct record_book *book)
{
    static const struct record_column_spec queue[] = {I64("t_ps", "ps", "Instant."),
                                                      I64("port", "1", "Port."), I64("class", "1", "Class."),
                                                      I64("bytes", "bytes", "Depth.")};
    static const struct record_column_spec rate[] = {
        I64("t_ps", "ps", "Instant."), I64("flow", "1", "Flow."), F64("rate_bps", "bit/s", "Current rate."),
        F64("target_bps", "bit/s", "Target rate."), F64("alpha", "1", "DCQCN alpha.")};
    static const struct record_column_spec link[] = {I64("t_ps", "ps", "Instant."), I64("port", "1", "Port."),
                                                     F64("utilisation", "1", "Share since the last row."),
                                                     F64("paused", "1", "Share of time paused.")};
    struct record_table *q = record_table_add(book, "series/queue", "Queue depths.", queue, 4);
    struct record_table *r = record_table_add(book, "series/rate", "Rates.", rate, 5);
    struct record_table *l = record_table_add(book, "series/link", "Links.", link, 4);
    for (int64_t i = 0; i < FAKE_SAMPLES; i++) {
        int64_t t_ps = i * (FAKE_MAKESPAN_PS / FAKE_SAMPLES);
        for (int64_t p = 0; p < 7; p++)
            record_append(q, t_ps, p, INT64_C(3), fake_depth(p, i));
        for (int64_t f = 0; f < 8; f++) {
            double share = 0.15 + 0.1 * (double)f + 0.8 * exp(-(double)((i * (f + 2)) % 160) / 40.0);
            record_append(r, t_ps, f, 400e9 * fmin(share, 1.0), 400e9 * fmin(share * 1.2, 1.0), 0.5);
        }
        record_append(l, t_ps, INT64_C(3), 0.9, i % 5 == 0 ? 0.2 : 0.0);
    }
}

static inline void fake_pauses(struct record_book *book)
{
    static const struct record_column_spec specs[] = {
        I64("t_ps", "ps", "Instant."), I64("port", "1", "Port that was told."), I64("class", "1", "Class."),
        I64("quanta", "1", "Pause of 512 bit times each; 0 resumes.")};
    struct record_table *t = record_table_add(book, "events/pfc", "PFC frames.", specs, G_N_ELEMENTS(specs));
    for (int64_t i = 0; i < 48; i++) {
        int64_t port = (i * 5) % 12, t_ps = i * 80 * UNIT_US;
        record_append(t, t_ps, port, INT64_C(3), INT64_C(65535));
        if (i % 6) /* every sixth pause runs out by itself, after 83.9 us at 400 Gb/s */
            record_append(t, t_ps + (20 + i) * UNIT_US, port, INT64_C(3), INT64_C(0));
    }
}

/* (transfer full) */
static inline struct record_book *fake_book_new(void)
{
    struct record_book *book = record_book_new();
    fake_meta(book);
    fake_params(book);
    fake_summary(book);
    fake_flows(book);
    fake_collectives(book);
    fake_ports(book);
    fake_ledger(book);
    fake_series(book);
    fake_pauses(book);
    return book;
}

#undef I64
#undef F64
#undef TEXT

/* A new folder under the system's. (transfer full) */
static inline char *fake_folder(void)
{
    return g_dir_make_tmp("fabricast-test-XXXXXX", NULL);
}

#endif
