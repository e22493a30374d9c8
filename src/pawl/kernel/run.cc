#include "pawl/kernel/run.h"

#include <algorithm>

#include "pawl/kernel/rules.h"

namespace pawl {
namespace {

constexpr std::size_t kUsualKeyBytes = 32;  // of what a key is made from, besides tenant and run

template <class Items, class Id>
auto* find_by_id(Items& items, Id id) {
  const auto found = std::lower_bound(items.begin(), items.end(), id,
                                      [](const auto& item, Id wanted) { return item.id < wanted; });
  return found == items.end() || found->id != id ? nullptr : &*found;
}

template <class P>
bool any_in(const RunState& state) {
  return std::any_of(state.instances.begin(), state.instances.end(), [](const Instance& instance) {
    return std::holds_alternative<P>(instance.phase);
  });
}

// Runs that it has started, and that wait.
bool waits_for_children(const RunState& state) {
  if (state.children.empty()) return false;
  return std::any_of(state.calls.begin(), state.calls.end(), [](const Call& call) {
    const auto* held = std::get_if<CallWaiting>(&call.state);
    return held != nullptr && held->held_for == HeldFor::child;
  });
}

bool any_in_doubt(const RunState& state) {
  return std::any_of(state.calls.begin(), state.calls.end(), [](const Call& call) {
    return std::holds_alternative<CallDoubtful>(call.state);
  });
}

// An approval before an answer: it stands for something that is to be done.
std::optional<WaitFor> wanted_of_people(const RunState& state) {
  std::optional<WaitFor> wanted;
  for (const Call& call : state.calls) {
    const auto* asked = std::get_if<CallAwaitingPerson>(&call.state);
    if (asked == nullptr) continue;
    if (asked->kind != InterruptKind::input) return WaitFor::approval;
    wanted = WaitFor::input;
  }
  return wanted;
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

std::uint64_t QuestionHour::asked_by(std::int64_t at_ms) const {
  constexpr std::int64_t kHourMs = 3'600'000;
  return at_ms - since_ms < kHourMs ? asked : 0;
}

const Instance* find_instance(const RunState& state, InstanceId id) {
  return find_by_id(state.instances, id);
}

const Call* find_call(const RunState& state, CallId id) {
  return find_by_id(state.calls, id);
}

const OpenEffect* find_effect(const RunState& state, EffectId id) {
  return find_by_id(state.open, id);
}

bool reserves(const RunState& state) {
  return state.limits.cost_pico > 0 || state.limits.budget_tokens > 0 ||
         state.asks_parent == Presence::present;
}

Reserved reserved_in(const RunState& state, const Phase& phase) {
  if (!reserves(state)) return {};
  if (const auto* model = std::get_if<AwaitingModel>(&phase)) {
    return {model->reserved_pico, total_tokens(model->reserved)};
  }
  if (const auto* compacting = std::get_if<Compacting>(&phase)) {
    return {compacting->reserved_pico, total_tokens(compacting->reserved)};
  }
  return {};
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

std::vector<CallId> calls_awaiting_person(const RunState& state) {
  std::vector<CallId> calls;
  for (const Call& call : state.calls) {
    if (std::holds_alternative<CallAwaitingPerson>(call.state)) calls.push_back(call.id);
  }
  return calls;
}

bool is_idle(const RunState& state) {
  if (!std::holds_alternative<Live>(state.life)) return false;
  return !std::holds_alternative<Ending>(state.course) && state.open.empty();
}

bool is_waiting(const RunState& state) {
  return is_idle(state) && !any_in<BackingOff>(state) && !flow_may_go_on(state);
}

bool wants_park(const RunState& state) {
  return state.parked == Parked::no && is_waiting(state);
}

WaitFor waits_for(const RunState& state) {
  if (!is_waiting(state)) return WaitFor::nothing;
  if (any_in_doubt(state)) return WaitFor::in_doubt;
  if (std::holds_alternative<Pausing>(state.course)) return WaitFor::paused;
  if (const auto wanted = wanted_of_people(state)) return *wanted;
  if (any_in<AwaitingBudget>(state)) return WaitFor::budget;
  if (any_in<RateLimited>(state)) return WaitFor::rate_limit;
  if (waits_for_children(state)) return WaitFor::children;
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
    return add_saturating(ending->since_elapsed_ms, rules_of(state.semantics).ending_grace_ms);
  }
  if (flow_may_go_on(state)) return state.elapsed_ms;
  std::uint64_t due = is_idle(state) ? UINT64_MAX : deadline(state);
  for (const PhaseRun& run : state.flow.runs) {
    const bool awaits = run.status == PhaseStatus::waiting && run.until_at_ms != 0;
    if (awaits) due = std::min(due, run.until_elapsed_ms);
  }
  for (const Instance& instance : state.instances) {
    if (const BackingOff* phase = std::get_if<BackingOff>(&instance.phase)) {
      due = std::min(due, phase->until_elapsed_ms);
    }
    if (const RateLimited* phase = std::get_if<RateLimited>(&instance.phase)) {
      due = std::min(due, phase->until_elapsed_ms);
    }
    const AwaitingBudget* budget = std::get_if<AwaitingBudget>(&instance.phase);
    if (budget != nullptr && budget->until_at_ms != 0) {
      due = std::min(due, budget->until_elapsed_ms);
    }
  }
  for (const Call& call : state.calls) {
    const auto* asked = std::get_if<CallAwaitingPerson>(&call.state);
    if (asked != nullptr && asked->expires_at_ms > 0) {
      due = std::min(due, asked->expires_elapsed_ms);
    }
  }
  return due;
}

std::optional<std::int64_t> wake_wall_at(const RunState& state) {
  const WaitFor reason = waits_for(state);
  const bool people = reason == WaitFor::approval || reason == WaitFor::input;
  const bool itself = reason == WaitFor::rate_limit || reason == WaitFor::budget;
  if (!itself && !people && reason != WaitFor::event) return std::nullopt;
  std::optional<std::int64_t> due;
  for (const PhaseRun& run : state.flow.runs) {
    if (run.status != PhaseStatus::waiting || run.until_at_ms == 0) continue;
    if (!due || run.until_at_ms < *due) due = run.until_at_ms;
  }
  for (const Call& call : state.calls) {
    const auto* asked = std::get_if<CallAwaitingPerson>(&call.state);
    if (asked == nullptr || asked->expires_at_ms == 0) continue;
    if (!due || asked->expires_at_ms < *due) due = asked->expires_at_ms;
  }
  for (const Instance& instance : state.instances) {
    const RateLimited* phase = std::get_if<RateLimited>(&instance.phase);
    if (phase != nullptr && (!due || phase->until_at_ms < *due)) due = phase->until_at_ms;
    const AwaitingBudget* budget = std::get_if<AwaitingBudget>(&instance.phase);
    if (budget == nullptr || budget->until_at_ms == 0) continue;
    if (!due || budget->until_at_ms < *due) due = budget->until_at_ms;
  }
  return due;
}

const Prices& prices_of(const RunState& state, InstanceId id) {
  std::uint32_t target = 0;
  if (const Instance* instance = find_instance(state, id)) {
    if (const auto* phase = std::get_if<AwaitingModel>(&instance->phase)) target = phase->target;
    if (const auto* phase = std::get_if<Compacting>(&instance->phase)) target = phase->target;
  }
  return target < state.targets.size() ? state.targets[target].prices : state.prices;
}

const ProviderSession* find_session(const Instance& instance, std::string_view provider) {
  for (const ProviderSession& session : instance.sessions) {
    if (session.provider == provider) return &session;
  }
  return nullptr;
}

std::string key_of(const RunState& state, CallId call) {
  // Length-prefixed, so that no two triples give the same bytes.
  std::string bytes;
  bytes.reserve(kUsualKeyBytes + state.tenant.size() + state.id.text.size());
  bytes.append("pawl-key-1:").append(std::to_string(state.tenant.size()));
  bytes.append(":").append(state.tenant);
  bytes.append(":").append(std::to_string(state.id.text.size()));
  bytes.append(":").append(state.id.text);
  bytes.append(":").append(std::to_string(static_cast<std::uint64_t>(call)));
  return to_hex(sha256(bytes));
}

bool is_pinned(const Entry& entry) {
  return entry.kind == EntryKind::input || entry.kind == EntryKind::opening;
}

std::string_view name(EntryKind value) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "input", "past",  "message", "assistant", "tool_result",
      "note",  "ceded", "summary", "trimmed",   "opening"};
  return kNames[static_cast<std::size_t>(value)];
}

std::string_view name(Parked value) {
  return value == Parked::yes ? "yes" : "no";
}

std::string_view name(WrapUp value) {
  return value == WrapUp::asked ? "asked" : "not_asked";
}

std::string_view name(EffectKind value) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "model",   "tool",  "status",    "begin_agent", "end_agent",
      "compact", "judge", "ask_money", "ask_place"};
  return kNames[static_cast<std::size_t>(value)];
}

}  // namespace pawl
