// Gemini: POST /v1beta/models/M:generateContent and :streamGenerateContent?alt=sse. After recorded
// streams: unnamed data lines that end with CR LF, usage in every chunk, no terminator; a call is
// whole, and its finishReason is STOP.
#include <utility>

#include "pawl/testing/fake_provider/dialects/render.h"

namespace pawl::fake {
namespace {

std::string_view finish_reason(const FakeReply& reply) {
  switch (effective_stop(reply)) {
    case FakeStop::max_tokens:
    case FakeStop::incomplete:
    case FakeStop::context_window:
      return "MAX_TOKENS";
    case FakeStop::refusal:
    case FakeStop::content_filter:
      return "SAFETY";
    case FakeStop::failed:
      return "OTHER";
    default:
      return "STOP";
  }
}

class Generation {
 public:
  explicit Generation(const RenderInput& input) : input_(input), ids_(input.number) {
    id_ = ids_.letters(23);
  }

  Rendered whole();
  Rendered stream();

 private:
  // One response with these parts (JSON); `finish` empty: more is to come.
  std::string response(const std::vector<std::string>& parts, std::string_view finish) const;
  void put_usage(JsonWriter& json) const;
  static std::string text_part(const std::string& text);
  static std::string thought_part(const std::string& text);
  std::string call_part(const FakeCall& call, std::size_t index);
  std::vector<std::string> call_parts();

  const RenderInput& input_;
  Ids ids_;
  std::string id_;
};

void Generation::put_usage(JsonWriter& json) const {
  const FakeUsage usage = usage_of(input_);
  const std::uint64_t prompt = all_input(usage);
  json.key("usageMetadata").begin_object();
  put_count(json, input_, "promptTokenCount", prompt);
  put_count(json, input_, "candidatesTokenCount", usage.output - usage.thinking);
  put_count(json, input_, "totalTokenCount", prompt + usage.output);
  if (usage.cache_read > 0) put_count(json, input_, "cachedContentTokenCount", usage.cache_read);
  json.key("promptTokensDetails").begin_array().begin_object().field("modality", "TEXT");
  put_count(json, input_, "tokenCount", prompt);
  json.end_object().end_array();
  if (usage.thinking > 0) put_count(json, input_, "thoughtsTokenCount", usage.thinking);
  json.end_object();
}

std::string Generation::response(const std::vector<std::string>& parts,
                                 std::string_view finish) const {
  JsonWriter json;
  json.begin_object().key("candidates").begin_array().begin_object();
  json.key("content").begin_object().key("parts").begin_array();
  for (const std::string& part : parts) json.raw(part);
  json.end_array().field("role", "model").end_object();
  if (!finish.empty()) json.field("finishReason", finish);
  json.field("index", 0).end_object().end_array();
  if (!omits_usage(input_)) put_usage(json);
  json.field("modelVersion", input_.request.model).field("responseId", id_);
  return json.end_object().take();
}

std::string Generation::text_part(const std::string& text) {
  JsonWriter json;
  return json.begin_object().field("text", text).end_object().take();
}

std::string Generation::thought_part(const std::string& text) {
  JsonWriter json;
  return json.begin_object().field("text", text).field("thought", true).end_object().take();
}

// Only the first call of a reply carries a signature.
std::string Generation::call_part(const FakeCall& call, std::size_t index) {
  JsonWriter json;
  json.begin_object().key("functionCall").begin_object().field("name", call.tool);
  json.key("args").raw(call.input);
  if (!call.id.empty()) json.field("id", call.id);
  json.end_object();
  if (index == 0) {
    const std::string& given = input_.reply.signature;
    json.field("thoughtSignature", given.empty() ? "Ep" + ids_.letters(62) : given);
  }
  return json.end_object().take();
}

std::vector<std::string> Generation::call_parts() {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < input_.reply.calls.size(); ++i) {
    parts.push_back(call_part(input_.reply.calls[i], i));
  }
  return parts;
}

Rendered Generation::stream() {
  std::vector<Frame> frames;
  const auto add = [&](FrameKind kind, const std::vector<std::string>& parts,
                       std::string_view finish) {
    frames.push_back({kind, "data: " + response(parts, finish) + "\r\n\r\n"});
  };
  for (const std::string& each : deltas_of(input_.reply.thinking)) {
    add(FrameKind::delta, {thought_part(each)}, {});
  }
  for (const std::string& each : deltas_of(input_.reply.text)) {
    add(FrameKind::delta, {text_part(each)}, {});
  }
  const std::vector<std::string> calls = call_parts();
  if (!calls.empty()) add(FrameKind::delta, calls, {});
  add(FrameKind::closing, {text_part("")}, finish_reason(input_.reply));
  Rendered reply;
  reply.headers = {{"content-type", "text/event-stream"}};
  reply.framing = Framing::chunked;
  reply.frames = std::move(frames);
  return reply;
}

Rendered Generation::whole() {
  std::vector<std::string> parts;
  if (!input_.reply.thinking.empty()) parts.push_back(thought_part(joined(input_.reply.thinking)));
  if (!input_.reply.text.empty()) parts.push_back(text_part(joined(input_.reply.text)));
  for (std::string& part : call_parts()) parts.push_back(std::move(part));
  return json_reply(200, {}, response(parts, finish_reason(input_.reply)));
}

}  // namespace

Rendered render_gemini(const RenderInput& input) {
  const bool streams = input.request.delivery == Delivery::stream;
  return streams ? Generation(input).stream() : Generation(input).whole();
}

}  // namespace pawl::fake
