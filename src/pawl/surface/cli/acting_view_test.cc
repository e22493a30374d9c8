#include "pawl/surface/cli/acting_view.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

Instance an_instance(std::uint32_t id, std::string node, Phase phase,
                     NodeKind kind = NodeKind::worker) {
  Instance one;
  one.id = InstanceId{id};
  one.node = std::move(node);
  one.phase = std::move(phase);
  one.kind = kind;
  one.node_steps = 2;
  return one;
}

RunState a_tree() {
  RunState state;
  state.nodes.emplace_back();
  state.instances.push_back(an_instance(1, "lead", Resting{}, NodeKind::primary));
  state.instances.push_back(an_instance(2, "reviewer", AwaitingModel{}));
  state.instances.push_back(an_instance(3, "reviewer", AwaitingTools{}));
  state.instances.push_back(an_instance(4, "watcher", Suspended{}));
  Call call;
  call.id = CallId{1};
  call.instance = InstanceId{3};
  call.tool = "bash";
  state.calls.push_back(call);
  return state;
}

TEST_CASE("each acting instance has a line with its node, its step and what it does") {
  CHECK(acting_lines(a_tree(), 80) ==
        std::vector<std::string>{"  i2 reviewer (worker) · step 2 · asks its model",
                                 "  i3 reviewer (worker) · step 2 · runs bash"});
}

TEST_CASE("lines are cut to the width, and many are counted") {
  RunState state = a_tree();
  CHECK(acting_lines(state, 12).front() == "  i2 reviewe");
  for (std::uint32_t id = 5; id < 25; ++id) {
    state.instances.push_back(an_instance(id, "w", AwaitingModel{}));
  }
  const auto lines = acting_lines(state, 80);
  CHECK(lines.size() == kActingLinesMax + 1);
  CHECK(lines.back() == "  and 14 more");
}

TEST_CASE("a run with one instance has no such lines") {
  RunState state = a_tree();
  state.instances.resize(1);
  CHECK(acting_lines(state, 80).empty());
}

}  // namespace
}  // namespace pawl
