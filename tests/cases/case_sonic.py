"""Imported SONiC settings: the headroom table, effective QoS, and that a run uses what was imported."""
import json
import os
import re
import shutil
import subprocess

import fab

MSN2700 = "real/sonic/pg_profile_lookup-msn2700.ini"
LT2 = "real/sonic/buffer-lt2-p32o64.json"
NOKIA = "real/sonic/qos-nokia-ixr7250e-36x400g.json"

PORTS = [f"Ethernet{4 * i}" for i in range(11)]
# A Spectrum-1 as SONiC's template gives it: no shared headroom pool, 3.3 MB to share, a 13.9 MB chip.
POOLS = {
    "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "3302912"},
    "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": "13945824"},
}
GREEN = {"ecn": "ecn_all", "green_min_threshold": "1048576", "green_max_threshold": "2097152", "green_drop_probability": "5"}


def config(cable="300m", **tables):
    """A configuration of eleven 100G ports with PFC on 3 and 4."""
    every = ",".join(PORTS)
    return {"PORT": {port: {"speed": "100000"} for port in PORTS}, "CABLE_LENGTH": {"AZURE": {port: cable for port in PORTS}},
            "BUFFER_POOL": POOLS, "PORT_QOS_MAP": {every: {"pfc_enable": "3,4"}}, **tables}


class Imported:
    """A scenario in the scratch folder that includes overlays of imported files."""

    def __init__(self, context):
        self.context, self.warnings = context, ""
        for name in ("conventions.ini", "sonic_star.ini", "sonic_star.flows.csv"):
            shutil.copy(context.path(name), context.scratch)
        self.scenario = os.path.join(context.scratch, "sonic_star.ini")

    def load(self, source, overlay="overlay.ini", options=()):
        """Imports SOURCE, a path or a dictionary; returns the overlay's text."""
        if isinstance(source, dict):
            source = self.context.scratch_file("config_db.json", json.dumps(source, indent=1))
        out = os.path.join(self.context.scratch, overlay)
        command = [self.context.binary, "import", "sonic", source, "-o", out, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        fab.expect(done.returncode == fab.OK, f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        self.warnings = done.stderr
        with open(out, encoding="utf-8") as file:
            return file.read()

    def run(self, **options):
        return self.context.run(self.scenario, **options)

    def run_ok(self, **options):
        return self.context.run_ok(self.scenario, **options)


def shared_file(context, name):
    path = os.path.join(context.shared, name)
    if not os.path.exists(path):
        fab.skip(f"no {path}")
    return path


# ---- case 14 ------------------------------------------------------------------------

def case_14(context):
    """The SN2700 headroom table imports with size = xon + xoff; its cable term is twice the physical one; a slow peer needs 160 kB.

    2 x 260 m x 5 ns x 12.5 B/ns = 32,500 B at 100G from 40 to 300 m, the table grows by 65,536. A peer that stops 8.78 us
    after XOFF needs 2 x 1.5 us x 12.5 B/ns + 8,784 ns x 12.5 B/ns + 3 frames + 2 pauses = 160,000 B (buildimage PR11901); with
    the table's 104,448 B ten senders overrun it.
    """
    lookup = shared_file(context, MSN2700)
    imported = Imported(context)
    text = imported.load(config(), options=["--pg-lookup", lookup])
    fab.expect_text(text, r"15 rows; size = xon \+ xoff in all of them",
                    r"100Gbps, 40m to 300m: xoff grows by 65536 B, .* by 32500 B: x2\.02",
                    r"100Gbps, 5m to 40m: xoff grows by 8192 B, .* by 4375 B: x1\.87",
                    r"40Gbps, 40m to 300m: xoff grows by 26624 B, .* by 13000 B: x2\.05",
                    r"25Gbps, 40m to 300m: xoff grows by 16384 B, .* by 8125 B: x2\.02")
    fab.expect_text(text, r"headroom = 104448B", r"xon = 19456B", r"reserved = 19456B")
    calm = imported.run_ok(sets=["pfc.response=3us"])
    fab.expect(calm.summary("pfc_pause_frames") > 0 and calm.summary("drop_pkts") == 0, "drops at a usual response time")
    slow = ["pfc.response=8784ns"]
    physical = imported.run_ok(sets=[*slow, "buffer:*#3-4.headroom_rule=physical"])
    needed = max(row["headroom_bytes"] for row in physical.table("ports"))
    fab.expect_between("headroom for the slow peer [B]", needed, 159900, 160100)
    fab.expect(physical.summary("drop_pkts") == 0, "drops with the physical headroom")
    fab.expect_between("used of it [B]", physical.summary("headroom_max_bytes"), 104448, 160000)
    short = imported.run(sets=slow)
    fab.expect(short.summary("lossless_drop_pkts") > 0, "the table's headroom held a peer that needs 160 kB")


# ---- case 15 ------------------------------------------------------------------------

def qos(wred):
    return config(QUEUE={f"{port}|3": {"wred_profile": "W"} for port in PORTS}, WRED_PROFILE={"W": wred},
                  BUFFER_PROFILE={"pg": {"pool": "ingress_lossless_pool", "size": "50176", "xon": "19456", "xoff": "104448", "dynamic_th": "0"}},
                  BUFFER_PG={f"{port}|3-4": {"profile": "pg"} for port in PORTS})


def case_15a(context):
    """A WRED profile without wred_green_enable marks nothing, and the import says so; with the key ten senders are marked."""
    imported = Imported(context)
    imported.load(qos(GREEN))
    fab.expect_text(imported.warnings, r"ECN inactive on green: wred_green_enable is missing")
    quiet = imported.run_ok()
    fab.expect(quiet.summary("queue_max_bytes") > 2097152, "the queue did not reach the thresholds")
    fab.expect(quiet.summary("ecn_marked_pkts") == 0, "marked although green is not enabled")
    imported.load(qos({**GREEN, "wred_green_enable": "true"}))
    fab.expect("ECN inactive" not in imported.warnings, imported.warnings)
    marks = imported.run_ok().summary("ecn_marked_pkts")
    fab.expect(marks > 0, "no marks with the key")
    print(f"  {marks} marks with the key, 0 without")


def case_15b(context):
    """Where colours differ the import asks which one the ASIC uses; with --colour red the red thresholds mark."""
    imported = Imported(context)
    both = {**GREEN, "wred_red_enable": "true", "red_min_threshold": "100000", "red_max_threshold": "100000", "red_drop_probability": "100"}
    imported.load(qos(both))
    fab.expect_text(imported.warnings, r"the ASIC decides which .*: green is taken; say --colour")
    fab.expect(imported.run_ok().summary("ecn_marked_pkts") == 0, "marked although green is not enabled")
    imported.load(qos(both), options=["--colour", "red"])
    fab.expect(imported.run_ok().summary("ecn_marked_pkts") > 0, "red does not mark")


def case_15c(context):
    """A lossless group without headroom loses frames: after each pause at most 2 x delay x rate + MTU.

    Two senders at 100G into one 100G port: 2 x 1.5 us x 12.5 B/ns = 37,500 B, and the frame that was begun.
    """
    profile = {"pool": "ingress_lossless_pool", "size": "0", "xoff": "0", "dynamic_th": "0"}
    imported = Imported(context)
    imported.load(config(BUFFER_PROFILE={"zero": profile}, BUFFER_PG={f"{port}|3-4": {"profile": "zero"} for port in PORTS}))
    fab.expect_text(imported.warnings, r"zero gives priority group 3 no headroom \(xoff 0\)")
    flows = context.scratch_file("two.flows.csv", "src,dst,bytes,start,class\n0,10,8000000,0,3\n1,10,8000000,0,3\n")
    result = imported.run(sets=[f"workload.file={flows}"], until="1500us")
    fab.expect(result.code in (fab.OK, fab.UNFINISHED), result.told())
    drops, pauses = result.summary("lossless_drop_pkts"), result.summary("pfc_pause_frames")
    lost = sum(row["drop_bytes"] for row in result.table("ports"))
    fab.expect(drops > 0 and pauses > 0, f"{drops} drops, {pauses} pauses")
    fab.expect_between("lost a pause [B]", lost / pauses, 1, 2 * 1500 * 12.5 + 4178)


# ---- the imported values are in force ---------------------------------------------------

def value(result, group, key):
    row = result.document["params"][group][key]
    return row["value"] if row["base_value"] is None else row["base_value"]


def case_sonic_xoff(context):
    """The first XOFF comes when an ingress has filled size - xoff and its share of the imported pool.

    A stuck receiver and one sender: alpha 1 of 3,302,912 B is reached at half of it; with the reserve of 19,456 B that is
    1,670,912 B = 401.9 frames of 4,158 B. The 402nd has arrived 402 x 4,178 / 12.5 ns + 1.5 us after the flow began.
    """
    lookup = shared_file(context, MSN2700)
    imported = Imported(context)
    imported.load(config(), options=["--pg-lookup", lookup])
    flows = context.scratch_file("one.flows.csv", "src,dst,bytes,start,class\n0,10,4000000,20us,3\n")
    out = os.path.join(context.scratch, "xoff.h5")
    stuck = ["fault:stuck.kind=pause_storm", "fault:stuck.where=node10", "fault:stuck.start=0", "fault:stuck.duration=1ms"]
    result = imported.run(sets=[f"workload.file={flows}", *stuck], until="500us", out=out)
    fab.expect(result.code in (fab.OK, fab.UNFINISHED), result.told())
    port = [row["port"] for row in result.table("ports") if row["node"] == "node0"][0]
    events = fab.series(out, "events/pfc")
    first = min(t for t, at, quanta in zip(events["t_ps"], events["port"], events["quanta"]) if at == port and quanta > 0)
    arrived = (first / 1e3 - 20000 - 2 * 1500) * 12.5 / 4178  # data and pause pass the cable
    fab.expect_between("frames to first XOFF", arrived, 401.9, 403.1)


def real_star(context):
    """A star of 400G ports with both real files; NICs send class 3 and 4 with DSCP 3 and 4, as the DSCP map wants it."""
    buffers, qos_file = shared_file(context, LT2), shared_file(context, NOKIA)
    imported = Imported(context)
    imported.load(buffers, "buffers.ini")
    imported.load(qos_file, "qos.ini")
    fab.expect_text(imported.warnings, r"108 rows of other line cards' ports: ignored", r"no profile for lossless priority groups 3,4")
    context.scratch_file("overlay.ini", "include = buffers.ini, qos.ini\n[topology]\nhost_rate = 400Gbps\n[nic]\nclass_dscp = 0 8 16 3 4 40 46 48\n")
    text = open(imported.scenario, encoding="utf-8").read()
    context.scratch_file("sonic_star.ini", re.sub(r"host_rate.*\n", "", text))
    return imported


def case_sonic_real(context):
    """Buffers of a Tomahawk 5 and QoS of a Jericho line card, both real: the run uses what was imported.

    Ten senders of 2 MB at 400G: the queue grows to 18 MB and drains, and all 4,890 packets leave at every queue length
    equally often. Above kmax = 10 MB all are marked: 8/18; from kmin = 2 MB the mean of 0 and 5 %: 8/18 x 2.5 %; in all
    45.6 %, 2,228. Ten senders of 180 KB stay below 2 MB: no mark. A lossy class may take half of the 164,619,432 B pool
    (alpha 1), and half its reserve of 1,778 B: 82,310,605 B, and half a frame, since what is free is taken before the frame. Weights 15 and 14: of two equal flows the one in queue 3 is
    done after 29/30 of the time.
    """
    imported = real_star(context)
    result = imported.run_ok()
    for group, key, wanted in (("buffer", "size", 164619432), ("buffer", "headroom_pool", 33690560), ("buffer", "egress_lossless_pool", 164619432),
                               ("buffer:*#3-4", "egress_static_th", 82434938), ("buffer:*#0", "lossy_pg_static_th", 82434938)):
        fab.expect(value(result, group, key) == wanted, f"{group}.{key} = {value(result, group, key)}, expected {wanted}")
    fab.expect(value(result, "qos", "dscp_to_tc") == "0-63:1 3:3 4:4 5:2 8:0 46:5 48:6", "the DSCP map")
    fab.expect(result.summary("drop_pkts") == 0, "drops")
    fab.expect_between("marked of 4,890", result.summary("ecn_marked_pkts"), 2228 * 0.97, 2228 * 1.03)

    def flows(name, rows):
        return f"workload.file={context.scratch_file(name, 'src,dst,bytes,start,class' + chr(10) + ''.join(rows))}"

    small = imported.run_ok(sets=[flows("small.csv", [f"{i},10,180000,0,3\n" for i in range(10)])])
    fab.expect(small.summary("queue_max_bytes") > 1e6 and small.summary("ecn_marked_pkts") == 0, "marked below kmin")
    lossy = imported.run(sets=[flows("lossy.csv", [f"{i},10,16000000,0,0\n" for i in range(10)])], until="300us")
    fab.expect(lossy.summary("drop_pkts") > 0, "no drops in the lossy class")
    fab.expect_between("lossy queue [B]", lossy.summary("queue_max_bytes"), 82310605 - 4200, 82310605 + 4178 / 2)
    shares = imported.run_ok(sets=[flows("shares.csv", ["0,10,20000000,0,3\n", "1,10,20000000,0,0\n"])])
    times = {row["class"]: row["fct_rx_ps"] for row in shares.table("flows")}
    fab.expect_between("time of weight 15 over 14", times[3] / times[0], 29 / 30 * 0.995, 29 / 30 * 1.005)
