/* twin.c - the same run without its faults: what they cost. */
#include "scenarios/run_priv.h"

static bool not_interrupted(void *user, struct net *net, sim_ps now_ps)
{
    const struct run *run = user;
    (void)net, (void)now_ps;
    return !(run->options->interrupt && *run->options->interrupt);
}

sim_ps run_end_of(const struct run *run, const struct net *net)
{
    sim_ps end_ps = 0;
    for (uint32_t i = 0; i < job_n_ops(run->job); i++)
        end_ps = MAX(end_ps, net_op_done_ps(net, i));
    return end_ps;
}

void twin_compare(struct run *run)
{
    double with_faults;
    if (run->faults->len == 0 || !run->params->healthy_twin || !record_summary_get(run->book, "makespan_ps", &with_faults))
        return;
    struct net_config config = run->config;
    config.faults = NULL;
    config.n_faults = 0;
    config.n_capture_ports = 0;
    config.record_pause_events = false;
    g_autoptr(GError) err = NULL;
    struct net *net = net_new(&run->fabric->graph, run->job, &config, &err);
    if (!net)
        return; /* cannot be: it is less than what has run */
    enum net_verdict verdict = net_run(net, SIM_PS_MAX / 2, run->params->deadlock_after_ps, run->n_threads, not_interrupted, run);
    if (verdict == NET_FINISHED) {
        double healthy = (double)run_end_of(run, net);
        record_summary_set(run->book, "healthy_makespan_ps", healthy, "ps", "end of the last operation of the same run without its faults");
        record_summary_set(run->book, "fault_cost_ps", with_faults - healthy, "ps", "time lost to the faults");
    }
    net_free(net);
}
