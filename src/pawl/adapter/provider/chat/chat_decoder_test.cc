#include "pawl/adapter/provider/openai/openai_wire.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/openai/openai_stream_test.h"

namespace pawl::provider::openai_test {
namespace {

WireOptions options() {
  WireOptions made;
  made.name = "local";
  made.model.id = "llama";
  return made;
}

DecodedReply decode(const std::vector<std::string>& payloads) {
  return decode_payloads(*make_chat_dialect(), payloads, options());
}

DecodedReply decode_body(const std::string& body) {
  return decode_whole(*make_chat_dialect(), {}, options(), body);
}

std::string chunk(const std::string& delta, const std::string& more = "") {
  return R"({"model":"m","choices":[{"index":0,"delta":{)" + delta + "}" + more + "}]}";
}
std::string says(const std::string& text) {
  return chunk(R"("content":")" + text + R"(")");
}
std::string calls(const std::string& fragments) {
  return chunk(R"("tool_calls":[)" + fragments + "]");
}
std::string ends(const std::string& reason) {
  return chunk("", R"(,"finish_reason":")" + reason + R"(")");
}
const std::string kDone = "[DONE]";

using Blocks = std::vector<ReplyBlock>;

}  // namespace

TEST_CASE("chat: a whole reply, with thoughts under any of their names") {
  const DecodedReply decoded = decode(
      {chunk(R"("role":"assistant","content":"","reasoning":"Hm")"),
       chunk(R"("content":null,"reasoning_content":"m.")"), says("Yes"), says("."), ends("stop"),
       R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}})", kDone});
  CHECK(decoded.blocks == Blocks{{"thinking", "Hmm."}, {"text", "Yes."}});
  CHECK(decoded.usage == Usage{9, 2, 0, 0});
  REQUIRE(decoded.replied() != nullptr);
  CHECK(decoded.replied()->stop == ReplyStop::end_turn);
  CHECK(decoded.replied()->model == "local/m");
}

TEST_CASE("chat: no arguments are an empty object, and names come back as Pawl has them") {
  const DecodedReply decoded =
      decode({calls(R"({"index":0,"id":"i","function":{"name":")" + wire_tool_name("files.read") +
                    R"(","arguments":""}})"),
              ends("tool_calls"), kDone});
  CHECK(decoded.blocks == Blocks{{"call", "{}", "files.read", "i"}});
}

TEST_CASE("sc-P23: chat: odd names of tools are passed on as they are") {
  for (const std::string& name :
       {std::string(), std::string("../x"), std::string("a\\nb"), std::string(10'000, 'x')}) {
    const DecodedReply decoded = decode(
        {calls(R"({"index":0,"id":"i","function":{"name":")" + name + R"(","arguments":"{}"}})"),
         ends("tool_calls"), kDone});
    REQUIRE(decoded.blocks.size() == 1);
    CHECK(decoded.blocks[0].tool.size() == (name == "a\\nb" ? 3 : name.size()));
  }
}

TEST_CASE("sc-P28: chat: arguments of the wrong type are proposed as they are: the tool refuses") {
  for (const char* text : {"\\\"rm -rf\\\"", "[]", "null", "1e400", "{\\\"a\\\":1,\\\"a\\\":2}"}) {
    const DecodedReply decoded = decode({calls(R"({"index":0,"id":"i","function":{"name":"x",)"
                                               R"("arguments":")" +
                                               std::string(text) + R"("}})"),
                                         ends("tool_calls"), kDone});
    CHECK(decoded.blocks.size() == 1);
  }
}

TEST_CASE("sc-P12, sc-P24: chat: arguments that end in their middle are never proposed") {
  const std::string cut =
      calls(R"({"index":0,"id":"i","function":{"name":"x","arguments":"{\"path\":\"/tm"}})");
  const DecodedReply closed = decode({cut});
  CHECK(closed.blocks.empty());
  REQUIRE(closed.failed() != nullptr);
  CHECK(closed.failed()->category == ErrorCategory::network_error);
  const DecodedReply stopped = decode({cut, ends("tool_calls"), kDone});
  CHECK(stopped.blocks.empty());
  REQUIRE(stopped.failed() != nullptr);
  CHECK(stopped.failed()->kind == FailureKind::transient);
  const DecodedReply length = decode({cut, ends("length"), kDone});
  CHECK(length.blocks.empty());
  REQUIRE(length.replied() != nullptr);
  CHECK(length.replied()->stop == ReplyStop::max_tokens);
}

TEST_CASE("chat: how replies end") {
  struct Row {
    const char* reason;
    ReplyStop stop;
  };
  for (const Row& row :
       {Row{"stop", ReplyStop::end_turn}, Row{"length", ReplyStop::max_tokens},
        Row{"model_length", ReplyStop::max_tokens}, Row{"content_filter", ReplyStop::refusal},
        Row{"tool_calls", ReplyStop::end_turn},  // without any
        Row{"eos", ReplyStop::end_turn}}) {
    CAPTURE(row.reason);
    const DecodedReply decoded = decode({says("x"), ends(row.reason)});
    REQUIRE(decoded.replied() != nullptr);
    CHECK(decoded.replied()->stop == row.stop);
  }
  for (const char* reason : {"error", "abort", "insufficient_system_resource"}) {
    CHECK(decode({says("x"), ends(reason), kDone}).failed() != nullptr);
  }
  CHECK(decode({says("x"), kDone}).failed() != nullptr);  // nobody said that it ended
  const DecodedReply nothing = decode({says(""), ends("stop"), kDone});
  REQUIRE(nothing.failed() != nullptr);
  CHECK(nothing.failed()->kind == FailureKind::empty);
}

TEST_CASE("chat: a refusal is text, and said to be one") {
  const DecodedReply decoded =
      decode({chunk(R"("refusal":"I can")"), chunk(R"("refusal":"not")"), ends("stop"), kDone});
  CHECK(decoded.text() == "I cannot");
  REQUIRE(decoded.replied() != nullptr);
  CHECK(decoded.replied()->stop == ReplyStop::refusal);
  CHECK(decoded.replied()->detail == "I cannot");
}

TEST_CASE("sc-P03: chat: an error after a good status ends the reply, and nothing is acted upon") {
  struct Row {
    const char* error;
    FailureKind kind;
  };
  for (const Row& row :
       {Row{R"({"error":{"type":"server_error","message":"x"}})", FailureKind::transient},
        Row{R"({"error":{"code":429,"message":"x"}})", FailureKind::rate_limited},
        Row{R"({"error":{"code":"503","message":"x"}})", FailureKind::overloaded},
        Row{R"({"error":{"code":402,"message":"x"}})", FailureKind::permanent},
        Row{R"({"error":{"code":"context_length_exceeded","type":"invalid_request_error"}})",
            FailureKind::unsupported},
        Row{R"({"error":"oops"})", FailureKind::transient}}) {
    CAPTURE(row.error);
    const DecodedReply decoded = decode(
        {says("x"), calls(R"({"index":0,"id":"i","function":{"name":"x","arguments":"{}"}})"),
         row.error, ends("tool_calls"), kDone});
    CHECK(decoded.blocks == Blocks{{"text", "x"}});
    REQUIRE(decoded.failed() != nullptr);
    CHECK(decoded.failed()->kind == row.kind);
    CHECK(decode_body(row.error).failed() != nullptr);
  }
}

TEST_CASE("sc-P08: chat: empty chunks and padding bring the reply no further") {
  const auto progress = [](const std::vector<std::string>& payloads) {
    return progress_of(*make_chat_dialect(), payloads, options());
  };
  CHECK(progress({chunk(R"("role":"assistant","content":"")"),
                  R"({"choices":[],"obfuscation":"xxxx"})"}) == 0);
  CHECK(progress({says("x"), ends("stop"), ends("stop")}) == 2);
  const std::string call =
      chunk(R"("tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}])");
  const std::string empty = chunk(R"("tool_calls":[{"index":0,"function":{"arguments":""}}])");
  CHECK(progress({call, empty, empty}) == 1);
}

TEST_CASE("sc-P15: chat: a reply that goes on after its end breaks the protocol") {
  CHECK(decode({says("x"), ends("stop"), says("y")}).protocol_error ==
        "the reply goes on after its end");
  CHECK(!decode({says("x"), ends("stop"),
                 calls(R"({"index":0,"id":"i","function":{"name":"x","arguments":"{}"}})")})
             .protocol_error.empty());
  CHECK(!decode({says("x"), "{"}).protocol_error.empty());
  CHECK(!decode({std::string(100'000, '[')}).protocol_error.empty());
}

TEST_CASE("sc-P17: chat: a reply has only so many calls") {
  std::string fragments;
  for (std::size_t i = 0; i <= kChatCallsMax; ++i) {
    fragments += (i == 0 ? "" : ",") + std::string(R"({"index":)") + std::to_string(i) +
                 R"(,"function":{"name":"x","arguments":"{}"}})";
  }
  CHECK(decode({calls(fragments)}).protocol_error == "more calls than a reply may have");
}

TEST_CASE("chat: other choices than the first are ignored") {
  const DecodedReply decoded =
      decode({R"({"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},)"
              R"({"index":0,"delta":{"content":"yes"}}]})",
              ends("stop"), kDone});
  CHECK(decoded.text() == "yes");
  REQUIRE(decoded.replied() != nullptr);
  CHECK(decoded.replied()->stop == ReplyStop::end_turn);
}

TEST_CASE("sc-P20: chat: usage is the last that was said, never less, and never nonsense") {
  const auto usage = [](const std::vector<std::string>& said) {
    std::vector<std::string> events{says("x")};
    for (const std::string& one : said) events.push_back(R"({"choices":[],"usage":)" + one + "}");
    events.push_back(ends("stop"));
    return reported_usage(decode(events));
  };
  CHECK(usage({R"({"prompt_tokens":9,"completion_tokens":1})",
               R"({"prompt_tokens":9,"completion_tokens":5})"}) == Usage{9, 5, 0, 0});
  CHECK(usage({R"({"prompt_tokens":9,"completion_tokens":5})",
               R"({"prompt_tokens":0,"completion_tokens":0})"}) == Usage{9, 5, 0, 0});
  CHECK(usage({R"({"prompt_tokens":9,"completion_tokens":-5})"}) == std::nullopt);
  CHECK(usage({R"({"prompt_tokens":1e30,"completion_tokens":1})"}) == std::nullopt);
  CHECK(usage({R"({"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":)"
               R"({"cached_tokens":60,"cache_write_tokens":30}})"}) == Usage{10, 1, 60, 30});
  CHECK(usage({R"({"prompt_tokens":100,"completion_tokens":1,"prompt_cache_hit_tokens":60})"}) ==
        Usage{40, 1, 60, 0});
  // xAI counts thoughts in the total alone; a total that is too low changes nothing.
  CHECK(usage({R"({"prompt_tokens":41,"completion_tokens":87,"total_tokens":438,)"
               R"("completion_tokens_details":{"reasoning_tokens":310}})"}) ==
        Usage{41, 397, 0, 0});
  CHECK(usage({R"({"prompt_tokens":41,"completion_tokens":87,"total_tokens":4})"}) ==
        Usage{41, 87, 0, 0});
  const DecodedReply groq =
      decode({says("x"), R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":)"
                         R"({"usage":{"prompt_tokens":3,"completion_tokens":4}}})"});
  CHECK(groq.usage == Usage{3, 4, 0, 0});
}

TEST_CASE("chat: content may be a list of parts, of which some are thoughts") {
  const DecodedReply decoded =
      decode({chunk(R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}])"),
              chunk(R"("content":[{"type":"text","text":"Yes."}])"), ends("stop"), kDone});
  CHECK(decoded.blocks == Blocks{{"thinking", "Hm."}, {"text", "Yes."}});
}

TEST_CASE("chat: a body without choices, or that is no JSON, is no reply") {
  CHECK(decode_body(R"({"choices":[]})").failed() != nullptr);
  CHECK(!decode_body("<html>").protocol_error.empty());
}

}  // namespace pawl::provider::openai_test
