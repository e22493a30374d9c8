// A git repository as the host sees it: where its parts are, and whether they can be held.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/result.h"

namespace pawl::git {

inline constexpr std::uint64_t kIndexBytesMax = 64ULL << 20U;
inline constexpr std::uint64_t kPackedRefsBytesMax = 8ULL << 20U;
inline constexpr std::size_t kGitFileBytesMax = 8192;
inline constexpr std::size_t kAlternatesMax = 16;

struct Repository {
  std::string work_tree;  // the directory that has a .git
  std::string directory;  // of HEAD and index
  std::string common;     // of objects, refs, hooks and configuration
  enum class Form : std::uint8_t { directory, file } form = Form::directory;  // of .git
  uid_t user = 0;                                                             // who owns it
  gid_t group = 0;
  std::vector<std::string> alternates;  // other directories of objects, absolute
  std::string obstacle;  // why tools can only read it; empty: they get a copy of their own
};

// By looking at files; nothing is run. An Error: .git is nothing that can be held, with the remedy.
// Directories of repositories that lie in `write_roots` without a `.git` in their path are somebody
// else's work, and only read.
Result<Repository> describe_repository(const std::string& work_tree,
                                       const std::vector<std::string>& write_roots);

// Whether a directory of git's says that a merge, a rebase or the like has been begun.
bool is_under_way(int directory);

}  // namespace pawl::git
