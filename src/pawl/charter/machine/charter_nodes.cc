// The sections `nodes` and `packs`.
#include <array>

#include "pawl/charter/charter_limits.h"
#include "pawl/charter/charter_models.h"
#include "pawl/charter/charter_vars.h"
#include "pawl/charter/machine/machine_reading.h"
#include "pawl/json.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 3> kOnEnds = {"wait", "cancel", "detach"};
constexpr std::int64_t kDiscoverMax = 10'000;

// Kind and state of each node, which the entries of all others are checked against; and the names.
void read_facts(const Node& nodes, MachineReading& reading) {
  for (const Member& member : nodes.members()) {
    NodeFacts facts;
    const Node* worker = member.value.find("worker");
    if (worker != nullptr && worker->as_bool() == true) facts.kind = NodeKind::worker;
    if (const Node* state = member.value.find("state")) {
      facts.state = read_state(*state, reading.faults, "nodes." + member.key + ".state");
    }
    reading.facts.emplace(member.key, std::move(facts));
    reading.node_tools.add_keys(member.value.find("define"));
  }
}

void add_definitions(MapReader& reader, const std::string& where, ToolScope scope,
                     const std::string& owner, MachineReading& reading) {
  const Node* define = reader.take("define");
  if (define == nullptr) return;
  for (CommandDeclaration& tool :
       read_definitions(*define, reading.faults, where + ".define", reading.machine().notes)) {
    tool.scope = scope;
    tool.owner = owner;
    reading.defined.push_back(std::move(tool));
  }
}

void take_node_limits(MapReader& reader, std::vector<Fault>& faults, const std::string& where,
                      NodeSpec& spec) {
  const Node* limits = reader.take("limits");
  if (limits == nullptr) return;
  MapReader inner(*limits, faults, where + ".limits");
  inner.take_int("steps", {1, kLimitStepsMax}, spec.steps);
  inner.finish();
}

void take_discover(MapReader& reader, const std::string& where, MachineReading& reading,
                   NodeSpec& spec) {
  const Node* node = reader.take("discover");
  if (node == nullptr) return;
  DiscoverSpec discover;
  MapReader inner(*node, reading.faults, where + ".discover");
  if (const Node* list = inner.require("nodes")) {
    std::vector<std::string> names;
    if (inner.take_string_list("nodes", names)) {
      for (const Node& item : list->items()) {
        take_known(inner, item, "node", reading.nodes, discover.nodes.emplace_back());
      }
    }
    if (names.size() > kNodeEntriesMax) {
      inner.fault(list->mark(), "\"nodes\" may list " + std::to_string(kNodeEntriesMax));
    }
  }
  inner.take_int("max", {1, kDiscoverMax}, discover.max);
  inner.take_int("depth", {1, std::int64_t{kDepthMax}}, discover.depth);
  inner.finish();
  spec.discover = std::move(discover);
}

void take_packs(MapReader& reader, MachineReading& reading, NodeSpec& spec) {
  const Node* list = reader.take("packs");
  std::vector<std::string> names;
  if (list == nullptr || !reader.take_string_list("packs", names)) return;
  for (const Node& item : list->items()) {
    std::string name;
    if (!take_known(reader, item, "pack", reading.packs, name)) continue;
    if (std::ranges::find(spec.packs, name) != spec.packs.end()) {
      reader.fault(item.mark(), "the pack " + quoted(name) + " is listed twice");
    } else if (spec.packs.size() < kNodeEntriesMax) {
      spec.packs.push_back(std::move(name));
    }
  }
  // Two packs of a node with one name between them: nothing says which of them is meant.
  std::map<std::string_view, std::string_view> owners;
  for (const std::string& pack : spec.packs) {
    const auto tools = reading.pack_tools.find(pack);
    if (tools == reading.pack_tools.end()) continue;
    for (const std::string& tool : tools->second.all()) {
      const auto [owner, fresh] = owners.emplace(tool, pack);
      if (fresh || owner->second == pack) continue;
      reader.fault(list->mark(),
                   "the packs " + quoted(owner->second) + " and " + quoted(pack) +
                       " both define the tool " + quoted(tool),
                   "rename one of them, or list one of the packs");
    }
  }
}

void take_tools(MapReader& reader, const Node& node, MachineReading& reading, NodeSpec& spec) {
  const Node* list = reader.take("tools");
  std::vector<std::string> listed;
  if (list == nullptr || !reader.take_string_list("tools", listed)) return;
  NameSet own = reading.node_tools;  // those of its ancestors, too
  own.add_keys(node.find("define"));
  for (const std::string& pack : spec.packs) {
    for (const std::string& tool : reading.pack_tools[pack].all()) own.add(tool);
  }
  spec.tools = read_tool_names(reader, *list, own, reading);
}

void take_conversation(MapReader& reader, const std::string& where, MachineReading& reading,
                       CharterNode& out) {
  out.sampling = reading.charter.sampling;
  read_sampling(reader, out.sampling);
  out.output_schema = reading.charter.output_schema;
  if (const Node* output = reader.take("output")) {
    read_output(*output, reading.faults, out.output_schema, where + ".output");
  }
  if (const Node* compaction = reader.take("compaction")) {
    out.spec.compaction = reading.charter.compaction;
    read_compaction(*compaction, reading.faults, *out.spec.compaction, where + ".compaction");
  }
}

void take_instructions(MapReader& reader, const Member& member, MachineReading& reading,
                       CharterNode& out) {
  if (const Node* own = reader.take("instructions")) {
    out.instructions = read_instructions(reader, *own, reading);
  } else if (reading.instructions != nullptr) {
    out.instructions = reading.charter.instructions;
  } else {
    reader.fault(member.key_mark, "\"instructions\" is missing",
                 "add instructions: with what the model is to do");
  }
}

CharterNode read_node(const Member& member, MachineReading& reading) {
  CharterNode out;
  const std::string where = "nodes." + member.key;
  const Node& node = member.value;
  NodeSpec& spec = out.spec;
  spec.name = member.key;
  out.mark = member.key_mark;
  MapReader reader(node, reading.faults, where);
  check_charter_name(reader, member.key_mark, "name of a node", member.key);
  if (node.kind() != Node::Kind::map) return out;
  bool worker = false;
  if (reader.take_bool("worker", worker) && worker) spec.kind = NodeKind::worker;
  take_instructions(reader, member, reading, out);
  if (const Node* model = reader.take("model")) read_chain(reader, *model, "model", out.model);
  take_conversation(reader, where, reading, out);
  take_node_limits(reader, reading.faults, where, spec);
  add_definitions(reader, where, ToolScope::node, member.key, reading);
  take_packs(reader, reading, spec);
  take_tools(reader, node, reading, spec);
  reader.take("state");  // read_facts() has read it
  spec.state = reading.facts[member.key].state.spec;
  read_next(reader, where, reading, spec);
  read_children(reader, where, reading, spec);
  if (const auto choice = reader.take_choice("workers_on_end", kOnEnds)) {
    static constexpr std::array<WorkersOnEnd, 3> kValues = {
        WorkersOnEnd::wait, WorkersOnEnd::cancel, WorkersOnEnd::detach};
    spec.workers_on_end = kValues[*choice];
  }
  read_commands(reader, where, reading, node, spec);
  take_discover(reader, where, reading, spec);
  reader.finish();
  out.said = to_json(node);
  return out;
}

// A pack's tools by name: those it defines, and those of the charter that it takes for itself.
void take_pack_tools(MapReader& reader, const Node& node, const std::string& where,
                     CharterPack& pack, MachineReading& reading) {
  NameSet& names = reading.pack_tools[pack.spec.name];
  if (const Node* define = node.find("define")) names.add_keys(define);
  add_definitions(reader, where, ToolScope::pack, pack.spec.name, reading);
  const Node* list = reader.take("tools");
  std::vector<std::string> listed;
  if (list == nullptr || !reader.take_string_list("tools", listed)) return;
  for (const std::string& name : read_tool_names(reader, *list, {}, reading)) {
    if (names.contains(name)) {
      reader.fault(list->mark(),
                   "the tool " + quoted(name) +
                       " stands in the pack's tools and in "
                       "its define",
                   "keep one of them");
    }
    pack.spec.tools.push_back(name);
    names.add(name);
  }
}

CharterPack read_pack(const Member& member, MachineReading& reading) {
  CharterPack pack;
  pack.spec.name = member.key;
  pack.mark = member.key_mark;
  const std::string where = "packs." + member.key;
  MapReader reader(member.value, reading.faults, where);
  check_charter_name(reader, member.key_mark, "name of a pack", member.key);
  if (member.value.kind() != Node::Kind::map) return pack;
  if (const Node* own = reader.take("instructions")) {
    pack.instructions = read_instructions(reader, *own, reading);
  }
  if (const Node* state = reader.take("state")) {
    const StateFacts facts = read_state(*state, reading.faults, where + ".state");
    if (!facts.begins_alone()) {
      reader.fault(facts.mark, facts.why.empty()
                                   ? "the pack's state needs an initial: {} does not fit its schema"
                                   : "\"initial\" does not fit the schema: " + facts.why);
    }
    pack.spec.state = facts.spec;
  }
  take_pack_tools(reader, member.value, where, pack, reading);
  reader.finish();
  return pack;
}

}  // namespace

void read_packs(const Node& packs, MachineReading& reading) {
  if (packs.members().size() > kPacksMax) {
    add_fault(reading.faults,
              {packs.mark(), "charter: there may be " + std::to_string(kPacksMax) + " packs", ""});
    return;
  }
  for (const Member& member : packs.members()) {
    reading.machine().packs.push_back(read_pack(member, reading));
  }
  std::ranges::sort(reading.machine().packs, {},
                    [](const CharterPack& pack) -> const std::string& { return pack.spec.name; });
}

void read_nodes(const Node& nodes, MachineReading& reading) {
  read_facts(nodes, reading);
  for (const Member& member : nodes.members()) {
    reading.machine().nodes.push_back(read_node(member, reading));
  }
  std::ranges::sort(reading.machine().nodes, {},
                    [](const CharterNode& node) -> const std::string& { return node.spec.name; });
}

}  // namespace pawl
