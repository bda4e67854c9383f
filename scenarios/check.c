/* check.c - gathers what the rules look at, and asks them. */
#include "scenarios/check_priv.h"

#include "scenarios/run_params.h"
#include "scenarios/workload.h"
#include <string.h>

/* ---- contradictions ------------------------------------------------------------------ */

/* The text opens with the place: "f.ini:12: [pfcwd:leaf3]: detection_time: ...". */
static void add_contradiction(struct check *c, const char *text)
{
    struct check_finding *finding = check_find(c, "contradiction", CHECK_ERROR, "%s", text);
    if (check_is_new(finding))
        check_change(finding, "values that fit together; a run refuses these");
}

/* The cross-check of [GROUP]: all contradictions are told, not the first one. False for bad input. */
static bool check_group(struct check *c, const struct param_group *group, GError **err)
{
    const char *key = "";
    g_autoptr(GError) own = NULL;
    if (!group->check || group->scope == PARAM_SCOPE_LIST || group->check(param_bag_get(c->scenario->bag, group->name), &key, &own))
        return true;
    const char *origin = param_bag_origin(c->scenario->bag, group->name, key);
    g_prefix_error(&own, "%s: %s.%s: ", g_strcmp0(origin, "default") == 0 ? c->scenario->path : origin, group->name, key);
    /* Of the run's own groups: there is no fabric or workload to look at. */
    if (group->scope != PARAM_SCOPE_SITE || !g_error_matches(own, PARAM_ERROR, PARAM_ERROR_CROSS)) {
        g_propagate_error(err, g_steal_pointer(&own));
        return false;
    }
    if (g_str_equal(group->name, "ecn"))
        c->ecn_contradiction = g_strdup(own->message);
    else
        add_contradiction(c, own->message);
    return true;
}

/* Each layer over [GROUP] alone. *FATAL: no values by place can be had. */
static bool check_layers(struct check *c, const struct param_group *group, bool *fatal, GError **err)
{
    struct param_bag *bag = c->scenario->bag;
    for (int layer = 0; group->scope == PARAM_SCOPE_SITE && layer < param_bag_n_layers(bag, group->name); layer++) {
        g_autoptr(GError) own = NULL;
        if (param_bag_resolve(bag, group->name, UINT64_C(1) << layer, &own))
            continue;
        if (!g_error_matches(own, PARAM_ERROR, PARAM_ERROR_CROSS)) {
            g_propagate_error(err, g_steal_pointer(&own));
            return false;
        }
        *fatal = true;
        add_contradiction(c, own->message);
    }
    return true;
}

static bool check_values(struct check *c, bool *fatal, GError **err)
{
    struct param_bag *bag = c->scenario->bag;
    for (int g = 0; g < param_bag_n_groups(bag); g++) {
        const struct param_group *group = param_bag_group(bag, g);
        if (!check_group(c, group, err) || !check_layers(c, group, fatal, err))
            return false;
    }
    bool clean = c->report->findings->len == 0 && !c->ecn_contradiction;
    return !clean || scenario_check(c->scenario, err); /* what is left: items of lists */
}

/* ---- fabric --------------------------------------------------------------------------- */

static bool build_fabric(struct check *c, GError **err)
{
    if (!c->fabric)
        c->fabric = c->own_fabric = fabric_build(param_bag_get(c->scenario->bag, "topology"), c->scenario->base_dir, err);
    if (!c->fabric) {
        if (err && *err && !strchr((*err)->message, ':'))
            g_prefix_error(err, "%s: topology: ", c->scenario->path);
        scenario_prefix_origin(c->scenario, err);
        return false;
    }
    c->graph = &c->fabric->graph;
    for (uint32_t i = 0; i < c->graph->n_nodes; i++)
        g_ptr_array_add(c->report->node_names, g_utf8_make_valid(c->fabric->names[i], -1));
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        uint32_t peer = check_is_plugged(c, p) ? check_peer_node(c, p) : NET_NONE;
        g_array_append_val(c->report->port_nodes, c->graph->ports[p].node);
        g_array_append_val(c->report->port_peers, peer);
    }
    return true;
}

/* Is the fabric whole? False for one whose ports make no sense; pairs without a path are a finding. */
static bool check_fabric(struct check *c, bool *fatal, GError **err)
{
    g_autoptr(GError) broken = NULL;
    if (fabric_check(c->fabric, &broken))
        return true;
    if (!g_error_matches(broken, FABRIC_ERROR, FABRIC_ERROR_DISCONNECTED)) {
        g_propagate_prefixed_error(err, g_steal_pointer(&broken), "%s: topology: ", c->scenario->path);
        return false;
    }
    *fatal = true;
    struct check_finding *finding = check_find(c, "unreachable", CHECK_ERROR, "%s", broken->message);
    check_change(finding, "the topology: links so that every pair of GPUs has a path over switches (hosts do not relay)");
    return true;
}

static struct net_config config_of(const struct check *c, const struct net_site *site)
{
    const struct param_bag *bag = c->scenario->bag;
    return (struct net_config){.link = param_bag_get(bag, "link"),
                               .switching = param_bag_get(bag, "switch"),
                               .buffer = param_bag_get(bag, "buffer"),
                               .pfc = c->pfc,
                               .pfcwd = param_bag_get(bag, "pfcwd"),
                               .ib = c->infiniband ? param_bag_get(bag, "ib") : NULL,
                               .ecn = param_bag_get(bag, "ecn"),
                               .nic = c->nic,
                               .qos = param_bag_get(bag, "qos"),
                               .node_names = (const char *const *)c->fabric->names,
                               .data_class = c->data_class,
                               .site = site};
}

static bool build_job(struct check *c, GError **err)
{
    const struct param_bag *bag = c->scenario->bag;
    const struct workload_params *workload = param_bag_get(bag, "workload");
    if (workload->kind == WORKLOAD_NONE)
        return true;
    c->job = workload_load(workload, param_bag_get(bag, "collective"), c->fabric, c->scenario->base_dir, NULL, err);
    if (!c->job)
        scenario_prefix_origin(c->scenario, err);
    return c->job != NULL;
}

static void read_params(struct check *c)
{
    const struct param_bag *bag = c->scenario->bag;
    const struct run_params *run = param_bag_get(bag, "run");
    const struct topology_params *topology = param_bag_get(bag, "topology");
    c->infiniband = topology->link_layer == TOPOLOGY_INFINIBAND;
    c->nic = param_bag_get(bag, "nic");
    c->pfc = param_bag_get(bag, "pfc");
    c->routing = param_bag_get(bag, "routing");
    c->data_class = (uint8_t)run->data_class;
}

/* ---- classes and codes ------------------------------------------------------------------- */

static void find_classes(struct check *c)
{
    for (uint32_t i = 0; c->job && i < job_n_ops(c->job); i++) {
        const struct job_op *op = job_op_at(c->job, i);
        if (op->kind != JOB_SEND)
            continue;
        uint32_t class = op->traffic_class == JOB_CLASS_DEFAULT ? c->data_class : op->traffic_class;
        c->classes = (uint8_t)(c->classes | 1u << class);
    }
    if (c->classes == 0)
        c->classes = (uint8_t)(1u << c->data_class);
}

static void find_codes(struct check *c)
{
    c->tcs = g_malloc0(MAX((gsize)c->graph->n_nodes, 1) * sizeof *c->tcs);
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        const struct port_profile *profile = survey_profile(c->survey, p);
        uint32_t node = c->graph->ports[p].node;
        if (!check_is_plugged(c, p))
            continue;
        for (uint32_t k = 0; k < NET_CLASSES; k++) {
            c->tcs[node][k] = (uint8_t)(c->tcs[node][k] | 1u << profile->tc_of_code[k]);
            if (!check_is_switch(c, node))
                c->codes[k] = (uint8_t)(c->codes[k] | 1u << profile->code_of_class[k]);
        }
        c->pausable |= check_is_switch(c, node) && profile->honours;
    }
}

static void find_cnps(struct check *c)
{
    if (c->nic->congestion_control != NIC_CC_DCQCN)
        return;
    for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
        const struct nic_params *nic = CHECK_NODE(c, NET_PARAMS_NIC, i);
        if (!check_is_switch(c, i) && nic->np_mode == NIC_NP_CNP)
            c->cnp_classes = (uint8_t)(c->cnp_classes | 1u << nic->cnp_class);
    }
}

bool check_has_fault(const struct check *c, uint32_t kinds)
{
    for (guint i = 0; c->faults && i < c->faults->len; i++)
        if (kinds >> g_array_index(c->faults, struct net_fault, i).params->kind & 1)
            return true;
    return false;
}

bool check_heeds_ecn(const struct check *c)
{
    return c->nic->congestion_control == NIC_CC_DCQCN || c->nic->congestion_control == NIC_CC_DCTCP;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* What a run would refuse about a port, with the links that it concerns. */
static void check_problems(struct check *c)
{
    if (c->ecn_contradiction && c->report->findings->len == 0)
        add_contradiction(c, c->ecn_contradiction);
    for (uint32_t p = 0; p < c->graph->n_ports; p++) {
        const char *problem = survey_problem(c->survey, p);
        if (!problem || c->explained[p])
            continue;
        g_autoptr(GError) err = g_error_new_literal(NET_ERROR, NET_ERROR_INPUT, problem);
        scenario_prefix_origin(c->scenario, &err);
        struct check_finding *finding = check_find(c, "refused", CHECK_ERROR, "%s", err->message);
        if (check_is_new(finding))
            check_change(finding, "as the sentence says; a run refuses these values");
        check_at_port(finding, c, p);
    }
}

static void apply_rules(struct check *c)
{
    static void (*const rules[])(struct check *) = {
        check_marking_order, check_problems, check_buffer, check_headroom,     check_hops,     check_classes,
        check_ecn,           check_cycles,   check_watchdog, check_paths, check_polarisation, check_transport};
    static void (*const ib_rules[])(struct check *) = {check_problems, check_cycles, check_paths, check_polarisation, check_transport};
    for (size_t i = 0; i < (c->infiniband ? G_N_ELEMENTS(ib_rules) : G_N_ELEMENTS(rules)); i++)
        (c->infiniband ? ib_rules : rules)[i](c);
}

static void add_not_looked_at(struct check *c)
{
    check_find(c, "not-looked-at", CHECK_NOTE, "the other rules were not applied: they need the errors above solved first");
}

static bool look(struct check *c, GError **err)
{
    bool fatal = false;
    if (!check_values(c, &fatal, err) || !build_fabric(c, err) || !check_fabric(c, &fatal, err))
        return false;
    read_params(c);
    if (!build_job(c, err))
        return false;
    if (fatal) {
        if (c->ecn_contradiction)
            add_contradiction(c, c->ecn_contradiction);
        add_not_looked_at(c);
        return true;
    }
    c->site = site_new(c->scenario->bag, c->fabric, err);
    c->faults = c->site ? site_faults(c->site, err) : NULL;
    if (!c->faults)
        return false;
    struct net_site net_site = site_for_net(c->site);
    struct net_config config = config_of(c, &net_site);
    c->survey = survey_new(c->graph, &config, err);
    if (!c->survey) {
        scenario_prefix_origin(c->scenario, err);
        return false;
    }
    c->routes = routes_new(c->fabric);
    c->explained = g_malloc0(MAX(c->graph->n_ports, 1));
    find_classes(c);
    find_codes(c);
    find_cnps(c);
    apply_rules(c);
    return true;
}

static void check_clear(struct check *c)
{
    g_free(c->tcs);
    g_free(c->explained);
    g_free(c->ecn_contradiction);
    routes_free(c->routes);
    survey_free(c->survey);
    job_free(c->job);
    if (c->faults)
        g_array_unref(c->faults);
    site_free(c->site);
    fabric_free(c->own_fabric);
}

struct check_report *check_scenario(struct scenario *scenario, GError **err)
{
    return check_scenario_on(scenario, NULL, NULL, err);
}

struct check_report *check_scenario_on(struct scenario *scenario, const struct fabric *fabric, const GPtrArray *notes, GError **err)
{
    struct check c = {.scenario = scenario, .fabric = fabric, .report = check_report_new()};
    bool ok = look(&c, err);
    for (guint i = 0; ok && notes && i < notes->len; i++)
        check_find(&c, "imported", CHECK_NOTE, "%s", (const char *)notes->pdata[i]);
    if (ok)
        check_close(&c);
    check_clear(&c);
    if (ok)
        return c.report;
    check_report_free(c.report);
    return NULL;
}
