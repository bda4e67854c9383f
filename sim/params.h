/* params.h - one table drives every use of a parameter.
 *
 * A module owns <module>_params.def, a list of rows
 *
 *     P(field, TYPE, choices, default, min, max, source, "Doc sentence.")
 *
 * and expands it with the macros below into its struct (PARAMS_STRUCT), its
 * descriptor rows (PARAMS_ROWS) and static checks (PARAMS_ASSERT). The key in
 * scenario files is the field name; the struct member carries a unit suffix:
 *
 *   TYPE     member          default/min/max          file syntax
 *   TIME     field_ps        int64 ps                 4us
 *   BYTES    field_bytes     int64 bytes              32KiB
 *   RATE     field_bps       int64 bit/s              400Gbps
 *   LENGTH   field_mm        int64 mm                 100m
 *   INT      field           int64                    7
 *   REAL     field           double                   0.0039, 1/256
 *   BOOL     field           0/1                      true false yes no on off 1 0
 *   ENUM     field (int)     index into "a|b|c"       a
 *   TEXT     field (char *)  default as a string      any text
 *   BYTES_MAP field          default as a string      400KB, or 100Gbps:400KB 200Gbps:800KB
 *   REAL_MAP  field          default as a string      1/8, or 100Gbps:1/8 200Gbps:1/4
 *
 * choices is "" except for ENUM. min/max are ignored for BOOL, ENUM and TEXT (write 0, 0).
 * For *_MAP min/max bound every value. source is a citation or the word "assumed".
 */
#ifndef FABRICAST_SIM_PARAMS_H
#define FABRICAST_SIM_PARAMS_H

#include "sim/units.h"
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum param_type {
    PARAM_TIME, PARAM_BYTES, PARAM_RATE, PARAM_LENGTH, PARAM_INT, PARAM_REAL,
    PARAM_BOOL, PARAM_ENUM, PARAM_TEXT, PARAM_BYTES_MAP, PARAM_REAL_MAP,
};

/* A value by link rate. n == 1 with rate_bps[0] == 0: the same at any rate. */
#define PARAM_MAP_MAX 16
struct param_map {
    int n;
    int64_t rate_bps[PARAM_MAP_MAX]; /* ascending */
    double value[PARAM_MAP_MAX];     /* whole numbers for BYTES_MAP, exact to 2^53 */
};
/* Value for links of RATE_BPS; false when the map has no entry for it. */
bool param_map_get(const struct param_map *map, int64_t rate_bps, double *out);
/* First entry from FROM (at least 1) on whose value is below that of the next slower rate; -1: none. */
int param_map_falls(const struct param_map *map, int from);

struct param_desc {
    const char *key;
    enum param_type type;
    const char *choices;     /* "a|b|c" for ENUM, else "" */
    int64_t def_i, min_i, max_i;   /* TIME BYTES RATE LENGTH INT BOOL ENUM; min/max of BYTES_MAP */
    double def_r, min_r, max_r;    /* REAL; min/max of REAL_MAP */
    const char *def_text;          /* TEXT and maps */
    const char *source;
    const char *doc;
    size_t offset;                 /* of the member in the group's struct */
};

/* Where a group's values may differ. */
enum param_scope {
    PARAM_SCOPE_RUN,  /* one set for the whole run: [group] */
    PARAM_SCOPE_SITE, /* [group] holds everywhere; [group:selector] lays other values over it where the selector matches */
    PARAM_SCOPE_LIST, /* no [group]: each [group:name] is an item of its own that starts from the defaults */
};

struct param_group {
    const char *name;              /* "dcqcn": section name in files */
    const char *doc;               /* one sentence */
    const struct param_desc *rows;
    int n_rows;
    size_t struct_size;
    /* Cross-checks (kmin < kmax); NULL if none. KEY is set to the key to blame. */
    bool (*check)(const void *values, const char **key, GError **err);
    enum param_scope scope;
};

/* ---- expansion --------------------------------------------------------- */
#define PARAM_MEMBER_TIME(f) int64_t f##_ps;
#define PARAM_MEMBER_BYTES(f) int64_t f##_bytes;
#define PARAM_MEMBER_RATE(f) int64_t f##_bps;
#define PARAM_MEMBER_LENGTH(f) int64_t f##_mm;
#define PARAM_MEMBER_INT(f) int64_t f;
#define PARAM_MEMBER_REAL(f) double f;
#define PARAM_MEMBER_BOOL(f) bool f;
#define PARAM_MEMBER_ENUM(f) int f;
#define PARAM_MEMBER_TEXT(f) char *f;
#define PARAM_MEMBER_BYTES_MAP(f) struct param_map f;
#define PARAM_MEMBER_REAL_MAP(f) struct param_map f;
#define PARAMS_MEMBER(field, TYPE, choices, def, min, max, source, doc) PARAM_MEMBER_##TYPE(field)

#define PARAM_NAME_TIME(f) f##_ps
#define PARAM_NAME_BYTES(f) f##_bytes
#define PARAM_NAME_RATE(f) f##_bps
#define PARAM_NAME_LENGTH(f) f##_mm
#define PARAM_NAME_INT(f) f
#define PARAM_NAME_REAL(f) f
#define PARAM_NAME_BOOL(f) f
#define PARAM_NAME_ENUM(f) f
#define PARAM_NAME_TEXT(f) f
#define PARAM_NAME_BYTES_MAP(f) f
#define PARAM_NAME_REAL_MAP(f) f

#define PARAM_LIMITS_I(def, min, max) .def_i = (def), .min_i = (min), .max_i = (max)
#define PARAM_LIMITS_TIME(def, min, max) PARAM_LIMITS_I(def, min, max)
#define PARAM_LIMITS_BYTES(def, min, max) PARAM_LIMITS_I(def, min, max)
#define PARAM_LIMITS_RATE(def, min, max) PARAM_LIMITS_I(def, min, max)
#define PARAM_LIMITS_LENGTH(def, min, max) PARAM_LIMITS_I(def, min, max)
#define PARAM_LIMITS_INT(def, min, max) PARAM_LIMITS_I(def, min, max)
#define PARAM_LIMITS_REAL(def, min, max) .def_r = (def), .min_r = (min), .max_r = (max)
#define PARAM_LIMITS_BOOL(def, min, max) .def_i = (def), .min_i = 0, .max_i = 1
#define PARAM_LIMITS_ENUM(def, min, max) .def_i = (def)
#define PARAM_LIMITS_TEXT(def, min, max) .def_text = (def)
#define PARAM_LIMITS_BYTES_MAP(def, min, max) .def_text = (def), .min_i = (min), .max_i = (max)
#define PARAM_LIMITS_REAL_MAP(def, min, max) .def_text = (def), .min_r = (min), .max_r = (max)

/* Define PARAMS_TYPE to the struct before including the .def with this. */
#define PARAMS_ROW(field, TYPE, choices_, def, min, max, source_, doc_)                            \
    { .key = #field, .type = PARAM_##TYPE, .choices = choices_,                                    \
      PARAM_LIMITS_##TYPE(def, min, max), .source = source_, .doc = doc_,                          \
      .offset = offsetof(struct PARAMS_TYPE, PARAM_NAME_##TYPE(field)) },

#define PARAM_ASSERT_I(def, min, max) \
    _Static_assert((def) >= (min) && (def) <= (max), "parameter default out of range");
#define PARAM_ASSERT_TIME(d, lo, hi) PARAM_ASSERT_I(d, lo, hi)
#define PARAM_ASSERT_BYTES(d, lo, hi) PARAM_ASSERT_I(d, lo, hi)
#define PARAM_ASSERT_RATE(d, lo, hi) PARAM_ASSERT_I(d, lo, hi)
#define PARAM_ASSERT_LENGTH(d, lo, hi) PARAM_ASSERT_I(d, lo, hi)
#define PARAM_ASSERT_INT(d, lo, hi) PARAM_ASSERT_I(d, lo, hi)
#define PARAM_ASSERT_REAL(d, lo, hi)
#define PARAM_ASSERT_BOOL(d, lo, hi) PARAM_ASSERT_I(d, 0, 1)
#define PARAM_ASSERT_ENUM(d, lo, hi)
#define PARAM_ASSERT_TEXT(d, lo, hi)
#define PARAM_ASSERT_BYTES_MAP(d, lo, hi)
#define PARAM_ASSERT_REAL_MAP(d, lo, hi)
#define PARAMS_ASSERT(field, TYPE, choices, def, min, max, source, doc) PARAM_ASSERT_##TYPE(def, min, max)

/* ---- values ------------------------------------------------------------ */
enum param_set_by { PARAM_BY_DEFAULT, PARAM_BY_FILE, PARAM_BY_COMMAND_LINE, PARAM_BY_SWEEP };

#define PARAM_ERROR (param_error_quark())
typedef enum {
    PARAM_ERROR_UNKNOWN, /* no such group or key; message names the nearest */
    PARAM_ERROR_SYNTAX,  /* value does not parse                            */
    PARAM_ERROR_RANGE,   /* value outside [min, max]                        */
    PARAM_ERROR_CROSS,   /* a group's cross-check failed                    */
} param_error;
GQuark param_error_quark(void);

/* The values of a set of groups, with where each came from. Opaque. */
struct param_bag;

/* All groups at their defaults. GROUPS is borrowed and must outlive the bag. */
struct param_bag *param_bag_new(const struct param_group *const *groups, int n_groups);
void param_bag_free(struct param_bag *bag); /* accepts NULL */
struct param_bag *param_bag_copy(const struct param_bag *bag);

/* Sets one value from text. ORIGIN ("incast.ini:12", "--set") is kept and, on
 * error, opens the message: "incast.ini:12: dcqcn.gain: 0 is below 0.000001".
 * Unknown names are errors that name the nearest known one. */
bool param_bag_set(struct param_bag *bag, const char *group, const char *key, const char *text,
                   enum param_set_by by, const char *origin, GError **err);
/* "group.key=value" or "group:selector.key=value" (the key follows the last dot before '=') */
bool param_bag_set_assignment(struct param_bag *bag, const char *assignment, enum param_set_by by,
                              const char *origin, GError **err);
/* Runs every group's and item's cross-check; the message opens with the origin of the key to blame. */
bool param_bag_check(const struct param_bag *bag, GError **err);

/* The group's struct, e.g. const struct dcqcn_params *; NULL if no such group. Borrowed. */
const void *param_bag_get(const struct param_bag *bag, const char *group);
/* Where KEY was set: "default", "incast.ini:12", "--set". GROUP may be "group:selector" of a layer, here and below. Borrowed. */
const char *param_bag_origin(const struct param_bag *bag, const char *group, const char *key);
enum param_set_by param_bag_set_by(const struct param_bag *bag, const char *group, const char *key);

/* ---- layers ------------------------------------------------------------- */
/* [group:selector] of a PARAM_SCOPE_SITE group and [group:name] of a PARAM_SCOPE_LIST group are layers, numbered in the
 * order in which they appeared (included files first). param_bag_set() takes "group:selector" as GROUP; setting a key of
 * a LIST group without a name, or a layer of a RUN group, is an error. Of SITE layers only the keys that were set count. */
#define PARAM_MAX_LAYERS 64 /* of a SITE group: one more is an error */
/* Splits "group:selector" at the first colon, without blanks around the parts; *NAME is NULL without a colon. (transfer full) */
void param_split_section(const char *section, char **group, char **name);
/* Makes the layer NAME (NULL: none) of GROUP, a known one, even if no key is ever set in it; errors as param_bag_set(). */
bool param_bag_add_layer(struct param_bag *bag, const char *group, const char *name, const char *origin, GError **err);
int param_bag_n_layers(const struct param_bag *bag, const char *group);
/* The text after the colon. Borrowed. */
const char *param_bag_layer_name(const struct param_bag *bag, const char *group, int layer);
/* Where LAYER first appeared ("incast.ini:12"). Borrowed. */
const char *param_bag_layer_origin(const struct param_bag *bag, const char *group, int layer);
/* Where KEY of LAYER was set, NULL if it was not. Borrowed. */
const char *param_bag_layer_key_origin(const struct param_bag *bag, const char *group, int layer, const char *key);
/* Values of item LAYER of a LIST group; of a SITE group: of the layer alone, over the defaults. Borrowed. */
const void *param_bag_item(const struct param_bag *bag, const char *group, int layer);
/* Values of a SITE group where the layers in MASK (bit i: layer i) match: later layers win. Cross-checked; the same
 * MASK gives the same pointer, valid until the bag changes or is freed. NULL with ERR set. Not for two threads at once. */
const void *param_bag_resolve(struct param_bag *bag, const char *group, uint64_t mask, GError **err);

int param_bag_n_groups(const struct param_bag *bag);
const struct param_group *param_bag_group(const struct param_bag *bag, int i);
const struct param_group *param_bag_find(const struct param_bag *bag, const char *group);

/* Value of ROW in VALUES as text that parses back to it; its default, min, max likewise.
 * param_unit gives the base unit as stored ("ps", "bytes", "bit/s", "mm", ""). (transfer full / borrowed) */
char *param_format(const struct param_desc *row, const void *values);
char *param_format_default(const struct param_desc *row);
char *param_format_min(const struct param_desc *row);
char *param_format_max(const struct param_desc *row);
const char *param_unit(const struct param_desc *row);
const char *param_type_name(enum param_type type);

#endif
