// Tools that are commands of the operator: local processes, started for one call each.
//
// The arguments are JSON on standard input, standard output is the result, and exit code 0 is
// success. Of the host's environment the command sees PATH (a fixed one), HOME, USER, TMPDIR and a
// UTF-8 locale; beside what the charter adds it gets PAWL_KEY, PAWL_RUN, PAWL_CALL, PAWL_ATTEMPT,
// PAWL_TENANT, PAWL_IDENTITY, PAWL_SESSION and TRACEPARENT (those that the run has),
// PAWL_TOOL, PAWL_PROGRAM (the host's) and the mark PAWL_CALL_MARK. When the command ends, however
// it ends, whatever it has left running is killed, also after success: a tool starts no daemon.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/command/command_pool.h"
#include "pawl/adapter/backend/command/sealed_program.h"
#include "pawl/kernel/tool_spec.h"
#include "pawl/port/byte_filter.h"
#include "pawl/port/loop.h"
#include "pawl/port/tool.h"

namespace pawl {

inline constexpr std::string_view kCommandPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// What a command sees of the host. Everything else stays behind, credentials above all.
std::map<std::string, std::string> inherited_environment();

// With the rights of the host. Those of a charter with a sandbox run in its session instead
// (runtime/tools/session_command.h).
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

// Made and used on the loop thread. The loop outlives the operations, which keep the pool alive.
std::unique_ptr<Tool> make_command_tool(CommandSpec spec, Loop& loop,
                                        std::shared_ptr<CommandPool> pool);

}  // namespace pawl
