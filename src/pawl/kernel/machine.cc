// One overload of check() per legal pair of state and event; what has no overload is refused by
// name. A check changes nothing, and finds every reason to refuse.
#include "pawl/kernel/machine.h"

#include "pawl/json.h"
#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/decide_tree.h"
#include "pawl/kernel/rules.h"
#include "pawl/kernel/tally.h"

namespace pawl {
namespace {

constexpr std::nullopt_t kAccepted = std::nullopt;

struct Moment {
  const Run& run;
  const RunState& state;
  const Event& event;
  const Stamp& stamp;
};

Refusal refuse(std::string message) {
  return Error{ErrorCode::conflict, std::move(message)};
}

Refusal too_late(std::string_view event, EffectId effect) {
  return refuse(std::string(event) + " comes too late: " + to_string(effect) + " is closed");
}

// --- The run -----------------------------------------------------------------------------------
//
// not_started -> going <-> pausing -> ending -> finished -> (reopened) going. An ending can be
// withdrawn by a message, as long as its run is done and only wound up.

template <class S>
concept Active = std::is_same_v<S, Going> || std::is_same_v<S, Pausing>;
template <class S>
concept Unfinished = Active<S> || std::is_same_v<S, Ending>;

Refusal check_open(const Moment& now, std::string_view event, EffectId id, EffectKind kind) {
  const OpenEffect* effect = find_effect(now.state, id);
  const bool open = effect != nullptr && effect->kind == kind;
  return open ? Refusal(kAccepted) : too_late(event, id);
}

// What a charter may say and no run does yet: better no run than one that leaves it out.
std::string what_is_not_driven(const RunStarted& event) {
  if (event.agents.size() > kAgentsMax) return "too many agents";
  if (event.lineage.size() > kLineageMax) return "too many ancestors";
  for (const PackSpec& pack : event.packs) {
    if (pack.state && pack.state->owner == StateOwner::external) {
      return "pack " + pack.name + ": a state that is owned outside belongs to a node";
    }
  }
  for (const NodeSpec& node : event.nodes) {
    if (node.discover && event.phases.empty()) {
      return "node " + node.name + ": steps are discovered in flows only";
    }
  }
  return "";
}

// Of a run that has a flow.
std::string fault_of_flow(const RunStarted& event) {
  if (!event.node.empty()) return "a flow starts at no node";
  bool needs_room = !event.nodes.empty();
  for (const PhaseSpec& one : event.phases) {
    if (one.agent.empty()) continue;
    needs_room = true;
    if (find_agent(event.agents, one.agent) == nullptr) {
      return "phase " + one.name + ": there is no agent " + one.agent;
    }
  }
  if (event.limits.branches == 0 && needs_room) {
    return "limits.branches is 0, and a flow needs room for an instance";
  }
  if (event.input.bytes() == nullptr || event.input.length() > kFlowInputBytesMax) {
    return "the input of a flow has at most " + std::to_string(kFlowInputBytesMax) +
           " bytes; give the flow the name of a file instead";
  }
  return fault_of(event.phases, event.nodes);
}

// What is needed of a charter that is not about its nodes alone.
std::string fault_of_parts(const RunStarted& event) {
  if (!event.phases.empty()) return fault_of_flow(event);
  if (event.nodes.empty()) return event.gate ? "a gate is for runs that have nodes" : "";
  return event.node.empty() ? "it starts at no node of its own" : "";
}

Refusal check(const Moment&, const NotStarted&, const RunStarted& event) {
  if (const Status known = check_semantics(event.semantics); !known) return known.error();
  const std::size_t targets = std::max<std::size_t>(event.targets.size(), 1);
  std::string fault = fault_of(event.nodes, event.packs, event.node, targets);
  if (fault.empty()) fault = fault_of_parts(event);
  if (fault.empty()) fault = what_is_not_driven(event);
  return fault.empty() ? Refusal(kAccepted) : refuse("run_started: " + fault);
}

Refusal check(const Moment&, const Unfinished auto&, const DriverAttached&) {
  return kAccepted;
}

Refusal check(const Moment& now, const Unfinished auto&, const AgentBegan& event) {
  return check_open(now, event.kName, event.effect, EffectKind::begin_agent);
}

// What never asks a model reads nothing.
Refusal check_reader(const RunState& state, InstanceId id) {
  if (has_flow(state) && id == kRootInstance) {
    return refuse("message_received: i1 is the root of a flow and reads nothing; name an instance");
  }
  const Instance* instance = find_instance(state, id);
  if (instance == nullptr || !is_agent_seat(state, *instance)) return kAccepted;
  return refuse("message_received: a run beneath this one does the work of " + to_string(id) +
                "; give the message to that run (pawl tree names it)");
}

Refusal check(const Moment& now, const Active auto&, const MessageReceived& event) {
  if (Refusal refusal = check_reader(now.state, event.instance)) return refusal;
  const bool final = now.state.final_output.has_value() && event.instance == kRootInstance;
  return final ? refuse("message_received comes too late: the output of the run is final")
               : Refusal(kAccepted);
}

// How the run would end at once if it took the event: only trying tells.
std::optional<RunStatus> ends_again(const Moment& now) {
  Run trial = now.run;
  Record record{0, now.stamp, kRootInstance, now.event, {}, {}};
  Draft draft(trial, record);
  take_event(draft, now.event);
  const Ending* ending = std::get_if<Ending>(&trial->course);
  return ending == nullptr ? std::nullopt : std::optional(ending->status);
}

Refusal no_room_to_answer() {
  return refuse(
      "message_received comes too late: the run is done, and a limit leaves no room to "
      "answer");
}

// A message that comes while a finished run is being wound up is still part of it. Whether it can
// be answered, only trying tells: one that cannot does not turn what was done into a stop.
Refusal check(const Moment& now, const Ending& ending, const MessageReceived& event) {
  if (Refusal refusal = check_reader(now.state, event.instance)) return refusal;
  const Instance* instance = find_instance(now.state, event.instance);
  if (open_of(now.state, EffectKind::end_agent) == nullptr || ending.status != RunStatus::done ||
      !std::holds_alternative<Resting>(instance->phase)) {
    return refuse("message_received comes too late: the run is ending");
  }
  if (event.delivery == Delivery::silent) {  // It wakes nobody who could end the run again.
    return refuse("message_received comes too late: the run is done, and it was to wake nobody");
  }
  const Tally after = tally_after(now.state, now.event, now.stamp);
  if (exhausted_for_step(after, now.state.limits)) return no_room_to_answer();
  return ends_again(now) ? no_room_to_answer() : kAccepted;
}

Refusal check(const Moment&, const Active auto&, const PauseRequested&) {
  return kAccepted;
}

Refusal check(const Moment&, const Active auto&, const ResumeRequested&) {
  return kAccepted;
}

// Cancelling twice is not an error: the caller cannot know that it lost the race.
Refusal check(const Moment&, const Unfinished auto&, const CancelRequested&) {
  return kAccepted;
}

Refusal check(const Moment&, const Active auto&, const BudgetRaised& event) {
  const bool nothing = event.cost_pico == 0 && event.tokens == 0 && event.time_ms == 0;
  return nothing ? refuse("budget_raised must raise at least one limit") : kAccepted;
}

Refusal check(const Moment&, const Unfinished auto&, const HookFailed&) {
  return kAccepted;
}

Refusal check(const Moment&, const Unfinished auto&, const HookStopped&) {
  return kAccepted;
}

Refusal check(const Moment& now, const Active auto&, const InstanceSpawned& event) {
  if (has_nodes(now.state)) return refuse("instance_spawned: a run that has nodes spawns by them");
  if (find_instance(now.state, event.parent) != nullptr) return kAccepted;
  return refuse("no instance " + to_string(event.parent) + " to spawn from");
}

// The owner of a state replaces it whole.
Refusal check(const Moment& now, const Active auto&, const StateSet& event) {
  if (!has_nodes(now.state)) return refuse("state_set: the run has no nodes");
  const Instance& instance = *find_instance(now.state, event.instance);
  const NodeSpec& node = node_of(now.state, instance);
  const std::string whose = "state_set: the state of " + to_string(instance.id);
  if (!event.pack.empty() || !node.state) return refuse("state_set: there is no such state");
  if (node.state->owner != StateOwner::external) {
    return refuse(whose + " belongs to the run; its node does not say \"owner: external\"");
  }
  const std::string* json = event.state.bytes();
  const std::string fault = json == nullptr ? "it is too long" : fault_of_state(node.state, *json);
  return fault.empty() ? Refusal(kAccepted) : refuse(whose + " would not fit: " + fault);
}

Refusal check(const Moment& now, const Active auto&, const CommandGiven&) {
  const std::string fault = fault_of_command(now.run, now.event, now.stamp);
  return fault.empty() ? Refusal(kAccepted) : refuse(fault);
}

// Runs beneath this one speak of themselves as long as they are not over.
template <class E>
Refusal check_child(const Moment& now, const E& event) {
  const bool known = find_child(now.state, event.call) != nullptr;
  return known ? Refusal(kAccepted)
               : refuse(std::string(E::kName) + ": no run beneath this one was started by " +
                        to_string(event.call) + ", or it is over");
}

Refusal check(const Moment& now, const Active auto&, const ChildAsked& event) {
  return check_child(now, event);
}

Refusal check(const Moment& now, const Unfinished auto&, const ChildReported& event) {
  return check_child(now, event);
}

// One that names no ask is the last word of a run that ends before this one.
Refusal check(const Moment& now, const Unfinished auto&, const ParentAnswered& event) {
  if (!has_parent(now.state)) return refuse("parent_answered: no run has started this one");
  if (event.effect == EffectId{}) return kAccepted;
  const OpenEffect* asked = find_effect(now.state, event.effect);
  const bool open = asked != nullptr &&
                    (asked->kind == EffectKind::ask_money || asked->kind == EffectKind::ask_place);
  return open ? Refusal(kAccepted) : too_late(event.kName, event.effect);
}

Refusal check(const Moment& now, const Active auto&, const PhaseControlled& event) {
  const std::string fault = fault_of_control(now.state, event);
  return fault.empty() ? Refusal(kAccepted) : refuse("phase_controlled: " + fault);
}

// Events are kept for phases: one that none awaits would wait for ever.
Refusal check(const Moment& now, const Active auto&, const EventReceived& event) {
  const FlowState& flow = now.state.flow;
  std::string names;
  bool awaited = false;
  for (const PhaseSpec& spec : flow.specs) {
    if (!spec.await) continue;
    awaited = awaited || spec.await->event == event.event;
    names += (names.empty() ? "" : ", ") + spec.await->event;
  }
  if (!awaited) {
    return refuse("event_received: no phase awaits " + in_few_words(event.event) +
                  (names.empty() ? "" : "; they await " + in_few_words(names)));
  }
  if (flow.events.size() >= kFlowEventsMax) {
    return refuse("event_received: " + std::to_string(kFlowEventsMax) + " events wait already");
  }
  const std::string* json = event.payload.bytes();
  if (json == nullptr || json->size() > kFlowEventBytesMax) {
    return refuse("event_received: an event has at most " + std::to_string(kFlowEventBytesMax) +
                  " bytes");
  }
  if (json->empty()) return kAccepted;
  const auto value = parse_json(*json);
  return value ? Refusal(kAccepted) : refuse("event_received: " + value.error().message);
}

Refusal nothing_due() {
  return refuse("timer_fired, but nothing is due");
}

Refusal check(const Moment& now, const Active auto&, const TimerFired&) {
  const Tally after = tally_after(now.state, now.event, now.stamp);
  const auto& instances = now.state.instances;
  const auto& calls = now.state.calls;
  const auto& phases = now.state.flow.runs;
  const bool awaited = std::any_of(phases.begin(), phases.end(), [&](const PhaseRun& run) {
    return has_waited_enough(run, now.stamp.at_ms, now.stamp.elapsed_ms);
  });
  const bool due = after.active_ms >= now.state.limits.time_ms || awaited ||
                   flow_may_go_on(now.state) ||
                   std::any_of(calls.begin(), calls.end(),
                               [&](const Call& call) { return has_expired(call, now.stamp); }) ||
                   std::any_of(instances.begin(), instances.end(), [&](const Instance& instance) {
                     return is_due(instance.phase, now.stamp.elapsed_ms);
                   });
  return due ? Refusal(kAccepted) : nothing_due();
}

// What is aborted has had its time; the end's own callbacks are waited for.
Refusal check(const Moment& now, const Ending& ending, const TimerFired&) {
  const bool due =
      now.stamp.elapsed_ms >=
          add_saturating(ending.since_elapsed_ms, rules_of(now.state.semantics).ending_grace_ms) &&
      open_of(now.state, EffectKind::end_agent) == nullptr;
  return due ? Refusal(kAccepted) : nothing_due();
}

Refusal check(const Moment& now, const Active auto&, const RunWaiting&) {
  return wants_park(now.state) ? Refusal(kAccepted)
                               : refuse("run_waiting, but the run does not wait");
}

Refusal check(const Moment& now, const Ending&, const RunFinished& event) {
  return check_open(now, event.kName, event.effect, EffectKind::end_agent);
}

// From any end, but for a run whose input was not let in. One that would end at once again stays
// as it is.
Refusal check(const Moment& now, const Finished&, const RunReopened& event) {
  const Ending& ended = std::get<Ending>(now.state.course);
  if (ended.status == RunStatus::stopped && ended.reason == StopReason::policy_violation) {
    return refuse("run_reopened: the input of this run was not let in; start another one");
  }
  if (has_flow(now.state) && !event.message.empty()) {
    return refuse("run_reopened: the root of a flow reads no message");
  }
  if (event.limits && !is_raise(now.state.limits, *event.limits)) {
    return refuse("run_reopened lowers a limit");
  }
  const auto again = ends_again(now);
  if (!again) return kAccepted;
  return refuse(*again == RunStatus::done
                    ? "run_reopened: its last tool has answered, nothing is left to do; give a "
                      "message"
                    : "run_reopened: a limit leaves no room to go on; raise it");
}

// What has ended is run again, and the run goes on.
Refusal check(const Moment& now, const Finished&, const PhaseControlled& event) {
  const std::string fault = fault_of_control(now.state, event);
  if (!fault.empty()) return refuse("phase_controlled: " + fault);
  const auto again = ends_again(now);
  if (!again || *again == RunStatus::done) return kAccepted;
  return refuse("phase_controlled: the run would end at once; a limit leaves no room to go on");
}

// --- An instance -------------------------------------------------------------------------------
//
// The last two phases accept nothing: failing is the root's, ended whoever has left the tree.
// Its step: ready -> awaiting_model (compacting, backing_off, rate_limited, awaiting_budget on the
// way) -> awaiting_tools -> ready …; suspended, awaiting_external and resting end a turn.

template <class P, class E>
Refusal check_asked(const P& phase, const E& event) {
  return event.effect == phase.effect ? Refusal(kAccepted) : too_late(event.kName, event.effect);
}

Refusal check(const Moment&, const AwaitingModel& phase, const ModelReplied& event) {
  return check_asked(phase, event);
}

Refusal check(const Moment&, const AwaitingModel& phase, const ModelFailed& event) {
  return check_asked(phase, event);
}

Refusal check(const Moment&, const AwaitingModel& phase, const ModelAborted& event) {
  return check_asked(phase, event);
}

Refusal check(const Moment&, const Compacting& phase, const ContextCompacted& event) {
  return check_asked(phase, event);
}

Refusal check(const Moment&, const Compacting& phase, const CompactionFailed& event) {
  return check_asked(phase, event);
}

// A call of the instance that the event names; outcomes that name another's are astray.
template <class E>
const Call* call_of(const Moment& now, const E& event) {
  const Call* call = find_call(now.state, event.call);
  return call != nullptr && call->instance == event.instance ? call : nullptr;
}

template <class State>
bool awaits(const Call* call, EffectId effect) {
  const State* state = call == nullptr ? nullptr : std::get_if<State>(&call->state);
  return state != nullptr && state->effect == effect;
}

Refusal check(const Moment& now, const AwaitingTools&, const ToolFinished& event) {
  const bool awaited = awaits<CallRunning>(call_of(now, event), event.effect);
  return awaited ? Refusal(kAccepted) : too_late(event.kName, event.effect);
}

Refusal check(const Moment& now, const AwaitingTools&, const ChildWaits& event) {
  const bool awaited = awaits<CallRunning>(call_of(now, event), event.effect) &&
                       find_child(now.state, event.call) != nullptr;
  return awaited ? Refusal(kAccepted) : too_late(event.kName, event.effect);
}

Refusal check(const Moment& now, const AwaitingTools&, const ChildStirred& event) {
  const Call* call = call_of(now, event);
  const auto* held = call == nullptr ? nullptr : std::get_if<CallWaiting>(&call->state);
  const bool waits = held != nullptr && held->held_for == HeldFor::child;
  return waits ? Refusal(kAccepted) : refuse(to_string(event.call) + " does not wait for a run");
}

// Kept for whoever decides about the call, as long as nobody has; the first one only.
Refusal check(const Moment& now, const AwaitingTools&, const ResultCameLate& event) {
  const Call* call = call_of(now, event);
  const bool undecided = call != nullptr && !std::holds_alternative<CallRunning>(call->state) &&
                         !std::holds_alternative<CallEnded>(call->state);
  if (!undecided || event.effect == EffectId{} || event.effect != call->last_run ||
      call->late_result) {
    return refuse(to_string(event.call) + " needs no evidence from " + to_string(event.effect));
  }
  return kAccepted;
}

Refusal check(const Moment& now, const AwaitingTools&, const ToolStatusLearned& event) {
  const bool awaited = awaits<CallAsking>(call_of(now, event), event.effect);
  return awaited ? Refusal(kAccepted) : too_late(event.kName, event.effect);
}

Refusal check(const Moment& now, const AwaitingTools&, const DoubtResolved& event) {
  const Call* call = call_of(now, event);
  if (call == nullptr || !std::holds_alternative<CallDoubtful>(call->state)) {
    return refuse(to_string(event.call) + " is not in doubt");
  }
  if (event.attempt == call->attempts) return kAccepted;
  return refuse("the verdict is about attempt " + std::to_string(event.attempt) + " at " +
                to_string(event.call) + ", in doubt is attempt " + std::to_string(call->attempts));
}

// An answer to the question, or the news that what was allowed is no longer: then nothing was
// started, and it is as if it had not been asked yet.
Refusal check(const Moment& now, const AwaitingTools&, const CallJudged& event) {
  const Call* call = call_of(now, event);
  const bool judging = awaits<CallJudging>(call, event.effect);
  if (!judging && !awaits<CallRunning>(call, event.effect)) {
    return too_late(event.kName, event.effect);
  }
  // About what is to run it says that a hook has to be asked again, first.
  if (event.judgement.verdict == CallVerdict::undecided && judging) {
    return refuse("call_judged decides nothing");
  }
  return kAccepted;
}

Refusal check(const Moment& now, const AwaitingTools&, const CallDecided& event) {
  const Call* call = call_of(now, event);
  const auto* asked = call == nullptr ? nullptr : std::get_if<CallAwaitingPerson>(&call->state);
  if (asked == nullptr) return refuse(to_string(event.call) + " is not waiting for a decision");
  if (std::holds_alternative<Ending>(now.state.course)) {
    return refuse("call_decided comes too late: the run is ending");
  }
  if (event.binding != asked->binding) {
    return refuse("the decision is about something else than " + to_string(event.call) +
                  " asks for now");
  }
  if (asked->expires_at_ms > 0 && now.stamp.at_ms >= asked->expires_at_ms) {
    return refuse("call_decided comes too late: " + to_string(event.call) + " has expired");
  }
  if (!may_approve(now.state, event)) {
    return refuse(event.signed_by.empty()
                      ? "an approval of this run needs the signature of an approver"
                      : event.signed_by + " has started the run; another person has to approve");
  }
  if (fits(asked->kind, event)) return kAccepted;
  return refuse(std::string(name(event.decision)) + " does not answer " + to_string(event.call) +
                ", which asks for " + std::string(name(asked->kind)));
}

// A checkpoint asks for the root of its flow.
Refusal check(const Moment& now, const Flowing&, const CallDecided& event) {
  if (event.edited) return refuse("a checkpoint has no arguments to edit");
  if (event.text.bytes() == nullptr || event.text.length() > kFlowOutputBytesMax) {
    return refuse("an answer at a checkpoint has at most " + std::to_string(kFlowOutputBytesMax) +
                  " bytes");
  }
  return check(now, AwaitingTools{}, event);
}

Refusal check(const Moment& now, const Suspended& phase, const InstanceResumed& event) {
  if (event.suspend_id != phase.suspend_id) {
    return refuse(to_string(event.instance) + " is suspended as " + phase.suspend_id + ", not as " +
                  event.suspend_id);
  }
  if (!std::holds_alternative<Ending>(now.state.course)) return kAccepted;
  return refuse("instance_resumed comes too late: the run is ending");
}

Refusal check(const Moment& now, const AwaitingExternal&, const ExternalTurnPushed& event) {
  if (std::holds_alternative<Ending>(now.state.course)) {
    return refuse("external_turn_pushed comes too late: the run is ending");
  }
  if (event.blocks.size() <= kBlocksPerReplyMax) return kAccepted;
  return refuse("external_turn_pushed has " + std::to_string(event.blocks.size()) +
                " blocks; a turn has at most " + std::to_string(kBlocksPerReplyMax));
}

// --- Dispatch ----------------------------------------------------------------------------------

template <class S, class E>
concept Legal =
    requires(const Moment& now, const S& state, const E& event) { check(now, state, event); };

template <class E, class... P>
constexpr bool any_phase_accepts(const std::variant<P...>*) {
  return (Legal<P, E> || ...);
}

// An event of an instance is looked up under its phase, all others under the state of the run.
template <class E>
constexpr bool kOfInstance = any_phase_accepts<E>(static_cast<const Phase*>(nullptr));

template <class S, class E>
Refusal dispatch(const Moment& now, const S& state, const E& event) {
  if constexpr (Legal<S, E>) {
    return check(now, state, event);
  } else if constexpr (std::is_same_v<S, Ending>) {
    return refuse(std::string(E::kName) + " comes too late: the run is ending");
  } else {
    return refuse(std::string(E::kName) + " is not accepted while " + std::string(S::kName));
  }
}

template <class E>
Refusal check_live(const Moment& now, const E& event) {
  const InstanceId id = instance_of(now.event);
  const Instance* instance = find_instance(now.state, id);
  if (instance == nullptr || !is_live(*instance)) {
    return refuse(std::string(E::kName) + ": there is no instance " + to_string(id));
  }
  const auto try_one = [&](const auto& state) { return dispatch(now, state, event); };
  if constexpr (kOfInstance<E>) return std::visit(try_one, instance->phase);
  return std::visit(try_one, now.state.course);
}

template <class E>
Refusal check_any(const Moment& now, const E& event) {
  if (std::holds_alternative<Live>(now.state.life)) return check_live(now, event);
  if (std::holds_alternative<NotStarted>(now.state.life)) {
    return dispatch(now, NotStarted{}, event);
  }
  return dispatch(now, Finished{}, event);
}

template <class S>
std::string table_row() {
  std::string row = std::string(S::kName) + ":";
  const auto column = [&row]<class E>(const E*) {
    if constexpr (Legal<S, E>) row += " " + std::string(E::kName);
  };
  [&]<class... E>(const std::variant<E...>*) {
    (column(static_cast<const E*>(nullptr)), ...);
  }(static_cast<const Event*>(nullptr));
  return row + "\n";
}

template <class... S>
std::string table_of(const std::variant<S...>*) {
  return (table_row<S>() + ...);
}

// The host's clocks and fences are not the kernel's to trust.
Refusal check_stamp(const RunState& state, const Stamp& stamp) {
  if (stamp.epoch < state.epoch) {
    return Error{ErrorCode::conflict, "epoch " + std::to_string(stamp.epoch) +
                                          " is over: the run is in " + std::to_string(state.epoch)};
  }
  if (stamp.elapsed_ms < state.elapsed_ms) {
    return Error{ErrorCode::invalid_argument, "elapsed run time went backwards"};
  }
  return kAccepted;
}

}  // namespace

Refusal refusal_of(const Run& run, const Event& event, const Stamp& stamp) {
  if (Refusal refusal = check_stamp(run.state(), stamp)) return refusal;
  if (const Status known = check_semantics(run->semantics); !known) return known.error();
  const Moment now{run, run.state(), event, stamp};
  return std::visit([&now](const auto& fact) { return check_any(now, fact); }, event);
}

std::string transition_table() {
  return table_row<NotStarted>() + table_of(static_cast<const Course*>(nullptr)) +
         table_row<Finished>() + "\n" + table_of(static_cast<const Phase*>(nullptr));
}

}  // namespace pawl
