/* check_find.c - findings: places with the same text become one, places are told in short. */
#include "scenarios/check_priv.h"

#include "scenarios/site_match.h"
#include <math.h>
#include <string.h>

/* ---- making ---------------------------------------------------------------------- */

static void free_term(gpointer data)
{
    struct check_term *term = data;
    g_free(term->name);
    g_free(term->value);
    g_free(term);
}

struct check_finding *check_find(struct check *c, const char *id, enum check_severity severity, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    for (guint i = c->report->findings->len; i-- > 0;) {
        struct check_finding *old = c->report->findings->pdata[i];
        if (old->severity == severity && strcmp(old->id, id) == 0 && strcmp(old->what, what) == 0)
            return old;
    }
    struct check_finding *finding = g_new0(struct check_finding, 1);
    finding->id = id;
    finding->severity = severity;
    finding->what = g_steal_pointer(&what);
    finding->places = g_array_new(FALSE, FALSE, sizeof(struct check_place));
    finding->terms = g_ptr_array_new_with_free_func(free_term);
    finding->changes = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(c->report->findings, finding);
    return finding;
}

void check_at_port(struct check_finding *finding, const struct check *c, uint32_t port)
{
    struct check_place place = {c->graph->ports[port].node, port};
    g_array_append_val(finding->places, place);
}

void check_at_node(struct check_finding *finding, uint32_t node)
{
    struct check_place place = {node, NET_NONE};
    g_array_append_val(finding->places, place);
}

void check_term(struct check_finding *finding, const char *name, const char *format, ...)
{
    struct check_term *term = g_new0(struct check_term, 1);
    va_list args;
    va_start(args, format);
    term->name = g_strdup(name);
    term->value = g_strdup_vprintf(format, args);
    va_end(args);
    g_ptr_array_add(finding->terms, term);
}

void check_change(struct check_finding *finding, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(finding->changes, g_strdup_vprintf(format, args));
    va_end(args);
}

static char *value_text(const struct param_group *group, const void *values, const char *key)
{
    for (int r = 0; r < group->n_rows; r++)
        if (strcmp(group->rows[r].key, key) == 0)
            return param_format(&group->rows[r], values);
    return g_strdup("");
}

static void add_change(struct check_finding *finding, const char *group, const char *key, const char *value, const char *now,
                       const char *origin)
{
    if (origin && strcmp(origin, "default") != 0)
        check_change(finding, "%s.%s = %s (now %s, set at %s)", group, key, value, now, origin);
    else
        check_change(finding, "%s.%s = %s (now %s, the default)", group, key, value, now);
}

void check_change_key(struct check_finding *finding, const struct check *c, enum net_params kind, uint32_t port, uint32_t class,
                      const char *key, const char *value)
{
    const char *group = site_group_name(kind);
    const void *values = kind == NET_PARAMS_NIC ? CHECK_NODE(c, kind, c->graph->ports[port].node) : site_at_port(c->site, kind, port, class);
    g_autofree char *now = value_text(param_bag_find(c->scenario->bag, group), values, key);
    add_change(finding, group, key, value, now, site_origin(c->site, kind, port, class, key));
}

void check_change_run_key(struct check_finding *finding, const struct check *c, const char *group, const char *key, const char *value)
{
    const struct param_bag *bag = c->scenario->bag;
    g_autofree char *now = value_text(param_bag_find(bag, group), param_bag_get(bag, group), key);
    add_change(finding, group, key, value, now, param_bag_origin(bag, group, key));
}

/* ---- words -------------------------------------------------------------------------- */

/* Exact, with a comma between thousands, where people still read digits; else rounded. */
char *check_bytes(double bytes)
{
    if (fabs(bytes) >= 10 * (double)UNIT_MB)
        return units_human_bytes(bytes);
    g_autofree char *digits = g_strdup_printf("%.0f", fabs(bytes));
    GString *text = g_string_new(bytes <= -0.5 ? "-" : "");
    size_t n = strlen(digits);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            g_string_append_c(text, ',');
        g_string_append_c(text, digits[i]);
    }
    return g_string_free(g_string_append(text, " B"), FALSE);
}

char *check_bits(uint8_t bits)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < NET_CLASSES; i++)
        if (bits >> i & 1)
            g_string_append_printf(text, "%s%u", text->len ? "," : "", i);
    return g_string_free(g_string_append(text, text->len ? "" : "none"), FALSE);
}

const char *check_severity_name(enum check_severity severity)
{
    static const char *const names[] = {[CHECK_NOTE] = "note", [CHECK_WARNING] = "warning", [CHECK_ERROR] = "error"};
    return names[severity];
}

/* ---- places in short ------------------------------------------------------------------ */

/* "leaf3/spine1", a selector of scenario files; ":2" tells parallel links apart. */
static char *port_text(const struct check *c, uint32_t port)
{
    const struct net_port *p = &c->graph->ports[port];
    if (p->peer == NET_NONE)
        return g_strdup(c->fabric->names[p->node]);
    uint32_t peer = check_peer_node(c, port), n = 0, index = 0;
    const struct net_node *node = &c->graph->nodes[p->node];
    for (uint32_t q = node->first_port; q < node->first_port + node->n_ports; q++)
        if (check_is_plugged(c, q) && check_peer_node(c, q) == peer) {
            index = q == port ? n : index;
            n++;
        }
    return n > 1 ? g_strdup_printf("%s/%s:%u", c->fabric->names[p->node], c->fabric->names[peer], index)
                 : g_strdup_printf("%s/%s", c->fabric->names[p->node], c->fabric->names[peer]);
}

static char *places_text(const struct check *c, const GArray *places)
{
    g_autofree uint8_t *nodes = g_malloc0(MAX(c->graph->n_nodes, 1)), *peers = g_malloc0(MAX(c->graph->n_nodes, 1));
    uint32_t n_ports = 0;
    for (guint i = 0; i < places->len; i++) {
        const struct check_place *place = &g_array_index(places, struct check_place, i);
        nodes[place->node] = 1;
        if (place->port == NET_NONE)
            continue;
        n_ports++;
        if (check_is_plugged(c, place->port))
            peers[check_peer_node(c, place->port)] = 1;
    }
    g_autofree char *from = site_list_names(c->fabric, nodes);
    if (n_ports == 0)
        return g_steal_pointer(&from);
    if (places->len == 1)
        return port_text(c, g_array_index(places, struct check_place, 0).port);
    g_autofree char *to = site_list_names(c->fabric, peers);
    return g_strdup_printf("%s to %s, %u ports", from, to, n_ports);
}

/* Errors first, then in the order in which they were found. */
static void sort_findings(GPtrArray *findings)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (int severity = CHECK_ERROR; severity >= CHECK_NOTE; severity--)
        for (guint i = 0; i < findings->len; i++)
            if ((int)((struct check_finding *)findings->pdata[i])->severity == severity)
                g_ptr_array_add(sorted, findings->pdata[i]);
    if (sorted->len > 0)
        memcpy(findings->pdata, sorted->pdata, sorted->len * sizeof *sorted->pdata);
}

void check_close(struct check *c)
{
    for (guint i = 0; i < c->report->findings->len; i++) {
        struct check_finding *finding = c->report->findings->pdata[i];
        finding->where = c->fabric ? places_text(c, finding->places) : g_strdup("");
        c->report->n_by_severity[finding->severity]++;
    }
    sort_findings(c->report->findings);
}

static void free_finding(gpointer data)
{
    struct check_finding *finding = data;
    g_free(finding->what);
    g_free(finding->where);
    g_array_unref(finding->places);
    g_ptr_array_unref(finding->terms);
    g_ptr_array_unref(finding->changes);
    g_free(finding);
}

struct check_report *check_report_new(void)
{
    struct check_report *report = g_new0(struct check_report, 1);
    report->findings = g_ptr_array_new_with_free_func(free_finding);
    report->hops = g_array_new(FALSE, FALSE, sizeof(struct check_hop));
    report->node_names = g_ptr_array_new_with_free_func(g_free);
    report->port_nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    report->port_peers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return report;
}

void check_report_free(struct check_report *report)
{
    if (!report)
        return;
    g_ptr_array_unref(report->findings);
    g_array_unref(report->hops);
    g_ptr_array_unref(report->node_names);
    g_array_unref(report->port_nodes);
    g_array_unref(report->port_peers);
    g_free(report);
}
