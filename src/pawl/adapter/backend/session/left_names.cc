#include "pawl/adapter/backend/session/left_names.h"

#include <iterator>
#include <utility>

#include "pawl/adapter/backend/files/workspace_walk.h"
#include "pawl/adapter/backend/sandbox/taken_names.h"

namespace pawl::backend {
namespace {

// A root that is not there any more has nothing to be taken.
Result<std::vector<std::string>> find_names(const std::vector<std::string>& roots,
                                            const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& root : roots) {
    auto here = walk_workspace({root}, names);
    if (!here && here.error().code == ErrorCode::not_found) continue;
    if (!here) return here.error();
    if (!here->complete) {
      return Error{ErrorCode::limit_exceeded, root + " is too large to be searched as a whole"};
    }
    found.insert(found.end(), std::make_move_iterator(here->names.begin()),
                 std::make_move_iterator(here->names.end()));
  }
  return found;
}

}  // namespace

std::vector<std::string> take_left_names(const std::string& directory) {
  return sweep_absent_notes(directory, find_names);
}

}  // namespace pawl::backend
