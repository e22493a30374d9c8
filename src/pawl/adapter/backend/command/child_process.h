// Starts a command with nothing of the host but what it is given: its own session without a
// terminal, descriptors 0, 1 and 2 only (and 3 for a sealed program, which its interpreter opens),
// default signals, no core dumps.
//
// It is started by clone(CLONE_VM | CLONE_VFORK): a fork would copy the page tables of the host,
// 49 ms per gigabyte. The command is killed when the thread that started it ends, so that thread
// must outlive it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/command/process_tree.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::tool_command {

struct ChildPlan {
  std::vector<std::string> argv;         // argv[0] with a '/' is a path, otherwise looked up
  std::vector<std::string> environment;  // NAME=value: all of it, apart from the mark
  std::string working_directory;         // empty: the host's; relative paths are relative to it
  TreeMark mark;
  // Is in the pipe before the command starts, up to kInputBytesBefore of it: a host that is killed
  // just after must not leave a command that acts on an empty input, or on half of one.
  std::string_view input = {};
  int sealed = -1;  // a descriptor of the program, above the first four; -1: argv[0] is looked up
};

inline constexpr std::size_t kInputBytesBefore = std::size_t{1} << 20U;

// A process that runs. It must be reaped by its owner.
struct Child {
  pid_t pid = 0;
  Descriptor handle;  // pidfd: readable when the process has ended
  Descriptor
      input;  // the host's ends of the pipes; none of them blocks. Closed if all has been sent
  Descriptor output;
  Descriptor errors;
  std::size_t input_sent = 0;
};

// An error means that not one instruction of the command has run, and says what to do about it.
Result<Child> start_child(const ChildPlan& plan);

}  // namespace pawl::tool_command
