// The part of the oracle that keeps the books about use and money.
#include "pawl/testing/sim/oracle.h"

namespace pawl::sim {
namespace {

// The oracle's own word for what rules_of(1) says: the input may be so many times the estimate.
constexpr std::uint64_t kInputFactor = 2;

}  // namespace

void Oracle::add_usage(Track& track, const Usage& usage, std::uint32_t target) {
  track.usage = track.usage + usage;
  const Prices& prices = track.run->targets.at(target).prices;
  track.cost_pico = add_saturating(track.cost_pico, cost_pico(usage, prices));
}

// At the prices of whoever was asked.
void Oracle::add_usage_of(Track& track, EffectId effect, const Usage& usage) {
  if (const auto* call = intent<CallModel>(track, effect)) {
    return add_usage(track, usage, call->target);
  }
  if (const auto* summary = intent<CompactContext>(track, effect)) {
    return add_usage(track, usage, summary->target);
  }
  if (usage != Usage{}) fail("a use of no model is charged");
}

void Oracle::check_summary_usage(const RunId& id, EffectId effect, const Usage& charged) {
  if (charged != summaries_[{id.text, effect}])
    fail("a summary is charged another use than it had");
}

// Money is there before it is spent: the most a call can cost fits into what is left.
void Oracle::check_budget(const RunId& id, const Track& track, const Record& record) {
  if (track.run->limits.cost_pico != track.budget_pico) {
    return fail("run " + id.text + " has another budget than it was given");
  }
  for (const Effect& effect : record.effects) {
    const auto* call = std::get_if<CallModel>(&effect);
    if (call == nullptr || track.budget_pico == 0) continue;
    const std::uint64_t most =
        worst_cost_pico(call->reserved, track.run->targets.at(call->target).prices, kInputFactor);
    if (add_saturating(track.cost_pico, most) > track.budget_pico) {
      fail("a model is called that may cost more than is left");
    }
  }
}

// What an attempt is charged is what the model said, or what was set aside for it.
void Oracle::check_usage(const Track& track, const RunId& id, EffectId effect,
                         const Usage& charged) {
  const CallModel* call = intent<CallModel>(track, effect);
  if (call == nullptr) return fail("an outcome of no model call");
  const auto found = told_[id.text].find({call->step, call->attempt});
  const bool called = found != told_[id.text].end();  // else a callback has answered
  const Usage expected = called ? found->second.usage.value_or(call->reserved) : Usage{};
  if (charged != expected) fail("the attempt is charged another use than it had");
}

void Oracle::check_retry(const Track& track, const RunId& id, const Record& record) {
  const CallModel* call = intent<CallModel>(track, std::get<ModelFailed>(record.event).effect);
  for (const Decision& decision : record.decisions) {
    const RetryPlanned* planned = std::get_if<RetryPlanned>(&decision);
    if (planned == nullptr || call == nullptr) continue;
    const ModelReport& told = told_[id.text][{call->step, call->attempt}];
    if (planned->at_elapsed_ms < record.stamp.elapsed_ms + told.retry_after_ms) {
      fail("the next attempt comes earlier than the model asked for");
    }
  }
}

void Oracle::take_usage(Track& track, const RunId& id, const Record& record) {
  const auto use = [&](EffectId effect, const Usage& usage) {
    check_usage(track, id, effect, usage);
    add_usage_of(track, effect, usage);
  };
  if (const auto* event = std::get_if<ModelReplied>(&record.event))
    use(event->effect, event->usage);
  if (const auto* event = std::get_if<ModelAborted>(&record.event))
    use(event->effect, event->usage);
  if (const auto* event = std::get_if<ModelFailed>(&record.event)) {
    use(event->effect, event->usage);
    check_retry(track, id, record);
    if (event->kind == FailureKind::circuit_open) --track.model_calls;
  }
  if (const auto* event = std::get_if<ExternalTurnPushed>(&record.event)) {
    add_usage(track, event->usage, 0);
  }
  if (const auto* event = std::get_if<ContextCompacted>(&record.event)) {
    check_summary_usage(id, event->effect, event->usage);
    add_usage_of(track, event->effect, event->usage);
  }
  if (const auto* event = std::get_if<CompactionFailed>(&record.event)) {
    check_summary_usage(id, event->effect, event->usage);
    add_usage_of(track, event->effect, event->usage);
  }
  if (const auto* event = std::get_if<RunStarted>(&record.event)) {
    track.budget_pico = event->limits.cost_pico;
  }
  if (const auto* event = std::get_if<BudgetRaised>(&record.event)) {
    if (track.budget_pico > 0) track.budget_pico += event->cost_pico;
  }
  for (const Decision& decision : record.decisions) {
    if (const auto* lost = std::get_if<AttemptDiscarded>(&decision)) {
      const auto* call = intent<CallModel>(track, lost->effect);
      const auto* summary = intent<CompactContext>(track, lost->effect);
      const bool short_changed = (call != nullptr && lost->charged != call->reserved) ||
                                 (summary != nullptr && lost->charged != summary->reserved);
      if (short_changed) fail("what was lost is charged another use than was set aside");
      const std::uint32_t target = call != nullptr      ? call->target
                                   : summary != nullptr ? summary->target
                                                        : 0;
      const Prices& prices = track.run->targets.at(target).prices;
      track.usage = track.usage + lost->charged;
      track.cost_pico =
          add_saturating(track.cost_pico, worst_cost_pico(lost->charged, prices, kInputFactor));
    }
  }
}

}  // namespace pawl::sim
