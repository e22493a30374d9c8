// A command of the operator's that is a tool: what is started for a call, on the host itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/base/descriptor.h"
#include "pawl/content.h"
#include "pawl/port/byte_filter.h"
#include "pawl/result.h"
#include "pawl/tool.h"

namespace pawl {

// A copy of a program that nobody can change.
using SealedProgram = std::shared_ptr<const Descriptor>;

// With the rights of the host. Those of a charter with a sandbox run in its session instead
// (tools/session_command.h).
struct CommandSpec {
  ToolSpec tool;
  std::vector<std::string> command;         // command[0] with a '/' is relative to the directory
  std::vector<std::string> status_command;  // of a reconcilable tool
  std::string working_directory;
  std::map<std::string, std::string> environment;  // extra; cannot replace a PAWL_ variable
  // Runs in the place of command[0], which is then only what the program is told that it is. Its
  // own name for itself is a descriptor: PAWL_SCRIPT_DIR names the directory of command[0].
  SealedProgram sealed = nullptr;
  // Asked just before a start, on the thread of the command; an error, and it is not started.
  std::function<Status()> admit = {};
  std::shared_ptr<const ByteFilter> filter = nullptr;  // for output that is cut; null: none
};

}  // namespace pawl
