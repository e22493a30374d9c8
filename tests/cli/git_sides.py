"""The two sides of a repository, thing by thing: what a session sees, and what the operator has.

STATE prints a repository in sections. Sides compares two such texts; what differs must have been
said, by name, in the output of a call. A thing that agrees again needs a new word the next time.
"""

import re

# Remote-tracking refs, replacements and monitors are the session's own affair.
STATE = ("export GIT_NO_REPLACE_OBJECTS=1; git() { command git -c core.fsmonitor=false \"$@\"; }; "
         "state() { echo \"= refs\"; git for-each-ref --format='%(refname) %(objectname)' "
         "refs/heads refs/tags refs/notes; echo \"= stash\"; git stash list --format=%H; "
         "echo \"= HEAD\"; git symbolic-ref -q HEAD || git rev-parse HEAD; "
         "echo \"= commit\"; git rev-parse -q --verify HEAD; "
         "echo \"= index\"; git ls-files -s; echo \"= status\"; git status --porcelain=v1; }; "
         "state; echo '== sub'; cd sub && state")
UNDER_WAY = ".git/MERGE_HEAD .git/CHERRY_PICK_HEAD .git/REVERT_HEAD .git/rebase-* .git/sequencer"
SAID = re.compile(r"\[git: (.*?)\.\](?:\\n|\n)")
ALL = "everything"


def parse(text):
    """{"work/index": …, "work/refs/heads/main": …, "sub/…": …}"""
    things, place, section = {}, "work", None
    for line in text.splitlines():
        if line == "== sub":
            place = "sub"
        elif line.startswith("= "):
            section = line[2:]
            if section != "refs":
                things[f"{place}/{section}"] = ""
        elif section == "refs":
            name, _, value = line.partition(" ")
            things[f"{place}/{name}"] = value
        else:
            things[f"{place}/{section}"] += line + "\n"
    return things


def things_of(sentence):
    """What a sentence of Pawl's says to differ, in whichever repository."""
    if sentence.startswith(("the index", "HEAD", "the list of stashes")):
        return {sentence.split()[1 if sentence[0] == "t" else 0].replace("list", "stash")}
    if sentence.startswith("the submodule"):
        return {"index of " + sentence.split()[2]}
    if sentence.startswith("nothing of ") or "could not be taken in" in sentence:
        return {ALL}
    found = re.match(r"(\S+) (?:was moved outside|is not published|was deleted|is checked out)",
                     sentence)
    if not found:
        return set()
    name = found[1]
    return {"stash" if name == "stash" else
            f"refs/{name}" if name.startswith(("tags/", "notes/")) else f"refs/heads/{name}"}


class Sides:
    """What was said to differ and did not agree since, and how often which excuse was needed."""

    def __init__(self):
        self.said = set()
        self.unread = False  # the output of the call before was too long to be read
        self.counts = {"things compared": 0, "calls compared": 0, "calls in which all agreed": 0}

    def compare(self, outside, inside, output, under_way):
        """Returns the things that differ although nobody said so."""
        outside, inside = parse(outside), parse(inside)
        fresh = set().union(*map(things_of, SAID.findall(output)))
        differ = [thing for thing in sorted(outside.keys() | inside.keys())
                  if outside.get(thing) != inside.get(thing)]
        if self.unread:
            fresh |= {thing.partition("/")[2] for thing in differ}
            self.count("things that differed after an output too long to be read", len(differ))
        self.unread = False
        excuses = self.said | fresh
        self.count("things compared", len(outside.keys() | inside.keys()))
        self.count("calls compared")
        self.count("calls in which all agreed", not differ)
        bad = []
        for thing in differ:
            why = self.excuse(thing, excuses, differ, (outside, inside), under_way)
            if why is None:
                bad.append(thing)
            else:
                self.count("excused: " + why)
        names = {thing.partition("/")[2] for thing in differ}
        if ALL not in excuses or not differ:
            self.said = {thing for thing in self.said if thing.split(" of ")[0] in names}
        self.said |= fresh
        return bad

    def excuse(self, thing, excuses, differ, both, under_way):
        place, _, name = thing.partition("/")
        if ALL in excuses:
            return "nothing could be published or taken in"
        if name in excuses:
            return f"{'a ref' if name.startswith('refs/') else name} was said to differ"
        if name.startswith("refs/") or name == "stash":
            return None
        if under_way(place) and name in ("HEAD", "index", "commit", "status"):
            return f"{name}, while a merge or rebase is under way inside"
        heads = [side.get(f"{place}/HEAD", "").strip() for side in both]
        stands_on_one = any(head in excuses for head in heads)
        if name in ("HEAD", "commit"):
            return f"{name}, on a branch that was said to differ" if stands_on_one else None
        if f"{place}/HEAD" in differ or f"{place}/commit" in differ:
            return f"{name}, because HEAD differs"
        if name == "status" and f"{place}/index" in differ:
            return "status, because the index differs"
        if name == "index":
            return self.excuse_index(place, excuses, both)
        return None

    @staticmethod
    def excuse_index(place, excuses, both):
        lines = [set(side.get(f"{place}/index", "").splitlines()) for side in both]
        paths = {line.partition("\t")[2] for line in lines[0] ^ lines[1]}
        if all(f"index of {path}" in excuses for path in paths):
            return "a submodule was said to be left out"
        return None

    def count(self, what, number=1):
        self.counts[what] = self.counts.get(what, 0) + number

    def __str__(self):
        return ", ".join(f"{what}: {count}" for what, count in sorted(self.counts.items()))
