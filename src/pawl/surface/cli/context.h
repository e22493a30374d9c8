// What every command gets, and the few things all of them do alike.
#pragma once

#include <memory>
#include <string>

#include "pawl/surface/cli/arguments.h"
#include "pawl/surface/cli/environment.h"

namespace pawl {

// Exit codes, see command_table.cc for what they say to people.
inline constexpr int kExitDone = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFailed = 3;
inline constexpr int kExitWaiting = 4;
inline constexpr int kExitStopped = 5;
inline constexpr int kExitQuarantined = 6;
inline constexpr int kExitCancelled = 130;

int exit_code_of(RunStatus status);
int exit_code_of(const Error& error);

enum class Format : std::uint8_t { text, json };

struct CliContext {
  CliEnvironment& environment;
  Arguments arguments;
  Settings settings;

  Console& console() const { return environment.console(); }
  Format format() const { return arguments.has("json") ? Format::json : Format::text; }
};

void print(const CliContext& context, std::string_view text);              // standard output
void print_stderr(const CliContext& context, const std::string& message);  // "pawl: message"
// Prints the error, and returns the exit code that goes with the error.
int fail(const CliContext& context, const Error& error);
void log(const CliContext& context, LogLevel level, const std::string& text);

// The data directory, or an exit code after the reason was printed.
struct Opened {
  std::unique_ptr<Workspace> workspace;  // null when it could not be opened
  int exit_code = kExitDone;
};
Opened open_workspace(const CliContext& context, IfAbsent absent);

// The run that the argument RUN names.
Result<RunId> named_run(const CliContext& context, Service& service);
// Likewise, for a command that changes it: conflict when it is over, corrupt when it is
// quarantined.
Result<RunDetails> named_live_run(const CliContext& context, Service& service);

// `text` with "pawl resume" and the like written as this data directory needs them.
std::string with_data_flag(const CliContext& context, std::string text);

// What a process in the background said of a run's beginning; its id, where it went well.
int report_detached(const CliContext& context, const RunId& run, const Handover& handover);

}  // namespace pawl
