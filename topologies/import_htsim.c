/* import_htsim.c - .topo files of htsim (csg-htsim, uet-htsim): fat trees of 2 or 3 tiers.
 *
 * "Key value" lines, keys in any case, '#' comments: Nodes, Tiers, Podsize, then a "Tier k" block for each
 * tier (0: leaf), with Downlink_speed_Gbps, Downlink_Latency_ns, Radix_Down, and if wanted Radix_Up (all but
 * the top tier need it), Oversubscribed, Bundle (parallel links to each switch below), Switch_Latency_ns,
 * Queue_Up, Queue_Down.
 *
 *     leaves of a pod = Podsize / Radix_Down(0)
 *     spines of a pod = Radix_Up(0) / Bundle(1), each linked to every leaf:  Radix_Down(1) = leaves of a pod
 * * Bundle(1) spine a reaches cores a, a + spines of a pod, ...:                     Radix_Down(2) = pods *
 * Bundle(2)
 *
 * A switch's latency is added to its links, half to each one that a packet crosses it by, so that both
 * directions of a cable stay equal and a whole path has exactly the file's latency. Queue sizes belong to
 * [buffer]: ignored and noted. Hosts "node<i>", then "leaf<i>", "spine<i>", "core<i>"; ports of a leaf:
 * hosts, then spine after spine.
 */
#include "topologies/fabric_priv.h"
#include "topologies/topo_text.h"
#include <inttypes.h>
#include <stddef.h>

#define BLANKS    " \t\r"
#define MAX_TIERS 3

struct value {
    int64_t v;
    int line; /* 0: not given */
};

struct htsim_tier {
    struct value speed_gbps, latency_ns, radix_down, radix_up, oversubscribed, bundle, switch_latency_ns,
        queue_up, queue_down;
    int line; /* of "Tier k"; 0: none */
};

struct htsim {
    struct topo_text text;
    GString *notes;
    struct value nodes, tiers, podsize;
    struct htsim_tier tier[MAX_TIERS];
    int current; /* tier of the block, -1 before the first */
    int64_t pods, leaves_per_pod, spines_per_pod, cores;
};

struct key {
    const char *name;
    size_t offset; /* of the struct value */
    int64_t min, max;
};

#define HEAD(name, field, min, max)                                                                          \
    {                                                                                                        \
        name, offsetof(struct htsim, field), min, max                                                        \
    }
static const struct key head_keys[] = {
    HEAD("Nodes", nodes, 1, FABRIC_MAX_NODES),
    HEAD("Tiers", tiers, 2, MAX_TIERS),
    HEAD("Podsize", podsize, 1, FABRIC_MAX_NODES),
};

#define TIER(name, field, min, max)                                                                          \
    {                                                                                                        \
        name, offsetof(struct htsim_tier, field), min, max                                                   \
    }
static const struct key tier_keys[] = {
    TIER("Downlink_speed_Gbps", speed_gbps, 1, FABRIC_MAX_RATE_BPS / UNIT_GBPS),
    TIER("Downlink_Latency_ns", latency_ns, 1, FABRIC_MAX_DELAY_PS / UNIT_NS),
    TIER("Radix_Down", radix_down, 1, FABRIC_MAX_PORTS_PER_NODE),
    TIER("Radix_Up", radix_up, 1, FABRIC_MAX_PORTS_PER_NODE),
    TIER("Oversubscribed", oversubscribed, 1, 1000),
    TIER("Bundle", bundle, 1, FABRIC_MAX_PORTS_PER_NODE),
    TIER("Switch_Latency_ns", switch_latency_ns, 0, FABRIC_MAX_DELAY_PS / UNIT_NS),
    TIER("Queue_Up", queue_up, 0, INT64_MAX),
    TIER("Queue_Down", queue_down, 0, INT64_MAX),
};

static const struct key *find_key(const struct key *keys, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (g_ascii_strcasecmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static bool read_tier_line(struct htsim *h, GError **err)
{
    int64_t tier;
    if (!topo_text_int(&h->text, 1, "Tier", 0, MAX_TIERS - 1, &tier, err))
        return false;
    if (h->tier[tier].line)
        return topo_text_fail(&h->text, err, "Tier", "%" PRId64 " is given twice, first in line %d", tier,
                              h->tier[tier].line);
    h->current = (int)tier;
    h->tier[tier].line = h->text.line;
    return true;
}

static bool set_value(struct htsim *h, const struct key *key, void *owner, GError **err)
{
    struct value *value = (struct value *)(void *)((char *)owner + key->offset);
    if (value->line)
        return topo_text_fail(&h->text, err, key->name, "given twice, first in line %d", value->line);
    value->line = h->text.line;
    return topo_text_int(&h->text, 1, key->name, key->min, key->max, &value->v, err);
}

static bool read_tier_key(struct htsim *h, const char *name, GError **err)
{
    const struct key *key = find_key(tier_keys, G_N_ELEMENTS(tier_keys), name);
    if (!key) {
        g_autofree char *quote = topo_text_quote(&h->text, 0);
        return topo_text_fail(
            &h->text, err, quote,
            "unknown key; known are Nodes, Tiers, Podsize, Tier, Downlink_speed_Gbps, "
            "Downlink_Latency_ns, Radix_Down, Radix_Up, Oversubscribed, Bundle, Switch_Latency_ns, "
            "Queue_Up, Queue_Down");
    }
    if (h->current < 0)
        return topo_text_fail(&h->text, err, key->name, "stands before the first 'Tier' line");
    if (g_str_has_prefix(key->name, "Queue_"))
        g_string_append_printf(h->notes, "%s:%d: %s ignored: queues are set by [buffer]\n", h->text.path,
                               h->text.line, key->name);
    return set_value(h, key, &h->tier[h->current], err);
}

static bool read_line(struct htsim *h, GError **err)
{
    const char *name = g_ptr_array_index(h->text.fields, 0);
    if (h->text.fields->len != 2) {
        g_autofree char *quote = topo_text_quote(&h->text, 0);
        return topo_text_fail(&h->text, err, quote, "%u fields; a line is a key and a value",
                              h->text.fields->len);
    }
    if (g_ascii_strcasecmp(name, "Tier") == 0)
        return read_tier_line(h, err);
    const struct key *key = find_key(head_keys, G_N_ELEMENTS(head_keys), name);
    return key ? set_value(h, key, h, err) : read_tier_key(h, name, err);
}

static bool read_lines(struct htsim *h, GError **err)
{
    while (topo_text_next(&h->text, BLANKS))
        if (h->text.fields->len && !read_line(h, err))
            return false;
    return true;
}

/* ---- checks --------------------------------------------------------------- */

/* False with "file:line: key: ..." for a value that was read. */
static bool fail_at(const struct htsim *h, const struct value *value, GError **err, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static bool fail_at(const struct htsim *h, const struct value *value, GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    return fabric_fail(err, "%s:%d: %s", h->text.path, value->line, what);
}

static bool missing(const struct htsim *h, int tier, const char *name, GError **err)
{
    if (tier < 0)
        return fabric_fail(err, "%s: %s is missing", h->text.path, name);
    return fabric_fail(err, "%s:%d: Tier %d: %s is missing", h->text.path, h->tier[tier].line, tier, name);
}

static bool check_tier(struct htsim *h, int k, GError **err)
{
    struct htsim_tier *tier = &h->tier[k];
    bool top = k == h->tiers.v - 1;
    if (!tier->speed_gbps.line)
        return missing(h, k, "Downlink_speed_Gbps", err);
    if (!tier->latency_ns.line)
        return missing(h, k, "Downlink_Latency_ns", err);
    if (!tier->radix_down.line)
        return missing(h, k, "Radix_Down", err);
    if (!top && !tier->radix_up.line)
        return missing(h, k, "Radix_Up", err);
    if (top && tier->radix_up.line)
        return fail_at(h, &tier->radix_up, err, "Radix_Up: tier %d is the top one and has no uplinks", k);
    if (top && tier->oversubscribed.line && tier->oversubscribed.v != 1)
        return fail_at(h, &tier->oversubscribed, err,
                       "Oversubscribed: tier %d is the top one and has no uplinks", k);
    if (!tier->bundle.line)
        tier->bundle = (struct value){1, tier->line};
    if (k == 0 && tier->bundle.v != 1)
        return fail_at(h, &tier->bundle, err, "Bundle: a host has one link, so that of tier 0 must be 1");
    return true;
}

static bool check_head(struct htsim *h, GError **err)
{
    if (!h->nodes.line)
        return missing(h, -1, "Nodes", err);
    if (!h->tiers.line)
        return missing(h, -1, "Tiers", err);
    if (!h->podsize.line)
        return missing(h, -1, "Podsize", err);
    for (int k = 0; k < MAX_TIERS; k++) {
        if (k < h->tiers.v && !h->tier[k].line)
            return fabric_fail(err, "%s: Tier %d is missing; Tiers is %" PRId64, h->text.path, k, h->tiers.v);
        if (k >= h->tiers.v && h->tier[k].line)
            return fabric_fail(err, "%s:%d: Tier %d: Tiers is %" PRId64, h->text.path, h->tier[k].line, k,
                               h->tiers.v);
    }
    for (int k = 0; k < h->tiers.v; k++)
        if (!check_tier(h, k, err))
            return false;
    if (h->nodes.v % h->podsize.v != 0)
        return fail_at(h, &h->podsize, err, "Podsize: %" PRId64 " does not divide Nodes = %" PRId64,
                       h->podsize.v, h->nodes.v);
    if (h->tiers.v == 2 && h->podsize.v != h->nodes.v)
        return fail_at(h, &h->podsize, err, "Podsize: %" PRId64 "; with 2 tiers it must be Nodes = %" PRId64,
                       h->podsize.v, h->nodes.v);
    return true;
}

static bool check_ratio(const struct htsim *h, int k, GError **err)
{
    const struct htsim_tier *tier = &h->tier[k], *above = &h->tier[k + 1];
    int64_t down = tier->radix_down.v * tier->speed_gbps.v, up = tier->radix_up.v * above->speed_gbps.v;
    if (!tier->oversubscribed.line || down == tier->oversubscribed.v * up)
        return true;
    return fail_at(h, &tier->oversubscribed, err,
                   "Oversubscribed: %" PRId64 ", but %" PRId64 " Gb/s down and %" PRId64 " Gb/s up make %g",
                   tier->oversubscribed.v, down, up, (double)down / (double)up);
}

/* LOWER: how many switches (or pods) hang below each switch of tier K. */
static bool check_radix(const struct htsim *h, int k, int64_t lower, const char *what, GError **err)
{
    const struct htsim_tier *tier = &h->tier[k], *below = &h->tier[k - 1];
    if (below->radix_up.v % tier->bundle.v != 0)
        return fail_at(h, &tier->bundle, err,
                       "Bundle: %" PRId64 " does not divide the Radix_Up = %" PRId64 " of tier %d",
                       tier->bundle.v, below->radix_up.v, k - 1);
    if (tier->radix_down.v != lower * tier->bundle.v)
        return fail_at(h, &tier->radix_down, err,
                       "Radix_Down: %" PRId64 ", but %" PRId64 " %s with %" PRId64
                       " links each need %" PRId64,
                       tier->radix_down.v, lower, what, tier->bundle.v, lower * tier->bundle.v);
    return check_ratio(h, k - 1, err);
}

static bool set_counts(struct htsim *h, GError **err)
{
    const struct htsim_tier *t = h->tier;
    if (h->podsize.v % t[0].radix_down.v != 0)
        return fail_at(h, &t[0].radix_down, err, "Radix_Down: %" PRId64 " does not divide Podsize = %" PRId64,
                       t[0].radix_down.v, h->podsize.v);
    h->pods = h->nodes.v / h->podsize.v;
    h->leaves_per_pod = h->podsize.v / t[0].radix_down.v;
    if (!check_radix(h, 1, h->leaves_per_pod, "leaves of a pod", err))
        return false;
    h->spines_per_pod = t[0].radix_up.v / t[1].bundle.v;
    int64_t links = h->nodes.v + h->pods * h->leaves_per_pod * t[0].radix_up.v;
    if (h->tiers.v == 3) {
        if (!check_radix(h, 2, h->pods, "pods", err))
            return false;
        h->cores = h->spines_per_pod * (t[1].radix_up.v / t[2].bundle.v);
        links += h->pods * h->spines_per_pod * t[1].radix_up.v;
    }
    int64_t switches = h->pods * (h->leaves_per_pod + h->spines_per_pod) + h->cores;
    return fabric_size_ok(h->nodes.v + switches, h->nodes.v, links, err);
}

/* ---- construction --------------------------------------------------------- */

static uint32_t add_switches(struct fabric_builder *builder, int tier, const char *name, int64_t n)
{
    uint32_t last = NET_NONE;
    for (int64_t i = 0; i < n; i++)
        last = fabric_add_node(builder, NET_SWITCH, tier, "%s%" PRId64, name, i);
    return last - (uint32_t)n + 1;
}

static int64_t rate_bps(const struct htsim *h, int k)
{
    return h->tier[k].speed_gbps.v * UNIT_GBPS;
}

/* Cable below tier K, with half of the latency of the switches at its ends. */
static int64_t delay_ps(const struct htsim *h, int k)
{
    int64_t switches_ns = h->tier[k].switch_latency_ns.v + (k ? h->tier[k - 1].switch_latency_ns.v : 0);
    return h->tier[k].latency_ns.v * UNIT_NS + switches_ns * (UNIT_NS / 2);
}

static void link_bundle(struct fabric_builder *builder, const struct htsim *h, int k, int64_t lower,
                        int64_t upper)
{
    for (int64_t i = 0; i < h->tier[k].bundle.v; i++)
        fabric_add_link(builder, (uint32_t)lower, (uint32_t)upper, rate_bps(h, k), delay_ps(h, k));
}

static void link_all(struct fabric_builder *builder, const struct htsim *h, uint32_t leaf0, uint32_t spine0,
                     uint32_t core0)
{
    for (int64_t i = 0; i < h->nodes.v; i++)
        link_bundle(builder, h, 0, i, leaf0 + i / h->tier[0].radix_down.v);
    for (int64_t leaf = 0; leaf < h->pods * h->leaves_per_pod; leaf++)
        for (int64_t s = 0; s < h->spines_per_pod; s++)
            link_bundle(builder, h, 1, leaf0 + leaf,
                        spine0 + leaf / h->leaves_per_pod * h->spines_per_pod + s);
    for (int64_t spine = 0; spine < h->pods * h->spines_per_pod; spine++)
        for (int64_t c = spine % h->spines_per_pod; c < h->cores; c += h->spines_per_pod)
            link_bundle(builder, h, 2, spine0 + spine, core0 + c);
}

static struct fabric *build(struct htsim *h, GError **err)
{
    struct fabric_builder *builder = fabric_builder_new("htsim");
    for (int64_t i = 0; i < h->nodes.v; i++)
        fabric_add_node(builder, NET_HOST, 0, "node%" PRId64, i);
    uint32_t leaf0 = add_switches(builder, 1, "leaf", h->pods * h->leaves_per_pod);
    uint32_t spine0 = add_switches(builder, 2, "spine", h->pods * h->spines_per_pod);
    uint32_t core0 = add_switches(builder, 3, "core", h->cores);
    link_all(builder, h, leaf0, spine0, core0);
    struct fabric *fabric = fabric_builder_finish(builder, 1, 1, err);
    if (fabric && h->notes->len)
        fabric->notes = g_strdup(h->notes->str);
    return fabric;
}

struct fabric *fabric_import_htsim(const char *path, GError **err)
{
    struct htsim h = {.current = -1, .notes = g_string_new(NULL)};
    struct fabric *fabric = NULL;
    if (topo_text_load(&h.text, path, err) && read_lines(&h, err) && check_head(&h, err) &&
        set_counts(&h, err))
        fabric = build(&h, err);
    topo_text_release(&h.text);
    g_string_free(h.notes, TRUE);
    return fabric;
}
