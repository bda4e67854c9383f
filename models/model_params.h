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
struct node_params {
#include "models/node_params.def"
};
#undef P

enum switch_forwarding { SWITCH_STORE_AND_FORWARD, SWITCH_CUT_THROUGH };
enum buffer_headroom_rule { BUFFER_HEADROOM_PHYSICAL, BUFFER_HEADROOM_RATE_DELAY, BUFFER_HEADROOM_FIXED };
enum ecn_mark_at { ECN_AT_DEQUEUE, ECN_AT_ENQUEUE };
enum nic_congestion_control { NIC_CC_NONE, NIC_CC_DCQCN };
enum nic_np_mode { NIC_NP_CNP, NIC_NP_ACK_ECHO };
enum dcqcn_behaviour { DCQCN_NVIDIA, DCQCN_PAPER };

extern const struct param_group link_param_group, switch_param_group, buffer_param_group, pfc_param_group,
    ecn_param_group, nic_param_group, dcqcn_param_group, node_param_group;

/* Parses a list of classes ("3,4", "none") into a bit mask; false with ERR set for anything else. */
bool model_parse_classes(const char *text, uint8_t *mask, GError **err);
/* Parses eight positive weights ("1,1,2,..."). */
bool model_parse_weights(const char *text, uint32_t weights[8], GError **err);

#endif
