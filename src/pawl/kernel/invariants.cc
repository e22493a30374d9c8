#include "pawl/kernel/invariants.h"

#include <algorithm>
#include <map>
#include <set>

#include "pawl/result.h"

// Of every instance after every event: too dear for a program that people wait for.
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PAWL_ASSERT_WHOLE_RUNS 1
#else
#define PAWL_ASSERT_WHOLE_RUNS 0
#endif

namespace pawl {
namespace {

constexpr bool kWholeRuns = PAWL_ASSERT_WHOLE_RUNS == 1;

std::size_t open_count(const RunState& state, EffectKind kind) {
  return static_cast<std::size_t>(
      std::count_if(state.open.begin(), state.open.end(),
                    [kind](const OpenEffect& one) { return one.kind == kind; }));
}

bool has_orphan(const std::vector<Entry>& transcript) {
  EntryKind before = EntryKind::input;
  for (const Entry& entry : transcript) {
    const bool follows = before == EntryKind::assistant || before == EntryKind::tool_result;
    if (entry.kind == EntryKind::tool_result && !follows) return true;
    before = entry.kind;
  }
  return false;
}

}  // namespace

std::string fault_of_effects(const RunState& state) {
  std::set<EffectId> awaited;
  std::size_t models = 0;
  std::size_t summaries = 0;
  for (const Instance& one : state.instances) {
    if (const auto* phase = std::get_if<AwaitingModel>(&one.phase)) {
      awaited.insert(phase->effect);
      ++models;
    }
    if (const auto* phase = std::get_if<Compacting>(&one.phase)) {
      awaited.insert(phase->effect);
      ++summaries;
    }
  }
  std::size_t running = 0;
  std::size_t asking = 0;
  std::size_t judging = 0;
  for (const Call& call : state.calls) {
    if (find_instance(state, call.instance) == nullptr) return "a call of no instance";
    if (const auto* run = std::get_if<CallRunning>(&call.state)) {
      awaited.insert(run->effect);
      ++running;
    }
    if (const auto* ask = std::get_if<CallAsking>(&call.state)) {
      awaited.insert(ask->effect);
      ++asking;
    }
    if (const auto* judge = std::get_if<CallJudging>(&call.state)) {
      awaited.insert(judge->effect);
      ++judging;
    }
  }
  if (models != open_count(state, EffectKind::model)) return "model calls and open effects differ";
  if (summaries != open_count(state, EffectKind::compact)) {
    return "compactions and open effects differ";
  }
  if (running != open_count(state, EffectKind::tool))
    return "running calls and open effects differ";
  if (asking != open_count(state, EffectKind::status))
    return "asking calls and open effects differ";
  if (judging != open_count(state, EffectKind::judge))
    return "judged calls and open effects differ";
  for (const OpenEffect& one : state.open) {
    const bool agent = one.kind == EffectKind::begin_agent || one.kind == EffectKind::end_agent ||
                       one.kind == EffectKind::ask_money || one.kind == EffectKind::ask_place;
    if (!agent && awaited.count(one.id) == 0) return to_string(one.id) + " is awaited by nobody";
    if (static_cast<std::uint64_t>(one.id) > state.effects_minted) return "an unminted effect";
  }
  return "";
}

namespace {

// What reaches it wakes nobody any more.
bool has_final_output(const RunState& state, const Instance& instance) {
  return instance.id == kRootInstance && state.final_output.has_value();
}

// A parent may be suspended by the reply that spawned its primary child: the child acts all the
// same.
bool lets_child_act(const Phase& parent) {
  return std::holds_alternative<Resting>(parent) || std::holds_alternative<AwaitingTools>(parent) ||
         std::holds_alternative<Suspended>(parent) || std::holds_alternative<Ready>(parent);
}

}  // namespace

// Empty, or what does not fit between the instance and those below and above it.
std::string fault_of_tree(const RunState& state) {
  std::size_t ended = 0;
  std::map<InstanceId, std::uint32_t> workers;
  for (const Instance& one : state.instances) {
    ended += is_live(one) ? 0U : 1U;
    if (!is_live(one) || one.id == kRootInstance) continue;
    const Instance* parent = find_instance(state, one.parent);
    if (parent == nullptr || !is_live(*parent)) return to_string(one.id) + " has lost its parent";
    if (one.kind == NodeKind::worker) ++workers[one.parent];
    if (one.kind == NodeKind::primary && parent->child != one.id) {
      return to_string(one.id) + " has not taken over";
    }
    if (one.kind == NodeKind::primary && !lets_child_act(parent->phase)) {
      return to_string(one.parent) + " acts beside its primary child";
    }
  }
  if (ended != state.ended) return "the number of those that have ended is not right";
  for (const Instance& one : state.instances) {
    if (is_live(one) && one.workers != workers[one.id]) {
      return to_string(one.id) + " has another number of workers";
    }
  }
  return "";
}

// The flow's own books, and that nothing of it waits without a reason.
std::string fault_of_flow_books(const RunState& state) {
  const FlowState& flow = state.flow;
  if (flow.specs.size() != flow.runs.size()) return "phases and what is known of them differ";
  std::vector<std::uint32_t> live(flow.runs.size(), 0);
  for (const Instance& one : state.instances) {
    if (is_live(one) && one.seat) ++live.at(one.seat->phase);
  }
  std::uint32_t waiting = 0;
  for (std::uint32_t i = 0; i < flow.runs.size(); ++i) {
    const PhaseRun& run = flow.runs[i];
    const std::string phase = "phase " + flow.specs[i].name;
    if (run.live != live[i]) return phase + " has another number of instances";
    waiting += run.status == PhaseStatus::waiting ? 1U : 0U;
    const bool queued = std::count(flow.queue.begin(), flow.queue.end(), i) == 1;
    if (queued != may_begin(flow.specs[i], run)) return phase + " is queued, or not";
    const bool asks = run.call != CallId{};
    if (asks && find_call(state, run.call) == nullptr)
      return phase + " asks by a call that is gone";
    if (run.map && run.map->running > flow.specs[i].map->max) return phase + " has too many items";
  }
  if (waiting != flow.waiting) return "another number of phases waits";
  const Instance* root = find_instance(state, kRootInstance);
  const bool over = root->workers == 0 && flow.waiting == 0 && flow.ready.empty() &&
                    flow.queue.empty() && std::holds_alternative<Going>(state.course);
  const bool began = state.begin_held == Presence::absent && state.open.empty();
  return over && began ? "the flow is through, and nobody ends it" : "";
}

std::string fault_of_liveness(const RunState& state) {
  const bool going = std::holds_alternative<Going>(state.course);
  const bool ending = std::holds_alternative<Ending>(state.course);
  if (ending && state.open.empty()) return "it is ending, and nothing is under way";
  if (open_count(state, EffectKind::end_agent) > 0 && (!ending || state.open.size() > 1)) {
    return "the end has begun before everything else ended";
  }
  for (const Instance& one : state.instances) {
    const bool beginning =
        one.id == kRootInstance && open_count(state, EffectKind::begin_agent) > 0;
    if (!is_live(one)) continue;
    const bool hears = !one.child && !awaits_birth(state, one.id) && !has_final_output(state, one);
    if (going && std::holds_alternative<Resting>(one.phase) && has_news(one) && hears) {
      return to_string(one.id) + " rests, and a message waits";
    }
    if (going && std::holds_alternative<Ready>(one.phase) && !beginning) {
      return to_string(one.id) + " is ready, and nobody calls the model";
    }
    const auto mine = [&](const Call& call) { return call.instance == one.id; };
    const auto over = [&](const Call& call) {
      return !mine(call) || std::holds_alternative<CallEnded>(call.state);
    };
    const bool awaiting = std::holds_alternative<AwaitingTools>(one.phase);
    const bool any = std::any_of(state.calls.begin(), state.calls.end(), mine);
    const bool suspended = std::holds_alternative<Suspended>(one.phase);
    const bool asks = has_flow(state) && one.id == kRootInstance;  // at checkpoints
    if (awaiting != any && !suspended && !asks)
      return to_string(one.id) + " awaits tools, or has calls, not both";
    if (any && !ending && std::all_of(state.calls.begin(), state.calls.end(), over)) {
      return to_string(one.id) + " has all results, and does not go on";
    }
    if (has_orphan(one.transcript)) return to_string(one.id) + " has a result without its call";
    if (find_instance(state, one.parent) == nullptr) return to_string(one.id) + " is an orphan";
  }
  for (const Call& call : state.calls) {
    const auto* held = std::get_if<CallWaiting>(&call.state);
    if (held == nullptr) continue;
    const bool run = held->held_for == HeldFor::child || held->held_for == HeldFor::place;
    if (going && !run) return to_string(call.id) + " is held, and nobody runs it";
    if (ending && held->held_for == HeldFor::status) {
      return to_string(call.id) + " waits for a question that nobody asks any more";
    }
  }
  if (going && state.begin_held == Presence::present) return "agent callbacks are held";
  return "";
}

std::string fault_of_instance(const RunState& state, const Instance& instance) {
  const auto awaits = [&](EffectId id, EffectKind kind) {
    const OpenEffect* effect = find_effect(state, id);
    return effect != nullptr && effect->kind == kind && effect->instance == instance.id;
  };
  if (const auto* phase = std::get_if<AwaitingModel>(&instance.phase)) {
    if (!awaits(phase->effect, EffectKind::model)) return "it awaits a model call that is not open";
  }
  if (const auto* phase = std::get_if<Compacting>(&instance.phase)) {
    if (!awaits(phase->effect, EffectKind::compact)) return "it awaits a summary nobody writes";
  }
  if (!is_live(instance)) return "";
  if (instance.target >= state.targets.size()) return "its target does not exist";
  if (instance.open_step > state.tally.steps) return "its step has not begun";
  if (instance.transcript.empty()) return "its conversation has no beginning";
  return "";
}

std::string fault_of(const Run& run) {
  const RunState& state = run.state();
  if (!std::holds_alternative<Live>(state.life)) return "";
  Reserved reserved;
  for (const Instance& one : state.instances) {
    reserved.add(reserved_in(state, one.phase));
    std::string fault = fault_of_instance(state, one);
    if (!fault.empty()) return to_string(one.id) + ": " + fault;
  }
  if (reserved != run.reserved()) return "something else is set aside than what is under way";
  std::string fault = fault_of_effects(state);
  if (fault.empty() && has_nodes(state)) fault = fault_of_tree(state);
  if (fault.empty() && has_flow(state)) fault = fault_of_flow_books(state);
  return fault.empty() ? fault_of_liveness(state) : fault;
}

void assert_invariants(const Run& run, InstanceId touched) {
  const RunState& state = run.state();
  const Instance* instance = find_instance(state, touched);
  PAWL_ASSERT(instance == nullptr || fault_of_instance(state, *instance).empty());
  const bool over = std::holds_alternative<Finished>(state.life);
  PAWL_ASSERT(!over || state.open.empty());
  if constexpr (kWholeRuns) PAWL_ASSERT(fault_of(run).empty());
}

}  // namespace pawl
