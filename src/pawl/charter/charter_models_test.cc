#include "pawl/charter/charter_models.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

Charter charter_of(const std::string& more) {
  return good_charter("name: t\ninstructions: Do it.\n" + more);
}

std::string model_of(const std::string& more) {
  return charter_of(more).model;
}

std::string faults_of(const std::string& more) {
  return charter_faults("name: t\ninstructions: Do it.\n" + more);
}

TEST_CASE("the model is a chain, a name, the only entry, or left to the configuration") {
  CHECK(model_of("model: a/x,b/y,coder") == "a/x,b/y,coder");
  CHECK(model_of("model: coder") == "coder");
  CHECK(model_of("models: { main: scripted/a.yaml }") == "main");
  CHECK(model_of("models: { main: [a/x, b/y] }") == "main");
  CHECK(model_of("models: { a: x/1, b: x/2 }\nmodel: b") == "b");
  CHECK(model_of("models: { a: x/1 }\nnodes: { n: { model: a } }") == "a");
  CHECK(model_of("") == "");
  CHECK(model_of("models: {}") == "");
}

TEST_CASE("models are aliases and tiers") {
  const ModelNames names =
      charter_of(
          "models:\n  coder: [a/x, b/y]\n  planning: { model: a/z, effort: high }\n"
          "model: coder")
          .models;
  CHECK(names.tiers.at("coder").items == std::vector<std::string>{"a/x", "b/y"});
  CHECK(names.aliases.at("planning") == NamedChain{{"a/z"}, ReasoningEffort::high});
}

TEST_CASE("a choice that is missing or is no model is a fault with a way out") {
  CHECK(faults_of("models: { a: x/1, b: x/2 }") ==
        "f:3:9: charter: several models are named and none is chosen (add model: with one of a, "
        "b)\n");
  CHECK(faults_of("model: [x/1]") ==
        "f:3:8: charter: \"model\" must be a model or a chain of models, found a list (for example "
        "anthropic/claude-sonnet-5)\n");
  CHECK(faults_of("model: 'a/x,,b'").find("f:3:8: charter: \"model\" must be") == 0);
  CHECK(faults_of("models: scripted/a.yaml") ==
        "f:3:9: models: must be a map, found the string \"scripted/a.yaml\"\n");
  CHECK(faults_of("models: { a: [], b: 1 }").find("f:3:14: models: \"a\" must be") == 0);
}

TEST_CASE("how the model answers can be set") {
  const Charter charter = charter_of(
      "max_tokens: 4096\ntemperature: 0.7\neffort: high\nstream: off\nsystem_header: Be kind.\n");
  CHECK(charter.sampling == SamplingOptions{4096, 700, ReasoningEffort::high, Streaming::off});
  CHECK(charter.system_header == "Be kind.");
  CHECK(charter_of("").sampling == SamplingOptions{});
  CHECK(charter_of("temperature: 0").sampling.temperature_milli == 0);
  CHECK(charter_of("temperature: 2").sampling.temperature_milli == 2'000);
  CHECK(charter_of("temperature: 1.005").sampling.temperature_milli == 1'005);
  CHECK(charter_of("stream: auto").sampling.stream == Streaming::automatic);
}

TEST_CASE("what a node says of sampling goes before what the charter says") {
  const SamplingOptions own =
      charter_of("nodes: { n: { effort: low, max_tokens: 5, temperature: 0.5, stream: off } }")
          .sampling;
  CHECK(own.effort == ReasoningEffort::low);
  CHECK(own.max_output_tokens == 5);
  CHECK(own.temperature_milli == 500);
  CHECK(own.stream == Streaming::off);
  const SamplingOptions both =
      charter_of("effort: high\nmax_tokens: 9\nnodes: { n: { effort: low } }").sampling;
  CHECK(both.effort == ReasoningEffort::low);
  CHECK(both.max_output_tokens == 9);
  CHECK(faults_of("nodes: { n: { effort: huge } }").starts_with("f:3:23: nodes.n: \"effort\""));
}

TEST_CASE("sampling out of range is a fault") {
  CHECK(faults_of("temperature: 2.001") ==
        "f:3:14: charter: \"temperature\" must be a number from 0 to 2 with at most three "
        "decimals, found the decimal 2.001\n");
  for (const char* const more :
       {"temperature: -0.1", "temperature: 1e0", "temperature: 0.1234", "temperature: '0.7'",
        "temperature: hot", "max_tokens: 0", "max_tokens: 1000001", "effort: huge", "effort: unset",
        "stream: maybe", "stream: true", "system_header: [a]"}) {
    CAPTURE(more);
    CHECK(faults_of(more).starts_with("f:3:"));
  }
  CHECK(faults_of("system_header: " + std::string(kSystemHeaderBytesMax + 1, 'x'))
            .find("may have 65536 bytes") != std::string::npos);
}

TEST_CASE("a schema of the output is kept as JSON, and its faults are found at once") {
  const std::string schema = "{ schema: { type: object, required: [summary] } }";
  const std::string expected = R"({"type":"object","required":["summary"]})";
  CHECK(charter_of("output: " + schema).output_schema == expected);
  CHECK(charter_of("nodes: { n: { output: " + schema + " } }").output_schema == expected);
  CHECK(charter_of("output: { schema: true }").output_schema == "true");
  CHECK(faults_of("output: {}") == "f:3:9: output: \"schema\" is missing (add \"schema\")\n");
  CHECK(faults_of("output: { schema: { type: 3 } }").starts_with("f:3:19: output: \"schema\": "));
  CHECK(faults_of("output: { schema: { $ref: 'http://elsewhere/x' } }").starts_with("f:3:19: "));
  CHECK(faults_of("output: { schema: {}, strict: true }").starts_with("f:3:23: output: unknown"));
}

TEST_CASE("compaction has a ratio, a model and messages to keep, or is off") {
  CHECK(charter_of("").compaction == CompactionPolicy{70, 6, ""});
  CHECK(charter_of("compaction: { ratio: 0.85, model: 'fast,a/x', keep: 4 }").compaction ==
        CompactionPolicy{85, 4, "fast,a/x"});
  CHECK(charter_of("compaction: { ratio: 0.5 }").compaction.ratio_percent == 50);
  CHECK(charter_of("compaction: off").compaction.ratio_percent == 0);
  for (const char* const more :
       {"compaction: on", "compaction: { ratio: 0.09 }", "compaction: { ratio: 0.96 }",
        "compaction: { ratio: 0.333 }", "compaction: { ratio: 70 }", "compaction: { keep: 0 }",
        "compaction: { model: 3 }", "compaction: { modle: x }"}) {
    CAPTURE(more);
    CHECK(faults_of(more).starts_with("f:3:"));
  }
}

TEST_CASE("a charter may bring its own providers") {
  const Charter charter = charter_of(
      "providers: { local: { dialect: openai_chat, base_url: http://127.0.0.1:8000, key: none } }\n"
      "model: local/qwen\n");
  REQUIRE(charter.providers.size() == 1);
  CHECK(charter.providers.front().base_url == "http://127.0.0.1:8000");
  CHECK(faults_of("providers: { local: { key: sk-1 } }").find("sk-1") == std::string::npos);
}

TEST_CASE("decimals become integers by their digits") {
  CHECK(parse_fixed_point("0.1", 3) == 100);
  CHECK(parse_fixed_point("12", 2) == 1'200);
  CHECK(parse_fixed_point("0.005", 3) == 5);
  for (const char* const text :
       {"", ".", ".5", "5.", "-1", "+1", "1e2", "0.1234", "1.2.3", "0x1", "1234567890"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_fixed_point(text, 3));
  }
}

}  // namespace
}  // namespace pawl
