#include "pawl/adapter/provider/chat/chat_decoder.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/openai/openai_stream_test.h"

namespace pawl::provider::openai_test {
namespace {

using Blocks = std::vector<ReplyBlock>;

DecodedReply decode(const std::vector<std::string>& payloads) {
  WireOptions options;
  options.name = "local";
  return decode_payloads(*make_chat_dialect(), payloads, options);
}
std::string calls(const std::string& fragments) {
  return R"({"choices":[{"delta":{"tool_calls":[)" + fragments + "]}}]}";
}
std::string ends(const std::string& reason) {
  return R"({"choices":[{"delta":{},"finish_reason":")" + reason + R"("}]})";
}
const std::string kDone = "[DONE]";

}  // namespace

TEST_CASE("chat: fragments of calls find each other by number, by id, or by following each other") {
  const Blocks expected{{"call", R"({"a":1})", "x", "i1"}, {"call", R"({"b":2})", "y", "i2"}};
  const std::vector<std::vector<std::string>> streams{
      // as OpenAI does it, interleaved
      {calls(R"({"index":0,"id":"i1","function":{"name":"x","arguments":""}})"),
       calls(R"({"index":1,"id":"i2","function":{"name":"y","arguments":"{\"b\":"}})"),
       calls(R"({"index":0,"function":{"arguments":"{\"a\":1}"}})"),
       calls(R"({"index":1,"function":{"arguments":"2}"}})")},
      // whole calls in one chunk, without numbers
      {calls(R"({"id":"i1","function":{"name":"x","arguments":"{\"a\":1}"}},)"
             R"({"id":"i2","function":{"name":"y","arguments":"{\"b\":2}"}})")},
      // every call is number 0
      {calls(R"({"index":0,"id":"i1","function":{"name":"x","arguments":"{\"a\":1}"}})"),
       calls(R"({"index":0,"id":"i2","function":{"name":"y","arguments":"{\"b\":2}"}})")},
      // the id is said each time, and there are no numbers
      {calls(R"({"id":"i1","function":{"name":"x","arguments":"{\"a\""}})"),
       calls(R"({"id":"i1","function":{"arguments":":1}"}})"),
       calls(R"({"id":"i2","function":{"name":"y","arguments":"{\"b\":2}"}})")},
      // nothing but the first fragment says who it is
      {calls(R"({"id":"i1","function":{"name":"x","arguments":"{\"a\""}})"),
       calls(R"({"function":{"arguments":":1}"}})"),
       calls(R"({"id":"i2","function":{"name":"y","arguments":"{\"b\":2}"}})")},
      // arguments are objects
      {calls(R"({"index":0,"id":"i1","function":{"name":"x","arguments":{"a":1}}})"),
       calls(R"({"index":1,"id":"i2","function":{"name":"y","arguments":{"b":2}}})")},
      // the last chunk says everything once more
      {calls(R"({"index":0,"id":"i1","function":{"name":"x","arguments":"{\"a\":1}"}})"),
       calls(R"({"index":1,"id":"i2","function":{"name":"y","arguments":"{\"b\":2}"}})"),
       calls(R"({"index":0,"id":"i1","function":{"name":"x","arguments":"{\"a\":1}"}},)"
             R"({"index":1,"id":"i2","function":{"name":"y","arguments":"{\"b\":2}"}})")},
  };
  for (std::size_t i = 0; i < streams.size(); ++i) {
    CAPTURE(i);
    for (const char* reason : {"tool_calls", "stop", "function_call"}) {
      std::vector<std::string> events = streams[i];
      events.push_back(ends(reason));
      const DecodedReply decoded = decode(events);
      CHECK(decoded.blocks == expected);
      REQUIRE(decoded.replied() != nullptr);
      CHECK(decoded.replied()->stop == ReplyStop::tool_use);
      CHECK(decoded.input_deltas == R"({"a":1}{"b":2})");
    }
  }
}

TEST_CASE("chat: two calls for the same are two when their ids say so") {
  for (const char* number : {R"("index":0,)", ""}) {
    const auto one = [&](const std::string& id) {
      return calls("{" + std::string(number) + R"("id":")" + id +
                   R"(","function":{"name":"x","arguments":"{\"a\":1}"}})");
    };
    const DecodedReply decoded = decode({one("i1"), one("i2"), ends("stop"), kDone});
    CHECK(decoded.blocks ==
          Blocks{{"call", R"({"a":1})", "x", "i1"}, {"call", R"({"a":1})", "x", "i2"}});
  }
}

TEST_CASE("chat: calls without any id are told apart by what they ask") {
  const DecodedReply decoded =
      decode({calls(R"({"function":{"name":"x","arguments":{"a":1}}})"),
              calls(R"({"function":{"name":"x","arguments":{"a":2}}})"),
              calls(R"({"function":{"name":"x","arguments":{"a":2}}})"), ends("stop"), kDone});
  CHECK(decoded.blocks == Blocks{{"call", R"({"a":1})", "x"}, {"call", R"({"a":2})", "x"}});
}

}  // namespace pawl::provider::openai_test
