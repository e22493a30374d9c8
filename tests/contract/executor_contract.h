// The contract of pawl/executor.h as a test. Each adapter's *_test.cc calls
// check_executor_contract() with an ExecutorSubject, which makes executors that behave as the
// contract's sentences need it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/base/utf8.h"
#include "pawl/executor.h"
#include "tests/support/test_loop.h"

namespace pawl::contract {

enum class ExecutorBehaviour : std::uint8_t {
  says,    // "fine", and ends its turn
  calls,   // the tool "look" with the input {"a":1}, after some text
  floods,  // 100,000 bytes of text with characters of several bytes
  fails,   // in the way of its provider
  hangs,   // much longer than any test waits
};

struct ExecutorSubject {
  std::function<std::shared_ptr<Executor>(TestLoop&, ExecutorBehaviour)> make;
  // Returns when the phase that hangs is really under way.
  std::function<void(TestLoop&)> await_started = [](TestLoop&) {};
};

inline constexpr std::int64_t kExecutorAbortMaxMs = 1'000;

inline PhaseExecutionRequest executor_request(const Executor& executor) {
  PhaseExecutionRequest request;
  request.run = RunId{"contract"};
  request.step = 1;
  request.model = executor.list_models().at(0).id;
  request.system_prompt = "Be brief.";
  request.transcript = make_transcript({});
  request.tools.emplace_back().name = "look";
  return request;
}

// One phase, everything it reported, and whether it reported it in the right way.
struct ObservedPhase {
  std::vector<PhaseExecutorEvent> events;
  std::unique_ptr<Operation> operation;
  std::function<void()> on_event = [] {};
  enum class Inside { nothing, call } inside = Inside::nothing;

  void execute(Executor& executor) {
    inside = Inside::call;
    // A copy of the request that is gone when the first event comes.
    operation =
        executor.execute_phase(executor_request(executor), [this](PhaseExecutorEvent event) {
          CHECK(inside == Inside::nothing);
          CHECK(std::this_thread::get_id() == thread);
          events.push_back(std::move(event));
          on_event();
        });
    inside = Inside::nothing;
    REQUIRE(operation != nullptr);
  }
  void abort() {
    inside = Inside::call;
    operation->abort();
    inside = Inside::nothing;
  }
  bool done() const { return !events.empty() && std::holds_alternative<PhaseDone>(events.back()); }
  template <class Event>
  std::size_t count() const {
    const auto is_one = [](const auto& event) { return std::holds_alternative<Event>(event); };
    return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), is_one));
  }
  std::string text() const {
    std::string whole;
    for (const auto& event : events) {
      if (const auto* delta = std::get_if<TextDelta>(&event)) whole += delta->text;
    }
    return whole;
  }
  template <class Outcome>
  const Outcome& outcome() const {
    const auto* end = std::get_if<PhaseDone>(&events.back());
    REQUIRE(end != nullptr);
    REQUIRE(std::holds_alternative<Outcome>(end->outcome));
    return std::get<Outcome>(end->outcome);
  }

  const std::thread::id thread = std::this_thread::get_id();
};

// Lets the loop run for long enough that a second end would show.
inline void settle_executor(TestLoop& loop) {
  loop.run_until([] { return false; }, 20);
}

// One PhaseDone, at the end, and usage before it. This holds whatever happened.
inline void check_shape(TestLoop& loop, ObservedPhase& phase) {
  REQUIRE(loop.run_until([&] { return phase.done(); }));
  settle_executor(loop);
  REQUIRE(phase.done());
  CHECK(phase.count<PhaseDone>() == 1);
  CHECK(phase.count<UsageReported>() >= 1);
  for (const auto& event : phase.events) {
    if (const auto* delta = std::get_if<TextDelta>(&event)) CHECK(is_valid_utf8(delta->text));
  }
}

inline void check_declaration(const ExecutorSubject& subject) {
  TestLoop loop;
  const auto executor = subject.make(loop, ExecutorBehaviour::says);
  CHECK(check_capabilities(executor->capabilities()));
  const auto models = executor->list_models();
  REQUIRE_FALSE(models.empty());
  for (const auto& model : models) CHECK(executor->supports(model.id));
  CHECK_FALSE(executor->supports("no-such-provider/no-such-model"));
  CHECK(loop.idle());  // asking does no I/O, so it leaves no work
  CHECK(loop.timer_count() == 0);
}

inline void check_saying(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto executor = subject.make(loop, ExecutorBehaviour::says);
  ObservedPhase phase;
  phase.execute(*executor);
  check_shape(loop, phase);
  CHECK(phase.text() == "fine");
  CHECK(phase.outcome<PhaseReplied>().stop == ReplyStop::end_turn);
  phase.abort();  // after the end: nothing
  settle_executor(loop);
  CHECK(phase.count<PhaseDone>() == 1);
}

inline void check_flood(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto executor = subject.make(loop, ExecutorBehaviour::floods);
  ObservedPhase phase;
  phase.execute(*executor);
  check_shape(loop, phase);
  CHECK(phase.text().size() == 100'000);
  CHECK(phase.count<TextDelta>() > 1);
}

inline void check_calling(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto executor = subject.make(loop, ExecutorBehaviour::calls);
  ObservedPhase phase;
  phase.execute(*executor);
  check_shape(loop, phase);
  REQUIRE(phase.count<ToolCallProposed>() == 1);
  CHECK(phase.outcome<PhaseReplied>().stop == ReplyStop::tool_use);
  std::string input;
  for (const auto& event : phase.events) {
    if (const auto* delta = std::get_if<ToolInputDelta>(&event)) input += delta->text;
    const auto* call = std::get_if<ToolCallProposed>(&event);
    if (call == nullptr) continue;
    CHECK(call->tool == "look");
    CHECK(call->input == R"({"a":1})");
    CHECK((input.empty() || input == call->input));
  }
}

inline void check_failing(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto executor = subject.make(loop, ExecutorBehaviour::fails);
  ObservedPhase phase;
  phase.execute(*executor);
  check_shape(loop, phase);
  CHECK_FALSE(phase.outcome<PhaseFailed>().message.empty());
}

inline void check_executor_abort(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto executor = subject.make(loop, ExecutorBehaviour::hangs);
  ObservedPhase phase;
  phase.execute(*executor);
  subject.await_started(loop);
  const std::int64_t aborted_ms = loop.monotonic_ms();
  phase.abort();
  phase.abort();
  REQUIRE(loop.run_until([&] { return phase.done(); }));
  CHECK(loop.monotonic_ms() - aborted_ms <= kExecutorAbortMaxMs);
  check_shape(loop, phase);
  phase.outcome<PhaseAborted>();

  ObservedPhase at_once;  // before it could begin
  at_once.execute(*executor);
  at_once.abort();
  check_shape(loop, at_once);
  at_once.outcome<PhaseAborted>();
}

inline void check_abort_from_sink(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto executor = subject.make(loop, ExecutorBehaviour::floods);
  ObservedPhase phase;
  phase.on_event = [&] { phase.operation->abort(); };
  phase.execute(*executor);
  check_shape(loop, phase);
  phase.outcome<PhaseAborted>();
}

inline void check_executor_destruction(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto hanging = subject.make(loop, ExecutorBehaviour::hangs);
  const auto saying = subject.make(loop, ExecutorBehaviour::says);
  ObservedPhase dropped;
  dropped.execute(*hanging);
  subject.await_started(loop);
  const std::size_t before = dropped.events.size();
  dropped.operation.reset();
  settle_executor(loop);
  CHECK(dropped.events.size() == before);

  ObservedPhase at_once;
  at_once.execute(*saying);
  at_once.operation.reset();
  settle_executor(loop);
  CHECK(at_once.events.empty());

  ObservedPhase aborted;
  aborted.execute(*hanging);
  aborted.abort();
  aborted.operation.reset();
  settle_executor(loop);
  CHECK(aborted.events.empty());
}

// An operation that is destroyed by its own sink, at every event that it can be destroyed at.
inline void check_destruction_from_sink(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto executor = subject.make(loop, ExecutorBehaviour::calls);
  ObservedPhase whole;
  whole.execute(*executor);
  check_shape(loop, whole);
  for (std::size_t last = 1; last <= whole.events.size(); ++last) {
    ObservedPhase phase;
    phase.on_event = [&] {
      if (phase.events.size() == last) phase.operation.reset();
    };
    phase.execute(*executor);
    CHECK(loop.run_until([&] { return phase.operation == nullptr; }));
    settle_executor(loop);
    CHECK(phase.events.size() == last);
  }
}

inline void check_side_by_side(const ExecutorSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto executor = subject.make(loop, ExecutorBehaviour::says);
  ObservedPhase first;
  ObservedPhase second;
  first.execute(*executor);
  second.execute(*executor);
  check_shape(loop, first);
  check_shape(loop, second);
  CHECK(first.text() == "fine");
  CHECK(second.text() == "fine");
}

inline void check_executor_contract(const ExecutorSubject& subject) {
  check_declaration(subject);
  check_saying(subject);
  check_flood(subject);
  check_calling(subject);
  check_failing(subject);
  check_executor_abort(subject);
  check_abort_from_sink(subject);
  check_executor_destruction(subject);
  check_destruction_from_sink(subject);
  check_side_by_side(subject);
}

}  // namespace pawl::contract
