#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

TEST_CASE("faults of the tree of instances are found") {
  CHECK(
      charter_faults(nodes_with(R"(  a:
    instructions: x
    workers: { one: p, two: { node: w, start: with_node } }
    children: { three: w, four: { node: p, start: with_node }, five: { node: p, start: with_node } }
  w: { worker: true, instructions: x, children: { six: p } }
  p: { instructions: x }
)")) ==
      R"(f:7:21: nodes.a.workers.one: the node "p" is no worker: it has no worker: true (add worker: true there, or list it under children:)
f:8:24: nodes.a.children.three: the node "w" is a worker, and no child that takes over (list it under workers:, or remove worker: true there)
f:8:70: nodes.a: more than one child has start: with_node, and only one can take over (let the others start on_call)
f:9:49: nodes.w: a worker has no children: only a primary instance can give way (list them under workers:, or remove worker: true)
)");
}

TEST_CASE("names that lead nowhere are found, with the nearest") {
  CHECK(charter_faults(nodes_with(R"(  a:
    instructions: x
    next: { go: bb, on: { to: b, context: kept, when: later }, up: { description: x } }
    workers: { w: c }
    packs: [note]
    tools: [vieww, view, view, transition_go, agent__x]
  b: { instructions: x }
packs: { notes: { instructions: x } }
)")) == R"(f:7:17: nodes.a.next.go: there is no node "bb" (one of a, b)
f:7:43: nodes.a.next.on: "context" must be one of keep, fresh, summary, found the string "kept"
f:7:55: nodes.a.next.on: "when" must be one of end_turn, found the string "later"
f:7:68: nodes.a.next.up: "to" is missing (add "to")
f:8:19: nodes.a.workers.w: there is no node "c" (one of a, b)
f:9:13: nodes.a: there is no pack "note" (did you mean "notes"?)
f:10:13: nodes.a: there is no tool "vieww" (did you mean "view"?)
f:10:26: nodes.a: the tool "view" is listed twice
f:10:32: nodes.a: the tool "transition_go" is Pawl's own, offered where it can be used (leave it out of the list)
f:10:47: nodes.a: there is no agent "x" (there are none)
)");
}

}  // namespace
}  // namespace pawl
