// An executor for a provider that is reached over HTTP: one execute_phase() is one request.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pawl/executor.h"
#include "pawl/port/http.h"
#include "pawl/port/provider.h"

namespace pawl {

namespace provider {
class Dialect;
// Behind make_provider_executor(), for any dialect.
std::shared_ptr<Executor> make_dialect_executor(ProviderConfig config,
                                                std::shared_ptr<const Dialect> dialect, Loop& loop,
                                                std::shared_ptr<HttpClient> http);
}  // namespace provider

std::string_view name(ProviderDialect value);
Result<ProviderDialect> parse_provider_dialect(std::string_view text);

// invalid_argument: quirks that the dialect does not know. Only those of OpenAI have some.
Status check_quirks(const ProviderConfig& config);

// The loop and the client outlive the executor's operations.
std::shared_ptr<Executor> make_provider_executor(ProviderConfig config, Loop& loop,
                                                 std::shared_ptr<HttpClient> http);

}  // namespace pawl
