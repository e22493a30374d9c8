#include "pawl/surface/cli/run_options.h"

#include <array>

#include "pawl/runtime/charter_budget.h"
#include "pawl/runtime/charter_models.h"
#include "pawl/runtime/charter_money.h"

namespace pawl {
namespace {

struct LimitOption {
  std::string_view option;
  std::uint64_t Limits::* limit;
  Result<std::uint64_t> (*parse)(std::string_view, const std::string&);
};

constexpr std::array<LimitOption, 8> kLimitOptions = {{
    {"steps", &Limits::steps, parse_count},
    {"model-calls", &Limits::model_calls, parse_count},
    {"tool-calls", &Limits::tool_calls, parse_count},
    {"time", &Limits::time_ms, parse_duration_option},
    {"tokens", &Limits::tokens, parse_count},
    {"bytes-in", &Limits::bytes_in, parse_bytes_option},
    {"bytes-out", &Limits::bytes_out, parse_bytes_option},
    {"branches", &Limits::branches, parse_count},
}};

}  // namespace

Result<std::uint64_t> parse_money_option(std::string_view option, const std::string& text,
                                         const std::string& currency) {
  const bool bare = text.find(' ') == std::string::npos;
  const auto money = parse_money(bare ? text + " " + currency : text);
  if (money && money->currency == currency) return money->pico;
  return Error{ErrorCode::invalid_argument, "--" + std::string(option) +
                                                " takes an amount above nothing in the run's "
                                                "currency, such as 1.00 or '1.00 " +
                                                currency + "'"};
}

Result<Limits> limits_with_options(const Arguments& arguments, Limits charter,
                                   const std::string& currency) {
  for (const LimitOption& option : kLimitOptions) {
    const auto text = arguments.one(option.option);
    if (!text) continue;
    PAWL_TRY(charter.*option.limit, option.parse(option.option, *text));
  }
  if (const auto text = arguments.one("cost")) {
    PAWL_TRY(charter.cost_pico, parse_money_option("cost", *text, currency));
  }
  return charter;
}

Result<std::shared_ptr<const InvocationContext>> invocation_of(const Arguments& arguments,
                                                               const Limits& charter,
                                                               const std::string& currency,
                                                               const std::string& user) {
  InvocationContextBuilder builder;
  builder.identity(user);
  if (const auto tenant = arguments.one("tenant")) {
    if (!is_tenant_name(*tenant)) {
      return Error{ErrorCode::invalid_argument,
                   "--tenant takes a name of letters, digits and _-.:@"};
    }
    builder.tenant(*tenant);
  }
  PAWL_TRY(const Limits limits, limits_with_options(arguments, charter, currency));
  builder.resource_limits(limits);
  for (const std::string& text : arguments.many("var")) {
    PAWL_TRY(KeyValue pair, parse_key_value(text));
    builder.variable(std::move(pair.key), std::move(pair.value));
  }
  return builder.build();
}

Result<SamplingOptions> sampling_of(const Arguments& arguments) {
  SamplingOptions sampling;
  if (const auto tokens = arguments.one("max-tokens")) {
    PAWL_TRY(sampling.max_output_tokens, parse_count("max-tokens", *tokens));
  }
  if (const auto text = arguments.one("temperature")) {
    const auto milli = parse_fixed_point(*text, 3);
    if (!milli || *milli > kTemperatureMilliMax) {
      return Error{ErrorCode::invalid_argument, "--temperature is a number from 0 to 2"};
    }
    sampling.temperature_milli = static_cast<std::uint32_t>(*milli);
  }
  if (const auto effort = arguments.one("effort")) {
    PAWL_TRY(sampling.effort, parse_reasoning_effort(*effort));
  }
  if (arguments.has("no-stream")) sampling.stream = Streaming::off;
  return sampling;
}

}  // namespace pawl
