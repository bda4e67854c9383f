/* model_params.c - descriptor rows of the model parameter tables, and their cross-checks. */
#include "models/model_params.h"

#include <string.h>

#define P PARAMS_ASSERT
#include "models/link_params.def"
#include "models/switch_params.def"
#include "models/buffer_params.def"
#include "models/pfc_params.def"
#include "models/ecn_params.def"
#include "models/nic_params.def"
#include "models/dcqcn_params.def"
#include "models/node_params.def"
#include "models/qos_params.def"
#include "models/pfcwd_params.def"
#include "models/fault_params.def"
#include "models/ib_params.def"
#include "models/cc_dctcp_params.def"
#include "models/cc_swift_params.def"
#include "models/cc_timely_params.def"
#include "models/cc_hpcc_params.def"
#include "models/cc_credit_params.def"
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
#define PARAMS_TYPE qos_params
static const struct param_desc qos_rows[] = {
#include "models/qos_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE pfcwd_params
static const struct param_desc pfcwd_rows[] = {
#include "models/pfcwd_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE fault_params
static const struct param_desc fault_rows[] = {
#include "models/fault_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE ib_params
static const struct param_desc ib_rows[] = {
#include "models/ib_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE dctcp_params
static const struct param_desc dctcp_rows[] = {
#include "models/cc_dctcp_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE swift_params
static const struct param_desc swift_rows[] = {
#include "models/cc_swift_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE timely_params
static const struct param_desc timely_rows[] = {
#include "models/cc_timely_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE hpcc_params
static const struct param_desc hpcc_rows[] = {
#include "models/cc_hpcc_params.def"
};
#undef PARAMS_TYPE
#define PARAMS_TYPE credit_params
static const struct param_desc credit_rows[] = {
#include "models/cc_credit_params.def"
};
#undef PARAMS_TYPE
#undef P

const char *model_cc_name(int congestion_control)
{
    static const char *const names[] = {"none", "dcqcn", "dctcp", "hpcc", "swift", "timely", "credit"};
    return names[congestion_control];
}

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

static bool map_entry(const char *entry, uint8_t *to, int n)
{
    g_auto(GStrv) sides = g_strsplit(entry, ":", 2);
    if (g_strv_length(sides) != 2)
        return false;
    g_auto(GStrv) range = g_strsplit(sides[0], "-", 2);
    int64_t lo, hi, value;
    if (!units_parse_int(range[0], &lo, NULL) || !units_parse_int(range[1] ? range[1] : range[0], &hi, NULL) ||
        !units_parse_int(sides[1], &value, NULL) || lo < 0 || hi >= n || lo > hi || value < 0 || value > 7)
        return false;
    memset(to + lo, (int)value, (size_t)(hi - lo + 1));
    return true;
}

bool model_parse_map(const char *text, uint8_t *to, int n, GError **err)
{
    if (n == 64 && strcmp(text, "dscp/8") == 0) {
        for (int i = 0; i < n; i++)
            to[i] = (uint8_t)(i / 8);
        return true;
    }
    memset(to, 0xff, (size_t)n);
    g_auto(GStrv) entries = g_strsplit_set(text, " ,\t", -1);
    for (char **e = entries; *e; e++)
        if (**e && !map_entry(*e, to, n)) {
            g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX,
                        "'%s' is not an entry of this map; allowed: key:value or first-last:value with keys 0 to %d and values 0 to 7", *e, n - 1);
            return false;
        }
    for (int i = 0; i < n; i++)
        if (to[i] == 0xff) {
            g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "the map '%s' has no value for %d; allowed: one for each of 0 to %d", text, i, n - 1);
            return false;
        }
    return true;
}

bool model_parse_eight(const char *text, uint8_t to[8], int max, GError **err)
{
    int n = 0;
    g_auto(GStrv) parts = g_strsplit_set(text, " ,\t", -1);
    for (char **p = parts; *p; p++) {
        int64_t value;
        if (!**p)
            continue;
        if (n == 8 || !units_parse_int(*p, &value, NULL) || value < 0 || value > max) {
            n = -1;
            break;
        }
        to[n++] = (uint8_t)value;
    }
    if (n != 8)
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "'%s' is not eight numbers of 0 to %d", text, max);
    return n == 8;
}

int model_parse_vlarb(const char *text, struct model_vl_share *out, GError **err)
{
    int n = 0;
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    for (char **p = parts; *p; p++) {
        g_auto(GStrv) pair = g_strsplit(*p, ":", -1);
        int64_t vl = 0, weight = 0;
        if (g_strv_length(pair) != 2 || !units_parse_int(g_strstrip(pair[0]), &vl, NULL) ||
            !units_parse_int(g_strstrip(pair[1]), &weight, NULL) || vl < 0 || vl > 14 || weight < 0 || weight > 255) {
            g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX,
                        "'%s' is not an entry of a VL arbitration table; allowed: VL:weight with VL 0 to 14 and weight 0 to 255, commas between "
                        "entries", *p);
            return -1;
        }
        if (n == MODEL_VL_SHARES) {
            g_set_error(err, PARAM_ERROR, PARAM_ERROR_SYNTAX, "a VL arbitration table of more than %d entries", MODEL_VL_SHARES);
            return -1;
        }
        out[n++] = (struct model_vl_share){(uint8_t)vl, (int32_t)weight * 64};
    }
    return n;
}

static bool check_ib(const void *values, const char **key, GError **err)
{
    const struct ib_params *p = values;
    struct model_vl_share shares[MODEL_VL_SHARES];
    uint8_t vl_of_sl[8];
    uint32_t served = 0;
    *key = "sl2vl";
    if (!model_parse_eight(p->sl2vl, vl_of_sl, 14, err))
        return false;
    for (int high = 0; high < 2; high++) {
        *key = high ? "vlarb_high" : "vlarb_low";
        int n = model_parse_vlarb(high ? p->vlarb_high : p->vlarb_low, shares, err);
        if (n < 0)
            return false;
        for (int i = 0; i < n; i++)
            served |= shares[i].bytes > 0 ? 1u << shares[i].vl : 0;
    }
    *key = "vlarb_low";
    for (uint32_t sl = 0; sl < 8; sl++) {
        uint32_t vl = vl_of_sl[sl] % (uint32_t)p->vls;
        if (!(served >> vl & 1)) {
            g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS,
                        "VL %u, which sl2vl gives to SL %u, has no weight in either table and would never send; allowed: a weight above 0 for every "
                        "VL in use", vl, sl);
            return false;
        }
    }
    return true;
}

static bool check_qos(const void *values, const char **key, GError **err)
{
    const struct qos_params *p = values;
    uint8_t map[64];
    *key = "dscp_to_tc";
    if (!model_parse_map(p->dscp_to_tc, map, 64, err))
        return false;
    const struct { const char *key, *text; } eight[] = {{"pcp_to_tc", p->pcp_to_tc}, {"tc_to_queue", p->tc_to_queue}, {"tc_to_pg", p->tc_to_pg},
                                                        {"pfc_to_queue", p->pfc_to_queue}, {"pfc_to_pg", p->pfc_to_pg}};
    for (size_t i = 0; i < G_N_ELEMENTS(eight); i++) {
        *key = eight[i].key;
        if (!model_parse_map(eight[i].text, map, 8, err))
            return false;
    }
    return true;
}

static bool check_pfcwd(const void *values, const char **key, GError **err)
{
    const struct pfcwd_params *p = values;
    *key = p->detection_time_ps < p->poll_interval_ps ? "detection_time" : "restoration_time";
    if (MIN(p->detection_time_ps, p->restoration_time_ps) >= p->poll_interval_ps)
        return true;
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "%s is below poll_interval; allowed: at least poll_interval", *key);
    return false;
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
    uint8_t eight[8], mask;
    uint32_t weights[8];
    *key = "class_dscp";
    if (!model_parse_eight(p->class_dscp, eight, 63, err))
        return false;
    *key = "class_pcp";
    if (!model_parse_eight(p->class_pcp, eight, 7, err))
        return false;
    *key = "ets_strict_classes";
    if (!model_parse_classes(p->ets_strict_classes, &mask, err))
        return false;
    *key = "ets_weights";
    if (!model_parse_weights(p->ets_weights, weights, err))
        return false;
    *key = p->rx_xoff_bytes > p->rx_buffer_bytes ? "rx_xoff" : "rx_xon";
    if (p->rx_xoff_bytes > p->rx_buffer_bytes || p->rx_xon_bytes > p->rx_xoff_bytes) {
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "%s is too large; allowed: rx_xon <= rx_xoff <= rx_buffer", *key);
        return false;
    }
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

static bool check_swift(const void *values, const char **key, GError **err)
{
    const struct swift_params *p = values;
    *key = "fs_min_cwnd";
    if (p->fs_min_cwnd < p->fs_max_cwnd)
        return true;
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "fs_min_cwnd %g is not below fs_max_cwnd %g", p->fs_min_cwnd, p->fs_max_cwnd);
    return false;
}

static bool check_timely(const void *values, const char **key, GError **err)
{
    const struct timely_params *p = values;
    *key = "t_low";
    if (p->t_low_ps <= p->t_high_ps)
        return true;
    g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "t_low is above t_high; allowed: t_low <= t_high");
    return false;
}

#define GROUP(name_, doc_, check_, scope_)                                                                      \
    const struct param_group name_##_param_group = {.name = #name_, .doc = doc_, .rows = name_##_rows,           \
                                                    .n_rows = (int)G_N_ELEMENTS(name_##_rows),                   \
                                                    .struct_size = sizeof(struct name_##_params), .check = check_, \
                                                    .scope = scope_}

GROUP(link, "Framing, latency and bit errors of links.", NULL, PARAM_SCOPE_SITE);
GROUP(switch, "Forwarding and scheduling in switches.", check_switch, PARAM_SCOPE_SITE);
GROUP(qos, "Maps of priorities to classes, queues and pause frames, in switches and NICs.", check_qos, PARAM_SCOPE_SITE);
GROUP(buffer, "Shared packet buffer of switches.", NULL, PARAM_SCOPE_SITE);
GROUP(pfc, "Priority flow control.", check_pfc, PARAM_SCOPE_SITE);
GROUP(pfcwd, "PFC watchdog.", check_pfcwd, PARAM_SCOPE_SITE);
GROUP(ecn, "ECN marking in switches (DCQCN congestion point).", check_ecn, PARAM_SCOPE_SITE);
GROUP(nic, "RDMA NICs and their queue pairs.", check_nic, PARAM_SCOPE_SITE);
GROUP(dcqcn, "DCQCN rate control of NICs (reaction and notification point).", check_dcqcn, PARAM_SCOPE_RUN);
GROUP(node, "Inside a server.", NULL, PARAM_SCOPE_RUN);
GROUP(ib, "InfiniBand link layer: packets, credits, virtual lanes; where topology.link_layer is infiniband.", check_ib, PARAM_SCOPE_RUN);
GROUP(fault, "What breaks during a run, one section [fault:NAME] each.", NULL, PARAM_SCOPE_LIST);
GROUP(dctcp, "DCTCP window control of NICs.", NULL, PARAM_SCOPE_RUN);
GROUP(swift, "Swift window control of NICs by round-trip delay.", check_swift, PARAM_SCOPE_RUN);
GROUP(timely, "TIMELY rate control of NICs by the gradient of round trips.", check_timely, PARAM_SCOPE_RUN);
GROUP(hpcc, "HPCC window control of NICs by in-band telemetry.", NULL, PARAM_SCOPE_RUN);
GROUP(credit, "Credits that receivers grant to senders.", NULL, PARAM_SCOPE_RUN);
