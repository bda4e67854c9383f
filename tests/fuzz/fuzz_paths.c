/* fuzz_paths.c - path files (CSV): what is read, and the ports that it names on a small leaf-spine fabric. */
#include "fuzz_fabric.h"
#include "fuzz_job.h"

#include <string.h>

#define N_HOSTS  8
#define MAX_HOPS 16

/* Two flows; hosts 0 to 7, leaves 8 to 9, spines 10 to 11. */
static struct job *make_job(void)
{
    struct job *job = job_new(N_HOSTS);
    for (uint32_t i = 0; i < 2; i++) {
        struct read_flow flow = {.id = i, .src = i, .dst = N_HOSTS - 1 - i, .bytes = 4096};
        read_add_flow(job, &flow);
    }
    return job;
}

static struct fabric *make_fabric(void)
{
    const struct topology_params params = {.kind = TOPOLOGY_LEAF_SPINE,
                                           .hosts = N_HOSTS,
                                           .tiers = 2,
                                           .leaf_radix = 8,
                                           .spine_radix = 8,
                                           .leaves = 2,
                                           .spines = 2,
                                           .host_rate_bps = 100 * UNIT_GBPS,
                                           .host_cable_mm = UNIT_M,
                                           .leaf_cable_mm = UNIT_M};
    GError *err = NULL;
    struct fabric *fabric = fabric_build_clos(&params, &err);
    FUZZ_REQUIRE_TEXT(fabric, err ? err->message : "no message");
    return fabric;
}

static void check_nodes(const struct fabric *fabric, const uint32_t *nodes, uint32_t n)
{
    uint32_t ports[MAX_HOPS];
    GError *err = NULL;
    int n_ports = routes_from_nodes(fabric, nodes, n, ports, MAX_HOPS, &err);
    if (n_ports < 0)
        fuzz_take_error(&err, NULL);
    else
        fuzz_check_path(fabric, ports, n_ports, nodes[0], nodes[n - 1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    GError *err = NULL;
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    struct job *job = make_job();
    struct fabric *fabric = make_fabric();
    if (!read_paths_from_bytes(FUZZ_NAME, data, n_bytes, job, warnings, &err))
        fuzz_take_error(&err, FUZZ_NAME);
    for (guint i = 0; i < job->paths->len; i++) {
        const struct job_path *path = &g_array_index(job->paths, struct job_path, i);
        check_nodes(fabric, path->data_nodes, path->n_data);
        check_nodes(fabric, path->ack_nodes, path->n_ack);
    }
    fabric_free(fabric);
    fuzz_take_job(job, &err);
    fuzz_take_warnings(warnings);
    return 0;
}
