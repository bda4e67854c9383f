/* catalogue.c - loads every catalogue entry alone and all pairs of a NIC and a switch, and runs the cross-checks.
 *
 * FABRICAST_CATALOGUE names the folder under test. Prints one line a failure; exit 1 if there is any, or nothing to
 * look at.
 */
#include "scenarios/catalogue.h"
#include "scenarios/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool loads(const char *includes)
{
    g_autofree char *text = g_strdup_printf("include = %s\n", includes);
    g_autoptr(GError) err = NULL;
    struct scenario *scenario = scenario_parse("catalogue-check.ini", text, strlen(text), &err);
    bool ok = scenario && scenario_check(scenario, &err);
    if (!ok)
        printf("%s: %s\n", includes, err->message);
    scenario_free(scenario);
    return ok;
}

/* What lies elsewhere on the search path is not under test. */
static bool is_under_test(const struct catalogue_entry *entry)
{
    return g_str_has_prefix(entry->path, g_getenv("FABRICAST_CATALOGUE"));
}

static int check_pairs(const GPtrArray *entries, const struct catalogue_entry *nic)
{
    int failures = 0;
    for (guint i = 0; i < entries->len; i++) {
        const struct catalogue_entry *entry = entries->pdata[i];
        if (!is_under_test(entry) || !g_str_has_prefix(entry->name, "switch/"))
            continue;
        g_autofree char *pair = g_strdup_printf("%s, %s", nic->name, entry->name);
        failures += !loads(pair);
    }
    return failures;
}

int main(void)
{
    g_autoptr(GPtrArray) entries = catalogue_list();
    int n = 0, failures = 0;
    for (guint i = 0; g_getenv("FABRICAST_CATALOGUE") && i < entries->len; i++) {
        const struct catalogue_entry *entry = entries->pdata[i];
        if (!is_under_test(entry))
            continue;
        n++;
        failures += !loads(entry->name);
        if (g_str_has_prefix(entry->name, "nic/"))
            failures += check_pairs(entries, entry);
    }
    printf("catalogue: %d entries, %d failures\n", n, failures);
    return n > 0 && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
