/* test_core.c - the event engine: order inside a node, heaps against a sorted list, arrival times, windows, and the
 * same digest however a run is threaded or cut into pieces. */
#include "sim/core.h"
#include "sim/rng.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define W 1000

/* ---- a node that writes down what happens to it -------------------------------- */
enum { ARRIVAL, SOON, TIMER };
struct event { int kind; sim_ps t_ps; uint64_t what; uint32_t a, b; };

static void note(struct sim_node *node, int kind, sim_ps t_ps, uint64_t what, uint32_t a, uint32_t b)
{
    struct event e = {kind, t_ps, what, a, b};
    GArray *log = node->state;
    g_array_append_val(log, e);
    sim_digest(node, t_ps, (uint32_t)kind);
}
static inline void log_arrival(struct sim_core *core, struct sim_node *node, uint32_t channel,
                               const struct sim_record *rec, sim_ps now_ps)
{
    (void)core;
    note(node, ARRIVAL, now_ps, channel, rec->a, rec->b);
}
static inline void log_soon(struct sim_core *core, struct sim_node *node, uint32_t what, sim_ps now_ps)
{
    (void)core;
    note(node, SOON, now_ps, what, 0, 0);
}
static inline void log_timer(struct sim_core *core, struct sim_node *node, uint64_t id, sim_ps now_ps)
{
    (void)core;
    note(node, TIMER, now_ps, id, 0, 0);
}
static inline void no_prefetch(struct sim_core *core, struct sim_node *node, const struct sim_record *rec)
{
    (void)core, (void)node, (void)rec;
}
static void log_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch)
{
    SIM_NODE_RUN(core, node, scratch, log_arrival, log_soon, log_timer, no_prefetch);
}

static struct sim_core *log_core(uint32_t n_channels, sim_ps window_ps, sim_ps longest_ps)
{
    const uint32_t first[] = {0, n_channels};
    struct sim_core *core = sim_core_new(1, first, window_ps, longest_ps);
    core->run[0] = log_run;
    core->nodes[0].state = g_array_new(FALSE, FALSE, sizeof(struct event));
    sim_core_run(core, 0, 1); /* runs nothing; from here on the test may send */
    return core;
}
static GArray *log_of(const struct sim_core *core) { return core->nodes[0].state; }
static const struct event *event_at(const struct sim_core *core, guint i) { return &g_array_index(log_of(core), struct event, i); }
static void log_core_free(struct sim_core *core)
{
    g_array_free(log_of(core), TRUE);
    sim_core_free(core);
}

/* ---- order of equal times ---------------------------------------------------------- */
static void test_core__arrivals_then_soon_then_timers(void **state)
{
    (void)state;
    struct sim_core *core = log_core(3, W, 3 * W);
    struct sim_node *node = &core->nodes[0];
    sim_timer_add(core, node, 1500, 9);
    sim_soon_add(core, node, 1500, 7);
    sim_timer_add(core, node, 1500, 4);
    sim_soon_add(core, node, 1500, 3);
    for (uint32_t c = 3; c-- > 0;)
        sim_send(core, c, 0, 1500, 100 + c, 0, 0);
    sim_send(core, 1, 0, 1500, 201, 0, 0); /* the second one on its channel */
    sim_timer_add(core, node, 1499, 99);
    sim_core_run(core, SIM_PS_MAX, 1);
    assert_int_equal(log_of(core)->len, 9);
    assert_int_equal(event_at(core, 0)->what, 99);
    /* Channels in turn, first one and direction drawn for this window; each channel's records in their order. */
    g_autoptr(GString) order = g_string_new(NULL);
    for (guint i = 1; i < 5; i++) {
        const struct event *e = event_at(core, i);
        assert_int_equal(e->kind, ARRIVAL);
        assert_int_equal(e->t_ps, 1500);
        g_string_append_printf(order, "%d%s", (int)e->what, e->a > 200 ? "+" : "");
    }
    assert_non_null(strstr("011+2 11+20 2011+ 0211+ 211+0 11+02", order->str)); /* all rotations, both directions */
    static const uint64_t rest[] = {3, 7, 4, 9};
    for (guint i = 0; i < 4; i++) {
        assert_int_equal(event_at(core, 5 + i)->kind, i < 2 ? SOON : TIMER);
        assert_int_equal(event_at(core, 5 + i)->what, rest[i]);
    }
    log_core_free(core);
}

static void test_core__larger_weight_goes_first_at_equal_times(void **state)
{
    (void)state;
    struct sim_core *core = log_core(5, W, 3 * W);
    static const uint32_t weight[] = {10, 4000, 64, 4000, 900};
    for (uint32_t c = 0; c < 5; c++)
        sim_send(core, c, 0, 2100, weight[c], 0, weight[c] | 1u << 16); /* upper half: no weight */
    sim_send(core, 2, 0, 2099, 1, 0, 1);                             /* earlier beats heavier */
    sim_core_run(core, SIM_PS_MAX, 1);
    static const uint32_t want[] = {1, 4000, 4000, 900, 64, 10};
    assert_int_equal(log_of(core)->len, 6);
    for (guint i = 0; i < 6; i++)
        assert_int_equal(event_at(core, i)->a, want[i]);
    log_core_free(core);
}

/* With a fixed order the same sender would win every tie: over many windows each of four channels comes first a
 * quarter of the time (within 5 sigma). */
static void test_core__no_channel_wins_all_ties(void **state)
{
    (void)state;
    enum { N_WINDOWS = 2000, N_CHANNELS = 4 };
    int won[N_CHANNELS] = {0};
    struct sim_core *core = log_core(N_CHANNELS, W, 3 * W);
    for (int w = 1; w <= N_WINDOWS; w++) {
        for (uint32_t c = 0; c < N_CHANNELS; c++)
            sim_send(core, c, 0, core->start_ps + W + 7, c, 0, 0);
        sim_core_run(core, core->start_ps + 2 * W, 1);
        won[event_at(core, log_of(core)->len - N_CHANNELS)->what]++;
    }
    for (int c = 0; c < N_CHANNELS; c++)
        assert_true(fabs(won[c] - N_WINDOWS / 4.0) < 5 * sqrt(N_WINDOWS * 0.25 * 0.75));
    log_core_free(core);
}

/* A quiet channel between or beside two busy ones must not favour one of them: half of the ties each, 5 sigma. */
static void test_core__two_of_many_channels_tie_evenly(void **state)
{
    (void)state;
    enum { N_WINDOWS = 2000, N_CHANNELS = 16 };
    static const uint32_t pairs[][2] = {{0, 1}, {14, 15}, {0, 15}, {3, 11}};
    for (gsize p = 0; p < G_N_ELEMENTS(pairs); p++) {
        struct sim_core *core = log_core(N_CHANNELS, W, 3 * W);
        int won = 0;
        for (int w = 1; w <= N_WINDOWS; w++) {
            for (int k = 0; k < 2; k++)
                sim_send(core, pairs[p][k], 0, core->start_ps + W + 7, 0, 0, 0);
            sim_core_run(core, core->start_ps + 2 * W, 1);
            won += event_at(core, log_of(core)->len - 2)->what == pairs[p][0];
        }
        assert_true(fabs(won - N_WINDOWS / 2.0) < 5 * sqrt(N_WINDOWS * 0.25));
        log_core_free(core);
    }
}

/* ---- heaps against a sorted list ------------------------------------------------------ */
struct oracle { GArray *list; }; /* struct sim_timer, ascending */
static void oracle_add(struct oracle *o, sim_ps t_ps, uint64_t id)
{
    struct sim_timer t = {t_ps, id};
    guint i = o->list->len;
    while (i > 0 && sim_timer_before(&t, &g_array_index(o->list, struct sim_timer, i - 1)))
        i--;
    g_array_insert_val(o->list, i, t);
}
static struct sim_timer oracle_first(const struct oracle *o) { return g_array_index(o->list, struct sim_timer, 0); }

static void test_core__timers_follow_a_sorted_list(void **state)
{
    (void)state;
    struct oracle o = {g_array_new(FALSE, FALSE, sizeof(struct sim_timer))};
    struct sim_core *core = log_core(1, W, 3 * W);
    struct sim_node *node = &core->nodes[0];
    for (uint64_t n = 0; n < 40000; n++) {
        uint64_t draw = sim_rng(3, 0, SIM_RNG_START, n);
        bool grow = (n / 1000) % 2 == 0; /* the heap fills and empties in turn */
        sim_ps t_ps = (sim_ps)(draw >> 8 & 255); /* many ties */
        uint64_t id = draw >> 32;
        bool add = (draw & 7) < (grow ? 5u : 3u);
        if (add) {
            sim_timer_add(core, node, t_ps, id);
            oracle_add(&o, t_ps, id);
        } else if (node->n_timers > 0) {
            bool replace = (draw >> 3 & 3) == 0;
            g_array_remove_index(o.list, 0);
            node->top_is_free = replace;
            if (replace) {
                sim_timer_add(core, node, t_ps, id);
                oracle_add(&o, t_ps, id);
            } else {
                sim_timer_pop(node);
            }
        }
        assert_int_equal(node->n_timers, o.list->len);
        assert_int_equal(node->next_timer_ps, o.list->len ? oracle_first(&o).t_ps : SIM_PS_MAX);
        if (o.list->len > 0)
            assert_int_equal(node->heap[0].id, oracle_first(&o).id);
    }
    log_core_free(core);
    g_array_free(o.list, TRUE);
}

static void test_core__soon_follows_a_sorted_list_through_windows(void **state)
{
    (void)state;
    struct oracle o = {g_array_new(FALSE, FALSE, sizeof(struct sim_timer))};
    struct sim_core *core = log_core(1, 64, 3 * 64);
    struct sim_node *node = &core->nodes[0];
    for (uint64_t n = 0; n < 40000; n++) {
        uint64_t draw = sim_rng(4, 0, SIM_RNG_START, n);
        uint32_t what = (uint32_t)(draw >> 32);
        /* A new window starts no later than the first entry. */
        if ((draw & 31) == 0 && o.list->len > 0) {
            core->start_ps += (oracle_first(&o).t_ps - core->start_ps) / 64 * 64;
            sim_soon_rebase(core, node);
        }
        sim_ps t_ps = core->start_ps + (sim_ps)(draw >> 8 & 511);
        if ((draw >> 5 & 7) < ((n / 1000) % 2 ? 3u : 5u)) {
            sim_soon_add(core, node, t_ps, what);
            oracle_add(&o, t_ps, what);
        } else if (node->n_soon > 0) {
            g_array_remove_index(o.list, 0);
            node->soon_is_free = (draw >> 40 & 3) == 0;
            if (node->soon_is_free) {
                sim_soon_add(core, node, t_ps, what);
                oracle_add(&o, t_ps, what);
            } else {
                sim_soon_pop(core, node);
            }
        }
        assert_int_equal(node->n_soon, o.list->len);
        if (o.list->len > 0) {
            assert_int_equal(core->start_ps + (sim_ps)(node->soon[0] >> 32), oracle_first(&o).t_ps);
            assert_int_equal((uint32_t)node->soon[0], oracle_first(&o).id);
        }
    }
    log_core_free(core);
    g_array_free(o.list, TRUE);
}

/* ---- arrival times ---------------------------------------------------------------------- */
static void assert_arrivals_in_time(sim_ps window_ps, sim_ps longest_ps, uint32_t n_channels, uint32_t n)
{
    struct sim_core *core = log_core(n_channels, window_ps, longest_ps);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t draw = sim_rng(5, i, SIM_RNG_START, (uint64_t)window_ps);
        sim_ps t_ps = window_ps + (sim_ps)(draw % (uint64_t)(longest_ps - window_ps + 1));
        sim_send(core, (uint32_t)(draw >> 40) % n_channels, 0, t_ps, (uint32_t)t_ps, (uint32_t)(draw >> 40) % n_channels, 0);
    }
    sim_core_run(core, SIM_PS_MAX, 1);
    assert_int_equal(log_of(core)->len, n);
    for (guint i = 0; i < n; i++) {
        const struct event *e = event_at(core, i);
        assert_int_equal((uint32_t)e->t_ps, e->a);
        assert_int_equal(e->what, e->b);
        assert_true(i == 0 || event_at(core, i - 1)->t_ps <= e->t_ps);
    }
    log_core_free(core);
}

static void test_core__sends_windows_ahead_arrive_in_time(void **state)
{
    (void)state;
    assert_arrivals_in_time(1000, 1000, 1, 50);
    assert_arrivals_in_time(1000, 50000, 7, 5000);
    assert_arrivals_in_time(777, 8 * 777, 3, 5000);
    assert_arrivals_in_time(1, 40, 5, 2000);
    assert_arrivals_in_time(999983, 999983 * 3, 64, 20000); /* a crowd in each window: the counting sort */
}

/* ---- windows ------------------------------------------------------------------------------ */
static void test_core__idle_windows_are_skipped(void **state)
{
    (void)state;
    struct sim_core *core = log_core(1, W, 3 * W);
    static const sim_ps at[] = {5, UNIT_S, UNIT_S + 1, 3600 * UNIT_S};
    for (guint i = 0; i < G_N_ELEMENTS(at); i++)
        sim_timer_add(core, &core->nodes[0], at[i], i);
    sim_core_run(core, SIM_PS_MAX, 1);
    assert_int_equal(core->n_windows, 3);
    for (guint i = 0; i < G_N_ELEMENTS(at); i++)
        assert_int_equal(event_at(core, i)->t_ps, at[i]);
    assert_int_equal(sim_core_next_ps(core), SIM_PS_MAX);
    assert_int_equal(sim_core_events(core), 4);
    log_core_free(core);
}

static void test_core__next_is_a_window_with_work(void **state)
{
    (void)state;
    struct sim_core *core = log_core(1, W, 20 * W);
    assert_int_equal(sim_core_next_ps(core), SIM_PS_MAX);
    sim_send(core, 0, 0, 15 * W + 3, 0, 0, 0);
    assert_int_equal(sim_core_next_ps(core), 15 * W);
    sim_core_run(core, 15 * W, 1); /* ends before that window */
    assert_int_equal(log_of(core)->len, 0);
    sim_core_run(core, 15 * W + 1, 1);
    assert_int_equal(log_of(core)->len, 1);
    log_core_free(core);
}

struct hook { sim_ps last_ps; int n, refuse_at; };
static bool count_windows(void *user, sim_ps now_ps)
{
    struct hook *h = user;
    assert_true(h->n == 0 || now_ps >= h->last_ps);
    h->last_ps = now_ps;
    return h->n++ != h->refuse_at;
}

static void test_core__hook_comes_before_each_window_and_can_end_the_run(void **state)
{
    (void)state;
    struct sim_core *core = log_core(1, W, 3 * W);
    struct hook h = {.refuse_at = 2};
    core->on_window = count_windows;
    core->on_window_user = &h;
    for (uint64_t i = 0; i < 4; i++)
        sim_timer_add(core, &core->nodes[0], (sim_ps)i * 10 * W + 1, i);
    sim_core_run(core, SIM_PS_MAX, 1);
    assert_int_equal(log_of(core)->len, 2);
    assert_int_equal(h.last_ps, 20 * W);
    sim_core_run(core, SIM_PS_MAX, 1);
    assert_int_equal(log_of(core)->len, 4);
    assert_int_equal(h.n, 6); /* 0, 10, 20 refused, 20 again, 30, the end */
    log_core_free(core);
}

/* ---- a model of tokens: each is sent on, at once, by soon or by a timer ------------------------ */
#define N_NODES 40u
#define TOKENS 4u
struct tokens { uint64_t n_draws; uint32_t self; sim_ps fixed_delay_ps; };

/* Channel of node TO on which FROM sends: nobody else writes it. */
static uint32_t lane(uint32_t from, uint32_t to) { return to * N_NODES + from; }

static void pass_on(struct sim_core *core, struct sim_node *node, sim_ps now_ps)
{
    struct tokens *s = node->state;
    uint64_t draw = sim_rng(6, s->self, SIM_RNG_START, s->n_draws++);
    uint32_t to = s->fixed_delay_ps ? (s->self + 1) % N_NODES : (uint32_t)(draw >> 32) % N_NODES;
    sim_ps t_ps = now_ps + (s->fixed_delay_ps ? s->fixed_delay_ps : W + (sim_ps)(draw % (20 * W)));
    sim_send(core, lane(s->self, to), to, t_ps, (uint32_t)t_ps, s->self, (uint32_t)(draw >> 20) & 3);
}
static inline void token_arrival(struct sim_core *core, struct sim_node *node, uint32_t channel,
                                 const struct sim_record *rec, sim_ps now_ps)
{
    struct tokens *s = node->state;
    g_assert_cmpuint(rec->a, ==, (uint32_t)now_ps);
    g_assert_cmpuint(rec->b, ==, channel);
    sim_digest(node, now_ps, channel);
    uint64_t draw = sim_rng(7, s->self, SIM_RNG_START, s->n_draws++);
    sim_ps later_ps = now_ps + (sim_ps)(draw >> 8) % (5 * W);
    if (s->fixed_delay_ps || (draw & 3) < 2)
        pass_on(core, node, now_ps);
    else if ((draw & 3) == 2)
        sim_soon_add(core, node, later_ps, (uint32_t)(draw >> 32));
    else
        sim_timer_add(core, node, later_ps, draw >> 32);
}
static inline void token_soon(struct sim_core *core, struct sim_node *node, uint32_t what, sim_ps now_ps)
{
    sim_digest(node, now_ps, 100 + (what & 7));
    pass_on(core, node, now_ps);
}
static inline void token_timer(struct sim_core *core, struct sim_node *node, uint64_t id, sim_ps now_ps)
{
    sim_digest(node, now_ps, 200 + (uint32_t)(id & 7));
    pass_on(core, node, now_ps);
}
static void token_run(struct sim_core *core, struct sim_node *node, struct sim_scratch *scratch)
{
    SIM_NODE_RUN(core, node, scratch, token_arrival, token_soon, token_timer, no_prefetch);
}

static struct sim_core *token_core(sim_ps fixed_delay_ps)
{
    uint32_t first[N_NODES + 1];
    for (uint32_t i = 0; i <= N_NODES; i++)
        first[i] = i * N_NODES;
    struct sim_core *core = sim_core_new(N_NODES, first, W, 21 * W);
    core->run[0] = token_run;
    for (uint32_t i = 0; i < N_NODES; i++) {
        struct tokens *s = g_new0(struct tokens, 1);
        s->self = i;
        s->fixed_delay_ps = fixed_delay_ps;
        core->nodes[i].state = s;
        for (uint32_t k = 0; k < TOKENS; k++)
            sim_timer_add(core, &core->nodes[i], (sim_ps)(k * 123 + i), k);
    }
    return core;
}
static void token_core_free(struct sim_core *core)
{
    for (uint32_t i = 0; i < N_NODES; i++)
        g_free(core->nodes[i].state);
    sim_core_free(core);
}

#define TOKEN_END_PS (600 * W)
struct outcome { uint64_t digest, events; };
static struct outcome token_outcome(int n_threads, const sim_ps *stops, int n_stops)
{
    struct sim_core *core = token_core(0);
    for (int i = 0; i < n_stops; i++)
        sim_core_run(core, stops[i], n_threads > 0 ? n_threads : 1 + i % 2);
    sim_core_run(core, TOKEN_END_PS, MAX(n_threads, 1));
    struct outcome o = {sim_core_digest(core), sim_core_events(core)};
    token_core_free(core);
    return o;
}

static void assert_same(struct outcome x, struct outcome y)
{
    assert_int_equal(x.events, y.events);
    assert_true(x.digest == y.digest);
}

static void test_core__digest_is_that_of_one_thread(void **state)
{
    (void)state;
    struct outcome one = token_outcome(1, NULL, 0);
    assert_true(one.events > N_NODES * TOKENS * 50);
    assert_same(token_outcome(2, NULL, 0), one);
    assert_same(token_outcome(4, NULL, 0), one);
}

static void test_core__stopping_and_going_on_changes_nothing(void **state)
{
    (void)state;
    struct outcome one = token_outcome(1, NULL, 0);
    sim_ps stops[200];
    for (guint i = 0; i < G_N_ELEMENTS(stops); i++)
        stops[i] = (sim_ps)(i * 2999); /* inside windows, at their edges, several in one */
    assert_same(token_outcome(1, stops, G_N_ELEMENTS(stops)), one);
    assert_same(token_outcome(2, stops, G_N_ELEMENTS(stops)), one);
    assert_same(token_outcome(0, stops, G_N_ELEMENTS(stops)), one); /* threads come and go */
}

static void test_core__digest_sees_a_single_event(void **state)
{
    (void)state;
    struct sim_core *core = token_core(0), *other = token_core(0);
    sim_timer_add(other, &other->nodes[3], TOKEN_END_PS - 1, 5);
    sim_core_run(core, TOKEN_END_PS, 1);
    sim_core_run(other, TOKEN_END_PS, 1);
    assert_int_equal(sim_core_events(other), sim_core_events(core) + 1);
    assert_true(sim_core_digest(core) != sim_core_digest(other));
    token_core_free(core);
    token_core_free(other);
}

/* Periodic traffic: once every bucket has held its share nothing is allocated any more. */
static void test_core__growth_ends_in_the_steady_state(void **state)
{
    (void)state;
    struct sim_core *core = token_core(3 * W + W / 2);
    sim_core_run(core, 1000 * W, 1);
    uint64_t growths = sim_core_growths(core), events = sim_core_events(core);
    assert_true(growths > 0);
    sim_core_run(core, 2000 * W, 1);
    assert_true(sim_core_events(core) > events + N_NODES * TOKENS * 50);
    assert_int_equal(sim_core_growths(core), growths);
    token_core_free(core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core__arrivals_then_soon_then_timers),
        cmocka_unit_test(test_core__larger_weight_goes_first_at_equal_times),
        cmocka_unit_test(test_core__no_channel_wins_all_ties),
        cmocka_unit_test(test_core__two_of_many_channels_tie_evenly),
        cmocka_unit_test(test_core__timers_follow_a_sorted_list),
        cmocka_unit_test(test_core__soon_follows_a_sorted_list_through_windows),
        cmocka_unit_test(test_core__sends_windows_ahead_arrive_in_time),
        cmocka_unit_test(test_core__idle_windows_are_skipped),
        cmocka_unit_test(test_core__next_is_a_window_with_work),
        cmocka_unit_test(test_core__hook_comes_before_each_window_and_can_end_the_run),
        cmocka_unit_test(test_core__digest_is_that_of_one_thread),
        cmocka_unit_test(test_core__stopping_and_going_on_changes_nothing),
        cmocka_unit_test(test_core__digest_sees_a_single_event),
        cmocka_unit_test(test_core__growth_ends_in_the_steady_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
