"""Cases of collectives on one non-blocking switch, and of Chakra traces."""
import os
import subprocess

import fab

BYTES_PER_NS = 50  # 400 Gb/s
MIB48 = 48 * 2**20


def ring_us(n_ranks, total_bytes, steps, link_ns):
    """A ring step: the chunk at line rate, two links, and one packet stored in the switch.
    The packets of a chunk follow each other, so only the last one's way adds to the chunk."""
    wire = fab.wire_bytes(-(-total_bytes // n_ranks))
    return steps * (wire / BYTES_PER_NS + 2 * link_ns + 4178 / BYTES_PER_NS) / 1e3


def times_ps(result):
    return [row["time_ps"] for row in result.table("collectives")]


def run_ring(context, n_ranks):
    # A fabric has two hosts at least; the ring takes the first n_ranks of them.
    ranks = "0" if n_ranks == 1 else f"0-{n_ranks - 1}"
    return context.run_ok("case_20.ini", sets=[f"topology.hosts={max(n_ranks, 2)}", f"collective.ranks={ranks}"])


def payload_sent(result, framing=62):
    """Payload of all data packets, from the ledger: frame bytes less framing and ACKs of 66 B."""
    hosts = [port for port in result.table("ports") if port["node"].startswith("node")]
    data, acks = (sum(port[key] for port in hosts) for key in ("data_pkts", "ack_pkts"))
    sent = sum(row["sent_bytes"] for row in result.table("ledger"))
    return sent - framing * data - 66 * acks


def case_20(context):
    """Ring all-reduce of 48 MiB on 2, 3, 6, 7 and 24 ranks at 400G, five times each.

    N ranks: 2(N-1) steps of 48 MiB / N. N = 24: 46 x 2,097,152 B = 96,468,992 B a NIC; with framing
    46 x wire(2,097,152) = 46 x 2,139,136 B at 50 B/ns = 1,968.0 us; each step adds two links of 1 us
    and one packet of 4,178 B (83.6 ns): 46 x 2,083.6 ns = 95.8 us. Up to 1 % above, for the ACKs on
    the same links. N = 7: 50,331,648 B are 7 x 7,190,235.4: chunks differ by one element of 4 B, and the
    sum is exact. Repeats 2 to 5 are equal to the picosecond; the first one differs from them by at most
    the ACK (86 B, 1.72 ns) of the repeat before, which is still being sent when the next begins.
    """
    for n_ranks in (2, 3, 6, 7, 24):
        result = run_ring(context, n_ranks)
        times = times_ps(result)
        fab.expect(len(times) == 5, f"{len(times)} collectives, expected 5")
        fab.expect(len(set(times[1:])) == 1, f"N = {n_ranks}: repeats differ: {times}")
        fab.expect(abs(times[0] - times[1]) <= 1720, f"N = {n_ranks}: the first repeat differs: {times}")
        expected = ring_us(n_ranks, MIB48, 2 * (n_ranks - 1), 1000)
        fab.expect_between(f"N = {n_ranks} [us]", times[0] / 1e6, 0.999 * expected, 1.01 * expected)
        # Every rank sends 2(N-1)/N of the data, N ranks: 2(N-1) x 48 MiB in all, to the byte.
        total = 5 * 2 * (n_ranks - 1) * MIB48
        fab.expect_between(f"N = {n_ranks} payload [B]", payload_sent(result), total, total)


def case_20_one(context):
    """An all-reduce of one rank moves nothing and takes no time."""
    result = run_ring(context, 1)
    fab.expect(times_ps(result) == [0] * 5, f"times: {times_ps(result)}")
    fab.expect(result.summary("data_hops") == 0, "packets were sent")


# ---- Chakra -------------------------------------------------------------------

def one_collective(context, trace):
    result = context.run_ok("case_21.ini", sets=[f"workload.file={trace}"])
    rows = result.table("collectives")
    fab.expect(len(rows) == 1, f"{len(rows)} collectives, expected 1")
    fab.expect(rows[0]["bytes"] > 0, "read as an operation of 0 bytes")
    return rows[0]


def expect_all_reduce(row):
    """8 ranks, 1 MiB at 50 B/ns: no NIC can be faster than 2 x 7/8 x 1 MiB = 1,835,008 B: 36.7 us. Ring: 14
    steps of 131,072 B: 14 x (133,696/50 + 4,178/50 + 1,000) ns = 52.6 us; up to 1 % more for ACKs."""
    fab.expect(row["bytes"] == 2**20 and row["ranks"] == 8, f"not 1 MiB on 8 ranks: {row}")
    expected = ring_us(8, 2**20, 14, 500)
    fab.expect_between("all-reduce [us]", row["time_ps"] / 1e6, max(36.7, 0.999 * expected), 1.01 * expected)


def case_21(context):
    """A Chakra all-reduce of 1 MiB on eight 400G hosts takes 52.6 us (own traces)."""
    tool = find_tool(context, "make_chakra")
    if tool is None:
        fab.skip("make_chakra is not built")
    folder = os.path.join(context.scratch, "traces")
    subprocess.run([tool, folder, "all_reduce", "8", "1", "0", str(2**20)], check=True)
    expect_all_reduce(one_collective(context, os.path.join(folder, "all_reduce")))


def find_tool(context, name):
    for folder, _, files in os.walk(context.tools or "."):
        if name in files and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    return None


# Published traces of one operation of 1 MiB: folder, prefix, ring steps, chunk. All-gather and reduce-scatter
# of n ranks: n - 1 steps; an all-gather's comm_size is what each rank brings (workload.chakra_all_gather).
PUBLISHED = (
    ("all_reduce_4npus_1MB", "all_reduce", 4, 6, 2**18),
    ("all_gather_8npus_1MB", "all_gather", 8, 7, 2**20),
)


def case_21_published(context):
    """Published Chakra microbenchmarks run, and take what the ring arithmetic says.

    Step: wire(chunk)/50 + 4,178/50 + 1,000 ns. All-reduce on 4 ranks: 6 steps of 262,144 B; all-gather on 8: 7
    steps of 1 MiB. All-to-all on 4: each rank sends 3 x 256 KiB, 3 x 267,392 B / 50 = 16.0 us at least.
    """
    root = os.path.join(context.shared, "real", "chakra")
    if not context.shared or not os.path.isdir(root):
        fab.skip(f"no published traces at {root}")
    for folder, prefix, n_ranks, steps, chunk in PUBLISHED:
        row = one_collective(context, os.path.join(root, folder, prefix))
        step_ns = fab.wire_bytes(chunk) / BYTES_PER_NS + 4178 / BYTES_PER_NS + 1000
        fab.expect(row["ranks"] == n_ranks, f"{folder}: {row['ranks']} ranks")
        fab.expect_between(f"{folder} [us]", row["time_ps"] / 1e6, 0.999 * steps * step_ns / 1e3,
                           1.01 * steps * step_ns / 1e3)
    row = one_collective(context, os.path.join(root, "all_to_all_4npus_1MB", "all_to_all"))
    bound_us = 3 * fab.wire_bytes(2**18) / BYTES_PER_NS / 1e3
    fab.expect_between("all_to_all_4npus_1MB [us]", row["time_ps"] / 1e6, bound_us, 1.15 * bound_us + 2)
