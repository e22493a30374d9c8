#include "pawl/charter/machine/charter_ahead.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

std::string ahead_of(const std::string& yaml) {
  return to_string(features_ahead(good_charter(yaml)), "f");
}

TEST_CASE("what a run cannot do yet is named with its place") {
  CHECK(ahead_of(charter_with("")).empty());
  CHECK(ahead_of(charter_with("nodes: { n: { instructions: x, tools: [] } }\n")).empty());
  CHECK(ahead_of(charter_with("gate: {}\n")).empty());
  CHECK(ahead_of(charter_with("flow: { phases: [{ name: a, checkpoint: b }] }\n")).empty());
  CHECK(ahead_of(charter_with("agents:\n  a: { charter: x.yaml }\n")).empty());
}

TEST_CASE("a run can go from node to node, with workers, states and tools of their own") {
  CHECK(ahead_of(
            charter_with("start: n\nnodes:\n"
                         "  n: { limits: { steps: 1 }, define: { t: { command: [x] } }, "
                         "commands: { c: { do: [{ message: hi }] } }, "
                         "next: { go: m }, workers: { w: { node: w } }, state: { initial: {} } }\n"
                         "  m: { instructions: x, packs: [p] }\n"
                         "  w: { worker: true, instructions: x, define: { t: { command: [y] } } }\n"
                         "packs: { p: { instructions: y } }\n"))
            .empty());
}

}  // namespace
}  // namespace pawl
