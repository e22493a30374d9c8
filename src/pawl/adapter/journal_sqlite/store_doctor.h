// Looks at a data directory and says how it is. Changes nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pawl/port/finding.h"

namespace pawl {

inline constexpr std::uint64_t kFreeBytesLow = 1U << 30U;      // a warning
inline constexpr std::uint64_t kFreeBytesTooLow = 64U << 20U;  // a problem
inline constexpr std::size_t kRunsNamedMax = 10;               // of each kind

// `also` looks at what others keep in it, before the store is opened; empty: nobody does.
using AlsoExamine = std::function<std::vector<Finding>(const std::string& directory)>;
std::vector<Finding> examine_data(const std::string& directory, const AlsoExamine& also = {});
// The version of SQLite.
Finding examine_library();

}  // namespace pawl
