// What a session's operation came to, as the JSON text that the model reads:
//   {"ok":true,"output":"…","files":[{"path":"…","size":1,"sha256":"…"}]}
// with "exit_code" and "level" where a process ran, "error" where it was stopped, and "truncated",
// "output_length" and "artifact" where there is more output than is shown.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/port/backend.h"
#include "pawl/port/tool.h"
#include "pawl/tools/tool_catalogue.h"

namespace pawl {

inline constexpr std::size_t kFilesShownMax = 50;

// `at_bound`: what it means for the tool that a limit of its session has ended the call.
ToolOutcome::Kind tool_kind(BackendOutcome::Kind kind, ToolOutcome::Kind at_bound);

// The content is whole JSON however little room there is: the output gives way.
ToolOutcome tool_outcome(const BackendOutcome& outcome, const ToolDescription& tool);

// {"ok":false,"output":why} of a call that never reached the session.
ToolOutcome refused_call(ToolOutcome::Kind kind, std::string_view why, const ToolDescription& tool);

}  // namespace pawl
