/* link.c - what a frame can meet on its way: bit errors, a link that is down, a fault that picks it, a capture.
 *
 * Only ports whose profile says so come here: those with a struct net_special, and all where ports stamp telemetry. A frame of B bytes spans
 * ceil(8B / payload bits) FEC codewords; RS(n, k) over 10-bit symbols fails when more than
 * (n - k) / 2 symbols are wrong (IEEE 802.3 clauses 91, 119); without FEC one wrong bit is a
 * wrong FCS. Errors are independent of each other: bursts are left out. A lost frame has taken its
 * time on the wire.
 */
#include "models/link.h"

#include "models/ib.h"
#include "models/telemetry.h"
#include "sim/rng.h"
#include <math.h>

#define SYMBOL_BITS 10

struct code { int n, k; };
static const struct code codes[] = {[LINK_FEC_RS528] = {528, 514}, [LINK_FEC_RS544] = {544, 514}};

/* ln of the chance that more than T of N symbols are wrong, summed from T + 1 on until terms vanish. */
static double codeword_failure(int n, int t, double symbol_error)
{
    double sum = 0;
    for (int i = t + 1; i <= n; i++) {
        double term = exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(symbol_error) +
                          (n - i) * log1p(-symbol_error));
        sum += term;
        if (term < sum * 1e-17)
            break;
    }
    return MIN(sum, 1.0);
}

double link_frame_loss(enum link_fec fec, double ber, double loss, uint32_t frame_bytes)
{
    double ln_keep = log1p(-MIN(loss, 1 - 1e-16));
    if (ber > 0 && fec == LINK_FEC_NONE) {
        ln_keep += (double)frame_bytes * (double)UNIT_BITS_PER_BYTE * log1p(-MIN(ber, 1 - 1e-16));
    } else if (ber > 0) {
        const struct code *code = &codes[fec];
        double symbol_error = -expm1(SYMBOL_BITS * log1p(-MIN(ber, 1 - 1e-16)));
        double failure = symbol_error >= 1 ? 1 : codeword_failure(code->n, (code->n - code->k) / 2, symbol_error);
        double codewords = ceil((double)frame_bytes * (double)UNIT_BITS_PER_BYTE / (code->k * SYMBOL_BITS));
        ln_keep += codewords * log1p(-MIN(failure, 1 - 1e-16));
    }
    return loss >= 1 ? 1 : -expm1(ln_keep);
}

/* ---- set-up ------------------------------------------------------------------ */
struct net_special *link_special(struct net *net, uint32_t port)
{
    struct port_cold *cold = &net->cold[port];
    if (!cold->special) {
        cold->special = g_new0(struct net_special, 1);
        const struct link_params *link = net_site_port(net, NET_PARAMS_LINK, cold->graph_port, NET_SITE_ANY_CLASS);
        cold->special->fec = (enum link_fec)link->fec;
        cold->special->base_ber = cold->special->ber = link->ber;
        cold->special->base_loss = cold->special->loss = link->loss;
        struct port_profile *own = profile_own(net, port);
        own->special = true;
        own->plain_queues = 0;
    }
    return cold->special;
}

bool link_build(struct net *net, GError **err)
{
    for (uint32_t p = 0; p < net->n_ports; p++) {
        if (net->port[p].channel == NET_NONE)
            continue;
        const struct link_params *link = net_site_port(net, NET_PARAMS_LINK, net->cold[p].graph_port, NET_SITE_ANY_CLASS);
        if (link->ber > 0 || link->loss > 0)
            link_special(net, p);
    }
    if (net->ib && net->config.n_capture_ports > 0) {
        g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "capture: frames of InfiniBand links can't be written to a capture file; allowed with "
                                                     "topology.link_layer ethernet");
        return false;
    }
    for (uint32_t i = 0; i < net->config.n_capture_ports; i++) {
        uint32_t p = net->port_of_graph[net->config.capture_ports[i]];
        if (net->port[p].channel == NET_NONE) {
            g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "capture: the port has no link");
            return false;
        }
        link_special(net, p)->capture = true;
    }
    return true;
}

void link_release(struct net *net)
{
    for (uint32_t p = 0; p < net->n_ports; p++) {
        if (net->cold[p].special)
            g_free(net->cold[p].special->frames);
        g_free(net->cold[p].special);
        g_free(net->cold[p].watch);
        g_free(net->cold[p].stall);
    }
}

/* ---- on the wire --------------------------------------------------------------- */
static bool is_kind(enum fault_packet wanted, uint32_t a, uint32_t c)
{
    switch (packet_kind(c)) {
    case PACKET_DATA:
        return wanted == FAULT_DATA;
    case PACKET_ACK:
    case PACKET_SACK:
        return wanted == FAULT_ACK;
    case PACKET_NAK:
    case PACKET_RNR:
        return wanted == FAULT_NAK;
    case PACKET_CNP:
        return wanted == FAULT_CNP;
    case PACKET_PAUSE:
        return wanted == (a == 0 ? FAULT_RESUME : FAULT_PAUSE);
    default:
        return false;
    }
}

/* The nth packet of a kind, and the ones behind it. */
static bool is_picked(struct net_special *special, uint32_t a, uint32_t c)
{
    struct link_pick *pick = &special->pick;
    if (!pick->active || !is_kind(pick->kind, a, c))
        return false;
    pick->seen++;
    return pick->seen >= pick->first && pick->seen < pick->first + pick->n;
}

static bool is_hit(const struct net *net, uint32_t port, struct net_special *special, uint32_t c)
{
    if (special->ber <= 0 && special->loss <= 0)
        return false;
    uint32_t bytes = packet_bytes(c);
    if (bytes != special->known_bytes) {
        special->known_bytes = bytes;
        special->known_loss = link_frame_loss(special->fec, special->ber, special->loss, bytes);
    }
    uint64_t draw = sim_rng(net->config.seed, net->cold[port].graph_port, SIM_RNG_LOSS, special->n_draws++);
    return (double)(draw >> 11) * 0x1p-53 < special->known_loss;
}

static void capture(struct net *net, struct sim_core *core, uint32_t port, struct net_special *special, sim_ps now_ps, uint32_t a,
                    uint32_t b, uint32_t c)
{
    if (net->config.capture_max_frames && special->n_frames >= net->config.capture_max_frames) {
        special->n_left_out++;
        return;
    }
    if (special->n_frames == special->cap_frames)
        sim_grow(core, &special->frames, &special->cap_frames, special->n_frames + 1, sizeof *special->frames);
    special->frames[special->n_frames++] = (struct net_frame){now_ps, net->cold[port].graph_port, a, b, c};
}

static void count_lost(struct net_vertex *v, struct net_special *special, uint32_t c)
{
    special->lost_pkts++;
    special->lost_bytes += packet_bytes(c);
    if (packet_kind(c) != PACKET_PAUSE)
        v->ledger[packet_code(c)].lost_pkts++;
}

bool special_transmit(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, const struct queue *queue,
                      sim_ps now_ps, uint32_t a, uint32_t b, uint32_t c)
{
    struct net_special *special = net->cold[port].special;
    if (net->telemetry)
        telemetry_stamp(net, port, queue, now_ps, a, b, c);
    if (!special)
        return true;
    if (special->capture)
        capture(net, core, port, special, now_ps, a, b, c);
    bool picked = is_picked(special, a, c);
    if (special->n_down == 0 && !picked && !is_hit(net, port, special, c))
        return true;
    count_lost(node->state, special, c);
    if (net->ib && special->n_down == 0 && packet_kind(c) != PACKET_PAUSE)
        ib_lost(net, core, node, port, c, now_ps);
    return false;
}

bool special_receive(struct net *net, struct sim_core *core, struct net_vertex *v, uint32_t port, uint32_t c)
{
    (void)core;
    struct net_special *special = net->cold[port].special;
    if (!special || special->n_down == 0)
        return true;
    count_lost(v, special, c);
    if (net->ib && packet_kind(c) != PACKET_PAUSE)
        ib_forget(net, port, c);
    return false;
}

void link_set_errors(struct net_special *special, double ber, double loss)
{
    special->ber = ber;
    special->loss = loss;
    special->known_bytes = 0;
}
