#!/usr/bin/env python3
"""What a JUnit file of CTest or lit says: counts, and why tests failed.

Usage: results.py FILE STATUS
       results.py --summary FILE

The first line is "passed failed skipped"; for each of the first failed tests
its name and the lines of its output that matter follow. STATUS is the exit
status of the runner: one that failed without naming a test, or that ran none,
counts as one failure (and has no lines here: its log says why).

--summary prints what tests that passed have to say about what they covered: the
lines of their output that start with "[ SUMMARY  ] ", without that.
"""

import re
import sys
import xml.etree.ElementTree as tree

TESTS = 5
LINES = 60  # of one test
WIDTH = 400

# Where the reason starts: GoogleTest, sanitizers, unittest, assert, FileCheck.
REASON = re.compile(
    r": Failure$|^unknown file: |ERROR: (Address|Leak)Sanitizer|"
    r"WARNING: ThreadSanitizer|runtime error: |^(FAIL|ERROR): \w|^Traceback|"
    r"Assertion .* failed|PLEASE submit a bug report|terminate called")
# Where a test of GoogleTest ends; a block keeps the line if it names a failure.
END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\]|^\[(-+|=+)\]|^\[ RUN ")
SUMMARY = "[ SUMMARY  ] "
COMMAND = re.compile(r"^# RUN: at line \d+")


def blocks(lines):
    """The stretches of a test's output that say why it failed."""
    found, block = [], None
    for line in lines:
        if block is not None and END.match(line):
            if "FAILED" in line:
                block.append(line)
            block = None
        elif block is None and REASON.search(line):
            block = []
            found.append(block)
        if block is not None:
            block.append(line)
    return found


def shorten(block, limit):
    """The first lines, and the last: there GoogleTest names the test."""
    if len(block) <= limit:
        return block
    return block[:limit - 2] + [f"... {len(block) - limit + 1} more lines",
                                block[-1]]


def reason(text):
    lines = [line.rstrip()[:WIDTH] for line in text.splitlines()]
    lines = [line for line in lines if line]
    # lit stops at the first command that fails: the last one is the reason.
    commands = [i for i, line in enumerate(lines) if COMMAND.match(line)]
    if commands:
        return shorten(lines[commands[-1]:], LINES)
    found = blocks(lines)
    if not found:
        return lines[-LINES // 2:]
    # As many as fit, each with at least eight lines.
    shown = found[:LINES // 8]
    limit = LINES // len(shown)
    lines = [line for block in shown for line in shorten(block, limit)]
    if len(found) > len(shown):
        lines.append(f"... {len(found) - len(shown)} more failures")
    return lines


def failure(case):
    """(what happened, output) if the test failed, else None."""
    node = case.find("failure")
    node = case.find("error") if node is None else node
    if node is not None:
        output = case.findtext("system-out") or node.text or ""
        return node.get("message") or "Failed", output
    skip = case.find("skipped")
    # CTest files "executable not found" under skipped, too.
    if skip is not None and skip.get("message", "").startswith(
            "Unable to find"):
        return skip.get("message"), ""
    if skip is None and case.get("status") in ("fail", "disabled"):
        return case.get("status"), case.findtext("system-out") or ""
    return None


def name_of(case):
    name, group = case.get("name", ""), case.get("classname", "")
    return name if group in ("", name) else f"{group}/{name}"


def read(path):
    try:
        return list(tree.parse(path).iter("testcase"))
    except (OSError, tree.ParseError):
        return []


def summaries(path):
    for case in read(path):
        for line in (case.findtext("system-out") or "").splitlines():
            if line.startswith(SUMMARY):
                print(f"{name_of(case)}: {line[len(SUMMARY):].rstrip()[:WIDTH]}")


def main():
    if sys.argv[1] == "--summary":
        return summaries(sys.argv[2])
    path, status = sys.argv[1:]
    cases = read(path)
    failed = [(case, failure(case)) for case in cases if failure(case)]
    skipped = sum(case.find("skipped") is not None and not failure(case)
                  for case in cases)
    passed = len(cases) - len(failed) - skipped
    broken = not failed and (status != "0" or not cases)
    print(passed, len(failed) or int(broken), skipped)
    for case, (what, output) in failed[:TESTS]:
        print(f"{name_of(case)}: {what}")
        for line in reason(output):
            print(f"  {line}")
    if len(failed) > TESTS:
        names = [name_of(case) for case, _ in failed[TESTS:]]
        print(f"and {len(names)} more: {', '.join(names[:50])}"
              + (", ..." if len(names) > 50 else ""))


if __name__ == "__main__":
    main()
