/* check_paths.c - fixed paths that exist, balancing that the NICs bear, and enough flows for ECMP to even out. */
#include "scenarios/check_priv.h"

#include <inttypes.h>
#include <math.h>

#define MAX_PATH_PORTS 64
#define MAX_EXACT_BALLS 1024 /* more flows than this are many, whatever the uplinks */

/* ---- static paths ---------------------------------------------------------------------- */

#define MAX_TOLD 8 /* flows without a path; the others are counted */

/* False with WHY set where NODES are no path. */
static bool path_exists(const struct check *c, const uint32_t *nodes, uint32_t n, char **why)
{
    uint32_t ports[MAX_PATH_PORTS];
    g_autoptr(GError) err = NULL;
    if (n == 0 || routes_from_nodes(c->fabric, nodes, n, ports, MAX_PATH_PORTS, &err) > 0)
        return true;
    *why = g_strdup(err ? err->message : "it has no link");
    return false;
}

static void check_static(struct check *c)
{
    uint32_t n_bad = 0;
    for (guint i = 0; c->job && i < c->job->paths->len; i++) {
        const struct job_path *path = &g_array_index(c->job->paths, struct job_path, i);
        g_autofree char *why = NULL;
        bool data = path_exists(c, path->data_nodes, path->n_data, &why);
        if ((data && path_exists(c, path->ack_nodes, path->n_ack, &why)) || n_bad++ >= MAX_TOLD)
            continue;
        struct check_finding *finding = check_find(c, "unreachable", CHECK_ERROR, "flow %u has no %s path: %s", path->flow_id, data ? "ACK" : "data", why);
        check_change_run_key(finding, c, "workload", "paths", "a file whose paths follow links");
    }
    if (n_bad > MAX_TOLD)
        check_find(c, "unreachable", CHECK_ERROR, "%u more flows have no path", n_bad - MAX_TOLD);
    if (c->job && c->job->paths->len > 0 && c->routing->mode != ROUTING_STATIC) {
        struct check_finding *finding = check_find(c, "paths-unused", CHECK_WARNING, "workload.paths is not used");
        check_change_run_key(finding, c, "routing", "mode", "static");
    }
}

/* ---- reordering ---------------------------------------------------------------------------- */

static void check_reordering(struct check *c)
{
    bool flowlet = c->routing->mode == ROUTING_FLOWLET;
    if (!flowlet && c->routing->mode != ROUTING_SPRAY && c->routing->mode != ROUTING_ADAPTIVE)
        return;
    for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
        const struct nic_params *nic = CHECK_NODE(c, NET_PARAMS_NIC, i);
        if (check_is_switch(c, i) || nic->recovery != NIC_GO_BACK_N || nic->reorder_tolerance > 0)
            continue;
        struct check_finding *finding = check_find(c, "spray-go-back-n", flowlet ? CHECK_NOTE : CHECK_WARNING,
                                                   "routing spreads the packets of a queue pair over paths, and these NICs take a packet out of order "
                                                   "for a loss: they ask for everything again");
        if (check_is_new(finding)) {
            check_change_run_key(finding, c, "nic", "recovery", "selective_repeat");
            check_change_run_key(finding, c, "nic", "reorder_tolerance", "the packets of the largest difference of path delays");
        }
        check_at_node(finding, i);
    }
}

/* ---- few flows ------------------------------------------------------------------------------- */

/* P(no bin of BINS holds more than MOST of BALLS): bins as Poisson variables, given that their sum is BALLS. */
static double all_at_most(uint32_t balls, uint32_t bins, uint32_t most)
{
    g_autofree double *sum = g_new0(double, balls + 1), *next = g_new0(double, balls + 1), *term = g_new0(double, most + 1);
    double mean = (double)balls / bins;
    for (uint32_t j = 0; j <= most; j++)
        term[j] = exp(-mean + j * log(mean) - lgamma(j + 1.0));
    sum[0] = 1;
    for (uint32_t b = 0; b < bins; b++) {
        for (uint32_t k = 0; k <= balls; k++) {
            next[k] = 0;
            for (uint32_t j = 0; j <= MIN(most, k); j++)
                next[k] += sum[k - j] * term[j];
        }
        double *old = sum;
        sum = next;
        next = old;
    }
    return sum[balls] / exp(-(double)balls + balls * log((double)balls) - lgamma(balls + 1.0));
}

double check_expected_maximum(uint32_t balls, uint32_t bins)
{
    double expected = 0;
    for (uint32_t most = 0; most < balls; most++) {
        double above = 1 - (most == 0 ? 0 : all_at_most(balls, bins, most));
        if (above < 1e-9)
            break;
        expected += above;
    }
    return expected;
}

/* Queue pairs that a switch spreads over its ports, and over how many. */
struct load { uint32_t n, uplinks; };
/* The expected maximum of a load: leaves mostly have the same. */
struct memo { struct load load; double expected; };

static uint32_t first_switch(const struct check *c, uint32_t rank)
{
    uint32_t port = c->graph->endpoints[rank].port;
    if (port == NET_NONE || !check_is_plugged(c, port) || !check_is_switch(c, check_peer_node(c, port)))
        return NET_NONE;
    return check_peer_node(c, port);
}

static void add_queue_pairs(struct check *c, uint32_t src, uint32_t dst, uint32_t n, struct load *loads, uint32_t *ports)
{
    uint32_t at = first_switch(c, src);
    if (at == NET_NONE || c->graph->endpoints[src].node == c->graph->endpoints[dst].node)
        return;
    uint32_t choices = routes_next_hops(c->routes, at, dst, NULL, ports, c->graph->nodes[at].n_ports);
    if (choices < 2)
        return;
    loads[at].n += n;
    loads[at].uplinks = MAX(loads[at].uplinks, choices);
}

static void count_loads(struct check *c, struct load *loads, uint32_t *ports)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(GHashTable) listed = g_hash_table_new(NULL, NULL);
    for (guint f = 0; f < c->job->flows->len; f++)
        g_hash_table_add(listed, GUINT_TO_POINTER(g_array_index(c->job->flows, struct job_flow, f).send_op + 1));
    for (uint32_t i = 0; i < job_n_ops(c->job); i++) {
        const struct job_op *op = job_op_at(c->job, i);
        if (op->kind != JOB_SEND)
            continue;
        bool alone = g_hash_table_contains(listed, GUINT_TO_POINTER(i + 1));
        gint64 key = (gint64)((uint64_t)op->rank << 40 | (uint64_t)op->peer << 16 | (uint64_t)op->traffic_class << 8 | op->channel);
        if (!alone && !g_hash_table_add(seen, g_memdup2(&key, sizeof key)))
            continue;
        add_queue_pairs(c, op->rank, op->peer, alone ? 1 : (uint32_t)c->nic->qps_per_connection, loads, ports);
    }
}

/* A fullest uplink with 1.5 times the mean is worth a note. */
#define NOTED_RATIO 1.5

static void note_load(struct check *c, uint32_t node, const struct load *load, struct memo *memo)
{
    if (load->n < 2 || load->n > MAX_EXACT_BALLS)
        return;
    if (memo->load.n != load->n || memo->load.uplinks != load->uplinks)
        *memo = (struct memo){*load, check_expected_maximum(load->n, load->uplinks)};
    double expected = memo->expected, mean = (double)load->n / load->uplinks;
    double ratio = expected / MAX(mean, 1);
    if (ratio < NOTED_RATIO)
        return;
    struct check_finding *finding = check_find(c, "few-flows", CHECK_NOTE,
                                               "%u queue pairs over %u uplinks by ECMP: the fullest bears %.2f of them on average", load->n, load->uplinks,
                                               expected);
    if (check_is_new(finding)) {
        check_term(finding, "mean", "%u / %u = %.2f; balls into bins: expected maximum %.2f, %.2f x what an even spread would give", load->n, load->uplinks,
                   mean, expected, ratio);
        check_change_run_key(finding, c, "nic", "qps_per_connection", "4");
        check_change_run_key(finding, c, "routing", "mode", "adaptive or spray, with NICs that tolerate reordering");
    }
    check_at_node(finding, node);
}

static void check_few_flows(struct check *c)
{
    if (!c->job || c->routing->mode != ROUTING_ECMP)
        return;
    g_autofree struct load *loads = g_new0(struct load, MAX(c->graph->n_nodes, 1));
    g_autofree uint32_t *ports = g_new(uint32_t, MAX(c->graph->n_ports, 1));
    struct memo memo = {0};
    count_loads(c, loads, ports);
    for (uint32_t i = 0; i < c->graph->n_nodes; i++)
        note_load(c, i, &loads[i], &memo);
}

/* ---- bad optics -------------------------------------------------------------------------- */

#define NOTED_LOSS 1e-8 /* of frames: below this go-back-N and selective repeat lose less than 0.1 % of a 400G link */

static void check_loss(struct check *c, uint32_t port)
{
    const struct link_params *link = CHECK_PORT(c, NET_PARAMS_LINK, port);
    double loss = survey_frame_loss(c->survey, link);
    if (loss <= 0)
        return;
    struct check_finding *finding = check_find(c, "link-loses", loss < NOTED_LOSS ? CHECK_NOTE : CHECK_WARNING,
                                               "one frame in %.3g is lost on this link", 1 / loss);
    if (check_is_new(finding)) {
        check_term(finding, "before FEC", "bit error ratio %.3g; RS(544,514) is made for 2.4e-4", link->ber);
        check_term(finding, "after FEC", "%.3g of frames of %" PRId64 " B are lost", loss, survey_frame_bytes(c->survey));
        check_change(finding, "clean or replace the optic, or take the link out of service");
        check_change_key(finding, c, NET_PARAMS_LINK, port, NET_SITE_ANY_CLASS, link->ber > 0 ? "ber" : "loss", "0");
    }
    check_at_port(finding, c, port);
}

void check_paths(struct check *c)
{
    for (uint32_t p = 0; p < c->graph->n_ports; p++)
        if (check_is_plugged(c, p))
            check_loss(c, p);
    check_static(c);
    check_reordering(c);
    check_few_flows(c);
}
