"""results.py on files as CTest and lit write them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[4]
SCRIPT = ROOT / "tools" / "junit" / "results.py"

NOISE = "".join(f"[ RUN      ] Quiet.Test{i}\n[       OK ] Quiet.Test{i} (0 ms)\n"
                for i in range(400))
BLOCK = """[ RUN      ] Loud.Test{0}
said before
a.cpp:{0}: Failure
Expected equality of these values:
  {0}
  2
[  FAILED  ] Loud.Test{0} (3 ms)
"""
SUMMARY = "[==========] 401 tests ran.\n[  PASSED  ] 400 tests.\n"


def ctest(name, status, inner="", output=""):
    return (f'<testcase name="{name}" classname="{name}" status="{status}">'
            f"{inner}<system-out>{escape(output)}</system-out></testcase>")


def failed(name, output, message="Failed"):
    return ctest(name, "fail", f'<failure message="{message}"/>', output)


class ResultsTest(unittest.TestCase):
    def results(self, text, status="1"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "results.xml")
            path.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT, path, status],
                                  capture_output=True, text=True, timeout=60,
                                  check=True)
        counts, *lines = done.stdout.splitlines()
        return tuple(map(int, counts.split())), lines

    def suite(self, *cases, status="1"):
        return self.results(f"<testsuite>{''.join(cases)}</testsuite>", status)

    def test_counts(self):
        skip = '<skipped message="SKIP_RETURN_CODE=77"/>'
        missing = '<skipped message="Unable to find executable: x"/>'
        counts, lines = self.suite(
            ctest("good", "run"), ctest("other", "run"),
            ctest("skipped", "notrun", skip),
            ctest("absent", "notrun", missing),
            ctest("off", "disabled"))
        self.assertEqual(counts, (2, 2, 1))
        self.assertEqual(lines, ["absent: Unable to find executable: x",
                                 "off: disabled"])

    def test_summaries_of_tests_that_passed(self):
        line = "[ SUMMARY  ] 300 of 307 graphs"
        text = ctest("many", "run", output=f"{NOISE}{line}\nmore\n{line}, too")
        text += ctest("few", "run", output=f"said: {line}\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "results.xml")
            path.write_text(f"<testsuite>{text}</testsuite>", encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT, "--summary", path],
                                  capture_output=True, text=True, timeout=60,
                                  check=True)
        self.assertEqual(done.stdout.splitlines(),
                         ["many: 300 of 307 graphs",
                          "many: 300 of 307 graphs, too"])

    def test_a_runner_that_names_nothing_fails(self):
        self.assertEqual(self.suite(ctest("a", "run"), status="0")[0],
                         (1, 0, 0))
        self.assertEqual(self.suite(ctest("a", "run"))[0], (1, 1, 0))
        self.assertEqual(self.suite(status="0")[0], (0, 1, 0))
        self.assertEqual(self.results("<testsuite><testca", "0")[0],
                         (0, 1, 0))

    def test_the_reason_is_found_among_hundreds_of_lines(self):
        _, lines = self.suite(failed(
            "suite", NOISE + BLOCK.format(7) + NOISE + SUMMARY))
        self.assertEqual(lines, [
            "suite: Failed", "  a.cpp:7: Failure",
            "  Expected equality of these values:", "    7", "    2",
            "  [  FAILED  ] Loud.Test7 (3 ms)"])

    def test_many_reasons_share_the_lines(self):
        long = BLOCK.replace("  2\n", "  2\n" * 500)
        _, lines = self.suite(failed(
            "suite", "".join(long.format(i) for i in range(20))))
        self.assertLessEqual(len(lines), 65)
        self.assertIn("  [  FAILED  ] Loud.Test6 (3 ms)", lines)
        self.assertEqual(lines[-1], "  ... 13 more failures")

    def test_reports_of_sanitizers_and_scripts_are_reasons(self):
        for reason in ("==7==ERROR: AddressSanitizer: heap-use-after-free",
                       "a.cpp:3:4: runtime error: shift exponent 64",
                       "WARNING: ThreadSanitizer: data race (pid=1)",
                       "FAIL: test_x (a.B)", "Traceback (most recent call):"):
            _, lines = self.suite(failed(
                "t", NOISE + reason + "\n#0 here\n", "SEGFAULT"))
            self.assertEqual(lines, ["t: SEGFAULT", "  " + reason,
                                     "  #0 here"])

    def test_output_without_a_known_reason_ends_what_is_shown(self):
        _, lines = self.suite(failed("t", NOISE + "bye\n", "Timeout"))
        self.assertEqual(lines[0], "t: Timeout")
        self.assertEqual(lines[-1], "  bye")
        self.assertLessEqual(len(lines), 60)

    def test_lit_shows_the_command_that_failed(self):
        output = ("Exit Code: 1\n\nCommand Output (stdout):\n--\n"
                  "# RUN: at line 1\ntool a.mlir\n# executed command: tool\n"
                  "# RUN: at line 2\ntool b.mlir | FileCheck b.mlir\n"
                  "# | b.mlir:5:10: error: CHECK: not found\n--\n")
        counts, lines = self.suite(
            '<testcase classname="azulejo.ir" name="a.mlir"/>',
            '<testcase classname="azulejo.ir" name="b.mlir"><failure>'
            f"<![CDATA[{output}]]></failure></testcase>")
        self.assertEqual(counts, (1, 1, 0))
        self.assertEqual(lines, [
            "azulejo.ir/b.mlir: Failed", "  # RUN: at line 2",
            "  tool b.mlir | FileCheck b.mlir",
            "  # | b.mlir:5:10: error: CHECK: not found", "  --"])

    def test_only_the_first_tests_are_shown(self):
        _, lines = self.suite(*(failed(f"t{i}", f"out {i}\n")
                                for i in range(8)))
        self.assertEqual(lines[-1], "and 3 more: t5, t6, t7")
        self.assertNotIn("  out 5", lines)


if __name__ == "__main__":
    unittest.main()
