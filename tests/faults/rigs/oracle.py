"""What must hold after any fault, once the faults are over."""

import json

from .bench import Violation

RESUMES_MAX = 12
EXPECTED = {"once": ['{"n":1}', '{"n":5}'], "idempotent": ['{"n":2}'],
            "reconcilable": ['{"n":3}', '{"n":4}']}
NOT_THERE = "there is no run"
NOT_STARTED = "no thread for the command"


def carry_on(stage, run):
    """Resumes it as a person would, doubts and all, until it is done."""
    for _ in range(RESUMES_MAX):
        ended = stage.drive("resume", run)
        if ended.code == 0:
            return
        if ended.code == 4:
            resolve_doubts(stage, run)
        elif ended.code == 1 and NOT_THERE in ended.err:
            if stage.acknowledged.get(run):
                raise Violation(f"{run} was acknowledged and is gone")
            stage.drive("run", run)  # Nobody had been told that it exists.
        else:
            raise Violation(f"resume ended with {ended.code}: {ended.err}")
    raise Violation(f"{run} is not done after {RESUMES_MAX} resumes")


def resolve_doubts(stage, run):
    """By looking into the ledger, as the operator of the world outside."""
    booked = {key for key, _ in stage.ledger("once")}
    shown = stage.pawl("show", run, "--json").events
    doubts = [call for call in shown[0].get("calls", []) if call["state"] == "in_doubt"]
    for call in doubts:
        answer = ["--happened", "did it"] if call["key"] in booked else ["--did-not-happen"]
        ended = stage.pawl("resolve", run, call["call"], *answer)
        if ended.code != 0:
            raise Violation(f"a doubt could not be resolved: {ended.err}")


def never_started(events):
    """The inputs of calls that could not be started, as the journal and the model were told."""
    inputs = {}
    for event in events:
        for opened in event.get("decisions", []):
            if opened["type"] == "call_opened":
                block = event["blocks"][opened["index"]]
                inputs[opened["call"]] = json.dumps(block["input"], separators=(",", ":"))
    return [inputs[event["call"]] for event in events
            if event["type"] == "tool_finished" and event["end"] == "failed" and
            str(event["content"]).startswith(NOT_STARTED)]


def check_ledgers(stage, unstarted=()):
    for effect, all_of_them in EXPECTED.items():
        expected = [one for one in all_of_them if one not in unstarted]
        booked = stage.ledger(effect)
        keys = [key for key, _ in booked]
        if effect == "idempotent":
            booked = sorted(set(booked))  # The service knows the key and does it once.
        elif len(keys) != len(set(keys)):
            raise Violation(f"an effect of a {effect} tool happened twice: {booked}")
        if sorted(input for _, input in booked) != expected:
            raise Violation(f"effects of {effect} tools: {booked}, expected {expected}")


def difference(before, now):
    """What changed. An output that could not be read just then was not shown at all."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name) and
             not (name == "output" and before.get(name, "") is None)]
    return {name: (before.get(name), now.get(name)) for name in names}


def check_acknowledged(stage, run):
    """Everything that was shown is there and the same. The events of the run."""
    ended = stage.pawl("logs", run, "--json")
    known = stage.acknowledged.get(run, {})
    if ended.code != 0:
        if not known and NOT_THERE in ended.err:
            return []
        raise Violation(f"logs of {run} ended with {ended.code}: {ended.err}")
    events = ended.events
    if [event["seq"] for event in events] != list(range(len(events))):
        raise Violation(f"the sequence of {run} has gaps")
    for seq, event in ((seq, form) for seq, forms in known.items() for form in forms):
        if seq >= len(events):
            raise Violation(f"event {seq} of {run} was acknowledged and is lost; there are "
                            f"{len(events)}")
        if difference(event, events[seq]):
            raise Violation(f"event {seq} of {run} was acknowledged and has changed: "
                            f"{difference(event, events[seq])}")
    return events


def check_store(stage, bystanders=True):
    ended = stage.pawl("verify", "--all")
    if ended.code != 0:
        raise Violation(f"verify ended with {ended.code}: {ended.out}{ended.err}")
    for run, events in (stage.bench.bystanders.items() if bystanders else ()):
        now = stage.pawl("logs", run, "--json")
        if now.code != 0 or now.events != events:
            raise Violation(f"the run {run}, which nobody touched, has changed: {now.err}")


def check_done(stage, run):
    events = check_acknowledged(stage, run)
    last = events[-1]
    if last["type"] != "run_finished" or last["status"] != "done":
        raise Violation(f"{run} ended with {last}")
    return events


def check_everything(stage, run="r", may_not_start=False):
    """After the last fault: the run is carried on to its end, and the store is sound."""
    check_acknowledged(stage, run)
    carry_on(stage, run)
    events = check_done(stage, run)
    check_ledgers(stage, never_started(events) if may_not_start else ())
    check_store(stage)
