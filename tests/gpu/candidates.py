#!/usr/bin/env python3
"""Tunes many graphs and asks that every candidate be right, not the winner
alone.

    candidates.py --azulejo PROGRAM --out FILE.jsonl [--suite NAME:EVERY ...]
                  [--device cuda] [--budget S] [--jobs N] [--cases REGEX]

The graphs are those of the benchmarks against PyTorch (bench/peers/cases.py).
Several are tuned at a time: what is asked for is verdicts, not timings. A
candidate that is wrong, crashes or does not end is a failure; one that spills
registers is refused before it runs, and counted.

Rows: one per graph, with how many schedules had which outcome; one in all.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
for place in (os.path.join(HERE, "bench", "peers"),
              os.path.join(HERE, "..", "..", "bench", "peers")):
    sys.path.insert(0, place)
import azulejo_c as az  # noqa: E402
import cases  # noqa: E402

HARMLESS = ("ok", "spill")


def chosen(suites, pattern):
    """`tiny` is the whole suite, `first:3` every third case of it."""
    found = []
    for suite in suites:
        name, _, every = suite.partition(":")
        found += cases.SUITES[name]()[::int(every or 1)]
    return [case for case in found if re.search(pattern, case.name)]


def tuned(options, case, path):
    row = {"suite": "candidates", "case": f"{case.suite}/{case.name}",
           "tried": 0, "outcomes": {}}
    command = [options.azulejo, "tune", path, "--device", options.device,
               "--budget", str(options.budget), "--threads",
               str(options.threads), "--cache", "off", "--format", "json"]
    try:
        done = subprocess.run(command, text=True, capture_output=True,
                              timeout=5 * options.budget + 120, check=False)
    except subprocess.TimeoutExpired:
        row["error"] = "it does not end"
        return row
    if done.returncode != 0:
        row["error"] = (done.stderr + done.stdout).strip()[-400:]
        return row
    said = json.loads(done.stdout)
    row["tried"], row["seconds"] = said["tried"], round(said["seconds"], 1)
    for outcome in said["outcomes"]:
        row["outcomes"][outcome["outcome"]] = outcome["schedules"]
    exact = said.get("exact_tests", [])
    row["exact"] = {one["on_integers"]: one["schedules"] for one in exact}
    return row


def is_bad(row):
    return bool(row.get("error") or not row["outcomes"].get("ok")
                or any(count and outcome not in HARMLESS
                       for outcome, count in row["outcomes"].items()))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--azulejo", default="azulejo")
    add("--library", default=os.environ.get("AZULEJO_LIBRARY"))
    add("--device", default="cuda")
    add("--out", default="candidates.jsonl")
    add("--suite", action="append")
    add("--cases", default="")
    add("--budget", type=float, default=4)
    add("--jobs", type=int, default=4)
    add("--threads", type=int, default=4)
    options = parser.parse_args(arguments)
    library, total = az.Library(options.library), collections.Counter()
    found = chosen(options.suite or ["tiny", "first:2"], options.cases)
    bad = 0
    with tempfile.TemporaryDirectory() as folder, \
            open(options.out, "a", encoding="utf-8") as out, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        paths = []
        for number, case in enumerate(found):
            paths.append(os.path.join(folder, f"{number}.mlir"))
            graph = case.graph(library)  # lives as long as its handle is used
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(library.text("az_graph_print", graph.handle, None))
        for row in pool.map(lambda one: tuned(options, *one),
                            zip(found, paths)):
            total.update(row["outcomes"])
            bad += is_bad(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(f"{row['case']:<48} {row['tried']:>4} tried: " + (
                row.get("error") or ", ".join(
                    f"{count} {outcome}" for outcome, count
                    in row["outcomes"].items()))
                  + ("  BAD" if is_bad(row) else ""), flush=True)
        out.write(json.dumps({
            "suite": "candidates", "case": "summary", "graphs": len(found),
            "bad": bad, "outcomes": dict(total),
            "commit": os.environ.get("AZULEJO_COMMIT", "unknown")}) + "\n")
    print(f"{len(found)} graphs, {bad} bad; candidates: " + ", ".join(
        f"{count} {outcome}" for outcome, count in total.items()))
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
