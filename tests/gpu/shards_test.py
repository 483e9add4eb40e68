"""shards.py with a program that passes, fails, skips, crashes and hangs."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import shards  # noqa: E402

# Enough of GoogleTest: a list, a filter from a flag file, marks on stdout.
FAKE = r'''
import os, sys, time
SUITES = {"A": ["pass", "fail", "skip", "crash", "after"], "B": ["hang", "last"],
          "RandomGraph": ["AgreesWithTheOracle"]}
names = [f"{s}.{t}" for s, tests in SUITES.items() for t in tests]
for arg in sys.argv[1:]:
    if arg == "--gtest_list_tests":
        for suite, tests in SUITES.items():
            print(suite + ".")
            for test in tests:
                print("  " + test + "  # GetParam() = 1")
        sys.exit(0)
    if arg.startswith("--gtest_flagfile="):
        names = open(arg.split("=", 1)[1]).read().strip()
        names = names.removeprefix("--gtest_filter=").split(":")
for name in names:
    print(f"[ RUN      ] {name}", flush=True)
    kind = name.split(".")[1]
    if kind == "crash":
        os.abort()
    if kind == "hang":
        time.sleep(60)
    if kind == "fail":
        print("it is off by one")
        for line in range(int(os.environ.get("LONG", "0"))):
            print("graph line", line)
    if name.startswith("RandomGraph"):
        print("seeds", os.environ.get("AZULEJO_SEED"),
              os.environ.get("AZULEJO_GRAPHS"))
        print("[  FAILED  ] " + name + " (1 ms)", flush=True)
        continue
    mark = {"fail": " FAILED ", "skip": "SKIPPED"}.get(kind, "      OK")
    print(f"[ {mark} ] {name} (1 ms)", flush=True)
print('{"suite":"conformance","device":"fake","graphs_checked":2,'
      '"graphs_skipped":1,"reasons":{"no code":1}}')
'''


class ShardsTest(unittest.TestCase):
    def run_shards(self, *arguments, **environment):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"#!{sys.executable}\n{FAKE}")
            os.chmod(program, 0o755)
            out = os.path.join(folder, "out.jsonl")
            done = subprocess.run(
                [sys.executable, str(HERE / "shards.py"), program, "--out",
                 out, "--silence", "10", *arguments], text=True,
                capture_output=True, timeout=120,
                env={**os.environ, **environment})
            with open(out, encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
        return done, {row["case"]: row for row in rows}, rows

    def test_goes_on_after_a_crash_and_a_hang(self):
        done, by_case, _ = self.run_shards("--jobs", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("crashed", by_case["A.crash"]["result"])
        self.assertEqual(by_case["B.hang"]["result"], "hung")
        self.assertEqual(by_case["A.fail"]["message"], "it is off by one")
        self.assertEqual(by_case["A.skip"]["result"], "skipped")
        total = by_case["summary"]
        self.assertEqual((total["passed"], total["crashed"], total["skipped"]),
                         (3, 2, 1))
        self.assertEqual(total["failed"], 2)
        self.assertEqual(total["graphs_skipped"], 1)

    def test_deals_out_every_seed_once(self):
        done, _, rows = self.run_shards("--jobs", "2", "--graphs", "10",
                                        "--seed", "40")
        self.assertEqual(done.returncode, 1)
        seeds = sorted(row["message"] for row in rows
                       if row["case"].startswith("RandomGraph"))
        self.assertEqual(seeds, ["seeds 40 5", "seeds 45 5"])

    def test_keeps_the_assertion_before_a_long_graph(self):
        done, by_case, _ = self.run_shards("--jobs", "1", "--filter", "*",
                                           LONG="300")
        message = by_case["A.fail"]["message"].split("\n")
        self.assertEqual(message[0], "it is off by one")
        self.assertEqual(message[-1], "graph line 299")
        self.assertLess(len(message), 70)
        self.assertIn("it is off by one", done.stdout)

    def test_a_tool_runs_the_program_for_few_tests_at_a_time(self):
        tool = f"{sys.executable} {HERE / 'shards_test_tool.py'}"
        done, by_case, rows = self.run_shards(
            "--jobs", "1", "--portion", "2", "--every", "4", "--prefix", tool)
        self.assertEqual(done.returncode, 1)
        # Every fourth of eight tests: A.pass and A.after.
        found = by_case["A.after+A.pass"]
        self.assertEqual(found["result"], "ended with 9")
        self.assertEqual(found["message"], "===== 1 error")
        self.assertEqual(by_case["summary"]["passed"], 2)
        self.assertEqual(by_case["summary"]["processes_with_findings"], 1)

    def test_tests_of_equal_length_run_together(self):
        times = {"a": 9, "b": 5, "c": 3, "d": 1}
        self.assertEqual(shards.dealt(["d", "c", "b", "a", "new"], times, 3),
                         [["a"], ["new", "c"], ["b", "d"]])
        self.assertEqual(shards.dealt(["a"], {}, 4), [["a"]])

    def test_keeps_how_long_tests_take(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "times.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"A.pass": 7, "B.gone": 3}, file)
            done, by_case, _ = self.run_shards(
                "--jobs", "1", "--filter", "*", "--every", "4", "--times",
                path)
            with open(path, encoding="utf-8") as file:
                times = json.load(file)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(times, {"A.pass": 1, "A.after": 1, "B.gone": 3})
        self.assertEqual(by_case["summary"]["slowest_ms"],
                         {"A.pass": 1, "A.after": 1})

    def test_ends_in_time_and_says_what_it_did_not_reach(self):
        done, by_case, _ = self.run_shards(
            "--jobs", "1", "--portion", "1", "--silence", "30", "--within",
            "3")
        self.assertEqual(done.returncode, 1)
        self.assertLess(by_case["summary"]["seconds"], 20)
        # B.hang was running, and what follows it was not started.
        self.assertIn("B.hang", by_case["unreached"]["tests"])
        self.assertEqual(by_case["summary"]["unreached"],
                         len(by_case["unreached"]["tests"]))
        # A loaded machine reaches fewer; none is lost.
        total = by_case["summary"]
        self.assertEqual(sum(total[key] for key in (
            "passed", "failed", "skipped", "crashed", "unreached")), 8)
        self.assertIn("not reached", done.stdout)


if __name__ == "__main__":
    unittest.main()
