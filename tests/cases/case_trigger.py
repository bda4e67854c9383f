"""Trigger points: packets of one cell that a switch takes before its first XOFF and before its first drop.

One egress is paused for good, the tester ignores pause frames, and packets of one cell fill the priority group: what SONiC's
QoS tests (sonic-mgmt, tests/qos/files) do with Broadcom switches. Pool and profile figures are those of the platforms'
buffers_defaults_*.j2 and pg_profile_lookup.ini (sonic-buildimage); XOFF is due when the shared part reaches
alpha x (pool - used), hence after reserved + pool x alpha / (1 + alpha).
"""
import fab

CASE = """include = {include}
[run]
until = {until}us
healthy_twin = false
[topology]
hosts = {hosts}
[pfc]
lossless_classes = 3,4
[pfc:{testers}]
enabled = false
[nic]
mtu = 64B
[buffer]
{buffer}
[fault:victim]
kind = pause_storm
where = node0
[fault:victim_too]
kind = pause_storm
where = node0
priority = 4
[workload]
kind = flows
file = {flows}
"""


class Chip:
    """A switch's ingress pool and profile, in bytes."""

    def __init__(self, cell, alpha, reserved, headroom, size, ingress_pool=0, slices=1, ports=2, headroom_pool=0):
        self.cell, self.ports = cell, ports
        self.settings = {"size": f"{size}B", "alpha": alpha, "reserved": f"{reserved}B", "cell": f"{cell}B", "slices": slices,
                         "headroom_rule": "fixed", "headroom": f"{headroom}B", "ingress_pool": f"{ingress_pool}B" if ingress_pool else 0,
                         "headroom_pool": f"{headroom_pool}B" if headroom_pool else 0}


def fill(context, chip, groups):
    """GROUPS: (host, class, packets), one after the other. The run with all of them in the switch."""
    start, rows = 100.0, ["src,dst,bytes,start_us,class"]
    for host, cls, packets in groups:
        rows.append(f"{host},0,{packets * 64},{start:.3f},{cls}")
        start += packets * 0.0124 + 10  # 146 B at 100 Gb/s are 11.7 ns
    flows = context.scratch_file("trigger.csv", "\n".join(rows) + "\n")
    scenario = context.scratch_file("trigger.ini", CASE.format(
        include=context.path("conventions.ini"), until=int(start), hosts=chip.ports, flows=flows,
        testers=",".join(f"node{host}" for host in sorted({group[0] for group in groups})),
        buffer="\n".join(f"{key} = {value}" for key, value in chip.settings.items())))
    result = fab.run(context.binary, scenario, sets=["nic.local_ack_timeout=31"])
    fab.expect_exit(result, fab.UNFINISHED)
    return result


def counts(result, counter):
    """{port: value} of a counter of the switch."""
    return {row["port_on_node"]: row["value"] for row in result.table("counters") if row["node"] == "leaf0" and row["counter"] == counter}


def first_xoff(context, chip, near):
    """The packet that makes the switch pause, looked for two either side of NEAR."""
    for packets in range(near - 2, near + 3):
        if counts(fill(context, chip, [(1, 3, packets)]), "SAI_PORT_STAT_PFC_3_TX_PKTS").get(1, 0) > 0:
            return packets
    raise fab.Failure(f"no XOFF within 2 packets of {near}")


def row(context, name, chip, xoff, drop, cells=1):
    have = first_xoff(context, chip, xoff)
    fab.expect(abs(have - xoff) <= cells, f"{name}: first XOFF at packet {have}, not {xoff} +-{cells}")
    more = 20
    dropped = fill(context, chip, [(1, 3, drop + more)]).summary("drop_pkts")
    have_drop = drop + more - int(dropped) + 1
    fab.expect(dropped > 0 and abs(have_drop - drop) <= cells, f"{name}: first drop at packet {have_drop}, not {drop} +-{cells}")
    print(f"  {name}: XOFF {have} (hardware {xoff}), drop {have_drop} ({drop})")


def case_trigger_trident2(context):
    """Trident 2: the pool holds every group's reserve and headroom, so the number of ports decides.

    31 ports x 2 groups x (1,248 + 62,816 B) leave 8,794,240 B of 12,766,208; / 9 = 4,697.8 cells, + 6 reserved. With the
    12 ports of the other topology 11,228,672 B: 5,998.2 + 6.
    """
    for ports, xoff in ((31, 4703), (12, 6004)):
        chip = Chip(cell=208, alpha="1/8", reserved=1248, headroom=62816, size=12766208, ports=ports)
        row(context, f"TD2, 40G, 300 m, {ports} ports", chip, xoff, xoff + 303)


def case_trigger_tomahawk(context):
    """Tomahawk: four slices, of which a port can use its own: 10,875,072 B / 4 x 1/2 = 6,535.5 cells, + 6 reserved."""
    for name, headroom, drop in (("40G", 108160, 7063), ("100G", 268736, 7835)):
        chip = Chip(cell=208, alpha=1, reserved=1248, headroom=headroom, size=16000000, ingress_pool=10875072, slices=4)
        row(context, f"TH, {name}, 300 m", chip, 6542, drop)


def case_trigger_tomahawk2(context):
    """Tomahawk 2, four slices: 33,582,016 B / 4 / 9 = 4,484.8 cells with alpha 1/8; 33,262,528 B / 4 / 2 = 19,989.6 with alpha 1.

    Which of the platform's three pools the second row was measured with is not said; this one comes nearest (2 cells).
    """
    for pool, alpha, xoff, drop, cells in ((33582016, "1/8", 4490, 4978, 1), (33262528, "1", 19994, 20481, 2)):
        chip = Chip(cell=208, alpha=alpha, reserved=1248, headroom=101088, size=43481152, ingress_pool=pool, slices=4)
        row(context, f"TH2, 100G, 300 m, alpha {alpha}", chip, xoff, drop, cells)


def case_trigger_tomahawk3(context):
    """Tomahawk 3, two halves: 55,921,148 B / 2 / 5 = 22,016.2 cells with alpha 1/4, + 10 reserved."""
    chip = Chip(cell=254, alpha="1/4", reserved=2540, headroom=117348, size=67117468, ingress_pool=55921148, slices=2)
    row(context, "TH3, 100G, 300 m", chip, 22026, 22488)


# Each group filled to its own XOFF, one after the other: the first of 50 groups on 25 ports.
TH5_SERIES = [120117, 60096, 30085, 15079, 7577, 3825, 1950, 1012, 543, 308, 191, 133, 103, 89, 81, 78, 76, 75, 74, 74]


def case_trigger_tomahawk5(context):
    """Tomahawk 5: the profile's pool is not published; the one that gives the first XOFF gives the next 19 groups' and the drop too.

    (120,117 - 74 reserved) x 254 x 2 (alpha 1) = 60,981,844 B of shared pool that a port can use; then each group finds half of
    what the one before left.
    """
    chip = Chip(cell=254, alpha=1, reserved=74 * 254, headroom=1185 * 254, size=167546528, ingress_pool=60981844, ports=26)
    row(context, "TH5, 200G, 5 m", chip, 120117, 121302)
    # The ports of the tests share one half of the pool: so do ours, with one slice.
    groups = [(1 + k // 2, 3 + k % 2) for k in range(len(TH5_SERIES))]
    for change, paused in ((-2, 0), (1, 1)):
        result = fill(context, chip, [(*group, packets + change) for group, packets in zip(groups, TH5_SERIES)])
        for (host, cls), packets in zip(groups, TH5_SERIES):
            xoffs = counts(result, f"SAI_PORT_STAT_PFC_{cls}_TX_PKTS").get(host, 0)
            fab.expect((xoffs > 0) == paused, f"TH5, group {host}/{cls}: {xoffs} XOFF after {packets + change} packets")
