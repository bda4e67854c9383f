"""Cases of the static check: mistakes that `fabricast check` finds before a run, and runs that show it was right."""
import glob
import json
import os
import subprocess
import time

import fab

FINDINGS = 1

LEAF_SPINE = """include = nic/connectx-7, switch/tomahawk4, ecn/hpcc-2019
[topology]
kind = leaf_spine
hosts = 8
leaves = 2
spines = 2
host_rate = 400Gbps
"""


def check(context, scenario, sets=(), extra=()):
    """fabricast check SCENARIO --json."""
    command = [context.binary, "check", scenario, "--json", *extra]
    for setting in sets:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return fab.Result(command, done.returncode, done.stdout, done.stderr)


def findings(result, name):
    return [f for f in result.document["findings"] if f["id"] == name]


def expect_finding(result, name, *patterns, severity="error", where=None):
    """There is a finding NAME of SEVERITY whose text, arithmetic and changes match PATTERNS; returns it."""
    fab.expect_exit(result, FINDINGS)
    for finding in findings(result, name):
        if finding["severity"] != severity or (where is not None and finding["where"] != where):
            continue
        text = "\n".join([finding["what"], *(f"{t['term']}: {t['value']}" for t in finding["why"]), *finding["change"]])
        fab.expect_text(text, *patterns)
        return finding
    raise fab.Failure(f"no {severity} {name} at {where}\n{result.told()}")


def expect_clean(result):
    fab.expect_exit(result, fab.OK)
    fab.expect(result.document["errors"] == 0 and result.document["warnings"] == 0, result.told())


def text_case(context, text, name="check.ini"):
    return context.scratch_file(name, text)


# ---- healthy ---------------------------------------------------------------------------

def case_check_examples(context):
    """No example and no catalogue entry raises an alarm: what is shipped is healthy."""
    root = os.path.join(fab.here(__file__), "..", "..")
    for path in sorted(glob.glob(os.path.join(root, "scenarios", "examples", "**", "*.ini"), recursive=True)):
        if os.sep + "mistakes" + os.sep not in path:
            expect_clean(check(context, path))
    for entry in sorted(glob.glob(os.path.join(root, "topologies", "catalogue", "switch", "*.ini"))):
        switch = os.path.basename(entry)[:-4]
        rate = "100Gbps" if switch == "spectrum1" else "400Gbps"
        text = f"include = nic/connectx-7, switch/{switch}\n[topology]\nkind = leaf_spine\nhosts = 64\nleaves = 4\nspines = 16\nhost_rate = {rate}\n"
        expect_clean(check(context, text_case(context, text)))


def case_check_speed(context):
    """A fat tree of 9,826 hosts (k = 34, 1,445 switches, 29,478 links) is checked in seconds; 30 are allowed."""
    scenario = text_case(context, "include = nic/connectx-7, switch/tomahawk4, ecn/hpcc-2019\n[topology]\nkind = fat_tree\nk = 34\n")
    start = time.monotonic()
    expect_clean(check(context, scenario))
    fab.expect_between("time of the check [s]", time.monotonic() - start, 0, 30)


# ---- bad input ----------------------------------------------------------------------------

def case_check_bad_input(context):
    """Bad input is exit 2 with file and line."""
    wrong = (("[nic]\nbogus = 1\n", r"check.ini:9: .*bogus"), ("[pfc:leaf7]\nenabled = false\n", r"check.ini:8: \[pfc:leaf7\]"),
             ("[workload]\nkind = flows\nfile = absent.csv\n", r"absent.csv"))
    for text, says in wrong:
        result = check(context, text_case(context, LEAF_SPINE + text))
        fab.expect_exit(result, fab.BAD_INPUT)
        fab.expect_text(result.stderr, says)
    fab.expect_exit(check(context, os.path.join(context.scratch, "none.ini")), fab.BAD_INPUT)
    fab.expect_exit(check(context, context.scratch_file("config_db.json", "{}")), fab.BAD_INPUT)


def case_check_sonic(context):
    """A SONiC configuration alone: short headroom and a map that leaves a class lossy are found; NICs send what its map wants.

    100 m at 100G: (2 x (500 + 120) + 500 + 600) ns x 12.5 B/ns + 3 x 4,194 B + pauses = 42,001 B against 10,000 B and 100,000 B.
    """
    ports = [f"Ethernet{4 * i}" for i in range(4)]

    def config(xoff, map_row="3"):
        return json.dumps({
            "DEVICE_METADATA": {"localhost": {"hostname": "tor1"}},
            "PORT": {port: {"speed": "100000"} for port in ports}, "CABLE_LENGTH": {"AZURE": {port: "100m" for port in ports}},
            "DEVICE_NEIGHBOR": {ports[0]: {"name": "server0"}, ports[1]: {"name": "server1"}, ports[2]: {"name": "up"}, ports[3]: {"name": "up"}},
            "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "8000000"},
                            "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": "12000000"}},
            "BUFFER_PROFILE": {"pg": {"pool": "ingress_lossless_pool", "size": "19456", "xon": "19456", "xoff": str(xoff), "dynamic_th": "0"}},
            "BUFFER_PG": {f"{port}|3-4": {"profile": "pg"} for port in ports},
            "DSCP_TO_TC_MAP": {"AZURE": {"3": map_row, "4": "4"}},
            "PORT_QOS_MAP": {",".join(ports): {"pfc_enable": "3,4", "dscp_to_tc_map": "AZURE"}}})

    good = check(context, context.scratch_file("good_db.json", config(100000)), extra=["--hops"])
    fab.expect(not [f for f in good.document["findings"] if f["severity"] == "error"], good.stdout)
    fab.expect(good.document["hops"] and all(hop["lossless"] for hop in good.document["hops"]), "a hop is not lossless")
    fab.expect_text(good.stdout, r"nic.class_dscp = 0 8 16 3 4")
    short = check(context, context.scratch_file("short_db.json", config(10000)))
    expect_finding(short, "headroom-short", r"priority group 3 behind 100Gbps and 100m .* has 10,000 B of headroom", where="tor1 to server0..server1, up, 4 ports")
    lossy = check(context, context.scratch_file("lossy_db.json", config(100000, "1")))
    expect_finding(lossy, "hop-not-lossless", r"class 3, DSCP 24", r"TC 0, priority group 0")


def case_check_examples_found(context):
    """What each example of a mistake is, the check says; the healthy twins have no finding."""
    folder = os.path.join(fab.here(__file__), "..", "..", "scenarios", "examples", "mistakes")
    wanted = {"pfc_off": "hop-not-lossless", "priority_swapped": "maps-differ", "trust_mismatch": "trust-differs",
              "headroom_too_small": "headroom-short", "cnp_in_data_class": "cnp-with-data", "ecn_after_pfc": "ecn-after-pfc",
              "storage_in_rdma_class": "applications-share", "hash_polarisation": "polarised", "bad_optic": "link-loses",
              "spray_go_back_n": "spray-go-back-n", "slow_receiver": "slow-receiver", "storm": "storm-unwatched"}
    for name, rule in wanted.items():
        found = findings(check(context, os.path.join(folder, name + ".ini")), rule)
        fab.expect(found and found[0]["severity"] != "note", f"{name}: no {rule}")
    for name in ("base", "storage", "two_way", "three_tier"):
        fab.expect_exit(check(context, os.path.join(folder, name + ".ini")), fab.OK)


# ---- hand-worked cases, their static parts ----------------------------------------------------

def case_check_08(context):
    """Case 8: 64 x (1,500,000 + 4,096) B = 96.26 MB do not fit into 33.55 MB; 3.47 us would, 3.4 us does."""
    finding = expect_finding(check(context, context.path("case_08.ini")), "buffer-too-small", r"96\.26 MB .* has 33\.55 MB", r"3\.47 us",
                             r"64 ports .*reserved 4,096 B \+ headroom 1,500,000 B")
    fab.expect(finding["where"] == "leaf0", finding["where"])
    fits = check(context, context.path("case_08.ini"), sets=["topology.host_delay=3.4us"])
    fab.expect(not findings(fits, "buffer-too-small"), fits.told())
    expect_finding(check(context, context.path("case_08.ini"), sets=["topology.host_delay=3.5us"]), "buffer-too-small")


def case_check_11(context):
    """Case 11: (a) Kmin above Kmax, (b) a step is legal, (c) a rate without a rule, (d) a map that falls."""
    base = context.path("case_11.ini")
    expect_finding(check(context, base, sets=["ecn.kmin=1600KB"]), "kmin-above-kmax", r"1,600,000 B is above kmax 400,000 B")
    expect_clean(check(context, base))
    expect_finding(check(context, base, sets=["topology.host_rate=800Gbps", "ecn.kmin=25Gbps:100KB 50Gbps:200KB 100Gbps:400KB"]), "refused",
                   r"ecn\.kmin: no value for 800Gbps links, which the link leaf0 - node0 is")
    falling = ["ecn.kmin=100Gbps:400KB 200Gbps:300KB", "ecn.kmax=100Gbps:1600KB 200Gbps:1200KB"]
    expect_finding(check(context, base, sets=falling), "ecn-falling", r"kmin: 200Gbps links have 300kB, below the 400kB of 100Gbps", severity="warning")


def case_check_12(context):
    """Case 12: spray and adaptive routing with go-back-N warn; a receiver that tolerates reordering does not."""
    scenario = text_case(context, LEAF_SPINE)
    for mode in ("spray", "adaptive"):
        expect_finding(check(context, scenario, sets=[f"routing.mode={mode}"]), "spray-go-back-n", r"nic\.recovery = selective_repeat", severity="warning",
                       where="node0..node7")
        expect_clean(check(context, scenario, sets=[f"routing.mode={mode}", "nic.reorder_tolerance=1000"]))


def case_check_25(context):
    """Case 25: A -> B -> C -> A is printed link by link; up/down routes and lossy classes are free of it; the run locks."""
    finding = expect_finding(check(context, context.path("ring3.ini")), "buffer-cycle", r"priority group 3: switch3 -> switch4 -> switch5 -> switch3",
                             r"switch3 -> switch4: priority group 3 at switch4 waits for the link switch4 -> switch5")
    fab.expect([(p["node"], p["peer"]) for p in finding["places"]] == [("switch3", "switch4"), ("switch4", "switch5"), ("switch5", "switch3")],
               f"places {finding['places']}")
    for sets in (["routing.mode=ecmp", "workload.paths="], ["pfc.enabled=false"]):
        result = check(context, context.path("ring3.ini"), sets=sets)
        fab.expect(not findings(result, "buffer-cycle"), result.told())
    fab.expect_exit(context.run("ring3.ini"), fab.DEADLOCK)


# ---- mistakes of operation, each with its healthy twin -------------------------------------------

def case_check_mistakes(context):
    """PFC off on one hop, a swapped priority, CNPs in the data class, storage in the RDMA class: each is found where it is."""
    flows = context.scratch_file("two.flows.csv", "flow,src,dst,bytes,start,class\n0,0,4,1000000,0us,3\n1,1,4,1000000,0us,1\n")
    both = f"[workload]\nkind = flows\nfile = {flows}\n"
    swap_twin = "[pfc]\nlossless_classes = 3,4\n[ecn]\nclasses = 3,4\n"
    mistakes = (
        ("hop-not-lossless", "error", "spine1/leaf0", "", "[pfc:leaf0/spine1]\nenabled = false\n"),
        ("hop-not-lossless", "error", None, swap_twin, "[qos:spine0]\ndscp_to_tc = 0-63:0 24:4 32:3 48:6\n"),
        ("maps-differ", "warning", "spine0 to leaf0..leaf1, 2 ports", swap_twin, "[qos:spine0]\ndscp_to_tc = 0-63:0 24:4 32:3 48:6\n"),
        ("cnp-with-data", "warning", None, "", "[nic]\ncnp_class = 3\n"),
        ("classes-share", "warning", None, both, "[qos]\ndscp_to_tc = 0-63:0 8:3 24:3 48:6\n"),
        ("classes-share", "warning", "leaf1 to node4..node7, spine0..spine1, 6 ports", both, "[qos:leaf1]\ndscp_to_tc = 0-63:0 8:3 24:3 48:6\n"),
        ("polarised", "warning", None, "[topology]\nkind = fat_tree\nk = 4\n", "[routing]\necmp_seed_per_switch = false\n"),
    )
    for name, severity, where, healthy, mistake in mistakes:
        base = LEAF_SPINE if "fat_tree" not in healthy else ""
        expect_clean(check(context, text_case(context, base + healthy)))
        expect_finding(check(context, text_case(context, base + healthy + mistake)), name, severity=severity, where=where)
        print(f"  {name}: found")


def case_check_hops(context):
    """The lossless hop list has each direction of each link: 8 + 4 links, 24 hops, of which one link is not lossless."""
    result = check(context, text_case(context, LEAF_SPINE + "[pfc:leaf0/spine1]\nenabled = false\n"), extra=["--hops"])
    hops = result.document["hops"]
    fab.expect(len(hops) == 24, f"{len(hops)} hops")
    bad = {(h["node"], h["peer"]) for h in hops if not h["lossless"]}
    fab.expect(bad == {("leaf0", "spine1"), ("spine1", "leaf0")}, f"not lossless: {bad}")


# ---- runs show that the check was right -----------------------------------------------------------

def case_check_headroom(context):
    """Headroom below what the check asks for drops in a run, what it asks for does not.

    2 x 1 us at 12.5 B/ns = 25,000 (+ 1), 3 x 4,178 B of frames, 84 B of pause frame: 37,619 B.
    """
    base = context.path("headroom.ini")
    finding = expect_finding(check(context, base, sets=["buffer.headroom=20KB"]), "headroom-short", r"has 20,000 B of headroom and needs 37,619 B",
                             r"cable, there and back: 2 x 1us x rate = 25,000 B", r"3 x 4,178 B = 12,534 B", r"buffer\.headroom = 38kB")
    fab.expect(finding["where"] == "leaf0 to node0..node7, 8 ports", finding["where"])
    fab.expect(fab.run(context.binary, base, sets=["buffer.headroom=20KB"]).summary("drop_pkts") > 0, "20 kB of headroom lose nothing")
    enough = ["buffer.headroom=37619B"]
    expect_clean(check(context, base, sets=enough))
    fab.expect(fab.run_ok(context.binary, base, sets=enough).summary("drop_pkts") == 0, "37,619 B of headroom lose frames")


ORDER = """include = {conventions}
[topology]
hosts = 9
[buffer]
size = 4MiB
reserved = 4096B
alpha = 1/8
[ecn]
kmin = {kmin}
kmax = {kmax}
[nic]
congestion_control = dcqcn
[workload]
kind = flows
file = {flows}
"""


def case_check_order(context):
    """Two senders, one receiver: with Kmin above the check's queue at XOFF a run pauses before it marks, below it marks first.

    9 ports, alpha 1/8: the pool is 4 MiB - 9 x (4,096 + headroom); XOFF at 2 x (4,096 + pool / 8 / 1.25).
    """
    flows = context.scratch_file("order.flows.csv", "flow,src,dst,bytes,start\n0,0,8,4000000,0us\n1,1,8,4000000,0us\n")
    conventions = context.path("conventions.ini")

    def scenario(kmin, kmax):
        return context.scratch_file("order.ini", ORDER.format(conventions=conventions, kmin=kmin, kmax=kmax, flows=flows))

    late = scenario("2MB", "3MB")
    finding = expect_finding(check(context, late), "ecn-after-pfc", r"from a fan-in of 2 ports: XOFF at a queue of", r"alpha 0\.125 x pool", severity="warning")
    xoff = int(finding["what"].split("queue of ")[1].split(" B")[0].replace(",", ""))
    pool = 4 * 1024 * 1024 - 9 * (4096 + 37619)
    fab.expect_between("queue at XOFF [B]", xoff, 2 * (4096 + pool / 8 / 1.25) - 2, 2 * (4096 + pool / 8 / 1.25) + 2)
    result = fab.run_ok(context.binary, late)
    fab.expect(result.summary("pfc_pause_frames") > 0 and result.summary("ecn_marked_pkts") == 0, "late marks: not paused, or marked")
    fab.expect_between("largest queue [B]", result.summary("queue_max_bytes"), xoff - 2 * 4178, xoff + 2 * 37619)
    early = scenario("50KB", "100KB")
    expect_clean(check(context, early))
    result = fab.run_ok(context.binary, early)
    fab.expect(result.summary("ecn_marked_pkts") > 0 and result.summary("pfc_pause_frames") == 0, "early marks: paused, or never marked")
