// Protected names that sessions which were killed have left in the work tree.
#pragma once

#include <string>
#include <vector>

namespace pawl::backend {

// Takes what the notes in `directory` (taken_names.h) tell of, at any depth. A sentence for each
// thing.
std::vector<std::string> take_left_names(const std::string& directory);

}  // namespace pawl::backend
