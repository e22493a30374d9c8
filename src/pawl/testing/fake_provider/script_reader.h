// Reads a script, or one fault, from a document tree. Every fault of the document is listed, with
// its line; unknown keys are faults.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/testing/fake_provider/script.h"

namespace pawl::fake {

inline constexpr std::int64_t kScriptVersion = 1;

struct FakeScriptReading {
  std::optional<FakeScript> script;  // nullopt when there are faults
  std::vector<Fault> faults;         // in the order of the document
};

// `name` is what messages call the script, for example its file.
FakeScriptReading read_fake_script(const Node& root, std::string name);

// A fault as scripts and --fault write it: a kind, a status, or a map.
FaultSpec read_fault(const Node& node, std::vector<Fault>& faults, const std::string& where);

}  // namespace pawl::fake
