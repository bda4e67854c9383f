/* param_bag.c - the values of all groups, and where each came from. Layers over them: sim/param_layers.c. */
#include "sim/param_bag_priv.h"

#include "sim/message.h"
#include <string.h>

/* ---- life ----------------------------------------------------------------- */

static struct param_set set_empty(const struct param_group *group)
{
    return (struct param_set){.values = g_malloc0(group->struct_size), .origins = g_new0(struct origin, (gsize)group->n_rows)};
}

struct param_set param_set_new(const struct param_group *group)
{
    struct param_set set = set_empty(group);
    for (int r = 0; r < group->n_rows; r++) {
        param_store_default(&group->rows[r], set.values);
        set.origins[r] = (struct origin){PARAM_BY_DEFAULT, g_strdup("default")};
    }
    return set;
}

struct param_set param_set_copy(const struct param_group *group, const struct param_set *from)
{
    struct param_set set = set_empty(group);
    for (int r = 0; r < group->n_rows; r++) {
        param_copy(&group->rows[r], set.values, from->values);
        set.origins[r] = (struct origin){from->origins[r].by, g_strdup(from->origins[r].text)};
    }
    return set;
}

void param_set_release(const struct param_group *group, struct param_set *set)
{
    for (int r = 0; r < group->n_rows; r++) {
        param_clear(&group->rows[r], set->values);
        g_free(set->origins[r].text);
    }
    g_free(set->origins);
    g_free(set->values);
}

struct param_bag *param_bag_new(const struct param_group *const *groups, int n_groups)
{
    struct param_bag *bag = g_new0(struct param_bag, 1);
    bag->n = n_groups;
    bag->slots = g_new0(struct slot, (gsize)n_groups);
    for (int i = 0; i < n_groups; i++)
        bag->slots[i] = (struct slot){.group = groups[i], .set = param_set_new(groups[i])};
    return bag;
}

void param_bag_free(struct param_bag *bag)
{
    if (!bag)
        return;
    for (int i = 0; i < bag->n; i++) {
        slot_release_layers(&bag->slots[i]);
        param_set_release(bag->slots[i].group, &bag->slots[i].set);
    }
    g_free(bag->slots);
    g_free(bag);
}

struct param_bag *param_bag_copy(const struct param_bag *bag)
{
    struct param_bag *copy = g_new0(struct param_bag, 1);
    copy->n = bag->n;
    copy->slots = g_new0(struct slot, (gsize)bag->n);
    for (int i = 0; i < bag->n; i++) {
        const struct slot *from = &bag->slots[i];
        copy->slots[i] = (struct slot){.group = from->group, .set = param_set_copy(from->group, &from->set)};
        slot_copy_layers(&copy->slots[i], from);
    }
    return copy;
}

/* ---- finding -------------------------------------------------------------- */

struct slot *param_bag_slot(const struct param_bag *bag, const char *group)
{
    for (int i = 0; i < bag->n; i++)
        if (strcmp(bag->slots[i].group->name, group) == 0)
            return &bag->slots[i];
    return NULL;
}

int param_find_row(const struct param_group *group, const char *key)
{
    for (int r = 0; r < group->n_rows; r++)
        if (strcmp(group->rows[r].key, key) == 0)
            return r;
    return -1;
}

/* Always NULL, for return. */
static struct slot *fail_group(const struct param_bag *bag, const char *group, GError **err)
{
    g_autofree const char **names = g_new0(const char *, (gsize)bag->n + 1);
    for (int i = 0; i < bag->n; i++)
        names[i] = bag->slots[i].group->name;
    g_autofree char *quoted = message_quote(group), *allowed = message_allowed(group, names, bag->n);
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "unknown group %s%s", quoted, allowed);
    return NULL;
}

/* Always -1, for return. */
static int fail_key(const struct param_group *group, const char *key, GError **err)
{
    g_autofree const char **names = g_new0(const char *, (gsize)group->n_rows + 1);
    for (int r = 0; r < group->n_rows; r++)
        names[r] = group->rows[r].key;
    g_autofree char *quoted = message_quote(key), *allowed = message_allowed(key, names, group->n_rows);
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "unknown key %s in [%s]%s", quoted, group->name,
                allowed);
    return -1;
}

/* ---- setting -------------------------------------------------------------- */

bool param_set_store(const struct param_group *group, struct param_set *set, int row, const char *text, enum param_set_by by,
                     const char *origin, const char *label, GError **err)
{
    if (!param_store(&group->rows[row], set->values, text, err)) {
        g_prefix_error(err, "%s: %s", origin, label);
        return false;
    }
    g_free(set->origins[row].text);
    set->origins[row] = (struct origin){by, g_strdup(origin)};
    return true;
}

void param_split_section(const char *section, char **group, char **name)
{
    const char *colon = strchr(section, ':');
    *group = g_strstrip(colon ? g_strndup(section, (gsize)(colon - section)) : g_strdup(section));
    *name = colon ? g_strstrip(g_strdup(colon + 1)) : NULL;
}

/* The slot and row of "group:name" and KEY, if they can be set; NULL with ERR set. */
static struct slot *find_settable(const struct param_bag *bag, const char *group, const char *name, const char *key, int *row,
                                  GError **err)
{
    struct slot *slot = param_bag_slot(bag, group);
    if (!slot)
        return fail_group(bag, group, err);
    if (!slot_check_layer(bag, slot, name, err))
        return NULL;
    *row = param_find_row(slot->group, key);
    if (*row < 0)
        fail_key(slot->group, key, err);
    return *row >= 0 ? slot : NULL;
}

bool param_bag_set(struct param_bag *bag, const char *group, const char *key, const char *text,
                   enum param_set_by by, const char *origin, GError **err)
{
    g_autofree char *base = NULL, *name = NULL, *label = NULL;
    int row = -1;
    param_split_section(group, &base, &name);
    struct slot *slot = find_settable(bag, base, name, key, &row, err);
    if (!slot) {
        g_prefix_error(err, "%s: ", origin);
        return false;
    }
    slot_forget_resolved(slot);
    label = name ? g_strdup_printf("[%s:%s]: %s: ", base, name, key) : g_strdup_printf("%s.%s: ", base, key);
    struct param_set *set = name ? &slot_need_layer(slot, name, origin)->set : &slot->set;
    return param_set_store(slot->group, set, row, text, by, origin, label, err);
}

bool param_bag_set_assignment(struct param_bag *bag, const char *assignment, enum param_set_by by,
                              const char *origin, GError **err)
{
    const char *equals = strchr(assignment, '=');
    /* A selector may hold dots: the key is what follows the last one. */
    const char *dot = equals ? g_strrstr_len(assignment, equals - assignment, ".") : NULL;
    if (!dot) {
        g_autofree char *quoted = message_quote(assignment);
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX,
                    "%s: %s is not an assignment; allowed: group.key=value, such as pfc.enabled=false",
                    origin, quoted);
        return false;
    }
    g_autofree char *group = g_strstrip(g_strndup(assignment, (gsize)(dot - assignment)));
    g_autofree char *key = g_strstrip(g_strndup(dot + 1, (gsize)(equals - dot - 1)));
    return param_bag_set(bag, group, key, equals + 1, by, origin, err);
}

static bool slot_check(const struct slot *slot, GError **err)
{
    const char *key = NULL;
    if (!slot->group->check || slot->group->check(slot->set.values, &key, err))
        return true;
    int row = key ? param_find_row(slot->group, key) : -1;
    if (row >= 0)
        g_prefix_error(err, "%s: %s.%s: ", slot->set.origins[row].text, slot->group->name, key);
    else
        g_prefix_error(err, "%s: ", slot->group->name);
    return false;
}

bool param_bag_check(const struct param_bag *bag, GError **err)
{
    for (int i = 0; i < bag->n; i++)
        if (!slot_check(&bag->slots[i], err) || !slot_check_items(&bag->slots[i], err))
            return false;
    return true;
}

/* ---- reading -------------------------------------------------------------- */

/* LAYER becomes NULL where SECTION has no colon. NULL if there is no such group or layer. */
static struct slot *slot_and_layer(const struct param_bag *bag, const char *section, struct layer **layer)
{
    g_autofree char *group = NULL, *name = NULL;
    param_split_section(section, &group, &name);
    struct slot *slot = param_bag_slot(bag, group);
    *layer = slot && name ? slot_find_layer(slot, name) : NULL;
    return name && !*layer ? NULL : slot;
}

const void *param_bag_get(const struct param_bag *bag, const char *group)
{
    const struct slot *slot = param_bag_slot(bag, group);
    return slot ? slot->set.values : NULL;
}

static const struct origin *find_origin(const struct param_bag *bag, const char *group, const char *key)
{
    struct layer *layer = NULL;
    const struct slot *slot = slot_and_layer(bag, group, &layer);
    int row = slot ? param_find_row(slot->group, key) : -1;
    if (row < 0)
        return NULL;
    return layer ? &layer->set.origins[row] : &slot->set.origins[row];
}

const char *param_bag_origin(const struct param_bag *bag, const char *group, const char *key)
{
    const struct origin *origin = find_origin(bag, group, key);
    g_return_val_if_fail(origin, NULL);
    return origin->text;
}

enum param_set_by param_bag_set_by(const struct param_bag *bag, const char *group, const char *key)
{
    const struct origin *origin = find_origin(bag, group, key);
    g_return_val_if_fail(origin, PARAM_BY_DEFAULT);
    return origin->by;
}

int param_bag_n_groups(const struct param_bag *bag)
{
    return bag->n;
}

const struct param_group *param_bag_group(const struct param_bag *bag, int i)
{
    return bag->slots[i].group;
}

const struct param_group *param_bag_find(const struct param_bag *bag, const char *group)
{
    const struct slot *slot = param_bag_slot(bag, group);
    return slot ? slot->group : NULL;
}
