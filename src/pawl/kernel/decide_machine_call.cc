// Calls of the kernel's own tools: transition, spawn, cede, suspend, update_state.
#include "pawl/base/json_merge.h"
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/machine_arguments.h"
#include "pawl/kernel/machine_tools.h"

namespace pawl {
namespace {

Error not_done(std::string_view why) {
  return Error{ErrorCode::conflict, std::string(why)};
}

Error bad_argument(std::string why) {
  return Error{ErrorCode::invalid_argument, std::move(why)};
}

std::string optional_text(const JsonObject& arguments, std::string_view name) {
  const Json* value = arguments.find(name);
  return value == nullptr || value->is_null() ? "" : text_of(*value);
}

// The state that an instance begins with in a node: what is said, or the initial one.
Result<std::string> chosen_state(const NodeSpec& node, const JsonObject& arguments) {
  const Json* said = arguments.find("state");
  const std::string state = said == nullptr ? initial_state(node) : write_json(*said);
  const std::string fault = fault_of_state(node.state, state);
  if (fault.empty()) return state;
  return bad_argument("the state of " + node.name + ": " + fault);
}

Result<Leave> transition_of(const Draft& draft, const Instance& instance, const CallBlock& call) {
  const std::string_view name = std::string_view(call.tool).substr(kTransitionTool.size());
  const NextSpec& next = *find_next(node_of(draft.state, instance), name);
  PAWL_TRY(const JsonObject arguments, arguments_of(call, {"state", "message"}));
  Leave leave{LeaveKind::transition,
              next.name,
              Content(optional_text(arguments, "message")),
              next.state,
              {}};
  const NodeSpec& target = *find_node(draft.state.nodes, next.to);
  if (next.state.empty()) {
    PAWL_TRY(leave.state, chosen_state(target, arguments));
  }
  return leave;
}

// What a phase hands on fits its node's schema, however it is handed over.
Status check_output(const NodeSpec& node, const Instance& instance, const std::string& content) {
  if (!instance.seat || node.output_schema.empty()) return ok();
  const std::string fault = fault_of_state(StateSpec{node.output_schema}, content);
  if (fault.empty()) return ok();
  return bad_argument("the content does not fit the output schema: " + fault);
}

Result<Leave> cede_of(const Draft& draft, const Instance& instance, const CallBlock& call) {
  if (instance.id == kRootInstance) return not_done(draft.rules.say.root_cedes);
  PAWL_TRY(const JsonObject arguments, arguments_of(call, {"content"}));
  PAWL_TRY(std::string content, required_text(arguments, "content"));
  PAWL_CHECK(check_output(node_of(draft.state, instance), instance, content));
  return Leave{LeaveKind::cede, "", Content(std::move(content)), "", {}};
}

Result<Leave> suspension_of(const CallBlock& call) {
  PAWL_TRY(const JsonObject arguments, arguments_of(call, {"reason", "metadata"}));
  PAWL_TRY(std::string reason, required_text(arguments, "reason"));
  const Json* metadata = arguments.find("metadata");
  return Leave{LeaveKind::suspend,
               std::move(reason),
               Content(metadata == nullptr ? "" : write_json(*metadata)),
               "",
               {}};
}

bool is_leave(std::string_view tool) {
  return tool.starts_with(kTransitionTool) || tool == kCedeTool || tool == kSuspendTool;
}

Result<Leave> leave_of(const Draft& draft, const Instance& instance, const CallBlock& call) {
  if (instance.leave) return not_done(draft.rules.say.leaves_already);
  if (call.tool == kCedeTool) return cede_of(draft, instance, call);
  if (call.tool == kSuspendTool) return suspension_of(call);
  return transition_of(draft, instance, call);
}

// --- Spawns and states ---------------------------------------------------------------------------

Result<std::string> spawn(Draft& draft, InstanceId id, const CallBlock& call) {
  const Sentences& say = draft.rules.say;
  const Instance& instance = draft.instance(id);
  const std::string_view name = std::string_view(call.tool).substr(kSpawnTool.size());
  const ChildSpec spec = *find_child(node_of(draft.state, instance), name);
  const NodeSpec& node = *find_node(draft.state.nodes, spec.node);
  PAWL_TRY(const JsonObject arguments, arguments_of(call, {"input", "state"}));
  PAWL_TRY(std::string input, required_text(arguments, "input"));
  PAWL_TRY(std::string state, chosen_state(node, arguments));
  if (instance.leave) return not_done(say.left_already);
  if (node.kind == NodeKind::primary && has_primary_child(draft.state, instance)) {
    return not_done(say.second_child);
  }
  if (instance.depth >= kDepthMax) return not_done(with_number(say.too_deep, kDepthMax));
  if (live_count(draft.state) > draft.state.limits.branches) {
    return not_done(with_number(say.no_room, draft.state.limits.branches));
  }
  const InstanceId child = bear(draft, id, spec, Content(std::move(input)), std::move(state));
  bear_those_that_wait(draft);
  return with_words(say.spawned, to_string(child));
}

const std::optional<StateSpec>* spec_of(const RunState& state, const NodeSpec& node,
                                        const std::string& pack) {
  if (pack.empty()) return &node.state;
  const PackSpec* found = find_pack(state.packs, pack);
  return found == nullptr ? nullptr : &found->state;
}

Result<std::string> propose(Draft& draft, InstanceId id, std::string patch) {
  const Sentences& say = draft.rules.say;
  const Instance& instance = draft.instance(id);
  const std::uint64_t proposal = instance.proposals + 1;
  if (instance.state_changes != instance.state_shown) {
    draft.add(StateConflict{id, proposal});
    return not_done(say.conflict);
  }
  draft.add(StateProposed{id, proposal, std::move(patch), ""});
  return with_number(say.proposed, proposal);
}

bool is_named(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<std::string> update(Draft& draft, InstanceId id, const CallBlock& call) {
  const Instance& instance = draft.instance(id);
  const NodeSpec& node = node_of(draft.state, instance);
  PAWL_TRY(const JsonObject arguments, arguments_of(call, {"patch", "pack"}));
  const Json* patch = arguments.find("patch");
  if (patch == nullptr) return bad_argument("\"patch\" is missing");
  if (instance.leave) return not_done(draft.rules.say.left_already);
  const std::string pack = optional_text(arguments, "pack");
  const auto* spec = spec_of(draft.state, node, pack);
  const bool mine = pack.empty() || (sees_packs(instance) && is_named(node.packs, pack));
  if (!mine || spec == nullptr || !*spec) return bad_argument("there is no such state");
  const PackState* shared = find_pack_state(draft.state.pack_states, pack);
  const std::string& before = pack.empty() ? instance.state : shared->state;
  PAWL_TRY(std::string after, patched_state(*spec, before, *patch));
  if ((*spec)->owner == StateOwner::external) return propose(draft, id, write_json(*patch));
  draft.add(StateChanged{id, pack, std::move(after)});
  return std::string(draft.rules.say.updated);
}

// --- The answer ----------------------------------------------------------------------------------

CallId next_machine_call(const Draft& draft) {
  return CallId{draft.state.calls_minted + 1};
}

void refuse_call(Draft& draft, InstanceId id, const Asked& asked, RefusedBecause because,
                 std::string text) {
  const std::uint64_t tokens = draft.rules.estimate_tokens(text.size());
  draft.add(CallRefused{id, next_machine_call(draft), asked.index, because,
                        in_few_words(std::move(text)), asked.fingerprint, GateStage::none, "",
                        tokens});
}

void answer_call(Draft& draft, InstanceId id, const Asked& asked, Result<std::string> answer) {
  const Sentences& say = draft.rules.say;
  if (!answer) {
    const bool bad = answer.error().code != ErrorCode::conflict;
    const std::string_view intro = bad ? say.invalid_input : say.not_done;
    return refuse_call(draft, id, asked,
                       bad ? RefusedBecause::invalid_input : RefusedBecause::not_done,
                       std::string(intro) + answer.error().message);
  }
  const std::uint64_t tokens = draft.rules.estimate_tokens(answer->size());
  draft.add(CallAnswered{id, next_machine_call(draft), asked.index, *std::move(answer),
                         asked.fingerprint, tokens});
}

void take_leave_call(Draft& draft, InstanceId id, const Asked& asked) {
  auto leave = leave_of(draft, draft.instance(id), *asked.call);
  if (!leave) return answer_call(draft, id, asked, leave.error());
  if (leave->kind == LeaveKind::suspend) {
    leave->call = next_machine_call(draft);
    draft.add(CallOpened{id, *leave->call, asked.index, asked.fingerprint});
  } else if (leave->kind == LeaveKind::cede) {
    answer_call(draft, id, asked, std::string(draft.rules.say.cedes));
  } else {
    const NextSpec& next = *find_next(node_of(draft.state, draft.instance(id)), leave->name);
    answer_call(draft, id, asked, with_words(draft.rules.say.moves_to, next.to));
  }
  draft.add(LeavePlanned{id, *std::move(leave)});
}

bool is_offered(const Draft& draft, const Instance& instance, std::string_view tool) {
  // The root is not offered cede, and is told why it cannot.
  if (tool == kCedeTool) return true;
  const std::vector<ToolSpec> tools = machine_tools(draft.state, instance);
  return std::any_of(tools.begin(), tools.end(),
                     [tool](const ToolSpec& one) { return one.name == tool; });
}

}  // namespace

Result<JsonObject> arguments_of(const CallBlock& call, std::vector<std::string_view> names) {
  const std::string* bytes = call.input.bytes();
  if (bytes == nullptr || bytes->size() > kStateBytesMax) return bad_argument("they are too long");
  PAWL_TRY(Json value, parse_json(*bytes));
  JsonObject* object = value.if_object();
  if (object == nullptr) return bad_argument("expected an object");
  for (const JsonMember& member : object->members()) {
    if (std::find(names.begin(), names.end(), member.key) == names.end()) {
      return bad_argument("there is no \"" + member.key + "\"");
    }
  }
  return std::move(*object);
}

Result<std::string> required_text(const JsonObject& arguments, std::string_view name) {
  const Json* value = arguments.find(name);
  if (value == nullptr) return bad_argument("\"" + std::string(name) + "\" is missing");
  return text_of(*value);
}

// Text as it is, anything else as JSON.
std::string text_of(const Json& value) {
  const std::string* text = value.if_string();
  return text != nullptr ? *text : write_json(value);
}

Result<std::string> patched_state(const std::optional<StateSpec>& spec, const std::string& before,
                                  const Json& patch) {
  PAWL_TRY(Json value, parse_json(before.empty() ? "null" : before));
  merge_patch(value, patch);
  std::string after = write_json(value);
  const std::string fault = fault_of_state(spec, after);
  if (!fault.empty()) return bad_argument("the state would not fit: " + fault);
  return after;
}

std::optional<LeaveKind> planned_leave(const Draft& draft, const Instance& instance,
                                       const std::vector<Asked>& calls) {
  for (const Asked& asked : calls) {
    const std::string& tool = asked.call->tool;
    if (!is_leave(tool) || !is_offered(draft, instance, tool)) continue;
    if (const auto leave = leave_of(draft, instance, *asked.call)) return leave->kind;
  }
  return std::nullopt;
}

void take_machine_call(Draft& draft, InstanceId id, const Asked& asked) {
  const std::string& tool = asked.call->tool;
  if (!is_offered(draft, draft.instance(id), tool)) {
    return refuse_call(
        draft, id, asked, RefusedBecause::unknown_tool,
        std::string(draft.rules.say.unknown_tool) + known_tools(draft, draft.instance(id)));
  }
  if (is_leave(tool)) return take_leave_call(draft, id, asked);
  if (is_work_tool(tool)) {
    return answer_call(draft, id, asked, take_work_call(draft, id, *asked.call));
  }
  if (tool != kUpdateStateTool) return answer_call(draft, id, asked, spawn(draft, id, *asked.call));
  answer_call(draft, id, asked, update(draft, id, *asked.call));
}

}  // namespace pawl
