// Work items, the gate that they hold a run's end with, and steps that instances discover.
#include <algorithm>

#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/machine_arguments.h"
#include "pawl/kernel/machine_tools.h"

namespace pawl {
namespace {

constexpr std::size_t kItemsNamedMax = 20;

Error not_done(std::string why) {
  return Error{ErrorCode::conflict, std::move(why)};
}

Result<std::string> short_text(const JsonObject& arguments, std::string_view name,
                               std::size_t bytes_max) {
  PAWL_TRY(std::string text, required_text(arguments, name));
  if (!text.empty() && text.size() <= bytes_max) return text;
  return Error{ErrorCode::invalid_argument, "\"" + std::string(name) + "\" must have 1 to " +
                                                std::to_string(bytes_max) + " bytes"};
}

Result<std::string> add_item(Draft& draft, InstanceId id, const CallBlock& call) {
  PAWL_TRY(const JsonObject arguments, arguments_of(call, {"title"}));
  PAWL_TRY(std::string title, short_text(arguments, "title", kWorkTextBytesMax));
  const std::size_t number = draft.state.work.items.size() + 1;
  if (number > kWorkItemsMax) {
    return not_done("a run has at most " + std::to_string(kWorkItemsMax) + " work items");
  }
  WorkItem item{"w" + std::to_string(number), std::move(title)};
  std::string answer = R"({"id":")" + item.id + "\"}";
  draft.add(WorkItemSet{id, std::move(item)});
  return answer;
}

Result<std::string> change_item(Draft& draft, InstanceId id, const CallBlock& call,
                                WorkStatus status) {
  const bool escalates = status == WorkStatus::escalated;
  PAWL_TRY(const JsonObject arguments,
           escalates ? arguments_of(call, {"id", "reason"}) : arguments_of(call, {"id"}));
  PAWL_TRY(const std::string which, required_text(arguments, "id"));
  std::string reason;
  if (escalates) {
    PAWL_TRY(reason, short_text(arguments, "reason", kWorkTextBytesMax));
  }
  const auto& items = draft.state.work.items;
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&which](const WorkItem& one) { return one.id == which; });
  if (found == items.end()) return not_done("there is no work item " + which);
  if (found->status != WorkStatus::open) {
    return not_done(which + " is not open: it is " + std::string(name(found->status)));
  }
  draft.add(WorkItemSet{id, {which, found->title, status, std::move(reason)}});
  return which + " is " + std::string(name(status));
}

std::uint32_t depth_of(const FlowState& flow, const Seat& seat) {
  if (seat.role != SeatRole::found) return 0;
  return flow.runs[seat.phase].found.at(seat.number).depth;
}

Result<std::string> discover(Draft& draft, InstanceId id, const CallBlock& call) {
  const Instance& instance = draft.instance(id);
  PAWL_TRY(const JsonObject arguments, arguments_of(call, {"node", "input", "reason"}));
  StepDiscovered step;
  PAWL_TRY(step.node, required_text(arguments, "node"));
  PAWL_TRY(step.input, short_text(arguments, "input", kFoundTextBytesMax));
  PAWL_TRY(step.reason, short_text(arguments, "reason", kWorkTextBytesMax));
  const DiscoverSpec& spec = *node_of(draft.state, instance).discover;
  if (std::find(spec.nodes.begin(), spec.nodes.end(), step.node) == spec.nodes.end()) {
    return Error{ErrorCode::invalid_argument,
                 "no step of the node " + step.node + " may be discovered here"};
  }
  const FlowState& flow = draft.state.flow;
  step.phase = flow.specs[instance.seat->phase].name;
  step.depth = depth_of(flow, *instance.seat) + 1;
  if (step.depth > spec.depth) {
    return not_done("steps are discovered " + std::to_string(spec.depth) + " deep at most");
  }
  const std::size_t number = flow.runs[instance.seat->phase].found.size() + 1;
  if (number > std::min<std::size_t>(spec.max, kFoundStepsMax)) {
    return not_done("at most " + std::to_string(spec.max) +
                    " steps are discovered in a phase; they are all there");
  }
  std::string answer = R"({"step":")" + step.phase + "/" + std::to_string(number) + "\"}";
  draft.add(std::move(step));
  return answer;
}

// --- The gate ------------------------------------------------------------------------------------

std::string open_items(const WorkState& work) {
  std::string list;
  std::size_t named = 0;
  for (const WorkItem& one : work.items) {
    if (one.status != WorkStatus::open) continue;
    if (++named > kItemsNamedMax) continue;
    list += (list.empty() ? "" : ", ") + one.id + " (" + one.title + ")";
  }
  if (named > kItemsNamedMax) {
    list += " and " + std::to_string(named - kItemsNamedMax) + " more";
  }
  return in_few_words(std::move(list));
}

bool is_gated(const RunState& state) {
  return state.work.gate && state.work.open > 0;
}

// True: it was asked so often that the run fails.
bool was_asked_enough(Draft& draft) {
  const WorkState& work = draft.state.work;
  if (work.held < work.gate->blocks) return false;
  draft.stop(RunStatus::failed, StopReason::work_items,
             "open work items, asked about " + std::to_string(work.held) +
                 " times without a change: " + open_items(work));
  return true;
}

std::string question(const Draft& draft) {
  return with_words(draft.rules.say.work_is_open, open_items(draft.state.work));
}

// The flow ends with the turn of this instance.
bool is_last_of_flow(const Draft& draft, const Instance& instance) {
  const FlowState& flow = draft.state.flow;
  const bool alone = draft.instance(kRootInstance).workers == 1 && flow.waiting == 0;
  if (!alone || !flow.ready.empty() || !flow.queue.empty()) return false;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    const bool mine = i == instance.seat->phase;
    if (!mine && !lets_go_on(flow.specs[i], flow.runs[i].status)) return false;
    if (mine && flow.runs[i].found_next < flow.runs[i].found.size()) return false;
  }
  return true;
}

bool ends_run(const Draft& draft, const Instance& instance) {
  if (!has_flow(draft.state)) return instance.id == kRootInstance;
  if (!instance.seat || is_agent_seat(draft.state, instance)) return false;
  return is_last_of_flow(draft, instance);
}

}  // namespace

bool is_work_tool(std::string_view tool) {
  return tool.starts_with(kWorkItemTool) || tool == kDiscoverTool;
}

Result<std::string> take_work_call(Draft& draft, InstanceId id, const CallBlock& call) {
  if (draft.instance(id).leave) return not_done(std::string(draft.rules.say.left_already));
  if (call.tool == kDiscoverTool) return discover(draft, id, call);
  if (call.tool == kWorkItemAddTool) return add_item(draft, id, call);
  const bool done = call.tool == kWorkItemDoneTool;
  return change_item(draft, id, call, done ? WorkStatus::done : WorkStatus::escalated);
}

bool is_held_by_gate(Draft& draft, InstanceId id) {
  if (!is_gated(draft.state) || !ends_run(draft, draft.instance(id))) return false;
  if (was_asked_enough(draft)) return true;
  std::string text = question(draft);
  draft.add(EndingHeld{draft.state.work.held + 1});
  const std::uint64_t tokens = draft.rules.estimate_tokens(text.size());
  draft.add(NoteAdded{id, Note::work_items, std::move(text), tokens});
  begin_step(draft, draft.instance(id));
  return true;
}

bool is_flow_held_by_gate(Draft& draft) {
  if (!is_gated(draft.state) || was_asked_enough(draft)) return draft.ending();
  const FlowState& flow = draft.state.flow;
  PAWL_ASSERT(flow.last.has_value());  // Only an instance adds items.
  const std::uint32_t phase = *flow.last;
  std::string text = question(draft);
  draft.add(EndingHeld{draft.state.work.held + 1});
  seat_instance(draft, phase, SeatRole::asked, 0, flow.specs[phase].node, std::move(text));
  return true;
}

}  // namespace pawl
