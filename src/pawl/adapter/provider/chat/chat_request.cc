// OpenAI's Chat Completions API, and the many servers that speak it nearly.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/common/conversation.h"
#include "pawl/adapter/provider/common/media.h"
#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/common/wire_numbers.h"
#include "pawl/adapter/provider/common/wire_request.h"
#include "pawl/adapter/provider/common/wire_schema.h"
#include "pawl/adapter/provider/openai/chat_quirks.h"
#include "pawl/adapter/provider/openai/openai_schema.h"
#include "pawl/adapter/provider/openai/openai_wire.h"
#include "pawl/json.h"

namespace pawl::provider {
namespace {

constexpr MediaRules kImagesOnly{
    "this server", MediaRules::Documents::none, 20U << 20U, 0, 36U << 20U, 500};
constexpr std::string_view kAfterResults = "Understood.";  // see Quirk::no_user_after_tool
constexpr std::size_t kShortIdDigits = 8;

bool is_spoken(const Part& part) {
  return !std::holds_alternative<ThinkingPart>(part) && !std::holds_alternative<RawPart>(part);
}

void join(std::string& all, const std::string& more) {
  if (!all.empty() && !more.empty()) all += "\n\n";
  all += more;
}

// Of one turn.
class MessageWriter {
 public:
  MessageWriter(JsonWriter& out, const ExecutorModelDescriptor& model, const ChatQuirks& quirks,
                const TurnState& before)
      : out_(out),
        quirks_(quirks),
        media_(quirks.has(Quirk::documents) ? kOpenAiMedia : kImagesOnly, model, before.media),
        state_(before) {}

  Status write(const Turn& turn) {
    if (turn.role == Role::user) return user(turn);
    assistant(turn);
    return ok();
  }
  TurnState state() const {
    TurnState state = state_;
    state.media = media_.totals();
    return state;
  }

 private:
  JsonWriter& message(std::string_view role) { return out_.begin_object().field("role", role); }

  Status user(const Turn& turn) {
    const auto rest = std::ranges::find_if_not(
        turn.parts, [](const Part& part) { return std::holds_alternative<ResultPart>(part); });
    std::uint64_t answered = 0;
    for (auto part = turn.parts.begin(); part != rest; ++part) {
      const auto& result = std::get<ResultPart>(*part);
      message("tool").field("tool_call_id", wire_id(result.id, ++answered));
      out_.field("content", result_text(result)).end_object();
    }
    if (rest == turn.parts.end()) return ok();
    if (rest != turn.parts.begin() && quirks_.has(Quirk::no_user_after_tool)) {
      message("assistant").field("content", kAfterResults).end_object();
    }
    return said(rest, turn.parts.end());
  }

  // Texts alone are one text: not every server takes lists.
  Status said(std::vector<Part>::const_iterator part, std::vector<Part>::const_iterator end) {
    message("user").key("content");
    std::string text;
    const bool plain = std::all_of(part, end, [&](const Part& one) {
      const auto* const more = std::get_if<TextPart>(&one);
      if (more != nullptr) join(text, more->text);
      return more != nullptr;
    });
    if (plain) {
      out_.string(text).end_object();
      return ok();
    }
    out_.begin_array();
    for (; part != end; ++part) PAWL_CHECK(user_part(*part));
    out_.end_array().end_object();
    return ok();
  }

  Status user_part(const Part& part) {
    if (const auto* text = std::get_if<TextPart>(&part)) {
      out_.begin_object().field("type", "text").field("text", text->text).end_object();
    }
    const auto* const attachment = std::get_if<AttachmentPart>(&part);
    if (attachment == nullptr) return ok();
    PAWL_TRY(const MediaKind kind, media_.take(*attachment));
    out_.begin_object();
    if (kind == MediaKind::image) {
      out_.field("type", "image_url").key("image_url").begin_object();
      out_.field("url", data_url(*attachment)).end_object();
    } else {
      out_.field("type", "file").key("file").begin_object();
      out_.field("filename", file_name(*attachment));
      out_.field("file_data", data_url(*attachment)).end_object();
    }
    out_.end_object();
    return ok();
  }

  void assistant(const Turn& turn) {
    std::string text;
    std::string thoughts;
    std::vector<const CallPart*> calls;
    for (const Part& part : turn.parts) {
      if (const auto* said = std::get_if<TextPart>(&part)) join(text, said->text);
      if (const auto* thought = std::get_if<ThinkingPart>(&part)) join(thoughts, thought->text);
      if (const auto* call = std::get_if<CallPart>(&part)) calls.push_back(call);
    }
    message("assistant").key("content");
    if (text.empty() && !quirks_.has(Quirk::empty_content)) {
      out_.null();
    } else {
      out_.string(text);
    }
    write_thoughts(thoughts);
    write_calls(calls);
    out_.end_object();
  }

  void write_thoughts(const std::string& thoughts) {
    if (thoughts.empty()) return;
    if (quirks_.has(Quirk::replay_reasoning_content)) out_.field("reasoning_content", thoughts);
    if (quirks_.has(Quirk::replay_reasoning)) out_.field("reasoning", thoughts);
  }

  void write_calls(const std::vector<const CallPart*>& calls) {
    if (calls.empty()) return;
    state_.calls += std::exchange(state_.latest_calls, calls.size());
    out_.key("tool_calls").begin_array();
    std::uint64_t asked = 0;
    for (const CallPart* call : calls) {
      out_.begin_object().field("id", wire_id(call->id, ++asked)).field("type", "function");
      out_.key("function").begin_object().field("name", call->tool);
      out_.field("arguments", call->input).end_object().end_object();
    }
    out_.end_array();
  }

  // `place` is that among the calls of the turn, and among the results behind it.
  std::string wire_id(const std::string& id, std::uint64_t place) const {
    if (!quirks_.has(Quirk::short_call_ids)) return id;
    const std::string number = std::to_string(state_.calls + place);
    const std::size_t zeros = kShortIdDigits - std::min(number.size(), kShortIdDigits);
    return "c" + std::string(zeros, '0') + number;
  }

  JsonWriter& out_;
  const ChatQuirks& quirks_;
  MediaCheck media_;
  TurnState state_;
};

class ChatTurns final : public TurnStyle {
 public:
  ChatTurns(const ExecutorModelDescriptor& model, const ChatQuirks& quirks)
      : model_(model), quirks_(quirks) {}

  // A turn in which an assistant only thought is none here. It has no calls, so that what follows
  // it has no results.
  bool counts(const Turn& turn) const override {
    return std::ranges::any_of(turn.parts, is_spoken);
  }

  Status write(JsonWriter& out, const Turn& turn, TurnState& state) const override {
    MessageWriter writer(out, model_, quirks_, state);
    PAWL_CHECK(writer.write(turn));
    state = writer.state();
    return ok();
  }

 private:
  const ExecutorModelDescriptor& model_;
  const ChatQuirks quirks_;
};

void write_instructions(JsonWriter& out, const std::string& instructions,
                        const ExecutorModelDescriptor& model, const ChatQuirks& quirks) {
  if (instructions.empty()) return;
  const bool developer =
      quirks.has(Quirk::developer_role) && model.thinking == ExecutorModelDescriptor::Support::yes;
  out.begin_object().field("role", developer ? "developer" : "system");
  out.field("content", instructions).end_object();
}

using Support = ExecutorModelDescriptor::Support;

Status write_tools(JsonWriter& out, const std::vector<ToolSpec>& tools) {
  if (tools.empty()) return ok();
  out.key("tools").begin_array();
  for (const ToolSpec& tool : tools) {
    PAWL_TRY(const Json parameters, tool_schema(tool));
    out.begin_object().field("type", "function").key("function").begin_object();
    out.field("name", wire_tool_name(tool.name));
    if (!tool.description.empty()) out.field("description", tool.description);
    out.field("parameters", parameters).end_object().end_object();
  }
  out.end_array();
  return ok();
}

Status write_format(JsonWriter& out, const PhaseExecutionRequest& request) {
  PAWL_TRY(const Json schema, output_schema_of(request.output_schema));
  out.key("response_format").begin_object().field("type", "json_schema");
  out.key("json_schema").begin_object().field("name", kOutputSchemaName).field("schema", schema);
  out.field("strict", mode_of(schema) == SchemaMode::strict);
  out.end_object().end_object();
  return ok();
}

void write_sampling(JsonWriter& out, const PhaseExecutionRequest& request,
                    const WireOptions& options, const ChatQuirks& quirks) {
  if (const auto most = request.sampling.max_output_tokens) {
    const std::uint64_t bound =
        options.model.max_output_tokens > 0 ? options.model.max_output_tokens : *most;
    const bool long_name = quirks.has(Quirk::max_completion_tokens);
    out.field(long_name ? "max_completion_tokens" : "max_tokens", std::min(*most, bound));
  }
  if (request.sampling.temperature_milli && options.model.temperature == Support::yes) {
    out.key("temperature").raw(milli_text(*request.sampling.temperature_milli));
  }
  const std::string_view effort = effort_word(request.sampling.effort, options.model.id);
  const bool takes_effort =
      options.model.thinking == Support::yes && !quirks.has(Quirk::no_reasoning_effort);
  if (!effort.empty() && takes_effort) out.field("reasoning_effort", effort);
}

void write_streaming(JsonWriter& out, const PhaseExecutionRequest& request,
                     const ChatQuirks& quirks, const WireOptions& options) {
  put_service_tier(out, options);
  const bool streams = request.sampling.stream == Streaming::automatic;
  out.field("stream", streams);
  if (!streams || quirks.has(Quirk::no_stream_usage)) return;
  out.key("stream_options").begin_object().field("include_usage", true).end_object();
}

Result<HttpBody> chat_body(const PhaseExecutionRequest& request, KeptTurns& turns,
                           const WireOptions& options) {
  PAWL_TRY(const ChatQuirks quirks, chat_quirks_of(options));
  AnswerShape shape = answer_shape(request, options);
  if (shape == AnswerShape::format && quirks.has(Quirk::no_json_schema)) shape = AnswerShape::words;
  JsonWriter head;
  head.begin_object().field("model", options.model.id).key("messages").begin_array();
  write_instructions(head, instructions_of(request, shape), options.model, quirks);
  head.end_array().end_object();
  PAWL_CHECK(turns.write());
  JsonWriter rest;
  rest.begin_object();
  PAWL_CHECK(write_tools(rest, request.tools));
  if (shape == AnswerShape::format) PAWL_CHECK(write_format(rest, request));
  write_sampling(rest, request, options, quirks);
  if (quirks.has(Quirk::prompt_cache_key) && !request.run.text.empty()) {
    rest.field("prompt_cache_key", request.run.text);
  }
  write_streaming(rest, request, quirks, options);
  return body_around(head.take(), turns, {}, rest.end_object().take());
}

class ChatDialect final : public OpenAiDialect {
 public:
  using Dialect::encode;

  Result<std::unique_ptr<const TurnStyle>> turn_style(const WireOptions& options) const override {
    PAWL_TRY(const ChatQuirks quirks, chat_quirks_of(options));
    return std::unique_ptr<const TurnStyle>(std::make_unique<ChatTurns>(options.model, quirks));
  }
  Result<WireRequest> encode(const PhaseExecutionRequest& request, KeptTurns& turns,
                             const WireOptions& options) const override {
    PAWL_TRY(HttpBody body, chat_body(request, turns, options));
    return post_json(options, "/chat/completions", std::move(body), request.sampling.stream);
  }
  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options) const override {
    return make_chat_decoder(request.tools, options);
  }
};

}  // namespace

std::unique_ptr<Dialect> make_chat_dialect() {
  return std::make_unique<ChatDialect>();
}

}  // namespace pawl::provider
