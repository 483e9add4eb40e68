#!/usr/bin/env python3
"""Runs a GoogleTest program in several processes and survives every crash.

    shards.py --out FILE.jsonl [--filter F | --graphs N --seed S]
              [--prefix COMMAND] [--portion N] [--every N]
              [--times FILE] [--within S] PROGRAM

The tests are dealt out to --jobs processes. Where one crashes, loses the
device, or is silent for --silence seconds, the test that was running is
recorded as such, and a new process goes on with the tests after it. With
--graphs, each process runs its share of so many random graphs instead.

A --prefix is a tool that runs the program: a sanitizer. It may crash by itself,
so each process gets --portion tests and such a crash loses no others. What it
ends with when all tests have passed is a finding, reported with its last lines.

--times is a file that keeps how long each test took. One that is there decides
what runs together: portions of equal length, the longest first. --within S
ends everything after S seconds; tests that were not reached are a failure, and
their names a row.

Rows: one per test that did not pass, one per process, one for the whole.
"""
import argparse
import collections
import concurrent.futures
import heapq
import json
import math
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

MARK = re.compile(
    r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^\s,]+).*?(?:\((\d+) ms\))?$")


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


def dealt(tests, times, count):
    """The tests in `count` parts of equal length, longest first everywhere.
    What has never run counts as the average."""
    known = [times[test] for test in tests if test in times]
    usual = sum(known) / len(known) if known else 1
    parts = [[0, number, []] for number in range(count)]
    for test in sorted(tests, key=lambda test: -times.get(test, usual)):
        length, number, part = heapq.heappop(parts)
        part.append(test)
        heapq.heappush(parts, [length + times.get(test, usual), number, part])
    parts.sort(key=lambda part: (-part[0], part[1]))
    return [part for _, _, part in parts if part]


def read_times(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def excerpt(lines):
    """A failure begins with what failed and ends with where; graphs that are
    long lie between."""
    return lines if len(lines) <= 60 else [*lines[:40], "...", *lines[-20:]]


class Run:
    """One process and what it said."""

    def __init__(self, options, tests, environment, deadline):
        self.results, self.summary, self.tail = {}, None, []
        self.running, self.tool, self.times = None, [], {}
        self.late, program = False, options.program
        with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
            flags.write("--gtest_filter=" + ":".join(tests) + "\n")
            flags.flush()
            process = subprocess.Popen(
                [*shlex.split(options.prefix), program,
                 f"--gtest_flagfile={flags.name}"], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**self._share(options), **os.environ, **environment},
                errors="replace",
                start_new_session=True)
            self.hung = not self._read(process, options.silence, deadline)
            self.status = process.wait()

    @staticmethod
    def _share(options):
        """Processes that each compile on all processors get in each other's
        way."""
        count = (os.cpu_count() or 1) // options.jobs
        return {"AZULEJO_NUM_THREADS": str(max(1, count))}

    def _read(self, process, silence, deadline):
        """False if it said nothing for too long and had to be ended."""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            os.set_blocking(process.stdout.fileno(), False)
            rest = ""
            while True:
                left = deadline - time.monotonic()
                self.late = left <= 0
                if self.late or not selector.select(min(silence, left)):
                    self.late = deadline <= time.monotonic()
                    os.killpg(process.pid, signal.SIGKILL)
                    return self.late
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
            self.times[self.running] = int(match.group(3) or 0)
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
        self.times, self.started = {}, time.monotonic()
        self.unreached = []
        self.deadline = self.started + (options.within or math.inf)
        self.file = open(options.out, "a", encoding="utf-8")

    def note(self, row):
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def take(self, run, number):
        with self.lock:
            self.times.update(run.times)
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
            run = None
            if time.monotonic() < self.deadline:
                run = Run(self.options, left, environment, self.deadline)
                self.take(run, number)
            if not run or run.late:
                with self.lock:
                    self.unreached += [test for test in left
                                       if not run or test not in run.results]
                return
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

    def finish(self):
        c = self.counts
        if self.options.times:
            times = {**read_times(self.options.times), **self.times}
            with open(self.options.times, "w", encoding="utf-8") as file:
                json.dump(times, file, indent=0, sort_keys=True)
        if self.unreached:
            self.note({"suite": "tests", "case": "unreached",
                       "tests": sorted(self.unreached)})
        devices = [k[7:] for k in c if k.startswith("device ")]
        row = {"suite": "tests", "case": "summary", "device": devices,
               "commit": os.environ.get("AZULEJO_COMMIT", "unknown"),
               "passed": c["OK"], "failed": c["FAILED"],
               "skipped": c["SKIPPED"], "crashed": c["CRASHED"],
               "processes_with_findings": c["FOUND"],
               "unreached": len(self.unreached),
               "graphs_checked": c["graphs_checked"],
               "graphs_skipped": c["graphs_skipped"],
               "reasons": dict(self.reasons.most_common(40)),
               "slowest_ms": dict(sorted(self.times.items(),
                                         key=lambda item: -item[1])[:12]),
               "seconds": round(time.monotonic() - self.started, 1)}
        self.note(row)
        print(f"{c['OK']} passed, {c['FAILED']} failed, {c['CRASHED']} "
              f"crashed, {c['SKIPPED']} skipped; {c['graphs_checked']} graphs "
              f"checked, {c['graphs_skipped']} beyond the device"
              + (f"; {c['FOUND']} processes with findings" if c["FOUND"]
                 else "")
              + (f"; {len(self.unreached)} not reached" if self.unreached
                 else ""))
        for reason, count in self.reasons.most_common(12):
            print(f"{count:>7} x {reason[:150]}")
        bad = (c["FAILED"] or c["CRASHED"] or c["FOUND"] or self.unreached)
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
    parser.add_argument("--times", help="JSON, milliseconds by test")
    parser.add_argument("--within", type=float, default=0)
    parser.add_argument("--every", type=int, default=1,
                        help="take every so many of the tests")
    options = parser.parse_args()
    shards = Shards(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if options.graphs:
            # Small portions, so that a crash costs few graphs and no process
            # ends long after the others.
            portion = options.portion or max(
                1, min(8, options.graphs // options.jobs))
            seeds = range(options.seed, options.seed + options.graphs, portion)
            last = options.seed + options.graphs
            futures = [pool.submit(
                shards.work, number, ["RandomGraph.AgreesWithTheOracle"],
                {"AZULEJO_SEED": str(first),
                 "AZULEJO_GRAPHS": str(min(portion, last - first))})
                for number, first in enumerate(seeds)]
        else:
            tests = listed(options.program, options.filter)[::options.every]
            count = options.jobs
            if options.portion:
                count = -(-len(tests) // options.portion)
            parts = dealt(tests, read_times(options.times), count)
            futures = [pool.submit(shards.work, i, part, {})
                       for i, part in enumerate(parts)]
        for future in futures:
            future.result()
    return shards.finish()


if __name__ == "__main__":
    sys.exit(main())
