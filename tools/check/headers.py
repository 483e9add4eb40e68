"""Every header compiles alone, public ones with nothing but include/ on the
path. --quick leaves out those that see MLIR (seconds each). What passed is
remembered in build/check under a hash of the header and all it includes."""

import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys

import tree

LLVM = "/usr/lib/llvm-22/include"
GENERATED = tree.ROOT / "build" / "dev"
MEMORY = tree.ROOT / "build" / "check"
COMPILER = os.environ.get("CXX", "g++")


def locate(include):
    for root in (tree.ROOT, tree.ROOT / "include", GENERATED,
                 GENERATED / "include"):
        if (root / include).is_file():
            return root / include
    return None


def closure(path, seen):
    """Adds `path` and every file of ours that it includes to `seen`."""
    if path in seen:
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    seen[path] = text
    for include in re.findall(r'#\s*include\s+"([^"]+)"', text):
        found = locate(include)
        if found:
            closure(found, seen)


def compile_alone(name):
    """The first error line, or None."""
    public = name.startswith("include/")
    texts = {}
    closure(tree.ROOT / name, texts)
    key = hashlib.sha256(COMPILER.encode())
    for path in sorted(texts):
        key.update(f"{path.relative_to(tree.ROOT)}\0{texts[path]}".encode())
    mark = MEMORY / key.hexdigest()
    if mark.exists():
        return None
    is_c = name.startswith("include/azulejo/c/")
    flags = ["-x", "c", "-std=c11", "-pedantic-errors"] if is_c else \
        ["-x", "c++", "-std=c++20", "-fno-exceptions"]
    # Version.h is generated into the build's own include folder.
    paths = ["-Iinclude", f"-I{GENERATED}/include"]
    if not public:
        paths += ["-I.", f"-I{GENERATED}", "-isystem", LLVM]
    if not is_c and public:
        flags.remove("-fno-exceptions")
    include = re.sub(r"^include/", "", name)
    compiler = "gcc" if is_c and COMPILER == "g++" else COMPILER
    result = subprocess.run(
        [compiler, *flags, *paths, "-Wall", "-Wextra", "-Wno-unused-parameter",
         "-fsyntax-only", "-"], input=f'#include "{include}"\n', text=True,
        cwd=tree.ROOT, capture_output=True)
    if result.returncode == 0:
        MEMORY.mkdir(parents=True, exist_ok=True)
        mark.touch()
        return None
    errors = re.findall(r".*error: .*", result.stderr)
    return errors[0] if errors else result.stderr.strip()


def sees_mlir(name):
    texts = {}
    closure(tree.ROOT / name, texts)
    return any(re.search(r'#\s*include\s+"(mlir|llvm/(?!ADT|Support))', text)
               for text in texts.values())


def needs_build(name):
    """A generated header that this header includes and no build has made."""
    texts = {}
    closure(tree.ROOT / name, texts)
    generated = r'#\s*include\s+"([^"]+\.inc|azulejo/Version\.h)"'
    for text in texts.values():
        for include in re.findall(generated, text):
            if not locate(include) and not pathlib.Path(LLVM, include).exists():
                return include
    return None


def main(quick):
    names = [name for name in tree.files(".h") if name.split("/")[0] != "cmake"]
    chosen, left = [], 0
    for name in names:
        mlir = sees_mlir(name)
        missing = needs_build(name)
        if mlir and quick or missing:
            left += 1
            if missing and not quick:
                print(f"note: {name} needs {missing}: ./dev build first")
        else:
            chosen.append(name)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, error in zip(chosen, pool.map(compile_alone, chosen)):
            if error:
                tree.fail(name, 1, f"does not compile alone: {error}",
                          "include what it uses")
    print(f"{len(chosen)} header(s) compiled, {left} left out")
    tree.finish("headers")


if __name__ == "__main__":
    main("--quick" in sys.argv)
