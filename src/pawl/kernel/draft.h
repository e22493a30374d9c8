// The record in the making. Internal to the kernel. Its event is applied to the run first, then
// each decision as it is made: whoever decides sees the run as it is by then. What is to be started
// is collected and applied last; a stop drops it.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/kernel/apply.h"
#include "pawl/kernel/kernel.h"
#include "pawl/kernel/person_words.h"

namespace pawl {

// What is wanted of the run that started this one, as it comes up while a record is made.
struct TreeWants {
  struct Money {
    std::uint64_t least_pico = 0;
    std::uint64_t pico = 0;
    std::uint64_t least_tokens = 0;
    std::uint64_t tokens = 0;
  };
  std::optional<Money> money = {};
  std::optional<TreeBounds> place = {};  // one at a time: the first that needs one
  bool takes_less = false;               // than is wanted: the answer has just come
  bool refused_above = false;

  void want_money(const Money& more) {
    if (!money) money = Money{};
    money->least_pico = add_saturating(money->least_pico, more.least_pico);
    money->pico = add_saturating(money->pico, more.pico);
    money->least_tokens = add_saturating(money->least_tokens, more.least_tokens);
    money->tokens = add_saturating(money->tokens, more.tokens);
  }
  void want_place(const TreeBounds& bounds) {
    if (!place) place = bounds;
  }
};

class Draft {
 public:
  // The record holds its event and stamp; the run accepts the event (machine.h).
  Draft(Run& run, Record& record);

  const RunState& state;  // after the event and what was decided so far
  const Stamp& stamp;
  const Rules& rules;  // of the run's semantics
  TreeWants wants;

  // Measures what the event brings, and applies it.
  void take_event();

  // Of an instance and a call that are there.
  const Instance& instance(InstanceId id) const;
  const Call& call(CallId id) const;

  bool ending() const { return std::holds_alternative<Ending>(state.course); }
  bool pausing() const { return std::holds_alternative<Pausing>(state.course); }
  bool going() const { return std::holds_alternative<Going>(state.course); }

  template <class One>
  void add(One&& decision) {
    if constexpr (std::is_same_v<std::decay_t<One>, ChildBorn>) {
      if (decision.input) input_bytes_ += decision.input->length();
    }
    record_.decisions.emplace_back(std::forward<One>(decision));
    applier_.apply(record_.decisions.back());
  }
  // Once everything is decided, unless the run is stopped before.
  template <class One>
  void start(One effect) {
    effect.effect = EffectId{++effects_minted_};
    if constexpr (requires { effect.reserved; }) {
      set_aside(effect.reserved, effect.target, effect.reserved_pico);
    }
    if constexpr (std::is_same_v<One, CallModel>) ++model_calls_to_start_;
    record_.effects.emplace_back(std::move(effect));
  }
  // Has no outcome.
  template <class One>
  void send(One effect) {
    record_.effects.emplace_back(std::move(effect));
  }
  bool is_attach() const { return std::holds_alternative<DriverAttached>(record_.event); }
  // A run beneath this one has said what it uses.
  bool is_from_child() const;
  // Something is to be started that is no call of these.
  bool starts_other_than_tools_for(const std::function<bool(CallId)>& which) const;
  // What the instances are told that were born so far.
  std::uint64_t input_bytes() const { return input_bytes_; }
  // Something that is to be started is about this call.
  bool starts_for(CallId call) const;
  // A command that no process stands behind: what would start is held by a pause.
  bool undriven() const {
    const auto* command = std::get_if<CommandGiven>(&record_.event);
    return command != nullptr && command->drive == CommandDrive::undriven;
  }
  void pause_where_undriven();
  // What another process had under way is gone with it: nobody is there to abort it.
  void abort(EffectId effect) {
    if (std::holds_alternative<DriverAttached>(record_.event) || undriven()) return;
    record_.effects.emplace_back(AbortEffect{effect});
  }
  // What this record was to start for an instance that is given up.
  void withdraw_starts_of(InstanceId id);
  // Nothing more is to be decided for the instance: the run is ending, or it has left.
  bool over(InstanceId id) const {
    return ending() || !is_live(instance(id)) ||
           std::holds_alternative<Failing>(instance(id).phase);
  }
  // The outcome is lost; a model call is charged what was set aside for it.
  void discard(const OpenEffect& effect, const Usage& charged);
  // The most that a call to a target may cost for which this was set aside.
  std::uint64_t worst_cost(const Usage& reserved, std::uint32_t target) const;

  // Set aside for model calls that are under way, or are to be started.
  Reserved reserved() const;
  // What the run has used, with the model calls that are to be started.
  Tally tally() const;
  std::optional<StopReason> crossed() const { return pawl::crossed(state.tally, state.limits); }

  // Ends the run: nothing starts any more, what is under way is aborted.
  void stop(RunStatus status, StopReason reason, std::string detail);
  void stop_at(StopReason limit);
  void stop_where_crossed() {
    if (const auto bound = crossed()) stop_at(*bound);
  }

  // The last word: an ending run with nothing under way gets its EndAgent, and what is to be
  // started is applied.
  void finish();

 private:
  void set_aside(const Usage& usage, std::uint32_t target, std::uint64_t& pico);
  void withdraw_starts();
  void doubt_held_questions();

  Record& record_;
  Applier applier_;
  const Run& run_;
  std::uint64_t effects_minted_;
  Reserved to_start_;
  std::uint64_t model_calls_to_start_ = 0;
  std::uint64_t input_bytes_ = 0;
};

// Begins the instance's next step, or readies it, or ends the run at an exhausted bound.
void begin_step(Draft& draft, const Instance& instance);
// One more attempt at the open step.
void call_again(Draft& draft, const Instance& instance);
// Asks a model, or shortens the conversation first, or waits for money: one attempt at a step.
void call_model(Draft& draft, const Instance& instance);
// Has the whole conversation summed up, for the node that comes next. False: there is no money for
// it.
bool sum_up_for_next(Draft& draft, const Instance& instance);
// Why a command would not be carried out as the run is now; or empty. Nothing is changed.
std::string fault_of_command(const Run& run, const Event& event, const Stamp& stamp);
// What follows from a failed attempt; kernel/retry.h has the table.
void take_failure(Draft& draft, const Instance& instance, const AwaitingModel& asked,
                  const ModelFailed& event);
// The conversation has been shortened, one way or the other: the step goes on.
void take_cut(Draft& draft, const Instance& instance, const Compacting& phase, CutBy by,
              std::uint64_t summary_tokens);
// Runs a call (again), or holds it back while the run is pausing.
void run_call(Draft& draft, const Call& call);
// What follows from a judgement about an open call: it runs, waits for a person, or is denied.
void take_judgement(Draft& draft, const Instance& instance, const Call& call,
                    const CallJudgement& judgement);
// Has the call judged, or holds that back while the run is pausing.
void judge_call(Draft& draft, const Call& call);
// The call ends with this text for a result. Denials in a row are errors in a row.
void deny_call(Draft& draft, const Instance& instance, CallDenied denial);
// So many tool errors of the instance in a row end the run.
void stop_for_errors(Draft& draft, const Instance& instance);
void take_decision(Draft& draft, const Instance& instance, const Call& call,
                   const CallDecided& event);
// Denies what nobody has decided in time.
void expire_approvals(Draft& draft);
bool has_expired(const Call& call, const Stamp& stamp);
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
// An effect that no process has begun is asked for again: nothing is lost, and nothing is charged.
void start_anew(Draft& draft, const OpenEffect& effect);
// What was set aside for lost calls is spent, all of it before anything is started anew.
void charge_lost_calls(Draft& draft, const std::vector<OpenEffect>& lost);
// What a model (or the host in its place) said.
struct Reply {
  const std::vector<Block>& blocks;
  ReplyStop stop;
  std::string_view detail;
  std::string_view metadata;
  std::string_view output_fault = {};
  std::uint64_t fingerprint = 0;  // filled by take_reply()
};
void take_reply(Draft& draft, const Instance& instance, const Reply& reply);
// The run is ending: the calls of a reply are not opened, and have a result nevertheless.
void refuse_calls(Draft& draft, const Instance& instance, const std::vector<Block>& blocks);

const OpenEffect* open_of(const RunState& state, EffectKind kind);
// What was set aside for the effect, if it is a model call or a compaction.
Usage reserved_for(const RunState& state, const OpenEffect& effect);
// Its reply has asked for calls whose results it has not taken.
bool has_calls(const RunState& state, InstanceId id);
// None of them waits for anything, nor is to be started by this record.
bool all_ended(const Draft& draft, InstanceId id);
// As they are now: what is decided about one may change the list.
std::vector<InstanceId> instance_ids(const RunState& state);

// Whether another instance than this one has something to do.
bool others_active(const RunState& state, InstanceId except);

std::uint64_t fingerprint_of(const CallBlock& call);
std::uint64_t fingerprint_of(const std::vector<Block>& blocks);

}  // namespace pawl
