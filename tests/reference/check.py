#!/usr/bin/env python3
"""check.py - runs reference cases and compares them with the ns-3 / HPCC-lineage figures.

    check.py --fabricast build/fabricast CASE...      the named cases, or all without a name

Each CASE is CASE.ini beside this file; the reference figures are data/expected.csv, one row a
case and seed. Tolerances:

  *-nocc*, c_victim_alone, e_ring128 (no random element that matters), one seed
      makespan, mean and largest completion time     0.5 %
      pause count, total paused time                 5 %
  *-dcqcn*, mean over our seeds against the mean over the reference's seeds
      mean completion time                           3 %, or twice the reference's spread if larger
      makespan                                       5 %, likewise
      ECN marks, rate cuts, pauses, largest queue    15 %; 25 % where a count is below 200; where the
                                                     reference never paused: the median is 0
  c2_victim-*: completion time of the victim         1 %
  a_two_flows-*: both flows' rates                   mean within 10 % of half the link, and the time
                                                     to get there within 25 %; one curve is published,
                                                     so it is compared with the nearest of our seeds
  packets on links                                   equal

Prints one row a quantity; exits 1 when one misses. Rows without a tolerance inform only.
"""
import argparse
import concurrent.futures
import csv
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "cases"))
import fab  # noqa: E402

DATA = os.path.join(HERE, "data")
HEAVY = ("d_", "e_", "f_")
VICTIM_FLOW = {"c_victim": 16, "c2_victim": 9}
HALF_LINK_BPS = 50e9        # a_two_flows: two flows on 100 Gb/s
SECOND_START_US = 5000      # the second flow of a_two_flows starts here
CONVERGED_SAMPLES = 5       # rates are averaged over 0.5 ms, samples are 100 us apart
TAIL_US = (15000, 35000)    # both flows are there and the start is over


def is_exact(case):
    return "nocc" in case or base_of(case) in ("c_victim_alone", "e_ring128")


def base_of(case):
    return case.split("-")[0]


def load_expected():
    cases = {}
    with open(os.path.join(DATA, "expected.csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cases.setdefault(row["case"], []).append(row)
    return cases


# ---- one run of ours --------------------------------------------------------

def digits(name):
    """Node number in a node's name: the edge list's ids are kept."""
    return int("".join(c for c in str(name) if c.isdigit()))


def port_index(result, trace):
    """Our index of the egress port that the reference traced, NODE-PEER."""
    node, peer = (int(x) for x in trace.split("-"))
    for port in result.table("ports"):
        if digits(port["node"]) == node and digits(port["peer"]) == peer:
            return port["port"]
    raise fab.Failure(f"no port {node} -> {peer}")


def sampled_queue_max(result, store, traces):
    """Largest sample of each traced egress queue, at the reference's grain: a peak between two
    samples is in neither figure."""
    if not traces:
        return {}
    queue = fab.series(store, "series/queue")
    sums = {}
    for t_ps, port, held in zip(queue["t_ps"], queue["port"], queue["bytes"]):
        sums[t_ps, port] = sums.get((t_ps, port), 0) + held
    found = {}
    for trace in traces:
        index = port_index(result, trace)
        found[f"queue {trace}"] = max((held for (_, port), held in sums.items() if port == index), default=0)
    return found


def figures(case, result):
    """The quantities of one run, under the names of expected.csv."""
    flows = result.table("flows")
    fct_ns = [flow["fct_ack_ps"] / 1e3 for flow in flows]
    found = {
        "makespan_ns": max(flow["start_ps"] + flow["fct_ack_ps"] for flow in flows) / 1e3,
        "fct_mean_ns": statistics.fmean(fct_ns),
        "fct_max_ns": max(fct_ns),
        "data_hops": result.summary("data_hops"),
        "ack_hops": result.summary("ack_hops"),
        "ecn_marks": result.summary("ecn_marked_pkts"),
        "rate_cuts": result.summary("rate_cuts"),
        "cnp_acks": result.summary("echo_acks" if result.has_summary("echo_acks") else "cnp_handled_pkts"),
        "pfc_pauses": result.summary("pfc_pause_frames"),
        "pfc_paused_ns": result.summary("pfc_paused_ps") / 1e3,
        "drop_pkts": result.summary("drop_pkts"),
    }
    victim = VICTIM_FLOW.get(base_of(case))
    if victim is not None:
        found["victim_fct_ns"] = next(f["fct_ack_ps"] for f in flows if f["flow"] == victim) / 1e3
    return found


def run_seed(options, case, seed, traces):
    scenario = os.path.join(HERE, f"{case}.ini")
    is_curve = base_of(case) == "a_two_flows"
    grain = "20us" if is_curve else "5us"
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "run.h5") if traces else None
        result = fab.run_ok(options.fabricast, scenario, seed=seed, out=store, timeout_s=options.timeout,
                            sets=[f"run.series_grain={grain}"] if traces else [])
        found = figures(case, result)
        found.update(sampled_queue_max(result, store, traces))
        if is_curve:
            found.update(curve_figures(rates_of(fab.series(store, "series/rate"))))
    return found


# ---- rate curves of a_two_flows ---------------------------------------------

def rates_of(columns):
    """{t_us: {flow: bps}} from our series/rate, every 100 us as the reference. A sample is taken at
    the first window boundary after a multiple of the grain of 20 us."""
    rates = {}
    for t_ps, flow, bps in zip(columns["t_ps"], columns["flow"], columns["rate_bps"]):
        t_us = int(t_ps // 20_000_000) * 20
        if t_us % 100 == 0:
            rates.setdefault(t_us, {})[int(flow)] = float(bps)
    return rates


def reference_rates(case):
    rates = {}
    with open(os.path.join(DATA, f"{case}.rate.csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rates.setdefault(int(row["t_us"]), {})[int(row["flow"])] = float(row["rate_bps"])
    return rates


def curve_figures(rates):
    """Time after the second flow's start at which the mean rates of both flows over
    CONVERGED_SAMPLES samples first lie within 10 % of half the link; mean rates of the tail."""
    times = [t for t in sorted(rates) if t > SECOND_START_US and len(rates[t]) == 2]
    reached = next((times[i] for i in range(CONVERGED_SAMPLES - 1, len(times))
                    if all(near_half(rates, times[i - CONVERGED_SAMPLES + 1:i + 1], flow) for flow in (0, 1))),
                   None)
    tail = [t for t in times if TAIL_US[0] <= t <= TAIL_US[1]]
    fab.expect(tail and reached is not None, "the two rates never come within 10 % of half the link")
    return {"converge_us": reached - SECOND_START_US,
            "tail_rate0_bps": statistics.fmean(rates[t][0] for t in tail),
            "tail_rate1_bps": statistics.fmean(rates[t][1] for t in tail)}


def near_half(rates, window, flow):
    return abs(statistics.fmean(rates[t][flow] for t in window) - HALF_LINK_BPS) <= 0.1 * HALF_LINK_BPS


# ---- tolerances -------------------------------------------------------------

# Differences that stay, with a cause that was measured (docs/VALIDATION.md). Each still has a gate of its own, so
# that a change of behaviour is seen.
#   within_range   every seed of the reference lies within the range of our seeds
#   a number       largest difference that the cause accounts for
EXPLAINED = {
    ("b_incast16-dcqcn-4096", "makespan"): (
        "within_range", "two modes: 43 % of our seeds end at 1,427-1,460 us like the reference's three, the others later"),
    ("e_ring128-dcqcn", "largest FCT"): (
        0.36, "one flow in 32,512, decided by the order of events at equal times; equal to the ns up to hop 46"),
}


class Row:
    """One compared quantity; tolerance None: informs only."""

    explained = None  # why a difference beyond the tolerance stays

    def __init__(self, name, published, ours, tolerance, scale=1.0, unit=""):
        """PUBLISHED: the reference's values, one a seed; OURS: the mean of ours."""
        self.name, self.ours, self.tolerance = name, ours, tolerance
        self.reference = statistics.fmean(published)
        self.spread = spread_of(published)
        self.scale, self.unit = scale, unit

    @property
    def difference(self):
        if self.reference == self.ours:
            return 0.0
        return (self.ours - self.reference) / self.reference if self.reference else float("inf")

    @property
    def verdict(self):
        if self.tolerance is None:
            return "-"
        if abs(self.difference) <= self.tolerance + 1e-12:
            return "ok"
        return "explained" if self.explained else "MISS"

    def explain(self, published, ours, gate, reason):
        """Accepts a difference beyond the tolerance as far as its cause reaches."""
        if gate == "within_range":
            accepted = min(ours) <= min(published) and max(published) <= max(ours)
        else:
            accepted = abs(self.difference) <= gate
        if accepted and abs(self.difference) > self.tolerance:
            self.explained = reason

    def cells(self):
        limit = "-" if self.tolerance is None else f"{100 * self.tolerance:.3g} %"
        return [f"{self.name}{' [' + self.unit + ']' if self.unit else ''}", f"{self.reference * self.scale:,.1f}",
                f"{100 * self.spread:.1f} %", f"{self.ours * self.scale:,.1f}", f"{100 * self.difference:+.2f} %",
                limit, self.verdict]


def values_of(rows, name):
    return [float(row[name]) for row in rows]


def mean_of(rows, name):
    return statistics.fmean(values_of(rows, name))


def spread_of(values):
    """Largest less smallest, as a part of the mean."""
    mean = statistics.fmean(values)
    return (max(values) - min(values)) / mean if mean else 0.0


def spread_tolerance(floor, rows, name):
    """FLOOR, or twice the spread between the reference's own seeds if that is larger."""
    return max(floor, 2 * spread_of(values_of(rows, name)))


def count_tolerance(reference):
    return 0.25 if reference < 200 else 0.15


def time_row(label, name, reference, ours, tolerance):
    return Row(label, values_of(reference, name), mean_of(ours, name), tolerance, 1e-3, "us")


def count_row(label, name, reference, ours, tolerance):
    if callable(tolerance):
        tolerance = tolerance(mean_of(reference, name))
    return Row(label, values_of(reference, name), mean_of(ours, name), tolerance)


def pause_row(reference, ours):
    """Where the reference never paused, most of our seeds must not either: a mean can't tell."""
    row = count_row("PFC pauses", "pfc_pauses", reference, ours, count_tolerance)
    if row.reference == 0:
        row.name, row.ours = "PFC pauses, median", statistics.median(values_of(ours, "pfc_pauses"))
    return row


def queue_rows(reference, ours, tolerance):
    """Largest queue of every traced port; the reference's '+' joins them in the same order."""
    if not reference[0]["qmax_bytes"]:
        return []
    traces = reference[0]["qmax_port"].split("+")
    rows = []
    for i, trace in enumerate(traces):
        published = [float(row["qmax_bytes"].split("+")[i]) for row in reference]
        rows.append(Row(f"largest queue {trace}", published, mean_of(ours, f"queue {trace}"), tolerance, 1e-3, "kB"))
    return rows


def exact_rows(reference, ours):
    return [
        time_row("makespan", "makespan_ns", reference, ours, 0.005),
        time_row("mean FCT", "fct_mean_ns", reference, ours, 0.005),
        time_row("largest FCT", "fct_max_ns", reference, ours, 0.005),
        count_row("PFC pauses", "pfc_pauses", reference, ours, 0.05),
        time_row("paused time", "pfc_paused_ns", reference, ours, 0.05),
        count_row("ECN marks", "ecn_marks", reference, ours, None),
    ] + queue_rows(reference, ours, None)


def dcqcn_rows(reference, ours):
    return [
        time_row("makespan", "makespan_ns", reference, ours, spread_tolerance(0.05, reference, "makespan_ns")),
        time_row("mean FCT", "fct_mean_ns", reference, ours, spread_tolerance(0.03, reference, "fct_mean_ns")),
        time_row("largest FCT", "fct_max_ns", reference, ours, None),
        count_row("ECN marks", "ecn_marks", reference, ours, count_tolerance),
        count_row("rate cuts", "rate_cuts", reference, ours, count_tolerance),
        count_row("echoes received", "cnp_acks", reference, ours, None),
        pause_row(reference, ours),
        time_row("paused time", "pfc_paused_ns", reference, ours, None),
    ] + queue_rows(reference, ours, 0.15)


def curve_rows(case, ours):
    published = curve_figures(reference_rates(case))
    times = [run["converge_us"] for run in ours]
    nearest = min(times, key=lambda t: abs(t - published["converge_us"]))
    rows = [Row("time to converge, median", [published["converge_us"]], statistics.median(times), None, 1, "us"),
            Row("time to converge, nearest seed", [published["converge_us"]], nearest, 0.25, 1, "us")]
    for flow in (0, 1):
        name = f"tail_rate{flow}_bps"
        rows.append(Row(f"flow {flow} rate, tail / half link", [HALF_LINK_BPS], mean_of(ours, name), 0.10, 1e-9, "Gb/s"))
    return rows


def common_rows(case, reference, ours):
    rows = [count_row("data packets on links", "data_hops", reference, ours, 0.0),
            count_row("ACKs on links", "ack_hops", reference, ours, 0.0),
            Row("drops", [0], mean_of(ours, "drop_pkts"), 0.0)]
    if reference[0]["victim_fct_ns"]:
        gate = 0.01 if base_of(case) == "c2_victim" else None
        rows.append(time_row("victim's FCT", "victim_fct_ns", reference, ours, gate))
    return rows


EXPLAINED_COLUMN = {"makespan": "makespan_ns", "largest FCT": "fct_max_ns"}


def explain(case, rows, reference, ours):
    for row in rows:
        if (case, row.name) in EXPLAINED:
            column = EXPLAINED_COLUMN[row.name]
            row.explain(values_of(reference, column), values_of(ours, column), *EXPLAINED[case, row.name])


def compare(case, reference, ours):
    rows = exact_rows(reference, ours) if is_exact(case) else dcqcn_rows(reference, ours)
    explain(case, rows, reference, ours)
    if base_of(case) == "a_two_flows":
        rows += curve_rows(case, ours)
    return rows + common_rows(case, reference, ours)


# ---- output and main --------------------------------------------------------

HEAD = ["quantity", "reference", "its spread", "fabricast", "difference", "tolerance", ""]


def print_rows(case, rows, n_seeds, n_reference):
    print(f"{case}  ({n_seeds} seed{'s' * (n_seeds > 1)}; reference {n_reference})")
    cells = [HEAD] + [row.cells() for row in rows]
    width = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    for line in cells:
        print("  " + line[0].ljust(width[0]) + "  " + "  ".join(c.rjust(w) for c, w in zip(line[1:], width[1:])))
    for row in rows:
        if row.explained:
            print(f"  {row.name}: {row.explained}")


def print_markdown(case, rows):
    for row in rows:
        print("| " + " | ".join([case] + row.cells()) + " |")


def seeds_of(options, case):
    if is_exact(case):
        return [1]
    light = not case.startswith(HEAVY + ("a_",))
    return list(range(1, (options.seeds or (40 if light else 10)) + 1))


def check_case(options, case, reference):
    traces = reference[0]["qmax_port"].split("+") if reference[0]["qmax_bytes"] else []
    seeds = seeds_of(options, case)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        ours = list(pool.map(lambda seed: run_seed(options, case, seed, traces), seeds))
    rows = compare(case, reference, ours)
    if options.markdown:
        print_markdown(case, rows)
    else:
        print_rows(case, rows, len(seeds), len(reference))
    return all(row.verdict != "MISS" for row in rows)


def parse_arguments(cases):
    parser = argparse.ArgumentParser(description="Compare fabricast with the published reference runs.")
    parser.add_argument("--fabricast", required=True, help="the binary")
    parser.add_argument("--seeds", type=int, default=0, help="seeds of each random case")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--timeout", type=float, default=1500, help="seconds a run")
    parser.add_argument("--markdown", action="store_true", help="rows for docs/VALIDATION.md")
    parser.add_argument("case", nargs="*", help="; ".join(cases))
    options = parser.parse_args()
    unknown = [case for case in options.case if case not in cases]
    if unknown:
        parser.error(f"no reference case {', '.join(unknown)}; there are: {', '.join(cases)}")
    return options


def main():
    expected = load_expected()
    options = parse_arguments(list(expected))
    if options.markdown:
        print("| case | " + " | ".join(HEAD) + " |\n|" + "---|" * (len(HEAD) + 1))
    passed = True
    for case in options.case or expected:
        try:
            passed &= check_case(options, case, expected[case])
        except fab.Failure as failure:
            print(f"{case}: {failure}", file=sys.stderr)
            passed = False
        sys.stdout.flush()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
