/* nic_cc.c - between the NIC and the law of congestion control: which law, what it is told, what it may not be combined with.
 *
 * Laws that want ACKs get one struct cc_ack each. Its round trip is that of the packet that caused the answer, from a
 * ring of send times a queue pair (the sender's own state); a packet that was sent again has none (Karn). Laws that
 * want nothing (none, DCQCN) have no net->feedback and cost a test of that pointer.
 */
#include "models/cc_credit.h"
#include "models/cc_dctcp.h"
#include "models/cc_hpcc.h"
#include "models/cc_swift.h"
#include "models/cc_timely.h"
#include "models/dcqcn.h"
#include "models/nic_credit.h"
#include "models/telemetry.h"

#include <stdlib.h>

/* Packets of a queue pair whose send times are kept; those sent while so many are under way have no round trip. */
#define STAMPS 1024u

struct stamp { sim_ps sent_ps; uint32_t psn; };

struct nic_feedback {
    sim_ps *wait_ps;     /* [qp]: time of the pacing timer that counts; others are stale */
    struct stamp *stamp; /* [qp][STAMPS]; NULL: nobody wants round trips */
};

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

/* ---- the law ----------------------------------------------------------------- */
static const struct cc_ops *const laws[] = {
    [NIC_CC_NONE] = &cc_none_ops, [NIC_CC_DCQCN] = &dcqcn_ops, [NIC_CC_DCTCP] = &cc_dctcp_ops,
    [NIC_CC_HPCC] = &cc_hpcc_ops, [NIC_CC_SWIFT] = &cc_swift_ops, [NIC_CC_TIMELY] = &cc_timely_ops, [NIC_CC_CREDIT] = &cc_credit_ops,
};

/* One law a run: both ends of a queue pair have to speak it. */
static bool check_places(const struct net *net, GError **err)
{
    int law = net->config.nic->congestion_control;
    for (uint32_t i = 0; i < net->graph->n_nodes; i++) {
        if (net->graph->nodes[i].kind != NET_HOST)
            continue;
        const struct nic_params *nic = net_site_node(net, NET_PARAMS_NIC, i);
        if (nic->congestion_control != law)
            return fail(err, "nic.congestion_control: %s at %s, %s for the run; allowed: one for all NICs", model_cc_name(nic->congestion_control),
                        net->config.node_names ? net->config.node_names[i] : "a node", model_cc_name(law));
    }
    return true;
}

static bool check_law(const struct net *net, GError **err)
{
    const struct nic_params *nic = net->config.nic;
    const char *word = model_cc_name(nic->congestion_control);
    if (net->cc != &cc_none_ops && net->cc != &dcqcn_ops && !net->config.cc_params)
        return fail(err, "nic.congestion_control: %s without its parameters", word);
    return check_places(net, err);
}

/* What a law wants against what the run has. */
static bool check_wants(const struct net *net, GError **err)
{
    const char *word = net->cc->name;
    if ((net->cc_wants & CC_WANTS_WINDOW) && net->config.nic->ack_interval > 1)
        return fail(err, "nic.ack_interval: with %s a window of one packet would wait for ever for an ACK every %" G_GINT64_FORMAT
                         "; allowed: 1",
                    word, net->config.nic->ack_interval);
    if ((net->cc_wants & CC_WANTS_ECHO) && !net->config.ecn->enabled)
        return fail(err, "ecn.enabled: %s is blind without marks; allowed: true", word);
    return true;
}

/* A slot of telemetry belongs to one packet on one path, and a header to so many links. */
static bool check_telemetry(const struct net *net, uint32_t n_hops, GError **err)
{
    if (net->forward)
        return fail(err, "nic.congestion_control: %s compares the telemetry of one path, but in this run packets change theirs; allowed: "
                         "routing.mode ecmp or static, and no fault that takes a link, switch or NIC port down",
                    net->cc->name);
    if (n_hops > CC_MAX_HOPS)
        return fail(err, "nic.congestion_control: a path of %u links; allowed with %s: %d, for which its header has room", n_hops,
                    net->cc->name, CC_MAX_HOPS);
    return true;
}

static bool build_telemetry(struct net *net, GError **err)
{
    uint32_t window_pkts = 1, n_hops = 0;
    if (!(net->cc_wants & CC_WANTS_INT))
        return true;
    for (uint32_t q = 0; q < net->n_qps; q++) {
        window_pkts = MAX(window_pkts, MIN(net->tx[q].rate.window_pkts, net->tx[q].window_pkts));
        n_hops = MAX(n_hops, net->qp[q].n_hops + 1u);
    }
    if (!check_telemetry(net, n_hops, err))
        return false;
    profile_all_special(net);
    if (telemetry_build(net, window_pkts, n_hops))
        return true;
    return fail(err, "nic.congestion_control: no memory for the telemetry of %u queue pairs with windows of %u packets", net->n_qps, window_pkts);
}

static void build_feedback(struct net *net)
{
    if (!(net->cc_wants & CC_WANTS_ACK))
        return;
    struct nic_feedback *f = net->feedback = g_new0(struct nic_feedback, 1);
    f->wait_ps = g_new0(sim_ps, MAX(net->n_qps, 1));
    if (net->cc_wants & CC_WANTS_RTT)
        f->stamp = sim_alloc_large((size_t)net->n_qps * STAMPS, sizeof *f->stamp);
}

bool nic_cc_build(struct net *net, GError **err)
{
    int law = net->config.nic->congestion_control;
    if (net->ib && law != NIC_CC_NONE && law != NIC_CC_DCQCN)
        return fail(err, "nic.congestion_control: %s needs Ethernet; allowed with topology.link_layer infiniband: none", model_cc_name(law));
    net->cc = laws[net->ib ? NIC_CC_NONE : law];
    if (!check_law(net, err)) {
        net->cc = NULL;
        return false;
    }
    net->cc_state = net->cc->new_state(net->cc == &dcqcn_ops ? net->config.dcqcn : net->config.cc_params, net->n_qps);
    net->cc_wants = net->cc->wants(net->cc_state);
    if (!check_wants(net, err))
        return false;
    net->echo_mode = net->config.nic->np_mode == NIC_NP_ACK_ECHO || (net->cc_wants & CC_WANTS_ECHO);
    /* Without a control the notification point of the NIC still works; another law has taken its place. */
    net->sends_cnps = !net->echo_mode && (net->cc == &cc_none_ops || (net->cc_wants & CC_WANTS_CNP));
    build_feedback(net);
    for (uint32_t q = 0; q < net->n_qps; q++) {
        struct cc_path path;
        net_cc_path(net, q, &path);
        net->cc->start(net->cc_state, q, &net->tx[q].rate, &path);
    }
    return (!(net->cc_wants & CC_WANTS_CREDIT) || nic_credit_build(net, err)) && build_telemetry(net, err);
}

void nic_cc_free(struct net *net)
{
    if (net->feedback) {
        g_free(net->feedback->wait_ps);
        free(net->feedback->stamp);
    }
    g_free(net->feedback);
    if (net->cc)
        net->cc->free_state(net->cc_state);
    telemetry_free(net);
    nic_credit_free(net);
}

/* ---- pacing timers ------------------------------------------------------------- */
void nic_cc_waits(struct net *net, uint32_t qp, sim_ps until_ps) { net->feedback->wait_ps[qp] = until_ps; }

bool nic_cc_waited(const struct net *net, uint32_t qp, sim_ps now_ps)
{
    return net->tx[qp].state == QP_WAITING && net->feedback->wait_ps[qp] == now_ps;
}

/* The law may have made the gap shorter that QP is waiting out. */
static void shorten_wait(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    if (t->state != QP_WAITING || !net->repace)
        return;
    sim_ps next_ps = MAX(t->sent_ps + (sim_ps)(t->rate.ps_per_byte * (double)t->sent_wire_bytes), now_ps);
    if (next_ps >= t->next_ps)
        return;
    t->next_ps = next_ps;
    nic_cc_waits(net, qp, next_ps);
    sim_timer_add(core, node, next_ps, NET_TIMER(TIMER_QP, qp));
}

/* ---- what the law is told -------------------------------------------------------- */
static struct stamp *stamp_of(const struct net *net, uint32_t qp, uint32_t psn)
{
    return &net->feedback->stamp[(size_t)qp * STAMPS + psn % STAMPS];
}

void nic_cc_sent(struct net *net, uint32_t qp, uint32_t psn, uint32_t flags, uint32_t bytes, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    if ((net->cc_wants & CC_WANTS_RTT) && !(flags & PACKET_AGAIN)) {
        struct stamp *stamp = stamp_of(net, qp, psn);
        bool free = psn < STAMPS || (int32_t)(stamp->psn - t->una_psn) < 0;
        if (free)
            *stamp = (struct stamp){now_ps, psn};
    }
    if ((net->cc_wants & CC_WANTS_CREDIT) && !(flags & PACKET_AGAIN))
        nic_credit_sent(net, qp, psn);
    if (net->cc_wants & CC_WANTS_BYTES)
        net->cc->on_sent(net->cc_state, qp, &t->rate, bytes, now_ps);
}

/* What is known of packet PSN, which caused the answer. */
static void add_packet(const struct net *net, uint32_t qp, uint32_t psn, sim_ps now_ps, struct cc_ack *ack)
{
    if (net->telemetry) {
        ack->hops = telemetry_of(net, qp, psn);
        ack->n_hops = net->qp[qp].n_hops + 1u;
    }
    if (!net->feedback->stamp)
        return;
    const struct stamp *stamp = stamp_of(net, qp, psn);
    if (stamp->psn == psn)
        ack->rtt_ps = now_ps - stamp->sent_ps;
}

void nic_cc_answered(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, const struct sim_record *rec,
                     sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    enum packet_kind kind = packet_kind(rec->c);
    struct cc_ack ack = {.psn = t->una_psn, .next_psn = t->next_psn, .marked = rec->c & PACKET_ECHO, .rtt_ps = -1};
    if (t->failed)
        return;
    if (kind <= PACKET_NAK && (int32_t)(rec->b - t->una_psn) > 0) {
        ack.acked_pkts = rec->b - t->una_psn;
        ack.acked_bytes = ack.acked_pkts * net->mtu;
        ack.psn = rec->b;
        if ((int32_t)(ack.next_psn - ack.psn) < 0) /* acknowledged while it was being sent again */
            ack.next_psn = ack.psn;
    }
    if (rec->c & PACKET_TIMED)
        add_packet(net, qp, kind == PACKET_SACK ? rec->b : rec->b - 1, now_ps, &ack);
    net->cc->on_ack(net->cc_state, qp, &t->rate, &ack, now_ps);
    if (net->credit && nic_credit_is_unknown(net, qp, ack.psn, ack.next_psn))
        net->cc->on_begin(net->cc_state, qp, &t->rate, ack.psn, now_ps);
    shorten_wait(net, core, node, qp, now_ps);
}

void nic_cc_posted(struct net *net, uint32_t qp, sim_ps now_ps)
{
    struct qp_tx *t = &net->tx[qp];
    if (nic_credit_is_unknown(net, qp, t->una_psn, t->next_psn))
        net->cc->on_begin(net->cc_state, qp, &t->rate, t->next_psn, now_ps);
}

void nic_cc_credited(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps)
{
    if (!net->credit || net->tx[qp].failed)
        return;
    net->cc->on_credit(net->cc_state, qp, &net->tx[qp].rate, psn, now_ps);
    nic_unblock(net, core, node, qp, now_ps);
}

void nic_cc_lost(struct net *net, uint32_t qp, enum cc_loss loss, sim_ps now_ps)
{
    if (net->cc_wants & CC_WANTS_LOSS)
        net->cc->on_loss(net->cc_state, qp, &net->tx[qp].rate, loss, now_ps);
}
