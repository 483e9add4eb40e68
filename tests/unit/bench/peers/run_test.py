"""The parent of the measuring process: crashes, hangs, bad starts."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4]
                       / "bench" / "peers"))
import cases  # noqa: E402
import run  # noqa: E402

# Says a row for each case from the given number on, as HOW tells.
CHILD = """
import json, os, sys, time
first, how = int(sys.argv[1]), json.loads(sys.argv[2])
if how == "bad start":
    sys.exit(1)
print(json.dumps({"suite": "roofs", "case": "roofs"}), flush=True)
for number, kind in list(enumerate(how))[first:]:
    print(f"@begin {number}", flush=True)
    if kind == "crash":
        os.abort()
    if kind == "hang":
        time.sleep(60)
    row = {"suite": "s", "case": f"c {number}", "bytes": 1, "flops": 0,
           "ours_ms": 1.0, "peer_ms": {}, "floor_ms": 0.0, "sm_clock": 0.0,
           "verified": True}
    print(json.dumps(row), flush=True)
    if kind == "lost":
        os._exit(3)
"""


class Parent(run.Parent):
    silence = 2.0

    def __init__(self, how, out):
        options = types.SimpleNamespace(out=out, commit="c", until=0,
                                        tune=0)
        count = 4 if how == "bad start" else len(how)
        super().__init__(options, cases.first()[:count])
        self.how, self.starts = how, 0

    def command(self, first):
        self.starts += 1
        return [sys.executable, "-c", CHILD, str(first), json.dumps(self.how)]


class RunTest(unittest.TestCase):
    def go(self, how):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "rows.jsonl")
            parent = Parent(how, out)
            with contextlib.redirect_stdout(io.StringIO()):
                parent.go()
            with open(out, encoding="utf-8") as file:
                written = [json.loads(line) for line in file]
        self.assertEqual(written, parent.rows)
        rows = [row for row in written if row["case"] != "roofs"]
        self.assertEqual(len(rows), len(parent.cases))  # each exactly once
        return parent, [row.get("error", "ok") for row in rows]

    def test_all_is_well(self):
        parent, results = self.go(["ok", "ok", "ok"])
        self.assertEqual((parent.starts, results), (1, ["ok"] * 3))

    def test_goes_on_after_a_crash(self):
        parent, results = self.go(["ok", "crash", "ok", "crash"])
        self.assertEqual(results[0::2], ["ok", "ok"])
        self.assertIn("ended with -6", results[1])
        self.assertIn("ended with -6", results[3])
        self.assertEqual(parent.starts, 2)

    def test_goes_on_after_a_lost_device(self):
        parent, results = self.go(["lost", "ok", "lost", "ok"])
        self.assertEqual((parent.starts, results), (3, ["ok"] * 4))

    def test_ends_what_hangs(self):
        parent, results = self.go(["ok", "hang", "ok"])
        self.assertIn("no answer", results[1])
        self.assertEqual((parent.starts, results[2]), (2, "ok"))

    def test_a_bad_start_is_not_tried_again(self):
        parent, results = self.go("bad start")
        self.assertEqual(parent.starts, 1)
        self.assertEqual(len(results), 4)
        for result in results:
            self.assertIn("could not start", result)


if __name__ == "__main__":
    unittest.main()
