// Runs that a run starts as its subagents. One chokepoint decides who may start; money and places
// are asked for from run to run, up to the root, whose word holds for the whole tree.
#include "pawl/kernel/decide_agents.h"

#include "pawl/kernel/machine.h"

namespace pawl {
namespace {

// --- The way in ----------------------------------------------------------------------------------

const AgentSpec* agent_of(const RunState& state, const Call& call) {
  if (!call.tool.starts_with(kAgentTool)) return nullptr;
  return find_agent(state.agents, std::string_view(call.tool).substr(kAgentTool.size()));
}

bool calls_itself(const RunState& state, const Call& call) {
  const AgentSpec* agent = agent_of(state, call);
  if (agent == nullptr) return false;
  return agent->digest == state.charter_digest ||
         std::any_of(state.lineage.begin(), state.lineage.end(),
                     [&](const Ancestor& one) { return one.charter == agent->digest; });
}

// The deepest level at which this run may start another: no ancestor forbids it.
std::uint32_t deepest_of(const RunState& state) {
  auto deepest = static_cast<std::uint32_t>(state.lineage.size()) + state.subagents.depth;
  for (const Ancestor& one : state.lineage) deepest = std::min(deepest, one.depth);
  return deepest;
}

struct ChildRefusal {
  std::string_view rule;
  std::string text;
};

std::optional<ChildRefusal> refusal_of(const Draft& draft, const Call& call) {
  const RunState& state = draft.state;
  const Sentences& say = draft.rules.say;
  const std::uint32_t deepest = deepest_of(state);
  if (state.lineage.size() + 1 > deepest) {
    return ChildRefusal{"subagents.depth", with_number(say.agent_too_deep, deepest)};
  }
  if (calls_itself(state, call)) {
    return ChildRefusal{"subagents.self", with_words(say.agent_calls_itself, call.tool)};
  }
  if (books_of(state, PlaceUse::acts).started >= state.subagents.descendants) {
    return ChildRefusal{"subagents.descendants",
                        with_number(say.agent_too_many, state.subagents.descendants)};
  }
  return std::nullopt;
}

void refuse(Draft& draft, const Call& call, std::string_view rule, std::string text) {
  deny_call(draft, draft.instance(call.instance),
            {call.id, GateStage::none, std::string(rule),
             std::string(draft.rules.say.not_done) + std::move(text)});
}

// Whether there is a place for one more run beneath this one, here and above.
bool has_place(Draft& draft) {
  const RunState& state = draft.state;
  const TreeBooks books = books_of(state, PlaceUse::acts);
  if (books.places >= state.subagents.at_a_time) return false;
  if (!has_parent(state)) return true;
  const TreeBounds needed{0, 0, books.started + 1, books.places + 1};
  if (needed.started <= state.allowed.started && needed.places <= state.allowed.places) return true;
  draft.wants.want_place(needed);
  return false;
}

bool waits_for_place(const Call& call) {
  const auto* held = std::get_if<CallWaiting>(&call.state);
  return held != nullptr && held->held_for == HeldFor::place;
}

bool waits_for_child(const Call& call) {
  const auto* held = std::get_if<CallWaiting>(&call.state);
  return held != nullptr && held->held_for == HeldFor::child;
}

std::vector<CallId> calls_that(const RunState& state, bool (*holds)(const Call&)) {
  std::vector<CallId> ids;
  for (const Call& call : state.calls) {
    if (holds(call)) ids.push_back(call.id);
  }
  return ids;
}

void start_those_that_wait(Draft& draft) {
  for (const CallId id : calls_that(draft.state, waits_for_place)) {
    const Call* call = find_call(draft.state, id);
    if (!draft.going() || call == nullptr || !waits_for_place(*call)) return;
    const InstanceId instance = call->instance;
    run_child(draft, *call);
    go_on_when_all_ended(draft, instance);
  }
}

// --- Money ---------------------------------------------------------------------------------------

// What is left of the bounds of this run, for those beneath it.
struct Room {
  std::uint64_t pico = UINT64_MAX;
  std::uint64_t tokens = UINT64_MAX;
};

std::uint64_t left(std::uint64_t bound, std::uint64_t spent, Reserved::Sum reserved) {
  return bound - static_cast<std::uint64_t>(std::min<Reserved::Sum>(bound, reserved + spent));
}

Room room_of(const Draft& draft) {
  const Limits& limits = draft.state.limits;
  const Tally& tally = draft.state.tally;
  const Reserved reserved = draft.reserved();
  Room room;
  if (limits.cost_pico > 0) room.pico = left(limits.cost_pico, tally.cost_pico, reserved.pico);
  if (limits.ask_cost_pico > 0 && tally.cost_pico >= limits.ask_cost_pico) room.pico = 0;
  if (limits.budget_tokens > 0) {
    room.tokens = left(limits.budget_tokens, total_tokens(tally.usage), reserved.tokens);
  }
  if (limits.budget_ms > 0 && tally.active_ms >= limits.budget_ms) room = {0, 0};
  return room;
}

// In an ask for money: beyond what the run holds.
struct Extra {
  std::uint64_t pico = 0;
  std::uint64_t tokens = 0;
};
Extra beyond(const TreeBounds& held, const TreeBounds& asked) {
  return {asked.cost_pico - std::min(asked.cost_pico, held.cost_pico),
          asked.tokens - std::min(asked.tokens, held.tokens)};
}

// Something is set aside for others, and what is not used of it comes back.
bool comes_back(const Draft& draft, const ChildRun& child) {
  Reserved others = draft.reserved();
  const std::uint64_t tokens = total_tokens(child.books.usage);
  others.subtract({child.held.cost_pico - std::min(child.held.cost_pico, child.books.cost_pico),
                   child.held.tokens - std::min(child.held.tokens, tokens)});
  return others.pico > 0 || others.tokens > 0;
}

void answer(Draft& draft, const ChildRun& child, AskKind kind, AskVerdict verdict,
            const TreeBounds& allowed, std::string text = {}) {
  const PendingAsk ask = kind == AskKind::money ? *child.money : *child.place;
  const RunId run = child.run;
  draft.add(ChildAnswered{child.call, kind, verdict, allowed});
  draft.send(AnswerChild{run, ask.ask, verdict, allowed, std::move(text)});
}

void answer_money(Draft& draft, const ChildRun& child) {
  const PendingAsk& ask = *child.money;
  const Extra least = beyond(child.held, ask.least);
  const Extra full = beyond(child.held, ask.wanted);
  Room room = room_of(draft);
  if (room.pico < least.pico || room.tokens < least.tokens) {
    if (comes_back(draft, child)) return;
    return answer(draft, child, AskKind::money, AskVerdict::refused, child.held);
  }
  if (draft.state.asks_parent == Presence::present) {
    const AllowedLeft above = left_of_allowance(draft);
    if (above.pico < least.pico || above.tokens < least.tokens) {
      if (draft.wants.refused_above) {
        return answer(draft, child, AskKind::money, AskVerdict::refused, child.held);
      }
      return draft.wants.want_money({least.pico, full.pico, least.tokens, full.tokens});
    }
    room.pico = std::min(room.pico, above.pico);
    room.tokens = std::min(room.tokens, above.tokens);
  }
  TreeBounds allowed = child.held;
  allowed.cost_pico += std::min(full.pico, room.pico);
  allowed.tokens += std::min(full.tokens, room.tokens);
  answer(draft, child, AskKind::money, AskVerdict::given, allowed);
}

// --- Places --------------------------------------------------------------------------------------

// Of this run and those beneath it, if `child` had what it asks for.
TreeBounds places_with(const RunState& state, const ChildRun& child) {
  TreeBounds sum{0, 0, state.runs_settled, 0};
  for (const ChildRun& one : state.children) {
    const bool asks = one.call == child.call;
    const std::uint32_t started =
        asks ? one.place->wanted.started : std::max(one.books.started, one.held.started);
    const std::uint32_t places =
        asks ? one.place->wanted.places : std::max(one.books.places, one.held.places);
    sum.started += 1 + started;
    sum.places += places_of(places, one.books.use);
  }
  return sum;
}

void answer_place(Draft& draft, const ChildRun& child) {
  const RunState& state = draft.state;
  const TreeBounds with = places_with(state, child);
  if (with.started > state.subagents.descendants) {
    return answer(draft, child, AskKind::place, AskVerdict::refused, child.held,
                  with_number(draft.rules.say.agent_too_many, state.subagents.descendants));
  }
  if (with.places > state.subagents.at_a_time) return;
  if (has_parent(state) &&
      (with.started > state.allowed.started || with.places > state.allowed.places)) {
    return draft.wants.want_place(with);
  }
  TreeBounds allowed = child.held;
  allowed.started = child.place->wanted.started;
  allowed.places = child.place->wanted.places;
  answer(draft, child, AskKind::place, AskVerdict::given, allowed);
}

void answer_asks(Draft& draft) {
  std::vector<CallId> asking;
  for (const ChildRun& child : draft.state.children) {
    if (child.money || child.place) asking.push_back(child.call);
  }
  for (const CallId id : asking) {
    if (find_child(draft.state, id)->money) answer_money(draft, *find_child(draft.state, id));
    if (find_child(draft.state, id)->place) answer_place(draft, *find_child(draft.state, id));
  }
}

// Those above have no place: whoever asked first is told so.
void refuse_first_place(Draft& draft, const std::string& text) {
  for (const CallId id : calls_that(draft.state, waits_for_place)) {
    const Call& call = draft.call(id);
    const InstanceId instance = call.instance;
    refuse(draft, call, "subagents.descendants", text);
    return go_on_when_all_ended(draft, instance);
  }
  for (const ChildRun& child : draft.state.children) {
    if (!child.place) continue;
    return answer(draft, child, AskKind::place, AskVerdict::refused, child.held, text);
  }
}

// --- What goes up --------------------------------------------------------------------------------

bool is_for_child(const RunState& state, EffectKind kind, CallId id) {
  if (kind == EffectKind::ask_money || kind == EffectKind::ask_place) return true;
  const Call* call = kind == EffectKind::tool ? find_call(state, id) : nullptr;
  return call != nullptr && starts_run(state, *call);
}

PlaceUse use_of(const Draft& draft) {
  const RunState& state = draft.state;
  const bool open = std::all_of(state.open.begin(), state.open.end(), [&](const OpenEffect& one) {
    return is_for_child(state, one.kind, one.call);
  });
  return open && !draft.starts_other_than_tools_for(
                     [&](CallId call) { return is_for_child(state, EffectKind::tool, call); })
             ? PlaceUse::rests
             : PlaceUse::acts;
}

// A run whose spending is only counted says so when it has used this part of what it may.
constexpr std::uint64_t kReportsPerLimit = 16;

bool has_to_tell(const Draft& draft, const TreeBooks& books, const TreeBounds& held) {
  const RunState& state = draft.state;
  const TreeBounds& told = state.told_held;
  if (draft.is_attach()) return true;
  if (told.places > held.places) return true;
  if (state.asks_parent == Presence::present) {
    return told.cost_pico > held.cost_pico || told.tokens > held.tokens;
  }
  const std::uint64_t before = total_tokens(state.told_books.usage);
  const std::uint64_t now = total_tokens(books.usage);
  return now - std::min(now, before) > state.limits.tokens / kReportsPerLimit;
}

void ask_for_place(Draft& draft, const TreeBooks& books, const TreeBounds& held) {
  AskParent ask;
  ask.kind = AskKind::place;
  ask.books = books;
  ask.held = held;
  ask.least = ask.wanted = held;
  ask.wanted.started = ask.least.started = draft.wants.place->started;
  ask.wanted.places = ask.least.places = draft.wants.place->places;
  draft.start(ask);
}

void ask_for_money(Draft& draft, const TreeBooks& books, const TreeBounds& held) {
  const TreeWants::Money& wants = *draft.wants.money;
  AskParent ask;
  ask.kind = AskKind::money;
  ask.books = books;
  ask.held = ask.least = ask.wanted = held;
  ask.least.cost_pico = add_saturating(held.cost_pico, wants.least_pico);
  ask.least.tokens = add_saturating(held.tokens, wants.least_tokens);
  ask.wanted.cost_pico = add_saturating(held.cost_pico, wants.pico);
  ask.wanted.tokens = add_saturating(held.tokens, wants.tokens);
  draft.start(ask);
}

void speak_to_parent(Draft& draft) {
  const RunState& state = draft.state;
  const bool asks_place = open_of(state, EffectKind::ask_place) != nullptr;
  const bool asks_money = open_of(state, EffectKind::ask_money) != nullptr;
  const TreeBooks books = books_of(state, use_of(draft));
  const TreeBounds held = held_of(draft);
  if (draft.wants.place && !asks_place) ask_for_place(draft, books, held);
  if (asks_money) return;
  if (draft.wants.money) return ask_for_money(draft, books, held);
  const bool asks = asks_place || draft.wants.place.has_value();
  if (has_to_tell(draft, books, held)) {
    draft.send(TellParent{books, held, asks ? Presence::present : Presence::absent});
  }
}

// What came back from those beneath goes to the run's own calls, too.
void call_where_money_came_back(Draft& draft) {
  if (!draft.is_from_child()) return;
  for (const InstanceId id : instance_ids(draft.state)) {
    const Instance& instance = draft.instance(id);
    const auto* held = std::get_if<AwaitingBudget>(&instance.phase);
    const bool bound =
        held != nullptr && (held->unit == BudgetUnit::money || held->unit == BudgetUnit::tokens);
    if (bound && draft.going()) call_again(draft, instance);
  }
}

// What a run beneath this one may still use without asking is counted as used.
ChildLeft leaving(const ChildRun& child, ChildLeave how) {
  ChildLeft left;
  left.call = child.call;
  left.how = how;
  left.cost_pico = child.held.cost_pico - std::min(child.held.cost_pico, child.books.cost_pico);
  const std::uint64_t tokens = total_tokens(child.books.usage);
  left.charged.input_tokens = child.held.tokens - std::min(child.held.tokens, tokens);
  return left;
}

void give_up_child(Draft& draft, CallId id) {
  const ChildRun* child = find_child(draft.state, id);
  if (child == nullptr) return;
  const RunId run = child->run;
  draft.add(leaving(*child, ChildLeave::given_up));
  draft.send(SteerChild{run, Steer::cancel});
}

// It goes on with all that is left of the bounds, since nobody is there to ask any more.
void detach_child(Draft& draft, CallId id) {
  const ChildRun child = *find_child(draft.state, id);
  const Room room = room_of(draft);
  ChildRun with = child;
  if (room.pico != UINT64_MAX) with.held.cost_pico += room.pico;
  if (room.tokens != UINT64_MAX) with.held.tokens += room.tokens;
  TreeBounds allowed = with.held;
  if (room.pico == UINT64_MAX) allowed.cost_pico = UINT64_MAX;
  if (room.tokens == UINT64_MAX) allowed.tokens = UINT64_MAX;
  draft.add(leaving(with, ChildLeave::detached));
  draft.send(AnswerChild{child.run, EffectId{}, AskVerdict::given, allowed, ""});
}

bool is_left_alone(const RunState& state, const ChildRun& child) {
  const Call* call = find_call(state, child.call);
  return call == nullptr || std::holds_alternative<CallEnded>(call->state);
}

std::vector<CallId> children_of(const RunState& state) {
  std::vector<CallId> calls;
  for (const ChildRun& child : state.children) calls.push_back(child.call);
  return calls;
}

}  // namespace

void run_child(Draft& draft, const Call& call) {
  if (draft.over(call.instance)) return;
  if (draft.pausing()) return draft.add(CallHeld{call.id, HeldFor::run});
  if (find_child(draft.state, call.id) == nullptr) {
    if (auto refusal = refusal_of(draft, call)) {
      return refuse(draft, call, refusal->rule, std::move(refusal->text));
    }
    if (!has_place(draft)) {
      if (!waits_for_place(call)) draft.add(CallHeld{call.id, HeldFor::place});
      return;
    }
    const AgentSpec* agent = agent_of(draft.state, call);
    draft.add(ChildAdmitted{call.id, child_run_id(draft.state, call.id),
                            agent == nullptr ? call.tool : agent->name,
                            agent == nullptr ? OnParentEnd::cancel : agent->on_parent_end});
  }
  draft.start(RunTool{{}, call.instance, call.id, call.attempts + 1});
}

void recover_child(Draft& draft, const Call& call) {
  if (draft.ending()) return give_up_child(draft, call.id);
  run_child(draft, call);
}

void wake_children(Draft& draft) {
  for (const ChildRun& child : draft.state.children) {
    if (is_left_alone(draft.state, child)) draft.send(SteerChild{child.run, Steer::cancel});
  }
  if (!draft.going()) return;
  for (const CallId id : calls_that(draft.state, waits_for_child)) run_child(draft, draft.call(id));
}

void cancel_child_runs(Draft& draft, InstanceId id) {
  for (const Call& call : draft.state.calls) {
    const ChildRun* child = call.instance == id ? find_child(draft.state, call.id) : nullptr;
    if (child != nullptr) draft.send(SteerChild{child->run, Steer::cancel});
  }
}

void leave_child_runs(Draft& draft) {
  const std::vector<OpenEffect> open = draft.state.open;
  for (const OpenEffect& effect : open) {
    const bool ask = effect.kind == EffectKind::ask_money || effect.kind == EffectKind::ask_place;
    if (ask) draft.discard(effect, {});
  }
  const bool cancelled = stop_reason_of(draft.state) == StopReason::cancelled;
  for (const CallId id : children_of(draft.state)) {
    const ChildRun& child = *find_child(draft.state, id);
    const Call* call = find_call(draft.state, id);
    const bool running = call != nullptr && std::holds_alternative<CallRunning>(call->state);
    if (child.on_parent_end == OnParentEnd::detach && !cancelled && call != nullptr) {
      detach_child(draft, id);
    } else if (!running) {
      give_up_child(draft, id);
    }
  }
}

void steer_children(Draft& draft, Steer steer) {
  for (const ChildRun& child : draft.state.children) draft.send(SteerChild{child.run, steer});
}

TreeBounds held_of(const Draft& draft) {
  const RunState& state = draft.state;
  const TreeBooks books = books_of(state, PlaceUse::acts);
  const Reserved reserved = draft.reserved();
  constexpr auto kMost = Reserved::Sum{UINT64_MAX};
  return {static_cast<std::uint64_t>(std::min(kMost, reserved.pico + books.cost_pico)),
          static_cast<std::uint64_t>(std::min(kMost, reserved.tokens + total_tokens(books.usage))),
          books.started, books.places};
}

AllowedLeft left_of_allowance(const Draft& draft) {
  const TreeBounds held = held_of(draft);
  const TreeBounds& allowed = draft.state.allowed;
  return {allowed.cost_pico - std::min(allowed.cost_pico, held.cost_pico),
          allowed.tokens - std::min(allowed.tokens, held.tokens)};
}

void settle_tree(Draft& draft) {
  const RunState& state = draft.state;
  const bool alone = !has_agents(state) && !has_parent(state);
  if (alone || draft.ending() || !std::holds_alternative<Live>(state.life)) return;
  if (draft.going()) {
    answer_asks(draft);
    start_those_that_wait(draft);
    call_where_money_came_back(draft);
  }
  if (has_parent(state) && !draft.ending()) speak_to_parent(draft);
}

// --- Events --------------------------------------------------------------------------------------

void take(Draft& draft, const ChildAsked&) {
  draft.stop_where_crossed();
}

void take(Draft& draft, const ChildReported&) {
  draft.stop_where_crossed();
}

void take(Draft& draft, const ChildWaits& event) {
  draft.stop_where_crossed();
  if (draft.ending()) give_up_child(draft, event.call);
}

void take(Draft& draft, const ChildStirred& event) {
  draft.stop_where_crossed();
  if (!draft.ending()) run_child(draft, draft.call(event.call));
}

void take(Draft& draft, const Before& before, const ParentAnswered& event) {
  const bool place = before.asked == EffectKind::ask_place;
  if (!draft.going()) return;
  if (event.verdict == AskVerdict::refused) {
    if (place) return refuse_first_place(draft, event.text);
    draft.wants.refused_above = true;
    return;
  }
  if (place) return;
  draft.wants.takes_less = true;
  for (const InstanceId id : instance_ids(draft.state)) {
    const Instance& instance = draft.instance(id);
    const auto* held = std::get_if<AwaitingBudget>(&instance.phase);
    const bool asked = held != nullptr && held->unit == BudgetUnit::parent;
    if (asked && draft.going()) call_again(draft, instance);
  }
}

}  // namespace pawl
