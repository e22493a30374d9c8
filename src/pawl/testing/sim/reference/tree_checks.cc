// What a record, a request and the run itself have to agree with.
#include <algorithm>

#include "pawl/json.h"
#include "pawl/testing/sim/reference/marks.h"
#include "pawl/testing/sim/reference/tree_model.h"

namespace pawl::sim {

void TreeModel::check_record() {
  if (const auto* command = std::get_if<CommandGiven>(&heard_.record->event)) {
    check_command(*command);
  }
  check_births();
  check_cancelled();
  check_steps();
  const auto* failed = std::get_if<ModelFailed>(&heard_.record->event);
  const bool of_another = failed != nullptr && failed->instance != kRootInstance;
  must(!of_another || !heard_.ends || !heard_.fails || root_failed_,
       "a model fails for one instance, and the run with it");
}

void TreeModel::check_births() {
  must(heard_.births.empty(), "a child is born that nobody asked for");
}

bool TreeModel::take_birth(InstanceId parent, const std::string& child, const std::string& input) {
  const auto found =
      std::find_if(heard_.births.begin(), heard_.births.end(), [&](const Birth& one) {
        return one.parent == parent && one.child == child && one.input == input;
      });
  if (found == heard_.births.end()) return false;
  heard_.births.erase(found);
  return true;
}

// Nobody is cancelled whose parent goes on as it was, unless that is what its node says (M7).
void TreeModel::check_cancelled() {
  for (const auto& [id, parent] : heard_.cancelled) {
    const Place& above = at(parent);
    const bool excused = heard_.gone.contains(parent) || heard_.stops ||
                         (above.leave && above.leave->kind == LeaveKind::transition) ||
                         node_of(above).workers_on_end == WorkersOnEnd::cancel;
    must(excused, to_string(id) + " is cancelled, and its parent goes on");
  }
}

// What waited when a step began has been given to it by then (M6).
void TreeModel::check_steps() {
  for (const auto& [id, step] : heard_.stepped) {
    must(step.fault.empty(), to_string(id) + " " + step.fault);
    for (const Handed& one : at(id).contents) {
      must(one.place > step.place, "a step of " + to_string(id) + " begins without what i" +
                                       std::to_string(one.sender) + " handed to it");
    }
  }
}

// All of it, or nothing (M11).
void TreeModel::check_command(const CommandGiven& command) {
  const Place& place = at(command.instance);
  const NodeCommand* spec = nullptr;
  for (const NodeSpec& node : nodes_) {
    if (spec == nullptr) spec = find_command(node, command.command);  // all nodes have the same
  }
  if (spec == nullptr) return must(false, "a command is carried out that no node has");
  const std::string input = bytes_of(command.input);
  const auto did = [this](const std::string& what) {
    const auto found = std::find(heard_.done.begin(), heard_.done.end(), what);
    return found != heard_.done.end();
  };
  const auto actions = parse_json(spec->actions);
  for (const Json& action : actions->array()) {
    const JsonMember& one = action.object().members().front();
    const std::string text = one.value.is_string() ? one.value.string() : member_of(input, "text");
    if (one.key == "patch") {
      must(heard_.proposed || heard_.changed, "a command's patch has changed nothing");
      Place& changed = at(command.instance);
      if (heard_.changed) {
        changed.state = merged(place.state, "{\"b\":" + member_of(input, "n") + "}");
        must(same_json(changed.state, *heard_.changed), "a command makes another state");
      }
    } else if (one.key == "spawn") {
      must(take_birth(command.instance, *one.value.find_string("worker"), text),
           "a command's child is not born");
    } else if (one.key == "suspend" || one.key == "resume") {
      must(did(one.key), "a command's " + one.key + " is not carried out");
    } else {
      must(did(one.key + " " + text), "a command's " + one.key + " is not carried out");
    }
  }
}

std::string TreeModel::compare(const RunState& state) const {
  if (nodes_.empty()) return "";
  std::size_t live = 0;
  for (const Instance& one : state.instances) {
    const auto found = places_.find(one.id);
    if (found == places_.end()) return to_string(one.id) + " is in the tree, and was never born";
    const Place& place = found->second;
    const bool lives = !std::holds_alternative<Ended>(one.phase);
    if (lives != place.live) return to_string(one.id) + (lives ? " lives" : " does not live");
    if (!lives) continue;
    ++live;
    if (one.parent != place.parent) return to_string(one.id) + " has another parent";
    if (one.node != place.node) return to_string(one.id) + " is in another node";
    if (one.kind != place.kind) return to_string(one.id) + " is of another kind";
    if (one.state != place.state && !same_json(one.state, place.state)) {
      return to_string(one.id) + " has the state " + one.state + ", not " + place.state;
    }
    const bool suspended = std::holds_alternative<Suspended>(one.phase);
    const bool ending = !std::holds_alternative<Going>(state.course);
    if (suspended != place.suspended.has_value() && !ending && !place.resumed_at_end) {
      return to_string(one.id) + (suspended ? " is suspended" : " is not suspended");
    }
    if (one.contents.size() != place.contents.size()) {
      return to_string(one.id) + " has lost a content, or has one twice";
    }
  }
  return live == this->live() ? "" : "other instances live than the journal says";
}

// What it was told is there, once; and its state is shown (M6, M8).
std::string TreeModel::check_request(const PhaseExecutionRequest& request,
                                     const std::vector<Message>& messages) const {
  const auto found = places_.find(request.instance);
  if (nodes_.empty() || found == places_.end()) return "";
  const std::vector<std::string> heard = marks_heard(messages);
  for (const std::string& mark : found->second.told) {
    const auto times = std::count(heard.begin(), heard.end(), mark);
    if (times != 1) {
      return to_string(request.instance) + " reads " + mark + " " + std::to_string(times) +
             " times, which it was told once";
    }
  }
  std::size_t at = 0;
  for (const std::string& mark : found->second.told) {
    const auto where = std::find(heard.begin(), heard.end(), mark) - heard.begin();
    if (static_cast<std::size_t>(where) < at) {
      return to_string(request.instance) + " reads " + mark + " too early";
    }
    at = static_cast<std::size_t>(where);
  }
  // Which state it is, nobody can tell from what is durable: its process may be further.
  const bool shown = request.note.find('{') < request.note.rfind('}');
  if (found->second.state.empty() || shown) return "";
  return to_string(request.instance) + " is not shown its state";
}

}  // namespace pawl::sim
