// Where an instance can go from a node, and what it can start there: `next`, `workers`, `children`.
#include <array>

#include "pawl/charter/machine/machine_reading.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 3> kContexts = {"keep", "fresh", "summary"};
constexpr std::array<std::string_view, 1> kWhens = {"end_turn"};
constexpr std::array<std::string_view, 2> kStarts = {"on_call", "with_node"};
constexpr std::size_t kEntryTextBytesMax = 64U << 10U;

bool too_many(MapReader& reader, const Node& map, std::string_view key) {
  if (map.members().size() <= kNodeEntriesMax) return false;
  reader.fault(map.mark(), quoted(key) + " may have " + std::to_string(kNodeEntriesMax) +
                               " entries, found " + std::to_string(map.members().size()));
  return true;
}

void take_text(MapReader& reader, const Node& map, std::string_view key, std::string& out) {
  if (reader.take_string(key, out)) check_bytes(reader, map.find(key), key, kEntryTextBytesMax);
}

const StateFacts& state_of(const MachineReading& reading, const std::string& node) {
  static const StateFacts kNone;
  const auto found = reading.facts.find(node);
  return found == reading.facts.end() ? kNone : found->second.state;
}

// The state that an entry gives, or what its target begins with.
void take_state(MapReader& reader, const MachineReading& reading, NextSpec& next, Mark mark) {
  const Node* state = reader.take("state");
  const StateFacts& target = state_of(reading, next.to);
  if (state != nullptr) {
    const std::string why = state_fault(target, *state);
    if (!why.empty()) {
      reader.fault(state->mark(),
                   "\"state\" does not fit the state of the node " + quoted(next.to) + ": " + why);
    }
    next.state = to_json(*state);
    return;
  }
  if (next.when != NextWhen::end_turn || next.to.empty() || target.begins_alone()) return;
  reader.fault(mark,
               "the node " + quoted(next.to) +
                   " needs a state, and at the end of a turn nobody gives it one",
               "add state: here, or an initial: that fits there");
}

NextSpec read_next_entry(const Member& member, const std::string& where, MachineReading& reading) {
  NextSpec next;
  next.name = member.key;
  if (member.value.kind() != Node::Kind::map) {
    const Node none = Node::make_map({}, member.value.mark());
    MapReader reader(none, reading.faults, where);
    take_known(reader, member.value, "node", reading.nodes, next.to);
    return next;
  }
  MapReader reader(member.value, reading.faults, where);
  if (const Node* to = reader.require("to")) {
    take_known(reader, *to, "node", reading.nodes, next.to);
  }
  take_text(reader, member.value, "description", next.description);
  if (const auto context = reader.take_choice("context", kContexts)) {
    next.context = static_cast<NextContext>(*context);
  }
  if (reader.take_choice("when", kWhens)) next.when = NextWhen::end_turn;
  take_state(reader, reading, next, member.key_mark);
  reader.finish();
  return next;
}

// A worker or a primary child.
struct ChildKey {
  std::string_view key;
  NodeKind kind;
  std::string_view remedy;
};
constexpr ChildKey kWorkersKey = {"workers", NodeKind::worker,
                                  "add worker: true there, or list it under children:"};
constexpr ChildKey kChildrenKey = {"children", NodeKind::primary,
                                   "list it under workers:, or remove worker: true there"};

// Of the right kind, and able to begin.
void check_child(MapReader& reader, const ChildKey& list, const ChildSpec& child, Mark mark,
                 const MachineReading& reading) {
  const auto facts = reading.facts.find(child.node);
  if (facts == reading.facts.end()) return;
  if (facts->second.kind != list.kind) {
    const bool worker = facts->second.kind == NodeKind::worker;
    reader.fault(mark,
                 "the node " + quoted(child.node) +
                     (worker ? " is a worker, and no child that takes over"
                             : " is no worker: it has no worker: true"),
                 std::string(list.remedy));
  }
  if (child.start == ChildStart::with_node && !facts->second.state.begins_alone()) {
    reader.fault(mark,
                 "the node " + quoted(child.node) +
                     " needs a state, and with start: with_node nobody gives it one",
                 "give it an initial: that fits");
  }
}

ChildSpec read_child(const Member& member, const ChildKey& list, const std::string& where,
                     MachineReading& reading) {
  ChildSpec child;
  child.name = member.key;
  if (member.value.kind() != Node::Kind::map) {
    const Node none = Node::make_map({}, member.value.mark());
    MapReader reader(none, reading.faults, where);
    if (take_known(reader, member.value, "node", reading.nodes, child.node)) {
      check_child(reader, list, child, member.value.mark(), reading);
    }
    return child;
  }
  MapReader reader(member.value, reading.faults, where);
  const Node* node = reader.require("node");
  if (const auto start = reader.take_choice("start", kStarts)) {
    child.start = static_cast<ChildStart>(*start);
  }
  if (node != nullptr && take_known(reader, *node, "node", reading.nodes, child.node)) {
    check_child(reader, list, child, node->mark(), reading);
  }
  take_text(reader, member.value, "description", child.description);
  take_text(reader, member.value, "input", child.input);
  if (!child.input.empty() && child.start != ChildStart::with_node) {
    reader.fault(member.value.find("input")->mark(),
                 "\"input\" is what a child is told that starts with its node",
                 "add start: with_node, or remove it");
  }
  reader.finish();
  return child;
}

void read_list(MapReader& reader, const ChildKey& list, const std::string& where,
               MachineReading& reading, std::vector<ChildSpec>& out) {
  const Node* map = reader.take_map(list.key);
  if (map == nullptr || too_many(reader, *map, list.key)) return;
  for (const Member& member : map->members()) {
    check_entry_name(reader, member.key_mark, "name of a child", member.key);
    out.push_back(
        read_child(member, list, where + "." + std::string(list.key) + "." + member.key, reading));
  }
}

// A second child that takes over as soon as its parent is there could never act.
void check_started(MapReader& reader, const Node* children, const NodeSpec& spec) {
  std::size_t started = 0;
  for (const ChildSpec& child : spec.children) {
    if (child.start != ChildStart::with_node || ++started < 2) continue;
    const Node* entry = children->find(child.name);
    reader.fault(entry == nullptr ? children->mark() : entry->mark(),
                 "more than one child has start: with_node, and only one can take over",
                 "let the others start on_call");
    return;
  }
}

}  // namespace

void read_next(MapReader& reader, const std::string& where, MachineReading& reading,
               NodeSpec& spec) {
  const Node* map = reader.take_map("next");
  if (map == nullptr || too_many(reader, *map, "next")) return;
  bool at_end = false;
  for (const Member& member : map->members()) {
    check_entry_name(reader, member.key_mark, "name of a transition", member.key);
    NextSpec next = read_next_entry(member, where + ".next." + member.key, reading);
    if (next.when == NextWhen::end_turn && at_end) {
      reader.fault(member.key_mark, "a second entry of \"next\" has when: end_turn",
                   "keep one: the turn of an instance ends once");
    }
    at_end = at_end || next.when == NextWhen::end_turn;
    spec.next.push_back(std::move(next));
  }
}

void read_children(MapReader& reader, const std::string& where, MachineReading& reading,
                   NodeSpec& spec) {
  read_list(reader, kWorkersKey, where, reading, spec.workers);
  const Node* children = reader.take("children");
  read_list(reader, kChildrenKey, where, reading, spec.children);
  if (children == nullptr) return;
  if (spec.kind == NodeKind::worker) {
    reader.fault(children->mark(), "a worker has no children: only a primary instance can give way",
                 "list them under workers:, or remove worker: true");
  }
  check_started(reader, children, spec);
  for (const ChildSpec& child : spec.children) {
    for (const ChildSpec& worker : spec.workers) {
      if (worker.name != child.name) continue;
      reader.fault(children->mark(),
                   quoted(child.name) +
                       " stands in workers and in children: both would be the tool "
                       "spawn_" +
                       child.name,
                   "rename one of them");
    }
  }
}

}  // namespace pawl
