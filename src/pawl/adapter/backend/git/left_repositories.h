// Repositories that commands made before their session was killed.
#pragma once

#include <string>
#include <vector>

#include "pawl/adapter/backend/git/host_git.h"
#include "pawl/adapter/backend/sandbox/taken_names.h"

namespace pawl::git {

// Where Pawl itself keeps git directories and what it took: not to be looked through, should they
// lie beneath a root.
std::vector<std::string> directories_of_pawl(const std::string& git_directory,
                                             const backend::TakenNames& store);

// A .git file of `git worktree add`, which leads into a private directory and nowhere outside.
bool is_work_tree_of(const std::string& work_tree, const std::string& directory);

// Moves away what must not stay, when nothing of a session runs: a thing called .git, or the HEAD
// of a directory that git takes for a repository. Where it is now.
Result<std::string> take_git(const std::string& path, const backend::TakenNames& store);

// By the notes that killed sessions have left in `git_directory`. `git` is null where there is
// none. A sentence for each thing.
std::vector<std::string> take_left_repositories(const HostGit* git,
                                                const std::string& git_directory,
                                                const backend::TakenNames& store);

}  // namespace pawl::git
