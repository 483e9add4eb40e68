"""The part `planted` of run_gpu.sh: a tool that misses what was planted for it
is a failure. The tools here say what the test wants to hear."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SEEN = {"memcheck": "========= Invalid __global__ write of size 4 bytes",
        "racecheck": "========= Error: Race reported between Write access"}
TESTS = {"memcheck": "Planted.OneElementPastTheEnd",
         "racecheck": "Planted.ReadBeforeAnotherWarpWrote"}


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
    path.chmod(0o755)


class PlantedTest(unittest.TestCase):
    def go(self, says, statuses):
        """A run with a tool that says and returns these things."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file in ("run_gpu.sh", "summary.py"):
                shutil.copy(HERE / file, folder)
            # What the tool gets is kept: it has to be told to watch the test.
            cases = "".join(f"{tool}) echo '{says[tool]}'; exit "
                            f"{statuses[tool]} ;;\n" for tool in says)
            program(folder / "tools" / "compute-sanitizer",
                    f"echo \"$@\" >>'{folder}/told'\ncase $2 in\n{cases}esac\n")
            program(folder / "bin" / "gpu_runtime_test", "exit 0\n")
            path = f"{folder}/tools:{os.environ['PATH']}"
            ran = subprocess.run(
                [str(folder / "run_gpu.sh"), "--only", "planted", "--out",
                 str(folder / "out")],
                env=dict(os.environ, PATH=path), text=True,
                capture_output=True, timeout=60, check=False)
            told = (folder / "told").read_text(encoding="utf-8").splitlines()
            self.assertEqual(len(told), 2)
            for line, tool in zip(told, TESTS):
                self.assertIn(f"--tool {tool} --error-exitcode 9", line)
                self.assertIn("gpu_runtime_test", line)
                self.assertIn(TESTS[tool], line)
            return ran

    def test_tools_that_report_it(self):
        ran = self.go(SEEN, dict.fromkeys(SEEN, 9))
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_a_tool_that_sees_nothing(self):
        for blind in SEEN:
            ran = self.go(dict(SEEN, **{blind: "========= 0 errors"}),
                          dict(dict.fromkeys(SEEN, 9), **{blind: 0}))
            self.assertEqual(ran.returncode, 1)
            self.assertIn(f"{blind} did not report what was planted",
                          ran.stdout)

    def test_a_tool_that_fails_for_another_reason(self):
        for says, status in (("no device", 9), (SEEN["memcheck"], 0),
                             ("crashed", 139)):
            ran = self.go(dict(SEEN, memcheck=says),
                          {"memcheck": status, "racecheck": 9})
            self.assertEqual(ran.returncode, 1, says)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
