/* check_sonic.c - the rules of a scenario for the configuration of one SONiC switch. */
#include "scenarios/check.h"

#include "models/model_params.h"
#include "scenarios/sonic.h"
#include "topologies/fabric.h"
#include "topologies/topology_params.h"
#include <string.h>

#define UNNAMED_SWITCH "switch"

/* A neighbour has the name that the overlay's places have; a port whose neighbour is not known leads to a node of the port's name. */
static struct fabric *fabric_of(const struct sonic_overlay *overlay, const struct topology_params *topology, GError **err)
{
    g_autoptr(GArray) cables = g_array_new(FALSE, FALSE, sizeof(struct fabric_cable));
    for (guint i = 0; i < overlay->links->len; i++) {
        const struct sonic_link *link = &g_array_index(overlay->links, struct sonic_link, i);
        struct fabric_cable cable = {link->peer ? link->peer : link->port, link->rate_bps, link->cable_mm};
        g_array_append_val(cables, cable);
    }
    return fabric_of_switch(overlay->hostname && *overlay->hostname ? overlay->hostname : UNNAMED_SWITCH, (const struct fabric_cable *)cables->data,
                            cables->len, topology, err);
}

/* What the file does not tell, and what the model takes for it. */
static void note_unknown(const struct sonic_overlay *overlay, const struct topology_params *topology, GPtrArray *notes)
{
    guint rates = 0, cables = 0;
    for (guint i = 0; i < overlay->links->len; i++) {
        const struct sonic_link *link = &g_array_index(overlay->links, struct sonic_link, i);
        rates += link->rate_bps == 0;
        cables += link->cable_mm < 0;
    }
    g_autofree char *rate = units_format_rate(topology->host_rate_bps), *length = units_format_length(topology->host_cable_mm);
    if (rates > 0)
        g_ptr_array_add(notes, g_strdup_printf("%u ports without a speed: %s is taken (--set topology.host_rate=...)", rates, rate));
    if (cables > 0)
        g_ptr_array_add(notes, g_strdup_printf("%u ports without a length of cable: %s is taken (--set topology.host_cable=...)", cables, length));
}

/* The file does not tell what NICs send: the first DSCP that the switch gives to each class, where it has one. */
static bool set_nic_dscp(struct scenario *scenario, GPtrArray *notes, GError **err)
{
    const struct qos_params *qos = param_bag_get(scenario->bag, "qos");
    const struct nic_params *nic = param_bag_get(scenario->bag, "nic");
    uint8_t tc_of_dscp[64], dscp_of_class[8];
    if (!model_parse_map(qos->dscp_to_tc, tc_of_dscp, 64, err) || !model_parse_eight(nic->class_dscp, dscp_of_class, 63, err))
        return false;
    g_autoptr(GString) list = g_string_new(NULL);
    for (int class = 0; class < 8; class++) {
        const uint8_t *first = memchr(tc_of_dscp, class, sizeof tc_of_dscp);
        g_string_append_printf(list, "%s%d", class ? " " : "", first ? (int)(first - tc_of_dscp) : dscp_of_class[class]);
    }
    if (strcmp(list->str, nic->class_dscp) == 0)
        return true;
    g_ptr_array_add(notes, g_strdup_printf("NICs are taken to send the first DSCP of each class: nic.class_dscp = %s", list->str));
    g_autofree char *set = g_strdup_printf("nic.class_dscp=%s", list->str);
    return scenario_set(scenario, set, err);
}

static struct check_report *check_overlay(const char *name, const struct sonic_overlay *overlay, char **sets, GError **err)
{
    struct scenario *scenario = scenario_parse(name, overlay->text, strlen(overlay->text), err);
    bool ok = scenario && set_nic_dscp(scenario, overlay->warnings, err);
    for (char **set = sets; ok && set && *set; set++)
        ok = scenario_set(scenario, *set, err);
    struct fabric *fabric = NULL;
    struct check_report *report = NULL;
    if (ok) {
        const struct topology_params *topology = param_bag_get(scenario->bag, "topology");
        fabric = fabric_of(overlay, topology, err);
        note_unknown(overlay, topology, overlay->warnings);
    }
    if (fabric)
        report = check_scenario_on(scenario, fabric, overlay->warnings, err);
    fabric_free(fabric);
    scenario_free(scenario);
    return report;
}

struct check_report *check_sonic(const char *path, char **sets, GError **err)
{
    const struct sonic_options options = {.node = "*"};
    struct sonic_overlay overlay;
    if (!sonic_import(path, &options, &overlay, err))
        return NULL;
    g_autofree char *shown = g_filename_display_name(path), *name = g_strdup_printf("overlay of %s", shown);
    struct check_report *report = check_overlay(name, &overlay, sets, err);
    sonic_overlay_release(&overlay);
    return report;
}
