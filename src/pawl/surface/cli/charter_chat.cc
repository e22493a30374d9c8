#include "pawl/surface/cli/charter_chat.h"

#include <iostream>

#include "pawl/base/utf8.h"
#include "pawl/surface/cli/conversation.h"
#include "pawl/surface/cli/drive.h"
#include "pawl/surface/cli/interactive.h"
#include "pawl/surface/cli/room_options.h"
#include "pawl/surface/cli/view.h"

namespace pawl {
namespace {

// The next line that says something; nullopt: there is none any more.
std::optional<std::string> next_line(const CliContext& context) {
  std::string line;
  while (true) {
    if (context.console().is_terminal(Stream::out)) context.console().write(Stream::err, "> ");
    if (!std::getline(std::cin, line)) return std::nullopt;
    if (line.empty()) continue;
    if (line.size() <= kMessageBytesMax && is_valid_utf8(line)) return line;
    print_stderr(context, "a line is UTF-8 text of at most 512 KiB");
  }
}

// What the run began with.
Result<Limits> first_limits(const Service& service, const RunId& run) {
  PAWL_TRY(const Record first, service.record(run, 0));
  if (const auto* started = std::get_if<RunStarted>(&first.event)) return started->limits;
  return Error{ErrorCode::corrupt, "its first record is not run_started"};
}

int say(const CliContext& context, Workspace& workspace, const RunId& run,
        const std::string& line) {
  const Service& service = workspace.service();
  const auto details = service.show(run);
  if (!details) return fail(context, details.error());
  if (!is_over(*details)) return resume_with(context, workspace, *details, line);
  const auto limits = first_limits(service, run);
  if (!limits) return fail(context, limits.error());
  // Each line that a person types gives the run what its charter allows.
  return reopen_with(context, workspace, *details, line, limits_of_turn(*limits, details->state));
}

// Interrupted, the run is parked or cancelled, and the person wanted to leave.
int converse(const CliContext& context, Workspace& workspace, const RunId& run, int code) {
  while (code != kExitCancelled) {
    const auto line = next_line(context);
    if (!line) break;
    code = say(context, workspace, run, *line);
  }
  print_stderr(context, with_data_flag(context, "go on with: pawl chat --continue " + run.text));
  return code;
}

}  // namespace

bool names_charter(const std::string& text) {
  return text.find('\n') == std::string::npos &&
         (text.ends_with(".yaml") || text.ends_with(".yml") || text.ends_with(".json"));
}

int chat_with_charter(const CliContext& context, const std::string& path) {
  const RunId id = make_run_id(context.environment.wall_ms());
  // Faults of the charter are told before anything is asked.
  Preparation prepared = prepare_start(context, path, id, "");
  if (!prepared.request) {
    context.console().write(Stream::err, listed(prepared.faults));
    return kExitUsage;
  }
  const auto line = next_line(context);
  if (!line) return kExitDone;
  const Opened opened = open_workspace(context, IfAbsent::make);
  if (!opened.workspace) return opened.exit_code;
  prepared.request->input = *line;
  int code = kExitDone;
  {
    const auto view = make_view(context, *opened.workspace, nullptr);
    DriveSession session(context, *opened.workspace, view.get());
    code = session.start(*std::move(prepared.request), {});
  }
  code = decide_at_terminal(context, *opened.workspace, id, code);
  if (!opened.workspace->service().summary_of(id)) return code;  // It was refused.
  return converse(context, *opened.workspace, id, code);
}

int chat_with_run(const CliContext& context, const std::string& run_prefix) {
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  const auto details = run_to_talk_with(opened.workspace->service(), run_prefix);
  if (!details) return fail(context, details.error());
  const RunId& run = details->summary.id;
  const std::string said = details->output.empty() ? "" : "; it said:\n" + details->output;
  print_stderr(context, "run " + run.text + " is " + details->summary.status + said);
  return converse(context, *opened.workspace, run, kExitDone);
}

}  // namespace pawl
