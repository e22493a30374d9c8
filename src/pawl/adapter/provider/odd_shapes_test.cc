// Shapes of events that servers send and no handed-out recording has, for every dialect: what is
// not known passes, nothing is lost, usage is right. Written by hand after the SDKs' types.
#include <doctest/doctest.h>

#include "pawl/adapter/provider/anthropic/anthropic_stream_test.h"
#include "pawl/adapter/provider/openai/openai_stream_test.h"

namespace pawl::provider {
namespace {

using Blocks = std::vector<ReplyBlock>;

WireOptions options_of(const std::string& name, const std::string& model) {
  WireOptions options;
  options.name = name;
  options.model.id = model;
  return options;
}

// Also with every cut.
DecodedReply decode(const Dialect& dialect, const WireOptions& options, const std::string& stream) {
  check_cuts(dialect, {}, options, stream);
  return decode_stream(dialect, {}, options, stream);
}

DecodedReply chat(const std::vector<std::string>& payloads) {
  return decode(*make_chat_dialect(), options_of("local", "m"), openai_test::as_events(payloads));
}
DecodedReply responses(const std::vector<std::string>& payloads) {
  return decode(*make_responses_dialect(), options_of("openai", "gpt"),
                openai_test::as_events(payloads));
}
DecodedReply gemini(const std::vector<std::string>& payloads, const std::string& model) {
  return decode(*make_gemini_dialect(), options_of("gemini", model),
                openai_test::as_events(payloads));
}
DecodedReply anthropic(const std::string& stream) {
  return decode(*make_anthropic_dialect(), options_of("anthropic", "claude"), stream);
}

std::string delta(const std::string& members, const std::string& choice = "") {
  return R"({"choices":[{"index":0,"delta":{)" + members + "}" + choice + "}]}";
}
const std::string kStopped = delta("", R"(,"finish_reason":"stop")");

TEST_CASE("chat: nulls, empty choices, log probabilities and padding change nothing") {
  const DecodedReply reply = chat({
      R"({"id":"1","choices":[],"prompt_filter_results":[{"prompt_index":0}]})",
      R"({"choices":null})",
      R"({"choices":[{"index":0,"delta":null,"finish_reason":null}],"usage":null})",
      delta(R"("role":"assistant","content":null,"refusal":null,"tool_calls":null,"audio":null)"),
      delta(R"("content":"Yes")",
            R"(,"logprobs":{"content":[{"token":"Yes","logprob":-0.1,"top_logprobs":[]}]})"),
      delta(R"("annotations":[{"type":"url_citation","url_citation":{"url":"u"}}])"),
      R"({"choices":[{"index":null,"delta":{"content":"."},"content_filter_results":{}}]})",
      R"({"choices":[{"delta":{"content":"!"}}],"obfuscation":"aaaa"})",
      kStopped,
      R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":null,)"
      R"("completion_tokens_details":{"reasoning_tokens":1,"accepted_prediction_tokens":0}}})",
      "[DONE]",
  });
  CHECK(reply.protocol_error.empty());
  CHECK(reply.blocks == Blocks{{"text", "Yes.!"}});
  CHECK(reply.usage == Usage{7, 3, 0, 0});
  CHECK(reply.replied()->stop == ReplyStop::end_turn);
}

TEST_CASE("chat: calls with empty ids, out of order, whole, and in the form of old") {
  const DecodedReply mixed = chat({
      delta(R"("tool_calls":[{"index":1,"id":"","function":{"name":"b","arguments":""}}])"),
      delta(R"("tool_calls":[{"index":0,"id":"","function":{"name":"a","arguments":"{\"x\""}}])"),
      delta(R"("tool_calls":[{"index":1,"function":{"arguments":"{}"}}])"),
      delta(
          R"("tool_calls":[{"index":0,"id":"","type":null,"function":{"name":null,"arguments":":1}"}}])"),
      delta("", R"(,"finish_reason":"tool_calls")"),
      "[DONE]",
  });
  CHECK(mixed.protocol_error.empty());
  CHECK(mixed.calls() == 2);
  for (const ReplyBlock& block : mixed.blocks) {
    CHECK(block.text == (block.tool == "a" ? R"({"x":1})" : "{}"));
  }
  const DecodedReply old = chat({
      delta(R"("content":null,"function_call":{"name":"look","arguments":""})"),
      delta(R"("function_call":{"arguments":"{\"a\":"})"),
      delta(R"("function_call":{"arguments":"2}"})"),
      delta("", R"(,"finish_reason":"function_call")"),
      "[DONE]",
  });
  REQUIRE(old.replied() != nullptr);
  CHECK(old.replied()->stop == ReplyStop::tool_use);
  REQUIRE(old.blocks.size() == 1);
  CHECK(old.blocks[0].tool == "look");
  CHECK(old.blocks[0].text == R"({"a":2})");
}

TEST_CASE("chat: refusal parts and an error beside choices") {
  const DecodedReply refused =
      chat({delta(R"("refusal":"I can")"), delta(R"("refusal":"not.")"), kStopped, "[DONE]"});
  CHECK(refused.replied()->stop == ReplyStop::refusal);
  CHECK(refused.replied()->detail == "I cannot.");
  const DecodedReply failed = chat(
      {delta(R"("content":"Half")"),
       R"({"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},)"
       R"("finish_reason":"error"}]})"});
  REQUIRE(failed.failed() != nullptr);
  CHECK(failed.calls() == 0);
}

TEST_CASE("every dialect: comments, carriage returns and a byte order mark are no events") {
  const std::string noise = "\xEF\xBB\xBF: OPENROUTER PROCESSING\r\n\r\nretry: 100\r\n\r\n";
  const auto with_noise = [&noise](const std::string& stream) {
    std::string all = noise;
    for (const char c : stream) all += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return all + ": bye\r\n\r\n";
  };
  const DecodedReply one =
      decode(*make_chat_dialect(), options_of("o", "m"),
             with_noise(openai_test::as_events({delta(R"("content":"Hi")"), kStopped, "[DONE]"})));
  CHECK(one.text() == "Hi");
  AnthropicStream stream;
  CHECK(anthropic(with_noise(stream.start().text(0, "Hi").end("end_turn").bytes)).text() == "Hi");
  const DecodedReply three = decode(
      *make_gemini_dialect(), options_of("g", "gemini-3"),
      with_noise(openai_test::as_events(
          {R"({"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]})"})));
  CHECK(three.text() == "Hi");
}

TEST_CASE("Anthropic: citations, tools of the provider's, unknown blocks and deltas") {
  AnthropicStream stream;
  stream.start().block(0, R"({"type":"text","text":"","citations":[]})");
  stream.delta(0, "text_delta", "text", "It rains");
  stream.event("content_block_delta",
               R"(,"index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location",)"
               R"("cited_text":"rain","document_index":0}})");
  stream.delta(0, "text_delta", "text", ".").stop(0);
  stream.block(1, R"({"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}})");
  stream.delta(1, "input_json_delta", "partial_json", R"({"q":1})").stop(1);
  stream.block(2, R"({"type":"mcp_tool_result","tool_use_id":"m","is_error":false,"content":[]})");
  stream.stop(2).event("surprise", R"(,"index":2)");
  stream.block(3, R"({"type":"hologram","data":{"deep":[1,{"x":null}]}})");
  stream.event("content_block_delta",
               R"(,"index":3,"delta":{"type":"hologram_delta","pixels":[1,2]})");
  stream.stop(3);
  const DecodedReply reply = anthropic(
      stream
          .end(
              "end_turn",
              R"({"input_tokens":12,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,)"
              R"("output_tokens":9,"server_tool_use":{"web_search_requests":1},"output_tokens_details":null})")
          .bytes);
  CHECK(reply.protocol_error.empty());
  REQUIRE(reply.blocks.size() == 4);
  CHECK(reply.blocks[0] == ReplyBlock{"text", "It rains."});
  CHECK(reply.blocks[1].text.find(R"("input":{"q":1})") != std::string::npos);
  CHECK(reply.blocks[3].text.find(R"("hologram")") != std::string::npos);
  CHECK(reply.usage == Usage{12, 9, 4, 3});
}

TEST_CASE("Anthropic: errors of any shape after a good status fail the phase and propose nothing") {
  for (const char* const error : {R"(,"error":{"type":"overloaded_error","message":"Overloaded"})",
                                  R"(,"error":"plain text")", R"(,"error":{"type":null})",
                                  R"(,"error":{"type":"new_error","details":{"x":1}})"}) {
    CAPTURE(error);
    AnthropicStream stream;
    stream.start().tool(0, "look", "{}").event("error", error);
    const DecodedReply reply = anthropic(stream.bytes);
    CHECK(reply.failed() != nullptr);
    CHECK(reply.calls() == 0);
  }
}

TEST_CASE("Gemini: calls without ids, empty parts, safety, and a reason with every piece") {
  const DecodedReply calls = gemini(
      {R"({"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"}},)"
       R"({"functionCall":{"name":"a","args":null}},{"text":""}],"role":"model"},)"
       R"("safetyRatings":[],"citationMetadata":{"citationSources":[]},"groundingMetadata":{}}]})",
       R"({"candidates":[{"content":{},"finishReason":"STOP","index":0,"tokenCount":3}],)"
       R"("usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"totalTokenCount":7,)"
       R"("promptTokensDetails":[{"modality":"TEXT","tokenCount":5}]}})"},
      "gemini-3");
  CHECK(calls.protocol_error.empty());
  CHECK(calls.calls() == 2);
  CHECK(calls.usage == Usage{5, 2, 0, 0});
  CHECK(calls.replied()->stop == ReplyStop::tool_use);

  const std::string safe =
      R"({"candidates":[{"finishReason":"SAFETY","safetyRatings":[{"category":)"
      R"("HARM_CATEGORY_HARASSMENT","probability":"HIGH","blocked":true}]}]})";
  CHECK(gemini({safe}, "gemini-3").replied()->stop == ReplyStop::refusal);
  const std::string blocked = R"({"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},)"
                              R"("usageMetadata":{"promptTokenCount":4}})";
  CHECK(gemini({blocked}, "gemini-3").replied()->stop == ReplyStop::refusal);

  const auto piece = [](const std::string& text, int tokens) {
    return R"({"candidates":[{"content":{"parts":[{"text":")" + text +
           R"("}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{)" +
           R"("promptTokenCount":4,"candidatesTokenCount":)" + std::to_string(tokens) + "}}";
  };
  const DecodedReply old =
      gemini({piece("Once ", 2), piece("upon ", 4), piece("a", 5)}, "gemini-1.5-flash");
  CHECK(old.text() == "Once upon a");
  CHECK(old.usage == Usage{4, 5, 0, 0});
}

TEST_CASE("Responses: encrypted thoughts, progress of tools, no count and no status") {
  const std::string thought = R"({"type":"reasoning","id":"rs_1","summary":[],"content":null,)"
                              R"("encrypted_content":"gAAAA","status":null})";
  const std::string text =
      R"({"type":"message","id":"msg_1","role":"assistant","phase":"final","content":[{"type":)"
      R"("output_text","text":"Done","annotations":[{"type":"url_citation","url":"u"}],"logprobs":[]}]})";
  const DecodedReply reply = responses({
      R"({"type":"response.created","sequence_number":-1,"response":{"id":"r","status":"in_progress"}})",
      R"({"type":"response.queued","sequence_number":-1,"response":{}})",
      R"({"type":"response.output_item.added","sequence_number":-1,"output_index":0,"item":)" +
          thought + "}",
      R"({"type":"response.output_item.done","sequence_number":-1,"output_index":0,"item":)" +
          thought + "}",
      R"({"type":"response.web_search_call.searching","output_index":1,"item_id":"ws"})",
      R"({"type":"response.output_item.done","output_index":1,"item":{"type":"web_search_call",)"
      R"("id":"ws","status":"completed","action":{"type":"search","query":"q"}}})",
      R"({"type":"response.output_item.added","output_index":2,"item":{"type":"message","content":[]}})",
      R"({"type":"response.content_part.added","output_index":2,"content_index":0,"part":{"type":"output_text"}})",
      R"({"type":"response.output_text.delta","output_index":2,"content_index":0,"delta":"Done","logprobs":[]})",
      R"({"type":"response.output_text.annotation.added","output_index":2,"annotation_index":0,"annotation":{}})",
      R"({"type":"response.output_item.done","output_index":2,"item":)" + text + "}",
      R"({"type":"response.hologram.delta","output_index":9,"delta":{"x":1}})",
      R"({"type":"keepalive","sequence_number":-1})",
      R"({"type":"response.completed","response":{"id":"r","model":"gpt","output":[],"usage":)"
      R"({"input_tokens":20,"input_tokens_details":{"cached_tokens":5},"output_tokens":6,)"
      R"("output_tokens_details":{"reasoning_tokens":4},"total_tokens":26}}})",
  });
  CHECK(reply.protocol_error.empty());
  REQUIRE(reply.replied() != nullptr);
  CHECK(reply.text() == "Done");
  CHECK(reply.usage == Usage{15, 6, 5, 0});
  REQUIRE(reply.blocks.size() == 3);
  CHECK(reply.blocks[0].kind == "thinking");
  CHECK(reply.blocks[0].signature.find("gAAAA") != std::string::npos);
  CHECK(reply.blocks[1].kind == "raw");
}

TEST_CASE("Responses: errors of any shape inside of a good status") {
  for (const char* const event :
       {R"({"type":"error","sequence_number":3,"code":"server_error","message":"m","param":null})",
        R"({"error":{"message":"m","type":"server_error"}})",
        R"({"type":"response.failed","response":{"status":"failed","error":{"code":)"
        R"("rate_limit_exceeded","message":"slow"},"usage":null}})",
        R"({"type":"response.failed","response":{"error":null}})"}) {
    CAPTURE(event);
    const DecodedReply reply = responses({R"({"type":"response.created","response":{}})", event});
    CHECK(reply.failed() != nullptr);
    CHECK(reply.calls() == 0);
  }
}

}  // namespace
}  // namespace pawl::provider
