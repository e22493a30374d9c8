#include "pawl/run/call_judge.h"

#include <map>
#include <memory>
#include <span>

#include "pawl/base/thrown.h"
#include "pawl/gate/approvals/approval_signature.h"
#include "pawl/kernel/transcript.h"

namespace pawl {
namespace {

constexpr const char* kChangedSince =
    "it was approved with other arguments, and what they would do has changed since";

CallJudgement denial(std::string reason) {
  CallJudgement judgement;
  judgement.verdict = CallVerdict::deny;
  judgement.stage = GateStage::hook;
  judgement.reason = std::move(reason);
  return judgement;
}

std::span<const Block> reply_in(const Event& event) {
  if (const auto* replied = std::get_if<ModelReplied>(&event)) return replied->blocks;
  if (const auto* pushed = std::get_if<ExternalTurnPushed>(&event)) return pushed->blocks;
  return {};
}

// A gate that was asked must decide.
CallJudgement decided(CallJudgement judgement) {
  if (judgement.verdict == CallVerdict::undecided) judgement = denial("nobody has decided");
  return judgement;
}

// A host-supplied gate may throw, or answer for some calls only. It fails closed.
std::vector<CallJudgement> judged(CallGate& gate, const ProposedPlan& plan) {
  std::vector<CallJudgement> judgements;
  try {
    judgements = gate.judge(plan);
  } catch (...) {  // A host-supplied gate: it denies.
    judgements.assign(plan.calls.size(), denial("judging it failed: " + what_was_thrown()));
  }
  judgements.resize(plan.calls.size(), denial("nobody has judged it"));
  return judgements;
}

// The record itself says that the call may run, as of now.
bool is_fresh(const Record& record, const Call& call) {
  if (std::holds_alternative<CallJudged>(record.event)) return true;
  const bool replied = std::holds_alternative<ModelReplied>(record.event) ||
                       std::holds_alternative<ExternalTurnPushed>(record.event);
  return replied && call.seq == record.seq && !seat_call(call.id, record);
}

// `record`, or the one that the call was opened by, held by `stored`.
Result<const Record*> opening_record(const DrivenRun& run, const Record& record, const Call& call,
                                     std::shared_ptr<const Record>& stored) {
  if (call.seq == record.seq) return &record;
  PAWL_TRY(stored, run.opening_record(call.seq));
  return stored.get();
}

}  // namespace

Result<std::string> arguments_of(const DrivenRun& run, const Record& record, const Call& call) {
  std::shared_ptr<const Record> stored;
  PAWL_TRY(const Record* const opened, opening_record(run, record, call, stored));
  PAWL_TRY(const CallBlock block, call_block(call, *opened));
  PAWL_TRY(std::string input, resolve(run.reader(), run.id(), block.input));
  if (!call.edited) return input;
  PAWL_TRY(const Record decided, read_record(run.reader(), run.id(), *call.edited));
  const auto* edit = std::get_if<CallDecided>(&decided.event);
  if (edit == nullptr || !edit->edited) {
    return Error{ErrorCode::corrupt, "record " + std::to_string(*call.edited) +
                                         " does not hold the arguments of " + to_string(call.id)};
  }
  return resolve(run.reader(), run.id(), *edit->edited);
}

ProposedPlan CallJudge::plan_of(InstanceId instance, std::vector<ProposedCall> calls) const {
  ProposedPlan plan;
  plan.run = run_.id();
  plan.instance = instance;
  plan.calls = std::move(calls);
  plan.tally = run_.state().tally;
  if (const Instance* found = find_instance(run_.state(), instance)) plan.node = found->node;
  return plan;
}

void CallJudge::judge(InstanceId instance, std::vector<Block>& blocks,
                      const std::function<std::string(const Content&)>& bytes_of) {
  std::vector<CallBlock*> calls;
  std::vector<ProposedCall> proposed;
  for (Block& block : blocks) {
    CallBlock* call = std::get_if<CallBlock>(&block);
    if (call == nullptr) continue;
    call->judgement = CallJudgement::allowed();
    if (!gate()) continue;
    // Unknown tools and invalid arguments are refused as such.
    const std::string key = run_.definition_for(instance, call->tool);
    if (!call->fault.empty() || run_.setup().tools.find(key) == nullptr) continue;
    calls.push_back(call);
    proposed.push_back({call->tool, bytes_of(call->input), key});
  }
  if (calls.empty()) return;
  auto judgements = judged(*gate(), plan_of(instance, std::move(proposed)));
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->judgement = std::move(judgements[i]);
}

std::function<HookDecision(const std::string&, const std::string&)> CallJudge::native_hook(
    InstanceId instance) const {
  if (!gate()) return {};
  std::map<std::string, std::string> keys;
  for (const ToolSpec& tool : run_.setup().tools.specs()) {
    keys[tool.name] = run_.definition_for(instance, tool.name);
  }
  return [gate = gate(), plan = plan_of(instance, {}), keys](const std::string& tool,
                                                             const std::string& input) {
    ProposedPlan one = plan;
    const auto key = keys.find(tool);
    one.calls = {{tool, input, key == keys.end() ? tool : key->second}};
    const CallJudgement judgement = judged(*gate, one).front();
    if (judgement.verdict == CallVerdict::allow) return HookDecision{};
    const bool denied = judgement.verdict == CallVerdict::deny;
    return HookDecision{HookDecision::Verdict::deny,
                        denied ? judgement.reason
                               : "it needs a person's approval, which cannot be waited for here: " +
                                     judgement.reason};
  };
}

// --- Events from an inbox ----------------------------------------------------------------------

Status CallJudge::prepare(ExternalTurnPushed& event) {
  Status read = ok();
  const auto bytes_of = [&](const Content& content) {
    auto bytes = resolve(run_.reader(), run_.id(), content);
    if (!bytes) read = bytes.error();
    return bytes ? *std::move(bytes) : std::string();
  };
  for (Block& block : event.blocks) {
    CallBlock* call = std::get_if<CallBlock>(&block);
    if (call == nullptr) continue;
    call->fault = run_.setup().tools.fault_of(run_.definition_for(event.instance, call->tool),
                                              bytes_of(call->input));
  }
  judge(event.instance, event.blocks, bytes_of);
  return read;
}

// Edited arguments are checked like the model's, and the approval is for them.
Status CallJudge::prepare(CallDecided& event) {
  event.granted.reset();
  PAWL_CHECK(verify_signature(event));
  if (!event.edited) return ok();
  const Call* call = find_call(run_.state(), event.call);
  if (call == nullptr) return Error{ErrorCode::conflict, "no call " + to_string(event.call)};
  PAWL_TRY(const std::string bytes, resolve(run_.reader(), run_.id(), *event.edited));
  const std::string fault = run_.setup().tools.fault_of(key_of_tool(*call), bytes);
  if (!fault.empty()) {
    return Error{ErrorCode::invalid_argument, "the edited arguments are invalid: " + fault};
  }
  event.granted = sha256(bytes);
  if (!gate()) return ok();
  const ProposedCall edited{call->tool, bytes, key_of_tool(*call)};
  const CallJudgement judgement = judged(*gate(), plan_of(call->instance, {edited})).front();
  if (judgement.verdict == CallVerdict::deny) {
    return Error{ErrorCode::conflict, "the edited call is denied: " + judgement.reason};
  }
  event.granted = gate()->binding_of(edited);
  return ok();
}

// The signer that the event names may be from outside: only a key that the policies list counts.
Status CallJudge::verify_signature(CallDecided& event) const {
  event.signed_by.clear();
  if (event.signature.empty()) return ok();
  const auto question = question_about(run_.state(), event.call);
  if (!question) return ok();  // The kernel says that it waits for no decision.
  const std::string message = approval_message(*question, event.decision, event.edited);
  event.signed_by =
      signer_of(run_.setup().agent.charter.permissions.signers, message, event.signature);
  if (event.signed_by.empty()) {
    return Error{ErrorCode::conflict,
                 "the signature of " + to_string(event.call) + " is by no approver of the policy"};
  }
  event.by = event.signed_by;
  return ok();
}

// --- Gates that take their time ----------------------------------------------------------------

// All calls of the reply that holds `call`, as they were judged at first.
Result<std::vector<ProposedCall>> CallJudge::calls_beside(const Record& record,
                                                          const Call& call) const {
  std::shared_ptr<const Record> stored;
  PAWL_TRY(const Record* const opened, opening_record(run_, record, call, stored));
  std::vector<ProposedCall> calls;
  for (const Block& block : reply_in(opened->event)) {
    const CallBlock* one = std::get_if<CallBlock>(&block);
    if (one == nullptr || !one->fault.empty()) continue;
    const std::string key = run_.definition_for(call.instance, one->tool);
    if (run_.setup().tools.find(key) == nullptr) continue;
    PAWL_TRY(std::string input, resolve(run_.reader(), run_.id(), one->input));
    calls.push_back({one->tool, std::move(input), key});
  }
  return calls;
}

void CallJudge::perform(const Record& record, const JudgeCall& effect) {
  if (!run_.is_open(effect.effect)) return;
  const Call* const call = find_call(run_.state(), effect.call);
  PAWL_ASSERT(call != nullptr);
  const auto input = arguments_of(run_, record, *call);
  if (!input) return run_.end_unreadable(input.error());
  if (!gate()) return finish(effect, CallJudgement::allowed());
  ProposedPlan plan = plan_of(effect.instance, {{call->tool, *input, key_of_tool(*call)}});
  auto reply = calls_beside(record, *call);
  if (!reply) return run_.end_unreadable(reply.error());
  plan.reply = *std::move(reply);
  try {
    auto operation = gate()->ask(plan, [weak = run_.weak(*this), effect](CallJudgement judgement) {
      const auto self = weak.lock();
      if (!self || self->run_.is_over()) return;
      self->operations_.retire(effect.effect);
      self->finish(effect, std::move(judgement));
    });
    operations_.put(effect.effect, std::move(operation));
  } catch (...) {  // A host-supplied gate: it denies.
    finish(effect, denial("judging it failed: " + what_was_thrown()));
  }
}

void CallJudge::finish(const JudgeCall& effect, CallJudgement judgement) {
  const Status fed = run_.feed(
      CallJudged{effect.instance, effect.call, effect.effect, decided(std::move(judgement))});
  if (!fed) run_.log("late_result: " + to_string(effect.call) + ": " + fed.error().message);
}

// --- Before a tool starts ----------------------------------------------------------------------

std::optional<CallJudgement> CallJudge::objection(const Record& record, const RunTool& effect,
                                                  const std::string& input) {
  const Call* call = find_call(run_.state(), effect.call);
  if (!gate() || is_fresh(record, *call)) return std::nullopt;
  const ProposedCall proposed{call->tool, input, key_of_tool(*call)};
  CallJudgement now = judged(*gate(), plan_of(effect.instance, {proposed})).front();
  if (now.verdict == CallVerdict::deny) return now;
  if (!call->approved) {
    // What a hook allowed once it may not allow now: undecided is as good as no.
    if (now.verdict != CallVerdict::allow) return now;
    return std::nullopt;
  }
  const Digest binding = gate()->binding_of(proposed);
  if (binding == *call->approved) {
    return is_unseen(call->id, now) ? std::optional(now) : std::nullopt;
  }
  if (call->edited) {
    // A new question would show what the model wrote, which is what nobody approved.
    return denial(kChangedSince);
  }
  if (now.verdict == CallVerdict::undecided) return now;
  now.verdict = CallVerdict::ask;
  now.binding = binding;
  now.reason = "what it would do has changed since it was approved" +
               (now.reason.empty() ? "" : "; " + now.reason);
  return now;
}

bool CallJudge::is_unseen(CallId id, const CallJudgement& judgement) const {
  return judgement.verdict == CallVerdict::undecided &&
         find_call(run_.state(), id)->edited.has_value();
}

// A gate that wants a person to be asked has its answer: a person wrote it. Only a denial counts.
void CallJudge::judge_edited(const RunTool& effect, const std::string& input,
                             std::function<void()> allowed) {
  const Call& asked = *find_call(run_.state(), effect.call);
  const ProposedCall call{asked.tool, input, key_of_tool(asked)};
  const auto take = [weak = run_.weak(*this), effect, call,
                     allowed = std::move(allowed)](CallJudgement judgement) {
    const auto self = weak.lock();
    if (!self || self->run_.is_over()) return;
    self->operations_.retire(effect.effect);
    if (!self->run_.is_open(effect.effect)) return;
    self->finish_edited(effect, call, decided(std::move(judgement)), allowed);
  };
  try {
    operations_.put(effect.effect, gate()->ask(plan_of(effect.instance, {call}), take));
  } catch (...) {  // A host-supplied gate: it denies.
    take(denial("judging it failed: " + what_was_thrown()));
  }
}

void CallJudge::finish_edited(const RunTool& effect, const ProposedCall& call,
                              CallJudgement judgement, const std::function<void()>& allowed) {
  // The answer may have taken its time.
  const auto& approved = find_call(run_.state(), effect.call)->approved;
  if (approved != gate()->binding_of(call)) judgement = denial(kChangedSince);
  if (judgement.verdict != CallVerdict::deny) return allowed();
  const Status fed =
      run_.feed(CallJudged{effect.instance, effect.call, effect.effect, std::move(judgement)});
  if (!fed) run_.log(fed.error().message);
}

}  // namespace pawl
