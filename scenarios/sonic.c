/* sonic.c - a SONiC configuration to an overlay: reads, resolves, writes; and says what was left out, and why. */
#include "scenarios/sonic_priv.h"

#include "sim/message.h"
#include <string.h>

#define MAX_LISTED 4 /* rows named in a warning */

/* ---- notes ------------------------------------------------------------------------- */

void sonic_warn(struct sonic *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(s->n_warned, text));
    g_hash_table_insert(s->n_warned, g_strdup(text), GUINT_TO_POINTER(n + 1));
    if (n == 0)
        g_ptr_array_add(s->warnings, text);
    else
        g_free(text);
}

void sonic_fact(struct sonic *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(s->facts, g_strdup_vprintf(format, args));
    va_end(args);
}

/* ---- what nobody asked for ------------------------------------------------------------ */

static const struct { const char *table, *field /* NULL: any */, *why; } reasons[] = {
    {"PORT", "mtu", "frames are as large as nic.mtu makes them"},
    {"PORT", NULL, "says nothing about buffers and queues"},
    {"DEVICE_METADATA", NULL, "says nothing about buffers and queues"},
    {"DEVICE_NEIGHBOR", NULL, "the fabric of the scenario says what faces what"},
    {"BUFFER_POOL", "percentage", "the switch computes the size from it; the scenario's stays"},
    {"BUFFER_PROFILE", "headroom_type", "xoff of the profile or the lookup table is taken"},
    {"BUFFER_PROFILE", "packet_discard_action", "frames beyond a limit are dropped, not trimmed"},
    {"SCHEDULER", NULL, "queues have no rate limits in the model"},
    {"BUFFER_PG", NULL, "only the profile counts"},
    {"BUFFER_QUEUE", NULL, "only the profile counts"},
    {"PORT_QOS_MAP", "scheduler", "ports have no rate limits in the model"},
    {"PORT_QOS_MAP", NULL, "no such map in the model"},
    {"PFC_WD", "BIG_RED_SWITCH", "big_red_switch mode is not modelled"},
    {"PFC_WD", NULL, "only counts; changes nothing"},
};

static const char *reason(const char *table, const char *field)
{
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++)
        if (strcmp(reasons[i].table, table) == 0 && (!reasons[i].field || g_ascii_strcasecmp(reasons[i].field, field) == 0))
            return reasons[i].why;
    return "nothing in the model does this";
}

/* Unused fields of one name in TABLE, from row FIRST on. */
static void report_field(struct sonic *s, const struct sonic_table *table, guint first, const char *field)
{
    g_autoptr(GString) keys = g_string_new(NULL);
    guint n = 0;
    for (guint i = first; i < table->rows->len; i++) {
        const struct sonic_row *row = sonic_row_at(table, i);
        for (guint f = 0; f < row->fields->len; f++) {
            struct sonic_field *one = &g_array_index(row->fields, struct sonic_field, f);
            if (one->used || strcmp(one->name, field) != 0)
                continue;
            one->used = true;
            if (n++ < MAX_LISTED)
                g_string_append_printf(keys, "%s%s", n > 1 ? ", " : "", row->key);
        }
    }
    g_autofree char *more = n > MAX_LISTED ? g_strdup_printf(" and %u more", n - MAX_LISTED) : g_strdup("");
    sonic_warn(s, "%s: %s: ignored in %s%s: %s", table->name, field, keys->str, more, reason(table->name, field));
}

/* Tables whose rows count where another row names them. */
static bool is_named(const char *table)
{
    static const char *const named[] = {"BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE", "SCHEDULER", "MAP_PFC_PRIORITY_TO_QUEUE"};
    for (size_t i = 0; i < G_N_ELEMENTS(named); i++)
        if (strcmp(named[i], table) == 0)
            return true;
    return g_str_has_suffix(table, "_MAP") && strcmp(table, "PORT_QOS_MAP") != 0;
}

static void report_row(struct sonic *s, const struct sonic_table *table, guint at)
{
    const struct sonic_row *row = sonic_row_at(table, at);
    if (is_named(table->name) && !row->is_referred) {
        sonic_warn(s, "%s|%s: ignored: nothing refers to it", table->name, row->key);
        return;
    }
    for (guint f = 0; f < row->fields->len; f++) {
        const struct sonic_field *field = &g_array_index(row->fields, struct sonic_field, f);
        if (!field->used)
            report_field(s, table, at, field->name);
    }
}

static void report_unused(struct sonic *s)
{
    if (s->n_remote > 0)
        sonic_warn(s, "%u rows of other line cards' ports: ignored: virtual output queues are not modelled", s->n_remote);
    for (guint t = 0; t < s->db->tables->len; t++) {
        const struct sonic_table *table = g_ptr_array_index(s->db->tables, t);
        if (!table->is_read)
            sonic_warn(s, "%s: ignored (%u rows): nothing in the models is set by this table", table->name, table->n_rows);
        for (guint i = 0; i < table->rows->len; i++)
            report_row(s, table, i);
    }
}

/* ---- text ------------------------------------------------------------------------------ */

/* No line breaks or control characters of the input get into the overlay. */
static void append_comments(GString *text, const char *title, const GPtrArray *lines)
{
    if (lines->len > 0)
        g_string_append_printf(text, "#\n# %s:\n", title);
    for (guint i = 0; i < lines->len; i++) {
        g_autofree char *valid = g_utf8_make_valid(g_ptr_array_index(lines, i), -1);
        for (char *c = valid; *c; c++)
            if (g_ascii_iscntrl(*c))
                *c = '?';
        g_string_append_printf(text, "#   %.2000s\n", valid);
    }
}

/* Adds how often a warning was met. */
static GPtrArray *counted_warnings(const struct sonic *s)
{
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < s->warnings->len; i++) {
        const char *text = g_ptr_array_index(s->warnings, i);
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(s->n_warned, text));
        g_ptr_array_add(warnings, n > 1 ? g_strdup_printf("%s (%u times)", text, n) : g_strdup(text));
    }
    return warnings;
}

bool sonic_is_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (g_ascii_iscntrl(*c) || strchr(SONIC_NO_NAME, *c))
            return false;
    return *name && strlen(name) <= SONIC_MAX_NAME && g_utf8_validate(name, -1, NULL);
}

static bool is_node(const char *name)
{
    return sonic_is_name(name) && !strchr(name, ':');
}

static const struct sonic_row *device_row(const struct sonic *s)
{
    return sonic_row_of(sonic_table(s->db, "DEVICE_METADATA"), "localhost");
}

static char *node_name(const struct sonic *s, GError **err)
{
    const struct sonic_row *device = device_row(s);
    const char *host = device ? sonic_text(device, "hostname") : NULL;
    const char *name = s->options.node ? s->options.node : host && *host ? host : "*";
    g_autofree char *quoted = message_quote(name);
    if (is_node(name))
        return g_strdup(name);
    if (s->options.node)
        g_set_error(err, SONIC_ERROR, SONIC_ERROR_INPUT, "--node: %s; allowed: a name or pattern of up to 100 bytes without blanks and without , / # @ = > : [ ]", quoted);
    else
        sonic_fail(device, "hostname", err, "%s; allowed: a name of up to 100 bytes without blanks and without , / # @ = > : [ ], or say --node", quoted);
    return NULL;
}

static void link_clear(void *data)
{
    struct sonic_link *link = data;
    g_free(link->port);
    g_free(link->peer);
}

static GArray *links_of(const struct sonic *s)
{
    GArray *links = g_array_new(FALSE, TRUE, sizeof(struct sonic_link));
    g_array_set_clear_func(links, link_clear);
    for (guint i = 0; i < s->ports->len; i++) {
        const struct sonic_port *port = sonic_port(s, i);
        struct sonic_link link = {.port = g_strdup(port->name), .rate_bps = port->rate_bps, .cable_mm = port->cable_mm};
        if (port->peer)
            link.peer = g_strndup(port->peer, strcspn(port->peer, ":"));
        g_array_append_val(links, link);
    }
    return links;
}

static bool write_overlay(struct sonic *s, struct sonic_overlay *out, GError **err)
{
    g_autoptr(GString) sections = g_string_new(NULL), text = g_string_new(NULL);
    g_autofree char *node = node_name(s, err), *source = message_quote(s->db->name);
    if (!node || !sonic_emit(s, node, sections, err))
        return false;
    report_unused(s);
    g_string_printf(text, "# Overlay by fabricast import sonic from %s, for %s%s.\n"
                          "# Not in SONiC's configuration: buffer.cell, cell_overhead, slices, switch.latency; include a switch of the catalogue first.\n",
                    source, strcmp(node, "*") == 0 ? "all switches" : "switch ", strcmp(node, "*") == 0 ? "" : node);
    if (strcmp(node, "*") == 0)
        g_string_append(text, "# [qos], [pfc] and [pfcwd] without a selector hold for NICs, too: sections such as [pfc:gpu*] behind them change that.\n");
    out->warnings = counted_warnings(s);
    append_comments(text, "Read", s->facts);
    append_comments(text, "Warnings", out->warnings);
    g_string_append(text, sections->str);
    const struct sonic_row *device = device_row(s);
    out->hostname = g_strdup(device ? sonic_text(device, "hostname") : NULL);
    out->links = links_of(s);
    out->text = g_strdup(text->str);
    out->node = g_steal_pointer(&node);
    return true;
}

/* ---- public ---------------------------------------------------------------------------- */

static void begin(struct sonic *s, const struct sonic_options *options)
{
    *s = (struct sonic){.ports = g_ptr_array_new(), .columns = g_ptr_array_new(), .facts = g_ptr_array_new_with_free_func(g_free)};
    if (options)
        s->options = *options;
    s->port_of = g_hash_table_new(g_str_hash, g_str_equal);
    s->column_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s->warnings = g_ptr_array_new_with_free_func(g_free);
    s->n_warned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void end(struct sonic *s)
{
    for (guint i = 0; i < s->columns->len; i++)
        sonic_column_free(g_ptr_array_index(s->columns, i), s->ports->len);
    for (guint i = 0; i < s->ports->len; i++) {
        g_free(sonic_port(s, i)->name);
        g_free(sonic_port(s, i)->peer);
        g_free(sonic_port(s, i));
    }
    g_hash_table_unref(s->port_of);
    g_hash_table_unref(s->column_of);
    g_hash_table_unref(s->n_warned);
    g_ptr_array_unref(s->ports);
    g_ptr_array_unref(s->columns);
    g_ptr_array_unref(s->facts);
    g_ptr_array_unref(s->warnings);
    g_clear_pointer(&s->lookup, g_ptr_array_unref);
    g_free(s->prefix);
    sonic_db_free(s->db);
}

static bool read_lookup(struct sonic *s, const struct sonic_bytes *lookup, GError **err)
{
    if (!lookup)
        return true;
    g_autofree char *name = g_filename_display_name(s->options.pg_lookup_path);
    s->lookup = sonic_pg_lookup_parse(name, lookup->data, lookup->n_bytes, err);
    if (s->lookup)
        sonic_pg_lookup_describe(s);
    return s->lookup != NULL;
}

bool sonic_import_bytes(const char *name, const struct sonic_bytes *data, const struct sonic_bytes *pg_lookup, const struct sonic_bytes *ports,
                        const struct sonic_options *options, struct sonic_overlay *out, GError **err)
{
    struct sonic s;
    *out = (struct sonic_overlay){0};
    begin(&s, options);
    s.db = sonic_db_parse(name, data->data, data->n_bytes, err);
    bool ok = s.db && read_lookup(&s, pg_lookup, err) && sonic_read_ports(&s, ports, err) && sonic_read_qos(&s, err) &&
              sonic_read_queues(&s, err) && sonic_read_buffer(&s, err) && write_overlay(&s, out, err);
    end(&s);
    return ok;
}

/* PATH NULL: nothing to read. */
static bool load(const char *path, struct sonic_bytes *bytes, GError **err)
{
    g_autoptr(GError) cause = NULL;
    char *data = NULL;
    gsize n = 0;
    if (!path || g_file_get_contents(path, &data, &n, &cause)) {
        *bytes = (struct sonic_bytes){(const uint8_t *)data, n};
        return true;
    }
    g_autofree char *shown = g_filename_display_name(path);
    g_set_error(err, SONIC_ERROR, SONIC_ERROR_INPUT, "%s: cannot read the file: %s", shown, cause->message);
    return false;
}

bool sonic_import(const char *path, const struct sonic_options *options, struct sonic_overlay *out, GError **err)
{
    static const struct sonic_options defaults = {0};
    struct sonic_bytes data = {0}, lookup = {0}, ports = {0};
    g_autofree char *shown = g_filename_display_name(path);
    if (!options)
        options = &defaults;
    *out = (struct sonic_overlay){0};
    bool ok = load(path, &data, err) && load(options->pg_lookup_path, &lookup, err) && load(options->ports_path, &ports, err) &&
              sonic_import_bytes(shown, &data, options->pg_lookup_path ? &lookup : NULL, options->ports_path ? &ports : NULL, options, out, err);
    g_free((void *)data.data);
    g_free((void *)lookup.data);
    g_free((void *)ports.data);
    return ok;
}

void sonic_overlay_release(struct sonic_overlay *overlay)
{
    g_free(overlay->text);
    g_free(overlay->node);
    g_free(overlay->hostname);
    g_clear_pointer(&overlay->links, g_array_unref);
    g_clear_pointer(&overlay->warnings, g_ptr_array_unref);
    *overlay = (struct sonic_overlay){0};
}
