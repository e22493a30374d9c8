// Recorded chat completions, of OpenAI and of others, against an independent reading of them.
#include <doctest/doctest.h>

#include <map>

#include "pawl/adapter/provider/chat_decoder.h"
#include "pawl/adapter/provider/openai_cuts_test.h"
#include "pawl/adapter/provider/openai_decoded_test.h"
#include "pawl/adapter/provider/openai_traffic_test.h"

namespace pawl::provider::openai_test {
namespace {

WireOptions options() {
  WireOptions made;
  made.name = "openai";
  made.model.id = "asked-for";
  return made;
}

std::unique_ptr<ReplyDecoder> decoder() {
  return std::make_unique<ChatDecoder>(PhaseExecutionRequest{}, options());
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
  std::map<std::uint64_t, DecodedBlock> calls;
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
      DecodedBlock& call = calls[number_at(fragment, "index")];
      const Json& function = *fragment.find("function");
      call.kind = "call";
      call.id += string_at(fragment, "id");
      call.tool += string_at(function, "name");
      call.text += string_at(function, "arguments");
    }
  }
  Decoded expected() const {
    Decoded made;
    if (!thinking.empty()) made.blocks.push_back({"thinking", thinking});
    if (!text.empty() || !refusal.empty()) made.blocks.push_back({"text", text + refusal});
    for (const auto& [index, call] : calls) made.blocks.push_back(call);
    made.usage = usage;
    PhaseReplied reply;
    if (finish == "tool_calls") reply.stop = ReplyStop::tool_use;
    if (!refusal.empty()) reply.stop = ReplyStop::refusal;
    reply.detail = refusal;
    reply.model = "openai/" + model;
    made.replied = reply;
    return made;
  }
};

}  // namespace

TEST_CASE("recorded chat streams give the same as a plain reading of them, however they are cut") {
  std::size_t streams = 0;
  for (const char* folder : {"openai-chat", "openai-compat"}) {
    for (const Recorded& recorded : recorded_traffic(folder, "/chat/completions")) {
      if (recorded.shape != Recorded::Shape::stream) continue;
      CAPTURE(recorded.file);
      Reading reading;
      for (const std::string& payload : payloads_of(recorded.body)) {
        if (payload != "[DONE]") reading.take(parse_json(payload).value());
      }
      ++streams;
      if (reading.error.empty()) {
        check_all_cuts(decoder, recorded.body, reading.expected().shown());
        continue;
      }
      const Decoded decoded = decode_stream(*decoder(), recorded.body);
      REQUIRE(decoded.failed);
      CHECK(decoded.failed->kind == FailureKind::permanent);  // "code":400 of a router
      CHECK(decoded.usage == reading.usage);
      check_all_cuts(decoder, recorded.body, decoded.shown());
    }
  }
  MESSAGE(streams << " recorded streams");
}

TEST_CASE("recorded chat bodies give the same as a plain reading of them") {
  std::size_t bodies = 0;
  for (const char* folder : {"openai-chat", "openai-compat", "ollama"}) {
    for (const Recorded& recorded : recorded_traffic(folder, "/v1/chat/completions")) {
      if (recorded.shape != Recorded::Shape::whole) continue;
      CAPTURE(recorded.file);
      ++bodies;
      if (recorded.status == 200) {
        Reading reading;
        reading.take(parse_json(recorded.body).value());
        CHECK(decode_whole(*decoder(), recorded.body).shown() == reading.expected().shown());
        continue;
      }
      HttpResponseHead head;
      head.status = recorded.status;
      const PhaseFailed failed = make_chat_dialect()->failure_of(head, recorded.body, 0);
      CHECK(failed.category == ErrorCategory::validation_error);
      CHECK(failed.kind ==
            (recorded.status == 404 ? FailureKind::model_not_found : FailureKind::permanent));
    }
  }
  MESSAGE(bodies << " recorded bodies");
}

TEST_CASE("chunk files of DeepSeek and Groq give the same as a plain reading of them") {
  for (const auto& path : traffic_files("openai-compat", ".chunks.txt")) {
    CAPTURE(path.filename().string());
    const std::string text = shared_file(path) + "\n";
    std::vector<std::string> payloads;
    Reading reading;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.empty()) continue;
      reading.take(parse_json(line).value());
      payloads.push_back(std::move(line));
    }
    // They hold no [DONE]: the finish_reason is enough.
    check_all_cuts(decoder, as_events(payloads), reading.expected().shown());
  }
}

}  // namespace pawl::provider::openai_test
