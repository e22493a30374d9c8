// The roots of a charter's sandbox as absolute paths, and why some are refused when the charter is
// loaded: not at the first call.
//
// Links in what a person typed (the charter's own path) are followed. A root that a charter names
// is reached without any: a tool of another charter may have planted one.
#pragma once

#include <string>
#include <vector>

#include "pawl/charter/charter.h"
#include "pawl/port/sensitive_places.h"

namespace pawl {

// A fault of the charter: a text in it that it is about, and what is wrong.
struct ToolFault {
  std::string about;
  std::string message;
  std::string remedy;
};

struct WorkspaceRoots {
  std::string directory;  // where commands start
  std::vector<std::string> write;
  std::vector<std::string> read;
  std::vector<std::string> deny;
};

// Absolute and plain, beneath the real directory of the charter. Nothing is looked at but that.
WorkspaceRoots roots_of(const Charter& charter);

// One fault for each root that cannot be used, or must not be.
std::vector<ToolFault> faults_of_roots(const Charter& charter, const WorkspaceRoots& roots,
                                       const SensitivePlaces& sensitive);

}  // namespace pawl
