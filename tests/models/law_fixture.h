/* law_fixture.h - one queue pair under a law of congestion control, fed by hand. */
#ifndef FABRICAST_TESTS_LAW_FIXTURE_H
#define FABRICAST_TESTS_LAW_FIXTURE_H

#include "models/cc.h"
#include "models/model_params.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct law {
    const struct cc_ops *ops;
    struct param_bag *bag;
    void *state;
    struct cc_rate rate;
    uint32_t psn, next_psn; /* acknowledged up to; next new one */
};

/* 100G, 10 us, packets of 1,000 B on the wire: 125 of them fill the path. */
static const struct cc_path law_path = {.port_bps = 100 * UNIT_GBPS, .bottleneck_bps = 100 * UNIT_GBPS, .base_rtt_ps = 10 * UNIT_US,
                                        .mtu_bytes = 1000, .wire_bytes = 1000, .n_hops = 3};
#define LAW_PATH_PKTS 125

static inline void law_start(struct law *law, const struct cc_ops *ops, const struct param_group *group, const struct cc_path *path,
                             const char *const *settings)
{
    static const struct param_group *groups[1];
    g_autoptr(GError) err = NULL;
    groups[0] = group;
    *law = (struct law){.ops = ops, .bag = param_bag_new(groups, 1)};
    for (; *settings; settings++)
        if (!param_bag_set_assignment(law->bag, *settings, PARAM_BY_COMMAND_LINE, "test", &err))
            fail_msg("%s", err->message);
    law->state = ops->new_state(param_bag_get(law->bag, group->name), 1);
    ops->start(law->state, 0, &law->rate, path);
}

static inline void law_stop(struct law *law)
{
    law->ops->free_state(law->state);
    param_bag_free(law->bag);
}

static inline struct cc_view law_view(const struct law *law)
{
    struct cc_view view;
    law->ops->view(law->state, 0, 0, &view);
    return view;
}

/* One packet is acknowledged, with this mark and round trip, while the window is full. */
static inline void law_ack(struct law *law, bool marked, sim_ps rtt_ps, sim_ps now_ps)
{
    law->psn++;
    law->next_psn = MAX(law->next_psn, law->psn - 1 + law->rate.window_pkts);
    const struct cc_ack ack = {.psn = law->psn, .next_psn = law->next_psn, .acked_pkts = 1, .acked_bytes = 1000, .marked = marked, .rtt_ps = rtt_ps};
    law->ops->on_ack(law->state, 0, &law->rate, &ack, now_ps);
}

static inline void law_lose(struct law *law, enum cc_loss loss, sim_ps now_ps)
{
    law->ops->on_loss(law->state, 0, &law->rate, loss, now_ps);
}

static inline void assert_close(double have, double want, double part)
{
    if (fabs(have - want) > part * fabs(want) + 1e-12)
        fail_msg("%.12g, expected %.12g", have, want);
}
#define NO_SETTINGS ((const char *const[]){NULL})

#endif
