/* topology_params.c - descriptor rows of [topology] and [routing], and their cross-checks. */
#include "topologies/topology_params.h"

#include "topologies/ecmp_hash.h"
#include <inttypes.h>

#define P PARAMS_ASSERT
#include "topologies/topology_params.def"
#include "topologies/routing_params.def"
#undef P

#define P           PARAMS_ROW
#define PARAMS_TYPE topology_params
static const struct param_desc topology_rows[] = {
#include "topologies/topology_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE routing_params
static const struct param_desc routing_rows[] = {
#include "topologies/routing_params.def"
};
#undef PARAMS_TYPE
#undef P

static bool cross(GError **err, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool cross(GError **err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(err, PARAM_ERROR, PARAM_ERROR_CROSS, text);
    return false;
}

static bool check_file(const struct topology_params *p, const char **key, GError **err)
{
    bool imports = p->kind >= TOPOLOGY_HPCC;
    bool has_file = p->file && p->file[0];
    *key = "file";
    if (imports && !has_file)
        return cross(err, "missing; the importers hpcc, htsim and edges need a file");
    if (!imports && has_file)
        return cross(err, "'%s' is given, but kind is a builder; a file goes with hpcc, htsim or edges",
                     p->file);
    return true;
}

static bool check_server(const struct topology_params *p, const char **key, GError **err)
{
    int64_t nics = p->nics_per_node ? p->nics_per_node : p->gpus_per_node;
    *key = "nics_per_node";
    if (p->gpus_per_node % nics != 0)
        return cross(err, "%" PRId64 " does not divide gpus_per_node = %" PRId64, nics, p->gpus_per_node);
    *key = "rails";
    if (p->rails && nics % p->rails != 0)
        return cross(err, "%" PRId64 " does not divide nics_per_node = %" PRId64, p->rails, nics);
    return true;
}

static bool check_cores(const struct topology_params *p, const char **key, GError **err)
{
    *key = "cores";
    if (p->tiers == 2 && p->cores)
        return cross(err, "%" PRId64 " cores need tiers = 3", p->cores);
    *key = "spine_oversubscription";
    if (p->tiers == 2 && p->spine_oversubscription > 0)
        return cross(err, "needs tiers = 3");
    return true;
}

static bool check_topology(const void *values, const char **key, GError **err)
{
    const struct topology_params *p = values;
    if (!check_file(p, key, err))
        return false;
    *key = "tiers";
    if (p->kind == TOPOLOGY_LEAF_SPINE && p->tiers != 2)
        return cross(err, "leaf_spine has 2 tiers; rail_clos builds 3");
    *key = "k";
    if (p->kind == TOPOLOGY_FAT_TREE && p->k % 2 != 0)
        return cross(err, "%" PRId64 " is odd; a fat tree needs an even number of ports", p->k);
    return p->kind != TOPOLOGY_RAIL_CLOS || (check_server(p, key, err) && check_cores(p, key, err));
}

static bool check_routing(const void *values, const char **key, GError **err)
{
    const struct routing_params *p = values;
    unsigned fields;
    *key = "hash_fields";
    if (!ecmp_parse_fields(p->hash_fields, &fields, err))
        return false;
    *key = "lft_file";
    if (p->engine == ROUTING_ENGINE_FILE && p->lft_file[0] == '\0') {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "engine file needs a file; allowed: the name of one");
        return false;
    }
    *key = "mode";
    if (p->engine == ROUTING_ENGINE_ECMP || p->mode == ROUTING_ECMP || p->mode == ROUTING_STATIC)
        return true;
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS,
                "packets that choose among ports do not go by forwarding tables; allowed with an engine: ecmp (no hash is asked then) or static");
    return false;
}

const struct param_group topology_param_group = {
    .name = "topology",
    .doc = "How the fabric is built, or the file it is read from.",
    .rows = topology_rows,
    .n_rows = (int)G_N_ELEMENTS(topology_rows),
    .struct_size = sizeof(struct topology_params),
    .check = check_topology,
};

const struct param_group routing_param_group = {
    .name = "routing",
    .doc = "How the path of a flow is chosen.",
    .rows = routing_rows,
    .n_rows = (int)G_N_ELEMENTS(routing_rows),
    .struct_size = sizeof(struct routing_params),
    .check = check_routing,
};
