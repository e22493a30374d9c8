// Random runs: starts, and events that a host could plausibly report, from one seed.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pawl/base/rng.h"
#include "pawl/kernel/example_parts_test.h"
#include "pawl/kernel/kernel.h"

namespace pawl::testing {

// Small contexts, so that they are full soon; prices, so that money runs out.
inline void add_random_targets(Rng& rng, RunStarted& start) {
  for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
    ModelTarget target;
    target.literal = "p" + std::to_string(n) + "/m";
    target.prices = {"USD", 1 + rng.below(5), 1 + rng.below(20), rng.below(3), rng.below(8)};
    if (rng.one_in(2)) target.context_tokens = 40 + rng.below(400);
    if (rng.one_in(2)) target.output_tokens = 100 + rng.below(1'000);
    start.targets.push_back(std::move(target));
  }
  if (rng.one_in(2)) start.limits.cost_pico = 1 + rng.below(60'000);
  start.compaction.ratio_percent = static_cast<std::uint32_t>(rng.below(100));
  start.compaction.keep_messages = static_cast<std::uint32_t>(rng.below(5));
  start.base_tokens = rng.below(30);
  if (rng.one_in(3)) start.output_tokens = rng.below(600);
  if (rng.one_in(3)) start.retry.after_output = AfterOutput::next_target;
}

inline RunStarted random_start(Rng& rng) {
  RunStarted start = a_start();
  start.run = RunId{"r" + std::to_string(rng.below(1000))};
  Limits& limits = start.limits;
  if (rng.one_in(3)) limits.steps = rng.below(12);
  if (rng.one_in(4)) limits.model_calls = rng.below(20);
  if (rng.one_in(4)) limits.tool_calls = rng.below(20);
  if (rng.one_in(4)) limits.time_ms = rng.below(30'000);
  if (rng.one_in(4)) limits.tokens = rng.below(20'000);
  if (rng.one_in(4)) limits.budget_tokens = 1 + rng.below(20'000);
  if (rng.one_in(4)) limits.budget_ms = 1 + rng.below(20'000);
  if (rng.one_in(6)) limits.bytes_in = rng.below(200);
  if (rng.one_in(6)) limits.bytes_out = rng.below(400);
  limits.branches = rng.below(4);
  const auto guard = [&rng] { return static_cast<std::uint32_t>(rng.pick<int>({0, 2, 5})); };
  start.guards = {guard(), guard(), guard()};
  if (rng.one_in(3)) start.agent_callbacks = Presence::present;
  if (rng.one_in(2)) add_random_targets(rng, start);
  if (rng.one_in(5)) limits.ask_cost_pico = 1 + rng.below(30'000);
  return start;
}

inline CallJudgement random_judgement(Rng& rng) {
  CallJudgement judgement = CallJudgement::allowed();
  if (rng.one_in(2)) return judgement;
  judgement.verdict = rng.pick<CallVerdict>(
      {CallVerdict::undecided, CallVerdict::ask, CallVerdict::ask, CallVerdict::deny});
  judgement.stage = GateStage::rule;
  judgement.rule = "r";
  judgement.reason = "so";
  judgement.kind = static_cast<InterruptKind>(rng.below(kCount<InterruptKind>));
  judgement.binding = sha256(std::to_string(rng.below(3)));
  if (rng.one_in(3)) judgement.expires_ms = 1 + rng.below(20'000);
  return judgement;
}

inline std::vector<Block> random_blocks(Rng& rng) {
  static const std::vector<std::string> kTools = {"pure", "idem", "recon", "once",
                                                  "tell", "once", "nope"};
  std::vector<Block> blocks;
  if (rng.one_in(300)) blocks.assign(kBlocksPerReplyMax, says(""));
  if (!rng.one_in(3)) blocks.push_back(says("t" + std::to_string(rng.below(50))));
  for (std::uint64_t n = rng.one_in(8) ? 0 : 1 + rng.below(3); n > 0; --n) {
    blocks.push_back(rng.one_in(12) ? calls_wrongly(rng.pick(kTools), "bad")
                                    : calls(rng.pick(kTools), std::to_string(rng.below(6))));
    if (rng.one_in(3)) std::get<CallBlock>(blocks.back()).judgement = random_judgement(rng);
  }
  return blocks;
}

inline Usage random_usage(Rng& rng) {
  return {rng.below(100), rng.below(100), rng.below(10), rng.below(10)};
}

// Everything a host may report at this moment, with the likely things listed more than once.
class RandomHost {
 public:
  RandomHost(Rng& rng, const RunState& state) : rng_(rng), state_(state) {}

  Event next() {
    if (rng_.one_in(25)) return anything();
    if (std::holds_alternative<NotStarted>(state_.life)) return random_start(rng_);
    if (std::holds_alternative<Finished>(state_.life)) return reopened();
    const std::uint64_t what = rng_.below(10);
    if (what < 6 && !state_.open.empty()) return outcome(rng_.pick(state_.open));
    if (what < 8) return answer();
    return what == 8 ? control() : rare();
  }

 private:
  Event outcome(const OpenEffect& effect) {
    switch (effect.kind) {
      case EffectKind::model:
        return model_outcome(effect);
      case EffectKind::tool:
        if (rng_.one_in(20)) {  // What was allowed is not any more, and was not started.
          return CallJudged{effect.instance, effect.call, effect.id, random_judgement(rng_)};
        }
        return finished(effect.instance, effect.call, effect.id);
      case EffectKind::status:
        return learned(effect.instance, effect.call, effect.id);
      case EffectKind::begin_agent:
        return AgentBegan{effect.id, rng_.one_in(4) ? any<HookVerdict>() : HookVerdict::proceed,
                          Content("instead"), "no"};
      case EffectKind::end_agent:
        return RunFinished{effect.id, {}};
      case EffectKind::compact:
        return compacted(effect.instance, effect.id);
      case EffectKind::judge:
        return CallJudged{effect.instance, effect.call, effect.id, random_judgement(rng_)};
      case EffectKind::ask_money:
      case EffectKind::ask_place:
        return ParentAnswered{effect.id, any<AskVerdict>(), {}, "no"};
    }
    return TimerFired{};
  }

  Event model_outcome(const OpenEffect& effect) {
    if (rng_.one_in(8)) return ModelAborted{effect.instance, effect.id, random_usage(rng_)};
    if (rng_.one_in(6)) return failed(effect.instance, effect.id);
    return replied(effect.instance, effect.id);
  }

  Event replied(InstanceId instance, EffectId effect) {
    ModelReplied event;
    event.instance = instance;
    event.effect = effect;
    event.blocks = random_blocks(rng_);
    event.usage = random_usage(rng_);
    if (rng_.one_in(8)) event.stop = any<ReplyStop>();
    if (rng_.one_in(60)) event.callback_stop = "no";
    if (rng_.one_in(20)) event.output_fault = "not what was asked for";
    if (rng_.one_in(8)) event.session = "s" + std::to_string(rng_.below(100));
    if (rng_.one_in(8)) event.cost_pico = rng_.below(1'000);
    return event;
  }
  Event failed(InstanceId instance, EffectId effect) {
    ModelFailed event;
    event.instance = instance;
    event.effect = effect;
    event.category = rng_.one_in(8) ? any<ErrorCategory>() : ErrorCategory::network_error;
    event.message = "down";
    event.usage = random_usage(rng_);
    if (rng_.one_in(3)) event.kind = any<FailureKind>();
    if (rng_.one_in(3)) event.output = Presence::present;
    if (rng_.one_in(4)) event.retry_after_ms = rng_.below(2 * kParkAfterMs);
    return event;
  }
  Event compacted(InstanceId instance, EffectId effect) {
    if (rng_.one_in(3)) return CompactionFailed{instance, effect, "no", random_usage(rng_)};
    ContextCompacted event;
    event.instance = instance;
    event.effect = effect;
    event.summary = Content(std::string(rng_.below(80), 's'));
    event.usage = random_usage(rng_);
    return event;
  }
  Event finished(InstanceId instance, CallId call, EffectId effect) {
    ToolFinished event;
    event.instance = instance;
    event.call = call;
    event.effect = effect;
    if (rng_.one_in(2)) event.end = any<ToolEnd>();
    event.content = Content("result");
    if (rng_.one_in(60)) event.callback_stop = "no";
    return event;
  }
  Event late(InstanceId instance, CallId call, EffectId effect) {
    return ResultCameLate{instance, call, effect, any<ToolEnd>(), Content("late")};
  }
  Event learned(InstanceId instance, CallId call, EffectId effect) {
    return ToolStatusLearned{instance, call, effect, any<StatusAnswer>(), Content("s")};
  }

  // What people answer to a run that waits for them.
  Event answer() {
    const Instance& instance = rng_.pick(state_.instances);
    if (const auto* phase = std::get_if<Suspended>(&instance.phase)) {
      return InstanceResumed{instance.id, phase->suspend_id, "u"};
    }
    if (std::holds_alternative<AwaitingExternal>(instance.phase)) {
      return ExternalTurnPushed{instance.id, random_blocks(rng_), random_usage(rng_), "host"};
    }
    for (const Call& call : state_.calls) {
      if (!std::holds_alternative<CallEnded>(call.state) && rng_.one_in(8)) {
        return late(call.instance, call.id, call.last_run);
      }
      if (const auto* asked = std::get_if<CallAwaitingPerson>(&call.state)) {
        if (rng_.one_in(2)) return decided(call, asked->binding);
      }
      if (std::holds_alternative<CallDoubtful>(call.state) && rng_.one_in(2)) {
        return DoubtResolved{call.instance, call.id, any<DoubtVerdict>(),
                             Content("r"),  "op",    call.attempts - (rng_.one_in(8) ? 1 : 0)};
      }
    }
    if (std::holds_alternative<AwaitingBudget>(instance.phase) && rng_.one_in(2)) {
      return BudgetRaised{rng_.below(20'000), "u", rng_.below(20'000), rng_.below(20'000)};
    }
    if (wants_park(state_)) return RunWaiting{};
    const bool due = std::any_of(state_.instances.begin(), state_.instances.end(), [](auto& one) {
      return std::holds_alternative<BackingOff>(one.phase) ||
             std::holds_alternative<RateLimited>(one.phase) ||
             std::holds_alternative<AwaitingBudget>(one.phase);
    });
    const bool expires = std::any_of(state_.calls.begin(), state_.calls.end(), [](auto& one) {
      const auto* asked = std::get_if<CallAwaitingPerson>(&one.state);
      return asked != nullptr && asked->expires_at_ms > 0;
    });
    if (due || state_.open.empty() || rng_.one_in(40)) return TimerFired{};
    if (expires && rng_.one_in(4)) return TimerFired{};
    return outcome(rng_.pick(state_.open));
  }

  Event decided(const Call& call, const Digest& binding) {
    CallDecided event;
    event.instance = call.instance;
    event.call = call.id;
    event.decision = any<InterruptDecision>();
    event.binding = rng_.one_in(8) ? sha256("other") : binding;
    event.by = "u";
    event.text = Content("because");
    if (event.decision == InterruptDecision::approve && rng_.one_in(6)) {
      event.edited = Content("{}");
      event.granted = sha256("edited");
    }
    return event;
  }

  Event control() {
    if (std::holds_alternative<Pausing>(state_.course)) return ResumeRequested{"u"};
    if (rng_.one_in(2)) return PauseRequested{"u"};
    return DriverAttached{"p"};
  }

  Event reopened() {
    RunReopened event;
    event.by = "u";
    if (!rng_.one_in(4)) {
      Limits limits = state_.limits;
      limits.steps += rng_.below(6);
      limits.model_calls += rng_.below(8);
      limits.tool_calls += rng_.below(8);
      limits.time_ms += rng_.below(20'000);
      limits.tokens += rng_.below(8'000);
      limits.bytes_in += rng_.below(100);
      limits.bytes_out += rng_.below(100);
      limits.branches += rng_.below(2);
      if (limits.cost_pico > 0) limits.cost_pico += rng_.below(20'000);
      if (rng_.one_in(4)) limits.ask_cost_pico = 0;
      if (rng_.one_in(10)) limits.steps -= std::min<std::uint64_t>(limits.steps, 3);
      event.limits = limits;
    }
    if (rng_.one_in(3)) event.guards = Guards{0, 4, 3};
    if (rng_.one_in(2)) event.message = Content("go on");
    return event;
  }

  Event rare() {
    const Instance& instance = rng_.pick(state_.instances);
    switch (rng_.below(10)) {
      case 0:
        if (rng_.one_in(4)) return CancelRequested{"u", ""};
        [[fallthrough]];
      case 1:
        if (rng_.one_in(4)) return stopped();
        [[fallthrough]];
      case 2:
        return HookFailed{HookPoint::after_tool, "threw"};
      case 3:
      case 4:
        return InstanceSpawned{instance.id, "n", Content("task")};
      case 5:
        return DriverAttached{"p"};
      default:
        return MessageReceived{instance.id, Content("m"), "u"};
    }
  }
  Event stopped() {
    HookStopped event;
    event.point = any<HookPoint>();
    if (!state_.open.empty() && rng_.one_in(2)) event.effect = rng_.pick(state_.open).id;
    return event;
  }

  // Late, early, astray: mostly refused.
  Event anything() {
    const auto instance = static_cast<InstanceId>(1 + rng_.below(4));
    const EffectId effect{rng_.below(state_.effects_minted + 2)};
    const CallId call{rng_.below(state_.calls_minted + 2)};
    switch (rng_.below(11)) {
      case 9:
        return compacted(instance, effect);
      case 8:
        return late(instance, call, effect);
      case 0:
        return replied(instance, effect);
      case 1:
        return failed(instance, effect);
      case 2:
        return finished(instance, call, effect);
      case 3:
        return learned(instance, call, effect);
      case 4:
        return DoubtResolved{instance, call, DoubtVerdict::did_not_happen, {}, "op"};
      case 5:
        return RunFinished{effect, {}};
      case 6:
        return AgentBegan{effect, HookVerdict::proceed, {}, ""};
      case 7:
        return InstanceResumed{instance, "s" + std::to_string(rng_.below(9)), "u"};
      default:
        return TimerFired{};
    }
  }

  template <class E>
  E any() {
    return static_cast<E>(rng_.below(kCount<E>));
  }

  Rng& rng_;
  const RunState& state_;
};

// The clock moves before most events; for a timer, to when one is due.
inline void move_clock(Rng& rng, const RunState& state, const Event& event, Stamp& now) {
  if (rng.one_in(2)) now.elapsed_ms += rng.below(300);
  if (std::holds_alternative<TimerFired>(event)) {
    if (const auto due = wake_at(state)) now.elapsed_ms = std::max(now.elapsed_ms, *due);
    if (rng.one_in(4)) now.elapsed_ms += rng.below(30'000);  // and more than one thing may be due
  }
  if (std::holds_alternative<DriverAttached>(event)) ++now.epoch;
  now.at_ms = static_cast<std::int64_t>(rng.below(1'000'000));  // Wall time may be anything.
}

}  // namespace pawl::testing
