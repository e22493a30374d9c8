// OpenAI's Chat Completions API, and the many servers that speak it nearly.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/common/conversation.h"
#include "pawl/adapter/provider/common/media.h"
#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/common/wire_numbers.h"
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

// Turns in which an assistant only thought are none here: the user's around them become one. They
// have no calls, so that what follows them has no results.
std::vector<Turn> spoken(std::vector<Turn> turns) {
  std::vector<Turn> kept;
  for (Turn& turn : turns) {
    if (std::ranges::none_of(turn.parts, is_spoken)) continue;
    if (kept.empty() || kept.back().role != turn.role) {
      kept.push_back(std::move(turn));
    } else {
      for (Part& part : turn.parts) kept.back().parts.push_back(std::move(part));
    }
  }
  return kept;
}

void join(std::string& all, const std::string& more) {
  if (!all.empty() && !more.empty()) all += "\n\n";
  all += more;
}

class MessageWriter {
 public:
  MessageWriter(JsonWriter& out, const ExecutorModelDescriptor& model, const ChatQuirks& quirks)
      : out_(out),
        model_(model),
        quirks_(quirks),
        media_(quirks.has(Quirk::documents) ? kOpenAiMedia : kImagesOnly, model) {}

  Status write(const std::string& instructions, const std::vector<Turn>& turns) {
    out_.begin_array();
    if (!instructions.empty()) {
      const bool developer = quirks_.has(Quirk::developer_role) &&
                             model_.thinking == ExecutorModelDescriptor::Support::yes;
      message(developer ? "developer" : "system").field("content", instructions).end_object();
    }
    for (const Turn& turn : turns) {
      if (turn.role == Role::assistant) {
        assistant(turn);
      } else {
        PAWL_CHECK(user(turn));
      }
    }
    out_.end_array();
    return ok();
  }

 private:
  JsonWriter& message(std::string_view role) { return out_.begin_object().field("role", role); }

  Status user(const Turn& turn) {
    const auto rest = std::ranges::find_if_not(
        turn.parts, [](const Part& part) { return std::holds_alternative<ResultPart>(part); });
    for (auto part = turn.parts.begin(); part != rest; ++part) {
      const auto& result = std::get<ResultPart>(*part);
      message("tool").field("tool_call_id", wire_id(result.id));
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
    out_.key("tool_calls").begin_array();
    for (const CallPart* call : calls) {
      out_.begin_object().field("id", wire_id(call->id)).field("type", "function");
      out_.key("function").begin_object().field("name", call->tool);
      out_.field("arguments", call->input).end_object().end_object();
    }
    out_.end_array();
  }

  std::string wire_id(const std::string& id) {
    if (!quirks_.has(Quirk::short_call_ids)) return id;
    const auto [found, added] = short_ids_.try_emplace(id);
    if (added) {
      const std::string number = std::to_string(short_ids_.size());
      const std::size_t zeros = kShortIdDigits - std::min(number.size(), kShortIdDigits);
      found->second = "c" + std::string(zeros, '0') + number;
    }
    return found->second;
  }

  JsonWriter& out_;
  const ExecutorModelDescriptor& model_;
  const ChatQuirks& quirks_;
  MediaCheck media_;
  std::map<std::string, std::string> short_ids_;
};

Status write_chat_messages(JsonWriter& out, const std::string& instructions,
                           std::vector<Turn> turns, const ExecutorModelDescriptor& model,
                           const ChatQuirks& quirks) {
  return MessageWriter(out, model, quirks).write(instructions, spoken(std::move(turns)));
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

Result<std::string> chat_body(const PhaseExecutionRequest& request,
                              const std::vector<Message>& messages, const WireOptions& options) {
  PAWL_TRY(const ChatQuirks quirks, chat_quirks_of(options));
  PAWL_TRY(auto turns, conversation_of(request, messages, options));
  AnswerShape shape = answer_shape(request, options);
  if (shape == AnswerShape::format && quirks.has(Quirk::no_json_schema)) shape = AnswerShape::words;
  JsonWriter out;
  out.begin_object().field("model", options.model.id).key("messages");
  PAWL_CHECK(write_chat_messages(out, instructions_of(request, shape), std::move(turns),
                                 options.model, quirks));
  PAWL_CHECK(write_tools(out, request.tools));
  if (shape == AnswerShape::format) PAWL_CHECK(write_format(out, request));
  write_sampling(out, request, options, quirks);
  if (quirks.has(Quirk::prompt_cache_key) && !request.run.text.empty()) {
    out.field("prompt_cache_key", request.run.text);
  }
  write_streaming(out, request, quirks, options);
  return out.end_object().take();
}

class ChatDialect final : public OpenAiDialect {
 public:
  Result<WireRequest> encode(const PhaseExecutionRequest& request,
                             const std::vector<Message>& messages,
                             const WireOptions& options) const override {
    PAWL_TRY(std::string body, chat_body(request, messages, options));
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
