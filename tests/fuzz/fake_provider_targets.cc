// Readers of the fake provider: its scripts, its recordings, and the requests it answers.
#include <array>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/testing/fake_provider/cassette.h"
#include "pawl/testing/fake_provider/responder.h"
#include "pawl/testing/fake_provider/script_reader.h"
#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {

void fuzz_provider_script(std::string_view bytes) {
  constexpr YamlLimits kSmallYaml{64U << 10U, 64, 2'000, 16U << 10U};
  const DocumentResult document = parse_yaml(bytes, kSmallYaml);
  if (!document.root) return;
  const fake::FakeScriptReading reading = fake::read_fake_script(*document.root, "script");
  FUZZ_CHECK(reading.script.has_value() == reading.faults.empty());
}

void fuzz_cassette(std::string_view bytes) {
  const auto recordings = fake::read_cassette(bytes);
  if (!recordings) return;
  std::string lines;
  for (const fake::Recording& each : *recordings) lines += fake::to_line(each);
  const auto again = fake::read_cassette(lines);
  FUZZ_CHECK(again && again->size() == recordings->size());
  for (std::size_t i = 0; i < again->size(); ++i) {
    FUZZ_CHECK((*again)[i].pieces == (*recordings)[i].pieces);
  }
}

// The first byte chooses the path, the rest is the body. What is not streamed is JSON, always.
void fuzz_provider_request(std::string_view bytes) {
  static constexpr std::array<std::string_view, 6> kPaths = {"/v1/messages",
                                                             "/v1/chat/completions",
                                                             "/v1/responses",
                                                             "/v1beta/models/m:generateContent",
                                                             "/v1beta/models/m:countTokens",
                                                             "/v1/messages/count_tokens"};
  if (bytes.empty()) return;
  fake::ServerRequest request;
  request.method = "POST";
  request.target = kPaths[static_cast<unsigned char>(bytes[0]) % kPaths.size()];
  request.headers = {{"x-api-key", "k"}, {"anthropic-version", "2023-06-01"}};
  request.body = bytes.substr(1);
  fake::Responder responder({}, {});
  const fake::WirePlan plan = responder.plan(request, 1);
  FUZZ_CHECK(!plan.pieces.empty() && plan.end == fake::WireEnd::keep_alive);
  std::string all;
  for (const fake::WirePiece& piece : plan.pieces) all += piece.bytes;
  const std::size_t body = all.find("\r\n\r\n");
  FUZZ_CHECK(body != std::string::npos);
  if (all.find("transfer-encoding: chunked\r\n") < body) return;
  constexpr JsonLimits kDeep{64U << 20U, 1'024, 10'000'000};  // The request's own depth and more.
  FUZZ_CHECK(check_json(all.substr(body + 4), kDeep));
}

}  // namespace pawl::fuzz
