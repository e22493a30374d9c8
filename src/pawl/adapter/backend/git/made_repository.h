// A repository that a tool has made: its git directory becomes the session's own, and the host gets
// a fresh one, which what is in the other comes into as published, never as it lies there.
#pragma once

#include <string>

#include "pawl/adapter/backend/git/host_git.h"
#include "pawl/result.h"

namespace pawl::git {

// A directory with a HEAD and objects.
bool is_made_repository(const std::string& path);

// When nothing of the session runs. The fresh one has the branch that the other is on and the
// harmless part of its configuration.
Status take_made_repository(const HostGit& git, const std::string& work_tree,
                            const std::string& git_directory);

}  // namespace pawl::git
