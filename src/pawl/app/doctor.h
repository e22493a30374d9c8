// Looks at a data directory and says how it is. Changes nothing.
#pragma once

#include <string>
#include <vector>

#include "pawl/surface/cli/environment.h"

namespace pawl {

inline constexpr std::uint64_t kFreeBytesLow = 1U << 30U;      // a warning
inline constexpr std::uint64_t kFreeBytesTooLow = 64U << 20U;  // a problem
inline constexpr std::size_t kRunsNamedMax = 10;               // of each kind

std::vector<Finding> examine_data(const std::string& directory);

}  // namespace pawl
