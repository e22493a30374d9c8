#include "pawl/kernel/agent_tree.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

RunState with_children() {
  RunState state;
  state.id = RunId{"r"};
  state.runs_settled = 2;
  ChildRun busy;
  busy.call = CallId{3};
  busy.agent = "crew";
  busy.books.usage.input_tokens = 40;
  busy.books.cost_pico = 50;
  busy.books.started = busy.books.places = 1;
  busy.held = {70, 100, 1, 2};
  ChildRun resting;
  resting.call = CallId{5};
  resting.books.started = resting.books.places = 1;
  resting.books.use = PlaceUse::rests;
  state.children = {busy, resting};
  return state;
}

TEST_CASE("books of a run count what those beneath it were given, used or not") {
  const TreeBooks books = books_of(with_children(), PlaceUse::acts);
  CHECK(books.started == 2 + 2 + 2);
  CHECK(books.places == 3 + 1);  // one that rests has lent its place
  CHECK(granted(with_children()).pico == 20);
  CHECK(granted(with_children()).tokens == 60);
}

TEST_CASE("a child is found by its call, and its id tells that it is one") {
  const RunState state = with_children();
  REQUIRE(find_child(state, CallId{3}) != nullptr);
  CHECK(find_child(state, CallId{3})->agent == "crew");
  CHECK(find_child(state, CallId{4}) == nullptr);
  CHECK(looks_like_child(child_run_id(state, CallId{3})));
  CHECK_FALSE(looks_like_child(RunId{"s-1"}));
  CHECK_FALSE(looks_like_child(RunId{"01k3v7q9m2x4z6b8d0fg"}));
}

TEST_CASE("the tools that start runs are reconcilable and say what they need") {
  AgentSpec agent{"crew"};
  CHECK(agent_tool(agent).name == "agent__crew");
  CHECK(agent_tool(agent).effect == EffectClass::reconcilable);
  agent.description = "Acts.";
  CHECK(agent_tool(agent).description == "Acts.");
  CHECK(adhoc_tool().name == "run_subagent");
  CHECK(is_agent_tool("agent__x"));
  CHECK_FALSE(is_agent_tool("agents"));
}

TEST_CASE("a run with a bound is asked by those beneath it, and leaves them what it has") {
  RunState state;
  CHECK(is_asked_by_children(state) == Presence::absent);
  state.limits.budget_ms = 1;
  CHECK(is_asked_by_children(state) == Presence::present);
  state.limits.tokens = 10;
  state.tally.usage.input_tokens = 4;
  CHECK(tokens_for_child(state) == 6);
  state.tally.usage.input_tokens = 40;
  CHECK(tokens_for_child(state) == 1);
}

}  // namespace
}  // namespace pawl
