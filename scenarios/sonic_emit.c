/* sonic_emit.c - settings of ports and classes as sections of an .ini file, as few as will do.
 *
 * A column is a key (of a class): a value a port. One value for all holds for the switch. Else, where speed decides: a list by
 * rate if the key takes one, or sections for NODE@RATE. Else the commonest value holds for the switch and the rest for
 * NODE/PEER. Equal values of several classes, and keys of one place, share a section.
 */
#include "scenarios/sonic_priv.h"

#include "scenarios/groups.h"
#include "sim/message.h"
#include "sim/params.h"
#include "sim/units.h"
#include <string.h>

struct column {
    const char *group, *key;
    int class;
    char *node_value;
    char **values; /* a port; NULL: not set */
};

/* A value of a key at a place. */
struct atom {
    const char *group, *key;
    char *place;     /* what stands behind the node: "", "@400Gbps", "/spine0" of a list with commas */
    uint8_t classes; /* 0: all */
    int rank;        /* the switch, rates, peers */
    char *value;
    bool is_done;
};

static void atom_free(void *data)
{
    struct atom *atom = data;
    g_free(atom->place);
    g_free(atom->value);
    g_free(atom);
}

/* ---- columns ------------------------------------------------------------------------ */

void sonic_column_free(void *data, guint n_ports)
{
    struct column *column = data;
    for (guint p = 0; p < n_ports; p++)
        g_free(column->values[p]);
    g_free(column->values);
    g_free(column->node_value);
    g_free(column);
}

static struct column *column_of(struct sonic *s, const char *group, const char *key, int class)
{
    g_autofree char *name = g_strdup_printf("%s.%s#%d", group, key, class);
    struct column *column = g_hash_table_lookup(s->column_of, name);
    if (column)
        return column;
    column = g_new0(struct column, 1);
    column->group = group;
    column->key = key;
    column->class = class;
    column->values = g_new0(char *, MAX((gsize)s->ports->len, 1));
    g_ptr_array_add(s->columns, column);
    g_hash_table_insert(s->column_of, g_steal_pointer(&name), column);
    return column;
}

void sonic_set(struct sonic *s, const char *group, const char *key, guint port, int class, const char *format, ...)
{
    struct column *column = column_of(s, group, key, class);
    char **slot = port == SONIC_NODE ? &column->node_value : &column->values[port];
    va_list args;
    va_start(args, format);
    g_free(*slot);
    *slot = g_strdup_vprintf(format, args);
    va_end(args);
}

void sonic_set_bytes(struct sonic *s, const char *group, const char *key, guint port, int class, int64_t bytes)
{
    sonic_set(s, group, key, port, class, "%" G_GINT64_FORMAT "B", bytes);
}

char *sonic_class_list(uint8_t mask)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int c = 0; c < SONIC_CLASSES; c++)
        if (mask >> c & 1)
            g_string_append_printf(text, "%s%d", text->len ? "," : "", c);
    return g_strdup(mask ? text->str : "none");
}

/* ---- one column to atoms ---------------------------------------------------------------- */

static void add_atom(GPtrArray *atoms, const struct column *column, int rank, const char *place, const char *value)
{
    struct atom *atom = g_new0(struct atom, 1);
    atom->group = column->group;
    atom->key = column->key;
    atom->rank = rank;
    atom->place = g_strdup(place);
    atom->value = g_strdup(value);
    atom->classes = (uint8_t)(column->class < 0 ? 0u : 1u << column->class);
    g_ptr_array_add(atoms, atom);
}

/* Distinct values in port order. (transfer container) */
static GPtrArray *distinct_values(const struct sonic *s, const struct column *column)
{
    GPtrArray *found = g_ptr_array_new();
    for (guint p = 0; p < s->ports->len; p++)
        if (column->values[p] && !g_ptr_array_find_with_equal_func(found, column->values[p], g_str_equal, NULL))
            g_ptr_array_add(found, column->values[p]);
    return found;
}

/* Does speed decide? Fills RATES (int64_t, distinct) and VALUES (borrowed). */
static bool by_rate(const struct sonic *s, const struct column *column, GArray *rates, GPtrArray *values)
{
    for (guint p = 0; p < s->ports->len; p++) {
        int64_t rate = sonic_port(s, p)->rate_bps;
        guint i = 0;
        if (!column->values[p])
            continue;
        while (i < rates->len && g_array_index(rates, int64_t, i) != rate)
            i++;
        if (rate == 0 || (i < rates->len && strcmp(g_ptr_array_index(values, i), column->values[p]) != 0))
            return false;
        if (i < rates->len)
            continue;
        g_array_append_val(rates, rate);
        g_ptr_array_add(values, column->values[p]);
    }
    return true;
}

static bool takes_map(const struct column *column)
{
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    for (int g = 0; g < n; g++)
        for (int r = 0; strcmp(groups[g]->name, column->group) == 0 && r < groups[g]->n_rows; r++)
            if (strcmp(groups[g]->rows[r].key, column->key) == 0)
                return groups[g]->rows[r].type == PARAM_BYTES_MAP || groups[g]->rows[r].type == PARAM_REAL_MAP;
    return false;
}

static void add_by_rate(GPtrArray *atoms, const struct column *column, const GArray *rates, const GPtrArray *values)
{
    bool is_map = takes_map(column) && rates->len <= PARAM_MAP_MAX;
    g_autoptr(GString) map = g_string_new(NULL);
    for (guint i = 0; i < rates->len; i++) {
        g_autofree char *rate = units_format_rate(g_array_index(rates, int64_t, i)), *place = g_strconcat("@", rate, NULL);
        g_string_append_printf(map, "%s%s:%s", i ? " " : "", rate, (const char *)g_ptr_array_index(values, i));
        if (!is_map)
            add_atom(atoms, column, 1, place, g_ptr_array_index(values, i));
    }
    if (is_map)
        add_atom(atoms, column, 0, "", map->str);
}

static guint count_value(const struct sonic *s, const struct column *column, const char *value)
{
    guint n = 0;
    for (guint p = 0; p < s->ports->len; p++)
        n += column->values[p] && strcmp(column->values[p], value) == 0;
    return n;
}

static void add_by_peer(struct sonic *s, GPtrArray *atoms, const struct column *column, const GPtrArray *values)
{
    const char *common = g_ptr_array_index(values, 0);
    for (guint i = 1; i < values->len; i++)
        if (count_value(s, column, g_ptr_array_index(values, i)) > count_value(s, column, common))
            common = g_ptr_array_index(values, i);
    add_atom(atoms, column, 0, "", common);
    for (guint i = 0; i < values->len; i++) {
        const char *value = g_ptr_array_index(values, i);
        g_autoptr(GString) places = g_string_new(NULL);
        for (guint p = 0; value != common && p < s->ports->len; p++) {
            const struct sonic_port *port = sonic_port(s, p);
            if (!column->values[p] || strcmp(column->values[p], value) != 0)
                continue;
            if (port->peer)
                g_string_append_printf(places, "%s/%s", places->len ? "," : "", port->peer);
            else
                sonic_warn(s, "%s.%s = %s of %s: ignored: other ports have %s, and what the port faces is not known; say --ports MAP.csv", column->group,
                           column->key, value, port->name, common);
        }
        if (places->len > 0)
            add_atom(atoms, column, 2, places->str, value);
    }
}

static void add_column(struct sonic *s, GPtrArray *atoms, const struct column *column)
{
    g_autoptr(GPtrArray) values = distinct_values(s, column), by = g_ptr_array_new();
    g_autoptr(GArray) rates = g_array_new(FALSE, FALSE, sizeof(int64_t));
    if (column->node_value)
        add_atom(atoms, column, 0, "", column->node_value);
    else if (values->len == 1)
        add_atom(atoms, column, 0, "", g_ptr_array_index(values, 0));
    else if (values->len > 1 && by_rate(s, column, rates, by))
        add_by_rate(atoms, column, rates, by);
    else if (values->len > 1)
        add_by_peer(s, atoms, column, values);
}

/* ---- sections ----------------------------------------------------------------------------- */

/* One value of a key at one place for several classes: one atom. */
static void merge_classes(GPtrArray *atoms)
{
    for (guint i = 0; i < atoms->len; i++) {
        struct atom *a = g_ptr_array_index(atoms, i);
        for (guint j = i + 1; a->classes && j < atoms->len;) {
            const struct atom *b = g_ptr_array_index(atoms, j);
            bool same = b->classes && b->rank == a->rank && strcmp(a->group, b->group) == 0 && strcmp(a->key, b->key) == 0 &&
                        strcmp(a->place, b->place) == 0 && strcmp(a->value, b->value) == 0;
            a->classes = (uint8_t)(a->classes | (same ? b->classes : 0));
            if (same)
                g_ptr_array_remove_index(atoms, j);
            else
                j++;
        }
        a->classes = a->classes == 0xff ? 0 : a->classes;
    }
}

/* "#3-4" at each place: NODE#0-2,NODE#5. */
static void append_selector(GString *text, const char *node, const struct atom *atom)
{
    g_auto(GStrv) places = g_strsplit(*atom->place ? atom->place : " ", ",", -1);
    uint8_t left = atom->classes;
    bool any = false;
    do {
        int first = 0, last;
        while (left && !(left >> first & 1))
            first++;
        for (last = first; left && last + 1 < SONIC_CLASSES && (left >> (last + 1) & 1);)
            last++;
        for (char **place = places; *place; place++) {
            g_string_append_printf(text, "%s%s%s", any ? "," : "", node, g_strstrip(*place));
            any = true;
            if (left)
                g_string_append_printf(text, last > first ? "#%d-%d" : "#%d", first, last);
        }
        left = (uint8_t)(left & ~((0xffu << first) & (0xffu >> (7 - last))));
    } while (left);
}

static bool same_section(const struct atom *a, const struct atom *b)
{
    return !b->is_done && a->rank == b->rank && a->classes == b->classes && strcmp(a->group, b->group) == 0 && strcmp(a->place, b->place) == 0;
}

static void append_section(GPtrArray *atoms, guint first, const char *node, GString *text)
{
    const struct atom *head = g_ptr_array_index(atoms, first);
    bool everywhere = *head->place == '\0' && head->classes == 0 && strcmp(node, "*") == 0;
    g_string_append_printf(text, "\n[%s%s", head->group, everywhere ? "" : ":");
    if (!everywhere)
        append_selector(text, node, head);
    g_string_append(text, "]\n");
    for (guint i = first; i < atoms->len; i++) {
        struct atom *atom = g_ptr_array_index(atoms, i);
        if (!same_section(head, atom))
            continue;
        g_string_append_printf(text, "%s = %s\n", atom->key, atom->value);
        atom->is_done = true;
    }
}

/* The switch before its classes, then rates, then peers: later sections win. */
static int order_of(const struct atom *atom)
{
    return 2 * atom->rank + (atom->classes != 0);
}

static bool append_group(GPtrArray *atoms, const char *group, const char *node, GString *text, const char *name, GError **err)
{
    int n_layers = 0;
    for (int order = 0; order < 6; order++)
        for (guint i = 0; i < atoms->len; i++) {
            const struct atom *atom = g_ptr_array_index(atoms, i);
            if (atom->is_done || strcmp(atom->group, group) != 0 || order_of(atom) != order)
                continue;
            append_section(atoms, i, node, text);
            n_layers++;
        }
    if (n_layers <= PARAM_MAX_LAYERS)
        return true;
    g_set_error(err, SONIC_ERROR, SONIC_ERROR_INPUT, "%s: the ports differ in so many ways that group %s needs %d sections; allowed: %d", name, group, n_layers,
                PARAM_MAX_LAYERS);
    return false;
}

bool sonic_emit(struct sonic *s, const char *node, GString *text, GError **err)
{
    static const char *const groups[] = {"switch", "qos", "pfc", "pfcwd", "ecn", "buffer"};
    g_autoptr(GPtrArray) atoms = g_ptr_array_new_with_free_func(atom_free);
    bool ok = true;
    for (guint i = 0; i < s->columns->len; i++)
        add_column(s, atoms, g_ptr_array_index(s->columns, i));
    merge_classes(atoms);
    for (size_t g = 0; ok && g < G_N_ELEMENTS(groups); g++)
        ok = append_group(atoms, groups[g], node, text, s->db->name, err);
    return ok;
}
