#include "pawl/surface/cli/interactive.h"

#include <termios.h>
#include <unistd.h>

#include <iostream>

#include "pawl/base/utf8.h"
#include "pawl/gate/approvals/approvals.h"
#include "pawl/surface/cli/approval_view.h"
#include "pawl/surface/cli/drive.h"
#include "pawl/surface/cli/signing.h"
#include "pawl/surface/cli/trust_question.h"

namespace pawl {
namespace {

constexpr std::size_t kAnswerBytesMax = 64U << 10U;
constexpr int kMisunderstoodMax = 10;

// Nothing: the input has ended, or the person wants to decide later.
std::optional<std::string> asked(const CliContext& context, const std::string& question) {
  print(context, question);
  std::string line;
  if (!std::getline(std::cin, line) || line.size() > kAnswerBytesMax) return std::nullopt;
  return to_valid_utf8(line);
}

Decided rejection(const CliContext& context) {
  const auto reason = asked(context, "why (the model reads it): ");
  return {InterruptDecision::reject, context.environment.user(), reason.value_or("")};
}

// Where it may be: what asks every time cannot be approved for always.
std::optional<RememberedApproval> for_always(const CliContext& context,
                                             const PendingApproval& pending,
                                             const RunState& state) {
  auto made = remembered_of(pending, state, context.environment.user(),
                            context.environment.main_loop().wall_ms());
  return made ? std::optional(*std::move(made)) : std::nullopt;
}

// What was typed before the question was there is no answer to it.
void forget_typed_ahead() {
  ::tcflush(STDIN_FILENO, TCIFLUSH);
}

struct Said {
  Decided decided;
  std::optional<RememberedApproval> always = std::nullopt;  // counts when the decision does
};

// What was cut is seen before it is approved.
std::optional<Said> ask_approval(const CliContext& context, const PendingApproval& pending,
                                 const RunState& state) {
  const ApprovalCard card = card_of(pending);
  print(context, card.text);
  forget_typed_ahead();
  bool seen = !card.needs_expansion;
  const auto always = for_always(context, pending, state);
  const std::string choices = always ? ": [y]es, [a]lways, [n]o, [f]ull view, [l]ater? "
                                     : ": [y]es, [n]o, [f]ull view, "
                                       "[l]ater? ";
  for (int i = 0; i < kMisunderstoodMax; ++i) {
    const auto said = asked(context, to_string(pending.call) +
                                         (seen ? choices : ": [f]ull view first, [n]o, [l]ater? "));
    if (!said || *said == "l" || *said == "later") return std::nullopt;
    if (*said == "n" || *said == "no") return Said{rejection(context)};
    if (*said == "f" || *said == "full") {
      print(context, full_text(pending));
      seen = true;
    } else if (seen && always && (*said == "a" || *said == "always")) {
      return Said{{InterruptDecision::approve, context.environment.user()}, always};
    } else if (seen && (*said == "y" || *said == "yes")) {
      return Said{{InterruptDecision::approve, context.environment.user()}};
    }
  }
  return std::nullopt;
}

std::optional<Said> ask_answer(const CliContext& context, const PendingApproval& pending) {
  print(context, card_of(pending).text);
  const auto said = asked(context, "your answer (empty: later): ");
  if (!said || said->empty()) return std::nullopt;
  return Said{{InterruptDecision::input, context.environment.user(), *said}};
}

bool post(const CliContext& context, Workspace& workspace, const RunId& run, const Event& event) {
  std::optional<Status> durable;
  workspace.service().post(run, event, [&](const Status& status) { durable = status; });
  workspace.loop().run_until([&] { return durable.has_value(); });
  if (!*durable) print_stderr(context, durable->error().message);
  return durable->has_value();
}

void remember(const CliContext& context, const Said& said) {
  if (!said.always) return;
  const Status kept = context.environment.remember(context.settings, *said.always);
  if (!kept) print_stderr(context, kept.error().message);
}

// True: something was decided.
bool decide_all(const CliContext& context, Workspace& workspace, const RunId& run) {
  const auto details = workspace.service().show(run);
  if (!details) return false;
  const auto pending = workspace.service().pending_approvals(details->state);
  if (!pending) return false;
  bool any = false;
  for (const PendingApproval& one : *pending) {
    const auto said = one.kind == InterruptKind::input ? ask_answer(context, one)
                                                       : ask_approval(context, one, details->state);
    if (!said) continue;
    Decided decided = said->decided;
    Status fit = ok();
    if (decided.decision == InterruptDecision::approve) {
      fit = sign_decided(context, workspace.service(), details->state, one.call, decided);
    }
    const auto event = decision_about(details->state, one.call, std::move(decided));
    const std::int64_t now_ms = workspace.loop().wall_ms();
    if (fit) fit = event ? check_decision(details->state, *event, now_ms) : event.error();
    if (!fit) {
      print_stderr(context, fit.error().message);
    } else if (post(context, workspace, run, *event)) {
      any = true;
      remember(context, *said);
    }
  }
  return any;
}

}  // namespace

bool can_ask(const CliContext& context) {
  return context.format() == Format::text && context.console().is_terminal(Stream::out) &&
         ::isatty(STDIN_FILENO) == 1;
}

int decide_at_terminal(const CliContext& context, Workspace& workspace, const RunId& run,
                       int code) {
  if (!can_ask(context)) return code;
  while (code == exit_code_of(RunStatus::waiting) && decide_all(context, workspace, run)) {
    const auto details = workspace.service().show(run);
    if (!details) return fail(context, details.error());
    const auto view = make_view(context, workspace, &details->state);
    DriveSession session(context, workspace, view.get());
    code = session.carry_on(run, [&] {
      return resume_trusted(context, [&] { return workspace.service().resume(run); });
    });
  }
  return code;
}

}  // namespace pawl
