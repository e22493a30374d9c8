#include "pawl/kernel/flow_spec.h"

#include <doctest/doctest.h>

namespace pawl::testing {
namespace {

PhaseSpec phase(std::string name, std::vector<std::string> after = {}) {
  PhaseSpec one;
  one.name = std::move(name);
  one.node = "work";
  one.after = std::move(after);
  return one;
}

std::vector<NodeSpec> nodes() {
  NodeSpec node;
  node.name = "work";
  return {node};
}

TEST_CASE("phases that wait for each other without a circle are a flow") {
  CHECK(fault_of({phase("a"), phase("c", {"a", "b"}), phase("b", {"a"})}, nodes()).empty());
  CHECK(fault_of({}, {}).empty());
}

TEST_CASE("each way in which phases are no flow is named") {
  CHECK(fault_of({phase("a", {"b"}), phase("b", {"a"})}, nodes()) == "phase a waits for itself");
  CHECK(fault_of({phase("a", {"x"})}, nodes()) == "phase a: after names no phase x");
  CHECK(fault_of({phase("a"), phase("a")}, nodes()) == "phase a: its name stands twice");
  CHECK(fault_of({phase("a")}, {}) == "phase a: there is no node work");
  PhaseSpec two = phase("a");
  two.agent = "reviewer";
  CHECK(fault_of({two}, nodes()) ==
        "phase a: a phase has one of node, agent, checkpoint and await");
}

}  // namespace
}  // namespace pawl::testing
