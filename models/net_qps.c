/* net_qps.c - finds the queue pairs that a job needs and their paths.
 *
 * A connection is a (source, destination, class, channel), or a flow of a flow list. It has nic.qps_per_connection queue
 * pairs of the sending NIC: messages take turns on them in the order of the job, or each message is cut over all of them,
 * as NCCL does it: equal parts, rounded up to 128 bytes, an empty one still being a packet. The path of a queue pair is
 * fixed when it is made: ECMP hashes constant fields, so nothing is lost (ADR 0009).
 */
#include "models/nic.h"
#include "sim/rng.h"

#include <string.h>

/* RoCEv2 NICs choose source ports from the dynamic range: 14 bits of entropy. */
#define SPORT_BASE 0xC000u
#define SPORT_BITS 14
#define SPORT_MASK ((1u << SPORT_BITS) - 1)
/* A GRH's flow label, from which drivers derive it. */
#define FLOW_LABEL_BITS 20
#define FLOW_LABEL_MASK ((1u << FLOW_LABEL_BITS) - 1)

/* Parts of a message are multiples of this, but for the last ones (NCCL, so that its LL128 protocol keeps its lines whole). */
#define PART_ALIGN_BYTES 128

struct connection { uint32_t first_qp, n_messages; };

struct build {
    struct net *net;
    GHashTable *shared;   /* mixed key -> index of connections + 1 */
    GArray *connections;  /* struct connection */
    GArray *parts;        /* struct op_run: second and later ones of messages */
    GArray *qps;          /* struct qp_cold */
    GArray *classes;      /* uint8_t */
    GArray *pkts;         /* uint64_t: packets of all messages */
};

static const struct nic_params *nic_of(const struct net *net, uint32_t rank)
{
    return net_site_node(net, NET_PARAMS_NIC, net->graph->endpoints[rank].node);
}

static uint8_t class_of(const struct net *net, const struct job_op *op)
{
    return op->traffic_class == JOB_CLASS_DEFAULT ? net->config.data_class : op->traffic_class;
}

/* The convention of Linux drivers (rdma_get_udp_sport): the product of both queue pair numbers is folded to a flow label, and
 * that to 14 bits; both directions get the same. */
static uint16_t sport_of_qpns(uint32_t local, uint32_t remote)
{
    uint64_t product = (uint64_t)local * remote;
    product ^= product >> FLOW_LABEL_BITS;
    product ^= product >> 2 * FLOW_LABEL_BITS;
    uint32_t label = (uint32_t)product & FLOW_LABEL_MASK;
    return (uint16_t)(SPORT_BASE | ((label ^ label >> SPORT_BITS) & SPORT_MASK));
}

static uint16_t choose_sport(const struct net *net, uint32_t rank, uint32_t qp)
{
    if (nic_of(net, rank)->source_port == NIC_SPORT_QPN)
        return sport_of_qpns(net_qpn(qp << 1 | 1), net_qpn(qp << 1));
    return (uint16_t)(SPORT_BASE | (sim_rng(net->config.seed, qp, SIM_RNG_SPORT, 0) & SPORT_MASK));
}

static uint32_t add_qp(struct build *b, const struct job_op *op, uint32_t flow_id)
{
    uint32_t qp = b->qps->len;
    struct qp_cold cold = {.src_rank = op->rank,
                           .dst_rank = op->peer,
                           .flow_id = flow_id,
                           .first_msg = JOB_NONE,
                           .sport = choose_sport(b->net, op->rank, qp)};
    uint8_t class = class_of(b->net, op);
    uint64_t zero = 0;
    g_array_append_val(b->qps, cold);
    g_array_append_val(b->classes, class);
    g_array_append_val(b->pkts, zero);
    return qp;
}

static uint32_t add_qps(struct build *b, const struct job_op *op, uint32_t flow_id, uint32_t n)
{
    uint32_t first = add_qp(b, op, flow_id);
    for (uint32_t i = 1; i < n; i++)
        add_qp(b, op, flow_id);
    return first;
}

static struct connection *connection_of(struct build *b, const struct job_op *op, uint32_t n_qps)
{
    uint64_t key = (uint64_t)op->rank << 35 | (uint64_t)op->peer << 11 | (uint64_t)class_of(b->net, op) << 8 | op->channel;
    gpointer mixed = GSIZE_TO_POINTER(sim_mix64(key)); /* a bijection: no two keys meet */
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(b->shared, mixed));
    if (!found) {
        struct connection made = {add_qps(b, op, JOB_NONE, n_qps), 0};
        g_array_append_val(b->connections, made);
        found = b->connections->len;
        g_hash_table_insert(b->shared, mixed, GUINT_TO_POINTER(found));
    }
    return &g_array_index(b->connections, struct connection, found - 1);
}

/* A message of BYTES, all or a part of OP, goes to queue pair RUN->qp. */
static bool add_message(struct build *b, struct op_run *run, const struct job_op *op, int64_t bytes, GError **err)
{
    struct net *net = b->net;
    uint64_t *pkts = &g_array_index(b->pkts, uint64_t, run->qp);
    uint64_t n = bytes <= net->mtu ? 1 : (uint64_t)((bytes + net->mtu - 1) / net->mtu);
    run->bytes = bytes;
    run->next = JOB_NONE;
    net->total_pkts += n;
    *pkts += n;
    if (*pkts < INT32_MAX)
        return true;
    g_set_error(err, NET_ERROR, NET_ERROR_INPUT,
                "rank %u to rank %u: %" G_GUINT64_FORMAT " packets on one queue pair; allowed: below %d (use a larger nic.mtu or fewer bytes)",
                op->rank, op->peer, *pkts, INT32_MAX);
    return false;
}

/* Cuts send INDEX over N queue pairs from FIRST_QP on. */
static bool split(struct build *b, uint32_t index, uint32_t first_qp, uint32_t n, GError **err)
{
    struct net *net = b->net;
    const struct job_op *op = job_op_at(net->job, index);
    struct op_run *run = &net->op[index];
    int64_t step = (op->amount + n - 1) / n;
    step = (step + PART_ALIGN_BYTES - 1) / PART_ALIGN_BYTES * PART_ALIGN_BYTES;
    run->qp = first_qp;
    run->more = net->n_ops + b->parts->len;
    run->n_more = run->more_left = net->op[op->match].more_left = (uint8_t)(n - 1);
    if (!add_message(b, run, op, MIN(step, op->amount), err))
        return false;
    for (uint32_t i = 1; i < n; i++) {
        struct op_run part = {.part_of = index, .qp = first_qp + i};
        if (!add_message(b, &part, op, CLAMP(op->amount - step * i, 0, step), err))
            return false;
        g_array_append_val(b->parts, part);
    }
    return true;
}

static bool assign(struct build *b, uint32_t index, uint32_t flow_id, GError **err)
{
    struct net *net = b->net;
    const struct job_op *op = job_op_at(net->job, index);
    const struct net_endpoint *from = &net->graph->endpoints[op->rank], *to = &net->graph->endpoints[op->peer];
    if (from->node == to->node) {
        net->op[index].qp = NET_NONE;
        return true;
    }
    const struct nic_params *nic = nic_of(net, op->rank);
    uint32_t n_qps = (uint32_t)nic->qps_per_connection;
    bool cut = nic->qp_scheme == NIC_QP_SPLIT && n_qps > 1;
    if (flow_id != JOB_NONE) { /* one message: its connection needs no more queue pairs than parts */
        uint32_t n = cut ? n_qps : 1, qp = add_qps(b, op, flow_id, n);
        net->op[index].qp = qp;
        return cut ? split(b, index, qp, n, err) : add_message(b, &net->op[index], op, op->amount, err);
    }
    struct connection *c = connection_of(b, op, n_qps);
    if (cut)
        return split(b, index, c->first_qp, n_qps, err);
    net->op[index].qp = c->first_qp + c->n_messages++ % n_qps;
    return add_message(b, &net->op[index], op, op->amount, err);
}

/* Parts go behind the operations. */
static void append_parts(struct net *net, const GArray *parts)
{
    if (parts->len == 0)
        return;
    net->op = g_renew(struct op_run, net->op, net->n_ops + parts->len);
    memcpy(net->op + net->n_ops, parts->data, parts->len * sizeof *net->op);
}

static bool assign_all(struct build *b, GError **err)
{
    const struct job *job = b->net->job;
    g_autofree uint32_t *flow_of = g_new(uint32_t, MAX(job_n_ops(job), 1));
    memset(flow_of, 0xff, sizeof *flow_of * job_n_ops(job));
    for (uint32_t f = 0; f < job->flows->len; f++) {
        const struct job_flow *flow = &g_array_index(job->flows, struct job_flow, f);
        flow_of[flow->send_op] = flow->id;
    }
    for (uint32_t i = 0; i < job_n_ops(job); i++)
        if (job_op_at(job, i)->kind == JOB_SEND && !assign(b, i, flow_of[i], err))
            return false;
    return true;
}

/* ---- paths ------------------------------------------------------------------------ */
#define MAX_PATH_PORTS (PACKET_MAX_HOPS + 1)

/* Asks for the path of QP in one direction; appends its switch egress ports, local to each switch, to PORTS. */
static int find_path(struct net *net, uint32_t qp, bool reverse, uint32_t *ports, GError **err)
{
    const struct qp_cold *q = &net->qp[qp];
    struct net_route_request request = {q->src_rank, q->dst_rank, q->flow_id, net_qpn(qp << 1 | reverse), q->sport, reverse};
    int n = net->config.route(net->config.route_user, &request, ports, MAX_PATH_PORTS, err);
    if (n < 0)
        return -1;
    if (n < 1 || n > MAX_PATH_PORTS) {
        g_set_error(err, NET_ERROR, NET_ERROR_ROUTE, "rank %u to rank %u: a path of %d links; allowed: 1 to %d", q->src_rank,
                    q->dst_rank, n, MAX_PATH_PORTS);
        return -1;
    }
    return n;
}

struct path_list { GArray *hops; /* uint16_t */ GArray *first; /* uint32_t per path, and the end */ uint32_t longest; };

static bool collect_path(struct net *net, uint32_t qp, bool reverse, struct path_list *list, GError **err)
{
    uint32_t ports[MAX_PATH_PORTS];
    int n = find_path(net, qp, reverse, ports, err);
    if (n < 0)
        return false;
    uint32_t source = net->port_of_graph[ports[0]];
    if (reverse)
        net->rx[qp].port = source;
    else
        net->tx[qp].port = source;
    for (int i = 1; i < n; i++) {
        uint32_t p = net->port_of_graph[ports[i]];
        uint16_t local = (uint16_t)(p - net->vertex[net->cold[p].node].first_port);
        g_array_append_val(list->hops, local);
    }
    list->longest = MAX(list->longest, (uint32_t)(n - 1));
    g_array_append_val(list->first, list->hops->len);
    if (reverse)
        net->qp[qp].n_back_hops = (uint16_t)(n - 1);
    else
        net->qp[qp].n_hops = (uint16_t)(n - 1);
    return true;
}

static void lay_paths(struct net *net, const struct path_list *list)
{
    net->path_stride = MAX(list->longest, 1);
    net->path = g_new0(uint16_t, (size_t)MAX(net->n_qps, 1) * 2 * net->path_stride);
    for (uint32_t i = 0; i < net->n_qps * 2; i++) {
        uint32_t from = g_array_index(list->first, uint32_t, i), to = g_array_index(list->first, uint32_t, i + 1);
        for (uint32_t k = from; k < to; k++)
            net->path[(size_t)i * net->path_stride + (k - from)] = g_array_index(list->hops, uint16_t, k);
    }
}

static bool build_paths(struct net *net, GError **err)
{
    struct path_list list = {g_array_new(FALSE, FALSE, sizeof(uint16_t)), g_array_new(FALSE, FALSE, sizeof(uint32_t)), 0};
    uint32_t zero = 0;
    bool ok = true;
    g_array_append_val(list.first, zero);
    for (uint32_t q = 0; ok && q < net->n_qps; q++)
        ok = collect_path(net, q, false, &list, err) && collect_path(net, q, true, &list, err);
    if (ok)
        lay_paths(net, &list);
    g_array_free(list.hops, TRUE);
    g_array_free(list.first, TRUE);
    return ok;
}

/* ---- state ------------------------------------------------------------------------ */
static void init_qps(struct net *net, const uint8_t *classes)
{
    net->tx = sim_alloc_large(net->n_qps, sizeof *net->tx);
    net->rx = g_new0(struct qp_rx, MAX(net->n_qps, 1));
    for (uint32_t q = 0; q < net->n_qps; q++) {
        struct qp_tx *t = &net->tx[q];
        t->msg = t->una_msg = t->last_msg = JOB_NONE;
        t->class = classes[q];
        t->state = QP_IDLE;
        struct qp_rx *r = &net->rx[q];
        r->last_done = JOB_NONE;
        r->last_cnp_ps = -1;
        int64_t ack_class = nic_of(net, net->qp[q].dst_rank)->ack_class;
        r->ack_class = ack_class < 0 ? classes[q] : (uint8_t)ack_class;
    }
}

bool net_build_qps(struct net *net, GError **err)
{
    struct build b = {.net = net,
                      .shared = g_hash_table_new(g_direct_hash, g_direct_equal),
                      .connections = g_array_new(FALSE, FALSE, sizeof(struct connection)),
                      .parts = g_array_new(FALSE, FALSE, sizeof(struct op_run)),
                      .qps = g_array_new(FALSE, FALSE, sizeof(struct qp_cold)),
                      .classes = g_array_new(FALSE, FALSE, sizeof(uint8_t)),
                      .pkts = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    bool ok = assign_all(&b, err);
    net->n_qps = b.qps->len;
    net->qp = (struct qp_cold *)(void *)g_array_free(b.qps, FALSE);
    if (ok) {
        append_parts(net, b.parts);
        init_qps(net, (const uint8_t *)b.classes->data);
        ok = build_paths(net, err) && nic_build(net, err);
    }
    g_hash_table_unref(b.shared);
    g_array_free(b.connections, TRUE);
    g_array_free(b.parts, TRUE);
    g_array_free(b.classes, TRUE);
    g_array_free(b.pkts, TRUE);
    return ok;
}
