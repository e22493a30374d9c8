#include "pawl/adapter/provider/dialect.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/anthropic/anthropic_stream_test.h"
#include "pawl/adapter/provider/common/reply_test.h"

namespace pawl::provider {
namespace {

DecodedReply decode(const std::string& stream, const std::vector<ToolSpec>& tools = {}) {
  WireOptions options;
  options.name = "anthropic";
  options.model.id = "claude-asked";
  PhaseExecutionRequest request;
  request.tools = tools;
  const auto dialect = make_anthropic_dialect();
  check_cuts(*dialect, request, options, stream);
  return decode_stream(*dialect, request, options, stream);
}

TEST_CASE("thinking, its signature, and what is redacted") {
  AnthropicStream stream;
  stream.start().block(0, R"({"type":"thinking","thinking":"","signature":""})");
  stream.delta(0, "thinking_delta", "thinking", "Hm").delta(0, "thinking_delta", "thinking", "m.");
  stream.delta(0, "signature_delta", "signature", "c2ln").stop(0);
  stream.block(1, R"({"type":"redacted_thinking","data":"AAAA"})").stop(1);
  stream.block(2, R"({"type":"thinking","thinking":""})");  // shown to nobody: a signature only
  stream.delta(2, "signature_delta", "signature", "b25seQ==").stop(2);
  const DecodedReply reply = decode(stream.text(3, "Yes.").end("end_turn").bytes);
  CHECK(reply.blocks ==
        std::vector<ReplyBlock>{{"thinking", "Hmm.", "", "", "c2ln"},
                                {"raw", R"({"type":"redacted_thinking","data":"AAAA"})"},
                                {"thinking", "", "", "", "b25seQ=="},
                                {"text", "Yes."}});
}

TEST_CASE("a tool of the provider's own is kept whole, with the input that came in pieces") {
  AnthropicStream stream;
  stream.start().block(0, R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})");
  stream.delta(0, "input_json_delta", "partial_json", R"({"q":)");
  stream.delta(0, "input_json_delta", "partial_json", R"("x"})").stop(0);
  stream.block(1, R"({"type":"compaction","content":""})");
  stream.delta(1, "compaction_delta", "content", "a").delta(1, "compaction_delta", "content", "b");
  const DecodedReply reply = decode(stream.stop(1).end("pause_turn").bytes);
  CHECK(reply.blocks ==
        std::vector<ReplyBlock>{
            {"raw", R"({"type":"server_tool_use","id":"s","name":"web_search","input":{"q":"x"}})"},
            {"raw", R"({"type":"compaction","content":"ab"})"}});
  CHECK(reply.replied()->stop == ReplyStop::pause_turn);
  CHECK(reply.calls() == 0);
}

TEST_CASE("calls: no arguments are {}, and names go back to the tools of the request") {
  std::vector<ToolSpec> tools(1);
  tools[0].name = "fs.read";
  AnthropicStream stream;
  stream.start().tool(0, "fs_read_4074bc02", "").tool(1, "look", R"({"a": 1})");
  const DecodedReply reply = decode(stream.end("tool_use").bytes, tools);
  CHECK(reply.blocks == std::vector<ReplyBlock>{{"call", "{}", "fs.read", "toolu_0"},
                                                {"call", R"({"a": 1})", "look", "toolu_1"}});
  CHECK(reply.input_deltas == R"({"a": 1})");
}

TEST_CASE("what the reasons to stop mean") {
  const auto stop = [](const std::string& reason) {
    return decode(AnthropicStream().start().text(0, "a").end(reason).bytes).replied()->stop;
  };
  CHECK(stop("end_turn") == ReplyStop::end_turn);
  CHECK(stop("stop_sequence") == ReplyStop::end_turn);
  CHECK(stop("max_tokens") == ReplyStop::max_tokens);
  CHECK(stop("model_context_window_exceeded") == ReplyStop::max_tokens);
  CHECK(stop("refusal") == ReplyStop::refusal);
  CHECK(stop("pause_turn") == ReplyStop::pause_turn);
  CHECK(stop("something_new") == ReplyStop::end_turn);
  CHECK(stop("tool_use") == ReplyStop::end_turn);  // There is no call to wait for.
}

TEST_CASE("a refusal takes the call that it interrupts with it, and says why") {
  AnthropicStream stream;
  stream.start()
      .tool(0, "look", "{}")
      .event("message_delta",
             R"(,"delta":{"stop_reason":"refusal","stop_details":{"type":"refusal",)"
             R"("category":"bio","explanation":"No."}},"usage":{"output_tokens":3})");
  const DecodedReply reply = decode(stream.event("message_stop").bytes);
  CHECK(reply.calls() == 0);
  CHECK(reply.replied()->stop == ReplyStop::refusal);
  CHECK(reply.replied()->detail == "bio: No.");
}

TEST_CASE("counts of the last word replace those of the first, the cache's included") {
  const DecodedReply reply =
      decode(AnthropicStream()
                 .start(R"({"input_tokens":3,"cache_creation_input_tokens":5,)"
                        R"("cache_read_input_tokens":7,"output_tokens":1})")
                 .text(0, "a")
                 .end("end_turn", R"({"input_tokens":4,"cache_creation_input_tokens":5,)"
                                  R"("cache_read_input_tokens":8,"output_tokens":20})")
                 .bytes);
  CHECK(reply.usage == Usage{4, 20, 8, 5});
}

TEST_CASE("caches that are kept for an hour are counted apart from those for five minutes") {
  const auto usage = [](const std::string& counts) {
    return decode(AnthropicStream()
                      .start(R"({"input_tokens":3,"output_tokens":1,)" + counts + "}")
                      .text(0, "a")
                      .end("end_turn", R"({"output_tokens":2})")
                      .bytes)
        .usage;
  };
  CHECK(usage(R"("cache_creation_input_tokens":90,"cache_creation":)"
              R"({"ephemeral_5m_input_tokens":50,"ephemeral_1h_input_tokens":40})") ==
        Usage{3, 2, 0, 50, 40});
  CHECK(usage(R"("cache_creation_input_tokens":90)") == Usage{3, 2, 0, 90, 0});
  // Where the figures differ the higher ones count.
  CHECK(
      usage(R"("cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":4})") ==
      Usage{3, 2, 0, 5, 4});
  CHECK(usage(R"("cache_creation_input_tokens":10,"cache_creation":)"
              R"({"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":40})") ==
        Usage{3, 2, 0, 0, 40});
}

TEST_CASE("what is not known is passed over, and keep-alives are no progress") {
  WireOptions options;
  const auto decoder = make_anthropic_decoder({}, options);
  const PhaseEventSink sink = [](PhaseExecutorEvent) {};
  CHECK(decoder->on_event("message_start", R"({"type":"message_start","message":{}})", sink));
  const std::uint64_t before = decoder->progress();
  CHECK(decoder->on_event("ping", R"({"type":"ping"})", sink));
  CHECK(decoder->on_event("", R"({"type":"ping"})", sink));
  CHECK(decoder->on_event("news", R"({"type":"news","x":1})", sink));
  CHECK(decoder->progress() == before);
  CHECK(decoder->on_event(
      "", R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use"}})", sink));
  const std::uint64_t inside = decoder->progress();
  CHECK(inside > before);
  CHECK(decoder->on_event("",
                          R"({"type":"content_block_delta","index":0,"delta":)"
                          R"({"type":"input_json_delta","partial_json":""}})",
                          sink));
  CHECK(decoder->progress() == inside);
  CHECK(decoder->on_event("", R"({"type":"content_block_stop","index":0})", sink));
  CHECK(decoder->on_event(
      "", R"({"type":"content_block_start","index":1,"content_block":{"type":"text"}})", sink));
  const std::uint64_t speaking = decoder->progress();
  const auto says = [&](const std::string& text) {
    return decoder->on_event("",
                             R"({"type":"content_block_delta","index":1,"delta":)"
                             R"({"type":"text_delta","text":")" +
                                 text + R"("}})",
                             sink);
  };
  CHECK(says(""));
  CHECK(decoder->progress() == speaking);
  CHECK(says("x"));
  CHECK(decoder->progress() == speaking + 1);
  CHECK_FALSE(decoder->on_event("", "{", sink));
}

TEST_CASE("events of the wrong shape are faults, never more") {
  for (const char* data :
       {"[]", "3", "null", R"({"type":3})", R"({"type":"message_start"})",
        R"({"type":"message_start","message":[]})", R"({"type":"content_block_start"})",
        R"({"type":"content_block_start","index":-1,"content_block":{}})",
        R"({"type":"content_block_delta","index":0,"delta":{}})", R"({"type":"error"})"}) {
    CAPTURE(data);
    const DecodedReply reply = decode("data: " + std::string(data) + "\n\n");
    CHECK(reply.failed() != nullptr);
    CHECK(reply.blocks.empty());
  }
}

TEST_CASE("whole replies, and whole errors") {
  const auto dialect = make_anthropic_dialect();
  WireOptions options;
  options.name = "anthropic";
  const auto whole = [&](const char* body) { return decode_whole(*dialect, {}, options, body); };
  const DecodedReply reply = whole(
      R"({"type":"message","model":"m","content":[{"type":"tool_use","id":"t","name":"look",)"
      R"("input":{"a":1.0}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}})");
  CHECK(reply.blocks == std::vector<ReplyBlock>{{"call", R"({"a":1.0})", "look", "t"}});
  CHECK(reply.replied()->stop == ReplyStop::tool_use);
  CHECK(whole(R"({"type":"error","error":{"type":"overloaded_error"}})").failed()->kind ==
        FailureKind::overloaded);
  CHECK(whole(R"({"error":{"type":"rate_limit_error"}})").failed()->kind ==
        FailureKind::rate_limited);  // as proxies write it
  CHECK(whole(R"({"type":"message","content":[]})").protocol_error != "");
  CHECK(whole(R"({"type":"message"})").protocol_error == "a message without content");
}

}  // namespace
}  // namespace pawl::provider
