// How a run goes on after it could not: after a crash, a pause, an end that was withdrawn.
#include "pawl/kernel/draft.h"

namespace pawl {
namespace {

bool begins_agent(const RunState& state) {
  return open_of(state, EffectKind::begin_agent) != nullptr;
}

void recover_model(Draft& draft, const OpenEffect& effect) {
  const Instance* instance = find_instance(draft.state, effect.instance);
  PAWL_ASSERT(instance != nullptr);
  const AwaitingModel* phase = std::get_if<AwaitingModel>(&instance->phase);
  PAWL_ASSERT(phase != nullptr);
  if (!draft.is_settled(effect.id)) draft.discard(effect, phase->reserved);
  if (draft.pausing()) draft.add(InstanceReadied{instance->id, phase->failed_attempts});
  if (draft.going()) call_again(draft, *instance, {});
}

void recover_compaction(Draft& draft, const OpenEffect& effect) {
  const Instance* instance = find_instance(draft.state, effect.instance);
  PAWL_ASSERT(instance != nullptr);
  const Compacting* phase = std::get_if<Compacting>(&instance->phase);
  PAWL_ASSERT(phase != nullptr);
  if (!draft.is_settled(effect.id)) draft.discard(effect, phase->reserved);
  if (draft.pausing()) draft.add(InstanceReadied{instance->id, phase->failed_attempts});
  if (draft.going()) {
    call_model(draft, *instance,
               {instance->open_step, instance->attempts + 1, instance->position, instance->target,
                Attempt::Compact::again});
  }
}

void recover_tool(Draft& draft, const OpenEffect& effect) {
  const Call* call = find_call(draft.state, effect.call);
  PAWL_ASSERT(call != nullptr);
  draft.discard(effect, {});
  const PinnedTool* tool = find_tool(draft.state, call->tool);
  PAWL_ASSERT(tool != nullptr);
  switch (tool->effect) {
    case EffectClass::pure:
    case EffectClass::idempotent:
      return run_call(draft, call->instance, call->id, call->attempts);
    case EffectClass::reconcilable:
      return ask_status(draft, *call);
    case EffectClass::once:
      return doubt(draft, *call);
  }
}

void start_what_was_held(Draft& draft) {
  const bool held = draft.state.begin_held == Presence::present;
  if (held) draft.effects.push_back(BeginAgent{draft.mint_effect()});
  for (const Instance& instance : draft.state.instances) {
    // The root waits for its before-agent callbacks.
    const bool beginning = instance.id == kRootInstance && (held || begins_agent(draft.state));
    if (std::holds_alternative<Ready>(instance.phase) && !beginning) {
      call_again(draft, instance, {});
    }
  }
  for (const Call& call : draft.state.calls) {
    const CallWaiting* waiting = std::get_if<CallWaiting>(&call.state);
    if (waiting == nullptr || draft.ending()) continue;
    if (waiting->held_for == HeldFor::status) {
      ask_status(draft, call);
    } else if (waiting->held_for == HeldFor::judgement) {
      judge_call(draft, call.instance, call.id);
    } else {
      run_call(draft, call.instance, call.id, call.attempts);
    }
  }
}

}  // namespace

void ready_those_that_wait(Draft& draft) {
  for (const Instance& instance : draft.state.instances) {
    if (const BackingOff* phase = std::get_if<BackingOff>(&instance.phase)) {
      draft.add(InstanceReadied{instance.id, phase->failed_attempts});
    }
    if (const RateLimited* phase = std::get_if<RateLimited>(&instance.phase)) {
      draft.add(InstanceReadied{instance.id, phase->failed_attempts});
    }
    const AwaitingBudget* budget = std::get_if<AwaitingBudget>(&instance.phase);
    if (budget != nullptr && budget->until_at_ms != 0) {
      draft.add(InstanceReadied{instance.id, budget->failed_attempts});
    }
  }
}

void ask_again_where_due(Draft& draft) {
  for (const Instance& instance : draft.state.instances) {
    const RateLimited* phase = std::get_if<RateLimited>(&instance.phase);
    const bool over = phase != nullptr && draft.stamp.at_ms >= phase->until_at_ms;
    // Whoever takes the run up may have raised what the tenant may spend: asking costs nothing.
    const AwaitingBudget* budget = std::get_if<AwaitingBudget>(&instance.phase);
    const bool asks = budget != nullptr && budget->until_at_ms != 0;
    if ((over || asks) && draft.going()) call_again(draft, instance, {});
  }
}

void recover(Draft& draft, const OpenEffect& effect) {
  switch (effect.kind) {
    case EffectKind::model:
      return recover_model(draft, effect);
    case EffectKind::tool:
      return recover_tool(draft, effect);
    case EffectKind::status:
      draft.discard(effect, {});
      return ask_status(draft, *find_call(draft.state, effect.call));
    case EffectKind::judge:
      draft.discard(effect, {});
      return judge_call(draft, effect.instance, effect.call);
    case EffectKind::begin_agent:
      draft.discard(effect, {});
      // While pausing they are held: RunState::begin_held.
      if (draft.going()) draft.effects.push_back(BeginAgent{draft.mint_effect()});
      return;
    case EffectKind::compact:
      return recover_compaction(draft, effect);
    case EffectKind::end_agent:
      return draft.discard(effect, {});  // settle() asks for it anew
  }
}

void charge_lost_calls(Draft& draft) {
  for (const OpenEffect& effect : draft.state.open) {
    const Instance* instance = find_instance(draft.state, effect.instance);
    PAWL_ASSERT(instance != nullptr);
    if (const auto* phase = std::get_if<AwaitingModel>(&instance->phase)) {
      if (phase->effect == effect.id) draft.discard(effect, phase->reserved);
    }
    if (const auto* phase = std::get_if<Compacting>(&instance->phase)) {
      if (phase->effect == effect.id) draft.discard(effect, phase->reserved);
    }
  }
}

const OpenEffect* open_of(const RunState& state, EffectKind kind) {
  for (const OpenEffect& effect : state.open) {
    if (effect.kind == kind) return &effect;
  }
  return nullptr;
}

void go_on_where_all_ended(Draft& draft) {
  for (const Instance& instance : draft.state.instances) {
    if (std::holds_alternative<AwaitingTools>(instance.phase)) {
      go_on_when_all_ended(draft, instance.id);
    }
  }
}

void take_up_again(Draft& draft) {
  if (draft.going()) start_what_was_held(draft);
  go_on_where_all_ended(draft);
}

}  // namespace pawl
