/* test_dcqcn.c - the rate machine against hand arithmetic, for both behaviours, and the law behind ADR 0007: when it
 * is looked at changes nothing. */
#include "models/dcqcn.h"
#include "sim/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define PORT_BPS (100 * UNIT_GBPS)
#define T0 (10 * UNIT_US) /* of the first CNP */
#define CUT (4 * UNIT_US) /* rate_reduce_monitor_period */
#define STEP (300 * UNIT_US) /* rpg_time_reset */
#define KEEP (1019.0 / 1024) /* of alpha, each microsecond */

struct machine {
    struct param_bag *bag;
    void *dcqcn;
    struct cc_rate rate;
    sim_ps now_ps;
};

static void start(struct machine *m, int64_t port_bps, const char *const *settings)
{
    static const struct param_group *const groups[] = {&dcqcn_param_group};
    g_autoptr(GError) err = NULL;
    m->bag = param_bag_new(groups, 1);
    for (; *settings; settings++)
        if (!param_bag_set_assignment(m->bag, *settings, PARAM_BY_COMMAND_LINE, "test", &err))
            fail_msg("%s", err->message);
    m->dcqcn = dcqcn_ops.new_state(param_bag_get(m->bag, "dcqcn"), 1);
    const struct cc_path path = {.port_bps = port_bps};
    dcqcn_ops.start(m->dcqcn, 0, &m->rate, &path);
}
static void stop(struct machine *m)
{
    dcqcn_ops.free_state(m->dcqcn);
    param_bag_free(m->bag);
}
static void cnp(struct machine *m, sim_ps t_ps)
{
    m->now_ps = t_ps;
    dcqcn_ops.on_cnp(m->dcqcn, 0, &m->rate, t_ps);
}
static void look(struct machine *m, sim_ps t_ps)
{
    m->now_ps = t_ps;
    dcqcn_ops.advance(m->dcqcn, 0, &m->rate, t_ps);
}
/* As the NIC does it. */
static void sent(struct machine *m, uint32_t bytes, sim_ps t_ps)
{
    if (m->rate.due_ps <= t_ps)
        look(m, t_ps);
    dcqcn_ops.on_sent(m->dcqcn, 0, &m->rate, bytes, t_ps);
}
static struct cc_view view(const struct machine *m)
{
    struct cc_view v;
    dcqcn_ops.view(m->dcqcn, 0, m->now_ps, &v);
    return v;
}
static void assert_near(double have, double want)
{
    if (fabs(have - want) > 1e-9 * fabs(want))
        fail_msg("%.12g, expected %.12g", have, want);
}
static void assert_rate(const struct machine *m, double rate_bps, double target_bps)
{
    assert_near(view(m).rate_bps, rate_bps);
    assert_near(view(m).target_bps, target_bps);
}

/* Alpha when the cut clock ticks for the first time: the first CNP has set it and does not count again, so four
 * updates without one. */
static double alpha_at_first_cut(void) { return 1023.0 / 1024 * pow(KEEP, 4); }
static double first_rate(void) { return (double)PORT_BPS * (1 - alpha_at_first_cut() / 2); }
#define NO_SETTINGS ((const char *const[]){NULL})

/* ---- nvidia ------------------------------------------------------------------------ */
static void test_dcqcn__starts_at_port_speed_without_a_clock(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, NO_SETTINGS);
    assert_rate(&m, (double)PORT_BPS, (double)PORT_BPS);
    assert_true(m.rate.ps_per_byte == 0);
    assert_int_equal(m.rate.due_ps, SIM_PS_MAX);
    assert_false(dcqcn_ops.wants(m.dcqcn) & CC_WANTS_BYTES);
    stop(&m);
}

/* The first CNP sets alpha and starts the clocks; the cut comes 4 us later and halves the rate. */
static void test_dcqcn__first_cut_halves_the_rate(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, NO_SETTINGS);
    cnp(&m, T0);
    assert_near(view(&m).alpha, 1023.0 / 1024);
    assert_int_equal(view(&m).n_cnps, 1);
    assert_rate(&m, (double)PORT_BPS, (double)PORT_BPS);
    assert_int_equal(m.rate.due_ps, T0 + CUT);
    look(&m, T0 + CUT - 1);
    assert_rate(&m, (double)PORT_BPS, (double)PORT_BPS);
    look(&m, T0 + CUT);
    assert_near(view(&m).alpha, alpha_at_first_cut());
    assert_rate(&m, first_rate(), (double)PORT_BPS);
    assert_true(fabs(first_rate() / (double)PORT_BPS - 0.5) < 0.02);
    assert_near(m.rate.ps_per_byte, 8e12 / first_rate());
    assert_int_equal(view(&m).n_cuts, 1);
    assert_int_equal(m.rate.due_ps, T0 + CUT + STEP);
    stop(&m);
}

/* NVIDIA's increase rule and defaults: 3/4 of the way after 300 us, each further 300 us halves the gap, 99 % after 6
 * steps = 1.8 ms. */
static void test_dcqcn__isolated_cut_recovers_in_six_steps(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, NO_SETTINGS);
    cnp(&m, T0);
    look(&m, T0 + CUT);
    double rate = first_rate();
    for (int k = 1; k <= 6; k++) {
        look(&m, T0 + CUT + k * STEP - 1);
        assert_rate(&m, rate, (double)PORT_BPS);
        look(&m, T0 + CUT + k * STEP);
        rate = (rate + (double)PORT_BPS) / 2;
        assert_rate(&m, rate, (double)PORT_BPS);
        assert_true((rate >= 0.99 * (double)PORT_BPS) == (k >= 6));
    }
    stop(&m);
}

/* The same rule: with the target cut to half it takes 5, then 50 Mb/s each 300 us: about 0.3 s. */
static void test_dcqcn__target_recovers_by_ai_then_hai(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, (const char *const[]){"dcqcn.clamp_tgt_rate=true", NULL});
    cnp(&m, T0);
    cnp(&m, T0 + CUT + UNIT_US); /* cut at + 8 us: every cut lowers the target now */
    sim_ps cut_ps = T0 + 2 * CUT;
    look(&m, cut_ps);
    double target = first_rate();
    assert_near(view(&m).target_bps, target);
    look(&m, cut_ps + STEP);
    assert_near(view(&m).target_bps, target); /* fast recovery */
    look(&m, cut_ps + 2 * STEP);
    assert_near(view(&m).target_bps, target + 5e6);
    look(&m, cut_ps + 3 * STEP);
    assert_near(view(&m).target_bps, target + 55e6);
    int64_t steps = 2 + (int64_t)ceil(((double)PORT_BPS - target - 5e6) / 50e6);
    look(&m, cut_ps + (steps - 1) * STEP);
    assert_true(view(&m).target_bps < (double)PORT_BPS);
    look(&m, cut_ps + steps * STEP);
    assert_near(view(&m).target_bps, (double)PORT_BPS);
    assert_true(llabs(steps * STEP - 300 * UNIT_MS) < 10 * UNIT_MS);
    stop(&m);
}

/* Alpha and rate after two CNPs that cut at + 4 and + 8 us. */
static void assert_second_cut_sets_target(const char *clamp, const char *after_time_inc, bool step_between, bool to_rate)
{
    struct machine m;
    start(&m, PORT_BPS, (const char *const[]){clamp, after_time_inc, NULL});
    cnp(&m, T0);
    look(&m, T0 + CUT);
    sim_ps second_ps = step_between ? T0 + CUT + STEP : T0 + CUT;
    look(&m, second_ps);
    double rate = view(&m).rate_bps, target = view(&m).target_bps;
    cnp(&m, second_ps + UNIT_US);
    look(&m, second_ps + CUT);
    assert_int_equal(view(&m).n_cuts, 2);
    assert_near(view(&m).target_bps, to_rate ? rate : target);
    assert_true(view(&m).rate_bps < rate);
    stop(&m);
}

static void test_dcqcn__clamping_of_the_target(void **state)
{
    (void)state;
    static const char off[] = "dcqcn.clamp_tgt_rate=false", on[] = "dcqcn.clamp_tgt_rate=true";
    static const char time_off[] = "dcqcn.clamp_tgt_rate_after_time_inc=false";
    static const char time_on[] = "dcqcn.clamp_tgt_rate_after_time_inc=true";
    assert_second_cut_sets_target(off, time_on, false, false); /* consecutive cuts keep the old target */
    assert_second_cut_sets_target(off, time_on, true, true);
    assert_second_cut_sets_target(off, time_off, true, false); /* an increase by the timer does not count */
    assert_second_cut_sets_target(on, time_off, false, true);
    assert_second_cut_sets_target(on, time_off, true, true);
}

/* The cut clock ticks on at its period: a CNP between ticks waits for the next one, two CNPs make one cut. */
static void test_dcqcn__one_cut_a_period(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, NO_SETTINGS);
    cnp(&m, T0);
    look(&m, T0 + CUT);
    for (int k = 1; k < 4; k++)
        cnp(&m, T0 + 5 * CUT + k);
    assert_int_equal(m.rate.due_ps, T0 + 6 * CUT);
    look(&m, T0 + 20 * CUT);
    assert_int_equal(view(&m).n_cuts, 2);
    assert_int_equal(view(&m).n_cnps, 4);
    stop(&m);
}

static double cut_with(const char *first, const char *second)
{
    struct machine m;
    start(&m, PORT_BPS, (const char *const[]){first, second, NULL});
    cnp(&m, T0);
    look(&m, T0 + CUT);
    double rate = view(&m).rate_bps;
    stop(&m);
    return rate;
}

static void test_dcqcn__limits_of_a_cut(void **state)
{
    (void)state;
    double port = (double)PORT_BPS, alpha = alpha_at_first_cut();
    assert_near(cut_with("dcqcn.rpg_min_dec_fac=80", NULL), 0.8 * port);
    assert_near(cut_with("dcqcn.rpg_min_rate=60Gbps", NULL), 60e9);
    assert_near(cut_with("dcqcn.rpg_gd=10", NULL), 0.5 * port); /* alpha itself, held by rpg_min_dec_fac */
    assert_near(cut_with("dcqcn.rpg_gd=10", "dcqcn.rpg_min_dec_fac=0"), (1 - alpha) * port);
    assert_near(cut_with("dcqcn.rpg_gd=11", "dcqcn.rpg_min_dec_fac=0"), (1 - alpha / 2) * port);
    assert_near(cut_with("dcqcn.rate_to_set_on_first_cnp=10Gbps", NULL), 10e9 * (1 - alpha / 2));
}

static void test_dcqcn__first_cnp_can_set_the_rate(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, (const char *const[]){"dcqcn.rate_to_set_on_first_cnp=10Gbps", NULL});
    cnp(&m, T0);
    assert_rate(&m, 10e9, 10e9);
    assert_near(m.rate.ps_per_byte, 800);
    stop(&m);
}

static void test_dcqcn__max_rate_limits_from_the_start(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, (const char *const[]){"dcqcn.rpg_max_rate=25Gbps", NULL});
    assert_rate(&m, 25e9, 25e9);
    assert_near(m.rate.ps_per_byte, 320);
    look(&m, UNIT_S);
    assert_rate(&m, 25e9, 25e9);
    cnp(&m, UNIT_S);
    look(&m, 2 * UNIT_S);
    assert_rate(&m, 25e9, 25e9); /* back at the maximum, not above it */
    stop(&m);
}

/* At the maximum rate the limiter is gone and the next CNP is a first one; or it is kept, with its alpha. */
static void test_dcqcn__release_at_max_rate(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, NO_SETTINGS);
    cnp(&m, T0);
    look(&m, T0 + CUT + 37 * STEP); /* 49 Gb/s / 2^36 is below a bit a second */
    assert_rate(&m, (double)PORT_BPS, (double)PORT_BPS);
    assert_true(m.rate.ps_per_byte == 0);
    assert_int_equal(m.rate.due_ps, SIM_PS_MAX);
    sim_ps again_ps = T0 + CUT + 40 * STEP + 77;
    cnp(&m, again_ps);
    assert_near(view(&m).alpha, 1023.0 / 1024);
    assert_int_equal(m.rate.due_ps, again_ps + CUT);
    look(&m, again_ps + CUT);
    assert_rate(&m, first_rate(), (double)PORT_BPS);
    stop(&m);
}

static void test_dcqcn__kept_limiter_keeps_its_alpha(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, (const char *const[]){"dcqcn.release_at_max_rate=false", NULL});
    cnp(&m, T0);
    sim_ps again_ps = T0 + CUT + 40 * STEP;
    look(&m, again_ps);
    assert_rate(&m, (double)PORT_BPS, (double)PORT_BPS);
    cnp(&m, again_ps + 1);
    assert_true(view(&m).alpha < 1e-6); /* (1019/1024)^12000 */
    look(&m, again_ps + CUT);
    assert_int_equal(view(&m).n_cuts, 2);
    assert_true(view(&m).rate_bps > 0.99 * (double)PORT_BPS);
    stop(&m);
}

/* What a sampler of alpha sees: the clock is at the time of the look, not at that of the last CNP. */
static void test_dcqcn__a_look_brings_alpha_up_to_date(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PORT_BPS, NO_SETTINGS);
    cnp(&m, T0);
    look(&m, T0 + CUT);
    look(&m, T0 + CUT + 100 * UNIT_US);
    assert_near(view(&m).alpha, alpha_at_first_cut() * pow(KEEP, 100));
    stop(&m);
}

/* ---- paper ----------------------------------------------------------------------------- */
static const char *const paper[] = {"dcqcn.behaviour=paper",       "dcqcn.dce_tcp_rtt=55us",   "dcqcn.rpg_time_reset=55us",
                                    "dcqcn.rpg_byte_reset=10MB",   "dcqcn.rpg_threshold=5",    "dcqcn.rpg_ai_rate=40Mbps",
                                    "dcqcn.rpg_hai_rate=200Mbps",  "dcqcn.dce_tcp_g=1020",     "dcqcn.initial_alpha_value=1024",
                                    NULL};
#define PAPER_BPS (40 * UNIT_GBPS)
#define PAPER_STEP (55 * UNIT_US)
#define PAPER_KEEP (255.0 / 256)

static void test_dcqcn__paper_cuts_at_every_cnp(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PAPER_BPS, paper);
    cnp(&m, T0);
    assert_rate(&m, 20e9, 40e9); /* alpha is 1 */
    assert_near(view(&m).alpha, 1);
    look(&m, T0 + PAPER_STEP);
    assert_rate(&m, 30e9, 40e9);
    cnp(&m, T0 + 100 * UNIT_US); /* alpha has decayed once, at + 55 us */
    assert_rate(&m, 30e9 * (1 - PAPER_KEEP / 2), 30e9);
    assert_near(view(&m).alpha, PAPER_KEEP * PAPER_KEEP + 1.0 / 256);
    double rate = view(&m).rate_bps, alpha = view(&m).alpha;
    cnp(&m, T0 + 100 * UNIT_US + 54 * UNIT_US); /* the CNP restarted alpha's clock and the timer */
    assert_rate(&m, rate * (1 - alpha / 2), rate);
    stop(&m);
}

static void test_dcqcn__paper_alpha_decays_each_period(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PAPER_BPS, paper);
    cnp(&m, T0);
    look(&m, T0 + 10 * PAPER_STEP);
    double rate = view(&m).rate_bps;
    cnp(&m, T0 + 10 * PAPER_STEP + 1);
    assert_near(view(&m).rate_bps, rate * (1 - pow(PAPER_KEEP, 10) / 2));
    stop(&m);
}

/* Timer alone: five events of fast recovery, then additive increase for ever (the byte counter stays at 0). */
static void test_dcqcn__paper_timer_alone_never_hyper_increases(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PAPER_BPS, paper);
    cnp(&m, T0);
    cnp(&m, T0 + 1); /* target 20, rate 10 Gb/s */
    double rate = view(&m).rate_bps, target = 20e9;
    for (int k = 1; k <= 12; k++) {
        target += k > 5 ? 40e6 : 0;
        rate = (rate + target) / 2;
        look(&m, T0 + 1 + k * PAPER_STEP);
        assert_rate(&m, rate, target);
    }
    stop(&m);
}

static void test_dcqcn__paper_byte_counter_counts_sent_bytes(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PAPER_BPS, paper);
    assert_true(dcqcn_ops.wants(m.dcqcn) & CC_WANTS_BYTES);
    sent(&m, 4000000, T0 - 1); /* before the first cut nothing counts */
    cnp(&m, T0);
    sent(&m, 9999999, T0 + 1);
    assert_rate(&m, 20e9, 40e9);
    sent(&m, 1, T0 + 2);
    assert_rate(&m, 30e9, 40e9);
    sent(&m, 10000000, T0 + 3);
    assert_rate(&m, 35e9, 40e9);
    sent(&m, 5000000, T0 + 4);
    cnp(&m, T0 + 5); /* a cut restarts the counter */
    double rate = view(&m).rate_bps;
    sent(&m, 9999999, T0 + 6);
    assert_near(view(&m).rate_bps, rate);
    sent(&m, 1, T0 + 7);
    assert_near(view(&m).rate_bps, (rate + 35e9) / 2);
    stop(&m);
}

/* Both counters beyond F: the target rises by R_HAI times how far the nearer one is beyond. */
static void test_dcqcn__paper_hyper_increase(void **state)
{
    (void)state;
    struct machine m;
    start(&m, PAPER_BPS, paper);
    cnp(&m, T0);
    cnp(&m, T0 + 1);
    look(&m, T0 + 1 + 7 * PAPER_STEP); /* timer stage 7: twice additive */
    double target = 20e9 + 2 * 40e6;
    assert_near(view(&m).target_bps, target);
    for (int k = 1; k <= 5; k++) /* byte stages 1..5: the further one is beyond F, the nearer is not */
        sent(&m, 10000000, T0 + 1 + 7 * PAPER_STEP + k);
    target += 5 * 40e6;
    assert_near(view(&m).target_bps, target);
    sent(&m, 10000000, T0 + 1 + 7 * PAPER_STEP + 6);
    assert_near(view(&m).target_bps, target + 200e6);
    sent(&m, 10000000, T0 + 1 + 7 * PAPER_STEP + 7);
    assert_near(view(&m).target_bps, target + 200e6 + 400e6);
    stop(&m);
}

/* ---- looking changes nothing ---------------------------------------------------------------- */
/* A random life: CNPs in bursts and packets. With LOOKS, the machine is advanced at random times between. */
static void live(struct machine *m, uint32_t life, bool looks)
{
    sim_ps t_ps = 0;
    for (uint64_t n = 0; n < 400; n++) {
        uint64_t draw = sim_rng(11, life, SIM_RNG_START, n), kind = draw & 7;
        sim_ps gap_ps = (sim_ps)(draw >> 16) % ((draw >> 8 & 15) == 0 ? 2 * UNIT_MS : (draw >> 8 & 3) ? 10 * UNIT_US : UNIT_US);
        gap_ps = (draw >> 14 & 1) ? gap_ps : gap_ps / (sim_ps)UNIT_US * UNIT_US; /* often on a tick */
        for (uint64_t k = 0; looks && k < (draw >> 12 & 3); k++)
            look(m, t_ps + gap_ps * (sim_ps)(k + 1) / 3); /* the last one at the time of the event itself */
        t_ps += gap_ps;
        if (kind < 3)
            cnp(m, t_ps);
        else
            sent(m, (uint32_t)(draw >> 40 & 0x1ffff), t_ps);
    }
    look(m, t_ps + 3 * UNIT_MS);
}

static void assert_looking_changes_nothing(const char *const *settings)
{
    for (uint32_t life = 0; life < 60; life++) {
        struct machine plain, seen;
        start(&plain, PORT_BPS, settings);
        start(&seen, PORT_BPS, settings);
        live(&plain, life, false);
        live(&seen, life, true);
        struct cc_view a = view(&plain), b = view(&seen);
        assert_true(a.rate_bps == b.rate_bps && a.target_bps == b.target_bps); /* to the last bit */
        assert_int_equal(a.n_cuts, b.n_cuts);
        assert_int_equal(plain.rate.due_ps, seen.rate.due_ps);
        assert_true(plain.rate.ps_per_byte == seen.rate.ps_per_byte);
        assert_true(a.rate_bps > 0 && a.rate_bps <= a.target_bps * (1 + 1e-12) && a.target_bps <= (double)PORT_BPS);
        assert_true(a.n_cuts > 0);
        stop(&plain);
        stop(&seen);
    }
}

static void test_dcqcn__looking_changes_nothing(void **state)
{
    (void)state;
    assert_looking_changes_nothing(NO_SETTINGS);
    assert_looking_changes_nothing((const char *const[]){"dcqcn.rpg_byte_reset=100KB", "dcqcn.rpg_time_reset=8us", NULL});
    assert_looking_changes_nothing((const char *const[]){"dcqcn.clamp_tgt_rate=true", "dcqcn.rpg_threshold=3",
                                                         "dcqcn.release_at_max_rate=false", "dcqcn.rpg_time_reset=20us", NULL});
    assert_looking_changes_nothing(paper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dcqcn__starts_at_port_speed_without_a_clock),
        cmocka_unit_test(test_dcqcn__first_cut_halves_the_rate),
        cmocka_unit_test(test_dcqcn__isolated_cut_recovers_in_six_steps),
        cmocka_unit_test(test_dcqcn__target_recovers_by_ai_then_hai),
        cmocka_unit_test(test_dcqcn__clamping_of_the_target),
        cmocka_unit_test(test_dcqcn__one_cut_a_period),
        cmocka_unit_test(test_dcqcn__limits_of_a_cut),
        cmocka_unit_test(test_dcqcn__first_cnp_can_set_the_rate),
        cmocka_unit_test(test_dcqcn__max_rate_limits_from_the_start),
        cmocka_unit_test(test_dcqcn__release_at_max_rate),
        cmocka_unit_test(test_dcqcn__kept_limiter_keeps_its_alpha),
        cmocka_unit_test(test_dcqcn__a_look_brings_alpha_up_to_date),
        cmocka_unit_test(test_dcqcn__paper_cuts_at_every_cnp),
        cmocka_unit_test(test_dcqcn__paper_alpha_decays_each_period),
        cmocka_unit_test(test_dcqcn__paper_timer_alone_never_hyper_increases),
        cmocka_unit_test(test_dcqcn__paper_byte_counter_counts_sent_bytes),
        cmocka_unit_test(test_dcqcn__paper_hyper_increase),
        cmocka_unit_test(test_dcqcn__looking_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
