"""Words that are not used here, each with its reason and its replacement."""

import dataclasses
import re
import typing

from .layers import ROOMS
from .source import Finding

SELF = ("tools/tidy_checks/", "tests/tidy/")  # The files that have to write the words down.


@dataclasses.dataclass(frozen=True)
class Ban:
    pattern: str
    applies: typing.Callable
    why: str
    instead: str


def is_library(file):
    inside = file.path.startswith(("src/", "include/")) and not file.is_test
    return inside and (file.layer or "").split("/")[0] not in ("surface", "app")


def may_read_the_wall_clock(file):
    layer = file.layer or ""
    loops = ("asio_loop.cc", "epoll_loop.cc")
    return layer == "app" or file.name in loops or file.path.startswith("bench/")


BANS = [
    Ban(r"\bstd::(cout|cerr|clog)\b", is_library,
        "standard output belongs to the program, not to a library",
        "return a value, or report through a port"),
    Ban(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep(?=\())", lambda f: f.is_test,
        "a test that sleeps is slow when it passes and wrong when the machine is busy",
        "wait for the event itself, or use a clock that the test moves"),
    Ban(r"\busing namespace\b", lambda f: f.name.endswith(".h"),
        "it reaches everyone who includes the header", "name what is used"),
    Ban(r"\bsystem_clock::now\b", lambda f: not may_read_the_wall_clock(f),
        "time that is not passed in cannot be replayed or tested", "use the clock port"),
    Ban(r"\bco_(?:await|return|yield)\b", lambda f: True,
        "g++ 12, the reference compiler, miscompiles coroutines",
        "use callbacks into a small state machine"),
    Ban(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?\w*(?:Manager|Helper|Utils?)\b", lambda f: True,
        "the suffix says nothing about what the type holds", "name the noun that it is"),
]
MARKS = re.compile(r"\b(TODO|FIXME|XXX)\b")
CATCH_ALL = re.compile(r"\bcatch\s*\(\s*\.\.\.\s*\)")


def banned(tree):
    for file in tree.files:
        if file.path.startswith(SELF):
            continue
        for match in MARKS.finditer(file.text):
            yield Finding("words", file.path, file.line_of(match.start()), f"a {match.group()}",
                          "nobody comes back to it", "do it now, or write an issue")
        if file.is_cpp:
            yield from banned_in_code(file)


def banned_in_code(file):
    for ban in filter(lambda b: b.applies(file), BANS):
        for match in re.finditer(ban.pattern, file.code):
            yield Finding("words", file.path, file.line_of(match.start()),
                          " ".join(match.group().split()), ban.why, ban.instead)
    for match in CATCH_ALL.finditer(file.code):
        line = file.line_of(match.start())
        if not any("//" in near for near in file.lines[max(0, line - 2):line + 1]):
            yield Finding("words", file.path, line, "catch (...) without a comment",
                          "swallowing every error needs a reason",
                          "say beside it why nothing is lost, or catch what is meant")


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Identifiers that a layer has no business with."""
    applies: typing.Callable
    identifier: str
    why: str
    instead: str


def part(*words):
    """An identifier with one of the words in it: tool, tool_name, ToolName, but not toolbox."""
    snake = "|".join(words)
    camel = "|".join(w.capitalize() for w in words)
    return rf"(?:\w*_)?(?:{snake})s?(?:_\w*)?|\w*(?:{camel})s?(?:[A-Z]\w*)?"


VOCABULARIES = [
    Vocabulary(lambda f: f.layer == "base" and not f.is_test,
               # A run of bytes may be called one: only the noun itself is the domain's.
               r"runs?|run_ids?|Runs?|RunId|" + part("charter", "agent", "tool", "model"),
               "base knows no domain, so that every layer can stand on it",
               "name the mechanism, or move it to the kernel"),
    Vocabulary(lambda f: (f.layer or "").startswith("testing/executor_"),
               part("campaign", "lane", "guardrail", "charter"),
               "an executor speaks to a provider and knows no workflow",
               "pass what it needs in the request"),
    Vocabulary(lambda f: f.layer in ROOMS and not f.is_test,
               r"\w*[Bb]ackoff\w*|retry_\w*|\w*_retry|kRetry\w*|attempts_max|\w+_limit",
               "a room performs; the kernel decides about retries and limits",
               "make it an event and let the kernel decide"),
]
# Identifiers that match a vocabulary and are right all the same, each with its reason.
ALLOWED = {
    ("room", "set_limit"): "sets a value of the kernel's Limits and decides nothing",
    ("room", "rate_limit"): "the name of a wait reason that the kernel chose",
    ("room", "retry_after_ms"): "a provider's word, carried into an event",
}


def vocabulary(tree):
    for file in tree.cpp:
        for words in filter(lambda v: v.applies(file), VOCABULARIES):
            for match in re.finditer(rf"\b(?:{words.identifier})\b", file.code):
                layer = "room" if file.layer in ROOMS else file.layer
                if (layer, match.group()) in ALLOWED:
                    continue
                yield Finding("vocabulary", file.path, file.line_of(match.start()),
                              f"{file.layer} says {match.group()}", words.why, words.instead)


BOOL_PARAMETER = re.compile(r"[(,]\s*(?:const\s+)?bool\b")


def bool_parameters(tree):
    for file in tree.sources:
        if file.layer != "port" or not file.name.endswith(".h"):
            continue
        for match in BOOL_PARAMETER.finditer(file.code):
            yield Finding("bool-parameter", file.path, file.line_of(match.end()),
                          "a bool parameter of a port", "f(true) says nothing where it is called",
                          "an enum class with two names")


MACHINE_PATH = re.compile(r"(?<![\w.$}/*-])/(?:home|work|Users|root)/\w+")
REGISTRY = re.compile(r"\b(?:registry|mirror|artifactory|nexus|pypi|npm|deb)\.[\w-]+\.[a-z]{2,}\b")


def machine_paths(tree):
    for file in tree.files:
        if file.path.startswith(SELF):
            continue
        for pattern, what in ((MACHINE_PATH, "a path of one machine"),
                              (REGISTRY, "a registry's host name")):
            for match in pattern.finditer(file.text):
                yield Finding("machine", file.path, file.line_of(match.start()),
                              f"{what}, {match.group()}", "it is not there on the next machine",
                              "a relative path, or a setting of the user's system")
