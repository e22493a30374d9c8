#include "pawl/adapter/provider/provider_executor.h"

#include <array>

#include "pawl/adapter/provider/openai/chat_quirks.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 4> kDialectNames = {"anthropic", "openai_responses",
                                                           "openai_chat", "gemini"};

std::shared_ptr<const provider::Dialect> make_dialect(ProviderDialect dialect) {
  switch (dialect) {
    case ProviderDialect::anthropic:
      return provider::make_anthropic_dialect();
    case ProviderDialect::openai_responses:
      return provider::make_responses_dialect();
    case ProviderDialect::openai_chat:
      return provider::make_chat_dialect();
    case ProviderDialect::gemini:
      return provider::make_gemini_dialect();
  }
  return nullptr;
}

}  // namespace

std::string_view name(ProviderDialect value) {
  return kDialectNames[static_cast<std::size_t>(value)];
}

Result<ProviderDialect> parse_provider_dialect(std::string_view text) {
  for (std::size_t i = 0; i < kDialectNames.size(); ++i) {
    if (kDialectNames[i] == text) return static_cast<ProviderDialect>(i);
  }
  return Error{ErrorCode::invalid_argument,
               "unknown dialect " + std::string(text.substr(0, 40)) +
                   "; there are: anthropic, openai_responses, openai_chat, gemini"};
}

Status check_quirks(const ProviderConfig& config) {
  provider::WireOptions options;
  options.name = config.name;
  options.base_url = config.base_url;
  options.quirks = config.quirks;
  const auto known = provider::chat_quirks_of(options);
  return known ? ok() : Status(known.error());
}

std::shared_ptr<Executor> make_provider_executor(ProviderConfig config, Loop& loop,
                                                 std::shared_ptr<HttpClient> http) {
  auto dialect = make_dialect(config.dialect);
  return provider::make_dialect_executor(std::move(config), std::move(dialect), loop,
                                         std::move(http));
}

}  // namespace pawl
