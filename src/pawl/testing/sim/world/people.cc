#include "pawl/testing/sim/world/people.h"

#include <utility>

#include "pawl/testing/sim/world/charters.h"
#include "pawl/testing/sim/world/signing.h"

namespace pawl::sim {
namespace {

constexpr std::int64_t kDoubtSettlesMs = 3'000;  // longer than any effect is under way
constexpr std::int64_t kLateMsMax = 40'000;      // longer than any question lives

const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames = {kStarter, "bob", "cho"};
  return kNames;
}

}  // namespace

void People::resolve(const RunId& id, const RunState& state, const Call& call) {
  const std::string key = key_of(state, call.id);
  const auto waited = static_cast<std::int64_t>(world_.clock.wall_ms() - state.at_ms);
  if (world_.flying.contains(key) || waited < kDoubtSettlesMs) return;
  DoubtResolved event;
  event.instance = call.instance;
  event.call = call.id;
  event.verdict =
      world_.oracle.has_happened(key) ? DoubtVerdict::happened : DoubtVerdict::did_not_happen;
  event.result = Content("somebody looked");
  event.by = "operator";
  event.attempt = call.attempts;
  post_(id, event);
}

void People::help(const RunId& id, const RunState& state) {
  for (const Call& call : state.calls) {
    if (std::holds_alternative<CallDoubtful>(call.state)) resolve(id, state, call);
  }
  for (const Instance& instance : state.instances) {
    if (const auto* suspended = std::get_if<Suspended>(&instance.phase)) {
      post_(id, InstanceResumed{instance.id, suspended->suspend_id, "operator"});
    }
    if (std::holds_alternative<AwaitingExternal>(instance.phase)) {
      post_(id, ExternalTurnPushed{
                    instance.id, {TextBlock{Content("from outside")}}, {1, 1, 0, 0}, "operator"});
    }
    if (std::holds_alternative<AwaitingBudget>(instance.phase)) {
      post_(id, BudgetRaised{1 + world_.rng.below(20'000), "operator"});
    }
  }
  if (std::holds_alternative<Pausing>(state.course)) post_(id, ResumeRequested{"operator"});
}

Event People::whim(const RunState& state) {
  Rng& rng = world_.rng;
  const InstanceId instance = rng.pick(state.instances).id;
  if (rng.one_in(6)) {
    return StateSet{instance, Content("{\"set\":\"" + new_mark(world_) + "\"}"), "operator"};
  }
  if (rng.one_in(2)) return command_to(instance);
  return message_to(instance);
}

MessageReceived People::message_to(InstanceId instance) {
  MessageReceived message{instance, Content("message " + new_mark(world_)), "operator"};
  message.delivery = static_cast<Delivery>(world_.rng.below(kCount<Delivery>));
  if (world_.rng.one_in(3)) message.singleton = "k";
  return message;
}

CommandGiven People::command_to(InstanceId instance) {
  CommandGiven command;
  command.instance = world_.rng.one_in(3) ? kDefaultTarget : instance;
  command.command = "c" + std::to_string(world_.rng.below(command_count()));
  command.input = Content(R"({"n":1,"text":"said )" + new_mark(world_) + "\"}");
  command.by = "operator";
  command.number = ++world_.written;
  return command;
}

void People::decide(const RunId& id, const RunState& state, JournalReader& reader) {
  if (calls_awaiting_person(state).empty() || !world_.rng.one_in(3)) return;
  const auto pending = pending_approvals(reader, state);
  if (!pending) {  // of a damaged run
    unreadable_.insert(id.text);
    return;
  }
  for (const PendingApproval& asked : *pending) {
    if (world_.rng.one_in(3)) continue;
    const bool errs = !world_.faults.is_calm() && world_.rng.one_in(2);
    errs ? err(id, state, asked) : answer(id, state, asked);
  }
}

Decided People::decision_on(const PendingApproval& asked) {
  Rng& rng = world_.rng;
  Decided decided;
  decided.by = rng.pick(names());
  decided.text = "because " + std::to_string(++world_.written);
  decided.shown = asked.binding;
  if (rng.one_in(5)) return decided;  // no
  decided.decision = InterruptDecision::approve;
  const bool input =
      asked.kind == InterruptKind::input || (asked.kind == InterruptKind::custom && rng.one_in(2));
  if (input) decided.decision = InterruptDecision::input;
  return decided;
}

Decided People::edit_of(const PendingApproval& asked) {
  Decided decided;
  decided.by = world_.rng.pick(names());
  decided.decision = InterruptDecision::approve;
  decided.shown = asked.binding;
  const std::string number = std::to_string(++world_.written);
  decided.edited = world_.rng.one_in(6) ? "[" + number + "]" : "{\"edited\":" + number + "}";
  return decided;
}

void People::answer(const RunId& id, const RunState& state, const PendingApproval& asked) {
  send(id, state, asked.call, world_.rng.one_in(6) ? edit_of(asked) : decision_on(asked));
}

void People::err(const RunId& id, const RunState& state, const PendingApproval& asked) {
  Decided first = decision_on(asked);
  switch (world_.rng.below(7)) {
    case 0:  // about something else
      return post_(id, CallDecided{asked.instance, asked.call, first.decision, sha256("else"),
                                   first.by, Content(first.text), std::nullopt, std::nullopt, 0});
    case 1:  // two at two terminals
      send(id, state, asked.call, first);
      return send(id, state, asked.call, decision_on(asked));
    case 2:  // twice
      send(id, state, asked.call, first);
      return send(id, state, asked.call, first);
    case 3:
      return send_late(id, state, asked.call, first);
    case 4:  // at once, and once more when everything has changed
      send(id, state, asked.call, first);
      return send_late(id, state, asked.call, first);
    case 5:  // not an answer to this question
      first.decision = first.decision == InterruptDecision::approve ? InterruptDecision::input
                                                                    : InterruptDecision::approve;
      return send(id, state, asked.call, first);
    default:  // nobody cares
      return;
  }
}

void People::send(const RunId& id, const RunState& state, CallId call, Decided decided) {
  auto event = decision_about(state, call, std::move(decided));
  if (!event) return;
  sign_decision(state, std::get<CallDecided>(*event));
  post_(id, *event);
}

void People::send_late(const RunId& id, const RunState& state, CallId call, Decided decided) {
  auto event = decision_about(state, call, std::move(decided));
  if (!event) return;
  sign_decision(state, std::get<CallDecided>(*event));
  world_.loop.at(world_.rng.between(50, kLateMsMax),
                 [this, id, event = *event] { post_(id, event); });
}

}  // namespace pawl::sim
