// The contract of pawl/tool.h as a test. Each adapter's *_test.cc calls check_tool_contract() with
// a ToolSubject, which makes tools of its origin with the behaviours that the contract speaks of.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "pawl/base/utf8.h"
#include "pawl/tool.h"
#include "tests/support/test_loop.h"

namespace pawl::contract {

enum class ToolBehaviour : std::uint8_t {
  succeeds,    // with the content "fine"
  fails,       // in the way of its origin: an exception, an exit code, an error answer
  hangs,       // much longer than any test waits, and with processes of its own if it can have any
  floods,      // succeeds with 100,000 bytes of output
  reconciles,  // effect reconcilable; status() says done with the content "fine"
};

struct ToolSubject {
  // `timeout_ms` and `output_bytes_max` go into the spec.
  std::function<std::unique_ptr<Tool>(TestLoop&, ToolBehaviour, ToolSpec)> make;
  // Returns when the tool that hangs has really started.
  std::function<void(TestLoop&)> await_started = [](TestLoop&) {};
  // Whether anything of the tool that hangs is still there.
  std::function<bool()> left_behind = [] { return false; };
};

inline constexpr std::int64_t kContractTimeoutMs = 1000;
inline constexpr std::int64_t kContractPatientMs = 600'000;
inline constexpr std::uint64_t kContractOutputBytes = 1000;

inline ToolSpec contract_spec(std::int64_t timeout_ms = kContractPatientMs) {
  ToolSpec spec;
  spec.name = "subject";
  spec.timeout_ms = timeout_ms;
  spec.output_bytes_max = kContractOutputBytes;
  return spec;
}

inline ToolInvocation contract_invocation() {
  ToolInvocation invocation;
  invocation.run = RunId{"contract"};
  invocation.call = CallId{1};
  invocation.key = "c0ffee";
  invocation.input = R"({"a": 1})";
  return invocation;
}

// What came of a call, and whether it came in the right way.
template <class Answer>
struct ToolCall {
  std::optional<Answer> answer;
  int callbacks = 0;
  std::thread::id thread;
  std::unique_ptr<Operation> operation;

  std::function<void(Answer)> callback() {
    return [this](Answer value) {
      answer = std::move(value);
      ++callbacks;
      thread = std::this_thread::get_id();
    };
  }
};

// Lets the loop run for long enough that a second callback would show.
inline void settle(TestLoop& loop) {
  loop.run_until([] { return false; }, 20);
}

// Waits for something that happens without the loop.
inline bool eventually(TestLoop& loop, const std::function<bool()>& is_so) {
  constexpr int kLooksMax = 6000;
  for (int look = 0; look < kLooksMax; ++look) {
    if (loop.run_until(is_so, 5)) return true;
  }
  return false;
}

template <class Answer>
Answer finish(TestLoop& loop, ToolCall<Answer>& call) {
  REQUIRE(loop.run_until([&] { return call.answer.has_value(); }));
  CHECK(call.thread == std::this_thread::get_id());
  settle(loop);
  CHECK(call.callbacks == 1);
  return *call.answer;
}

inline ToolOutcome invoke_and_finish(TestLoop& loop, Tool& tool) {
  ToolCall<ToolOutcome> call;
  call.operation = tool.invoke(contract_invocation(), call.callback());
  CHECK(call.callbacks == 0);  // never from inside the call
  REQUIRE(call.operation != nullptr);
  const ToolOutcome outcome = finish(loop, call);
  CHECK(is_valid_utf8(outcome.content));
  CHECK(outcome.content.size() <= tool.spec().output_bytes_max);
  return outcome;
}

inline void check_ends(const ToolSubject& subject) {
  TestLoop loop;
  const auto fine = subject.make(loop, ToolBehaviour::succeeds, contract_spec());
  const ToolOutcome success = invoke_and_finish(loop, *fine);
  CHECK(success.kind == ToolOutcome::Kind::succeeded);
  CHECK(success.content == "fine");
  CHECK(success.content_length == success.content.size());
  CHECK(fine->spec().name == "subject");

  const auto failing = subject.make(loop, ToolBehaviour::fails, contract_spec());
  CHECK(invoke_and_finish(loop, *failing).kind == ToolOutcome::Kind::failed);
}

inline void check_output_bound(const ToolSubject& subject) {
  TestLoop loop;
  const auto flooding = subject.make(loop, ToolBehaviour::floods, contract_spec());
  const ToolOutcome outcome = invoke_and_finish(loop, *flooding);
  CHECK(outcome.kind == ToolOutcome::Kind::succeeded);
  CHECK(outcome.content_length == 100'000);
}

inline void check_timeout(const ToolSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto hanging = subject.make(loop, ToolBehaviour::hangs, contract_spec(kContractTimeoutMs));
  ToolCall<ToolOutcome> call;
  bool left_behind = true;
  call.operation = hanging->invoke(contract_invocation(), [&](ToolOutcome outcome) {
    left_behind = subject.left_behind();
    call.callback()(std::move(outcome));
  });
  CHECK(finish(loop, call).kind == ToolOutcome::Kind::timed_out);
  CHECK_FALSE(left_behind);
}

inline void check_abort(const ToolSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto hanging = subject.make(loop, ToolBehaviour::hangs, contract_spec());
  ToolCall<ToolOutcome> call;
  bool left_behind = true;
  call.operation = hanging->invoke(contract_invocation(), [&](ToolOutcome outcome) {
    left_behind = subject.left_behind();
    call.callback()(std::move(outcome));
  });
  subject.await_started(loop);
  call.operation->abort();
  CHECK(call.callbacks == 0);  // not from inside abort() either
  call.operation->abort();
  CHECK(finish(loop, call).kind == ToolOutcome::Kind::aborted);
  CHECK_FALSE(left_behind);
  call.operation->abort();  // after the end: nothing
  settle(loop);
  CHECK(call.callbacks == 1);
}

inline void check_destruction(const ToolSubject& subject) {
  TestLoop loop(TestLoop::Clock::machine);
  const auto hanging = subject.make(loop, ToolBehaviour::hangs, contract_spec());
  const auto fine = subject.make(loop, ToolBehaviour::succeeds, contract_spec());
  ToolCall<ToolOutcome> call;
  call.operation = hanging->invoke(contract_invocation(), call.callback());
  subject.await_started(loop);
  call.operation.reset();
  call.operation = fine->invoke(contract_invocation(), call.callback());
  call.operation.reset();  // at once, whatever state it is in
  CHECK(eventually(loop, [&] { return !subject.left_behind(); }));
  settle(loop);
  CHECK(call.callbacks == 0);

  // An operation that is destroyed by its own callback.
  call.operation = fine->invoke(contract_invocation(), [&](ToolOutcome outcome) {
    call.operation.reset();
    call.callback()(std::move(outcome));
  });
  CHECK(finish(loop, call).kind == ToolOutcome::Kind::succeeded);
}

inline void check_status(const ToolSubject& subject) {
  TestLoop loop;
  const auto tool = subject.make(loop, ToolBehaviour::reconciles, contract_spec());
  REQUIRE(tool->spec().effect == EffectClass::reconcilable);
  ToolCall<ToolStatus> call;
  call.operation = tool->status(contract_invocation(), call.callback());
  CHECK(call.callbacks == 0);
  const ToolStatus status = finish(loop, call);
  CHECK(status.kind == ToolStatus::Kind::done);
  CHECK(status.content == "fine");

  ToolCall<ToolStatus> dropped;
  dropped.operation = tool->status(contract_invocation(), dropped.callback());
  dropped.operation.reset();
  settle(loop);
  CHECK(dropped.callbacks == 0);
}

inline void check_tool_contract(const ToolSubject& subject) {
  check_ends(subject);
  check_output_bound(subject);
  check_timeout(subject);
  check_abort(subject);
  check_destruction(subject);
  check_status(subject);
}

}  // namespace pawl::contract
