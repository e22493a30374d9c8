// The language of the kernel's tests: a run with a clock that the test moves. Everything a test
// does through it is also checked as such: the invariants after every record, that a refused event
// changes nothing, and that the journal replays to the same bytes.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "pawl/kernel/codec.h"
#include "pawl/kernel/example_parts_test.h"
#include "pawl/kernel/invariants.h"
#include "pawl/kernel/kernel.h"
#include "pawl/kernel/shown_test.h"
#include "pawl/kernel/transcript.h"

namespace pawl::testing {

using Decisions = std::vector<Decision>;
using Effects = std::vector<Effect>;
using Names = std::vector<std::string>;

inline constexpr CallId kC1{1};
inline constexpr CallId kC2{2};
inline constexpr CallId kC3{3};
inline constexpr InstanceId kI2{2};
inline constexpr InstanceId kI3{3};
inline constexpr InstanceId kI4{4};

class TestRun {
 public:
  explicit TestRun(RunStarted start = a_start());
  TestRun(const TestRun&);
  ~TestRun();

  const RunState& state() const { return run_.state(); }
  const RunState* operator->() const { return &run_.state(); }
  const Run& run() const { return run_; }
  const std::vector<Record>& records() const { return records_; }
  const Record& last() const { return records_.back(); }
  // What was decided in the last record, but for what was measured of its event.
  std::vector<Decision> decided() const {
    std::vector<Decision> decisions = last().decisions;
    std::erase_if(decisions,
                  [](const Decision& one) { return std::holds_alternative<ContentMeasured>(one); });
    return decisions;
  }
  std::string snapshot() const { return encode_snapshot(run_); }

  TestRun& later(std::uint64_t ms);
  // Nobody drives it meanwhile: its own clock stands still.
  TestRun& parked_for(std::uint64_t ms);

  // --- Any event -------------------------------------------------------------------------------

  const Record& takes(Event event);
  // The message of the refusal.
  std::string refuses(Event event);

  // --- The model -------------------------------------------------------------------------------

  EffectId model_effect(InstanceId instance = kRootInstance) const;
  EffectId effect_of(EffectKind kind) const;
  ModelReplied reply(std::vector<Block> blocks, ReplyStop stop = ReplyStop::end_turn) const;
  const Record& replies(std::vector<Block> blocks, ReplyStop stop = ReplyStop::end_turn);
  const Record& replies_as(InstanceId instance, std::vector<Block> blocks,
                           ReplyStop stop = ReplyStop::end_turn);
  const Record& fails(ErrorCategory category, std::optional<std::uint64_t> retry_after_ms = {});
  const Record& aborts();

  // --- Tools -----------------------------------------------------------------------------------

  EffectId call_effect(CallId call) const;
  ToolFinished finish(CallId call, std::string content, ToolEnd end = ToolEnd::succeeded) const;
  const Record& finishes(CallId call, std::string content, ToolEnd end = ToolEnd::succeeded);
  const Record& learns(CallId call, StatusAnswer answer, std::string content = "");
  const Record& resolves(CallId call, DoubtVerdict verdict, std::string result = "");

  // --- People and the host ---------------------------------------------------------------------

  const Record& hears(std::string text);
  const Record& pauses();
  const Record& resumes();
  const Record& cancels();
  const Record& ticks();
  const Record& parks();
  const Record& ends();
  // Its process died, and another took it over.
  const Record& crashes();
  const Record& spawns(std::string node, InstanceId parent = kRootInstance);

  // --- What can be seen ------------------------------------------------------------------------

  const Instance& instance(InstanceId id = kRootInstance) const;
  template <class P>
  bool in(InstanceId id = kRootInstance) const {
    return std::holds_alternative<P>(instance(id).phase);
  }
  template <class S>
  bool call_is(CallId id) const {
    const Call* call = find_call(state(), id);
    return call != nullptr && std::holds_alternative<S>(call->state);
  }
  RunStatus status() const { return status_of(state()); }
  StopReason reason() const { return stop_reason_of(state()); }
  bool ending() const { return std::holds_alternative<Ending>(state().course); }

  std::vector<Message> transcript(InstanceId id = kRootInstance) const;
  // "user: hello | assistant: [pure] | c1: ok": short enough to compare at a glance.
  std::string dialogue(InstanceId id = kRootInstance) const;
  // The output of a finished run; of one under way, what it would be.
  std::string output() const;

  // How often an effect of this type was started.
  template <class E>
  std::size_t started() const {
    std::size_t count = 0;
    for (const Record& record : records_) {
      for (const Effect& effect : record.effects) count += std::holds_alternative<E>(effect);
    }
    return count;
  }
  template <class D>
  std::vector<D> decided() const {
    std::vector<D> found;
    for (const Record& record : records_) {
      for (const Decision& one : record.decisions) {
        if (const D* match = std::get_if<D>(&one)) found.push_back(*match);
      }
    }
    return found;
  }
  // The names of the yield reasons of all steps that ended.
  Names yields() const;

 private:
  void check_replay() const;

  Run run_;
  std::vector<Record> records_;
  Stamp now_{1, 1'700'000'000'000, 0};
};

}  // namespace pawl::testing
