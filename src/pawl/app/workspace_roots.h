// The roots of a charter's sandbox as absolute paths, and why some are refused when the charter is
// loaded: not at the first call.
//
// Links in what a person typed (the charter's own path) are followed. A root that a charter names
// is reached without any: a tool of another charter may have planted one.
#pragma once

#include <string>
#include <vector>

#include "pawl/app/toolbox.h"
#include "pawl/runtime/charter.h"

namespace pawl {

struct WorkspaceRoots {
  std::string directory;  // where commands start
  std::vector<std::string> write;
  std::vector<std::string> read;
  std::vector<std::string> deny;
};

// Absolute and plain, beneath the real directory of the charter. Nothing is looked at but that.
WorkspaceRoots roots_of(const Charter& charter);

// Homes of people, system directories and places of credentials.
struct SensitivePlaces {
  std::vector<std::string> homes;      // of root and of people: never a write root as a whole
  std::vector<std::string> elsewhere;  // $HOME and homes of services: never by default
};
SensitivePlaces sensitive_places();

// One fault for each root that cannot be used, or must not be.
std::vector<ToolFault> faults_of_roots(const Charter& charter, const WorkspaceRoots& roots,
                                       const SensitivePlaces& sensitive);

}  // namespace pawl
