// Runs whose charters have nodes, for the tests of the machine.
#pragma once

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {

inline constexpr InstanceId kI2{2};
inline constexpr InstanceId kI3{3};
inline constexpr InstanceId kI4{4};

inline NodeSpec a_node(std::string name, NodeKind kind = NodeKind::primary) {
  NodeSpec node;
  node.name = std::move(name);
  node.kind = kind;
  return node;
}

// The nodes in the order of their names.
inline RunStarted a_machine(std::vector<NodeSpec> nodes, std::string start_at) {
  RunStarted start = a_start();
  start.nodes = std::move(nodes);
  start.node = std::move(start_at);
  return start;
}

inline NodeSpec& node_in(RunStarted& start, std::string_view name) {
  for (NodeSpec& node : start.nodes) {
    if (node.name == name) return node;
  }
  FAIL("no such node");
  return start.nodes.front();
}

inline NextSpec& next_of(RunStarted& start, std::string_view node, std::string name,
                         std::string to) {
  NextSpec next;
  next.name = std::move(name);
  next.to = std::move(to);
  node_in(start, node).next.push_back(std::move(next));
  return node_in(start, node).next.back();
}

inline StateSpec a_state(std::string schema, std::string initial = "") {
  StateSpec state;
  state.schema = std::move(schema);
  state.initial = std::move(initial);
  return state;
}

inline ChildSpec a_child(std::string name, std::string node) {
  ChildSpec child;
  child.name = std::move(name);
  child.node = std::move(node);
  return child;
}

// "main" with the worker "watcher" of the node "watch", and the primary child "talk" of "talker".
inline RunStarted a_family() {
  RunStarted start =
      a_machine({a_node("main"), a_node("talker"), a_node("watch", NodeKind::worker)}, "main");
  node_in(start, "main").workers = {a_child("watcher", "watch")};
  node_in(start, "main").children = {a_child("talk", "talker")};
  return start;
}

inline Block spawns_watcher(std::string input = "look") {
  return calls("spawn_watcher", R"({"input":")" + input + "\"}");
}

}  // namespace pawl::testing
