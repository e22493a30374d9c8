#include "pawl/kernel/agent_tree.h"

#include <algorithm>

namespace pawl {
namespace {

constexpr std::size_t kChildIdDigits = 20;
constexpr std::string_view kChildIdStart = "s-";

constexpr std::string_view kAgentInput =
    R"({"type":"object","properties":{"input":{"type":"string"}},"required":["input"],)"
    R"("additionalProperties":false})";
constexpr std::string_view kAdhocInput =
    R"({"type":"object","properties":{"prompt":{"type":"string"},)"
    R"("tools":{"type":"array","items":{"type":"string"},"maxItems":256},)"
    R"("model":{"type":"string"},"max_steps":{"type":"integer","minimum":1,"maximum":1000000}},)"
    R"("required":["prompt"],"additionalProperties":false})";

ToolSpec tool_that_starts(std::string name, std::string description, std::string_view input) {
  ToolSpec spec;
  spec.name = std::move(name);
  spec.description = std::move(description);
  spec.input_schema = std::string(input);
  spec.effect = EffectClass::reconcilable;
  spec.timeout_ms = kToolTimeoutMaxMs;
  return spec;
}

}  // namespace

bool is_agent_tool(std::string_view tool) {
  return tool.starts_with(kAgentTool) || tool == kAdhocTool;
}

bool has_agents(const RunState& state) {
  return !state.agents.empty() || state.adhoc_agents == Presence::present;
}

bool starts_run(const RunState& state, const Call& call) {
  if (call.tool == kAdhocTool) return state.adhoc_agents == Presence::present;
  if (!call.tool.starts_with(kAgentTool)) return false;
  return find_agent(state.agents, std::string_view(call.tool).substr(kAgentTool.size())) != nullptr;
}

const ChildRun* find_child(const RunState& state, CallId call) {
  const auto found =
      std::lower_bound(state.children.begin(), state.children.end(), call,
                       [](const ChildRun& child, CallId wanted) { return child.call < wanted; });
  return found == state.children.end() || found->call != call ? nullptr : &*found;
}

RunId child_run_id(const RunState& state, CallId call) {
  static constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
  const Digest digest = sha256("pawl-child-1:" + key_of(state, call));
  std::string text(kChildIdStart);
  for (std::size_t i = 0; i < kChildIdDigits; ++i) text += kDigits[digest.bytes[i] & 31U];
  return RunId{std::move(text)};
}

bool looks_like_child(const RunId& run) {
  return run.text.starts_with(kChildIdStart) &&
         run.text.size() == kChildIdStart.size() + kChildIdDigits;
}

Ancestor as_ancestor(const RunState& state, CallId call) {
  const ChildRun* child = find_child(state, call);
  Ancestor self;
  self.run = state.id;
  self.call = call;
  self.agent = child == nullptr ? "" : child->agent;
  self.charter = state.charter_digest;
  self.depth = static_cast<std::uint32_t>(state.lineage.size()) + state.subagents.depth;
  return self;
}

bool has_parent(const RunState& state) {
  return !state.lineage.empty();
}

std::uint32_t places_of(std::uint32_t beneath, PlaceUse use) {
  return use == PlaceUse::rests ? std::max(beneath, 1U) : beneath + 1;
}

Presence is_asked_by_children(const RunState& state) {
  const Limits& limits = state.limits;
  const bool asked = reserves(state) || limits.ask_cost_pico > 0 || limits.budget_ms > 0;
  return asked ? Presence::present : Presence::absent;
}

std::uint64_t tokens_for_child(const RunState& state) {
  const std::uint64_t used = total_tokens(state.tally.usage);
  return std::max<std::uint64_t>(state.limits.tokens - std::min(state.limits.tokens, used), 1);
}

TreeBooks books_of(const RunState& state, PlaceUse use) {
  TreeBooks books;
  books.usage = state.tally.usage;
  books.cost_pico = state.tally.cost_pico;
  books.started = state.runs_settled;
  for (const ChildRun& child : state.children) {
    books.started += 1 + std::max(child.books.started, child.held.started);
    books.places += places_of(std::max(child.books.places, child.held.places), child.books.use);
  }
  books.use = use;
  return books;
}

Reserved granted(const RunState& state) {
  Reserved sum;
  for (const ChildRun& child : state.children) {
    const std::uint64_t tokens = total_tokens(child.books.usage);
    sum.pico += child.held.cost_pico - std::min(child.held.cost_pico, child.books.cost_pico);
    sum.tokens += child.held.tokens - std::min(child.held.tokens, tokens);
  }
  return sum;
}

ToolSpec agent_tool(const AgentSpec& agent) {
  return tool_that_starts(std::string(kAgentTool) + agent.name,
                          agent.description.empty()
                              ? "Hands a task to the agent " + agent.name +
                                    " and waits for its answer. It knows nothing but the input."
                              : agent.description,
                          kAgentInput);
}

ToolSpec adhoc_tool() {
  return tool_that_starts(
      std::string(kAdhocTool),
      "Hands a task to an agent of its own and waits for its answer. It knows nothing but the "
      "prompt, and has your tools, or those of them that you name.",
      kAdhocInput);
}

}  // namespace pawl
