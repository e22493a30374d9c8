// How a driver has calls judged: before the reply is recorded, by whoever needs more time, and once
// more before a tool starts that was not allowed just now.
#include <span>

#include "pawl/kernel/transcript.h"
#include "pawl/runtime/approval_signature.h"
#include "pawl/runtime/contents.h"
#include "pawl/runtime/driver.h"
#include "pawl/runtime/secret_filter/event_filter.h"
#include "pawl/runtime/thrown.h"

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

// A gate that was asked has to say something.
CallJudgement decided(CallJudgement judgement) {
  if (judgement.verdict == CallVerdict::undecided) judgement = denial("nobody has decided");
  return judgement;
}

// A gate of the host's may throw, or answer for some calls only. It fails closed.
std::vector<CallJudgement> judged(CallGate& gate, const ProposedPlan& plan) {
  std::vector<CallJudgement> judgements;
  try {
    judgements = gate.judge(plan);
  } catch (...) {  // Of the host's: it denies.
    judgements.assign(plan.calls.size(), denial("judging it failed: " + what_was_thrown()));
  }
  judgements.resize(plan.calls.size(), denial("nobody has judged it"));
  return judgements;
}

// The record itself says that the call may run, as of now.
bool is_fresh(const Record& record) {
  return std::holds_alternative<ModelReplied>(record.event) ||
         std::holds_alternative<ExternalTurnPushed>(record.event) ||
         std::holds_alternative<CallJudged>(record.event);
}

}  // namespace

ProposedPlan Driver::plan_of(InstanceId instance, std::vector<ProposedCall> calls) const {
  ProposedPlan plan;
  plan.run = id_;
  plan.instance = instance;
  plan.calls = std::move(calls);
  plan.tally = loaded_.run->tally;
  if (const Instance* found = find_instance(loaded_.run.state(), instance)) plan.node = found->node;
  return plan;
}

// Whatever a block came with is overwritten: it may be from outside.
void Driver::judge_calls(InstanceId instance, std::vector<Block>& blocks,
                         const std::function<std::string(const Content&)>& bytes_of) {
  std::vector<CallBlock*> calls;
  std::vector<ProposedCall> proposed;
  for (Block& block : blocks) {
    CallBlock* call = std::get_if<CallBlock>(&block);
    if (call == nullptr) continue;
    call->judgement = CallJudgement::allowed();
    if (!setup_.agent.gate) continue;
    // What is not known or not valid is refused as such.
    if (!call->fault.empty() || setup_.tools.find(call->tool) == nullptr) continue;
    calls.push_back(call);
    proposed.push_back({call->tool, bytes_of(call->input)});
  }
  if (calls.empty()) return;
  auto judgements = judged(*setup_.agent.gate, plan_of(instance, std::move(proposed)));
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->judgement = std::move(judgements[i]);
}

Status Driver::prepare(Event& event) {
  // It passed the filter when it was posted; this process may know more secrets than that one.
  std::vector<StoredBlob> none;
  if (services_.filter) filter_event(*services_.filter, Passage::again, event, none);
  if (auto* message = std::get_if<MessageReceived>(&event)) return prepare(*message);
  if (auto* turn = std::get_if<ExternalTurnPushed>(&event)) return prepare(*turn);
  if (auto* decided = std::get_if<CallDecided>(&event)) return prepare(*decided);
  return ok();
}

Status Driver::prepare(ExternalTurnPushed& event) {
  Status read = ok();
  const auto bytes_of = [&](const Content& content) {
    auto bytes = resolve(*services_.store.reader, id_, content);
    if (!bytes) read = bytes.error();
    return bytes ? *std::move(bytes) : std::string();
  };
  for (Block& block : event.blocks) {
    CallBlock* call = std::get_if<CallBlock>(&block);
    if (call != nullptr) call->fault = setup_.tools.fault_of(call->tool, bytes_of(call->input));
  }
  judge_calls(event.instance, event.blocks, bytes_of);
  return read;
}

// Edited arguments are held to what the model's are held to, and are what the approval is for.
Status Driver::prepare(CallDecided& event) {
  event.granted.reset();
  PAWL_CHECK(verify_signature(event));
  if (!event.edited) return ok();
  const Call* call = find_call(loaded_.run.state(), event.call);
  if (call == nullptr) return Error{ErrorCode::conflict, "no call " + to_string(event.call)};
  PAWL_TRY(const std::string bytes, resolve(*services_.store.reader, id_, *event.edited));
  const std::string fault = setup_.tools.fault_of(call->tool, bytes);
  if (!fault.empty()) {
    return Error{ErrorCode::invalid_argument, "the edited arguments are invalid: " + fault};
  }
  event.granted = sha256(bytes);
  if (!setup_.agent.gate) return ok();
  const ProposedCall edited{call->tool, bytes};
  const CallJudgement judgement =
      judged(*setup_.agent.gate, plan_of(call->instance, {edited})).front();
  if (judgement.verdict == CallVerdict::deny) {
    return Error{ErrorCode::conflict, "the edited call is denied: " + judgement.reason};
  }
  event.granted = setup_.agent.gate->binding_of(edited);
  return ok();
}

// Whatever the event says of its signer may be from outside: only a key that the policies list
// counts.
Status Driver::verify_signature(CallDecided& event) const {
  event.signed_by.clear();
  if (event.signature.empty()) return ok();
  const auto question = question_about(loaded_.run.state(), event.call);
  if (!question) return ok();  // The kernel says that it waits for no decision.
  const std::string message = approval_message(*question, event.decision, event.edited);
  event.signed_by = signer_of(setup_.agent.charter.permissions.signers, message, event.signature);
  if (event.signed_by.empty()) {
    return Error{ErrorCode::conflict,
                 "the signature of " + to_string(event.call) + " is by no approver of the policy"};
  }
  event.by = event.signed_by;
  return ok();
}

// All calls of the reply that a call is of, as they were judged at first.
Result<std::vector<ProposedCall>> Driver::calls_beside(const Record& record, CallId id) const {
  const Call* call = find_call(loaded_.run.state(), id);
  Record stored;
  if (call->seq != record.seq) {
    PAWL_TRY(stored, read_record(*services_.store.reader, id_, call->seq));
  }
  const Record& opened = call->seq == record.seq ? record : stored;
  std::vector<ProposedCall> calls;
  for (const Block& block : reply_in(opened.event)) {
    const CallBlock* one = std::get_if<CallBlock>(&block);
    if (one == nullptr || !one->fault.empty() || setup_.tools.find(one->tool) == nullptr) continue;
    PAWL_TRY(std::string input, resolve(*services_.store.reader, id_, one->input));
    calls.push_back({one->tool, std::move(input)});
  }
  return calls;
}

void Driver::perform(const Record& record, const JudgeCall& effect) {
  if (!is_open(effect.effect)) return;
  const auto invocation = invocation_for(record, effect.call, 1);
  if (!invocation) return end_unreadable(invocation.error());
  if (!setup_.agent.gate) return finish_judging(effect, CallJudgement::allowed());
  const std::string tool = find_call(loaded_.run.state(), effect.call)->tool;
  ProposedPlan plan = plan_of(effect.instance, {{tool, invocation->input}});
  auto reply = calls_beside(record, effect.call);
  if (!reply) return end_unreadable(reply.error());
  plan.reply = *std::move(reply);
  try {
    auto operation =
        setup_.agent.gate->ask(plan, [weak = weak_from_this(), effect](CallJudgement judgement) {
          const auto self = weak.lock();
          if (!self || self->over_) return;
          self->retire(effect.effect);
          self->finish_judging(effect, std::move(judgement));
        });
    operations_.put(effect.effect, std::move(operation));
  } catch (...) {  // A gate of the host's: it denies.
    finish_judging(effect, denial("judging it failed: " + what_was_thrown()));
  }
}

void Driver::finish_judging(const JudgeCall& effect, CallJudgement judgement) {
  const Status fed =
      feed(CallJudged{effect.instance, effect.call, effect.effect, decided(std::move(judgement))});
  if (!fed) log("late_result: " + to_string(effect.call) + ": " + fed.error().message);
}

// Why a call that was permitted earlier may not run now: the policy has changed since, or what a
// person approved is not what would run.
std::optional<CallJudgement> Driver::objection(const Record& record, const RunTool& effect,
                                               const ToolInvocation& invocation) {
  if (!setup_.agent.gate || is_fresh(record)) return std::nullopt;
  const Call* call = find_call(loaded_.run.state(), effect.call);
  const ProposedCall proposed{call->tool, invocation.input};
  CallJudgement now = judged(*setup_.agent.gate, plan_of(effect.instance, {proposed})).front();
  if (now.verdict == CallVerdict::deny) return now;
  if (!call->approved) {
    // What a hook allowed once it may not allow now: undecided is as good as no.
    if (now.verdict != CallVerdict::allow) return now;
    return std::nullopt;
  }
  const Digest binding = setup_.agent.gate->binding_of(proposed);
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

// Scripts and hooks have seen what the model wrote, and not what a person put in its place.
bool Driver::is_unseen(CallId id, const CallJudgement& judgement) const {
  return judgement.verdict == CallVerdict::undecided &&
         find_call(loaded_.run.state(), id)->edited.has_value();
}

// Who wants a person to be asked is answered: a person wrote it. Only a denial counts.
void Driver::judge_edited(const RunTool& effect, ToolInvocation invocation) {
  const std::string name = find_call(loaded_.run.state(), effect.call)->tool;
  const ProposedPlan plan = plan_of(effect.instance, {{name, invocation.input}});
  const auto take = [weak = weak_from_this(), effect, name,
                     invocation = std::move(invocation)](CallJudgement said) {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    self->retire(effect.effect);
    if (!self->is_open(effect.effect)) return;
    CallJudgement judgement = decided(std::move(said));
    // The answer may have taken its time.
    const auto& approved = find_call(self->loaded_.run.state(), effect.call)->approved;
    if (approved != self->setup_.agent.gate->binding_of({name, invocation.input})) {
      judgement = denial(kChangedSince);
    }
    if (judgement.verdict != CallVerdict::deny) {
      return self->start_tool(effect, *self->setup_.tools.find(name), ToolInvocation(invocation));
    }
    const Status fed =
        self->feed(CallJudged{effect.instance, effect.call, effect.effect, std::move(judgement)});
    if (!fed) self->log(fed.error().message);
  };
  try {
    operations_.put(effect.effect, setup_.agent.gate->ask(plan, take));
  } catch (...) {  // A gate of the host's: it denies.
    take(denial("judging it failed: " + what_was_thrown()));
  }
}

std::function<HookDecision(const std::string&, const std::string&)> Driver::native_hook(
    InstanceId instance) const {
  if (!setup_.agent.gate) return {};
  return [gate = setup_.agent.gate, plan = plan_of(instance, {})](const std::string& tool,
                                                                  const std::string& input) {
    ProposedPlan one = plan;
    one.calls = {{tool, input}};
    const CallJudgement judgement = judged(*gate, one).front();
    if (judgement.verdict == CallVerdict::allow) return HookDecision{};
    const bool denied = judgement.verdict == CallVerdict::deny;
    return HookDecision{HookDecision::Verdict::deny,
                        denied ? judgement.reason
                               : "it needs a person's approval, which cannot be waited for here: " +
                                     judgement.reason};
  };
}

}  // namespace pawl
