/* sonic_queue.c - egress queues of a SONiC switch: ECN by WRED_PROFILE, schedulers.
 *
 * SAI marks a packet of a colour only if the profile's ecn names the colour and wred_<colour>_enable is true; a missing
 * enable key is false. Without ECN a profile drops at random, which no model does: reported.
 */
#include "scenarios/sonic_priv.h"

#include "scenarios/workload_read.h"
#include "sim/message.h"
#include <string.h>

static const char *const colours[SONIC_N_COLOURS] = {"green", "yellow", "red"};

/* ---- WRED_PROFILE -------------------------------------------------------------------- */

struct wred { int64_t min, max, percent; bool marks; };

/* What a profile does with packets of COLOUR. */
struct wred_colour { int enabled; bool has_min, has_max, in_ecn; int64_t min, max, percent; };

static bool read_colour(const struct sonic_row *row, enum sonic_colour colour, struct wred_colour *out, GError **err)
{
    const char *name = colours[colour], *ecn = sonic_text(row, "ecn");
    g_autofree char *enable = g_strdup_printf("wred_%s_enable", name), *min = g_strdup_printf("%s_min_threshold", name),
                    *max = g_strdup_printf("%s_max_threshold", name), *percent = g_strdup_printf("%s_drop_probability", name);
    *out = (struct wred_colour){.percent = 100}; /* SAI's default */
    if (!sonic_choice(row, enable, "false|true", &out->enabled, err) || !sonic_int(row, min, 0, UNIT_GB, &out->min, &out->has_min, err) ||
        !sonic_int(row, max, 0, UNIT_GB, &out->max, &out->has_max, err) || !sonic_int(row, percent, 0, 100, &out->percent, NULL, err))
        return false;
    out->in_ecn = ecn && (strcmp(ecn, "ecn_all") == 0 || strstr(ecn, name));
    if (out->has_min && out->has_max && out->min > out->max)
        return sonic_fail(row, min, err, "%" G_GINT64_FORMAT " is above %s, %" G_GINT64_FORMAT "; allowed: at most that", out->min, max, out->max);
    return true;
}

static bool same_colour(const struct wred_colour *a, const struct wred_colour *b)
{
    return a->enabled == b->enabled && a->has_min == b->has_min && a->has_max == b->has_max && a->in_ecn == b->in_ecn && a->min == b->min &&
           a->max == b->max && a->percent == b->percent;
}

static void explain_inactive(struct sonic *s, const struct sonic_row *row, const struct wred_colour *c)
{
    const char *name = colours[s->options.colour];
    if (c->in_ecn && c->enabled < 1)
        sonic_warn(s, "WRED_PROFILE|%s: ECN inactive on %s: wred_%s_enable is %s, so that SAI leaves the %s thresholds unused and marks nothing; "
                   "to mark, set \"wred_%s_enable\": \"true\"", row->key, name, name, c->enabled < 0 ? "missing" : "false", name, name);
    else if (c->in_ecn)
        sonic_warn(s, "WRED_PROFILE|%s: ECN inactive on %s: %s_min_threshold or %s_max_threshold is missing, and SAI takes the whole buffer for it",
                   row->key, name, name, name);
    else if (c->enabled == 1)
        sonic_warn(s, "WRED_PROFILE|%s: ignored: its ecn does not name %s, so that it drops at random between its thresholds, which is not modelled", row->key, name);
    else
        sonic_warn(s, "WRED_PROFILE|%s: marks nothing: its ecn does not name %s", row->key, name);
}

/* Which colour unpoliced packets bear depends on the ASIC; it matters when the profile treats colours differently. */
static void warn_of_colours(struct sonic *s, const struct sonic_row *row, const struct wred_colour all[SONIC_N_COLOURS])
{
    if (!same_colour(&all[SONIC_GREEN], &all[SONIC_YELLOW]) || !same_colour(&all[SONIC_GREEN], &all[SONIC_RED]))
        sonic_warn(s, "WRED_PROFILE|%s: green, yellow and red differ, and the ASIC decides which of them packets without a policer are: %s is taken; "
                   "say --colour green, yellow or red for this ASIC", row->key, colours[s->options.colour]);
}

static bool read_wred(struct sonic *s, const struct sonic_row *row, struct wred *out, GError **err)
{
    struct wred_colour all[SONIC_N_COLOURS];
    int ecn;
    if (!sonic_choice(row, "ecn", "ecn_none|ecn_green|ecn_yellow|ecn_red|ecn_green_yellow|ecn_green_red|ecn_yellow_red|ecn_all", &ecn, err))
        return false;
    for (int c = 0; c < SONIC_N_COLOURS; c++)
        if (!read_colour(row, (enum sonic_colour)c, &all[c], err))
            return false;
    const struct wred_colour *c = &all[s->options.colour];
    *out = (struct wred){c->min, c->max, c->percent, c->in_ecn && c->enabled == 1 && c->has_min && c->has_max};
    if (!out->marks)
        explain_inactive(s, row, c);
    warn_of_colours(s, row, all);
    return true;
}

static bool read_wreds(struct sonic *s, GHashTable *wreds, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, "WRED_PROFILE");
    for (guint i = 0; i < sonic_n_rows(table); i++) {
        struct wred *wred = g_new0(struct wred, 1);
        g_hash_table_insert(wreds, sonic_row_at(table, i), wred);
        if (!read_wred(s, sonic_row_at(table, i), wred, err))
            return false;
    }
    if (sonic_n_rows(table) > 0)
        sonic_fact(s, "WRED_PROFILE: %u rows; packets are %s", sonic_n_rows(table), colours[s->options.colour]);
    return true;
}

static void set_ecn(struct sonic *s, guint port, int queue, const struct wred *wred)
{
    sonic_set_bytes(s, "ecn", "kmin", port, queue, wred->min);
    sonic_set_bytes(s, "ecn", "kmax", port, queue, wred->max);
    g_autofree char *pmax = units_format_real((double)wred->percent / 100);
    sonic_set(s, "ecn", "pmax", port, queue, "%s", pmax);
}

/* ---- SCHEDULER ------------------------------------------------------------------------ */

struct port_queues {
    uint8_t marking, strict, scheduled;
    int64_t weight[SONIC_CLASSES];
};

static bool take_scheduler(struct sonic *s, const struct sonic_row *row, uint8_t mask, struct port_queues *q, GError **err)
{
    int type;
    int64_t weight = 1; /* SAI's default */
    if (!sonic_choice(row, "type", "STRICT|DWRR|WRR", &type, err) || !sonic_int(row, "weight", 1, 100, &weight, NULL, err))
        return false;
    if (type != 0 && type != 1 && !(q->scheduled & mask))
        sonic_warn(s, "SCHEDULER|%s|type: %s: taken as DWRR, which counts bytes instead of packets", row->key, type < 0 ? "missing, by SAI's default WRR" : "WRR");
    q->scheduled |= mask;
    for (int c = 0; c < SONIC_CLASSES; c++)
        if (mask >> c & 1)
            q->weight[c] = weight;
    q->strict = (uint8_t)(type == 0 ? q->strict | mask : q->strict & ~mask);
    return true;
}

static void set_schedulers(struct sonic *s, guint port, const struct port_queues *q)
{
    g_autoptr(GString) weights = g_string_new(NULL);
    g_autofree char *strict = sonic_class_list(q->strict);
    for (int c = 0; c < SONIC_CLASSES; c++)
        g_string_append_printf(weights, "%s%" G_GINT64_FORMAT, c ? "," : "", q->weight[c]);
    sonic_set(s, "switch", "strict_classes", port, SONIC_ANY_CLASS, "%s", strict);
    sonic_set(s, "switch", "dwrr_weights", port, SONIC_ANY_CLASS, "%s", weights->str);
}

/* ---- QUEUE ------------------------------------------------------------------------------ */

static bool read_queue(struct sonic *s, const struct sonic_row *row, GHashTable *wreds, struct port_queues *queues, GArray *ports, GError **err)
{
    struct sonic_row *scheduler, *profile;
    uint8_t mask;
    if (!sonic_key(s, row, ports, &mask, err))
        return false;
    if (ports->len == 0)
        return true;
    if (!sonic_reference(row, "scheduler", "SCHEDULER", &scheduler, err) || !sonic_reference(row, "wred_profile", "WRED_PROFILE", &profile, err))
        return false;
    const struct wred *wred = profile ? g_hash_table_lookup(wreds, profile) : NULL;
    for (guint i = 0; i < ports->len; i++) {
        guint p = g_array_index(ports, guint, i);
        if (scheduler && !take_scheduler(s, scheduler, mask, &queues[p], err))
            return false;
        for (int c = 0; wred && wred->marks && c < SONIC_CLASSES; c++) {
            if (!(mask >> c & 1))
                continue;
            queues[p].marking = (uint8_t)(queues[p].marking | 1u << c);
            set_ecn(s, p, c, wred);
        }
    }
    return true;
}

static void set_port(struct sonic *s, guint port, const struct port_queues *q)
{
    g_autofree char *marking = sonic_class_list(q->marking);
    sonic_set(s, "ecn", "enabled", port, SONIC_ANY_CLASS, "true");
    sonic_set(s, "ecn", "classes", port, SONIC_ANY_CLASS, "%s", marking);
    if (q->scheduled)
        set_schedulers(s, port, q);
}

bool sonic_read_queues(struct sonic *s, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, "QUEUE");
    g_autoptr(GHashTable) wreds = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autofree struct port_queues *queues = g_new0(struct port_queues, MAX(s->ports->len, 1));
    g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(guint));
    if (!read_wreds(s, wreds, err))
        return false;
    for (guint p = 0; p < s->ports->len; p++)
        for (int c = 0; c < SONIC_CLASSES; c++)
            queues[p].weight[c] = 1; /* SAI's default scheduler */
    for (guint i = 0; i < sonic_n_rows(table); i++)
        if (!read_queue(s, sonic_row_at(table, i), wreds, queues, ports, err))
            return false;
    uint8_t scheduled = 0;
    for (guint p = 0; sonic_n_rows(table) > 0 && p < s->ports->len; p++) {
        set_port(s, p, &queues[p]);
        scheduled |= queues[p].scheduled;
    }
    if (sonic_n_rows(table) > 0)
        sonic_fact(s, "QUEUE: %u rows", sonic_n_rows(table));
    if (scheduled != 0 && scheduled != 0xff)
        sonic_fact(s, "queues without a scheduler have weight 1 of DWRR, as by SAI's default");
    return true;
}
