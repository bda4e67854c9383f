/* param_bag.c - the values of all groups, and where each came from. */
#include "sim/params_priv.h"

#include "sim/message.h"
#include <string.h>

struct origin {
    enum param_set_by by;
    char *text;
};

struct slot {
    const struct param_group *group;
    void *values;           /* the group's struct */
    struct origin *origins; /* n_rows */
};

struct param_bag {
    int n;
    struct slot *slots;
};

/* ---- life ----------------------------------------------------------------- */

static struct slot slot_empty(const struct param_group *group)
{
    return (struct slot){.group = group,
                         .values = g_malloc0(group->struct_size),
                         .origins = g_new0(struct origin, (gsize)group->n_rows)};
}

struct param_bag *param_bag_new(const struct param_group *const *groups, int n_groups)
{
    struct param_bag *bag = g_new0(struct param_bag, 1);
    bag->n = n_groups;
    bag->slots = g_new0(struct slot, (gsize)n_groups);
    for (int i = 0; i < n_groups; i++) {
        struct slot *slot = &bag->slots[i];
        *slot = slot_empty(groups[i]);
        for (int r = 0; r < groups[i]->n_rows; r++) {
            param_store_default(&groups[i]->rows[r], slot->values);
            slot->origins[r] = (struct origin){PARAM_BY_DEFAULT, g_strdup("default")};
        }
    }
    return bag;
}

static void slot_release(struct slot *slot)
{
    for (int r = 0; r < slot->group->n_rows; r++) {
        param_clear(&slot->group->rows[r], slot->values);
        g_free(slot->origins[r].text);
    }
    g_free(slot->origins);
    g_free(slot->values);
}

void param_bag_free(struct param_bag *bag)
{
    if (!bag)
        return;
    for (int i = 0; i < bag->n; i++)
        slot_release(&bag->slots[i]);
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
        struct slot *to = &copy->slots[i];
        *to = slot_empty(from->group);
        for (int r = 0; r < from->group->n_rows; r++) {
            param_copy(&from->group->rows[r], to->values, from->values);
            to->origins[r] = (struct origin){from->origins[r].by, g_strdup(from->origins[r].text)};
        }
    }
    return copy;
}

/* ---- finding -------------------------------------------------------------- */

static struct slot *find_slot(const struct param_bag *bag, const char *group)
{
    for (int i = 0; i < bag->n; i++)
        if (strcmp(bag->slots[i].group->name, group) == 0)
            return &bag->slots[i];
    return NULL;
}

static int find_row(const struct param_group *group, const char *key)
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

static bool slot_set(struct slot *slot, int row, const char *text, enum param_set_by by, const char *origin,
                     GError **err)
{
    const struct param_desc *desc = &slot->group->rows[row];
    if (!param_store(desc, slot->values, text, err)) {
        g_prefix_error(err, "%s: %s.%s: ", origin, slot->group->name, desc->key);
        return false;
    }
    g_free(slot->origins[row].text);
    slot->origins[row] = (struct origin){by, g_strdup(origin)};
    return true;
}

bool param_bag_set(struct param_bag *bag, const char *group, const char *key, const char *text,
                   enum param_set_by by, const char *origin, GError **err)
{
    struct slot *slot = find_slot(bag, group);
    if (!slot)
        fail_group(bag, group, err);
    int row = slot ? find_row(slot->group, key) : -1;
    if (slot && row < 0)
        fail_key(slot->group, key, err);
    if (row < 0) {
        g_prefix_error(err, "%s: ", origin);
        return false;
    }
    return slot_set(slot, row, text, by, origin, err);
}

bool param_bag_set_assignment(struct param_bag *bag, const char *assignment, enum param_set_by by,
                              const char *origin, GError **err)
{
    const char *equals = strchr(assignment, '=');
    const char *dot = strchr(assignment, '.');
    if (!equals || !dot || dot > equals) {
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
    if (!slot->group->check || slot->group->check(slot->values, &key, err))
        return true;
    int row = key ? find_row(slot->group, key) : -1;
    if (row >= 0)
        g_prefix_error(err, "%s: %s.%s: ", slot->origins[row].text, slot->group->name, key);
    else
        g_prefix_error(err, "%s: ", slot->group->name);
    return false;
}

bool param_bag_check(const struct param_bag *bag, GError **err)
{
    for (int i = 0; i < bag->n; i++)
        if (!slot_check(&bag->slots[i], err))
            return false;
    return true;
}

/* ---- reading -------------------------------------------------------------- */

const void *param_bag_get(const struct param_bag *bag, const char *group)
{
    const struct slot *slot = find_slot(bag, group);
    return slot ? slot->values : NULL;
}

static const struct origin *find_origin(const struct param_bag *bag, const char *group, const char *key)
{
    const struct slot *slot = find_slot(bag, group);
    int row = slot ? find_row(slot->group, key) : -1;
    return row >= 0 ? &slot->origins[row] : NULL;
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
    const struct slot *slot = find_slot(bag, group);
    return slot ? slot->group : NULL;
}
