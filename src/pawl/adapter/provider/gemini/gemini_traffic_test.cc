// Recorded replies of Gemini against a second, simpler reading of them.
#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/reply_test.h"
#include "pawl/adapter/provider/common/traffic_test.h"

namespace pawl::provider {
namespace {

WireOptions options() {
  WireOptions options;
  options.name = "gemini";
  options.model.id = "gemini-test";
  return options;
}

std::uint64_t count(const Json& usage, std::string_view key) {
  const Json* value = usage.find(key);
  return value != nullptr ? value->as_uint64().value() : 0;
}

struct Expected {
  std::string text;
  std::string thoughts;
  std::vector<ReplyBlock> calls;
  Usage usage;
  std::string model;
};

// Only what the recorded streams hold: texts, thoughts, calls, whole or with one text in pieces.
Expected expected_of(const std::string& stream) {
  Expected expected;
  std::istringstream lines(stream);
  std::uint64_t prompt = 0;
  std::string piece;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("data:")) continue;
    const Json event = parse_json(line.substr(5, line.find_last_not_of('\r') - 4)).value();
    expected.model = *event.find_string("modelVersion");
    const Json& usage = *event.find("usageMetadata");
    prompt = std::max(prompt, count(usage, "promptTokenCount"));
    expected.usage.input_tokens = prompt + count(usage, "toolUsePromptTokenCount");
    expected.usage.output_tokens =
        count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount");
    for (const Json& part :
         event.find("candidates")->array()[0].find("content")->find("parts")->array()) {
      if (const std::string* text = part.find_string("text")) {
        (part.find("thought") != nullptr ? expected.thoughts : expected.text) += *text;
      }
      const Json* call = part.find("functionCall");
      if (call == nullptr) continue;
      if (const std::string* name = call->find_string("name")) {
        const Json* args = call->find("args");
        const std::string* signature = part.find_string("thoughtSignature");
        expected.calls.push_back({"call", args != nullptr ? write_json(*args) : "{}", *name, "",
                                  signature != nullptr ? *signature : ""});
        piece.clear();
      }
      if (const Json* pieces = call->find("partialArgs")) {
        piece += *pieces->array()[0].find_string("stringValue");
        CHECK(*pieces->array()[0].find_string("jsonPath") == "$.id");
        expected.calls.back().text = R"({"id":")" + piece + R"("})";
      }
    }
  }
  return expected;
}

void check_stream(const RecordedExchange& one) {
  INFO(one.file);
  const auto dialect = make_gemini_dialect();
  const DecodedReply reply = decode_stream(*dialect, {}, options(), one.stream);
  const Expected expected = expected_of(one.stream);
  CHECK(reply.protocol_error == "");
  CHECK(reply.text() == expected.text);
  std::vector<ReplyBlock> calls;
  std::string thoughts;
  for (const ReplyBlock& block : reply.blocks) {
    if (block.kind == "call") calls.push_back(block);
    if (block.kind == "thinking") thoughts += block.text;
    CHECK(block.kind != "raw");
  }
  CHECK(calls == expected.calls);
  CHECK(thoughts == expected.thoughts);
  CHECK(reply.usage == expected.usage);
  REQUIRE(reply.replied() != nullptr);
  CHECK(reply.replied()->stop == (calls.empty() ? ReplyStop::end_turn : ReplyStop::tool_use));
  CHECK(reply.replied()->model == "gemini/" + expected.model);
  check_cuts(*dialect, {}, options(), one.stream);
}

TEST_CASE("recorded streams of Gemini are read as they were meant, wherever they are cut") {
  for (const RecordedExchange& one : recorded("gemini")) {
    if (one.status == 200) check_stream(one);
  }
  for (const RecordedExchange& one : recorded_chunks("gemini-chunks")) check_stream(one);
}

TEST_CASE("recorded errors of Gemini say what they are") {
  for (const RecordedExchange& one : recorded("gemini")) {
    if (one.status != 404) continue;
    HttpResponseHead head;
    head.status = one.status;
    const PhaseFailed failed = make_gemini_dialect()->failure_of(head, write_json(one.json), 0);
    CHECK(failed.kind == FailureKind::model_not_found);
    CHECK(failed.message.find("HTTP 404 NOT_FOUND: models/nonexistent-model") == 0);
  }
}

}  // namespace
}  // namespace pawl::provider
