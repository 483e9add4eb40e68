"""What the check scripts share: the list of files, exemptions, reports."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Folders whose C++ ends up in the product's libraries.
LIBRARIES = ("include", "ir", "frontend", "passes", "codegen", "autotune",
             "runtime")

_violations = []
_used = set()


def files(*suffixes):
    """Tracked files (all files where there is no git), as posix strings."""
    try:
        listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT,
                                 capture_output=True, check=True).stdout
        names = listing.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        paths = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
        names = [path.as_posix() for path in paths
                 if path.parts[0] not in (".git", "build")
                 and "__pycache__" not in path.parts]
    return sorted(name for name in names
                  if name and (ROOT / name).is_file()
                  and (not suffixes or name.endswith(suffixes)))


def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def in_library(name):
    return name.split("/")[0] in LIBRARIES


def without_comments(text):
    """Blanks comments but keeps line numbers and strings."""
    pattern = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'
    return re.sub(
        pattern,
        lambda m: m.group() if m.group()[0] == '"'
        else re.sub(r"[^\n]", " ", m.group()),
        text, flags=re.S)


def _exemptions():
    table = {}
    for line in read("tools/check/exemptions.txt").splitlines():
        if line and not line.startswith("#"):
            check, subject, reason = line.split(None, 2)
            table[check, subject] = reason
    return table


def exempt(check, subject):
    """Whether exemptions.txt lets `subject` off. Unused lines are reported."""
    found = (check, subject) in _exemptions()
    if found:
        _used.add((check, subject))
    return found


def fail(name, line, message, hint):
    _violations.append((name, line, message, hint))


def finish(check):
    """Prints the violations and exits."""
    for key in sorted(set(_exemptions()) - _used):
        if key[0] == check:
            fail("tools/check/exemptions.txt", 1,
                 f"'{key[0]} {key[1]}' exempts nothing", "remove the line")
    for name, line, message, hint in sorted(_violations):
        print(f"{name}:{line}: {message}\n    hint: {hint}")
    print(f"{check}: {len(_violations)} violation(s)")
    sys.exit(1 if _violations else 0)
