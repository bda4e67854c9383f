/* Tests over every row of every parameter table. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "scenarios/groups.h"
#include <string.h>

typedef void (*row_test)(struct param_bag *bag, const struct param_group *group,
                         const struct param_desc *row);

static void for_every_row(row_test test)
{
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    assert_true(n > 0);
    for (int g = 0; g < n; g++) {
        for (int r = 0; r < groups[g]->n_rows; r++) {
            struct param_bag *bag = param_bag_new(groups, n);
            if (groups[g]->scope == PARAM_SCOPE_LIST)
                assert_true(param_bag_add_layer(bag, groups[g]->name, "x", "t:1", NULL));
            test(bag, groups[g], &groups[g]->rows[r]);
            param_bag_free(bag);
        }
    }
}

static bool set(struct param_bag *bag, const struct param_group *group, const struct param_desc *row,
                const char *text, GError **err)
{
    g_autofree char *item = g_strdup_printf("%s:x", group->name);
    const char *section = group->scope == PARAM_SCOPE_LIST ? item : group->name;
    return param_bag_set(bag, section, row->key, text, PARAM_BY_FILE, "t:1", err);
}

/* Groups that are lists have values in their items alone. */
static const void *values_of(const struct param_bag *bag, const struct param_group *group)
{
    return group->scope == PARAM_SCOPE_LIST ? param_bag_item(bag, group->name, 0) : param_bag_get(bag, group->name);
}

static bool is_name(const char *s)
{
    return *s != '\0' && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(s);
}

static void check_words(struct param_bag *bag, const struct param_group *group, const struct param_desc *row)
{
    (void)bag;
    if (!is_name(group->name) || !is_name(row->key))
        fail_msg("[%s] %s: not a lower-case name", group->name, row->key);
    if (!g_str_has_suffix(row->doc, ".") || strlen(row->doc) < 8)
        fail_msg("%s.%s: doc is no sentence: %s", group->name, row->key, row->doc);
    if (*row->source == '\0')
        fail_msg("%s.%s: no source", group->name, row->key);
    assert_true(row->offset < group->struct_size);
    assert_true((row->type == PARAM_ENUM) == (*row->choices != '\0'));
}

static void check_default_round_trip(struct param_bag *bag, const struct param_group *group,
                                     const struct param_desc *row)
{
    g_autofree char *before = param_format(row, values_of(bag, group));
    g_autofree char *def = param_format_default(row);
    g_autoptr(GError) err = NULL;
    if (!set(bag, group, row, def, &err) || !set(bag, group, row, before, &err))
        fail_msg("%s", err->message);
    g_autofree char *after = param_format(row, values_of(bag, group));
    assert_string_equal(before, after);
}

static void check_limits_are_accepted(struct param_bag *bag, const struct param_group *group,
                                      const struct param_desc *row)
{
    char *(*const limits[])(const struct param_desc *) = {param_format_min, param_format_max};
    for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
        g_autofree char *text = limits[i](row);
        g_autoptr(GError) err = NULL;
        if (*text == '\0')
            continue;
        if (!set(bag, group, row, text, &err))
            fail_msg("%s", err->message);
        g_autofree char *back = param_format(row, values_of(bag, group));
        assert_string_equal(back, text);
    }
}

static bool has_whole_limits(const struct param_desc *row)
{
    return row->type == PARAM_TIME || row->type == PARAM_BYTES || row->type == PARAM_RATE ||
           row->type == PARAM_LENGTH || row->type == PARAM_INT || row->type == PARAM_BYTES_MAP;
}

static void assert_out_of_range(struct param_bag *bag, const struct param_group *group,
                                const struct param_desc *row, int64_t value)
{
    static const char *const units[] = {[PARAM_TIME] = "ps",   [PARAM_BYTES] = "B", [PARAM_RATE] = "bps",
                                        [PARAM_LENGTH] = "mm", [PARAM_INT] = "",    [PARAM_BYTES_MAP] = "B"};
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT "%s", value, units[row->type]);
    g_autofree char *before = param_format(row, values_of(bag, group));
    g_autoptr(GError) err = NULL;
    if (set(bag, group, row, text, &err))
        fail_msg("%s.%s: %s was accepted", group->name, row->key, text);
    assert_true(g_error_matches(err, PARAM_ERROR, PARAM_ERROR_RANGE));
    g_autofree char *after = param_format(row, values_of(bag, group));
    assert_string_equal(before, after);
}

static void check_just_outside_is_refused(struct param_bag *bag, const struct param_group *group,
                                          const struct param_desc *row)
{
    if (!has_whole_limits(row))
        return;
    assert_true(row->min_i <= row->max_i);
    if (row->min_i > INT64_MIN)
        assert_out_of_range(bag, group, row, row->min_i - 1);
    if (row->max_i < INT64_MAX)
        assert_out_of_range(bag, group, row, row->max_i + 1);
}

static void test_groups__rows_have_names_sources_and_sentences(void **state)
{
    (void)state;
    for_every_row(check_words);
}

static void test_groups__parse_of_format_is_identity_at_the_default(void **state)
{
    (void)state;
    for_every_row(check_default_round_trip);
}

static void test_groups__parse_of_format_is_identity_at_the_limits(void **state)
{
    (void)state;
    for_every_row(check_limits_are_accepted);
}

static void test_groups__values_just_outside_are_refused(void **state)
{
    (void)state;
    for_every_row(check_just_outside_is_refused);
}

static void test_groups__names_are_unique(void **state)
{
    (void)state;
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int g = 0; g < n; g++) {
        assert_true(g_hash_table_add(seen, g_strdup(groups[g]->name)));
        assert_true(g_str_has_suffix(groups[g]->doc, "."));
        for (int r = 0; r < groups[g]->n_rows; r++)
            assert_true(
                g_hash_table_add(seen, g_strdup_printf("%s.%s", groups[g]->name, groups[g]->rows[r].key)));
    }
}

static void test_groups__order_is_fixed(void **state)
{
    (void)state;
    static const char *const names[] = {"run", "topology", "routing", "link",     "switch",     "buffer", "pfc",   "ecn",
                                        "nic", "dcqcn",    "node",    "workload", "collective", "qos",    "pfcwd", "fault",
                                        "dctcp", "swift", "timely", "hpcc", "credit", "ib"};
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    assert_int_equal(n, G_N_ELEMENTS(names));
    for (int g = 0; g < n; g++)
        assert_string_equal(groups[g]->name, names[g]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups__rows_have_names_sources_and_sentences),
        cmocka_unit_test(test_groups__parse_of_format_is_identity_at_the_default),
        cmocka_unit_test(test_groups__parse_of_format_is_identity_at_the_limits),
        cmocka_unit_test(test_groups__values_just_outside_are_refused),
        cmocka_unit_test(test_groups__names_are_unique),
        cmocka_unit_test(test_groups__order_is_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
