// Which phase of a flow begins, and what follows when one ends.
#include "pawl/kernel/decide_flow.h"

#include <algorithm>

#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/flow_values.h"

namespace pawl {
namespace {

bool is_failing(const Draft& draft) {
  return std::holds_alternative<Failing>(draft.instance(kRootInstance).phase);
}

void ask_at_checkpoint(Draft& draft, std::uint32_t phase) {
  const std::string name = draft.state.flow.specs[phase].name;
  draft.add(PhaseBegan{name, PhaseStatus::waiting});
  draft.add(CheckpointAsked{name, CallId{draft.state.calls_minted + 1},
                            sha256(checkpoint_shown(draft.state.flow, phase))});
}

void begin_await(Draft& draft, std::uint32_t phase) {
  const PhaseSpec& spec = draft.state.flow.specs[phase];
  PhaseBegan began{spec.name, PhaseStatus::waiting};
  if (const std::uint64_t timeout = spec.await->timeout_ms; timeout > 0) {
    began.until_at_ms = draft.stamp.at_ms + static_cast<std::int64_t>(timeout);
    began.until_elapsed_ms = add_saturating(draft.stamp.elapsed_ms, timeout);
  }
  draft.add(std::move(began));
  take_awaited(draft, phase);
}

// Better no run of a campaign than the first of those that there may be.
std::string fault_of_campaign(const RunState& state, const PhaseSpec& spec, std::uint64_t items) {
  if (spec.agent.empty()) return "";
  const std::uint64_t most = state.subagents.descendants;
  const std::uint64_t started = books_of(state, PlaceUse::acts).started;
  const std::uint64_t left = most - std::min(most, started);
  if (items <= left + spec.map->tolerate) return "";
  return "its map has " + std::to_string(items) + " items, a run for each, and " +
         std::to_string(left) + " of " + std::to_string(most) +
         " runs may still be started; raise subagents.descendants in the charter";
}

void begin_work(Draft& draft, std::uint32_t phase) {
  const PhaseSpec& spec = draft.state.flow.specs[phase];
  if (spec.map) {
    const auto map = map_over(draft.state.flow, *spec.map);
    const std::string fault =
        map ? fault_of_campaign(draft.state, spec, map->items.size()) : map.error().message;
    if (!fault.empty()) return fail_phase(draft, phase, PhaseStatus::failed, fault);
  }
  draft.add(PhaseBegan{spec.name});
  settle_phase(draft, phase);
}

// A failure ends the flow, but not what is in flight. Nobody is asked any more, and nothing is
// awaited.
void fail_flow(Draft& draft, std::uint32_t phase, const std::string& why) {
  const FlowState& flow = draft.state.flow;
  if (!is_failing(draft)) {
    draft.add(RootFailed{RunStatus::failed, StopReason::phase,
                         in_few_words("phase " + flow.specs[phase].name + ": " + why)});
  }
  for (std::uint32_t i = 0; i < flow.specs.size() && flow.waiting > 0; ++i) {
    if (flow.runs[i].status != PhaseStatus::waiting) continue;
    draft.add(PhaseEnded{flow.specs[i].name, PhaseStatus::cancelled, OutputFrom::nothing,
                         "the flow has failed"});
  }
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) settle_phase(draft, i);
}

// The first failure, where none is remembered: phases were run again since.
void stop_failed(Draft& draft) {
  if (const auto* failing = std::get_if<Failing>(&draft.instance(kRootInstance).phase)) {
    const Failing why = *failing;
    return draft.stop(why.status, why.reason, why.detail);
  }
  const FlowState& flow = draft.state.flow;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    if (!has_failed(flow.specs[i], flow.runs[i])) continue;
    return draft.stop(RunStatus::failed, StopReason::phase,
                      in_few_words("phase " + flow.specs[i].name + ": " + flow.runs[i].why));
  }
  draft.stop(RunStatus::failed, StopReason::phase, "no phase can begin");
}

void end_flow(Draft& draft) {
  if (is_failing(draft)) return stop_failed(draft);
  const FlowState& flow = draft.state.flow;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    if (!lets_go_on(flow.specs[i], flow.runs[i].status)) return stop_failed(draft);
  }
  if (is_flow_held_by_gate(draft)) return;
  const std::string output = output_of_flow(flow);
  const auto value = parse_json(output);
  const std::string text = value ? inserted(*value) : output;
  if (text.size() > kFlowOutputBytesMax) {
    return draft.stop(RunStatus::failed, StopReason::phase,
                      "the output of the flow has " + std::to_string(text.size()) +
                          " bytes; it may have " + std::to_string(kFlowOutputBytesMax));
  }
  draft.add(FlowEnded{Content(text)});
  draft.stop(RunStatus::done, StopReason::end_turn, "");
}

// The record has room for no more births.
class Births {
 public:
  explicit Births(const Draft& draft) : born_(draft.state.instances_minted) {}
  bool has_room(const Draft& draft) const {
    const std::uint32_t born = draft.state.instances_minted - born_;
    if (born >= kFlowBirthsPerRecord) return false;
    return live_count(draft.state) <= draft.state.limits.branches &&
           draft.input_bytes() < kFlowBirthBytesPerRecord;
  }

 private:
  std::uint32_t born_;
};

bool begins_agent(const Draft& draft) {
  return draft.state.begin_held == Presence::present ||
         open_of(draft.state, EffectKind::begin_agent) != nullptr;
}

}  // namespace

void begin_phase(Draft& draft, std::uint32_t phase) {
  const PhaseSpec& spec = draft.state.flow.specs[phase];
  if (!is_wanted(draft.state.flow, spec)) {
    return end_phase(draft, phase, PhaseStatus::left_out, OutputFrom::nothing);
  }
  if (!spec.checkpoint.empty()) return ask_at_checkpoint(draft, phase);
  if (spec.await) return begin_await(draft, phase);
  begin_work(draft, phase);
}

void end_phase(Draft& draft, std::uint32_t phase, PhaseStatus status, OutputFrom from,
               std::string why, std::uint64_t events) {
  draft.add(PhaseEnded{draft.state.flow.specs[phase].name, status, from, std::move(why), events});
}

void fail_phase(Draft& draft, std::uint32_t phase, PhaseStatus status, std::string why) {
  const bool optional = draft.state.flow.specs[phase].need == PhaseNeed::optional;
  end_phase(draft, phase, status, optional ? OutputFrom::fallback : OutputFrom::nothing,
            in_few_words(why));
  if (!optional) fail_flow(draft, phase, why);
}

void settle_phase(Draft& draft, std::uint32_t phase) {
  if (draft.ending()) return;
  const PhaseRun& run = draft.state.flow.runs[phase];
  if (run.status != PhaseStatus::running || run.live > 0) return;
  const PhaseSpec& spec = draft.state.flow.specs[phase];
  if (run.own == SeatEnd::failed) {
    const std::string why = run.why;
    return fail_phase(draft, phase, PhaseStatus::failed, why);
  }
  const bool through = run.own == SeatEnd::done && run.found_next == run.found.size();
  if (through && run.map && run.map->output_bytes > kMapOutputBytesMax) {
    return fail_phase(draft, phase, PhaseStatus::failed,
                      "the outputs of its items have more than " +
                          std::to_string(kMapOutputBytesMax) + " bytes together");
  }
  if (through) return end_phase(draft, phase, PhaseStatus::done, OutputFrom::own);
  // What has not begun does not begin any more.
  const bool stuck = is_failing(draft) || !may_begin(spec, run);
  if (!stuck) return;
  end_phase(draft, phase, PhaseStatus::cancelled, OutputFrom::nothing, "the flow has failed");
}

void take_awaited(Draft& draft, std::uint32_t phase) {
  const FlowState& flow = draft.state.flow;
  const AwaitSpec& await = *flow.specs[phase].await;
  const auto count = static_cast<std::uint64_t>(
      std::count_if(flow.events.begin(), flow.events.end(),
                    [&await](const KeptEvent& one) { return one.event == await.event; }));
  if (count == 0) return;
  end_phase(draft, phase, PhaseStatus::done, OutputFrom::events, "",
            await.batch == Batch::all ? count : 1);
}

void expire_awaits(Draft& draft) {
  if (draft.ending() || !has_flow(draft.state)) return;
  const FlowState& flow = draft.state.flow;
  for (std::uint32_t i = 0; i < flow.specs.size() && flow.waiting > 0; ++i) {
    if (!has_waited_enough(flow.runs[i], draft.stamp.at_ms, draft.stamp.elapsed_ms)) continue;
    fail_phase(draft, i, PhaseStatus::failed,
               "the event " + flow.specs[i].await->event + " did not come in time");
  }
}

void go_on_with_flow(Draft& draft) {
  if (!draft.going() || begins_agent(draft)) return;
  const Births births(draft);
  const FlowState& flow = draft.state.flow;
  while (draft.going() && !is_failing(draft)) {
    if (!flow.ready.empty()) {
      begin_phase(draft, flow.ready.front());
    } else if (!flow.queue.empty() && births.has_room(draft)) {
      take_seat(draft, flow.queue.front());
    } else {
      break;
    }
  }
  if (!draft.going()) return;
  const bool idle = draft.instance(kRootInstance).workers == 0 && flow.waiting == 0;
  if (idle && (is_failing(draft) || (flow.ready.empty() && flow.queue.empty()))) end_flow(draft);
}

}  // namespace pawl
