// What people do to phases: controls, decisions at checkpoints, events.
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/machine.h"

namespace pawl {
namespace {

std::string refused_in(std::string_view what, const PhaseSpec& spec, const PhaseRun& run) {
  return "phase " + spec.name + " is " + std::string(name(run.status)) + ": " + std::string(what);
}

bool is_under_way(const PhaseRun& run) {
  return run.status == PhaseStatus::running || run.status == PhaseStatus::waiting;
}

void rerun(Draft& draft, std::uint32_t phase) {
  const std::vector<std::uint32_t> again = dependents_of(draft.state.flow, phase);
  PhasesReset reset;
  for (const std::uint32_t one : again) {
    cancel_seats(draft, one);
    reset.phases.push_back(draft.state.flow.specs[one].name);
  }
  draft.add(std::move(reset));
}

}  // namespace

std::string fault_of_control(const RunState& state, const PhaseControlled& event) {
  const FlowState& flow = state.flow;
  if (flow.specs.empty()) return "the run has no flow";
  const auto place = place_of(flow, event.phase);
  if (!place) {
    std::string names;
    for (const PhaseSpec& spec : flow.specs) names += (names.empty() ? "" : ", ") + spec.name;
    return "there is no phase " + event.phase + "; there are " + in_few_words(names);
  }
  const PhaseSpec& spec = flow.specs[*place];
  const PhaseRun& run = flow.runs[*place];
  const bool over = std::holds_alternative<Finished>(state.life);
  const Instance* root = find_instance(state, kRootInstance);
  const bool failing = root != nullptr && std::holds_alternative<Failing>(root->phase);
  switch (event.action) {
    case PhaseAction::rerun:
      if (is_settled(run.status)) return "";
      return refused_in("only one that has ended is run again", spec, run);
    case PhaseAction::skip:
      if (over) return "the run is over; only rerun works now";
      if (run.status == PhaseStatus::pending) return "";
      return refused_in("only one that has not begun is skipped", spec, run);
    case PhaseAction::start:
      if (over) return "the run is over; only rerun works now";
      if (failing) return "the flow has failed, and nothing begins any more; rerun what failed";
      if (run.status == PhaseStatus::pending) return "";
      return refused_in("only one that has not begun is started", spec, run);
    case PhaseAction::cancel:
    case PhaseAction::abandon:
      if (over) return "the run is over; only rerun works now";
      if (is_under_way(run)) return "";
      return refused_in(run.status == PhaseStatus::pending ? "it has not begun; skip leaves it out"
                                                           : "it has ended",
                        spec, run);
  }
  return "";
}

void take_control(Draft& draft, const PhaseControlled& event) {
  const auto place = place_of(draft.state.flow, event.phase);
  PAWL_ASSERT(place.has_value());
  switch (event.action) {
    case PhaseAction::skip:
      return end_phase(draft, *place, PhaseStatus::skipped, OutputFrom::nothing);
    case PhaseAction::start:
      return begin_phase(draft, *place);
    case PhaseAction::rerun:
      return rerun(draft, *place);
    case PhaseAction::cancel:
      cancel_seats(draft, *place);
      return fail_phase(draft, *place, PhaseStatus::cancelled, "cancelled by " + event.by);
    case PhaseAction::abandon:
      cancel_seats(draft, *place);
      return end_phase(draft, *place, PhaseStatus::abandoned, OutputFrom::nothing);
  }
}

void take_checkpoint(Draft& draft, const CallDecided& event) {
  const auto place = phase_of_call(draft.state.flow, event.call);
  PAWL_ASSERT(place.has_value());
  switch (event.decision) {
    case InterruptDecision::approve:
      return end_phase(draft, *place, PhaseStatus::done, OutputFrom::before);
    case InterruptDecision::input:
      return end_phase(draft, *place, PhaseStatus::done, OutputFrom::answer);
    case InterruptDecision::reject:
      break;
  }
  const std::string* why = event.text.bytes();
  const bool said = why != nullptr && !why->empty();
  fail_phase(draft, *place, PhaseStatus::failed,
             std::string(draft.rules.say.denied_by) + event.by +
                 (said ? ": " + *why : std::string(draft.rules.say.no_reason)));
}

void take(Draft& draft, const PhaseControlled& event) {
  if (const auto bound = draft.crossed()) return draft.stop_at(*bound);
  take_control(draft, event);
  take_up_again(draft);
}

void take(Draft& draft, const EventReceived& event) {
  if (const auto bound = draft.crossed()) return draft.stop_at(*bound);
  const FlowState& flow = draft.state.flow;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    const bool awaits = flow.runs[i].status == PhaseStatus::waiting && flow.specs[i].await &&
                        flow.specs[i].await->event == event.event;
    if (awaits) return take_awaited(draft, i);
  }
}

}  // namespace pawl
