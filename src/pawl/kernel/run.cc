#include "pawl/kernel/run.h"

#include <algorithm>

namespace pawl {
namespace {

template <class Items, class Id>
auto* find_by_id(Items& items, Id id) {
  const auto found =
      std::find_if(items.begin(), items.end(), [id](const auto& item) { return item.id == id; });
  return found == items.end() ? nullptr : &*found;
}

bool any_phase_acts(const RunState& state) {
  return std::any_of(state.instances.begin(), state.instances.end(), [](const Instance& instance) {
    return std::holds_alternative<BackingOff>(instance.phase);
  });
}

bool any_in_doubt(const RunState& state) {
  return std::any_of(state.calls.begin(), state.calls.end(), [](const Call& call) {
    return std::holds_alternative<CallDoubtful>(call.state);
  });
}

// The end's own callbacks run: they are waited for, however long they take.
bool is_winding_up(const RunState& state) {
  return std::any_of(state.open.begin(), state.open.end(),
                     [](const OpenEffect& effect) { return effect.kind == EffectKind::end_agent; });
}

std::uint64_t deadline(const RunState& state) {
  const std::uint64_t used = std::min(state.tally.active_ms, state.limits.time_ms);
  return add_saturating(state.elapsed_ms, state.limits.time_ms - used);
}

}  // namespace

const Instance* find_instance(const RunState& state, InstanceId id) {
  return find_by_id(state.instances, id);
}

const Call* find_call(const RunState& state, CallId id) {
  return find_by_id(state.calls, id);
}

const OpenEffect* find_effect(const RunState& state, EffectId id) {
  return find_by_id(state.open, id);
}

const PinnedTool* find_tool(const RunState& state, std::string_view tool) {
  const auto found = std::find_if(state.tools.begin(), state.tools.end(),
                                  [tool](const PinnedTool& one) { return one.name == tool; });
  return found == state.tools.end() ? nullptr : &*found;
}

std::vector<CallId> calls_in_doubt(const RunState& state) {
  std::vector<CallId> calls;
  for (const Call& call : state.calls) {
    if (std::holds_alternative<CallDoubtful>(call.state)) calls.push_back(call.id);
  }
  return calls;
}

bool is_waiting(const RunState& state) {
  if (!std::holds_alternative<Live>(state.life)) return false;
  if (std::holds_alternative<Ending>(state.course)) return false;
  return state.open.empty() && !any_phase_acts(state);
}

bool wants_park(const RunState& state) {
  return state.parked == Parked::no && is_waiting(state);
}

WaitFor waits_for(const RunState& state) {
  if (!is_waiting(state)) return WaitFor::nothing;
  if (any_in_doubt(state)) return WaitFor::in_doubt;
  if (std::holds_alternative<Pausing>(state.course)) return WaitFor::paused;
  return WaitFor::event;
}

RunStatus status_of(const RunState& state) {
  if (std::holds_alternative<NotStarted>(state.life)) return RunStatus::queued;
  if (std::holds_alternative<Finished>(state.life)) return std::get<Ending>(state.course).status;
  return is_waiting(state) ? RunStatus::waiting : RunStatus::running;
}

StopReason stop_reason_of(const RunState& state) {
  const Ending* ending = std::get_if<Ending>(&state.course);
  return ending == nullptr ? StopReason::end_turn : ending->reason;
}

std::optional<std::uint64_t> wake_at(const RunState& state) {
  if (!std::holds_alternative<Live>(state.life) || is_waiting(state)) return std::nullopt;
  if (const Ending* ending = std::get_if<Ending>(&state.course)) {
    if (is_winding_up(state)) return std::nullopt;
    return add_saturating(ending->since_elapsed_ms, kEndingGraceMs);
  }
  std::uint64_t due = deadline(state);
  for (const Instance& instance : state.instances) {
    if (const BackingOff* phase = std::get_if<BackingOff>(&instance.phase)) {
      due = std::min(due, phase->until_elapsed_ms);
    }
  }
  return due;
}

std::string key_of(const RunState& state, CallId call) {
  // Length-prefixed, so that no two triples give the same bytes.
  std::string bytes = "pawl-key-1:" + std::to_string(state.tenant.size()) + ":" + state.tenant;
  bytes += ":" + std::to_string(state.id.text.size()) + ":" + state.id.text;
  bytes += ":" + std::to_string(static_cast<std::uint64_t>(call));
  return to_hex(sha256(bytes));
}

std::string_view name(EntryKind value) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "input", "past", "message", "assistant", "tool_result", "note", "ceded"};
  return kNames[static_cast<std::size_t>(value)];
}

std::string_view name(Parked value) {
  return value == Parked::yes ? "yes" : "no";
}

std::string_view name(WrapUp value) {
  return value == WrapUp::asked ? "asked" : "not_asked";
}

std::string_view name(EffectKind value) {
  static constexpr std::array<std::string_view, 5> kNames = {"model", "tool", "status",
                                                             "begin_agent", "end_agent"};
  return kNames[static_cast<std::size_t>(value)];
}

}  // namespace pawl
