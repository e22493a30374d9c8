#include "pawl/surface/cli/conversation.h"

#include "pawl/base/utf8.h"
#include "pawl/surface/cli/drive.h"
#include "pawl/surface/cli/interactive.h"
#include "pawl/surface/cli/steering.h"
#include "pawl/surface/cli/trust_question.h"

namespace pawl {

Result<std::string> said_text(const CliContext& context, const std::string& given) {
  std::string text = given;
  if (given == "-") {
    PAWL_TRY(text, context.environment.read_text("-"));
  }
  if (!text.empty() && is_valid_utf8(text)) return text;
  return Error{ErrorCode::invalid_argument,
               "a message is UTF-8 text and not empty; give it as TEXT or with -"};
}

bool is_over(const RunDetails& details) {
  return std::holds_alternative<Finished>(details.state.life);
}

int reopen_with(const CliContext& context, Workspace& workspace, const RunDetails& details,
                const std::string& text, std::optional<Limits> limits) {
  Service& service = workspace.service();
  const RunId& run = details.summary.id;
  Service::Reopening how;
  how.limits = limits;
  how.message = text;
  const auto event = service.reopening(run, std::move(how), context.environment.user());
  if (!event) return fail(context, event.error());
  const auto view = make_view(context, workspace, &details.state);
  DriveSession session(context, workspace, view.get());
  const int code = session.carry_on(
      run, [&] { return resume_trusted(context, [&] { return service.reopen(run, *event); }); });
  return decide_at_terminal(context, workspace, run, code);
}

int resume_with(const CliContext& context, Workspace& workspace, const RunDetails& details,
                const std::string& text) {
  Service& service = workspace.service();
  const RunId& run = details.summary.id;
  const auto message = service.message(run, text, context.environment.user());
  if (!message) return fail(context, message.error());
  const Target target{context,       workspace, run, details.summary.length, details.summary.status,
                      details.driven};
  if (details.driven) return leave(target, message, "the message");
  if (const Status posted = post_and_wait(target, *message); !posted) {
    return fail(context, posted.error());
  }
  return take_up_here(context, workspace, details);
}

namespace {

Result<RunId> last_run(const Service& service) {
  ListQuery query;
  query.count_max = 1;
  PAWL_TRY(const auto runs, service.list(query));
  if (!runs.empty()) return runs.front().id;
  return Error{ErrorCode::not_found, "there is no run yet"};
}

}  // namespace

Result<RunDetails> run_to_talk_with(const Service& service, const std::string& run_prefix) {
  PAWL_TRY(const RunId run, run_prefix.empty() ? last_run(service) : service.find(run_prefix));
  PAWL_TRY(RunDetails details, service.show(run));
  if (details.quarantine.empty()) return details;
  return Error{ErrorCode::corrupt, "run " + run.text + " is quarantined: " + details.quarantine +
                                       "; see pawl verify " + run.text};
}

int continue_run(const CliContext& context, const std::string& run_prefix,
                 const std::string& text) {
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  const auto details = run_to_talk_with(opened.workspace->service(), run_prefix);
  if (!details) return fail(context, details.error());
  if (is_over(*details)) return reopen_with(context, *opened.workspace, *details, text);
  return resume_with(context, *opened.workspace, *details, text);
}

}  // namespace pawl
