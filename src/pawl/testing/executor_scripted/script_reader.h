// Reads a script from a document tree. Every fault is listed, with its line; unknown keys are
// faults.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/testing.h"

namespace pawl {

struct ScriptReading {
  std::optional<Script> script;  // nullopt when there are faults
  std::vector<Fault> faults;     // in the order of the document
};

// `name` is what messages call the script, for example its file.
ScriptReading read_script(const Node& root, std::string name);

}  // namespace pawl
