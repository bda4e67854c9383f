/* topo_text.h - line reader of the topology importers.
 *
 * Reads a whole file, gives one line at a time as fields, and words every error
 * "file:line: key: what is wrong". Blank lines are skipped; what follows a '#' is
 * a comment. Line ends may be LF or CRLF.
 */
#ifndef FABRICAST_TOPOLOGIES_TOPO_TEXT_H
#define FABRICAST_TOPOLOGIES_TOPO_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct topo_text {
    char *path;
    char *data;        /* the file; lines are cut in place */
    char *next;        /* start of the next line, NULL at the end */
    int line;          /* number of the current line, from 1 */
    GPtrArray *fields; /* of the current line: char *, into data */
    char *comment;     /* of the current line, without '#', or NULL; into data */
};

/* False with ERR if PATH can't be read, is empty, or holds NUL bytes (no text). Release TEXT in either case. */
bool topo_text_load(struct topo_text *text, const char *path, GError **err);
void topo_text_release(struct topo_text *text);


/* Steps to the next line that has a field or a comment; false at the end. Fields are separated by the
 * characters of SEPARATORS; if that is a comma, each field is trimmed and may be empty. */
bool topo_text_next(struct topo_text *text, const char *separators);

/* Sets "file:line: KEY: ..." and returns false. KEY may be NULL. */
bool topo_text_fail(const struct topo_text *text, GError **err, const char *key, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* Field INDEX of the line, which must have it, as a whole number in [MIN, MAX], a rate or a time. UNIT is
 * appended first ("Gbps" where the file gives a bare number), or "" if the field carries its unit. Rates and
 * times must be positive and within the bounds of fabric_priv.h. */
bool topo_text_int(const struct topo_text *text, guint index, const char *key, int64_t min, int64_t max, int64_t *out,
                   GError **err);
bool topo_text_rate(const struct topo_text *text, guint index, const char *key, const char *unit, int64_t *out_bps,
                    GError **err);
bool topo_text_time(const struct topo_text *text, guint index, const char *key, const char *unit, int64_t *out_ps,
                    GError **err);
/* The field for a message: escaped and cut to a readable length. (transfer full) */
char *topo_text_quote(const struct topo_text *text, guint index);

#endif
