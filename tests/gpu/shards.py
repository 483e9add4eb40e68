#!/usr/bin/env python3
"""Runs a GoogleTest program in several processes and survives every crash.

    shards.py --out FILE.jsonl [--filter F | --graphs N --seed S]
              [--prefix COMMAND] [--portion N] [--every N] PROGRAM

The tests are dealt out to --jobs processes. Where one crashes, loses the
device, or is silent for --silence seconds, the test that was running is
recorded as such, and a new process goes on with the tests after it. With
--graphs, each process runs its share of so many random graphs instead.

A --prefix is a tool that runs the program: a sanitizer. It may crash by itself,
so each process gets --portion tests and such a crash loses no others. What it
ends with when all tests have passed is a finding, reported with its last lines.

Rows: one per test that did not pass, one per process, one for the whole.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

MARK = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^\s,]+)")


def listed(program, pattern):
    done = subprocess.run([program, "--gtest_list_tests",
                           f"--gtest_filter={pattern}"], text=True,
                          capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip() or f"{program} lists no tests")
    text = done.stdout
    suite, names = "", []
    for line in text.splitlines():
        line = line.split("#")[0].rstrip()
        if line.endswith(".") and not line.startswith(" "):
            suite = line
        elif line.startswith("  ") and suite:
            names.append(suite + line.strip())
    return names


def excerpt(lines):
    """A failure begins with what failed and ends with where; graphs that are
    long lie between."""
    return lines if len(lines) <= 60 else [*lines[:40], "...", *lines[-20:]]


class Run:
    """One process and what it said."""

    def __init__(self, options, tests, environment):
        self.results, self.summary, self.tail = {}, None, []
        self.running, self.tool = None, []
        program, silence = options.program, options.silence
        with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
            flags.write("--gtest_filter=" + ":".join(tests) + "\n")
            flags.flush()
            process = subprocess.Popen(
                [*shlex.split(options.prefix), program,
                 f"--gtest_flagfile={flags.name}"], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, **environment}, errors="replace")
            self.hung = not self._read(process, silence)
            self.status = process.wait()

    def _read(self, process, silence):
        """False if it had to be ended."""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            os.set_blocking(process.stdout.fileno(), False)
            rest = ""
            while True:
                if not selector.select(silence):
                    process.send_signal(signal.SIGKILL)
                    return False
                part = process.stdout.read()
                if part is None:
                    continue
                if part == "":
                    self._line(rest)
                    return True
                *lines, rest = (rest + part).split("\n")
                for line in lines:
                    self._line(line)

    def _line(self, line):
        match = MARK.match(line)
        if match and match.group(1) == "RUN":
            self.running, self.tail = match.group(2), []
        elif match and match.group(2) == self.running:
            self.results[self.running] = match.group(1), excerpt(self.tail)
            self.running = None
        elif line.startswith('{"') and '"suite"' in line:
            self.summary = json.loads(line)
        elif line.startswith("====="):
            self.tool.append(line)
        elif line:
            self.tail.append(line)


class Shards:
    def __init__(self, options):
        self.options, self.lock = options, threading.Lock()
        self.rows, self.reasons = [], collections.Counter()
        self.counts = collections.Counter()
        self.file = open(options.out, "a", encoding="utf-8")

    def note(self, row):
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def take(self, run, number):
        with self.lock:
            for test, (result, tail) in run.results.items():
                self.counts[result] += 1
                if result != "OK":
                    self.bad(test, result.lower(), tail, number)
            if run.summary:
                for key in ("graphs_checked", "graphs_skipped"):
                    self.counts[key] += run.summary.get(key, 0)
                self.reasons.update(run.summary.get("reasons", {}))
                self.counts["device " + run.summary.get("device", "?")] += 1

    def bad(self, test, result, tail, number):
        self.note({"suite": "tests", "case": test, "result": result,
                   "process": number, "message": "\n".join(tail)})
        if result != "skipped":
            print(f"{result}: {test}", flush=True)
            print("\n".join("    " + text for text in tail[:40]), flush=True)

    def work(self, number, tests, environment):
        """Until each test has a result, or a process cannot even start."""
        left = list(tests)
        while left:
            run = Run(self.options, left, environment)
            self.take(run, number)
            done = set(run.results)
            if run.running:
                how = ("hung" if run.hung else "lost the device"
                       if run.status == 3 else f"crashed ({run.status})")
                with self.lock:
                    self.counts["CRASHED"] += 1
                    self.bad(run.running, how,
                             [*excerpt(run.tail), *excerpt(run.tool)], number)
                done.add(run.running)
            elif run.status not in (0, 1, 3) and done:
                with self.lock:
                    self.counts["FOUND"] += 1
                    self.bad("+".join(sorted(done)),
                             f"ended with {run.status}", excerpt(run.tool),
                             number)
            elif run.status == 3 and run.results:
                pass  # the last test lost the device and has its result
            if not done:
                with self.lock:
                    self.counts["CRASHED"] += 1
                    self.bad("(start)", f"ended with {run.status}",
                             run.tail[-30:], number)
                return
            left = [test for test in left if test not in done]

    def finish(self, started):
        c = self.counts
        devices = [k[7:] for k in c if k.startswith("device ")]
        row = {"suite": "tests", "case": "summary", "device": devices,
               "commit": os.environ.get("AZULEJO_COMMIT", "unknown"),
               "passed": c["OK"], "failed": c["FAILED"],
               "skipped": c["SKIPPED"], "crashed": c["CRASHED"],
               "processes_with_findings": c["FOUND"],
               "graphs_checked": c["graphs_checked"],
               "graphs_skipped": c["graphs_skipped"],
               "reasons": dict(self.reasons.most_common(40)),
               "seconds": round(time.monotonic() - started, 1)}
        self.note(row)
        print(f"{c['OK']} passed, {c['FAILED']} failed, {c['CRASHED']} "
              f"crashed, {c['SKIPPED']} skipped; {c['graphs_checked']} graphs "
              f"checked, {c['graphs_skipped']} beyond the device"
              + (f"; {c['FOUND']} processes with findings" if c["FOUND"]
                 else ""))
        for reason, count in self.reasons.most_common(12):
            print(f"{count:>7} x {reason[:150]}")
        bad = c["FAILED"] or c["CRASHED"] or c["FOUND"]
        return 1 if bad or not c["OK"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--out", required=True)
    parser.add_argument("--filter", default="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--silence", type=float, default=300)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--portion", type=int, default=0,
                        help="tests per process; 0: dealt out to --jobs")
    parser.add_argument("--every", type=int, default=1,
                        help="take every so many of the tests")
    options = parser.parse_args()
    shards, started = Shards(options), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if options.graphs:
            # Small portions, so that a crash costs few graphs and no process
            # ends long after the others.
            portion = options.portion or max(
                1, min(25, options.graphs // options.jobs))
            seeds = range(options.seed, options.seed + options.graphs, portion)
            last = options.seed + options.graphs
            futures = [pool.submit(
                shards.work, number, ["RandomGraph.AgreesWithTheOracle"],
                {"AZULEJO_SEED": str(first),
                 "AZULEJO_GRAPHS": str(min(portion, last - first))})
                for number, first in enumerate(seeds)]
        else:
            tests = listed(options.program, options.filter)[::options.every]
            parts = ([tests[i:i + options.portion] for i in
                      range(0, len(tests), options.portion)]
                     if options.portion else
                     [tests[i::options.jobs] for i in range(options.jobs)])
            futures = [pool.submit(shards.work, i, part, {})
                       for i, part in enumerate(parts)]
        for future in futures:
            future.result()
    return shards.finish(started)


if __name__ == "__main__":
    sys.exit(main())
