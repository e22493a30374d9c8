#include "pawl/charter/machine/graph_text.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

constexpr std::string_view kShip = R"(name: ship
model: a/b
flow:
  phases:
    - { name: plan, node: n }
    - { name: each, agent: r, after: [plan], map: { over: /phases/plan/output }, optional: true }
    - { name: sign, after: [each], checkpoint: "Is \"this\" it?" }
    - { name: gone, after: [sign], await: { event: merged } }
  gate: { blocks: 2 }
nodes: { n: { instructions: x } }
agents: { r: { charter: r.yaml } }
)";

TEST_CASE("a charter's graph is told line by line") {
  CHECK(graph_text(good_charter(release_charter())) == R"(charter release
node triage (start)
  transition escalate -> fix
  transition close -> report
  transition done -> report (when the turn ends)
  worker watcher -> watch (starts with the node)
  packs notes
  command set_severity
node fix
node report
node watch (worker)
)");
  CHECK(graph_text(good_charter(kShip)) == R"(charter ship
node n
phase plan: node n
phase each: agent r for each of /phases/plan/output, after plan (optional)
phase sign: checkpoint, after each
phase gone: await merged, after sign
agent r: r.yaml
gate 2
)");
  CHECK(graph_text(good_charter(charter_with(""))) == "charter t\nnode main (start)\n");
}

TEST_CASE("a charter's graph is drawn by Graphviz") {
  CHECK(graph_dot(good_charter(release_charter())) == R"(digraph "release" {
  rankdir=LR;
  "triage" [shape=box, peripheries=2];
  "triage" -> "fix" [label="escalate"];
  "triage" -> "report" [label="close"];
  "triage" -> "report" [label="done"];
  "triage" -> "watch" [label="watcher", style=dashed];
  "fix" [shape=box];
  "report" [shape=box];
  "watch" [shape=ellipse];
}
)");
  CHECK(graph_dot(good_charter(kShip)) == R"(digraph "ship" {
  rankdir=LR;
  "n" [shape=box];
  "phase plan" [shape=component, label="plan: node n"];
  "phase plan" -> "n" [style=dotted];
  "phase each" [shape=component, label="each: agent r"];
  "phase plan" -> "phase each";
  "phase each" -> "agent r" [style=dotted];
  "phase sign" [shape=component, label="sign: checkpoint"];
  "phase each" -> "phase sign";
  "phase gone" [shape=component, label="gone: await merged"];
  "phase sign" -> "phase gone";
  "agent r" [shape=folder];
}
)");
}

}  // namespace
}  // namespace pawl
