#!/usr/bin/env python3
"""DRAM traffic that the profiler counts, next to what explain says.

    traffic.py --library libazulejo.so --out FILE.jsonl [--cases REGEX]

Each case runs once in a child process under ncu, which empties the caches
before every kernel. Judged are the bytes read: explain's bytes of the plan less
those of the outputs, within 15 %. The end of what a kernel writes stays in the
L2, so bytes written are shown only.
"""
import argparse
import csv
import ctypes
import io
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for place in (os.path.join(HERE, "bench", "peers"),
              os.path.join(HERE, "..", "..", "bench", "peers")):
    sys.path.insert(0, place)
import azulejo_c as az  # noqa: E402
import cases  # noqa: E402

READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
TOLERANCE = 0.15


def chosen(pattern):
    all_of_them = [cases.attention("traffic", 128, 4096, False)]
    all_of_them += [cases.rows("traffic", chain, 16384, 8192) for chain
                    in ("residual_rms_norm", "softmax", "swiglu")]
    return [c for c in all_of_them if re.search(pattern, c.name)]


def random_bytes(lib, spec, seed):
    """Random data, the same again and again after a million elements."""
    count = min(1 << 20, spec.bytes() // az.DTYPE_BYTES[spec.dtype])
    some = ctypes.create_string_buffer(count * az.DTYPE_BYTES[spec.dtype])
    lib.random(az.Tensor(ctypes.addressof(some), spec.dtype, [count]), seed)
    times = -(-spec.bytes() // len(some))
    whole = bytearray((some.raw * times)[:spec.bytes()])
    return (ctypes.c_char * len(whole)).from_buffer(whole)


def child(library, device, name):
    """One run on random data; says what explain says."""
    lib = az.Library(library)
    gpu = lib.device(device)
    case = next(c for c in chosen("") if c.name == name)
    exe = lib.compile(case.graph(lib), gpu)
    tensors, buffers = [], []
    for number, spec in enumerate(case.inputs() + case.outputs()):
        buffers.append(az.Buffer(lib, gpu, spec.bytes()))
        if number < len(case.inputs()):
            buffers[-1].write(random_bytes(lib, spec, number + 1))
        tensors.append(az.Tensor(buffers[-1].address(), spec.dtype,
                                 spec.shape))
    size = exe.workspace_size(tensors)
    space = az.Buffer(lib, gpu, max(size, 64))
    exe.bind(tensors, space.address(), size)()
    gpu.synchronize()
    explained = json.loads(exe.explain())
    print("@explain " + json.dumps({"bytes": explained["bytes"]["fused"],
                                    "kernels": len(explained["kernels"])}))


def counted(text):
    """Bytes by metric, and the number of kernels, from ncu's CSV."""
    start = text.find('"ID"')
    if start < 0:
        raise ValueError("ncu printed no table: " + text.strip()[-300:])
    totals, kernels = {READ: 0.0, WRITTEN: 0.0}, set()
    for row in csv.DictReader(io.StringIO(text[start:])):
        if row.get("Metric Name") in totals:
            totals[row["Metric Name"]] += float(
                row["Metric Value"].replace(",", ""))
            kernels.add(row["ID"])
    return totals, len(kernels)


def measure(options, case):
    row = {"suite": "traffic", "case": case.name, "verified": False,
           "commit": os.environ.get("AZULEJO_COMMIT", "unknown")}
    done = subprocess.run(
        [options.ncu, "--csv", "--print-units", "base", "--clock-control",
         "none", "--metrics", f"{READ},{WRITTEN}", sys.executable,
         os.path.abspath(__file__), "--library", options.library, "--device",
         options.device, "--child", case.name],
        text=True, capture_output=True, timeout=100)
    said = re.search(r"^@explain (.*)$", done.stdout, re.M)
    if not said:
        row["error"] = (done.stderr + done.stdout).strip()[-300:]
        return row
    explained = json.loads(said.group(1))
    try:
        totals, kernels = counted(done.stdout)
    except ValueError as error:
        row["error"] = str(error)
        return row
    expected = explained["bytes"] - sum(s.bytes() for s in case.outputs())
    ratio = totals[READ] / expected
    row.update(explain_bytes=explained["bytes"], kernels=kernels,
               expected_read=expected, dram_read=totals[READ],
               dram_written=totals[WRITTEN], ratio=round(ratio, 4),
               verified=abs(ratio - 1) <= TOLERANCE
               and kernels == explained["kernels"])
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", default=os.environ.get("AZULEJO_LIBRARY"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", default="traffic.jsonl")
    parser.add_argument("--cases", default="")
    parser.add_argument("--ncu", default=shutil.which("ncu") or "ncu")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.library, options.device, options.child)
        return 0
    good = True
    for case in chosen(options.cases):
        row = measure(options, case)
        good &= row["verified"]
        with open(options.out, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{row['case']:<36} " + (row.get("error") or
              f"read {row['dram_read'] / 1e6:.1f} MB, {row['ratio']:.3f} of "
              f"what explain says, written {row['dram_written'] / 1e6:.1f} MB, "
              f"{row['kernels']} kernels")
              + ("" if row["verified"] else "  WRONG"), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
