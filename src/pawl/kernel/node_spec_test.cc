#include "pawl/kernel/node_spec.h"

#include <doctest/doctest.h>

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

NodeSpec named(std::string name, NodeKind kind = NodeKind::primary) {
  NodeSpec node;
  node.name = std::move(name);
  node.kind = kind;
  return node;
}

std::vector<NodeSpec> two_nodes() {
  return {named("fix"), named("triage")};
}

TEST_CASE("entries of a node are found by their names, and nodes among a thousand") {
  std::vector<NodeSpec> nodes;
  for (int i = 100; i < 999; ++i) nodes.push_back(named("n" + std::to_string(i)));
  CHECK(find_node(nodes, "n500")->name == "n500");
  CHECK(find_node(nodes, "n50") == nullptr);
  NodeSpec node = named("n");
  node.next = {{.name = "a", .to = "x"}, {.name = "b", .to = "y", .when = NextWhen::end_turn}};
  node.workers = {{.name = "w", .node = "x"}};
  node.children = {{.name = "c", .node = "y"}};
  CHECK(find_next(node, "b")->to == "y");
  CHECK(find_next(node, "c") == nullptr);
  CHECK(find_child(node, "w")->node == "x");
  CHECK(find_child(node, "c")->node == "y");
  CHECK(next_at_end(node)->name == "b");
  CHECK(next_at_end(named("n")) == nullptr);
}

TEST_CASE("names that the kernel answers to are reserved") {
  for (const char* name : {"update_state", "cede", "suspend", "transition_x", "spawn_y", "agent__z",
                           "run_subagent", "work_item_add", "discover_step"}) {
    CHECK(is_reserved_tool(name));
  }
  for (const char* name : {"bash", "ceded", "transition", "spawner", "agent_z"}) {
    CHECK_FALSE(is_reserved_tool(name));
  }
}

TEST_CASE("nodes that fit together have no fault") {
  std::vector<NodeSpec> nodes = two_nodes();
  nodes[1].next = {{.name = "escalate", .to = "fix"}};
  nodes[1].packs = {"notes"};
  CHECK(fault_of(nodes, {{.name = "notes"}}, "triage", 1).empty());
  CHECK(fault_of({}, {}, "main", 1).empty());
}

TEST_CASE("each way in which nodes do not fit together is named") {
  const auto fault = [](auto change) {
    std::vector<NodeSpec> nodes = two_nodes();
    std::vector<PackSpec> packs;
    std::string start = "triage";
    change(nodes, packs, start);
    return fault_of(nodes, packs, start, 1);
  };
  using Nodes = std::vector<NodeSpec>;
  using Packs = std::vector<PackSpec>;
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) { std::swap(nodes[0], nodes[1]); }) ==
        "nodes and packs are not in the order of their names");
  CHECK(fault([](Nodes&, Packs&, std::string& start) { start = "main"; }) ==
        "it starts at no node of its own");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) { nodes.clear(); }).empty());
  CHECK(fault([](Nodes& nodes, Packs& packs, std::string&) {
          nodes.clear();
          packs = {{.name = "p"}};
        }) == "packs without nodes");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) {
          nodes[0].next = {{.name = "a", .to = "nowhere"}};
        }) == "node fix: next leads to no node nowhere");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) {
          nodes[0].workers = {{.name = "w", .node = "triage"}};
        }) == "node fix: triage is no node with worker: true");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) {
          nodes[1].kind = NodeKind::worker;
          nodes[0].children = {{.name = "c", .node = "triage"}};
        }) == "node fix: triage is no node of a primary child");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) {
          const ChildSpec child{.name = "c", .node = "triage", .start = ChildStart::with_node};
          nodes[0].children = {child, child};
        }) == "node fix: more than one child starts with it");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) {
          nodes[0].kind = NodeKind::worker;
          nodes[0].children = {{.name = "c", .node = "triage"}};
        }) == "node fix: a worker has no children");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) { nodes[0].packs = {"p"}; }) ==
        "node fix: there is no pack p");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) { nodes[0].targets = {1}; }) ==
        "node fix: it is asked of a model that the run does not have");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) { nodes[0].packs.resize(257); }) ==
        "node fix: one of its lists is too long");
  CHECK(fault([](Nodes& nodes, Packs&, std::string&) {
          nodes[0].state = StateSpec{.initial = std::string(kStateBytesMax + 1, ' ')};
        }) == "node fix: its state or the schema of it is too long");
}

TEST_CASE("a node that starts itself, by whichever way, is found; one that two start is fine") {
  std::vector<NodeSpec> nodes = {named("a", NodeKind::worker), named("b", NodeKind::worker),
                                 named("c", NodeKind::worker)};
  const auto starts = [](std::string node) {
    return ChildSpec{.name = node, .node = node, .start = ChildStart::with_node};
  };
  nodes[0].workers = {starts("b"), starts("c")};
  nodes[1].workers = {starts("c")};
  CHECK(fault_of(nodes, {}, "a", 1).empty());
  nodes[2].workers = {{.name = "a", .node = "a"}};
  CHECK(fault_of(nodes, {}, "a", 1).empty());
  nodes[2].workers.front().start = ChildStart::with_node;
  CHECK(fault_of(nodes, {}, "a", 1) == "node a starts itself with itself");
}

TEST_CASE("words of nodes read back, and others are told which there are") {
  CHECK(parse_next_context("summary").value() == NextContext::summary);
  CHECK(parse_next_when("end_turn").value() == NextWhen::end_turn);
  CHECK(parse_workers_on_end("detach").value() == WorkersOnEnd::detach);
  CHECK(parse_child_start("with_node").value() == ChildStart::with_node);
  CHECK(parse_state_owner("external").value() == StateOwner::external);
  CHECK(parse_next_context("stale").error().message ==
        "context is keep, fresh or summary, not 'stale'");
  CHECK(name(ToolScope::pack) == "pack");
  CHECK(name(NodeKind::worker) == "worker");
}

TEST_CASE("nodes and packs are pinned by the record that starts a run") {
  RunStarted start = a_start();
  start.nodes = two_nodes();
  start.nodes[0].state = StateSpec{.schema = "{}", .initial = "{}", .owner = StateOwner::external};
  start.nodes[0].next = {{.name = "on", .to = "triage", .context = NextContext::fresh}};
  start.nodes[1].tools = {"pure"};
  start.nodes[1].compaction.emplace().ratio_percent = 50;
  start.packs = {{.name = "notes", .tools = {"idem"}, .state = StateSpec{}}};
  Record record;
  record.event = start;
  const auto again = decode_record(encode_record(record));
  REQUIRE(again);
  CHECK(*again == record);
}

}  // namespace
}  // namespace pawl::testing
