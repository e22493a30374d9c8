// Phases that agents carry out, each by a run beneath this one: rules M16 to M19 and M24 with M25
// to M30.
#include <set>

#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/flow_stage_test.h"

namespace pawl::testing {
namespace {

ToolFinished child_ends(const TestRun& run, CallId call, std::string output,
                        RunStatus status = RunStatus::done) {
  ToolFinished event = run.finish(call, std::move(output));
  event.instance = find_call(run.state(), call)->instance;
  event.books = TreeBooks{};
  event.child = status;
  return event;
}

std::string input_of(const TestRun& run, CallId call) {
  const Call* found = find_call(run.state(), call);
  const auto block = call_block(*found, run.records().at(found->seq));
  return block ? block->tool + " " + *block->input.bytes() : block.error().message;
}

TEST_CASE("M16: an agent carries a phase out by a run, whose output is the phase's") {
  TestRun run(a_flow_over("go", {an_agent_phase("p"), a_phase("z", "n", {"p"})}));
  CHECK(run.decided<ChildAdmitted>().at(0).agent == "crew");
  CHECK(input_of(run, kC1) == R"(agent__crew {"input":"go"})");
  CHECK(phase_in(run, "p").live == 1);
  CHECK(run.instance(kI2).node == "agent__crew");
  CHECK(run.in<AwaitingTools>(kI2));
  CHECK(run.started<CallModel>() == 0);
  CHECK(run->tally.tool_calls == 1);
  run.takes(child_ends(run, kC1, "the crew's"));
  CHECK(run.decided<SeatLeft>().size() == 1);
  CHECK(output_in(run, "p") == R"("the crew's")");
  CHECK(run->children.empty());
  CHECK(run.dialogue(kI3) == "user: the crew's");
  run.replies_as(kI3, {says("all")});
  run.ends();
  CHECK(run.output() == "all");
}

TEST_CASE("M16: a flow of agents alone needs no node") {
  RunStarted start = a_flow({an_agent_phase("a"), an_agent_phase("b", {"a"})});
  start.nodes.clear();
  TestRun run(start);
  run.takes(child_ends(run, kC1, "one"));
  CHECK(input_of(run, kC2) == R"(agent__crew {"input":"one"})");
  run.takes(child_ends(run, kC2, "two"));
  run.ends();
  CHECK(run.output() == "two");
  CHECK(run.status() == RunStatus::done);
}

TEST_CASE("M16: the output of an agent that gives out JSON is JSON") {
  for (const bool json : {false, true}) {
    RunStarted start = a_flow({an_agent_phase("p")});
    start.agents[0].json = json ? Presence::present : Presence::absent;
    TestRun run(start);
    run.takes(child_ends(run, kC1, R"({"a":1})"));
    CHECK(output_in(run, "p") == (json ? R"({"a":1})" : R"("{\"a\":1}")"));
  }
}

TEST_CASE("M18: a run that fails or is cancelled fails its phase, one that is stopped hands on") {
  for (const RunStatus status : {RunStatus::failed, RunStatus::cancelled}) {
    TestRun run(a_flow({an_agent_phase("p")}));
    run.takes(child_ends(run, kC1, "it is broken", status));
    CHECK(status_in(run, "p") == PhaseStatus::failed);
    CHECK(detail_of(run) == "phase p: it is broken");
  }
  TestRun stopped(a_flow({an_agent_phase("p")}));
  stopped.takes(child_ends(stopped, kC1, "half of it", RunStatus::stopped));
  CHECK(output_in(stopped, "p") == R"("half of it")");
  CHECK(status_in(stopped, "p") == PhaseStatus::done);

  PhaseSpec optional = an_agent_phase("p");
  optional.need = PhaseNeed::optional;
  optional.fallback = R"("none")";
  for (const RunStatus status : {RunStatus::failed, RunStatus::stopped}) {
    TestRun run(a_flow({optional}));
    run.takes(child_ends(run, kC1, "half of it", status));
    CHECK(output_in(run, "p") == R"("none")");
    CHECK(run.reason() == StopReason::end_turn);
  }
}

TEST_CASE("M19: a campaign has a run for each item, max at a time, and outputs in their order") {
  TestRun run(a_flow_over(R"(["a","b","c"])", {an_agent_map("m", 2), a_phase("z", "n", {"m"})}));
  CHECK(run->children.size() == 2);
  CHECK(input_of(run, kC2) == R"(agent__crew {"input":"do b"})");
  run.takes(child_ends(run, kC2, "B"));
  CHECK(input_of(run, kC3) == R"(agent__crew {"input":"do c"})");
  run.takes(child_ends(run, kC3, "C"));
  run.takes(child_ends(run, kC1, "A"));
  CHECK(output_in(run, "m") == R"(["A","B","C"])");
  std::set<std::string> ids;
  for (const ChildAdmitted& one : run.decided<ChildAdmitted>()) ids.insert(one.run.text);
  CHECK(ids.size() == 3);
}

TEST_CASE("M29: items wait for a place beneath the run, and too many are refused in words") {
  RunStarted start = a_flow_over("[1,2,3]", {an_agent_map("m", 3)});
  start.subagents.at_a_time = 1;
  start.subagents.descendants = 2;
  PhaseSpec& phase = start.phases[0];
  {
    TestRun refused(start);  // before any of them begins
    CHECK(refused->children.empty());
    CHECK(detail_of(refused) ==
          "phase m: its map has 3 items, a run for each, and 2 of 2 runs may still be started; "
          "raise subagents.descendants in the charter");
  }
  phase.map->tolerate = 1;
  TestRun run(start);
  CHECK(run->children.size() == 1);
  CHECK(run.call_is<CallWaiting>(kC2));
  run.takes(child_ends(run, kC1, "A"));
  CHECK(run.call_is<CallRunning>(kC2));
  run.takes(child_ends(run, kC2, "B"));
  const Json output = *parse_json(output_in(run, "m"));
  CHECK(output.array().at(1).string() == "B");
  CHECK(output.array().at(2).find_string("error")->find("no more than 2 runs") !=
        std::string::npos);
}

TEST_CASE("M29: an agent that is the run itself again is refused, and its phase fails") {
  RunStarted start = a_flow({an_agent_phase("p")});
  start.agents[0].digest = start.charter_digest;
  TestRun run(start);
  CHECK(detail_of(run).find("phase p: not done:") != std::string::npos);
  CHECK(run->children.empty());
}

TEST_CASE("a phase names an agent that there is, and has room for one") {
  RunStarted start = a_flow({an_agent_phase("p")});
  start.agents.clear();
  Run run;
  CHECK(advance(run, start, {1, 0, 0}).error().message ==
        "run_started: phase p: there is no agent crew");
  start = a_flow({an_agent_phase("p")});
  start.nodes.clear();
  start.limits.branches = 0;
  CHECK(!advance(run, start, {1, 0, 0}));
}

TEST_CASE("M15: after a crash the run of a phase is asked for again, by the same key") {
  TestRun run(a_flow({an_agent_phase("p"), a_phase("z", "n", {"p"})}));
  const RunId child = run->children.at(0).run;
  run.crashes();
  CHECK(run->children.at(0).run == child);
  CHECK(run.decided<ChildAdmitted>().size() == 1);
  CHECK(run.started<RunTool>() == 2);
  run.takes(child_ends(run, kC1, "found again"));
  CHECK(run.dialogue(kI3) == "user: found again");
}

TEST_CASE("M26: a run of a phase that waits makes the flow wait, and wakes it") {
  TestRun run(a_flow({an_agent_phase("p")}));
  run.takes(ChildWaits{kI2, kC1, run.call_effect(kC1), WaitFor::approval, {}, {}});
  CHECK(waits_for(run.state()) == WaitFor::children);
  run.parks();
  run.takes(ChildStirred{kI2, kC1});
  CHECK(run.call_is<CallRunning>(kC1));
  run.takes(child_ends(run, kC1, "approved"));
  CHECK(output_in(run, "p") == R"("approved")");
}

TEST_CASE("M30: pause holds what would start, cancel ends the run and those beneath it") {
  TestRun run(a_flow({an_agent_phase("a"), an_agent_phase("b", {"a"})}));
  run.pauses();
  run.takes(child_ends(run, kC1, "A"));
  CHECK(run->children.empty());
  CHECK(run.decided<SeatTaken>().size() == 1);
  run.resumes();
  CHECK(run->children.size() == 1);
  run.cancels();
  run.takes(child_ends(run, kC2, "", RunStatus::cancelled));
  run.ends();
  CHECK(run.status() == RunStatus::cancelled);
}

TEST_CASE("M24: cancel, abandon and rerun of a phase reach the runs that carry it out") {
  const auto steered = [](const TestRun& run) {
    std::set<std::string> runs;
    for (const Effect& effect : run.last().effects) {
      if (const auto* steer = std::get_if<SteerChild>(&effect)) runs.insert(steer->run.text);
    }
    return runs.size();
  };
  TestRun run(a_flow_over("[1,2]", {an_agent_map("m", 2)}));
  TestRun cancelled = run;
  cancelled.takes(a_control("m", PhaseAction::cancel));
  CHECK(steered(cancelled) == 2);
  CHECK(status_in(cancelled, "m") == PhaseStatus::cancelled);
  TestRun abandoned = run;
  abandoned.takes(a_control("m", PhaseAction::abandon));
  CHECK(steered(abandoned) == 2);
  CHECK(abandoned.reason() == StopReason::end_turn);

  run.takes(child_ends(run, kC1, "A"));
  run.takes(child_ends(run, kC2, "B"));
  run.ends();
  run.takes(a_control("m", PhaseAction::rerun));
  CHECK(run->children.size() == 2);
  CHECK(run->children[0].run != child_run_id(run.state(), kC1));
}

TEST_CASE("M28: what the runs of a map have used is part of what the flow has used") {
  TestRun run(a_flow_over("[1,2]", {an_agent_map("m", 1)}));
  for (const CallId call : {kC1, kC2}) {
    ToolFinished event = child_ends(run, call, "x");
    event.books->usage.input_tokens = 100;
    event.books->cost_pico = 7;
    run.takes(event);
  }
  CHECK(run->tally.usage.input_tokens == 200);
  CHECK(run->tally.cost_pico == 14);
}

TEST_CASE("a limit on calls ends the run before one more of them") {
  RunStarted start = a_flow_over("[1,2,3]", {an_agent_map("m", 1)});
  start.limits.tool_calls = 2;
  TestRun run(start);
  run.takes(child_ends(run, kC1, "A"));
  run.takes(child_ends(run, kC2, "B"));
  CHECK(run.reason() == StopReason::tool_calls);
  CHECK(run.decided<SeatTaken>().size() == 2);
}

TEST_CASE("M13: who stands for a run reads no message, and its run is named") {
  TestRun run(a_flow({an_agent_phase("p")}));
  MessageReceived message;
  message.instance = kI2;
  message.text = Content("hurry");
  CHECK(run.refuses(message).find("a run beneath this one does the work of i2") !=
        std::string::npos);
}

TEST_CASE("M22: open items ask the last node, not the agent that came after it") {
  RunStarted start = a_flow({a_phase("a", "n"), an_agent_phase("b", {"a"})});
  start.gate = GateSpec{2};
  TestRun run(start);
  run.replies_as(kI2, {calls("work_item_add", R"({"title":"tidy up"})")});
  run.replies_as(kI2, {says("A")});
  run.takes(child_ends(run, kC2, "B"));
  const InstanceId asked{run->instances_minted};
  CHECK(run.instance(asked).node == "n");
  run.replies_as(asked, {calls("work_item_done", R"({"id":"w1"})")});
  run.replies_as(asked, {says("done")});
  run.ends();
  CHECK(run.output() == "B");
}

TEST_CASE("a person who answers in the place of a phase's run gives its output") {
  TestRun run(a_flow({an_agent_phase("p")}));
  CallJudgement ask;
  ask.verdict = CallVerdict::ask;
  ask.stage = GateStage::rule;
  ask.kind = InterruptKind::custom;
  ask.binding = sha256("b");
  run.takes(CallJudged{kI2, kC1, run.call_effect(kC1), ask});
  TestRun denied = run;
  decides(denied, InterruptDecision::reject, "no");
  CHECK(detail_of(denied).find("no") != std::string::npos);
  decides(run, InterruptDecision::input, "mine");
  CHECK(output_in(run, "p") == R"("mine")");
}

}  // namespace
}  // namespace pawl::testing
