#include "pawl/adapter/provider/exchange/exchange.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/anthropic/anthropic_stream_test.h"
#include "pawl/adapter/provider/exchange/phase_stage_test.h"

namespace pawl::provider {
namespace {

// Knows one value that is no key.
class OtherSecretFilter final : public ByteFilter {
 public:
  std::string ingress(std::string text) const override { return sink(std::move(text)); }
  std::string sink(std::string text) const override {
    constexpr std::string_view kValue = "other-secret";
    for (std::size_t at = text.find(kValue); at != std::string::npos; at = text.find(kValue)) {
      text.replace(at, kValue.size(), "<handle>");
    }
    return text;
  }
  std::unique_ptr<ByteStream> stream() const override { return nullptr; }
};

TEST_CASE("debug lines and errors pass the filter, before they are cut") {
  ProviderConfig config;
  std::vector<std::string> lines;
  config.filter = std::make_shared<OtherSecretFilter>();
  config.debug = [&](const std::string& line) { lines.push_back(line); };
  HttpRequest request;
  request.url = "https://host/path?key=other-secret";
  request.headers = {{"x-note", "other-secret"}, {"Proxy-Authorization", "Basic abc"}};
  request.body = std::string(kDebugBodyBytesMax - 5, 'x') + "other-secret";
  debug_request(config, request);
  debug_response(config, {401, {{"set-cookie", "session=abc"}}}, "Bearer other-secret");
  for (const std::string& line : lines) {
    CHECK(line.find("other") == std::string::npos);
    CHECK(line.find("abc") == std::string::npos);
  }
  CHECK(scrubbed("said other-secret", config) == "said <handle>");
}

TEST_CASE("headers with secrets are asked for anew with each request") {
  ProviderConfig config;
  const auto secret = std::make_shared<FakeSecret>(std::string("first"));
  config.secret_headers = {{"Authorization", "Bearer ", secret}};
  const auto request = http_request({}, config, *make_gemini_dialect());
  REQUIRE(request);
  CHECK(request->headers[0].value == "Bearer first");
  CHECK(request->headers[0].secrecy == HttpHeader::Secrecy::secret);
}

TEST_CASE("debug lines hold everything but credentials, one line each") {
  PhaseStage stage(event_stream(AnthropicStream().start().text(0, "fi\nne").end("end_turn").bytes));
  std::vector<std::string> lines;
  stage.config.key = std::make_shared<FakeSecret>(std::string("sk-ant-abcdefghijkl"));
  stage.config.headers = {{"x-own", "open"}, {"x-token", "hidden", HttpHeader::Secrecy::secret}};
  stage.config.debug = [&](const std::string& line) { lines.push_back(line); };
  stage.reply();
  REQUIRE(lines.size() == 2);
  for (const std::string& line : lines) {
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.find("sk-ant") == std::string::npos);
    CHECK(line.find("hidden") == std::string::npos);
  }
  CHECK(lines[0].find("x-own=\"open\"") != std::string::npos);
  CHECK(lines[0].find("Be brief.") != std::string::npos);
  CHECK(lines[1].find("message_stop") != std::string::npos);
}

TEST_CASE("a request has what the configuration says, and its credentials as a secret") {
  ProviderConfig config;
  config.key = std::make_shared<FakeSecret>(std::string("sk-ant-abcdefghijkl"));
  config.deadlines.http.idle_ms = 7;
  config.reply_bytes_max = 8;
  WireRequest wire;
  wire.url = "https://x/y";
  wire.body = "{}";
  const auto request = http_request(wire, config, *make_gemini_dialect());
  REQUIRE(request);
  CHECK(request->url == "https://x/y");
  CHECK(request->deadlines.idle_ms == 7);
  CHECK(request->body_bytes_max == 8);
  REQUIRE(request->headers.size() == 1);
  CHECK(request->headers[0].name == "x-goog-api-key");
  CHECK(request->headers[0].secrecy == HttpHeader::Secrecy::secret);
  config.key = nullptr;
  CHECK(http_request(wire, config, *make_gemini_dialect())->headers.empty());
}

}  // namespace
}  // namespace pawl::provider
