"""Cases of operation: loss, load balancing, pause storms, buffer cycles, links that fail."""
import fab

PS_US = 1e6  # picoseconds a microsecond
PS_MS = 1e9


def counter(result, node, name):
    """Sum of a counter over the ports of a node."""
    return sum(row["value"] for row in result.table("counters") if row["node"] == node and row["counter"] == name)


def incidents(result, what):
    return [row["t_ps"] for row in result.table("incidents") if row["what"] == what]


# ---- loss ---------------------------------------------------------------------

PACKETS, WINDOW_PKTS = 16778, 72
LOSSLESS_US = PACKETS * 1082 / 12.5 / 1e3  # 1,452.3


def mean_us(context, sets, seeds):
    runs = [context.run_ok("loss.ini", sets=sets, seed=seed) for seed in seeds]
    return sum(run.summary("makespan_ps") for run in runs) / len(runs) / PS_US


def case_09(context):
    """16 MiB at a packet loss of 1e-3 take 1,557 us with go-back-N, 1,454 with selective repeat.

    16,778 packets of 1,082 B at 12.5 B/ns = 1,452.3 us. Go-back-N: 0.999 / (0.999 + 0.001 x 72) = 0.933,
    1,557 us; a last packet lost adds one timeout (4.096 us x 2^5 = 131 us).
    """
    lossy = "link:node0/leaf0.loss=0.001"
    fab.expect_between("go-back-N [us]", mean_us(context, [lossy], range(1, 9)), 1557 * 0.96, 1557 * 1.04)
    fab.expect_between("selective repeat [us]", mean_us(context, [lossy, "nic.recovery=selective_repeat"], range(1, 4)), 1452, 1454 * 1.01)
    lost = ["fault:x.kind=drop_packet", "fault:x.where=node0/leaf0", "fault:x.packet=data", f"fault:x.nth={PACKETS}"]
    result = context.run_ok("loss.ini", sets=lost)
    fab.expect(result.summary("timeouts") == 1 and result.summary("lost_pkts") == 1, "not one loss and one timeout")
    fab.expect_between("last packet lost [us]", result.summary("makespan_ps") / PS_US, LOSSLESS_US + 131, LOSSLESS_US + 131 + 15)


def case_goodput(context):
    """Goodput of both recoveries follows the closed form within 4 % from 1e-5 to 1e-2.

    Go-back-N: (1 - p) / (1 - p + p W); selective repeat: 1 - p. Ten seeds each. The timeout is short (16 us): a packet
    lost again is found by it alone, which the closed form leaves out.
    """
    for p in (1e-5, 1e-4, 1e-3, 1e-2):
        lossy = [f"link:node0/leaf0.loss={p}", "nic.local_ack_timeout=2"]
        wanted = LOSSLESS_US * (1 - p + p * WINDOW_PKTS) / (1 - p)
        have = mean_us(context, lossy, range(1, 11)) - 5.8
        fab.expect_between(f"p = {p}: go-back-N [us]", have, wanted * 0.96, wanted * 1.04)
        wanted = LOSSLESS_US / (1 - p)
        have = mean_us(context, lossy + ["nic.recovery=selective_repeat"], range(1, 11)) - 5.8
        fab.expect_between(f"p = {p}: selective repeat [us]", have, wanted * 0.96, wanted * 1.04)


def single_loss(context, where, packet, nth, more=()):
    sets = [f"fault:one.where={where}", f"fault:one.packet={packet}", f"fault:one.nth={nth}", *more]
    for recovery in ("go_back_n", "selective_repeat"):
        result = context.run_ok("single_loss.ini", sets=[*sets, f"nic.recovery={recovery}"])
        fab.expect(result.summary("lost_pkts") == 1, f"{packet} {nth}: {result.summary('lost_pkts')} packets lost, expected 1")
        fab.expect(result.summary("drop_pkts") == 0, f"{packet} {nth}: drops")
        cost_us = result.summary("fault_cost_ps") / PS_US
        fab.expect_between(f"{packet} {nth}, {recovery}: cost [us]", cost_us, -150, 700)


def case_lost_first_data(context):
    """The first data packet is lost: the flow ends all the same."""
    single_loss(context, "node0/leaf0", "data", 1)


def case_lost_middle_data(context):
    """A data packet in the middle is lost."""
    single_loss(context, "node0/leaf0", "data", 250)


def case_lost_last_data(context):
    """The last of 489 data packets is lost: a timeout, nothing comes after it."""
    single_loss(context, "node0/leaf0", "data", 489)


def case_lost_ack(context):
    """The last ACK of a flow is lost."""
    single_loss(context, "leaf0/node0", "ack", 489)


def case_lost_nak(context):
    """A NAK is lost: a data packet is lost, and the NAK that answers it."""
    sets = ["fault:two.kind=drop_packet", "fault:two.where=node0/leaf0", "fault:two.packet=data", "fault:two.nth=100",
            "fault:one.where=leaf0/node0", "fault:one.packet=nak", "fault:one.nth=1"]
    result = context.run_ok("single_loss.ini", sets=sets)
    fab.expect(result.summary("lost_pkts") == 2, f"{result.summary('lost_pkts')} packets lost, expected 2")
    fab.expect(result.summary("timeouts") >= 1, "no timeout")


def case_lost_cnp(context):
    """A CNP is lost: a cut less, nothing else."""
    single_loss(context, "leaf0/node0", "cnp", 1)


# With DCQCN the queue is short: without it the switch must pause.
PAUSES = ("nic.congestion_control=none",)


def case_lost_pause(context):
    """A PAUSE is lost: the refresh or the headroom helps. With the refresh every 0.1 of 10 us nothing is dropped."""
    single_loss(context, "leaf0/node0", "pause", 1, PAUSES + ("pfc.refresh=0.1", "buffer.headroom_scale=2", "buffer.size=400KB"))


def case_lost_resume(context):
    """A RESUME is lost: the pause runs out."""
    single_loss(context, "leaf0/node0", "resume", 1, PAUSES)


# ---- load balancing ---------------------------------------------------------------

def case_12(context):
    """A 15:1 incast with per-packet load balancing: no need to send again with a tolerant receiver, and a warning without.

    15 x wire(2,000,000) at 12.5 B/ns = 2,448 us. The star has one path: the case runs over two leaves and eight spines, and
    every second sender is across.
    """
    scenario = context.scratch_file("spread.ini", SPREAD.format(include=context.path("conventions.ini"), cm=context.path("incast15.cm")))
    for mode in ("spray", "adaptive"):
        tolerant = fab.run_ok(context.binary, scenario, sets=[f"routing.mode={mode}", "nic.reorder_tolerance=60000", "nic.reorder_window=65536"])
        fab.expect(tolerant.summary("retransmitted_pkts") == 0, f"{mode}: sent again though reordering is tolerated")
        fab.expect_between(f"{mode}, tolerant [us]", tolerant.summary("makespan_ps") / PS_US, 2448, 2500)
        plain = fab.run_ok(context.binary, scenario, sets=[f"routing.mode={mode}"])
        fab.expect(plain.summary("drop_pkts") == 0 and plain.summary("spurious_pkts") > 0, f"{mode}: no spurious retransmissions")
        fab.expect_text("\n".join(plain.warnings()), r"reorders packets", r"spurious: 0 dropped")
        layered = fab.run_ok(context.binary, scenario, sets=[f"routing.mode={mode}", "nic.reorder_tolerance=60000", "nic.reorder_window=65536",
                                                             "nic:node0.reorder_tolerance=0"])
        fab.expect_text("\n".join(layered.warnings()), r"reorders packets")
        fab.expect(not any("reorders" in text for text in tolerant.warnings()), f"{mode}: warned of tolerant NICs")
        print(f"  {mode}, go-back-N: {plain.summary('makespan_ps') / PS_US:,.0f} us, {plain.summary('spurious_pkts'):,.0f} spurious")


SPREAD = """include = {include}
[topology]
kind = leaf_spine
hosts = 16
leaves = 2
spines = 8
[buffer]
size = 8MiB
alpha = 1/8
[workload]
kind = htsim
file = {cm}
"""


def loads(result):
    """Data packets of the eight uplinks of the first leaf, over their mean."""
    packets = [row["data_pkts"] for row in result.table("ports") if row["node"] == "leaf0" and row["peer"].startswith("spine")]
    return [p * len(packets) / sum(packets) for p in packets]


def case_balls(context):
    """8 equal flows over 8 uplinks: the fullest bears 2.59 flows on average with ECMP, 1.0 with spray and adaptive routing.

    Mean maximum of 8 balls in 8 bins: 2.59. 1,000 seeds.
    """
    mean = sum(max(loads(context.run_ok("balls.ini", seed=seed))) for seed in range(1, 1001)) / 1000
    fab.expect_between("mean maximum load, ECMP", mean, 2.59 * 0.97, 2.59 * 1.03)
    for mode in ("spray", "adaptive"):
        worst = max(max(loads(context.run_ok("balls.ini", sets=[f"routing.mode={mode}"], seed=seed))) for seed in range(1, 21))
        fab.expect_between(f"maximum load, {mode}", worst, 1, 1.05)


def case_balls_hashes(context):
    """The same by the hashes of ASICs: 2.59 with source ports drawn; XOR of a shifted permutation's addresses puts all on one.

    1,000 seeds a hash. Without ports the addresses alone decide, and 10.0.0.i XOR 10.0.0.(i + 8) is one value for all flows.
    """
    for name in ("crc16", "crc32", "crc32c", "xor"):
        sets = [f"routing.hash={name}"]
        mean = sum(max(loads(context.run_ok("balls.ini", sets=sets, seed=seed))) for seed in range(1, 1001)) / 1000
        fab.expect_between(f"mean maximum load, {name}", mean, 2.59 * 0.97, 2.59 * 1.03)
        bare = max(loads(context.run_ok("balls.ini", sets=[*sets, "routing.hash_fields=src,dst"])))
        print(f"  {name} of addresses alone: the fullest bears {bare:.2f}")
        fab.expect(bare == 8 if name == "xor" else bare < 8, f"{name} of addresses alone: {bare}")
    sets = ["routing.hash=crc16", "routing.hash_fields=dst,vlan"]
    result = context.run("balls.ini", sets=sets)
    fab.expect_exit(result, fab.BAD_INPUT)
    fab.expect_text(result.stderr, r"--set: routing\.hash_fields: 'vlan' is no field; allowed: src, dst, protocol, sport, dport, qpn")


POLARISED = """[topology]
kind = fat_tree
k = 8
[workload]
kind = flows
file = {flows}
"""


def uplinks(result, tier):
    """Packets on each uplink of every switch whose name begins with TIER: lists, one a switch."""
    above = {"edge": "agg", "agg": "core"}[tier]
    switches = {}
    for row in result.table("ports"):
        if row["node"].startswith(tier) and row["peer"].startswith(above):
            switches.setdefault(row["node"], []).append(row["data_pkts"])
    return list(switches.values())


def case_polarisation(context):
    """One hash seed on all tiers of a k = 8 fat tree: each aggregation switch uses 1 of its 4 uplinks; seeds of their own: 4, for a mixer.

    CRC and XOR are linear: another seed adds a constant to every hash, so what an edge switch sends to one still goes on over one
    uplink. Four edge switches then use 4 (1 - (3/4)^4) = 2.73 of the 4 on average. Other bits of the hash at each tier use all.
    """
    flows = "".join(f"{host},{(host + 64) % 128},4096\n" for host in range(128) for _ in range(8))
    scenario = context.scratch_file("polarised.ini", POLARISED.format(flows=context.scratch_file("flows.csv", "src,dst,bytes\n" + flows)))
    for name in ("mix", "crc16", "crc32", "crc32c", "xor"):
        means = {}
        for label, sets in (("shared seed", ["routing.ecmp_seed_per_switch=false"]), ("seeds of their own", []),
                            ("other bits", ["routing.ecmp_seed_per_switch=false", "routing.hash_offset_per_tier=3"])):
            result = fab.run_ok(context.binary, scenario, sets=[f"routing.hash={name}", *sets])
            used = [sum(packets > 0 for packets in switch) for switch in uplinks(result, "agg")]
            fab.expect(len(used) == 32 and all(sum(p > 0 for p in edge) == 4 for edge in uplinks(result, "edge")), "edges do not use all")
            means[label] = sum(used) / len(used)
            worst = max(4 * max(switch) / sum(switch) for switch in uplinks(result, "agg"))
            print(f"  {name}, {label}: {means[label]:.2f} of 4 uplinks in use, the fullest bears {worst:.2f} times its share")
        fab.expect(means["shared seed"] == 1, f"{name}, shared seed: {means}")
        fab.expect(means["other bits"] == 4, f"{name}, other bits: {means}")
        if name == "mix":
            fab.expect(means["seeds of their own"] == 4, f"mix, seeds of their own: {means}")
        else:
            fab.expect_between(f"{name}, seeds of their own: uplinks in use", means["seeds of their own"], 2.3, 3.2)


# ---- pauses -------------------------------------------------------------------------

def case_26(context):
    """A NIC storms: detection in 200-300 ms, restoration 200-300 ms after the last XOFF though XONs continue.

    One frame blocks 65,535 x 512 bit = 335.5 us at 100G: 2,981 frames a second keep the port silent; the storm sends one
    every half of that.
    """
    result = context.run("storm.ini")
    fab.expect(result.code in (fab.OK, fab.UNFINISHED), result.told())
    detected, over = incidents(result, "pause storm detected"), incidents(result, "pause storm over")
    fab.expect(len(detected) == 1 and len(over) == 1, f"{len(detected)} storms detected, {len(over)} over")
    fab.expect_between("detection [ms]", detected[0] / PS_MS - 50, 200, 300)
    fab.expect_between("restoration [ms]", over[0] / PS_MS - 900, 200, 301)
    frames = counter(result, "leaf0", "SAI_PORT_STAT_PFC_3_RX_PKTS")
    fab.expect_between("XOFF frames a second", frames / 0.85, 2981, 2981 * 2.1)
    fab.expect_text("\n".join(result.warnings()), r"pause storm from node1: detected")
    other = [flow for flow in result.table("flows") if flow["flow"] == 1][0]
    fab.expect_between("class 4 meanwhile [ms]", other["fct_rx_ps"] / PS_MS, 8, 17)


def case_nic_watchdog(context):
    """The NIC that storms has a watchdog of 100 ms and the switch none: the storm ends by itself, with a name.

    The last frame blocks 335.5 us more; class 4 never waits. Case 26 without it: silence until the storm ends at 900 ms.
    """
    result = context.run("storm.ini", sets=["pfcwd.enabled=false", "pfcwd.nic_enabled=true", "pfcwd.nic_stall_critical=100ms"])
    fab.expect(result.code in (fab.OK, fab.UNFINISHED), result.told())
    fab.expect(not incidents(result, "pause storm detected"), "the switch detected a storm")
    gave_up = incidents(result, "NIC gave up pausing")
    fab.expect(len(gave_up) == 1, f"gave up {len(gave_up)} times")
    fab.expect_between("gave up [ms]", gave_up[0] / PS_MS - 50, 100, 100)
    fab.expect(counter(result, "node1", "tx_pause_storm_error_events") == 1, "tx_pause_storm_error_events")
    fab.expect_text("\n".join(result.warnings()), r"node1 port 0 paused leaf0 for pfcwd\.nic_stall_critical without break and gave up at 150\.0 ms \(priority 3")
    flows = {flow["flow"]: flow for flow in result.table("flows")}
    end = (flows[0]["start_ps"] + flows[0]["fct_rx_ps"]) / PS_MS
    silent = context.run("storm.ini", sets=["pfcwd.enabled=false"])
    without = {flow["flow"]: flow for flow in silent.table("flows")}[0]
    print(f"  class 3 ends at {end:.1f} ms, without any watchdog at {(without['start_ps'] + without['fct_rx_ps']) / PS_MS:.1f} ms")
    fab.expect_between("end of the paused class [ms]", end, 150, 170)


def case_25(context):
    """A -> B -> C -> A with forced routes locks, or each flow gets 50 Gb/s; without the ring nothing locks."""
    result = context.run("ring3.ini")
    fab.expect_exit(result, fab.DEADLOCK)
    fab.expect_text(result.stderr, r"pause deadlock, seen at [0-9.]+ [a-z]+: 3 paused links")
    seen = result.summary("simulated_ps")
    print(f"  deadlock seen at {seen / PS_US:,.0f} us")
    direct = context.run("ring3.ini", sets=["routing.mode=ecmp", "workload.paths="], until="2ms")
    fab.expect(direct.code in (fab.OK, fab.UNFINISHED), direct.told())
    free = context.run("ring3.ini", sets=["pfc.enabled=false", "buffer.lossy_limit=200KB"], until="2ms")
    fab.expect(free.code == fab.UNFINISHED, free.told())


# ---- faults -----------------------------------------------------------------------------

def case_flap(context):
    """One spine link fails for a millisecond in an all-reduce: losses, retransmissions and their cost are reported.

    After local_repair the leaf beside it avoids the link, after reconvergence all do; the run ends.
    """
    scenario = context.scratch_file("flap.ini", FLAP)
    costs = []
    for spine in range(4):
        result = fab.run_ok(context.binary, scenario, sets=[f"fault:flap.where=leaf1/spine{spine}"])
        if result.summary("lost_pkts") == 0:
            continue
        costs.append(result.summary("fault_cost_ps") / PS_US)
        fab.expect(len(incidents(result, "new routes")) == 2, "not two changes of routes")
        fab.expect(result.summary("makespan_ps") - result.summary("healthy_makespan_ps") == result.summary("fault_cost_ps"), "cost")
    fab.expect(costs and max(costs) > 50, f"no flap cost anything: {costs}")
    fab.expect_between("most that a flap cost [us]", max(costs), 50, 2000)


LISTED = """[topology]
kind = leaf_spine
hosts = 2
leaves = 2
spines = 2
host_rate = 100Gbps
[nic]
congestion_control = none
local_ack_timeout = 6
[routing]
mode = static
local_repair = 10us
reconvergence = 50us
[workload]
kind = flows
file = {flows}
paths = {paths}
[fault:cut]
kind = link_down
where = leaf0/spine0
start = 100us
duration = 1ms
"""


def case_listed_path_fails(context):
    """routing.mode static: a flow keeps to its listed path over a link that is down, and is lost there until it is back.

    Down for good it ends in a queue pair without retries, which is named (exit 4); ecmp goes around.
    """
    files = {"flows": context.scratch_file("flows.csv", "src,dst,bytes\n0,1,20000000\n"),
             "paths": context.scratch_file("paths.csv", "flow,data_path,ack_path\n0,0-2-4-3-1,1-3-4-2-0\n")}
    scenario = context.scratch_file("listed.ini", LISTED.format(**files))
    listed = fab.run_ok(context.binary, scenario)
    other = sum(row["data_pkts"] + row["ack_pkts"] for row in listed.table("ports") if row["node"] == "spine1")
    fab.expect(other == 0 and listed.summary("lost_pkts") > 0, f"{other} packets over the other spine")
    fab.expect_between("end [us]", listed.summary("makespan_ps") / PS_US, 2600, 3500)
    gone = fab.run(context.binary, scenario, sets=["fault:cut.duration=0"])
    fab.expect_exit(gone, fab.DEADLOCK)
    fab.expect_text(gone.stderr, r"queue pair 0, rank 0 to rank 1: 7 retries without an answer")
    around = [fab.run_ok(context.binary, scenario, sets=["fault:cut.duration=0", "routing.mode=ecmp", "workload.paths=", f"routing.ecmp_seed={seed}"])
              for seed in range(1, 7)]
    fab.expect(any(run.summary("lost_pkts") > 0 for run in around), "no ECMP path met the link")
    fab.expect_between("latest end with ecmp [us]", max(run.summary("makespan_ps") for run in around) / PS_US, 1700, 2400)


FLAP = """include = nic/connectx-7, switch/tomahawk4, ecn/hpcc-2019
[topology]
kind = leaf_spine
hosts = 16
leaves = 4
spines = 4
host_rate = 100Gbps
[workload]
kind = collective
[collective]
op = all_reduce
algorithm = ring
bytes = 32MiB
[nic]
local_ack_timeout = 6
[routing]
local_repair = 50us
reconvergence = 500us
[fault:flap]
kind = link_down
where = leaf1/spine0
start = 1ms
duration = 1ms
"""


# ---- queue pairs ------------------------------------------------------------------------

CONNECTIONS = """include = nic/connectx-7, switch/tomahawk4, ecn/hpcc-2019
[topology]
kind = leaf_spine
hosts = 16
leaves = 4
spines = 4
host_rate = 100Gbps
[workload]
kind = collective
[collective]
op = all_reduce
algorithm = ring
bytes = 16MiB
"""


def case_qps_per_connection(context):
    """A ring all-reduce over 1 or 8 queue pairs a connection: the fullest uplink bears less, the ring is no slower; any threads.

    A ring of ranks in order has one flow a leaf; over one queue pair it takes one of four uplinks, over 8 it is spread. Its
    time is 2 x 15/16 x 16 MiB at 100G, 2,517 us, and 30 steps of latency whatever the path.
    """
    scenario = context.scratch_file("connections.ini", CONNECTIONS)
    variants = {"one": [], "in turns": ["nic.qps_per_connection=8"], "split": ["nic.qps_per_connection=8", "nic.qp_scheme=split"]}
    sent, worst = {}, {}
    for name, sets in variants.items():
        runs = [fab.run_ok(context.binary, scenario, sets=sets, threads=threads) for threads in (1, 2, 3)]
        fab.expect(len({run.document["meta"]["digest"] for run in runs}) == 1, f"{name}: digests differ between threads")
        up = [[row["data_pkts"] for row in runs[0].table("ports") if row["node"] == f"leaf{leaf}" and row["peer"].startswith("spine")]
              for leaf in range(4)]
        sent[name] = sum(sum(ports) for ports in up)
        worst[name] = max(max(ports) / sum(ports) for ports in up)
        print(f"  {name}: {runs[0].summary('makespan_ps') / PS_US:,.0f} us, the fullest uplink bears {worst[name]:.0%} of its leaf's")
        fab.expect_between(f"{name} [us]", runs[0].summary("makespan_ps") / PS_US, 2500, 2850)
    fab.expect(worst["one"] == 1 and worst["split"] < 0.7 and worst["in turns"] < 0.7, f"{worst}")
    fab.expect(sent["one"] == sent["in turns"] and 0 <= sent["split"] - sent["one"] <= 0.02 * sent["one"], f"packets on uplinks: {sent}")
