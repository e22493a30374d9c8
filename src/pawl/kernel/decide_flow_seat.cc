// Instances that carry out phases: how one begins, and what becomes of what it says.
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/flow_values.h"

namespace pawl {
namespace {

struct Work {
  SeatRole role = SeatRole::own;
  std::uint64_t number = 0;
  std::string node;
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
  if (!(content == instance.last_words)) left.output = content;
  if (node_of(draft.state, instance).output_schema.empty()) return left;
  if (const auto json = parse_json(*text)) {
    left.kind = OutputKind::json;
  } else if (how != EndedHow::stopped) {
    return failed("its output is not JSON: " + json.error().message);
  }
  return left;
}

}  // namespace

InstanceId seat_instance(Draft& draft, std::uint32_t phase, SeatRole role, std::uint64_t number,
                         const std::string& node, std::string prompt) {
  const NodeSpec* spec = find_node(draft.state.nodes, node);
  PAWL_ASSERT(spec != nullptr);
  const std::string name = draft.state.flow.specs[phase].name;
  ChildBorn born;
  born.instance = InstanceId{draft.state.instances_minted + 1};
  born.child = name;
  born.node = node;
  born.kind = NodeKind::worker;
  born.tokens = draft.rules.estimate_tokens(prompt.size());
  born.input = Content(std::move(prompt));
  born.state = initial_state(*spec);
  born.context_tokens = add_saturating(spec->base_tokens, born.tokens);
  const InstanceId id = born.instance;
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
  seat_instance(draft, phase, work.role, work.number, work.node, *std::move(prompt));
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
