#include "pawl/kernel/draft.h"

#include "pawl/kernel/context.h"
#include "pawl/kernel/decide_agents.h"
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/decide_tree.h"
#include "pawl/kernel/invariants.h"

namespace pawl {
namespace {

constexpr std::size_t kUsualDecisions = 4;
constexpr std::size_t kUsualEffects = 2;
constexpr std::size_t kUsualBytes = 256;  // of what is hashed to a fingerprint

std::string limit_detail(StopReason reason, const Tally& tally, const Limits& limits) {
  const auto used = [](std::uint64_t have, std::uint64_t allowed) {
    return std::to_string(have) + " of " + std::to_string(allowed);
  };
  switch (reason) {
    case StopReason::steps:
      return "limit steps: " + used(tally.steps, limits.steps);
    case StopReason::model_calls:
      return "limit model_calls: " + used(tally.model_calls, limits.model_calls);
    case StopReason::tool_calls:
      return "limit tool_calls: " + used(tally.tool_calls, limits.tool_calls) +
             ", and more were asked for";
    case StopReason::time:
      return "limit time: " + used(tally.active_ms, limits.time_ms) + " ms";
    case StopReason::tokens:
      return "limit tokens: " + used(total_tokens(tally.usage), limits.tokens);
    case StopReason::bytes_in:
      return "limit bytes_in: " + used(tally.bytes_in, limits.bytes_in);
    case StopReason::bytes_out:
      return "limit bytes_out: " + used(tally.bytes_out, limits.bytes_out);
    case StopReason::branches:
      return "limit branches: " + used(tally.branches, limits.branches);
    default:
      return std::string(name(reason));
  }
}

// Every piece is preceded by its kind and its length, so that no two lists of pieces read alike.
void append_piece(std::string& bytes, char kind, std::string_view piece) {
  bytes += kind;
  bytes += std::to_string(piece.size());
  bytes += ':';
  bytes += piece;
}

void append_content(std::string& bytes, const Content& content) {
  if (const std::string* inline_bytes = content.bytes()) {
    append_piece(bytes, 'i', *inline_bytes);
  } else {
    append_piece(bytes, 'b', content.blob()->digest.view());
  }
}

void append_call(std::string& bytes, const CallBlock& call) {
  append_piece(bytes, 'c', call.tool);
  append_content(bytes, call.input);
}

std::uint64_t hash_of(std::string_view bytes) {
  const Digest digest = sha256(bytes);
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < sizeof first; ++i) first = first << 8U | digest.bytes[i];
  return first;
}

}  // namespace

static const Rules& rules_for(const Run& run, const Event& event) {
  const auto* started = std::get_if<RunStarted>(&event);
  return rules_of(started == nullptr ? run->semantics : started->semantics);
}

Draft::Draft(Run& run, Record& record)
    : state(run.state()),
      stamp(record.stamp),
      rules(rules_for(run, record.event)),
      record_(record),
      applier_(run, record),
      run_(run),
      effects_minted_(run->effects_minted) {
  record.seq = run->length;
  record.instance = instance_of(record.event);
  record.decisions.clear();
  record.effects.clear();
  record.decisions.reserve(kUsualDecisions);
  record.effects.reserve(kUsualEffects);
}

void Draft::take_event() {
  if (auto measured = measure(rules, state, record_.event)) {
    record_.decisions.emplace_back(*std::move(measured));
  }
  applier_.apply_event();
}

std::uint64_t Draft::worst_cost(const Usage& reserved, std::uint32_t target) const {
  const bool known = target < state.targets.size();
  return worst_cost_pico(reserved, known ? state.targets[target].prices : state.prices,
                         rules.input_estimate_factor);
}

void Draft::set_aside(const Usage& usage, std::uint32_t target, std::uint64_t& pico) {
  if (!reserves(state)) return;
  pico = worst_cost(usage, target);
  to_start_.add({pico, total_tokens(usage)});
}

void Draft::discard(const OpenEffect& effect, const Usage& charged) {
  const Prices& prices = prices_of(state, effect.instance);
  const std::uint64_t cost = worst_cost_pico(charged, prices, rules.input_estimate_factor);
  add(AttemptDiscarded{effect.id, charged, cost});
}

const Instance& Draft::instance(InstanceId id) const {
  const Instance* found = find_instance(state, id);
  PAWL_ASSERT(found != nullptr);
  return *found;
}

const Call& Draft::call(CallId id) const {
  const Call* found = find_call(state, id);
  PAWL_ASSERT(found != nullptr);
  return *found;
}

bool Draft::starts_for(CallId call) const {
  return std::any_of(record_.effects.begin(), record_.effects.end(), [call](const Effect& effect) {
    return std::visit(
        [call](const auto& one) {
          if constexpr (requires { one.call; }) return one.call == call;
          return false;
        },
        effect);
  });
}

bool Draft::is_from_child() const {
  const auto* finished = std::get_if<ToolFinished>(&record_.event);
  return std::holds_alternative<ChildAsked>(record_.event) ||
         std::holds_alternative<ChildReported>(record_.event) ||
         std::holds_alternative<ChildWaits>(record_.event) ||
         (finished != nullptr && finished->books);
}

// What is said to other runs is no work.
static bool has_outcome(const Effect& effect) {
  return !std::holds_alternative<AbortEffect>(effect) &&
         !std::holds_alternative<TellParent>(effect) &&
         !std::holds_alternative<AnswerChild>(effect) &&
         !std::holds_alternative<SteerChild>(effect);
}

bool Draft::starts_other_than_tools_for(const std::function<bool(CallId)>& which) const {
  return std::any_of(record_.effects.begin(), record_.effects.end(), [&](const Effect& effect) {
    const RunTool* tool = std::get_if<RunTool>(&effect);
    if (tool != nullptr) return !which(tool->call);
    return has_outcome(effect) && !std::holds_alternative<AskParent>(effect);
  });
}

Reserved Draft::reserved() const {
  Reserved sum = run_.reserved();
  sum.add(to_start_);
  if (!state.children.empty()) sum.add(granted(state));
  return sum;
}

Tally Draft::tally() const {
  Tally tally = state.tally;
  tally.model_calls += model_calls_to_start_;
  return tally;
}

void Draft::stop(RunStatus status, StopReason reason, std::string detail) {
  if (ending()) return;
  add(EndingBegan{status, reason, std::move(detail)});
  withdraw_starts();
  doubt_held_questions();
  leave_child_runs(*this);
  for (const OpenEffect& effect : state.open) {
    const bool abortable =
        effect.kind != EffectKind::begin_agent && effect.kind != EffectKind::end_agent;
    if (abortable) abort(effect.id);
  }
}

// What this very record was to start is not started: the run is ending now.
void Draft::withdraw_starts() {
  std::vector<Effect> withdrawn = std::exchange(record_.effects, {});
  for (Effect& effect : withdrawn) {
    const bool said = !has_outcome(effect) && !std::holds_alternative<AbortEffect>(effect);
    if (said) record_.effects.push_back(std::move(effect));
    if (said) continue;
    if (const AskStatus* asked = std::get_if<AskStatus>(&effect)) add(CallInDoubt{asked->call});
    const JudgeCall* judged = std::get_if<JudgeCall>(&effect);
    if (judged != nullptr) add(CallHeld{judged->call, HeldFor::judgement});
  }
}

void Draft::withdraw_starts_of(InstanceId id) {
  std::erase_if(record_.effects, [&](const Effect& effect) {
    return std::visit(
        [&](const auto& one) {
          if constexpr (requires { one.instance; }) {
            if (one.instance != id) return false;
            if constexpr (requires { one.reserved; }) {
              if (reserves(state))
                to_start_.subtract({one.reserved_pico, total_tokens(one.reserved)});
            }
            if constexpr (requires { one.position; }) --model_calls_to_start_;
            return true;
          }
          return false;
        },
        effect);
  });
}

void Draft::pause_where_undriven() {
  if (!undriven() || !going()) return;
  add(PauseBegan{});
  ready_those_that_wait(*this);
}

// What was to be asked about is not asked any more, and stays unknown.
void Draft::doubt_held_questions() {
  for (const Call& call : state.calls) {
    const CallWaiting* held = std::get_if<CallWaiting>(&call.state);
    if (held != nullptr && held->held_for == HeldFor::status) add(CallInDoubt{call.id});
  }
}

void Draft::stop_at(StopReason limit) {
  stop(RunStatus::stopped, limit, limit_detail(limit, tally(), state.limits));
}

void Draft::finish() {
  settle_tree(*this);
  const bool starts = std::any_of(record_.effects.begin(), record_.effects.end(), has_outcome);
  const bool live = std::holds_alternative<Live>(state.life);
  if (live && ending() && state.open.empty() && !starts) start(EndAgent{});
  for (const Effect& effect : record_.effects) applier_.apply(effect);
  PAWL_ASSERT(applier_.fault().empty());
  assert_invariants(run_, record_.instance);
}

// True: the instance does something else than its next step.
static bool is_held_by_tree(Draft& draft, const Instance& instance) {
  if (!has_nodes(draft.state)) return false;
  if (draft.over(instance.id)) return true;
  if (instance.leave && instance.leave->kind == LeaveKind::transition && !draft.pausing()) {
    take_leave(draft, instance.id);
    return true;
  }
  if (has_primary_child(draft.state, instance)) {
    const bool rests = std::holds_alternative<Resting>(instance.phase);
    if (!rests) draft.add(InstanceRested{instance.id});
    return true;
  }
  const std::uint64_t most = node_of(draft.state, instance).steps;
  const bool spent = most > 0 && instance.node_steps >= most;
  if (!spent && !is_at_phase_limit(draft.state, instance)) return false;
  stop_at_node_limit(draft, instance.id);
  return true;
}

void begin_step(Draft& draft, const Instance& instance) {
  if (draft.ending() || is_held_by_tree(draft, instance)) return;
  draft.pause_where_undriven();
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, 0});
  if (const auto bound = exhausted_for_step(draft.tally(), draft.state.limits)) {
    return draft.stop_at(*bound);
  }
  const auto contents = static_cast<std::uint32_t>(instance.contents.size());
  if (contents > 0) draft.add(ContentsDelivered{instance.id, contents});
  const auto waiting = static_cast<std::uint32_t>(instance.waiting_messages.size());
  if (waiting > 0) draft.add(MessagesDelivered{instance.id, waiting});
  draft.add(StepBegan{instance.id, draft.state.tally.steps + 1});
  call_model(draft, instance);
}

void call_again(Draft& draft, const Instance& instance) {
  if (draft.over(instance.id)) return;
  if (instance.open_step == 0) return begin_step(draft, instance);
  if (const auto bound = exhausted(draft.tally(), draft.state.limits)) {
    return draft.stop_at(*bound);
  }
  call_model(draft, instance);
}

static bool is_over(const Call& call) {
  return std::holds_alternative<CallEnded>(call.state);
}

// A terminal tool that has succeeded, the last of them.
static std::optional<CallId> answered_by_tool(const RunState& state, InstanceId id) {
  std::optional<CallId> found;
  for (const Call& call : state.calls) {
    const PinnedTool* tool = call.instance == id ? tool_of_call(state, call) : nullptr;
    if (call.instance != id || tool == nullptr || tool->ends_turn == EndsTurn::no) continue;
    const CallEnded* ended = std::get_if<CallEnded>(&call.state);
    if (ended != nullptr && ended->success == Presence::present) found = call.id;
  }
  return found;
}

bool all_ended(const Draft& draft, InstanceId id) {
  const auto& calls = draft.state.calls;
  return std::all_of(calls.begin(), calls.end(), [&](const Call& call) {
    const bool rests = is_over(call) || std::holds_alternative<CallSuspending>(call.state);
    return call.instance != id || (rests && !draft.starts_for(call.id));
  });
}

bool has_calls(const RunState& state, InstanceId id) {
  return std::any_of(state.calls.begin(), state.calls.end(),
                     [id](const Call& call) { return call.instance == id; });
}

std::vector<InstanceId> instance_ids(const RunState& state) {
  std::vector<InstanceId> ids;
  ids.reserve(state.instances.size());
  for (const Instance& one : state.instances) ids.push_back(one.id);
  return ids;
}

bool others_active(const RunState& state, InstanceId except) {
  return std::any_of(state.instances.begin(), state.instances.end(), [except](const Instance& one) {
    return one.id != except && !std::holds_alternative<Resting>(one.phase);
  });
}

void go_on_when_all_ended(Draft& draft, InstanceId id) {
  if (draft.over(id) || !all_ended(draft, id)) return;
  const Instance& instance = draft.instance(id);
  if (is_agent_seat(draft.state, instance)) {
    return end_instance(draft, id, instance.seat->how, instance.last_words);
  }
  if (instance.leave) return take_leave(draft, id);
  const auto answer = answered_by_tool(draft.state, id);
  if (answer) draft.add(AnsweredByTool{id, *answer});
  draft.add(ResultsTaken{id});
  if (!answer || has_news(instance)) return begin_step(draft, instance);
  if (has_nodes(draft.state)) return end_turn_of(draft, id);
  draft.add(InstanceRested{id});
  if (!others_active(draft.state, id)) draft.stop(RunStatus::done, StopReason::end_turn, "");
}

std::uint64_t fingerprint_of(const CallBlock& call) {
  std::string bytes;
  bytes.reserve(kUsualBytes);
  append_call(bytes, call);
  return hash_of(bytes);
}

std::uint64_t fingerprint_of(const std::vector<Block>& blocks) {
  std::string bytes;
  bytes.reserve(kUsualBytes);
  for (const Block& block : blocks) {
    if (const TextBlock* text = std::get_if<TextBlock>(&block)) append_content(bytes, text->text);
    if (const CallBlock* call = std::get_if<CallBlock>(&block)) append_call(bytes, *call);
  }
  return hash_of(bytes);
}

}  // namespace pawl
