// Reads what a charter says beside its one agent: `start`, `nodes`, `packs`, `flow`, `gate`,
// `agents`, `subagents`.
#pragma once

#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"
#include "pawl/charter/charter_tools.h"

namespace pawl {

// Where the text of the instructions stands, if it stands at the top.
struct TopOfCharter {
  const Node* instructions = nullptr;
  Mark mark = {};  // of the charter
};

// `reader` reads the charter `root`, whose other sections have been read. A charter whose one node
// needs nothing that only a machine has becomes a charter without nodes.
void read_machine(MapReader& reader, const Node& root, const TopOfCharter& top,
                  std::vector<Fault>& faults, CharterTools& tools, Charter& charter);

}  // namespace pawl
