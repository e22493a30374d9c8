// What a charter says beside its one agent: nodes, packs, a flow, agents (docs/charter.md, "A
// charter with several nodes").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/command_declaration.h"
#include "pawl/kernel/agent_spec.h"
#include "pawl/kernel/flow_spec.h"
#include "pawl/kernel/node_spec.h"
#include "pawl/limits.h"

namespace pawl {

// The key of a node and what stands under it. `spec` has no definition, no targets and no
// base_tokens yet: the assembly and the engine fill them in.
struct CharterNode {
  NodeSpec spec;
  std::string instructions;
  std::string model = {};  // a chain; empty: the charter's
  SamplingOptions sampling = {};
  std::string output_schema = {};  // JSON; empty: any text
  std::string said = {};           // JSON of all that the charter says of it
  Mark mark = {};
};

struct CharterPack {
  PackSpec spec;
  std::string instructions = {};
  Mark mark = {};
};

// An agent that is started as a run of its own: a charter file, or a charter written in place.
struct CharterAgent {
  std::string name;
  std::string description = {};
  std::string file = {};  // relative to the charter; empty: `text`
  std::string text = {};  // a whole charter, as JSON
  Limits limits = {};
  OnParentEnd on_parent_end = OnParentEnd::cancel;
  Mark mark = {};
  std::string directory = {};              // where its relative paths start; empty: the charter's
  std::vector<CharterAgent> beneath = {};  // its own agents, once its charter has been read
  Presence json = Presence::absent;        // its output is JSON, likewise
};

struct CharterMachine {
  std::vector<CharterNode> nodes = {};  // in the order of their names; none: one node without one
  std::vector<CharterPack> packs = {};  // likewise
  std::vector<PhaseSpec> phases = {};   // as the charter orders them; none: no flow
  std::map<std::string, Mark> phase_marks = {};
  std::optional<GateSpec> gate = {};
  std::vector<CharterAgent> agents = {};  // in the order of their names
  Presence adhoc_agents = Presence::absent;
  SubagentBounds subagents = {};
  std::vector<Fault> notes = {};  // what the author should know, though it is no fault
};

}  // namespace pawl
