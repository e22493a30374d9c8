#include "pawl/adapter/provider/gemini/gemini_request.h"

#include <algorithm>

#include "pawl/adapter/provider/common/conversation.h"
#include "pawl/adapter/provider/common/media.h"
#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/common/wire_numbers.h"
#include "pawl/adapter/provider/common/wire_request.h"
#include "pawl/adapter/provider/common/wire_schema.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/adapter/provider/exchange/retry_after.h"
#include "pawl/base/base64.h"

namespace pawl::provider {
namespace {

using Support = ExecutorModelDescriptor::Support;

// What Google documents for calls that another model made: they have no signature.
constexpr std::string_view kForeignCall = "skip_thought_signature_validator";

class ContentsWriter {
 public:
  ContentsWriter(JsonWriter& json, const WireOptions& options, const MediaTotals& before)
      : json_(json),
        media_(kGeminiMedia, options.model, before),
        generation_(gemini_generation_of(options.model.id)) {}

  Status write(const Turn& turn) {
    json_.begin_object().field("role", turn.role == Role::user ? "user" : "model");
    json_.key("parts").begin_array();
    bool empty = true;
    for (const Part& part : turn.parts) {
      if (is_left_out(part)) continue;
      empty = false;
      PAWL_CHECK(std::visit([this](const auto& one) { return write_part(one); }, part));
    }
    if (empty) json_.begin_object().field("text", "(no answer)").end_object();
    json_.end_array().end_object();
    return ok();
  }
  const MediaTotals& media() const { return media_.totals(); }

 private:
  // Thoughts go back only for what they are signed with.
  static bool is_left_out(const Part& part) {
    const auto* thinking = std::get_if<ThinkingPart>(&part);
    return thinking != nullptr && thinking->signature.empty();
  }

  Status write_part(const TextPart& part) {
    json_.begin_object().field("text", part.text).end_object();
    return ok();
  }

  Status write_part(const AttachmentPart& part) {
    PAWL_TRY(const MediaKind kind, media_.take(part));
    (void)kind;  // Images and documents are written alike.
    json_.begin_object().key("inlineData").begin_object();
    json_.field("mimeType", plain_media_type(part.media_type));
    json_.field("data", to_base64(part.bytes)).end_object().end_object();
    return ok();
  }

  Status write_part(const ThinkingPart& part) {
    json_.begin_object().field("text", part.text);
    if (!part.text.empty()) json_.field("thought", true);
    json_.field("thoughtSignature", part.signature).end_object();
    return ok();
  }

  Status write_part(const RawPart& part) {
    json_.raw(part.json);
    return ok();
  }

  Status write_part(const CallPart& part) {
    json_.begin_object().key("functionCall").begin_object();
    json_.field("id", part.id).field("name", part.tool).key("args").raw(part.input).end_object();
    const bool needs_one = first_call_ && generation_ == GeminiGeneration::level;
    first_call_ = false;
    if (!part.signature.empty()) {
      json_.field("thoughtSignature", part.signature);
    } else if (needs_one) {
      json_.field("thoughtSignature", kForeignCall);
    }
    json_.end_object();
    return ok();
  }

  Status write_part(const ResultPart& part) {
    json_.begin_object().key("functionResponse").begin_object();
    json_.field("id", part.id).field("name", part.tool).key("response").begin_object();
    json_.field(part.outcome == Message::Outcome::error ? "error" : "output", part.text);
    json_.end_object().end_object().end_object();
    return ok();
  }

  JsonWriter& json_;
  MediaCheck media_;
  const GeminiGeneration generation_;
  bool first_call_ = true;  // of the turn: the one whose signature is checked
};

class GeminiTurns final : public TurnStyle {
 public:
  explicit GeminiTurns(const WireOptions& options) : options_(options) {}

  Status write(JsonWriter& out, const Turn& turn, TurnState& state) const override {
    ContentsWriter writer(out, options_, state.media);
    PAWL_CHECK(writer.write(turn));
    state.media = writer.media();
    return ok();
  }

 private:
  const WireOptions& options_;
};

// Early models refuse a response format beside functions.
bool formats_output(const PhaseExecutionRequest& request, const WireOptions& options) {
  if (request.output_schema.empty() || options.model.structured_output == Support::no) return false;
  return request.tools.empty() || gemini_generation_of(options.model.id) == GeminiGeneration::level;
}

void write_system(JsonWriter& json, const PhaseExecutionRequest& request,
                  const WireOptions& options) {
  std::vector<std::string> texts;
  if (request.system_prompt.find_first_not_of(" \t\r\n\f\v") != std::string::npos) {
    texts.push_back(request.system_prompt);
  }
  if (!request.output_schema.empty() && !formats_output(request, options)) {
    texts.push_back(
        "Your final answer is one JSON value, without anything around it, that fits "
        "this JSON Schema: " +
        request.output_schema);
  }
  if (texts.empty()) return;
  json.key("systemInstruction").begin_object().key("parts").begin_array();
  for (const std::string& text : texts) json.begin_object().field("text", text).end_object();
  json.end_array().end_object();
}

Status write_tools(JsonWriter& json, const std::vector<ToolSpec>& tools) {
  if (tools.empty()) return ok();
  json.key("tools").begin_array().begin_object().key("functionDeclarations").begin_array();
  for (const ToolSpec& tool : tools) {
    PAWL_TRY(const Json schema, tool_schema(tool));
    json.begin_object().field("name", wire_tool_name(tool.name));
    json.field("description", tool.description);
    const Json* properties = schema.find("properties");
    const bool has_input = properties->is_object() && !properties->object().empty();
    if (has_input) json.field("parametersJsonSchema", schema);
    json.end_object();
  }
  json.end_array().end_object().end_array();
  return ok();
}

std::uint64_t thinking_budget(ReasoningEffort effort) {
  switch (effort) {
    case ReasoningEffort::unset:
    case ReasoningEffort::minimal:
      return 512;
    case ReasoningEffort::low:
      return 2'048;
    case ReasoningEffort::medium:
      return 8'192;
    case ReasoningEffort::high:
      return 16'384;
    case ReasoningEffort::max:
      return 24'576;
  }
  return 512;
}

// The larger models know two levels only.
std::string_view thinking_level(ReasoningEffort effort, std::string_view model_id) {
  const bool is_pro = model_id.find("pro") != model_id.npos;
  switch (effort) {
    case ReasoningEffort::unset:
    case ReasoningEffort::minimal:
      return is_pro ? "low" : "minimal";
    case ReasoningEffort::low:
      return "low";
    case ReasoningEffort::medium:
      return is_pro ? "high" : "medium";
    case ReasoningEffort::high:
    case ReasoningEffort::max:
      return "high";
  }
  return "low";
}

void write_thinking(JsonWriter& json, const PhaseExecutionRequest& request,
                    const WireOptions& options) {
  const ReasoningEffort effort = request.sampling.effort;
  const GeminiGeneration generation = gemini_generation_of(options.model.id);
  if (effort == ReasoningEffort::unset || options.model.thinking == Support::no) return;
  if (generation == GeminiGeneration::early) return;
  json.key("thinkingConfig").begin_object().field("includeThoughts", true);
  if (generation == GeminiGeneration::budget) {
    json.field("thinkingBudget", thinking_budget(effort));
  } else {
    json.field("thinkingLevel", thinking_level(effort, options.model.id));
  }
  json.end_object();
}

Status write_generation(JsonWriter& json, const PhaseExecutionRequest& request,
                        const WireOptions& options) {
  json.key("generationConfig").begin_object();
  if (auto tokens = request.sampling.max_output_tokens) {
    const std::uint64_t most = options.model.max_output_tokens;
    json.field("maxOutputTokens", most > 0 ? std::min(*tokens, most) : *tokens);
  }
  const auto milli = request.sampling.temperature_milli;
  if (milli && options.model.temperature == Support::yes) {
    json.key("temperature").raw(milli_text(*milli));
  }
  write_thinking(json, request, options);
  if (formats_output(request, options)) {
    PAWL_TRY(const Json schema, closed_schema(request.output_schema));
    json.field("responseMimeType", "application/json").field("responseJsonSchema", schema);
  }
  json.end_object();
  return ok();
}

}  // namespace

GeminiGeneration gemini_generation_of(std::string_view model_id) {
  const std::size_t at = model_id.find("gemini-");
  const std::string_view version = at == model_id.npos ? model_id : model_id.substr(at + 7);
  if (version.empty() || version[0] < '0' || version[0] > '9') return GeminiGeneration::level;
  if (version[0] > '2') return GeminiGeneration::level;
  return version.starts_with("2.5") ? GeminiGeneration::budget : GeminiGeneration::early;
}

Result<std::string> gemini_path(const PhaseExecutionRequest& request, const WireOptions& options) {
  const std::string& id = options.model.id;
  const bool is_plain = !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == '@';
  });
  if (!is_plain) {
    return Error{ErrorCode::invalid_argument, "Gemini has no models with names like " + id};
  }
  const bool streams = request.sampling.stream != Streaming::off;
  return "/v1beta/models/" + id + (streams ? ":streamGenerateContent?alt=sse" : ":generateContent");
}

namespace {

Result<HttpBody> gemini_body(const PhaseExecutionRequest& request, KeptTurns& turns,
                             const WireOptions& options) {
  JsonWriter json;
  json.begin_object();
  write_system(json, request, options);
  PAWL_CHECK(write_tools(json, request.tools));
  PAWL_CHECK(write_generation(json, request, options));
  json.key("contents").begin_array().end_array();
  PAWL_CHECK(turns.write());
  return body_around(json.end_object().take(), turns, {}, "{}");
}

class GeminiDialect final : public Dialect {
 public:
  using Dialect::encode;

  Result<std::unique_ptr<const TurnStyle>> turn_style(const WireOptions& options) const override {
    PAWL_CHECK(check_no_quirks(options));
    return std::unique_ptr<const TurnStyle>(std::make_unique<GeminiTurns>(options));
  }

  Result<WireRequest> encode(const PhaseExecutionRequest& request, KeptTurns& turns,
                             const WireOptions& options) const override {
    PAWL_TRY(const std::string path, gemini_path(request, options));
    PAWL_TRY(HttpBody body, gemini_body(request, turns, options));
    return json_post(options.base_url + path, json_headers(options), std::move(body),
                     request.sampling.stream);
  }

  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options) const override {
    return make_gemini_decoder(request.tools, options);
  }

  PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                         std::int64_t now_wall_ms) const override {
    const ProviderError error = provider_error_of(body);
    HttpResponseHead meant = head;
    // A bad key is an invalid argument here.
    if (head.status == 400 && error.message.find("API key") != std::string::npos) {
      meant.status = 401;
    }
    PhaseFailed failed = failure_of_status(meant, error, now_wall_ms);
    const auto json = parse_json(body);
    if (!failed.retry_after_ms && json) failed.retry_after_ms = google_retry_after_ms(*json);
    return failed;
  }

  HttpHeader credentials(const std::string& key) const override {
    return {"x-goog-api-key", key, HttpHeader::Secrecy::secret};
  }

  WireRequest probe(const WireOptions& options) const override {
    return list_probe(options.base_url + "/v1beta/models?pageSize=1", json_headers(options));
  }
};

}  // namespace

std::unique_ptr<Dialect> make_gemini_dialect() {
  return std::make_unique<GeminiDialect>();
}

}  // namespace pawl::provider
