/* net_loss.h - losses and reordering for tests: a hook of net_fixture_run_hook() that looks at the frames which arrive
 * at one node in the window about to run, each once, and takes some out or puts them later.
 */
#ifndef FABRICAST_TESTS_NET_LOSS_H
#define FABRICAST_TESTS_NET_LOSS_H

#include "models/net_fixture.h"
#include "sim/rng.h"

struct net_loss {
    uint32_t at;           /* host whose arrivals are looked at */
    enum packet_kind kind;
    uint64_t nth, n;       /* frames nth, nth + 1 ... nth + n - 1 of that kind are lost, counted from 1; n 0: none */
    uint64_t psn_plus_1;   /* the first arrival of this PSN is lost, too; 0: none */
    double probability;    /* that any other one is */
    uint32_t swap_every, swap_by; /* each frame with a number divisible by swap_every comes so many frames later, where the window holds them */
    uint64_t seen, lost, moved;
};

static inline bool net_loss_takes(struct net_loss *loss, uint32_t psn)
{
    loss->seen++;
    if (loss->psn_plus_1 == (uint64_t)psn + 1) {
        loss->psn_plus_1 = 0;
        return true;
    }
    if (loss->seen >= loss->nth && loss->seen < loss->nth + loss->n)
        return true;
    return loss->probability > 0 && (double)sim_rng(1, loss->at, SIM_RNG_START, loss->seen) * 0x1p-64 < loss->probability;
}

static inline void net_loss_move(struct net_loss *loss, struct sim_bucket *bucket, uint32_t i)
{
    struct sim_record moved = *sim_bucket_at(bucket, i);
    for (uint32_t k = i; k < i + loss->swap_by; k++) { /* the times stay where they are */
        const struct sim_record *next = sim_bucket_at(bucket, k + 1);
        struct sim_record *to = (struct sim_record *)(uintptr_t)sim_bucket_at(bucket, k);
        to->a = next->a, to->b = next->b, to->c = next->c;
    }
    struct sim_record *to = (struct sim_record *)(uintptr_t)sim_bucket_at(bucket, i + loss->swap_by);
    to->a = moved.a, to->b = moved.b, to->c = moved.c;
    loss->moved++;
}

static inline void net_loss_reorder(struct net_loss *loss, struct sim_bucket *bucket)
{
    for (uint32_t i = 0; i + loss->swap_by < bucket->n; i++)
        if (packet_kind(sim_bucket_at(bucket, i)->c) == loss->kind && sim_bucket_at(bucket, i)->b % loss->swap_every == 0) {
            net_loss_move(loss, bucket, i);
            i += loss->swap_by;
        }
}

static inline void net_loss_bucket(struct net_loss *loss, struct net_vertex *v, struct sim_bucket *bucket)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < bucket->n; i++) {
        const struct sim_record rec = *sim_bucket_at(bucket, i);
        if (packet_kind(rec.c) == loss->kind && net_loss_takes(loss, rec.b)) {
            v->ledger[packet_code(rec.c)].dropped_pkts++;
            v->ledger[packet_code(rec.c)].dropped_bytes += packet_bytes(rec.c);
            loss->lost++;
            continue;
        }
        *(struct sim_record *)(uintptr_t)sim_bucket_at(bucket, kept++) = rec;
    }
    bucket->n = kept;
}

static inline bool net_loss_hook(void *user, struct net *net, sim_ps now_ps)
{
    struct net_loss *loss = user;
    struct net_vertex *v = &net->vertex[net->vertex_of_graph[loss->at]];
    (void)now_ps;
    for (uint32_t p = v->first_port; p < v->first_port + v->n_ports; p++) {
        struct sim_bucket *bucket = &net->core->ahead[0].buckets[p];
        if (loss->swap_every)
            net_loss_reorder(loss, bucket);
        net_loss_bucket(loss, v, bucket);
    }
    return true;
}

static inline struct net_nic_counters net_fixture_nic(const struct net_fixture *f, uint32_t host)
{
    struct net_nic_counters n;
    net_nic_counters(f->net, f->graph.nodes[host].first_port, &n);
    return n;
}

#endif
