// What the end of a command means to a run.
#pragma once

#include "pawl/adapter/backend/command/command_run.h"
#include "pawl/content.h"
#include "pawl/tool.h"

namespace pawl::tool_command {

inline constexpr std::size_t kErrorOutputBytesMax = std::size_t{16} << 10U;
inline constexpr std::size_t kStatusOutputBytesMax = kToolOutputMaxBytes;

ToolOutcome outcome_of(const CommandEnd& end, const ToolSpec& spec);

// The status command prints one JSON object, {"outcome": "done" | "absent" | "unknown", "result":
// …}, and exits with 0. Anything else is unknown.
ToolStatus status_of(const CommandEnd& end, const ToolSpec& spec);

}  // namespace pawl::tool_command
