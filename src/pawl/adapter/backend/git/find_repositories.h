// Where repositories are beneath some directories, by one bounded walk.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pawl::git {

inline constexpr std::size_t kFindEntriesMax = 100'000;
inline constexpr std::size_t kFindDepthMax = 12;
inline constexpr std::size_t kFoundRepositoriesMax = 32;  // that a session holds
inline constexpr std::size_t kFindPackagesMax = 20'000;   // entries beneath node_modules

struct FindBounds {
  std::size_t entries = kFindEntriesMax;
  std::size_t depth = kFindDepthMax;
  std::size_t repositories = kFoundRepositoriesMax;
};
// What commands have made is looked for further than they can hide it cheaply.
inline constexpr FindBounds kFindAll = {2'000'000, 128, 1000};

struct FoundRepositories {
  std::vector<std::string> work_trees;  // each directory that has a .git, whatever that is
  // Directories that git takes for a repository although they are not called .git.
  std::vector<std::string> bare;
  bool complete = true;  // false: there is more than a walk takes
};

// No link is followed, and neither `.git` nor a directory of `except` is entered. `node_modules`
// comes last and has a bound of its own, beyond which a walk is complete all the same.
FoundRepositories find_repositories(const std::vector<std::string>& roots,
                                    const FindBounds& bounds = {},
                                    const std::vector<std::string>& except = {});

}  // namespace pawl::git
