#include "pawl/adapter/fake_provider/fake_provider.h"

#include <doctest/doctest.h>

#include "pawl/adapter/fake_provider/client_test_support.h"
#include "pawl/base/json.h"

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

}  // namespace
}  // namespace pawl::fake
