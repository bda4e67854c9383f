"""Closed forms of the control loops: PFC headroom, DCQCN fixed points and stability."""
import os
import statistics

import fab

HEADROOM_BYTES = 30_000
FLOW_HEAD = "flow,src,dst,bytes,start_us,after_flow\n"


# ---- headroom ---------------------------------------------------------------

def switch_ports(result):
    """Ports of headroom.ini's switch towards its 8 hosts, in host order."""
    ports = result.table("ports")
    fab.expect(len(ports) == 16, f"{len(ports)} ports, expected 8 of hosts and 8 of the switch")
    return ports[8:]


def case_headroom(context):
    """Headroom of one round trip and the frames in hand loses nothing and is never exceeded.

    After the switch has queued XOFF: it waits for an ACK being sent (86 B, 6.9 ns at 12.5 B/ns), is
    sent (84 B, 6.7 ns), travels 1 us; the sender ends the frame that it has begun (up to 4,178 B) and
    the last bit travels 1 us. So 2,013.6 ns x 12.5 B/ns + 4,178 B = 29,348 B of wire, of which
    4158/4178 counts as frames: 29,208 B. 30,000 B are enough; between 20,000 and 30,000 B are used.
    XOFF is at most reserve + alpha x (pool without reserves and headroom) = 4,096 + (4 MiB - 8 x
    34,096) / 8 = 494,288 B.
    """
    result = context.run_ok("headroom.ini")
    fab.expect(result.summary("drop_pkts") == 0, f"{result.summary('drop_pkts')} drops with enough headroom")
    fab.expect(result.summary("pfc_pause_frames") > 0, "nothing was paused: the case shows nothing")
    used = max(port["headroom_max_bytes"] for port in switch_ports(result))
    fab.expect_between("headroom used", used, 20_000, HEADROOM_BYTES)
    xoff = 4096 + (4 * 2**20 - 8 * (HEADROOM_BYTES + 4096)) / 8
    most = max(port["ingress_max_bytes"] for port in switch_ports(result))
    fab.expect_between("largest ingress occupancy", most, 0.5 * xoff, xoff + HEADROOM_BYTES)


def case_headroom_half(context):
    """Half the headroom: drops are counted, located at the paused ingress ports, and named.

    15,000 B of the 29,208 B that still arrive (case headroom) have room: at least (29,208 - 4,158 -
    15,000) / 4,158 = 2 packets are lost each time that a sender at line rate is paused.
    """
    result = context.run("headroom.ini", sets=["buffer.headroom_scale=0.5"])
    drops = result.summary("drop_pkts")
    fab.expect(drops > 0, "no drop with half the headroom")
    ports = switch_ports(result)
    located = sum(port["drop_pkts"] for port in ports[:7])  # ingress from hosts 0..6, the senders
    fab.expect(located == drops, f"{drops} drops, {located} of them at the ingress ports of the senders")
    most = max(port["headroom_max_bytes"] for port in ports)
    fab.expect(most <= HEADROOM_BYTES // 2, f"{most} B of headroom used, 15,000 granted")
    fab.expect_text(result.stderr, r"drop", r"headroom", r"15,?000 ?B")


# ---- DCQCN, 40 Gb/s, parameters of SIGCOMM 2015 -------------------------------

def dcqcn_tail(context, n_flows, delay, until_ms, seed=1):
    """Samples of the bottleneck queue (bytes) and mean rate of each flow (bit/s) in the second half."""
    rows = "".join(f"{i},{i},{n_flows},2000000000,0,-1\n" for i in range(n_flows))
    flows_file = context.scratch_file("flows.csv", FLOW_HEAD + rows)
    store = os.path.join(context.scratch, "run.h5")
    result = context.run("dcqcn_40g.ini", until=f"{until_ms}ms", out=store, seed=seed,
                         sets=[f"topology.hosts={n_flows + 1}", f"topology.host_delay={delay}",
                               f"workload.file={flows_file}"])
    fab.expect_exit(result, fab.UNFINISHED)  # the flows are longer than the run, as meant
    fab.expect(result.summary("pfc_pause_frames") == 0, "PFC acted: the queue is not DCQCN's alone")
    half_ps = until_ms * 500_000_000
    return tail_queue(result, store, n_flows, half_ps), tail_rates(store, n_flows, half_ps)


def tail_queue(result, store, n_flows, from_ps):
    bottleneck = result.table("ports")[2 * (n_flows + 1) - 1]["port"]  # the switch's port to the last host
    queue = fab.series(store, "series/queue")
    times = {t for t in queue["t_ps"] if t >= from_ps}
    held = dict.fromkeys(times, 0)
    for t_ps, port, size in zip(queue["t_ps"], queue["port"], queue["bytes"]):
        if t_ps >= from_ps and port == bottleneck:
            held[t_ps] += size
    fab.expect(len(held) > 500, f"only {len(held)} queue samples in the second half")
    return list(held.values())


def tail_rates(store, n_flows, from_ps):
    rate = fab.series(store, "series/rate")
    samples = [[] for _ in range(n_flows)]
    for t_ps, flow, bps in zip(rate["t_ps"], rate["flow"], rate["rate_bps"]):
        if t_ps >= from_ps:
            samples[int(flow)].append(bps)
    return [statistics.fmean(s) for s in samples]


def case_dcqcn_fixed_point(context):
    """2, 4 and 8 flows at 40G settle at the fluid model's queue, and share equally.

    Fixed point of the fluid model (ECN or Delay, CoNEXT 2016): p* solves a^2 alpha / ((b+d)(c+e)) =
    tau^2 R_AI C/N; q* = Kmin + p*/Pmax (Kmax - Kmin), Kmin 5 KB, Kmax 200 KB, Pmax 1 %:
    N = 2: p* 0.0777 %, 20.2 KB; N = 4: 0.189 %, 41.8 KB; N = 8: 0.455 %, 93.8 KB. Within 25 %.
    """
    for n_flows, expected in ((2, 20_200), (4, 41_800), (8, 93_800)):
        queue, rates = dcqcn_tail(context, n_flows, "1us", 400)
        fab.expect_between(f"mean queue, N = {n_flows} [B]", statistics.fmean(queue), 0.75 * expected, 1.25 * expected)
        fab.expect_between(f"Jain fairness, N = {n_flows}", fab.jain(rates), 0.98, 1.0)


def case_dcqcn_pinned(context):
    """32 flows need more marks than Pmax gives (p* 2.56 % > 1 %): the queue stays at Kmax, 200 KB."""
    queue, rates = dcqcn_tail(context, 32, "1us", 400)
    fab.expect_between("mean queue, N = 32 [B]", statistics.fmean(queue), 150_000, 250_000)
    fab.expect_between("Jain fairness, N = 32", fab.jain(rates), 0.98, 1.0)


def case_dcqcn_stability(context):
    """10 flows: a control loop of 85 us oscillates, one of 4 us settles.

    The loop is four links: a mark travels switch - receiver - switch - sender, the new rate sender -
    switch. Linearised about the fixed point (122.6 KB) the phase margin is 9 degrees at 4 us and -3 at
    85 us. Measure: standard deviation of the queue over its mean, in the second half of the run.
    """
    spread = {}
    for delay in ("1us", "21.25us"):
        queue, _ = dcqcn_tail(context, 10, delay, 400)
        spread[delay] = statistics.pstdev(queue) / statistics.fmean(queue)
        print(f"  loop of 4 x {delay}: mean {statistics.fmean(queue):,.0f} B, std/mean {spread[delay]:.3f}")
    fab.expect(spread["1us"] < 0.5, f"4 us does not settle: std/mean {spread['1us']:.3f}")
    fab.expect(spread["21.25us"] > 1.5 * spread["1us"], "85 us oscillates no more than 4 us")
