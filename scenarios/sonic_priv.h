/* sonic_priv.h - an import of a SONiC configuration under way. For scenarios/sonic*.c.
 *
 * sonic_db.c reads JSON into tables; sonic_ports.c finds ports and what keys name; sonic_buffer.c and sonic_qos.c turn tables
 * into settings of ports and classes; sonic_emit.c writes settings as sections. A field that nobody asked for is reported.
 */
#ifndef FABRICAST_SCENARIOS_SONIC_PRIV_H
#define FABRICAST_SCENARIOS_SONIC_PRIV_H

#include "scenarios/sonic.h"
#include <json-glib/json-glib.h>

/* ---- tables (sonic_db.c) --------------------------------------------------------- */

struct sonic_field { char *name, *text; bool used; };
struct sonic_row {
    const struct sonic_table *table;
    char *key;
    GArray *fields; /* struct sonic_field */
    bool is_referred; /* another row names it */
};
struct sonic_table {
    const struct sonic_db *db;
    char *name;
    GPtrArray *rows; /* struct sonic_row *, in file order; none of a table that is not read */
    guint n_rows;    /* in the file */
    bool is_read;
};
struct sonic_db {
    char *name;
    GPtrArray *tables; /* struct sonic_table *, in file order */
};

struct sonic_db *sonic_db_parse(const char *name, const uint8_t *data, size_t n_bytes, GError **err);
void sonic_db_free(struct sonic_db *db); /* accepts NULL */
/* NULL if the file has no such table. */
struct sonic_table *sonic_table(const struct sonic_db *db, const char *name);
/* Rows of a table, 0 without it. */
guint sonic_n_rows(const struct sonic_table *table);
struct sonic_row *sonic_row_at(const struct sonic_table *table, guint i);
struct sonic_row *sonic_first_row(const struct sonic_table *table); /* NULL: none */
struct sonic_row *sonic_row_of(const struct sonic_table *table, const char *key);

/* Sets ERR to "FILE: TABLE|key|field: ..." and returns false; FIELD may be NULL. */
bool sonic_fail(const struct sonic_row *row, const char *field, GError **err, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* Text of FIELD, which counts as used by that; NULL without it. Borrowed. */
const char *sonic_text(const struct sonic_row *row, const char *field);
/* A whole number in [MIN, MAX] to *OUT, which is left alone without the field; *THERE may be NULL. */
bool sonic_int(const struct sonic_row *row, const char *field, int64_t min, int64_t max, int64_t *out, bool *there, GError **err);
/* One of CHOICES ("a|b|c"), as its index; -1 without the field. */
bool sonic_choice(const struct sonic_row *row, const char *field, const char *choices, int *out, GError **err);
/* The row of TABLE that FIELD names, as "name" or "[TABLE|name]"; *OUT is NULL without the field and for "NULL". */
bool sonic_reference(const struct sonic_row *row, const char *field, const char *table, struct sonic_row **out, GError **err);
/* A list "3,4" of 0..7 as a mask. */
bool sonic_classes(const struct sonic_row *row, const char *field, uint8_t *mask, bool *there, GError **err);

/* ---- an import -------------------------------------------------------------------- */

enum { SONIC_CLASSES = 8 };

struct sonic_port {
    char *name;
    char *peer;          /* "spine0", or "spine0:1" of parallel links; NULL: not known */
    int64_t rate_bps;    /* 0: not known */
    int64_t cable_mm;    /* -1: not known */
    bool pfc_known;
    uint8_t pfc;         /* priorities with PFC */
    uint8_t pfc_queues, pfc_pgs; /* the queues and priority groups of these */
    uint8_t pgs;         /* groups that BUFFER_PG gives a profile */
};

struct sonic {
    struct sonic_options options;
    struct sonic_db *db;
    GPtrArray *ports;       /* struct sonic_port * */
    GHashTable *port_of;    /* name -> index + 1 */
    char *prefix;           /* "host|asic" of the keys of this switch's ports in a chassis; NULL: none */
    guint n_remote;         /* rows of other line cards' ports */
    GPtrArray *columns;     /* of sonic_emit.c */
    GHashTable *column_of;  /* "group.key#class" -> column */
    GPtrArray *lookup;      /* struct sonic_pg_row *; NULL: none */
    GPtrArray *facts;       /* char *: comments on what was read */
    GPtrArray *warnings;    /* char *, no two equal */
    GHashTable *n_warned;   /* warning -> how often */
};

/* Equal warnings count as one. */
void sonic_warn(struct sonic *s, const char *format, ...) G_GNUC_PRINTF(2, 3);
void sonic_fact(struct sonic *s, const char *format, ...) G_GNUC_PRINTF(2, 3);
static inline struct sonic_port *sonic_port(const struct sonic *s, guint i)
{
    return g_ptr_array_index(s->ports, i);
}

/* Can NAME be one of a node in a selector (scenarios/site.h)? A port of parallel links has :INDEX behind it. */
#define SONIC_NO_NAME  " ,/#@=>[]"
#define SONIC_MAX_NAME 100 /* bytes: two names and a slash fit into a selector */
bool sonic_is_name(const char *name);

/* ---- ports (sonic_ports.c) ---------------------------------------------------------- */

bool sonic_read_ports(struct sonic *s, const struct sonic_bytes *map, GError **err);
/* What the key of ROW names: port indices (guint) to PORTS, which is emptied first, and with MASK (else NULL) classes.
 * Nothing for ports of other line cards. */
bool sonic_key(struct sonic *s, const struct sonic_row *row, GArray *ports, uint8_t *mask, GError **err);

/* ---- the switch's own table (sonic_pg_lookup.c) -------------------------------------- */

struct sonic_pg_row { int64_t rate_bps, cable_mm, size, xon, xoff, threshold, xon_offset; };
GPtrArray *sonic_pg_lookup_parse(const char *name, const uint8_t *data, size_t n_bytes, GError **err);
/* NULL: no row. */
const struct sonic_pg_row *sonic_pg_lookup_find(const GPtrArray *rows, int64_t rate_bps, int64_t cable_mm);
/* Says of the table whether size = xon + xoff, and how its cable term compares with 2 x delay x rate. */
void sonic_pg_lookup_describe(struct sonic *s);

/* ---- tables to settings ------------------------------------------------------------- */

bool sonic_read_qos(struct sonic *s, GError **err);    /* sonic_qos.c: before the buffers */
bool sonic_read_queues(struct sonic *s, GError **err); /* sonic_queue.c */
bool sonic_read_buffer(struct sonic *s, GError **err); /* sonic_buffer.c */

/* ---- settings (sonic_emit.c) --------------------------------------------------------- */

#define SONIC_NODE G_MAXUINT /* port: the whole switch */
#define SONIC_ANY_CLASS (-1)
void sonic_set(struct sonic *s, const char *group, const char *key, guint port, int class, const char *format, ...) G_GNUC_PRINTF(6, 7);
/* As the bytes of SONiC's tables, so that both can be compared by eye. */
void sonic_set_bytes(struct sonic *s, const char *group, const char *key, guint port, int class, int64_t bytes);
/* "3,4" or "none". (transfer full) */
char *sonic_class_list(uint8_t mask);
void sonic_column_free(void *column, guint n_ports);
/* Appends sections for the switch NODE ("*": all). May warn. */
bool sonic_emit(struct sonic *s, const char *node, GString *text, GError **err);

#endif
