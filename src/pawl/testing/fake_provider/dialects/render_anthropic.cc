// Messages: POST /v1/messages. After recorded streams: the order of events, the padding before the
// closing brace, the ping after the first block's start, usage at both ends.
#include <utility>

#include "pawl/testing/fake_provider/dialects/render.h"

namespace pawl::fake {
namespace {

constexpr std::size_t kPaddingMax = 15;

std::string_view stop_reason(const FakeReply& reply) {
  switch (effective_stop(reply)) {
    case FakeStop::tool_use:
      return "tool_use";
    case FakeStop::max_tokens:
    case FakeStop::incomplete:
      return "max_tokens";
    case FakeStop::stop_sequence:
      return "stop_sequence";
    case FakeStop::refusal:
    case FakeStop::content_filter:
      return "refusal";
    case FakeStop::pause_turn:
      return "pause_turn";
    case FakeStop::context_window:
      return "model_context_window_exceeded";
    default:
      return "end_turn";
  }
}

enum class UsageAt : std::uint8_t { start, end, whole };

class Messages {
 public:
  explicit Messages(const RenderInput& input)
      : input_(input), ids_(input.number), usage_(usage_of(input)) {
    id_ = "msg_01" + ids_.letters(22);
  }

  Rendered whole();
  Rendered stream();

 private:
  void event(FrameKind kind, std::string_view type, std::string json);
  void block(std::string_view content_block, std::string_view delta_type, std::string_view key,
             const std::vector<std::string>& deltas);
  void start_block(std::string_view content_block);
  void delta(std::string_view type, std::string_view key, std::string_view value);
  void stop_block();
  void thinking_blocks();
  void call_block(const FakeCall& call);
  void message_start();
  void message_end();
  void put_stop(JsonWriter& json) const;
  void put_usage(JsonWriter& json, UsageAt at) const;
  void put_content(JsonWriter& json);
  std::string signature();
  std::string call_id(const FakeCall& call) {
    return call.id.empty() ? "toolu_01" + ids_.letters(22) : call.id;
  }

  const RenderInput& input_;
  Ids ids_;
  FakeUsage usage_;
  std::string id_;
  std::uint64_t index_ = 0;
  std::vector<Frame> frames_;
};

// The recorded events have up to fifteen spaces before their last brace.
void Messages::event(FrameKind kind, std::string_view type, std::string json) {
  json.insert(json.size() - 1, ids_.padding(kPaddingMax));
  frames_.push_back({kind, "event: " + std::string(type) + "\ndata: " + std::move(json) + "\n\n"});
}

std::string Messages::signature() {
  return input_.reply.signature.empty() ? "Eo" + ids_.letters(86) : input_.reply.signature;
}

void Messages::put_usage(JsonWriter& json, UsageAt at) const {
  if (omits_usage(input_)) return;
  json.key("usage").begin_object();
  put_count(json, input_, "input_tokens", usage_.input);
  put_count(json, input_, "cache_creation_input_tokens",
            usage_.cache_creation + usage_.cache_creation_1h);
  put_count(json, input_, "cache_read_input_tokens", usage_.cache_read);
  if (at != UsageAt::end) {
    json.key("cache_creation").begin_object();
    put_count(json, input_, "ephemeral_5m_input_tokens", usage_.cache_creation);
    put_count(json, input_, "ephemeral_1h_input_tokens", usage_.cache_creation_1h);
    json.end_object();
  }
  put_count(json, input_, "output_tokens", at == UsageAt::start ? 1 : usage_.output);
  if (at != UsageAt::start && usage_.thinking > 0) {
    json.key("output_tokens_details").begin_object();
    put_count(json, input_, "thinking_tokens", usage_.thinking);
    json.end_object();
  }
  if (at != UsageAt::end) {
    json.field("service_tier", "standard").field("inference_geo", "not_available");
  }
  json.end_object();
}

void Messages::put_stop(JsonWriter& json) const {
  const std::string_view reason = stop_reason(input_.reply);
  json.field("stop_reason", reason).key("stop_sequence");
  if (reason == "stop_sequence") {
    json.string(input_.reply.stop_detail);
  } else {
    json.null();
  }
  json.key("stop_details");
  if (reason != "refusal") {
    json.null();
    return;
  }
  json.begin_object().field("type", "refusal").field("category", "cyber");
  json.field("explanation", input_.reply.stop_detail).end_object();
}

void Messages::message_start() {
  JsonWriter json;
  json.begin_object().field("type", "message_start").key("message").begin_object();
  json.field("model", input_.request.model).field("id", id_).field("type", "message");
  json.field("role", "assistant").key("content").begin_array().end_array();
  json.key("stop_reason").null().key("stop_sequence").null().key("stop_details").null();
  put_usage(json, UsageAt::start);
  event(FrameKind::opening, "message_start", json.end_object().end_object().take());
}

void Messages::start_block(std::string_view content_block) {
  JsonWriter json;
  json.begin_object().field("type", "content_block_start").field("index", index_);
  json.key("content_block").raw(content_block).end_object();
  event(FrameKind::other, "content_block_start", json.take());
  if (index_ == 0) {
    frames_.push_back({FrameKind::other, "event: ping\ndata: {\"type\": \"ping\"}\n\n"});
  }
}

void Messages::delta(std::string_view type, std::string_view key, std::string_view value) {
  JsonWriter json;
  json.begin_object().field("type", "content_block_delta").field("index", index_);
  json.key("delta").begin_object().field("type", type).field(key, value).end_object();
  event(FrameKind::delta, "content_block_delta", json.end_object().take());
}

void Messages::stop_block() {
  JsonWriter json;
  json.begin_object().field("type", "content_block_stop").field("index", index_);
  event(FrameKind::other, "content_block_stop", json.end_object().take());
  ++index_;
}

void Messages::block(std::string_view content_block, std::string_view delta_type,
                     std::string_view key, const std::vector<std::string>& deltas) {
  start_block(content_block);
  for (const std::string& each : deltas) delta(delta_type, key, each);
  stop_block();
}

void Messages::thinking_blocks() {
  if (!input_.reply.thinking.empty()) {
    start_block(R"({"type":"thinking","thinking":"","signature":""})");
    for (const std::string& each : deltas_of(input_.reply.thinking)) {
      delta("thinking_delta", "thinking", each);
    }
    delta("signature_delta", "signature", signature());
    stop_block();
  }
  if (input_.reply.redacted_thinking.empty()) return;
  JsonWriter json;
  json.begin_object().field("type", "redacted_thinking");
  json.field("data", input_.reply.redacted_thinking);
  start_block(json.end_object().take());
  stop_block();
}

// A call without arguments sends one empty delta.
void Messages::call_block(const FakeCall& call) {
  JsonWriter json;
  json.begin_object().field("type", "tool_use").field("id", call_id(call));
  json.field("name", call.tool).key("input").begin_object().end_object();
  json.key("caller").begin_object().field("type", "direct").end_object();
  std::vector<std::string> deltas{""};
  if (call.input != "{}") {
    for (std::string& each : input_deltas(call.input)) deltas.push_back(std::move(each));
  }
  block(json.end_object().take(), "input_json_delta", "partial_json", deltas);
}

void Messages::message_end() {
  JsonWriter json;
  json.begin_object().field("type", "message_delta").key("delta").begin_object();
  put_stop(json);
  json.end_object();
  put_usage(json, UsageAt::end);
  event(FrameKind::closing, "message_delta", json.end_object().take());
  event(FrameKind::closing, "message_stop", R"({"type":"message_stop"})");
}

Rendered Messages::stream() {
  message_start();
  thinking_blocks();
  if (!input_.reply.text.empty()) {
    block(R"({"type":"text","text":""})", "text_delta", "text", deltas_of(input_.reply.text));
  }
  for (const FakeCall& call : input_.reply.calls) call_block(call);
  if (effective_stop(input_.reply) == FakeStop::failed) {
    FakeError error;
    error.message = input_.reply.stop_detail;
    frames_.push_back(render_error_event(input_.request, error, frames_.size()));
  } else {
    message_end();
  }
  Rendered reply;
  reply.headers = vendor_headers(Vendor::anthropic, input_.number);
  reply.headers.insert(reply.headers.begin(), {"content-type", "text/event-stream; charset=utf-8"});
  reply.headers.push_back({"cache-control", "no-cache"});
  reply.framing = Framing::chunked;
  reply.frames = std::move(frames_);
  return reply;
}

void Messages::put_content(JsonWriter& json) {
  const FakeReply& reply = input_.reply;
  if (!reply.thinking.empty()) {
    json.begin_object().field("type", "thinking").field("thinking", joined(reply.thinking));
    json.field("signature", signature()).end_object();
  }
  if (!reply.redacted_thinking.empty()) {
    json.begin_object().field("type", "redacted_thinking");
    json.field("data", reply.redacted_thinking).end_object();
  }
  if (!reply.text.empty()) {
    json.begin_object().field("type", "text").field("text", joined(reply.text)).end_object();
  }
  for (const FakeCall& call : reply.calls) {
    json.begin_object().field("type", "tool_use").field("id", call_id(call));
    json.field("name", call.tool).key("input").raw(call.input);
    json.key("caller").begin_object().field("type", "direct").end_object().end_object();
  }
}

Rendered Messages::whole() {
  JsonWriter json;
  json.begin_object().field("model", input_.request.model).field("id", id_);
  json.field("type", "message").field("role", "assistant").key("content").begin_array();
  put_content(json);
  json.end_array();
  put_stop(json);
  put_usage(json, UsageAt::whole);
  return json_reply(200, vendor_headers(Vendor::anthropic, input_.number),
                    json.end_object().take());
}

}  // namespace

Rendered render_anthropic(const RenderInput& input) {
  const bool streams = input.request.delivery == Delivery::stream;
  if (!streams && effective_stop(input.reply) == FakeStop::failed) {
    FakeError error;
    error.message = input.reply.stop_detail;
    return render_error(Vendor::anthropic, error, input.number);
  }
  return streams ? Messages(input).stream() : Messages(input).whole();
}

}  // namespace pawl::fake
