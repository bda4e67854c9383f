/* scenario.h - a scenario file read into parameters.
 *
 * Format: see ini.h. Sections are the parameter groups (scenarios/groups.h) and
 * [scenario] with name, description and include. [group:selector] sets values for a part of the fabric
 * (scenarios/site.h), [fault:NAME] makes an item of a list (sim/params.h, "layers"). "include = nic/connectx-7, fabric.ini"
 * (before the first section or in [scenario], any number of times) sets the values of other
 * files first; this file's own values override them, whatever the order of lines. An include is searched
 * next to the including file, then in the catalogue (scenarios/catalogue.h).
 *
 * Messages open with file:line. Errors: SCENARIO_ERROR (ini.h) for the file itself,
 * PARAM_ERROR (sim/params.h) for names and values.
 */
#ifndef FABRICAST_SCENARIOS_SCENARIO_H
#define FABRICAST_SCENARIOS_SCENARIO_H

#include "scenarios/ini.h"
#include "sim/params.h"
#include <glib.h>
#include <stdbool.h>

#define SCENARIO_MAX_INCLUDE_DEPTH 8
#define SCENARIO_MAX_INCLUDES      256 /* files read for one scenario */

struct scenario {
    char *path;        /* as given; "(defaults)" without a file */
    char *base_dir;    /* folder against which file names in values are resolved */
    char *text;        /* the whole file with its comments, to be stored with results */
    char *name;        /* [scenario] name, else the file's name without ".ini" */
    char *description; /* [scenario] description, "" if there is none */
    struct param_bag *bag;
};

/* Reads PATH and what it includes. Does not run cross-checks: --set may still follow; call
 * scenario_check() when all is set. (transfer full); NULL with ERR set. */
struct scenario *scenario_load(const char *path, GError **err);

/* The same for N_BYTES of any DATA; PATH is its name in messages and the place for relative includes. */
struct scenario *scenario_parse(const char *path, const char *data, gsize n_bytes, GError **err);

/* All parameters at their defaults. (transfer full) */
struct scenario *scenario_new_default(void);

/* Command line: ASSIGNMENT is "group.key=value" or "group:selector.key=value". */
bool scenario_set(struct scenario *scenario, const char *assignment, GError **err);

/* Runs the cross-checks of all groups. */
bool scenario_check(const struct scenario *scenario, GError **err);

/* A message in ERR that opens with "group.key:" gets the place where that key was set in front. */
void scenario_prefix_origin(const struct scenario *scenario, GError **err);

void scenario_free(struct scenario *scenario); /* accepts NULL */

#endif
