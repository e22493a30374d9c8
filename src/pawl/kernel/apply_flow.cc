// What events and decisions about flows and work items change in a run.
#include <algorithm>

#include "pawl/json.h"
#include "pawl/kernel/apply.h"
#include "pawl/kernel/flow_values.h"

namespace pawl {
namespace {

std::string as_json(std::string_view text, OutputKind kind) {
  if (kind == OutputKind::json) {
    if (const auto value = parse_json(text)) return write_json(*value);
  }
  std::string json;
  append_json_string(json, text);
  return json;
}

// The lane of the heap's top is the one whose next item is the first.
struct LaterItem {
  const std::vector<MapLane>& lanes;
  std::uint32_t first(std::uint32_t lane) const { return lanes[lane].items[lanes[lane].next]; }
  bool operator()(std::uint32_t a, std::uint32_t b) const { return first(a) > first(b); }
};

bool is_open(const MapRun& map, std::uint32_t lane, std::uint32_t per_key_max) {
  const MapLane& one = map.lanes[lane];
  const bool room = lane == 0 || one.running < per_key_max;
  return room && one.next < one.items.size();
}

void push_lane(MapRun& map, std::uint32_t lane) {
  map.heads.push_back(lane);
  std::push_heap(map.heads.begin(), map.heads.end(), LaterItem{map.lanes});
}

void begin_item(MapRun& map, std::uint32_t per_key_max) {
  std::pop_heap(map.heads.begin(), map.heads.end(), LaterItem{map.lanes});
  const std::uint32_t lane = map.heads.back();
  map.heads.pop_back();
  ++map.lanes[lane].next;
  ++map.lanes[lane].running;
  ++map.running;
  if (is_open(map, lane, per_key_max)) push_lane(map, lane);
}

void end_item(MapRun& map, std::uint64_t item, std::uint32_t per_key_max) {
  const std::uint32_t lane = map.lane_of.at(item);
  const bool listed = is_open(map, lane, per_key_max);
  --map.lanes[lane].running;
  --map.running;
  if (!listed && is_open(map, lane, per_key_max)) push_lane(map, lane);
}

}  // namespace

void Applier::start_flow(const RunStarted& event) {
  FlowState& flow = state_.flow;
  flow.specs = event.phases;
  flow.runs.resize(flow.specs.size());
  if (const std::string* input = event.input.bytes()) flow.input = *input;
  flow.variables = event.variables;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    flow.runs[i].unsettled = static_cast<std::uint32_t>(flow.specs[i].after.size());
    if (flow.runs[i].unsettled == 0) flow.ready.push_back(i);
  }
  set_phase(instance(kRootInstance), Flowing{});
}

std::uint32_t Applier::place(const std::string& phase) {
  if (const auto found = place_of(state_.flow, phase)) return *found;
  fail("no phase " + phase);
  if (state_.flow.specs.empty()) {
    state_.flow.specs.emplace_back();
    state_.flow.runs.emplace_back();
  }
  return 0;
}

void Applier::queue_phase(std::uint32_t phase) {
  FlowState& flow = state_.flow;
  PhaseRun& run = flow.runs[phase];
  const bool queued = run.queued == Presence::present;
  const bool wanted = may_begin(flow.specs[phase], run);
  if (queued == wanted) return;
  run.queued = wanted ? Presence::present : Presence::absent;
  if (wanted) return flow.queue.push_back(phase);
  std::erase(flow.queue, phase);
}

void Applier::let_followers_go(std::uint32_t phase) {
  FlowState& flow = state_.flow;
  const std::string& name = flow.specs[phase].name;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    const auto& after = flow.specs[i].after;
    if (std::find(after.begin(), after.end(), name) == after.end()) continue;
    PhaseRun& run = flow.runs[i];
    if (run.unsettled == 0) continue;
    if (--run.unsettled == 0 && run.status == PhaseStatus::pending) flow.ready.push_back(i);
  }
}

// --- Events --------------------------------------------------------------------------------------

void Applier::on(const PhaseControlled&) {
  if (std::holds_alternative<Finished>(state_.life)) reopen();
}

void Applier::on(const EventReceived& event) {
  const std::string* json = event.payload.bytes();
  const bool none = json == nullptr || json->empty();
  state_.flow.events.push_back({event.event, none ? "null" : as_json(*json, OutputKind::json)});
}

// --- Phases --------------------------------------------------------------------------------------

void Applier::on(const PhaseBegan& decision) {
  FlowState& flow = state_.flow;
  const std::uint32_t phase = place(decision.phase);
  const PhaseSpec& spec = flow.specs[phase];
  PhaseRun& run = phase_run(phase);
  std::erase(flow.ready, phase);
  run.status = decision.status;
  run.until_at_ms = decision.until_at_ms;
  run.until_elapsed_ms = decision.until_elapsed_ms;
  if (decision.status == PhaseStatus::waiting) ++flow.waiting;
  if (spec.map) {
    auto map = map_over(flow, *spec.map);
    if (!map) return fail(decision.phase + ": " + map.error().message);
    run.map = *std::move(map);
    for (std::uint32_t lane = 0; lane < run.map->lanes.size(); ++lane) {
      if (!run.map->lanes[lane].items.empty()) push_lane(*run.map, lane);
    }
    if (run.map->items.empty()) run.own = SeatEnd::done;
  }
  queue_phase(phase);
}

void Applier::take_events(PhaseRun& run, const PhaseSpec& spec, std::uint64_t count) {
  std::vector<KeptEvent>& events = state_.flow.events;
  const bool batch = spec.await && spec.await->batch == Batch::all;
  std::string list;
  std::erase_if(events, [&](const KeptEvent& one) {
    if (count == 0 || !spec.await || one.event != spec.await->event) return false;
    --count;
    list += (list.empty() ? "" : ",") + one.payload;
    return true;
  });
  if (count > 0) return fail("fewer events wait");
  run.output = batch ? "[" + list + "]" : list;
}

void Applier::on(const PhaseEnded& decision) {
  FlowState& flow = state_.flow;
  const std::uint32_t phase = place(decision.phase);
  const PhaseSpec& spec = flow.specs[phase];
  PhaseRun& run = phase_run(phase);
  if (run.status == PhaseStatus::waiting && flow.waiting > 0) --flow.waiting;
  std::erase(flow.ready, phase);
  if (run.call != CallId{}) {
    std::erase_if(state_.calls, [&run](const Call& one) { return one.id == run.call; });
    run.call = {};
  }
  run.status = decision.status;
  run.why = decision.why;
  switch (decision.from) {
    case OutputFrom::own:
      break;
    case OutputFrom::nothing:
      run.output.clear();
      break;
    case OutputFrom::fallback:
      run.output = spec.fallback;
      break;
    case OutputFrom::before:
      run.output = output_before(flow, phase);
      break;
    case OutputFrom::answer:
      if (const auto* decided = std::get_if<CallDecided>(&record_.event)) {
        const std::string* text = decided->text.bytes();
        if (text != nullptr) run.output = as_json(*text, OutputKind::text);
      }
      break;
    case OutputFrom::events:
      take_events(run, spec, decision.events);
      break;
  }
  queue_phase(phase);
  if (lets_go_on(spec, run.status)) let_followers_go(phase);
}

void Applier::on(const PhasesReset& decision) {
  FlowState& flow = state_.flow;
  std::vector<std::uint32_t> reset;
  for (const std::string& one : decision.phases) reset.push_back(place(one));
  for (const std::uint32_t phase : reset) {
    PhaseRun& run = phase_run(phase);
    if (run.status == PhaseStatus::waiting && flow.waiting > 0) --flow.waiting;
    std::erase_if(state_.calls,
                  [&run](const Call& one) { return run.call != CallId{} && one.id == run.call; });
    std::erase(flow.ready, phase);
    std::erase(flow.queue, phase);
    run = {};
  }
  for (const std::uint32_t phase : reset) {
    for (const std::string& name : flow.specs[phase].after) {
      const std::uint32_t before = place(name);
      if (!lets_go_on(flow.specs[before], flow.runs[before].status)) ++phase_run(phase).unsettled;
    }
    if (phase_run(phase).unsettled == 0) flow.ready.push_back(phase);
  }
  Instance& root = instance(kRootInstance);
  if (std::holds_alternative<Failing>(root.phase)) set_phase(root, Flowing{});
}

void Applier::on(const CheckpointAsked& decision) {
  Call one;
  one.id = decision.call;
  one.tool = kCheckpointTool;
  one.seq = record_.seq;
  one.state = CallAwaitingPerson{InterruptKind::custom, decision.binding, 0, 0, record_.seq};
  state_.calls.push_back(std::move(one));
  state_.calls_minted = std::max(state_.calls_minted, static_cast<std::uint64_t>(decision.call));
  phase_run(place(decision.phase)).call = decision.call;
}

// --- Instances of phases -------------------------------------------------------------------------

void Applier::on(const SeatTaken& decision) {
  const std::uint32_t phase = place(decision.phase);
  PhaseRun& run = phase_run(phase);
  instance(decision.instance).seat = Seat{phase, decision.role, decision.number, 0};
  ++run.live;
  switch (decision.role) {
    case SeatRole::own:
      run.begun = Presence::present;
      break;
    case SeatRole::item:
      if (!run.map || run.map->heads.empty()) return fail("no item of the map waits");
      begin_item(*run.map, state_.flow.specs[phase].map->per_key_max);
      break;
    case SeatRole::found:
      if (decision.number >= run.found.size()) return fail("no step was found");
      run.found[decision.number].status = PhaseStatus::running;
      run.found_next = static_cast<std::uint32_t>(decision.number) + 1;
      break;
    case SeatRole::asked:
      break;
  }
  queue_phase(phase);
}

void Applier::on(const SeatCalled& decision) {
  Call one;
  one.id = decision.call;
  one.instance = decision.instance;
  one.tool = decision.tool;
  one.seq = record_.seq;
  one.state = CallWaiting{};
  state_.calls.push_back(std::move(one));
  state_.calls_minted = std::max(state_.calls_minted, static_cast<std::uint64_t>(decision.call));
  ++state_.tally.tool_calls;
  set_phase(instance(decision.instance), AwaitingTools{});
}

// When the run goes on, it may be in a later record.
void Applier::end_agent_seat(const Call& call, EndedHow how, std::optional<Content> words) {
  Instance& where = instance(call.instance);
  if (!is_agent_seat(state_, where)) return;
  where.seat->how = how;
  where.last_words = words ? *std::move(words) : Content();
}

void Applier::take_item_output(PhaseRun& run, const MapSpec& spec, const Seat& seat,
                               std::string output, SeatEnd end) {
  MapRun& map = *run.map;
  if (seat.number >= map.outputs.size()) return fail("no such item");
  map.output_bytes += output.size();
  map.outputs[seat.number] = std::move(output);
  ++map.ended;
  if (end == SeatEnd::failed) ++map.failed;
  if (map.failed > spec.tolerate) {
    run.own = SeatEnd::failed;
  } else if (map.ended == map.items.size()) {
    run.own = SeatEnd::done;
  }
}

void Applier::on(const SeatLeft& decision) {
  const Instance& where = instance(decision.instance);
  if (!where.seat || where.seat->phase >= state_.flow.runs.size()) return fail("it has no seat");
  const Seat seat = *where.seat;
  PhaseRun& run = phase_run(seat.phase);
  const bool failed = decision.end == SeatEnd::failed;
  const Content& said = decision.output ? *decision.output : where.last_words;
  std::string output;
  if (failed) {
    output = R"({"error":)" + as_json(decision.why, OutputKind::text) + "}";
  } else if (const std::string* text = said.bytes()) {
    output = as_json(*text, decision.kind);
  }
  if (seat.role == SeatRole::asked) return;
  if (failed && run.why.empty()) run.why = decision.why;
  if (seat.role == SeatRole::item && run.map) {
    take_item_output(run, *state_.flow.specs[seat.phase].map, seat, std::move(output),
                     decision.end);
  } else if (seat.role == SeatRole::found && seat.number < run.found.size()) {
    FoundStep& step = run.found[seat.number];
    step.status = failed ? PhaseStatus::failed : PhaseStatus::done;
    step.output = std::move(output);
    if (failed) run.own = SeatEnd::failed;
  } else {
    run.own = decision.end;
    if (!failed) run.output = std::move(output);
  }
  queue_phase(seat.phase);
}

// However it ends, there is room again.
void Applier::leave_seat(const Instance& where) {
  const Seat& seat = *where.seat;
  if (seat.phase >= state_.flow.runs.size()) return;
  PhaseRun& run = phase_run(seat.phase);
  if (run.live > 0) --run.live;
  if (!is_agent_seat(state_, where)) state_.flow.last = seat.phase;
  if (seat.role == SeatRole::item && run.map && seat.number < run.map->items.size()) {
    end_item(*run.map, seat.number, state_.flow.specs[seat.phase].map->per_key_max);
  }
  queue_phase(seat.phase);
}

void Applier::on(const StepDiscovered& decision) {
  const std::uint32_t phase = place(decision.phase);
  phase_run(phase).found.push_back({decision.node, decision.input, decision.depth});
  queue_phase(phase);
}

void Applier::on(const FlowEnded&) {
  instance(kRootInstance).last_text = record_.seq;
}

// --- Work items ----------------------------------------------------------------------------------

void Applier::on(const WorkItemSet& decision) {
  WorkState& work = state_.work;
  const auto known = std::find_if(work.items.begin(), work.items.end(),
                                  [&](const WorkItem& one) { return one.id == decision.item.id; });
  if (known != work.items.end() && known->status == WorkStatus::open && work.open > 0) --work.open;
  if (known == work.items.end()) {
    work.items.push_back(decision.item);
  } else {
    *known = decision.item;
  }
  if (decision.item.status == WorkStatus::open) ++work.open;
  work.held = 0;
}

void Applier::on(const EndingHeld& decision) {
  state_.work.held = decision.times;
}

}  // namespace pawl
