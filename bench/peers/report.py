"""Rows as JSON lines, and the compact table of them."""
import json
import math
import re


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


def pinned(row):
    """One line for each schedule that was asked for."""
    return [f'    {ms:>8.4f} {row["ours_ms"] / ms:>6.3f} of the default\'s '
            f'rate  {pin}' for pin, ms in row.get("pinned_ms", {}).items()]


def group(case):
    """A case without its sizes: the first word and those without digits."""
    first, *rest = case.split()
    return " ".join([first] + [w for w in rest if not re.search(r"\d", w)])


def timed(rows):
    return [row for row in rows if row.get("ours_ms") and row["verified"]]


def means(rows):
    """Against the best peer: what a user would have had otherwise."""
    ratios, out = {}, []
    for row in timed(rows):
        peer = best_peer(row)
        if peer:
            key = f'{row["suite"]}/{group(row["case"])}'
            ratios.setdefault(key, []).append(
                (row["peer_ms"][peer] / row["ours_ms"], row["case"]))
    for key, found in ratios.items():
        mean = math.exp(sum(math.log(r) for r, _ in found) / len(found))
        least, case = min(found)
        out.append(f"geometric mean of {len(found):>2} {key}: {mean:.3f}x the "
                   f"best peer, least {least:.3f}x ({case})")
    return out


def costs(rows):
    """What fused epilogues take more than the same product without."""
    plain = {(row["suite"], row["case"]): row["ours_ms"]
             for row in timed(rows)}
    found = {}
    for row in timed(rows):
        case, _, _ = row["case"].rpartition(" ")
        if (row["suite"], case) in plain:
            more = row["ours_ms"] / plain[row["suite"], case] - 1
            found.setdefault(f'{row["suite"]}/{group(row["case"])}', []).append(
                (more, case))
    return [f"{key} takes at most {100 * max(some)[0]:.1f} % more than without "
            f"({max(some)[1]})" for key, some in found.items()]


def table(rows):
    out = [f'{"case":<52} {"ours ms":>8} {"rate":>12} {"against best":>24} '
           f'{"floor":>5}']
    for row in rows:
        if row["case"] != "roofs":
            out += [line(row)] + pinned(row)
    out += means(rows) + costs(rows)
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
