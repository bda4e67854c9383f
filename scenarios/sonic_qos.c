/* sonic_qos.c - classes of a SONiC switch: maps and PFC of PORT_QOS_MAP, and the watchdog of PFC_WD.
 *
 * What a map leaves out falls to SAI's defaults: traffic class, queue and priority group 0. Priorities without an entry are
 * their own queue and group, as SONiC sets no map for them.
 */
#include "scenarios/sonic_priv.h"

#include "sim/message.h"
#include "sim/units.h"
#include <string.h>

/* ---- maps ------------------------------------------------------------------------- */

struct map_kind {
    const char *field, *table; /* of PORT_QOS_MAP; the table that it names */
    const char *key;           /* of group qos */
    int n;                     /* keys of the map: 0 .. n-1 */
    bool identity;             /* what is left out stays as it is, instead of 0 */
};
static const struct map_kind map_kinds[] = {
    {"dscp_to_tc_map", "DSCP_TO_TC_MAP", "dscp_to_tc", 64, false},
    {"dot1p_to_tc_map", "DOT1P_TO_TC_MAP", "pcp_to_tc", 8, false},
    {"tc_to_queue_map", "TC_TO_QUEUE_MAP", "tc_to_queue", 8, false},
    {"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg", 8, false},
    {"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue", 8, true},
    {"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg", 8, true},
};
enum { PFC_TO_QUEUE = 4, PFC_TO_PG = 5 };

/* The maps of one port; NULL: not set. */
struct port_maps { struct sonic_row *of[G_N_ELEMENTS(map_kinds)]; };

static bool read_map(const struct map_kind *kind, const struct sonic_row *row, uint8_t to[64], GError **err)
{
    for (int i = 0; i < kind->n; i++)
        to[i] = kind->identity ? (uint8_t)i : 0;
    for (guint i = 0; row && i < row->fields->len; i++) {
        const char *name = g_array_index(row->fields, struct sonic_field, i).name;
        int64_t from = 0, value = 0;
        if (strcmp(name, "NULL") == 0)
            continue;
        if (!units_parse_int(name, &from, NULL) || from < 0 || from >= kind->n)
            return sonic_fail(row, name, err, "no key of this map; allowed: 0 to %d", kind->n - 1);
        if (!sonic_int(row, name, 0, SONIC_CLASSES - 1, &value, NULL, err))
            return false;
        to[from] = (uint8_t)value;
    }
    return true;
}

/* "0-63:1 3:3 4:4": a value that most keys have, then what differs. (transfer full) */
static char *map_text(const struct map_kind *kind, const uint8_t *to)
{
    int n_of[SONIC_CLASSES] = {0}, base = -1;
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < kind->n; i++)
        base = ++n_of[to[i]] > kind->n / 2 ? to[i] : base;
    if (base >= 0)
        g_string_append_printf(text, " 0-%d:%d", kind->n - 1, base);
    for (int i = 0, end; i < kind->n; i = end) {
        for (end = i + 1; end < kind->n && to[end] == to[i];)
            end++;
        if (to[i] == base)
            continue;
        g_string_append_printf(text, " %d", i);
        if (end > i + 1)
            g_string_append_printf(text, "-%d", end - 1);
        g_string_append_printf(text, ":%d", to[i]);
    }
    return g_strdup(text->str + 1);
}

static bool set_maps(struct sonic *s, guint port, const struct port_maps *maps, GError **err)
{
    for (size_t k = 0; k < G_N_ELEMENTS(map_kinds); k++) {
        uint8_t to[64];
        if (!maps->of[k])
            continue;
        if (!read_map(&map_kinds[k], maps->of[k], to, err))
            return false;
        g_autofree char *text = map_text(&map_kinds[k], to);
        sonic_set(s, "qos", map_kinds[k].key, port, SONIC_ANY_CLASS, "%s", text);
    }
    if (maps->of[0] || maps->of[1]) /* SONiC reads the DSCP of routed packets wherever it has a map for it */
        sonic_set(s, "qos", "trust", port, SONIC_ANY_CLASS, "%s", maps->of[0] ? "dscp" : "pcp");
    return true;
}

/* ---- PORT_QOS_MAP -------------------------------------------------------------------- */

static bool take_maps(const struct sonic_row *row, struct port_maps *maps, GError **err)
{
    for (size_t k = 0; k < G_N_ELEMENTS(map_kinds); k++) {
        struct sonic_row *named;
        if (!sonic_reference(row, map_kinds[k].field, map_kinds[k].table, &named, err))
            return false;
        if (named)
            maps->of[k] = named;
    }
    return true;
}

/* Queues and groups of the priorities with PFC. */
static bool note_pfc(struct sonic_port *port, const struct port_maps *maps, uint8_t pfc, GError **err)
{
    uint8_t queue[64], pg[64];
    port->pfc_known = true;
    port->pfc = pfc;
    port->pfc_queues = port->pfc_pgs = 0;
    if (!read_map(&map_kinds[PFC_TO_QUEUE], maps->of[PFC_TO_QUEUE], queue, err) || !read_map(&map_kinds[PFC_TO_PG], maps->of[PFC_TO_PG], pg, err))
        return false;
    for (int p = 0; p < SONIC_CLASSES; p++) {
        if (!(pfc >> p & 1))
            continue;
        port->pfc_queues = (uint8_t)(port->pfc_queues | 1u << queue[p]);
        port->pfc_pgs = (uint8_t)(port->pfc_pgs | 1u << pg[p]);
    }
    return true;
}

static bool read_port_row(struct sonic *s, const struct sonic_row *row, const struct port_maps *global, GArray *ports, GError **err)
{
    struct port_maps maps = *global;
    uint8_t pfc = 0, watched = 0;
    bool has_pfc, has_watched;
    if (!sonic_key(s, row, ports, NULL, err) || !take_maps(row, &maps, err) || !sonic_classes(row, "pfc_enable", &pfc, &has_pfc, err) ||
        !sonic_classes(row, "pfcwd_sw_enable", &watched, &has_watched, err))
        return false;
    g_autofree char *classes = sonic_class_list(pfc);
    if (has_watched && watched != pfc)
        sonic_warn(s, "PORT_QOS_MAP|%s|pfcwd_sw_enable: ignored where it differs from pfc_enable: the watchdog looks at all lossless queues of a port", row->key);
    for (guint i = 0; i < ports->len; i++) {
        guint p = g_array_index(ports, guint, i);
        if (!set_maps(s, p, &maps, err) || !note_pfc(sonic_port(s, p), &maps, pfc, err))
            return false;
        sonic_set(s, "pfc", "enabled", p, SONIC_ANY_CLASS, "true");
        sonic_set(s, "pfc", "lossless_classes", p, SONIC_ANY_CLASS, "%s", classes);
    }
    return true;
}

static bool read_port_qos(struct sonic *s, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, "PORT_QOS_MAP");
    const struct sonic_row *global = sonic_row_of(table, "global");
    struct port_maps maps = {{NULL}};
    g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(guint));
    if (global && !take_maps(global, &maps, err))
        return false;
    for (guint p = 0; global && p < s->ports->len; p++) /* rows of ports replace it below */
        if (!set_maps(s, p, &maps, err))
            return false;
    for (guint i = 0; i < sonic_n_rows(table); i++)
        if (sonic_row_at(table, i) != global && !read_port_row(s, sonic_row_at(table, i), &maps, ports, err))
            return false;
    if (sonic_n_rows(table) > 0)
        sonic_fact(s, "PORT_QOS_MAP: %u rows; classes without an entry in a map go to 0, as by SAI's default", sonic_n_rows(table));
    return true;
}

/* ---- which DSCPs are lossless: what NICs must send ------------------------------------- */

static bool describe_dscps(struct sonic *s, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, "DSCP_TO_TC_MAP");
    uint8_t to[64], pfc = 0;
    for (guint p = 0; p < s->ports->len; p++)
        pfc |= sonic_port(s, p)->pfc;
    for (guint i = 0; i < sonic_n_rows(table); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        if (!read_map(&map_kinds[0], sonic_row_at(table, i), to, err))
            return false;
        for (int d = 0; d < 64; d++)
            if (pfc >> to[d] & 1)
                g_string_append_printf(text, " %d:%d", d, to[d]);
        if (text->len > 0)
            sonic_fact(s, "DSCP_TO_TC_MAP|%s: DSCPs of traffic classes with PFC (DSCP:class):%s; NICs must send these: nic.class_dscp", sonic_row_at(table, i)->key,
                       text->str);
    }
    return true;
}

/* ---- PFC_WD ----------------------------------------------------------------------------- */

static bool read_watchdog_row(struct sonic *s, const struct sonic_row *row, GArray *ports, GError **err)
{
    static const char *const actions[] = {"drop", "forward", "alert"};
    int64_t detection_ms = 0, restoration_ms = 0;
    bool has_detection, has_restoration;
    int action;
    if (!sonic_key(s, row, ports, NULL, err) || !sonic_choice(row, "action", "drop|forward|alert", &action, err) ||
        !sonic_int(row, "detection_time", 100, 5000, &detection_ms, &has_detection, err) ||
        !sonic_int(row, "restoration_time", 100, 60000, &restoration_ms, &has_restoration, err))
        return false;
    for (guint i = 0; i < ports->len; i++) {
        guint p = g_array_index(ports, guint, i);
        sonic_set(s, "pfcwd", "enabled", p, SONIC_ANY_CLASS, "true");
        sonic_set(s, "pfcwd", "action", p, SONIC_ANY_CLASS, "%s", actions[MAX(action, 0)]);
        if (has_detection)
            sonic_set(s, "pfcwd", "detection_time", p, SONIC_ANY_CLASS, "%" G_GINT64_FORMAT "ms", detection_ms);
        if (has_restoration)
            sonic_set(s, "pfcwd", "restoration_time", p, SONIC_ANY_CLASS, "%" G_GINT64_FORMAT "ms", restoration_ms);
    }
    return true;
}

static bool read_watchdog(struct sonic *s, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, "PFC_WD");
    const struct sonic_row *global = sonic_row_of(table, "GLOBAL");
    g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(guint));
    int64_t poll_ms = 0;
    bool has_poll = false;
    if (global && !sonic_int(global, "POLL_INTERVAL", 100, 3000, &poll_ms, &has_poll, err))
        return false;
    for (guint p = 0; sonic_n_rows(table) > 0 && p < s->ports->len; p++) /* rows of ports replace it below */
        sonic_set(s, "pfcwd", "enabled", p, SONIC_ANY_CLASS, "false");
    for (guint i = 0; i < sonic_n_rows(table); i++)
        if (sonic_row_at(table, i) != global && !read_watchdog_row(s, sonic_row_at(table, i), ports, err))
            return false;
    for (guint p = 0; has_poll && p < s->ports->len; p++)
        sonic_set(s, "pfcwd", "poll_interval", p, SONIC_ANY_CLASS, "%" G_GINT64_FORMAT "ms", poll_ms);
    if (sonic_n_rows(table) > 0)
        sonic_fact(s, "PFC_WD: %u rows", sonic_n_rows(table));
    if (sonic_n_rows(table) > 0 && !has_poll)
        sonic_warn(s, "PFC_WD: no GLOBAL|POLL_INTERVAL: pfcwd.poll_interval stays as the scenario has it");
    return true;
}

bool sonic_read_qos(struct sonic *s, GError **err)
{
    return read_port_qos(s, err) && describe_dscps(s, err) && read_watchdog(s, err);
}
