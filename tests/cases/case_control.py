"""Closed forms of the control loops: PFC headroom, DCQCN fixed points and stability."""
import math
import os
import statistics

import fab

HEADROOM_BYTES = 34_000
GRAIN_PS = 50_000_000  # run.series_grain of dcqcn_40g.ini
FLOW_HEAD = "flow,src,dst,bytes,start_us,after_flow\n"


# ---- headroom ---------------------------------------------------------------

def switch_ports(result):
    """Ports of headroom.ini's switch towards its 8 hosts, in host order."""
    ports = result.table("ports")
    fab.expect(len(ports) == 16, f"{len(ports)} ports, expected 8 of hosts and 8 of the switch")
    return ports[8:]


def case_headroom(context):
    """Headroom of one round trip and the frames in hand loses nothing and is never exceeded.

    The frame that finds the threshold passed is the first in headroom (4,158 B). XOFF waits for an ACK
    being sent (86 B, 6.9 ns at 12.5 B/ns), is sent (84 B, 6.7 ns), travels 1 us; the sender ends the
    frame that it has begun (up to 4,178 B on the wire) and the last bit travels 1 us. 2,013.6 ns x 12.5
    B/ns + 4,178 B = 29,348 B of wire, 29,208 B of frames: 33,366 B in all, eight frames. 34,000 B are
    enough, and more than 25,000 B are used.
    XOFF is at most reserve + alpha x (pool without reserves and headroom) = 4,096 + (4 MiB - 8 x
    38,096) / 8 = 490,288 B.
    """
    result = context.run_ok("headroom.ini")
    fab.expect(result.summary("drop_pkts") == 0, f"{result.summary('drop_pkts')} drops with enough headroom")
    fab.expect(result.summary("pfc_pause_frames") > 0, "nothing was paused: the case shows nothing")
    used = max(port["headroom_max_bytes"] for port in switch_ports(result))
    fab.expect_between("headroom used", used, 25_000, HEADROOM_BYTES)
    xoff = 4096 + (4 * 2**20 - 8 * (HEADROOM_BYTES + 4096)) / 8
    most = max(port["ingress_max_bytes"] for port in switch_ports(result))
    fab.expect_between("largest ingress occupancy", most, 0.5 * xoff, xoff + HEADROOM_BYTES)


def case_headroom_half(context):
    """Half the headroom: drops are counted, located at the paused ingress ports, and reported.

    17,000 B hold four frames of the eight that case headroom needs for a sender at line rate.
    """
    result = context.run("headroom.ini", sets=["buffer.headroom_scale=0.5"])
    drops = result.summary("drop_pkts")
    fab.expect(drops > 0, "no drop with half the headroom")
    ports = switch_ports(result)
    located = sum(port["drop_pkts"] for port in ports[:7])  # ingress from hosts 0..6, the senders
    fab.expect(located == drops, f"{drops} drops, {located} of them at the ingress ports of the senders")
    most = max(port["headroom_max_bytes"] for port in ports)
    fab.expect(0 < most <= HEADROOM_BYTES // 2, f"{most} B of headroom used, 17,000 granted")
    fab.expect_text(result.stderr + " ".join(result.warnings()), r"lossless packets dropped at leaf0 port \d \(from node\d\): headroom 17000 B, needed >= ", rf"{drops} lossless packets dropped at 7 ports in all")


def case_headroom_physical(context):
    """The headroom that the tool itself works out is enough, whatever adds to the round trip.

    Every term of the default rule at once: FEC, the switch's pipeline, cut-through, a slow pause response.
    """
    terms = ["buffer.headroom_rule=physical", "link.fec_latency=120ns", "switch.latency=600ns",
             "switch.forwarding=cut_through", "pfc.response=500ns", "nic.rx_latency=400ns", "nic.tx_latency=400ns"]
    for rate in ("100Gbps", "400Gbps"):
        result = context.run_ok("headroom.ini", sets=[*terms, f"topology.host_rate={rate}"])
        fab.expect(result.summary("pfc_pause_frames") > 0, f"{rate}: nothing was paused: the case shows nothing")
        fab.expect(result.summary("drop_pkts") == 0,
                   f"{rate}: {result.summary('drop_pkts')} packets of a lossless class dropped")


# ---- DCQCN, 40 Gb/s, parameters of SIGCOMM 2015 -------------------------------

def dcqcn_tail(context, n_flows, delay, until_ms=400, sets=()):
    """Samples of the bottleneck queue (bytes) and mean rate of each flow (bit/s) in the second half."""
    rows = "".join(f"{i},{i},{n_flows},2000000000,0,-1\n" for i in range(n_flows))
    flows_file = context.scratch_file("flows.csv", FLOW_HEAD + rows)
    store = os.path.join(context.scratch, "run.h5")
    result = context.run("dcqcn_40g.ini", until=f"{until_ms}ms", out=store,
                         sets=[f"topology.hosts={n_flows + 1}", f"topology.host_delay={delay}",
                               f"workload.file={flows_file}", *sets])
    fab.expect_exit(result, fab.UNFINISHED)  # the flows are longer than the run, as meant
    fab.expect(result.summary("pfc_pause_frames") == 0, "PFC acted: the queue is not DCQCN's alone")
    half_ps = until_ms * 500_000_000
    return tail_queue(result, store, n_flows, half_ps), tail_rates(store, n_flows, half_ps)


def tail_queue(result, store, n_flows, from_ps):
    """Bytes in the switch's queue to the last host, every 50 us; no row means an empty queue."""
    bottleneck = result.table("ports")[2 * (n_flows + 1) - 1]["port"]
    queue = fab.series(store, "series/queue")
    held = {}
    for t_ps, port, size in zip(queue["t_ps"], queue["port"], queue["bytes"]):
        if t_ps >= from_ps and port == bottleneck:
            held[t_ps] = held.get(t_ps, 0) + size
    n_samples = from_ps // GRAIN_PS  # the second half is as long as the first
    fab.expect(n_samples // 2 < len(held) <= n_samples + 1, f"{len(held)} queue samples, {n_samples} expected")
    return list(held.values()) + [0] * (n_samples - len(held))


def tail_rates(store, n_flows, from_ps):
    rate = fab.series(store, "series/rate")
    samples = [[] for _ in range(n_flows)]
    for t_ps, flow, bps in zip(rate["t_ps"], rate["flow"], rate["rate_bps"]):
        if t_ps >= from_ps:
            samples[int(flow)].append(bps)
    return [statistics.fmean(s) for s in samples]


def expect_fixed_point(context, n_flows, expected, sets=()):
    queue, rates = dcqcn_tail(context, n_flows, "1us", sets=sets)
    fab.expect_between(f"mean queue, N = {n_flows} [B]", statistics.fmean(queue), 0.75 * expected, 1.25 * expected)
    fab.expect_between(f"Jain fairness, N = {n_flows}", fab.jain(rates), 0.98, 1.0)


def case_dcqcn_fixed_point(context):
    """2, 4 and 8 flows at 40G settle at the fluid model's queue, and share equally.

    Fixed point of the fluid model (ECN or Delay, CoNEXT 2016): p* solves a^2 alpha / ((b+d)(c+e)) =
    tau^2 R_AI C/N; q* = Kmin + p*/Pmax (Kmax - Kmin), Kmin 5 KB, Kmax 200 KB, Pmax 1 %:
    N = 2: p* 0.0777 %, 20.2 KB; N = 4: 0.189 %, 41.8 KB; N = 8: 0.455 %, 93.8 KB. Within 25 %.
    The model's cuts come with probability a = 1 - (1-p)^(tau C/N) in each tau: the cut clock of a NIC.
    """
    clocks = ["dcqcn.behaviour=nvidia", "dcqcn.clamp_tgt_rate=true", "dcqcn.rate_reduce_monitor_period=50us"]
    for n_flows, expected in ((2, 20_200), (4, 41_800), (8, 93_800)):
        expect_fixed_point(context, n_flows, expected, clocks)


def paper_fixed_point(n_flows):
    """q* in bytes when every CNP cuts and the next one can't come within tau of it.

    Marks come at rate l = p C/N to a flow, CNPs at r = 1/(tau + 1/l); timer expiry k after a cut happens
    with probability exp(-l (kT - tau)), since marks within tau of a CNP cause none. D = r sum over k >= 1,
    E = r sum over k > F of it; alpha = r/(r + D). Balance of target and rate: r (Rt - Rc) = E R_AI and
    r alpha Rc / 2 = D (Rt - Rc) / 2, so alpha r^2 C/N = D E R_AI.
    """
    tau_s, timer_s, f, share = 50e-6, 55e-6, 5, 40e9 / 8000 / n_flows
    rai = 40e6 / 8000  # packets of 1,000 B a second

    def excess(p):
        marks = p * share
        r = 1 / (tau_s + 1 / marks)
        expiry = [r * math.exp(-marks * (k * timer_s - tau_s)) for k in range(1, 4000)]
        d, e = sum(expiry), sum(expiry[f:])
        return r / (r + d) * r * r * share - d * e * rai

    low, high = 1e-6, 0.1
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return 5_000 + low / 0.01 * 195_000


def case_dcqcn_fixed_point_paper(context):
    """The same where every CNP cuts (SIGCOMM 2015), against the fixed point of that rule.

    p* and q* are a little higher than the fluid model's (21.0, 44.4, 101.2 KB), since marks in the 50 us
    after a CNP have no effect. Within 25 %: random marks and a queue that can't fall below 0 add to it.
    """
    for n_flows in (2, 4, 8):
        expect_fixed_point(context, n_flows, paper_fixed_point(n_flows))


def case_dcqcn_pinned(context):
    """32 flows need more marks than Pmax gives (p* 2.56 % > 1 %): the queue stays at Kmax, 200 KB."""
    queue, rates = dcqcn_tail(context, 32, "1us")
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
        queue, _ = dcqcn_tail(context, 10, delay)
        spread[delay] = statistics.pstdev(queue) / statistics.fmean(queue)
        print(f"  loop of 4 x {delay}: mean {statistics.fmean(queue):,.0f} B, std/mean {spread[delay]:.3f}")
    fab.expect(spread["1us"] < 0.5, f"4 us does not settle: std/mean {spread['1us']:.3f}")
    fab.expect(spread["21.25us"] > 1.5 * spread["1us"], "85 us oscillates no more than 4 us")
