#include "pawl/testing/fake_provider/dialects/render.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

ModelRequest asked(Api api, Delivery delivery) {
  ModelRequest request;
  request.route.api = api;
  request.model = "m";
  request.delivery = delivery;
  request.input_tokens = 5;
  return request;
}

// The JSON of each event, "[DONE]" left out.
std::vector<Json> events(const Rendered& reply) {
  std::vector<Json> out;
  for (const Frame& frame : reply.frames) {
    const std::size_t at = frame.bytes.find("data: ");
    REQUIRE(at != std::string::npos);
    const std::string data = frame.bytes.substr(at + 6);
    if (data.starts_with("[DONE]")) continue;
    const auto json = parse_json(data);
    REQUIRE_MESSAGE(json, data);
    out.push_back(*json);
  }
  return out;
}

std::vector<Json> streamed(Api api, const FakeReply& reply) {
  ModelRequest request = asked(api, Delivery::stream);
  request.include_usage = true;
  return events(render({request, reply, 1}));
}

Json whole(Api api, const FakeReply& reply) {
  const ModelRequest request = asked(api, Delivery::whole);
  const Rendered rendered = render({request, reply, 1});
  const auto json = parse_json(rendered.body());
  REQUIRE_MESSAGE(json, rendered.body());
  return *json;
}

// "a.0.b" inside a value; fails the test when there is nothing.
const Json& at(const Json& value, std::string_view path) {
  static const Json kNothing;
  const Json* found = &value;
  while (!path.empty() && found != nullptr) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string key(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
    if (const JsonArray* array = found->if_array()) {
      const std::size_t index = std::stoul(key);
      found = index < array->size() ? &(*array)[index] : nullptr;
    } else {
      found = found->find(key);
    }
    CHECK_MESSAGE(found != nullptr, key, " is not in ", write_json(value));
  }
  return found != nullptr ? *found : kNothing;
}

std::string text(const Json& value, std::string_view path) {
  const Json& found = at(value, path);
  return found.is_string() ? found.string() : write_json(found);
}

FakeReply rich() {
  FakeReply reply;
  reply.thinking = {"Hm."};
  reply.signature = "sig";
  reply.text = {"One two"};
  reply.calls = {{"a", R"({"x":"é"})", ""}, {"b", "{}", "id_b"}};
  reply.usage = FakeUsage{10, 20, 300, 40, 5};
  return reply;
}

std::vector<std::string> types(const std::vector<Json>& list) {
  std::vector<std::string> out;
  for (const Json& each : list) out.push_back(text(each, "type"));
  return out;
}

TEST_CASE("Messages: the order of events, and what they add up to") {
  const auto list = streamed(Api::anthropic_messages, rich());

  const std::vector<std::string> expected = {
      "message_start",       "content_block_start", "ping",
      "content_block_delta", "content_block_delta", "content_block_stop",
      "content_block_start", "content_block_delta", "content_block_delta",
      "content_block_stop",  "content_block_start", "content_block_delta",
      "content_block_delta", "content_block_stop",  "content_block_start",
      "content_block_delta", "content_block_stop",  "message_delta",
      "message_stop"};
  CHECK(types(list) == expected);
  CHECK(text(list[0], "message.usage.output_tokens") == "1");
  CHECK(text(list[3], "delta.thinking") == "Hm.");
  CHECK(text(list[4], "delta.signature") == "sig");
  CHECK(text(list[7], "delta.text") + text(list[8], "delta.text") == "One two");
  CHECK(text(list[10], "content_block.name") == "a");
  CHECK(text(list[10], "content_block.input") == "{}");
  CHECK(text(list[11], "delta.partial_json").empty());
  CHECK(text(list[12], "delta.partial_json") == R"({"x":"é"})");
  CHECK(text(list[14], "content_block.id") == "id_b");
  CHECK(text(list[14], "index") == "3");
  CHECK(text(list[17], "delta.stop_reason") == "tool_use");
  CHECK(text(list[17], "usage.input_tokens") == "10");
  CHECK(text(list[17], "usage.cache_read_input_tokens") == "300");
  CHECK(text(list[17], "usage.cache_creation_input_tokens") == "40");
  CHECK(text(list[17], "usage.output_tokens") == "20");
}

TEST_CASE("Messages: whole, refused, redacted, and failed") {
  const Json message = whole(Api::anthropic_messages, rich());
  CHECK(text(message, "content.0.signature") == "sig");
  CHECK(text(message, "content.1.text") == "One two");
  CHECK(text(message, "content.2.input.x") == "é");
  CHECK(text(message, "usage.output_tokens_details.thinking_tokens") == "5");

  FakeReply refusal;
  refusal.stop = FakeStop::refusal;
  refusal.stop_detail = "No.";
  const auto list = streamed(Api::anthropic_messages, refusal);
  CHECK(types(list) == std::vector<std::string>{"message_start", "message_delta", "message_stop"});
  CHECK(text(list[1], "delta.stop_details.explanation") == "No.");

  FakeReply redacted;
  redacted.redacted_thinking = "blob";
  CHECK(text(streamed(Api::anthropic_messages, redacted)[1], "content_block.data") == "blob");

  FakeReply failed = FakeReply::say("a");
  failed.stop = FakeStop::failed;
  failed.stop_detail = "broke";
  CHECK(text(streamed(Api::anthropic_messages, failed).back(), "error.message") == "broke");
  CHECK(text(whole(Api::anthropic_messages, failed), "error.type") == "api_error");
}

TEST_CASE("Messages: every stop has its reason") {
  const auto reason = [](FakeStop stop) {
    FakeReply reply = FakeReply::say("a");
    reply.stop = stop;
    return text(whole(Api::anthropic_messages, reply), "stop_reason");
  };
  CHECK(reason(FakeStop::end_turn) == "end_turn");
  CHECK(reason(FakeStop::max_tokens) == "max_tokens");
  CHECK(reason(FakeStop::incomplete) == "max_tokens");
  CHECK(reason(FakeStop::stop_sequence) == "stop_sequence");
  CHECK(reason(FakeStop::pause_turn) == "pause_turn");
  CHECK(reason(FakeStop::refusal) == "refusal");
  CHECK(reason(FakeStop::context_window) == "model_context_window_exceeded");
}

TEST_CASE("Chat Completions: fragments, usage and the reasons to finish") {
  const auto list = streamed(Api::openai_chat, rich());
  CHECK(text(list[0], "choices.0.delta.role") == "assistant");
  CHECK(text(list[1], "choices.0.delta.reasoning_content") == "Hm.");
  CHECK(text(list[2], "choices.0.delta.content") == "One");
  CHECK(text(list[4], "choices.0.delta.tool_calls.0.function.name") == "a");
  CHECK(text(list[4], "choices.0.delta.tool_calls.0.function.arguments").empty());
  CHECK(text(list[5], "choices.0.delta.tool_calls.0.function.arguments") == R"({"x":"é"})");
  CHECK(text(list[6], "choices.0.delta.tool_calls.0.id") == "id_b");
  CHECK(text(list[6], "choices.0.delta.tool_calls.0.index") == "1");
  CHECK(text(list[8], "choices.0.finish_reason") == "tool_calls");
  CHECK(text(list[9], "choices") == "[]");
  CHECK(text(list[9], "usage.prompt_tokens") == "350");
  CHECK(text(list[9], "usage.prompt_tokens_details.cached_tokens") == "300");
  CHECK(text(list[9], "usage.completion_tokens_details.reasoning_tokens") == "5");
  CHECK(list.size() == 10);

  const auto finish = [](FakeStop stop) {
    FakeReply reply = FakeReply::say("a");
    reply.stop = stop;
    return text(whole(Api::openai_chat, reply), "choices.0.finish_reason");
  };
  CHECK(finish(FakeStop::end_turn) == "stop");
  CHECK(finish(FakeStop::max_tokens) == "length");
  CHECK(finish(FakeStop::content_filter) == "content_filter");
}

TEST_CASE("Chat Completions: without include_usage there is none, and [DONE] is last") {
  const ModelRequest request = asked(Api::openai_chat, Delivery::stream);
  const FakeReply reply = FakeReply::say("a");
  const Rendered rendered = render({request, reply, 1});
  CHECK(rendered.frames.back().bytes == "data: [DONE]\n\n");
  CHECK(rendered.body().find("usage") == std::string::npos);
}

TEST_CASE("Responses: items are added, filled and done, with dense numbers") {
  const auto list = streamed(Api::openai_responses, rich());
  for (std::size_t i = 0; i < list.size(); ++i) {
    CHECK(text(list[i], "sequence_number") == std::to_string(i));
  }
  const std::vector<std::string> expected = {"response.created",
                                             "response.in_progress",
                                             "response.output_item.added",
                                             "response.reasoning_summary_part.added",
                                             "response.reasoning_summary_text.delta",
                                             "response.reasoning_summary_text.done",
                                             "response.reasoning_summary_part.done",
                                             "response.output_item.done",
                                             "response.output_item.added",
                                             "response.content_part.added",
                                             "response.output_text.delta",
                                             "response.output_text.delta",
                                             "response.output_text.done",
                                             "response.content_part.done",
                                             "response.output_item.done",
                                             "response.output_item.added",
                                             "response.function_call_arguments.delta",
                                             "response.function_call_arguments.done",
                                             "response.output_item.done",
                                             "response.output_item.added",
                                             "response.function_call_arguments.delta",
                                             "response.function_call_arguments.done",
                                             "response.output_item.done",
                                             "response.completed"};
  CHECK(types(list) == expected);
  const Json& last = list.back();
  CHECK(text(last, "response.output.0.encrypted_content") == "sig");
  CHECK(text(last, "response.output.1.content.0.text") == "One two");
  CHECK(text(last, "response.output.2.arguments") == R"({"x":"é"})");
  CHECK(text(last, "response.output.3.call_id") == "id_b");
  CHECK(text(last, "response.usage.input_tokens") == "350");
  CHECK(text(list[18], "item.id") == text(last, "response.output.2.id"));
  CHECK(text(list[16], "item_id") == text(last, "response.output.2.id"));
}

TEST_CASE("Responses: incomplete, failed and refused") {
  FakeReply cut = FakeReply::say("a");
  cut.stop = FakeStop::max_tokens;
  CHECK(types(streamed(Api::openai_responses, cut)).back() == "response.incomplete");
  CHECK(text(whole(Api::openai_responses, cut), "incomplete_details.reason") ==
        "max_output_tokens");
  cut.stop = FakeStop::incomplete;
  cut.stop_detail = "steered";
  CHECK(text(whole(Api::openai_responses, cut), "incomplete_details.reason") == "steered");

  FakeReply failed;
  failed.stop = FakeStop::failed;
  failed.stop_detail = "broke";
  const auto list = streamed(Api::openai_responses, failed);
  CHECK(types(list).back() == "response.failed");
  CHECK(text(list.back(), "response.error.message") == "broke");

  FakeReply refusal;
  refusal.stop = FakeStop::refusal;
  refusal.stop_detail = "No.";
  CHECK(text(whole(Api::openai_responses, refusal), "output.0.content.0.refusal") == "No.");
}

TEST_CASE("Gemini: parts, thoughts, calls and usage in every chunk") {
  const auto list = streamed(Api::gemini_stream, rich());
  CHECK(text(list[0], "candidates.0.content.parts.0.thought") == "true");
  CHECK(text(list[1], "candidates.0.content.parts.0.text") == "One");
  CHECK(text(list[3], "candidates.0.content.parts.0.functionCall.args.x") == "é");
  CHECK(text(list[3], "candidates.0.content.parts.0.thoughtSignature") == "sig");
  CHECK(text(list[3], "candidates.0.content.parts.1.functionCall.id") == "id_b");
  CHECK(text(list[4], "candidates.0.finishReason") == "STOP");
  CHECK(text(list[0], "usageMetadata.promptTokenCount") == "350");
  CHECK(text(list[4], "usageMetadata.candidatesTokenCount") == "15");
  CHECK(text(list[4], "usageMetadata.thoughtsTokenCount") == "5");
  CHECK(text(list[4], "usageMetadata.cachedContentTokenCount") == "300");
  CHECK(text(whole(Api::gemini_generate, rich()), "candidates.0.content.parts.1.text") ==
        "One two");
  const ModelRequest request = asked(Api::gemini_stream, Delivery::stream);
  const FakeReply reply = FakeReply::say("a");
  for (const Frame& frame : render({request, reply, 1}).frames) {
    CHECK(frame.bytes.ends_with("}\r\n\r\n"));
  }
}

TEST_CASE("usage can lie in every format") {
  FakeReply reply = FakeReply::say("a");
  reply.fault = FaultSpec{};
  reply.fault->kind = FaultKind::lying_usage;
  reply.fault->usage = "-5";
  CHECK(text(whole(Api::anthropic_messages, reply), "usage.input_tokens") == "-5");
  CHECK(text(whole(Api::openai_chat, reply), "usage.total_tokens") == "-5");
  CHECK(text(whole(Api::openai_responses, reply), "usage.output_tokens") == "-5");
  CHECK(text(whole(Api::gemini_generate, reply), "usageMetadata.promptTokenCount") == "-5");
  reply.fault->usage = "missing";
  CHECK(whole(Api::anthropic_messages, reply).find("usage") == nullptr);
  CHECK(whole(Api::openai_chat, reply).find("usage") == nullptr);
  CHECK(text(whole(Api::openai_responses, reply), "usage") == "null");
  CHECK(whole(Api::gemini_generate, reply).find("usageMetadata") == nullptr);
}

TEST_CASE("usage that nobody gave is estimated") {
  const Json message = whole(Api::anthropic_messages, FakeReply::say("12345678"));
  CHECK(text(message, "usage.input_tokens") == "5");
  CHECK(text(message, "usage.output_tokens") == "3");
}

TEST_CASE("errors have the vendor's shape, type and headers") {
  FakeError error;
  error.status = 529;
  error.message = "busy";
  error.retry_after = "7";
  const Rendered anthropic = render_error(Vendor::anthropic, error, 1);
  CHECK(find_header(anthropic.headers, "retry-after") == "7");
  const std::string id(find_header(anthropic.headers, "request-id"));
  CHECK(anthropic.body() ==
        R"({"type":"error","error":{"type":"overloaded_error","message":"busy"},"request_id":")" +
            id + R"("})");
  error.status = 429;
  CHECK(render_error(Vendor::openai, error, 1).body() ==
        R"({"error":{"message":"busy","type":"rate_limit_exceeded","param":null,"code":null}})");
  const Rendered gemini = render_error(Vendor::gemini, error, 1);
  CHECK(find_header(gemini.headers, "retry-after").empty());
  CHECK(gemini.body().find(R"("status":"RESOURCE_EXHAUSTED")") != std::string::npos);
  CHECK(gemini.body().find(R"("retryDelay":"7s")") != std::string::npos);
  CHECK(render_error(Vendor::ollama, error, 1).body() == R"({"error":"busy"})");
}

TEST_CASE("an error inside a stream has the format of the stream") {
  FakeError error;
  error.status = 529;
  error.message = "busy";
  const auto event = [&](Api api) {
    return render_error_event(asked(api, Delivery::stream), error, 7).bytes;
  };
  CHECK(event(Api::anthropic_messages).starts_with("event: error\ndata: {\"type\":\"error\""));
  CHECK(event(Api::openai_chat).starts_with(R"(data: {"error":{"message":"busy")"));
  CHECK(event(Api::openai_responses) ==
        "event: error\ndata: {\"type\":\"error\",\"sequence_number\":7,\"code\":\"server_error\","
        "\"message\":\"busy\",\"param\":null}\n\n");
  CHECK(event(Api::gemini_stream).ends_with("\r\n\r\n"));
}

TEST_CASE("the same number is the same bytes, another number has other ids") {
  const ModelRequest request = asked(Api::anthropic_messages, Delivery::stream);
  const FakeReply reply = FakeReply::call("a");
  CHECK(render({request, reply, 1}).body() == render({request, reply, 1}).body());
  CHECK(render({request, reply, 1}).body() != render({request, reply, 2}).body());
}

}  // namespace
}  // namespace pawl::fake
