/* test_buffer.c - admission, release, XOFF/XON of the shared buffer, and the terms of the headroom rules. */
#include "models/buffer.h"
#include "sim/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define Q16(alpha) ((uint32_t)((alpha) * 65536))
#define N_GROUPS 6

static bool admit(struct net_pool *pool, struct group *group, uint32_t alpha_q16, uint32_t reserved, uint32_t headroom, uint32_t bytes)
{
    const struct pg_rule rule = {.alpha_q16 = alpha_q16, .reserved = reserved, .headroom = headroom};
    return buffer_admit(pool, NULL, group, &rule, bytes);
}
static bool wants_xoff(const struct net_pool *pool, const struct group *group, uint32_t alpha_q16, uint32_t reserved)
{
    const struct pg_rule rule = {.alpha_q16 = alpha_q16, .reserved = reserved};
    return buffer_wants_xoff(pool, group, &rule);
}
static bool wants_xon(const struct net_pool *pool, const struct group *group, uint32_t alpha_q16, uint32_t reserved, uint32_t xon_offset)
{
    const struct pg_rule rule = {.alpha_q16 = alpha_q16, .reserved = reserved, .xon_offset = xon_offset};
    return buffer_wants_xon(pool, group, &rule);
}
static void release(struct net_pool *pool, struct group *group, uint32_t reserved, uint32_t bytes)
{
    buffer_release(pool, NULL, group, reserved, bytes);
}
/* As the switch does it: the egress queue first, then the group. */
static bool admit_lossy(struct net_pool *pool, struct group *group, const struct queue *queue, int64_t limit, uint32_t bytes)
{
    const struct queue_rule egress = {.limit = limit};
    const struct pg_rule rule = {.alpha_q16 = Q16(1024)};
    return buffer_egress_has_room(pool, &egress, queue->bytes, bytes) && buffer_admit_lossy(pool, group, &rule, bytes);
}

/* ---- hand cases --------------------------------------------------------------------- */
static void test_buffer__reserved_then_shared_then_headroom(void **state)
{
    (void)state;
    struct net_pool v = {.total = 10000};
    struct group g = {0};
    const uint32_t one = Q16(1), reserved = 1000, headroom = 2500;
    assert_true(admit(&v, &g, one, reserved, headroom, 1000)); /* all reserved */
    assert_int_equal(v.used, 0);
    assert_true(admit(&v, &g, one, reserved, headroom, 3000)); /* T = 10000: shared */
    assert_int_equal(v.used, 3000);
    assert_true(admit(&v, &g, one, reserved, headroom, 3000)); /* T = 7000, shared part would be 6000 */
    assert_int_equal(v.used, 6000);
    assert_true(wants_xoff(&v, &g, one, reserved));            /* T = 4000 */
    assert_true(admit(&v, &g, one, reserved, headroom, 2000)); /* above T: headroom */
    assert_int_equal(g.used, 7000);
    assert_int_equal(g.headroom, 2000);
    assert_int_equal(v.used, 6000);
    assert_false(admit(&v, &g, one, reserved, headroom, 501)); /* above its limit */
    assert_true(admit(&v, &g, one, reserved, headroom, 500));
    assert_int_equal(g.max_used, 9500);
    assert_int_equal(g.max_headroom, 2500);
}

/* A frame that straddles the reserve takes from the pool only what is above it. */
static void test_buffer__frame_across_the_reserve(void **state)
{
    (void)state;
    struct net_pool v = {.total = 10000};
    struct group g = {0};
    assert_true(admit(&v, &g, Q16(1), 1000, 0, 1500));
    assert_int_equal(v.used, 500);
    release(&v, &g, 1000, 1500);
    assert_int_equal(v.used, 0);
    assert_int_equal(g.used, 0);
}

static void test_buffer__release_gives_headroom_first(void **state)
{
    (void)state;
    struct net_pool v = {.total = 10000, .used = 4000};
    struct group g = {.used = 5000, .headroom = 1000};
    release(&v, &g, 1000, 1500);
    assert_int_equal(g.headroom, 0);
    assert_int_equal(g.used, 4500);
    assert_int_equal(v.used, 3500);
    release(&v, &g, 1000, 4000); /* 3500 shared, 500 of the reserve */
    assert_int_equal(g.used, 500);
    assert_int_equal(v.used, 0);
}

static void test_buffer__xon_comes_offset_below_the_threshold(void **state)
{
    (void)state;
    struct net_pool v = {.total = 10000, .used = 5000};
    struct group g = {.used = 5000};
    assert_true(wants_xoff(&v, &g, Q16(1), 0)); /* T = 5000 */
    assert_false(wants_xon(&v, &g, Q16(1), 0, 1000));
    release(&v, &g, 0, 499); /* shared 4501, T 5499: 998 below */
    assert_false(wants_xoff(&v, &g, Q16(1), 0));
    assert_false(wants_xon(&v, &g, Q16(1), 0, 1000));
    release(&v, &g, 0, 1); /* 4500, 5500 */
    assert_true(wants_xon(&v, &g, Q16(1), 0, 1000));
    g.headroom = 1; /* never while headroom is in use */
    assert_false(wants_xon(&v, &g, Q16(1), 0, 1000));
    assert_true(wants_xoff(&v, &g, Q16(1), 0));
    /* A group that has left the pool goes on even where others hold all of it. */
    struct group small = {.used = 100};
    v.used = v.total;
    assert_true(wants_xon(&v, &small, Q16(1), 200, 1000));
}

/* k groups that are always full share the pool: each gets alpha/(1 + k alpha) of it. */
static void test_buffer__dynamic_threshold_shares_the_pool(void **state)
{
    (void)state;
    static const double alphas[] = {1.0 / 8, 1.0 / 2, 1};
    for (gsize a = 0; a < G_N_ELEMENTS(alphas); a++)
        for (int k = 1; k <= N_GROUPS; k++) {
            struct net_pool v = {.total = 1000000};
            struct group g[N_GROUPS] = {{0}};
            for (bool any = true; any;) {
                any = false;
                for (int i = 0; i < k; i++)
                    any |= admit(&v, &g[i], Q16(alphas[a]), 0, 0, 10);
            }
            double want = 1e6 * alphas[a] / (1 + k * alphas[a]);
            for (int i = 0; i < k; i++)
                assert_true(g[i].used > want - 20 && g[i].used < want + 20);
        }
}

static void test_buffer__lossy_limit_and_pool(void **state)
{
    (void)state;
    struct net_pool v = {.total = 5000};
    struct group g = {0};
    struct queue q = {.bytes = 0};
    assert_true(admit_lossy(&v, &g, &q, 3000, 3000));
    q.bytes = 3000;
    assert_false(admit_lossy(&v, &g, &q, 3000, 1)); /* its queue is at the limit */
    struct queue other = {.bytes = 0};
    assert_false(admit_lossy(&v, &g, &other, 3000, 2001)); /* the pool is not large enough */
    assert_true(admit_lossy(&v, &g, &other, 3000, 2000));
    assert_int_equal(v.used, 5000);
    assert_int_equal(g.used, 5000);
    assert_int_equal(g.max_used, 5000);
}

static void test_buffer__static_threshold_does_not_move(void **state)
{
    (void)state;
    struct net_pool pool = {.total = 10000};
    struct group g = {0};
    const struct pg_rule rule = {.static_th = 4000, .headroom = 1000};
    assert_true(buffer_admit(&pool, NULL, &g, &rule, 3999));
    assert_false(buffer_wants_xoff(&pool, &g, &rule));
    assert_true(buffer_admit(&pool, NULL, &g, &rule, 1));
    assert_true(buffer_wants_xoff(&pool, &g, &rule));
    assert_true(buffer_admit(&pool, NULL, &g, &rule, 1000)); /* headroom */
    assert_int_equal(g.headroom, 1000);
    assert_false(buffer_admit(&pool, NULL, &g, &rule, 1));
}

/* xon lets a group go on that is far above the threshold less xon_offset. */
static void test_buffer__xon_is_a_floor(void **state)
{
    (void)state;
    struct net_pool pool = {.total = 10000, .used = 9900};
    struct group g = {.used = 900};
    const struct pg_rule rule = {.alpha_q16 = Q16(1), .xon = 1000, .xon_offset = 500}, none = {.alpha_q16 = Q16(1), .xon_offset = 500};
    assert_false(buffer_wants_xon(&pool, &g, &none));
    assert_true(buffer_wants_xon(&pool, &g, &rule));
}

/* Two groups may have more headroom together than apart, but not more than the pool. */
static void test_buffer__headroom_pool_is_shared(void **state)
{
    (void)state;
    struct net_pool pool = {.total = 100}, headroom = {.total = 3000};
    struct group g[2] = {{0}};
    const struct pg_rule rule = {.alpha_q16 = 0};
    assert_true(buffer_admit(&pool, &headroom, &g[0], &rule, 2000));
    assert_true(buffer_admit(&pool, &headroom, &g[1], &rule, 1000));
    assert_false(buffer_admit(&pool, &headroom, &g[1], &rule, 1));
    buffer_release(&pool, &headroom, &g[0], 0, 500);
    assert_int_equal(headroom.used, 2500);
    assert_true(buffer_admit(&pool, &headroom, &g[1], &rule, 500));
    assert_int_equal(g[1].headroom, 1500);
}

/* Every frame size and cell of the field: the charge is the smallest multiple of the cell that holds the frame. */
static void test_buffer__charges_are_whole_cells(void **state)
{
    (void)state;
    static const uint32_t cells[] = {1, 64, 80, 96, 144, 192, 208, 254, 256, 4096};
    for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
        struct port_profile profile = {.cell_bytes = cells[i]};
        profile.cell_inverse = ((UINT64_C(1) << 32) + cells[i] - 1) / cells[i];
        for (uint32_t bytes = 1; bytes <= 65535; bytes++)
            assert_int_equal(profile_charge(&profile, bytes), (bytes + cells[i] - 1) / cells[i] * cells[i]);
    }
    struct port_profile profile = {.cell_bytes = 208, .cell_overhead = 20, .cell_inverse = ((UINT64_C(1) << 32) + 207) / 208};
    assert_int_equal(profile_charge(&profile, 188), 208);
    assert_int_equal(profile_charge(&profile, 189), 416);
}

/* ---- random lives of a buffer -------------------------------------------------------------- */
struct life {
    struct net_pool v;
    struct group group[N_GROUPS];
    GQueue fifo[N_GROUPS]; /* sizes of the frames inside, first in, first out */
    uint32_t alpha_q16, reserved, headroom;
};

static void assert_sums(const struct life *l)
{
    int64_t shared = 0;
    for (int i = 0; i < N_GROUPS; i++) {
        const struct group *g = &l->group[i];
        shared += buffer_shared_part(g->used, l->reserved);
        assert_true(g->headroom <= l->headroom);
        assert_true(g->used + g->headroom <= g->max_used && g->headroom <= g->max_headroom);
    }
    assert_int_equal(l->v.used, shared);
    assert_true(l->v.used >= 0 && l->v.used <= l->v.total);
}

static void enter(struct life *l, int i, uint32_t bytes)
{
    const struct net_pool before = l->v;
    const struct group was = l->group[i];
    if (admit(&l->v, &l->group[i], l->alpha_q16, l->reserved, l->headroom, bytes)) {
        g_queue_push_tail(&l->fifo[i], GUINT_TO_POINTER(bytes));
        return;
    }
    assert_memory_equal(&before, &l->v, sizeof before); /* refused: nothing is charged */
    assert_memory_equal(&was, &l->group[i], sizeof was);
}

static void live(double alpha, uint32_t reserved, uint32_t headroom, uint32_t seed)
{
    struct life l = {.v = {.total = 120000}, .alpha_q16 = Q16(alpha), .reserved = reserved, .headroom = headroom};
    for (uint64_t n = 0; n < 20000; n++) {
        uint64_t draw = sim_rng(seed, 0, SIM_RNG_START, n);
        int i = (int)(draw >> 8) & 7;
        bool filling = (n / 500) % 2 == 0;
        if (i >= N_GROUPS)
            continue;
        if ((draw & 7) < (filling ? 6u : 2u)) {
            enter(&l, i, 1 + (uint32_t)(draw >> 32) % 9000);
        } else if (!g_queue_is_empty(&l.fifo[i])) {
            release(&l.v, &l.group[i], l.reserved, GPOINTER_TO_UINT(g_queue_pop_head(&l.fifo[i])));
        }
        assert_sums(&l);
        if (l.group[i].used + l.group[i].headroom > l.reserved) /* never both at once */
            assert_false(wants_xoff(&l.v, &l.group[i], l.alpha_q16, l.reserved) &&
                         wants_xon(&l.v, &l.group[i], l.alpha_q16, l.reserved, 100) &&
                         buffer_shared_part(l.group[i].used, l.reserved) > 0);
    }
    for (int i = 0; i < N_GROUPS; i++) {
        while (!g_queue_is_empty(&l.fifo[i]))
            release(&l.v, &l.group[i], l.reserved, GPOINTER_TO_UINT(g_queue_pop_head(&l.fifo[i])));
        g_queue_clear(&l.fifo[i]);
    }
    assert_sums(&l);
    assert_int_equal(l.v.used, 0);
}

static void test_buffer__sums_hold_through_random_lives(void **state)
{
    (void)state;
    static const uint32_t reserves[] = {0, 1, 4096, 50000}, rooms[] = {0, 9000, 40000};
    static const double alphas[] = {1.0 / 16, 1.0 / 2, 1};
    for (gsize r = 0; r < G_N_ELEMENTS(reserves); r++)
        for (gsize h = 0; h < G_N_ELEMENTS(rooms); h++)
            for (gsize a = 0; a < G_N_ELEMENTS(alphas); a++)
                live(alphas[a], reserves[r], rooms[h], (uint32_t)(r * 100 + h * 10 + a));
}

/* SONiC profiles go to alpha = 8 and more: a threshold above the free pool must not make the pool larger. */
static void test_buffer__large_alpha_cannot_overdraw_the_pool(void **state)
{
    (void)state;
    live(2, 4096, 9000, 1);
    live(8, 0, 9000, 2);
    live(1024, 4096, 0, 3);
}

static const struct param_desc *row_of(const char *key)
{
    for (int i = 0; i < buffer_param_group.n_rows; i++)
        if (g_str_equal(buffer_param_group.rows[i].key, key))
            return &buffer_param_group.rows[i];
    fail_msg("no parameter buffer.%s", key);
    return NULL;
}

static void test_buffer__limits_of_the_parameters_do_not_overflow(void **state)
{
    (void)state;
    struct net_pool v = {.total = row_of("size")->max_i};
    struct group g = {0};
    const uint32_t largest = Q16(row_of("alpha")->max_r);
    assert_true(v.total < UINT32_MAX); /* the counters of queues and groups have 32 bits */
    assert_true(buffer_threshold(&v, 0, largest) >= v.total);
    assert_true(admit(&v, &g, largest, 0, 0, 4096));
    assert_false(wants_xoff(&v, &g, largest, 0));
    assert_true(Q16(row_of("alpha")->min_r) > 0); /* not rounded to "never" */
    assert_true(Q16(row_of("lossy_alpha")->min_r) > 0);
}

/* ---- headroom ------------------------------------------------------------------------------------ */
struct rules { struct buffer_params buffer; struct pfc_params pfc; struct link_params link; struct switch_params switching; };

static struct buffer_headroom_terms terms_of(const struct rules *r)
{
    return (struct buffer_headroom_terms){&r->buffer, &r->pfc, &r->link, &r->switching, 4174, 1};
}

static void test_buffer__physical_headroom_by_hand(void **state)
{
    (void)state;
    struct rules r = {.buffer = {.headroom_rule = BUFFER_HEADROOM_PHYSICAL},
                      .pfc = {.response_ps = 500 * UNIT_NS},
                      .link = {.preamble_ifg_bytes = 20, .pfc_frame_bytes = 64, .fec_latency_ps = 120 * UNIT_NS},
                      .switching = {.latency_ps = 600 * UNIT_NS}};
    struct buffer_headroom_terms t = terms_of(&r);
    /* 100G, 100 m: 2 x (500 + 120) + 500 + 600 = 2,340 ns x 12.5 B/ns = 29,250 B; three frames of 4,194 B (the one that
     * crossed the threshold, ours on the wire, the one that the peer has begun); one pause frame of 84 B; one byte for
     * rounding. */
    assert_int_equal(buffer_headroom_bytes(&t, 100 * UNIT_GBPS, 500 * UNIT_NS), 29250 + 1 + 3 * 4194 + 84);
    /* Each term for itself. */
    int64_t base = buffer_headroom_bytes(&t, 100 * UNIT_GBPS, 0);
    assert_int_equal(buffer_headroom_bytes(&t, 100 * UNIT_GBPS, UNIT_US) - base, 2 * 12500);
    r.pfc.response_ps += UNIT_US;
    assert_int_equal(buffer_headroom_bytes(&t, 100 * UNIT_GBPS, 0) - base, 12500);
    r.switching.latency_ps += UNIT_US;
    assert_int_equal(buffer_headroom_bytes(&t, 100 * UNIT_GBPS, 0) - base, 25000);
    r.link.fec_latency_ps += UNIT_US;
    assert_int_equal(buffer_headroom_bytes(&t, 100 * UNIT_GBPS, 0) - base, 50000);
    t.n_lossless = 3; /* pauses of two other classes may go first */
    assert_int_equal(buffer_headroom_bytes(&t, 100 * UNIT_GBPS, 0) - base, 50000 + 2 * 84);
}

static void test_buffer__other_headroom_rules_by_hand(void **state)
{
    (void)state;
    struct rules r = {.buffer = {.headroom_rule = BUFFER_HEADROOM_RATE_DELAY, .headroom_factor = 3, .headroom_bytes = 777}};
    struct buffer_headroom_terms t = terms_of(&r);
    assert_int_equal(buffer_headroom_bytes(&t, 400 * UNIT_GBPS, 10 * UNIT_US), 1500000); /* cases.md 8, a port */
    assert_int_equal(buffer_headroom_bytes(&t, 100 * UNIT_GBPS, 500 * UNIT_NS), 18750);
    r.buffer.headroom_rule = BUFFER_HEADROOM_FIXED;
    assert_int_equal(buffer_headroom_bytes(&t, 400 * UNIT_GBPS, 10 * UNIT_US), 777);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer__reserved_then_shared_then_headroom),
        cmocka_unit_test(test_buffer__frame_across_the_reserve),
        cmocka_unit_test(test_buffer__release_gives_headroom_first),
        cmocka_unit_test(test_buffer__xon_comes_offset_below_the_threshold),
        cmocka_unit_test(test_buffer__dynamic_threshold_shares_the_pool),
        cmocka_unit_test(test_buffer__lossy_limit_and_pool),
        cmocka_unit_test(test_buffer__static_threshold_does_not_move),
        cmocka_unit_test(test_buffer__xon_is_a_floor),
        cmocka_unit_test(test_buffer__headroom_pool_is_shared),
        cmocka_unit_test(test_buffer__charges_are_whole_cells),
        cmocka_unit_test(test_buffer__sums_hold_through_random_lives),
        cmocka_unit_test(test_buffer__large_alpha_cannot_overdraw_the_pool),
        cmocka_unit_test(test_buffer__limits_of_the_parameters_do_not_overflow),
        cmocka_unit_test(test_buffer__physical_headroom_by_hand),
        cmocka_unit_test(test_buffer__other_headroom_rules_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
