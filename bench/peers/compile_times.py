#!/usr/bin/env python3
"""How long compiling takes, from graph to machine code, without a cache.

`form_ms` is one variant: the form of each kernel that the tuner would time, on
one thread and one core, assembler included. `plan_ms` is what a user waits for:
a plan with both forms of each kernel, on all threads. No GPU is needed.
"""
import argparse
import json
import os
import re
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import azulejo_c as az  # noqa: E402
import cases as all_cases  # noqa: E402


def elapsed_ms(call):
    start = time.monotonic()
    call()
    return (time.monotonic() - start) * 1e3


def on_one_core(call):
    """Whatever this thread starts, and the assembler's process, stays there."""
    if not hasattr(os, "sched_setaffinity"):
        return call()
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        return call()
    finally:
        os.sched_setaffinity(0, cores)


class Clock:
    def __init__(self, library, device):
        self.library, self.device = library, device
        self.single, self.graphs = library.pool(1), 0

    def graph(self, case):
        """One that this process has not compiled yet."""
        self.graphs += 1
        return case.graph(self.library, f"_{self.graphs}")

    def form_ms(self, case):
        """None where a plan of one form is refused: the default schedule needs
        another, and the reason is the plan's."""
        graph = self.graph(case)
        try:
            return on_one_core(lambda: elapsed_ms(lambda: self.library.compile(
                graph, self.device, strict=1, pool=self.single.handle)))
        except az.AzulejoError:
            return None

    def plan_ms(self, case):
        graph = self.graph(case)
        return elapsed_ms(lambda: self.library.compile(graph, self.device))


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"model name\s*: (.*)", file.read())
    except OSError:
        found = None
    return found[1] if found else "unknown"


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--suite", action="append", choices=sorted(all_cases.SUITES),
        help="default: first")
    add("--cases", default="", metavar="REGEX",
        help="only cases whose suite/name this finds")
    add("--device", default="h200", help="as az_device_open takes it")
    add("--library", default=os.environ.get("AZULEJO_LIBRARY"),
        help="libazulejo.so; default: $AZULEJO_LIBRARY")
    add("--repeat", type=int, default=3, help="of which the median counts")
    add("--out", default="compile.jsonl", help="rows are appended")
    add("--commit", default=os.environ.get("AZULEJO_COMMIT", "unknown"))
    return parser.parse_args(arguments)


def measure(clock, case, options):
    row = {"suite": "compile", "case": f"{case.suite}/{case.name}",
           "device": options.device, "commit": options.commit,
           "cpu": processor(), "threads": os.cpu_count()}
    try:
        row["plan_ms"] = median([clock.plan_ms(case)
                                 for _ in range(options.repeat)])
        row["form_ms"] = median([clock.form_ms(case)
                                 for _ in range(options.repeat)])
    except az.AzulejoError as error:
        row["error"] = str(error)
    return row


def main(arguments=None):
    options = parse(arguments)
    library = az.Library(options.library)
    clock = Clock(library, library.device(options.device))
    found = [case for suite in options.suite or ["first"]
             for case in all_cases.SUITES[suite]()
             if re.search(options.cases, f"{case.suite}/{case.name}")]
    if not found:
        print("no case has such a name", file=sys.stderr)
        return 2
    clock.form_ms(found[0])  # loads the compiler
    rows = []
    for case in found:
        row = measure(clock, case, options)
        rows.append(row)
        with open(options.out, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        shown = [f'{row[key]:8.1f}' if row.get(key) is not None else "       -"
                 for key in ("form_ms", "plan_ms")]
        print(f'{row["case"]:<52}{"".join(shown)} {row.get("error", "")}',
              flush=True)
    forms, plans = (median([row.get(key) for row in rows])
                    for key in ("form_ms", "plan_ms"))
    if forms is not None and plans is not None:
        print(f"median: {forms:.0f} ms per form on one core, {plans:.0f} ms per "
              f"plan on {os.cpu_count()} threads")
    return 1 if any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
