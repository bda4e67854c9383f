"""fab.py - runs the fabricast binary for the checkers in tests/cases and tests/reference.

Only the standard library is needed; series of an .h5 file are read with h5py when it is
there, else with h5dump of the HDF5 tools.
"""
import json
import os
import re
import shutil
import subprocess
import sys

OK, BAD_INPUT, UNFINISHED, DEADLOCK, INTERNAL = 0, 2, 3, 4, 5
SKIPPED = 77  # ctest SKIP_RETURN_CODE


class Failure(AssertionError):
    """A claim that did not hold; the text says which one and by how much."""


class Result:
    """Exit code, texts, and the JSON document of one run."""

    def __init__(self, command, code, stdout, stderr):
        self.command, self.code, self.stdout, self.stderr = command, code, stdout, stderr
        self._document = None

    @property
    def document(self):
        if self._document is None:
            try:
                self._document = json.loads(self.stdout)
            except ValueError as error:
                raise Failure(f"no JSON on stdout ({error})\n{self.told()}") from error
        return self._document

    def told(self):
        return (f"  command: {' '.join(self.command)}\n  exit: {self.code}\n"
                f"  stdout: {self.stdout[:2000]}\n  stderr: {self.stderr[:2000]}")

    def summary(self, name):
        try:
            return self.document["summary"][name]["value"]
        except KeyError as error:
            raise Failure(f"summary has no {name}: {sorted(self.document['summary'])}") from error

    def has_summary(self, name):
        return name in self.document["summary"]

    def warnings(self):
        return [text for key, text in self.document["meta"].items() if key.startswith("warning")]

    def table(self, name):
        """Rows of a table as dictionaries."""
        table = self.document["tables"][name]
        columns = {name: column["values"] for name, column in table["columns"].items()}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]


def run(binary, scenario, sets=(), seed=None, until=None, out=None, threads=1, extra=(), timeout_s=600):
    """fabricast run SCENARIO --json; never raises on an exit code."""
    command = [binary, "run", str(scenario), "--json", "--no-progress", "-j", str(threads)]
    for setting in sets:
        command += ["--set", setting]
    if seed is not None:
        command += ["--seed", str(seed)]
    if until is not None:
        command += ["--until", until]
    if out is not None:
        command += ["-o", str(out)]
    command += list(extra)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"no end after {timeout_s} s: {' '.join(command)}") from error
    return Result(command, done.returncode, done.stdout, done.stderr)


def run_ok(binary, scenario, **options):
    """As run(), and the run must end with exit 0."""
    result = run(binary, scenario, **options)
    expect_exit(result, OK)
    return result


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


# ---- claims -----------------------------------------------------------------

def expect(claim, text):
    if not claim:
        raise Failure(text)


def expect_exit(result, code):
    expect(result.code == code, f"exit {result.code}, expected {code}\n{result.told()}")


def expect_text(text, *patterns):
    """Every regular expression occurs in TEXT."""
    for pattern in patterns:
        expect(re.search(pattern, text, re.IGNORECASE), f"nothing matches /{pattern}/ in:\n{text[:3000]}")


def expect_between(name, value, low, high):
    expect(low <= value <= high, f"{name} = {value:,.6g} outside [{low:,.6g}, {high:,.6g}]")
    print(f"  {name} = {value:,.6g} in [{low:,.6g}, {high:,.6g}]")


def jain(values):
    """Jain's fairness index: 1 when all are equal, 1/n when one takes all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def wire_bytes(payload, mtu=4096, framing=82):
    """Bytes on the wire of a message of PAYLOAD bytes; FRAMING bytes a packet."""
    return payload + -(-payload // mtu) * framing


# ---- series -----------------------------------------------------------------

def series(path, table):
    """{column: [values]} of a table in an .h5 file, e.g. series/rate."""
    try:
        import h5py
    except ImportError:
        return _series_h5dump(path, table)
    with h5py.File(path, "r") as store:
        return {name: column[()].tolist() for name, column in store[table].items()}


def _series_h5dump(path, table):
    if shutil.which("h5dump") is None:
        skip("neither h5py nor h5dump is installed")
    listing = subprocess.run(["h5dump", "-n", str(path)], capture_output=True, text=True, check=True).stdout
    names = re.findall(rf"dataset\s+/{re.escape(table)}/(\S+)", listing)
    expect(names, f"{path} has no /{table}")
    return {name: _column_h5dump(path, f"/{table}/{name}") for name in names}


def _column_h5dump(path, dataset):
    text = subprocess.run(["h5dump", "-y", "-w", "0", "-m", "%.17g", "-d", dataset, str(path)],
                          capture_output=True, text=True, check=True).stdout
    data = text[text.index("DATA {") + 6:text.rindex("ATTRIBUTE") if "ATTRIBUTE" in text else text.rindex("}")]
    return [float(v) if "." in v or "e" in v.lower() or "nan" in v else int(v)
            for v in re.findall(r"-?\d[\d.eE+-]*|nan", data)]


def here(script):
    return os.path.dirname(os.path.abspath(script))
