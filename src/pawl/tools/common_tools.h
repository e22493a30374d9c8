// The common tools as Tools: each call runs in the session of its run. What it comes to is the JSON
// text that the model reads:
//   {"ok":true,"output":"…","files":[{"path":"…","size":1,"sha256":"…"}]}
// with "exit_code" and "level" where a process ran, "error" where it was stopped, and "truncated",
// "output_length" and "artifact" where there is more output than is shown.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pawl/backend.h"
#include "pawl/tool.h"
#include "pawl/tools/tool_catalogue.h"

namespace pawl {

// Gives the session that a call belongs to, made when it is first asked for. Called on the loop
// thread; it answers once, there, at once or later.
using BackendSessions =
    std::function<void(const ToolInvocation& invocation,
                       std::function<void(Result<std::shared_ptr<BackendSession>>)> answer)>;

// An Error for ask_user: a run waits for a person, no tool does.
Result<std::shared_ptr<Tool>> make_common_tool(const ToolDescription& description, Loop& loop,
                                               BackendSessions sessions);

// All of `descriptions` that have an executable form.
std::vector<std::shared_ptr<Tool>> make_common_tools(
    const std::vector<ToolDescription>& descriptions, Loop& loop, const BackendSessions& sessions);

inline constexpr std::size_t kFilesShownMax = 50;

// `at_bound`: what it means for the tool that a limit of its session has ended the call.
ToolOutcome::Kind tool_kind(BackendOutcome::Kind kind, ToolOutcome::Kind at_bound);

// The content is whole JSON however little room there is: the output gives way.
ToolOutcome tool_outcome(const BackendOutcome& outcome, const ToolDescription& tool);

// {"ok":false,"output":why} of a call that never reached the session.
ToolOutcome refused_call(ToolOutcome::Kind kind, std::string_view why, const ToolDescription& tool);

}  // namespace pawl
