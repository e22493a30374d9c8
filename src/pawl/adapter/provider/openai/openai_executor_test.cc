// Both OpenAI dialects behind the executor: its contract, and provider faults from end to end.
#include <doctest/doctest.h>

#include "pawl/adapter/provider/exchange/fake_http_test.h"
#include "pawl/adapter/provider/openai/openai_stream_test.h"
#include "pawl/adapter/provider/provider_executor.h"
#include "tests/contract/executor_contract.h"

namespace pawl::provider::openai_test {
namespace {

using contract::ExecutorBehaviour;
using contract::ExecutorSubject;
using contract::ObservedPhase;

const std::string kKey = "sk-proj-abcdefghijklmnop";

std::string quoted(const std::string& text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// What the two dialects say for the same.
struct Voice {
  ProviderDialect dialect;
  std::vector<std::string> begin;
  std::function<std::string(const std::string&)> says;
  std::string calls;  // look({"a":1}), as a second item
  std::vector<std::string> end;
};

Voice responses_voice() {
  return {ProviderDialect::openai_responses,
          {R"({"type":"response.created","response":{}})",
           R"({"type":"response.output_item.added","output_index":0,"item":{"type":"message"}})"},
          [](const std::string& text) {
            return R"({"type":"response.output_text.delta","output_index":0,"delta":)" +
                   quoted(text) + "}";
          },
          R"({"type":"response.output_item.done","output_index":1,"item":{"type":"function_call",)"
          R"("call_id":"c","name":"look","arguments":"{\"a\":1}"}})",
          {R"({"type":"response.completed","response":{"status":"completed","model":"m",)"
           R"("usage":{"input_tokens":9,"output_tokens":2}}})"}};
}

Voice chat_voice() {
  return {ProviderDialect::openai_chat,
          {R"({"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})"},
          [](const std::string& text) {
            return R"({"choices":[{"index":0,"delta":{"content":)" + quoted(text) + "}}]}";
          },
          R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",)"
          R"("function":{"name":"look","arguments":"{\"a\":1}"}}]}}]})",
          {R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})",
           R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}})", "[DONE]"}};
}

std::string stream_of(const Voice& voice, const std::vector<std::string>& middle) {
  return as_events(voice.begin) + as_events(middle) + as_events(voice.end);
}

HttpScript behaving(const Voice& voice, ExecutorBehaviour behaviour) {
  switch (behaviour) {
    case ExecutorBehaviour::says:
      return event_stream(stream_of(voice, {voice.says("fine")}));
    case ExecutorBehaviour::calls:
      return event_stream(stream_of(voice, {voice.says("I look."), voice.calls}));
    case ExecutorBehaviour::floods: {
      std::string piece;
      for (int n = 0; n < 20; ++n) piece += "\xC3\xA9\xE2\x82\xAC";
      return event_stream(stream_of(voice, std::vector(1'000, voice.says(piece))));
    }
    case ExecutorBehaviour::fails:
      return error_response(503, R"({"error":{"message":"no","type":"server_error"}})");
    case ExecutorBehaviour::hangs:
      return {http_head(200, "text/event-stream"), as_events(voice.begin)};
  }
  return {};
}

std::shared_ptr<Executor> executor_of(const Voice& voice, TestLoop& loop, HttpScript script) {
  ProviderConfig config;
  config.name = "openai";
  config.dialect = voice.dialect;
  config.base_url = "https://api.openai.com";
  config.key = std::make_shared<FakeSecret>(kKey);
  config.models.emplace_back().id = "gpt-5";
  return make_provider_executor(
      std::move(config), loop,
      std::make_shared<FakeHttp>(loop, [script](const HttpRequest&) { return script; }));
}

struct Stage {
  Stage(const Voice& voice, HttpScript script)
      : executor(executor_of(voice, loop, std::move(script))) {
    phase.execute(*executor);
    loop.run_posted();
  }
  std::size_t calls() const { return phase.count<ToolCallProposed>(); }

  TestLoop loop;
  std::shared_ptr<Executor> executor;
  ObservedPhase phase;
};

const std::vector<Voice>& voices() {
  static const std::vector<Voice> all{responses_voice(), chat_voice()};
  return all;
}

}  // namespace

TEST_CASE("executors of both OpenAI dialects keep the contract of executors") {
  for (const Voice& voice : voices()) {
    CAPTURE(name(voice.dialect));
    contract::check_executor_contract(
        ExecutorSubject{[&](TestLoop& loop, ExecutorBehaviour behaviour) {
          return executor_of(voice, loop, behaving(voice, behaviour));
        }});
  }
}

TEST_CASE("sc-P01, sc-P04, sc-P05: error statuses of OpenAI, and a key that is not echoed") {
  for (const Voice& voice : voices()) {
    Stage limited(voice, error_response(429, R"({"error":{"code":"rate_limit_exceeded"}})",
                                        {{"retry-after", "7"}}));
    CHECK(limited.phase.outcome<PhaseFailed>().kind == FailureKind::rate_limited);
    CHECK(limited.phase.outcome<PhaseFailed>().retry_after_ms == 7'000);
    Stage refused(voice, error_response(
                             401, R"({"error":{"message":"Incorrect API key: )" + kKey + R"("}})"));
    CHECK(refused.phase.outcome<PhaseFailed>().category == ErrorCategory::policy_violation);
    CHECK(refused.phase.outcome<PhaseFailed>().message.find(kKey) == std::string::npos);
    Stage broken(voice, error_response(502, "<html>"));
    CHECK(broken.phase.outcome<PhaseFailed>().kind == FailureKind::transient);
  }
}

TEST_CASE("sc-P03, sc-P12: what an error or the end of the stream cuts short proposes no call") {
  for (const Voice& voice : voices()) {
    const std::string before = as_events(voice.begin) + as_events({voice.says("x"), voice.calls});
    Stage cut(voice, event_stream(before));
    CHECK(cut.phase.outcome<PhaseFailed>().kind == FailureKind::transient);
    CHECK(cut.calls() == 0);
    Stage failed(voice, event_stream(before + as_events({R"({"error":{"type":"server_error"}})"})));
    CHECK(failed.phase.outcome<PhaseFailed>().category == ErrorCategory::llm_error);
    CHECK(failed.calls() == 0);
    Stage garbled(voice, event_stream(before + as_events({"{"})));
    CHECK(garbled.phase.outcome<PhaseFailed>().kind == FailureKind::transient);
    CHECK(garbled.calls() == 0);
  }
}

TEST_CASE("sc-P08: comments keep a connection of OpenAI's and are no progress") {
  for (const Voice& voice : voices()) {
    HttpScript script = behaving(voice, ExecutorBehaviour::hangs);
    for (int i = 0; i < 1'000; ++i) {
      script.emplace_back(HttpPause{5'000});
      script.emplace_back(std::string(": OPENROUTER PROCESSING\n\n"));
    }
    Stage stage(voice, std::move(script));
    stage.loop.advance(599'999);
    CHECK_FALSE(stage.phase.done());
    stage.loop.advance(1);
    REQUIRE(stage.phase.done());
    CHECK(stage.phase.outcome<PhaseFailed>().category == ErrorCategory::timeout);
  }
}

TEST_CASE("sc-P20: usage that cannot be true is estimated instead") {
  for (const Voice& voice : voices()) {
    Voice liar = voice;
    for (std::string& event : liar.end) {
      const std::size_t at = event.find("_tokens\":9");
      if (at != std::string::npos) event.replace(at, 10, "_tokens\":-9");
    }
    Stage stage(liar, behaving(liar, ExecutorBehaviour::says));
    CHECK(stage.phase.outcome<PhaseReplied>().stop == ReplyStop::end_turn);
    const auto* said = std::get_if<UsageReported>(&stage.phase.events.end()[-2]);
    REQUIRE(said != nullptr);
    CHECK(said->usage.input_tokens > 0);
    CHECK(said->usage.output_tokens > 0);
  }
}

TEST_CASE("a body that is not streamed although a stream was asked for is read all the same") {
  const std::string body =
      R"({"model":"m","choices":[{"index":0,"message":{"content":"fine"},"finish_reason":"stop"}]})";
  Stage stage(chat_voice(), {http_head(200, "application/json"), body, HttpEnd{}});
  CHECK(stage.phase.outcome<PhaseReplied>().model == "openai/m");
}

}  // namespace pawl::provider::openai_test
