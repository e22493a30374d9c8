// The golden journal of a run with a flow.
#pragma once

#include "pawl/kernel/flow_stage_test.h"

namespace pawl::testing {

// A map with a failed item, a checkpoint, an event, a discovered step, work items that hold the end
// back, and a phase that is run again.
inline TestRun flow_with_everything() {
  PhaseSpec map = a_map("m", 2);
  map.map->tolerate = 1;
  PhaseSpec left_out = a_phase("never", "w");
  left_out.when = {{"/vars/x", "1"}};
  RunStarted start = a_flow_over(
      "[1,2]", {map, a_checkpoint("sign", {"m"}), left_out, an_await("shipped", "merged", {"sign"}),
                a_phase("z", "v", {"shipped", "never"})});
  start.run = RunId{"golden-flow"};
  start.gate = GateSpec{2};
  node_in(start, "n").discover = DiscoverSpec{{"w"}};
  TestRun run(start);
  run.takes(EventReceived{"merged", Content("7"), "u"});
  run.replies_as(kI2, {calls("discover_step", R"({"node":"w","input":"look","reason":"r"})"),
                       calls("work_item_add", R"({"title":"tidy up"})")});
  run.takes(a_failure(run, kI3));
  run.replies_as(kI2, {says("one")});
  run.replies_as(kI4, {says("seen")});
  decides(run, InterruptDecision::approve);
  run.takes(a_control("m", PhaseAction::rerun));
  for (std::uint32_t id = 6; id < 8; ++id) run.replies_as(InstanceId{id}, {says("again")});
  decides(run, InterruptDecision::input, "yes");
  run.takes(EventReceived{"merged", {}, "u"});
  const InstanceId last{run->instances_minted};
  run.replies_as(last, {says("{}")});
  run.replies_as(last, {calls("work_item_done", R"({"id":"w1"})")});
  run.replies_as(last, {says("{}")});
  run.ends();
  return run;
}

// Agents carry a phase out and a map: one run waits and is woken, one fails, one is stopped.
inline TestRun campaign_with_everything() {
  PhaseSpec map = an_agent_map("m", 2);
  map.map->tolerate = 1;
  RunStarted start = a_flow_over("[1,2,3]", {map, an_agent_phase("p", {"m"})});
  start.run = RunId{"golden-campaign"};
  start.agents[0].json = Presence::present;
  TestRun run(start);
  const auto ends = [&run](CallId call, std::string output, RunStatus status) {
    ToolFinished event = run.finish(call, std::move(output));
    event.instance = find_call(run.state(), call)->instance;
    event.books = TreeBooks{};
    event.child = status;
    run.takes(event);
  };
  run.takes(ChildWaits{kI2, kC1, run.call_effect(kC1), WaitFor::approval, {}, {}});
  run.takes(ChildStirred{kI2, kC1});
  ends(kC2, "its run has failed", RunStatus::failed);
  run.crashes();
  ends(kC1, R"({"a":1})", RunStatus::done);
  ends(kC3, "half of it", RunStatus::stopped);
  ends(CallId{4}, "7", RunStatus::done);
  run.ends();
  return run;
}

}  // namespace pawl::testing
