/* param_bag_priv.h - a bag from inside, for sim/param_bag.c and sim/param_layers.c alone. */
#ifndef FABRICAST_SIM_PARAM_BAG_PRIV_H
#define FABRICAST_SIM_PARAM_BAG_PRIV_H

#include "sim/params_priv.h"

struct origin {
    enum param_set_by by; /* PARAM_BY_DEFAULT: not set */
    char *text;
};

/* A group's struct with where each member came from: the values of [group] or of one layer. */
struct param_set {
    void *values;
    struct origin *origins; /* n_rows */
};

struct layer {
    char *name;   /* the text after the colon */
    char *origin; /* where it first appeared */
    struct param_set set;
};

struct slot {
    const struct param_group *group;
    struct param_set set;
    GPtrArray *layers;    /* struct layer *, owned; NULL until there is one */
    GHashTable *by_name;  /* name -> index + 1; keys borrowed from layers; NULL likewise */
    GHashTable *resolved; /* mask -> values, owned; NULL until something was resolved */
};

struct param_bag {
    int n;
    struct slot *slots;
};

/* All at their defaults. */
struct param_set param_set_new(const struct param_group *group);
struct param_set param_set_copy(const struct param_group *group, const struct param_set *from);
void param_set_release(const struct param_group *group, struct param_set *set);
/* LABEL ("pfc.enabled: ", "[pfc:leaf1]: enabled: ") follows ORIGIN in messages. */
bool param_set_store(const struct param_group *group, struct param_set *set, int row, const char *text, enum param_set_by by,
                     const char *origin, const char *label, GError **err);

/* GROUP without a colon; NULL if there is none. */
struct slot *param_bag_slot(const struct param_bag *bag, const char *group);
int param_find_row(const struct param_group *group, const char *key); /* -1: none */

int slot_n_layers(const struct slot *slot);
struct layer *slot_layer(const struct slot *slot, int i);
struct layer *slot_find_layer(const struct slot *slot, const char *name); /* NULL: none */
/* Whether a layer NAME (NULL: no colon) can stand in SLOT; the message opens with "[group:name]: ". */
bool slot_check_layer(const struct param_bag *bag, const struct slot *slot, const char *name, GError **err);
/* The layer NAME, made if it is not there; slot_check_layer() said yes before. */
struct layer *slot_need_layer(struct slot *slot, const char *name, const char *origin);
void slot_copy_layers(struct slot *to, const struct slot *from);
void slot_release_layers(struct slot *slot);
/* To be called when a value changes. */
void slot_forget_resolved(struct slot *slot);
/* Cross-checks of each item of a LIST group. */
bool slot_check_items(const struct slot *slot, GError **err);

#endif
