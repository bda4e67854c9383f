/* sonic_fixture.h - what the tests of SONiC imports share: small configurations and what becomes of them.
 *
 * JSON is written with ' for ".
 */
#ifndef FABRICAST_TESTS_SONIC_FIXTURE_H
#define FABRICAST_TESTS_SONIC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "scenarios/scenario.h"
#include "scenarios/sonic.h"
#include <string.h>

#define LOOKUP_NAME "lookup.ini"
#define PORTS_NAME "ports.csv"

/* Two pools, one profile of each kind; Spectrum-like: no shared headroom pool. */
#define SONIC_POOLS \
    "'BUFFER_POOL':{'ingress_lossless_pool':{'type':'ingress','mode':'dynamic','size':'3302912'}," \
    "'egress_lossless_pool':{'type':'egress','mode':'dynamic','size':'13945824'}," \
    "'egress_lossy_pool':{'type':'egress','mode':'dynamic','size':'3302912'}}"
#define SONIC_PROFILES \
    "'BUFFER_PROFILE':{'pg_a':{'pool':'ingress_lossless_pool','size':'50176','xon':'19456','xoff':'30720','dynamic_th':'-3'}," \
    "'pg_b':{'pool':'[BUFFER_POOL|ingress_lossless_pool]','size':'1664','xon':'4608','xon_offset':'2288','xoff':'160000','static_th':'1000000'}," \
    "'in_lossy':{'pool':'ingress_lossless_pool','size':'0','dynamic_th':'3'}," \
    "'out_lossless':{'pool':'egress_lossless_pool','size':'0','static_th':'13945824'}," \
    "'out_lossy':{'pool':'egress_lossy_pool','size':'1518','dynamic_th':'3'}}"

static inline struct sonic_bytes sonic_bytes_of(const char *text)
{
    return (struct sonic_bytes){(const uint8_t *)text, text ? strlen(text) : 0};
}

static inline bool sonic_try_all(const char *json, const char *lookup, const char *ports, const struct sonic_options *options,
                                 struct sonic_overlay *out, GError **err)
{
    g_autofree char *text = g_strdelimit(g_strdup(json), "'", '"');
    struct sonic_options all = options ? *options : (struct sonic_options){0};
    struct sonic_bytes data = sonic_bytes_of(text), table = sonic_bytes_of(lookup), map = sonic_bytes_of(ports);
    all.pg_lookup_path = lookup ? LOOKUP_NAME : NULL;
    all.ports_path = ports ? PORTS_NAME : NULL;
    return sonic_import_bytes("db.json", &data, lookup ? &table : NULL, ports ? &map : NULL, &all, out, err);
}

static inline struct sonic_overlay sonic_of_all(const char *json, const char *lookup, const char *ports, const struct sonic_options *options)
{
    g_autoptr(GError) err = NULL;
    struct sonic_overlay overlay;
    if (!sonic_try_all(json, lookup, ports, options, &overlay, &err))
        fail_msg("%s", err->message);
    return overlay;
}

static inline struct sonic_overlay sonic_of(const char *json)
{
    return sonic_of_all(json, NULL, NULL, NULL);
}

/* JSON is refused with exactly MESSAGE. */
static inline void sonic_refuses(const char *json, const char *message)
{
    g_autoptr(GError) err = NULL;
    struct sonic_overlay overlay;
    if (sonic_try_all(json, NULL, NULL, NULL, &overlay, &err))
        fail_msg("read: %s", json);
    assert_string_equal(err->message, message);
}

/* The overlay is a file that scenarios can include, and SECTION ("buffer:leaf0#3") of it sets KEY to VALUE; NULL: not at all. */
static inline void sonic_has(const struct sonic_overlay *overlay, const char *section, const char *key, const char *value)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(GPtrArray) entries = ini_scan("overlay.ini", overlay->text, strlen(overlay->text), &err);
    struct scenario *scenario = scenario_parse("overlay.ini", overlay->text, strlen(overlay->text), &err);
    const char *found = NULL;
    if (!scenario || !scenario_check(scenario, &err))
        fail_msg("%s\n%s", err->message, overlay->text);
    scenario_free(scenario);
    for (guint i = 0; i < entries->len; i++) {
        const struct ini_entry *entry = g_ptr_array_index(entries, i);
        if (entry->key && strcmp(entry->group, section) == 0 && strcmp(entry->key, key) == 0)
            found = entry->value;
    }
    if (g_strcmp0(found, value) != 0)
        fail_msg("[%s] %s = %s, expected %s in\n%s", section, key, found ? found : "(not set)", value ? value : "(not set)", overlay->text);
}

/* How many warnings hold PART. */
static inline guint sonic_warns(const struct sonic_overlay *overlay, const char *part)
{
    guint n = 0;
    for (guint i = 0; i < overlay->warnings->len; i++)
        n += strstr(g_ptr_array_index(overlay->warnings, i), part) != NULL;
    return n;
}

#endif
