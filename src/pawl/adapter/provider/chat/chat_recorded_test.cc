// Recorded chat completions, of OpenAI and of others, against an independent reading of them.
#include <doctest/doctest.h>

#include <map>

#include "pawl/adapter/provider/common/traffic_test.h"
#include "pawl/adapter/provider/openai/openai_stream_test.h"

namespace pawl::provider::openai_test {
namespace {

WireOptions options() {
  WireOptions made;
  made.name = "openai";
  made.model.id = "asked-for";
  return made;
}

std::string string_at(const Json& object, const char* key) {
  const std::string* text = object.find_string(key);
  return text != nullptr ? *text : "";
}

std::uint64_t number_at(const Json& object, const char* key) {
  const Json* found = object.find(key);
  return found != nullptr ? found->as_uint64().value_or(0) : 0;
}

// As OpenAI documents it, without any tolerance.
struct Reading {
  std::string text;
  std::string thinking;
  std::string refusal;
  std::map<std::uint64_t, ReplyBlock> calls;
  std::string finish;
  std::string model;
  std::optional<Usage> usage;
  std::string error;

  void take(const Json& chunk) {
    model = string_at(chunk, "model");
    if (chunk.find("error") != nullptr) error = write_json(*chunk.find("error"));
    if (const Json* u = chunk.find("usage"); u != nullptr && u->is_object()) take_usage(*u);
    for (const Json& choice : chunk.find("choices")->array()) {
      const Json* message = choice.find("delta");
      take_message(message != nullptr ? *message : *choice.find("message"));
      if (!string_at(choice, "finish_reason").empty()) finish = string_at(choice, "finish_reason");
    }
  }
  void take_usage(const Json& u) {
    const Json* details = u.find("prompt_tokens_details");
    const std::uint64_t cached = details != nullptr ? number_at(*details, "cached_tokens") : 0;
    usage =
        Usage{number_at(u, "prompt_tokens") - cached, number_at(u, "completion_tokens"), cached, 0};
  }
  void take_message(const Json& message) {
    text += string_at(message, "content");
    refusal += string_at(message, "refusal");
    thinking += string_at(message, "reasoning") + string_at(message, "reasoning_content");
    const Json* list = message.find("tool_calls");
    if (list == nullptr || !list->is_array()) return;
    for (const Json& fragment : list->array()) {
      ReplyBlock& call = calls[number_at(fragment, "index")];
      const Json& function = *fragment.find("function");
      call.kind = "call";
      call.id += string_at(fragment, "id");
      call.tool += string_at(function, "name");
      call.text += string_at(function, "arguments");
    }
  }
  DecodedReply expected() const {
    DecodedReply made;
    if (!thinking.empty()) made.blocks.push_back({"thinking", thinking});
    if (!text.empty() || !refusal.empty()) made.blocks.push_back({"text", text + refusal});
    for (const auto& [index, call] : calls) made.blocks.push_back(call);
    if (usage) made.usage = *usage;
    made.usage_reports = usage ? 1 : 0;
    PhaseReplied reply;
    if (finish == "tool_calls") reply.stop = ReplyStop::tool_use;
    if (!refusal.empty()) reply.stop = ReplyStop::refusal;
    reply.detail = refusal;
    reply.model = "openai/" + model;
    made.outcome = reply;
    return made;
  }
};

Reading reading_of(const std::string& stream) {
  Reading reading;
  for (const auto& [name, data] : wire_events(stream, "")) {
    if (data != "[DONE]") reading.take(parse_json(data).value());
  }
  return reading;
}

void check_expected(const DecodedReply& decoded, DecodedReply expected) {
  for (const ReplyBlock& block : expected.blocks) {
    if (block.kind == "call") expected.input_deltas += block.text;
  }
  check_same_reply(decoded, expected);
}

bool is_chat(const RecordedExchange& one) {
  return one.url.ends_with("/chat/completions");
}

}  // namespace

TEST_CASE("recorded chat streams give the same as a plain reading of them, however they are cut") {
  const auto dialect = make_chat_dialect();
  std::size_t streams = 0;
  for (const char* folder : {"openai-chat", "openai-compat"}) {
    for (const RecordedExchange& one : recorded(folder)) {
      if (!is_chat(one) || one.stream.empty()) continue;
      CAPTURE(one.file);
      const Reading reading = reading_of(one.stream);
      const DecodedReply decoded = decode_stream(*dialect, {}, options(), one.stream);
      if (reading.error.empty()) {
        check_expected(decoded, reading.expected());
      } else {
        REQUIRE(decoded.failed() != nullptr);
        CHECK(decoded.failed()->kind == FailureKind::permanent);  // "code":400 of a router
        CHECK(decoded.usage == reading.usage);
      }
      check_cuts(*dialect, {}, options(), one.stream);
      ++streams;
    }
  }
  MESSAGE(streams << " recorded streams");
}

TEST_CASE("recorded chat bodies give the same as a plain reading of them") {
  const auto dialect = make_chat_dialect();
  std::size_t bodies = 0;
  for (const char* folder : {"openai-chat", "openai-compat", "ollama"}) {
    for (const RecordedExchange& one : recorded(folder)) {
      if (!is_chat(one) || one.json.is_null()) continue;
      CAPTURE(one.file);
      ++bodies;
      const std::string body = write_json(one.json);
      if (one.status == 200) {
        Reading reading;
        reading.take(one.json);
        check_expected(decode_whole(*dialect, {}, options(), body), reading.expected());
        continue;
      }
      HttpResponseHead head;
      head.status = one.status;
      const PhaseFailed failed = dialect->failure_of(head, body, 0);
      CHECK(failed.category == ErrorCategory::validation_error);
      CHECK(failed.kind ==
            (one.status == 404 ? FailureKind::model_not_found : FailureKind::permanent));
    }
  }
  MESSAGE(bodies << " recorded bodies");
}

TEST_CASE("chunk files of DeepSeek and Groq give the same as a plain reading of them") {
  const auto dialect = make_chat_dialect();
  for (const RecordedExchange& one : recorded_chunks("openai-compat")) {
    CAPTURE(one.file);
    // They hold no [DONE]: the finish_reason is enough.
    const DecodedReply decoded = decode_stream(*dialect, {}, options(), one.stream);
    check_expected(decoded, reading_of(one.stream).expected());
    check_cuts(*dialect, {}, options(), one.stream);
  }
}

}  // namespace pawl::provider::openai_test
