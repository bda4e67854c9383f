#!/usr/bin/env python3
"""bad_files.py FABRICAST FOLDER - bad input files give exit code 2 and a message that says where.

Each format has a small good file, which must work. Then, for each:
  empty, binary, no such file, a folder    exit 2, the message names the file
  a number that is far too large           exit 2, the message opens with file:line of that very line
  cut off anywhere                         exit 2 and file:line, or a run as if the file ended there
Never another exit code, a crash, or silence. FOLDER is made new.
"""
import os
import random
import re
import shutil
import subprocess
import sys

OK, BAD_INPUT = 0, 2
TIMEOUT_S = 60
HUGE = ["9" * 30, "9223372036854775808", "-" + "9" * 30]

STAR = "[topology]\nkind = star\nhosts = 4\nhost_rate = 100Gbps\n"
RUN_STAR = STAR + "[workload]\nkind = {kind}\nfile = {file}\n"

HPCC_TOPOLOGY = "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 0.001ms 0\n"
HTSIM_TOPOLOGY = """Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 400
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 1000
Queue_Up 100000
Tier 1
Downlink_speed_Gbps 400
Radix_Down 2
Downlink_Latency_ns 1000
"""
EDGES = "node_a,node_b,rate_gbps,delay_ns\n0,2,100,1000\n1,2,100,1000\n"
FLOWS = "flow,src,dst,bytes,start_us,class,after_flow\n0,0,1,1000,0,3,-1\n1,1,2,4KiB,0.5,3,-1\n2,2,3,100,,,1\n"
HPCC_FLOWS = "2\n0 1 3 100 1000 0\n1 2 3 100 2000 0.000001\n"
HTSIM_CM = "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1000\n1->2 id 2 start 1000000 size 2000 prio 3\n"
SCENARIO = STAR + """[run]
seed = 7
[nic]
mtu = 4096B
[ecn]
pmax = 0.2
[link]
fec_latency = 120ns
[workload]
kind = collective
[collective]
op = all_reduce
bytes = 64KiB
"""
PATHS = "flow,data_path,ack_path\n0,0-4-1,1-4-0\n1,1-4-2,2-4-1\n"


class Checker:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.failures, self.n_runs = 0, 0
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
        return path

    def call(self, arguments):
        self.n_runs += 1
        done = subprocess.run([self.binary] + arguments, cwd=self.folder, capture_output=True, timeout=TIMEOUT_S)
        return done.returncode, done.stderr.decode(errors="replace")

    def fail(self, what, arguments, code, message):
        self.failures += 1
        print(f"{what}: fabricast {' '.join(arguments)}: exit {code}, {message.strip()!r}")

    @staticmethod
    def says(where, message):
        return re.match(rf"fabricast[a-z ]*: (\./)?({where})", message) is not None

    def expect_ok(self, what, arguments):
        code, message = self.call(arguments)
        if code != OK:
            self.fail(what, arguments, code, message)

    def expect_bad(self, what, arguments, where):
        """WHERE: a regular expression for what follows "fabricast...: "."""
        code, message = self.call(arguments)
        if code != BAD_INPUT or not self.says(where, message):
            self.fail(f"{what}, expected exit 2 and {where!r}", arguments, code, message)

    def expect_bad_or_ok(self, what, arguments, where):
        """True when it was bad."""
        code, message = self.call(arguments)
        if code == OK:
            return False
        if code != BAD_INPUT or not self.says(where, message):
            self.fail(f"{what}, expected exit 2 and {where!r}, or 0", arguments, code, message)
        return True


def binary_bytes():
    """The same 4 KiB in every run."""
    return random.Random(4096).randbytes(4096)


def numbers_of(text):
    """(line, start, end) of each number of TEXT."""
    for match in re.finditer(r"(?<![\w.>-])-?[0-9]+(\.[0-9]+)?|(?<=->)[0-9]+|(?<=[0-9]-)[0-9]+", text):
        yield text.count("\n", 0, match.start()) + 1, match.start(), match.end()


class Format:
    """One kind of text file: NAME is the file that is damaged, ARGUMENTS what reads it."""

    def __init__(self, title, name, good, arguments):
        self.title, self.name, self.good, self.arguments = title, name, good, arguments

    def check(self, c):
        c.write(self.name, self.good)
        c.expect_ok(f"{self.title}: good file", self.arguments)
        self.check_whole(c)
        self.check_numbers(c)
        self.check_cuts(c)
        c.write(self.name, self.good)

    def check_whole(self, c):
        name = re.escape(self.name)
        for what, content in [("binary", binary_bytes()), ("NUL", self.good.encode() + b"\0"), ("text", "hello, world\n")]:
            c.write(self.name, content)
            c.expect_bad(f"{self.title}: {what}", self.arguments, rf"{name}(:\d+)?: .")
        path = c.write(self.name, "")
        # An empty scenario has the defaults: all fine but for the workload that it does not name.
        c.expect_bad(f"{self.title}: empty", self.arguments, rf"{name}(:\d+)?: .|workload\.kind: .")
        os.unlink(path)
        c.expect_bad(f"{self.title}: no such file", self.arguments, rf"{name}: .")
        os.mkdir(path)
        c.expect_bad(f"{self.title}: a folder", self.arguments, rf"{name}: .")
        os.rmdir(path)

    def check_numbers(self, c):
        n = 0
        for line, start, end in numbers_of(self.good):
            for huge in HUGE:
                c.write(self.name, self.good[:start] + huge + self.good[end:])
                c.expect_bad(f"{self.title}: {huge} in line {line}", self.arguments, rf"{re.escape(self.name)}:{line}: .")
                n += 1
        if n == 0:
            c.fail(f"{self.title}: no numbers to change", self.arguments, None, "")

    def check_cuts(self, c):
        n_bad = 0
        for end in range(1, len(self.good)):
            c.write(self.name, self.good[:end])
            n_bad += c.expect_bad_or_ok(f"{self.title}: cut at byte {end}", self.arguments,
                                        rf"{re.escape(self.name)}(:\d+)?: .|[a-z_]+\.[a-z_]+: .")
        if n_bad == 0:
            c.fail(f"{self.title}: no cut was noticed", self.arguments, None, "")


def topology(c, kind, good):
    scenario = f"topo_{kind}.ini"
    c.write(scenario, f"[topology]\nkind = {kind}\nfile = {kind}.topo\n")
    return Format(f"{kind} topology", f"{kind}.topo", good, ["topo", "check", scenario])


def workload(c, kind, good):
    scenario = f"run_{kind}.ini"
    c.write(scenario, RUN_STAR.format(kind=kind, file=f"{kind}.work"))
    return Format(f"{kind} workload", f"{kind}.work", good, ["run", "-q", scenario])


def paths(c):
    c.write("paths.work", FLOWS)
    c.write("run_paths.ini", RUN_STAR.format(kind="flows", file="paths.work") + "paths = paths.csv\n[routing]\nmode = static\n")
    return Format("paths", "paths.csv", PATHS, ["run", "-q", "run_paths.ini"])


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def chakra_trace(micros):
    """Metadata, then one compute node of MICROS."""
    metadata = b"\x0a\x050.0.4"
    node = b"\x08" + varint(0) + b"\x12\x01c" + b"\x18\x04" + b"\x38" + varint(micros)
    return b"".join(varint(len(m)) + m for m in (metadata, node))


def check_chakra(c):
    os.mkdir(os.path.join(c.folder, "trace"))
    c.write("run_chakra.ini", RUN_STAR.format(kind="chakra", file="trace"))
    arguments, name = ["run", "-q", "run_chakra.ini"], "trace/t.1.et"
    where = r"trace/t\.1\.et: byte \d+: ."
    good = chakra_trace(5)
    c.write("trace/t.0.et", good)
    c.write(name, good)
    c.expect_ok("chakra: good trace", arguments)
    c.write(name, binary_bytes())
    c.expect_bad("chakra: binary", arguments, where)
    c.write(name, "")
    c.expect_bad("chakra: empty", arguments, where)
    c.write(name, chakra_trace(2**63))
    c.expect_bad("chakra: huge duration", arguments, where)
    n_bad = 0
    for end in range(1, len(good)):
        c.write(name, good[:end])
        n_bad += c.expect_bad_or_ok(f"chakra: cut at byte {end}", arguments, where)
    if n_bad < len(good) - 2: # only the cut between the two messages leaves a whole file
        c.fail(f"chakra: {n_bad} of {len(good) - 1} cuts were noticed", arguments, None, "")
    os.unlink(os.path.join(c.folder, name))
    c.write("trace/t.2.et", good)
    c.expect_bad("chakra: a rank is missing", arguments, r"trace.*: .")


def check_results(c):
    c.write("good.ini", SCENARIO)
    c.expect_ok("results: run", ["run", "-q", "-o", "good.h5", "good.ini"])
    with open(os.path.join(c.folder, "good.h5"), "rb") as file:
        good = file.read()
    commands = [["report", "bad.h5"], ["plot", "bad.h5"]]
    bad = [("empty", b""), ("binary", binary_bytes()), ("text", b"hello\n")]
    bad += [(f"cut at byte {n}", good[:n]) for n in (1, 17, 100, 511, 512, 513, 4096, len(good) // 2, len(good) - 1)]
    for at in (0, 30, 300, 511, 512, 520, 4096, len(good) // 2, len(good) - 1):
        bad.append((f"byte {at} changed", good[:at] + bytes([good[at] ^ 1]) + good[at + 1:]))
    bad.append(("a byte too many", good + b"\0"))
    for command in commands:
        for what, content in bad:
            c.write("bad.h5", content)
            c.expect_bad(f"results: {what}", command, r"bad\.h5: .")
        os.unlink(os.path.join(c.folder, "bad.h5"))
        c.expect_bad("results: no such file", command, r"bad\.h5: .")
    c.write("bad.h5", good)
    c.expect_ok("results: good file", ["report", "bad.h5"])


def check_words(c):
    c.write("good.ini", SCENARIO)
    for arguments in [[], ["fly"], ["run"], ["run", "good.ini", "good.ini"], ["run", "--fast", "good.ini"],
                      ["run", "--set", "nic.mtu", "good.ini"], ["run", "--set", "nic.mtuu=1B", "good.ini"],
                      ["run", "--until", "5", "good.ini"], ["run", "--seed", "-1", "good.ini"],
                      ["run", "-j", HUGE[0], "good.ini"], ["run", "-o", "nowhere/out.h5", "good.ini"],
                      ["topo"], ["topo", "sing", "good.ini"], ["report"], ["plot"], ["list", "birds"]]:
        code, message = c.call(arguments)
        if code != BAD_INPUT or not message.strip():
            c.fail("words, expected exit 2 and a message", arguments, code, message)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    c = Checker(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    formats = [
        topology(c, "hpcc", HPCC_TOPOLOGY), topology(c, "htsim", HTSIM_TOPOLOGY), topology(c, "edges", EDGES),
        workload(c, "flows", FLOWS), workload(c, "hpcc", HPCC_FLOWS), workload(c, "htsim", HTSIM_CM), paths(c),
        Format("scenario", "bad.ini", SCENARIO, ["run", "-q", "bad.ini"]),
    ]
    for form in formats:
        form.check(c)
    check_chakra(c)
    check_results(c)
    check_words(c)
    print(f"{c.failures} failures in {c.n_runs} calls")
    sys.exit(1 if c.failures else 0)


if __name__ == "__main__":
    main()
