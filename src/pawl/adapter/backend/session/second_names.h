// Second names (hard links) of protected files: a mount on a name does not hold the others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/protected_places.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"

namespace pawl::backend {

inline constexpr std::size_t kSecondNamesMax = 4096;
inline constexpr std::size_t kSecondNamesToldMax = 16;  // of those beyond

struct SecondNames {
  std::vector<std::string> read_only = {};  // absolute, beneath a write root
  std::vector<std::string> hidden = {};
  // Protected files with further names that were not found, and may be beneath a write root: the
  // tree is too large to be searched as a whole, or there are too many such files.
  std::vector<std::string> unfound = {};
};

// Searches the write roots only where a protected file has more than one name.
SecondNames find_second_names(const sandbox::SandboxPlan& plan,
                              const std::vector<sandbox::ProtectedPlace>& places);

}  // namespace pawl::backend
