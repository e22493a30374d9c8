// Instances that carry out phases: how one begins, and what becomes of what it says.
#include <algorithm>

#include "pawl/kernel/decide_agents.h"
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/flow_values.h"

namespace pawl {
namespace {

struct Work {
  SeatRole role = SeatRole::own;
  std::uint64_t number = 0;
  std::string node;  // empty: an agent does it
};

// What a phase that may begin an instance begins next.
Work next_work(const PhaseSpec& spec, const PhaseRun& run) {
  if (run.own == SeatEnd::done) {
    return {SeatRole::found, run.found_next, run.found[run.found_next].node};
  }
  if (run.map) return {SeatRole::item, next_item(*run.map), spec.node};
  return {SeatRole::own, 0, spec.node};
}

Result<std::string> prompt_for(const FlowState& flow, std::uint32_t phase, const Work& work) {
  const PhaseRun& run = flow.runs[phase];
  if (work.role == SeatRole::found) return run.found[work.number].input;
  if (work.role != SeatRole::item) return prompt_of(flow, phase, std::nullopt);
  return prompt_of(flow, phase, run.map->items[work.number]);
}

bool says_json(const RunState& state, const Instance& instance) {
  if (!is_agent_seat(state, instance)) return !node_of(state, instance).output_schema.empty();
  const AgentSpec* agent = find_agent(state.agents, state.flow.specs[instance.seat->phase].agent);
  return agent != nullptr && agent->json == Presence::present;
}

ChildBorn birth_of(const Draft& draft, std::uint32_t phase, std::string node, std::string prompt) {
  ChildBorn born;
  born.instance = InstanceId{draft.state.instances_minted + 1};
  born.child = draft.state.flow.specs[phase].name;
  born.node = std::move(node);
  born.kind = NodeKind::worker;
  born.tokens = draft.rules.estimate_tokens(prompt.size());
  born.input = Content(std::move(prompt));
  born.context_tokens = born.tokens;
  return born;
}

// An instance that asks no model: it makes one call, by which a run is started.
void seat_agent(Draft& draft, std::uint32_t phase, const Work& work, std::string prompt) {
  if (draft.state.tally.tool_calls >= draft.state.limits.tool_calls) {
    return draft.stop_at(StopReason::tool_calls);
  }
  draft.pause_where_undriven();
  const std::string tool = std::string(kAgentTool) + draft.state.flow.specs[phase].agent;
  ChildBorn born = birth_of(draft, phase, tool, std::move(prompt));
  const InstanceId id = born.instance;
  const std::string name = born.child;
  draft.add(std::move(born));
  draft.add(SeatTaken{id, name, work.role, work.number});
  const CallId call{draft.state.calls_minted + 1};
  draft.add(SeatCalled{id, call, tool});
  run_child(draft, draft.call(call));
  go_on_when_all_ended(draft, id);
}

// Of the items of a map together. What the last phase hands on is what the run gives out.
std::size_t map_bytes_max(const FlowState& flow, std::uint32_t phase) {
  const std::string& name = flow.specs[phase].name;
  const bool followed = std::any_of(flow.specs.begin(), flow.specs.end(), [&](const auto& one) {
    return std::find(one.after.begin(), one.after.end(), name) != one.after.end();
  });
  return followed ? kMapOutputBytesMax : kFlowOutputBytesMax;
}

// With this one the outputs of the items would be too long to be handed on: the phase does not wait
// for the other items to say so.
std::string fault_of_item(const FlowState& flow, const Seat& seat, const std::string& text) {
  const PhaseRun& run = flow.runs[seat.phase];
  if (seat.role != SeatRole::item || !run.map) return "";
  std::string json;
  append_json_string(json, text);
  const std::size_t most = map_bytes_max(flow, seat.phase);
  // As a list: with what stands between and around them.
  if (run.map->output_bytes + run.map->items.size() + 2 + json.size() <= most) return "";
  return "with its output those of the map have more than the " + std::to_string(most) +
         " bytes that the phase may hand on; have the items write files, and answer in few words";
}

// What a seat leaves behind.
SeatLeft left_by(const Draft& draft, const Instance& instance, EndedHow how,
                 const Content& content) {
  SeatLeft left;
  left.instance = instance.id;
  const auto failed = [&left](std::string why) {
    left.end = SeatEnd::failed;
    left.why = in_few_words(std::move(why));
    return left;
  };
  const std::string* text = content.bytes();
  if (how == EndedHow::failed) return failed(text == nullptr ? "it failed" : *text);
  const FlowState& flow = draft.state.flow;
  const PhaseSpec& spec = flow.specs[instance.seat->phase];
  const bool optional = spec.need == PhaseNeed::optional && instance.seat->role == SeatRole::own;
  if (how == EndedHow::stopped && optional) return failed("it reached its limit of steps");
  if (text == nullptr || text->size() > kFlowOutputBytesMax) {
    return failed("its output has " + std::to_string(content.length()) +
                  " bytes; a phase hands on at most " + std::to_string(kFlowOutputBytesMax));
  }
  const std::string too_long = fault_of_item(flow, *instance.seat, *text);
  if (!too_long.empty()) return failed(too_long);
  if (!(content == instance.last_words)) left.output = content;
  if (!says_json(draft.state, instance)) return left;
  if (const auto json = parse_json(*text)) {
    left.kind = OutputKind::json;
  } else if (how != EndedHow::stopped && !is_agent_seat(draft.state, instance)) {
    return failed("its output is not JSON: " + json.error().message);
  }
  return left;
}

}  // namespace

InstanceId seat_instance(Draft& draft, std::uint32_t phase, SeatRole role, std::uint64_t number,
                         const std::string& node, std::string prompt) {
  const NodeSpec* spec = find_node(draft.state.nodes, node);
  PAWL_ASSERT(spec != nullptr);
  ChildBorn born = birth_of(draft, phase, node, std::move(prompt));
  born.state = initial_state(*spec);
  born.context_tokens = add_saturating(spec->base_tokens, born.tokens);
  const InstanceId id = born.instance;
  const std::string name = born.child;
  draft.add(std::move(born));
  draft.add(SeatTaken{id, name, role, number});
  begin_instance(draft, id);
  return id;
}

bool take_seat(Draft& draft, std::uint32_t phase) {
  const Work work = next_work(draft.state.flow.specs[phase], draft.state.flow.runs[phase]);
  auto prompt = prompt_for(draft.state.flow, phase, work);
  if (!prompt) {
    cancel_seats(draft, phase);
    fail_phase(draft, phase, PhaseStatus::failed, prompt.error().message);
    return false;
  }
  if (work.node.empty()) {
    seat_agent(draft, phase, work, *std::move(prompt));
  } else {
    seat_instance(draft, phase, work.role, work.number, work.node, *std::move(prompt));
  }
  return true;
}

void end_seat(Draft& draft, InstanceId id, EndedHow how, const Content& content) {
  const Instance& instance = draft.instance(id);
  const std::uint32_t phase = instance.seat->phase;
  draft.add(left_by(draft, instance, how, content));
  draft.add(InstanceEnded{id, how, "", {}, 0});
  settle_phase(draft, phase);
  bear_those_that_wait(draft);
}

void cancel_seats(Draft& draft, std::uint32_t phase) {
  for (const InstanceId id : instance_ids(draft.state)) {
    const Instance& one = draft.instance(id);
    if (is_live(one) && one.seat && one.seat->phase == phase) cancel_instance(draft, id);
  }
}

bool is_at_phase_limit(const RunState& state, const Instance& instance) {
  if (!instance.seat || instance.seat->role == SeatRole::found) return false;
  const std::uint64_t most = state.flow.specs[instance.seat->phase].steps;
  return most > 0 && instance.seat->steps >= most;
}

}  // namespace pawl
