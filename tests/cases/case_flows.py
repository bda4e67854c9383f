"""Cases of flow lists: size, loss, fairness, completion."""
import fab

PS_US = 1e6  # picoseconds a microsecond


def rates_bps(flows):
    return [flow["bytes"] * 8e12 / flow["fct_ack_ps"] for flow in flows]


def case_03(context):
    """A flow of 5 GB on 100 Gb/s takes 408.0 ms.

    Payload alone: 5e9 B / 12.5 B/ns = 400.0 ms. Framing: ceil(5e9 / 4096) = 1,220,704 packets x 82 B
    = 100.1 MB; 5,100,097,728 B / 12.5 B/ns = 408.008 ms. The path (two links of 1 us each way, one
    packet stored, the last ACK) adds less than 12 us.
    """
    flow, = context.run_ok("case_03.ini").table("flows")
    fab.expect(flow["bytes"] == 5_000_000_000 and flow["done"] == 1, f"flow not whole: {flow}")
    wire_us = fab.wire_bytes(5_000_000_000) / 12.5 / 1e3
    fab.expect_between("fct_rx [us]", flow["fct_rx_ps"] / PS_US, wire_us, wire_us + 12)
    fab.expect_between("fct_ack [us]", flow["fct_ack_ps"] / PS_US, wire_us, wire_us + 12)


def case_04(context):
    """A flow of 0 B completes after one path latency and has a record; a size of -5 is refused.

    Path latency: two links of 1 us, and a packet of 82 B (6.56 ns at 100G) stored once: 2.013 us.
    """
    result = context.run_ok("case_04_zero.ini")
    flow, = result.table("flows")
    fab.expect(flow["bytes"] == 0 and flow["done"] == 1, f"no record of the empty flow: {flow}")
    fab.expect_between("fct_rx [us]", flow["fct_rx_ps"] / PS_US, 2.0, 2.1)
    refused = context.run("case_04_negative.ini")
    fab.expect_exit(refused, fab.BAD_INPUT)
    fab.expect_text(refused.stderr, r"case_04_negative\.cm:3\b", r"-5")


def case_06(context):
    """A 15:1 incast cut at 100 us: nothing is complete, and the exit code and the text say so.

    In 100 us the last link carries at most 1.25 MB of the 30 MB, split over 15 flows of 2 MB: none
    can be whole.
    """
    result = context.run("incast15.ini", until="100us")
    fab.expect_exit(result, fab.UNFINISHED)
    fab.expect(result.summary("flows_done") == 0 and result.summary("flows_total") == 15, "flows_done is not 0/15")
    fab.expect_text(result.stderr + result.stdout, r"0\s*/\s*15|0 of 15")
    unfinished = [flow for flow in result.table("flows") if flow["done"] == 0]
    fab.expect(len(unfinished) == 15, f"{len(unfinished)} unfinished flows listed, expected 15")


def case_07(context):
    """A 15:1 incast with PFC and no rate control is lossless, and fair.

    15 x wire(2,000,000) = 15 x 2,040,098 = 30,601,470 B at 12.5 B/ns = 2,448.1 us; path and the last
    ACK bring it to at most 2,475.
    """
    result = context.run_ok("incast15.ini")
    flows = result.table("flows")
    last_us = max(flow["start_ps"] + flow["fct_ack_ps"] for flow in flows) / PS_US
    fab.expect_between("last finish [us]", last_us, 2448, 2475)
    fab.expect(result.summary("drop_pkts") == 0, f"{result.summary('drop_pkts')} packets dropped")
    hosts = result.table("ports")[:15]  # hosts come first, one port each; host 15 receives
    quiet = [port["node"] for port in hosts if port["pause_rx"] == 0 or port["paused_ps"] == 0]
    fab.expect(not quiet, f"senders never paused: {quiet}")
    fab.expect_between("Jain fairness", fab.jain(rates_bps(flows)), 0.95, 1.0)


def case_07_lossy(context):
    """Two equal senders into a lossy egress queue of 5.2 MB lose equally: 50/50 within 5 %, not 100/0.

    Both at line rate: the queue grows at 12.5 B/ns and is full after 416 us, when each sender has sent
    5.2 MB of its 40 MB; from then on one packet of two must be dropped, whosever it is.
    """
    result = context.run("case_07_lossy.ini")
    fab.expect_exit(result, fab.OK)
    fab.expect(result.summary("drop_pkts") > 0, "nothing was dropped: the queue limit had no effect")
    fab.expect(result.summary("queue_max_bytes") <= 5_200_000, "the queue grew beyond its limit")
    again = [flow["retransmitted_pkts"] for flow in result.table("flows")]
    fab.expect_between("share of the first sender's losses", again[0] / sum(again), 0.45, 0.55)


def case_27(context):
    """70,000 messages of 1,000 B between one pair, more than 16-bit ports: each keeps its identity.

    70,000 x (1,000 + 82) B = 75,740,000 B at 12.5 B/ns = 6,059.2 us, plus the path (two links of 1 us
    there and back, one packet stored, the ACK): below 12 us.
    """
    rows = "".join(f"{i},0,1,1000,0,-1\n" for i in range(70_000))
    flows_file = context.scratch_file("flows.csv", "flow,src,dst,bytes,start_us,after_flow\n" + rows)
    result = context.run_ok("case_27.ini", sets=[f"workload.file={flows_file}"])
    flows = result.table("flows")
    fab.expect(len(flows) == 70_000, f"{len(flows)} records, expected 70,000")
    fab.expect({flow["flow"] for flow in flows} == set(range(70_000)), "flow ids repeat or are missing")
    fab.expect(sum(flow["bytes"] for flow in flows if flow["done"] == 1) == 70_000_000, "not all 70 MB received")
    last_us = max(flow["start_ps"] + flow["fct_ack_ps"] for flow in flows) / PS_US
    fab.expect_between("last finish [us]", last_us, 6059.2, 6059.2 + 12)
