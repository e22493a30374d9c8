// Scripts that judge calls run as they were when a person started the agent: from a sealed copy.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pawl/adapter/backend/command/command_pool.h"
#include "pawl/ids.h"
#include "pawl/loop.h"
#include "pawl/port/command.h"

namespace pawl {

// A program that judges calls, as it was when it was read.
struct SealedScript {
  std::string path;  // absolute
  Digest digest;
  SealedProgram sealed;
};
// Nothing: it is not there, cannot be executed, is too long, or cannot be sealed.
std::optional<SealedScript> seal_script(const std::string& path, std::size_t bytes_max);
std::shared_ptr<Tool> script_tool(const std::string& directory, const SealedScript& script,
                                  Loop& loop, const std::shared_ptr<CommandPool>& pool);

}  // namespace pawl
