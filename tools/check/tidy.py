"""What clang-tidy says (.clang-tidy) about the lines that differ from where the
branch left main, committed or not. Code that was there before is left alone.

Needs clang-tidy-22 and a build's compile_commands.json; says so and passes where
one is missing."""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess

import tree

DATABASES = ["build/dev", "build"]
FOUND = re.compile(r"^(.*?):(\d+):\d+: (?:warning|error): (.*)$")


def git(*arguments):
    result = subprocess.run(["git", *arguments], cwd=tree.ROOT,
                            capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def changed_lines():
    """file -> [[first, last]...] of added or changed lines; None: no git."""
    for main in ("origin/main", "main"):
        base = git("merge-base", main, "HEAD")
        if base:
            break
    diff = base and git("diff", "-U0", "--no-ext-diff", base.strip(), "--",
                        "*.cpp", "*.h")
    if diff is None:
        return None
    lines, name = {}, None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line[len("+++ b/"):] if line != "+++ /dev/null" else None
        match = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if match and name:
            count = int(match.group(2) or 1)
            if count:
                first = int(match.group(1))
                lines.setdefault(name, []).append([first, first + count - 1])
    return lines


def run(tool, database, name, line_filter):
    result = subprocess.run(
        [tool, "-p", database, "--quiet", f"--line-filter={line_filter}", name],
        cwd=tree.ROOT, capture_output=True, text=True)
    return result.stdout


def skip(why):
    print(f"tidy: skipped: {why}")


def main():
    tool = shutil.which("clang-tidy-22")
    if not tool:
        return skip("clang-tidy-22 is not installed")
    database = next((path for path in DATABASES if
                     (tree.ROOT / path / "compile_commands.json").exists()),
                    None)
    if not database:
        return skip("no build has a compile_commands.json; ./dev build")
    lines = changed_lines()
    if lines is None:
        return skip("there is no main to compare with")
    commands = json.loads(tree.read(database + "/compile_commands.json"))
    built = {os.path.relpath(os.path.join(c["directory"], c["file"]), tree.ROOT)
             for c in commands}
    sources = sorted(name for name in lines if name in built
                     and name.split("/")[0] in (*tree.LIBRARIES, "tools"))
    line_filter = json.dumps([{"name": name, "lines": ranges}
                              for name, ranges in lines.items()])
    seen = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for text in pool.map(lambda name: run(tool, database, name, line_filter),
                             sources):
            for line in text.splitlines():
                match = FOUND.match(line)
                if not match or match.groups() in seen:
                    continue
                seen.add(match.groups())
                path = os.path.relpath(match.group(1), tree.ROOT)
                tree.fail(path, int(match.group(2)), match.group(3),
                          "change it, or exclude the check in .clang-tidy and "
                          "say why")
    print(f"{len(sources)} changed source(s) looked at")
    tree.finish("tidy")


if __name__ == "__main__":
    main()
