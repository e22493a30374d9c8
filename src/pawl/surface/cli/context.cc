#include "pawl/surface/cli/context.h"

#include <cctype>

#include "pawl/base/hidden_characters.h"
#include "pawl/base/shell_word.h"
#include "pawl/journal/event_json.h"
#include "pawl/json.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {

int exit_code_of(RunStatus status) {
  switch (status) {
    case RunStatus::done:
      return kExitDone;
    case RunStatus::failed:
      return kExitFailed;
    case RunStatus::waiting:
      return kExitWaiting;
    case RunStatus::stopped:
      return kExitStopped;
    case RunStatus::quarantined:
      return kExitQuarantined;
    case RunStatus::cancelled:
      return kExitCancelled;
    case RunStatus::queued:
    case RunStatus::running:
      break;
  }
  return kExitError;
}

int exit_code_of(const Error& error) {
  if (error.code == ErrorCode::invalid_argument) return kExitUsage;
  if (error.code == ErrorCode::corrupt) return kExitQuarantined;
  return kExitError;
}

void print(const CliContext& context, std::string_view text) {
  if (context.format() == Format::json) {
    return context.console().write(Stream::out, with_hidden_escaped(text));
  }
  context.console().write(Stream::out, text);
}

void print_stderr(const CliContext& context, const std::string& message) {
  context.console().write(Stream::err, "pawl: " + safe_text(message) + "\n");
}

int fail(const CliContext& context, const Error& error) {
  print_stderr(context, with_data_flag(context, error.message));
  return exit_code_of(error);
}

void log(const CliContext& context, LogLevel level, const std::string& text) {
  static constexpr std::array<std::string_view, 4> kNames = {"error", "warn", "info", "debug"};
  if (level > context.settings.log_level) return;
  const std::string word(kNames[static_cast<std::size_t>(level)]);
  context.environment.log_line(context.settings, word + ": " + safe_text(text));
}

Opened open_workspace(const CliContext& context, IfAbsent absent) {
  auto workspace = context.environment.open(context.settings, absent);
  if (workspace) {
    log(context, LogLevel::info, "data directory " + context.settings.data);
    if ((*workspace)->is_copy()) {
      print_stderr(context,
                   context.settings.data +
                       " cannot be written: this is read from a private copy of it, in which "
                       "processes that drive its runs are not seen");
    }
    return {*std::move(workspace), kExitDone};
  }
  print_stderr(context, workspace.error().message);
  return {nullptr, kExitError};
}

Result<RunId> named_run(const CliContext& context, Service& service) {
  auto found = service.find(context.arguments.one_or("RUN", ""));
  if (found || found.error().code != ErrorCode::conflict) return found;
  return Error{ErrorCode::conflict, found.error().message + "; give more of the id"};
}

Result<RunDetails> named_live_run(const CliContext& context, Service& service) {
  PAWL_TRY(const RunId run, named_run(context, service));
  PAWL_TRY(RunDetails details, service.show(run));
  const std::string& status = details.summary.status;
  if (status == name(RunStatus::quarantined)) {
    return Error{ErrorCode::corrupt, "run " + run.text + " is quarantined: " +
                                         details.summary.reason + "; see pawl verify " + run.text};
  }
  const bool live = status == name(RunStatus::queued) || status == name(RunStatus::running) ||
                    status == name(RunStatus::waiting);
  if (live) return details;
  return Error{ErrorCode::conflict, "run " + run.text + " is over: " + status +
                                        "; see pawl explain " + run.text +
                                        ", or start another with pawl run"};
}

std::string with_data_flag(const CliContext& context, std::string text) {
  if (context.settings.data_flag.empty()) return text;
  const std::string flag = " --data " + shell_quoted(context.settings.data_flag);
  for (const CommandEntry& command : commands()) {
    const std::string suggested = "pawl " + std::string(command.name);
    std::size_t at = text.find(suggested);
    while (at != std::string::npos) {
      const std::size_t end = at + suggested.size();
      const bool whole =
          end == text.size() || std::isalpha(static_cast<unsigned char>(text[end])) == 0;
      if (whole) text.insert(at + std::string_view("pawl").size(), flag);
      at = text.find(suggested, whole ? end + flag.size() : end);
    }
  }
  return text;
}

int report_detached(const CliContext& context, const RunId& run, const Handover& handover) {
  if (handover.exit_code != kExitDone) {
    context.console().write(Stream::err, handover.text);
    return handover.exit_code;
  }
  JsonWriter json;
  json.begin_object().field("run", run.text).field("detached", true).end_object();
  print(context, (context.format() == Format::json ? json.take() : run.text) + "\n");
  return kExitDone;
}

}  // namespace pawl
