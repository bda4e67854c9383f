/* params_fixture.h - a small parameter group with a row of every type, for test_params.c and test_param_bag.c. */
#ifndef FABRICAST_TESTS_SIM_PARAMS_FIXTURE_H
#define FABRICAST_TESTS_SIM_PARAMS_FIXTURE_H

#include "sim/params.h"

#define FIXTURE_ROWS                                                                                       \
    P(period, TIME, "", 4 * UNIT_US, UNIT_NS, UNIT_S, "a clause", "A time.")                               \
    P(room, BYTES, "", 32 * UNIT_KIB, 1, UNIT_GIB, "assumed", "A size.")                                   \
    P(speed, RATE, "", 400 * UNIT_GBPS, 1, 1600 * UNIT_GBPS, "assumed", "A rate.")                         \
    P(cable, LENGTH, "", 5 * UNIT_M, 0, 100 * UNIT_KM, "assumed", "A length.")                             \
    P(count, INT, "", 7, -3, 9, "assumed", "A number.")                                                    \
    P(gain, REAL, "", 0.00390625, 1e-6, 1, "a paper", "A ratio.")                                          \
    P(on, BOOL, "", true, 0, 0, "assumed", "A truth value.")                                               \
    P(mode, ENUM, "slow|quick|exact", 1, 0, 0, "assumed", "A choice.")                                     \
    P(label, TEXT, "", "some text", 0, 0, "assumed", "A text.")                                            \
    P(kmin, BYTES_MAP, "", "100Gbps:400KB 200Gbps:800KB", 1, UNIT_GB, "a paper", "Bytes by rate.")         \
    P(alpha, REAL_MAP, "", "1/8", 0, 16, "a paper", "A ratio by rate.")

struct fixture_params {
#define P PARAMS_MEMBER
    FIXTURE_ROWS
#undef P
};

#define P PARAMS_ASSERT
FIXTURE_ROWS
#undef P

#define PARAMS_TYPE fixture_params
#define P PARAMS_ROW
static const struct param_desc fixture_rows[] = {FIXTURE_ROWS};
#undef P
#undef PARAMS_TYPE

static bool fixture_check(const void *values, const char **key, GError **err)
{
    const struct fixture_params *p = values;
    *key = "period";
    if (!p->on || p->period_ps >= 2 * UNIT_NS)
        return true;
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "with on = true allowed: 2ns or more");
    return false;
}

static const struct param_group fixture_group = {.name = "fixture",
                                                 .doc = "All types.",
                                                 .rows = fixture_rows,
                                                 .n_rows = (int)G_N_ELEMENTS(fixture_rows),
                                                 .struct_size = sizeof(struct fixture_params),
                                                 .check = fixture_check};

#endif
