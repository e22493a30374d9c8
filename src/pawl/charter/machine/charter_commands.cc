// Commands of a node: what `pawl command` may do to an instance of it without a model.
#include <array>
#include <functional>

#include "pawl/charter/machine/json_pointer.h"
#include "pawl/charter/machine/machine_reading.h"
#include "pawl/json.h"

namespace pawl {
namespace {

constexpr std::string_view kInputRef = "$input";
constexpr std::size_t kActionsMax = 64;
constexpr std::size_t kCommandTextBytesMax = 64U << 10U;

// What a command of this node may name.
struct CommandScope {
  NameSet transitions = {};
  NameSet children = {};
  const NodeSpec& spec;
  MachineReading& reading;
};

void check_input_schema(MapReader& reader, const Node& node, std::string& out) {
  std::string text = to_json(node);
  const auto json = parse_json(text);
  const auto schema = json ? Schema::compile(*json) : Result<Schema>(json.error());
  if (!schema) return reader.fault(node.mark(), "\"input\": " + schema.error().message);
  out = std::move(text);
}

// Every `{ $input: POINTER }` in a value must name a place.
void check_references(MapReader& reader, const Node& value) {
  for (const Node& item : value.items()) check_references(reader, item);
  for (const Member& member : value.members()) {
    if (member.key != kInputRef) {
      check_references(reader, member.value);
      continue;
    }
    if (value.members().size() > 1) {
      reader.fault(member.key_mark, "\"$input\" stands alone: { $input: /pointer }",
                   "remove the other keys of this map");
    }
    const auto pointer = member.value.as_string();
    const std::string why = pointer ? pointer_fault(*pointer) : "it is no text";
    if (why.empty()) continue;
    reader.fault(member.value.mark(),
                 "\"$input\" must be a JSON Pointer, found " + describe_kind(member.value) +
                     (pointer ? ": " + why : ""),
                 "for example { $input: /severity }; { $input: \"\" } is the whole input");
  }
}

void check_transition(MapReader& reader, const Node& value, CommandScope& scope) {
  std::string name;
  if (!take_known(reader, value, "transition", scope.transitions, name)) return;
  const NextSpec* next = find_next(scope.spec, name);
  if (next == nullptr || !next->state.empty()) return;
  const auto target = scope.reading.facts.find(next->to);
  if (target == scope.reading.facts.end() || target->second.state.begins_alone()) return;
  reader.fault(value.mark(),
               "the transition " + quoted(name) + " needs a state, and a command gives it none",
               "add state: to the entry of next, or an initial: that fits to " + next->to);
}

void check_spawn(const Node& value, CommandScope& scope, const std::string& where) {
  MapReader reader(value, scope.reading.faults, where + ".spawn");
  if (value.kind() != Node::Kind::map) return;
  std::string name;
  const Node* worker = reader.require("worker");
  const bool known =
      worker != nullptr && take_known(reader, *worker, "worker or child", scope.children, name);
  const ChildSpec* child = known ? find_child(scope.spec, name) : nullptr;
  if (const Node* input = reader.require("input")) check_references(reader, *input);
  const Node* state = reader.take("state");
  if (state != nullptr) check_references(reader, *state);
  reader.finish();
  if (child == nullptr || state != nullptr) return;
  const auto facts = scope.reading.facts.find(child->node);
  if (facts == scope.reading.facts.end() || facts->second.state.begins_alone()) return;
  reader.fault(value.mark(), "the node " + quoted(child->node) + " needs a state", "add state:");
}

void check_suspend(const Node& value, CommandScope& scope, const std::string& where) {
  MapReader reader(value, scope.reading.faults, where + ".suspend");
  if (value.kind() != Node::Kind::map) return;
  if (const Node* reason = reader.require("reason")) check_references(reader, *reason);
  if (const Node* metadata = reader.take("metadata")) check_references(reader, *metadata);
  reader.finish();
}

void check_resume(const Node& value, CommandScope& scope, const std::string& where) {
  MapReader reader(value, scope.reading.faults, where + ".resume");
  if (value.kind() != Node::Kind::map) return;
  if (const Node* id = reader.take("suspend_id")) check_references(reader, *id);
  reader.finish();
}

void check_patch(MapReader& reader, const Node& value) {
  if (value.kind() != Node::Kind::map) {
    return reader.fault(value.mark(), "\"patch\" must be a map, found " + describe_kind(value));
  }
  check_references(reader, value);
}

void check_message(MapReader& reader, const Node& value) {
  if (value.kind() == Node::Kind::map) return check_references(reader, value);
  if (value.as_string()) return;
  reader.fault(value.mark(), "\"message\" must be a text, found " + describe_kind(value),
               "put it in quotes, or take it from the input: { $input: /text }");
}

constexpr std::array<std::string_view, 7> kActions = {"patch",   "transition", "spawn",  "cede",
                                                      "suspend", "resume",     "message"};

void check_action(const Node& action, CommandScope& scope, const std::string& where) {
  MapReader reader(action, scope.reading.faults, where);
  if (action.kind() != Node::Kind::map) return;
  if (action.members().size() != 1) {
    return reader.fault(action.mark(), "an entry of \"do\" is one action",
                        "one of patch, transition, spawn, cede, suspend, resume, message");
  }
  for (const std::string_view key : kActions) {
    const Node* value = reader.take(key);
    if (value == nullptr) continue;
    if (key == "patch") check_patch(reader, *value);
    if (key == "transition") check_transition(reader, *value, scope);
    if (key == "spawn") check_spawn(*value, scope, where);
    if (key == "cede") check_references(reader, *value);
    if (key == "suspend") check_suspend(*value, scope, where);
    if (key == "resume") check_resume(*value, scope, where);
    if (key == "message") check_message(reader, *value);
  }
  reader.finish();
}

// Of a list, what could never be done together.
void check_together(MapReader& reader, const Node& list) {
  std::size_t leaves = 0;
  for (const Node& action : list.items()) {
    const bool leaving = action.find("transition") != nullptr || action.find("cede") != nullptr;
    if (!leaving || ++leaves < 2) continue;
    return reader.fault(action.mark(),
                        "a command takes one transition, or cedes: this is a second one");
  }
}

void read_actions(MapReader& reader, const Node& node, CommandScope& scope,
                  const std::string& where, NodeCommand& command) {
  const Node* list = reader.take_list("do");
  if (list == nullptr) return;
  if (list->items().empty() || list->items().size() > kActionsMax) {
    return reader.fault(node.find("do")->mark(),
                        "\"do\" must list 1 to " + std::to_string(kActionsMax) + " actions",
                        "leave it out where the host has a function for this command");
  }
  for (const Node& action : list->items()) check_action(action, scope, where + ".do");
  check_together(reader, *list);
  command.actions = to_json(*list);
}

NodeCommand read_command(const Member& member, CommandScope& scope, const std::string& where) {
  NodeCommand command;
  command.name = member.key;
  MapReader reader(member.value, scope.reading.faults, where);
  if (member.value.kind() != Node::Kind::map) return command;
  reader.take_string("description", command.description);
  check_bytes(reader, member.value.find("description"), "description", kCommandTextBytesMax);
  if (const Node* input = reader.take("input")) {
    check_input_schema(reader, *input, command.input_schema);
  }
  read_actions(reader, member.value, scope, where, command);
  reader.finish();
  return command;
}

}  // namespace

void read_commands(MapReader& reader, const std::string& where, MachineReading& reading,
                   const Node& node, NodeSpec& spec) {
  const Node* map = reader.take_map("commands");
  if (map == nullptr) return;
  if (map->members().size() > kNodeEntriesMax) {
    return reader.fault(map->mark(), "\"commands\" may have " + std::to_string(kNodeEntriesMax) +
                                         " entries, found " +
                                         std::to_string(map->members().size()));
  }
  CommandScope scope{.spec = spec, .reading = reading};
  scope.transitions.add_keys(node.find("next"));
  scope.children.add_keys(node.find("workers"));
  scope.children.add_keys(node.find("children"));
  for (const Member& member : map->members()) {
    check_entry_name(reader, member.key_mark, "name of a command", member.key);
    spec.commands.push_back(read_command(member, scope, where + ".commands." + member.key));
  }
}

}  // namespace pawl
