"""Budgets: lines per file and per function.

A function over the soft budget is listed with --verbose; over the hard one it
is a violation. In our formatting a function at namespace scope starts and
ends in column 0, which is all the parsing this needs.
"""

import re
import sys

import tree

# suffix: (soft, hard)
FILES = {".cpp": (400, 800), ".h": (250, 250), ".td": (300, 300),
         ".py": (300, 400)}
FUNCTION = (60, 120)
SCOPES = r"(namespace|struct|class|enum|union|extern)\b"


def functions(lines):
    """Yields (first line, length) of the functions at namespace scope."""
    first = None  # of the declaration that we are in
    body = False
    for number, line in enumerate(lines, 1):
        if line.startswith("}"):
            if line == "}" and body:
                yield first, number - first + 1
            first, body = None, False
        elif first is None and re.match(r"[A-Za-z_\[~]", line):
            first = number
        if first is not None and not body:
            if line.endswith("{"):
                body = not re.match(SCOPES, lines[first - 1])
                first = first if body else None
            elif line.endswith((";", "}")):
                first = None


def main(verbose):
    over = 0
    for name in tree.files(*FILES):
        suffix = "." + name.rpartition(".")[2]
        soft, hard = FILES[suffix]
        lines = tree.read(name).splitlines()
        if len(lines) > hard and not tree.exempt("sizes", name):
            tree.fail(name, len(lines), f"{len(lines)} lines, budget {hard}",
                      "split by idea, or exempt it with a reason")
        elif len(lines) > soft and verbose:
            print(f"note: {name} has {len(lines)} lines, aim for {soft}")
        if suffix not in (".cpp", ".h"):
            continue
        for first, length in functions(lines):
            if length > FUNCTION[1] and not tree.exempt(
                    "sizes", f"{name}:{first}"):
                tree.fail(name, first,
                          f"a function of {length} lines, at most "
                          f"{FUNCTION[1]}", "name its steps as functions")
            elif length > FUNCTION[0]:
                over += 1
                if verbose:
                    print(f"note: {name}:{first} is {length} lines long")
    print(f"{over} function(s) between {FUNCTION[0]} and {FUNCTION[1]} lines")
    tree.finish("sizes")


if __name__ == "__main__":
    main("--verbose" in sys.argv)
