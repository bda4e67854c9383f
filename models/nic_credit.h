/* nic_credit.h - receiver's side of cc_credit.h: who wants to send here, and who may.
 *
 * Each receiving port has a ring of queue pairs with packets to be granted and one pacer: a grant is worth a full
 * packet at credit.rate of the port, and so is each unscheduled packet that comes in, which puts the next grant off. The
 * queue that N senders' unscheduled packets make therefore drains before anything is granted on top of it.
 *
 * Demand travels beside the packets, as telemetry does (ADR 0012): demand[queue pair][PSN mod ring] is written when a
 * packet is sent for the first time and read when it arrives for the first time.
 */
#ifndef FABRICAST_MODELS_NIC_CREDIT_H
#define FABRICAST_MODELS_NIC_CREDIT_H

#include "models/nic.h"

/* After the law has started. False with ERR set: no memory. */
bool nic_credit_build(struct net *net, GError **err);
void nic_credit_free(struct net *net);

/* Sender: packet PSN of QP is sent for the first time. */
void nic_credit_sent(struct net *net, uint32_t qp, uint32_t psn);
/* Sender: is there something that the receiver cannot know of? UNA_PSN, NEXT_PSN: acknowledged, and next to send. */
bool nic_credit_is_unknown(const struct net *net, uint32_t qp, uint32_t una_psn, uint32_t next_psn);

/* Receiver: packet PSN has come in that was not there before; what it does to the order is done. */
void nic_credit_received(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, uint32_t psn, sim_ps now_ps);
/* TIMER_CREDIT of a port, TIMER_CREDIT_RETRY of a queue pair */
void nic_credit_grant(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t port, sim_ps now_ps);
void nic_credit_retry(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t qp, sim_ps now_ps);

#endif
