// Checkpoints, awaits and controls: rules M20, M21 and M24.
#include "pawl/kernel/flow_stage_test.h"

namespace pawl::testing {
namespace {

// --- M20 -----------------------------------------------------------------------------------------

TestRun at_checkpoint() {
  TestRun run(
      a_flow({a_phase("a", "n"), a_checkpoint("sign", {"a"}), a_phase("b", "n", {"sign"})}));
  run.replies_as(kI2, {says("one")});
  return run;
}

TEST_CASE("M20: a checkpoint waits for a person by a call, and shows question and outputs") {
  TestRun run = at_checkpoint();
  run.parks();
  CHECK(waits_for(run.state()) == WaitFor::approval);
  CHECK(status_in(run, "sign") == PhaseStatus::waiting);
  CHECK(calls_awaiting_person(run.state()) == std::vector{kC1});
  CHECK(checkpoint_shown(run->flow, 1) == R"({"question":"Is it good?","outputs":{"a":"one"}})");
  CHECK(std::get<CallAwaitingPerson>(find_call(run.state(), kC1)->state).binding ==
        sha256(checkpoint_shown(run->flow, 1)));

  run.crashes();
  CHECK(calls_awaiting_person(run.state()) == std::vector{kC1});
}

TEST_CASE("M20: approve goes on with the outputs, answer replaces them") {
  TestRun run = at_checkpoint();
  TestRun other = run;
  decides(run, InterruptDecision::approve);
  CHECK(output_in(run, "sign") == "\"one\"");
  CHECK(run.dialogue(kI3) == "user: one");
  CHECK(run->calls.empty());

  decides(other, InterruptDecision::input, "but shorter");
  CHECK(other.dialogue(kI3) == "user: but shorter");
}

TEST_CASE("M20: deny fails the phase and says who and why") {
  TestRun run = at_checkpoint();
  decides(run, InterruptDecision::reject, "too early");
  CHECK(status_in(run, "sign") == PhaseStatus::failed);
  CHECK(run.reason() == StopReason::phase);
  CHECK(detail_of(run) == "phase sign: denied by u: too early");
}

TEST_CASE("M20: a decision about something else, and an edit, are refused") {
  TestRun run = at_checkpoint();
  CallDecided decided;
  decided.call = kC1;
  decided.decision = InterruptDecision::approve;
  decided.by = "u";
  CHECK(run.refuses(decided).find("something else") != std::string::npos);
  decided.binding = sha256(checkpoint_shown(run->flow, 1));
  decided.edited = Content("{}");
  CHECK(run.refuses(decided).find("no arguments") != std::string::npos);
  decided.edited.reset();
  decided.call = kC2;
  CHECK(run.refuses(decided).find("not waiting") != std::string::npos);
}

// --- M21 -----------------------------------------------------------------------------------------

EventReceived an_event(std::string name, std::string json = "") {
  return {std::move(name), Content(std::move(json)), "u"};
}

TEST_CASE("M21: an await parks the run until the event comes, whose JSON is its output") {
  TestRun run(a_flow({an_await("w", "merged"), a_phase("a", "n", {"w"})}));
  run.parks();
  CHECK(waits_for(run.state()) == WaitFor::event);
  run.takes(an_event("merged", R"({"commit": "abc"})"));
  CHECK(output_in(run, "w") == R"({"commit":"abc"})");
  CHECK(run.dialogue(kI2) == R"(user: {"commit":"abc"})");
}

TEST_CASE("M21: early events are kept; the oldest counts, with batch all that wait") {
  PhaseSpec batch = an_await("c", "merged", {"b"});
  batch.await->batch = Batch::all;
  TestRun run(a_flow({a_phase("a", "n"), an_await("b", "merged", {"a"}), batch}));
  run.takes(an_event("merged", "1"));
  run.takes(an_event("merged"));
  run.takes(an_event("merged", "3"));
  run.replies_as(kI2, {says("one")});
  CHECK(output_in(run, "b") == "1");
  CHECK(output_in(run, "c") == "[null,3]");
  CHECK(run.reason() == StopReason::end_turn);
}

TEST_CASE("M21: a timeout fails the phase, by time or when somebody takes the run up") {
  PhaseSpec wait = an_await("w", "merged");
  wait.await->timeout_ms = 60'000;
  wait.need = PhaseNeed::optional;
  wait.fallback = "\"late\"";
  TestRun run(a_flow({wait, a_phase("a", "n", {"w"})}));
  run.parks();
  CHECK(wake_wall_at(run.state()) == run->at_ms + 60'000);
  TestRun early = run;
  early.parked_for(59'000);
  early.crashes();
  CHECK(status_in(early, "w") == PhaseStatus::waiting);
  run.parked_for(60'000);
  run.crashes();
  CHECK(status_in(run, "w") == PhaseStatus::failed);
  CHECK(run.dialogue(kI2) == "user: late");
}

TEST_CASE("M21: what no phase awaits, is no JSON or comes too often is refused") {
  TestRun run(a_flow({an_await("w", "merged"), a_phase("a", "n")}));
  CHECK(run.refuses(an_event("mergd")) ==
        "event_received: no phase awaits mergd; they await merged");
  CHECK(run.refuses(an_event("merged", "{")).starts_with("event_received: "));
  CHECK(run.refuses(an_event("merged", std::string(kFlowEventBytesMax + 1, '1'))).find("65536") !=
        std::string::npos);
  CHECK(TestRun().refuses(an_event("merged")) == "event_received: no phase awaits merged");
}

TEST_CASE("M21: a run keeps at most kFlowEventsMax events") {
  TestRun run(a_flow({a_phase("a", "n"), an_await("w", "merged", {"a"})}));
  for (std::size_t i = 0; i < kFlowEventsMax; ++i) run.takes(an_event("merged", "1"));
  CHECK(run.refuses(an_event("merged")).find("1024 events wait") != std::string::npos);
}

// --- M24 -----------------------------------------------------------------------------------------

TestRun in_the_middle() {
  TestRun run(a_flow(
      {a_phase("a", "n"), a_phase("b", "n", {"a"}), a_phase("c", "n", {"b"}), a_phase("z", "w")}));
  run.replies_as(kI2, {says("one")});
  return run;
}
// i3 is z, i4 is b.

TEST_CASE("M24: skip leaves a phase out before it began") {
  TestRun run = in_the_middle();
  run.takes(a_control("c", PhaseAction::skip));
  CHECK(status_in(run, "c") == PhaseStatus::skipped);
  CHECK(run.refuses(a_control("b", PhaseAction::skip)) ==
        "phase_controlled: phase b is running: only one that has not begun is skipped");
  CHECK(run.refuses(a_control("x", PhaseAction::skip)) ==
        "phase_controlled: there is no phase x; there are a, b, c, z");
  CHECK(TestRun().refuses(a_control("x", PhaseAction::skip)) ==
        "phase_controlled: the run has no flow");
}

TEST_CASE("M24: start begins a phase although after is not done, and only once") {
  TestRun run = in_the_middle();
  run.takes(a_control("c", PhaseAction::start));
  CHECK(status_in(run, "c") == PhaseStatus::running);
  CHECK(run.dialogue(InstanceId{5}) == "user: ");
  run.replies_as(kI4, {says("two")});
  CHECK(run->instances_minted == 5);
  CHECK(!run.refuses(a_control("c", PhaseAction::start)).empty());
}

TEST_CASE("M24: cancel ends a phase as failed, and what it had under way") {
  TestRun run = in_the_middle();
  run.takes(a_control("b", PhaseAction::cancel));
  CHECK(status_in(run, "b") == PhaseStatus::cancelled);
  CHECK(find_effect(run.state(), run.model_effect(kI3)) != nullptr);
  CHECK(run->open.size() == 1);
  CHECK(run.in<Failing>());
  CHECK(run.refuses(a_control("c", PhaseAction::start)).find("failed") != std::string::npos);
  run.replies_as(kI3, {says("z")});
  CHECK(detail_of(run) == "phase b: cancelled by u");
}

TEST_CASE("M24: abandon ends a phase with output null and goes on") {
  TestRun run = in_the_middle();
  run.takes(a_control("b", PhaseAction::abandon));
  CHECK(status_in(run, "b") == PhaseStatus::abandoned);
  CHECK(output_in(run, "b") == "null");
  CHECK(status_in(run, "c") == PhaseStatus::running);
  CHECK(run.refuses(a_control("a", PhaseAction::abandon)).find("has ended") != std::string::npos);
}

TEST_CASE("M24: rerun runs a phase and all that depends on it again") {
  TestRun run = in_the_middle();
  run.takes(a_control("a", PhaseAction::rerun));
  CHECK(status_in(run, "a") == PhaseStatus::running);
  CHECK(status_in(run, "b") == PhaseStatus::pending);
  CHECK(run.in<AwaitingModel>(kI3));  // z does not depend on it
  run.replies_as(InstanceId{5}, {says("again")});
  CHECK(run.dialogue(InstanceId{6}) == "user: again");
  CHECK(run.refuses(a_control("b", PhaseAction::rerun)).find("that has ended") !=
        std::string::npos);
}

TEST_CASE("M24: a phase is run again in a run that is over, and other controls are refused there") {
  TestRun run(a_flow({a_phase("a", "n"), a_phase("b", "n", {"a"})}));
  run.replies_as(kI2, {says("one")});
  run.takes(a_failure(run, kI3));
  run.ends();
  CHECK(run.status() == RunStatus::failed);
  CHECK(run.refuses(a_control("b", PhaseAction::abandon)).find("only rerun") != std::string::npos);

  run.takes(a_control("b", PhaseAction::rerun));

  CHECK(run.status() == RunStatus::running);
  CHECK(run.dialogue(kI4) == "user: one");
  run.replies_as(kI4, {says("two")});
  run.ends();
  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "two");
}

TEST_CASE("M24: a failure that was not run again still fails the flow") {
  TestRun run(a_flow({a_phase("a", "n"), a_phase("b", "n")}));
  run.takes(a_failure(run, kI2));
  run.takes(a_failure(run, kI3));
  run.ends();
  run.takes(a_control("a", PhaseAction::rerun));
  run.replies_as(kI4, {says("one")});
  CHECK(run.reason() == StopReason::phase);
  CHECK(detail_of(run).starts_with("phase b: "));
}

TEST_CASE("M24: a checkpoint that is abandoned asks nobody any more") {
  TestRun run = at_checkpoint();
  run.takes(a_control("sign", PhaseAction::abandon));
  CHECK(run->calls.empty());
  CHECK(run.in<AwaitingModel>(kI3));
  run.takes(a_control("sign", PhaseAction::rerun));
  CHECK(calls_awaiting_person(run.state()) == std::vector{kC2});
}

TEST_CASE("M24: a rerun that a limit leaves no room for is refused") {
  RunStarted start = a_flow({a_phase("a", "n")});
  start.limits.steps = 1;
  TestRun run(start);
  run.replies_as(kI2, {says("one")});
  run.ends();
  CHECK(run.refuses(a_control("a", PhaseAction::rerun)).find("no room") != std::string::npos);
}

}  // namespace
}  // namespace pawl::testing
