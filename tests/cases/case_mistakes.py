"""Mistakes of operation (scenarios/examples/mistakes, docs/OPERATIONS.md): each against its healthy twin.

Framing as in the examples: 4,096 B of payload are 4,178 B on the wire; 100 Gb/s are 12.5 B/ns. Nine flows of 8 MiB into node12
(the gather) take at least 9 x 8 MiB x 4178 / 4096 / 12.5 = 6.16 ms; two flows of 8 MiB from one host 1.37 ms.
"""
import math

import fab

FOLDER = "../../scenarios/examples/mistakes/"
PS_MS = 1e9
GATHER, OTHERS = range(9), range(9, 15)
GATHER_MS, PAIR_MS = 6.16, 1.37
TIMEOUT_MS = 67.1  # 4.096 us x 2^14


def load(context, name, **options):
    return context.run_ok(FOLDER + name, **options)


def healthy(context, name):
    """A twin has nothing to complain of."""
    twin = load(context, name)
    fab.expect(twin.warnings() == [], f"{name}: warnings of a healthy run: {twin.warnings()}")
    fab.expect(twin.summary("lossless_drop_pkts") == 0, f"{name}: lossless drops")
    return twin


def times_ms(result, flows, column="fct_ack_ps"):
    return [row[column] / PS_MS for row in result.table("flows") if row["flow"] in flows]


def mean_ms(result, flows):
    times = times_ms(result, flows)
    return sum(times) / len(times)


def counters(result, node, name, peer=None):
    return sum(row["value"] for row in result.table("counters")
               if row["node"] == node and row["counter"] == name and peer in (None, row["peer"]))


def says(result, *patterns):
    fab.expect_text("\n".join(result.warnings()), *patterns)


def grows(what, value, twin, factor):
    fab.expect_between(f"{what} against the twin", value / twin, factor, math.inf)


def grows_ms(what, mistake, twin, flows, factor):
    grows(what, mean_ms(mistake, flows), mean_ms(twin, flows), factor)


def case_mistake_base(context):
    """The healthy fabric: the gather near its bound, the others near theirs."""
    base = healthy(context, "base.ini")
    fab.expect(base.summary("drop_pkts") == 0 and base.summary("retransmitted_pkts") == 0, "drops or retransmissions")
    fab.expect_between("gather [ms]", max(times_ms(base, GATHER)), GATHER_MS, GATHER_MS * 1.25)
    fab.expect_between("the others, mean [ms]", mean_ms(base, OTHERS), PAIR_MS, PAIR_MS * 1.5)


def drops_cost(mistake, twin):
    """What go-back-N makes of drops: more is sent again than was dropped, and a lost tail costs a timeout."""
    fab.expect(mistake.summary("drop_pkts") > 100, f"{mistake.summary('drop_pkts')} drops")
    grows("sent again", mistake.summary("retransmitted_pkts"), mistake.summary("drop_pkts"), 1)
    waited = max(times_ms(mistake, GATHER)) > max(times_ms(twin, GATHER)) + TIMEOUT_MS * 0.9
    fab.expect(waited == (mistake.summary("timeouts") > 0), "timeouts that nobody waited for, or the other way round")


def case_mistake_pfc_off(context):
    """PFC off on spine0's port to leaf3: leaf3 pauses it in vain and drops."""
    twin, mistake = healthy(context, "base.ini"), load(context, "pfc_off.ini")
    drops_cost(mistake, twin)
    says(mistake, r"lossless packets dropped at leaf3 port 4 \(from spine0\): spine0 does not obey pauses of priority 3",
         r"spine0 ignored \d+ XOFFs from leaf3")
    fab.expect(counters(mistake, "leaf3", "SAI_PORT_STAT_PFC_3_TX_PKTS", "spine0") > 0, "leaf3 sent no XOFF")
    fab.expect(counters(mistake, "spine0", "SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US", "leaf3") == 0, "spine0 was paused")
    fab.expect(counters(mistake, "node12", "out_of_sequence") > 0, "node12 saw no gap")


def case_mistake_priority_swapped(context):
    """leaf3 takes class 3 from spine0 for class 4: its pauses stop an idle queue."""
    twin, mistake = healthy(context, "base.ini"), load(context, "priority_swapped.ini")
    drops_cost(mistake, twin)
    says(mistake, r"pauses of priority 4 stop queue 4 of spine0, but these frames leave it from queue 3")
    fab.expect(counters(mistake, "spine0", "SAI_PORT_STAT_PFC_4_RX_PKTS", "leaf3") > 0, "no XOFF on priority 4")
    fab.expect(counters(mistake, "spine0", "SAI_PORT_STAT_PFC_3_RX_PKTS", "leaf3") == 0, "XOFFs on priority 3")
    fab.expect(counters(twin, "spine0", "SAI_PORT_STAT_PFC_4_RX_PKTS") == 0, "the twin pauses priority 4")


def case_mistake_cnp_in_data_class(context):
    """CNPs behind data: they come a queue later (150 kB to 1.2 MB: 12 to 100 us, or a pause), so PFC has to act instead."""
    twin, mistake = healthy(context, "two_way.ini"), load(context, "cnp_in_data_class.ini")
    says(mistake, r"CNPs of 84 of 84 queue pairs travel in class 3 with their data")
    grows("time paused", mistake.summary("pfc_paused_ps"), twin.summary("pfc_paused_ps"), 1.25)
    fab.expect(mistake.summary("rate_cuts") < twin.summary("rate_cuts"), "as many rate cuts as in time")
    fab.expect(counters(twin, "leaf0", "SAI_QUEUE_STAT_PACKETS:6") > 0, "no CNPs in queue 6 of the twin")
    fab.expect(counters(mistake, "leaf0", "SAI_QUEUE_STAT_PACKETS:6") == 0, "CNPs in queue 6")


def case_mistake_storage_in_rdma_class(context):
    """Storage in class 3: training to that leaf had half of each link, and now a share a flow."""
    twin, mistake = healthy(context, "storage.ini"), load(context, "storage_in_rdma_class.ini")
    grows("training to leaf3", mean_ms(mistake, range(8, 12)), mean_ms(twin, range(8, 12)), 1.35)
    grows_ms("all training", mistake, twin, range(12), 1.15)
    fab.expect(counters(twin, "node14", "rx_prio1_bytes") > counters(twin, "node14", "rx_prio3_bytes"), "twin: storage is not in class 1")
    fab.expect(counters(mistake, "node14", "rx_prio1_bytes") == 0, "class 1 is in use")


def case_mistake_headroom_too_small(context):
    """30,720 B of headroom: a round trip of 300 m alone brings 2 x 1.5 us x 12.5 B/ns = 37.5 kB."""
    twin, mistake = healthy(context, "base.ini"), load(context, "headroom_too_small.ini")
    drops_cost(mistake, twin)
    says(mistake, r"headroom 30720 B, needed >= 63\d\d\d B")
    for row in mistake.table("ports"):
        if row["drop_pkts"] > 0:
            fab.expect(not row["peer"].startswith("node"), f"drops behind a cable of 5 m: {row['node']} from {row['peer']}")
            fab.expect(row["headroom_max_bytes"] > 30720 - 4174, f"drops with headroom left: {row}")


def case_mistake_ecn_after_pfc(context):
    """kmin of 1.6 MB where seven ports can fill 1/8 / (1 + 7/8) x 3.3 MB x 7 = 1.54 MB: nothing is marked, PFC rules."""
    twin, mistake = healthy(context, "base.ini"), load(context, "ecn_after_pfc.ini")
    fab.expect(mistake.summary("ecn_marked_pkts") == 0 and mistake.summary("rate_cuts") == 0, "packets were marked")
    grows("time paused", mistake.summary("pfc_paused_ps"), twin.summary("pfc_paused_ps"), 5)
    grows_ms("flows that have no part in the incast", mistake, twin, OTHERS, 1.4)
    says(mistake, r"leaf3 sent \d+ XOFFs and marked nothing .* to node12.* ecn.kmin is 1.60 MB; PFC acts before ECN")


def uplinks_used(result):
    """Ports from the middle tier of the fat tree to the cores that carried data."""
    used = {}
    for row in result.table("ports"):
        if row["peer"].startswith("core") and row["data_pkts"] > 0:
            used.setdefault(row["node"], set()).add(row["port"])
    return used


def case_mistake_hash_polarisation(context):
    """Equal seeds: what a leaf sent to spine i has hash i mod 4, and the spine's hash is the same: one of its four uplinks."""
    twin, mistake = healthy(context, "three_tier.ini"), load(context, "hash_polarisation.ini")
    fab.expect(all(len(ports) == 1 for ports in uplinks_used(mistake).values()), "a spine uses several uplinks")
    used = uplinks_used(twin)
    fab.expect_between("uplinks in use of four, twin", sum(map(len, used.values())) / len(used), 2, 4)  # 4 flows in 4 bins fill 2.73
    grows_ms("flow completion", mistake, twin, range(128), 1.4)
    says(mistake, r"hash polarisation: tier 2 uses 3\d of 12\d equal-cost ports")


def frame_loss(ber, frame_bytes):
    """RS(544,514): 10-bit symbols, 15 of 544 are corrected; a frame is lost with any of its codewords."""
    symbol = 1 - (1 - ber) ** 10
    good = sum(math.comb(544, k) * symbol ** k * (1 - symbol) ** (544 - k) for k in range(16))
    return 1 - good ** (max(frame_bytes * 8 / 5140, 1))


def case_mistake_bad_optic(context):
    """A bit error ratio of 1.2e-3 on leaf0 -> spine0 loses 0.8 % of the frames there, and nowhere else."""
    twin, mistake = healthy(context, "base.ini"), load(context, "bad_optic.ini")
    link = [row for row in mistake.table("ports") if row["node"] == "leaf0" and row["peer"] == "spine0"][0]
    wanted = link["data_pkts"] * frame_loss(1.2e-3, 4174) + link["ack_pkts"] * frame_loss(1.2e-3, 66)
    lost = mistake.summary("lost_pkts")
    fab.expect_between("frames lost", lost, wanted - 4 * math.sqrt(wanted), wanted + 4 * math.sqrt(wanted))
    fab.expect(counters(mistake, "spine0", "SAI_PORT_STAT_IF_IN_ERRORS", "leaf0") == lost, "the errors are elsewhere")
    says(mistake, r"frames were lost on the link leaf0 -> spine0")
    grows("sent again", mistake.summary("retransmitted_pkts"), lost, 2)  # go-back-N: the window as well
    fab.expect(mistake.summary("drop_pkts") == 0 and twin.summary("retransmitted_pkts") == 0, "drops")


STORM_S, NODE5 = 3, (4, 9, 10)  # flows that node5 sends or receives


def case_mistake_storm(context):
    """node5 pauses leaf1 for 3 s: others stand still as long. A watchdog frees them after 200 to 400 ms and gives node5 up."""
    twin, storm, watched = healthy(context, "base.ini"), load(context, "storm.ini"), load(context, "storm_watchdog.ini")
    innocent = [f for f in range(15) if f not in NODE5]
    stuck = [t for t in times_ms(storm, innocent) if t > STORM_S * 1e3]
    fab.expect(len(stuck) >= 1, f"the storm holds up {len(stuck)} flows that have nothing to do with node5")
    fab.expect_between("slowest innocent flow, no watchdog [ms]", max(stuck), STORM_S * 1e3, STORM_S * 1e3 + 1200)
    says(storm, r"node5 paused leaf1 for 3.00 s, 100 % of the run, by \d+ XOFFs")
    fab.expect(counters(storm, "node5", "tx_prio3_pause") > STORM_S * 2981, "fewer XOFFs than hold a port")
    # The watchdog's own drops may cost an innocent flow its ACKs: one timeout more.
    fab.expect_between("slowest innocent flow, watchdog [ms]", max(times_ms(watched, innocent, "fct_rx_ps")), 200, 410)
    says(watched, r"pause storm from node5: detected at [234]\d\d\.\d ms by the watchdog of leaf1 port 1")
    by_port = [counters(watched, "leaf1", f"PFC_WD_QUEUE_STATS_{way}_DROPPED_PACKETS", "node5") for way in ("TX", "RX")]
    fab.expect(min(by_port) > 0 and sum(by_port) == watched.summary("drop_pkts"), f"drops of the watchdog: {by_port}")
    fab.expect(max(times_ms(twin, innocent)) < 10, "the twin is slow as well")


def case_mistake_slow_receiver(context):
    """node12 takes 40 Gb/s: 9 x 8 MiB need 15.1 ms, and the rest of the time it pauses a link that is not full."""
    twin, mistake = healthy(context, "base.ini"), load(context, "slow_receiver.ini")
    least_ms = 9 * 8 * 2**20 * 8 / 40e9 * 1e3
    fab.expect_between("gather [ms]", max(times_ms(mistake, GATHER)), least_ms, least_ms * 1.1)
    fab.expect(counters(mistake, "node12", "tx_prio3_pause") > 0, "node12 sent no XOFF")
    fab.expect(counters(twin, "node12", "tx_prio3_pause") == 0, "the twin's node12 pauses")
    says(mistake, r"node12 paused leaf3 for .* and took (3\d|40)\.\d Gb/s")
    fab.expect(mistake.summary("drop_pkts") == 0, "drops")


def case_mistake_spray_go_back_n(context):
    """Spray under go-back-N: thousands of packets again though none was lost; a tolerant NIC sends none twice."""
    twin, mistake = healthy(context, "base.ini"), load(context, "spray_go_back_n.ini")
    cured = load(context, "spray_go_back_n.ini", sets=["nic.reorder_tolerance=1000"])
    fab.expect(mistake.summary("drop_pkts") + mistake.summary("lost_pkts") == 0, "losses")
    fab.expect(mistake.summary("retransmitted_pkts") > 1000, f"{mistake.summary('retransmitted_pkts')} packets sent again")
    says(mistake, r"routing.mode reorders packets", r"sent again without need \(spurious: 0 dropped, 0 lost\)")
    fab.expect(counters(mistake, "node12", "out_of_sequence") > 0, "node12 saw no gap")
    grows("gather", mean_ms(mistake, GATHER), mean_ms(twin, GATHER), 1.1)
    fab.expect(cured.summary("retransmitted_pkts") == 0 and mean_ms(cured, OTHERS) <= mean_ms(twin, OTHERS) * 1.05, "not cured")


def case_mistake_trust_mismatch(context):
    """leaf3 trusts PCP, which untagged frames lack: class 0, no pause, no mark, drops."""
    twin, mistake = healthy(context, "base.ini"), load(context, "trust_mismatch.ini")
    drops_cost(mistake, twin)
    says(mistake, r"at leaf3 port \d .*: the port trusts PCP, and PCP 0 is traffic class 0 and priority group 0 here, which is lossy")
    for queue, wrong in ((3, twin), (0, mistake)):
        fab.expect(counters(wrong, "leaf3", f"SAI_QUEUE_STAT_PACKETS:{queue}", "node12") > 0, f"queue {queue} is idle")
    fab.expect(counters(mistake, "leaf3", "SAI_QUEUE_STAT_PACKETS:3") == 0, "leaf3 uses queue 3")


def case_drop_reasons(context):
    """Each reason for drops in a lossless class is told from the others."""
    everything = "0-63:0 8-15:{storage} 16-23:2 24-31:{rdma} 32-39:4 40-47:5 48-55:6 56-63:7"
    reasons = (
        ("base.ini", ["pfc:leaf3/spine0.enabled=false", "buffer.ingress_pool=1000000B"], r"from spine0\): PFC is off on this port"),
        ("base.ini", ["qos:leaf3.dscp_to_tc=" + everything.format(storage=1, rdma=5)],
         r"DSCP 24 is traffic class 5 and priority group 5 here, which is lossy"),
        ("storage.ini", ["qos:leaf*.dscp_to_tc=" + everything.format(storage=3, rdma=3)],
         r"\(from node\d\): pauses of priority 3 stop queue 3 of node\d, but these frames leave it from queue 1"),
        ("base.ini", ["fault:deaf.kind=drop_packet", "fault:deaf.where=leaf3/spine0", "fault:deaf.packet=pause", "fault:deaf.count=3"],
         r"headroom 63251 B would do .*: a pause was lost"),
    )
    for name, sets, told in reasons:
        says(load(context, name, sets=sets), told)
