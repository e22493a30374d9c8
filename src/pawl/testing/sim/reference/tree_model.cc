#include "pawl/testing/sim/reference/tree_model.h"

#include <algorithm>

#include "pawl/json.h"
#include "pawl/testing/sim/reference/marks.h"

namespace pawl::sim {
namespace {

std::string initial_of(const std::vector<NodeSpec>& nodes, const std::string& name) {
  const NodeSpec* node = find_node(nodes, name);
  return node != nullptr && node->state ? node->state->initial : "";
}

bool is_owned_outside(const NodeSpec& node) {
  return node.state && node.state->owner == StateOwner::external;
}

}  // namespace

void TreeModel::must(bool holds, const std::string& what) {
  if (!holds && fault_.empty()) fault_ = what;
}

TreeModel::Place& TreeModel::at(InstanceId id) {
  must(places_.contains(id), to_string(id) + " is spoken of, and never was");
  return places_[id];
}

const NodeSpec& TreeModel::node_of(const Place& place) const {
  static const NodeSpec kNone;
  const NodeSpec* node = find_node(nodes_, place.node);
  return node == nullptr ? kNone : *node;
}

std::size_t TreeModel::live() const {
  return static_cast<std::size_t>(std::count_if(places_.begin(), places_.end(),
                                                [](const auto& one) { return one.second.live; }));
}

bool TreeModel::has_live_child(InstanceId parent, std::optional<NodeKind> kind) const {
  return std::any_of(places_.begin(), places_.end(), [&](const auto& one) {
    const auto& [id, place] = one;
    return place.live && id != parent && place.parent == parent && (!kind || place.kind == *kind);
  });
}

const CallBlock* TreeModel::call_at(std::uint32_t index) const {
  const auto* reply = std::get_if<ModelReplied>(&heard_.record->event);
  if (reply == nullptr || index >= reply->blocks.size()) return nullptr;
  return std::get_if<CallBlock>(&reply->blocks[index]);
}

std::string TreeModel::take(const Record& record) {
  fault_.clear();
  if (const auto* started = std::get_if<RunStarted>(&record.event)) begin(*started);
  if (nodes_.empty()) return "";
  heard_ = {};
  heard_.record = &record;
  for (auto& [id, place] : places_) {
    for (Handed& one : place.contents) one.place = 0;
  }
  take_event(record);
  for (const Decision& decision : record.decisions) {
    ++heard_.place;
    std::visit([this](const auto& one) { take(one); }, decision);
  }
  for (const Effect& effect : record.effects) {
    if (const auto* call = std::get_if<CallModel>(&effect)) take(*call);
  }
  check_record();
  return fault_;
}

// --- Events --------------------------------------------------------------------------------------

void TreeModel::begin(const RunStarted& started) {
  if (!started.phases.empty()) return;  // a flow
  nodes_ = started.nodes;
  branches_ = started.limits.branches;
  if (nodes_.empty()) return;
  Place root;
  root.node = started.node;
  root.state = initial_of(nodes_, root.node);
  places_[kRootInstance] = std::move(root);
  owe_children(kRootInstance);
}

void TreeModel::owe_children(InstanceId parent) {
  std::erase_if(owed_, [parent](const auto& one) { return one.first.first == parent; });
  const NodeSpec& node = node_of(at(parent));
  for (const auto* list : {&node.workers, &node.children}) {
    for (const ChildSpec& child : *list) {
      if (child.start == ChildStart::with_node) ++owed_[{parent, child.name}];
    }
  }
}

void TreeModel::take_event(const Record& record) {
  if (const auto* reply = std::get_if<ModelReplied>(&record.event)) {
    take_text(reply->instance, reply->blocks);
  }
  if (const auto* pushed = std::get_if<ExternalTurnPushed>(&record.event)) {
    take_text(pushed->instance, pushed->blocks);
  }
  if (const auto* message = std::get_if<MessageReceived>(&record.event)) take_message(*message);
  if (const auto* resumed = std::get_if<InstanceResumed>(&record.event)) {
    Place& place = at(resumed->instance);
    must(place.suspended == resumed->suspend_id,
         to_string(resumed->instance) + " is resumed by an id that is not its own");
  }
  if (const auto* command = std::get_if<CommandGiven>(&record.event)) {
    must(command->number == 0 || commands_.insert(command->number).second,
         "a command is decided twice");
  }
  if (const auto* reopened = std::get_if<RunReopened>(&record.event)) {
    detached_ = root_failed_ = false;
    if (reopened->limits) branches_ = reopened->limits->branches;
    if (!reopened->message.empty()) {
      at(kRootInstance).messages.push_back({0, bytes_of(reopened->message), 0, {}, false});
    }
  }
}

void TreeModel::take_text(InstanceId id, const std::vector<Block>& blocks) {
  Place& place = at(id);
  must(place.live, to_string(id) + " has ended, and somebody speaks for it");
  for (const Block& block : blocks) {
    if (const auto* text = std::get_if<TextBlock>(&block)) place.last_text = bytes_of(text->text);
  }
}

// Of those that wait with one key only the last is delivered (M13).
void TreeModel::take_message(const MessageReceived& message) {
  Place& place = at(message.instance);
  must(place.live, "a message for " + to_string(message.instance) + " is taken, which has ended");
  if (!message.singleton.empty()) {
    std::erase_if(place.messages,
                  [&](const Handed& one) { return one.singleton == message.singleton; });
  }
  place.messages.push_back(
      {0, bytes_of(message.text), 0, message.singleton, message.delivery == Delivery::silent});
}

// --- Decisions -----------------------------------------------------------------------------------

void TreeModel::take(const StepBegan& step) {
  Place& place = at(step.instance);
  const auto* resumed = std::get_if<InstanceResumed>(&heard_.record->event);
  const bool lifted = resumed != nullptr && resumed->instance == step.instance;
  if (lifted || place.resumed_at_end) place.suspended.reset();
  place.resumed_at_end = false;
  Step& began = heard_.stepped[step.instance];
  began.place = heard_.place;
  if (!place.live) began.fault = "has ended, and goes on";
  if (place.suspended) began.fault = "is suspended, and goes on";
  if (has_live_child(step.instance, NodeKind::primary)) began.fault = "acts beside its child";
  place.leave.reset();  // What it was told since is answered first.
}

// What somebody outside does or says is a step as well, and is over at once.
void TreeModel::take(const StepEnded& step) {
  heard_.stepped.erase(step.instance);
}

void TreeModel::take(const ChildBorn& born) {
  const Place parent = at(born.parent);
  must(parent.live, to_string(born.instance) + " is born of one that has ended");
  const NodeSpec& node = node_of(parent);
  const ChildSpec* spec = find_child(node, born.child);
  must(spec != nullptr && spec->node == born.node, "a child is born that its node does not name");
  const NodeSpec* own = find_node(nodes_, born.node);
  must(own != nullptr && own->kind == born.kind, "a child is born that is of another kind");
  must(born.kind != NodeKind::primary || !has_live_child(born.parent, NodeKind::primary),
       to_string(born.parent) + " has a second child that acts in its place");
  must(!places_.contains(born.instance), to_string(born.instance) + " is born twice");
  Place child;
  child.parent = born.parent;
  child.node = born.node;
  child.kind = born.kind;
  child.state = initial_of(nodes_, born.node);
  must(same_json(child.state, born.state) || child.state == born.state,
       to_string(born.instance) + " begins with another state");
  places_[born.instance] = std::move(child);
  must(live() - 1 <= branches_, "more instances live than may");
  if (born.input) {
    heard_.births.push_back({born.parent, born.child, bytes_of(*born.input)});
    at(born.instance).told = marks_in(bytes_of(*born.input));
  } else {
    int& owed = owed_[{born.parent, born.child}];
    must(owed-- > 0, to_string(born.instance) + " is born, and nobody asked for it");
  }
  owe_children(born.instance);
}

void TreeModel::take(const InstanceEnded& ended) {
  Place& place = at(ended.instance);
  const std::string who = to_string(ended.instance);
  must(place.live, who + " ends twice");
  must(ended.instance != kRootInstance, "the root leaves the tree");
  must(!has_live_child(ended.instance), who + " ends, and leaves children behind");
  place.live = false;
  place.suspended.reset();
  std::erase_if(owed_, [&](const auto& one) { return one.first.first == ended.instance; });
  heard_.gone.insert(ended.instance);
  if (ended.how == EndedHow::cancelled) {
    heard_.cancelled.emplace_back(ended.instance, place.parent);
    return;
  }
  must(at(place.parent).live, who + " hands something to one that has ended");
  if (ended.how == EndedHow::ceded) check_ceded(ended, place);
  at(place.parent)
      .contents.push_back({static_cast<std::uint64_t>(ended.instance),
                           bytes_of(ended.content),
                           heard_.place,
                           {},
                           false});
}

// What it hands over is what it said it would, or the last that it said.
void TreeModel::check_ceded(const InstanceEnded& ended, Place& place) {
  const std::string given = bytes_of(ended.content);
  const bool planned = place.leave && place.leave->kind == LeaveKind::cede;
  const auto expected = planned ? std::optional(bytes_of(place.leave->words)) : place.last_text;
  must(!expected || given == *expected,
       to_string(ended.instance) + " hands over something else than it ceded");
  must(place.contents.empty() || planned,
       to_string(ended.instance) + " ends its turn without what its children ceded");
}

void TreeModel::take(const ContentsDelivered& delivered) {
  Place& place = at(delivered.instance);
  must(place.contents.size() == delivered.count,
       to_string(delivered.instance) + " is given other contents than wait for it");
  std::sort(place.contents.begin(), place.contents.end(),
            [](const Handed& a, const Handed& b) { return a.sender < b.sender; });
  for (const Handed& one : place.contents) {
    for (std::string& mark : marks_in(one.text)) place.told.push_back(std::move(mark));
  }
  place.contents.clear();
}

void TreeModel::take(const MessagesDelivered& delivered) {
  Place& place = at(delivered.instance);
  must(place.messages.size() == delivered.count,
       to_string(delivered.instance) + " is given other messages than wait for it");
  for (const Handed& one : place.messages) {
    for (std::string& mark : marks_in(one.text)) place.told.push_back(std::move(mark));
  }
  place.messages.clear();
}

void TreeModel::take(const MessageAdded& added) {
  at(added.instance).messages.push_back({0, added.text, 0, {}, false});
  heard_.done.push_back("message " + added.text);
}

void TreeModel::take(const LeavePlanned& planned) {
  Place& place = at(planned.instance);
  const Leave& leave = planned.leave;
  must(!place.leave || leave.by == LeaveBy::command || place.leave->by == LeaveBy::command,
       to_string(planned.instance) + " leaves twice with one reply");
  place.leave = leave;
  if (leave.kind == LeaveKind::cede) heard_.done.push_back("cede " + bytes_of(leave.words));
  if (leave.kind == LeaveKind::suspend) heard_.done.push_back("suspend");
  if (leave.kind != LeaveKind::transition) return;
  heard_.gone.insert(planned.instance);
  heard_.done.push_back("transition " + leave.name);
  const NextSpec* next = find_next(node_of(place), leave.name);
  if (next == nullptr) return must(false, "a transition is taken that the node does not have");
  const std::string initial = initial_of(nodes_, next->to);
  must(leave.state == initial || same_json(leave.state, initial),
       to_string(planned.instance) + " takes another state along than the next node begins with");
}

void TreeModel::take(const NodeEntered& entered) {
  Place& place = at(entered.instance);
  const std::string who = to_string(entered.instance);
  const NextSpec* next = find_next(node_of(place), entered.next);
  must(next != nullptr && next->to == entered.node, who + " enters a node that nothing leads to");
  must(place.leave && place.leave->kind == LeaveKind::transition &&
           place.leave->name == entered.next,
       who + " enters a node that it did not set out for");
  must(!has_live_child(entered.instance), who + " enters a node with the children of another");
  must(!place.leave || entered.state == place.leave->state, who + " has another state there");
  if (entered.context != NextContext::keep) place.told.clear();
  if (entered.context == NextContext::fresh) {
    const std::string message = place.leave ? bytes_of(place.leave->words) : "";
    const auto expected = message.empty() ? place.last_text : std::optional(message);
    must(!expected || expected->empty() || bytes_of(entered.opening) == *expected,
         who + " begins with other words than it was sent on with");
    place.told = marks_in(bytes_of(entered.opening));
  }
  place.node = entered.node;
  place.state = entered.state;
  place.leave.reset();
  place.suspended.reset();
  heard_.gone.insert(entered.instance);
  owe_children(entered.instance);
}

void TreeModel::take(const StateChanged& changed) {
  if (!changed.pack.empty()) return;
  Place& place = at(changed.instance);
  heard_.changed = changed.state;
  if (const auto* set = std::get_if<StateSet>(&heard_.record->event)) {
    must(same_json(bytes_of(set->state), changed.state), "a state is not what its owner set");
    place.state = changed.state;
  }
}

// A call of the machine's own has done what it was asked for.
void TreeModel::take(const CallAnswered& answered) {
  const CallBlock* call = call_at(answered.index);
  if (call == nullptr) return must(false, "a call is answered that nobody made");
  Place& place = at(answered.instance);
  const std::string input = bytes_of(call->input);
  if (call->tool.starts_with("spawn_")) {
    must(take_birth(answered.instance, call->tool.substr(6), member_of(input, "input")),
         "a spawn is answered, and nothing is born");
  }
  if (call->tool == "update_state") {
    const bool outside = is_owned_outside(node_of(place));
    must(outside ? heard_.proposed : heard_.changed.has_value(),
         "a patch is answered, and nothing has changed");
    must(!outside || !heard_.changed, "a model changes what it does not own");
    if (!outside) {
      place.state = merged(place.state, member_of(input, "patch"));
      must(!heard_.changed || same_json(place.state, *heard_.changed),
           "a patch makes another state than RFC 7396 has it");
    }
    heard_.changed.reset();
    heard_.proposed = false;
  }
  const bool leaves = call->tool.starts_with("transition_") || call->tool == "cede";
  must(!leaves || std::any_of(heard_.record->decisions.begin(), heard_.record->decisions.end(),
                              [](const Decision& one) {
                                return std::holds_alternative<LeavePlanned>(one);
                              }),
       "a transition is answered, and not taken");
}

void TreeModel::take(const InstanceSuspended& suspended) {
  Place& place = at(suspended.instance);
  must(place.live && !place.suspended, to_string(suspended.instance) + " cannot be suspended");
  place.suspended = suspended.suspend_id;
  place.leave.reset();
  heard_.done.emplace_back("suspend");
}

void TreeModel::take(const SuspensionLifted& lifted) {
  at(lifted.instance).suspended.reset();
  heard_.done.emplace_back("resume");
}

void TreeModel::take(const AnsweredByTool& answered) {
  const auto* finished = std::get_if<ToolFinished>(&heard_.record->event);
  Place& place = at(answered.instance);
  place.last_text.reset();
  if (finished != nullptr && finished->call == answered.call) {
    place.last_text = bytes_of(finished->content);
  }
}

void TreeModel::take(const EndingBegan& ending) {
  heard_.ends = true;
  heard_.fails = ending.status == RunStatus::failed;
  heard_.stops = ending.status != RunStatus::done;
  const auto* resumed = std::get_if<InstanceResumed>(&heard_.record->event);
  if (resumed != nullptr) {
    at(resumed->instance).suspended = resumed->suspend_id;
    at(resumed->instance).resumed_at_end = true;
  }
  if (ending.status != RunStatus::done || ending.reason != StopReason::end_turn) return;
  must(live() == 1, "the run is done, and instances live");
  const Place& root = at(kRootInstance);
  must(detached_ || root.contents.empty(), "the run is done, and a content is lost");
  must(std::all_of(root.messages.begin(), root.messages.end(),
                   [](const Handed& one) { return one.silent; }),
       "the run is done, and a message is not answered");
}

void TreeModel::take(const CallModel& call) {
  const Place& place = at(call.instance);
  const std::string who = to_string(call.instance);
  must(place.live, "a model is called for " + who + ", which has ended");
  must(!place.suspended || place.resumed_at_end,
       "a model is called for " + who + ", which is suspended");
  must(!has_live_child(call.instance, NodeKind::primary),
       "a model is called for " + who + ", whose child acts in its place");
}

}  // namespace pawl::sim
