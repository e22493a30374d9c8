#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"
#include "pawl/kernel/node_spec.h"

namespace pawl {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("the charter of machine.md is read whole") {
  const Charter charter = good_charter(release_charter());

  CHECK(charter.node == "triage");
  CHECK(charter.instructions == "Find out how bad it is.");
  REQUIRE(charter.machine.nodes.size() == 4);
  const NodeSpec& triage = node_of(charter, "triage").spec;
  CHECK(triage.kind == NodeKind::primary);
  CHECK(triage.tools == Names{"bash", "view"});
  REQUIRE(triage.state);
  CHECK(triage.state->initial == "{}");
  CHECK(triage.state->owner == StateOwner::run);
  REQUIRE(triage.next.size() == 3);
  CHECK(triage.next[0] ==
        NextSpec{"escalate", "fix", "It is severe.", NextContext::keep, NextWhen::called, ""});
  CHECK(triage.next[1] == NextSpec{"close", "report"});
  CHECK(triage.next[2].when == NextWhen::end_turn);
  REQUIRE(triage.workers.size() == 1);
  CHECK(triage.workers[0] == ChildSpec{"watcher", "watch", ChildStart::with_node});
  CHECK(triage.workers_on_end == WorkersOnEnd::wait);
  REQUIRE(triage.commands.size() == 1);
  CHECK(triage.commands[0].actions ==
        R"([{"patch":{"severity":{"$input":"/severity"}}},{"transition":"escalate"}])");
  CHECK(triage.packs == Names{"notes"});
  CHECK(node_of(charter, "watch").spec.kind == NodeKind::worker);
  CHECK_FALSE(node_of(charter, "report").output_schema.empty());
  CHECK(node_of(charter, "fix").output_schema.empty());
  REQUIRE(charter.machine.packs.size() == 1);
  CHECK(charter.machine.packs[0].instructions == "Take notes.");
  REQUIRE(charter.commands.size() == 1);
  CHECK(charter.commands[0].scope == ToolScope::pack);
  CHECK(charter.commands[0].owner == "notes");
}

// What the reader lets through is what the kernel pins.

TEST_CASE("the specs of a charter that loads have no fault for the kernel") {
  const Charter charter = good_charter(release_charter());
  std::vector<NodeSpec> nodes;
  std::vector<PackSpec> packs;
  for (const CharterNode& node : charter.machine.nodes) nodes.push_back(node.spec);
  for (const CharterPack& pack : charter.machine.packs) packs.push_back(pack.spec);
  CHECK(fault_of(nodes, packs, charter.node, 1).empty());
}

TEST_CASE("what stands in a node applies there, and what stands at the top elsewhere") {
  const Charter charter = good_charter(
      "instructions: Top.\ntemperature: 0.5\nmax_tokens: 10\noutput: { schema: { type: object } }\n"
      "compaction: { keep: 9 }\n" +
      nodes_with(
          "  a: { next: { b: b } }\n"
          "  b: { instructions: B., model: scripted/b.yaml, temperature: 1, limits: { steps: "
          "3 }, output: { schema: { type: array } }, compaction: { ratio: 0.5 } }\n"));
  const CharterNode& a = node_of(charter, "a");
  CHECK(a.instructions == "Top.");
  CHECK(a.model.empty());
  CHECK(a.sampling.temperature_milli == 500);
  CHECK(a.output_schema == R"({"type":"object"})");
  CHECK_FALSE(a.spec.compaction);
  const CharterNode& b = node_of(charter, "b");
  CHECK(b.instructions == "B.");
  CHECK(b.model == "scripted/b.yaml");
  CHECK(b.sampling.temperature_milli == 1'000);
  CHECK(b.sampling.max_output_tokens == 10);
  CHECK(b.output_schema == R"({"type":"array"})");
  CHECK(b.spec.steps == 3);
  CHECK(b.spec.compaction == CompactionPolicy{50, 9, ""});
}

TEST_CASE("packs have what a node has of them, and nothing else") {
  const Charter charter = good_charter(
      "tools: { use: [view, grep], define: { t: { command: [x] } } }\n" +
      nodes_with("  a: { instructions: x, packs: [p] }\n"
                 "packs: { p: { tools: [t, view], define: { u: { command: [x] } } } }\n"));
  CHECK(charter.machine.packs[0].spec.tools == Names{"t", "view"});
  CHECK(
      charter_faults(nodes_with("  a: { instructions: x, packs: [p] }\n"
                                "packs:\n"
                                "  p: { tools: [t], define: { u: { command: [x] } }, worker: true, "
                                "state: { schema: { type: array } } }\n")) ==
      "f:7:16: packs.p: there is no tool \"t\" (define it under tools.define)\n"
      "f:7:53: packs.p: unknown key \"worker\" (known keys: instructions, state, define, "
      "tools)\n"
      "f:7:74: packs.p: the pack's state needs an initial: {} does not fit its schema\n");
  CHECK(charter_faults(charter_with("packs: { p: { instructions: x } }\n"))
            .find("\"packs\" needs \"nodes\"") != std::string::npos);
}

}  // namespace
}  // namespace pawl
