#include "pawl/surface/cli/run_options.h"

#include <array>

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

Result<Limits> limits_with_options(const Arguments& arguments, Limits charter) {
  for (const LimitOption& option : kLimitOptions) {
    const auto text = arguments.one(option.option);
    if (!text) continue;
    PAWL_TRY(charter.*option.limit, option.parse(option.option, *text));
  }
  return charter;
}

Result<std::shared_ptr<const InvocationContext>> invocation_of(const Arguments& arguments,
                                                               const Limits& charter,
                                                               const std::string& user) {
  InvocationContextBuilder builder;
  builder.identity(user);
  PAWL_TRY(const Limits limits, limits_with_options(arguments, charter));
  builder.resource_limits(limits);
  for (const std::string& text : arguments.many("var")) {
    PAWL_TRY(KeyValue pair, parse_key_value(text));
    builder.variable(std::move(pair.key), std::move(pair.value));
  }
  return builder.build();
}

}  // namespace pawl
