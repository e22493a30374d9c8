// What the readers of a charter's nodes, packs, flow and agents share: the names that there are,
// and where faults go.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/schema.h"
#include "pawl/charter/charter.h"
#include "pawl/charter/charter_tools.h"
#include "pawl/charter/machine/machine_names.h"

namespace pawl {

// What is known of a state before the entries that lead to it are read.
struct StateFacts {
  std::optional<Schema> schema = {};  // none: any value fits
  enum class Initial : std::uint8_t { absent, fits, unfit } initial = Initial::absent;
  bool takes_empty = true;  // {} fits
  std::string why = {};     // `initial` does not fit
  Mark mark = {};
  std::optional<StateSpec> spec = {};

  // An instance can begin without being given a state.
  bool begins_alone() const {
    return initial == Initial::fits || (initial == Initial::absent && takes_empty);
  }
};

struct NodeFacts {
  NodeKind kind = NodeKind::primary;
  StateFacts state = {};
};

struct MachineReading {
  Charter& charter;  // all that stands at the top has been read
  CharterTools& tools;
  std::vector<Fault>& faults;
  const Node* instructions = nullptr;  // at the top
  NameSet nodes = {};
  NameSet packs = {};
  NameSet agents = {};
  NameSet phases = {};
  NameSet charter_tools = {};  // at the top, and allowed
  NameSet left_out = {};       // likewise, and not allowed
  NameSet node_tools = {};     // that any node defines
  NameSet brought = {};        // of Pawl's own, by nodes that name them
  std::map<std::string, NodeFacts, std::less<>> facts = {};
  std::map<std::string, NameSet, std::less<>> pack_tools = {};
  std::vector<CommandDeclaration> defined = {};  // by nodes and packs

  CharterMachine& machine() { return charter.machine; }
  void note(Mark mark, std::string message, std::string remedy = {}) {
    add_fault(machine().notes, {mark, std::move(message), std::move(remedy)});
  }
};

// `schema`, `initial`, `owner`.
StateFacts read_state(const Node& node, std::vector<Fault>& faults, const std::string& where);
// Why the value does not fit the state; empty: it does.
std::string state_fault(const StateFacts& state, const Node& value);

// The entries `next`, `workers` and `children` of a node that `reader` reads.
void read_next(MapReader& reader, const std::string& where, MachineReading& reading,
               NodeSpec& spec);
void read_children(MapReader& reader, const std::string& where, MachineReading& reading,
                   NodeSpec& spec);
void read_commands(MapReader& reader, const std::string& where, MachineReading& reading,
                   const Node& node, NodeSpec& spec);

// `packs` and `nodes`; what stands under them is in `machine` afterwards.
void read_packs(const Node& packs, MachineReading& reading);
void read_nodes(const Node& nodes, MachineReading& reading);
void read_flow(const Node& flow, MachineReading& reading);
void read_gate(const Node& gate, std::vector<Fault>& faults, MachineReading& reading);
// `root` is the charter: an agent that is written in place has its models and tools.
void read_agents(const Node& agents, const Node& root, MachineReading& reading);
void read_subagents(const Node& subagents, MachineReading& reading);

// Text of the instructions of a node, an agent or the charter.
std::string read_instructions(MapReader& reader, const Node& node, const MachineReading& reading);
// The names of a list `tools`, patterns replaced by what they match. `own` are those in scope
// beside the charter's.
std::vector<std::string> read_tool_names(MapReader& reader, const Node& list, const NameSet& own,
                                         MachineReading& reading);

// Nodes that nothing leads to, nodes that start themselves, `detach` where it cannot be.
// `starts`: where a run, or a phase of it, begins.
void check_graph(const Node& nodes, const std::vector<std::string>& starts,
                 MachineReading& reading);

}  // namespace pawl
