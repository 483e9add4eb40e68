"""Rows as JSON lines, and the compact table of them."""
import json
import math


def rate(row, ms):
    """TFLOP/s of products, TB/s of everything else: (number, unit)."""
    if row["flops"] and row["flops"] / row["bytes"] > 60:
        return row["flops"] / ms / 1e9, "TF/s"
    return row["bytes"] / ms / 1e9, "TB/s"


def best_peer(row):
    peers = row.get("peer_ms") or {}
    return min(peers, key=peers.get) if peers else None


def line(row):
    name = f'{row["suite"]}/{row["case"]}'
    if row.get("ours_ms") is None:
        return f'{name:<52} {row.get("skipped") or row.get("error")}'[:150]
    ours, unit = rate(row, row["ours_ms"])
    text = f'{name:<52} {row["ours_ms"]:>8.4f} {ours:>7.4g} {unit}'
    peer = best_peer(row)
    if peer:
        theirs, _ = rate(row, row["peer_ms"][peer])
        text += (f' {row["peer_ms"][peer] / row["ours_ms"]:>6.2f}x '
                 f'{peer + " " + format(theirs, ".4g"):<16}')
    else:
        text += " " * 25
    if row["floor_ms"]:
        text += f' {100 * row["floor_ms"] / row["ours_ms"]:>4.0f}%'
    text += f' {row["sm_clock"]:.2f}GHz' if row["sm_clock"] else ""
    return text + ("" if row["verified"] else "  WRONG")


def table(rows):
    out = [f'{"case":<52} {"ours ms":>8} {"rate":>12} {"against best":>24} '
           f'{"floor":>5}']
    out += [line(row) for row in rows if row["case"] != "roofs"]
    means = {}
    for row in rows:
        peer = best_peer(row)
        if row.get("ours_ms") and peer and row["verified"]:
            key = f'{row["suite"]}/{row["case"].split()[0]}'
            means.setdefault(key, []).append(
                math.log(row["peer_ms"][peer] / row["ours_ms"]))
    for key, logs in means.items():
        out.append(f'geometric mean of {len(logs):>2} {key}: '
                   f'{math.exp(sum(logs) / len(logs)):.3f}x the best peer')
    done = [r for r in rows if r.get("ours_ms") is not None
            and r["case"] != "roofs"]
    wrong = sum(not r["verified"] for r in done)
    failed = sum("error" in r for r in rows)
    skipped = sum("skipped" in r for r in rows)
    out.append(f"{len(done)} measured, {wrong} WRONG, {failed} failed, "
               f"{skipped} skipped")
    return "\n".join(out)


def dump(row):
    def rounded(value):
        if isinstance(value, float):
            return float(f"{value:.6g}")
        if isinstance(value, dict):
            return {k: rounded(v) for k, v in value.items()}
        return value
    return json.dumps({k: rounded(v) for k, v in row.items()})
