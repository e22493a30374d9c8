#include "pawl/adapter/provider/dialect.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/reply_test.h"

namespace pawl::provider {
namespace {

WireOptions options() {
  WireOptions options;
  options.name = "gemini";
  options.model.id = "gemini-3-pro";
  return options;
}

DecodedReply decode(const std::vector<std::string>& events) {
  std::string stream;
  for (const std::string& event : events) stream += "data: " + event + "\r\n\r\n";
  const auto dialect = make_gemini_dialect();
  check_cuts(*dialect, {}, options(), stream);
  return decode_stream(*dialect, {}, options(), stream);
}

std::string parts(const std::string& parts, const std::string& more = "") {
  return R"({"candidates":[{"content":{"role":"model","parts":[)" + parts + "]}" + more + "}]}";
}

const std::string kStop = R"(,"finishReason":"STOP")";

TEST_CASE("signatures stay with what they sign") {
  const DecodedReply reply =
      decode({parts(R"({"text":"Hm.","thought":true,"thoughtSignature":"AA=="})"),
              parts(R"({"text":"Hello"})"), parts(R"({"text":"","thoughtSignature":"BB=="})"),
              parts(R"({"functionCall":{"name":"look","args":{"a":1},"id":"x"},)"
                    R"("thoughtSignature":"CC=="})",
                    kStop)});
  CHECK(reply.blocks == std::vector<ReplyBlock>{{"thinking", "Hm.", "", "", "AA=="},
                                                {"text", "Hello"},
                                                {"thinking", "", "", "", "BB=="},
                                                {"call", R"({"a":1})", "look", "x", "CC=="}});
  CHECK(reply.replied()->stop == ReplyStop::tool_use);
}

TEST_CASE("parts of other kinds are kept whole") {
  const std::string code = R"({"executableCode":{"language":"PYTHON","code":"1"}})";
  const DecodedReply reply = decode({parts(code + R"(,{"text":"1"})", kStop)});
  CHECK(reply.blocks == std::vector<ReplyBlock>{{"raw", code}, {"text", "1"}});
}

TEST_CASE("what the reasons to finish mean") {
  const auto stop = [](const std::string& reason) {
    const DecodedReply reply =
        decode({parts(R"({"text":"a"})", R"(,"finishReason":")" + reason + R"(")")});
    REQUIRE(reply.replied() != nullptr);
    return reply.replied()->stop;
  };
  CHECK(stop("STOP") == ReplyStop::end_turn);
  CHECK(stop("MAX_TOKENS") == ReplyStop::max_tokens);
  for (const char* reason : {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}) {
    CHECK(stop(reason) == ReplyStop::refusal);
  }
  const DecodedReply malformed = decode(
      {parts("", R"(,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"bad: look")")});
  CHECK(malformed.failed()->kind == FailureKind::transient);
  CHECK(malformed.failed()->message == "MALFORMED_FUNCTION_CALL: bad: look");
  const DecodedReply blocked = decode({R"({"promptFeedback":{"blockReason":"SAFETY"}})"});
  CHECK(blocked.replied()->stop == ReplyStop::refusal);
  CHECK(blocked.replied()->detail == "SAFETY: ");
}

TEST_CASE("a stream without a reason to finish is a failure, with nothing a reply of nothing") {
  CHECK(decode({parts(R"({"text":"a"})")}).failed()->category == ErrorCategory::network_error);
  CHECK(decode({}).failed()->category == ErrorCategory::network_error);
  CHECK(decode({parts("", kStop)}).failed()->kind == FailureKind::empty);
}

TEST_CASE("cached tokens are taken out of the prompt, thoughts count as output") {
  const DecodedReply reply =
      decode({R"({"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],)"
              R"("usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":80,)"
              R"("candidatesTokenCount":5,"thoughtsTokenCount":7,"totalTokenCount":112}})"});
  CHECK(reply.usage == Usage{20, 12, 80, 0});
  const DecodedReply lying =
      decode({parts(R"({"text":"a"})", kStop),
              R"({"usageMetadata":{"promptTokenCount":-5,"cachedContentTokenCount":80}})"});
  CHECK(lying.usage == Usage{});
}

TEST_CASE("arguments that come in pieces are put together; a call that is not ended is none") {
  const std::string begin = parts(R"({"functionCall":{"name":"look","willContinue":true}})");
  const std::string piece =
      parts(R"({"functionCall":{"partialArgs":[{"jsonPath":"$.a[0].b","stringValue":"x"},)"
            R"({"jsonPath":"$.n","numberValue":3},{"jsonPath":"$['o k']","boolValue":true},)"
            R"({"jsonPath":"$.z","nullValue":null},{"jsonPath":"$.a[0].b","stringValue":"y"}],)"
            R"("willContinue":true}})");
  const DecodedReply whole = decode({begin, piece, parts(R"({"functionCall":{}})", kStop)});
  REQUIRE(whole.calls() == 1);
  CHECK(whole.blocks[0].text == R"({"a":[{"b":"xy"}],"n":3,"o k":true,"z":null})");
  CHECK(decode({begin, piece, parts("", R"(,"finishReason":"MAX_TOKENS")")}).calls() == 0);
  CHECK(decode({begin, piece, parts("", kStop)}).protocol_error ==
        "the reply ends inside of a call");
  CHECK(decode({begin, begin}).protocol_error == "a call inside of a call");
  CHECK(decode({begin, piece}).failed() != nullptr);
}

TEST_CASE("sc-P03: errors inside of a stream fail the phase") {
  const DecodedReply reply =
      decode({parts(R"({"functionCall":{"name":"look"}})"),
              R"({"error":{"code":503,"message":"Try later","status":"UNAVAILABLE"}})"});
  CHECK(reply.failed()->kind == FailureKind::overloaded);
  CHECK(reply.failed()->message == "UNAVAILABLE: Try later");
}

TEST_CASE("sc-P15: an event with a call that comes twice breaks the protocol") {
  const std::string call = R"({"functionCall":{"name":"pay","args":{"n":1}}})";
  CHECK(decode({parts(call), parts(call), parts("", kStop)}).protocol_error ==
        "an event with a call came twice");
  const DecodedReply twice = decode({parts(call + "," + call, kStop)});
  CHECK(twice.calls() == 2);  // the model wants it twice
}

TEST_CASE("sc-P17: a reply has a bounded number of blocks") {
  std::vector<std::string> events;
  for (int i = 0; i < 300; ++i) {
    events.push_back(parts(R"({"functionCall":{"name":"look)" + std::to_string(i) + R"("}})"));
  }
  CHECK(decode(events).protocol_error == "more blocks than a reply may have");
}

TEST_CASE("whole replies are read, alone and in lists") {
  const auto dialect = make_gemini_dialect();
  const std::string whole = parts(R"({"text":"fine"})", kStop);
  CHECK(decode_whole(*dialect, {}, options(), whole).text() == "fine");
  const std::string list =
      "[" + parts(R"({"text":"fi"})") + "," + parts(R"({"text":"ne"})", kStop) + "]";
  CHECK(decode_whole(*dialect, {}, options(), list).text() == "fine");
  CHECK(decode_whole(*dialect, {}, options(), "3").protocol_error != "");
}

}  // namespace
}  // namespace pawl::provider
