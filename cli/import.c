/* import.c - fabricast import sonic CONFIG_DB.json [-o OVERLAY.ini]: settings of real switches as text to be included.
 *
 * Warnings stand in the overlay and go to standard error, too.
 */
#include "cli/cli.h"

#include "scenarios/sonic.h"
#include "sim/message.h"
#include <stdio.h>
#include <string.h>

struct arguments {
    char *out, *node, *ports, *pg_lookup, *colour, *headroom;
    char **rest;
};

static const char *const colours[] = {"green", "yellow", "red"};
static const char *const headrooms[] = {"auto", "inside", "beside"};

static int misuse(const char *message)
{
    fprintf(stderr, "fabricast import: %s\n", message);
    return CLI_BAD_INPUT;
}

/* The index of WORD in three NAMES, 0 for NULL; -1 after a message. */
static int choose(const char *option, const char *word, const char *const names[3])
{
    for (int i = 0; i < 3; i++)
        if (!word || strcmp(word, names[i]) == 0)
            return i;
    g_autofree char *quoted = message_quote(word), *allowed = message_allowed(word, names, 3);
    fprintf(stderr, "fabricast import: --%s: %s is unknown%s\n", option, quoted, allowed);
    return -1;
}

static bool write_out(const struct arguments *a, const struct sonic_overlay *overlay, GError **err)
{
    if (a->out)
        return g_file_set_contents(a->out, overlay->text, -1, err);
    fputs(overlay->text, stdout);
    return true;
}

static int import_sonic(const struct arguments *a)
{
    int colour = choose("colour", a->colour, colours), headroom = choose("headroom", a->headroom, headrooms);
    if (colour < 0 || headroom < 0)
        return CLI_BAD_INPUT;
    const struct sonic_options options = {.node = a->node, .ports_path = a->ports, .pg_lookup_path = a->pg_lookup,
                                          .colour = (enum sonic_colour)colour, .headroom = (enum sonic_headroom)headroom};
    struct sonic_overlay overlay;
    g_autoptr(GError) err = NULL;
    if (!sonic_import(a->rest[1], &options, &overlay, &err))
        return misuse(err->message);
    for (guint i = 0; i < overlay.warnings->len; i++)
        fprintf(stderr, "fabricast import: warning: %s\n", (const char *)g_ptr_array_index(overlay.warnings, i));
    bool ok = write_out(a, &overlay, &err);
    sonic_overlay_release(&overlay);
    return ok ? CLI_OK : misuse(err->message);
}

static int dispatch(const struct arguments *a)
{
    static const char *const formats[] = {"sonic"};
    guint n = a->rest ? g_strv_length(a->rest) : 0;
    if (n == 0)
        return misuse("what? allowed: sonic CONFIG_DB.json");
    if (strcmp(a->rest[0], "sonic") != 0) {
        g_autofree char *quoted = message_quote(a->rest[0]), *allowed = message_allowed(a->rest[0], formats, 1);
        fprintf(stderr, "fabricast import: unknown format %s%s\n", quoted, allowed);
        return CLI_BAD_INPUT;
    }
    return n == 2 ? import_sonic(a) : misuse(n < 2 ? "a file is needed; allowed: sonic CONFIG_DB.json" : "too many words; allowed: sonic CONFIG_DB.json");
}

int cli_import(int argc, char **argv)
{
    struct arguments a = {0};
    const GOptionEntry entries[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &a.out, "Write the overlay here instead of to standard output", "OVERLAY.ini"},
        {"node", 'n', 0, G_OPTION_ARG_STRING, &a.node, "Switch of the scenario, or a pattern; default: the configuration's hostname, else *, all switches", "NAME"},
        {"ports", 'p', 0, G_OPTION_ARG_FILENAME, &a.ports, "What each port faces: CSV port,peer; default: DEVICE_NEIGHBOR", "MAP.csv"},
        {"pg-lookup", 0, 0, G_OPTION_ARG_FILENAME, &a.pg_lookup, "Headroom by speed and cable, for priority groups without a profile", "pg_profile_lookup.ini"},
        {"colour", 0, 0, G_OPTION_ARG_STRING, &a.colour, "Colour of packets without a policer: green, yellow or red; depends on the ASIC", "COLOUR"},
        {"headroom", 0, 0, G_OPTION_ARG_STRING, &a.headroom, "Headroom lies inside a pool's size or beside it: auto, inside, beside", "WHERE"},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &a.rest, NULL, "sonic CONFIG_DB.json"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) err = NULL;
    g_option_context_set_summary(context, "Turns buffer, ECN, PFC and QoS tables of a SONiC switch into an overlay for scenarios\n"
                                          "(include = OVERLAY.ini). What has no counterpart in a model is named in a warning.");
    g_option_context_add_main_entries(context, entries, NULL);
    int code = g_option_context_parse(context, &argc, &argv, &err) ? dispatch(&a) : misuse(err->message);
    char *texts[] = {a.out, a.node, a.ports, a.pg_lookup, a.colour, a.headroom};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_strfreev(a.rest);
    return code;
}
