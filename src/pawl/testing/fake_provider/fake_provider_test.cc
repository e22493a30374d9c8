#include "pawl/testing/fake_provider/fake_provider.h"

#include <doctest/doctest.h>

#include "pawl/json.h"
#include "pawl/testing/fake_provider/server/client_test_support.h"

namespace pawl::fake {
namespace {

std::unique_ptr<FakeProvider> started(FakeProviderOptions options = {}) {
  auto provider = FakeProvider::start(std::move(options));
  REQUIRE(provider);
  return *std::move(provider);
}

TestReply post(const FakeProvider& provider, std::string_view target, std::string_view body,
               const std::vector<std::pair<std::string, std::string>>& headers) {
  TestClient client(provider.port());
  REQUIRE(client.send(request_text("POST", target, body, headers)));
  return read_reply(client);
}

constexpr std::string_view kHello =
    R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hello there"}]})";

TEST_CASE("without a script the last user text comes back as a Messages stream") {
  const auto provider = started();

  const TestReply reply = post(*provider, "/v1/messages", kHello, kAnthropicHeaders);

  CHECK(reply.status == 200);
  CHECK(reply.header("content-type") == "text/event-stream; charset=utf-8");
  CHECK(reply.header("request-id").starts_with("req_011"));
  CHECK(reply.body.starts_with("event: message_start\ndata: {\"type\":\"message_start\""));
  CHECK(reply.body.find(R"("text_delta","text":"Hello"})") != std::string::npos);
  CHECK(reply.body.find(R"("text_delta","text":" there"})") != std::string::npos);
  CHECK(reply.body.find("event: ping\ndata: {\"type\": \"ping\"}\n\n") != std::string::npos);
  CHECK(reply.body.find("event: message_stop\n") != std::string::npos);
}

TEST_CASE("and as a stream of chat chunks that ends with [DONE]") {
  const auto provider = started();

  const TestReply reply = post(*provider, "/v1/chat/completions", kHello, kOpenaiHeaders);

  CHECK(reply.status == 200);
  CHECK(reply.body.find(R"("delta":{"content":"Hello"})") != std::string::npos);
  CHECK(reply.body.ends_with("data: [DONE]\n\n"));
}

TEST_CASE("one connection carries many requests, and each is remembered without its key") {
  const auto provider = started();
  TestClient client(provider->port());

  for (int i = 0; i < 3; ++i) {
    REQUIRE(client.send(request_text("POST", "/v1/messages", kHello, kAnthropicHeaders)));
    CHECK(read_reply(client).status == 200);
  }

  const auto requests = provider->requests();
  REQUIRE(requests.size() == 3);
  CHECK(requests[2].number == 3);
  CHECK(requests[2].model == "m");
  CHECK(requests[2].header("x-api-key") == "<scrubbed>");
  CHECK(provider->figures().connections_accepted == 1);
}

TEST_CASE("hundreds of streams stand open at once, and end with their clients") {
  FaultSpec stall;
  stall.kind = FaultKind::stall;
  FakeProviderOptions options;
  options.faults = {stall};
  const auto provider = started(std::move(options));
  constexpr std::size_t kStreams = 300;
  {
    std::vector<std::unique_ptr<TestClient>> clients;
    for (std::size_t i = 0; i < kStreams; ++i) {
      clients.push_back(std::make_unique<TestClient>(provider->port()));
      REQUIRE(
          clients.back()->send(request_text("POST", "/v1/messages", kHello, kAnthropicHeaders)));
    }
    for (const auto& client : clients) {
      CHECK(client->read_until("content_block_delta") == ReadEnd::enough);
    }
    CHECK(provider->figures().replies_open == kStreams);
  }
  for (int i = 0; i < 10'000 && provider->figures().replies_open > 0; ++i) {
    TestClient other(provider->port());
    REQUIRE(other.send(request_text("GET", "/_pawl/stats", "", {})));
    CHECK(read_reply(other).status == 200);
  }
  CHECK(provider->figures().replies_open <= 1);  // the last look at the figures itself
}

TEST_CASE("Responses and Gemini stream too, and models can be listed") {
  const auto provider = started();

  const TestReply response =
      post(*provider, "/v1/responses", R"({"model":"m","stream":true,"input":"Hi you"})",
           kOpenaiHeaders);
  CHECK(response.body.starts_with("event: response.created\n"));
  CHECK(response.body.find("event: response.completed\n") != std::string::npos);

  const TestReply gemini =
      post(*provider, "/v1beta/models/g:streamGenerateContent?alt=sse",
           R"({"contents":[{"role":"user","parts":[{"text":"Hi you"}]}]})", kGeminiHeaders);
  CHECK(gemini.header("content-type") == "text/event-stream");
  CHECK(gemini.body.find(R"("finishReason":"STOP")") != std::string::npos);

  TestClient client(provider->port());
  REQUIRE(client.send(request_text("GET", "/v1/models", "", kOpenaiHeaders)));
  CHECK(read_reply(client).body.starts_with(R"({"object":"list","data":[{"id":)"));
}

TEST_CASE("a port that is taken is an error") {
  const auto first = started();
  FakeProviderOptions options;
  options.port = first->port();
  CHECK(!FakeProvider::start(std::move(options)));
}

}  // namespace
}  // namespace pawl::fake
