// Why a write to a protected name has failed, for the model: programs say no more than that the
// file system is read-only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/port/backend.h"

namespace pawl::backend {

inline constexpr std::size_t kNotedOutputBytesMax = std::size_t{64} << 10U;

// Empty: the output speaks of no protected name. A line of its own otherwise.
std::string protected_note(std::string_view output, const ExecutionContext& context);

}  // namespace pawl::backend
