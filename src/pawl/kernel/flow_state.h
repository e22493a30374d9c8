// What a run keeps of its flow while it runs, and of its work items. A part of run.h. What an event
// touches is found by number: nothing looks at all items of a map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/events.h"

namespace pawl {

// The name of a call that stands for a checkpoint; no tool has it.
inline constexpr std::string_view kCheckpointTool = "checkpoint";

// Items of a map with one key, in their order.
struct MapLane {
  std::vector<std::uint32_t> items;
  std::uint32_t next = 0;  // the place of the first that has not begun
  std::uint32_t running = 0;

  PAWL_FACT(MapLane, "map_lane", PAWL_FIELD(items) PAWL_FIELD(next) PAWL_FIELD(running));
};

struct MapRun {
  std::vector<std::string> items;    // JSON
  std::vector<std::string> outputs;  // JSON, by item; empty: there is none yet
  std::vector<std::uint32_t> lane_of;
  std::vector<MapLane> lanes;        // the first is for items without a key, and has no bound
  std::vector<std::uint32_t> heads;  // lanes that may begin an item: a heap, the first item on top
  std::uint32_t running = 0;
  std::uint32_t ended = 0;
  std::uint32_t failed = 0;
  std::uint64_t output_bytes = 0;

  PAWL_FACT(MapRun, "map_run",
            PAWL_FIELD(items) PAWL_FIELD(outputs) PAWL_FIELD(lane_of) PAWL_FIELD(lanes)
                PAWL_FIELD(heads) PAWL_FIELD(running) PAWL_FIELD(ended) PAWL_FIELD(failed)
                    PAWL_FIELD(output_bytes));
};

struct FoundStep {
  std::string node;
  std::string input;
  std::uint32_t depth = 1;
  PhaseStatus status = PhaseStatus::pending;
  std::string output = {};  // JSON; empty: null

  PAWL_FACT(FoundStep, "found_step",
            PAWL_FIELD(node) PAWL_FIELD(input) PAWL_FIELD(depth) PAWL_FIELD(status)
                PAWL_FIELD(output));
};

struct PhaseRun {
  PhaseStatus status = PhaseStatus::pending;
  std::uint32_t unsettled = 0;  // phases that it comes after, and that have not let it begin
  std::uint32_t live = 0;       // instances of it
  SeatEnd own = SeatEnd::not_yet;
  Presence begun = Presence::absent;   // its own instance was there
  Presence queued = Presence::absent;  // it could begin an instance
  std::string output = {};             // JSON; empty: null. Of a map that is done: see its items
  std::string why = {};
  std::optional<MapRun> map = {};
  std::vector<FoundStep> found = {};
  std::uint32_t found_next = 0;  // the first that has not begun
  CallId call{};                 // of a checkpoint
  std::int64_t until_at_ms = 0;  // of an await
  std::uint64_t until_elapsed_ms = 0;

  PAWL_FACT(PhaseRun, "phase_run",
            PAWL_FIELD(status) PAWL_FIELD(unsettled) PAWL_FIELD(live) PAWL_FIELD(own)
                PAWL_FIELD(begun) PAWL_FIELD(queued) PAWL_FIELD(output) PAWL_FIELD(why)
                    PAWL_FIELD(map) PAWL_FIELD(found) PAWL_FIELD(found_next) PAWL_FIELD(call)
                        PAWL_FIELD(until_at_ms) PAWL_FIELD(until_elapsed_ms));
};

struct KeptEvent {
  std::string event;
  std::string payload;  // JSON

  PAWL_FACT(KeptEvent, "kept_event", PAWL_FIELD(event) PAWL_FIELD(payload));
};

struct FlowState {
  std::vector<PhaseSpec> specs;  // none: the run has no flow
  std::vector<PhaseRun> runs;    // of the same places
  std::string input;
  std::vector<Variable> variables;
  std::vector<std::uint32_t> ready;        // nothing holds them back any more
  std::vector<std::uint32_t> queue;        // they could begin an instance, if there is room
  std::vector<KeptEvent> events;           // the oldest first
  std::uint32_t waiting = 0;               // phases that wait for a person or an event
  std::optional<std::uint32_t> last = {};  // the phase whose instance has ended last

  PAWL_FACT(FlowState, "flow_state",
            PAWL_FIELD(specs) PAWL_FIELD(runs) PAWL_FIELD(input) PAWL_FIELD(variables)
                PAWL_FIELD(ready) PAWL_FIELD(queue) PAWL_FIELD(events) PAWL_FIELD(waiting)
                    PAWL_FIELD(last));
};

struct WorkState {
  std::optional<GateSpec> gate;  // nullopt: work items are not kept
  std::vector<WorkItem> items;   // w1, w2, …
  std::uint32_t open = 0;
  std::uint32_t held = 0;  // how often in a row the run's end was held without a change

  PAWL_FACT(WorkState, "work_state",
            PAWL_FIELD(gate) PAWL_FIELD(items) PAWL_FIELD(open) PAWL_FIELD(held));
};

// What an instance does for a phase of the flow.
struct Seat {
  std::uint32_t phase = 0;  // its place
  SeatRole role = SeatRole::own;
  std::uint64_t number = 0;
  std::uint64_t steps = 0;         // that it has begun
  EndedHow how = EndedHow::ceded;  // an agent carries it out: how its run has ended

  PAWL_FACT(Seat, "seat",
            PAWL_FIELD(phase) PAWL_FIELD(role) PAWL_FIELD(number) PAWL_FIELD(steps)
                PAWL_FIELD(how));
};

struct RunState;
struct Instance;

// A run beneath this one carries out what the instance is there for.
bool is_agent_seat(const RunState& state, const Instance& instance);
// Its phases are carried out by workers of the root, which never acts.
bool has_flow(const RunState& state);
// Something of the flow could begin now, and waits for nothing but a record.
bool flow_may_go_on(const RunState& state);
// A phase has awaited an event for as long as it may.
bool has_waited_enough(const PhaseRun& run, std::int64_t at_ms, std::uint64_t elapsed_ms);
// nullopt: the flow has no such phase.
std::optional<std::uint32_t> place_of(const FlowState& flow, std::string_view phase);
// The phase whose checkpoint this call is.
std::optional<std::uint32_t> phase_of_call(const FlowState& flow, CallId call);
bool is_settled(PhaseStatus status);
// It has ended in a way that what comes after it may begin.
bool lets_go_on(const PhaseSpec& spec, PhaseStatus status);
// It would begin an instance if there were room.
bool may_begin(const PhaseSpec& spec, const PhaseRun& run);
bool has_failed(const PhaseSpec& spec, const PhaseRun& run);
// That depend on the phase, the phase itself included.
std::vector<std::uint32_t> dependents_of(const FlowState& flow, std::uint32_t phase);
// The item of a map that begins next, which is there.
std::uint32_t next_item(const MapRun& map);

}  // namespace pawl
