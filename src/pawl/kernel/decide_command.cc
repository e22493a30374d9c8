// Commands: what an instance does because somebody outside says so, without a model call. All of a
// command's actions, or none: they are tried on a copy of the run before it is accepted.
#include "pawl/kernel/command_values.h"
#include "pawl/kernel/decide_tree.h"
#include "pawl/kernel/machine.h"

namespace pawl {
namespace {

constexpr std::size_t kCommandActionsMax = 64;

// A command being carried out. Each method returns why it cannot be; or nothing.
class Execution {
 public:
  Execution(Draft& draft, const CommandGiven& event) : draft_(draft), event_(event) {}

  std::string run();

 private:
  const Instance& target() const { return draft_.instance(event_.instance); }
  const NodeSpec& node() const { return node_of(draft_.state, target()); }
  std::string self() const { return to_string(event_.instance); }

  std::string fault_of_moment() const;
  std::string read();
  std::string read_input(const NodeCommand& command);
  std::string perform(const Json& action);
  std::string finish();

  std::string patch(const Json& value);
  std::string patch_next(const Json& value);
  std::string transition(const Json& value);
  std::string spawn(const Json& value);
  std::string bear_child(const NodeSpec& parent, const Json& value);
  std::string fault_of_birth(const NodeSpec& born) const;
  std::string cede(const Json& value);
  std::string suspend(const Json& value);
  std::string resume(const Json& value);
  std::string message(const Json& value);

  const NodeSpec* next_node() const;
  void give_up_step();
  void lift_suspension();
  void deny_waiting_calls();
  std::string leave();
  void wake();

  Draft& draft_;
  const CommandGiven& event_;
  JsonArray actions_;
  std::optional<Leave> leave_;
  std::vector<Json> spawns_behind_;  // what is to be started in the next node
  std::string said_;
  bool resumed_ = false;
  bool child_took_over_ = false;
};

// --- Reading -------------------------------------------------------------------------------------

std::string Execution::fault_of_moment() const {
  const RunState& state = draft_.state;
  if (!has_nodes(state) || find_node(state.nodes, target().node) == nullptr) {
    return self() + " is in no node that has commands";
  }
  if (std::holds_alternative<Failing>(target().phase)) return self() + " has failed";
  if (state.final_output && event_.instance == kRootInstance) {
    return "the output of the run is final";
  }
  const bool begins =
      state.begin_held == Presence::present || open_of(state, EffectKind::begin_agent) != nullptr;
  if (begins) return "the run has not begun yet";
  const bool suspended = std::holds_alternative<Suspended>(target().phase);
  if (target().leave && !suspended) return self() + " is about to leave what it does; try again";
  if (exhausted_for_step(state.tally, state.limits) || draft_.crossed()) {
    return "a limit leaves no room for another step";
  }
  return "";
}

std::string Execution::read_input(const NodeCommand& command) {
  const std::string* bytes = event_.input.bytes();
  if (bytes == nullptr || bytes->size() > kCommandBytesMax ||
      event_.actions.size() > kCommandBytesMax) {
    return "an input has at most 64 KiB";
  }
  const auto input = parse_json(*bytes);
  if (!input) return "the input is no JSON: " + input.error().message;
  std::string fault = fault_of_input(command.input_schema, *input);
  if (!fault.empty()) return fault;
  const bool of_host = command.actions.empty();
  if (of_host && event_.actions.empty()) {
    return "this process has no function for the command " + command.name;
  }
  const auto list = parse_json(of_host ? event_.actions : command.actions);
  if (!list) return list.error().message;
  // What a function has made is meant as it is.
  const auto meant = of_host ? Result<Json>(*list) : with_input(*list, *input);
  if (!meant) return meant.error().message;
  const JsonArray* actions = meant->if_array();
  if (actions == nullptr || actions->empty() || actions->size() > kCommandActionsMax) {
    return "a command is a list of 1 to " + std::to_string(kCommandActionsMax) + " actions";
  }
  actions_ = *actions;
  return "";
}

std::string Execution::read() {
  const NodeCommand* command = find_command(node(), event_.command);
  if (command != nullptr) return read_input(*command);
  std::string names;
  for (const NodeCommand& one : node().commands) names += (names.empty() ? "" : ", ") + one.name;
  return "the node " + target().node + " of " + self() + " has no command " + event_.command +
         (names.empty() ? "" : "; it has " + names);
}

// --- Actions -------------------------------------------------------------------------------------

std::string Execution::perform(const Json& action) {
  const JsonObject* object = action.if_object();
  if (object == nullptr || object->size() != 1) return "an action is a map with one key";
  const JsonMember& one = object->members().front();
  if (one.key == "patch") return patch(one.value);
  if (one.key == "transition") return transition(one.value);
  if (one.key == "spawn") return spawn(one.value);
  if (one.key == "cede") return cede(one.value);
  if (one.key == "suspend") return suspend(one.value);
  if (one.key == "resume") return resume(one.value);
  if (one.key == "message") return message(one.value);
  return "there is no action " + one.key;
}

const NodeSpec* Execution::next_node() const {
  if (!leave_ || leave_->kind != LeaveKind::transition) return nullptr;
  return find_node(draft_.state.nodes, find_next(node(), leave_->name)->to);
}

// Behind a transition it is the state that the next node begins with.
std::string Execution::patch_next(const Json& value) {
  const NodeSpec& next = *next_node();
  if (!next.state) return "the node " + next.name + " has no state to patch";
  auto after = patched_state(next.state, leave_->state, value);
  if (!after) return after.error().message;
  leave_->state = *std::move(after);
  return "";
}

std::string Execution::patch(const Json& value) {
  if (!value.is_object()) return "a patch is a map";
  if (next_node() != nullptr) return patch_next(value);
  if (!node().state) return "the node " + target().node + " has no state to patch";
  auto after = patched_state(node().state, target().state, value);
  if (!after) return after.error().message;
  if (node().state->owner == StateOwner::external) {
    draft_.add(
        StateProposed{event_.instance, target().proposals + 1, write_json(value), std::string()});
  } else {
    draft_.add(StateChanged{event_.instance, "", *std::move(after)});
  }
  return "";
}

std::string Execution::transition(const Json& value) {
  const std::string* name = value.if_string();
  const NextSpec* next = name == nullptr ? nullptr : find_next(node(), *name);
  if (next == nullptr) return "the node " + target().node + " has no transition " + text_of(value);
  if (leave_) return "a command takes one transition, or cedes, or suspends";
  const NodeSpec& to = *find_node(draft_.state.nodes, next->to);
  Leave leave{LeaveKind::transition, next->name, {}, next->state, {}};
  if (leave.state.empty()) leave.state = initial_state(to);
  leave.by = LeaveBy::command;
  leave_ = std::move(leave);
  return "";
}

std::string Execution::fault_of_birth(const NodeSpec& born) const {
  if (target().depth >= kDepthMax) return "an instance has at most 100 ancestors";
  if (live_count(draft_.state) > draft_.state.limits.branches) {
    return "no more than " + std::to_string(draft_.state.limits.branches) +
           " instances may live at a time";
  }
  if (born.kind == NodeKind::worker) return "";
  if (has_primary_child(draft_.state, target())) return "a child has taken over already";
  const bool busy = std::holds_alternative<Suspended>(target().phase) ||
                    std::holds_alternative<AwaitingExternal>(target().phase);
  if (busy || leave_) return self() + " cannot hand over now: it waits, or leaves its node";
  return "";
}

std::string Execution::bear_child(const NodeSpec& parent, const Json& value) {
  const std::string* name = value.find_string("worker");
  const ChildSpec* found = name == nullptr ? nullptr : find_child(parent, *name);
  if (found == nullptr) return "the node " + parent.name + " has no such worker or child";
  const ChildSpec spec = *found;
  const NodeSpec& born = *find_node(draft_.state.nodes, spec.node);
  const Json* input = value.find("input");
  if (input == nullptr) return "\"input\" is missing";
  const Json* said = value.find("state");
  std::string state = said == nullptr ? initial_state(born) : write_json(*said);
  std::string fault = fault_of_state(born.state, state);
  if (!fault.empty()) return "the state of " + born.name + ": " + fault;
  fault = fault_of_birth(born);
  if (!fault.empty()) return fault;
  if (born.kind == NodeKind::primary) {
    if (!std::holds_alternative<AwaitingTools>(target().phase)) give_up_step();
    child_took_over_ = true;
  }
  bear(draft_, event_.instance, spec, Content(text_of(*input)), std::move(state));
  bear_those_that_wait(draft_);
  return "";
}

std::string Execution::spawn(const Json& value) {
  if (leave_ && leave_->kind == LeaveKind::cede) return "it cannot start anything: it cedes";
  if (next_node() == nullptr) return bear_child(node(), value);
  spawns_behind_.push_back(value);
  return "";
}

std::string Execution::cede(const Json& value) {
  if (event_.instance == kRootInstance) return std::string(draft_.rules.say.root_cedes);
  if (leave_) return "a command takes one transition, or cedes, or suspends";
  leave_ = Leave{LeaveKind::cede, "", Content(text_of(value)), "", {}};
  leave_->by = LeaveBy::command;
  return "";
}

std::string Execution::suspend(const Json& value) {
  const Json* reason = value.find("reason");
  if (reason == nullptr) return "\"reason\" is missing";
  if (leave_) return "a command takes one transition, or cedes, or suspends";
  if (std::holds_alternative<Suspended>(target().phase)) return self() + " is suspended already";
  if (has_primary_child(draft_.state, target())) {
    return self() + " rests while its child acts; suspend the child";
  }
  const Json* metadata = value.find("metadata");
  leave_ = Leave{LeaveKind::suspend,
                 text_of(*reason),
                 Content(metadata == nullptr ? "" : write_json(*metadata)),
                 "",
                 {}};
  leave_->by = LeaveBy::command;
  leave_->suspend_id = "s" + std::to_string(draft_.state.tally.steps);
  return "";
}

std::string Execution::resume(const Json& value) {
  const Suspended* phase = std::get_if<Suspended>(&target().phase);
  if (phase == nullptr) return self() + " is not suspended";
  const Json* id = value.find("suspend_id");
  if (id != nullptr && text_of(*id) != phase->suspend_id) {
    return self() + " is suspended as " + phase->suspend_id + ", not as " + text_of(*id);
  }
  lift_suspension();
  resumed_ = true;
  return "";
}

std::string Execution::message(const Json& value) {
  const std::string text = text_of(value);
  if (text.empty()) return "a message is not empty";
  said_ += (said_.empty() ? "" : "\n\n") + text;
  return said_.size() > kCommandBytesMax ? "its messages have more than 64 KiB" : "";
}

// --- What follows --------------------------------------------------------------------------------

// It is not asked any more what its step was about.
void Execution::give_up_step() {
  const std::uint64_t step = target().open_step;
  if (step == 0) return;
  drop_work(draft_, event_.instance);
  draft_.add(StepGivenUp{event_.instance, step});
}

void Execution::lift_suspension() {
  std::optional<CallId> call;
  for (const Call& one : draft_.state.calls) {
    const bool mine = one.instance == event_.instance;
    if (mine && std::holds_alternative<CallSuspending>(one.state)) call = one.id;
  }
  const std::string text = "resumed";
  draft_.add(
      SuspensionLifted{event_.instance, call, text, draft_.rules.estimate_tokens(text.size())});
}

// Calls that have not been started are not made any more: the instance is to do something else.
void Execution::deny_waiting_calls() {
  std::vector<CallId> waiting;
  for (const Call& one : draft_.state.calls) {
    if (one.instance != event_.instance) continue;
    const auto* held = std::get_if<CallWaiting>(&one.state);
    const bool unstarted = held != nullptr && held->held_for != HeldFor::status;
    if (unstarted || std::holds_alternative<CallAwaitingPerson>(one.state)) {
      waiting.push_back(one.id);
    }
  }
  const std::string text = "not run: a command has taken its instance elsewhere";
  for (const CallId call : waiting) {
    draft_.add(
        CallDenied{call, GateStage::none, "", text, draft_.rules.estimate_tokens(text.size())});
  }
}

std::string Execution::leave() {
  const InstanceId id = event_.instance;
  if (leave_->kind == LeaveKind::cede && !said_.empty()) return "what cedes hears nothing more";
  if (const NodeSpec* next = next_node()) {
    const std::string fault = fault_of_state(next->state, leave_->state);
    if (!fault.empty()) return "the state of " + next->name + ": " + fault;
  }
  const std::string to = next_node() == nullptr ? "" : next_node()->name;
  if (std::holds_alternative<Suspended>(target().phase)) lift_suspension();
  deny_waiting_calls();
  give_up_step();
  draft_.add(LeavePlanned{id, *leave_});
  go_on_when_all_ended(draft_, id);
  if (spawns_behind_.empty()) return "";
  if (target().leave || target().node != to) {
    return "it is still on its way to " + to + ", and starts nothing there yet";
  }
  leave_.reset();
  for (const Json& one : spawns_behind_) {
    const NodeSpec* born = nullptr;
    const std::string* name = one.find_string("worker");
    const ChildSpec* child = name == nullptr ? nullptr : find_child(node(), *name);
    if (child != nullptr) born = find_node(draft_.state.nodes, child->node);
    if (born != nullptr && born->kind == NodeKind::primary) {
      return "a child cannot take over in the same command as a transition";
    }
    std::string fault = bear_child(node(), one);
    if (!fault.empty()) return fault;
  }
  return "";
}

void Execution::wake() {
  const InstanceId id = event_.instance;
  if (resumed_ && has_calls(draft_.state, id)) return go_on_when_all_ended(draft_, id);
  if (child_took_over_ && std::holds_alternative<Ready>(target().phase)) {
    return draft_.add(InstanceRested{id});
  }
  const bool rests = std::holds_alternative<Resting>(target().phase);
  if (resumed_ || (rests && has_news(target()))) begin_step(draft_, target());
}

std::string Execution::finish() {
  if (!said_.empty()) {
    draft_.add(MessageAdded{event_.instance, said_, draft_.rules.estimate_tokens(said_.size())});
  }
  if (leave_) return leave();
  wake();
  return "";
}

std::string Execution::run() {
  std::string fault = fault_of_moment();
  if (fault.empty()) fault = read();
  if (!fault.empty()) return fault;
  const std::uint64_t step = draft_.state.tally.steps + 1;
  draft_.add(StepBegan{event_.instance, step});
  draft_.add(StepEnded{event_.instance, step, YieldReason::command, 0});
  for (const Json& action : actions_) {
    fault = perform(action);
    if (!fault.empty()) return fault;
  }
  return finish();
}

}  // namespace

std::string fault_of_command(const Run& run, const Event& event, const Stamp& stamp) {
  const CommandGiven& command = std::get<CommandGiven>(event);
  Run trial = run;
  Record record{0, stamp, kRootInstance, event, {}, {}};
  Draft draft(trial, record);
  draft.take_event();
  const std::string fault = Execution(draft, command).run();
  return fault.empty() ? "" : "command " + command.command + ": " + fault;
}

void take(Draft& draft, const CommandGiven& event) {
  const std::string fault = Execution(draft, event).run();
  PAWL_ASSERT(fault.empty());
}

}  // namespace pawl
