"""The part `planted` of run_gpu.sh: a tool that misses what was planted for it
is a failure. The tool here says what the test wants to hear."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SEEN = "========= Invalid __global__ write of size 4 bytes"


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
    path.chmod(0o755)


class PlantedTest(unittest.TestCase):
    def go(self, says, status):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file in ("run_gpu.sh", "summary.py"):
                shutil.copy(HERE / file, folder)
            # What the tool gets is kept: it has to be told to watch the test.
            program(folder / "tools" / "compute-sanitizer",
                    f"echo \"$@\" >'{folder}/told'\n"
                    f"echo '{says}'\nexit {status}\n")
            program(folder / "bin" / "gpu_runtime_test", "exit 0\n")
            path = f"{folder}/tools:{os.environ['PATH']}"
            ran = subprocess.run(
                [str(folder / "run_gpu.sh"), "--only", "planted", "--out",
                 str(folder / "out")],
                env=dict(os.environ, PATH=path), text=True,
                capture_output=True, timeout=60, check=False)
            told = (folder / "told").read_text(encoding="utf-8")
            self.assertIn("--tool memcheck --error-exitcode 9", told)
            self.assertIn("gpu_runtime_test", told)
            self.assertIn("Planted.DISABLED_OneElementPastTheEnd", told)
            return ran

    def test_a_tool_that_reports_it(self):
        ran = self.go(SEEN, 9)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_a_tool_that_sees_nothing(self):
        ran = self.go("========= ERROR SUMMARY: 0 errors", 0)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("did not report the planted write", ran.stdout)

    def test_a_tool_that_fails_for_another_reason(self):
        for says, status in (("no device", 9), (SEEN, 0), ("crashed", 139)):
            ran = self.go(says, status)
            self.assertEqual(ran.returncode, 1, says)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
