// The decision in the making: what decide()'s overloads write into. Internal to the kernel.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "pawl/kernel/kernel.h"
#include "pawl/kernel/person_words.h"
#include "pawl/kernel/tally.h"

namespace pawl {

// Ids that one event is about: hardly ever more than these few, which need no memory of their own.
template <class Id>
class FewIds {
 public:
  void add(Id id) {
    if (count_ < first_.size()) {
      first_[count_++] = id;
    } else {
      more_.push_back(id);
    }
  }
  bool contains(Id id) const {
    const auto end = first_.begin() + static_cast<std::ptrdiff_t>(count_);
    return std::find(first_.begin(), end, id) != end ||
           std::find(more_.begin(), more_.end(), id) != more_.end();
  }

 private:
  std::array<Id, 4> first_{};
  std::size_t count_ = 0;
  std::vector<Id> more_;
};

class Draft {
 public:
  Draft(const RunState& run, const Event& event, const Stamp& when);

  const RunState& state;
  const Stamp& stamp;
  Tally tally;  // after the event and what was decided so far
  std::vector<Decision> decisions;
  std::vector<Effect> effects;
  const RunStarted* starting = nullptr;  // the event, when it is the first

  const Limits& limits() const { return limits_; }
  const std::vector<ModelTarget>& targets() const {
    return starting == nullptr ? state.targets : own_targets_;
  }
  const CompactionPolicy& compaction() const {
    return starting == nullptr ? state.compaction : starting->compaction;
  }
  const RetryPolicy& retry() const { return starting == nullptr ? state.retry : starting->retry; }
  std::uint64_t output_tokens() const {
    return starting == nullptr ? state.output_tokens : starting->output_tokens;
  }
  // What the instance's next request holds, after the event and what was decided so far.
  std::uint64_t context_of(const Instance& instance) const;
  void set_context(InstanceId instance, std::uint64_t tokens) { cut_ = {instance, tokens}; }
  // Set aside for model calls that are under way, or begin with this very decision.
  struct Reserved {
    std::uint64_t pico = 0;
    std::uint64_t tokens = 0;
  };
  Reserved reserved() const;
  const Guards& guards() const { return starting == nullptr ? state.guards : starting->guards; }
  bool ending() const { return course_ == Heading::ending; }
  bool pausing() const { return course_ == Heading::pausing; }
  bool going() const { return course_ == Heading::going; }

  template <class One>
  void add(One&& decision) {
    decisions.emplace_back(std::forward<One>(decision));
  }
  EffectId mint_effect() { return EffectId{++effects_minted_}; }
  CallId mint_call() { return CallId{++calls_minted_}; }

  // The effect is no longer under way after this event.
  void close(EffectId effect) {
    closed_.add(effect);
    settled_.add(effect);
  }
  // Nor is this one; but nobody has said yet what it cost.
  void lose(EffectId effect) { closed_.add(effect); }
  void discard(const OpenEffect& effect, const Usage& charged);
  bool is_settled(EffectId effect) const { return settled_.contains(effect); }

  void pause();
  void unpause();
  // Ends the run: nothing starts any more, what is under way is aborted.
  void stop(RunStatus status, StopReason reason, std::string detail);
  void stop_at(StopReason limit);
  void withdraw_ending();

  // The call has a result now. True when it was the last open one of its instance.
  void end_call(CallId call) { ended_.add(call); }
  bool ends(CallId call) const { return ended_.contains(call); }
  bool all_ended(InstanceId instance) const;
  // The event is the good result of this call.
  bool succeeds(CallId call) const;

  // The last word: an ending run with nothing under way gets its EndAgent.
  void settle();

 private:
  enum class Heading { going, pausing, ending };

  void withdraw_starts();
  void doubt_held_questions();

  bool still_open(EffectId effect) const { return !closed_.contains(effect); }

  const Event& event_;
  Limits limits_;
  std::vector<ModelTarget> own_targets_;  // of a run that begins
  std::optional<std::pair<InstanceId, std::uint64_t>> cut_;
  Heading course_ = Heading::going;
  std::uint64_t effects_minted_;
  std::uint64_t calls_minted_;
  FewIds<EffectId> closed_;
  FewIds<EffectId> settled_;
  FewIds<CallId> ended_;
};

// Begins the instance's next step, or readies it, or ends the run at an exhausted bound.
// `arrived` messages came with this very event; `outcomes` model calls ended with it.
struct Fresh {
  std::uint32_t arrived = 0;
  std::uint32_t outcomes = 0;
  std::optional<std::uint32_t> target = std::nullopt;  // another one than the instance's own
};
void begin_step(Draft& draft, const Instance& instance, Fresh fresh);
// One more attempt at the open step.
void call_again(Draft& draft, const Instance& instance, Fresh fresh);
// Asks a model, or shortens the conversation first, or waits for money: one attempt at a step.
struct Attempt {
  std::uint64_t step;
  std::uint32_t number;
  std::uint64_t position;
  std::uint32_t target = 0;
  enum class Compact : std::uint8_t { once_a_step, again } compact = Compact::once_a_step;
};
void call_model(Draft& draft, const Instance& instance, const Attempt& attempt);
// What follows from a failed attempt; kernel/retry.h has the table.
void take_failure(Draft& draft, const Instance& instance, const AwaitingModel& phase,
                  const ModelFailed& event);
// The conversation has been shortened, one way or the other: the step goes on.
void take_cut(Draft& draft, const Instance& instance, const Compacting& phase, CutBy by,
              std::uint64_t replacement_tokens);
// Runs a call (again), or holds it back while the run is pausing.
void run_call(Draft& draft, InstanceId instance, CallId call, std::uint32_t attempts_made);
// What follows from a judgement about an open call: it runs, waits for a person, or is denied.
void take_judgement(Draft& draft, const Instance& instance, CallId call,
                    const CallJudgement& judgement, std::uint32_t attempts_made);
// Has the call judged, or holds that back while the run is pausing.
void judge_call(Draft& draft, InstanceId instance, CallId call);
// The call ends with this text for a result. Denials in a row are errors in a row.
void deny_call(Draft& draft, const Instance& instance, CallDenied denial);
void take_decision(Draft& draft, const Instance& instance, const Call& call,
                   const CallDecided& event);
// Denies what nobody has decided in time. True if there was any.
bool expire_approvals(Draft& draft);
// Asks the call's tool what became of it, or holds the question back while the run is pausing.
void ask_status(Draft& draft, const Call& call);
// Nobody knows what the call did: wait for a person, or tell the model, as its tool says.
void doubt(Draft& draft, const Call& call);
// Whether a call that was started and cut short leaves a question behind.
bool may_have_acted(const RunState& state, const Call& call);
// What an attempt reported: the call's result, or a reason to run it again, to ask or to doubt.
void take_result(Draft& draft, const Instance& instance, const Call& call,
                 const ToolFinished& event);
// When all calls of the instance have ended, takes their results and goes on.
void go_on_when_all_ended(Draft& draft, InstanceId instance);
// Instances whose last call ended without them (by recovery, or while the run was ending) go on.
void go_on_where_all_ended(Draft& draft);
// What was held back while nothing might start is taken up again, unless the run is pausing.
void take_up_again(Draft& draft);
// A pause: whoever waits for a time, or for its tenant, is readied and waits for the resume.
void ready_those_that_wait(Draft& draft);
// Somebody has taken the run up: whoever waited for a time that has come, or for its tenant.
void ask_again_where_due(Draft& draft);
// What becomes of an effect whose outcome is lost, by its kind and the class of its tool.
void recover(Draft& draft, const OpenEffect& effect);
// What was set aside for lost calls is spent, all of it before anything is started anew.
void charge_lost_calls(Draft& draft);
// What a model (or the host in its place) said.
struct Reply {
  const std::vector<Block>& blocks;
  ReplyStop stop;
  std::string_view detail;
  std::string_view metadata;
  Fresh fresh;
  std::uint64_t step;
  std::string_view output_fault = {};
  std::uint64_t fingerprint = 0;  // filled by take_reply()
};
void take_reply(Draft& draft, const Instance& instance, const Reply& reply);

const OpenEffect* open_of(const RunState& state, EffectKind kind);
// The effect that a callback was asked about, if it is of the kind that is asked about there.
const OpenEffect* effect_stopped_by(const RunState& state, const HookStopped& event);

// Whether another instance than this one has something to do.
bool others_active(const RunState& state, InstanceId except);
// Whether an event that ends a call ends it well.
Presence result_success(const Event& event);
// A short text that only points at an earlier one.
bool refers_back(const Content& text);
// The bounds after the event: they can be raised.
Limits limits_after(const RunState& state, const Event& event);
// Those of a run that begins; never none.
std::vector<ModelTarget> targets_of(const RunStarted& event);

// The root instance that a RunStarted makes.
Instance root_of(const RunStarted& event, std::uint64_t seq);

std::uint64_t fingerprint_of(const CallBlock& call);
std::uint64_t fingerprint_of(const std::vector<Block>& blocks);

}  // namespace pawl
