/* model_params.h - the parameters of every model, one X-macro table each.
 *
 * models/<group>_params.def is the only place where a parameter's name, unit,
 * default, range, source and meaning are written (see sim/params.h).
 */
#ifndef FABRICAST_MODELS_MODEL_PARAMS_H
#define FABRICAST_MODELS_MODEL_PARAMS_H

#include "sim/params.h"

#define P PARAMS_MEMBER
struct link_params {
#include "models/link_params.def"
};
struct switch_params {
#include "models/switch_params.def"
};
struct buffer_params {
#include "models/buffer_params.def"
};
struct pfc_params {
#include "models/pfc_params.def"
};
struct ecn_params {
#include "models/ecn_params.def"
};
struct nic_params {
#include "models/nic_params.def"
};
struct dcqcn_params {
#include "models/dcqcn_params.def"
};
struct dctcp_params {
#include "models/cc_dctcp_params.def"
};
struct swift_params {
#include "models/cc_swift_params.def"
};
struct timely_params {
#include "models/cc_timely_params.def"
};
struct hpcc_params {
#include "models/cc_hpcc_params.def"
};
struct credit_params {
#include "models/cc_credit_params.def"
};
struct node_params {
#include "models/node_params.def"
};
struct qos_params {
#include "models/qos_params.def"
};
struct pfcwd_params {
#include "models/pfcwd_params.def"
};
struct ib_params {
#include "models/ib_params.def"
};
struct fault_params {
#include "models/fault_params.def"
};
#undef P

enum switch_forwarding { SWITCH_STORE_AND_FORWARD, SWITCH_CUT_THROUGH };
enum buffer_headroom_rule { BUFFER_HEADROOM_PHYSICAL, BUFFER_HEADROOM_RATE_DELAY, BUFFER_HEADROOM_FIXED };
enum ecn_mark_at { ECN_AT_DEQUEUE, ECN_AT_ENQUEUE };
enum nic_congestion_control {
    NIC_CC_NONE, NIC_CC_DCQCN, NIC_CC_DCTCP, NIC_CC_HPCC, NIC_CC_SWIFT, NIC_CC_TIMELY, NIC_CC_CREDIT,
};
enum nic_source_port { NIC_SPORT_RANDOM, NIC_SPORT_QPN };
enum nic_qp_scheme { NIC_QP_ROUND_ROBIN, NIC_QP_SPLIT };
enum nic_recovery { NIC_GO_BACK_N, NIC_SELECTIVE_REPEAT };
enum link_fec { LINK_FEC_NONE, LINK_FEC_RS528, LINK_FEC_RS544 };
enum buffer_threshold_mode { BUFFER_DYNAMIC, BUFFER_STATIC };
enum qos_trust { QOS_TRUST_DSCP, QOS_TRUST_PCP };
enum pfcwd_action { PFCWD_DROP, PFCWD_FORWARD, PFCWD_ALERT };
enum fault_kind {
    FAULT_NONE, FAULT_LINK_DOWN, FAULT_DEGRADED_RATE, FAULT_RAISED_BER, FAULT_SWITCH_REBOOT, FAULT_NIC_PORT_DOWN,
    FAULT_STRAGGLER, FAULT_PAUSE_STORM, FAULT_DROP_PACKET, FAULT_SLOW_RECEIVER,
};
enum fault_packet { FAULT_DATA, FAULT_ACK, FAULT_NAK, FAULT_CNP, FAULT_PAUSE, FAULT_RESUME };
enum nic_np_mode { NIC_NP_CNP, NIC_NP_ACK_ECHO };
enum dcqcn_behaviour { DCQCN_NVIDIA, DCQCN_PAPER };

extern const struct param_group link_param_group, switch_param_group, buffer_param_group, pfc_param_group,
    ecn_param_group, nic_param_group, dcqcn_param_group, node_param_group, qos_param_group, pfcwd_param_group,
    fault_param_group, ib_param_group, dctcp_param_group, swift_param_group, timely_param_group, hpcc_param_group, credit_param_group;

/* The word of nic.congestion_control, which is also the name of the law's parameter group (none has none). */
const char *model_cc_name(int congestion_control);
/* Parses a list of classes ("3,4", "none") into a bit mask; false with ERR set for anything else. */
bool model_parse_classes(const char *text, uint8_t *mask, GError **err);
/* Parses eight positive weights ("1,1,2,..."). */
bool model_parse_weights(const char *text, uint32_t weights[8], GError **err);
/* Parses a map such as "0-63:0 26:3 48:6" (later entries win) of N keys 0..N-1, all of which must be named, to numbers
 * 0..7; for N = 64 also "dscp/8". */
bool model_parse_map(const char *text, uint8_t *to, int n, GError **err);
/* An entry of a VL arbitration table; weight in bytes. */
struct model_vl_share { uint8_t vl; int32_t bytes; };
#define MODEL_VL_SHARES 64
/* Parses "VL:weight,..." (weight 0 to 255 times 64 B) into at most MODEL_VL_SHARES entries; their number, -1 with ERR set. */
int model_parse_vlarb(const char *text, struct model_vl_share *out, GError **err);
/* Parses eight numbers 0..MAX separated by blanks or commas. */
bool model_parse_eight(const char *text, uint8_t to[8], int max, GError **err);

#endif
