#include "pawl/kernel/machine_tools.h"

#include "pawl/json.h"

namespace pawl {
namespace {

// Writes `{"type":"object","properties":{…},"required":[…],"additionalProperties":false}`.
class InputSchema {
 public:
  enum class Need : std::uint8_t { optional, required };

  InputSchema& with(std::string_view name, std::string_view schema, Need need) {
    properties_ += properties_.empty() ? "" : ",";
    append_json_string(properties_, name);
    properties_ += ':';
    properties_ += schema;
    if (need == Need::required) {
      required_ += required_.empty() ? "" : ",";
      append_json_string(required_, name);
    }
    return *this;
  }
  std::string text() const {
    return R"({"type":"object","properties":{)" + properties_ + R"(},"required":[)" + required_ +
           R"(],"additionalProperties":false})";
  }

 private:
  std::string properties_;
  std::string required_;
};
using Need = InputSchema::Need;

constexpr std::string_view kText = R"({"type":"string"})";
constexpr std::string_view kAnything = "{}";

ToolSpec tool(std::string name, std::string description, const InputSchema& input) {
  ToolSpec spec;
  spec.name = std::move(name);
  spec.description = std::move(description);
  spec.input_schema = input.text();
  spec.effect = EffectClass::pure;
  return spec;
}

std::string said(const std::string& description, std::string otherwise) {
  if (!description.empty()) return description;
  return otherwise;
}

void add_state_argument(InputSchema& input, const NodeSpec& node) {
  if (!node.state) return;
  const std::string& schema = node.state->schema;
  input.with("state", schema.empty() ? kAnything : std::string_view(schema),
             node.state->initial.empty() ? Need::required : Need::optional);
}

ToolSpec transition_tool(const RunState& state, const NextSpec& next) {
  InputSchema input;
  const NodeSpec* target = find_node(state.nodes, next.to);
  if (target != nullptr && next.state.empty()) add_state_argument(input, *target);
  input.with("message", kText, Need::optional);
  return tool(std::string(kTransitionTool) + next.name,
              said(next.description, "Goes on in the node " + next.to + "."), input);
}

ToolSpec spawn_tool(const RunState& state, const ChildSpec& child) {
  InputSchema input;
  input.with("input", kText, Need::required);
  const NodeSpec* node = find_node(state.nodes, child.node);
  if (node != nullptr) add_state_argument(input, *node);
  const bool worker = node != nullptr && node->kind == NodeKind::worker;
  return tool(std::string(kSpawnTool) + child.name,
              said(child.description, worker ? "Starts a worker; what it finds reaches you later."
                                             : "Hands over to another until it is done."),
              input);
}

bool has_state_to_patch(const RunState& state, const Instance& instance, const NodeSpec& node) {
  if (node.state) return true;
  if (!sees_packs(instance)) return false;
  for (const std::string& pack : node.packs) {
    if (find_pack_state(state.pack_states, pack) != nullptr) return true;
  }
  return false;
}

ToolSpec state_tool(const RunState& state, const Instance& instance, const NodeSpec& node) {
  InputSchema input;
  input.with("patch", R"({"type":"object"})", Need::required);
  std::string packs;
  for (const std::string& pack : node.packs) {
    if (!sees_packs(instance) || find_pack_state(state.pack_states, pack) == nullptr) continue;
    packs += packs.empty() ? "" : ",";
    append_json_string(packs, pack);
  }
  if (!packs.empty()) {
    input.with("pack", "{\"enum\":[" + packs + "]}", node.state ? Need::optional : Need::required);
  }
  return tool(std::string(kUpdateStateTool),
              "Changes your state by a JSON merge patch: what it names is replaced, null removes.",
              input);
}

void add_work_tools(std::vector<ToolSpec>& tools) {
  InputSchema title;
  title.with("title", kText, Need::required);
  tools.push_back(tool(std::string(kWorkItemAddTool),
                       "Notes something that is to be done before the run may end.", title));
  InputSchema id;
  id.with("id", kText, Need::required);
  tools.push_back(tool(std::string(kWorkItemDoneTool), "Says that a work item is done.", id));
  id.with("reason", kText, Need::required);
  tools.push_back(
      tool(std::string(kWorkItemEscalateTool), "Leaves a work item to people, and says why.", id));
}

ToolSpec discover_tool(const DiscoverSpec& spec) {
  std::string nodes;
  for (const std::string& node : spec.nodes) {
    nodes += nodes.empty() ? "" : ",";
    append_json_string(nodes, node);
  }
  InputSchema input;
  input.with("node", "{\"enum\":[" + nodes + "]}", Need::required);
  input.with("input", kText, Need::required).with("reason", kText, Need::required);
  return tool(std::string(kDiscoverTool),
              "Has a step carried out behind this phase that nobody had planned.", input);
}

}  // namespace

std::vector<ToolSpec> machine_tools(const RunState& state, const Instance& instance) {
  std::vector<ToolSpec> tools;
  if (!has_nodes(state)) return tools;
  const NodeSpec& node = node_of(state, instance);
  for (const NextSpec& next : node.next) {
    if (next.when == NextWhen::called) tools.push_back(transition_tool(state, next));
  }
  for (const auto* list : {&node.workers, &node.children}) {
    for (const ChildSpec& child : *list) {
      if (child.start == ChildStart::on_call) tools.push_back(spawn_tool(state, child));
    }
  }
  if (has_state_to_patch(state, instance, node)) {
    tools.push_back(state_tool(state, instance, node));
  }
  if (instance.id != kRootInstance) {
    InputSchema input;
    input.with("content", kAnything, Need::required);
    tools.push_back(tool(std::string(kCedeTool),
                         "Ends your work and hands its result, text or JSON, to who started you.",
                         input));
  }
  if (state.work.gate) add_work_tools(tools);
  if (node.discover && instance.seat) tools.push_back(discover_tool(*node.discover));
  InputSchema input;
  input.with("reason", kText, Need::required).with("metadata", kAnything, Need::optional);
  tools.push_back(tool(std::string(kSuspendTool),
                       "Waits until somebody outside resumes you; their answer is the result.",
                       input));
  return tools;
}

std::string shown_state(const RunState& state, const Instance& instance) {
  std::string text;
  if (!has_nodes(state)) return text;
  if (!instance.state.empty()) text += "Your state: " + instance.state;
  if (!sees_packs(instance)) return text;
  for (const std::string& pack : node_of(state, instance).packs) {
    const PackState* one = find_pack_state(state.pack_states, pack);
    if (one == nullptr) continue;
    text += (text.empty() ? "" : "\n") + ("State of the pack " + pack + ": ") + one->state;
  }
  return text;
}

}  // namespace pawl
