// The golden journals of runs whose charters have nodes.
#pragma once

#include "pawl/kernel/machine_stage_test.h"

namespace pawl::testing {

inline RunStarted a_golden_machine(std::string name) {
  RunStarted start = a_family();
  start.run = RunId{std::move(name)};
  start.limits.branches = 2;
  start.packs = {PackSpec{"notes", {"pure"}, a_state("", "{}")}};
  NodeSpec& main = node_in(start, "main");
  main.packs = {"notes"};
  main.state = a_state(R"({"type":"object"})", "{}");
  main.state->owner = StateOwner::external;
  ChildSpec early = a_child("early", "watch");
  early.start = ChildStart::with_node;
  main.workers.push_back(early);
  next_of(start, "main", "go", "talker").context = NextContext::fresh;
  NodeCommand nudge;
  nudge.name = "nudge";
  nudge.actions = R"([{"resume":{}},{"message":{"$input":"/text"}}])";
  NodeCommand hush;
  hush.name = "hush";
  hush.actions = R"([{"suspend":{"reason":"r"}}])";
  node_in(start, "talker").commands = {hush, nudge};
  return start;
}

// States, a transition, children, a suspension, singletons; its root fails at last.
inline TestRun machine_that_fails() {
  TestRun run(a_golden_machine("golden-machine"));
  const auto patch = calls("update_state", R"({"patch":{"a":1}})");
  run.replies({patch, calls("update_state", R"({"patch":{"b":2},"pack":"notes"})")});
  run.takes(StateSet{kRootInstance, Content(R"({"a":2})"), "owner"});
  run.replies({patch, calls("spawn_talk", R"({"input":"ask"})")});
  run.replies_as(kI3, {calls("suspend", R"({"reason":"a key","metadata":{"which":1}})")});
  run.replies_as(kI2, {says("seen")});
  RunWaiting waiting;
  waiting.suspended = suspended_in(run.state());
  run.takes(waiting);
  const std::string id = std::get<Suspended>(run.instance(kI3).phase).suspend_id;
  run.takes(InstanceResumed{kI3, id, "u", Content("7")});
  run.replies_as(kI3, {calls("suspend", R"({"reason":"another key"})")});
  run.takes(CommandGiven{kI3, "nudge", Content(R"({"text":"8"})"), "u", 1});
  run.replies_as(kI3, {says("they said"), calls("cede", R"({"content":{"key":7}})")});
  for (int i = 0; i < 2; ++i) {
    MessageReceived frame{kRootInstance, Content("frame"), "u"};
    frame.singleton = "camera";
    run.takes(frame);
  }
  run.replies({spawns_watcher()});
  ModelFailed failed;
  failed.effect = run.model_effect();
  failed.kind = FailureKind::permanent;
  failed.message = "no such key";
  run.takes(failed);
  run.replies_as(kI4, {says("too late")});
  run.ends();
  return run;
}

// A transition that cancels, and an output that is final before the workers have ended.
inline TestRun machine_that_detaches() {
  RunStarted start = a_golden_machine("golden-detached");
  NodeSpec& talker = node_in(start, "talker");
  talker.workers = {a_child("watcher", "watch")};
  talker.workers_on_end = WorkersOnEnd::detach;
  TestRun run(start);
  run.replies({says("on"), calls("transition_go", R"({"message":"Talk."})")});
  run.takes(CommandGiven{kRootInstance, "hush", Content("{}"), "u", 2});
  run.takes(CommandGiven{kRootInstance, "nudge", Content(R"({"text":"9"})"), "u", 3});
  run.replies({spawns_watcher()});
  run.replies({says("my answer")});
  run.replies_as(kI3, {says("seen")}, ReplyStop::cede);
  run.ends();
  return run;
}

}  // namespace pawl::testing
