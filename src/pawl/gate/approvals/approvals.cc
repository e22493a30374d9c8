#include "pawl/gate/approvals/approvals.h"

#include <sys/random.h>

#include <algorithm>

#include "pawl/gate/approvals/approval_signature.h"
#include "pawl/journal/run_loader.h"
#include "pawl/json.h"
#include "pawl/kernel/flow_values.h"
#include "pawl/kernel/person_words.h"
#include "pawl/kernel/transcript.h"
#include "pawl/result.h"

namespace pawl {
namespace {

const ApprovalAsked* asked_in(const Record& record, CallId call) {
  for (const Decision& decision : record.decisions) {
    const auto* asked = std::get_if<ApprovalAsked>(&decision);
    if (asked != nullptr && asked->call == call) return asked;
  }
  return nullptr;
}

// The text that the model wrote in the same reply, as far as it is there at once.
std::string prose_of(const Record& reply) {
  const auto* replied = std::get_if<ModelReplied>(&reply.event);
  std::string prose;
  if (replied == nullptr) return prose;
  for (const Block& block : replied->blocks) {
    const auto* text = std::get_if<TextBlock>(&block);
    if (text != nullptr && text->text.bytes() != nullptr) prose += *text->text.bytes();
  }
  return prose;
}

// True: the call stands for a checkpoint of the run's flow, which no model has asked for.
Result<bool> show_checkpoint(JournalReader& reader, const RunState& state,
                             const CallAwaitingPerson& waiting, PendingApproval& pending) {
  const auto place = phase_of_call(state.flow, pending.call);
  if (!place) return false;
  PAWL_TRY(const Record record, read_record(reader, state.id, waiting.seq));
  pending.asked_at_ms = record.stamp.at_ms;
  pending.reason = "the phase " + state.flow.specs[*place].name + " waits for a decision";
  pending.input = checkpoint_shown(state.flow, *place);
  return true;
}

Result<PendingApproval> pending_of(JournalReader& reader, const RunState& state, const Call& call,
                                   const CallAwaitingPerson& waiting) {
  PendingApproval pending;
  pending.run = state.id;
  pending.instance = call.instance;
  pending.call = call.id;
  pending.kind = waiting.kind;
  pending.tool = call.tool;
  pending.project = state.directory;
  pending.binding = waiting.binding;
  pending.expires_at_ms = waiting.expires_at_ms;
  pending.to_sign =
      approval_message(*question_about(state, call.id), InterruptDecision::approve, std::nullopt);
  PAWL_TRY(const bool checkpoint, show_checkpoint(reader, state, waiting, pending));
  if (checkpoint) return pending;
  PAWL_TRY(const Record reply, read_record(reader, state.id, call.seq));
  PAWL_TRY(const CallBlock block, call_block(call, reply));
  PAWL_TRY(pending.input, resolve(reader, state.id, block.input));
  pending.prose = prose_of(reply);
  PAWL_TRY(const Record record, read_record(reader, state.id, waiting.seq));
  pending.asked_at_ms = record.stamp.at_ms;
  const ApprovalAsked* asked = asked_in(record, call.id);
  if (asked == nullptr) {
    return Error{ErrorCode::corrupt, "record " + std::to_string(waiting.seq) +
                                         " does not ask about " + to_string(call.id)};
  }
  pending.reason = asked->reason;
  pending.rule = asked->rule;
  pending.stage = asked->stage;
  return pending;
}

std::string known_calls(const RunState& state) {
  std::string list;
  for (const CallId call : calls_awaiting_person(state)) {
    list += (list.empty() ? "" : ", ") + to_string(call);
  }
  return list.empty() ? "nothing waits for a decision there" : "these do: " + list;
}

Status check_text(const Decided& decided) {
  const std::size_t bytes = decided.text.size() + (decided.edited ? decided.edited->size() : 0);
  if (bytes > kDecisionBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a decision has at most 512 KiB"};
  }
  if (!decided.edited) return ok();
  const auto json = parse_json(*decided.edited);
  if (!json) {
    return Error{ErrorCode::invalid_argument,
                 "the edited arguments are not JSON: " + json.error().message};
  }
  return ok();
}

}  // namespace

Result<std::vector<PendingApproval>> pending_approvals(JournalReader& reader,
                                                       const RunState& state) {
  std::vector<PendingApproval> pending;
  for (const Call& call : state.calls) {
    const auto* waiting = std::get_if<CallAwaitingPerson>(&call.state);
    if (waiting == nullptr) continue;
    PAWL_TRY(PendingApproval one, pending_of(reader, state, call, *waiting));
    if (!state.lineage.empty()) {
      one.parent = state.lineage.back().run;
      one.agent = state.lineage.back().agent;
    }
    pending.push_back(std::move(one));
  }
  return pending;
}

std::uint64_t make_answer() {
  constexpr std::uint64_t kExactInJson = (1ULL << 53U) - 1;
  std::uint64_t noise = 0;
  PAWL_ASSERT(getrandom(&noise, sizeof noise, 0) == static_cast<ssize_t>(sizeof noise));
  return std::max<std::uint64_t>(noise & kExactInJson, 1);
}

Result<Event> decision_about(const RunState& state, CallId id, Decided decided) {
  PAWL_CHECK(check_text(decided));
  const Call* call = find_call(state, id);
  const auto* waiting = call == nullptr ? nullptr : std::get_if<CallAwaitingPerson>(&call->state);
  const bool over =
      std::holds_alternative<Finished>(state.life) || std::holds_alternative<Ending>(state.course);
  if (waiting == nullptr || over) {
    return Error{ErrorCode::conflict, to_string(id) + " of run " + state.id.text +
                                          " waits for no decision; " + known_calls(state)};
  }
  if (decided.shown && *decided.shown != waiting->binding) {
    return Error{ErrorCode::conflict, to_string(id) + " of run " + state.id.text +
                                          " has changed since it was shown; look at it again"};
  }
  CallDecided event;
  event.instance = call->instance;
  event.call = id;
  event.decision = decided.decision;
  event.binding = decided.shown.value_or(waiting->binding);
  event.by = std::move(decided.by);
  event.text = Content(std::move(decided.text));
  if (decided.edited) event.edited = Content(*std::move(decided.edited));
  event.answer = decided.answer;
  event.signature = std::move(decided.signature);
  event.signed_by = std::move(decided.signed_by);
  return Event(std::move(event));
}

Status check_decision(const RunState& state, const Event& decision, std::int64_t now_ms) {
  const auto* decided = std::get_if<CallDecided>(&decision);
  const Call* call = decided == nullptr ? nullptr : find_call(state, decided->call);
  const auto* asked = call == nullptr ? nullptr : std::get_if<CallAwaitingPerson>(&call->state);
  if (asked == nullptr) return ok();
  const auto refused = [&](const std::string& why) {
    return Error{ErrorCode::conflict, to_string(call->id) + " of run " + state.id.text + " " + why};
  };
  if (asked->expires_at_ms > 0 && now_ms >= asked->expires_at_ms) {
    return refused("has expired: it is denied when the run is carried on");
  }
  if (!may_approve(state, *decided)) {
    return refused(decided->signed_by.empty()
                       ? "needs the signature of an approver that the policy lists: pass "
                         "--identity FILE, or --signature with --by"
                       : "needs another person: " + decided->signed_by + " has started the run");
  }
  if (!fits(asked->kind, *decided)) {
    const bool question = asked->kind == InterruptKind::input;
    return refused(question ? "asks a question: answer it, or deny it" : "asks for an approval");
  }
  const std::string* const edited = decided->edited ? decided->edited->bytes() : nullptr;
  if (edited == nullptr) return ok();
  const auto json = parse_json(*edited);
  if (json && json->is_object()) return ok();
  return Error{ErrorCode::invalid_argument, "arguments are a JSON object, such as {\"name\": 1}"};
}

}  // namespace pawl
