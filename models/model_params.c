/* model_params.c - descriptor rows of the model parameter tables, and their cross-checks. */
#include "models/model_params.h"

#define P PARAMS_ASSERT
#include "models/link_params.def"
#include "models/switch_params.def"
#include "models/buffer_params.def"
#include "models/pfc_params.def"
#include "models/ecn_params.def"
#include "models/nic_params.def"
#include "models/dcqcn_params.def"
#include "models/node_params.def"
#undef P

#define P PARAMS_ROW
#define PARAMS_TYPE link_params
static const struct param_desc link_rows[] = {
#include "models/link_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE switch_params
static const struct param_desc switch_rows[] = {
#include "models/switch_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE buffer_params
static const struct param_desc buffer_rows[] = {
#include "models/buffer_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE pfc_params
static const struct param_desc pfc_rows[] = {
#include "models/pfc_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE ecn_params
static const struct param_desc ecn_rows[] = {
#include "models/ecn_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE nic_params
static const struct param_desc nic_rows[] = {
#include "models/nic_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE dcqcn_params
static const struct param_desc dcqcn_rows[] = {
#include "models/dcqcn_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE node_params
static const struct param_desc node_rows[] = {
#include "models/node_params.def"
};
#undef PARAMS_TYPE
#undef P

bool model_parse_classes(const char *text, uint8_t *mask, GError **err)
{
    uint8_t found = 0;
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    if (g_ascii_strcasecmp(g_strstrip(parts[0] ? parts[0] : (char[]){""}), "none") == 0 && !parts[1]) {
        *mask = 0;
        return true;
    }
    for (char **p = parts; *p; p++) {
        const char *s = g_strstrip(*p);
        if (s[0] < '0' || s[0] > '7' || s[1] != '\0') {
            g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX,
                        "'%s' is not a list of classes; allowed: numbers 0 to 7 with commas, or none", text);
            return false;
        }
        found = (uint8_t)(found | 1u << (s[0] - '0'));
    }
    if (!parts[0]) {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "empty list of classes; write none for no class");
        return false;
    }
    *mask = found;
    return true;
}

bool model_parse_weights(const char *text, uint32_t weights[8], GError **err)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    bool ok = g_strv_length(parts) == 8;
    for (int i = 0; ok && i < 8; i++) {
        int64_t w = 0;
        ok = units_parse_int(g_strstrip(parts[i]), &w, NULL) && w >= 1 && w <= 10000;
        if (ok)
            weights[i] = (uint32_t)w;
    }
    if (!ok)
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "'%s' is not eight weights of 1 to 10000 with commas", text);
    return ok;
}

static bool check_switch(const void *values, const char **key, GError **err)
{
    const struct switch_params *p = values;
    uint8_t mask;
    uint32_t weights[8];
    *key = "strict_classes";
    if (!model_parse_classes(p->strict_classes, &mask, err))
        return false;
    *key = "dwrr_weights";
    return model_parse_weights(p->dwrr_weights, weights, err);
}

static bool check_pfc(const void *values, const char **key, GError **err)
{
    const struct pfc_params *p = values;
    uint8_t mask;
    *key = "lossless_classes";
    return model_parse_classes(p->lossless_classes, &mask, err);
}

static bool check_ecn(const void *values, const char **key, GError **err)
{
    const struct ecn_params *p = values;
    uint8_t mask;
    *key = "classes";
    if (!model_parse_classes(p->classes, &mask, err))
        return false;
    *key = "kmin";
    for (int i = 0; i < p->kmin.n; i++) {
        double kmax = 0;
        if (p->kmin.rate_bps[i] == 0 && p->kmax.n == 1)
            kmax = p->kmax.value[0];
        else if (!param_map_get(&p->kmax, p->kmin.rate_bps[i], &kmax))
            continue; /* a rate that no link has needs no rule; the build names a link without one */
        if (p->kmin.value[i] > kmax) {
            g_autofree char *lo = units_format_bytes((int64_t)p->kmin.value[i]);
            g_autofree char *hi = units_format_bytes((int64_t)kmax);
            g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "kmin %s is above kmax %s; allowed: kmin <= kmax", lo, hi);
            return false;
        }
    }
    return true;
}

static bool check_nic(const void *values, const char **key, GError **err)
{
    const struct nic_params *p = values;
    int64_t window_pkts = (p->window_bytes + p->mtu_bytes - 1) / p->mtu_bytes;
    *key = "window";
    if (p->window_bytes == 0 || window_pkts >= p->ack_interval)
        return true;
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS,
                "a window of %" G_GINT64_FORMAT " packets would wait for ever for an ACK every %" G_GINT64_FORMAT
                "; allowed: at least ack_interval packets, or 0",
                window_pkts, p->ack_interval);
    return false;
}

static bool check_dcqcn(const void *values, const char **key, GError **err)
{
    const struct dcqcn_params *p = values;
    *key = "rpg_min_rate";
    if (p->rpg_max_rate_bps == 0 || p->rpg_min_rate_bps <= p->rpg_max_rate_bps)
        return true;
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "rpg_min_rate is above rpg_max_rate");
    return false;
}

#define GROUP(name_, doc_, check_)                                                                              \
    const struct param_group name_##_param_group = {.name = #name_, .doc = doc_, .rows = name_##_rows,           \
                                                    .n_rows = (int)G_N_ELEMENTS(name_##_rows),                   \
                                                    .struct_size = sizeof(struct name_##_params), .check = check_}

GROUP(link, "Framing and latency of links.", NULL);
GROUP(switch, "Forwarding and scheduling in switches.", check_switch);
GROUP(buffer, "Shared packet buffer of switches.", NULL);
GROUP(pfc, "Priority flow control.", check_pfc);
GROUP(ecn, "ECN marking in switches (DCQCN congestion point).", check_ecn);
GROUP(nic, "RDMA NICs and their queue pairs.", check_nic);
GROUP(dcqcn, "DCQCN rate control of NICs (reaction and notification point).", check_dcqcn);
GROUP(node, "Inside a server.", NULL);
