#include "pawl/adapter/provider/chat_request.h"

#include <algorithm>

#include "pawl/adapter/provider/chat_messages.h"
#include "pawl/adapter/provider/chat_quirks.h"
#include "pawl/adapter/provider/openai_schema.h"
#include "pawl/adapter/provider/openai_wire.h"
#include "pawl/adapter/provider/tool_names.h"
#include "pawl/adapter/provider/wire_numbers.h"
#include "pawl/adapter/provider/wire_schema.h"

namespace pawl::provider {
namespace {

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

}  // namespace

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

}  // namespace pawl::provider
