#include "pawl/surface/cli/run_options.h"

#include <array>

#include "pawl/charter/charter_budget.h"
#include "pawl/charter/charter_limits.h"
#include "pawl/charter/charter_models.h"
#include "pawl/charter/charter_money.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 8> kLimitOptions = {
    "steps", "model-calls", "tool-calls", "time", "tokens", "bytes-in", "bytes-out", "branches"};

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
  for (const std::string_view option : kLimitOptions) {
    const auto text = arguments.one(option);
    if (!text) continue;
    const Status taken = set_limit(charter, option, *text);
    if (!taken) return Error{taken.error().code, "--" + taken.error().message};
  }
  if (const auto text = arguments.one("cost")) {
    PAWL_TRY(charter.cost_pico, parse_money_option("cost", *text, currency));
  }
  return charter;
}

bool is_trace_parent(std::string_view text) {
  constexpr std::string_view kShape = "00-00000000000000000000000000000000-0000000000000000-00";
  constexpr std::size_t kTraceAt = 3;
  constexpr std::size_t kTraceDigits = 32;
  constexpr std::size_t kSpanAt = 36;
  constexpr std::size_t kSpanDigits = 16;
  if (text.size() != kShape.size() || text.starts_with("ff")) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (kShape[i] == '-' ? text[i] != '-' : !digit) return false;
  }
  const auto is_zero = [](std::string_view part) {
    return part.find_first_not_of('0') == std::string_view::npos;
  };
  return !is_zero(text.substr(kTraceAt, kTraceDigits)) &&
         !is_zero(text.substr(kSpanAt, kSpanDigits));
}

Result<std::shared_ptr<const InvocationContext>> invocation_of(const Arguments& arguments,
                                                               const Limits& charter,
                                                               const std::string& currency,
                                                               const std::string& user) {
  InvocationContextBuilder builder;
  builder.started_by(user).identity(arguments.one_or("on-behalf-of", user));
  builder.session_id(arguments.one_or("session", ""));
  if (const auto trace = arguments.one("trace-parent")) {
    if (!is_trace_parent(*trace)) {
      return Error{ErrorCode::invalid_argument,
                   "--trace-parent takes a W3C traceparent such as "
                   "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
    }
    builder.trace_parent(*trace);
  }
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
