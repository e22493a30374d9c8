// OpenAI's Responses API, and those who serve it, too.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
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

// Calls that the provider expects the caller to answer. Pawl offers none of them; if one comes all
// the same, it goes back only with an answer.
constexpr std::array<std::string_view, 5> kCallersCalls{
    "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"};

enum class RawFate : std::uint8_t { keep, drop, answer };  // answer: in the place of nobody

std::optional<Json> raw_item(const Part& part) {
  const auto* const raw = std::get_if<RawPart>(&part);
  if (raw == nullptr) return std::nullopt;
  auto item = parse_json(raw->json);
  return item ? std::optional(*std::move(item)) : std::nullopt;
}

bool is_callers(std::string_view type) {
  return std::ranges::find(kCallersCalls, type) != kCallersCalls.end();
}

// What becomes of the raw items of a turn, by their places in it: a call goes with the output that
// follows it, and neither without the other.
std::map<std::size_t, RawFate> raw_fates(const Turn& turn) {
  std::map<std::size_t, RawFate> fates;
  std::map<std::string, std::size_t> open;  // "shell_call_output s1": the place of the call
  for (std::size_t i = 0; i < turn.parts.size(); ++i) {
    const auto item = raw_item(turn.parts[i]);
    if (!item) continue;
    const std::string type(text_of(*item, "type"));
    const std::string id(text_of(*item, "call_id"));
    fates[i] = type.empty() ? RawFate::drop : RawFate::keep;
    if (is_callers(type)) {
      fates[i] = type == "custom_tool_call" ? RawFate::answer : RawFate::drop;
      open[type + "_output " + id] = i;
    } else if (type.ends_with("_output")) {
      const auto call = open.find(type + " " + id);
      fates[i] = call != open.end() ? RawFate::keep : RawFate::drop;
      if (call == open.end()) continue;
      fates[call->second] = RawFate::keep;
      open.erase(call);
    }
  }
  return fates;
}

// Of one turn.
class InputWriter {
 public:
  InputWriter(JsonWriter& out, const ExecutorModelDescriptor& model, const MediaTotals& before)
      : out_(out), media_(kOpenAiMedia, model, before) {}

  Status write(const Turn& turn) {
    if (turn.role == Role::user) return user(turn);
    assistant(turn);
    return ok();
  }
  const MediaTotals& media() const { return media_.totals(); }

 private:
  Status user(const Turn& turn) {
    bool open = false;
    for (const Part& part : turn.parts) {
      if (const auto* result = std::get_if<ResultPart>(&part)) {
        function_output(*result);
        continue;
      }
      if (!std::exchange(open, true)) {
        out_.begin_object().field("type", "message").field("role", "user");
        out_.key("content").begin_array();
      }
      if (const auto* text = std::get_if<TextPart>(&part)) {
        out_.begin_object().field("type", "input_text").field("text", text->text).end_object();
      }
      if (const auto* attachment = std::get_if<AttachmentPart>(&part)) {
        PAWL_CHECK(attached(*attachment));
      }
    }
    if (open) out_.end_array().end_object();
    return ok();
  }

  Status attached(const AttachmentPart& attachment) {
    PAWL_TRY(const MediaKind kind, media_.take(attachment));
    out_.begin_object();
    if (kind == MediaKind::image) {
      out_.field("type", "input_image").field("image_url", data_url(attachment));
    } else {
      out_.field("type", "input_file").field("filename", file_name(attachment));
      out_.field("file_data", data_url(attachment));
    }
    out_.end_object();
    return ok();
  }

  void function_output(const ResultPart& result) {
    out_.begin_object().field("type", "function_call_output").field("call_id", result.id);
    out_.field("output", result_text(result)).end_object();
  }

  void assistant(const Turn& turn) {
    const auto fates = raw_fates(turn);
    for (std::size_t i = 0; i < turn.parts.size(); ++i) {
      const Part& part = turn.parts[i];
      if (const auto* text = std::get_if<TextPart>(&part)) {
        out_.begin_object().field("type", "message").field("role", "assistant");
        out_.field("content", text->text).end_object();
      } else if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
        if (leads_to_something(turn, i, fates)) reasoning(*thinking);
      } else if (const auto* call = std::get_if<CallPart>(&part)) {
        out_.begin_object().field("type", "function_call").field("call_id", call->id);
        out_.field("name", call->tool).field("arguments", call->input).end_object();
      } else if (const auto fate = fates.find(i); fate != fates.end()) {
        raw(*raw_item(part), fate->second);
      }
    }
  }

  // The provider refuses a thought without what it led to.
  static bool leads_to_something(const Turn& turn, std::size_t index,
                                 const std::map<std::size_t, RawFate>& fates) {
    while (++index < turn.parts.size()) {
      const Part& next = turn.parts[index];
      const auto fate = fates.find(index);
      if (fate != fates.end() && fate->second != RawFate::drop) return true;
      if (std::holds_alternative<TextPart>(next) || std::holds_alternative<CallPart>(next)) {
        return true;
      }
    }
    return false;
  }

  void reasoning(const ThinkingPart& thinking) {
    const auto item = parse_json(thinking.signature);
    if (item && text_of(*item, "type") == "reasoning") out_.value(*item);
  }

  void raw(const Json& item, RawFate fate) {
    if (fate == RawFate::drop) return;
    out_.value(item);
    if (fate == RawFate::keep) return;
    out_.begin_object().field("type", "custom_tool_call_output");
    out_.field("call_id", text_of(item, "call_id")).field("output", "There is no such tool.");
    out_.end_object();
  }

  JsonWriter& out_;
  MediaCheck media_;
};

class ResponsesTurns final : public TurnStyle {
 public:
  explicit ResponsesTurns(const ExecutorModelDescriptor& model) : model_(model) {}

  Status write(JsonWriter& out, const Turn& turn, TurnState& state) const override {
    InputWriter writer(out, model_, state.media);
    PAWL_CHECK(writer.write(turn));
    state.media = writer.media();
    return ok();
  }

 private:
  const ExecutorModelDescriptor& model_;
};

constexpr std::uint64_t kOutputTokensMin = 16;  // The provider refuses fewer.

using Support = ExecutorModelDescriptor::Support;

Status write_tools(JsonWriter& out, const std::vector<ToolSpec>& tools) {
  if (tools.empty()) return ok();
  out.key("tools").begin_array();
  for (const ToolSpec& tool : tools) {
    PAWL_TRY(const Json parameters, tool_schema(tool));
    out.begin_object().field("type", "function").field("name", wire_tool_name(tool.name));
    if (!tool.description.empty()) out.field("description", tool.description);
    // Strict is the default there, and refuses most schemas.
    out.field("parameters", parameters).field("strict", false).end_object();
  }
  out.end_array().field("parallel_tool_calls", true);
  return ok();
}

void write_reasoning(JsonWriter& out, const PhaseExecutionRequest& request,
                     const WireOptions& options, const ChatQuirks& quirks) {
  if (options.model.thinking == Support::no) return;
  const std::string_view effort = effort_word(request.sampling.effort, options.model.id);
  const bool summary = !quirks.has(Quirk::no_reasoning_summary);
  if (!effort.empty() || summary) {
    out.key("reasoning").begin_object();
    if (!effort.empty()) out.field("effort", effort);
    if (summary) out.field("summary", "auto");
    out.end_object();
  }
  // Thoughts come back with the next request: nobody keeps them for us, or not for ever.
  out.key("include").begin_array().string("reasoning.encrypted_content").end_array();
}

Status write_format(JsonWriter& out, const PhaseExecutionRequest& request) {
  PAWL_TRY(const Json schema, output_schema_of(request.output_schema));
  out.key("text").begin_object().key("format").begin_object();
  out.field("type", "json_schema").field("name", kOutputSchemaName).field("schema", schema);
  out.field("strict", mode_of(schema) == SchemaMode::strict);
  out.end_object().end_object();
  return ok();
}

void write_sampling(JsonWriter& out, const PhaseExecutionRequest& request,
                    const WireOptions& options) {
  if (const auto most = request.sampling.max_output_tokens) {
    const std::uint64_t bound =
        options.model.max_output_tokens > 0 ? options.model.max_output_tokens : *most;
    out.field("max_output_tokens", std::max(std::min(*most, bound), kOutputTokensMin));
  }
  if (request.sampling.temperature_milli && options.model.temperature == Support::yes) {
    out.key("temperature").raw(milli_text(*request.sampling.temperature_milli));
  }
}

void write_state(JsonWriter& out, const PhaseExecutionRequest& request,
                 const WireOptions& options) {
  const bool keeps = options.resume == WireOptions::Resume::session;
  out.field("store", keeps);
  put_service_tier(out, options);
  if (keeps && !request.session.empty()) out.field("previous_response_id", request.session);
  if (!request.run.text.empty()) out.field("prompt_cache_key", request.run.text);
  out.field("stream", request.sampling.stream == Streaming::automatic);
}

Result<HttpBody> responses_body(const PhaseExecutionRequest& request, KeptTurns& turns,
                                const WireOptions& options) {
  PAWL_TRY(const ChatQuirks quirks, chat_quirks_of(options));
  const AnswerShape shape = answer_shape(request, options);
  JsonWriter head;
  head.begin_object().field("model", options.model.id);
  const std::string instructions = instructions_of(request, shape);
  if (!instructions.empty()) head.field("instructions", instructions);
  head.key("input").begin_array().end_array().end_object();
  PAWL_CHECK(turns.write());
  JsonWriter rest;
  rest.begin_object();
  PAWL_CHECK(write_tools(rest, request.tools));
  write_reasoning(rest, request, options, quirks);
  if (shape == AnswerShape::format) PAWL_CHECK(write_format(rest, request));
  write_sampling(rest, request, options);
  write_state(rest, request, options);
  return body_around(head.take(), turns, {}, rest.end_object().take());
}

class ResponsesDialect final : public OpenAiDialect {
 public:
  using Dialect::encode;

  Result<std::unique_ptr<const TurnStyle>> turn_style(const WireOptions& options) const override {
    PAWL_CHECK(chat_quirks_of(options));
    return std::unique_ptr<const TurnStyle>(std::make_unique<ResponsesTurns>(options.model));
  }
  Result<WireRequest> encode(const PhaseExecutionRequest& request, KeptTurns& turns,
                             const WireOptions& options) const override {
    PAWL_TRY(HttpBody body, responses_body(request, turns, options));
    return post_json(options, "/responses", std::move(body), request.sampling.stream);
  }
  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options) const override {
    return make_responses_decoder(request.tools, options);
  }
};

}  // namespace

std::unique_ptr<Dialect> make_responses_dialect() {
  return std::make_unique<ResponsesDialect>();
}

}  // namespace pawl::provider
