// How a run goes on after it could not: after a crash, a pause, an end that was withdrawn.
#include "pawl/kernel/decide_agents.h"
#include "pawl/kernel/decide_tree.h"

namespace pawl {
namespace {

bool begins_agent(const RunState& state) {
  return open_of(state, EffectKind::begin_agent) != nullptr;
}

}  // namespace

Usage reserved_for(const RunState& state, const OpenEffect& effect) {
  const Instance* instance = find_instance(state, effect.instance);
  PAWL_ASSERT(instance != nullptr);
  const auto* model = std::get_if<AwaitingModel>(&instance->phase);
  if (model != nullptr && model->effect == effect.id) return model->reserved;
  const auto* compacting = std::get_if<Compacting>(&instance->phase);
  if (compacting != nullptr && compacting->effect == effect.id) return compacting->reserved;
  return {};
}

namespace {

bool asks_model(const OpenEffect& effect) {
  return effect.kind == EffectKind::model || effect.kind == EffectKind::compact;
}

void recover_model(Draft& draft, const OpenEffect& effect) {
  const Instance& instance = draft.instance(effect.instance);
  if (find_effect(draft.state, effect.id) != nullptr) {
    draft.discard(effect, reserved_for(draft.state, effect));
  }
  if (draft.pausing()) {
    draft.add(InstanceReadied{instance.id, failed_attempts_of(instance.phase)});
  }
  if (!draft.going()) return;
  if (instance.leave) return take_leave(draft, instance.id);  // It was to be summed up for that.
  if (effect.kind == EffectKind::compact) return call_model(draft, instance);
  call_again(draft, instance);
}

void recover_tool(Draft& draft, const OpenEffect& effect) {
  draft.discard(effect, {});
  const Call& call = draft.call(effect.call);
  if (starts_run(draft.state, call)) return recover_child(draft, call);
  const PinnedTool* tool = tool_of_call(draft.state, call);
  PAWL_ASSERT(tool != nullptr);
  switch (tool->effect) {
    case EffectClass::pure:
    case EffectClass::idempotent:
      return run_call(draft, call);
    case EffectClass::reconcilable:
      return ask_status(draft, call);
    case EffectClass::once:
      return doubt(draft, call);
  }
}

void start_what_was_held(Draft& draft) {
  const bool held = draft.state.begin_held == Presence::present;
  if (held) draft.start(BeginAgent{});
  for (const InstanceId id : instance_ids(draft.state)) {
    // The root waits for its before-agent callbacks.
    const bool beginning = id == kRootInstance && (held || begins_agent(draft.state));
    const Instance& instance = draft.instance(id);
    if (std::holds_alternative<Ready>(instance.phase) && !beginning) call_again(draft, instance);
  }
  for (const Call& call : draft.state.calls) {
    const CallWaiting* waiting = std::get_if<CallWaiting>(&call.state);
    if (waiting == nullptr || draft.ending() || waiting->held_for == HeldFor::place) continue;
    if (waiting->held_for == HeldFor::status) {
      ask_status(draft, call);
    } else if (waiting->held_for == HeldFor::judgement) {
      judge_call(draft, call);
    } else {
      run_call(draft, call);
    }
  }
}

}  // namespace

void ready_those_that_wait(Draft& draft) {
  for (const Instance& instance : draft.state.instances) {
    const AwaitingBudget* budget = std::get_if<AwaitingBudget>(&instance.phase);
    const bool waits =
        std::holds_alternative<BackingOff>(instance.phase) ||
        std::holds_alternative<RateLimited>(instance.phase) ||
        (budget != nullptr && (budget->until_at_ms != 0 || budget->unit == BudgetUnit::parent));
    if (waits) draft.add(InstanceReadied{instance.id, failed_attempts_of(instance.phase)});
  }
}

void ask_again_where_due(Draft& draft) {
  for (const InstanceId id : instance_ids(draft.state)) {
    const Instance& instance = draft.instance(id);
    const RateLimited* phase = std::get_if<RateLimited>(&instance.phase);
    const bool over = phase != nullptr && draft.stamp.at_ms >= phase->until_at_ms;
    // Whoever takes the run up may have raised what the tenant may spend: asking costs nothing.
    const AwaitingBudget* budget = std::get_if<AwaitingBudget>(&instance.phase);
    const bool asks =
        budget != nullptr && (budget->until_at_ms != 0 || budget->unit == BudgetUnit::parent);
    if ((over || asks) && draft.going()) call_again(draft, instance);
  }
}

void recover(Draft& draft, const OpenEffect& effect) {
  if (!is_live(draft.instance(effect.instance))) return;  // Its work was given up with it.
  switch (effect.kind) {
    case EffectKind::model:
    case EffectKind::compact:
      return recover_model(draft, effect);
    case EffectKind::tool:
      return recover_tool(draft, effect);
    case EffectKind::status:
      draft.discard(effect, {});
      return ask_status(draft, draft.call(effect.call));
    case EffectKind::judge:
      draft.discard(effect, {});
      return judge_call(draft, draft.call(effect.call));
    case EffectKind::begin_agent:
      draft.discard(effect, {});
      // While pausing they are held: RunState::begin_held.
      if (draft.going()) draft.start(BeginAgent{});
      return;
    case EffectKind::end_agent:
      return draft.discard(effect, {});  // finish() asks for it anew
    case EffectKind::ask_money:
    case EffectKind::ask_place:
      return draft.discard(effect, {});  // whoever wanted it asks again
  }
}

void start_anew(Draft& draft, const OpenEffect& effect) {
  if (!is_live(draft.instance(effect.instance))) return;
  draft.discard(effect, {});
  switch (effect.kind) {
    case EffectKind::model:
    case EffectKind::compact:
      return recover_model(draft, effect);
    case EffectKind::tool:
      return run_call(draft, draft.call(effect.call));
    case EffectKind::status:
      return ask_status(draft, draft.call(effect.call));
    case EffectKind::judge:
      return judge_call(draft, draft.call(effect.call));
    case EffectKind::begin_agent:
      if (draft.going()) draft.start(BeginAgent{});
      return;
    case EffectKind::end_agent:
      return;  // finish() asks for it anew
    case EffectKind::ask_money:
    case EffectKind::ask_place:
      return;  // whoever wanted it asks again
  }
}

void charge_lost_calls(Draft& draft, const std::vector<OpenEffect>& lost) {
  for (const OpenEffect& effect : lost) {
    if (asks_model(effect)) draft.discard(effect, reserved_for(draft.state, effect));
  }
}

const OpenEffect* open_of(const RunState& state, EffectKind kind) {
  for (const OpenEffect& effect : state.open) {
    if (effect.kind == kind) return &effect;
  }
  return nullptr;
}

void go_on_where_all_ended(Draft& draft) {
  for (const InstanceId id : instance_ids(draft.state)) {
    if (std::holds_alternative<AwaitingTools>(draft.instance(id).phase)) {
      go_on_when_all_ended(draft, id);
    }
  }
}

void take_up_again(Draft& draft) {
  if (draft.going()) start_what_was_held(draft);
  go_on_where_all_ended(draft);
}

}  // namespace pawl
