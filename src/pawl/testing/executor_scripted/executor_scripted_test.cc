#include "pawl/testing/executor_scripted/executor_scripted.h"

#include <doctest/doctest.h>

#include "tests/contract/executor_contract.h"

namespace pawl {
namespace {

using contract::ExecutorBehaviour;
using contract::ExecutorSubject;
using contract::ObservedPhase;

Script behaving(ExecutorBehaviour behaviour) {
  switch (behaviour) {
    case ExecutorBehaviour::says:
      return {{ScriptReply::say("fine")}};
    case ExecutorBehaviour::calls: {
      ScriptSpeech speech;
      speech.text = {"I will look."};
      speech.calls = {{"look", R"({"a":1})"}};
      return {{ScriptReply{.outcome = speech}}};
    }
    case ExecutorBehaviour::floods: {
      std::string text;
      while (text.size() < 100'000) text += "\xC3\xA9\xE2\x82\xAC";
      return {{ScriptReply::say(text)}};
    }
    case ExecutorBehaviour::fails:
      return {{ScriptReply::fail(ErrorCategory::network_error)}};
    case ExecutorBehaviour::hangs:
      return {{ScriptReply{.delay_ms = kScriptDelayMaxMs}}};
  }
  return {};
}

// Runs one phase to its end on a manual clock and gives back what it reported.
std::vector<PhaseExecutorEvent> events_of(Script script, const PhaseExecutionRequest& request) {
  TestLoop loop;
  const auto executor = make_scripted_executor(std::move(script), loop);
  std::vector<PhaseExecutorEvent> events;
  const auto operation = executor->execute_phase(
      request, [&](PhaseExecutorEvent event) { events.push_back(std::move(event)); });
  while (loop.skip_to_next_timer()) continue;
  loop.run_posted();
  REQUIRE(events.size() >= 2);
  return events;
}

PhaseDone end_of(Script script, std::uint64_t position = 0) {
  PhaseExecutionRequest request;
  request.position = position;
  request.model = "scripted/x";
  return std::get<PhaseDone>(events_of(std::move(script), request).back());
}

Usage usage_of(Script script, const PhaseExecutionRequest& request = {}) {
  const auto events = events_of(std::move(script), request);
  return std::get<UsageReported>(events[events.size() - 2]).usage;
}

TEST_CASE("the scripted executor keeps the contract of executors") {
  contract::check_executor_contract(
      ExecutorSubject{[](TestLoop& loop, ExecutorBehaviour behaviour) {
        return make_scripted_executor(behaving(behaviour), loop);
      }});
}

TEST_CASE("a session resuming script keeps the contract as well and names its session") {
  const auto resuming = [](Script script) {
    script.capabilities.supports_conversation_replay = false;
    script.capabilities.supports_session_resume = true;
    return script;
  };
  contract::check_executor_contract(
      ExecutorSubject{[&](TestLoop& loop, ExecutorBehaviour behaviour) {
        return make_scripted_executor(resuming(behaving(behaviour)), loop);
      }});

  PhaseExecutionRequest request;
  request.run = RunId{"r1"};
  const Script script = resuming({{ScriptReply::say("hi")}});
  CHECK(std::get<SessionStarted>(events_of(script, request).front()).session == "scripted-r1-i1");
  request.session = "earlier";
  CHECK(std::get<SessionStarted>(events_of(script, request).front()).session == "earlier");
}

TEST_CASE("a script is supported by its name and by the scripted prefix") {
  TestLoop loop;
  const ScriptedExecutor executor(Script{{}, "pay"}, loop);
  CHECK(executor.supports("pay"));
  CHECK(executor.supports("scripted"));
  CHECK(executor.supports("scripted/pay.script.yaml"));
  CHECK_FALSE(executor.supports("scriptedly"));
  CHECK_FALSE(executor.supports(""));
  CHECK(executor.list_models().size() == 1);
}

TEST_CASE("the position chooses the reply, and one beyond the script fails for good") {
  const Script script{{ScriptReply::say("a"), ScriptReply::call("look")}, "pay"};

  const auto first = std::get<PhaseReplied>(end_of(script, 0).outcome);
  CHECK(first.stop == ReplyStop::end_turn);
  CHECK(first.model == "scripted/x");
  CHECK(std::get<PhaseReplied>(end_of(script, 1).outcome).stop == ReplyStop::tool_use);
  const auto third = std::get<PhaseFailed>(end_of(script, 2).outcome);
  CHECK(third.category == ErrorCategory::validation_error);
  CHECK(third.message == "the script pay has 2 replies and was asked for a 3rd");
}

TEST_CASE("every stop and every category of failure can be scripted") {
  for (std::uint8_t i = 0; i < kCount<ReplyStop>; ++i) {
    ScriptSpeech speech;
    speech.stop = static_cast<ReplyStop>(i);
    speech.stop_detail = "why";
    const auto end = end_of({{ScriptReply{.outcome = speech}}});
    CHECK(std::get<PhaseReplied>(end.outcome).stop == speech.stop);
    CHECK(std::get<PhaseReplied>(end.outcome).detail == "why");
  }
  for (std::uint8_t i = 0; i < kCount<ErrorCategory>; ++i) {
    const ScriptFailure failure{static_cast<ErrorCategory>(i), "no", 250};
    const auto end = end_of({{ScriptReply{.outcome = failure}}});
    CHECK(std::get<PhaseFailed>(end.outcome).category == failure.category);
    CHECK(std::get<PhaseFailed>(end.outcome).retry_after_ms == 250);
  }
}

TEST_CASE("usage is what the script says, or an estimate, or nothing for a failure") {
  const Usage said{1, 2, 3, 4};
  ScriptReply reply = ScriptReply::say("hello");
  reply.usage = said;
  CHECK(usage_of({{reply}}) == said);

  PhaseExecutionRequest request;
  request.system_prompt = "12345678";
  CHECK(usage_of({{ScriptReply::say("hello")}}, request) == Usage{2, 2, 0, 0});
  CHECK(usage_of({{ScriptReply::fail(ErrorCategory::timeout)}}, request) == Usage{});
  ScriptReply failing = ScriptReply::fail(ErrorCategory::timeout);
  failing.usage = said;
  CHECK(usage_of({{failing}}) == said);
}

TEST_CASE("a delay comes before the first event and an abort ends it at once") {
  TestLoop loop;
  ScriptReply slow = ScriptReply::say("hello");
  slow.delay_ms = 2'000;
  const auto executor = make_scripted_executor({{slow}}, loop);
  ObservedPhase phase;
  phase.execute(*executor);
  loop.advance(1'999);
  CHECK(phase.events.empty());
  loop.advance(1);
  CHECK(phase.done());
  CHECK(phase.text() == "hello");

  ObservedPhase aborted;
  aborted.execute(*executor);
  loop.advance(1'000);
  aborted.abort();
  CHECK(loop.timer_count() == 0);
  loop.run_posted();
  REQUIRE(aborted.events.size() == 2);
  CHECK(std::get<UsageReported>(aborted.events[0]).usage.output_tokens == 0);
  aborted.outcome<PhaseAborted>();
}

TEST_CASE("an aborted stream is charged for what it has sent") {
  TestLoop loop;
  ScriptReply reply = ScriptReply::say(std::string(400, 'x'));  // in four deltas
  reply.usage = Usage{7, 1'000, 0, 0};
  const auto executor = make_scripted_executor({{reply}}, loop);
  ObservedPhase phase;
  phase.on_event = [&] {
    if (phase.events.size() == 2) phase.operation->abort();
  };
  phase.execute(*executor);
  loop.run_posted();
  REQUIRE(phase.events.size() == 4);
  CHECK(phase.text().size() == 200);
  CHECK(std::get<UsageReported>(phase.events[2]).usage == Usage{7, 50, 0, 0});
}

TEST_CASE("a phase outlives its executor, and a long reply takes several turns of the loop") {
  TestLoop loop;
  const std::size_t parts = 3 * kEventsPerTurnMax;
  ScriptSpeech speech;
  speech.text.assign(parts, "x");
  auto executor = make_scripted_executor({{ScriptReply{.outcome = speech}}}, loop);
  ObservedPhase phase;
  phase.execute(*executor);
  executor.reset();
  std::size_t seen_by_other = 0;
  loop.post([&] { loop.post([&] { seen_by_other = phase.events.size(); }); });
  loop.run_posted();
  CHECK(phase.done());
  CHECK(phase.count<TextDelta>() == parts);
  CHECK(seen_by_other > 0);
  CHECK(seen_by_other < parts);
}

TEST_CASE("a conversation that cannot be read fails the phase") {
  class Damaged final : public Transcript {
   public:
    std::size_t length() const override { return 1; }
    Result<std::vector<Message>> load(MessageRange) const override {
      return Error{ErrorCode::corrupt, "damage"};
    }
  };
  TestLoop loop;
  PhaseExecutionRequest request;
  request.transcript = std::make_shared<Damaged>();
  const auto events = events_of({{ScriptReply::say("x")}}, request);
  const auto failed = std::get<PhaseFailed>(std::get<PhaseDone>(events.back()).outcome);
  CHECK(failed.category == ErrorCategory::kernel_internal);
  CHECK(failed.message == "the conversation could not be read: damage");
}

}  // namespace
}  // namespace pawl
