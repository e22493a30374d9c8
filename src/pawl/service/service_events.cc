// What people say to a run, as events: checked against the run as it stands.
#include <algorithm>

#include "pawl/json.h"
#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/codec.h"
#include "pawl/run/command_events.h"
#include "pawl/service/service.h"

namespace pawl {

namespace {

Result<InstanceId> instance_for(const RunId& run, const RunState& state,
                                std::optional<InstanceId> named) {
  if (!named) return default_target(state);
  const Instance* found = find_instance(state, *named);
  if (found != nullptr && is_live(*found)) return *named;
  return Error{ErrorCode::not_found, "run " + run.text + " has no instance " + to_string(*named)};
}

// What never asks a model reads nothing: a message to it would be stored, and refused later.
Status check_reader(const RunId& run, const RunState& state, InstanceId id) {
  if (!has_flow(state)) return ok();
  const Instance* instance = find_instance(state, id);
  if (id == kRootInstance) {
    return Error{ErrorCode::conflict,
                 "i1 of run " + run.text +
                     " is the root of a flow and reads nothing; name an instance with --instance "
                     "(`pawl tree " +
                     run.text + "` lists them)"};
  }
  if (instance == nullptr || !is_agent_seat(state, *instance)) return ok();
  std::string child = "the run beneath it";
  for (const Call& call : state.calls) {
    const ChildRun* found = call.instance == id ? find_child(state, call.id) : nullptr;
    if (found != nullptr) child = found->run.text;
  }
  return Error{ErrorCode::conflict, to_string(id) + " of run " + run.text +
                                        " stands for a run of its own; give the message to " +
                                        child};
}

// Controls that are stored and not taken yet come before another one.
Status take_stored_controls(Inbox* inbox, const RunId& run, Run& state) {
  if (inbox == nullptr) return ok();
  PAWL_TRY(const std::vector<InboxRow> rows, inbox->pending(run));
  for (const InboxRow& row : rows) {
    const auto event = decode_event(row.body);
    if (!event || !std::holds_alternative<PhaseControlled>(*event)) continue;
    const Stamp now{state->epoch, state->at_ms, state->elapsed_ms};
    static_cast<void>(advance(state, *event, now));  // One that is refused changes nothing.
  }
  return ok();
}

}  // namespace

Result<Event> Service::accepted(const RunId& run, Event event) const {
  PAWL_TRY(LoadedRun loaded, load_run(*engine_.store().reader, run, UseSnapshot::yes));
  if (std::holds_alternative<PhaseControlled>(event)) {
    PAWL_CHECK(take_stored_controls(engine_.store().inbox, run, loaded.run));
  }
  const RunState& state = loaded.run.state();
  PAWL_CHECK(check(loaded.run, event, {state.epoch, state.at_ms, state.elapsed_ms}));
  return event;
}

Result<Event> Service::message(const RunId& run, std::string text, std::string from,
                               MessageWay way) const {
  PAWL_TRY(const RunDetails details, show(run));
  if (text.size() > kMessageBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a message has at most 512 KiB"};
  }
  if (way.singleton.size() > kSingletonBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a singleton's key has at most 256 bytes"};
  }
  PAWL_TRY(const InstanceId instance, instance_for(run, details.state, way.instance));
  PAWL_CHECK(check_reader(run, details.state, instance));
  MessageReceived event{instance, Content(std::move(text)), std::move(from)};
  event.delivery = way.delivery;
  event.singleton = std::move(way.singleton);
  return Event(std::move(event));
}

Result<Event> Service::state_setting(const RunId& run, std::optional<InstanceId> instance,
                                     std::string json, std::string by) const {
  PAWL_TRY(const RunDetails details, show(run));
  if (json.size() > kStateBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a state has at most 64 KiB"};
  }
  PAWL_TRY(const InstanceId id, instance_for(run, details.state, instance));
  return accepted(run, StateSet{id, Content(std::move(json)), std::move(by)});
}

Result<Event> Service::phase_control(const RunId& run, std::string phase, PhaseAction action,
                                     std::string by) const {
  return accepted(run, PhaseControlled{std::move(phase), action, std::move(by)});
}

Result<Event> Service::outside_event(const RunId& run, std::string event, std::string json,
                                     std::string by) const {
  return accepted(run, EventReceived{std::move(event), Content(std::move(json)), std::move(by)});
}

Result<Event> Service::reopening(const RunId& run, Reopening how, std::string by) const {
  if (how.message.size() > kMessageBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a message has at most 512 KiB"};
  }
  auto event = accepted(
      run, RunReopened{std::move(by), how.limits, how.guards, Content(std::move(how.message))});
  if (event || event.error().code != ErrorCode::conflict) return event;
  const std::string& why = event.error().message;  // "run_reopened: why"
  const std::size_t colon = why.find(": ");
  return Error{ErrorCode::conflict, "run " + run.text + " does not go on: " +
                                        (colon == std::string::npos ? why : why.substr(colon + 2))};
}

Status Service::rerun_phase(const RunId& run, std::string phase, std::string by) {
  return engine_.reopen(run, PhaseControlled{std::move(phase), PhaseAction::rerun, std::move(by)});
}

Result<Event> Service::command(const RunId& run, std::string name, std::string input,
                               std::optional<InstanceId> instance, std::string by) const {
  PAWL_TRY(CommandGiven event,
           command_event(std::move(name), std::move(input), instance, std::move(by)));
  PAWL_TRY(const RunDetails details, show(run));
  PAWL_CHECK(instance_for(run, details.state, instance));
  PAWL_CHECK(check_command(run, event));
  return Event(std::move(event));
}

// What a host's function makes of it, only the host's process can tell.
Status Service::check_command(const RunId& run, CommandGiven event) const {
  PAWL_TRY(const LoadedRun loaded, load_run(*engine_.store().reader, run, UseSnapshot::yes));
  const RunState& state = loaded.run.state();
  if (event.instance == kDefaultTarget) event.instance = default_target(state);
  const Instance* instance = find_instance(state, event.instance);
  const NodeSpec* node = instance == nullptr ? nullptr : find_node(state.nodes, instance->node);
  const NodeCommand* command = node == nullptr ? nullptr : find_command(*node, event.command);
  if (command != nullptr && command->actions.empty()) return ok();
  return check(loaded.run, event, {state.epoch, state.at_ms, state.elapsed_ms});
}

Error Service::refusal_of(const RunId& run, const CommandGiven& command) const {
  const Status now = check_command(run, command);
  if (!now) return now.error();
  return {ErrorCode::conflict, "the command " + command.command +
                                   " was refused: the run had moved on, or a function or a "
                                   "processor of its process said no; see pawl logs " +
                                   run.text};
}

// Only the first verdict counts. Who gives another, to correct it, has to learn that it was not.
Status Service::check_unresolved(const RunId& run, CallId call) const {
  PAWL_TRY(const std::vector<InboxRow> rows, engine_.store().inbox->pending(run));
  for (const InboxRow& row : rows) {
    const auto event = decode_event(row.body);
    const auto* verdict = event ? std::get_if<DoubtResolved>(&*event) : nullptr;
    if (verdict == nullptr || verdict->call != call) continue;
    return Error{ErrorCode::conflict, to_string(call) + " of run " + run.text +
                                          " has been resolved by " + verdict->by + " (" +
                                          std::string(name(verdict->verdict)) +
                                          "); that takes effect with `pawl resume " + run.text +
                                          "` and cannot be changed"};
  }
  return ok();
}

Result<Event> Service::resolution(const RunId& run, CallId call, DoubtVerdict verdict,
                                  std::optional<std::string> result, std::string by) const {
  PAWL_TRY(const RunDetails details, show(run));
  if (std::holds_alternative<Finished>(details.state.life)) {
    return Error{ErrorCode::conflict,
                 "run " + run.text +
                     " is over, and what it left in doubt stays so; `pawl explain` lists it"};
  }
  const Call* found = find_call(details.state, call);
  if (found == nullptr || !std::holds_alternative<CallDoubtful>(found->state)) {
    return Error{ErrorCode::conflict, to_string(call) + " of run " + run.text +
                                          " is not in doubt; `pawl show` lists the calls that are"};
  }
  PAWL_CHECK(check_unresolved(run, call));
  DoubtResolved event;
  event.instance = found->instance;
  event.call = call;
  event.verdict = verdict;
  const std::string said = "The call took effect, as " + by + " has established. ";
  if (verdict == DoubtVerdict::happened) event.result = Content(result.value_or(said));
  event.by = std::move(by);
  event.attempt = found->attempts;
  return Event(std::move(event));
}

Result<Event> Service::budget_raise(const RunId& run, const BudgetAmount& by,
                                    std::string who) const {
  PAWL_TRY(const RunDetails details, show(run));
  const Limits& limits = details.state.limits;
  if (by == BudgetAmount{}) {
    return Error{ErrorCode::invalid_argument, "raise it by more than nothing"};
  }
  const auto no_bound = [&run](const std::string& what) {
    return Error{ErrorCode::conflict,
                 "run " + run.text + " has no bound on its " + what + " to raise"};
  };
  if (by.cost_pico > 0 && limits.cost_pico == 0 && limits.ask_cost_pico == 0) {
    return no_bound("cost");
  }
  if (by.tokens > 0 && limits.budget_tokens == 0) return no_bound("budget of tokens");
  if (by.time_ms > 0 && limits.budget_ms == 0) return no_bound("budget of time");
  return Event(BudgetRaised{by.cost_pico, std::move(who), by.tokens, by.time_ms});
}

Result<Event> Service::external_turn(const RunId& run, ExternalTurn turn, std::string by) const {
  PAWL_TRY(const RunDetails details, show(run));
  const auto& instances = details.state.instances;
  const auto waiting = std::find_if(instances.begin(), instances.end(), [](const Instance& one) {
    return std::holds_alternative<AwaitingExternal>(one.phase);
  });
  if (waiting == instances.end()) {
    return Error{ErrorCode::conflict, "run " + run.text + " has handed no turn out; pawl show " +
                                          run.text + " says what it does"};
  }
  if (turn.text.empty() && turn.calls.empty()) {
    return Error{ErrorCode::invalid_argument, "a turn says something or calls a tool"};
  }
  std::size_t bytes = turn.text.size();
  for (const auto& [tool, input] : turn.calls) {
    bytes += tool.size() + input.size();
    const auto json = parse_json(input);
    if (!json || !json->is_object()) {
      return Error{ErrorCode::invalid_argument, "the input of " + tool + " must be a JSON object" +
                                                    (json ? "" : ": " + json.error().message)};
    }
  }
  if (bytes > kMessageBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a turn has at most 512 KiB"};
  }
  ExternalTurnPushed event;
  event.instance = waiting->id;
  event.by = std::move(by);
  if (!turn.text.empty()) event.blocks.emplace_back(TextBlock{Content(std::move(turn.text))});
  for (auto& [tool, input] : turn.calls) {
    CallBlock call;
    call.tool = std::move(tool);
    call.input = Content(std::move(input));
    event.blocks.emplace_back(std::move(call));
  }
  return Event(std::move(event));
}

Result<Event> Service::instance_resumption(const RunId& run, InstanceId instance,
                                           std::string suspend_id, std::string by,
                                           std::string message) const {
  PAWL_TRY(const RunDetails details, show(run));
  const Instance* found = find_instance(details.state, instance);
  if (found == nullptr || !is_live(*found)) {
    return Error{ErrorCode::not_found,
                 "run " + run.text + " has no instance " + to_string(instance)};
  }
  if (message.size() > kMessageBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a message has at most 512 KiB"};
  }
  const Suspended* suspended = std::get_if<Suspended>(&found->phase);
  if (suspended == nullptr) {
    return Error{ErrorCode::conflict, to_string(instance) + " is not suspended"};
  }
  if (suspended->suspend_id != suspend_id) {
    return Error{ErrorCode::conflict, to_string(instance) + " is suspended as " +
                                          suspended->suspend_id + ", not as " + suspend_id};
  }
  return Event(
      InstanceResumed{instance, std::move(suspend_id), std::move(by), Content(std::move(message))});
}

}  // namespace pawl
