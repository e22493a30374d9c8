"""Mutation operators: small edits of C++ text, each a bug that an engineer could write.

`sites(text)` lists every place where an operator applies, in order. Comments, string literals,
preprocessor lines and assertions are left alone: an edit there is no bug of the program."""

import re
from typing import NamedTuple


class Site(NamedTuple):
    start: int  # offset of what is replaced
    end: int
    new: str
    operator: str


# What no operator may touch: comments, literals, preprocessor lines, assertions.
OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)\""
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:\\\n|[^\n])*|\b(?:static_assert|PAWL_ASSERT)\([^;]*;",
    re.S | re.M)

# (operator, pattern, replacement): the group named `x` is replaced.
REPLACED = [
    ("boundary", r" (?P<x><=) ", "<"),
    ("boundary", r" (?P<x>>=) ", ">"),
    ("boundary", r"(?<!template) (?P<x><) (?=\S)", "<="),
    ("boundary", r"(?<=[\w)\]]) (?P<x>>) (?=[\w(])", ">="),
    ("equality", r" (?P<x>==) ", "!="),
    ("equality", r" (?P<x>!=) ", "=="),
    ("junction", r" (?P<x>&&) ", "||"),
    ("junction", r" (?P<x>\|\|) ", "&&"),
    ("truth", r"\b(?P<x>true)\b", "false"),
    ("truth", r"\b(?P<x>false)\b", "true"),
    ("extreme", r"\bstd::(?P<x>min)\b(?=[<(])", "max"),
    ("extreme", r"\bstd::(?P<x>max)\b(?=[<(])", "min"),
    ("sign", r"(?<=[\w)\]]) (?P<x>\+) (?=[\w(])", "-"),
    ("sign", r"(?<=[\w)\]]) (?P<x>-) (?=[\w(])", "+"),
    ("sign", r"(?P<x>\+\+)(?=\w)", "--"),
    ("one_off", r"(?<=[ (])(?P<x>1)(?=[;),])", "2"),
    ("one_off", r"(?<=[ (])(?P<x>0)(?=[;),])", "1"),
    ("condition", r"(?<!constexpr )(?<!\w)if \((?P<x>)(?=!)", "!"),
]
# A statement that is a call, an assignment or a step, on a line of its own.
STATEMENT = re.compile(
    r"^[ ]+(?P<x>(?!(?:return|const|auto|using|case|break|continue|delete|else)\b|PAWL_)"
    r"[a-z_][\w.>-]*(?:\([^;{}]*\)| (?:\+=|-=|=) [^;{}]*);)$", re.M)
CONDITION = re.compile(r"(?<!constexpr )(?<!\w)if \((?P<x>[^()!;]*(?:\([^();]*\)[^()!;]*)*)\) ")


def masked(text):
    """The same text with everything opaque blanked out, so that offsets stay."""
    return OPAQUE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def sites(text):
    plain = masked(text)
    found = []
    for operator, pattern, new in REPLACED:
        for match in re.finditer(pattern, plain):
            found.append(Site(match.start("x"), match.end("x"), new, operator))
    for match in CONDITION.finditer(plain):
        if not re.search(r"&&|\|\|| = ", match["x"]):
            start, end = match.span("x")
            found.append(Site(start, end, f"!({text[start:end]})", "condition"))
    for match in STATEMENT.finditer(plain):
        # Not the rest of a statement that began on an earlier line.
        begins = re.search(r"(?:[;{}:]|\A)\s*\Z", plain[:match.start()])
        if begins and match["x"].count("(") == match["x"].count(")"):
            found.append(Site(match.start("x"), match.end("x"), ";", "left_out"))
    return sorted(set(found))


def mutate(text, site):
    return text[:site.start] + site.new + text[site.end:]
