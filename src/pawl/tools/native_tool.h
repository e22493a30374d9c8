// Makes tools of functions of the host's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pawl/tool.h"
#include "pawl/tools/worker_pool.h"

namespace pawl {

// Refuses a tool with both functions or none, a reconcilable tool without a status function, and a
// status function without need.
Result<std::shared_ptr<Tool>> make_native_tool(NativeTool tool, Loop& loop,
                                               std::shared_ptr<WorkerPool> pool);

// At most `bytes_max` bytes of valid UTF-8, with a mark that says how much was cut.
std::string cut_output(const std::string& text, std::size_t bytes_max);

}  // namespace pawl
