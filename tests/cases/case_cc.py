"""Congestion controls against what their papers derive for N equal flows into one port (cc.ini)."""
import math
import os
import statistics

import fab

PACKET = 4158  # bytes of a packet in a queue
FILL = 14      # packets that fill the unloaded path: 4.68 us / 334.24 ns
FLOWS, MARK_PACKETS = 4, 260000 / PACKET
END_MS, FROM_MS, GRAIN_US = 10, 4, 2


def settled(context, law, sets=()):
    """Packets queued at the receiver's port, and how busy that port was, from 4 to 10 ms."""
    store = os.path.join(context.scratch, "cc.h5")
    result = context.run("cc.ini", until=f"{END_MS}ms", out=store, sets=[f"nic.congestion_control={law}", *sets])
    fab.expect_exit(result, fab.UNFINISHED)  # the flows are longer than the run, as meant
    fab.expect(result.summary("drop_pkts") == 0, "drops")
    bottleneck = [row["port"] for row in result.table("ports") if row["node"] == "leaf0" and row["peer"] == "node4"][0]
    n = (END_MS - FROM_MS) * 1000 // GRAIN_US

    def tail(table, column):
        rows = fab.series(store, table)
        held = [x for t, port, x in zip(rows["t_ps"], rows["port"], rows[column]) if port == bottleneck and t > FROM_MS * 1e9]
        return (held + [0] * n)[:n]  # no row: an empty queue, an idle link

    return [size / PACKET for size in tail("series/queue", "bytes")], statistics.fmean(tail("series/link", "utilisation"))


def case_cc_window(context):
    """Windows alone: 4 x 16 packets are under way, 14 fill the path, 50 wait."""
    queue, busy = settled(context, "none", ["nic.window=64KiB"])
    fab.expect_between("queue [packets]", statistics.fmean(queue), 49, 51)
    fab.expect_between("busy", busy, 0.999, 1.001)


def case_cc_dctcp(context):
    """DCTCP's sawtooth: between K + N - A and K + N packets, A = sqrt(2 N (C RTT + K)) / 2 (SIGCOMM 2010, 3.3).

    K = 62.5, N = 4: A = 12.4; 54.2 to 66.5.
    """
    queue, busy = settled(context, "dctcp")
    swing = math.sqrt(2 * FLOWS * (FILL + MARK_PACKETS)) / 2
    fab.expect_between("largest queue [packets]", max(queue), MARK_PACKETS, MARK_PACKETS + FLOWS)
    fab.expect_between("smallest queue [packets]", min(queue), MARK_PACKETS + FLOWS - swing, MARK_PACKETS)
    fab.expect_between("busy", busy, 0.999, 1.001)


def case_cc_hpcc(context):
    """HPCC fills eta = 95 % of the link and what W_AI adds, with next to nothing in the queue (SIGCOMM 2019, 3.2)."""
    queue, busy = settled(context, "hpcc")
    fab.expect_between("mean queue [packets]", statistics.fmean(queue), 0, FLOWS)
    fab.expect_between("busy", busy, 0.93, 0.98)


def case_cc_swift(context):
    """Swift holds the round trip at its target: 25 us + 1 us for the switch, less 4.68 us, are 63.8 packets; within AI of N packets."""
    queue, busy = settled(context, "swift", ["swift.fs_range=0"])
    fab.expect_between("mean queue [packets]", statistics.fmean(queue), 63.8 - FLOWS, 63.8 + FLOWS)
    fab.expect_between("busy", busy, 0.999, 1.001)


def case_cc_timely(context):
    """TIMELY has no fixed point (ECN or Delay, CoNEXT 2016), but bounds: rates rise below T_low and fall above T_high.

    T_low must lie above the round trip by a segment of 64 KB, as at 10 Gb/s (SIGCOMM 2015): 4.68 + 5.2 us, 10 us, is 15.9 packets, below
    which nothing stops the queue. T_high, 50 us: 135.6. Steps scaled to 100 Mb/s; first rate 1 / (flows + 1).
    """
    scaled = ["timely.t_low=10us", "timely.t_high=50us", "timely.min_rtt=0", "timely.addstep=100Mbps", "timely.initial_rate=0.2"]
    queue, busy = settled(context, "timely", scaled)
    fab.expect_between("largest queue [packets]", max(queue), 15.9, 135.6)
    fab.expect_between("busy", busy, 0.9, 1.001)


def case_cc_credit(context):
    """Receiver's credits: 95 % of the port are granted, and no queue builds up."""
    queue, busy = settled(context, "credit")
    fab.expect_between("largest queue [packets]", max(queue), 0, FLOWS)
    fab.expect_between("busy", busy, 0.94, 0.96)
