"""Every error that a user may see says what to do: makeError() is given a hint,
unless the error is Internal, which is our bug. And the rule it names is a label,
`area.name`, which programs may compare and documents may list."""

import re

import tree

# The function, and how many arguments it takes with a hint.
CALLS = re.compile(r"\b(?:(makeError)|cx\.(fail))\(")
ARGUMENTS = {"makeError": 5, "fail": 3}
# A rule that is written out.
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
LABEL = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)+")
# A function of its own that makes errors must not leave the hint out by default.
DEFAULT = re.compile(r"std::string(?:_view)?(?: \w*|&\w* | &\w*)? ?hint = (\{\}|\"\")")


def arguments(text, start):
    """The arguments of a call whose '(' ends at start."""
    depth, found, begin, quote = 1, [], start, None
    i = start
    while i < len(text):
        c = text[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = None
        elif c in "\"'":
            # A digit separator is no quotation mark.
            if c == '"' or not text[i - 1].isdigit():
                quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                found.append(text[begin:i].strip())
                return found
        elif c == "," and depth == 1:
            found.append(text[begin:i].strip())
            begin = i + 1
        i += 1
    return found


def without_comments(text):
    return re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), text)


def main():
    for name in tree.files(".cpp", ".h"):
        if name.startswith(("tests/", "bench/", "examples/")):
            continue
        text = without_comments(tree.read(name))
        for call in CALLS.finditer(text):
            line = text.count("\n", 0, call.start()) + 1
            given = arguments(text, call.end())
            function = call.group(1) or call.group(2)
            if given and given[0].startswith("ErrorCode code"):
                continue  # its definition
            rule = LITERAL.fullmatch(given[3]) if len(given) > 3 else None
            if function == "makeError" and rule and \
                    not LABEL.fullmatch(rule.group(1)):
                tree.fail(name, line, f"the rule {rule.group()} is no label",
                          "name it area.name, and say the rest in the message")
            if given and given[0].endswith("ErrorCode::Internal"):
                continue
            if tree.exempt("hints", name):
                continue
            if len(given) < ARGUMENTS[function] or given[-1] in ("{}", '""'):
                tree.fail(name, line, f"{function}() without a hint",
                          "say what the user can do about it")
    tree.finish("hints")


if __name__ == "__main__":
    main()
