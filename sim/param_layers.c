/* param_layers.c - values by place: layers over a group's values, and items of list groups.
 *
 * A layer holds a whole struct of its group, of which only the members count that were set there. Values for
 * a set of layers are made once and kept by mask: a fabric has thousands of ports and few different masks. What a
 * selector means is not known here (scenarios/site.h).
 */
#include "sim/param_bag_priv.h"

#include "sim/message.h"
#include <string.h>

#define MAX_NAME 256

/* ---- life ----------------------------------------------------------------- */

int slot_n_layers(const struct slot *slot)
{
    return slot->layers ? (int)slot->layers->len : 0;
}

struct layer *slot_layer(const struct slot *slot, int i)
{
    return g_ptr_array_index(slot->layers, i);
}

struct layer *slot_find_layer(const struct slot *slot, const char *name)
{
    int found = slot->by_name ? GPOINTER_TO_INT(g_hash_table_lookup(slot->by_name, name)) : 0;
    return found ? slot_layer(slot, found - 1) : NULL;
}

static void add_layer(struct slot *slot, struct layer *layer)
{
    if (!slot->layers) {
        slot->layers = g_ptr_array_new();
        slot->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    }
    g_ptr_array_add(slot->layers, layer);
    g_hash_table_insert(slot->by_name, layer->name, GINT_TO_POINTER((int)slot->layers->len));
}

static struct layer *layer_new(const char *name, const char *origin, struct param_set set)
{
    struct layer *layer = g_new(struct layer, 1);
    *layer = (struct layer){g_strdup(name), g_strdup(origin), set};
    return layer;
}

struct layer *slot_need_layer(struct slot *slot, const char *name, const char *origin)
{
    struct layer *layer = slot_find_layer(slot, name);
    if (layer)
        return layer;
    layer = layer_new(name, origin, param_set_new(slot->group));
    add_layer(slot, layer);
    slot_forget_resolved(slot);
    return layer;
}

void slot_copy_layers(struct slot *to, const struct slot *from)
{
    for (int i = 0; i < slot_n_layers(from); i++) {
        const struct layer *layer = slot_layer(from, i);
        add_layer(to, layer_new(layer->name, layer->origin, param_set_copy(from->group, &layer->set)));
    }
}

static void values_free(const struct param_group *group, void *values)
{
    for (int r = 0; r < group->n_rows; r++)
        param_clear(&group->rows[r], values);
    g_free(values);
}

void slot_forget_resolved(struct slot *slot)
{
    if (!slot->resolved)
        return;
    GHashTableIter iter;
    void *values;
    g_hash_table_iter_init(&iter, slot->resolved);
    while (g_hash_table_iter_next(&iter, NULL, &values))
        values_free(slot->group, values);
    g_clear_pointer(&slot->resolved, g_hash_table_unref);
}

void slot_release_layers(struct slot *slot)
{
    slot_forget_resolved(slot);
    for (int i = 0; i < slot_n_layers(slot); i++) {
        struct layer *layer = slot_layer(slot, i);
        param_set_release(slot->group, &layer->set);
        g_free(layer->name);
        g_free(layer->origin);
        g_free(layer);
    }
    g_clear_pointer(&slot->by_name, g_hash_table_unref);
    if (slot->layers)
        g_ptr_array_free(g_steal_pointer(&slot->layers), TRUE);
}

/* ---- what may be a layer --------------------------------------------------- */

/* Names of the groups that take a colon. */
static char *groups_with_layers(const struct param_bag *bag)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < bag->n; i++)
        if (bag->slots[i].group->scope != PARAM_SCOPE_RUN)
            g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", bag->slots[i].group->name);
    return g_string_free(text, FALSE);
}

/* What every file can hold in a header and every result in a name: '>' stands for '/' there (docs/FORMATS.md). */
static bool is_storable(const char *name)
{
    if (strlen(name) > MAX_NAME || !g_utf8_validate(name, -1, NULL) || strpbrk(name, "[]=>"))
        return false;
    for (const char *p = name; *p; p++)
        if (g_ascii_iscntrl(*p))
            return false;
    return true;
}

static bool check_name(const struct slot *slot, const char *name, GError **err)
{
    const char *group = slot->group->name, *what = slot->group->scope == PARAM_SCOPE_LIST ? "NAME" : "selector";
    if (*name == '\0') {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "[%s:]: nothing stands after the colon; allowed: [%s:%s]", group,
                    group, what);
        return false;
    }
    if (is_storable(name))
        return true;
    g_autofree char *quoted = message_quote(name);
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX,
                "[%s:%s]: %s cannot stand after the colon; allowed: up to %d bytes of UTF-8 text without [ ] = >", group, what,
                quoted, MAX_NAME);
    return false;
}

bool slot_check_layer(const struct param_bag *bag, const struct slot *slot, const char *name, GError **err)
{
    const struct param_group *group = slot->group;
    if (!name && group->scope == PARAM_SCOPE_LIST) {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "[%s] needs a name; allowed: [%s:NAME]", group->name, group->name);
        return false;
    }
    if (!name)
        return true;
    if (!check_name(slot, name, err))
        return false;
    if (group->scope == PARAM_SCOPE_RUN) {
        g_autofree char *allowed = groups_with_layers(bag);
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "[%s:%s]: [%s] holds for the whole run; groups that take a colon: %s",
                    group->name, name, group->name, *allowed ? allowed : "none");
        return false;
    }
    if (group->scope == PARAM_SCOPE_LIST || slot_n_layers(slot) < PARAM_MAX_LAYERS || slot_find_layer(slot, name))
        return true;
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_RANGE, "[%s:%s]: more than %d layers of [%s]; allowed: up to %d", group->name, name,
                PARAM_MAX_LAYERS, group->name, PARAM_MAX_LAYERS);
    return false;
}

bool param_bag_add_layer(struct param_bag *bag, const char *group, const char *name, const char *origin, GError **err)
{
    struct slot *slot = param_bag_slot(bag, group);
    g_return_val_if_fail(slot, false);
    if (!slot_check_layer(bag, slot, name, err)) {
        g_prefix_error(err, "%s: ", origin);
        return false;
    }
    if (name)
        slot_need_layer(slot, name, origin);
    return true;
}

/* ---- checks ----------------------------------------------------------------- */

static bool check_item(const struct param_group *group, const struct layer *layer, GError **err)
{
    const char *key = NULL;
    if (!group->check || group->check(layer->set.values, &key, err))
        return true;
    int row = key ? param_find_row(group, key) : -1;
    bool is_set = row >= 0 && layer->set.origins[row].by != PARAM_BY_DEFAULT;
    g_prefix_error(err, "%s: [%s:%s]: %s%s", is_set ? layer->set.origins[row].text : layer->origin, group->name, layer->name,
                   key ? key : "", key ? ": " : "");
    return false;
}

bool slot_check_items(const struct slot *slot, GError **err)
{
    for (int i = 0; slot->group->scope == PARAM_SCOPE_LIST && i < slot_n_layers(slot); i++)
        if (!check_item(slot->group, slot_layer(slot, i), err))
            return false;
    return true;
}

/* The topmost layer of MASK that sets ROW; the topmost of all when none does: it made the values what they are. */
static const struct layer *layer_to_blame(const struct slot *slot, uint64_t mask, int row)
{
    const struct layer *top = NULL;
    for (int i = slot_n_layers(slot) - 1; i >= 0; i--) {
        if (!(mask >> i & 1))
            continue;
        const struct layer *layer = slot_layer(slot, i);
        if (row >= 0 && layer->set.origins[row].by != PARAM_BY_DEFAULT)
            return layer;
        top = top ? top : layer;
    }
    return top;
}

static bool check_resolved(const struct slot *slot, uint64_t mask, const void *values, GError **err)
{
    const struct param_group *group = slot->group;
    const char *key = NULL;
    if (!group->check || group->check(values, &key, err))
        return true;
    int row = key ? param_find_row(group, key) : -1;
    const struct layer *layer = layer_to_blame(slot, mask, row);
    const struct origin *own = row >= 0 && layer ? &layer->set.origins[row] : NULL;
    if (layer)
        g_prefix_error(err, "%s: [%s:%s]: %s%s", own && own->by != PARAM_BY_DEFAULT ? own->text : layer->origin, group->name,
                       layer->name, key ? key : "", key ? ": " : "");
    else if (row >= 0)
        g_prefix_error(err, "%s: %s.%s: ", slot->set.origins[row].text, group->name, key);
    else
        g_prefix_error(err, "%s: ", group->name);
    return false;
}

/* ---- resolving --------------------------------------------------------------- */

static void *overlay(const struct slot *slot, uint64_t mask)
{
    const struct param_group *group = slot->group;
    void *values = g_malloc0(group->struct_size);
    for (int r = 0; r < group->n_rows; r++) {
        const void *from = slot->set.values;
        for (int i = 0; i < slot_n_layers(slot); i++) {
            const struct layer *layer = slot_layer(slot, i);
            if ((mask >> i & 1) && layer->set.origins[r].by != PARAM_BY_DEFAULT)
                from = layer->set.values;
        }
        param_copy(&group->rows[r], values, from);
    }
    return values;
}

const void *param_bag_resolve(struct param_bag *bag, const char *group, uint64_t mask, GError **err)
{
    struct slot *slot = param_bag_slot(bag, group);
    g_return_val_if_fail(slot && slot->group->scope == PARAM_SCOPE_SITE, NULL);
    gint64 key = (gint64)mask;
    void *values = slot->resolved ? g_hash_table_lookup(slot->resolved, &key) : NULL;
    if (values)
        return values;
    values = overlay(slot, mask);
    if (!check_resolved(slot, mask, values, err)) {
        values_free(slot->group, values);
        return NULL;
    }
    if (!slot->resolved)
        slot->resolved = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_hash_table_insert(slot->resolved, g_memdup2(&key, sizeof key), values);
    return values;
}

/* ---- reading ----------------------------------------------------------------- */

int param_bag_n_layers(const struct param_bag *bag, const char *group)
{
    const struct slot *slot = param_bag_slot(bag, group);
    return slot ? slot_n_layers(slot) : 0;
}

static const struct layer *layer_at(const struct param_bag *bag, const char *group, int i)
{
    const struct slot *slot = param_bag_slot(bag, group);
    return slot && i >= 0 && i < slot_n_layers(slot) ? slot_layer(slot, i) : NULL;
}

const char *param_bag_layer_name(const struct param_bag *bag, const char *group, int layer)
{
    const struct layer *found = layer_at(bag, group, layer);
    g_return_val_if_fail(found, NULL);
    return found->name;
}

const char *param_bag_layer_origin(const struct param_bag *bag, const char *group, int layer)
{
    const struct layer *found = layer_at(bag, group, layer);
    g_return_val_if_fail(found, NULL);
    return found->origin;
}

const char *param_bag_layer_key_origin(const struct param_bag *bag, const char *group, int layer, const char *key)
{
    const struct layer *found = layer_at(bag, group, layer);
    g_return_val_if_fail(found, NULL);
    int row = param_find_row(param_bag_find(bag, group), key);
    g_return_val_if_fail(row >= 0, NULL);
    return found->set.origins[row].by == PARAM_BY_DEFAULT ? NULL : found->set.origins[row].text;
}

const void *param_bag_item(const struct param_bag *bag, const char *group, int layer)
{
    const struct layer *found = layer_at(bag, group, layer);
    return found ? found->set.values : NULL;
}
