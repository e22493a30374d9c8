// One bounded look at the work tree when a session begins: nested repositories and protected names
// at any depth. Nothing is followed or entered that walk_tree() does not enter.
#pragma once

#include <string>
#include <vector>

#include "pawl/adapter/backend/files/roots.h"

namespace pawl::backend {

inline constexpr std::size_t kRepositoriesMax = 64;
inline constexpr std::size_t kFoundNamesMax = 256;
inline constexpr std::size_t kWorkspaceEntriesMax = 100'000;
inline constexpr std::int64_t kWorkspaceTimeMaxMs = 5'000;

struct WorkspaceFindings {
  // Directories with an entry `.git` (a directory, a file or a link), outer ones first. Absolute.
  std::vector<std::string> repositories;
  // What has one of the names, at any depth, absolute. Nothing within such a thing is listed.
  std::vector<std::string> names;
  // False: a maximum was reached. What was found until then is there.
  bool complete = true;
};

// Looks beneath each of `write_roots`. `names` may have several components (".cargo/credentials").
// .git and node_modules are not entered.
Result<WorkspaceFindings> walk_workspace(const std::vector<std::string>& write_roots,
                                         const std::vector<std::string>& names);

}  // namespace pawl::backend
