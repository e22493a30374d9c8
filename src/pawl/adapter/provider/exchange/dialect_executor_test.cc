// The executor's contract, and what it does when the world misbehaves.
#include "pawl/adapter/provider/provider_executor.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/anthropic/anthropic_stream_test.h"
#include "pawl/adapter/provider/exchange/fake_http_test.h"
#include "pawl/kernel/retry.h"
#include "tests/contract/executor_contract.h"

namespace pawl::provider {
namespace {

using contract::ExecutorBehaviour;
using contract::ExecutorSubject;
using contract::ObservedPhase;

const std::string kKey = "sk-ant-api03-abcdefghijklmnop";

ProviderConfig config_of() {
  ProviderConfig config;
  config.name = "anthropic";
  config.dialect = ProviderDialect::anthropic;
  config.base_url = "https://api.example.com/";
  config.key = std::make_shared<FakeSecret>(kKey);
  config.models.emplace_back().id = "claude-test";
  config.model_prefixes = {"claude-"};
  return config;
}

HttpScript behaving(ExecutorBehaviour behaviour) {
  switch (behaviour) {
    case ExecutorBehaviour::says:
      return event_stream(AnthropicStream().start().text(0, "fine").end("end_turn").bytes);
    case ExecutorBehaviour::calls:
      return event_stream(AnthropicStream()
                              .start()
                              .text(0, "I will look.")
                              .tool(1, "look", R"({"a":1})")
                              .end("tool_use")
                              .bytes);
    case ExecutorBehaviour::floods: {
      AnthropicStream stream;
      stream.start().block(0, R"({"type":"text","text":""})");
      for (int i = 0; i < 1'000; ++i) {
        std::string piece;
        for (int n = 0; n < 20; ++n) piece += "\xC3\xA9\xE2\x82\xAC";
        stream.delta(0, "text_delta", "text", piece);
      }
      return event_stream(stream.stop(0).end("end_turn").bytes);
    }
    case ExecutorBehaviour::fails:
      return error_response(529, R"({"type":"error","error":{"type":"overloaded_error"}})");
    case ExecutorBehaviour::hangs:
      return {http_head(200, "text/event-stream"), AnthropicStream().start().bytes};
  }
  return {};
}

TEST_CASE("an executor of a provider keeps the contract of executors") {
  contract::check_executor_contract(
      ExecutorSubject{[](TestLoop& loop, ExecutorBehaviour behaviour) {
        return make_dialect_executor(
            config_of(), make_anthropic_dialect(), loop,
            std::make_shared<FakeHttp>(loop, [=](const auto&) { return behaving(behaviour); }));
      }});
}

std::string gemini_event(const std::string& parts, const std::string& more = "") {
  return R"(data: {"candidates":[{"content":{"parts":[)" + parts + "]}" + more + "}]}\r\n\r\n";
}

HttpScript gemini_behaving(ExecutorBehaviour behaviour) {
  const std::string stop = R"(,"finishReason":"STOP")";
  switch (behaviour) {
    case ExecutorBehaviour::says:
      return event_stream(gemini_event(R"({"text":"fine"})", stop));
    case ExecutorBehaviour::calls:
      return event_stream(gemini_event(
          R"({"text":"I will look."},{"functionCall":{"name":"look","args":{"a":1}}})", stop));
    case ExecutorBehaviour::floods: {
      std::string piece;
      for (int n = 0; n < 20; ++n) piece += "\xC3\xA9\xE2\x82\xAC";
      std::string stream;
      for (int i = 0; i < 1'000; ++i) stream += gemini_event(R"({"text":")" + piece + R"("})");
      return event_stream(stream + gemini_event("", stop));
    }
    case ExecutorBehaviour::fails:
      return error_response(503, R"({"error":{"status":"UNAVAILABLE"}})");
    case ExecutorBehaviour::hangs:
      return {http_head(200, "text/event-stream"), gemini_event(R"({"text":"a"})")};
  }
  return {};
}

TEST_CASE("one that speaks Gemini's dialect keeps it as well") {
  contract::check_executor_contract(ExecutorSubject{[](TestLoop& loop,
                                                       ExecutorBehaviour behaviour) {
    return make_dialect_executor(
        config_of(), make_gemini_dialect(), loop,
        std::make_shared<FakeHttp>(loop, [=](const auto&) { return gemini_behaving(behaviour); }));
  }});
}

// One phase on a manual clock against a script.
struct Stage {
  explicit Stage(HttpScript script, ProviderConfig config = config_of())
      : http(std::make_shared<FakeHttp>(loop, [script](const HttpRequest&) { return script; })),
        executor(make_dialect_executor(std::move(config), make_anthropic_dialect(), loop, http)) {}

  const PhaseFailed& failure() {
    phase.execute(*executor);
    loop.run_posted();
    return phase.outcome<PhaseFailed>();
  }
  const PhaseReplied& reply() {
    phase.execute(*executor);
    loop.run_posted();
    return phase.outcome<PhaseReplied>();
  }
  Usage usage() const {
    const auto* said = std::get_if<UsageReported>(&phase.events[phase.events.size() - 2]);
    REQUIRE(said != nullptr);
    return said->usage;
  }

  TestLoop loop;
  std::shared_ptr<FakeHttp> http;
  std::shared_ptr<Executor> executor;
  ObservedPhase phase;
};

TEST_CASE("a request has the key in a secret header and nowhere else") {
  Stage stage(behaving(ExecutorBehaviour::says));
  CHECK(stage.reply().model == "anthropic/claude-test");
  REQUIRE(stage.http->requests.size() == 1);
  const HttpRequest& request = stage.http->requests[0];
  CHECK(request.url == "https://api.example.com/v1/messages");
  CHECK(request.body.whole().find(kKey) == std::string::npos);
  int secrets = 0;
  for (const HttpHeader& header : request.headers) {
    if (header.value.find(kKey) == std::string::npos) continue;
    CHECK(header.name == "x-api-key");
    CHECK(header.secrecy == HttpHeader::Secrecy::secret);
    ++secrets;
  }
  CHECK(secrets == 1);
  CHECK(stage.usage() == Usage{10, 7, 0, 0});
}

TEST_CASE("health says where the key is, and does not look at it; without one nothing is sent") {
  ProviderConfig config = config_of();
  config.key = std::make_shared<FakeSecret>(Error{ErrorCode::not_found, "set SOME_KEY"});
  Stage stage(behaving(ExecutorBehaviour::says), config);
  const int revealed = static_cast<const FakeSecret&>(*config.key).revealed;
  CHECK(stage.executor->health().status);
  CHECK(static_cast<const FakeSecret&>(*config.key).revealed == revealed);
  CHECK(stage.executor->health().detail == "https://api.example.com/, key from a test");
  CHECK(stage.failure().message == "set SOME_KEY");
  CHECK(stage.phase.outcome<PhaseFailed>().kind == FailureKind::permanent);
  CHECK(stage.http->requests.empty());
  CHECK(stage.usage() == Usage{});
}

TEST_CASE("models are known with and without the provider's name, listed or by prefix") {
  Stage stage(behaving(ExecutorBehaviour::says));
  for (const char* model : {"claude-test", "anthropic/claude-test", "claude-new"}) {
    CHECK(stage.executor->supports(model));
  }
  CHECK_FALSE(stage.executor->supports("openai/claude-test"));
  CHECK_FALSE(stage.executor->supports("gpt"));
  CHECK_FALSE(stage.executor->capabilities_of("anthropic/claude-test").supports_thinking);
  CHECK(stage.executor->capabilities_of("claude-new").supports_thinking);
  PhaseExecutionRequest request;
  request.model = "gpt";
  std::vector<PhaseExecutorEvent> events;
  const auto operation = stage.executor->execute_phase(
      request, [&](PhaseExecutorEvent event) { events.push_back(std::move(event)); });
  CHECK(events.empty());
  stage.loop.run_posted();
  const auto* done = std::get_if<PhaseDone>(&events.back());
  CHECK(std::get<PhaseFailed>(done->outcome).kind == FailureKind::model_not_found);
}

TEST_CASE("chat is a phase of its messages, without tools") {
  Stage stage(behaving(ExecutorBehaviour::says));
  ChatRequest request;
  request.model = "anthropic/claude-test";
  request.system_prompt = "Be brief.";
  request.messages = {{Role::user, "a"}, {Role::assistant, "b"}, {Role::user, "c"}};
  std::vector<PhaseExecutorEvent> events;
  const auto operation = stage.executor->chat(
      request, [&](PhaseExecutorEvent event) { events.push_back(std::move(event)); });
  stage.loop.run_posted();
  CHECK(std::holds_alternative<PhaseDone>(events.back()));
  const std::string body = stage.http->requests.at(0).body.whole();
  CHECK(body.find(R"("role":"assistant","content":[{"type":"text","text":"b"}])") !=
        std::string::npos);
  CHECK(body.find("\"tools\"") == std::string::npos);
}

TEST_CASE("sc-P01, sc-P02: what a provider says about waiting is believed within reason") {
  const std::vector<std::pair<std::string, std::optional<std::uint64_t>>> cases = {
      {"7", 7'000},
      {"0.5", 500},
      {"abc", std::nullopt},
      {"-1", std::nullopt},
      {"1e12", kRetryAfterMaxMs},
      {"", std::nullopt},
      {"Thu, 01 Jan 2099 00:00:00 GMT", kRetryAfterMaxMs},
      {"Tue, 14 Nov 2023 22:13:30 GMT", 10'000},  // ten seconds from the loop's start
      {"Tue, 14 Nov 2023 22:13:10 GMT", std::nullopt}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    Stage stage(error_response(429, R"({"type":"error","error":{"type":"rate_limit_error"}})",
                               {{"retry-after", text}}));
    const PhaseFailed& failed = stage.failure();
    CHECK(failed.kind == FailureKind::rate_limited);
    CHECK(failed.retry_after_ms == expected);
    CHECK(stage.usage() == Usage{});
  }
}

TEST_CASE("sc-P04: what statuses mean") {
  struct Case {
    int status;
    ErrorCategory category;
    FailureKind kind;
  };
  for (const Case& one : {Case{400, ErrorCategory::validation_error, FailureKind::permanent},
                          {413, ErrorCategory::validation_error, FailureKind::permanent},
                          {401, ErrorCategory::policy_violation, FailureKind::permanent},
                          {403, ErrorCategory::policy_violation, FailureKind::permanent},
                          {402, ErrorCategory::quota_exceeded, FailureKind::permanent},
                          {404, ErrorCategory::validation_error, FailureKind::model_not_found},
                          {408, ErrorCategory::timeout, FailureKind::transient},
                          {409, ErrorCategory::timeout, FailureKind::transient},
                          {500, ErrorCategory::llm_error, FailureKind::transient},
                          {502, ErrorCategory::llm_error, FailureKind::transient},
                          {503, ErrorCategory::llm_error, FailureKind::overloaded},
                          {504, ErrorCategory::llm_error, FailureKind::transient},
                          {529, ErrorCategory::llm_error, FailureKind::overloaded}}) {
    CAPTURE(one.status);
    Stage stage(error_response(one.status, "<html>no JSON</html>"));
    CHECK(stage.failure().category == one.category);
    CHECK(stage.failure().kind == one.kind);
  }
}

TEST_CASE("sc-P05: an error that echoes the key does not show it") {
  for (const std::string& echo :
       {kKey, std::string("sk-ant-api03-abcd...mnop"), kKey.substr(5, 14)}) {
    Stage stage(error_response(
        401, R"({"type":"error","error":{"type":"authentication_error","message":"bad key )" +
                 echo + R"("}})"));
    CHECK(stage.failure().message == "HTTP 401 authentication_error: bad key [redacted]");
  }
}

TEST_CASE("sc-P06: failures of the network end the phase, each in its way") {
  struct Case {
    HttpFailure failure;
    ErrorCategory category;
    FailureKind kind;
    bool arrived = true;  // perhaps
  };
  for (const Case& one :
       {Case{HttpFailure::connect, ErrorCategory::network_error, FailureKind::transient, false},
        {HttpFailure::tls, ErrorCategory::network_error, FailureKind::permanent, false},
        {HttpFailure::timeout, ErrorCategory::timeout, FailureKind::transient},
        {HttpFailure::broken, ErrorCategory::network_error, FailureKind::transient},
        {HttpFailure::protocol, ErrorCategory::network_error, FailureKind::transient},
        {HttpFailure::invalid, ErrorCategory::network_error, FailureKind::permanent, false},
        {HttpFailure::overloaded, ErrorCategory::network_error, FailureKind::overloaded, false},
        {HttpFailure::too_large, ErrorCategory::validation_error, FailureKind::permanent}}) {
    CAPTURE(name(one.failure));
    Stage before({HttpEnd{one.failure, "it broke"}});
    CHECK(before.failure().category == one.category);
    CHECK(before.failure().kind == one.kind);
    CHECK(before.failure().message == "it broke");
    CHECK((before.usage() == Usage{}) != one.arrived);
    Stage inside({http_head(200, "text/event-stream"),
                  AnthropicStream().start().text(0, std::string(100, 'x')).bytes,
                  HttpEnd{one.failure, "it broke"}});
    CHECK(inside.failure().kind == one.kind);
    CHECK(inside.usage() == Usage{10, 25, 0, 0});  // what was said, and an estimate of the rest
  }
}

}  // namespace
}  // namespace pawl::provider
