/* fuzz_scenario.c - scenario files: any bytes; every value that is accepted is written back exactly. */
#include "fuzz.h"
#include "scenarios/groups.h"
#include "scenarios/scenario.h"

#include <string.h>

/* In a folder that is not there: includes find the catalogue alone. */
#define PATH "/nonexistent/fuzz.ini"

static void check_value(const struct param_group *group, const struct param_desc *row, const struct param_bag *from,
                        struct param_bag *to)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *text = param_format(row, param_bag_get(from, group->name));
    bool ok = param_bag_set(to, group->name, row->key, text, PARAM_BY_FILE, "again", &err);
    FUZZ_REQUIRE_TEXT(ok, err->message);
    g_autofree char *again = param_format(row, param_bag_get(to, group->name));
    FUZZ_REQUIRE_TEXT(strcmp(text, again) == 0, text);
}

static void check_round_trip(const struct param_bag *bag)
{
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    struct param_bag *copy = param_bag_new(groups, n);
    for (int g = 0; g < n; g++)
        for (int r = 0; r < groups[g]->n_rows; r++)
            check_value(groups[g], &groups[g]->rows[r], bag, copy);
    GError *err = NULL, *err_copy = NULL;
    bool ok = param_bag_check(bag, &err);
    FUZZ_REQUIRE(ok == param_bag_check(copy, &err_copy));
    if (!ok) {
        fuzz_take_error(&err, NULL);
        fuzz_take_error(&err_copy, NULL);
    }
    param_bag_free(copy);
}

/* Each line as a --set, too. */
static void check_sets(const char *data, size_t n_bytes)
{
    struct scenario *scenario = scenario_new_default();
    g_autofree char *text = g_strndup(data, n_bytes);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        GError *err = NULL;
        if (!scenario_set(scenario, *line, &err))
            fuzz_take_error(&err, "--set: ");
    }
    check_round_trip(scenario->bag);
    scenario_free(scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    GError *err = NULL;
    const char *text = (const char *)data;
    struct scenario *scenario = scenario_parse(PATH, text, n_bytes, &err);
    if (scenario)
        check_round_trip(scenario->bag);
    else
        fuzz_take_error(&err, PATH ":");
    scenario_free(scenario);
    check_sets(text, n_bytes);
    return 0;
}
