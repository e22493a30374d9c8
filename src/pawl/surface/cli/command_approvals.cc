// approvals, approve, deny, answer: what runs want of people, and what people say.
#include <algorithm>

#include "pawl/base/utf8.h"
#include "pawl/gate/approvals/approvals.h"
#include "pawl/journal/event_json.h"
#include "pawl/json.h"
#include "pawl/surface/cli/approval_view.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/conversation.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/signing.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {
namespace {

constexpr std::size_t kDigestDigitsMin = 8;
constexpr std::size_t kPathShownMax = 400;
constexpr std::size_t kToolNameBytesMax = 200;

Result<std::vector<PendingApproval>> pending_of(Service& service, const RunId& run) {
  PAWL_TRY(const RunDetails details, service.show(run));
  return service.pending_approvals(details.state);
}

// Of one run, or of all that wait.
Result<std::vector<PendingApproval>> wanted(const CliContext& context, Service& service) {
  if (context.arguments.has("RUN")) {
    PAWL_TRY(const RunId run, named_run(context, service));
    return pending_of(service, run);
  }
  ListQuery query;
  query.status = name(RunStatus::waiting);
  std::vector<PendingApproval> all;
  PAWL_CHECK(service.for_each(query, [&](const RunSummary& run) -> Result<bool> {
    if (run.reason != name(WaitFor::approval) && run.reason != name(WaitFor::input)) return true;
    const auto pending = pending_of(service, run.id);
    // A damaged one hides no other.
    if (pending) all.insert(all.end(), pending->begin(), pending->end());
    return true;
  }));
  return all;
}

// A checkpoint takes any word.
bool answers(InterruptKind asked, InterruptKind word) {
  return asked == word || asked == InterruptKind::custom;
}

// The call that is meant: the one that is named, or the only one.
Result<PendingApproval> chosen(const CliContext& context, const Target& target,
                               std::optional<InterruptKind> kind) {
  PAWL_TRY(const auto pending, pending_of(target.service(), target.run));
  auto named = context.arguments.one("CALL");
  if (!named) named = context.arguments.one("call");
  std::vector<PendingApproval> fitting;
  for (const PendingApproval& one : pending) {
    if (named ? to_string(one.call) == *named : !kind || answers(one.kind, *kind))
      fitting.push_back(one);
  }
  if (fitting.size() == 1) return fitting.front();
  if (named) {
    if (auto before = answered_before(target, *named)) return *std::move(before);
  }
  std::string calls;
  for (const PendingApproval& one : pending) {
    calls += (calls.empty() ? "" : ", ") + to_string(one.call);
  }
  if (calls.empty()) {
    return Error{ErrorCode::conflict, "run " + target.run.text + " is not waiting for a decision"};
  }
  const std::string fault = named ? *named + " waits for no decision: " : "name the call: ";
  return Error{ErrorCode::conflict, fault + calls + " of run " + target.run.text +
                                        " wait for a decision (pawl approvals " + target.run.text +
                                        ")"};
}

// What is not shown whole is approved by its digest only: then somebody has seen all of it.
Status check_seen(const CliContext& context, const ApprovalCard& card) {
  const std::string digest = to_hex(card.digest);
  const auto given = context.arguments.one("digest");
  if (given) {
    if (given->size() >= kDigestDigitsMin && digest.starts_with(*given)) return ok();
    return Error{ErrorCode::conflict,
                 "the digest of what would run is " + digest.substr(0, 16) + ", not " + *given};
  }
  if (!card.needs_expansion) return ok();
  return Error{ErrorCode::conflict,
               "the arguments are longer than what is shown; look at all of them with --full, then "
               "approve with --digest " +
                   digest.substr(0, 16)};
}

Result<Decided> approval(const CliContext& context) {
  Decided decided{InterruptDecision::approve, context.environment.user()};
  if (auto edit = context.arguments.one("edit")) {
    decided.edited = *edit;
    if (edit->starts_with('@')) {
      PAWL_TRY(decided.edited, context.environment.read_text(edit->substr(1)));
    }
  }
  return decided;
}

// About what was shown: if the run has moved on meanwhile, it is refused.
Result<Event> decided_event(const Target& target, const PendingApproval& shown, Decided decided) {
  decided.shown = shown.binding;
  decided.answer = make_answer();
  PAWL_TRY(const RunDetails details, target.service().show(target.run));
  if (decided.decision == InterruptDecision::approve) {
    PAWL_CHECK(sign_decided(target.context, target.service(), details.state, shown.call, decided));
  }
  PAWL_TRY(Event event, decision_about(details.state, shown.call, std::move(decided)));
  const std::int64_t now_ms = target.context.environment.main_loop().wall_ms();
  PAWL_CHECK(check_decision(details.state, event, now_ms));
  return event;
}

// What --always asks for, besides the approval itself.
Result<std::optional<RememberedApproval>> for_always(const CliContext& context,
                                                     const Target& target,
                                                     const PendingApproval& pending) {
  if (!context.arguments.has("always")) return std::optional<RememberedApproval>();
  PAWL_TRY(const RunDetails details, target.service().show(target.run));
  PAWL_TRY(RememberedApproval approval,
           remembered_of(pending, details.state, context.environment.user(),
                         context.environment.main_loop().wall_ms()));
  return std::optional(std::move(approval));
}

Status remember(const CliContext& context, const RememberedApproval& approval) {
  PAWL_CHECK(context.environment.remember(context.settings, approval));
  if (context.format() == Format::text) {
    print(context, "not asked again for exactly this; take it back with: pawl approvals --forget " +
                       approval.id() + "\n");
  }
  return ok();
}

std::string shown(const RememberedApproval& one) {
  return one.id() + "  " + safe_line(one.tool, kToolNameBytesMax) + " " +
         safe_line(one.input, kRememberedInputBytesMax) + "\n  in " +
         safe_line(one.project, kPathShownMax) + ", approved by " + safe_line(one.by, 100) + ", " +
         format_time(one.at_ms) + "\n";
}

int list_remembered(const CliContext& context) {
  const auto all = context.environment.remembered(context.settings);
  if (!all) return fail(context, all.error());
  for (const RememberedApproval& one : *all) {
    print(context, context.format() == Format::json ? remembered_line(one) : shown(one));
  }
  if (all->empty() && context.format() == Format::text) print(context, "nothing is remembered\n");
  return kExitDone;
}

int approve_one(const CliContext& context, const Target& target) {
  const auto pending = chosen(context, target, std::nullopt);
  if (!pending) return fail(context, pending.error());
  const ApprovalCard card = card_of(*pending);
  if (context.arguments.has("full")) {
    print(context, full_text(*pending));
    if (!context.arguments.has("digest")) return kExitDone;
  }
  if (context.format() == Format::text) print(context, card.text);
  if (const Status seen = check_seen(context, card); !seen) return fail(context, seen.error());
  auto decided = approval(context);
  if (!decided) return fail(context, decided.error());
  const auto always = for_always(context, target, *pending);
  if (!always) return fail(context, always.error());
  const int code =
      leave(target, decided_event(target, *pending, *std::move(decided)), "the approval");
  // Only the word that won counts for later, too.
  if (code != kExitDone || !*always) return code;
  const Status kept = remember(context, **always);
  return kept ? code : fail(context, kept.error());
}

// All that wait, in order, as one plan.
int approve_plan(const CliContext& context, const Target& target) {
  const auto pending = pending_of(target.service(), target.run);
  if (!pending) return fail(context, pending.error());
  const bool only_questions =
      std::all_of(pending->begin(), pending->end(),
                  [](const PendingApproval& one) { return one.kind == InterruptKind::input; });
  if (only_questions) {
    return fail(context, {ErrorCode::conflict,
                          "run " + target.run.text + " is not waiting for an approval"});
  }
  const ApprovalCard card = card_of_plan(*pending);
  if (context.arguments.has("full")) {
    for (const PendingApproval& one : *pending) print(context, full_text(one));
    if (!context.arguments.has("digest")) return kExitDone;
  }
  if (context.format() == Format::text) print(context, card.text);
  if (const Status seen = check_seen(context, card); !seen) return fail(context, seen.error());
  int code = kExitDone;
  for (const PendingApproval& one : *pending) {
    if (one.kind == InterruptKind::input) continue;
    const Decided decided{InterruptDecision::approve, context.environment.user()};
    code = std::max(code, leave(target, decided_event(target, one, decided),
                                "the approval of " + to_string(one.call)));
  }
  return code;
}

int command_approvals(const CliContext& context) {
  if (const auto id = context.arguments.one("forget")) {
    const Status forgotten = context.environment.forget(context.settings, *id);
    return forgotten ? kExitDone : fail(context, forgotten.error());
  }
  if (context.arguments.has("remembered")) return list_remembered(context);
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  const auto all = wanted(context, opened.workspace->service());
  if (!all) return fail(context, all.error());
  for (const PendingApproval& one : *all) {
    if (context.format() == Format::json) {
      print(context, json_of(one) + "\n");
    } else {
      print(context, context.arguments.has("full") ? full_text(one) : card_of(one).text);
      print(context, hint_of(one) + "\n\n");
    }
  }
  if (all->empty() && context.format() == Format::text) print(context, "nothing waits for you\n");
  return kExitDone;
}

int command_approve(const CliContext& context) {
  const bool plan = context.arguments.has("plan");
  if (context.arguments.has("always") && (plan || context.arguments.has("edit"))) {
    return fail(context, {ErrorCode::invalid_argument, "--always takes neither --plan nor --edit"});
  }
  if (plan && (context.arguments.has("CALL") || context.arguments.has("edit"))) {
    return fail(context, {ErrorCode::invalid_argument, "--plan takes neither CALL nor --edit"});
  }
  if (context.arguments.has("signature") &&
      (plan || context.arguments.has("identity") || !context.arguments.has("by"))) {
    return fail(context, {ErrorCode::invalid_argument,
                          "--signature needs --by, and takes neither --plan nor --identity"});
  }
  return with_target(context, [&](const Target& target) {
    const int code = plan ? approve_plan(context, target) : approve_one(context, target);
    return then_resume(context, target.workspace, target.run, code);
  });
}

int command_deny(const CliContext& context) {
  return with_target(context, [&](const Target& target) {
    const auto pending = chosen(context, target, std::nullopt);
    if (!pending) return fail(context, pending.error());
    const std::string reason = to_valid_utf8(context.arguments.one_or("reason", ""));
    const Decided decided{InterruptDecision::reject, context.environment.user(), reason};
    const int code = leave(target, decided_event(target, *pending, decided), "the denial");
    return then_resume(context, target.workspace, target.run, code);
  });
}

int command_answer(const CliContext& context) {
  auto text = Result<std::string>(context.arguments.one_or("TEXT", ""));
  if (*text == "-") text = context.environment.read_text("-");
  if (!text) return fail(context, text.error());
  if (text->empty() || !is_valid_utf8(*text)) {
    return fail(context, {ErrorCode::invalid_argument,
                          "an answer is UTF-8 text and not empty; give it as TEXT or with -"});
  }
  return with_target(context, [&](const Target& target) {
    const auto pending = chosen(context, target, InterruptKind::input);
    if (!pending) return fail(context, pending.error());
    const Decided decided{InterruptDecision::input, context.environment.user(), *text};
    const int code = leave(target, decided_event(target, *pending, decided), "the answer");
    return then_resume(context, target.workspace, target.run, code);
  });
}

}  // namespace

CommandEntry approvals_entry() {
  return {
      .name = "approvals",
      .summary = "List what runs want of you",
      .text =
          "Calls that wait for an approval or an answer, made from the exact bytes of their "
          "arguments: every control, invisible and direction character is shown, and what the "
          "model says about them is labelled as its word.",
      .arguments = {{"RUN", "Only this run.", Need::optional}},
      .options = {{"full", '\0', Takes::nothing, "", "Show all of the arguments, however long."},
                  {"remembered", '\0', Takes::nothing, "",
                   "List what was approved for always instead."},
                  {"forget", '\0', Takes::value, "ID", "Take an approval for always back."}},
      .run = command_approvals,
  };
}

CommandEntry approve_entry() {
  return {
      .name = "approve",
      .summary = "Approve a call that waits",
      .text =
          "The approval is for exactly the bytes, tool, directory, environment and policy of now: "
          "if any of them changes before the call runs, it is asked about again. It is used up by "
          "the call.",
      .arguments = {kRunArgument,
                    {"CALL", "The call, such as c3. Not needed when only one waits.",
                     Need::optional}},
      .options = {{"plan", '\0', Takes::nothing, "", "Approve all calls that wait, in order."},
                  {"always", '\0', Takes::nothing, "",
                   "Do not ask again for exactly this call, as long as its directory, environment, "
                   "files and policy are the same."},
                  {"edit", '\0', Takes::value, "JSON",
                   "Run it with these arguments instead; @FILE reads them from a file."},
                  {"digest", '\0', Takes::value, "HEX",
                   "The digest of the arguments you have seen. Needed when they are too long to be "
                   "shown."},
                  kIdentityOption,
                  {"signature", '\0', Takes::value, "BASE64",
                   "A signature of the text that pawl approvals --json shows as to_sign, by "
                   "anyone's tool."},
                  {"by", '\0', Takes::value, "NAME", "Whose signature it is."},
                  {"full", '\0', Takes::nothing, "",
                   "Show all of the arguments and approve nothing."},
                  kResumeOption},
      .run = command_approve,
  };
}

CommandEntry deny_entry() {
  return {
      .name = "deny",
      .summary = "Deny a call that waits",
      .text = "The call is not run, and the model reads why.",
      .arguments = {kRunArgument,
                    {"CALL", "The call, such as c3. Not needed when only one waits.",
                     Need::optional}},
      .options = {{"reason", '\0', Takes::value, "TEXT", "Why; the model reads it."},
                  kResumeOption},
      .run = command_deny,
  };
}

CommandEntry answer_entry() {
  return {
      .name = "answer",
      .summary = "Answer a question of a run",
      .arguments = {kRunArgument, {"TEXT", "The answer; - reads it from standard input."}},
      .options = {{"call", '\0', Takes::value, "CALL", "Which question, when several wait."},
                  kResumeOption},
      .run = command_answer,
  };
}

}  // namespace pawl
