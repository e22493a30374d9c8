// Responses: POST /v1/responses. After recorded streams: named events with sequence numbers, items
// that are added, filled and done, the whole response at both ends, no [DONE].
#include <utility>

#include "pawl/testing/fake_provider/dialects/render.h"

namespace pawl::fake {
namespace {

constexpr std::size_t kIdDigits = 48;

enum class Stage : std::uint8_t { in_progress, over };

std::string_view final_status(const FakeReply& reply) {
  switch (effective_stop(reply)) {
    case FakeStop::failed:
      return "failed";
    case FakeStop::max_tokens:
    case FakeStop::incomplete:
    case FakeStop::context_window:
    case FakeStop::content_filter:
      return "incomplete";
    default:
      return "completed";
  }
}

// Whole items, as output_item.done and the final response have them.
struct Item {
  std::string id;
  std::string opening;  // as output_item.added has it
  std::string json;
};

class Responses {
 public:
  explicit Responses(const RenderInput& input) : input_(input), ids_(input.number) {
    id_ = "resp_" + ids_.hex(kIdDigits);
  }

  Rendered whole();
  Rendered stream();

 private:
  std::string response(Stage stage) const;
  void put_settings(JsonWriter& json) const;
  void put_usage(JsonWriter& json) const;
  void put_outcome(JsonWriter& json, Stage stage) const;
  JsonWriter begin(std::string_view type);
  void event(FrameKind kind, std::string_view type, JsonWriter& json);
  void response_event(FrameKind kind, std::string_view type, Stage stage);
  void item_event(std::string_view type, const std::string& item);
  void delta(std::string_view type, const Item& item, std::string_view index_key,
             std::string_view text);

  Item reasoning_item();
  Item message_item();
  Item call_item(const FakeCall& call);
  void stream_reasoning(const Item& item);
  void stream_message(const Item& item);
  void stream_call(const Item& item, const FakeCall& call);
  std::string part(std::string_view text) const;
  bool refuses() const { return effective_stop(input_.reply) == FakeStop::refusal; }
  bool has_message() const { return !input_.reply.text.empty() || refuses(); }
  std::string message_text() const {
    return joined(input_.reply.text) + (refuses() ? input_.reply.stop_detail : "");
  }

  const RenderInput& input_;
  Ids ids_;
  std::string id_;
  std::uint64_t sequence_ = 0;
  std::uint64_t output_index_ = 0;
  std::vector<std::string> done_;  // items
  std::vector<Frame> frames_;
};

void Responses::put_usage(JsonWriter& json) const {
  const FakeUsage usage = usage_of(input_);
  const std::uint64_t all = all_input(usage);
  json.key("usage").begin_object();
  put_count(json, input_, "input_tokens", all);
  json.key("input_tokens_details").begin_object();
  put_count(json, input_, "cached_tokens", usage.cache_read);
  put_count(json, input_, "cache_write_tokens", usage.cache_creation + usage.cache_creation_1h);
  json.end_object();
  put_count(json, input_, "output_tokens", usage.output);
  json.key("output_tokens_details").begin_object();
  put_count(json, input_, "reasoning_tokens", usage.thinking);
  json.end_object();
  put_count(json, input_, "total_tokens", all + usage.output);
  json.end_object();
}

// What the request asked for comes back, as far as it is there.
void Responses::put_settings(JsonWriter& json) const {
  const auto given = [&](std::string_view key, std::string_view otherwise) {
    const Json* value = input_.request.body.find(key);
    json.key(key).raw(value != nullptr ? write_json(*value) : std::string(otherwise));
  };
  given("instructions", "null");
  given("max_output_tokens", "null");
  given("metadata", "{}");
  given("parallel_tool_calls", "true");
  given("previous_response_id", "null");
  given("reasoning", R"({"effort":null,"summary":null})");
  given("store", "true");
  given("temperature", "1.0");
  given("text", R"({"format":{"type":"text"}})");
  given("tool_choice", R"("auto")");
  given("tools", "[]");
  given("top_p", "1.0");
  given("truncation", R"("disabled")");
  given("user", "null");
  json.field("background", false).field("service_tier", "default");
}

void Responses::put_outcome(JsonWriter& json, Stage stage) const {
  const FakeReply& reply = input_.reply;
  const std::string_view status =
      stage == Stage::over ? final_status(reply) : std::string_view("in_progress");
  json.field("status", status).key("error");
  if (status == "failed") {
    json.begin_object().field("code", "server_error").field("message", reply.stop_detail);
    json.end_object();
  } else {
    json.null();
  }
  json.key("incomplete_details");
  if (status != "incomplete") {
    json.null();
    return;
  }
  const FakeStop stop = effective_stop(reply);
  std::string reason = stop == FakeStop::content_filter ? "content_filter" : "max_output_tokens";
  if (stop == FakeStop::incomplete && !reply.stop_detail.empty()) reason = reply.stop_detail;
  json.begin_object().field("reason", reason).end_object();
}

std::string Responses::response(Stage stage) const {
  JsonWriter json;
  json.begin_object().field("id", id_).field("object", "response");
  json.field("created_at", created_at(input_.number));
  put_outcome(json, stage);
  json.field("model", input_.request.model).key("output").begin_array();
  for (const std::string& item : done_) json.raw(item);
  json.end_array();
  put_settings(json);
  if (stage == Stage::over && !omits_usage(input_)) {
    put_usage(json);
  } else {
    json.key("usage").null();
  }
  return json.end_object().take();
}

JsonWriter Responses::begin(std::string_view type) {
  JsonWriter json;
  json.begin_object().field("type", type).field("sequence_number", sequence_++);
  return json;
}

void Responses::event(FrameKind kind, std::string_view type, JsonWriter& json) {
  frames_.push_back(
      {kind, "event: " + std::string(type) + "\ndata: " + json.end_object().take() + "\n\n"});
}

void Responses::response_event(FrameKind kind, std::string_view type, Stage stage) {
  JsonWriter json = begin(type);
  json.key("response").raw(response(stage));
  event(kind, type, json);
}

void Responses::item_event(std::string_view type, const std::string& item) {
  JsonWriter json = begin(type);
  json.field("output_index", output_index_).key("item").raw(item);
  event(FrameKind::other, type, json);
}

void Responses::delta(std::string_view type, const Item& item, std::string_view index_key,
                      std::string_view text) {
  JsonWriter json = begin(type);
  json.field("item_id", item.id).field("output_index", output_index_);
  if (!index_key.empty()) json.field(index_key, 0);
  json.field("delta", text);
  if (type == "response.output_text.delta") json.key("logprobs").begin_array().end_array();
  json.field("obfuscation", ids_.letters(16 - text.size() % 16));
  event(FrameKind::delta, type, json);
}

Item Responses::reasoning_item() {
  Item item;
  item.id = "rs_" + ids_.hex(kIdDigits);
  const auto write = [&](std::string_view summary) {
    JsonWriter json;
    json.begin_object().field("id", item.id).field("type", "reasoning");
    json.key("summary").begin_array();
    if (!summary.empty()) {
      json.begin_object().field("type", "summary_text").field("text", summary).end_object();
    }
    json.end_array();
    const std::string& given = input_.reply.signature;
    json.field("encrypted_content",
               given.empty() ? "gAAAAAB" + Ids(input_.number).letters(60) : given);
    return json.end_object().take();
  };
  item.opening = write("");
  item.json = write(joined(input_.reply.thinking));
  return item;
}

std::string Responses::part(std::string_view text) const {
  JsonWriter json;
  if (refuses()) {
    json.begin_object().field("type", "refusal").field("refusal", text);
  } else {
    json.begin_object().field("type", "output_text").key("annotations").begin_array().end_array();
    json.key("logprobs").begin_array().end_array().field("text", text);
  }
  return json.end_object().take();
}

Item Responses::message_item() {
  Item item;
  item.id = "msg_" + ids_.hex(kIdDigits);
  JsonWriter opening;
  opening.begin_object().field("id", item.id).field("type", "message");
  opening.field("status", "in_progress").key("content").begin_array().end_array();
  item.opening = opening.field("role", "assistant").end_object().take();
  JsonWriter json;
  json.begin_object().field("id", item.id).field("type", "message").field("status", "completed");
  json.key("content").begin_array().raw(part(message_text())).end_array();
  item.json = json.field("role", "assistant").end_object().take();
  return item;
}

Item Responses::call_item(const FakeCall& call) {
  Item item;
  item.id = "fc_" + ids_.hex(kIdDigits);
  const std::string call_id = call.id.empty() ? "call_" + ids_.letters(24) : call.id;
  const auto write = [&](std::string_view status, std::string_view arguments) {
    JsonWriter json;
    json.begin_object().field("id", item.id).field("type", "function_call");
    json.field("status", status).field("arguments", arguments).field("call_id", call_id);
    return json.field("name", call.tool).end_object().take();
  };
  item.opening = write("in_progress", "");
  item.json = write("completed", call.input);
  return item;
}

void Responses::stream_reasoning(const Item& item) {
  const auto summary = [&](std::string_view type, std::string_view key,
                           std::string_view json_text) {
    JsonWriter json = begin(type);
    json.field("item_id", item.id).field("output_index", output_index_);
    json.field("summary_index", 0).key(key).raw(json_text);
    event(FrameKind::other, type, json);
  };
  const std::string all = joined(input_.reply.thinking);
  JsonWriter quoted;
  const std::string text = quoted.string(all).take();
  summary("response.reasoning_summary_part.added", "part", R"({"type":"summary_text","text":""})");
  for (const std::string& each : deltas_of(input_.reply.thinking)) {
    delta("response.reasoning_summary_text.delta", item, "summary_index", each);
  }
  summary("response.reasoning_summary_text.done", "text", text);
  summary("response.reasoning_summary_part.done", "part",
          R"({"type":"summary_text","text":)" + text + "}");
}

void Responses::stream_message(const Item& item) {
  const auto content = [&](std::string_view type, std::string_view key,
                           std::string_view json_text) {
    JsonWriter json = begin(type);
    json.field("item_id", item.id).field("output_index", output_index_);
    json.field("content_index", 0).key(key).raw(json_text);
    if (type == "response.output_text.done") json.key("logprobs").begin_array().end_array();
    event(FrameKind::other, type, json);
  };
  const std::string_view kind = refuses() ? "refusal" : "output_text";
  const std::string prefix = "response." + std::string(kind);
  content("response.content_part.added", "part", part(""));
  std::vector<std::string> parts = input_.reply.text;
  if (refuses() && !input_.reply.stop_detail.empty()) parts.push_back(input_.reply.stop_detail);
  for (const std::string& each : deltas_of(parts)) {
    delta(prefix + ".delta", item, "content_index", each);
  }
  JsonWriter quoted;
  content(prefix + ".done", refuses() ? "refusal" : "text", quoted.string(message_text()).take());
  content("response.content_part.done", "part", part(message_text()));
}

void Responses::stream_call(const Item& item, const FakeCall& call) {
  constexpr std::string_view kDone = "response.function_call_arguments.done";
  for (const std::string& each : input_deltas(call.input)) {
    delta("response.function_call_arguments.delta", item, {}, each);
  }
  JsonWriter json = begin(kDone);
  json.field("item_id", item.id).field("output_index", output_index_);
  json.field("arguments", call.input);
  event(FrameKind::other, kDone, json);
}

Rendered Responses::stream() {
  response_event(FrameKind::opening, "response.created", Stage::in_progress);
  response_event(FrameKind::opening, "response.in_progress", Stage::in_progress);
  const auto stream_item = [&](const Item& item, const auto& fill) {
    item_event("response.output_item.added", item.opening);
    fill(item);
    item_event("response.output_item.done", item.json);
    done_.push_back(item.json);
    ++output_index_;
  };
  if (!input_.reply.thinking.empty()) {
    stream_item(reasoning_item(), [this](const Item& item) { stream_reasoning(item); });
  }
  if (has_message()) {
    stream_item(message_item(), [this](const Item& item) { stream_message(item); });
  }
  for (const FakeCall& call : input_.reply.calls) {
    stream_item(call_item(call), [&](const Item& item) { stream_call(item, call); });
  }
  response_event(FrameKind::closing, "response." + std::string(final_status(input_.reply)),
                 Stage::over);
  Rendered reply;
  reply.headers = vendor_headers(Vendor::openai, input_.number);
  reply.headers.insert(reply.headers.begin(), {"content-type", "text/event-stream; charset=utf-8"});
  reply.framing = Framing::chunked;
  reply.frames = std::move(frames_);
  return reply;
}

Rendered Responses::whole() {
  if (!input_.reply.thinking.empty()) done_.push_back(reasoning_item().json);
  if (has_message()) done_.push_back(message_item().json);
  for (const FakeCall& call : input_.reply.calls) done_.push_back(call_item(call).json);
  return json_reply(200, vendor_headers(Vendor::openai, input_.number), response(Stage::over));
}

}  // namespace

Rendered render_responses(const RenderInput& input) {
  const bool streams = input.request.delivery == Delivery::stream;
  return streams ? Responses(input).stream() : Responses(input).whole();
}

}  // namespace pawl::fake
