"""People decide from other processes about a run that waits for them, and everybody is killed: the
driver, those who approve and those who deny. What was approved happens once, what was denied
never."""

import signal

from .bench import Violation, system_calls
from .oracle import NOT_THERE, check_acknowledged, check_done, check_store, resolve_doubts
from .trials import Rig

RUN = "r"
# The driver was faster, with another's decision: about this call, or about the last one.
TOO_LATE = ("waits for no decision", "is not waiting for a decision", "came too late")
# One of them, who may have been killed before he was told.
NOT_THE_ONLY_ONE = "was answered before"
ROUNDS_MAX = 40
TROUBLED_ROUNDS = 6    # then nobody is killed any more
DRIVER_CALLS_MAX = 60  # of those that change files: the kill comes at one of them
DECIDER_CALLS_MAX = 25
MODES = ("kill-before", "kill-after", "kill-torn")
CLASS_OF = {"pay": "once", "mail": "idempotent", "book": "reconcilable"}
CALLS = 4


class Watch:
    """What one trial knows of the calls it was asked about."""

    def __init__(self):
        self.asked = {}   # call -> (tool, input)
        self.sent = {}    # call -> words, also of those who were killed over it
        self.stored = {}  # call -> words whose sender was told that they are stored
        self.kills = 0


def kill_at(stage, chance, calls_max):
    n = chance.randint(1, calls_max)
    return system_calls(stage.bench, chance.choice(MODES), first=n, last=n)


def decide(stage, watch, chance, troubled):
    """Somebody, or two at once, about each call that waits: [(process, words, call)]."""
    listed = stage.pawl("approvals", RUN, "--json")
    if listed.code != 0:
        raise Violation(f"approvals ended with {listed.code}: {listed.err}")
    deciders = []
    for asked in listed.events:
        call = asked["call"]
        watch.asked[call] = (asked["tool"], asked["input"])
        words = chance.choice((["approve"], ["approve"], ["deny"], ["approve", "deny"],
                               ["approve", "approve"], []) if troubled else (["approve"], ["deny"]))
        for word in words:
            faults = kill_at(stage, chance, DECIDER_CALLS_MAX) \
                if troubled and chance.random() < 0.3 else None
            watch.sent.setdefault(call, []).append(word)
            command = [word, RUN, call]
            deciders.append((stage.spawn(*command, faults=faults), command, call))
    return deciders


def end_deciders(stage, watch, deciders):
    for process, command, call in deciders:
        ended = stage.end(process, command)
        if ended.code == -signal.SIGKILL:
            watch.kills += 1
        elif ended.code == 0:
            watch.stored.setdefault(call, []).append(command[0])
        elif NOT_THE_ONLY_ONE in ended.err:
            if len(watch.sent[call]) < 2:
                raise Violation(f"{command[0]} of {call} was told of an answer, and was alone")
        elif not any(late in ended.err for late in TOO_LATE):
            raise Violation(f"{command[0]} ended with {ended.code}: {ended.err}")


def drive(stage, watch, words, faults):
    return stage.spawn(*words, "--json", faults=faults), words


def end_driver(stage, watch, driver):
    """True: the run is over."""
    ended = stage.end(*driver, run=RUN)
    watch.kills += ended.code == -signal.SIGKILL
    if ended.code == 4:
        resolve_doubts(stage, RUN)
    elif ended.code not in (0, -signal.SIGKILL) and NOT_THERE not in ended.err:
        raise Violation(f"{driver[1][0]} ended with {ended.code}: {ended.err}")
    return ended.code == 0


def check_decisions(stage, watch):
    """Each call was decided once, by what somebody sent, and the ledgers agree."""
    events = check_acknowledged(stage, RUN)
    taken = {}
    for event in events:
        if event["type"] == "call_decided":
            taken.setdefault(event["call"], []).append(event["decision"])
    if len(watch.asked) != CALLS or set(taken) != set(watch.asked):
        raise Violation(f"asked about {sorted(watch.asked)}, decided about {sorted(taken)}")
    for call, decisions in taken.items():
        word = {"approve": "approve", "reject": "deny"}[decisions[0]]
        if len(decisions) != 1 or word not in watch.sent.get(call, []):
            raise Violation(f"{call}: decided {decisions}, and people sent {watch.sent.get(call)}")
        # One at most was told yes, and he is the one who is heeded.
        if watch.stored.get(call, [word]) != [word]:
            raise Violation(f"{call}: {watch.stored[call]} were told yes, {word} was taken")
        check_effects(stage, *watch.asked[call], word)


def check_effects(stage, tool, text, word):
    booked = [key for key, input in stage.ledger(CLASS_OF[tool]) if input == text]
    if CLASS_OF[tool] == "idempotent":
        booked = sorted(set(booked))  # The service knows the key and does it once.
    if len(booked) != (1 if word == "approve" else 0):
        raise Violation(f"{tool} {text}: {word} was taken, and it happened {len(booked)} times")


class Approvals(Rig):
    NAME = "approvals"
    COUNT = 30

    def prepare(self, bench):
        bench.shim("system_calls")

    def plan(self, count, chance):
        return [(number,) for number in range(count or 400)]

    def perform(self, stage, trial, chance):
        watch = Watch()
        begin = ["run", "asked.yaml", "--id", RUN]
        end_driver(stage, watch, drive(stage, watch, begin, kill_at(stage, chance,
                                                                    DRIVER_CALLS_MAX)))
        for number in range(ROUNDS_MAX):
            troubled = number < TROUBLED_ROUNDS
            if NOT_THERE in stage.pawl("show", RUN).err:
                if stage.acknowledged.get(RUN):
                    raise Violation(f"{RUN} was acknowledged and is gone")
                end_driver(stage, watch, drive(stage, watch, begin, None))
            deciders = decide(stage, watch, chance, troubled)
            at_once = troubled and chance.random() < 0.5  # with the driver, or before it
            if not at_once:
                end_deciders(stage, watch, deciders)
            faults = kill_at(stage, chance, DRIVER_CALLS_MAX) \
                if troubled and chance.random() < 0.6 else None
            over = end_driver(stage, watch, drive(stage, watch, ["resume", RUN], faults))
            if at_once:
                end_deciders(stage, watch, deciders)
            if over:
                break
        check_done(stage, RUN)
        check_decisions(stage, watch)
        check_store(stage)
        return watch.kills

    def conclude(self, results):
        blind = len(results) > 5 and not any(results)
        return f"{sum(results)} kills", ["nothing was ever killed"] if blind else []
