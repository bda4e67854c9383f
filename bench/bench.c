/* bench.c - cost of a packet-hop.
 *
 *   fabricast_bench CASE [THREADS] [BYTES]     CASE: leafspine128 | fat1024 | fat8192 | ib128 | ib1024
 *
 * A random permutation of the hosts, one flow each (1 MB unless BYTES says else),
 * 100 Gb/s links of 1 us, 4,096-byte MTU, an ACK a packet, DCQCN (rates as HPCC
 * scales them to 100 Gb/s), PFC and ECN on.
 * ib128 and ib1024 are the first two on InfiniBand. A packet-hop is a packet (data, ACK, control) put on a link, NICs included. Under
 * `valgrind --tool=callgrind --toggle-collect=net_run` the instructions divided by
 * the packet-hops printed here are instructions a packet-hop.
 */
#include "models/net.h"
#include "scenarios/groups.h"
#include "sim/rng.h"
#include "topologies/fabric.h"
#include "topologies/topology_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct bench_case { const char *name, *settings[16]; };

static const struct bench_case cases[] = {
    {"leafspine128", {"topology.kind=leaf_spine", "topology.hosts=128", "topology.leaf_radix=32", "topology.spine_radix=8"}},
    {"fat1024", {"topology.kind=fat_tree", "topology.k=16"}},
    {"fat8192", {"topology.kind=fat_tree", "topology.k=32"}},
    {"ib128", {"topology.kind=leaf_spine", "topology.hosts=128", "topology.leaf_radix=32", "topology.spine_radix=8", "topology.link_layer=infiniband",
               "ib.credit_latency=0"}},
    {"ib1024", {"topology.kind=fat_tree", "topology.k=16", "topology.link_layer=infiniband", "ib.credit_latency=0"}},
};
static const char *const common[] = {
    "topology.host_rate=100Gbps", "topology.host_delay=1us", "topology.leaf_delay=1us", "topology.spine_delay=1us",
    "link.fec_latency=0",         "switch.latency=0",        "nic.rx_latency=0",        "nic.tx_latency=0",
    "pfc.response=0",             "buffer.size=32MiB",       "switch.forwarding=store_and_forward",
    "buffer.alpha=1/8",           "dcqcn.rpg_ai_rate=20Mbps", "dcqcn.rpg_hai_rate=200Mbps", "dcqcn.rpg_min_rate=1000Mbps",
    "dcqcn.dce_tcp_g=1020",
};

static void set(struct param_bag *bag, const char *assignment)
{
    GError *err = NULL;
    if (!param_bag_set_assignment(bag, assignment, PARAM_BY_COMMAND_LINE, "bench", &err))
        g_error("%s", err->message);
}

static int route(void *user, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    struct route_key key = {.src = r->reverse ? r->dst_rank : r->src_rank, .dst = r->reverse ? r->src_rank : r->dst_rank,
                            .sport = r->sport, .dport = 4791};
    const struct ecmp_hash hash = ecmp_hash_mix(1, true);
    return routes_path(user, &key, &hash, ports, max, err);
}

/* A random permutation without fixed points, as flows of BYTES. */
static struct job *permutation(uint32_t n, int64_t bytes)
{
    g_autofree uint32_t *to = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        to[i] = i;
    for (uint32_t i = n - 1; i > 0; i--) { /* Sattolo: one cycle */
        uint32_t j = (uint32_t)(sim_rng(7, 0, SIM_RNG_START, i) % i), swap = to[i];
        to[i] = to[j];
        to[j] = swap;
    }
    struct job *job = job_new(n);
    for (uint32_t i = 0; i < n; i++) {
        struct job_flow flow = {.id = i, .send_op = job_add_send(job, i, to[i], bytes, i, JOB_NONE), .recv_op = job_add_recv(job, to[i], i, bytes, i, JOB_NONE)};
        g_array_append_val(job->flows, flow);
    }
    GError *err = NULL;
    if (!job_seal(job, &err))
        g_error("%s", err->message);
    return job;
}

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void report(const char *name, int threads, const struct net *net, double wall_s, double cpu_s, double setup_s)
{
    struct net_totals t;
    struct rusage usage;
    net_totals(net, &t);
    getrusage(RUSAGE_SELF, &usage);
    double hops = (double)(t.data_hops + t.ack_hops + t.control_hops);
    printf("%-13s threads %d  hops %.0f (data %.0f ack %.0f ctrl %.0f)  %.1f ns/hop  cpu %.1f ns/hop  %.2f events/hop  "
           "wall %.3f s  setup %.3f s  peak RSS %.1f MB  marks %.0f cnps %.0f pauses %.0f  ops %.0f/%.0f  windows %.0f growths %.0f  digest %016" G_GINT64_MODIFIER "x\n",
           name, threads, hops, (double)t.data_hops, (double)t.ack_hops, (double)t.control_hops, wall_s * 1e9 / hops, cpu_s * 1e9 / hops,
           (double)t.events / hops, wall_s, setup_s, (double)usage.ru_maxrss / 1024, (double)t.ecn_marked_pkts,
           (double)t.cnp_handled_pkts, (double)t.pause_frames, (double)t.ops_done, (double)t.ops_total, (double)t.windows, (double)t.growths, t.digest);
}

static int run_case(const struct bench_case *c, int threads, int64_t bytes)
{
    int n_groups;
    const struct param_group *const *groups = scenario_groups(&n_groups);
    struct param_bag *bag = param_bag_new(groups, n_groups);
    for (size_t i = 0; i < G_N_ELEMENTS(common); i++)
        set(bag, common[i]);
    for (int i = 0; c->settings[i]; i++)
        set(bag, c->settings[i]);
    GError *err = NULL;
    double t0 = now_s(CLOCK_MONOTONIC);
    struct fabric *fabric = fabric_build(param_bag_get(bag, "topology"), ".", &err);
    if (!fabric)
        g_error("%s", err->message);
    struct routes *routes = routes_new(fabric);
    struct job *job = permutation(fabric->graph.n_endpoints, bytes);
    const struct topology_params *topology = param_bag_get(bag, "topology");
    struct net_config config = {.link = param_bag_get(bag, "link"), .switching = param_bag_get(bag, "switch"),
                                .buffer = param_bag_get(bag, "buffer"), .pfc = param_bag_get(bag, "pfc"),
                                .ecn = param_bag_get(bag, "ecn"), .nic = param_bag_get(bag, "nic"),
                                .dcqcn = param_bag_get(bag, "dcqcn"), .node = param_bag_get(bag, "node"),
                                .qos = param_bag_get(bag, "qos"), .pfcwd = param_bag_get(bag, "pfcwd"),
                                .ib = topology->link_layer == TOPOLOGY_INFINIBAND ? param_bag_get(bag, "ib") : NULL,
                                .node_names = (const char *const *)fabric->names, .seed = 1, .data_class = 3,
                                .route = route, .route_user = routes};
    struct net *net = net_new(&fabric->graph, job, &config, &err);
    if (!net)
        g_error("%s", err->message);
    double t1 = now_s(CLOCK_MONOTONIC), c1 = now_s(CLOCK_PROCESS_CPUTIME_ID);
    net_run(net, SIM_PS_MAX / 2, 10 * UNIT_MS, threads, NULL, NULL);
    double t2 = now_s(CLOCK_MONOTONIC), c2 = now_s(CLOCK_PROCESS_CPUTIME_ID);
    report(c->name, threads, net, t2 - t1, c2 - c1, t1 - t0);
    bool ok = net_check_laws(net, &err);
    if (!ok)
        fprintf(stderr, "%s\n", err->message);
    net_free(net);
    job_free(job);
    routes_free(routes);
    fabric_free(fabric);
    param_bag_free(bag);
    return ok ? 0 : 5;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    int64_t bytes = argc > 3 ? strtoll(argv[3], NULL, 10) : UNIT_MB;
    for (size_t i = 0; argc > 1 && i < G_N_ELEMENTS(cases); i++)
        if (strcmp(argv[1], cases[i].name) == 0 && threads > 0 && bytes >= 0)
            return run_case(&cases[i], threads, bytes);
    fprintf(stderr, "usage: fabricast_bench leafspine128|fat1024|fat8192|ib128|ib1024 [THREADS] [BYTES]\n");
    return 2;
}
