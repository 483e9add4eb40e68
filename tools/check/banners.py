"""File banners and header guards; --fix makes banners 80 columns wide."""

import re
import sys

import tree

LICENCE = "Part of azulejo, under Apache-2.0 WITH LLVM-exception."


def guard(name):
    path = re.sub(r"^include/", "", name)
    path = re.sub(r"^azulejo/", "", path)
    return "AZULEJO_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper()


def fit(first):
    """The banner's first line with as many dashes as make 80 columns."""
    match = re.fullmatch(r"(//===- .*?) ?-*((?:\*- C\+\+ -\*)?-*)===//", first)
    if not match:
        return first
    mark = "*- C++ -*-" if "C++" in match.group(2) else ""
    head = match.group(1).rstrip("- ")
    dashes = 80 - len(head) - 1 - len(mark) - len("===//")
    if dashes < 1:  # a long description leaves no room for the mark
        dashes, mark = dashes + len(mark), ""
    return f"{head} {'-' * dashes}{mark}===//" if dashes >= 0 else first


def check_banner(name, lines, fix):
    base = name.rpartition("/")[2]
    first = lines[0] if lines else ""
    if fix and first.endswith("*- C++") and lines[1] == "//-*-===//":
        # The formatter wrapped a banner that was too wide.
        first += " -*-===//"
        lines[:2] = [first]
    if fix and fit(first) != first:
        lines[0] = first = fit(first)
        (tree.ROOT / name).write_text("\n".join(lines) + "\n",
                                      encoding="utf-8")
    # C headers have a block comment, since C89 has no other.
    if not re.match(rf"(?://|/\*)===- (?:[\w/.-]*/)?{re.escape(base)} - ",
                    first) or not re.search(r"===(//|\*\\)$", first):
        tree.fail(name, 1, "no banner",
                  f"//===- {base} - what it is ---===//, 80 columns")
    elif len(first) != 80:
        tree.fail(name, 1, f"the banner is {len(first)} columns wide, not 80",
                  "./dev check --fix")
    if not any(LICENCE in line for line in lines[:80]):
        tree.fail(name, 1, "the banner has no licence line", f"// {LICENCE}")


def main(fix):
    for name in tree.files(".cpp", ".h", ".td", ".def"):
        if tree.exempt("banners", name):
            continue
        lines = tree.read(name).splitlines()
        check_banner(name, lines, fix)
        if not name.endswith(".h"):
            continue
        want = guard(name)
        directives = [(number, line.split()) for number, line
                      in enumerate(lines, 1) if line.startswith("#")]
        good = (len(directives) > 1
                and directives[0][1] == ["#ifndef", want]
                and directives[1][1] == ["#define", want])
        if not good:
            number = directives[0][0] if directives else 1
            tree.fail(name, number, "wrong header guard",
                      f"#ifndef {want}, #define {want} come first")
    tree.finish("banners")


if __name__ == "__main__":
    main("--fix" in sys.argv)
