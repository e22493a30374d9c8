// Tools that are functions of the host.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pawl/port/tool.h"
#include "pawl/tools/worker_pool.h"

namespace pawl {

// Runs on a thread of the pool. What it throws is a failed outcome. A function cannot be killed:
// one that outlives its timeout is left to itself, `invocation.stop` becomes true, and its result
// is dropped.
using NativeFunction = std::function<Result<std::string>(const ToolInvocation& invocation)>;
// What the model gets, and what people are told in its place.
struct SplitReply {
  std::string content;
  std::string user_reply;
};
using NativeSplitFunction = std::function<Result<SplitReply>(const ToolInvocation& invocation)>;
using NativeStatusFunction = std::function<ToolStatus(const ToolInvocation& invocation)>;

struct NativeTool {
  ToolSpec spec;
  NativeFunction run;
  NativeStatusFunction status;     // reconcilable tools only
  NativeSplitFunction split = {};  // in place of `run`
};

// Refuses a tool with both functions or none, a reconcilable tool without a status function, and a
// status function without need.
Result<std::shared_ptr<Tool>> make_native_tool(NativeTool tool, Loop& loop,
                                               std::shared_ptr<WorkerPool> pool);

// At most `bytes_max` bytes of valid UTF-8, with a mark that says how much was cut.
std::string cut_output(const std::string& text, std::size_t bytes_max);

}  // namespace pawl
