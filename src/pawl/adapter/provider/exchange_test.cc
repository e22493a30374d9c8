#include "pawl/adapter/provider/exchange.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/anthropic_stream_test.h"
#include "pawl/adapter/provider/phase_stage_test.h"

namespace pawl::provider {
namespace {

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
