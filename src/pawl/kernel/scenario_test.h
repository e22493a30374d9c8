// The language of the kernel's tests: a run with a clock that the test moves. Everything a test
// does through it is also checked as such: the invariants after every record, that a refused event
// changes nothing, and that the journal replays to the same bytes.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "pawl/kernel/codec.h"
#include "pawl/kernel/invariants_test.h"
#include "pawl/kernel/kernel.h"
#include "pawl/kernel/shown_test.h"
#include "pawl/kernel/transcript.h"

namespace pawl::testing {

inline Block says(std::string text) {
  return TextBlock{Content(std::move(text))};
}

inline Block calls(std::string tool, std::string input = "{}") {
  return CallBlock{std::move(tool), Content(std::move(input)), "", ""};
}

inline Block calls_wrongly(std::string tool, std::string fault) {
  return CallBlock{std::move(tool), Content("{}"), "", std::move(fault)};
}

inline Usage tokens(std::uint64_t input, std::uint64_t output = 0) {
  Usage usage;
  usage.input_tokens = input;
  usage.output_tokens = output;
  return usage;
}

// Tools named by what they are; "tell" is a once tool whose doubts are told to the model.
inline std::vector<PinnedTool> all_tools() {
  return {{"pure", EffectClass::pure, OnDoubt::wait, sha256("pure")},
          {"idem", EffectClass::idempotent, OnDoubt::wait, sha256("idem")},
          {"recon", EffectClass::reconcilable, OnDoubt::wait, sha256("recon")},
          {"once", EffectClass::once, OnDoubt::wait, sha256("once")},
          {"tell", EffectClass::once, OnDoubt::tell_model, sha256("tell")}};
}

inline RunStarted a_start() {
  RunStarted start;
  start.run = RunId{"r1"};
  start.name = "test";
  start.node = "main";
  start.model = "scripted";
  start.tools = all_tools();
  start.input = Content("hello");
  return start;
}

inline RunStarted with_limits(const Limits& limits) {
  RunStarted start = a_start();
  start.limits = limits;
  return start;
}

inline RunStarted with_agent_callbacks() {
  RunStarted start = a_start();
  start.agent_callbacks = Presence::present;
  return start;
}

class TestRun {
 public:
  explicit TestRun(RunStarted start = a_start()) { takes(std::move(start)); }
  TestRun(const TestRun&) = default;
  ~TestRun() { check_replay(); }

  const RunState& state() const { return run_.state(); }
  const RunState* operator->() const { return &run_.state(); }
  const Run& run() const { return run_; }
  const std::vector<Record>& records() const { return records_; }
  const Record& last() const { return records_.back(); }
  std::string snapshot() const { return encode_snapshot(run_); }

  TestRun& later(std::uint64_t ms) {
    now_.elapsed_ms += ms;
    now_.at_ms += static_cast<std::int64_t>(ms);
    return *this;
  }

  // --- Any event -------------------------------------------------------------------------------

  const Record& takes(Event event) {
    auto record = advance(run_, std::move(event), now_);
    REQUIRE_MESSAGE(record, (record ? "" : record.error().message));
    check_invariants(run_.state());
    records_.push_back(*std::move(record));
    return records_.back();
  }

  // The message of the refusal.
  std::string refuses(Event event) {
    const std::string before = snapshot();
    auto record = advance(run_, std::move(event), now_);
    REQUIRE(!record);
    CHECK(record.error().code == ErrorCode::conflict);
    CHECK(snapshot() == before);
    return record.error().message;
  }

  // --- The model -------------------------------------------------------------------------------

  EffectId model_effect(InstanceId instance = kRootInstance) const {
    for (const OpenEffect& effect : state().open) {
      if (effect.kind == EffectKind::model && effect.instance == instance) return effect.id;
    }
    return {};
  }
  EffectId effect_of(EffectKind kind) const {
    for (const OpenEffect& effect : state().open) {
      if (effect.kind == kind) return effect.id;
    }
    return {};
  }
  ModelReplied reply(std::vector<Block> blocks, ReplyStop stop = ReplyStop::end_turn) const {
    ModelReplied event;
    event.effect = model_effect();
    event.blocks = std::move(blocks);
    event.stop = stop;
    return event;
  }
  const Record& replies(std::vector<Block> blocks, ReplyStop stop = ReplyStop::end_turn) {
    return takes(reply(std::move(blocks), stop));
  }
  const Record& replies_as(InstanceId instance, std::vector<Block> blocks,
                           ReplyStop stop = ReplyStop::end_turn) {
    ModelReplied event = reply(std::move(blocks), stop);
    event.instance = instance;
    event.effect = model_effect(instance);
    return takes(event);
  }
  const Record& fails(ErrorCategory category, std::optional<std::uint64_t> retry_after_ms = {}) {
    return takes(ModelFailed{kRootInstance, model_effect(), category, "down", retry_after_ms, {}});
  }
  const Record& aborts() { return takes(ModelAborted{kRootInstance, model_effect(), {}}); }

  // --- Tools -----------------------------------------------------------------------------------

  EffectId call_effect(CallId call) const {
    for (const OpenEffect& effect : state().open) {
      if (effect.call == call) return effect.id;
    }
    return {};
  }
  ToolFinished finish(CallId call, std::string content, ToolEnd end = ToolEnd::succeeded) const {
    ToolFinished event;
    const Call* found = find_call(state(), call);
    event.instance = found == nullptr ? kRootInstance : found->instance;
    event.call = call;
    event.effect = call_effect(call);
    event.end = end;
    event.content_length = content.size();
    event.content = Content(std::move(content));
    return event;
  }
  const Record& finishes(CallId call, std::string content, ToolEnd end = ToolEnd::succeeded) {
    return takes(finish(call, std::move(content), end));
  }
  const Record& learns(CallId call, StatusAnswer answer, std::string content = "") {
    return takes(ToolStatusLearned{kRootInstance, call, call_effect(call), answer,
                                   Content(std::move(content))});
  }
  const Record& resolves(CallId call, DoubtVerdict verdict, std::string result = "") {
    return takes(
        DoubtResolved{kRootInstance, call, verdict, Content(std::move(result)), "operator"});
  }

  // --- People and the host ---------------------------------------------------------------------

  const Record& hears(std::string text) {
    return takes(MessageReceived{kRootInstance, Content(std::move(text)), "user"});
  }
  const Record& pauses() { return takes(PauseRequested{"user"}); }
  const Record& resumes() { return takes(ResumeRequested{"user"}); }
  const Record& cancels() { return takes(CancelRequested{"user", ""}); }
  const Record& ticks() { return takes(TimerFired{}); }
  const Record& parks() { return takes(RunWaiting{}); }
  const Record& ends() { return takes(RunFinished{effect_of(EffectKind::end_agent), {}}); }
  // Its process died, and another took it over.
  const Record& crashes() {
    ++now_.epoch;
    return takes(DriverAttached{"p" + std::to_string(now_.epoch)});
  }
  const Record& spawns(std::string node, InstanceId parent = kRootInstance) {
    return takes(InstanceSpawned{parent, std::move(node), Content("task")});
  }

  // --- What can be seen ------------------------------------------------------------------------

  const Instance& instance(InstanceId id = kRootInstance) const {
    const Instance* found = find_instance(state(), id);
    REQUIRE(found != nullptr);
    return *found;
  }
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

  std::vector<Message> transcript(InstanceId id = kRootInstance) const {
    std::vector<Message> messages;
    for (const Entry& entry : instance(id).transcript) {
      auto message = message_of(entry, records_.at(entry.seq));
      REQUIRE(message);
      messages.push_back(*std::move(message));
    }
    return messages;
  }
  // "user: hello | assistant: [pure] | tool c1: ok": short enough to compare at a glance.
  std::string dialogue(InstanceId id = kRootInstance) const { return shown(transcript(id)); }

  // The output of a finished run; of one under way, what it would be.
  std::string output() const {
    const auto* finished = std::get_if<Finished>(&state().life);
    const auto seq = finished == nullptr ? instance().last_text : finished->output;
    if (!seq) return "(none)";
    const auto content = output_of(records_.at(*seq));
    return content && content->bytes() != nullptr ? *content->bytes() : "(none)";
  }

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
  std::vector<std::string> yields() const {
    std::vector<std::string> names;
    for (const StepEnded& one : decided<StepEnded>()) names.emplace_back(name(one.yield));
    return names;
  }

 private:
  // Folding the bytes gives the same state; deciding again gives the same bytes.
  void check_replay() const {
    Run folded;
    for (const Record& record : records_) {
      const std::string bytes = encode_record(record);
      const auto again = decide(folded, record.event, record.stamp);
      CHECK((again && encode_record(*again) == bytes));
      const auto decoded = decode_record(bytes);
      CHECK((decoded && fold(folded, *decoded)));
    }
    CHECK(encode_snapshot(folded) == snapshot());
  }

  Run run_;
  std::vector<Record> records_;
  Stamp now_{1, 1'700'000'000'000, 0};
};

inline constexpr CallId kC1{1};
inline constexpr CallId kC2{2};
inline constexpr CallId kC3{3};

using Decisions = std::vector<Decision>;
using Effects = std::vector<Effect>;
using Names = std::vector<std::string>;

}  // namespace pawl::testing
