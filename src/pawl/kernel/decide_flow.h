// What decides about flows and work items. Internal to the kernel.
#pragma once

#include <optional>
#include <string>

#include "pawl/kernel/decide_tree.h"

namespace pawl {

// Begins what nothing holds back any more, and ends the run when all phases are through. Every
// record of a run with a flow ends with it.
void go_on_with_flow(Draft& draft);

// The phase ends. Whatever follows from it follows at the end of the record.
void end_phase(Draft& draft, std::uint32_t phase, PhaseStatus status, OutputFrom from,
               std::string why = {}, std::uint64_t events = 0);
// It ends as failed, or cancelled: with its fallback if it is optional, else the flow fails.
void fail_phase(Draft& draft, std::uint32_t phase, PhaseStatus status, std::string why);
// All that its instances were to do is done, or one has failed.
void settle_phase(Draft& draft, std::uint32_t phase);
// The events that it awaits are there.
void take_awaited(Draft& draft, std::uint32_t phase);
// Phases that have waited for an event for long enough fail.
void expire_awaits(Draft& draft);
// Begins a phase whatever it comes after.
void begin_phase(Draft& draft, std::uint32_t phase);

// --- Instances of phases (decide_flow_seat.cc) ---------------------------------------------------

InstanceId seat_instance(Draft& draft, std::uint32_t phase, SeatRole role, std::uint64_t number,
                         const std::string& node, std::string prompt);
// Begins one more instance of a phase that may have one. False: the phase has failed instead.
bool take_seat(Draft& draft, std::uint32_t phase);
// The instance has ended with what it has to say; what lives below it is gone.
void end_seat(Draft& draft, InstanceId id, EndedHow how, const Content& content);
void cancel_seats(Draft& draft, std::uint32_t phase);
// It has taken as many steps as its phase allows.
bool is_at_phase_limit(const RunState& state, const Instance& instance);

// --- Controls (decide_flow_control.cc) -----------------------------------------------------------

// Why nothing of the sort can be done to the phase now; or empty.
std::string fault_of_control(const RunState& state, const PhaseControlled& event);
void take_control(Draft& draft, const PhaseControlled& event);
void take_checkpoint(Draft& draft, const CallDecided& event);

// --- Work items and discovered steps (decide_work.cc) --------------------------------------------

bool is_work_tool(std::string_view tool);
// What a call of one of these tools answers. An error: it is refused in words.
Result<std::string> take_work_call(Draft& draft, InstanceId id, const CallBlock& call);
// True: the instance, with whose turn the run would end, is asked again, as items are open; or the
// run has failed because it was asked too often.
bool is_held_by_gate(Draft& draft, InstanceId id);
// The phases are through. True: items are open, and an instance of the last node is asked; or the
// run has failed.
bool is_flow_held_by_gate(Draft& draft);

}  // namespace pawl
