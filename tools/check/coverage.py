"""Every op, rule, pass, knob, target and CLI verb is named in a test."""

import re

import tree


def test_text(*suffixes):
    return {name: tree.read(name) for name in tree.files(*suffixes)
            if name.startswith("tests/")}


TESTS = test_text(".cpp", ".h", ".mlir", ".test", ".py", ".txt", ".c", ".td")
ALL = "\n".join(TESTS.values())


def demand(check_name, found, name, line, what, hint):
    if not found and not tree.exempt("coverage", check_name):
        tree.fail(name, line, f"no test names {what}", hint)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


# ---- ops and their rules ----------------------------------------------------

def bodies(text):
    """Functions of a file: name -> body."""
    return {match.group(1): match.group(2) for match in re.finditer(
        r"^[\w:<>&* ]+?\b(\w+)\([^;{}]*\)\s*\{\n(.*?)^\}", text,
        re.S | re.M)}


def labels(function, functions, seen=()):
    """Labels that `function`, or what it calls in its file, can raise."""
    if function not in functions or function in seen:
        return set()
    body = functions[function]
    found = set(re.findall(r'\bfail\(\s*"(\w+)"', body))
    for callee in re.findall(r"\b(\w+)\(", body):
        found |= labels(callee, functions, (*seen, function))
    return found


def registered(text):
    """(op, inference function, position) of a file of rules."""
    for match in re.finditer(r"ops\.push_back\(\s*\{(.*?)\b(infer\w+)\s*\}\)",
                             text, re.S):
        name = re.match(r'\s*"(\w+)"', match.group(1))
        if name:
            yield name.group(1), match.group(2), match.start()
            continue
        loop = re.findall(r"for \(const char \*name\s*:\s*\{([^}]*)\}",
                          text[:match.start()])[-1]
        for op in re.findall(r'"(\w+)"', loop):
            yield op, match.group(2), match.start()


def broken_in_tests():
    """Rules that the table of broken ops provokes, as (op, label)."""
    text = "\n".join(text for name, text in TESTS.items()
                     if name.endswith(".cpp"))
    found = set(re.findall(r'\{\s*"(\w+)",\s*"(C\d+)"', text))
    found |= set(re.findall(r'\b(attention|slice)\("(C\d+)"', text))
    for names, body in re.findall(
            r"for \(const char \*op\s*:\s*\{([^}]*)\}\)\s*\{(.*?)\n  \}", text,
            re.S):
        for label in re.findall(r'\{op,\s*"(C\d+)"', body):
            found |= {(op, label) for op in re.findall(r'"(\w+)"', names)}
    found |= set(re.findall(r"\b([a-z]\w*)\.(C\d+)\b", ALL))
    return found


def check_ops():
    broken = broken_in_tests()
    count = 0
    for name in tree.files(".cpp"):
        if not name.startswith("ir/opset/"):
            continue
        text = tree.read(name)
        functions = bodies(text)
        for op, function, position in registered(text):
            line = line_of(text, position)
            count += 1
            demand(op, f'"{op}"' in ALL, name, line, f"op '{op}'",
                   "add it to OpsetTest.cpp; see docs/checklists/graph-op.md")
            for label in sorted(labels(function, functions)):
                demand(f"{op}.{label}", (op, label) in broken, name, line,
                       f"rule '{op}.{label}'",
                       "break it in ConstraintTest.cpp")
    if count == 0:
        tree.fail("ir/opset/Opset.cpp", 1, "no op was found",
                  "teach tools/check/coverage.py the new way to list ops")


def check_rules():
    """Rule names that are written out: makeError(..., "graph.size", ...)."""
    for name in tree.files(".cpp", ".h"):
        if not tree.in_library(name) or name.startswith("ir/opset/"):
            continue
        text = tree.without_comments(tree.read(name))
        for match in re.finditer(r"\bmakeError\(([^;]*);", text):
            for rule in re.findall(r'"([a-z]+\.[A-Za-z]\w*)"',
                                   match.group(1)):
                demand(rule, rule in ALL, name,
                       line_of(text, match.start()), f"rule '{rule}'",
                       "add a test that breaks it and checks Error::rule")


# ---- passes, knobs, targets, verbs ------------------------------------------

def check_passes():
    lit = "\n".join(text for name, text in TESTS.items()
                    if name.startswith("tests/lit/"))
    for name in tree.files(".td"):
        text = tree.without_comments(tree.read(name))
        for match in re.finditer(r'Pass<\s*"([\w-]+)"', text):
            demand(match.group(1),
                   re.search(rf"-{match.group(1)}(?![\w-])|"
                             rf"\b{match.group(1)}(?![\w-])", lit),
                   name, line_of(text, match.start()),
                   f"pass '{match.group(1)}'",
                   "add a lit test under tests/lit/ that runs it")


def check_tables():
    tables = [("ir/schedule/", r"^(?:AZULEJO_)?KNOB\(\s*\"?(\w+)", "knob"),
              ("ir/target/", r"^AZULEJO_(?:GPU|CPU|GENERATION)\(\s*\"([\w-]+)",
               "target")]
    for folder, pattern, what in tables:
        for name in tree.files(".def"):
            if not name.startswith(folder):
                continue
            text = tree.read(name)
            for match in re.finditer(pattern, text, re.M):
                entry = match.group(1)
                demand(entry, re.search(rf"(?<![\w-]){entry}(?![\w-])", ALL),
                       name, line_of(text, match.start()),
                       f"{what} '{entry}'", f"use the {what} in a test")


def check_verbs():
    for name in tree.files(".cpp"):
        match = re.fullmatch(r"tools/azulejo/commands/(\w+)\.cpp", name)
        if not match:
            continue
        verb = match.group(1).lower()
        demand(verb, re.search(rf"azulejo\b[^\n]{{0,60}}[\s'\"]{verb}\b", ALL),
               name, 1, f"the verb 'azulejo {verb}'",
               "add a lit test of its output, exit code and a bad flag")


if __name__ == "__main__":
    check_ops()
    check_rules()
    check_passes()
    check_tables()
    check_verbs()
    tree.finish("coverage")
