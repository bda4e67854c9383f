/* ini.h - the lines of a scenario file: [group], key = value, # comment.
 *
 * A '#' at the start of a line or after a blank begins a comment; blanks around
 * names and values, CRLF line ends and a byte order mark are dropped. Meaning (known
 * names, duplicates, includes) is the business of scenario.c.
 */
#ifndef FABRICAST_SCENARIOS_INI_H
#define FABRICAST_SCENARIOS_INI_H

#include <glib.h>

#define INI_MAX_LINE 65536 /* bytes, without the line end */

#define SCENARIO_ERROR (scenario_error_quark())
typedef enum {
    SCENARIO_ERROR_FILE,    /* cannot be read                                      */
    SCENARIO_ERROR_SYNTAX,  /* a line is none of the three forms, or a key is there twice */
    SCENARIO_ERROR_INCLUDE, /* unknown entry, cycle, too deep, too many            */
} scenario_error;
GQuark scenario_error_quark(void);

struct ini_entry {
    int line;
    char *group; /* "" before the first [group] */
    char *key;   /* NULL: the line [group] itself */
    char *value; /* NULL with KEY */
};

/* The entries (struct ini_entry *) of DATA in file order. DATA may hold any bytes. NAME is
 * the file's name in messages, "NAME:line: ...". (transfer full, with free function); NULL with ERR set. */
GPtrArray *ini_scan(const char *name, const char *data, gsize n_bytes, GError **err);

#endif
