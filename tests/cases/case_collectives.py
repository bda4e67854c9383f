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


def times_us(result):
    return [(row["end_ps"] - row["start_ps"]) / 1e6 for row in result.table("collectives")]


def case_20(context):
    """Ring all-reduce of 48 MiB on 1, 2, 3, 6, 7 and 24 ranks at 400G, five times each.

    N ranks: 2(N-1) steps of 48 MiB / N. N = 24: 46 x 2,097,152 B = 96,468,992 B a NIC; with framing
    46 x wire(2,097,152) = 46 x 2,139,136 B at 50 B/ns = 1,968.0 us; each step adds two links of 1 us
    and one packet of 4,178 B (83.6 ns): 46 x 2,083.6 ns = 95.8 us. N = 1: nothing moves, no time.
    Up to 1 % above, for acknowledgements on the same links. All five repeats equal to the picosecond.
    """
    for n_ranks in (2, 3, 6, 7, 24):
        result = run_ring(context, n_ranks)
        expected = ring_us(n_ranks, MIB48, 2 * (n_ranks - 1), 1000)
        times = times_us(result)
        fab.expect(len(times) == 5, f"{len(times)} collectives, expected 5")
        fab.expect_between(f"N = {n_ranks} [us]", times[0], 0.999 * expected, 1.01 * expected)
        fab.expect(len(set(times)) == 1, f"N = {n_ranks}: repeats differ: {times}")
        # Every rank sends 2(N-1)/N of the data, N ranks: 2(N-1) x 48 MiB in all, to the byte.
        fab.expect_between(f"N = {n_ranks} payload [B]", payload_sent(result), 5 * 2 * (n_ranks - 1) * MIB48,
                           5 * 2 * (n_ranks - 1) * MIB48)


def case_20_one(context):
    """An all-reduce of one rank moves nothing and takes no time."""
    result = run_ring(context, 1)
    fab.expect(times_us(result) == [0, 0, 0, 0, 0], f"times: {times_us(result)}")
    fab.expect(result.summary("data_hops") == 0, "packets were sent")


def run_ring(context, n_ranks):
    return context.run_ok("case_20.ini", sets=[f"topology.hosts={max(n_ranks, 2)}", f"collective.ranks={n_ranks}"])


def payload_sent(result):
    raise NotImplementedError
