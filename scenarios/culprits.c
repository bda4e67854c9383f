/* culprits.c - warnings that name who broke what: the place, and the setting or part to look at.
 *
 * A drop is explained by both ends of the link before it (net_hop_view); a pause by who sent it; a marked-down fabric by
 * the thresholds of its longest queue; uneven loads by how many equal ports independent hashes would use.
 */
#include "scenarios/run_priv.h"
#include "topologies/topology_params.h"

#include <math.h>

#define PLACES_NAMED 3

static void warn(struct run *run, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void warn(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(run->warnings, g_strdup_vprintf(format, args));
    va_end(args);
}

static const char *node_of(const struct run *run, uint32_t port)
{
    return run->fabric->names[run->fabric->graph.ports[port].node];
}

static const char *peer_of(const struct run *run, uint32_t port)
{
    return node_of(run, run->fabric->graph.ports[port].peer);
}

static uint32_t local_port(const struct run *run, uint32_t port)
{
    const struct net_graph *g = &run->fabric->graph;
    return port - g->nodes[g->ports[port].node].first_port;
}

static bool is_switch_port(const struct run *run, uint32_t port)
{
    const struct net_graph *g = &run->fabric->graph;
    return g->ports[port].peer != NET_NONE && g->nodes[g->ports[port].node].kind == NET_SWITCH;
}

/* ---- the worst places ------------------------------------------------------- */
struct place { uint64_t badness; uint32_t port, code; };

static int by_badness(gconstpointer a, gconstpointer b)
{
    const struct place *x = a, *y = b;
    if (x->badness != y->badness)
        return x->badness < y->badness ? 1 : -1;
    return x->port != y->port ? (x->port < y->port ? -1 : 1) : (x->code < y->code ? -1 : 1);
}

/* Ports where BADNESS is above zero, the worst first. (transfer full) */
static GArray *worst_ports(const struct run *run, uint64_t (*badness)(const struct run *run, uint32_t port))
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(struct place));
    for (uint32_t p = 0; p < run->fabric->graph.n_ports; p++) {
        struct place place = {badness(run, p), p, 0};
        if (place.badness > 0)
            g_array_append_val(places, place);
    }
    g_array_sort(places, by_badness);
    return places;
}

static void name_worst(struct run *run, uint64_t (*badness)(const struct run *run, uint32_t port),
                       void (*name)(struct run *run, const struct place *place))
{
    g_autoptr(GArray) places = worst_ports(run, badness);
    for (guint i = 0; i < MIN(places->len, PLACES_NAMED); i++)
        name(run, &g_array_index(places, struct place, i));
}

/* ---- lost on links; pauses that nobody obeys -------------------------------- */
static uint64_t lost_frames(const struct run *run, uint32_t port)
{
    struct net_port_view v;
    net_port_view(run->net, port, &v);
    return v.lost_pkts;
}

static void name_lossy_link(struct run *run, const struct place *at)
{
    warn(run, "%" G_GUINT64_FORMAT " frames were lost on the link %s -> %s (bit errors, faults)", at->badness, node_of(run, at->port),
         peer_of(run, at->port));
}

static uint64_t ignored_pauses(const struct run *run, uint32_t port)
{
    struct net_port_view v;
    net_port_view(run->net, port, &v);
    return v.ignored_pauses;
}

static void name_deaf_port(struct run *run, const struct place *at)
{
    warn(run, "%s ignored %" G_GUINT64_FORMAT " XOFFs from %s: PFC is off there or on another priority", node_of(run, at->port),
         at->badness, peer_of(run, at->port));
}

/* ---- drops ------------------------------------------------------------------ */
/* "3" or "3 and 4". (transfer full) */
static char *bits_text(uint8_t bits)
{
    GString *text = g_string_new(NULL);
    for (uint32_t left = bits; left; left &= left - 1)
        g_string_append_printf(text, "%s%d", text->len ? " and " : "", __builtin_ctz(left));
    return g_string_free(text, FALSE);
}

/* Why the ingress did not take them as lossless. (transfer full) */
static char *why_lossy(const struct run *run, const struct place *at, const struct net_hop_view *v)
{
    if (!v->pfc_on)
        return g_strdup("PFC is off on this port");
    uint32_t dscp = net_code_dscp(run->net, at->code), pcp = net_code_pcp(run->net, at->code);
    g_autofree char *mark = v->trusts_pcp ? g_strdup_printf("the port trusts PCP, and PCP %u", pcp) : g_strdup_printf("DSCP %u", dscp);
    return g_strdup_printf("%s is traffic class %u and priority group %u here, which is lossy", mark, v->tc, v->pg);
}

/* Why a lossless group overflowed. (transfer full) */
static char *why_overflow(const struct run *run, const struct place *at, const struct net_hop_view *v)
{
    const char *peer = peer_of(run, at->port);
    g_autofree char *priorities = bits_text(v->pause_priorities), *from = bits_text(v->from_queues), *stops = bits_text(v->stopped_queues);
    if (v->obeyed_priorities == 0)
        return g_strdup_printf("%s does not obey pauses of priority %s: PFC is off there or on another priority", peer, priorities);
    if (v->from_queues & ~v->stopped_queues)
        return g_strdup_printf("pauses of priority %s stop queue %s of %s, but these frames leave it from queue %s: the maps differ", priorities,
                               stops, peer, from);
    if (v->headroom_bytes < v->headroom_needed_bytes)
        return g_strdup_printf("headroom %" G_GINT64_FORMAT " B, needed >= %" G_GINT64_FORMAT " B", v->headroom_bytes, v->headroom_needed_bytes);
    return g_strdup_printf("headroom %" G_GINT64_FORMAT " B would do (needed >= %" G_GINT64_FORMAT
                           " B): a pause was lost, or an egress or headroom pool was full", v->headroom_bytes, v->headroom_needed_bytes);
}

/* Frames that somebody treats as lossless, and that found no room. */
static void name_drop(struct run *run, const struct place *at)
{
    struct net_hop_view v;
    net_hop_view(run->net, at->port, at->code, &v);
    g_autofree char *why = v.pg_lossless ? why_overflow(run, at, &v) : why_lossy(run, at, &v);
    warn(run, "%" G_GUINT64_FORMAT " lossless packets dropped at %s port %u (from %s): %s", at->badness, node_of(run, at->port),
         local_port(run, at->port), peer_of(run, at->port), why);
}

static void name_drops(struct run *run)
{
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(struct place));
    uint64_t total = 0;
    for (uint32_t p = 0; p < run->fabric->graph.n_ports; p++)
        for (uint32_t code = 0; code < 8 && is_switch_port(run, p); code++) {
            struct net_hop_view v;
            net_hop_view(run->net, p, code, &v);
            struct place place = {v.refused_pkts, p, code};
            if (v.refused_pkts == 0 || !(v.pg_lossless || (v.from_queues & v.lossless_queues)))
                continue;
            total += v.refused_pkts;
            g_array_append_val(places, place);
        }
    g_array_sort(places, by_badness);
    for (guint i = 0; i < MIN(places->len, PLACES_NAMED); i++)
        name_drop(run, &g_array_index(places, struct place, i));
    if (places->len > PLACES_NAMED)
        warn(run, "%" G_GUINT64_FORMAT " lossless packets dropped at %u ports in all: fabricast check compares headroom and maps of every hop", total,
             places->len);
}

/* ---- pauses ----------------------------------------------------------------- */
/* A host that keeps its switch silent for less of the run is not worth a line. */
#define PAUSING_HOST_SHARE 0.01

/* Until the last operation was done, or until the run was cut. */
static double span_ps(const struct run *run)
{
    struct net_totals t;
    net_totals(run->net, &t);
    return (double)(t.ops_done == t.ops_total ? run_end_of(run, run->net) : t.now_ps);
}

static uint64_t paused_by_host(const struct run *run, uint32_t port)
{
    const struct net_graph *g = &run->fabric->graph;
    struct net_port_view v;
    if (!is_switch_port(run, port) || g->nodes[g->ports[g->ports[port].peer].node].kind != NET_HOST)
        return 0;
    net_port_view(run->net, port, &v);
    return v.paused_ps > 0 && (double)v.paused_ps >= PAUSING_HOST_SHARE * span_ps(run) ? (uint64_t)v.paused_ps : 0;
}

static void name_pausing_host(struct run *run, const struct place *at)
{
    struct net_port_view v;
    net_port_view(run->net, at->port, &v);
    double took_bps = (double)v.tx_bytes * UNIT_BITS_PER_BYTE * (double)UNIT_S / span_ps(run);
    g_autofree char *paused = units_human_time(v.paused_ps), *took = units_human_rate(took_bps);
    warn(run, "%s paused %s for %s, %.0f %% of the run, by %" G_GUINT64_FORMAT " XOFFs, and took %s: a slow receiver, or a NIC that storms",
         peer_of(run, at->port), node_of(run, at->port), paused, 100 * (double)v.paused_ps / span_ps(run), v.pause_rx_frames, took);
}

/* Lowest queue at which PORT marks class C; 0: it does not. */
static double kmin_of(const struct run *run, uint32_t port, uint32_t c)
{
    const struct ecn_params *e = run->net_site.at_port(run->net_site.user, NET_PARAMS_ECN, port, c);
    uint8_t classes;
    double kmin;
    if (!e->enabled || !model_parse_classes(e->classes, &classes, NULL) || !(classes >> c & 1) ||
        !param_map_get(&e->kmin, run->fabric->graph.ports[port].rate_bps, &kmin))
        return 0;
    return kmin;
}

/* XOFFs of a switch whose longest queue nobody paused and nobody marked. PORT: that queue's. */
static uint64_t unmarked_xoffs(const struct run *run, uint32_t port)
{
    const struct net_graph *g = &run->fabric->graph;
    struct net_port_view here, v;
    uint64_t xoffs = 0;
    if (!is_switch_port(run, port))
        return 0;
    net_port_view(run->net, port, &here);
    const struct net_node *node = &g->nodes[g->ports[port].node];
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
        net_port_view(run->net, p, &v);
        xoffs += v.pause_tx_frames;
        if (v.queue_max_bytes > here.queue_max_bytes || (v.queue_max_bytes == here.queue_max_bytes && p < port))
            return 0;
    }
    return here.paused_ps == 0 && here.ecn_marked_pkts == 0 ? xoffs : 0;
}

static void name_late_marking(struct run *run, const struct place *at)
{
    uint32_t longest = 0;
    int64_t bytes = -1;
    for (uint32_t c = 0; c < 8; c++) {
        struct net_class_view q;
        net_class_view(run->net, at->port, c, &q);
        if (q.queue_max_bytes > bytes) {
            bytes = q.queue_max_bytes;
            longest = c;
        }
    }
    double kmin = kmin_of(run, at->port, longest);
    g_autofree char *queue = units_human_bytes((double)bytes), *threshold = units_human_bytes(kmin);
    warn(run, "%s sent %" G_GUINT64_FORMAT " XOFFs and marked nothing in its longest queue (%s to %s, class %u): %s%s; PFC acts before ECN",
         node_of(run, at->port), at->badness, queue, peer_of(run, at->port), longest,
         kmin > 0 ? "ecn.kmin is " : "ECN is off for this class", kmin > 0 ? threshold : "");
}

/* CNPs that share the queues of what they are to slow down. */
static void name_slow_notices(struct run *run, uint32_t n)
{
    uint32_t slow = 0, class = 0;
    for (uint32_t qp = 0; qp < n; qp++) {
        struct net_qp_view v;
        net_qp_view(run->net, qp, 0, &v);
        const struct nic_params *nic = run->net_site.at_node(run->net_site.user, NET_PARAMS_NIC, run->fabric->graph.ports[v.rx_port].node);
        if (nic->cnp_class != v.class)
            continue;
        slow++;
        class = v.class;
    }
    if (slow > 0)
        warn(run, "CNPs of %u of %u queue pairs travel in class %u with their data: they wait in its queues and stop with its pauses (nic.cnp_class)",
             slow, n, class);
}

/* ---- polarisation ------------------------------------------------------------ */
#define QPS_LOOKED_AT 65536u
#define TIERS 4
#define HOPS_MAX 16

/* Equal-cost ports of a switch towards some ranks. */
struct bundle { uint32_t n_ports, tier; uint64_t n_qps, used; uint8_t taken[]; };
struct tier_use { double used, expected, ports, variance; };

/* Of HOPS[0..N) at NODE; BUNDLES: first port << 32 | N -> struct bundle *. */
static struct bundle *bundle_of(GHashTable *bundles, const uint32_t *hops, uint32_t n, uint32_t tier)
{
    gint64 key = (gint64)hops[0] << 32 | n;
    struct bundle *bundle = g_hash_table_lookup(bundles, &key);
    if (bundle)
        return bundle;
    bundle = g_malloc0(sizeof *bundle + n);
    bundle->n_ports = n;
    bundle->tier = MIN(tier, TIERS - 1);
    g_hash_table_insert(bundles, g_memdup2(&key, sizeof key), bundle);
    return bundle;
}

/* A queue pair to RANK leaves a switch by PORT; HOPS: room for the switch's ports. */
static void count_hop(const struct run *run, GHashTable *bundles, uint32_t rank, uint32_t port, uint32_t *hops)
{
    const struct net_graph *g = &run->fabric->graph;
    const struct net_node *node = &g->nodes[g->ports[port].node];
    uint32_t n = run->config.next_hops(run->config.route_user, g->ports[port].node, rank, NULL, hops, node->n_ports);
    if (n < 2)
        return;
    struct bundle *bundle = bundle_of(bundles, hops, n, node->tier);
    bundle->n_qps++;
    for (uint32_t i = 0; i < n; i++)
        if (hops[i] == port && !bundle->taken[i]) {
            bundle->taken[i] = 1;
            bundle->used++;
        }
}

static void add_up(gpointer key, gpointer value, gpointer user)
{
    const struct bundle *b = value;
    struct tier_use *use = (struct tier_use *)user + b->tier;
    double k = b->n_ports;
    (void)key;
    use->ports += k;
    use->used += (double)b->used;
    /* Balls in bins: 1 - (1 - 1/k)^n of the ports get at least one of n flows; the variance is below k/4. */
    use->expected += k * (1 - pow(1 - 1 / k, (double)b->n_qps));
    use->variance += k / 4;
}

/* Fewer ports in use than chance explains, by so many standard deviations. */
#define POLARISATION_SIGMAS 4

static void count_queue_pairs(struct run *run, uint32_t n_qps, GHashTable *bundles)
{
    g_autofree uint32_t *hops = g_new(uint32_t, MAX(run->fabric->graph.n_ports, 1));
    for (uint32_t qp = 0; qp < n_qps; qp += n_qps / QPS_LOOKED_AT + 1) {
        uint32_t path[HOPS_MAX];
        struct net_qp_view v;
        net_qp_view(run->net, qp, 0, &v);
        uint32_t length = net_qp_path(run->net, qp, path, HOPS_MAX);
        for (uint32_t i = 0; i < length; i++)
            count_hop(run, bundles, v.dst_rank, path[i], hops);
    }
}

static void name_polarisation(struct run *run, uint32_t n_qps)
{
    if (!run->config.next_hops || run->config.lb != NET_LB_FIXED || run->routing->mode == ROUTING_STATIC)
        return;
    GHashTable *bundles = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    count_queue_pairs(run, n_qps, bundles);
    struct tier_use use[TIERS] = {{0}};
    g_hash_table_foreach(bundles, add_up, use);
    for (uint32_t tier = 0; tier < TIERS; tier++)
        if (use[tier].expected - use[tier].used > POLARISATION_SIGMAS * sqrt(use[tier].variance))
            warn(run,
                 "hash polarisation: tier %u uses %.0f of %.0f equal-cost ports, independent hashes would use %.0f "
                 "(routing.ecmp_seed_per_switch, routing.hash)",
                 tier, use[tier].used, use[tier].ports, use[tier].expected);
    g_hash_table_unref(bundles);
}

void culprits_name(struct run *run, const struct net_totals *t)
{
    if (!run->config.ib)
        name_drops(run);
    if (t->hoq_discard_pkts > 0)
        warn(run, "%" G_GUINT64_FORMAT " packets waited longer for credits than ib.head_of_queue_lifetime allows and were dropped", t->hoq_discard_pkts);
    name_worst(run, lost_frames, name_lossy_link);
    name_worst(run, ignored_pauses, name_deaf_port);
    name_worst(run, paused_by_host, name_pausing_host);
    name_worst(run, unmarked_xoffs, name_late_marking);
    if (t->cnp_sent_pkts > 0)
        name_slow_notices(run, t->n_qps);
    name_polarisation(run, t->n_qps);
    /* Without a loss nothing needed to be sent again; else what had been received already did not. */
    uint64_t needless = t->drop_pkts + t->lost_pkts == 0 ? t->retransmitted_pkts : t->spurious_pkts;
    if (needless > 0)
        warn(run, "%" G_GUINT64_FORMAT " packets were sent again without need (spurious: %" G_GUINT64_FORMAT " dropped, %" G_GUINT64_FORMAT
             " lost): reordering was taken for loss, or a timeout was too short", needless, t->drop_pkts, t->lost_pkts);
    if (t->no_route_pkts > 0)
        warn(run, "%" G_GUINT64_FORMAT " packets found no route while links were down", t->no_route_pkts);
    if (t->watch_drop_pkts > 0)
        warn(run, "%" G_GUINT64_FORMAT " packets were dropped by PFC watchdogs", t->watch_drop_pkts);
}
