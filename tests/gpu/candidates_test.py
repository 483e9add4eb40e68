"""candidates.py with a program that says what the test wants to hear."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import candidates  # noqa: E402

FAKE = '''import json, os, sys
assert sys.argv[1] == "tune" and "func" in open(sys.argv[2]).read()
outcomes = json.loads(os.environ["OUTCOMES"])
if not outcomes:
    sys.exit("no device")
print(json.dumps({"tried": sum(outcomes.values()), "seconds": 1,
                  "outcomes": [{"outcome": name, "schedules": count}
                               for name, count in outcomes.items()]}))
'''


class CandidatesTest(unittest.TestCase):
    def go(self, outcomes, *arguments):
        os.environ["OUTCOMES"] = json.dumps(outcomes)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "azulejo")
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"#!{sys.executable}\n{FAKE}")
            os.chmod(program, 0o755)
            out = os.path.join(folder, "rows.jsonl")
            with contextlib.redirect_stdout(io.StringIO()) as said:
                status = candidates.main(
                    ["--azulejo", program, "--out", out, "--cases",
                     "softmax|33x65x48 nt$", "--suite", "tiny", *arguments])
            with open(out, encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
        return status, rows, said.getvalue()

    def test_right_candidates_are_counted(self):
        status, rows, said = self.go({"ok": 3, "spill": 1})
        self.assertEqual(status, 0)
        self.assertEqual([row["tried"] for row in rows[:-1]], [4, 4])
        self.assertEqual(rows[-1]["outcomes"], {"ok": 6, "spill": 2})
        self.assertIn("2 graphs, 0 bad", said)

    def test_one_wrong_candidate_is_enough(self):
        for outcome in ("wrong", "crashed", "timeout"):
            status, rows, said = self.go({"ok": 30, outcome: 1})
            self.assertEqual(status, 1, outcome)
            self.assertEqual(rows[-1]["bad"], 2)
            self.assertIn("BAD", said)

    def test_none_at_all_and_errors_are_bad(self):
        self.assertEqual(self.go({"spill": 2})[0], 1)
        status, rows, _ = self.go({})
        self.assertEqual(status, 1)
        self.assertIn("no device", rows[0]["error"])
        self.assertEqual(self.go({"ok": 1}, "--cases", "nothing")[0], 1)

    def test_every_third_case(self):
        names = [case.name for case in candidates.chosen(["first:3"], "")]
        whole = [case.name for case in candidates.cases.SUITES["first"]()]
        self.assertEqual(names, whole[::3])


if __name__ == "__main__":
    unittest.main()
