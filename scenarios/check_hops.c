/* check_hops.c - the lossless hop list: is a class protected by PFC on every link, at both of its ends?
 *
 * A packet's code gives its priority group where it arrives. If that group is lossless, its pause frames carry the
 * priorities of the group; they help when the sender obeys one of them and it stops the queue in which the class waits.
 */
#include "scenarios/check_priv.h"

static const struct { const char *name; bool lossless; } states[] = {
    [HOP_LOSSLESS] = {"lossless", true},
    [HOP_LOSSY] = {"lossy at both ends", false},
    [HOP_NO_PAUSE] = {"the receiver sends no pauses", false},
    [HOP_IGNORED] = {"the sender ignores the receiver's pauses", false},
    [HOP_OTHER_QUEUE] = {"the pauses stop another queue", false},
    [HOP_NIC_NEVER_PAUSES] = {"lossless (a NIC that takes all)", true},
};

uint8_t check_queues(const struct check *c, uint32_t port, uint32_t class, uint32_t code)
{
    uint32_t node = c->graph->ports[port].node;
    uint8_t queues = 0;
    if (!check_is_switch(c, node))
        return (uint8_t)(1u << class);
    for (uint32_t tc = 0; tc < NET_CLASSES; tc++)
        if (c->tcs[node][code] >> tc & 1)
            queues = (uint8_t)(queues | 1u << survey_profile(c->survey, port)->queue_of_tc[tc]);
    return queues;
}

/* Queues that pauses of PRIORITIES stop at PORT. */
static uint8_t stopped(const struct port_profile *profile, uint8_t priorities)
{
    uint8_t queues = 0;
    for (uint32_t p = 0; p < NET_CLASSES; p++)
        if (profile->honours & priorities & 1u << p)
            queues = (uint8_t)(queues | 1u << profile->queue_of_priority[p]);
    return queues;
}

/* A NIC pauses when its receive buffer fills, which needs a limit of its rate. */
static bool nic_can_pause(const struct check *c, uint32_t node)
{
    const struct nic_params *nic = CHECK_NODE(c, NET_PARAMS_NIC, node);
    return nic->rx_rate_bps > 0 || check_has_fault(c, 1u << FAULT_SLOW_RECEIVER);
}

enum check_hop_state check_hop_state(const struct check *c, uint32_t port, uint32_t class, uint32_t code)
{
    const struct port_profile *from = survey_profile(c->survey, port), *to = survey_profile(c->survey, c->graph->ports[port].peer);
    uint32_t to_node = check_peer_node(c, port), pg = to->pg_of_code[code];
    uint8_t queues = check_queues(c, port, class, code), all_stopped = stopped(from, 0xff);
    if (c->infiniband)
        return HOP_LOSSLESS;
    if (!check_is_switch(c, to_node) && !nic_can_pause(c, to_node))
        return HOP_NIC_NEVER_PAUSES;
    if (!(to->lossless_pgs >> pg & 1))
        return all_stopped & queues ? HOP_NO_PAUSE : HOP_LOSSY;
    if (!(from->honours & to->priorities_of_pg[pg]))
        return HOP_IGNORED;
    return (queues & ~stopped(from, to->priorities_of_pg[pg])) == 0 ? HOP_LOSSLESS : HOP_OTHER_QUEUE;
}

/* Calls FN for each plugged port and each code that CLASS has there. */
typedef void (*hop_fn)(struct check *c, uint32_t port, uint32_t class, uint32_t code, void *user);

static void each_hop(struct check *c, uint32_t class, hop_fn fn, void *user)
{
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        if (!check_is_plugged(c, p) || survey_problem(c->survey, p) || survey_problem(c->survey, c->graph->ports[p].peer))
            continue;
        bool at_nic = !check_is_switch(c, c->graph->ports[p].node);
        for (uint32_t code = 0; code < NET_CLASSES; code++)
            if (at_nic ? survey_code(c->survey, p, class) == code : c->codes[class] >> code & 1)
                fn(c, p, class, code, user);
    }
}

struct tally { uint64_t n[G_N_ELEMENTS(states)]; };

static void count(struct check *c, uint32_t port, uint32_t class, uint32_t code, void *user)
{
    struct tally *tally = user;
    enum check_hop_state state = check_hop_state(c, port, class, code);
    const struct check_hop hop = {.port = port,
                                  .class = (uint8_t)class,
                                  .dscp = survey_dscp(c->survey, code),
                                  .pg = survey_profile(c->survey, c->graph->ports[port].peer)->pg_of_code[code],
                                  .queues = check_queues(c, port, class, code),
                                  .state = states[state].name,
                                  .lossless = states[state].lossless};
    tally->n[state]++;
    g_array_append_val(c->report->hops, hop);
}

/* ---- what is wrong with a hop ------------------------------------------------------------ */

static void add_hop_terms(const struct check *c, struct check_finding *finding, uint32_t port, uint32_t class, uint32_t code)
{
    uint32_t peer = c->graph->ports[port].peer;
    const struct port_profile *from = survey_profile(c->survey, port), *to = survey_profile(c->survey, peer);
    uint32_t pg = to->pg_of_code[code];
    g_autofree char *queues = check_bits(check_queues(c, port, class, code));
    g_autofree char *lossless = check_bits(to->lossless_pgs);
    g_autofree char *sends = check_bits(to->lossless_pgs >> pg & 1 ? to->priorities_of_pg[pg] : 0);
    g_autofree char *obeys = check_bits(from->honours);
    g_autofree char *stops = check_bits(stopped(from, to->lossless_pgs >> pg & 1 ? to->priorities_of_pg[pg] : 0xff));
    check_term(finding, "class and marking", "class %u, DSCP %u, PCP %u", class, survey_dscp(c->survey, code), survey_pcp(c->survey, code));
    check_term(finding, "receiver", "TC %u, priority group %u (lossless ones: %s), pauses priorities %s", to->tc_of_code[code], pg, lossless, sends);
    check_term(finding, "sender", "waits in queue %s, obeys priorities %s, which stop queue %s", queues, obeys, stops);
}

static void suggest(const struct check *c, struct check_finding *finding, uint32_t port, uint32_t class, enum check_hop_state state)
{
    uint32_t peer = c->graph->ports[port].peer, at = state == HOP_NO_PAUSE || state == HOP_LOSSY ? peer : port;
    const struct pfc_params *pfc = CHECK_PORT(c, NET_PARAMS_PFC, at);
    uint8_t lossless = 0;
    model_parse_classes(pfc->lossless_classes, &lossless, NULL);
    g_autofree char *priorities = check_bits((uint8_t)(lossless | 1u << class));
    if (!pfc->enabled)
        check_change_key(finding, c, NET_PARAMS_PFC, at, NET_SITE_ANY_CLASS, "enabled", "true");
    else if (survey_profile(c->survey, at)->honours >> class & 1)
        check_change(finding, "one set of maps on all hops: qos.dscp_to_tc, qos.tc_to_queue, qos.tc_to_pg, qos.pfc_to_queue, qos.pfc_to_pg");
    else
        check_change_key(finding, c, NET_PARAMS_PFC, at, NET_SITE_ANY_CLASS, "lossless_classes", priorities);
    static const char *const maps[] = {"dscp_to_tc", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_to_pg"};
    for (size_t i = 0; i < G_N_ELEMENTS(maps); i++) {
        const char *origin = site_origin(c->site, NET_PARAMS_QOS, at, NET_SITE_ANY_CLASS, maps[i]);
        if (g_strcmp0(origin, "default") != 0)
            check_change(finding, "qos.%s holds there from %s", maps[i], origin);
    }
}

static void blame(struct check *c, uint32_t port, uint32_t class, uint32_t code, void *user)
{
    (void)user;
    enum check_hop_state state = check_hop_state(c, port, class, code);
    if (states[state].lossless)
        return;
    struct check_finding *finding = check_find(c, "hop-not-lossless", CHECK_ERROR, "class %u is lossless elsewhere, but not on this hop: %s", class,
                                               states[state].name);
    if (check_is_new(finding)) {
        add_hop_terms(c, finding, port, class, code);
        suggest(c, finding, port, class, state);
    }
    check_at_port(finding, c, port);
}

static void blame_lossless(struct check *c, uint32_t port, uint32_t class, uint32_t code, void *user)
{
    (void)user;
    if (check_hop_state(c, port, class, code) != HOP_LOSSLESS)
        return;
    struct check_finding *finding = check_find(c, "hop-lossless", CHECK_WARNING, "class %u is lossy elsewhere, but pauses on this hop", class);
    if (check_is_new(finding))
        add_hop_terms(c, finding, port, class, code);
    check_at_port(finding, c, port);
}

void check_hops(struct check *c)
{
    for (uint32_t class = 0; class < NET_CLASSES; class++) {
        struct tally tally = {0};
        if (!(c->classes >> class & 1))
            continue;
        each_hop(c, class, count, &tally);
        uint64_t wanted = tally.n[HOP_LOSSLESS] + tally.n[HOP_NO_PAUSE] + tally.n[HOP_IGNORED] + tally.n[HOP_OTHER_QUEUE];
        if (wanted > 0 && wanted >= tally.n[HOP_LOSSY]) {
            c->lossless_classes = (uint8_t)(c->lossless_classes | 1u << class);
            each_hop(c, class, blame, NULL);
        } else if (wanted > 0) {
            each_hop(c, class, blame_lossless, NULL);
        } else if (tally.n[HOP_LOSSY] > 0 && class == c->data_class) {
            struct check_finding *finding = check_find(c, "class-lossy", CHECK_NOTE, "class %u has no PFC on any hop: a full queue drops it", class);
            if (check_is_new(finding))
                check_change_run_key(finding, c, "pfc", "lossless_classes", "3");
        }
    }
}
