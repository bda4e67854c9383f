"""InfiniBand: forwarding tables under load, and the same workload on both link layers."""
import fab

FRAME = 4096 + 26 + 2  # payload, LRH BTH ICRC VCRC, delimiters
RATE_GBPS = 400.0
MB = 1000000

TREE = """[topology]
kind = leaf_spine
hosts = 64
leaf_radix = 16
spine_radix = 8
link_layer = infiniband
[nic]
mtu = 4096B
congestion_control = none
ack_interval = 16
[workload]
kind = flows
file = {flows}
"""


def shift_flows(context, distance, n=64, size=48 * MB):
    rows = "".join(f"{i},{i},{(i + distance) % n},{size},0,-1\n" for i in range(n))
    return context.scratch_file(f"shift{distance}.csv", "flow,src,dst,bytes,start_us,after_flow\n" + rows)


def share(context, distance, engine):
    """Mean and least goodput of a shift over what a link carries."""
    scenario = context.scratch_file(f"shift{distance}.ini", TREE.format(flows=shift_flows(context, distance)))
    result = context.run_ok(scenario, sets=[f"routing.engine={engine}"])
    fab.expect(result.summary("drop_pkts") == 0, "dropped")
    link = RATE_GBPS * 4096 / FRAME
    rates = [row["bytes"] * 8e3 / row["fct_rx_ps"] for row in result.table("flows")]
    return sum(rates) / len(rates) / link, min(rates) / link


def case_ib_shift(context):
    """Full bisection: every flow of a shift has a link of its own under ftree; hashing makes some share one."""
    for distance in (8, 9, 27, 32):
        mean, least = share(context, distance, "ftree")
        fab.expect(least >= 0.99, f"shift by {distance}, ftree: {least:.4f} of the link rate")
        mean, least = share(context, distance, "ecmp")
        fab.expect_between(f"shift by {distance}, ECMP, mean share", mean, 0.5, 0.8)
        fab.expect(least <= 0.6, f"shift by {distance}, ECMP: nobody shares a link, least {least:.4f}")
