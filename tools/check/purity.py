"""What library code must not contain: numbers of GPU generations outside the
target table, environment variables, global options, fatal errors."""

import re

import tree

COMPARES = r"""(?ix)
    \b(?:\w*compute_?capability|\w*capability|sm|sm_?(?:number|version|arch))
    \w*(?:\(\))?\s*(?:[<>]=?|==|!=|/|%)\s*\d
  | \d\s*(?:[<>]=?|==|!=)\s*\w*(?:capability|sm_?version)"""

# name, pattern, paths that may, hint
RULES = [
    ("a GPU generation by number", COMPARES,
     ("ir/target/", "codegen/ptx/arch/"),
     "ask TargetDesc for the feature or the limit"),
    ("a GPU generation by name", r'"(?:[^"\n]*\W)?sm_\d',
     ("ir/target/", "codegen/ptx/arch/", "frontend/driver/",
      "codegen/assemble/"),
     "ask TargetDesc for the feature or the limit"),
    ("the environment", r"\b(?:secure_)?getenv\s*\(|\bputenv\s*\(|\bsetenv\s*\(",
     ("frontend/api/Environment.cpp",),
     "take it as an option; frontend/api/Environment.cpp fills options in"),
    ("a global option", r"\bcl::(?:opt|list|bits)\b", (),
     "make it a field of an options struct, so that it is in the cache key"),
    ("a fatal error", r"\breport_fatal_\w*error\s*\("
     r"|\b(?:std::)?(?:abort|exit|_exit|terminate)\s*\(\)?", (),
     "return an Error; assert is for our own invariants"),
    ("a statistic of a pass", r"\bStatistic\s*<", (),
     "packaged LLVM has none, and its constructor leaves ours uninitialised "
     "where assertions are on; leave a note or a remark"),
    ("fork", r"(?<![\w.>:])fork\s*\(\s*\)", (), "use posix_spawn"),
]


def main():
    for name in tree.files(".cpp", ".h", ".td"):
        if not tree.in_library(name):
            continue
        text = tree.without_comments(tree.read(name))
        for what, pattern, may, hint in RULES:
            if name.startswith(may) if may else False:
                continue
            for match in re.finditer(pattern, text):
                line = text.count("\n", 0, match.start()) + 1
                if not tree.exempt("purity", f"{name}:{what.split()[-1]}"):
                    tree.fail(name, line, f"library code uses {what}: "
                              f"{match.group().strip()}", hint)
    tree.finish("purity")


if __name__ == "__main__":
    main()
