// Tools that are commands of the operator: local processes, started for one call each.
//
// The arguments are JSON on standard input, standard output is the result, and exit code 0 is
// success. Of the host's environment the command sees PATH (a fixed one), HOME, USER, TMPDIR and a
// UTF-8 locale; beside what the charter adds it gets PAWL_KEY, PAWL_RUN, PAWL_CALL, PAWL_ATTEMPT,
// PAWL_TENANT, PAWL_IDENTITY, PAWL_SESSION and TRACEPARENT (those that the run has),
// PAWL_TOOL, PAWL_PROGRAM (the host's) and the mark PAWL_CALL_MARK. When the command ends, however
// it ends, whatever it has left running is killed, also after success: a tool starts no daemon.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "pawl/adapter/backend/command/command_pool.h"
#include "pawl/base/program_path.h"
#include "pawl/loop.h"
#include "pawl/port/command.h"

namespace pawl {

// What a command sees of the host. Everything else stays behind, credentials above all.
std::map<std::string, std::string> inherited_environment();

// Made and used on the loop thread. The loop outlives the operations, which keep the pool alive.
std::unique_ptr<Tool> make_command_tool(CommandSpec spec, Loop& loop,
                                        std::shared_ptr<CommandPool> pool);

}  // namespace pawl
