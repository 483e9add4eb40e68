#!/usr/bin/env python3
"""Prints rows of a results file as a table: goals first, then the rest."""
import json
import sys


def peer_ms(row):
    """The time to beat; for chains over rows, a copy of as many bytes."""
    peers = row["peer_ms"]
    if row["suite"] == "rows":
        return row["floor_ms"]
    return peers.get("unfused", min(peers.values(), default=float("nan")))


def line(row, metric):
    peer = peer_ms(row)
    goal = f'{metric["goal"]} {metric["limit"]:g}' if "goal" in metric else ""
    if not row["verified"]:
        verdict = "WRONG"
    elif goal:
        verdict = "pass" if metric["pass"] else "MISS"
    else:
        verdict = ""
    return (
        f'{row["suite"] + "/" + row["case"]:<42} {row["threads"]:>2} '
        f'{row["ours_ms"]:>9.4g} {peer:>9.4g} '
        f'{metric["name"]:<24} {metric["value"]:>8.3g} {goal:<8} {verdict}'
    ).replace("nan", "  -")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py FILE.jsonl")
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(text) for text in file if text.strip()]
    if not rows:
        sys.exit(f"{sys.argv[1]} has no rows")
    print(f'{rows[0]["device"]}, commit {rows[0]["commit"]}')
    print(
        f'{"case":<42} {"t":>2} {"ours ms":>9} {"peer ms":>9} '
        f'{"metric":<24} {"value":>8} {"goal":<8}'
    )
    pairs = [(row, metric) for row in rows for metric in row["metrics"]]
    for row, metric in sorted(pairs, key=lambda pair: "goal" not in pair[1]):
        print(line(row, metric))
    held = [(r, m) for r, m in pairs if "goal" in m]
    met = sum(r["verified"] and m["pass"] for r, m in held)
    wrong = sum(not r["verified"] for r in rows)
    print(f"{met} of {len(held)} goals met, {wrong} of {len(rows)} rows wrong")


main()
