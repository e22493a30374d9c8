// The table of commands, in the order of the help. A row declares NAME_entry() and puts it into
// commands(); the command's own file defines it: words, help, arguments, options and function.
#pragma once

#include "pawl/surface/cli/command_table.h"
#include "pawl/surface/cli/context.h"

// clang-format off: one command a line
#define PAWL_COMMANDS(row) \
  row(run) \
  row(chat) \
  row(init) \
  row(validate) \
  row(schema) \
  row(resume) \
  row(worker) \
  row(ls) \
  row(show) \
  row(logs) \
  row(attach) \
  row(explain) \
  row(tree) \
  row(verify) \
  row(replay) \
  row(diff) \
  row(fork) \
  row(export) \
  row(import) \
  row(approvals) \
  row(approve) \
  row(deny) \
  row(identity) \
  row(answer) \
  row(pause) \
  row(cancel) \
  row(message) \
  row(state) \
  row(event) \
  row(phase) \
  row(command) \
  row(budget) \
  row(push) \
  row(resolve) \
  row(sim) \
  row(fake_provider) \
  row(completion) \
  row(man) \
  row(artifacts) \
  row(rm) \
  row(gc) \
  row(backup) \
  row(restore) \
  row(models) \
  row(trust) \
  row(doctor)
// clang-format on

namespace pawl {

#define PAWL_DECLARE_COMMAND(name) CommandEntry name##_entry();
PAWL_COMMANDS(PAWL_DECLARE_COMMAND)
#undef PAWL_DECLARE_COMMAND

}  // namespace pawl
