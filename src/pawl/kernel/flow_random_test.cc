// Random flows: whatever models, people and hosts do, the books of the flow hold, no phase runs
// before what it comes after, no item is lost or carried out twice, and a journal folds and is
// decided again to the same bytes.
#include <map>
#include <set>

#include "pawl/kernel/flow_stage_test.h"
#include "pawl/kernel/random_history_test.h"

namespace pawl::testing {
namespace {

std::string random_list(Rng& rng) {
  std::string list = "[";
  for (std::uint64_t n = rng.below(12); n > 0; --n) {
    list +=
        std::string(list.size() > 1 ? "," : "") + R"({"d":)" + std::to_string(rng.below(3)) + "}";
  }
  return list + "]";
}

PhaseSpec random_phase(Rng& rng, std::uint64_t number) {
  const std::string name = "p" + std::to_string(number);
  PhaseSpec phase;
  switch (rng.below(9)) {
    case 7:
      phase = an_agent_phase(name);
      break;
    case 8:
      phase = an_agent_map(name, 1 + static_cast<std::uint32_t>(rng.below(4)));
      phase.map->tolerate = static_cast<std::uint32_t>(rng.below(3));
      break;
    case 0:
      phase = a_checkpoint(name, {});
      break;
    case 1:
      phase = an_await(name, rng.one_in(2) ? "merged" : "sent");
      if (rng.one_in(2)) phase.await->timeout_ms = 1 + rng.below(100'000);
      if (rng.one_in(2)) phase.await->batch = Batch::all;
      break;
    case 2:
    case 3:
      phase = a_map(name, 1 + static_cast<std::uint32_t>(rng.below(4)));
      phase.map->tolerate = static_cast<std::uint32_t>(rng.below(3));
      if (rng.one_in(2)) phase.map->per_key = "/d";
      break;
    default:
      phase = a_phase(name, rng.one_in(2) ? "n" : "w");
      if (rng.one_in(4)) phase.steps = 1 + rng.below(3);
  }
  for (std::uint64_t before = 0; before < number; ++before) {
    if (rng.one_in(3)) phase.after.push_back("p" + std::to_string(before));
  }
  if (rng.one_in(4)) phase.need = PhaseNeed::optional;
  if (rng.one_in(8)) phase.when = {{"/vars/x", "1"}};
  return phase;
}

RunStarted random_flow(Rng& rng) {
  std::vector<PhaseSpec> phases;
  for (std::uint64_t n = 0; n < 1 + rng.below(7); ++n) phases.push_back(random_phase(rng, n));
  RunStarted start = a_flow_over(random_list(rng), std::move(phases));
  start.limits.branches = 1 + rng.below(5);
  start.limits.steps = 20 + rng.below(100);
  start.variables = {{"x", std::to_string(rng.below(2))}};
  if (rng.one_in(2)) start.gate = GateSpec{1 + static_cast<std::uint32_t>(rng.below(2))};
  if (rng.one_in(6)) start.agent_callbacks = Presence::present;
  start.subagents = {3, 5 + static_cast<std::uint32_t>(rng.below(40)),
                     1 + static_cast<std::uint32_t>(rng.below(4))};
  node_in(start, "n").discover = DiscoverSpec{{"w", "n"}, 3, 2};
  node_in(start, "n").workers = {};
  return start;
}

Block random_flow_call(Rng& rng) {
  const std::vector<std::pair<std::string, std::string>> kCalls = {
      {"discover_step", R"({"node":"w","input":"look","reason":"r"})"},
      {"discover_step", R"({"node":"n","input":"look","reason":"r"})"},
      {"work_item_add", R"({"title":"t"})"},
      {"work_item_done", R"({"id":"w1"})"},
      {"work_item_escalate", R"({"id":"w2","reason":"r"})"},
      {"cede", R"({"content":"this"})"},
      {"suspend", R"({"reason":"r"})"},
      {"pure", "{}"}};
  const auto& [tool, input] = rng.pick(kCalls);
  return calls(tool, input);
}

Event random_reply(Rng& rng, const OpenEffect& effect) {
  if (rng.one_in(12)) {
    ModelFailed failed;
    failed.instance = effect.instance;
    failed.effect = effect.id;
    failed.kind = FailureKind::permanent;
    return failed;
  }
  ModelReplied reply;
  reply.instance = effect.instance;
  reply.effect = effect.id;
  reply.blocks.push_back(says("t" + std::to_string(rng.below(9))));
  if (rng.one_in(3)) {
    for (std::uint64_t n = rng.below(3); n > 0; --n) reply.blocks.push_back(random_flow_call(rng));
  }
  return reply;
}

// The run beneath it ends, waits, or has been woken by somebody else.
Event random_child_event(Rng& rng, const RunState& state, const ChildRun& child) {
  const Call* call = find_call(state, child.call);
  TreeBooks books;
  books.usage.input_tokens = rng.below(50);
  const auto* running = call == nullptr ? nullptr : std::get_if<CallRunning>(&call->state);
  if (running == nullptr) {
    if (call != nullptr && rng.one_in(2)) return ChildStirred{call->instance, call->id};
    return ChildReported{child.call, books, {}, ChildLife::over};
  }
  if (rng.one_in(4)) {
    return ChildWaits{call->instance, call->id, running->effect, WaitFor::approval, books, {}};
  }
  ToolFinished finished;
  finished.instance = call->instance;
  finished.call = call->id;
  finished.effect = running->effect;
  finished.content = Content("c" + std::to_string(rng.below(9)));
  finished.books = books;
  finished.child = rng.pick<RunStatus>(
      {RunStatus::done, RunStatus::done, RunStatus::failed, RunStatus::stopped});
  return finished;
}

Event random_decision(Rng& rng, const RunState& state) {
  for (const Call& call : state.calls) {
    const auto* asked = std::get_if<CallAwaitingPerson>(&call.state);
    if (asked == nullptr) continue;
    CallDecided decided;
    decided.call = call.id;
    decided.decision = static_cast<InterruptDecision>(rng.below(3));
    decided.binding = asked->binding;
    decided.text = Content("so");
    return decided;
  }
  return EventReceived{rng.one_in(2) ? "merged" : "sent", Content("7"), "u"};
}

Event next_flow_event(Rng& rng, const RunState& state) {
  if (std::holds_alternative<NotStarted>(state.life)) return random_flow(rng);
  const bool live = std::holds_alternative<Live>(state.life);
  if (live && rng.one_in(15)) return DriverAttached{"p"};  // it crashed
  if (live && wake_at(state) && rng.one_in(4)) return TimerFired{};
  if (live && !rng.one_in(4)) {
    for (const OpenEffect& effect : state.open) {
      if (effect.kind == EffectKind::model && !rng.one_in(3)) return random_reply(rng, effect);
    }
  }
  if (live && !state.children.empty() && rng.one_in(2)) {
    return random_child_event(rng, state, rng.pick(state.children));
  }
  if (live && rng.one_in(3)) return random_decision(rng, state);
  if (rng.one_in(live ? 12 : 2) && !state.flow.specs.empty()) {
    return PhaseControlled{rng.pick(state.flow.specs).name,
                           static_cast<PhaseAction>(rng.below(kCount<PhaseAction>)), "u"};
  }
  return RandomHost(rng, state).next();
}

// Keeps its own books of what was begun and what has ended, by the records alone.
class FlowBooks {
 public:
  std::string observe(const Record& record) {
    fault_.clear();
    if (const auto* start = std::get_if<RunStarted>(&record.event)) specs_ = start->phases;
    if (const auto* control = std::get_if<PhaseControlled>(&record.event)) {
      if (control->action == PhaseAction::start) forced_.insert(control->phase);
    }
    for (const Decision& one : record.decisions) {
      std::visit([this](const auto& decision) { take(decision); }, one);
    }
    return fault_;
  }
  std::uint64_t items() const { return items_; }

 private:
  void take(const PhaseBegan& began) {
    const PhaseSpec* spec = find_phase(specs_, began.phase);
    if (forced_.count(began.phase) > 0) return;
    for (const std::string& before : spec->after) {
      if (through_.count(before) == 0) blame(began.phase + " begins before " + before);
    }
  }
  void take(const PhaseEnded& ended) {
    const PhaseSpec* spec = find_phase(specs_, ended.phase);
    if (lets_go_on(*spec, ended.status)) through_.insert(ended.phase);
    for (const auto& [instance, phase] : seats_) {
      if (phase.first == ended.phase) blame(ended.phase + " ends, and has an instance");
    }
    done_items_.erase(ended.phase);
  }
  void take(const PhasesReset& reset) {
    for (const std::string& one : reset.phases) {
      through_.erase(one);
      forced_.erase(one);
      done_items_.erase(one);
    }
  }
  void take(const SeatTaken& seat) {
    seats_[seat.instance] = {seat.phase, seat.number};
    if (seat.role != SeatRole::item) return;
    ++items_;
    if (!done_items_[seat.phase].insert(seat.number).second) blame("an item is carried out twice");
  }
  void take(const InstanceEnded& ended) { seats_.erase(ended.instance); }
  void take(const FlowEnded&) {
    for (const PhaseSpec& spec : specs_) {
      if (through_.count(spec.name) == 0) blame("the flow ends before " + spec.name);
    }
  }
  template <class Other>
  void take(const Other&) {}
  void blame(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }

  std::vector<PhaseSpec> specs_;
  std::set<std::string> through_;
  std::set<std::string> forced_;
  std::map<InstanceId, std::pair<std::string, std::uint64_t>> seats_;
  std::map<std::string, std::set<std::uint64_t>> done_items_;
  std::uint64_t items_ = 0;
  std::string fault_;
};

TEST_CASE("random flows keep their books, whatever happens") {
  constexpr std::uint64_t kSeeds = 2000;
  std::uint64_t items = 0;
  std::uint64_t by_agents = 0;
  std::map<std::string, std::uint64_t> ends;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Run run;
    Run folded;
    FlowBooks books;
    Stamp now{1, 0, 0};
    for (int i = 0; i < 200; ++i) {
      if (std::holds_alternative<Finished>(run->life) && rng.one_in(3)) break;
      const Event event = next_flow_event(rng, run.state());
      move_clock(rng, run.state(), event, now);
      const auto record = advance(run, event, now);
      if (!record) continue;
      by_agents += std::get_if<ToolFinished>(&event) != nullptr && !run->agents.empty() ? 1U : 0U;
      CAPTURE(i);
      CAPTURE(std::string(name(event)));
      REQUIRE(books.observe(*record) == "");
      REQUIRE(fault_of(run) == "");
      REQUIRE(fold(folded, *record));
      REQUIRE(encode_snapshot(folded) == encode_snapshot(run));
      const auto read = decode_record(encode_record(*record));
      REQUIRE(read);
      REQUIRE(*read == *record);
    }
    if (std::holds_alternative<Ending>(run->course)) {
      ++ends[std::string(name(stop_reason_of(run.state())))];
    }
    items += books.items();
  }
  CHECK(items > kSeeds);
  CHECK(by_agents > kSeeds / 4);
  CHECK(ends["end_turn"] > 20);
  CHECK(ends["phase"] > 20);
  CHECK(ends["work_items"] > 0);
}

// Replies by what was asked, so that two ways through a flow can be compared.
void answer_all(Run& run, Stamp& now, const std::function<void(Run&)>& after_each) {
  for (int i = 0; i < 400 && !std::holds_alternative<Ending>(run->course); ++i) {
    Event event = TimerFired{};
    for (const OpenEffect& effect : run->open) {
      const Seat& seat = *find_instance(run.state(), effect.instance)->seat;
      if (effect.kind == EffectKind::tool) {
        ToolFinished finished;
        finished.instance = effect.instance;
        finished.call = effect.call;
        finished.effect = effect.id;
        finished.content = Content(run->flow.specs[seat.phase].name + " by its crew " +
                                   std::to_string(seat.number));
        event = finished;
        break;
      }
      if (effect.kind != EffectKind::model) continue;
      ModelReplied reply;
      reply.instance = effect.instance;
      reply.effect = effect.id;
      reply.blocks = {says(run->flow.specs[seat.phase].name + " " + std::to_string(seat.number))};
      event = reply;
      break;
    }
    for (const Call& call : run->calls) {
      const auto* asked = std::get_if<CallAwaitingPerson>(&call.state);
      if (asked == nullptr || !run->open.empty()) continue;
      CallDecided decided;
      decided.call = call.id;
      decided.decision = InterruptDecision::approve;
      decided.binding = asked->binding;
      event = decided;
    }
    const bool idle = run->open.empty() && std::holds_alternative<TimerFired>(event);
    if (idle) event = EventReceived{i % 2 == 0 ? "merged" : "sent", Content("7"), "u"};
    if (advance(run, event, now)) after_each(run);
  }
}

TEST_CASE("a flow that crashes after every record has the outputs that it would have had") {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    const auto outputs = [seed](bool crashes) {
      Rng rng(seed);
      RunStarted start = random_flow(rng);
      start.limits.steps = start.limits.model_calls = 10'000;
      start.agent_callbacks = Presence::absent;
      for (PhaseSpec& phase : start.phases) {
        if (phase.await) phase.await->timeout_ms = 0;
      }
      Run run;
      Stamp now{1, 0, 0};
      REQUIRE(advance(run, start, now));
      answer_all(run, now, [&](Run& at) {
        if (!crashes || std::holds_alternative<Ending>(at->course)) return;
        auto loaded = decode_snapshot(encode_snapshot(at));
        REQUIRE(loaded);
        at = *std::move(loaded);
        ++now.epoch;
        REQUIRE(advance(at, DriverAttached{"p"}, now));
      });
      std::string text = std::string(name(stop_reason_of(run.state())));
      for (std::uint32_t i = 0; i < run->flow.specs.size(); ++i) {
        text += "\n" + output_json(run->flow, i);
      }
      return text;
    };
    CHECK(outputs(false) == outputs(true));
    ++compared;
  }
  CHECK(compared == 120);
}

}  // namespace
}  // namespace pawl::testing
