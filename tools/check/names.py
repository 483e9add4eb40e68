"""Names of files and folders."""

import re

import tree

FORBIDDEN = r"(?i)(utils?|helpers?|common|misc|manager)$"


def check(name):
    *folders, base = name.split("/")
    stem, _, suffix = base.rpartition(".")
    for folder in folders:
        if not re.fullmatch(r"\.?[a-z0-9][a-z0-9_.-]*", folder):
            return f"folder '{folder}' is not lower case", "rename it"
    if suffix not in ("cpp", "h", "td", "def", "mlir"):
        return None
    # CamelCase words: "FusionUtils" ends in one, "Commonality" does not.
    last = re.split(r"(?<=[a-z0-9])(?=[A-Z])|[-_]", stem)[-1]
    if re.match(FORBIDDEN, last) and not tree.exempt("names", name):
        return f"'{stem}' names no idea", "name the file after what it holds"
    if suffix == "mlir":
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", stem):
            return f"'{base}' is not kebab case", "write-it-like-this.mlir"
    elif name.startswith("include/azulejo/c/"):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", stem):
            return f"'{base}' is not lower case", "C headers are lower case"
    elif folders[:1] == ["tools"] and stem == folders[-1]:
        pass  # a program may be one file with its own name
    elif not re.fullmatch(r"main|[A-Z][A-Za-z0-9]*|[a-z0-9_]+", stem):
        return f"'{base}' is neither CamelCase nor lower case", "CamelCase.cpp"
    elif tree.in_library(name) and not stem[0].isupper():
        return f"'{base}' is not CamelCase", "name it after its main entity"
    return None


def main():
    for name in tree.files():
        problem = check(name)
        if problem:
            tree.fail(name, 1, *problem)
    tree.finish("names")


if __name__ == "__main__":
    main()
