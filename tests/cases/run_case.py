#!/usr/bin/env python3
"""run_case.py - the hand-worked cases: run_case.py --fabricast BINARY CASE...

A case is a function below with the arithmetic of its expected figures in its text; it raises
fab.Failure when a claim does not hold. Exit 0: all held, 1: one did not, 77: skipped.

Framing unless a case says otherwise (conventions.ini): 4096 B payload and 82 B of framing a
packet, 1 us a link, store and forward; `wire(b) = b + ceil(b / 4096) * 82`.
"""
import argparse
import os
import sys
import tempfile

import case_check
import case_collectives
import case_config
import case_control
import case_flows
import case_operation
import fab

MODULES = (case_check, case_flows, case_config, case_collectives, case_control, case_operation)


def all_cases():
    """{"03": function}: every function named case_<name> of the modules."""
    return {name[5:]: function for module in MODULES for name, function in vars(module).items()
            if name.startswith("case_") and callable(function)}


class Context:
    """What a case needs: the binary, the folder of its files, a scratch folder."""

    def __init__(self, options, scratch):
        self.binary, self.tools, self.shared = options.fabricast, options.tools, options.shared
        self.scratch = scratch

    def path(self, name):
        return os.path.join(fab.here(__file__), name)

    def scratch_file(self, name, text):
        path = os.path.join(self.scratch, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, scenario, **options):
        return fab.run(self.binary, self.path(scenario), **options)

    def run_ok(self, scenario, **options):
        return fab.run_ok(self.binary, self.path(scenario), **options)


def run_one(name, function, options):
    print(f"case {name}: {function.__doc__.splitlines()[0]}")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            function(Context(options, scratch))
        except fab.Failure as failure:
            print(f"case {name} FAILED: {failure}")
            return False
    return True


def main():
    cases = all_cases()
    parser = argparse.ArgumentParser(description="Run hand-worked cases.")
    parser.add_argument("--fabricast", required=True, help="the binary")
    parser.add_argument("--tools", default="", help="folder of the built test tools (make_chakra)")
    parser.add_argument("--shared", default="", help="folder of other people's files; may be absent")
    parser.add_argument("case", nargs="*", choices=[[], *cases], metavar="CASE", help=", ".join(cases))
    options = parser.parse_args()
    chosen = options.case or list(cases)
    passed = [run_one(name, cases[name], options) for name in chosen]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
