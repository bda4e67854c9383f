/* sonic_buffer.c - pools, profiles, priority groups and buffers of queues of a SONiC switch.
 *
 * Headroom is xoff. size is what a group has for itself; where a profile has headroom of its own (no shared headroom pool) and
 * size covers xon + xoff, as NVIDIA's tables have it, headroom is part of size, and what is left is the reserve. SAI calls a
 * pool's size its total, yet platforms differ in whether headroom comes out of it: see put_sizes().
 */
#include "scenarios/sonic_priv.h"

#include "scenarios/workload_read.h"
#include "sim/message.h"
#include <string.h>

#define MAX_BYTES (4 * UNIT_GB) /* buffer.size */

enum pool_direction { POOL_INGRESS, POOL_EGRESS, POOL_BOTH };

struct pool {
    struct sonic_row *row;
    int direction; /* enum pool_direction */
    bool has_size;
    int64_t size, xoff;
};

struct profile {
    const struct sonic_row *row; /* NULL: of pg_profile_lookup.ini */
    const struct pool *pool;
    int64_t size, xon, xoff, xon_offset, dynamic_th, static_th;
    bool has_xoff, has_dynamic, has_static;
};

struct reader {
    struct sonic *s;
    GHashTable *pools, *profiles; /* by row */
    GArray *ports;
    const struct pool *ingress;            /* of lossless groups */
    const struct pool *lossless, *lossy;   /* of egress queues */
    int64_t headroom, own_headroom, reserved; /* sums over groups: all; without a shared pool; of reserves */
    guint n_looked_up, n_missing, n_size_covers;
    uint8_t missing;
    bool warned_pool, warned_lossy_size, warned_dynamic_egress;
};

/* ---- pools and profiles ------------------------------------------------------------ */

static bool read_pool(struct reader *r, struct sonic_row *row, GError **err)
{
    struct pool *pool = g_new0(struct pool, 1);
    int mode;
    g_hash_table_insert(r->pools, row, pool);
    pool->row = row;
    if (!sonic_choice(row, "type", "ingress|egress|both", &pool->direction, err) || !sonic_choice(row, "mode", "static|dynamic", &mode, err) ||
        !sonic_int(row, "size", 1, MAX_BYTES, &pool->size, &pool->has_size, err) || !sonic_int(row, "xoff", 0, MAX_BYTES, &pool->xoff, NULL, err))
        return false;
    if (pool->direction < 0)
        return sonic_fail(row, "type", err, "missing; allowed: ingress, egress, both");
    if (!pool->has_size)
        sonic_warn(r->s, "BUFFER_POOL|%s: no size, the switch computes it: set buffer.size and its pools in the scenario", row->key);
    return true;
}

static bool read_profile(struct reader *r, struct sonic_row *row, GError **err)
{
    struct profile *p = g_new0(struct profile, 1);
    struct sonic_row *pool;
    g_hash_table_insert(r->profiles, row, p);
    p->row = row;
    if (!sonic_reference(row, "pool", "BUFFER_POOL", &pool, err) || !sonic_int(row, "size", 0, UNIT_GB, &p->size, NULL, err) ||
        !sonic_int(row, "xon", 0, UNIT_GB, &p->xon, NULL, err) || !sonic_int(row, "xoff", 0, UNIT_GB, &p->xoff, &p->has_xoff, err) ||
        !sonic_int(row, "xon_offset", 0, UNIT_GB, &p->xon_offset, NULL, err) ||
        !sonic_int(row, "dynamic_th", -8, 8, &p->dynamic_th, &p->has_dynamic, err) ||
        !sonic_int(row, "static_th", 0, MAX_BYTES, &p->static_th, &p->has_static, err))
        return false;
    if (!pool)
        return sonic_fail(row, "pool", err, "missing; allowed: a row of BUFFER_POOL");
    if (p->has_dynamic && p->has_static)
        return sonic_fail(row, "static_th", err, "beside dynamic_th; allowed: one of them");
    p->pool = g_hash_table_lookup(r->pools, pool);
    return true;
}

static bool read_rows(struct reader *r, const char *name, bool (*read)(struct reader *, struct sonic_row *, GError **), GError **err)
{
    const struct sonic_table *table = sonic_table(r->s->db, name);
    for (guint i = 0; i < sonic_n_rows(table); i++)
        if (!read(r, sonic_row_at(table, i), err))
            return false;
    if (sonic_n_rows(table) > 0)
        sonic_fact(r->s, "%s: %u rows", name, sonic_n_rows(table));
    return true;
}

/* ---- values ------------------------------------------------------------------------ */

static void set_bytes(struct sonic *s, const char *key, guint port, int class, int64_t bytes)
{
    sonic_set_bytes(s, "buffer", key, port, class, bytes);
}

/* log2 of alpha: "1/8", "1", "8". */
static void set_alpha(struct sonic *s, const char *key, guint port, int class, int64_t log2)
{
    sonic_set(s, "buffer", key, port, class, log2 < 0 ? "1/%d" : "%d", 1 << (log2 < 0 ? -log2 : log2));
}

static void use_ingress(struct reader *r, const struct pool *pool)
{
    if (!r->ingress)
        r->ingress = pool;
    if (pool == r->ingress || !pool || r->warned_pool)
        return;
    sonic_warn(r->s, "BUFFER_POOL|%s: ignored: a switch has one ingress pool in the model, %s is taken", pool->row->key, r->ingress->row->key);
    r->warned_pool = true;
}

/* ---- priority groups --------------------------------------------------------------- */

static void set_lossless_pg(struct reader *r, guint port, int pg, const struct profile *p)
{
    struct sonic *s = r->s;
    bool own = !p->pool || p->pool->xoff == 0, covers = own && p->xoff > 0 && p->size >= p->xon + p->xoff;
    int64_t reserved = covers ? p->size - p->xoff : p->size;
    use_ingress(r, p->pool);
    r->headroom += p->xoff;
    r->own_headroom += own ? p->xoff : 0;
    r->reserved += reserved;
    r->n_size_covers += covers;
    set_bytes(s, "reserved", port, pg, reserved);
    sonic_set(s, "buffer", "headroom_rule", port, pg, "fixed");
    set_bytes(s, "headroom", port, pg, p->xoff);
    set_bytes(s, "xon", port, pg, p->xon);
    set_bytes(s, "xon_offset", port, pg, p->xon_offset);
    sonic_set(s, "buffer", "threshold_mode", port, pg, p->has_static ? "static" : "dynamic");
    if (p->has_static)
        set_bytes(s, "static_th", port, pg, p->static_th);
    if (p->has_dynamic)
        set_alpha(s, "alpha", port, pg, p->dynamic_th);
}

static void set_lossy_pg(struct reader *r, guint port, int pg, const struct profile *p)
{
    use_ingress(r, p->pool);
    if (p->size > 0 && !r->warned_lossy_size)
        sonic_warn(r->s, "BUFFER_PROFILE|%s|size: ignored: lossy priority groups have no reserve in the model", p->row->key);
    r->warned_lossy_size |= p->size > 0;
    if (p->has_static)
        set_bytes(r->s, "lossy_pg_static_th", port, pg, p->static_th);
    if (p->has_dynamic)
        set_alpha(r->s, "lossy_pg_alpha", port, pg, p->dynamic_th);
}

static void warn_of_pg(struct reader *r, const struct sonic_port *port, int pg, const struct profile *p)
{
    const char *name = p->row ? p->row->key : "the lookup table's profile";
    bool lossless = port->pfc_pgs >> pg & 1;
    if (p->has_xoff && p->xoff == 0)
        sonic_warn(r->s, "BUFFER_PG: %s gives priority group %d no headroom (xoff 0): frames that arrive after XOFF are dropped", name, pg);
    if (port->pfc_known && lossless && !p->has_xoff)
        sonic_warn(r->s, "BUFFER_PG: %s has no xoff and is lossy, yet pfc_enable makes priority group %d lossless", name, pg);
    if (port->pfc_known && !lossless && p->has_xoff)
        sonic_warn(r->s, "BUFFER_PG: %s is lossless, yet no priority of pfc_enable is in priority group %d", name, pg);
}

static void set_pg(struct reader *r, guint port, int pg, const struct profile *p)
{
    struct sonic_port *of = sonic_port(r->s, port);
    of->pgs = (uint8_t)(of->pgs | 1u << pg);
    warn_of_pg(r, of, pg, p);
    if (p->has_xoff)
        set_lossless_pg(r, port, pg, p);
    else
        set_lossy_pg(r, port, pg, p);
}

/* The profile that the switch would look up, to OUT if *FOUND. */
static bool look_up(struct reader *r, guint port, struct profile *out, bool *found, GError **err)
{
    const struct sonic_port *of = sonic_port(r->s, port);
    const struct sonic_pg_row *row = sonic_pg_lookup_find(r->s->lookup, of->rate_bps, of->cable_mm);
    const struct sonic_row *pool = sonic_row_of(sonic_table(r->s->db, "BUFFER_POOL"), "ingress_lossless_pool");
    const struct sonic_row *defaults = sonic_first_row(sonic_table(r->s->db, "DEFAULT_LOSSLESS_BUFFER_PARAMETER"));
    *found = row != NULL;
    if (!row)
        return true;
    *out = (struct profile){.pool = pool ? g_hash_table_lookup(r->pools, pool) : NULL,
                            .size = row->size, .xon = row->xon, .xoff = row->xoff, .xon_offset = row->xon_offset,
                            .dynamic_th = row->threshold, .has_xoff = true, .has_dynamic = true};
    return !defaults || sonic_int(defaults, "default_dynamic_th", -8, 8, &out->dynamic_th, NULL, err);
}

/* Groups whose profile is NULL, or which pfc_enable makes lossless without a row of BUFFER_PG. */
static bool set_looked_up(struct reader *r, guint port, uint8_t mask, GError **err)
{
    struct profile profile;
    bool found;
    if (!look_up(r, port, &profile, &found, err))
        return false;
    for (int pg = 0; pg < SONIC_CLASSES; pg++) {
        if (!(mask >> pg & 1))
            continue;
        r->n_looked_up += found;
        r->n_missing += !found;
        r->missing |= (uint8_t)(found ? 0 : 1u << pg);
        if (found)
            set_pg(r, port, pg, &profile);
    }
    return true;
}

static bool read_pg(struct reader *r, struct sonic_row *row, GError **err)
{
    struct sonic_row *named;
    uint8_t mask;
    if (!sonic_key(r->s, row, r->ports, &mask, err) || !sonic_reference(row, "profile", "BUFFER_PROFILE", &named, err))
        return false;
    const struct profile *profile = named ? g_hash_table_lookup(r->profiles, named) : NULL;
    if (profile && profile->pool->direction == POOL_EGRESS)
        return sonic_fail(row, "profile", err, "%s is of an egress pool; allowed: profiles of ingress pools", named->key);
    for (guint i = 0; i < r->ports->len; i++) {
        guint port = g_array_index(r->ports, guint, i);
        if (!profile && !set_looked_up(r, port, mask, err))
            return false;
        for (int pg = 0; profile && pg < SONIC_CLASSES; pg++)
            if (mask >> pg & 1)
                set_pg(r, port, pg, profile);
    }
    return true;
}

/* What buffermgrd makes of pfc_enable, speed and cable where BUFFER_PG says nothing. */
static bool fill_in(struct reader *r, GError **err)
{
    for (guint port = 0; port < r->s->ports->len; port++) {
        const struct sonic_port *of = sonic_port(r->s, port);
        if (!set_looked_up(r, port, of->pfc_pgs & (uint8_t)~of->pgs, err))
            return false;
    }
    if (r->n_looked_up > 0)
        sonic_fact(r->s, "%u lossless priority groups got size, xon and xoff by speed and cable from the lookup table", r->n_looked_up);
    g_autofree char *missing = sonic_class_list(r->missing);
    if (r->n_missing > 0)
        sonic_warn(r->s, "BUFFER_PG: no profile for lossless priority groups %s (%u over all ports) %s: the scenario's buffer.headroom_rule stays", missing,
                   r->n_missing, r->s->lookup ? "and the lookup table has no row for their speed and cable" : "and no --pg-lookup");
    if (r->n_size_covers > 0)
        sonic_fact(r->s, "size covers xon + xoff in %u lossless groups without a shared headroom pool: their reserve is size - xoff", r->n_size_covers);
    return true;
}

/* ---- queues -------------------------------------------------------------------------- */

static void use_egress(struct reader *r, const struct pool **slot, const struct pool *pool, const char *what)
{
    if (*slot && *slot != pool)
        sonic_warn(r->s, "BUFFER_POOL|%s: ignored: the model has one egress pool for %s queues, %s is taken", pool->row->key, what, (*slot)->row->key);
    else
        *slot = pool;
}

static void set_lossless_queue(struct reader *r, guint port, int queue, const struct profile *p)
{
    use_egress(r, &r->lossless, p->pool, "lossless");
    set_bytes(r->s, "egress_reserved", port, queue, p->size);
    if (p->has_static)
        set_bytes(r->s, "egress_static_th", port, queue, p->static_th);
    if (p->has_dynamic && !r->warned_dynamic_egress)
        sonic_warn(r->s, "BUFFER_PROFILE|%s|dynamic_th: ignored for lossless queues: they may fill their egress pool", p->row->key);
    r->warned_dynamic_egress |= p->has_dynamic;
}

static void set_lossy_queue(struct reader *r, guint port, int queue, const struct profile *p)
{
    use_egress(r, &r->lossy, p->pool, "lossy");
    set_bytes(r->s, "lossy_reserved", port, queue, p->size);
    if (p->has_static)
        set_bytes(r->s, "lossy_limit", port, queue, p->static_th);
    if (p->has_dynamic)
        set_alpha(r->s, "lossy_alpha", port, queue, p->dynamic_th);
}

/* Without PORT_QOS_MAP another file decides which queues are lossless; the threshold's kind tells what SONiC's templates mean. */
static void set_queue(struct reader *r, guint port, int queue, const struct profile *p)
{
    const struct sonic_port *of = sonic_port(r->s, port);
    if (of->pfc_known ? of->pfc_queues >> queue & 1 : p->has_static)
        set_lossless_queue(r, port, queue, p);
    else
        set_lossy_queue(r, port, queue, p);
}

static bool read_queue(struct reader *r, struct sonic_row *row, GError **err)
{
    struct sonic_row *named;
    uint8_t mask;
    if (!sonic_key(r->s, row, r->ports, &mask, err) || !sonic_reference(row, "profile", "BUFFER_PROFILE", &named, err))
        return false;
    const struct profile *profile = named ? g_hash_table_lookup(r->profiles, named) : NULL;
    if (profile && profile->pool->direction == POOL_INGRESS)
        return sonic_fail(row, "profile", err, "%s is of an ingress pool; allowed: profiles of egress pools", named->key);
    for (guint i = 0; i < r->ports->len; i++)
        for (int queue = 0; profile && queue < SONIC_CLASSES; queue++)
            if (mask >> queue & 1)
                set_queue(r, g_array_index(r->ports, guint, i), queue, profile);
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------ */

static int64_t largest_egress_pool(const struct reader *r)
{
    int64_t largest = 0;
    GHashTableIter iter;
    void *pool;
    g_hash_table_iter_init(&iter, r->pools);
    while (g_hash_table_iter_next(&iter, NULL, &pool))
        if (((const struct pool *)pool)->direction != POOL_INGRESS)
            largest = MAX(largest, ((const struct pool *)pool)->size);
    return largest;
}

/* The shared headroom pool: xoff of the pool, or what the dynamic model makes of over_subscribe_ratio. */
static bool shared_headroom(struct reader *r, int64_t *out, GError **err)
{
    const struct sonic_row *defaults = sonic_first_row(sonic_table(r->s->db, "DEFAULT_LOSSLESS_BUFFER_PARAMETER"));
    int64_t ratio = 0;
    *out = r->ingress ? r->ingress->xoff : 0;
    if (defaults && !sonic_int(defaults, "over_subscribe_ratio", 0, 1000, &ratio, NULL, err))
        return false;
    if (*out > 0 || ratio == 0 || r->own_headroom == 0)
        return true;
    *out = r->own_headroom / ratio;
    r->own_headroom = 0;
    sonic_fact(r->s, "over_subscribe_ratio %" G_GINT64_FORMAT ": the shared headroom pool is the sum of xoff by it", ratio);
    return true;
}

/* Headroom is beside the pool (Tomahawk: 10.9 MB + 4.2 MB xoff in a 16 MB chip) or within it (Trident 3, Tomahawk 5: size + xoff
 * would exceed the chip). The largest egress pool is what the files tell of the chip's size. */
static bool put_sizes(struct reader *r, GError **err)
{
    const struct sonic_row *usual = sonic_row_of(sonic_table(r->s->db, "BUFFER_POOL"), "ingress_lossless_pool");
    if (!r->ingress && usual)
        r->ingress = g_hash_table_lookup(r->pools, usual);
    if (r->ingress)
        r->ingress->row->is_referred = true; /* by its name */
    const struct pool *in = r->ingress;
    struct sonic *s = r->s;
    int64_t pool_headroom = 0, largest = largest_egress_pool(r);
    if (!shared_headroom(r, &pool_headroom, err))
        return false;
    if (!in || !in->has_size)
        return true;
    int64_t beside = in->size + pool_headroom + r->own_headroom + r->reserved;
    bool is_beside = s->options.headroom == SONIC_HEADROOM_AUTO ? beside <= largest : s->options.headroom == SONIC_HEADROOM_BESIDE;
    set_bytes(s, "size", SONIC_NODE, SONIC_ANY_CLASS, is_beside ? MAX(beside, largest) : in->size);
    set_bytes(s, "ingress_pool", SONIC_NODE, SONIC_ANY_CLASS, is_beside ? in->size : 0);
    set_bytes(s, "headroom_pool", SONIC_NODE, SONIC_ANY_CLASS, pool_headroom);
    g_autofree char *pool = units_human_bytes((double)in->size), *rest = units_human_bytes((double)(beside - in->size)), *chip = units_human_bytes((double)largest);
    sonic_fact(s, "%s: headroom and reserves (%s) are taken to be %s its %s (--headroom %s): together %s than the largest egress pool, %s", in->row->key, rest,
               is_beside ? "beside" : "within", pool, s->options.headroom == SONIC_HEADROOM_AUTO ? "auto" : is_beside ? "beside" : "inside",
               beside <= largest ? "no more" : "more", chip);
    return true;
}

static void put_egress_pools(struct reader *r)
{
    struct sonic *s = r->s;
    if (r->lossless && r->lossless->has_size)
        set_bytes(s, "egress_lossless_pool", SONIC_NODE, SONIC_ANY_CLASS, r->lossless->size);
    bool shared = r->lossy && r->lossy == r->lossless;
    if (r->lossy && r->lossy->has_size)
        set_bytes(s, "egress_lossy_pool", SONIC_NODE, SONIC_ANY_CLASS, shared ? 0 : r->lossy->size);
    if (r->lossy || r->lossless)
        sonic_set(s, "buffer", "lossy_in_lossless_pool", SONIC_NODE, SONIC_ANY_CLASS, shared ? "true" : "false");
}

bool sonic_read_buffer(struct sonic *s, GError **err)
{
    struct reader r = {.s = s, .pools = g_hash_table_new_full(NULL, NULL, NULL, g_free), .profiles = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                       .ports = g_array_new(FALSE, FALSE, sizeof(guint))};
    bool ok = read_rows(&r, "BUFFER_POOL", read_pool, err) && read_rows(&r, "BUFFER_PROFILE", read_profile, err) &&
              read_rows(&r, "BUFFER_PG", read_pg, err) && fill_in(&r, err) && read_rows(&r, "BUFFER_QUEUE", read_queue, err) && put_sizes(&r, err);
    if (ok)
        put_egress_pools(&r);
    g_hash_table_unref(r.pools);
    g_hash_table_unref(r.profiles);
    g_array_unref(r.ports);
    return ok;
}
