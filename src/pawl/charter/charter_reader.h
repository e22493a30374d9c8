// Reads a charter from a document tree. Every fault is listed, with its line; unknown keys are
// faults.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"

namespace pawl {

struct CharterReading {
  std::optional<Charter> charter;  // nullopt when there are faults
  std::vector<Fault> faults;
};

// `text` is what `root` was parsed from; `directory` is where relative paths start.
CharterReading read_charter(const Node& root, std::string text, std::string directory);

}  // namespace pawl
