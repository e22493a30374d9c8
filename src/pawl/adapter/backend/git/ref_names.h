// Names and numbers of git's, as they are believed when somebody else has written them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace pawl::git {

inline constexpr std::size_t kRefNameBytesMax = 255;

// Forty hexadecimal digits in small letters.
bool is_object_id(std::string_view text);

// What git check-ref-format takes, begins with refs/, and is not longer than kRefNameBytesMax.
bool is_ref_name(std::string_view name);

// Branches, tags, notes and the stash: what a session may change outside.
bool is_published(std::string_view name);

// A new branch or tag that git could take for another thing, or another for it: a tag with the name
// of a branch, `origin/main`, `HEAD`, `-f`. `exists` knows the refs that are there.
bool is_misleading(std::string_view name, const std::function<bool(const std::string&)>& exists);

// Where a branch of the host's is shown inside when both sides have moved it.
inline constexpr std::string_view kShownPrefix = "refs/remotes/host/";

}  // namespace pawl::git
