"""Compile times: rows for a device that is not there, and a form is less."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4]
                       / "bench" / "peers"))
import azulejo_c as az  # noqa: E402
import cases  # noqa: E402
import compile_times  # noqa: E402


class CompileTimesTest(unittest.TestCase):
    def go(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "rows.jsonl")
            with contextlib.redirect_stdout(io.StringIO()) as said, \
                    contextlib.redirect_stderr(io.StringIO()):
                status = compile_times.main([*arguments, "--out", out])
            rows = []
            if os.path.exists(out):
                with open(out, encoding="utf-8") as file:
                    rows = [json.loads(line) for line in file]
            return status, rows, said.getvalue()

    def test_a_form_and_a_plan_take_time(self):
        status, rows, said = self.go("--suite", "tiny", "--cases", "matmul",
                                     "--repeat", "1", "--device", "a100")
        self.assertEqual(status, 0)
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertGreater(row["plan_ms"], 0)
            self.assertGreater(row["form_ms"], 0)
            self.assertEqual(row["device"], "a100")
        self.assertIn("per form on one core", said)

    def test_nothing_comes_from_memory(self):
        library = az.Library()
        clock = compile_times.Clock(library, library.device("a100"))
        case = cases.SUITES["tiny"]()[0]
        clock.plan_ms(case)
        again = min(clock.plan_ms(case) for _ in range(3))
        known = case.graph(library)
        library.compile(known, clock.device)
        memory = min(compile_times.elapsed_ms(
            lambda: library.compile(known, clock.device)) for _ in range(3))
        self.assertGreater(again, 3 * memory)

    def test_the_thread_gets_its_cores_back(self):
        cores = os.sched_getaffinity(0)
        seen = []
        compile_times.on_one_core(
            lambda: seen.append(os.sched_getaffinity(0)))
        self.assertEqual(len(seen[0]), 1)
        self.assertEqual(os.sched_getaffinity(0), cores)

    def test_no_case_is_an_error(self):
        status, rows, _ = self.go("--cases", "no such case")
        self.assertEqual((status, rows), (2, []))

    def test_medians_leave_out_what_was_refused(self):
        self.assertEqual(compile_times.median([3, None, 1, 2]), 2)
        self.assertIsNone(compile_times.median([None]))


if __name__ == "__main__":
    unittest.main()
