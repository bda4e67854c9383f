/* net_fixture.h - a small net for tests: nodes and cables by hand, parameters at their defaults, shortest paths.
 *
 * Order of use: net_fixture_init(), nodes, links (the ports of a node are in the order of its links), endpoints
 * (none: one a host), settings, messages, net_fixture_start() or net_fixture_run(), net_fixture_release(). Every
 * run checks the laws of the model.
 */
#ifndef FABRICAST_TESTS_NET_FIXTURE_H
#define FABRICAST_TESTS_NET_FIXTURE_H

#include "models/net_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define FIXTURE_DEADLOCK_PS UNIT_MS

struct net_fixture {
    struct param_bag *bag;
    GArray *nodes;     /* struct net_node */
    GArray *links;     /* struct fixture_link */
    GArray *endpoints; /* struct net_endpoint */
    GPtrArray *names;
    struct net_graph graph;
    struct job *job;
    struct net_config config;
    struct net *net;
    uint32_t next_tag;
    bool infiniband;
};
struct fixture_link { uint32_t a, b; int64_t rate_bps, delay_ps; };
struct fixture_message { uint32_t send, recv; };

static inline void net_fixture_init(struct net_fixture *f)
{
    static const struct param_group *const groups[] = {&link_param_group, &switch_param_group, &buffer_param_group,
                                                       &pfc_param_group,  &ecn_param_group,    &nic_param_group,
                                                       &dcqcn_param_group, &node_param_group,   &qos_param_group,
                                                       &pfcwd_param_group,   &dctcp_param_group, &swift_param_group, &timely_param_group, &hpcc_param_group, &credit_param_group,
                                                       &ib_param_group};
    *f = (struct net_fixture){.bag = param_bag_new(groups, G_N_ELEMENTS(groups)),
                              .nodes = g_array_new(FALSE, TRUE, sizeof(struct net_node)),
                              .links = g_array_new(FALSE, TRUE, sizeof(struct fixture_link)),
                              .endpoints = g_array_new(FALSE, TRUE, sizeof(struct net_endpoint)),
                              .names = g_ptr_array_new_with_free_func(g_free),
                              .config = {.seed = 1, .data_class = 3, .record_pause_events = true}};
}

static inline void net_fixture_release(struct net_fixture *f)
{
    net_free(f->net);
    job_free(f->job);
    param_bag_free(f->bag);
    g_array_free(f->nodes, TRUE);
    g_array_free(f->links, TRUE);
    g_array_free(f->endpoints, TRUE);
    g_ptr_array_free(f->names, TRUE);
    g_free(f->graph.ports);
}

/* ---- graph ------------------------------------------------------------------ */
static inline uint32_t net_fixture_node(struct net_fixture *f, enum net_node_kind kind, const char *name)
{
    struct net_node node = {.kind = (uint8_t)kind, .tier = kind == NET_SWITCH};
    g_array_append_val(f->nodes, node);
    g_ptr_array_add(f->names, g_strdup(name));
    return f->nodes->len - 1;
}

static inline uint32_t net_fixture_host(struct net_fixture *f)
{
    g_autofree char *name = g_strdup_printf("h%u", f->nodes->len);
    return net_fixture_node(f, NET_HOST, name);
}

static inline void net_fixture_link(struct net_fixture *f, uint32_t a, uint32_t b, int64_t rate_bps, int64_t delay_ps)
{
    struct fixture_link link = {a, b, rate_bps, delay_ps};
    g_array_append_val(f->links, link);
    g_array_index(f->nodes, struct net_node, a).n_ports++;
    g_array_index(f->nodes, struct net_node, b).n_ports++;
}

/* One more GPU of HOST; returns its rank. */
static inline uint32_t net_fixture_endpoint(struct net_fixture *f, uint32_t host)
{
    struct net_endpoint endpoint = {.node = host};
    g_array_append_val(f->endpoints, endpoint);
    return f->endpoints->len - 1;
}

static inline void net_fixture_graph(struct net_fixture *f)
{
    struct net_graph *g = &f->graph;
    if (f->endpoints->len == 0)
        for (uint32_t i = 0; i < f->nodes->len; i++)
            if (g_array_index(f->nodes, struct net_node, i).kind == NET_HOST)
                net_fixture_endpoint(f, i);
    *g = (struct net_graph){.nodes = (struct net_node *)(void *)f->nodes->data, .n_nodes = f->nodes->len,
                            .endpoints = (struct net_endpoint *)(void *)f->endpoints->data,
                            .n_endpoints = f->endpoints->len, .n_ports = f->links->len * 2};
    g->ports = g_new0(struct net_port, g->n_ports + 1);
    g_autofree uint32_t *next = g_new0(uint32_t, g->n_nodes + 1);
    for (uint32_t i = 0, port = 0; i < g->n_nodes; port += g->nodes[i++].n_ports)
        g->nodes[i].first_port = next[i] = port;
    for (uint32_t i = 0; i < f->links->len; i++) {
        struct fixture_link l = g_array_index(f->links, struct fixture_link, i);
        uint32_t a = next[l.a]++, b = next[l.b]++;
        g->ports[a] = (struct net_port){l.a, b, l.rate_bps, l.delay_ps};
        g->ports[b] = (struct net_port){l.b, a, l.rate_bps, l.delay_ps};
    }
    for (uint32_t e = 0; e < g->n_endpoints; e++) {
        const struct net_node *host = &g->nodes[g->endpoints[e].node];
        g->endpoints[e].port = host->n_ports ? host->first_port : NET_NONE;
    }
}

/* Hosts 0 .. N-1, switch N; host i on port i of the switch. */
static inline uint32_t net_fixture_star(struct net_fixture *f, uint32_t n, int64_t rate_bps, int64_t delay_ps)
{
    for (uint32_t i = 0; i < n; i++)
        net_fixture_host(f);
    uint32_t s = net_fixture_node(f, NET_SWITCH, "sw");
    for (uint32_t i = 0; i < n; i++)
        net_fixture_link(f, i, s, rate_bps, delay_ps);
    return s;
}

/* The first of the two switches; its port N_LEFT goes to the other one. */
static inline uint32_t net_fixture_two_switches(struct net_fixture *f, uint32_t n_left, uint32_t n_right,
                                                int64_t host_bps, int64_t core_bps, int64_t delay_ps)
{
    for (uint32_t i = 0; i < n_left + n_right; i++)
        net_fixture_host(f);
    uint32_t left = net_fixture_node(f, NET_SWITCH, "left"), right = net_fixture_node(f, NET_SWITCH, "right");
    for (uint32_t i = 0; i < n_left + n_right; i++)
        net_fixture_link(f, i, i < n_left ? left : right, host_bps, delay_ps);
    net_fixture_link(f, left, right, core_bps, delay_ps);
    return left;
}

/* Hosts 0 1 2, switches A B C (3 4 5), cables A-B, B-C, C-A after the hosts'. */
static inline void net_fixture_ring3(struct net_fixture *f, int64_t rate_bps, int64_t delay_ps)
{
    static const char *const names[] = {"A", "B", "C"};
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_host(f);
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_node(f, NET_SWITCH, names[i]);
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_link(f, i, 3 + i, rate_bps, delay_ps);
    for (uint32_t i = 0; i < 3; i++)
        net_fixture_link(f, 3 + i, 3 + (i + 1) % 3, rate_bps, delay_ps);
}

static inline void net_fixture_leaf_spine(struct net_fixture *f, uint32_t n_leaves, uint32_t hosts_a_leaf,
                                          uint32_t n_spines, int64_t rate_bps, int64_t delay_ps)
{
    uint32_t n_hosts = n_leaves * hosts_a_leaf;
    for (uint32_t i = 0; i < n_hosts; i++)
        net_fixture_host(f);
    for (uint32_t i = 0; i < n_leaves + n_spines; i++) {
        g_autofree char *name = g_strdup_printf(i < n_leaves ? "leaf%u" : "spine%u", i < n_leaves ? i : i - n_leaves);
        net_fixture_node(f, NET_SWITCH, name);
    }
    for (uint32_t i = 0; i < n_hosts; i++)
        net_fixture_link(f, i, n_hosts + i / hosts_a_leaf, rate_bps, delay_ps);
    for (uint32_t l = 0; l < n_leaves; l++)
        for (uint32_t s = 0; s < n_spines; s++)
            net_fixture_link(f, n_hosts + l, n_hosts + n_leaves + s, rate_bps, delay_ps);
}

/* ---- routes: shortest, the source port chooses among equals --------------------- */
static inline void fixture_distances(const struct net_graph *g, uint32_t to, uint32_t *distance)
{
    g_autofree uint32_t *queue = g_new(uint32_t, g->n_nodes);
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        distance[i] = NET_NONE;
    distance[to] = 0;
    queue[tail++] = to;
    while (head < tail) {
        uint32_t at = queue[head++];
        if (at != to && g->nodes[at].kind == NET_HOST)
            continue; /* hosts never relay */
        for (uint32_t k = 0; k < g->nodes[at].n_ports; k++) {
            uint32_t next = g->ports[g->ports[g->nodes[at].first_port + k].peer].node;
            if (distance[next] == NET_NONE) {
                distance[next] = distance[at] + 1;
                queue[tail++] = next;
            }
        }
    }
}

static inline int fixture_route(void *user, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    const struct net_graph *g = user;
    uint32_t from = g->endpoints[r->reverse ? r->dst_rank : r->src_rank].node;
    uint32_t to = g->endpoints[r->reverse ? r->src_rank : r->dst_rank].node;
    g_autofree uint32_t *distance = g_new(uint32_t, g->n_nodes);
    fixture_distances(g, to, distance);
    if (distance[from] == NET_NONE || distance[from] > (uint32_t)max) {
        g_set_error(err, NET_ERROR, NET_ERROR_ROUTE, "rank %u to rank %u: no path", r->src_rank, r->dst_rank);
        return -1;
    }
    int n = 0;
    for (uint32_t at = from; at != to; at = g->ports[g->ports[ports[n - 1]].peer].node) {
        uint32_t candidate[64], n_candidates = 0;
        for (uint32_t k = 0; k < g->nodes[at].n_ports && n_candidates < 64; k++) {
            uint32_t port = g->nodes[at].first_port + k;
            if (distance[g->ports[g->ports[port].peer].node] + 1 == distance[at])
                candidate[n_candidates++] = port;
        }
        ports[n++] = candidate[r->sport % n_candidates];
    }
    return n;
}

/* Graph port by which node FROM reaches its neighbour TO. */
static inline uint32_t net_fixture_port(const struct net_fixture *f, uint32_t from, uint32_t to)
{
    const struct net_graph *g = &f->graph;
    for (uint32_t k = 0; k < g->nodes[from].n_ports; k++)
        if (g->ports[g->ports[g->nodes[from].first_port + k].peer].node == to)
            return g->nodes[from].first_port + k;
    fail_msg("no cable from node %u to node %u", from, to);
    return NET_NONE;
}

/* ---- parameters and work --------------------------------------------------------- */
static inline void net_fixture_set(struct net_fixture *f, const char *assignment)
{
    g_autoptr(GError) err = NULL;
    if (!param_bag_set_assignment(f->bag, assignment, PARAM_BY_COMMAND_LINE, "test", &err))
        fail_msg("%s", err->message);
}

static inline void net_fixture_set_all(struct net_fixture *f, const char *const *assignments)
{
    for (; *assignments; assignments++)
        net_fixture_set(f, *assignments);
}

/* Nothing costs time but wires of the given delay and frames: no FEC, pipeline, NIC or pause latency. */
static inline void net_fixture_set_bare(struct net_fixture *f)
{
    net_fixture_set_all(f, (const char *const[]){"link.fec_latency=0", "switch.latency=0", "nic.tx_latency=0",
                                                 "nic.rx_latency=0", "pfc.response=0",
                                                 "switch.forwarding=store_and_forward",
                                                 "nic.congestion_control=none", "ecn.enabled=false", NULL});
}

/* InfiniBand, and the same. */
static inline void net_fixture_set_bare_ib(struct net_fixture *f)
{
    f->infiniband = true;
    net_fixture_set_bare(f);
    net_fixture_set(f, "ib.credit_latency=0");
}

static inline struct job *net_fixture_job(struct net_fixture *f)
{
    if (!f->graph.ports)
        net_fixture_graph(f);
    if (!f->job)
        f->job = job_new(f->graph.n_endpoints);
    return f->job;
}

static inline struct fixture_message net_fixture_message_in_class(struct net_fixture *f, uint32_t src, uint32_t dst,
                                                                  int64_t bytes, uint8_t class)
{
    struct job *job = net_fixture_job(f);
    uint32_t tag = f->next_tag++;
    struct fixture_message m = {job_add_send(job, src, dst, bytes, tag, JOB_NONE),
                                job_add_recv(job, dst, src, bytes, tag, JOB_NONE)};
    job_op_at(job, m.send)->traffic_class = class;
    job_op_at(job, m.recv)->traffic_class = class;
    return m;
}

static inline struct fixture_message net_fixture_message(struct net_fixture *f, uint32_t src, uint32_t dst, int64_t bytes)
{
    return net_fixture_message_in_class(f, src, dst, bytes, JOB_CLASS_DEFAULT);
}

/* A message with a queue pair of its own, starting at START_PS. */
static inline struct fixture_message net_fixture_flow(struct net_fixture *f, uint32_t src, uint32_t dst, int64_t bytes,
                                                      sim_ps start_ps)
{
    struct fixture_message m = net_fixture_message(f, src, dst, bytes);
    struct job_flow flow = {.id = f->job->flows->len, .send_op = m.send, .recv_op = m.recv};
    g_array_append_val(f->job->flows, flow);
    job_op_at(f->job, m.send)->earliest_ps = start_ps;
    return m;
}

/* NULL with ERR set where net_new() refuses. */
static inline struct net *net_fixture_new(struct net_fixture *f, GError **err)
{
    g_autoptr(GError) job_err = NULL;
    struct job *job = net_fixture_job(f);
    if (!job_seal(job, &job_err))
        fail_msg("%s", job_err->message);
    if (!param_bag_check(f->bag, err))
        return NULL;
    struct net_config *c = &f->config;
    c->link = param_bag_get(f->bag, "link");
    c->switching = param_bag_get(f->bag, "switch");
    c->buffer = param_bag_get(f->bag, "buffer");
    c->pfc = param_bag_get(f->bag, "pfc");
    c->ecn = param_bag_get(f->bag, "ecn");
    c->nic = param_bag_get(f->bag, "nic");
    c->dcqcn = param_bag_get(f->bag, "dcqcn");
    c->cc_params = param_bag_get(f->bag, model_cc_name(c->nic->congestion_control));
    c->node = param_bag_get(f->bag, "node");
    c->qos = param_bag_get(f->bag, "qos");
    c->pfcwd = param_bag_get(f->bag, "pfcwd");
    c->ib = f->infiniband ? param_bag_get(f->bag, "ib") : NULL;
    c->node_names = (const char *const *)f->names->pdata;
    if (!c->route) {
        c->route = fixture_route;
        c->route_user = &f->graph;
    }
    return f->net = net_new(&f->graph, job, c, err);
}

static inline struct net *net_fixture_start(struct net_fixture *f)
{
    g_autoptr(GError) err = NULL;
    if (!net_fixture_new(f, &err))
        fail_msg("%s", err->message);
    return f->net;
}

/* From now on a lossy queue of any switch holds at most BYTES. */
static inline void net_fixture_lossy_limit(struct net *net, int64_t bytes)
{
    for (uint32_t p = 0; p < net->n_ports; p++)
        for (int c = 0; c < NET_CLASSES; c++) {
            struct queue_rule *rule = &((struct port_profile *)(uintptr_t)net->port[p].profile)->queue[c];
            rule->limit = bytes;
            rule->alpha_q16 = 0;
        }
}

static inline void net_fixture_assert_laws(const struct net_fixture *f)
{
    g_autoptr(GError) err = NULL;
    if (!net_check_laws(f->net, &err))
        fail_msg("%s", err->message);
}

static inline enum net_verdict net_fixture_run_hook(struct net_fixture *f, sim_ps until_ps, int n_threads,
                                                    net_hook_fn hook, void *user)
{
    if (!f->net)
        net_fixture_start(f);
    enum net_verdict verdict = net_run(f->net, until_ps, FIXTURE_DEADLOCK_PS, n_threads, hook, user);
    net_fixture_assert_laws(f);
    return verdict;
}

static inline enum net_verdict net_fixture_run_until(struct net_fixture *f, sim_ps until_ps)
{
    return net_fixture_run_hook(f, until_ps, 1, NULL, NULL);
}

/* To the end; every op must be done. */
static inline void net_fixture_run(struct net_fixture *f)
{
    assert_int_equal(net_fixture_run_until(f, SIM_PS_MAX), NET_FINISHED);
}

static inline struct net_totals net_fixture_totals(const struct net_fixture *f)
{
    struct net_totals t;
    net_totals(f->net, &t);
    return t;
}

static inline struct net_port_view net_fixture_port_view(const struct net_fixture *f, uint32_t from, uint32_t to)
{
    struct net_port_view view;
    net_port_view(f->net, net_fixture_port(f, from, to), &view);
    return view;
}

static inline sim_ps net_fixture_done_ps(const struct net_fixture *f, uint32_t op) { return net_op_done_ps(f->net, op); }

#endif
