// A command that the operator defines, run in the run's session instead of on the host: arguments
// on standard input, the result on standard output, exit code 0 is success.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/tools/common_tools.h"

namespace pawl {

struct SessionCommand {
  ToolSpec tool;
  std::vector<std::string> command;
  std::vector<std::string> status;  // reconcilable only
};

std::shared_ptr<Tool> make_session_command(SessionCommand command, Loop& loop,
                                           BackendSessions sessions);

}  // namespace pawl
