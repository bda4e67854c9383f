"""Cases of configuration: what must be refused, with file, key and arithmetic; what must run."""
import fab


def case_08(context):
    """Headroom larger than the buffer is refused with the sum; the longest cable that fits runs.

    3 x 50 B/ns x d x 64 ports + 64 x 4096 B. d = 10 us: 96,000,000 + 262,144 = 96.26 MB, the buffer
    has 33,554,432 B = 33.55 MB. It fits up to (33,554,432 - 262,144) / 9,600 B/ns = 3,468 ns = 3.47 us,
    693 m at 5 ns a metre. So 3.4 us runs (32.64 MB + 0.26 MB) and 3.5 us does not (33.6 MB).
    """
    refused = context.run("case_08.ini")
    fab.expect_exit(refused, fab.BAD_INPUT)
    fab.expect_text(refused.stderr, r"96\.26 ?MB", r"33\.55 ?MB", r"3\.4[67]\d* ?us", r"69\d(\.\d+)? ?m\b")
    fits = context.run_ok("case_08.ini", sets=["topology.host_delay=3.4us"])
    fab.expect(fits.summary("flows_done") == 2 and fits.summary("drop_pkts") == 0, "3.4 us: flows lost or cut")
    refused = context.run("case_08.ini", sets=["topology.host_delay=3.5us"])
    fab.expect_exit(refused, fab.BAD_INPUT)
    fab.expect_text(refused.stderr, r"33\.86 ?MB", r"33\.55 ?MB")  # 33,600,000 + 262,144


def case_11a(context):
    """Kmin 1600 KB above Kmax 400 KB is refused."""
    refused = context.run("case_11.ini", sets=["ecn.kmin=1600KB", "ecn.kmax=400KB"])
    fab.expect_exit(refused, fab.BAD_INPUT)
    fab.expect_text(refused.stderr, r"kmin", r"kmax", r"1600 ?KB|1\.6 ?MB", r"400 ?KB")


def case_11b(context):
    """Kmin = Kmax = 400 KB is a step: nothing at or below, everything above, no 0/0.

    Two senders of 1 MB: 244 packets of 4,158 B and one of 638 B each (frames, without preamble and
    gap), all there after 245 packet times while one leaves each: n packets are left after departure
    n while n < 245, then 490 - n. Above 400,000 B are 97 or more packets (97 x 4,158 = 403,326): n =
    97 .. 393, that is 297 departures; the short packets and who is first move the ends by up to 3.
    """
    first = context.run_ok("case_11.ini", seed=1)
    fab.expect_between("marked packets", first.summary("ecn_marked_pkts"), 294, 300)
    other = context.run_ok("case_11.ini", seed=2)
    fab.expect(first.summary("ecn_marked_pkts") == other.summary("ecn_marked_pkts"), "a step has no random part")
    below = context.run_ok("case_11.ini", sets=["ecn.kmin=1100KB", "ecn.kmax=1100KB"])
    fab.expect(below.summary("ecn_marked_pkts") == 0, "marked although the queue stayed below the step")


def case_11c(context):
    """Thresholds for 25, 50 and 100G and an 800G link: refused, the link named."""
    refused = context.run("case_11.ini", sets=["topology.host_rate=800Gbps",
                                               "ecn.kmin=25Gbps:100KB 50Gbps:200KB 100Gbps:400KB",
                                               "ecn.kmax=25Gbps:400KB 50Gbps:800KB 100Gbps:1600KB"])
    fab.expect_exit(refused, fab.BAD_INPUT)
    fab.expect_text(refused.stderr, r"kmin|kmax|ecn", r"800 ?Gb", r"switch|host|link|port")


def case_11d(context):
    """Thresholds that fall with the rate (200G 300/1200 KB below 100G 400/1600 KB): a warning."""
    warned = context.run_ok("case_11.ini", sets=["ecn.kmin=100Gbps:400KB 200Gbps:300KB 400Gbps:800KB",
                                                 "ecn.kmax=100Gbps:1600KB 200Gbps:1200KB 400Gbps:3200KB"])
    fab.expect_text(" ".join(warned.warnings()), r"200 ?Gb", r"100 ?Gb", r"300 ?KB", r"400 ?KB")
    calm = context.run_ok("case_11.ini")
    fab.expect(not calm.warnings(), f"warned without cause: {calm.warnings()}")


def case_17b(context):
    """Two islands of four GPUs cannot run an all-reduce of eight: refused, the components named."""
    refused = context.run("case_17b.ini")
    fab.expect_exit(refused, fab.BAD_INPUT)
    fab.expect_text(refused.stderr, r"2 components", r"\{0-3\}\s*,\s*\{4-7\}|0-3.*4-7")


LAYERS = """[topology]
kind = leaf_spine
hosts = 8
leaves = 2
spines = 2
host_rate = 100Gbps
leaf_rate = 100Gbps
[workload]
kind = collective
[collective]
op = all_reduce
algorithm = ring
bytes = 1MiB
"""


def case_layers_named(context):
    """What a layer sets and the fabric refuses is told with the layer's line and selector, not the group's."""
    rows = [
        ("[ecn]\nkmin = 100Gbps:100KB 400Gbps:400KB\n[ecn:leaf0/*]\nkmin = 25Gbps:100KB\n", 17, r"\[ecn:leaf0/\*\]: ecn\.kmin: no value for 100Gbps links"),
        ("[ecn]\nkmin = 25Gbps:100KB\n", 15, r"ecn\.kmin: no value for 100Gbps links"),
        ("[buffer]\nsize = 32MB\n[buffer:leaf1]\nxon = 0B\nsize = 1KB\n", 18, r"\[buffer:leaf1\]: buffer\.size: leaf1 needs"),
        ("[buffer:spine*]\nalpha = 50Gbps:1/8\n", 15, r"\[buffer:spine\*\]: buffer\.alpha: no value for 100Gbps links"),
        ("[nic]\nclass_dscp = 0 8 16 24 32 40 48 56\n[nic:node3]\nclass_dscp = 1 8 16 24 32 40 48 56\n", 17, r"\[nic:node3\]: nic\.class_dscp: the NICs"),
        ("[nic]\nrecovery = selective_repeat\nack_interval = 100\n[nic:node3]\nreorder_window = 64\n", 18,
         r"\[nic:node3\]: nic\.reorder_window: a window of 64 packets"),
        ("[nic:node3]\nmtu = 1024B\n", 15, r"\[nic:node3\]: mtu: holds for the whole run"),
    ]
    for i, (text, line, words) in enumerate(rows):
        result = fab.run(context.binary, context.scratch_file(f"layers{i}.ini", LAYERS + text))
        fab.expect_exit(result, fab.BAD_INPUT)
        fab.expect_text(result.stderr, rf"layers{i}\.ini:{line}: {words}")
