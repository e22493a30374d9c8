// The charters of a charter's agents: files beside it, read when a run of it is put together, and
// pinned with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pawl/charter/charter.h"
#include "pawl/charter/host/charter_document.h"

namespace pawl {

inline constexpr std::size_t kAgentFilesMax = 256;  // of a charter and all its agents

// Where relative paths of an agent's charter start.
std::string directory_of_agent(const Charter& parent, const CharterAgent& agent);

// Reads the charter of each agent, and those of its agents in turn, and fills in their text.
// Faults, told with file and line: of the files themselves, of an agent that would call itself, and
// of one that could do more than the charter that has it. `admit` is asked about each file before
// it is parsed; false: it may not be used, and the caller knows why.
std::vector<std::string> read_agent_charters(Charter& charter, const CharterDocument& document,
                                             const DocumentParser& parse,
                                             const std::function<bool(HostFile)>& admit);

// What `child` could do and `parent` cannot, a sentence each: tools by name and definition,
// network, write roots, permissions. A section that the child leaves out is its parent's.
std::vector<std::string> more_than_parent(const Charter& parent, const Charter& child);

}  // namespace pawl
