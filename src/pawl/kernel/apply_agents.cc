// What events, decisions and effects about runs beneath a run and above it change in it.
#include <algorithm>

#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/apply.h"

namespace pawl {

ChildRun& Applier::child(CallId id) {
  if (const ChildRun* found = find_child(state_, id)) return const_cast<ChildRun&>(*found);
  fail("no run beneath it by " + to_string(id));
  return no_child_ ? *no_child_ : no_child_.emplace();
}

void Applier::start_agents(const RunStarted& event) {
  state_.agents = event.agents;
  for (AgentSpec& agent : state_.agents) agent.charter = {};  // the first record has them
  state_.adhoc_agents = event.adhoc_agents;
  state_.subagents = event.subagents;
  state_.lineage = event.lineage;
  state_.asks_parent = event.asks_parent;
}

void Applier::settle_child(CallId id) {
  const ChildRun& gone = child(id);
  state_.runs_settled += 1 + std::max(gone.books.started, gone.held.started);
  std::erase_if(state_.children, [id](const ChildRun& one) { return one.call == id; });
}

// A call that ends has no run beneath it any more; one that never started any says nothing of it.
void Applier::settle_child_of(CallId id, const std::optional<TreeBooks>& books) {
  if (find_child(state_, id) == nullptr) return;
  if (books) take_books(id, *books, {});
  settle_child(id);
}

void Applier::take_books(CallId id, const TreeBooks& books, const TreeBounds& held) {
  ChildRun& one = child(id);
  one.books = books;
  one.held = held;
}

// --- Events --------------------------------------------------------------------------------------

// The rest of what it was allowed may be on its way to it: an ask is about one thing.
void Applier::on(const ChildAsked& event) {
  ChildRun& one = child(event.call);
  one.books = event.books;
  const PendingAsk ask{event.ask, event.least, event.wanted};
  if (event.kind == AskKind::money) {
    one.held.cost_pico = event.held.cost_pico;
    one.held.tokens = event.held.tokens;
    one.money = ask;
  } else {
    one.held.started = event.held.started;
    one.held.places = event.held.places;
    one.place = ask;
  }
}

void Applier::on(const ChildReported& event) {
  TreeBounds held = event.held;
  if (event.asks_place == Presence::present) {
    const TreeBounds& before = child(event.call).held;
    held.started = std::max(held.started, before.started);
    held.places = std::max(held.places, before.places);
  }
  take_books(event.call, event.books, held);
  if (event.life == ChildLife::over) settle_child(event.call);
}

void Applier::on(const ChildWaits& event) {
  close_effect(event.effect);
  call(event.call).state = CallWaiting{HeldFor::child};
  take_books(event.call, event.books, event.held);
  child(event.call).money.reset();
  child(event.call).place.reset();
}

void Applier::on(const ParentAnswered& event) {
  const OpenEffect* asked = find_effect(state_, event.effect);
  const bool place = asked != nullptr && asked->kind == EffectKind::ask_place;
  const bool money = asked == nullptr || !place;
  close_effect(event.effect);
  if (event.verdict == AskVerdict::refused) {
    if (!place) return;
    state_.told_held.started = state_.allowed.started;
    state_.told_held.places = state_.allowed.places;
    return;
  }
  for (TreeBounds* bounds : {&state_.allowed, &state_.told_held}) {
    if (money) {
      bounds->cost_pico = event.allowed.cost_pico;
      bounds->tokens = event.allowed.tokens;
    } else {
      bounds->started = event.allowed.started;
      bounds->places = event.allowed.places;
    }
  }
}

// The run above reads of a run that waits what it has used: no more than that is allowed any more.
void Applier::give_back_rest() {
  if (!has_parent(state_)) return;
  const TreeBooks books = books_of(state_, PlaceUse::rests);
  TreeBounds& allowed = state_.allowed;
  allowed.cost_pico = std::min(allowed.cost_pico, books.cost_pico);
  allowed.tokens = std::min(allowed.tokens, total_tokens(books.usage));
  allowed.started = std::min(allowed.started, books.started);
  allowed.places = std::min(allowed.places, books.places);
  state_.told_books = books;
  state_.told_held = allowed;
}

// --- Decisions -----------------------------------------------------------------------------------

void Applier::on(const ChildAdmitted& decision) {
  ChildRun one;
  one.call = decision.call;
  one.run = decision.run;
  one.agent = decision.agent;
  one.on_parent_end = decision.on_parent_end;
  const auto place =
      std::lower_bound(state_.children.begin(), state_.children.end(), decision.call,
                       [](const ChildRun& other, CallId wanted) { return other.call < wanted; });
  state_.children.insert(place, std::move(one));
}

void Applier::on(const ChildAnswered& decision) {
  ChildRun& one = child(decision.call);
  (decision.kind == AskKind::money ? one.money : one.place).reset();
  if (decision.verdict == AskVerdict::refused) return;
  one.held = decision.allowed;
}

void Applier::on(const ChildLeft& decision) {
  state_.tally.usage = state_.tally.usage + decision.charged;
  state_.tally.cost_pico = add_saturating(state_.tally.cost_pico, decision.cost_pico);
  settle_child(decision.call);
  const Call* started = find_call(state_, decision.call);
  if (started == nullptr) return;
  const auto* running = std::get_if<CallRunning>(&started->state);
  // One that is judged, or that a person decides about, goes on with that.
  if (running == nullptr && !std::holds_alternative<CallWaiting>(started->state)) return;
  if (running != nullptr) close_effect(running->effect);
  call(decision.call).state = CallWaiting{};
}

// --- Effects -------------------------------------------------------------------------------------

void Applier::on(const AskParent& effect) {
  const bool money = effect.kind == AskKind::money;
  state_.told_books = effect.books;
  if (money) {
    state_.allowed.cost_pico = state_.told_held.cost_pico = effect.held.cost_pico;
    state_.allowed.tokens = state_.told_held.tokens = effect.held.tokens;
  } else {
    state_.allowed.started = effect.held.started;
    state_.allowed.places = effect.held.places;
    state_.told_held.started = effect.wanted.started;
    state_.told_held.places = effect.wanted.places;
  }
  open_effect(effect.effect, money ? EffectKind::ask_money : EffectKind::ask_place, kRootInstance,
              {});
}

void Applier::on(const TellParent& effect) {
  state_.told_books = effect.books;
  state_.told_held = effect.held;
  TreeBounds& allowed = state_.allowed;
  allowed.cost_pico = effect.held.cost_pico;
  allowed.tokens = effect.held.tokens;
  allowed.started = std::min(allowed.started, effect.held.started);
  allowed.places = std::min(allowed.places, effect.held.places);
}

}  // namespace pawl
