/* test_survey.c - a survey sees what a run would be made of, and tells what a run refuses. */
#include "models/survey.h"
#include "tests/models/net_fixture.h"

#include <string.h>

#define G100 (100 * UNIT_GBPS)
#define CABLE (500 * UNIT_NS)

/* Two switches with two hosts each. */
static void build(struct net_fixture *f, const char *const *settings)
{
    net_fixture_init(f);
    net_fixture_two_switches(f, 2, 2, G100, 4 * G100, CABLE);
    net_fixture_set_all(f, settings);
    net_fixture_message(f, 0, 2, 4096);
}

static struct survey *survey_of(struct net_fixture *f)
{
    g_autoptr(GError) err = NULL;
    struct survey *survey = survey_new(&f->graph, &f->config, &err);
    if (!survey)
        fail_msg("%s", err->message);
    return survey;
}

static void test_survey__profiles_and_pools_are_those_of_a_run(void **state)
{
    (void)state;
    static const char *const settings[][4] = {{NULL},
                                              {"buffer.cell=254B", "pfc.lossless_classes=3,4", NULL},
                                              {"buffer.headroom_pool=1MB", "buffer.slices=4", NULL},
                                              {"buffer.headroom_rule=fixed", "buffer.headroom=7KB", "ecn.enabled=false", NULL}};
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
        struct net_fixture f;
        g_autoptr(GError) err = NULL;
        build(&f, settings[i]);
        if (!net_fixture_new(&f, &err))
            fail_msg("%s", err->message);
        struct survey *survey = survey_of(&f);
        for (uint32_t p = 0; p < f.graph.n_ports; p++) {
            const struct port_profile *run = f.net->port[f.net->port_of_graph[p]].profile;
            assert_memory_equal(survey_profile(survey, p), run, sizeof *run);
            assert_null(survey_problem(survey, p));
        }
        for (uint32_t n = 4; n < 6; n++) {
            struct switch_buffer b = survey_buffer(survey, n);
            assert_true(b.fits);
            assert_null(survey_buffer_refusal(survey, n));
            assert_int_equal((int64_t)b.shared_bytes / b.slices, f.net->vertex[f.net->vertex_of_graph[n]].pool[POOL_INGRESS].total);
            assert_int_equal(b.n_groups, 3 * __builtin_popcount(survey_profile(survey, f.graph.nodes[n].first_port)->lossless_pgs));
        }
        survey_free(survey);
        net_fixture_release(&f);
    }
    survey_free(NULL);
}

/* 2 x (500 + 120) + 500 + 600 ns at 12.5 B/ns = 29,250 B; three frames, one pause: the figures of test_buffer.c. */
static void test_survey__headroom_terms_add_up(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    build(&f, (const char *const[]){NULL});
    assert_non_null(net_fixture_new(&f, &err));
    struct survey *survey = survey_of(&f);
    struct buffer_headroom_parts parts;
    survey_headroom(survey, net_fixture_port(&f, 4, 0), &parts);
    assert_int_equal(parts.flight_bytes, 29250 + 1);
    assert_int_equal(parts.frame_bytes, 4194);
    assert_int_equal(parts.wire_bytes, 29251 + 3 * 4194 + 84);
    assert_int_equal(parts.total_bytes, parts.wire_bytes);
    assert_int_equal(parts.total_bytes, survey_profile(survey, net_fixture_port(&f, 4, 0))->headroom_needed);
    assert_int_equal(survey_frame_bytes(survey), 4174);
    survey_free(survey);
    net_fixture_release(&f);
}

static void test_survey__what_a_run_refuses_is_a_problem_of_its_ports(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    build(&f, (const char *const[]){"ecn.kmin=100Gbps:1KB", NULL});
    assert_null(net_fixture_new(&f, &err));
    struct survey *survey = survey_of(&f);
    assert_string_equal(survey_problem(survey, net_fixture_port(&f, 4, 5)), err->message);
    assert_null(survey_problem(survey, net_fixture_port(&f, 4, 0)));
    assert_null(survey_problem(survey, net_fixture_port(&f, 0, 4)));
    survey_free(survey);
    net_fixture_release(&f);
}

static void test_survey__a_buffer_too_small_is_told_as_a_run_tells_it(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    build(&f, (const char *const[]){"buffer.size=20KB", NULL});
    assert_null(net_fixture_new(&f, &err));
    struct survey *survey = survey_of(&f);
    g_autofree char *refusal = survey_buffer_refusal(survey, 4);
    assert_string_equal(refusal, err->message);
    assert_false(survey_buffer(survey, 4).fits);
    survey_free(survey);
    net_fixture_release(&f);
}

static void test_survey__codes_are_the_markings_of_nics(void **state)
{
    (void)state;
    struct net_fixture f;
    g_autoptr(GError) err = NULL;
    build(&f, (const char *const[]){"nic.class_dscp=0 8 16 26 32 40 48 56", NULL});
    assert_non_null(net_fixture_new(&f, &err));
    struct survey *survey = survey_of(&f);
    uint32_t code = survey_code(survey, net_fixture_port(&f, 0, 4), 3);
    assert_int_equal(survey_dscp(survey, code), 26);
    assert_int_equal(survey_pcp(survey, code), 3);
    survey_free(survey);
    net_fixture_release(&f);
}

/* Ceil(254 / 64) = 4; 2 x 96 / 97 rounded up = 2. */
static void test_survey__small_frames_in_cells(void **state)
{
    (void)state;
    assert_true(buffer_small_frame_ratio(1) == 1);
    assert_true(buffer_small_frame_ratio(254) == 4);
    assert_true(buffer_small_frame_ratio(256) == 4);
    assert_true(buffer_small_frame_ratio(208) == 4);
    assert_true(buffer_small_frame_ratio(144) == 3);
    assert_true(buffer_small_frame_ratio(96) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_survey__profiles_and_pools_are_those_of_a_run),
        cmocka_unit_test(test_survey__headroom_terms_add_up),
        cmocka_unit_test(test_survey__what_a_run_refuses_is_a_problem_of_its_ports),
        cmocka_unit_test(test_survey__a_buffer_too_small_is_told_as_a_run_tells_it),
        cmocka_unit_test(test_survey__codes_are_the_markings_of_nics),
        cmocka_unit_test(test_survey__small_frames_in_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
