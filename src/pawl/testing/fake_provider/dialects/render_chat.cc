// Chat Completions: POST /v1/chat/completions. After recorded streams: unnamed data lines, usage
// in a chunk without choices when it was asked for, random padding, and [DONE].
#include <utility>

#include "pawl/testing/fake_provider/dialects/render.h"

namespace pawl::fake {
namespace {

std::string_view finish_reason(const FakeReply& reply) {
  switch (effective_stop(reply)) {
    case FakeStop::tool_use:
      return "tool_calls";
    case FakeStop::max_tokens:
    case FakeStop::incomplete:
    case FakeStop::context_window:
      return "length";
    case FakeStop::content_filter:
      return "content_filter";
    default:
      return "stop";
  }
}

class Chat {
 public:
  explicit Chat(const RenderInput& input) : input_(input), ids_(input.number) {
    id_ = "chatcmpl-" + ids_.letters(29);
  }

  Rendered whole();
  Rendered stream();

 private:
  void put_opening(JsonWriter& json, std::string_view object) const;
  // `delta` is JSON; an empty `finish` is null.
  void piece(FrameKind kind, std::string_view delta, std::string_view finish);
  void text_piece(std::string_view key, std::string_view text);
  void call_pieces(const FakeCall& call, std::size_t index);
  void usage_piece();
  void put_usage(JsonWriter& json) const;
  void put_message(JsonWriter& json);
  std::string call_id(const FakeCall& call) {
    return call.id.empty() ? "call_" + ids_.letters(24) : call.id;
  }
  bool refuses() const { return effective_stop(input_.reply) == FakeStop::refusal; }

  const RenderInput& input_;
  Ids ids_;
  std::string id_;
  std::vector<Frame> frames_;
};

void Chat::put_opening(JsonWriter& json, std::string_view object) const {
  json.begin_object().field("id", id_).field("object", object);
  json.field("created", created_at(input_.number)).field("model", input_.request.model);
  json.field("service_tier", "default").key("system_fingerprint").null();
}

void Chat::put_usage(JsonWriter& json) const {
  const FakeUsage usage = usage_of(input_);
  const std::uint64_t prompt = all_input(usage);
  json.key("usage").begin_object();
  put_count(json, input_, "prompt_tokens", prompt);
  put_count(json, input_, "completion_tokens", usage.output);
  put_count(json, input_, "total_tokens", prompt + usage.output);
  json.key("prompt_tokens_details").begin_object();
  put_count(json, input_, "cached_tokens", usage.cache_read);
  json.field("audio_tokens", 0).end_object();
  json.key("completion_tokens_details").begin_object();
  put_count(json, input_, "reasoning_tokens", usage.thinking);
  json.field("audio_tokens", 0).field("accepted_prediction_tokens", 0);
  json.field("rejected_prediction_tokens", 0).end_object().end_object();
}

void Chat::piece(FrameKind kind, std::string_view delta, std::string_view finish) {
  JsonWriter json;
  put_opening(json, "chat.completion.chunk");
  json.key("choices").begin_array().begin_object().field("index", 0).key("delta").raw(delta);
  json.key("logprobs").null().key("finish_reason");
  if (finish.empty()) {
    json.null();
  } else {
    json.string(finish);
  }
  json.end_object().end_array();
  if (input_.request.include_usage) json.key("usage").null();
  json.field("obfuscation", ids_.letters(4 + delta.size() % 9));
  frames_.push_back({kind, "data: " + json.end_object().take() + "\n\n"});
}

void Chat::text_piece(std::string_view key, std::string_view text) {
  JsonWriter json;
  json.begin_object().field(key, text).end_object();
  piece(FrameKind::delta, json.take(), {});
}

// The id and the name come in the first fragment only.
void Chat::call_pieces(const FakeCall& call, std::size_t index) {
  JsonWriter first;
  first.begin_object().key("tool_calls").begin_array().begin_object().field("index", index);
  first.field("id", call_id(call)).field("type", "function").key("function").begin_object();
  first.field("name", call.tool).field("arguments", "").end_object();
  piece(FrameKind::delta, first.end_object().end_array().end_object().take(), {});
  for (const std::string& part : input_deltas(call.input)) {
    JsonWriter json;
    json.begin_object().key("tool_calls").begin_array().begin_object().field("index", index);
    json.key("function").begin_object().field("arguments", part).end_object();
    piece(FrameKind::delta, json.end_object().end_array().end_object().take(), {});
  }
}

void Chat::usage_piece() {
  JsonWriter json;
  put_opening(json, "chat.completion.chunk");
  json.key("choices").begin_array().end_array();
  put_usage(json);
  json.field("obfuscation", ids_.letters(8));
  frames_.push_back({FrameKind::closing, "data: " + json.end_object().take() + "\n\n"});
}

Rendered Chat::stream() {
  const FakeReply& reply = input_.reply;
  const bool only_calls = !reply.calls.empty() && reply.text.empty();
  piece(FrameKind::opening,
        only_calls ? R"({"role":"assistant","content":null,"refusal":null})"
                   : R"({"role":"assistant","content":"","refusal":null})",
        {});
  for (const std::string& part : deltas_of(reply.thinking)) text_piece("reasoning_content", part);
  for (const std::string& part : deltas_of(reply.text)) {
    text_piece(refuses() ? "refusal" : "content", part);
  }
  if (refuses() && !reply.stop_detail.empty()) text_piece("refusal", reply.stop_detail);
  for (std::size_t i = 0; i < reply.calls.size(); ++i) call_pieces(reply.calls[i], i);
  if (effective_stop(reply) == FakeStop::failed) {
    FakeError error;
    error.message = reply.stop_detail;
    frames_.push_back(render_error_event(input_.request, error, frames_.size()));
  } else {
    piece(FrameKind::closing, "{}", finish_reason(reply));
    if (input_.request.include_usage && !omits_usage(input_)) usage_piece();
    frames_.push_back({FrameKind::closing, "data: [DONE]\n\n"});
  }
  Rendered out;
  out.headers = vendor_headers(Vendor::openai, input_.number);
  out.headers.insert(out.headers.begin(), {"content-type", "text/event-stream; charset=utf-8"});
  out.framing = Framing::chunked;
  out.frames = std::move(frames_);
  return out;
}

void Chat::put_message(JsonWriter& json) {
  const FakeReply& reply = input_.reply;
  const std::string text = joined(reply.text);
  json.key("message").begin_object().field("role", "assistant").key("content");
  if (text.empty() || refuses()) {
    json.null();
  } else {
    json.string(text);
  }
  if (!reply.thinking.empty()) json.field("reasoning_content", joined(reply.thinking));
  if (!reply.calls.empty()) {
    json.key("tool_calls").begin_array();
    for (const FakeCall& call : reply.calls) {
      json.begin_object().field("id", call_id(call)).field("type", "function");
      json.key("function").begin_object().field("name", call.tool);
      json.field("arguments", call.input).end_object().end_object();
    }
    json.end_array();
  }
  json.key("refusal");
  if (refuses()) {
    json.string(text + reply.stop_detail);
  } else {
    json.null();
  }
  json.key("annotations").begin_array().end_array().end_object();
}

Rendered Chat::whole() {
  JsonWriter json;
  put_opening(json, "chat.completion");
  json.key("choices").begin_array().begin_object().field("index", 0);
  put_message(json);
  json.key("logprobs").null().field("finish_reason", finish_reason(input_.reply));
  json.end_object().end_array();
  if (!omits_usage(input_)) put_usage(json);
  return json_reply(200, vendor_headers(Vendor::openai, input_.number), json.end_object().take());
}

}  // namespace

Rendered render_chat(const RenderInput& input) {
  const bool streams = input.request.delivery == Delivery::stream;
  if (!streams && effective_stop(input.reply) == FakeStop::failed) {
    FakeError error;
    error.message = input.reply.stop_detail;
    return render_error(Vendor::openai, error, input.number);
  }
  return streams ? Chat(input).stream() : Chat(input).whole();
}

}  // namespace pawl::fake
