"""Every .cpp is built: the CMakeLists.txt of its folder, or of the nearest
folder above that has one, names it."""

import re

import tree


def listed(name, lists):
    folder, _, base = name.rpartition("/")
    inner = base
    while folder:
        text = lists.get(folder + "/CMakeLists.txt")
        if text is not None:
            stem = re.escape(inner[:-len(".cpp")])
            return folder, bool(
                re.search(rf"(?<![\w/]){stem}(\.cpp)?(?![\w/.])", text)
                or re.search(r"GLOB[^)]*\*\.cpp", text) and inner == base)
        folder, _, last = folder.rpartition("/")
        inner = f"{last}/{inner}"
    return "", False


def main():
    lists = {name: re.sub(r"#[^\n]*", "", tree.read(name))
             for name in tree.files("CMakeLists.txt")}
    for name in tree.files(".cpp"):
        folder, found = listed(name, lists)
        if not found and not tree.exempt("sources", name):
            why = f"{folder}/CMakeLists.txt does not name it" if folder \
                else "no folder above it has a CMakeLists.txt"
            tree.fail(name, 1, f"not built: {why}",
                      "add it to SOURCES, or delete it")
    tree.finish("sources")


if __name__ == "__main__":
    main()
