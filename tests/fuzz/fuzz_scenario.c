/* fuzz_scenario.c - scenario files: any bytes; every value that is accepted is written back exactly. */
#include "fuzz.h"
#include "scenarios/groups.h"
#include "scenarios/scenario.h"

#include <string.h>

/* In a folder that is not there: includes find the catalogue alone. */
#define PATH "/nonexistent/fuzz.ini"

/* FROM_VALUES and TO_VALUES: of SECTION ("group" or "group:layer") in both bags; TO_VALUES is read after the value is set. */
static void check_value(const char *section, const struct param_desc *row, const void *from_values, struct param_bag *to,
                        const void *to_values)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *text = param_format(row, from_values);
    bool ok = param_bag_set(to, section, row->key, text, PARAM_BY_FILE, "again", &err);
    FUZZ_REQUIRE_TEXT(ok, err->message);
    g_autofree char *again = param_format(row, to_values);
    FUZZ_REQUIRE_TEXT(strcmp(text, again) == 0, text);
}

static void check_layer(const struct param_bag *from, const struct param_group *group, int layer, struct param_bag *to)
{
    GError *err = NULL;
    const char *name = param_bag_layer_name(from, group->name, layer);
    g_autofree char *section = g_strdup_printf("%s:%s", group->name, name);
    bool ok = param_bag_add_layer(to, group->name, name, "again", &err);
    FUZZ_REQUIRE_TEXT(ok, err->message);
    FUZZ_REQUIRE(param_bag_n_layers(to, group->name) == layer + 1);
    for (int r = 0; r < group->n_rows; r++)
        if (param_bag_layer_key_origin(from, group->name, layer, group->rows[r].key))
            check_value(section, &group->rows[r], param_bag_item(from, group->name, layer), to, param_bag_item(to, group->name, layer));
}

/* All layers at once, and each alone. */
static void check_resolving(struct param_bag *bag, const struct param_group *group)
{
    if (group->scope != PARAM_SCOPE_SITE)
        return;
    for (int i = -1; i < param_bag_n_layers(bag, group->name); i++) {
        uint64_t mask = i < 0 ? UINT64_MAX : UINT64_C(1) << i;
        GError *err = NULL;
        const void *values = param_bag_resolve(bag, group->name, mask, &err);
        if (values)
            FUZZ_REQUIRE(param_bag_resolve(bag, group->name, mask, NULL) == values);
        else
            fuzz_take_error(&err, NULL);
    }
}

static void check_round_trip(struct param_bag *bag)
{
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    struct param_bag *copy = param_bag_new(groups, n);
    for (int g = 0; g < n; g++) {
        const char *name = groups[g]->name;
        for (int r = 0; groups[g]->scope != PARAM_SCOPE_LIST && r < groups[g]->n_rows; r++)
            check_value(name, &groups[g]->rows[r], param_bag_get(bag, name), copy, param_bag_get(copy, name));
        for (int i = 0; i < param_bag_n_layers(bag, name); i++)
            check_layer(bag, groups[g], i, copy);
        check_resolving(bag, groups[g]);
    }
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
