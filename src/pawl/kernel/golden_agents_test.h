// The golden journals of runs that start others, and are started by others.
#pragma once

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {

inline RunStarted a_golden_parent(std::string name) {
  RunStarted start = a_start();
  start.run = RunId{std::move(name)};
  start.prices.input = start.prices.output = 1;
  start.targets = {ModelTarget{"a/x", start.prices, 0, 1'000}};
  start.limits.cost_pico = 50'000;
  AgentSpec crew{"crew"};
  crew.digest = sha256("crew");
  crew.charter = Content("name: crew");
  start.agents = {crew};
  start.tools.push_back(
      PinnedTool{"agent__crew", EffectClass::reconcilable, OnDoubt::wait, sha256("agent__crew")});
  return start;
}

inline Block calls_crew(const std::string& input) {
  return calls("agent__crew", R"({"input":")" + input + "\"}");
}

// One child is given money and waits for a person, another is cancelled with its parent.
inline TestRun run_with_children() {
  TestRun run(a_golden_parent("golden-parent"));
  run.replies({calls_crew("one"), calls_crew("two")});
  run.takes(
      ChildAsked{kC1, EffectId{3}, AskKind::money, {}, {}, {100, 90, 0, 0}, {500, 400, 0, 0}});
  TreeBooks books;
  books.usage = tokens(7, 3);
  books.cost_pico = 10;
  const TreeBounds held{10, 10, 0, 0};
  run.takes(ChildReported{kC1, books, held, ChildLife::goes_on});
  run.takes(ChildWaits{kRootInstance, kC1, run.call_effect(kC1), WaitFor::approval, books, held});
  run.takes(ChildStirred{kRootInstance, kC1});
  ToolFinished done = run.finish(kC1, "prepared");
  done.books = books;
  run.takes(done);
  run.takes(ChildWaits{kRootInstance, kC2, run.call_effect(kC2), WaitFor::input, {}, {}});
  run.cancels();
  run.ends();
  return run;
}

// Asks for money and for a place, and gives back what it did not use.
inline TestRun run_beneath_another() {
  RunStarted start = a_golden_parent("golden-child");
  start.limits.cost_pico = 0;
  start.lineage = {Ancestor{RunId{"golden-parent"}, kC1, "crew", sha256("parent"), 3}};
  start.asks_parent = Presence::present;
  TestRun run(start);
  const auto is_given = [&](EffectKind kind, const TreeBounds& allowed) {
    run.takes(ParentAnswered{run.effect_of(kind), AskVerdict::given, allowed, ""});
  };
  is_given(EffectKind::ask_money, {2'000, 2'000, 0, 0});
  ModelReplied reply = run.reply({calls_crew("deeper")});
  reply.usage = tokens(20, 10);
  run.takes(reply);
  is_given(EffectKind::ask_place, {30, 30, 1, 1});
  run.finishes(kC1, "done below");
  is_given(EffectKind::ask_money, {2'000, 2'000, 1, 0});
  run.replies({says("done")});
  run.ends();
  return run;
}

}  // namespace pawl::testing
