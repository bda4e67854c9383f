/* host.c - executes the job's operations on the ranks of a node.
 *
 * An op whose dependencies are done starts; starting may finish it at once and so
 * start others: those go to a stack of the node, never to the C stack. Transfers
 * between ranks of one server use the GPUs' NVLink ports, one transfer a port and
 * direction at a time; one that finds a side busy waits without holding the other.
 */
#include "models/fault.h"
#include "models/nic.h"

/* Nothing runs at or after this time (53 days): sums saturate here, and the run ends unfinished. */
#define HORIZON_PS (SIM_PS_MAX / 2)

static sim_ps later(sim_ps t_ps, sim_ps by_ps) { return by_ps < HORIZON_PS - t_ps ? t_ps + by_ps : HORIZON_PS; }

static void push(struct sim_core *core, struct net_vertex *v, uint32_t op)
{
    if (v->n_stack == v->cap_stack)
        sim_grow(core, &v->stack, &v->cap_stack, v->n_stack + 1, sizeof *v->stack);
    v->stack[v->n_stack++] = op;
}

/* Records the end of OP and stacks the ops that waited for it last. */
static void finish(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps)
{
    const struct job *job = net->job;
    net->op[op].done_ps = now_ps;
    __atomic_fetch_add(&net->ops_done, 1, __ATOMIC_RELAXED);
    /* Backwards, so that they come off the stack in the order of the job. */
    for (uint32_t i = job->succ_first[op + 1]; i-- > job->succ_first[op];)
        if (--net->op[job->succ[i]].left == 0)
            push(core, node->state, job->succ[i]);
}

/* Starts, in the order of posting, every waiting transfer whose two GPU sides are free. */
static void start_local(struct net *net, struct sim_core *core, struct sim_node *node, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    uint32_t kept = 0;
    v->local_look = false;
    for (uint32_t i = 0; i < v->n_local; i++) {
        uint32_t index = v->local[i];
        const struct job_op *op = job_op_at(net->job, index);
        if (net->nvlink_busy[op->rank] & NVLINK_TX || net->nvlink_busy[op->peer] & NVLINK_RX) {
            v->local[kept++] = index;
            continue;
        }
        net->nvlink_busy[op->rank] |= NVLINK_TX;
        net->nvlink_busy[op->peer] |= NVLINK_RX;
        sim_ps wire_ps = units_wire_ps(op->amount, net->config.node->nvlink_rate_bps);
        sim_timer_add(core, node, later(now_ps, wire_ps), NET_TIMER(TIMER_LOCAL_SENT, index));
    }
    v->n_local = kept;
}

/* Looks for transfers to start when all that ends at this time has ended: else the first GPU to become free would take
 * a receiver that is meant for one which becomes free a moment later, and a permutation would fall out of step. */
static void look_for_local(struct sim_core *core, struct sim_node *node, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    if (v->local_look || v->n_local == 0)
        return;
    v->local_look = true;
    sim_timer_add(core, node, now_ps, NET_TIMER(TIMER_LOCAL_START, 0));
}

static void local_transfer(struct sim_core *core, struct sim_node *node, uint32_t index, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    if (v->n_local == v->cap_local)
        sim_grow(core, &v->local, &v->cap_local, v->n_local + 1, sizeof *v->local);
    v->local[v->n_local++] = index;
    look_for_local(core, node, now_ps);
}

/* The bytes are out: both sides are free, and the data arrives a latency later. */
static void local_sent(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t index, sim_ps now_ps)
{
    const struct job_op *op = job_op_at(net->job, index);
    net->nvlink_busy[op->rank] &= (uint8_t)~NVLINK_TX;
    net->nvlink_busy[op->peer] &= (uint8_t)~NVLINK_RX;
    sim_timer_add(core, node, later(now_ps, net->config.node->nvlink_latency_ps), NET_TIMER(TIMER_LOCAL, index));
    look_for_local(core, node, now_ps);
}

/* Compute of a straggling node. */
static sim_ps slowed(const struct net *net, const struct job_op *op)
{
    double slowdown = fault_slowdown(net, op->rank);
    double ps = (double)op->amount * slowdown;
    return slowdown <= 1 ? op->amount : ps < (double)HORIZON_PS ? (sim_ps)ps : HORIZON_PS;
}

static void post(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t index, sim_ps now_ps)
{
    sim_ps latency_ps = net->nic[net->tx[net->op[index].qp].port]->tx_latency_ps;
    if (latency_ps == 0)
        nic_post(net, core, node, index, now_ps);
    else
        sim_timer_add(core, node, now_ps + latency_ps, NET_TIMER(TIMER_POST, index));
}

static void begin(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t index, sim_ps now_ps)
{
    const struct job_op *op = job_op_at(net->job, index);
    struct op_run *run = &net->op[index];
    run->start_ps = now_ps;
    run->started = 1;
    switch ((enum job_op_kind)op->kind) {
    case JOB_NOP:
        finish(net, core, node, index, now_ps);
        break;
    case JOB_COMPUTE:
        if (op->amount == 0)
            finish(net, core, node, index, now_ps);
        else
            sim_timer_add(core, node, later(now_ps, slowed(net, op)), NET_TIMER(TIMER_OP, index));
        break;
    case JOB_SEND:
        if (run->qp == NET_NONE)
            local_transfer(core, node, index, now_ps);
        else
            post(net, core, node, index, now_ps);
        break;
    case JOB_RECV:
        if (run->arrived)
            finish(net, core, node, index, now_ps);
        break;
    }
}

static void drain(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t floor, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    while (v->n_stack > floor) {
        uint32_t op = v->stack[--v->n_stack];
        sim_ps earliest_ps = job_op_at(net->job, op)->earliest_ps;
        if (earliest_ps > now_ps)
            sim_timer_add(core, node, earliest_ps, NET_TIMER(TIMER_OP, op));
        else
            begin(net, core, node, op, now_ps);
    }
}

void host_start_op(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    uint32_t floor = v->n_stack;
    push(core, v, op);
    drain(net, core, node, floor, now_ps);
}

void host_op_done(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t op, sim_ps now_ps)
{
    struct net_vertex *v = node->state;
    uint32_t floor = v->n_stack;
    finish(net, core, node, op, now_ps);
    drain(net, core, node, floor, now_ps);
}

void host_message_in(struct net *net, struct sim_core *core, struct sim_node *node, uint32_t msg, sim_ps now_ps)
{
    uint32_t recv = job_op_at(net->job, net_message_op(net, msg))->match;
    struct op_run *run = &net->op[recv];
    if (run->more_left > 0) { /* other parts of it are to come */
        run->more_left--;
        return;
    }
    run->arrived = 1;
    if (run->started)
        host_op_done(net, core, node, recv, now_ps);
}

void host_timer(struct net *net, struct sim_core *core, struct sim_node *node, enum net_timer kind, uint32_t op,
                sim_ps now_ps)
{
    if (kind == TIMER_LOCAL_START) {
        start_local(net, core, node, now_ps);
    } else if (kind == TIMER_LOCAL_SENT) {
        local_sent(net, core, node, op, now_ps);
    } else if (kind == TIMER_LOCAL) {
        host_message_in(net, core, node, op, now_ps);
        host_op_done(net, core, node, op, now_ps);
    } else if (!net->op[op].started) {
        host_start_op(net, core, node, op, now_ps); /* its earliest time has come */
    } else {
        host_op_done(net, core, node, op, now_ps); /* compute is over */
    }
}
