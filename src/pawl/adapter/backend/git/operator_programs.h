// Files of a work tree that the operator's git runs or reads as configuration: hooks
// (core.hooksPath), files of `include.path`, and scripts that a setting names. Whoever can write
// them runs a program on the host, so tools must not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::git {

inline constexpr std::size_t kOperatorProgramsMax = 2048;

// `listed` is the output of `git config --list -z --show-origin` in the work tree. Only what lies
// beneath one of the roots, and not in a .git, is given; each once. A hooksPath that is not there
// is given, too: it must not appear. limit_exceeded: there are more; one that was left out could be
// written.
Result<std::vector<std::string>> operator_programs(std::string_view listed,
                                                   const std::string& work_tree,
                                                   const std::vector<std::string>& roots);

}  // namespace pawl::git
