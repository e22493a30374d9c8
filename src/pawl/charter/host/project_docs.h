// What a project tells agents in files of its own: CLAUDE.md and AGENTS.md, from the project's root
// down to the directory in which an agent works. docs/models.md is the same for readers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kProjectDocBytesMax = std::size_t{32} << 10U;   // of one file
inline constexpr std::size_t kProjectDocsBytesMax = std::size_t{64} << 10U;  // of all
inline constexpr std::size_t kProjectDepthMax = 32;  // directories, the root's included

struct ProjectDocs {
  std::string text;                // empty: there are none
  std::vector<std::string> notes;  // what was cut or left out, and why
};

// The root is the nearest directory with a `.git`, upwards; where there is none it is `directory`,
// so that nobody who may write to a directory above (/tmp) speaks to the agent. The farthest files
// come first, and when there are too many bytes they are the ones that are left out. The same file
// under two names, and a file that leads out of the project, are not read. A run keeps what it
// began with: what its own tools write to these files does not come back to it as instructions when
// it is taken up again.
ProjectDocs read_project_docs(const std::string& directory);

}  // namespace pawl
