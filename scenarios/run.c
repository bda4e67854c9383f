/* run.c - composition root: parameters to fabric, job and net; then the run and its verdict. */
#include "scenarios/run_priv.h"
#include "scenarios/groups.h"
#include "scenarios/workload.h"
#include "topologies/lft.h"
#include "topologies/topology_params.h"

#include <omp.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* RoCEv2's UDP destination port. */
#define ROCE_PORT 4791
/* A net with fewer nodes than this is done before a second thread has warmed up. */
#define MIN_NODES_FOR_THREADS 48
#define MAX_UNFINISHED_NOTES 20

/* ---- routes ------------------------------------------------------------------ */
static int static_route(struct run *run, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    const struct job_path *path = g_hash_table_lookup(run->path_of_flow, GUINT_TO_POINTER(r->flow_id + 1));
    if (!path)
        return 0;
    const uint32_t *nodes = r->reverse ? path->ack_nodes : path->data_nodes;
    uint32_t n = r->reverse ? path->n_ack : path->n_data;
    const struct net_endpoint *ends = run->fabric->graph.endpoints;
    uint32_t from = ends[r->reverse ? r->dst_rank : r->src_rank].node, to = ends[r->reverse ? r->src_rank : r->dst_rank].node;
    if (n < 2 || nodes[0] != from || nodes[n - 1] != to) {
        g_set_error(err, NET_ERROR, NET_ERROR_ROUTE, "workload.paths: flow %u: its %s path does not lead from node %u to node %u",
                    r->flow_id, r->reverse ? "ACK" : "data", from, to);
        return -1;
    }
    return routes_from_nodes(run->fabric, nodes, n, ports, max, err);
}

static struct route_key key_of(const struct net_route_request *r)
{
    return (struct route_key){.src = r->reverse ? r->dst_rank : r->src_rank,
                              .dst = r->reverse ? r->src_rank : r->dst_rank,
                              .sport = r->sport,
                              .dport = ROCE_PORT,
                              .qpn = r->qpn};
}

static int route(void *user, const struct net_route_request *r, uint32_t *ports, int max, GError **err)
{
    struct run *run = user;
    if (run->routing->mode == ROUTING_STATIC && r->flow_id != JOB_NONE) {
        int n = static_route(run, r, ports, max, err);
        if (n != 0)
            return n;
    }
    if (run->lft)
        return lft_rank_path(run->lft, run->fabric, r->reverse ? r->dst_rank : r->src_rank, r->reverse ? r->src_rank : r->dst_rank, r->sport,
                             ports, max, err);
    struct route_key key = key_of(r);
    return routes_path(run->routes, &key, &run->ecmp, ports, max, err);
}

static uint32_t next_hops(void *user, uint32_t node, uint32_t rank, const uint64_t *down, uint32_t *ports, uint32_t max)
{
    return routes_next_hops(((struct run *)user)->routes, node, rank, down, ports, max);
}

static bool pinned(void *user, const struct net_route_request *r)
{
    const struct run *run = user;
    return r->flow_id != JOB_NONE && g_hash_table_contains(run->path_of_flow, GUINT_TO_POINTER(r->flow_id + 1));
}

static uint64_t hash(void *user, const struct net_route_request *r, uint32_t node)
{
    const struct run *run = user;
    struct route_key key = key_of(r);
    return ecmp_hash_at(&run->ecmp, &key, node, run->fabric->graph.nodes[node].tier);
}

static enum net_lb balancing(const struct routing_params *p)
{
    switch ((enum routing_mode)p->mode) {
    case ROUTING_SPRAY:
        return p->spray_choice == ROUTING_SPRAY_RANDOM ? NET_LB_SPRAY_RANDOM : NET_LB_SPRAY_ROUND_ROBIN;
    case ROUTING_ADAPTIVE:
        return NET_LB_ADAPTIVE;
    case ROUTING_FLOWLET:
        return NET_LB_FLOWLET;
    default:
        return NET_LB_FIXED;
    }
}

static void index_paths(struct run *run)
{
    run->path_of_flow = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < run->job->paths->len; i++) {
        struct job_path *path = &g_array_index(run->job->paths, struct job_path, i);
        g_hash_table_insert(run->path_of_flow, GUINT_TO_POINTER(path->flow_id + 1), path);
    }
}

/* ---- set-up -------------------------------------------------------------------- */
/* Bytes a port takes in the arrays of a run, its three window buckets included (docs/PERFORMANCE.md). */
#define PORT_BYTES 1300.0

/* Said before memory runs out, which would end the program without a word of use. */
static bool fits_memory(const struct run *run, GError **err)
{
    double needs = PORT_BYTES * run->fabric->graph.n_ports, has = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (needs < has)
        return true;
    g_autofree char *needs_text = units_human_bytes(needs);
    g_autofree char *has_text = units_human_bytes(has);
    g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "%s: topology: %u ports need about %s of memory, this machine has %s; allowed: a smaller fabric",
                run->scenario->path, run->fabric->graph.n_ports, needs_text, has_text);
    return false;
}

/* Ports that the options name, each once. */
static bool find_captures(struct run *run, GError **err)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    run->capture = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (const char *const *c = run->options->capture; c && *c; c++) {
        g_autoptr(GArray) ports = site_ports(run->fabric, *c, "--pcap", err);
        if (!ports)
            return false;
        for (guint i = 0; i < ports->len; i++) {
            uint32_t port = g_array_index(ports, uint32_t, i);
            if (g_hash_table_add(seen, GUINT_TO_POINTER(port + 1)))
                g_array_append_val(run->capture, port);
        }
    }
    return true;
}

static bool build_site(struct run *run, GError **err)
{
    run->site = site_new(run->scenario->bag, run->fabric, err);
    run->faults = run->site ? site_faults(run->site, err) : NULL;
    if (run->site)
        run->net_site = site_for_net(run->site);
    return run->faults != NULL;
}

/* Forwarding tables, where routing.engine asks for them. */
static bool build_tables(struct run *run, GError **err)
{
    if (run->routing->engine == ROUTING_ENGINE_ECMP)
        return true;
    for (guint i = 0; i < run->faults->len; i++) {
        int kind = g_array_index(run->faults, struct net_fault, i).params->kind;
        if (kind != FAULT_LINK_DOWN && kind != FAULT_SWITCH_REBOOT && kind != FAULT_NIC_PORT_DOWN)
            continue;
        g_set_error(err, NET_ERROR, NET_ERROR_INPUT, "[fault:%s] takes links down, for which forwarding tables have no second way; allowed: ecmp",
                    g_array_index(run->faults, struct net_fault, i).name);
        return false;
    }
    run->lft = lft_of_routing(run->fabric, run->routing, run->scenario->base_dir, err);
    return run->lft != NULL;
}

static bool build(struct run *run, GError **err)
{
    const struct param_bag *bag = run->scenario->bag;
    run->fabric = fabric_build(param_bag_get(bag, "topology"), run->scenario->base_dir, err);
    if (!run->fabric || !fabric_check(run->fabric, err)) {
        if (err && *err && !strchr((*err)->message, ':'))
            g_prefix_error(err, "%s: topology: ", run->scenario->path);
        scenario_prefix_origin(run->scenario, err);
        return false;
    }
    if (!fits_memory(run, err) || !build_site(run, err) || !find_captures(run, err))
        return false;
    g_auto(GStrv) notes = g_strsplit(run->fabric->notes ? run->fabric->notes : "", "\n", -1);
    for (char **note = notes; *note; note++)
        if (**note)
            g_ptr_array_add(run->warnings, g_strdup(*note));
    run->routes = routes_new(run->fabric);
    run->routing = param_bag_get(bag, "routing");
    run->ecmp = ecmp_hash_of(run->routing);
    if (!build_tables(run, err)) {
        g_prefix_error(err, "%s: routing.engine: ", run->scenario->path);
        return false;
    }
    run->job = workload_load(param_bag_get(bag, "workload"), param_bag_get(bag, "collective"), run->fabric,
                             run->scenario->base_dir, run->warnings, err);
    if (!run->job) {
        scenario_prefix_origin(run->scenario, err);
        return false;
    }
    index_paths(run);
    const struct nic_params *nic = param_bag_get(bag, "nic");
    const struct topology_params *topology = param_bag_get(bag, "topology");
    run->config = (struct net_config){.link = param_bag_get(bag, "link"),
                                .switching = param_bag_get(bag, "switch"),
                                .buffer = param_bag_get(bag, "buffer"),
                                .pfc = param_bag_get(bag, "pfc"),
                                .ecn = param_bag_get(bag, "ecn"),
                                .nic = nic,
                                .dcqcn = param_bag_get(bag, "dcqcn"),
                                .cc_params = param_bag_get(bag, model_cc_name(nic->congestion_control)),
                                .node = param_bag_get(bag, "node"),
                                .qos = param_bag_get(bag, "qos"),
                                .pfcwd = param_bag_get(bag, "pfcwd"),
                                .ib = topology->link_layer == TOPOLOGY_INFINIBAND ? param_bag_get(bag, "ib") : NULL,
                                .node_names = (const char *const *)run->fabric->names,
                                .seed = (uint64_t)run->params->seed,
                                .data_class = (uint8_t)run->params->data_class,
                                .record_pause_events = run->params->record_events,
                                .route = route,
                                .route_user = run,
                                .next_hops = next_hops,
                                .hash = hash,
                                .pinned = run->routing->mode == ROUTING_STATIC ? pinned : NULL,
                                .lb = balancing(run->routing),
                                .adaptive_choices = (uint32_t)run->routing->adaptive_choices,
                                .flowlet_gap_ps = run->routing->flowlet_gap_ps,
                                .local_repair_ps = run->routing->local_repair_ps,
                                .reconvergence_ps = run->routing->reconvergence_ps,
                                .site = &run->net_site,
                                .faults = (const struct net_fault *)(const void *)run->faults->data,
                                .n_faults = run->faults->len,
                                .capture_ports = (const uint32_t *)(const void *)run->capture->data,
                                .n_capture_ports = run->capture->len,
                                .capture_max_frames = RUN_CAPTURE_MAX};
    run->net = net_new(&run->fabric->graph, run->job, &run->config, err);
    if (!run->net)
        scenario_prefix_origin(run->scenario, err);
    return run->net != NULL;
}

/* A faster link with a lower threshold is legal, and almost always a slip. */
static void warn_of_falling_thresholds(struct run *run, const struct param_map *map, const char *key)
{
    for (int i = param_map_falls(map, 1); i > 0; i = param_map_falls(map, i + 1)) {
        g_autofree char *rate = units_format_rate(map->rate_bps[i]);
        g_autofree char *slower = units_format_rate(map->rate_bps[i - 1]);
        g_autofree char *value = units_format_bytes((int64_t)map->value[i]);
        g_autofree char *larger = units_format_bytes((int64_t)map->value[i - 1]);
        g_ptr_array_add(run->warnings, g_strdup_printf("%s: ecn.%s: %s links have %s, below the %s of %s links",
                                                       param_bag_origin(run->scenario->bag, "ecn", key), key, rate, value,
                                                       larger, slower));
    }
}

/* Some NIC goes back N as soon as a packet overtakes another one. */
static bool reordering_looks_like_loss(const struct run *run)
{
    const struct net_graph *g = &run->fabric->graph;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const struct nic_params *nic = g->nodes[i].kind == NET_HOST ? site_at_node(run->site, NET_PARAMS_NIC, i) : NULL;
        if (nic && nic->recovery == NIC_GO_BACK_N && nic->reorder_tolerance == 0)
            return true;
    }
    return false;
}

/* Groups with values of the scenario's own that InfiniBand has no use for. */
static void warn_of_ethernet(struct run *run)
{
    static const char *const names[] = {"qos", "buffer", "pfc", "pfcwd", "ecn", "dcqcn"};
    int n_groups;
    const struct param_group *const *groups = scenario_groups(&n_groups);
    g_autoptr(GString) found = g_string_new(NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        bool set = param_bag_n_layers(run->scenario->bag, names[k]) > 0;
        for (int g = 0; g < n_groups; g++)
            for (int i = 0; strcmp(groups[g]->name, names[k]) == 0 && i < groups[g]->n_rows; i++)
                set |= param_bag_set_by(run->scenario->bag, names[k], groups[g]->rows[i].key) != PARAM_BY_DEFAULT;
        if (set)
            g_string_append_printf(found, "%s[%s]", found->len ? ", " : "", names[k]);
    }
    if (found->len)
        g_ptr_array_add(run->warnings, g_strdup_printf("topology.link_layer is infiniband: %s %s no effect", found->str,
                                                       strchr(found->str, ',') ? "have" : "has"));
}

static void warn_of_settings(struct run *run)
{
    const struct routing_params *routing = param_bag_get(run->scenario->bag, "routing");
    if (run->job->paths->len > 0 && routing->mode != ROUTING_STATIC)
        g_ptr_array_add(run->warnings, g_strdup("workload.paths is not used: routing.mode is not static"));
    if (balancing(routing) != NET_LB_FIXED && reordering_looks_like_loss(run))
        g_ptr_array_add(run->warnings, g_strdup("routing.mode reorders packets, and nic.recovery go_back_n with reorder_tolerance 0 takes that for "
                                                "loss and sends again; use selective_repeat or a reorder_tolerance"));
    if (run->config.ib) {
        warn_of_ethernet(run);
        return;
    }
    const struct ecn_params *ecn = param_bag_get(run->scenario->bag, "ecn");
    if (!ecn->enabled)
        return;
    warn_of_falling_thresholds(run, &ecn->kmin, "kmin");
    warn_of_falling_thresholds(run, &ecn->kmax, "kmax");
}

static void run_clear(struct run *run)
{
    sampler_free(run->sampler);
    net_free(run->net);
    if (run->path_of_flow)
        g_hash_table_unref(run->path_of_flow);
    job_free(run->job);
    routes_free(run->routes);
    lft_free(run->lft);
    if (run->faults)
        g_array_unref(run->faults);
    site_free(run->site);
    if (run->capture)
        g_array_unref(run->capture);
    fabric_free(run->fabric);
    g_ptr_array_unref(run->warnings);
}

double run_wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- verdict ----------------------------------------------------------------------- */
static const char *op_kind_text(uint8_t kind)
{
    static const char *const names[] = {"join", "compute", "send", "receive"};
    return names[kind];
}

static bool flow_is_done(const struct net *net, const struct job_flow *flow)
{
    return net_op_done_ps(net, flow->send_op) >= 0 && net_op_done_ps(net, flow->recv_op) >= 0;
}

static char *failed_qp_text(uint32_t qp, const struct net_qp_view *view)
{
    g_autofree char *when = units_human_time(view->failed_ps);
    bool rnr = view->fail_reason == NET_QP_RNR_RETRIES_EXCEEDED;
    return g_strdup_printf("queue pair %u, rank %u to rank %u: %u retries %s, gave up at %s (%s)", qp, view->src_rank,
                           view->dst_rank, view->retries, rnr ? "and the receive was not posted" : "without an answer", when,
                           rnr ? "nic.rnr_retry, nic.min_rnr_timer" : "nic.retry_cnt, nic.local_ack_timeout");
}

static void note_failed_qps(struct run *run, const struct net_totals *totals)
{
    for (uint32_t q = 0, named = 0; q < totals->n_qps && named < MAX_UNFINISHED_NOTES; q++) {
        struct net_qp_view view;
        net_qp_view(run->net, q, totals->now_ps, &view);
        if (!view.failed)
            continue;
        named++;
        g_ptr_array_add(run->notes, failed_qp_text(q, &view));
    }
}

static void note_unfinished(struct run *run)
{
    const struct job *job = run->job;
    uint32_t listed = 0, left = 0, n_flows = job->flows->len, done = 0;
    for (guint f = 0; f < n_flows; f++)
        done += flow_is_done(run->net, &g_array_index(job->flows, struct job_flow, f));
    if (n_flows > 0)
        g_ptr_array_add(run->notes, g_strdup_printf("flows %u/%u complete", done, n_flows));
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        if (net_op_done_ps(run->net, i) >= 0 || op->kind == JOB_NOP)
            continue;
        left++;
        if (listed++ >= MAX_UNFINISHED_NOTES)
            continue;
        const char *state = net_op_start_ps(run->net, i) >= 0 ? "started" : "not started";
        if (op->peer == JOB_NONE)
            g_ptr_array_add(run->notes, g_strdup_printf("rank %u: %s, op %u: %s", op->rank, op_kind_text(op->kind), i, state));
        else
            g_ptr_array_add(run->notes,
                            g_strdup_printf("rank %u: %s %" G_GINT64_FORMAT " B %s rank %u, tag %u, op %u: %s", op->rank,
                                            op_kind_text(op->kind), op->amount, op->kind == JOB_SEND ? "to" : "from",
                                            op->peer, op->tag, i, state));
    }
    if (left > MAX_UNFINISHED_NOTES)
        g_ptr_array_add(run->notes, g_strdup_printf("... and %u more operations", left - MAX_UNFINISHED_NOTES));
}

static void note_stuck(struct run *run)
{
    struct net_totals totals;
    net_totals(run->net, &totals);
    if (totals.failed_qps > 0)
        note_failed_qps(run, &totals);
    else
        g_ptr_array_add(run->notes, g_strdup("nothing more is going to happen, and work is left"));
    note_unfinished(run);
}

static enum run_status judge(struct run *run, enum net_verdict verdict)
{
    switch (verdict) {
    case NET_FINISHED:
        return RUN_FINISHED;
    case NET_UNFINISHED:
        note_unfinished(run);
        return RUN_UNFINISHED;
    case NET_DEADLOCK: {
        g_autofree char *text = net_deadlock_text(run->net);
        struct net_totals totals;
        net_totals(run->net, &totals);
        g_autofree char *now = units_human_time(totals.now_ps);
        g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
        g_ptr_array_add(run->notes, g_strdup_printf("pause deadlock, seen at %s: %u paused links wait for each other in a ring:",
                                                    now, g_strv_length(lines)));
        for (char **l = lines; *l; l++)
            g_ptr_array_add(run->notes, g_strdup_printf("  %s", *l));
        return RUN_STUCK;
    }
    default:
        note_stuck(run);
        return RUN_STUCK;
    }
}

static struct run_result *finish(struct run *run, enum net_verdict verdict)
{
    struct run_result *result = g_new0(struct run_result, 1);
    result->status = judge(run, verdict);
    g_autoptr(GError) law = NULL;
    bool kept = net_check_laws(run->net, &law);
    if (!kept)
        g_ptr_array_add(run->notes, g_strdup(law->message));
    run->book = record_book_new();
    if (!results_collect(run, verdict) || !kept) {
        record_book_free(run->book);
        run->book = NULL;
        result->status = RUN_BROKEN;
    }
    if (run->book && result->status == RUN_FINISHED)
        twin_compare(run);
    result->book = run->book;
    result->notes = g_ptr_array_ref(run->notes);
    return result;
}

static int choose_threads(const struct run *run)
{
    int wanted = run->params->threads ? (int)run->params->threads : omp_get_num_procs();
    return run->params->threads == 0 && run->fabric->graph.n_nodes < MIN_NODES_FOR_THREADS ? 1 : wanted;
}

struct run_result *run_scenario(const struct scenario *scenario, const struct run_options *options, GError **err)
{
    struct run run = {.scenario = scenario,
                      .params = param_bag_get(scenario->bag, "run"),
                      .options = options,
                      .warnings = g_ptr_array_new_with_free_func(g_free),
                      .notes = g_ptr_array_new_with_free_func(g_free)};
    struct run_result *result = NULL;
    if (build(&run, err)) {
        warn_of_settings(&run);
        run.sampler = sampler_new(&run);
        run.n_threads = choose_threads(&run);
        double start_s = run_wall_s();
        sim_ps until_ps = run.params->until_ps ? run.params->until_ps : SIM_PS_MAX / 2;
        enum net_verdict verdict =
            net_run(run.net, until_ps, run.params->deadlock_after_ps, run.n_threads, sampler_hook, run.sampler);
        run.wall_s = run_wall_s() - start_s;
        sampler_end_progress(run.sampler);
        result = finish(&run, verdict);
    }
    run_clear(&run);
    g_ptr_array_unref(run.notes);
    return result;
}

void run_result_free(struct run_result *result)
{
    if (!result)
        return;
    record_book_free(result->book);
    g_ptr_array_unref(result->notes);
    g_free(result);
}
