/* catalogue.h - ready-made scenario fragments: switch and NIC models, reference fabrics.
 *
 * An entry is an .ini file; its name is its path below a catalogue folder without
 * ".ini" ("nic/connectx-7"). Folders are searched in this order: $FABRICAST_CATALOGUE,
 * the source tree's topologies/catalogue, the installed data. The first hit wins.
 */
#ifndef FABRICAST_SCENARIOS_CATALOGUE_H
#define FABRICAST_SCENARIOS_CATALOGUE_H

#include <glib.h>

struct catalogue_entry {
    char *name;
    char *path;
    char *title; /* text of the first comment line, "" if there is none */
};

/* All entries (struct catalogue_entry *), sorted by name; a name that several folders hold is
 * listed once. An unreadable folder counts as empty. (transfer full, with free function) */
GPtrArray *catalogue_list(void);

/* The file that NAME means in an include of a file in BASE_DIR: below BASE_DIR or in the
 * catalogue, with or without ".ini"; an absolute NAME means itself. NULL if there is none. (transfer full) */
char *catalogue_find(const char *name, const char *base_dir);

/* For the error message when nothing is found: nearest entry and where it was looked for. (transfer full) */
char *catalogue_hint(const char *name, const char *base_dir);

#endif
