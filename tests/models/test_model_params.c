/* test_model_params.c - the parameter tables of the models: every row in order, lists of classes and weights, and the
 * rules between parameters. */
#include "models/model_params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const struct param_group *const groups[] = {&link_param_group, &switch_param_group, &buffer_param_group,
                                                   &pfc_param_group,  &ecn_param_group,    &nic_param_group,
                                                   &dcqcn_param_group, &node_param_group};

static void test_model_params__rows_are_documented_and_unique(void **state)
{
    (void)state;
    for (gsize g = 0; g < G_N_ELEMENTS(groups); g++) {
        g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
        assert_true(groups[g]->doc[0] != '\0');
        for (int i = 0; i < groups[g]->n_rows; i++) {
            const struct param_desc *row = &groups[g]->rows[i];
            assert_true(g_hash_table_add(keys, (gpointer)row->key));
            assert_true(row->source[0] != '\0');
            assert_true(g_str_has_suffix(row->doc, "."));
            assert_true(row->offset < groups[g]->struct_size);
            assert_int_equal(row->type == PARAM_ENUM, row->choices[0] != '\0');
        }
    }
}

/* Default, minimum and maximum of each row, as text, are accepted by the parser; the defaults fit together. */
static void test_model_params__limits_are_accepted(void **state)
{
    (void)state;
    for (gsize g = 0; g < G_N_ELEMENTS(groups); g++)
        for (int i = 0; i < groups[g]->n_rows; i++) {
            const struct param_desc *row = &groups[g]->rows[i];
            char *texts[] = {param_format_default(row), row->type == PARAM_TEXT ? NULL : param_format_min(row),
                             row->type == PARAM_TEXT ? NULL : param_format_max(row)};
            for (int k = 0; k < 3; k++) {
                g_autoptr(GError) err = NULL;
                struct param_bag *bag = param_bag_new(groups, G_N_ELEMENTS(groups));
                if (texts[k] && texts[k][0] &&
                    !param_bag_set(bag, groups[g]->name, row->key, texts[k], PARAM_BY_FILE, "f:1", &err))
                    fail_msg("%s", err->message);
                param_bag_free(bag);
                g_free(texts[k]);
            }
        }
    g_autoptr(GError) err = NULL;
    struct param_bag *bag = param_bag_new(groups, G_N_ELEMENTS(groups));
    assert_true(param_bag_check(bag, &err));
    param_bag_free(bag);
}

static void assert_classes(const char *text, int want)
{
    g_autoptr(GError) err = NULL;
    uint8_t mask = 0;
    bool ok = model_parse_classes(text, &mask, &err);
    assert_int_equal(ok, want >= 0);
    assert_int_equal(ok, err == NULL);
    if (ok)
        assert_int_equal(mask, want);
}

static void test_model_params__lists_of_classes(void **state)
{
    (void)state;
    assert_classes("3", 0x08);
    assert_classes("0,7", 0x81);
    assert_classes(" 3 , 4 ", 0x18);
    assert_classes("0,1,2,3,4,5,6,7", 0xff);
    assert_classes("none", 0);
    static const char *const bad[] = {"", "8", "-1", "3,", "3;4", "3 4", "33", "a", "none,3", ",", "3.0"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        assert_classes(bad[i], -1);
}

static void assert_weights(const char *text, bool want)
{
    g_autoptr(GError) err = NULL;
    uint32_t w[8];
    assert_int_equal(model_parse_weights(text, w, &err), want);
    assert_int_equal(err == NULL, want);
}

static void test_model_params__lists_of_weights(void **state)
{
    (void)state;
    uint32_t w[8];
    assert_true(model_parse_weights("1, 2,3,4,5,6,7,10000", w, NULL));
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(w[i], i + 1);
    assert_int_equal(w[7], 10000);
    static const char *const bad[] = {"", "1", "1,1,1,1,1,1,1", "1,1,1,1,1,1,1,1,1", "0,1,1,1,1,1,1,1",
                                      "1,1,1,1,1,1,1,10001", "1,1,1,x,1,1,1,1", "1,1,1,,1,1,1,1", "-1,1,1,1,1,1,1,1"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        assert_weights(bad[i], false);
}

/* Assignments of one group; true when its rules accept them. KEY (if not NULL) must be named otherwise. */
static void assert_rules(const char *const *assignments, bool want, const char *key)
{
    g_autoptr(GError) err = NULL;
    struct param_bag *bag = param_bag_new(groups, G_N_ELEMENTS(groups));
    for (; *assignments; assignments++)
        if (!param_bag_set_assignment(bag, *assignments, PARAM_BY_FILE, "x.ini:7", &err))
            fail_msg("%s", err->message);
    assert_int_equal(param_bag_check(bag, &err), want);
    if (!want) {
        assert_true(g_str_has_prefix(err->message, "x.ini:7"));
        assert_non_null(strstr(err->message, key));
    }
    param_bag_free(bag);
}
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_model_params__rules_between_parameters(void **state)
{
    (void)state;
    assert_rules(LIST("ecn.kmin=1600KB", "ecn.kmax=400KB"), false, "kmin"); /* cases.md 11 a */
    assert_rules(LIST("ecn.kmin=400KB", "ecn.kmax=400KB"), true, NULL);     /* b: a legal step */
    assert_rules(LIST("ecn.kmin=100Gbps:2MB", "ecn.kmax=25Gbps:1MB 100Gbps:1MB"), false, "kmin");
    assert_rules(LIST("ecn.kmin=100Gbps:1MB", "ecn.kmax=25Gbps:1KB 100Gbps:1MB"), true, NULL);
    assert_rules(LIST("ecn.classes=9"), false, "classes");
    assert_rules(LIST("switch.strict_classes=8"), false, "strict_classes");
    assert_rules(LIST("switch.dwrr_weights=1,2"), false, "dwrr_weights");
    assert_rules(LIST("pfc.lossless_classes=x"), false, "lossless_classes");
    assert_rules(LIST("dcqcn.rpg_max_rate=1Gbps", "dcqcn.rpg_min_rate=2Gbps"), false, "rpg_min_rate");
    assert_rules(LIST("dcqcn.rpg_max_rate=2Gbps", "dcqcn.rpg_min_rate=2Gbps"), true, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_params__rows_are_documented_and_unique),
        cmocka_unit_test(test_model_params__limits_are_accepted),
        cmocka_unit_test(test_model_params__lists_of_classes),
        cmocka_unit_test(test_model_params__lists_of_weights),
        cmocka_unit_test(test_model_params__rules_between_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
