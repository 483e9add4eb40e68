"""No notes to self without an issue, no paths of one machine, no hosts."""

import re

import tree

BINARY = (".png", ".jpg", ".bin", ".zst", ".safetensors", ".onnx")
# Where documents may point.
HOSTS = r"(?:www\.apache\.org|arxiv\.org|doi\.org|(?:[a-z]+\.)?llvm\.org)\b"

RULES = [
    (r"\b(?:TODO|FIXME|XXX)\b(?!\s*\(#\d+\))", "a note without an issue",
     "write NOTE(#123) with the issue's number, or do it now"),
    (r"(?<![\w.$}/])/(?:work|root|tmp|home/\w+)/[\w.]", "a path of one machine",
     "use a path relative to the repository or the build folder"),
    (r"https?://(?!" + HOSTS + r")[\w.-]+", "a host",
     "name the package or the paper, not where it is served"),
    (r"--(?:extra-)?index-url|--trusted-host|--find-links", "a registry option",
     "the machine's own configuration says where packages come from"),
]


def main():
    for name in tree.files():
        if name.endswith(BINARY) or name == "tools/check/notes.py":
            continue
        for number, line in enumerate(tree.read(name).splitlines(), 1):
            for pattern, what, hint in RULES:
                match = re.search(pattern, line)
                if match and not tree.exempt("notes", name):
                    tree.fail(name, number, f"{what}: {match.group()}", hint)
    tree.finish("notes")


if __name__ == "__main__":
    main()
