// One overload of on() per legal transition; what has no overload is refused by name. Read top to
// bottom, and with take_model.cc and take_tools.cc in the middle, this is the life of
// a run.
#include "pawl/kernel/context.h"
#include "pawl/kernel/machine.h"

namespace pawl {
namespace {

template <class P>
concept LivePhase = !std::is_same_v<P, NotStarted> && !std::is_same_v<P, Finished>;

bool is_open(const Draft& draft, EffectId id, EffectKind kind) {
  const OpenEffect* effect = find_effect(draft.state, id);
  return effect != nullptr && effect->kind == kind;
}

// --- The beginning -----------------------------------------------------------------------------

Refusal on(Scene scene, const NotStarted&, const RunStarted& event) {
  Draft& draft = scene.draft;
  if (event.semantics != kSemantics) {
    return refuse("run_started asks for semantics " + std::to_string(event.semantics));
  }
  if (event.blocked) {
    draft.stop(RunStatus::stopped, StopReason::policy_violation,
               "Input blocked by " + event.blocked->processor + ": " + event.blocked->reason);
  } else if (const auto bound = crossed(draft.tally, draft.limits())) {
    draft.stop_at(*bound);
  } else if (event.agent_callbacks == Presence::present) {
    draft.effects.push_back(BeginAgent{draft.mint_effect()});
  } else {
    begin_step(draft, scene.instance, {});
  }
  return kAccepted;
}

Refusal on(Scene scene, const Ready&, const AgentBegan& event) {
  Draft& draft = scene.draft;
  if (!is_open(draft, event.effect, EffectKind::begin_agent)) {
    return late(event.kName, event.effect);
  }
  draft.close(event.effect);
  if (event.verdict == HookVerdict::stop) {
    draft.stop(RunStatus::stopped, StopReason::callback, "before_agent: " + event.reason);
  } else if (event.verdict == HookVerdict::replace && scene.instance.waiting_messages.empty()) {
    draft.add(InstanceRested{scene.instance.id});
    draft.stop(RunStatus::done, StopReason::end_turn, "answered by before_agent");
  } else {
    begin_step(draft, scene.instance, {});
  }
  return kAccepted;
}

// --- Model calls: take_model.cc; tool calls: take_tools.cc ------------------------

// --- Suspension, external turns, branches ------------------------------------------------------

void take_command(Draft& draft, const Instance& instance) {
  if (const auto bound = exhausted_for_step(draft.tally, draft.limits())) {
    return draft.stop_at(*bound);
  }
  ++draft.tally.steps;
  draft.add(StepBegan{instance.id, draft.tally.steps});
  draft.add(StepEnded{instance.id, draft.tally.steps, YieldReason::command, 0});
}

Refusal on(Scene scene, const Suspended& phase, const InstanceResumed& event) {
  if (event.suspend_id != phase.suspend_id) {
    return refuse(to_string(event.instance) + " is suspended as " + phase.suspend_id + ", not as " +
                  event.suspend_id);
  }
  if (scene.draft.ending()) return refuse("instance_resumed comes too late: the run is ending");
  take_command(scene.draft, scene.instance);
  begin_step(scene.draft, scene.instance, {});
  return kAccepted;
}

Refusal on(Scene scene, const AwaitingExternal&, const ExternalTurnPushed& event) {
  Draft& draft = scene.draft;
  if (draft.ending()) return refuse("external_turn_pushed comes too late: the run is ending");
  if (event.blocks.size() > kBlocksPerReplyMax) {
    return refuse("external_turn_pushed has " + std::to_string(event.blocks.size()) +
                  " blocks; a turn has at most " + std::to_string(kBlocksPerReplyMax));
  }
  if (const auto bound = exhausted_for_step(draft.tally, draft.limits())) {
    draft.stop_at(*bound);
    return kAccepted;
  }
  ++draft.tally.steps;
  draft.add(StepBegan{scene.instance.id, draft.tally.steps});
  take_reply(draft, scene.instance,
             {event.blocks, ReplyStop::end_turn, "", "", {0, 1}, draft.tally.steps});
  return kAccepted;
}

template <LivePhase P>
Refusal on(Scene scene, const P&, const InstanceSpawned& event) {
  Draft& draft = scene.draft;
  const Instance* parent = find_instance(draft.state, event.parent);
  if (parent == nullptr) return refuse("no instance " + to_string(event.parent) + " to spawn from");
  if (draft.ending()) return refuse("instance_spawned comes too late: the run is ending");
  if (const auto bound = crossed(draft.tally, draft.limits())) {
    draft.stop_at(*bound);
    return kAccepted;
  }
  Instance child;
  child.id = InstanceId{draft.state.instances_minted + 1};
  child.context_tokens =
      add_saturating(draft.state.base_tokens, estimate_tokens(event.input.length()));
  draft.add(InstanceBorn{child.id, event.parent});
  begin_step(draft, child, {});
  return kAccepted;
}

// --- Control: legal in every live phase --------------------------------------------------------

const OpenEffect* open_end_agent(const RunState& state) {
  return open_of(state, EffectKind::end_agent);
}

Refusal no_room_to_answer() {
  return refuse(
      "message_received comes too late: the run is done, and a limit leaves no room to "
      "answer");
}

// A message that comes while a finished run is being wound up is still part of it: it was accepted.
Refusal reopen(Scene scene) {
  Draft& draft = scene.draft;
  const OpenEffect* winding_up = open_end_agent(draft.state);
  if (winding_up == nullptr || std::get<Ending>(draft.state.course).status != RunStatus::done ||
      !std::holds_alternative<Resting>(scene.instance.phase)) {
    return refuse("message_received comes too late: the run is ending");
  }
  if (exhausted_for_step(draft.tally, draft.limits())) return no_room_to_answer();
  draft.discard(*winding_up, {});
  draft.withdraw_ending();
  take_up_again(draft);
  return kAccepted;
}

template <LivePhase P>
Refusal on(Scene scene, const P&, const MessageReceived&) {
  Draft& draft = scene.draft;
  const bool over = draft.ending();
  if (over) {
    if (Refusal refusal = reopen(scene)) return refusal;
  }
  if (const auto bound = crossed(draft.tally, draft.limits())) {
    draft.stop_at(*bound);
  } else if constexpr (std::is_same_v<P, Resting>) {
    begin_step(draft, scene.instance, {1, 0});
  }
  // A message that nobody can answer is refused: it does not turn what was done into a stop.
  if (over && draft.ending()) return no_room_to_answer();
  return kAccepted;
}

template <LivePhase P>
Refusal on(Scene scene, const P&, const PauseRequested&) {
  Draft& draft = scene.draft;
  if (draft.ending()) return refuse("pause_requested comes too late: the run is ending");
  if (draft.pausing()) return kAccepted;
  draft.pause();
  for (const OpenEffect& effect : draft.state.open) {
    if (effect.kind == EffectKind::model) draft.effects.push_back(AbortEffect{effect.id});
  }
  ready_those_that_wait(draft);
  return kAccepted;
}

template <LivePhase P>
Refusal on(Scene scene, const P&, const ResumeRequested&) {
  Draft& draft = scene.draft;
  if (draft.ending()) return refuse("resume_requested comes too late: the run is ending");
  if (draft.going()) return kAccepted;
  draft.unpause();
  take_up_again(draft);
  return kAccepted;
}

// Cancelling twice is not an error: the caller cannot know that it lost the race.
template <LivePhase P>
Refusal on(Scene scene, const P&, const CancelRequested& event) {
  scene.draft.stop(
      RunStatus::cancelled, StopReason::cancelled,
      event.reason.empty() ? "by " + event.by : event.reason + " (by " + event.by + ")");
  return kAccepted;
}

template <LivePhase P>
Refusal on(Scene scene, const P&, const BudgetRaised& event) {
  Draft& draft = scene.draft;
  if (draft.ending()) return refuse("budget_raised comes too late: the run is ending");
  if (event.cost_pico == 0 && event.tokens == 0 && event.time_ms == 0) {
    return refuse("budget_raised by nothing");
  }
  for (const Instance& instance : draft.state.instances) {
    if (!std::holds_alternative<AwaitingBudget>(instance.phase)) continue;
    if (draft.going()) call_again(draft, instance, {});
    if (draft.pausing()) draft.add(InstanceReadied{instance.id, 0});
  }
  return kAccepted;
}

template <LivePhase P>
Refusal on(Scene, const P&, const HookFailed&) {
  return kAccepted;
}

template <LivePhase P>
Refusal on(Scene scene, const P&, const HookStopped& event) {
  Draft& draft = scene.draft;
  const OpenEffect* effect = effect_stopped_by(draft.state, event);
  if (effect != nullptr) draft.close(effect->id);
  draft.stop(RunStatus::stopped, StopReason::callback,
             std::string(name(event.point)) + ": " + event.reason);
  if (effect != nullptr && event.point == HookPoint::after_tool) {
    const Call* call = find_call(draft.state, effect->call);
    PAWL_ASSERT(call != nullptr);
    if (may_have_acted(draft.state, *call)) doubt(draft, *call);
  }
  return kAccepted;
}

// --- Recovery and time -------------------------------------------------------------------------

template <LivePhase P>
Refusal on(Scene scene, const P&, const DriverAttached&) {
  Draft& draft = scene.draft;
  for (const OpenEffect& effect : draft.state.open) draft.lose(effect.id);  // with its process
  charge_lost_calls(draft);
  if (const auto bound = crossed(draft.tally, draft.limits())) draft.stop_at(*bound);
  for (const OpenEffect& effect : draft.state.open) recover(draft, effect);
  ask_again_where_due(draft);
  expire_approvals(draft);
  go_on_where_all_ended(draft);
  return kAccepted;
}

Refusal give_up_waiting(Draft& draft) {
  const Ending& ending = std::get<Ending>(draft.state.course);
  if (draft.stamp.elapsed_ms < add_saturating(ending.since_elapsed_ms, kEndingGraceMs) ||
      open_end_agent(draft.state) != nullptr) {
    return refuse("timer_fired, but nothing is due");
  }
  for (const OpenEffect& effect : draft.state.open) recover(draft, effect);
  return kAccepted;
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

template <LivePhase P>
Refusal on(Scene scene, const P&, const TimerFired&) {
  Draft& draft = scene.draft;
  if (draft.ending()) return give_up_waiting(draft);
  if (draft.tally.active_ms >= draft.limits().time_ms) {
    draft.stop_at(StopReason::time);
    return kAccepted;
  }
  bool due = expire_approvals(draft);
  if (due) go_on_where_all_ended(draft);
  for (const Instance& instance : draft.state.instances) {
    if (!is_due(instance.phase, draft.stamp.elapsed_ms)) continue;
    due = true;
    call_again(draft, instance, {});
  }
  return due ? Refusal(kAccepted) : refuse("timer_fired, but nothing is due");
}

// --- The end -----------------------------------------------------------------------------------

// With the root in one of these, a run can wait; and with the root in one of those, it can be over.
template <class P>
concept LastPhase =
    LivePhase<P> && !std::is_same_v<P, AwaitingModel> && !std::is_same_v<P, Compacting>;
template <class P>
concept IdlePhase = LastPhase<P> && !std::is_same_v<P, BackingOff>;

template <IdlePhase P>
Refusal on(Scene scene, const P&, const RunWaiting&) {
  const RunState& state = scene.draft.state;
  if (!wants_park(state)) return refuse("run_waiting, but the run does not wait");
  for (const Instance& instance : state.instances) {
    if (std::holds_alternative<Suspended>(instance.phase)) {
      scene.draft.add(StepEnded{instance.id, state.tally.steps, YieldReason::awaiting_resume, 0});
    }
  }
  return kAccepted;
}

template <LastPhase P>
Refusal on(Scene scene, const P&, const RunFinished& event) {
  if (!is_open(scene.draft, event.effect, EffectKind::end_agent)) {
    return late(event.kName, event.effect);
  }
  return kAccepted;
}

// --- Dispatch ----------------------------------------------------------------------------------

template <class P, class E>
concept Legal = requires(Scene scene, const P& phase, const E& event) { on(scene, phase, event); };

template <class P, class E>
Refusal dispatch(Scene scene, const P& phase, const E& event) {
  if constexpr (Legal<P, E>) {
    return on(scene, phase, event);
  } else {
    return refuse(std::string(E::kName) + " is not accepted while " + std::string(P::kName));
  }
}

Refusal decide_live(Draft& draft, const Event& event) {
  const InstanceId id = instance_of(event);
  const Instance* instance = find_instance(draft.state, id);
  if (instance == nullptr) {
    return refuse(std::string(name(event)) + ": there is no instance " + to_string(id));
  }
  return std::visit(
      [&](const auto& phase, const auto& fact) {
        return dispatch(Scene{draft, *instance}, phase, fact);
      },
      instance->phase, event);
}

template <class P>
std::string table_row() {
  std::string row = std::string(P::kName) + ":";
  const auto column = [&row]<class E>(const E*) {
    if constexpr (Legal<P, E>) row += " " + std::string(E::kName);
  };
  [&]<class... E>(const std::variant<E...>*) {
    (column(static_cast<const E*>(nullptr)), ...);
  }(static_cast<const Event*>(nullptr));
  return row + "\n";
}

}  // namespace

Refusal decide_into(Draft& draft, const Event& event) {
  if (std::holds_alternative<Live>(draft.state.life)) return decide_live(draft, event);
  Instance root;
  if (draft.starting != nullptr) root = root_of(*draft.starting, 0);
  const Scene scene{draft, root};
  if (std::holds_alternative<NotStarted>(draft.state.life)) {
    return std::visit([&](const auto& fact) { return dispatch(scene, NotStarted{}, fact); }, event);
  }
  return std::visit([&](const auto& fact) { return dispatch(scene, Finished{}, fact); }, event);
}

std::string transition_table() {
  return table_row<NotStarted>() + table_row<Ready>() + table_row<AwaitingModel>() +
         table_row<BackingOff>() + table_row<AwaitingTools>() + table_row<Suspended>() +
         table_row<AwaitingExternal>() + table_row<Resting>() + table_row<RateLimited>() +
         table_row<AwaitingBudget>() + table_row<Compacting>() + table_row<Finished>();
}

}  // namespace pawl
