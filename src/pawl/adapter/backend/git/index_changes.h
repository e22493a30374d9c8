// From one index to another, in the words of `git update-index -z --index-info`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::git {

struct IndexChanges {
  std::string input;                  // empty: they are the same
  std::vector<std::string> objects;   // that the new lines name
  std::vector<std::string> left_out;  // submodules that may not be added
};

// Both as `git ls-files -s -z` prints them. An Error: a line of `to` is not git's. `may_link` is
// asked for each submodule that is new or changed.
Result<IndexChanges> index_changes(std::string_view from, std::string_view to,
                                   const std::function<bool(std::string_view path)>& may_link);

// The paths of the submodules in an index.
std::vector<std::string> gitlinks_in(std::string_view listed);

}  // namespace pawl::git
