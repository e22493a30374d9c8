// Whether git only reads where it is told to: a repository's own configuration may name programs
// (filters, text conversions, another configuration) that a mere `git status` starts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

inline constexpr std::size_t kGitConfigBytesMax = std::size_t{256} << 10U;

// The first thing in a configuration that is not known to start nothing. None: it is plain.
std::optional<std::string> unplain_setting(std::string_view config);

// Of the repository that git takes for that of `directory`: why a command of it may start programs.
// None: it starts none, or there is no repository. In `held_roots` commands have a git directory of
// their own, with a configuration that starts nothing, unless the layout is in the way.
std::optional<std::string> git_objection(const std::string& directory,
                                         const std::vector<std::string>& held_roots);

}  // namespace pawl
