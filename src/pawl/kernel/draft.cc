#include "pawl/kernel/draft.h"

#include "pawl/kernel/context.h"

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

Draft::Draft(const RunState& run, const Event& event, const Stamp& when)
    : state(run),
      stamp(when),
      tally(tally_after(run, event, when)),
      starting(std::get_if<RunStarted>(&event)),
      event_(event),
      limits_(limits_after(run, event)),
      effects_minted_(run.effects_minted),
      calls_minted_(run.calls_minted) {
  decisions.reserve(kUsualDecisions);
  effects.reserve(kUsualEffects);
  if (starting != nullptr) own_targets_ = targets_of(*starting);
  if (std::holds_alternative<Pausing>(run.course)) course_ = Heading::pausing;
  if (std::holds_alternative<Ending>(run.course)) course_ = Heading::ending;
}

void Draft::discard(const OpenEffect& effect, const Usage& charged) {
  add(AttemptDiscarded{effect.id, charged});
  tally.usage = tally.usage + charged;
  tally.cost_pico =
      add_saturating(tally.cost_pico, worst_cost_pico(charged, prices_of(state, effect.instance)));
  close(effect.id);
}

std::uint64_t Draft::context_of(const Instance& instance) const {
  if (cut_ && cut_->first == instance.id) return cut_->second;
  const bool is_new = find_instance(state, instance.id) == nullptr;
  return is_new ? instance.context_tokens : context_after(state, event_, instance.id);
}

Draft::Reserved Draft::reserved() const {
  Reserved sum;
  const auto add = [this, &sum](const Usage& usage, std::uint32_t target) {
    if (target >= targets().size()) return;
    sum.pico = add_saturating(sum.pico, worst_cost_pico(usage, targets()[target].prices));
    sum.tokens = add_saturating(sum.tokens, total_tokens(usage));
  };
  for (const Instance& instance : state.instances) {
    const auto* model = std::get_if<AwaitingModel>(&instance.phase);
    if (model != nullptr && !is_settled(model->effect)) add(model->reserved, model->target);
    const auto* compacting = std::get_if<Compacting>(&instance.phase);
    if (compacting != nullptr && !is_settled(compacting->effect)) {
      add(compacting->reserved, compacting->target);
    }
  }
  for (const Effect& effect : effects) {
    if (const auto* call = std::get_if<CallModel>(&effect)) add(call->reserved, call->target);
    if (const auto* cut = std::get_if<CompactContext>(&effect)) add(cut->reserved, cut->target);
  }
  return sum;
}

void Draft::pause() {
  add(PauseBegan{});
  course_ = Heading::pausing;
}

void Draft::unpause() {
  add(PauseEnded{});
  course_ = Heading::going;
}

void Draft::stop(RunStatus status, StopReason reason, std::string detail) {
  if (ending()) return;
  add(EndingBegan{status, reason, std::move(detail)});
  course_ = Heading::ending;
  withdraw_starts();
  doubt_held_questions();
  for (const OpenEffect& effect : state.open) {
    const bool abortable =
        effect.kind != EffectKind::begin_agent && effect.kind != EffectKind::end_agent;
    if (abortable && still_open(effect.id)) effects.push_back(AbortEffect{effect.id});
  }
}

// What this very decision wanted to start is not started: the run is ending now.
void Draft::withdraw_starts() {
  for (const Effect& effect : effects) {
    if (const AskStatus* asked = std::get_if<AskStatus>(&effect)) add(CallInDoubt{asked->call});
  }
  effects.clear();
}

// What was to be asked about is not asked any more, and stays unknown.
void Draft::doubt_held_questions() {
  for (const Call& call : state.calls) {
    const CallWaiting* held = std::get_if<CallWaiting>(&call.state);
    if (held == nullptr || held->held_for != HeldFor::status) continue;
    const Decision doubted = CallInDoubt{call.id};
    if (std::find(decisions.begin(), decisions.end(), doubted) == decisions.end()) add(doubted);
  }
}

void Draft::stop_at(StopReason limit) {
  stop(RunStatus::stopped, limit, limit_detail(limit, tally, limits()));
}

void Draft::withdraw_ending() {
  add(EndingWithdrawn{});
  const bool paused = std::get<Ending>(state.course).pause == Presence::present;
  course_ = paused ? Heading::pausing : Heading::going;
}

bool Draft::all_ended(InstanceId instance) const {
  return std::all_of(state.calls.begin(), state.calls.end(), [&](const Call& call) {
    return call.instance != instance || std::holds_alternative<CallEnded>(call.state) ||
           ends(call.id);
  });
}

bool Draft::succeeds(CallId call) const {
  if (!ends(call)) return false;
  return result_success(event_) == Presence::present;
}

void Draft::settle() {
  if (!ending()) return;
  const bool old_open = std::any_of(state.open.begin(), state.open.end(),
                                    [this](const auto& one) { return still_open(one.id); });
  const bool new_open = std::any_of(effects.begin(), effects.end(), [](const Effect& effect) {
    return !std::holds_alternative<AbortEffect>(effect);
  });
  if (!old_open && !new_open) effects.push_back(EndAgent{mint_effect()});
}

void begin_step(Draft& draft, const Instance& instance, Fresh fresh) {
  if (draft.ending()) return;
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, 0});
  if (const auto bound = exhausted_for_step(draft.tally, draft.limits())) {
    return draft.stop_at(*bound);
  }
  const auto waiting = static_cast<std::uint32_t>(instance.waiting_messages.size()) + fresh.arrived;
  if (waiting > 0) draft.add(MessagesDelivered{instance.id, waiting});
  ++draft.tally.steps;
  draft.add(StepBegan{instance.id, draft.tally.steps});
  call_model(draft, instance, {draft.tally.steps, 1, instance.position + fresh.outcomes});
}

void call_again(Draft& draft, const Instance& instance, Fresh fresh) {
  if (draft.ending()) return;
  if (instance.open_step == 0) return begin_step(draft, instance, fresh);
  if (const auto bound = exhausted(draft.tally, draft.limits())) return draft.stop_at(*bound);
  call_model(draft, instance,
             {instance.open_step, instance.attempts + 1, instance.position + fresh.outcomes,
              fresh.target.value_or(instance.target)});
}

// A terminal tool that has succeeded, the last of them.
static std::optional<CallId> answered_by_tool(const Draft& draft, InstanceId id) {
  std::optional<CallId> found;
  for (const Call& call : draft.state.calls) {
    const PinnedTool* tool = find_tool(draft.state, call.tool);
    if (call.instance != id || tool == nullptr || tool->ends_turn == EndsTurn::no) continue;
    const CallEnded* ended = std::get_if<CallEnded>(&call.state);
    const bool before = ended != nullptr && ended->success == Presence::present;
    if (before || draft.succeeds(call.id)) found = call.id;
  }
  return found;
}

bool others_active(const RunState& state, InstanceId except) {
  return std::any_of(state.instances.begin(), state.instances.end(), [except](const Instance& one) {
    return one.id != except && !std::holds_alternative<Resting>(one.phase);
  });
}

void go_on_when_all_ended(Draft& draft, InstanceId id) {
  if (draft.ending() || !draft.all_ended(id)) return;
  const Instance* instance = find_instance(draft.state, id);
  PAWL_ASSERT(instance != nullptr);
  const auto answer = answered_by_tool(draft, id);
  if (answer) draft.add(AnsweredByTool{id, *answer});
  draft.add(ResultsTaken{id});
  if (!answer || !instance->waiting_messages.empty()) return begin_step(draft, *instance, {});
  draft.add(InstanceRested{id});
  if (!others_active(draft.state, id)) draft.stop(RunStatus::done, StopReason::end_turn, "");
}

Presence result_success(const Event& event) {
  const auto is = [](bool good) { return good ? Presence::present : Presence::absent; };
  if (const auto* one = std::get_if<ToolFinished>(&event))
    return is(one->end == ToolEnd::succeeded);
  if (const auto* one = std::get_if<ToolStatusLearned>(&event)) {
    return is(one->answer == StatusAnswer::done);
  }
  if (const auto* one = std::get_if<DoubtResolved>(&event)) {
    return is(one->verdict == DoubtVerdict::happened);
  }
  const auto* decided = std::get_if<CallDecided>(&event);
  return is(decided != nullptr && decided->decision == InterruptDecision::input);
}

const OpenEffect* effect_stopped_by(const RunState& state, const HookStopped& event) {
  const OpenEffect* effect = find_effect(state, event.effect);
  if (effect == nullptr) return nullptr;
  switch (event.point) {
    case HookPoint::before_model:
    case HookPoint::after_model:
      return effect->kind == EffectKind::model ? effect : nullptr;
    case HookPoint::before_tool:
    case HookPoint::after_tool:
      return effect->kind == EffectKind::tool ? effect : nullptr;
    case HookPoint::before_agent:
    case HookPoint::after_agent:
      return nullptr;
  }
  return nullptr;
}

Instance root_of(const RunStarted& event, std::uint64_t seq) {
  Instance root;
  root.node = event.node;
  for (std::size_t i = 0; i < event.history.size(); ++i) {
    root.transcript.push_back(
        {EntryKind::past, seq, i, estimate_tokens(event.history[i].text.length())});
  }
  std::uint64_t bytes = event.input.length();
  for (const Attachment& one : event.attachments) bytes = add_saturating(bytes, one.bytes.length());
  root.transcript.push_back({EntryKind::input, seq, 0, estimate_tokens(bytes)});
  root.attachments = static_cast<std::uint32_t>(event.attachments.size());
  root.context_tokens = event.base_tokens;
  for (const Entry& entry : root.transcript) {
    root.context_tokens = add_saturating(root.context_tokens, entry.tokens);
  }
  return root;
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
