// Runs one command from its start to the death of the last process it has started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "pawl/adapter/backend/command/output_capture.h"
#include "pawl/adapter/backend/command/sealed_program.h"
#include "pawl/base/descriptor.h"

namespace pawl::tool_command {

struct CommandPlan {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string working_directory;
  std::string input;
  std::int64_t timeout_ms = 0;
  std::size_t output_bytes_max = 0;
  std::size_t error_bytes_max = 0;
  // Whether processes of an earlier attempt, whose host has died, may still be running.
  enum class Leftovers : std::uint8_t { none, possible } leftovers = Leftovers::none;
  std::string run;  // together they name the attempts at one call
  std::string key;
  SealedProgram sealed = nullptr;  // as in CommandSpec, and so is the next
  std::function<Status()> admit = {};
  std::shared_ptr<const ByteFilter> filter = nullptr;
};

struct NotStarted {
  std::string why;
};
struct NeverAllowed {};  // stopped before it was started
struct Exited {
  int code = 0;
};
struct Signalled {
  int signal = 0;  // one that we did not send
};
struct TimedOut {};
struct Stopped {};
struct Lost {  // it ran, and how it ended cannot be known
  std::string why;
};

struct CommandEnd {
  std::variant<NotStarted, NeverAllowed, Exited, Signalled, TimedOut, Stopped, Lost> how;
  OutputCapture output;
  OutputCapture errors;
  std::vector<pid_t> survivors;  // see kill_tree()
};

// Blocks the calling thread, which must block SIGPIPE. `stop` is an eventfd: when it becomes
// readable, the command is stopped. When the command itself has ended, what it has left running in
// the background is killed, and what is in the pipes by then is its output: nobody waits for a
// daemon that holds them open.
CommandEnd run_command(const CommandPlan& plan, const Descriptor& stop);

}  // namespace pawl::tool_command
