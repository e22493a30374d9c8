#include "pawl/charter/machine/read_machine.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

TEST_CASE("models may be each node's own") {
  const Charter charter = good_charter(
      "name: t\nmodels: { x: a/1, y: b/2 }\nstart: a\nnodes:\n"
      "  a: { instructions: x, model: x, next: { b: b } }\n"
      "  b: { instructions: x, model: y }\n");
  CHECK(charter.model == "x");
  CHECK(charter_faults("name: t\nmodels: { x: a/1, y: b/2 }\nstart: a\nnodes:\n"
                       "  a: { instructions: x, model: x, next: { b: b } }\n"
                       "  b: { instructions: x }\n")
            .find("several models are named and none is chosen") != std::string::npos);
}

TEST_CASE("a run starts at a node that is named and no worker") {
  CHECK(charter_faults(
            "name: t\nmodel: a/b\nnodes:\n  a: { instructions: x, next: { b: b } }\n  b: { "
            "instructions: x }\n") ==
        "f:4:3: charter: \"start\" is missing: it names the node of a run's root (add start: a, or "
        "a flow:)\n");
  CHECK(charter_faults(nodes_with("  a: { instructions: x, worker: true }\n"))
            .find("f:3:8: charter: the node \"a\" is a worker") == 0);
}

TEST_CASE("a thousand nodes are read quickly, and more are refused") {
  const auto chain = [](int count) {
    std::string text = "name: t\nmodel: a/b\nstart: n0\nnodes:\n";
    for (int i = 0; i < count; ++i) {
      const std::string next = "n" + std::to_string((i + 1) % count);
      text += "  n" + std::to_string(i) + ": { instructions: x, next: { go: " + next +
              " }, state: { schema: { type: object }, initial: {} }, tools: [view, bash] }\n";
    }
    return text;
  };
  CHECK(good_charter(chain(1'000)).machine.nodes.size() == 1'000);
  CHECK(charter_faults(chain(1'025)).find("there may be 1024 nodes, found 1025") !=
        std::string::npos);
}

TEST_CASE("a charter has start or a flow, and a gate once") {
  const std::string faults = charter_faults(
      "name: t\nmodel: a/b\nstart: n\ngate: {}\nflow: { phases: [{ name: a, node: n }], gate: {} "
      "}\n"
      "nodes: { n: { instructions: x } }\n");
  CHECK(faults.find("f:3:8: charter: a charter has \"start\" or \"flow\", not both") == 0);
  CHECK(faults.find("\"gate\" stands at the top and in the flow") != std::string::npos);
}

}  // namespace
}  // namespace pawl
