// Facts about flows, gates and work items: a part of events.h and of decisions.h, with the lists of
// which they are declared there. Phases are named as the charter names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/words.h"

namespace pawl {

inline constexpr std::size_t kFlowInputBytesMax = 256U << 10U;
// A value that a phase hands on, and what a prompt becomes with the values in it.
inline constexpr std::size_t kFlowOutputBytesMax = 448U << 10U;
inline constexpr std::size_t kFlowPromptBytesMax = 256U << 10U;
inline constexpr std::size_t kMapOutputBytesMax = 32U << 20U;  // of all items of a phase
inline constexpr std::size_t kFlowEventsMax = 1'024;           // that wait in a run
inline constexpr std::size_t kFlowEventBytesMax = 64U << 10U;
inline constexpr std::size_t kWorkItemsMax = 1'024;
inline constexpr std::size_t kWorkTextBytesMax = 4'096;
inline constexpr std::size_t kFoundStepsMax = 1'024;  // of a phase, whatever its node says
inline constexpr std::size_t kFoundTextBytesMax = 16U << 10U;
// A record has room for so much; the rest begins with the next one, which is due at once.
inline constexpr std::size_t kFlowBirthsPerRecord = 256;
inline constexpr std::size_t kFlowBirthBytesPerRecord = 128U << 10U;

// --- Events --------------------------------------------------------------------------------------

enum class PhaseAction : std::uint8_t { skip, rerun, cancel, abandon, start };
std::string_view name(PhaseAction value);
Result<PhaseAction> parse_phase_action(std::string_view text);

// A person steers a phase.
struct PhaseControlled {
  std::string phase;
  PhaseAction action = PhaseAction::skip;
  std::string by;

  PAWL_FACT(PhaseControlled, "phase_controlled",
            PAWL_FIELD(phase) PAWL_FIELD(action) PAWL_FIELD(by));
};

// What phases await from outside. It is kept until one takes it, or the run ends.
struct EventReceived {
  std::string event;
  Content payload;  // JSON; empty: null
  std::string by;

  PAWL_FACT(EventReceived, "event_received", PAWL_FIELD(event) PAWL_FIELD(payload) PAWL_FIELD(by));
};

// --- Phases --------------------------------------------------------------------------------------

// In the words of `pawl tree`.
enum class PhaseStatus : std::uint8_t {
  pending,
  running,
  waiting,
  done,
  failed,
  skipped,
  left_out,
  cancelled,
  abandoned,
};
std::string_view name(PhaseStatus value);

// The phase runs, or waits for a person or an event from now on.
struct PhaseBegan {
  std::string phase;
  PhaseStatus status = PhaseStatus::running;
  std::int64_t until_at_ms = 0;  // await: when it has waited long enough; 0: never
  std::uint64_t until_elapsed_ms = 0;

  PAWL_FACT(PhaseBegan, "phase_began",
            PAWL_FIELD(phase) PAWL_FIELD(status) PAWL_FIELD(until_at_ms)
                PAWL_FIELD(until_elapsed_ms));
};

// Where the output of a phase comes from.
enum class OutputFrom : std::uint8_t {
  nothing,   // it is null
  own,       // its instances
  before,    // the phases that it came after: an approved checkpoint
  answer,    // the event: a person's
  events,    // those that were awaited
  fallback,  // its charter: it was optional, and failed
};
std::string_view name(OutputFrom value);

struct PhaseEnded {
  std::string phase;
  PhaseStatus status = PhaseStatus::done;
  OutputFrom from = OutputFrom::nothing;
  std::string why = {};      // it failed
  std::uint64_t events = 0;  // that it takes, the oldest first

  PAWL_FACT(PhaseEnded, "phase_ended",
            PAWL_FIELD(phase) PAWL_FIELD(status) PAWL_FIELD(from) PAWL_FIELD(why)
                PAWL_FIELD(events));
};

// A phase, and all that depends on it, is to run again.
struct PhasesReset {
  std::vector<std::string> phases;

  PAWL_FACT(PhasesReset, "phases_reset", PAWL_FIELD(phases));
};

// A question to a person: they approve, deny or answer this call.
struct CheckpointAsked {
  std::string phase;
  CallId call{};
  Digest binding;  // of what is shown

  PAWL_FACT(CheckpointAsked, "checkpoint_asked",
            PAWL_FIELD(phase) PAWL_FIELD(call) PAWL_FIELD(binding));
};

// What an instance does for a phase.
enum class SeatRole : std::uint8_t {
  own,    // it is the phase
  item,   // one of those that it is mapped over
  found,  // a step that was discovered
  asked,  // it is asked about open work items, when the phases are through
};
std::string_view name(SeatRole value);

struct SeatTaken {
  InstanceId instance = kRootInstance;
  std::string phase;
  SeatRole role = SeatRole::own;
  std::uint64_t number = 0;  // of the item or the step, from 0

  PAWL_FACT(SeatTaken, "seat_taken",
            PAWL_FIELD(instance) PAWL_FIELD(phase) PAWL_FIELD(role) PAWL_FIELD(number));
};

// An agent carries out what the instance was born for with this record: a run beneath this one, by
// the one call that the instance makes. Its input is what the instance was told.
struct SeatCalled {
  InstanceId instance = kRootInstance;
  CallId call{};
  std::string tool;

  PAWL_FACT(SeatCalled, "seat_called", PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(tool));
};

enum class SeatEnd : std::uint8_t { not_yet, done, failed };
std::string_view name(SeatEnd value);
enum class OutputKind : std::uint8_t { text, json };
std::string_view name(OutputKind value);

// What came of it. The instance ends with the same record.
struct SeatLeft {
  InstanceId instance = kRootInstance;
  SeatEnd end = SeatEnd::done;
  OutputKind kind = OutputKind::text;
  std::optional<Content> output = {};  // nullopt: the last words of the instance
  std::string why = {};                // it failed

  PAWL_FACT(SeatLeft, "seat_left",
            PAWL_FIELD(instance) PAWL_FIELD(end) PAWL_FIELD(kind) PAWL_FIELD(output)
                PAWL_FIELD(why));
};

// A step that an instance found, to be carried out behind its phase.
struct StepDiscovered {
  std::string phase;
  std::string node;
  std::string input;
  std::string reason = {};
  std::uint32_t depth = 1;

  PAWL_FACT(StepDiscovered, "step_discovered",
            PAWL_FIELD(phase) PAWL_FIELD(node) PAWL_FIELD(input) PAWL_FIELD(reason)
                PAWL_FIELD(depth));
};

// All phases have ended, and this is what the run gives out.
struct FlowEnded {
  Content output;

  PAWL_FACT(FlowEnded, "flow_ended", PAWL_FIELD(output));
};

// --- Work items ----------------------------------------------------------------------------------

enum class WorkStatus : std::uint8_t { open, done, escalated };
std::string_view name(WorkStatus value);

struct WorkItem {
  std::string id;
  std::string title;
  WorkStatus status = WorkStatus::open;
  std::string reason = {};  // why it was escalated

  PAWL_FACT(WorkItem, "work_item",
            PAWL_FIELD(id) PAWL_FIELD(title) PAWL_FIELD(status) PAWL_FIELD(reason));
};

// A new one, or what became of one.
struct WorkItemSet {
  InstanceId instance = kRootInstance;
  WorkItem item;

  PAWL_FACT(WorkItemSet, "work_item_set", PAWL_FIELD(instance) PAWL_FIELD(item));
};

// The run does not end: items are open. So often in a row nothing has changed about any.
struct EndingHeld {
  std::uint32_t times = 0;

  PAWL_FACT(EndingHeld, "ending_held", PAWL_FIELD(times));
};

template <>
inline constexpr std::uint8_t kCount<PhaseAction> = 5;
template <>
inline constexpr std::uint8_t kCount<PhaseStatus> = 9;
template <>
inline constexpr std::uint8_t kCount<OutputFrom> = 6;
template <>
inline constexpr std::uint8_t kCount<SeatRole> = 4;
template <>
inline constexpr std::uint8_t kCount<SeatEnd> = 3;
template <>
inline constexpr std::uint8_t kCount<OutputKind> = 2;
template <>
inline constexpr std::uint8_t kCount<WorkStatus> = 3;

}  // namespace pawl
