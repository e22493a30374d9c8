#include "pawl/charter/machine/read_machine.h"

#include <algorithm>

#include "pawl/charter/machine/machine_reading.h"
#include "pawl/json.h"

namespace pawl {
namespace {

// Of all scopes together.
constexpr std::size_t kDefinedToolsMax = 4096;

struct Sections {
  const Node* start = nullptr;
  const Node* nodes = nullptr;  // a map, or nullptr
  const Node* packs = nullptr;
  const Node* flow = nullptr;
  const Node* gate = nullptr;
  const Node* agents = nullptr;
  const Node* subagents = nullptr;
};

Sections take_sections(MapReader& reader) {
  Sections sections;
  sections.start = reader.take("start");
  sections.nodes = reader.take_map("nodes");
  sections.packs = reader.take_map("packs");
  sections.flow = reader.take("flow");
  sections.gate = reader.take("gate");
  sections.agents = reader.take_map("agents");
  sections.subagents = reader.take("subagents");
  return sections;
}

// Names first: what is read later may name what stands further down.
void gather_names(const Sections& sections, MachineReading& reading) {
  reading.nodes.add_keys(sections.nodes);
  reading.packs.add_keys(sections.packs);
  reading.agents.add_keys(sections.agents);
  if (sections.flow != nullptr) {
    if (const Node* phases = sections.flow->find("phases")) {
      for (const Node& phase : phases->items()) {
        if (const Node* name = phase.find("name")) reading.phases.add(name->text());
      }
    }
  }
  for (const CommandDeclaration& tool : reading.tools.commands) {
    reading.charter_tools.add(tool.spec.name);
  }
  for (const std::string& tool : reading.tools.common) reading.charter_tools.add(tool);
  for (const std::string& tool : reading.tools.left_out) reading.left_out.add(tool);
}

// The node where a run starts; empty: it is not said, or wrong.
std::string read_start(MapReader& reader, const Sections& sections, MachineReading& reading) {
  if (sections.start == nullptr) return "";
  const auto text = sections.start->as_string();
  const std::vector<Member>& nodes = sections.nodes->members();
  const auto found = text ? reading.facts.find(*text) : reading.facts.end();
  if (found == reading.facts.end()) {
    reader.fault(sections.start->mark(),
                 "\"start\" must name a node, found " + describe_kind(*sections.start),
                 nodes.size() == 1 ? "write " + nodes.front().key
                 : text            ? reading.nodes.remedy(*text)
                                   : "");
    return "";
  }
  if (found->second.kind == NodeKind::worker) {
    reader.fault(
        sections.start->mark(),
        "the node " + quoted(*text) + " is a worker, and a run starts at a node that is none",
        "start at another node, or remove worker: true there");
  }
  return std::string(*text);
}

void check_start_state(const std::string& start, MachineReading& reading) {
  const auto found = reading.facts.find(start);
  if (found == reading.facts.end() || found->second.state.begins_alone()) return;
  const StateFacts& state = found->second.state;
  add_fault(reading.faults,
            {state.mark,
             "nodes." + start + ".state: " +
                 (state.why.empty() ? "the run starts here, and needs an initial: that fits"
                                    : "\"initial\" does not fit the schema: " + state.why),
             "give it an initial: that fits"});
}

// What the start node says is what is known of the charter where nobody asks for nodes.
void adopt(const CharterNode& node, Charter& charter) {
  charter.node = node.spec.name;
  charter.instructions = node.instructions;
  if (!node.model.empty()) charter.model = node.model;
  charter.sampling = node.sampling;
  charter.output_schema = node.output_schema;
}

// Tools of Pawl's own that some nodes have named are theirs: a node that names none has the rest.
void keep_brought(MachineReading& reading) {
  if (reading.brought.empty()) return;
  NameSet others = reading.charter_tools;
  for (const std::string& name : reading.node_tools.all()) others.add(name);
  for (const auto& [pack, tools] : reading.pack_tools) {
    for (const std::string& name : tools.all()) others.add(name);
  }
  for (CharterNode& node : reading.machine().nodes) {
    if (node.spec.tools) continue;
    if (others.all().size() > kNodeEntriesMax) {
      add_fault(reading.faults, {node.mark,
                                 "nodes." + node.spec.name + ": more than " +
                                     std::to_string(kNodeEntriesMax) + " tools are in scope",
                                 "list its tools:"});
      return;
    }
    node.spec.tools.emplace(others.all().begin(), others.all().end());
  }
}

void collect_tools(MachineReading& reading) {
  for (const std::string& name : reading.brought.all()) reading.tools.common.push_back(name);
  for (CommandDeclaration& tool : reading.defined) {
    reading.tools.commands.push_back(std::move(tool));
  }
  if (reading.tools.commands.size() > kDefinedToolsMax) {
    add_fault(reading.faults, {{},
                               "charter: there may be " + std::to_string(kDefinedToolsMax) +
                                   " tools in all scopes together",
                               ""});
  }
}

void check_size(MapReader& reader, const Node& nodes) {
  if (nodes.members().empty()) reader.fault(nodes.mark(), "\"nodes\" must have a node");
  if (nodes.members().size() <= kNodesMax) return;
  reader.fault(nodes.mark(), "there may be " + std::to_string(kNodesMax) + " nodes, found " +
                                 std::to_string(nodes.members().size()));
}

// Where instances begin: at the start, or at the nodes of the phases.
std::vector<std::string> starts_of(MapReader& reader, const Sections& sections,
                                   MachineReading& reading) {
  if (sections.flow != nullptr) {
    std::vector<std::string> starts;
    for (const PhaseSpec& phase : reading.machine().phases) {
      if (!phase.node.empty()) starts.push_back(phase.node);
    }
    return starts;
  }
  std::string start = read_start(reader, sections, reading);
  const std::vector<Member>& nodes = sections.nodes->members();
  if (sections.start == nullptr && nodes.size() == 1) start = nodes.front().key;
  if (sections.start == nullptr && nodes.size() > 1) {
    reader.fault(sections.nodes->mark(), "\"start\" is missing: it names the node of a run's root",
                 "add start: " + nodes.front().key + ", or a flow:");
  }
  if (start.empty()) return {};
  check_start_state(start, reading);
  return {start};
}

void read_graph(MapReader& reader, const Sections& sections, MachineReading& reading) {
  check_size(reader, *sections.nodes);
  if (sections.nodes->members().size() > kNodesMax) return;
  read_nodes(*sections.nodes, reading);
  if (sections.flow != nullptr) read_flow(*sections.flow, reading);
  const std::vector<std::string> starts = starts_of(reader, sections, reading);
  check_graph(*sections.nodes, starts, reading);
  keep_brought(reading);
  std::vector<CharterNode>& all = reading.machine().nodes;
  if (sections.flow != nullptr) {
    reading.charter.node.clear();
    const bool chosen = !reading.charter.model.empty();
    if (!chosen && !all.empty()) reading.charter.model = all.front().model;
    return;
  }
  const auto root = std::ranges::find_if(all, [&](const CharterNode& node) {
    return !starts.empty() && node.spec.name == starts.front();
  });
  if (root == all.end()) return;
  adopt(*root, reading.charter);
}

// Work items are kept in runs that have nodes: a charter of one agent has one node then.
void add_lone_node(MachineReading& reading) {
  CharterNode node;
  node.spec.name = reading.charter.node;
  node.instructions = reading.charter.instructions;
  node.sampling = reading.charter.sampling;
  node.output_schema = reading.charter.output_schema;
  JsonWriter said;
  said.begin_object().field("instructions", node.instructions).end_object();
  node.said = said.take();
  reading.machine().nodes.push_back(std::move(node));
}

// What cannot stand alone, or not beside each other.
void check_sections(MapReader& reader, const Sections& sections) {
  if (sections.start != nullptr && sections.flow != nullptr) {
    reader.fault(sections.start->mark(), "a charter has \"start\" or \"flow\", not both",
                 "remove one of them");
  }
  if (sections.nodes != nullptr) return;
  if (sections.start != nullptr) {
    reader.fault(sections.start->mark(), "\"start\" needs \"nodes\"",
                 "leave both out: a charter of one node has its instructions at the top");
  }
  if (sections.packs != nullptr) {
    reader.fault(sections.packs->mark(), "\"packs\" needs \"nodes\" that list them",
                 "write the node under nodes:");
  }
}

}  // namespace

void read_machine(MapReader& reader, const Node& root, const TopOfCharter& top,
                  std::vector<Fault>& faults, CharterTools& tools, Charter& charter) {
  const Sections sections = take_sections(reader);
  MachineReading reading{.charter = charter, .tools = tools, .faults = faults};
  reading.instructions = top.instructions;
  if (top.instructions != nullptr) {
    charter.instructions = read_instructions(reader, *top.instructions, reading);
  }
  gather_names(sections, reading);
  check_sections(reader, sections);
  if (sections.subagents != nullptr) read_subagents(*sections.subagents, reading);
  if (sections.gate != nullptr) read_gate(*sections.gate, faults, reading);
  if (sections.packs != nullptr) read_packs(*sections.packs, reading);
  if (sections.nodes != nullptr) {
    read_graph(reader, sections, reading);
  } else if (sections.flow != nullptr) {
    read_flow(*sections.flow, reading);
    charter.node.clear();
  } else if (top.instructions == nullptr) {
    reader.fault(top.mark, "\"instructions\" is missing",
                 "add instructions: with what the model is to do");
  }
  const bool lone = sections.nodes == nullptr && sections.flow == nullptr;
  if (lone && reading.machine().gate) add_lone_node(reading);
  if (sections.agents != nullptr) read_agents(*sections.agents, root, reading);
  collect_tools(reading);
}

}  // namespace pawl
