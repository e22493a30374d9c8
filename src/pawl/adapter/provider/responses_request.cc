#include "pawl/adapter/provider/responses_request.h"

#include <algorithm>

#include "pawl/adapter/provider/chat_quirks.h"
#include "pawl/adapter/provider/conversation.h"
#include "pawl/adapter/provider/openai_schema.h"
#include "pawl/adapter/provider/openai_wire.h"
#include "pawl/adapter/provider/responses_input.h"
#include "pawl/adapter/provider/tool_names.h"
#include "pawl/adapter/provider/wire_numbers.h"
#include "pawl/adapter/provider/wire_schema.h"

namespace pawl::provider {
namespace {

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

}  // namespace

Result<std::string> responses_body(const PhaseExecutionRequest& request,
                                   const std::vector<Message>& messages,
                                   const WireOptions& options) {
  PAWL_TRY(const ChatQuirks quirks, chat_quirks_of(options));
  PAWL_TRY(const auto turns, conversation_of(request, messages, options));
  const AnswerShape shape = answer_shape(request, options);
  JsonWriter out;
  out.begin_object().field("model", options.model.id);
  const std::string instructions = instructions_of(request, shape);
  if (!instructions.empty()) out.field("instructions", instructions);
  out.key("input");
  PAWL_CHECK(write_responses_input(out, turns, options.model));
  PAWL_CHECK(write_tools(out, request.tools));
  write_reasoning(out, request, options, quirks);
  if (shape == AnswerShape::format) PAWL_CHECK(write_format(out, request));
  write_sampling(out, request, options);
  write_state(out, request, options);
  return out.end_object().take();
}

}  // namespace pawl::provider
