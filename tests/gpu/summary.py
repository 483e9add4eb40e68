#!/usr/bin/env python3
"""The table at the end of run_gpu.sh: summary.py <folder with *.jsonl>."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "bench", "peers"))


def rows(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def main(folder):
    good = True
    peers = rows(folder, "peers.jsonl")
    if peers:
        import report
        print("\n" + report.table(peers))
    launches = rows(folder, "row_chain.jsonl")
    if launches:
        wrong = [r for r in launches if not r["verified"]]
        best = max(launches, key=lambda r: r["gbs"])
        print(f"\nrow kernels: {len(launches)} cases, {len(wrong)} wrong, best "
              f"{best['gbs']:.0f} GB/s ({best['case']})")
    traffic = rows(folder, "traffic.jsonl")
    for row in traffic:
        print(f"traffic of {row['case']:<32} " + (
            row.get("error") or f"{row['ratio']:.3f} of what explain says")
            [:100] + ("" if row["verified"] else "  WRONG"))
    for name in ("instructions.jsonl", "tests.jsonl", "graphs.jsonl",
                 "memcheck.jsonl", "racecheck.jsonl", "second_gpu.jsonl"):
        found = rows(folder, name)
        for row in found:
            if row["case"] == "summary":
                print(f"\n{name}: {row['passed']} passed, {row['failed']} "
                      f"failed, {row['crashed']} crashed, {row['skipped']} "
                      f"skipped; {row['graphs_checked']} graphs checked, "
                      f"{row['graphs_skipped']} beyond the device"
                      + (f"; {row['unreached']} not reached"
                         if row.get("unreached") else ""))
                for reason, count in list(row["reasons"].items())[:8]:
                    print(f"{count:>7} x {reason[:110]}")
        bad = [r for r in found
               if r.get("result") not in (None, "skipped")]
        for row in bad[:20]:
            print(f"  {row['result']}: {row['case']}")
        if len(bad) > 20:
            print(f"  and {len(bad) - 20} more")
    print()
    for row in rows(folder, "steps.jsonl"):
        print(f"{row['case']:<16} {row['result']:<12} {row['seconds']:>7.1f} s")
        good &= row["result"] == "ok"
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
