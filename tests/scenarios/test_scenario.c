/* Tests of scenarios/scenario.c: includes, overrides, origins, messages. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/model_params.h"
#include "scenarios/run_params.h"
#include "scenarios/scenario.h"
#include <string.h>

#define DATA TEST_DATA_DIR "/scenario/"

static int use_test_catalogue(void **state)
{
    (void)state;
    g_setenv("FABRICAST_CATALOGUE", DATA "catalogue", TRUE);
    return 0;
}

static struct scenario *load(const char *path)
{
    g_autoptr(GError) err = NULL;
    struct scenario *scenario = scenario_load(path, &err);
    if (!scenario)
        fail_msg("%s", err->message);
    return scenario;
}

/* Parses TEXT as the file DATA/f.ini and gives the message without that folder. (transfer full) */
static char *message_of(const char *text, GQuark domain, int code)
{
    g_autoptr(GError) err = NULL;
    assert_null(scenario_parse(DATA "f.ini", text, strlen(text), &err));
    if (!g_error_matches(err, domain, code))
        fail_msg("other error: %s", err->message);
    assert_true(g_str_has_prefix(err->message, DATA));
    return g_strdup(err->message + strlen(DATA));
}

static void assert_message(const char *text, GQuark domain, int code, const char *start)
{
    g_autofree char *message = message_of(text, domain, code);
    if (!g_str_has_prefix(message, start))
        fail_msg("message is '%s', not '%s...'", message, start);
}

static void test_scenario__own_values_override_included_ones(void **state)
{
    (void)state;
    struct scenario *s = load(DATA "incast.ini");
    const struct pfc_params *pfc = param_bag_get(s->bag, "pfc");
    const struct nic_params *nic = param_bag_get(s->bag, "nic");
    const struct run_params *run = param_bag_get(s->bag, "run");
    assert_int_equal(pfc->quanta, 1000);
    assert_int_equal(pfc->response_ps, 300 * UNIT_NS);
    assert_int_equal(nic->mtu_bytes, 2048); /* nic/fast comes after base.ini */
    assert_int_equal(run->seed, 7);
    scenario_free(s);
}

static void test_scenario__origins_are_file_and_line(void **state)
{
    (void)state;
    struct scenario *s = load(DATA "incast.ini");
    assert_string_equal(param_bag_origin(s->bag, "pfc", "quanta"), DATA "incast.ini:12");
    assert_string_equal(param_bag_origin(s->bag, "pfc", "response"), DATA "base.ini:7");
    assert_string_equal(param_bag_origin(s->bag, "nic", "mtu"), DATA "catalogue/nic/fast.ini:4");
    assert_string_equal(param_bag_origin(s->bag, "pfc", "enabled"), "default");
    assert_int_equal(param_bag_set_by(s->bag, "nic", "mtu"), PARAM_BY_FILE);
    scenario_free(s);
}

static void test_scenario__text_names_and_folder(void **state)
{
    (void)state;
    struct scenario *s = load(DATA "incast.ini");
    assert_string_equal(s->name, "incast 15:1");
    assert_string_equal(s->description, "Everything at once.");
    assert_string_equal(s->path, DATA "incast.ini");
    assert_string_equal(s->base_dir, TEST_DATA_DIR "/scenario");
    assert_true(g_str_has_prefix(s->text, "# Fifteen senders"));
    assert_true(g_str_has_suffix(s->text, "# overrides base.ini\n"));
    scenario_free(s);
    struct scenario *unnamed = load(DATA "deep/9.ini");
    assert_string_equal(unnamed->name, "9");
    assert_string_equal(unnamed->description, "");
    scenario_free(unnamed);
}

static void test_scenario__command_line_wins(void **state)
{
    (void)state;
    struct scenario *s = load(DATA "incast.ini");
    assert_true(scenario_set(s, "pfc.quanta=42", NULL));
    assert_int_equal(((const struct pfc_params *)param_bag_get(s->bag, "pfc"))->quanta, 42);
    assert_int_equal(param_bag_set_by(s->bag, "pfc", "quanta"), PARAM_BY_COMMAND_LINE);
    g_autoptr(GError) err = NULL;
    assert_false(scenario_set(s, "pfc.quanta=0", &err));
    assert_string_equal(err->message, "--set: pfc.quanta: '0' is below 1; allowed: 1 to 65535");
    scenario_free(s);
}

static void test_scenario__defaults_pass_their_checks(void **state)
{
    (void)state;
    struct scenario *s = scenario_new_default();
    g_autoptr(GError) err = NULL;
    if (!scenario_check(s, &err))
        fail_msg("%s", err->message);
    assert_string_equal(s->base_dir, ".");
    scenario_free(s);
    scenario_free(NULL);
}

static void test_scenario__cross_check_comes_after_the_command_line(void **state)
{
    (void)state;
    static const char text[] = "[ecn]\nkmin = 1600KB\nkmax = 400KB\n";
    struct scenario *s = scenario_parse("f.ini", text, strlen(text), NULL);
    assert_non_null(s);
    g_autoptr(GError) err = NULL;
    assert_false(scenario_check(s, &err));
    assert_true(g_str_has_prefix(err->message, "f.ini:2: ecn.kmin: "));
    assert_true(scenario_set(s, "ecn.kmax=1.6MB", NULL));
    assert_true(scenario_check(s, NULL));
    scenario_free(s);
}

static void test_scenario__bad_values_and_names_are_named(void **state)
{
    (void)state;
    assert_message("[pfc]\nquanta = 70000\n", PARAM_ERROR, PARAM_ERROR_RANGE,
                   "f.ini:2: pfc.quanta: '70000' is above 65535; allowed: 1 to 65535");
    assert_message("[pfc]\nresponse = 5\n", PARAM_ERROR, PARAM_ERROR_SYNTAX,
                   "f.ini:2: pfc.response: '5' has no unit; allowed: ps");
    assert_message("[pfc]\nqanta = 5\n", PARAM_ERROR, PARAM_ERROR_UNKNOWN,
                   "f.ini:2: unknown key 'qanta' in [pfc]; did you mean 'quanta'? Allowed: ");
    assert_message("\n[dcqn]\n", PARAM_ERROR, PARAM_ERROR_UNKNOWN,
                   "f.ini:2: unknown group 'dcqn'; did you mean 'dcqcn'? Allowed: scenario, run, ");
    assert_message("[scenario]\nnmae = x\n", PARAM_ERROR, PARAM_ERROR_UNKNOWN,
                   "f.ini:2: unknown key 'nmae' in [scenario]; did you mean 'name'? Allowed: name, "
                   "description, include");
}

static void test_scenario__misplaced_and_double_keys_are_errors(void **state)
{
    (void)state;
    assert_message("quanta = 5\n", SCENARIO_ERROR, SCENARIO_ERROR_SYNTAX,
                   "f.ini:1: 'quanta' stands before the first [group]");
    assert_message("[pfc]\nquanta = 5\n[ecn]\n[pfc]\nquanta = 5\n", SCENARIO_ERROR, SCENARIO_ERROR_SYNTAX,
                   "f.ini:5: 'pfc.quanta' is set before at line 2; allowed: once in a file");
    assert_message("[scenario]\nname = a\nname = b\n", SCENARIO_ERROR, SCENARIO_ERROR_SYNTAX,
                   "f.ini:3: 'scenario.name' is set before");
    assert_message("[pfc]\ninclude = base.ini\n", PARAM_ERROR, PARAM_ERROR_UNKNOWN,
                   "f.ini:2: unknown key 'include' in [pfc]");
}

static struct scenario *parse(const char *text)
{
    g_autoptr(GError) err = NULL;
    struct scenario *s = scenario_parse(DATA "f.ini", text, strlen(text), &err);
    if (!s)
        fail_msg("%s", err->message);
    return s;
}

static void test_scenario__sections_with_a_colon_are_layers_and_items(void **state)
{
    (void)state;
    struct scenario *s = parse("[pfc:leaf0/spine1]\nenabled = no\n[pfc]\nenabled = yes\n[buffer:leaf*#3-4] # comment\n[fault:flap]\nkind = link_down\n");
    assert_string_equal(param_bag_layer_name(s->bag, "pfc", 0), "leaf0/spine1");
    assert_string_equal(param_bag_layer_origin(s->bag, "pfc", 0), DATA "f.ini:1");
    assert_string_equal(param_bag_layer_key_origin(s->bag, "pfc", 0, "enabled"), DATA "f.ini:2");
    assert_string_equal(param_bag_layer_name(s->bag, "buffer", 0), "leaf*#3-4"); /* without a key, too */
    assert_true(scenario_set(s, "pfc:leaf0/spine1.quanta=7", NULL));
    assert_string_equal(param_bag_layer_key_origin(s->bag, "pfc", 0, "quanta"), "--set");
    assert_true(scenario_set(s, "fault:flap.start=1ms", NULL));
    assert_int_equal(((const struct fault_params *)param_bag_item(s->bag, "fault", 0))->start_ps, UNIT_MS);
    scenario_free(s);
}

static void test_scenario__sections_with_a_colon_that_cannot_be_are_named(void **state)
{
    (void)state;
    assert_message("[pcf:leaf1]\n", PARAM_ERROR, PARAM_ERROR_UNKNOWN, "f.ini:1: unknown group 'pcf'; did you mean 'pfc'?");
    assert_message("\n[pfc:]\n", PARAM_ERROR, PARAM_ERROR_SYNTAX, "f.ini:2: [pfc:]: nothing stands after the colon");
    assert_message("[dcqcn:gpu-node0]\n", PARAM_ERROR, PARAM_ERROR_UNKNOWN, "f.ini:1: [dcqcn:gpu-node0]: [dcqcn] holds for the whole run");
    assert_message("[fault]\nkind = link_down\n", PARAM_ERROR, PARAM_ERROR_SYNTAX, "f.ini:1: [fault] needs a name; allowed: [fault:NAME]");
    assert_message("[pfc:leaf1]\nquanta = 0\n", PARAM_ERROR, PARAM_ERROR_RANGE, "f.ini:2: [pfc:leaf1]: quanta: ");
    assert_message("[pfc:leaf1]\nquanta = 1\n[pfc: leaf1 ]\nquanta = 1\n", SCENARIO_ERROR, SCENARIO_ERROR_SYNTAX,
                   "f.ini:4: 'pfc:leaf1.quanta' is set before at line 2");
}

static void test_scenario__broken_includes_are_named(void **state)
{
    (void)state;
    assert_message("\ninclude = nic/fats\n", SCENARIO_ERROR, SCENARIO_ERROR_INCLUDE,
                   "f.ini:2: include: 'nic/fats' is no file and no catalogue entry; did you mean 'nic/fast'? "
                   "looked in: " TEST_DATA_DIR "/scenario, ");
    assert_message("include =\n", SCENARIO_ERROR, SCENARIO_ERROR_INCLUDE, "f.ini:1: include: names no file");
    assert_message("include = base,,nic/fast\n", SCENARIO_ERROR, SCENARIO_ERROR_INCLUDE,
                   "f.ini:1: include: empty name");
    assert_message("include = deep\n", SCENARIO_ERROR, SCENARIO_ERROR_INCLUDE,
                   "f.ini:1: include: 'deep' is no file");
    assert_message("include = includes_bad\n", PARAM_ERROR, PARAM_ERROR_RANGE,
                   "bad_value.ini:3: ecn.pmax: '7' is above 1; allowed: 0 to 1 (included at " DATA
                   "includes_bad.ini:1) (included at " DATA "f.ini:1)");
}

static void test_scenario__include_cycles_are_found(void **state)
{
    (void)state;
    g_autoptr(GError) err = NULL;
    assert_null(scenario_load(DATA "cycle_a.ini", &err));
    assert_true(g_error_matches(err, SCENARIO_ERROR, SCENARIO_ERROR_INCLUDE));
    assert_true(g_str_has_prefix(err->message, DATA "cycle_b.ini:2: include: 'cycle_a.ini' includes itself"));
}

static void test_scenario__includes_nest_eight_deep(void **state)
{
    (void)state;
    struct scenario *s = load(DATA "deep/1.ini"); /* eight files below it */
    assert_int_equal(((const struct run_params *)param_bag_get(s->bag, "run"))->seed, 99);
    scenario_free(s);
    g_autoptr(GError) err = NULL;
    assert_null(scenario_load(DATA "deep/0.ini", &err));
    assert_true(g_str_has_prefix(err->message, DATA "deep/8.ini:1: include: nested deeper than 8"));
}

static void test_scenario__number_of_includes_has_a_limit(void **state)
{
    (void)state;
    GString *text = g_string_new(NULL);
    for (int i = 0; i < SCENARIO_MAX_INCLUDES; i++)
        g_string_append(text, "include = nic/fast\n");
    struct scenario *s = scenario_parse(DATA "f.ini", text->str, text->len, NULL);
    assert_non_null(s);
    scenario_free(s);
    g_string_append(text, "include = nic/fast\n");
    assert_message(text->str, SCENARIO_ERROR, SCENARIO_ERROR_INCLUDE,
                   "f.ini:257: include: more than 256 files");
    g_string_free(text, TRUE);
}

static void test_scenario__missing_file_and_folder(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA "none.ini", DATA};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        g_autoptr(GError) err = NULL;
        assert_null(scenario_load(paths[i], &err));
        assert_true(g_error_matches(err, SCENARIO_ERROR, SCENARIO_ERROR_FILE));
        assert_true(g_str_has_prefix(err->message, paths[i]));
    }
}

static void test_scenario__truncated_files_load_or_fail_cleanly(void **state)
{
    (void)state;
    struct scenario *whole = load(DATA "incast.ini");
    gsize n = strlen(whole->text);
    for (gsize cut = 0; cut <= n; cut++) {
        g_autoptr(GError) err = NULL;
        g_autofree char *part = g_strndup(whole->text, cut);
        struct scenario *s = scenario_parse(DATA "f.ini", part, cut, &err);
        assert_true((s == NULL) == (err != NULL));
        scenario_free(s);
    }
    scenario_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenario__own_values_override_included_ones),
        cmocka_unit_test(test_scenario__origins_are_file_and_line),
        cmocka_unit_test(test_scenario__text_names_and_folder),
        cmocka_unit_test(test_scenario__command_line_wins),
        cmocka_unit_test(test_scenario__defaults_pass_their_checks),
        cmocka_unit_test(test_scenario__cross_check_comes_after_the_command_line),
        cmocka_unit_test(test_scenario__bad_values_and_names_are_named),
        cmocka_unit_test(test_scenario__misplaced_and_double_keys_are_errors),
        cmocka_unit_test(test_scenario__sections_with_a_colon_are_layers_and_items),
        cmocka_unit_test(test_scenario__sections_with_a_colon_that_cannot_be_are_named),
        cmocka_unit_test(test_scenario__broken_includes_are_named),
        cmocka_unit_test(test_scenario__include_cycles_are_found),
        cmocka_unit_test(test_scenario__includes_nest_eight_deep),
        cmocka_unit_test(test_scenario__number_of_includes_has_a_limit),
        cmocka_unit_test(test_scenario__missing_file_and_folder),
        cmocka_unit_test(test_scenario__truncated_files_load_or_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, use_test_catalogue, NULL);
}
