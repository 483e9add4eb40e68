#!/usr/bin/env python3
"""azulejo and what a user would call instead, side by side: --help says how.

The measuring is done by a child process. Where a kernel hangs or takes the
device down, the child is ended, the case gets a row that says so, and a new
child goes on with the next case.
"""
import argparse
import os
import queue
import re
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cases as all_cases  # noqa: E402
import report  # noqa: E402

MOST_CHILDREN = 12


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--suite", action="append", choices=sorted(all_cases.SUITES),
        help="default: first and claims; with --cases all but tiny")
    add("--cases", default="", metavar="REGEX",
        help="only cases whose suite/name this finds")
    add("--seconds", type=float, default=150.0, help="for everything")
    add("--device", default="cuda", help="as az_device_open takes it")
    add("--library", default=os.environ.get("AZULEJO_LIBRARY"),
        help="libazulejo.so; default: $AZULEJO_LIBRARY")
    add("--out", default="peers.jsonl", help="rows are appended")
    add("--cache", default=None, metavar="DIR",
        help="cache of plans; default: none is used")
    add("--tune", type=float, default=0.0, metavar="S",
        help="seconds of tuning per graph")
    add("--pin", action="append", default=[], metavar="SCHEDULES",
        help="also time ours under these schedules, where they are legal")
    add("--commit", default=os.environ.get("AZULEJO_COMMIT", "unknown"))
    add("--peak-tflops", type=float, default=989.4,
        help="dense bf16 rate for floors")
    add("--slow-peers", action="store_true",
        help="also peers that need over ten seconds to start")
    add("--compile-times", action="store_true",
        help="also compile each case again, alone (half a second)")
    add("--seed", type=int, default=1)
    add("--list", action="store_true", help="names the cases and ends")
    add("--child", type=int, default=None, help=argparse.SUPPRESS)
    add("--until", type=float, default=0.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.until = options.until or time.time() + options.seconds
    return options


def chosen(options):
    suites = options.suite or ["first", "claims"]
    if options.cases and not options.suite:
        suites = [suite for suite in all_cases.SUITES if suite != "tiny"]
    found = [case for suite in suites for case in all_cases.SUITES[suite]()]
    return [case for case in found
            if re.search(options.cases, f"{case.suite}/{case.name}")]


class Parent:
    silence = 100.0  # seconds without a word: the child hangs

    def __init__(self, options, cases):
        self.options, self.cases, self.rows = options, cases, []

    def note(self, text):
        self.rows.append(report.json.loads(text))
        with open(self.options.out, "a", encoding="utf-8") as file:
            file.write(text + "\n")
        print(report.line(self.rows[-1]) if self.rows[-1]["case"] != "roofs"
              else text, flush=True)

    def failed(self, number, why):
        case = self.cases[number]
        self.note(report.dump({
            "suite": case.suite, "case": case.name, "error": why,
            "commit": self.options.commit, "bytes": case.bytes(),
            "flops": case.flops(), "ours_ms": None, "peer_ms": {},
            "floor_ms": 0.0, "verified": False, "sm_clock": 0.0}))

    def go(self):
        first = 0
        for _ in range(MOST_CHILDREN):
            first = self.child(first)
            if first >= len(self.cases):
                return
        for number in range(first, len(self.cases)):
            self.failed(number, "too many cases before it ended the process")

    def command(self, first):
        return [sys.executable, os.path.abspath(__file__), *sys.argv[1:],
                "--child", str(first), "--until", str(self.options.until)]

    def child(self, first):
        """Runs cases from `first`; gives the number of the next one."""
        process = subprocess.Popen(self.command(first), text=True,
                                   stdout=subprocess.PIPE)
        lines = queue.Queue()

        def read():
            with process.stdout:
                for text in process.stdout:
                    lines.put(text.rstrip("\n"))
            lines.put(None)
        threading.Thread(target=read, daemon=True).start()
        done, begun = first, False
        # It tunes everything before its first word.
        patience = self.silence + 2 * self.options.tune * len(self.cases)
        while True:
            try:
                text = lines.get(timeout=patience)
            except queue.Empty:
                process.kill()
                process.wait()
                self.failed(done, f"no answer within {patience:.0f} s")
                return done + 1
            if text is None:
                break
            patience = self.silence
            if text.startswith("@begin "):
                begun = True
            elif text.startswith('{"suite": "roofs"'):
                self.note(text)
            elif text.startswith("{"):
                self.note(text)
                done, begun = done + 1, False
            else:
                print(text, file=sys.stderr)
        status = process.wait()
        if done == first and not begun and done < len(self.cases):
            # Not a case's fault: the next child would end like this one.
            for number in range(done, len(self.cases)):
                self.failed(number, f"the process could not start ({status})")
            return len(self.cases)
        if done < len(self.cases) and begun:
            self.failed(done, f"the process ended with {status}")
            done += 1
        return done


def main():
    options = parse()
    cases = chosen(options)
    if options.list:
        print("\n".join(f"{c.suite}/{c.name}" for c in cases))
        return 0
    if not cases:
        print("no case has such a name", file=sys.stderr)
        return 2
    if options.child is not None:
        import worker
        worker.work(options, cases[options.child:])
    parent = Parent(options, cases)
    parent.go()
    print("\n" + report.table(parent.rows), flush=True)
    bad = any("error" in r or (not r["verified"] and "skipped" not in r)
              for r in parent.rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
