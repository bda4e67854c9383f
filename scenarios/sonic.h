/* sonic.h - the buffer, ECN, PFC and QoS settings of a SONiC switch as an overlay: the text of an .ini file to be included.
 *
 * Reads config_db.json, or the partial buffers.json and qos.json that SONiC's templates give: the tables PORT, CABLE_LENGTH,
 * DEVICE_METADATA, DEVICE_NEIGHBOR, BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE, DEFAULT_LOSSLESS_BUFFER_PARAMETER,
 * WRED_PROFILE, QUEUE, SCHEDULER, PORT_QOS_MAP, the six maps and PFC_WD; and pg_profile_lookup.ini for priority groups whose
 * profile the switch would look up itself. What each becomes is in docs/FORMATS.md. Values that most ports share hold for the
 * switch, others for a rate or for the ports that face a peer. What has no counterpart in a model is a warning, never dropped.
 */
#ifndef FABRICAST_SCENARIOS_SONIC_H
#define FABRICAST_SCENARIOS_SONIC_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SONIC_ERROR (sonic_error_quark())
typedef enum { SONIC_ERROR_INPUT } sonic_error; /* "FILE: TABLE|key|field: what is wrong, what is allowed" */
GQuark sonic_error_quark(void);

/* The colour that an ASIC gives to packets that no policer has coloured: whose WRED thresholds and enable key count. */
enum sonic_colour { SONIC_GREEN, SONIC_YELLOW, SONIC_RED, SONIC_N_COLOURS };
/* Where an ingress pool's headroom lies: within its size, or beside it. AUTO: beside, if all of it fits the largest egress pool. */
enum sonic_headroom { SONIC_HEADROOM_AUTO, SONIC_HEADROOM_INSIDE, SONIC_HEADROOM_BESIDE };

struct sonic_options {
    const char *node;           /* name of the switch in the scenario, or a selector such as "leaf*"; NULL: DEVICE_METADATA's
                                   hostname; "*", or no hostname either: all switches */
    const char *ports_path;     /* CSV port,peer: what each port faces; NULL: DEVICE_NEIGHBOR */
    const char *pg_lookup_path; /* pg_profile_lookup.ini; NULL: none */
    enum sonic_colour colour;
    enum sonic_headroom headroom;
};

/* A port of the switch, as far as the file tells. */
struct sonic_link {
    char *port, *peer;  /* peer: NULL, not known; parallel links to one peer have one name here */
    int64_t rate_bps;   /* 0: not known */
    int64_t cable_mm;   /* -1: not known */
};

struct sonic_overlay {
    char *text;          /* begins with comments: where from, what was read, and WARNINGS */
    char *node;          /* for which switch; "*": all */
    char *hostname;      /* of DEVICE_METADATA; NULL: none */
    GArray *links;       /* struct sonic_link, in port order */
    GPtrArray *warnings; /* char *: what was ignored, and what may not be as meant */
};

/* PATH with OPTIONS (NULL: all defaults) to OUT, which holds nothing on failure. False with ERR set (SONIC_ERROR, or
 * WORKLOAD_ERROR "FILE:line: ..." of the files that OPTIONS name). Free with sonic_overlay_release(). */
bool sonic_import(const char *path, const struct sonic_options *options, struct sonic_overlay *out, GError **err);
/* The same of DATA (any bytes) and of PG_LOOKUP and PORTS (NULL: none), whose paths in OPTIONS are only names in messages. */
struct sonic_bytes { const uint8_t *data; size_t n_bytes; };
bool sonic_import_bytes(const char *name, const struct sonic_bytes *data, const struct sonic_bytes *pg_lookup, const struct sonic_bytes *ports,
                        const struct sonic_options *options, struct sonic_overlay *out, GError **err);
void sonic_overlay_release(struct sonic_overlay *overlay);

#endif
