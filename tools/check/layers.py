"""Includes and link lines against the allowed arrows.

A folder may use itself and what ARROWS lists; everything else is forbidden.
"""

import re

import tree

IR_PLAIN = ["ir/opset", "ir/target", "ir/schedule"]
IR = IR_PLAIN + ["ir/graph", "ir/tile", "ir/kernel", "ir/scalar",
                 "ir/reference"]
PASSES = ["passes", "passes/graph", "passes/fusion", "passes/tiling",
          "passes/kernel", "passes/cpu"]
CODEGEN = ["codegen/ptx", "codegen/cpu", "codegen/assemble"]
AUTOTUNE = ["autotune", "autotune/search", "autotune/measure",
            "autotune/cache"]
RUNTIME = ["runtime", "runtime/plan", "runtime/cuda", "runtime/cpu"]
FRONTEND = ["frontend/graph", "frontend/import", "frontend/register",
            "frontend/driver", "frontend/api"]
ANY = ["*"]
TUNING = ["ir/schedule", "ir/target", "frontend/graph", "include"]

ARROWS = {
    "include": [],
    "ir/opset": ["include"],
    "ir/target": ["include"],
    "ir/schedule": ["ir/target", "include"],
    "ir/graph": ["ir/opset", "ir/target", "include", "mlir"],
    "ir/tile": ["ir/target", "include", "mlir"],
    "ir/kernel": ["ir/target", "include", "mlir"],
    "ir/scalar": ["include", "mlir"],
    "ir/reference": ["frontend/graph", "ir/opset", "include"],
    "frontend/graph": ["ir/opset", "include"],
    "frontend/import": ["frontend/graph", "ir/graph", "ir/opset", "include",
                        "mlir"],
    "frontend/register": IR + PASSES + CODEGEN + ["include", "mlir"],
    "frontend/driver": ANY,
    "frontend/api": ["frontend/graph", "ir/opset", "ir/target",
                     "ir/reference",
                     "autotune/cache", "include", "llvm-support"] + RUNTIME,
    "passes": IR + PASSES + ["include", "mlir"],
    "passes/graph": ["ir/graph", "ir/target", "ir/opset", "include", "mlir"],
    "passes/fusion": ["ir/graph", "ir/target", "ir/opset", "include", "mlir"],
    "passes/tiling": ["ir/graph", "ir/tile", "ir/schedule", "ir/target",
                      "ir/opset", "include", "mlir"],
    "passes/kernel": ["ir/tile", "ir/kernel", "ir/schedule", "ir/target",
                      "ir/opset", "include", "mlir"],
    "passes/cpu": ["ir/tile", "ir/schedule", "ir/target", "ir/opset",
                   "ir/scalar", "include", "mlir"],
    "codegen/ptx": ["ir/kernel", "ir/scalar", "ir/target", "include", "mlir"],
    "codegen/cpu": ["ir/target", "include", "mlir"],
    "codegen/assemble": ["include", "llvm-support"],
    "autotune": TUNING + AUTOTUNE + ["llvm-support"],
    "autotune/search": TUNING + ["llvm-support"],
    "autotune/cache": TUNING + ["llvm-support"],
    "autotune/measure": TUNING + ["llvm-support", "autotune/search"] + RUNTIME,
    "runtime/plan": ["include", "llvm-support"],
    "runtime": ["runtime/plan", "include", "llvm-support"],
    "runtime/cuda": ["runtime", "runtime/plan", "include"],
    "runtime/cpu": ["runtime", "runtime/plan", "include"],
    "tools/azulejo": ["include"],
    "tools/azulejo-opt": ["frontend/register", "mlir"],
    "tools/azulejo-worker": ["frontend/driver", "include"],
    "examples": ["include"],
    "tests/error": ["include"],
    "tests": ANY,
    "bench": ANY,
    "cmake": ["mlir"],
}


def area(path):
    """The longest key of ARROWS that holds `path`, or None."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        key = "/".join(parts[:length])
        if key in ARROWS:
            return key
    return None


def included_area(include):
    if include.startswith("azulejo/"):
        return "include"
    if re.match(r"llvm/(ADT|Support|Config)/", include):
        return "llvm-support"
    if include.startswith(("mlir/", "llvm/", "lld/", "clang/")):
        return "mlir"
    return area(include) if "/" in include else None


def allowed(source, target):
    arrows = ARROWS[source]
    if source == target or arrows == ANY or target in arrows:
        return True
    # What sees MLIR sees LLVM's Support library, too.
    return target == "llvm-support" and "mlir" in arrows


def check(name, line, source, target, what):
    if source and target and not allowed(source, target):
        may = ", ".join(ARROWS[source]) or "nothing"
        tree.fail(name, line, f"{source} may not use {target} ({what})",
                  f"{source} may use: {may}; a new arrow needs an ADR")


def check_includes():
    for name in tree.files(".cpp", ".h", ".td", ".def"):
        source = area(name)
        if source is None:
            tree.fail(name, 1, "this folder has no row in ARROWS",
                      "add it to tools/check/layers.py with its arrows")
            continue
        for number, text in enumerate(tree.read(name).splitlines(), 1):
            match = re.match(r'\s*(?:#\s*)?include\s+["<]([^">]+)[">]', text)
            if match:
                check(name, number, source, included_area(match.group(1)),
                      match.group(1))


def check_links():
    libraries = {}
    calls = []
    for name in tree.files("CMakeLists.txt"):
        folder = name.rpartition("/")[0]
        text = re.sub(r"#[^\n]*", "", tree.read(name))
        for match in re.finditer(r"\b(\w+)\s*\(([^()]*)\)", text, re.S):
            words = match.group(2).split()
            line = text.count("\n", 0, match.start()) + 1
            if re.fullmatch(r"azulejo_(mlir_)?library|add_library",
                            match.group(1)) and words:
                libraries.setdefault(words[0], folder)
            calls.append((name, line, folder, match.group(1), words))
    for name, line, folder, command, words in calls:
        if "LINKS" in words:
            words = words[words.index("LINKS") + 1:]
        elif command == "target_link_libraries":
            words = words[1:]
        else:
            continue
        for word in words:
            if word in ("azulejo", "azulejo::azulejo"):
                # The product itself, which shows include/ and nothing else.
                check(name, line, area(folder), "include", word)
            elif word in libraries:
                check(name, line, area(folder), area(libraries[word]), word)
            elif word == "azulejo_mlir":
                check(name, line, area(folder), "mlir", word)


if __name__ == "__main__":
    check_includes()
    check_links()
    tree.finish("layers")
