// Where repositories are beneath some directories, by one bounded walk.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pawl::git {

inline constexpr std::size_t kFindEntriesMax = 100'000;
inline constexpr std::size_t kFindDepthMax = 12;
inline constexpr std::size_t kFoundRepositoriesMax = 32;

struct FoundRepositories {
  std::vector<std::string> work_trees;  // each directory that has a .git, whatever that is
  bool complete = true;                 // false: there is more than a walk takes
};

// No link is followed; `.git` and `node_modules` are not entered.
FoundRepositories find_repositories(const std::vector<std::string>& roots);

}  // namespace pawl::git
