// The common tools as Tools: each call runs in the session of its run.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pawl/port/backend.h"
#include "pawl/port/tool.h"
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

}  // namespace pawl
