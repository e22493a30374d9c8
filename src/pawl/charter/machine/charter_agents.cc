// The sections `agents` and `subagents`.
#include <algorithm>
#include <array>

#include "pawl/charter/charter_limits.h"
#include "pawl/charter/charter_models.h"
#include "pawl/charter/charter_money.h"
#include "pawl/charter/machine/machine_reading.h"
#include "pawl/json.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 2> kOnParentEnds = {"cancel", "detach"};
constexpr std::int64_t kDescendantsMax = 1'000'000;
constexpr std::int64_t kAgentsAtATimeMax = 10'000;
constexpr std::size_t kAgentTextBytesMax = 64U << 10U;

// What an agent that is written in place may say; the rest is its parent's.
constexpr std::array<std::string_view, 8> kInPlace = {
    "instructions", "model", "max_tokens", "temperature", "effort", "stream", "output", "tools"};
// What it has of its parent's charter as it stands there.
constexpr std::array<std::string_view, 5> kInherited = {"models", "providers", "system_header",
                                                        "vars", "compaction"};

void field_of(JsonWriter& out, std::string_view key, const Node& value) {
  out.key(key).raw(to_json(value));
}

// The parent's tools with a list of those that the agent has: its `tools`, in place of `allow`.
void write_tools(JsonWriter& out, const Node& root, const Node* listed,
                 const std::vector<std::string>& names) {
  const Node* tools = root.find("tools");
  if (tools == nullptr && listed == nullptr) return;
  out.key("tools").begin_object();
  if (tools != nullptr) {
    for (const Member& member : tools->members()) {
      const bool replaced = listed != nullptr &&
                            (member.key == "allow" || member.key == "ask" || member.key == "use");
      if (!replaced) field_of(out, member.key, member.value);
    }
  }
  if (listed != nullptr) {
    out.key("allow").begin_array();
    for (const std::string& name : names) out.string(name);
    out.end_array();
  }
  out.end_object();
}

std::string charter_in_place(const Member& member, const Node& root,
                             const std::vector<std::string>& tools) {
  const Node& said = member.value;
  JsonWriter out;
  out.begin_object().field("name", member.key);
  for (const std::string_view key : kInherited) {
    if (const Node* value = root.find(key)) field_of(out, key, *value);
  }
  if (said.find("model") == nullptr) {
    if (const Node* model = root.find("model")) field_of(out, "model", *model);
  }
  for (const std::string_view key : kInPlace) {
    const Node* value = said.find(key);
    if (value != nullptr && key != "tools") field_of(out, key, *value);
  }
  write_tools(out, root, said.find("tools"), tools);
  return out.end_object().take();
}

void take_agent_limits(MapReader& reader, MachineReading& reading, const std::string& where,
                       CharterAgent& agent) {
  const Node* node = reader.take("limits");
  if (node == nullptr) return;
  Spending spending;
  std::vector<Fault> faults;
  read_limits(*node, faults, agent.limits, spending);
  for (Fault& fault : faults) {
    fault.message = where + "." + fault.message;
    add_fault(reading.faults, std::move(fault));
  }
  agent.limits.cost_pico = spending.cost_pico;
  agent.limits.ask_cost_pico = spending.ask_cost_pico;
}

void take_in_place(MapReader& reader, const Member& member, const Node& root,
                   MachineReading& reading, CharterAgent& agent) {
  if (const Node* text = reader.take("instructions")) read_instructions(reader, *text, reading);
  std::string chain;
  if (const Node* model = reader.take("model")) read_chain(reader, *model, "model", chain);
  SamplingOptions sampling;
  read_sampling(reader, sampling);
  std::string schema;
  if (const Node* output = reader.take("output")) {
    read_output(*output, reading.faults, schema, "agents." + member.key + ".output");
  }
  std::vector<std::string> listed;
  std::vector<std::string> tools;
  if (const Node* list = reader.take("tools");
      list != nullptr && reader.take_string_list("tools", listed)) {
    const NameSet brought = reading.brought;  // what an agent names, the nodes do not have
    tools = read_tool_names(reader, *list, {}, reading);
    reading.brought = brought;
  }
  agent.text = charter_in_place(member, root, tools);
}

CharterAgent read_agent(const Member& member, const Node& root, MachineReading& reading) {
  CharterAgent agent;
  agent.name = member.key;
  agent.mark = member.key_mark;
  const std::string where = "agents." + member.key;
  const Node& node = member.value;
  MapReader reader(node, reading.faults, where);
  check_entry_name(reader, member.key_mark, "name of an agent", member.key);
  if (node.kind() != Node::Kind::map) return agent;
  reader.take_string("description", agent.description);
  check_bytes(reader, node.find("description"), "description", kAgentTextBytesMax);
  take_agent_limits(reader, reading, where, agent);
  if (const auto choice = reader.take_choice("on_parent_end", kOnParentEnds)) {
    agent.on_parent_end = static_cast<OnParentEnd>(*choice);
  }
  const Node* file = reader.take("charter");
  const Node* text = reader.take("instructions");
  if ((file == nullptr) == (text == nullptr)) {
    reader.fault(member.key_mark, "an agent has \"charter\", a file, or \"instructions\"",
                 file == nullptr ? "add one of them" : "keep one of them");
  }
  if (file != nullptr) {
    if (reader.take_string("charter", agent.file) && agent.file.empty()) {
      reader.fault(file->mark(), "\"charter\" names a file without a name");
    }
    for (const std::string_view key : kInPlace) {
      const Node* value = node.find(key);
      if (value == nullptr || key == "instructions") continue;
      reader.take(key);
      reader.fault(value->mark(), quoted(key) + " is for an agent that is written in place",
                   "write it in " + agent.file);
    }
  } else {
    take_in_place(reader, member, root, reading, agent);
  }
  reader.finish();
  return agent;
}

}  // namespace

void read_agents(const Node& agents, const Node& root, MachineReading& reading) {
  if (agents.members().size() > kAgentsMax) {
    return add_fault(reading.faults,
                     {agents.mark(),
                      "charter: there may be " + std::to_string(kAgentsMax) + " agents, found " +
                          std::to_string(agents.members().size()),
                      ""});
  }
  std::vector<CharterAgent>& all = reading.machine().agents;
  for (const Member& member : agents.members()) all.push_back(read_agent(member, root, reading));
  std::ranges::sort(all, {},
                    [](const CharterAgent& one) -> const std::string& { return one.name; });
}

void read_subagents(const Node& subagents, MachineReading& reading) {
  MapReader reader(subagents, reading.faults, "subagents");
  bool adhoc = false;
  if (reader.take_bool("adhoc", adhoc) && adhoc) reading.machine().adhoc_agents = Presence::present;
  SubagentBounds& bounds = reading.machine().subagents;
  reader.take_int("depth", {1, std::int64_t{kLineageMax}}, bounds.depth);
  reader.take_int("descendants", {1, kDescendantsMax}, bounds.descendants);
  reader.take_int("at_a_time", {1, kAgentsAtATimeMax}, bounds.at_a_time);
  reader.finish();
}

}  // namespace pawl
