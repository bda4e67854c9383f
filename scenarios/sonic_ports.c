/* sonic_ports.c - the ports of a SONiC switch, what they face, and what the keys of its tables name.
 *
 * A port exists if PORT has it or, in files without PORT, if a key names it. In a chassis the keys of queues begin with host
 * and ASIC, and a line card also lists the virtual output queues of other cards' ports: those are left out.
 */
#include "scenarios/sonic_priv.h"

#include "scenarios/workload_read.h"
#include "sim/message.h"
#include <string.h>

#define MAX_MBPS (INT64_C(100000000)) /* 100 Tb/s, as topology.host_rate */
#define LAST_INDEX 63                 /* of queues in SONiC: unicast and multicast */

static const char *const tables_of_indices[] = {"BUFFER_PG", "BUFFER_QUEUE", "QUEUE"};
static const char *const tables_of_ports[] = {"PORT_QOS_MAP", "PFC_WD"};

/* ---- keys ------------------------------------------------------------------------- */

/* "a|b|ports|index" in three parts; HEAD and INDEX are "" where there is none. */
struct key_parts { char *head, *ports, *index; };

static void key_parts_release(struct key_parts *parts)
{
    g_free(parts->head);
    g_free(parts->ports);
    g_free(parts->index);
}

static bool split_key(const struct sonic_row *row, bool has_index, struct key_parts *out, GError **err)
{
    g_auto(GStrv) words = g_strsplit(row->key, "|", -1);
    guint n = g_strv_length(words), n_end = has_index ? 2 : 1;
    *out = (struct key_parts){0};
    if (n != n_end && n != n_end + 2)
        return sonic_fail(row, NULL, err, "the key has %u parts; allowed: %s, before it perhaps HOST|ASIC|", n,
                          has_index ? "PORTS|3 or PORTS|3-4" : "PORTS, a list with commas");
    out->head = n == n_end ? g_strdup("") : g_strdup_printf("%s|%s", words[0], words[1]);
    out->ports = g_strdup(words[n - n_end]);
    out->index = g_strdup(has_index ? words[n - 1] : "");
    return true;
}

static bool is_port_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!g_ascii_isgraph(*c))
            return false;
    return *name != '\0' && strlen(name) <= 64;
}

/* "3" or "3-4" to a mask of 0..7; what is above is another matter. */
static bool parse_index(struct sonic *s, const struct sonic_row *row, const char *text, uint8_t *mask, GError **err)
{
    g_auto(GStrv) ends = g_strsplit(text, "-", 2);
    int64_t first = -1, last = -1;
    bool ok = ends[0] && units_parse_int(ends[0], &first, NULL);
    last = first;
    ok = ok && (!ends[1] || units_parse_int(ends[1], &last, NULL));
    g_autofree char *quoted = message_quote(text);
    if (!ok || first < 0 || last < first || last > LAST_INDEX)
        return sonic_fail(row, NULL, err, "%s is no queue or priority group; allowed: 3 or 3-4, numbers from 0 to %d", quoted, LAST_INDEX);
    if (last >= SONIC_CLASSES)
        sonic_warn(s, "%s: ignored above 7 (%s): the model has 8 classes, multicast queues are not modelled", row->table->name, text);
    *mask = 0;
    for (int64_t i = first; i <= MIN(last, SONIC_CLASSES - 1); i++)
        *mask = (uint8_t)(*mask | 1u << i);
    return true;
}

static bool is_remote(const struct sonic *s, const struct key_parts *parts)
{
    return *parts->head && g_strcmp0(parts->head, s->prefix) != 0;
}

bool sonic_key(struct sonic *s, const struct sonic_row *row, GArray *ports, uint8_t *mask, GError **err)
{
    struct key_parts parts;
    g_array_set_size(ports, 0);
    if (!split_key(row, mask != NULL, &parts, err))
        return false;
    bool ok = !mask || parse_index(s, row, parts.index, mask, err);
    g_auto(GStrv) names = g_strsplit(parts.ports, ",", -1);
    for (char **name = names; ok && !is_remote(s, &parts) && *name; name++) {
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(s->port_of, g_strstrip(*name)));
        g_autofree char *quoted = message_quote(*name);
        if (at-- > 0)
            g_array_append_val(ports, at);
        else
            ok = sonic_fail(row, NULL, err, "no port %s; allowed: the ports of table PORT", quoted);
    }
    if (ok && is_remote(s, &parts)) {
        s->n_remote++;
        for (guint i = 0; i < row->fields->len; i++)
            g_array_index(row->fields, struct sonic_field, i).used = true;
    }
    key_parts_release(&parts);
    return ok;
}

/* ---- which ports there are --------------------------------------------------------- */

static void add_port(struct sonic *s, const char *name)
{
    if (g_hash_table_contains(s->port_of, name))
        return;
    struct sonic_port *port = g_new0(struct sonic_port, 1);
    port->name = g_strdup(name);
    port->cable_mm = -1;
    g_ptr_array_add(s->ports, port);
    g_hash_table_insert(s->port_of, port->name, GUINT_TO_POINTER(s->ports->len));
}

static bool add_named_ports(struct sonic *s, const char *name, bool has_index, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, name);
    for (guint i = 0; i < sonic_n_rows(table); i++) {
        const struct sonic_row *row = sonic_row_at(table, i);
        struct key_parts parts;
        if (strcmp(row->key, "global") == 0 || strcmp(row->key, "GLOBAL") == 0)
            continue;
        if (!split_key(row, has_index, &parts, err))
            return false;
        g_auto(GStrv) names = g_strsplit(is_remote(s, &parts) ? "" : parts.ports, ",", -1);
        key_parts_release(&parts);
        for (char **port = names; *port; port++) {
            if (!is_port_name(g_strstrip(*port)))
                return sonic_fail(row, NULL, err, "a port's name is empty, too long or has blanks; allowed: PORT,PORT");
            add_port(s, *port);
        }
    }
    return true;
}

static bool read_port(struct sonic *s, const struct sonic_row *row, GError **err)
{
    int64_t mbps = 0;
    if (!is_port_name(row->key))
        return sonic_fail(row, NULL, err, "no name of a port; allowed: up to 64 letters and digits");
    add_port(s, row->key);
    if (g_strcmp0(sonic_text(row, "pfc_asym"), "on") == 0)
        sonic_warn(s, "PORT|%s|pfc_asym: ignored: asymmetric PFC is not modelled, the port sends and obeys pauses of the same classes", row->key);
    if (!sonic_int(row, "speed", 1, MAX_MBPS, &mbps, NULL, err))
        return false;
    sonic_port(s, s->ports->len - 1)->rate_bps = mbps * UNIT_MBPS;
    return true;
}

static bool find_ports(struct sonic *s, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, "PORT");
    for (guint i = 0; i < sonic_n_rows(table); i++)
        if (!read_port(s, sonic_row_at(table, i), err))
            return false;
    if (s->ports->len > 0)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(tables_of_indices); i++)
        if (!add_named_ports(s, tables_of_indices[i], true, err))
            return false;
    for (size_t i = 0; i < G_N_ELEMENTS(tables_of_ports); i++)
        if (!add_named_ports(s, tables_of_ports[i], false, err))
            return false;
    sonic_fact(s, "no table PORT: %u ports are those that keys name, their speeds are not known", s->ports->len);
    return true;
}

/* ---- chassis ------------------------------------------------------------------------- */

static bool has_scheduler(const struct sonic_row *row)
{
    for (guint i = 0; i < row->fields->len; i++)
        if (strcmp(g_array_index(row->fields, struct sonic_field, i).name, "scheduler") == 0)
            return true;
    return false;
}

/* Only queues of own ports have schedulers: those of other cards' ports are virtual output queues. */
static bool find_prefix(struct sonic *s, GError **err)
{
    const struct sonic_row *device = sonic_row_of(sonic_table(s->db, "DEVICE_METADATA"), "localhost");
    const char *host = device ? sonic_text(device, "hostname") : NULL, *asic = device ? sonic_text(device, "asic_name") : NULL;
    g_autofree char *own = host && asic ? g_strdup_printf("%s|%s", host, asic) : NULL;
    g_autofree char *first = NULL, *scheduled = NULL;
    for (size_t t = 0; t < G_N_ELEMENTS(tables_of_indices); t++) {
        const struct sonic_table *table = sonic_table(s->db, tables_of_indices[t]);
        for (guint i = 0; i < sonic_n_rows(table); i++) {
            struct key_parts parts;
            if (!split_key(sonic_row_at(table, i), true, &parts, err))
                return false;
            if (*parts.head && !first)
                first = g_strdup(parts.head);
            if (*parts.head && !scheduled && has_scheduler(sonic_row_at(table, i)))
                scheduled = g_strdup(parts.head);
            key_parts_release(&parts);
        }
    }
    if (!first)
        return true;
    s->prefix = own ? g_steal_pointer(&own) : scheduled ? g_steal_pointer(&scheduled) : g_steal_pointer(&first);
    sonic_fact(s, "a chassis: the ports of %s (%s) are imported", s->prefix,
               host && asic ? "DEVICE_METADATA hostname and asic_name" : "the first whose queues have a scheduler");
    return true;
}

/* ---- cables --------------------------------------------------------------------------- */

struct cables {
    GString *lengths, *unknown; /* blank-separated, for notes */
    guint n_known, n_unknown;
};

#define MAX_LISTED 60 /* characters of such a list */

static bool read_cable(struct sonic *s, const struct sonic_row *row, const char *name, struct cables *cables, GError **err)
{
    const char *text = sonic_text(row, name);
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(s->port_of, name));
    int64_t mm = 0;
    g_autofree char *quoted = message_quote(text);
    if (!units_parse_length(text, &mm, NULL) || mm < 0 || mm > 800 * UNIT_KM)
        return sonic_fail(row, name, err, "%s; allowed: a length such as \"40m\", up to 800 km", quoted);
    g_autofree char *length = units_format_length(mm);
    GString *list = at > 0 ? cables->lengths : cables->unknown;
    g_autofree char *item = g_strdup_printf(" %s ", at > 0 ? length : list->len < MAX_LISTED ? name : "...");
    if (!strstr(list->str, item))
        g_string_append(list, list->len ? item + 1 : item);
    cables->n_known += at > 0;
    cables->n_unknown += at == 0;
    if (at > 0)
        sonic_port(s, at - 1)->cable_mm = mm;
    return true;
}

static bool read_cables(struct sonic *s, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, "CABLE_LENGTH");
    g_autoptr(GString) lengths = g_string_new(NULL), unknown = g_string_new(NULL);
    struct cables cables = {.lengths = lengths, .unknown = unknown};
    for (guint r = 0; r < sonic_n_rows(table); r++) {
        const struct sonic_row *row = sonic_row_at(table, r);
        for (guint i = 0; i < row->fields->len; i++) {
            const char *name = g_array_index(row->fields, struct sonic_field, i).name;
            if (strcmp(name, "NULL") != 0 && !read_cable(s, row, name, &cables, err))
                return false;
        }
    }
    if (cables.n_known > 0)
        sonic_fact(s, "CABLE_LENGTH: %u ports:%s- used to look up headroom. The delay of links is the fabric's: set topology.host_cable, "
                   "leaf_cable and spine_cable, or the file of links", cables.n_known, lengths->str);
    if (cables.n_unknown > 0)
        sonic_warn(s, "CABLE_LENGTH: ignored for %u ports that no other table names:%s", cables.n_unknown, g_strchomp(unknown->str));
    return true;
}

/* ---- peers ------------------------------------------------------------------------------ */

static bool set_peer(struct sonic *s, const char *port, const char *peer)
{
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(s->port_of, port));
    if (at == 0)
        return false;
    g_free(sonic_port(s, at - 1)->peer);
    sonic_port(s, at - 1)->peer = g_strdup(peer);
    return true;
}

/* Parallel links to one neighbour get numbers in port order, as site.h counts them. */
static void number_parallel_links(struct sonic *s)
{
    g_autoptr(GHashTable) n_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int pass = 0; pass < 2; pass++) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < s->ports->len; i++) {
            struct sonic_port *port = sonic_port(s, i);
            if (!port->peer)
                continue;
            guint n = GPOINTER_TO_UINT(g_hash_table_lookup(seen, port->peer));
            guint total = GPOINTER_TO_UINT(g_hash_table_lookup(n_of, port->peer));
            g_hash_table_insert(seen, g_strdup(port->peer), GUINT_TO_POINTER(n + 1));
            if (pass == 0) {
                g_hash_table_insert(n_of, g_strdup(port->peer), GUINT_TO_POINTER(n + 1));
            } else if (total > 1) {
                g_autofree char *bare = port->peer;
                port->peer = g_strdup_printf("%s:%u", bare, n);
            }
        }
    }
}

static bool read_neighbours(struct sonic *s, GError **err)
{
    const struct sonic_table *table = sonic_table(s->db, "DEVICE_NEIGHBOR");
    guint n = 0;
    for (guint i = 0; i < sonic_n_rows(table); i++) {
        const struct sonic_row *row = sonic_row_at(table, i);
        const char *peer = sonic_text(row, "name");
        if (s->options.ports_path || !peer)
            continue;
        g_autofree char *quoted = message_quote(peer);
        if (!sonic_is_name(peer))
            return sonic_fail(row, "name", err, "%s; allowed: a name of up to 100 bytes without blanks and without , / # @ = > [ ]", quoted);
        n += set_peer(s, row->key, peer);
        if (!g_hash_table_contains(s->port_of, row->key))
            sonic_warn(s, "DEVICE_NEIGHBOR|%s: ignored: no other table names the port", row->key);
    }
    number_parallel_links(s);
    if (n > 0)
        sonic_fact(s, "DEVICE_NEIGHBOR: %u ports have a peer; its name must be that of the scenario where settings differ by port", n);
    return true;
}

static bool read_map(struct sonic *s, const struct sonic_bytes *map, GError **err)
{
    g_autofree char *name = g_filename_display_name(s->options.ports_path);
    struct read_lines lines;
    bool is_header = true;
    guint n = 0;
    if (!read_lines_begin(&lines, name, map->data, map->n_bytes, err))
        return false;
    for (char *next; (next = read_lines_next(&lines)); is_header = false) {
        g_autofree char *line = next, *quoted = read_quote(line);
        g_auto(GStrv) words = g_strsplit(line, ",", -1);
        if (g_strv_length(words) != 2)
            return read_fail(&lines.at, err, "%s; allowed: PORT,PEER", quoted);
        const char *port = g_strstrip(words[0]), *peer = g_strstrip(words[1]);
        if (is_header && (strcmp(port, "port") || strcmp(peer, "peer")))
            return read_fail(&lines.at, err, "%s; allowed: the header port,peer", quoted);
        if (is_header)
            continue;
        if (!sonic_is_name(peer))
            return read_fail(&lines.at, err, "%s; allowed: a peer's name, with :INDEX for one of parallel links", quoted);
        if (!set_peer(s, port, peer))
            return read_fail(&lines.at, err, "%s; allowed: ports that the configuration names", quoted);
        n++;
    }
    if (is_header)
        return read_fail(&(struct read_place){name, 1, NULL}, err, "the file is empty; allowed: the header port,peer and rows");
    sonic_fact(s, "%s: %u ports have a peer", name, n);
    return true;
}

bool sonic_read_ports(struct sonic *s, const struct sonic_bytes *map, GError **err)
{
    return find_prefix(s, err) && find_ports(s, err) && read_cables(s, err) && read_neighbours(s, err) && (!map || read_map(s, map, err));
}
