#include "pawl/adapter/provider/anthropic/anthropic_request.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "pawl/adapter/provider/anthropic/anthropic_messages.h"
#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/common/wire_numbers.h"
#include "pawl/adapter/provider/common/wire_request.h"
#include "pawl/adapter/provider/common/wire_schema.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/failures.h"

namespace pawl::provider {
namespace {

using Support = ExecutorModelDescriptor::Support;

constexpr std::uint64_t kBudgetTokensMin = 1'024;  // the API takes no less
constexpr std::uint32_t kAnthropicTemperatureMilliMax = 1'000;

// What is asked for beyond the conversation, once its parts are agreed with each other.
struct Plan {
  std::uint64_t max_tokens = 0;
  std::uint64_t budget_tokens = 0;  // 0: no budget
  enum class Adaptive : std::uint8_t { off, on } adaptive = Adaptive::off;
  std::string_view effort;  // empty: not said
};

std::uint64_t max_tokens_of(const SamplingOptions& sampling, const ExecutorModelDescriptor& model) {
  const std::uint64_t most = model.max_output_tokens;
  if (sampling.max_output_tokens) {
    return most > 0 ? std::min(*sampling.max_output_tokens, most) : *sampling.max_output_tokens;
  }
  return most > 0 ? std::min(most, kAnthropicOutputTokensUsual) : kAnthropicOutputTokensDefault;
}

std::string_view anthropic_effort(ReasoningEffort effort) {
  switch (effort) {
    case ReasoningEffort::unset:
      return "";
    case ReasoningEffort::minimal:
    case ReasoningEffort::low:
      return "low";
    case ReasoningEffort::medium:
      return "medium";
    case ReasoningEffort::high:
      return "high";
    case ReasoningEffort::max:
      return "max";
  }
  return "";
}

// What is thought counts as output: a quarter of it at least is left for the answer.
std::uint64_t budget_of(ReasoningEffort effort, std::uint64_t max_tokens) {
  std::uint64_t wish = 0;
  if (effort == ReasoningEffort::low) wish = 2'048;
  if (effort == ReasoningEffort::medium) wish = 8'192;
  if (effort == ReasoningEffort::high) wish = 16'384;
  if (effort == ReasoningEffort::max) wish = 32'768;
  const std::uint64_t budget = std::min(wish, max_tokens / 4 * 3);
  return budget < kBudgetTokensMin ? 0 : budget;
}

Plan plan_of(const PhaseExecutionRequest& request, const WireOptions& options,
             const std::vector<Turn>& turns) {
  Plan plan;
  const ReasoningEffort effort = request.sampling.effort;
  plan.max_tokens = max_tokens_of(request.sampling, options.model);
  if (effort == ReasoningEffort::unset || options.model.thinking == Support::no) return plan;
  switch (anthropic_thinking_of(options.model.id)) {
    case AnthropicThinking::none:
      break;
    case AnthropicThinking::budget:
      if (may_budget_thinking(turns)) plan.budget_tokens = budget_of(effort, plan.max_tokens);
      break;
    case AnthropicThinking::adaptive:
      plan.effort = anthropic_effort(effort);
      if (effort != ReasoningEffort::minimal) plan.adaptive = Plan::Adaptive::on;
      break;
  }
  return plan;
}

JsonWriter& write_cache_mark(JsonWriter& json) {
  return json.key("cache_control").begin_object().field("type", "ephemeral").end_object();
}

void write_system(JsonWriter& json, const PhaseExecutionRequest& request,
                  const WireOptions& options) {
  std::vector<std::string> texts;
  if (request.system_prompt.find_first_not_of(" \t\r\n\f\v") != std::string::npos) {
    texts.push_back(request.system_prompt);
  }
  if (!request.output_schema.empty() && options.model.structured_output == Support::no) {
    texts.push_back(
        "Your final answer is one JSON value, without anything around it, that fits "
        "this JSON Schema: " +
        request.output_schema);
  }
  if (texts.empty()) return;
  json.key("system").begin_array();
  for (const std::string& text : texts) {
    json.begin_object().field("type", "text").field("text", text);
    if (&text == &texts.back()) write_cache_mark(json);
    json.end_object();
  }
  json.end_array();
}

// Those that only the past knows, too: a conversation with calls needs some declared.
Status write_tools(JsonWriter& json, const PhaseExecutionRequest& request, const KeptTurns& turns) {
  std::vector<ToolSpec> tools = request.tools;
  if (tools.empty()) {
    for (const std::string& name : turns.called_tools()) tools.emplace_back().name = name;
  }
  if (tools.empty()) return ok();
  json.key("tools").begin_array();
  for (const ToolSpec& tool : tools) {
    PAWL_TRY(const Json schema, tool_schema(tool));
    json.begin_object().field("name", wire_tool_name(tool.name));
    if (!tool.description.empty()) json.field("description", tool.description);
    json.field("input_schema", schema);
    if (&tool == &tools.back()) write_cache_mark(json);
    json.end_object();
  }
  json.end_array();
  json.key("tool_choice").begin_object();
  json.field("type", request.tools.empty() ? "none" : "auto").end_object();
  return ok();
}

void write_thinking(JsonWriter& json, const Plan& plan) {
  if (plan.budget_tokens > 0) {
    json.key("thinking").begin_object().field("type", "enabled");
    json.field("budget_tokens", plan.budget_tokens).end_object();
  } else if (plan.adaptive == Plan::Adaptive::on) {
    json.key("thinking").begin_object().field("type", "adaptive").end_object();
  }
}

Status write_output_config(JsonWriter& json, const PhaseExecutionRequest& request,
                           const WireOptions& options, const Plan& plan) {
  const bool formatted =
      !request.output_schema.empty() && options.model.structured_output == Support::yes;
  if (!formatted && plan.effort.empty()) return ok();
  json.key("output_config").begin_object();
  if (!plan.effort.empty()) json.field("effort", plan.effort);
  if (formatted) {
    PAWL_TRY(const Json schema, closed_schema(request.output_schema));
    json.key("format").begin_object().field("type", "json_schema");
    json.field("schema", schema).end_object();
  }
  json.end_object();
  return ok();
}

Status write_temperature(JsonWriter& json, const PhaseExecutionRequest& request,
                         const WireOptions& options, const Plan& plan) {
  const auto milli = request.sampling.temperature_milli;
  if (!milli) return ok();
  if (*milli > kAnthropicTemperatureMilliMax) {
    return Error{ErrorCode::invalid_argument,
                 "Anthropic takes temperatures from 0 to 1, not " + milli_text(*milli)};
  }
  // A model that thinks chooses its own.
  const bool thinks = plan.budget_tokens > 0 || plan.adaptive == Plan::Adaptive::on;
  if (thinks || options.model.temperature == Support::no) return ok();
  json.key("temperature").raw(milli_text(*milli));
  return ok();
}

}  // namespace

AnthropicThinking anthropic_thinking_of(std::string_view model_id) {
  // "claude-opus-4-6", "claude-3-7-sonnet-20250219": the first numbers that are no date.
  std::vector<int> numbers;
  for (std::size_t at = 0; at < model_id.size() && numbers.size() < 2;) {
    const std::size_t end = std::min(model_id.find('-', at), model_id.size());
    int number = 0;
    const auto [rest, fault] = std::from_chars(model_id.data() + at, model_id.data() + end, number);
    const bool is_number = fault == std::errc{} && rest == model_id.data() + end;
    if (is_number && end - at <= 2) numbers.push_back(number);
    at = end + 1;
  }
  if (numbers.empty()) return AnthropicThinking::adaptive;  // A name of the future.
  const int version = numbers[0] * 100 + (numbers.size() > 1 ? numbers[1] : 0);
  if (version >= 406) return AnthropicThinking::adaptive;
  return version >= 307 ? AnthropicThinking::budget : AnthropicThinking::none;
}

namespace {

Result<HttpBody> anthropic_body(const PhaseExecutionRequest& request, KeptTurns& turns,
                                const WireOptions& options) {
  const Plan plan = plan_of(request, options, turns.tail());
  JsonWriter json;
  json.begin_object().field("model", options.model.id).field("max_tokens", plan.max_tokens);
  // The tier that the price list is about. Servers that only speak the dialect may not know it.
  const bool itself = options.base_url.starts_with("https://api.anthropic.com");
  if (itself) json.field("service_tier", "standard_only");
  if (request.sampling.stream != Streaming::off) json.field("stream", true);
  write_system(json, request, options);
  PAWL_CHECK(write_tools(json, request, turns));
  write_thinking(json, plan);
  PAWL_CHECK(write_output_config(json, request, options, plan));
  PAWL_CHECK(write_temperature(json, request, options, plan));
  json.key("messages").begin_array().end_array();
  PAWL_CHECK(turns.write());
  return body_around(json.end_object().take(), turns,
                     cache_marks(turns.last_user_turns(), request.note), "{}");
}

class AnthropicDialect final : public Dialect {
 public:
  using Dialect::encode;

  Result<std::unique_ptr<const TurnStyle>> turn_style(const WireOptions& options) const override {
    PAWL_CHECK(check_no_quirks(options));
    return make_anthropic_turns(options);
  }

  Result<WireRequest> encode(const PhaseExecutionRequest& request, KeptTurns& turns,
                             const WireOptions& options) const override {
    PAWL_TRY(HttpBody body, anthropic_body(request, turns, options));
    return json_post(options.base_url + "/v1/messages", headers(options), std::move(body),
                     request.sampling.stream);
  }

  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options) const override {
    return make_anthropic_decoder(request.tools, options);
  }

  PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                         std::int64_t now_wall_ms) const override {
    return failure_of_status(head, provider_error_of(body), now_wall_ms);
  }

  HttpHeader credentials(const std::string& key) const override {
    return {"x-api-key", key, HttpHeader::Secrecy::secret};
  }

  WireRequest probe(const WireOptions& options) const override {
    return list_probe(options.base_url + "/v1/models?limit=1", headers(options));
  }

 private:
  static std::vector<HttpHeader> headers(const WireOptions& options) {
    return json_headers(options, {{"anthropic-version", "2023-06-01"}});
  }
};

}  // namespace

std::unique_ptr<Dialect> make_anthropic_dialect() {
  return std::make_unique<AnthropicDialect>();
}

}  // namespace pawl::provider
