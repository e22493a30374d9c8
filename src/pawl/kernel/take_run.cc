// What follows from the events of a run as a whole: its beginning, control, recovery, time.
#include "pawl/kernel/decide_agents.h"
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/decide_tree.h"
#include "pawl/kernel/machine.h"

namespace pawl {
namespace {

// A message that comes while a finished run is being wound up is still part of it: it was accepted.
void reopen(Draft& draft) {
  const OpenEffect winding_up = *open_of(draft.state, EffectKind::end_agent);
  draft.discard(winding_up, {});
  draft.add(EndingWithdrawn{});
  take_up_again(draft);
}

void take_command(Draft& draft, const Instance& instance) {
  if (const auto bound = exhausted_for_step(draft.state.tally, draft.state.limits)) {
    return draft.stop_at(*bound);
  }
  draft.add(StepBegan{instance.id, draft.state.tally.steps + 1});
  draft.add(StepEnded{instance.id, draft.state.tally.steps, YieldReason::command, 0});
}

// What starts with its node has been born, if its callbacks run again after a crash.
void begin_root(Draft& draft) {
  if (has_flow(draft.state)) return;  // Its phases begin at the end of the record.
  if (has_nodes(draft.state)) return begin_instance(draft, kRootInstance);
  begin_step(draft, draft.instance(kRootInstance));
}

}  // namespace

// --- The beginning -----------------------------------------------------------------------------

void take(Draft& draft, const RunStarted& event) {
  if (event.blocked) {
    draft.stop(RunStatus::stopped, StopReason::policy_violation,
               "Input blocked by " + event.blocked->processor + ": " + event.blocked->reason);
  } else if (const auto bound = draft.crossed()) {
    draft.stop_at(*bound);
  } else if (event.agent_callbacks == Presence::present) {
    draft.start(BeginAgent{});
  } else {
    begin_root(draft);
  }
}

void take(Draft& draft, const AgentBegan& event) {
  const Instance& root = draft.instance(kRootInstance);
  if (event.verdict == HookVerdict::stop) {
    draft.stop(RunStatus::stopped, StopReason::callback, "before_agent: " + event.reason);
  } else if (event.verdict == HookVerdict::replace && !has_news(root)) {
    draft.add(InstanceRested{root.id});
    draft.stop(RunStatus::done, StopReason::end_turn, "answered by before_agent");
  } else {
    begin_root(draft);
  }
}

void take(Draft& draft, const InstanceSpawned& event) {
  if (const auto bound = draft.crossed()) return draft.stop_at(*bound);
  const InstanceId child{draft.state.instances_minted + 1};
  const std::uint64_t tokens = draft.rules.estimate_tokens(event.input.length());
  draft.add(InstanceBorn{child, event.parent, tokens});
  begin_step(draft, draft.instance(child));
}

// --- Messages and commands ---------------------------------------------------------------------

// Of those with its key that wait, only the last is delivered. The event has been applied: the
// books are still about the one before it.
static void replace_earlier(Draft& draft, const MessageReceived& event) {
  const Instance& instance = draft.instance(event.instance);
  for (const Singleton& one : instance.singletons) {
    if (one.key != event.singleton || one.seq == draft.state.length - 1) continue;
    const std::uint64_t count = one.count + 1;
    draft.add(
        MessageReplaced{instance.id, one.seq, count, with_number(draft.rules.say.last_of, count)});
    return;
  }
}

void take(Draft& draft, const MessageReceived& event) {
  if (!event.singleton.empty()) replace_earlier(draft, event);
  if (draft.ending()) reopen(draft);
  if (const auto bound = draft.crossed()) return draft.stop_at(*bound);
  const Instance& instance = draft.instance(event.instance);
  if (event.delivery == Delivery::silent) return;
  const auto* asked = std::get_if<AwaitingModel>(&instance.phase);
  const bool interrupts = event.delivery == Delivery::urgent && asked != nullptr;
  if (interrupts && find_effect(draft.state, asked->effect) != nullptr) draft.abort(asked->effect);
  if (std::holds_alternative<Resting>(instance.phase)) begin_step(draft, instance);
}

void take(Draft& draft, const InstanceResumed& event) {
  const Instance& instance = draft.instance(event.instance);
  take_command(draft, instance);
  if (has_calls(draft.state, instance.id)) draft.add(ResultsTaken{instance.id});
  begin_step(draft, instance);
}

void take(Draft& draft, const StateSet& event) {
  draft.stop_where_crossed();
  draft.add(StateChanged{event.instance, event.pack, *event.state.bytes()});
}

void take(Draft& draft, const ExternalTurnPushed& event) {
  const Instance& instance = draft.instance(event.instance);
  if (const auto bound = exhausted_for_step(draft.state.tally, draft.state.limits)) {
    draft.stop_at(*bound);
    return refuse_calls(draft, instance, event.blocks);
  }
  draft.add(StepBegan{instance.id, draft.state.tally.steps + 1});
  take_reply(draft, instance, {event.blocks, ReplyStop::end_turn, "", ""});
}

// --- Control -----------------------------------------------------------------------------------

void take(Draft& draft, const PauseRequested&) {
  if (draft.pausing()) return;
  draft.add(PauseBegan{});
  for (const OpenEffect& effect : draft.state.open) {
    if (effect.kind == EffectKind::model) draft.abort(effect.id);
  }
  ready_those_that_wait(draft);
  steer_children(draft, Steer::pause);
}

void take(Draft& draft, const ResumeRequested&) {
  if (draft.going()) return;
  draft.add(PauseEnded{});
  take_up_again(draft);
  steer_children(draft, Steer::resume);
}

void take(Draft& draft, const CancelRequested& event) {
  draft.stop(RunStatus::cancelled, StopReason::cancelled,
             event.reason.empty() ? "by " + event.by : event.reason + " (by " + event.by + ")");
}

// Each only where there is one.
static Limits raised(Limits limits, const Tally& tally, const BudgetRaised& raise) {
  if (limits.cost_pico > 0) limits.cost_pico = add_saturating(limits.cost_pico, raise.cost_pico);
  if (limits.ask_cost_pico > 0) {
    limits.ask_cost_pico =
        add_saturating(std::max(limits.ask_cost_pico, tally.cost_pico), raise.cost_pico);
  }
  if (limits.budget_tokens > 0) {
    limits.budget_tokens = add_saturating(limits.budget_tokens, raise.tokens);
  }
  // Time may have run on beyond it: a raise is from now on.
  if (limits.budget_ms > 0 && raise.time_ms > 0) {
    limits.budget_ms = add_saturating(std::max(limits.budget_ms, tally.active_ms), raise.time_ms);
  }
  return limits;
}

void take(Draft& draft, const BudgetRaised& event) {
  draft.add(LimitsRaised{raised(draft.state.limits, draft.state.tally, event)});
  for (const InstanceId id : instance_ids(draft.state)) {
    const Instance& instance = draft.instance(id);
    if (!std::holds_alternative<AwaitingBudget>(instance.phase)) continue;
    if (draft.going()) call_again(draft, instance);
    if (draft.pausing()) draft.add(InstanceReadied{instance.id, 0});
  }
  wake_children(draft);
}

void take(Draft& draft, const Before& before, const HookStopped& event) {
  draft.stop(RunStatus::stopped, StopReason::callback,
             std::string(name(event.point)) + ": " + event.reason);
  if (!before.stopped || event.point != HookPoint::after_tool) return;
  const Call& call = draft.call(before.stopped->call);
  if (may_have_acted(draft.state, call)) doubt(draft, call);
}

// --- Recovery and time -------------------------------------------------------------------------

// Whose process has never begun what the last record of a fork's prefix asks for.
static bool is_unstarted(const DriverAttached& event, const OpenEffect& effect) {
  return event.unstarted_from != EffectId{} && effect.id >= event.unstarted_from;
}

void take(Draft& draft, const DriverAttached& event) {
  std::vector<OpenEffect> lost = draft.state.open;  // with its process
  std::vector<OpenEffect> unstarted;
  for (const OpenEffect& effect : lost) {
    if (is_unstarted(event, effect)) unstarted.push_back(effect);
  }
  std::erase_if(lost, [&](const OpenEffect& effect) { return is_unstarted(event, effect); });
  for (const OpenEffect& effect : unstarted) start_anew(draft, effect);
  charge_lost_calls(draft, lost);
  draft.stop_where_crossed();
  for (const OpenEffect& effect : lost) recover(draft, effect);
  ask_again_where_due(draft);
  wake_children(draft);
  expire_approvals(draft);
  expire_awaits(draft);
  go_on_where_all_ended(draft);
}

bool is_due(const Phase& phase, std::uint64_t elapsed_ms) {
  return std::visit(
      [elapsed_ms](const auto& one) {
        if constexpr (requires { one.unit; }) {
          if (one.until_at_ms == 0) return false;  // no time helps
        }
        if constexpr (requires { one.until_elapsed_ms; }) return one.until_elapsed_ms <= elapsed_ms;
        return false;
      },
      phase);
}

void take(Draft& draft, const TimerFired&) {
  if (draft.ending()) {  // What is aborted has had its time.
    const std::vector<OpenEffect> given_up = draft.state.open;
    for (const OpenEffect& effect : given_up) recover(draft, effect);
    return;
  }
  if (draft.state.tally.active_ms >= draft.state.limits.time_ms) {
    return draft.stop_at(StopReason::time);
  }
  const bool expired =
      std::any_of(draft.state.calls.begin(), draft.state.calls.end(),
                  [&](const Call& call) { return has_expired(call, draft.stamp); });
  expire_approvals(draft);
  expire_awaits(draft);
  if (expired) go_on_where_all_ended(draft);
  for (const InstanceId id : instance_ids(draft.state)) {
    const Instance& instance = draft.instance(id);
    if (is_due(instance.phase, draft.stamp.elapsed_ms)) call_again(draft, instance);
  }
}

// --- The end, and after it -----------------------------------------------------------------------

void take(Draft& draft, const RunReopened&) {
  if (const auto bound = draft.crossed()) return draft.stop_at(*bound);
  take_up_again(draft);
  for (const InstanceId id : instance_ids(draft.state)) {
    const Instance& one = draft.instance(id);
    const bool rests = std::holds_alternative<Resting>(one.phase);
    if (rests && has_news(one)) begin_step(draft, one);
  }
}

void take(Draft& draft, const RunWaiting&) {
  for (const Instance& instance : draft.state.instances) {
    if (!std::holds_alternative<Suspended>(instance.phase)) continue;
    draft.add(StepEnded{instance.id, draft.state.tally.steps, YieldReason::awaiting_resume, 0});
  }
}

}  // namespace pawl
