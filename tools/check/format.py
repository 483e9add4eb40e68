"""clang-format over every C++ file; --fix rewrites them."""

import re
import shutil
import subprocess
import sys

import tree


def main(fix):
    tool = shutil.which("clang-format-22")
    if tool is None:
        tree.fail(".clang-format", 1, "clang-format-22 is not installed",
                  "./dev setup")
        tree.finish("format")
    names = tree.files(".cpp", ".h")
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    for start in range(0, len(names), 100):
        result = subprocess.run([tool, *mode, *names[start:start + 100]],
                                cwd=tree.ROOT, capture_output=True, text=True)
        last = None
        for match in re.finditer(r"^(\S+?):(\d+):\d+: error: (.*)$",
                                 result.stderr, re.M):
            if match.group(1) != last:
                last = match.group(1)
                tree.fail(last, int(match.group(2)), "not formatted",
                          f"{tool.rpartition('/')[2]} -i {last}, "
                          "or ./dev check --fix")
        if result.returncode and last is None:
            tree.fail(".clang-format", 1, result.stderr.strip(),
                      "the formatter itself failed")
    tree.finish("format")


if __name__ == "__main__":
    main("--fix" in sys.argv)
